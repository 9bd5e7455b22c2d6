"""Tables with several answers in a row: which columns hold answers, one for each rater or one for each item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.showing import listed
from lexiscope.items.tables.columns import columns_named, describes_rows, plain_column, usual_names
from lexiscope.items.tables.numbers import NumberForm
from lexiscope.resources.platforms.layout import off_scale
from lexiscope.resources.tables.cells import CellTable

Of = Literal["rater", "item"]
# a number, or one letter behind a sign: p1, rater_a
_NUMBERED = re.compile(r"(?P<stem>.*?)[\s_.-]*(?:\d+|(?<=[\s_.-])[A-Za-z])")
_NO_ANSWERS = ("norm", "n_ratings", "age", "start_1", "end_1", "start_2", "end_2", "list_id")


@dataclass(frozen=True, slots=True)
class AnswerColumns:
    """The columns that hold answers, of one rater (or to one item) each, and the columns of other numbers."""

    names: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def answer_columns(
    table: CellTable, taken: Sequence[str], of: Of, numbers: NumberForm | None = None, *, named_only: bool = False
) -> AnswerColumns:
    """Return the columns that hold answers, of one rater (or to one item) each; none if there are none.

    They are the columns of numbers whose names differ in a number or letter only (p1, p2 …). Of several such series it
    is the one whose name is usual; without a series they are the columns of numbers on one scale, but for labels and
    columns that number the rows. *taken* are columns with another meaning; with *named_only*, only a series with a
    usual name is taken, else nothing.
    Errors: :class:`InputError` E006 if several series, or columns of different kinds, could be meant.
    """
    usual = {name for field in _NO_ANSWERS for name in usual_names()[field]}
    kinds = {
        name: kind
        for name, cells in zip(table.header, table.columns, strict=True)
        if name and name not in taken and plain_column(name) not in usual and (kind := _kind(cells, numbers))
    }
    series: dict[str, list[str]] = {}
    for name in kinds:
        match = _NUMBERED.fullmatch(name)
        if match:
            series.setdefault(plain_column(match["stem"]), []).append(name)
    several = {stem: names for stem, names in series.items() if len(names) > 1}
    named = [stem for stem in several if stem in usual_names()[f"{of}_series"]]
    if named_only:
        return AnswerColumns(tuple(several[named[0]])) if len(named) == 1 else AnswerColumns()
    if len(named) == 1 or len(several) == 1:
        names = several[(named or list(several))[0]]
        return AnswerColumns(tuple(names), tuple(name for name in kinds if name not in names))
    if several:
        shown = "; ".join(f"{names[0]} … {names[-1]}" for names in several.values())
        raise _ambiguous(table, of, f"Several series of columns may hold the answers: {shown}.", next(iter(several)))
    away = off_scale({name: (low, high) for name, (low, high, _) in kinds.items()})
    labels = columns_named("chosen", list(kinds))
    on_scale = [name for name in kinds if name not in away and name not in labels and not describes_rows(name)]
    if len(on_scale) < 2:
        return AnswerColumns()
    parts = [name for name in on_scale if not kinds[name][2]]
    if parts and len(parts) * 2 < len(on_scale):
        # a frequency among ratings of whole points, or one rater who used half points: it is not for us to say
        what = f"Whole numbers in {listed([name for name in on_scale if name not in parts], 4)}, "
        raise _ambiguous(table, of, f"{what}numbers with decimals in {listed(parts, 4)}.", on_scale[0])
    return AnswerColumns(tuple(on_scale), tuple(away))


def _ambiguous(table: CellTable, of: Of, what: str, example: str) -> InputError:
    hint = f"Name the columns that hold {'the ratings of a rater' if of == 'rater' else 'one item'}: "
    hint += f"--map '{of}_columns={example}*', or --map {of}_columns=COLUMN once for each."
    return InputError(what, code="E006", place=Place(table.path, table.header_line), hint=hint)


def _kind(cells: Sequence[str], numbers: NumberForm | None) -> tuple[float, float, bool] | None:
    """The lowest and highest number of a column, and whether all are whole; ``None`` if it holds other texts."""
    texts = list(dict.fromkeys(cells))
    if numbers is None:
        # the decimal sign is told by all columns together, later: a comma or a point may be one
        plain, comma = NumberForm("point"), NumberForm("comma")
        values = [plain.read(text) if plain.read(text) is not None else comma.read(text) for text in texts]
    else:
        values = [numbers.read(text) for text in texts]
    known = [value for value in values if value is not None and value == value]
    if not known or None in values:
        return None
    return min(known), max(known), all(value.is_integer() for value in known)
