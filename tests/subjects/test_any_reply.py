"""Whatever an endpoint, a function or a file answers is kept and counted, and a run that holds it goes on."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexiscope.build.gap_filling.gaps import COLUMN_PROMPT
from lexiscope.cli.main import cli
from lexiscope.collect import collect, collect_run, count_replies
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import LexiscopeError, SubjectError
from lexiscope.core.foreign import original_text
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, Message
from lexiscope.core.reply import KINDS, MEASURE_REPLY
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.subject import SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.subjects.endpoint import completions
from lexiscope.subjects.endpoint.chat import Chat, load

from .chat_child import stories
from .fake_chat import FakeChat, error, serving

Serve = Callable[[FakeChat], str]
QUICK = "backoff=0.0001&retries=1"
DEEP = "[" * 100_000


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return a function that serves an endpoint until the test ends, and gives its base URL."""
    with ExitStack() as stack:
        yield lambda endpoint: stack.enter_context(serving(endpoint))


def said(content: Any, **more: Any) -> bytes:
    """A chat completion with this content, as JSON with its own escapes."""
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop", "text": content}
    return json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}} | more).encode()


NAMED: dict[str, tuple[Any, str]] = {
    "a lone surrogate": (said("\ud800"), "garbled"),
    "a rating and half an emoji": (said("4 \ud83d"), "garbled"),
    "100,000 brackets as text": (said(DEEP), "prose"),
    "100,000 brackets as JSON text": (said('{"a":' * 30_000), "prose"),
    "100,000 brackets as the body": (DEEP.encode(), "fault"),
    "brackets in the message": (b'{"choices":[{"message":{"content":' + b"[" * 450 + b"]" * 450 + b"}}]}", "fault"),
    "an object as the text": (said({"a": 4}), "fault"),
    "parts whose text is an object": (said([{"type": "text", "text": {"a": 4}}]), "empty"),
    "no UTF-8": (b'{"choices": "\xff\xfe"}', "fault"),
    "a surrogate in UTF-8": (said("x").replace(b'"x"', b'"\xed\xa0\x80"'), "garbled"),
    "NUL in the text": (said("4\0"), "in_prose"),
    "control characters": (said("\x1b[2J\x07\x9b"), "prose"),
    "NUL as the body": (b"\0" * 50, "fault"),
    "an empty body": (b"", "fault"),
    "2 MiB of text": (said("x" * 2**21), "garbled"),
    "3 MiB that are no JSON": (b"x" * (3 * 2**20), "fault"),
    "a login page": ((200, b"<html>Please log in</html>", {"Content-Type": "text/html"}), "fault"),
    "gzip": ((200, gzip.compress(said("3")), {"Content-Encoding": "gzip"}), "ok"),
    "gzip that is none": ((200, b"\x1f\x8b\x08garbage", {"Content-Encoding": "gzip"}), "fault"),
    "gzip that is cut": ((200, gzip.compress(said("3" * 999))[:40], {"Content-Encoding": "gzip"}), "fault"),
    "gzip of 100 MB": ((200, gzip.compress(b"[" * 10**8, 1), {"Content-Encoding": "gzip"}), "fault"),
    "an unknown compression": ((200, said("3"), {"Content-Encoding": "br"}), "ok"),
    "a list": (b"[4]", "fault"),
    "a number of 5,000 digits": (b"9" * 5000, "fault"),
    "numbers without end": (said("4", usage={"prompt_tokens": 10**400, "completion_tokens": True}), "ok"),
    "usage that is a list": (said("4", usage=[1], model="m\udfff", system_fingerprint={"a": [1]}), "ok"),
    "an index that is text": (b'{"choices":[{"index":"x","message":{"content":"4"}},{"index":[]}]}', "ok"),
    "impossible probabilities": (
        b'{"choices":[{"message":{"content":"4"},"logprobs":{"content":[{"top_logprobs":['
        b'{"token":"4","logprob":1e308},{"token":"\\ud800","logprob":-1},{"token":"5","logprob":-Infinity}]}]}}]}',
        "ok",
    ),
    "a reason that is text no more": (b'{"choices":[{"message":{"content":"4"},"finish_reason":"\\udc00"}]}', "ok"),
}


def answering(bad: Any, where: str) -> Callable[..., Any]:
    """A fault of an endpoint that answers so wherever this stands in a request, and rightly elsewhere."""
    answer = bad if isinstance(bad, tuple) else (200, bad, {})
    return lambda _endpoint, body, _times: answer if where in json.dumps(body) else None


def collected(url: str, out: Path, number: int = 3) -> ResponseTable:
    return collect_run(stories(number), [f"chat:m@{url}?{QUICK}&parallel=1&logprobs=5"], "plausibility", out=out)


def content_of(folder: Path) -> dict[str, bytes]:
    """What a run must hold again, whatever happened to it on the way."""
    names = ["run.json", "responses.parquet", "question.json"]
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.parametrize("name", NAMED)
def test_a_run_with_such_a_reply_goes_on(serve: Serve, tmp_path: Path, name: str) -> None:
    """The reply has its row and is counted by its kind; a run that breaks after it continues, to the same bytes."""
    bad, kind = NAMED[name]
    down = {"now": False}

    def breaks(_endpoint: FakeChat, body: Any, _times: int) -> Any:
        return (401, error("no key"), {}) if down["now"] and "It was day 10." in json.dumps(body) else None

    endpoint = FakeChat(faults=(breaks, answering(bad, "It was day 1.")))
    url = serve(endpoint)
    table = collected(url, tmp_path / "whole")
    replies = table.where(measure=MEASURE_REPLY, item_id="story/1")
    assert replies.column("option").tolist() == [kind]
    assert len(table.where(measure="rating")) == 3
    down["now"] = True
    with pytest.raises(SubjectError, match="refuses this key"):
        collected(url, tmp_path / "broken")
    down["now"] = False
    asked = len(endpoint.received)
    assert collected(url, tmp_path / "broken") == table
    assert len(endpoint.received) == asked + 1, "what was kept is not asked again, whatever it is"
    assert content_of(tmp_path / "broken") == content_of(tmp_path / "whole")
    page = tmp_path / "report.html"
    result = CliRunner().invoke(cli, ["report", str(tmp_path / "whole"), "--out", str(page)])
    assert result.exit_code == 0, result.output
    (counts,) = count_replies(table).values()
    assert counts[kind] == 1 or kind == "ok"


def test_what_came_is_kept(serve: Serve, tmp_path: Path) -> None:
    """The bytes of a body that is no JSON, and the letters of a text that is none, can be had back from the table."""
    for content, expected in ((b"\xff\xfe{", "\udcff\udcfe{"), (said("4 \ud83d"), "4 \ud83d")):
        url = serve(FakeChat(faults=(answering(content, "It was day 1."),)))
        table = collected(url, tmp_path / expected[0].encode("utf-8", "replace").hex())
        (raw,) = table.where(measure="rating", item_id="story/1").column("raw").tolist()
        assert original_text(raw) == expected


def test_a_budget_counts_what_cannot_be_read(serve: Serve, tmp_path: Path) -> None:
    """A body without token counts may have been paid: it counts as much as the request may have come to."""
    endpoint = FakeChat(faults=(answering(b"", "Story"),))
    spec = SubjectSpec("chat", "m", f"{serve(endpoint)}?backoff=0&retries=2&price_in=1&price_out=1&budget=5")
    subject = load(spec)
    assert isinstance(subject, Chat)
    question = ChatQuestion((Message("user", "Story"),), scale=Scale(1, 5), max_tokens=16)
    ((reply,),) = subject.converse([question], work=tmp_path)
    assert reply.fault
    account = subject.settings["account"]
    # three attempts: each may have been paid, the last of them is kept as the reply
    assert (account["replies"], account["possibly_paid"]) == (1, 3)
    assert (account["prompt_tokens"], account["replies_without_token_counts"]) == (0, 0)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "text", "logprobs", "usage", "index", "refusal", "finish_reason"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
BODIES = st.binary(max_size=40) | ANY_JSON.map(lambda value: json.dumps(value).encode())
CONTENTS = st.text(st.one_of(st.characters(), st.sampled_from("45\ud800\udfff\0[<*`\n")), max_size=20)


@pytest.fixture(scope="module")
def changing() -> Iterator[tuple[str, dict[str, Any]]]:
    """An endpoint whose answer a test sets."""
    now: dict[str, Any] = {}
    with serving(FakeChat(faults=(lambda *_: (200, now["body"], {}),))) as url:
        yield url, now


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=BODIES | CONTENTS.map(said) | CONTENTS.map(lambda text: said([{"type": "text", "text": text}] * 2)))
def test_any_body_is_a_reply_of_a_known_kind(changing: tuple[str, dict[str, Any]], body: bytes) -> None:
    """Any bytes, any JSON and any text come to one row of a known kind, and the table can be written."""
    url, now = changing
    now["body"] = body
    table = collect(stories(1), [f"chat:m@{url}?backoff=0&retries=0&logprobs=2"], "plausibility")
    (kind,) = table.where(measure=MEASURE_REPLY).column("option").tolist()
    assert kind in KINDS
    rating = table.where(measure="rating").column("value")[0]
    assert (kind == "ok") == (1 <= rating <= 5)


# -- continuations --------------------------------------------------------------------------------------------


def gaps() -> tuple[Item, ...]:
    usage = Usage("He saw the bank.", 11, 15, language="en")
    return tuple(
        Item(f"gap/{n}", "made_up", (usage,), conditions={COLUMN_PROMPT: f"In {n:b} a bank is a synonym of"})
        for n in range(2)
    )


@pytest.mark.parametrize("kind", ["completions", "chat"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (said(" money\ud800"), "garbled"),
        (DEEP.encode(), "fault"),
        (b"\xff", "fault"),
        (b'{"choices": []}', "fault"),
        (b'{"choices": [{"text": 4}]}', "fault"),
        (b'{"choices": [{"text": " x", "token_ids": "?", "index": "a", "message": {"content": " x"}}]}', "ok"),
    ],
)
def test_continuations_that_are_no_text(serve: Serve, tmp_path: Path, kind: str, body: bytes, expected: str) -> None:
    """A continuation that is none is an empty row and is counted; the others stand as ever, and the run goes on."""
    endpoint = FakeChat(
        says=lambda _body: {"text": " word", "message": {"content": " word"}}, faults=(answering(body, "In 1 a"),)
    )
    spec = f"{kind}:m@{serve(endpoint)}?{QUICK}"
    task = ("gap_filling", gaps())
    table = collect(task[1], [spec], task[0], out=tmp_path)
    written = table.where(item_id="gap/1").filter(
        [str(each).startswith("completion(") for each in table.where(item_id="gap/1").column("measure")]
    )
    assert [raw is None for raw in written.column("raw")] == [expected != "ok"] * len(written)
    counts = list(count_replies(table).values())
    assert counts == ([] if expected == "ok" else [counts[0] | {"ok": len(written), expected: len(written)}])
    asked = [body for body in endpoint.received if "synonym" in json.dumps(body)]
    assert collect(task[1], [spec], task[0], out=tmp_path) == table
    assert [body for body in endpoint.received if "synonym" in json.dumps(body)] == asked


def test_scores_of_an_unreadable_body_are_an_error(serve: Serve) -> None:
    """A score that is missing cannot be counted as an answer: the run stops with an error of ours."""
    url = serve(FakeChat(faults=(lambda *_: (200, DEEP.encode(), {}),)))
    subject = completions.load(SubjectSpec("completions", "m", f"{url}?{QUICK}"))
    with pytest.raises(SubjectError, match="deeper than 100"):
        subject.score(["A text"])


# -- functions and files --------------------------------------------------------------------------------------


class Function:
    """A judge that a user wrote: it says what it says."""

    kind, subject_id = "function", "mine"
    facts = SubjectFacts("mine", "mine", "function")

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Answer."""
        rows = [Response("mine", "function", each.item_id, task, "rating", None, raw="\ud800" + DEEP) for each in items]
        return ResponseTable.from_rows(rows)


def test_a_function_may_say_anything(tmp_path: Path) -> None:
    """What a judge of the user's own writes is kept as well, in memory and in the folder."""
    table = collect(stories(2), [Function()], "plausibility", out=tmp_path)
    assert collect(stories(2), [Function()], "plausibility", out=tmp_path) == table
    assert {original_text(raw) for raw in table.column("raw")} == {"\ud800" + DEEP}


def test_a_recorded_file_of_any_bytes(tmp_path: Path) -> None:
    """Recorded answers with NUL are read; those that are no UTF-8 are an error with the file's name."""
    rows = ResponseTable.from_rows(
        [Response("r", "norm", "story/0", "plausibility", "rating", 4.0, raw="\0\x1b\u2028" + DEEP)]
    )
    rows.write_csv(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_bytes((tmp_path / "a.csv").read_bytes().replace(b"\x1b", b"\xff"))
    assert len(collect(stories(1), [f"recorded:{tmp_path / 'a.csv'}"], "plausibility")) == 1
    with pytest.raises(LexiscopeError, match=r"b\.csv"):
        collect(stories(1), [f"recorded:{tmp_path / 'b.csv'}"], "plausibility")
