"""``lexiscope train lora``: from items and ratings to a folder that answers the items."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lexiscope.cli.train.lora import _training_items
from lexiscope.core.prompt import Prompting
from lexiscope.core.response import ResponseTable
from lexiscope.training.lora import target_places

from ..training.conftest import save_llama
from .conftest import Run

ITEMS = (
    "item_id,sentence_1,sentence_2,target\n"
    "a,The bank was steep.,The bank was muddy.,bank\n"
    "b,The bat was wooden.,The bat was hungry.,bat\n"
    "c,The jam was sweet.,The jam was long.,jam\n"
    "d,The bark was loud.,The bark was rough.,bark\n"
)
SMALL = ("--epochs", "2", "--rank", "2", "--batch", "2", "--effective-batch", "2", "--validation", "0.25", "--quiet")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of one layer that reads a page of guidelines, byte by byte."""
    return save_llama(tmp_path_factory.mktemp("llama"), longest=8192, layers=1)


@pytest.fixture
def material(tmp_path: Path) -> tuple[str, ...]:
    """Four pairs with two made-up ratings each, and the options that name them."""
    (tmp_path / "items.csv").write_text(ITEMS)
    rows = [f"{name},r{rater},{1 + (3 * place + rater) % 5}" for place, name in enumerate("abcd") for rater in range(2)]
    (tmp_path / "ratings.csv").write_text("\n".join(["item_id,rater,rating", *rows]) + "\n")
    return "--items", "items.csv", "--ratings", "ratings.csv", "--language", "en", "--task", "relatedness"


def test_a_tuned_model_answers_the_items(material: tuple[str, ...], model: Path, run: Run, tmp_path: Path) -> None:
    """Two epochs are listed with one kept; the folder then answers every item with a number, as a chat model does."""
    done = run("train", "lora", *material, "--model", model, "--out", "tuned", *SMALL, "--json")
    assert done.exit_code == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["epoch"] for row in rows] == [1, 2]
    assert sum(row["kept"] for row in rows) == 1
    about = json.loads((tmp_path / "tuned" / "run.json").read_text())
    assert about["settings"]["r"] == 2
    assert about["settings"]["alpha"] == 32
    assert about["items"] == {"training": 3, "validation": 1, "left_out": 0, "words_in_both_parts": []}
    assert set(about["data"]) == {"items.csv", "ratings.csv"}
    asked = run("collect", *material[:2], *material[4:], "--subject", "chat:tuned", "--out", "RUN", "--quiet")
    assert asked.exit_code == 0, asked.stderr
    found = ResponseTable.read_parquet(tmp_path / "RUN" / "responses.parquet").where(measure="rating")
    assert found.column("item_id").tolist() == ["a", "b", "c", "d"]
    again = run("train", "lora", *material, "--model", model, "--out", "tuned", *SMALL)
    assert again.exit_code == 0
    assert "2 epochs are done" in again.stdout


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("--task", "sense_choice"), "number of a scale"),
        (("--item", "nothing"), "'nothing' is not in the file"),
        (("--batch", "3"), "not made of whole batches"),
    ],
)
def test_what_cannot_be_learnt_is_said(
    material: tuple[str, ...], model: Path, run: Run, changed: tuple[str, ...], said: str
) -> None:
    """A task without a scale, a column that is not there, batches that do not fit: refused before a model is read."""
    done = run("train", "lora", *material, "--model", model, "--out", "tuned", *SMALL, *changed)
    assert done.exit_code == 1
    assert said in done.stderr


def test_ratings_of_other_items_are_refused(material: tuple[str, ...], model: Path, run: Run, tmp_path: Path) -> None:
    """A rating of an item that is not there is an error: it is never left out in silence."""
    run_arguments = ("train", "lora", *material, "--model", model, "--out", "tuned", *SMALL)
    with (tmp_path / "ratings.csv").open("a") as stream:
        stream.write("z,r0,3\n")
    done = run(*[each for each in run_arguments if each not in ("--language", "en")])
    assert done.exit_code == 1
    assert "'z' first" in done.stderr


@pytest.mark.published
def test_ambistory_is_learnt_by_its_own_split(published: Path) -> None:
    """2,280 samples are learnt from, 588 decide, the 930 of the test are left out (AmbiStory §3.5); in those two parts
    no word is shared. How halves are rounded matters only to samples with six ratings: five cannot end in a half."""
    given = {"items": "ambistory", "ratings": None, "pairs": (), "language": "", "task": "plausibility", "how": None}
    found = _training_items(given | {"share": 0.1, "seed": 0}, Prompting())
    split = found.split
    assert (split.how, len(split.training), len(split.validation), split.left_out) == ("own", 2_280, 588, 930)
    assert split.shared_words == ()
    up, even = (target_places(split.training, found.scale, rule) for rule in ("half_up", "half_even"))
    differing = [rated for rated, one, other in zip(split.training, up, even, strict=True) if one != other]
    assert differing
    assert {len(rated.ratings) for rated in differing} == {6}
    first = split.training[0].item
    said = "\n".join(message.content for message in found.ask(first).messages)
    assert str(first.condition("example")) in said
