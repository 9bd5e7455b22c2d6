"""A usage: one target word in one context, at character offsets that were checked when it was read.

A span is half-open, ``text[start:end]``, counted in Unicode code points. It is verified once, here; nothing
downstream searches for a target again (design/0002-spans.md).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from lexiscope.core.errors import Place, SpanError

_INSIDE = frozenset("_\u200c\u200d")


@dataclass(frozen=True, slots=True)
class Usage:
    """A target in one context.

    ``start`` and ``end`` are half-open character offsets into ``text``. ``sense`` is the sense id under which the
    dataset files this usage (``None`` where unknown).

    >>> Usage("The bank of the river.", 4, 8, lemma="bank").target
    'bank'
    """

    text: str
    start: int
    end: int
    lemma: str | None = None
    pos: str | None = None
    language: str = "und"
    sense: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end <= len(self.text):
            raise SpanError(
                f"span {self.start}:{self.end} does not lie inside a text of {len(self.text)} characters",
                code="E103",
                place=Place(text=self.text),
                hint="give half-open character offsets, 0 <= start < end <= length",
            )
        if self.target != self.target.strip():
            raise SpanError(
                f"span {self.start}:{self.end} starts or ends with white space: {self.target!r}",
                code="E104",
                place=Place(text=self.text, column=self.start + 1, width=self.end - self.start),
                hint="let the span cover the target's letters only",
            )

    @property
    def target(self) -> str:
        """The target as written in the text (its word form)."""
        return self.text[self.start : self.end]

    @property
    def bracketed(self) -> str:
        """The text with square brackets around the target, as sheets and prompts show it.

        >>> Usage("The bank of the river.", 4, 8).bracketed
        'The [bank] of the river.'
        """
        return f"{self.text[: self.start]}[{self.target}]{self.text[self.end :]}"

    @property
    def key(self) -> tuple[str, int, int]:
        """What makes two usages the same for a model: text and span."""
        return (self.text, self.start, self.end)


def whole_text(text: str, language: str = "und") -> Usage:
    """Return a text without outer white space as a usage of itself: its vector is the mean over all of its tokens.

    >>> whole_text(" a side of a river").target
    'a side of a river'

    Errors: :class:`SpanError` E103 for a text without letters.
    """
    shown = text.strip()
    return Usage(shown, 0, len(shown), language=language)


def occurrences(text: str, wordform: str) -> list[tuple[int, int]]:
    """Return the spans at which *wordform* occurs as a whole word, case ignored where the exact case is absent.

    A word includes letters, digits, ``_`` and what belongs to a letter (:func:`continues_word`). Apostrophes and
    hyphens end it: *hôtel* occurs in *l'hôtel*, and *bank* in *bank-holiday*.

    >>> occurrences("A bank is not a bankrupt bank", "bank")
    [(2, 6), (25, 29)]
    >>> occurrences("The bank shuts on a bank-holiday", "bank")
    [(4, 8), (20, 24)]
    """
    if not wordform:
        return []
    return _whole_words(text, wordform, re.NOFLAG) or _whole_words(text, wordform, re.IGNORECASE)


def continues_word(char: str) -> bool:
    """Whether a word continues at this character: a letter, a digit, ``_``, a combining mark or a joiner.

    Marks (Unicode category M) are part of their letter: decomposed *ñ* is *n* and U+0303, and the vowel signs of Indic
    scripts are marks. The joiners U+200C and U+200D occur inside words of Persian and of Indic scripts.

    >>> [continues_word(char) for char in ("n", "\u0303", "\u200c", "-", "'", "")]
    [True, True, True, False, False, False]
    """
    return char.isalnum() or char in _INSIDE or (char != "" and unicodedata.category(char)[0] == "M")


def _whole_words(text: str, wordform: str, flags: re.RegexFlag) -> list[tuple[int, int]]:
    candidates = (match.span(1) for match in re.finditer(f"(?=({re.escape(wordform)}))", text, flags))
    whole: list[tuple[int, int]] = []
    for start, end in candidates:
        alone = not continues_word(text[start - 1 : start]) and not continues_word(text[end : end + 1])
        if alone and (not whole or start >= whole[-1][1]):
            whole.append((start, end))
    return whole


def locate(text: str, wordform: str, *, place: Place | None = None) -> tuple[int, int]:
    """Return the span of the only occurrence of *wordform*.

    Errors: :class:`SpanError` E101 (it does not occur) or E102 (it occurs more than once).
    """
    spans = occurrences(text, wordform)
    if len(spans) == 1:
        return spans[0]
    if not spans:
        raise SpanError(
            f"target {wordform!r} does not occur in the sentence as a whole word",
            code="E101",
            place=place or Place(text=text),
            why=_why_absent(text, wordform),
            hint="correct the spelling, give the wordform as in the text, or give the span",
        )
    second = spans[1]
    raise SpanError(
        f"target {wordform!r} occurs {len(spans)} times and no span says which one to use",
        code="E102",
        place=place or Place(text=text, column=second[0] + 1, width=second[1] - second[0]),
        hint="give the span of one: start and end, counted in characters from 0, end excluded",
    )


def check_span(text: str, start: int, end: int, wordform: str, *, place: Place | None = None) -> None:
    """Check that the letters at a span are the target's (case ignored).

    Errors: :class:`SpanError` E101.
    """
    if text[start:end].casefold() != wordform.casefold():
        raise SpanError(
            f"span {start}:{end} covers {text[start:end]!r}, not the target {wordform!r}",
            code="E101",
            place=place or Place(text=text, column=start + 1, width=max(1, end - start)),
            hint="correct the span or the target",
        )


def _why_absent(text: str, wordform: str) -> str:
    if occurrences(unicodedata.normalize("NFC", text), unicodedata.normalize("NFC", wordform)):
        return "text and target use different Unicode normal forms (NFC and NFD): letters look alike but differ"
    if wordform.casefold() in text.casefold():
        return "its letters occur only as a part of a longer word (scripts without spaces need spans)"
    return ""
