"""Error categories of gap answers, proposed from a lexicon before people code them.

The categories are those of the synonymy study (§4.2, Figure 3). Each answer gets the first that applies, from the
tightest bond with the target to the loosest:

1. ``correct``: an accepted answer of the synset is in the completion, in any form.
2. ``same_word``: the answer is the target, in any form.
3. ``same_root``: another part of speech of the target, derivationally related to it, or built on one stem.
4. ``synonym_other_sense``: it shares a synset with another sense of the target.
5. ``distractor``: another word of the sentence, in any form, or a word that shares a synset with one.
6. ``same_field``: some sense of it in the target's part of speech is a hypernym or hyponym of the target's sense (at
   most three steps away) or a co-hyponym (one hypernym at most two steps above both), or its first such sense has the
   target's supersense; of adjectives, it is in the cluster of the target's sense.
7. ``unrelated``: none of these.

``correct_not_in_synset`` is never proposed: no lexicon can tell that a word outside the synset fits. People assign it,
and can change every proposal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, get_args

from lexiscope.build.gap_filling.gaps import accepted_answers
from lexiscope.build.gap_filling.matching import find_in_text, words_of
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.resources.corpora.unified_wsd import POS_OF_TAG
from lexiscope.resources.lexicons.lexicon import (
    POS,
    Lexicon,
    Pos,
    Synset,
    common_hypernyms,
    derived_lemmas,
    hypernym_closure,
    hyponym_closure,
    normalised_lemma,
)

Category = Literal[
    "correct",
    "correct_not_in_synset",
    "same_word",
    "same_root",
    "synonym_other_sense",
    "distractor",
    "same_field",
    "unrelated",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)

STEPS_ALONG, STEPS_TO_COMMON = 3, 2
"""Largest number of steps to a hypernym or hyponym, and from both words to a common hypernym, in one lexical field."""

_FUNCTION_WORDS = (
    "a an the this that these those my your his her its our their some any each every no one of for to in on at by "
    "with from as and or but nor not is are was were be been being has have had do does did will would can could may "
    "might it he she they we you i who whom whose which what when where how there here then than so too very more most "
    "much many same such all both other another also just only"  # words: ok, function words
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English words that are no answer by themselves: the answer begins behind them."""

_NAMERS = frozenset({"word", "term", "noun", "name", "expression", "phrase", "synonym"})
_ENDING_LETTERS = (
    "e y ed en er or ee al ar ic ish ism ist ity ing ine ion ive ous ial ian age ant ent ery ary ess ful able ible "
    "ical ment ness less like ship hood dom ling let ette ly eer ern ward wards ation ition inous uous ious"
)
_ENDINGS = frozenset(_ENDING_LETTERS.split())
_SHORTEST_STEM = 4
_MOST_WORDS = 4
_NO_SENSE = "E470"


@dataclass(frozen=True, slots=True)
class PreLabel:
    """What is proposed for one completion: the category, the words that were taken as the answer, and why."""

    category: Category
    answer: str
    why: str


def answer_words(text: str, lexicon: Lexicon, pos: Pos = "n") -> str:
    """Return the answer that a completion gives: its first content word, or the longest lemma (of *pos*) there.

    Quotation marks and function words are passed over, and what names a word (*the word*, *the term*); an answer
    ends at a sign other than a hyphen. Empty if there is no content word.
    """
    spans = words_of(text)
    words = [text[slice(*span)].casefold() for span in spans]
    first = _first_content(words)
    if first is None:
        return ""
    gaps = (text[end : spans[k + 1][0]] for k, (_, end) in enumerate(spans[:-1]) if k >= first)
    reach = 1 + sum(1 for _ in takewhile(lambda gap: gap.strip() in ("", "-"), gaps))
    runs = ["_".join(words[first : first + n]) for n in range(min(reach, _MOST_WORDS), 1, -1)]
    known = next((run for run in runs if lexicon.base_forms(run, pos)), words[first])
    return known.replace("_", " ")


def find_prelabel(item: Item, text: str, lexicon: Lexicon) -> PreLabel | None:
    """Return :func:`prelabel`, or ``None`` where the sense of the item's target is not known (E470)."""
    try:
        return prelabel(item, text, lexicon)
    except InputError as error:
        if error.code != _NO_SENSE:
            raise
        return None


def prelabel(item: Item, text: str, lexicon: Lexicon) -> PreLabel:
    """Return the category that a lexicon proposes for a completion of an item.

    Errors: :class:`InputError` E470 where the sense of the target is not known: the item's usage names none, and no
    synset of the target holds an accepted answer.
    """
    target = _Target(item, lexicon)
    pos = target.pos
    match = find_in_text(text, accepted_answers(item, "synset"), base_forms=lambda form: lexicon.base_forms(form, pos))
    if match is not None:
        return PreLabel("correct", match, f"accepted: {match}")
    answer = answer_words(text, lexicon, pos)
    if not answer:
        return PreLabel("unrelated", "", "there is no content word")
    given = _Word(answer, lexicon)
    # written as the order that the module states: the first rule that gives a reason decides
    for category, rule in _RULES:
        why = rule(given, target, lexicon)
        if why:
            return PreLabel(category, answer, why)
    return PreLabel("unrelated", answer, "no relation in the lexicon")


class _Word:
    """A wordform with its lemmas by part of speech."""

    def __init__(self, form: str, lexicon: Lexicon) -> None:
        self.form = normalised_lemma(form)
        self.lemmas = {pos: [normalised_lemma(base) for base in lexicon.base_forms(self.form, pos)] for pos in POS}

    def all_lemmas(self) -> set[str]:
        return {self.form, *(lemma for lemmas in self.lemmas.values() for lemma in lemmas)}


class _Target:
    """The target of an item: its lemma, its synset, its other synsets, and the words around it."""

    def __init__(self, item: Item, lexicon: Lexicon) -> None:
        usage = item.usages[0]
        self.pos: Pos = POS_OF_TAG.get(usage.pos or "", "n")
        bases = [normalised_lemma(base) for base in lexicon.base_forms(usage.target, self.pos)]
        self.lemma = normalised_lemma(usage.lemma or (bases[0] if bases else usage.target))
        self.names = {self.lemma, normalised_lemma(usage.target), *bases}
        self.meant = _intended_synsets(item, self.lemma, self.pos, lexicon)
        meant = {synset.synset_id for synset in self.meant}
        self.others = [synset for name in sorted(self.names) for synset in lexicon.synsets(name, self.pos)]
        self.others = [synset for synset in self.others if synset.synset_id not in meant]
        text = usage.text
        inside = [text[a:b] for a, b in words_of(text) if b <= usage.start or a >= usage.end]
        self.context = [_Word(word, lexicon) for word in inside if word.casefold() not in FUNCTION_WORDS]


def _intended_synsets(item: Item, lemma: str, pos: Pos, lexicon: Lexicon) -> list[Synset]:
    sense = lexicon.find_sense(item.usages[0].sense or "")
    if sense is not None:
        return [lexicon.synset(sense.synset_id)]
    answers = {normalised_lemma(answer) for answer in accepted_answers(item, "curated")}
    synsets = [
        synset for synset in lexicon.synsets(lemma, pos) if answers & {normalised_lemma(word) for word in synset.lemmas}
    ]
    if not synsets:
        raise InputError(
            f"the sense of {item.usages[0].target!r} is not known, so no category can be proposed",
            code=_NO_SENSE,
            place=Place(item_id=item.item_id),
            why=f"its usage names no sense of {lexicon.name}, and no synset of the target holds an accepted answer",
            hint="give the sense key, or leave the item out of the coding",
        )
    return synsets


def _same_word(given: _Word, target: _Target, _lexicon: Lexicon) -> str:
    return "the target itself" if target.names & {given.form, *given.lemmas[target.pos]} else ""


def _same_root(given: _Word, target: _Target, lexicon: Lexicon) -> str:
    if target.names & given.all_lemmas():
        return "the target in another part of speech"
    derived = {normalised_lemma(lemma) for name in target.names for lemma in derived_lemmas(lexicon, name)}
    both = sorted(derived & given.all_lemmas())
    if both:
        return f"derivationally related: {both[0]}"
    if lexicon.language != "en":
        return ""
    stems = [name for name in sorted(target.names) if _share_stem(given.form, name, lexicon)]
    return f"one stem: {stems[0]}" if stems else ""


def _other_sense(given: _Word, target: _Target, _lexicon: Lexicon) -> str:
    shared = _first_holding(given.lemmas[target.pos], target.others)
    return f"another sense: {shared.gloss}" if shared is not None else ""


def _distractor(given: _Word, target: _Target, lexicon: Lexicon) -> str:
    lemmas = given.all_lemmas()
    for word in target.context:
        if lemmas & word.all_lemmas():
            return f"in the sentence: {word.form}"
    for word in target.context:
        for pos, bases in word.lemmas.items():
            senses = [synset for lemma in bases for synset in lexicon.synsets(lemma, pos)]
            if _first_holding(given.lemmas[pos], senses) is not None:
                return f"synonym of a word in the sentence: {word.form}"
    return ""


def _same_field(given: _Word, target: _Target, lexicon: Lexicon) -> str:
    senses = [synset for lemma in given.lemmas[target.pos] for synset in lexicon.synsets(lemma, target.pos)]
    for meant in target.meant:
        for sense in senses:
            why = _relation(sense, meant, lexicon)
            if why:
                return why
        # nearly all adjectives have one supersense: of them clusters tell, not this
        if senses and meant.pos != "a" and meant.supersense and senses[0].supersense == meant.supersense:
            return f"same supersense: {meant.supersense}"
    return ""


_RULES: tuple[tuple[Category, Callable[[_Word, _Target, Lexicon], str]], ...] = (
    ("same_word", _same_word),
    ("same_root", _same_root),
    ("synonym_other_sense", _other_sense),
    ("distractor", _distractor),
    ("same_field", _same_field),
)


def _relation(sense: Synset, meant: Synset, lexicon: Lexicon) -> str:
    above = hypernym_closure(lexicon, meant.synset_id, levels=STEPS_ALONG)
    below = hyponym_closure(lexicon, meant.synset_id, levels=STEPS_ALONG)
    for relation, synsets in (("hypernym", above), ("hyponym", below)):
        if sense.synset_id in {synset.synset_id for synset in synsets}:
            return f"{relation}: {sense.gloss}"
    if meant.pos == "a" and sense.synset_id in {synset.synset_id for synset in lexicon.similar(meant.synset_id)}:
        return f"same cluster: {sense.gloss}"
    common = common_hypernyms(lexicon, meant.synset_id, sense.synset_id, levels=STEPS_TO_COMMON)
    return f"co-hyponym under {common[0].lemmas[0]}" if common else ""


def _first_holding(lemmas: Collection[str], synsets: Collection[Synset]) -> Synset | None:
    """The first synset that holds one of the lemmas."""
    return next(
        (synset for synset in synsets if set(lemmas) & {normalised_lemma(word) for word in synset.lemmas}), None
    )


def _share_stem(first: str, second: str, lexicon: Lexicon) -> bool:
    """Whether two words begin alike and end in an ending or another word (*wooden*, *postman*: *wood*, *post*)."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    rests = sorted((first[shared:], second[shared:]), key=len)
    if shared < _SHORTEST_STEM or not rests[1]:
        return False
    if not rests[0]:
        return rests[1] in _ENDINGS or bool(lexicon.synsets(rests[1], "n"))
    return all(rest in _ENDINGS for rest in rests)


def _first_content(words: list[str]) -> int | None:
    content = [k for k, word in enumerate(words) if word not in FUNCTION_WORDS]
    if not content:
        return None
    names = content[0] > 0 and words[content[0]] in _NAMERS and len(content) > 1
    return content[1] if names else content[0]
