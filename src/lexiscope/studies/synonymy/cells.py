"""The cells of the design: suite, expression, condition; how they are named, ordered, and what chance is in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lexiscope.analysis.accuracy import chance_level
from lexiscope.core.item import Item

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
_LABELS = {"relation_no_context": "relation, no context", "relation_turned": "relation turned round"}
_CONDITION_LABELS = {
    "controlled_and_random": "controlled and random",
    CORRECT_VS_RANDOM: "synonym against random",
    INCORRECT_VS_RANDOM: "distractor against random",
    "both_vs_random": "both against random",
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
        suite = _LABELS.get(self.suite, self.suite.replace("_", " "))
        expression = f" (“{self.expression}”)" if self.expression else ""
        return f"{suite}{expression}: {_CONDITION_LABELS.get(self.condition, self.condition)}"

    @property
    def rank(self) -> tuple[int, ...]:
        """Sorts cells as the paper orders them; what it does not have comes last."""
        orders = ((self.suite, _SUITES), (self.expression, _EXPRESSIONS), (self.condition, _CONDITIONS))
        return tuple(order.index(part) if part in order else len(order) for part, order in orders)

    @property
    def is_joint(self) -> bool:
        """Whether it is right where two conditions are."""
        return self.condition in JOINT

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


def ordered(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return each cell once, in the paper's order."""
    return tuple(sorted(set(cells), key=lambda cell: (cell.rank, cell.name)))


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
