"""Lexiscope's own exports of a study with participants: every judgment (``judgments``), and tables without answers."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.showing import counted
from lexiscope.core.study import MANIFEST
from lexiscope.resources.platforms.layout import ProgramExport
from lexiscope.resources.tables.cells import CellTable
from lexiscope.resources.tables.delimited import read_csv

_JUDGMENTS = {"study_id", "task_type", "item_id", "participant_id", "phase", "kind", "response", "excluded"}
_WITHOUT_ANSWERS = ("participants", "pay", "exclusions", "excluded_participants", "display_orders", "codebook")
_PEOPLE = "participants.csv"


def layout_of(table: CellTable) -> ProgramExport | None:
    """Return the layout of the judgments of an export: those of real items, of included participants.

    Participants who did not finish are known by ``participants.csv`` next to the file.
    Errors: :class:`InputError` for a table of an export that holds no answers.
    """
    path = Path(table.path)
    if path.stem in _WITHOUT_ANSWERS and is_export(path.parent):
        hint = f"give {' or '.join(answer_files(path.parent)) or 'responses.csv'} of the same folder"
        raise InputError(f"{path.name} of an export has no answers", code="E002", place=Place(table.path), hint=hint)
    if not set(table.header) >= _JUDGMENTS:
        return None
    valid = _valid_participants(path.parent)
    kept, n_out = [], 0
    for number in range(len(table)):
        if table["phase"][number] != "trials" or table["kind"][number] != "item":
            continue
        known = valid is None or table["participant_id"][number] in valid
        if known and table["excluded"][number].casefold() != "true":
            kept.append(number)
        else:
            n_out += 1
    notes = ["Taken: judgments of items in the trials; not those of checks and questions about the participant."]
    notes += (
        [f"Excluded: {counted(n_out, 'judgment')} of participants who are excluded or did not finish."] if n_out else []
    )
    if valid is None:
        notes.append(f"There is no {_PEOPLE} next to the file: participants who did not finish are included.")
    fields = {"rater": ("participant_id",), "item": ("item_id",), "rating": ("response",)}
    return ProgramExport(table.kept(kept), "Lexiscope", fields, tuple(notes), frozenset(table.header))


def is_export(folder: Path) -> bool:
    """Return whether a folder is the export of a study with participants."""
    return (folder / MANIFEST).is_file()


def answer_files(folder: Path) -> tuple[str, ...]:
    """Return the files of an export that hold the ratings or choices that count."""
    return tuple(name for name in ("ratings.csv", "choices.csv") if (folder / name).is_file())


def _valid_participants(folder: Path) -> set[str] | None:
    path = folder / _PEOPLE
    if not path.is_file():
        return None
    table = read_csv(path, may_be_empty=True)
    if not {"participant_id", "valid"} <= set(table.columns):
        return None
    return {who for who, valid in zip(table["participant_id"], table["valid"], strict=True) if valid == "True"}
