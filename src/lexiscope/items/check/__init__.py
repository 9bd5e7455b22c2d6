"""The check of an item file before data collection: rows, pairs, ratings, balance. Reading a file is in ``read``."""
