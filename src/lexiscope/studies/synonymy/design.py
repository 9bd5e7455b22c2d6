"""The cells of the design (suite, expression, condition), and which of them are compared.

The paper's suites have the paper's own plan; suites of the user's own have one by rule: they are compared by their
first expression. The first suite is set against every other in each condition that they share; within a suite, one
condition against the other; a relation with context against the same without.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lexiscope.analysis.choices.design import (
    BOTH,
    BOTH_ALONE,
    CONDITIONS,
    CONTEXT,
    CONTROLLED,
    CORRECT,
    INCORRECT,
    RANDOM,
    SUITES,
    Cell,
    ComparisonPlan,
    Family,
    sorted_cells,
)
from lexiscope.items.choice_sets.templates import TURNED

MAIN_EXPRESSION = "is a synonym of"
_SUITES = ("substitution", "reference", "relation", "relation_no_context")
_EXPRESSIONS = ("", MAIN_EXPRESSION, "means", "is the same as")
_CONDITIONS = (CONTROLLED, RANDOM, BOTH, CORRECT, INCORRECT, BOTH_ALONE)
_LABELS = {
    "relation_no_context": "relation, no context",
    BOTH: "controlled and random",
    CORRECT: "synonym against random",
    INCORRECT: "distractor against random",
    BOTH_ALONE: "both against random",
}
# of another relation the right word is no synonym
_OWN_LABELS = _LABELS | {CORRECT: "right word against random", INCORRECT: "wrong word against random"}


def label_of(cell: Cell) -> str:
    """Return a cell as text, as tables and figures print it.

    >>> label_of(Cell("relation_no_context", "means", "both_vs_random"))
    'relation, no context (“means”): both against random'
    """
    labels = _LABELS if is_papers(cell) else _OWN_LABELS
    plain = cell.suite.removesuffix(TURNED)
    suite = labels.get(plain, plain.replace("_", " ")) + (" turned round" if is_turned(cell) else "")
    expression = f" (“{cell.expression}”)" if cell.expression else ""
    return f"{suite}{expression}: {labels.get(cell.condition, cell.condition)}"


def is_papers(cell: Cell) -> bool:
    """Whether the paper has its suite and its expression."""
    return cell.suite.removesuffix(TURNED) in _SUITES and cell.expression in _EXPRESSIONS


def is_turned(cell: Cell) -> bool:
    """Whether the relation is asked the other way round."""
    return cell.suite.endswith(TURNED)


def ordered_cells(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return each cell once, in the paper's order; with cells of other suites, suites in the order of appearance."""
    listed = list(dict.fromkeys(cells))
    papers = all(is_papers(cell) for cell in listed)
    return sorted_cells(listed, _SUITES if papers else (), _EXPRESSIONS if papers else (), _CONDITIONS)


SUBSTITUTION, REFERENCE = Cell("substitution", "", CONTROLLED), Cell("reference", "", CONTROLLED)
SUBSTITUTION_RANDOM, REFERENCE_RANDOM = (replace(cell, condition=RANDOM) for cell in (SUBSTITUTION, REFERENCE))
RELATION, RELATION_RANDOM = (Cell("relation", MAIN_EXPRESSION, condition) for condition in (CONTROLLED, RANDOM))
ALONE, ALONE_WRONG, ALONE_BOTH = (
    Cell("relation_no_context", MAIN_EXPRESSION, condition) for condition in (CORRECT, INCORRECT, BOTH_ALONE)
)
MAIN = (*(SUBSTITUTION, SUBSTITUTION_RANDOM, REFERENCE, RELATION, RELATION_RANDOM), *(ALONE, ALONE_WRONG, ALONE_BOTH))
"""The eight accuracies that the paper prints for a model (Table 5, Figure 1)."""


_FAMILIES = (
    Family(
        SUITES,
        "Substitution against the other suites",
        (
            *((SUBSTITUTION, RELATION), (SUBSTITUTION_RANDOM, RELATION_RANDOM)),
            *((SUBSTITUTION, REFERENCE), (SUBSTITUTION_RANDOM, REFERENCE_RANDOM)),
        ),
        "Table 6",
    ),
    Family(
        CONDITIONS,
        "Random against controlled, and the two words without context",
        ((SUBSTITUTION_RANDOM, SUBSTITUTION), (RELATION_RANDOM, RELATION), (ALONE, ALONE_WRONG)),
        "Tables 9, 10",
    ),
    Family(CONTEXT, "With context against without", ((RELATION_RANDOM, ALONE),), "Table 11"),
)
_CONSISTENCY = (
    *(("14", SUBSTITUTION, RELATION), ("15", SUBSTITUTION, REFERENCE)),
    *(("16", SUBSTITUTION, SUBSTITUTION_RANDOM), ("17", RELATION_RANDOM, ALONE)),
)


@dataclass(frozen=True)
class RunDesign(ComparisonPlan):
    """The plan of a run over its cells, in order (:func:`ordered_cells`): the paper's, if it has all of them."""

    turned: str = TURNED

    @property
    def is_papers(self) -> bool:
        """Whether the paper has all suites and expressions."""
        return all(is_papers(cell) for cell in self.cells)

    @property
    def main(self) -> tuple[Cell, ...]:
        """The cells whose accuracies come first: the paper's eight, or all that are not turned round."""
        papers = tuple(cell for cell in MAIN if cell in self.cells) if self.is_papers else ()
        return papers or self.not_turned

    @property
    def families(self) -> tuple[Family, ...]:
        """The contrasts within a subject."""
        *by_rule, expressions = super().families
        return (*_FAMILIES, replace(expressions, place="Tables 12, 13")) if self.is_papers else (*by_rule, expressions)

    @property
    def planned(self) -> tuple[tuple[str, Cell, Cell], ...]:
        """The pairs of tests whose right items are compared, each with its number."""
        return _CONSISTENCY if self.is_papers else super().planned
