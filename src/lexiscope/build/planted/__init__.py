"""Items and text in which the right answer is decided by us, so that a method can be tested on them."""
