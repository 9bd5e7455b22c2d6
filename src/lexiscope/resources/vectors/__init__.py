"""Vectors of words and of senses in files of other programs, and exact search among vectors."""
