"""The papers' forms of the answers: what reads the published files reads what is exported."""

from __future__ import annotations

import csv
import io
import json
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.annotation.export.package import wide_sheets, write_export
from lexiscope.annotation.export.study_data import StudyData
from lexiscope.annotation.study_file.definition import CatchSection, DesignSection, StudyDefinition
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.datasets import saw_c
from lexiscope.datasets.saw_c import RATING_SCALE, read_trials, trial_responses
from lexiscope.datasets.saw_c.published import NORM_COLUMNS, TRIAL_COLUMNS
from lexiscope.items.read.importer import import_items
from lexiscope.items.sheets.form import Sheet
from lexiscope.items.sheets.given_answer import read_view_judgments
from lexiscope.resources.tables.delimited import read_csv
from lexiscope.studies.kit.ratings_file import read_ratings
from lexiscope.tasks.kit.published_sheets import Reviewed
from lexiscope.tasks.plausibility import release_text, sample_fields

from .made_export import Answered, collected, pair

NO_CATCH = CatchSection(per_list=0)


def study(task: str, *, lists: int = 1, **changes: object) -> StudyDefinition:
    """A study of a task without catch trials."""
    design = DesignSection(lists=lists, confusion=())
    given = {"name": "made_up", "task": task, "language": "en", "design": design, "catch": NO_CATCH}
    return StudyDefinition(**{**given, **changes})  # type: ignore[arg-type]


def sheet(source: StudyData, file: str) -> list[dict[str, object]]:
    """The rows of one wide table by name."""
    found: Sheet = next(one for one in wide_sheets(source) if one.file == file)
    return [dict(zip(found.header, row, strict=True)) for row in found.rows]


@pytest.mark.published
def test_ratings_of_the_published_pairs_read_as_saw_c(published: Path, tmp_path: Path) -> None:
    """812 pairs on 10 lists, rated by rule: SAW-C's own reader, agree and the importer read the export."""
    items = [replace(item, list_id=None) for item in saw_c.load(published, models=(), views=("full+final_stop",)).items]
    definition = study("relatedness", lists=10, language="es", catch=CatchSection())
    source = collected(definition, items, per_list=2)
    path = tmp_path / "sawc_judgments.csv"
    for one in wide_sheets(source):
        (tmp_path / one.file).write_text(one.csv(), encoding="utf-8")
    trials = read_trials(path)
    read = trial_responses(trials, source.design.items, RATING_SCALE)
    kept = source.item_answers
    given = dict(
        zip(zip(kept.column("subject_id"), kept.column("item_id"), strict=True), kept.column("value"), strict=True)
    )
    back = dict(
        zip(zip(read.column("subject_id"), read.column("item_id"), strict=True), read.column("value"), strict=True)
    )
    assert back == given
    assert len(back) == 812 * 2
    ratings = read_ratings(path)
    assert (len(ratings.values), len(set(ratings.raters)), len(set(ratings.items))) == (1624, 20, 812)
    norms = read_csv(tmp_path / "sawc_items.csv", NORM_COLUMNS)
    assert tuple(norms.columns) == NORM_COLUMNS
    assert tuple(trials.columns) == TRIAL_COLUMNS
    assert set(norms["count"]) == {"2"}
    imported = import_items(path, dataset="own", scale=RATING_SCALE, language="es")
    assert (len(imported.items), len(imported.responses)) == (812, 1624)


@pytest.mark.published
def test_an_item_file_has_the_same_cells_as_the_dataset(published: Path) -> None:
    """A study set up from sawc_sentence_pairs.csv gives the columns that one from the dataset gives."""
    from_file = import_items(published / "sawc" / "sawc_sentence_pairs.csv", dataset="own", language="es").items
    from_dataset = saw_c.load(published, models=(), views=("full+final_stop",)).items
    names = [name for name in TRIAL_COLUMNS if name not in ("", "Participant", "Response", "List")]
    cells = []
    for items in (from_file, from_dataset):
        source = collected(study("relatedness"), items[:40], per_list=1)
        rows = sheet(source, "sawc_judgments.csv")
        cells.append(sorted(tuple(str(row[name]) for name in names) for row in rows))
    assert cells[0] == cells[1]


def test_norms_are_over_answers_that_count() -> None:
    """Mean, SD (n − 1), median and count of a pair: 5, 4, 1 of three people; the fourth is excluded by hand."""
    values = {1: 5.0, 2: 4.0, 3: 1.0, 4: 1.0}
    source = collected(
        study("relatedness"), [pair("i1", "w"), pair("i2", "w")], per_list=4, answers=lambda n, *_: Answered(values[n])
    )
    people = [
        replace(one, state="excluded", reason="typed at random") if source.numbers[one.participant_id] == 4 else one
        for one in source.people
    ]  # type: ignore[type-var]
    rows = sheet(replace(source, people=people), "sawc_items.csv")
    mean = (5 + 4 + 1) / 3
    sd = (((5 - mean) ** 2 + (4 - mean) ** 2 + (1 - mean) ** 2) / 2) ** 0.5
    assert (rows[0]["mean_relatedness"], rows[0]["median_relatedness"], rows[0]["count"]) == (mean, 4.0, 3)
    assert rows[0]["sd_relatedness"] == pytest.approx(sd)


@pytest.mark.published
def test_a_sample_is_as_ambistory_released_it(published: Path) -> None:
    """588 samples of the development set, their choices given again: every key and every number is the released one."""
    released = json.loads((published / "ambistory" / "dev.json").read_text(encoding="utf-8"))
    for entry in released.values():
        sentence, word = entry["sentence"], entry["homonym"]
        start = max(0, sentence.find(word))
        known = {name: entry[name] for name in entry if name not in ("choices", "average", "stdev", "nonsensical")}
        item = Item(entry["sample_id"], "d", (Usage(sentence, start, start + len(word)),), conditions=known)
        rows = [
            {"response": str(choice), "flag_nonsensical": flag}
            for choice, flag in zip(entry["choices"], entry["nonsensical"], strict=True)
        ]
        made = sample_fields(item, rows)
        assert list(made) == list(entry)
        assert made == entry


def test_choices_are_aligned_by_slot() -> None:
    """Place i of choices is the same participant in every sample of a list; average and SD are of the choices."""
    items = [
        Item(f"{k}", "d", (Usage("The bank was steep", 4, 8),), conditions={"judged_meaning": "shore", "ending": ""})
        for k in range(1, 4)
    ]
    source = collected(
        study("plausibility"),
        items,
        per_list=5,
        answers=lambda number, item, _: Answered(float(number), nonsensical=number == 2),
    )
    samples = json.loads(release_text(source))
    assert [entry["sample_id"] for entry in samples.values()] == ["1", "2", "3"]
    for entry in samples.values():
        assert entry["choices"] == [1, 2, 3, 4, 5]
        assert entry["nonsensical"] == [False, True, False, False, False]
        assert (entry["average"], entry["stdev"]) == (3.0, statistics.stdev([1, 2, 3, 4, 5]))
    rows = sheet(source, "ambistory_judgments.csv")
    assert [row["choice"] for row in rows if row["slot"] == 3] == ["3"] * 3


def test_contexts_are_given_as_they_were_shown() -> None:
    """Same sense: brackets in full, [X] where the target was hidden; label and guessed word as answered."""
    said = Answered(option="t", guessed="shore", undecided=True)
    source = collected(
        study("same_sense", views=("context",)),
        [pair("i1", "bank")],
        per_list=2,
        answers=lambda *_: said,
        measure="choice",
    )
    rows = sheet(source, "wic_judgments.csv")
    assert [(row["context1"], row["label"], row["word"], row["undecided"]) for row in rows] == [
        ("[X] stands here, i1", "t", "shore", True)
    ] * 2
    full = sheet(replace(source, views={"1": "full"}), "wic_judgments.csv")
    assert full[0]["context2"] == "[bank] stands there, i1"
    (votes,) = sheet(source, "item_statistics.csv")
    assert (votes["majority"], votes["majority_share"], votes["tie"], votes["n"]) == ("t", 1.0, False, 2)


def test_a_verified_sense_stands_beside_its_context(tmp_path: Path) -> None:
    """Sense verification: the same columns with one context and the sense; the answers are read back as rows."""
    said = Answered(option="t", guessed="shore", undecided=True)
    item = replace(pair("i1", "bank", definition="a slope", hypernyms="ground"), usages=pair("i1", "bank").usages[:1])
    source = collected(
        study("sense_verification", views=("context",)), [item], per_list=1, answers=lambda *_: said, measure="choice"
    )
    (row,) = sheet(source, "verification_judgments.csv")
    shown = [row[name] for name in ("context1", "definition", "hypernyms", "label", "word", "undecided")]
    assert shown == ["[X] stands here, i1", "a slope", "ground", "t", "shore", True]
    (written,) = [each for each in wide_sheets(source) if each.file == "verification_judgments.csv"]
    (tmp_path / written.file).write_text(written.csv(), encoding="utf-8")
    table = read_view_judgments(tmp_path / written.file)
    assert table.unique("task") == ("sense_verification",)
    assert table.unique("measure") == ("choice", "flag_undecided", "guessed_word")


def test_options_choice_and_key_of_a_substitution() -> None:
    """Substitution: both candidates as given, the key, the choice, the weird mark and the comment."""
    item = Item("s1", "d", (Usage("a big house", 2, 5),), options=("large", "elder"), gold="large")
    source = collected(
        study("substitution"),
        [item],
        per_list=2,
        answers=lambda n, *_: Answered(
            option="large" if n == 1 else None, weird=n == 2, comment="odd" if n == 2 else None
        ),
        measure="choice",
    )
    wanted = ("item", "target", "option1", "option2", "correct_option", "choice", "weird", "comment")
    assert [tuple(row[name] for name in wanted) for row in sheet(source, "substitution_judgments.csv")] == [
        ("s1", "big", "large", "elder", "large", "large", False, None),
        ("s1", "big", "large", "elder", "large", None, True, "odd"),
    ]


def test_intruders_found_and_senses_chosen() -> None:
    """GASI: an answer is correct where it is the intruder; a sense choice stands beside the model's."""
    known = {
        "model": "m",
        "sense": "2",
        "intruder_id": "1",
        "sentence_id": "x",
        "model_choice": "g2",
        "p_g1": 0.2,
        "p_g2": 0.8,
    }
    item = Item("q", "d", (Usage("bass", 0, 4),), options=("trout", "guitar"), gold="guitar", conditions=known)

    def answers(number: int, *_: object) -> Answered:
        return Answered(option="guitar" if number < 3 else "trout")

    found = collected(study("word_intrusion"), [item], per_list=3, answers=answers, measure="choice")
    assert [row["correct"] for row in sheet(found, "intrusion_judgments.csv")] == [True, True, False]
    senses = collected(study("sense_choice"), [item], per_list=1, answers=answers, measure="choice")
    (row,) = sheet(senses, "sense_judgments.csv")
    assert (row["model"], row["sentence_id"], row["choice"], row["model_choice"]) == ("m", "x", "guitar", "g2")
    assert row["model_probs"] == "g1=0.2 | g2=0.8"


def test_written_texts_keep_both_versions() -> None:
    """AmbiStory's texts: raw and clean side by side, skips counted before each sentence."""
    items = [
        Item(f"w{k}", "d", (Usage("point", 0, 5),), conditions={"sense_1": "aim", "sense_2": "tip"}) for k in range(4)
    ]

    def write(number: int, item: Item, position: int) -> Answered:
        return Answered() if position < 2 else Answered(text=f"The point, {number} {position}.")

    source = collected(study("ambiguous_sentence"), items, per_list=2, answers=write, measure="text")
    written = sheet(source, "written_sentences.csv")
    assert [row["skips"] for row in written] == [2, 0, 2, 0]
    assert {row["status"] for row in written} == {"not reviewed"}
    assert [one.file for one in wide_sheets(source)] == ["written_sentences.csv"]
    first = next(row for row in source.valid_rows if row["response_text"] is not None)
    reviews = {(first["participant_id"], first["item_id"]): Reviewed("accepted", "The point.", "spelling")}
    again = sheet(replace(source, reviews=reviews), "written_sentences.csv")
    (edited,) = [row for row in again if row["status"] == "accepted"]
    assert (edited["sentence_raw"], edited["sentence_clean"]) == (first["response_text"], "The point.")
    ends = collected(study("story_ending"), items, per_list=1, answers=write, measure="text")
    assert len(sheet(ends, "written_endings.csv")) == 2


def test_a_page_is_text_or_option() -> None:
    """Entity link: the page that was found."""
    item = Item("e", "d", (Usage("Paris", 0, 5),))
    source = collected(
        study("entity_link"), [item], per_list=1, answers=lambda *_: Answered(text="Paris, Texas"), measure="page"
    )
    assert sheet(source, "link_judgments.csv")[0]["page"] == "Paris, Texas"
    nowhere = collected(
        study("entity_link"), [item], per_list=1, answers=lambda *_: Answered(not_found=True), measure="page"
    )
    (row,) = sheet(nowhere, "link_judgments.csv")
    assert (row["page"], row["not_found"]) == (None, True)


NEW_TASK = """
from pathlib import Path

from lexiscope.core.screen import Screen
from lexiscope.core.task import Task

TASK = Task("something_new", "A question?", None, ("usages",), (), (("rating", "points"),))
SCREEN = Screen(folder=Path(__file__).parent, widget="scale", measure="rating")
"""


def test_a_task_without_a_form_has_the_plain_one(tmp_path: Path) -> None:
    """A new task appears without a change here: a row per item with mean, SD, median and n."""
    (tmp_path / "something_new.py").write_text(NEW_TASK, encoding="utf-8")
    catalog.task(str(tmp_path / "something_new.py"))
    source = collected(study("something_new"), [pair("i1", "w")], per_list=2, answers=lambda n, *_: Answered(float(n)))
    (found,) = wide_sheets(source)
    (row,) = list(csv.DictReader(io.StringIO(found.csv())))
    assert (row["n"], row["mean"], row["median"], row["sd"]) == ("2", "1.5", "1.5", repr(0.5**0.5))


FORMS = [name for name, screen in catalog.screens().items() if screen.published is not None]


def test_the_wide_forms_are_those_of_eleven_tasks() -> None:
    """The wide forms of an export, by task: none is lost when a task moves."""
    assert set(FORMS) == {
        "sense_retrieval",
        "relatedness",
        "plausibility",
        "same_sense",
        "sense_verification",
        "substitution",
        "word_intrusion",
        "sense_choice",
        "entity_link",
        "ambiguous_sentence",
        "story_ending",
    }


@pytest.mark.parametrize("task", FORMS)
def test_every_form_is_empty_before_anybody_is_valid(task: str, tmp_path: Path) -> None:
    """A study in which nobody is valid yet exports: every table of its form has its header and no judgment."""
    usages = (Usage("point one", 0, 5, lemma="point"), Usage("point two", 0, 5, lemma="point"))
    items = [Item(f"i{k}", "d", usages, ("aim", "tip"), "aim") for k in range(2)]
    measure = {"relatedness": "rating", "plausibility": "rating"}.get(task, "choice")
    nobody = collected(study(task), items, per_list=0, measure=measure)
    assert write_export(nobody, tmp_path / "e").n_valid == 0
    published = catalog.screen(task).published
    assert published is not None
    own = published(nobody)
    assert own
    assert all(one.header for one in own)
    assert [len(one.rows) for one in own if "judgment" in one.file or "written" in one.file] == [0]
    (items_table,) = [one for one in wide_sheets(nobody) if one.file == "item_statistics.csv"]
    assert ("mean" in items_table.header) == (measure == "rating")
    assert set(items_table.column("n")) == {0}
