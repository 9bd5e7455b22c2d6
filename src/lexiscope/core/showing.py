"""How objects are displayed in Python: one-line texts, and what ``report`` makes of them for a notebook.

Sentences, figures and tables of objects are made in ``report``, which ``core`` must not import: only the name of its
module is here. It is imported when an object is first displayed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

PRESENTERS = "lexiscope.report.presenting"
"""Where sentences, figures, frames and HTML are made, by type."""


def call_presenter(what: str, *args: Any) -> Any:
    """Return what the function *what* of the presenters makes of these things."""
    return getattr(import_module(PRESENTERS), what)(*args)


def counted(n: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun.

    >>> counted(1, "item"), counted(1200, "item"), counted(2, "reply", "replies")
    ('1 item', '1,200 items', '2 replies')
    """
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"
