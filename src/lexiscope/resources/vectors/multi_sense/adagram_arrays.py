"""AdaGram as python-adagram trains it: its arrays, saved without the pickle that it writes itself.

The program saves a model by ``pickle``. A pickle is a program: to open one is to run it, so it is not opened here.
Where python-adagram is at hand, three lines save what is needed::

    model = adagram.VectorModel.load("model.pkl")
    numpy.savez("model.npz", In=model.In, counts=model.counts, alpha=model.alpha, d=model.d)
    words = zip(model.dictionary.id2word, model.dictionary.frequencies)
    open("words.txt", "w", encoding="utf-8").writelines(f"{word} {n}\\n" for word, n in words)

``In`` (words, senses, width) are the vectors and ``counts`` (words, senses) how often each sense was chosen; priors
follow from them by stick breaking. As in the program, senses that are less probable than .001 are left out.
*Source:* lopuhin/python-adagram on GitHub, adagram/model.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lexiscope.resources.vectors.multi_sense.adagram import expected_shares
from lexiscope.resources.vectors.multi_sense.arrays import read_arrays, read_counted_words
from lexiscope.resources.vectors.multi_sense.form import MultiSense, damaged, shares

_NAMES = ("In", "counts", "alpha", "d")
_LEAST = 1e-3


def read_adagram_arrays(arrays: Path, words: Path) -> MultiSense:
    """Read saved arrays, and the words of their rows with their counts.

    Errors: :class:`InputError` E720 with file and, in the words, line: no archive of these arrays, shapes that do not
    go together, counts below 0, an alpha that is not above 0, a d outside 0 to 1, a line without a count.
    """
    found = read_arrays(arrays, _NAMES)
    names, frequencies = read_counted_words(words)
    vectors, counts, alpha, discount = (found[name] for name in _NAMES)
    if vectors.ndim != 3 or vectors.shape[0] != len(names) or 0 in vectors.shape:
        raise damaged(
            arrays, f"In has the shape {vectors.shape}; it needs (words, senses, width), for {len(names):,} words"
        )
    if counts.shape != vectors.shape[:2] or (counts < 0).any():
        raise damaged(arrays, f"counts of shape {counts.shape} are needed as {vectors.shape[:2]}, none below 0")
    if alpha.size != 1 or not alpha.item() > 0 or discount.size != 1 or not 0 <= discount.item() < 1:
        raise damaged(arrays, f"alpha must be a number above 0 and d one from 0 to 1; there are {alpha} and {discount}")
    priors = np.array([expected_shares(row, alpha.item(), discount.item()) for row in counts])
    kept = priors >= np.minimum(_LEAST, priors.max(axis=1, keepdims=True))
    starts = np.concatenate([[0], kept.sum(axis=1).cumsum()]).astype(np.int64)
    given = shares(priors[kept], starts)
    return MultiSense(names, starts, vectors[kept].astype(np.float32), given, name=str(arrays), counts=frequencies)
