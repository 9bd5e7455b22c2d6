"""Models of partial input: one for each view of divided items, trained or fitted on that view alone and asked in it.

Four kinds, from seconds to hours: counts of shown texts, a regression on features, a linear probe on the vectors of an
encoder as it is, and an encoder that is trained by a plan (:mod:`lexiscope.training.plans`). Each is asked the tested
items of :class:`~lexiscope.items.arrange.division.ItemDivision` in every view, and says which views it cannot see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.answers.search_space import MEASURE_RETRIEVED, SearchSpace
from lexiscope.items.arrange.division import ItemDivision
from lexiscope.items.arrange.splits import sample_items
from lexiscope.items.arrange.views import GUESSED_WORD, view_item
from lexiscope.subjects.trained._probe import UntrainedEncoder
from lexiscope.training._course import Progress
from lexiscope.training.plans import TrainingPlan, searches
from lexiscope.training.selection import Selection, run_selection
from lexiscope.training.vector_features import n_cut, vector_features
from lexiscope.training.view_learners import Further, counted_answers, regression_answers, unseen_texts, with_guesses

_COUNTED = "No model: it counts which answers stood beside the same shown texts in training."
_NEARNESS = "it compares the two words of a pair with each other and does not see which words they are"

Features = Callable[[Sequence[Item], str], Any]
"""The features of items in a view: a dense or sparse matrix. *Shape:* (items, features)."""
Ask = Callable[[Any, Sequence[Item], str, str], ResponseTable]
"""Asks a trained model (a subject) items in a view; the last is a name under which their answers can be kept."""
Row = tuple[Item, str, str]
"""An item, the view in which it is asked, and the answer."""


@dataclass(frozen=True, slots=True)
class ViewTraining:
    """The training on one view; ``selection`` over rates and seeds on dev, if there was one, and what was ``chosen``.

    ``cut``: the number of items of which something was cut, being longer than what the model reads, by split.
    """

    view: str
    method: str
    n_train: int
    cut: Mapping[str, int] = field(default_factory=dict)
    selection: Selection | None = None
    chosen: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ViewAnswers:
    """What one model answered to the tested items in all views, and how it had learnt them.

    ``asked`` are the tested items that were asked, ``blind`` the views that the model cannot see, each with the reason;
    ``plan`` says how it was trained, ``left_out`` what of the published training was not done.
    """

    subject: str
    responses: ResponseTable
    asked: tuple[Item, ...]
    trained: tuple[ViewTraining, ...] = ()
    plan: str = ""
    left_out: tuple[str, ...] = ()
    blind: Mapping[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> ViewTraining | None:
        """The training on the whole input; ``None`` for a learner that counts."""
        return next((each for each in self.trained if each.view == "full"), None)

    @property
    def cut(self) -> list[tuple[str, str, int]]:
        """Where items were longer than what the model reads: view, split, and the number of items."""
        return [(each.view, part, n) for each in self.trained for part, n in each.cut.items() if n]


def counts_by_view(parts: ItemDivision, views: Sequence[str], *, task: str, subject: str) -> ViewAnswers:
    """Return the answers of a learner that counts, in every view: the most frequent one to the same shown texts."""
    responses = _answers(_counted(parts, parts.test, views, task), task, subject, "baseline")
    blind = {view: told for view in ("context", "word") if (told := unseen_texts(parts, view))}
    return ViewAnswers(subject, responses, parts.test, plan=_COUNTED, blind=blind)


def regression_by_view(
    parts: ItemDivision,
    views: Sequence[str],
    features: Features,
    *,
    task: str,
    subject: str,
    kind: str = "classifier",
    further: Sequence[Further] = (),
    progress: Progress | None = None,
) -> ViewAnswers:
    """Return the answers of logistic regressions on the features of each view by itself.

    *further* items (guessed words) are asked of the regression on the whole input. *kind* is the kind of the subject.
    """
    rows: list[Row] = []
    for number, view in enumerate(views):
        _tell(progress, subject, number, len(views))
        more = further if view == "full" else ()
        matrix = features((*parts.all_items, *(one.shown for one in more)), view)
        asked = [*((item, view) for item in parts.test), *((one.shown, one.view) for one in more)]
        answers = regression_answers(parts, matrix, more)
        rows += [(*one, answer) for one, answer in zip(asked, answers, strict=True)]
    _tell(progress, subject, len(views), len(views))
    n_train = len(parts.test) * (parts.n_folds - 1) // parts.n_folds if parts.folds else len(parts.train)
    trained = tuple(ViewTraining(view, "logistic_regression", n_train) for view in views)
    return ViewAnswers(subject, _answers(rows, task, subject, kind), parts.test, trained, blind=_unseen(parts))


def probe_by_view(
    parts: ItemDivision,
    views: Sequence[str],
    encoder: str,
    plan: TrainingPlan,
    *,
    task: str,
    subject: str,
    store: Path,
    guessed: Sequence[Item] = (),
    progress: Progress | None = None,
) -> ViewAnswers:
    """Return the answers of linear probes on the vectors of an encoder as it is: what it knows of words and contexts.

    The plan says how many items are read; encodings are kept in *store*. Of folds, all are tested.
    Errors: those of the encoder.
    """
    few, rows = parts, plan.settings
    if not parts.folds:
        test, train = sample_items(parts.test, plan.test_rows), sample_items(parts.train, rows.max_rows)
        few = replace(parts, train=train, dev=sample_items(parts.dev, rows.max_dev_rows), test=test)
    reader = UntrainedEncoder(f"encoder:{encoder}?device={rows.device}&threads={rows.threads}", store)
    splits = {"train": few.train, "dev": few.dev, "test": few.test}
    cut = {view: {name: n_cut(items, view, reader) for name, items in splits.items()} for view in views}
    found = regression_by_view(
        few,
        views,
        partial(vector_features, encoder=reader),
        task=task,
        subject=subject,
        further=with_guesses(few, guessed, parts.all_items),
        progress=progress,
    )
    trained = tuple(replace(one, cut=cut[one.view]) for one in found.trained)
    return replace(found, trained=trained, plan=plan.how, left_out=plan.left_out)


def training_by_view(
    parts: ItemDivision,
    views: Sequence[str],
    encoder: str,
    plan: TrainingPlan,
    *,
    ask: Ask,
    task: str,
    subject: str,
    out: Path,
    store: Path,
    space: SearchSpace | None = None,
    guessed: Sequence[Item] = (),
    progress: Progress | None = None,
) -> ViewAnswers:
    """Return the answers of models that are trained by a plan, one for each view, or of which a threshold is chosen.

    The trainings are kept below *out*, so that an interrupted one continues, and encodings in *store*. *ask* lets a
    model answer. The model of the whole input is asked *guessed* words too, and the items behind them. *space* is what
    a retrieval searches. Errors: those of the trainings.
    """
    asked, rows = sample_items(parts.test, plan.test_rows), plan.settings
    tables: list[ResponseTable] = []
    trained: list[ViewTraining] = []
    for view in views:
        if view == "label" and not plan.trained_label and searches(task):
            tables.append(_answers(_counted(parts, asked, (view,), task), task, subject, "baseline"))
            continue
        found = _selected(parts, view, encoder, plan, task=task, out=out, store=store, space=space, progress=progress)
        kept = f"&store={store}" if found.best.method == "threshold" else ""
        model: Any = catalog.subject(f"{found.best.spec}?device={rows.device}&threads={rows.threads}{kept}")
        cut = {**found.best.cut, "test": int(model.n_cut([view_item(item, view) for item in asked]))}
        trained.append(_training(found, cut))
        tables.append(ask(model, asked, view, view))
        if view == "full" and guessed:
            tables.append(ask(model, guessed, GUESSED_WORD, GUESSED_WORD))
            # people may have been asked items that are not tested here
            behind = with_guesses(replace(parts, test=asked), guessed, parts.all_items)
            others = tuple(one.shown for one in behind if one.view == view)
            tables += [ask(model, others, view, "full_of_guessed")] if others else []
    responses = ResponseTable.concat(tables).with_column("subject_id", subject)
    blind = _unseen(replace(parts, test=asked))
    if plan.protocol == "zero_shot" and catalog.task(task).learnt == "pair":
        blind = {"word": _NEARNESS}
    return ViewAnswers(subject, responses, asked, tuple(trained), plan.how, plan.left_out, blind)


def _selected(
    parts: ItemDivision,
    view: str,
    encoder: str,
    plan: TrainingPlan,
    *,
    task: str,
    out: Path,
    store: Path,
    space: SearchSpace | None,
    progress: Progress | None,
) -> Selection:
    """The grid of one view; without training, and without a model if nothing is seen, it has one cell."""
    method = catalog.task(task).learnt
    if view == "label" and not plan.trained_label:
        method = "label"
    elif plan.protocol == "zero_shot" and not searches(task):
        method = "threshold"
    return run_selection(
        method,
        view,
        parts.train,
        parts.dev,
        encoder,
        out=out,
        grid=plan.grid,
        settings=plan.settings,
        task=task,
        space=space if method == "bi_encoder" else None,
        store=store,
        progress=lambda part, done, total: _tell(progress, f"{view}, {part}", done, total),
    )


def _training(found: Selection, cut: Mapping[str, int]) -> ViewTraining:
    best = found.best
    stepped = best.method not in ("threshold", "label") and best.best_epoch > 0
    chosen = f"rate {best.learning_rate:g}, seed {best.seed}" if stepped else ""
    n_train = 0 if best.method == "bi_encoder" and not stepped else best.n_train
    return ViewTraining(found.view, best.method, n_train, cut, found, chosen)


def _counted(parts: ItemDivision, items: Sequence[Item], views: Iterable[str], task: str) -> list[Row]:
    # of a search one of several right answers is as good as all of them
    return [
        (item, view, min(answer.split("|")) if searches(task) else answer)
        for view in views
        for item, answer in zip(items, counted_answers(parts, items, view), strict=True)
    ]


def _answers(rows: Sequence[Row], task: str, subject: str, kind: str) -> ResponseTable:
    items, views, options = zip(*rows, strict=True)
    measure = MEASURE_RETRIEVED if searches(task) else "choice"
    who = {"subject_id": subject, "subject_kind": kind, "task": task, "measure": measure}
    ids = [item.item_id for item in items]
    return ResponseTable.from_columns({**who, "item_id": ids, "option": options, "view": views})


def _unseen(parts: ItemDivision) -> Mapping[str, str]:
    return {"word": told} if (told := parts.unseen_words()) else {}


def _tell(progress: Progress | None, what: str, done: int, total: int) -> None:
    if progress is not None:
        progress(what, done, total)
