"""Drawings of the Results page: one file for each kind of mark, drawn at any width. Older figures are in plots."""
