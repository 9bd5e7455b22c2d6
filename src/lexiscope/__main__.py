"""``python -m lexiscope``: the same as the command ``lexiscope``."""

from __future__ import annotations

from lexiscope.cli.main import main

if __name__ == "__main__":
    main()
