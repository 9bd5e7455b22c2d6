"""Served models: what each kind of endpoint gives, what it is refused for, and what happens when a server stumbles.

The servers run in this process on a loopback port; they answer in the form of vLLM, of llama.cpp's server and of the
OpenAI API as their sources and issue threads have it (named in ``_prompt_scores.py`` and ``completions.py``).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from lexiscope.core.errors import CapabilityError, InputError, LexiscopeError, RunError, SpecError, SubjectError
from lexiscope.core.subject import Decoding, SubjectSpec, capabilities
from lexiscope.subjects.endpoint import completions
from lexiscope.subjects.endpoint.completions import Completions
from lexiscope.subjects.local._generation import seed_of
from lexiscope.subjects.local.causal_lm import CausalLM

MODEL = "small"
TEXTS = ["A ship sails home", "A shop sells ships", "The ship", "Home is the sailor", "A ship sails home"]
KEY = "sk-loopback-0123456789abcdef"
Body = dict[str, Any]
Answer = tuple[int, Any]


def tokens_of(text: str) -> list[str]:
    return re.findall(r" ?[^ ]+| ", text)


def value_of(before: str, token: str) -> float:
    """A made-up log-probability that depends on all that stands to the left."""
    return -(1 + zlib.crc32(f"{before}|{token}".encode()) % 1000 / 250)


def expected(text: str, *, bos: str = "") -> list[float]:
    tokens = tokens_of(text)
    values = [value_of(bos + "".join(tokens[:n]), token) for n, token in enumerate(tokens)]
    return values if bos else [float("nan"), *values[1:]]


class Vllm:
    """Answers as vLLM does: echo, prompt_logprobs, add_special_tokens; the settings make it stumble."""

    def __init__(self, **settings: Any) -> None:
        self.bos = settings.get("bos", "<s>")
        self.settings = settings
        self.asked: list[Body] = []
        self.headers: list[dict[str, str]] = []

    def __call__(self, path: str, body: Body, headers: dict[str, str]) -> Answer:
        self.headers.append(headers)
        if path.endswith("/models"):
            root = self.settings.get("root", "org/small")
            return 200, {"data": [{"id": MODEL, "root": root, "created": time.time_ns()}]}
        if body.get("model") != MODEL:
            return 404, {"error": {"message": f"The model `{body.get('model')}` does not exist.", "code": 404}}
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        self.asked.append(body)
        listed = [self.listed(prompt, body) for prompt in prompts]
        pairs = enumerate(zip(prompts, listed, strict=True))
        choices = [self.choice(n, prompt, found, body) for n, (prompt, found) in pairs]
        usage = {"prompt_tokens": sum(len(tokens) for tokens, _ in listed)}
        return 200, {"model": MODEL, "system_fingerprint": "fp_1", "choices": choices, "usage": usage}

    def listed(self, prompt: str, body: Body) -> tuple[list[str], list[float | None]]:
        named = bool(self.bos) and prompt.startswith(self.bos)
        honoured = self.settings.get("honours", True)
        added = bool(self.bos) and (body.get("add_special_tokens", True) or not honoured)
        before = [self.bos] * (added + named)
        tokens = [*before, *tokens_of(prompt.removeprefix(self.bos) if named else prompt)]
        values = [value_of("".join(tokens[:n]), token) if n else None for n, token in enumerate(tokens)]
        return tokens, values

    def choice(self, number: int, prompt: str, found: tuple[list[str], list[float | None]], body: Body) -> Body:
        tokens, values = found
        generated = f" {prompt.split()[0]}!{body.get('seed', '')}"
        choice: Body = {"index": number, "text": generated, "finish_reason": "length", "logprobs": None}
        if body.get("echo") and body.get("logprobs") is not None and self.settings.get("echo", True):
            more = int(body["max_tokens"] > 0)
            # vLLM's offsets are sums of the lengths of token strings, the special token's included
            offsets = [sum(map(len, tokens[:n])) for n in range(len(tokens) + more)]
            listed = {"tokens": tokens + [generated] * more, "token_logprobs": values + [-0.5] * more}
            choice |= {"text": prompt, "logprobs": {**listed, "text_offset": offsets}}
        if body.get("prompt_logprobs") is not None and self.settings.get("prompt_logprobs", True):
            choice["prompt_logprobs"] = [
                None if value is None else entries(token, value) for token, value in zip(tokens, values, strict=True)
            ]
        return choice


def asked_of(server: Vllm) -> list[str]:
    """All prompts that a server was sent, those of one request one by one."""
    prompts = [body["prompt"] for body in server.asked]
    return [each for prompt in prompts for each in (prompt if isinstance(prompt, list) else [prompt])]


def entries(token: str, value: float) -> Body:
    """One position in vLLM's own form: the most probable token, and the prompt's where that is another."""
    best = {"11": {"logprob": -0.1, "rank": 1, "decoded_token": " best"}}
    return {str(zlib.crc32(token.encode()) % 900 + 100): {"logprob": value, "rank": 7, "decoded_token": token}, **best}


Behaviour = Callable[[str, Body, dict[str, str]], Answer]


@pytest.fixture
def serve() -> Iterator[Callable[[Behaviour], str]]:
    """Return a function that serves a behaviour on a loopback port and gives its base URL."""
    servers: list[ThreadingHTTPServer] = []

    def start(behaviour: Behaviour) -> str:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, body: Body) -> None:
                status, answer = behaviour(self.path, body, dict(self.headers))
                if status == 0:
                    self.close_connection = True
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
                    return
                headers = answer.pop("headers", {}) if isinstance(answer, dict) else {}
                content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def do_GET(self) -> None:
                self.answer({})

            def do_POST(self) -> None:
                self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def log_message(self, *args: Any) -> None:
                """Keep the test's output quiet."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/v1"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def subject_at(url: str, options: str = "") -> Completions:
    quick = "backoff=0.01&retries=3"
    return completions.load(
        SubjectSpec.parse(f"completions:{MODEL}@{url}?{quick}" + (f"&{options}" if options else ""))
    )


def values_of(subject: Completions, **kwargs: Any) -> dict[str, list[float]]:
    return {
        text: each.log_probabilities.tolist() for text, each in zip(TEXTS, subject.score(TEXTS, **kwargs), strict=True)
    }


def assert_expected(values: dict[str, list[float]], *, bos: str = "") -> None:
    for text, found in values.items():
        np.testing.assert_allclose(found, expected(text, bos=bos), atol=1e-12, rtol=0)


class Caching(Vllm):
    """Gives a text that comes after another one with the same beginning numbers that are off by ``error``."""

    def __init__(self, error: float, **settings: Any) -> None:
        super().__init__(**settings)
        self.error = error
        self.beginnings: set[str] = set()

    def listed(self, prompt: str, body: Body) -> tuple[list[str], list[float | None]]:
        tokens, values = super().listed(prompt, body)
        off = self.error if prompt[:60] in self.beginnings and len(prompt) > 60 else 0.0
        self.beginnings.add(prompt[:60])
        return tokens, [*values[:-1], None if values[-1] is None else values[-1] - off]


@pytest.mark.parametrize("settings", [{}, {"echo": False}])
def test_numbers_that_depend_on_the_order_are_refused(
    serve: Callable[[Behaviour], str], settings: dict[str, Any], tmp_path: Path
) -> None:
    """Eight texts with a common beginning in two orders, twice; nothing is asked of the items, and nothing kept."""
    server = Caching(0.01, **settings)
    with pytest.raises(CapabilityError, match="depend on the order of requests") as caught:
        subject_at(serve(server)).score(TEXTS, work=tmp_path)
    assert "a token differs by 0.01 nats, which is more than 0.0001" in str(caught.value)
    assert "--no-enable-prefix-caching" in str(caught.value)
    assert not set(TEXTS) & set(asked_of(server))


@pytest.mark.parametrize("settings", [{}, {"echo": False}])
def test_rounding_does_not_count_as_order(serve: Callable[[Behaviour], str], settings: dict[str, Any]) -> None:
    """Below 1e-4 nats the numbers are the same; the check is made once per subject."""
    server = Caching(0.00005, **settings)
    subject = subject_at(serve(server))
    assert_expected(values_of(subject))
    asked = asked_of(server)
    assert [asked.count(text) for text in completions.ORDER_TEXTS] == [4] * 8
    subject.score(["A new text"])
    assert len(asked_of(server)) == len(asked) + 1


# -- the numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["", "batch=1", "batch=3&parallel=2"])
def test_scores_by_echo(serve: Callable[[Behaviour], str], options: str) -> None:
    """vLLM's echo: every text has its own numbers and offsets, the first token none; a text is asked once."""
    server = Vllm()
    subject = subject_at(serve(server), options)
    assert_expected(values_of(subject))
    scores = subject.score(["A ship sails"])[0]
    assert [("A ship sails")[a:b] for a, b in zip(scores.starts, scores.ends, strict=True)] == ["A", " ship", " sails"]
    assert [asked_of(server).count(text) for text in dict.fromkeys(TEXTS)] == [1, 1, 1, 1]
    assert subject.settings["served"]["form"] == "echo"


def test_scores_by_prompt_logprobs(serve: Callable[[Behaviour], str]) -> None:
    """vLLM's own form: the prompt's token is the one of higher rank; texts go one by one, as none shows its first."""
    server = Vllm(echo=False)
    subject = subject_at(serve(server))
    assert_expected(values_of(subject))
    assert subject.settings["served"]["form"] == "prompt_logprobs"
    assert not any(isinstance(body["prompt"], list) for body in server.asked)


@pytest.mark.parametrize("echo", [True, False])
def test_a_policy_with_bos(serve: Callable[[Behaviour], str], echo: bool) -> None:
    """policy=bos asks for special tokens: the first token is scored, the special one is not listed."""
    subject = subject_at(serve(Vllm(echo=echo)), "policy=bos")
    assert_expected(values_of(subject), bos="<s>")
    assert all(scores.starts[0] == 0 for scores in subject.score(TEXTS))


def test_a_named_bos_token(serve: Callable[[Behaviour], str]) -> None:
    """A server that adds nothing can be given the token's text; it is checked to be read as one token."""
    adds_nothing = Vllm(bos="<e>")
    adds_nothing.listed = lambda prompt, body: Vllm.listed(adds_nothing, prompt, body | {"add_special_tokens": False})  # type: ignore[method-assign]
    url = serve(adds_nothing)
    with pytest.raises(CapabilityError, match="cannot serve bos=yes"):
        subject_at(url, "policy=bos").score(TEXTS)
    assert_expected(values_of(subject_at(url, "policy=bos&bos_token=<e>")), bos="<e>")
    with pytest.raises(CapabilityError, match="cannot be told"):
        subject_at(url, "policy=bos&bos_token=<unknown>").score(TEXTS)


def test_a_server_that_adds_a_token_whatever_is_asked(serve: Callable[[Behaviour], str]) -> None:
    """bos=no is refused where the special token stays in front, and says which; bos=yes is served."""
    url = serve(Vllm(honours=False))
    with pytest.raises(CapabilityError, match="puts '<s>' before every text: it cannot serve bos=no"):
        subject_at(url).score(TEXTS)
    assert_expected(values_of(subject_at(url, "policy=bos")), bos="<s>")


def test_the_first_token_without_bos_is_never_scored(serve: Callable[[Behaviour], str]) -> None:
    """Some servers write a number where there can be none: nothing stands before the first token."""
    found = subject_at(serve(changed(lambda listed: listed["token_logprobs"].__setitem__(0, 0.0)))).score(TEXTS[:1])
    assert np.isnan(found[0].log_probabilities).tolist() == [True, False, False, False]


def test_it_agrees_with_the_model_itself(serve: Callable[[Behaviour], str], tiny: Callable[[str], Path]) -> None:
    """A served model and the same one as causal_lm give the same numbers and offsets, fragments of letters included."""
    local = CausalLM(str(tiny("gpt2")))
    tokenizer = Tokenizer.from_file(str(tiny("gpt2") / "tokenizer.json"))

    def served(path: str, body: Body, headers: dict[str, str]) -> Answer:
        if path.endswith("/models"):
            return 200, {"data": [{"id": MODEL}]}
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        choices = []
        for number, scores in enumerate(local.score(prompts)):
            ids = tokenizer.encode(prompts[number], add_special_tokens=False).ids
            values = [None, *scores.log_probabilities.tolist()[1:]]
            listed = {"tokens": [tokenizer.decode([token]) for token in ids], "token_logprobs": values}
            choices.append({"index": number, "text": prompts[number], "logprobs": listed})
        return 200, {"choices": choices}

    texts = ["¿Quién guardó la lima, el ñandú?", "The bank — “the old oak tree” — 银行", "El corazón 😀 del parque"]
    assert any("\ufffd" in tokenizer.decode([token]) for text in texts for token in tokenizer.encode(text).ids)
    for one, other in zip(subject_at(serve(served)).score(texts), local.score(texts), strict=True):
        np.testing.assert_array_equal(one.log_probabilities, other.log_probabilities)
        assert one.starts.tolist() == other.starts.tolist()
        assert one.ends.tolist() == other.ends.tolist()


def test_order_and_company_change_nothing(serve: Callable[[Behaviour], str]) -> None:
    """Backwards, one by one, in batches: the same scores."""
    subject = subject_at(serve(Vllm()), "batch=2")
    forwards = values_of(subject)
    backwards = subject.score(TEXTS[::-1])
    for text, scores in zip(TEXTS[::-1], backwards, strict=True):
        np.testing.assert_array_equal(scores.log_probabilities, forwards[text])
        np.testing.assert_array_equal(subject.score([text])[0].log_probabilities, forwards[text])


def test_a_batch_in_another_order(serve: Callable[[Behaviour], str]) -> None:
    """Choices are matched by their index, wherever they stand; a wrong index is found by the text and refused."""
    server = Vllm()

    def shuffled(path: str, body: Body, headers: dict[str, str]) -> Answer:
        status, answer = server(path, body, headers)
        if "choices" in answer:
            answer["choices"].reverse()
        return status, answer

    def mislabelled(path: str, body: Body, headers: dict[str, str]) -> Answer:
        status, answer = shuffled(path, body, headers)
        for number, choice in enumerate(answer.get("choices", [])):
            choice["index"] = number
        return status, answer

    assert_expected(values_of(subject_at(serve(shuffled))))
    with pytest.raises(SubjectError, match="cannot be laid on this text"):
        subject_at(serve(mislabelled)).score(TEXTS)


def test_no_texts_ask_nothing(serve: Callable[[Behaviour], str]) -> None:
    """An empty list needs no server; an empty text is an error."""
    server = Vllm()
    subject = subject_at(serve(server))
    assert list(subject.score([])) == []
    assert server.headers == []
    with pytest.raises(InputError, match="empty"):
        subject.score([""])


# -- endpoints that cannot ------------------------------------------------------------------------------------


def llama_cpp(path: str, body: Body, headers: dict[str, str]) -> Answer:
    """llama.cpp's server: no echo; log-probabilities of generated tokens, in the newer form."""
    if path.endswith("/models"):
        return 200, {"data": [{"id": MODEL}]}
    if body.get("echo"):
        return 500, {"error": {"code": 500, "message": "Only no echo is supported", "type": "server_error"}}
    listed = {"content": [{"token": " sea", "logprob": -1.5, "top_logprobs": []}]}
    return 200, {"choices": [{"index": 0, "text": " sea", "logprobs": listed, "finish_reason": "length"}]}


def openai_today(path: str, body: Body, headers: dict[str, str]) -> Answer:
    """The OpenAI API: echo with log-probabilities refused, fields that it does not know refused too."""
    if path.endswith("/models"):
        return 200, {"data": [{"id": MODEL}]}
    unknown = [
        name for name in body if name in ("add_special_tokens", "prompt_logprobs", "top_k", "repetition_penalty")
    ]
    if unknown:
        return 400, {"error": {"message": f"Unrecognized request argument supplied: {', '.join(unknown)}"}}
    if body.get("echo") and body.get("logprobs"):
        said = "Setting 'echo' and 'logprobs' at the same time is not supported for this model."
        return 400, {"error": {"message": said, "type": "invalid_request_error"}}
    return 200, {"choices": [{"index": 0, "text": f" {body.get('seed')}", "finish_reason": "stop"}]}


def chat_only(path: str, body: Body, headers: dict[str, str]) -> Answer:
    return (200, {"data": []}) if path.endswith("/models") else (404, {"detail": "Not Found"})


def chat_model(path: str, body: Body, headers: dict[str, str]) -> Answer:
    said = "This is a chat model and not supported in the v1/completions endpoint. Use v1/chat/completions?"
    return (404, {}) if path.endswith("/models") else (404, {"error": {"message": said}})


def silent(path: str, body: Body, headers: dict[str, str]) -> Answer:
    return 200, {"choices": [{"index": 0, "text": " sea", "logprobs": None, "finish_reason": "length"}]}


def generated_only(path: str, body: Body, headers: dict[str, str]) -> Answer:
    listed = {"tokens": [" sea"], "token_logprobs": [-1.5], "text_offset": [0]}
    return 200, {"choices": [{"index": 0, "text": " sea", "logprobs": listed, "finish_reason": "length"}]}


def as_a_chat(path: str, body: Body, headers: dict[str, str]) -> Answer:
    return 200, {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}}]}


def zeros(path: str, body: Body, headers: dict[str, str]) -> Answer:
    status, answer = Vllm()(path, body, headers)
    for choice in answer.get("choices", []):
        if choice["logprobs"]:
            choice["logprobs"]["token_logprobs"] = [0.0] * len(choice["logprobs"]["tokens"])
    return status, answer


def no_entry(path: str, body: Body, headers: dict[str, str]) -> Answer:
    return 401, {"error": {"message": f"Incorrect API key provided: {headers.get('Authorization')}"}}


@pytest.mark.parametrize(
    ("behaviour", "error", "said"),
    [
        (llama_cpp, CapabilityError, r"Only no echo is supported.*generated tokens only"),
        (openai_today, CapabilityError, r"'echo' and 'logprobs' at the same time"),
        (chat_only, CapabilityError, r"no /completions: chat only"),
        (chat_model, CapabilityError, r"only be used for chat"),
        (silent, CapabilityError, r"gives no log-probabilities"),
        (generated_only, CapabilityError, r"log-probabilities of generated tokens only"),
        (as_a_chat, CapabilityError, r"answers as a chat does"),
        (zeros, CapabilityError, r"the log-probability 0"),
        (no_entry, SubjectError, r"refuses this key, or wants one"),
    ],
)
def test_what_cannot_score_is_refused_with_the_reason(
    serve: Callable[[Behaviour], str], behaviour: Behaviour, error: type[LexiscopeError], said: str
) -> None:
    """Before a text of the user is sent, the error says which thing the endpoint cannot do."""
    asked: list[Body] = []

    def watched(path: str, body: Body, headers: dict[str, str]) -> Answer:
        asked.append(body)
        return behaviour(path, body, headers)

    with pytest.raises(error, match=f"(?s){said}"):
        subject_at(serve(watched)).score(TEXTS)
    assert not any(text in json.dumps(body) for body in asked for text in TEXTS)


def test_a_wrong_model_name_is_corrected(serve: Callable[[Behaviour], str]) -> None:
    """The error has the nearest name that the server lists, or what it says itself."""
    url = serve(Vllm())
    with pytest.raises(SubjectError, match="did you mean 'small'"):
        completions.load(SubjectSpec.parse(f"completions:smal@{url}")).score(TEXTS)
    server = Vllm()
    unlisted = serve(lambda path, *rest: (404, {}) if path.endswith("/models") else server(path, *rest))
    with pytest.raises(SubjectError, match="has no model 'smal'"):
        completions.load(SubjectSpec.parse(f"completions:smal@{unlisted}")).score(TEXTS)


# -- answers that cannot be used ------------------------------------------------------------------------------


def changed(change: Callable[[Body], None]) -> Behaviour:
    """vLLM, but for texts of the user something in the answer is changed."""
    server = Vllm()

    def behaviour(path: str, body: Body, headers: dict[str, str]) -> Answer:
        status, answer = server(path, body, headers)
        if "ship" in json.dumps(body.get("prompt", "")):
            for choice in answer["choices"]:
                change(choice["logprobs"])
            answer.pop("usage")
        return status, answer

    return behaviour


def _cut_end(listed: Body) -> None:
    for name in ("tokens", "token_logprobs"):
        listed[name] = listed[name][:-1]


def _cut_beginning(listed: Body) -> None:
    listed["tokens"], listed["token_logprobs"] = listed["tokens"][1:], [None, *listed["token_logprobs"][2:]]


def _put(value: float | None) -> Callable[[Body], None]:
    def change(listed: Body) -> None:
        listed["token_logprobs"][1] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_cut_end, "cut off the end"),
        (_cut_beginning, "cut off the beginning"),
        (_put(None), "null, NaN or infinity"),
        (_put(float("nan")), "null, NaN or infinity"),
        (_put(float("-inf")), "null, NaN or infinity"),
        (_put(-9999.0), "stands for minus infinity"),
        (_put(0.5), "above 0"),
        (lambda listed: listed.update(tokens=[each.upper() for each in listed["tokens"]]), "cannot be laid"),
    ],
)
def test_an_unusable_answer_is_an_error_that_shows_the_text(
    serve: Callable[[Behaviour], str], change: Callable[[Body], None], said: str, tmp_path: Path
) -> None:
    """Truncation, holes and stand-ins never become scores, and nothing of such an answer is kept."""
    with pytest.raises(SubjectError, match=said) as caught:
        subject_at(serve(changed(change)), "batch=1&parallel=1").score(["A ship sails home"], work=tmp_path)
    assert "A ship sails home" in str(caught.value)
    kept = "".join(path.read_text() for path in tmp_path.rglob("*.jsonl"))
    assert "sails" not in kept


def test_a_token_count_that_does_not_fit_is_an_error(serve: Callable[[Behaviour], str]) -> None:
    """What the server counts and what it lists are the same tokens, or none is trusted."""
    server = Vllm()

    def miscounted(path: str, body: Body, headers: dict[str, str]) -> Answer:
        status, answer = server(path, body, headers)
        if "ship" in json.dumps(body.get("prompt", "")):
            answer["usage"]["prompt_tokens"] += 1
        return status, answer

    with pytest.raises(SubjectError, match="the server counts"):
        subject_at(serve(miscounted)).score(TEXTS)


def test_a_refused_text_of_a_batch_is_named(serve: Callable[[Behaviour], str]) -> None:
    """vLLM refuses a whole batch for one text that is too long: alone, it is found and shown."""
    server = Vllm()

    def short(path: str, body: Body, headers: dict[str, str]) -> Answer:
        if "sailor" in json.dumps(body.get("prompt", "")):
            return 400, {"object": "error", "message": "This model's maximum context length is 3 tokens."}
        return server(path, body, headers)

    with pytest.raises(SubjectError, match="maximum context length") as caught:
        subject_at(serve(short), "parallel=1").score(TEXTS)
    assert caught.value.place is not None
    assert caught.value.place.text == "Home is the sailor"


# -- servers that stumble -------------------------------------------------------------------------------------


class Stumbling:
    """Serves well, but every third request after the first five fails in one way first."""

    def __init__(self, fault: Callable[[], Answer]) -> None:
        self.server, self.fault = Vllm(), fault
        self.seen, self.faults = 0, 0
        self.lock = threading.Lock()

    def __call__(self, path: str, body: Body, headers: dict[str, str]) -> Answer:
        with self.lock:
            self.seen += 1
            stumbles = self.seen % 3 == 0
            self.faults += stumbles
        return self.fault() if stumbles else self.server(path, body, headers)


def _slow() -> Answer:
    time.sleep(0.5)
    return 200, {}


@pytest.mark.parametrize(
    "fault",
    [
        lambda: (500, {"message": "engine is dead"}),
        lambda: (502, b"<html>bad gateway</html>"),
        lambda: (503, {}),
        lambda: (429, {"error": {"message": "slow down"}, "headers": {"Retry-After": "0.02"}}),
        lambda: (429, {"headers": {"Retry-After": formatdate(time.time() - 5, usegmt=True)}}),
        lambda: (0, {}),
        lambda: (200, b'{"choices": [{"ind'),
        _slow,
    ],
    ids=["500", "502", "503", "429 with seconds", "429 with a date", "dropped", "cut off", "too slow"],
)
def test_a_stumbling_server_is_asked_again(serve: Callable[[Behaviour], str], fault: Callable[[], Answer]) -> None:
    """A request that failed on its way is sent again; the scores are the same as from a server that never failed."""
    server = Stumbling(fault)
    assert_expected(values_of(subject_at(serve(server), "batch=1&parallel=2&timeout=0.25")))
    assert server.faults >= 2


def test_the_server_says_how_long_to_wait(serve: Callable[[Behaviour], str]) -> None:
    """Retry-After is kept to, and where it is longer than anybody waits the error says so at once."""
    server = Stumbling(lambda: (429, {"headers": {"Retry-After": "0.3"}}))
    begun = time.monotonic()
    subject_at(serve(server), "batch=8").score(TEXTS)
    assert time.monotonic() - begun > 0.3
    later = Stumbling(lambda: (429, {"headers": {"Retry-After": "3600"}}))
    with pytest.raises(SubjectError, match="asks to wait 3600 seconds"):
        subject_at(serve(later)).score(TEXTS)


def test_a_server_that_never_answers_is_an_error(serve: Callable[[Behaviour], str]) -> None:
    """After the attempts that the options allow the error has the last reason."""
    with pytest.raises(SubjectError, match=r"(?s)after 4 attempts.*engine is dead"):
        subject_at(serve(lambda *_: (500, {"message": "engine is dead"}))).score(TEXTS)
    with pytest.raises(SubjectError, match="after 4 attempts"):
        subject_at("http://127.0.0.1:9/v1").score(TEXTS)


def test_no_more_requests_than_allowed_are_under_way(serve: Callable[[Behaviour], str]) -> None:
    """parallel is the most that the server ever sees at one time."""
    server, lock, now, most = Vllm(), threading.Lock(), [0], [0]

    def counted(path: str, body: Body, headers: dict[str, str]) -> Answer:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.02)
        answer = server(path, body, headers)
        with lock:
            now[0] -= 1
        return answer

    subject_at(serve(counted), "batch=1&parallel=3").score([f"A ship number {n}" for n in range(12)])
    assert most[0] == 3


# -- resume ---------------------------------------------------------------------------------------------------


def test_a_broken_call_continues_and_asks_no_text_twice(serve: Callable[[Behaviour], str], tmp_path: Path) -> None:
    """What was finished when the call broke off is kept; the next call asks the others only, and ends the same."""
    server = Vllm()
    failing = {"on": True}

    def breaking(path: str, body: Body, headers: dict[str, str]) -> Answer:
        if failing["on"] and "The ship" in json.dumps(body.get("prompt", "")):
            return 400, {"message": "broken off"}
        return server(path, body, headers)

    url = serve(breaking)
    with pytest.raises(SubjectError, match="broken off"):
        values_of(subject_at(url, "batch=1&parallel=1"), work=tmp_path)
    failing["on"] = False
    assert_expected(values_of(subject_at(url, "batch=2"), work=tmp_path))
    assert [asked_of(server).count(text) for text in dict.fromkeys(TEXTS)] == [1, 1, 1, 1]
    before = len(server.headers)
    subject = subject_at(url)
    assert_expected(values_of(subject, work=tmp_path))
    assert len(server.headers) == before
    assert subject.settings["served"]["form"] == "echo"


def test_another_model_behind_the_same_name_is_found(serve: Callable[[Behaviour], str], tmp_path: Path) -> None:
    """A run that was broken off does not go on with what the server has loaded since."""
    server = Vllm()
    url = serve(server)
    subject_at(url).score(TEXTS[:2], work=tmp_path)
    server.settings["root"] = "org/other"
    with pytest.raises(RunError, match="serves another model now"):
        subject_at(url).score(TEXTS, work=tmp_path)


def test_another_policy_never_takes_stored_scores(serve: Callable[[Behaviour], str], tmp_path: Path) -> None:
    """With and without a token before the text are different questions."""
    url = serve(Vllm())
    assert_expected(values_of(subject_at(url), work=tmp_path))
    assert_expected(values_of(subject_at(url, "policy=bos"), work=tmp_path), bos="<s>")


# -- claims ---------------------------------------------------------------------------------------------------

CHILD = """\
import sys
from pathlib import Path
from lexiscope.core import catalog
from lexiscope.core.subject import Decoding
subject, work = catalog.subject(sys.argv[1]), Path(sys.argv[2])
if sys.argv[3] == "score":
    subject.score(sys.argv[4:], work=work)
else:
    subject.generate(sys.argv[4:], Decoding(method="sample", max_tokens=3, n=1), work=work)
"""


@pytest.mark.parametrize(("what", "n_lost"), [("score", 1), ("generate", 3)])
def test_killed_between_request_and_reply(
    serve: Callable[[Behaviour], str], tmp_path: Path, what: str, n_lost: int
) -> None:
    """A request that was under way is sent again and counted as one that may have been paid; the answers are equal."""
    server, slow = Vllm(), threading.Event()
    slow.set()
    seen: list[object] = []

    def waiting(path: str, body: Body, headers: dict[str, str]) -> Answer:
        asked = body.get("prompt", "")
        if slow.is_set() and not set(TEXTS).isdisjoint(asked if isinstance(asked, list) else [asked]):
            seen.append(asked)
            while slow.is_set():
                time.sleep(0.01)
            return 0, {}
        return server(path, body, headers)

    url = serve(waiting)
    spec = f"completions:{MODEL}@{url}?backoff=0.01&batch=4&parallel=3"
    with subprocess.Popen([sys.executable, "-c", CHILD, spec, str(tmp_path / "work"), what, *TEXTS[:3]]) as child:
        while len(seen) < n_lost and child.poll() is None:
            time.sleep(0.01)
        child.kill()
    slow.clear()

    def answers(subject: Completions, work: Path) -> object:
        if what == "score":
            return [scores.log_probabilities.tolist() for scores in subject.score(TEXTS[:3], work=work)]
        return subject.generate(TEXTS[:3], Decoding(method="sample", max_tokens=3, n=1), work=work)

    again, whole = (completions.load(SubjectSpec.parse(spec)) for _ in range(2))
    # NaN, the first token of a text, is not equal to itself
    assert repr(answers(again, tmp_path / "work")) == repr(answers(whole, tmp_path / "whole"))
    assert (again.settings["possibly_paid"], whole.settings["possibly_paid"]) == (n_lost, 0)
    # no claim is left of what was answered; the file of the worker that was killed stays
    left = [path.name.split("-")[0] for path in (tmp_path / "work" / "claims").glob("*/*")]
    assert left == ["worker"]
    later = completions.load(SubjectSpec.parse(spec))
    answers(later, tmp_path / "work")
    assert later.settings["possibly_paid"] == n_lost


@pytest.mark.parametrize("batch", [1, 3])
def test_two_workers_never_send_the_same_texts(serve: Callable[[Behaviour], str], tmp_path: Path, batch: int) -> None:
    """Two that score the same texts in the same folder share the requests, and both have all scores."""
    server = Vllm()

    def slower(path: str, body: Body, headers: dict[str, str]) -> Answer:
        time.sleep(0.01)
        return server(path, body, headers)

    url, texts = serve(slower), [f"A ship number {n} sails" for n in range(20)]
    workers = [subject_at(url, f"parallel=3&batch={batch}") for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        scored = list(pool.map(lambda worker: worker.score(texts, work=tmp_path), workers))
    for scores in scored:
        for text, own in zip(texts, scores, strict=True):
            np.testing.assert_allclose(own.log_probabilities, expected(text), atol=1e-12, rtol=0)
    assert {asked_of(server).count(text) for text in texts} == {1}
    assert [worker.settings["possibly_paid"] for worker in workers] == [0, 0]


@pytest.mark.parametrize(("fault", "counts"), [((500, {}), True), ((0, {}), True), ((429, {}), False)])
def test_a_try_without_a_reply_may_have_been_paid(
    serve: Callable[[Behaviour], str], tmp_path: Path, fault: Answer, counts: bool
) -> None:
    """A server's error and a broken connection count, a server that is too busy has done nothing."""
    server, failed = Vllm(), set[str]()

    def failing_once(path: str, body: Body, headers: dict[str, str]) -> Answer:
        asked = body.get("prompt", "")
        if isinstance(asked, str) and asked in TEXTS and asked not in failed:
            failed.add(asked)
            return fault
        return server(path, body, headers)

    subject = subject_at(serve(failing_once), "batch=1")
    assert_expected(values_of(subject, work=tmp_path))
    assert subject.settings["possibly_paid"] == (4 if counts else 0)
    assert values_of(subject) is not None
    assert subject.settings["possibly_paid"] == 0, "another call, without a folder, lost nothing"


# -- continuations --------------------------------------------------------------------------------------------


def test_greedy_continuations(serve: Callable[[Behaviour], str], tmp_path: Path) -> None:
    """One request per prompt at temperature 0, without a seed; kept and not asked again."""
    server = Vllm()
    subject = subject_at(serve(server))
    found = subject.generate(["A ship", "The sea", "A ship"], Decoding(max_tokens=3), work=tmp_path)
    assert [[each.text for each in of_prompt] for of_prompt in found] == [[" A!"], [" The!"], [" A!"]]
    assert found[0][0].seed is None
    assert found[0][0].finish == "length"
    sent = [body for body in server.asked if body["prompt"] in ("A ship", "The sea")]
    assert len(sent) == 2
    assert all(body["temperature"] == 0 and body["max_tokens"] == 3 and body["top_p"] == 1 for body in sent)
    assert all(body["add_special_tokens"] is False for body in sent)
    before = len(server.headers)
    assert subject.generate(["The sea"], Decoding(max_tokens=3), work=tmp_path) == [found[1]]
    assert len(server.headers) == before


def test_sampled_continuations_have_their_own_seeds(serve: Callable[[Behaviour], str], tmp_path: Path) -> None:
    """Seed i of a prompt depends on the prompt and i alone; another n adds to what is kept."""
    server = Vllm()
    subject = subject_at(serve(server))
    decoding = Decoding(method="sample", n=3, top_k=10, seed=5, max_tokens=4, stop=("\n",))
    found = subject.generate(["A ship", "The sea"], decoding, work=tmp_path)
    seeds = [seed_of(5, "A ship", number) % 2**31 for number in range(3)]
    assert [each.seed for each in found[0]] == seeds
    assert [each.text for each in found[0]] == [f" A!{seed}" for seed in seeds]
    assert subject.generate(["The sea", "A ship"], decoding) == found[::-1]
    sent = [body for body in server.asked if "seed" in body]
    assert all(body["top_k"] == 10 and body["stop"] == ["\n"] for body in sent)
    assert "not known" in subject.settings["seeds"]
    more = Decoding(method="sample", n=4, top_k=10, seed=5, max_tokens=4, stop=("\n",))
    before = len(server.asked)
    assert subject.generate(["A ship"], more, work=tmp_path)[0][:3] == found[0]
    assert len(server.asked) - before == 1


def test_an_endpoint_without_scores_may_still_continue(serve: Callable[[Behaviour], str]) -> None:
    """Fields that a strict server rejects are left out and recorded, but never the one that the decoding needs."""
    subject = subject_at(serve(openai_today))
    (made,) = subject.generate(["A ship"], Decoding(method="sample", n=2))
    assert [each.finish for each in made] == ["end", "end"]
    assert subject.settings["not_accepted"] == ["add_special_tokens", "repetition_penalty", "top_k"]
    with pytest.raises(SubjectError, match="top_k"):
        subject.generate(["A ship"], Decoding(method="sample", n=2, top_k=10))
    assert subject_at(serve(llama_cpp)).generate(["A ship"], Decoding())[0][0].text == " sea"


# -- the key --------------------------------------------------------------------------------------------------


def test_the_key_is_sent_and_written_nowhere(
    serve: Callable[[Behaviour], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stands in the header of every request, in no file, setting, fact or id."""
    monkeypatch.setenv("LEXISCOPE_TEST_KEY", KEY)
    server = Vllm(root=f"org/small-{KEY}")
    subject = subject_at(serve(server), "key_env=LEXISCOPE_TEST_KEY")
    subject.score(TEXTS, work=tmp_path)
    subject.generate(TEXTS, Decoding(), work=tmp_path)
    assert {headers.get("Authorization") for headers in server.headers} == {f"Bearer {KEY}"}
    told = f"{subject.settings} {subject.facts} {subject.subject_id} {vars(subject)}"
    kept = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert KEY not in told + "".join(kept)
    assert "key_env=LEXISCOPE_TEST_KEY" in subject.subject_id


def test_no_error_shows_the_key(serve: Callable[[Behaviour], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that repeats the key in its message, and a key that is none: the text of the error has no key."""
    monkeypatch.setenv("LEXISCOPE_TEST_KEY", KEY)
    with pytest.raises(SubjectError, match=r"\[key\]") as caught:
        subject_at(serve(no_entry), "key_env=LEXISCOPE_TEST_KEY").score(TEXTS)
    assert KEY not in str(caught.value)
    monkeypatch.setenv("LEXISCOPE_TEST_KEY", f"{KEY}\nX: y")
    with pytest.raises(SubjectError, match="does not hold an API key") as caught:
        subject_at(serve(Vllm()), "key_env=LEXISCOPE_TEST_KEY").score(TEXTS)
    assert KEY not in str(caught.value)
    monkeypatch.delenv("LEXISCOPE_TEST_KEY")
    with pytest.raises(SubjectError, match="LEXISCOPE_TEST_KEY"):
        subject_at(serve(Vllm()), "key_env=LEXISCOPE_TEST_KEY").score(TEXTS)


@pytest.mark.parametrize("where", [f"http://h/v1?api_key={KEY}", f"http://me:{KEY}@h/v1", f"http://h/v1?key={KEY}"])
def test_a_secret_in_the_spec_is_refused(where: str) -> None:
    """A spec is written into every record: a key in it is refused, and the error does not repeat it."""
    with pytest.raises(SpecError) as caught:
        completions.load(SubjectSpec.parse(f"completions:{MODEL}@{where}"))
    assert KEY not in str(caught.value)


# -- what it is -----------------------------------------------------------------------------------------------


def test_its_spec_parses_back(serve: Callable[[Behaviour], str]) -> None:
    """Options that change numbers are in the id, those of speed are not; facts say what the server reports."""
    url = serve(Vllm())
    subject = subject_at(url, "policy=word&bos_token=<s>&parallel=2")
    assert subject.subject_id == f"completions:{MODEL}@{url}?bos=yes&first=scored&tokens=word&bos_token=<s>"
    again = completions.load(SubjectSpec.parse(subject.subject_id))
    assert again.subject_id == subject.subject_id
    assert again.policy.bos == subject.policy.bos
    assert again.facts == subject.facts
    assert subject.facts.revision == "served as small, root org/small, fingerprint fp_1, weights not checksummed"
    assert capabilities(subject) == completions.CAPABILITIES


@pytest.mark.parametrize(
    "spec",
    [
        "completions:m",
        "completions:m@ftp://h/v1",
        "completions:m@http://h/v1?speed=9",
        "completions:m@http://h/v1?batch=x",
    ],
)
def test_a_bad_spec_is_refused(spec: str) -> None:
    """No address, no server's address, an unknown option, no number: an error before anything is asked."""
    with pytest.raises(SpecError):
        completions.load(SubjectSpec.parse(spec))
