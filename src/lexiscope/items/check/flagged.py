"""Words in corpus text that a person should look at before participants or readers do: flagged, never dropped.

The list of its own is short and English; a study that shows texts to people adds its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item

_DEFAULT = (
    "arsehole asshole bastard bitch bullshit cock cocksucker cunt damn dyke fag faggot fuck fucker fucking goddam "
    "goddamn kike motherfucker nigger piss pussy rape retard shit slut spic tits twat wetback whore wop"
)
FLAGGED_WORDS = frozenset(_DEFAULT.split())
"""English words that are flagged by default, without regard to their sense."""

_WORD = re.compile(r"[^\W\d_]+")


def flagged_words(text: str, words: Collection[str]) -> tuple[str, ...]:
    """Return the words of a text that are among *words* (in lower case) or a plural in -s of one, each once.

    >>> flagged_words("Damn the whores , said the damned man .", FLAGGED_WORDS)
    ('damn', 'whores')
    """
    # a list and a corpus may write accents in different Unicode forms
    text_words = (word.lower() for word in _WORD.findall(unicodedata.normalize("NFC", text)))
    return tuple(dict.fromkeys(word for word in text_words if word in words or word.removesuffix("s") in words))


def flagged_sentences(items: Iterable[Item], words: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the flagged words in the texts of items (options included) by sentence: their condition ``sentence``."""
    by_sentence: dict[str, dict[str, None]] = {}
    for item in items:
        for usage in item.usages:
            for word in flagged_words(usage.text, words):
                by_sentence.setdefault(str(item.condition("sentence")), {})[word] = None
    return {sentence: tuple(flagged) for sentence, flagged in sorted(by_sentence.items())}


def read_words(path: Path) -> frozenset[str]:
    """Read a list of words, one a line; empty lines and lines that begin with ``#`` are left out.

    Errors: :class:`InputError` E001 where it cannot be read, E003 where it is not UTF-8, E002 where it has no words.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(
            "the list of words cannot be read", code="E001", place=Place(str(path)), why=str(error)
        ) from error
    except UnicodeDecodeError as error:
        place, hint = Place(str(path)), "save it as UTF-8"
        raise InputError("this list of words is not UTF-8", code="E003", place=place, hint=hint) from error
    words = frozenset(
        unicodedata.normalize("NFC", line.strip().lower())
        for line in lines
        if line.strip() and not line.startswith("#")
    )
    if not words:
        raise InputError("this list has no words", code="E002", place=Place(str(path)), hint="write one a line")
    return words
