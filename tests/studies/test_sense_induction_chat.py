"""Chat models in the tests of induced senses: the pages that people sat, the same statistics, next to people's."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from tests.subjects.fake_chat import FakeChat, serving

from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.core.usage import Usage
from lexiscope.items.tables.tabular import write_items
from lexiscope.studies.sense_induction import study
from lexiscope.studies.sense_induction.settings import SenseInductionSettings

WORDS = ("bank", "bark", "bat", "seal")
SHORT = "task: word_intrusion\nlanguage: en\nprompt:\n  user: |\n    SHORT $options\n"
LONG = "task: word_intrusion\nlanguage: en\nprompt:\n  user: |\n    LONG $options\n"
Ran = tuple[Path, FakeChat, str, tuple[Record, ...]]


def intrusion(word: str) -> Item:
    """Three words of which the last is the intruder."""
    usage, options = Usage(word, 0, len(word), lemma=word), ("apple", "melon", "zinc")
    return Item(f"i/{word}", "test", (usage,), options, gold="zinc", conditions={"word": word, "model": "vectors"})


def selection(word: str) -> Item:
    """Two groups of words, of which the vectors choose the first."""
    text, groups = f"The {word} is here.", {"group_1": "apple|melon", "group_2": "iron|zinc"}
    chosen = {"word": word, "model": "vectors", "model_choice": "1", "p_1": 0.8, "p_2": 0.2}
    return Item(
        f"s/{word}", "test", (Usage(text, 4, 4 + len(word), lemma=word),), ("1", "2"), conditions=chosen | groups
    )


ITEMS = [*map(intrusion, WORDS), *map(selection, WORDS)]


def people() -> list[Response]:
    """Three simulated people: all find the intruder of *bank*, one the others; two choose as the vectors do."""
    rows = []
    for item in ITEMS:
        task = "word_intrusion" if item.gold else "sense_choice"
        right, wrong = ("zinc", "apple") if item.gold else ("1", "2")
        n_right = (3 if item.item_id == "i/bank" else 1) if item.gold else 2
        rows += [
            Response(f"sim{n}", "participant", item.item_id, task, "choice", option=right if n < n_right else wrong)
            for n in range(3)
        ]
    return rows


def number_of(told: str, text: str) -> str:
    """The number of the option that shows a text."""
    return next(line.partition(":")[0] for line in told.splitlines() if re.match(r"\d+: ", line) and text in line)


def says(body: dict[str, Any]) -> str:
    """The intruder always, in the words of ``long.yaml`` never; of the groups that of the vectors, but for *bank*."""
    told = body["messages"][-1]["content"]
    if "melon" in told and "iron" not in told:
        return number_of(told, "melon" if told.startswith("LONG") else "zinc")
    return number_of(told, "iron" if "bank" in told else "apple")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The study without vectors: people's tests, and a chat model in three wordings, two of them of intrusion alone."""
    folder, endpoint = tmp_path_factory.mktemp("chat"), FakeChat(says=says)
    write_items(ITEMS[: len(WORDS)], folder / "intrusion.csv")
    write_items(ITEMS[len(WORDS) :], folder / "selection.csv")
    ResponseTable.from_rows(people()).write_csv(folder / "answers.csv")
    (folder / "short.yaml").write_text(SHORT, encoding="utf-8")
    (folder / "long.yaml").write_text(LONG, encoding="utf-8")
    with serving(endpoint) as url, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        settings = SenseInductionSettings(
            subjects=(f"chat:m@{url}",),
            people=("intrusion.csv", "selection.csv", "answers.csv"),
            wordings=("guidelines", "short.yaml", "long.yaml"),
            n_bootstrap=20,
        )
        study.run(settings, folder / "run")
    return folder / "run", endpoint, f"chat:m@{url}", read_records(folder / "run" / "results.json")


def test_its_share_is_next_to_that_of_people(run: Ran) -> None:
    """Intruders: the model 4 of 4, people 6 of 12 judgments; groups: the model 3 of 4, people 8 of 12."""
    folder, _, chat, records = run
    shares = {"word_intrusion": (100.0, 50.0), "sense_choice": (75.0, 100 * 8 / 12)}
    for task, (by_model, by_people) in shares.items():
        name = f"{'intrusion' if task == 'word_intrusion' else 'selection'}_accuracy(of=judgments)"
        own = find_record(records, name, subject=chat, dataset=task)
        assert (own.value, own.condition, own.n, own.unit) == (by_model, "vectors", len(WORDS), "percent")
        assert own.people == ""
        assert find_record(records, name, subject="vectors", dataset=task).value == pytest.approx(by_people)
    rows = list(csv.DictReader((folder / "tables" / "models_tests.csv").read_text(encoding="utf-8").splitlines()))
    shown = {(row["Test"], row["Subject"]): row["People, %"] for row in rows}
    assert {subject.rpartition("=")[2] for task, subject in shown if task == "word intrusion"} >= {
        "short.yaml",
        "long.yaml",
    }
    assert len({subject for task, subject in shown if task == "sense choice"}) == 1
    assert {float(cell.split()[0]) for (task, _), cell in shown.items() if task == "word intrusion"} == {50.0}


def test_the_screen_has_both(run: Ran) -> None:
    """Without vectors, the overview has a row for the senses that people judged, and one for the chat model."""
    _, _, chat, records = run
    assert study.overview_maker is not None
    table = study.overview_maker(records, SenseInductionSettings())
    shown = {row[0]: [getattr(cell, "value", cell) for cell in row[1:]] for row in table.rows}
    assert shown["vectors"] == [50.0, pytest.approx(100 * 8 / 12)]
    assert shown[chat] == [100.0, 75.0]


def test_its_answers_are_in_the_one_table(run: Ran) -> None:
    """Eight choices in the words of the package; those in a file's words are of its task alone.

    The four pages of intrusion show the same words and are asked once in each wording: 3 + 4 requests.
    """
    folder, endpoint, chat, _ = run
    table = ResponseTable.read_parquet(folder / "responses.parquet").where(subject_kind="chat", measure="choice")
    assert len(table.where(subject_id=chat)) == len(ITEMS)
    assert table.where(subject_id=f"{chat}?variant=short.yaml").unique("task") == ("word_intrusion",)
    assert len(endpoint.received) == 3 + len(WORDS)
    assert set(table.where(subject_id=chat, task="word_intrusion").column("option").tolist()) == {"zinc"}


def test_wordings_have_an_interval(run: Ran) -> None:
    """Right in two wordings, wrong in the third: mean 2/3, and bounds between 0 and 1; groups have one wording."""
    folder, _, chat, records = run
    over = find_record(records, "wording_mean(of=accuracy,over=wordings)", subject=chat)
    assert over.value == pytest.approx(2 / 3)
    assert (over.low, over.high) != (None, None)
    own = find_record(records, "wording_mean(of=intrusion_accuracy,its_of=judgments,over=wordings)", subject=chat)
    assert own.value == pytest.approx(200 / 3)
    assert "Wordings of the prompt" in (folder / "report.html").read_text(encoding="utf-8")


def test_without_items_it_sits_the_embedded_tests(tmp_path: Path) -> None:
    """32 pages of intrusion, 64 of groups; a model that always says 1 is right where the answer is listed first."""
    endpoint = FakeChat(says=lambda _: "1")
    with serving(endpoint) as url:
        study.run(SenseInductionSettings(subjects=(f"chat:m@{url}",), n_bootstrap=0), tmp_path / "run")
    records = read_records(tmp_path / "run" / "results.json")
    table = ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet").where(measure="choice")
    for task, n, name in (("word_intrusion", 32, "intrusion"), ("sense_choice", 64, "selection")):
        own = find_record(records, f"{name}_accuracy(of=judgments)", subject=f"chat:m@{url}")
        assert (own.n, own.condition) == (n, "mini_senses")
        gold = {item.item_id: item.gold for item in catalog.dataset(f"mini_senses?task={task}").items}
        answers = table.where(task=task)
        chosen = dict(zip(answers.column("item_id").tolist(), answers.column("option").tolist(), strict=True))
        assert own.value == pytest.approx(100 * sum(gold[item_id] == option for item_id, option in chosen.items()) / n)
