"""The Results page: its parts, what leaves it (CSV, LaTeX, Word, APA), simulated judgments, and the browser."""

from __future__ import annotations

import base64
import re
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lexiscope.core.result import Record
from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.results_page import AnsweredQuestion, ResultsPage, with_own_names
from lexiscope.report.document import Report, Section
from lexiscope.report.marks.drawing import Axis, ReferenceLine
from lexiscope.report.marks.forest import Forest, ForestRow
from lexiscope.report.page.html import render, write_report
from lexiscope.report.page.simulated import MARK, marked_results
from lexiscope.report.page.stored_answers import page_from_json, page_to_json
from lexiscope.report.page.table_files import to_docx
from lexiscope.report.tables import BOUNDED, Column, IntervalCell, Table

FOREST = Forest(
    name="agreement",
    title="Agreement of models with people",
    see="No interval reaches the line of the average person (.73).",
    rows=(ForestRow("Model A", 0.61, 0.54, 0.67, ".61 [.54, .67]"), ForestRow("<b>", 0.4, 0.3, 0.5, ".40 [.30, .50]")),
    axis=Axis("Spearman’s ρ", 0, 1),
    references=(ReferenceLine("average person .73", 0.73, 0.71, 0.75),),
    raters=(0.7, 0.72, 0.8),
    people_name="3 people",
)
COLUMNS = (Column(""), Column("ρ", BOUNDED))
TABLE = Table("best", "", "Best models", COLUMNS, (("Model A", IntervalCell(0.54, 0.67, 0.61)),))
SENTENCE = "Model A reaches ρ = .61, 95% CI [.54, .67]."
ANSWER = Answer("Partly.", (SENTENCE,), test="χ²(1) = 39.59, p < .001", apa="APA.", drawing=FOREST, table=TABLE)
PAGE = with_own_names(
    ResultsPage(
        "Do models follow people?",
        "A dataset",
        "DATA",
        ANSWER,
        (AnsweredQuestion("Q1", "Do <people> agree?", "People", ANSWER, "exploratory", "§3.5"),),
        (("Are larger models better?", "This run has one model."),),
    )
)


@pytest.fixture
def answered(report: Report) -> Report:
    """A report with answers."""
    return replace(report, results=PAGE)


def test_the_page_survives_storage() -> None:
    """JSON holds all of it: texts, drawings, tables."""
    assert page_from_json(page_to_json(PAGE)) == PAGE
    assert [drawing.name for drawing in PAGE.drawings()] == ["agreement", "q1_agreement"]


def test_what_the_page_shows(answered: Report) -> None:
    """Verdict, sentences, kicker, running numbers, both drawings of a figure; the reason for no answer; all escaped."""
    text = render(answered)
    # an equation and an interval are never broken at the end of a line
    assert "<i>ρ</i>\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}.61" in text
    text = text.replace("\N{NO-BREAK SPACE}", " ")
    assert "<b>Partly.</b> Model A reaches <i>ρ</i> = .61" in text
    assert "<i>χ</i>²(1) = 39.59, <i>p</i> &lt; .001" in text
    assert '<span class="flag">exploratory</span><span class="pl">§3.5</span>' in text
    assert "Do &lt;people&gt; agree?" in text
    assert re.findall(r'<figure id="(figure-\d+)">', text) == ["figure-1", "figure-2"]
    assert text.count('<svg xmlns="http://www.w3.org/2000/svg" class="wide"') == 2
    assert text.count('<svg xmlns="http://www.w3.org/2000/svg" class="narrow"') == 2
    assert re.findall(r'<div class="tb bold" id="(table-\d+)">', text) == ["table-1", "table-2"]
    assert "Are larger models better? This run has one model." in text
    pages = re.findall(r'<div class="page[^"]*" id="(\w+)">', text)
    assert pages == ["results", "data", "reproduction", "record"]
    assert [f"S{n}" in text for n in (1, 2)] == [True, True], "tables and figures behind the results have numbers S1 …"


def test_everything_can_leave_the_page(answered: Report) -> None:
    """A table as CSV, LaTeX and a Word document that opens; a figure's numbers as CSV; sentences as APA."""
    text = render(answered)

    def file(name: str) -> bytes:
        link = re.search(rf'download="{name}" href="data:[^"]*;base64,([^"]+)"', text)
        assert link is not None, name
        return base64.b64decode(link[1])

    assert file("best.csv").decode() == ",ρ,ρ low,ρ high\nModel A,0.61,0.54,0.67\n"
    assert rb"\begin{tabular}" in file("best.tex")
    assert file("agreement.csv").decode().startswith("label,value,low,high\nModel A,0.61,0.54,0.67\n")
    with zipfile.ZipFile(BytesIO(file("best.docx"))) as package:
        document = ElementTree.fromstring(package.read("word/document.xml"))
    words = [element.text for element in document.iter() if element.tag.endswith("}t")]
    assert [word or "" for word in words] == ["Best models", "", "ρ", "Model A", ".61 [.54, .67]"]
    assert to_docx(TABLE) == to_docx(TABLE)
    assert 'data-apa="APA."' in text


def test_simulated_judgments_are_marked_everywhere() -> None:
    """Title, texts, drawings (also as files) and tables of simulated participants say so; nobody is called people."""
    marked = marked_results(PAGE, whole=True)
    assert marked.title == f"Do models follow simulated participants? {MARK}"
    assert marked.questions[0].text == f"Do <simulated participants> agree? {MARK}"
    for answer in marked.answers:
        assert answer.drawing is not None
        assert answer.drawing.mark == MARK
        assert answer.table is not None
        assert answer.table.people == "simulated"
    text = render(Report("t", results=marked, sections=(Section("methods", "Methods", ("x",)),)))
    text = re.sub(r"<style>.*?</style>|<script>.*?</script>|base64,[^\"]+|class=\"[^\"]*\"", "", text, flags=re.S)
    assert re.findall(r".{20}(?<!simulated )\bpeople\b.{20}", text) == []


def test_a_report_without_answers_shows_its_sections_first(report: Report) -> None:
    """Comparisons of runs and collected answers have no Results page: their sections are the first one."""
    text = render(report)
    assert re.findall(r'<div class="page[^"]*" id="(\w+)">', text)[0] == "data"
    assert text.count("<h1") == 1


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_in_a_browser(answered: Report, tmp_path: Path, width: int, mode: str, chromium: object) -> None:
    """No sideways scrolling, no message, one drawing per figure; pages change by their links; axe finds nothing."""
    from axe_playwright_python.sync_playwright import Axe

    spec = Section("spec", "Data", ("planted_bias?context_sufficiency=0.2&word_sufficiency=0.9&label_share=0.5",))
    answered = replace(answered, sections=(*answered.sections, spec))
    path = write_report(answered, tmp_path / "report.html")
    page = chromium.new_page(viewport={"width": width, "height": 844}, offline=True, color_scheme=mode)  # type: ignore[attr-defined]
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("figure svg:visible").count() == 2
    assert page.locator("#figure-1").bounding_box()["y"] < 844, "the first figure begins on the first screen"
    serious = [v["id"] for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
    assert serious == []
    page.click(".tabs a[href='#data']")
    assert page.locator("#spec").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.click(".tabs a[href='#record']")
    assert page.locator("#results").is_hidden()
    assert page.locator("#record").is_visible()
    page.click(".tabs a[href='#results']")
    page.locator("#figure-1 svg:visible .hv").first.focus()
    assert page.locator("#tip").is_visible()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('class')") == "hv"
    with page.expect_download() as caught:
        page.click("#figure-1 button[data-x=svg]")
    saved = tmp_path / "saved.svg"
    caught.value.save_as(saved)
    assert "var(" not in saved.read_text(encoding="utf-8")
    assert messages == []
    page.close()


def test_records_need_no_answers() -> None:
    """A page without results, sections or records is still a page."""
    text = render(Report("t", records=(Record("r", 0.5),)))
    assert "Download all results" in text
