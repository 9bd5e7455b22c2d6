"""Take the pictures of docs/people/what-participants-see.md: the tests' walks through the real server save them.

`python docs/make_screens.py` runs the walks (`tests/annotation/web/test_browser_walks.py`) with a folder for their
screenshots and keeps those that the page shows. It needs Chromium and the test dependencies.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "people" / "what-participants-see.md"
SCREENS = ROOT / "docs" / "screens"
WALKS = ROOT / "tests" / "annotation" / "web" / "test_browser_walks.py"


def shown() -> list[str]:
    """Return the file names of the pictures that the page shows."""
    return re.findall(r"\(\.\./screens/([\w-]+\.png)\)", PAGE.read_text(encoding="utf-8"))


def main() -> int:
    """Walk, keep what is shown, and remove what is not."""
    with tempfile.TemporaryDirectory() as folder:
        walk = [sys.executable, "-m", "pytest", "-q", str(WALKS)]
        done = subprocess.run(walk, cwd=ROOT, env={**os.environ, "LEXISCOPE_SCREENS": folder}, check=False)
        if done.returncode:
            return done.returncode
        SCREENS.mkdir(exist_ok=True)
        for old in SCREENS.glob("*.png"):
            old.unlink()
        for name in shown():
            shutil.copy(Path(folder) / name, SCREENS / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
