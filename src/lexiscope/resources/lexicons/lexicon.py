"""A lexicon: lemmas, their senses in order, the synsets these belong to, and the relations between synsets.

:class:`Lexicon` is what the builder of items and the analyses ask for; ``resources/lexicons/wordnet.py`` answers from
the files of Princeton WordNet, ``resources/lexicons/wn_lexicon.py`` from the ``wn`` library. The words of a lemma of
several words are joined by ``_``; capitals are those of the lexicon, and no look-up minds them.

A synset id holds within one edition of a lexicon (it may be a place in a file). What is stored or compared between
editions is the sense key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Protocol, get_args

Pos = Literal["n", "v", "a", "r"]
POS: tuple[Pos, ...] = get_args(Pos)
"""Parts of speech: noun, verb, adjective (satellites too), adverb."""
POS_NAMES: Mapping[Pos, str] = {"n": "noun", "v": "verb", "a": "adjective", "r": "adverb"}
"""What people call them."""


@dataclass(frozen=True, slots=True)
class Synset:
    """Lemmas that share one meaning, in the lexicon's order.

    ``supersense`` is the lexicographer file (``noun.artifact``; empty where the lexicon has none), ``satellite`` marks
    an adjective that hangs on the head of a cluster, ``ili`` is the id by which lexicons of several languages agree.
    """

    synset_id: str
    pos: Pos
    lemmas: tuple[str, ...]
    gloss: str
    examples: tuple[str, ...] = ()
    supersense: str = ""
    satellite: bool = False
    ili: str | None = None


@dataclass(frozen=True, slots=True)
class LexicalSense:
    """One lemma in one synset.

    ``number`` is the place of the sense among the senses of the lemma in this part of speech (1 = first), ``count``
    how often it was tagged in the lexicon's own corpus (0 where never, or where the lexicon has no counts).
    """

    sense_key: str
    lemma: str
    pos: Pos
    synset_id: str
    number: int
    count: int = 0


class Lexicon(Protocol):
    """What a lexicon answers. Everything comes in a fixed order: of senses, of the file, of the relation's pointers."""

    @property
    def name(self) -> str:
        """Name and version, as the inventory of a :class:`Sense` (``wordnet-3.0``)."""
        ...

    @property
    def language(self) -> str:
        """BCP 47 code of the language."""
        ...

    @property
    def licence(self) -> str:
        """The licence in the words of its publisher, or its name."""
        ...

    @property
    def citation(self) -> str:
        """What users of the lexicon are asked to cite."""
        ...

    def synset(self, synset_id: str) -> Synset:
        """Return a synset by its id.

        Errors: :class:`~lexiscope.core.errors.InputError` where there is none.
        """
        ...

    def synsets(self, lemma: str, pos: Pos | None = None) -> tuple[Synset, ...]:
        """Return the synsets of a lemma in the order of its senses; without *pos* nouns, verbs, adjectives, adverbs."""
        ...

    def sense(self, sense_key: str) -> LexicalSense:
        """Return a sense by its key.

        Errors: :class:`~lexiscope.core.errors.InputError` where there is none.
        """
        ...

    def find_sense(self, sense_key: str) -> LexicalSense | None:
        """Return a sense by its key, or ``None``."""
        ...

    def senses(self, lemma: str, pos: Pos | None = None) -> tuple[LexicalSense, ...]:
        """Return the senses of a lemma in their order; without *pos* nouns, verbs, adjectives, adverbs."""
        ...

    def members(self, synset_id: str) -> tuple[LexicalSense, ...]:
        """Return the senses of a synset, one for each of its lemmas, in their order."""
        ...

    def hypernyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets directly above (a kind of)."""
        ...

    def instance_hypernyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets of which this one names an instance (*Einstein*: *physicist*)."""
        ...

    def hyponyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets directly below."""
        ...

    def instance_hyponyms(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets that name instances of this one."""
        ...

    def similar(self, synset_id: str) -> tuple[Synset, ...]:
        """Return the synsets of the same cluster of adjectives: of a head its satellites, of a satellite its head."""
        ...

    def derivations(self, sense_key: str) -> tuple[LexicalSense, ...]:
        """Return the senses that are derivationally related to this one (*movement*: *move*)."""
        ...

    def base_forms(self, form: str, pos: Pos) -> tuple[str, ...]:
        """Return the lemmas of which *form* may be an inflected form, in lower case, the likeliest first.

        A form that is a lemma itself is among them. Empty where the lexicon knows none.
        """
        ...

    def all_synsets(self, pos: Pos | None = None) -> Iterator[Synset]:
        """Iterate over all synsets in the order of the file."""
        ...


def normalised_lemma(lemma: str) -> str:
    """Return a lemma as look-ups compare it: lower case, words joined by ``_``.

    >>> normalised_lemma("New  York")
    'new_york'
    """
    return "_".join(lemma.lower().split())


def supersense(lexicon: Lexicon, sense_key: str) -> str:
    """Return the lexicographer file of a sense (``noun.group``)."""
    return lexicon.synset(lexicon.sense(sense_key).synset_id).supersense


def lemma_count(lexicon: Lexicon, lemma: str, pos: Pos | None = None) -> int:
    """Return how often a lemma was tagged in the lexicon's own corpus, all its senses together."""
    return sum(sense.count for sense in lexicon.senses(lemma, pos))


def synonyms(lexicon: Lexicon, sense_key: str) -> tuple[str, ...]:
    """Return the other lemmas of the synset of a sense, in their order."""
    own = lexicon.sense(sense_key)
    lemma = normalised_lemma(own.lemma)
    return tuple(word for word in lexicon.synset(own.synset_id).lemmas if normalised_lemma(word) != lemma)


def inventory(lexicon: Lexicon, lemma: str, pos: Pos | None = None) -> tuple[Sense, ...]:
    """Return the senses of a lemma as items carry them: key, lemma, gloss, part of speech, name of the lexicon."""
    return tuple(
        Sense(sense.sense_key, sense.lemma, lexicon.synset(sense.synset_id).gloss, sense.pos, lexicon.name)
        for sense in lexicon.senses(lemma, pos)
    )


def hypernym_closure(lexicon: Lexicon, synset_id: str, *, levels: int | None = None) -> tuple[Synset, ...]:
    """Return all synsets above, nearest first, each once; an instance's hypernyms count as such.

    *levels* is the maximum number of steps up.
    """

    def above(synset_id: str) -> tuple[Synset, ...]:
        return lexicon.hypernyms(synset_id) + lexicon.instance_hypernyms(synset_id)

    return _closure(above, synset_id, levels)


def hyponym_closure(lexicon: Lexicon, synset_id: str, *, levels: int | None = None) -> tuple[Synset, ...]:
    """Return all synsets below, nearest first, each once; instances count as hyponyms.

    *levels* is the maximum number of steps down.
    """

    def below(synset_id: str) -> tuple[Synset, ...]:
        return lexicon.hyponyms(synset_id) + lexicon.instance_hyponyms(synset_id)

    return _closure(below, synset_id, levels)


def common_hypernyms(lexicon: Lexicon, first: str, second: str, *, levels: int | None = None) -> tuple[Synset, ...]:
    """Return the synsets above both of two synsets, nearest to the first one first.

    All nouns of WordNet are under *entity*: to learn whether two nouns share a hypernym, give few *levels*
    (1 = the direct hypernyms of both).
    """
    others = {synset.synset_id for synset in hypernym_closure(lexicon, second, levels=levels)}
    above = hypernym_closure(lexicon, first, levels=levels)
    return tuple(synset for synset in above if synset.synset_id in others)


def derived_lemmas(lexicon: Lexicon, lemma: str, pos: Pos | None = None) -> tuple[str, ...]:
    """Return the lemmas that are derivationally related to any sense of a lemma, each once, in the order of senses."""
    senses = (related for sense in lexicon.senses(lemma, pos) for related in lexicon.derivations(sense.sense_key))
    own = normalised_lemma(lemma)
    return tuple(dict.fromkeys(related.lemma for related in senses if normalised_lemma(related.lemma) != own))


def plain_lemmas(lexicon: Lexicon, pos: Pos, limit: int | None = None) -> tuple[str, ...]:
    """Return the first *limit* lemmas in the order of the file that are one word without ``-`` and capitals.

    Synset by synset, and lemma by lemma within a synset; a lemma of several synsets comes as often.
    Source: Ivan, Ramisch and Nasr, released list of 10,000 random nouns.
    """
    words = (word for synset in lexicon.all_synsets(pos) for word in synset.lemmas)
    return tuple(islice((word for word in words if word.islower() and "_" not in word and "-" not in word), limit))


def _closure(step: Callable[[str], tuple[Synset, ...]], synset_id: str, levels: int | None) -> tuple[Synset, ...]:
    closure: dict[str, Synset] = {}
    front, done = [synset_id], 0
    # a lexicon may hold a cycle (WordNet 3.0 has one among verbs), hence the look at what was found
    while front and (levels is None or done < levels):
        reached = {synset.synset_id: synset for synset_id in front for synset in step(synset_id)}
        front = [key for key in reached if key not in closure and key != synset_id]
        closure.update((key, reached[key]) for key in front)
        done += 1
    return tuple(closure.values())


# -- a sense: one meaning of a lemma in a named inventory -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a lemma. ``sense_id`` is unique within ``inventory`` (a WordNet version, a dataset)."""

    sense_id: str
    lemma: str
    gloss: str = ""
    pos: str | None = None
    inventory: str = ""
