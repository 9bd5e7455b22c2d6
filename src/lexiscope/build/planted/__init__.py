"""Items and text made with a known correct answer, so that a method can be tested on them."""
