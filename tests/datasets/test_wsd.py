"""The unified WSD sets against what the framework publishes: counts, options, and the scores of the simplest rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pytest

from lexiscope.analysis.choices.retrieval import Gold, chosen, random_choice
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.datasets import wsd
from lexiscope.items.answers.sense_options import correct_ids, glosses_of
from lexiscope.resources.corpora import semcor
from lexiscope.resources.lexicons import wordnet

pytestmark = pytest.mark.published


@pytest.fixture(scope="module")
def loaded(published: Path) -> Dataset:
    return wsd.load()


@pytest.fixture(scope="module")
def test_items(loaded: Dataset) -> list[Item]:
    return [item for item in loaded.items if item.conditions["split"] == "test"]


def gold_of(items: list[Item]) -> Gold:
    return {item.item_id: correct_ids(item) for item in items}


def answers(spec: str, items: list[Item]) -> dict[str, str | None]:
    subject = catalog.subject(spec)
    return chosen(catalog.task("sense_disambiguation").answer_function(subject)(items, subject, view="full"), "choice")


def test_counts_of_the_sets(test_items: list[Item], loaded: Dataset) -> None:
    """Raganato et al. 2017, Table 1: instances of the five sets and of ALL; parts of speech of ALL."""
    sizes = Counter(item.conditions["source"] for item in test_items)
    assert [sizes[name] for name in wsd.SOURCES] == [2282, 1850, 455, 1644, 1022]
    assert len(test_items) == 7_253
    assert Counter(item.conditions["pos"] for item in test_items) == {"n": 4300, "v": 1652, "a": 955, "r": 346}
    assert sum(item.conditions["split"] == "dev" for item in loaded.items) == 455


def test_options_hold_every_right_sense(loaded: Dataset) -> None:
    """No item lacks options; every right key is one of them; adjectives have heads and satellites among them."""
    for item in loaded.items:
        assert correct_ids(item) <= set(item.options)
        assert len(glosses_of(item)) == len(item.options) > 0
        assert item.usages[0].sense in correct_ids(item)
    types = {key.partition("%")[2][0] for i in loaded.items if i.conditions["pos"] == "a" for key in i.options}
    assert types == {"3", "5"}
    assert sum(len(correct_ids(item)) > 1 for item in loaded.items if item.conditions["split"] == "test") == 340


def test_dev_items_are_test_items_of_semeval2007(loaded: Dataset) -> None:
    """The development items are the same questions under ids of their own."""
    asked = {split: [] for split in ("dev", "test")}  # type: ignore[var-annotated]
    for item in loaded.items:
        if item.conditions["source"] == "semeval2007":
            asked[str(item.conditions["split"])].append((item.item_id.split("/")[2], item.usages, item.gold))
    assert asked["dev"] == asked["test"]


def precision_recall_f1(given: Mapping[str, str | None], gold: Gold) -> tuple[float, float, float]:
    """Precision over the items that were answered, recall over all, and their harmonic mean (Raganato et al. 2017)."""
    right = sum(given.get(item) in answers for item, answers in gold.items())
    answered = sum(given.get(item) is not None for item in gold)
    return right / answered, right / len(gold), 2 * right / (answered + len(gold))


def test_precision_recall_and_f1() -> None:
    """Three answered of five, two right: P 2/3, R 2/5, F1 2PR/(P+R)."""
    gold = {"a": {"x"}, "b": {"x", "y"}, "c": {"z"}, "d": {"z"}, "e": {"q"}}
    found = precision_recall_f1({"a": "x", "b": "y", "c": "x", "d": None}, gold)
    assert found == pytest.approx((2 / 3, 2 / 5, 2 * (2 / 3) * (2 / 5) / (2 / 3 + 2 / 5)))


def test_first_sense(test_items: list[Item]) -> None:
    """F1 of WordNet's first sense: 66.8 66.2 55.2 63.0 67.8, ALL 65.2 (published); 65.19 recomputed."""
    given = answers("baseline:first_sense", test_items)
    parts = [[item for item in test_items if item.conditions["source"] == name] for name in wsd.SOURCES]
    found = [100 * precision_recall_f1(given, gold_of(part))[2] for part in (*parts, test_items)]
    assert [round(value, 2) for value in found] == [66.78, 66.22, 55.16, 62.96, 67.81, 65.19]


def test_most_frequent_sense(test_items: list[Item]) -> None:
    """SemCor's most frequent sense: P 63.5, R 57.6, F1 60.4; 65.49 (published 65.5) with WordNet's first sense for
    the 670 items whose word SemCor does not have.
    """
    gold = gold_of(test_items)
    given = answers("baseline:most_frequent_sense?back_off=no", test_items)
    assert [round(100 * value, 1) for value in precision_recall_f1(given, gold)] == [63.5, 57.6, 60.4]
    assert sum(given.get(item) is None for item in gold) == 670
    backed = {item.item_id: given[item.item_id] or item.options[0] for item in test_items}
    assert round(100 * precision_recall_f1(backed, gold)[2], 2) == 65.49


def test_chance(test_items: list[Item]) -> None:
    """A random option is right in 38.75 % of the cases; 1,316 items have one option alone."""
    options = {item.item_id: item.options for item in test_items}
    assert round(100 * random_choice(options, gold_of(test_items)), 2) == 38.75
    assert sum(len(item.options) == 1 for item in test_items) == 1_316
    drawn = precision_recall_f1(answers("baseline:random?seed=1", test_items), gold_of(test_items))[2]
    assert abs(drawn - 0.3875) < 0.02


def test_training_items_are_those_of_semcor(published: Path) -> None:
    """The first two thousand of SemCor's 226,036 instances: ids, split, options that hold the right senses."""
    corpus, lexicon = semcor.load(), wordnet.load()
    items = list(islice(wsd._items(corpus, "train", lexicon), 2_000))
    assert items[0].item_id == "wsd/train/semcor.d000.s000.t000"
    assert (items[0].usages[0].target, items[0].gold) == ("Fulton County Grand Jury", "group%1:03:00::")
    assert {(item.conditions["split"], item.conditions["source"]) for item in items} == {("train", "semcor")}
    assert all(correct_ids(item) <= set(item.options) for item in items)
    # words share their options and glosses: 226,036 items stay below half a gigabyte
    again = [item for item in items if item.word == items[0].word and item.conditions["pos"] == "n"]
    assert len(again) > 1
    assert all(item.options is items[0].options for item in again)


def test_only_what_is_asked_for_is_loaded(loaded: Dataset) -> None:
    """A split by name, on the command line too; another name is refused."""
    dev = tuple(item for item in loaded.items if item.conditions["split"] == "dev")
    assert catalog.dataset("wsd?split=dev").items == dev
    with pytest.raises(SpecError, match="no split 'validation'"):
        wsd.load("validation")
