"""From a file of the user's own, or a published one, to items. What is wrong with them is found in ``check``."""
