"""Served chat models: nothing lost, nothing double-paid, every case counted (X08, X09, A24, L1-L4)."""

from __future__ import annotations

import html
import json
import math
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from lexiscope.collect import collect, collect_run
from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, InputError, RunError, SpecError, SubjectError
from lexiscope.core.prompt import ChatQuestion, Converses, Message, Previews
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.subject import Decoding, SubjectSpec, capabilities
from lexiscope.subjects.endpoint._chat_request import chat_options
from lexiscope.subjects.endpoint.chat import Chat, load

from .. import chat_child
from ..chat_child import stories
from ..fake_chat import KEY, Body, FakeChat, error, often, rating_of, refuses, serving

SCALE = Scale(1, 5)
QUICK = "backoff=0.001"
Serve = Callable[[FakeChat], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Return a function that serves an endpoint until the test ends, and gives its base URL."""
    with ExitStack() as stack:
        yield lambda endpoint: stack.enter_context(serving(endpoint))


def chat_at(url: str, options: str = "", name: str = "m") -> Chat:
    found = load(SubjectSpec("chat", name, f"{url}?{'&'.join(part for part in (QUICK, options) if part)}"))
    assert isinstance(found, Chat)
    return found


def questions(number: int, **more: Any) -> list[ChatQuestion]:
    return [ChatQuestion((Message("user", f"Story {n:b}"),), scale=SCALE, max_tokens=16, **more) for n in range(number)]


def texts(subject: Chat, asked: list[ChatQuestion], work: Path | None = None) -> list[str]:
    return [replies[0].text for replies in subject.converse(asked, work=work)]


def right(asked: list[ChatQuestion]) -> list[str]:
    return [str(rating_of({"messages": each.as_json()})) for each in asked]


# -- what it is -----------------------------------------------------------------------------------------------


def test_what_it_is_and_can() -> None:
    """It judges and generates, converses and previews; a spec prints and parses back; making one asks nothing."""
    spec = "chat:org/m@http://127.0.0.1:1/v1?variant=published&repeats=3&temperature=default&revision=2026"
    subject = catalog.subject(spec)
    assert subject.subject_id == spec
    assert str(SubjectSpec.parse(spec)) == spec
    assert capabilities(subject) == ("Generates", "Judges")
    assert isinstance(subject, Converses)
    assert isinstance(subject, Previews)
    assert subject.facts.revision == "served as org/m, revision 2026 as stated, weights not checksummed"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("key=sk-1", "would write a secret"),
        ("api_key=sk-1", "would write a secret"),
        ("other=1", "not an option of a served chat model"),
        ("repeats=0", "repeats 1 or more"),
        ("repeats=x", "a whole number, not 'x'"),
        ("temperature=warm", "is a number or one of task, default, not 'warm'"),
        ("temperature=nan", "is a number"),
        ("price_in=1&price_out=1&budget=nan", "is a number"),
        ("timeout=inf", "is a number"),
        ("budget=3", "a budget needs prices"),
        ("price_in=1", "a price is missing"),
        ("logprobs=21", "logprobs is 0 to 20"),
        ("system=none", "one of system, user, not 'none'"),
        ("parallel=0", "parallel and timeout are above 0"),
    ],
)
def test_specs_that_are_refused(options: str, message: str) -> None:
    """A wrong option is refused before anything is asked; a secret is not repeated."""
    with pytest.raises(SpecError, match=message) as caught:
        chat_at("http://127.0.0.1:1/v1", options)
    assert "sk-1" not in str(caught.value)


# -- what is sent ---------------------------------------------------------------------------------------------


def test_the_exact_request_of_saw_c(serve: Serve) -> None:
    """S36: model, the Spanish instructions, the two sentences and the word, temperature 0, at most 3 tokens."""
    endpoint = FakeChat(says=lambda body: "4")
    items = catalog.module("tasks", "relatedness").example_items("es")  # type: ignore[attr-defined]
    collect(items[:1], [chat_at(serve(endpoint), "variant=saw_c", "gpt-4-1106-preview")], "relatedness")
    asks = catalog.task("relatedness").asks
    assert asks is not None
    assert endpoint.received == [
        {
            "model": "gpt-4-1106-preview",
            "messages": asks(items[0], variant="saw_c").as_json(),
            "temperature": 0.0,
            "max_tokens": 3,
        }
    ]
    asked = endpoint.received[0]["messages"][1]["content"].splitlines()
    assert asked[0].endswith("Elija un número del 1 (totalmente sin relación) al 5 (mismo significado).")
    assert asked[2:5] == [*(usage.text for usage in items[0].usages), "Palabra: mango"]


def test_options_change_what_is_sent(serve: Serve) -> None:
    """Temperature and tokens by hand, log-probabilities, a seed where tokens are drawn, the system message moved."""
    endpoint = FakeChat()
    url = serve(endpoint)
    asked = [ChatQuestion((Message("system", "Rate."), Message("user", "A")), scale=SCALE, max_tokens=16)]
    for options in ("", "temperature=0.7&max_tokens=4000&logprobs=20", "temperature=default&system=user"):
        chat_at(url, options).converse(asked)
    first, second, third = endpoint.received
    assert first == {"model": "m", "messages": asked[0].as_json(), "temperature": 0.0, "max_tokens": 16}
    assert (second["temperature"], second["max_tokens"], second["logprobs"], second["top_logprobs"]) == (
        0.7,
        4000,
        True,
        20,
    )
    assert isinstance(second["seed"], int)
    assert "temperature" not in third
    assert third["messages"] == [{"role": "user", "content": "Rate.\n\nA"}]


def test_a_model_that_reasons_has_no_cap(serve: Serve, tmp_path: Path) -> None:
    """The preset sends neither the prompt's 16 tokens nor its temperature; thinking is counted apart and never read.

    Three endpoints: one counts what it does not show, one sends it in a field, one writes it before the answer, with
    numbers that would contradict; a thought that a limit cut off is no answer. Without the preset nothing changes.
    """
    usage = {"prompt_tokens": 100, "completion_tokens": 402, "completion_tokens_details": {"reasoning_tokens": 400}}

    class Counting(FakeChat):
        def answer(self, body: Body) -> Body:
            return super().answer(body) | {"usage": usage}

    said: dict[str, Any] = {
        "field": {"message": {"content": "4", "reasoning_content": "2? 5?"}, "finish_reason": "stop"},
        "tags": "<think>2 or 5? Rating: 3</think>\n\n4",
        "cut": {"message": {"content": "<think>2 or"}, "finish_reason": "length"},
    }
    story, rows = stories(1), {}
    counting = Counting(says=lambda _body: "4")
    for name, endpoint in {
        "counted": counting,
        **{n: FakeChat(says=lambda _b, t=t: t) for n, t in said.items()},
    }.items():
        subject = chat_at(serve(endpoint), "preset=reasoning")
        table = subject.judge(story, "plausibility")
        rows[name] = {r.measure: r for r in table.rows()}
        (sent,) = endpoint.received
        assert {"temperature", "max_tokens", "max_completion_tokens"}.isdisjoint(sent)
        assert "preset=reasoning" in subject.subject_id
        account = subject.settings["account"]
        assert account["thinking_tokens"] == (400 if name == "counted" else 0)
    assert {name: own["rating"].value for name, own in rows.items()} == {
        "counted": 4.0, "field": 4.0, "tags": 4.0, "cut": None
    }  # fmt: skip
    assert {name: (own["thinking_tokens"].value, own["thinking_tokens"].raw) for name, own in rows.items()} == {
        "counted": (400.0, None), "field": (None, "2? 5?"), "tags": (None, "2 or 5? Rating: 3"), "cut": (None, "2 or")
    }  # fmt: skip
    assert rows["cut"]["reply"].option == "truncated"
    capped = FakeChat(says=lambda _body: said["tags"])
    url = serve(capped)
    plain = {row.measure: row for row in chat_at(url).judge(story, "plausibility").rows()}
    assert (plain["rating"].value, plain["reply"].option) == (None, "several")
    chat_at(url, "preset=reasoning&max_tokens=9000&temperature=1").judge(story, "plausibility")
    assert (capped.received[0]["max_tokens"], capped.received[1]["max_tokens"]) == (16, 9000)
    assert (capped.received[0]["temperature"], capped.received[1]["temperature"]) == (0.0, 1.0)
    with pytest.raises(SpecError, match="one of"):
        chat_at(url, "preset=other")


REFUSALS = [
    (
        "temperature",
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        ["temperature omitted"],
        {"max_tokens": 16},
    ),
    (
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ["max_tokens sent as max_completion_tokens"],
        {"temperature": 0.0, "max_completion_tokens": 16},
    ),
    ("temperature", "`temperature` must be strictly positive", ["temperature omitted"], {"max_tokens": 16}),
    ("max_tokens", "Extra inputs are not permitted: max_tokens", ["max_tokens sent as max_completion_tokens"], None),
]


@pytest.mark.parametrize(("field", "message", "changes", "sent"), REFUSALS)
def test_a_refused_field_is_sent_otherwise(
    serve: Serve, field: str, message: str, changes: list[str], sent: Body | None, tmp_path: Path
) -> None:
    """A24: what an endpoint refuses is found out once, all is answered, and the record says what was sent."""
    endpoint = FakeChat(faults=(refuses(field, message),))
    subject, asked = chat_at(serve(endpoint)), questions(12)
    assert texts(subject, asked, tmp_path) == right(asked)
    assert len(endpoint.received) == 12 + 1
    assert subject.settings["account"]["sent_otherwise"] == changes
    if sent is not None:
        got = {name: value for name, value in endpoint.received[-1].items() if name not in ("model", "messages")}
        assert got == sent
    kept = [
        json.loads(line.split(b" ", 1)[1])[1]
        for line in next((tmp_path / "answers").iterdir()).read_bytes().splitlines()
    ]
    assert all(field not in entry["sent"] and entry["changes"] == changes for entry in kept)


def test_an_endpoint_that_refuses_everything_is_still_asked(serve: Serve) -> None:
    """Temperature, both limits, log-probabilities, seed and system message: each is dropped, the questions stay."""
    faults = (
        refuses("temperature", "temperature is not supported"),
        refuses("max_tokens", "max_tokens is not supported"),
        refuses("max_completion_tokens", "unknown field max_completion_tokens", 422),
        refuses("top_logprobs", "logprobs are not available for this model"),
        refuses("seed", "unrecognized request argument supplied: seed"),
        lambda _e, body, _n: (
            (400, error("System role not supported"), {}) if body["messages"][0]["role"] == "system" else None
        ),
    )
    endpoint = FakeChat(faults=faults)
    asked = [
        ChatQuestion((Message("system", "Rate."), Message("user", f"A{n}")), scale=SCALE, max_tokens=16)
        for n in range(4)
    ]
    subject = chat_at(serve(endpoint), "temperature=0.5&logprobs=5")
    assert [reply[0].finish for reply in subject.converse(asked)] == ["stop"] * 4
    assert len(subject.settings["account"]["sent_otherwise"]) == 6
    assert {"model": "m", "messages": [{"role": "user", "content": "Rate.\n\nA3"}]} in endpoint.received


@pytest.mark.parametrize("more", ["", ". This model supports at most 8 completion tokens"])
def test_an_error_that_names_a_field_is_not_its_refusal(serve: Serve, more: str) -> None:
    """A limit that is too large is the user's to mend: nothing is dropped behind her back."""
    endpoint = FakeChat(faults=(refuses("max_tokens", f"max_tokens is too large: 16{more}"),))
    with pytest.raises(SubjectError, match="max_tokens is too large"):
        chat_at(serve(endpoint)).converse(questions(3))
    assert len(endpoint.received) == 1


# -- what comes back ------------------------------------------------------------------------------------------

CASES: list[tuple[Any, str]] = [
    ("4", "ok"),
    ("**4**", "ok"),
    ("I'm sorry, I cannot rate this.", "refusal"),
    ("3 or 4", "several"),
    ("7", "off_scale"),
    ("", "empty"),
    (None, "empty"),
    ([{"type": "text", "text": "4"}], "ok"),
    ("The sense is plausible enough.", "prose"),
    ("I would rate it 4 in this story", "in_prose"),
    ({"message": {"content": "The meaning is"}, "finish_reason": "length"}, "truncated"),
    ({"message": {"content": "", "reasoning_content": "4, 5?"}, "finish_reason": "length"}, "truncated"),
    ({"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}, "refusal"),
    ({"message": {"content": "4"}, "finish_reason": "content_filter"}, "refusal"),
    ({"message": {"content": "4", "reasoning_content": "Is it 2? Is it 3?"}, "finish_reason": "stop"}, "ok"),
    ({"finish_reason": "stop"}, "fault"),
    ({"message": "4", "finish_reason": "stop"}, "fault"),
]


def test_every_case_is_a_row_and_counted(serve: Serve) -> None:
    """L1: each reply leaves its rows: the rating, without value where it is not read, its kind, text and finish."""
    items = stories(len(CASES))
    said = {item.item_id: case for item, case in zip(items, CASES, strict=True)}
    order = {f"It was day {n:b}.": case[0] for n, case in enumerate(CASES)}
    endpoint = FakeChat(
        says=lambda body: next(says for text, says in order.items() if text in body["messages"][-1]["content"])
    )
    table = collect(items, [chat_at(serve(endpoint))], "plausibility")
    ratings, kinds = table.where(measure="rating"), table.where(measure="reply")
    assert ratings.column("item_id").tolist() == kinds.column("item_id").tolist() == [item.item_id for item in items]
    assert kinds.column("option").tolist() == [kind for _, kind in said.values()]
    values = ratings.column("value").tolist()
    assert [value == 4 for value in values] == [kind == "ok" for _, kind in CASES]
    assert all(math.isnan(value) for value, (_, kind) in zip(values, CASES, strict=True) if kind != "ok")
    assert kinds.column("value").tolist() == [float(kind == "ok") for _, kind in CASES]
    assert ratings.column("raw").tolist()[3] == "3 or 4"
    assert len(table.where(measure="finish", option="length")) == 2


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"choices": []}, "no choice"),
        ({"choices": "4"}, "no choices"),
        ({}, "no choices"),
        ([4], "no choices"),
        (error("overloaded"), "the answer is an error: overloaded"),
    ],
)
def test_answers_that_are_none(serve: Serve, body: Any, fault: str, tmp_path: Path) -> None:
    """Status 200 without a reply: a typed fault that is kept and not paid for again."""
    endpoint = FakeChat(faults=(lambda *_: (200, body, {}),))
    url = serve(endpoint)
    for _ in range(2):
        (replies,) = chat_at(url).converse(questions(1), work=tmp_path)
        assert fault in replies[0].fault
    assert len(endpoint.received) == 1


def test_a_content_filter_is_a_refusal_of_one_item(serve: Serve) -> None:
    """Some hosts refuse with status 400 what their filter dislikes: that item has no answer, the others have theirs."""
    filtered = (400, error("The response was filtered", code="content_filter"), {})
    endpoint = FakeChat(
        faults=(lambda _e, body, _n: filtered if body["messages"][0]["content"] == "Story 10" else None,)
    )
    subject, asked = chat_at(serve(endpoint)), questions(4)
    replies = [each[0] for each in subject.converse(asked)]
    assert [reply.refused for reply in replies] == [False, False, True, False]
    assert replies[2].text == "The response was filtered"


@pytest.mark.parametrize("finish", ["CONTENT_FILTER", "Content_Filter", "SAFETY", "PROHIBITED_CONTENT"])
def test_a_finish_is_known_in_any_case(serve: Serve, finish: str) -> None:
    """Endpoints write the reason of an end in their own case: a filter is a refusal, a limit is a limit."""
    says = {"message": {"content": "4"}, "finish_reason": finish}
    (replies,) = chat_at(serve(FakeChat(says=lambda body: says))).converse(questions(1))
    assert (replies[0].refused, replies[0].finish) == (True, finish)
    cut = {"message": {"content": "The"}, "finish_reason": "LENGTH"}
    (replies,) = chat_at(serve(FakeChat(says=lambda body: cut))).converse(questions(1))
    assert replies[0].cut


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (error("blocked", code="content_policy_violation"), True),
        ({"error": {"message": "no", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, True),
        ({"object": "error", "type": "safety", "message": "no"}, True),
        (error("the field safety_settings is unknown"), False),
        (error("for your safety, content_filter must be a boolean"), False),
    ],
)
def test_only_fields_decide_what_a_refusal_is(serve: Serve, body: Any, refused: bool) -> None:
    """A message that says *safety* is no refusal: the request is at fault, and the run says so."""
    subject = chat_at(serve(FakeChat(faults=(lambda *_: (400, body, {}),))))
    if refused:
        assert subject.converse(questions(1))[0][0].refused
    else:
        with pytest.raises(SubjectError, match="status 400"):
            subject.converse(questions(1))


def test_numbers_that_json_does_not_know(serve: Serve, tmp_path: Path) -> None:
    """Some servers write -Infinity for an impossible token: the reply is kept and read all the same."""
    listed = [{"token": "4", "logprob": -0.1}, {"token": "5", "logprob": float("-inf")}]
    choice = {
        "message": {"content": "4"},
        "finish_reason": "stop",
        "logprobs": {"content": [{"token": "4", "top_logprobs": listed}]},
    }
    endpoint = FakeChat(says=lambda body: choice)
    (replies,) = chat_at(serve(endpoint), "logprobs=2").converse(questions(1), work=tmp_path)
    assert replies[0].first_tokens == pytest.approx({"4": -0.1})


# -- a server that stumbles -----------------------------------------------------------------------------------

STUMBLES: dict[str, Any] = {
    "429 with Retry-After in seconds": (429, error("slow down"), {"Retry-After": "0.01"}),
    "429 with a date": (429, error("slow down"), {"Retry-After": formatdate(0, usegmt=True)}),
    "429 without": (429, error("slow down"), {}),
    "500": (500, error("internal"), {}),
    "502 in HTML": (502, b"<html>Bad gateway</html>", {}),
    "503": (503, error("loading"), {}),
    "half a body": "half",
    "closed mid-stream": "closed",
    "wrong JSON": (200, b'{"choices": [{"message": {"content": "4"', {}),
    "a login page": (200, b"<html>Please log in</html>", {}),
}


@pytest.mark.parametrize("stumble", STUMBLES)
def test_each_way_to_stumble(serve: Serve, stumble: str) -> None:
    """Every request that stumbled once is sent again, once, and every question has its answer."""
    endpoint = FakeChat(faults=(often(0.5, STUMBLES[stumble]),))
    asked = questions(16)
    assert texts(chat_at(serve(endpoint)), asked) == right(asked)
    assert set(endpoint.paid.values()) == {1}
    assert 16 < len(endpoint.received) <= 32


def test_thirty_in_a_hundred_fail(serve: Serve, tmp_path: Path) -> None:
    """L1: 500 questions, 30 % of the requests faulty in ten ways: 500 answers, each paid once, calls within 5 %."""
    faults = tuple(often(0.03, stumble, salt=name) for name, stumble in STUMBLES.items())
    endpoint = FakeChat(
        faults=(lambda e, b, n: next((f for fault in faults if (f := fault(e, b, n)) is not None), None),)
    )
    asked = questions(500)
    subject = chat_at(serve(endpoint), "parallel=8")
    assert texts(subject, asked, tmp_path) == right(asked)
    assert set(endpoint.paid.values()) == {1}
    stumbled = sum(times > 1 for times in endpoint.seen.values())
    assert stumbled > 100
    assert len(endpoint.received) <= 1.05 * (500 + stumbled)
    assert subject.settings["account"]["replies"] == 500


def test_a_slow_server_is_asked_again(serve: Serve) -> None:
    """A request that takes longer than the timeout is given up and sent again."""
    endpoint = FakeChat(faults=(lambda _e, _b, times: time.sleep(0.6) if times == 1 else None,))
    assert texts(chat_at(serve(endpoint), "timeout=0.2"), questions(1)) == right(questions(1))
    assert len(endpoint.received) == 2


def test_a_server_that_never_answers(serve: Serve, tmp_path: Path) -> None:
    """After the attempts the run stops, says why, and keeps what it has; the same call continues."""
    broken = {"now": True}
    endpoint = FakeChat(
        faults=(
            lambda _e, body, _n: (
                (503, error("down"), {}) if broken["now"] and body["messages"][0]["content"] > "Story 1" else None
            ),
        )
    )
    url, asked = serve(endpoint), questions(12)
    with pytest.raises(SubjectError, match="did not answer after 3 attempts"):
        chat_at(url, "retries=2").converse(asked, work=tmp_path)
    broken["now"] = False
    assert texts(chat_at(url), asked, tmp_path) == right(asked)
    assert set(endpoint.paid.values()) == {1}


def test_concurrency_has_a_limit(serve: Serve) -> None:
    """``parallel`` requests are under way at most, and they are really under way together."""
    endpoint = FakeChat()
    endpoint.slow = 0.03
    chat_at(serve(endpoint), "parallel=3").converse(questions(13))
    assert endpoint.most_under_way == 3


def test_progress_is_told(serve: Serve) -> None:
    """Progress counts distinct requests, repetitions included, up to their total."""
    told: list[tuple[int, int]] = []
    chat_at(serve(FakeChat()), "repeats=2").converse(questions(3), progress=lambda *done: told.append(done))
    assert told == [(n, 6) for n in range(1, 7)]


# -- kept replies ---------------------------------------------------------------------------------------------


def test_a_finished_call_is_read_without_a_server(serve: Serve, tmp_path: Path) -> None:
    """X09: replay without network gives identical replies."""
    with serving(FakeChat()) as url:
        before = chat_at(url, "repeats=2&logprobs=3").converse(questions(5), work=tmp_path)
    assert chat_at(url, "repeats=2&logprobs=3").converse(questions(5), work=tmp_path) == before


def test_nobody_shares_an_answer(serve: Serve, tmp_path: Path) -> None:
    """X09: models, endpoints, revisions, settings, repetitions with the same prompts and one folder never meet."""
    first, second = FakeChat(says=lambda body: "1"), FakeChat(says=lambda body: "2")
    one, two = serve(first), serve(second)
    asked = questions(3)
    assert texts(chat_at(one), asked, tmp_path) == ["1"] * 3
    assert texts(chat_at(two), asked, tmp_path) == ["2"] * 3
    for options, name in (
        ("", "other"),
        ("revision=2", "m"),
        ("temperature=1", "m"),
        ("max_tokens=9", "m"),
        ("logprobs=1", "m"),
    ):
        before = len(first.received)
        chat_at(one, options, name).converse(asked, work=tmp_path)
        assert len(first.received) == before + 3, (options, name)
    before = len(first.received)
    chat_at(one, "repeats=2").converse(asked, work=tmp_path)
    assert len(first.received) == before + 3
    chat_at(one, "parallel=2&price_in=1&price_out=1").converse(asked, work=tmp_path)
    assert len(first.received) == before + 3


def test_repetitions_are_rows(serve: Serve) -> None:
    """Each repetition is asked and kept by itself, with a seed of its own where tokens are drawn, and is a row."""
    drawn = random.Random(7)
    endpoint = FakeChat(says=lambda body: str(drawn.randint(1, 5)))
    subject = chat_at(serve(endpoint), "repeats=4&temperature=1")
    table = collect(stories(3), [subject], "plausibility").where(measure="rating")
    assert table.column("repeat").tolist() == [0, 1, 2, 3] * 3
    assert len({body["seed"] for body in endpoint.received}) == 12
    assert len(set(table.column("value").tolist())) > 1


def test_the_same_question_is_sent_once(serve: Serve) -> None:
    """However often a question stands among the questions."""
    endpoint = FakeChat()
    chat_at(serve(endpoint)).converse(questions(2) * 3)
    assert len(endpoint.received) == 2


def test_the_raw_reply_and_the_whole_request_are_kept(serve: Serve, tmp_path: Path) -> None:
    """L4: what was sent, what came back as it came, when, and which model and fingerprint said so."""
    chat_at(serve(FakeChat())).converse(questions(1), work=tmp_path)
    (file,) = (tmp_path / "answers").iterdir()
    _, entry = json.loads(file.read_bytes().split(b" ", 1)[1])
    assert entry["sent"]["messages"] == questions(1)[0].as_json()
    assert entry["body"]["model"] == "m-2026-01-01"
    assert entry["body"]["usage"]["prompt_tokens"] == 100
    assert entry["at"].endswith("+00:00")


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """L2: SIGKILL again and again; the table is that of an unbroken run, no kept reply is asked for again."""
    number, parallel, kills = 60, 3, 5
    endpoint = FakeChat(faults=(often(0.2, (429, error("slow down"), {"Retry-After": "0.01"})),))
    endpoint.slow = 0.02
    with serving(endpoint) as url:
        spec = f"chat:m@{url}?parallel={parallel}&{QUICK}"
        whole = collect_run(stories(number), [spec], "plausibility", out=tmp_path / "whole")
        unbroken = sum(endpoint.paid.values())
        command = [sys.executable, chat_child.__file__, spec, str(number), str(tmp_path / "broken")]
        chance, killed = random.Random(5), 0
        for _ in range(kills):
            begun = len(endpoint.received)
            with subprocess.Popen(command) as child:
                # from the first answers on: before, there is nothing to lose
                while child.poll() is None and len(endpoint.received) < begun + 1 + chance.randrange(9):
                    time.sleep(0.005)
                child.kill()
                killed += child.wait() != 0
        subprocess.run(command, check=True)
    assert unbroken == number
    assert killed >= kills // 2
    again = ResponseTable.read_parquet(tmp_path / "broken" / "responses.parquet")
    assert (tmp_path / "broken" / "responses.parquet").read_bytes() == (
        tmp_path / "whole" / "responses.parquet"
    ).read_bytes()
    assert len(again) == len(whole)
    account, record = _account_and_rest(tmp_path / "broken")
    # every request that was paid without an answer is counted
    assert sum(endpoint.paid.values()) - unbroken <= number + account["possibly_paid"]
    assert account["possibly_paid"] <= killed * parallel
    unbroken_account, unbroken_record = _account_and_rest(tmp_path / "whole")
    assert record == unbroken_record
    assert account == unbroken_account | {"possibly_paid": account["possibly_paid"]}


def _account_and_rest(run: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the account of the only subject of a run, and the rest of the record but for its checksums."""
    record = json.loads((run / "run.json").read_text())
    del record["files"]
    account = record["subjects"][0]["settings"].pop("account")
    del record["seal"]
    return account, record


def test_killed_between_request_and_answer(tmp_path: Path) -> None:
    """The request that was under way is asked again; the answer, the seal and the record say that it may be paid."""
    endpoint = FakeChat()
    endpoint.slow = 600.0
    with serving(endpoint) as url:
        spec = f"chat:m@{url}?price_in=10000&price_out=10000&{QUICK}"
        command = [sys.executable, chat_child.__file__, spec, "4", str(tmp_path / "run")]
        with subprocess.Popen(command) as child:
            while not endpoint.received:
                time.sleep(0.005)
            child.kill()
        endpoint.slow = 0.0
        said = subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr
        collect_run(stories(4), [spec], "plausibility", out=tmp_path / "whole")
    account, record = _account_and_rest(tmp_path / "run")
    unbroken, unbroken_record = _account_and_rest(tmp_path / "whole")
    assert record == unbroken_record
    assert (account["replies"], account["possibly_paid"], unbroken["possibly_paid"]) == (4, 1, 0)
    assert account["highest_cost"] > account["cost"] == unbroken["cost"]
    assert "1 request may have been paid without a reply" in said
    (log,) = (tmp_path / "run" / "work" / "answers").iterdir()
    entries = [json.loads(line.split(" ", 1)[1])[1] for line in log.read_text().splitlines()]
    assert [entry.get("possibly_paid") for entry in entries if "sent" in entry] == [1, None, None, None]
    assert [entry["why"] for entry in entries if "lost" in entry] == ["a process ended between request and reply"]
    assert (tmp_path / "run" / "responses.parquet").read_bytes() == (
        tmp_path / "whole" / "responses.parquet"
    ).read_bytes()
    # no claim is left of what was answered; the file of the worker that was killed stays
    left = [path.name.split("-")[0] for path in (tmp_path / "run" / "work" / "claims").glob("*/*")]
    assert left == ["worker"]


def test_two_workers_never_pay_for_the_same_request(serve: Serve, tmp_path: Path) -> None:
    """Two that ask the same questions in the same folder share the requests, and both have all replies."""
    endpoint = FakeChat(faults=(often(0.3, (503, error("busy"), {"Retry-After": "0.001"})),))
    endpoint.slow = 0.01
    url, asked = serve(endpoint), questions(30)
    workers = [chat_at(url, "parallel=3") for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(lambda worker: texts(worker, asked, tmp_path), workers))
    assert replies == [right(asked)] * 2
    assert set(endpoint.paid.values()) == {1}
    assert len(endpoint.paid) == 30
    # sent again after a server's error, by the worker that held the claim
    assert set(endpoint.seen.values()) <= {1, 2}
    accounts = [worker.settings["account"] for worker in workers]
    assert [account["replies"] for account in accounts] == [30, 30]


def test_a_refused_request_gives_its_claim_back(serve: Serve, tmp_path: Path) -> None:
    """What was refused was not paid: asked again, it is not counted as lost."""
    endpoint = FakeChat(faults=(lambda _endpoint, _body, times: (402, error("no credit"), {}) if times == 1 else None,))
    subject, asked = chat_at(serve(endpoint)), questions(1)
    with pytest.raises(SubjectError, match="no credit"):
        subject.converse(asked, work=tmp_path)
    assert texts(subject, asked, tmp_path) == right(asked)
    assert subject.settings["account"]["possibly_paid"] == 0


# -- money and secrets ----------------------------------------------------------------------------------------


def test_tokens_and_costs_are_counted(serve: Serve) -> None:
    """100 and 2 tokens a reply, at 2 and 10 a million: 0.00022 each; a replay counts the same and pays nothing."""
    subject = chat_at(serve(FakeChat()), "price_in=2&price_out=10")
    subject.converse(questions(10))
    account = subject.settings["account"]
    assert (account["replies"], account["prompt_tokens"], account["completion_tokens"]) == (10, 1000, 20)
    assert account["cost"] == pytest.approx(10 * 0.00022)
    assert account["answered_by"] == {"m-2026-01-01 fp_1": 10}


def test_a_budget_stops_the_run(serve: Serve, tmp_path: Path) -> None:
    """L3: nothing is sent once it is spent; over by the requests under way at most; a higher one continues the run."""
    endpoint = FakeChat()
    url, asked = serve(endpoint), questions(40)
    each = 100 / 1e6
    with pytest.raises(RunError, match=r"the budget of 0\.001 is spent"):
        chat_at(url, "price_in=1&price_out=0&budget=0.001&parallel=4").converse(asked, work=tmp_path)
    assert 10 <= sum(endpoint.paid.values()) <= 10 + 4
    assert 10 * each == pytest.approx(0.001)
    assert texts(chat_at(url, "price_in=1&price_out=0&budget=1"), asked, tmp_path) == right(asked)
    assert sum(endpoint.paid.values()) == 40


def test_a_limit_of_calls_is_exact(serve: Serve, tmp_path: Path) -> None:
    """Never a reply more than ``max_calls``, those of the broken call included."""
    endpoint = FakeChat()
    url, asked = serve(endpoint), questions(30)
    for limit in (7, 12):
        with pytest.raises(RunError, match=f"the limit of {limit} calls is reached"):
            chat_at(url, f"max_calls={limit}&parallel=5").converse(asked, work=tmp_path)
        assert sum(endpoint.paid.values()) == limit


@pytest.mark.parametrize("stumble", ["half", "closed", (500, error("broken"), {}), (200, b"{", {})])
def test_a_lost_request_may_have_been_paid(serve: Serve, tmp_path: Path, stumble: Any) -> None:
    """A body cut off or a connection broken after the request was taken: counted, kept, also in the next run."""
    endpoint = FakeChat(faults=(often(0.5, stumble),))
    url, asked = serve(endpoint), questions(20)
    subject = chat_at(url, "price_in=1&price_out=10")
    assert texts(subject, asked, tmp_path) == right(asked)
    lost = len(endpoint.received) - 20
    assert lost > 3
    account = subject.settings["account"]
    assert (account["replies"], account["possibly_paid"]) == (20, lost)
    assert account["cost"] == pytest.approx(20 * (100 + 20) / 1e6)
    # a lost prompt of 7 to 11 characters is 2 or 3 tokens, its answer at most 16
    assert 2 * lost / 1e6 <= account["highest_cost"] - account["cost"] - 160 * lost / 1e6 <= 3 * lost / 1e6
    again = chat_at(url, "price_in=1&price_out=10")
    again.converse(asked, work=tmp_path)
    assert again.settings["account"] == account


@pytest.mark.parametrize("stumble", [(429, error("slow down"), {}), (409, error("busy"), {})])
def test_a_request_that_was_turned_away_is_not_paid(serve: Serve, stumble: Any) -> None:
    """An endpoint that says that it is too busy has done nothing."""
    subject = chat_at(serve(FakeChat(faults=(often(0.5, stumble),))))
    subject.converse(questions(10))
    assert subject.settings["account"]["possibly_paid"] == 0


def test_lost_requests_count_toward_the_limit_of_calls(serve: Serve, tmp_path: Path) -> None:
    """Every request that reached the endpoint is a call: with all bodies cut off, the limit ends the tries."""
    endpoint = FakeChat(faults=(lambda *_: "half",))
    url = serve(endpoint)
    for limit in (3, 5):
        with pytest.raises(RunError, match=f"the limit of {limit} calls is reached"):
            chat_at(url, f"max_calls={limit}&retries=9&parallel=2").converse(questions(4), work=tmp_path)
        assert len(endpoint.received) == limit


def test_lost_requests_count_toward_the_budget(serve: Serve, tmp_path: Path) -> None:
    """What they may have come to is spent: 5 lost requests of at most 16 tokens at 1 each reach a budget of 5 * 16."""
    endpoint = FakeChat(faults=(lambda *_: "half",))
    options = "price_in=0&price_out=1000000&parallel=1&budget=80"
    with pytest.raises(RunError, match="the budget of 80 is spent"):
        chat_at(serve(endpoint), options).converse(questions(2), work=tmp_path)
    assert len(endpoint.received) == 5


def test_a_budget_needs_token_counts(serve: Serve, tmp_path: Path) -> None:
    """A server that does not tell its tokens cannot be kept to a budget: said after one reply, which is kept."""
    endpoint = FakeChat()
    answer = endpoint.answer
    endpoint.answer = lambda body: {**answer(body), "usage": None}  # type: ignore[method-assign]
    url = serve(endpoint)
    with pytest.raises(SubjectError, match="does not tell how many tokens"):
        chat_at(url, "price_in=1&price_out=1&budget=1").converse(questions(5), work=tmp_path)
    assert len(endpoint.received) == 1
    assert texts(chat_at(url), questions(5), tmp_path) == right(questions(5))
    assert len(endpoint.received) == 5


def test_the_preview_sends_nothing(serve: Serve) -> None:
    """The first request, the number of them, rough tokens, and the most that they may cost."""
    endpoint = FakeChat()
    found = chat_at(serve(endpoint), "repeats=2&price_in=1&price_out=10").preview(questions(8))
    assert endpoint.received == []
    assert found.request["messages"] == questions(1)[0].as_json()
    characters = sum(len(each.messages[0].content) for each in questions(8))
    assert (found.n_requests, found.prompt_tokens, found.completion_tokens) == (16, -(-characters * 2 // 4), 16 * 16)
    assert found.cost == pytest.approx((found.prompt_tokens + 10 * 256) / 1e6)
    assert chat_at("http://127.0.0.1:1/v1").preview(questions(1)).cost is None


def test_the_key_stands_in_the_header_only(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """L4: the key is found 0 times in files, ids, settings and errors, also where the server echoes it."""
    monkeypatch.setenv("CHAT_KEY", KEY)
    endpoint = FakeChat(says=lambda body: f"your key is {KEY}")
    subject = chat_at(serve(endpoint), "key_env=CHAT_KEY")
    collect_run(stories(2), [subject], "plausibility", out=tmp_path)
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in endpoint.headers)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 4
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert KEY not in repr(subject.settings) + subject.subject_id
    refusing = FakeChat(faults=(lambda *_: (401, error(f"wrong key {KEY}"), {}),))
    with pytest.raises(SubjectError, match="refuses this key") as caught:
        chat_at(serve(refusing), "key_env=CHAT_KEY").converse(questions(1))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", [r'sk-"quoted"-012345', r"sk-back\slash-012345", "sk-a/b<c>&d-012345"])
def test_a_key_with_marks_is_cut_from_every_spelling(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """An echo may write it as JSON, twice as JSON, as HTML or in an address."""
    monkeypatch.setenv("CHAT_KEY", key)
    echoes = [key, json.dumps(key), json.dumps(json.dumps(key)), html.escape(key), quote(key, safe="")]
    endpoint = FakeChat(says=lambda body: " ".join(echoes))
    subject = chat_at(serve(endpoint), "key_env=CHAT_KEY")
    (replies,) = subject.converse(questions(1), work=tmp_path)
    assert "012345" not in replies[0].text
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"012345" in path.read_bytes()]
    for said in (error(f"wrong key {key}"), json.dumps(json.dumps({"detail": key})).encode(), f"key {key}".encode()):
        refusing = FakeChat(faults=(lambda _e, _b, _n, said=said: (401, said, {}),))
        with pytest.raises(SubjectError) as caught:
            chat_at(serve(refusing), "key_env=CHAT_KEY").converse(questions(1))
        assert "012345" not in str(caught.value) + str(caught.value.why)


@pytest.mark.parametrize(
    ("status", "said", "kind", "message"),
    [
        (401, "no key", SubjectError, "refuses this key, or wants one"),
        (404, "The model `m` does not exist.", SubjectError, "has no model 'm'"),
        (404, "Not Found", CapabilityError, "no /chat/completions"),
        (400, "prompt is too long", SubjectError, "prompt is too long"),
        (429, "You exceeded your current quota", SubjectError, "current quota"),
    ],
)
def test_refusals_for_good(serve: Serve, status: int, said: str, kind: type[Exception], message: str) -> None:
    """What cannot help to send again stops the run at once, in plain words, after the first request."""
    endpoint = FakeChat(faults=(lambda *_: (status, error(said), {}),))
    with pytest.raises(kind, match=message):
        chat_at(serve(endpoint)).converse(questions(6))
    assert len(endpoint.received) == 1


# -- what it can do -------------------------------------------------------------------------------------------


def listing(rows: list[tuple[str, float]]) -> Body:
    listed = [{"token": token, "logprob": math.log(p)} for token, p in rows]
    first = {"token": rows[0][0], "logprob": listed[0]["logprob"], "top_logprobs": listed}
    return {"message": {"content": rows[0][0]}, "finish_reason": "stop", "logprobs": {"content": [first]}}


def test_a_rating_weighted_by_probability(serve: Serve) -> None:
    """Its own measure beside the rating: .5·4 + .2·5 + .1·3 over their mass .8; the mass stands in a row of its own."""
    choice = listing([("4", 0.5), ("5", 0.2), (" 3", 0.1), ("The", 0.2)])
    table = collect(stories(1), [chat_at(serve(FakeChat(says=lambda body: choice)), "logprobs=20")], "plausibility")
    found = {measure: table.where(measure=measure).column("value").tolist() for measure in table.unique("measure")}
    assert found["rating"] == [4.0]
    assert found["expected_rating"] == pytest.approx([(0.5 * 4 + 0.2 * 5 + 0.1 * 3) / 0.8])
    assert found["scale_mass"] == pytest.approx([0.8])
    plain = collect(stories(1), [chat_at(serve(FakeChat()))], "plausibility")
    assert "expected_rating" not in plain.unique("measure")


def test_choices_and_texts(serve: Serve) -> None:
    """A choice stores the option that was named; a text stands in ``raw``, a refusal to write one does not."""
    words = catalog.module("tasks", "word_intrusion").example_items("en")  # type: ignore[attr-defined]
    url = serve(FakeChat(says=lambda body: "5"))
    choices = collect(words[:1], [chat_at(url)], "word_intrusion").where(measure="choice")
    assert choices.column("option").tolist() == ["engine"]
    gaps = catalog.module("tasks", "story_ending").example_items("en")  # type: ignore[attr-defined]
    wrote = collect(gaps[:1], [chat_at(serve(FakeChat(says=lambda body: "It barked.")))], "story_ending")
    assert wrote.where(measure="text").column("raw").tolist() == ["It barked."]
    declined = collect(gaps[:1], [chat_at(serve(FakeChat(says=lambda body: "I cannot do that.")))], "story_ending")
    assert declined.where(measure="text").column("raw").tolist() == [None]
    assert declined.where(measure="reply").column("raw").tolist() == ["I cannot do that."]


def test_views_reach_the_prompt(serve: Serve) -> None:
    """The view of a run decides what is asked: with the word hidden, *cannot decide* is an answer with its flag."""
    pairs = catalog.module("tasks", "same_sense").example_items("en")  # type: ignore[attr-defined]
    endpoint = FakeChat(says=lambda body: "3" if "[X]" in body["messages"][-1]["content"] else "1")
    table = collect(pairs[:1], [chat_at(serve(endpoint))], "same_sense", views=("full", "context"))
    assert table.where(measure="choice").column("option").tolist() == ["t", "t"]
    assert table.where(measure="flag_undecided").column("value").tolist() == [1.0]


def test_the_record_has_what_all_views_cost(serve: Serve, tmp_path: Path) -> None:
    """A subject asked in two views has two parts; its account in run.json is of both."""
    pairs = catalog.module("tasks", "same_sense").example_items("en")  # type: ignore[attr-defined]
    subject = chat_at(serve(FakeChat(says=lambda body: "1")))
    collect_run(pairs[:2], [subject], "same_sense", views=("full", "context"), out=tmp_path)
    account, _ = _account_and_rest(tmp_path)
    assert (account["replies"], account["answered_by"]) == (4, {"m-2026-01-01 fp_1": 4})
    assert account["prompt_tokens"] == 2 * subject.settings["account"]["prompt_tokens"] > 0


def test_it_judges_without_a_run(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocol's own method asks the items in full, and refuses a task without a question in words."""
    table = chat_at(serve(FakeChat(says=lambda body: "2"))).judge(stories(2), "plausibility")
    assert table.where(measure="rating").column("value").tolist() == [2.0, 2.0]
    unasked = replace(catalog.task("plausibility"), asks=None)
    monkeypatch.setattr(catalog, "task", lambda name: unasked)
    with pytest.raises(CapabilityError, match="cannot be asked as text"):
        chat_at("http://127.0.0.1:1/v1").judge(stories(1), "plausibility")


def test_it_generates(serve: Serve, tmp_path: Path) -> None:
    """A prompt is a message of the user; greedy has temperature 0, samples their own seeds; a stop is sent along."""
    endpoint = FakeChat(says=lambda body: f"text {body.get('seed')}")
    subject = chat_at(serve(endpoint))
    ((greedy,),) = subject.generate(["Once"], Decoding(max_tokens=8, stop=("\n",)), work=tmp_path)
    assert (greedy.text, greedy.seed, greedy.finish) == ("text None", None, "stop")
    said = [{"role": "user", "content": "Once"}]
    assert endpoint.received[0] == {
        "model": "m",
        "messages": said,
        "temperature": 0.0,
        "max_tokens": 8,
        "stop": ["\n"],
    }
    (drawn,) = subject.generate(["Once"], Decoding(method="sample", n=3, temperature=0.8, seed=4), work=tmp_path)
    assert len({each.seed for each in drawn}) == 3
    assert [each.text for each in drawn] == [f"text {each.seed}" for each in drawn]
    with pytest.raises(InputError, match="empty"):
        subject.generate([""], Decoding())


def test_options_are_read() -> None:
    """Every default is written out in the settings; prices make costs."""
    options = chat_options({"price_in": "2", "price_out": "8", "shots": "4"})
    assert options.cost(1_000_000, 500_000) == 6
    assert options.spec_options == {"shots": "4"}
    assert Chat("m", "http://127.0.0.1:1", options=options).settings["shots"] == 4
