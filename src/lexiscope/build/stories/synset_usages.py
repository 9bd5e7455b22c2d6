"""Usages of a synset in SemCor, as ``bond.n.02``: sentences in which a word has one sense."""

from __future__ import annotations

import re
from typing import cast

from lexiscope.core.errors import DataError, InputError
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import with_wordform
from lexiscope.resources.corpora import semcor
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import Lexicon, Pos

_SYNSET_NAME = re.compile(r"(\S+)\.([nvar])\.(\d+)")


def check_synset(name: str) -> None:
    """Check that a synset's name is one, and that WordNet has it, if WordNet is available.

    Errors: :class:`InputError` for a name that is none.
    """
    try:
        _keys_of(name, wordnet.load())
    except DataError:
        # who needs the usages is told what is missing
        return


def synset_usages(name: str) -> tuple[str, tuple[Usage, ...]]:
    """Return the lemma of a synset's name (``bond.n.02``) and its usages in SemCor, the lemma standing in its place.

    Vectors of *bonds* and of *bond* have senses of their own: to be compared, all usages are looked up in one form.
    Errors: :class:`DataError` if WordNet or SemCor is not available; :class:`InputError` for a name that is none.
    """
    lemma, keys = _keys_of(name, wordnet.load())
    usages = []
    for sentence in semcor.load().sentences():
        for place in sentence.instances:
            token = sentence.tokens[place]
            if keys.intersection(token.sense_keys) and not semcor.is_name(token):
                usages.append(with_wordform(sentence.usage(place), lemma))
    return lemma, tuple(usages)


def _keys_of(name: str, lexicon: Lexicon) -> tuple[str, frozenset[str]]:
    match = _SYNSET_NAME.fullmatch(name)
    if match is None:
        raise InputError(f"{name!r} names no synset", hint="write lemma.pos.number, as bond.n.02")
    lemma, pos, number = match[1], cast(Pos, match[2]), int(match[3])
    senses = [sense for sense in lexicon.senses(lemma, pos) if sense.number == number]
    if not senses:
        raise InputError(f"{lexicon.name} has no sense {number} of {lemma!r} ({pos})", hint="give another synset")
    return lemma, frozenset(sense.sense_key for sense in senses)
