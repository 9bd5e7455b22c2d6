"""Lexicons: lemmas, senses, synsets and relations, from WordNet's files or the ``wn`` library."""
