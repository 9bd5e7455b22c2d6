"""One folder per question that is asked of people and models alike: its words, its scale, its answers."""

DEFAULT = "relatedness"
"""The default question of a file of items."""

BY_VIEW = "same_sense"
"""The same where items are asked or learnt by view (sheets by view, classifiers)."""

RETRIEVED = "sense_retrieval"
"""The same where entries are retrieved: its entries are those of a lexicon, so that none need be given."""

RATED = "plausibility"
"""The same where ratings are learnt by a language model."""
