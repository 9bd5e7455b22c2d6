"""What a run can export in addition to its report: codebook, data card, responses, R script (X18).

:func:`write_exhibits` writes what leaves the Results page for a manuscript: figures at journal widths, tables,
sentences in APA style.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from lexiscope.analysis.mixed.data import Column, prepare
from lexiscope.analysis.mixed.formula import read_formula
from lexiscope.analysis.mixed.r_script import ModelPair, csv_text, pair_columns, r_script
from lexiscope.core.dataset import DatasetCard
from lexiscope.core.errors import InputError, SpecError, StatisticError
from lexiscope.core.response import COLUMNS, SCHEMA, ResponseTable, holds_simulated
from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.run import write_atomically
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED, TOLD_SIMULATED
from lexiscope.report.answers.results_page import ResultsPage
from lexiscope.report.marks.canvas import JOURNAL_WIDTHS, pixels, to_bytes
from lexiscope.report.page.html import drawing_csv, records_csv
from lexiscope.report.page.table_files import to_docx, to_latex
from lexiscope.report.tables import to_csv

_MEANING = {
    "subject_id": "the subject that answered: a participant's id in the data, or a model's id",
    "subject_kind": "participant, encoder, norm, baseline …",
    "item_id": "the question; its text and conditions are in tables/norms.csv and in the dataset",
    "task": "which task the question belongs to",
    "measure": "what value is: rating, cosine_distance (1 − cosine; higher means less related), n_tokens_1 …",
    "value": "the answer as a number, in the measure's own unit; missing where there was no readable answer",
    "option": "which option of the item the value is about, where the item has options",
    "layer": "0 = input embeddings, 1 … L; missing for people and for models released without layers",
    "view": "what was shown: full, full+final_stop",
    "list_id": "the experimental list",
    "position": "place in the subject's order, from 0; missing where it was not published",
    "repeat": "repetition of the same question, from 0",
    "rt_ms": "response time in milliseconds",
    "answered_at": "when, in UTC",
    "raw": "the unchanged answer, if it was text",
    "scale": "for ratings: the scale of the question (1 to 5); missing if it was not stated",
}


@dataclass(frozen=True, slots=True, eq=False)
class StudyExports:
    """What a study hands on: its answers, the card and checksums of its data, what its statistics mean, its records."""

    name: str
    responses: ResponseTable
    card: DatasetCard | None
    checksums: Sequence[tuple[str, str]]
    statistics: Mapping[str, str]
    records: Sequence[Record] = ()


def meanings_of(statistics: Mapping[str, str], records: Sequence[Record]) -> dict[str, str]:
    """Return the meanings of the statistics that a run has, in the order of *statistics*."""
    used = {parse_statistic(record.statistic)[0] for record in records}
    return {name: meaning for name, meaning in statistics.items() if name in used}


def check_outputs(outputs: Sequence[str]) -> None:
    """Refuse an output that there is not, before hours of work. Errors: :class:`SpecError` with those there are."""
    unknown = sorted(set(outputs) - {*WRITERS, "r_script"})
    if unknown:
        known = ", ".join(sorted({*WRITERS, "r_script"}))
        raise SpecError(f"there is no output {unknown[0]!r}", hint=f"use one of {known}")


def export(folder: Path, run: StudyExports, outputs: Sequence[str]) -> tuple[str, ...]:
    """Write the exports that are asked for and return their names; a study writes ``r_script`` itself, if it has one.

    Errors: :class:`SpecError` for an output that there is not.
    """
    check_outputs(outputs)
    written = (WRITERS[name](folder, run) for name in outputs if name in WRITERS)
    return tuple(dict.fromkeys(name for names in written for name in names))


def export_r(
    folder: Path,
    pairs: Sequence[ModelPair],
    trials: Mapping[str, Column],
    *,
    references: Mapping[str, str] | None = None,
    simulated: bool = False,
    names: tuple[str, str] = ("mixed_models.R", "trials.csv"),
) -> tuple[str, ...]:
    """Write ``r/mixed_models.R``, which refits *pairs* of mixed models with lme4, and ``r/trials.csv``, which it reads.

    *names* are those of the two files. *trials* are columns of equal length; *references* the levels that text
    predictors are coded against. Both files say whether the ratings are those of *simulated* participants. Pairs that
    the trials do not allow are excluded: the record of such a test has the reason. Returns the names
    of the files; none without pairs.
    """
    allowed = [pair for pair in pairs if _can_fit(pair, trials, references)]
    if not allowed:
        return ()
    columns, rows = pair_columns(allowed), dict(trials)
    script = r_script(allowed, trials, csv_name=names[1], references=references)
    if simulated:
        n = len(next(iter(trials.values())))
        columns, rows[KIND_COLUMN] = (*columns, KIND_COLUMN), np.array([SIMULATED] * n, dtype=object)
        script = f"# Simulated participants: {TOLD_SIMULATED}.\n{script}"
    write_atomically(folder / "r" / names[1], csv_text(rows, columns))
    write_atomically(folder / "r" / names[0], script)
    return tuple(f"r/{name}" for name in reversed(names))


def _can_fit(pair: ModelPair, trials: Mapping[str, Column], references: Mapping[str, str] | None) -> bool:
    try:
        for formula in (pair.full, pair.reduced):
            prepare(read_formula(formula), trials, references=references)
    except (StatisticError, InputError):
        return False
    return True


def _codebook(folder: Path, run: StudyExports) -> tuple[str, ...]:
    lines = [
        "# Codebook of the response table",
        "",
        *_simulated_notice(run),
        "| column | type | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| `{name}` | {SCHEMA.field(name).type} | {_MEANING[name]} |" for name in COLUMNS]
    measures = sorted(str(measure) for measure in run.responses.unique("measure"))
    lines += ["", f"Measures in this run: {', '.join(f'`{measure}`' for measure in measures)}.", ""]
    lines += ["# Statistics in results.json", "", "| name | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in run.statistics.items()]
    write_atomically(folder / "codebook.md", "\n".join(lines) + "\n")
    return ("codebook.md",)


def _card(folder: Path, run: StudyExports) -> tuple[str, ...]:
    card = run.card
    lines = [f"# {card.title if card else run.name}", "", *_simulated_notice(run)]
    if card is not None:
        facts = {
            "Summary": card.summary,
            "Language": card.language,
            "Version": card.version,
            "Licence": card.licence,
            "Source": card.source,
            "Citation": card.citation,
        }
        lines += [f"- {label}: {text}" for label, text in facts.items() if text]
        lines += ["", "## Counts", "", *(f"- {name}: {count}" for name, count in card.counts)]
        lines += ["", "## Remarks", "", *(f"- {remark}" for remark in card.remarks)]
    lines += ["", "## Files that were read", "", *(f"- `{path}`: sha256 {digest}" for path, digest in run.checksums)]
    write_atomically(folder / "data_card.md", "\n".join(lines) + "\n")
    return ("data_card.md",)


def _simulated_notice(run: StudyExports) -> list[str]:
    """What a file that is read without the report must say by itself."""
    return [f"Simulated participants: {TOLD_SIMULATED}.", ""] if holds_simulated(run.responses) else []


def _csv(folder: Path, run: StudyExports) -> tuple[str, ...]:
    run.responses.write_csv(folder / "responses.csv")
    return ("responses.csv",)


def _jsonl(folder: Path, run: StudyExports) -> tuple[str, ...]:
    rows = run.responses.arrow.to_pylist()
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False, default=str) for row in rows]
    write_atomically(folder / "responses.jsonl", "\n".join(lines) + "\n")
    return ("responses.jsonl",)


def _r_data(folder: Path, run: StudyExports) -> tuple[str, ...]:
    """Write ``read_run.R``, which reads the run into data frames, and the tables that it reads in CSV."""
    write_atomically(folder / _READ_RUN, (_TEMPLATES / _READ_RUN).read_text(encoding="utf-8"))
    write_atomically(folder / "results.csv", records_csv(tuple(run.records)))
    return (_READ_RUN, "results.csv", *_csv(folder, run))


_READ_RUN = "read_run.R"
_TEMPLATES = Path(__file__).parents[1] / "templates"
WRITERS: dict[str, Callable[[Path, StudyExports], tuple[str, ...]]] = {
    "codebook": _codebook,
    "data_card": _card,
    "csv": _csv,
    "jsonl": _jsonl,
    "r_data": _r_data,
}


FileKind = Literal["pdf", "png", "svg"]
FILE_KINDS: tuple[FileKind, ...] = get_args(FileKind)
SENTENCES = "sentences.txt"


def write_exhibits(
    page: ResultsPage,
    folder: Path,
    *,
    widths: Sequence[int] = JOURNAL_WIDTHS,
    kinds: Sequence[FileKind] = FILE_KINDS,
) -> tuple[Path, ...]:
    """Write every figure and table of a Results page into a folder, and its sentences; return the paths.

    A figure is drawn again at each of *widths* (millimetres: its text has one size at every width) in each of *kinds*,
    with its numbers as CSV. A table is written as CSV, LaTeX and Word. ``sentences.txt`` has the sentences of each
    answer in APA style. Each file is written whole or not at all.
    Errors: :class:`InputError` for a width below 40 or above 300 mm.
    """
    wrong = next((width for width in widths if not 40 <= width <= 300), None)
    if wrong is not None:
        hint = f"journals take {', '.join(map(str, JOURNAL_WIDTHS))}"
        raise InputError(f"a figure cannot be {wrong} mm wide", why="widths are from 40 to 300 mm", hint=hint)
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []

    def write(name: str, content: str | bytes) -> None:
        write_atomically(folder / name, content)
        written.append(folder / name)

    for number, drawing in enumerate(page.drawings(), start=1):
        name = f"figure_{number}_{drawing.name}"
        write(f"{name}.csv", drawing_csv(drawing))
        for width in widths:
            canvas = drawing.draw(pixels(width))
            for kind in kinds:
                write(f"{name}_{width}mm.{kind}", to_bytes(canvas, kind))
    tables = [answer.table for answer in page.answers if answer.table is not None]
    for number, table in enumerate(tables, start=1):
        name = f"table_{number}_{table.name}"
        for ending, content in (("csv", to_csv(table)), ("tex", to_latex(table)), ("docx", to_docx(table))):
            write(f"{name}.{ending}", content)
    lines = [f"{page.title}\n{page.top.apa}\n"] if page.top.apa else []
    lines += [f"{question.text}\n{question.answer.apa}\n" for question in page.questions if question.answer.apa]
    write(SENTENCES, "\n".join(lines))
    return tuple(written)
