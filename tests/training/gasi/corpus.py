"""A made-up corpus: topics with words of their own, so that contexts tell them apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np

TOPICS = ("river", "money", "music", "garden")


def topic_lines(n_lines: int = 300, *, topics: int = 4, length: int = 8, seed: int = 0) -> list[list[str]]:
    """Lines of words, each line of one topic of 12 words."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(topics, size=n_lines)
    return [[f"{TOPICS[topic]}{chr(97 + word)}" for word in rng.integers(12, size=length)] for topic in drawn]


def noisy_lines(n_lines: int = 1500, *, noise: float = 0.6, seed: int = 0) -> list[list[str]]:
    """Such lines, longer ones, in which a word of all topics stands in the place of most words."""
    rng = np.random.default_rng(seed)
    lines = topic_lines(n_lines, length=12, seed=seed)
    return [[f"common{rng.integers(40)}" if rng.random() < noise else word for word in line] for line in lines]


def write_corpus(folder: Path, n_lines: int = 300, *, seed: int = 0) -> Path:
    """Write such lines to a file."""
    path = folder / "corpus.txt"
    path.write_text("".join(" ".join(line) + "\n" for line in topic_lines(n_lines, seed=seed)))
    return path
