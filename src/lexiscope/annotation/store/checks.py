"""The checks that an answer fits its question; each error names the field."""

from __future__ import annotations

import math
from datetime import datetime

from lexiscope.annotation.store.record import AnswerRefused, BrowserAnswer, ItemQuestion, Phase, StudyItem

SKIPPED = "skipped"
FLAGS = frozenset({"nonsensical", "weird", "undecided", "not_found", SKIPPED})
"""The flags that participants can set with an answer; ``skipped`` replaces the answer."""

_MAX_ID, _MAX_COMMENT = 200, 10_000
LONGEST_MS = 1e10
"""The longest response time, some 115 days."""


def check_text(field: str, text: object, *, longest: int, empty: bool = False) -> str:
    """Return a text that every database stores exactly as it is.

    Errors: :class:`AnswerRefused` for a value that is not a text, is too long or empty, or holds NUL or half of a
    surrogate pair.
    """
    if not isinstance(text, str):
        raise AnswerRefused(field, f"a text is expected, not {type(text).__name__}")
    if len(text) > longest:
        raise AnswerRefused(field, f"{len(text)} characters are more than the {longest} allowed")
    if not text and not empty:
        raise AnswerRefused(field, "is empty")
    if "\x00" in text:
        raise AnswerRefused(field, "holds a NUL character, which cannot be stored")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise AnswerRefused(field, "holds half of a surrogate pair, which is not a character")
    return text


def check_form(answer: BrowserAnswer) -> None:
    """Check the types and bounds of an answer to any question.

    Errors: :class:`AnswerRefused`.
    """
    for field in ("participant_id", "item_id", "client_key"):
        check_text(field, getattr(answer, field), longest=_MAX_ID)
    for field in ("page_version", "guideline_version"):
        check_text(field, getattr(answer, field), longest=_MAX_ID, empty=True)
    for field in ("comment", "guessed_word"):
        if getattr(answer, field) is not None:
            check_text(field, getattr(answer, field), longest=_MAX_COMMENT, empty=True)
    if answer.phase not in tuple(Phase):
        raise AnswerRefused("phase", f"there is no phase {answer.phase!r}")
    _check_whole("position", answer.position)
    if answer.supersedes is not None:
        _check_whole("supersedes", answer.supersedes)
    for field in ("rt_ms", "rt_server_ms"):
        _check_duration(field, getattr(answer, field))
    if answer.shown_at is not None and (not isinstance(answer.shown_at, datetime) or answer.shown_at.tzinfo is None):
        raise AnswerRefused("shown_at", "a time with its offset from UTC is expected")
    if not isinstance(answer.flags, tuple) or not all(isinstance(flag, str) for flag in answer.flags):
        raise AnswerRefused("flags", "a tuple of texts is expected")
    unknown = set(answer.flags) - FLAGS
    if unknown:
        raise AnswerRefused("flags", f"there is no flag {sorted(unknown)[0]!r}")


def check_content(answer: BrowserAnswer, item: StudyItem, *, skippable: bool = False) -> None:
    """Check the answer itself: on the scale, among the options, a text of allowed length, and of no other kind.

    A skip has no content; it is taken where *skippable*. Errors: :class:`AnswerRefused`.
    """
    question = item.question
    if SKIPPED in answer.flags:
        _check_skip(answer, skippable=skippable)
        return
    expected = "value" if question.scale is not None else "option" if question.options else "text"
    for field in ("value", "option", "text"):
        if field != expected and getattr(answer, field) is not None:
            raise AnswerRefused(field, f"the item {item.item_id!r} is answered with a {expected}")
    given = getattr(answer, expected)
    if given is None:
        if question.required and not set(answer.flags) & set(question.excused_by):
            raise AnswerRefused(expected, "is missing")
        return
    if question.scale is not None:
        _check_value(given, question)
        return
    text = check_text(expected, given, longest=question.max_length)
    if question.options and text not in question.options:
        raise AnswerRefused("option", f"{text!r} is not among the options of the item {item.item_id!r}")


def _check_skip(answer: BrowserAnswer, *, skippable: bool) -> None:
    if not skippable:
        raise AnswerRefused("flags", "no item of this study can be skipped")
    for field in ("value", "option", "text"):
        if getattr(answer, field) is not None:
            raise AnswerRefused(field, "a skipped item has no answer")


def _check_value(value: object, question: ItemQuestion) -> None:
    scale = question.scale
    assert scale is not None
    # True is an int in Python, and no rating
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AnswerRefused("value", f"a number is expected, not {type(value).__name__}")
    # compared before it is converted: a huge integer has no float
    if not scale.low <= value <= scale.high or not scale.contains(float(value)):
        shown = f"{value:.12g}" if isinstance(value, float) else str(value)[:20]
        raise AnswerRefused("value", f"{shown} is not on the scale {scale.low:g} to {scale.high:g}")


def _check_whole(field: str, number: object) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**31:
        raise AnswerRefused(field, "a whole number from 0 is expected")


def _check_duration(field: str, milliseconds: object) -> None:
    if milliseconds is None:
        return
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        raise AnswerRefused(field, "a number of milliseconds is expected")
    if not (0 <= milliseconds <= LONGEST_MS and math.isfinite(milliseconds)):
        raise AnswerRefused(field, "a duration from 0 to 115 days is expected")
