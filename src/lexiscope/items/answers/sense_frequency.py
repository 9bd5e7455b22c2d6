"""How often a sense that is known by its definition alone was tagged in the lexicon's own corpus.

AmbiStory's senses are WordNet 3.0 glosses without their examples. A gloss is looked for among the senses of every base
form of the word; it may have been changed a little on its way (quotation marks, what is left of removed examples).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lexiscope.core.item import Item
from lexiscope.resources.lexicons.lexicon import POS, LexicalSense, Lexicon

_MARKS = str.maketrans(dict.fromkeys("`'\"‘’“”"))


def sense_counts(items: Iterable[Item], lexicon: Lexicon) -> dict[str, int | None]:
    """Return how often the sense of each item was tagged under the lemma of its homonym, by item id.

    ``None`` where no sense of the homonym has this gloss: the count is not known to be 0. Items need the conditions
    ``homonym`` and ``sense``.
    """
    known: dict[tuple[str, str], int | None] = {}
    found = {}
    for item in items:
        pair = (str(item.condition("homonym")), str(item.condition("sense")))
        if pair not in known:
            known[pair] = _count(*pair, lexicon)
        found[item.item_id] = known[pair]
    return found


def gloss_key(text: str) -> str:
    """Return what two spellings of one gloss share: no quotation marks, nothing behind the definition, no case.

    >>> gloss_key("a `kind' of bank; ; "), gloss_key("a 'kind' of bank")
    ('a kind of bank', 'a kind of bank')
    """
    bare = re.sub(r"\s*;[\s;]*(?:--.*)?$", "", text.translate(_MARKS).strip())
    return " ".join(bare.rstrip(" ;,").split()).casefold()


def _count(form: str, gloss: str, lexicon: Lexicon) -> int | None:
    wanted = gloss_key(gloss)
    for sense in _senses(form, lexicon):
        if gloss_key(lexicon.synset(sense.synset_id).gloss) == wanted:
            return sense.count
    return None


def _senses(form: str, lexicon: Lexicon) -> Iterator[LexicalSense]:
    for pos in POS:
        for base in lexicon.base_forms(form.lower(), pos):
            yield from lexicon.senses(base, pos)
