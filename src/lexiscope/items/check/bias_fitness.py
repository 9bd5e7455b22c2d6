"""Is a set fit for a bias audit: does every split that is needed have labels of two classes?

A subject that is trained and tested on partial input needs something to learn from, to choose by and to be tested on.
If a dataset does not have them, the error names the row, before any training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.items.answers.sense_options import DIFFERENT, SAME
from lexiscope.items.arrange.pairs import SPLITS
from lexiscope.items.check.design import question_key
from lexiscope.items.tables.findings import Finding

CLASSES = (SAME, DIFFERENT)
"""The gold answers of a set that can be audited."""


@dataclass(frozen=True, slots=True)
class SplitLabels:
    """What one split has: its items, how many of each class, and how many whose label is hidden."""

    split: str
    n: int
    classes: tuple[tuple[str, int], ...]
    n_hidden: int


@dataclass(frozen=True, slots=True)
class BiasFitness:
    """Whether a set is fit for a bias audit: what its splits have, and what is wrong, each with its code and row."""

    splits: tuple[SplitLabels, ...]
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that prevent an audit; the others are warnings."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def require(self) -> None:
        """Raise what is wrong first, and say how much more is.

        Errors: :class:`InputError` E481 to E485.
        """
        if self.errors:
            error, more = self.errors[0].error(), len(self.errors) - 1
            why = f"{more} more fault{'s' if more > 1 else ''} of this set" if more else ""
            raise InputError(error.what, code=error.code, place=error.place, why=why, hint=error.hint)


def bias_fitness(
    items: Sequence[Item],
    *,
    needs: Sequence[str] = SPLITS,
    path: str = "",
    lines: Mapping[str, int] | None = None,
) -> BiasFitness:
    """Return whether items can be audited; *needs* are the splits that must have labels.

    Where the labels of the test set are hidden, dev may be what is tested: *needs* is then ``("train", "dev")``. With
    none, the set is not divided yet and is looked at as a whole. *path*
    and *lines* (:attr:`lexiscope.items.read.importer.Imported.lines`) let the findings name the rows of the user's
    file.

    Findings: E481 an item without a split, or in one that is none; E482 a split without items; E483 one class only;
    E484 hidden labels; E485 a label that is neither t nor f; and a warning, W486, where the same question is in two
    splits, as it does in some published sets.

    >>> bias_fitness([]).findings[0].message
    'the set has no items in train'
    """
    where = _RowPlace(path, lines or {})
    by_split: dict[str, list[Item]] = {split: [] for split in SPLITS}
    for item in items:
        by_split.setdefault(str(item.conditions.get("split", "")), []).append(item)
    findings = [*_unknown_splits(by_split, where)]
    for split in needs:
        findings += _faults_of(split, by_split.get(split, []), where)
    if not needs:
        findings = list(_faults_of("", items, where))
    findings += _repeated_questions(items, where)
    counted = tuple(_split_labels(split, several) for split, several in by_split.items() if several)
    return BiasFitness(counted, tuple(findings))


def question_content(item: Item) -> tuple[object, ...]:
    """Return what an item asks, without its id and its gold: its definition, and its usages in any order.

    >>> from lexiscope.core.usage import Usage
    >>> one, other = Usage("A bank", 2, 6), Usage("The bank", 4, 8)
    >>> question_content(Item("a", "d", (one, other))) == question_content(Item("b", "d", (other, one), gold="t"))
    True
    """
    return (item.conditions.get("definition", ""), *question_key(item.usages))


@dataclass(frozen=True, slots=True)
class _RowPlace:
    """The place of an item in the user's file."""

    path: str
    lines: Mapping[str, int]

    def place(self, item: Item) -> Place:
        return Place(self.path or None, self.lines.get(item.item_id), item_id=item.item_id)

    def finding(self, code: str, message: str, item: Item | None, hint: str) -> Finding:
        return Finding.from_place(
            code, message, self.place(item) if item is not None else Place(self.path or None), hint=hint
        )


def _unknown_splits(by_split: Mapping[str, Sequence[Item]], where: _RowPlace) -> Iterator[Finding]:
    hint = f"give every row {', '.join(SPLITS[:-1])} or {SPLITS[-1]} in a column split"
    for split, several in by_split.items():
        if split not in SPLITS:
            named = f"is in the split {split!r}, which is none" if split else "is in no split"
            more = f", and so {'are' if len(several) > 2 else 'is'} {len(several) - 1} more" if len(several) > 1 else ""
            yield where.finding("E481", f"the item {named}{more}", several[0], hint)


def _faults_of(split: str, items: Sequence[Item], where: _RowPlace) -> Iterator[Finding]:
    within, of = (f" in {split}", f" of {split}") if split else ("", "")
    if not items:
        hint = "divide the set by word, so that no word is in two splits (lexiscope.items.arrange.splits)"
        yield where.finding("E482", f"the set has no items{within}", None, hint)
        return
    hidden = [item for item in items if item.gold is None]
    if hidden:
        what = f"the label of this item is hidden, as {len(hidden)} of {len(items)}{within} are"
        hint = "test on dev instead" if split == "test" else "give the labels, or remove these rows"
        yield where.finding("E484", what, hidden[0], hint)
    strange = next((item for item in items if item.gold is not None and item.gold not in CLASSES), None)
    if strange is not None:
        hint = "two classes can be audited: t and f"
        yield where.finding("E485", f"the label {strange.gold!r} is neither t nor f", strange, hint)
    classes = sorted({item.gold for item in items if item.gold in CLASSES})
    if len(classes) == 1:
        what = f"all {len(items) - len(hidden)} labels{of} are {classes[0]}, from this item on"
        hint = "a set with one class cannot be learnt: add items of the other"
        yield where.finding("E483", what, next(item for item in items if item.gold is not None), hint)


def _repeated_questions(items: Sequence[Item], where: _RowPlace) -> Iterator[Finding]:
    """The first item of each split that asks what an item of another split asks, its usages in any order."""
    first: dict[tuple[object, ...], Item] = {}
    told: set[str] = set()
    for item in items:
        other = first.setdefault(question_content(item), item)
        split, before = str(item.conditions.get("split", "")), str(other.conditions.get("split", ""))
        if split != before and split not in told:
            told.add(split)
            line = f", line {where.lines[other.item_id]}" if other.item_id in where.lines else ""
            what = f"this question of {split} is also in {before}: item {other.item_id}{line}"
            yield where.finding("W486", what, item, "keep one of the two: what is tested would have been learnt")


def _split_labels(split: str, items: Sequence[Item]) -> SplitLabels:
    counts = Counter(item.gold for item in items)
    classes = tuple(sorted((gold, n) for gold, n in counts.items() if gold is not None))
    return SplitLabels(split, len(items), classes, counts[None])
