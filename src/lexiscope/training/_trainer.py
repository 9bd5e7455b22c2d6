"""The Trainer of transformers, stepping through what :mod:`lexiscope.training._steps` describes.

The Trainer makes the steps, the optimizer, the schedule and the checkpoints, clips the gradients, stops early and loads
the best epoch. What is added: batches that were made beforehand, a loss and a figure on dev of the training's own, a
seed for every step, and checkpoints that count only when they are whole. Nothing is printed, logged or reported.

This module needs transformers in order to be imported; :func:`lexiscope.training._steps.run_steps` calls it.
"""

from __future__ import annotations

import gc
import math
import os
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import save_file

from lexiscope.core.errors import Place, RunError, SubjectError
from lexiscope.training._checkpoint import FOLDER, checkpoint_folder, mark_checkpoint, newest_checkpoint
from lexiscope.training._steps import Progress, Steps, StepSettings, TrainingOutcome, seed_of

# no score is this low: where the figure of an epoch is not defined, any other is better
_LOWEST = -sys.float_info.max


def run(
    steps: Steps,
    pace: StepSettings,
    *,
    seed: int,
    folder: Path | None,
    versions: dict[str, str],
    progress: Progress | None = None,
) -> TrainingOutcome:
    """Train to the end; see :func:`lexiscope.training._steps.run_steps`."""
    with TemporaryDirectory() as nowhere, _isolated():
        kept = newest_checkpoint(folder / FOLDER, versions) if folder else None
        course = TrainingOutcome()
        if kept:
            history = [steps.result(**result) for result in kept[1]["history"]]
            course = TrainingOutcome(**kept[1] | {"history": history})
        place = folder / FOLDER if folder else Path(nowhere)
        trainer = StepTrainer(steps, course, _arguments(steps, pace, course, place, keep=folder is not None))
        if folder:
            trainer.add_callback(transformers.EarlyStoppingCallback(early_stopping_patience=pace.patience))
        trainer.add_callback(TrainingCallback(steps, pace, course, seed, versions, progress))
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train(resume_from_checkpoint=str(kept[0]) if kept else None)
    course.best_epoch = (trainer.state.best_global_step or 0) // steps.number
    return course


class StepTrainer(transformers.Trainer):  # type: ignore[misc]
    """A Trainer of ready batches, whose loss and figure on dev are the training's own."""

    control: Any
    # a loss that is summed is divided by the labels of the whole step in compute_loss
    loss_is_scaled_for_ga = True

    def __init__(self, steps: Steps, course: TrainingOutcome, arguments: Any) -> None:
        numbers = range(steps.n_examples)
        super().__init__(steps.module, arguments, train_dataset=numbers, eval_dataset=numbers)
        self.steps, self.course = steps, course
        # otherwise the labels of a step are not counted
        self.model_accepts_loss_kwargs = steps.labels is not None

    def get_train_dataloader(self) -> Any:
        """Return the ready batches, epoch by epoch."""
        # nothing here refers to the Trainer, or its memory would not be free before the next garbage collection
        labels = self.steps.labels

        def collate(batch: Sequence[int]) -> dict[str, Any]:
            return {"batch": list(batch)} | ({} if labels is None else {"labels": labels(batch)})

        made = torch.utils.data.DataLoader(self.train_dataset, batch_sampler=_Batches(self.steps), collate_fn=collate)
        return self.accelerator.prepare(made)

    def compute_loss(self, model: Any, inputs: dict[str, Any], *, num_items_in_batch: Any = None, **_: Any) -> Any:
        """Return the loss of a batch. Errors: :class:`SubjectError` where it is not finite."""
        loss, count = self.steps.loss(inputs["batch"])
        self.course.count += count
        if loss is None:
            # without a path to any weight: no weight gets a gradient, and none is changed
            return torch.zeros((), device=self.args.device, requires_grad=True)
        self.course.loss += float(loss.detach())
        if not math.isfinite(self.course.loss):
            epoch, step = divmod(self.state.global_step, self.steps.number)
            what = f"the loss is not finite in step {step + 1} of epoch {epoch + 1}"
            raise SubjectError(what, hint="use a smaller learning rate, or fp32 where the base is in bf16")
        return loss if num_items_in_batch is None else loss / num_items_in_batch

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Measure the epoch that ended, and return its figure under the name that the Trainer looks for."""
        course, epoch = self.course, self.state.global_step // self.steps.number
        result = self.steps.measure(epoch, course.loss / course.count)
        course.history.append(result)
        course.loss, course.count = 0.0, 0
        metrics = {"eval_dev": max(self.steps.figure(result), _LOWEST)}
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def save_model(self, output_dir: str | None = None, **_: Any) -> None:
        """Write the weights and nothing else.

        Tensors are copied: safetensors takes none that share memory. No settings are pickled with them.
        """
        place = Path(output_dir or self.args.output_dir)
        place.mkdir(parents=True, exist_ok=True)
        state = {name: weight.detach().cpu().clone().contiguous() for name, weight in self.model.state_dict().items()}
        save_file(state, place / "model.safetensors", metadata={"format": "pt"})

    def _save_checkpoint(self, *given: Any, **more: Any) -> None:
        try:
            super()._save_checkpoint(*given, **more)
        except (OSError, RuntimeError, SafetensorError) as error:
            hint = "make room or choose another place; the same command again continues what was begun"
            place = Place(str(self.args.output_dir))
            raise RunError("a checkpoint cannot be written", place=place, why=str(error), hint=hint) from error


class TrainingCallback(transformers.TrainerCallback):  # type: ignore[misc]
    """Seeds every step, tells the progress, and marks the checkpoints that are whole."""

    def __init__(
        self,
        steps: Steps,
        pace: StepSettings,
        course: TrainingOutcome,
        seed: int,
        versions: dict[str, str],
        progress: Progress | None,
    ) -> None:
        self.steps, self.pace, self.course, self.seed = steps, pace, course, seed
        self.versions, self.progress = versions, progress

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Name the best checkpoint where it lies now: the folder may have been moved."""
        if state.best_global_step:
            state.best_model_checkpoint = str(checkpoint_folder(Path(args.output_dir), state.best_global_step))

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Draw dropout with a seed of the step's own: no result depends on what was drawn before."""
        epoch, step = divmod(state.global_step, self.steps.number)
        # on a CPU torch.manual_seed would queue the same for devices that are not there, each time with the whole stack
        generator = torch.default_generator if args.device.type == "cpu" else torch
        generator.manual_seed(seed_of(self.seed, epoch + 1, step))

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell the progress; ask for a checkpoint within an epoch."""
        number = self.steps.number
        epoch, step = divmod(state.global_step - 1, number)
        if args.save_strategy != "no" and step + 1 < number and (step + 1) % self.pace.checkpoint_steps == 0:
            control.should_save = True
        if self.progress is not None:
            self.progress(f"epoch {epoch + 1}", step + 1, number)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Return the reason why the training ends here, if it does, and mark the checkpoint."""
        course = self.course
        if control.should_training_stop:
            waited = (state.global_step - state.best_global_step) // self.steps.number >= self.pace.patience
            why = f"no better {self.steps.monitor} for {self.pace.patience} epochs"
            course.stopped = why if waited else f"{self.pace.epochs} epochs are done"
        about = {"loss": course.loss, "count": course.count, "stopped": course.stopped}
        about["history"] = [asdict(result) for result in course.history]
        mark_checkpoint(Path(args.output_dir), state.global_step, state.best_global_step, about, self.versions)


class _Batches:
    """The batches of one epoch after another, as the Trainer's loader asks for them."""

    def __init__(self, steps: Steps) -> None:
        self.steps, self.epoch = steps, 0

    def set_epoch(self, epoch: int) -> None:
        """Turn to an epoch, from 0."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.steps.n_batches

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.steps.batches(self.epoch + 1))


def _arguments(steps: Steps, pace: StepSettings, course: TrainingOutcome, place: Path, *, keep: bool) -> Any:
    """Return the arguments of the Trainer."""
    # a training that had ended makes no step: its best epoch is loaded
    epochs = len(course.history) if course.stopped else pace.epochs
    when = "epoch" if keep else "no"
    made = transformers.TrainingArguments(
        output_dir=str(place),
        num_train_epochs=epochs,
        gradient_accumulation_steps=steps.parts,
        learning_rate=pace.learning_rate,
        lr_scheduler_type="linear" if pace.schedule == "linear" else "constant_with_warmup",
        warmup_steps=math.ceil(pace.warmup * pace.epochs * steps.number),
        weight_decay=pace.weight_decay,
        max_grad_norm=pace.max_gradient_norm,
        optim="adamw_torch_fused",
        eval_strategy=when,
        save_strategy=when,
        load_best_model_at_end=keep,
        metric_for_best_model="dev",
        greater_is_better=True,
        restore_callback_states_from_checkpoint=True,
        use_cpu=pace.device == "cpu",
        dataloader_pin_memory=False,
        remove_unused_columns=False,
        logging_strategy="no",
        logging_nan_inf_filter=False,
        report_to="none",
        log_level="error",
        disable_tqdm=True,
    )
    # several GPUs would be taken for one large one, and change the batches
    made._n_gpu = min(made.n_gpu, 1)
    return made


@contextmanager
def _isolated() -> Iterator[None]:
    """Keep the Trainer and the rest of the process apart, both ways.

    It seeds the random numbers of Python and numpy and makes transformers silent, which is put back. From the
    environment accelerate would take a device, or a way to share the work, that no record tells of. Its garbage
    collection before the first step would look through all that was there already, which takes longer than many a step.
    """
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    verbosity = transformers.logging.get_verbosity()
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("ACCELERATE_")}
    # what the program itself left out of garbage collections stays out of them
    own = gc.get_freeze_count() == 0
    if own:
        gc.freeze()
    try:
        yield
    finally:
        if own:
            gc.unfreeze()
        os.environ.update(hidden)
        transformers.logging.set_verbosity(verbosity)
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
