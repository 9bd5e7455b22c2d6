"""Run as a program: the command line, with parts of the server that fail while a file of their name lies in the folder.

``seal`` fails as memory runs out in the middle of a transaction, ``gather`` as a fault of the writer itself; ``invite``
takes a thread for as long as the process lives. The grace of a stopping server is short.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexiscope.annotation.store import seals
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.store.writer import Writer
from lexiscope.annotation.web import serving
from lexiscope.cli.main import main


def failing(name: str, work: Callable[..., Any], fail: Callable[[], object]) -> Callable[..., Any]:
    def either(*words: Any, **more: Any) -> Any:
        if Path(name).exists():
            fail()
        return work(*words, **more)

    return either


def run_out() -> None:
    raise MemoryError("made to fail")


def break_down() -> None:
    raise RuntimeError("made to fail")


if __name__ == "__main__":
    seals.seal = failing("seal", seals.seal, run_out)
    Writer._take_batch = failing("gather", Writer._take_batch, break_down)  # type: ignore[method-assign]
    Store.invite = failing("invite", Store.invite, lambda: threading.Event().wait())  # type: ignore[method-assign]
    serving.GRACE_SECONDS = 1
    serving.LATEST_SECONDS, serving.AGAIN_SECONDS, serving.TROUBLE_SECONDS = 4.0, 0.5, 1.0
    main(sys.argv[1:])
