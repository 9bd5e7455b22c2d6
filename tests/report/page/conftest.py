"""The distribution's Chromium for tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


# of a module: while it is open, no later test of the process may run an event loop of its own
@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The distribution's Chromium, without a network: every request but those to files is refused and remembered."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
