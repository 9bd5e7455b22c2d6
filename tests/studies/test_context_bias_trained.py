"""The context–word bias study with a tiny model that is trained, and on every kind of item that it takes."""

from __future__ import annotations

import csv
import re
import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.training.tiny_views import SPACE, pairs, retrievals, save_bert, senses, verifications

from lexiscope.build.planted.bias import Dials, planted_items
from lexiscope.cli.main import cli
from lexiscope.core.errors import SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, find_record, read_records
from lexiscope.core.run import read_json
from lexiscope.items.arrange.splits import ItemDivision
from lexiscope.items.tables.tabular import write_items
from lexiscope.studies.context_bias import data, study
from lexiscope.studies.context_bias.sets import AuditSet, NotUsed
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.subjects.trained import _probe
from lexiscope.training import budget

Make = Callable[..., tuple[Item, ...]]
TASKS: dict[str, Make] = {
    "same_sense": pairs,
    "sense_verification": verifications,
    "sense_disambiguation": senses,
    "sense_retrieval": retrievals,
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT of random weights."""
    return save_bert(tmp_path_factory.mktemp("bert") / "tiny")


def audit_of(task: str, *, n_train: int = 64, n_others: int = 32) -> AuditSet:
    """Made-up items of a task, divided; *n_others* are in dev and in test each."""
    make = TASKS[task]
    parts = make(n_train), make(n_others, start=n_train), make(n_others, start=n_train + n_others)
    return AuditSet(task, task, task, ItemDivision(*parts), space=SPACE if task == "sense_retrieval" else None)


def run(
    audits: list[AuditSet], folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: object
) -> tuple[Record, ...]:
    """Run the study on these items in the place of datasets."""
    none: tuple[NotUsed, ...] = ()
    monkeypatch.setattr(data, "open_sets", lambda _: (tuple(audits), none))
    study.run(ContextBiasSettings(n_bootstrap=50, outputs=(), **settings), folder)  # type: ignore[arg-type]
    return read_records(folder / "results.json")


def test_every_kind_of_item_is_probed(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs, definitions, senses and search spaces: every view has a score, and nothing is trained."""
    audits = [audit_of(task) for task in TASKS]
    found = run(audits, tmp_path / "run", monkeypatch, encoders=(str(bert),), protocol="zero_shot")
    for task in TASKS:
        for view in ("full", "context", "word", "label"):
            score = find_record(found, "accuracy", dataset=task, subject="tiny, zero-shot", view=view)
            assert score.value is not None
            assert 0 <= score.value <= 1
            assert score.n == 32
    chances = {task: find_record(found, "accuracy", dataset=task, view="random").value for task in TASKS}
    # two answers, two answers, two glosses of each item, and 0 for a search, as in the paper
    assert list(chances.values()) == [0.5, 0.5, 0.5, 0.0]
    methods = {folder.parts[-3] for folder in (tmp_path / "run" / "shards").glob("*/*/*/run.json")}
    assert len(methods) == 4
    entropies = {record.dataset for record in found if record.statistic.startswith("sense_entropy")}
    assert entropies == {"sense_retrieval", "sense_disambiguation"}


def test_an_encoder_is_kept_once_for_all_views_of_a_search(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken off in the second view and run again: the same results, and the views' files are the same files."""
    audits = [audit_of("sense_retrieval")]
    whole = run(audits, tmp_path / "whole", monkeypatch, encoders=(str(bert),))
    plain = data.collect

    def broken(*given: object, **named: object) -> ResponseTable:
        if named["views"] == ("context",):
            raise KeyboardInterrupt
        return plain(*given, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(data, "collect", broken)
        with pytest.raises(KeyboardInterrupt):
            run(audits, tmp_path / "run", patched, encoders=(str(bert),))
    assert run(audits, tmp_path / "run", monkeypatch, encoders=(str(bert),)) == whole
    for name in ("encoder/model.safetensors", "vectors.npy"):
        first, *others = (tmp_path / "run" / "shards").glob(f"*/*/*/{name}")
        assert len(others) == 2
        assert all(each.samefile(first) for each in others)
    assert not list((tmp_path / "run").glob("vectors/*"))


@pytest.mark.parametrize("how", ["zero_shot", "linear"])
def test_what_a_model_reads_a_part_of_is_told(
    how: str, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items that are too long are counted by split and view, in the results and in the report."""
    # "the [X] flew ." is read as 8 tokens; every third second sentence is longer
    monkeypatch.setattr(_probe, "_LONGEST", 8)
    audit = audit_of("same_sense")
    parts = ("train", "dev", "test")
    far = {part: sum("town" in item.usages[1].text for item in getattr(audit.parts, part)) for part in parts}
    found = run([audit], tmp_path / "run", monkeypatch, encoders=(str(bert),), protocol=how)
    for part, expected in far.items():
        assert find_record(found, "n_cut", dataset="same_sense", view="full", condition=part).value == expected
    assert not [record for record in found if record.statistic == "n_cut" and record.view in ("word", "label")]
    told = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert f"{far['test']} of test in FULL" in told


def test_seeds_have_a_spread_on_dev(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole protocol trains every view, LABEL too, with every rate and seed; the SD is that over the seeds."""
    monkeypatch.setattr(budget, "RATES", (2e-5, 1e-3))
    monkeypatch.setattr(budget, "SEEDS", (0, 1))
    # four trainings of each view: few items are enough
    audits = [audit_of("same_sense", n_train=32, n_others=16)]
    found = run(audits, tmp_path / "run", monkeypatch, encoders=(str(bert),), protocol="full")
    for view in ("full", "context", "word", "label"):
        table = next((tmp_path / "run" / "shards").glob(f"*/{view}/selection.csv"))
        with table.open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        assert len(rows) == 4
        assert {row["method"] for row in rows} == {"pair"}
        (best,) = (row for row in rows if row["selected"] == "1")
        dev = [float(row["dev"]) for row in rows if row["learning_rate"] == best["learning_rate"]]
        spread = find_record(found, "dev_sd", subject="tiny, full", view=view)
        assert spread.value == pytest.approx(statistics.stdev(dev))
        assert (
            find_record(found, "dev_mean", view=view).note
            == f"rate {float(best['learning_rate']):g}, seed {best['seed']}"
        )
    assert read_json(tmp_path / "run" / "run.json")["plans"][0]["left_out"] == []
    with (tmp_path / "run" / "tables" / "seeds.csv").open(encoding="utf-8") as stream:
        shown = {row["View"]: row for row in csv.DictReader(stream)}
    score, mean = (find_record(found, name, subject="tiny, full", view="word") for name in ("accuracy", "dev_mean"))
    assert float(shown["WORD"]["Test"]) == pytest.approx(100 * (score.value or 0))
    assert float(shown["WORD"]["Dev, mean"]) == pytest.approx(100 * (mean.value or 0))
    assert (shown["WORD"]["Seeds"], shown["WORD"]["Best on dev"]) == ("2", mean.note)


def test_a_reduced_protocol_says_what_it_leaves_out(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One rate, one seed, few epochs, LABEL in closed form: all of it stands in the run and in the report."""
    audits = [audit_of("same_sense", n_train=32, n_others=16)]
    found = run(audits, tmp_path / "run", monkeypatch, encoders=(str(bert),), protocol="reduced")
    (plan,) = read_json(tmp_path / "run" / "run.json")["plans"]
    assert plan["left_out"][:3] == ["2 of 3 learning rates", "2 of 3 seeds", "epochs beyond 3 (of 10)"]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "2 of 3 learning rates; 2 of 3 seeds; epochs beyond 3 (of 10)" in page
    assert find_record(found, "dev_sd", view="full").note == "one seed has no spread"


def guessed(item: Item, guess: str) -> Item:
    """The item with a guess that somebody judged to fit, as the sheet of guessed words gives it."""
    conditions = {"guess_of": item.item_id, "guess": guess, "guess_fits": True}
    forms = {"guessed_word_1": guess, "guessed_word_2": guess}
    return replace(item, item_id=f"{item.item_id}/{guess}", gold=None, conditions=conditions | forms)


@pytest.mark.parametrize(("encoder", "subject"), [("bert", "tiny, zero-shot"), ("bert", "tiny, linear"),
                                                  ("words", "words and characters")])  # fmt: skip
def test_guessed_words_are_put_to_the_model(
    encoder: str, subject: str, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model of the whole input is asked each guess in the word's place; flips are counted beside the person's."""
    audit = audit_of("same_sense")
    rows = []
    for item in audit.test[:4]:
        of_item = {"subject_id": "ana", "subject_kind": "participant", "item_id": item.item_id, "task": "same_sense"}
        rows += [
            Response(**of_item, measure="choice", option="t", view="context"),
            Response(**of_item, measure="guessed_word", raw="seal", view="context"),
            Response(**of_item, measure="revealed_choice", option="f", view="full"),
        ]
    ResponseTable.from_rows(rows).write_csv(tmp_path / "people.csv")
    write_items([guessed(item, "seal") for item in audit.test[:4]], tmp_path / "guessed.csv")
    files = (str(tmp_path / "people.csv"), str(tmp_path / "guessed.csv"))
    name, how = (str(bert) if encoder == "bert" else encoder), ("zero_shot" if "zero" in subject else "auto")
    found = run([audit], tmp_path / "run", monkeypatch, encoders=(name,), protocol=how, people=files)
    answers = ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet")
    model = answers.where(subject_id=subject, measure="choice")
    with_guess = {row.item_id: row.option for row in model.where(view="guessed_word").rows()}
    before = {row.item_id: row.option for row in model.where(view="full").rows()}
    kept = sum(before[item.item_id] == with_guess[f"{item.item_id}/seal"] for item in audit.test[:4])
    assert find_record(found, "n_guesses").value == 4
    assert find_record(found, "n_valid_guesses").value == 4
    # ana's answer changed each time
    assert find_record(found, "n_insensitive").value == kept
    assert (tmp_path / "run" / "tables" / "guess_flips_1.csv").is_file()


def test_a_set_that_an_encoder_cannot_read_stops_no_other(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words are all unknown to the tokenizer: listed with the reason beside a set that is read, refused alone."""
    dials = Dials(n_words=4, splits=(("train", 20), ("dev", 10), ("test", 10)))
    items = planted_items(dials)
    parts = (tuple(each for each in items if each.conditions["split"] == name) for name, _ in dials.splits)
    strange = AuditSet("strange", "Strange words", "same_sense", ItemDivision(*parts))
    known = audit_of("same_sense")
    found = run([strange, known], tmp_path / "run", monkeypatch, encoders=(str(bert),))
    assert {record.dataset for record in found if record.dataset} == {"same_sense"}
    listed = (tmp_path / "run" / "tables" / "not_used.csv").read_text(encoding="utf-8")
    assert re.search(r"strange,Strange words,.*the tokenizer does not know the target", listed)
    with pytest.raises(SubjectError, match="does not know the target"):
        run([strange], tmp_path / "alone", monkeypatch, encoders=(str(bert),))


def test_printed_people_and_models_that_are_not_at_hand(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On AM²iCo people's printed scores are compared with the model; why BERT's numbers are not there is said."""
    audit = replace(audit_of("same_sense"), name="am2ico?language=zh")
    found = run([audit], tmp_path / "run", monkeypatch, encoders=(str(bert),), protocol="zero_shot")
    for view, printed in (("full", 0.879), ("context", 0.690), ("word", 0.685)):
        model = find_record(found, "accuracy", subject="tiny, zero-shot", view=view).value or 0.0
        gap = find_record(found, "people_minus_model(metric=accuracy)", subject="tiny, zero-shot", view=view)
        assert gap.value == pytest.approx(printed - model)
        assert "printed" in gap.note
    assert find_record(found, "minimum_gap(metric=accuracy)", subject="people (printed)").value == pytest.approx(0.189)
    bert_rows = [record for record in found if record.subject == "bert-base-uncased, full"]
    # gaps and minimum gap; levels of Table 5; means and SD of Table 7
    of_table_5 = {0.03, 0.075, 0.169, 0.05, 0.66, 0.61, 0.71}
    assert {record.published for record in bert_rows} == {*of_table_5, 0.665, 0.008, 0.768, 0.016}
    assert {record.status for record in bert_rows} == {"not reproducible"}
    assert all("never released" in record.note for record in bert_rows)


def test_the_printed_gaps_of_a_model_are_compared_with_those_of_its_kind(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trained by the whole protocol, BERT's distance from people and minimum gap have the printed numbers next to them.

    Table 5 and Figure 3: 3, 7.5 and 16.9 points behind people in CONTEXT, WORD and FULL, and a minimum gap of 5.
    """
    monkeypatch.setattr(budget, "RATES", (1e-3,))
    monkeypatch.setattr(budget, "SEEDS", (0,))
    encoder = tmp_path / "bert-base-uncased"
    encoder.symlink_to(bert, target_is_directory=True)
    audit = replace(audit_of("same_sense", n_train=32, n_others=16), name="am2ico?language=zh")
    found = run([audit], tmp_path / "run", monkeypatch, encoders=(str(encoder),), protocol="full")
    for view, points in (("context", 3), ("word", 7.5), ("full", 16.9)):
        gap = find_record(found, "people_minus_model(metric=accuracy)", subject="bert-base-uncased, full", view=view)
        assert gap.value is not None
        assert (gap.published, gap.source) == (pytest.approx(points / 100), "Table 5")
        assert gap.status in ("reproduced", "within rounding", "not reproduced")
    gap = find_record(found, "minimum_gap(metric=accuracy)", subject="bert-base-uncased, full")
    assert (gap.published, gap.source) == (0.05, "Figure 3")
    # a printed number of one view is compared with no other view
    printed = Counter(record.dataset for record in found if record.published is not None)
    # of the paper as a whole: twelve numbers of three models, three of people, three rates and the number of seeds
    assert printed == {"am2ico?language=zh": 20, "context_bias": 19}
    spreads = [record for record in found if "over=seeds" in record.statistic]
    assert {record.status for record in spreads} == {"not reproducible"}  # one seed has no spread


def own_search(folder: Path, n: int) -> tuple[Path, Path]:
    """A user's files: mentions with their right entry by its title, divided, and the list that is searched."""
    entries = [[e.entry_id, f"{e.name}, {e.description.split()[1]}", e.description] for e in SPACE.entries]
    titles = {entry_id: title for entry_id, title, _ in entries}
    rows = [
        [item.item_id, item.usages[0].text, item.usages[0].target, titles[str(item.gold)], split]
        for split, items in (("train", retrievals(n)), ("dev", retrievals(16, start=n)), ("test", retrievals(16)))
        for item in (items if split != "test" else (replace(item, item_id=f"{item.item_id}/t") for item in items))
    ]
    with (folder / "mentions.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["item_id", "sentence", "target", "gold", "split"], *rows])
    lines = ["\t".join(row) for row in [["id", "title", "description"], *entries]]
    (folder / "entries.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "mentions.csv", folder / "entries.tsv"


def test_a_search_of_ones_own_is_trained_and_compared_with_people(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the command line: a bi-encoder for each view learns the mentions and finds entries of the user's list.

    The verb decides between the two entries of a noun: the word alone tells at most every second one. Simulated people
    who always find the right page are compared with it.
    """
    monkeypatch.setattr(budget, "RATES", (3e-3,))
    monkeypatch.setattr(budget, "SEEDS", (0,))
    mentions, entries = own_search(tmp_path, 64)
    with mentions.open(encoding="utf-8", newline="") as stream:
        asked = [row for row in csv.DictReader(stream) if row["split"] == "test"]
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as stream:
        judged = [["item_id", "participant_id", "page", "view", "word", "not_found"]]
        judged += [
            [row["item_id"], f"simulated-{view}", row["gold"], view, "", ""]
            for row in asked
            for view in ("full", "word")
        ]
        csv.writer(stream).writerows(judged)
    words = ["study", "context_bias", "--items", str(mentions), "--entities", str(entries), "--encoder", str(bert)]
    words += ["--protocol", "full", "--people", str(tmp_path / "people.csv"), "--language", "en", "--bootstrap", "50"]
    done = CliRunner().invoke(cli, [*words, "--out", str(tmp_path / "run")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found = read_records(tmp_path / "run" / "results.json")
    scores = {view: find_record(found, "accuracy", subject="tiny, full", view=view) for view in ("full", "word")}
    assert scores["full"].n == 16
    assert (scores["full"].value or 0) > 2 / len(SPACE.entries)
    assert (scores["word"].value or 0) <= 0.5
    trained = {file.read_bytes() for file in (tmp_path / "run").glob("shards/*/*/*/encoder/model.safetensors")}
    assert len(trained) == len(("full", "context", "word", "label"))
    assert (bert / "model.safetensors").read_bytes() not in trained
    people = find_record(found, "accuracy", subject="people", view="full")
    assert (people.value, people.people) == (1.0, "simulated")
    table = ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet")
    answers = table.where(subject_id="tiny, full", measure="retrieved", view="full")
    assert len(answers) == 16
    assert {*answers.column("option").tolist()} <= {entry.entry_id for entry in SPACE.entries}


def test_a_bi_encoder_of_ones_own_search_answers_the_same_mentions(bert: Path, tmp_path: Path) -> None:
    """Trained on a user's file and list, it is a subject that finds entries of the list for the items of the file."""
    mentions, entries = own_search(tmp_path, 64)

    def run_cli(*words: object) -> str:
        done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    of_task = ("--items", mentions, "--task", "entity_link")
    trained = ("--encoder", bert, "--learning-rate", 0.003, "--epochs", 4, "--out", tmp_path / "trained")
    run_cli("train", "bi_encoder", *of_task, "--entries", entries, "--language", "en", *trained)
    run_cli("collect", *of_task, "--subject", f"bi_encoder:{tmp_path / 'trained'}", "--out", tmp_path / "answers")
    table = ResponseTable.read_parquet(tmp_path / "answers" / "responses.parquet")
    assert len(table) == 64 + 16 + 16
    assert {*table.column("option").tolist()} <= {entry.entry_id for entry in SPACE.entries}
