"""Tables and YAML files read without guessing, each cell with its line. What a column means is known by ``items``."""
