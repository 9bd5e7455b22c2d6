"""The curation bench without its face: which proposal is looked at, what is chosen for it, what was decided.

The terminal shows it; another face could. Every decision is on the disk before the next proposal is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from lexiscope.build.minimal_pairs.alternatives import Alternative
from lexiscope.build.minimal_pairs.automatic import Proposal
from lexiscope.build.minimal_pairs.candidates import Candidate, Context
from lexiscope.build.minimal_pairs.curation import Decision, Verdict, check_decision
from lexiscope.build.minimal_pairs.decision_log import DecisionLog
from lexiscope.core.errors import InputError


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class CurationBench:
    """One curator's way through proposals: it begins at the first one that is not decided.

    ``proposals`` are all of the build; *only* keeps those with these ids on the bench.
    Errors: those of :meth:`~lexiscope.build.minimal_pairs.decision_log.DecisionLog.latest`; :class:`InputError` E469
    where nothing is left to look at.
    """

    context: Context
    synonym: str
    distractor: str

    def __init__(
        self,
        proposals: Sequence[Proposal],
        log: DecisionLog,
        *,
        only: Sequence[str] | None = None,
        language: str = "en",
        clock: Callable[[], str] = now,
    ) -> None:
        kept = tuple(proposal for proposal in proposals if only is None or proposal.proposal_id in set(only))
        if not kept:
            raise InputError("there is no proposal to look at", code="E469", hint="build some first")
        self.proposals, self.log, self.language = kept, log, language
        self._clock = clock
        on_bench = {proposal.proposal_id for proposal in kept}
        self.decided = {key: decision for key, decision in log.latest(proposals).items() if key in on_bench}
        self.position = self._next_undecided(0)
        self._show_proposal()

    @property
    def proposal(self) -> Proposal:
        """The proposal that is looked at; after the last one, the last."""
        return self.proposals[min(self.position, len(self.proposals) - 1)]

    @property
    def candidate(self) -> Candidate:
        """Its word in one sense."""
        return self.proposal.candidate

    @property
    def is_finished(self) -> bool:
        """Whether everything is decided and none is looked at again."""
        return self.position >= len(self.proposals)

    @property
    def n_decided(self) -> int:
        """How many of the proposals on the bench are decided."""
        return len(self.decided)

    @property
    def previous_decision(self) -> Decision | None:
        """What was decided about this proposal before, if anything was."""
        return self.decided.get(self.proposal.proposal_id)

    @property
    def possible_distractors(self) -> tuple[Alternative, ...]:
        """The distractors that can be combined with the chosen synonym, best first."""
        return tuple(distractor for synonym, distractor in self.candidate.pairs() if synonym.word == self.synonym)

    @property
    def possible_synonyms(self) -> tuple[Alternative, ...]:
        """The synonyms that go with any distractor, best first."""
        pairs = self.candidate.pairs()
        return tuple(synonym for synonym in self.candidate.synonyms if any(paired is synonym for paired, _ in pairs))

    def switch_synonym(self, step: int = 1) -> None:
        """Choose the next synonym; the distractor stays where it goes with it."""
        words = [synonym.word for synonym in self.possible_synonyms]
        self.synonym = _next_word(words, self.synonym, step)
        possible = [distractor.word for distractor in self.possible_distractors]
        self.distractor = self.distractor if self.distractor in possible else possible[0]

    def switch_distractor(self, step: int = 1) -> None:
        """Choose the next distractor that can be combined with the synonym."""
        self.distractor = _next_word(
            [distractor.word for distractor in self.possible_distractors], self.distractor, step
        )

    def switch_context(self, step: int = 1) -> None:
        """Choose the next context of the same word in the same sense."""
        ids = [context.context_id for context in self.candidate.contexts]
        self.context = self.candidate.contexts[ids.index(_next_word(ids, self.context.context_id, step))]

    def accept(self) -> Decision:
        """Accept the proposal as chosen, and show the next one."""
        return self._decide("accept")

    def reject(self, reason: str, note: str = "") -> Decision:
        """Reject the proposal, and show the next one.

        Errors: :class:`InputError` E465 (see :func:`~lexiscope.build.minimal_pairs.curation.check_decision`); nothing
        is written.
        """
        return self._decide("reject", reason, note)

    def skip(self) -> None:
        """Leave the proposal for later: go to the next one, decided or not, and from the last to the first."""
        self.position = (self.position + 1) % len(self.proposals)
        self._show_proposal()

    def back(self) -> None:
        """Go to the proposal before this one, decided or not."""
        self.position = max(0, min(self.position, len(self.proposals)) - 1)
        self._show_proposal()

    def _decide(self, verdict: Verdict, reason: str = "", note: str = "") -> Decision:
        decision = Decision(
            proposal_id=self.proposal.proposal_id,
            curator=self.log.curator,
            verdict=verdict,
            context_id=self.context.context_id,
            synonym=self.synonym,
            distractor=self.distractor,
            reason=reason,
            note=note.strip(),
            at=self._clock(),
            through="bench",
        )
        self.log.append(check_decision(decision, self.proposal))
        self.decided[decision.proposal_id] = decision
        self.position = self._next_undecided(self.position + 1)
        self._show_proposal()
        return decision

    def _next_undecided(self, start: int) -> int:
        """The next proposal that is not decided, from *start* on and then from the beginning; behind all if none is."""
        order = [*range(start, len(self.proposals)), *range(min(start, len(self.proposals)))]
        undecided = (place for place in order if self.proposals[place].proposal_id not in self.decided)
        return next(undecided, len(self.proposals))

    def _show_proposal(self) -> None:
        """Begin with what was decided before, else with what is proposed."""
        before, proposed = self.previous_decision, self.proposal
        self.context = proposed.context
        self.synonym, self.distractor = proposed.synonym, proposed.distractor
        if before is not None:
            self.context = proposed.candidate.context(before.context_id) or proposed.context
            self.synonym, self.distractor = before.synonym, before.distractor


def _next_word(words: Sequence[str], word: str, step: int) -> str:
    return words[(words.index(word) + step) % len(words)] if word in words else words[0]
