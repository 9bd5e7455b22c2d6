"""``lexiscope gaps``: from a collection to items, from made-up answers to accuracy, from coded sheets to agreement."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from lexiscope.collect import collect
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import Continuation, Decoding
from lexiscope.items.tables.tabular import read_items, write_items

Run = Callable[..., Result]


class Planted:
    """Continues every prompt with the same made-up texts: "place" in one of ten, the target's own word in one."""

    subject_id, kind, facts = "fake:planted", "fake", SubjectFacts("fake:planted")

    def generate(self, prompts: list[str], decoding: Decoding, **_: object) -> list[list[Continuation]]:
        texts = [" a thing", " the place of it", *[" nothing at all"] * 8]
        return [[Continuation(text, (1, 2), k) for k, text in enumerate(texts[: decoding.n])] for _ in prompts]


@pytest.fixture
def answered(run: Run, tmp_path: Path) -> Path:
    """A folder with the items of the mini collection and a run in which they were answered."""
    made = run("gaps", "items", "mini_synonymy", "--out", "gaps.csv")
    assert made.exit_code == 0, made.output
    items = read_items(tmp_path / "gaps.csv")
    assert len(items) == 40
    (tmp_path / "RUN").mkdir()
    collect(items, [Planted()], "gap_filling", out=tmp_path / "RUN")
    return tmp_path


def code(sheet: Path, out: Path, category: Callable[[int], str]) -> None:
    """Code a sheet as a person would; these codes are made up."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["code"] = category(number)
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_the_items_go_through_collect(answered: Path) -> None:
    """The item file is one that `collect --items` takes as it is: prompts and answers survive."""
    (first, *_) = read_items(answered / "gaps.csv")
    assert str(first.condition("prompt")).endswith("is a synonym of")
    assert first.item_id == "mini_synonymy/01/gap_filling/is_a_synonym_of"


def test_found(run: Run, answered: Path) -> None:
    """Both criteria, one prediction and any of ten: an answer is planted in the second of the ten drawn."""
    items = read_items(answered / "gaps.csv")
    planted = [replace(item, conditions={**item.conditions, "synonym": "place"}) for item in items[:10]]
    write_items([*planted, *items[10:]], answered / "planted.csv")
    done = run("gaps", "found", "RUN", "--items", "planted.csv")
    assert done.exit_code == 0, done.output
    lines = [" ".join(line.split()) for line in done.output.splitlines()]
    start = lines.index("fake:planted, full, sample, any of 10")
    single, ten = " ".join(lines[:start]), " ".join(lines[start:])
    assert "fake:planted, full, greedy" in single
    assert "curated 0 40 0.0 %" in single
    # one of ten predictions of 10 of 40 items: 25 percent of the items, 2.5 percent of the predictions
    assert "curated 10 40 25.0 %" in ten
    assert "2.5 %" in ten
    # the mini collection names no synsets: both criteria accept the same
    assert "undefined: the two differ on no item" in ten


def test_p_values_of_several_parts_are_adjusted_for_how_many_they_are(run: Run, answered: Path) -> None:
    """Greedy and sampled answers of one model are two comparisons: each p has the one of Holm's method next to it."""
    items, accepted = read_items(answered / "gaps.csv"), {"synonym": "x", "synset_synonyms": "thing"}
    planted = [replace(item, conditions={**item.conditions, **accepted}) for item in items[:10]]
    write_items([*planted, *items[10:]], answered / "planted.csv")
    done = run("gaps", "found", "RUN", "--items", "planted.csv")
    assert done.exit_code == 0, done.output
    lines = [line for line in done.output.splitlines() if line.startswith("curated against synset: t(39)")]
    found = r"p ([=<]) (\.\d+) \(p ([=<]) (\.\d+) adjusted for 2 tests, Holm\)"
    # both parts: 10 of 40 items have an answer of the synset only, so both raw p values are equal, and doubled:
    # .00087 of t(39) = 3.61, and 2 / 2¹⁰
    of_t, of_exact = ("<", ".001", "=", ".002"), ("=", ".002", "=", ".004")
    assert [re.findall(found, line) for line in lines] == [[of_t, of_exact]] * 2


def test_coding(run: Run, answered: Path) -> None:
    """A blind sheet of the distinct answers; two coders who differ on every other one agree on half."""
    wrote = run("gaps", "sheet", "RUN", "--items", "gaps.csv", "--out", "sheet.csv", "--blind")
    assert wrote.exit_code == 0, wrote.output
    assert "(120 answers)" in wrote.output
    code(answered / "sheet.csv", answered / "one.csv", lambda n: "unrelated")
    code(answered / "sheet.csv", answered / "two.csv", lambda n: ("unrelated", "same_field")[n % 2])
    arguments = ("RUN", "c1=one.csv", "c2=two.csv", "--items", "gaps.csv", "--lexicon", "none", "--out", "codes.csv")
    read = run("gaps", "read-sheet", *arguments)
    assert read.exit_code == 0, read.output
    assert "c1 and c2, 120 answers that both coded" in read.output
    assert "same category: 50.0 %" in read.output
    assert "Cohen's kappa: 0.00" in read.output
    assert len(ResponseTable.read_csv(answered / "codes.csv")) == 240


def test_an_unfinished_sheet_is_refused(run: Run, answered: Path) -> None:
    """A code that is missing stops the reading, unless the sheet is said to be unfinished."""
    run("gaps", "sheet", "RUN", "--items", "gaps.csv", "--out", "sheet.csv", "--blind")
    code(answered / "sheet.csv", answered / "one.csv", lambda n: "" if n == 7 else "unrelated")
    arguments = ("RUN", "c1=one.csv", "--items", "gaps.csv", "--lexicon", "none", "--out", "codes.csv")
    refused = run("gaps", "read-sheet", *arguments)
    assert refused.exit_code == 1
    assert "[E476]" in refused.output
    assert not (answered / "codes.csv").exists()
    assert run("gaps", "read-sheet", *arguments, "--unfinished").exit_code == 0


def test_wrong_arguments(run: Run, answered: Path) -> None:
    """An unknown template, and a run that is none."""
    assert run("gaps", "items", "mini_synonymy", "--template", "T99", "--out", "x.csv").exit_code == 2
    assert run("gaps", "found", "NOWHERE", "--items", "gaps.csv").exit_code == 1


@pytest.mark.published
def test_proposals_of_wordnet(run: Run, answered: Path, published: Path) -> None:
    """With WordNet at hand every answer has a proposal, and the proposals are compared as one more coder."""
    made = run("gaps", "items", "synonymy", "--out", "gaps.csv")
    assert made.exit_code == 0, made.output
    items = read_items(answered / "gaps.csv")[:10]
    (answered / "R").mkdir()
    collect(items, [Planted()], "gap_filling", out=answered / "R")
    wrote = run("gaps", "sheet", "R", "--items", "gaps.csv", "--out", "sheet.csv")
    assert wrote.exit_code == 0, wrote.output
    with (answered / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        assert all(row["proposed"] and row["why"] for row in csv.DictReader(file))
    code(answered / "sheet.csv", answered / "one.csv", lambda n: "unrelated")
    read = run("gaps", "read-sheet", "R", "c1=one.csv", "--items", "gaps.csv")
    assert read.exit_code == 0, read.output
    assert "c1 and prelabel:wordnet-3.0, 30 answers" in read.output


@pytest.mark.published
def test_an_item_without_a_sense_stays_on_the_sheet(run: Run, answered: Path, published: Path) -> None:
    """Its answers have no proposal, the others have one; it is named and counted."""
    own = answered / "own.csv"
    rows = [
        "role,part,character,She played a small role.",
        "bank,shore,depository,They sat on the bank.",
        "soil,dirt,land,He fell into the soil.",
    ]
    own.write_text("\n".join(("target,synonym,distractor,sentence", *rows)) + "\n", encoding="utf-8")
    assert run("gaps", "items", "own.csv", "--out", "gaps.csv").exit_code == 0
    collect(read_items(answered / "gaps.csv"), [Planted()], "gap_filling", out=answered / "R")
    wrote = run("gaps", "sheet", "R", "--items", "gaps.csv", "--out", "sheet.csv")
    assert wrote.exit_code == 0, wrote.output
    with (answered / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        proposals = {row["sentence"]: bool(row["proposed"]) for row in csv.DictReader(file)}
    assert list(proposals.values()) == [True, False, True]
    assert "answers of 1 items, own/2/gap_filling/is_a_synonym_of: the sense of the target is not known" in wrote.stderr
    code(answered / "sheet.csv", answered / "one.csv", lambda n: "unrelated")
    read = run("gaps", "read-sheet", "R", "c1=one.csv", "--items", "gaps.csv")
    assert read.exit_code == 0, read.output
