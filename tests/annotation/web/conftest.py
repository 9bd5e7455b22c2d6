"""One browser for a file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .served import CHROMIUM


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The distribution's Chromium, until the file's tests are over."""
    if CHROMIUM is None:
        pytest.skip("no Chromium in PATH")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
