"""How the answers of the study read on the Results page: which part of the input is above what guessing gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.showing import enumerated
from lexiscope.report.answers.answer import PARTLY, UNDECIDED, Answer, side_of
from lexiscope.report.answers.numbers import SHARE, Numbers, Quantity, pick
from lexiscope.report.answers.subjects import SubjectEstimates

_POINTS = Quantity("", "Points", bounds=None, digits=1, times=100.0, unit=" points")
_PARTS = {"context": "the context alone", "word": "the word alone"}
_VIEWS = ("full", "context", "word", "label")
ACCURACIES = SubjectEstimates(
    "Accuracy by part of the input",
    pick("accuracy", view=_VIEWS),
    replace(SHARE, name="Accuracy"),
    claim="have an accuracy above 0",
    claim_one="has an accuracy above 0",
    rows_are=("view", "views"),
    label="view",
    group=("dataset", "subject"),
    in_order=True,
    name="accuracy_by_view",
    axis="Percent right",
)
MINIMUM_GAP = SubjectEstimates(
    "Accuracy on the whole input minus that on its better part",
    pick("minimum_gap("),
    replace(_POINTS, name="Points of accuracy"),
    claim="are more accurate with the whole input",
    claim_one="is more accurate with the whole input by",
    rows_are=("result", "results"),
    group=("dataset",),
    name="minimum_gap",
)
PEOPLE = SubjectEstimates(
    "Accuracy of people minus that of models",
    pick("people_minus_model("),
    replace(_POINTS, name="Points of accuracy"),
    claim="are below people",
    claim_one="is below people by",
    rows_are=("result", "results"),
    group=("dataset", "view"),
    name="people_minus_model",
)


def parts_of_the_input(numbers: Numbers, _run: object) -> Answer | None:
    """Return which part of the input alone is above LABEL, in how many sets and models, and how large the biases are.

    A part is above LABEL if the interval of the difference excludes 0.
    """
    differences = {part: _above_label(numbers, part) for part in _PARTS}
    if not any(differences.values()):
        return None
    above = {part: [r for r in records if side_of(r, _POINTS) == 1] for part, records in differences.items()}
    telling = [_PARTS[part] for part, records in above.items() if records]
    sentences = [_sentence(part, records, above[part], numbers) for part, records in differences.items() if records]
    whole = _above_label(numbers, "full")
    blind = sum(side_of(record, _POINTS) != 1 for record in whole)
    caution = ""
    if whole and blind:
        many = f"{blind} of {len(whole)} results" if len(whole) > 1 else "This model"
        caution = f"{many}: even the whole input is not shown to be above LABEL, so its parts show little."
    drawing = ACCURACIES.answer(numbers)
    verdict = f"{PARTLY[:-1]}: {enumerated(telling)}." if telling else UNDECIDED
    drawn = drawing.drawing if drawing else None
    return Answer(verdict, tuple(sentences), caution=caution, apa=" ".join(sentences), drawing=drawn)


def _above_label(numbers: Numbers, part: str) -> list[Record]:
    """The differences between a part of the input and LABEL."""
    every = numbers.known(pick("view_difference("))
    sides = {"first": part, "second": "label"}
    return [record for record in every if sides.items() <= parse_statistic(record.statistic)[1].items()]


def _sentence(part: str, records: Sequence[Record], above: Sequence[Record], numbers: Numbers) -> str:
    highest = max(records, key=_POINTS.value)
    where = f"{numbers.title(highest.subject)} on {numbers.title(highest.dataset)}"
    size = _POINTS.both(highest, named=True)
    name = _PARTS[part][:1].upper() + _PARTS[part][1:]
    if len(records) == 1:
        is_above = "is above LABEL" if above else "is not shown to be above LABEL"
        return f"{name} {is_above}: difference {size} ({where})."
    return (
        f"{name} is above LABEL in {len(above)} of {len(records)} results; the largest difference is {size} ({where})."
    )


LABEL_ENTROPY = SubjectEstimates(
    "Mean uncertainty of a word’s label, by dataset",
    pick("label_entropy("),
    Quantity("", "Label entropy (nats)", bounds=None, digits=2, unit=" nats"),
    claim="leave uncertainty",
    claim_one="leaves uncertainty about the label",
    rows_are=("dataset", "datasets"),
    label="dataset",
    name="label_entropy",
    note="0: a word always has one label; ln 2 = .69: both labels are equally frequent",
)
SENSE_ENTROPY = replace(
    LABEL_ENTROPY,
    title="Mean uncertainty of a word’s sense, by dataset",
    statistic=pick("sense_entropy("),
    quantity=Quantity("", "Sense entropy (nats)", bounds=None, digits=2, unit=" nats"),
    claim="have ambiguous words",
    claim_one="has ambiguous words",
    name="sense_entropy",
    note="0: a word has one sense",
)
MISLEADING = SubjectEstimates(
    "Items that the word alone solves and the whole input does not",
    pick("n_errors(wrong=full,right=word)"),
    Quantity("", "Items", bounds=None, digits=0),
    claim="have such items",
    claim_one="has such items",
    rows_are=("result", "results"),
    group=("dataset",),
    name="misleading",
)
