"""Senses that people tell apart: planted duplicates are joined, others kept, and the gain is that of the truth."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.senses.told_apart import SenseJudgments, join_senses, told_apart
from lexiscope.core.errors import StatisticError


def answers(
    duplicates: set[int], *, n_words: int = 24, n_pages: int = 6, per_page: int = 6, skill: float = 0.9, seed: int = 0
) -> SenseJudgments:
    """Some of twelve people judge the pages of each word, as many of each of three senses; they find the model's sense
    with the probability *skill*, but of a word with duplicates nobody can tell sense 3 from sense 2."""
    rng = np.random.default_rng(seed)
    rows = []
    for word in range(n_words):
        for page in range(n_pages):
            model = page % 3 + 1
            for person in rng.choice(12, per_page, replace=False):
                chosen = model if rng.random() < skill else int(rng.choice([s for s in (1, 2, 3) if s != model]))
                if word in duplicates and chosen > 1:
                    chosen = int(rng.choice([2, 3]))
                rows.append((f"w{word}", f"w{word}/{page}", f"p{person}", str(model), str(chosen)))
    columns = (np.array(column) for column in zip(*rows, strict=True))
    words, pages, people, model_senses, chosen_senses = columns
    return SenseJudgments(words, pages, people, model_senses, chosen_senses, np.full(len(rows), 3))


def test_planted_duplicates_are_joined_and_the_others_kept() -> None:
    """Eight of 24 words have duplicates: these pairs, and no other."""
    planted = set(range(8))
    senses, joined = join_senses(answers(planted))
    assert {pair.word for pair in joined} == {f"w{word}" for word in planted}
    assert {(pair.dropped, pair.kept) for pair in joined} == {("3", "2")}
    assert senses["w3"] == {"1": "1", "2": "2", "3": "2"}
    assert senses["w9"] == {"1": "1", "2": "2", "3": "3"}


def test_the_gain_on_other_people_and_pages_is_that_of_the_truth() -> None:
    """Judgments with the model's sense less blind ones. Without duplicates .9 − 1/3. With them, a page of sense 1 has
    .9 − 1/3; one of sense 2 or 3 has (.9 + .05) / 2 − 1/3 before, and .95 − 2/3 after they are one."""
    told = told_apart(answers(set(range(24)), n_pages=24, per_page=12), resamples=200, splits=5)
    before = (0.9 + 2 * 0.475) / 3 - 1 / 3
    after = (0.9 - 1 / 3 + 2 * (0.95 - 2 / 3)) / 3
    assert told.before.value == pytest.approx(before, abs=0.03)
    assert told.after.value == pytest.approx(after, abs=0.03)
    assert told.difference.value == pytest.approx(after - before, abs=0.03)
    assert told.difference.interval.low > 0
    assert told.n_held_out == pytest.approx(24 * 24 * 12 / 4, rel=0.05)


def test_nothing_is_gained_where_there_is_nothing_to_gain() -> None:
    """Without duplicates no sense is joined, and what chance joins in a small half costs rather than helps."""
    told = told_apart(answers(set()), resamples=200)
    assert told.joined == ()
    assert told.before.value == pytest.approx(0.9 - 1 / 3, abs=0.03)
    assert -0.05 < told.difference.value <= 0


def test_a_group_that_everybody_likes_tells_nothing() -> None:
    """All choose sense 1 whatever the sentence: right on each page of sense 1, and yet not told apart."""
    judgments = answers(set())
    liked = SenseJudgments(judgments.words, judgments.pages, judgments.people, judgments.model,
                           np.full(len(judgments.words), "1"), judgments.n_groups)  # fmt: skip
    senses, joined = join_senses(liked)
    assert {pair.share for pair in joined} == {0.5}
    assert set(senses["w0"].values()) == {"1"}


def test_one_person_cannot_choose_and_judge() -> None:
    """People and pages are halved: it needs two people."""
    judgments = answers(set())
    alone = judgments.where(judgments.people == "p1")
    with pytest.raises(StatisticError, match="two people"):
        told_apart(alone)
