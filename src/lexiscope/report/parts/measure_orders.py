"""Do two kinds of measures order the same subjects alike? The comparisons as a table, and in one line.

*found* is what :func:`~lexiscope.analysis.senses.disagreeing_orders.compare_every` returns.
"""

from __future__ import annotations

from collections.abc import Mapping

from lexiscope.analysis.senses.disagreeing_orders import Orders
from lexiscope.report.tables import Table, columns

Compared = Mapping[tuple[str, str], Orders]
_MOST_NAMED = 6


def orders_table(found: Compared, titles: Mapping[str, str], *, first: str, name: str = "orders") -> Table:
    """Return a table of all comparisons: the best subject by each measure, and the pairs that stand in another order.

    *titles* are short names of subjects by id; *first* is what the first kind of measure is called.
    """
    heads = columns(
        *(first, "Beside", f"Best by {first.lower()}", "Best by the other", "Same best"),
        *("In another order", "Clearly"),
    )

    def called(subject: str) -> str:
        return titles.get(subject, subject)

    rows = []
    for (one, other), own in found.items():
        best = (called(own.best_first), called(own.best_second), "yes" if own.same_best else "no")
        clear = "; ".join(f"{called(a)} / {called(b)}" for a, b in own.clear[:_MOST_NAMED])
        rows.append((one, other, *best, f"{len(own.disagreeing)} of {own.n_pairs}", clear or "none"))
    return Table(name, "", "Where the two disagree", heads, tuple(rows))


def orders_sentence(found: Compared, *, first: str, second: str, who: str) -> str:
    """Say whether two kinds of measures, *first* and *second*, have the same best subjects, *who*; nothing of none."""
    apart = [f"{one} and {other.lower()}" for (one, other), own in found.items() if not own.same_best]
    if not found:
        return ""
    if not apart:
        return f"All {len(found)} comparisons of {first} with {second} have the same best {who}"
    clear = sum(bool(own.clear) for own in found.values())
    return (
        f"In {len(apart)} of {len(found)} comparisons the two have other best {who} ({'; '.join(apart)}); in {clear} "
        "a pair stands clearly in another order"
    )
