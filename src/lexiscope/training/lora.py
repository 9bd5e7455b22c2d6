"""Fine-tuning a language model on people's ratings with LoRA: a folder that loads as a subject.

The model reads an item's question, as a chat model is asked it, and learns the number that people's mean rating rounds
to; the loss is on the tokens of that number alone. Only the adapter's weights change. A training that was broken off,
however it ended, goes on from its last checkpoint and ends with the same adapter. *Source:* AmbiStory §5.3.1.
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Unpack

import numpy as np

from lexiscope.analysis.correlation import correlation_value
from lexiscope.analysis.norms.within_sd import is_within_sd
from lexiscope.core.errors import StatisticError, require
from lexiscope.core.lock import folder_lock
from lexiscope.core.prompt import Prompting
from lexiscope.core.run import manifest, read_json, versions, write_atomically, write_json
from lexiscope.core.scale import Scale
from lexiscope.core.scoring import Doubles
from lexiscope.core.sealed import write_machine, write_sealed
from lexiscope.core.settings import Option
from lexiscope.subjects.local._adapter import CLAIM, CONFIG, RECORD, WEIGHTS
from lexiscope.subjects.local._chat_text import numbers_of, render
from lexiscope.subjects.local._loading import load_tokenizer, torch_threads
from lexiscope.training._checkpoint import FOLDER
from lexiscope.training._claim import Base, base_of, check_claim, deciding_versions, devices_of
from lexiscope.training._course import Progress, Steps, TrainingOutcome, TrainingPlace, pace_of, run_steps, seed_of
from lexiscope.training._lora_model import LoraModel
from lexiscope.training.lora_examples import Ask, TokenizedExample, check_lengths, examples_of, examples_sha256
from lexiscope.training.lora_settings import LoraSettings
from lexiscope.training.lora_split import Split
from lexiscope.training.lora_targets import RatedItem


@dataclass(frozen=True, slots=True)
class TrainingItems:
    """What is learnt: rated items in two parts, the scale of the ratings, and how a question is made of an item.

    ``task`` and ``prompting`` name the question in the record, for whoever asks the tuned model; ``checksums`` are the
    sha256 of the data files.
    """

    split: Split
    scale: Scale
    ask: Ask
    task: str
    prompting: Prompting = field(default_factory=Prompting)
    checksums: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class TunedModel:
    """A finished training: its folder, the course of its epochs, and the one whose weights were kept."""

    folder: Path
    history: tuple[EpochResult, ...]
    best_epoch: int
    stopped: str
    n_learnt: int

    @property
    def best(self) -> EpochResult:
        """What the kept epoch came to."""
        return self.history[self.best_epoch - 1]


def train_lora(
    material: TrainingItems,
    model: str,
    *,
    out: Path,
    settings: LoraSettings | None = None,
    seed: Annotated[int, Option("seed of the training", least=0)] = 0,
    command: Sequence[str] = (),
    progress: Progress | None = None,
) -> TunedModel:
    """Train an adapter on rated items and write it to a folder that ``causal_lm:`` and ``chat:`` load.

    *model*: a folder, or ``HUB_ID#REVISION``. *command* is what the user typed. The same call on the same folder does
    nothing where the training is finished and goes on where it was broken off; on one thread of a CPU both end with
    the same bytes.
    Errors: :class:`RunError` for a folder of another training, or a damaged checkpoint; :class:`SubjectError` for a
    model that cannot be read or an item that does not fit it; :class:`InputError` for ratings off the scale;
    :class:`MissingExtraError`.
    """
    begun, asked = time.monotonic(), settings or LoraSettings()
    require("peft", "train")
    torch = require("torch", "train")
    base = base_of(model)
    with (
        folder_lock(out),
        torch.random.fork_rng(devices=devices_of(torch, asked.device)),
        torch_threads(torch, asked.threads),
    ):
        lessons = _lessons(material, base, asked)
        claim = _claim(material, base, lessons, asked, seed)
        check_claim(out, claim, (CONFIG, WEIGHTS, RECORD, "config.json"))
        if not (out / RECORD).is_file():
            learner = LoraModel(base.folder, asked, start=seed_of(seed))
            check_lengths((*lessons.training, *lessons.validation), learner.longest)
            write_json(out / CLAIM, claim)
            where: TrainingPlace = {"seed": seed, "folder": out, "versions": deciding_versions(), "progress": progress}
            course = learn_adapter(learner, lessons, **where)
            _write(out, learner, base)
            about = _record(material, learner, course, claim, command)
            write_sealed(out / RECORD, about | {"files": manifest(out, [CONFIG, WEIGHTS, CLAIM])})
            write_machine(out, time.monotonic() - begun)
        _clear(out)
    return _finished(out)


# -- what is learnt -------------------------------------------------------------------------------------------


def _lessons(material: TrainingItems, base: Base, settings: LoraSettings) -> AdapterLessons:
    _, tokenizer = load_tokenizer(str(base.folder.path), trust_remote_code=False)
    training, validation = (
        examples_of(part, tokenizer, material.ask, material.scale, rounding=settings.rounding)
        for part in (material.split.training, material.split.validation)
    )
    return AdapterLessons(training, validation, _validation(material.split.validation, material.scale))


def _validation(items: Sequence[RatedItem], scale: Scale) -> Callable[[Doubles], tuple[float | None, float]]:
    means = np.array([rated.mean for rated in items])
    sds = np.array([rated.sd for rated in items])
    points = np.array(scale.points)

    def validate(scores: Doubles) -> tuple[float | None, float]:
        predicted = points[scores.argmax(axis=1)]
        within = is_within_sd(predicted, means, sds)
        try:
            rho: float | None = correlation_value(predicted, means, kind="spearman")
        except StatisticError:
            rho = None
        return rho, float(within.mean())

    return validate


# -- the folder -----------------------------------------------------------------------------------------------


def _claim(
    material: TrainingItems, base: Base, lessons: AdapterLessons, settings: LoraSettings, seed: int
) -> dict[str, Any]:
    """Return everything that decides the result but the versions of the libraries."""
    return {
        "base": base.told(),
        "task": material.task,
        "prompting": {name: getattr(material.prompting, name) for name in ("variant", "shots", "language")},
        "scale": list(numbers_of(material.scale)),
        "split": material.split.how,
        "examples": {
            "training": {"n": len(lessons.training), "sha256": examples_sha256(lessons.training)},
            "validation": {"n": len(lessons.validation), "sha256": examples_sha256(lessons.validation)},
        },
        "settings": settings.deciding(),
        "seed": seed,
    }


def _write(out: Path, learner: LoraModel, base: Base) -> None:
    safetensors = require("safetensors.torch", "models")
    config = learner.adapter_config(base=base.name, revision=base.revision)
    write_atomically(out / WEIGHTS, safetensors.save(learner.adapter(), metadata={"format": "pt"}))
    write_atomically(out / CONFIG, json.dumps(config, indent=2, sort_keys=True) + "\n")


def _record(
    material: TrainingItems,
    learner: LoraModel,
    course: TrainingOutcome,
    claim: Mapping[str, Any],
    command: Sequence[str],
) -> dict[str, Any]:
    split = material.split
    shown = render(learner.tokenizer, material.ask(split.training[0].item))
    return {
        **claim,
        "kind": "lora",
        "command": list(command),
        "checkpoint_steps": learner.settings.checkpoint_steps,
        "form": shown.form,
        "items": {
            "training": len(split.training),
            "validation": len(split.validation),
            "left_out": split.left_out,
            "words_in_both_parts": list(split.shared_words),
        },
        "data": dict(material.checksums or {}),
        "learnt_weights": learner.n_learnt,
        "history": [asdict(result) for result in course.history],
        "best_epoch": course.best_epoch,
        "stopped": course.stopped,
        "versions": versions() | deciding_versions(),
    }


def _finished(out: Path) -> TunedModel:
    about = read_json(out / RECORD)
    history = tuple(EpochResult(**each) for each in about["history"])
    return TunedModel(out, history, about["best_epoch"], about["stopped"], about["learnt_weights"])


def _clear(out: Path) -> None:
    """Delete the checkpoint of a finished training: it is several times the size of the adapter."""
    # with what a killed process may have begun to write there
    shutil.rmtree(out / FOLDER, ignore_errors=True)


# -- what an adapter learns from: examples, the loss on their numbers, the validation after an epoch ----------------


Validate = Callable[[Doubles], tuple[float | None, float]]
"""Takes the log-probabilities of the validation's numbers, gives Spearman's rho and the accuracy within SD."""


@dataclass(frozen=True, slots=True)
class EpochResult:
    """What an epoch came to.

    ``training_loss``: the mean over the number tokens seen in it, dropout on; ``validation_loss``: after it, dropout
    off (*unit:* nats). ``spearman`` with the mean ratings, ``None`` where every prediction was the same;
    ``accuracy_within_sd``: the share of predictions within the SD (at least 1) of the mean.
    """

    epoch: int
    training_loss: float
    validation_loss: float
    spearman: float | None
    accuracy_within_sd: float


@dataclass(frozen=True, slots=True)
class AdapterLessons:
    """What is learnt from and what it is measured on."""

    training: tuple[TokenizedExample, ...]
    validation: tuple[TokenizedExample, ...]
    validate: Validate


def learn_adapter(learner: LoraModel, lessons: AdapterLessons, **where: Unpack[TrainingPlace]) -> TrainingOutcome:
    """Train an adapter to the end, from the newest checkpoint in *folder*, and leave the best epoch's weights in it.

    Errors: those of :func:`~lexiscope.training._course.run_steps`.
    """
    return run_steps(_steps_of(learner, lessons, where["seed"]), pace_of(learner.settings), **where)


def _steps_of(learner: LoraModel, lessons: AdapterLessons, seed: int) -> Steps:
    settings, examples = learner.settings, lessons.training

    def batches(epoch: int) -> list[list[int]]:
        order = np.random.default_rng([seed, epoch]).permutation(len(examples)).tolist()
        return [order[begin : begin + settings.batch] for begin in range(0, len(order), settings.batch)]

    def loss(batch: Sequence[int]) -> tuple[Any, int]:
        # what the Trainer puts into training mode is the adapter alone
        learner.model.train()
        return learner.loss([examples[place] for place in batch])

    def labels(batch: Sequence[int]) -> Any:
        chosen = [examples[place] for place in batch]
        return learner.torch.tensor([token for example in chosen for token in example.answers[example.target]])

    return Steps(
        module=learner.adapter_module(),
        n_examples=len(examples),
        n_batches=math.ceil(len(examples) / settings.batch),
        batches=batches,
        loss=loss,
        measure=lambda epoch, mean: _measured(learner, lessons, epoch, mean),
        figure=lambda result: _figure(result, settings.monitor),
        result=EpochResult,
        monitor=settings.monitor,
        parts=settings.effective_batch // settings.batch,
        labels=labels,
    )


def _measured(learner: LoraModel, lessons: AdapterLessons, epoch: int, training_loss: float) -> EpochResult:
    examples = lessons.validation
    scores = learner.log_probabilities(examples)
    targets = [example.target for example in examples]
    tokens = sum(len(example.answers[example.target]) for example in examples)
    rho, accuracy = lessons.validate(scores)
    loss = -float(scores[np.arange(len(examples)), targets].sum()) / tokens
    return EpochResult(epoch, training_loss, loss, rho, accuracy)


def _figure(result: EpochResult, monitor: str) -> float:
    """Return the figure that decides, turned so that higher is better; an undefined one is never better."""
    if monitor == "loss":
        return -result.validation_loss
    found = result.spearman if monitor == "spearman" else result.accuracy_within_sd
    return -math.inf if found is None else found
