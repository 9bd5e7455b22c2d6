"""Finished texts from file to report: people choose between them in the app, and chat models are asked in its words."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from tests.cli.test_annotate import complete
from tests.subjects.fake_chat import FakeChat, serving

from lexiscope.core import catalog
from lexiscope.items.choice_sets.choice_set_file import read_choice_sets
from lexiscope.resources.lexicons import wordnet

Run = Callable[..., Result]
PAIRS = """\
sentence_good,sentence_bad,UID,pairID
The keys of the cabinet are on the table.,The keys of the cabinet is on the table.,agreement,1
The author that the editors praise is here.,The author that the editors praise are here.,agreement,2
She gave him the book yesterday.,She gave he the book yesterday.,case,1
"""


@pytest.fixture
def exported(run: Run, tmp_path: Path) -> Path:
    """What simulated people answered through the real server: everybody finishes."""
    (tmp_path / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    asked = ("--task", "minimal_pair", "--items", "pairs.csv", "--language", "en", "--out", "study.yaml")
    done = run("annotate", "init", *asked)
    assert done.exit_code == 0, done.output
    complete(tmp_path / "study.yaml")
    checked = run("annotate", "check", "study.yaml")
    assert checked.exit_code == 0, checked.output
    shares = ("--dropout", "0", "--careless", "0", "--slow", "0", "--non-native", "0", "--quiet")
    gone = run("annotate", "simulate", "study.yaml", "--through-server", "--out", "exported", *shares)
    assert gone.exit_code == 0, gone.output
    return tmp_path / "exported"


def test_the_export_goes_into_the_study(
    run: Run, tmp_path: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both orders are shown and stored; the export's items are those of the file; people, a chat model that takes the
    first text, and a baseline are compared on them."""
    with (exported / "display_orders.csv").open(encoding="utf-8") as file:
        orders = {row["display_order"] for row in csv.DictReader(file)}
    assert orders == {"[0, 1]", "[1, 0]"}
    asked = [read_choice_sets(path, dataset="own", language="en") for path in (exported / "items.csv", "pairs.csv")]
    shown = [{item.item_id: (item.options, item.gold, [u.key for u in item.usages]) for item in own} for own in asked]
    assert shown[0] == shown[1]
    monkeypatch.setattr(wordnet, "load", lambda: pytest.fail("no lexicon is needed"))
    endpoint = FakeChat(says=lambda body: "1")
    with serving(endpoint) as url:
        told = ("--items", "exported/items.csv", "--people", "exported/choices.csv", "--subject", f"chat:m@{url}")
        counts = tmp_path / "counts.csv"
        counts.write_text(
            "word,count\n" + "".join(f"{word},2\n" for word in ("are", "is", "him", "he")), encoding="utf-8"
        )
        done = run(
            "study", "synonymy", *told, "--frequency", "counts.csv", "--bootstrap", "100", "--out", "run", "--quiet"
        )
    assert done.exit_code == 0, done.output
    records = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))
    own = {(r["statistic"], r["subject"]) for r in records if r["condition"] == "minimal_pair"}
    assert {("people_right(of=answers)", "people"), ("people_same", "people")} <= own
    assert {("first_chosen", f"chat:m@{url}"), ("right_on_same", f"chat:m@{url}")} <= own
    question = catalog.screen("minimal_pair").words("en")["question"]
    messages = [body["messages"] for body in endpoint.received]
    assert all(turns[-1]["content"].startswith(f"{question}\n1: ") for turns in messages)
    # the guidelines that people read, without what is about their page
    assert all("Read all texts to the end before you choose." in turns[0]["content"] for turns in messages)
    assert not any("Mark the box" in turns[0]["content"] for turns in messages)


def test_the_choices_are_analysed_as_they_are(run: Run, exported: Path) -> None:
    """`analyse` takes choices.csv: agreement of people, without a model."""
    done = run("analyse", "exported/choices.csv", "--out", "analysed", "--quiet")
    assert done.exit_code == 0, done.output
    assert "Share of rater pairs with the same choice" in done.output


def test_comments_on_any_task_are_coded(run: Run, tmp_path: Path, exported: Path) -> None:
    """A sheet of the comments on items of participants who are not excluded; two coders: shares and agreement by hand.

    Of four comments, ana finds an odd text in the first two, ben in the first and the third: both say the same of two.
    """
    judgments = exported / "judgments.csv"
    with judgments.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    trials = [row for row in rows if row["phase"] == "trials"]
    for number, row in enumerate(trials[:6]):
        row["comment"] = f"Comment {number}\nin two lines"
    trials[4]["excluded"] = trials[5]["excluded"] = "1"
    with judgments.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    made = run("annotate", "comments", "exported", "--out", "sheet.csv")
    assert made.exit_code == 0, made.output
    assert "Saved sheet.csv (4 comments)" in made.output
    assert "2 comments not used" in " ".join(made.output.split())
    with (tmp_path / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        sheet = list(csv.DictReader(file))
    assert [row["comment"] for row in sheet] == [f"Comment {number} in two lines" for number in range(4)]
    assert all("[" in row["texts"] and " / " in row["texts"] and row["answer"] for row in sheet)
    assert not any(row["participant_id"] in "".join(line.values()) for line in sheet for row in trials)
    for coder, marked in (("ana", (0, 1)), ("ben", (0, 2))):
        with (tmp_path / f"{coder}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(sheet[0]))
            writer.writeheader()
            writer.writerows(
                row | {"odd_text" if number in marked else "none_of_these": "x"} for number, row in enumerate(sheet)
            )
    coded = ("annotate", "comments", "exported", "--coding", "ana.csv", "--coding", "ben.csv")
    done = run(*coded, "--json", "--quiet")
    assert done.exit_code == 0, done.output
    values = {(r["statistic"], r["condition"]): r for r in json.loads(done.output)}
    assert values["comment_code_share(tag=odd_text)", "coder ana"]["value"] == 50.0
    assert values["comment_code_same(tag=odd_text)", "comments, ana and ben"]["value"] == 50.0
    assert {record["people"] for record in values.values()} == {"simulated"}
    shown = run(*coded, "--out", "codes.csv")
    assert "What comments are about" in shown.output
    assert "simulated participants" in shown.output


@pytest.mark.parametrize(("comments", "widget"), [("true", True), ("false", False)])
def test_a_study_says_whether_there_is_a_field_for_comments(
    run: Run, tmp_path: Path, comments: str, widget: bool
) -> None:
    """`comments: true` puts the field on the page of a task without it, and a button behind it; `false`: no field."""
    lines = ["word,sentence_1,sentence_2", *(f"bank,The bank {n}.,A bank {n}." for n in ("shuts", "opens"))]
    (tmp_path / "items.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("annotate", "init", "--items", "items.csv", "--language", "en", "--out", "study.yaml")
    complete(tmp_path / "study.yaml")
    text = (tmp_path / "study.yaml").read_text(encoding="utf-8")
    (tmp_path / "study.yaml").write_text(re.sub(r"^comments:.*$", f"comments: {comments}", text, flags=re.M), "utf-8")
    done = run("annotate", "preview", "study.yaml", "--out", "pages")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "pages" / "list_1_1.html").read_text(encoding="utf-8")
    assert ('name="comment-' in page, 'data-advance="next"' in page) == (widget, widget)
