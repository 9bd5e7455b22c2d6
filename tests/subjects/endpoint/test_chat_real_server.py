"""A real server with a tiny model of random weights, on loopback, started and stopped by the test.

It is ``transformers serve``, which the test extra installs what it needs for (FastAPI), and the server below: the same
model with its chat template behind the standard library's HTTP server.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import transformers

from lexiscope.collect import collect_run, count_replies
from lexiscope.core.prompt import ChatQuestion, Message
from lexiscope.core.scale import Scale
from lexiscope.core.subject import Decoding, SubjectSpec
from lexiscope.subjects.endpoint.chat import Chat, load

from .. import served_chat_child
from ..chat_child import stories

TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'][-60:] }}\n{% endfor %}assistant:"


@pytest.fixture(scope="module")
def model(causal: Callable[[str], Path]) -> Path:
    """A tiny Llama with a chat template that keeps the end of each message: its context is short."""
    folder = causal("llama")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    return folder


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(url: str, server: subprocess.Popen[bytes], seconds: float = 120) -> None:
    for _ in range(int(seconds * 10)):
        assert server.poll() is None, "the server ended"
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"nothing answers at {url}")


@pytest.fixture(scope="module", params=["own", "transformers serve"])
def server(request: pytest.FixtureRequest, model: Path) -> Iterator[str]:
    """The base URL of a server of its own process; it is ended by its own pid."""
    port = free_port()
    own = [sys.executable, served_chat_child.__file__, str(model), str(port)]
    command = own
    if request.param != "own":
        if importlib.util.find_spec("fastapi") is None:
            pytest.skip("transformers serve needs FastAPI, which is not installed")
        program = str(Path(sys.executable).with_name("transformers"))
        command = [program, "serve", str(model), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(command, env=quiet, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            wait_for(f"http://127.0.0.1:{port}/health", child)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            child.terminate()
            try:
                child.wait(timeout=20)
            except subprocess.TimeoutExpired:
                child.kill()


def chat_at(url: str, model: Path, options: str = "") -> Chat:
    found = load(SubjectSpec("chat", str(model), f"{url}?backoff=0.05{options}"))
    assert isinstance(found, Chat)
    return found


def test_a_run_on_a_real_server(server: str, model: Path, tmp_path: Path) -> None:
    """Every item has its rows and its kind; tokens are counted; the finished run is read again from its files."""
    subject = chat_at(server, model, "&repeats=2")
    table = collect_run(stories(3), [subject], "plausibility", out=tmp_path)
    (counts,) = count_replies(table).values()
    assert sum(counts.values()) == 6
    assert len(table.where(measure="rating")) == 6
    record = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    account = record["subjects"][0]["settings"]["account"]
    assert (account["replies"], account["replies_without_token_counts"]) == (6, 0)
    assert account["prompt_tokens"] > 6
    before = (tmp_path / "responses.parquet").read_bytes()
    collect_run(stories(3), [subject], "plausibility", out=tmp_path)
    assert (tmp_path / "responses.parquet").read_bytes() == before


def test_greedy_replies_are_the_model_s_own(server: str, model: Path) -> None:
    """At temperature 0 the server says what the model says here, given its chat template."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    lm = transformers.AutoModelForCausalLM.from_pretrained(model)
    messages = [{"role": "user", "content": "The bank of the river"}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    ids = tokenizer(text, return_tensors="pt", add_special_tokens=False).input_ids
    made = lm.generate(ids, do_sample=False, max_new_tokens=6, pad_token_id=0)[0, ids.shape[1] :]
    expected = tokenizer.decode(made, skip_special_tokens=True)
    question = ChatQuestion((Message("user", "The bank of the river"),), scale=Scale(1, 5), max_tokens=6)
    ((reply,),) = chat_at(server, model).converse([question])
    assert reply.text.strip() == expected.strip()
    assert reply.finish in ("stop", "length")
    ((continued,),) = chat_at(server, model).generate(["The bank of the river"], Decoding(max_tokens=6))
    assert continued.text == reply.text
