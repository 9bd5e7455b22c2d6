"""The page in a browser: no network, no error, no cut content at 360 pixels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lexiscope.report.document import Report
from lexiscope.report.page.html import write_report

pytestmark = pytest.mark.browser


def _open(chromium: Any, path: Path, width: int) -> tuple[Any, list[str], list[str]]:
    page = chromium.new_page(viewport={"width": width, "height": 800}, offline=True)
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    return page, messages, requests


@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_opens_without_a_network(chromium: Any, report: Report, tmp_path: Path, width: int) -> None:
    """The only request is the file itself; nothing is written to the console; the page does not scroll sideways."""
    path = write_report(report, tmp_path / "report.html")
    page, messages, requests = _open(chromium, path, width)
    assert messages == []
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.locator("figure svg").count() == 3
    assert all(page.locator("figure svg").nth(index).bounding_box()["width"] > 300 for index in range(3))
    page.close()


def test_a_wide_table_reaches_into_the_margin(chromium: Any, report: Report, tmp_path: Path) -> None:
    """On a wide screen a table of 60rem, wider than the text, is not cut; the page still does not scroll sideways."""
    page, _, _ = _open(chromium, write_report(report, tmp_path / "report.html"), 1200)
    page.evaluate("document.querySelector('.table table').style.minWidth = '60rem'")
    assert page.evaluate("(box => box.scrollWidth <= box.clientWidth)(document.querySelector('.table .scroll'))")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_on_paper_nothing_is_cut(chromium: Any, report: Report, tmp_path: Path, mode: str) -> None:
    """On A4 (about 700 px) all pages are printed on white without the bar; a wide table wraps and is not cut."""
    page, _, _ = _open(chromium, write_report(report, tmp_path / "report.html"), 700)
    page.emulate_media(media="print", color_scheme=mode)
    assert page.locator("header").is_hidden()
    assert page.locator(".page:visible").count() == page.locator(".page").count() > 1
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("document.querySelectorAll('td').forEach(cell => cell.textContent = 'a long text in a cell')")
    ends = "[...document.querySelectorAll('table, svg')].map(part => part.getBoundingClientRect().right)"
    assert page.evaluate(f"Math.max(...{ends}) <= window.innerWidth")
    page.close()


def test_figure_data_can_be_downloaded(chromium: Any, report: Report, tmp_path: Path) -> None:
    """The link under a figure saves its CSV from inside the page."""
    page, _, _ = _open(chromium, write_report(report, tmp_path / "report.html"), 1200)
    with page.expect_download() as caught:
        page.click('a[download="density.csv"]')
    saved = Path(tmp_path / "saved.csv")
    caught.value.save_as(saved)
    assert saved.read_text(encoding="utf-8").startswith("condition,value\n")
    page.close()


def test_a_reader_with_a_keyboard_can_skip_the_contents(chromium: Any, report: Report, tmp_path: Path) -> None:
    """The first tab stop is the skip link; it becomes visible and leads to the first page."""
    page, _, _ = _open(chromium, write_report(report, tmp_path / "report.html"), 1200)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#data"
    page.close()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_has_contrast(chromium: Any, report: Report, tmp_path: Path, mode: str) -> None:
    """Every text of the page has a contrast of at least 4.5 to 1 against its background (WCAG 1.4.3), in both modes."""
    page, _, _ = _open(chromium, write_report(report, tmp_path / "report.html"), 1200)
    page.evaluate(f"document.documentElement.dataset.mode = '{mode}'")
    low = page.evaluate("""() => {
      const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
        .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
      const paper = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (c !== 'rgba(0, 0, 0, 0)') return c; } return 'rgb(255, 255, 255)'; };
      return [...document.querySelectorAll('body *:not(svg *)')].filter(e => [...e.childNodes]
        .some(n => n.nodeType === 3 && n.data.trim())).filter(e => { const a = light(getComputedStyle(e).color),
        b = light(paper(e)); return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5; }).map(e => e.outerHTML);
    }""")
    assert low == []
    page.close()
