"""The tables of a build: candidates, their contexts, and what is proposed; written once, read by every later step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from lexiscope.build.minimal_pairs.alternatives import Alternative
from lexiscope.build.minimal_pairs.automatic import Proposal
from lexiscope.build.minimal_pairs.candidates import Candidate, Context
from lexiscope.core.errors import InputError, LexiscopeError, Place
from lexiscope.core.foreign import parse_json
from lexiscope.items.sheets.form import SheetForm, TextColumn
from lexiscope.items.tables.spreadsheet import SheetRow, read_sheet
from lexiscope.resources.lexicons.lexicon import POS_NAMES

CANDIDATES, CONTEXTS, PROPOSALS = "candidates.csv", "contexts.csv", "proposals.csv"


def write_candidates(folder: Path, candidates: Sequence[Candidate]) -> None:
    """Write candidates and their contexts; synonyms and distractors are in their cells as JSON."""
    _CANDIDATE.write(folder / CANDIDATES, candidates)
    _CONTEXT.write(
        folder / CONTEXTS, [(candidate, context) for candidate in candidates for context in candidate.contexts]
    )


def write_proposals(folder: Path, proposals: Sequence[Proposal], *, language: str = "en") -> None:
    """Write what is proposed: one row per proposal."""
    _proposals(language).write(folder / PROPOSALS, proposals)


def read_candidates(folder: Path) -> tuple[Candidate, ...]:
    """Read what :func:`write_candidates` wrote.

    Errors: :class:`InputError` E468 with file and line where the tables are damaged or do not belong together; those of
    :func:`~lexiscope.items.tables.spreadsheet.read_sheet`.
    """
    contexts: dict[str, list[Context]] = {}
    for row in read_sheet(_table(folder, CONTEXTS), _CONTEXT.header, what=_CONTEXT.what):
        contexts.setdefault(row.cells["sense"], []).append(_context(row))
    candidates = []
    for row in read_sheet(_table(folder, CANDIDATES), _CANDIDATE.header, what=_CANDIDATE.what):
        candidates.append(_candidate(row, contexts.pop(row.cells["sense"], [])))
    if contexts:
        what = f"there are contexts of {next(iter(contexts))!r}, which is not a candidate"
        raise InputError(what, code="E468", place=Place(str(folder / CONTEXTS)), hint=_AGAIN)
    return tuple(candidates)


def read_proposals(folder: Path) -> tuple[Proposal, ...]:
    """Read what :func:`write_proposals` wrote, with their candidates.

    Errors: those of :func:`read_candidates`; :class:`InputError` E468 for a proposal without a candidate.
    """
    candidates = {candidate.sense: candidate for candidate in read_candidates(folder)}
    form = _proposals("en")
    rows = read_sheet(_table(folder, PROPOSALS), form.header, what=form.what)
    return tuple(_proposal(row, candidates) for row in rows)


_POS_NAMED = {name: pos for pos, name in POS_NAMES.items()}
_AGAIN = "the tables were changed by hand or are of two builds: build them again"


def _table(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        hint = "name the folder that lexiscope build minimal-pairs wrote"
        raise InputError(f"this folder holds no {name}", code="E468", place=Place(str(folder)), hint=hint)
    return folder / name


def _json(alternatives: Sequence[Alternative]) -> str:
    return json.dumps([asdict(alternative) for alternative in alternatives], ensure_ascii=False)


_CANDIDATE: SheetForm[Candidate] = SheetForm(
    "a table of candidates",
    (
        TextColumn("sense", lambda candidate: candidate.sense),
        TextColumn("word", lambda candidate: candidate.word),
        TextColumn("gloss", lambda candidate: candidate.gloss),
        TextColumn("sense_number", lambda candidate: str(candidate.sense_number)),
        TextColumn("n_senses", lambda candidate: str(candidate.n_senses)),
        TextColumn("n_contexts", lambda candidate: str(len(candidate.contexts))),
        TextColumn("synset", lambda candidate: " ".join(candidate.synset)),
        TextColumn("synonyms", lambda candidate: _json(candidate.synonyms)),
        TextColumn("distractors", lambda candidate: _json(candidate.distractors)),
        TextColumn("pos", lambda candidate: POS_NAMES[candidate.pos]),
    ),
    key="sense",
)
_CONTEXT: SheetForm[tuple[Candidate, Context]] = SheetForm(
    "a table of contexts",
    (
        TextColumn("context_id", lambda pair: pair[1].context_id),
        TextColumn("sense", lambda pair: pair[0].sense),
        TextColumn("sentence_id", lambda pair: pair[1].sentence_id),
        TextColumn("start", lambda pair: str(pair[1].start)),
        TextColumn("end", lambda pair: str(pair[1].end)),
        TextColumn("tokenised", lambda pair: "yes" if pair[1].tokenised else "no"),
        TextColumn("flagged", lambda pair: " ".join(pair[1].flagged)),
        TextColumn("place", lambda pair: str(pair[1].place)),
        TextColumn("text", lambda pair: pair[1].text),
    ),
    key="context_id",
)


def _proposals(language: str) -> SheetForm[Proposal]:
    return SheetForm(
        "a table of proposals",
        (
            TextColumn("proposal_id", lambda proposal: proposal.proposal_id),
            TextColumn("word", lambda proposal: proposal.candidate.word),
            TextColumn("sense", lambda proposal: proposal.candidate.sense),
            TextColumn("context_id", lambda proposal: proposal.context.context_id),
            TextColumn("synonym", lambda proposal: proposal.synonym),
            TextColumn("distractor", lambda proposal: proposal.distractor),
            TextColumn("marked", lambda proposal: proposal.context.bracketed_text(language=language)),
        ),
        key="proposal_id",
    )


def _context(row: SheetRow) -> Context:
    cells = row.cells
    try:
        return Context(
            context_id=cells["context_id"],
            sentence_id=cells["sentence_id"],
            text=cells["text"],
            start=int(cells["start"]),
            end=int(cells["end"]),
            tokenised=cells["tokenised"] == "yes",
            flagged=tuple(cells["flagged"].split()),
            place=int(cells["place"]),
        )
    except ValueError as error:
        raise _damage_error(row, "start", error) from error


def _candidate(row: SheetRow, contexts: Sequence[Context]) -> Candidate:
    cells = row.cells
    try:
        if len(contexts) != int(cells["n_contexts"]):
            raise ValueError(f"it has {len(contexts)} contexts and should have {cells['n_contexts']}")
        return Candidate(
            sense=cells["sense"],
            word=cells["word"],
            gloss=cells["gloss"],
            sense_number=int(cells["sense_number"]),
            n_senses=int(cells["n_senses"]),
            synset=tuple(cells["synset"].split()),
            synonyms=_alternatives(cells["synonyms"]),
            distractors=_alternatives(cells["distractors"]),
            contexts=tuple(contexts),
            pos=_POS_NAMED[cells["pos"]],
        )
    except (ValueError, TypeError, KeyError, LexiscopeError) as error:
        raise _damage_error(row, "sense", error) from error


def _alternatives(cell: str) -> tuple[Alternative, ...]:
    content: list[Mapping[str, object]] = parse_json(cell)
    return tuple(Alternative(**{**fields, "not_with": tuple(fields["not_with"])}) for fields in content)  # type: ignore[arg-type]


def _proposal(row: SheetRow, candidates: Mapping[str, Candidate]) -> Proposal:
    cells = row.cells
    candidate = candidates.get(cells["sense"])
    context = candidate.context(cells["context_id"]) if candidate is not None else None
    if candidate is None or context is None:
        raise _damage_error(row, "sense", LexiscopeError("its sense or its context does not belong to a candidate"))
    return Proposal(cells["proposal_id"], candidate, context, cells["synonym"], cells["distractor"])


def _damage_error(row: SheetRow, column: str, error: Exception) -> InputError:
    return InputError("this row is damaged", code="E468", place=row.place(column), why=str(error), hint=_AGAIN)
