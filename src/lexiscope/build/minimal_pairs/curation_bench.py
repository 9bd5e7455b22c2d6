"""Where curators decide: at the bench, one proposal after the other, or in a spreadsheet.

The bench has no face: the terminal shows it; another face could. Every decision is on the disk before the next proposal
is looked at. The spreadsheet has a row per proposal; it goes out, and what was decided comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from lexiscope.build.minimal_pairs.alternatives import Alternative
from lexiscope.build.minimal_pairs.automatic import Proposal
from lexiscope.build.minimal_pairs.candidates import Candidate, Context
from lexiscope.build.minimal_pairs.curation import REASONS, Decision, Verdict, check_decision
from lexiscope.build.minimal_pairs.decision_log import DecisionLog
from lexiscope.core.errors import InputError
from lexiscope.items.sheets.form import FilledRow, SheetForm, TextColumn, answer_column, note_column


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


_MOST_CONTEXTS = 5


def write_curation_sheet(
    path: Path, proposals: Sequence[Proposal], decisions: Mapping[str, Decision], *, language: str = "en"
) -> None:
    """Write the sheet: what is proposed, the other words and contexts, and *decisions* that were made before.

    At most five contexts are written out; any other context of the candidate may be named too.
    """
    curation_sheet(language).write(path, [(proposal, decisions.get(proposal.proposal_id)) for proposal in proposals])


def read_curation_sheet(path: Path, proposals: Sequence[Proposal], *, curator: str, at: str) -> tuple[Decision, ...]:
    """Return the decisions in a sheet that came back; rows without a verdict are undecided.

    Nothing is written: a sheet with one bad row changes nothing. Capitals and blanks round a verdict, a reason, an id
    or a word do not count; an empty context or word is the one that was proposed.

    Errors: :class:`InputError` with file and line: E463 to E465 (see
    :func:`~lexiscope.build.minimal_pairs.curation.check_decision`), and those of
    :meth:`~lexiscope.items.sheets.form.SheetForm.read`.
    """
    rows = curation_sheet().read(path, [(proposal, None) for proposal in proposals], complete=False)
    decisions = (_decision(row, row.thing[0], curator, at) for row in rows)
    return tuple(decision for decision in decisions if decision is not None)


def append_new_decisions(log: DecisionLog, decisions: Sequence[Decision], proposals: Sequence[Proposal]) -> int:
    """Append the decisions that say something else than the latest ones; return how many these are.

    Errors: those of :class:`~lexiscope.build.minimal_pairs.decision_log.DecisionLog`.
    """
    latest = log.latest(proposals)
    known = {key: decision.content for key, decision in latest.items()}
    new = [decision for decision in decisions if known.get(decision.proposal_id) != decision.content]
    for decision in new:
        log.append(decision)
    return len(new)


_Curated = tuple[Proposal, Decision | None]
"""A proposal with what was decided on it before."""


def curation_sheet(language: str = "en") -> SheetForm[_Curated]:
    """Return the form of the sheet: the columns that a curator fills in are before those that are there to be read."""

    def before(name: str) -> Callable[[_Curated], str]:
        return lambda curated: getattr(curated[1], name) if curated[1] is not None else ""

    def chosen(name: str) -> Callable[[_Curated], str]:
        return lambda curated: getattr(curated[1] or curated[0], name)

    def context(curated: _Curated) -> Context:
        proposal, decision = curated
        decided = proposal.candidate.context(decision.context_id) if decision is not None else None
        return decided or proposal.context

    def marked(name: str) -> Callable[[_Curated], str]:
        def text(curated: _Curated) -> str:
            # a control has no distractor
            word = chosen(name)(curated)
            return context(curated).bracketed_text(word, language=language) if word else ""

        return text

    def glosses(curated: _Curated) -> str:
        return "\n".join(f"{distractor.word}: {distractor.gloss}" for distractor in curated[0].candidate.distractors)

    return SheetForm(
        "a curation sheet",
        (
            TextColumn("proposal", lambda curated: curated[0].proposal_id),
            answer_column("verdict", _lower, before("verdict")),
            answer_column("reason", _lower, before("reason")),
            answer_column("note", str.strip, before("note")),
            answer_column("context", str.strip, lambda curated: (curated[1] or curated[0].context).context_id),
            answer_column("synonym", str.strip, chosen("synonym")),
            answer_column("distractor", str.strip, chosen("distractor")),
            note_column("word", lambda curated: curated[0].candidate.word),
            note_column("sense", lambda curated: _sense(curated[0].candidate)),
            note_column("sentence", lambda curated: context(curated).bracketed_text(language=language)),
            note_column("with_synonym", marked("synonym")),
            note_column("with_distractor", marked("distractor")),
            note_column("distractor_senses", glosses),
            note_column("other_words", lambda curated: _other_words(curated[0].candidate)),
            note_column("contexts", lambda curated: _contexts(curated[0], language)),
        ),
        key="proposal",
    )


def _lower(text: str) -> str:
    return text.strip().lower()


def _sense(candidate: Candidate) -> str:
    return f"{candidate.sense} (sense {candidate.sense_number} of {candidate.n_senses}): {candidate.gloss}"


def _other_words(candidate: Candidate) -> str:
    return (
        f"synonyms: {_words_with_counts(candidate.synonyms)}\ndistractors: {_words_with_counts(candidate.distractors)}"
    )


def _words_with_counts(words: Sequence[Alternative]) -> str:
    return ", ".join(f"{word.word} ({word.count})" for word in words)


def _contexts(proposal: Proposal, language: str) -> str:
    others = [context for context in proposal.candidate.contexts if context.context_id != proposal.context.context_id]
    lines = [
        f"{context.context_id}: {context.bracketed_text(language=language)}" for context in others[:_MOST_CONTEXTS]
    ]
    more = len(others) - len(lines)
    return "\n".join([*lines, *([f"and {more} more in contexts.csv"] if more > 0 else [])])


def _decision(row: FilledRow[_Curated], proposal: Proposal, curator: str, at: str) -> Decision | None:
    cells = row.values
    if not cells["verdict"]:
        if cells["reason"]:
            what, hint = "there is a reason and no verdict", f"write reject, or clear the reason ({', '.join(REASONS)})"
            row.refuse("verdict", what, code="E463", hint=hint)
        return None
    decision = Decision(
        proposal_id=proposal.proposal_id,
        curator=curator,
        verdict=cast(Verdict, cells["verdict"]),
        context_id=cells["context"] or proposal.context.context_id,
        synonym=cells["synonym"] or proposal.synonym,
        distractor=cells["distractor"] or proposal.distractor,
        reason=cells["reason"],
        note=cells["note"],
        at=at,
        through="sheet",
    )
    return check_decision(decision, proposal, place=row.row.place("verdict"))
