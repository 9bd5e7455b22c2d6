"""What a difference between the platform's list and ours is, and what to do about each kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

DifferenceKind = Literal[
    "unknown_id",
    "unknown_id_with_code",
    "finished_but_returned",
    "finished_but_timed_out",
    "finished_but_rejected",
    "finished_but_screened_out",
    "finished_but_still_active",
    "excluded_awaits_review",
    "code_missing",
    "code_wrong",
    "code_of_somebody_else",
    "approved_without_all_answers",
    "submitted_unfinished",
    "place_not_given_back",
    "paid_in_full_though_screened_out",
    "screened_out_with_wrong_code",
    "paid_without_consent",
    "submitted_without_consent",
    "approved_after_return",
    "submitted_after_return",
    "back_on_the_platform",
    "paid_twice",
    "submitted_twice",
    "active_but_not_listed",
    "finished_but_not_listed",
]

ADVICE: Mapping[DifferenceKind, str] = {
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
"""What to do about each kind of difference."""

_COMPLETE = ("finished", "accepted", "excluded")
_UNDER_WAY = ("invited", "consented", "qualified", "active")
_LEFT = ("returned", "timed_out")


class Submitted(Protocol):
    """What is used of a line of the platform's list."""

    @property
    def submission_id(self) -> str:
        """The platform's id of the submission."""

    @property
    def platform_id(self) -> str:
        """The platform's id of the person."""

    @property
    def status(self) -> str:
        """Its status."""

    @property
    def code(self) -> str:
        """The code that was handed over."""

    @property
    def line(self) -> int:
        """Its line in the file."""


class Known(Protocol):
    """What is used of a participant as we know them."""

    @property
    def participant_id(self) -> str:
        """The random id."""

    @property
    def platform_id(self) -> str:
        """The platform's id."""

    @property
    def state(self) -> str:
        """Where they stand."""

    @property
    def codes(self) -> Mapping[str, str]:
        """The codes that were issued to them, by kind."""


@dataclass(frozen=True, slots=True)
class PlatformDifference:
    """One difference: what it is, who, what stands there and here, what to do, and the line of the platform's file."""

    kind: DifferenceKind
    submission_id: str
    platform_id: str
    participant_id: str
    there: str
    here: str
    to_do: str
    line: int


def differences_of(one: Submitted, here: Known | None, owners: Mapping[str, str]) -> Iterator[PlatformDifference]:
    """Yield the differences of one submission.

    *owners* names the platform id to which a code was issued; a code that all share has the empty id.
    """
    if here is None:
        kind = _unknown(one, owners)
        who, state = "", "unknown"
    else:
        kind = _kind(one, here, owners)
        who, state = here.participant_id, str(here.state)
    if kind is not None:
        yield PlatformDifference(
            kind, one.submission_id, one.platform_id, who, one.status, state, ADVICE[kind], one.line
        )


def _unknown(one: Submitted, owners: Mapping[str, str]) -> DifferenceKind | None:
    if one.status not in ("approved", "awaiting_review"):
        return None
    return "unknown_id_with_code" if one.code in owners else "unknown_id"


def _kind(one: Submitted, here: Known, owners: Mapping[str, str]) -> DifferenceKind | None:
    state = str(here.state)
    # the empty owner is everybody
    if owners.get(one.code, "") not in ("", one.platform_id):
        return "code_of_somebody_else"
    if state in _COMPLETE:
        return _complete(one, here)
    if state in _UNDER_WAY:
        return _under_way(one)
    if state in _LEFT:
        return _after_leaving(one)
    return _screened_out(one, here) if state == "screened_out" else _declined(one)


def _complete(one: Submitted, here: Known) -> DifferenceKind | None:
    fixed: dict[str, DifferenceKind] = {
        "returned": "finished_but_returned",
        "timed_out": "finished_but_timed_out",
        "screened_out": "finished_but_screened_out",
        "active": "finished_but_still_active",
    }
    if one.status in fixed:
        return fixed[one.status]
    excluded = str(here.state) == "excluded"
    if one.status == "rejected":
        return None if excluded else "finished_but_rejected"
    if one.code != here.codes.get("completed", one.code):
        return "code_wrong" if one.code else "code_missing"
    return "excluded_awaits_review" if excluded and one.status == "awaiting_review" else None


def _under_way(one: Submitted) -> DifferenceKind | None:
    kinds: dict[str, DifferenceKind] = {
        "approved": "approved_without_all_answers",
        "awaiting_review": "submitted_unfinished",
        "returned": "place_not_given_back",
        "timed_out": "place_not_given_back",
        "rejected": "place_not_given_back",
        "screened_out": "place_not_given_back",
    }
    return kinds.get(one.status)


def _after_leaving(one: Submitted) -> DifferenceKind | None:
    kinds: dict[str, DifferenceKind] = {
        "approved": "approved_after_return",
        "awaiting_review": "submitted_after_return",
        "active": "back_on_the_platform",
    }
    return kinds.get(one.status)


def _screened_out(one: Submitted, here: Known) -> DifferenceKind | None:
    if one.status not in ("approved", "awaiting_review"):
        return None
    right = one.code == here.codes.get("screened_out", one.code)
    if one.status == "approved":
        # with the code for screening out the platform pays what was promised for it
        return None if right and one.code else "paid_in_full_though_screened_out"
    return None if right else "screened_out_with_wrong_code"


def _declined(one: Submitted) -> DifferenceKind | None:
    kinds: dict[str, DifferenceKind] = {
        "approved": "paid_without_consent",
        "awaiting_review": "submitted_without_consent",
    }
    return kinds.get(one.status)
