"""The columns of SAW-C's published files, and the cells that each item has in them.

Reading checks every file against these cells and writing prints them, so that import and export cannot differ.
"""

from __future__ import annotations

from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

PAIR_COLUMNS = (
    *("Word", "Sentence_1", "Sense_id_s1", "Gender_s1", "Sentence_2", "Sense_id_s2", "Gender_s2"),
    *("context_cue1", "context_cue2", "Same_sense", "Same_gender", "counts", "Tag"),
)
SENTENCE_COLUMNS = ("Sentence", "Word", "Sense_id", "Gender", "Context_cue")
TRIAL_COLUMNS = (
    *("", "Participant", "Response", "Word", "Tag", "Same_sense", "List", "Sentence_1", "Sense_id_s1", "Gender_s1"),
    *("Sentence_2", "Sense_id_s2", "Gender_s2", "context_cue1", "context_cue2", "Same_gender"),
)
NORM_COLUMNS = (
    *("", "List", "Word", "Same_sense", "Sentence_1", "Sentence_2", "Sense_id_s1", "Sense_id_s2"),
    *("Gender_s1", "Gender_s2", "mean_relatedness", "sd_relatedness", "median_relatedness", "count"),
)
TOKEN_COLUMNS = ("", "Word", "Model", "Target_tokens", "Num_tokens_s1", "Num_tokens_s2")

# the byte-level tokenizers see the space before a word: there the published word carries one
LEADING_SPACE = ("roberta-base-bne", "roberta-large-bne")


def item_cells(item: Item) -> dict[str, str]:
    """Return the cells of a pair that its own columns have in every file, by the names of the item file."""
    first, second = item.usages
    conditions = {name: str(value) for name, value in item.conditions.items()}
    return {
        "Word": item.word,
        "Sentence_1": first.text,
        "Sense_id_s1": sense_number(first),
        "Gender_s1": conditions["gender_1"],
        "Sentence_2": second.text,
        "Sense_id_s2": sense_number(second),
        "Gender_s2": conditions["gender_2"],
        "context_cue1": conditions["cue_1"],
        "context_cue2": conditions["cue_2"],
        "Same_sense": conditions["same_sense"],
        "Same_gender": conditions["same_gender_published"],
        "Tag": "__".join(sorted((first.text, second.text))),
    }


def human_cells(item: Item) -> dict[str, str]:
    """Return the cells of a pair as the files of human answers write them."""
    cells = item_cells(item)
    same = cells["Same_sense"] == "True"
    return cells | {
        "Same_sense": "Same Sense" if same else "Different Sense",
        "Same_gender": cells["Same_gender"].upper(),
        "List": item.list_id or "",
    }


def sentence_cells(item: Item, number: int) -> tuple[str, ...]:
    """Return the row of the first (1) or second (2) sentence of a pair in the list of sentences."""
    cells = item_cells(item)
    names = (f"Sentence_{number}", "Word", f"Sense_id_s{number}", f"Gender_s{number}", f"context_cue{number}")
    return tuple(cells[name] for name in names)


def sense_number(usage: Usage) -> str:
    """Return the number of a usage's sense within its word.

    >>> sense_number(Usage("Fue al banco", 7, 12, sense="banco.2"))
    '2'
    """
    return (usage.sense or "").rpartition(".")[2]
