"""One file per kind of answerer. Files that start with an underscore serve the others and are not subjects."""
