"""The long tables of an export: judgments, participants, items, exclusions, display orders."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

from lexiscope.annotation.export.pasted_ids import without_ids
from lexiscope.annotation.export.study_data import StudyData, minutes_of, session_minutes_of
from lexiscope.annotation.store.export import LONG_SCHEMA
from lexiscope.core.item import Item
from lexiscope.core.run import atomic_file
from lexiscope.items.sheets.form import KIND, Sheet, SheetColumn, sheet_of
from lexiscope.items.sheets.long_rows import ColumnRows, mapped
from lexiscope.items.tables.neutral import Cell
from lexiscope.tasks.kit.published_sheets import COMMENT, ITEM_ID, PARTICIPANT_ID

_ROWS_OF_GROUP = 1 << 16
"""The rows of a group of a Parquet file."""
JUDGMENTS_FILE = "judgments.csv"
LIST_ID = SheetColumn("list_id", "the list", "category")
JUDGMENTS: tuple[SheetColumn, ...] = (
    SheetColumn("study_id", "the study's name", "category"),
    SheetColumn("task_type", "the task that was answered", "category"),
    SheetColumn("item_id", "the item; its texts and conditions are in items.csv", "id"),
    SheetColumn("confusion_set", "items with the same value were kept apart (word, story)", "id"),
    SheetColumn("list_id", "the list that the participant answered; empty before a place was taken", "category"),
    SheetColumn("slot", "place on the list, from 1; empty for a surplus participant", "integer", low=1),
    SheetColumn("participant_id", "random id of the participant; no id of a recruiting platform", "id"),
    KIND,
    SheetColumn("trial_index", "position of the trial within its phase, from 0", "integer", low=0),
    SheetColumn("phase", "part of the session", "category"),
    SheetColumn("kind", "what the item is for; only kind item counts in item statistics", "category"),
    SheetColumn("display_order", "order of the options: place i showed option display_order[i]; []: as given", "text"),
    SheetColumn("side", "which sentence stood left: as_given or swapped; empty where there is one", "category"),
    SheetColumn("response", "the answer: a number on the scale, or the option chosen", "text", answer=True),
    SheetColumn("response_text", "the text that was written, where the answer is a text", "text"),
    SheetColumn("label_undecided", "the participant said that no decision was possible", "truth"),
    SheetColumn("flag_nonsensical", "the participant marked the text as nonsensical", "truth"),
    SheetColumn("flag_weird", "the participant marked the item as weird", "truth"),
    SheetColumn("guessed_word", "the word that the participant guessed for a hidden target", "text"),
    COMMENT,
    SheetColumn("shown_at", "when the page was first shown, by the server's clock", "time", unit="UTC"),
    SheetColumn("answered_at", "when the answer was stored, by the server's clock", "time", unit="UTC"),
    SheetColumn("rt_ms", "response time, measured in the browser where it could be", "number", unit="ms", low=0),
    SheetColumn("n_revisions", "how often the answer was changed; the last one is given", "integer", low=0),
    SheetColumn("guideline_version", "version of the instructions: first 12 digits of their SHA-256", "id"),
    SheetColumn("item_sha256", "SHA-256 of what the item can show", "id"),
    SheetColumn("excluded", "the participant is excluded from the analysis", "truth"),
    SheetColumn("exclusion_rule", "by which rule, or why; empty where not excluded", "category"),
    # the two that the specification of the long export does not name come behind those that it does
    SheetColumn("flag_skipped", "the participant asked for another item instead of answering this one", "truth"),
    SheetColumn("flag_not_found", "the participant said that there is no page for the target", "truth"),
)

_PEOPLE: tuple[SheetColumn, ...] = (
    PARTICIPANT_ID,
    LIST_ID,
    SheetColumn("view", "what was shown of the items of the list", "category"),
    SheetColumn("number", "number from which order, sides and options of the trials follow", "integer", low=0),
    SheetColumn("state", "where the participant stood at the export", "category"),
    SheetColumn("surplus", "the list had filled before the participant came back", "truth"),
    SheetColumn("valid", "finished and not excluded: the answers count", "truth"),
    SheetColumn("exclusion_rule", "by which rule the participant is excluded, or why", "category"),
    SheetColumn("n_answered", "trials answered", "integer", low=0),
    SheetColumn("minutes", "from the first trial to the last answer; rules on time read this", "number", "minutes", 0),
    SheetColumn("session_minutes", "from consent to the last answer, pauses too: what is paid", "number", "minutes", 0),
)
_EXCLUSIONS: tuple[SheetColumn, ...] = (
    SheetColumn("order", "place of the rule in the order of application, from 1", "integer", low=1),
    SheetColumn("rule", "the rule as declared, with all settings", "id"),
    SheetColumn("description", "the rule as a sentence", "text"),
    SheetColumn("before", "participants before the rule", "integer", low=0),
    SheetColumn("removed", "participants removed by it", "integer", low=0),
    SheetColumn("after", "participants after it", "integer", low=0),
    SheetColumn("not_judged", "why the rule could not be judged; empty where it was", "text"),
)
_EXCLUDED: tuple[SheetColumn, ...] = (
    PARTICIPANT_ID,
    LIST_ID,
    SheetColumn("reason", "the first rule that caught the participant, or the reason given by hand", "category"),
)
_ORDERS: tuple[SheetColumn, ...] = (
    *(column for column in _PEOPLE if column.name in ("participant_id", "list_id", "number")),
    *(column for column in JUDGMENTS if column.name in ("phase", "trial_index", "item_id", "kind")),
    *(column for column in JUDGMENTS if column.name in ("display_order", "side")),
)


def judgments_sheet(collected: StudyData) -> Sheet:
    """Return every judgment, also those of excluded people, with the columns of the long export."""
    row_is = "one judgment: the latest answer of one participant to one item in one phase"
    table = collected.rows.table(*(column.name for column in JUDGMENTS))
    return Sheet(JUDGMENTS_FILE, row_is, JUDGMENTS, ColumnRows.of_table(table))


def write_judgments(collected: StudyData, path: Path) -> None:
    """Write the judgments as Parquet; the same rows give identical files."""
    table = collected.rows.table(*LONG_SCHEMA.names)
    with atomic_file(path) as sink, parquet.ParquetWriter(sink, LONG_SCHEMA, compression="zstd") as writer:
        for start in range(0, len(table), _ROWS_OF_GROUP):
            rows = table.slice(start, _ROWS_OF_GROUP)
            writer.write_table(rows.cast(LONG_SCHEMA), row_group_size=_ROWS_OF_GROUP)


def people_sheet(collected: StudyData) -> Sheet:
    """Return the participants, with their answers about themselves."""
    about = [
        SheetColumn(f"about_{question.measure}", question.text, "category")
        for question in collected.definition.about_you
    ]
    reports = _self_reports(collected)
    rows: list[dict[str, Cell]] = []
    for person in sorted(collected.people, key=lambda person: person.participant_id):
        minutes, session = minutes_of(person), session_minutes_of(person)
        row: dict[str, Cell] = {
            "participant_id": person.participant_id,
            "list_id": person.list_id,
            "view": collected.view_of(person.list_id) if person.list_id else None,
            "number": collected.numbers.get(person.participant_id),
            "state": str(person.state),
            "surplus": person.surplus,
            "valid": person.participant_id in collected.participant_counts.valid,
            "exclusion_rule": _exclusion_reason(collected, person.participant_id),
            "n_answered": person.n_answered,
            "minutes": None if minutes is None else round(minutes, 3),
            "session_minutes": None if session is None else round(session, 3),
        }
        rows.append(row | reports.get(person.participant_id, {}))
    return sheet_of("participants.csv", "one participant", (*_PEOPLE, *about), rows)


def exclusions_sheet(collected: StudyData) -> Sheet:
    """Return what each exclusion rule did, in order."""
    rows = [
        {
            "order": order,
            "rule": count.rule,
            "description": count.description,
            "before": count.n_before,
            "removed": count.n_removed,
            "after": count.n_after,
            "not_judged": None if count.waiting is None else str(count.waiting),
        }
        for order, count in enumerate(collected.participant_counts.rules, start=1)
    ]
    return sheet_of("exclusions.csv", "one exclusion rule", _EXCLUSIONS, rows)


def excluded_sheet(collected: StudyData) -> Sheet:
    """Return the excluded participants with their reasons."""
    lists = {person.participant_id: person.list_id for person in collected.people}
    rows = [
        {"participant_id": who, "list_id": lists.get(who), "reason": _exclusion_reason(collected, who)}
        for who in sorted(collected.participant_counts.excluded)
    ]
    return sheet_of("excluded_participants.csv", "one excluded participant", _EXCLUDED, rows)


def orders_sheet(collected: StudyData) -> Sheet:
    """Return the order, sides and option orders of every trial as they were shown."""
    rows = collected.rows.where(phase=("trials", "reveal")).ordered_by(
        participant_id=str, phase="reveal".__eq__, trial_index=lambda number: number or 0
    )
    names = [column.name for column in _ORDERS]
    table = rows.table(*(name for name in names if name != "number"))
    numbers = mapped(table.column("participant_id"), collected.numbers.get, pa.int64())
    shown = table.append_column("number", numbers).select(names)
    return Sheet("display_orders.csv", "one trial as it was shown", _ORDERS, ColumnRows.of_table(shown))


def items_sheet(collected: StudyData) -> Sheet:
    """Return the items: texts, targets, senses, options, conditions."""
    in_catch = {item.item_id for items in collected.design.catch for item in items}
    lists: dict[str, list[str]] = {}
    for number, (real, catch) in enumerate(zip(collected.design.lists, collected.design.catch, strict=True), start=1):
        for item in (*real, *catch):
            lists.setdefault(item.item_id, []).append(str(number))
    columns = _item_columns(collected)
    rows: list[dict[str, Cell]] = []
    for name, item in sorted(collected.items.items()):
        kind = "catch" if name in in_catch else "item"
        rows.append({"item_id": name, "kind": kind, "lists": "|".join(lists[name]), **item_cells(item)})
    return sheet_of("items.csv", "one item", columns, rows)


def item_cells(item: Item) -> dict[str, Cell]:
    """Return what an item shows, as cells by column."""
    cells: dict[str, Cell] = {"word": item.word, "options": json.dumps(item.options, ensure_ascii=False)}
    for number, usage in enumerate(item.usages, start=1):
        cells |= {f"sentence_{number}": usage.text, f"target_{number}": usage.target, f"sense_{number}": usage.sense}
        cells |= {f"start_{number}": usage.start, f"end_{number}": usage.end}
    cells["gold"] = item.gold
    conditions = {condition_column(name): value for name, value in item.conditions.items()}
    return {"language": item.usages[0].language} | conditions | cells


def condition_column(name: str) -> str:
    """Return the column of a condition: its name, unless a column of the items has it already."""
    own = {"item_id", "kind", "lists", "word", "options", "gold"}
    parts = ("sentence_", "target_", "sense_", "start_", "end_")
    return f"condition_{name}" if name in own or name.startswith(parts) else name


def _item_columns(collected: StudyData) -> tuple[SheetColumn, ...]:
    items = collected.items.values()
    usages = range(1, 1 + max(len(item.usages) for item in items))
    names = sorted({"language"}.union(*(item.conditions for item in items)))
    about = {"language": "the language of the item"}
    return (
        ITEM_ID,
        SheetColumn("kind", "item, or catch: not in the item statistics", "category"),
        SheetColumn("lists", "the lists that have the item", "text"),
        SheetColumn("word", "what items are grouped by: the lemma of the first target", "id"),
        *(column for number in usages for column in _usage_columns(number)),
        SheetColumn("options", "the options as given, as a JSON list; [] where there are none", "text"),
        SheetColumn("gold", "the correct answer, if there is one", "text", answer=True),
        *(
            SheetColumn(condition_column(name), about.get(name, f"the condition {name} of the design"), "category")
            for name in names
        ),
    )


def _usage_columns(number: int) -> tuple[SheetColumn, ...]:
    return (
        SheetColumn(f"sentence_{number}", f"text {number}", "text"),
        SheetColumn(f"target_{number}", f"the target, as written in text {number}", "text"),
        SheetColumn(f"start_{number}", f"first character of the target in text {number}, from 0", "integer", low=0),
        SheetColumn(f"end_{number}", f"end of the target in text {number}: the character after it", "integer", low=0),
        SheetColumn(f"sense_{number}", f"sense of the target in text {number}, where the items name it", "text"),
    )


def _self_reports(collected: StudyData) -> dict[str, dict[str, Cell]]:
    reports: dict[str, dict[str, Cell]] = {}
    for row in collected.rows.where(phase=("demographics",)):
        measure = row["item_id"].removeprefix("about:")
        answer = row["response"] if row["response"] is not None else row["response_text"]
        reports.setdefault(row["participant_id"], {})[f"about_{measure}"] = answer
    return reports


def _exclusion_reason(collected: StudyData, participant_id: str) -> str | None:
    return without_ids(collected.participant_counts.excluded.get(participant_id), collected.platform_ids)
