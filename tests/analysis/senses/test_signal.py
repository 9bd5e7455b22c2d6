"""Signal and noise, word by word, against loops."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from lexiscope.analysis.senses.signal import GUMBEL_SD, LEAST, signal_and_noise
from lexiscope.core.errors import InputError, StatisticError


def test_standard_deviations_of_words_by_loops() -> None:
    """Statistics §7, Figure 3: all signals of a word, and those between the senses of a window, which alone change a
    choice; a pruned sense is no signal; words with few windows or one sense do not count."""
    rng = np.random.default_rng(1)
    words = ["ab"] * 5 + ["cd"] * 4 + ["ef"] * (LEAST - 1) + ["gh"] * 6
    rows = rng.normal(0, 2, size=(len(words), 3))
    rows[5:9, 1] = np.nan
    rows[-6:, 1:] = np.nan
    found = signal_and_noise(words, rows, noise_sd=1.5, resamples=50)
    expected = {}
    for word in ("ab", "cd"):
        own = [
            [x for x in row if not math.isnan(x)]
            for row, name in zip(rows.tolist(), words, strict=True)
            if name == word
        ]
        every = statistics.pstdev(x for row in own for x in row)
        expected[word] = (every, math.sqrt(statistics.mean(statistics.variance(row) for row in own)))
    assert [word.word for word in found.words] == ["ab", "cd"]
    for word in found.words:
        assert (word.sd, word.choice_sd) == pytest.approx(expected[word.word])
    medians = [statistics.median(pair[place] for pair in expected.values()) for place in (0, 1)]
    assert [found.sd, found.choice_sd] == pytest.approx(medians)
    assert found.above_scaled == statistics.mean(pair[1] > 1.5 for pair in expected.values())
    assert found.above_gumbel == statistics.mean(pair[1] > 1.2825498 for pair in expected.values())
    assert found.n == 9


def test_noise_alone_is_as_strong_as_noise() -> None:
    """Signals that are Gumbel draws of scale β: the spread between senses is β π/√6, and half of the words are above
    it; what all senses of a window share is seen in the spread of all signals and not between senses."""
    rng = np.random.default_rng(2)
    words = [f"w{number:03}" for number in range(200) for _ in range(50)]
    rows = 0.4 * rng.gumbel(size=(len(words), 3)) + rng.normal(0, 5, size=(len(words), 1))
    found = signal_and_noise(words, rows, noise_sd=0.4 * GUMBEL_SD, resamples=200)
    assert found.choice_sd == pytest.approx(0.4 * math.pi / math.sqrt(6), rel=0.03)
    assert found.sd == pytest.approx(5, rel=0.05)
    assert found.above_scaled_interval.low < 0.5 < found.above_scaled_interval.high + 0.1
    assert found.above_gumbel == 0.0
    assert "resampled=words" in found.choice_sd_interval.method
    names = [result.name for result in found.results()]
    assert len(names) == 4
    assert len(signal_and_noise(words, rows, noise_sd=0.0, resamples=5).results()) == 3


def test_what_has_no_value() -> None:
    """Columns of unequal length, and fewer than two words."""
    with pytest.raises(InputError):
        signal_and_noise(["a"], [[1.0, 2.0]] * 2, noise_sd=1.0)
    with pytest.raises(StatisticError, match="summary over words"):
        signal_and_noise(["a"] * 3, [[1.0, 2.0]] * 3, noise_sd=1.0)
