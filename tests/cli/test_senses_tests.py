"""``lexiscope senses intrusion`` and ``selection``: from vectors to items that people, chat models and encoders answer.

Each way is gone for real: vectors that are made up, the embedded encoder, a chat endpoint on the loopback, recorded
answers.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

from lexiscope.cli.senses import make_tests as senses_written
from lexiscope.core.errors import RunError
from lexiscope.core.response import ResponseTable
from lexiscope.items.tables.tabular import read_items
from lexiscope.training.gasi.train import write_senses

from ..items.made_senses import TARGETS, made_vectors
from ..resources import tiny_wordnet
from ..subjects.fake_chat import Body, FakeChat, serving
from .conftest import Run

PRUNED = {"bolt": 2, "palm": 1}


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    """A folder of sense vectors, and what nouns are chosen by: a table of sentences and a wordnet."""
    write_senses(tmp_path / "beta", made_vectors(pruned=PRUNED), {"settings": {"window": 5, "variant": "gasi_beta"}})
    rows = []
    for number, word in enumerate(TARGETS):
        for k in range(12):
            around = " ".join(f"t{(k + number) % 4}w{n:02}" for n in range(k, k + 4))
            rows.append((f"They saw {around} and the {word} again .", word, f"{word}%1:00:00::"))
    with (tmp_path / "tagged.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("sentence", "lemma", "sense"), *rows])
    names = [(word, sense) for number, word in enumerate(TARGETS) for sense in range(2 + number) if word != "bank"]
    made = [tiny_wordnet.Row(f"{word}{k}", "n", 3, ((word, k),), f"sense {k} of {word}") for word, k in names]
    tiny_wordnet.write(tmp_path / "wn", (*tiny_wordnet.ROWS, *made))
    return f"gasi:{tmp_path / 'beta'}"


def answered(path: Path) -> dict[str, str | None]:
    return {row.item_id: row.option for row in ResponseTable.read_parquet(path).where(measure="choice").rows()}


def test_intrusion_from_vectors_to_answers(run: Run, vectors: str, tmp_path: Path) -> None:
    """Items, what was left out and why, the vectors' own answers, and how all was made; the same again from a seed."""
    (tmp_path / "words.txt").write_text("bank\nbar\ntoad\npalm\n")
    given = ("--words", "words.txt", "--name", "beta", "--seed", 3)
    done = run("senses", "intrusion", vectors, "--out", "a", *given)
    assert done.exit_code == 0, done.output
    assert "18 items for 6 senses of 2 words" in done.stdout
    items = read_items(tmp_path / "a" / "items.csv")
    assert {item.item_id.rpartition("/")[0] for item in items} == {
        f"beta/{w}/{s}" for w in ("bank", "bar") for s in "123"
    }
    with (tmp_path / "a" / "left_out.csv").open(encoding="utf-8-sig") as stream:
        assert [(row["word"], row["why"]) for row in csv.DictReader(stream)] == [
            ("toad", "out of the vocabulary of these vectors"),
            ("palm", "it has one sense, and intruders come from another one"),
        ]
    record = json.loads((tmp_path / "a" / "test.json").read_text())
    assert (record["seed"], record["rules"]["band"], record["n_items"]) == (3, 3.0, 18)
    own = answered(tmp_path / "a" / "model" / "responses.parquet")
    assert sum(own[item.item_id] == item.gold for item in items) > 12, "topics of made-up vectors are far apart"
    assert run("senses", "intrusion", vectors, "--out", "b", *given, "-q").exit_code == 0
    assert (tmp_path / "b" / "items.csv").read_bytes() == (tmp_path / "a" / "items.csv").read_bytes()
    assert "pages of one word or sentence differ" in run("check", "a/items.csv").stderr
    refused = run("senses", "intrusion", vectors, "--out", "b", *given)
    assert refused.exit_code == 1
    assert "[E615]" in refused.stderr


@pytest.mark.parametrize("fault", [RunError("this file cannot be written"), KeyboardInterrupt()])
def test_what_was_stopped_is_not_in_the_way(
    run: Run, vectors: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    """A full disk or an interruption at the last file leaves no folder, so that the same command makes all of it."""
    (tmp_path / "words.txt").write_text("bank\n")
    before = {path.name for path in tmp_path.iterdir()}

    def full(path: Path, content: object) -> None:
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr(senses_written, "write_sealed", full)
        assert run("senses", "intrusion", vectors, "--words", "words.txt", "--out", "a").exit_code in (1, 130)
    assert {path.name for path in tmp_path.iterdir()} == before
    (tmp_path / ".a.part").mkdir()
    assert run("senses", "intrusion", vectors, "--words", "words.txt", "--out", "a").exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {*before, "a"}
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"items.csv", "left_out.csv", "model", "test.json"}


def test_selection_from_vectors_to_answers(run: Run, vectors: str, tmp_path: Path) -> None:
    """The most polysemous nouns first; what the vectors answer to `collect` is what stands in the items."""
    source = ("--corpus", "tagged.csv", "--lexicon", f"wordnet:{tmp_path / 'wn'}", "--nouns", 4, "--sentences", 3)
    done = run("senses", "selection", vectors, "--out", "a", *source)
    assert done.exit_code == 0, done.output
    assert "12 items for 4 nouns, 2 of them filled up with dummies" in done.stdout
    items = read_items(tmp_path / "a" / "items.csv")
    assert list(dict.fromkeys(item.word for item in items)) == ["spring", "seal", "palm", "bolt"]
    again = run(
        "collect", "--items", "a/items.csv", "--task", "sense_choice", "--subject", vectors, "--out", "r", "--quiet"
    )
    assert again.exit_code == 0, again.output
    for folder in ("a/model", "r"):
        assert answered(tmp_path / folder / "responses.parquet") == {
            item.item_id: item.condition("model_choice") for item in items
        }
    shares = ResponseTable.read_parquet(tmp_path / "r" / "responses.parquet").where(measure="probability")
    assert {(row.item_id, row.option): row.value for row in shares.rows()} == {
        (item.item_id, sense): item.condition(f"p_{sense}") for item in items for sense in item.options
    }


def test_a_list_of_nouns_loses_no_word(run: Run, vectors: str, tmp_path: Path) -> None:
    """Of a list each word has items, or a row that says why not; where none has any, the first reasons are told."""
    source = ("--corpus", "tagged.csv", "--lexicon", f"wordnet:{tmp_path / 'wn'}", "--words", "words.txt")
    (tmp_path / "words.txt").write_text("bolt\ntoad\nseal\ntoad\n")
    done = run("senses", "selection", vectors, "--out", "a", *source)
    assert done.exit_code == 0, done.output
    assert {item.word for item in read_items(tmp_path / "a" / "items.csv")} == {"bolt", "seal"}
    why = "not among the nouns with two senses in the lexicon and 10 sentences in the corpus"
    with (tmp_path / "a" / "left_out.csv").open(encoding="utf-8-sig") as stream:
        assert [(row["word"], row["why"]) for row in csv.DictReader(stream)] == [("toad", why)]
    assert json.loads((tmp_path / "a" / "test.json").read_text())["n_left_out"] == 1
    (tmp_path / "words.txt").write_text("toad\n")
    refused = run("senses", "selection", vectors, "--out", "b", *source)
    assert refused.exit_code == 1
    assert f"toad: {why}" in refused.stderr
    assert not (tmp_path / "b").exists()


def right_number(golds: dict[frozenset[str], str], body: Body) -> str:
    """The number of the right option, as a chat model would write it that knows the answer."""
    listed = dict(re.findall(r"^(\d+): (.+)$", body["messages"][-1]["content"], re.MULTILINE))
    gold = golds[frozenset(listed.values())]
    return next(number for number, text in listed.items() if text == gold)


@pytest.mark.parametrize("test", ["intrusion", "selection"])
def test_everybody_sits_the_same_items(run: Run, vectors: str, tmp_path: Path, test: str) -> None:
    """A chat model, an encoder, other vectors and recorded answers: one file, one table, every item answered."""
    (tmp_path / "words.txt").write_text("bank\nbar\n")
    source = ("--corpus", "tagged.csv", "--lexicon", f"wordnet:{tmp_path / 'wn'}", "--nouns", 2, "--sentences", 3)
    given = ("--words", "words.txt") if test == "intrusion" else source
    assert run("senses", test, vectors, "--out", "made", *given, "-q").exit_code == 0
    write_senses(tmp_path / "other", made_vectors(seed=5), {"settings": {"window": 5}})
    items = read_items(tmp_path / "made" / "items.csv")
    task = "word_intrusion" if test == "intrusion" else "sense_choice"
    if test == "intrusion":
        golds = {frozenset(item.options): str(item.gold) for item in items}
    else:
        named = [
            (item, {s: str(item.condition(f"group_{s}")).replace("|", ", ") for s in item.options}) for item in items
        ]
        golds = {frozenset(texts.values()): texts["1"] for _, texts in named}
    with serving(FakeChat(says=lambda body: right_number(golds, body))) as url:
        subjects = [f"chat:fake@{url}", "encoder:minilm", f"gasi:{tmp_path / 'other'}"]
        subjects.append(f"recorded:{tmp_path / 'made' / 'model' / 'responses.parquet'}")
        arguments = [part for subject in subjects for part in ("--subject", subject)]
        done = run("collect", "--items", "made/items.csv", "--task", task, *arguments, "--out", "r", "-q")
    assert done.exit_code == 0, done.output
    table = ResponseTable.read_parquet(tmp_path / "r" / "responses.parquet").where(measure="choice")
    assert len(table.unique("subject_id")) == 4
    for subject in table.unique("subject_id"):
        rows = list(table.where(subject_id=subject).rows())
        assert {row.item_id for row in rows} == {item.item_id for item in items}
        assert all(row.option in item_options(items)[row.item_id] for row in rows), subject
    chat = {row.item_id: row.option for row in table.rows() if row.subject_id.startswith("chat:")}
    assert chat == {item.item_id: item.gold if test == "intrusion" else "1" for item in items}


def item_options(items: tuple) -> dict[str, tuple[str, ...]]:  # type: ignore[type-arg]
    return {item.item_id: item.options for item in items}


def test_nothing_to_make_is_an_error(run: Run, vectors: str, tmp_path: Path) -> None:
    """Where no word can be used the reasons are told and nothing is written; a subject without senses is refused."""
    (tmp_path / "words.txt").write_text("toad\npalm\n")
    done = run("senses", "intrusion", vectors, "--words", "words.txt", "--out", "a")
    assert done.exit_code == 1
    assert "no item can be made" in done.stderr
    assert "toad: out of the vocabulary" in done.stderr
    assert not (tmp_path / "a").exists()
    done = run("senses", "intrusion", "encoder:minilm", "--words", "words.txt", "--out", "a")
    assert "no induced senses" in done.stderr


def test_the_how_to_shows_what_is_printed(run: Run, tmp_path: Path) -> None:
    """The page's own text, trained on, made into pages and sat by models: every line of these outputs is printed, but
    for decimals, which another processor may compute otherwise."""
    page = (Path(__file__).parents[2] / "docs" / "senses" / "test-with-people.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    shown = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    commands = [shlex.split(line)[2:] for line in re.findall(r"^\$ .*$", page, re.MULTILINE)]
    exec(compile(code, "page", "exec", dont_inherit=True), {"__name__": "page"})
    wanted = (("train", "gasi"), ("senses", "intrusion", "gasi:senses"), ("collect",))
    printed = []
    for words in wanted:
        command = next(each for each in commands if tuple(each[: len(words)]) == words)
        done = run(*command)
        assert done.exit_code == 0, done.output
        printed += map(without_decimals, done.stdout.splitlines())
    done = run("senses", "people", "--items", "intrusion/items.csv", "--models", "answers", "--out", "result")
    printed += map(without_decimals, done.stdout.splitlines())
    for block in (shown[0], shown[-1]):
        lines = [without_decimals(line) for line in block.splitlines()]
        assert len(lines) >= 3
        assert set(lines) - set(printed) == set()


def without_decimals(line: str) -> str:
    """A line with a sign for each number with decimals, and single blanks."""
    return " ".join(re.sub(r"\d+\.\d+", "#", line).split())


def test_a_test_that_was_written_and_asked_by_hand(run: Run, tmp_path: Path) -> None:
    """Items and choices in plain tables: two of three find the intruder of the first page, one of the second.

    Judgments: 3 of 6 right; pages found by more than half: 1 of 2. A word that is on no page is refused with its item.
    """
    (tmp_path / "items.csv").write_text(
        "item_id,word,sense,options,intruder\n"
        "i1,Bank,1,Sofa|Stuhl|Hocker|Kredit,Kredit\ni2,Ton,1,Klang|Laut|Hall|Lehm,Lehm\n",
        encoding="utf-8",
    )
    rows = ["a,i1,Kredit", "b,i1,Kredit", "c,i1,Sofa", "a,i2,Lehm", "b,i2,Klang", "c,i2,Laut"]
    (tmp_path / "answers.csv").write_text("\n".join(["rater,item,choice", *rows]) + "\n", encoding="utf-8")
    given = ("--items", tmp_path / "items.csv", "--resamples", 0, "--out")
    done = run("senses", "people", tmp_path / "answers.csv", *given, tmp_path / "out")
    assert done.exit_code == 0, done.output
    records = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    values = [record["value"] for record in records if record["statistic"].startswith("intrusion_accuracy")]
    assert values == [50, 50]
    (tmp_path / "answers.csv").write_text("rater,item,choice\na,i1,Tisch\n", encoding="utf-8")
    refused = run("senses", "people", tmp_path / "answers.csv", *given, tmp_path / "other")
    assert "item 'i1': [E471] the answer 'Tisch' is not one of its options" in refused.stderr
