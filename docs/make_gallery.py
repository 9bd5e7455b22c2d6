"""Make the reports of the gallery and their pictures: ``python docs/make_gallery.py`` (needs Chromium).

The page docs/gallery/index.md is the source. Its blocks are run from top to bottom in an empty folder; each picture
``![…](NAME.png)`` shows the first screen of the report that the next console block writes (``--out``).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))
from pictures import Browser, reduced  # noqa: E402
from run_page import run_page  # noqa: E402

PAGE = DOCS / "gallery" / "index.md"
WIDTH, HEIGHT = 1280, 900


def pictures(text: str) -> dict[str, str]:
    """Return the picture of each report of the page, by what the last command after it gives to ``--out``.

    >>> pictures("![a](a.png)\\n\\n```console\\n$ lexiscope demo --out run\\n```\\n")
    {'run': 'a.png'}
    """
    pattern = r"!\[[^\]]*\]\((?P<picture>[\w-]+\.png)\)\s+```console\n(?P<commands>.*?)^```$"
    shown = re.finditer(pattern, text, re.MULTILINE | re.DOTALL)
    return {re.findall(r"--out (\S+)", each["commands"])[-1]: each["picture"] for each in shown}


def report_of(out: Path) -> Path:
    """Return the report that a command wrote: the file itself, or the report of the folder."""
    return out if out.suffix == ".html" else out / "report.html"


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Run the page and take its pictures; keep no other."""
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command in run_page(text, folder, {**environment, "COLUMNS": "100", "OMP_NUM_THREADS": "1"}):
            sys.stdout.write(f"$ lexiscope {' '.join(command.words)}\n")
            if command.status:
                sys.stdout.write(command.printed)
                return 1
        with Browser() as browser:
            for out, picture in pictures(text).items():
                taken = browser.picture(report_of(folder / out).as_uri(), WIDTH, HEIGHT)
                (PAGE.parent / picture).write_bytes(reduced(taken, width=960))
    for old in PAGE.parent.glob("*.png"):
        if old.name not in pictures(text).values():
            old.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
