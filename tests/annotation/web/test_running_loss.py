"""Issue 15, lost or damaged 1, 3, 5: a running server whose files or whose writer fail, and how a server ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from lexiscope.annotation.study_file.definition import RatingsSection

from ...cli.test_annotate_reconcile import come, opened
from ...cli.test_annotate_serve import write_study
from .made_web import JSON, form_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be moved there")
TESTS = Path(__file__).parents[2]


class Running:
    """``annotate serve`` in a process of its own, and the answers that it acknowledged."""

    def __init__(self, folder: Path) -> None:
        start = f"import runpy, sys; sys.path.insert(0, {str(TESTS)!r}); "
        start += "sys.argv = ['lexiscope', 'annotate', 'serve', 'study.yaml', '--port', '0']; "
        start += "runpy.run_module('annotation.web.failing_child', run_name='__main__')"
        self.study = folder / "study"
        self.process = subprocess.Popen(
            [sys.executable, "-c", start], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.said, self.url = "", ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if line.startswith("Researcher:"):
                self.url = line.split()[1].removesuffix("/researcher")
            if line.startswith("Ctrl-C"):
                break
        assert self.url, self.said
        self.acknowledged: dict[str, int] = {}

    def health(self) -> int:
        return httpx.get(f"{self.url}/health", timeout=20).status_code

    def end(self, *, seconds: float = 20, signals: int = 1) -> int:
        """Ask the process to stop and return its exit status."""
        for _ in range(signals):
            self.process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
        return self.wait(seconds)

    def wait(self, seconds: float = 20) -> int:
        said, _ = self.process.communicate(timeout=seconds)
        self.said += said
        return self.process.returncode


class Rater:
    """A participant at the first trial."""

    def __init__(self, running: Running, name: str) -> None:
        self.running, self.name = running, name
        self.browser = httpx.Client(base_url=running.url, follow_redirects=True, timeout=40)
        page = self.browser.get("/", params={"PROLIFIC_PID": name})
        for _ in range(20):
            if page.url.path.startswith("/trial/"):
                break
            action, fields = form_of(page.text)
            page = self.browser.post(action, data=fields | self.filled_in(page.text))
        self.page = page

    def filled_in(self, page: str) -> dict[str, str]:
        return {"consent": "yes"} if 'name="consent"' in page else {"native_speaker-about": "yes", "age-about": "30"}

    def rate(self, value: str = "3") -> httpx.Response:
        """Send the rating of the trial that is shown; where it is acknowledged, note it and go to the next."""
        action, fields = form_of(self.page.text)
        suffix = self.page.url.path.removeprefix("/trial/").replace("/", "-")
        said = self.browser.post(action, data=fields | {f"value-{suffix}": value}, headers=JSON)
        if said.status_code == 200:
            self.running.acknowledged[f"{self.name} {suffix}"] = 1
            self.page = self.browser.get("/now")
        return said


@contextmanager
def served(folder: Path) -> Iterator[Running]:
    if not (folder / "study.yaml").exists():
        write_study(folder, ratings=RatingsSection(per_item=1000))
    running = Running(folder)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.communicate(timeout=20)


def stored(file: Path) -> int:
    with closing(sqlite3.connect(file)) as database:
        return int(database.execute("SELECT count(*) FROM answers WHERE phase = 'trials'").fetchone()[0])


def refuses(running: Running, rater: Rater) -> None:
    """No answer is acknowledged: 503 that says so, again at the second attempt, and health knows."""
    for _ in range(2):
        said = rater.rate()
        assert (said.status_code, said.json()["error"]["code"]) == (503, "not_stored"), said.text
        assert "retry-after" in said.headers
    assert running.health() == 503


def launched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study with an answer, closed: its rows are in the database file and not in a log."""
    monkeypatch.chdir(folder)
    write_study(folder, ratings=RatingsSection(per_item=1000))
    with opened(folder) as store:
        come(store, "earlier", until="finished")
        store.backup()


def test_nothing_is_acknowledged_while_files_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database or its log moved away, deleted, or replaced under a running server: every answer gets a 503, /health
    too; the same file put back, answers are acknowledged again; the database holds each acknowledged one, once."""
    launched(tmp_path, monkeypatch)
    with served(tmp_path) as running:
        rater, study = Rater(running, "first"), running.study
        assert rater.rate().status_code == 200
        for name in ("study.sqlite", "study.sqlite-wal"):
            (study / name).rename(study / "elsewhere")
            refuses(running, rater)
            # another file at its place is not it: as a restored backup, or an empty one
            shutil.copyfile(min((study / "backups").glob("*.sqlite")), study / name)
            refuses(running, rater)
            (study / "elsewhere").replace(study / name)
            assert rater.rate().status_code == 200
        assert running.health() == 200
        # deleted for good: the server ends all the same
        (study / "study.sqlite").unlink()
        refuses(running, rater)
        assert running.end() == 0, running.said
        assert not (study / "study.sqlite").exists()


def write_over(file: Path) -> None:
    other = file.with_name("other")
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE notes AS SELECT randomblob(600000) AS note")
        database.commit()
    shutil.copyfile(other, file)


def cut(file: Path) -> None:
    os.truncate(file, 8192)


def scramble(file: Path) -> None:
    with file.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        for page in range(4096, size, 8192):
            stream.seek(page)
            stream.write(os.urandom(2048))


@pytest.mark.parametrize(
    "harm", [scramble, pytest.param(write_over, marks=pytest.mark.soak), pytest.param(cut, marks=pytest.mark.soak)]
)
def test_nothing_is_acknowledged_into_a_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    """Another program's bytes in the open database, page by page, over all of it, or its end cut off: the first answer
    after it and every later one gets a 503, and /health knows."""
    launched(tmp_path, monkeypatch)
    with served(tmp_path) as running:
        rater = Rater(running, "first")
        assert rater.rate().status_code == 200
        harm(running.study / "study.sqlite")
        refuses(running, rater)
        assert running.end() == 0, running.said


def test_the_writer_answers_whatever_fails(tmp_path: Path) -> None:
    """No memory in the middle of a transaction: every answer that waits gets a 503, none hangs; with memory again they
    are stored by the same process. A fault of the writer itself: 503 for those who wait, /health reports it, then the
    process ends with a message and status 1, for a supervisor to start it again. Nothing acknowledged is lost."""
    with served(tmp_path) as running:
        raters = [Rater(running, f"p{number}") for number in range(4)]
        (tmp_path / "seal").touch()
        with ThreadPoolExecutor(4) as pool:
            assert {said.status_code for said in pool.map(Rater.rate, raters)} == {503}
        assert (running.health(), running.process.poll()) == (503, None)
        (tmp_path / "seal").unlink()
        assert running.health() == 200
        assert [rater.rate().status_code for rater in raters] == [200] * 4
        (tmp_path / "gather").touch()
        # the writer waits in a call that began before: one answer passes yet
        last = [raters[0].rate().status_code for _ in range(3)]
        assert last in ([200, 503, 503], [503, 503, 503]), last
        assert running.health() == 503
        assert running.wait() == 1
        assert "the writer ended: made to fail" in running.said
        assert stored(running.study / "study.sqlite") == len(running.acknowledged)


def test_neither_connections_nor_a_lock_keep_a_server(tmp_path: Path) -> None:
    """SIGTERM while clients hold connections, idle and with half a request, and the writer waits for another program's
    lock: the process ends with status 0; the answer that waits is not acknowledged."""
    with served(tmp_path) as running:
        host, port = running.url.removeprefix("http://").split(":")
        held = [socket.create_connection((host, int(port))) for _ in range(5)]
        for one in held[1:]:
            one.sendall(f"POST /consent HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-length: 100\r\n\r\nhalf".encode())
        rater, codes = Rater(running, "first"), []
        with closing(sqlite3.connect(running.study / "study.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")

            def send() -> None:
                try:
                    codes.append(rater.rate().status_code)
                except httpx.HTTPError:
                    codes.append(0)

            sending = threading.Thread(target=send)
            sending.start()
            time.sleep(0.5)
            assert running.end() == 0, running.said
            sending.join(20)
            other.execute("ROLLBACK")
        for one in held:
            one.close()
        assert codes in ([0], [503], [500])
        assert stored(running.study / "study.sqlite") == 0


@pytest.mark.parametrize("signals", [2, pytest.param(1, marks=pytest.mark.soak)])
def test_a_thread_that_hangs_keeps_no_server(tmp_path: Path, signals: int) -> None:
    """A request whose thread never returns (an export, a disk that does not answer): the process ends by force, soon
    after a second SIGTERM, later after one, and says so."""
    with served(tmp_path) as running:
        (tmp_path / "invite").touch()
        with socket.create_connection(("127.0.0.1", int(running.url.rpartition(":")[2]))) as waiting:
            waiting.sendall(f"GET /?PROLIFIC_PID=somebody HTTP/1.1\r\nhost: {running.url[7:]}\r\n\r\n".encode())
            time.sleep(0.5)
            assert running.end(signals=signals) == 0, running.said
        assert "Stopped without waiting" in running.said
        (tmp_path / "invite").unlink()
    found = subprocess.run(
        [sys.executable, "-m", "lexiscope", "annotate", "status", "study", "--json"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(found.stdout)["status"] == "running"


def children_of(parent: int) -> list[str]:
    """The processes that a process has started and that are alive (Linux), as ``/proc`` names them."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            state, above = (entry / "stat").read_text(encoding="utf-8").rpartition(") ")[2].split()[:2]
            found += [entry.name] if int(above) == parent and state != "Z" else []
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are looked up in /proc")
def test_a_stopping_server_takes_its_export_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM while the dashboard's export is made: the process ends with status 0, none of its processes is left, and
    neither is the folder that the export was written to."""
    (tmp_path / "room").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "room"))
    with served(tmp_path) as running, httpx.Client(base_url=running.url, follow_redirects=True, timeout=60) as browser:
        link = next(word for word in running.said.split() if "/researcher/setup/" in word)
        words = {"name": "maria", "password": "four words of my own", "again": "four words of my own"}
        for address in (link, "/researcher/login"):
            action, fields = form_of(browser.get(address).text)
            assert browser.post(action or link, data=fields | words).status_code == 200
        action, fields = form_of(browser.get("/researcher/export").text)
        codes = []

        def ask() -> None:
            with suppress(httpx.HTTPError):
                codes.append(browser.post(action, data=fields).status_code)

        asking = threading.Thread(target=ask)
        asking.start()
        end = time.monotonic() + 60
        while not (children := children_of(running.process.pid)):
            assert time.monotonic() < end, "no export has begun"
            time.sleep(0.01)
        assert running.end() == 0, running.said
        asking.join(20)
        assert codes in ([], [503])
        while any(Path("/proc", child).exists() for child in children):
            assert time.monotonic() < end, "the export goes on without its server"
            time.sleep(0.02)
        assert list((tmp_path / "room").glob("lexiscope_export*")) == []
