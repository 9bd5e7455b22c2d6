"""Training a pair classifier: Lexiscope's own batches against those of the Trainer of transformers, on pairs of WiC.

    pip install 'lexiscope[demo,train]'
    LEXISCOPE_DATA=folder python benchmarks/training.py --rows 256 --rounds 5

All methods are the Trainer. Every one gets the same model (all-MiniLM-L6-v2 with the same layer on top), the same
tokenised pairs, batches of 16, AdamW, a linear schedule, gradients clipped to 1, fp32, one thread, and learns one epoch
from the first weights. *lexiscope* steps through batches of similar lengths as a training on views does; *Trainer,
fixed padding* pads every pair to the longest of the data; *Trainer, dynamic padding* to the longest of its batch, in
random order; *Trainer, by length* groups by length as transformers does. Tokenising, loading and writing stand outside
the clock. Measured is the CPU time of the process, in interleaved rounds after a warm-up; the table gives medians,
minima and ratios of medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch  # noqa: E402
import transformers  # noqa: E402

from lexiscope.core import catalog  # noqa: E402
from lexiscope.items.arrange.splits import sample_items  # noqa: E402
from lexiscope.subjects.local._model_folder import locate_folder  # noqa: E402
from lexiscope.subjects.trained._encoder import LoadedClassifier, Shape  # noqa: E402
from lexiscope.subjects.trained._wording import Encoded, Wording  # noqa: E402
from lexiscope.training._labelled_items import Objective, steps_of  # noqa: E402
from lexiscope.training._steps import run_steps, step_settings_of  # noqa: E402
from lexiscope.training.settings import TrainingSettings  # noqa: E402

BATCH = 16
SETTINGS = TrainingSettings(epochs=1, batch=BATCH, warmup=0.0, dropout=0.0)


@dataclass(frozen=True, slots=True)
class Data:
    """Tokenised pairs and their labels."""

    encoded: tuple[Encoded, ...]
    labels: tuple[int, ...]

    @property
    def longest(self) -> int:
        return max(len(each.ids) for each in self.encoded)


def reader() -> LoadedClassifier:
    return LoadedClassifier(locate_folder("minilm", "", allow=()), Shape(2, 2, dropout=0.0))


def wic(rows: int) -> Data:
    """A sample of the training pairs of WiC."""
    items = [item for item in catalog.dataset("wic").items if item.conditions["split"] == "train"]
    items = list(sample_items(items, rows))
    loaded = reader()
    readings = [Wording("full", loaded.mask).pair(item) for item in items]
    return Data(tuple(loaded.encode(readings)), tuple(int(item.gold == "t") for item in items))


# -- the methods ----------------------------------------------------------------------------------------------


def ours(data: Data, folder: Path) -> Callable[[], int]:
    """Return a run of a training on views over one epoch; it gives the tokens that were read, padding included."""
    loaded = reader()
    labels = torch.tensor(data.labels)
    read = 0

    def loss(batch: Sequence[int]) -> Any:
        nonlocal read
        chosen = [data.encoded[place] for place in batch]
        read += len(batch) * max(len(each.ids) for each in chosen)
        return torch.nn.functional.cross_entropy(loaded.outputs(chosen), labels[list(batch)])

    lessons = Objective([len(each.ids) for each in data.encoded], loss, lambda: 0.0)
    steps = steps_of(loaded, lessons, SETTINGS, 0)
    steps.module.requires_grad_(True)

    def run() -> int:
        run_steps(steps, step_settings_of(SETTINGS), seed=0, folder=None, versions={})
        return read

    return run


class PlainModel(torch.nn.Module):
    """The same model as a module that the Trainer takes."""

    def __init__(self) -> None:
        super().__init__()
        loaded = reader()
        self.encoder, self.layer = loaded.model.requires_grad_(True), loaded.head.requires_grad_(True)
        self.read = 0

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any, weights: Any, labels: Any) -> Any:
        self.read += input_ids.numel()
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        logits = self.layer(torch.cat([hidden[:, 0], (weights @ hidden).flatten(1)], dim=1))
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def collate(rows: Sequence[dict[str, Any]], *, width: int | None) -> dict[str, Any]:
    """Pad rows to a width, or to the longest of them."""
    longest = width or max(len(row["input_ids"]) for row in rows)
    found: dict[str, Any] = {}
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        found[name] = torch.zeros((len(rows), longest), dtype=torch.long)
        for number, row in enumerate(rows):
            found[name][number, : len(row[name])] = torch.tensor(row[name])
    found["weights"] = torch.zeros((len(rows), 2, longest))
    for number, row in enumerate(rows):
        for target, places in enumerate(row["targets"]):
            found["weights"][number, target, list(places)] = 1 / len(places)
    found["labels"] = torch.tensor([row["labels"] for row in rows])
    return found


def trainer(data: Data, folder: Path, *, fixed: bool, by_length: bool) -> Callable[[], int]:
    """Return a run of the Trainer over one epoch."""
    rows = [
        {
            "input_ids": list(each.ids),
            "attention_mask": [1] * len(each.ids),
            "token_type_ids": list(each.types),
            "targets": each.targets,
            "labels": label,
        }
        for each, label in zip(data.encoded, data.labels, strict=True)
    ]
    grouped = {"train_sampling_strategy": "group_by_length"} if by_length else {}
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=BATCH,
        num_train_epochs=1,
        learning_rate=SETTINGS.learning_rate,
        weight_decay=SETTINGS.weight_decay,
        save_strategy="no",
        logging_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        remove_unused_columns=False,
        **grouped,
    )
    model = PlainModel()
    made = transformers.Trainer(
        model=model,
        args=arguments,
        train_dataset=rows,
        data_collator=partial(collate, width=data.longest if fixed else None),
    )

    # it would print what a training took
    made.remove_callback(transformers.PrinterCallback)

    def run() -> int:
        made.train()
        return model.read

    return run


METHODS: dict[str, Callable[[Data, Path], Callable[[], int]]] = {
    "lexiscope": ours,
    "Trainer, fixed padding": partial(trainer, fixed=True, by_length=False),
    "Trainer, dynamic padding": partial(trainer, fixed=False, by_length=False),
    "Trainer, by length": partial(trainer, fixed=False, by_length=True),
}


def measure(data: Data, rounds: int) -> dict[str, tuple[list[float], int]]:
    """Run all methods in turn; the first round is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in METHODS}
    read = dict.fromkeys(METHODS, 0)
    for number in range(rounds + 1):
        for name, prepare in METHODS.items():
            with tempfile.TemporaryDirectory() as folder:
                run = prepare(data, Path(folder))
                begun = time.process_time()
                read[name] = run()
                if number:
                    seconds[name].append(time.process_time() - begun)
    return {name: (each, read[name]) for name, each in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    data = wic(given.rows)
    lengths = [len(each.ids) for each in data.encoded]
    print(f"{given.rows} pairs of WiC, {sum(lengths)} tokens (longest {data.longest}), {given.rounds} rounds")
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, load {os.getloadavg()[0]:.1f}\n")
    found = measure(data, given.rounds)
    base = statistics.median(found["lexiscope"][0])
    print("| method | median s | min s | × lexiscope | tokens read | padding |")
    print("|---|---|---|---|---|---|")
    for name, (seconds, read) in found.items():
        median = statistics.median(seconds)
        padding = 1 - sum(lengths) / read
        print(f"| {name} | {median:.2f} | {min(seconds):.2f} | {median / base:.2f} | {read:,} | {padding:.1%} |")


if __name__ == "__main__":
    main()
