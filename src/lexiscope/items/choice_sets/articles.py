"""The English article *a* or *an*: which one a word takes, and a sentence put right for it."""

from __future__ import annotations

import re
import unicodedata

# The choice follows the sound: these begin with a silent h …
_SILENT_H = re.compile(r"(hour(?!i)|honest|honor|honour|heir)")
# … these are spelled with a vowel and begin with the sound of "you" (uni- but not the prefix un- before an i) …
_YOU = re.compile(
    r"(eu(?!ler)|ew|ubi|ufo|ugan|uk|ulys|unanim|unary$|unesco|uni$|unia|unic|unidir|unif|unil(?!l)|unimod|unio|unip|uniq"
    r"|unis(?!s)|unit|univ|unix|ura|ure|uri|uro|uru|usa|use|usu|uta|ute|uti|uto|uve|uvu)"
)
# … or of "won".
_WON = re.compile(r"(one|ones|oneself|oneness|once|ouija)$")
_LETTERS_WITH_VOWEL = frozenset("aefhilmnorsx")
_LETTERS = 3

# a whole word: neither the end of another one nor behind an apostrophe or a hyphen (vitamin-a)
_ARTICLE = re.compile(r"(?<![^\W_])(?<!['’\-])(an?)(\s+[\"'“‘(\[]*)$", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(^|[.!?:;…]\s+|[\"'“‘«(\[])[\"'“‘«(\[\s]*$")


def indefinite_article(text: str) -> str:
    """Return the English article, ``a`` or ``an``, that precedes a text. It follows the sound of its first word.

    Rules, in order: a number by how it is read (*an 8*, *an 11*, *an 18*); a single capital letter, or capitals that
    are read letter by letter (up to three letters, or without a vowel), by the first letter's name (*an X-ray*, *an FBI
    agent*, *a UFO*); a silent h (*hour*, *honest*, *honour*, *heir*); the sounds of "you" and "won" (*unit*,
    *European*, *use*, *one*); y before a consonant (*an yttrium mine*); in all other cases, a vowel letter. Words that
    speakers treat both ways (*herb*, *historic*) take ``a``.

    >>> [indefinite_article(word) for word in ("apple", "hour", "university", "uninvited guest", "one-way", "FBI")]
    ['an', 'an', 'a', 'an', 'a', 'an']
    """
    match = re.match(r"[\W_]*(\d[\d.,]*|[^\W\d_]+)", text)
    first = match[1] if match else ""
    if first[:1].isdigit():
        # a number by how it is read: eight…, eleven and eighteen (also as thousands, or as hundreds: *an 1850 law*)
        whole = re.split(r"[.,](?=\d{1,2}$|\d{4,})", first)[0]
        digits = re.sub(r"\D", "", whole)
        read_as_two = len(digits) % 3 == 2 or (whole.isdigit() and len(digits) == 4)
        return "an" if digits[0] == "8" or (read_as_two and digits[:2] in ("11", "18")) else "a"
    plain = "".join(char for char in unicodedata.normalize("NFD", first) if not unicodedata.combining(char))
    lower = plain.casefold()
    if _is_spelled_out(plain):
        return "an" if lower[0] in _LETTERS_WITH_VOWEL else "a"
    if _SILENT_H.match(lower) or re.match(r"y[^aeiou]", lower):
        return "an"
    if _YOU.match(lower) or _WON.match(lower):
        return "a"
    return "an" if lower[:1] in tuple("aeiou") else "a"


def with_article(before: str, following: str) -> str:
    """Return what is before a word, its last word, where that is *a* or *an*, put right for what follows.

    The case is kept. A capital *A* inside a sentence is a name (*vitamin A*) and stays, unless all is in capitals.

    >>> with_article("She bought a ", "umbrella"), with_article("An ", "unit"), with_article("vitamin A ", "excess")
    ('She bought an ', 'A ', 'vitamin A ')
    """
    match = _ARTICLE.search(before)
    if match is None:
        return before
    old, start = match[1], before[: match.start()]
    if old == "A" and not _SENTENCE_START.search(start) and not start.isupper():
        return before
    # in a text in capitals a short word is a word, not an abbreviation
    new = indefinite_article(following.casefold() if start.isupper() else following)
    capitals = old.isupper() and (len(old) > 1 or start.isupper())
    new = new.upper() if capitals else new.capitalize() if old[0].isupper() else new
    return start + new + match[2]


def _is_spelled_out(word: str) -> bool:
    """Whether a word is read letter by letter: a single letter, or capitals too short or too hard to pronounce."""
    if len(word) == 1:
        return True
    return word.isupper() and (len(word) <= _LETTERS or not re.search("[AEIOUY]", word))
