"""A sense: one meaning of a lemma in a named inventory."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a lemma. ``sense_id`` is unique within ``inventory`` (a WordNet version, a dataset)."""

    sense_id: str
    lemma: str
    gloss: str = ""
    pos: str | None = None
    inventory: str = ""
