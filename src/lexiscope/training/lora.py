"""Fine-tuning a language model on people's ratings with LoRA: its examples, and a folder that loads as a subject.

The model reads an item's question, as a chat model is asked it, and learns the number that people's mean rating rounds
to; the loss is on the tokens of that number alone. Only the adapter's weights change. A training that was interrupted,
for any reason, continues from its last checkpoint and ends with the same adapter. *Source:* AmbiStory §5.3.1.
"""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal, Unpack

import numpy as np

from lexiscope.analysis.correlation import correlation_value
from lexiscope.analysis.norms.within_sd import is_within_sd
from lexiscope.core.errors import InputError, Place, StatisticError, SubjectError, require
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, Prompting
from lexiscope.core.run import folder_lock, manifest, read_json, versions, write_atomically, write_json
from lexiscope.core.scale import Scale
from lexiscope.core.scoring import Doubles
from lexiscope.core.sealed import write_machine, write_sealed
from lexiscope.core.settings import Option
from lexiscope.items.arrange.splits import condition, in_several_parts, split_by_word
from lexiscope.subjects.local._adapter import CLAIM, CONFIG, RECORD, WEIGHTS
from lexiscope.subjects.local._loading import device_of, dtype_of, load_model, load_tokenizer, longest_of
from lexiscope.subjects.local._local_chat import answer_tokens, point_texts, render_question
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.training._base import Base, base_of, check_claim, deciding_versions, isolated_torch
from lexiscope.training._checkpoint import FOLDER
from lexiscope.training._steps import (
    Progress,
    Steps,
    TrainingOutcome,
    TrainingPlace,
    run_steps,
    seed_of,
    step_settings_of,
)
from lexiscope.training.lora_settings import LoraSettings, Rounding


@dataclass(frozen=True, slots=True)
class TrainingItems:
    """What is learnt: rated items in two parts, the scale of the ratings, and how a question is made of an item.

    ``task`` and ``prompting`` name the question in the record, by which the tuned model is asked; ``checksums`` are the
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
        """The result of the kept epoch."""
        return self.history[self.best_epoch - 1]


def train_lora(
    data: TrainingItems,
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
    nothing if the training is finished and continues it if it was interrupted; on one thread of a CPU the resulting
    files are identical.
    Errors: :class:`RunError` for a folder of another training, or a damaged checkpoint; :class:`SubjectError` for a
    model that cannot be read or an item that does not fit it; :class:`InputError` for ratings off the scale;
    :class:`MissingExtraError`.
    """
    begun, asked = time.monotonic(), settings or LoraSettings()
    require("peft", "train")
    base = base_of(model)
    with isolated_torch(asked.device, asked.threads), folder_lock(out):
        lessons = _adapter_examples(data, base, asked)
        claim = _claim(data, base, lessons, asked, seed)
        check_claim(out, claim, (CONFIG, WEIGHTS, RECORD, "config.json"))
        if not (out / RECORD).is_file():
            learner = LoraModel(base.folder, asked, start=seed_of(seed))
            check_lengths((*lessons.training, *lessons.validation), learner.longest)
            write_json(out / CLAIM, claim)
            where: TrainingPlace = {"seed": seed, "folder": out, "versions": deciding_versions(), "progress": progress}
            course = learn_adapter(learner, lessons, **where)
            safetensors = require("safetensors.torch", "models")
            write_atomically(out / WEIGHTS, safetensors.save(learner.adapter(), metadata={"format": "pt"}))
            config = learner.adapter_config(base=base.name, revision=base.revision)
            write_atomically(out / CONFIG, json.dumps(config, indent=2, sort_keys=True) + "\n")
            about = _record(data, learner, course, claim, command)
            write_sealed(out / RECORD, about | {"files": manifest(out, [CONFIG, WEIGHTS, CLAIM])})
            write_machine(out, time.monotonic() - begun)
        # several times the size of the adapter; with what a killed process may have begun to write there
        shutil.rmtree(out / FOLDER, ignore_errors=True)
    about = read_json(out / RECORD)
    history = tuple(EpochResult(**epoch) for epoch in about["history"])
    return TunedModel(out, history, about["best_epoch"], about["stopped"], about["learnt_weights"])


# -- what is learnt -------------------------------------------------------------------------------------------


def _adapter_examples(data: TrainingItems, base: Base, settings: LoraSettings) -> AdapterExamples:
    _, tokenizer = load_tokenizer(str(base.folder.path), trust_remote_code=False)
    training, validation = (
        examples_of(part, tokenizer, data.ask, data.scale, rounding=settings.rounding)
        for part in (data.split.training, data.split.validation)
    )
    return AdapterExamples(training, validation, _validation(data.split.validation, data.scale))


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
    data: TrainingItems, base: Base, lessons: AdapterExamples, settings: LoraSettings, seed: int
) -> dict[str, Any]:
    """Return everything that decides the result but the versions of the libraries."""
    return {
        "base": base.record(),
        "task": data.task,
        "prompting": {name: getattr(data.prompting, name) for name in ("variant", "shots", "language")},
        "scale": list(point_texts(data.scale)),
        "split": data.split.how,
        "examples": {
            "training": {"n": len(lessons.training), "sha256": examples_sha256(lessons.training)},
            "validation": {"n": len(lessons.validation), "sha256": examples_sha256(lessons.validation)},
        },
        "settings": settings.deciding_values(),
        "seed": seed,
    }


def _record(
    data: TrainingItems,
    learner: LoraModel,
    course: TrainingOutcome,
    claim: Mapping[str, Any],
    command: Sequence[str],
) -> dict[str, Any]:
    split = data.split
    shown = render_question(learner.tokenizer, data.ask(split.training[0].item))
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
        "data": dict(data.checksums or {}),
        "learnt_weights": learner.n_learnt,
        "history": [asdict(result) for result in course.history],
        "best_epoch": course.best_epoch,
        "stopped": course.stopped,
        "versions": versions() | deciding_versions(),
    }


# -- what an adapter learns from: examples, the loss on their numbers, the validation after an epoch ----------------


Validate = Callable[[Doubles], tuple[float | None, float]]
"""Takes the log-probabilities of the validation's numbers, gives Spearman's rho and the accuracy within SD."""


@dataclass(frozen=True, slots=True)
class EpochResult:
    """The result of an epoch.

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
class AdapterExamples:
    """What is learnt from and what it is measured on."""

    training: tuple[TokenizedExample, ...]
    validation: tuple[TokenizedExample, ...]
    validate: Validate


def learn_adapter(learner: LoraModel, lessons: AdapterExamples, **where: Unpack[TrainingPlace]) -> TrainingOutcome:
    """Train an adapter to the end, from the newest checkpoint in *folder*, and leave the best epoch's weights in it.

    Errors: those of :func:`~lexiscope.training._steps.run_steps`.
    """
    return run_steps(_steps_of(learner, lessons, where["seed"]), step_settings_of(learner.settings), **where)


def _steps_of(learner: LoraModel, lessons: AdapterExamples, seed: int) -> Steps:
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

    def figure(result: EpochResult) -> float:
        # higher is better; an undefined figure is never better
        if settings.monitor == "loss":
            return -result.validation_loss
        value = result.spearman if settings.monitor == "spearman" else result.accuracy_within_sd
        return -math.inf if value is None else value

    return Steps(
        module=learner.adapter_module(),
        n_examples=len(examples),
        n_batches=math.ceil(len(examples) / settings.batch),
        batches=batches,
        loss=loss,
        measure=lambda epoch, mean: _validate_epoch(learner, lessons, epoch, mean),
        figure=figure,
        result=EpochResult,
        monitor=settings.monitor,
        parts=settings.effective_batch // settings.batch,
        labels=labels,
    )


def _validate_epoch(learner: LoraModel, lessons: AdapterExamples, epoch: int, training_loss: float) -> EpochResult:
    examples = lessons.validation
    scores = learner.log_probabilities(examples)
    targets = [example.target for example in examples]
    tokens = sum(len(example.answers[example.target]) for example in examples)
    rho, accuracy = lessons.validate(scores)
    loss = -float(scores[np.arange(len(examples)), targets].sum()) / tokens
    return EpochResult(epoch, training_loss, loss, rho, accuracy)


# -- a base model with an adapter that learns: its loss on the numbers, their log-probabilities, its weights ---------
# Examples of a batch are padded on the right without a mask: a causal model never looks right.


class LoraModel:
    """A base model whose own weights do not change, with an adapter whose weights are learnt.

    ``tokenizer`` is that of transformers; ``longest`` the most tokens that the model reads; ``parameters`` the weights
    that are learnt, by name. *start* is the seed of the adapter's first weights.
    Errors: :class:`SubjectError` where the model has no such modules; :class:`MissingExtraError`.
    """

    def __init__(self, folder: ModelFolder, settings: LoraSettings, *, start: int) -> None:
        self.torch, self.settings = require("torch", "train"), settings
        self._peft = require("peft", "train")
        place = str(folder.path)
        _, self.tokenizer = load_tokenizer(place, trust_remote_code=False)
        base = load_model(place, trust_remote_code=False, auto="AutoModelForCausalLM")
        self.longest = longest_of(base, int(self.tokenizer.model_max_length))
        base = base.to(dtype_of(self.torch, settings.dtype)).to(device_of(self.torch, settings.device))
        self.torch.manual_seed(start)
        self._wrapped = self._wrap(base, place)
        # the model itself, with the adapter inside its layers
        self.model = self._wrapped.get_base_model()
        if settings.gradient_checkpointing:
            # transformers 5 gave it another name
            enable = getattr(self.model, "activation_checkpointing_enable", None)
            (enable or self.model.gradient_checkpointing_enable)({"use_reentrant": False})
        self.parameters = {name: weight for name, weight in self._wrapped.named_parameters() if weight.requires_grad}
        self._keeps = "logits_to_keep" in signature(self.model.forward).parameters

    def _wrap(self, base: Any, place: str) -> Any:
        asked = self.settings
        config = self._peft.LoraConfig(
            task_type="CAUSAL_LM",
            r=asked.r,
            lora_alpha=asked.alpha,
            lora_dropout=asked.dropout,
            target_modules=list(asked.target_modules),
            bias="none",
        )
        try:
            return self._peft.get_peft_model(base, config)
        except ValueError as error:
            linear = {
                name.rpartition(".")[2] for name, module in base.named_modules() if hasattr(module, "in_features")
            }
            raise SubjectError(
                f"this model has no modules {', '.join(asked.target_modules)}",
                place=Place(place),
                why=str(error).strip().splitlines()[0][:200],
                hint=f"choose among its linear modules: {', '.join(sorted(linear - {'lm_head'})) or 'it has none'}",
            ) from error

    @property
    def n_learnt(self) -> int:
        """The number of weights that are learnt."""
        return sum(int(weight.numel()) for weight in self.parameters.values())

    def loss(self, examples: Sequence[TokenizedExample]) -> tuple[Any, int]:
        """Return the summed loss on the number tokens of some examples, ready for its gradient, and their count.

        *Unit:* nats. The loss is on the tokens whose label is not masked, and on no others.
        """
        wanted = [
            (row, place - 1, label)
            for row, example in enumerate(examples)
            for place, label in enumerate(example.labels)
            if label != MASKED
        ]
        logits = self._logits([example.ids for example in examples], [(row, place) for row, place, _ in wanted])
        labels = self.torch.tensor([label for _, _, label in wanted], device=logits.device)
        return self.torch.nn.functional.cross_entropy(logits, labels, reduction="sum"), len(wanted)

    def log_probabilities(self, examples: Sequence[TokenizedExample]) -> Doubles:
        """Return the log-probability of every number as the answer of every example, without dropout.

        *Shape:* (examples, points of the scale). *Unit:* nats. *Higher means:* more probable.
        """
        self.model.eval()
        size = self.settings.batch
        with self.torch.inference_mode():
            parts = [self._numbers(examples[begin : begin + size]) for begin in range(0, len(examples), size)]
        return np.concatenate(parts)

    def _numbers(self, examples: Sequence[TokenizedExample]) -> Doubles:
        """The log-probabilities of the numbers for one batch, each the sum over the number's tokens."""
        sums = np.zeros((len(examples), len(examples[0].answers)))
        rows: list[tuple[int, ...]] = []
        wanted, targets = [], []
        for number, example in enumerate(examples):
            # numbers of one token need the question alone, which is then read once for all of them
            single = all(len(answer) == 1 for answer in example.answers)
            rows += [example.prompt] if single else [(*example.prompt, *answer[:-1]) for answer in example.answers]
            first = len(rows) - (1 if single else len(example.answers))
            for point, answer in enumerate(example.answers):
                for step, token in enumerate(answer):
                    wanted.append((first + (0 if single else point), len(example.prompt) - 1 + step))
                    targets.append((number, point, token))
        scores = self.torch.log_softmax(self._logits(rows, wanted), dim=-1)
        for place, (number, point, token) in enumerate(targets):
            sums[number, point] += float(scores[place, token])
        return sums

    def _logits(self, rows: Sequence[Sequence[int]], wanted: Sequence[tuple[int, int]]) -> Any:
        """Return the logits after certain places (row, position) of some rows of tokens. *Shape:* (wanted, words)."""
        torch, device = self.torch, self.settings.device
        width = max(map(len, rows))
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
        places = sorted({place for _, place in wanted})
        # the logits of a whole question would be many times its hidden states
        keep = {"logits_to_keep": torch.tensor(places, device=device)} if self._keeps else {}
        logits = self.model(input_ids=ids.to(device), use_cache=False, **keep).logits
        column = {place: number if self._keeps else place for number, place in enumerate(places)}
        where = torch.tensor([(row, column[place]) for row, place in wanted], device=device)
        return logits[where[:, 0], where[:, 1]].float()

    # -- the adapter ------------------------------------------------------------------------------------------

    def adapter_module(self) -> Any:
        """Return a module of the weights that are learnt and no others: the state of a training is as small as they."""
        # a name of a module has no full stop
        return self.torch.nn.ParameterDict({name.replace(".", "/"): weight for name, weight in self.parameters.items()})

    def adapter(self) -> dict[str, Any]:
        """Return the adapter's weights under the names that peft reads."""
        state = self._peft.get_peft_model_state_dict(self._wrapped)
        return {name: weight.detach().cpu().contiguous() for name, weight in sorted(state.items())}

    def adapter_config(self, *, base: str, revision: str) -> dict[str, Any]:
        """Return the adapter's configuration as peft reads it."""
        config = self._wrapped.peft_config["default"].to_dict()
        named = {"base_model_name_or_path": base, "revision": revision or None, "inference_mode": True}
        # of one of peft's enumerated words its text
        return {
            name: sorted(value) if isinstance(value, set) else getattr(value, "value", value)
            for name, value in (config | named).items()
        }


# -- lora examples --------------------------------------------------------------------------------------------------
# What an adapter learns from: rated items in two parts, and of each its question and its number as token ids.
#
# Only the tokens of the number are learnt.


MASKED = -100
"""The label of a token on which there is no loss."""
Ask = Callable[[Item], ChatQuestion]
"""Makes the question of an item, as a task's ``asks`` does."""


@dataclass(frozen=True, slots=True)
class TokenizedExample:
    """A question and its answer as token ids.

    ``prompt``: up to the number. ``answers``: the number at each point of the scale. ``target``: the place of the
    right one.
    """

    item_id: str
    prompt: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...]
    target: int

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens that are read: the question, then the right number."""
        return (*self.prompt, *self.answers[self.target])

    @property
    def labels(self) -> tuple[int, ...]:
        """The training target at each place of :attr:`ids`: the number's tokens; all others are masked.

        >>> TokenizedExample("i", (7, 8, 9), ((4,), (5,)), target=1).labels
        (-100, -100, -100, 5)
        """
        return (*(MASKED for _ in self.prompt), *self.answers[self.target])


def examples_of(
    items: Sequence[RatedItem], tokenizer: Any, ask: Ask, scale: Scale, *, rounding: Rounding = "half_up"
) -> tuple[TokenizedExample, ...]:
    """Make an example of every item; *tokenizer* is that of transformers.

    Errors: :class:`SubjectError` naming the item whose question the model cannot read, :class:`InputError` where its
    mean rating is not within the scale.
    """
    numbers, examples = point_texts(scale), []
    for rated, target in zip(items, target_places(items, scale, rounding), strict=True):
        item_id = rated.item.item_id
        try:
            tokens = answer_tokens(tokenizer, ask(rated.item), numbers)
        except SubjectError as error:
            raise SubjectError(error.what, place=Place(item_id=item_id), why=error.why, hint=error.hint) from error
        examples.append(TokenizedExample(item_id, tokens.prompt, tokens.answers, target))
    return tuple(examples)


def check_lengths(examples: Sequence[TokenizedExample], longest: int | None) -> None:
    """Check that a model reads every example whole; *longest* is the most tokens that it reads.

    Errors: :class:`SubjectError` naming the first item that is too long: nothing is ever cut off.
    """
    for example in examples:
        if longest is not None and len(example.ids) > longest:
            what = f"the question has {len(example.ids)} tokens with its answer, the model reads at most {longest}"
            raise SubjectError(what, place=Place(item_id=example.item_id), hint="leave the item out")


def examples_sha256(examples: Sequence[TokenizedExample]) -> str:
    """Return the sha256 of examples in their order: another token, answer or order is another hash."""
    rows = [[example.item_id, example.prompt, example.answers, example.target] for example in examples]
    return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()


# a mean that was added up in floating point may miss a half by its last bit
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class RatedItem:
    """An item with the ratings that people gave it, at least one.

    Errors: :class:`InputError` without a rating.
    """

    item: Item
    ratings: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.ratings:
            raise InputError("an item without a rating teaches nothing", place=Place(item_id=self.item.item_id))

    @property
    def mean(self) -> float:
        """The mean of its ratings."""
        return statistics.fmean(self.ratings)

    @property
    def sd(self) -> float:
        """The sample SD of its ratings (n - 1); 0 for a single one."""
        return statistics.stdev(self.ratings) if len(self.ratings) > 1 else 0.0


def round_to_point(mean: float, scale: Scale, rounding: Rounding = "half_up") -> float:
    """Return the point of a scale that is nearest to a mean. *Source:* AmbiStory §5.3.1, which names no rule.

    >>> scale = Scale(1, 5)
    >>> [round_to_point(mean, scale) for mean in (2.4, 2.5, 3.5)]
    [2.0, 3.0, 4.0]
    >>> [round_to_point(mean, scale, "half_even") for mean in (2.4, 2.5, 3.5)]
    [2.0, 2.0, 4.0]

    Errors: :class:`InputError` for a continuous scale and a mean that is not within it.
    """
    if not scale.points:
        what = f"the scale {scale.low:g} to {scale.high:g} is continuous: it has no points to round to"
        raise InputError(what, hint="name a scale with steps")
    if not scale.low <= mean <= scale.high:
        raise InputError(f"a mean of {mean:g} is not within the scale {scale.low:g} to {scale.high:g}")
    # counted in steps from zero where the points are multiples of the step, so that "even" means even numbers
    origin = math.fmod(scale.low, scale.step)
    steps = (mean - origin) / scale.step
    below = math.floor(steps + _TINY)
    half = abs(steps - below - 0.5) <= _TINY
    up = (rounding == "half_up" or below % 2 == 1) if half else steps - below > 0.5
    return min(scale.high, origin + (below + up) * scale.step)


def target_places(items: Sequence[RatedItem], scale: Scale, rounding: Rounding) -> tuple[int, ...]:
    """Return the place, from 0, of every item's number among the points of the scale.

    Errors: those of :func:`round_to_point`, naming the item.
    """
    places = {point: place for place, point in enumerate(scale.points)}
    targets = []
    for rated in items:
        try:
            targets.append(places[round_to_point(rated.mean, scale, rounding)])
        except InputError as error:
            raise InputError(error.what, place=Place(item_id=rated.item.item_id), hint=error.hint) from error
    return tuple(targets)


How = Literal["own", "word"]
CONDITION = "split"
"""The condition of an item that names its part: ``train``, ``dev`` or ``test``."""


@dataclass(frozen=True, slots=True)
class Split:
    """Rated items in two parts that share no target word (``word``) or are as the dataset has them (``own``).

    ``left_out``: items of neither part (the test part of a dataset), which the training never sees. ``shared_words``:
    target words that occur in both parts, which only an own split can have.
    """

    how: How
    training: tuple[RatedItem, ...]
    validation: tuple[RatedItem, ...]
    left_out: int = 0
    shared_words: tuple[str, ...] = ()


def split_items(
    items: Sequence[RatedItem],
    *,
    how: Annotated[How | None, Option("default: the dataset's own, else by word", flag="--split")] = None,
    share: Annotated[float, Option("share of a split by word", flag="--validation")] = 0.1,
    seed: int = 0,
) -> Split:
    """Split rated items for a training.

    Without *how*: the dataset's own split where every item has one, else by word, with *share* of the items for the
    validation (:func:`lexiscope.items.arrange.splits.split_by_word`, *seed*). Items of the part ``test`` are excluded
    either way.
    Errors: :class:`InputError` if a part would be empty, or if there is no own split.
    """
    own = all(CONDITION in rated.item.conditions for rated in items)
    if how == "own" and not own:
        raise InputError(f"not every item has the condition {CONDITION!r}", hint="split by word: --split word")
    split = _own(items) if how == "own" or (how is None and own) else _by_word(items, share, seed)
    if not split.training or not split.validation:
        what = f"a training needs items in both parts, not {len(split.training)} and {len(split.validation)}"
        raise InputError(what, hint="name items of at least two target words, or items with a split of train and dev")
    return split


def _own(items: Sequence[RatedItem]) -> Split:
    parts: dict[str, list[RatedItem]] = {}
    for rated in items:
        parts.setdefault(str(rated.item.conditions[CONDITION]), []).append(rated)
    training, validation = tuple(parts.get("train", ())), tuple(parts.get("dev", ()))
    used = [rated.item for rated in (*training, *validation)]
    shared = tuple(in_several_parts(used, condition(CONDITION)))
    return Split("own", training, validation, len(items) - len(used), shared)


def _by_word(items: Sequence[RatedItem], share: float, seed: int) -> Split:
    if not 0 < share < 1:
        raise InputError(f"the share of the validation must be between 0 and 1, not {share:g}")
    used = {rated.item.item_id: rated for rated in items if rated.item.conditions.get(CONDITION) != "test"}
    shares = {"training": 1 - share, "validation": share}
    parts = split_by_word([rated.item for rated in used.values()], shares, seed=seed)
    training, validation = (tuple(used[item.item_id] for item in part.items) for part in parts)
    return Split("word", training, validation, len(items) - len(used))
