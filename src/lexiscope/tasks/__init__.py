"""One folder per question that is asked of people and models alike: its words, its scale, its answers."""

DEFAULT = "relatedness"
"""What a file of items asks where nothing says another question."""

BY_VIEW = "same_sense"
"""The same where items are asked or learnt by view (sheets by view, classifiers)."""
