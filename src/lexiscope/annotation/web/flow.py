"""The session of a participant: the next step, and what follows from an answer; no HTTP here.

Every step is read from committed rows, so that a participant resumes where they stopped on any device, after any
crash. What follows from rows (passing the qualification, finishing) happens in :meth:`Flow.advance`, which may be
called any number of times.
"""

from __future__ import annotations

import hashlib
import threading
import unicodedata
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from lexiscope.analysis.exclusion import format_rule
from lexiscope.annotation.store.answers import Progress, planned_trials
from lexiscope.annotation.store.overview import ListedParticipant, study_status, written_counts
from lexiscope.annotation.store.participants import state_changes
from lexiscope.annotation.store.record import (
    ANSWERING,
    AnswerConflict,
    AnswerRefused,
    BrowserAnswer,
    NoPlaceLeft,
    Phase,
    Receipt,
    State,
    StateError,
    StoredTrial,
)
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.exclusions import (
    CurrentExclusions,
    current_exclusions,
    declared_rules,
    ids_included_by_hand,
)
from lexiscope.annotation.study_file.freeze import ABOUT, DEBRIEF_ITEM, FrozenStudy
from lexiscope.annotation.web.security import remember
from lexiscope.annotation.writing.stages import next_draw
from lexiscope.core.errors import LexiscopeError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.screen import Reading, Screen, Shown, number_in

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
_REMEMBERED = 2_000


@dataclass(frozen=True, slots=True)
class Step:
    """What a participant sees next; for a trial its phase and position, and the number of trials of the phase."""

    kind: StepKind
    phase: Phase | None = None
    position: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class TrialOnPage:
    """A trial as it is shown to one participant: the item, its screen, and the answer stored so far.

    ``progress`` is the participant's progress when this was read.
    """

    trial: StoredTrial
    item: Item
    screen: Screen
    shown: Shown
    progress: Progress
    stored: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class AnswerMetadata:
    """What is recorded with the content of an answer. *Unit:* ``rt_ms``, ``rt_server_ms``: milliseconds."""

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
        self.exclusion_rules = ExclusionRules(study, store)
        self._plans: OrderedDict[tuple[str, Phase], list[StoredTrial]] = OrderedDict()
        self._known_progress: OrderedDict[tuple[str, Phase], Progress] = OrderedDict()
        self._hold = timedelta(minutes=study.definition.lease.minutes)
        # several processes: what one of them remembers, another one may have changed
        self._remembers = not store.is_shared

    # -- the present step of a participant --------------------------------------------------------------------

    def arrive(self, platform_id: str, *, session: str | None = None) -> str:
        """Return the random id of the participant with this platform id; one who had returned the place may continue.

        Errors: :class:`AnswerRefused` for an id that cannot be stored.
        """
        who = self.store.invite(platform_id, session=session)
        self.restore_state(who)
        return who

    def restore_state(self, who: str) -> None:
        """Put a participant who returned or timed out back into the state that they left."""
        past = self.store.read(state_changes, who)
        away = (State.RETURNED, State.TIMED_OUT)
        if past[-1].to_state in away:
            left = next(change.from_state for change in reversed(past) if change.from_state not in away)
            # a participant who finished and then returned the place has withdrawn; one who timed out has not
            if left is not None and (left is not State.FINISHED or past[-1].to_state is State.TIMED_OUT):
                self.store.change_state(who, left, reason="came back")

    def resume_if_timed_out(self, who: str) -> bool:
        """Put a participant who timed out, and came back, into the state that they left; return whether that was so."""
        if self.store.progress(who).state is not State.TIMED_OUT:
            return False
        self.restore_state(who)
        self._forget(who)
        return True

    def next_step(self, who: str) -> Step:
        """Return what this participant sees next.

        Errors: :class:`AnswerRefused` for a participant that the study does not know.
        """
        trials = self.store.progress(who, Phase.TRIALS)
        if trials.state is State.ACTIVE:
            return self._step_when_active(who, trials)
        if trials.state is State.CONSENTED:
            return self._step_when_consented(who)
        if trials.state is State.QUALIFIED:
            return self._step_when_qualified(who, trials)
        if trials.state is State.INVITED:
            return Step(self._entry_step())
        if trials.state in (State.DECLINED, State.SCREENED_OUT):
            return Step("declined" if trials.state is State.DECLINED else "screened_out")
        if trials.state in (State.RETURNED, State.TIMED_OUT):
            return Step("closed")
        if trials.state is State.EXCLUDED and (
            trials.trial is not None or trials.n_written < self.study.record.written
        ):
            # by hand, in the middle: the code is for who answered everything
            return Step("closed")
        return Step("finished" if self.store.read(planned_trials, who, Phase.DEBRIEF) else "debrief")

    def trial_at(self, who: str, phase: Phase, position: int) -> TrialOnPage:
        """Return the trial at a position of this participant's phase, answered or not.

        Errors: :class:`AnswerRefused` where there is no such trial, or it is not reached yet.
        """
        remembered = self._known_progress.get((who, phase))
        # used only if this trial is next: all else may be old, and is read again
        if remembered is not None and remembered.trial is not None and position == remembered.next_position:
            return self._trial_on_page(remembered.trial, phase, remembered)
        progress = self.store.progress(who, phase)
        if progress.trial is not None and position == progress.next_position:
            return self._trial_on_page(progress.trial, phase, progress)
        if not 0 <= position < progress.next_position:
            raise AnswerRefused("position", f"trial {position} is not reached yet")
        return self._trial_on_page(self.store.read(planned_trials, who, phase)[position], phase, progress)

    def trial_to_show(self, who: str, phase: Phase, position: int) -> TrialOnPage:
        """Return a trial to be shown, with the stored answer where it has one that can be changed.

        Errors: :class:`AnswerRefused` where there is no such trial, it is not reached yet, its answer is final, or
        the participant does not answer in this phase, as after the end.
        """
        asked = self.trial_at(who, phase, position)
        self.check_open(asked, phase)
        if position >= asked.progress.next_position:
            return asked
        if phase not in self.study.record.revisable:
            raise AnswerRefused("position", f"answers in {phase} are final")
        return replace(asked, stored=self.latest_answer(who, phase, asked.trial.item_id))

    def check_open(self, asked: TrialOnPage, phase: Phase) -> None:
        """Check that the participant is in a state in which this phase is answered.

        Errors: :class:`AnswerRefused` otherwise.
        """
        if asked.progress.state not in ANSWERING[phase]:
            raise AnswerRefused("phase", f"a participant who is {asked.progress.state} does not answer in {phase}")

    def _trial_on_page(self, trial: StoredTrial, phase: Phase, progress: Progress) -> TrialOnPage:
        item_id = trial.item_id
        list_id = progress.lease.list_id if progress.lease is not None else None
        shown = self.study.display_of(trial, list_id=list_id, phase=phase)
        return TrialOnPage(trial, self.study.items[item_id], self.study.screen_of(item_id), shown, progress)

    def latest_answer(self, who: str, phase: Phase, item_id: str) -> Mapping[str, object] | None:
        """Return the latest answer of a participant to an item, as it is stored; ``None`` where there is none."""
        mine = [a for a in self.store.answers_of(who) if a["item_id"] == item_id and a["phase"] == str(phase)]
        return mine[-1] if mine else None

    # -- what participants do ---------------------------------------------------------------------------------

    def record_consent(self, who: str, *, agreed: bool) -> None:
        """Store that a participant consents or declines; the same twice is stored once.

        Errors: :class:`StateError` if the study admits no participants, or the participant is past the consent.
        """
        state = self.store.progress(who).state
        if state is not State.INVITED:
            if state is State.DECLINED and agreed:
                raise StateError("a participant who declined cannot consent any more")
            return
        if not agreed:
            self.store.change_state(who, State.DECLINED, reason="declined the consent")
            return
        if self._entry_step() != "consent":
            raise StateError("the study does not accept participants at the moment")
        text = self.study.consent_text
        self.store.record_consent(who, text=text, version=hashlib.sha256(text.encode("utf-8")).hexdigest()[:12])

    def record_about_you(self, who: str, form: Mapping[str, str], *, client_key: str) -> dict[str, str]:
        """Store the answers about the participant; return the faults by measure (then nothing is stored).

        The values are keys of ``pages.FAULTS``. Errors: :class:`AnswerConflict` where another answer came first; what
        had none yet is stored.
        """
        faults: dict[str, str] = {}
        answers: list[BrowserAnswer] = []
        for position, question in enumerate(self.study.definition.about_you):
            text = form.get(question.measure, "").strip()
            answer = BrowserAnswer(who, ABOUT + question.measure, Phase.DEMOGRAPHICS, client_key, position)
            fault = "missing" if question.required and not text else ""
            if text and question.kind == "number":
                number, limits = _typed_number(text), question.numbers()
                if number is None:
                    fault = "not_a_number"
                elif not limits.contains(number):
                    fault = "not_whole_in_limits" if limits.step == 1 else "not_in_limits"
                answer = replace(answer, value=number)
            elif text and question.kind == "choice":
                fault = "" if text in {option.value for option in question.options} else "unknown"
                answer = replace(answer, option=text)
            elif text:
                answer = replace(answer, text=text)
            faults |= {question.measure: fault} if fault else {}
            answers.append(answer)
        if not faults:
            self.store.lay_out(who, Phase.DEMOGRAPHICS, self.study.opening_trials(Phase.DEMOGRAPHICS))
            done = self.store.progress(who, Phase.DEMOGRAPHICS).next_position
            conflict: AnswerConflict | None = None
            for position, answer in enumerate(answers):
                stored = self.latest_answer(who, Phase.DEMOGRAPHICS, answer.item_id) if position < done else None
                # what was stored under another key is final; under the same key the two are compared
                if stored is None or stored["client_key"] == client_key:
                    self.store.submit(answer)
                elif any(stored[name] != getattr(answer, name) for name in ("value", "option", "text")):
                    conflict = AnswerConflict(int(str(stored["id"])), "another answer was stored first")
            # afterwards: what has no answer yet is stored all the same
            if conflict is not None:
                raise conflict
        return faults

    def begin_trials(self, who: str) -> None:
        """Continue after the instructions: with the qualification, or with a place and the trials.

        Errors: :class:`NoPlaceLeft` where the last place was taken meanwhile.
        """
        if self.next_step(who).kind != "instructions":
            return
        questions = self.study.opening_trials(Phase.QUALIFICATION)
        if questions and self.store.progress(who).state is State.CONSENTED:
            self.store.lay_out(who, Phase.QUALIFICATION, questions)
            return
        self._qualify(who)

    def read_answer(
        self,
        who: str,
        asked: TrialOnPage,
        *,
        phase: Phase,
        position: int,
        form: Mapping[str, str],
        metadata: AnswerMetadata,
    ) -> BrowserAnswer:
        """Read an answer from a form.

        Errors: :class:`~lexiscope.core.screen.AnswerInvalid` naming the field.
        """
        own = asked.screen is self.study.screen
        reading: Reading = asked.screen.read(
            form, asked.item, view=asked.shown.appears_as, scale=self.study.scale if own else None
        )
        return replace(
            self._blank_answer(who, asked.trial.item_id, phase, position, metadata),
            value=reading.value,
            option=reading.option,
            text=reading.text,
            guessed_word=reading.guessed_word,
            comment=reading.comment,
            flags=reading.flags,
            supersedes=metadata.supersedes,
        )

    def _blank_answer(
        self, who: str, item_id: str, phase: Phase, position: int, metadata: AnswerMetadata
    ) -> BrowserAnswer:
        return BrowserAnswer(
            who,
            item_id,
            phase,
            metadata.client_key,
            position,
            shown_at=metadata.shown_at,
            rt_ms=metadata.rt_ms,
            rt_server_ms=metadata.rt_server_ms,
            page_version=metadata.page_version,
            guideline_version=self.study.versions["instructions"],
        )

    def next_position_after(self, who: str, asked: TrialOnPage, receipt: Receipt) -> int | None:
        """Return the position of the next trial of the phase after an answer; ``None`` if it must be looked up.

        The next trial is kept in memory, so that showing it asks nothing of the database; the store checks every
        answer, whichever trial was shown.
        """
        key = (who, receipt.phase)
        self._known_progress.pop(key, None)
        if receipt.phase is Phase.QUALIFICATION or self.study.screen.drawn:
            return None
        if receipt.next_position >= asked.progress.n_trials:
            return None
        # an answer that was sent before says where it led then, not where the participant is now
        if not self._remembers or receipt.next_position <= asked.progress.next_position:
            return receipt.next_position
        trials = self._plans.get(key) or self.store.read(planned_trials, who, receipt.phase)
        remember(self._plans, key, trials, most=_REMEMBERED)
        trial = trials[receipt.next_position]
        progress = replace(asked.progress, next_position=receipt.next_position, trial=trial)
        remember(self._known_progress, key, progress, most=_REMEMBERED)
        return receipt.next_position

    def is_correct(self, answer: Mapping[str, object]) -> bool:
        """Return whether a stored answer to a question with a known answer is among those it accepts."""
        accept = next(item.accept for item in self.study.record.items if item.item_id == answer["item_id"])
        return any(answer[name] in accept for name in ("value", "option", "text") if answer[name] is not None)

    def may_skip(self, who: str) -> bool:
        """Return whether a participant may have another item in place of the drawn one.

        Not if too few items would be left for what they still owe: no participant skips themselves out of the study.
        """
        if not self.study.screen.drawn:
            return False
        seen = {trial.item_id for trial in self.store.read(planned_trials, who)}
        unseen = sum(item.item_id not in seen for item in self.study.design.items)
        return unseen >= self.study.record.written - self.store.progress(who).n_written

    def skip_item(self, who: str, position: int, metadata: AnswerMetadata) -> None:
        """Skip the drawn item at a position: it is stored as skipped, and another one is drawn.

        Errors: :class:`AnswerRefused` where the study draws no items, or too few are left.
        """
        if not self.may_skip(who):
            raise AnswerRefused("another", "the items of this study are fixed, or too few are left")
        item_id = self.store.read(planned_trials, who)[position].item_id
        skipped = self._blank_answer(who, item_id, Phase.TRIALS, position, metadata)
        self.store.submit(replace(skipped, flags=("skipped",)))

    def record_debrief(self, who: str, comment: str, *, client_key: str) -> None:
        """Store a participant's comment at the end.

        Errors: :class:`AnswerConflict` where they said something else before.
        """
        if self.next_step(who).kind not in ("debrief", "finished"):
            return
        self.store.lay_out(who, Phase.DEBRIEF, (StoredTrial(DEBRIEF_ITEM),))
        text = comment.replace("\r\n", "\n").strip()
        stored = self.latest_answer(who, Phase.DEBRIEF, DEBRIEF_ITEM)
        # a comment that could not be stored comes again after the page was acknowledged
        # and a page in another tab that was left empty takes nothing back
        repeated = stored is not None and stored["client_key"] == client_key
        if repeated or (text and (stored is None or stored["text"] != text)):
            self.store.submit(BrowserAnswer(who, DEBRIEF_ITEM, Phase.DEBRIEF, client_key, 0, text=text))

    def completion_code(self, who: str, step: Step) -> str:
        """Return the completion code of a participant at an end; empty if that end has none."""
        kinds = {"finished": "completed", "screened_out": "screened_out", "declined": "no_consent"}
        if step.kind in kinds:
            return self.store.issue_code(who, kinds[step.kind])
        return self.study.definition.codes.full if step.kind == "full" else ""

    # -- what follows -----------------------------------------------------------------------------------------

    def advance(self, who: str) -> Step:
        """Do what follows from the stored rows, and return the next step. Repeated calls change nothing."""
        self._forget(who)
        # another tab was quicker, or the last place is gone: the next step says which
        with suppress(StateError, NoPlaceLeft):
            self.resume_if_timed_out(who)
            self._follow_answers(who)
        return self.next_step(who)

    def is_renewal_due(self, progress: Progress, *, now: datetime) -> bool:
        """Return whether the participant's place should be held for longer: half of the time has passed."""
        lease = progress.lease
        if lease is None or lease.status != "held":
            return False
        return datetime.fromisoformat(lease.expires_at) - now < self._hold / 2

    def renew_place(self, who: str, asked: TrialOnPage) -> TrialOnPage:
        """Hold the participant's place for longer; one who comes too late may be surplus, and continues."""
        lease = self.store.renew_place(who, hold=self._hold)
        self._forget(who)
        return replace(asked, progress=replace(asked.progress, lease=lease))

    def forget_progress(self) -> None:
        """Read the progress of all participants again: a researcher changed something."""
        self._known_progress.clear()

    def _forget(self, who: str) -> None:
        for phase in Phase:
            self._known_progress.pop((who, phase), None)

    # Everything is read from committed rows and may be repeated: a server that was killed between two commits continues
    # with the second one at the participant's next visit.

    def _follow_answers(self, who: str) -> None:
        """Do what follows from the stored answers.

        Errors: :class:`StateError`, :class:`NoPlaceLeft` if another tab, or another participant, was faster.
        """
        progress = self.store.progress(who, Phase.TRIALS)
        if progress.state is State.CONSENTED:
            self._advance_qualification(who)
        elif progress.state is State.QUALIFIED and progress.lease is not None:
            self._lay_out(who, progress)
            if self.store.progress(who, Phase.PRACTICE).trial is None:
                self.store.change_state(who, State.ACTIVE, reason="begins the trials")
                self._follow_answers(who)
        elif progress.state is State.ACTIVE and progress.trial is None:
            if not progress.n_trials and not self.study.screen.drawn:
                self._lay_out(who, progress)
                return
            self._advance_trials(who, progress)

    def _advance_qualification(self, who: str) -> None:
        progress = self.store.progress(who, Phase.QUALIFICATION)
        if not progress.n_trials:
            return
        answers = [a for a in self.store.answers_of(who) if a["phase"] == str(Phase.QUALIFICATION)]
        if not all(self.is_correct(answer) for answer in answers):
            self.store.change_state(who, State.SCREENED_OUT, reason="qualification")
        elif progress.trial is None:
            self._qualify(who)

    def _qualify(self, who: str) -> None:
        """Take a place and lay out the trials; without a free place the participant stays qualified."""
        if self.store.progress(who).state is State.CONSENTED:
            self.store.change_state(who, State.QUALIFIED, reason="ready for a place")
        self.store.take_place(who, hold=self._hold, choose=self.study.choose)
        self._follow_answers(who)

    def _lay_out(self, who: str, progress: Progress) -> None:
        """Lay out practice and trials of a participant with a place; what was interrupted is completed.

        The trials come last: if they are laid out, everything is.
        """
        assert progress.lease is not None
        if progress.n_trials:
            return
        self.store.lay_out(who, Phase.PRACTICE, self.study.opening_trials(Phase.PRACTICE))
        if not self.study.screen.drawn:
            trials = self.study.trials(progress.lease.list_id, number=progress.lease.ordinal)
            self.store.lay_out(who, Phase.TRIALS, trials)

    def _advance_trials(self, who: str, progress: Progress) -> None:
        if self.study.screen.drawn and progress.n_written < self.study.record.written:
            self._draw(who, progress)
            return
        hidden = self.study.view_of(progress.lease.list_id if progress.lease is not None else None)
        if self.study.definition.reveal and hidden == self.study.screen.reveal_view:
            trials = self.store.read(planned_trials, who)
            self.store.lay_out(who, Phase.REVEAL, [t for t in trials if t.item_id not in self.study.known])
            if self.store.progress(who, Phase.REVEAL).trial is not None:
                return
        self.store.change_state(who, State.FINISHED, reason="every trial is answered")
        self.exclusion_rules.pending = True

    def _draw(self, who: str, progress: Progress) -> None:
        assert progress.lease is not None
        number, counts = progress.lease.ordinal, self.store.read(written_counts)
        seen = [trial.item_id for trial in self.store.read(planned_trials, who)]
        # where every word that is left has enough, one more sentence does less harm than a participant without pay
        for at_most in (self.study.definition.pool.at_most, 0):
            drawn = next_draw(
                self.study.design.items,
                counts,
                seen,
                seed=self.study.definition.design.seed,
                number=number,
                draw=len(seen),
                at_most=at_most,
            )
            if drawn is not None:
                self.store.extend(who, Phase.TRIALS, self.study.drawn_trial(drawn.item_id, number=number))
                return
        raise StateError("the pool has no item left for this participant")

    def _step_when_active(self, who: str, trials: Progress) -> Step:
        if trials.trial is not None:
            return Step("trial", Phase.TRIALS, trials.next_position, trials.n_trials)
        reveal = self.store.progress(who, Phase.REVEAL)
        if reveal.trial is not None:
            return Step("trial", Phase.REVEAL, reveal.next_position, reveal.n_trials)
        # nothing is laid out yet, or the pool has fewer items than a participant writes
        return Step("closed")

    def _step_when_consented(self, who: str) -> Step:
        if self.store.read(study_status) != "running":
            return Step("closed")
        about = self.store.progress(who, Phase.DEMOGRAPHICS)
        if about.next_position < len(self.study.definition.about_you):
            return Step("about_you")
        qualification = self.store.progress(who, Phase.QUALIFICATION)
        if qualification.trial is not None:
            return Step("trial", Phase.QUALIFICATION, qualification.next_position, qualification.n_trials)
        return Step("instructions")

    def _step_when_qualified(self, who: str, trials: Progress) -> Step:
        if trials.lease is None:
            entry = self._entry_step()
            return Step("instructions" if entry == "consent" else entry)
        practice = self.store.progress(who, Phase.PRACTICE)
        return Step("trial", Phase.PRACTICE, practice.next_position, practice.n_trials)

    def _entry_step(self) -> Literal["closed", "full", "consent"]:
        if self.store.read(study_status) != "running":
            return "closed"
        return "consent" if self.study.choose(self.store.loads(), 0) is not None else "full"


def _typed_number(text: str) -> float | None:
    """Return the number that a person typed, in the digits of any script, with a decimal point or comma.

    >>> _typed_number("2,5"), _typed_number("٣٠"), _typed_number("1e3")
    (2.5, 30.0, None)
    """
    plain = "".join(str(unicodedata.decimal(letter)) if letter.isdecimal() else letter for letter in text)
    return number_in(plain.replace(",", ".").replace("٫", "."))


# -- exclusion rules ------------------------------------------------------------------------------------------------
# The exclusion rules, applied while a study runs, so that lists refill as soon as a participant is excluded.


class ExclusionRules:
    """The exclusion rules of one study, applied by one thread at a time.

    ``pending`` is true while a participant may have finished since the last time, as after a start of the server.
    """

    def __init__(self, study: FrozenStudy, store: Store) -> None:
        self._study, self._store = study, store
        self._one_at_a_time = threading.Lock()
        self.pending = True
        self.applied_at: datetime | None = None

    def apply(self) -> CurrentExclusions:
        """Apply the exclusion rules to all participants who finished, so that lists refill at once.

        A participant who was excluded by a rule that compares raters, and no longer is, becomes accepted.
        Errors: those of the rules and of the database; as far as it can be written to, they are in the audit log too.
        """
        with self._one_at_a_time:
            # participants who finish from here on are checked the next time
            self.pending = False
            try:
                return self._apply()
            except LexiscopeError as error:
                # where the database is the reason, the audit log cannot be written either
                with suppress(LexiscopeError):
                    self._store.log("judging failed", actor="exclusions", details={"why": str(error)})
                raise

    def _apply(self) -> CurrentExclusions:
        rules = declared_rules(self._study.definition, self._study.design)
        people = self._store.people()
        # tens of megabytes in a large study: read only where something is judged by them
        answers = self._store.responses() if rules else ResponseTable.empty()
        result = current_exclusions(rules, answers, kept=ids_included_by_hand(people))
        # a rule is named as it was declared: with the ids of the catch trials in it it could not be read
        declared = {
            format_rule(rule): text for rule, text in zip(rules, self._study.definition.exclusions, strict=True)
        }
        for person in people:
            rule = result.excluded.get(person.participant_id)
            by_rule = person.state is State.EXCLUDED and person.reason in declared.values()
            if rule is not None and person.state in (State.FINISHED, State.ACCEPTED):
                self._change_state(person, State.EXCLUDED, reason=declared[rule])
            elif rule is None and by_rule:
                self._change_state(person, State.ACCEPTED, reason="no rule applies any more")
        self.applied_at = datetime.now(UTC)
        return result

    def _change_state(self, person: ListedParticipant, to: State, *, reason: str) -> None:
        """Change a participant's state, unless it is no longer the one that the rules were applied to.

        Another worker, or a researcher, may change it while the rules are applied: then theirs counts, and who finishes
        next has the rules applied again.
        """
        try:
            self._store.change_state(person.participant_id, to, reason=reason)
        except StateError:
            if self._store.progress(person.participant_id).state is person.state:
                raise
