"""What leaves the Results page for a manuscript: figures at journal widths, tables, sentences in APA style."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from lexiscope.core.errors import InputError
from lexiscope.core.run import write_atomically
from lexiscope.report.answers.results_page import ResultsPage
from lexiscope.report.marks.canvas import JOURNAL_WIDTHS, pixels, to_bytes
from lexiscope.report.page.html import drawing_csv
from lexiscope.report.page.table_files import to_docx, to_latex
from lexiscope.report.tables import to_csv

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
