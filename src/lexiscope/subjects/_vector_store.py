"""Finished batches of vectors on disk: found by what went into them, sealed by a checksum, written whole.

A file's name is the hash of everything that can change its content (model, tokenizer, dtype, device class,
pooling, library versions, and the sentences and spans of the batch in order). So two models never share a file,
and a batch that was computed in another company is never taken for this one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.errors import Place, RunError
from lexiscope.core.run import write_atomically
from lexiscope.core.subject import Floats


def digest(content: object) -> str:
    """Return the sha256 of a JSON value in canonical form."""
    text = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def library_versions(*more: str) -> dict[str, str]:
    """Return the versions of the libraries that compute a model's numbers, ``absent`` where one is not installed."""
    return {name: _version(name) for name in ("torch", "transformers", "tokenizers", *more)}


@lru_cache
def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "absent"


@dataclass(frozen=True, slots=True)
class VectorStore:
    """A folder of sealed files, one per batch, and one plan per request."""

    folder: Path
    model_key: str

    def read_plan(self, request: object) -> dict[str, Any] | None:
        """Return the stored plan of a request, or ``None``."""
        path = self._path("plan", request)
        return json.loads(_unseal(path)[1]) if path.is_file() else None

    def write_plan(self, request: object, plan: Mapping[str, Any]) -> None:
        """Store the plan of a request."""
        _seal(self._path("plan", request), {"kind": "plan"}, json.dumps(plan, sort_keys=True).encode())

    def provenance(self, what: object, find: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what was found when the first call on this folder began; it is found and stored now if none is.

        A call that continues a broken one keeps the first finding: answers of one run have one provenance.
        """
        return read_or_make(self, ["first", what], find)

    def has(self, batch: object) -> bool:
        """Return whether the vectors of a batch are stored."""
        return self._path("vectors", batch).is_file()

    def read(self, batch: object) -> Floats:
        """Return stored vectors.

        *Shape: (usages of the batch, layers, width)*. Errors: :class:`RunError` where the file is damaged.
        """
        header, payload = _unseal(self._path("vectors", batch))
        return np.frombuffer(payload, dtype="<f4").reshape(header["shape"])

    def write(self, batch: object, vectors: Floats) -> None:
        """Store the vectors of a batch; the file appears whole or not at all."""
        payload = np.ascontiguousarray(vectors, dtype="<f4").tobytes()
        _seal(self._path("vectors", batch), {"kind": "vectors", "shape": list(vectors.shape)}, payload)

    def _path(self, kind: str, content: object) -> Path:
        name = digest([self.model_key, kind, content])
        return self.folder / self.model_key[:16] / name[:2] / f"{name[:40]}.{kind}"


def read_or_make(store: VectorStore | None, request: object, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the stored plan of a request, or make and store it now; without a store it is made each time."""
    stored = store.read_plan(request) if store else None
    if stored is None:
        stored = make()
        if store:
            store.write_plan(request, stored)
    return stored


def _seal(path: Path, header: Mapping[str, object], payload: bytes) -> None:
    content = json.dumps(header, sort_keys=True).encode() + b"\n" + payload
    write_atomically(path, hashlib.sha256(content).hexdigest().encode() + b"\n" + content)


def _unseal(path: Path) -> tuple[dict[str, Any], bytes]:
    expected, _, content = path.read_bytes().partition(b"\n")
    actual = hashlib.sha256(content).hexdigest()
    if actual.encode() != expected:
        raise RunError(
            "this file of stored vectors is damaged",
            place=Place(str(path)),
            why=f"its content hashes to {actual}, written was {expected[:64]!r}",
            hint="delete the file and run the same command again: it will be computed again",
        )
    header, _, payload = content.partition(b"\n")
    return json.loads(header), payload
