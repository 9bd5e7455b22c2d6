"""How a subject that scores texts rates on a scale: the probability of each point as what follows the prompt.

Nothing is generated and nothing has to be read: the prompt of the task is written as one text, each point of the scale
is put behind it, and the points' probabilities weight the rating. The same for every task with a scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES, AskFunction, ChatQuestion, Prompted, Prompting
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.scoring import ScoredOption, ScoringPolicy
from lexiscope.core.subject import Progress, Scores, Subject
from lexiscope.core.task import AnswerFunction, ScoredFunction
from lexiscope.items.answers.chat_answers import MEASURE_EXPECTED, MEASURE_MASS, mean_of_points
from lexiscope.items.answers.continuations import (
    check_distinct_answers,
    continuation_policy,
    score_items,
    scored_pairs,
)
from lexiscope.items.arrange.views import view_item

MEASURE_MOST_PROBABLE = "most_probable_rating"

SCORING_MEASURES = (
    (MEASURE_MOST_PROBABLE, "the point of the scale with the highest probability; higher means a higher rating"),
    ("log_probability", "log-probability of a point behind the prompt, in nats; option: the point; policy in brackets"),
    ("pseudo_log_probability", "the same by a masked model, each token given the rest; another unit of comparison"),
)
"""The measures of a rating by scoring, in addition to the rating."""

RATED = ("rating", "norm", MEASURE_EXPECTED, MEASURE_MOST_PROBABLE)
"""The measures whose values lie on the scale of their item."""


def scoring_function(task: str, measure: str, asks: AskFunction) -> AnswerFunction:
    """Return the answer function of a task with a scale for subjects that score texts.

    The row of *measure* is the mean of the points weighted by their probabilities, ``most_probable_rating`` the first
    point with the highest one, ``scale_mass`` what the points had together (comparable between items, not between
    policies that divide). Each point has a separate row with its log-probability. On a continuous scale the points are
    its whole numbers. Where the digits of a point begin another (1 and 10), a line break is scored behind each: else 1
    would have the probability of all that begins with it.
    """

    def by_scoring(
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Answer with the probabilities of the points of the scale as continuations of the prompt.

        A subject that names a wording (:class:`~lexiscope.core.prompt.Prompted`) is asked in it.

        Errors: those of the task's ``asks``; :class:`InputError` for a scale without a list of numbers;
        :class:`SubjectError` where a model cannot tell 1 from 10; those of the subject.
        """
        # the prompt is the same for all points
        policy = continuation_policy(cast(Scores, subject).policy)
        how = subject.prompting if isinstance(subject, Prompted) else Prompting()
        words = {"language": how.language, "variant": how.variant or GUIDELINES, "shots": how.shots}
        questions = [asks(view_item(item, view), view=view, **words) for item in items]  # type: ignore[arg-type]
        texts = [[before + answer for before, answer in scored_pairs(_points(question))] for question in questions]
        scores = score_items(items, texts, subject, work=work, progress=progress)
        blank = Response(subject.subject_id, subject.kind, "", task, measure, view=view)
        rows: list[Response] = []
        for item, question, several in zip(items, questions, texts, strict=True):
            begin = len(prompt_of(question))
            check_distinct_answers(several, scores, begin, item)
            values = [policy.value(scores[text], text, (begin, len(text))) for text in several]
            rows += _rows(values, _scale(question).options, policy, replace(blank, item_id=item.item_id))
        return ResponseTable.from_rows(rows)

    return by_scoring


def scale_options(asks: AskFunction) -> ScoredFunction:
    """Return the function that returns the points of the scale of items as :func:`scoring_function` scores them."""

    def points(items: Sequence[Item], how: Prompting, view: str) -> list[tuple[ScoredOption, ...]]:
        """Return the points of each item behind its prompt."""
        words = {"language": how.language, "variant": how.variant or GUIDELINES, "shots": how.shots}
        questions = [asks(item, view=view, **words) for item in items]  # type: ignore[arg-type]
        return [_points(question) for question in questions]

    return points


def prompt_of(question: ChatQuestion) -> str:
    """Return the messages as one text that a point of the scale may follow, an empty line between two.

    >>> from lexiscope.core.prompt import Message
    >>> prompt_of(ChatQuestion((Message("system", "Rate."), Message("user", "A bank\\nRating:"))))
    'Rate.\\n\\nA bank\\nRating:'
    """
    return "\n\n".join(message.content for message in question.messages)


def _points(question: ChatQuestion) -> tuple[ScoredOption, ...]:
    before, points = prompt_of(question), [f"{point:g}" for point in _scale(question).options]
    return tuple(ScoredOption(point, before, point) for point in points)


def _scale(question: ChatQuestion) -> Scale:
    if question.scale is None:
        raise InputError("only a rating on a scale can be answered by scoring its points")
    return question.scale


def _rows(
    values: Sequence[float], points: Sequence[float], policy: ScoringPolicy, blank: Response
) -> Iterator[Response]:
    # the highest is taken out first: the probabilities of a long answer may be too small for a float
    highest = max(values)
    shares = {point: math.exp(value - highest) for point, value in zip(points, values, strict=True)}
    yield replace(blank, value=mean_of_points(shares).rating)
    yield replace(blank, measure=MEASURE_MOST_PROBABLE, value=points[values.index(highest)])
    yield replace(blank, measure=MEASURE_MASS, value=math.exp(highest) * math.fsum(shares.values()))
    for point, value in zip(points, values, strict=True):
        yield replace(blank, measure=str(policy), option=f"{point:g}", value=value)
