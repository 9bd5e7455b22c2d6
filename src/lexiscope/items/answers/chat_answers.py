"""How a subject that converses answers a task: the task's questions, the replies, and one set of rows for each reply.

Every reply leaves a row of the task's measure (without value where it could not be read) and one of its kind,
so that nothing is lost and every kind is counted (:mod:`lexiscope.collect`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.core.errors import SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import AskFunction, ChatQuestion, ChatReply, Converses
from lexiscope.core.reply import MEASURE_REPLY, read_reply
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.subject import Progress, Subject

MEASURE_FINISH = "finish"
MEASURE_THINKING = "thinking_tokens"
MEASURE_EXPECTED = "expected_rating"
MEASURE_MASS = "scale_mass"

CHAT_MEASURES = (
    (MEASURE_REPLY, "1 if a reply could be read, otherwise 0; option: how it was read; raw: the unchanged reply"),
    (
        MEASURE_FINISH,
        "1 where the limit of tokens ended a reply, else 0; option: why it ended, in the words of the endpoint",
    ),
    (
        MEASURE_THINKING,
        "tokens that a model thought before its answer, without value where its endpoint does not count them; raw: "
        "what it thought, where that was sent; no row where neither is known",
    ),
)
"""The measures that every answer of a chat model has in addition to the task's."""

RATING_MEASURES = (
    (
        MEASURE_EXPECTED,
        "the mean of the points of the scale weighted by their probability; higher means a higher rating",
    ),
    (MEASURE_MASS, "the probability that the points of the scale had together, from 0 to 1; higher means more"),
)
"""The further measures of a rating whose points have known probabilities."""


@dataclass(frozen=True, slots=True)
class ExpectedRating:
    """A rating weighted by probability: its mean, ``None`` where no point had any, and what the points had together."""

    rating: float | None
    mass: float


def chat_answers(
    items: Sequence[Item],
    subject: Subject,
    asks: AskFunction,
    *,
    task: str,
    measure: str,
    view: str,
    work: Path | None = None,
    progress: Progress | None = None,
) -> ResponseTable:
    """Ask a subject that converses every item, ``repeats`` times; return the rows in the order of the items.

    *items* are as the view shows them. Errors: those of the task's ``asks``, before anything is sent; those of the
    subject; :class:`SubjectError` where another number of replies comes back.
    """
    assert isinstance(subject, Converses)
    settings = subject.prompting
    how = {"language": settings.language, "variant": settings.variant, "shots": settings.shots}
    questions = [asks(item, view=view, **how) for item in items]  # type: ignore[arg-type]
    replies = subject.converse(questions, work=work, progress=progress)
    if len(replies) != len(items) or any(len(answers) != settings.repeats for answers in replies):
        raise SubjectError(
            f"{subject.subject_id} gave {len(replies)} replies to {len(items)} questions, or too few each"
        )
    blank = Response(subject.subject_id, subject.kind, "", task, measure, view=view)
    return ResponseTable.from_rows(
        replace(row, item_id=item.item_id, repeat=repeat)
        for item, question, answers in zip(items, questions, replies, strict=True)
        for repeat, reply in enumerate(answers)
        for row in reply_rows(reply, question, blank)
    )


def reply_rows(reply: ChatReply, question: ChatQuestion, blank: Response) -> Iterator[Response]:
    """Yield the rows of one reply; *blank* says who answers which task under which measure."""
    read = read_reply(reply, question)
    # the row keeps the reply, or the text that was asked for: a refusal is in the row of the reply alone
    raw = read.text if question.scale is None and not question.options else reply.text
    yield replace(blank, value=read.value, option=read.option.value if read.option else None, raw=raw)
    set_flags = read.option.flags if read.option is not None else None
    for flag in sorted({flag for option in question.options for flag in option.flags}):
        yield replace(blank, measure=f"flag_{flag}", value=None if set_flags is None else float(flag in set_flags))
    said = reply.fault or reply.text
    yield replace(blank, measure=MEASURE_REPLY, value=float(read.kind == "ok"), option=read.kind, raw=said)
    yield replace(blank, measure=MEASURE_FINISH, value=float(reply.cut), option=reply.finish or None)
    tokens = reply.thinking_tokens
    if reply.thinking or tokens:
        value = None if tokens is None else float(tokens)
        yield replace(blank, measure=MEASURE_THINKING, value=value, raw=reply.thinking or None)
    expected = None
    if question.scale is not None:
        expected = expected_rating(reply.first_tokens, question.scale, whole=reply.whole)
    if expected is not None:
        yield replace(blank, measure=MEASURE_EXPECTED, value=expected.rating)
        yield replace(blank, measure=MEASURE_MASS, value=expected.mass)


def expected_rating(first_tokens: Mapping[str, float], scale: Scale, *, whole: bool = False) -> ExpectedRating | None:
    """Return the mean rating weighted by the probabilities of the points as the first token of a reply.

    White space around a token does not matter: ``4`` and `` 4`` are one point, their probabilities are added. ``None``
    where no probabilities are known, or a point is not a single token (on a scale to 100, ``1`` begins many) and they
    are not those of *whole* numbers.

    *Unit:* points of the scale.

    >>> tokens = {"4": math.log(0.6), " 4": math.log(0.1), "5": math.log(0.1), "The": math.log(0.2)}
    >>> found = expected_rating(tokens, Scale(1, 5))
    >>> round(found.rating, 12) == round((4 * 0.7 + 5 * 0.1) / 0.8, 12), round(found.mass, 12)
    (True, 0.8)
    """
    points = {f"{point:g}": point for point in (scale.options if whole else scale.points)}
    if not first_tokens or not points or (not whole and any(len(name) > 1 for name in points)):
        return None
    weights = dict.fromkeys(points.values(), 0.0)
    for token, log_probability in first_tokens.items():
        if token.strip() in points:
            weights[points[token.strip()]] += math.exp(log_probability)
    return mean_of_points(weights)


def mean_of_points(weights: Mapping[float, float]) -> ExpectedRating:
    """Return the mean of points by their probabilities, which need not sum to 1."""
    mass = math.fsum(weights.values())
    mean = math.fsum(point * weight for point, weight in weights.items()) / mass if mass > 0 else None
    return ExpectedRating(mean, mass)
