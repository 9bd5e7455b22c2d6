"""Run as a program: opens the store of a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from .made_study import open_store

if __name__ == "__main__":
    open_store(Path(sys.argv[1])).close()
