"""Responses in several files: which files they are, whether these are as they were written, and how a folder is made.

A folder of parts has one file for each task and subject, ``task=…/subject=…/part-….parquet``, and ``run.json``, which
names them with their checksums. Each part has all columns, so that it can be read by itself.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from lexiscope.core.columnar.cells import array_of, numbers_of
from lexiscope.core.columnar.memory import COLUMNS, encoded
from lexiscope.core.columnar.parquet_file import RowGroups, Table, Write, chosen_rows, join_tables, trim_table
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.run import atomic_folder, missing_place, sha256_of, versions
from lexiscope.core.sealed import (
    NOTHING,
    PARTS,
    QUESTION,
    RESPONSES,
    RUN,
    ChangedFile,
    damage_error,
    read_sealed,
    seal_run,
)

_KEYS = ("task", "subject_id")
_SLICE = 2**16
_MOST_WAITING = 2**28
"""Bytes of rows that wait for their row groups, over all parts."""
_MOST_OPEN = 128
_LONGEST_NAME = 120
Signature = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A file of responses: its place, what it was when it was listed, and what its seal says of it.

    ``holds`` has what all of its rows hold in a column, as ``run.json`` says, and ``folders`` what the names of its
    folders say about columns that a file of another program may not have.
    """

    path: Path
    signature: Signature
    sha256: str = ""
    holds: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)

    def check(self, *, content: bool) -> None:
        """Check that the file is the one that was listed; with *content*, that it is as it was written.

        Errors: :class:`RunError` naming the file.
        """
        if _signature(self.path) != self.signature:
            what = "this file was changed or removed while it was being read"
            raise RunError(what, place=Place(str(self.path)), hint="wait until it is written, and read again")
        if content and self.sha256:
            actual = sha256_of(self.path)
            if actual != self.sha256:
                changed = [ChangedFile(self.path.name, self.sha256, actual)]
                raise damage_error(self.path.parent, {}, changed)


def find_parts(place: Path) -> tuple[list[StoredPart], list[str]]:
    """Return the files of responses at a place, a file or a folder, and the names of files that no record names.

    For a run it is ``responses.parquet``; for a folder of parts, those in its ``run.json``; of any other folder, all
    Parquet files whose path has no name that begins with a dot or an underscore. The parts of a
    run below the folder are not among them: their rows are in its ``responses.parquet``.
    Errors: :class:`InputError` for a place without responses; :class:`RunError` for a run that is not finished, and
    for a record that is damaged.
    """
    if place.is_file():
        return [_part(place, place.parent, _record(place.parent))], []
    if not place.is_dir():
        raise missing_place(place, "there is no such file or folder")
    if (place / RESPONSES).is_file():
        return [_part(place / RESPONSES, place, _record(place))], []
    if (place / QUESTION).is_file():
        hint = "give the command again that made this folder: it continues"
        raise RunError(f"this run is not finished: it has no {RESPONSES}", place=Place(str(place)), hint=hint)
    inside = [path.relative_to(place) for path in place.rglob("*.parquet")]
    shown = _without_joined(path.as_posix() for path in inside if not any(name[0] in "._" for name in path.parts))
    record = _record(place)
    named = _without_joined(name for name in record.get("files", {}) if name.endswith(".parquet"))
    if not shown and not named:
        what = "this folder holds no responses: there is no Parquet file in it"
        raise InputError(what, code="E001", place=Place(str(place)), hint="name a run or a folder of parts")
    parts = [_part(place / name, place, record) for name in named or shown]
    return parts, [name for name in shown if named and name not in set(named)]


def _without_joined(names: Iterable[str]) -> list[str]:
    """Sort the names of files, without the parts of runs whose rows are in the run's table, too."""
    paths = sorted(map(PurePosixPath, names), key=str)
    runs = {path.parent for path in paths if path.name == RESPONSES}
    return [str(path) for path in paths if not (path.parent.name == PARTS and path.parent.parent in runs)]


def _record(folder: Path) -> dict[str, Any]:
    return read_sealed(folder / RUN) if (folder / RUN).is_file() else {}


def _part(path: Path, top: Path, record: Mapping[str, Any]) -> StoredPart:
    name = path.relative_to(top).as_posix()
    expected = record.get("files", {}).get(name, "")
    signature = _signature(path)
    if signature is None:
        raise damage_error(top, record, [ChangedFile(name, expected, NOTHING)])
    folders = dict(segment.split("=", 1) for segment in Path(name).parent.parts if "=" in segment)
    columns = {("subject_id" if key == "subject" else key): unquote(text) for key, text in folders.items()}
    holds = record.get("parts", {}).get(name, {})
    known = {key: text for key, text in columns.items() if key in COLUMNS}
    return StoredPart(path, signature, expected, {key: holds[key] for key in _KEYS if key in holds}, known)


def _signature(path: Path) -> Signature | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_size, state.st_mtime_ns, state.st_ino


# -- writing --------------------------------------------------------------------------------------------------------


class _PartFile:
    """The file to which the rows of one task and subject go."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.stream = path, path.open("wb")
        self.groups = RowGroups(self.stream)

    def close(self) -> int:
        self.groups.close()
        # before the folder gets its name: a power cut leaves no part that is named and not whole
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.stream.close()
        return self.groups.rows


class _Parts:
    """The parts of a folder while they are written: few open files, and few rows that wait, however many there are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[tuple[str, str], _PartFile] = OrderedDict()
        self._waiting: list[Table] = []
        self.written: dict[str, dict[str, object]] = {}
        self._number = 0

    def add(self, table: Table) -> None:
        """Take rows. They are divided in slices of a fixed length, so that no file depends on how they came."""
        start = 0
        while start < table.num_rows:
            room = _SLICE - sum(waiting.num_rows for waiting in self._waiting)
            self._waiting.append(table.slice(start, room))
            start += room
            if start <= table.num_rows:
                self._divide(join_tables(self._waiting))
                self._waiting = []

    def _divide(self, rows: Table) -> None:
        codes, names = zip(*(encoded(rows.column(name)) for name in _KEYS), strict=True)
        number = numbers_of(codes[0]).astype(np.int64) * len(names[1]) + numbers_of(codes[1])
        order = np.argsort(number, kind="stable")
        ends = np.flatnonzero(np.diff(number[order], append=-1)) + 1
        start = 0
        for end in ends.tolist():
            task, subject = (int(place) for place in divmod(int(number[order[start]]), len(names[1])))
            key = names[0][task].as_py(), names[1][subject].as_py()
            # rows of their own: a slice of a few rows would keep all rows of its slice in memory
            own = trim_table(rows) if len(ends) == 1 else chosen_rows(rows, array_of(order[start:end], pa.int64()))
            self._file(key).groups.add(own)
            start = end
        waiting = {key: part.groups.waiting_memory for key, part in self._open.items()}
        while sum(waiting.values()) > _MOST_WAITING:
            key = max(waiting, key=lambda key: (waiting[key], key))
            self._open[key].groups.flush()
            waiting[key] = 0

    def _file(self, key: tuple[str, str]) -> _PartFile:
        if key not in self._open:
            if len(self._open) == _MOST_OPEN:
                self._close(next(iter(self._open)))
            self._number += 1
            task, subject = map(_segment, key)
            name = f"task={task}/subject={subject}/part-{self._number:05d}.parquet"
            self._open[key] = _PartFile(self._folder / name)
        self._open.move_to_end(key)
        return self._open[key]

    def _close(self, key: tuple[str, str]) -> None:
        part = self._open[key]
        name = part.path.relative_to(self._folder).as_posix()
        self.written[name] = {**dict(zip(_KEYS, key, strict=True)), "rows": part.close()}
        del self._open[key]

    def close(self) -> None:
        """Write what waits, and the ends of the files."""
        if self._waiting:
            self._divide(join_tables(self._waiting))
        for key in list(self._open):
            self._close(key)

    def abandon(self) -> None:
        """Close the files as they are."""
        for part in self._open.values():
            part.groups.abandon()
            part.stream.close()


def _segment(name: str) -> str:
    """The name of a folder for a task or subject; what a file system may not take is written as in an address.

    >>> _segment("encoder:org/model"), len(_segment("x" * 500)), _segment("日本語 50%")
    ('encoder%3Aorg%2Fmodel', 120, '日本語 50%25')
    """
    safe = re.sub(r'[\x00-\x1f\x7f"#%*/:<>?\\|=]', lambda match: f"%{ord(match.group()):02X}", name).rstrip(". ")
    while len(safe.encode()) > _LONGEST_NAME:
        safe = safe[:-1]
    return safe


@contextmanager
def parts_writer(folder: Path) -> Iterator[Write]:
    """Give a function that takes tables and writes them as a folder of parts, which appears whole at the end.

    Errors: :class:`RunError` for a folder that exists, or that another process has made meanwhile.
    """
    _refuse_existing(folder)
    with atomic_folder(folder, keep_earlier=True) as new:
        parts = _Parts(new)
        try:
            yield parts.add
            parts.close()
        finally:
            parts.abandon()
        record = {"rows": sum(int(str(part["rows"])) for part in parts.written.values()), "parts": parts.written}
        seal_run(new, record | {"versions": versions()}, parts.written)
        _refuse_existing(folder)


def _refuse_existing(folder: Path) -> None:
    if folder.exists():
        hint = "name a new folder; several folders can be read together"
        raise RunError(
            "this folder exists already: parts are written to a new one", place=Place(str(folder)), hint=hint
        )
