"""Wordings of a prompt as a designed factor: every item in each wording of a chat model, in a study and its report."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats
from tests.subjects.fake_chat import FakeChat, serving

from lexiscope import Study, pair, rating
from lexiscope.cli.main import cli
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Interval, Record, find_record, read_records
from lexiscope.core.usage import Usage
from lexiscope.studies.kit.answers import ComparableAnswers

NORMS = {"bank": 5, "bark": 4, "bat": 2, "seal": 1, "ring": 3}
ANSWERS = {
    "guidelines": {"bank": 5, "bark": 4, "bat": 3, "seal": 1, "ring": 2},
    "short.yaml": {"bank": 5, "bark": 5, "bat": 4, "seal": 2, "ring": 4},
    "long.yaml": {"bank": 3, "bark": 4, "bat": 1, "seal": 2, "ring": 3},
}
WORDS = (
    "task: relatedness\nlanguage: en\nprompt:\n  user: |\n    {mark} $target from $low to $high: $plain_1 / $plain_2\n"
)
study = Study(
    "wordings",
    title="Wordings, made up",
    citation="A. Test (2026). Made for a test.",
    licence="CC0",
    meanings={"bank_level": "the answer to one item"},
)


@study.data
def load() -> Any:
    """One pair of each word, rated by two simulated participants."""
    for word, norm in NORMS.items():
        yield pair(word, f"This {word} is here", f"That {word} was there", word)
        yield from (rating(f"simulated-{number}", word, norm) for number in (1, 2))


@study.question("How much do models rate?", needs="models")
def levels(run: Any) -> list[Estimate]:
    """A statistic of the study itself: the answer to *bank*, with a made-up interval."""
    bank = {
        model: run.answers.where(subject_id=model, measure="rating").by_item()["wordings/bank"] for model in run.models
    }
    about = Interval(1, 5, 0.95, "made_up")
    return [Estimate("bank_level(of=bank)", value, about, 5).about(subject=model) for model, value in bank.items()]


def says(body: dict[str, Any]) -> str:
    """The planted rating of the word in the wording that asks."""
    told = body["messages"][-1]["content"]
    wording = "short.yaml" if told.startswith("SHORT") else "long.yaml" if told.startswith("LONG") else "guidelines"
    return str(next(value for word, value in ANSWERS[wording].items() if f"This {word} is" in told.replace("*", "")))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FakeChat, str, tuple[Record, ...]]:
    """The study with a chat model in three wordings: the package's and two files; run from their folder."""
    folder, endpoint = tmp_path_factory.mktemp("wordings"), FakeChat(says=says)
    for name in ("short", "long"):
        (folder / f"{name}.yaml").write_text(WORDS.format(mark=name.upper()), encoding="utf-8")
    with serving(endpoint) as url, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        asked = study.settings_for(subjects=(f"chat:m@{url}",), wordings=tuple(ANSWERS), n_bootstrap=200)
        study.run(asked, folder / "run")
    return folder / "run", endpoint, f"chat:m@{url}", read_records(folder / "run" / "results.json")


def test_every_item_is_asked_in_every_wording(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """15 questions, 15 answers in the one table, each under the model with its wording as the option ``variant``."""
    folder, endpoint, model, _ = run
    assert len(endpoint.received) == 15
    table = ResponseTable.read_parquet(folder / "responses.parquet").where(measure="rating", subject_kind="chat")
    for wording, given in ANSWERS.items():
        subject = model if wording == "guidelines" else f"{model}?variant={wording}"
        assert table.where(subject_id=subject).by_item() == {f"wordings/{word}": value for word, value in given.items()}


def test_the_values_are_those_of_a_hand_calculation(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """Mean 15/5, 20/5, 13/5: over wordings 3.2, SD .7211, and the interval of a mean of three values; ρ from scipy."""
    *_, model, records = run
    values = [mean(given.values()) for given in ANSWERS.values()]
    over = find_record(records, "wording_mean(of=mean,over=wordings)", subject=model)
    assert over.value == pytest.approx(3.2)
    assert (over.low, over.high) == pytest.approx(stats.t.interval(0.95, 2, 3.2, stats.sem(values)))
    assert find_record(records, "wording_sd(of=mean)", subject=model).value == pytest.approx(stdev(values))
    assert stdev(values) == pytest.approx(0.7211, abs=1e-4)
    for wording, given in ANSWERS.items():
        subject = model if wording == "guidelines" else f"{model}?variant={wording}"
        rho = find_record(records, "wording_value(of=spearman,with=norms)", subject=subject)
        assert rho.value == pytest.approx(stats.spearmanr(list(given.values()), list(NORMS.values())).statistic)
    # the study's own statistic: 5, 5, 3
    own = find_record(records, "wording_mean(of=bank_level,its_of=bank,over=wordings)", subject=model)
    assert (own.value, own.low, own.high) == pytest.approx((13 / 3, *stats.t.interval(0.95, 2, 13 / 3, 2 / 3)))
    assert find_record(records, "wording_sd(of=bank_level,its_of=bank)", subject=model).value == pytest.approx(
        stdev([5, 5, 3])
    )
    both = find_record(records, "wording_mean(of=mean,over=wordings_and_items)", subject=model)
    assert both.interval == "jackknife(resampled=wordings_and_words,scale=identity,level=0.95)"


def test_differences_are_paired_and_adjusted(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """Three pairs of wordings, two statistics: six tests of one family, Holm; 3 − 4, 3 − 2.6, 4 − 2.6."""
    folder, *_, records = run
    found = [record for record in records if record.statistic == "wording_difference(of=mean)"]
    assert {record.condition: round(record.value or 0, 6) for record in found} == {
        "guidelines − short.yaml": -1.0,
        "guidelines − long.yaml": 0.4,
        "short.yaml − long.yaml": 1.4,
    }
    assert {record.family for record in found} == {"wording_difference(method=holm,tests=6)"}
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Wordings of the prompt" in page
    assert (folder / "tables" / "wording_differences.csv").is_file()


def test_the_lowest_and_the_highest_wording_are_named(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """Means 3, 4, 2.6: the table marks two rows, a sentence names both; of the study's own 5, 5, 3 two are highest."""
    folder, _, model, _ = run
    rows = list(csv.DictReader((folder / "tables" / "wordings.csv").read_text(encoding="utf-8").splitlines()))
    marks = {row["Wording"]: row["Of the wordings"] for row in rows if "mean" in row["Statistic"].lower()}
    assert {wording: marks[wording] for wording in ANSWERS} == {
        "guidelines": "",
        "short.yaml": "highest",
        "long.yaml": "lowest",
    }
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert f"of {model}: lowest in long.yaml (2.60), highest in short.yaml (4.00)." in page
    (own,) = csv.DictReader((folder / "tables" / "wording_statistics.csv").read_text(encoding="utf-8").splitlines())
    assert (own["Lowest in"], own["Highest in"]) == ("long.yaml", "guidelines, short.yaml")


def test_models_that_score_are_asked_in_every_wording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, learn_by_heart: Callable[..., list[Path]]
) -> None:
    """``study --wording`` multiplies a causal language model as ``collect`` does; its files of words are noted."""
    monkeypatch.chdir(tmp_path)
    prompt = "{} **{}** from 1 to 5: This {} is here / That was there 1 2 3 4"
    texts = [prompt.format(mark, word, word) for mark in ("SHORT", "LONG") for word in NORMS]
    known = [Item(f"i{n}", "d", (Usage(text, 0, 4),)) for n, text in enumerate(texts)]
    (model,) = learn_by_heart(known, known, tmp_path, steps=(0,))
    for name in ("short", "long"):
        (tmp_path / f"{name}.yaml").write_text(WORDS.format(mark=name.upper()), encoding="utf-8")
    spec, wordings = f"causal_lm:{model}?self_test=no", ("short.yaml", "long.yaml")
    asked = study.settings_for(subjects=(spec,), wordings=wordings, n_bootstrap=0)
    study.run(asked, tmp_path / "run")
    table = ResponseTable.read_parquet(tmp_path / "run" / "responses.parquet").where(measure="rating")
    rated = table.where(subject_kind="causal_lm")
    ids = {wording: f"causal_lm:{model}?variant={wording}" for wording in wordings}
    assert set(rated.unique("subject_id")) == set(ids.values())
    means = [mean(rated.where(subject_id=subject).by_item().values()) for subject in ids.values()]
    assert means[0] != means[1]
    records = read_records(tmp_path / "run" / "results.json")
    (over,) = [record for record in records if record.statistic == "wording_mean(of=mean,over=wordings)"]
    assert over.value == pytest.approx(mean(means))
    assert set(json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["given"]) == set(wordings)


def test_a_changed_file_of_words_is_another_run(run: tuple[Path, FakeChat, str, tuple[Record, ...]]) -> None:
    """The sha256 of each file is in run.json, and in what the kept answers belong to."""
    folder, *_ = run
    for name in ("short.yaml", "long.yaml"):
        checksum = hashlib.sha256((folder.parent / name).read_bytes()).hexdigest()
        assert json.loads((folder / "run.json").read_text(encoding="utf-8"))["given"][name] == checksum
        assert checksum in (folder / "collected" / "question.json").read_text(encoding="utf-8")


def test_choices_have_an_accuracy_over_wordings() -> None:
    """2 of 3 and 3 of 3 right choices: mean 5/6, SD of the two √(1/18); no interval over two wordings."""
    items = [
        Item(f"i{n}", "d", (Usage(f"A {word}", 2, 6),), gold="t") for n, word in enumerate(("bank", "bark", "seal"))
    ]
    chat = {"subject_kind": "chat", "task": "same_sense", "measure": "choice", "view": "full"}
    given = {"chat:m@http://h": "ftt", "chat:m@http://h?variant=b.yaml": "ttt"}
    rows = [
        Response(subject_id=subject, item_id=f"i{n}", option=option, **chat)
        for subject, options in given.items()
        for n, option in enumerate(options)
    ]
    (worded,), omissions = ComparableAnswers(ResponseTable.from_rows(rows), items).over_wordings(resamples=50)
    assert not omissions
    assert worded.measured.values == pytest.approx((2 / 3, 1.0))
    assert worded.measured.sd == pytest.approx((1 / 18) ** 0.5)
    assert not worded.measured.over_wordings.is_defined


def test_log_odds_have_an_area_over_wordings() -> None:
    """A model that scores texts, in two wordings: the area of each (1 of 2 pairs in order, then both) and the accuracy.

    Which of its answers is more probable says little: here it is *t* for all. Its default wording is the task's first.
    """
    items = [
        Item(f"i{n}", "d", (Usage(f"A {word}", 2, 6),), gold="tff"[n])
        for n, word in enumerate(("bank", "bark", "seal"))
    ]
    model = {"subject_kind": "causal_lm", "task": "same_sense", "view": "full"}
    given = {"causal_lm:m": (2.0, 1.0, 3.0), "causal_lm:m?variant=statement": (0.3, 0.2, 0.1)}
    rows = []
    for subject, odds in given.items():
        wording = "statement" if "?" in subject else "question"
        for n, value in enumerate(odds):
            about = {"subject_id": subject, "item_id": f"i{n}", **model}
            rows.append(Response(measure=f"log_odds(wording={wording},bos=no)", value=value, **about))
            rows.append(Response(measure="choice", option="t", **about))
    made, omissions = ComparableAnswers(ResponseTable.from_rows(rows), items).over_wordings(resamples=50)
    assert not omissions
    assert [(worded.name, worded.subject) for worded in made] == [("auc", "causal_lm:m"), ("accuracy", "causal_lm:m")]
    assert made[0].measured.values == pytest.approx((1 / 2, 1.0))
    assert made[1].measured.values == pytest.approx((1 / 3, 1 / 3))
    assert list(made[0].subjects) == ["question", "statement"]


def test_collect_prints_what_wordings_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task without a study: 2, 3 and 2 of 3 right choices in three wordings: mean .78, SD .19."""
    monkeypatch.chdir(tmp_path)
    right = {"bank": "f", "bark": "t", "seal": "f"}
    rows = [f"{word},This {word} is here,That {word} was there,{gold}" for word, gold in right.items()]
    (tmp_path / "items.csv").write_text("\n".join(["word,sentence_1,sentence_2,gold", *rows]), encoding="utf-8")
    for mark in ("ONE", "TWO"):
        text = WORDS.replace("task: relatedness", "task: same_sense").format(mark=mark)
        text = text.replace("from $low to $high: $plain_1 / $plain_2", "$text_1 $options").replace("$target", "")
        (tmp_path / f"{mark}.yaml").write_text(text, encoding="utf-8")

    def choose(body: dict[str, Any]) -> str:
        told = body["messages"][-1]["content"]
        # 1 is the same sense, right of bark alone: bank is wrong but in ONE
        return (
            "2" if told.startswith("ONE") and "bark" not in told else "1" if "bark" in told or "bank" in told else "2"
        )

    with serving(FakeChat(says=choose)) as url:
        asked = ["--items", "items.csv", "--task", "same_sense", "--language", "en", "--subject", f"chat:m@{url}"]
        wordings = ["--wording", "guidelines", "--wording", "ONE.yaml", "--wording", "TWO.yaml"]
        done = CliRunner().invoke(cli, ["collect", *asked, *wordings, "--out", "run"])
    assert done.exit_code == 0, done.output
    table = done.output[done.output.index("over wordings") :]
    assert re.search(r"mean of 3 wordings\s+\.78", table)
    assert re.search(r"SD between wordings\s+\.19", table)


def test_wordings_without_a_chat_model_are_refused(tmp_path: Path) -> None:
    """Wordings are those of chat models; a model whose spec names a variant cannot be asked in others."""
    for subjects, what in (
        (("baseline:random",), "none is asked"),
        (("chat:m@http://h?variant=a",), "names a variant"),
        ((), "none is asked"),
    ):
        with pytest.raises(SpecError, match=what):
            study.run(study.settings_for(subjects=subjects, wordings=("guidelines",)), tmp_path / "run")
