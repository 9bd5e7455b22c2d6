"""One folder per question that is asked of people and models alike: its words, its scale, its answers."""
