"""An export, made by a separate process: participants do not wait for it, and it ends with its server."""

from __future__ import annotations

import asyncio
import multiprocessing
import shutil
import tempfile
import zipfile
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.row_check import study_from
from lexiscope.annotation.study_file.study_folder import open_large_snapshot
from lexiscope.annotation.web.admin.summary import read_collected_for_export
from lexiscope.core.columnar.lean import save_memory
from lexiscope.core.errors import LexiscopeError, RunError

PACKED = "export.zip"
_LEVEL = 3
"""The level of compression: half of the time of the default, and a fifth more bytes."""


@dataclass(frozen=True, slots=True)
class FinishedExport:
    """An export that was made: its files with their sizes in bytes, and the number of participants in it."""

    files: tuple[tuple[str, int], ...]
    n_participants: int


async def export_in_process(study: FrozenStudy, folder: Path, *, store: Path, url: str | None = None) -> FinishedExport:
    """Make a study's export in another process; the zip :data:`PACKED` is in *folder* afterwards.

    *store* is the folder in which the study is stored, *url* its PostgreSQL database. Everything that the process
    writes is in *folder*, which is the caller's to remove. The process is killed where this is cancelled, and it ends
    by itself, removing *folder*, where the server is gone. Errors: :class:`RunError`.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    given = (theirs, folder, store, url)
    # no daemon: it has a process that checks rows; it is killed below in any case
    process = context.Process(target=_export, args=given, name="lexiscope-export", daemon=False)
    with closing(ours):
        # a thread that starts a process continues if this is cancelled: it is awaited, or its process would never end
        starting = asyncio.create_task(asyncio.to_thread(process.start))
        try:
            await asyncio.shield(starting)
            theirs.close()
            reply = await asyncio.to_thread(_converse, ours, study)
        finally:
            await asyncio.wait({starting})
            theirs.close()
            process.kill()
            await asyncio.to_thread(process.join)
    if isinstance(reply, FinishedExport):
        return reply
    raise RunError("the export failed", why=reply)


def _converse(ours: Connection, study: FrozenStudy) -> FinishedExport | str:
    try:
        # the study is larger than a pipe: given at the start, it would be waited for if the process ended before
        ours.send(study)
        reply: FinishedExport | str = ours.recv()
    except (EOFError, ConnectionError):
        return "its process ended before it was done"
    return reply


# -- in the other process ---------------------------------------------------------------------------------------------


def _export(server: Connection, folder: Path, store: Path, url: str | None) -> None:
    save_memory()
    study = study_from(server, gone=lambda: _remove(folder))
    # copies of the database have platform ids: they are deleted with the folder, also if this process is killed
    tempfile.tempdir = str(folder)
    name = study.definition.name
    try:
        with _Packing(folder / PACKED, name) as packing, open_large_snapshot(study, store, url=url) as (copy, confirm):

            def finish() -> None:
                packing.finish()
                confirm()

            collected = read_collected_for_export(study, copy)
            package = write_export(collected, folder / name, confirm=finish, written=packing.add)
        sizes = tuple((file, (package.folder / file).stat().st_size) for file in package.files)
    except (LexiscopeError, OSError) as error:
        server.send(f"{type(error).__name__}: {error}")
    else:
        server.send(FinishedExport(sizes, package.n_participants))


class _Packing:
    """A zip with one folder, to which a thread adds files while others are written."""

    def __init__(self, path: Path, folder: str) -> None:
        self._archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
        self._thread, self._folder = ThreadPoolExecutor(1), folder
        self._files: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._archive.close()

    def add(self, path: Path, name: str) -> None:
        """Add a file, which is read until :meth:`finish`."""
        self._files.append(self._thread.submit(self._archive.write, path, f"{self._folder}/{name}"))

    def finish(self) -> None:
        """Wait until all files are packed. Errors: :class:`OSError`."""
        for file in self._files:
            file.result()


def _remove(folder: Path) -> None:
    # under another name first: what is being written there would come back
    gone = folder.with_name(f"{folder.name}.gone")
    with suppress(OSError):
        folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
