"""Word intrusion: accuracy by the majority's rule, chance, undecided instances, and recovery of a known skill."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.agreement.choices import choices_from_arrays
from lexiscope.analysis.ratings import choices_from_table
from lexiscope.analysis.senses.sense_tests import WordIntrusion, word_intrusion
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Undefined


def simulated(skill: float, *, n_items: int = 1500, seed: int = 1, **settings: object) -> WordIntrusion:
    """Three simulated raters, who find the intruder with a known probability and else take any of the nine others."""
    generator = np.random.default_rng(seed)
    found = generator.random(3 * n_items) < skill
    other = generator.integers(1, 10, size=3 * n_items)
    choices = [f"w{0 if hit else word}" for hit, word in zip(found, other, strict=True)]
    items = [f"i{n:04}" for n in range(n_items) for _ in range(3)]
    ratings, options = choices_from_arrays(["a", "b", "c"] * n_items, items, choices)
    names = sorted(set(items))
    words = {name: f"word{number // 9}" for number, name in enumerate(names)}
    return word_intrusion(ratings, options, intruders=dict.fromkeys(names, "w0"), groups=words, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("skill", [0.1, 0.5, 0.673, 0.95])
def test_a_known_skill_is_recovered(skill: float) -> None:
    """G15: judgment accuracy is the skill p, sense accuracy 3p²(1−p) + p³, each within 3 standard errors."""
    found = simulated(skill, resamples=200)
    majority = 3 * skill**2 * (1 - skill) + skill**3
    assert found.judgment_accuracy.value == pytest.approx(skill, abs=3 * np.sqrt(skill * (1 - skill) / 4500))
    assert found.sense_accuracy.value == pytest.approx(majority, abs=3 * np.sqrt(majority * (1 - majority) / 1500))
    assert found.judgment_accuracy.interval.low < found.judgment_accuracy.value < found.judgment_accuracy.interval.high
    assert (found.n_instances, found.n_judgments, found.sense_accuracy.n_groups) == (1500, 4500, 167)
    assert (found.sense_accuracy.n, found.judgment_accuracy.n) == (1500, 4500)


def test_blind_raters_are_at_chance() -> None:
    """Who cannot tell the intruder finds it as often as chance says: .1 of judgments, .028 of senses, share .43."""
    found = simulated(0.1, resamples=0)
    assert (found.chance_of_judgment, found.chance_of_sense) == (0.1, 0.028)
    assert found.chance_of_agreement == pytest.approx((0.01 * 3 + 0.27 * 2 + 0.72 * 1) / 3)
    assert isinstance(found.agreement, Estimate)
    assert found.agreement.value == pytest.approx(found.chance_of_agreement, abs=3 * np.sqrt(0.0279 / 1500))


def test_the_majority_is_more_than_half_of_the_judgments_that_are_there() -> None:
    """1 of 1, 2 of 2, 2 of 3 and 3 of 4 are right; 1 of 2, 1 of 3 and 2 of 4 are not. An instance without a choice
    is counted apart."""
    hits = {"a": (1, 1), "b": (2, 2), "c": (2, 3), "d": (3, 4), "e": (1, 2), "f": (1, 3), "g": (2, 4)}
    rows = [(f"r{k}", item, "in" if k < right else "out") for item, (right, n) in hits.items() for k in range(n)]
    raters, items, choices = zip(*[*rows, ("r0", "h", None)], strict=True)
    ratings, options = choices_from_arrays(raters, items, choices)
    found = word_intrusion(ratings, options, intruders=dict.fromkeys([*hits, "h"], "in"))
    assert found.sense_accuracy.value == 4 / 7
    assert found.judgment_accuracy.value == 12 / 19
    assert (found.n_instances, found.n_without, found.n_missing) == (7, 1, 1)
    # e and g are split in halves; in f two of three agree on a wrong word: decided, and wrong
    assert found.n_undecided == 2
    assert found.chance_of_sense == pytest.approx((0.1 + 2 * 0.01 + 2 * 0.028 + 2 * (4 * 0.1**3 * 0.9 + 0.1**4)) / 7)


def test_trust_and_the_table() -> None:
    """From a response table, and with trust: the trusted one of two who disagree carries the instance's confidence."""
    rows = [("a", "i", "tree"), ("b", "i", "coin"), ("a", "j", "leaf"), ("b", "j", "leaf")]
    table = ResponseTable.from_rows(
        [Response(who, "participant", item, "word_intrusion", "choice", option=option) for who, item, option in rows]
    )
    right = {"i": "tree", "j": "root"}
    found = word_intrusion(*choices_from_table(table), intruders=right, trust={"a": 0.9, "b": 0.6})
    assert isinstance(found.trust_weighted_agreement, Estimate)
    assert found.trust_weighted_agreement.value == pytest.approx((0.9 / 1.5 + 1) / 2)
    assert word_intrusion(*choices_from_table(table), intruders=right).trust_weighted_agreement is None
    assert (found.sense_accuracy.value, found.judgment_accuracy.value) == (0.0, 1 / 4)
    assert found.sense_accuracy.name == "intrusion_accuracy(of=senses)"


def test_what_cannot_be_counted_is_refused() -> None:
    """No judgment, one word only, an item without an intruder; single judgments have no agreement."""
    ratings, options = choices_from_arrays(["a", "a"], ["i", "j"], ["x", "y"])
    right = {"i": "x", "j": "x"}
    assert isinstance(word_intrusion(ratings, options, intruders=right).agreement, Undefined)
    assert np.isnan(word_intrusion(ratings, options, intruders=right).chance_of_agreement)
    with pytest.raises(InputError, match=r"item 'j'"):
        word_intrusion(ratings, options, intruders={"i": "x"})
    with pytest.raises(StatisticError, match="at least 2 groups"):
        word_intrusion(ratings, options, intruders=right, groups={"i": "w", "j": "w"})
    empty, none = choices_from_arrays(["a"], ["i"], [None])
    with pytest.raises(StatisticError, match="no judgment"):
        word_intrusion(empty, none, intruders=right)
