"""Minimal pairs of synonyms from a lexicon and a tagged corpus: candidates, curation, assembly."""
