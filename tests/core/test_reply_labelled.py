"""L5: the parser against labelled replies. One coder wrote and labelled them; nobody else checked the labels."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lexiscope.core.reply import KINDS, ParsedReply, read_rating
from lexiscope.core.scale import Scale

FILE = Path(__file__).parents[1] / "data" / "chat_replies_labelled.jsonl"
SCALE = Scale(1, 5)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A reply, the language of its question, and its label: the one rating that it gives, or why it gives none."""

    reply: str
    language: str
    label: int | str

    @property
    def read(self) -> ParsedReply:
        return read_rating(self.reply, SCALE, language=self.language)


ROWS = [Labelled(**json.loads(line)) for line in FILE.read_text(encoding="utf-8").splitlines()]
WITH_NUMBER = [row for row in ROWS if isinstance(row.label, int)]


def test_the_file_is_what_was_asked_for() -> None:
    """At least 200 different replies in two languages, labelled with points of the scale or with kinds."""
    assert len({(row.reply, row.language) for row in ROWS}) == len(ROWS) >= 200
    assert {row.language for row in ROWS} == {"en", "es"}
    assert {row.label for row in ROWS} <= {1, 2, 3, 4, 5} | (set(KINDS) - {"ok"})


def test_no_reply_is_read_wrongly() -> None:
    """Precision 1: what is read as a number has that number as its label. Where the label is a reason, nothing is."""
    assert [row for row in ROWS if row.read.value is not None and row.read.value != row.label] == []


def test_most_ratings_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Recall, printed: of the replies that a person reads as a number, at least .8 are read; the others are counted.

    Not read are ratings within a sentence (*I'd give it a 4*), which the parser leaves alone by its rule. The labels
    were written before the parser read any of them; the parser was then mended on the same file, so that this recall
    is that of its making and not one on unseen replies. One coder labelled the replies.
    """
    read = sum(row.read.value == row.label for row in WITH_NUMBER)
    accepted = sum(row.read.value is not None for row in ROWS)
    kinds = sum(row.read.kind == row.label for row in ROWS if row not in WITH_NUMBER)
    with capsys.disabled():
        sys.stdout.write(
            f"\nreplies labelled by one coder: {len(ROWS)}; precision {read}/{accepted}; "
            f"recall {read}/{len(WITH_NUMBER)} = {read / len(WITH_NUMBER):.3f}; "
            f"reason as labelled {kinds}/{len(ROWS) - len(WITH_NUMBER)}\n"
        )
    assert read == accepted
    assert read / len(WITH_NUMBER) >= 0.8
    assert kinds / (len(ROWS) - len(WITH_NUMBER)) >= 0.95
