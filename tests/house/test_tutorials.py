"""The tutorials, the first page behind each door: each is followed with only the extras that it names."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import ROOT
from .environments import environment_with
from .test_docs_run import _write_made_up_items

DOCS = ROOT / "docs"
TUTORIALS = [DOCS / door / "index.md" for door in ("ratings", "people", "models", "datasets", "senses")]
SAW_C = "sawc_relatedness_full_critical_data.csv"
MOST_WORDS = 600


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.parent.name)
def test_a_tutorial_is_short_and_shows_results(page: Path) -> None:
    """At most 600 words, at least one output and one picture, and two links at the end."""
    text = page.read_text(encoding="utf-8").partition("```{toctree}")[0]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert len(prose.split()) <= MOST_WORDS
    assert len(re.findall(r"^```text$", text, re.MULTILINE)) >= 1
    assert len(re.findall(r"^!\[", text, re.MULTILINE)) == 1
    assert len(re.findall(r"\]\(", text.rstrip().splitlines()[-1])) == 2


@pytest.mark.parametrize("door", ["people", "datasets", "senses"])
def test_a_tutorial_does_what_it_shows(door: str, tmp_path: Path, run_page: ModuleType) -> None:
    """Every command ends well, and every line of an output is printed, but for small differences of numbers."""
    follow(DOCS / door / "index.md", tmp_path, run_page)


@pytest.mark.published
@pytest.mark.parametrize("door", ["ratings", "models"])
def test_a_tutorial_on_published_data_does_what_it_shows(
    door: str, tmp_path: Path, run_page: ModuleType, published: Path
) -> None:
    """The same of the tutorials whose data are published."""
    _write_made_up_items(tmp_path / "items.csv")
    write_ratings(tmp_path / "items.csv", tmp_path / "ratings.csv")
    (tmp_path / SAW_C).symlink_to(published / "sawc" / SAW_C)
    follow(DOCS / door / "index.md", tmp_path, run_page, data=str(published))


def write_ratings(items: Path, path: Path) -> None:
    """The made-up ratings of an item file as a file of ratings, with words and two countries of raters."""
    with items.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["rater", "item_id", "word", "country", "rating"])
        for row in rows:
            country = "AB"[int(row["participant"][-1]) % 2]
            writer.writerow([row["participant"], row["item_id"], row["target"], country, row["rating"]])


def follow(page: Path, folder: Path, run_page: ModuleType, *, data: str = "") -> None:
    text = page.read_text(encoding="utf-8")
    environment = environment_with(run_page.extras_of(text), folder, data=data) | {"COLUMNS": "80"}
    compared = 0
    for command in run_page.run_page(text, folder, environment):
        assert command.status == 0, (command.words, command.printed[-3_000:])
        printed = command.printed.splitlines()
        for line in command.shown.splitlines():
            if line.strip() not in ("", run_page.OMITTED):
                assert any(_same_but_for_numbers(line, other) for other in printed), (line, command.printed)
                compared += 1
    assert compared >= 3


def _same_but_for_numbers(shown: str, printed: str) -> bool:
    """Say whether two lines have the same words and nearly the same numbers: other processors round otherwise."""
    plain = [re.sub(r"\d[\d.,]*", "0", line.strip()) for line in (shown, printed)]
    numbers = [[float(text) for text in re.findall(r"\d*\.?\d+", line.replace(",", ""))] for line in (shown, printed)]
    return plain[0] == plain[1] and numbers[0] == pytest.approx(numbers[1], rel=0.05, abs=0.021)
