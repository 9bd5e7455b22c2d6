"""``lexiscope train classifier`` and ``bi_encoder``: from a file or a dataset to a folder that answers the items."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.tables.tabular import write_items
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import LexicalSense, Synset

from ..training.tiny_views import NOUNS, pairs, retrievals, save_bert, senses
from .conftest import Run

FEW = ("--epochs", "2", "--learning-rate", "3e-3", "--quiet")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_bert(tmp_path_factory.mktemp("bert")))


def write_pairs(path: Path, items: Sequence[Item], *, split: bool) -> None:
    """Write pairs as a person keeps them: a row per pair, with a column for the split or without."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["item_id", "sentence_1", "sentence_2", "target", "gold", *(["split"] if split else [])])
        for number, item in enumerate(items):
            texts = [usage.text for usage in item.usages]
            part = ["dev" if number % 3 == 0 else "train"] if split else []
            writer.writerow([item.item_id, *texts, item.word, item.gold, *part])


def test_a_file_of_pairs_is_learnt_and_answered(run: Run, bert: str, tmp_path: Path) -> None:
    """A CSV of pairs with a split; the folder answers them in the view of its training and refuses another."""
    write_pairs(tmp_path / "pairs.csv", pairs(48), split=True)
    given = ("--items", "pairs.csv", "--language", "en", "--view", "context")
    done = run("train", "classifier", *given, "--encoder", bert, "--out", "trained", *FEW, "--json")
    assert done.exit_code == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [row["epoch"] for row in rows] == [1, 2]
    assert sum(row["kept"] for row in rows) == 1
    about = json.loads((tmp_path / "trained" / "run.json").read_text())["training"]
    assert (about["view"], about["task"], about["items"]["train"]["n"], about["items"]["dev"]["n"]) == (
        *("context", "same_sense"),
        *(32, 16),
    )
    asked = ("collect", "--items", "pairs.csv", "--language", "en", "--task", "same_sense", "--quiet")
    subject = ("--subject", "classifier:trained")
    answered = run(*asked, *subject, "--view", "context", "--out", "RUN")
    assert answered.exit_code == 0, answered.stderr
    found = ResponseTable.read_parquet(tmp_path / "RUN" / "responses.parquet").where(measure="choice")
    assert set(found.column("option")) <= {"t", "f"}
    assert len(found) == 48
    refused = run(*asked, *subject, "--view", "full", "--out", "RUN2")
    assert refused.exit_code == 1
    assert "trained on the view 'context'" in refused.stderr


def test_a_fault_of_the_items_is_named_by_file_and_line(run: Run, bert: str, tmp_path: Path) -> None:
    """One class alone, a label that is not there: the item's line in the user's own file, not its id alone."""
    given = ("--items", "pairs.csv", "--language", "en", "--encoder", bert, "--out", "x", *FEW)
    same = [replace(item, gold="t") for item in pairs(12)]
    write_pairs(tmp_path / "pairs.csv", same, split=True)
    # the first row, in line 2, is of dev: the first of train is in line 3
    assert (
        "pairs.csv:3, item 'made/1': all 8 training items have the answer 't'"
        in run("train", "classifier", *given).stderr
    )
    write_pairs(tmp_path / "pairs.csv", [*pairs(9), replace(pairs(11)[10], gold="")], split=True)
    refused = run("train", "classifier", *given)
    assert "pairs.csv:11, item 'made/10'" in refused.stderr, refused.stderr


def test_what_was_cut_is_said(run: Run, bert: str, tmp_path: Path) -> None:
    """Items that are longer than what is read are counted by part, and only where there are some."""
    write_pairs(tmp_path / "pairs.csv", pairs(48), split=True)
    given = ("--items", "pairs.csv", "--language", "en", "--encoder", bert, *FEW, "--epochs", "1")
    # a pair of short sentences has 11 tokens; the second sentence of every third, which is in dev, has 5 more
    cut = run("train", "classifier", *given, "--longest", "11", "--out", "short")
    assert cut.exit_code == 0, cut.stderr
    assert "items of which something was cut, being longer than what is read: 0 of train and 16 of dev" in cut.stdout
    assert "was cut" not in run("train", "classifier", *given, "--longest", "16", "--out", "long").stdout


def test_pairs_without_a_split_are_split_by_word(run: Run, bert: str, tmp_path: Path) -> None:
    """A fifth of the words is dev; a probe of them takes no training."""
    write_pairs(tmp_path / "pairs.csv", pairs(64), split=False)
    given = ("--items", "pairs.csv", "--language", "en", "--method", "threshold")
    done = run("train", "classifier", *given, "--encoder", bert, "--out", "probe", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert "Saved probe" in done.stdout
    about = json.loads((tmp_path / "probe" / "run.json").read_text())["training"]
    assert about["items"]["train"]["n"] + about["items"]["dev"]["n"] == 64


def test_a_question_of_both_splits_is_said(run: Run, tmp_path: Path) -> None:
    """The same pair under another id, its sentences turned, in train and in dev: counted and named, not refused."""
    rows = ["item_id,sentence_1,sentence_2,target,gold,split"]
    for number, (verb, gold) in enumerate([("shut", "t"), ("grew", "f")] * 4):
        part = "dev" if number > 5 else "train"
        rows.append(f"i{number},The bank {verb}.,A bank of {number} rose.,bank,{gold},{part}")
    given = ("train", "classifier", "--items", "pairs.csv", "--view", "label", "--method", "label")
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n")
    assert "training item asks too" not in run(*given, "--out", "apart").stderr
    rows.append("again,A bank of 1 rose.,The bank grew.,bank,f,dev")
    (tmp_path / "pairs.csv").write_text("\n".join(rows) + "\n")
    done = run(*given, "--out", "both")
    assert done.exit_code == 0, done.stderr
    assert "1 of 3 dev items ask what a training item asks too; the first is again" in " ".join(done.stderr.split())


def test_a_selection_within_a_budget(run: Run, bert: str, tmp_path: Path) -> None:
    """With --select nine shards and one that is kept; what a budget leaves out is said."""
    write_items(senses(24), tmp_path / "senses.csv")
    given = ("--items", "senses.csv", "--dev", "senses.csv", "--task", "sense_disambiguation", "--encoder", bert)
    done = run("train", "classifier", *given, "--out", "grid", "--select", "--epochs", "1", "--quiet", "--json")
    assert done.exit_code == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {(row["rate"], row["seed"]) for row in rows} == {
        (rate, seed) for rate in ("1e-05", "2e-05", "3e-05") for seed in range(3)
    }
    assert sum(row["kept"] for row in rows) == 1
    planned = run("train", "classifier", *given, "--out", "planned", "--select", "--budget", "20s", "--epochs", "3000")
    assert planned.exit_code == 0, planned.stderr
    assert "a reduced protocol is run" in planned.stderr
    assert "2 of 3 learning rates" in planned.stderr
    about = json.loads((tmp_path / "planned" / "run.json").read_text())["training"]
    assert (about["method"], about["settings"]["epochs"]) == ("gloss", 3)


def test_entries_of_a_file_are_retrieved(run: Run, bert: str, tmp_path: Path) -> None:
    """A bi-encoder with the search space of a list of entities."""
    items = retrievals(24)
    write_items(items, tmp_path / "mentions.csv")
    lines = [f"{noun}.{side}\t{noun}\t{text}" for noun in ("bat", "bank", "seal", "mole") for side, text in ENTRIES]
    (tmp_path / "entries.tsv").write_text("\n".join(["id\ttitle\tdescription", *lines]) + "\n")
    given = ("--items", "mentions.csv", "--dev", "mentions.csv", "--entries", "entries.tsv", "--task", "entity_link")
    done = run("train", "bi_encoder", *given, "--encoder", bert, "--out", "found", *FEW, "--pooling", "mean")
    assert done.exit_code == 0, done.stderr
    asked = ("collect", "--items", "mentions.csv", "--task", "entity_link", "--subject", "bi_encoder:found")
    answered = run(*asked, "--out", "RUN", "--quiet")
    assert answered.exit_code == 0, answered.stderr
    found = ResponseTable.read_parquet(tmp_path / "RUN" / "responses.parquet").where(measure="retrieved")
    assert len(found) == 24
    assert all("." in option for option in found.column("option"))


def test_choices_are_retrieved_from_the_lexicon(
    run: Run, bert: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's choices among senses of a lexicon, dev in a second file: what is right is a synset in both.

    The bi-encoder searches all synsets, those of no item among them, and is asked the file as it is.
    """
    names = [(f"{noun}%{number}", text) for noun in NOUNS for number, text in ((1, "an animal"), (2, "a thing"))]
    of_key = {key: LexicalSense(key, key[:-2], "n", key, int(key[-1])) for key, _ in names}
    lexicon = SimpleNamespace(
        name="a lexicon of eight nouns",
        all_synsets=lambda: [Synset(key, "n", (key[:-2],), text) for key, text in dict(names).items()],
        members=lambda synset: (of_key[synset],),
        sense=of_key.__getitem__,
    )
    monkeypatch.setattr(wordnet, "load", lambda: lexicon)
    for name, items in (("learnt", senses(32)), ("dev", senses(16, start=32))):
        with (tmp_path / f"{name}.csv").open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["item_id", "word", "sentence", "glosses", "senses", "gold"])
            for item in items:
                shown = item.usages[0]
                writer.writerow(
                    [item.item_id, item.word, shown.text, item.conditions["glosses"], "|".join(item.options), item.gold]
                )
    given = ("--items", "learnt.csv", "--dev", "dev.csv", "--task", "sense_disambiguation", "--language", "en")
    done = run("train", "bi_encoder", *given, "--encoder", bert, "--out", "found", *FEW, "--pooling", "mean", "--json")
    assert done.exit_code == 0, done.stderr
    assert [row["kept"] for row in json.loads(done.stdout)].count(True) == 1
    asked = ("collect", "--items", "dev.csv", "--task", "sense_retrieval", "--subject", "bi_encoder:found")
    answered = run(*asked, "--language", "en", "--out", "RUN", "--quiet")
    assert answered.exit_code == 0, answered.stderr
    found = ResponseTable.read_parquet(tmp_path / "RUN" / "responses.parquet").where(measure="retrieved")
    assert (len(found), set(found.unique("option")) <= {f"{noun}.n.0{n}" for noun in NOUNS for n in (1, 2)}) == (
        16,
        True,
    )


ENTRIES = ((0, "an animal that slept"), (1, "a thing that broke"))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("--view", "guessed_word"), "guessed_word"),
        (("--learning-rate", "0"), "learning rate"),
        (("--method", "gloss"), "answers 'sense_disambiguation'"),
        (("--budget", "soon"), "not a duration"),
    ],
)
def test_what_cannot_be_learnt_is_said(
    run: Run, bert: str, tmp_path: Path, changed: tuple[str, ...], said: str
) -> None:
    """A view of tests alone, settings out of range, items of another shape: refused with the reason."""
    write_pairs(tmp_path / "pairs.csv", pairs(48), split=True)
    given = ("--items", "pairs.csv", "--language", "en", "--encoder", bert, "--out", "x", *FEW)
    done = run("train", "classifier", *given, *changed)
    assert done.exit_code in (1, 2)
    assert said in done.stderr
