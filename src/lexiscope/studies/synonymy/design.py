"""The cells of the design (suite, expression, condition), and which of them are compared.

The paper's suites have the paper's own plan; suites of the user's own have one by rule: they are compared by their
first expression. The first suite is set against every other in each condition that they share; within a suite, one
condition against the other; a relation with context against the same without.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lexiscope.analysis.choice_design import (
    BOTH,
    BOTH_ALONE,
    CONTROLLED,
    CORRECT,
    INCORRECT,
    RANDOM,
    Cell,
    Pair,
    condition_pairs,
    context_pairs,
    expression_pairs,
    in_first_expression,
    suite_pairs,
)
from lexiscope.items.templates import TURNED

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
    """Return a cell in words, as tables and figures print it.

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


def ordered(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return each cell once, in the paper's order; with cells of other suites, suites in the order of appearance."""
    listed = list(dict.fromkeys(cells))
    papers = all(is_papers(cell) for cell in listed)
    suites = [*(_SUITES if papers else ()), *(cell.suite for cell in listed)]
    expressions = [*(_EXPRESSIONS if papers else ()), *(cell.expression for cell in listed)]
    conditions = [*_CONDITIONS, *(cell.condition for cell in listed)]

    def place(cell: Cell) -> tuple[int, int, int]:
        return suites.index(cell.suite), expressions.index(cell.expression), conditions.index(cell.condition)

    return tuple(sorted(listed, key=place))


SUBSTITUTION, REFERENCE = Cell("substitution", "", CONTROLLED), Cell("reference", "", CONTROLLED)
SUBSTITUTION_RANDOM, REFERENCE_RANDOM = (replace(cell, condition=RANDOM) for cell in (SUBSTITUTION, REFERENCE))
RELATION, RELATION_RANDOM = (Cell("relation", MAIN_EXPRESSION, condition) for condition in (CONTROLLED, RANDOM))
ALONE, ALONE_WRONG, ALONE_BOTH = (
    Cell("relation_no_context", MAIN_EXPRESSION, condition) for condition in (CORRECT, INCORRECT, BOTH_ALONE)
)
MAIN = (
    *(SUBSTITUTION, SUBSTITUTION_RANDOM, REFERENCE, RELATION, RELATION_RANDOM),
    *(ALONE, ALONE_WRONG, ALONE_BOTH),
)
"""The eight accuracies that the paper prints for a model (Table 5, Figure 1)."""


@dataclass(frozen=True, slots=True)
class Family:
    """Contrasts that answer one question; ``pairs`` are the cells that are set against each other."""

    name: str
    title: str
    place: str
    pairs: tuple[Pair, ...]


_FAMILIES = (
    Family(
        "contrasts_suites",
        "Substitution against the other suites",
        "Table 6",
        (
            *((SUBSTITUTION, RELATION), (SUBSTITUTION_RANDOM, RELATION_RANDOM)),
            *((SUBSTITUTION, REFERENCE), (SUBSTITUTION_RANDOM, REFERENCE_RANDOM)),
        ),
    ),
    Family(
        "contrasts_conditions",
        "Random against controlled, and the two words without context",
        "Tables 9, 10",
        ((SUBSTITUTION_RANDOM, SUBSTITUTION), (RELATION_RANDOM, RELATION), (ALONE, ALONE_WRONG)),
    ),
    Family("contrasts_context", "With context against without", "Table 11", ((RELATION_RANDOM, ALONE),)),
)
_CONSISTENCY = (
    *(("14", SUBSTITUTION, RELATION), ("15", SUBSTITUTION, REFERENCE)),
    *(("16", SUBSTITUTION, SUBSTITUTION_RANDOM), ("17", RELATION_RANDOM, ALONE)),
)


@dataclass(frozen=True)
class Design:
    """The plan of a run over its ``cells``, in order (:func:`ordered`)."""

    cells: tuple[Cell, ...]

    @property
    def is_papers(self) -> bool:
        """Whether the paper has all suites and expressions."""
        return all(is_papers(cell) for cell in self.cells)

    @property
    def main(self) -> tuple[Cell, ...]:
        """The cells whose accuracies come first: the paper's eight, or all that are not turned round."""
        papers = tuple(cell for cell in MAIN if cell in self.cells) if self.is_papers else ()
        return papers or self._asked

    @property
    def controlled(self) -> tuple[Cell, ...]:
        """The controlled cells of the suites, in their first expression: what is split and pooled."""
        return self._plain(CONTROLLED)

    @property
    def alone(self) -> tuple[Cell, ...]:
        """The cells in which the right word competes with random words by itself, without context."""
        return self._plain(CORRECT)

    @property
    def related(self) -> tuple[Cell, ...]:
        """The cells of the suites that have several expressions of their relation."""
        found: dict[str, set[str]] = {}
        for cell in self._asked:
            found.setdefault(cell.suite, set()).add(cell.expression)
        return tuple(cell for cell in self._asked if cell.expression and len(found[cell.suite] - {""}) > 1)

    @property
    def families(self) -> tuple[Family, ...]:
        """The contrasts within a subject."""
        cells, pairs = self._asked, expression_pairs(self._asked)
        title = "Between expressions of the relation"
        if self.is_papers:
            return *_FAMILIES, Family("contrasts_expressions", title, "Tables 12, 13", pairs)
        return (
            Family("contrasts_suites", "The first suite against the others", "", suite_pairs(cells)),
            Family("contrasts_conditions", "Between conditions of a suite", "", condition_pairs(cells)),
            Family("contrasts_context", "With context against without", "", context_pairs(cells)),
            Family("contrasts_expressions", title, "", pairs),
        )

    @property
    def consistency(self) -> tuple[tuple[str, Cell, Cell], ...]:
        """The pairs of tests whose right items are compared, each with its number."""
        if self.is_papers:
            return _CONSISTENCY
        pairs = (*suite_pairs(self._asked), *condition_pairs(self._asked), *context_pairs(self._asked))
        return tuple((str(number), *pair) for number, pair in enumerate(pairs, start=1))

    @property
    def _asked(self) -> tuple[Cell, ...]:
        return tuple(cell for cell in self.cells if not is_turned(cell))

    def _plain(self, condition: str) -> tuple[Cell, ...]:
        return tuple(cell for cell in in_first_expression(self._asked) if cell.condition == condition)
