"""The SUBJECT of ``lexiscope senses``: a subject that chooses among induced senses."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, SpecError
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.subjects.senses.sense_embedding import SenseEmbedding
from lexiscope.subjects.senses.usage_clusters import UsageClusters

SenseSubject = Gasi | UsageClusters | SenseEmbedding
_HINT = (
    "name gasi:FOLDER, which `lexiscope train gasi` wrote, usage_clusters:FOLDER of `lexiscope senses induce`, or "
    "sense_embedding:FORMAT:FILES"
)


def read_subject(spec: str) -> SenseSubject:
    """Return the subject of a spec, its files read.

    Errors: :class:`SpecError` for a spec that is none, and a folder without its kind; :class:`CapabilityError` for a
    subject without induced senses; those of the subject for missing or damaged files.
    """
    if ":" not in spec and Path(spec).exists():
        raise SpecError(f"{spec!r} is a file or folder, not a subject", hint=f"write gasi:{spec}; {_HINT}")
    reader = catalog.subject(spec)
    if not isinstance(reader, SenseSubject):
        what = f"{spec!r} has no induced senses"
        raise CapabilityError(what, why=f"it is a subject of the kind {reader.kind}", hint=_HINT)
    # report files that cannot be read before any work starts
    _ = reader.induced
    return reader


def files_of(asked: SenseSubject) -> tuple[Path, ...]:
    """Return the folder or the files that a subject is read from."""
    return asked.paths if isinstance(asked, SenseEmbedding) else (asked.folder,)
