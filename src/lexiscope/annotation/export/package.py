"""The export of a study: one folder with every table and the codebook, written whole or not at all.

The same study gives identical files at any time and in any time zone.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lexiscope.annotation.export.croissant import FILE as CROISSANT
from lexiscope.annotation.export.croissant import croissant
from lexiscope.annotation.export.long_table import (
    JUDGMENTS_FILE,
    LIST_ID,
    excluded_sheet,
    exclusions_sheet,
    items_sheet,
    judgments_sheet,
    orders_sheet,
    people_sheet,
    write_judgments,
)
from lexiscope.annotation.export.pay import pay_sheet
from lexiscope.annotation.export.preregistration import collection_plan, preregistration
from lexiscope.annotation.export.r_script import analysis_script
from lexiscope.annotation.export.study_data import StudyData, responses_without_ids, with_texts
from lexiscope.annotation.study_file.definition import Codes, StudyDefinition
from lexiscope.annotation.study_file.definition_file import definition_yaml
from lexiscope.core import catalog
from lexiscope.core.columnar.lean import release_columns
from lexiscope.core.errors import Place, RunError
from lexiscope.core.response import COLUMNS, SCHEMA, ResponseTable, csv_writer
from lexiscope.core.run import atomic_file, atomic_folder, sha256_of, write_atomically, write_json
from lexiscope.core.simulated import KIND_COLUMN, PARTICIPANT, SIMULATED, SIMULATED_ID, TOLD_SIMULATED
from lexiscope.core.study import MANIFEST, PLAN
from lexiscope.items.sheets.form import Sheet, SheetColumn, marked_simulated, sheet_of
from lexiscope.items.sheets.long_rows import ColumnRows
from lexiscope.items.tables.neutral import Cell, neutral_answer
from lexiscope.items.tables.spreadsheet import neutral_text
from lexiscope.tasks.kit.published_sheets import ITEM_ID, Cells, answers_by_item, number_cells

_INTRODUCTION = """\
# {name}: collected data

{simulated}{agree}

`codebook.csv` describes every column. Participants have random IDs. `judgments` (marked) and `responses` include
excluded participants; the papers' forms, `item_statistics`, `ratings` and `choices` do not.

In CSV files, texts that a spreadsheet would run as a formula begin with an apostrophe. The file of the same name
that ends in `.jsonl` (for the responses: `.parquet`) has the original text.

Tables, by what one row is:
"""
_ABOUT_FILES = """\
- `responses.csv`, `responses.parquet`: one response, including catch trials, checks and excluded participants
- `judgments.parquet`: the judgments as Parquet

Other files: `study.yaml` (the definition, without completion codes), `preregistration.md`, `plan.json` (if questions
were planned: the signed plan and the deviations), `analysis.R` (the planned model, with lme4), `psych_ds/` (the
judgments as a Psych-DS folder), `croissant.json` (every table in Croissant 1.1), `export.json` (counts, and SHA-256 of
every file).
"""
_AGREE = """\
**For agreement: `lexiscope agree {file}`.** `{name}.csv` (`{name}.parquet`) has real items and valid
participants only. Do not use `responses.csv`: it includes catch trials and excluded participants."""
_SIMULATED = f"""\
**Simulated participants.** The study was rehearsed: {TOLD_SIMULATED}. Every table says
so (`participant_kind`, of responses `subject_kind`, is `simulated`), and every participant's id begins with
`{SIMULATED_ID}`. Lexiscope keeps this mark in all that it computes from these files.

"""
_NO_AGREE = "The answers are texts, so there is no table for `lexiscope agree`."


@dataclass(frozen=True, slots=True)
class ExportedPackage:
    """What an export wrote: the folder, its files, and how many participants and judgments are in it.

    ``simulated``: the participants are simulated.
    """

    folder: Path
    files: tuple[str, ...]
    n_participants: int
    n_valid: int
    n_judgments: int
    simulated: bool = False


def write_export(
    collected: StudyData,
    folder: Path,
    *,
    confirm: Callable[[], None] = lambda: None,
    written: Callable[[Path, str], None] = lambda path, name: None,
) -> ExportedPackage:
    """Write the export of a study into a folder; an earlier export there is replaced whole.

    *written* is called with each complete file and its name within the folder, tables first. *confirm* is called before
    the folder has its name, which moves the files; what it raises leaves no export.
    Errors: :class:`RunError` where the folder holds anything else than an export, or cannot be written to; those of the
    planned model and of the rules.
    """
    if folder.exists() and not (folder / MANIFEST).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        what = "This folder is not an export."
        raise RunError(what, place=Place(str(folder)), hint="Name a new folder. No file was written.")
    with atomic_folder(folder) as new:
        tables: set[str] = set()

        def table_written(name: str) -> None:
            tables.add(name)
            written(new / name, name)

        _write_files(collected, new, table_written)
        files = tuple(sorted(str(path.relative_to(new).as_posix()) for path in new.rglob("*") if path.is_file()))
        manifest = {
            "study": collected.definition.name,
            "task": collected.definition.task,
            KIND_COLUMN: SIMULATED if collected.simulated else PARTICIPANT,
            "participants": len(collected.people),
            "valid_participants": len(collected.participant_counts.valid),
            "judgments": len(collected.rows),
            "sha256": {name: sha256_of(new / name) for name in files},
        }
        write_atomically(new / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
        for name in (*files, MANIFEST):
            if name not in tables:
                written(new / name, name)
        confirm()
    counts = len(collected.people), len(collected.participant_counts.valid), len(collected.rows)
    return ExportedPackage(folder, (*files, MANIFEST), *counts, simulated=collected.simulated)


def sheets_of(collected: StudyData) -> Iterator[Sheet]:
    """Yield every table of an export but the response table and the codebook, each made when it is its turn.

    After a rehearsal a column of each says that the participants are simulated; the table of items has no participants.
    """
    made = (judgments_sheet, people_sheet, items_sheet, exclusions_sheet, excluded_sheet, orders_sheet, pay_sheet)
    for make in made:
        sheet = make(collected)
        yield marked_simulated(sheet) if collected.simulated and make is not items_sheet else sheet
    for sheet in wide_sheets(collected):
        yield marked_simulated(sheet) if collected.simulated else sheet


def safe_responses(table: ResponseTable) -> ResponseTable:
    """Return a response table whose text no spreadsheet runs, for its CSV; the Parquet file has the text unchanged."""
    for name in table.arrow.column_names:
        if pa.types.is_string(SCHEMA.field(name).type):
            table = with_texts(table, name, neutral_answer if name in ("raw", "option") else neutral_text)
    return table


def public_definition(definition: StudyDefinition) -> str:
    """Return the definition as a file, without the completion codes: a reader who has one could be paid."""
    return definition_yaml(definition.model_copy(update={"codes": Codes()}))


def _readme(collected: StudyData, for_agree: str, sheets: Sequence[Sheet]) -> str:
    tables = [f"- `{sheet.file}`: {sheet.row_is}" for sheet in sheets]
    views = collected.definition.views
    file = f"{for_agree}.csv" + (f" --view {views[0]}" if len(views) > 1 else "")
    introduction = _INTRODUCTION.format(
        name=collected.definition.name,
        simulated=_SIMULATED if collected.simulated else "",
        agree=_AGREE.format(file=file, name=for_agree) if for_agree else _NO_AGREE,
    )
    return "\n".join([introduction, *tables, "", _ABOUT_FILES])


def _write_files(collected: StudyData, folder: Path, table_written: Callable[[str], None]) -> None:
    # of a table that is written, only its description is kept
    described: list[Sheet] = []
    book_rows: list[Cells] = []

    def describe_written(sheet: Sheet) -> None:
        book_rows.extend(codebook_rows(sheet))
        described.append(replace(sheet, rows=()))

    for sheet in _write_responses(collected, folder):
        table_written(sheet.file)
        describe_written(sheet)
    for_agree = described[1].file.removesuffix(".csv") if len(described) > 1 else ""
    for sheet in sheets_of(collected):
        _write_blocks(folder / sheet.file, sheet.csv_blocks())
        table_written(sheet.file)
        _write_blocks((folder / sheet.file).with_suffix(".jsonl"), sheet.jsonl_blocks())
        table_written(Path(sheet.file).with_suffix(".jsonl").name)
        describe_written(sheet)
        if sheet.file == JUDGMENTS_FILE:
            _write_psych_ds(collected, sheet, folder)
    book = codebook(book_rows)
    write_atomically(folder / book.file, book.csv())
    rows = [dict(zip(book.header, row, strict=True)) for row in book.rows]
    write_atomically(folder / "codebook.json", json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
    write_judgments(collected, folder / "judgments.parquet")
    write_atomically(folder / "analysis.R", analysis_script(collected))
    plan = preregistration(collected.definition, collected.design, simulated=collected.simulated)
    write_atomically(folder / "preregistration.md", plan)
    signed = collection_plan(collected)
    if signed is not None:
        write_json(folder / PLAN, asdict(signed))
    write_atomically(folder / "study.yaml", public_definition(collected.definition))
    write_atomically(folder / "README.md", _readme(collected, for_agree, (*described[1:], book)))
    release_file = catalog.screen(collected.definition.task).release
    if release_file is not None:
        name, release = release_file
        write_atomically(folder / name, release(collected))
    # every table as it is on disk now, its checksum included
    write_atomically(folder / CROISSANT, croissant(collected, (*described, book), folder))


def _write_responses(collected: StudyData, folder: Path) -> Iterator[Sheet]:
    """Write the response table, and that for ``lexiscope agree``; yield each as a sheet when it is written."""
    ids, responses = collected.platform_ids, collected.responses.pieces()
    table = ResponseTable.on_disk(responses_without_ids(piece, ids) for piece in responses)
    _write_table(table, folder / "responses")
    yield responses_sheet(table)
    name, table = _table_for_agree(collected, table) or ("", table)
    if name:
        _write_table(table, folder / name)
        row_is = f"one of the valid {name}: a real item, a valid participant. The file for `lexiscope agree`"
        yield responses_sheet(table, f"{name}.csv", row_is)


def _write_table(table: ResponseTable, path: Path) -> None:
    table.write_parquet(path.with_suffix(".parquet"))
    release_columns()
    with csv_writer(path.with_suffix(".csv")) as write:
        for piece in table.pieces():
            write(safe_responses(piece))
    release_columns()


def _write_blocks(path: Path, blocks: Iterable[bytes | pa.Buffer]) -> None:
    with atomic_file(path) as stream:
        for block in blocks:
            stream.write(block)
    release_columns()


def _table_for_agree(collected: StudyData, responses: ResponseTable) -> tuple[str, ResponseTable] | None:
    """Return the table for ``lexiscope agree`` with its name (ratings, choices); ``None`` if the answers are texts.

    It holds the answers of valid participants to real items in the trials, and no others.
    """
    table = ResponseTable.on_disk(map(collected.item_answers_in, responses.pieces()))
    if collected.measure == RATING:
        return "ratings", table
    chosen = any(option is not None for option in table.column("option"))
    return ("choices", table) if chosen or collected.measure == "choice" else None


# -- wide forms -----------------------------------------------------------------------------------------------------
# The wide tables of a study: those in which its task is published, and one row per item and view with its answers.
#
# The latter has mean, SD, median and n of ratings; vote shares, majority and tie of choices. Only answers that count
# are in both: to items, in the trials, of people who finished and are not excluded.


RATING = "rating"
"""The measure of answers that are numbers on a scale."""
_ITEM_COLUMNS = (
    ITEM_ID,
    SheetColumn("view", "what was shown of it", "category"),
    SheetColumn("word", "what items are grouped by", "id"),
    SheetColumn("n", "answers that count", "integer", low=0),
)
_VOTE_COLUMNS = (
    SheetColumn("majority", "the answer given most often; empty where two are tied", "text", answer=True),
    SheetColumn("majority_share", "share of the answers that the most frequent one has", "number", low=0, high=1),
    SheetColumn("tie", "two answers are the most frequent ones", "truth"),
    SheetColumn("vote_shares", "share of every answer: answer=share, joined by ' | '", "text"),
)


def wide_sheets(collected: StudyData) -> tuple[Sheet, ...]:
    """Return the wide tables of a study: those of its task's paper, and one row per item with its statistics."""
    published = catalog.screen(collected.definition.task).published
    own = published(collected) if published is not None else ()
    return (*own, *_statistics_sheets(collected))


def _statistics_sheets(collected: StudyData) -> tuple[Sheet, ...]:
    """Return the items with their statistics; none if the answers are texts, which have no mean and no vote."""
    answers = collected.valid_rows
    if answers and not len(answers.table("response").column(0).drop_null()):
        return ()
    own = (table.where(measure=collected.measure).column("value") for table in collected.responses.pieces())
    values = [not np.isnan(numbers).all() for numbers in own if len(numbers)]
    # in the response table a number is a value and an option is not; while it is empty, the measure says which
    numeric = any(values) if values else collected.measure == RATING
    by_item = answers_by_item(collected)
    rows: list[Cells] = []
    for view in dict.fromkeys(collected.definition.views):
        for item in collected.design.items:
            given = by_item.get((item.item_id, view), ())
            cells = number_cells([float(answer) for answer in given]) if numeric else vote_cells(given)
            rows.append({"item_id": item.item_id, "view": view, "word": item.word, "n": len(given), **cells})
    columns = (*_ITEM_COLUMNS, *(_scale_columns(collected) if numeric else _VOTE_COLUMNS))
    return (sheet_of("item_statistics.csv", "one item in one view", columns, rows),)


def vote_cells(answers: Sequence[str]) -> Cells:
    """Return the majority, its share, whether it is tied, and the share of every answer.

    >>> vote_cells(["t", "t", "f"])["majority"], vote_cells(["t", "f"])["tie"]
    ('t', True)
    """
    counts = sorted(Counter(answers).items(), key=lambda pair: (-pair[1], pair[0]))
    if not counts:
        return {"majority": None, "majority_share": None, "tie": None, "vote_shares": None}
    tie = len(counts) > 1 and counts[0][1] == counts[1][1]
    shares = " | ".join(f"{answer}={votes / len(answers):.4f}" for answer, votes in counts)
    top = counts[0][1] / len(answers)
    return {"majority": None if tie else counts[0][0], "majority_share": top, "tie": tie, "vote_shares": shares}


def _scale_columns(collected: StudyData) -> tuple[SheetColumn, ...]:
    low, high = collected.scale.low, collected.scale.high
    return (
        SheetColumn("mean", "mean of the ratings", "number", "points", low, high),
        SheetColumn("sd", "standard deviation of the ratings (n − 1); empty below two ratings", "number", "points", 0),
        SheetColumn("median", "median of the ratings", "number", "points", low, high),
    )


# -- the judgments as a Psych-DS folder: a described CSV file that archives of psychology can index -----------------
# *Source:* Psych-DS, the schema of the Society for the Improvement of Psychological Science (dataset_description.json
# in schema.org terms, data files under ``data/`` named ``keyword-value_data.csv``).


FOLDER = "psych_ds"
DESCRIPTION = "dataset_description.json"
_KINDS = {"integer": "Integer", "number": "Float", "truth": "Boolean", "time": "DateTime"}


def _write_psych_ds(collected: StudyData, judgments: Sheet, folder: Path) -> None:
    """Write the folder of Psych-DS into that of an export, whose judgments are its data."""
    data = f"data/study-{plain_name(collected.definition.name)}_data.csv"
    description = json.dumps(describe(collected, judgments), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    write_atomically(folder / FOLDER / DESCRIPTION, description)
    write_atomically(folder / FOLDER / "README.md", _psych_ds_readme(collected, data))
    with (folder / judgments.file).open("rb") as source, atomic_file(folder / FOLDER / data) as copy:
        shutil.copyfileobj(source, copy)


def plain_name(name: str) -> str:
    """Return a study's name in letters and digits, as a value in a file's name must be.

    >>> plain_name("saw-c_2"), plain_name("词")
    ('sawc2', 'unnamed')
    """
    return re.sub(r"[^A-Za-z0-9]", "", name) or "unnamed"


def describe(collected: StudyData, judgments: Sheet) -> dict[str, Any]:
    """Return the description of the dataset in schema.org terms."""
    definition = collected.definition
    about = f"Judgments of the task {definition.task}, one row per judgment, with the participants' random ids."
    marks = []
    if collected.simulated:
        about, marks = f"SIMULATED PARTICIPANTS: {TOLD_SIMULATED}. {about}", ["simulated participants"]
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": definition.texts.title or definition.name,
        "alternateName": definition.name,
        "description": f"{about} Collected with Lexiscope.",
        "inLanguage": definition.language,
        "keywords": ["word meaning", definition.task, *(marks or ["human judgments"])],
        "variableMeasured": [_variable(judgments, column) for column in judgments.columns],
    }


def _variable(sheet: Sheet, column: SheetColumn) -> dict[str, Any]:
    low, high = range_of(sheet, column)
    variable: dict[str, Any] = {"@type": "PropertyValue", "name": column.name, "description": column.meaning}
    variable |= {"valueReference": _KINDS.get(column.kind, "Text")}
    variable |= {"unitText": column.unit} if column.unit else {}
    variable |= {"minValue": low} if low is not None else {}
    variable |= {"maxValue": high} if high is not None else {}
    levels = levels_of(sheet, column)
    return variable | ({"levels": list(levels)} if levels else {})


def _psych_ds_readme(collected: StudyData, data: str) -> str:
    lines = [
        f"# {collected.definition.texts.title or collected.definition.name}",
        "",
        *([f"**Simulated participants:** {TOLD_SIMULATED}.", ""] if collected.simulated else []),
        f"`{data}` has one row per judgment. Excluded participants are in it and marked (`excluded`,",
        "`exclusion_rule`); only rows of kind `item` in phase `trials` count in item statistics. A cell that a",
        "spreadsheet would run begins with an apostrophe; judgments.jsonl of the export has it unchanged.",
        "",
    ]
    return "\n".join(lines)


# -- codebook -------------------------------------------------------------------------------------------------------
# The codebook: every column of every table of an export, with its meaning, type, unit, range and levels.


MOST_LEVELS = 40
"""A category with more levels than this is described by how many it has."""
_COLUMNS = (
    SheetColumn("file", "the file; a file of the same name ending in .jsonl or .parquet has the same rows", "id"),
    SheetColumn("row_is", "what one row of the file is", "text"),
    SheetColumn("column", "the column", "id"),
    SheetColumn("meaning", "what its cells say", "text"),
    SheetColumn("type", "text, category (few levels), id, integer, number, truth (True or False), time", "category"),
    SheetColumn("unit", "unit of the cells", "text"),
    SheetColumn("low", "lowest value: by definition, otherwise the lowest that occurs", "number"),
    SheetColumn("high", "highest value: by definition, otherwise the highest that occurs", "number"),
    SheetColumn("levels", "the values that occur, joined by ' | '", "text"),
    SheetColumn("n", "cells that are not missing", "integer", low=0),
    SheetColumn("missing", "cells that are missing", "integer", low=0),
)
_RESPONSE_COLUMNS = (
    SheetColumn("subject_id", "random id of the participant", "id"),
    SheetColumn("subject_kind", "whose answer: participant, or simulated for a simulated participant", "category"),
    SheetColumn("item_id", "the item; completion_time for the time from the first trial to the last answer", "id"),
    SheetColumn("task", "the task", "category"),
    SheetColumn("measure", "what the value is; attention_check and qualification: 1 = right", "category"),
    SheetColumn("value", "the answer as a number, in the measure's own unit; ms for completion_time", "number"),
    SheetColumn("option", "the option chosen", "text"),
    SheetColumn("layer", "empty: layers are those of models", "integer"),
    SheetColumn("view", "empty where nothing but the full text was shown", "category"),
    LIST_ID,
    SheetColumn("position", "position of the trial within its phase, from 0", "integer", low=0),
    SheetColumn("repeat", "empty: no question is repeated", "integer"),
    SheetColumn("rt_ms", "response time", "number", "ms", 0),
    SheetColumn("answered_at", "when the answer was stored", "time", "UTC"),
    SheetColumn("raw", "the answer as typed, if it was text", "text"),
    SheetColumn("scale", "scale of a rating: its lowest and highest point, and its steps", "category"),
)


def responses_sheet(
    table: ResponseTable, file: str = "responses.csv", row_is: str = "one response as the statistics read it"
) -> Sheet:
    """Return a response table as a sheet, for the codebook alone: the table writes itself."""
    described = {column.name: column for column in _RESPONSE_COLUMNS}
    columns = tuple(described[name] for name in COLUMNS)
    return Sheet(file, row_is, columns, ColumnRows.of_table(table.arrow.select([column.name for column in columns])))


def codebook(rows: Sequence[Cells]) -> Sheet:
    """Return the codebook made of the rows of several tables (:func:`codebook_rows`); it describes itself last."""
    own = sheet_of("codebook.csv", "one column of one file", _COLUMNS, rows)
    return replace(
        own, rows=[*own.rows, *sheet_of("", "", _COLUMNS, [_description_cells(own, c) for c in _COLUMNS]).rows]
    )


def codebook_rows(sheet: Sheet) -> list[Cells]:
    """Return what the codebook says of a table: a row for each column."""
    return [_codebook_row(sheet, column) for column in sheet.columns]


def range_of(sheet: Sheet, column: SheetColumn) -> tuple[Cell, Cell]:
    """Return the lowest and highest value of a column: by definition, else as they occur."""
    if column.kind not in ("integer", "number") or None not in (column.low, column.high):
        return column.low, column.high
    ranges: list[int | float] = []
    for cells in sheet.distinct_cells(column.name):
        numbers = [cell for cell in cells if isinstance(cell, int | float) and cell == cell]
        ranges += [min(numbers), max(numbers)] if numbers else []
    if not ranges:
        return column.low, column.high
    low = min(ranges) if column.low is None else column.low
    return low, max(ranges) if column.high is None else column.high


def levels_of(sheet: Sheet, column: SheetColumn) -> tuple[str, ...]:
    """Return the levels of a category or truth value, in order; free texts and ids have none."""
    if column.levels:
        return column.levels
    if column.kind not in ("category", "truth"):
        return ()
    texts = {str(cell) for cells in sheet.distinct_cells(column.name) for cell in cells if cell is not None}
    # 2 before 10
    return tuple(sorted(texts, key=lambda text: (len(text), text) if text.isdecimal() else (0, text)))


def _codebook_row(sheet: Sheet, column: SheetColumn) -> dict[str, Cell]:
    levels, (low, high) = levels_of(sheet, column), range_of(sheet, column)
    n = sheet.n_given(column.name)
    listed = " | ".join(levels) if len(levels) <= MOST_LEVELS else f"{len(levels)} levels"
    values = {"low": low, "high": high, "levels": listed or None, "n": n, "missing": len(sheet.rows) - n}
    return _description_cells(sheet, column) | values


def _description_cells(sheet: Sheet, column: SheetColumn) -> dict[str, Cell]:
    return {
        "file": sheet.file,
        "row_is": sheet.row_is,
        "column": column.name,
        "meaning": column.meaning,
        "type": column.kind,
        "unit": column.unit or None,
    }
