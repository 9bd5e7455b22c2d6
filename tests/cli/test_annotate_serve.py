"""``lexiscope annotate serve`` and the verbs around a running study, with a real server on this machine."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import Result

from lexiscope.annotation.store import open_study
from lexiscope.annotation.study_file.definition import Codes, Payment, Platform, RatingsSection, StudyDefinition
from lexiscope.annotation.study_file.definition_file import definition_yaml
from lexiscope.annotation.study_file.template import draft_definition
from lexiscope.cli.annotate import VERBS
from lexiscope.core.response import ResponseTable
from lexiscope.datasets.mini_relatedness import load
from lexiscope.items.read.importer import import_items

Run = Callable[..., Result]


def write_study(folder: Path, *, ready: bool = True, **changes: object) -> StudyDefinition:
    """A small study of mini items beside its item file."""
    rows = ["item_id,sentence_1,sentence_2,target,same_sense"]
    for item in load("en").items[:12]:
        first, second = item.usages
        same = str(item.conditions["same_sense"]).lower()
        rows.append(f'{item.item_id},"{first.text}","{second.text}",{first.target},{same}')
    (folder / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    items = import_items(folder / "items.csv", dataset="study", language="en").items
    draft = draft_definition(items, task="relatedness", items_file="items.csv", language="en", name="study")
    wanted: dict[str, object] = {
        "texts": draft.texts.model_copy(update={"consent": "I agree."}),
        "ethics": "A test: nobody is asked.",
        "codes": Codes(completion="AAA", screen_out="BBB", no_consent="CCC"),
        "payment": Payment(amount=3, minutes=15),
    }
    made = draft.model_copy(update=(wanted if ready else {}) | changes)
    (folder / "study.yaml").write_text(definition_yaml(made), encoding="utf-8")
    return made


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[str, list[str]]]:
    """A server in a process of its own: its address, and what it has said."""
    command = [sys.executable, "-m", "lexiscope", "annotate", "serve", "study.yaml", "--port", "0", *options]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        said: list[str] = []
        try:
            for line in process.stdout:
                said.append(line)
                if line.startswith("Ctrl-C"):
                    break
            yield re.findall(r"http://[\d.:]+", "".join(said))[0], said
        finally:
            process.send_signal(signal.SIGINT)
            said += process.stdout.readlines()
            assert process.wait(timeout=30) == 0, "".join(said)


def ready(address: str) -> httpx.Response:
    """The state of a server that may need a moment after it has said its address."""
    for _ in range(50):
        try:
            return httpx.get(f"{address}/health")
        except httpx.ConnectError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def test_a_study_is_served_and_looked_at(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links are printed once; looking works beside the server, changing is refused; a second server is refused. The
    export of a large study says that it takes long."""
    write_study(tmp_path)
    with served(tmp_path) as (address, said):
        text = "".join(said)
        assert f"{address}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}" in text
        assert f"{address}/researcher/setup/" in text
        assert ready(address).json()["status"] == "running"
        landed = httpx.get(f"{address}/", params={"PROLIFIC_PID": "p1"}, follow_redirects=True)
        assert "I agree." in landed.text
        found = json.loads(run("annotate", "status", "study", "--json").output)
        assert found["states"] == {"invited": 1}
        assert [one["places"] for one in found["lists"]] == [10]
        assert run("annotate", "verify", "study").exit_code == 0
        refused = run("annotate", "pause", "study")
        assert (refused.exit_code, "dashboard" in refused.output) == (1, True)
        second = run("annotate", "serve", "study.yaml", "--port", "0")
        assert (second.exit_code, "another process" in second.output) == (1, True)
        exported = run("annotate", "export", "study", "--out", "exported")
        assert exported.exit_code == 0, exported.output
        assert "p1" not in (tmp_path / "exported" / "participants.csv").read_text(encoding="utf-8").split(",")
        monkeypatch.setattr(open_study, "CHECKED_AT_ONCE", 0)
        large = run("annotate", "export", "study", "--out", "exported")
        assert large.output == "This study is large. A million judgments take about a minute.\n" + exported.output
    assert "Server stopped. All answers are saved." in "".join(said)
    assert "p1" not in "".join(said), "no id of a participant is logged"
    assert (tmp_path / "study" / "items.csv").read_bytes() == (tmp_path / "items.csv").read_bytes()


def test_changes_while_no_server_runs(run: Run, tmp_path: Path) -> None:
    """Pause, resume, close, lab links, a new set-up link, forgetting, backup and restore, from the study's folder."""
    write_study(tmp_path, platform=Platform(kind="lab"))
    with served(tmp_path) as (_, said):
        assert "annotate invite" in " ".join("".join(said).split())
    for verb, status in (("pause", "paused"), ("resume", "running"), ("close", "closed")):
        assert f"The study is {status}" in run("annotate", verb, "study").output
    links = run("annotate", "invite", "study.yaml", "--n", 3).output.split()
    assert len(set(links)) == 3
    assert all(link.startswith("http://127.0.0.1:8000/t/") for link in links)
    assert "/researcher/setup/" in run("annotate", "password", "study").output
    who = "nobody"
    assert run("annotate", "forget", "study", who).exit_code == 1
    copied = run("annotate", "backup", "study")
    assert copied.exit_code == 0, copied.output
    copy = next((tmp_path / "study" / "backups").glob("*.sqlite"))
    again = run("annotate", "restore", "again", copy, "--key", "study/secret.key")
    assert again.exit_code == 0, again.output
    assert run("annotate", "restore", "study", copy).exit_code == 1, "a database is never overwritten"


def test_the_list_of_the_platform(run: Run, tmp_path: Path) -> None:
    """A submission that the platform calls approved, of somebody who never finished, is a difference."""
    write_study(tmp_path)
    with served(tmp_path) as (address, _):
        ready(address)
        httpx.get(f"{address}/", params={"PROLIFIC_PID": "5f1e2d3c4b5a69788796a5b4"}, follow_redirects=True)
    head = "Submission id,Participant id,Status,Completion code\n"
    line = "s1,5f1e2d3c4b5a69788796a5b4,APPROVED,AAA\n"
    (tmp_path / "platform.csv").write_text(head + line, encoding="utf-8")
    found = run("annotate", "reconcile", "study", "platform.csv", "--out", "differences.csv")
    assert found.exit_code == 0, found.output
    assert "1 submissions, 0 differences" not in found.output
    assert (tmp_path / "differences.csv").is_file()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--workers", "2"), "PostgreSQL"),
        (("--host", "0.0.0.0"), "without encryption"),
        (("--public-url", "http://study.example.org"), "without encryption"),
        (("--certificate", "c.pem"), "given together"),
    ],
)
def test_what_cannot_be_served(run: Run, tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    """Several writers of one SQLite file, plain HTTP beyond this machine, half a certificate: refused at once."""
    write_study(tmp_path)
    done = run("annotate", "serve", "study.yaml", *options)
    assert (done.exit_code, said in done.output) == (1, True), done.output
    assert not (tmp_path / "study").exists()


def test_an_unfinished_study_is_not_served(run: Run, tmp_path: Path) -> None:
    """Everything that `check` finds is listed at its line, and nothing is opened."""
    write_study(tmp_path, ready=False)
    done = run("annotate", "serve", "study.yaml", "--port", "0")
    assert done.exit_code == 1
    assert "[E621] The text 'consent' is empty." in done.output
    assert "Not ready: 4 errors to fix." in done.output
    assert not (tmp_path / "study").exists()


def test_a_preview_shows_every_page(run: Run, tmp_path: Path) -> None:
    """Files that open without a server, also of a study whose texts are missing; nothing is stored."""
    write_study(tmp_path, ready=False)
    done = run("annotate", "preview", "study.yaml", "--out", "pages")
    assert done.exit_code == 0, done.output
    pages = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "pages").glob("*.html")}
    expected = {"consent", "about", "instructions", "list_1_1", "debrief", "end_finished", "end_screened_out"}
    assert {f"{name}.html" for name in expected} <= set(pages)
    assert "this text is missing" in pages["consent.html"]
    assert "catch" in pages["index.html"]
    style = re.search(r'href="(static/[^"?]+)', pages["consent.html"])
    assert style is not None
    assert (tmp_path / "pages" / style[1]).is_file()
    assert not (tmp_path / "study").exists()


def test_help_needs_no_server_and_no_database(imported: Callable[..., set[str]], run: Run) -> None:
    """The list of verbs imports none of them, and each line is the first of that verb's own help."""
    assert imported(["annotate", "--help"], ("sqlalchemy", "starlette", "uvicorn", "pyarrow", "jinja2")) == set()
    for verb, (_, line) in VERBS.items():
        assert line in " ".join(run("annotate", verb, "--help").output.split())


def test_simulated_people_go_through_the_server(run: Run, tmp_path: Path) -> None:
    """A rehearsal through the server prints what it found and writes an export in which everybody is simulated."""
    write_study(tmp_path, ratings=RatingsSection(per_item=3))
    done = run("annotate", "simulate", "study.yaml", "--through-server", "--dropout", 0, "--careless", 0, "--out", "x")
    assert done.exit_code == 0, done.output
    assert "One rehearsal through the server" in done.output
    kinds = {json.loads(line)["participant_kind"] for line in (tmp_path / "x" / "judgments.jsonl").open()}
    assert kinds == {"simulated"}
    for name in ("ratings", "responses"):
        table = ResponseTable.read_parquet(tmp_path / "x" / f"{name}.parquet")
        assert table.unique("subject_kind") == ("simulated",), name
    agreed = run("agree", "x/ratings.csv", "--scale", 1, 5)
    assert agreed.exit_code == 0, agreed.output
    assert "simulated participants" in agreed.stderr
    assert run("annotate", "simulate", "study.yaml", "--people", 3).exit_code == 2
    assert not (tmp_path / "study").exists()
