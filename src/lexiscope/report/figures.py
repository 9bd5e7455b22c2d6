"""A figure: a vector drawing, its caption, the same as text, and the numbers that it shows.

The functions that draw are in ``plots``. Each takes arrays and a :class:`Heading`, and returns a :class:`Figure`;
none reads a file or knows a dataset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError
from lexiscope.core.run import write_atomically
from lexiscope.core.showing import call_presenter, counted
from lexiscope.report.tables import csv_text

Array = NDArray[Any]
Floats = NDArray[np.float64]

#: First line of a drawing in its own file; inside a page it is not allowed.
PROLOGUE = '<?xml version="1.0" encoding="utf-8"?>\n'

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Heading:
    """What a figure is called: file name without suffix, printed number, title (a sentence), caption.

    Errors: :class:`InputError` where the name cannot be a file name and an HTML id.
    """

    name: str
    number: str
    title: str
    caption: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputError(
                f"{self.name!r} cannot name a figure", hint="use letters, digits, _ and -, a letter in front"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A finished figure. ``alt`` is what the drawing shows as text; ``data`` are the drawn numbers, by column.

    Errors: :class:`InputError` where the columns differ in length.
    """

    name: str
    number: str
    title: str
    caption: str
    alt: str
    svg: str
    data: Mapping[str, Array]

    def __post_init__(self) -> None:
        lengths = {column: len(values) for column, values in self.data.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"the data columns of figure {self.name!r} differ in length: {lengths}")

    def __repr__(self) -> str:
        n = len(next(iter(self.data.values()), ()))
        return f"Figure({self.name}: {counted(n, 'row')} of data, {self.title!r})"

    def frame(self) -> Any:
        """Return the drawn numbers as a pandas table."""
        return call_presenter("frame_of", self.data)

    def _repr_html_(self) -> str:
        return cast(str, call_presenter("figure_html", self))

    def write(self, folder: Path | str = ".") -> tuple[Path, Path]:
        """Write the drawing (SVG) and its data (CSV) into a folder, and return the two paths."""
        return write_figure(self, folder)


def build_figure(heading: Heading, svg: str, alt: str, data: Mapping[str, Array], remark: str = "") -> Figure:
    """Return a :class:`Figure` under *heading*; *remark* (gaps, methods of drawing) is added to the caption."""
    caption = " ".join(part for part in (heading.caption, remark) if part)
    return Figure(heading.name, heading.number, heading.title, caption, alt, svg, data)


def columns_of(points: Sequence[Any], *names: str) -> dict[str, Array]:
    """Return attributes of drawn points as the columns of a figure's data."""
    return {name: np.array([getattr(point, name) for point in points]) for name in names}


def data_csv(figure: Figure) -> str:
    """Return the drawn numbers as CSV text, at full precision; undefined values are empty cells."""
    columns = [np.asarray(values).tolist() for values in figure.data.values()]
    return csv_text(list(figure.data), zip(*columns, strict=True))


def write_figure(figure: Figure, folder: Path | str) -> tuple[Path, Path]:
    """Write ``<name>.svg`` and ``<name>.csv`` into *folder* and return the two paths; each is written whole or not."""
    svg, data = Path(folder) / f"{figure.name}.svg", Path(folder) / f"{figure.name}.csv"
    write_atomically(svg, f"{PROLOGUE}{figure.svg}\n")
    write_atomically(data, data_csv(figure))
    return svg, data


def floats(values: Array | Sequence[float], what: str) -> Floats:
    """Return *values* as one row of floats; not-a-number stays (it is drawn as a gap).

    Errors: :class:`InputError` where nothing is given, where values are infinite, or not in one row.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"{what}: expected one row of numbers, got shape {array.shape}")
    if np.isinf(array).any():
        raise InputError(f"{what}: infinite values cannot be drawn", hint="mark undefined values as not-a-number")
    return array


def same_length(what: str, *arrays: Array) -> None:
    """Check that arrays which describe the same points are equally long.

    Errors: :class:`InputError` naming the lengths.
    """
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) > 1:
        raise InputError(f"{what}: the arrays describe the same points but have lengths {lengths}")


def levels(labels: Array | Sequence[str], order: Sequence[str] | None = None) -> list[str]:
    """Return the distinct labels: in the given order, else in order of first appearance.

    Errors: :class:`InputError` where *order* leaves out a label that occurs.

    >>> levels(np.array(["same", "different", "same"]))
    ['same', 'different']
    """
    distinct = list(dict.fromkeys(str(label) for label in labels))
    if order is None:
        return distinct
    missing = [label for label in distinct if label not in order]
    if missing:
        raise InputError(f"the order {list(order)} leaves out {missing}")
    return [label for label in order if label in distinct]


def gaps_remark(gaps: Sequence[str]) -> str:
    """Return the sentence about undefined points, naming up to five of them; empty where there are none.

    >>> gaps_remark(["mBERT, layer 0"])
    'Undefined and left as a gap: mBERT, layer 0.'
    """
    if not gaps:
        return ""
    return f"Undefined and left as {'a gap' if len(gaps) == 1 else 'gaps'}: {first_names(gaps)}."


def first_names(names: Sequence[str], *, most: int = 5) -> str:
    """Return the first names, and how many follow.

    >>> first_names(list("abcdef"))
    'a; b; c; d; e; and 1 more'
    """
    return "; ".join([*names[:most], *([f"and {len(names) - most} more"] if len(names) > most else [])])


def apa(value: float, digits: int = 2) -> str:
    """Return a bounded quantity without its leading zero and with a true minus sign.

    >>> apa(-0.597), apa(1.0), apa(float("nan"))
    ('−.60', '1.00', '—')
    """
    if not np.isfinite(value):
        return "—"
    text = f"{value:.{digits}f}".replace("-", "−")
    return re.sub(r"^(−?)0\.", r"\1.", text)
