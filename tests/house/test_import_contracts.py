"""DESIGN §3: who may import whom, as import-linter checks it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def test_contracts_hold(root: Path) -> None:
    """All import contracts are kept, over the source tree."""
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("import-linter is not installed (extra: check)")
    environment = {**os.environ, "PYTHONPATH": str(root / "src"), "COLUMNS": "200"}
    done = subprocess.run(
        [linter, "--no-cache"], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
