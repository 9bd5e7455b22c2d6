"""Toy subjects for the tests of senses: words on a plane, some with two senses that their neighbours choose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.subject import Floats, Progress
from lexiscope.core.usage import Usage

RIVER, MONEY = (1.0, 0.0), (0.0, 1.0)
PLANE = {
    **dict.fromkeys(("river", "shore", "stream", "tide"), RIVER),
    **dict.fromkeys(("loan", "cash", "credit", "debt"), MONEY),
    "nothing": (0.0, 0.0),
}


def side(usage: Usage) -> float:
    """How far the words around a target speak for the river rather than for money, from −1 to 1."""
    around = [word for word in (usage.text[: usage.start] + usage.text[usage.end :]).split() if word in PLANE]
    return float(np.mean([PLANE[word][0] - PLANE[word][1] for word in around])) if around else 0.0


class Encoder:
    """Gives words their place on the plane at layer 1, and the opposite at layer 0; *bank* leans to its context."""

    kind, subject_id, layers = "encoder", "encoder:toy", (0, 1)
    facts = SubjectFacts("encoder:toy")

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None) -> Floats:
        self.asked += [usage.text for usage in usages]
        rows = []
        for usage in usages:
            lean = side(usage)
            place = np.array(PLANE.get(usage.target, (1 + lean, 1 - lean)))
            rows.append([place[::-1], place])
        return np.array(rows, np.float32)


class Senses:
    """Has two senses for *bank* and *bark*, chosen by the words around, and one for the words of the plane."""

    kind, subject_id, layers = "toy", "toy:senses", (0,)
    facts = SubjectFacts("toy:senses", revision="mine")

    def knows(self, usage: Usage) -> bool:
        return usage.target in ("bank", "bark", *PLANE)

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        rows = [(1.0, 0.0) if u.target in PLANE else ((1 + side(u)) / 2, (1 - side(u)) / 2) for u in usages]
        return np.array(rows, np.float32)

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None) -> Floats:
        chosen = self.sense_distribution(usages).argmax(axis=1)
        return np.array([[PLANE.get(u.target, (RIVER, MONEY)[k])] for u, k in zip(usages, chosen, strict=True)], "f4")


class OnlyChooses(Senses):
    """Chooses senses and has no vectors to show."""

    embed = None  # type: ignore[assignment]
    layers = None  # type: ignore[assignment]
