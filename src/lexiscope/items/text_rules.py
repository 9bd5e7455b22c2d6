"""Rules for texts that people write: the word once, the word never, one sentence, no text that exists already.

Each rule returns the key of a fault, or ``None``. The rules are held at the door (a participant is told) and again when
an editor changes a text. They look at form only, and where form cannot tell, the text passes: whether a sentence is
ambiguous, or an ending fits, people decide.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import pairwise

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


# -- how many sentences a text has, as far as its signs tell --------------------------------------------------------
# A writer who is told wrongly that one sentence is two has no way out, while a second sentence that slips through is
# seen by the editor who reads every text. So a stop is taken for an end only where it is one beyond doubt.


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

    A sentence ends at ``.``, ``!``, ``?`` and their like in other scripts, with what closes behind them. It continues

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
    """Return whether the stop at a place ends a sentence that something follows."""
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
    """Return whether a full stop belongs to what is before it: an abbreviation, an initial, an ordinal, a number."""
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


# -- the language of a text, by its most frequent words ----------------------------------------------------------------


_FREQUENT: Mapping[str, str] = {
    "de": "der die das und ist nicht ein eine zu mit sie ich auf für den dem sich auch wir bitte",
    "en": "the and of is not to you we are that this with for your have please in be it or",
    "es": "el los las y es no una que con por para del su sus se lo usted como en un",
    "fr": "le les et est pas une que avec pour du des vous nous dans sur ce cette votre au il",
    "it": "il gli e è non una che con per del della sono di nel questo questa suo lei si i",
    "nl": "de het en is niet een te met voor u wij op van dat dit deze zijn uw aan ook",
    "pt": "o os as e é não uma que com para do da em um se por sua você como seu",
}
TOLD_APART = tuple(_FREQUENT)
"""The languages that :func:`foreign_language` knows."""
_FEWEST, _TIMES, _SHARE = 8, 3, 0.25


def foreign_language(text: str, language: str) -> str:
    """Return the language in which a text is written if that is not *language*; empty if it is, or is not clear.

    Seven languages (:data:`TOLD_APART`) are recognised by their most frequent words. The text is clearly in another
    language if it has eight or more of that language's frequent words, three times as many as of *language*. For a
    *language* that is not one of the seven, these must be a quarter of all words instead; a related language may then
    be returned.

    >>> foreign_language("Gracias por su interés. Este estudio no admite respuestas en este momento, por eso se "
    ...                  "le pide que lo intente en otro momento.", "de")
    'es'
    >>> foreign_language("Zurzeit sind alle Plätze vergeben.", "de"), foreign_language("Gracias", "de")
    ('', '')
    >>> foreign_language("Please decide how related the meanings of the word are in the two sentences, and choose a "
    ...                  "number for it.", "sw")
    'en'
    """
    words = re.findall(r"\w+", text.casefold())
    counts = {name: sum(map(frequent.split().count, words)) for name, frequent in _FREQUENT.items()}
    own = counts.get(language.partition("-")[0].lower())
    most = max(counts, key=lambda name: counts[name])
    needed = _TIMES * own if own is not None else _SHARE * len(words)
    return most if counts[most] >= max(_FEWEST, needed) else ""
