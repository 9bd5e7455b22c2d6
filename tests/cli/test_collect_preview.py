"""``lexiscope collect`` with chat models: the dry run, and what the summary says of replies that could not be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from .conftest import Run

ITEMS = (
    "sentence_1,sentence_2,target\nThe bank was steep.,The bank was muddy.,bank\nA bat flew.,The bat is wooden.,bat\n"
)


@pytest.fixture
def items(tmp_path: Path) -> Path:
    (tmp_path / "items.csv").write_text(ITEMS)
    return tmp_path / "items.csv"


@pytest.fixture
def endpoint() -> Iterator[str]:
    """A chat endpoint that rates the first word and refuses the second."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = "4" if "bank" in body["messages"][-1]["content"] else "I cannot rate this."
            content = json.dumps({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Keep the test's output quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def test_a_dry_run_sends_nothing(items: Path, run: Run, tmp_path: Path) -> None:
    """The first request and the most that it may cost, from an address where nobody listens; no folder is made."""
    chat = "chat:m@http://127.0.0.1:1/v1?repeats=3&price_in=1&price_out=2"
    command = ("collect", "--items", items.name, "--language", "en", "--out", "RUN", "--dry-run")
    result = run(*command, "--subject", chat, "--subject", "baseline:word_overlap", "--json")
    assert result.exit_code == 0, result.stderr
    asked, silent = json.loads(result.stdout)["costs"]
    assert (asked["url"], asked["n_requests"], asked["completion_tokens"]) == (
        "http://127.0.0.1:1/v1/chat/completions",
        6,
        96,
    )
    assert asked["request"]["model"] == "m"
    assert "**bank** was steep" in asked["request"]["messages"][-1]["content"]
    assert asked["cost"] == pytest.approx((asked["prompt_tokens"] + 2 * 96) / 1e6)
    assert (silent["subject"], silent["sends"], silent["probed"]) == ("baseline:word_overlap", False, 2)
    assert silent["device_hours"] > 0
    total = json.loads(result.stdout)["total"]
    assert (total["n_requests"], total["cost"]) == (6, asked["cost"])
    assert total["device_hours"] == asked["device_hours"] + silent["device_hours"]
    assert not (tmp_path / "RUN").exists()


def test_the_summary_counts_unreadable_replies(items: Path, run: Run, endpoint: str) -> None:
    """X08: the table that is printed says for each chat model what its replies came to."""
    command = ("collect", "--items", items.name, "--language", "en", "--out", "RUN")
    result = run(*command, "--subject", f"chat:m@{endpoint}", "--json")
    assert result.exit_code == 0, result.stderr
    (rating,) = [row for row in json.loads(result.stdout) if row["measure"] == "rating"]
    assert (rating["items"], rating["unanswered"], rating["replies"]) == (2, 1, "ok 1, refusal 1")


def test_the_printed_summary_is_readable(items: Path, run: Run, endpoint: str) -> None:
    """A long spec is a line of its own; the replies are counted once, not per measure; nothing is wider than needed."""
    spec = f"chat:a-model-with-a-long-name@{endpoint}?repeats=2&temperature=0.5&price_in=1&price_out=2"
    command = ("collect", "--items", items.name, "--language", "en", "--out", "RUN", "--quiet")
    result = run(*command, "--subject", spec, "--subject", "baseline:word_overlap")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    name = f"chat:a-model-with-a-long-name@{endpoint}?repeats=2&temperature=0.5"
    assert lines.count(name) == lines.count("baseline:word_overlap") == 1
    assert [line for line in lines if "replies" in line] == [
        "replies, full: ok 2, refusal 2",
        "paid: 4 replies, 0 + 0 tokens, cost 0; no request was lost",
    ]
    assert all(len(line) <= 80 for line in lines if line != name)
    assert sum("unanswered" in line for line in lines) == 2


def test_a_dry_run_counts_what_is_still_to_be_sent(items: Path, run: Run, endpoint: str) -> None:
    """Replies that the run folder keeps are not asked again: after half a run, half is left; nothing is written."""
    command = ("collect", "--items", items.name, "--language", "en", "--out", "RUN")
    chat = f"chat:m@{endpoint}"
    stopped = run(*command, "--subject", f"{chat}?max_calls=1")
    assert "the limit of 1 calls is reached" in stopped.stderr
    (left,) = json.loads(run(*command, "--subject", chat, "--dry-run", "--json").stdout)["costs"]
    assert (left["n_requests"], left["n_kept"]) == (1, 1)
    assert "**bat** flew" in left["request"]["messages"][-1]["content"]
    assert run(*command, "--subject", chat).exit_code == 0
    (done,) = json.loads(run(*command, "--subject", chat, "--dry-run", "--json").stdout)["costs"]
    (_, silent) = json.loads(
        run(*command, "--subject", chat, "--subject", f"completions:m@{endpoint}", "--dry-run", "--json").stdout
    )["costs"]
    assert (silent["n_requests"], silent["cost"]) == (None, None)
    assert "cannot be counted without a request" in silent["assumption"]
    assert (done["n_requests"], done["n_kept"], done["prompt_tokens"], done["request"]) == (0, 2, 0, {})
    assert done["cost"] == 0


def test_the_printed_costs_are_readable(items: Path, run: Run, tmp_path: Path) -> None:
    """A table for each subject, what was assumed, the first request, and the total; what is not known is said."""
    command = ("collect", "--items", items.name, "--language", "en", "--out", "RUN", "--dry-run")
    free, paid = "chat:free@http://127.0.0.1:1/v1", "chat:paid@http://127.0.0.1:1/v1?price_in=1000&price_out=1000"
    result = run(*command, "--subject", free, "--subject", paid, "--subject", "baseline:word_overlap")
    assert result.exit_code == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    rows = [line for line in lines if line[:2] == ["relatedness", "full"]]
    assert [row[2:4] for row in rows] == [["2", "0"], ["2", "0"], ["0", "0"]]
    assert rows[0][6] == "unknown"
    assert float(rows[1][6]) == pytest.approx((int(rows[1][4]) + int(rows[1][5])) / 1000, rel=1e-3)
    assert lines[-1][:2] == ["4", "0"]
    assert lines[-1][4] == "unknown"
    assert "one per 4 characters" in result.stdout
    assert '"model": "paid"' in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines() if '"content"' not in line)
    assert not (tmp_path / "RUN").exists()
