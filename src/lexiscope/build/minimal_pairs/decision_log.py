"""Decisions on disk: one file per curator, one line per decision, each on the disk before the next is asked for.

A changed mind is a later line: the latest counts, both stay.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from lexiscope.build.minimal_pairs.automatic import Proposal
from lexiscope.build.minimal_pairs.curation import Decision, check_curator, check_decision, compare_decisions
from lexiscope.build.minimal_pairs.tables import read_proposals
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.foreign import parse_json
from lexiscope.core.sealed import check_run


@dataclass(frozen=True, slots=True)
class DecisionLog:
    """The decisions of one curator in a folder: ``decisions/<curator>.jsonl``."""

    folder: Path
    curator: str

    def __post_init__(self) -> None:
        check_curator(self.curator)

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / "decisions" / f"{self.curator}.jsonl"

    def append(self, decision: Decision) -> None:
        """Write a decision behind the others; it is on the disk when this returns.

        A line that was cut off while it was written (the machine went down) is taken away first: it was never
        acknowledged. Errors: :class:`RunError` where the file cannot be written to.
        """
        line = (json.dumps(asdict(decision), ensure_ascii=False) + "\n").encode("utf-8")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            whole, torn = self._split()
            if torn:
                os.truncate(self.path, len(whole))
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                # one call for the whole line: two windows of one curator cannot mix their letters
                os.write(handle, line)
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            place = Place(str(self.path))
            raise RunError("this decision could not be written", place=place, why=str(error), hint=_ROOM) from error

    def read(self) -> tuple[Decision, ...]:
        """Return all decisions in the order in which they were made; none where there is no file yet.

        Errors: :class:`InputError` E467 with file and line for a line that is no decision of this curator.
        """
        whole, _ = self._split()
        return tuple(self._decision(line, number) for number, line in enumerate(whole.splitlines(), start=1))

    def latest(self, proposals: Sequence[Proposal]) -> dict[str, Decision]:
        """Return the latest decision on each proposal, by its id.

        Errors: those of :meth:`read`; :class:`InputError` E462 for a decision on something else than the *proposals*;
        those of :func:`~lexiscope.build.minimal_pairs.curation.check_decision`.
        """
        known = {proposal.proposal_id: proposal for proposal in proposals}
        latest: dict[str, Decision] = {}
        for number, decision in enumerate(self.read(), start=1):
            place = Place(str(self.path), number, item_id=decision.proposal_id)
            if decision.proposal_id not in known:
                hint = "these decisions were made on other proposals: use the folder in which they were made"
                raise InputError("there is no such proposal here", code="E462", place=place, hint=hint)
            latest[decision.proposal_id] = check_decision(decision, known[decision.proposal_id], place=place)
        return latest

    @property
    def torn_line(self) -> str:
        """What is behind the last whole line: a decision that was cut off while it was written, or nothing."""
        return self._split()[1].decode("utf-8", "replace")

    def _split(self) -> tuple[bytes, bytes]:
        if not self.path.is_file():
            return b"", b""
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        return content[:end], content[end:]

    def _decision(self, line: bytes, number: int) -> Decision:
        place = Place(str(self.path), number, text=line.decode("utf-8", "replace"))
        try:
            content = parse_json(line.decode("utf-8"))
            names = {field.name for field in fields(Decision)}
            if not isinstance(content, Mapping) or set(content) != names:
                raise ValueError("its fields are not those of a decision")
            if not all(isinstance(value, str) for value in content.values()):
                raise ValueError("its fields are not those of a decision")
        except ValueError as error:
            hint = "restore the file from a copy, or remove the line"
            raise InputError(
                "this line is not a decision", code="E467", place=place, why=str(error), hint=hint
            ) from error
        decision = Decision(**content)
        if decision.curator != self.curator:
            what = f"this decision is {decision.curator}'s, in the file of {self.curator}"
            raise InputError(what, code="E467", place=place, hint="each curator has a separate file")
        return decision


def curator_names(folder: Path) -> tuple[str, ...]:
    """Return the names of those who have decided anything in a folder, in alphabetical order."""
    return tuple(sorted(path.stem for path in (folder / "decisions").glob("*.jsonl")))


_ROOM = "make room or choose another place; what was decided before is kept"


def read_finished_proposals(folder: Path) -> tuple[Proposal, ...]:
    """Return the proposals of a finished build.

    Errors: those of :func:`~lexiscope.build.minimal_pairs.tables.read_proposals`; :class:`InputError` E468 if the
    build was interrupted: its tables may change.
    """
    proposals = read_proposals(folder)
    if not (folder / "run.json").is_file():
        hint = "run the same lexiscope build minimal-pairs again"
        raise InputError("this build was not finished", code="E468", place=Place(str(folder)), hint=hint)
    check_run(folder)
    return proposals


def build_language(folder: Path) -> str:
    """Return the language of the sentences of a build.

    Errors: :class:`~lexiscope.core.errors.RunError` where the folder holds no finished build.
    """
    return str(check_run(folder).get("language", "en"))


def latest_decisions(folder: Path, name: str, proposals: Sequence[Proposal]) -> dict[str, Decision]:
    """Return the latest decisions of a curator who has decided something, by proposal.

    Errors: :class:`InputError` E466 for a curator who has not, naming those who have.
    """
    decisions = DecisionLog(folder, check_curator(name)).latest(proposals)
    if not decisions:
        known = ", ".join(curator_names(folder)) or "no curator"
        hint = f"those who have: {known}"
        raise InputError(f"{name!r} has made no decision here", code="E466", place=Place(str(folder)), hint=hint)
    return decisions


def disputed_proposals(folder: Path, names: tuple[str, str]) -> frozenset[str]:
    """Return the ids of the proposals on which two curators disagree.

    Errors: those of :func:`~lexiscope.build.minimal_pairs.curation.compare_decisions`; :class:`InputError` E469 where
    they disagree on none.
    """
    proposals = read_finished_proposals(folder)
    comparison = compare_decisions(proposals, *(latest_decisions(folder, name, proposals) for name in names))
    if not comparison.disagreements:
        raise InputError(f"{names[0]} and {names[1]} have no disagreements", code="E469", hint="merge them")
    return frozenset(disagreement.proposal.proposal_id for disagreement in comparison.disagreements)
