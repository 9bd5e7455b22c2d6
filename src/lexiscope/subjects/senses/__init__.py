"""Vectors of induced senses as subjects that choose a sense."""
