"""The export: made on demand in a folder that is deleted after the zip was sent."""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from lexiscope.annotation.web.admin.export_process import PACKED, FinishedExport, export_in_process
from lexiscope.annotation.web.admin.visit import Visit
from lexiscope.annotation.web.connections import ending_of
from lexiscope.annotation.web.replies import log_fault
from lexiscope.core.errors import LexiscopeError

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
                LOG.error("error %s: %s", reference, error)
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
