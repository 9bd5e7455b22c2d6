"""Models of partial input: one for each view of divided items, trained or fitted on that view alone and asked in it.

Four kinds, from seconds to hours: counts of shown texts, a regression on features, a linear probe on the vectors of an
untrained encoder, and an encoder that is trained by a plan (:mod:`lexiscope.training.budget`). Each is asked the
tested items of :class:`~lexiscope.items.arrange.splits.ItemDivision` in every view, and says which views it cannot
see. A fifth kind learns nothing: a chat model, which is asked in the views that people are asked in.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexiscope.analysis.bias.bias import seed_biases
from lexiscope.build.planted.bias import count_answers
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.subject import Subject
from lexiscope.core.usage import Usage, whole_text
from lexiscope.items.answers.search_space import MEASURE_RETRIEVED, SearchSpace
from lexiscope.items.answers.sense_options import definition_of
from lexiscope.items.arrange.splits import ItemDivision, sample_items
from lexiscope.items.arrange.views import CONTEXT_SPAN, GUESSED_WORD, view_item
from lexiscope.subjects.trained._probe import UntrainedEncoder
from lexiscope.training._steps import Progress
from lexiscope.training.budget import Protocol, TrainingPlan, budget_plan, is_retrieval, plan_for
from lexiscope.training.cues.word_removal import Answered, RemovalPlan
from lexiscope.training.selection import Selection, run_selection
from lexiscope.training.settings import TrainingSettings
from lexiscope.training.text_features import text_matrix
from lexiscope.training.view_learners import (
    Features,
    Further,
    counted_answers,
    regression_log_odds,
    unseen_texts,
    with_guesses,
)

LOOK_UP = "look_up"
"""The learner that counts: it needs no model, and sees what a view shows and nothing else."""
WORDS = "words"
"""The learner of words and characters: it needs no model, and is trained on each view in seconds."""
WORDS_SUBJECT = "words and characters"
"""What the learner of words and characters is called among the subjects."""
_WORDS_LEARNT = (
    "A logistic regression on words, characters, lengths and what two texts share, trained on each view. It knows no "
    "meanings: a model that understands the texts may reach more with the whole input, and lower biases."
)
_COUNTED = "No model: it counts which answers the same shown texts had in training."
PROMPTED = "prompted"
"""The method of a model that learnt nothing from the items: it is asked in the task's words."""
_PROMPTED = "Not trained: asked each view in the words that people read. LABEL is assumed, as it is for people."
_NEARNESS = "it compares the two words of a pair with each other and does not see which words they are"

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
    ``plan`` says how it was trained, ``left_out`` what of the published training was not done. ``without_words`` are
    the answers to items without some of their words, by view (:mod:`lexiscope.training.cues.word_removal`).
    """

    subject: str
    responses: ResponseTable
    asked: tuple[Item, ...]
    trained: tuple[ViewTraining, ...] = ()
    plan: str = ""
    left_out: tuple[str, ...] = ()
    blind: Mapping[str, str] = field(default_factory=dict)
    without_words: Mapping[str, Answered] = field(default_factory=dict)

    @property
    def on_whole_input(self) -> ViewTraining | None:
        """The training on the whole input; ``None`` for a learner that counts."""
        return next((training for training in self.trained if training.view == "full"), None)

    @property
    def cut_items(self) -> list[tuple[str, str, int]]:
        """Where items were longer than what the model reads: view, split, and the number of items."""
        return [(training.view, part, n) for training in self.trained for part, n in training.cut.items() if n]

    def seed_records(self, dataset: str) -> list[Record]:
        """Return the biases on dev over the seeds of a training, and the mean and SD of each view (share right).

        A learner that is fitted once has no figure on dev that seeds could differ in.
        """
        selections = {training.view: training.selection for training in self.trained if training.selection is not None}
        dev = {view: selection.dev_by_seed for view, selection in selections.items()}
        named = (self.subject, dataset)
        biases = [bias.about(subject=self.subject, dataset=dataset, condition="dev") for bias in seed_biases(dev)]
        records = [record for bias in biases for record in bias.records()]
        for training in self.trained:
            if selection := training.selection:
                n = sum(shard.learning_rate == selection.best.learning_rate for shard in selection.shards)
                mean = Record("dev_mean", selection.mean, *named, view=training.view, n=n, note=training.chosen)
                note = "one seed has no spread" if selection.sd is None else ""
                records += [mean, replace(mean, statistic="dev_sd", value=selection.sd, note=note)]
        return records


def learner_answers(
    parts: ItemDivision,
    learner: str | Subject,
    *,
    views: Sequence[str],
    task: str,
    protocol: Protocol | Literal["auto"],
    budget: str,
    share: int,
    settings: TrainingSettings,
    out: Path,
    name: str,
    ask: Ask,
    space: SearchSpace | None = None,
    guessed: Sequence[Item] = (),
    removals: Sequence[RemovalPlan] = (),
    progress: Progress | None = None,
) -> ViewAnswers:
    """Return the answers of a learner in all views: :data:`LOOK_UP`, :data:`WORDS`, or an encoder by a protocol.

    A subject in the place of a learner, such as a chat model, is asked as it is (:func:`subject_by_view`).
    A budget, if there is one, chooses the protocol; *share* is the number of learners among which it is divided. Plans,
    trainings and encodings are kept below *out* under *name*; encodings, which are large, until all is answered.
    Errors: those of the trainings and of the subjects.
    """
    plain = tuple(view for view in views if view != CONTEXT_SPAN)
    if not isinstance(learner, str):
        return subject_by_view(parts, learner, ask=ask, task=task, guessed=guessed, removals=removals)
    if learner == LOOK_UP:
        return counts_by_view(parts, plain, task=task, subject=LOOK_UP, removals=removals)
    if learner == WORDS:
        regression = regression_by_view(
            parts,
            views,
            text_matrix,
            task=task,
            subject=WORDS_SUBJECT,
            kind="baseline",
            further=with_guesses(parts, guessed, parts.all_items),
            removals=removals,
            progress=progress,
        )
        return replace(regression, plan=_WORDS_LEARNT)
    if budget:
        kept = out / "plans" / f"{name}.json"
        plan = budget_plan(
            parts, task, learner, plain, budget=budget, share=share, kept=kept, settings=settings, space=space
        )
    else:
        plan = plan_for(protocol, parts, task, settings=settings)
    store = out / "vectors" / name
    by_view = probe_by_view
    if plan.protocol != "linear":
        by_view = partial(training_by_view, ask=ask, out=out / "shards" / name, space=space)
    answers = by_view(
        parts,
        plain if plan.protocol == "reduced" else views,
        learner,
        plan,
        task=task,
        subject=subject_name(learner, plan.protocol),
        store=store,
        guessed=guessed,
        removals=removals,
        progress=progress,
    )
    shutil.rmtree(store, ignore_errors=True)
    return answers


def subject_name(encoder: str, protocol: str) -> str:
    """Return what a trained or probed encoder is called: the last part of its path, and its protocol."""
    return f"{encoder.rstrip('/').rpartition('/')[2] or encoder}, {protocol.replace('_', '-')}"


def counts_by_view(
    parts: ItemDivision, views: Sequence[str], *, task: str, subject: str, removals: Sequence[RemovalPlan] = ()
) -> ViewAnswers:
    """Return the answers of a learner that counts, in every view: the most frequent one to the same shown texts."""
    without: dict[str, dict[str, tuple[str | None, float | None]]] = {plan.view: {} for plan in removals}
    for plan in removals:
        for learnt, tested in parts.turns():
            own = {item.item_id for item in tested}
            shown = [further.shown for further in plan.asked if further.origin in own]
            answers = count_answers(learnt, shown, plan.view)
            without[plan.view] |= {item.item_id: (answer, None) for item, answer in zip(shown, answers, strict=True)}
    responses = _answer_table(_count_rows(parts, parts.test, views, task), task, subject, "baseline")
    blind = {view: reason for view in ("context", "word") if (reason := unseen_texts(parts, view))}
    return ViewAnswers(subject, responses, parts.test, plan=_COUNTED, blind=blind, without_words=without)


def regression_by_view(
    parts: ItemDivision,
    views: Sequence[str],
    features: Features,
    *,
    task: str,
    subject: str,
    kind: str = "classifier",
    further: Sequence[Further] = (),
    removals: Sequence[RemovalPlan] = (),
    progress: Progress | None = None,
) -> ViewAnswers:
    """Return the answers of logistic regressions on the features of each view by itself.

    *further* items (guessed words) are asked of the regression on the whole input, those of *removals* of that of their
    view. *kind* is the kind of the subject.
    """
    rows: list[Row] = []
    without: dict[str, Answered] = {}
    for number, view in enumerate(views):
        _tell(progress, subject, number, len(views))
        guesses = further if view == "full" else ()
        more = (*guesses, *(own for plan in removals if plan.view == view for own in plan.asked))
        matrix = features(parts.all_items, [item.shown for item in more], view)
        asked = [*((item, view) for item in parts.test), *((item.shown, item.view) for item in more)]
        fitted = regression_log_odds(parts, matrix, more)
        answers = fitted.answers
        n_rows = len(parts.test) + len(guesses)
        rows += [(*question, answer) for question, answer in zip(asked[:n_rows], answers[:n_rows], strict=True)]
        if len(asked) > n_rows:
            right = fitted.of_right([str(item.gold) for item, _ in asked])
            odds = zip(asked[n_rows:], answers[n_rows:], right[n_rows:], strict=True)
            without[view] = {item.item_id: (answer, evidence) for (item, _), answer, evidence in odds}
    _tell(progress, subject, len(views), len(views))
    n_train = len(parts.test) * (parts.n_folds - 1) // parts.n_folds if parts.folds else len(parts.train)
    trained = tuple(ViewTraining(view, "logistic_regression", n_train) for view in views)
    return ViewAnswers(
        subject,
        _answer_table(rows, task, subject, kind),
        parts.test,
        trained,
        blind=_unseen_words(parts),
        without_words=without,
    )


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
    removals: Sequence[RemovalPlan] = (),
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
    reader = _untrained_encoder(encoder, rows, store)
    splits = {"train": few.train, "dev": few.dev, "test": few.test}
    cut = {view: {name: n_cut(items, view, reader) for name, items in splits.items()} for view in views}
    answers = regression_by_view(
        few,
        views,
        partial(vector_features, encoder=reader),
        task=task,
        subject=subject,
        further=with_guesses(few, guessed, parts.all_items),
        removals=removals,
        progress=progress,
    )
    trained = tuple(replace(training, cut=cut[training.view]) for training in answers.trained)
    return replace(answers, trained=trained, plan=plan.how, left_out=plan.left_out)


def linear_learners(encoders: Iterable[str], settings: TrainingSettings, store: Path) -> Mapping[str, Features]:
    """Return words and characters, and a linear probe of each encoder among *encoders*, by the name of the subject."""
    return {WORDS_SUBJECT: text_matrix} | {
        subject_name(encoder, "linear"): partial(
            vector_features, encoder=_untrained_encoder(encoder, settings, store / str(number))
        )
        for number, encoder in enumerate(encoders)
        if encoder not in (WORDS, LOOK_UP)
    }


def _untrained_encoder(encoder: str, settings: TrainingSettings, store: Path) -> UntrainedEncoder:
    return UntrainedEncoder(f"encoder:{encoder}?device={settings.device}&threads={settings.threads}", store)


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
    removals: Sequence[RemovalPlan] = (),
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
    without: dict[str, Answered] = {}
    for view in views:
        if view == "label" and not plan.trained_label and is_retrieval(task):
            tables.append(_answer_table(_count_rows(parts, asked, (view,), task), task, subject, "baseline"))
            continue
        selection = _select_model(
            parts, view, encoder, plan, task=task, out=out, store=store, space=space, progress=progress
        )
        kept = f"&store={store}" if selection.best.method == "threshold" else ""
        model: Any = catalog.subject(f"{selection.best.spec}?device={rows.device}&threads={rows.threads}{kept}")
        cut = {**selection.best.cut, "test": int(model.n_cut([view_item(item, view) for item in asked]))}
        trained.append(_view_training(selection, cut))
        given, lost = _asked_in_view(model, view, parts, asked, ask=ask, guessed=guessed, removals=removals)
        tables += given
        without |= lost
    responses = ResponseTable.concat(tables).with_column("subject_id", subject)
    blind = _unseen_words(replace(parts, test=asked))
    if plan.protocol == "zero_shot" and catalog.task(task).learnt == "pair":
        blind = {"word": _NEARNESS}
    return ViewAnswers(subject, responses, asked, tuple(trained), plan.how, plan.left_out, blind, without)


def subject_by_view(
    parts: ItemDivision,
    model: Subject,
    *,
    ask: Ask,
    task: str,
    guessed: Sequence[Item] = (),
    removals: Sequence[RemovalPlan] = (),
) -> ViewAnswers:
    """Return the answers of a subject that learns nothing from the items, such as a chat model, to all tested items.

    It is asked in the views that the task shows to people, so that it has no answers in ``label``. Errors: those of
    *ask*.
    """
    tables: list[ResponseTable] = []
    without: dict[str, Answered] = {}
    views = catalog.screens()[task].views
    for view in views:
        given, lost = _asked_in_view(model, view, parts, parts.test, ask=ask, guessed=guessed, removals=removals)
        tables += given
        without |= lost
    trained = tuple(ViewTraining(view, PROMPTED, 0) for view in views)
    responses = ResponseTable.concat(tables)
    return ViewAnswers(model.subject_id, responses, parts.test, trained, _PROMPTED, without_words=without)


def _asked_in_view(
    model: Any,
    view: str,
    parts: ItemDivision,
    asked: tuple[Item, ...],
    *,
    ask: Ask,
    guessed: Sequence[Item],
    removals: Sequence[RemovalPlan],
) -> tuple[list[ResponseTable], dict[str, Answered]]:
    """What a model answers in a view, to guesses if it is the whole input, and to items without some of their words."""
    tables, without = [ask(model, asked, view, view)], dict[str, Answered]()
    for removal in removals:
        if removal.view == view:
            shown = [further.shown for further in removal.asked]
            given = ask(model, shown, view, f"{view}_without_words").where(measure="choice")
            columns = given.column("item_id").tolist(), given.column("option").tolist()
            without[view] = {item_id: (option, None) for item_id, option in zip(*columns, strict=True)}
    if view == "full" and guessed:
        tables.append(ask(model, guessed, GUESSED_WORD, GUESSED_WORD))
        # people may have been asked items that are not tested here
        behind = with_guesses(replace(parts, test=asked), guessed, parts.all_items)
        others = tuple(item.shown for item in behind if item.view == view)
        tables += [ask(model, others, view, "full_of_guessed")] if others else []
    return tables, without


def _select_model(
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
    elif plan.protocol == "zero_shot" and not is_retrieval(task):
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


def _view_training(selection: Selection, cut: Mapping[str, int]) -> ViewTraining:
    best = selection.best
    stepped = best.method not in ("threshold", "label") and best.best_epoch > 0
    chosen = f"rate {best.learning_rate:g}, seed {best.seed}" if stepped else ""
    n_train = 0 if best.method == "bi_encoder" and not stepped else best.n_train
    return ViewTraining(selection.view, best.method, n_train, cut, selection, chosen)


def _count_rows(parts: ItemDivision, items: Sequence[Item], views: Iterable[str], task: str) -> list[Row]:
    # of a search one of several right answers is as good as all of them
    return [
        (item, view, min(answer.split("|")) if is_retrieval(task) else answer)
        for view in views
        for item, answer in zip(items, counted_answers(parts, items, view), strict=True)
    ]


def _answer_table(rows: Sequence[Row], task: str, subject: str, kind: str) -> ResponseTable:
    items, views, options = zip(*rows, strict=True)
    measure = MEASURE_RETRIEVED if is_retrieval(task) else "choice"
    who = {"subject_id": subject, "subject_kind": kind, "task": task, "measure": measure}
    ids = [item.item_id for item in items]
    return ResponseTable.from_columns({**who, "item_id": ids, "option": options, "view": views})


def _unseen_words(parts: ItemDivision) -> Mapping[str, str]:
    return {"word": reason} if (reason := parts.unseen_words()) else {}


def _tell(progress: Progress | None, what: str, done: int, total: int) -> None:
    if progress is not None:
        progress(what, done, total)


# -- features of items from the vectors of an untrained encoder: the input of a linear probe -------------------------
# A usage has the vector of its target and that of its whole text, a definition that of its text; each is the mean over
# the layers, of length 1 in each. Two usages are described by both vectors, their absolute difference and their
# product. Both vectors are included as they are, so that the probe sees which word it is, and not only whether two
# words are near each other.


Floats = np.ndarray[Any, np.dtype[np.float64]]


def vector_features(items: Sequence[Item], further: Sequence[Item], view: str, encoder: UntrainedEncoder) -> Floats:
    """Return the features of pairs, or of usages with a definition, as a view shows them. *Shape: (both, features)*.

    ``label`` has no features. Every feature has mean 0 over the *items*, and together they have length 1 in the mean;
    *further* ones are centred and scaled in the same way.
    Errors: those of the encoder.
    """
    every = (*items, *further)
    if view == "label" or not items:
        return np.zeros((len(every), 0))
    usages = [usage for item in every for usage in _encoded_usages(item, view)]
    whole = [usage.target == usage.text.strip() for usage in usages]
    vectors = _mean_over_layers(encoder, encoder.readable(usages, whole))
    vectors_of_items = vectors.reshape(len(every), -1, vectors.shape[-1])
    if vectors_of_items.shape[1] > 1:
        # target, text, target, text of a pair; target, text, definition of one usage; the words alone
        first, second = (
            (vectors_of_items[:, :2], vectors_of_items[:, 2:])
            if vectors_of_items.shape[1] == 4
            else (vectors_of_items[:, :-1], vectors_of_items[:, -1:])
        )
        vectors_of_items = np.concatenate([vectors_of_items, np.abs(first - second), first * second], axis=1)
    features = vectors_of_items.reshape(len(every), -1)
    features = features - features[: len(items)].mean(axis=0)
    spread = features[: len(items)].std(axis=0)
    features = np.divide(features, spread, out=np.zeros_like(features), where=spread > 1e-9)
    return np.asarray(features / max(1.0, np.sqrt(features.shape[1])))


def n_cut(items: Sequence[Item], view: str, encoder: UntrainedEncoder) -> int:
    """Return of how many items a text is longer than what the encoder is given, as the view shows them.

    Errors: those of the encoder.
    """
    if view == "label" or not items:
        return 0
    return encoder.n_cut(list(dict.fromkeys(usage.text for usage in _encoded_usages(item, view))) for item in items)


def _encoded_usages(item: Item, view: str) -> list[Usage]:
    shown = view_item(item, view).usages
    usages = list(shown) if view == "word" else [own for usage in shown for own in (usage, whole_text(usage.text))]
    if "definition" in item.conditions:
        usages.append(whole_text(definition_of(item)))
    return usages


def _mean_over_layers(encoder: UntrainedEncoder, usages: Sequence[Usage]) -> Floats:
    distinct = {usage.key: usage for usage in usages}
    vectors = np.asarray(encoder.embed(tuple(distinct.values())), dtype=np.float64)
    lengths = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    means = (vectors / np.maximum(lengths, np.finfo(np.float64).tiny)).mean(axis=1)
    places = {key: place for place, key in enumerate(distinct)}
    return np.asarray(means[[places[usage.key] for usage in usages]])
