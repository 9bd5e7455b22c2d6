"""Models of a dataset: one for each view, trained or fitted on that view alone, and asked the tested items in it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lexiscope.collect import CollectProgress, collect
from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.study import StudySettings
from lexiscope.core.subject import Subject
from lexiscope.items.guessed_word import GUESS_OF
from lexiscope.items.planted_bias import look_up
from lexiscope.items.splits import sampled
from lexiscope.items.views import GUESSED_WORD, view_item
from lexiscope.studies.context_bias.material import RETRIEVAL_TASKS, VIEWS, Answers, AuditSet, Trained
from lexiscope.studies.context_bias.protocol import LOOK_UP, Plan, plan_of
from lexiscope.training.selection import Selection, run_selection
from lexiscope.training.shards import METHOD_OF_TASK

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
    settings: StudySettings,
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
    place = Folders(out, f"{slug(audit.name)}--{slug(encoder)}")
    plan = plan_of(audit, encoder, settings, place.plan, share=share)
    subject = f"{_short(encoder)}, {plan.protocol.replace('_', '-')}"
    asked = sampled(audit.test, plan.test_rows)
    tables, trained = [], []
    for view in VIEWS:
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
    return Answers(audit.name, subject, responses, tuple(trained), plan.words, plan.left_out, ids)


def check_masks(encoders: Sequence[str], sets: Sequence[AuditSet]) -> None:
    """Check, before anything is trained, that every encoder can hide a target.

    Errors: :class:`CapabilityError` naming the first item that it could not be shown, and those of the encoder's files.
    """
    for encoder in encoders:
        if encoder == LOOK_UP:
            continue
        subject: Any = catalog.subject(f"encoder:{encoder}")
        try:
            # read for its refusal alone
            _ = subject.mask_token
        except CapabilityError as error:
            place = Place(item_id=sets[0].train[0].item_id)
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
    settings: StudySettings,
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
    settings: StudySettings,
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


def _chosen(found: Selection, settings: StudySettings, place: Folders) -> Any:
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


# -- counted --------------------------------------------------------------------------------------------------


def _counted(audit: AuditSet) -> Answers:
    tables = [_looked_up(audit, audit.test, view, LOOK_UP) for view in VIEWS]
    ids = tuple(item.item_id for item in audit.test)
    return Answers(audit.name, LOOK_UP, ResponseTable.concat(tables), plan=_COUNTED, asked=ids)


def _looked_up(audit: AuditSet, items: Sequence[Item], view: str, subject: str) -> ResponseTable:
    answers = look_up(audit.train, items, view)
    if audit.task in RETRIEVAL_TASKS:
        # one of several right answers is as good as all of them
        answers = tuple(min(answer.split("|")) for answer in answers)
    who = {"subject_id": subject, "subject_kind": "baseline", "task": audit.task, "measure": audit.measure}
    return ResponseTable.from_columns(
        {**who, "item_id": [item.item_id for item in items], "option": list(answers), "view": view}
    )
