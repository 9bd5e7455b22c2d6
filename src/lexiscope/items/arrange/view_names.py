"""The names of the views (``views``): the options of a command are listed with these alone."""

from __future__ import annotations

CONTEXT, CONTEXT_SPAN = "context", "context_span"
"""The views without the target: hidden wherever the texts of the item show it, and hidden in its span alone."""

GUESSED_WORD = "guessed_word"
"""The name of the view with a guess in the target's place, and of the condition that holds the guess."""

VIEW_NAMES = ("full", "full+final_stop", CONTEXT, CONTEXT_SPAN, "word", "label")
"""The views of a usage, by name; ``guessed_word`` is one of an item, which has the guess."""
