"""What the paper prints: the numbers that are compared so far, in ``printed.csv`` next to this file.

A record has a status only as the outcome of a comparison with one of these rows.
"""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.study import printed_values

PUBLISHED = printed_values(Path(__file__).with_name("printed.csv"), dataset="ambistory")

STATEMENTS: tuple[tuple[str, str], ...] = (
    (
        "No homonym of the test split occurs in training.",
        "The form base does: 6 of its test samples have the two meanings of 6 training samples. 36 test samples and 9 "
        "dev samples have a definition that also occurs in training.",
    ),
    ("Humans unanimously agree on an example (state).", "Its ratings are 5, 3, 5, 4, 5."),
    (
        "The majority label is 4.",
        "On test the mode of the rounded means is 3 (225 against 223); 4 is the mode over all splits, and the constant "
        "with the best accuracy in each split.",
    ),
    (
        "Low-frequency senses cause disagreement.",
        "The frequency of a sense goes with the mean ratings a little, and not with their standard deviations.",
    ),
    (
        "Open and ended stories do not differ in disagreement.",
        "Neither over all samples nor on test; on train alone they do (p below .05), open stories having the lower "
        "SDs. On test open ones have the higher.",
    ),
)
"""What the paper says, and what the released data say to it."""
