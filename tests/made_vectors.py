"""Made-up subject: vectors drawn from each text's hash, batch by batch, kept on disk as an encoder keeps them.

Tests name it by the path of this file. It needs no torch: a process that asks it is at work within a second.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import SubjectError
from lexiscope.core.subject import Floats, SubjectSpec, WorkShare
from lexiscope.core.usage import Usage
from lexiscope.subjects._vector_store import VectorStore, digest

CAPABILITIES = ("Embeds",)
_BATCH = 8
_LONGEST = 1_000


@dataclass(frozen=True)
class MadeVectors:
    """An encoder of two layers; *pause* is how long a batch takes, in seconds."""

    subject_id: str
    pause: float = 0.0
    share: WorkShare = field(default_factory=WorkShare)
    kind: str = "encoder"

    @property
    def layers(self) -> tuple[int, ...]:
        return (0, 1)

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(self.subject_id, kind=self.kind, revision="1")

    def with_share(self, share: WorkShare) -> MadeVectors:
        return replace(self, share=share)

    def embed(
        self, usages: Sequence[Usage], *, work: Path | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Floats:
        for usage in usages:
            if len(usage.text) > _LONGEST:
                raise SubjectError(f"a text of {len(usage.text)} characters is too long: {usage.text[:20]}")
        store = None if work is None else VectorStore(work / "vectors", digest(["made", self.subject_id]))
        keys = [f"{usage.start} {usage.end} {usage.text}" for usage in usages]
        batches = [keys[first : first + _BATCH] for first in range(0, len(keys), _BATCH)]
        for number in self.share.order(len(batches)):
            self._vectors(batches[number], store)
        return np.concatenate([self._vectors(batch, store) for batch in batches])

    def _vectors(self, batch: list[str], store: VectorStore | None) -> Floats:
        if store and store.has(batch):
            return store.read(batch)
        time.sleep(self.pause)
        hashes = [hashlib.sha256(key.encode()).digest() for key in batch]
        vectors = np.array([np.frombuffer(each, dtype=np.uint8) for each in hashes], dtype=np.float32)
        vectors = vectors.reshape(len(batch), len(self.layers), -1)
        if store:
            store.write(batch, vectors)
        return vectors


def load(spec: SubjectSpec) -> MadeVectors:
    """``made_vectors.py:pause=0.01``, or without a pause."""
    return MadeVectors(str(spec), float(spec.name.partition("pause=")[2] or 0))
