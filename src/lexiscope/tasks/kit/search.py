"""Questions that are answered from a list (an entry is looked up): what their tasks have in common."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.prompt import GUIDELINES
from lexiscope.core.screen import Screen
from lexiscope.tasks.kit.asking import Variant
from lexiscope.tasks.kit.one_sentence import shown_sentence

SEARCH_VARIANTS = {GUIDELINES: Variant(max_tokens=64)}
"""How a model is asked. An answer is a name: it needs no more tokens than that."""


def search_screen(folder: Path, measure: str) -> Screen:
    """Return the page of a task that shows a sentence and searches a list; *folder* holds the task's words.

    The list need not be complete: an address that it lacks is an answer, and so is that nothing was found.
    """
    return Screen(
        folder=folder,
        widget="search",
        measure=measure,
        stimulus=shown_sentence,
        flags=("not_found",),
        may_stay_empty=True,
        views=("full", "context", "word"),
        fold_outs=("guidelines",),
        max_length=500,
    )
