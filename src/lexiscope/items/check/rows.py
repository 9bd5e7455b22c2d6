"""Checks of one row: fields, spans, characters, ratings, pairs of sentences, and words in corpus text to look at.

What passes becomes a :class:`RowQuestion`; what does not is reported with its code and place (E1.., W1.., E3..).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

from lexiscope.core.errors import InputError, Place, SpanError
from lexiscope.core.item import SAME_SENSE, Item
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage, check_span, continues_word, locate
from lexiscope.items.tables.columns import Indices
from lexiscope.items.tables.findings import Finding, Report, SentenceStatistics
from lexiscope.items.tables.numbers import PLAIN, NumberForm, parse_truth
from lexiscope.resources.tables.rows import Row

# zero-width and soft characters, no-break spaces, control characters: a reader does not see them, a model does
# (not the joiners U+200C and U+200D, which are part of the spelling in several scripts)
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u00a0\u00ad\u200b\u200e\u200f\u2028-\u202f\u2060\ufeff]"
)
_EXTRA_SPACE = re.compile(r"^[ \t]+|[ \t]+$|[ \t]{2,}")
_WHOLE = re.compile("[0-9]+")
_UNREADABLE = (-1, -1)

_SPLITS = {
    "training": "train",
    "valid": "dev",
    "validation": "dev",
    "val": "dev",
    "development": "dev",
    "train": "train",
    "dev": "dev",
    "test": "test",
}
_NO_ANSWER = frozenset({"", "na", "n/a", "nan", "null", "none"})


@dataclass(frozen=True, slots=True)
class RowQuestion:
    """What one row asks: an item id (as given), its usages, and the word that items are grouped by."""

    row: Row
    item_id: str | None
    word: str
    usages: tuple[Usage, ...]
    same_sense: bool | None
    catch: bool = False
    list_id: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class RowChecks:
    """Reads the rows of one file under one column map and reports what is wrong in each."""

    indices: Indices
    report: Report
    scale: Scale | None = None
    language: str = "und"
    numbers: NumberForm = PLAIN
    _clean: dict[tuple[str, ...], Usage] = field(default_factory=dict, init=False, repr=False, compare=False)

    def question(self, row: Row) -> RowQuestion | None:
        """Return what the row asks, or ``None`` where an error of the row prevents it (it was reported)."""
        usages = [usage for side in self._sides() if (usage := self._usage(row, side)) is not None]
        if len(usages) != len(self._sides()):
            return None
        word = self.indices.text("word", row.fields) or usages[0].target
        catch = self._truth_value(row, "catch") or False
        item_id = self.indices.text("item_id", row.fields)
        list_id = self.indices.text("list_id", row.fields)
        same_sense, split = self._same_sense(row, usages), self._split(row)
        return RowQuestion(row, item_id, word, tuple(usages), same_sense, catch, list_id, split)

    def number(self, row: Row, part: str | int) -> float | None:
        """Return the number in a field, ``None`` where it is empty or not a number (E302) or off the scale (E301)."""
        index = self.indices.get(part) if isinstance(part, str) else part
        text = row.fields[index].strip() if index is not None else ""
        if index is None:
            return None
        value = self.numbers.read(text)
        if value is None:
            hint = "Leave the cell empty if there was no answer, or name the text that means so: --missing TEXT."
            point = text.replace(",", ".")
            if "," in text and PLAIN.read(point) is not None:
                hint = f"Use a decimal point: {point}."
            fault = f"Cannot read {text!r} as a number."
            self._report_fault("E302", fault, row.place(index, width=len(text)), row, hint)
            return None
        if value != value:
            return None
        if self.scale is not None and part not in ("n_ratings",) and not self._on_scale(value, part):
            low, high = self.scale.low, self.scale.high
            fault = f"{text} is not on the scale {low:g} to {high:g}"
            hint = "correct the value, or name the scale that the raters used: --scale LOW HIGH"
            self._report_fault("E301", fault, row.place(index, width=len(text)), row, hint)
            return None
        return value

    def gold_answer(self, row: Row, *, truth: bool) -> str | None:
        """Return the correct answer of a row, ``None`` if it is hidden (an empty field, or a sign for no answer).

        With *truth* it is ``t`` or ``f``, however it is written (true, T, 1, yes, same); another word is E303.
        """
        text = self.indices.text("gold", row.fields) or ""
        if text.casefold() in _NO_ANSWER:
            return None
        if not truth:
            return text
        flag = self._truth_value(row, "gold")
        return None if flag is None else "t" if flag else "f"

    # -- one usage ----------------------------------------------------------------------------------------------

    def _sides(self) -> tuple[str, ...]:
        return ("1", "2") if self.indices.get("sentence_2") is not None else ("1",)

    def _usage(self, row: Row, side: str) -> Usage | None:
        # a table with a row per rating repeats each sentence many times: a clean one is looked at once
        key = (side, *[row.fields[index] for index in self.indices.of_side(side)])
        if key in self._clean:
            return self._clean[key]
        usage = self._checked_usage(row, side)
        if usage is not None and not self._strange_characters(usage.text):
            self._clean[key] = usage
        return usage

    def _checked_usage(self, row: Row, side: str) -> Usage | None:
        at = self.indices.get(f"sentence_{side}")
        text = row.fields[at] if at is not None else ""
        target = self.indices.text(f"target_{side}", row.fields) or self.indices.text("target", row.fields)
        span = self._span(row, side)
        if not text.strip():
            self._report_fault(
                "E105", f"sentence {side} is empty", row.place(at), row, "give the sentence, or remove the row"
            )
            return None
        if target is None and span is None:
            self._report_fault(
                "E105", f"there is no target for sentence {side}", row.place(), row, "give the target or its span"
            )
            return None
        self._check_characters(row, at, text)
        # a span that cannot be read is never replaced by a search for the target
        if span == _UNREADABLE:
            return None
        return self._usage_at_span(row, side, text, target, span)

    def _span(self, row: Row, side: str) -> tuple[int, int] | None:
        texts = [self.indices.text(f"{part}_{side}", row.fields) for part in ("start", "end")]
        if texts == [None, None]:
            return None
        wrong = [part for part, text in zip(("start", "end"), texts, strict=True) if not _WHOLE.fullmatch(text or "")]
        if not wrong:
            return int(texts[0] or 0), int(texts[1] or 0)
        place = row.place(self.indices.get(f"{wrong[0]}_{side}"))
        hint = "give both ends of the span as whole numbers (half-open character offsets), or leave both empty"
        self._report_fault(
            "E106", f"the {wrong[0]} of the span of sentence {side} is not a whole number", place, row, hint
        )
        return _UNREADABLE

    def _usage_at_span(
        self, row: Row, side: str, text: str, target: str | None, span: tuple[int, int] | None
    ) -> Usage | None:
        at = self.indices.get(f"sentence_{side}")
        try:
            if span is None:
                start, end = find_target(text, target or "")
            else:
                start, end = span
            usage = self._new_usage(row, side, text, start, end)
            if target is not None and span is not None:
                check_span(text, start, end, target)
        except SpanError as error:
            column = error.place.column if error.place is not None else None
            width = error.place.width if error.place is not None else len(text)
            place = row.place(at, offset=(column or 1) - 1, width=width if column else len(text))
            message = ": ".join(part for part in (error.what, error.why) if part)
            self._report_fault(error.code or "E101", message, place, row, error.hint)
            return None
        return usage

    def _new_usage(self, row: Row, side: str, text: str, start: int, end: int) -> Usage:
        return Usage(
            text=text,
            start=start,
            end=end,
            lemma=self.indices.text("word", row.fields),
            language=self.indices.text("language", row.fields) or self.language,
            sense=self.indices.text(f"sense_{side}", row.fields),
        )

    def _check_characters(self, row: Row, at: int | None, text: str) -> None:
        for code, message, match in self._strange_characters(text):
            place = row.place(at, offset=match.start(), width=len(match.group()))
            self._report_fault(code, message, place, row, "remove it, or replace it by one ordinary space")

    def _strange_characters(self, text: str) -> list[tuple[str, str, re.Match[str]]]:
        if text.isascii() and text.isprintable() and text == " ".join(text.split()):
            return []
        hidden, extra = _INVISIBLE.search(text), _EXTRA_SPACE.search(text)
        strange = []
        if hidden is not None:
            strange.append(("W107", f"invisible character U+{ord(hidden.group()):04X} in the sentence", hidden))
        if extra is not None:
            strange.append(("W108", "superfluous white space in the sentence", extra))
        return strange

    # -- flags and numbers --------------------------------------------------------------------------------------

    def _truth_value(self, row: Row, part: str) -> bool | None:
        text = (self.indices.text(part, row.fields) or "").casefold()
        value = parse_truth(text)
        if value is None and text:
            place = row.place(self.indices.get(part), width=len(text))
            self._report_fault("E303", f"{text!r} is neither true nor false", place, row, "write true or false")
        return value

    def _same_sense(self, row: Row, usages: Sequence[Usage]) -> bool | None:
        stated = self._truth_value(row, SAME_SENSE)
        senses = [usage.sense for usage in usages]
        if len(senses) < 2 or None in senses:
            return stated
        same = senses[0] == senses[1]
        if stated is not None and stated != same:
            fault = f"the pair is marked as {'same' if stated else 'different'} sense, but its senses are {senses}"
            place = row.place(self.indices.get(SAME_SENSE))
            self._report_fault("E212", fault, place, row, "correct the mark or the senses")
        return same

    def _split(self, row: Row) -> str | None:
        text = self.indices.text("split", row.fields)
        return _SPLITS.get(text.casefold(), text) if text is not None else None

    def _on_scale(self, value: float, part: str | int) -> bool:
        assert self.scale is not None
        # a mean lies between the scale's ends, not on its points
        return self.scale.low <= value <= self.scale.high if part == "norm" else self.scale.contains(value)

    def _report_fault(self, code: str, message: str, place: Place, row: Row, hint: str) -> None:
        item_id = self.indices.text("item_id", row.fields)
        self.report(Finding.from_place(code, message, place, hint=hint, item_id=item_id))


def find_target(text: str, wordform: str) -> tuple[int, int]:
    """Return the span of the only occurrence of *wordform* as a whole word.

    The common case needs no pattern: one occurrence in the exact letters, with no letter next to it.
    Errors: :class:`SpanError` E101, E102, as :func:`lexiscope.core.usage.locate`.

    >>> find_target("Guardó la lima madura", "lima")
    (10, 14)
    """
    start = text.find(wordform)
    end = start + len(wordform)
    alone = start >= 0 and text.find(wordform, start + 1) < 0
    if alone and not continues_word(text[start - 1 : start]) and not continues_word(text[end : end + 1]):
        return start, end
    return locate(text, wordform)


# -- flagged --------------------------------------------------------------------------------------------------------
# Words in corpus text that a person should look at before participants or readers do: flagged, never dropped.
#
# The list of its own is short and English; a study that shows texts to people adds its own.


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
    # a text is in several conditions of an item
    texts = dict.fromkeys((str(item.condition("sentence")), usage.text) for item in items for usage in item.usages)
    for sentence, text in texts:
        if flagged := flagged_words(text, words):
            by_sentence.setdefault(sentence, {}).update(dict.fromkeys(flagged))
    return {sentence: tuple(flagged) for sentence, flagged in sorted(by_sentence.items())}


def read_words(path: Path) -> frozenset[str]:
    """Read a list of words, one per line; empty lines and lines that begin with ``#`` are skipped.

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
        raise InputError("this list has no words", code="E002", place=Place(str(path)), hint="write one per line")
    return words


# -- how the two sentences of a pair differ, and how long the sentences of a set are --------------------------------
# In SAW-C's design a pair differs in one modifier only. Footnote 4 of the paper counts the pairs that break this (187
# of 812 differ in their number of words); determiners and prepositions that change with the cue are named here.


WordClass = Literal["determiner", "preposition", "word"]
_SPANISH_DETERMINERS = "el la los las lo un una unos unas este esta estos estas ese esa esos esas su sus mi mis tu tus"
_SPANISH_PREPOSITIONS = "de del a al en con por para sin sobre entre hacia hasta desde contra bajo ante tras según"
_DETERMINERS = frozenset(
    ("the a an this that these those my your his her its our their some any no " + _SPANISH_DETERMINERS).split()
)
_PREPOSITIONS = frozenset(
    (
        "of in on at by for with from to into onto over under about against between through " + _SPANISH_PREPOSITIONS
    ).split()
)


@dataclass(frozen=True, slots=True)
class WordChange:
    """One place where two sentences differ: the words there in the first and in the second (either may be empty)."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def n_words(self) -> int:
        """The number of words that were replaced, inserted or removed. *Unit: words.*"""
        return max(len(self.before), len(self.after))

    def classes(self) -> tuple[WordClass, ...]:
        """Return the class of each changed word: determiner, preposition, or any other word."""
        return tuple(word_class(word) for word in (*self.before, *self.after))

    def __str__(self) -> str:
        return f"{' '.join(self.before) or '(nothing)'} → {' '.join(self.after) or '(nothing)'}"


def words(text: str) -> list[str]:
    """Split a sentence into words at white space, as SAW-C's sentence lengths count them.

    >>> len(words("Compró una vela nueva"))
    4
    """
    return text.split()


def word_class(word: str) -> WordClass:
    """Return whether a word is a determiner or a preposition (short closed lists of English and Spanish).

    >>> word_class("el"), word_class("de"), word_class("madera")
    ('determiner', 'preposition', 'word')
    """
    plain = word.casefold().strip(".,;:!?")
    if plain in _DETERMINERS:
        return "determiner"
    return "preposition" if plain in _PREPOSITIONS else "word"


def word_changes(first: str, second: str) -> tuple[WordChange, ...]:
    """Return where two sentences differ, word by word.

    >>> [str(change) for change in word_changes("Vio el orden público", "Vio la orden judicial")]
    ['el → la', 'público → judicial']
    """
    a, b = words(first), words(second)
    low = 0
    while low < min(len(a), len(b)) and a[low] == b[low]:
        low += 1
    tail = 0
    while tail < min(len(a), len(b)) - low and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    a, b = a[low : len(a) - tail], b[low : len(b) - tail]
    if min(len(a), len(b)) < 2:
        return (WordChange(tuple(a), tuple(b)),) if a or b else ()
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return tuple(
        WordChange(tuple(a[i:j]), tuple(b[k:m])) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"
    )


def differences_beyond_cue(first: str, second: str) -> str | None:
    """Describe by what two sentences differ beyond one replaced word; ``None`` where they differ in the cue only.

    >>> differences_beyond_cue("Vio el orden público", "Vio el orden establecido") is None
    True
    >>> differences_beyond_cue("Vio el orden público", "Vio la orden judicial")
    'el → la (determiner), público → judicial'
    """
    differences = word_changes(first, second)
    if not differences or (len(differences) == 1 and len(differences[0].before) == len(differences[0].after) == 1):
        return None
    parts = []
    for change in differences:
        special = [name for name in ("determiner", "preposition") if name in change.classes()]
        parts.append(f"{change} ({', '.join(special)})" if special else str(change))
    return ", ".join(parts)


def sentence_statistics(sentences: Iterable[str], pairs: Iterable[Sequence[str]]) -> SentenceStatistics:
    """Return mean sentence length over distinct sentences, and the pairs by their difference in length.

    *Unit: words.* *Source: SAW-C §3.1 (mean 4.72 words), footnote 4 (187 pairs: 173 by one word, 14 by two).*

    >>> sentence_statistics(["a b", "a b c"], [("a b", "a b c")])  # (2 + 3) / 2
    SentenceStatistics(n_sentences=2, n_pairs=1, mean_words=2.5, length_differences=((1, 1),))
    """
    distinct = set(sentences)
    differences = Counter(abs(len(words(pair[0])) - len(words(pair[1]))) for pair in pairs)
    total = sum(len(words(sentence)) for sentence in distinct)
    mean = total / len(distinct) if distinct else None
    return SentenceStatistics(len(distinct), differences.total(), mean, tuple(sorted(differences.items())))
