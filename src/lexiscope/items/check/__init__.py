"""The check of an item file before anybody is asked: rows, pairs, ratings, balance. Reading a file is in ``read``."""
