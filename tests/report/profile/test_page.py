"""The page of a profile: what is drawn and said, gaps apart, one file without a network."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexiscope.report.marks.drawing import NARROW
from lexiscope.report.profile.content import (
    NamedValue,
    ShownCell,
    ShownComparison,
    ShownFamily,
    ShownLine,
    ShownModel,
    ShownPair,
    ShownProfile,
    ShownVariant,
    Value,
)
from lexiscope.report.profile.page import profile_drawings, render_profile
from lexiscope.report.profile.sentences import comparison_sentence, lead, line_sentence

RATED = ShownLine(
    "rated", "Rated", "one word", "relatedness", "ρ", 672, 112, 0.0, NamedValue("attainable", Value(0.98)),
    NamedValue("one person", Value(0.79)), NamedValue("mean of people", Value(0.96)),
    people=(NamedValue("One person", Value(0.79, 0.77, 0.81), "each of 77 raters"),),
)  # fmt: skip
CHOSEN = ShownLine(
    "chosen", "Chosen", "which?", "same_sense", "accuracy", 638, 599, 0.5,
    NamedValue("one person, published", Value(0.8), "P"), NamedValue("one person, published", Value(0.8), "P"), None,
)  # fmt: skip
UNABLE = ShownLine("unable", "Unable", "what?", "synonymy", "accuracy", 200, 183, 0.5, None, None, None)


def model(name: str, rho: float, *, accuracy: float = 0.59) -> ShownModel:
    cells = {
        "rated": ShownCell(
            value=Value(rho, rho - 0.1, rho + 0.1),
            share=Value(rho / 0.98, rho / 0.98 - 0.1, rho / 0.98 + 0.1),
            asked=672, variants=(ShownVariant("cosine_distance", rho, True), ShownVariant("layer 1", 0.2, False)),
            varied="layers 1–2", layers=((0, 0.0), (1, 0.2), (2, rho)), note="Layer 2.", of_raters=0.06,
            needed="2 [1, 3]",
        ),
        "chosen": ShownCell(
            value=Value(accuracy, accuracy - 0.04, accuracy + 0.04), share=Value(0.3, 0.15, 0.42), asked=638
        ),
        "unable": ShownCell("cannot answer", "needs Scores; this model offers Embeds"),
    }  # fmt: skip
    share = cells["rated"].share
    assert share is not None
    families = (
        ShownFamily("relatedness", "Relatedness", share, (NamedValue("Rated", share),), 1, 0.81, 0.98),
        ShownFamily("same_sense", "Same sense", Value(0.3, 0.15, 0.42), (NamedValue("Chosen", Value(0.3)),), 1, 1.0),
        ShownFamily("synonymy", "Synonymy", None, (), 1, why="cannot answer: needs Scores; this model offers Embeds"),
        ShownFamily("structure", "Structure", None, (), 1, why="not asked"),
    )
    return ShownModel(name, name.title(), "encoder · English", cells, families)


def profile(*models: ShownModel, comparisons: tuple[ShownComparison, ...] = ()) -> ShownProfile:
    return ShownProfile("test", "0" * 64, (RATED, CHOSEN, UNABLE), models, comparisons)


@pytest.fixture(scope="module")
def page() -> str:
    return render_profile(profile(model("one", 0.39)))


def test_sentences_have_direction_size_interval_and_people() -> None:
    """The templates, by the side of chance on which the interval lies."""
    one = model("one", 0.39)
    assert line_sentence(one, RATED) == (
        "Rated: One follows people’s ratings, ρ = .39 [.29, .49]: 40 % of the attainable [30, 50]; one person "
        "reaches .79."
    )
    assert line_sentence(one, CHOSEN) == (
        "Chosen: One is right about 59 % of the items [55, 63]; chance is 50 %, a person 80 %."
    )
    weak, against, high = model("weak", 0.05), model("odd", -0.3), model("high", 0.9)
    assert line_sentence(weak, RATED) == "Rated: no sign that Weak knows this, ρ = .05 [−.05, .15] includes chance (0)."
    assert line_sentence(against, RATED).startswith("Rated: Odd goes against the correct answers, ρ = −.30")
    assert "above a single rater (.79), near the mean of people (.96)" in line_sentence(high, RATED)
    assert line_sentence(one, UNABLE) == "Unable: cannot answer. Needs Scores; this model offers Embeds."
    assert [sentence.partition(":")[0] for sentence in lead(profile(one), one)] == ["Rated", "Chosen"]


def test_the_page_is_one_file_with_little_script(page: str) -> None:
    """No request, at most 6 kB of script, a policy that allows this script alone."""
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(script.encode()) <= 6_000
    assert "default-src 'none'" in page


def test_no_drawing_and_no_gap_is_silent(page: str) -> None:
    """Every drawing and mark has a text; a gap names its kind and its reason, and has no number."""
    assert page.count("<svg ") == len(re.findall(r'<svg [^>]*aria-label="[^"]+', page))
    assert page.count('class="hv"') == len(re.findall(r'<g class="hv"[^>]*aria-label="[^"]+', page))
    gap, no_line = re.findall(r'<div class="ln off">(.*?)</div>', page)
    assert "the battery has no line of this family" in no_line
    assert "<b>cannot answer</b> needs Scores" in gap
    assert not re.search(r"\d", gap)
    assert "1 of 1 line" in page
    assert ">not asked<" in page.replace("</text>", "<")


def test_what_must_never_be_shown(page: str) -> None:
    """No total, no rank, no praise."""
    text = re.sub(r"<[^>]+>", " ", page.partition("<main>")[2].partition("<script>")[0]).lower()
    for word in ("overall", "rank", "human-level", "understands", "state of the art", "significant"):
        assert word not in text
    assert "there is no total" in text


def test_a_line_has_the_number_needed_to_beat(page: str) -> None:
    """In its row and where it unfolds; a line without single people's ratings has a dash."""
    rated, chosen = re.findall(r'<span class="c5" data-h="number needed to beat">(.*?)</span>', page)
    assert rated == "2 [1, 3]<small>people</small>"
    assert chosen == "–<small></small>"
    assert "<dt>Number needed to beat</dt><dd><b>2 [1, 3]</b> people: the fewest" in page


def compared() -> ShownProfile:
    pairs = (
        ShownPair("b", "a", Value(0.1, -0.02, 0.22), False),
        ShownPair("b", "c", Value(0.4, 0.3, 0.5), True),
        ShownPair("a", "c", Value(0.3, 0.2, 0.4), True),
    )
    comparison = ShownComparison("rated", ("b", "a", "c"), pairs, (("b", "a"), ("c",)), 2.61, ("1–2", "1–2", "3"))
    return profile(model("a", 0.75), model("b", 0.85), model("c", 0.45), comparisons=(comparison,))


def test_models_side_by_side() -> None:
    """The sentence, the width of the intervals, differences from each model, and a page for each model."""
    shown = compared()
    assert comparison_sentence(shown, shown.comparisons[0]) == (
        "Rated: of 3 models, 1 is above one person (.79). B cannot be distinguished from A; it differs from the others."
    )
    page = render_profile(shown)
    assert "3 pairs; a difference counts if it exceeds 2.61 standard errors" in page
    row = r'<tr data-p="(.)"( hidden)?><th scope="row">(.)</th><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td>'
    rows = re.findall(row, page)
    # without a script, the profiled model is the reference; the same pair has one difference in both directions
    assert [(at, name) for at, hidden, name, *_ in rows if not hidden] == [("A", "B"), ("A", "A"), ("A", "C")]
    assert ("A", "", "B", "1–2", ".10 [−.02, .22]") in rows
    assert ("B", " hidden", "A", "1–2", "−.10 [−.22, .02]") in rows
    assert ("C", " hidden", "C", "3", "–") in rows
    assert re.search(r'<label class="pick" hidden><select[^>]*><option>A</option><option>B</option>', page)
    assert all(f'id="{name}"' in page for name in ("profile", "profile-2", "profile-3", "comparison"))
    (drawing,) = [drawn for drawn in profile_drawings(shown) if drawn.name == "models_rated"]
    assert drawing.columns()["sets"] == ["1", "1", "2"]
    assert "cannot be distinguished: B, A" in str(drawing.draw(NARROW).shapes)


@pytest.mark.browser
def test_the_reader_chooses_the_reference(chromium: Any, tmp_path: Path) -> None:
    """Offline, the choice shows the rows of that reference and hides the others; no error is written."""
    (tmp_path / "profile.html").write_text(render_profile(compared()), encoding="utf-8")
    page = chromium.new_page(offline=True)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.goto((tmp_path / "profile.html").as_uri() + "#comparison")
    assert page.locator("tr[data-p=A]").first.is_visible()
    page.locator(".pick select").select_option("C")
    visible = page.locator("tr[data-p]:visible")
    assert [visible.nth(row).get_attribute("data-p") for row in range(visible.count())] == ["C"] * 3
    assert errors == []
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize(("mode", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious(chromium: Any, tmp_path: Path, mode: str, width: int) -> None:
    """Profiles and their comparison, every line open, in both themes; nothing makes the page scroll sideways."""
    from axe_playwright_python.sync_playwright import Axe

    (tmp_path / "profile.html").write_text(render_profile(compared()), encoding="utf-8")
    page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme=mode)
    for shown in ("#profile", "#comparison"):
        page.goto((tmp_path / "profile.html").as_uri() + shown)
        page.evaluate("document.querySelectorAll('details').forEach(line => line.open = true)")
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")] == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_a_share_above_one_and_below_zero_is_drawn() -> None:
    """The axis reaches as far as the intervals; nothing is cut off at the ceiling."""
    high = model("high", 0.97)
    family = replace(high.families[0], share=Value(1.05, 0.9, 1.2))
    shown = profile(replace(high, families=(family, *high.families[1:])))
    hero = profile_drawings(shown)[0]
    drawn = hero.draw(1128)
    ends = [x for shape in drawn.shapes for x in _ends(shape)]
    assert max(ends) <= drawn.width
    assert hero.columns()["high"][0] == 1.2


def _ends(shape: object) -> list[float]:
    return [x for part in getattr(shape, "shapes", (shape,)) for x, _ in getattr(part, "points", ())]
