"""Downloading a file from its publisher: at most three tries, verified before it appears where others look."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from lexiscope.core.dataset import DataFile
from lexiscope.core.errors import DataError
from lexiscope.core.run import sha256_of

TRIES = 3
# A server that sends more than this, or for longer, is broken: no file of the catalog comes near.
MAX_BYTES = 1 << 30
MAX_SECONDS = 1800.0
TIMEOUT_SECONDS = 30.0


def download(file: DataFile, target: Path, *, hint: str = "", wait: Callable[[float], object] = time.sleep) -> None:
    """Download a file to *target*, where it appears only whole and verified.

    Until then it lies in the folder ``partial`` beside the data folder. *wait* is called with the seconds to pause
    before another try. Errors: :class:`DataError` with the address, what went wrong, and *hint*.
    """
    waiting = _waiting_room(file, target)
    waiting.mkdir(parents=True, exist_ok=True)
    _sweep(waiting)
    with tempfile.TemporaryDirectory(dir=waiting) as folder:
        part = Path(folder) / target.name
        _try_thrice(file, part, hint=hint, wait=wait)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(part, target)


def _waiting_room(file: DataFile, target: Path) -> Path:
    """Return the folder ``partial`` beside the folder below which ``file.path`` is ``target``."""
    root = target
    for _ in Path(file.path).parts:
        root = root.parent
    return root.parent / "partial"


def _try_thrice(file: DataFile, part: Path, *, hint: str, wait: Callable[[float], object]) -> None:
    for attempt in range(1, TRIES + 1):
        problem, final = _try(file, part)
        if not problem:
            return
        if final or attempt == TRIES:
            what = f"{file.url} was not downloaded ({attempt} {'try' if attempt == 1 else 'tries'})"
            raise DataError(what, why=problem, hint=hint)
        wait(0.5 * 2.0**attempt)


def _try(file: DataFile, part: Path) -> tuple[str, bool]:
    """Download once; return what went wrong (empty = nothing) and whether another try is useless."""
    import pooch
    import requests

    download = pooch.HTTPDownloader(
        timeout=TIMEOUT_SECONDS, headers={"Accept-Encoding": "identity"}, chunk_size=1 << 16
    )
    try:
        with part.open("wb") as stream:
            download(file.url, _Bounded(stream), None)
        return _content_problem(file, part), False
    except requests.HTTPError as error:
        code = 0 if error.response is None else error.response.status_code
        return f"the server answered: {error}", 400 <= code < 500 and code != 429
    except requests.TooManyRedirects as error:
        return str(error), True
    except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        return f"no connection, or it was lost: {error}", False
    except (requests.RequestException, _TooMuch, OSError) as error:
        return str(error), isinstance(error, _TooMuch)


def _content_problem(file: DataFile, part: Path) -> str:
    with part.open("rb") as stream:
        head = stream.read(512).lstrip().lower()
    page = (
        "a web page came instead of the file, perhaps a login" if head.startswith((b"<!doctype html", b"<html")) else ""
    )
    actual = sha256_of(part)
    if file.sha256 is not None and actual != file.sha256:
        return f"sha256 expected {file.sha256}, actual {actual}{page and f' ({page})'}"
    # without a pinned checksum the least that can be asked is that it is no page and not empty
    return page or ("" if head else "the file is empty")


class _TooMuch(Exception):
    """The server sends without end."""


class _Bounded:
    """A binary stream that refuses to grow without end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left, self._until = stream, MAX_BYTES, time.monotonic() + MAX_SECONDS

    def write(self, data: bytes) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise _TooMuch(f"the server sent more than {MAX_BYTES} bytes")
        if time.monotonic() > self._until:
            raise _TooMuch(f"the server took more than {MAX_SECONDS:g} seconds")
        return self._stream.write(data)

    def flush(self) -> None:
        self._stream.flush()


def _sweep(waiting: Path) -> None:
    """Remove what killed downloads left behind, once no download can still be using it."""
    for folder in waiting.iterdir():
        try:
            if time.time() - folder.stat().st_mtime > 2 * MAX_SECONDS * TRIES:
                for file in folder.iterdir():
                    file.unlink(missing_ok=True)
                folder.rmdir()
        except FileNotFoundError:
            continue  # another process swept it
