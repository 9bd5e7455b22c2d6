"""Made-up induced senses with topics, for the builders of tests: words of a topic are near each other."""

from __future__ import annotations

import numpy as np

from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.senses.induced_senses import InducedSenses, senses_of_folder

TARGETS = ("bank", "bar", "bolt", "palm", "seal", "spring")
"""Words with several senses, each near another topic."""


def made_vectors(
    *, n_topics: int = 4, per_topic: int = 40, seed: int = 0, width: int = 12, pruned: dict[str, int] | None = None
) -> SenseVectors:
    """Return vectors of :data:`TARGETS`, with three senses each, and of topic words ``t0w00`` …, with one.

    *pruned* says how many senses some targets keep. Counts lie between 100 and 1,000; the targets' are 300.
    """
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_topics, width))
    words = (*TARGETS, *(f"t{topic}w{number:02}" for topic in range(n_topics) for number in range(per_topic)))
    senses, mask = np.zeros((len(words), 3, width), np.float32), np.zeros((len(words), 3), bool)
    for number, word in enumerate(TARGETS):
        topics = rng.permutation(n_topics)[:3]
        senses[number] = centres[topics] + rng.normal(scale=0.1, size=(3, width))
        mask[number, : (pruned or {}).get(word, 3)] = True
    for number, word in enumerate(words[len(TARGETS) :], start=len(TARGETS)):
        senses[number, 0] = centres[int(word[1])] + rng.normal(scale=0.3, size=width)
        mask[number, 0] = True
    counts = np.exp(rng.uniform(np.log(100), np.log(1000), len(words))).astype(np.int64)
    counts[: len(TARGETS)] = 300
    return SenseVectors(words, counts, senses, senses[:, 0].copy(), mask, "made up")


def made_senses(**given: object) -> InducedSenses:
    """Return the same as rows of senses."""
    return senses_of_folder(made_vectors(**given))  # type: ignore[arg-type]
