"""The datasets of a run: of the catalog or the user's own file, each divided into train, dev and test.

Every model is trained, so that every dataset needs items to learn from, to choose by and to be tested on. Published
splits are used as they are; what they lack is made of what there is, by word and with a seed, and is said.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import DataError, InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.run import sha256_of
from lexiscope.items.bias_fitness import bias_fitness
from lexiscope.items.columns import ColumnMap
from lexiscope.items.importer import import_items
from lexiscope.items.real_items import catch_remark, real_items
from lexiscope.items.rows import RowReader
from lexiscope.items.search_space import SearchSpace
from lexiscope.items.splits import split_by_word, stratified_folds
from lexiscope.items.synset_space import for_retrieval, synset_space
from lexiscope.items.tabular import is_item_table, read_items
from lexiscope.resources import wordnet
from lexiscope.studies.context_bias.material import FOLDS, NOT_ASKED, PAIR_TASKS, RETRIEVAL_TASKS, AuditSet, NotUsed
from lexiscope.studies.context_bias.protocol import crosses
from lexiscope.studies.context_bias.settings import ContextBiasSettings

SETS = (
    "wic",
    "wic_tsv",
    "mcl_wic",
    "xl_wic",
    "am2ico?language=zh",
    "wsd",
    "aida",
    "wikification",
    "wikimed",
    "cometa",
)
"""The datasets of the paper: those that are not in a run are listed with the reason."""

DEFAULT = ("wic", "wic_tsv", "mcl_wic")
"""What is run where no dataset is named: the three whose published files are complete and small."""

RETRIEVAL = "wsd?task=sense_retrieval"
"""Names retrieval among all synsets, with the items of ``wsd``."""

_TASKS = (*PAIR_TASKS, *RETRIEVAL_TASKS, "sense_disambiguation")
_SPLITS = ("train", "dev", "test")
_ALL_SHARES: Mapping[str, float] = {"train": 60, "dev": 15, "test": 25}
_TWENTIETHS = 20
_TRAIN_SHARES: Mapping[str, float] = {"train": 85, "dev": 15}
_DEV_SHARES: Mapping[str, float] = {"train": 75, "dev": 25}

Parts = dict[str, tuple[Item, ...]]


def open_sets(settings: ContextBiasSettings) -> tuple[tuple[AuditSet, ...], tuple[NotUsed, ...]]:
    """Load what was asked for; return the datasets, and those of the paper or of the call that are not used, with why.

    Errors: those of a dataset that is at hand and damaged, or not fit for an audit; :class:`DataError` where none of
    those asked for is at hand; those of :func:`own_set`.
    """
    if settings.items:
        return (own_set(Path(settings.items), settings),), ()
    asked = settings.datasets or ((settings.dataset,) if settings.dataset else DEFAULT)
    if len(set(asked)) < len(asked):
        raise InputError(f"the same dataset is asked twice: {', '.join(asked)}")
    found: list[AuditSet] = []
    missing: list[NotUsed] = []
    first: DataError | None = None
    for name in asked:
        try:
            found.append(_published(name, settings))
        except DataError as error:
            first = first or error
            missing.append(NotUsed(name, _title(name), f"Not at hand: {error.what}. {_sentence(error.hint)}".strip()))
    if first is not None and not found:
        raise first
    return tuple(found), (*missing, *_not_asked(asked, settings))


def own_set(path: Path, settings: ContextBiasSettings) -> AuditSet:
    """Read a pair file of the user's own and check that it is fit for an audit.

    A file without a column ``split`` is learnt from and tested in folds, or divided for a training: 60 % to learn from,
    15 % to choose by, 25 % to test. Either is by item, with the same share of each answer: a word stands in several
    parts, so that a word that decides its label can be seen.
    Errors: :class:`InputError` with the row: those of :func:`~lexiscope.items.importer.import_items`, E481 to E485, and
    E617 for items that are neither pairs nor usages with a definition.
    """
    items, lines, caught = _own_items(path, settings)
    checksums = ((path.name, sha256_of(path)),)
    if any("split" in item.conditions for item in items):
        _check_own(items, path, lines, needs=_SPLITS)
        train, dev, test = (tuple(each for each in items if each.conditions["split"] == split) for split in _SPLITS)
        return AuditSet(
            path.stem, path.stem, _task_of(items, path), train, dev, test, checksums=checksums, caught=caught
        )
    _check_own(items, path, lines, needs=())
    task, golds = _task_of(items, path), [str(item.gold) for item in items]
    if crosses(settings):
        _check_folds(golds, path)
        folds = stratified_folds(golds, FOLDS, seed=settings.seed)
        told = (
            f"The file has no column split: each item was tested once, by a learner trained on the other items "
            f"({FOLDS} folds by item with equal shares of each answer, seed {settings.seed}). Words occur in several "
            "folds."
        )
        arranged = (told, *_recurring(items, folds))
        return AuditSet(
            path.stem, path.stem, task, (), (), items, "all, in folds", arranged, None, None, checksums, folds, caught
        )
    parts = _divided_by_item(items, golds, settings.seed)
    _check_own(_marked(parts, items), path, lines, needs=_SPLITS)
    told = (
        "The file has no column split: it was divided by item with equal shares of each answer, seed "
        f"{settings.seed}: 60 % train, 15 % dev, 25 % test. Words occur in several parts."
    )
    train, dev, test = (parts[name] for name in _SPLITS)
    arranged = (
        told,
        *_recurring((*train, *dev, *test), (0,) * len(train) + (1,) * len(dev) + (2,) * len(test)),
    )
    return AuditSet(path.stem, path.stem, task, train, dev, test, arranged=arranged, checksums=checksums, caught=caught)


def _recurring(items: Sequence[Item], parts: Sequence[int]) -> tuple[str, ...]:
    """Return the sentence on items of which a text also occurs in an item of another part; none if there are none.

    A division by item does not keep equal sentences together: a learner can then recognise the sentence.
    """
    found: dict[str, set[int]] = {}
    for item, part in zip(items, parts, strict=True):
        for usage in item.usages:
            found.setdefault(usage.text, set()).add(part)
    shared = sum(any(len(found[usage.text]) > 1 for usage in item.usages) for item in items)
    if not shared:
        return ()
    return (
        f"Caution: {shared:,} of {len(items):,} items contain a sentence that also occurs in an item of another part. "
        "A learner can recognise such a sentence itself. To exclude this, add a column split (train, dev, test) that "
        "keeps equal sentences together.",
    )


def arranged_splits(items: Sequence[Item], seed: int) -> tuple[Parts, str, tuple[str, ...]]:
    """Return train, dev and test of published items, the name of the split that is tested, and what was done, in words.

    Where the labels of test are hidden (or there is no test), dev is tested, and dev is taken from train; where there
    is no train, it is taken from dev; where nothing else is left, the one split is divided in three.
    Errors: :class:`InputError` where no item has a right answer, or there are too few words to divide.
    """
    given: Parts = {}
    for split in _SPLITS:
        several = tuple(item for item in items if item.conditions.get("split") == split and item.gold is not None)
        if several:
            given[split] = several
    if not given:
        raise InputError("no item has a right answer, so that nothing can be tested")
    told: list[str] = []
    tested = next(split for split in ("test", "dev", "train") if split in given)
    if tested != "test":
        told.append(f"The labels of test are hidden or not at hand: {tested} is tested.")
    rest = {split: several for split, several in given.items() if split != tested}
    if not rest:
        parts, how = _divided(given[tested], _ALL_SHARES, seed)
        return parts, tested, (*told, f"There is no other split: {tested} {how}.")
    if len(rest) == 2:
        return {**rest, "test": given[tested]}, tested, tuple(told)
    (name, left), shares = next(iter(rest.items())), _TRAIN_SHARES if "train" in rest else _DEV_SHARES
    parts, how = _divided(left, shares, seed)
    lacking = "dev" if name == "train" else "train"
    return {**parts, "test": given[tested]}, tested, (*told, f"For want of another {lacking}, {name} {how}.")


# -- published sets -------------------------------------------------------------------------------------------


def _published(name: str, settings: ContextBiasSettings) -> AuditSet:
    loaded, task, space = _loaded(name)
    if task not in _TASKS:
        what = f"{name} asks the task {task!r}, which has no part of the input to hide"
        raise InputError(what, hint=f"context bias is measured on {', '.join(_TASKS)}")
    parts, tested, told = arranged_splits(loaded.items, settings.seed)
    if task in PAIR_TASKS:
        bias_fitness(_marked(parts, ()), needs=_SPLITS).require()
    title = loaded.card.title if "?" not in name else f"{loaded.card.title} [{name.partition('?')[2]}]"
    train, dev, test = (parts[split] for split in _SPLITS)
    return AuditSet(name, title, task, train, dev, test, tested, told, loaded.card, space, loaded.checksums)


def _loaded(name: str) -> tuple[Dataset, str, SearchSpace | None]:
    module: Any = catalog.module("datasets", name.partition("?")[0])
    if module.CARD.name == "wsd":
        if name not in ("wsd", RETRIEVAL):
            raise SpecError(f"this study takes all of wsd, not {name}", hint=f"write wsd or {RETRIEVAL}")
        loaded: Dataset = module.load("all")
        if name == "wsd":
            return loaded, loaded.card.task, None
        lexicon = wordnet.load()
        items = for_retrieval(loaded.items, lexicon)
        return replace(loaded, items=items), "sense_retrieval", synset_space(lexicon)
    loaded = catalog.dataset(name)
    if hasattr(module, "sampled") and {item.conditions.get("split") for item in loaded.items} == {"test"}:
        # published without splits: the set itself says how it is divided
        loaded = replace(loaded, items=module.sampled(loaded.items))
    space = module.search_space() if loaded.card.task in RETRIEVAL_TASKS else None
    return loaded, loaded.card.task, space


def _title(name: str) -> str:
    return catalog.card(name).title if catalog.has("datasets", name) else name


def _not_asked(asked: Sequence[str], settings: ContextBiasSettings) -> list[NotUsed]:
    """The paper's other datasets, where the run is about the paper's."""
    plain = {name.partition("?")[0] for name in asked}
    if not plain & {name.partition("?")[0] for name in SETS}:
        return []
    known = [name for name in SETS if name.partition("?")[0] not in plain]
    return [NotUsed(name, _title(name), f"{NOT_ASKED}--dataset {name}.") for name in known]


def _sentence(text: str) -> str:
    """A hint as a sentence of its own."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


# -- splits ---------------------------------------------------------------------------------------------------


def _divided(items: Sequence[Item], shares: Mapping[str, float], seed: int) -> tuple[Parts, str]:
    total = sum(shares.values())
    told = ", ".join(f"{round(100 * share / total)} % {name}" for name, share in shares.items())
    parts = {part.name: part.items for part in split_by_word(items, shares, seed=seed)}
    return parts, f"was divided by word, so that no word stands in two parts, with seed {seed}: {told}"


def _divided_by_item(items: Sequence[Item], golds: Sequence[str], seed: int) -> Parts:
    """Items in the parts of :data:`_ALL_SHARES`, a twentieth at a time, each with the same share of every answer."""
    total = sum(_ALL_SHARES.values())
    folds = stratified_folds(golds, _TWENTIETHS, seed=seed)
    ends = [round(_TWENTIETHS * end / total) for end in itertools.accumulate(_ALL_SHARES.values())]
    parts: Parts = {}
    for name, start, end in zip(_ALL_SHARES, (0, *ends), ends, strict=False):
        parts[name] = tuple(item for item, fold in zip(items, folds, strict=True) if start <= fold < end)
    return parts


def _marked(parts: Parts, order: Sequence[Item]) -> tuple[Item, ...]:
    """The items with the split in which they now are, in the order given (else by split)."""
    now = {
        item.item_id: replace(item, conditions={**item.conditions, "split": split})
        for split, several in parts.items()
        for item in several
    }
    return tuple(now[item.item_id] for item in order) if order else tuple(now.values())


# -- the user's own file --------------------------------------------------------------------------------------


def _own_items(
    path: Path, settings: ContextBiasSettings
) -> tuple[tuple[Item, ...], Mapping[str, int], tuple[str, ...]]:
    """The items of a file, the line of each if Lexiscope has not written the file, and what is said of catch trials."""
    if is_item_table(path):
        every = read_items(path)
        items = real_items(every)
        return items, {}, catch_remark(len(every) - len(items))
    header = _header(path)
    read = import_items(path, _label_column(header), dataset=path.stem, task="same_sense", language=settings.language)
    if all(item.gold is None for item in read.items):
        what = f"no labels found; labels are read from a column {', '.join(_LABELS)} or same_sense"
        hint = f"add one: t or f, true or false, yes or no, 1 or 0; columns in the file: {', '.join(header)}"
        raise InputError(what, code="E484", place=Place(str(path), 1), hint=hint)
    items = real_items(read.items)
    return items, read.lines, catch_remark(len(read.items) - len(items))


_LABELS = ("gold", "label")


def _header(path: Path) -> tuple[str, ...]:
    """The names of the columns, whatever separates them; what is wrong with the file, its import says."""
    reader = RowReader(path, lambda _finding: None)
    next(reader.rows(), None)
    return reader.header


def _label_column(header: Sequence[str]) -> ColumnMap | None:
    """The column of labels if its name is ``label`` in any case, and none is called gold or same_sense."""
    known = ColumnMap().completed(header)
    named = [name for name in header if name.strip().casefold() == "label"]
    if known.gold is not None or known.same_sense is not None or len(named) != 1:
        return None
    return ColumnMap(gold=named[0])


def _check_folds(golds: Sequence[str], path: Path) -> None:
    """Refuse a file in which an answer is too rare to stand in every fold."""
    counts = Counter(golds)
    rarest = min(counts, key=lambda gold: (counts[gold], gold))
    if counts[rarest] < FOLDS:
        what = f"only {counts[rarest]} of {len(golds)} labels are {rarest}; at least {FOLDS} of each are needed"
        raise InputError(what, code="E483", place=Place(str(path)), hint="add items of this label")


def _task_of(items: Sequence[Item], path: Path) -> str:
    """Pairs of usages, or usages with a definition: what each is asked follows from its columns."""
    shapes = {(len(item.usages), "definition" in item.conditions) for item in items}
    if {n for n, _ in shapes} == {2}:
        return "same_sense"
    if shapes == {(1, True)}:
        return "sense_verification"
    what = "the items are neither pairs of sentences nor sentences with a definition"
    hint = "give columns sentence_1, target_1, sentence_2, target_2 and gold, or sentence, target, definition and gold"
    raise InputError(f"{path.name}: {what}", code="E617", hint=hint)


def _check_own(items: Sequence[Item], path: Path, lines: Mapping[str, int], *, needs: Sequence[str]) -> None:
    """Refuse what cannot be audited. Before the file is divided, all of it is looked at as one."""
    bias_fitness(items, needs=needs, path=str(path), lines=lines).require()
