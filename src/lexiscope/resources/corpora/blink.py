"""Wikipedia links in the jsonl format of BLINK: a mention a line, with the text left and right of it and its page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lexiscope.resources.corpora.linked_text import json_lines


@dataclass(frozen=True, slots=True)
class LinkedMention:
    """A mention in its text, and the page it is linked to: its id, title and description."""

    text: str
    start: int
    end: int
    page_id: str
    title: str
    description: str


def read_blink(path: Path) -> Iterator[LinkedMention]:
    """Iterate over the mentions.

    Fields: ``context_left``, ``mention``, ``context_right``, ``label_id``, ``label_title``, ``label`` (description).
    The contexts are joined to the mention by a space where none is there, as BLINK's own reader does; outer white
    space of the mention goes to its sides.
    Errors: :class:`~lexiscope.core.errors.InputError` with file and line: a field that is missing, an empty mention.
    """
    for line in json_lines(path):
        left, mention, right = (line.text(name) for name in ("context_left", "mention", "context_right"))
        if not mention.strip():
            raise line.error("the mention is empty")
        before = f"{left} " if left and not left[-1].isspace() else left
        after = f" {right}" if right and right[0].isalnum() else right
        start = len(before) + len(mention) - len(mention.lstrip())
        title = line.text("label_title")
        yield LinkedMention(
            text=f"{before}{mention}{after}",
            start=start,
            end=start + len(mention.strip()),
            page_id=line.text("label_id", title),
            title=title,
            description=line.text("label", ""),
        )
