"""reliability.md S11 in a browser: the disk of a running study is full for a while, and the participant is told so."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from lexiscope.annotation.store.store import Store

from .serving_child import long_study
from .test_browser_traps import NOT_SAVED, ON_A
from .test_killed_server import free_port, server

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(sys.platform != "linux", reason="needs tmpfs or prlimit of Linux"),
]
WHO = "5f1e2d3c4b5a69788796a5b4"
# a file system of 16 MB that only the server's process sees: no privileges are needed where the kernel allows it
OWN_DISK = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=16m none "$0" && exec "$@"')
Switch = Callable[[bool], None]
"""Fill the disk, or free it."""


@contextmanager
def on_a_disk(kind: str, folder: Path, port: int) -> Iterator[tuple[subprocess.Popen[bytes], Path, Switch]]:
    """The server, its folder as it sees it, and how its disk is filled and freed."""
    folder.mkdir()
    if kind == "limit":
        import resource

        with server(port, folder) as process:
            most = resource.RLIM_INFINITY
            # no file of the process may grow
            yield (
                process,
                folder,
                lambda full: resource.prlimit(  # type: ignore[arg-type, return-value]
                    process.pid, resource.RLIMIT_FSIZE, (0 if full else most, most)
                ),
            )
        return
    if shutil.which("unshare") is None or subprocess.run([*OWN_DISK, folder, "true"], check=False).returncode:
        pytest.skip("a file system of the test's own needs unshare and user namespaces")
    with server(port, folder, *OWN_DISK, str(folder)) as process:
        inside = Path(f"/proc/{process.pid}/root{folder}")
        yield process, inside, lambda full: fill(inside / "filler") if full else (inside / "filler").unlink()


def fill(file: Path) -> None:
    """Write until nothing more goes in."""
    with file.open("wb", buffering=0) as stream, suppress(OSError):
        while stream.write(bytes(4096)):
            pass
    assert shutil.disk_usage(file).free == 0


@pytest.mark.parametrize("kind", ["disk", "limit"])
@ON_A
def test_a_full_disk_is_said_and_passes(chromium: Any, tmp_path: Path, kind: str, busy: float) -> None:
    """The disk is full when an answer is given: within 2 s the page says that nothing is saved, health says so, and
    within 5 s after there is space again the answer is stored, without a restart; none is lost, none doubled."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with on_a_disk(kind, tmp_path / "study", port) as (process, inside, switch):
        opened = chromium.new_context()
        try:
            page = opened.new_page()
            page.goto(f"{url}/?PROLIFIC_PID={WHO}")
            page.locator('button[value="yes"]').click()
            page.locator("button.primary").click()
            for position in range(3):
                page.wait_for_url(f"**/trial/trials/{position}")
                full = position == 1
                if full:
                    switch(True)
                page.locator(f'button[value="{position + 1}"]').click()
                if full:
                    page.get_by_text(NOT_SAVED).wait_for(timeout=(2 + busy) * 1000)
                    health = httpx.get(f"{url}/health")
                    assert (health.status_code, health.json()) == (503, {"status": "failing", "saving": False})
                    assert page.url.endswith(f"/trial/trials/{position}")
                    switch(False)
                    page.wait_for_url(f"**/trial/trials/{position + 1}", timeout=(5 + busy) * 1000)
            # a context that is closed while its page is on the way to another one may never close
            page.wait_for_url("**/trial/trials/3")
        finally:
            opened.close()
        assert process.poll() is None
        shutil.copytree(inside, tmp_path / "copy")
    with Store.open(tmp_path / "copy", long_study().record) as store:
        stored = store.answers_of(store.find(WHO) or "")
        assert [row["value"] for row in stored] == [1, 2, 3]
        assert store.verify().problems == ()
