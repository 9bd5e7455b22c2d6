"""A run is a folder with one writer at a time; what is in it appears whole or not at all.

``run.json`` records how the run was made: versions, seeds, checksums, the command, and the counts in and out of
every filter. Nothing in it depends on when or where the run took place: that is in ``machine.json``, which is
not part of the result and differs between equal runs (design/0010-machine-json.md).
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import platformdirs

from lexiscope.core.code_file import sha256_of as sha256_of
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.foreign import json_text, parse_json, storable_text

DISTRIBUTIONS: tuple[str, ...] = (
    "lexiscope",
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "mixedlm",
    "matplotlib",
    "torch",
    "transformers",
    "peft",
    "tokenizers",
    "safetensors",
)


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write a file through a temporary neighbour, so that a killed process leaves the old file or the new one.

    Errors: :class:`RunError` where the disk is full or the place cannot be written to; the old file stays.
    """
    # a text may quote what a model said: UTF-8 has no lone surrogates
    data = storable_text(content).encode("utf-8") if isinstance(content, str) else content
    with atomic_file(path) as stream:
        stream.write(data)


_ROOM = "make room or choose another place; the same command again continues what was begun"


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Give a neighbour file to write to; it becomes *path* if the block ends well, and is removed if not.

    Errors: :class:`RunError` where the disk is full or the place cannot be written to; the old file stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _neighbour(path) as stream:
            yield stream
    except OSError as error:
        raise RunError("this file cannot be written", place=Place(str(path)), why=str(error), hint=_ROOM) from error


@contextmanager
def _neighbour(path: Path) -> Iterator[IO[bytes]]:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes the file private; a result is as readable as any other new file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def atomic_folder(folder: Path, *, keep_earlier: bool = False) -> Iterator[Path]:
    """Give a neighbour folder to write to; it becomes *folder* if the block ends well, and is removed if not.

    It replaces an earlier *folder*; with *keep_earlier*, one that another process has made meanwhile stays.
    Errors: :class:`RunError` where the disk is full or the place cannot be written to; the earlier folder stays.
    """
    what, hint = "this folder cannot be written", "make room or choose another place; nothing was written"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise RunError(what, place=Place(str(folder)), why=str(error), hint=hint) from error
    try:
        yield new
        # mkdtemp makes the folder private; a result is as readable as any other new folder
        new.chmod(0o777 & ~_umask())
        if not (keep_earlier and folder.exists()):
            _swap(new, folder)
    except OSError as error:
        if not (keep_earlier and folder.exists()):
            raise RunError(what, place=Place(str(folder)), why=str(error), hint=hint) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _swap(new: Path, folder: Path) -> None:
    """Put a finished folder in place of an earlier one. A rename takes no time: there is never half a folder."""
    if not folder.exists():
        new.rename(folder)
        return
    old = new.with_name(f"{new.name}.old")
    folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def csv_lines(
    header: Sequence[str], rows: Iterable[Sequence[object]], *, newline: str = "\n", quote_all: bool = False
) -> str:
    """Return a table as CSV text. A cell is quoted only if it must be, or *quote_all*; ``None`` is an empty cell.

    >>> csv_lines(["word", "note"], [["bank", None], ["a,b", "no"]]).splitlines()
    ['word,note', 'bank,', '"a,b",no']
    """
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator=newline, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL)
    writer.writerow(header)
    writer.writerows(rows)
    return sink.getvalue()


def csv_field(text: str) -> str:
    """Return a text as a cell of CSV, quoted for every separator that a reader may guess, and for space at its ends.

    A bare carriage return is quoted too: the writer of the standard library leaves it, and no reader gives it back.

    >>> print(csv_field("bank"), csv_field('a "b" c'), csv_field("a;b"), csv_field(" a"))
    bank "a ""b"" c" "a;b" " a"
    """
    needs_quotes = any(sign in text for sign in '",;\t\r\n') or text != text.strip()
    return '"' + text.replace('"', '""') + '"' if needs_quotes else text


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries that numbers depend on."""
    return dict(_installed())


@cache
def _installed() -> tuple[tuple[str, str], ...]:
    # what is loaded stays loaded: reading the packages' metadata anew would cost 0.1 s a run, and tell no more
    by_name = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            by_name[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return tuple(by_name.items())


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON with stable key order and line ends."""
    text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n"
    write_atomically(path, json_text(text))


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Errors: :class:`RunError` where the file is damaged or absent.
    """
    try:
        content = parse_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise unreadable_error(path, error) from error
    if not isinstance(content, dict):
        raise RunError("this file of a run does not hold a JSON object", place=Place(str(path)))
    return content


def unreadable_error(path: Path, error: Exception) -> RunError:
    """Return the error to raise where a file of a run is absent or damaged, as *error* says."""
    what, hint = "this file of a run cannot be read", "put back a copy of it, or run again into another folder"
    return RunError(what, place=Place(str(path)), why=str(error), hint=hint)


def manifest(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the sha256 of each named file of a run."""
    return {name: sha256_of(folder / name) for name in sorted(names)}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# -- one writer per folder: a lock that a killed process gives up by dying ------------------------------------------


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl
LOCK_NAME = ".lock"


@contextmanager
def folder_lock(folder: Path, *, mode: int = 0o777) -> Iterator[None]:
    """Hold the lock of a folder inside the block; make the folder with this *mode* where it is missing.

    The lock is the operating system's, so it ends with the process that holds it, however that process ends. Where the
    block fails before it has written anything, the lock's file goes, and with it every folder that was made for it.
    Errors: :class:`RunError` naming the other process, or a folder that cannot be made or written to.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    with _open_lock_file(folder, mode) as stream:
        if not take_lock(stream) or not _is_file_at(folder / LOCK_NAME, stream):
            stream.seek(0)
            raise RunError(
                f"another process ({stream.read().strip() or 'of unknown number'}) is writing to this run folder",
                place=Place(str(folder)),
                hint="wait until it has finished, or name another folder",
            )
        # the number is a courtesy to others: where the disk is full, the first file of the run says so
        with contextlib.suppress(OSError):
            os.ftruncate(stream.fileno(), 0)
            os.write(stream.fileno(), f"pid {os.getpid()}\n".encode("ascii"))
        try:
            yield
        except BaseException:
            # still under the lock, so that no other process can have begun to write here
            _remove_what_was_made(folder, missing)
            raise
        # no process holds it: the file is empty
        with contextlib.suppress(OSError):
            os.ftruncate(stream.fileno(), 0)


def _remove_what_was_made(folder: Path, made_folders: Sequence[Path]) -> None:
    """Remove the lock's file where nothing else is in the folder, and those folders that were *made_folders* for it."""
    # an open file cannot be removed on Windows: there the folder stays, with the lock alone in it
    with contextlib.suppress(OSError):
        if [path.name for path in folder.iterdir()] == [LOCK_NAME]:
            (folder / LOCK_NAME).unlink()
            for made_folder in made_folders:
                made_folder.rmdir()


def _is_file_at(path: Path, stream: IO[str]) -> bool:
    """Whether the file that was opened is the one at this path: a process that leaves may have removed it since."""
    with contextlib.suppress(OSError):
        return os.path.samestat(path.stat(), os.fstat(stream.fileno()))
    return False


def _open_lock_file(folder: Path, mode: int) -> IO[str]:
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
        return (folder / LOCK_NAME).open("a+", encoding="ascii")
    except OSError as error:
        where = Place(str(folder))
        why, hint = str(error), "name another folder with --out"
        raise RunError("this run folder cannot be made or written to", place=where, why=why, hint=hint) from error


def take_lock(stream: IO[Any]) -> bool:
    """Take the operating system's lock of an open file without waiting; return whether it was free.

    It is released when the file is closed, or its process ends. Errors: ``OSError`` where the file system has no locks.
    """
    with contextlib.suppress(BlockingIOError, PermissionError):
        if sys.platform == "win32":
            # far behind the content, which others must still be able to read
            stream.seek(1 << 20)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


# -- runs at an address ---------------------------------------------------------------------------------------------
# An address (s3://bucket/run) names a run that is computed, and read, in a working copy on this machine.

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+(::[a-z][a-z0-9+.-]+)*://", re.IGNORECASE)
_COLLAPSED = re.compile(r"([a-z][a-z0-9+.-]+):/(?=[^/])", re.IGNORECASE)


def is_address(out: str) -> bool:
    """Return whether the name of a run folder is an address.

    >>> is_address("s3://bucket/run"), is_address("S3://bucket/run"), is_address("runs/one"), is_address("C:/runs")
    (True, True, False, False)
    """
    return _SCHEME.match(out) is not None


def plain_address(out: str) -> str:
    """Return an address with its scheme in lower case, without a slash at its end.

    Errors: :class:`InputError` for an address that names no folder, and for a chain of addresses.

    >>> plain_address("S3://Bucket/run/")
    's3://Bucket/run'
    """
    scheme, _, rest = out.partition("://")
    if "::" in out:
        # a cache or an archive in between is not where a run is read back from
        what = "a run cannot be written through a chain of addresses (::)"
        raise InputError(what, place=Place(out), hint="give the address of the folder itself, as in s3://bucket/run")
    if not rest.strip("/"):
        raise InputError("this address names no folder", place=Place(out), hint="add one, as in s3://bucket/run")
    return f"{scheme.lower()}://{rest.rstrip('/')}"


def folder_of(out: str) -> Path:
    """Return the folder of this machine in which a run is computed: the folder itself, of an address its working copy.

    Working copies are kept with the user's data, by the address. Nothing is made.
    Errors: :class:`InputError` for an empty name, and those of :func:`plain_address`.
    """
    if not out.strip():
        raise InputError("the run folder has no name", hint="name one: --out my_run")
    if not is_address(out):
        return Path(out)
    name = hashlib.sha256(plain_address(out).encode()).hexdigest()[:24]
    return platformdirs.user_data_path("lexiscope") / "runs" / name


def missing_place(place: Path, what: str) -> InputError:
    """Return the error for a run that is not there; a place that was an address is named as one, with its copy.

    >>> print(missing_place(Path("runs/one"), "there is no such run folder"))
    runs/one: [E001] there is no such run folder
    """
    collapsed = _COLLAPSED.match(str(place))
    if collapsed is None:
        return InputError(what, code="E001", place=Place(str(place)))
    # a path has lost slashes of the address that it was made from
    rest = str(place)[collapsed.end() :]
    possible = [f"{collapsed[1].lower()}:{slashes}{rest}" for slashes in ("//", "///")]
    known = [(address, folder_of(address)) for address in possible if "::" not in rest]
    address, folder = next((entry for entry in known if entry[1].is_dir()), (possible[0], None))
    said = "this is an address; a run is read from its working copy on this machine"
    hint = f"name {folder}" if folder else "repeat the lexiscope collect that wrote to it: it names the working copy"
    return InputError(said, code="E001", place=Place(address), hint=hint)
