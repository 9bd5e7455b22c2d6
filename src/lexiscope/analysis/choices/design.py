"""Choice sets in a design: the cell (suite, expression, condition) of each, and what a subject decided in every cell.

The place of a choice set is what its conditions say: those that
:func:`lexiscope.items.choice_sets.minimal_pairs.choice_sets` gives its items, and
:func:`lexiscope.items.choice_sets.choice_set_file.read_designed_sets` the items of a file. Each cell has one choice set
for each item of the collection (the condition ``item``), so cells are compared item by item; intervals resample the
sentences (``sentence``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from lexiscope.analysis.accuracy import Accuracy, PairedDecisions, accuracy, chance_level, contrast
from lexiscope.analysis.bootstrap import GroupLabels
from lexiscope.analysis.choices.choice_sets import Decisions, decisions_of
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseColumns
from lexiscope.core.scoring import Per

CONTROLLED, RANDOM, BOTH = "controlled", "random", "controlled_and_random"
CORRECT, INCORRECT, BOTH_ALONE = "correct_vs_random", "incorrect_vs_random", "both_vs_random"
JOINT: Mapping[str, tuple[str, str]] = {BOTH: (CONTROLLED, RANDOM), BOTH_ALONE: (CORRECT, INCORRECT)}
"""Conditions that are right where both of their parts are."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a design; its ``name`` is the ``condition`` of its records."""

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
    def is_joint(self) -> bool:
        """Whether it is right where two conditions are."""
        return self.condition in JOINT

    @property
    def is_alone(self) -> bool:
        """Whether the two words have no context: each against random words, for nothing distinguishes them."""
        return self.condition in (CORRECT, INCORRECT, BOTH_ALONE)

    def chance(self, n_options: int) -> float:
        """Return the chance level; *n_options* is the largest number of options in it.

        Both words best of twelve is 1/66; better than the distractor and all random nouns is best of twelve.

        >>> Cell("suite", "", BOTH_ALONE).chance(11) == 1 / 66, Cell("suite", "", BOTH).chance(11) == 1 / 12
        (True, True)
        """
        return chance_level(n_options + self.is_joint, n_winners=2 if self.condition == BOTH_ALONE else 1)


Pair = tuple[Cell, Cell]


def cell_of(item: Item) -> Cell:
    """Return the cell that a choice set belongs to. Errors: :class:`InputError` E402 for an item without a place."""
    expression = str(item.conditions.get("expression", ""))
    return Cell(str(item.condition("suite")), expression, str(item.condition("condition")))


def cell_named(name: str) -> Cell:
    """Return the cell of a record's condition.

    >>> cell_named("relation/means/random"), cell_named("reference/controlled").expression
    (Cell(suite='relation', expression='means', condition='random'), '')
    """
    suite, _, rest = name.partition("/")
    expression, _, condition = rest.rpartition("/")
    return Cell(suite, expression, condition)


# -- what is compared with what ---------------------------------------------------------------------------------------


def in_first_expression(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the cells of every suite in its first expression, without joint conditions: by them suites are compared.

    >>> given = [Cell("relation", expression, CONTROLLED) for expression in ("means", "is the same as")]
    >>> [cell.expression for cell in in_first_expression(given)]
    ['means']
    """
    first = {cell.suite: cell.expression for cell in reversed(cells)}
    return tuple(cell for cell in cells if cell.expression == first[cell.suite] and not cell.is_joint)


def suite_pairs(cells: Sequence[Cell]) -> tuple[Pair, ...]:
    """Return the first suite against every other in each condition that they share.

    >>> [(one.suite, other.suite) for one, other in suite_pairs([Cell(suite, "", RANDOM) for suite in "abc"])]
    [('a', 'b'), ('a', 'c')]
    """
    plain = in_first_expression(cells)
    suites = tuple(dict.fromkeys(cell.suite for cell in cells))
    return tuple(
        (reference, other)
        for suite in suites[1:]
        for reference in (cell for cell in plain if cell.suite == suites[0])
        for other in (cell for cell in plain if (cell.suite, cell.condition) == (suite, reference.condition))
    )


def condition_pairs(cells: Sequence[Cell]) -> tuple[Pair, ...]:
    """Return the two parts of each joint condition against each other, within each suite."""
    return tuple(
        (cell, replace(cell, condition=second))
        for cell in in_first_expression(cells)
        for first, second in JOINT.values()
        if cell.condition == first and replace(cell, condition=second) in cells
    )


def context_pairs(cells: Sequence[Cell]) -> tuple[Pair, ...]:
    """Return each relation with context against the same without.

    Without context the right word meets the same random words as with it, under another name.
    """
    plain = in_first_expression(cells)
    return tuple(
        (cell, other)
        for cell in plain
        if cell.condition == RANDOM and cell.expression
        for other in plain
        if (other.condition, other.expression) == (CORRECT, cell.expression)
    )


def expression_pairs(cells: Sequence[Cell]) -> tuple[Pair, ...]:
    """Return each two expressions of a suite's relation, in each condition that is not joint.

    >>> given = [Cell("relation", expression, CONTROLLED) for expression in ("means", "is the same as")]
    >>> [(one.expression, other.expression) for one, other in expression_pairs(given)]
    [('means', 'is the same as')]
    """
    named = [cell for cell in cells if cell.expression and not cell.is_joint]
    kinds = dict.fromkeys((cell.suite, cell.condition) for cell in named)
    alike = [[cell for cell in named if (cell.suite, cell.condition) == kind] for kind in kinds]
    return tuple(pair for same in alike for pair in combinations(same, 2))


def several_expressions(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Return the cells of the suites that have several expressions of their relation.

    >>> given = [Cell("relation", expression, CONTROLLED) for expression in ("means", "is the same as")]
    >>> len(several_expressions([*given, Cell("kinds", "is a kind of", CONTROLLED)]))
    2
    """
    expressions: dict[str, set[str]] = {}
    for cell in cells:
        expressions.setdefault(cell.suite, set()).add(cell.expression)
    return tuple(cell for cell in cells if cell.expression and len(expressions[cell.suite] - {""}) > 1)


@dataclass(frozen=True, slots=True)
class Family:
    """Contrasts that answer one question: pairs of cells that are compared; ``place`` is where a paper has them."""

    name: str
    title: str
    pairs: tuple[Pair, ...]
    place: str = ""


SUITES, CONDITIONS, CONTEXT, EXPRESSIONS = (
    f"contrasts_{of}" for of in ("suites", "conditions", "context", "expressions")
)
"""The names of families of contrasts."""
_NO_PAIRS = {
    SUITES: ("Contrasts between suites", "No two suites have a condition in common."),
    CONDITIONS: ("Contrasts between conditions", "Every suite has one condition."),
    CONTEXT: (
        "With context against without",
        "No relation is asked with context (random) and, under the same expression, without (correct_vs_random).",
    ),
    EXPRESSIONS: ("Which expression works best", "No suite has two expressions of its relation."),
}


def families(cells: Sequence[Cell]) -> tuple[Family, ...]:
    """Return the contrasts of a design by rule: of suites, conditions, with context and without, expressions.

    >>> [family.name for family in families([Cell(suite, "", RANDOM) for suite in "ab"]) if family.pairs]
    ['contrasts_suites']
    """
    return (
        Family(SUITES, "The first suite against the others", suite_pairs(cells)),
        Family(CONDITIONS, "Between conditions of a suite", condition_pairs(cells)),
        Family(CONTEXT, "With context against without", context_pairs(cells)),
        Family(EXPRESSIONS, "Between expressions of the relation", expression_pairs(cells)),
    )


def sorted_cells(
    cells: Iterable[Cell],
    suites: Sequence[str] = (),
    expressions: Sequence[str] = (),
    conditions: Sequence[str] = (),
) -> tuple[Cell, ...]:
    """Return each cell once, by suite, expression, condition: in the given orders first, then as they appear.

    >>> given = [Cell("a", "", RANDOM), Cell("b", "", CONTROLLED), Cell("a", "", CONTROLLED)]
    >>> [cell.name for cell in sorted_cells(given, conditions=[CONTROLLED])]
    ['a/controlled', 'a/random', 'b/controlled']
    """
    listed = list(dict.fromkeys(cells))
    orders = (
        [*suites, *(cell.suite for cell in listed)],
        [*expressions, *(cell.expression for cell in listed)],
        [*conditions, *(cell.condition for cell in listed)],
    )

    def place(cell: Cell) -> tuple[int, ...]:
        parts = (cell.suite, cell.expression, cell.condition)
        return tuple(order.index(part) for order, part in zip(orders, parts, strict=True))

    return tuple(sorted(listed, key=place))


@dataclass(frozen=True)
class ComparisonPlan:
    """What is compared with what among some ``cells``, by rule; a study may have another plan.

    ``crossed`` are pairs of cells whose right items are compared in addition to those of the plan. Suites whose name
    ends in ``turned`` ask a relation the other way round: they are compared with it alone.
    """

    cells: tuple[Cell, ...]
    crossed: tuple[Pair, ...] = ()
    turned: str = "_turned"

    @property
    def not_turned(self) -> tuple[Cell, ...]:
        """The cells that are not turned round."""
        return tuple(cell for cell in self.cells if not cell.suite.endswith(self.turned))

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
        return several_expressions(self.not_turned)

    @property
    def families(self) -> tuple[Family, ...]:
        """The contrasts within a subject."""
        return families(self.not_turned)

    @property
    def planned(self) -> tuple[tuple[str, Cell, Cell], ...]:
        """The pairs of tests whose right items are compared, each with its number."""
        pairs = [pair for own in families(self.not_turned) if own.name != EXPRESSIONS for pair in own.pairs]
        return tuple((str(number), *pair) for number, pair in enumerate(pairs, start=1))

    @property
    def consistency(self) -> tuple[tuple[str, Cell, Cell], ...]:
        """The same with those asked for, which have no number."""
        there = {(first, second) for _, first, second in self.planned}
        return *self.planned, *(("", *pair) for pair in dict.fromkeys(self.crossed) if pair not in there)

    def _plain(self, condition: str) -> tuple[Cell, ...]:
        return tuple(cell for cell in in_first_expression(self.not_turned) if cell.condition == condition)


def joint_cells(cells: Iterable[Cell]) -> list[Cell]:
    """Return the joint conditions of which the cells hold both parts.

    >>> [cell.name for cell in joint_cells([Cell("a", "", CONTROLLED), Cell("a", "", RANDOM)])]
    ['a/controlled_and_random']
    """
    there = list(dict.fromkeys(cells))
    return [
        replace(cell, condition=both)
        for cell in there
        for both, (first, second) in JOINT.items()
        if cell.condition == first and replace(cell, condition=second) in there
    ]


def without_pairs(given: Iterable[Family], cells: Iterable[Cell]) -> list[tuple[str, str]]:
    """Return what the families without a pair among some cells would have compared, each with the reason."""
    there = set(cells)
    return [_NO_PAIRS[family.name] for family in given if not any(map(there.issuperset, family.pairs))]


# -- the choice sets --------------------------------------------------------------------------------------------------


class ChoiceDesign:
    """The choice sets of a design by cell. Arrays over items are in the order of ``numbers``.

    Intervals resample sentences: *resamples* times, from *seed*.

    >>> from lexiscope.datasets import mini_synonymy
    >>> design = ChoiceDesign(mini_synonymy.load().items)
    >>> len(design.numbers), design.n_options(cell_named("substitution/random"))
    (40, 11)
    """

    def __init__(self, items: Sequence[Item], *, resamples: int = 2000, seed: int = 0) -> None:
        self.items = tuple(items)
        self.resamples, self.seed = resamples, seed

    @cached_property
    def sets(self) -> Mapping[Cell, list[Item]]:
        """The choice sets of each cell, in the order of the items."""
        by_cell: dict[Cell, list[Item]] = {}
        for item in self.items:
            by_cell.setdefault(cell_of(item), []).append(item)
        return by_cell

    @cached_property
    def words_by_suite_item(self) -> Mapping[tuple[str, str, int], set[str]]:
        """The words of each item by suite, expression and number: one text each, in any competition."""
        words: dict[tuple[str, str, int], set[str]] = {}
        for cell, items in self.sets.items():
            for item in items:
                words.setdefault((cell.suite, cell.expression, int(item.condition("item"))), set()).update(item.options)
        return words

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The items of the collection, by number."""
        return tuple(sorted({int(item.condition("item")) for item in self.items}))

    @cached_property
    def sentences(self) -> GroupLabels:
        """The sentence of each item."""
        sentence = {int(item.condition("item")): str(item.condition("sentence")) for item in self.items}
        return GroupLabels((sentence[number] for number in self.numbers), "sentences")

    @cached_property
    def clusters(self) -> GroupLabels | None:
        """The sentences, if there are several: one alone cannot be resampled, its items can."""
        return self.sentences if len(set(self.sentences)) > 1 else None

    def where(self, condition: str, value: str) -> ChoiceDesign:
        """Return the design of the items with this value of a condition (``part_of_speech``, ``verb``)."""
        own = [item for item in self.items if str(item.conditions.get(condition, "")) == value]
        return ChoiceDesign(own, resamples=self.resamples, seed=self.seed)

    def values_of(self, condition: str) -> tuple[str, ...]:
        """Return the values of a condition, in the order of the items; none where an item has no value."""
        values = dict.fromkeys(str(item.conditions.get(condition, "")) for item in self.items)
        return () if "" in values else tuple(values)

    def n_options(self, cell: Cell) -> int:
        """Return the largest number of options of a choice set in a cell."""
        parts = [replace(cell, condition=part) for part in JOINT.get(cell.condition, (cell.condition,))]
        return max(len(item.options) for part in parts for item in self.sets[part])

    def decisions(
        self, table: ResponseColumns, *, subject: str, per: Per = "token"
    ) -> dict[str, dict[Cell, Decisions]]:
        """Return what a subject decided, by measure (``decisions_of``) and cell.

        Cells without an answer are excluded; joint conditions come after those that they are made of.
        Errors: :class:`InputError` for a cell without an item of the collection, or without an answer to one.
        """
        by_measure = decisions_of(table, subject=subject, per=per)
        return {measure: self._by_cell(decisions) for measure, decisions in by_measure.items()}

    def accuracy(self, cell: Cell, decisions: Decisions) -> Accuracy:
        """Return the accuracy of decisions in a cell, with its chance."""
        return accuracy(
            decisions.correct,
            clusters=self.clusters,
            tied=decisions.tied,
            chance=cell.chance(self.n_options(cell)),
            resamples=self.resamples,
            seed=self.seed,
        )

    def contrast(self, first: Decisions, second: Decisions) -> PairedDecisions:
        """Return the contrast of two sets of decisions, item by item."""
        right = first.correct, second.correct
        return contrast(*right, clusters=self.clusters, resamples=self.resamples, seed=self.seed)

    @cached_property
    def _ids(self) -> Mapping[Cell, Mapping[int, str]]:
        """The id of each item's choice set, by cell."""
        return {
            cell: {int(item.condition("item")): item.item_id for item in items} for cell, items in self.sets.items()
        }

    def _by_cell(self, decisions: Decisions) -> dict[Cell, Decisions]:
        answered, by_cell = set(decisions.item_ids), {}
        for cell, ids in self._ids.items():
            lacking = [number for number in self.numbers if number not in ids]
            if lacking:
                raise InputError(
                    f"{cell.name} has no choice set for {len(lacking)} items, the first is {lacking[0]}",
                    hint="every item (column item) needs one choice set in each condition (column condition)",
                )
            if answered & set(ids.values()):
                by_cell[cell] = decisions.aligned([ids[number] for number in self.numbers])
        for joint, parts in JOINT.items():
            for cell in [cell for cell in by_cell if cell.condition == parts[0]]:
                other = replace(cell, condition=parts[1])
                if other in by_cell:
                    by_cell[replace(cell, condition=joint)] = by_cell[cell].both(by_cell[other])
        return by_cell
