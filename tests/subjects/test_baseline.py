"""Baselines: rules without understanding, seeded, independent of the neighbours; word frequency from counts alone."""

from __future__ import annotations

import math
import tarfile
from pathlib import Path

import pytest

from lexiscope.collect import baseline_answers
from lexiscope.core import catalog
from lexiscope.core.catalog import subject as make
from lexiscope.core.errors import CapabilityError, DataError, InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.subject import Judges
from lexiscope.core.usage import Usage
from lexiscope.subjects.baseline import Baseline, ClassCounts


def item(name: str, first: str, second: str, target: str = "bank") -> Item:
    usages = [Usage(text, text.index(target), text.index(target) + len(target)) for text in (first, second)]
    return Item(name, "test", tuple(usages))


ITEMS = [item(f"i{n}", "the bank of the river", "the bank in town") for n in range(500)]


def test_word_overlap_is_the_jaccard_distance_of_the_contexts() -> None:
    """Contexts {the, of, river} and {the, in, town}: 1 shared of 5, distance 1 − 1/5; the target does not count."""
    table = make("baseline:word_overlap").judge(ITEMS[:1], "relatedness")
    assert table.column("value").tolist() == [1 - 1 / 5]
    assert table.unique("measure") == ("jaccard_distance",)
    same = item("same", "The bank of the River", "the bank of the river")
    bare = item("bare", "bank", "bank")
    assert make("baseline:word_overlap").judge([same, bare], "relatedness").column("value").tolist() == [0.0, 0.0]


def test_random_is_seeded_and_uniform() -> None:
    """Another seed, other answers; the same seed, the same; every point of the scale about equally often."""
    values = make("baseline:random?seed=1").judge(ITEMS, "relatedness").column("value")
    assert values.tolist() == make("baseline:random?seed=1").judge(ITEMS, "relatedness").column("value").tolist()
    assert values.tolist() != make("baseline:random?seed=2").judge(ITEMS, "relatedness").column("value").tolist()
    assert set(values) == {1, 2, 3, 4, 5}
    # 500 draws at 1/5: mean 100 a point, SD √(500 · 1/5 · 4/5) ≈ 8.9; five SD are never left
    assert all(abs((values == point).sum() - 100) < 45 for point in range(1, 6))


def test_the_seed_of_the_run_counts_where_none_is_named() -> None:
    """A seed in the spec goes first; without one the run's seed decides, and the revision shows it."""
    named, unnamed = Baseline("random", seed=1), Baseline("random")
    assert named.with_seed(9).facts.revision == named.facts.revision
    assert unnamed.with_seed(9).facts.revision != unnamed.with_seed(8).facts.revision
    assert unnamed.with_seed(9).subject_id == "baseline:random"


def test_constant_is_the_middle_of_the_scale() -> None:
    """The constant answer is 3 on the scale from 1 to 5."""
    assert set(make("baseline:constant").judge(ITEMS, "relatedness").column("value")) == {3.0}


def test_what_is_no_baseline_is_refused() -> None:
    """Unknown rules, options and tasks are named."""
    for wrong in ("majority", "random?seed=x", "random?speed=1", "constant?seed=1"):
        with pytest.raises(SpecError):
            make(f"baseline:{wrong}")
    with pytest.raises(InputError, match="baseline:constant does not answer"):
        make("baseline:constant").judge(ITEMS, "story_ending")
    with pytest.raises(InputError, match="use baseline:frequency or baseline:random"):
        make("baseline:word_overlap").judge(ITEMS, "minimal_pair")
    with pytest.raises(InputError, match="needs two usages"):
        make("baseline:word_overlap").judge([Item("one", "test", (ITEMS[0].usages[0],))], "relatedness")


@pytest.mark.parametrize("task", ["same_sense", "sense_verification"])
def test_random_answers_true_or_false_at_chance(task: str) -> None:
    """Pairs and definitions get t or f, a choice and never a rating; 500 draws at 1/2: five SD are 56."""
    table = make("baseline:random?seed=1").judge(ITEMS, task)
    assert table.unique("measure") == ("choice",)
    drawn = table.column("option").tolist()
    assert set(drawn) == {"t", "f"}
    assert abs(drawn.count("t") - 250) < 56
    assert set(table.column("value").tolist()) <= {None} or all(map(math.isnan, table.column("value")))
    with pytest.raises(InputError, match="does not answer"):
        make("baseline:constant").judge(ITEMS, task)


def test_random_and_constant_answer_stories() -> None:
    """The rules that need one text rate the meanings of stories too; overlap of two contexts does not."""
    one = Item("i", "d", (Usage("The bank shut.", 4, 8),), conditions={"precontext": "It rained.", "ending": ""})
    for name in ("random", "constant"):
        (value,) = make(f"baseline:{name}").judge([one], "plausibility").column("value").tolist()
        assert value in (1.0, 2.0, 3.0, 4.0, 5.0)
    with pytest.raises(InputError, match="does not answer 'plausibility'"):
        make("baseline:word_overlap").judge([one], "plausibility")


SEEN = [("bank", "b2"), ("bank", "b1"), ("bank", "b2"), ("bank", "b1"), ("bat", "t1")]


def test_ties_go_to_the_first() -> None:
    """The first of the classes that are asked about wins a tie; without them the one that was seen first."""
    counts = ClassCounts(SEEN)
    assert counts.most_frequent("bank", among=("b2", "b1")) == "b2"
    assert counts.most_frequent("bank", among=("b1", "b2")) == "b1"
    assert (counts.most_frequent("bank"), ClassCounts(reversed(SEEN)).most_frequent("bank")) == ("b2", "b1")


def test_what_was_never_seen_has_no_answer() -> None:
    """Neither an unknown word nor a class that was never seen with the word is an answer."""
    counts = ClassCounts(SEEN)
    assert counts.most_frequent("bow") is None
    assert counts.most_frequent("bat", among=("t2", "t3")) is None


def item_of(*words: str) -> Item:
    usages = tuple(Usage(f"The {word} fell.", 4, 4 + len(word)) for word in words)
    return Item("i1", "own", usages, options=words, gold=words[0])


def judged(spec: str, *words: str) -> dict[str, float]:
    subject = catalog.subject(spec)
    assert isinstance(subject, Judges)
    table = subject.judge([item_of(*words)], "minimal_pair")
    return dict(zip(table.column("option").tolist(), table.column("value").tolist(), strict=True))


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    path.write_text("word,count\ntree,12\nTree,3\nwood,7.5\n", encoding="utf-8")
    return path


def test_a_table_of_ones_own(counts: Path) -> None:
    """Case is ignored and added up; a word that is not in the table has 0; the measure names the file."""
    assert judged(f"baseline:frequency?table={counts}", "tree", "wood", "oak") == {
        "correct": 15.0,
        "incorrect_1": 7.5,
        "incorrect_2": 0.0,
    }
    subject = catalog.subject(f"baseline:frequency?table={counts}")
    assert subject.measure == "word_count(source=counts.csv)"  # type: ignore[attr-defined]
    assert catalog.subject(subject.subject_id).facts == subject.facts


@pytest.mark.parametrize("line", ["tree,many", "tree,-1", "tree,nan"])
def test_a_count_that_is_none_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    """File and line are named."""
    path = tmp_path / "counts.csv"
    path.write_text(f"word,count\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="E446") as error:
        judged(f"baseline:frequency?table={path}", "tree", "wood")
    assert error.value.place is not None
    assert error.value.place.line == 2


def test_it_answers_minimal_pairs_only(counts: Path) -> None:
    """Frequency says nothing of relatedness; an unknown option is refused."""
    subject = catalog.subject(f"baseline:frequency?table={counts}")
    assert isinstance(subject, Judges)
    with pytest.raises(InputError):
        subject.judge([item_of("tree", "wood")], "relatedness")
    with pytest.raises(SpecError):
        catalog.subject("baseline:frequency?corpus=x")


def test_random_preferences_depend_on_seed_item_and_option() -> None:
    """The same seed gives the same numbers, another seed others; they lie between 0 and 1."""
    first, again, other = (judged(f"baseline:random?seed={seed}", "tree", "wood") for seed in (1, 1, 2))
    assert first == again != other
    assert all(0 <= value < 1 for value in first.values())


@pytest.mark.published
def test_wordnets_counts_are_those_of_the_sense_index(published: Path) -> None:
    """*dirt* and *land*: the noun tag counts of their senses, added up from index.sense itself."""
    values = judged("baseline:frequency", "dirt", "lands")
    senses: dict[str, int] = {}
    for line in _index_lines(published):
        key, _, _, count = line.split()
        lemma, _, rest = key.partition("%")
        if rest.startswith("1:"):
            senses[lemma] = senses.get(lemma, 0) + int(count)
    # lands is no lemma of its own: its base form counts
    assert values == {"correct": float(senses["dirt"]), "incorrect_1": float(senses["land"])}


def _index_lines(published: Path) -> list[str]:
    with tarfile.open(published / "wordnet30" / "WordNet-3.0.tar.xz") as archive:
        member = next(each for each in archive if each.name.endswith("index.sense"))
        stream = archive.extractfile(member)
        assert stream is not None
        return stream.read().decode("utf-8").splitlines()


def test_words_of_another_language_need_counts_of_their_own(counts: Path) -> None:
    """WordNet has counts of English words only: without a table all choices would be ties."""
    usages = tuple(Usage(f"Eine {word}.", 5, 5 + len(word), language="de") for word in ("Amsel", "Lampe"))
    item = Item("i", "d", usages, options=("Amsel", "Lampe"), gold="Amsel")
    subject = catalog.subject("baseline:frequency")
    assert isinstance(subject, Judges)
    with pytest.raises(DataError, match="of English words"):
        subject.judge([item], "minimal_pair")
    table, why = baseline_answers([item], "baseline:frequency", "minimal_pair")
    assert (len(table), "in another language" in why) == (0, True)
    assert len(baseline_answers([item], f"baseline:frequency?table={counts}", "minimal_pair")[0]) == 2
    with pytest.raises(CapabilityError, match="does not judge"):
        baseline_answers([item], "encoder:minilm", "minimal_pair")
