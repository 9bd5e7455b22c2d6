"""Choices as their papers' sheets have them: same sense (BIAS), substitution (synonymy), intrusion and senses (GASI).

The paper's columns come first; what identifies the judgment stands behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lexiscope.annotation.export.collected import Collected, Row, slot_order
from lexiscope.annotation.export.plain_form import first_condition, judgment_cells
from lexiscope.core.item import Item
from lexiscope.items.arrange.views import shown_texts
from lexiscope.items.sheets.sheet import Column, Sheet, sheet_of
from lexiscope.items.tables.neutral import Cell

Cells = dict[str, Cell]

IDENTITY = (
    Column("item_id", "the item", "id"),
    Column("participant_id", "random id of the participant", "id"),
)
_CONTEXT = (Column("context1", "context 1 as it was shown: target in brackets, [X] where it was hidden"),)
_ORDER = Column("shown_order", "order of the options on the page; []: as given", "text")
_COMMENT = Column("comment", "the participant's comment", "text")


def same_sense(collected: Collected) -> tuple[Sheet, ...]:
    """Return the sheet of WiC and its kin (BIAS, Figure 5): contexts as they were shown, label, guessed word."""
    return (_labelled(collected, "wic_judgments.csv", (*_CONTEXT, Column("context2", "context 2 as it was shown"))),)


def sense_verification(collected: Collected) -> tuple[Sheet, ...]:
    """Return the same for WiC-TSV: the context as it was shown, the sense beside it, label, guessed word."""
    sense = (Column("definition", "the sense that was asked about"), Column("hypernyms", "its broader terms"))
    return (_labelled(collected, "verification_judgments.csv", (*_CONTEXT, *sense)),)


def _labelled(collected: Collected, file: str, shown: Sequence[Column]) -> Sheet:
    columns = (
        Column("example_no", "number of the example, from 1", "integer", low=1),
        *shown,
        Column("label", "the answer: t (same meaning; it fits) or f", "category"),
        Column("word", "the guessed word, in its basic form", "text"),
        Column("undecided", "the participant said that no decision was possible", "truth"),
        Column("view", "full, context or word", "category"),
        Column("phase", "trials; reveal: the same item again, target shown", "category"),
    )

    def cells(row: Row, item: Item) -> Cells:
        view = "full" if row["phase"] == "reveal" else collected.view_of(row["list_id"])
        contexts = {f"context{k}": text for k, text in enumerate(shown_texts(item, view), start=1)}
        sense = {name: first_condition(item.conditions, name) for name in ("definition", "hypernyms")}
        said = {"label": row["response"], "word": row["guessed_word"], "view": view, "phase": row["phase"]}
        return {**sense, **contexts, **said}

    return numbered(collected, file, columns, cells, phases=("trials", "reveal"))


def substitution(collected: Collected) -> tuple[Sheet, ...]:
    """Return the forced choices between two substitutes."""
    columns = (
        Column("item", "the item", "id"),
        Column("target", "the word that is substituted", "id"),
        Column("option1", "first candidate as given", "text"),
        Column("option2", "second candidate as given", "text"),
        Column("correct_option", "the right candidate, as the items give it", "text"),
        Column("choice", "the candidate that was chosen; empty where none was", "text", answer=True),
        Column("weird", "the participant marked the item as weird", "truth"),
        _COMMENT,
        _ORDER,
    )

    def cells(_row: Row, item: Item) -> Cells:
        words: tuple[Cell, ...] = item.options or tuple(first_condition(item.conditions, f"option_{k}") for k in (1, 2))
        given: Cells = {f"option{k}": word for k, word in enumerate(words, start=1)}
        right = item.gold or first_condition(item.conditions, "correct_option")
        return {**given, "item": item.item_id, "target": item.usages[0].target, "correct_option": right}

    return (numbered(collected, "substitution_judgments.csv", columns, cells),)


def word_intrusion(collected: Collected) -> tuple[Sheet, ...]:
    """Return who found which intruder."""
    columns = (
        Column("model", "the model whose senses are judged", "category"),
        Column("word", "the word", "id"),
        Column("sense", "the sense whose neighbours are shown", "category"),
        Column("intruder_id", "which of the sense's intruders", "category"),
        _ORDER,
        Column("choice", "the word that was chosen as not belonging", "text", answer=True),
        Column("correct", "the choice is the intruder", "truth"),
    )

    def cells(row: Row, item: Item) -> Cells:
        known = {name: first_condition(item.conditions, name) for name in ("model", "sense", "intruder_id")}
        intruder = item.gold or first_condition(item.conditions, "intruder")
        found = None if intruder is None or row["response"] is None else row["response"] == intruder
        return {**known, "word": item.word, "correct": found}

    return (numbered(collected, "intrusion_judgments.csv", columns, cells),)


def sense_choice(collected: Collected) -> tuple[Sheet, ...]:
    """Return which sense group people chose, beside what the model chose."""
    columns = (
        Column("model", "the model whose senses are shown", "category"),
        Column("word", "the word", "id"),
        Column("sentence_id", "the sentence", "id"),
        _ORDER,
        Column("choice", "the sense that was chosen", "text", answer=True),
        Column("model_choice", "the sense that the model chose", "text", answer=True),
        Column("model_probs", "the model's probability of each sense: sense=probability, joined by ' | '", "text"),
    )

    def cells(_row: Row, item: Item) -> Cells:
        names = ("model", "sentence_id", "model_choice")
        known = {name: first_condition(item.conditions, name) for name in names}
        shares = [f"{name[2:]}={value}" for name, value in item.conditions.items() if name.startswith("p_")]
        return {**known, "word": item.word, "model_probs": " | ".join(shares) or None}

    return (numbered(collected, "sense_judgments.csv", columns, cells),)


def numbered(
    collected: Collected,
    file: str,
    columns: Sequence[Column],
    cells: Callable[[Row, Item], Cells],
    *,
    phases: Sequence[str] = ("trials",),
) -> Sheet:
    """Return a row per answer that counts, in the order of the items' numbers; *cells* adds what the paper has."""
    numbers = {name: k for k, name in enumerate(sorted(item.item_id for item in collected.design.items), start=1)}
    valid = collected.standing.valid
    chosen = [
        row
        for row in collected.rows
        if row["kind"] == "item" and row["phase"] in phases and row["participant_id"] in valid
    ]
    chosen.sort(key=lambda row: (numbers[row["item_id"]], slot_order(row), row["phase"] == "reveal"))
    rows: list[Cells] = []
    for row in chosen:
        item = collected.items[row["item_id"]]
        own: Cells = {"example_no": numbers[item.item_id], "item_id": item.item_id}
        rows.append(judgment_cells(row) | own | cells(row, item))
    return sheet_of(file, "one judgment of one item by one participant", (*columns, *IDENTITY), rows)
