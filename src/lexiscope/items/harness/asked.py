"""What an exported task says of its question, so that a log of it can be joined with the items again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.prompt import Prompting

KEY = "lexiscope"
"""The entry of a document, or of the metadata of a sample, that holds it."""

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class AskedAs:
    """The task, the view, and the words of an exported question; an empty wording is the first of the task."""

    task: str
    view: str = "full"
    wording: str = ""
    language: str = ""
    shots: int = 0

    @property
    def prompting(self) -> Prompting:
        """The words, as a subject names them."""
        return Prompting(variant=self.wording, shots=self.shots, language=self.language)

    def record(self) -> dict[str, Any]:
        """Return it as an entry of a JSON object; :func:`read_asked` reads it back."""
        return {"format": _FORMAT, **asdict(self)}

    def name(self, items: Sequence[Item]) -> str:
        """Return a name for the exported task, in letters that every program takes.

        >>> AskedAs("same_sense", "context", "question").name([])
        'lexiscope_same_sense_context_question'
        """
        datasets = sorted({item.dataset for item in items})[:1]
        view = [] if self.view == "full" else [self.view]
        shots = [f"{self.shots}_shots"] if self.shots else []
        parts = [KEY, *datasets, self.task, *view, *filter(None, [self.wording]), *shots]
        return re.sub(r"\W+", "_", "_".join(parts)).strip("_")


def read_asked(entry: Mapping[str, Any], place: Place) -> AskedAs:
    """Read what an exported task says of its question.

    Errors: :class:`InputError` with the place, for what Lexiscope did not write in this form.
    """
    record = entry.get(KEY)
    if not isinstance(record, dict) or record.get("format") != _FORMAT:
        what = f"there is no entry {KEY!r} of format {_FORMAT}: the task was not exported by Lexiscope"
        raise InputError(what, place=place, hint="export the items again: lexiscope export --items …")
    task, view, wording, language = (record.get(name) for name in ("task", "view", "wording", "language"))
    shots = record.get("shots")
    if not all(isinstance(text, str) for text in (task, view, wording, language)) or not isinstance(shots, int):
        raise InputError(f"the entry {KEY!r} is damaged", place=place, hint="run the exported task again, unchanged")
    return AskedAs(str(task), str(view), str(wording), str(language), shots)


def check_same_items(asked: Mapping[str, Place], items: Sequence[Item], source: str) -> None:
    """Check that a log answers exactly the items that are asked; *asked* are the items of the log with their places.

    Errors: :class:`InputError` naming the first item without an answer, or the first answer to another item.
    """
    missing = [item.item_id for item in items if item.item_id not in asked]
    if missing:
        what = f"this item has no sample ({len(missing)} of {len(items)} items have none)"
        hint = "run the exported task on all items (without --limit), or ask only the items that were answered"
        raise InputError(what, place=Place(source, item_id=missing[0]), hint=hint)
    known = {item.item_id for item in items}
    others = [name for name in asked if name not in known]
    if others:
        what = f"this sample is for an item that is not asked ({len(others)} of {len(asked)} samples are)"
        raise InputError(what, place=asked[others[0]], hint="name the items from which the task was exported")
