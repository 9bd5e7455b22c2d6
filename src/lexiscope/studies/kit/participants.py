"""What is known of the participants of a study: country, gender, age, from an export or a recruiting platform."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lexiscope.analysis.agreement.consistency import describe_participants
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, Place
from lexiscope.core.result import Estimate
from lexiscope.items.tables.columns import columns_named
from lexiscope.resources.platforms.lexiscope import is_export
from lexiscope.resources.platforms.opened import open_file, plain_table

ABOUT_PEOPLE = ("country", "gender", "age")
"""What a table of participants may say of them."""


def read_participants(path: Path) -> dict[str, dict[str, str]]:
    """Read what is known of the participants, without empty cells: ``participants.csv`` of an export, or any table.

    The demographic export of Prolific is read as it is. Columns have usual names in several languages
    (``items/tables/names.csv``); one may begin with ``about_``. What a participant did not share counts as empty.
    Errors: :class:`InputError` for a table without participants or without any of these columns, a participant
    who is there twice with different cells, and an age that is not a number.
    """
    # the readers of answers refuse this table of an export: it has none
    table = plain_table(path) if is_export(path.parent) else open_file(path).table
    plain = {name.removeprefix("about_"): name for name in table.header}
    named = {field: columns_named(field, list(plain)) for field in ("participant_id", *ABOUT_PEOPLE)}
    for field, columns in named.items():
        if len(columns) > 1 and field != "participant_id":
            what, hint = f"Several columns may hold the {field}: {', '.join(columns)}.", "Keep one of them."
            raise InputError(what, code="E006", place=Place(str(path), 1), hint=hint)
    known = {field: plain[columns[0]] for field, columns in named.items() if columns}
    if "participant_id" not in known or len(known) < 2:
        what = f"A table of participants needs the column participant_id, and one of {', '.join(ABOUT_PEOPLE)}."
        raise InputError(what, place=Place(str(path), 1), hint=f"Columns in the file: {', '.join(table.header)}")
    about: dict[str, dict[str, str]] = {}
    for row in range(len(table)):
        who = table[known["participant_id"]][row].strip()
        cells = {field: table[known[field]][row].strip() for field in ABOUT_PEOPLE if field in known}
        given = {field: cell for field, cell in cells.items() if cell.casefold() not in _NOT_SHARED}
        if "age" in given and not given["age"].replace(".", "", 1).isdecimal():
            place, hint = table.place(row, known["age"]), "Write the age in years, or leave the cell empty."
            raise InputError(f"Cannot read {given['age']!r} as an age.", place=place, hint=hint)
        if about.setdefault(who, given) != given:
            place = table.place(row, known["participant_id"])
            raise InputError(f"The participant {who!r} occurs twice.", place=place, hint="Keep the row that counts.")
    return about


_NOT_SHARED = ("", "na", "n/a", "consent_revoked", "data_expired", "prefer not to say", "rather not say")
"""What Prolific and others write where a participant did not share something."""


def about_raters(
    ratings: Ratings, about: Mapping[str, Mapping[str, str]]
) -> tuple[dict[str, Estimate], dict[str, dict[str, str]], list[str]]:
    """Return the numbers of those who rated, what is known of each (by field), and of how many a field is not known.

    *about* is what :func:`read_participants` returns.
    """
    raters = [ratings.rater_ids[code] for code in np.unique(ratings.rater)]
    known = {field: {who: about[who][field] for who in raters if field in about.get(who, {})} for field in ABOUT_PEOPLE}
    counts = {field.title(): of_field for field, of_field in known.items() if field != "age"}
    numbers = describe_participants(counts, [float(age) for age in known["age"].values()])
    missing = [
        f"{len(raters) - len(of_field)} of {len(raters)} participants: {field} not known."
        for field, of_field in known.items()
        if len(of_field) < len(raters)
    ]
    return numbers, known, missing
