"""Random draws, each with a separate generator, so that other draws of the same call do not change them."""

from __future__ import annotations

import hashlib

import numpy as np


def generator_of(seed: int, *names: str) -> np.random.Generator:
    """Return the generator of one draw by the seed and the names of what is drawn: a word, a sense, a purpose.

    >>> [int(generator_of(1, word).integers(100)) for word in ("bank", "shore", "bank")]
    [31, 77, 31]
    """
    digest = hashlib.sha256("\0".join([str(seed), *names]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))
