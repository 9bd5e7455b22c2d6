"""Items of entity linking from texts with linked mentions: what of the text an item shows, and what is right.

A text is too long for an encoder, so that an item shows a part of it: a number of words on either side of the mention
(``window``), or its sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.dataset import Dataset, DatasetCard, SetAside
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.items.answers.sense_options import join_ids
from lexiscope.items.text_rules import sentence_spans
from lexiscope.resources import fetch
from lexiscope.resources.corpora.linked_json import read_elevant
from lexiscope.resources.corpora.linked_text import LinkedText, Mention, Misplaced

WORDS = 64
"""How many words are on either side of a mention, as a rule."""

_WORD = re.compile(r"\S+")

Part = Callable[[LinkedText], Callable[[Mention], tuple[int, int]]]
"""What of a text is shown of a mention: the text → the mention → half-open offsets."""


@dataclass(frozen=True, slots=True)
class LinkedItems:
    """The items of a dataset, and how many mentions were no items because nothing is right for them (NIL)."""

    items: tuple[Item, ...]
    n_nil: int


def linked_items(
    texts: Iterable[LinkedText],
    *,
    dataset: str,
    split: str,
    shown: Part,
    language: str = "en",
    conditions: Callable[[LinkedText, Mention], Mapping[str, Condition]] | None = None,
) -> LinkedItems:
    """Return an item for each mention that is linked, in the order of the texts.

    The id of an item is ``<dataset>/<split>/<document>/<number of the mention in its text, from 1>``; if a document
    occurs again, its id ends with ``~2``. Every item has the conditions ``split``, ``document`` and ``sentence``
    (the document and the place of what is shown: items that show the same text share it).
    """
    items, n_nil, seen = [], 0, dict[str, int]()
    for text in texts:
        seen[text.document_id] = seen.get(text.document_id, 0) + 1
        again = f"~{seen[text.document_id]}" if seen[text.document_id] > 1 else ""
        document, part = f"{text.document_id}{again}", shown(text)
        for number, mention in enumerate(text.mentions, start=1):
            if not mention.ids:
                n_nil += 1
                continue
            start, end = part(mention)
            about: dict[str, Condition] = {"split": split, "document": document, "sentence": f"{document}:{start}"}
            more = conditions(text, mention) if conditions is not None else {}
            usage = Usage(text.text[start:end], mention.start - start, mention.end - start, language=language)
            item_id = f"{dataset}/{split}/{document}/{number}"
            items.append(Item(item_id, dataset, (usage,), gold=join_ids(mention.ids), conditions={**about, **more}))
    return LinkedItems(tuple(items), n_nil)


def word_window(words: int = WORDS) -> Part:
    """Return what shows *words* words on either side of a mention; words are divided by white space."""

    def of_text(text: LinkedText) -> Callable[[Mention], tuple[int, int]]:
        spans = [match.span() for match in _WORD.finditer(text.text)]
        starts = [start for start, _ in spans]

        def of_mention(mention: Mention) -> tuple[int, int]:
            # the words in which the mention begins and ends: those that begin last at or before these letters
            first = bisect_right(starts, mention.start) - 1 - words
            last = bisect_right(starts, mention.end - 1) - 1 + words
            return spans[max(0, first)][0], spans[min(len(spans) - 1, last)][1]

        return of_mention

    return of_text


def mention_sentence(language: str = "en") -> Part:
    """Return what shows the sentence of a mention; an end of a sentence inside any mention of the text is none."""

    def of_text(text: LinkedText) -> Callable[[Mention], tuple[int, int]]:
        spans = _merge_crossed_sentences(sentence_spans(text.text, language), text.mentions)

        def of_mention(mention: Mention) -> tuple[int, int]:
            return next((start, end) for start, end in spans if start <= mention.start and mention.end <= end)

        return of_mention

    return of_text


def set_aside(misplaced: Iterable[Misplaced], path: str) -> tuple[SetAside, ...]:
    """Return mentions whose letters are not those at their offsets as rows of a dataset that are no items."""
    why = "the text at the offsets is not the mention"
    return tuple(
        SetAside(
            path,
            mention.line,
            why,
            (
                ("document", mention.document_id),
                ("start", str(mention.start)),
                ("end", str(mention.end)),
                ("written", mention.written),
                ("found", mention.at_offsets),
                ("ids", "|".join(mention.ids)),
            ),
        )
        for mention in misplaced
    )


def _merge_crossed_sentences(spans: Iterable[tuple[int, int]], mentions: Iterable[Mention]) -> list[tuple[int, int]]:
    """Join sentences between which a mention lies."""
    crossing = [(mention.start, mention.end) for mention in mentions]
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and any(left < start and right > joined[-1][1] and left < joined[-1][1] for left, right in crossing):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


# -- items and entities of a benchmark in ELEVANT's format ------------------------------------------------------------


def elevant_set(card: DatasetCard) -> Dataset:
    """Return the linked mentions of a benchmark of one file as test items.

    Errors: :class:`~lexiscope.core.errors.DataError` where the file is not available or not as published.
    """
    (file,) = card.files
    fetched = fetch.locate(file, dataset=card.name)
    items = elevant_items(fetched.path, dataset=card.name, split="test").items
    return Dataset(card, items, ResponseTable.empty(), ((file.path, fetched.sha256),))


def elevant_space(card: DatasetCard) -> SearchSpace:
    """Return the entities that any mention is linked to, by Wikidata id, with the name that is given them first.

    Errors: those of :func:`elevant_set`.
    """
    (file,) = card.files
    names: dict[str, str] = {}
    for text in read_elevant(fetch.locate(file, dataset=card.name).path):
        for mention in text.mentions:
            for entity_id in mention.ids:
                names.setdefault(entity_id, mention.name or entity_id)
    entries = (Entry(entity_id, names[entity_id]) for entity_id in sorted(names, key=lambda q: int(q[1:])))
    return SearchSpace(f"entities of {card.name}", tuple(entries))


def elevant_items(path: Path, *, dataset: str, split: str) -> LinkedItems:
    """Return an item for each mention that has an id of Wikidata, in 64 words of text on either side.

    Errors: :class:`~lexiscope.core.errors.InputError` with file and line, as of
    :func:`~lexiscope.resources.corpora.linked_json.read_elevant`.
    """
    return linked_items(read_elevant(path), dataset=dataset, split=split, shown=word_window())
