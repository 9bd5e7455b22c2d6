"""Making, reading, checking and arranging stimuli."""
