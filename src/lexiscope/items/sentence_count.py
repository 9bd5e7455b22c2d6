"""How many sentences a text has, as far as its signs tell.

A writer who is told wrongly that one sentence is two has no way out, while a second sentence that slips through is
seen by the editor who reads every text. So a stop is taken for an end only where it is one beyond doubt.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from lexiscope.items.text_rules import NOT_ONE_SENTENCE, compose_text

# final signs: Latin and Greek; Arabic and Urdu; Indic; Ethiopic; Armenian. Then the wide ones, which no space follows
_STOPS = ".!?…‼⁇⁈⁉؟۔।॥።՞։"
_WIDE = "。！？｡．"
_CLOSERS = "\"'”’»«“›‹)]」』）】"
_OPENERS = "\"'“‘«»„‚‹›([「『（【¿¡"
_END = re.compile(rf"[{re.escape(_STOPS + _WIDE)}]+")
_QUOTES = {"“": "”", "„": "“", "«": "»", "»": "«", "「": "」", "『": "』", '"': '"'}
# what a stop is behind although a name or a word follows; those before numbers (no., vol., 3 Jan.) need no list
_SHORT = (
    "mr mrs ms mx dr prof sr sra srta dra sta jr st sgt capt lt col gen rev hon gov sen rep pres mt ft vs etc eg ie cf "
    "ca approx al ed eds tel dept inc ltd co corp ave blvd ud uds vd vds d dña lic ing arq avda ej aprox esq gral tte "
    "hr fr frl str bzw usw ggf evtl inkl exkl zzgl bspw sog geb gest jh jhd vgl"
)
_ABBREVIATIONS = frozenset(_SHORT.split())


def not_one_sentence(text: str, language: str = "und") -> str | None:
    """Return a fault unless the text is one sentence.

    >>> not_one_sentence("Mrs. Hall saw the bank."), not_one_sentence("She saw it. Then she left.")
    (None, 'not_one_sentence')
    """
    return None if count_sentences(text, language) == 1 else NOT_ONE_SENTENCE


def count_sentences(text: str, language: str = "und") -> int:
    """Return the number of sentences; 0 for a text without a letter.

    A sentence ends at ``.``, ``!``, ``?`` and their like in other scripts, with what closes behind them. It goes on

    - before a small letter (*"Stop!" he said.*), and before anything without white space between (*3.5*, *U.S.*);
    - after an abbreviation (*Mrs.*, *Sra.*, *bzw.*), an initial, and in German after an ordinal (*am 3. Mai*);
    - after an ellipsis, and after a stop that a number follows (*vol. 3*);
    - inside quotation marks: what is quoted is a part of its sentence, unless the whole text is quoted. A full stop
      inside, and a capital after the closing mark, end it.

    Wide stops (。！？) need no white space after them.

    >>> count_sentences('"Stop! Not there!" she called to Dr. Ruiz.'), count_sentences("¿Vienes? ¡Qué bien!")
    (1, 2)
    >>> count_sentences("Am 3. Mai war die Bank zu.", "de"), count_sentences("银行很远。他走了。")
    (1, 2)
    """
    whole = _without_outer_quotes(compose_text(text).strip())
    ends = [match.span() for match in _END.finditer(whole)]
    inside = _quoted_places(whole)
    cuts = [0, *(end for start, end in ends if _is_end(whole, start, end, language, inside)), len(whole)]
    return sum(any(char.isalpha() for char in whole[start:end]) for start, end in pairwise(cuts))


def sentence_spans(text: str, language: str = "und") -> tuple[tuple[int, int], ...]:
    """Return where the sentences of a text are, as half-open offsets without outer white space.

    A sentence ends as :func:`count_sentences` says, and at the end of a line; parts without a letter are sentences too.

    >>> text = "He met Dr. Ruiz. She left.  Why?"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['He met Dr. Ruiz.', 'She left.', 'Why?']
    """
    inside = _quoted_places(text)
    ends = [match.span() for match in _END.finditer(text)]
    is_stop = [_is_end(text, start, end, language, inside) for start, end in ends]
    # a sentence includes what closes after its stop
    stops = [
        len(text) - len(text[end:].lstrip(_CLOSERS)) for (_, end), holds in zip(ends, is_stop, strict=True) if holds
    ]
    lines = [match.end() for match in re.finditer(r"\n+", text)]
    cuts = sorted({0, len(text), *stops, *lines})
    spans = []
    for start, end in pairwise(cuts):
        part = text[start:end]
        if part.strip():
            begins = start + len(part) - len(part.lstrip())
            spans.append((begins, begins + len(part.strip())))
    return tuple(spans)


def _is_end(text: str, start: int, end: int, language: str, inside: frozenset[int]) -> bool:
    """Say whether the stop at a place ends a sentence that something follows."""
    sign, behind = text[start:end], text[end:].lstrip(_CLOSERS)
    spaced = behind[:1].isspace()
    follows = behind.lstrip().lstrip(_OPENERS).lstrip()[:1]
    if not follows or follows.islower() or not follows.isalnum():
        return False
    if start in inside:
        leaves_quote = text[end : end + 1] in _CLOSERS and end + 1 not in inside
        return sign == "." and spaced and leaves_quote and follows.isupper()
    if sign[-1] in _WIDE:
        return True
    if not spaced or "…" in sign or ".." in sign:
        return False
    return sign != "." or not _belongs_to_word(text[:start], follows, language)


def _belongs_to_word(before: str, follows: str, language: str) -> bool:
    """Say whether a full stop belongs to what is before it: an abbreviation, an initial, an ordinal, a number."""
    word = re.split(r"[\s\"'“”‘’«»„(\[¿¡—–-]", before)[-1]
    if follows.isdigit() or word.casefold() in _ABBREVIATIONS:
        return True
    # an initial (J. Smith), a chain of them (U.S.) or of short parts (z.B.); "I" alone may end a sentence
    if re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]|[^\W\d_I]", word):
        return not all(unicodedata.category(char) == "Lo" for char in word if char.isalpha())
    return language.partition("-")[0] == "de" and re.fullmatch(r"\d{1,2}", word) is not None


def _quoted_places(text: str) -> frozenset[int]:
    """Return the places inside quotation marks; a mark that is never closed quotes nothing."""
    places: set[int] = set()
    opened: list[int] = []
    for at, char in enumerate(text):
        if opened and _QUOTES[text[opened[-1]]] == char:
            places.update(range(opened.pop() + 1, at + 1))
        elif char in _QUOTES:
            opened.append(at)
    return frozenset(places)


def _without_outer_quotes(text: str) -> str:
    """Return the text without the quotation marks that hold all of it."""
    if len(text) > 2 and _QUOTES.get(text[0]) == text[-1] and set(range(1, len(text))) <= _quoted_places(text):
        inner = text[1:-1]
        # two quotations side by side begin and end alike: their marks are not a pair
        return text if text[0] == text[-1] and text[0] in inner else inner
    return text
