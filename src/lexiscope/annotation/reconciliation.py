"""The recruiting platform's list against ours: every difference, with what to do about it.

The list holds ids of the platform: it is for the researcher's eyes, written so that only its owner can read it, and is
no part of any export.
"""

from __future__ import annotations

import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from lexiscope.annotation.reconciliation_rules import ADVICE, DifferenceKind, PlatformDifference, differences_of
from lexiscope.annotation.store.record import State
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.items.tables.neutral import csv_text
from lexiscope.resources.tables.rows import Row, RowReader

Status = Literal["active", "awaiting_review", "approved", "rejected", "returned", "timed_out", "screened_out"]

PROLIFIC_STATUSES: Mapping[str, Status] = {
    "active": "active",
    "awaiting review": "awaiting_review",
    "approved": "approved",
    "partially approved": "approved",
    "rejected": "rejected",
    "returned": "returned",
    "timed out": "timed_out",
    "screened out": "screened_out",
}
"""Prolific's words for the state of a submission, without capitals, hyphens and underscores."""
LEFT_THERE = "noted from the platform's list"
"""The reason that is stored of who was marked as returned or timed out because the platform says so."""
_NO_CODE = frozenset({"", "nocode", "no code"})


@dataclass(frozen=True, slots=True)
class PlatformColumns:
    """Which columns of the platform's file hold what. Capitals, spaces and underscores make no difference."""

    submission: str = "Submission id"
    participant: str = "Participant id"
    status: str = "Status"
    code: str = "Completion code"


@dataclass(frozen=True, slots=True)
class PlatformSubmission:
    """A line of the platform's list; ``line`` is its line in the file, ``code`` is empty where none was handed over."""

    submission_id: str
    platform_id: str
    status: Status
    code: str
    line: int


@dataclass(frozen=True, slots=True)
class OurRecord:
    """What we know of a participant who came with a platform id; ``codes`` are those issued to them, by kind.

    The kinds are ``completed``, ``screened_out`` and ``no_consent``.
    """

    platform_id: str
    participant_id: str
    state: str
    n_answered: int = 0
    codes: Mapping[str, str] = field(default_factory=dict, hash=False)


def read_submissions(
    path: Path | str,
    columns: PlatformColumns | None = None,
    *,
    statuses: Mapping[str, Status] = PROLIFIC_STATUSES,
) -> tuple[PlatformSubmission, ...]:
    """Read the platform's list as it exports it (CSV).

    *statuses* maps the platform's own words, written small and with spaces, to ours.
    Errors: :class:`InputError` with file and line: E006 (column missing), E007 (column twice), E105 (a line without
    id), an unknown status, a submission that stands twice; those of :class:`RowReader` for a broken file.
    """
    rows = RowReader(path).rows()
    header = next(rows, None)
    if header is None:
        raise InputError("the file is empty", code="E002", place=Place(str(path)), hint="export the list again")
    at = _indices(header, columns or PlatformColumns())
    found: dict[str, PlatformSubmission] = {}
    for row in rows:
        one = _submission(row, at, statuses)
        if one.submission_id in found:
            first = found[one.submission_id].line
            what = f"the submission {one.submission_id!r} stands twice, first in line {first}"
            raise InputError(what, place=row.place(at["submission"]), hint="export the list again")
        found[one.submission_id] = one
    return tuple(found.values())


def reconcile(
    submissions: Sequence[PlatformSubmission], ours: Sequence[OurRecord], *, codes: Mapping[str, str] | None = None
) -> tuple[PlatformDifference, ...]:
    """Return every difference between the platform's list and ours, in the order of the platform's lines.

    *codes* are the fixed codes of the study by kind, which everybody shares; without one a participant has their own.

    People who are here and not in the platform's list come last. Whoever gave their place back before they opened the
    study is in one list only, and is no difference.
    Errors: :class:`InputError` where we know one platform id twice.
    """
    fixed = {kind: code for kind, code in (codes or {}).items() if code}
    known = {one.platform_id: replace(one, codes={**fixed, **one.codes}) for one in ours}
    if len(known) != len(ours):
        twice = next(name for name, n in Counter(one.platform_id for one in ours).items() if n > 1)
        raise InputError(f"the platform id {twice!r} belongs to two participants here")
    owners = _owners(ours) | dict.fromkeys(fixed.values(), "")
    found = [each for one in submissions for each in differences_of(one, known.get(one.platform_id), owners)]
    found += _repeated(submissions, known)
    listed = {one.platform_id for one in submissions}
    found.sort(key=lambda one: one.line)
    return (*found, *(each for one in ours if one.platform_id not in listed for each in _only_here(one)))


def leavers(submissions: Sequence[PlatformSubmission], ours: Sequence[OurRecord]) -> dict[str, State]:
    """Return who left on the platform, by random id: ``returned``, or ``timed_out``.

    Who has another submission besides, in whatever state, is not among them: they may be answering right now. Whether
    somebody has finished here is for :meth:`Store.mark_away` to see, at the moment of the change.
    """
    found: dict[str, set[Status]] = {}
    for one in submissions:
        found.setdefault(one.platform_id, set()).add(one.status)
    left: dict[str, State] = {}
    for person in ours:
        statuses = found.get(person.platform_id, set())
        if statuses and statuses <= {"returned", "timed_out"}:
            # the milder one where both stand: who timed out may still send what is on the page
            left[person.participant_id] = State.TIMED_OUT if "timed_out" in statuses else State.RETURNED
    return left


def write_differences(differences: Sequence[PlatformDifference], path: Path) -> None:
    """Write the differences as CSV that only its owner can read; the file appears whole or not at all.

    Errors: :class:`RunError` where it cannot be written.
    """
    names = [one.name for one in fields(PlatformDifference)]
    text = csv_text(names, [[getattr(one, name) for name in names] for one in differences])
    half = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        # made private before anything is in it: a mode that is changed afterwards comes too late
        with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(half, path)
    except OSError as error:
        half.unlink(missing_ok=True)
        hint = "make room or choose another place"
        raise RunError("the list cannot be written", place=Place(str(path)), why=str(error), hint=hint) from error


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().casefold())


def _indices(header: Row, columns: PlatformColumns) -> dict[str, int]:
    plain = [_plain(name) for name in header.fields]
    found = {}
    for part in ("submission", "participant", "status", "code"):
        name = str(getattr(columns, part))
        count = plain.count(_plain(name))
        if count != 1:
            code, what = ("E007", "stands twice") if count else ("E006", "is not in the file")
            hint = f"name the column that holds the {part}; there are: {', '.join(header.fields)}"
            raise InputError(f"the column {name!r} {what}", code=code, place=header.place(), hint=hint)
        found[part] = plain.index(_plain(name))
    return found


def _submission(row: Row, at: Mapping[str, int], statuses: Mapping[str, Status]) -> PlatformSubmission:
    cells = {part: row.fields[index].strip() for part, index in at.items()}
    for part in ("submission", "participant"):
        if not cells[part]:
            hint = "export the list again"
            raise InputError(f"the line names no {part}", code="E105", place=row.place(at[part]), hint=hint)
    status = statuses.get(_plain(cells["status"]))
    if status is None:
        place = row.place(at["status"], width=max(1, len(cells["status"])))
        hint = f"known are: {', '.join(statuses)}; say what this one means"
        raise InputError(f"{cells['status']!r} is no known status", place=place, hint=hint)
    code = "" if _plain(cells["code"]) in _NO_CODE else cells["code"]
    return PlatformSubmission(cells["submission"], cells["participant"], status, code, row.line)


def _owners(ours: Sequence[OurRecord]) -> dict[str, str]:
    """Every code that was issued, and to whom; a code of several people tells nothing about who they are."""
    issued: dict[str, str] = {}
    for one in ours:
        for code in one.codes.values():
            issued[code] = one.platform_id if issued.get(code, one.platform_id) == one.platform_id else ""
    return issued


def _repeated(
    submissions: Sequence[PlatformSubmission], known: Mapping[str, OurRecord]
) -> Iterator[PlatformDifference]:
    """One person with several submissions that are paid, or wait to be."""
    per_person: dict[str, list[PlatformSubmission]] = {}
    for one in submissions:
        if one.status in ("approved", "awaiting_review"):
            per_person.setdefault(one.platform_id, []).append(one)
    for platform_id, several in per_person.items():
        for one in several[1:]:
            paid = [each for each in several if each.status == "approved"]
            kind: DifferenceKind = "paid_twice" if len(paid) > 1 else "submitted_twice"
            here = known.get(platform_id)
            who, state = (here.participant_id, here.state) if here else ("", "unknown")
            yield PlatformDifference(
                kind, one.submission_id, platform_id, who, one.status, state, ADVICE[kind], one.line
            )


def _only_here(one: OurRecord) -> Iterator[PlatformDifference]:
    kinds: dict[str, DifferenceKind] = {"active": "active_but_not_listed"}
    kinds |= dict.fromkeys(("finished", "accepted", "excluded"), "finished_but_not_listed")
    if one.state in kinds:
        kind = kinds[one.state]
        yield PlatformDifference(
            kind, "", one.platform_id, one.participant_id, "not listed", one.state, ADVICE[kind], 0
        )
