"""Making stimuli: minimal pairs, gaps, stories, tests of senses, planted answers. ``items`` reads ready ones."""
