"""Asking models whether they have read the items: rows in the published and in other orders, and rows to continue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from lexiscope.analysis.norming.contamination import (
    CONTINUATIONS,
    FEWEST_CONTINUATIONS,
    FEWEST_SHARDS,
    ORDER,
    follows_order,
    order_advantage,
    verbatim_continuations,
)
from lexiscope.core.errors import CapabilityError, StatisticError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import Converses
from lexiscope.core.result import Result, Undefined, statistic_name
from lexiscope.core.run import csv_field
from lexiscope.core.subject import Decoding, Generates, Scores, Subject, SubjectSpec
from lexiscope.studies.norm.data import NormRun

LOCAL_ITEMS = 192
"""How many items a model of this machine is tested with, unless the settings say otherwise."""
RECORDED = "recorded answers: the model itself cannot be asked"
_ORDERS = 10
_ORDER = statistic_name(ORDER, orders=_ORDERS)
_WORDS_OF_SHARD, _ROWS_OF_SHARD = 4, 8
_ROWS_BEFORE, _MOST_CONTINUED, _MOST_TOKENS = 4, 64, 48
_STRUCTURED = 0.05
_REQUEST = (
    "These are consecutive rows of a published file. Write the rows that follow them in the file, word for word, "
    "and nothing else.\n\n"
)


@dataclass(frozen=True, slots=True)
class _Block:
    """Consecutive items of one word: they stay together, so that no order has more repetition than another."""

    items: tuple[Item, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The texts of each item, as a row of a CSV file has them."""
        return tuple(",".join(csv_field(usage.text) for usage in item.usages) for item in self.items)


def contamination(run: NormRun) -> list[Result]:
    """Return both tests of each model of the run, or why a model could not be tested."""
    results: list[Result] = []
    live = {subject.subject_id: subject for subject in run.live}
    for name in dict.fromkeys((*run.rating, *live)):
        subject = live.get(name)
        if subject is None or subject.kind == "recorded":
            own: Sequence[Result] = _untested(RECORDED)
        else:
            own = _tested(run, subject)
        results += run.about_all(own, subject=name)
    return results


def _untested(reason: str) -> tuple[Undefined, Undefined]:
    return Undefined(_ORDER, reason), Undefined(CONTINUATIONS, reason)


def _tested(run: NormRun, subject: Subject) -> Sequence[Result]:
    served = bool(SubjectSpec.parse(subject.subject_id).url)
    asked = run.settings.contamination
    n = (0 if served else LOCAL_ITEMS) if asked is None else asked
    if not isinstance(subject, Scores | Generates):
        return _untested("it gives no probabilities of texts and continues none")
    if n == 0:
        why = "not tested: it is behind a server, and the test was not asked for" if served else "not tested"
        return _untested(f"{why} (--contamination N)")
    blocks = [_Block(tuple(own)) for _, own in groupby(run.items[:n], key=lambda item: item.word)]
    if not all(item.usages for block in blocks for item in block.items):
        return _untested("the items have no texts")
    # paid answers are kept; a model of this machine gives the same ones again
    work = run.folder / "contamination" if served and run.folder is not None else None
    return [*_ordered(run, subject, blocks, work), *_continued(subject, blocks, work)]


def _ordered(run: NormRun, subject: Subject, blocks: Sequence[_Block], work: Path | None) -> Iterator[Result]:
    """The order test of a model, if it reads texts from left to right and the order of the file has no structure."""
    if not isinstance(subject, Scores):
        yield Undefined(_ORDER, "it gives no probabilities of texts")
        return
    if subject.policy.conditioning != "left":
        yield Undefined(_ORDER, "its scores are those of single masked tokens, not of a text from left to right")
        return
    shards = list(_shards(blocks))
    if len(shards) < FEWEST_SHARDS:
        yield Undefined(_ORDER, f"{len(blocks)} words make {len(shards)} shards; {FEWEST_SHARDS} are needed")
        return
    structure = _structure(shards, run.settings.seed)
    if structure:
        why = f"the file is ordered by {structure}: a model may prefer that order without having read it"
        yield Undefined(_ORDER, why)
        return
    rng = np.random.default_rng(run.settings.seed)
    texts = [[_text(shard), *(_text(order) for order in _orders(shard, rng))] for shard in shards]
    try:
        scores = subject.score([text for own in texts for text in own], work=work)
    except (SubjectError, CapabilityError) as error:
        yield Undefined(_ORDER, error.what)
        return
    sums = np.array([np.nansum(own.log_probabilities) for own in scores]).reshape(len(shards), -1)
    yield run.attempt(_ORDER, lambda: order_advantage(sums, seed=run.settings.seed))


def _shards(blocks: Sequence[_Block]) -> Iterator[tuple[_Block, ...]]:
    """Pieces of the file of at least four words and eight rows; what is left at its end is in none."""
    shard: list[_Block] = []
    for block in blocks:
        shard.append(block)
        if len(shard) >= _WORDS_OF_SHARD and sum(len(own.items) for own in shard) >= _ROWS_OF_SHARD:
            yield tuple(shard)
            shard = []


def _text(shard: Sequence[_Block]) -> str:
    return "\n".join(row for block in shard for row in block.rows)


def _orders(shard: Sequence[_Block], rng: np.random.Generator) -> Iterator[list[_Block]]:
    """Ten different orders of the words of a shard, none of them the published one."""
    published = tuple(range(len(shard)))
    drawn = {published}
    while len(drawn) <= _ORDERS:
        order = tuple(rng.permutation(len(shard)).tolist())
        if order not in drawn:
            drawn.add(order)
            yield [shard[number] for number in order]


def _structure(shards: Sequence[Sequence[_Block]], seed: int) -> str:
    """The property by which the file is ordered, if there is one: the word, the text, or a condition of the items."""
    first = [block.items[0] for shard in shards for block in shard]
    shard_of = [number for number, shard in enumerate(shards) for _ in shard]
    known: dict[str, list[str | float]] = {
        "word": [item.word.casefold() for item in first],
        "text": [item.usages[0].text.casefold() for item in first],
    }
    for name in set.intersection(*(set(item.conditions) for item in first)):
        known[name] = [item.conditions[name] for item in first]
        if any(isinstance(value, str) for value in known[name]):
            known[name] = list(map(str, known[name]))
    names = [name for name, values in sorted(known.items()) if len(set(values)) > 1]
    shares = follows_order([known[name] for name in names], shard_of, seed=seed)
    least = min(range(len(names)), key=shares.__getitem__, default=0)
    return names[least].replace("_", " ") if names and shares[least] < _STRUCTURED / len(names) else ""


def _continued(subject: Subject, blocks: Sequence[_Block], work: Path | None) -> Sequence[Result]:
    """How often a model continues some rows with the first text of the next word's rows, and with that of another."""
    if not isinstance(subject, Generates):
        return [Undefined(CONTINUATIONS, "it continues no texts")]
    places = list(range(1, len(blocks)))
    if len(places) < FEWEST_CONTINUATIONS:
        reason = f"{len(places)} words follow another; {FEWEST_CONTINUATIONS} are needed"
        return [Undefined(CONTINUATIONS, reason)]
    if len(places) > _MOST_CONTINUED:
        places = np.linspace(1, len(places), _MOST_CONTINUED).round().astype(int).tolist()
    rows = [[row for block in blocks[:place] for row in block.rows][-_ROWS_BEFORE:] for place in places]
    chat = isinstance(subject, Converses)
    prompts = ["\n".join([f"{_REQUEST if chat else ''}{own[0]}", *own[1:], ""]) for own in rows]
    targets = [blocks[place].items[0].usages[0].text for place in places]
    # half of the file away: neither the next item nor one of those that were shown
    away = len(targets) // 2
    others = [*targets[away:], *targets[:away]]
    try:
        replies = subject.generate(prompts, Decoding(max_tokens=_MOST_TOKENS), work=work)
    except (SubjectError, CapabilityError) as error:
        return [Undefined(CONTINUATIONS, error.what)]
    texts = ["" if own[0].fault else own[0].text for own in replies]
    hits = [_holds(text, target) for text, target in zip(texts, targets, strict=True)]
    controls = [_holds(text, other) for text, other in zip(texts, others, strict=True)]
    try:
        return verbatim_continuations(hits, controls)
    except StatisticError as error:
        return [Undefined(CONTINUATIONS, error.what)]


def _holds(text: str, target: str) -> bool:
    """Whether a continuation has a text word for word; tokenizers differ in the spaces that they give back."""
    return "".join(target.split()) in "".join(text.split())
