"""The word-frequency baseline: counts of WordNet or of a table of one's own, and nothing of the sentence."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from lexiscope.collect import baseline_answers
from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, DataError, InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.subject import Judges
from lexiscope.core.usage import Usage


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
