"""Gorilla: a row for each event of a participant; the answers are rows of zones that take a response."""

from __future__ import annotations

from lexiscope.resources.platforms.layout import ITEM_NAMES, ProgramExport, first_named, is_number
from lexiscope.resources.tables.cells import CellTable

_END = "END OF FILE"
_RATER = "Participant Private ID"


def layout_of(table: CellTable) -> ProgramExport | None:
    """Return the layout of the data of a task or a questionnaire; ``None`` for another table."""
    if _RATER not in table.header or not {"Response", "Event Index"} & set(table.header):
        return None
    kept = [number for number in range(len(table)) if _is_answer(table, number)]
    answers = table.kept(kept)
    spreadsheet = [name for name in table.header if name.startswith("Spreadsheet: ")]
    plain = {name.removeprefix("Spreadsheet: "): name for name in (*table.header, *spreadsheet)}
    item = plain.get(first_named(list(plain), ITEM_NAMES), "") or first_named(table.header, ("Question Key",))
    notes = []
    if not item and "Spreadsheet Row" in table.header:
        item = "Spreadsheet Row"
        notes.append("No column of the spreadsheet names the items: they are its rows.")
    fields = {"rater": (_RATER,), "rating": ("Response",)}
    if item:
        fields["item"] = (item,)
    own = {name for name in table.header if name in _OWN or name.startswith(_OWN_FIRST)}
    return ProgramExport(answers, "Gorilla", fields, tuple(notes), frozenset(own))


def _is_answer(table: CellTable, number: int) -> bool:
    """Whether a row has a response that a participant gave, not a button that continues, and a number if others
    have."""
    cells = {name: table[name][number].strip() for name in _LOOKED_AT if name in table.header}
    if not cells.get("Response") or cells.get("Event Index") == _END or not table[_RATER][number].strip():
        return False
    if "Zone Type" in cells:
        # the first Task Builder: response_rating_scale_likert, continue_button …
        return cells["Zone Type"].startswith("response_")
    if "Response Type" in cells:
        # the second one: response, continue, action, info …
        return cells["Response Type"].casefold() == "response"
    return is_number(cells["Response"])


_LOOKED_AT = ("Response", "Event Index", "Zone Type", "Response Type")
_OWN_FIRST = ("UTC ", "Local ", "Experiment ", "Participant ", "Task ", "Tree Node ", "Randomise ", "Room ", "Screen ",
              "Zone ", "Reaction ", "Response", "Object ", "Tag", "Counterbalance")  # fmt: skip
_OWN = {
    *("Event Index", "Repeat Key", "Schedule ID", "Checkpoint", "Spreadsheet", "Spreadsheet Name", "Spreadsheet Row"),
    *("Trial Number", "Attempt", "Correct", "Incorrect", "Dishonest", "X Coordinate", "Y Coordinate", "Timed Out"),
    *(
        "randomise_blocks",
        "randomise_trials",
        "display",
        "Display",
        "Question Key",
        "Question",
        "Key",
        "Current Display",
    ),
    *("Manipulation", "Current Spreadsheet", "Store", "Onset Time", "Clock Time", "Absolute Onset Time"),
}
"""The columns that Gorilla adds to those of the spreadsheet."""
