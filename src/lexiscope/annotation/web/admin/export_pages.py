"""The export: made on demand in a folder that is deleted after the zip was sent.

A separate process makes it: participants do not wait for it, and it ends with its server.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import zipfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.study_folder import open_snapshot
from lexiscope.annotation.web.admin.summary import read_collected_for_export
from lexiscope.annotation.web.admin.visit import Visit
from lexiscope.annotation.web.connections import ending_of
from lexiscope.annotation.web.replies import log_fault
from lexiscope.core.errors import LexiscopeError, RunError

PACKED = "export.zip"
_NICE = 10


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
    given = (theirs, study, folder, store, url)
    process = context.Process(target=_export, args=given, name="lexiscope-export", daemon=True)
    with closing(ours):
        # a thread that starts a process continues if this is cancelled: it is awaited, or its process would never end
        starting = asyncio.create_task(asyncio.to_thread(process.start))
        try:
            await asyncio.shield(starting)
            theirs.close()
            reply = await asyncio.to_thread(_receive_result, ours)
        finally:
            await asyncio.wait({starting})
            theirs.close()
            process.kill()
            await asyncio.to_thread(process.join)
    if isinstance(reply, FinishedExport):
        return reply
    raise RunError("the export failed", why=reply)


def _receive_result(ours: Connection) -> FinishedExport | str:
    try:
        reply: FinishedExport | str = ours.recv()
    except EOFError:
        return "its process ended before it was done"
    return reply


# -- in the other process ---------------------------------------------------------------------------------------------


def _export(server: Connection, study: FrozenStudy, folder: Path, store: Path, url: str | None) -> None:
    # Ctrl-C is for the server, which ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_server, args=(server, folder), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICE)
    # copies of the database have platform ids: they are deleted with the folder, also if this process is killed
    tempfile.tempdir = str(folder)
    name = study.definition.name
    try:
        with open_snapshot(study, store, url=url) as copy:
            package = write_export(read_collected_for_export(study, copy), folder / name)
        with zipfile.ZipFile(folder / PACKED, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in package.files:
                archive.write(package.folder / file, f"{name}/{file}")
        sizes = tuple((file, (package.folder / file).stat().st_size) for file in package.files)
    except (LexiscopeError, OSError) as error:
        server.send(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
    else:
        server.send(FinishedExport(sizes, package.n_participants))


def _end_with_server(server: Connection, folder: Path) -> None:
    """End when the server is gone: it never says anything, so all that can come is the end of the connection."""
    try:
        server.recv()
    except (EOFError, OSError):
        # under another name first: what is being written there would come back
        gone = folder.with_name(f"{folder.name}.gone")
        with suppress(OSError):
            folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        os._exit(1)


LOG = logging.getLogger("lexiscope.annotation")
_PIECE = 1 << 16


def export_page(visit: Visit, *, status: int = 200, said: str = "") -> Response:
    """Show what an export holds, and what the last one held."""
    people = visit.dashboard.people()
    return visit.page(
        "admin_export.html",
        here="export",
        status=status,
        said=said,
        n_people=len(people),
        last=visit.dashboard.last_export,
        keeps_texts=visit.dashboard.collects_texts,
    )


async def export(visit: Visit) -> Response:
    """Make the export in a separate process and send it as a zip; one at a time.

    It stops if the researcher leaves or the server ends. Its files are deleted in any case.
    """
    async with visit.dashboard.exporting:
        with ExitStack() as tidy:
            folder = Path(tempfile.mkdtemp(prefix="lexiscope_export_"))
            tidy.callback(shutil.rmtree, folder, ignore_errors=True)
            try:
                finished = await _export_unless_interrupted(visit, folder)
            except (LexiscopeError, OSError) as error:
                reference = log_fault(visit.request, error)
                LOG.error("error %s: %s", reference, str(error).partition("\n")[0])
                return await asyncio.to_thread(lambda: export_page(visit, status=500, said="export_failed"))
            if finished is None:
                return await asyncio.to_thread(lambda: export_page(visit, status=503, said="export_failed"))
            visit.dashboard.last_export = (datetime.now(UTC).isoformat(), finished.files)
            details = {"files": len(finished.files), "participants": finished.n_participants}
            await asyncio.to_thread(lambda: visit.dashboard.app.store.log("export", actor=visit.name, details=details))
            tidy.pop_all()
    packed = folder / PACKED
    name = f"{visit.dashboard.app.definition.name}_{datetime.now(UTC):%Y%m%d}.zip"
    safe = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "_" for letter in name)
    headers = {
        "content-disposition": f'attachment; filename="{safe}"',
        "content-length": str(packed.stat().st_size),
    }
    tidy_up = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return StreamingResponse(
        _stream_and_delete(packed, folder), media_type="application/zip", headers=headers, background=tidy_up
    )


async def _export_unless_interrupted(visit: Visit, folder: Path) -> FinishedExport | None:
    """Return the export; ``None`` if the client left or the server ends, after all tasks have ended."""
    app = visit.dashboard.app
    making = asyncio.create_task(export_in_process(app.study, folder, store=app.store.folder, url=app.postgres))
    events = (_wait_for_disconnect(visit.request), ending_of(visit.request.scope).wait())
    interruptions = [asyncio.create_task(event) for event in events]
    try:
        await asyncio.wait({making, *interruptions}, return_when=asyncio.FIRST_COMPLETED)
        return making.result() if making.done() else None
    finally:
        for task in (making, *interruptions):
            task.cancel()
        await asyncio.gather(making, *interruptions, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    """Wait until the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _stream_and_delete(packed: Path, folder: Path) -> AsyncIterator[bytes]:
    try:
        with packed.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, _PIECE):
                yield piece
    finally:
        # an interrupted download leaves no files either
        shutil.rmtree(folder, ignore_errors=True)
