"""The export: made on demand into a folder that goes when the zip was sent."""

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

from lexiscope.annotation.web.admin.export_process import PACKED, FinishedExport, export_apart
from lexiscope.annotation.web.admin.visit import Visit
from lexiscope.annotation.web.connections import ending_of
from lexiscope.annotation.web.replies import logged
from lexiscope.core.errors import LexiscopeError

LOG = logging.getLogger("lexiscope.annotation")
_PIECE = 1 << 16


async def export_page(visit: Visit) -> Response:
    """Show what an export holds, and what the last one held."""
    return await asyncio.to_thread(_export_page, visit)


def _export_page(visit: Visit, *, status: int = 200, said: str = "") -> Response:
    people = visit.desk.people()
    return visit.page(
        "admin_export.html",
        here="export",
        status=status,
        said=said,
        n_people=len(people),
        last=visit.desk.last_export,
        keeps_texts=visit.desk.writes,
    )


async def export(visit: Visit) -> Response:
    """Make the export in a process of its own and send it as a zip; one at a time.

    Who leaves, and a server that ends, break it off. Its files are deleted in any case.
    """
    async with visit.desk.exporting:
        with ExitStack() as tidy:
            folder = Path(tempfile.mkdtemp(prefix="lexiscope_export_"))
            tidy.callback(shutil.rmtree, folder, ignore_errors=True)
            try:
                made = await _unless_broken_off(visit, folder)
            except (LexiscopeError, OSError) as error:
                reference = logged(visit.request, error)
                LOG.error("error %s: %s", reference, str(error).partition("\n")[0])
                return await asyncio.to_thread(lambda: _export_page(visit, status=500, said="export_failed"))
            if made is None:
                return await asyncio.to_thread(lambda: _export_page(visit, status=503, said="export_failed"))
            visit.desk.last_export = (datetime.now(UTC).isoformat(), made.files)
            details = {"files": len(made.files), "participants": made.n_participants}
            await asyncio.to_thread(lambda: visit.desk.app.store.log("export", actor=visit.name, details=details))
            tidy.pop_all()
    packed = folder / PACKED
    name = f"{visit.desk.app.definition.name}_{datetime.now(UTC):%Y%m%d}.zip"
    safe = "".join(each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in name)
    headers = {
        "content-disposition": f'attachment; filename="{safe}"',
        "content-length": str(packed.stat().st_size),
    }
    tidy_up = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return StreamingResponse(_pieces(packed, folder), media_type="application/zip", headers=headers, background=tidy_up)


async def _unless_broken_off(visit: Visit, folder: Path) -> FinishedExport | None:
    """Return what was made; ``None`` where the client left or the server ends, and nothing goes on."""
    app = visit.desk.app
    making = asyncio.create_task(export_apart(app.study, folder, store=app.store.folder, url=app.postgres))
    broken_off = [asyncio.create_task(one) for one in (_left(visit.request), ending_of(visit.request.scope).wait())]
    try:
        await asyncio.wait({making, *broken_off}, return_when=asyncio.FIRST_COMPLETED)
        return making.result() if making.done() else None
    finally:
        for task in (making, *broken_off):
            task.cancel()
        await asyncio.gather(making, *broken_off, return_exceptions=True)


async def _left(request: Request) -> None:
    """Wait until the client is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _pieces(packed: Path, folder: Path) -> AsyncIterator[bytes]:
    try:
        with packed.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, _PIECE):
                yield piece
    finally:
        # whoever breaks the download off leaves nothing behind either
        shutil.rmtree(folder, ignore_errors=True)
