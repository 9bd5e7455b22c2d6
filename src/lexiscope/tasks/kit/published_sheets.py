"""What tasks share of the tables in which a study of them is published (``Screen.published``): columns and cells.

Only answers that count are in them: to items, in the trials, of people who finished and are not excluded.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.items.arrange.views import shown_texts
from lexiscope.items.sheets.form import Sheet, SheetColumn, sheet_of
from lexiscope.items.sheets.long_rows import TableRows
from lexiscope.items.tables.neutral import Cell

Row = Mapping[str, Any]
"""A judgment by the names of its columns, as the store has it."""
Cells = dict[str, Cell]

NUMBER = SheetColumn("example_no", "number of the example, from 1", "integer", low=1)
VIEW = SheetColumn("view", "full, context or word", "category")
ITEM_ID = SheetColumn("item_id", "the item", "id")
PARTICIPANT_ID = SheetColumn("participant_id", "random id of the participant", "id")
COMMENT = SheetColumn("comment", "the participant's comment", "text")
SHOWN_ORDER = SheetColumn("shown_order", "order of the options on the page; []: as given", "text")
CONTEXT = SheetColumn("context1", "context 1 as it was shown: target in brackets, [X] where it was hidden")

_IDENTITY = (
    ITEM_ID,
    PARTICIPANT_ID,
)
_STATUS = (
    SheetColumn("status", "accepted, rejected or not reviewed", "category"),
    SheetColumn("review_reason", "why it was rejected or edited", "text"),
)
_WRITER = SheetColumn("participant_id", "random id of the writer", "id")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What a researcher decided about a text that a participant wrote: verdict, the edited text if any, why."""

    verdict: str
    text: str | None = None
    reason: str = ""


_UNREVIEWED = Reviewed("not reviewed")


class Judgments(Protocol):
    """The items of a study and the answers of its included participants."""

    @property
    def asked(self) -> Sequence[Item]:
        """The items, without catch trials."""

    @property
    def items(self) -> Mapping[str, Item]:
        """The items by id, catch trials too."""

    @property
    def scale(self) -> Scale:
        """The scale of the study's ratings."""

    @property
    def first_view(self) -> str:
        """The first view of the study."""

    @property
    def simulated(self) -> bool:
        """Whether the participants are simulated."""

    @property
    def reviews(self) -> Mapping[tuple[str, str], Reviewed]:
        """What was decided about texts, by participant and item."""

    @property
    def valid_rows(self) -> TableRows:
        """The answers that count, by list, place on the list, participant and trial."""

    @property
    def valid_rows_revealed(self) -> TableRows:
        """The same with the second answers, given with the target shown; each follows its first."""

    def view_of(self, list_id: str | None) -> str:
        """Return the view of a list."""


def first_condition(conditions: Mapping[str, object], *names: str) -> Cell:
    """Return the first of several names that an item's conditions have; missing where they have none.

    Item files of different origin name the same thing differently (``Gender_s1``, ``gender_1``).
    """
    value = next((conditions[name] for name in names if name in conditions), None)
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def judgment_cells(row: Row) -> Cells:
    """Return the cells of a judgment that a published table may show in addition to its answer."""
    return {
        "Participant": row["participant_id"],
        "participant_id": row["participant_id"],
        "group": row["list_id"],
        "slot": row["slot"],
        "choice": row["response"],
        "nonsensical": row["flag_nonsensical"],
        "weird": row["flag_weird"],
        "undecided": row["label_undecided"],
        "word_guessed": row["guessed_word"],
        "comment": row["comment"],
        "shown_order": row["display_order"],
        "text": row["response_text"],
    }


def answers_by_item(judgments: Judgments) -> dict[tuple[str, str], list[str]]:
    """Return the answers that count by item and view, in the order of the places on the lists."""
    answers: dict[tuple[str, str], list[str]] = {}
    views: dict[str | None, str] = {}
    for item_id, list_id, response in judgments.valid_rows.columns("item_id", "list_id", "response"):
        if response is not None:
            view = views[list_id] if list_id in views else views.setdefault(list_id, judgments.view_of(list_id))
            answers.setdefault((item_id, view), []).append(response)
    return answers


def number_cells(values: Sequence[float]) -> Cells:
    """Return mean, SD (n − 1) and median; empty where they are undefined.

    >>> number_cells([1, 2, 4])["median"], number_cells([2])["sd"] is None
    (2.0, True)
    """
    if not values:
        return {"mean": None, "sd": None, "median": None}
    mean = math.fsum(values) / len(values)
    # deviations first, squares after: the shortcut loses the digits of a small SD
    sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else None
    return {"mean": mean, "sd": sd, "median": float(statistics.median(values))}


def numbered_sheet(
    judgments: Judgments,
    file: str,
    columns: Sequence[SheetColumn],
    cells: Callable[[Row, Item], Cells],
    *,
    rows: TableRows | None = None,
) -> Sheet:
    """Return a row per answer that counts, in the order of the items' numbers; *cells* adds what the paper has.

    The paper's columns come first; the columns that identify the judgment follow them. *rows* are other answers than
    those of the trials.
    """
    numbers = {name: k for k, name in enumerate(sorted(item.item_id for item in judgments.asked), start=1)}

    def made() -> Iterator[Cells]:
        chosen = judgments.valid_rows if rows is None else rows
        for row in chosen.ordered_by(item_id=numbers.__getitem__):
            item = judgments.items[row["item_id"]]
            own: Cells = {"example_no": numbers[item.item_id], "item_id": item.item_id}
            yield judgment_cells(row) | own | cells(row, item)

    return sheet_of(file, "one judgment of one item by one participant", (*columns, *_IDENTITY), made())


def label_sheet(judgments: Judgments, file: str, shown: Sequence[SheetColumn]) -> Sheet:
    """Return the sheet of WiC and its kin (BIAS, Figure 5): *shown* as it was shown, label, guessed word.

    The second label of an item whose target was revealed follows the first.
    """
    columns = (
        NUMBER,
        *shown,
        SheetColumn("label", "the answer: t (same meaning; it fits) or f", "category"),
        SheetColumn("word", "the guessed word, in its basic form", "text"),
        SheetColumn("undecided", "the participant said that no decision was possible", "truth"),
        VIEW,
        SheetColumn("phase", "trials; reveal: the same item again, target shown", "category"),
    )

    def cells(row: Row, item: Item) -> Cells:
        view = "full" if row["phase"] == "reveal" else judgments.view_of(row["list_id"])
        contexts = {f"context{k}": text for k, text in enumerate(shown_texts(item, view), start=1)}
        sense = {name: first_condition(item.conditions, name) for name in ("definition", "hypernyms")}
        said = {"label": row["response"], "word": row["guessed_word"], "view": view, "phase": row["phase"]}
        return {**sense, **contexts, **said}

    return numbered_sheet(judgments, file, columns, cells, rows=judgments.valid_rows_revealed)


def search_sheet(judgments: Judgments, file: str) -> Sheet:
    """Return which entry of a list was found for each mention, as it was written."""
    columns = (
        NUMBER,
        SheetColumn("page", "title or address of the page", "text"),
        VIEW,
        SheetColumn("word", "the guessed word, where the target was hidden", "text"),
        SheetColumn("not_found", "the participant said that there is no page for the target", "truth"),
    )

    def cells(row: Row, _item: Item) -> Cells:
        page = row["response_text"] if row["response_text"] is not None else row["response"]
        said = {"word": row["guessed_word"], "not_found": row["flag_not_found"]}
        return {"page": page, "view": judgments.view_of(row["list_id"]), **said}

    return numbered_sheet(judgments, file, columns, cells)


def text_columns(before: Sequence[SheetColumn], what: str, *behind: SheetColumn) -> tuple[SheetColumn, ...]:
    """Return the columns of texts that were written: *before*, the text and its review, *behind*, its writer."""
    raw = SheetColumn(f"{what}_raw", f"the {what} as it was written", "text")
    clean = SheetColumn(f"{what}_clean", f"the {what} as it was accepted, edited or not; empty where it is not", "text")
    return (*before, raw, clean, *_STATUS, *behind, _WRITER)


def text_cells(judgments: Judgments, row: Row, what: str) -> Cells:
    """Return a text that was written, raw and clean, with its review."""
    review = judgments.reviews.get((row["participant_id"], row["item_id"]), _UNREVIEWED)
    raw = row["response_text"]
    clean = (review.text if review.text is not None else raw) if review.verdict == "accepted" else None
    return {
        f"{what}_raw": raw,
        f"{what}_clean": clean,
        "status": review.verdict,
        "review_reason": review.reason or None,
        "participant_id": row["participant_id"],
    }
