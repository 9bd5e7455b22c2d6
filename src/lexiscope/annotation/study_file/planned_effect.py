"""The effect that a study is planned to find: a condition of its items with two levels."""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item


def effect_codes(items: Sequence[Item], effect: str) -> dict[str, float]:
    """Return 0 or 1 per item, by the two levels of a condition in order of their text; empty where none is planned.

    Errors: :class:`InputError` E627 where the condition has not exactly two levels, E402 where an item lacks it.
    """
    if not effect:
        return {}
    levels = sorted({str(item.condition(effect)) for item in items})
    if len(levels) != 2:
        raise InputError(
            f"the planned effect {effect!r} has {len(levels)} levels: {', '.join(levels[:5])}",
            code="E627",
            hint="plan an effect of a condition with two levels, or leave planned.effect empty",
        )
    return {item.item_id: float(str(item.condition(effect)) == levels[1]) for item in items}
