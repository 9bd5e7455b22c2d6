"""People in each view: accuracy of each annotator, agreement on what two of them share, and who could not decide.

Every view has separate annotators, who share some of their items; agreement is counted on these alone. An answer of
a person who could not decide is the ``t`` that the study asks for then: it counts in accuracy and agreement, and their
number is given. What no one was asked has no row here: an assumed score is a
:class:`~lexiscope.analysis.bias.view_scores.FixedScore` that says so (:func:`assumed_scores`).

*Source:* the context–word bias study, §2.2 and appendix F. Its Table 10 cannot check these numbers: the text says
that people agree less without the whole input, and the table prints the opposite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.analysis.agreement.choices import CoderAgreement, coder_agreement
from lexiscope.analysis.bias.view_errors import is_right
from lexiscope.analysis.bias.view_scores import FixedScore, Scores, answers_by_view, scored_views
from lexiscope.analysis.bootstrap import GroupOf, cluster_labels
from lexiscope.analysis.ratings import PEOPLE as PEOPLE_KINDS
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Undefined
from lexiscope.core.task import Task

CHOICE, UNDECIDED = "choice", "flag_undecided"
PEOPLE = "people"
"""The subject of a score that belongs to no subject."""


@dataclass(frozen=True, slots=True)
class AnnotatorInView:
    """One person in one view. ``accuracy`` is over the items that were answered; its interval resamples words."""

    participant: str
    accuracy: Accuracy | Undefined
    n_unanswered: int
    n_undecided: int


@dataclass(frozen=True, slots=True)
class PeopleInView:
    """What people did in one view; ``n_double`` of the ``n_items`` were answered by more than one person."""

    view: str
    annotators: tuple[AnnotatorInView, ...]
    shared: tuple[CoderAgreement, ...]
    n_items: int
    n_double: int

    @property
    def n_undecided(self) -> int:
        """How many answers were given by a person who could not decide."""
        return sum(annotator.n_undecided for annotator in self.annotators)


def people_by_view(
    table: ResponseColumns,
    *,
    right: Mapping[str, str],
    words: Mapping[str, str],
    measure: str = CHOICE,
    kinds: Collection[str] = PEOPLE_KINDS,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[PeopleInView, ...]:
    """Return accuracy and agreement of people, view by view, in the order in which views come in the table.

    *right* (item id → answer, several with ``|`` between them) names the items that count, *words* what is resampled.
    *kinds* names each ``subject_kind`` that is a person: no one else in the table is counted.
    Errors: :class:`StatisticError` where no one answered any of these items; :class:`InputError` E506 for an item
    without a word.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response(who, "participant", item, "same_sense", "choice", option=option, view="context")
    ...         for who, options in (("ana", "ttf"), ("leo", "tff")) for item, option in zip("ijk", options)]
    >>> gold, words = dict(zip("ijk", "ttt")), dict(zip("ijk", ["oak", "elm", "ash"]))
    >>> (found,) = people_by_view(ResponseTable.from_rows(rows), right=gold, words=words, resamples=0)
    >>> [round(who.accuracy.value, 3) for who in found.annotators], round(found.shared[0].same.value, 3)
    ([0.667, 0.333], 0.667)
    """
    table = table.where(subject_kind=tuple(kinds))
    given = {str(who): answers_by_view(table, subject=str(who), measure=measure) for who in table.unique("subject_id")}
    views = dict.fromkeys(view for answers in given.values() for view in answers)
    settings = {"level": level, "resamples": resamples, "seed": seed}
    by_view = []
    for view in views:
        # in the order of the items, so that the order of the answers changes nothing
        own = {
            who: {item: answers[view][item] for item in right if item in answers[view]}
            for who, answers in given.items()
            if view in answers
        }
        own = {who: answers for who, answers in own.items() if answers}
        if own:
            by_view.append(_in_view(view, own, _n_undecided(table, view, right), right, words, settings))
    if not by_view:
        raise StatisticError(f"no participant answered ({measure}) any item whose correct answer is known")
    return tuple(by_view)


def assumed_scores(items: Sequence[Item], *, task: Task) -> dict[str, FixedScore]:
    """Return the scores of views that people were not asked, as the study assumes them; each says that it is assumed.

    Without any input half of the answers about pairs are right, and no page is found. Where the two words of every pair
    are equal, everybody would say of the words alone that they mean the same: half of them are right too. Where the
    options differ between items, the answers are right as often as a blind choice among them.
    Errors: :class:`InputError` for a task of which the study assumes nothing.

    >>> from lexiscope.core.usage import Usage
    >>> pair = Item("i", "d", (Usage("a bank", 2, 6), Usage("the bank", 4, 8)))
    >>> asked = Task("alike", "Do they mean the same?", None, ("usages",), (), (("choice", "t or f"),), chance=0.5)
    >>> {view: score.value for view, score in assumed_scores([pair], task=asked).items()}
    {'label': 0.5, 'word': 0.5}
    """
    if task.chance is None and items and all(item.options for item in items):
        blind = fmean(len(str(item.gold).split("|")) / len(item.options) for item in items)
        return {"label": FixedScore(blind, "assumed: a blind choice among the options of each item")}
    if task.chance is None:
        what = f"no score is assumed for people in the task {task.name!r}"
        raise InputError(what, hint="compare models with what people were asked")
    scores = {"label": FixedScore(task.chance, "assumed: no one was asked without any input")}
    if all(len(item.usages) > 1 and item.has_one_word for item in items):
        scores["word"] = FixedScore(0.5, "assumed: the two words are equal in every item")
    return scores


def people_scores(table: ResponseColumns, items: Sequence[Item], *, task: Task, measure: str = CHOICE) -> Scores:
    """Return people's scores by view, for ``context_word_bias``: measured and assumed.

    A measured score is the mean over items of the share of people who were right. A view that people were asked is
    never replaced by what is assumed of it. Items without a known answer are excluded.
    Errors: those of :func:`~lexiscope.analysis.bias.view_scores.scored_views` and :func:`assumed_scores`.
    """
    people = table.where(measure=measure, subject_kind=PEOPLE_KINDS).unique("subject_id")
    gold = {item.item_id: item.gold for item in items if item.gold is not None}
    words = {item.item_id: item.word for item in items}
    measured = scored_views(table, gold, words, subjects=people, measure=measure)
    return {
        **measured,
        **{view: score for view, score in assumed_scores(items, task=task).items() if view not in measured},
    }


def _n_undecided(table: ResponseColumns, view: str, right: Mapping[str, str]) -> dict[str, int]:
    rows = table.where(measure=UNDECIDED, view=view)
    counts: dict[str, int] = {}
    columns = (rows.column(name).tolist() for name in ("subject_id", "item_id", "value"))
    for who, item, value in zip(*columns, strict=True):
        counts[who] = counts.get(who, 0) + (value == 1 and item in right)
    return counts


def _in_view(
    view: str,
    given: Mapping[str, Mapping[str, str | None]],
    undecided: Mapping[str, int],
    right: Mapping[str, str],
    words: Mapping[str, str],
    settings: Mapping[str, float | int],
) -> PeopleInView:
    annotators = []
    for who, answers in given.items():
        answered = [item for item, answer in answers.items() if answer is not None]
        correct = [is_right(answers[item], right[item]) for item in answered]
        of_words = cluster_labels(answered, GroupOf(words, "words"), what="word")
        share: Accuracy | Undefined = Undefined("accuracy", "fewer than two words were answered", len(answered))
        if len(set(of_words or ())) > 1:
            share = accuracy(correct, clusters=of_words, **settings)  # type: ignore[arg-type]
        annotators.append(AnnotatorInView(who, share, len(answers) - len(answered), undecided.get(who, 0)))
    counts = Counter(item for answers in given.values() for item in answers)
    pairs = tuple(
        coder_agreement({who: given[who] for who in pair}, **settings)  # type: ignore[arg-type]
        for pair in combinations(given, 2)
    )
    return PeopleInView(view, tuple(annotators), pairs, len(counts), sum(n > 1 for n in counts.values()))
