"""Sense selection: accuracy by the majority's rule, probabilities of people's choices, ties, and a known skill."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.agreement.choices import choices_from_arrays
from lexiscope.analysis.senses.sense_tests import ModelAnswers, SenseSelection, sense_selection
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.result import Estimate, Undefined
from lexiscope.core.usage import Usage

PROBABLE = {"1": 0.6, "2": 0.3, "3": 0.1}


def of(votes: dict[str, str], choice: str = "1", **settings: object) -> SenseSelection:
    """Questions by the letters of their votes; the model chooses the same sense everywhere."""
    rows = [(f"r{k}", item, vote) for item, given in votes.items() for k, vote in enumerate(given)]
    ratings, options = choices_from_arrays(*zip(*rows, strict=True))  # type: ignore[arg-type]
    model = ModelAnswers(dict.fromkeys(votes, choice), dict.fromkeys(votes, PROBABLE))
    return sense_selection(ratings, options, model=model, **settings)  # type: ignore[arg-type]


def test_accuracy_and_the_probability_of_the_human_choice() -> None:
    """Of 111, 112, 223, 123 the model's sense 1 has a majority in two; people chose 1, 1, 2 where they agree."""
    found = of({"i": "111", "j": "112", "k": "223", "l": "123"})
    assert found.accuracy.value == 2 / 4
    assert found.judgment_accuracy.value == 6 / 12
    assert found.human_choice == {"i": "1", "j": "1", "k": "2", "l": None}
    assert isinstance(found.probability, Estimate)
    assert found.probability.value == pytest.approx((0.6 + 0.6 + 0.3) / 3)
    assert found.probability.n == 3
    assert found.judgment_probability is not None
    assert found.judgment_probability.value == pytest.approx((6 * 0.6 + 4 * 0.3 + 2 * 0.1) / 12)
    assert isinstance(found.agreement, Estimate)
    assert found.agreement.value == pytest.approx((1 + 2 / 3 + 2 / 3 + 1 / 3) / 4)
    assert (found.n_questions, found.n_judgments, found.n_undecided, found.n_tied) == (4, 12, 1, 1)


def test_a_tie_is_no_choice_of_people() -> None:
    """Of four votes, 1122 is a tie and 1123 has a winner without a majority: neither is consistent."""
    found = of({"i": "1122", "j": "1123", "k": "1112"})
    assert found.human_choice == {"i": None, "j": None, "k": "1"}
    assert (found.accuracy.value, found.n_undecided, found.n_tied) == (1 / 3, 2, 1)
    assert found.probability == Undefined(
        "model_probability(of=majority)", "fewer than two questions (or words) have a majority for one sense", 1
    )


def test_chance() -> None:
    """Blind choices: 7/27 at three senses and three judgments, .63 of votes for the winner (17 of 27)."""
    found = of({"i": "111", "j": "112"}, resamples=0)
    assert found.chance_of_accuracy == 7 / 27
    assert found.chance_of_judgment == 1 / 3
    assert found.chance_of_agreement == pytest.approx(17 / 27)
    assert of({"i": "111", "j": "112"}, n_options=5, resamples=0).chance_of_accuracy == (3 * 4 + 1) / 125


@pytest.mark.parametrize("skill", [1 / 3, 0.7, 0.95])
def test_a_known_skill_is_recovered(skill: float) -> None:
    """G17: three simulated raters choose the model's sense with probability p and else one of the two others: judgment
    accuracy is p, accuracy 3p²(1−p) + p³, both within 3 standard errors, over 1,500 questions of 100 words."""
    generator = np.random.default_rng(7)
    drawn = np.where(generator.random(4500) < skill, 1, generator.integers(2, 4, size=4500))
    votes = {f"q{n:04}": "".join(map(str, drawn[3 * n : 3 * n + 3])) for n in range(1500)}
    found = of(votes, groups={item: item[-2:] for item in votes}, resamples=200)
    majority = 3 * skill**2 * (1 - skill) + skill**3
    assert found.judgment_accuracy.value == pytest.approx(skill, abs=3 * np.sqrt(skill * (1 - skill) / 4500))
    assert found.accuracy.value == pytest.approx(majority, abs=3 * np.sqrt(majority * (1 - majority) / 1500))
    assert found.judgment_probability is not None
    expected = 0.6 * skill + 0.2 * (1 - skill)
    assert found.judgment_probability.value == pytest.approx(expected, abs=3 * 0.25 / np.sqrt(4500))
    assert found.accuracy.n_groups == 100


def test_trust_weighs_votes() -> None:
    """One rater of trust 1 against two of 1/4 carries two thirds of the question's confidence."""
    found = of({"i": "122", "j": "111"}, trust={"r0": 1.0, "r1": 0.25, "r2": 0.25})
    assert isinstance(found.trust_weighted_agreement, Estimate)
    assert found.trust_weighted_agreement.value == pytest.approx((1 / 1.5 + 1) / 2)


def item(**conditions: str | float) -> Item:
    return Item("i", "d", (Usage("bank", 0, 4),), conditions=conditions)


def test_what_a_model_says_is_read_from_items() -> None:
    """Numbers or text of a file; an empty cell is not a probability; without probabilities there are none."""
    found = ModelAnswers.of([item(model_choice="2", p_1="0.25", p_2=0.75, p_3="")])
    assert found == ModelAnswers({"i": "2"}, {"i": {"1": 0.25, "2": 0.75}})
    assert ModelAnswers.of([item(model_choice="2")]).probabilities == {}


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"p_1": 0.5}, "no condition 'model_choice'"),
        ({"model_choice": "1", "p_1": "high"}, "p_1 is not a probability: 'high'"),
        ({"model_choice": "1", "p_1": "nan"}, "p_1 is not a probability: 'nan'"),
        ({"model_choice": "1", "p_1": 1.5}, "p_1 is not a probability"),
        ({"model_choice": "1", "p_1": 0.7, "p_2": 0.7}, "sum to 1.4"),
    ],
)
def test_wrong_answers_of_a_model_are_refused(conditions: dict[str, str | float], message: str) -> None:
    """Each fault names the item."""
    with pytest.raises(InputError, match=rf"item 'i'.*{message}"):
        ModelAnswers.of([item(**conditions)])


def test_what_cannot_be_counted_is_refused() -> None:
    """A chosen sense without a probability (a dummy needs 0), a question the model does not know, no judgment."""
    ratings, options = choices_from_arrays(list("abab"), list("iijj"), list("1241"))
    with pytest.raises(InputError, match=r"item 'j'.*no probability to '4'[\s\S]*dummy group has probability 0"):
        sense_selection(ratings, options, model=ModelAnswers({"i": "1", "j": "1"}, {"i": PROBABLE, "j": PROBABLE}))
    with pytest.raises(InputError, match=r"item 'j'"):
        sense_selection(ratings, options, model=ModelAnswers({"i": "1"}, {}))
    without = sense_selection(ratings, options, model=ModelAnswers({"i": "1", "j": "1"}, {}), resamples=0)
    assert (without.probability, without.judgment_probability) == (None, None)
    empty, none = choices_from_arrays(["a"], ["i"], [None])
    with pytest.raises(StatisticError, match="no judgment"):
        sense_selection(empty, none, model=ModelAnswers({"i": "1"}, {}))
