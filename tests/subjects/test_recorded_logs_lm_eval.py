"""Samples of lm-evaluation-harness as recorded answers: those of a live model, or an error that names the sample."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexiscope.collect import ask
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.response import ResponseTable
from lexiscope.core.scoring import PRESETS, ScoringPolicy

from .made_logs import MODEL, Letters, documents_of, example_items, sample_of, write_samples

SCORED = catalog.tasks_where(lambda task: task.scored is not None)
REAL = Path(__file__).parents[1] / "data" / "harness" / "lm_eval"
# of whole texts, what is made of single tokens is not in the log
BY_TOKENS = ("n_tokens", "self_test_margin", "gloss_substitution")


def rows(table: ResponseTable) -> dict[tuple[object, ...], object]:
    """The rows that do not need single tokens, by what they are of."""
    kept = {}
    for row in table.rows():
        if not row.measure.startswith(BY_TOKENS) and "per=token" not in row.measure:
            value = row.option if row.value is None else row.value
            kept[row.subject_id, row.item_id, row.measure, row.option if row.value is not None else ""] = value
    return kept


@pytest.mark.parametrize("task", SCORED)
def test_what_is_read_back_is_what_a_live_model_answers(task: str, tmp_path: Path) -> None:
    """Each task that is scored, in each of its own wordings: the same rows from the log as from the same model live."""
    # the second wording of relatedness is Spanish, that of plausibility is in the published data
    most = 1 if task in ("relatedness", "plausibility") else 2
    for wording in catalog.task(task).wordings[:most] or ("",):
        check_read_back(task, wording, tmp_path)


@pytest.mark.published
def test_what_is_read_back_of_a_published_wording(tmp_path: Path, published: Path) -> None:
    """The same of the wording of AmbiStory, which is read from its data."""
    check_read_back("plausibility", "published", tmp_path)


def check_read_back(task: str, wording: str, folder: Path) -> None:
    """Compare the rows of a log with those of the same model live."""
    documents = documents_of(task, folder, wording=wording)
    samples = [sample_of(document, place) for place, document in enumerate(documents)]
    log = write_samples(folder / f"log_{wording}", task, samples, add_bos_token=False)
    whole = not documents[0]["context"]
    policy = PRESETS["bos"] if whole else ScoringPolicy()
    items = example_items(task)
    live = rows(ask(items, Letters(policy, wording), task))
    read = rows(ask(items, f"recorded:{log}", task))
    assert list(read) == list(live)
    assert read == {key: value if isinstance(value, str) else pytest.approx(value) for key, value in live.items()}
    assert {key[0] for key in read} == {MODEL}


@pytest.mark.parametrize("task", SCORED)
def test_the_real_log_of_a_small_model(task: str) -> None:
    """Every task, run by lm-evaluation-harness 0.4.13 with tiny-causal-en: all items and options have a value."""
    items = example_items(task)
    table = ask(items, f"recorded:{REAL}", task)
    assert set(table.unique("item_id")) == {item.item_id for item in items}
    assert set(table.unique("subject_kind")) == {"causal_lm"}
    scores = table.filter([name.startswith("log_probability(") for name in table.column("measure")])
    assert len(scores) >= 2 * len(items)
    assert all(value < 0 for value in scores.column("value"))


@pytest.mark.published
@pytest.mark.parametrize("task", SCORED)
def test_the_real_log_equals_the_scores_of_lexiscope(task: str, published: Path) -> None:
    """The same model, asked here: log-probabilities equal to 1e-4 and the same choices."""
    items = example_items(task)
    whole = task in ("minimal_pair", "substitution")
    spec = f"causal_lm:{published.parent / 'models' / 'tiny-causal-en'}?self_test=no"
    live = {key[1:]: value for key, value in rows(ask(items, spec + ("&policy=bos" if whole else ""), task)).items()}
    read = {key[1:]: value for key, value in rows(ask(items, f"recorded:{REAL}", task)).items()}
    assert list(read) == list(live)
    assert read == {
        key: value if isinstance(value, str) else pytest.approx(value, abs=1e-4) for key, value in live.items()
    }


def _without_one(samples: list[dict[str, Any]]) -> None:
    del samples[1]


def _twice(samples: list[dict[str, Any]]) -> None:
    samples.append(samples[0])


def _of_another_item(samples: list[dict[str, Any]]) -> None:
    samples.append(json.loads(json.dumps(samples[0]).replace("example_1", "example_9")))


def _with_another_text(samples: list[dict[str, Any]]) -> None:
    samples[1]["arguments"]["gen_args_0"]["arg_0"] = "User: " + samples[1]["arguments"]["gen_args_0"]["arg_0"]


def _with_one_value_less(samples: list[dict[str, Any]]) -> None:
    samples[1]["resps"].pop()


def _with_a_word_for_a_value(samples: list[dict[str, Any]]) -> None:
    samples[1]["resps"][0] = [["high", "False"]]


def _of_a_task_not_exported(samples: list[dict[str, Any]]) -> None:
    del samples[1]["doc"]["lexiscope"]


def _of_two_wordings(samples: list[dict[str, Any]]) -> None:
    samples[1]["doc"]["lexiscope"] |= {"wording": "statement"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_without_one, r"item 'example_2': this item has no sample \(1 of 2 items have none\)"),
        (_twice, r"\.jsonl:3, item 'example_1': this item has two samples"),
        (_of_another_item, r"\.jsonl:3, item 'example_9': this sample is for an item that is not asked"),
        (_with_another_text, r"\.jsonl:2, item 'example_2': this sample has other texts than its item"),
        (_with_one_value_less, r"\.jsonl:2, item 'example_2': this sample has 2 questions and 1 log-probabilities"),
        (_with_a_word_for_a_value, r"\.jsonl:2, item 'example_2': 'high' is not a log-probability"),
        (_of_a_task_not_exported, r"\.jsonl:2: there is no entry 'lexiscope'"),
        (_of_two_wordings, r"the task 'same_sense' asked in several ways"),
    ],
)
def test_a_wrong_sample_is_an_error(
    change: Callable[[list[dict[str, Any]]], None], message: str, tmp_path: Path
) -> None:
    """Missing, repeated, foreign, changed and damaged samples: named by file, line and item; none is dropped."""
    samples = [sample_of(document, n) for n, document in enumerate(documents_of("same_sense", tmp_path))]
    change(samples)
    log = write_samples(tmp_path / "log", "same_sense", samples, add_bos_token=False)
    with pytest.raises(InputError, match=message):
        ask(example_items("same_sense"), f"recorded:{log}", "same_sense")


def test_a_line_that_is_no_json_is_an_error(tmp_path: Path) -> None:
    """A file that was cut in the middle of a line: its place."""
    samples = [sample_of(document, n) for n, document in enumerate(documents_of("same_sense", tmp_path))]
    log = write_samples(tmp_path / "log", "same_sense", samples, add_bos_token=False)
    log.write_text(log.read_text(encoding="utf-8")[:-40], encoding="utf-8")
    with pytest.raises(InputError, match=r"\.jsonl:2: this line is not JSON"):
        ask(example_items("same_sense"), f"recorded:{log}", "same_sense")


def test_what_precedes_a_text_is_said_or_asked_for(tmp_path: Path) -> None:
    """A run that leaves the first token to the tokenizer: the user says it, and every measure names it."""
    samples = [sample_of(document, n) for n, document in enumerate(documents_of("same_sense", tmp_path))]
    log = write_samples(tmp_path / "log", "same_sense", samples)
    items = example_items("same_sense")
    with pytest.raises(SpecError, match=r"recorded:.*\?bos=no or \?bos=yes"):
        ask(items, f"recorded:{log}", "same_sense")
    for bos, first in (("yes", "scored"), ("no", "unscored")):
        measures = ask(items, f"recorded:{log}?bos={bos}", "same_sense").unique("measure")
        assert f"log_probability(bos={bos},first={first},tokens=continuation,per=text)" in measures
    with pytest.raises(SpecError, match="do not take the option 'layer'"):
        catalog.subject(f"recorded:{log}?layer=1")


def test_a_folder_of_two_models_is_an_error(tmp_path: Path) -> None:
    """Answers of two models are never put under one name."""
    samples = [sample_of(document, n) for n, document in enumerate(documents_of("same_sense", tmp_path))]
    for name in ("a", "b"):
        folder = tmp_path / "logs" / name
        write_samples(folder, f"same_sense_{name}", samples, add_bos_token=name == "a")
    with pytest.raises(InputError, match=r"has two samples|2 runs with other models"):
        ask(example_items("same_sense"), f"recorded:{tmp_path / 'logs'}", "same_sense")
    assert len(ask(example_items("same_sense"), f"recorded:{tmp_path / 'logs' / 'a'}", "same_sense"))


def test_a_folder_without_exported_samples_is_an_error(tmp_path: Path) -> None:
    """Samples of other tasks are not answers to items: the message says how to get some."""
    (tmp_path / f"samples_arc_easy_{'2026-01-02T03-04-05.6'}.jsonl").write_text('{"doc": {}}\n', encoding="utf-8")
    with pytest.raises(SpecError, match="no samples of a task that Lexiscope exported"):
        ask(example_items("same_sense"), f"recorded:{tmp_path}", "same_sense")


def test_another_content_is_another_revision(tmp_path: Path) -> None:
    """The revision is made of the files: a changed log is never taken for the old one."""
    samples = [sample_of(document, n) for n, document in enumerate(documents_of("same_sense", tmp_path))]
    log = write_samples(tmp_path / "log", "same_sense", samples, add_bos_token=False)
    before = catalog.subject(f"recorded:{log.parent}").facts
    write_samples(tmp_path / "log", "same_sense", samples[:1], add_bos_token=False)
    after = catalog.subject(f"recorded:{log.parent}").facts
    assert before.revision != after.revision
    assert (before.title, before.source) == (MODEL, str(log.parent))
