"""Induced senses: their neighbours, examples, similarity and frequency. ``training/gasi`` induces them."""
