"""Recovery of planted senses: by hand, bounds, and what does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.analysis.senses.planted import (
    labels_by_neighbours,
    labels_by_usages,
    planted_calibration,
    planted_selection,
    sense_recovery,
    word_recovery,
)
from lexiscope.core.errors import InputError, StatisticError


def test_a_table_by_hand() -> None:
    """Induced 0 holds aaa, 1 holds bbba, 2 holds aa: one to one 3 + 3 of 9, many to one 3 + 3 + 2 of 9."""
    found = word_recovery("ab", [0, 0, 0, 1, 1, 1, 1, 2, 2], list("aaabbbaaa"))
    assert (found.accuracy, found.purity, found.majority) == pytest.approx((6 / 9, 8 / 9, 6 / 9))
    assert (found.n_planted, found.n_recovered, found.n_used) == (2, 2, 3)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=30), st.permutations(range(4))
)
def test_bounds_and_names(rows: list[tuple[int, str]], other: list[int]) -> None:
    """majority <= purity, accuracy <= purity, and the numbers of senses do not matter."""
    induced, planted = [k for k, _ in rows], [sense for _, sense in rows]
    found = word_recovery("w", induced, planted)
    assert found.majority <= found.purity + 1e-12
    assert found.accuracy <= found.purity + 1e-12
    assert word_recovery("w", [other[k] for k in induced], planted) == found


def test_chance_is_near_the_majority() -> None:
    """Senses drawn at random reach hardly more than one sense for all."""
    rng = np.random.default_rng(0)
    words = np.repeat([f"w{n}" for n in range(30)], 200)
    found = sense_recovery(words.tolist(), rng.integers(3, size=6000), rng.choice(["a", "b"], size=6000).tolist())
    assert found.purity == pytest.approx(found.majority, abs=0.03)
    assert found.accuracy < 0.42
    assert found.accuracy_interval.low < found.accuracy < found.accuracy_interval.high
    assert (found.n, len(found.words)) == (6000, 30)


def test_duplicates_are_recovered_and_not_selected() -> None:
    """Senses that look alike and differ by a hair: usages map them to both planted senses, their look to one."""
    words, gold = ["ab", "ab", "cd", "cd"], ["a", "b", "c", "d"]
    p = np.array([[0.51, 0.49], [0.49, 0.51]] * 2)
    assert sense_recovery(words, p.argmax(axis=1), gold).accuracy == 1.0
    # both senses of a word stand for its first sense
    right = [[sense in "ac"] * 2 for sense in gold]
    found = planted_selection(words, p, right, recovered={"ab": 1, "cd": 1})
    assert (found.accuracy, found.probability, found.recovered) == (0.5, 0.5, 1.0)


def test_selection_is_a_mean_over_words() -> None:
    """A word counts once, however many usages it has; its interval resamples words."""
    words = ["ab"] * 8 + ["cd"] * 2 + ["ef"] * 2
    p = np.array([[0.8, 0.2]] * 12)
    right = np.array([[True, False]] * 8 + [[False, True], [True, False]] + [[False, True]] * 2)
    found = planted_selection(words, p, right, recovered=dict.fromkeys(words, 2))
    assert found.accuracy == pytest.approx((1 + 0.5 + 0) / 3)
    assert found.probability == pytest.approx((0.8 + 0.5 + 0.2) / 3)
    assert [each.n for each in found.words] == [8, 2, 2]
    assert found.accuracy_interval.low < found.accuracy < found.accuracy_interval.high


def test_neighbours_say_what_a_sense_stands_for() -> None:
    """The cosine of their mean decides, so long vectors of words count no more than short ones of planted words."""
    near = [[[2.0, 0.1], [1.0, 0.0]], [[0.0, 1.0], [0.5, 2.0]], [[1.0, 1.2], [1.0, 1.2]]]
    assert labels_by_neighbours(near, [[0.1, 0.0], [0.0, 9.0]]).tolist() == [0, 1, 1]
    with pytest.raises(StatisticError, match="width"):
        labels_by_neighbours(near, [[1.0, 0.0, 0.0]])
    with pytest.raises(StatisticError, match="direction"):
        labels_by_neighbours([[[1.0, 0.0], [-1.0, 0.0]]], [[1.0, 0.0]])


def test_what_has_no_value() -> None:
    """Columns of unequal length, one word, no usage."""
    with pytest.raises(InputError):
        sense_recovery(["a", "b"], [1], ["x", "y"])
    with pytest.raises(StatisticError):
        sense_recovery(["a", "a"], [1, 2], ["x", "y"])
    with pytest.raises(StatisticError):
        word_recovery("a", [], [])
    with pytest.raises(InputError):
        word_recovery("a", [1], [])
    with pytest.raises(InputError):
        planted_selection(["a", "b"], [[1.0]], [[True]], recovered={"a": 1, "b": 1})
    with pytest.raises(StatisticError):
        planted_selection(["a", "a"], [[1.0]] * 2, [[True]] * 2, recovered={"a": 1})


# -- P and calibration: every number once more, usage by usage ---------------------------------------------------------


def by_hand(
    words: list[str], p: np.ndarray, labels: dict[str, tuple[str, ...]], planted: list[str], bins: int
) -> dict[str, float]:
    """P, overconfidence, calibration error and Brier score in plain loops, each word with the weight of one."""
    share = {word: 1 / (words.count(word) * len(set(words))) for word in words}
    found = {"probability": 0.0, "overconfidence": 0.0, "brier": 0.0}
    per_bin = [0.0] * bins
    for word, row, truth in zip(words, p.tolist(), planted, strict=True):
        outcomes: dict[str, float] = {}
        for label, probability in zip(labels[word], row, strict=True):
            outcomes[label] = outcomes.get(label, 0.0) + probability
        answer = labels[word][row.index(max(row))]
        confidence, hit = outcomes[answer], float(answer == truth)
        found["probability"] += share[word] * outcomes.get(truth, 0.0)
        found["overconfidence"] += share[word] * (confidence - hit)
        errors = [(q - (label == truth)) ** 2 for label, q in outcomes.items()]
        found["brier"] += share[word] * (sum(errors) + (truth not in outcomes))
        inside = next(b for b in range(bins) if confidence <= (b + 1) / bins + 1e-12)
        per_bin[inside] += share[word] * (confidence - hit)
    return found | {"error": sum(map(abs, per_bin))}


@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([1, 4, 10]))
def test_calibration_is_what_loops_say(seed: int, n_senses: int, bins: int) -> None:
    """Statistics §7: P of the right sense, calibration error, Brier and overconfidence, for any labels of senses, with
    senses that stand for nothing and planted words for which no sense stands."""
    rng = np.random.default_rng(seed)
    words = [*rng.choice(["ab", "cd", "ef"], size=30).tolist(), "ab", "cd", "ef"]
    planted = [word[rng.integers(2)] for word in words]
    p = rng.dirichlet(np.ones(n_senses), size=len(words))
    labels = {word: tuple(rng.choice([*word, ""], size=n_senses).tolist()) for word in ("ab", "cd", "ef")}
    found = planted_calibration(words, p, labels, planted, mapping="neighbours", bins=bins, resamples=20)
    expected = by_hand(words, p, labels, planted, bins)
    assert {name: getattr(found, name) for name in expected} == pytest.approx(expected, abs=1e-12)
    assert sum(each.n for each in found.bins) == found.n == len(words)
    assert found.overconfidence == pytest.approx(found.confidence - found.accuracy, abs=1e-12)
    assert found.error >= abs(found.overconfidence) - 1e-12


def test_reliability_by_hand() -> None:
    """Four usages of two words, the words of different weight: bins, means, and the names of what is resampled."""
    words, planted = ["ab", "cd", "cd", "cd"], ["a", "c", "d", "d"]
    p = [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.8, 0.2]]
    found = planted_calibration(words, p, {"ab": ("a", "b"), "cd": ("c", "d")}, planted, mapping="one_to_one", bins=5)
    low, high = found.bins[3], found.bins[4]
    # confidences .9 (weight 1), .9, .8 and .8 (a third each): .8 belongs to the bin that ends there
    assert (low.n, low.confidence, low.right) == (2, pytest.approx(0.8), pytest.approx(0.5))
    assert (high.n, high.confidence, high.right) == (2, pytest.approx(0.9), pytest.approx(1.0))
    assert found.bins[0].n == 0
    assert np.isnan(found.bins[0].right)
    # (|2/3 (.8 - .5)| + |4/3 (.9 - 1)|) / 2
    assert found.error == pytest.approx((0.2 + 4 / 30) / 2)
    assert found.probability == pytest.approx((0.9 + (0.9 + 0.8 + 0.2) / 3) / 2)
    assert "resampled=words" in found.probability_interval.method
    assert "at least 3" in found.error_interval.note
    names = [result.name for result in found.results()]
    assert names[:4] == [
        "planted_probability(senses=one_to_one)",
        "planted_overconfidence(senses=one_to_one)",
        "planted_calibration_error(senses=one_to_one,bins=5)",
        "planted_brier(senses=one_to_one)",
    ]
    assert [(result.condition, result.n) for result in found.results()[4:]] == [("0.60-0.80", 2), ("0.80-1.00", 2)]


def test_probabilities_that_mean_what_they_say() -> None:
    """Answers drawn with the probabilities themselves: error near 0, P the mean of p² + q², intervals around both;
    the same answers with probabilities drawn together to 1/2 promise too little, sharpened ones too much."""
    rng = np.random.default_rng(3)
    words = [f"{n:02}" for n in range(60) for _ in range(100)]
    share = rng.uniform(0.02, 0.98, len(words))
    planted = [
        f"{word}{'a' if u < s else 'b'}" for word, u, s in zip(words, rng.random(len(words)), share, strict=True)
    ]
    labels = {word: (f"{word}a", f"{word}b") for word in set(words)}

    def made(left: np.ndarray):  # type: ignore[no-untyped-def]
        p = np.stack([left, 1 - left], axis=1)
        return planted_calibration(words, p, labels, planted, mapping="one_to_one", resamples=300)

    honest = made(share)
    assert honest.error < 0.02
    assert honest.overconfidence_interval.low < 0 < honest.overconfidence_interval.high
    assert honest.probability == pytest.approx(np.mean(share**2 + (1 - share) ** 2), abs=0.01)
    assert all(each.interval.low - 0.02 < each.confidence < each.interval.high + 0.02 for each in honest.bins if each.n)
    flat, sharp = made(0.5 + 0.2 * (share - 0.5)), made(np.where(share > 0.5, 0.99, 0.01))
    assert flat.overconfidence_interval.high < 0 < sharp.overconfidence_interval.low
    assert min(flat.error, sharp.error) > 0.1
    assert honest.brier < min(flat.brier, sharp.brier)
    assert flat.accuracy == honest.accuracy == sharp.accuracy


def test_labels_by_usages_are_those_of_the_accuracy() -> None:
    """The mapping under which one-to-one accuracy is reached: its hits are that accuracy, word by word."""
    rng = np.random.default_rng(5)
    words = rng.choice(["ab", "cd", "ef"], size=200).tolist()
    planted, p = [word[rng.integers(2)] for word in words], rng.dirichlet(np.ones(3), size=200)
    labels = labels_by_usages(words, p, planted)
    found = planted_calibration(words, p, labels, planted, mapping="one_to_one", resamples=20)
    assert found.accuracy == pytest.approx(sense_recovery(words, p.argmax(axis=1), planted).accuracy)
    assert all(sorted(filter(None, own)) == list(word) for word, own in labels.items())


def test_calibration_refuses_what_does_not_fit() -> None:
    """One word, a word without labels, no bin, columns of unequal length."""
    p, labels = [[0.5, 0.5]] * 2, {"ab": ("a", "b"), "cd": ("c", "d")}
    with pytest.raises(StatisticError, match="mean over words"):
        planted_calibration(["ab", "ab"], p, labels, ["a", "b"], mapping="one_to_one")
    with pytest.raises(InputError, match="'cd' needs a label"):
        planted_calibration(["ab", "cd"], p, {"ab": ("a", "b")}, ["a", "c"], mapping="one_to_one")
    with pytest.raises(InputError, match="0 bins"):
        planted_calibration(["ab", "cd"], p, labels, ["a", "c"], mapping="one_to_one", bins=0)
    with pytest.raises(InputError):
        labels_by_usages(["ab"], p, ["a", "b"])
