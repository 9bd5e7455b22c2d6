"""Which words may stand for a target: synonyms of its sense, and distractors from its other senses."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lexiscope.resources.lexicons.lexicon import LexicalSense, Lexicon, Pos, Synset, lemma_count, normalised_lemma

_DIVIDED = re.compile(r"[\s_\u002d\u2010\u2011]")


@dataclass(frozen=True, slots=True)
class FilterCount:
    """How much came into a filter and how much went out; ``stage`` says what is counted."""

    stage: str
    name: str
    n_in: int
    n_out: int


@dataclass(frozen=True, slots=True)
class Rules:
    """What may be a target, a synonym or a distractor; the defaults are those of the published collection.

    ``min_tokens`` is the least length of a sentence. Without ``lower_case`` words may have capitals (as nouns have in
    German). With ``leave_out_flagged`` sentences with a flagged word are excluded, and counted. Targets with ``one``
    sense, in all parts of speech together, are controls: they have a synonym and no distractor.
    """

    pos: Pos = "n"
    senses: Literal["several", "one"] = "several"
    min_tokens: int = 10
    lower_case: bool = True
    leave_out_flagged: bool = False

    def is_one_word(self, word: str) -> bool:
        """Whether a word is neither a compound with ``_``, ``-`` or a space nor of several words."""
        return _DIVIDED.search(word) is None

    def is_plain(self, word: str) -> bool:
        """Whether a word consists of letters (and their marks), in lower case if capitals are not allowed.

        >>> [Rules().is_plain(word) for word in ("dirt", "1930s", "Mars", "ba\u00f1o", "\u05e9\u05dc\u05d5\u05dd")]
        [True, False, False, True, True]
        """
        letters = word.isalpha() or all(char.isalpha() or unicodedata.category(char)[0] == "M" for char in word)
        return bool(word) and letters and (not self.lower_case or word == word.lower())


@dataclass(frozen=True, slots=True)
class Alternative:
    """A word that could replace the target.

    ``count`` is how often the lexicon's corpus has it in this sense, ``total`` in all its senses of the part of
    speech. ``sense`` is the target's sense that it shares (for a distractor: not the one of the context), ``gloss``
    that sense's. ``not_with`` are synonyms of the right sense that share the distractor's sense too.
    """

    word: str
    count: int
    total: int
    sense: str
    gloss: str
    not_with: tuple[str, ...] = ()

    def goes_with(self, synonym: Alternative) -> bool:
        """Whether a distractor may be combined with a synonym."""
        return synonym.word not in self.not_with

    @property
    def rank(self) -> tuple[int, int, str]:
        """Sorts the best first: the higher count in the sense, then in all senses, then the alphabet."""
        return (-self.count, -self.total, self.word)


class Alternatives:
    """The synonyms and distractors of senses under some rules; each sense is looked at once and counted once."""

    def __init__(self, lexicon: Lexicon, rules: Rules) -> None:
        self._lexicon, self._rules = lexicon, rules
        self._senses: dict[str, LexicalSense | None] = {}
        self._found: dict[str, tuple[tuple[Alternative, ...], tuple[Alternative, ...]]] = {}
        self._others: dict[str, tuple[LexicalSense, ...]] = {}
        self._members: dict[str, tuple[tuple[str, int], ...]] = {}
        self._totals: dict[str, int] = {}
        self._counted: Counter[tuple[str, str]] = Counter()

    def knows(self, sense: str, lemma: str) -> bool:
        """Whether the lexicon has a sense, as one of this lemma and of the part of speech asked for."""
        if sense not in self._senses:
            self._senses[sense] = self._lexicon.find_sense(sense)
        own = self._senses[sense]
        return own is not None and own.pos == self._rules.pos and normalised_lemma(own.lemma) == lemma

    def sense(self, sense: str) -> LexicalSense:
        """Return a sense by its key.

        Errors: :class:`~lexiscope.core.errors.InputError` where there is none.
        """
        own = self._senses.get(sense)
        return own if own is not None else self._lexicon.sense(sense)

    def synset(self, sense: str) -> Synset:
        """Return the synset of a sense."""
        return self._lexicon.synset(self.sense(sense).synset_id)

    def n_senses(self, sense: str) -> int:
        """Return how many senses the lemma of a sense has in its part of speech."""
        return len(self._other_senses(sense)) + 1

    def has_one_sense(self, sense: str) -> bool:
        """Whether the lemma of a sense has no other, in any part of speech."""
        return len(self._lexicon.senses(self.sense(sense).lemma)) == 1

    def synonyms(self, sense: str) -> tuple[Alternative, ...]:
        """Return the other words of the sense's synset that pass the rules, best first."""
        return self._alternatives(sense)[0]

    def distractors(self, sense: str) -> tuple[Alternative, ...]:
        """Return the words of the lemma's other senses that pass the rules, best first, each once."""
        return self._alternatives(sense)[1]

    def has_pair(self, sense: str) -> bool:
        """Whether any synonym can be combined with any distractor."""
        synonyms, distractors = self._alternatives(sense)
        return any(distractor.goes_with(synonym) for synonym in synonyms for distractor in distractors)

    def counts(self) -> tuple[FilterCount, ...]:
        """Return the counts of the filters of words, each sense that was looked at counted once."""
        rows = []
        nearness = (_CLUSTER,) if self._rules.pos == "a" else (_SUPERSENSE, _HYPERNYM)
        of_distractors = (_ONE_WORD, _PLAIN, _IN_SYNSET, *nearness, _ONCE) if self._rules.senses == "several" else ()
        for stage, names in (("synonym", (_ONE_WORD, _PLAIN)), ("distractor", of_distractors)):
            n_in = self._counted[stage, ""]
            for name in names:
                n_out = n_in - self._counted[stage, name]
                rows.append(FilterCount(stage, name, n_in, n_out))
                n_in = n_out
        return tuple(rows)

    def _alternatives(self, sense: str) -> tuple[tuple[Alternative, ...], tuple[Alternative, ...]]:
        if sense not in self._found:
            own = self.sense(sense)
            synset = self.synset(sense)
            synonyms = sorted(self._synonyms(own, synset), key=_rank)
            kept = sorted(self._distractors(own, synset), key=_rank)
            by_word: dict[str, list[Alternative]] = {}
            for distractor in kept:
                by_word.setdefault(distractor.word, []).append(distractor)
            distractors = sorted((_merge_senses(several) for several in by_word.values()), key=_rank)
            self._counted["distractor", _ONCE] += len(kept) - len(distractors)
            self._found[sense] = (tuple(synonyms), tuple(distractors))
        return self._found[sense]

    def _synonyms(self, own: LexicalSense, synset: Synset) -> Iterator[Alternative]:
        for word, count in self._words(synset, own.lemma):
            self._counted["synonym", ""] += 1
            fault = self._fault(word)
            if fault:
                self._counted["synonym", fault] += 1
            else:
                yield Alternative(word, count, self._total(word, own.pos), own.sense_key, synset.gloss)

    def _distractors(self, own: LexicalSense, synset: Synset) -> Iterator[Alternative]:
        right = {normalised_lemma(lemma) for lemma in synset.lemmas}
        for other in self._other_senses(own.sense_key):
            there = self._lexicon.synset(other.synset_id)
            relation = self._relation(synset, there)
            shared = tuple(lemma for lemma in synset.lemmas if lemma in there.lemmas and lemma != own.lemma)
            for word, count in self._words(there, own.lemma):
                self._counted["distractor", ""] += 1
                fault = self._fault(word) or (_IN_SYNSET if normalised_lemma(word) in right else "") or relation
                if fault:
                    self._counted["distractor", fault] += 1
                else:
                    yield Alternative(word, count, self._total(word, own.pos), other.sense_key, there.gloss, shared)

    def _words(self, synset: Synset, target: str) -> tuple[tuple[str, int], ...]:
        """The words of a synset other than the target, with their counts in it."""
        if synset.synset_id not in self._members:
            members = self._lexicon.members(synset.synset_id)
            counts = {normalised_lemma(member.lemma): member.count for member in members}
            # words that differ in case share a sense key, and the lexicon may know them as one member
            words = ((word, counts.get(normalised_lemma(word), 0)) for word in synset.lemmas)
            self._members[synset.synset_id] = tuple(words)
        lemma = normalised_lemma(target)
        return tuple(entry for entry in self._members[synset.synset_id] if normalised_lemma(entry[0]) != lemma)

    def _total(self, word: str, pos: Pos) -> int:
        if word not in self._totals:
            self._totals[word] = lemma_count(self._lexicon, word, pos)
        return self._totals[word]

    def _fault(self, word: str) -> str:
        if not self._rules.is_one_word(word):
            return _ONE_WORD
        return "" if self._rules.is_plain(word) else _PLAIN

    def _relation(self, right: Synset, other: Synset) -> str:
        """Why the words of another synset are too near the correct one to be wrong; empty if they are not.

        A lexicon without supersenses cannot separate any two: there only the hypernyms decide. Adjectives have
        neither classes of meaning as supersenses nor hypernyms: they are too near within one cluster.
        """
        if right.pos == "a":
            clusters = [
                {synset.synset_id, *(near.synset_id for near in self._lexicon.similar(synset.synset_id))}
                for synset in (right, other)
            ]
            return _CLUSTER if clusters[0] & clusters[1] else ""
        if right.supersense and right.supersense == other.supersense:
            return _SUPERSENSE
        above = {synset.synset_id for synset in self._above(right)}
        return _HYPERNYM if any(synset.synset_id in above for synset in self._above(other)) else ""

    def _above(self, synset: Synset) -> tuple[Synset, ...]:
        return self._lexicon.hypernyms(synset.synset_id)

    def _other_senses(self, sense: str) -> tuple[LexicalSense, ...]:
        if sense not in self._others:
            own = self.sense(sense)
            every = self._lexicon.senses(own.lemma, own.pos)
            self._others[sense] = tuple(other for other in every if other.synset_id != own.synset_id)
        return self._others[sense]


def _rank(alternative: Alternative) -> tuple[int, int, str]:
    return alternative.rank


def _merge_senses(distractors: Sequence[Alternative]) -> Alternative:
    """One distractor of several senses: by its best sense that all synonyms go with, if there is one."""
    free = [distractor for distractor in distractors if not distractor.not_with]
    if free:
        return free[0]
    excluded = set.intersection(*(set(distractor.not_with) for distractor in distractors))
    return replace(distractors[0], not_with=tuple(word for word in distractors[0].not_with if word in excluded))


_ONE_WORD = "one word"
_PLAIN = "letters, lower case"
_IN_SYNSET = "not in the right sense's synset"
_SUPERSENSE = "another supersense"
_HYPERNYM = "no common hypernym"
_CLUSTER = "another cluster of adjectives"
_ONCE = "each word once"
