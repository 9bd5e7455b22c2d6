"""sense_induction with an answer to each question: vectors drawn at random, simulated ratings and participants."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.datasets.mini_relatedness import load
from lexiscope.items.tables.tabular import write_items
from lexiscope.resources.corpora.running_text import words_of
from lexiscope.resources.vectors.sense_vectors import LOG, SETTINGS, LogRow, SenseVectors, log_text
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.train import write_senses

SIMULATED = Path(__file__).parents[2] / "simulated" / "relatedness.py"
WORDS = sorted({word for item in load("en").items for usage in item.usages for word in words_of(usage.text)})
NOUNS = sorted({item.word for item in load("en").items})


def settings(folder: Path) -> SenseInductionSettings:
    """Write two folders of vectors, usages of two pseudo-words and the answers of simulated participants."""
    first = _vectors(folder / "first", 0)
    # the second is recorded as what people left of the first
    left = {"from": json.loads((first / SETTINGS).read_text())["files"]}
    specs = (f"gasi:{first}", f"gasi:{_vectors(folder / 'second', 1, told_apart=left)}")
    usages = [
        Usage(f"the {word} of it", 4, 4 + len(word), lemma=word, sense=sense)
        for word in NOUNS[:3]
        for sense in ("one", "two")
    ]
    planted = [Item(f"p{n}", "planted", (usage,)) for n, usage in enumerate(usages)]
    write_items(planted, folder / "planted.csv")
    return SenseInductionSettings(
        datasets=(str(SIMULATED), f"{SIMULATED}?of=words", "mini_relatedness"),
        subjects=specs,
        planted=str(folder / "planted.csv"),
        people=_people(folder, specs),
        synset="",
        words=("bank",),
    )


def _vectors(folder: Path, seed: int, **about: object) -> Path:
    """Vectors of the words of the items, two senses each but for every third word, as GASI-β would leave them."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    senses, contexts = rng.normal(size=(len(WORDS), 2, 8)), rng.normal(size=(len(WORDS), 8))
    mask = np.array([[True, number % 3 > 0 or word in NOUNS] for number, word in enumerate(WORDS)])
    vectors = SenseVectors(
        tuple(WORDS), np.arange(len(WORDS), 0, -1), senses.astype(np.float32), contexts.astype(np.float32), mask
    )
    beta = 0.4 + 0.2 * seed
    log = [LogRow(1, 1000 * n, 0.01, 3 - n / 10, 0.6, 0.5, 0.1, n / 10, beta) for n in range(1, 6)]
    (folder / LOG).write_text(log_text(log), encoding="utf-8")
    made = GasiSettings(beta=beta, senses=2, dimensions=8).deciding_values()
    write_senses(folder, vectors, {"settings": made, "seed": seed, "corpus": {}, **about}, (LOG,))
    return folder


def _people(folder: Path, models: Sequence[str]) -> tuple[str, str]:
    """Three simulated participants look for an intruder among words of each model's senses: 3 and 1 of them find it."""
    items, rows = [], []
    for model, hits in zip(models, (3, 1), strict=True):
        for word in NOUNS[:2]:
            conditions = {"word": word, "model": model}
            usage = Usage(word, 0, len(word), lemma=word)
            item = Item(f"{model}/{word}", "test", (usage,), ("a", "b", "c"), gold="c", conditions=conditions)
            items.append(item)
            rows += [
                Response(f"simulated-{n}", "simulated", item.item_id, "word_intrusion", "choice",
                         option="c" if n < hits else "a")
                for n in range(3)
            ]  # fmt: skip
    write_items(items, folder / "items.csv")
    ResponseTable.from_rows(rows).write_csv(folder / "answers.csv")
    return (str(folder / "items.csv"), str(folder / "answers.csv"))
