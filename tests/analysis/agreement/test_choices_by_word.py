"""Agreement and consistency word by word: by hand, and for simulated people of known skill."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.analysis.agreement.choices import agreement_by_word, choices_from_arrays
from lexiscope.core.errors import InputError
from lexiscope.core.result import Estimate, Undefined


def test_by_hand() -> None:
    """bank: (2/3 + 3/3) / 2 agree, 4 of 6 judgments choose the model's; a question with one judgment is left out."""
    rows = [("i", "112", "bank"), ("j", "222", "bank"), ("k", "123", "bolt"), ("l", "1", "seal")]
    raters = [rater for _, given, _ in rows for rater in "abc"[: len(given)]]
    items = [name for name, given, _ in rows for _ in given]
    ratings, options = choices_from_arrays(raters, items, [choice for _, given, _ in rows for choice in given])
    right = {"i": "1", "j": "2", "k": "3", "l": "1"}
    by_word, rho = agreement_by_word(ratings, options, right=right, words={name: word for name, _, word in rows})
    assert list(by_word) == ["bank", "bolt"]
    assert by_word["bank"] == pytest.approx(((2 / 3 + 3 / 3) / 2, 5 / 6))
    assert by_word["bolt"] == pytest.approx((1 / 3, 1 / 3))
    assert isinstance(rho, Undefined)


def test_simulated_words_of_different_clarity() -> None:
    """Simulated: people take the model's sense with a probability that differs by word; agreement goes along."""
    rng = np.random.default_rng(4)
    raters, items, choices, words = [], [], [], {}
    for number in range(60):
        clarity = rng.uniform(1 / 3, 1)
        for k in range(5):
            words[f"{number}/{k}"] = f"w{number}"
            for rater in "abc":
                raters.append(rater)
                items.append(f"{number}/{k}")
                choices.append("1" if rng.random() < clarity else str(rng.integers(2, 4)))
    ratings, options = choices_from_arrays(raters, items, choices)
    _, rho = agreement_by_word(ratings, options, right=dict.fromkeys(words, "1"), words=words, resamples=300)
    assert isinstance(rho, Estimate)
    assert rho.interval.low > 0.6
    assert rho.name == "spearman(of=agreement,with=consistency)"
    assert rho.n == 60


def test_everybody_alike_has_no_correlation() -> None:
    """Where all words have the same agreement there is no rho, and it says so; an item without a word is refused."""
    items = [f"i{n}" for n in range(4) for _ in range(2)]
    ratings, options = choices_from_arrays(["a", "b"] * 4, items, ["1"] * 8)
    words = {f"i{n}": f"w{n}" for n in range(4)}
    _, rho = agreement_by_word(ratings, options, right=dict.fromkeys(words, "1"), words=words)
    assert isinstance(rho, Undefined)
    with pytest.raises(InputError, match="i3"):
        agreement_by_word(
            ratings, options, right=dict.fromkeys(words, "1"), words={k: v for k, v in words.items() if k != "i3"}
        )
