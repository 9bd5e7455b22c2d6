"""Relatedness ratings as SAW-C published them: a row per rating, and a row per pair with its norm (SAW-C §3).

The columns are those of the published files, so that what reads those reads these: ``lexiscope agree`` on the ratings,
``lexiscope study saw_c --items`` on them, and the dataset's own reader.
"""

from __future__ import annotations

from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.sheets.sheet import Sheet, SheetColumn, sheet_of
from lexiscope.tasks.kit.published import Cells, Judgments, answers_by_item, first_condition, number_cells

_SAME = {True: "Same Sense", False: "Different Sense"}
_SENSES = (
    SheetColumn("Sense_id_s1", "number of the target's sense in sentence 1, within the word", "category"),
    SheetColumn("Sense_id_s2", "number of the target's sense in sentence 2, within the word", "category"),
)
_GENDERS = (
    SheetColumn("Gender_s1", "grammatical gender of the target in sentence 1", "category"),
    SheetColumn("Gender_s2", "grammatical gender of the target in sentence 2", "category"),
)
_NUMBER = SheetColumn("", "number of the row, from 1", "integer", low=1)
_WORD = SheetColumn("Word", "the ambiguous word", "id")
_SAME_SENSE = SheetColumn("Same_sense", "whether the target has the same sense in both sentences", "category")
_SENTENCES = (SheetColumn("Sentence_1", "sentence 1", "text"), SheetColumn("Sentence_2", "sentence 2", "text"))


def published(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return the ratings and the norms of the study's first view."""
    return ratings(judgments), pairs(judgments)


def ratings(judgments: Judgments) -> Sheet:
    """Return a row per rating that counts."""
    view = judgments.first_view
    rows: list[Cells] = []
    for row in judgments.valid_rows:
        if row["response"] is None or judgments.view_of(row["list_id"]) != view:
            continue
        cells = {"": len(rows) + 1, "Participant": row["participant_id"], "Response": float(row["response"])}
        rows.append(pair_cells(judgments.items[row["item_id"]]) | cells | {"List": row["list_id"]})
    return sheet_of("sawc_judgments.csv", "one rating of one pair by one participant", _rating_columns(), rows)


def pairs(judgments: Judgments) -> Sheet:
    """Return a row per pair, with mean, SD (n − 1), median and number of its ratings."""
    answers, view = answers_by_item(judgments), judgments.first_view
    names = {"mean": "mean_relatedness", "sd": "sd_relatedness", "median": "median_relatedness"}
    rows: list[Cells] = []
    for number, item in enumerate(sorted(judgments.asked, key=_order), start=1):
        given = [float(one) for one in answers.get((item.item_id, view), ())]
        statistics = {names[name]: value for name, value in number_cells(given).items()}
        rows.append(pair_cells(item) | {"": number, "List": item.list_id, "count": len(given)} | statistics)
    return sheet_of("sawc_items.csv", "one pair with its norm", _pair_columns(judgments), rows)


def pair_cells(item: Item) -> Cells:
    """Return the cells of a pair; what its items do not say is missing."""
    first, second = item.usages
    conditions = item.conditions
    same = conditions.get("same_sense")
    gender = first_condition(conditions, "Same_gender", "same_gender_published", "same_gender")
    return {
        "Word": item.word,
        "Tag": "__".join(sorted((first.text, second.text))),
        "Same_sense": _SAME.get(str(same).casefold() == "true") if same is not None else None,
        "Sentence_1": first.text,
        "Sentence_2": second.text,
        "Sense_id_s1": sense_number(first, item.word),
        "Sense_id_s2": sense_number(second, item.word),
        "Gender_s1": first_condition(conditions, "Gender_s1", "gender_1"),
        "Gender_s2": first_condition(conditions, "Gender_s2", "gender_2"),
        "context_cue1": first_condition(conditions, "context_cue1", "cue_1"),
        "context_cue2": first_condition(conditions, "context_cue2", "cue_2"),
        "Same_gender": None if gender is None else str(gender).upper(),
    }


def sense_number(usage: Usage, word: str) -> str | None:
    """Return a usage's sense without its word in front, where that is how it is written.

    >>> sense_number(Usage("Fue al banco", 7, 12, sense="banco.2"), "banco")
    '2'
    """
    return None if usage.sense is None else usage.sense.removeprefix(f"{word}.")


def _rating_columns() -> tuple[SheetColumn, ...]:
    tag = SheetColumn("Tag", "the two sentences in alphabetical order, joined by __: identifies the pair", "id")
    cues = ("context_cue1", "part of speech of the cue in sentence 1"), ("context_cue2", "the same for sentence 2")
    return (
        _NUMBER,
        SheetColumn("Participant", "random id of the participant", "id"),
        SheetColumn("Response", "rating; higher means more related", "number", "points"),
        _WORD,
        tag,
        _SAME_SENSE,
        SheetColumn("List", "the list that the participant answered", "category"),
        *(_SENTENCES[0], _SENSES[0], _GENDERS[0], _SENTENCES[1], _SENSES[1], _GENDERS[1]),
        *(SheetColumn(name, meaning, "category") for name, meaning in cues),
        SheetColumn("Same_gender", "whether both genders are the same: TRUE or FALSE", "category"),
    )


def _pair_columns(judgments: Judgments) -> tuple[SheetColumn, ...]:
    low, high = judgments.scale.low, judgments.scale.high
    return (
        *(_NUMBER, SheetColumn("List", "the list that the pair stands in", "category"), _WORD, _SAME_SENSE),
        *(*_SENTENCES, *_SENSES, *_GENDERS),
        SheetColumn("mean_relatedness", "mean rating; higher means more related", "number", "points", low, high),
        SheetColumn("sd_relatedness", "standard deviation of the ratings (n − 1)", "number", "points", 0),
        SheetColumn("median_relatedness", "median rating", "number", "points", low, high),
        SheetColumn("count", "ratings that count", "integer", low=0),
    )


def _order(item: Item) -> tuple[object, ...]:
    cells = pair_cells(item)
    names = ("Word", "Same_sense", "Sentence_1", "Sentence_2")
    list_id = item.list_id or ""
    return (len(list_id), list_id, *(str(cells[name]) for name in names))
