"""The report page: one HTML file that opens without a network, reads like a results section, and prints well.

Everything that comes from data is escaped; rich text is sanitised; drawings are reduced to shapes. The page itself
forbids scripts and requests (its content security policy), so that nothing in a dataset can start any.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lexiscope.core.result import OPTIONAL_FIELDS, Record
from lexiscope.core.run import write_atomically
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED
from lexiscope.report.document import Report, RichText
from lexiscope.report.figures import data_csv
from lexiscope.report.marks.canvas import colour_variables, stylesheet, to_svg
from lexiscope.report.marks.drawing import NARROW, WIDE, Drawing
from lexiscope.report.page.pages import ReportPage, report_pages, run_groups
from lexiscope.report.page.table_files import to_docx, to_latex
from lexiscope.report.plots.style import clean_svg
from lexiscope.report.tables import Cell, IntervalCell, Table, csv_text, layout, to_csv

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_ALLOWED_TAGS = {"p", "em", "strong", "i", "b", "a", "ul", "ol", "li", "code", "sub", "sup", "br", "q", "cite"}
_DEEPEST_HEADING = 6
#: Longer tables are folded; they can be opened, and their CSV is linked below them.
_FOLDED = 60
#: Row names up to this many characters are kept on one line; hyphenated model names read badly when broken.
_SHORT = 32


def render(report: Report) -> str:
    """Return the report as one HTML page; the same report always gives an identical page.

    It holds up to four pages: results, data and methods, reproduction (where a paper prints numbers), run record. A
    report without answers (several runs compared, answers that were only collected) shows its sections first.
    """
    from markupsafe import Markup

    results, pages, script = report.results, report_pages(report), _template_text("page.js")
    details = {shown.section.id for page in pages for shown in page.sections}
    with_table = [answer for answer in results.answers if answer.table is not None] if results else []
    drawings = {id(drawing): n for n, drawing in enumerate(results.drawings() if results else (), start=1)}
    tables = {id(answer.table): n for n, answer in enumerate(with_table, start=1)}
    page = (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            results=results,
            answered=[(q, q.question_id.lower() in details) for q in results.questions] if results else [],
            brand=results.brand if results else report.title,
            pages=[*([ReportPage("results", "Results")] if results else []), *pages],
            figure_number=lambda drawing: drawings[id(drawing)],
            table_number=lambda table: tables[id(table)],
            style=Markup(page_style()),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            run_groups=run_groups(report),
            records_link=_link(records_csv(report.records)) if report.records else "",
        )
    )
    # macros leave blank lines before the first line
    return page.lstrip()


@cache
def page_style() -> str:
    """Return the style sheet of a page: colours of both modes, layout, and the looks of drawings."""
    light, dark = (f"{colour_variables(mode)}color-scheme:{mode}" for mode in ("light", "dark"))
    return "".join(
        (
            f":root{{{light}}}[data-mode=dark]{{{dark}}}",
            f"@media(prefers-color-scheme:dark){{:root:not([data-mode=light]){{{dark}}}}}",
            _template_text("page.css"),
            stylesheet(),
            # on paper all is light, whatever the screen shows
            f"@media print{{:root,:root[data-mode=dark],:root:not([data-mode=light]){{{light};--bg:#fff;--ink:#000}}}}",
        )
    )


@cache
def _template_text(name: str) -> str:
    return (Path(__file__).parent.parent / "templates" / name).read_text(encoding="utf-8").strip()


def write_report(report: Report, path: Path | str) -> Path:
    """Write the page to *path*, all of it or nothing, and return the path."""
    target = Path(path)
    write_atomically(target, render(report))
    return target


def table_html(table: Table) -> str:
    """Return one table as HTML: caption, header cells with a scope, notes below."""
    module = _environment().get_template("parts.html").module
    return str(module.table(table))  # type: ignore[attr-defined]


def records_csv(records: tuple[Record, ...]) -> str:
    """Return all records as CSV, one per line, at full precision."""
    present = {name for name in OPTIONAL_FIELDS if any(getattr(record, name) not in (None, "") for record in records)}
    names = [field.name for field in fields(Record) if field.name in present or field.name not in OPTIONAL_FIELDS]
    return csv_text(names, ([getattr(record, name) for name in names] for record in records))


def new_environment() -> Environment:
    """Return an environment for the templates of reports, without filters: all is escaped, what is missing an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("lexiscope.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _environment() -> Environment:
    from markupsafe import Markup

    environment = new_environment()
    environment.filters.update(
        drawing=lambda figure: Markup(clean_svg(figure.svg)),
        rich=_rich,
        layout=layout,
        heading=lambda depth: f"h{min(depth, _DEEPEST_HEADING)}",
        folded=lambda table: len(table.rows) > _FOLDED,
        column_classes=lambda table: [_column_class(table, index) for index in range(len(table.columns))],
        breakable=_breakable,
        statistics=_with_italics,
        plain_value=_plain_value,
        wide=lambda drawing: Markup(to_svg(drawing.draw(WIDE), "wide")),
        narrow=lambda drawing: Markup(to_svg(drawing.draw(NARROW), "narrow")),
        drawing_csv=lambda drawing: _link(drawing_csv(drawing)),
        figure_link=lambda figure: _link(data_csv(figure)),
        table_link=lambda table: _link(to_csv(table)),
        latex_link=lambda table: _link(to_latex(table), "application/x-tex;charset=utf-8"),
        word_link=lambda table: _link(to_docx(table), _WORD_TYPE),
    )
    environment.tests["rich"] = lambda paragraph: isinstance(paragraph, RichText)
    return environment


def drawing_csv(drawing: Drawing) -> str:
    """Return the numbers of a drawing as CSV, at full precision."""
    columns = dict(drawing.columns())
    if drawing.mark:
        columns[KIND_COLUMN] = [SIMULATED] * len(next(iter(columns.values()), ()))
    return csv_text(list(columns), zip(*columns.values(), strict=True))


def _plain_value(cell: Cell) -> str:
    """A cell as a number that a column is sorted by; empty without one."""
    value = cell.value if isinstance(cell, IntervalCell) else cell
    return f"{value:.6g}" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _rich(paragraph: RichText) -> Markup:
    import nh3
    from markupsafe import Markup

    cleaned = nh3.clean(
        paragraph.html, tags=_ALLOWED_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"}
    )
    return Markup(cleaned)


_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_STATISTIC = re.compile(
    r"(?<![\w&;])(?:[ptrbnNkzFM]|R²|χ²|ρ)(?=(?:\([\d., ]+\))? ?(?:[=≤≥]|&[lg]t;))|(?<![\w&;])(?:R²|χ²|ρ)(?!\w)"
)

_WHOLE = re.compile(r" (?:[=≤≥]|&[lg]t;) (?=[−\d.])|\[[−\d.,]+, [−\d.,]+\]|95% CI(?= \[)")


def _with_italics(text: str) -> Markup:
    """Return a text with the symbols of statistics in italics, as APA sets them."""
    from markupsafe import Markup, escape

    marked = _STATISTIC.sub(lambda match: f"<i>{match[0][0]}</i>{match[0][1:]}", str(escape(text)))
    # neither an equation nor an interval is broken at the end of a line
    return Markup(_WHOLE.sub(lambda match: match[0].replace(" ", "\N{NO-BREAK SPACE}"), marked))


def _link(content: str | bytes, kind: str = "text/csv;charset=utf-8") -> str:
    raw = content.encode("utf-8") if isinstance(content, str) else content
    return f"data:{kind};base64,{base64.b64encode(raw).decode('ascii')}"


def _column_class(table: Table, index: int) -> str:
    if table.columns[index].right:
        return "right"
    longest = max((len(row[index].text) for row in layout(table).rows), default=0)
    if index == 0 and longest <= _SHORT:
        return "tight"
    return "long" if longest > _SHORT else ""


def _breakable(text: str) -> Markup:
    from markupsafe import Markup, escape

    # long names of statistics and files have no spaces: let them break after their own joints
    parts = [re.sub(r"(?<=[_(,=/&])", "\0", part) if len(part) > 16 else part for part in text.split(" ")]
    return Markup("<wbr>").join(escape(" ".join(parts)).split("\0"))
