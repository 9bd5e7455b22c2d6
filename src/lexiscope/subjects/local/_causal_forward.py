"""A causal language model that reads units and gives the log-probabilities of the tokens scored from them.

The vocabulary projection runs only where a token is scored, in chunks: there is never a matrix of all tokens by the
vocabulary. Texts of a batch are padded on the right without a mask: a causal model never looks right.

*Lean* kernels compute the same with fewer passes over the memory: attention in blocks, modules that transformers
computes by hand, the projection piece by piece. They replace the model's own inside one call only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from lexiscope.core.errors import Place, SubjectError, require
from lexiscope.core.scoring import Offsets
from lexiscope.core.subject import Floats
from lexiscope.subjects.local._adapter import AdaptedFolder, add_adapter
from lexiscope.subjects.local._growing_texts import CacheUse, prove_cache_use
from lexiscope.subjects.local._loading import device_of, dtype_of, load_model, load_tokenizer, longest_of, torch_threads
from lexiscope.subjects.local._model_check import same_to_rounding
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.local._score_units import Unit

# rows of a chunk of logits: enough for fast products, few enough for the memory (benchmarks/README.md)
_CHUNK_ROWS = 176
# exponentials are added over this many numbers at a time, which stay near the processor
_NEAR = 1 << 18
_PROBE = (3, 1, 4, 1, 5, 9, 2, 6)


class CausalForward:
    """A loaded causal language model with its tokenizer.

    ``tokenizer`` is a ``tokenizers.Tokenizer``, ``named_tokenizer`` that of transformers around it; ``unknown`` and
    ``bos`` are the ids of those tokens or ``None``, ``ends`` the ids that end a text; ``longest`` the most tokens that
    the model can read; ``attention`` its implementation; ``projection`` is ``last hidden state``, or ``whole model``
    where its logits are more than a projection of that.
    """

    def __init__(self, folder: ModelFolder, *, dtype: str, device: str, trust_remote_code: bool) -> None:
        self.torch = require("torch", "models")
        place = str(folder.path)
        self.tokenizer, fast = load_tokenizer(place, trust_remote_code=trust_remote_code)
        self.named_tokenizer = fast
        model = load_model(place, trust_remote_code=trust_remote_code, auto="AutoModelForCausalLM")
        model = model.to(dtype_of(self.torch, dtype)).to(device_of(self.torch, device))
        self.model = add_adapter(model, folder) if isinstance(folder, AdaptedFolder) else model
        self.device, self.dtype = device, dtype
        self.unknown: int | None = (
            # a token that is something else too does not mean that a text is unknown
            None if fast.unk_token_id in (fast.bos_token_id, fast.eos_token_id) else fast.unk_token_id
        )
        self.bos: int | None = fast.bos_token_id
        configured = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
        ends = [*(configured if isinstance(configured, list) else [configured]), fast.eos_token_id]
        self.ends = frozenset(int(token) for token in ends if token is not None)
        self.longest = longest_of(model, int(fast.model_max_length))
        self.attention = str(getattr(model.config, "_attn_implementation", "") or "")
        self._head = model.get_output_embeddings()
        self._scaling = self._find_scaling(place)
        self.projection = "whole model" if self._scaling is None else "last hidden state"
        # what is measured here is measured on processors; a GPU has kernels and limits of its own
        here = device == "cpu"
        self._modules = lean_modules(self.model) if here else ()
        self._pieces = here and self._scaling is not None and type(self._head) is self.torch.nn.Linear
        # rows in blocks have another order, which the projection of whole models does not know
        self._blocks = self._pieces and self.attention == "sdpa"

    @property
    def n_vocabulary(self) -> int:
        """The number of tokens that the model gives a probability."""
        return int(self._head.weight.shape[0])

    @cached_property
    def cache_use(self) -> CacheUse:
        """How the cache of this model is used where texts grow token by token."""
        return prove_cache_use(
            self.torch, self.model, n_vocabulary=self.n_vocabulary, device=self.device, dtype=self.dtype
        )

    def kernels(self, route: str) -> str:
        """Name the lean kernels that this model has on a route, for the run record; empty where it has none."""
        if route == "single":
            return ""
        named = ["attention in blocks"] if self._blocks and route == "tree" else []
        named += sorted({module.what for module in self._modules})
        named += ["projection in pieces"] if self._pieces else []
        return ", ".join(named)

    def threads(self, number: int | None) -> AbstractContextManager[int]:
        """Use *number* threads inside the block; see :func:`torch_threads`."""
        return torch_threads(self.torch, number)

    def plain(self, ids: tuple[int, ...]) -> Floats:
        """Score one sequence by itself, through the model as it is: the definition.

        *Shape: (tokens - 1,)*: the log-probability of every token but the first.
        """
        torch = self.torch
        with torch.inference_mode():
            rows = torch.tensor([ids[:-1]], device=self.device)
            scores = torch.log_softmax(self.model(input_ids=rows, use_cache=False).logits[0].float(), dim=-1)
            picked = scores.gather(1, torch.tensor(ids[1:], device=self.device)[:, None])[:, 0]
            return np.asarray(picked.cpu().numpy(), dtype=np.float32)

    def run(self, unit: Unit, *, lean: bool) -> Floats:
        """Return the log-probability of every scored token of a unit, by *lean* kernels or by the model's own.

        *Shape: (nodes of the unit,)*.
        """
        if unit.route == "single":
            # the last token of a text is scored and is not among those that are read
            last = np.cumsum([len(row) for row in unit.rows]) - 1
            rows = zip(unit.rows, unit.targets[last], strict=True)
            return np.concatenate([self.plain((*row, int(target))) for row, target in rows])
        with self.torch.inference_mode():
            return self._run_lean(unit) if lean else self._scores(unit, {**self._inputs(unit), **self._mask(unit)})

    def _run_lean(self, unit: Unit) -> Floats:
        dtype = dtype_of(self.torch, self.dtype)
        with ExitStack() as stack:
            stack.enter_context(use_lean_modules(self._modules))
            mask = {} if self._blocks else self._mask(unit)
            if self._blocks and unit.ends is not None and unit.depths is not None:
                row = tree_row(unit.ends, device=self.device, dtype=dtype)
                ids = tuple(np.array(unit.rows[0])[row.order].tolist())
                unit = replace(unit, rows=(ids,), depths=unit.depths[row.order], places=row.inverse[unit.places])
                mask = {"attention_mask": stack.enter_context(attending_in_blocks(self.model, row))}
            inputs = {**self._inputs(unit), **mask}
            return self._scores_in_pieces(unit, inputs) if self._pieces else self._scores(unit, inputs)

    def _inputs(self, unit: Unit) -> dict[str, Any]:
        torch = self.torch
        width = max(map(len, unit.rows))
        ids = np.zeros((len(unit.rows), width), dtype=np.int64)
        for number, row in enumerate(unit.rows):
            ids[number, : len(row)] = row
        inputs = {"input_ids": torch.from_numpy(ids).to(self.device), "use_cache": False}
        if unit.depths is None:
            return inputs
        return {**inputs, "position_ids": torch.from_numpy(unit.depths).to(self.device)[None]}

    def _mask(self, unit: Unit) -> dict[str, Any]:
        """Return the mask of a whole row of the tree."""
        if unit.ends is None:
            return {}
        torch = self.torch
        node = torch.arange(len(unit.ends), device=self.device)
        ends = torch.from_numpy(unit.ends).to(self.device)
        # in depth-first order, the ancestors of a node are those before it whose descendants reach past it
        seen = (node[None, :] <= node[:, None]) & (node[:, None] < ends[None, :])
        dtype = dtype_of(torch, self.dtype)
        mask = torch.zeros(seen.shape, dtype=dtype, device=self.device)
        # a float mask that is added: a boolean one is misread by the plain attention of some architectures
        mask.masked_fill_(~seen, torch.finfo(dtype).min)
        return {"attention_mask": mask[None, None]}

    def _scores_in_pieces(self, unit: Unit, inputs: dict[str, Any]) -> Floats:
        torch = self.torch
        places, which = np.unique(unit.places, return_inverse=True)
        hidden = self.model.base_model(**inputs)[0].flatten(0, 1)[torch.from_numpy(places)]
        rows, targets = torch.from_numpy(which), torch.from_numpy(unit.targets)
        assert self._scaling is not None
        scores = log_probabilities(hidden, self._head, rows, targets, scaling=self._scaling)
        return np.asarray(scores.numpy(), dtype=np.float32)

    def _scores(self, unit: Unit, inputs: dict[str, Any]) -> Floats:
        torch = self.torch
        places, which = np.unique(unit.places, return_inverse=True)
        scores = np.empty(len(unit.targets), dtype=np.float32)
        targets = torch.from_numpy(unit.targets).to(self.device)
        for begin, logits in self._logits(inputs, torch.from_numpy(places).to(self.device)):
            first, last = np.searchsorted(which, [begin, begin + len(logits)])
            near = logits.split(max(1, _NEAR // self.n_vocabulary))
            whole = torch.cat([torch.logsumexp(part, dim=-1) for part in near])
            row = torch.from_numpy(which[first:last] - begin).to(self.device)
            picked = logits[row, targets[first:last]] - whole[row]
            scores[first:last] = picked.clamp_(max=0).cpu().numpy()
        return scores

    def _logits(self, inputs: dict[str, Any], places: Any) -> Iterator[tuple[int, Any]]:
        """Yield chunks of logits at places of the rows laid end to end, and the number of each chunk's first place."""
        # chunks of one size rather than a small one at the end
        size = math.ceil(len(places) / math.ceil(len(places) / _CHUNK_ROWS))
        if self._scaling is None:
            logits = self.model(**inputs).logits.flatten(0, 1)
            for begin in range(0, len(places), size):
                yield begin, logits[places[begin : begin + size]].float()
            return
        hidden = self.model.base_model(**inputs)[0].flatten(0, 1)
        for begin in range(0, len(places), size):
            yield begin, self._scaling(self._head(hidden[places[begin : begin + size]])).float()

    def _find_scaling(self, place: str) -> Callable[[Any], Any] | None:
        """Find what the model does to its projected last hidden state, proved on one row of tokens."""
        torch, config = self.torch, getattr(self.model.config, "text_config", self.model.config)
        if self._head is None or not hasattr(self._head, "weight"):
            raise SubjectError("this model has no projection on its vocabulary", place=Place(place))
        cap, times, over = (
            getattr(config, name, None) for name in ("final_logit_softcapping", "logit_scale", "logits_scaling")
        )
        # what the configuration names comes first: small logits are nearly the same with and without a cap
        candidates: list[Callable[[Any], Any]] = []
        candidates += [lambda logits: torch.tanh(logits / cap) * cap] if cap else []
        candidates += [lambda logits: logits * times] if times else []
        candidates += [lambda logits: logits / over] if over else []
        candidates += [lambda logits: logits]
        with torch.inference_mode():
            ids = torch.tensor([[token % self.n_vocabulary for token in _PROBE]], device=self.device)
            logits = self.model(input_ids=ids, use_cache=False).logits
            hidden = self.model.base_model(input_ids=ids, use_cache=False)[0]
            if hidden.shape[-1] != self._head.weight.shape[1]:
                return None
            projected = self._head(hidden)
        for candidate in candidates:
            if same_to_rounding(candidate(projected), logits, self.dtype, part=0.1):
                return candidate
        return None


# -- log-probabilities from hidden states, piece by piece -----------------------------------------------------------
# The vocabulary is projected piece by piece, and no row of it is ever kept. A piece of logits is computed for all rows,
# turned into sums of exponentials while it is near the processor, and overwritten by the next one. The logits of scored
# tokens are products of their own.


# outputs of a piece, and rows of it that are summed together (benchmarks/README.md)
_OUTPUTS, _ROWS = 2_048, 128
# scored tokens whose logits are computed together
_SCORED = 1_024


def log_probabilities(hidden: Any, head: Any, rows: Any, targets: Any, *, scaling: Callable[[Any], Any]) -> Any:
    """Return the log-probability of ``targets[i]`` after ``hidden[rows[i]]``. *Shape: (targets,)*, at most 0.

    *head* is a linear layer, *scaling* what the model does to every single one of its outputs.
    """
    torch = require("torch", "models")
    n_rows, pieces = len(hidden), head.weight.split(_OUTPUTS)
    biases = [None] * len(pieces) if head.bias is None else head.bias.split(_OUTPUTS)
    largest, sums = hidden.new_empty((2, len(pieces), n_rows), dtype=torch.float32)
    place = hidden.new_empty(n_rows * min(_OUTPUTS, len(head.weight)))
    for number, (weight, bias) in enumerate(zip(pieces, biases, strict=True)):
        logits = place[: n_rows * len(weight)].view(n_rows, len(weight))
        if bias is None:
            torch.mm(hidden, weight.t(), out=logits)
        else:
            torch.addmm(bias, hidden, weight.t(), out=logits)
        split = (tensor.split(_ROWS) for tensor in (logits, largest[number], sums[number]))
        for part, most, total in zip(*split, strict=True):
            near = scaling(part).float()
            torch.amax(near, 1, out=most)
            torch.sum(near.sub_(most[:, None]).exp_(), 1, out=total)
    whole = torch.logsumexp(sums.log_().add_(largest), 0)
    return (_target_logits(torch, hidden, head, rows, targets, scaling) - whole[rows]).clamp_(max=0)


def _target_logits(torch: Any, hidden: Any, head: Any, rows: Any, targets: Any, scaling: Callable[[Any], Any]) -> Any:
    logits_of_targets = []
    for row, target in zip(rows.split(_SCORED), targets.split(_SCORED), strict=True):
        logits = torch.linalg.vecdot(hidden[row].float(), head.weight[target].float())
        logits_of_targets.append(scaling(logits if head.bias is None else logits + head.bias[target].float()))
    return torch.cat(logits_of_targets)


# -- attention over a row of a prefix tree in blocks: a block of nodes is compared with little but what it can see ----
# A node sees its ancestors and itself: some 30 of the 2,000 nodes of a row. Nodes that follow each other in depth-first
# order have nearly all ancestors in common, so a block of them is given the keys of the ancestors of its first node and
# its own. Hidden are only nodes of the block that are no ancestors, by a mask that is added as in whole rows. Blocks
# with keys of similar number are read together, so that the nodes of a row are put into the order of these groups.


NAME = "lexiscope_tree"
"""The name of this attention among those of transformers."""
# nodes of a block: large enough for fast products, small enough to share their ancestors (benchmarks/README.md)
_BLOCK = 32
# blocks with keys of similar number are read together; padding one of them wastes at most this many
_SPREAD = 16
# what changes attention beyond a mask and a scale; a model that gives one of these is not understood
_NOT_UNDERSTOOD = ("softcap", "s_aux", "position_bias", "sinks")


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of as many nodes and keys each.

    ``nodes`` and ``keys`` are places in the row. *Shapes:* (blocks, nodes of a block) and (blocks, keys of a block);
    ``seen`` says which of the keys a node sees, *shape:* (blocks, nodes of a block, keys of a block).
    """

    nodes: Offsets
    keys: Offsets
    seen: np.ndarray[Any, np.dtype[np.bool_]]


def cut_into_blocks(ends: Offsets, *, size: int = _BLOCK) -> tuple[Blocks, ...]:
    """Cut a row into blocks. *ends* is for every node one past its last descendant.

    >>> (both,) = cut_into_blocks(np.array([6, 3, 3, 6, 6, 6]), size=3)
    >>> both.nodes.tolist(), both.keys.tolist()
    ([[0, 1, 2], [3, 4, 5]], [[0, 1, 2, 0], [0, 3, 4, 5]])
    >>> both.seen[0].tolist()
    [[True, False, False, False], [True, True, False, False], [True, True, True, False]]
    """
    spans = [np.arange(first, min(first + size, len(ends))) for first in range(0, len(ends), size)]
    # an ancestor comes before the block and its descendants reach past the block's first node
    keys = [np.concatenate([np.flatnonzero(ends[: span[0]] > span[0]), span]) for span in spans]
    order = sorted(range(len(spans)), key=lambda number: (len(spans[number]), len(keys[number]), number))
    groups: list[list[int]] = []
    for number in order:
        group = groups[-1] if groups else []
        alike = group and len(spans[group[0]]) == len(spans[number])
        if alike and len(keys[number]) <= len(keys[group[0]]) + _SPREAD:
            group.append(number)
        else:
            groups.append([number])
    return tuple(_padded_blocks([spans[n] for n in group], [keys[n] for n in group], ends) for group in groups)


def _padded_blocks(spans: Sequence[Offsets], keys: Sequence[Offsets], ends: Offsets) -> Blocks:
    width = max(map(len, keys))
    real = np.array([np.arange(width) < len(own) for own in keys])
    padded = np.zeros((len(keys), width), dtype=np.int64)
    padded[real] = np.concatenate(keys)
    nodes = np.stack(spans)
    before = padded[:, None, :] <= nodes[:, :, None]
    seen = real[:, None, :] & before & (nodes[:, :, None] < ends[padded][:, None, :])
    return Blocks(nodes, padded, seen)


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of a prefix tree as tensors: groups of blocks, and the order in which the row must be read.

    ``order`` are the places of the row in that order, ``inverse`` says for every place where it went.
    """

    order: Offsets
    inverse: Offsets
    groups: tuple[_Group, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Blocks that are read together: their nodes' stretch of the order, the places of their keys, and the mask."""

    nodes: slice
    keys: Any
    shape: tuple[int, int, int]
    mask: Any


_READ: ContextVar[TreeRow] = ContextVar("lexiscope_tree_row")


def tree_row(ends: Offsets, *, device: str, dtype: Any) -> TreeRow:
    """Prepare a row whose nodes' last descendants end at *ends*."""
    torch = require("torch", "models")
    groups, first, made = cut_into_blocks(ends), 0, []
    order = np.concatenate([blocks.nodes.ravel() for blocks in groups])
    inverse = np.argsort(order)
    for blocks in groups:
        seen = torch.from_numpy(blocks.seen[:, None]).to(device)
        mask = torch.zeros(seen.shape, dtype=dtype, device=device).masked_fill_(~seen, torch.finfo(dtype).min)
        keys = torch.from_numpy(inverse[blocks.keys.ravel()]).to(device)
        made.append(_Group(slice(first, first := first + blocks.nodes.size), keys, blocks.seen.shape, mask))
    return TreeRow(order, inverse, tuple(made))


@contextmanager
def attending_in_blocks(model: Any, row: TreeRow) -> Iterator[Any]:
    """Let *model* attend in the blocks of *row* inside the context; gives the mask that the model is called with.

    The model's settings are put back at its end, also after an error.
    """
    require("transformers", "models").AttentionInterface.register(NAME, attend)
    by_id = {id(config): config for module in model.modules() if (config := getattr(module, "config", None))}
    configs = [config for config in by_id.values() if hasattr(config, "_attn_implementation")]
    before = [config._attn_implementation for config in configs]
    token = _READ.set(row)
    try:
        for config in configs:
            config._attn_implementation = NAME
        # a mask of four dimensions is passed on as it is; this one hides nothing
        yield row.groups[0].mask.new_zeros((1, 1, 1, 1))
    finally:
        _READ.reset(token)
        for config, name in zip(configs, before, strict=True):
            config._attn_implementation = name


def attend(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float | None = None, **given: Any
) -> tuple[Any, None]:
    """Attend in the blocks of the row that is being read, as transformers asks an attention.

    *Shapes:* (1, heads, nodes, size of a head) in, (1, nodes, heads, size of a head) out.
    Errors: :class:`ValueError` where a model asks for more than a mask and a scale.
    """
    torch = require("torch", "models")
    asked = [name for name in _NOT_UNDERSTOOD if given.get(name) is not None]
    if asked or attention_mask is None or attention_mask.numel() != 1 or query.shape[0] != 1:
        raise ValueError(f"attention with {', '.join(asked) or 'a mask of its own'} cannot be read in blocks")
    queries, keys, values = (tensor[0].transpose(0, 1) for tensor in (query, key, value))
    output = torch.empty((*queries.shape[:2], values.shape[2]), dtype=query.dtype, device=query.device)
    for group in _READ.get().groups:
        number, size, width = group.shape
        split = [queries[group.nodes].unflatten(0, (number, size)).transpose(1, 2)]
        for tensor in (keys, values):
            split.append(tensor.index_select(0, group.keys).unflatten(0, (number, width)).transpose(1, 2))
        read = torch.nn.functional.scaled_dot_product_attention(
            *split, attn_mask=group.mask, scale=scaling, enable_gqa=keys.shape[1] != queries.shape[1]
        )
        output[group.nodes].unflatten(0, (number, size)).copy_(read.transpose(1, 2))
    return output[None], None


# -- parts of a model that transformers computes by hand, computed with fewer passes over the memory ----------------
# A module is replaced only if it is of a known class; it is replaced for the time of a context, by a function on the
# object itself, so that class, weights and the rest of the model stay as they are. That the numbers are the same is
# proved for every model when it is loaded, by the check of the routes.


# numbers that are computed on together, few enough to stay near the processor
_GELU_NUMBERS = 1 << 17
# modules that compute .5 x (1 + tanh(sqrt(2 / pi) (x + .044715 x^3))); torch's own kernel for it is slow
_TANH_GELU = ("NewGELUActivation", "FastGELUActivation", "GELUTanh")


@dataclass(frozen=True, slots=True)
class Lean:
    """A module of a model, and the function that replaces its ``forward``; ``what`` names it in the run record."""

    module: Any
    function: Callable[..., Any]
    what: str


def lean_modules(model: Any) -> tuple[Lean, ...]:
    """Find the modules of a model that can be computed with fewer passes."""
    modules: list[Lean] = []
    for module in model.modules():
        if type(module).__name__ in _TANH_GELU:
            modules.append(Lean(module, tanh_gelu, "GELU by tanh in place"))
        if type(module).__name__ == "GPT2Block" and _is_plain_block(module):
            modules += _modules_summing_in_place(module)
    return tuple(modules)


@contextmanager
def use_lean_modules(modules: Sequence[Lean]) -> Iterator[None]:
    """Compute *modules* by their functions inside the context; they are as before at its end, also after an error."""
    before = [vars(lean.module).get("forward") for lean in modules]
    try:
        for lean in modules:
            lean.module.forward = lean.function
        yield
    finally:
        for lean, own in zip(modules, before, strict=True):
            vars(lean.module).pop("forward", None)
            if own is not None:
                lean.module.forward = own


def tanh_gelu(given: Any) -> Any:
    """Compute the GELU by tanh a few rows at a time, in place if rows are not part of something wider.

    *Source:* Hendrycks and Gimpel 2016, as transformers' ``gelu_new``, ``gelu_fast`` and ``gelu_pytorch_tanh``.
    """
    torch = require("torch", "models")
    # a part of something wider is copied first
    rows = given.reshape(-1, given.shape[-1])
    for x in rows.split(max(1, _GELU_NUMBERS // rows.shape[1])):
        inner = x * x
        torch.addcmul(x, inner, x, value=0.044715, out=inner)
        inner.mul_(math.sqrt(2 / math.pi)).tanh_()
        torch.addcmul(x, x, inner, out=x).mul_(0.5)
    return rows.view(given.shape)


def _is_plain_block(block: Any) -> bool:
    """Return whether a GPT-2 block has the standard projections, not wrapped by an adapter, and nothing else."""
    projections = (block.attn.c_proj, block.mlp.c_proj)
    return not hasattr(block, "crossattention") and all(
        type(projection).__name__ == "Conv1D" for projection in projections
    )


def _modules_summing_in_place(block: Any) -> list[Lean]:
    """Let both projections of a GPT-2 block add to what it is given, instead of making products that are added."""
    stream: list[Any] = []

    def adding(projection: Any) -> Callable[[Any], Any]:
        def run(given: Any) -> Any:
            rows = stream[-1].view(-1, stream[-1].shape[-1])
            rows.add_(projection.bias).addmm_(given.view(-1, given.shape[-1]), projection.weight)
            return stream[-1]

        return run

    def run(hidden: Any, *given: Any, **named: Any) -> Any:
        stream.append(hidden)
        try:
            block.attn(block.ln_1(hidden), *given, **named)
            block.mlp(block.ln_2(hidden))
        finally:
            stream.pop()
        return hidden

    what = "sums in place"
    projections = [Lean(projection, adding(projection), what) for projection in (block.attn.c_proj, block.mlp.c_proj)]
    return [Lean(block, run, what), *projections]
