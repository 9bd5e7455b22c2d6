"""The figures of accuracies: 1 (all subjects), 4 and 5 (live subjects alone), 6 (expressions of the relation)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lexiscope.report.figure_accuracy import Dot, accuracy_dots
from lexiscope.report.figures import Figure, Heading
from lexiscope.studies.synonymy.cells import Cell
from lexiscope.studies.synonymy.material import Answers, Material
from lexiscope.studies.synonymy.numbers import scored
from lexiscope.studies.synonymy.settings import SynonymySettings

_FIRST = "Accuracy of every subject, beside chance and word frequency"
CAPTION = "Bars: 95 % interval, sentences resampled. Dashed: chance."
_WITH_CONTEXT = ("substitution", "reference", "relation")


def figures(material: Material, settings: SynonymySettings) -> tuple[Figure, ...]:
    """Return Figure 1, and Figures 4 and 5 where live subjects stand beside recorded ones."""
    made = _dots(
        material,
        material.answers,
        material.main,
        Heading("figure_1_accuracy", _number(material, "1"), _FIRST, CAPTION),
        settings,
    )
    live = material.of_kind("live")
    if not live or not material.of_kind("recorded"):
        return made
    base = (material.baseline,) if material.baseline is not None else ()
    with_context = [cell for cell in material.cells if cell.suite in _WITH_CONTEXT and not cell.is_joint]
    alone = [cell for cell in material.cells if cell.suite == "relation_no_context"]
    four = Heading("figure_4_live_with_context", "4", "Further models: the suites with context", CAPTION)
    five = Heading("figure_5_live_without_context", "5", "Further models: the relation without context", CAPTION)
    return (
        *made,
        *_dots(material, (*live, *base), with_context, four, settings),
        *_dots(material, (*live, *base), alone, five, settings),
    )


def figure_6(material: Material, settings: SynonymySettings) -> tuple[Figure, ...]:
    """Return Figure 6: the expressions of the relation, with and without context."""
    cells = [cell for cell in material.design.related if not cell.is_joint]
    # beside one another stand the expressions of one condition
    kinds = list(dict.fromkeys((cell.suite, cell.condition) for cell in cells))
    cells.sort(key=lambda cell: kinds.index((cell.suite, cell.condition)))
    heading = Heading("figure_6_expressions", _number(material, "6"), "Accuracy by expression of the relation", CAPTION)
    return _dots(material, material.of_kind("recorded", "live"), cells, heading, settings)


def _number(material: Material, number: str) -> str:
    """The paper's number of a figure, where the suites are the paper's."""
    return number if material.design.is_papers else ""


def _dots(
    material: Material,
    subjects: Sequence[Answers],
    cells: Sequence[Cell],
    heading: Heading,
    settings: SynonymySettings,
) -> tuple[Figure, ...]:
    dots = [
        _dot(material, answers, cell, settings) for cell in cells for answers in subjects if cell in answers.outcomes
    ]
    order = [answers.title for answers in material.answers]
    return (accuracy_dots(dots, heading, order=order),) if dots else ()


def _dot(material: Material, answers: Answers, cell: Cell, settings: SynonymySettings) -> Dot:
    outcome = answers.outcomes[cell]
    found = scored(material, cell, outcome, settings)
    low, high = (math.nan, math.nan) if found.clustered.note else (found.clustered.low, found.clustered.high)
    # on two lines, the names leave room for the drawing
    return Dot(
        cell.label.replace(": ", ":\n"), answers.title, 100 * found.value, 100 * low, 100 * high, 100 * found.chance
    )
