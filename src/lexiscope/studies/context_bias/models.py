"""Models of a dataset: one for each view, trained or fitted on that view alone, and asked the tested items in it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from lexiscope.collect import CollectProgress, collect
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.items.divided import Divided
from lexiscope.items.guessed_word import GUESS_OF
from lexiscope.items.splits import sampled
from lexiscope.items.views import GUESSED_WORD, view_item
from lexiscope.studies.context_bias.sets import RETRIEVAL_TASKS, VIEWS, AuditSet
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.subjects._probe import UntrainedEncoder
from lexiscope.training.budget import read_duration
from lexiscope.training.plans import Plan, budget_plan, plan_for
from lexiscope.training.selection import Selection, run_selection
from lexiscope.training.settings import TrainingSettings
from lexiscope.training.shards import METHOD_OF_TASK
from lexiscope.training.text_features import text_features
from lexiscope.training.vector_features import n_cut, vector_features
from lexiscope.training.view_learners import counted_answers, regression_answers, unseen_texts, with_guesses

LOOK_UP = "look_up"
"""The learner that counts: it needs no model, and sees what a view shows and nothing else."""
WORDS = "words"
"""The learner of words and characters: it needs no model, and is trained on each view in seconds."""

_WORDS_SUBJECT = "words and characters"
_OF_WORDS = (
    "A logistic regression on words, characters, lengths and what two texts share, trained on each view. It knows no "
    "meanings: a model that understands the texts may reach more with the whole input, and lower biases."
)
_COUNTED = "No model: it counts which answers stood beside the same shown texts in training."
_NEARNESS = "it compares the two words of a pair with each other and does not see which words they are"
_ZERO_SHOT_TASKS = ("same_sense", "sense_verification", "sense_disambiguation")

_Row = tuple[Item, str, str]
"""An item, the view in which it is asked, and the answer."""
Features = Callable[[Sequence[Item], str], Any]
"""The features of items in a view: a dense or sparse matrix. *Shape:* (items, features)."""


@dataclass(frozen=True, slots=True)
class Trained:
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
class Answers:
    """What one model answered to the tested items of one dataset, in all views, and how it had learnt them.

    ``asked`` are the tested items that were asked, ``blind`` the views that the model cannot see, each with the reason.
    """

    dataset: str
    subject: str
    responses: ResponseTable
    asked: tuple[Item, ...]
    trained: tuple[Trained, ...] = ()
    plan: str = ""
    left_out: tuple[str, ...] = ()
    blind: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Job:
    """An encoder on a dataset, in the folder of the run."""

    audit: AuditSet
    encoder: str
    settings: ContextBiasSettings
    out: Path
    guessed: Sequence[Item]
    progress: CollectProgress | None

    def folder(self, kind: str) -> Path:
        """Where the trainings (``shards``), the answers (``collected``) or the encodings (``vectors``) are kept."""
        return self.out / kind / f"{_slug(self.audit.name)}--{_slug(self.encoder)}"

    def tell(self, name: str, done: int, total: int) -> None:
        """Report the progress."""
        if self.progress is not None:
            self.progress(f"{self.audit.name}, {name}", done, total)


def check_protocol(settings: ContextBiasSettings) -> None:
    """Check that a budget is a duration, and that there is no protocol in addition to it: each of them decides.

    Errors: :class:`InputError`.
    """
    if settings.budget:
        read_duration(settings.budget)
    if settings.budget and settings.protocol != "auto":
        what = f"the budget {settings.budget} chooses the protocol, and {settings.protocol} is one"
        raise InputError(what, hint="give --budget or --protocol, not both")


def model_answers(
    audit: AuditSet,
    encoder: str,
    settings: ContextBiasSettings,
    out: Path,
    *,
    share: int = 1,
    guessed: Sequence[Item] = (),
    progress: CollectProgress | None = None,
) -> Answers:
    """Train an encoder on every view of a dataset and ask each model the tested items, or continue with it.

    *guessed* are items with a guessed word (:mod:`lexiscope.items.guessed_word`): the model of the whole input is asked
    them with the guess in the word's place. *share* is the number of (dataset, encoder) among which a budget is
    divided, in equal parts. Errors: those of the trainings and of the subjects.
    """
    job = _Job(audit, encoder, settings, out, guessed, progress)
    if encoder == LOOK_UP:
        return _counted(audit)
    if encoder == WORDS:
        return _fitted(job, audit.parts, _text_matrix, _WORDS_SUBJECT, "baseline", _OF_WORDS)
    plan = _plan(job, share)
    subject = f"{encoder.rstrip('/').rpartition('/')[2] or encoder}, {plan.protocol.replace('_', '-')}"
    found = _probed(job, plan, subject) if plan.protocol == "linear" else _trained(job, plan, subject)
    # large, and of no use once everything is answered
    shutil.rmtree(job.folder("vectors"), ignore_errors=True)
    return found


def _plan(job: _Job, share: int) -> Plan:
    audit, settings = job.audit, job.settings
    training = TrainingSettings(threads=settings.threads, device=settings.device)
    if not settings.budget:
        return plan_for(settings.protocol, audit.parts, audit.task, settings=training)
    folder = job.folder("plans")
    return budget_plan(
        audit.parts, audit.task, job.encoder, VIEWS, budget=settings.budget, share=share,
        kept=folder.with_name(f"{folder.name}.json"), settings=training, space=audit.space,
    )  # fmt: skip


# -- trained in steps, or a threshold chosen --------------------------------------------------------------------


def _trained(job: _Job, plan: Plan, subject: str) -> Answers:
    audit = job.audit
    tables: list[ResponseTable] = []
    trained: list[Trained] = []
    asked = sampled(audit.test, plan.test_rows)
    for view in audit.views if plan.protocol in ("zero_shot", "full") else VIEWS:
        if view == "label" and not plan.trained_label and audit.task in RETRIEVAL_TASKS:
            tables.append(_looked_up(audit, asked, (view,), subject))
            continue
        found = _selected(job, plan, view)
        spec = f"{found.best.spec}?device={job.settings.device}&threads={job.settings.threads}"
        if found.best.method == "threshold":
            spec = f"{spec}&store={job.folder('vectors')}"
        model: Any = catalog.subject(spec)

        def ask(items: Sequence[Item], view: str, folder: str = "", model: Any = model) -> ResponseTable:
            kept = job.folder("collected") / (folder or view)
            return collect(
                items, [model], audit.task, views=(view,), out=kept, seed=job.settings.seed, progress=job.progress
            )

        cut = {**found.best.cut, "test": int(model.n_cut([view_item(item, view) for item in asked]))}
        trained.append(_training(found, cut))
        tables.append(ask(asked, view))
        if view == "full" and job.guessed:
            tables.append(ask(job.guessed, GUESSED_WORD))
            # people may have been asked items that are not tested here
            known, wanted = {item.item_id for item in asked}, {str(item.condition(GUESS_OF)) for item in job.guessed}
            others = tuple(item for item in audit.parts.labelled if item.item_id in wanted - known)
            tables += [ask(others, view, "full_of_guessed")] if others else []
    responses = ResponseTable.concat(tables).with_column("subject_id", subject)
    blind = _unseen(replace(audit.parts, test=asked))
    if plan.protocol == "zero_shot" and audit.task == "same_sense":
        blind = {"word": _NEARNESS}
    return Answers(audit.name, subject, responses, asked, tuple(trained), plan.how, plan.left_out, blind)


def _selected(job: _Job, plan: Plan, view: str) -> Selection:
    """The grid of one view; without training, and without a model if nothing is seen, it has one cell."""
    audit = job.audit
    method = METHOD_OF_TASK[audit.task]
    if view == "label" and not plan.trained_label:
        method = "label"
    elif plan.protocol == "zero_shot" and audit.task in _ZERO_SHOT_TASKS:
        method = "threshold"
    return run_selection(
        method, view, audit.parts.train, audit.parts.dev, job.encoder, out=job.folder("shards"), grid=plan.grid,
        settings=plan.settings, task=audit.task, space=audit.space if method == "bi_encoder" else None,
        store=job.folder("vectors"), progress=lambda part, done, total: job.tell(f"{view}, {part}", done, total),
    )  # fmt: skip


def _training(found: Selection, cut: Mapping[str, int]) -> Trained:
    best = found.best
    stepped = best.method not in ("threshold", "label") and best.best_epoch > 0
    chosen = f"rate {best.learning_rate:g}, seed {best.seed}" if stepped else ""
    n_train = 0 if best.method == "bi_encoder" and not stepped else best.n_train
    return Trained(found.view, best.method, n_train, cut, found, chosen)


# -- learners that cost seconds -------------------------------------------------------------------------------


def _probed(job: _Job, plan: Plan, subject: str) -> Answers:
    """A linear probe on the vectors of an encoder that is not trained: it sees which word and which context it is."""
    parts, rows = job.audit.parts, plan.settings
    test = parts.test if parts.folds else sampled(parts.test, plan.test_rows)
    train, dev = sampled(parts.train, rows.max_rows), sampled(parts.dev, rows.max_dev_rows)
    parts = replace(parts, train=train, dev=dev, test=test)
    spec = f"encoder:{job.encoder}?device={job.settings.device}&threads={job.settings.threads}"
    reader = UntrainedEncoder(spec, job.folder("vectors"))
    cut = {
        view: {name: n_cut(own, view, reader) for name, own in (("train", train), ("dev", dev), ("test", test))}
        for view in job.audit.views
    }
    features = partial(vector_features, encoder=reader)
    return _fitted(job, parts, features, subject, "classifier", plan.how, plan.left_out, cut)


def _text_matrix(items: Sequence[Item], view: str) -> Any:
    return text_features(items, view).matrix


def _fitted(
    job: _Job,
    parts: Divided,
    features: Features,
    subject: str,
    kind: str,
    how: str,
    left_out: tuple[str, ...] = (),
    cut: Mapping[str, Mapping[str, int]] | None = None,
) -> Answers:
    """A logistic regression on the features of each view by itself."""
    audit, n_test = job.audit, len(parts.test)
    rows: list[_Row] = []
    for number, view in enumerate(audit.views):
        job.tell(subject, number, len(audit.views))
        further = with_guesses(parts, job.guessed, audit.parts.labelled) if view == "full" else ()
        matrix = features((*parts.labelled, *(one.shown for one in further)), view)
        answers = regression_answers(parts, matrix, further)
        asked = [*((item, view) for item in parts.test), *((one.shown, one.view) for one in further)]
        rows += [(*one, answer) for one, answer in zip(asked, answers, strict=True)]
    job.tell(subject, len(audit.views), len(audit.views))
    n_train = n_test * (parts.n_folds - 1) // parts.n_folds if parts.folds else len(parts.train)
    trained = tuple(Trained(view, "logistic_regression", n_train, (cut or {}).get(view, {})) for view in audit.views)
    responses = _responses(audit, rows, subject, kind)
    return Answers(audit.name, subject, responses, parts.test, trained, how, left_out, _unseen(parts))


def _counted(audit: AuditSet) -> Answers:
    responses = _looked_up(audit, audit.test, VIEWS, LOOK_UP)
    blind = {view: told for view in ("context", "word") if (told := unseen_texts(audit.parts, view))}
    return Answers(audit.name, LOOK_UP, responses, audit.test, plan=_COUNTED, blind=blind)


def _looked_up(audit: AuditSet, items: Sequence[Item], views: Sequence[str], subject: str) -> ResponseTable:
    rows: list[_Row] = []
    for view in views:
        for item, answer in zip(items, counted_answers(audit.parts, items, view), strict=True):
            # of a search one of several right answers is as good as all of them
            rows.append((item, view, min(answer.split("|")) if audit.task in RETRIEVAL_TASKS else answer))
    return _responses(audit, rows, subject, "baseline")


def _responses(audit: AuditSet, rows: Sequence[_Row], subject: str, kind: str) -> ResponseTable:
    items, views, options = zip(*rows, strict=True)
    who = {"subject_id": subject, "subject_kind": kind, "task": audit.task, "measure": audit.measure}
    ids = [item.item_id for item in items]
    return ResponseTable.from_columns({**who, "item_id": ids, "option": options, "view": views})


def _unseen(parts: Divided) -> Mapping[str, str]:
    return {"word": told} if (told := parts.unseen_words()) else {}


def _slug(name: str) -> str:
    """A name as a part of a file name: ``am2ico?language=zh`` is ``am2ico_language_zh``."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("_.")
