"""The exclusion rules, applied while a study runs, so that lists refill as soon as somebody is excluded."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

from lexiscope.analysis.exclusion import format_rule
from lexiscope.annotation.store.record import State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.exclusions import JudgedNow, declared_rules, judge_now, kept_by_hand
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.core.errors import LexiscopeError
from lexiscope.core.response import ResponseTable

FEWEST_FOR_AGREEMENT = 3
"""People of a list who must have finished before a rule on agreement judges any of them."""


class Judging:
    """Judges everybody who finished, one turn at a time.

    ``waiting`` is true while somebody may have finished since the last turn: after a start nobody knows, so it is true.
    """

    def __init__(self, study: FrozenStudy, store: Store) -> None:
        self._study, self._store = study, store
        self._one_at_a_time = threading.Lock()
        self.waiting = True
        self.judged_at: datetime | None = None

    def judge(self) -> JudgedNow:
        """Apply the exclusion rules to everybody who finished, so that lists refill at once.

        Who was excluded by a rule that compares people, and no longer is, becomes accepted.
        Errors: those of the rules; they are in the audit log too.
        """
        with self._one_at_a_time:
            # whoever finishes from here on is judged in the next turn
            self.waiting = False
            try:
                rules = declared_rules(self._study.definition, self._study.design)
                people = self._store.people()
                # tens of megabytes in a large study: read only where something is judged by them
                answers = self._store.responses() if rules else ResponseTable.empty()
                judged = judge_now(rules, answers, fewest=FEWEST_FOR_AGREEMENT, kept=kept_by_hand(people))
            except LexiscopeError as error:
                self._store.log("judging failed", actor="exclusions", details={"why": str(error)})
                raise
            # a rule is named as it was declared: with the ids of the catch trials in it nobody could read it
            declared = {
                format_rule(rule): text for rule, text in zip(rules, self._study.definition.exclusions, strict=True)
            }
            for person in people:
                rule = judged.excluded.get(person.participant_id)
                by_rule = person.state is State.EXCLUDED and person.reason in declared.values()
                if rule is not None and person.state in (State.FINISHED, State.ACCEPTED):
                    self._store.change_state(person.participant_id, State.EXCLUDED, reason=declared[rule])
                elif rule is None and by_rule:
                    self._store.change_state(person.participant_id, State.ACCEPTED, reason="no rule applies any more")
            self.judged_at = datetime.now(UTC)
            return judged
