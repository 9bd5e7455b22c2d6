"""Is an answer to a gap right? Two rules that find an accepted answer in a completion.

``match=words`` reads the text: an accepted answer is found where its words occur as whole words, anywhere in the
completion, in any case, with any quotes around them or words before them (*the word …*). A word consists of
letters, digits and marks, not of hyphens and apostrophes (:func:`lexiscope.core.usage.continues_word`).

``match=tokens`` is the published rule: the token sequence of an accepted answer, with or without a space before it,
occurs among the tokens that were generated. It finds *part* in *part|ly* and does not find *Part*.

What is found is a separate row (``answer_found``); the answers themselves are never changed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from lexiscope.build.gap_filling.gaps import MEASURE, MEASURE_TOKENS, SUITE, Answers, accepted_answers
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import parse_statistic, statistic_name
from lexiscope.core.settings import option
from lexiscope.core.usage import continues_word

Match = Literal["words", "tokens"]
Forms = Literal["exact", "inflected"]
MultiWord = Literal["accepted", "left_out"]
Encode = Callable[[str], Sequence[int]]
"""A tokeniser: the ids of a text, without special tokens."""
BaseForms = Callable[[str], Sequence[str]]
"""The lemmas of which a wordform may be a form, for instance a lexicon's ``base_forms`` for nouns."""

MEASURE_FOUND = "answer_found"


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """When an answer is right: which answers are accepted, how they are found, and in which forms.

    ``forms=inflected`` also finds a form of an accepted answer (*roles*), which needs a lexicon. ``multiword`` says
    whether an answer of several words counts; the study does not say, here they do. The printed form is a part of the
    ``measure`` of :func:`mark_completions`.

    Errors: :class:`SpecError` for an unknown value, and for inflected forms of tokens.

    >>> str(AnswerRule("curated"))
    'answer_found(answers=curated,match=words,forms=exact,multiword=accepted)'
    """

    answers: Answers
    match: Match = "words"
    forms: Forms = option("exact", "whether a form of an accepted answer counts")
    multiword: MultiWord = option("accepted", "whether an answer of several words counts")

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise SpecError(
                    f"{name}={getattr(self, name)} is not a rule of matching", hint=f"use {', '.join(known)}"
                )
        if self.match == "tokens" and self.forms == "inflected":
            raise SpecError("inflected forms are found among words, not tokens", hint="use match=words")

    def __str__(self) -> str:
        return self.measure(MEASURE)

    def measure(self, of: str) -> str:
        """Return the measure of what is found in completions of the measure *of*: rule and decoding together."""
        rule = {name: getattr(self, name) for name in _CHOICES}
        return statistic_name(MEASURE_FOUND, **rule, **parse_statistic(of)[1])

    def accepted_answers(self, item: Item) -> tuple[str, ...]:
        """Return what this rule accepts as an answer to an item (a curated answer of several words among them)."""
        words = accepted_answers(item, self.answers)
        return words if self.multiword == "accepted" else tuple(word for word in words if " " not in word)


_CHOICES: dict[str, tuple[str, ...]] = {
    "answers": get_args(Answers),
    "match": get_args(Match),
    "forms": get_args(Forms),
    "multiword": get_args(MultiWord),
}


def find_in_text(text: str, answers: Sequence[str], *, base_forms: BaseForms | None = None) -> str | None:
    """Return the accepted answer that is first in a text, as whole words, or ``None``.

    Case is folded and accents are composed (NFC) on both sides. The words of an answer of several words may be divided
    by white space, a hyphen, or both. With *base_forms* a form of an accepted answer counts as well.

    >>> find_in_text('the word "Part", and', ["part", "function"]), find_in_text("partly", ["part"])
    ('part', None)
    """
    plain = _fold_text(text)
    places = [(match.start(), -len(answer), answer) for answer in answers for match in _occurrences(plain, answer)]
    if base_forms is not None:
        places += list(_matching_forms(plain, answers, base_forms))
    # where two begin at one place the longer one was meant
    return min(places)[2] if places else None


def find_in_tokens(token_ids: Sequence[int], answers: Sequence[str], encode: Encode) -> str | None:
    """Return the first accepted answer whose token sequence occurs among the ids, or ``None``: the published rule.

    Two sequences of each answer are searched: that of the answer, and that of the answer after a space.

    >>> cut = {"part": [7], " part": [8], "role": [5], " role": [4, 5]}.__getitem__
    >>> find_in_tokens([2, 8, 9], ["role", "part"], cut), find_in_tokens([2, 4, 9, 5], ["part"], cut)
    ('part', None)
    """
    ids = list(token_ids)
    for answer in answers:
        for sequence in (list(encode(answer)), list(encode(f" {answer}"))):
            if sequence and any(ids[k : k + len(sequence)] == sequence for k in range(len(ids))):
                return answer
    return None


def mark_completions(
    table: ResponseTable,
    items: Sequence[Item],
    rule: AnswerRule,
    *,
    base_forms: BaseForms | None = None,
    encode: Encode | None = None,
) -> ResponseTable:
    """Return a row for each completion that says whether an accepted answer was found in it: 1, 0, or no value.

    The measure is :meth:`AnswerRule.measure`, ``option`` the answer that was found, ``raw`` the completion; subject,
    view and repeat stay. A completion that was not given (``raw`` missing) has no value; an empty one is wrong.
    Errors: :class:`InputError` for a completion of another item, if the rule needs *base_forms* or *encode*, or
    if token ids were not stored; :class:`SpecError` for a table without completions.
    """
    if rule.forms == "inflected" and base_forms is None:
        raise InputError("inflected forms are found through a lexicon", hint="give base_forms, or use forms=exact")
    if rule.match == "tokens" and encode is None:
        raise InputError("token sequences need the tokeniser of the model", hint="give encode, or use match=words")
    known = {item.item_id: rule.accepted_answers(item) for item in items}
    wanted = MEASURE if rule.match == "words" else MEASURE_TOKENS
    rows = [row for row in table.rows() if parse_statistic(row.measure)[0] == wanted]
    if not rows:
        raise SpecError(f"no row of this table has the measure {wanted!r}", hint=f"collect the task {SUITE} first")
    forms = base_forms if rule.forms == "inflected" else None
    return ResponseTable.from_rows(_match_row(row, known, rule, forms, encode) for row in rows)


def token_ids(raw: str) -> tuple[int, ...]:
    """Read the token ids of a row of ``completion_tokens``.

    >>> token_ids("12 7")
    (12, 7)
    """
    return tuple(int(number) for number in raw.split())


def _match_row(
    row: Response,
    known: Mapping[str, Sequence[str]],
    rule: AnswerRule,
    base_forms: BaseForms | None,
    encode: Encode | None,
) -> Response:
    if row.item_id not in known:
        place = Place(item_id=row.item_id)
        raise InputError(
            "a completion belongs to none of the items", place=place, hint="give the items that were asked"
        )
    answer: str | None = None
    if row.raw is not None and encode is not None and rule.match == "tokens":
        answer = find_in_tokens(token_ids(row.raw), known[row.item_id], encode)
    elif row.raw is not None:
        answer = find_in_text(row.raw, known[row.item_id], base_forms=base_forms)
    return Response(
        subject_id=row.subject_id,
        subject_kind=row.subject_kind,
        item_id=row.item_id,
        task=row.task,
        measure=rule.measure(row.measure),
        value=None if row.raw is None else float(answer is not None),
        option=answer,
        view=row.view,
        list_id=row.list_id,
        repeat=row.repeat,
        raw=row.raw,
    )


def _fold_text(text: str) -> str:
    # folded first: the capital of a letter with an accent may come apart
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _occurrences(plain: str, answer: str) -> Iterator[re.Match[str]]:
    words = [re.escape(word) for word in _fold_text(answer).split()]
    for match in re.finditer(r"(?:\s*[-\u2010\u2011]\s*|\s+)".join(words), plain):
        before, after = plain[match.start() - 1 : match.start()], plain[match.end() : match.end() + 1]
        if not continues_word(before) and not continues_word(after):
            yield match


def words_of(text: str) -> list[tuple[int, int]]:
    """Return the spans of the words of a text: runs of what continues a word.

    >>> words_of("the “part-time” role")
    [(0, 3), (5, 9), (10, 14), (16, 20)]
    """
    inside = [continues_word(char) for char in text] + [False]
    starts = [k for k in range(len(text)) if inside[k] and (k == 0 or not inside[k - 1])]
    ends = [k for k in range(1, len(text) + 1) if inside[k - 1] and not inside[k]]
    return list(zip(starts, ends, strict=True))


def _matching_forms(plain: str, answers: Sequence[str], base_forms: BaseForms) -> Iterator[tuple[int, int, str]]:
    """Yield where a form of an accepted answer occurs, searched word by word and in runs as long as the answers."""
    by_form = {_fold_text(answer): answer for answer in answers}
    longest = max((len(answer.split()) for answer in by_form), default=0)
    spans = words_of(plain)
    for first, (start, _) in enumerate(spans):
        for last in range(first, min(first + longest, len(spans))):
            form = "_".join(plain[slice(*span)] for span in spans[first : last + 1])
            bases = [_fold_text(base.replace("_", " ")) for base in base_forms(form)]
            yield from ((start, -len(by_form[base]), by_form[base]) for base in bases if base in by_form)
