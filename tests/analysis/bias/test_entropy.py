"""Label and sense entropy: hand calculations, invariances, and what cannot be computed."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.analysis.bias.entropy import Base, label_entropy, sense_entropy, word_entropies
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import parse_statistic


def _entropy(*shares: float) -> float:
    return -sum(share * math.log(share) for share in shares)


WORDS = ["bank", "bank", "bank", "bat", "bat", "bow", "bow", "bow", "bow"]
LABELS = ["t", "t", "f", "t", "t", "t", "f", "t", "f"]


def test_the_mean_is_that_of_the_words() -> None:
    """Each word counts once in the mean, as often as its rows in ``by_rows``."""
    found = label_entropy(WORDS, LABELS, word="lemma", resamples=0)
    each = [_entropy(2 / 3, 1 / 3), 0.0, _entropy(1 / 2, 1 / 2)]
    assert found.by_word.words == ("bank", "bat", "bow")
    assert found.by_word.entropy.tolist() == pytest.approx(each)
    assert found.value == pytest.approx(sum(each) / 3)
    assert found.by_rows == pytest.approx((3 * each[0] + 2 * each[1] + 4 * each[2]) / 9)
    assert (found.n_words, found.n_rows, found.same_share) == (3, 9, 1 / 3)
    # two of three, two of two, two of four
    assert found.majority_share == pytest.approx((2 / 3 + 1 + 1 / 2) / 3)
    assert found.by_word.n_majority.tolist() == [2, 2, 2]


def test_the_base_changes_the_unit_and_the_name() -> None:
    """Bits are nats over ln 2, and the name of the statistic tells them apart."""
    nats = label_entropy(WORDS, LABELS, word="lemma", resamples=0)
    bits = label_entropy(WORDS, LABELS, word="lemma", base="2", resamples=0)
    assert bits.value == pytest.approx(nats.value / math.log(2))
    assert parse_statistic(bits.name) == (
        "label_entropy",
        {"word": "lemma", "rows": "all", "base": "2", "min_count": "2"},
    )


def test_words_seen_once() -> None:
    """Label entropy drops a word seen once, sense entropy keeps it with entropy 0; both say how many were dropped."""
    words, senses = [*WORDS, "bay"], [*LABELS, "t"]
    labels, kept = (
        label_entropy(words, senses, word="w", resamples=0),
        sense_entropy(words, senses, word="w", resamples=0),
    )
    assert (labels.n_words, labels.by_word.n_dropped_words, labels.by_word.n_dropped_rows) == (3, 1, 1)
    assert (kept.n_words, kept.by_word.n_dropped_words) == (4, 0)
    assert kept.value == pytest.approx(labels.value * 3 / 4)
    assert kept.same_share == 2 / 4


def test_the_interval_resamples_words() -> None:
    """The interval holds the mean, and is the same under the same seed; with 0 resamples it has no bounds."""
    found = label_entropy(WORDS, LABELS, word="lemma", resamples=500, seed=3)
    again = label_entropy(WORDS, LABELS, word="lemma", resamples=500, seed=3)
    assert found.interval == again.interval
    assert 0 <= found.interval.low <= found.value <= found.interval.high
    assert not label_entropy(WORDS, LABELS, word="lemma", resamples=0).interval.is_defined


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("tfu")), min_size=1), st.integers(0, 99))
def test_properties(rows: list[tuple[str, str]], seed: int) -> None:
    """Entropy lies between 0 and the log of the number of classes, and neither order nor names of classes change it."""
    words, classes = zip(*rows, strict=True)
    found = word_entropies(words, classes)
    assert (found.entropy >= 0).all()
    limits = [math.log(n) for n in found.n_classes]
    assert all(value <= limit + 1e-12 for value, limit in zip(found.entropy, limits, strict=True))
    assert ((found.entropy == 0) == (found.n_classes == 1)).all()
    shuffled = random.Random(seed).sample(rows, len(rows))
    turned = word_entropies([word for word, _ in shuffled], [{"t": "z"}.get(name, name) for _, name in shuffled])
    assert turned.words == found.words
    assert turned.entropy.tolist() == pytest.approx(found.entropy.tolist())


def test_what_cannot_be_computed_is_refused() -> None:
    """Unequal columns, an unknown base, a hidden label, a least count of 0 and a single word are refused by name."""
    with pytest.raises(InputError, match="2 words and 1 classes"):
        word_entropies(["a", "b"], ["t"])
    unknown: Base = "10"  # type: ignore[assignment]
    with pytest.raises(InputError, match="no base '10'"):
        word_entropies(["a"], ["t"], base=unknown)
    with pytest.raises(InputError, match="min_count"):
        word_entropies(["a"], ["t"], min_count=0)
    hidden = [None, "t"]
    with pytest.raises(InputError, match="row 0, word 'a', has no class"):
        word_entropies(["a", "a"], hidden)  # type: ignore[arg-type]
    with pytest.raises(StatisticError, match="at least 2 words, and there are 1"):
        label_entropy(["a", "a", "b"], ["t", "f", "t"], word="lemma")
