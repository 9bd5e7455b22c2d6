"""The report page: one HTML file that opens without a network, reads like a results section, and prints well.

Everything that comes from data is escaped; rich text is sanitised; drawings are reduced to shapes. The page itself
forbids scripts and requests (its content security policy), so that nothing in a dataset can start any.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from lexiscope.core.result import OPTIONAL_FIELDS, Record
from lexiscope.core.run import write_atomically
from lexiscope.report.document import Flag, Report, RichText
from lexiscope.report.figures import data_csv
from lexiscope.report.page.comparison import sections_with_comparison
from lexiscope.report.plots.style import clean_svg
from lexiscope.report.tables import Table, csv_text, layout, to_csv

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_ALLOWED_TAGS = {"p", "em", "strong", "i", "b", "a", "ul", "ol", "li", "code", "sub", "sup", "br", "q", "cite"}
_DEEPEST_HEADING = 6
#: Blocks of ``run.json`` that depend on the machine, on the run's folder, or on the page itself.
NOT_PRINTED = frozenset({"machine", "command", "files", "file", "seal"})
#: Longer tables are folded; they can be opened, and their CSV is linked below them.
_FOLDED = 60
#: Row names up to this many characters are kept on one line; hyphenated model names read badly when broken.
_SHORT = 32


def render(report: Report) -> str:
    """Return the report as one HTML page; the same report gives the same bytes.

    A section that compares with published values is added where records have them, and one with the run record.
    """
    sections = sections_with_comparison(report)
    flags = Counter(section.flag for top in report.sections for section in top.walk())
    page = _environment().get_template("report.html")
    return page.render(
        report=report,
        sections=[(str(index), section) for index, section in enumerate(sections, start=1)],
        confirmatory=[(flag, flags[flag]) for flag in get_args(Flag) if flag and flags[flag]],
        run_rows=list(run_rows(report.run)),
        records_link=_data_link(records_csv(report.records)) if report.records else "",
    )


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
    """Return all records as CSV, one a line, at full precision."""
    present = {name for name in OPTIONAL_FIELDS if any(getattr(record, name) not in (None, "") for record in records)}
    names = [field.name for field in fields(Record) if field.name in present or field.name not in OPTIONAL_FIELDS]
    return csv_text(names, ([getattr(record, name) for name in names] for record in records))


def run_rows(run: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the run record as sorted (key, value) text, nested keys joined by points.

    Left out is what says where the run took place or depends on the page itself: ``machine``, ``command`` (it names
    the folder of the run), ``files`` and ``seal`` (they hold the checksum of the page).

    >>> list(run_rows({"seed": 7, "versions": {"numpy": "2.4"}, "machine": {"host": "x"}}))
    [('seed', '7'), ('versions.numpy', '2.4')]
    """
    for key, value in sorted(run.items()):
        if not prefix and key in NOT_PRINTED:
            continue
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            yield from run_rows(value, f"{name}.")
        elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
            for index, part in enumerate(value, start=1):
                yield from run_rows(part, f"{name}.{index}.")
        elif isinstance(value, list | tuple):
            yield name, ", ".join(map(str, value))
        else:
            yield name, "" if value is None else str(value)


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
        figure_link=lambda figure: _data_link(data_csv(figure)),
        table_link=lambda table: _data_link(to_csv(table)),
    )
    environment.tests["rich"] = lambda paragraph: isinstance(paragraph, RichText)
    return environment


def _rich(paragraph: RichText) -> Markup:
    import nh3
    from markupsafe import Markup

    cleaned = nh3.clean(
        paragraph.html, tags=_ALLOWED_TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"}
    )
    return Markup(cleaned)


def _data_link(text: str) -> str:
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(text.encode("utf-8")).decode("ascii")


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
