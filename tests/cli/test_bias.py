"""``lexiscope bias``: the audit of a file of one's own on one screen, and what is refused before any training."""

from __future__ import annotations

import csv
import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest
from tests.studies.leaking_pairs import context_decides, leaking_pairs, word_decides, write_pairs
from tests.training.tiny_views import save_bert

from lexiscope.build.planted.bias import Dials, planted_items
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import find_record, read_records
from lexiscope.items.tables.tabular import write_items

from .conftest import Run

Row = dict[str, object]
DIALS = Dials(1.0, 0.0, n_words=24, splits=(("train", 300), ("dev", 60), ("test", 100)))


def rows() -> list[Row]:
    """Planted items as the rows of a file: the context tells everything, the word nothing."""
    made = []
    for item in planted_items(DIALS):
        row: Row = {"id": item.item_id, "gold": item.gold, "split": item.conditions["split"]}
        for side, usage in enumerate(item.usages, start=1):
            row |= {f"sentence_{side}": usage.text, f"start_{side}": usage.start, f"end_{side}": usage.end}
        made.append(row | {"target": item.usages[0].target})
    return made


def written(path: Path, table: list[Row], *, without: tuple[str, ...] = ()) -> Path:
    """Write the rows, some columns left out."""
    names = [name for name in table[0] if name not in without]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(table)
    return path


def test_the_screen_says_what_solves_the_set(run: Run, tmp_path: Path) -> None:
    """Sizes, scores and biases with intervals, the verdict and the report's path, in no more than 100 columns."""
    written(tmp_path / "pairs.csv", rows())
    result = run("bias", "pairs.csv", "--encoder", "look_up", "--bootstrap", 200, "--out", "audit")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 40
    assert lines[0] == "pairs: 460 items (300 train, 60 dev, 100 test); 24 words are tested"
    found = read_records(tmp_path / "audit" / "results.json")
    context = find_record(found, "context_bias(metric=accuracy)")
    assert context.value is not None
    assert re.search(rf"context bias +{context.value:.2f} +\[{context.low:.2f}, {context.high:.2f}\]", result.stdout)
    assert "the dataset is context-biased" in re.sub(r"\s+", " ", result.stdout)
    assert lines[-1] == "report: audit/report.html"
    assert (tmp_path / "audit" / "report.html").is_file()


def test_the_screen_is_the_same_when_asked_again(run: Run, tmp_path: Path) -> None:
    """A finished audit is read, not computed; it prints the same and says so on stderr."""
    written(tmp_path / "pairs.csv", rows())
    words = ("bias", "pairs.csv", "--encoder", "look_up", "--bootstrap", 50, "--out", "audit")
    first, second = run(*words), run(*words)
    assert first.stdout == second.stdout
    assert "finished before" in second.stderr


def test_a_file_is_rebalanced_and_judged_in_halves(run: Run, tmp_path: Path) -> None:
    """The file has what is left, the screen the cost and, of each part, what it gives in all, kept and random items."""
    planted = planted_items(Dials(0.7, 0.0, n_words=8, splits=(("test", 48),)))
    write_items([replace(item, conditions={}) for item in planted], tmp_path / "pairs.csv")
    words = ("bias", "pairs.csv", "--encoder", "words", "--bootstrap", 50, "--rebalance", "left.csv")
    result = run(*words, "--out", "audit")
    assert result.exit_code == 0, result.output
    said = re.sub(r"\s+", " ", result.stdout)
    cost = re.search(r"(\d+) of 48 items were removed \((\d+) %\), as many of each answer, in \d+ rounds", said)
    assert cost is not None, said
    n_removed, percent = map(int, cost.groups())
    assert percent == round(100 * n_removed / 48)
    with (tmp_path / "left.csv").open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 48 - n_removed
    assert (tmp_path / "left.csv").read_bytes() == (tmp_path / "audit" / "rebalanced.csv").read_bytes()
    records = read_records(tmp_path / "audit" / "results.json")
    assert find_record(records, "n_removed").value == n_removed
    name = "view_difference(first=context,second=label,metric=accuracy,items="
    before, kept, random, change, beyond = (
        find_record(records, f"{name}{items})")
        for items in ("all", "kept", "random", "kept,minus=all", "kept,minus=random")
    )
    assert change.value == pytest.approx((kept.value or 0) - (before.value or 0))
    assert beyond.value == pytest.approx((kept.value or 0) - (random.value or 0))
    assert "words" in change.interval
    shown = f"CONTEXT is above LABEL by {100 * (before.value or 0):.1f} [".replace("-", "−")
    assert f"words and characters (it chose the items): {shown}" in said
    again = run(*words[:-1], "pairs.csv", "--out", "other")
    assert again.exit_code == 1
    assert "pairs.csv is the file that is audited" in again.stderr


def test_people_stand_on_the_screen(run: Run, tmp_path: Path) -> None:
    """Their scores and biases have lines of their own, and the verdict compares the model with them."""
    table = rows()
    written(tmp_path / "pairs.csv", table)
    given = [
        Response("ana" if view == "full" else "leo", "participant", str(row["id"]), "same_sense", "choice",
                 option=str(row["gold"]), view=view)
        for view in ("full", "context") for row in table[-40:]
    ]  # fmt: skip
    ResponseTable.from_rows(given).write_csv(tmp_path / "people.csv")
    words = ("--encoder", "look_up", "--bootstrap", 50, "--people", "people.csv")
    result = run("bias", "pairs.csv", *words, "--out", "audit")
    assert result.exit_code == 0, result.output
    block = result.stdout.partition("people, whose answers were given\n")[2].splitlines()
    assert re.match(r"  FULL +the whole input +100\.0 % correct", block[0])
    assert re.match(r"  CONTEXT +the context alone +100\.0 % correct", block[1])
    # the words of every pair are equal, so that everybody would say t
    assert "assumed" in next(line for line in block if line.startswith("  WORD"))
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_simulated_participants_are_never_called_people_on_the_screen(run: Run, tmp_path: Path) -> None:
    """The answers are those of a rehearsal: each line that the analysis of people prints says so."""
    table = rows()
    written(tmp_path / "pairs.csv", table)
    given = [
        Response(f"simulated-{view}", "simulated", str(row["id"]), "same_sense", "choice",
                 option=str(row["gold"]), view=view)
        for view in ("full", "context") for row in table[-40:]
    ]  # fmt: skip
    ResponseTable.from_rows(given).write_csv(tmp_path / "people.csv")
    words = ("--encoder", "look_up", "--bootstrap", 50, "--people", "people.csv")
    result = run("bias", "pairs.csv", *words, "--out", "audit")
    assert result.exit_code == 0, result.output
    assert "simulated participants, whose answers were given\n" in result.stdout
    assert "Simulated participants: " in " ".join(result.stdout.split())
    assert not re.search(r"\bpeople\b", result.stdout, re.IGNORECASE), result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_a_file_without_splits_is_tested_in_folds(run: Run, tmp_path: Path) -> None:
    """What was done is said: folds by item, so that a word that decides its label can be learnt, and the seed."""
    written(tmp_path / "pairs.csv", rows(), without=("split",))
    result = run("bias", "pairs.csv", "--encoder", "look_up", "--bootstrap", 50, "--seed", 3, "--out", "audit")
    said = re.sub(r"\s+", " ", result.stdout)
    assert said.startswith("pairs: 460 items; 24 words are tested")
    assert "each item was tested once, by a learner trained on the other items (5 folds by item" in said
    assert "seed 3). Words occur in several folds." in said


def test_a_training_divides_a_file_by_item(run: Run, tmp_path: Path) -> None:
    """Without folds the parts are made by item too: words stand in several of them, and shares and seed are said."""
    written(tmp_path / "pairs.csv", rows(), without=("split",))
    words = ("--encoder", "look_up", "--protocol", "zero_shot", "--bootstrap", 50, "--seed", 3)
    result = run("bias", "pairs.csv", *words, "--out", "audit")
    said = re.sub(r"\s+", " ", result.stdout)
    assert said.startswith("pairs: 460 items (276 train, 69 dev, 115 test); 24 words are tested")
    assert "divided by item with equal shares of each answer, seed 3: 60 % train, 15 % dev, 25 % test" in said


@pytest.mark.parametrize(
    ("column", "yes", "no"),
    [
        ("label", "1", "0"),
        ("Label", "True", "False"),
        ("label", "T", "F"),
        ("gold", "yes", "no"),
        ("label", "1.0", "0.0"),
    ],
)
def test_labels_are_read_from_usual_columns(column: str, yes: str, no: str, run: Run, tmp_path: Path) -> None:
    """0/1, true/false, T/F, yes/no, in a column gold or label: the same figures as with t and f in gold."""
    table = [{**row, column: yes if row["gold"] == "t" else no} for row in rows()]
    written(tmp_path / "pairs.csv", table, without=() if column == "gold" else ("gold",))
    result = run("bias", "pairs.csv", "--encoder", "look_up", "--bootstrap", 50, "--out", "audit")
    assert result.exit_code == 0, result.output
    found = read_records(tmp_path / "audit" / "results.json")
    assert find_record(found, "accuracy", view="context").value == 1.0
    assert find_record(found, "accuracy", view="label").value == 0.5


def test_a_file_without_labels_is_refused_with_its_columns(run: Run, tmp_path: Path) -> None:
    """The error names the columns that are read, the ways to write a label, and the columns of the file."""
    written(tmp_path / "pairs.csv", [{**row, "truth": row["gold"]} for row in rows()], without=("gold",))
    result = run("bias", "pairs.csv", "--encoder", "look_up", "--out", "audit")
    assert result.exit_code == 1
    assert "[E484] No labels found. Labels are read from the column gold, label or same_sense." in result.stderr
    assert "--map gold=COLUMN. Columns in the file: id, split, sentence_1" in result.stderr
    assert "truth" in result.stderr


def test_too_few_words_is_the_first_line(run: Run, tmp_path: Path) -> None:
    """Of five words no verdict is given, and that stands before anything else, on the screen and in the report."""
    write_pairs(tmp_path / "pairs.csv", leaking_pairs(context_decides, n=200, n_words=5))
    result = run("bias", "pairs.csv", "--encoder", "words", "--bootstrap", 50, "--out", "audit")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Too few words for a verdict: 5. Use at least 10, better 25 or more.\n")
    assert "biased" not in result.stdout
    page = (tmp_path / "audit" / "report.html").read_text(encoding="utf-8")
    assert page.index("Too few words for a verdict: 5 words.") < page.index("With the whole input")


@pytest.mark.parametrize("blocked", ["accelerate", "torch"])
def test_the_default_needs_no_training_packages(blocked: str, run: Run, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """Without accelerate everything runs; without torch words and characters do, and the screen says what did not."""
    write_pairs(tmp_path / "pairs.csv", leaking_pairs(word_decides, n=120, n_words=12))
    block(monkeypatch, blocked)
    result = run("bias", "pairs.csv", "--bootstrap", 50, "--out", "audit")
    assert result.exit_code == 0, result.output
    said = re.sub(r"\s+", " ", result.stdout)
    assert "Judged by words and characters, the dataset is word-biased" in said
    assert ("Judged by minilm, linear, the dataset is word-biased" in said) == (blocked == "accelerate")
    not_run = "Not run: minilm, a linear probe on vectors. The package torch is missing. Run pip install"
    assert (not_run in said) == (blocked == "torch")


def test_zero_shot_needs_no_accelerate(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe without training imports nothing of a training; on WORD, which it cannot see, it gives no verdict."""
    write_pairs(tmp_path / "pairs.csv", leaking_pairs(word_decides, n=120, n_words=12))
    block(monkeypatch, "accelerate")
    words = ("--encoder", "minilm", "--protocol", "zero_shot", "--bootstrap", 50)
    result = run("bias", "pairs.csv", *words, "--out", "audit")
    assert result.exit_code == 0, result.output
    said = re.sub(r"\s+", " ", result.stdout)
    assert "minilm, zero-shot cannot see WORD, so there is no verdict on it" in said
    assert "word-biased" not in said


def block(monkeypatch: pytest.MonkeyPatch, gone: str) -> None:
    """Make a package as good as not installed: neither its modules nor its version can be had."""
    for name in [name for name in sys.modules if name.partition(".")[0] == gone]:
        monkeypatch.delitem(sys.modules, name)
    real, version = importlib.import_module, metadata.version

    def imported(name: str, package: str | None = None) -> ModuleType:
        if name.partition(".")[0] == gone:
            raise ModuleNotFoundError(f"No module named {gone!r}", name=gone)
        return real(name, package)

    def known(name: str) -> str:
        if name == gone:
            raise metadata.PackageNotFoundError(gone)
        return version(name)

    monkeypatch.setattr(importlib, "import_module", imported)
    monkeypatch.setattr(metadata, "version", known)


def hide_test_labels(table: list[Row]) -> None:
    """Nobody knows the answers of test."""
    for row in table:
        if row["split"] == "test":
            row["gold"] = ""


def same_labels(table: list[Row]) -> None:
    """Every answer of dev is t."""
    for row in table:
        if row["split"] == "dev":
            row["gold"] = "t"


def lose_span(table: list[Row]) -> None:
    """The span of the third row is somewhere else."""
    table[2] |= {"start_1": 0, "end_1": 2}


def blank_target(table: list[Row]) -> None:
    """The span of the third row holds a space alone."""
    place = str(table[2]["sentence_1"]).index(" ")
    table[2] |= {"start_1": place, "end_1": place + 1, "target": " "}


@pytest.mark.parametrize(
    ("spoil", "code", "line"),
    [
        (hide_test_labels, "E484", 362),
        (same_labels, "E483", 302),
        (lose_span, "E101", 4),
        (blank_target, "E104", 4),
    ],
)
def test_a_set_that_cannot_be_audited_is_refused(
    spoil: Callable[[list[Row]], None], code: str, line: int, run: Run, tmp_path: Path
) -> None:
    """The error has its code, the file and the line of the row, and nothing is written."""
    table = rows()
    spoil(table)
    written(tmp_path / "pairs.csv", table)
    result = run("bias", "pairs.csv", "--encoder", "look_up", "--out", "audit")
    assert result.exit_code == 1
    assert re.search(rf"^pairs\.csv:{line}(:\d+)?, item '.*': \[{code}\]", result.stderr, re.MULTILINE), result.stderr
    assert not (tmp_path / "audit" / "run.json").exists()


def test_a_file_and_a_dataset_that_are_confused_are_told_apart(run: Run, tmp_path: Path) -> None:
    """A study that is given a file as its dataset points to --items, the audit of a file to the study of a dataset."""
    written(tmp_path / "pairs.csv", rows())
    study = run("study", "context_bias", "--dataset", "pairs.csv", "--out", "audit")
    assert study.exit_code == 1
    assert "Unknown dataset 'pairs.csv'." in study.stderr
    assert "name your items with --items pairs.csv" in study.stderr
    audit = run("bias", "am2ico?language=zh", "--out", "audit")
    assert audit.exit_code == 1
    assert "am2ico?language=zh is a published dataset; bias takes a file" in audit.stderr
    assert "lexiscope study context_bias --dataset am2ico?language=zh" in audit.stderr
    assert not (tmp_path / "audit").exists()


def test_one_class_is_refused_before_the_file_is_divided(run: Run, tmp_path: Path) -> None:
    """A file without splits and with one answer cannot be learnt, whatever part is looked at."""
    written(tmp_path / "pairs.csv", [row | {"gold": "f"} for row in rows()], without=("split",))
    result = run("bias", "pairs.csv", "--encoder", "look_up", "--out", "audit")
    assert result.exit_code == 1
    assert "pairs.csv:2, item 'planted_bias/train/1': [E483]" in result.stderr


def test_an_encoder_without_a_mask_token_is_refused(run: Run, tmp_path: Path, no_mask: Path) -> None:
    """Before anything is trained, naming the first item that could not be shown to it."""
    written(tmp_path / "pairs.csv", rows())
    result = run("bias", "pairs.csv", "--encoder", no_mask, "--out", "audit")
    assert result.exit_code == 1
    assert "no mask token" in result.stderr
    assert "planted_bias/train/1" in result.stderr
    assert not (tmp_path / "audit" / "shards").exists()


@pytest.fixture
def no_mask(tmp_path: Path) -> Path:
    """The folder of a tiny random encoder whose tokenizer has no mask token."""
    return save_bert(tmp_path / "tiny", mask=False)
