"""The values that a study's store reads and returns: questions, items, trials, answers, receipts, states."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from lexiscope.core.errors import InputError
from lexiscope.core.scale import Scale


class Phase(StrEnum):
    """The parts of a session in which people answer; an item may be answered once in each."""

    DEMOGRAPHICS = "demographics"
    QUALIFICATION = "qualification"
    PRACTICE = "practice"
    TRIALS = "trials"
    REVEAL = "reveal"
    DEBRIEF = "debrief"


class Kind(StrEnum):
    """What an item is for. Only ``item`` counts in item statistics."""

    ITEM = "item"
    QUALIFICATION = "qualification"
    ATTENTION = "attention"
    CATCH = "catch"
    PRACTICE = "practice"
    SELF_REPORT = "self_report"


class State(StrEnum):
    """The state of a participant."""

    INVITED = "invited"
    DECLINED = "declined"
    CONSENTED = "consented"
    QUALIFIED = "qualified"
    SCREENED_OUT = "screened_out"
    ACTIVE = "active"
    FINISHED = "finished"
    ACCEPTED = "accepted"
    EXCLUDED = "excluded"
    RETURNED = "returned"
    TIMED_OUT = "timed_out"


_AWAY = frozenset({State.RETURNED, State.TIMED_OUT})
TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.INVITED: frozenset({State.CONSENTED, State.DECLINED}) | _AWAY,
    State.DECLINED: frozenset(),
    State.CONSENTED: frozenset({State.QUALIFIED, State.SCREENED_OUT}) | _AWAY,
    State.QUALIFIED: frozenset({State.ACTIVE}) | _AWAY,
    State.SCREENED_OUT: frozenset(),
    State.ACTIVE: frozenset({State.FINISHED, State.EXCLUDED}) | _AWAY,
    State.FINISHED: frozenset({State.ACCEPTED, State.EXCLUDED}) | _AWAY,
    State.ACCEPTED: frozenset({State.EXCLUDED}),
    State.EXCLUDED: frozenset({State.ACCEPTED}),
    # a participant who comes back resumes in the state that they left: see participants.change_state
    State.RETURNED: frozenset(),
    State.TIMED_OUT: frozenset({State.RETURNED}),
}
"""The legal changes of state, but for the way back from ``returned`` and ``timed_out`` to the state that was left."""

ANSWERING: Mapping[Phase, frozenset[State]] = {
    Phase.DEMOGRAPHICS: frozenset({State.CONSENTED, State.QUALIFIED, State.ACTIVE}),
    Phase.QUALIFICATION: frozenset({State.CONSENTED}),
    Phase.PRACTICE: frozenset({State.QUALIFIED, State.ACTIVE}),
    Phase.TRIALS: frozenset({State.ACTIVE}),
    Phase.REVEAL: frozenset({State.ACTIVE}),
    # the exclusion rules apply as soon as a participant finishes: a last remark is stored all the same
    Phase.DEBRIEF: frozenset({State.ACTIVE, State.FINISHED, State.ACCEPTED, State.EXCLUDED}),
}
"""The states in which an answer of a phase is taken: none without consent."""


@dataclass(frozen=True, slots=True)
class ItemQuestion:
    """What is asked of an item and which answers are valid: a point of ``scale``, one of ``options``, or text.

    An answer can be empty if one of the flags in ``excused_by`` is set.
    """

    measure: str
    scale: Scale | None = None
    options: tuple[str, ...] = ()
    max_length: int = 10_000
    required: bool = True
    excused_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.scale is not None and self.options:
            raise InputError(f"the question {self.measure!r} has a scale and options: one of them is the answer")


@dataclass(frozen=True, slots=True)
class StudyItem:
    """An item as the store knows it: its question, the hash of what is shown, and, for checks, the correct answers."""

    item_id: str
    question: ItemQuestion
    sha256: str
    kind: Kind = Kind.ITEM
    accept: tuple[float | str, ...] = ()
    confusion_set: str = ""

    def __post_init__(self) -> None:
        if self.kind in (Kind.ATTENTION, Kind.QUALIFICATION) and not self.accept:
            raise InputError(f"the {self.kind} item {self.item_id!r} names no accepted answer")


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """A study as it is frozen at launch.

    ``definition`` is the full text of the study definition; ``places`` the number of places of each list;
    ``revisable`` the phases in which an answer may be changed; ``codes`` the fixed completion codes by kind (a kind
    without one gets a random code for each participant); ``keep_answers`` whether the answers of a participant are kept
    when the identity is erased; ``views`` the view of each list (``full`` where it names none); ``written`` how many
    answers that are not skips a participant owes if items are drawn one by one (0: every trial that was laid out).
    ``hold_minutes`` says how long a place is held without a sign of life; ``retain_days`` how many days after closing
    the platform ids are deleted (``None``: never by date); ``same_as`` whether another text defines this study too: one
    that an earlier version wrote, which knew fewer settings. ``simulated``: participants are simulated, and
    the id of each says so (:data:`~lexiscope.core.simulated.SIMULATED_ID`).
    """

    study_id: str
    task: str
    definition: str
    items: tuple[StudyItem, ...]
    places: Mapping[str, int] = field(hash=False)
    revisable: frozenset[Phase] = frozenset({Phase.TRIALS})
    codes: Mapping[str, str] = field(default_factory=dict, hash=False)
    keep_answers: bool = True
    views: Mapping[str, str] = field(default_factory=dict, hash=False)
    written: int = 0
    hold_minutes: float = 30.0
    retain_days: int | None = None
    simulated: bool = False
    same_as: Callable[[str], bool] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        ids = [item.item_id for item in self.items]
        if len(set(ids)) != len(ids):
            twice = next(item_id for item_id in ids if ids.count(item_id) > 1)
            raise InputError(f"the study has two items {twice!r}")
        if len(set(self.codes.values())) != len(self.codes):
            raise InputError("Two kinds of completion code are equal.")
        if self.hold_minutes <= 0 or self.written < 0 or (self.retain_days is not None and self.retain_days < 0):
            raise InputError("hold_minutes is above 0, written and retain_days are not below it")

    @property
    def sha256(self) -> str:
        """The hash of the definition's text."""
        return hashlib.sha256(self.definition.encode("utf-8")).hexdigest()


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """One trial of a participant's session: an item, the order of what is shown, and which side is which.

    The view is that of the participant's list (:attr:`StudyRecord.views`).
    """

    item_id: str
    display_order: tuple[int, ...] = ()
    side: str | None = None


@dataclass(frozen=True, slots=True)
class BrowserAnswer:
    """An answer as a browser sends it.

    ``client_key`` is made by the browser before it sends: a repetition gets the first result. ``supersedes``
    names the answer that this one changes. ``shown_at`` is when the page was first shown, by the server's clock.
    ``rt_ms`` is measured in the browser, ``rt_server_ms`` by the server's monotonic clock. *Unit:* milliseconds.
    """

    participant_id: str
    item_id: str
    phase: Phase
    client_key: str
    position: int
    value: float | None = None
    option: str | None = None
    text: str | None = None
    guessed_word: str | None = None
    supersedes: int | None = None
    shown_at: datetime | None = None
    rt_ms: float | None = None
    rt_server_ms: float | None = None
    comment: str | None = None
    flags: tuple[str, ...] = ()
    page_version: str = ""
    guideline_version: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the store says to an answer, once it is committed; the same to every repetition.

    ``next_position`` is the first trial of the phase that had no answer then.
    """

    answer_id: int
    item_id: str
    phase: Phase
    client_key: str
    revision: int
    next_position: int
    answered_at: str


Verdict = Literal["accepted", "rejected"]
Status = Literal["running", "paused", "closed"]


@dataclass(frozen=True, slots=True)
class Review:
    """What a researcher decided about one answer; the latest review of an answer counts.

    ``text`` is the corrected text where the researcher edited it: the answer itself keeps what was written.
    """

    answer_id: int
    verdict: Verdict
    reason: str
    text: str | None
    actor: str
    at: str


class AnswerRefused(InputError):
    """An answer was not stored. ``field`` names what is wrong with it."""

    def __init__(self, field: str, what: str, *, hint: str = "") -> None:
        self.field = field
        super().__init__(f"{field}: {what}", hint=hint)


class AnswerConflict(AnswerRefused):
    """The item has another answer already (a second tab, a stale page). ``current`` is that answer's id."""

    def __init__(self, current: int, what: str, *, field: str = "supersedes") -> None:
        self.current = current
        super().__init__(field, what, hint="show the stored answer; a change names it in supersedes")


class StateError(InputError):
    """A participant cannot go from the present state to the one that was asked for."""


class NoPlaceLeft(InputError):
    """Every list of the study is full."""
