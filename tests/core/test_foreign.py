"""Text and JSON from outside: stored by UTF-8, had back exactly, and never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import InputError, RunError
from lexiscope.core.foreign import DEEPEST, original_text, parse_json, storable_text, text_of
from lexiscope.core.prompt import ChatQuestion, ChatReply, Message
from lexiscope.core.reply import KINDS, LONGEST, read_reply
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record, from_json, to_json
from lexiscope.core.run import read_json, write_json
from lexiscope.core.scale import Scale

# what an escape is made of comes often, and every other character
TEXTS = st.text(st.one_of(st.sampled_from("\\uUdD89abf0\ud800\udc80\udfff\0"), st.characters()), max_size=30)
RATING = ChatQuestion((Message("user", "From 1 to 5?"),), scale=Scale(1, 5))


@given(TEXTS)
def test_any_text_can_be_stored_and_had_back(text: str) -> None:
    """The stored form is UTF-8; where it differs from the text, the text comes back exactly."""
    stored = storable_text(text)
    assert stored.encode("utf-8").decode("utf-8") == stored
    assert text == (original_text(stored) if stored != text else stored)
    assert storable_text(stored) == stored


@given(st.binary(max_size=40))
def test_any_bytes_can_be_stored_and_had_back(content: bytes) -> None:
    """What is no UTF-8 is kept byte for byte."""
    text = text_of(content)
    stored = storable_text(text)
    back = original_text(stored) if stored != text else stored
    assert back.encode("utf-8", "surrogateescape") == content


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_a_table_takes_any_text(texts: list[str]) -> None:
    """Every text column of a response takes any text, whole tables and single values alike."""
    table = ResponseTable.from_rows(Response("s", "k", text, "t", "m", option=text, raw=text) for text in texts)
    assert table.column("raw").tolist() == [storable_text(text) for text in texts]
    assert len(table.where(item_id=texts[0])) == texts.count(texts[0])
    assert len(table.where(item_id=tuple(texts))) == len(texts)


@given(st.recursive(TEXTS | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_json_takes_any_text(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    """A record with any text in it is written as UTF-8, and read back as JSON has it."""
    path = tmp_path_factory.mktemp("json") / "run.json"
    write_json(path, {"value": value})
    # JSON joins two escapes that together are one character: so does its own reader
    assert read_json(path) == json.loads(json.dumps({"value": value}))


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 101 + b"]" * 101, b"\xff\xfe", b""])
def test_json_that_cannot_be_read_is_a_value_error(content: bytes) -> None:
    """However deep the brackets: one kind of error."""
    with pytest.raises(ValueError, match=r"deeper than 100|codec|Expecting|utf"):
        parse_json(content)


def test_json_as_deep_as_is_allowed_is_read() -> None:
    """The limit is the number of brackets within brackets, not that of brackets."""
    assert parse_json(b"[" * DEEPEST + b"]" * DEEPEST) != []
    assert parse_json("[[],[]]" + " " * 10) == [[], []]
    assert len(parse_json(json.dumps([[]] * 1000))) == 1000


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff", b"", b"\0" * 9])
def test_a_damaged_file_of_a_run_is_named(tmp_path: Path, content: bytes) -> None:
    """``run.json`` of any bytes is an error with its name."""
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(RunError, match=r"run\.json"):
        read_json(tmp_path / "run.json")


def test_results_with_any_text(tmp_path: Path) -> None:
    """A lone surrogate in the name of a subject is written as JSON writes it; damaged results are an error of ours."""
    text = to_json([Record("n", 1.0, subject="m\ud800")])
    assert from_json(text.encode("utf-8").decode("utf-8"))[0].subject == "m\ud800"
    for wrong in ("[" * 100_000, "{}", "[1]", '[{"statistic": 4, "value": 1}]', ""):
        with pytest.raises(InputError, match=r"results\.json"):
            from_json(wrong)


def test_a_parquet_file_that_is_no_response_table(tmp_path: Path) -> None:
    """Text that is no UTF-8, or other columns: an error that names the file, where it is read."""
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe"))
    whole = ResponseTable.from_rows([Response("s", "k", "i", "t", "m")]).arrow
    parquet.write_table(whole.set_column(14, "raw", broken), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"x": [1]}), tmp_path / "b.parquet")
    for name, error in (("a.parquet", RunError), ("b.parquet", InputError)):
        with pytest.raises(error, match=name):
            ResponseTable.read_parquet(tmp_path / name)


@given(TEXTS)
def test_any_reply_is_of_a_known_kind(text: str) -> None:
    """Whatever a model says is read or counted; a text with lone surrogates is garbled, even beside a number."""
    kind = read_reply(ChatReply(text), RATING).kind
    assert kind in KINDS
    assert (kind == "garbled") == (storable_text(text) != text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("4\ud800", "garbled"),
        ("4" + " " * LONGEST, "garbled"),
        ("[" * 100_000, "prose"),
        ("\n" * 50_000 + "4\n" * 25_000, "ok"),
        ("4\0", "in_prose"),
    ],
)
def test_odd_replies(text: str, kind: str) -> None:
    """No reply takes long to read, and none is taken for an answer that says something else as well."""
    assert read_reply(ChatReply(text), RATING).kind == kind
