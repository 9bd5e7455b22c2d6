"""Reading the reply of a chat model, strictly: a number on the scale, one option, or a text. Nothing is guessed.

A reply is read where one of its lines says the answer and nothing else, and nothing elsewhere in it contradicts. Such a
line is the answer alone (``4``), or behind a label of at most four words that ends in ``:``, ``=`` or *is*
(``Rating: 4``, ``My rating is 4``). Around it may stand marks of emphasis, quotation marks and brackets (``**4**``),
behind it a full stop (``4.``) or the end of the scale (``4/5``, ``4 out of 5``). A label that denies (``Not: 4``) is
none. A line of what a model thinks (``<think>``) is no answer, though a number there may contradict one. The scale
itself in brackets (``Rating (1-5): 4``) is passed over. A number may be a word, for the points that
:data:`NUMBER_WORDS` lists, where the line is the word. All else is unreadable, and counted by its kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from lexiscope.core.prompt import ChatQuestion, ChatReply, Option
from lexiscope.core.scale import Scale

Kind = Literal["ok", "refusal", "several", "off_scale", "empty", "prose", "in_prose", "truncated", "fault"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What a reply came to, in the order of tables.

``ok``: read. ``refusal``: the model or its endpoint declined. ``several``: more than one number or option.
``off_scale``: a number that is not on the scale, or an option that was not offered. ``empty``: no text. ``prose``: text
that names no answer. ``in_prose``: one number or option, within a sentence and thus not taken. ``truncated``: cut
before the answer was certain. ``fault``: what the server sent was no reply.
"""

MEASURE_REPLY = "reply"
"""The measure of the row that says, in the column option, what a reply came to; its value is 1 where it was read."""

NUMBER_WORDS: dict[str, tuple[str, ...]] = {
    "en": ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    "es": ("cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez"),
    "de": ("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn"),
}
"""Words for 0 to 10 that are read as numbers, by the language of the question."""

REFUSALS: tuple[str, ...] = (
    r"\bI(?:['’]m| am) (?:sorry|unable|not able)\b",
    r"\bI (?:can ?not|can['’]t|won['’]t|will not|must decline)\b",
    r"\b(?:as|I(?:['’]m| am)) an? (?:AI|artificial intelligence|language model)\b",
    r"\b(?:lo siento|no puedo|no me es posible|como modelo de lenguaje)\b",
    r"\b(?:tut mir leid|ich kann (?:das |dies |hier )?nicht|als (?:KI|Sprachmodell))\b",
)
"""What marks an unreadable reply as a refusal, as patterns without regard to case."""

_MARKS = "*_`#\"'“”„«»‘’()[]{}<>$"
_CLOSING = ".!。"
_TOKEN = r"(?<![\w.,])[-−+]?\d+(?:[.,]\d+)*(?!\w)"
_NUMBER = re.compile(_TOKEN)
_LABEL = re.compile(r"(?:[^\W\d_]+[ -]?){1,4}\s*(?::|=|\bis\b|\bes\b|\bist\b)", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-–—•]\s+")
_NEGATED = re.compile(r"\b(?:not|\w+n['’]t|no|nor|never|nunca|ni|nicht|kein\w*|nie|niemals)\b", re.IGNORECASE)
# what a model thinks before it answers, closed or not; where a template opened it, the reply holds the end only
_THOUGHTS = re.compile(r"\A(?:(?!<think).)*</think\w*>|<think\w*>.*?(?:</think\w*>|\Z)", re.IGNORECASE | re.DOTALL)
_THOUSANDS = 3


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply says: its kind, and the value, the option or the text where it is ``ok``."""

    kind: Kind
    value: float | None = None
    option: Option | None = None
    text: str | None = None


def read_reply(reply: ChatReply, question: ChatQuestion) -> Read:
    """Read a reply as the question wants it answered.

    >>> from lexiscope.core.prompt import Message
    >>> question = ChatQuestion((Message("user", "From 1 to 5?"),), scale=Scale(1, 5))
    >>> read_reply(ChatReply("Rating: 4.", "stop"), question)
    Read(kind='ok', value=4.0, option=None, text=None)
    """
    if reply.fault:
        return Read("fault")
    if reply.refused:
        return Read("refusal")
    cut = reply.cut
    if question.scale is not None:
        return read_rating(reply.text, question.scale, language=question.language, cut=cut)
    if question.options:
        return read_choice(reply.text, question.options, cut=cut)
    return read_text(reply.text, cut=cut)


def read_rating(text: str, scale: Scale, *, language: str = "en", cut: bool = False) -> Read:
    """Read a number on a scale. With *cut*, the reply was broken off: a number on its last line may be half a number.

    >>> scale = Scale(1, 5)
    >>> [read_rating(text, scale).value for text in ("4", "**4**", "4.", "Rating: 4", "4/5", "four", "4,0")]
    [4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0]
    >>> [read_rating(text, scale).kind for text in ("3 or 4", "6", "", "hard to say", "I give it a 4 of course")]
    ['several', 'off_scale', 'empty', 'prose', 'in_prose']
    """
    if not text.strip():
        return Read("truncated" if cut else "empty")
    plain = _without_scale(text, scale)
    said = {_number_on(line, scale, language) for line in _whole_lines(plain, cut=cut)}
    answers = {answer for answer in said if answer is not None}
    numbers = {_value(found) for found in _NUMBER.findall(_without_end(plain, scale))} | answers
    if len(numbers) > 1:
        return Read(_refusal(text) or "several")
    if not answers:
        return Read("truncated" if cut else _refusal(text) or ("in_prose" if numbers else "prose"))
    (value,) = answers
    return Read("ok", value=value) if scale.contains(value) else Read("off_scale")


def read_choice(text: str, options: Sequence[Option], *, cut: bool = False) -> Read:
    """Read which one of some options a reply names.

    >>> options = (Option("t", ("1", "same")), Option("f", ("2", "different")))
    >>> found = read_choice("Answer: **Same**.", options)
    >>> found.kind, found.option.value
    ('ok', 't')
    >>> [read_choice(text, options).kind for text in ("same or different", "3", "It seems the same to me")]
    ['several', 'off_scale', 'in_prose']
    """
    if not text.strip():
        return Read("truncated" if cut else "empty")
    known = {_folded(name): option for option in options for name in option.names}
    named = _named(text, known)
    said = {_said(line, known) for line in _whole_lines(text, cut=cut)}
    answers = {known[name].value: known[name] for name in said if name in known}
    if len(named) > 1:
        return Read(_refusal(text) or "several")
    if answers:
        (option,) = answers.values()
        return Read("ok", option=option)
    if cut:
        return Read("truncated")
    if not named and _NUMBER.fullmatch(_bare(text)):
        return Read("off_scale")
    return Read(_refusal(text) or ("in_prose" if named else "prose"))


def read_text(text: str, *, cut: bool = False) -> Read:
    """Read a written answer: the reply as it stands, without white space around it.

    >>> read_text(" She saw the crane. ").text
    'She saw the crane.'
    """
    written = text.strip()
    if cut or not written:
        return Read("truncated" if cut else "empty")
    refusal = _refusal(written)
    return Read(refusal) if refusal else Read("ok", text=written)


# -- numbers --------------------------------------------------------------------------------------------------


def _number_on(line: str, scale: Scale, language: str) -> float | None:
    """Return the number that a line says and nothing else."""
    said = _bare(_without_end(line, scale))
    if _NUMBER.fullmatch(said):
        return _value(said)
    words = NUMBER_WORDS.get(language.partition("-")[0], ())
    return float(words.index(said.casefold())) if said.casefold() in words else None


def _value(number: str) -> float:
    """Read a number with a decimal point or comma; three digits behind a mark are thousands, never a decimal part.

    >>> [_value(each) for each in ("4.0", "3,5", "1.000", "0.375", "−2")]
    [4.0, 3.5, 1000.0, 0.375, -2.0]
    """
    whole, *rest = re.split("[.,]", number.replace("−", "-"))
    thousands = all(len(part) == _THOUSANDS for part in rest) and whole.strip("+-") not in ("", "0")
    if len(rest) > 1 or (rest and thousands):
        return float(whole + "".join(rest)) if thousands else float("inf")
    return float(f"{whole}.{rest[0]}" if rest else whole)


def _without_scale(text: str, scale: Scale) -> str:
    """Leave out the scale where it is only named: ``(1-5)``, ``[1 to 5]``."""
    low, high = f"{scale.low:g}", f"{scale.high:g}"
    return re.sub(rf"[(\[]\s*{low}\s*(?:-|–|—|to|a|al|bis)\s*{high}\s*[)\]]", "", text)


def _without_end(text: str, scale: Scale) -> str:
    """Leave out the end of the scale behind a number: ``4/5``, ``4 out of 5``."""
    high = re.escape(f"{scale.high:g}")
    return re.sub(rf"({_TOKEN})[*_`]*\s*(?:/|out of|de|von)\s*[*_`]*{high}(?![\w.,]\d|\w)", r"\1", text)


# -- options --------------------------------------------------------------------------------------------------


def _said(line: str, known: dict[str, Option]) -> str:
    """Return what a line says and nothing else: a name, or two names of the same option (``2: different``)."""
    said = _folded(_bare(line))
    if said in known:
        return said
    first, _, rest = (part.strip() for part in re.sub(r"[:.)]\s", "\0", said, count=1).partition("\0"))
    both = first in known and rest in known and known[first] == known[rest]
    return first if both else said


def _named(text: str, known: dict[str, Option]) -> set[str]:
    """Return the values of the options that a text names anywhere, as whole words; a longer name hides a shorter."""
    names = sorted(known, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names)
    return {known[found].value for found in re.findall(pattern, _folded(text))}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


# -- any reply ------------------------------------------------------------------------------------------------


def _bare(line: str) -> str:
    """Return a line without marks around it, its label and the full stop behind it."""
    bare = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
    bare = _inner(bare)
    label = _LABEL.match(bare.translate({ord(mark): None for mark in _MARKS}))
    if label is not None and not _NEGATED.search(label.group()):
        bare = _inner(bare.translate({ord(mark): None for mark in _MARKS})[label.end() :])
    return bare


def _inner(text: str) -> str:
    return text.strip().strip(_MARKS + " ").rstrip(_CLOSING).strip(_MARKS + " ")


def _whole_lines(text: str, *, cut: bool) -> list[str]:
    """Return the lines of a reply without its thoughts; the last of a broken one only where a closing mark ends it."""
    lines = _THOUGHTS.sub("\n", text).splitlines()
    broken = cut and not text.endswith(("\n", "*", "_", "`", '"', "”", "»", ")", "]", "}"))
    return lines[:-1] if broken else lines


def _refusal(text: str) -> Kind | None:
    return "refusal" if any(re.search(pattern, text, re.IGNORECASE) for pattern in REFUSALS) else None
