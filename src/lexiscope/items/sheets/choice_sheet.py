"""The forced choice between two substitutes as a sheet: written as CSV, answered by hand, read back as responses.

A row of the sheet is an item of the task ``substitution``: the sentence with its target in brackets, and twice again
with a candidate in its place, A and B in the order of the item's options. People write A or B under ``answer``, may
leave it empty, and mark what is itself wrong under ``weird``. The key is not in the sheet.

What comes back is one row ``choice`` per item, the candidate as ``option`` and missing where none was chosen, and one
row ``flag_weird``, 1 or 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.settings import Option
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.items.choice_sets.surface import Mode, place_word
from lexiscope.items.sheets.form import FilledRow, SheetForm, TextColumn, answer_column, parse_mark

MEASURE_CHOICE, MEASURE_WEIRD = "choice", "flag_weird"
LETTERS = ("A", "B")


def write_choice_sheet(path: Path | str, items: Sequence[Item]) -> None:
    """Write the sheet of some items of the task ``substitution``, in their order and with their options as A and B.

    :func:`lexiscope.items.sheets.choice_sheet.human_sheet` makes the items of the published sheet.
    Errors: :class:`InputError` E617 for an item without two options; :class:`~lexiscope.core.errors.RunError` where the
    file cannot be written.
    """
    for item in items:
        _check_two_options(item)
    SHEET.write(path, items)


def read_choice_sheet(path: Path | str, items: Sequence[Item], *, participant: str, task: str) -> ResponseTable:
    """Read an answered sheet; the rows are in the order of the sheet, which people may have sorted otherwise.

    An empty answer is a row without option. Letters may be small; a mark of weirdness is x, 1 or yes.
    Errors: :class:`InputError` E471 (a row of no item), E472 (an item occurs twice), E473 (an item is missing), E474
    (what was shown has been changed), E475 (an answer that is neither A, B nor empty, a mark that is none), those of
    :meth:`~lexiscope.items.sheets.form.SheetForm.read`, and E505 for a participant without a name.
    """
    if not participant.strip():
        raise InputError("a sheet needs the name of its participant", code="E505", hint="use a code, not a full name")
    for item in items:
        _check_two_options(item)
    rows: list[Response] = []
    for position, row in enumerate(SHEET.read(path, items)):
        rows.extend(_responses(row, participant, position, task))
    return ResponseTable.from_rows(rows)


def _check_two_options(item: Item) -> None:
    if len(item.options) != len(LETTERS):
        what = f"a choice needs two options, not {item.options!r}"
        raise InputError(what, code="E617", place=Place(item_id=item.item_id), hint="give the candidates as options")


def _bracketed(item: Item, word: str) -> str:
    usage, mode = item.usages[0], item.conditions.get("mode", "clean")
    published: Mode = "published" if mode == "published" else "clean"
    return place_word(usage.text, (usage.start, usage.end), word, language=usage.language, mode=published).bracketed


def _letter(text: str) -> str:
    if text.upper() not in ("", *LETTERS):
        raise InputError(f"{text!r} is not an answer", code="E475", hint="write A, B, or nothing")
    return text.upper()


SHEET: SheetForm[Item] = SheetForm(
    "an answered sheet",
    (
        TextColumn("item_id", lambda item: item.item_id),
        TextColumn("target", lambda item: item.usages[0].target),
        TextColumn("sentence", lambda item: item.usages[0].bracketed),
        TextColumn("option_a", lambda item: item.options[0]),
        TextColumn("sentence_a", lambda item: _bracketed(item, item.options[0])),
        TextColumn("option_b", lambda item: item.options[1]),
        TextColumn("sentence_b", lambda item: _bracketed(item, item.options[1])),
        answer_column("answer", _letter),
        answer_column("weird", parse_mark),
        answer_column("comment"),
    ),
    key="item_id",
)
"""The columns of the sheet."""


def _responses(row: FilledRow[Item], participant: str, position: int, task: str) -> Iterator[Response]:
    answer = row.values["answer"]
    given = Response(
        subject_id=participant,
        subject_kind="participant",
        item_id=row.thing.item_id,
        task=task,
        measure=MEASURE_CHOICE,
        option=row.thing.options[LETTERS.index(answer)] if answer else None,
        view="full",
        position=position,
        raw=answer or None,
    )
    yield given
    yield replace(
        given,
        measure=MEASURE_WEIRD,
        option=None,
        value=float(row.values["weird"]),
        raw=row.values["comment"] or None,
    )


# -- the sheet of the human substitution test -------------------------------------------------------------------------
# The sheet of the human substitution test, as items: each sentence with its target, then both candidates.
#
# The order of the candidates is that of the sheet which the two annotators of the synonymy study were given.


SHEET_SEED = 160
"""The seed of the published order."""
SHEET_MODE: Mode = "clean"
"""How the texts of a sheet are written by default."""


def shown_orders(n_items: int, *, seed: int = SHEET_SEED) -> tuple[bool, ...]:
    """Return, for each item, whether the synonym is first. *Source:* the synonymy study, released code.

    >>> shown_orders(4)
    (True, True, False, True)
    """
    # the legacy generator, whose stream never changes: it is that of the published sheet
    draw = np.random.RandomState(seed)
    return tuple(int(draw.randint(0, 2)) == 0 for _ in range(n_items))


def human_sheet(
    items: Sequence[SynonymItem],
    *,
    seed: Annotated[int, Option("draws which candidate is A", least=0)] = SHEET_SEED,
    mode: Annotated[Mode, Option("how texts are written")] = SHEET_MODE,
    dataset: str = "synonymy",
) -> tuple[Item, ...]:
    """Return the sheet as items of the task ``substitution``, the candidates as ``options`` in the order shown.

    ``gold`` is the synonym; the condition ``key`` says whether it is A (first) or B. Ids are
    ``<dataset>/<item>/people``. Controls, which have no second candidate, are not on it.
    """
    made = []
    asked = [item for item in items if not item.is_control]
    for item, first in zip(asked, shown_orders(len(asked), seed=seed), strict=True):
        span = (item.start, item.end)
        placed = place_word(item.sentence, span, item.sentence[slice(*span)], tokenised=item.tokenised, mode=mode)
        # the sense is with the usage, where the page does not show it
        sense = item.sense_key or None
        usage = Usage(placed.text, placed.start, placed.end, item.target, item.tag, item.language, sense)
        words = item.words("controlled", mode=mode)
        about: dict[str, Condition] = {
            "key": "A" if first else "B",
            "mode": mode,
            "item": item.number,
            "target": item.target,
            "sentence": item.sentence_id or item.item_id,
        }
        made.append(
            Item(
                f"{dataset}/{item.item_id}/people",
                dataset,
                (usage,),
                options=words if first else words[::-1],
                gold=words[0],
                conditions=about,
            )
        )
    return tuple(made)
