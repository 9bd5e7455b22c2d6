"""Tests of induced senses for people: word intrusion and sense selection. Their statistics are in ``analysis``."""
