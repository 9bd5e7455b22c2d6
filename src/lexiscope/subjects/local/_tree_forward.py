"""A causal language model that reads units and gives the log-probabilities of the tokens scored from them.

The vocabulary projection runs only where a token is scored, in chunks: there is never a matrix of all tokens by the
vocabulary. Texts of a batch are padded on the right without a mask: a causal model never looks right.

*Lean* kernels compute the same with fewer passes over the memory: attention in blocks, modules that transformers
computes by hand, the projection piece by piece. They stand in for the model's own inside one call only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from lexiscope.core.errors import Place, SubjectError, require
from lexiscope.core.subject import Floats
from lexiscope.subjects.local._adapter import AdaptedFolder, adapt
from lexiscope.subjects.local._lean_modules import lean_modules, replaced
from lexiscope.subjects.local._loading import device_of, dtype_of, load_model, load_tokenizer, longest_of, torch_threads
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.local._rounding import same_to_rounding
from lexiscope.subjects.local._score_units import Unit
from lexiscope.subjects.local._tree_attention import in_blocks, tree_row

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
        self.model = adapt(model, folder) if isinstance(folder, AdaptedFolder) else model
        self.device, self.dtype = device, dtype
        self.unknown: int | None = _other_than(fast.unk_token_id, fast.bos_token_id, fast.eos_token_id)
        self.bos: int | None = fast.bos_token_id
        self.ends = _ends_of_text(model, fast.eos_token_id)
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

    def kernels(self, route: str) -> str:
        """Name the lean kernels that this model has on a route, for the run record; empty where it has none."""
        if route == "single":
            return ""
        named = ["attention in blocks"] if self._blocks and route == "tree" else []
        named += sorted({each.what for each in self._modules})
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
            sequences = _sequences(unit)
            return np.concatenate([self.plain(ids) for ids in sequences])
        with self.torch.inference_mode():
            return self._run_lean(unit) if lean else self._scores(unit, {**self._inputs(unit), **self._mask(unit)})

    def _run_lean(self, unit: Unit) -> Floats:
        dtype = dtype_of(self.torch, self.dtype)
        with ExitStack() as stack:
            stack.enter_context(replaced(self._modules))
            mask = {} if self._blocks else self._mask(unit)
            if self._blocks and unit.ends is not None and unit.depths is not None:
                row = tree_row(unit.ends, device=self.device, dtype=dtype)
                ids = tuple(np.array(unit.rows[0])[row.order].tolist())
                unit = replace(unit, rows=(ids,), depths=unit.depths[row.order], places=row.inverse[unit.places])
                mask = {"attention_mask": stack.enter_context(in_blocks(self.model, row))}
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
        found = log_probabilities(hidden, self._head, rows, targets, scaling=self._scaling)
        return np.asarray(found.numpy(), dtype=np.float32)

    def _scores(self, unit: Unit, inputs: dict[str, Any]) -> Floats:
        torch = self.torch
        places, which = np.unique(unit.places, return_inverse=True)
        found = np.empty(len(unit.targets), dtype=np.float32)
        targets = torch.from_numpy(unit.targets).to(self.device)
        for begin, logits in self._logits(inputs, torch.from_numpy(places).to(self.device)):
            first, last = np.searchsorted(which, [begin, begin + len(logits)])
            near = logits.split(max(1, _NEAR // self.n_vocabulary))
            whole = torch.cat([torch.logsumexp(each, dim=-1) for each in near])
            row = torch.from_numpy(which[first:last] - begin).to(self.device)
            picked = logits[row, targets[first:last]] - whole[row]
            found[first:last] = picked.clamp_(max=0).cpu().numpy()
        return found

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
            ids = torch.tensor([[each % self.n_vocabulary for each in _PROBE]], device=self.device)
            logits = self.model(input_ids=ids, use_cache=False).logits
            hidden = self.model.base_model(input_ids=ids, use_cache=False)[0]
            if hidden.shape[-1] != self._head.weight.shape[1]:
                return None
            projected = self._head(hidden)
        for candidate in candidates:
            if same_to_rounding(candidate(projected), logits, self.dtype, part=0.1):
                return candidate
        return None


def _sequences(unit: Unit) -> list[tuple[int, ...]]:
    """Return the whole sequences of a unit of the route ``single``, the last token included."""
    last = np.cumsum([len(row) for row in unit.rows]) - 1
    return [(*row, int(unit.targets[place])) for row, place in zip(unit.rows, last, strict=True)]


def _other_than(unknown: int | None, *special: int | None) -> int | None:
    """Return the unknown token's id where it has one of its own."""
    return None if unknown in special else unknown


def _ends_of_text(model: Any, named: int | None) -> frozenset[int]:
    configured = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    found = [*(configured if isinstance(configured, list) else [configured]), named]
    return frozenset(int(each) for each in found if each is not None)


# -- log-probabilities from hidden states, piece by piece -----------------------------------------------------------
# Log-probabilities from hidden states: the vocabulary is projected piece by piece, and no row of it is ever kept.
#
# A piece of logits is computed for all rows, turned into sums of exponentials while it is near the processor, and
# overwritten by the next one. The logits of scored tokens are products of their own.


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
        _project(torch, hidden, weight, bias, out=logits)
        split = (each.split(_ROWS) for each in (logits, largest[number], sums[number]))
        for part, most, total in zip(*split, strict=True):
            near = scaling(part).float()
            torch.amax(near, 1, out=most)
            torch.sum(near.sub_(most[:, None]).exp_(), 1, out=total)
    whole = torch.logsumexp(sums.log_().add_(largest), 0)
    return (_logits_of(torch, hidden, head, rows, targets, scaling) - whole[rows]).clamp_(max=0)


def _project(torch: Any, hidden: Any, weight: Any, bias: Any, *, out: Any) -> None:
    if bias is None:
        torch.mm(hidden, weight.t(), out=out)
    else:
        torch.addmm(bias, hidden, weight.t(), out=out)


def _logits_of(torch: Any, hidden: Any, head: Any, rows: Any, targets: Any, scaling: Callable[[Any], Any]) -> Any:
    found = []
    for row, target in zip(rows.split(_SCORED), targets.split(_SCORED), strict=True):
        logits = torch.linalg.vecdot(hidden[row].float(), head.weight[target].float())
        found.append(scaling(logits if head.bias is None else logits + head.bias[target].float()))
    return torch.cat(found)
