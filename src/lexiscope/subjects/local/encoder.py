"""Encoders and decoders as readers: the vector of a target in its context, at every layer.

``encoder:minilm`` is the model that the extra ``demo`` installs; ``encoder:FOLDER`` and ``encoder:HUB_ID#REVISION``
are any Hugging Face model with safetensors weights and a fast tokenizer. Options follow a question mark:
``encoder:minilm?dtype=bf16&device=cuda&threads=2``.

The vector of a target is the mean of the sub-words that overlap its character span. Each distinct sentence is read
once, whatever the number of targets in it, and every layer is taken from that one pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, Place, SubjectError
from lexiscope.core.subject import Floats, Progress, SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import is_masked, with_mask
from lexiscope.subjects._options import Device, read_options, split_name
from lexiscope.subjects._vector_store import VectorStore, digest, library_versions
from lexiscope.subjects.local._forward import ForwardPass
from lexiscope.subjects.local._loading import load_tokenizer, trusted
from lexiscope.subjects.local._model_folder import PUBLISHED, TOKENIZER_FILES, ModelFolder, locate
from lexiscope.subjects.local._span_tokens import (
    Content,
    SpanPlan,
    SpanRequest,
    TokenisedSentence,
    plan_batches,
    tokenise,
)

CAPABILITIES = ("Embeds",)
RUN_OPTIONS = ("device", "threads")

POOLING = "mean of the sub-words that overlap the span"
Tokenised = dict[tuple[str, tuple[tuple[int, int], ...]], TokenisedSentence]
Counts = np.ndarray[Any, np.dtype[np.int64]]

_STORE_FORMAT = 2


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """How an encoder is run.

    ``threads``: of torch, 0 = as the process has it. ``batch_tokens``: most tokens of a batch, 0 = 1,024 on a CPU and
    16,384 elsewhere. ``trust_remote_code``: the revision of the model whose own Python code may be run; empty = none.
    """

    dtype: Literal["fp32", "bf16"] = "fp32"
    device: Device = "cpu"
    threads: int = 0
    batch_tokens: int = 0
    trust_remote_code: str = ""

    @property
    def budget(self) -> int:
        """The most tokens of a batch, padding included."""
        return self.batch_tokens or (1_024 if self.device == "cpu" else 16_384)


def load(spec: SubjectSpec) -> Encoder:
    """Make the encoder that a spec names. Its weights are read when it first has something to compute.

    Errors: :class:`SpecError` for an unknown option.
    """
    name, revision, options = split_name(spec.name)
    return Encoder(name, revision=revision, options=read_options(EncoderOptions, options, of="an encoder"))


class Encoder:
    """A language model that gives the vector of a target in its context, at every layer.

    *name* is ``minilm``, a folder, or a hub id; *revision* a branch, tag or commit of the hub.
    """

    kind = "encoder"

    def __init__(self, name: str, *, revision: str = "", options: EncoderOptions | None = None) -> None:
        self.name = name
        self.hub_revision = revision
        self.options = options or EncoderOptions()
        self._route = ""
        self._threads = self.options.threads
        self._last: tuple[Content, SpanPlan] | None = None

    # -- what it is -------------------------------------------------------------------------------------------

    @property
    def subject_id(self) -> str:
        """Its spec, with the options that change its numbers and without those that only change its speed."""
        revision = f"#{self.hub_revision}" if self.hub_revision else ""
        dtype = f"?dtype={self.options.dtype}" if self.options.dtype != "fp32" else ""
        return f"encoder:{self.name}{revision}{dtype}"

    @cached_property
    def folder(self) -> ModelFolder:
        """The model's folder, checked.

        Errors: :class:`SubjectError` naming what is missing; :class:`MissingExtraError`.
        """
        code = ("*.py",) if self.options.trust_remote_code else ()
        folder = locate(
            self.name,
            self.hub_revision,
            allow=("*.safetensors", "*.index.json", "config.json", *TOKENIZER_FILES, *code),
        )
        folder.check()
        return folder

    @property
    def layers(self) -> tuple[int, ...]:
        """0 (the embeddings) and the model's layers 1..L."""
        return tuple(range(self.folder.n_layers + 1))

    @cached_property
    def revision(self) -> str:
        """One sha256 over configuration, weights, tokenizer and code."""
        return self.folder.revision()

    @cached_property
    def mask_token(self) -> str:
        """The token that stands for a hidden target; no weights are read for it.

        Errors: :class:`CapabilityError` where the tokenizer has none.
        """
        _, tokenizer = load_tokenizer(str(self.folder.path), trust_remote_code=self._trusted)
        if tokenizer.mask_token is None:
            raise CapabilityError(
                f"{self.subject_id} cannot be shown a text without its target: its tokenizer has no mask token",
                hint="ask it with the views full and word, or take a model that was trained with masks",
            )
        return str(tokenizer.mask_token)

    @property
    def facts(self) -> SubjectFacts:
        """What its files say of it; parameters are counted in the headers of the weights."""
        published = PUBLISHED.get(self.name, {})
        return SubjectFacts(
            subject_id=self.subject_id,
            title=published.get("title") or Path(self.name).name,
            kind=self.kind,
            languages=tuple(published.get("languages", "").split()),
            multilingual=False if published else None,
            corpus=published.get("corpus", ""),
            architecture=self.folder.architecture,
            n_layers=self.folder.n_layers,
            width=self.folder.width,
            n_parameters=self.folder.n_parameters(),
            revision=self.revision,
            source=published.get("source") or self.name,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """How it is run, for the run record.

        ``route`` is ``hooks``, or ``hidden_states`` for an architecture whose layers must all be kept in memory
        until they are pooled; it is empty before the first vector. ``threads`` is the number that torch used when
        the run was begun, here or in the broken call that this one continued.
        """
        how = {"batch_tokens": self.options.budget, "threads": self._threads}
        return {**asdict(self.options), **how, "pooling": POOLING, "route": self._route}

    # -- what it can do ---------------------------------------------------------------------------------------

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None) -> Floats:
        """Return one vector per usage and layer.

        *Shape: (usages, layers, width)*, float32. The same usage gives the same vector whatever stands beside it
        (to 1e-5) and, asked together with the same usages in whatever order, the same bytes. With *work*, each
        finished batch is kept in that folder, a broken call continues, and a call whose vectors are all stored
        loads no model. *progress* is called with the number of distinct usages done and their total.
        *Source:* SAW-C §4.1. Errors: :class:`SubjectError` naming the usage that has no vector;
        :class:`CapabilityError`, before anything is computed, for a hidden target where there is no mask token.
        """
        request = SpanRequest.of(self._masked(usages))
        if not request.sentences:
            return np.zeros((0, len(self.layers), self.folder.width or 0), dtype=np.float32)
        places = request.places()
        vectors: Floats | None = None
        done = 0
        for rows, part in self._batches(request, self._store(work)):
            if vectors is None:
                vectors = np.empty((len(usages), *part.shape[1:]), dtype=np.float32)
            # written at once to all places of a repeated usage: there is no second array of distinct vectors
            times = [len(places[row]) for row in rows]
            vectors[[place for row in rows for place in places[row]]] = np.repeat(part, times, axis=0)
            done += len(rows)
            if progress is not None:
                progress(done, len(request.rows))
        assert vectors is not None
        return vectors

    def token_counts(self, usages: Sequence[Usage], *, work: Path | None = None) -> Counts:
        """Count the tokens of each usage's sentence (special tokens included) and of its target.

        *Shape: (usages, 2)*. *Unit:* tokens. *Source:* SAW-C Table 3. With *work*, counts that :meth:`embed` kept
        there are used. Errors: those of :meth:`embed`.
        """
        request = SpanRequest.of(self._masked(usages))
        counts = np.zeros((len(request.rows), 2), dtype=np.int64)
        plan = self._plan(request, self._store(work), {}) if request.sentences else SpanPlan((), (), "", 0)
        for number, (length, targets) in enumerate(zip(plan.lengths, plan.targets, strict=True)):
            for row, target in zip(request.rows_of([number]), targets, strict=True):
                counts[row] = length, target
        return counts[list(request.usage_rows)]

    # -- how --------------------------------------------------------------------------------------------------

    @cached_property
    def _forward(self) -> ForwardPass:
        how = self.options
        return ForwardPass(self.folder, dtype=how.dtype, device=how.device, trust_remote_code=self._trusted)

    @cached_property
    def _trusted(self) -> bool:
        named = self.options.trust_remote_code
        revision = self.revision if named else ""
        return trusted(self.folder, named, hub_revision=self.hub_revision, revision=revision)

    def _masked(self, usages: Sequence[Usage]) -> Sequence[Usage]:
        """The usages as the model reads them: its own mask token where ``[X]`` stands for the target."""
        if not any(map(is_masked, usages)):
            return usages
        token = self.mask_token
        return [with_mask(usage, token) if is_masked(usage) else usage for usage in usages]

    def _batches(self, request: SpanRequest, store: VectorStore | None) -> Iterator[tuple[list[int], Floats]]:
        """Yield the rows and the vectors of every batch, computed or stored."""
        known: Tokenised = {}
        plan = self._plan(request, store, known)
        self._route, self._threads = plan.route, plan.threads
        for batch in plan_batches(plan.lengths, budget=self.options.budget):
            yield request.rows_of(batch), self._vectors(request.content(batch), store, known)

    def _plan(self, request: SpanRequest, store: VectorStore | None, known: Tokenised) -> SpanPlan:
        """Return the token counts of a request, stored or counted; from them follow the batches.

        Sentences that had to be tokenised for it are added to *known*.
        """
        if self._last is not None and self._last[0] == request.sentences and store is None:
            return self._last[1]
        stored = store.read_plan(request.sentences) if store else None
        if stored is not None:
            targets = tuple(map(tuple, stored["targets"]))
            begun = self._begun(store, stored["threads"])
            return SpanPlan(tuple(stored["lengths"]), targets, stored["route"], begun)
        sentences = self._tokenised(request.sentences)
        known.update(zip(request.sentences, sentences, strict=True))
        lengths = tuple(len(sentence.ids) for sentence in sentences)
        targets = tuple(tuple(len(span) for span in sentence.spans) for sentence in sentences)
        with self._forward.threads(self.options.threads or None) as threads:
            plan = SpanPlan(lengths, targets, self._forward.route, self._begun(store, threads))
        self._last = (request.sentences, plan)
        if store:
            store.write_plan(request.sentences, asdict(plan))
        return plan

    def _begun(self, store: VectorStore | None, threads: int) -> int:
        """Return the number of threads with which the run was begun: *threads*, where none is noted yet."""
        return store.first("threads", lambda: {"threads": threads})["threads"] if store else threads

    def _vectors(self, content: Content, store: VectorStore | None, known: Tokenised) -> Floats:
        """Return the vectors of one batch, stored or computed."""
        if store and store.has(content):
            return store.read(content)
        sentences = [known[each] for each in content] if known else self._tokenised(content)
        with self._forward.threads(self.options.threads or None):
            vectors = self._forward.run(sentences)
        _check_finite(vectors, content)
        if store:
            store.write(content, vectors)
        return vectors

    def _tokenised(self, content: Content) -> list[TokenisedSentence]:
        forward = self._forward
        return tokenise(forward.tokenizer, content, longest=forward.longest, unknown=forward.unknown)

    def _store(self, work: Path | None) -> VectorStore | None:
        if work is None:
            return None
        revision = self.folder.revision(memory=work / "hashes.json")
        key = [_STORE_FORMAT, revision, self.options.dtype, self.options.device, POOLING, library_versions()]
        return VectorStore(work / "vectors", digest(key))


def _check_finite(vectors: Floats, content: Content) -> None:
    finite = np.isfinite(vectors)
    if finite.all():
        return
    row, layer = (int(axis[0]) for axis in np.nonzero(~finite.all(axis=2)))
    text, (start, end) = [(text, span) for text, spans in content for span in spans][row]
    raise SubjectError(
        f"the model's vector of the target is not finite (NaN or infinity) at layer {layer}",
        place=Place(text=text, column=start + 1, width=end - start),
        hint="use dtype=fp32; if it is in use, the weights themselves are broken",
    )
