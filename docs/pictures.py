"""Pictures of pages for the docs: a browser that takes them, and images as small as the page needs them."""

from __future__ import annotations

import io
import re
import shutil
from types import TracebackType
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
COLOURS = 128


class Browser:
    """The distribution's Chromium, as a context."""

    def __enter__(self) -> Browser:
        """Start it. Errors: :class:`SystemExit` if there is no Chromium."""
        if CHROMIUM is None:
            raise SystemExit("Chromium is not installed: the pictures cannot be taken")
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._browser.close()
        self._playwright.stop()

    def picture(
        self,
        address: str,
        width: int,
        height: int,
        *,
        theme: Literal["light", "dark"] = "light",
        figure: str = "",
    ) -> bytes:
        """Return the first screen of a page as PNG, or only its first figure whose text has these words.

        Errors: :class:`SystemExit` if the page has no such figure.
        """
        page: Any = self._browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
        try:
            page.goto(address)
            page.wait_for_load_state("networkidle")
            if not figure:
                return bytes(page.screenshot())
            shown = page.locator("figure:visible", has_text=re.compile(figure, re.IGNORECASE))
            if not shown.count():
                raise SystemExit(f"{address} has no figure with the words {figure!r}")
            return bytes(shown.first.screenshot())
        finally:
            page.close()


def reduced(png: bytes, *, width: int) -> bytes:
    """Return a PNG of at most this width with few colours: a screenshot of a report is mostly white."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    if image.width > width:
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()
