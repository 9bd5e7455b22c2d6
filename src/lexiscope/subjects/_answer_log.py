"""Finished answers on disk, one line each: found by their request, sealed by a checksum, only ever added to.

A process that is killed while it writes leaves at most one line without an end; it is cut off when the log is next
opened, and that one answer is asked for again. Several processes may add to the same file.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import IO, Any

from lexiscope.core.errors import Place, RunError
from lexiscope.core.run import take_lock
from lexiscope.subjects._vector_store import digest

ANSWERS = "answers"
"""The folder of the logs of endpoints, in the folder of unfinished work."""
_PAUSE = 0.001


class AnswerLog:
    """The answers of one subject under one setting.

    *key* is everything that can change an answer apart from the question itself (model, options, versions): another
    key is another file of *folder*. Without a folder the answers are in memory only. *mends* cuts off a line without an
    end; without it nothing is written on opening, so that a run under way can be read. Errors: :class:`RunError` if the
    file is damaged or cannot be made.
    """

    def __init__(self, folder: Path | None, key: object, *, mends: bool = True) -> None:
        self._open(folder / f"{digest(key)[:40]}.jsonl" if folder else None, mends=mends)

    @classmethod
    def in_file(cls, path: Path, *, mends: bool = True) -> AnswerLog:
        """Return the log that a file holds, of an unknown key. Errors: as for a new log."""
        log = cls.__new__(cls)
        log._open(path, mends=mends)
        return log

    def _open(self, path: Path | None, *, mends: bool) -> None:
        self.path = path
        self._answers: dict[str, Any] = {}
        # requests under way at the same time finish in any order
        self._lock = Lock()
        self._bytes_read = self._lines_read = 0
        if self.path is not None and self.path.is_file():
            if mends:
                _mend(self.path)
            self._read(self.path)

    def __len__(self) -> int:
        return len(self._answers)

    def __contains__(self, question: object) -> bool:
        return digest(question) in self._answers

    def get(self, question: object) -> Any:
        """Return the stored answer to a question (a JSON value), or ``None``."""
        return self._answers.get(digest(question))

    def answers(self) -> list[Any]:
        """Return all stored answers, in the order in which they came."""
        return list(self._answers.values())

    def get_written(self, question: object) -> Any:
        """Return the stored answer to a question, or ``None``, after reading what other processes have added."""
        with self._lock:
            if self.path is not None and self.path.is_file():
                self._read(self.path)
        return self.get(question)

    def put(self, question: object, answer: Any, *, durably: bool = False) -> None:
        """Store an answer (a JSON value without NaN); *durably*, it outlasts a power cut.

        Errors: :class:`RunError` where the disk is full or the place cannot be written to.
        """
        self._add({digest(question): answer}, durably=durably)

    def take_over(self, other: AnswerLog) -> None:
        """Store what another log has and this one has not, outlasting a power cut. Errors: those of :meth:`put`."""
        new = {name: answer for name, answer in other._answers.items() if name not in self._answers}
        if new:
            self._add(new, durably=True)

    def _add(self, answers: Mapping[str, Any], *, durably: bool) -> None:
        lines = "".join(_line(name, answer) for name, answer in answers.items())
        with self._lock:
            if self.path is not None:
                try:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    with self.path.open("ab") as stream:
                        _wait_for_lock(stream)
                        stream.write(lines.encode("ascii"))
                        if durably:
                            stream.flush()
                            os.fsync(stream.fileno())
                except OSError as error:
                    raise RunError("an answer cannot be kept", place=Place(str(self.path)), why=str(error)) from error
            self._answers |= answers

    def _read(self, path: Path) -> None:
        """Read the lines that were added since; one without an end is still being written."""
        with path.open("rb") as stream:
            stream.seek(self._bytes_read)
            content = stream.read()
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), start=self._lines_read + 1):
            seal, _, text = line.partition(b" ")
            if hashlib.sha256(text).hexdigest().encode() != seal:
                raise RunError(
                    "this line of stored answers is damaged",
                    place=Place(str(path), number),
                    why="its content does not hash to the number at its beginning",
                    hint="delete the line and run the same command again: it will be asked again",
                )
            name, answer = json.loads(text)
            self._answers[name] = answer
            self._lines_read = number
        self._bytes_read += whole


def gather_logs(folders: Iterable[Path], target: Path) -> None:
    """Add to the logs of a folder what those of other folders have: a sweep shares what its runs had by themselves.

    Answers that the target has are not added again. Errors: :class:`RunError` if a log is damaged or cannot be made.
    """
    for path in (path for folder in folders for path in sorted(folder.glob("*.jsonl"))):
        AnswerLog.in_file(target / path.name).take_over(AnswerLog.in_file(path, mends=False))


def _line(name: str, answer: Any) -> str:
    content = json.dumps([name, answer], ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return f"{hashlib.sha256(content.encode()).hexdigest()} {content}\n"


def _mend(path: Path) -> None:
    """Cut off a line without an end that no process is writing."""
    with path.open("rb") as stream:
        if not stream.seek(0, os.SEEK_END) or (stream.seek(-1, os.SEEK_END) and stream.read(1) == b"\n"):
            return
    with path.open("r+b") as stream:
        _wait_for_lock(stream)
        stream.seek(0)
        content = stream.read()
        stream.truncate(content.rfind(b"\n") + 1)


def _wait_for_lock(stream: IO[bytes]) -> None:
    # a line is written in less than a millisecond
    while not take_lock(stream):
        time.sleep(_PAUSE)
