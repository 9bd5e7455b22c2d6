"""Curation in a spreadsheet: a sheet with a row per proposal goes out, and what was decided comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from lexiscope.build.minimal_pairs.alternatives import Alternative
from lexiscope.build.minimal_pairs.automatic import Proposal
from lexiscope.build.minimal_pairs.candidates import Candidate, Context
from lexiscope.build.minimal_pairs.curation import REASONS, Decision, Verdict, check_decision
from lexiscope.build.minimal_pairs.decision_log import DecisionLog
from lexiscope.items.sheets.form import FilledRow, SheetForm, TextColumn, answer_column, note_column

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
