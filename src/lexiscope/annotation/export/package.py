"""The export of a study: one folder with every table, written whole or not at all.

The same study gives the same bytes, whenever and in whatever time zone it is exported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from lexiscope.annotation.export.codebook import codebook, responses_sheet
from lexiscope.annotation.export.collected import Collected, exported
from lexiscope.annotation.export.long_table import (
    excluded_sheet,
    exclusions_sheet,
    items_sheet,
    judgments_parquet,
    judgments_sheet,
    orders_sheet,
    people_sheet,
)
from lexiscope.annotation.export.pay import pay_sheet
from lexiscope.annotation.export.preregistration import preregistration
from lexiscope.annotation.export.psych_ds import FOLDER, psych_ds
from lexiscope.annotation.export.r_script import analysis_script
from lexiscope.annotation.export.wide_forms import RATING, wide_sheets
from lexiscope.annotation.study_file.definition import Codes, StudyDefinition
from lexiscope.annotation.study_file.definition_file import definition_yaml
from lexiscope.core import catalog
from lexiscope.core.errors import Place, RunError
from lexiscope.core.response import SCHEMA, ResponseTable
from lexiscope.core.run import atomic_folder, write_atomically
from lexiscope.core.simulated import KIND_COLUMN, PARTICIPANT, SIMULATED, SIMULATED_ID, TOLD_SIMULATED
from lexiscope.items.sheets.sheet import Sheet, marked_simulated
from lexiscope.items.tables.neutral import neutral_answer
from lexiscope.items.tables.spreadsheet import neutral

MANIFEST = "export.json"
_INTRODUCTION = """\
# {name}: what was collected

{simulated}{agree}

Every column is described in `codebook.csv`. Participants appear under random ids. Excluded people stay in
`judgments` and in `responses` (marked in the former); the papers' forms, `item_statistics`, `ratings` and `choices`
leave them out.

A text that a spreadsheet would run as a formula begins with an apostrophe in every CSV file. The file of the same
name that ends in `.jsonl` (for the responses: `.parquet`) has it as it was written.

Tables, by what one row is:
"""
_ABOUT_FILES = """\
- `responses.csv`, `responses.parquet`: one response, complete: catch trials, checks and excluded people too
- `judgments.parquet`: the judgments once more

Other files: `study.yaml` (the definition, without completion codes), `preregistration.md`, `analysis.R` (the planned
model, with lme4), `psych_ds/` (the judgments as a Psych-DS folder), `export.json` (counts, and SHA-256 of every file).
"""
_AGREE = """\
**For agreement: `lexiscope agree {file}`.** `{name}.csv` (`{name}.parquet`) holds real items and valid
people only. Do not take `responses.csv` for it: there, catch trials count as items and excluded people as raters."""
_SIMULATED = f"""\
**Simulated participants.** The study was rehearsed: {TOLD_SIMULATED}. Every table says
so (`participant_kind`, of responses `subject_kind`, is `simulated`), and every participant's id begins with
`{SIMULATED_ID}`. Lexiscope keeps this mark in all that it computes from these files.

"""
_NO_AGREE = "The answers are texts: there is no table for `lexiscope agree`."


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


def write_export(collected: Collected, folder: Path) -> ExportedPackage:
    """Write the export of a study into a folder; an earlier export there is replaced whole.

    Errors: :class:`RunError` where the folder holds anything else than an export, or cannot be written to; those of the
    planned model and of the rules.
    """
    _refuse_others(folder)
    with atomic_folder(folder) as new:
        _write_files(collected, new)
        files = tuple(sorted(str(path.relative_to(new).as_posix()) for path in new.rglob("*") if path.is_file()))
        manifest = {
            "study": collected.definition.name,
            "task": collected.definition.task,
            KIND_COLUMN: SIMULATED if collected.simulated else PARTICIPANT,
            "participants": len(collected.people),
            "valid_participants": len(collected.standing.valid),
            "judgments": len(collected.rows),
            "sha256": {name: hashlib.sha256((new / name).read_bytes()).hexdigest() for name in files},
        }
        write_atomically(new / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
    counts = len(collected.people), len(collected.standing.valid), len(collected.rows)
    return ExportedPackage(folder, (*files, MANIFEST), *counts, simulated=collected.simulated)


def sheets_of(collected: Collected) -> tuple[Sheet, ...]:
    """Return every table of an export but the response table and the codebook.

    Of a rehearsal each says in a column that the participants are simulated, but for the items: they are the material.
    """
    before: tuple[Sheet, ...] = (judgments_sheet(collected), people_sheet(collected))
    after: tuple[Sheet, ...] = (
        exclusions_sheet(collected),
        excluded_sheet(collected),
        orders_sheet(collected),
        pay_sheet(collected),
        *wide_sheets(collected),
    )
    if collected.simulated:
        before, after = tuple(map(marked_simulated, before)), tuple(map(marked_simulated, after))
    return (*before, items_sheet(collected), *after)


def safe_responses(table: ResponseTable) -> ResponseTable:
    """Return a response table whose text no spreadsheet runs, for its CSV; the Parquet beside it has all as it was."""
    for name in table.arrow.column_names:
        if pa.types.is_string(SCHEMA.field(name).type):
            change = neutral_answer if name in ("raw", "option") else neutral
            cells = table.column(name).tolist()
            safe = [None if cell is None else change(cell) for cell in cells]
            if safe != cells:
                table = table.with_column(name, pa.array(safe, type=pa.string()))
    return table


def public_definition(definition: StudyDefinition) -> str:
    """Return the definition as a file, without the completion codes: whoever has one could be paid."""
    return definition_yaml(definition.model_copy(update={"codes": Codes()}))


def _readme(collected: Collected, counted: CountedTable | None, sheets: Sequence[Sheet]) -> str:
    tables = [f"- `{sheet.file}`: {sheet.row_is}" for sheet in sheets]
    views = collected.definition.views
    file = "" if counted is None else counted.file + (f" --view {views[0]}" if len(views) > 1 else "")
    agree = _NO_AGREE if counted is None else _AGREE.format(file=file, name=counted.name)
    about = {
        "name": collected.definition.name,
        "simulated": _SIMULATED if collected.simulated else "",
        "agree": agree,
    }
    return "\n".join([_INTRODUCTION.format(**about), *tables, "", _ABOUT_FILES])


def _write_responses(collected: Collected, counted: CountedTable | None, folder: Path) -> list[Sheet]:
    """Write the response tables, all answers and those that count; return them for the codebook."""
    responses = exported(collected, collected.responses)
    described = [responses_sheet(responses)]
    tables = {"responses": responses}
    if counted is not None:
        tables[counted.name] = counted.table
        described.append(responses_sheet(counted.table, counted.file, counted.row_is))
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
        safe_responses(table).write_csv(folder / f"{name}.csv")
    return described


def _write_files(collected: Collected, folder: Path) -> None:
    counted = counted_table(collected)
    described = _write_responses(collected, counted, folder)
    sheets = sheets_of(collected)
    tables = {sheet.file: sheet.csv() for sheet in sheets}
    for sheet in sheets:
        write_atomically(folder / sheet.file, tables[sheet.file])
        write_atomically((folder / sheet.file).with_suffix(".jsonl"), sheet.jsonl())
    book = codebook((*described, *sheets))
    write_atomically(folder / book.file, book.csv())
    rows = [dict(zip(book.header, row, strict=True)) for row in book.rows]
    write_atomically(folder / "codebook.json", json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
    write_atomically(folder / "judgments.parquet", judgments_parquet(collected))
    write_atomically(folder / "analysis.R", analysis_script(collected))
    plan = preregistration(collected.definition, collected.design, simulated=collected.simulated)
    write_atomically(folder / "preregistration.md", plan)
    write_atomically(folder / "study.yaml", public_definition(collected.definition))
    write_atomically(folder / "README.md", _readme(collected, counted, (*described[1:], *sheets, book)))
    release_file = catalog.screen(collected.definition.task).release
    if release_file is not None:
        name, release = release_file
        write_atomically(folder / name, release(collected))
    for name, text in psych_ds(collected, sheets[0], tables[sheets[0].file]).items():
        write_atomically(folder / FOLDER / name, text)


def _refuse_others(folder: Path) -> None:
    if folder.exists() and not (folder / MANIFEST).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        what = "this place holds something else than an export"
        raise RunError(what, place=Place(str(folder)), hint="name a new folder; nothing was written")


# -- answers counted ------------------------------------------------------------------------------------------------
# The table for ``lexiscope agree``: answers that count, and no others, in the form of the response table.


_CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class CountedTable:
    """The answers of valid people to real items in the trials; ``name`` is that of its files: ratings or choices."""

    name: str
    table: ResponseTable

    @property
    def file(self) -> str:
        """The name of the CSV file."""
        return f"{self.name}.csv"

    @property
    def row_is(self) -> str:
        """What one row is."""
        return f"one of the {self.name} that count: a real item, a valid participant. THE file for `lexiscope agree`"


def counted_table(collected: Collected) -> CountedTable | None:
    """Return the answers that count; ``None`` where they are texts, on which nobody agrees or disagrees."""
    table = exported(collected, collected.item_answers)
    if collected.measure == RATING:
        return CountedTable("ratings", table)
    chosen = any(option is not None for option in table.column("option"))
    return CountedTable("choices", table) if chosen or collected.measure == _CHOICE else None
