"""A study of made data: a scale from 1 to 100, its own statistic and setting. Its people are simulated."""

import random
from typing import Literal

import numpy as np

from lexiscope import Estimate, Settings, Study, option, pair, rating

study = Study(
    "graded_senses",
    title="Graded senses, made up",
    citation="A. Test (2026). Made for a test.",
    scale=(1, 100),
    licence="CC0",
)
SENTENCES = {
    "bank": ("They sat on the bank of the river.", "The bank lent him money.", "The bank closed at noon."),
    "bark": ("The bark of the oak was rough.", "The bark of the dog was loud.", "The bark of the fox was short."),
    "bat": ("A bat flew out of the cave.", "He broke his bat in the game.", "She bought a bat for cricket."),
    "seal": ("The seal swam to the rocks.", "The seal on the letter was red.", "He broke the seal of the jar."),
    "ring": ("She wore a ring of gold.", "The ring of the phone woke him.", "He heard a ring at the door."),
}


@study.settings
class Graded(Settings):
    """What a run of graded_senses can vary."""

    within: float = option(10.0, "the largest distance from the others' mean that counts as near, in points", least=0)
    by: Literal["word", "sense"] = option("word", "what is compared")


@study.data
def load():
    """Five words in three sentences each, rated by eight simulated participants."""
    dice = random.Random(3)
    for word, texts in SENTENCES.items():
        for one, other in ((0, 1), (0, 2), (1, 2)):
            same = (one, other) == (1, 2)
            yield pair(f"{word}/{one}{other}", texts[one], texts[other], word, same_sense=same)
            for person in range(8):
                value = dice.gauss(75 if same else 25, 8)
                yield rating(f"simulated-{person}", f"{word}/{one}{other}", min(100, max(1, round(value))))


def near_others(ratings, within):
    """The share of ratings that lie near the mean of the others' ratings of the item."""
    sums, n = ratings.sums()[ratings.item], ratings.counts()[ratings.item]
    others = (sums - ratings.value) / (n - 1)
    near = np.abs(ratings.value - others) <= within
    return Estimate("near_others", float(near.mean()), n=len(near), unit="share", higher="people agree more")


@study.question("Do people agree?", needs="ratings")
def people(run):
    return near_others(run.people, run.settings.within).about(subject="people"), run.means(by="same_sense")


@study.question("Do models agree with people, and do layers differ?", needs=("ratings", "models"))
def models(run):
    fit = run.fit("spearman")
    curves = [fit.plot("Nearness to people by layer")] if run.has("layers") else []
    return fit, run.compare(*fit.best(2)) if len(run.models) > 1 else "One model alone is compared with none.", curves


@study.question("Is anything undefined here said to be so?", needs="ratings")
def undefined(run):
    from lexiscope.analysis.correlation import spearman

    return run.attempt("constant", lambda: spearman(np.ones(15), run.norm))
