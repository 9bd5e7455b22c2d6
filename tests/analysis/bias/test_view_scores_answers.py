"""From responses to scores: right, wrong, unanswered, several subjects."""

from __future__ import annotations

import pytest

from lexiscope.analysis.bias.bias import context_word_bias
from lexiscope.analysis.bias.view_scores import answers_by_view, scored_views, view_ranks
from lexiscope.analysis.bootstrap import GroupLabels
from lexiscope.analysis.ranks import rank_results
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable

GOLD = {"i1": "t", "i2": "f", "i3": "k1|k2"}
WORDS = {"i1": "iron", "i2": "bank", "i3": "bank"}


def table(*rows: tuple[str, str, str, str | None]) -> ResponseTable:
    """Choices: (subject, view, item, option)."""
    return ResponseTable.from_rows(
        Response(who, "participant", item, "same_sense", "choice", None, option, view=view)
        for who, view, item, option in rows
    )


def test_answers_are_compared_with_all_gold_answers() -> None:
    """One of several right ones is right; items without gold and other measures do not count; the order is kept."""
    given = table(
        ("m", "full", "i3", "k2"), ("m", "full", "i1", "t"), ("m", "full", "i2", "t"), ("m", "full", "x", "t"),
        ("m", "word", "i1", "t"),
    )  # fmt: skip
    other = ResponseTable.from_rows([Response("m", "participant", "i2", "same_sense", "guess", None, "f", view="full")])
    found = scored_views(ResponseTable.concat([given, other]), GOLD, WORDS, subjects=["m"])
    assert found["full"].values == [1.0, 0.0, 1.0]
    assert found["full"].words == ["iron", "bank", "bank"]
    assert found["word"].values == [1.0]


def test_what_is_not_answered_is_wrong_or_left_out() -> None:
    """A refusal is a row without option; an item that was never asked lowers nothing."""
    given = table(("m", "full", "i1", "t"), ("m", "full", "i2", None))
    assert scored_views(given, GOLD, WORDS, subjects=["m"])["full"].values == [1.0, 0.0]
    assert scored_views(given, GOLD, WORDS, subjects=["m"], unanswered="left out")["full"].values == [1.0]


def test_several_subjects_are_averaged_item_by_item() -> None:
    """Two annotators with 50 shared items: a shared item counts once, with the share of right answers."""
    given = table(("ana", "full", "i1", "t"), ("leo", "full", "i1", "f"), ("leo", "full", "i2", "f"))
    found = scored_views(given, GOLD, WORDS, subjects=["ana", "leo"])
    assert found["full"].values == [0.5, 1.0]
    assert context_word_bias(found, resamples=50).views[0].value == 0.75


def test_a_changed_mind_counts_last() -> None:
    """The last row of an item in a view; a row without view is the whole input."""
    rows = ResponseTable.from_rows(
        [Response("m", "classifier", "i1", "same_sense", "choice", None, option) for option in ("f", "t")]
    )
    assert answers_by_view(rows, subject="m") == {"full": {"i1": "t"}}


def test_no_answers_and_no_words_are_refused() -> None:
    """The error names the subject, or the item."""
    with pytest.raises(StatisticError, match="of any subject"):
        scored_views(ResponseTable.empty(), GOLD, WORDS, subjects=[])
    with pytest.raises(InputError, match="i1"):
        scored_views(table(("m", "full", "i1", "t")), GOLD, {}, subjects=["m"])


def test_ranks_are_of_the_items_that_all_subjects_answered() -> None:
    """Ranks of each view are those of the columns side by side, whatever order the answers have; one alone has none."""
    gold = {f"i{n}": "t" for n in range(12)}
    words = {item: f"w{n // 2}" for n, item in enumerate(gold)}
    good = [("good", "full", item, "t" if n else "f") for n, item in enumerate(gold)]
    poor = [("poor", "full", item, "f" if n % 3 else "t") for n, item in reversed(list(enumerate(gold))) if n > 1]
    given = table(*good, *poor, ("good", "word", "i3", "t"))
    scores = {who: scored_views(given, gold, words, subjects=[who]) for who in ("good", "poor")}
    ranks = view_ranks(scores, resamples=300, seed=4)
    shared = range(2, 12)
    expected = rank_results(
        "accuracy",
        {"good": [1.0] * 10, "poor": [float(n % 3 == 0) for n in shared]},
        groups=GroupLabels([words[f"i{n}"] for n in shared], "words"),
        resamples=300,
        seed=4,
    )
    assert [(rank.subject, rank.value, rank.interval, rank.n) for rank in ranks] == [
        (rank.subject, rank.value, rank.interval, rank.n) for rank in expected
    ]
    assert [(rank.view, rank.value) for rank in ranks] == [("full", 1.0), ("full", 2.0)]
    assert ranks[0].note == "excluded: 2 items that not all of them answered"
