"""Contents of a set of stories: lengths, word forms, pairs of meanings, guesses; usages of a synset in SemCor.

*Source:* AmbiStory §4.1 and Table 2. Everything is counted on setups and stories, not on samples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import cast

from lexiscope.core.errors import DataError, InputError
from lexiscope.core.item import Item
from lexiscope.core.result import Estimate, statistic_name
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import with_wordform
from lexiscope.resources import fetch
from lexiscope.resources.cards import SEMCOR
from lexiscope.resources.corpora import semcor
from lexiscope.resources.corpora.unified_wsd import read_keys
from lexiscope.resources.lexicons import wordnet
from lexiscope.resources.lexicons.lexicon import POS, LexicalSense, Lexicon, Pos


@dataclass(frozen=True, slots=True)
class StoryLengths:
    """Mean lengths. *Unit:* words between white space.

    ``precontext`` and ``sentence`` are over setups, ``ending`` over stories that have one, ``story`` over all stories,
    open ones included.
    """

    precontext: float
    sentence: float
    ending: float
    story: float
    n_setups: int
    n_ended: int
    n_stories: int

    def results(self) -> tuple[Estimate, ...]:
        """Return the mean lengths of the parts and of the whole story."""
        parts = (
            ("precontext", self.precontext, self.n_setups),
            ("sentence", self.sentence, self.n_setups),
            ("ending", self.ending, self.n_ended),
            ("story", self.story, self.n_stories),
        )
        return tuple(Estimate(statistic_name("mean_words", of=part), mean, n=n) for part, mean, n in parts if n)


@dataclass(frozen=True, slots=True)
class StoryInventory:
    """Word forms and pairs of meanings.

    ``setups_per_form`` is sorted, most first. ``sense_pairs`` counts a form with its two meanings once in each split
    (the paper's 411); ``ordered_pairs`` once in all, ``unordered_pairs`` whichever meaning is called the first.
    """

    forms: int
    setups: int
    sense_pairs: int
    ordered_pairs: int
    unordered_pairs: int
    setups_per_form: tuple[tuple[str, int], ...]

    @property
    def sentences_per_form(self) -> float:
        """The mean number of ambiguous sentences of a form."""
        return self.setups / self.forms

    def results(self, most: int = 4) -> tuple[Estimate, ...]:
        """Return pairs of meanings, the mean number of sentences of a form, and the setups of the *most* frequent."""
        return (
            Estimate("n_sense_pairs", self.sense_pairs, note="a form with the meanings of a setup, once a split"),
            Estimate("sentences_per_form", self.sentences_per_form, n=self.forms),
            *(Estimate("setups_of_form", n, condition=form) for form, n in self.setups_per_form[:most]),
        )

    def sentence(self, most: int = 4) -> str:
        """Return the same as text."""
        forms = ", ".join(f"{form} ({n})" for form, n in self.setups_per_form[:most])
        return (
            f"{self.sense_pairs} pairs of meanings of {self.forms} word forms (a pair counted once in each split; "
            f"{self.unordered_pairs} in all, whichever meaning is called the first); {self.sentences_per_form:.2f} "
            f"ambiguous sentences for each form, the most for {forms}."
        )


def story_lengths(items: Iterable[Item]) -> StoryLengths:
    """Return the mean lengths of the parts of stories and of whole stories; that of no endings is 0."""
    stories = {(_text(item, "precontext"), item.usages[0].text, _text(item, "ending")) for item in items}
    setups = {(precontext, sentence) for precontext, sentence, _ in stories}
    endings = [_words(ending) for _, _, ending in stories if ending]
    return StoryLengths(
        precontext=fmean(_words(precontext) for precontext, _ in setups),
        sentence=fmean(_words(sentence) for _, sentence in setups),
        ending=fmean(endings) if endings else 0.0,
        story=fmean(sum(map(_words, parts)) for parts in stories),
        n_setups=len(setups),
        n_ended=len(endings),
        n_stories=len(stories),
    )


def story_inventory(items: Sequence[Item]) -> StoryInventory:
    """Return how many word forms, setups and pairs of meanings there are; own setups may have others than two."""
    pairs = _meanings_by_setup(items)
    ordered = {(form, *senses) for _, form, senses in pairs.values()}
    counts = Counter(form for _, form, _ in pairs.values())
    return StoryInventory(
        forms=len(counts),
        setups=len(pairs),
        sense_pairs=len({(split, form, *senses) for split, form, senses in pairs.values()}),
        ordered_pairs=len(ordered),
        unordered_pairs=len({(form, frozenset(senses)) for form, *senses in ordered}),
        setups_per_form=tuple(sorted(counts.items(), key=lambda count: (-count[1], count[0]))),
    )


def lexicon_of(items: Iterable[Item]) -> wordnet.WordNet:
    """Return WordNet, which has the words of stories in English, or in a language that they do not state.

    Errors: :class:`DataError` for stories in other languages, and where WordNet is not available.
    """
    languages = {usage.language.partition("-")[0] for item in items for usage in item.usages}
    if languages.isdisjoint(("en", "und", "")):
        raise DataError(f"WordNet has English words, and the stories are in {', '.join(sorted(languages))}")
    return wordnet.load()


def guessed_lemmas(forms: Iterable[str], lexicon: Lexicon) -> dict[str, str]:
    """Return a lemma for each form: the shortest base form of any part of speech, in lower case.

    This is a guess. The lemmas were not published; the paper's 305 come out this way, other rules give 299 to 334. A
    form that the lexicon does not know is its own lemma. No item carries a guessed lemma.
    """
    lemmas = {}
    for form in forms:
        candidates = [base for pos in POS for base in lexicon.base_forms(form, pos)]
        lemmas[form] = min(candidates, key=len, default=form).lower()
    return lemmas


def _meanings_by_setup(items: Sequence[Item]) -> Mapping[str, tuple[str, str, tuple[str, ...]]]:
    """Return split, form and the meanings of every setup, of which AmbiStory's have two."""
    senses: dict[str, dict[str, str]] = {}
    about: dict[str, tuple[str, str]] = {}
    for item in items:
        setup = _text(item, "setup")
        senses.setdefault(setup, {})[_text(item, "meaning")] = _text(item, "sense")
        about[setup] = (str(item.conditions.get("split", "")), _text(item, "homonym"))
    return {
        setup: (*about[setup], tuple(meanings[name] for name in sorted(meanings))) for setup, meanings in senses.items()
    }


def _words(text: str) -> int:
    return len(text.split())


def _text(item: Item, name: str) -> str:
    return str(item.condition(name))


# -- how often a sense that is known by its definition alone was tagged in the lexicon's corpus -----------------------
# AmbiStory's senses are WordNet 3.0 glosses without their examples. A gloss is looked for among the senses of every
# base form of the word; it may have been changed a little on its way (quotation marks, what is left of removed
# examples).


_MARKS = str.maketrans(dict.fromkeys("`'\"‘’“”"))


def sense_counts(
    items: Iterable[Item], lexicon: Lexicon, *, tagged: Mapping[str, int] | None = None
) -> dict[str, int | None]:
    """Return how often the sense of each item was tagged under the lemma of its homonym, by item id.

    By default these are the counts of the lexicon; *tagged* are counts by sense key of a corpus
    (:func:`semcor_counts`). ``None`` where no sense of the homonym has this gloss: the count is not known to be 0.
    Items need the conditions ``homonym`` and ``sense``.
    """
    known: dict[tuple[str, str], int | None] = {}
    counts = {}
    for item in items:
        pair = (str(item.condition("homonym")), str(item.condition("sense")))
        if pair not in known:
            sense = _sense(*pair, lexicon)
            known[pair] = None if sense is None else sense.count if tagged is None else tagged.get(sense.sense_key, 0)
        counts[item.item_id] = known[pair]
    return counts


def semcor_counts() -> Counter[str]:
    """Return how often each sense key is a tag of SemCor's text.

    Errors: :class:`DataError` where SemCor is not available.
    """
    return _counts_of(fetch.locate_all(SEMCOR)[1].path).copy()


@lru_cache(maxsize=1)
def _counts_of(published: Path) -> Counter[str]:
    # a file with the published checksum: reading its 226,036 lines again would take a second
    return Counter(key for several in read_keys(published).values() for key in several)


def gloss_key(text: str) -> str:
    """Return what two spellings of one gloss share: no quotation marks, nothing behind the definition, no case.

    >>> gloss_key("a `kind' of bank; ; "), gloss_key("a 'kind' of bank")
    ('a kind of bank', 'a kind of bank')
    """
    bare = re.sub(r"\s*;[\s;]*(?:--.*)?$", "", text.translate(_MARKS).strip())
    return " ".join(bare.rstrip(" ;,").split()).casefold()


def _sense(form: str, gloss: str, lexicon: Lexicon) -> LexicalSense | None:
    wanted = gloss_key(gloss)
    bases = ((base, pos) for pos in POS for base in lexicon.base_forms(form.lower(), pos))
    for sense in (sense for base, pos in bases for sense in lexicon.senses(base, pos)):
        if gloss_key(lexicon.synset(sense.synset_id).gloss) == wanted:
            return sense
    return None


# -- usages of a synset in SemCor, as ``bond.n.02``: sentences in which a word has one sense ------------------------


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
    """Return the lemma of a synset's name (``bond.n.02``) and its usages in SemCor, with the lemma in its place.

    Vectors of *bonds* and of *bond* have separate senses: for a comparison, all usages are looked up in one form.
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
