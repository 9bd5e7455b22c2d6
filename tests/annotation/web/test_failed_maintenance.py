"""What the keeper could not do, and a database that cannot be read, are said where somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.web.app import App

from .made_admin import researcher, run, running


@contextmanager
def unreadable(app: App, folder: Path) -> Iterator[None]:
    """The database is gone for readers."""
    working = app.store._database
    app.store._database = replace(working, read=sa.create_engine(f"sqlite:///{folder}/gone/study.sqlite"))
    try:
        yield
    finally:
        app.store._database = working


def test_a_failed_backup_is_on_the_status_page_and_in_health(tmp_path: Path) -> None:
    """The researcher reads what failed and why; a monitor, which anybody may be, reads only which job."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app) as browser:
                assert "backup failed" not in (await browser.get("/researcher/status")).text
                app.store.not_kept["backup"] = "[Errno 28] No space left on device"
                page = (await browser.get("/researcher/status")).text
                assert "The last backup failed" in page
                assert "No space left on device" in page
                assert "deleted" not in page
                app.store.set_status("closed", actor="ana")
                due = app.store.due_purge()
                assert (due is not None) == (app.definition.retention.platform_ids_days is not None)
                assert due is None or due.date().isoformat() in (await browser.get("/researcher/status")).text
                health = await browser.get("/health")
                assert health.status_code == 200
                assert health.json()["not_kept"] == ["backup"]
                assert "Errno" not in health.text

    run(visit)


def test_a_database_that_cannot_be_read_is_503_everywhere(tmp_path: Path) -> None:
    """Participants, researchers and monitors are told to come again, and all is well once the database is back."""

    async def visit() -> None:
        with running(tmp_path) as app:
            async with researcher(app) as browser:
                with unreadable(app, tmp_path):
                    for address in ("/health", "/?PROLIFIC_PID=5f1e2d3c4b5a69788796a5b4", "/researcher"):
                        found = await browser.get(address)
                        assert (found.status_code, found.headers.get("retry-after")) == (503, "3"), address
                assert (await browser.get("/researcher")).status_code == 200
                assert (await browser.get("/health")).status_code == 200

    run(visit)
