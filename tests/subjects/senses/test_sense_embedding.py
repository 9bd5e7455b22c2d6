"""Multi-sense vectors as a subject: how a sense is chosen, what is known, and which specs are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.subject import SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import UNKNOWN
from lexiscope.items.answers.sense_options import SAME
from lexiscope.senses.similarity import max_sim
from lexiscope.subjects.senses.sense_embedding import SenseEmbedding, load
from lexiscope.tasks.same_sense import by_sense
from lexiscope.tasks.same_sense.by_sense import ONE_SENSE, random_answer_counts

DATA = Path(__file__).parents[2] / "data" / "multi_sense"
MSSG = f"mssg:{DATA / 'mssg.txt'}"
EGO = f"ego_network:{DATA / 'ego_network.txt'},{DATA / 'ego_network.txt'}.inventory.csv"


def made(name: str) -> SenseEmbedding:
    subject = catalog.subject(f"sense_embedding:{name}")
    assert isinstance(subject, SenseEmbedding)
    return subject


def usage(text: str, target: str) -> Usage:
    start = text.index(target)
    return Usage(text, start, start + len(target), language="en")


def test_the_nearest_centre_is_chosen() -> None:
    """The global vector of river, (0, 2), is nearest to the second centre of bank, (0, 3)."""
    subject = made(MSSG)
    asked = [usage("the river Bank", "Bank"), usage("a river", "river")]
    assert subject.sense_distribution(asked).tolist() == [[0, 1], [1, 0]]
    assert subject.embed(asked)[:, 0].tolist() == [[0, 1], [0, 4]]
    assert [subject.sense_count(each) for each in asked] == [2, 1]


def test_beside_no_known_word_priors_count() -> None:
    """The inventory's probabilities, .25 and .75; without an inventory all senses are equal."""
    alone = [usage("the bank", "bank")]
    assert made(EGO).sense_distribution(alone).tolist() == [[0.25, 0.75]]
    assert made(MSSG).sense_distribution(alone).tolist() == [[0.5, 0.5]]


def test_a_sense_without_direction_is_never_the_nearest(tmp_path: Path) -> None:
    """A vector of zeros is near to nothing, even beside an opposite sense; where all are zeros none is chosen."""
    lines = ("6 2", "bank#1 0 0", "bank#2 -1 0", "shore#1 0 0", "shore#2 0 0", "river#1 1 0", "quay#1 0 1")
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    subject = made(f"ego_network:{tmp_path / 'a.txt'}")
    asked = [usage("river bank", "bank"), usage("river shore", "shore"), usage("a bank", "bank")]
    assert subject.sense_distribution(asked).tolist() == [[0, 1], [0.5, 0.5], [0.5, 0.5]]


def test_the_window_bounds_the_context() -> None:
    """Known words count, the nearest first, on each side; the target itself does not."""
    text = "river bank bank river river"
    asked = Usage(text, 11, 15)
    wide, narrow = made(MSSG), made(f"{MSSG}?window=1")
    assert [wide.vectors.words[number] for number in wide.context(asked)] == ["river", "bank", "river", "river"]
    assert [narrow.vectors.words[number] for number in narrow.context(asked)] == ["bank", "river"]


def test_words_are_known_as_they_stand_or_as_the_tokeniser_writes_them(tmp_path: Path) -> None:
    """Vectors of text that ours cut have one word for all numbers; those of other programs have the numbers."""
    (tmp_path / "a.txt").write_text("4 2\nbank#1 1 0\n<num>#1 0 1\n1914#1 1 1\n's#1 1 2\n", encoding="utf-8")
    subject = made(f"ego_network:{tmp_path / 'a.txt'}")
    text = "bank in 1914 or 1,815\u2019s"
    assert [subject.vectors.words[number] for number in subject.context(usage(text, "bank"))] == ["1914", "<num>", "'s"]
    assert [number for number, _, _ in subject.tokens(text)] == [0, -1, 2, -1, 1, 3]


def test_vectors_of_all_senses_are_padded_with_a_mask() -> None:
    """MaxSim of bank ((1, 0) and (0, 1)) and river ((0, 2)) is 1; a word that is not known covers nothing."""
    subject = made(MSSG)
    asked = [usage("the bank", "bank"), usage("a river", "river"), usage("a crane", "crane")]
    vectors, there = subject.senses_of(asked)
    assert there.tolist() == [[True, True], [True, False], [False, False]]
    similar = max_sim(vectors[[0, 0]], vectors[1:], left_mask=there[[0, 0]], right_mask=there[1:])
    assert similar.tolist() == pytest.approx([1.0, np.nan], nan_ok=True)


def test_a_word_that_is_not_there_is_an_error_with_its_place() -> None:
    """knows() says it beforehand; asking all the same is E712, under the target."""
    subject, asked = made(MSSG), usage("a crane lifts", "crane")
    assert (subject.knows(asked), subject.sense_count(asked)) == (False, 0)
    with pytest.raises(InputError) as error:
        subject.sense_distribution([asked])
    assert error.value.code == "E712"
    assert error.value.place is not None
    assert error.value.place.column == len("a ") + 1


def test_it_answers_by_sense_identity() -> None:
    """One sense twice is the same meaning; a word with one sense and an unknown one are random, by count."""
    near = usage("the river bank", "bank")
    items = [
        Item("a", "test", (near, near)),
        Item("b", "test", (usage("a river", "river"), usage("the river", "river"))),
        Item("c", "test", (usage("a crane", "crane"), usage("the crane", "crane"))),
    ]
    table = by_sense(items, made(MSSG), view="full")
    assert table.column("option").tolist()[0] == SAME
    found = random_answer_counts(table)
    assert (found[ONE_SENSE], found[UNKNOWN], sum(found.values())) == (1, 1, 2)


def test_the_seed_of_the_run_draws_what_identity_cannot_decide() -> None:
    """Other seeds draw other answers for unknown words; senses, vectors and the spec are the same."""
    items = [Item(f"i{n}", "test", (usage("a crane", "crane"), usage("the crane", "crane"))) for n in range(64)]
    first, again, other = (collect(items, [f"sense_embedding:{MSSG}"], "same_sense", seed=seed) for seed in (0, 0, 1))
    drawn = [table.where(measure="choice").column("option").tolist() for table in (first, again, other)]
    assert drawn[0] == drawn[1]
    assert 16 < sum(one != two for one, two in zip(drawn[0], drawn[2], strict=True)) < 48
    subject = made(MSSG)
    assert subject.with_seed(0) is subject
    assert subject.with_seed(7).subject_id == subject.subject_id


def test_facts_and_settings_are_those_of_the_files() -> None:
    """Counts, width and hashes are read from the files; the spec prints and parses back."""
    subject = made(MSSG)
    assert (subject.facts.width, subject.facts.n_parameters) == (2, 3 * 2)
    assert str(SubjectSpec.parse(subject.subject_id)) == subject.subject_id
    assert list(subject.settings["files"]) == [str(DATA / "mssg.txt")]  # type: ignore[call-overload]
    assert np.array_equal(subject.layers, [0])


@pytest.mark.parametrize("name", ["mssg", "mssg:", "glove:x", f"{MSSG}?window=0", f"{MSSG}?depth=1"])
def test_what_names_no_vectors_is_refused(name: str) -> None:
    """A format without files, an unknown one, and unknown options are refused before a file is opened."""
    with pytest.raises(SpecError, match="names no multi-sense vectors"):
        load(SubjectSpec("sense_embedding", name))


@pytest.mark.parametrize("name", [MSSG, EGO])
def test_many_windows_at_once(name: str) -> None:
    """The distributions of a word beside many windows are those of its usages, one by one; priors beside nothing."""
    subject = made(name)
    asked = [usage(text, "bank") for text in ("the river bank", "the bank", "river bank river", "bank the money")]
    known = [subject.context(each).tolist() for each in asked]
    expected = subject.sense_distribution(asked)
    np.testing.assert_allclose(subject.distributions(subject.vectors.index["bank"], known), expected, rtol=1e-6)
    assert [number for number, *_ in subject.tokens("the river")] == [-1, subject.vectors.index["river"]]
