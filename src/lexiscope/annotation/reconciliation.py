"""Compare the recruiting platform's list with ours: every difference, with what to do about it.

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

from lexiscope.annotation.store.export import FINISHED
from lexiscope.annotation.store.participants import UNDER_WAY
from lexiscope.annotation.store.record import State
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.items.tables.neutral import csv_text
from lexiscope.resources.tables.rows import Row, RowReader

Status = Literal["active", "awaiting_review", "approved", "rejected", "returned", "timed_out", "screened_out"]

PROLIFIC_COLUMNS: Mapping[str, str] = {
    "submission": "Submission id",
    "participant": "Participant id",
    "status": "Status",
    "code": "Completion code",
}
"""The columns of Prolific's file by what they hold; capitals, spaces and underscores make no difference."""
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

ADVICE: Mapping[str, str] = {
    "unknown_id": "nobody came here with this id: ask what they saw; without answers reject or ask them to return it",
    "unknown_id_with_code": "nobody came here with this id, yet the code is ours: it was passed on; change the code",
    "finished_but_returned": "every answer is stored: pay them (a bonus, or ask them to submit again)",
    "finished_but_timed_out": "every answer is stored: approve the submission although it timed out",
    "finished_but_rejected": "every answer is stored and counts: overturn the rejection",
    "finished_but_screened_out": "every answer is stored: they are owed the full pay; correct it on the platform",
    "finished_but_still_active": "finished here, not submitted there: send them their code",
    "excluded_awaits_review": "finished, but excluded by a rule: decide by the platform's terms; the work was done",
    "code_missing": "finished without handing over the code: approve by hand, every answer is stored",
    "code_wrong": "finished, but the code is not the one they were given: approve by hand, every answer is stored",
    "code_of_somebody_else": "the code was issued to another participant: check both before you pay",
    "approved_without_all_answers": "paid, but not all answers are here: ask them to go on with the same link",
    "submitted_unfinished": "submitted, but not all answers are here: ask them to go on with the same link",
    "place_not_given_back": "left on the platform, holds a place here: mark them as returned to free the place",
    "paid_in_full_though_screened_out": "screened out here, paid in full there: nothing to reclaim; check the paths",
    "screened_out_with_wrong_code": "screened out here, another code there: pay what was promised for screening out",
    "paid_without_consent": "paid, but did not consent and has no answers here: nothing of theirs may be used",
    "submitted_without_consent": "did not consent: ask them to return the submission",
    "approved_after_return": "left here before the end, yet paid: ask them to go on with the same link",
    "submitted_after_return": "left here before the end, yet submitted: ask them to go on with the same link",
    "back_on_the_platform": "left here, active there: they may have come back; nothing to do unless it stays so",
    "paid_twice": "paid for two submissions of one person: write to the platform about the second",
    "submitted_twice": "two submissions of one person: approve one, reject or return the other",
    "active_but_not_listed": "answering here, not in the platform's list: the list may be older; export it again",
    "finished_but_not_listed": "finished here, not in the platform's list: it is older, or the link was passed on",
}
"""The kinds of difference, and what to do about each."""

_LEFT = frozenset({"returned", "timed_out"})
# the kind of difference by the status on the platform, for a state here
_COMPLETE_KINDS: Mapping[str, str] = {
    "returned": "finished_but_returned",
    "timed_out": "finished_but_timed_out",
    "screened_out": "finished_but_screened_out",
    "active": "finished_but_still_active",
}
_UNDER_WAY_KINDS: Mapping[str, str] = {
    "approved": "approved_without_all_answers",
    "awaiting_review": "submitted_unfinished",
    "returned": "place_not_given_back",
    "timed_out": "place_not_given_back",
    "rejected": "place_not_given_back",
    "screened_out": "place_not_given_back",
}
_LEFT_KINDS: Mapping[str, str] = {
    "approved": "approved_after_return",
    "awaiting_review": "submitted_after_return",
    "active": "back_on_the_platform",
}
_DECLINED_KINDS: Mapping[str, str] = {
    "approved": "paid_without_consent",
    "awaiting_review": "submitted_without_consent",
}
# by the state here, of a participant whom the platform does not list
_UNLISTED_KINDS: Mapping[str, str] = {
    "active": "active_but_not_listed",
    "finished": "finished_but_not_listed",
    "accepted": "finished_but_not_listed",
    "excluded": "finished_but_not_listed",
}


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
    codes: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class PlatformDifference:
    """One difference: what it is, who, what stands there and here, what to do, and the line of the platform's file."""

    kind: str
    submission_id: str
    platform_id: str
    participant_id: str
    there: str
    here: str
    to_do: str
    line: int


def read_submissions(
    path: Path | str,
    *,
    columns: Mapping[str, str] = PROLIFIC_COLUMNS,
    statuses: Mapping[str, Status] = PROLIFIC_STATUSES,
) -> tuple[PlatformSubmission, ...]:
    """Read the platform's list as it exports it (CSV).

    *columns* names the columns of the submission, the participant, the status and the code; *statuses* maps the
    platform's own words, in lower case and with spaces, to ours.
    Errors: :class:`InputError` with file and line: E006 (column missing), E007 (column twice), E105 (a line without
    id), an unknown status, a repeated submission; those of :class:`RowReader` for a broken file.
    """
    rows = RowReader(path).rows()
    header = next(rows, None)
    if header is None:
        raise InputError("the file is empty", code="E002", place=Place(str(path)), hint="export the list again")
    indices = _column_indices(header, columns)
    submissions: dict[str, PlatformSubmission] = {}
    for row in rows:
        submission = _parse_submission(row, indices, statuses)
        first = submissions.setdefault(submission.submission_id, submission)
        if first is not submission:
            what = f"the submission {submission.submission_id!r} stands twice, first in line {first.line}"
            raise InputError(what, place=row.place(indices["submission"]), hint="export the list again")
    return tuple(submissions.values())


def reconcile(
    submissions: Sequence[PlatformSubmission], ours: Sequence[OurRecord], *, codes: Mapping[str, str] | None = None
) -> tuple[PlatformDifference, ...]:
    """Return every difference between the platform's list and ours, in the order of the platform's lines.

    *codes* are the fixed codes of the study by kind, which everybody shares; without one a participant has their own.

    Participants who are here and not in the platform's list come last. A person who gave the place back before opening
    the study is in one list only, and is no difference.
    Errors: :class:`InputError` where we know one platform id twice.
    """
    fixed = {kind: code for kind, code in (codes or {}).items() if code}
    known = {record.platform_id: replace(record, codes={**fixed, **record.codes}) for record in ours}
    if len(known) != len(ours):
        twice = next(name for name, n in Counter(record.platform_id for record in ours).items() if n > 1)
        raise InputError(f"the platform id {twice!r} belongs to two participants here")
    owners = _code_owners(ours) | dict.fromkeys(fixed.values(), "")
    differences = []
    for submission in submissions:
        record = known.get(submission.platform_id)
        kind = _submission_kind(submission, record, owners)
        if kind is not None:
            differences.append(_difference(kind, submission, record))
    differences += _repeated_submissions(submissions, known)
    differences.sort(key=lambda difference: difference.line)
    listed = {submission.platform_id for submission in submissions}
    unlisted = (_unlisted_difference(record) for record in ours if record.platform_id not in listed)
    return (*differences, *(difference for difference in unlisted if difference is not None))


def leavers(submissions: Sequence[PlatformSubmission], ours: Sequence[OurRecord]) -> dict[str, State]:
    """Return the participants who left on the platform, by random id: ``returned``, or ``timed_out``.

    A participant with another submission in any other state is not among them: they may be answering right now.
    :meth:`Store.mark_away` checks whether a participant has finished here, at the moment of the change.
    """
    statuses_by_person: dict[str, set[Status]] = {}
    for submission in submissions:
        statuses_by_person.setdefault(submission.platform_id, set()).add(submission.status)
    left: dict[str, State] = {}
    for record in ours:
        statuses = statuses_by_person.get(record.platform_id, set())
        if statuses and statuses <= _LEFT:
            # the milder one if both occur: who timed out may still send what is on the page
            left[record.participant_id] = State.TIMED_OUT if "timed_out" in statuses else State.RETURNED
    return left


def write_differences(differences: Sequence[PlatformDifference], path: Path) -> None:
    """Write the differences as CSV that only its owner can read; the file appears whole or not at all.

    Errors: :class:`RunError` where it cannot be written.
    """
    names = [column.name for column in fields(PlatformDifference)]
    text = csv_text(names, [[getattr(difference, name) for name in names] for difference in differences])
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


def _plain_name(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().casefold())


def _column_indices(header: Row, columns: Mapping[str, str]) -> dict[str, int]:
    names = [_plain_name(name) for name in header.fields]
    indices = {}
    for part, name in columns.items():
        count = names.count(_plain_name(name))
        if count != 1:
            code, what = ("E007", "stands twice") if count else ("E006", "is not in the file")
            hint = f"name the column that holds the {part}; there are: {', '.join(header.fields)}"
            raise InputError(f"the column {name!r} {what}", code=code, place=header.place(), hint=hint)
        indices[part] = names.index(_plain_name(name))
    return indices


def _parse_submission(row: Row, indices: Mapping[str, int], statuses: Mapping[str, Status]) -> PlatformSubmission:
    cells = {part: row.fields[index].strip() for part, index in indices.items()}
    for part in ("submission", "participant"):
        if not cells[part]:
            hint = "export the list again"
            raise InputError(f"the line names no {part}", code="E105", place=row.place(indices[part]), hint=hint)
    status = statuses.get(_plain_name(cells["status"]))
    if status is None:
        place = row.place(indices["status"], width=max(1, len(cells["status"])))
        hint = f"known are: {', '.join(statuses)}; say what this one means"
        raise InputError(f"{cells['status']!r} is no known status", place=place, hint=hint)
    code = "" if _plain_name(cells["code"]) in _NO_CODE else cells["code"]
    return PlatformSubmission(cells["submission"], cells["participant"], status, code, row.line)


def _code_owners(ours: Sequence[OurRecord]) -> dict[str, str]:
    """Return the platform id to which each code was issued; a code of several people has the empty id."""
    owners: dict[str, str] = {}
    for record in ours:
        for code in record.codes.values():
            owners[code] = record.platform_id if owners.get(code, record.platform_id) == record.platform_id else ""
    return owners


# -- the kind of a difference ---------------------------------------------------------------------------------------


def _difference(kind: str, submission: PlatformSubmission, record: OurRecord | None) -> PlatformDifference:
    participant_id, here = (record.participant_id, record.state) if record is not None else ("", "unknown")
    return PlatformDifference(
        kind,
        submission.submission_id,
        submission.platform_id,
        participant_id,
        there=submission.status,
        here=here,
        to_do=ADVICE[kind],
        line=submission.line,
    )


def _submission_kind(submission: PlatformSubmission, record: OurRecord | None, owners: Mapping[str, str]) -> str | None:
    """Return the kind of difference that a submission makes, ``None`` for none; *owners* are those of the codes."""
    if record is None:
        if submission.status not in ("approved", "awaiting_review"):
            return None
        return "unknown_id_with_code" if submission.code in owners else "unknown_id"
    # everybody shares a code with the empty owner
    if owners.get(submission.code, "") not in ("", submission.platform_id):
        return "code_of_somebody_else"
    state = record.state
    if state in FINISHED:
        return _complete_kind(submission, record)
    if state == "screened_out":
        return _screened_out_kind(submission, record)
    kinds = _UNDER_WAY_KINDS if state in UNDER_WAY else _LEFT_KINDS if state in _LEFT else _DECLINED_KINDS
    return kinds.get(submission.status)


def _complete_kind(submission: PlatformSubmission, record: OurRecord) -> str | None:
    if submission.status in _COMPLETE_KINDS:
        return _COMPLETE_KINDS[submission.status]
    excluded = record.state == "excluded"
    if submission.status == "rejected":
        return None if excluded else "finished_but_rejected"
    if submission.code != record.codes.get("completed", submission.code):
        return "code_wrong" if submission.code else "code_missing"
    return "excluded_awaits_review" if excluded and submission.status == "awaiting_review" else None


def _screened_out_kind(submission: PlatformSubmission, record: OurRecord) -> str | None:
    if submission.status not in ("approved", "awaiting_review"):
        return None
    has_code = submission.code == record.codes.get("screened_out", submission.code)
    if submission.status == "approved":
        # with the code for screening out the platform pays what was promised for it
        return None if has_code and submission.code else "paid_in_full_though_screened_out"
    return None if has_code else "screened_out_with_wrong_code"


def _repeated_submissions(
    submissions: Sequence[PlatformSubmission], known: Mapping[str, OurRecord]
) -> Iterator[PlatformDifference]:
    """Yield the later submissions of people with several that are paid, or wait to be."""
    by_person: dict[str, list[PlatformSubmission]] = {}
    for submission in submissions:
        if submission.status in ("approved", "awaiting_review"):
            by_person.setdefault(submission.platform_id, []).append(submission)
    for platform_id, several in by_person.items():
        n_paid = sum(submission.status == "approved" for submission in several)
        kind = "paid_twice" if n_paid > 1 else "submitted_twice"
        yield from (_difference(kind, submission, known.get(platform_id)) for submission in several[1:])


def _unlisted_difference(record: OurRecord) -> PlatformDifference | None:
    kind = _UNLISTED_KINDS.get(record.state)
    if kind is None:
        return None
    who = (record.platform_id, record.participant_id)
    return PlatformDifference(kind, "", *who, "not listed", record.state, ADVICE[kind], 0)
