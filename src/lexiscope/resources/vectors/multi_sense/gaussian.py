"""Gaussian mixtures (word2gm, Athiwaratkun & Wilson 2017): a component's mean is a sense, its share the prior.

The program leaves ``vocab.txt``, a line with word and count for each word, and a TensorFlow checkpoint. Where
TensorFlow is installed, the variables ``mu`` (words, components, width) and ``mixture`` of the checkpoint are saved
under these names with ``numpy.savez``: that file is read here, without TensorFlow. ``mixture`` holds scores, as the
program keeps them: (words, components), of which the softmax is the share, or (words,) for two components, of which the
sigmoid is that of the first. Variances are not used: similarity is the cosine of means. *Source:* benathi/word2gm on
GitHub, word2gm_loader.py and README.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexiscope.resources.vectors.multi_sense.form import (
    Floats,
    MultiSense,
    damage_error,
    read_arrays,
    read_counted_words,
)


def read_gaussian(parameters: Path, vocabulary: Path) -> MultiSense:
    """Read means and shares of the components from an ``npz`` file, and the words from ``vocab.txt``.

    Errors: :class:`InputError` E720 with file and, in the vocabulary, line: a file that is no archive of arrays, a
    missing ``mu`` or ``mixture``, shapes that do not go together, a line without a count, a word that occurs twice,
    numbers that are not finite.
    """
    arrays = read_arrays(parameters, ("mu", "mixture"))
    mu, mixture = arrays["mu"], arrays["mixture"]
    means = mu[:, None, :] if mu.ndim == 2 else mu
    words, counts = read_counted_words(vocabulary)
    if means.ndim != 3 or len(means) != len(words):
        what = f"mu has the shape {mu.shape}; it needs (words, components, width), for {len(words):,} words"
        raise damage_error(parameters, what)
    priors = _shares(parameters, mixture, means.shape[:2])
    starts = np.arange(0, means.shape[0] * means.shape[1] + 1, means.shape[1], dtype=np.int64)
    senses = means.reshape(-1, means.shape[2]).astype(np.float32)
    return MultiSense(words, starts, senses, priors.reshape(-1).astype(np.float32), name=str(parameters), counts=counts)


def _shares(path: Path, scores: NDArray[np.float64], shape: tuple[int, ...]) -> Floats:
    if shape[1] == 2 and scores.shape == shape[:1]:
        scores = np.stack([scores, np.zeros(len(scores))], axis=1)
    if scores.shape != shape:
        raise damage_error(path, f"mixture has the shape {scores.shape}; with this mu it needs {shape}")
    exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True), np.float32)
