"""What each statistic is, for all studies: a name means one thing, whichever study prints it.

The names are those of ``results.json`` without their parameters; the table is ``statistics.csv`` next to this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from lexiscope.core.errors import InputError
from lexiscope.core.study import read_rows

GLOSSARY = Path(__file__).with_name("statistics.csv")
_COLUMNS = ("statistic", "meaning")


@cache
def statistics(path: Path = GLOSSARY) -> Mapping[str, str]:
    """Return the meaning of each statistic by its name, in the order of the table.

    Errors: :class:`InputError` for a name that is there twice, and for one without a meaning.

    >>> statistics()["n_words"]
    'distinct words of the items: what intervals resample'
    """
    found: dict[str, str] = {}
    for place, row in read_rows(path, _COLUMNS):
        name, meaning = row["statistic"], row["meaning"]
        if not meaning:
            raise InputError(f"the statistic {name!r} has no meaning", place=place)
        if name in found:
            raise InputError(f"the statistic {name!r} is there twice: a name has one meaning", place=place)
        found[name] = meaning
    return found
