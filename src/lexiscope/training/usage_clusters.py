"""Senses from an encoder's vectors: the usages of each word are clustered, and a folder of senses is written.

The folder loads as ``usage_clusters:FOLDER`` (:mod:`lexiscope.subjects.senses.usage_clusters`) and goes through the
same tests as any other vectors of senses. *Source:* GASI §6 names contextual vectors as what comes next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lexiscope.analysis.senses.induction import Rule, WordClusters, cluster_usages
from lexiscope.core.errors import CapabilityError, InputError
from lexiscope.core.run import csv_lines, write_atomically
from lexiscope.core.settings import option
from lexiscope.core.subject import Embeds, Subject
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import with_mask
from lexiscope.items.tables.findings import ExcludedEntry
from lexiscope.resources.vectors.sense_vectors import SenseVectors
from lexiscope.subjects.senses._sense_subject import USAGE_CLUSTERS
from lexiscope.subjects.senses.usage_clusters import CLUSTERS
from lexiscope.training.gasi.train import save_tensors, write_senses

Progress = Callable[[str, int, int], None]
SENSES = "senses.csv"
"""The table of the folder: each word with its senses, and what each number of senses reached."""


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """How usages become senses. ``n_senses`` 0: as many as ``rule`` finds in the usages of a word."""

    layer: int = option(-1, "of the encoder, 0 its embeddings; -1 is the last")
    masked: bool = option(False, "hide the target: its context alone makes the vector")
    n_senses: int = option(
        0, "number of senses per word; 0: as many as the usages support", flag="--senses", least=0, most=50
    )
    rule: Rule = option("likelihood", "what chooses the number of senses")
    most: int = option(6, "the most senses of a word", flag="--most", least=2, most=50)
    dimensions: int = option(8, "principal components of a word's usages that are kept", least=1)
    fewest: int = option(20, "words with fewer usages are excluded", flag="--fewest", least=10)


@dataclass(frozen=True, slots=True)
class MadeClusters:
    """Senses that were written: the clusters of each word, and excluded words with the reason."""

    folder: Path
    clusters: Mapping[str, WordClusters]
    left_out: tuple[ExcludedEntry, ...]


def make_usage_clusters(
    subject: Subject,
    usages: Mapping[str, Sequence[Usage]],
    *,
    out: Path,
    settings: ClusterSettings | None = None,
    seed: int = 0,
    about: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> MadeClusters:
    """Cluster the usages of each word in the vectors of an encoder, and write the folder of senses.

    *about* goes into its record: the corpus, the command. Errors: :class:`CapabilityError` for a subject that gives no
    vectors; :class:`InputError` for a layer that it has not, or no word with enough usages.
    """
    asked = settings or ClusterSettings()
    if not isinstance(subject, Embeds):
        what = f"{subject.subject_id} gives no vectors of usages"
        raise CapabilityError(what, hint="name an encoder: encoder:minilm, encoder:FOLDER")
    layer = subject.layers[asked.layer] if -len(subject.layers) <= asked.layer < len(subject.layers) else None
    if layer is None:
        what = f"{subject.subject_id} has no layer {asked.layer}"
        raise InputError(what, hint=f"its layers are {subject.layers[0]} to {subject.layers[-1]}")
    enough = {word: own for word, own in usages.items() if len(own) >= asked.fewest}
    left_out = tuple(
        ExcludedEntry(word, f"it has {len(own)} usages in the corpus, {asked.fewest} are needed")
        for word, own in usages.items()
        if word not in enough
    )
    if not enough:
        why = "; ".join(f"{entry.word}: {entry.why}" for entry in left_out[:3])
        raise InputError(f"no word has {asked.fewest} usages in the corpus", why=why, hint="lower --fewest")
    place, clusters, means = subject.layers.index(layer), {}, []
    for number, (word, own) in enumerate(enough.items(), start=1):
        shown = [with_mask(usage) for usage in own] if asked.masked else own
        vectors = np.asarray(subject.embed(shown)[:, place], np.float64)
        means.append(vectors.mean(axis=0))
        clusters[word] = cluster_usages(
            vectors,
            n_senses=asked.n_senses or None,
            rule=asked.rule,
            most=asked.most,
            dimensions=asked.dimensions,
            seed=seed,
        )
        if progress is not None:
            progress("induce", number, len(enough))
    _write_folder(out, subject, layer, clusters, np.array(means), enough, asked, seed, about or {})
    return MadeClusters(out, clusters, left_out)


def _write_folder(
    out: Path,
    subject: Subject,
    layer: int,
    clusters: Mapping[str, WordClusters],
    means: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    usages: Mapping[str, Sequence[Usage]],
    asked: ClusterSettings,
    seed: int,
    about: Mapping[str, object],
) -> None:
    words, most = tuple(clusters), max(own.n_senses for own in clusters.values())
    # what all usages have in common says nothing of a word, and makes all cosines high
    mean = means.mean(axis=0)
    senses = np.zeros((len(words), most, means.shape[1]), np.float32)
    shares = np.zeros((len(words), most), np.float32)
    for row, own in enumerate(clusters.values()):
        senses[row, : own.n_senses] = own.centres - mean
        shares[row, : own.n_senses] = own.shares
    counts = np.array([len(usages[word]) for word in words], np.int64)
    vectors = SenseVectors(words, counts, senses, (means - mean).astype(np.float32), shares > 0)
    spread = np.array([own.spread for own in clusters.values()], np.float32)
    save_tensors(
        out / CLUSTERS, {"mean": mean.astype(np.float32), "shares": shares, "spread": spread}, {"format": "np"}
    )
    numbers = sorted({number for own in clusters.values() for number in own.scores})
    rows = [
        (word, len(usages[word]), own.n_senses, *(own.scores.get(number) for number in numbers))
        for word, own in clusters.items()
    ]
    heads = ("word", "n_usages", "n_senses", *(f"score_{number}" for number in numbers))
    write_atomically(out / SENSES, csv_lines(heads, rows))
    made_of = {"encoder": subject.subject_id, "encoder_revision": subject.facts.revision}
    record = {
        "settings": {"variant": USAGE_CLUSTERS, **made_of, **asdict(asked), "layer": layer},
        "seed": seed,
        **about,
    }
    write_senses(out, vectors, record, (CLUSTERS, SENSES))
