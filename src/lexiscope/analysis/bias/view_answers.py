"""From responses to scores by view: each answer compared with the gold answers of its item."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from lexiscope.analysis.bias.view_errors import is_right
from lexiscope.analysis.bias.view_scores import ViewScores
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.response import ResponseTable

Unanswered = Literal["wrong", "left out"]


def answers_by_view(
    responses: ResponseTable, *, subject: str, measure: str = "choice"
) -> dict[str, dict[str, str | None]]:
    """Return the answers of one subject: view → item id → option, ``None`` where there is no readable answer.

    Of several answers to one item in one view the last row counts (a changed mind is a later row).

    >>> from lexiscope.core.response import Response
    >>> given = [Response("m", "classifier", "i1", "same_sense", "choice", None, raw, view="full") for raw in "tf"]
    >>> answers_by_view(ResponseTable.from_rows(given), subject="m")
    {'full': {'i1': 'f'}}
    """
    own = responses.where(subject_id=subject, measure=measure)
    by_view: dict[str, dict[str, str | None]] = {}
    columns = (own.column(name).tolist() for name in ("view", "item_id", "option"))
    for view, item, option in zip(*columns, strict=True):
        by_view.setdefault("full" if view is None else view, {})[item] = option
    return by_view


def scored_views(
    responses: ResponseTable,
    gold: Mapping[str, str],
    words: Mapping[str, str],
    *,
    subjects: Collection[str],
    measure: str = "choice",
    unanswered: Unanswered = "wrong",
) -> dict[str, ViewScores]:
    """Return the scores of each view: for every item the share of right answers of the *subjects* who were asked it.

    *subjects* are one model, the seeds of one training, or all annotators; *gold* (item id → right answer, several with
    ``|`` between them) says which items count, *words* what is resampled. A row without a readable answer is ``wrong``,
    or ``left out`` together with items that then have no answer. Items that a subject was never asked lower nothing.

    >>> from lexiscope.core.response import Response
    >>> def row(who, option):
    ...     return Response(who, "participant", "i1", "same_sense", "choice", None, option, view="full")
    >>> table = ResponseTable.from_rows([row("ana", "t"), row("leo", "f")])
    >>> scores = scored_views(table, {"i1": "t"}, {"i1": "iron"}, subjects=["ana", "leo"])
    >>> scores["full"].values, scores["full"].words
    ([0.5], ['iron'])

    Errors: :class:`InputError` naming an item without a word; :class:`StatisticError` where there is no answer at all.
    """
    right: dict[str, dict[str, list[bool]]] = {}
    for subject in subjects:
        for view, answers in answers_by_view(responses, subject=subject, measure=measure).items():
            for item, answer in answers.items():
                if item in gold and (answer is not None or unanswered == "wrong"):
                    right.setdefault(view, {}).setdefault(item, []).append(is_right(answer, gold[item]))
    if not right:
        who = ", ".join(subjects) or "nobody"
        raise StatisticError(f"there is no answer ({measure}) of {who} to an item with a gold answer")
    return {view: _scores(items, gold, words) for view, items in right.items()}


def _scores(right: Mapping[str, list[bool]], gold: Mapping[str, str], words: Mapping[str, str]) -> ViewScores:
    # in the order of the items, so that the order of the answers changes nothing
    items = [item for item in gold if item in right]
    without = [item for item in items if not words.get(item)]
    if without:
        raise InputError("this item has no word, so that it cannot be resampled", place=Place(item_id=without[0]))
    return ViewScores([sum(right[item]) / len(right[item]) for item in items], [words[item] for item in items])
