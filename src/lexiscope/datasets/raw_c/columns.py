"""The columns of RAW-C's published files, and the cells that each item has in them.

Reading checks every file against these cells and writing prints them, so that import and export cannot differ.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from lexiscope.core.item import Item

TRIAL_COLUMNS = (
    *("subject", "responses", "word", "same", "version_with_order", "item", "Class", "string"),
    *("ambiguity_type", "relatedness", "version"),
)
NORM_COLUMNS = (
    *("word", "sentence1", "sentence2", "same", "ambiguity_type", "disambiguating_word1", "disambiguating_word2"),
    *("version", "Class", "mean_relatedness", "median_relatedness", "diff", "count", "sd_relatedness"),
    *("distance_bert", "distance_elmo", "se_relatedness", "v1", "v2", "string"),
)
DOMINANCE_COLUMNS = (
    "Unnamed: 0",
    *NORM_COLUMNS[:-1],
    *("dominance_sentence2", "sd_dominance_sentence2", "string"),
)
STIMULUS_COLUMNS = (
    *("Class", "ambiguity_type", "ambiguity_type_mw", "ambiguity_type_oed", "different_frame"),
    *("distance_bert", "distance_elmo", "same", "string", "version", "word"),
)
EXTRACT_COLUMNS = (
    *("word", "sentence1", "sentence2", "same", "ambiguity_type", "Class", "mean_relatedness", "string"),
)
MODELS = ("bert", "elmo")


def item_cells(item: Item) -> dict[str, str]:
    """Return the cells of a pair that do not depend on answers, by the names of the published columns."""
    first, second = item.usages
    conditions = {name: str(value) for name, value in item.conditions.items()}
    return {
        "word": item.word,
        "sentence1": first.text,
        "sentence2": second.text,
        "same": conditions["same_sense"],
        "ambiguity_type": conditions["ambiguity_type"],
        "disambiguating_word1": conditions["disambiguating_word_1"],
        "disambiguating_word2": conditions["disambiguating_word_2"],
        "version": conditions["version"],
        "Class": conditions["class"],
        "v1": conditions["version"][:4],
        "v2": conditions["version"][5:],
        "string": first.target,
        "item": conditions["item_number"],
        "dominance_sentence2": conditions.get("dominance_sentence2", ""),
        "sd_dominance_sentence2": conditions.get("sd_dominance_sentence2", ""),
    }


def stimulus_cells(item: Item) -> dict[str, str]:
    """Return the cells of a pair that only the list of stimuli has, and those that it writes differently."""
    names = ("ambiguity_type_mw", "ambiguity_type_oed", "different_frame")
    cells = item_cells(item)
    return cells | {name: str(item.conditions[name]) for name in names} | {"same": cells["same"].upper()}


def norm_cells(ratings: Sequence[float]) -> dict[str, str]:
    """Return the published norms of a pair from its ratings, rounded to nine decimals as published.

    *Higher means:* more related. *Source:* columns of ``raw-c.csv``; the standard deviation is that with n-1.

    >>> norm_cells([1, 2, 4])["mean_relatedness"], norm_cells([1, 2, 4])["diff"]  # 7/3, |7/3 - 2|
    ('2.333333333', '0.333333333')
    """
    n, total, squares = len(ratings), sum(ratings), sum(rating * rating for rating in ratings)
    # ratings are whole numbers: these sums are exact, and so is the variance up to one division
    mean, median, sd = total / n, statistics.median(ratings), math.sqrt((n * squares - total * total) / (n * (n - 1)))
    numbers = {
        "mean_relatedness": mean,
        "median_relatedness": median,
        "diff": abs(mean - median),
        "sd_relatedness": sd,
        "se_relatedness": sd / math.sqrt(n),
    }
    return {name: repr(round(float(number), 9)) for name, number in numbers.items()} | {"count": str(n)}
