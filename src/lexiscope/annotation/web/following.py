"""What follows from what a participant did: passing the qualification, a place, the trials, the end.

Everything is read from committed rows and may be repeated: a server that was killed between two commits goes on with
the second one at the participant's next visit.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from lexiscope.annotation.store.answers import Progress
from lexiscope.annotation.store.record import Phase, State, StateError
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.web.judging import Judging
from lexiscope.annotation.writing.pool import next_draw


class Following:
    """The consequences in one study; *hold* is how long a place is held."""

    def __init__(self, study: FrozenStudy, store: Store, judging: Judging, *, hold: timedelta) -> None:
        self._study, self._store, self._judging, self._hold = study, store, judging, hold

    def follow(self, who: str) -> None:
        """Do what follows; what is done already is left as it is.

        Errors: :class:`StateError`, :class:`NoPlaceLeft` where another tab, or another person, was quicker.
        """
        standing = self._store.progress(who, Phase.TRIALS)
        if standing.state is State.CONSENTED:
            self._follow_qualification(who)
        elif standing.state is State.QUALIFIED and standing.lease is not None:
            self._lay_out(who, standing)
            if self._store.progress(who, Phase.PRACTICE).trial is None:
                self._store.change_state(who, State.ACTIVE, reason="begins the trials")
                self.follow(who)
        elif standing.state is State.ACTIVE and standing.trial is None:
            if not standing.n_trials and not self._study.screen.drawn:
                self._lay_out(who, standing)
                return
            self._follow_trials(who, standing)

    def _follow_qualification(self, who: str) -> None:
        standing = self._store.progress(who, Phase.QUALIFICATION)
        if not standing.n_trials:
            return
        given = [a for a in self._store.answers_of(who) if a["phase"] == str(Phase.QUALIFICATION)]
        if not all(self.is_right(answer) for answer in given):
            self._store.change_state(who, State.SCREENED_OUT, reason="qualification")
        elif standing.trial is None:
            self.qualify(who)

    def is_right(self, answer: Mapping[str, object]) -> bool:
        """Say whether a stored answer to a question with a known answer is among those it accepts."""
        accept = next(item.accept for item in self._study.record.items if item.item_id == answer["item_id"])
        return any(answer[name] in accept for name in ("value", "option", "text") if answer[name] is not None)

    def qualify(self, who: str) -> None:
        """Take a place and lay out the trials; who finds none stays qualified and may come again."""
        if self._store.progress(who).state is State.CONSENTED:
            self._store.change_state(who, State.QUALIFIED, reason="ready for a place")
        self._store.take_place(who, hold=self._hold, choose=self._study.choose)
        self.follow(who)

    def _lay_out(self, who: str, standing: Progress) -> None:
        """Lay out practice and trials of who has a place; whatever broke off before is completed.

        The trials come last: where they are laid out, everything is.
        """
        assert standing.lease is not None
        if standing.n_trials:
            return
        self._store.lay_out(who, Phase.PRACTICE, self._study.before_trials(Phase.PRACTICE))
        if not self._study.screen.drawn:
            trials = self._study.trials(standing.lease.list_id, number=standing.lease.ordinal)
            self._store.lay_out(who, Phase.TRIALS, trials)

    def _follow_trials(self, who: str, standing: Progress) -> None:
        if self._study.screen.drawn and standing.n_written < self._study.record.written:
            self._draw(who, standing)
            return
        hidden = self._study.view_of(standing.lease.list_id if standing.lease is not None else None)
        if self._study.definition.reveal and hidden == self._study.screen.reveal_view:
            plan = [one for one in self._store.plan(who, Phase.TRIALS) if one.item_id not in self._study.known]
            self._store.lay_out(who, Phase.REVEAL, plan)
            if self._store.progress(who, Phase.REVEAL).trial is not None:
                return
        self._store.change_state(who, State.FINISHED, reason="every trial is answered")
        self._judging.waiting = True

    def may_skip(self, who: str) -> bool:
        """Say whether a participant may have another item in place of the drawn one.

        Not where too few items would be left for what they still owe: nobody skips themselves out of the study.
        """
        standing = self._store.progress(who, Phase.TRIALS)
        return self._unseen(who) >= self._study.record.written - standing.n_written

    def _unseen(self, who: str) -> int:
        seen = {trial.item_id for trial in self._store.plan(who, Phase.TRIALS)}
        return sum(item.item_id not in seen for item in self._study.design.items)

    def _draw(self, who: str, standing: Progress) -> None:
        assert standing.lease is not None
        number, counts = standing.lease.ordinal, self._store.written_counts()
        seen = [trial.item_id for trial in self._store.plan(who, Phase.TRIALS)]
        # where every word that is left has enough, one more sentence does less harm than a participant without pay
        for at_most in (self._study.definition.pool.at_most, 0):
            drawn = next_draw(
                self._study.design.items,
                counts,
                seen,
                seed=self._study.definition.design.seed,
                number=number,
                draw=len(seen),
                at_most=at_most,
            )
            if drawn is not None:
                self._store.extend(who, Phase.TRIALS, self._study.drawn(drawn.item_id, number=number))
                return
        raise StateError("the pool has no item left for this participant")
