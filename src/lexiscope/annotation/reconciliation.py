"""Compare the recruiting platform's list of submissions with the study: every difference, with what to do about it.

The result has platform IDs. It is for the researcher only: the file is readable by its owner alone, and no export has
it.
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
"""The stored reason for participants who were marked as returned or timed out by the platform's list."""
_NO_CODE = frozenset({"", "nocode", "no code"})

ADVICE: Mapping[str, str] = {
    "unknown_id": "No participant has this ID. Ask what they saw; without answers, reject or ask them to return it.",
    "unknown_id_with_code": "No participant has this ID, but the code is valid: it was shared. Change the code.",
    "finished_but_returned": "All answers are stored. Pay them: a bonus, or ask them to submit again.",
    "finished_but_timed_out": "All answers are stored. Approve the submission although it timed out.",
    "finished_but_rejected": "All answers are stored and included. Overturn the rejection.",
    "finished_but_screened_out": "All answers are stored. They are owed the full pay: correct it on the platform.",
    "finished_but_still_active": "Finished here, not submitted there. Send them their code.",
    "excluded_awaits_review": "Finished, but excluded by a rule. Follow the platform's terms; the work was done.",
    "code_missing": "Finished without returning the code. Approve by hand; all answers are stored.",
    "code_wrong": "Finished, but the code is not theirs. Approve by hand; all answers are stored.",
    "code_of_somebody_else": "The code belongs to another participant. Check both before you pay.",
    "approved_without_all_answers": "Paid, but answers are missing. Ask them to continue with the same link.",
    "submitted_unfinished": "Submitted, but answers are missing. Ask them to continue with the same link.",
    "place_not_given_back": "Left on the platform, has a place here. Mark them as returned to free the place.",
    "paid_in_full_though_screened_out": "Screened out here, paid in full there. Do not reclaim the pay.",
    "screened_out_with_wrong_code": "Screened out here, another code there. Pay the amount for screening out.",
    "paid_without_consent": "Paid, but did not consent and has no answers here. Do not use any of their data.",
    "submitted_without_consent": "Did not consent. Ask them to return the submission.",
    "approved_after_return": "Left before the end, but paid. Ask them to continue with the same link.",
    "submitted_after_return": "Left before the end, but submitted. Ask them to continue with the same link.",
    "back_on_the_platform": "Left here, active there: they may have returned. No action unless this persists.",
    "paid_twice": "Paid for two submissions of one person. Ask the platform about the second.",
    "submitted_twice": "Two submissions of one person. Approve one, reject or return the other.",
    "active_but_not_listed": "Active here, not in the platform's list. The list may be old: export it again.",
    "finished_but_not_listed": "Finished here, not in the platform's list: it is old, or the link was shared.",
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
# by the state here, of a participant who is not in the platform's list
_UNLISTED_KINDS: Mapping[str, str] = {
    "active": "active_but_not_listed",
    "finished": "finished_but_not_listed",
    "accepted": "finished_but_not_listed",
    "excluded": "finished_but_not_listed",
}


@dataclass(frozen=True, slots=True)
class PlatformSubmission:
    """A line of the platform's list; ``line`` is its line in the file; without a code, ``code`` is empty."""

    submission_id: str
    platform_id: str
    status: Status
    code: str
    line: int


@dataclass(frozen=True, slots=True)
class OurRecord:
    """The record of a participant with a platform id; ``codes`` are those issued to them, by kind.

    The kinds are ``completed``, ``screened_out`` and ``no_consent``.
    """

    platform_id: str
    participant_id: str
    state: str
    codes: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class PlatformDifference:
    """One difference: its kind, the ids, the state there and here, what to do, and the line of the platform's file."""

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
        raise InputError("The file is empty.", code="E002", place=Place(str(path)), hint="Export the list again.")
    indices = _column_indices(header, columns)
    submissions: dict[str, PlatformSubmission] = {}
    for row in rows:
        submission = _parse_submission(row, indices, statuses)
        first = submissions.setdefault(submission.submission_id, submission)
        if first is not submission:
            what = f"Two lines have the submission {submission.submission_id!r} (first: line {first.line})."
            raise InputError(what, place=row.place(indices["submission"]), hint="Export the list again.")
    return tuple(submissions.values())


def reconcile(
    submissions: Sequence[PlatformSubmission], ours: Sequence[OurRecord], *, codes: Mapping[str, str] | None = None
) -> tuple[PlatformDifference, ...]:
    """Return every difference between the platform's list and ours, in the order of the platform's lines.

    *codes* are the fixed codes of the study by kind, which all participants share; otherwise each has a separate one.

    Participants who are here and not in the platform's list come last. A person who returned the place before opening
    the study is in one list only, which is not a difference.
    Errors: :class:`InputError` where we know one platform id twice.
    """
    fixed = {kind: code for kind, code in (codes or {}).items() if code}
    known = {record.platform_id: replace(record, codes={**fixed, **record.codes}) for record in ours}
    if len(known) != len(ours):
        twice = next(name for name, n in Counter(record.platform_id for record in ours).items() if n > 1)
        raise InputError(f"The platform ID {twice!r} belongs to two participants.")
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
        hint = "Free disk space, or choose another place."
        raise RunError("The list cannot be written.", place=Place(str(path)), why=str(error), hint=hint) from error


def _plain_name(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip().casefold())


def _column_indices(header: Row, columns: Mapping[str, str]) -> dict[str, int]:
    names = [_plain_name(name) for name in header.fields]
    indices = {}
    for part, name in columns.items():
        count = names.count(_plain_name(name))
        if count != 1:
            code, what = ("E007", "is there twice") if count else ("E006", "is not in the file")
            hint = f"Name the column of the {part}. Columns in the file: {', '.join(header.fields)}."
            raise InputError(f"The column {name!r} {what}.", code=code, place=header.place(), hint=hint)
        indices[part] = names.index(_plain_name(name))
    return indices


def _parse_submission(row: Row, indices: Mapping[str, int], statuses: Mapping[str, Status]) -> PlatformSubmission:
    cells = {part: row.fields[index].strip() for part, index in indices.items()}
    for part in ("submission", "participant"):
        if not cells[part]:
            hint = "Export the list again."
            raise InputError(f"This line has no {part}.", code="E105", place=row.place(indices[part]), hint=hint)
    status = statuses.get(_plain_name(cells["status"]))
    if status is None:
        place = row.place(indices["status"], width=max(1, len(cells["status"])))
        hint = f"Known statuses: {', '.join(statuses)}."
        raise InputError(f"Unknown status {cells['status']!r}.", place=place, hint=hint)
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
    # all participants share a code with the empty owner
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
