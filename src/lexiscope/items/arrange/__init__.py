"""Views, lists, pairs and splits: what of an item is shown, to which participants, and the items to learn from."""
