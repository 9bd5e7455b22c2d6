"""Recorded answers: the people and models whose answers are already in a file or come with a dataset.

``recorded:FILE.csv`` and ``recorded:FILE.parquet`` read a response table that Lexiscope wrote;
``recorded:DATASET`` takes the answers that were published with a dataset of the catalog. Logs of evaluation programs
that ran a task of ``lexiscope export``: ``recorded:FOLDER`` or ``recorded:FILE.jsonl`` read the samples of
lm-evaluation-harness (``?bos=yes|no`` says what their run does not), ``recorded:FILE.eval`` and ``recorded:FILE.json``
a log of inspect_ai.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, SubjectFacts
from lexiscope.core.errors import Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.core.spec import plain_name, split_options
from lexiscope.core.subject import SubjectSpec
from lexiscope.resources.tables.rows import RowReader
from lexiscope.subjects._recorded_logs import LoggedLogProbabilities, LoggedReplies

CAPABILITIES = ("Judges",)
_REPLIES, _SAMPLES = (".eval", ".json"), ".jsonl"


def load(spec: SubjectSpec) -> Recorded | LoggedLogProbabilities | LoggedReplies:
    """Make the subject that gives recorded answers. The file or the dataset is read when it is first asked.

    Errors: :class:`SpecError` where the name is neither a file nor a dataset, and for an option of a log that is not
    known.
    """
    name = spec.name
    log = _log_path(name)
    if log is not None:
        return _log_subject(name, log)
    if Path(name).suffix in (".csv", ".parquet"):
        if not Path(name).is_file():
            raise SpecError(f"there is no file {name!r} of recorded answers")
    elif not catalog.has("datasets", name):
        known = ", ".join(catalog.names("datasets"))
        raise SpecError(
            f"{name!r} is neither a file (.csv, .parquet, .jsonl, .eval, .json), a folder of logs nor a dataset",
            hint=f"datasets: {known}",
        )
    return Recorded(name)


def files_of(spec: SubjectSpec) -> tuple[Path, ...]:
    """Return the files that a spec names; none where it names a dataset."""
    log = _log_path(spec.name)
    if log is not None:
        return _log_subject(spec.name, log).files
    return (Path(spec.name),) if Path(spec.name).suffix in (".csv", ".parquet") else ()


def _log_path(name: str) -> Path | None:
    """The file or the folder of an evaluation program that a spec names."""
    path = Path(plain_name(name))
    if path.suffix in (*_REPLIES, _SAMPLES):
        if not path.is_file():
            raise SpecError(f"there is no file {str(path)!r} of recorded answers")
        return path
    return path if path.is_dir() and not catalog.has("datasets", str(path)) else None


def _log_subject(name: str, path: Path) -> LoggedLogProbabilities | LoggedReplies:
    options = split_options(name)[1]
    if path.suffix in _REPLIES:
        if options:
            raise SpecError(f"a log of inspect_ai has no options, not {', '.join(options)}")
        return LoggedReplies(name, path)
    unknown = [key for key, value in options.items() if key != "bos" or value not in ("yes", "no")]
    if unknown:
        raise SpecError(
            f"log-probabilities on record do not take the option {unknown[0]!r}", hint="use bos=yes or bos=no"
        )
    return LoggedLogProbabilities(name, path, options.get("bos", ""))


class Recorded:
    """People and models whose answers are on record; each row keeps the id of who gave it."""

    kind = "recorded"

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def subject_id(self) -> str:
        """Its spec; rows of the table carry the ids of those who answered."""
        return f"recorded:{self.name}"

    @property
    def facts(self) -> SubjectFacts:
        """Where the answers come from; the revision is the checksum of the file or of the dataset's files."""
        if self._is_file:
            return SubjectFacts(self.subject_id, kind=self.kind, revision=sha256_of(Path(self.name)), source=self.name)
        sums = " ".join(sha for _, sha in sorted(self._dataset.checksums))
        card = self._dataset.card
        return SubjectFacts(
            self.subject_id, card.title, kind=self.kind, revision=f"{card.version} {sums}".strip(), source=card.source
        )

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return the recorded rows of the asked items and this task, as they were recorded.

        An item without a recorded answer gets one row under this subject's own id, without value.
        Errors: :class:`RunError` or :class:`InputError` for a file that is no response table.
        """
        asked = tuple(item.item_id for item in items)
        recorded = self._answers.where(task=task, item_id=asked)
        known = set(recorded.unique("item_id"))
        silent = [item_id for item_id in asked if item_id not in known]
        if not silent:
            return recorded
        rows = {"item_id": np.array(silent, dtype=object), "subject_id": self.subject_id, "subject_kind": self.kind}
        nothing = ResponseTable.from_columns(rows | {"task": task, "measure": catalog.task(task).measure})
        return ResponseTable.concat([recorded, nothing])

    def place_of(self, response: Response) -> Place:
        """Return the file and line of an answer; for a table without lines (Parquet) its row, counted from 1."""
        if not self._is_file:
            return Place(self.name, item_id=response.item_id)
        rows = self._answers.arrow.to_pylist()
        # the view is filled in when an answer is asked for; everything else is in the file
        wanted = asdict(replace(response, view=None, scale=None))
        same = (number for number, row in enumerate(rows) if row | {"view": None, "scale": None} == wanted)
        number = next(same, None)
        if number is None:
            return Place(self.name, item_id=response.item_id)
        if Path(self.name).suffix == ".parquet":
            return Place(f"{self.name}, row {number + 1}", item_id=response.item_id)
        # after the header and the rows before this one
        row = next(islice(RowReader(self.name, delimiter=",").rows(), number + 1, None))
        return Place(self.name, row.line, item_id=response.item_id)

    @property
    def _is_file(self) -> bool:
        return Path(self.name).suffix in (".csv", ".parquet")

    @cached_property
    def _dataset(self) -> Dataset:
        return catalog.dataset(self.name)

    @cached_property
    def _answers(self) -> ResponseTable:
        if not self._is_file:
            return self._dataset.responses
        path = Path(self.name)
        return ResponseTable.read_csv(path) if path.suffix == ".csv" else ResponseTable.read_parquet(path)
