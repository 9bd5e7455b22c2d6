"""Downloads: at most three tries, a clear error, and never an unverified file where others look."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lexiscope.core.dataset import DataFile, DatasetCard
from lexiscope.core.errors import DataError
from lexiscope.resources import fetch
from lexiscope.resources import fetch as downloading


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and no data folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("LEXISCOPE_DATA", raising=False)
    return fetch.cache_folder()


def _card(url: str, content: bytes | None) -> DatasetCard:
    sha256 = None if content is None else hashlib.sha256(content).hexdigest()
    file = DataFile("toy/table.csv", url, sha256)
    return DatasetCard("toy", "", "relatedness", "en", "CC0", "", "", "1", "download", "", (file,))


def _get(card: DatasetCard) -> tuple[str, list[float]]:
    """Return the error's text and the pauses between the tries."""
    pauses: list[float] = []
    with pytest.raises(DataError) as caught:
        fetch.get(card, wait=pauses.append)
    return str(caught.value), pauses


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_good_server(server: Any, content: bytes, cache: Path) -> None:
    """The file appears in the cache, and is not fetched a second time."""
    card, seen = _card(server.url("ok"), content), []
    paths = fetch.get(card, progress=lambda done, total: seen.append((done, total)))
    assert paths == (cache / "toy/table.csv",)
    assert paths[0].read_bytes() == content
    assert fetch.get(card) == paths
    assert (server.asked["ok"], seen) == (1, [(1, 1)])
    assert [row.status for row in fetch.file_states(card)] == ["ok"]
    assert _files(cache.parent) == [paths[0]]


def test_an_error_that_passes(server: Any, content: bytes, cache: Path) -> None:
    """After two server errors the third try succeeds, with longer and longer pauses between."""
    pauses: list[float] = []
    fetch.get(_card(server.url("twice_500"), content), wait=pauses.append)
    assert (cache / "toy/table.csv").read_bytes() == content
    assert server.asked["twice_500"] == 3
    assert pauses == sorted(set(pauses))
    assert len(pauses) == 2


FAULTS = {
    "missing": (1, "404"),
    "always_500": (3, "500"),
    "short": (3, "connection, or it was lost"),
    "dropped": (3, "connection, or it was lost"),
    "login": (3, "a web page came instead of the file"),
    "changed": (3, "sha256 expected"),
    "loop": (31, "redirects"),
}


# without a pinned checksum a changed file cannot be told from the right one
@pytest.mark.parametrize(
    ("fault", "pinned"),
    [(fault, pinned) for fault in FAULTS for pinned in (True, False) if pinned or fault != "changed"],
)
def test_a_bad_server_leaves_nothing(server: Any, content: bytes, cache: Path, fault: str, pinned: bool) -> None:
    """Each fault is a clear error that names the address and where to put the file; the cache stays empty."""
    requests, said = FAULTS[fault]
    url = server.url(fault, commit="" if pinned else "0" * 40)
    message, _ = _get(_card(url, content if pinned else None))
    assert [part for part in (url, said, "toy/table.csv", "LEXISCOPE_DATA") if part not in message] == []
    assert server.asked[fault] == requests
    assert _files(cache.parent) == []


def test_what_nothing_pins_is_not_downloaded(server: Any, cache: Path) -> None:
    """A file has a sha256, or its address a commit: otherwise nothing is asked of the server."""
    message, _ = _get(_card(server.url("ok"), None))
    assert "toy/table.csv is not pinned" in message
    assert (server.asked["ok"], _files(cache.parent)) == (0, [])


def test_a_wrong_checksum_shows_both(server: Any, content: bytes) -> None:
    """The expected and the actual sha256 are in the message."""
    message, _ = _get(_card(server.url("changed"), content))
    actual = hashlib.sha256(content.replace(b"3", b"4", 1)).hexdigest()
    assert hashlib.sha256(content).hexdigest() in message
    assert actual in message


def test_no_network(content: bytes, cache: Path) -> None:
    """Without a network the message says what to fetch and where to put it; with the file at hand nothing is asked."""
    card = _card("http://127.0.0.1:9/table.csv", content)
    message, pauses = _get(card)
    assert "put http://127.0.0.1:9/table.csv at toy/table.csv" in message
    assert len(pauses) == 2
    (cache / "toy").mkdir(parents=True)
    (cache / "toy/table.csv").write_bytes(content)
    assert fetch.get(card) == (cache / "toy/table.csv",)


def test_a_server_without_end(server: Any, content: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More bytes, or more time, than any data file needs end the download after one try."""
    monkeypatch.setattr(downloading, "MAX_BYTES", 1000)
    message, _ = _get(_card(server.url("ok"), content))
    assert "more than 1000 bytes" in message
    monkeypatch.setattr(downloading, "MAX_BYTES", 1 << 30)
    monkeypatch.setattr(downloading, "MAX_SECONDS", 0.2)
    message, _ = _get(_card(server.url("slow"), content))
    assert "more than 0.2 seconds" in message
    assert (server.asked["ok"], server.asked["slow"]) == (1, 1)
    assert _files(cache.parent) == []


_SCRIPT = """
import sys
from lexiscope.core.dataset import DataFile, DatasetCard
from lexiscope.resources import fetch
url, sha256 = sys.argv[1:]
file = DataFile("toy/table.csv", url, sha256)
fetch.get(DatasetCard("toy", "", "relatedness", "en", "CC0", "", "", "1", "download", "", (file,)))
"""


def _process(url: str, content: bytes) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _SCRIPT, url, hashlib.sha256(content).hexdigest()])


def test_two_processes_give_one_good_file(server: Any, content: bytes, cache: Path) -> None:
    """Two downloads of the same file at the same time both succeed and leave one verified file."""
    processes = [_process(server.url("slow"), content) for _ in range(2)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    assert _files(cache.parent) == [cache / "toy/table.csv"]
    assert (cache / "toy/table.csv").read_bytes() == content


def test_a_killed_download_leaves_nothing_that_is_used(server: Any, content: bytes, cache: Path) -> None:
    """Killed half-way, the cache has no file; the next call succeeds; what was left behind is swept in time."""
    process = _process(server.url("slow"), content)
    until = time.monotonic() + 60
    while not any(path.stat().st_size for path in _files(cache.parent)) and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    left = _files(cache.parent)
    assert [path.parent.parent.name for path in left] == ["partial"]
    assert _files(cache) == []
    os.utime(left[0].parent, (0, 0))
    fetch.get(_card(server.url("ok"), content))
    assert _files(cache.parent) == [cache / "toy/table.csv"]
