"""``lexiscope choices draw|views``: sheets by view, and the same items in the app; every answer here is made up."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from lexiscope.analysis.bias.bias import context_word_bias
from lexiscope.analysis.bias.people_by_view import people_scores
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.arrange.views import view_item
from lexiscope.items.sheets.given_answer import read_view_judgments
from lexiscope.items.tables.tabular import read_items, write_items
from lexiscope.resources.corpora.entity_list import write_entities

Run = Callable[..., Result]
SMALL = ("--per-annotator", "8", "--shared", "4", "--seed", "3")
WORDS = ("kettle", "lantern", "saddle", "ribbon", "hinge", "ladle")


def usage(text: str, word: str) -> Usage:
    return Usage(text, text.index(word), text.index(word) + len(word), lemma=word, language="en")


@pytest.fixture
def items_file(tmp_path: Path) -> Path:
    """Pairs of made-up sentences with their answers, in dev and test."""
    made = []
    for number in range(36):
        word, split = WORDS[number % 6], "dev" if number % 3 == 0 else "test"
        usages = (usage(f"Number {number}: the {word} broke.", word), usage(f"We sold {number} of the {word}.", word))
        made.append(Item(f"{split}/{number:02}", "own", usages, gold="tf"[number % 2], conditions={"split": split}))
    write_items(made, tmp_path / "pairs.csv")
    return tmp_path / "pairs.csv"


def answer(sheet: Path, gold: dict[str, str | None], *, wrong: int = 0, undecided: int = 0) -> None:
    """Answer a sheet: the first *wrong* rows wrongly, the last *undecided* ones as undecided, with a guess."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        right = gold[row["item_id"]]
        row["label"] = ("f" if right == "t" else "t") if number < wrong else str(right)
        if "word" in row:
            row["word"] = "basket"
        if number >= len(rows) - undecided:
            row["label"], row["undecided"] = "t", "x"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_sheets_go_out_and_come_back(run: Run, items_file: Path, tmp_path: Path) -> None:
    """B17 to B21: test is drawn, no sheet of equal words; accuracy by person, agreement on the overlap, undecided
    answers, and assumed scores marked as such; the bias analysis reads what was written."""
    done = run("choices", "draw", "pairs.csv", "--out", "drawn", *SMALL)
    assert done.exit_code == 0, done.output
    assert "12 distinct items, 4 of them in every list; 6 sheets" in done.output
    items = read_items(tmp_path / "drawn" / "items.csv")
    assert {item.conditions["split"] for item in items} == {"test"}
    gold = {item.item_id: item.gold for item in items}
    for name, settings in (("full_1", {}), ("full_2", {"wrong": 2}), ("context_1", {"undecided": 2}), ("reveal_1", {})):
        answer(tmp_path / "drawn" / f"{name}.csv", gold, **settings)
    sheets = ("ana=drawn/full_1.csv", "leo=drawn/full_2.csv", "eva=drawn/context_1.csv", "eva=drawn/reveal_1.csv")
    read = run("choices", "views", "drawn", *sheets, "--out", "answers.csv")
    assert read.exit_code == 0, read.output
    assert re.search(r"full\s+leo\s+75\.0 %", read.output)
    assert "full: ana and leo, 4 items that both answered" in read.output
    assert "50.0 % (assumed: no one was asked" in " ".join(read.output.split())
    table = ResponseTable.read_csv(tmp_path / "answers.csv")
    assert len(table.where(subject_id="eva", measure="revealed_choice")) == 8
    assert table.where(measure="flag_undecided").column("value").sum() == 2
    assert set(table.where(measure="guessed_word").column("raw")) == {"basket"}
    scores = people_scores(table, items, task=catalog.task("same_sense"))
    found = context_word_bias(scores, resamples=50)
    # word is assumed at .5, and so is label: nothing can be had from the word alone
    assert (found.word.value, found.view("label").fixed[:7]) == (0.0, "assumed")  # type: ignore[union-attr]


def test_records_keep_measured_and_assumed_apart(run: Run, items_file: Path, tmp_path: Path) -> None:
    """--json: what was assumed has its source, what was measured none."""
    run("choices", "draw", "pairs.csv", "--out", "drawn", "--view", "full", *SMALL, "--quiet")
    gold = {item.item_id: item.gold for item in read_items(tmp_path / "drawn" / "items.csv")}
    for number in (1, 2):
        answer(tmp_path / "drawn" / f"full_{number}.csv", gold)
    read = run("choices", "views", "drawn", "ana=drawn/full_1.csv", "leo=drawn/full_2.csv", "--json")
    assert read.exit_code == 0, read.output
    records = json.loads(read.output)
    by_source = {(r["view"], r["source"]) for r in records if r["statistic"] == "accuracy"}
    assert by_source == {("full", ""), ("label", "assumed"), ("word", "assumed")}
    (same,) = [r for r in records if r["statistic"] == "percent_agreement(over=items)"]
    assert (same["value"], same["n"]) == (1.0, 4)


def test_what_is_wrong_is_refused(run: Run, items_file: Path, tmp_path: Path) -> None:
    """A folder that exists, too few items, one person in two views, a wrong cell: nothing is written."""
    run("choices", "draw", "pairs.csv", "--out", "drawn", *SMALL, "--quiet")
    assert "[E615]" in run("choices", "draw", "pairs.csv", "--out", "drawn", *SMALL).output
    assert "[E421]" in run("choices", "draw", "pairs.csv", "--out", "new").output
    assert not (tmp_path / "new").exists()
    gold = {item.item_id: item.gold for item in read_items(tmp_path / "drawn" / "items.csv")}
    for name in ("full_1", "context_1"):
        answer(tmp_path / "drawn" / f"{name}.csv", gold)
    twice = run("choices", "views", "drawn", "ana=drawn/full_1.csv", "ana=drawn/context_1.csv", "--out", "a.csv")
    assert (twice.exit_code, "[E487]" in twice.output) == (1, True)
    answer(tmp_path / "drawn" / "full_2.csv", dict.fromkeys(gold, "maybe"))
    assert "[E475]" in run("choices", "views", "drawn", "leo=drawn/full_2.csv", "--out", "a.csv").output
    assert not (tmp_path / "a.csv").exists()
    assert "NAME=FILE" in run("choices", "views", "drawn", "=drawn/full_1.csv").output


def complete(study: Path) -> None:
    """Fill in what only a researcher can write."""
    text = study.read_text(encoding="utf-8")
    for old, new in (
        ('consent: ""', "consent: I agree."),
        ('ethics: ""', "ethics: A test, nobody is asked."),
        ('completion: ""', "completion: AAA1"),
        ('no_consent: ""', "no_consent: BBB1"),
        ("amount: 0.0", "amount: 2.0"),
        ("minutes: 0.0", "minutes: 10.0"),
    ):
        text = text.replace(old, new)
    study.write_text(text, encoding="utf-8")


def test_the_same_items_in_the_app(run: Run, items_file: Path, tmp_path: Path) -> None:
    """One study, an arm for each view, two simulated people in each through the real server; the draft has the lists
    that were drawn; choices.csv is read by `agree`, wic_judgments.csv by `choices views` and the bias analysis."""
    run("choices", "draw", "pairs.csv", "--out", "drawn", *SMALL, "--quiet")
    init = run("annotate", "init", "--task", "same_sense", "--items", "drawn/items.csv", "--out", "study.yaml")
    assert init.exit_code == 0, init.output
    assert "(12 items, 2 lists)" in init.output
    complete(tmp_path / "study.yaml")
    checked = run("annotate", "check", "study.yaml")
    assert checked.exit_code == 0, checked.output
    design = run("annotate", "design", "study.yaml")
    assert "12 items, in every list: 4;" in design.output
    assert "in each of 2 views (full, context): 4 participants" in " ".join(design.output.split())
    shares = ("--dropout", "0", "--careless", "0", "--slow", "0", "--non-native", "0")
    gone = run("annotate", "simulate", "study.yaml", "--through-server", "--out", "exported", *shares, "--quiet")
    assert gone.exit_code == 0, gone.output
    agree = run("agree", "exported/choices.csv", "--view", "context")
    assert agree.exit_code == 0, agree.output
    assert "Cohen's κ" in agree.output
    read = run("choices", "views", "drawn", "exported/wic_judgments.csv", "--out", "answers.csv")
    assert read.exit_code == 0, read.output
    assert "4 items that both answered" in read.output
    table = ResponseTable.read_csv(tmp_path / "answers.csv")
    assert table == read_view_judgments(tmp_path / "exported" / "wic_judgments.csv")
    people = {view: len(table.where(view=view, measure="choice").unique("subject_id")) for view in ("full", "context")}
    assert people == {"full": 2, "context": 2}
    again = table.where(measure="revealed_choice")
    hidden = table.where(view="context", measure="choice")
    assert len(again) == len(hidden) == 16
    assert set(again.unique("subject_id")) == set(hidden.unique("subject_id"))
    scores = people_scores(table, read_items(tmp_path / "drawn" / "items.csv"), task=catalog.task("same_sense"))
    assert set(scores) == {"full", "context", "label", "word"}


def test_pages_are_compared_by_the_list_that_was_searched(run: Run, tmp_path: Path) -> None:
    """B20: entity linking on sheets: a search space as the list, titles and addresses as answers, 0 assumed without
    input; without the list nothing can be compared."""
    space = SearchSpace.of_pages("made", ["Salt_(film)", "Salt", "Oak"])
    write_entities(tmp_path / "pages.tsv", space.entity_list())
    titles = ("Salt", "Oak", "Salt_(film)")
    texts = [(f"Number {n}: they know {titles[n % 3][:4].strip()} well.", titles[n % 3]) for n in range(12)]
    mentions = [(usage(text, page[:4].strip()), page) for text, page in texts]
    write_items([Item(f"m{n}", "own", (u,), gold=page) for n, (u, page) in enumerate(mentions)], tmp_path / "six.csv")
    small = ("--task", "entity_link", "--per-annotator", "8", "--shared", "4", "--view", "full", "--quiet")
    assert run("choices", "draw", "six.csv", "--out", "drawn", *small).exit_code == 0
    gold = {item.item_id: str(item.gold) for item in read_items(tmp_path / "drawn" / "items.csv")}
    for number in (1, 2):
        sheet = tmp_path / "drawn" / f"full_{number}.csv"
        with sheet.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            right = gold[row["item_id"]]
            row["page"] = f"https://example.org/wiki/{right}" if number == 1 else right.replace("_", " ").lower()
        rows[0]["page"] = "nowhere"
        with sheet.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    sheets = ("ana=drawn/full_1.csv", "leo=drawn/full_2.csv")
    assert "--entities" in run("choices", "views", "drawn", *sheets).output
    read = run("choices", "views", "drawn", *sheets, "--entities", "pages.tsv", "--json")
    assert read.exit_code == 0, read.output
    values = {(r["subject"], r["view"], r["statistic"]): r["value"] for r in json.loads(read.output)}
    # a page that the list does not have is no answer that can be read
    assert values["ana", "full", "accuracy"] == values["leo", "full", "accuracy"] == 1.0
    assert values["ana", "full", "unanswered"] == 1
    assert values["people", "label", "accuracy"] == 0.0


def test_mentions_are_looked_up_in_the_app(run: Run, tmp_path: Path) -> None:
    """Entity linking in the app: three arms, simulated people who look pages up in a search space through the real
    server; link_judgments.csv is compared by the same list."""
    space = SearchSpace.of_pages("made", ["Salt_(film)", "Salt", "Oak"])
    write_entities(tmp_path / "pages.tsv", space.entity_list())
    made = [Item(f"m{n}", "own", (usage(f"Number {n}: Salt came.", "Salt"),), gold="Salt") for n in range(6)]
    write_items(made, tmp_path / "six.csv")
    small = ("--task", "entity_link", "--per-annotator", "4", "--shared", "2", "--quiet")
    run("choices", "draw", "six.csv", "--out", "drawn", *small)
    init = run("annotate", "init", "--task", "entity_link", "--items", "drawn/items.csv", "--out", "study.yaml")
    assert init.exit_code == 0, init.output
    complete(tmp_path / "study.yaml")
    text = (tmp_path / "study.yaml").read_text(encoding="utf-8")
    (tmp_path / "study.yaml").write_text(text.replace('search: ""', "search: pages.tsv"), encoding="utf-8")
    shares = ("--dropout", "0", "--careless", "0", "--slow", "0", "--non-native", "0")
    gone = run("annotate", "simulate", "study.yaml", "--through-server", "--out", "exported", *shares, "--quiet")
    assert gone.exit_code == 0, gone.output
    judgments = ("exported/link_judgments.csv", "--entities", "pages.tsv", "--out", "answers.csv", "--json")
    read = run("choices", "views", "drawn", *judgments)
    assert read.exit_code == 0, read.output
    table = ResponseTable.read_csv(tmp_path / "answers.csv").where(measure="page")
    assert len(table) == 3 * 2 * 4
    assert set(table.unique("view")) == {"full", "context", "word"}
    assert {row.option for row in table.rows()} <= {*space.ids, None}


@pytest.mark.published
def test_wic_is_drawn_from_dev(run: Run, tmp_path: Path, published: Path) -> None:
    """The design of the study on WiC: 150 pairs of dev, 100 on each of two sheets in full and in context."""
    done = run("choices", "draw", "wic", "--out", "drawn", "--quiet")
    assert "150 distinct items, 50 of them in every list; 6 sheets" in done.output
    assert {item.conditions["split"] for item in read_items(tmp_path / "drawn" / "items.csv")} == {"dev"}


@pytest.mark.published
def test_guesses_are_put_back(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, published: Path) -> None:
    """B38: a sheet with the forms, a refusal while a doubt is open, and items in the view guessed_word."""
    monkeypatch.setenv("LEXISCOPE_DATA", str(published))
    texts = ("The kettles broke.", "We sold kettles.")
    usages = tuple(replace(usage(text, "kettles"), lemma="kettle", pos="NOUN") for text in texts)
    write_items([Item(f"i{n}", "own", usages, gold="t") for n in range(6)], tmp_path / "six.csv")
    small = ("--per-annotator", "4", "--shared", "2", "--view", "context")
    run("choices", "draw", "six.csv", "--out", "drawn", *small, "--quiet")
    answer(tmp_path / "drawn" / "context_1.csv", dict.fromkeys([f"i{n}" for n in range(6)], "t"))
    run("choices", "views", "drawn", "ana=drawn/context_1.csv", "--out", "answers.csv")
    made = run("choices", "guesses", "drawn", "answers.csv", "--out", "forms.csv")
    assert made.exit_code == 0, made.output
    assert "8 places for guesses, 0 to decide" in made.output
    done = run("choices", "guesses", "drawn", "answers.csv", "--decided", "forms.csv", "--out", "guessed.csv")
    assert done.exit_code == 0, done.output
    items = read_items(tmp_path / "guessed.csv")
    assert [u.text for u in view_item(items[0], "guessed_word").usages] == ["The baskets broke.", "We sold baskets."]
    answers = ResponseTable.read_csv(tmp_path / "answers.csv")
    odd = ["roof" if row.measure == "guessed_word" else row.raw for row in answers.rows()]
    answers.with_column("raw", odd).write_csv(tmp_path / "odd.csv")
    run("choices", "guesses", "drawn", "odd.csv", "--out", "forms.csv")
    refused = run("choices", "guesses", "drawn", "odd.csv", "--decided", "forms.csv", "--out", "never.csv")
    assert "[E476]" in refused.output
    assert not (tmp_path / "never.csv").exists()
    answers.where(measure="choice").write_csv(tmp_path / "none.csv")
    assert "[E504]" in run("choices", "guesses", "drawn", "none.csv", "--out", "never.csv").output
