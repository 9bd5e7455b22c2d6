"""The synsets of a lexicon as a search space: retrieval among all meanings of a language.

A synset has the id of its first lemma: ``bank.n.01`` is the synset that the first noun sense of *bank* belongs to,
where *bank* is first in it. That holds in every build of an edition, while synset ids of a file may be offsets.
*Source:* the context–word bias study, §2.1 and §2.4 (name: lemmas; description: gloss).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.core.item import Item
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.items.answers.sense_options import correct_ids, join_ids
from lexiscope.resources.lexicons.lexicon import LexicalSense, Lexicon, normalised_lemma


def synset_space(lexicon: Lexicon) -> SearchSpace:
    """Return all synsets of a lexicon, in the order of its file: id, lemmas divided by commas, gloss."""
    entries = []
    for synset in lexicon.all_synsets():
        name = ", ".join(lemma.replace("_", " ") for lemma in synset.lemmas)
        entries.append(Entry(_id(lexicon.members(synset.synset_id)[0]), name, synset.gloss))
    return SearchSpace(f"synsets of {lexicon.name}", tuple(entries))


def entry_of_sense(lexicon: Lexicon, sense_key: str) -> str:
    """Return the id of the synset that a sense belongs to.

    Errors: :class:`~lexiscope.core.errors.InputError` for a key that the lexicon does not have.
    """
    return _id(lexicon.members(lexicon.sense(sense_key).synset_id)[0])


def retrieval_items(items: Sequence[Item], lexicon: Lexicon) -> tuple[Item, ...]:
    """Return items of sense disambiguation as items of sense retrieval: the right synsets instead of sense keys.

    Nothing of the senses of the word is left in an item: what it can mean is not told.
    Errors: :class:`~lexiscope.core.errors.InputError` for a key that the lexicon does not have.
    """
    golds: dict[str, str] = {}
    made = []
    for item in items:
        if item.gold and item.gold not in golds:
            golds[item.gold] = join_ids(sorted(entry_of_sense(lexicon, key) for key in correct_ids(item)))
        conditions = {name: value for name, value in item.conditions.items() if name not in ("senses", "glosses")}
        usages = tuple(replace(usage, sense=None) for usage in item.usages)
        gold = golds.get(item.gold or "")
        made.append(replace(item, usages=usages, options=(), gold=gold, conditions=conditions))
    return tuple(made)


def _id(sense: LexicalSense) -> str:
    return f"{normalised_lemma(sense.lemma)}.{sense.pos}.{sense.number:02d}"
