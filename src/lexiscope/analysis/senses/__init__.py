"""Statistics of induced senses: intrusion, selection, duplicates, recovery of planted ones, similarity."""
