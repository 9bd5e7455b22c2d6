"""The export: made on demand into a folder that goes when the zip was sent."""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
import zipfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.responses import Response, StreamingResponse

from lexiscope.annotation.output.collected import Reviewed
from lexiscope.annotation.output.package import write_export
from lexiscope.annotation.review import latest_reviews
from lexiscope.annotation.web.admin.look import collected_now
from lexiscope.annotation.web.admin.visit import Visit
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
    """Make the export and send it as a zip; one at a time, from files that are deleted afterwards."""
    async with visit.desk.exporting:
        try:
            folder, packed = await asyncio.to_thread(_make, visit)
        except (LexiscopeError, OSError):
            LOG.exception("the export failed")
            return await asyncio.to_thread(lambda: _export_page(visit, status=500, said="export_failed"))
    name = f"{visit.desk.app.definition.name}_{datetime.now(UTC):%Y%m%d}.zip"
    safe = "".join(each if each.isascii() and (each.isalnum() or each in "._-") else "_" for each in name)
    headers = {
        "content-disposition": f'attachment; filename="{safe}"',
        "content-length": str(packed.stat().st_size),
    }
    tidy = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return StreamingResponse(_pieces(packed, folder), media_type="application/zip", headers=headers, background=tidy)


async def _pieces(packed: Path, folder: Path) -> AsyncIterator[bytes]:
    try:
        with packed.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, _PIECE):
                yield piece
    finally:
        # whoever breaks the download off leaves nothing behind either
        shutil.rmtree(folder, ignore_errors=True)


def _make(visit: Visit) -> tuple[Path, Path]:
    """Return the private folder of an export, and the zip in it."""
    app = visit.desk.app
    with ExitStack() as tidy:
        folder = Path(tempfile.mkdtemp(prefix="lexiscope_export_"))
        tidy.callback(shutil.rmtree, folder, ignore_errors=True)
        judgments, reviews = app.store.long_export(), _reviewed(visit)
        collected = collected_now(app.study, app.store, judgments=judgments, reviews=reviews)
        made = write_export(collected, folder / app.definition.name)
        packed = folder / "export.zip"
        _pack(made.folder, packed, made.files)
        sizes = tuple((name, (made.folder / name).stat().st_size) for name in made.files)
        visit.desk.last_export = (datetime.now(UTC).isoformat(), sizes)
        app.store.log("export", actor=visit.name, details={"files": len(sizes), "participants": made.n_participants})
        tidy.pop_all()
    return folder, packed


def _pack(folder: Path, packed: Path, files: tuple[str, ...]) -> None:
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in files:
            archive.write(folder / name, f"{folder.name}/{name}")


def _reviewed(visit: Visit) -> dict[tuple[str, str], Reviewed]:
    """The decisions about texts, by participant and item."""
    if not visit.desk.writes:
        return {}
    store = visit.desk.app.store
    decided = latest_reviews(store.reviews())
    answers = visit.desk.written()
    return {
        (one.participant_id, one.item_id): Reviewed(review.verdict, review.text, review.reason)
        for one in answers
        if (review := decided.get(one.answer_id)) is not None
    }
