"""Logs of inspect_ai as recorded answers: those of a live chat model, or an error that names the sample."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexiscope.collect import ask
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError

from .made_logs import MODEL, example_items, inspect_samples, write_inspect_log

REAL = Path(__file__).parents[1] / "data" / "harness" / "inspect"


def test_replies_are_read_as_those_of_a_live_model(tmp_path: Path) -> None:
    """A rating and a reply in prose: a value and a missing one, the kinds of both, their text, and the model's name."""
    log = write_inspect_log(tmp_path / "log.json", inspect_samples("relatedness", tmp_path, ["**4**", "no idea"]))
    table = ask(example_items("relatedness"), f"recorded:{log}", "relatedness")
    ratings = list(table.where(measure="rating").rows())
    assert [(row.value, row.raw, row.repeat, row.scale) for row in ratings] == [
        (4.0, "**4**", 0, "1 to 5"),
        (None, "no idea", 0, "1 to 5"),
    ]
    assert table.where(measure="reply").column("option").tolist() == ["ok", "prose"]
    assert table.where(measure="finish").column("option").tolist() == ["stop", "stop"]
    assert (table.unique("subject_id"), table.unique("subject_kind")) == ((MODEL,), ("chat",))


@pytest.mark.parametrize("form", ["eval", "json"])
def test_real_logs(form: str) -> None:
    """Logs that inspect_ai 0.3.285 wrote of mock replies, zipped (Zstandard) and as JSON: the same answers of both."""
    rated = ask(example_items("relatedness"), f"recorded:{REAL / f'relatedness.{form}'}", "relatedness")
    ratings = list(rated.where(measure="rating").rows())
    assert [(row.item_id, row.repeat, row.value) for row in ratings] == [
        ("example_1", 0, 4.0),
        ("example_1", 1, 2.0),
        ("example_2", 0, 4.0),
        ("example_2", 1, 2.0),
    ]
    chosen = ask(example_items("same_sense"), f"recorded:{REAL / f'same_sense.{form}'}", "same_sense")
    assert chosen.where(measure="choice").column("option").tolist() == ["t", None]
    assert chosen.where(measure="reply").column("option").tolist() == ["ok", "prose"]
    assert chosen.unique("subject_id") == ("mockllm/model",)


def _without_one(samples: list[dict[str, Any]]) -> None:
    del samples[1]


def _twice(samples: list[dict[str, Any]]) -> None:
    samples.append(samples[0])


def _with_an_epoch_of_one(samples: list[dict[str, Any]]) -> None:
    samples.append(samples[0] | {"epoch": 2})


def _of_another_item(samples: list[dict[str, Any]]) -> None:
    samples.append(samples[0] | {"id": "example_9"})


def _with_another_question(samples: list[dict[str, Any]]) -> None:
    samples[1]["messages"][0] = {"role": "system", "content": "Think step by step."}


def _without_id(samples: list[dict[str, Any]]) -> None:
    del samples[1]["id"]


def _not_exported(samples: list[dict[str, Any]]) -> None:
    samples[1]["metadata"] = {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_without_one, "item 'example_2': this item has no sample"),
        (_twice, "item 'example_1': this item has two samples"),
        (_with_an_epoch_of_one, "item 'example_2': this item has no sample in epoch 2"),
        (_of_another_item, "item 'example_9': this sample is for an item that is not asked"),
        (_with_another_question, "item 'example_2': this sample asked other messages"),
        (_without_id, r"log\.json, samples\[1\]: this sample has no id and epoch"),
        (_not_exported, "item 'example_2': there is no entry 'lexiscope'"),
    ],
)
def test_a_wrong_sample_is_an_error(
    change: Callable[[list[dict[str, Any]]], None], message: str, tmp_path: Path
) -> None:
    """Missing, repeated, foreign and changed samples: named; none is dropped."""
    samples = inspect_samples("relatedness", tmp_path, ["4", "2"])
    change(samples)
    log = write_inspect_log(tmp_path / "log.json", samples)
    with pytest.raises(InputError, match=message):
        ask(example_items("relatedness"), f"recorded:{log}", "relatedness")


def test_a_sample_that_failed_is_a_reply_that_is_none(tmp_path: Path) -> None:
    """An error of the provider: a row without value, of the kind fault, with the message."""
    samples = inspect_samples("relatedness", tmp_path, ["4", ""])
    samples[1] |= {"error": {"message": "rate limit"}, "output": {}, "messages": []}
    log = write_inspect_log(tmp_path / "log.json", samples)
    table = ask(example_items("relatedness"), f"recorded:{log}", "relatedness")
    (reply,) = table.where(measure="reply", item_id="example_2").rows()
    assert (reply.option, reply.raw) == ("fault", "rate limit")
    assert len(table.where(measure="rating", item_id="example_2", value=None)) == 1


def test_what_a_model_thought_and_its_first_token_are_kept(tmp_path: Path) -> None:
    """Reasoning is no part of the answer; listed first tokens give the expected rating, as of a live model."""
    samples = inspect_samples("relatedness", tmp_path, ["4", "2"])
    parts = [{"type": "reasoning", "reasoning": "1 or 4?"}, {"type": "text", "text": "4"}]
    listed = [{"token": "4", "logprob": -0.5}, {"token": "2", "logprob": -1.5}]
    choice = samples[0]["output"]["choices"][0]
    choice["message"] |= {"content": parts}
    choice["logprobs"] = {"content": [{"token": "4", "logprob": -0.5, "top_logprobs": listed}]}
    samples[0]["output"]["usage"] |= {"reasoning_tokens": 7}
    log = write_inspect_log(tmp_path / "log.json", samples)
    table = ask(example_items("relatedness"), f"recorded:{log}", "relatedness").where(item_id="example_1")
    assert table.where(measure="rating").column("value").tolist() == [4.0]
    (thought,) = table.where(measure="thinking_tokens").rows()
    assert (thought.value, thought.raw) == (7.0, "1 or 4?")
    assert 2 < table.where(measure="expected_rating").column("value")[0] < 4


def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    """A zip of another program, a part that was damaged, no JSON, no samples: the file, and what is wrong."""
    other = tmp_path / "other.eval"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("letter.txt", "dear")
    damaged = tmp_path / "damaged.eval"
    content = bytearray((REAL / "relatedness.eval").read_bytes())
    with zipfile.ZipFile(REAL / "relatedness.eval") as archive:
        entry = next(entry for entry in archive.infolist() if entry.filename.startswith("samples/"))
    place = entry.header_offset + 30 + len(entry.filename) + entry.compress_size // 2
    content[place : place + 8] = bytes(8)
    damaged.write_bytes(content)
    text = tmp_path / "text.json"
    text.write_text("dear", encoding="utf-8")
    empty = write_inspect_log(tmp_path / "empty.json", [])
    told = json.loads(empty.read_text(encoding="utf-8")) | {"status": "error", "error": {"message": "no such model"}}
    failed = tmp_path / "failed.json"
    failed.write_text(json.dumps(told), encoding="utf-8")
    for path, message in (
        (other, "not a log of inspect_ai"),
        (damaged, r"samples/.*: this part of the log is damaged"),
        (text, "not JSON"),
        (empty, "no samples"),
        (failed, "its status is .error., its error: no such model"),
    ):
        with pytest.raises(InputError, match=message):
            ask(example_items("relatedness"), f"recorded:{path}", "relatedness")
    with pytest.raises(SpecError, match="has no options, not bos"):
        catalog.subject(f"recorded:{empty}?bos=no")
    with pytest.raises(SpecError, match="there is no file"):
        catalog.subject(f"recorded:{tmp_path / 'none.eval'}")
