"""Curation in a spreadsheet: a sheet with a row per proposal goes out, and what was decided comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from lexiscope.build.minimal_pairs.alternatives import Alternative
from lexiscope.build.minimal_pairs.automatic import Proposal
from lexiscope.build.minimal_pairs.curation import REASONS, Decision, Verdict, check_decision
from lexiscope.build.minimal_pairs.decision_log import DecisionLog
from lexiscope.core.errors import InputError
from lexiscope.items.tables.spreadsheet import SheetRow, read_sheet, write_sheet

FILLED = ("verdict", "reason", "note", "context", "synonym", "distractor")
"""The columns that a curator fills in; the last three hold what is proposed."""

SHOWN = ("word", "sense", "sentence", "with_synonym", "with_distractor", "distractor_senses", "other_words", "contexts")
"""The columns that a curator reads."""

_MOST_CONTEXTS = 5


def write_curation_sheet(
    path: Path, proposals: Sequence[Proposal], decisions: Mapping[str, Decision], *, language: str = "en"
) -> None:
    """Write the sheet: what is proposed, the other words and contexts, and *decisions* that were made before.

    At most five contexts are written out; any other context of the candidate may be named too.
    """
    rows = [_row(one, decisions.get(one.proposal_id), language) for one in proposals]
    write_sheet(path, ("proposal", *FILLED, *SHOWN), rows)


def read_curation_sheet(path: Path, proposals: Sequence[Proposal], *, curator: str, at: str) -> tuple[Decision, ...]:
    """Return the decisions in a sheet that came back; rows without a verdict are undecided.

    Nothing is written: a sheet with one bad row changes nothing. Capitals and blanks round a verdict, a reason, an id
    or a word do not count; an empty context or word is the one that was proposed.

    Errors: :class:`InputError` with file and line: E006 (not such a sheet), E462 (an unknown proposal, or one that
    stands twice), E463 to E465 (see :func:`~lexiscope.build.minimal_pairs.curation.check_decision`), and those of the
    row reader.
    """
    known = {one.proposal_id: one for one in proposals}
    lines: dict[str, int] = {}
    found = []
    for row in read_sheet(path, ("proposal", *FILLED), what="a curation sheet"):
        key = row.cells["proposal"].strip()
        if key not in known:
            hint = "read the sheet into the folder that it was written from; do not change the first column"
            raise InputError(f"there is no proposal {key!r}", code="E462", place=row.place("proposal"), hint=hint)
        if key in lines:
            what = f"the proposal {key!r} stands in line {lines[key]} too"
            raise InputError(what, code="E462", place=row.place("proposal"), hint="remove one of the two rows")
        lines[key] = row.row.line
        decision = _decision(row, known[key], curator, at)
        if decision is not None:
            found.append(decision)
    return tuple(found)


def take_in(log: DecisionLog, decisions: Sequence[Decision], proposals: Sequence[Proposal]) -> int:
    """Append the decisions that say something else than the latest ones; return how many these are.

    Errors: those of :class:`~lexiscope.build.minimal_pairs.decision_log.DecisionLog`.
    """
    latest = log.latest(proposals)
    known = {key: one.content for key, one in latest.items()}
    new = [one for one in decisions if known.get(one.proposal_id) != one.content]
    for one in new:
        log.append(one)
    return len(new)


def _row(one: Proposal, before: Decision | None, language: str) -> list[str]:
    candidate = one.candidate
    chosen = before.choice if before is not None else (one.context.context_id, one.synonym, one.distractor)
    context = candidate.context(chosen[0]) or one.context
    filled = [before.verdict, before.reason, before.note] if before is not None else ["", "", ""]
    sense = f"{candidate.sense} (sense {candidate.sense_number} of {candidate.n_senses}): {candidate.gloss}"
    return [
        one.proposal_id,
        *filled,
        *chosen,
        candidate.word,
        sense,
        context.marked(language=language),
        context.marked(chosen[1], language=language),
        context.marked(chosen[2], language=language),
        "\n".join(f"{each.word}: {each.gloss}" for each in candidate.distractors),
        f"synonyms: {_counted(candidate.synonyms)}\ndistractors: {_counted(candidate.distractors)}",
        _contexts(one, language),
    ]


def _counted(words: Sequence[Alternative]) -> str:
    return ", ".join(f"{each.word} ({each.count})" for each in words)


def _contexts(one: Proposal, language: str) -> str:
    others = [each for each in one.candidate.contexts if each.context_id != one.context.context_id]
    lines = [f"{each.context_id}: {each.marked(language=language)}" for each in others[:_MOST_CONTEXTS]]
    more = len(others) - len(lines)
    return "\n".join([*lines, *([f"and {more} more in contexts.csv"] if more > 0 else [])])


def _decision(row: SheetRow, proposal: Proposal, curator: str, at: str) -> Decision | None:
    cells = {name: row.cells[name].strip() for name in FILLED}
    verdict = cells["verdict"].lower()
    if not verdict:
        if cells["reason"]:
            what, hint = "there is a reason and no verdict", f"write reject, or clear the reason ({', '.join(REASONS)})"
            raise InputError(what, code="E463", place=row.place("verdict"), hint=hint)
        return None
    decision = Decision(
        proposal_id=proposal.proposal_id,
        curator=curator,
        verdict=cast(Verdict, verdict),
        context_id=cells["context"] or proposal.context.context_id,
        synonym=cells["synonym"] or proposal.synonym,
        distractor=cells["distractor"] or proposal.distractor,
        reason=cells["reason"].lower(),
        note=cells["note"],
        at=at,
        through="sheet",
    )
    return check_decision(decision, proposal, place=row.place("verdict"))
