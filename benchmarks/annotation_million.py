"""A study with a million judgments: opening it, the pages of its dashboard, its export, by the clock and in memory.

    pip install 'lexiscope[annotate]'
    python benchmarks/annotation_million.py --people 12500               (80 trials each: a million judgments)
    python benchmarks/annotation_million.py --people 12500 --keep FOLDER (the study is made once and used again)

Participants are made up by rule. Their answers are written as the store writes them, with seals, but those of a
participant at once. The server then runs in a process of its own on a loopback port. Printed are the seconds until it
answers, first with every row checked before (as after a kill), then with the file as it was closed; of each page of the
researcher (the first time, and the median of five more) and of the export, which is a process of its own; the resident
memory of the server before and after, and the largest of the export. Measure on a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import http.cookiejar
import itertools
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import uvicorn

from annotation_server import HIDDEN, free_port, memory, study
from lexiscope.annotation.store import seals
from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.mark import MARK_NAME
from lexiscope.annotation.store.places import stamp
from lexiscope.annotation.store.record import Phase, State, StoredTrial
from lexiscope.annotation.store.schema import ANSWERS
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.freeze import FrozenStudy, freeze
from lexiscope.annotation.web.admin.passwords import Passwords
from lexiscope.annotation.web.security import ServerSettings
from lexiscope.annotation.web.serving import application, open_app
from lexiscope.core.columnar.lean import save_memory

LISTS, TRIALS, TOGETHER = 100, 80, 50
PAGES = ("", "/participants", "/items", "/exclusions", "/results", "/comments", "/export", "/log")
NAME, PASSWORD = "ana", "three geese by noon"


def large_study(n_people: int) -> FrozenStudy:
    """One hundred lists of 80 pairs of sentences, and a rule that compares raters."""
    definition, items = study(LISTS * TRIALS, lists=LISTS, per_item=-(-n_people // LISTS))
    return freeze(definition.model_copy(update={"exclusions": ("low_agreement",)}), items)


def fill(frozen: FrozenStudy, folder: Path, n_people: int) -> None:
    """Write the answers of participants who finished, many at a time: a commit then serves many of them."""
    items = {item.item_id: item for item in frozen.record.items}
    lists = {str(number): part for number, part in enumerate(frozen.design.lists, start=1)}
    ids = itertools.count(1)

    def take_part(number: int) -> None:
        # as long as the ids of recruiting platforms: each is searched for in what people wrote
        who = store.invite(hashlib.sha256(str(number).encode()).hexdigest()[:24])
        store.record_consent(who, text="I agree.", version="1")
        store.change_state(who, State.QUALIFIED, reason="no test")
        plan = [StoredTrial(item.item_id, (1, 0), "left") for item in lists[store.take_place(who).list_id]]
        store.lay_out(who, Phase.TRIALS, plan)
        store.change_state(who, State.ACTIVE, reason="go")

        def answer(connection: sa.Connection) -> None:
            at = stamp(store._clock())
            rows = [_row(who, position, trial, items[trial.item_id], at) for position, trial in enumerate(plan)]
            for row in rows:
                row["id"] = next(ids)
                seals.unsealed_rows(connection).append(("answers", (row["id"],), seals.digest("answers", row)))
            connection.execute(ANSWERS.insert(), rows)

        store._write(answer)
        store.change_state(who, State.FINISHED, reason="done")
        if number % 1000 == 0:
            print(f"{number} of {n_people}", file=sys.stderr)

    with Store.open(folder, frozen.record, unsafe_fast=True) as store, ThreadPoolExecutor(TOGETHER) as pool:
        store.set_password(NAME, asyncio.run(Passwords().hash(PASSWORD)), actor="benchmark")
        for done in [pool.submit(take_part, number) for number in range(n_people)]:
            done.result()


def _row(who: str, position: int, trial: StoredTrial, item: object, at: str) -> dict[str, object]:
    """Return the row of an answer as the store makes it from a browser's."""
    # the item decides most, the participant a little: raters agree
    dice = int(trial.item_id[1:]) * 7 % 4 + (position + ord(who[-1])) % 2
    return {
        "participant_id": who,
        "item_id": trial.item_id,
        "phase": str(Phase.TRIALS),
        "client_key": f"k{position}",
        "revision": 0,
        "supersedes": None,
        "position": position,
        "next_position": position + 1,
        "measure": item.question.measure,  # type: ignore[attr-defined]
        "value": float(1 + dice),
        "option": None,
        "text": None,
        "guessed_word": None,
        "display_order": "[1, 0]",
        "side": trial.side,
        "shown_at": at,
        "answered_at": at,
        "rt_ms": 900.0 + dice,
        "rt_server_ms": 1000.0,
        "comment": f"A strange sentence, number {who}." if (position + ord(who[-1])) % 80 == 0 else None,
        "flags": "[]",
        "page_version": "1",
        "guideline_version": "1",
        "item_sha256": item.sha256,  # type: ignore[attr-defined]
    }


def serve(port: int, folder: str, n_people: int) -> None:
    """Run the server with the researchers' side until it is told to stop."""
    save_memory()
    frozen = large_study(n_people)
    # uvicorn raises the signal again that ended it: the study must be closed first
    signal.signal(signal.SIGTERM, lambda *_: None)
    with open_app(frozen, Path(folder), ServerSettings(f"http://127.0.0.1:{port}", port=port)) as app:
        uvicorn.run(application(app), host="127.0.0.1", port=port, log_level="error", access_log=False)


class Researcher:
    """A researcher who is logged in."""

    def __init__(self, port: int) -> None:
        self.root = f"http://127.0.0.1:{port}/researcher"
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(jar)
        fields = dict(HIDDEN.findall(self.get("/login").decode()))
        self.post("/login", fields | {"name": NAME, "password": PASSWORD})

    def get(self, path: str) -> bytes:
        with self.opener.open(self.root + path, timeout=600) as reply:
            return bytes(reply.read())

    def post(self, path: str, fields: dict[str, str]) -> bytes:
        request = urllib.request.Request(self.root + path, urlencode(fields).encode())
        request.add_header("Origin", self.root.removesuffix("/researcher"))
        with self.opener.open(request, timeout=1200) as reply:
            return bytes(reply.read())


@contextlib.contextmanager
def largest_of_each(pid: int) -> Iterator[dict[int, float]]:
    """Watch what a process starts: the list holds the largest resident memory of each such process, in MB."""
    largest: dict[int, float] = {}
    done, below = threading.Event(), {pid}

    def watch() -> None:
        while not done.wait(0.05):
            for entry in Path("/proc").iterdir():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    own, parent = int(entry.name), int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                    if parent in below:
                        below.add(own)
                        line = re.search(r"VmHWM:\s+(\d+)", (entry / "status").read_text())
                        largest[own] = max(largest.get(own, 0.0), int(line[1]) / 1024 if line else 0.0)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield largest
    finally:
        done.set()
        thread.join()


@contextlib.contextmanager
def running(folder: Path, n_people: int, how: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start the server and stop it again; print how long each takes."""
    port = free_port()
    begun = time.perf_counter()
    # its export is a process that imports what was started as a program: this file is not part of it
    program = f"from annotation_million import serve; serve({port}, {str(folder)!r}, {n_people})"
    server = subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parent)
    try:
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=600).read()
                break
            time.sleep(0.1)
        print(f"server answers after {time.perf_counter() - begun:.1f} s ({how}), {memory(server.pid):.0f} MB")
        yield server, port
    finally:
        begun = time.perf_counter()
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=300)
        print(f"server ended after {time.perf_counter() - begun:.1f} s")


def measure(folder: Path, n_people: int) -> None:
    (folder / MARK_NAME).unlink(missing_ok=True)
    with running(folder, n_people, "every row is checked first"):
        pass
    with running(folder, n_people, "as it was closed") as (server, port):
        researcher = Researcher(port)
        for page in PAGES:
            times = []
            for _ in range(6):
                started = time.perf_counter()
                researcher.get(page)
                times.append(time.perf_counter() - started)
            print(f"{page or '/':15} first {times[0]:.3f} s, then {statistics.median(times[1:]):.3f} s")
        started = time.perf_counter()
        while b"counting" in researcher.get("/results") and time.perf_counter() - started < 600:
            time.sleep(0.5)
        print(f"statistics ready after {time.perf_counter() - started:.1f} s more")
        print(f"memory of the server after the pages: {memory(server.pid):.0f} MB")
        fields = dict(HIDDEN.findall(researcher.get("/export").decode()))
        with largest_of_each(server.pid) as processes:
            started = time.perf_counter()
            packed = researcher.post("/export", fields)
        seconds, needed = time.perf_counter() - started, " and ".join(f"{most:.0f}" for most in processes.values())
        print(f"export {seconds:.1f} s, {len(packed) / 1e6:.0f} MB, memory of its processes {needed} MB")
        print(f"memory of the server after the export: {memory(server.pid):.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=12_500)
    parser.add_argument("--keep", type=Path, help="make the study in this folder, and use it if it is there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = (given.keep or Path(made)).absolute()
        if not (folder / "study").exists():
            started = time.perf_counter()
            fill(large_study(given.people), folder / "study", given.people)
            print(f"written in {time.perf_counter() - started:.0f} s")
        measure(folder / "study", given.people)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
