"""Running text, tagged or linked, in the formats in which corpora are published. ``datasets`` says which is which."""
