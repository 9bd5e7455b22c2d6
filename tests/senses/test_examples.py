"""Examples of senses from running text: judged as the subject judges, the best kept, the sample drawn by the seed."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.usage import Usage
from lexiscope.resources.corpora.running_text import words_of
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.senses import examples as sense_examples
from lexiscope.senses.entries import known_words, make_entries, read_words
from lexiscope.senses.examples import LONGEST, SenseExample, WordExamples, find_examples
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.training.gasi.train import write_senses

WORDS = ("the", "bank", "river", "money", "mud", "loan", "water")


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Gasi:
    """The first sense of *bank* points to river, mud and water, the second to money and loan; the third is pruned."""
    senses = np.zeros((7, 3, 2), np.float32)
    senses[:, 0] = [(1, 1), (0, 0), (2, 0.1), (0.1, 2), (1, 0.3), (0.2, 1), (3, 0.4)]
    senses[1] = [(2, 0), (0, 2), (9, 9)]
    contexts = np.array([(0.1, 0.1), (0, 0), (1, 0), (0, 1), (0.7, 0), (0, 0.6), (0.9, 0)], np.float32)
    mask = np.zeros((7, 3), np.bool_)
    mask[:, 0] = mask[1, 1] = True
    folder = tmp_path_factory.mktemp("gasi") / "senses"
    write_senses(
        folder, SenseVectors(WORDS, np.arange(70, 0, -10), senses, contexts, mask), {"settings": {"window": 2}}
    )
    return Gasi(str(folder))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two hundred made lines, some twice, some without the word."""
    rng = np.random.default_rng(8)
    lines = [" ".join(rng.choice([*WORDS, "x", "y"], size=7)) for _ in range(200)]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join([*lines, *lines[:20], "Bank bank."]) + "\n")
    return path


def usages(path: Path) -> list[tuple[int, Usage]]:
    found = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        start = line.lower().find("bank")
        while start >= 0:
            found.append((number, Usage(line, start, start + 4)))
            start = line.lower().find("bank", start + 4)
    return found


def marked(example: SenseExample) -> str:
    return example.text[example.start : example.end]


def test_equals_the_subject_one_by_one(subject: Gasi, corpus: Path) -> None:
    """Counts, shares and the best probabilities are those of sense_distribution on every usage of the corpus."""
    found = find_examples(subject, ["bank"], [corpus], n_best=4)["bank"]
    asked = usages(corpus)
    shares = subject.sense_distribution([usage for _, usage in asked])
    assert found.n == len(asked)
    assert found.n_alone == sum(not len(subject.context(usage)) for _, usage in asked)
    assert [each.share for each in found.senses] == pytest.approx(shares.mean(axis=0)[:2].tolist(), abs=1e-6)
    assert [each.n_chosen for each in found.senses] == np.bincount(shares.argmax(axis=1), minlength=2).tolist()
    of_place = {(number, usage.text): k for k, (number, usage) in enumerate(asked)}
    for k, sense in enumerate(found.senses):
        assert len({each.text for each in sense.best}) == 4
        assert sense.best[0].probability == pytest.approx(float(shares[:, k].max()), rel=1e-5)
        assert [each.probability for each in sense.best] == sorted((e.probability for e in sense.best), reverse=True)
        assert all(marked(each).lower() == "bank" and (each.line, each.text) in of_place for each in sense.best)


@pytest.mark.parametrize("word", ["bank", "Bank", "n't", "'s", "ca", "12", "<num>", "don't", "café"])
def test_no_line_with_the_word_is_passed_over(word: str) -> None:
    """A line is looked at where the tokeniser finds a form of the word in it, whatever the quick look says first."""
    texts = ("A BANK's", "banks", "they don't", "can't", "a 12 b", "1,200", "no", "\uff22ank", "the cafe\u0301", "")
    forms = {word, word.lower(), *words_of(word)}
    lines = [(Path("c"), number, text) for number, text in enumerate(texts)]
    looked: list[str] = []
    reader = SimpleNamespace(window=2, tokens=lambda text: looked.append(text) or [])
    assert not list(sense_examples._occurrences(reader, {1}, [word], lines))  # type: ignore[arg-type]
    assert looked == [text for text in texts if forms & set(words_of(text))]


def test_the_sample_is_one_of_the_chosen(subject: Gasi, corpus: Path) -> None:
    """Drawn examples are usages in which the sense is the most probable, none of the best; the seed decides."""
    runs = [find_examples(subject, ["bank"], [corpus], n_best=2, n_drawn=6, seed=seed)["bank"] for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    for k, sense in enumerate(runs[0].senses):
        assert len(sense.drawn) == 6
        assert not {each.text for each in sense.drawn} & {each.text for each in sense.best}
        for each in sense.drawn:
            (shares,) = subject.sense_distribution([Usage(each.text, each.start, each.end)])
            assert shares.argmax() == k
            assert shares[k] == pytest.approx(each.probability, rel=1e-5)


def test_the_sample_is_uniform(subject: Gasi, corpus: Path) -> None:
    """Over 300 seeds every usage of a sense that is none of the best is drawn, none far more often than others."""
    times: dict[str, int] = {}
    n_seeds, size = 300, 3
    for seed in range(n_seeds):
        for each in (
            find_examples(subject, ["bank"], [corpus], n_best=1, n_drawn=size, seed=seed)["bank"].senses[0].drawn
        ):
            times[each.text] = times.get(each.text, 0) + 1
    single = [times.get(text, 0) for text in times]
    assert sum(single) == n_seeds * size
    assert max(single) < 6 * n_seeds * size / len(single)


def test_neither_batches_nor_other_words_change_anything(
    subject: Gasi, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged 7 occurrences at a time, or beside another word, a word has the same examples."""
    whole = find_examples(subject, ["bank"], [corpus], n_drawn=3)["bank"]
    beside = find_examples(subject, ["river", "bank", "river"], [corpus], n_drawn=3)
    assert list(beside) == ["river", "bank"]
    monkeypatch.setattr(sense_examples, "_HELD", 7)
    parts = find_examples(subject, ["bank"], [corpus], n_drawn=3)["bank"]
    assert [each.best for each in parts.senses] == [each.best for each in whole.senses]
    assert [each.drawn for each in parts.senses] == [each.drawn for each in whole.senses]
    assert beside["bank"] == whole


def test_a_long_line_is_cut_between_words(subject: Gasi, tmp_path: Path) -> None:
    """The sentence of the target is shown; one of thousands of letters is cut on both sides, with a sign."""
    long = "word " * 300
    text = f"He left. The river bank was low. She stayed.\n{long}by the money bank {long}\nbank {long}\n{long}loan bank"
    (tmp_path / "c.txt").write_text(text)
    found = find_examples(subject, ["bank"], [tmp_path / "c.txt"], n_best=9)["bank"]
    shown = {each.line: each for each in found.senses[0].best}
    assert shown[1].text == "The river bank was low."
    assert shown[2].text.startswith("… word")
    assert shown[2].text.endswith("word …")
    assert shown[3].text.startswith("bank word")
    assert shown[3].text.endswith("word …")
    assert shown[4].text.startswith("… word")
    assert shown[4].text.endswith("loan bank")
    assert all(marked(each) == "bank" and len(each.text) <= LONGEST + 4 for each in shown.values())


def test_packed_files_and_places(subject: Gasi, tmp_path: Path) -> None:
    """Files are read one after the other; an example says its file and its line."""
    with gzip.open(tmp_path / "b.gz", "wt") as stream:
        stream.write("x\nmoney bank\n")
    (tmp_path / "a.txt").write_text("river bank\n")
    found = find_examples(subject, ["bank"], [tmp_path / "a.txt", tmp_path / "b.gz"])["bank"]
    assert [(Path(each.path).name, each.line) for each in found.senses[1].best] == [("b.gz", 2), ("a.txt", 1)]


def test_what_is_refused(subject: Gasi, tmp_path: Path) -> None:
    """A binary corpus with its line, a word out of the vocabulary, a list without words or with none that is known."""
    (tmp_path / "a.bin").write_bytes(b"a bank\nb\0c\n")
    (tmp_path / "empty.txt").write_text("\n  \n")
    for code, call in (
        ("E702", lambda: find_examples(subject, ["bank"], [tmp_path / "a.bin"])),
        ("E712", lambda: find_examples(subject, ["bnak"], [])),
        ("E730", lambda: read_words(tmp_path / "empty.txt")),
        ("E731", lambda: known_words(subject, ["bnak", "xyz"])),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == code


def test_entries_put_it_together(subject: Gasi, corpus: Path, tmp_path: Path) -> None:
    """A word's senses count from 1, the pruned one is named, neighbours are other words; a list is read once each."""
    (tmp_path / "w.txt").write_text("bank\nMoney\n\nmoney\nbank\n")
    known, unknown = known_words(subject, read_words(tmp_path / "w.txt"))
    assert known == ("bank", "money")
    assert [(each.word, each.near[0]) for each in unknown] == [("Money", "money")]
    bank, money = make_entries(subject, known, [corpus], n_neighbours=3)
    assert (bank.pruned, bank.count, len(bank.senses)) == ((3,), 60, 2)
    assert [each.word for each in bank.senses[0].neighbours] == ["river", "water", "mud"]
    assert bank.senses[0].examples is not None
    assert bank.n is not None
    assert money.pruned == (2, 3)
    (bare,) = make_entries(subject, ["bank"])
    assert bare.n is None
    assert bare.senses[0].examples is None


def test_a_word_that_does_not_occur(subject: Gasi, tmp_path: Path) -> None:
    """Its shares are no numbers, and it has no examples."""
    (tmp_path / "c.txt").write_text("nothing here\n")
    found = find_examples(subject, ["bank"], [tmp_path / "c.txt"])["bank"]
    assert isinstance(found, WordExamples)
    assert found.n == 0
    assert np.isnan(found.senses[0].share)
    assert found.senses[0].best == ()
