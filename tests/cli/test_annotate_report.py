"""``lexiscope annotate report``: one command from the collected answers of every task to a report.

The collections are rehearsals: no person gave these answers, and every report says so.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.subjects.fake_chat import FakeChat, serving

from lexiscope.annotation.rehearsal.browser import Page, PageForm
from lexiscope.annotation.rehearsal.through_server import Visitor, rehearse_through_server
from lexiscope.annotation.store.record import Review
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import (
    AboutYou,
    AboutYouOption,
    CatchSection,
    PoolSection,
    RatingsSection,
)
from lexiscope.annotation.study_file.definition_file import definition_yaml, parse_definition
from lexiscope.annotation.study_file.items import with_setups
from lexiscope.annotation.study_file.study_folder import read_study
from lexiscope.cli.annotate.report import EXPORT
from lexiscope.cli.main import cli
from lexiscope.core import catalog
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.datasets.mini_relatedness import load
from lexiscope.items.tables.tabular import write_items
from lexiscope.report.parts.collection_parts import CollectedText, choices_part, texts_part

from ..annotation.rehearsal.test_through_server import ASKED, FAULTLESS, examples, on_disk, pairs
from ..studies.test_kit_data_collected import ITEMS, senses_of

Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command in an empty folder; unexpected errors are raised."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)

    return call


def rehearsed(task: str, folder: Path, *, people: int = 0, items: tuple[Item, ...] = (), **changes: object) -> Path:
    """The folder of a study through which simulated participants went, as a server leaves it."""
    items = with_setups(items or ITEMS.get(task) or examples(task))
    search = folder / "entities.tsv" if catalog.screen(task).widget == "search" else None
    if search is not None:
        search.write_text("id\ttitle\tdescription\n1\tIceland\ta country\n2\tCambridge\ta city\n", encoding="utf-8")
    folder = folder / "study"
    wanted: dict[str, object] = {
        "ratings": RatingsSection(per_item=2),
        "pool": PoolSection(per_person=2),
        "exclusions": (),
        **changes,
    }
    study = on_disk(items, task, search=search, **wanted)
    asked = study.definition.model_copy(update={"items": "items.csv"})
    study = replace(study, file=parse_definition(definition_yaml(asked)))
    rehearse_through_server(study, population=FAULTLESS, seed=3, people=people, folder=folder)
    launched = study.definition.model_copy(update={"name": f"{task}-simulated"})
    (folder / "study.yaml").write_text(definition_yaml(launched), encoding="utf-8")
    write_items(items, folder / "items.csv")
    if search is not None:
        search.rename(folder / "search.tsv")
    return folder


Reported = Callable[..., tuple[Path, Path, Result]]


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """The folder of a study of a task, its first report and what the command said; made once for all tests."""

    @cache
    def of(task: str, items: tuple[Item, ...] = ()) -> tuple[Path, Path, Result]:
        folder = rehearsed(task, tmp_path_factory.mktemp(task), items=items)
        out = folder.parent / "run"
        words = ["annotate", "report", str(folder), "--bootstrap", "100", "--out", str(out)]
        return folder, out, CliRunner().invoke(cli, words, catch_exceptions=False)

    return of


@pytest.mark.parametrize("task", ASKED)
def test_every_task_has_a_report(task: str, run: Run, reported: Reported) -> None:
    """Of every task: export and report in one folder, marked as simulated; the same command updates both."""
    folder, out, done = reported(task)
    assert done.exit_code == 0, done.output
    assert "simulated participants" in done.output
    assert (out / EXPORT / "items.csv").is_file()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "imulated participants" in page
    records: list[dict[str, Any]] = json.loads((out / "results.json").read_text())
    assert "simulated" in {record.get("people") for record in records}
    again = run("annotate", "report", folder, "--bootstrap", 100, "--out", out, "--quiet")
    assert again.exit_code == 0, again.output
    assert run("verify", out, "--checksums").exit_code == 0


def found(n: int) -> tuple[Item, ...]:
    """Mentions of two towns whose page is known, by its title."""
    titles = {"Iceland": "Iceland", "Cambridge": "Cambridge"}
    return tuple(
        Item(f"m{k}", "d", (Usage(f"{word} in {k}", 0, len(word), lemma=word, language="en"),), gold=titles[word])
        for k in range(n)
        for word in [[*titles][k % 2]]
    )


def chosen(n: int) -> tuple[Item, ...]:
    """Sentences with two senses to choose from, of which one is right."""
    glosses: dict[str, Condition] = {"glosses": "land by a river|a place for money"}
    return tuple(
        Item(f"c{k}", "d", (Usage(f"The bank of {k}", 4, 8, lemma="bank", language="en"),), ("s1", "s2"),
             gold=f"s{k % 2 + 1}", conditions=glosses)
        for k in range(n)
    )  # fmt: skip


def touched(n: int) -> tuple[Item, ...]:
    """Words, each in a sentence, of which one asks how strongly they are experienced by touch."""
    return tuple(
        Item(f"s{k}", "d", (Usage("The bolt was new.", 4, 8, lemma=f"w{k}", language="en"),),
             conditions={"way": "touching"})
        for k in range(n)
    )  # fmt: skip


STUDY_OF: dict[str, tuple[str, tuple[Item, ...]]] = {
    "word_intrusion": ("sense_induction", ()),
    "sense_choice": ("sense_induction", ()),
    "sense_disambiguation": ("context_bias", chosen(10)),
    "entity_link": ("context_bias", found(10)),
    "sense_retrieval": ("context_bias", found(10)),
    "minimal_pair": ("synonymy", ()),
    "substitution": ("synonymy", ()),
    "gap_filling": ("synonymy", ()),
}


def test_ratings_of_one_usage_are_analysed_as_ratings(run: Run, tmp_path: Path) -> None:
    """Sensorimotor strength: agreement and item means of the ratings, without a paper's study."""
    folder = rehearsed("sensorimotor", tmp_path, items=touched(6), ratings=RatingsSection(per_item=4))
    done = run("annotate", "report", folder, "--bootstrap", 100, "--subject", "baseline:constant", "--out", "run")
    assert done.exit_code == 0, done.output
    assert json.loads(Path("run/run.json").read_text())["settings"]["study"] == "any_ratings"
    records = json.loads(Path("run/results.json").read_text())
    assert any(record["statistic"].startswith("krippendorff_alpha") and record["n"] == 6 for record in records)
    assert any(record["subject"] == "baseline:constant" for record in records)


@pytest.mark.parametrize("task", STUDY_OF)
def test_the_study_of_a_task_analyses_its_answers(task: str, reported: Reported) -> None:
    """From the collection to the study in one command: people's accuracy is among its results."""
    name, items = STUDY_OF[task]
    _, out, done = reported(task, *([items] if items else []))
    assert done.exit_code == 0, done.output
    assert json.loads((out / "run.json").read_text())["settings"]["study"] == name
    records = json.loads((out / "results.json").read_text())
    people = [
        record
        for record in records
        if (record["statistic"] == "accuracy" and record["subject"] == "people")
        or record["statistic"].partition("(")[0] in ("intrusion_accuracy", "selection_accuracy", "people_right")
    ]
    assert people
    assert all(0 <= record["value"] <= 100 for record in people)


def test_what_participants_report_of_themselves_goes_into_the_study(run: Run, tmp_path: Path) -> None:
    """The study gets participants.csv if it has their country, gender or age, and their comments if there are any."""
    options = tuple(AboutYouOption(value=name, text=name) for name in ("Spain", "Mexico"))
    asked = AboutYou(measure="country", text="Country", options=options)
    folder = rehearsed("relatedness", tmp_path, items=tuple(load("en").items[:8]), about_you=(asked,))
    done = run("annotate", "report", folder, "--bootstrap", 100, "--out", "run")
    assert done.exit_code == 0, done.output
    settings = json.loads(Path("run/run.json").read_text())["settings"]
    assert settings["participants"] == str(Path("run") / EXPORT / "participants.csv")


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated participants write into every comment field that a page has, the item's word among it."""
    answer_fields = Visitor._answer_fields

    async def with_comment(visitor: Visitor, page: Page, form: PageForm, item: Item) -> dict[str, str]:
        fields = await answer_fields(visitor, page, form, item)
        name = form.field_of("comment")
        return fields | ({name: f"What about {item.word}, {item.item_id}?"} if name else {})

    monkeypatch.setattr(Visitor, "_answer_fields", with_comment)


@pytest.mark.usefixtures("talkative")
def test_comments_reach_the_sheet_for_coders(run: Run, tmp_path: Path) -> None:
    """A comment that was typed on the page of a rating is in the export, on the study's page, and on the coding sheet.

    The sheet that comes back is counted by the study, on the same files.
    """
    folder = rehearsed("plausibility", tmp_path)
    done = run("annotate", "report", folder, "--bootstrap", 100, "--out", "run")
    assert done.exit_code == 0, done.output
    with Path("run", EXPORT, "judgments.csv").open(encoding="utf-8-sig", newline="") as stream:
        judgments = [row for row in csv.DictReader(stream) if row["comment"]]
    assert judgments
    assert all(row["item_id"] in row["comment"] for row in judgments)
    assert f"{len(judgments)} comments of participants" in " ".join(done.output.split())
    records = json.loads(Path("run/results.json").read_text())
    (counted_ones,) = [r for r in records if r["statistic"] == "n_comments" and r["condition"] == "all"]
    assert counted_ones["value"] == len(judgments)
    with Path("run/comment_coding.csv").open(encoding="utf-8-sig", newline="") as stream:
        sheet = list(csv.DictReader(stream))
    assert sorted(row["comment"] for row in sheet) == sorted(row["comment"] for row in judgments)
    for row, tag in zip(sheet, ("rare_meaning", *["none_of_these"] * len(sheet)), strict=False):
        row[tag] = "x"
    with Path("ana.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, [*sheet[0]])
        writer.writeheader()
        writer.writerows(sheet)
    export = Path("run", EXPORT)
    again = run(
        "study", "ambistory", "--items", export / "items.csv", "--ratings", export / "ratings.csv", "--comments",
        export / "judgments.csv", "--comment-coding", "ana.csv", "--bootstrap", 100, "--out", "coded",
    )  # fmt: skip
    assert again.exit_code == 0, again.output
    records = json.loads(Path("coded/results.json").read_text())
    shares = [r for r in records if r["statistic"] == "comment_code_share(tag=rare_meaning)"]
    (of_all,) = [record["value"] for record in shares if record["condition"].startswith("all, ")]
    assert of_all == pytest.approx(100 / len(sheet))


@pytest.mark.usefixtures("talkative")
@pytest.mark.parametrize("task", ["substitution", "gap_filling", "story_ending"])
def test_comments_of_other_tasks_are_in_the_export(task: str, run: Run, tmp_path: Path) -> None:
    """The command says how many there are and in which file; each is in the row of its answer."""
    folder = rehearsed(task, tmp_path)
    done = run("annotate", "report", folder, "--bootstrap", 100, "--out", "run")
    assert done.exit_code == 0, done.output
    with Path("run", EXPORT, "judgments.csv").open(encoding="utf-8-sig", newline="") as stream:
        judgments = [row for row in csv.DictReader(stream) if row["phase"] == "trials"]
    assert judgments
    assert all(row["comment"].startswith("What about ") for row in judgments)
    assert f"{len(judgments)} comments of participants" in " ".join(done.output.split())


def test_without_valid_participants_there_is_no_report(run: Run, tmp_path: Path) -> None:
    """Before the first finished participant the command stops with the reason, and no file is written."""
    folder = rehearsed("relatedness", tmp_path, people=1, items=pairs(4))
    study = read_study(folder)
    with Store.open(folder, replace(study.freeze().record, simulated=True), unsafe_fast=True) as store:
        (person,) = [person for person in store.people() if person.finished_at]
        store.change_state(person.participant_id, type(person.state)("excluded"), reason="excluded by hand: test")
    done = run("annotate", "report", folder, "--out", "run")
    assert (done.exit_code, "No valid participants yet" in done.output) == (1, True)
    assert not (tmp_path / "run").exists()


def test_one_participant_has_a_report(run: Run, tmp_path: Path) -> None:
    """Agreement is not defined for one participant: the report has what is, and the reason for what is not."""
    folder = rehearsed("substitution", tmp_path, people=1)
    done = run("annotate", "report", folder, "--bootstrap", 100, "--out", "run")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8").replace("simulated participants", "people")
    assert "no item has answers of two people" in page


def test_new_answers_are_in_the_next_report(run: Run, tmp_path: Path) -> None:
    """A review between two calls of the same command is in the second report: the texts and their decisions."""
    folder = rehearsed("story_ending", tmp_path, catch=CatchSection(per_list=0))
    assert run("annotate", "report", folder, "--out", "run").exit_code == 0
    study = read_study(folder)
    with Store.open(folder, replace(study.freeze().record, simulated=True), unsafe_fast=True) as store:
        first, second, *_ = sorted(store.trial_answers(), key=lambda row: int(row["id"]))
        store.record_review(Review(int(first["id"]), "accepted", "", "A text that was edited.", "e", "t"))
        store.record_review(Review(int(second["id"]), "rejected", "no sentence", None, "e", "t"))
    done = run("annotate", "report", folder, "--out", "run")
    assert done.exit_code == 0, done.output
    values = {record["statistic"]: record["value"] for record in json.loads(Path("run/results.json").read_text())}
    assert (values["n_texts(status=accepted)"], values["n_texts(status=rejected)"]) == (1, 1)
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "A text that was edited." in page
    assert "The review accepted 1 of the 2 reviewed so far." in page


def test_models_are_compared_with_participants(run: Run, tmp_path: Path) -> None:
    """--subject asks a model of a study; tasks whose report has no models refuse it before anything is written."""
    folder = rehearsed("relatedness", tmp_path, items=tuple(load("en").items[:8]))
    options = ("--bootstrap", 100, "--subject", "baseline:random", "--out")
    done = run("annotate", "report", folder, *options, "run")
    assert done.exit_code == 0, done.output
    records = json.loads(Path("run/results.json").read_text())
    assert any(record["subject"] == "baseline:random" for record in records)


def copies(task: str, n: int) -> tuple[Item, ...]:
    """The worked examples of a task, *n* times, under new ids."""
    return tuple(replace(item, item_id=f"{item.item_id}-{k}") for k in range(n) for item in examples(task))


CHATS: dict[str, tuple[Item, ...]] = {
    "relatedness": tuple(load("en").items[:12]),
    "word_intrusion": (),
    "sense_choice": (),
    "plausibility": (),
    "sensorimotor": touched(6),
    "same_sense": (),
    "sense_verification": copies("sense_verification", 6),
    "sense_disambiguation": chosen(10),
    "minimal_pair": (),
    "substitution": (),
    "gap_filling": (),
}


@pytest.mark.parametrize("task", CHATS)
def test_a_chat_model_is_compared_with_participants(task: str, run: Run, tmp_path: Path) -> None:
    """One command from a collection to the study of its task, with a chat model on the same items: it has results."""
    folder, endpoint = rehearsed(task, tmp_path, items=CHATS[task]), FakeChat()
    with serving(endpoint) as url:
        spec = f"chat:m@{url}"
        done = run("annotate", "report", folder, "--bootstrap", 100, "--subject", spec, "--out", "run")
    assert done.exit_code == 0, done.output
    assert endpoint.received
    records = json.loads(Path("run/results.json").read_text())
    own = {record["statistic"] for record in records if record["subject"].startswith(spec)}
    assert own
    assert "simulated" in {record.get("people") for record in records}
    answers = ResponseTable.read_parquet(Path("run/responses.parquet"))
    assert {"chat", "simulated"} <= {*answers.unique("subject_kind")}


@pytest.mark.parametrize(
    ("task", "items", "said"),
    [
        ("entity_link", found(10), "a chat model cannot search the list that people search"),
        ("sense_retrieval", found(10), "a chat model cannot search the list that people search"),
        ("sense_verification", (), "the report then has agreement and accuracy of participants"),
    ],
)
def test_a_model_that_cannot_be_asked_is_not_left_out_silently(
    task: str, items: tuple[Item, ...], said: str, run: Run, tmp_path: Path
) -> None:
    """A search takes no chat model, and items that the study cannot use none at all: the reason, and what to do."""
    folder, endpoint = rehearsed(task, tmp_path, items=items), FakeChat()
    with serving(endpoint) as url:
        done = run("annotate", "report", folder, "--bootstrap", 100, "--subject", f"chat:m@{url}", "--out", "run")
    assert done.exit_code == 1
    assert said in " ".join(done.output.split())
    assert not endpoint.received


# -- what the reports of choices and of texts hold ------------------------------------------------------------------


def choice(who: str, item: str, option: str, view: str | None = None) -> Response:
    """One choice."""
    return Response(who, "participant", item, "substitution", "choice", option=option, view=view)


def test_choices_by_view() -> None:
    """Two raters, four items: 3 of 4 answers are equal; accuracy 3/4 and 4/4; the majority of each item."""
    answers = {"a": "tttf", "b": "ttff"}
    rows = [choice(who, f"i{k}", option, "context") for who, given in answers.items() for k, option in enumerate(given)]
    items = [replace(item, gold="ttff"[k]) for k, item in enumerate(senses_of("substitution", 4))]
    part = choices_part(ResponseTable.from_rows(rows), items, measure="choice", resamples=100)
    values = {(record.statistic, record.subject, record.view): record.value for record in part.records}
    assert values["percent_agreement(over=items)", "", "context"] == pytest.approx(3 / 4)
    assert values["accuracy", "a", "context"] == pytest.approx(3 / 4)
    assert values["accuracy", "b", "context"] == 1
    (votes,) = [table for table in part.tables if table.name == "votes"]
    assert [row[3:] for row in votes.rows] == [(2, "t", 1.0), (2, "t", 1.0), (2, "f / t", 0.5), (2, "f", 1.0)]
    assert "in the view context" in part.paragraphs[0]


def test_texts_and_their_lengths() -> None:
    """Two texts of 2 and 4 words: mean 3; one of two items has an accepted text; the final text is listed."""
    texts = [
        CollectedText("i0", "bank", "p1", "A bnak.", "A bank.", "accepted"),
        CollectedText("i0", "bank", "p2", "One two three four", "One two three four"),
    ]
    part = texts_part(texts, pairs(2))
    values = {record.statistic: record.value for record in part.records}
    assert (values["text_length(summary=mean)"], values["n_items(with=accepted_text)"], values["n_texts"]) == (3, 1, 2)
    assert [row[3] for row in part.tables[1].rows] == ["A bank.", "One two three four"]
    assert texts_part([], pairs(2)).paragraphs == ("No participant has written a text yet.",)
