"""Read the collection and the outcomes, and check each file against the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.items.choice_sets.surface import ArticleRule
from lexiscope.items.choice_sets.templates import synonymy_templates
from lexiscope.resources.tables.delimited import DelimitedTable, read_csv
from lexiscope.resources.tables.plain_lines import read_lines

N_ITEMS, N_RANDOM = 200, 10
ITEM_COLUMNS = (
    *("item", "target", "synonym", "distractor", "position", "sentence_tokens", "sentence", "sense_key"),
    *("wn30_offset", "sense_number", "target_noun_senses", "synset", "token_delta", "semcor_file"),
    *("semcor_sentence", "notes"),
)
NEGATIVE_COLUMNS = ("item", *(f"random{n}" for n in range(1, N_RANDOM + 1)))
OUTCOME_COLUMNS = ("model", "test", "suite", "phrase", "condition", "source_file", "item", "correct")
_EXTRA = ("wn30_offset", "sense_number", "target_noun_senses", "token_delta", "semcor_file", "semcor_sentence", "notes")

# the joint condition (both of its parts) of the suites with context, and of those without
_JOINT = {
    "controlled_and_random": ("controlled", "random"),
    "both_vs_random": ("correct_vs_random", "incorrect_vs_random"),
}
_SUITES = {"relation_context": "relation"}
# plural in form though they are lemmas of the item's synset; the others are found by rule
_PLURALS: Mapping[int, tuple[str, ...]] = {5: ("comforts", "conveniences")}
# typing errors of the released test files (their README, flaws 1 and 3)
_LEAKED = {64: tuple((template, "[bathroom]") for template in ("T13", "T14", "T15"))}
_COMMA = {122: "portion,"}


def read_collection(
    curated: Path, items: Path, negatives: Path, *, article: ArticleRule = "letter"
) -> tuple[SynonymItem, ...]:
    """Read the 200 items from the publisher's file, with what the derived files add.

    Errors: :class:`InputError` with file and line where a file contradicts another, or its rows are not 200.
    """
    published = _published_rows(curated)
    table, nouns = read_csv(items, ITEM_COLUMNS), read_csv(negatives, NEGATIVE_COLUMNS)
    for each in (table, nouns):
        each.expect_length(N_ITEMS, f"{N_ITEMS} items")
        each.expect("item", [str(number) for number in range(1, N_ITEMS + 1)])
    distractors = [_COMMA.get(n, word) for n, word in enumerate(table["distractor"], start=1)]
    theirs = zip(
        table["target"], table["synonym"], distractors, table["position"], table["sentence_tokens"], strict=True
    )
    for row, (ours, own) in enumerate(zip(theirs, published, strict=True)):
        if ours != own:
            raise InputError("this item is not the published one", place=table.place(row), why=f"published: {own}")
    return tuple(_item(table, nouns, row, article) for row in range(N_ITEMS))


def read_outcomes(path: Path, items: Sequence[Item]) -> ResponseTable:
    """Read the outcomes as rows of measure ``correct`` (1 right, 0 wrong), ordered by model and then as the items.

    A joint condition is not kept: that it is the product of its two parts is checked, item by item.
    Errors: :class:`InputError` with file and line for a value other than 0 and 1, a row that comes twice or lacks, or
    a joint condition that is not the product.
    """
    table = read_csv(path, OUTCOME_COLUMNS)
    table.distinct("model", "test", "condition", "item")
    values = table.integers("correct")
    outside = np.flatnonzero((values != 0) & (values != 1))
    if outside.size:
        table.refuse(int(outside[0]), "correct", "0 or 1 is needed here")
    keys = list(zip(table["model"], table["test"], table["condition"], map(int, table["item"]), strict=True))
    found = {key: int(value) for key, value in zip(keys, values, strict=True)}
    _check_names(table)
    _check_joint(table, keys, found)
    return _responses(found, items, path)


def _published_rows(path: Path) -> list[tuple[str, ...]]:
    # the publisher quotes nothing: a quotation mark is a letter of the sentence
    lines = read_lines(path)
    if len(lines) != N_ITEMS:
        raise InputError(f"this file has {len(lines)} lines, not {N_ITEMS}", place=Place(str(path)))
    names = ("target", "synonym", "distractor", "position", "sentence")
    return [tuple(lines.cells(row, names)) for row in range(N_ITEMS)]


def _item(table: DelimitedTable, nouns: DelimitedTable, row: int, article: ArticleRule) -> SynonymItem:
    cells = {name: table[name][row] for name in ITEM_COLUMNS}
    number = row + 1
    plain = SynonymItem.from_tokens(
        f"{number:03d}",
        cells["sentence_tokens"].split(" "),
        int(cells["position"]),
        synonym=cells["synonym"],
        distractor=cells["distractor"],
    )
    return replace(
        plain,
        number=number,
        sentence_id=f"{cells['semcor_file']}/{cells['semcor_sentence']}",
        sense_key=cells["sense_key"],
        synset=tuple(cells["synset"].split("|")),
        random_nouns=tuple(nouns[name][row] for name in NEGATIVE_COLUMNS[1:]),
        plurals=_PLURALS.get(number, ()),
        article=article,
        published_distractor=_COMMA.get(number, ""),
        published_targets=_LEAKED.get(number, ()),
        extra=tuple((name, cells[name]) for name in _EXTRA),
    )


def _check_names(table: DelimitedTable) -> None:
    """Check that suite and expression of every row are those of its template."""
    known = {each.name: (each.suite, each.expression) for each in synonymy_templates()}
    for row, (test, suite, phrase) in enumerate(zip(table["test"], table["suite"], table["phrase"], strict=True)):
        if known.get(test) != (_SUITES.get(suite, suite), phrase):
            table.refuse(row, "test", f"test, suite and phrase are not those of one of {', '.join(known)}")


def _check_joint(table: DelimitedTable, keys: Sequence[tuple[Any, ...]], found: Mapping[tuple[Any, ...], int]) -> None:
    for row, (model, test, condition, item) in enumerate(keys):
        if condition in _JOINT:
            # the product of two outcomes that are 0 or 1
            parts = [found.get((model, test, part, item)) for part in _JOINT[condition]]
            if None in parts or found[model, test, condition, item] != min(part or 0 for part in parts):
                table.refuse(row, "correct", f"{condition} must be 1 where both {' and '.join(_JOINT[condition])} are")


def _responses(found: Mapping[tuple[Any, ...], int], items: Sequence[Item], path: Path) -> ResponseTable:
    models = list(dict.fromkeys(key[0] for key in found))
    names = {(each.suite, each.expression): each.name for each in synonymy_templates()}
    about = [item.conditions for item in items]
    asked = [(names[str(c["suite"]), str(c["expression"])], c["condition"], c["item"]) for c in about]
    missing = [(model, *key) for model in models for key in asked if (model, *key) not in found]
    if missing:
        raise InputError(f"{len(missing)} outcomes lack; the first is {missing[0]}", place=Place(str(path)))
    # by model, then in the order of the items, as every task returns its rows
    return ResponseTable.from_columns(
        {
            "subject_id": [model for model in models for _ in asked],
            "subject_kind": "causal_lm",
            "item_id": [item.item_id for _ in models for item in items],
            "task": "minimal_pair",
            "measure": "correct",
            "value": [float(found[(model, *key)]) for model in models for key in asked],
            "view": "full",
        }
    )
