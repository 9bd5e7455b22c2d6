"""The tokenisation report against Table 3 of SAW-C."""

from __future__ import annotations

import ast

import pytest

from lexiscope.analysis.choices.tokenisation import COUNTS, tokenisation, tokenisation_of_answers
from lexiscope.core.errors import StatisticError
from lexiscope.core.response import Response, ResponseTable

# Table 3: mean, mode and maximum of the token differences, recomputed; mBERT is printed truncated as .997
TABLE_3 = {
    "bert-base-spanish-wwm-cased": (0.682, 1, 3),
    "bert-base-spanish-wwm-uncased": (0.670, 1, 3),
    "distilbert-base-spanish-uncased": (0.670, 1, 3),
    "albert-tiny-spanish": (0.619, 1, 3),
    "albert-base-spanish": (0.619, 1, 3),
    "albert-large-spanish": (0.619, 1, 3),
    "albert-xlarge-spanish": (0.619, 1, 3),
    "albert-xxlarge-spanish": (0.619, 1, 3),
    "roberta-base-bne": (0.643, 0, 3),
    "roberta-large-bne": (0.643, 0, 3),
    "xlm-roberta-base": (0.929, 1, 4),
    "bert-base-multilingual-cased": (0.998, 1, 4),
}


@pytest.mark.published
@pytest.mark.parametrize("model", TABLE_3)
def test_table_3(sawc, model: str) -> None:
    """Mean, mode and maximum of the difference within pairs for every model of the table."""
    rows = sawc.tokens[model]
    mean, mode, largest, over_words, over_pairs = tokenisation(
        [int(row["Num_tokens_s1"]) for row in rows],
        [int(row["Num_tokens_s2"]) for row in rows],
        [len(ast.literal_eval(row["Target_tokens"])) for row in rows],
        [row["Word"].strip() for row in rows],
    )
    assert (round(mean.value, 3), mode.value, largest.value) == TABLE_3[model]
    assert (mean.n, mean.note) == (812, "")
    if model == "bert-base-spanish-wwm-cased":
        assert round(over_words.value, 4) == 1.0686
        assert round(over_pairs.value, 4) == 1.0517


def test_of_equally_frequent_differences_the_smallest_is_the_mode() -> None:
    """Two differences of 0 and two of 1: the smaller is the mode."""
    mean, mode, *_ = tokenisation([5, 5, 5, 5], [5, 5, 6, 4], [1, 1, 1, 1], list("abcd"))
    assert (mean.value, mode.value) == ((0 + 0 + 1 + 1) / 4, 0)


def test_a_target_cut_differently_is_named() -> None:
    """A word with 1 token in one pair and 3 in another enters with 2, and the report says so."""
    over_words = tokenisation([5, 5], [5, 5], [1, 3], ["a", "a"])[3]
    assert over_words.value == (1 + 3) / 2
    assert over_words.note == "cut differently in different pairs: a"


def test_impossible_counts_are_refused() -> None:
    """No pairs, unequal lengths, fractions, negatives and missing counts are errors."""
    for arguments in (
        ([], [], [], []),
        ([5], [5, 6], [1], ["a"]),
        ([5.5], [5], [1], ["a"]),
        ([-5], [5], [1], ["a"]),
        ([float("nan")], [5], [1], ["a"]),
    ):
        with pytest.raises(StatisticError):
            tokenisation(*arguments)


def test_counts_are_found_among_answers_by_subject_and_view() -> None:
    """Tokens of the target serve every view; a subject that did not count every item has no report."""
    values = {"n_tokens_1": {"full": 7, "stop": 8}, "n_tokens_2": {"full": 5, "stop": 6}, "target_tokens": {"word": 2}}
    assert tuple(values) == COUNTS
    rows = [
        Response(subject, "encoder", item, "relatedness", measure, float(value), view=view)
        for subject in ("m", "part")
        for measure, views in values.items()
        for view, value in views.items()
        for item in (("a", "b") if subject == "m" else ("a",))
    ]
    found = tokenisation_of_answers(ResponseTable.from_rows(rows), ["a", "b"], ["bank", "bat"])
    assert list(found) == [("m", "full"), ("m", "stop")]
    assert {(counts[0].value, counts[3].value) for counts in found.values()} == {(2.0, 2.0)}
