"""What comes next for a participant, and what follows from an answer; no HTTP here.

Every step is read from committed rows, so that a participant goes on where they stopped on any device, after any
crash. What follows from rows (passing the qualification, finishing) happens in :meth:`Flow.settle`, which may be
called any number of times.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeVar

from lexiscope.analysis.exclusion import format_rule
from lexiscope.annotation.exclusions import JudgedNow, declared_rules, judge_now, kept_by_hand
from lexiscope.annotation.freeze import ABOUT, DEBRIEF_ITEM, FrozenStudy
from lexiscope.annotation.pool import next_draw
from lexiscope.annotation.store.answers import Progress
from lexiscope.annotation.store.record import (
    Answer,
    AnswerRefused,
    NoPlaceLeft,
    Phase,
    Receipt,
    State,
    StateError,
    Trial,
)
from lexiscope.annotation.store.store import Store
from lexiscope.core.errors import LexiscopeError
from lexiscope.core.item import Item
from lexiscope.core.screen import AnswerInvalid, Reading, Screen, Shown

StepKind = Literal[
    "closed",
    "full",
    "consent",
    "declined",
    "about_you",
    "instructions",
    "trial",
    "screened_out",
    "debrief",
    "finished",
]
T = TypeVar("T")
_REMEMBERED = 5_000
FEWEST_FOR_AGREEMENT = 3
"""People of a list who must have finished before a rule on agreement judges any of them."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a participant sees next; for a trial its phase and position, and how many of the phase are done."""

    kind: StepKind
    phase: Phase | None = None
    position: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A trial as it is shown to one participant: the item, its screen, and the answer stored so far.

    ``standing`` is where the participant was when this was read.
    """

    trial: Trial
    item: Item
    screen: Screen
    shown: Shown
    standing: Progress
    stored: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """What a browser says around an answer. *Unit:* ``rt_ms``, ``rt_server_ms``: milliseconds."""

    client_key: str
    supersedes: int | None = None
    shown_at: datetime | None = None
    rt_ms: float | None = None
    rt_server_ms: float | None = None
    page_version: str = ""


class Flow:
    """The way of participants through one study."""

    def __init__(self, study: FrozenStudy, store: Store) -> None:
        self.study, self.store = study, store
        self._judging = threading.Lock()
        self.judged_at: datetime | None = None
        self._plans: OrderedDict[tuple[str, Phase], list[Trial]] = OrderedDict()
        self._standings: OrderedDict[tuple[str, Phase], Progress] = OrderedDict()
        self._hold = timedelta(minutes=study.definition.lease.minutes)

    # -- where somebody stands --------------------------------------------------------------------------------

    def arrive(self, platform_id: str, *, session: str | None = None) -> str:
        """Return the random id of who comes with this platform id; who had returned the place goes on.

        Errors: :class:`AnswerRefused` for an id that cannot be stored.
        """
        who = self.store.invite(platform_id, session=session)
        self.come_back(who)
        return who

    def come_back(self, who: str) -> None:
        """Put somebody who returned or timed out back where they were."""
        past = self.store.history(who)
        away = (State.RETURNED, State.TIMED_OUT)
        if past[-1].to_state in away:
            left = next(one.from_state for one in reversed(past) if one.from_state not in away)
            # who finished and then gave the place back has withdrawn; who was too slow for the platform has not
            if left is not None and (left is not State.FINISHED or past[-1].to_state is State.TIMED_OUT):
                self.store.change_state(who, left, reason="came back")

    def take_up(self, who: str) -> bool:
        """Put somebody who timed out, and is there after all, back where they were; say whether that was so."""
        if self.store.progress(who).state is not State.TIMED_OUT:
            return False
        self.come_back(who)
        self._forget(who)
        return True

    def step(self, who: str) -> Step:
        """Return what this participant sees next.

        Errors: :class:`AnswerRefused` for a participant that the study does not know.
        """
        trials = self.store.progress(who, Phase.TRIALS)
        if trials.state is State.ACTIVE:
            return self._active(who, trials)
        if trials.state is State.CONSENTED:
            return self._consented(who)
        if trials.state is State.QUALIFIED:
            return self._qualified(who, trials)
        if trials.state is State.INVITED:
            return Step(self._door())
        if trials.state in (State.DECLINED, State.SCREENED_OUT):
            return Step("declined" if trials.state is State.DECLINED else "screened_out")
        if trials.state in (State.RETURNED, State.TIMED_OUT):
            return Step("closed")
        return Step("finished" if self.store.plan(who, Phase.DEBRIEF) else "debrief")

    def asked(self, who: str, phase: Phase, position: int) -> Asked:
        """Return the trial at a position of this participant's phase, answered or not.

        Errors: :class:`AnswerRefused` where there is no such trial, or it is not reached yet.
        """
        known = self._standings.get((who, phase))
        # only where it says that this trial is next: whatever else it says may be old, and is read again
        if known is not None and known.trial is not None and position == known.next_position:
            return self._shown(known.trial, phase, known)
        standing = self.store.progress(who, phase)
        if standing.trial is not None and position == standing.next_position:
            return self._shown(standing.trial, phase, standing)
        if not 0 <= position < standing.next_position:
            raise AnswerRefused("position", f"trial {position} is not reached yet")
        return self._shown(self.store.plan(who, phase)[position], phase, standing)

    def asked_again(self, who: str, phase: Phase, position: int) -> Asked:
        """Return a trial to be shown, with the stored answer where it has one that can be changed.

        Errors: :class:`AnswerRefused` where there is no such trial, it is not reached yet, or its answer is final.
        """
        asked = self.asked(who, phase, position)
        if position >= asked.standing.next_position:
            return asked
        if phase not in self.study.record.revisable:
            raise AnswerRefused("position", f"answers in {phase} are final")
        return replace(asked, stored=self.latest(who, phase, asked.trial.item_id))

    def _shown(self, trial: Trial, phase: Phase, standing: Progress) -> Asked:
        item_id = trial.item_id
        list_id = standing.lease.list_id if standing.lease is not None else None
        shown = self.study.shown(trial, list_id=list_id, phase=phase)
        return Asked(trial, self.study.items[item_id], self.study.screen_of(item_id), shown, standing)

    def latest(self, who: str, phase: Phase, item_id: str) -> Mapping[str, object] | None:
        """Return the latest answer of a participant to an item, as it is stored; ``None`` where there is none."""
        mine = [a for a in self.store.answers_of(who) if a["item_id"] == item_id and a["phase"] == str(phase)]
        return mine[-1] if mine else None

    # -- what participants do ---------------------------------------------------------------------------------

    def consent(self, who: str, *, agreed: bool) -> None:
        """Store the consent, or that there is none. Twice the same is once.

        Errors: :class:`StateError` where the study takes nobody in, or the participant is past the consent.
        """
        state = self.store.progress(who).state
        if state is not State.INVITED:
            if state is State.DECLINED and agreed:
                raise StateError("a participant who declined cannot consent any more")
            return
        if not agreed:
            self.store.change_state(who, State.DECLINED, reason="declined the consent")
            return
        if self._door() != "consent":
            raise StateError("the study takes nobody in at the moment")
        text, version = self.study.definition.texts.consent, self.study.versions["consent"]
        self.store.record_consent(who, text=text, version=version)
        self.store.lay_out(who, Phase.DEMOGRAPHICS, self.study.before_trials(Phase.DEMOGRAPHICS))

    def about_you(self, who: str, form: Mapping[str, str], *, client_key: str) -> dict[str, str]:
        """Store the answers about the participant; return what is wrong, by measure (then nothing is stored).

        The values are ``missing``, ``not_a_number`` or ``unknown``.
        """
        faults: dict[str, str] = {}
        answers: list[Answer] = []
        for position, question in enumerate(self.study.definition.about_you):
            given = form.get(question.measure, "").strip()
            answer = Answer(who, ABOUT + question.measure, Phase.DEMOGRAPHICS, client_key, position)
            fault = "missing" if question.required and not given else ""
            if given and question.kind == "number":
                try:
                    answer = replace(answer, value=float(given.replace(",", ".")))
                except ValueError:
                    fault = "not_a_number"
            elif given and question.kind == "choice":
                fault = "" if given in {option.value for option in question.options} else "unknown"
                answer = replace(answer, option=given)
            elif given:
                answer = replace(answer, text=given)
            faults |= {question.measure: fault} if fault else {}
            answers.append(answer)
        if not faults:
            done = self.store.progress(who, Phase.DEMOGRAPHICS).next_position
            for answer in answers[done:]:
                self.store.submit(answer)
        return faults

    def begin(self, who: str) -> None:
        """Go on from the instructions: to the qualification, or to a place and the trials.

        Errors: :class:`NoPlaceLeft` where the last place was taken meanwhile.
        """
        if self.step(who).kind != "instructions":
            return
        questions = self.study.before_trials(Phase.QUALIFICATION)
        if questions and self.store.progress(who).state is State.CONSENTED:
            self.store.lay_out(who, Phase.QUALIFICATION, questions)
            return
        self._qualify(who)

    def read(
        self, who: str, asked: Asked, *, phase: Phase, position: int, form: Mapping[str, str], sent: Sent
    ) -> Answer:
        """Read an answer from a form.

        Errors: :class:`AnswerInvalid` naming the field.
        """
        own = asked.screen is self.study.screen
        reading: Reading = asked.screen.read(
            form, asked.item, view=asked.shown.appears_as, scale=self.study.scale if own else None
        )
        return Answer(
            who,
            asked.trial.item_id,
            phase,
            sent.client_key,
            position,
            value=reading.value,
            option=reading.option,
            text=reading.text,
            guessed_word=reading.guessed_word,
            comment=reading.comment,
            flags=reading.flags,
            supersedes=sent.supersedes,
            shown_at=sent.shown_at,
            rt_ms=sent.rt_ms,
            rt_server_ms=sent.rt_server_ms,
            page_version=sent.page_version,
            guideline_version=self.study.versions["instructions"],
        )

    def submit(self, answer: Answer) -> Future[Receipt]:
        """Queue an answer; the future is done after the commit."""
        return self.store.submit_later(answer)

    def answered(self, who: str, asked: Asked, receipt: Receipt) -> int | None:
        """Return the position of the next trial of the phase after an answer; ``None`` where what follows is unsure.

        The next trial is kept in memory, so that showing it asks nothing of the database; the store checks every
        answer, whatever was shown.
        """
        key = (who, receipt.phase)
        self._standings.pop(key, None)
        if receipt.phase is Phase.QUALIFICATION or self.study.screen.drawn:
            return None
        if receipt.next_position >= asked.standing.n_trials:
            return None
        plan = self._plans.get(key) or self.store.plan(who, receipt.phase)
        _keep(self._plans, key, plan)
        trial = plan[receipt.next_position]
        _keep(self._standings, key, replace(asked.standing, next_position=receipt.next_position, trial=trial))
        return receipt.next_position

    def another(self, who: str, position: int, *, client_key: str) -> None:
        """Skip the drawn item at a position: it is stored as skipped, and another one is drawn.

        Errors: :class:`AnswerRefused` where the study draws no items.
        """
        if not self.study.screen.drawn:
            raise AnswerRefused("another", "the items of this study are fixed")
        item_id = self.store.plan(who, Phase.TRIALS)[position].item_id
        self.store.submit(Answer(who, item_id, Phase.TRIALS, client_key, position, flags=("skipped",)))

    def debrief(self, who: str, comment: str, *, client_key: str) -> None:
        """Store what a participant says at the end."""
        if self.step(who).kind != "debrief":
            return
        self.store.lay_out(who, Phase.DEBRIEF, (Trial(DEBRIEF_ITEM),))
        if comment.strip():
            self.store.submit(Answer(who, DEBRIEF_ITEM, Phase.DEBRIEF, client_key, 0, text=comment.strip()))

    def code(self, who: str, step: Step) -> str:
        """Return the code of somebody who is at an end; empty where that end has none."""
        kinds = {"finished": "completed", "screened_out": "screened_out", "declined": "no_consent"}
        if step.kind in kinds:
            return self.store.issue_code(who, kinds[step.kind])
        return self.study.definition.codes.full if step.kind == "full" else ""

    # -- what follows -----------------------------------------------------------------------------------------

    def settle(self, who: str) -> Step:
        """Do what follows from the stored rows, and return the next step. Any number of calls do it once."""
        self._forget(who)
        # another tab was quicker, or the last place is gone: the next step says which
        with suppress(StateError, NoPlaceLeft):
            self.take_up(who)
            self._follow(who)
        return self.step(who)

    def is_due(self, standing: Progress, *, now: datetime) -> bool:
        """Say whether the participant's place should be held for longer: half of the time has passed."""
        lease = standing.lease
        if lease is None or lease.status != "held":
            return False
        return datetime.fromisoformat(lease.expires_at) - now < self._hold / 2

    def renew(self, who: str) -> None:
        """Hold the participant's place for longer; who comes too late may be surplus, and goes on all the same."""
        self.store.renew_place(who, hold=self._hold)
        self._forget(who)

    def judge(self) -> JudgedNow:
        """Apply the exclusion rules to everybody who finished, so that lists refill at once.

        Who was excluded by a rule that compares people, and no longer is, becomes accepted.
        Errors: those of the rules; they are in the audit log too.
        """
        with self._judging:
            try:
                rules = declared_rules(self.study.definition, self.study.design)
                people = self.store.people()
                judged = judge_now(
                    rules, self.store.responses(), fewest=FEWEST_FOR_AGREEMENT, kept=kept_by_hand(people)
                )
            except LexiscopeError as error:
                self.store.log("judging failed", actor="exclusions", details={"why": str(error)})
                raise
            # a rule is named as it was declared: with the ids of the catch trials in it nobody could read it
            declared = {
                format_rule(rule): text for rule, text in zip(rules, self.study.definition.exclusions, strict=True)
            }
            for person in people:
                rule = judged.excluded.get(person.participant_id)
                by_rule = person.state is State.EXCLUDED and person.reason in declared.values()
                if rule is not None and person.state in (State.FINISHED, State.ACCEPTED):
                    self.store.change_state(person.participant_id, State.EXCLUDED, reason=declared[rule])
                elif rule is None and by_rule:
                    self.store.change_state(person.participant_id, State.ACCEPTED, reason="no rule applies any more")
            self.judged_at = datetime.now(UTC)
            return judged

    def _forget(self, who: str) -> None:
        for phase in Phase:
            self._standings.pop((who, phase), None)

    def _follow(self, who: str) -> None:
        standing = self.store.progress(who, Phase.TRIALS)
        if standing.state is State.CONSENTED:
            self._follow_qualification(who)
        elif standing.state is State.QUALIFIED and standing.lease is not None:
            if self.store.progress(who, Phase.PRACTICE).trial is None:
                self.store.change_state(who, State.ACTIVE, reason="begins the trials")
                self._follow(who)
        elif standing.state is State.ACTIVE and standing.trial is None:
            self._follow_trials(who, standing)

    def _follow_qualification(self, who: str) -> None:
        standing = self.store.progress(who, Phase.QUALIFICATION)
        if not standing.n_trials:
            return
        given = [a for a in self.store.answers_of(who) if a["phase"] == str(Phase.QUALIFICATION)]
        if not all(self.is_right(answer) for answer in given):
            self.store.change_state(who, State.SCREENED_OUT, reason="qualification")
        elif standing.trial is None:
            self._qualify(who)

    def is_right(self, answer: Mapping[str, object]) -> bool:
        """Say whether a stored answer to a question with a known answer is among those it accepts."""
        accept = next(item.accept for item in self.study.record.items if item.item_id == answer["item_id"])
        return any(answer[name] in accept for name in ("value", "option", "text") if answer[name] is not None)

    def _qualify(self, who: str) -> None:
        """Take a place and lay out the trials; who finds none stays qualified and may come again."""
        if self.store.progress(who).state is State.CONSENTED:
            self.store.change_state(who, State.QUALIFIED, reason="ready for a place")
        lease = self.store.take_place(who, hold=self._hold, choose=self.study.choose)
        self.store.lay_out(who, Phase.PRACTICE, self.study.before_trials(Phase.PRACTICE))
        if not self.study.screen.drawn:
            self.store.lay_out(who, Phase.TRIALS, self.study.trials(lease.list_id, number=lease.ordinal))
        self._follow(who)

    def _follow_trials(self, who: str, standing: Progress) -> None:
        if self.study.screen.drawn and standing.n_written < self.study.record.written:
            self._draw(who, standing)
            return
        hidden = self.study.view_of(standing.lease.list_id if standing.lease is not None else None)
        if self.study.definition.reveal and hidden == self.study.screen.reveal_view:
            plan = [one for one in self.store.plan(who, Phase.TRIALS) if one.item_id not in self.study.known]
            self.store.lay_out(who, Phase.REVEAL, plan)
            if self.store.progress(who, Phase.REVEAL).trial is not None:
                return
        self.store.change_state(who, State.FINISHED, reason="every trial is answered")

    def _draw(self, who: str, standing: Progress) -> None:
        assert standing.lease is not None
        number = standing.lease.ordinal
        seen = [trial.item_id for trial in self.store.plan(who, Phase.TRIALS)]
        drawn = next_draw(
            self.study.design.items,
            self.store.written_counts(),
            seen,
            seed=self.study.definition.design.seed,
            number=number,
            draw=len(seen),
            at_most=self.study.definition.pool.at_most,
        )
        if drawn is None:
            raise StateError("the pool has no item left for this participant")
        self.store.extend(who, Phase.TRIALS, self.study.drawn(drawn.item_id, number=number))

    def _active(self, who: str, trials: Progress) -> Step:
        if trials.trial is not None:
            return Step("trial", Phase.TRIALS, trials.next_position, trials.n_trials)
        reveal = self.store.progress(who, Phase.REVEAL)
        if reveal.trial is not None:
            return Step("trial", Phase.REVEAL, reveal.next_position, reveal.n_trials)
        # only where the pool ran dry: nothing is left to write, and nobody is to blame
        return Step("closed")

    def _consented(self, who: str) -> Step:
        if self.store.status() != "running":
            return Step("closed")
        about = self.store.progress(who, Phase.DEMOGRAPHICS)
        if about.next_position < len(self.study.definition.about_you):
            return Step("about_you")
        qualification = self.store.progress(who, Phase.QUALIFICATION)
        if qualification.trial is not None:
            return Step("trial", Phase.QUALIFICATION, qualification.next_position, qualification.n_trials)
        return Step("instructions")

    def _qualified(self, who: str, trials: Progress) -> Step:
        if trials.lease is None:
            door = self._door()
            return Step("instructions" if door == "consent" else door)
        practice = self.store.progress(who, Phase.PRACTICE)
        return Step("trial", Phase.PRACTICE, practice.next_position, practice.n_trials)

    def _door(self) -> Literal["closed", "full", "consent"]:
        if self.store.status() != "running":
            return "closed"
        return "consent" if self._has_place() else "full"

    def _has_place(self) -> bool:
        return self.study.choose(self.store.loads(), 0) is not None


def _keep(memory: OrderedDict[tuple[str, Phase], T], key: tuple[str, Phase], value: T) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > _REMEMBERED:
        memory.popitem(last=False)


__all__ = ["AnswerInvalid", "Asked", "Flow", "Sent", "Step"]
