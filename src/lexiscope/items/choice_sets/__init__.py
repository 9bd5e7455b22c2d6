"""Choice sets: minimal pairs of texts, the words that are put in them, and their files. Making them is in ``build``."""
