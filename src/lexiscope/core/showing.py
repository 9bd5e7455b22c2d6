"""How objects are displayed in Python: one-line texts, and what ``report`` makes of them for a notebook.

Sentences, figures and tables of objects are made in ``report``, which ``core`` must not import: only the name of its
module is here. It is imported when an object is first displayed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from html import escape
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


def p_text(p: float, *, is_bound: bool = False) -> str:
    """Return a p with its sign as APA prints it; *is_bound*: it is the least that its draws can show.

    >>> p_text(0.037), p_text(3e-10), p_text(1.0), p_text(0.005, is_bound=True)
    ('p = .037', 'p < .001', 'p > .999', 'p ≤ .005')
    """
    if not is_bound and not 0.001 <= p <= 0.999:
        return "p < .001" if p < 0.001 else "p > .999"
    return f"p {'≤' if is_bound else '='} {p:.3f}".replace(" 0.", " .")


def listed(names: Sequence[str], most: int = 10) -> str:
    """Return names with commas between them, those beyond *most* counted.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def enumerated(names: Sequence[str]) -> str:
    """Return all names as a list in a sentence.

    >>> enumerated(["a"]), enumerated(["a", "b"]), enumerated(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def cell_progress() -> Callable[[str, int, int], None] | None:
    """Return what shows progress in the cell of a notebook that runs: called with (part, done, total).

    ``None`` outside a notebook: a program decides itself what it shows.

    >>> cell_progress() is None
    True
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return CellProgress(ipython) if hasattr(shell, "kernel") else None


class CellProgress:
    """Progress of one or more parts, on one display of a notebook's cell, which is updated in place."""

    def __init__(self, ipython: Any) -> None:
        self._display, self._handle = ipython.display.display, None
        self._parts = dict[str, tuple[int, int]]()

    def __call__(self, part: str, done: int, total: int) -> None:
        """Show that *done* of *total* steps of a part are finished."""
        if self._parts.get(part) == (done, total):
            return
        self._parts[part] = (done, total)
        texts = {name: f"{name}: {counts[0]:,} of {counts[1]:,}" for name, counts in self._parts.items()}
        bars = [
            f'<progress value="{finished}" max="{of}"></progress> {escape(texts[name])}'
            for name, (finished, of) in self._parts.items()
        ]
        shown = {"text/plain": "\n".join(texts.values()), "text/html": f"<p>{'<br>'.join(bars)}</p>"}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)
