"""Senses that are clusters of a word's usages, in the vectors that an encoder gives them in their contexts.

``usage_clusters:FOLDER`` reads a folder that `lexiscope senses induce` wrote. It names the encoder, which reads a usage
with its whole text (with ``--masked`` without the target itself); a sense is as probable as its cluster makes it: share
× the density of a normal distribution around the centre, alike in every direction. The target's own form is looked up,
as for ``gasi``; a word that was not clustered is out of the vocabulary. Vectors of senses are the centres, without the
mean of all usages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError, Place, SubjectError
from lexiscope.core.subject import Embeds, Floats, SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import with_mask
from lexiscope.resources.vectors.sense_vectors import SETTINGS, map_tensors
from lexiscope.senses.induced_senses import InducedSenses
from lexiscope.subjects.senses._sense_subject import USAGE_CLUSTERS, SenseFolder

CAPABILITIES = ("Embeds", "ChoosesSense")
TASKS = catalog.TasksThat(capability="ChoosesSense")
CLUSTERS = "clusters.safetensors"
"""The file of the folder with the mean of all usages, and each word's shares of senses and spread."""


def load(spec: SubjectSpec) -> UsageClusters:
    """Make the subject of a folder. Its vectors are mapped, and its encoder is loaded, when it is first asked."""
    return UsageClusters(spec.name)


def files_of(spec: SubjectSpec) -> tuple[Path, ...]:
    """Return the file that says which senses a spec names."""
    return (Path(spec.name).expanduser() / SETTINGS,)


class UsageClusters(SenseFolder):
    """Clusters of usages in a folder, and the encoder that they come from."""

    kind = USAGE_CLUSTERS
    learnt_by = "clusters of usages"

    @cached_property
    def encoder(self) -> Embeds:
        """The encoder that the folder names.

        Errors: :class:`SubjectError` E711 where it is another version than the senses were made with.
        """
        asked = self.about["settings"]
        encoder = catalog.subject(asked["encoder"])
        if encoder.facts.revision != asked["encoder_revision"] or not isinstance(encoder, Embeds):
            what = f"{asked['encoder']} is another version than these senses were made with"
            hint = "make the senses again: lexiscope senses induce"
            raise SubjectError(what, code="E711", place=Place(str(self.folder)), hint=hint)
        return encoder

    @cached_property
    def clusters(self) -> dict[str, NDArray[Any]]:
        """``mean`` (width,), ``shares`` (words, K) and ``spread`` (words,)."""
        return map_tensors(self.folder / CLUSTERS)

    @cached_property
    def induced(self) -> InducedSenses:
        """Its senses, with the shares of the usages that they have as priors.

        A word with fewer of them than another has lost none: its usages support no more.
        """
        shares = np.asarray(self.clusters["shares"], np.float32)[np.asarray(self.vectors.mask)]
        return replace(super().induced, priors=shares, uniform=False)

    @property
    def settings(self) -> dict[str, Any]:
        """How the senses were made, for the run record."""
        return {"training": self.about["settings"]}

    @property
    def window(self) -> int:
        """The most words on each side that choose the sense: all of them, so that no window can be asked for."""
        return 0

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        """Return the probability of each sense: share × normal density; 0 for a sense that the word has not.

        *Shape: (usages, K)*.
        Errors: :class:`InputError` E712 for a target out of the vocabulary; :class:`SubjectError` E711.
        """
        numbers = [self._number(usage) for usage in usages]
        rows = np.zeros((len(usages), self.vectors.mask.shape[1]), np.float32)
        if not numbers:
            return rows
        asked = self.about["settings"]
        shown = [with_mask(usage) for usage in usages] if asked["masked"] else usages
        place = self.encoder.layers.index(int(asked["layer"]))
        points = np.asarray(self.encoder.embed(shown)[:, place], np.float64) - self.clusters["mean"]
        for row, (number, point) in enumerate(zip(numbers, points, strict=True)):
            squares = ((np.asarray(self.vectors.senses[number], np.float64) - point) ** 2).sum(axis=1)
            there = np.asarray(self.vectors.mask[number])
            with np.errstate(divide="ignore"):
                shares = np.log(np.where(there, self.clusters["shares"][number], 0.0))
            logs = shares - squares / (2 * float(self.clusters["spread"][number]) ** 2)
            exponents = np.exp(logs - logs.max())
            rows[row] = exponents / exponents.sum()
        return rows

    def distributions(self, word: int, windows: Sequence[Sequence[int]]) -> Floats:
        """Refuse: an encoder reads whole texts, not numbers of words. Errors: :class:`CapabilityError`."""
        what = f"{self.subject_id} chooses a sense by the whole text, not by a window of words"
        raise CapabilityError(
            what, hint="leave --corpus out, or use a training: gasi:FOLDER; senses drift shows examples of two corpora"
        )
