"""Figures: one function for each kind of drawing. What a figure is, is in ``figures``."""
