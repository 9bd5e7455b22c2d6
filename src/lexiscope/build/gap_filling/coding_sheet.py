"""Coding answers to gaps by hand: a sheet with each answer in its context, and codes that are read back.

A row of the sheet is one answer: an item and a text that a subject gave there. The same text of several subjects or
repeats is coded once. The pre-label (:mod:`lexiscope.build.gap_filling.categories`) can be shown to coders, which is
faster, or hidden, without which the agreement of people with it means little. A code is a row ``category`` of its
coder, with the answer as its item; :func:`code_completions` gives each completion the code of its answer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lexiscope.build.gap_filling.categories import CATEGORIES, PreLabel, find_prelabel
from lexiscope.build.gap_filling.gaps import COLUMN_CURATED, COLUMN_PROMPT, COLUMN_SYNSET, MEASURE, SUITE
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import parse_statistic, statistic_name
from lexiscope.items.sheets.form import FilledRow, SheetForm, TextColumn, answer_column, note_column
from lexiscope.resources.lexicons.lexicon import Lexicon

MEASURE_CATEGORY = "category"
_CODER = re.compile(r"[\w.:-]+")


@dataclass(frozen=True, slots=True)
class GapAnswer:
    """One answer to be coded: its item, its text, and what a lexicon proposes (``None``: nothing)."""

    answer_id: str
    item: Item
    text: str
    proposal: PreLabel | None = None


def answers_to_code(
    table: ResponseTable, items: Sequence[Item], *, lexicon: Lexicon | None = None
) -> tuple[GapAnswer, ...]:
    """Return the distinct answers of all completions of a table, in order of first appearance.

    The id of an answer is made of its item and its text alone: other rows in the table change none.
    An item whose sense the lexicon does not know has answers without a proposal.
    Errors: :class:`InputError` for a completion of another item, or where there is none.
    """
    known = {item.item_id: item for item in items}
    answers: dict[str, GapAnswer] = {}
    for row in _completions(table):
        if row.item_id not in known:
            hint = "give the items that were asked"
            raise InputError("a completion belongs to none of the items", place=Place(item_id=row.item_id), hint=hint)
        answer_id = _answer_id(row.item_id, row.raw or "")
        if answer_id not in answers:
            item, text = known[row.item_id], row.raw or ""
            proposal = None if lexicon is None else find_prelabel(item, text, lexicon)
            answers[answer_id] = GapAnswer(answer_id, item, text, proposal)
    if not answers:
        raise InputError("there is no answer to be coded", hint=f"collect the task {SUITE} first")
    return tuple(answers.values())


def write_coding_sheet(
    path: Path | str, answers: Sequence[GapAnswer], *, proposals: Literal["shown", "hidden"] = "shown"
) -> None:
    """Write the sheet of some answers; coders write one of the categories under ``code``.

    Errors: :class:`~lexiscope.core.errors.RunError` where the file cannot be written.
    """
    SHEET.write(path, answers if proposals == "shown" else [replace(answer, proposal=None) for answer in answers])


def read_codes(
    path: Path | str,
    answers: Sequence[GapAnswer],
    *,
    coder: str,
    unfinished: Literal["refused", "kept"] = "refused",
) -> ResponseTable:
    """Read a coded sheet: a row per answer, the category in ``option``, the comment in ``raw``.

    With *unfinished* ``kept``, an answer without a code has a row without option.
    Errors: :class:`InputError` E475 (no category), E476 (no code), E505 for a coder whose name cannot be part of a
    measure, and those of :meth:`~lexiscope.items.sheets.form.SheetForm.read`.
    """
    _check_coder(coder)
    return ResponseTable.from_rows([_code(row, coder, unfinished) for row in SHEET.read(path, answers)])


def proposed_codes(answers: Sequence[GapAnswer], *, lexicon_name: str) -> ResponseTable:
    """Return the pre-labels as codes of a coder ``prelabel:<lexicon>``, to be compared with people's.

    An answer without a proposal has a row without a category.
    Errors: :class:`InputError` where no answer has a proposal.
    """
    if all(answer.proposal is None for answer in answers):
        raise InputError("no answer has a proposal", place=Place(item_id=answers[0].item.item_id), hint=_LEXICON)
    row = Response(f"prelabel:{lexicon_name}", "lexicon", "", SUITE, MEASURE_CATEGORY)
    labels = {answer.answer_id: answer.proposal for answer in answers}
    return ResponseTable.from_rows(
        replace(row, item_id=answer_id)
        if label is None
        else replace(row, item_id=answer_id, option=label.category, raw=label.why)
        for answer_id, label in labels.items()
    )


def code_completions(table: ResponseTable, codes: ResponseTable, *, coder: str) -> ResponseTable:
    """Return a row ``category`` for each completion: subject, item and repeat are unchanged, the code is the option.

    The measure says who coded and how the answer was made. An answer without a code has no option.
    Errors: :class:`InputError` E473 where a completion's answer is not among the coder's codes; E505.
    """
    _check_coder(coder)
    of_coder = codes.where(subject_id=coder, measure=MEASURE_CATEGORY)
    by_answer = dict(zip(of_coder.column("item_id").tolist(), of_coder.column("option").tolist(), strict=True))
    rows = []
    for row in _completions(table):
        key = _answer_id(row.item_id, row.raw or "")
        if key not in by_answer:
            what, hint = f"{coder} has no code of the answer {key!r}", "code the answers of this table"
            raise InputError(what, code="E473", place=Place(item_id=row.item_id), hint=hint)
        measure = statistic_name(MEASURE_CATEGORY, coder=coder, **parse_statistic(row.measure)[1])
        rows.append(replace(row, measure=measure, option=by_answer[key], value=None))
    return ResponseTable.from_rows(rows)


def proposed_categories(
    table: ResponseTable, items: Sequence[Item], lexicon: Lexicon
) -> tuple[ResponseTable, tuple[str, ...]]:
    """Return the completions with the category that a lexicon proposes, as of a coder, and the items without any.

    The lexicon does not know the sense of their targets: their completions are excluded.
    Errors: :class:`InputError` for a completion of another item.
    """
    if next(_completions(table), None) is None:
        return ResponseTable.empty(), ()
    answers = answers_to_code(table, items, lexicon=lexicon)
    unknown = {answer.item.item_id for answer in answers if answer.proposal is None}
    if len(unknown) == len({answer.item.item_id for answer in answers}):
        return ResponseTable.empty(), tuple(sorted(unknown))
    codes = proposed_codes(answers, lexicon_name=lexicon.name)
    coded = code_completions(table, codes, coder=codes.unique("subject_id")[0])
    known = tuple(item_id for item_id in coded.unique("item_id") if item_id not in unknown)
    return coded.where(item_id=known), tuple(sorted(unknown))


def read_codings(
    paths: Sequence[Path | str], table: ResponseTable, items: Sequence[Item], lexicon: Lexicon | None
) -> tuple[ResponseTable, dict[str, ResponseTable]]:
    """Read the sheets of several coders of the completions of a table, each named after its coder.

    Returned are all codes, and by coder those of every completion (:func:`code_completions`). What a *lexicon* proposes
    is one more coder.
    Errors: those of :func:`read_codes`; :class:`InputError` for two sheets of one name.
    """
    answers = answers_to_code(table, items, lexicon=lexicon)
    coders = {Path(path).stem: path for path in paths}
    if len(coders) < len(paths):
        raise InputError("two coded sheets have the same file name", hint="name each file after its coder")
    read = [read_codes(path, answers, coder=coder) for coder, path in coders.items()]
    if lexicon is not None and any(answer.proposal for answer in answers):
        read.append(proposed_codes(answers, lexicon_name=lexicon.name))
    codes = ResponseTable.concat(read)
    return codes, {coder: code_completions(table, codes, coder=coder) for coder in codes.unique("subject_id")}


_LEXICON = "make the answers with a lexicon"


def _completions(table: ResponseTable) -> Iterator[Response]:
    for row in table.rows():
        if parse_statistic(row.measure)[0] == MEASURE and row.raw is not None:
            yield row


def _answer_id(item_id: str, text: str) -> str:
    digest = hashlib.sha256(f"{item_id}\0{text}".encode()).hexdigest()
    return f"{item_id}#{digest[:10]}"


def _category(text: str) -> str:
    code = text.casefold().replace(" ", "_")
    if code and code not in CATEGORIES:
        raise InputError(f"{text!r} is not a category", code="E475", hint=f"use {', '.join(CATEGORIES)}")
    return code


def _condition(name: str) -> TextColumn[GapAnswer]:
    return TextColumn(name, lambda answer: str(answer.item.conditions.get(name, "")))


def _proposal_column(name: str, part: str) -> TextColumn[GapAnswer]:
    return note_column(name, lambda answer: "" if answer.proposal is None else getattr(answer.proposal, part))


SHEET: SheetForm[GapAnswer] = SheetForm(
    "a coding sheet",
    (
        TextColumn("answer_id", lambda answer: answer.answer_id),
        TextColumn("sentence", lambda answer: answer.item.usages[0].bracketed),
        *(_condition(name) for name in (COLUMN_PROMPT, COLUMN_CURATED, COLUMN_SYNSET)),
        TextColumn("completion", lambda answer: answer.text),
        _proposal_column("proposed", "category"),
        _proposal_column("proposed_answer", "answer"),
        _proposal_column("why", "why"),
        answer_column("code", _category),
        answer_column("comment"),
    ),
    key="answer_id",
)
"""The columns of the sheet."""


def _code(row: FilledRow[GapAnswer], coder: str, unfinished: str) -> Response:
    if not row.values["code"] and unfinished == "refused":
        row.refuse("code", "this answer has no code", code="E476", hint="code it, or read the sheet as unfinished")
    return Response(
        subject_id=coder,
        subject_kind="participant",
        item_id=row.thing.answer_id,
        task=SUITE,
        measure=MEASURE_CATEGORY,
        option=row.values["code"] or None,
        raw=row.values["comment"] or None,
    )


def _check_coder(coder: str) -> None:
    if not _CODER.fullmatch(coder):
        hint = "use letters, digits and . : _ -; a code, not a full name"
        raise InputError(f"{coder!r} cannot be the name of a coder", code="E505", hint=hint)
