"""People by view: accuracy by hand, agreement on shared items alone, assumed scores apart from measured ones."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lexiscope.analysis.bias.bias import context_word_bias
from lexiscope.analysis.bias.people_by_view import assumed_scores, people_by_view, people_scores
from lexiscope.analysis.bias.view_scores import FixedScore
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined
from lexiscope.core.usage import Usage


def pairs(n: int = 150, *, words: Sequence[str] = ("kettle", "kettles")) -> list[Item]:
    """Pairs of one lemma each, two pairs of each lemma; every third is f."""
    return [
        Item(
            f"i{number:03}",
            "made",
            tuple(Usage(word, 0, len(word), lemma=f"kettle{number // 2}") for word in words),
            gold="f" if number % 3 == 0 else "t",
        )
        for number in range(n)
    ]


def rows(who: str, view: str, answers: dict[str, str | None], *, measure: str = "choice") -> list[Response]:
    return [
        Response(who, "participant", item, "same_sense", measure, option=option, view=view)
        for item, option in answers.items()
    ]


def gold_of(items: Sequence[Item]) -> tuple[dict[str, str], dict[str, str]]:
    return {item.item_id: str(item.gold) for item in items}, {item.item_id: item.word for item in items}


def test_a_hundred_each_and_fifty_shared() -> None:
    """B21: the first has 80 of 100 right, the second all; on the 50 shared ones they agree in 40: the kappa is that of
    the table of both; nothing outside the overlap counts."""
    items = pairs()
    right, words = gold_of(items)
    first = {item: ("f" if answer == "t" else "t") if number < 20 else answer for number, (item, answer) in
             enumerate(list(right.items())[:100])}  # fmt: skip
    second = dict(list(right.items())[50:])
    # the shared items are 50 to 99; ten of the wrong ones are moved into them
    for number, item in enumerate(list(right)[50:60]):
        first[item] = "f" if right[item] == "t" else "t"
        wrong = list(right)[number]
        first[wrong] = right[wrong]
    table = ResponseTable.from_rows([*rows("ana", "full", first), *rows("leo", "full", second)])
    (found,) = people_by_view(table, right=right, words=words, resamples=100)
    assert [one.accuracy.value for one in found.annotators if not isinstance(one.accuracy, Undefined)] == [0.8, 1.0]
    assert (found.n_items, found.n_double) == (150, 50)
    (shared,) = found.shared
    assert not isinstance(shared.same, Undefined)
    assert (shared.n, shared.same.value) == (50, 40 / 50)
    both = [(first[item], second[item]) for item in list(right)[50:100]]
    ts = [sum(side == "t" for side in column) / 50 for column in zip(*both, strict=True)]
    expected = ts[0] * ts[1] + (1 - ts[0]) * (1 - ts[1])
    assert isinstance(shared.kappa, Estimate)
    assert shared.kappa.value == pytest.approx((0.8 - expected) / (1 - expected))
    assert shared.kappa.interval.low < shared.kappa.value < shared.kappa.interval.high


def test_who_cannot_decide_is_counted_beside_the_answer() -> None:
    """An undecided t counts as t; unanswered items are no answers; a second judgment is none of the view."""
    items = pairs(6)
    right, words = gold_of(items)
    given: dict[str, str | None] = {**right, "i001": None}
    table = ResponseTable.from_rows(
        [
            *rows("ana", "context", given),
            *rows("ana", "full", right, measure="revealed_choice"),
            Response("ana", "participant", "i002", "same_sense", "flag_undecided", 1.0, view="context"),
            Response("ana", "participant", "i003", "same_sense", "flag_undecided", 0.0, view="context"),
        ]
    )
    (found,) = people_by_view(table, right=right, words=words, resamples=10)
    (ana,) = found.annotators
    assert (found.view, ana.n_undecided, ana.n_unanswered, found.n_undecided) == ("context", 1, 1, 1)
    assert not isinstance(ana.accuracy, Undefined)
    assert (ana.accuracy.value, ana.accuracy.n) == (1.0, 5)


def test_agreement_that_is_undefined_says_why() -> None:
    """Two people without a common item, and two who always say the same: no kappa, and the reason."""
    items = pairs(8)
    right, words = gold_of(items)
    ids = list(right)
    always = ResponseTable.from_rows(
        [
            *rows("ana", "full", dict.fromkeys(ids[:6], "t")),
            *rows("leo", "full", dict.fromkeys(ids[2:6], "t")),
            *rows("eva", "full", dict.fromkeys(ids[6:], "t")),
        ]
    )
    (found,) = people_by_view(always, right=right, words=words, resamples=10)
    of = {(pair.first, pair.second): pair for pair in found.shared}
    same = of["ana", "leo"].same
    assert not isinstance(same, Undefined)
    assert same.value == 1.0
    assert isinstance(of["ana", "leo"].kappa, Undefined)
    assert "throughout" in of["ana", "leo"].kappa.reason
    assert of["ana", "eva"].n == 0
    assert isinstance(of["ana", "eva"].same, Undefined)


def test_what_is_assumed_says_so_and_never_replaces_what_was_measured() -> None:
    """B19: .5 without input (0 for pages), .5 for equal words; a view that people were asked keeps its score."""
    items = pairs(6)
    assert assumed_scores(items, task=catalog.task("same_sense")).keys() == {"label", "word"}
    other = [Item("i", "d", (Usage("oak", 0, 3, lemma="oak"), Usage("roble", 0, 5, lemma="roble")), gold="t")]
    assert assumed_scores(other, task=catalog.task("same_sense")).keys() == {"label"}
    assert assumed_scores(other, task=catalog.task("entity_link"))["label"].value == 0.0
    assumed = assumed_scores(items, task=catalog.task("same_sense"))
    assert all(score.why.startswith("assumed") for score in assumed.values())
    with pytest.raises(InputError, match="no score is assumed"):
        assumed_scores(items, task=catalog.task("relatedness"))
    right, _ = gold_of(items)
    table = ResponseTable.from_rows([*rows("ana", "full", right), *rows("leo", "word", dict.fromkeys(right, "t"))])
    scores = people_scores(table, items, task=catalog.task("same_sense"))
    assert isinstance(scores["label"], FixedScore)
    assert not isinstance(scores["word"], FixedScore)
    found = context_word_bias(scores, resamples=20)
    # four of six are t: (4/6 − .5) / (1 − .5)
    assert found.word.value == pytest.approx((4 / 6 - 0.5) / 0.5)


def test_without_an_answer_there_is_nothing_to_count() -> None:
    """No answer to any item with a known answer is refused."""
    with pytest.raises(StatisticError, match="no participant answered"):
        people_by_view(ResponseTable.from_rows(rows("ana", "full", {"x": "t"})), right={"i": "t"}, words={"i": "w"})
