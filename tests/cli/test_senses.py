"""``lexiscope senses``: the group, the senses of a word, the page of many words, the count of senses by frequency."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from lexiscope.cli.main import cli
from lexiscope.cli.senses import VERBS, senses
from lexiscope.core import catalog
from lexiscope.core.usage import Usage
from lexiscope.subjects.senses.gasi import Gasi

from ..training.gasi.corpus import write_corpus
from .conftest import Run

SMALL = ("--dimensions", 8, "--epochs", 1, "--min-count", 1, "--subsampling", 0, "--quiet")


@pytest.mark.parametrize("verb", VERBS)
def test_table_of_verbs_is_true(verb: str) -> None:
    """Each verb's one-line help is the first line of its own help, and its command has its name."""
    command = senses.get_command(click.Context(senses), verb)
    assert command is not None
    assert command.name == verb
    assert (command.help or "").splitlines()[0] == VERBS[verb][1]


def test_help_imports_little(imported: Callable[..., set[str]]) -> None:
    """The help of the group imports no library of numbers and none of models."""
    assert imported(["senses", "--help"], ("torch", "numba", "pandas", "scipy", "matplotlib", "numpy")) == set()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the corpus and vectors trained on it: three senses, and the same pruned."""
    folder = tmp_path_factory.mktemp("trained")
    runner, corpus = CliRunner(), write_corpus(folder)
    out = ("--out", str(folder / "a"))
    done = runner.invoke(cli, ["train", "gasi", "--corpus", str(corpus), *out, *map(str, SMALL)])
    assert done.exit_code == 0, done.output
    prune = ["train", "gasi_prune", str(folder / "a"), "--out", str(folder / "b"), "--threshold", "0.6", "-q"]
    assert runner.invoke(cli, prune).exit_code == 0
    return folder


def test_senses_are_counted_by_frequency(run: Run, trained: Path) -> None:
    """48 words with 3 senses each make 4 bins of 12 words; table and file say the same, and pruned ones have fewer."""
    os.chdir(trained)
    done = run("senses", "histogram", "gasi:a", "--bins", 4, "--out", "h.csv")
    assert done.exit_code == 0, done.output
    lines = Path("h.csv").read_text().splitlines()
    assert lines[0] == "first_rank,last_rank,1 sense,2 senses,3 senses,mean"
    assert lines[1:] == [f"{1 + 12 * n},{12 + 12 * n},0,0,12,3.0" for n in range(4)]
    assert "37-48" in done.stdout
    pruned = json.loads(run("senses", "histogram", "gasi:b", "--json").stdout)
    mask = Gasi("b").induced.n_senses
    assert sum(sum(row["n_words"]) for row in pruned) == 48
    assert sum((k + 1) * n for row in pruned for k, n in enumerate(row["n_words"])) == mask.sum()


def test_an_import_needs_counts(run: Run, tmp_path: Path) -> None:
    """Vectors that do not say how frequent words are need a table of counts; with it the frequent words come first."""
    index, vectors = tmp_path / "index.tsv", tmp_path / "vectors.txt"
    index.write_text("rare_1\nbank_1\nbank_2\n")
    vectors.write_text("1 0\n0 1\n1 1\n")
    spec = f"sense_embedding:muse:{vectors},{index}"
    done = run("senses", "histogram", spec)
    assert done.exit_code == 1
    assert "[E733]" in done.stderr
    (tmp_path / "counts.csv").write_text("word,count\nBank,90\nother,4\n")
    told = json.loads(run("senses", "histogram", spec, "--counts", "counts.csv", "--json").stdout)
    assert [row["n_words"] for row in told] == [[0, 1], [1, 0]]
    (tmp_path / "none.csv").write_text("word,count\nother,4\n")
    assert "no word of these vectors" in run("senses", "histogram", spec, "--counts", "none.csv").stderr


def test_a_word_is_shown(run: Run, trained: Path) -> None:
    """Ten distinct neighbours a sense; shares in a corpus, by default that of the training; the same in JSON."""
    spec, corpus = f"gasi:{trained / 'a'}", next(trained.glob("*.txt"))
    told = json.loads(run("senses", "show", spec, "rivera", "--corpus", corpus, "--json").stdout)
    assert [each["number"] for each in told["senses"]] == [1, 2, 3]
    assert all(len({near["word"] for near in each["neighbours"]} - {"rivera"}) == 10 for each in told["senses"])
    assert sum(each["corpus"]["share"] for each in told["senses"]) == pytest.approx(1, abs=1e-6)
    assert sum(each["corpus"]["n_chosen"] for each in told["senses"]) == told["n"] == told["count"]
    alone = json.loads(run("senses", "show", spec, "rivera", "--json").stdout)
    assert [each["corpus"] for each in alone["senses"]] == [
        {"share": pytest.approx(each["corpus"]["share"], abs=1e-6), "n_chosen": each["corpus"]["n_chosen"]}
        for each in told["senses"]
    ]
    shown = run("senses", "show", spec, "rivera")
    assert "rivera: 3 senses." in shown.stdout
    assert "share" in shown.stdout
    # a pruned folder has no corpus beside it
    assert "--corpus FILE" in run("senses", "show", f"gasi:{trained / 'b'}", "rivera").stderr


def test_a_sentence_chooses(run: Run, trained: Path) -> None:
    """Each place of the word has a column whose percentages are those of the subject; the words that chose are told."""
    asked = ("senses", "show", f"gasi:{trained / 'a'}", "rivera", "--sentence", "Rivera riverb xyz rivera.")
    first, second = json.loads(run(*asked, "--json").stdout)["usages"]
    assert (first["start"], second["start"]) == (0, 18)
    assert (first["beside"], second["beside"]) == (["riverb", "rivera"], ["rivera", "riverb"])
    subject = catalog.subject(f"gasi:{trained / 'a'}")
    assert isinstance(subject, Gasi)
    expected = subject.sense_distribution([Usage("Rivera riverb xyz rivera.", 0, 6)])[0]
    assert first["probabilities"] == pytest.approx(expected.tolist(), rel=1e-6)
    shown = run(*asked).stdout
    assert "in sentence (2)" in shown
    assert "chosen by: riverb, rivera" in shown


def test_pruned_senses_are_told(run: Run, trained: Path) -> None:
    """A word that lost a sense keeps the numbers of the others, and the lost one is named."""
    found = Gasi(str(trained / "b")).induced
    word = next(each for each in found.words if found.pruned_numbers(each))
    (first, *_) = found.pruned_numbers(word)
    shown = run("senses", "show", f"gasi:{trained / 'b'}", word).stdout
    assert f"{first + 1}" in shown.splitlines()[0]
    assert "pruned" in shown.splitlines()[0]


@pytest.mark.parametrize(("form", "reader"), [("text", "ego_network"), ("binary", "ego_network_binary")])
def test_an_export_shows_the_same(run: Run, trained: Path, tmp_path: Path, form: str, reader: str) -> None:
    """Pruned vectors, exported and imported again, have the same senses with the same neighbours at their distances."""
    path = tmp_path / "out.vectors"
    done = run("train", "gasi_export", trained / "b", "--out", path, "--format", form)
    assert done.exit_code == 0, done.output
    for word in ("rivera", "moneyc", "gardenl"):
        own, other = (
            json.loads(run("senses", "show", spec, word, "--json").stdout)["senses"]
            for spec in (f"gasi:{trained / 'b'}", f"sense_embedding:{reader}:{path}")
        )
        assert len(own) == len(other)
        for one, two in zip(own, other, strict=True):
            assert [near["word"] for near in one["neighbours"]] == [near["word"] for near in two["neighbours"]]
            distances = [near["distance"] for near in one["neighbours"]]
            assert [near["distance"] for near in two["neighbours"]] == pytest.approx(distances, abs=1e-9)


@pytest.mark.parametrize(
    ("subject", "word", "more", "text"),
    [
        ("gasi:a", "riverA1", (), "[E712] 'riverA1' is not among the 48 words of these vectors"),
        ("gasi:a", "rivrea", (), "spelt nearly so: rivera"),
        ("gasi:a", "rivera", ("--sentence", "nothing here"), "[E732] 'rivera' is not in the sentence"),
        ("a", "rivera", (), "write gasi:a"),
        ("gasi:none", "rivera", (), "[E711]"),
        ("baseline:random", "rivera", (), "'baseline:random' has no induced senses"),
        ("gasi:a", "rivera", ("--corpus", "none.txt"), "[E701]"),
    ],
)
def test_what_cannot_be_shown(
    run: Run, trained: Path, subject: str, word: str, more: tuple[str, ...], text: str
) -> None:
    """A word out of the vocabulary, a sentence without it, a subject without senses: each is told."""
    os.chdir(trained)
    done = run("senses", "show", subject, word, *more)
    assert done.exit_code == 1
    assert text in done.stderr


def test_one_page_for_a_list(run: Run, trained: Path) -> None:
    """The page is written and its size told; unknown words are told and listed; again it is the same."""
    os.chdir(trained)
    Path("words.txt").write_text("rivera\nmoneyb\n\nnothere\nrivera\n")
    corpus = next(trained.glob("*.txt")).name
    asked = ("senses", "explore", "gasi:b", "--words", "words.txt", "--corpus", "corpus.txt", "--out")
    done = run(*asked, "one.html", "--examples", 2, "--random", 1)
    assert done.exit_code == 0, done.output
    assert "Saved one.html (2 words, " in done.stdout
    assert "not in the vocabulary: nothere" in done.stderr
    assert run(*asked, "two.html", "--examples", 2, "--random", 1, "--quiet").stderr == ""
    page = Path("one.html").read_bytes()
    assert page == Path("two.html").read_bytes()
    assert page.count(b'<article class="word"') == 2
    assert b'<b dir="auto">nothere</b>' in page
    assert f"{corpus}:".encode() in page


@pytest.mark.parametrize(
    ("words", "more", "text"),
    [
        ("\n", (), "w.txt: [E730] this list has no words"),
        ("x\ny\n", (), "[E731] none of 2 words is among the 48 words of these vectors: x, y"),
        ("rivera\n", ("--corpus", "a.bin"), "a.bin:2: [E702] this file is not text"),
        (None, (), "w.txt: [E001] there is no such file"),
        ("", (), "w.txt: [E730] this list has no words"),
        ("rivera\n", ("--out", "."), ".: [E001] this is a folder"),
    ],
)
def test_what_makes_no_page(run: Run, trained: Path, words: str | None, more: tuple[str, ...], text: str) -> None:
    """An empty list, one of unknown words, a binary corpus, a list that is not there: told, and nothing is written."""
    os.chdir(trained)
    Path("w.txt").unlink(missing_ok=True)
    if words is not None:
        Path("w.txt").write_text(words)
    Path("a.bin").write_bytes(b"a\nrivera \0\n")
    done = run("senses", "explore", "gasi:a", "--words", "w.txt", "--out", "x.html", *more)
    assert done.exit_code == 1
    assert text in done.stderr
    assert not Path("x.html").exists()


@pytest.mark.parametrize("out", ["w.txt", "corpus.txt", "a/vectors.safetensors"])
def test_what_is_read_is_not_replaced(run: Run, trained: Path, out: str) -> None:
    """A page, a table or an export in the place of the words, the corpus or the vectors would destroy them."""
    os.chdir(trained)
    Path("w.txt").write_text("rivera\n")
    before = Path(out).read_bytes()
    told = [run("senses", "explore", "gasi:a", "--words", "w.txt", "--corpus", "corpus.txt", "--out", out)]
    if out.startswith("a/"):
        told += [run("senses", "histogram", "gasi:a", "--out", out), run("train", "gasi_export", "a", "--out", out)]
    assert {done.exit_code for done in told} == {1}
    assert all("[E001]" in done.stderr for done in told)
    assert Path(out).read_bytes() == before


def test_a_corpus_without_the_words(run: Run, trained: Path) -> None:
    """A word that does not stand in the corpus is told, and so is a corpus in which none does."""
    os.chdir(trained)
    Path("w.txt").write_text("rivera\nmoneyb\n")
    Path("c.txt").write_text("riverb rivera\n")
    asked = ("senses", "explore", "gasi:a", "--words", "w.txt", "--out", "x.html", "--corpus")
    assert "not in the corpus: moneyb" in run(*asked, "c.txt").stderr
    Path("c.txt").write_text("")
    assert "none of the words is in the corpus" in run(*asked, "c.txt").stderr
