"""Encoders and decoders as readers: the vector of a target in its context, at every layer.

``encoder:minilm`` is the model that the extra ``demo`` installs; ``encoder:FOLDER`` and ``encoder:HUB_ID#REVISION``
are any Hugging Face model with safetensors weights and a fast tokenizer. Options follow a question mark:
``encoder:minilm?dtype=bf16&device=cuda&threads=2``.

The vector of a target is the mean of the sub-words that overlap its character span. Each distinct sentence is read
once, for any number of targets in it, and every layer is taken from that one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, Place, SubjectError, require
from lexiscope.core.subject import Floats, Progress, SubjectSpec, WorkShare
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import is_masked, with_mask
from lexiscope.subjects._options import Device, read_options, split_name
from lexiscope.subjects._vector_store import VectorStore, digest, library_versions
from lexiscope.subjects.local._loading import (
    device_of,
    dtype_of,
    load_model,
    load_tokenizer,
    longest_of,
    torch_threads,
)
from lexiscope.subjects.local._local_model import LocalModel, unloaded_copy
from lexiscope.subjects.local._model_check import same_to_rounding
from lexiscope.subjects.local._model_folder import PUBLISHED, ModelFolder
from lexiscope.subjects.local._span_tokens import (
    Content,
    SpanPlan,
    SpanRequest,
    TokenisedSentence,
    plan_batches,
    tokenise_sentences,
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


class Encoder(LocalModel):
    """A language model that gives the vector of a target in its context, at every layer.

    *name* is ``minilm``, a folder, or a hub id; *revision* a branch, tag or commit of the hub.
    """

    kind = "encoder"

    def __init__(self, name: str, *, revision: str = "", options: EncoderOptions | None = None) -> None:
        self.options = options or EncoderOptions()
        super().__init__(name, revision, self.options)
        self._route = ""
        self._threads = self.options.threads
        self._last: tuple[Content, SpanPlan] | None = None

    # -- what it is -------------------------------------------------------------------------------------------

    def _spec_options(self) -> dict[str, str]:
        return {"dtype": self.options.dtype} if self.options.dtype != "fp32" else {}

    @property
    def layers(self) -> tuple[int, ...]:
        """0 (the embeddings) and the model's layers 1..L."""
        return tuple(range(self.folder.n_layers + 1))

    @cached_property
    def mask_token(self) -> str:
        """The token that replaces a hidden target; no weights are read for it.

        Errors: :class:`CapabilityError` where the tokenizer has none.
        """
        _, tokenizer = load_tokenizer(str(self.folder.path), trust_remote_code=self._runs_own_code)
        if tokenizer.mask_token is None:
            raise CapabilityError(
                f"{self.subject_id} cannot be shown a text without its target: its tokenizer has no mask token",
                hint="ask it with the views full and word, or take a model that was trained with masks",
            )
        return str(tokenizer.mask_token)

    @property
    def facts(self) -> SubjectFacts:
        """What its files say of it; parameters are counted in the headers of the weights."""
        published = PUBLISHED.get(self.name)
        if published is None:
            return super().facts
        return replace(
            super().facts,
            title=published["title"],
            languages=tuple(published["languages"].split()),
            multilingual=False,
            corpus=published["corpus"],
            source=published["source"],
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

    def with_share(self, share: WorkShare) -> Encoder:
        """Return the same model for a worker that computes this share of each request; it is not loaded yet."""
        return unloaded_copy(self, share)

    # -- what it can do ---------------------------------------------------------------------------------------

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None) -> Floats:
        """Return one vector per usage and layer.

        *Shape: (usages, layers, width)*, float32. The same usage gives the same vector independent of the other usages
        (to 1e-5) and, asked together with the same usages in any order, an identical one. With *work*, each
        finished batch is kept in that folder, a broken call continues, and a call whose vectors are all stored
        loads no model. *progress* is called with the number of distinct usages done and their total.
        *Source:* SAW-C §4.1. Errors: :class:`SubjectError` naming the usage that has no vector;
        :class:`CapabilityError`, before anything is computed, for a hidden target where there is no mask token.
        """
        request = SpanRequest.of(self._with_mask_tokens(usages))
        if not request.sentences:
            return np.zeros((0, len(self.layers), self.folder.width or 0), dtype=np.float32)
        places = request.usage_places()
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
        request = SpanRequest.of(self._with_mask_tokens(usages))
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
        return ForwardPass(self.folder, dtype=how.dtype, device=how.device, trust_remote_code=self._runs_own_code)

    def _with_mask_tokens(self, usages: Sequence[Usage]) -> Sequence[Usage]:
        """The usages as the model reads them: its own mask token where ``[X]`` replaces the target."""
        if not any(map(is_masked, usages)):
            return usages
        token = self.mask_token
        return [with_mask(usage, token) if is_masked(usage) else usage for usage in usages]

    def _batches(self, request: SpanRequest, store: VectorStore | None) -> Iterator[tuple[list[int], Floats]]:
        """Yield the rows and the vectors of every batch, computed or stored."""
        known: Tokenised = {}
        plan = self._plan(request, store, known)
        self._route, self._threads = plan.route, plan.threads
        batches = list(plan_batches(plan.lengths, budget=self.options.budget))
        for content in (request.content(batches[number]) for number in self.share.order(len(batches))):
            if store and not store.has(content):
                self._vectors(content, store, known)
        for batch in batches:
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
            begun = self._first_threads(store, stored["threads"])
            return SpanPlan(tuple(stored["lengths"]), targets, stored["route"], begun)
        sentences = self._tokenise(request.sentences)
        known.update(zip(request.sentences, sentences, strict=True))
        lengths = tuple(len(sentence.ids) for sentence in sentences)
        targets = tuple(tuple(len(span) for span in sentence.spans) for sentence in sentences)
        with self._forward.threads(self.options.threads or None) as threads:
            plan = SpanPlan(lengths, targets, self._forward.route, self._first_threads(store, threads))
        self._last = (request.sentences, plan)
        if store:
            store.write_plan(request.sentences, asdict(plan))
        return plan

    def _first_threads(self, store: VectorStore | None, threads: int) -> int:
        """Return the number of threads with which the run was begun: *threads*, if none is noted yet."""
        return store.provenance("threads", lambda: {"threads": threads})["threads"] if store else threads

    def _vectors(self, content: Content, store: VectorStore | None, known: Tokenised) -> Floats:
        """Return the vectors of one batch, stored or computed."""
        if store and store.has(content):
            return store.read(content)
        sentences = [known[sentence] for sentence in content] if known else self._tokenise(content)
        with self._forward.threads(self.options.threads or None):
            vectors = self._forward.run(sentences)
        _check_finite(vectors, content)
        if store:
            store.write(content, vectors)
        return vectors

    def _tokenise(self, content: Content) -> list[TokenisedSentence]:
        forward = self._forward
        return tokenise_sentences(forward.tokenizer, content, longest=forward.longest, unknown=forward.unknown)

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


# -- one forward pass per batch: every layer is pooled at once into the result, no hidden state is kept -------------
# Layer 0 is what the first block reads, layer i what block i + 1 reads, and the last layer what the model returns: that
# is the convention of ``output_hidden_states`` for encoders and decoders alike (a decoder's last layer has its final
# normalisation applied). Which modules are the blocks is found out, and proved, on one sentence when the model is
# loaded; where no modules prove to be the blocks, ``output_hidden_states`` itself is used and ``route`` says so.


_CHECK_SENTENCE = "The bank of the river is far from the other bank."


class ForwardPass:
    """A loaded model with its tokenizer.

    ``route`` is ``hooks`` or ``hidden_states``; ``longest`` the most tokens that the model can read.
    """

    def __init__(self, folder: ModelFolder, *, dtype: str, device: str, trust_remote_code: bool) -> None:
        self._torch = require("torch", "models")
        place = str(folder.path)
        self.tokenizer, fast = load_tokenizer(place, trust_remote_code=trust_remote_code)
        model = load_model(place, trust_remote_code=trust_remote_code)
        self._model = model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model
        self._model.to(dtype_of(self._torch, dtype)).to(device_of(self._torch, device))
        self._device, self._dtype = device, dtype
        self.unknown: int | None = fast.unk_token_id
        self._pad = int(fast.pad_token_id or 0)
        self.longest = longest_of(self._model, int(fast.model_max_length))
        self.n_layers = folder.n_layers
        self._pooler: _Pooler | None = None
        self._blocks = self._find_blocks()
        self.route = "hooks" if self._blocks else "hidden_states"
        self._take = [block.register_forward_pre_hook(self._on_block, with_kwargs=True) for block in self._blocks]

    def run(self, batch: Sequence[TokenisedSentence]) -> Floats:
        """Return the mean vector of every span of a batch at every layer.

        *Shape: (spans of the batch, layers + 1, width)*, float32.
        """
        with self._torch.inference_mode():
            ids, mask = self._inputs([sentence.ids for sentence in batch])
            pooler = _Pooler(self._torch, batch, ids.shape[1], self.n_layers + 1, self._device)
            if self.route == "hidden_states":
                states = self._model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
                for state in states:
                    pooler.take(state)
                return pooler.vectors()
            self._pooler = pooler
            try:
                pooler.take(self._model(input_ids=ids, attention_mask=mask).last_hidden_state)
            finally:
                self._pooler = None
            return pooler.vectors()

    def threads(self, number: int | None) -> AbstractContextManager[int]:
        """Use *number* threads inside the block; see :func:`torch_threads`."""
        return torch_threads(self._torch, number)

    def _inputs(self, sentences: Sequence[tuple[int, ...]]) -> tuple[Any, Any]:
        longest = max(len(ids) for ids in sentences)
        rows = np.full((len(sentences), longest), self._pad, dtype=np.int64)
        mask = np.zeros_like(rows)
        for row, ids in enumerate(sentences):
            rows[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        # without padding a mask of ones says nothing; leaving it out lets attention take its fast path
        attention = None if mask.all() else self._torch.from_numpy(mask).to(self._device)
        return self._torch.from_numpy(rows).to(self._device), attention

    def _on_block(self, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self._pooler is not None:
            self._pooler.take(_hidden_states(args, kwargs))

    def _find_blocks(self) -> list[Any]:
        """Find the modules whose inputs are the hidden states 0..L-1, proved on one sentence."""
        torch = self._torch
        ids = torch.tensor([self.tokenizer.encode(_CHECK_SENTENCE).ids or [0]], device=self._device)
        with torch.inference_mode():
            states = self._model(input_ids=ids, output_hidden_states=True).hidden_states
            if states is None or len(states) != self.n_layers + 1 or len({state.shape for state in states}) != 1:
                raise SubjectError(
                    f"the model does not return {self.n_layers} layers of one width and an embedding layer",
                    why="the states are: " + ", ".join(str(tuple(state.shape)) for state in states or ()),
                )
            for modules in _module_lists(torch, self._model):
                seen, last = _record_inputs(modules, lambda: self._model(input_ids=ids).last_hidden_state)
                if len(seen) == self.n_layers and self._are_equal([*seen, last], states):
                    return modules
        return []

    def _are_equal(self, ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
        pairs = zip(ours, theirs, strict=True)
        return all(self._torch.is_tensor(own) and same_to_rounding(own, other, self._dtype) for own, other in pairs)


class _Pooler:
    """Averages the sub-words of every span, layer after layer, into one array."""

    def __init__(self, torch: Any, batch: Sequence[TokenisedSentence], longest: int, layers: int, device: str) -> None:
        spans = [[row * longest + token for token in span] for row, s in enumerate(batch) for span in s.spans]
        counts = [len(span) for span in spans]
        self._torch, self._layers, self._device = torch, layers, device
        self._first = torch.tensor([span[0] for span in spans], device=device)
        self._further = [self._subwords_at(spans, place) for place in range(1, max(counts))]
        self._counts = torch.tensor(counts, dtype=torch.float32, device=device)[:, None]
        self._out: Any = None
        self._layer = 0

    def take(self, hidden: Any) -> None:
        """Pool one layer, *(sentences, tokens, width)*; layers come in order."""
        width = hidden.shape[-1]
        if self._out is None:
            self._out = self._torch.empty((len(self._counts), self._layers, width), device=self._device)
        tokens = hidden.reshape(-1, width)
        rows = tokens.index_select(0, self._first).float()
        # one place after another, so that sums have one order on every device (index_add_ has none on a GPU)
        for owners, places in self._further:
            rows[owners] += tokens.index_select(0, places).float()
        self._out[:, self._layer] = rows / self._counts if self._further else rows
        self._layer += 1

    def _subwords_at(self, spans: Sequence[Sequence[int]], place: int) -> tuple[Any, Any]:
        """Return which spans have a sub-word at a place, and those sub-words."""
        owners = [number for number, span in enumerate(spans) if len(span) > place]
        made = (
            self._torch.tensor(numbers, device=self._device) for numbers in (owners, [spans[n][place] for n in owners])
        )
        return tuple(made)

    def vectors(self) -> Floats:
        """Return the pooled vectors as a numpy array."""
        if self._layer != self._layers:
            raise SubjectError(f"the model passed {self._layer} layers, {self._layers} were expected")
        return np.asarray(self._out.cpu().numpy(), dtype=np.float32)


def _module_lists(torch: Any, model: Any) -> Iterator[list[Any]]:
    """Yield the elements of every list of modules: a model's blocks are one of these lists."""
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module):
            yield list(module)


def _record_inputs(modules: list[Any], forward: Callable[[], Any]) -> tuple[list[Any], Any]:
    seen: list[Any] = []

    def keep(_module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen.append(_hidden_states(args, kwargs))

    handles = [module.register_forward_pre_hook(keep, with_kwargs=True) for module in modules]
    try:
        last = forward()
    finally:
        for handle in handles:
            handle.remove()
    return seen, last


def _hidden_states(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else kwargs.get("hidden_states")
