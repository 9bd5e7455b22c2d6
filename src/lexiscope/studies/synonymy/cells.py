"""The cells of the design: suite, expression, condition; how they are named, ordered, and what chance is in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lexiscope.analysis.accuracy import chance_level
from lexiscope.core.item import Item
from lexiscope.items.templates import TURNED

CONTROLLED, RANDOM = "controlled", "random"
CORRECT_VS_RANDOM, INCORRECT_VS_RANDOM = "correct_vs_random", "incorrect_vs_random"
JOINT: Mapping[str, tuple[str, str]] = {
    "controlled_and_random": (CONTROLLED, RANDOM),
    "both_vs_random": (CORRECT_VS_RANDOM, INCORRECT_VS_RANDOM),
}
"""Conditions that are right where both of their parts are."""

_SUITES = ("substitution", "reference", "relation", "relation_no_context")
_EXPRESSIONS = ("", "is a synonym of", "means", "is the same as")
_CONDITIONS = (
    CONTROLLED,
    RANDOM,
    "controlled_and_random",
    CORRECT_VS_RANDOM,
    INCORRECT_VS_RANDOM,
    "both_vs_random",
)
_LABELS = {"relation_no_context": "relation, no context"}
_CONDITION_LABELS = {
    "controlled_and_random": "controlled and random",
    CORRECT_VS_RANDOM: "synonym against random",
    INCORRECT_VS_RANDOM: "distractor against random",
    "both_vs_random": "both against random",
}
# of another relation the right word is no synonym
_OWN_LABELS = {
    CORRECT_VS_RANDOM: "right word against random",
    INCORRECT_VS_RANDOM: "wrong word against random",
}
MAIN_EXPRESSION = "is a synonym of"


@dataclass(frozen=True, slots=True, order=False)
class Cell:
    """One cell: its ``name`` is the ``condition`` of its records, its ``label`` what tables and figures print."""

    suite: str
    expression: str
    condition: str

    @property
    def name(self) -> str:
        """Suite, expression where there is one, condition.

        >>> Cell("relation", "means", "random").name
        'relation/means/random'
        """
        return "/".join(part for part in (self.suite, self.expression, self.condition) if part)

    @property
    def label(self) -> str:
        """The cell in words.

        >>> Cell("relation_no_context", "means", "both_vs_random").label
        'relation, no context (“means”): both against random'
        """
        plain = self.suite.removesuffix(TURNED)
        suite = _LABELS.get(plain, plain.replace("_", " ")) + (" turned round" if self.is_turned else "")
        expression = f" (“{self.expression}”)" if self.expression else ""
        words = _CONDITION_LABELS if self.is_papers else _CONDITION_LABELS | _OWN_LABELS
        return f"{suite}{expression}: {words.get(self.condition, self.condition)}"

    @property
    def is_papers(self) -> bool:
        """Whether the paper has its suite and its expression."""
        return self.suite.removesuffix(TURNED) in _SUITES and self.expression in _EXPRESSIONS

    @property
    def is_turned(self) -> bool:
        """Whether the relation is asked the other way round."""
        return self.suite.endswith(TURNED)

    @property
    def is_joint(self) -> bool:
        """Whether it is right where two conditions are."""
        return self.condition in JOINT

    @property
    def is_alone(self) -> bool:
        """Whether the two words stand without a context: each against random nouns, for nothing tells them apart."""
        return self.condition in (CORRECT_VS_RANDOM, INCORRECT_VS_RANDOM, "both_vs_random")

    @property
    def is_random(self) -> bool:
        """Whether random nouns compete, so that word frequency alone may decide."""
        return self.condition != CONTROLLED

    def with_condition(self, condition: str) -> Cell:
        """Return the cell of the same suite and expression in another condition."""
        return Cell(self.suite, self.expression, condition)

    def chance(self, n_options: int) -> float:
        """Return the chance level; *n_options* is the largest number of options in it.

        Both words best of twelve is 1/66; better than the distractor and all random nouns is best of twelve.
        """
        if self.condition == "both_vs_random":
            return chance_level(n_options + 1, n_winners=2)
        if self.condition == "controlled_and_random":
            return chance_level(n_options + 1)
        return chance_level(n_options)


def cell_of(item: Item) -> Cell:
    """Return the cell that a choice set belongs to."""
    conditions = item.conditions
    return Cell(str(conditions["suite"]), str(conditions.get("expression", "")), str(conditions["condition"]))


def cell_named(name: str) -> Cell:
    """Return the cell of a record's condition.

    >>> cell_named("relation/means/random"), cell_named("reference/controlled").expression
    (Cell(suite='relation', expression='means', condition='random'), '')
    """
    suite, _, rest = name.partition("/")
    expression, _, condition = rest.rpartition("/")
    return Cell(suite, expression, condition)


def ordered(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return each cell once, in the paper's order; with cells of other suites, suites in the order of appearance."""
    listed = list(dict.fromkeys(cells))
    papers = all(cell.is_papers for cell in listed)
    suites = _places(_SUITES if papers else (), [cell.suite for cell in listed])
    expressions = _places(_EXPRESSIONS if papers else (), [cell.expression for cell in listed])
    conditions = _places(_CONDITIONS, [cell.condition for cell in listed])
    return tuple(sorted(listed, key=lambda c: (suites[c.suite], expressions[c.expression], conditions[c.condition])))


def main_cells(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the cells whose accuracies stand first: the paper's eight, or all that are not turned round.

    The paper's are taken where no cell is of another suite or expression than the paper has.
    """
    known = [cell for cell in ordered(cells) if not cell.is_turned]
    papers = tuple(cell for cell in MAIN if cell in known) if all(cell.is_papers for cell in known) else ()
    return papers or tuple(known)


def _places(known: Iterable[str], seen: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys((*known, *seen)))}


SUBSTITUTION, SUBSTITUTION_RANDOM = Cell("substitution", "", CONTROLLED), Cell("substitution", "", RANDOM)
REFERENCE, REFERENCE_RANDOM = Cell("reference", "", CONTROLLED), Cell("reference", "", RANDOM)
RELATION, RELATION_RANDOM = Cell("relation", MAIN_EXPRESSION, CONTROLLED), Cell("relation", MAIN_EXPRESSION, RANDOM)
ALONE = Cell("relation_no_context", MAIN_EXPRESSION, CORRECT_VS_RANDOM)
ALONE_WRONG = ALONE.with_condition(INCORRECT_VS_RANDOM)
ALONE_BOTH = ALONE.with_condition("both_vs_random")
MAIN: tuple[Cell, ...] = (
    SUBSTITUTION,
    SUBSTITUTION_RANDOM,
    REFERENCE,
    RELATION,
    RELATION_RANDOM,
    ALONE,
    ALONE_WRONG,
    ALONE_BOTH,
)
"""The eight accuracies that the paper prints for a model (Table 5, Figure 1)."""
