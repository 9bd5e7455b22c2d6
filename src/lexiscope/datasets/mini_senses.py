"""Mini senses: 16 English nouns with two senses each, four sentences a noun, as items of six tasks (CC0).

One list of sentences, glosses, broader terms, substitutes and groups of related words serves every question about
senses: ``mini_senses?task=word_intrusion``, or ``--items mini_senses --task word_intrusion``. All correct answers
follow from how the sentences were written; no participant has answered the items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import SpecError
from lexiscope.core.item import SAME_SENSE, Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage, check_span, whole_text
from lexiscope.items.answers.sense_options import DIFFERENT, DIVIDER, GLOSSES, SAME
from lexiscope.resources import fetch
from lexiscope.resources.tables.rows import RowReader

OPTIONS = ("task",)
"""What may follow the name: ``mini_senses?task=same_sense``."""
DEFAULT = "sense_disambiguation"

SENTENCES = DataFile("mini/senses_en.csv", sha256="a6dd8dc9114bbc0609e9fe589747fdcedde7fa5abbc4395167764d30777d2587")

CARD = DatasetCard(
    name="mini_senses",
    title="Mini senses (English)",
    task=DEFAULT,
    language="en",
    licence="CC0-1.0",
    citation="Lexiscope contributors. Mini senses, version 1.",
    source="written for Lexiscope",
    version="1",
    availability="embedded",
    summary="16 nouns × 2 senses × 2 sentences, with glosses, substitutes and groups of words; six tasks; no answers.",
    files=(SENTENCES,),
    counts=(("items", 64), ("words", 16), ("sentences", 64)),
    first_item="mini_senses/bank-money-1",
    last_item="mini_senses/cabinet-ministers-2",
    remarks=(
        "No participant has answered these items: they show how the tools work. 16 nouns say little of a model.",
        "Tasks: sense_disambiguation (64 items), same_sense (64 pairs), sense_verification (128), substitution (64), "
        "sense_choice (64), word_intrusion (32).",
        "No word of a group is in a sentence of its sense. Glosses are ours, not those of a dictionary.",
        "Intruders and third groups are those of the next noun in the file; which of its two senses is fixed.",
    ),
    authorship=(("all fields", "written by a language model that worked on Lexiscope, checked by rule"),),
)


@dataclass(frozen=True, slots=True)
class NounSense:
    """One sense of a noun: its id, gloss, broader terms, a word that can take its place, related words, sentences."""

    word: str
    name: str
    gloss: str
    hypernyms: str
    synonym: str
    group: tuple[str, ...]
    usages: tuple[Usage, ...]


def load(*, task: str = DEFAULT) -> Dataset:
    """Return the items of one of the tasks.

    Errors: :class:`SpecError` for another task; :class:`DataError` where the embedded file was changed.
    """
    if task not in _TASKS:
        raise SpecError(f"mini_senses has no items of the task {task!r}", hint=f"use one of {', '.join(_TASKS)}")
    items = _TASKS[task](senses())
    texts = {usage.text for item in items for usage in item.usages}
    counts = (("items", len(items)), ("words", 16), ("sentences", len(texts)))
    card = replace(CARD, task=task, counts=counts, first_item=items[0].item_id, last_item=items[-1].item_id)
    return Dataset(card, items, ResponseTable.empty(), ((SENTENCES.path, SENTENCES.sha256 or ""),))


def senses() -> tuple[tuple[NounSense, NounSense], ...]:
    """Return the two senses of each noun, in the order of the file, from which a user makes other items.

    Errors: :class:`DataError` where the embedded file was changed.
    """
    rows = RowReader(fetch.locate_embedded(SENTENCES, "items")).rows()
    header = next(rows).fields
    by_key: dict[tuple[str, str], NounSense] = {}
    for row in rows:
        cells = dict(zip(header, row.fields, strict=True))
        start, end = int(cells["start"]), int(cells["end"])
        check_span(cells["sentence"], start, end, cells["word"], place=row.place())
        usage = Usage(
            cells["sentence"], start, end, lemma=cells["word"], pos="NOUN", language="en", sense=cells["sense"]
        )
        key = (cells["word"], cells["sense"])
        group = tuple(cells["group"].split(DIVIDER))
        empty = NounSense(*key, cells["gloss"], cells["hypernyms"], cells["synonym"], group, ())
        sense = by_key.get(key, empty)
        by_key[key] = replace(sense, usages=(*sense.usages, usage))
    listed = list(by_key.values())
    return tuple(zip(listed[::2], listed[1::2], strict=True))


Nouns = Sequence[tuple[NounSense, NounSense]]


def _sentences(nouns: Nouns) -> list[tuple[str, NounSense, NounSense, Usage]]:
    """Return every sentence with its id, its sense and the other sense of its noun."""
    return [
        (f"{CARD.name}/{own.word}-{own.name}-{number}", own, other, usage)
        for pair in nouns
        for own, other in (pair, pair[::-1])
        for number, usage in enumerate(own.usages, start=1)
    ]


def _disambiguation(nouns: Nouns) -> tuple[Item, ...]:
    items = []
    for name, own, other, usage in _sentences(nouns):
        ranked = sorted((own, other), key=lambda sense: sense.name)
        conditions: dict[str, Condition] = {GLOSSES: DIVIDER.join(sense.gloss for sense in ranked)}
        options = tuple(sense.name for sense in ranked)
        items.append(Item(name, CARD.name, (usage,), options, own.name, conditions=conditions))
    return tuple(items)


def _same_sense(nouns: Nouns) -> tuple[Item, ...]:
    items = []
    for first, second in nouns:
        a, b, c, d = (*first.usages, *second.usages)
        pairs = (("same-1", a, b), ("same-2", c, d), ("different-1", a, c), ("different-2", d, b))
        for name, left, right in pairs:
            same = left.sense == right.sense
            item_id = f"{CARD.name}/{first.word}-{name}"
            gold = SAME if same else DIFFERENT
            items.append(Item(item_id, CARD.name, (left, right), gold=gold, conditions={SAME_SENSE: same}))
    return tuple(items)


def _verification(nouns: Nouns) -> tuple[Item, ...]:
    items = []
    for name, own, other, usage in _sentences(nouns):
        for sense, gold in ((own, SAME), (other, DIFFERENT)):
            conditions: dict[str, Condition] = {"definition": sense.gloss, "hypernyms": sense.hypernyms}
            items.append(Item(f"{name}-{gold}", CARD.name, (usage,), gold=gold, conditions=conditions))
    return tuple(items)


def _substitution(nouns: Nouns) -> tuple[Item, ...]:
    return tuple(
        Item(name, CARD.name, (usage,), tuple(sorted((own.synonym, other.synonym))), own.synonym)
        for name, own, other, usage in _sentences(nouns)
    )


def _choice(nouns: Nouns) -> tuple[Item, ...]:
    items = []
    for name, own, other, usage in _sentences(nouns):
        third = _next_noun(nouns, own)
        conditions: dict[str, Condition] = {
            f"group_{sense.name}": DIVIDER.join(sense.group)
            for sense in sorted((own, other, third), key=lambda noun: noun.name)
        }
        items.append(Item(name, CARD.name, (usage,), gold=own.name, conditions=conditions))
    return tuple(items)


def _intrusion(nouns: Nouns) -> tuple[Item, ...]:
    items = []
    for pair in nouns:
        for sense in pair:
            other = _next_noun(nouns, sense)
            intruder = next(word for word in other.group if word not in sense.group)
            words = tuple(sorted((*sense.group, intruder)))
            usage = replace(whole_text(sense.word, "en"), lemma=sense.word, pos="NOUN")
            conditions: dict[str, Condition] = {"sense": sense.name, "intruder": intruder}
            item_id = f"{CARD.name}/{sense.word}-{sense.name}"
            items.append(Item(item_id, CARD.name, (usage,), words, intruder, conditions=conditions))
    return tuple(items)


def _next_noun(nouns: Nouns, sense: NounSense) -> NounSense:
    """Return the first sense of the noun after that of a sense: the word does not have it."""
    place = next(number for number, pair in enumerate(nouns) if sense in pair)
    return nouns[(place + 1) % len(nouns)][0]


_TASKS: Mapping[str, Callable[[Nouns], tuple[Item, ...]]] = {
    DEFAULT: _disambiguation,
    "same_sense": _same_sense,
    "sense_verification": _verification,
    "substitution": _substitution,
    "sense_choice": _choice,
    "word_intrusion": _intrusion,
}
