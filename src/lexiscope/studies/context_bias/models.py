"""Models of a dataset: one for each view, trained or fitted on that view alone, and asked the tested items in it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.collect import CollectProgress, collect
from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import Subject
from lexiscope.items.guessed_word import GUESS_OF
from lexiscope.items.planted_bias import look_up, texts_of
from lexiscope.items.splits import folded_word, sampled
from lexiscope.items.views import GUESSED_WORD, view_item
from lexiscope.studies.context_bias.material import (
    FOLDS,
    PAIR_TASKS,
    RETRIEVAL_TASKS,
    VIEWS,
    Answers,
    AuditSet,
    Trained,
)
from lexiscope.studies.context_bias.protocol import LOOK_UP, WORDS, Plan, plan_of
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.subjects._probe import UntrainedEncoder
from lexiscope.training.logistic import answered
from lexiscope.training.selection import Selection, run_selection
from lexiscope.training.shards import METHOD_OF_TASK
from lexiscope.training.text_features import text_features
from lexiscope.training.vector_features import n_cut, vector_features

_ZERO_SHOT_TASKS = ("same_sense", "sense_verification", "sense_disambiguation")
_COUNTED = "No model: it counts which answers stood beside the same shown texts in training."
"""What the learner that counts does, in words."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Where one model of one dataset keeps its trainings and answers, below the run folder."""

    run: Path
    name: str

    @property
    def shards(self) -> Path:
        """The trainings."""
        return self.run / "shards" / self.name

    def collected(self, view: str) -> Path:
        """The answers in one view."""
        return self.run / "collected" / self.name / view

    @property
    def plan(self) -> Path:
        """The plan that was made for a budget."""
        return self.run / "plans" / f"{self.name}.json"

    @property
    def vectors(self) -> Path:
        """What is the same in several views, kept while the model is at work: encodings, an encoder as it is."""
        return self.run / "vectors" / self.name


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
    """Train an encoder on every view of a dataset and ask each model the tested items, or go on with it.

    *guessed* are items with a guessed word (:mod:`lexiscope.items.guessed_word`): the model of the whole input is asked
    them with the guess in the word's place. *share*: as :func:`plan_of`.
    Errors: those of the trainings and of the subjects.
    """
    if encoder == LOOK_UP:
        return _counted(audit)
    if encoder == WORDS:
        return _of_words(audit, guessed, progress)
    place = Folders(out, f"{slug(audit.name)}--{slug(encoder)}")
    plan = plan_of(audit, encoder, settings, place.plan, share=share)
    subject = f"{_short(encoder)}, {plan.protocol.replace('_', '-')}"
    if plan.protocol == "linear":
        return _of_vectors(audit, encoder, subject, plan, settings, place, guessed, progress)
    asked = sampled(audit.test, plan.test_rows)
    tables, trained = [], []
    for view in audit.views if plan.protocol in ("zero_shot", "full") else VIEWS:
        if view == "label" and not plan.trained_label and audit.task in RETRIEVAL_TASKS:
            tables.append(_looked_up(audit, asked, view, subject))
            continue
        found = _selection(audit, encoder, view, plan, settings, place, _named(progress, f"{audit.name}, {view}"))
        shown = guessed if view == "full" else ()
        told, answers = _answered(audit, found, asked, shown, settings=settings, place=place, progress=progress)
        trained.append(told)
        tables += answers
    # large, and of no use once everything is answered
    shutil.rmtree(place.vectors, ignore_errors=True)
    responses = ResponseTable.concat(tables).with_column("subject_id", subject)
    ids = tuple(item.item_id for item in asked)
    blind = _unseen_words(audit.train, asked)
    if plan.protocol == "zero_shot" and audit.task == "same_sense":
        blind = {"word": _NEARNESS}
    return Answers(audit.name, subject, responses, tuple(trained), plan.words, plan.left_out, ids, blind)


def check_masks(encoders: Sequence[str], sets: Sequence[AuditSet]) -> None:
    """Check, before anything is trained, that every encoder can hide a target.

    Errors: :class:`CapabilityError` naming the first item that it could not be shown, and those of the encoder's files.
    """
    for encoder in encoders:
        if encoder in (LOOK_UP, WORDS):
            continue
        subject: Any = catalog.subject(f"encoder:{encoder}")
        try:
            # read for its refusal alone
            _ = subject.mask_token
        except CapabilityError as error:
            place = Place(item_id=sets[0].labelled[0].item_id)
            hint = "take an encoder that was trained with masks, such as minilm"
            raise CapabilityError(error.what, place=place, hint=hint) from error


def slug(name: str) -> str:
    """Return a name as a part of a file name.

    >>> slug("am2ico?language=zh"), slug("models/tiny")
    ('am2ico_language_zh', 'models_tiny')
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("_.")


def _short(encoder: str) -> str:
    return encoder.rstrip("/").rpartition("/")[2] or encoder


# -- trained --------------------------------------------------------------------------------------------------


def _selection(
    audit: AuditSet,
    encoder: str,
    view: str,
    plan: Plan,
    settings: ContextBiasSettings,
    place: Folders,
    progress: CollectProgress | None,
) -> Selection:
    """The grid of one view; without training, and without a model where nothing is seen, it has one cell."""
    method = METHOD_OF_TASK[audit.task]
    if view == "label" and not plan.trained_label:
        method = "label"
    elif plan.protocol == "zero_shot" and audit.task in _ZERO_SHOT_TASKS:
        method = "threshold"
    return run_selection(
        method,
        view,
        audit.train,
        audit.dev,
        encoder,
        out=place.shards,
        grid=plan.grid,
        settings=plan.settings(settings),
        task=audit.task,
        space=audit.space if method == "bi_encoder" else None,
        store=place.vectors,
        progress=progress,
    )


def _answered(
    audit: AuditSet,
    found: Selection,
    asked: Sequence[Item],
    guessed: Sequence[Item],
    *,
    settings: ContextBiasSettings,
    place: Folders,
    progress: CollectProgress | None,
) -> tuple[Trained, list[ResponseTable]]:
    """What the chosen model of a view came to, and its answers; its weights are read once, and for this view alone."""
    view, model = found.view, _chosen(found, settings, place)
    told = _trained(found, int(model.n_cut([view_item(item, view) for item in asked])))
    ask = partial(_asked, audit, model=model, seed=settings.seed, place=place, progress=progress)
    tables = [ask(asked, view=view)]
    if guessed:
        tables.append(ask(guessed, view=GUESSED_WORD))
        # people may have been asked items that are not tested here
        known, wanted = {item.item_id for item in asked}, {str(item.condition(GUESS_OF)) for item in guessed}
        others = tuple(item for item in audit.labelled if item.item_id in wanted - known)
        tables += [ask(others, view=view, folder="full_of_guessed")] if others else []
    return told, tables


def _chosen(found: Selection, settings: ContextBiasSettings, place: Folders) -> Any:
    """The model that was chosen on dev, as a subject."""
    spec = f"{found.best.spec}?device={settings.device}&threads={settings.threads}"
    if found.best.method == "threshold":
        spec = f"{spec}&store={place.vectors}"
    return catalog.subject(spec)


def _asked(
    audit: AuditSet,
    items: Sequence[Item],
    *,
    model: Subject,
    view: str,
    seed: int,
    place: Folders,
    progress: CollectProgress | None,
    folder: str = "",
) -> ResponseTable:
    out = place.collected(folder or view)
    return collect(items, [model], audit.task, views=(view,), out=out, seed=seed, progress=progress)


def _trained(found: Selection, test_cut: int) -> Trained:
    best = found.best
    dev = tuple(shard.dev_accuracy for shard in found.shards if shard.learning_rate == best.learning_rate)
    stepped = best.method not in ("threshold", "label") and best.best_epoch > 0
    chosen = f"rate {best.learning_rate:g}, seed {best.seed}" if stepped else ""
    learnt = 0 if best.method == "bi_encoder" and not stepped else best.n_train
    cut = {**best.cut, "test": test_cut}
    return Trained(found.view, best.method, best.monitor, dev, chosen, learnt, cut)


def _named(progress: CollectProgress | None, name: str) -> CollectProgress | None:
    if progress is None:
        return None

    def tell(part: str, done: int, total: int) -> None:
        progress(f"{name}, {part}", done, total)

    return tell


# -- learners that cost seconds -------------------------------------------------------------------------------


def learners(names: Sequence[str], task: str) -> tuple[str, ...]:
    """Return those of the named learners that can answer a task: words and characters are learnt of pairs alone."""
    return tuple(name for name in names if name != WORDS or task in PAIR_TASKS)


def _of_words(audit: AuditSet, guessed: Sequence[Item], progress: CollectProgress | None) -> Answers:
    """Words, letters, lengths and what two texts share, learnt from each view by itself."""
    tables = []
    for number, view in enumerate(audit.views):
        _tell(progress, f"{audit.name}, {_WORDS_SUBJECT}", number, len(audit.views))
        more = _more_asked(audit, guessed) if view == "full" else ()
        matrix = text_features((*audit.labelled, *(each.shown for each in more)), view).matrix
        tables.append(_learnt(audit, more, matrix, view, _WORDS_SUBJECT, "baseline"))
    _tell(progress, f"{audit.name}, {_WORDS_SUBJECT}", len(audit.views), len(audit.views))
    plan = (
        "A logistic regression on words, characters, lengths and what two texts share, trained on each view. It knows "
        "no meanings: a model that understands the texts may reach more with the whole input, and lower biases."
    )
    return _linear(audit, _WORDS_SUBJECT, tables, plan, (), audit.test)


def _of_vectors(
    audit: AuditSet,
    encoder: str,
    subject: str,
    plan: Plan,
    settings: ContextBiasSettings,
    place: Folders,
    guessed: Sequence[Item],
    progress: CollectProgress | None,
) -> Answers:
    """A linear probe on the vectors of an encoder that is not trained: it sees which word and which context it is."""
    train, dev = sampled(audit.train, plan.max_rows), sampled(audit.dev, plan.max_dev_rows)
    asked = audit.test if audit.folds else sampled(audit.test, plan.test_rows)
    some = replace(audit, train=train, dev=dev, test=asked)
    spec = f"encoder:{encoder}?device={settings.device}&threads={settings.threads}"
    reader = UntrainedEncoder(spec, place.vectors)
    tables = []
    cut: dict[str, dict[str, int]] = {}
    for number, view in enumerate(audit.views):
        _tell(progress, f"{audit.name}, {subject}", number, len(audit.views))
        parts = {"train": train, "dev": dev, "test": asked}
        cut[view] = {part: n_cut(own, view, reader) for part, own in parts.items()}
        more = _more_asked(some, guessed, known=audit.labelled) if view == "full" else ()
        items = (*some.labelled, *(each.shown for each in more))
        matrix = vector_features(items, view, reader)
        tables.append(_learnt(some, more, matrix, view, subject, "classifier"))
    _tell(progress, f"{audit.name}, {subject}", len(audit.views), len(audit.views))
    shutil.rmtree(place.vectors, ignore_errors=True)
    return _linear(some, subject, tables, plan.words, plan.left_out, asked, cut)


@dataclass(frozen=True, slots=True)
class _More:
    """An item that is asked beside the tested ones, as it is shown, in which view, and the item that it was made of."""

    shown: Item
    view: str
    origin: str


def _more_asked(audit: AuditSet, guessed: Sequence[Item], *, known: Sequence[Item] = ()) -> tuple[_More, ...]:
    """Guessed words in the place of the word, and the items they were made of as far as these are not tested."""
    tested, wanted = {item.item_id for item in audit.test}, {str(item.condition(GUESS_OF)) for item in guessed}
    others = [item for item in known or audit.labelled if item.item_id in wanted - tested]
    return (
        *(_More(view_item(item, GUESSED_WORD), GUESSED_WORD, str(item.condition(GUESS_OF))) for item in guessed),
        *(_More(item, "full", item.item_id) for item in others),
    )


def _learnt(audit: AuditSet, more: Sequence[_More], matrix: Any, view: str, subject: str, kind: str) -> ResponseTable:
    """The answers to the tested items, and to *more*: of folds each is learnt from the others, else from train and dev.

    The rows of *matrix* are those of the labelled items, then those of *more*; a guess is asked with its item.
    """
    items = audit.labelled
    rows, added = np.arange(len(items)), np.arange(len(items), len(items) + len(more))
    if audit.folds:
        folds, fold_of = np.array(audit.folds), dict(zip([item.item_id for item in items], audit.folds, strict=True))
        of_added = np.array([fold_of[each.origin] for each in more], dtype=np.int64)
        parts = [
            (
                rows[(folds != n) & (folds != (n + 1) % FOLDS)],
                rows[folds == (n + 1) % FOLDS],
                np.concatenate([rows[folds == n], added[of_added == n]]),
            )
            for n in range(FOLDS)
        ]
    else:
        learnt, chosen = len(audit.train), len(audit.train) + len(audit.dev)
        parts = [(rows[:learnt], rows[learnt:chosen], np.concatenate([rows[chosen:], added]))]
    golds = [str(item.gold) for item in (*items, *(each.shown for each in more))]
    answers = answered(matrix, golds, parts, refit=bool(audit.folds))
    tables = [_table(audit, audit.test, answers[: len(audit.test)], view, subject, kind)]
    for place, each in enumerate(more, start=len(audit.test)):
        tables.append(_table(audit, [each.shown], answers[place : place + 1], each.view, subject, kind))
    return ResponseTable.concat(tables)


def _linear(
    audit: AuditSet,
    subject: str,
    tables: Sequence[ResponseTable],
    plan: str,
    left_out: Sequence[str],
    asked: Sequence[Item],
    cut: Mapping[str, Mapping[str, int]] | None = None,
) -> Answers:
    n_train = len(asked) * (FOLDS - 1) // FOLDS if audit.folds else len(audit.train)
    trained = tuple(
        Trained(view, "logistic_regression", "", (), "", n_train, (cut or {}).get(view, {})) for view in audit.views
    )
    ids = tuple(item.item_id for item in asked)
    blind = {} if audit.folds else _unseen_words(audit.train, asked)
    return Answers(audit.name, subject, ResponseTable.concat(tables), trained, plan, tuple(left_out), ids, blind)


def _unseen_words(train: Sequence[Item], asked: Sequence[Item]) -> dict[str, str]:
    """WORD cannot be seen if no tested word was learnt from: a word that decides its label looks like any other."""
    known = {folded_word(item) for item in train}
    if any(folded_word(item) in known for item in asked):
        return {}
    return {"word": "no tested word occurs in training, so that a word that decides its label cannot be seen"}


_WORDS_SUBJECT = "words and characters"
_NEARNESS = "it compares the two words of a pair with each other and does not see which words they are"


def _tell(progress: CollectProgress | None, name: str, done: int, total: int) -> None:
    if progress is not None:
        progress(name, done, total)


# -- counted --------------------------------------------------------------------------------------------------


def _counted(audit: AuditSet) -> Answers:
    tables = [_looked_up(audit, audit.test, view, LOOK_UP) for view in VIEWS]
    ids = tuple(item.item_id for item in audit.test)
    blind = {view: told for view in ("context", "word") if (told := _unseen_texts(audit, view))}
    return Answers(audit.name, LOOK_UP, ResponseTable.concat(tables), plan=_COUNTED, asked=ids, blind=blind)


def _unseen_texts(audit: AuditSet, view: str) -> str:
    """Why the learner that counts cannot see a view: it recognises whole texts, and most of them are new to it."""
    seen = sum(
        sum(texts_of(item, view) in known for item in asked)
        for learnt, asked in _turns(audit)
        for known in [{texts_of(item, view) for item in learnt}]
    )
    n = len(audit.test)
    if 2 * seen >= n:
        return ""
    return f"it recognises whole texts, and those of {seen} of {n} tested items occur in training"


def _turns(audit: AuditSet) -> list[tuple[tuple[Item, ...], tuple[Item, ...]]]:
    """What is learnt from and what is then tested: once, or fold by fold."""
    if not audit.folds:
        return [(audit.train, audit.test)]
    marked = list(zip(audit.test, audit.folds, strict=True))
    return [
        (tuple(item for item, own in marked if own != fold), tuple(item for item, own in marked if own == fold))
        for fold in range(FOLDS)
    ]


def _looked_up(audit: AuditSet, items: Sequence[Item], view: str, subject: str) -> ResponseTable:
    found: dict[str, str] = {}
    wanted = {item.item_id for item in items}
    for learnt, tested in _turns(audit):
        asked = [item for item in tested if item.item_id in wanted]
        found |= dict(zip([item.item_id for item in asked], look_up(learnt, asked, view), strict=True))
    answers = [found[item.item_id] for item in items]
    if audit.task in RETRIEVAL_TASKS:
        # one of several right answers is as good as all of them
        answers = [min(answer.split("|")) for answer in answers]
    return _table(audit, items, answers, view, subject, "baseline")


def _table(
    audit: AuditSet, items: Sequence[Item], answers: Sequence[str], view: str, subject: str, kind: str
) -> ResponseTable:
    who = {"subject_id": subject, "subject_kind": kind, "task": audit.task, "measure": audit.measure}
    return ResponseTable.from_columns(
        {**who, "item_id": [item.item_id for item in items], "option": list(answers), "view": view}
    )
