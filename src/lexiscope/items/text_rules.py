"""Rules for texts that people write: the word once, the word never, one sentence, nothing that was written before.

Each rule returns the key of a fault, or ``None``. The rules are held at the door (a participant is told) and again when
an editor changes a text. They look at form only, and where form cannot tell, the text passes: whether a sentence is
ambiguous, or an ending fits, people decide.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from lexiscope.core.usage import occurrences

WORD_NOT_ONCE = "word_not_once"
WORD_RECURS = "word_recurs"
NOT_ONE_SENTENCE = "not_one_sentence"
ALREADY_WRITTEN = "already_written"

_JOINERS = frozenset("\u200c\u200d")
# scripts that are written without spaces between words
_UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")


def compose_text(text: str) -> str:
    """Return the text in the Unicode normal form NFC, in which :func:`word_spans` counts its offsets.

    >>> len("man\u0303ana"), len(compose_text("man\u0303ana"))
    (7, 6)
    """
    return unicodedata.normalize("NFC", text)


def word_spans(text: str, word: str) -> list[tuple[int, int]]:
    """Return where a word occurs as a whole token, case always ignored, as offsets into ``composed(text)``.

    A token ends as in :func:`lexiscope.core.usage.occurrences`: at an apostrophe and a hyphen too. Composed and
    decomposed letters are the same; soft hyphens and zero-width spaces inside a word do not hide it. In scripts
    without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) every occurrence counts.

    >>> word_spans("The Bank is no bankrupt bank-holiday.", "bank")
    [(4, 8), (24, 28)]
    >>> word_spans("他去了银行。", "银行")
    [(3, 5)]
    """
    whole = compose_text(text)
    letters, places = _fold_text(whole)
    # both are folded first: occurrences alone would pass over "Bank" where "bank" stands too
    wanted, _ = _fold_text(compose_text(word))
    unspaced = any(unicodedata.name(char, "").startswith(_UNSPACED) for char in wanted)
    spans = _all_spans(letters, wanted) if unspaced else occurrences(letters, wanted)
    return [(places[start], places[end - 1] + 1) for start, end in spans]


def word_not_once(text: str, word: str) -> str | None:
    """Return a fault unless the word is in the text exactly once.

    >>> word_not_once("The bank by the other bank was shut.", "bank"), word_not_once("The Bank was shut.", "bank")
    ('word_not_once', None)
    """
    return None if len(word_spans(text, word)) == 1 else WORD_NOT_ONCE


def word_recurs(text: str, word: str) -> str | None:
    """Return a fault if the word is in the text. Longer words that contain it are other words.

    >>> word_recurs("She left the BANK.", "bank"), word_recurs("She was bankrupt.", "bank")
    ('word_recurs', None)
    """
    return WORD_RECURS if word_spans(text, word) else None


def already_written(text: str, known: Iterable[str]) -> str | None:
    """Return a fault if the text is one of those known, but for case, punctuation, and white space.

    >>> already_written("«The bank  was shut»", ["The bank was shut."])
    'already_written'
    """
    key = same_text_key(text)
    return ALREADY_WRITTEN if any(same_text_key(other) == key for other in known) else None


def same_text_key(text: str) -> str:
    """Return what is equal for texts that differ in case, punctuation, white space and normal form only.

    >>> same_text_key("Ma\u0303e, DIZ ela…")
    'mãe diz ela'
    """
    letters, _ = _fold_text(compose_text(text))
    kept = (char if char in _JOINERS or unicodedata.category(char)[0] in "LMNS" else " " for char in letters)
    return compose_text(" ".join("".join(kept).split()))


def _fold_text(text: str) -> tuple[str, list[int]]:
    """Return the text without case and invisible characters, and for each letter its place in the text."""
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if unicodedata.category(char) == "Cf" and char not in _JOINERS:
            continue
        # one letter can fold into two (ß to ss): both point back to it
        folded = char.casefold()
        letters += folded
        places += [place] * len(folded)
    return "".join(letters), places


def _all_spans(text: str, word: str) -> list[tuple[int, int]]:
    starts: list[int] = []
    at = text.find(word)
    while at >= 0:
        starts.append(at)
        at = text.find(word, at + len(word))
    return [(start, start + len(word)) for start in starts]
