"""Surface realisation: a word put in its target's place, with article, plural, capital and punctuation put right.

Two modes. ``clean`` (the default) follows the language. ``published`` follows the rules by which the sentences of the
synonymy study were made, its flaws included, so that its files can be rebuilt letter by letter (design of the study:
Ivan, Ramisch and Nasr, appendix A).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from lexiscope.items.choice_sets.articles import with_article

Mode = Literal["clean", "published"]
MODES: tuple[Mode, ...] = get_args(Mode)
Quotes = Literal["curly", "straight"]
ArticleRule = Literal["sound", "letter"]

PUBLISHED_PLURALS = frozenset(
    {"comforts", "conveniences", "belongings", "laurels", "means", "grounds", "spirits", "words"}
)
"""The words before which the published sentences have *These* (a closed list: *billiards* got *This*)."""

_PLURALS_ONLY = (
    "annals antics arms ashes barracks belongings binoculars bowels breeches brains clothes congratulations customs "
    "dregs dungarees earnings entrails fireworks genitals glasses goggles goods grounds guts headquarters heroics "
    "intestines jeans jitters knickers laurels leavings leggings looks manners means odds outskirts overalls pajamas "
    "pants parings pincers pliers premises proceeds pyjamas regards remains riches scissors shears shenanigans shorts "
    "slacks spectacles spirits spoils suds surroundings thanks tights tongs trappings trousers tweezers undies "
    "valuables victuals vitals whereabouts wits words"
)
PLURALS_ONLY = frozenset(_PLURALS_ONLY.split())
"""English nouns that are plural in form and agreement though they are lemmas of a dictionary."""

_VOWEL_LETTERS = tuple("aeiou")
# the order of the published replacements: closing signs, opening ones, closing brackets, then English endings
_PUBLISHED_BEFORE = (*",.!?:;", *")]}", "'s", "'d", "'n", "'t", "'m", "'ll", "'re", "'ve", "n't")
_PUBLISHED_AFTER = tuple("([{")

# a point before a digit is a decimal one (.5); 'd before another apostrophe is a quoted letter
_BEFORE_SIGN = re.compile(r"[ \t]+(?=[,;:!?…)\]}]|\.(?!\d)|(?:n['’]t|['’](?:s|re|ve|ll|d|m))(?![\w'’]))", re.IGNORECASE)
_AFTER_SIGN = re.compile(r"(?<=[(\[{¿¡])[ \t]+")
_QUOTES = (re.compile(r"``[ \t]*"), re.compile(r"[ \t]*''"))


@dataclass(frozen=True, slots=True)
class Placed:
    """A text with one word in it, at half-open character offsets.

    >>> Placed("An oak fell.", 3, 6).word
    'oak'
    """

    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word as it is in the text."""
        return self.text[self.start : self.end]

    @property
    def bracketed(self) -> str:
        """The text with the word in square brackets."""
        return f"{self.text[: self.start]}[{self.word}]{self.text[self.end :]}"

    @classmethod
    def between(cls, before: str, word: str, after: str) -> Placed:
        """Return the text that a word makes with what is before and after it."""
        return cls(before + word + after, len(before), len(before) + len(word))


@lru_cache(maxsize=1024)
def join_punctuation(text: str, *, quotes: Quotes = "curly") -> str:
    """Return a tokenised text as it is written: no space before closing signs and English endings, or after opening.

    Only spaces are taken away; a text that is written as usual stays as it is. Straight quotation marks stay, for they
    do not say which side they belong to; a tokeniser's own (two backticks, two apostrophes) become curly or, with
    *quotes*, straight ones.

    >>> join_punctuation("Well , she did n't ( or could n't ) stay .")
    "Well, she didn't (or couldn't) stay."
    """
    opening, closing = _QUOTES
    left, right = ("“", "”") if quotes == "curly" else ('"', '"')
    quoted = closing.sub(right, opening.sub(left, text))
    return _AFTER_SIGN.sub("", _BEFORE_SIGN.sub("", quoted))


@lru_cache(maxsize=1024)
def published_join(text: str) -> str:
    """Return a tokenised text as the published sentences have it: by letters, not by words, in a fixed order.

    >>> published_join("Well , he 's `` gone '' ( the 'swing' stays ) .")
    'Well, he\\'s "gone" (the\\'swing\\' stays).'
    """
    # string by string, as it was done: a token that merely begins like an ending is joined too
    for sign in _PUBLISHED_BEFORE[:6]:
        text = text.replace(f" {sign}", sign)
    for sign in _PUBLISHED_AFTER:
        text = text.replace(f"{sign} ", sign)
    for sign in _PUBLISHED_BEFORE[6:]:
        text = text.replace(f" {sign}", sign)
    return text.replace("`` ", '"').replace(" ''", '"')


def published_article(before: str, word: str) -> str:
    """Return what is before a word with its article put right as the published sentences have it.

    A letter decides, not a sound; only a lower-case article with a space on both sides is changed.

    >>> published_article("came to an ", "goal"), published_article("wrote a ", "essay"), published_article("A ", "oak")
    ('came to a ', 'wrote an ', 'A ')
    """
    if word.startswith(_VOWEL_LETTERS):
        return before.removesuffix(" a ") + " an " if before.endswith(" a ") else before
    return before.removesuffix(" an ") + " a " if before.endswith(" an ") else before


def place_word(
    sentence: str,
    span: tuple[int, int],
    word: str,
    *,
    tokenised: bool = False,
    language: str = "en",
    article: ArticleRule = "sound",
    mode: Mode = "clean",
) -> Placed:
    """Return a sentence with *word* in the place of its target, the article before it put right.

    *span* is the target's half-open character span. The punctuation of a *tokenised* sentence is joined. Clean: the
    article follows the sound (or the letter, with *article*), in English only, and a word takes the capital of the
    target that it replaces at the beginning of its sentence. Published: the article follows the letter, the word is
    inserted as it is.

    >>> place_word("She wore an anorak , too .", (12, 18), "jacket", tokenised=True)
    Placed(text='She wore a jacket, too.', start=11, end=17)
    """
    before, after = sentence[: span[0]], sentence[span[1] :]
    if mode == "published":
        before = published_article(before, word)
        before, after = (published_join(before), published_join(after)) if tokenised else (before, after)
        return Placed.between(before, word, after)
    # the target in its own place leaves the article that its writer chose
    if is_english(language) and word != sentence[slice(*span)]:
        before = with_article(before, word) if article == "sound" else published_article(before, word)
    if tokenised:
        before, after = join_punctuation(before, quotes="straight"), join_punctuation(after, quotes="straight")
    first = not any(char.isalnum() for char in before) and sentence[span[0]].isupper()
    return Placed.between(before, with_capital(word) if first else word, after)


def with_capital(word: str, *, mode: Mode = "clean") -> str:
    """Return a mentioned word as it begins a sentence. Published: all letters but the first are small.

    >>> with_capital("fBI"), with_capital("DNA"), with_capital("DNA", mode="published")
    ('FBI', 'DNA', 'Dna')
    """
    # not str.title: it would begin a word anew behind an apostrophe or a hyphen
    rest = word[1:].lower() if mode == "published" else word[1:]
    return word[:1].upper() + rest


def is_plural(word: str, lemmas: Collection[str] = (), *, mode: Mode = "clean") -> bool:
    """Return whether an English noun is plural.

    Clean: it is the regular plural of one of the *lemmas* that it may be a form of, and none of them itself; or it has
    no singular in the sense in question (:data:`PLURALS_ONLY`). Published: it is in :data:`PUBLISHED_PLURALS`.

    >>> is_plural("comforts", ["comfort"]), is_plural("gas", ["gas", "ga"]), is_plural("scissors"), is_plural("lens")
    (True, False, True, False)
    """
    if mode == "published":
        return word in PUBLISHED_PLURALS
    lower = word.lower()
    return lower in PLURALS_ONLY or lower in _plurals_of(tuple(lemmas))


def is_english(language: str) -> bool:
    """Return whether a language code is one of English (``en``, ``en-GB``)."""
    return language.partition("-")[0].lower() == "en"


@lru_cache(maxsize=1024)
def _plurals_of(lemmas: tuple[str, ...]) -> frozenset[str]:
    """The regular plurals of lemmas, in lower case, without those that are lemmas themselves."""
    known = frozenset(lemma.lower() for lemma in lemmas)
    # a lemma that looks like a plural (gas, lens) is none: only a form of another lemma counts
    return frozenset(form for lemma in known for form in _plurals(lemma)) - known


def _plurals(lemma: str) -> tuple[str, ...]:
    forms = [lemma + "s", lemma + "es"]
    forms += [lemma[:-1] + "ies"] if lemma.endswith("y") else []
    forms += [lemma[:-3] + "men"] if lemma.endswith("man") else []
    return tuple(forms)
