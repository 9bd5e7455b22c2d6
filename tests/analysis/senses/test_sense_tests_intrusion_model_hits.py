"""Shares of right answers of models, subject by subject and layer by layer."""

from __future__ import annotations

import pytest

from lexiscope.analysis.senses.sense_tests import model_hits
from lexiscope.core.errors import InputError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined


def rows(subject: str, layer: int | None, options: str) -> list[Response]:
    """One answer per item a, b, c …; ``-`` is none. A distance beside it is no answer."""
    blank = [("choice", None if option == "-" else option) for option in options]
    made = [
        Response(subject, "encoder", "abcdef"[n], "t", measure, option=option, layer=layer)
        for n, (measure, option) in enumerate(blank)
    ]
    return [*made, Response(subject, "encoder", "a", "t", "cosine_distance", 0.5, option="x", layer=layer)]


WORDS = {"a": "w", "b": "w", "c": "v", "d": "v"}


def test_every_layer_has_its_share() -> None:
    """3 of 4 at layer 0, 1 of 4 at layer 1, and of a subject without layers 2 of 4, one of them unanswered."""
    table = ResponseTable.from_rows([*rows("e", 0, "xxxy"), *rows("e", 1, "xyyy"), *rows("g", None, "xx-y")])
    found = model_hits(table, dict.fromkeys("abcd", "x"), name="hits", words=WORDS, resamples=100)
    assert [(share.subject, share.layer, n_unanswered) for share, n_unanswered in found] == [
        ("e", 0, 0),
        ("e", 1, 0),
        ("g", None, 1),
    ]
    values = [share.value for share, _ in found if isinstance(share, Estimate)]
    assert values == [3 / 4, 1 / 4, 2 / 4]


def test_one_word_has_no_interval() -> None:
    """Items of one word cannot be resampled: there is no estimate, and it says why. An unknown item is refused."""
    table = ResponseTable.from_rows(rows("e", 0, "xx"))
    ((share, _),) = model_hits(table, dict.fromkeys("ab", "x"), name="hits", words=WORDS)
    assert isinstance(share, Undefined)
    with pytest.raises(InputError, match="item 'b'") as caught:
        model_hits(table, {"a": "x"}, name="hits", words=WORDS)
    assert caught.value.code == "E506"
