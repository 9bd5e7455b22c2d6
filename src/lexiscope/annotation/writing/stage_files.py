"""Write and read the files between two stages: the next study's items, the texts with verdicts, the precontexts.

The next study names the item file and nothing else: :func:`lexiscope.annotation.study_file.items.study_items` reads
the same items from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lexiscope.annotation.store.record import Review
from lexiscope.annotation.writing.review import NOT_REVIEWED, WrittenText, latest_reviews
from lexiscope.annotation.writing.stages import setup_id_of
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item, check_unique_ids
from lexiscope.core.run import csv_lines
from lexiscope.items.tables.neutral import csv_text
from lexiscope.items.tables.spreadsheet import is_live
from lexiscope.resources.tables.rows import RowReader

Cells = dict[str, str | int]

SENTENCE_COLUMNS = (
    *("setup_id", "pair_id", "form", "sense1", "sense2", "skips"),
    *("sentence_raw", "sentence_clean", "status", "reason", "precontext"),
)
"""The table of written sentences. ``precontext`` is empty: to be filled in for accepted sentences."""

ENDING_COLUMNS = ("setup_id", "intended_sense", "ending_raw", "ending_clean", "status", "reason")
"""The table of written endings."""

_USAGE_COLUMNS = ("item_id", "sentence_1", "start_1", "end_1", "target", "word", "language")


def item_file(items: Sequence[Item]) -> str:
    """Return items of one usage each as the item file of a study: every condition is a column of its own name.

    Texts are written unchanged, even if a spreadsheet would run one as a formula: the file is made to be read back.
    Errors: :class:`InputError` E650 for no items, items of several usages or with different conditions, and for what
    the file would not give back: a condition that is no text or is named like a column of the target, a sense, a part
    of speech; E403 for a repeated id.
    """
    check_unique_ids(tuple(items))
    names = list(items[0].conditions) if items else []
    for item in items:
        _check_writable(item, names)
    if not items:
        raise InputError("there are no items to write", code="E650", hint="accept texts first")
    rows = []
    for item in items:
        usage = item.usages[0]
        span = (str(usage.start), str(usage.end))
        cells = (item.item_id, usage.text, *span, usage.target, usage.lemma or "", usage.language)
        rows.append([*cells, *(str(item.conditions[name]) for name in names)])
    # everything quoted: a bare carriage return in a text is given back only inside quotes
    return csv_lines([*_USAGE_COLUMNS, *names], rows, quote_all=True)


def sentence_table(answers: Iterable[WrittenText], reviews: Iterable[Review], pool: Mapping[str, Item]) -> str:
    """Return every written sentence as CSV, raw and clean, with its verdict (columns: :data:`SENTENCE_COLUMNS`).

    Text that a spreadsheet would run begins with an apostrophe. The clean text is empty where none was accepted.
    """
    decided = latest_reviews(reviews)
    rows: list[Cells] = []
    for answer in answers:
        name, item = answer.item_id, pool[answer.item_id]
        row: Cells = {"setup_id": setup_id_of(name, answer.answer_id), "pair_id": name, "skips": answer.skips}
        row |= {"form": item.usages[0].target, **{f"sense{n}": str(item.condition(f"sense_{n}")) for n in (1, 2)}}
        rows.append(row | _text_cells(answer, decided, "sentence"))
    return _csv_table(SENTENCE_COLUMNS, rows)


def ending_table(answers: Iterable[WrittenText], reviews: Iterable[Review], asked: Mapping[str, Item]) -> str:
    """Return every written ending as CSV, raw and clean, with its verdict (columns: :data:`ENDING_COLUMNS`)."""
    decided = latest_reviews(reviews)
    rows: list[Cells] = []
    for answer in answers:
        item = asked[answer.item_id]
        row: Cells = {"setup_id": str(item.condition("setup")), "intended_sense": str(item.condition("sense"))}
        rows.append(row | _text_cells(answer, decided, "ending"))
    return _csv_table(ENDING_COLUMNS, rows)


def read_precontexts(path: Path | str) -> dict[str, str]:
    """Return the precontexts in a table with the columns ``setup_id`` and ``precontext``; empty ones are left out.

    The table of :func:`sentence_table` serves once it is filled in; it may come back from a spreadsheet.
    Errors: :class:`InputError` E651 where a column is missing or a setup has two; those of the row reader.
    """
    reader = RowReader(path)
    rows = reader.rows()
    header = next(rows, None)
    indices = {name: index for index, name in enumerate(reader.header)}
    if header is None or not {"setup_id", "precontext"} <= set(indices):
        place = header.place() if header is not None else Place(str(path))
        raise InputError("not a table of precontexts: it needs setup_id and precontext", code="E651", place=place)
    precontexts: dict[str, str] = {}
    for row in rows:
        setup_id, text = (row.fields[indices[name]].strip() for name in ("setup_id", "precontext"))
        setup_id = strip_apostrophe(setup_id)
        if not text:
            continue
        if setup_id in precontexts:
            place = row.place(indices["setup_id"], width=len(setup_id))
            raise InputError(f"the setup {setup_id!r} has two precontexts", code="E651", place=place, hint="keep one")
        precontexts[setup_id] = text
    return precontexts


def strip_apostrophe(text: str) -> str:
    """Return a cell without the apostrophe that kept a spreadsheet from running it as a formula."""
    return text[1:] if text.startswith("'") and is_live(text[1:]) else text


def _check_writable(item: Item, names: Sequence[str]) -> None:
    usage = item.usages[0]
    what = ""
    if len(item.usages) != 1 or usage.sense is not None or usage.pos is not None:
        what = "the file holds one usage of an item, without sense id and part of speech"
    elif list(item.conditions) != list(names):
        what = "the items of one file have the same conditions in the same order"
    elif not all(isinstance(value, str) for value in item.conditions.values()):
        what = "the conditions in the file are texts"
    elif set(names) & set(_USAGE_COLUMNS):
        what = f"no condition is called {sorted(set(names) & set(_USAGE_COLUMNS))[0]!r} in the file"
    if what:
        raise InputError(what, code="E650", place=Place(item_id=item.item_id))


def _text_cells(answer: WrittenText, decided: Mapping[int, Review], what: str) -> Cells:
    review = decided.get(answer.answer_id)
    status, reason = (review.verdict, review.reason) if review is not None else (NOT_REVIEWED, "")
    clean = answer.text if review is None or review.text is None else review.text
    return {
        f"{what}_raw": answer.text,
        f"{what}_clean": clean if status == "accepted" else "",
        "status": status,
        "reason": reason,
    }


def _csv_table(columns: Sequence[str], rows: Iterable[Cells]) -> str:
    return csv_text(columns, ([row.get(name) for name in columns] for row in rows))
