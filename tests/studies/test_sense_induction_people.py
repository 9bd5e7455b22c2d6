"""People's tests of senses beyond accuracy, from answers of simulated people of known skill (marked as simulated)."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import spearmanr

from lexiscope.analysis.senses.duplicates import SenseQuestion
from lexiscope.cli.main import cli
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.usage import Usage
from lexiscope.items.tables.tabular import write_items
from lexiscope.report.part import find_record
from lexiscope.report.parts.sense_test_parts import (
    Reference,
    SenseTestAnswers,
    accuracy_part,
    agreement_part,
    duplicates_part,
    sense_tests,
)

N_WORDS = 20
TASKS = ("word_intrusion", "sense_choice")


def intrusion_items() -> list[Item]:
    """Three pages of ten words for each word."""
    return [
        Item(
            f"m/w{n}/1/{k}",
            "d",
            (Usage(f"w{n}", 0, len(f"w{n}"), language="en"),),
            (*(f"w{n}n{place}" for place in range(9)), f"w{n}x{k}"),
            f"w{n}x{k}",
            conditions={"model": "m", "word": f"w{n}", "sense": "1", "intruder_id": k},
        )
        for n in range(N_WORDS)
        for k in range(3)
    ]


def selection_items() -> list[Item]:
    """Five sentences for each word; senses 1 and 2 of odd words share eight of ten neighbours, 3 is a dummy."""
    items = []
    for n in range(N_WORDS):
        shared = 8 if n % 2 else 0
        first = [f"w{n}a{k}" for k in range(10)]
        groups = {"1": first, "2": [*first[:shared], *(f"w{n}b{k}" for k in range(10 - shared))]}
        for k in range(5):
            conditions: dict[str, Condition] = {
                **{f"group_{sense}": "|".join(words) for sense, words in groups.items()},
                "group_3": "|".join(f"dummy{place}" for place in range(10)),
                "model": "m",
                "word": f"w{n}",
                "model_choice": "1",
                "p_1": 0.7,
                "p_2": 0.3,
                "p_3": 0.0,
                "dummy_3": True,
            }
            text = f"the w{n} of {k}"
            usage = Usage(text, 4, 4 + len(f"w{n}"), language="en")
            items.append(Item(f"m/w{n}/s{k}", "d", (usage,), ("1", "2", "3"), conditions=conditions))
    return items


def answers(items: Sequence[Item], task: str, skill: float) -> list[Response]:
    """Three simulated people; about senses that share neighbours they cannot tell 1 from 2."""
    rows = []
    for item in items:
        right = item.gold or "1"
        for rater in ("ana", "eva", "leo"):
            rng = random.Random(f"{rater}{item.item_id}")
            confused = task == "sense_choice" and int(str(item.condition("word"))[1:]) % 2
            sure = 0.5 if confused else skill
            others = ["2"] if task == "sense_choice" else [each for each in item.options if each != right]
            option = right if rng.random() < sure else rng.choice(others)
            rows.append(Response(rater, "simulated", item.item_id, task, "choice", option=option))
    return rows


@pytest.fixture
def judgments() -> SenseTestAnswers:
    items = [*intrusion_items(), *selection_items()]
    rows = [*answers(items[: 3 * N_WORDS], TASKS[0], 0.8), *answers(items[3 * N_WORDS :], TASKS[1], 0.9)]
    return SenseTestAnswers(ResponseTable.from_rows(rows), {item.item_id: item for item in items})


def agreement(judgments: SenseTestAnswers, trust: Mapping[str, float] | None = None) -> tuple[Record, ...]:
    return agreement_part(sense_tests(judgments, resamples=200, seed=1), {}, trust).records


def test_agreement_by_trust_and_alpha(judgments: SenseTestAnswers) -> None:
    """Trust changes the shares; alpha of what was found is near 0 for simulated people who err independently, while
    that of the words chosen is high: pages share no words."""
    plain = agreement(judgments)
    assert find_record(plain, "agreement(of=word_intrusion,weighted=trust)") is None
    trusted = agreement(judgments, {"ana": 1.0, "eva": 0.5, "leo": 0.5})
    weighted = find_record(trusted, "agreement(of=word_intrusion,weighted=trust)")
    assert weighted is not None
    assert weighted.value is not None
    assert 0.5 < weighted.value < 1
    by_found = find_record(plain, "krippendorff_alpha(level=nominal,of=found)")
    assert by_found is not None
    assert abs(by_found.value or 0) < 0.2
    chosen = find_record(plain, "krippendorff_alpha(level=nominal)", dataset="word_intrusion")
    assert chosen is not None
    assert (chosen.value or 0) > 0.5
    some = agreement(judgments, {"ana": 1.0})
    unknown = find_record(some, "agreement(of=word_intrusion,weighted=trust)")
    assert unknown is not None
    assert unknown.value is None
    assert "no attention check is known of 2 of 3 people: eva" in unknown.note


def test_log_odds_and_agreement_by_overlap(judgments: SenseTestAnswers) -> None:
    """§6.1: mean over judgments of ln p(chosen) − ln p(model's), .3 against .7 for each judgment of sense 2; words
    whose senses share neighbours are those that people disagree on: rho of agreement with overlap is below 0."""
    tests = sense_tests(judgments, resamples=200, seed=1)
    chosen = judgments.responses.where(task="sense_choice").column("option").tolist()
    expected = chosen.count("2") * np.log(0.3 / 0.7) / len(chosen)
    records = accuracy_part(tests, {}).records
    found = find_record(records, "log_odds(of=judgments,least=0.01)", subject="m")
    assert found is not None
    assert found.value == pytest.approx(expected)
    assert found.low is not None
    assert found.low < expected < (found.high or 0)
    # blind choices: a third each of .7, .3 and a dummy, which counts as .01
    blind = find_record(records, "chance(of=log_odds)", subject="m")
    assert blind is not None
    assert blind.value == pytest.approx((np.log(0.3 / 0.7) + np.log(0.01 / 0.7)) / 3)
    rho = find_record(duplicates_part(tests, {}, Reference()).records, "spearman(of=agreement,with=sense_overlap)")
    assert rho is not None
    # each question's share of the winning answer, written out
    table = [item for item in judgments.items.values() if item.conditions.get("model_choice")]
    votes: dict[str, list[str]] = {item.item_id: [] for item in table}
    answered = judgments.responses.where(task="sense_choice")
    for name, option in zip(answered.column("item_id").tolist(), answered.column("option").tolist(), strict=True):
        votes[name].append(option)
    x = [max(map(own.count, set(own))) / len(own) for own in votes.values()]
    y = [0.8 if int(str(item.condition("word"))[1:]) % 2 else 0.0 for item in table]
    assert rho.value == pytest.approx(spearmanr(x, y)[0])
    assert rho.value < 0


def test_confused_senses_are_alike(judgments: SenseTestAnswers) -> None:
    """Simulated people confuse senses that share neighbours: the difference lies above 0, for the cosine too."""
    words = {word for item in selection_items() for s in "12" for word in str(item.condition(f"group_{s}")).split("|")}
    vectors = {word: [1.0, float("b" in word)] for word in words}
    tests = sense_tests(judgments, resamples=200, seed=1)
    records = duplicates_part(tests, {}, Reference(vectors, "made up")).records
    for measure in ("overlap", "cosine"):
        record = find_record(records, f"sense_{measure}(pairs=rivals,of=difference)", subject="m")
        assert record is not None
        assert record.low is not None
        assert record.low > 0, measure
        assert record.p is not None
        assert record.p < 0.01


def test_dummies_are_no_senses(judgments: SenseTestAnswers) -> None:
    """A dummy is left out of the groups that are compared, and people's choice of it stays what it is."""
    items = selection_items()[:6]
    rows = [replace(row, option="3") for row in answers(items, "sense_choice", 1.0)]
    (test,) = sense_tests(SenseTestAnswers(ResponseTable.from_rows(rows), {item.item_id: item for item in items}))
    question, *others = test.questions()
    assert len(others) == 5
    assert isinstance(question, SenseQuestion)
    assert set(question.groups) == {"1", "2"}
    assert (question.human, question.model, question.word) == ("3", "1", "w0")


def test_the_command_writes_what_it_prints(judgments: SenseTestAnswers, tmp_path: Path) -> None:
    """`lexiscope senses people`: tables on the screen, every number in results.json, simulated people named as such."""
    items = tuple(judgments.items.values())
    write_items(items[: 3 * N_WORDS], tmp_path / "intrusion.csv")
    write_items(items[3 * N_WORDS :], tmp_path / "selection.csv")
    judgments.responses.write_csv(tmp_path / "choices.csv")
    blank = Response("ana", "simulated", "q", "sense_choice", "attention_check", 1.0)
    others = [
        Response(who, "simulated", "q", "sense_choice", "attention_check", float(who == "eva"))
        for who in ("eva", "leo")
    ]
    checks = ResponseTable.concat([judgments.responses, ResponseTable.from_rows([blank, *others])])
    checks.write_csv(tmp_path / "responses.csv")
    (tmp_path / "glove.txt").write_text("w0a0 1 0\nw1a0 0 1\nw1b0 1 1\n")
    call = ["senses", "people", "choices.csv", "--items", "intrusion.csv", "--items", "selection.csv", "--out", "r",
            "--checks", "responses.csv", "--reference", "glove.txt", "--resamples", "100"]  # fmt: skip
    paths = [str(tmp_path / each) if each.endswith((".csv", ".txt")) or each == "r" else each for each in call]
    done = CliRunner().invoke(cli, paths, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    for title in ("Table 1.", "Table 2.", "Agreement of simulated participants", "Table 3."):
        assert title in done.stdout
    assert "simulated participants" in done.stderr
    page = (tmp_path / "r" / "report.html").read_text()
    assert "simulated participants" in page
    assert re.search(r"Spearman&#39;s ρ = −?\.\d\d \[−?[.\d]+, [.\d]+\] over 20 words", page)
    records = json.loads((tmp_path / "r" / "results.json").read_text())
    names = {record["statistic"] for record in records}
    assert {"intrusion_accuracy(of=senses)", "selection_accuracy(of=questions)", "model_probability"} <= names
    assert "model_probability(of=judgments)" in names
    assert {"agreement(of=sense_choice,weighted=trust)", "sense_overlap(pairs=all,of=agree)"} <= names
    with (tmp_path / "r" / "tables" / "people_duplicates.csv").open() as stream:
        assert len(list(csv.DictReader(stream))) == 4
    again = CliRunner().invoke(cli, paths)
    assert again.exit_code == 1
    assert "[E615]" in again.stderr


def test_models_stand_beside_people(judgments: SenseTestAnswers, tmp_path: Path) -> None:
    """`--models RUN`: models' answers to the same items under the same statistic, each layer in results.json, the best
    in the table; without people there are no tables of theirs."""
    items = [item for item in judgments.items.values() if item.gold]
    write_items(items, tmp_path / "intrusion.csv")
    blank = Response("encoder:e", "encoder", "", "word_intrusion", "choice")
    rows = [
        replace(blank, item_id=item.item_id, option=item.gold if layer or n % 2 else item.options[0], layer=layer)
        for layer in (0, 1)
        for n, item in enumerate(items)
    ]
    (tmp_path / "run").mkdir()
    ResponseTable.from_rows(rows).write_parquet(tmp_path / "run" / "responses.parquet")
    call = ["senses", "people", "--items", str(tmp_path / "intrusion.csv"), "--models", str(tmp_path / "run"), "--json",
            "--resamples", "50", "--out", str(tmp_path / "r")]  # fmt: skip
    done = CliRunner().invoke(cli, call, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert [(each["layer"], each["condition"], each["value"]) for each in json.loads(done.stdout)] == [
        (0, "m", 50.0), (1, "m", 100.0),
    ]  # fmt: skip
    table = (tmp_path / "r" / "tables" / "models_tests.csv").read_text()
    assert "1 of 2" in table
    nothing = CliRunner().invoke(cli, ["senses", "people", "--items", "x.csv", "--out", str(tmp_path / "q")])
    assert nothing.exit_code == 2
    assert "--models RUN" in nothing.stderr
