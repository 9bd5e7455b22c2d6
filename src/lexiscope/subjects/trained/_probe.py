"""A probe of an encoder that is not trained: two vectors are near enough or not, or the nearest gloss is chosen.

Vectors are the encoder's own (:mod:`lexiscope.subjects.local.encoder`): of the target in its text or of the whole text,
and of a gloss the mean of all its sub-words. Encodings are kept on disk where a *store* is named; the glosses are asked
for by themselves, so that they are read once for all views and all seeds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.scoring import Doubles
from lexiscope.core.subject import Floats, SubjectSpec
from lexiscope.core.usage import Usage, whole_text
from lexiscope.items.answers.sense_options import definition_of, glosses_of
from lexiscope.items.arrange.views import MASK
from lexiscope.subjects.local import encoder
from lexiscope.subjects.local._loading import load_tokenizer
from lexiscope.subjects.trained._wording import Wording, cut_to_length

Query = Literal["target", "sentence"]
"""Which vector represents a usage."""

QUESTIONS = ("pair", "verification", "senses")
"""What is compared: two usages, a usage and a definition, a usage and the gloss of every option."""

SAME, DIFFERENT = "t", "f"
_LONGEST = 256


@dataclass(frozen=True)
class UntrainedEncoder:
    """An encoder as it is, loaded once, that is given at most a fixed number of tokens of each text.

    *store* is a folder of vectors. Errors of its use: :class:`SpecError`, and those of the encoder.
    """

    spec: str
    store: Path | None = None

    @cached_property
    def encoder(self) -> encoder.Encoder:
        """The encoder."""
        return encoder.load(SubjectSpec.parse(self.spec))

    @cached_property
    def _tokenizer(self) -> Any:
        return load_tokenizer(str(self.encoder.folder.path), trust_remote_code=False)[0]

    def embed(self, usages: Sequence[Usage]) -> Floats:
        """Return the vectors of usages as they are. *Shape: (usages, layers, width)*."""
        return self.encoder.embed(usages, work=self.store)

    def readable(self, usages: Sequence[Usage], whole: Sequence[bool]) -> list[Usage]:
        """Return the usages as far as they are read: around the target, or the beginning of whole texts."""
        # a whole text is its own target: what is kept of it is what is around its first letter
        heads = [
            replace(usage, end=usage.start + 1) if own else usage for usage, own in zip(usages, whole, strict=True)
        ]
        cut = cut_to_length(self._tokenizer, heads, longest=_LONGEST)
        return [whole_text(usage.text) if own else usage for usage, own in zip(cut, whole, strict=True)]

    def n_cut(self, texts: Iterable[Sequence[str]]) -> int:
        """Return of how many items one of the texts is longer than what is read."""
        return sum(any(len(encoding.ids) > _LONGEST for encoding in self._tokenizer.encode_batch(own)) for own in texts)


@dataclass(frozen=True)
class Cosines:
    """Gives the cosines of items at every layer of an encoder.

    *spec* names the encoder, which puts its own mask token in the place of ``[X]``; *store* is a folder of vectors.
    """

    spec: str
    view: str
    query: Query = "target"
    store: Path | None = None

    @classmethod
    def of(cls, training: Mapping[str, Any], *, device: str, threads: int, store: Path | None) -> Cosines:
        """Make what a training recorded again."""
        known = training["encoder"]
        revision = f"#{known['revision']}" if known["revision"] else ""
        spec = f"encoder:{known['name']}{revision}?device={device}&threads={threads}"
        return cls(spec, str(training["view"]), training["query"], store)

    @cached_property
    def _untrained(self) -> UntrainedEncoder:
        return UntrainedEncoder(self.spec, self.store)

    @property
    def encoder(self) -> encoder.Encoder:
        """The encoder. Errors: :class:`SpecError`."""
        return self._untrained.encoder

    def of_items(self, items: Sequence[Item], question: str) -> list[Doubles]:
        """Return the cosines of every item: of the pair, of the definition, or one per option.

        *Shape of each: (1 or options, layers)*. *Higher means:* nearer.
        Errors: those of :class:`~lexiscope.subjects.trained._wording.Wording` and of the encoder.
        """
        if question == "pair":
            for item in items:
                self._wording.pair(item)
            first, second = (self._embed([self._query_usage(item.usages[place]) for item in items]) for place in (0, 1))
            return [cosine[None] for cosine in _cosines(first, second)]
        meanings = [self._meanings(item, question) for item in items]
        queries = self._embed([self._query_usage(item.usages[0]) for item in items])
        texts = sorted({text for texts_of_item in meanings for text in texts_of_item})
        vectors = dict(zip(texts, self._embed([whole_text(text) for text in texts], whole=True), strict=True))
        # broadcast: the usage's vector against that of every candidate
        return [
            _cosines(query[None], np.stack([vectors[text] for text in texts]))
            for query, texts in zip(queries, meanings, strict=True)
        ]

    def n_cut(self, items: Sequence[Item], question: str) -> int:
        """Return of how many items a text is longer than what is read and is cut. Errors: as :meth:`of_items`."""
        shown = [[usage.text for usage in item.usages] for item in items]
        if question != "pair":
            shown = [[*texts, *self._meanings(item, question)] for texts, item in zip(shown, items, strict=True)]
        return self._untrained.n_cut(shown)

    def _meanings(self, item: Item, question: str) -> list[str]:
        self._wording.query(item)
        texts = [definition_of(item)] if question == "verification" else list(glosses_of(item).values())
        return [self._wording.meaning(item, text) for text in texts]

    def _query_usage(self, usage: Usage) -> Usage:
        return usage if self.query == "target" else whole_text(usage.text)

    def _embed(self, usages: Sequence[Usage], *, whole: bool = False) -> Floats:
        is_whole = whole or self.query == "sentence"
        return self._untrained.embed(self._untrained.readable(usages, [is_whole] * len(usages)))

    @property
    def _wording(self) -> Wording:
        return Wording(self.view, MASK)


@dataclass(frozen=True, slots=True)
class Probe:
    """Cosines of one layer, and the threshold from which on the answer is ``t``."""

    cosines: Cosines
    question: str
    layer: int
    threshold: float

    def choices(self, items: Sequence[Item]) -> tuple[list[str], list[float]]:
        """Return the answer to every item and its cosine distance (of the option that was chosen).

        Errors: those of :meth:`Cosines.of_items`.
        """
        cosines = [layers[:, self.layer] for layers in self.cosines.of_items(items, self.question)]
        if self.question == "senses":
            best = [
                best_option(item.item_id, tuple(glosses_of(item)), scores)
                for item, scores in zip(items, cosines, strict=True)
            ]
            return [option for option, _ in best], [1 - cosine for _, cosine in best]
        answers = [SAME if cosine[0] >= self.threshold else DIFFERENT for cosine in cosines]
        return answers, [1 - float(cosine[0]) for cosine in cosines]


def best_option(item_id: str, options: Sequence[str], scores: Doubles) -> tuple[str, float]:
    """Return the option with the highest score, and that score; equal ones are drawn by a hash of item and option.

    Their order would decide otherwise, and it is that of frequency: a model that cannot distinguish candidates would
    look like one that knows the most frequent sense.
    """
    best = float(scores.max())
    tied = [option for option, score in zip(options, scores, strict=True) if score == best]
    return min(tied, key=lambda option: hashlib.sha256(f"{item_id}\n{option}".encode()).hexdigest()), best


def _cosines(first: Floats, second: Floats) -> Doubles:
    """Return the cosines of the last axis. *Shape: (rows, layers)*; exactly 1 for equal vectors."""
    left, right = (np.asarray(vectors, dtype=np.float64) for vectors in (first, second))
    lengths = np.sqrt((left * left).sum(axis=-1) * (right * right).sum(axis=-1))
    return np.asarray((left * right).sum(axis=-1) / np.maximum(lengths, np.finfo(np.float64).tiny))
