"""Catch trials check participants. They are not items: no statistic over items counts them."""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.core.item import Item


def real_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items without catch trials (those whose condition ``catch`` is true)."""
    return tuple(item for item in items if item.conditions.get("catch") is not True)


def catch_remark(n: int) -> tuple[str, ...]:
    """Return the sentence that reports how many catch trials a file holds; none if there are none.

    >>> catch_remark(2), catch_remark(0)
    (('2 items of the file are catch trials (column catch): no analysis uses them.',), ())
    """
    if not n:
        return ()
    begin = "1 item of the file is a catch trial" if n == 1 else f"{n} items of the file are catch trials"
    return (f"{begin} (column catch): no analysis uses {'it' if n == 1 else 'them'}.",)
