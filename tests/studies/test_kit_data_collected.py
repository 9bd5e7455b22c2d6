"""What a collection exports goes into its study in one command; stories of a user's own, of any number of parts.

The collections are rehearsals: no person gave these answers, and every result says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from click.testing import CliRunner, Result

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.rehearsal.through_server import rehearse_through_server
from lexiscope.annotation.study_file.definition import PoolSection, RatingsSection
from lexiscope.annotation.study_file.definition_file import definition_yaml, parse_definition
from lexiscope.cli.main import cli
from lexiscope.core.item import Item
from lexiscope.datasets import mini_ambistory

from ..annotation.rehearsal.test_through_server import FAULTLESS, examples, on_disk, pairs

Run = Callable[..., Result]
SAID = "simulated participants"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command in an empty folder; unexpected errors are raised."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)

    return call


def senses_of(task: str, n: int) -> tuple[Item, ...]:
    """Copies of the worked example of a task, each about a word of its own."""
    (page, *_) = examples(task)
    return tuple(
        replace(
            page,
            item_id=f"i{k}",
            usages=(replace(page.usages[0], lemma=f"w{k}"), *page.usages[1:]),
            conditions={**page.conditions, **({"model_choice": page.gold or ""} if task == "sense_choice" else {})},
        )
        for k in range(n)
    )


ITEMS: Mapping[str, tuple[Item, ...]] = MappingProxyType(
    {
        "relatedness": pairs(18),
        "plausibility": mini_ambistory.load().items[:18],
        "same_sense": tuple(
            item
            for number in range(6)
            for item in (replace(one, item_id=f"{one.item_id}-{number}") for one in examples("same_sense"))
        ),
        "substitution": senses_of("substitution", 4),
        "word_intrusion": senses_of("word_intrusion", 6),
        "sense_choice": senses_of("sense_choice", 6),
    }
)
COMMANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "relatedness": ("study", "saw_c", "--items", "{0}/items.csv", "--ratings", "{0}/ratings.csv",
                        "--bootstrap", "20", "--mixed", "none", "--out", "run"),
        "plausibility": ("study", "ambistory", "--items", "{0}/items.csv", "--ratings", "{0}/ratings.csv",
                         "--bootstrap", "20", "--out", "run"),
        "same_sense": ("study", "context_bias", "--items", "{0}/items.csv", "--people", "{0}/wic_judgments.csv",
                       "--encoder", "words", "--bootstrap", "20", "--out", "run"),
        "substitution": ("agree", "{0}/choices.csv", "--bootstrap", "100", "--out", "run"),
        "word_intrusion": ("senses", "people", "{0}/choices.csv", "--items", "{0}/items.csv", "--resamples", "20",
                           "--out", "run"),
        "sense_choice": ("senses", "people", "{0}/choices.csv", "--items", "{0}/items.csv", "--resamples", "20",
                         "--out", "run"),
    }
)  # fmt: skip
"""One command for each task, on the files of its export as they are."""


def exported(task: str, folder: Path) -> Path:
    """The export of a small rehearsal of a task."""
    items = ITEMS[task]
    three = RatingsSection(per_item=3)
    study = on_disk(items, task, pool=PoolSection(per_person=2), ratings=three, exclusions=())
    study = replace(study, file=parse_definition(definition_yaml(study.definition)))
    made = rehearse_through_server(study, population=FAULTLESS, seed=3)
    write_export(made.collected, folder / task)
    return folder / task


@pytest.mark.parametrize("task", COMMANDS)
def test_an_export_goes_into_its_study(task: str, run: Run, tmp_path: Path) -> None:
    """The files of the export are taken unchanged, every item is there, and the results are marked as simulated."""
    folder = exported(task, tmp_path)
    done = run(*(part.format(folder) for part in COMMANDS[task]))
    assert done.exit_code == 0, done.output
    assert SAID in done.output
    records: list[dict[str, Any]] = json.loads((tmp_path / "run" / "results.json").read_text())
    assert "simulated" in {record.get("people") for record in records}
    if (tmp_path / "run" / "run.json").is_file():
        counts = json.loads((tmp_path / "run" / "run.json").read_text())["counts"]
        assert counts.get("items", len(ITEMS[task])) == len(ITEMS[task])
    assert not [record for record in records if record.get("analysis") == "confirmatory"]


STORIES = """\
item_id,word,precontext,sentence,ending,sense,intended
s1,bolt,,He looked at the bolt.,,a bar that keeps a door shut,
s2,bolt,,He looked at the bolt.,,a flash of lightning,
s3,bolt,,He looked at the bolt.,It was bent.,a bar that keeps a door shut,yes
s4,bolt,,He looked at the bolt.,It was bent.,a flash of lightning,no
s5,bolt,,He looked at the bolt.,It lit the sky. Thunder came.,a bar that keeps a door shut,no
s6,bolt,,He looked at the bolt.,It lit the sky. Thunder came.,a flash of lightning,yes
s7,bolt,,He looked at the bolt.,He was glad.,a bar that keeps a door shut,no
s8,bolt,,He looked at the bolt.,He was glad.,a flash of lightning,no
t1,bank,It was June. We went out.,The bank was closed.,,an institution for money,
t2,bank,It was June. We went out.,The bank was closed.,They had mown the grass.,an institution for money,no
"""
MEANS = {"s1": 3, "s2": 3, "s3": 5, "s4": 1, "s5": 1, "s6": 5, "s7": 3, "s8": 2, "t1": 4, "t2": 1}


def test_stories_of_ones_own_have_any_number_of_parts(run: Run, tmp_path: Path) -> None:
    """Three endings of one setup and one of another, one meaning or two, text before or not, ratings in another file.

    Open to ended: 2 2 2 2 0 1 and 3; ending to ending of bolt: 4 4, 2 1, 2 3; both intended meanings are the higher.
    """
    (tmp_path / "stories.csv").write_text(STORIES, encoding="utf-8")
    rows = [f"p{rater},{item},{mean}" for item, mean in MEANS.items() for rater in range(3)]
    (tmp_path / "ratings.csv").write_text("\n".join(["rater,item,rating", *rows]) + "\n", encoding="utf-8")
    given = ("--items", "stories.csv", "--ratings", "ratings.csv", "--bootstrap", 20)
    done = run("study", "ambistory", *given, "--subject", "baseline:random", "--out", "run")
    assert done.exit_code == 0, done.output
    records = json.loads((tmp_path / "run" / "results.json").read_text())
    values = {record["statistic"]: (record["value"], record["n"]) for record in records}
    assert values["absolute_difference(between=open_and_ended)"] == (pytest.approx(12 / 7), 7)
    assert values["absolute_difference(between=endings)"] == (pytest.approx(16 / 6), 6)
    assert values["intended_above_other(share=above)"] == (100, 2)
    assert {record["analysis"] for record in records} <= {"", "exploratory"}
    sizes = {(record["statistic"], record["condition"]): record["value"] for record in records}
    assert [sizes[f"n_{what}", "all"] for what in ("samples", "stories", "setups", "ratings")] == [10, 6, 2, 30]


def test_an_english_lexicon_says_nothing_about_german_stories(run: Run, tmp_path: Path) -> None:
    """No lemma is guessed and no frequency looked up for words that WordNet cannot have; the report says why."""
    (tmp_path / "stories.csv").write_text(STORIES, encoding="utf-8")
    rows = [f"p{rater},{item},{mean}" for item, mean in MEANS.items() for rater in range(3)]
    (tmp_path / "ratings.csv").write_text("\n".join(["rater,item,rating", *rows]) + "\n", encoding="utf-8")
    given = ("--items", "stories.csv", "--ratings", "ratings.csv", "--language", "de", "--bootstrap", 0)
    assert run("study", "ambistory", *given, "--out", "run").exit_code == 0
    records = json.loads((tmp_path / "run" / "results.json").read_text())
    assert not [r for r in records if r["statistic"] == "n_lemmas" or r["statistic"].startswith("sense_count_rho")]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "WordNet has English words, and the stories are in de." in page


def test_items_without_a_rating_are_counted_and_named(run: Run, tmp_path: Path) -> None:
    """Two of ten stories are not rated: the screen and the report say so; hints name what the study can do."""
    (tmp_path / "stories.csv").write_text(STORIES, encoding="utf-8")
    rows = [f"p{rater},{item},{mean}" for item, mean in MEANS.items() for rater in range(3) if item not in ("s2", "t1")]
    rows += ["p0,s2,", "p1,t1,NA"]
    (tmp_path / "ratings.csv").write_text("\n".join(["rater,item,rating", *rows]) + "\n", encoding="utf-8")
    given = ("study", "ambistory", "--items", "stories.csv", "--ratings")
    done = run(*given, "ratings.csv", "--bootstrap", 0, "--out", "run")
    said = "2 of 10 items have no rating and no part in what needs ratings: s2, t1."
    assert said in done.stderr
    assert said in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    (tmp_path / "other.csv").write_text("wer,item,rating\np1,s1,3\n", encoding="utf-8")
    assert "Add --map rater=COLUMN. Columns in the file" in run(*given, "other.csv", "--out", "o").stderr
    (tmp_path / "other.csv").write_text("rater,item,rating\np1,s1,7\n", encoding="utf-8")
    refused = run(*given, "other.csv", "--out", "o").stderr
    assert "7 is not on the scale 1 to 5" in refused
    assert "--scale" not in refused


@pytest.mark.parametrize(
    ("ratings", "said"),
    [
        ("a,s1,3\na,s2,4\na,s3,1\n", "the run has no story that two participants rated"),
        ("a,s1,3\nb,s2,4\nc,s3,1\na,s2,4\n", "2 stories have one rating, and so no SD"),
    ],
)
def test_few_ratings_do_not_stop_the_study(ratings: str, said: str, run: Run, tmp_path: Path) -> None:
    """One rater, or one rating of most stories: what needs two is left out with the reason, the rest is computed."""
    (tmp_path / "stories.csv").write_text(STORIES, encoding="utf-8")
    (tmp_path / "ratings.csv").write_text("rater,item,rating\n" + ratings, encoding="utf-8")
    given = ("--items", "stories.csv", "--ratings", "ratings.csv", "--subject", "baseline:random")
    done = run("study", "ambistory", *given, "--bootstrap", 0, "--out", "run")
    assert done.exit_code == 0, done.output
    assert said in done.stderr + (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    records = json.loads((tmp_path / "run" / "results.json").read_text())
    n_ratings = ratings.count("\n")
    assert n_ratings in {record["value"] for record in records if record["statistic"] == "n_ratings"}


def test_ratings_that_do_not_fit_are_refused(run: Run, tmp_path: Path) -> None:
    """A rating of an unknown item names the item and the remedy; ratings without items are no run."""
    (tmp_path / "stories.csv").write_text(STORIES, encoding="utf-8")
    (tmp_path / "ratings.csv").write_text("rater,item,rating\np1,s99,3\n", encoding="utf-8")
    refused = run("study", "ambistory", "--items", "stories.csv", "--ratings", "ratings.csv", "--out", "run")
    assert "item 's99'" in refused.stderr
    assert "same ids" in refused.stderr
    alone = run("study", "ambistory", "--ratings", "ratings.csv", "--out", "run")
    assert "--items FILE" in alone.stderr


GERMAN = """\
item_id,word,sentence_1,sentence_2,target,same_sense
b1,Bank,Er saß auf der Bank im Park,Die Bank war grün gestrichen,Bank,true
b2,Bank,Er saß auf der Bank im Park,Die Bank hat ihm Geld geliehen,Bank,false
s1,Schloss,Das Schloss liegt auf dem Berg,Im Schloss wohnt der König,Schloss,true
s2,Schloss,Das Schloss liegt auf dem Berg,Das Schloss der Tür klemmt,Schloss,false
"""


def test_a_chat_model_without_a_prompt_stops_no_study(run: Run, tmp_path: Path) -> None:
    """No prompt in French: the chat model is left out with the remedy, the others answer; alone it is an error."""
    (tmp_path / "items.csv").write_text(GERMAN, encoding="utf-8")
    chat = "chat:m@http://127.0.0.1:9/v1"
    given = ("study", "saw_c", "--items", "items.csv", "--language", "fr", "--mixed", "none", "--bootstrap", 10)
    done = run(*given, "--subject", "encoder:minilm", "--subject", chat, "--out", "run")
    assert done.exit_code == 0, done.output
    assert f"{chat} was not asked: the prompt is not written in 'fr'" in done.stderr
    assert "?language=en" in done.stderr
    assert "E616" in run(*given, "--subject", chat, "--out", "alone").stderr


def test_a_german_study_is_drafted_and_checked(run: Run, tmp_path: Path) -> None:
    """`annotate init` writes German texts; a Spanish draft set to German is refused by the check, text by text."""
    (tmp_path / "items.csv").write_text(GERMAN, encoding="utf-8")
    done = run("annotate", "init", "--items", "items.csv", "--language", "de", "--out", "de.yaml")
    assert done.exit_code == 0, done.output
    german = (tmp_path / "de.yaml").read_text(encoding="utf-8")
    assert "wie verwandt die Bedeutungen" in german
    assert "E639" not in run("annotate", "check", "de.yaml").stdout
    assert run("annotate", "init", "--items", "items.csv", "--language", "es", "--out", "es.yaml").exit_code == 0
    spanish = (tmp_path / "es.yaml").read_text(encoding="utf-8")
    (tmp_path / "es.yaml").write_text(spanish.replace("language: es", "language: de"), encoding="utf-8")
    told = run("annotate", "check", "es.yaml").stdout
    assert "The text 'instructions' seems to be in 'es'; the study is in 'de'." in told


def test_a_language_without_guidelines_is_drafted_without_them(run: Run, tmp_path: Path) -> None:
    """The page has Arabic words and no Arabic guidelines: the draft leaves the instructions to the researcher."""
    (tmp_path / "items.csv").write_text(GERMAN, encoding="utf-8")
    assert run("annotate", "init", "--items", "items.csv", "--language", "ar", "--out", "ar.yaml").exit_code == 0
    assert "The text 'instructions' is empty." in run("annotate", "check", "ar.yaml").stdout
