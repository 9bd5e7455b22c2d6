"""The report page: structure, accessibility, and nothing from data that can act."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.result import Record
from lexiscope.core.run import versions
from lexiscope.report.document import Report, RichText, Section
from lexiscope.report.figures import Figure, data_csv
from lexiscope.report.page.html import records_csv, render, table_html, write_report
from lexiscope.report.page.pages import run_rows
from lexiscope.report.tables import Column, Table, to_csv

VOID = {"meta", "link", "br", "wbr", "hr", "img", "input"}


class Page(HTMLParser):
    """What the tests ask of a page: tags in order with attributes, open elements, text of headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def all(self, *names: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag in names]


@pytest.fixture
def page(report: Report) -> Page:
    """The sample report, parsed."""
    return Page(render(report))


def test_every_element_is_closed(page: Page) -> None:
    """The page is well formed: elements close in the order in which they opened."""
    assert page.unbalanced == []
    assert page.open == []


def test_the_page_begins_like_one(report: Report) -> None:
    """Doctype first, then the language of the report."""
    assert render(report).startswith('<!doctype html>\n<html lang="en" ')
    assert '<html lang="es" ' in render(replace(report, language="es"))


def test_nothing_is_asked_of_a_network(report: Report) -> None:
    """No image, frame or style from elsewhere; the only script is the page's own, and its policy allows no other."""
    page = Page(render(report))
    assert page.all("script") == [{}]
    assert not page.all("img", "iframe", "object", "embed", "base", "form")
    sources = [attributes["href"] for attributes in page.all("link")]
    assert all(address.startswith("data:") for address in sources)
    assert [a for _, a in page.tags if "src" in a or any(key.startswith("on") for key in a)] == []
    policy = [a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    script = render(report).partition("<script>")[2].partition("</script>")[0]
    own = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == [f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{own}'"]
    assert "url(" not in re.sub(r"url\(#", "", render(report))


def test_headings_are_in_order(page: Page) -> None:
    """One h1; no level is skipped on the way down."""
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_ids_are_unique_and_links_arrive(page: Page) -> None:
    """No id occurs twice; every link inside the page, and every aria reference, has its target."""
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    inside = [a["href"][1:] for a in page.all("a") if a.get("href", "").startswith("#")]
    named = [part for _, a in page.tags for part in a.get("aria-labelledby", "").split()]
    assert {*inside, *named} <= set(ids)


def test_tables_have_captions_and_scopes(page: Page) -> None:
    """Every table has a caption; every header cell says whether it heads a column or a row."""
    assert len(page.all("table")) == len(page.all("caption")) == 5
    assert {a.get("scope") for a in page.all("th")} == {"col", "row"}


def test_every_figure_has_words_caption_and_data(report: Report) -> None:
    """Each figure has a drawing with role and description, a caption, and its data behind a link."""
    text = render(report)
    figures = [figure for top in report.sections for part in top.walk() for figure in part.figures]
    assert text.count("<figure ") == text.count("<figcaption>") == text.count('role="img"') == len(figures) == 3
    for figure in figures:
        assert figure.alt in text
        link = re.search(rf'download="{figure.name}.csv" href="data:text/csv;charset=utf-8;base64,([^"]+)"', text)
        assert link is not None
        assert base64.b64decode(link[1]).decode("utf-8") == data_csv(figure)


def test_tables_carry_their_csv(report: Report, table: Table) -> None:
    """The link under a table holds exactly its CSV."""
    link = re.search(r'download="models.csv" href="data:text/csv;charset=utf-8;base64,([^"]+)"', render(report))
    assert link is not None
    assert base64.b64decode(link[1]).decode("utf-8") == to_csv(table)


def test_analyses_are_marked(report: Report) -> None:
    """Confirmatory and exploratory are written at the heading."""
    text = render(report)
    assert '<span class="flag confirmatory">confirmatory</span>' in text
    assert '<span class="flag exploratory">exploratory</span>' in text


def test_the_comparison_with_the_paper_is_there(report: Report) -> None:
    """Records with a published value make a section: counts by status, printed value, ours, why not."""
    text = render(report)
    assert "This run compares 2 of 2: 1 reproduced, 1 not reproduced." in text
    assert 'href="#reproduction"' in text
    assert 'href="#reproduction"' not in render(replace(report, records=()))


def test_the_run_record_is_printed_without_the_machine(report: Report) -> None:
    """Versions and seeds stand in the page; what differs between machines does not."""
    text = render(report)
    assert re.search(r"<dt>seed</dt><dd[^>]*>7</dd>", text)
    assert "secret-host" not in text


def test_the_same_report_has_the_same_bytes(report: Report, tmp_path: Path) -> None:
    """Rendering twice, and with the run record in another order, gives the same page; it is written as rendered."""
    shuffled = replace(report, run=dict(reversed(list(report.run.items()))))
    assert render(report) == render(shuffled)
    assert write_report(report, tmp_path / "report.html").read_text(encoding="utf-8") == render(report)


PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "' onmouseover='alert(1)",
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_from_data_can_act(payload: str) -> None:
    """Text of users, in every place that takes some, is shown as text: no element, no handler, no template."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
    drawn = Figure("f", payload, payload, payload, payload, svg, {payload: np.array([payload])})
    table = Table("t", payload, payload, (Column(payload, note=payload, language=payload),), ((payload,),), (payload,))
    rich = RichText(f"{payload}<a href='javascript:alert(1)' onclick='alert(1)'>x</a><em>kept</em>")
    section = Section("s", payload, (payload, rich), (table,), (drawn,))
    record = Record("r", 0.5, subject=payload, published=0.5, source=payload, status="reproduced", note=payload)
    text = render(Report(payload, "en", (section,), {payload: payload}, (record,), payload, (payload,)))
    page = Page(text)
    assert page.all("script") == [{}]
    assert "alert" not in text.partition("<script>")[2]
    assert not page.all("img", "image", "iframe")
    assert [key for _, attributes in page.tags for key in attributes if key.startswith("on")] == []
    assert not any(a.get("href", "").lower().startswith("javascript") for _, a in page.tags)
    assert ">49<" not in text
    assert "<em>kept</em>" in text


def test_rich_text_keeps_harmless_markup() -> None:
    """Emphasis, lists and links to pages stay; everything else goes."""
    rich = RichText('<p>See <a href="https://example.org/p">it</a>, <em>x</em><style>p{}</style><h1>no</h1></p>')
    text = render(Report("t", sections=(Section("s", "S", (rich,)),)))
    assert '<a href="https://example.org/p" rel="noopener noreferrer">it</a>' in text
    assert text.count("<h1") == 1


def test_parts_must_not_occur_twice(table: Table) -> None:
    """Two tables of one name would overwrite each other's file: refused."""
    with pytest.raises(InputError, match="more than one table named models"):
        Report("t", sections=(Section("a", "A", (), (table,)), Section("b", "B", (), (table,))))
    with pytest.raises(InputError, match="more than one section"):
        Report("t", sections=(Section("a", "A"), Section("a", "B")))
    with pytest.raises(InputError, match="id of a section"):
        Section("a b", "A")


def test_one_table_alone(table: Table) -> None:
    """A table can be had as HTML by itself, with escaped cells and the language of a column."""
    text = table_html(table)
    assert "50 % &lt;b&gt;" in text
    assert '<th scope="row" class="tight" lang="es">señal_1</th>' in text
    assert '<td class="right">.36 [.30, .41]</td>' in text


def test_all_records_can_be_had(records: tuple[Record, ...]) -> None:
    """The CSV of all numbers has one line per record and keeps full precision."""
    lines = records_csv(records).splitlines()
    assert len(lines) == 1 + len(records)
    assert lines[0].startswith("statistic,value,subject")
    assert "0.7306" in lines[1]


def test_a_real_run_record_is_flat_text() -> None:
    """Nested blocks, lists and empty values of run.json become one line each."""
    run = {"versions": versions(), "filters": [{"rule": "catch", "out": 131}], "subjects": ["a", "b"], "none": None}
    rows = dict(run_rows(run))
    assert rows["filters.1.rule"] == "catch"
    assert rows["subjects"] == "a, b"
    assert rows["none"] == ""
    assert all(isinstance(value, str) for value in rows.values())


def test_long_tables_are_folded() -> None:
    """A table of many rows is folded under a line that names it and counts its rows; nothing of it is left out."""
    rows = tuple((f"item-{index}", index) for index in range(100))
    text = table_html(Table("norms", "S2", "Norms", (Column("Item"), Column("n")), rows))
    assert "<summary><b>Table S2.</b> Norms: show all 100 rows</summary>" in text
    assert text.count("<tr>") == 101
    assert "<details" not in table_html(Table("norms", "S2", "Norms", (Column("Item"), Column("n")), rows[:20]))


def test_the_page_does_not_depend_on_where_the_run_lies(report: Report) -> None:
    """The command names the run's folder and the manifest holds the page's own checksum: neither is in the page."""
    longer = dict(report.run) | {"command": ["lexiscope", "--out", "RUN"], "files": {"report.html": "abc"}}
    assert render(replace(report, run=longer)) == render(report)
