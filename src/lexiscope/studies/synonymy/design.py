"""Which cells the analyses are about: the paper's own plan for its suites, a plan by rule for suites of the user's own.

The rule: suites are compared by their first expression. The first suite is set against every other in each condition
that they share; within a suite, one condition against the other; a relation with context against the same without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from lexiscope.studies.synonymy.cells import (
    ALONE,
    ALONE_WRONG,
    CONTROLLED,
    CORRECT_VS_RANDOM,
    INCORRECT_VS_RANDOM,
    RANDOM,
    REFERENCE,
    REFERENCE_RANDOM,
    RELATION,
    RELATION_RANDOM,
    SUBSTITUTION,
    SUBSTITUTION_RANDOM,
    Cell,
    main_cells,
    ordered,
)

Pair = tuple[Cell, Cell]
_WITHIN = ((CONTROLLED, RANDOM), (CORRECT_VS_RANDOM, INCORRECT_VS_RANDOM))


@dataclass(frozen=True, slots=True)
class Family:
    """Contrasts that answer one question; ``pairs`` are the cells that are set against each other."""

    name: str
    title: str
    place: str
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Design:
    """The plan of a run over its ``cells``, in order; ``is_papers`` says whether it is the paper's own."""

    cells: tuple[Cell, ...]

    @property
    def is_papers(self) -> bool:
        """Whether the paper has all suites and expressions."""
        return all(cell.is_papers for cell in self.cells)

    @property
    def main(self) -> tuple[Cell, ...]:
        """The cells whose accuracies stand first."""
        return main_cells(self.cells)

    @property
    def controlled(self) -> tuple[Cell, ...]:
        """The controlled cells of the suites, in their first expression: what is split and pooled."""
        if self.is_papers:
            return tuple(cell for cell in (SUBSTITUTION, REFERENCE, RELATION) if cell in self.cells)
        return tuple(cell for cell in self._plain if cell.condition == CONTROLLED)

    @property
    def alone(self) -> tuple[Cell, ...]:
        """The cells in which the right word stands against random words by itself, without context."""
        return tuple(cell for cell in self._plain if cell.condition == CORRECT_VS_RANDOM)

    @property
    def related(self) -> tuple[Cell, ...]:
        """The cells of the suites that have several expressions of their relation."""
        named = [cell for cell in self.cells if cell.expression and not cell.is_turned]
        found = {suite: {cell.expression for cell in named if cell.suite == suite} for suite in self._suites}
        return tuple(cell for cell in named if len(found[cell.suite]) > 1)

    @property
    def families(self) -> tuple[Family, ...]:
        """The contrasts within a subject."""
        if self.is_papers:
            return (*_PAPERS, self._expressions("Tables 12, 13"))
        return (
            Family("contrasts_suites", "The first suite against the others", "", tuple(self._between_suites())),
            Family("contrasts_conditions", "Between conditions of a suite", "", tuple(self._conditions())),
            Family("contrasts_context", "With context against without", "", tuple(self._context())),
            self._expressions(""),
        )

    @property
    def consistency(self) -> tuple[tuple[str, Cell, Cell], ...]:
        """The pairs of tests whose right items are compared, each with its number."""
        if self.is_papers:
            return _CONSISTENCY
        pairs = (*self._between_suites(), *self._conditions(), *self._context())
        return tuple((str(number), *pair) for number, pair in enumerate(pairs, start=1))

    @property
    def _suites(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.suite for cell in self.cells if not cell.is_turned))

    @property
    def _plain(self) -> tuple[Cell, ...]:
        """The cells of every suite in its first expression, joint conditions and turned relations left out."""
        first = {cell.suite: cell.expression for cell in reversed(self.cells)}
        return tuple(
            cell
            for cell in self.cells
            if cell.expression == first[cell.suite] and not cell.is_joint and not cell.is_turned
        )

    def _between_suites(self) -> Iterator[Pair]:
        for suite in self._suites[1:]:
            for cell in (cell for cell in self._plain if cell.suite == self._suites[0]):
                other = [each for each in self._plain if (each.suite, each.condition) == (suite, cell.condition)]
                yield from ((cell, each) for each in other)

    def _conditions(self) -> Iterator[Pair]:
        for cell in self._plain:
            for first, second in _WITHIN:
                if cell.condition == first and cell.with_condition(second) in self.cells:
                    yield cell, cell.with_condition(second)

    def _context(self) -> Iterator[Pair]:
        # without context the right word meets the same random words as with it, under another name
        for cell in (cell for cell in self._plain if cell.condition == RANDOM and cell.expression):
            for other in self._plain:
                if (other.condition, other.expression) == (CORRECT_VS_RANDOM, cell.expression):
                    yield cell, other

    def _expressions(self, place: str) -> Family:
        """Each two expressions of a relation, in each condition."""
        kinds = dict.fromkeys((c.suite, c.condition) for c in self.related if not c.is_joint)
        named = [[c for c in self.related if (c.suite, c.condition) == kind] for kind in kinds]
        pairs = tuple(pair for cells in named for pair in combinations(cells, 2))
        return Family("contrasts_expressions", "Between expressions of the relation", place, pairs)


def design_of(cells: Sequence[Cell]) -> Design:
    """Return the plan for these cells."""
    return Design(ordered(cells))


_PAPERS: tuple[Family, ...] = (
    Family(
        "contrasts_suites",
        "Substitution against the other suites",
        "Table 6",
        (
            (SUBSTITUTION, RELATION),
            (SUBSTITUTION_RANDOM, RELATION_RANDOM),
            (SUBSTITUTION, REFERENCE),
            (SUBSTITUTION_RANDOM, REFERENCE_RANDOM),
        ),
    ),
    Family(
        "contrasts_conditions",
        "Random against controlled, and the two words without context",
        "Tables 9, 10",
        ((SUBSTITUTION_RANDOM, SUBSTITUTION), (RELATION_RANDOM, RELATION), (ALONE, ALONE_WRONG)),
    ),
    Family(
        "contrasts_context",
        "With context against without",
        "Table 11",
        ((RELATION_RANDOM, ALONE),),
    ),
)
_CONSISTENCY: tuple[tuple[str, Cell, Cell], ...] = (
    ("14", SUBSTITUTION, RELATION),
    ("15", SUBSTITUTION, REFERENCE),
    ("16", SUBSTITUTION, SUBSTITUTION_RANDOM),
    ("17", RELATION_RANDOM, ALONE),
)
