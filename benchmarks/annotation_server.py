"""The server of a study under load: participants who think for some seconds, save an answer and get the next page.

    pip install 'lexiscope[annotate]'
    python benchmarks/annotation_server.py --people 300 --think 3 --seconds 60
    python benchmarks/annotation_server.py --people 50 --think 0 --seconds 20        (saturation)
    python benchmarks/annotation_server.py --people 100 --think 1 --bare             (what HTTP itself costs)
    python benchmarks/annotation_server.py --slow-fsync 5                            (a disk that is 5 ms slower)

The server runs in a process of its own on a loopback port, the participants in this one (plain sockets, kept open).
Printed are the 50th, 99th percentile and maximum of saving and of the next page, answers a second, errors, the CPU
time of the server's process per answer (saving and the next page together), and the growth of its memory.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import (
    CatchSection,
    Codes,
    DesignSection,
    LeaseSection,
    RatingsSection,
    StudyDefinition,
    StudyTexts,
)
from lexiscope.annotation.study_file.freeze import freeze
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import ServerSettings
from lexiscope.annotation.web.server import create_app
from lexiscope.annotation.web.serving import spare_the_collector
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

ITEMS = 100
HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')


def study(n_items: int = ITEMS, *, lists: int = 1, per_item: int = 1000) -> tuple[StudyDefinition, tuple[Item, ...]]:
    """Pairs of sentences on some lists, by default one of 100 pairs with places for everybody."""
    items = []
    for number in range(n_items):
        word = f"word{number}"
        texts = (
            f"Near the old mill there stood a {word} by the road.",
            f"She had never seen a {word} as large as that.",
        )
        usages = tuple(Usage(text, text.index(word), text.index(word) + len(word), lemma=word) for text in texts)
        items.append(Item(f"i{number}", "bench", usages))
    definition = StudyDefinition(
        name="bench",
        task="relatedness",
        language="en",
        design=DesignSection(lists=lists),
        ratings=RatingsSection(per_item=per_item),
        catch=CatchSection(per_list=0),
        lease=LeaseSection(minutes=600),
        texts=StudyTexts(title="t", consent="I agree.", instructions="Judge.", debrief="Thanks."),
        codes=Codes(completion="A", screen_out="B", no_consent="C"),
        ethics="none needed: nobody takes part",
    )
    return definition, tuple(items)


def serve(port: int, folder: Path) -> None:
    """Run the server until it is told to stop."""
    frozen = freeze(*study())
    url = f"http://127.0.0.1:{port}"
    with Store.open(folder, frozen.record) as store:
        app = App.of(frozen, store, ServerSettings(url, port=port))
        made = create_app(app)
        spare_the_collector()
        uvicorn.run(made, host="127.0.0.1", port=port, log_level="error", access_log=False)


def serve_bare(port: int) -> None:
    """Serve a page and an acknowledgement of the usual size that cost nothing to make: what HTTP itself costs."""
    page = "x" * 5200

    async def get(request: Request) -> Response:
        return HTMLResponse(page)

    async def post(request: Request) -> Response:
        await request.body()
        number = int(request.path_params["position"]) + 1
        return JSONResponse({"next": f"/trial/trials/{number}"})

    path = "/trial/trials/{position:int}"
    app = Starlette(routes=[Route(path, get, methods=["GET"]), Route(path, post, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


# -- participants -----------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What was measured. Seconds."""

    saves: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    errors: int = 0


Answered = tuple[int, dict[str, str], str]
"""Status, headers, text."""


class Browser:
    """One connection that is kept open, and one cookie."""

    def __init__(self, port: int) -> None:
        self.port, self.cookie = port, ""

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, method: str, path: str, body: str = "", accept: str = "text/html") -> Answered:
        try:
            return await self._ask(method, path, body, accept)
        except (ConnectionError, asyncio.IncompleteReadError):
            # the server closes what was idle for some seconds; a browser opens another connection and asks again
            await self.open()
            return await self._ask(method, path, body, accept)

    async def _ask(self, method: str, path: str, body: str, accept: str) -> Answered:
        head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\naccept: {accept}\r\n"
        head += f"cookie: {self.cookie}\r\n" if self.cookie else ""
        if method == "POST":
            head += f"content-type: application/x-www-form-urlencoded\r\ncontent-length: {len(body)}\r\n"
        self.writer.write((head + "\r\n" + body).encode())
        raw = await self.reader.readuntil(b"\r\n\r\n")
        lines = raw.decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)}
        text = await self.reader.readexactly(int(headers.get("content-length", 0)))
        if "set-cookie" in headers:
            self.cookie = headers["set-cookie"].partition(";")[0]
        return int(lines[0].split()[1]), headers, text.decode()


async def begin(port: int, number: int, *, bare: bool) -> tuple[Browser, str, str]:
    """Go to the first trial."""
    browser = Browser(port)
    await browser.open()
    if bare:
        return browser, "/trial/trials/0", (await browser.ask("GET", "/trial/trials/0"))[2]
    await browser.ask("GET", f"/?PROLIFIC_PID=p{number}")
    _, _, page = await browser.ask("GET", "/now")
    fields = dict(HIDDEN.findall(page)) | {"consent": "yes"}
    await browser.ask("POST", "/consent", urlencode(fields))
    _, _, page = await browser.ask("GET", "/now")
    await browser.ask("POST", "/begin", urlencode(dict(HIDDEN.findall(page))))
    _, headers, _ = await browser.ask("GET", "/now")
    _, _, page = await browser.ask("GET", headers["location"])
    return browser, headers["location"], page


async def answer(browser: Browser, path: str, page: str, tally: Tally) -> tuple[str, str]:
    """Save one answer and get the next page."""
    fields = dict(HIDDEN.findall(page))
    name = "value-" + path.removeprefix("/trial/").replace("/", "-")
    begun = time.perf_counter()
    status, _, told = await browser.ask("POST", path, urlencode(fields | {name: "3"}), "application/json")
    saved = time.perf_counter()
    if status != 200:
        tally.errors += 1
        return path, page
    path = told.split('"')[3]
    status, _, page = await browser.ask("GET", path)
    tally.saves.append(saved - begun)
    tally.pages.append(time.perf_counter() - saved)
    tally.errors += status != 200
    return path, page


async def participant(port: int, number: int, given: argparse.Namespace, tally: Tally, ready: asyncio.Barrier) -> None:
    """Answer until the time is over."""
    think = given.think
    browser, path, page = await begin(port, number, bare=given.bare)
    await ready.wait()
    rng = random.Random(number)
    await asyncio.sleep(rng.uniform(0, think))
    deadline = time.perf_counter() + given.seconds
    due = time.perf_counter()
    while time.perf_counter() < deadline and path.startswith("/trial/"):
        path, page = await answer(browser, path, page, tally)
        due += rng.uniform(0.8, 1.2) * think
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
    browser.writer.close()


# -- measuring --------------------------------------------------------------------------------------------------


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, all threads."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Resident memory in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


async def load(port: int, pid: int, given: argparse.Namespace) -> None:
    tally = Tally()
    ready = asyncio.Barrier(given.people + 1)
    people = [asyncio.create_task(participant(port, n, given, tally, ready)) for n in range(given.people)]
    await ready.wait()
    cpu, begun, before = cpu_seconds(pid), time.perf_counter(), memory(pid)
    await asyncio.gather(*people)
    took = time.perf_counter() - begun
    n = len(tally.saves)
    print(
        f"{given.people} participants, {given.think:g} s thinking, {took:.0f} s: {n} answers, {n / took:.0f} a second"
    )
    for name, values in (("save", tally.saves), ("next page", tally.pages)):
        cuts = statistics.quantiles(values, n=100)
        print(
            f"{name}: median {cuts[49] * 1000:.1f} ms, p99 {cuts[98] * 1000:.1f} ms, most {max(values) * 1000:.1f} ms"
        )
    print(f"errors: {tally.errors}")
    print(f"CPU of the server: {(cpu_seconds(pid) - cpu) / n * 1000:.2f} ms per answer, its next page included")
    print(f"memory of the server: {before:.0f} MB, then {memory(pid):.0f} MB")


def slow_disk(milliseconds: float, folder: Path) -> dict[str, str]:
    """Return the environment of a process whose every fsync takes longer. Needs Linux and a C compiler (cc)."""
    if not milliseconds:
        return {}
    library = folder / "slow_fsync.so"
    source = Path(__file__).with_name("slow_fsync.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "LEXISCOPE_SLOW_FSYNC_MS": f"{milliseconds:g}"}


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--think", type=float, default=3.0, help="seconds between two answers of a participant")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--bare", action="store_true", help="measure a server that does nothing")
    parser.add_argument("--slow-fsync", type=float, default=0.0, metavar="MS", help="make every fsync so much slower")
    parser.add_argument("--serve", nargs=2, metavar=("PORT", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve_bare(int(given.serve[0])) if given.bare else serve(int(given.serve[0]), Path(given.serve[1]))
        return
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, *(["--bare"] if given.bare else []), "--serve", str(port)]
        environment = os.environ | slow_disk(given.slow_fsync, Path(folder))
        server = subprocess.Popen([*command, f"{folder}/study"], env=environment)
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            asyncio.run(load(port, server.pid, given))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)


if __name__ == "__main__":
    main()
