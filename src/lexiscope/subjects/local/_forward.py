"""One forward pass per batch: every layer is pooled at once into the result, no hidden state is kept.

Layer 0 is what the first block reads, layer i what block i + 1 reads, and the last layer what the model returns:
that is the convention of ``output_hidden_states`` for encoders and decoders alike (a decoder's last layer has its
final normalisation applied). Which modules are the blocks is found out, and proved, on one sentence when the model
is loaded; where no modules prove to be the blocks, ``output_hidden_states`` itself is used and ``route`` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from lexiscope.core.errors import SubjectError, require
from lexiscope.core.subject import Floats
from lexiscope.subjects.local._loading import device_of, dtype_of, load_model, load_tokenizer, longest_of, torch_threads
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.local._rounding import same_to_rounding
from lexiscope.subjects.local._span_tokens import TokenisedSentence

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
            self._pooler.take(_hidden(args, kwargs))

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
            for modules in _candidates(torch, self._model):
                seen, last = _record(modules, lambda: self._model(input_ids=ids).last_hidden_state)
                if len(seen) == self.n_layers and self._equal([*seen, last], states):
                    return modules
        return []

    def _equal(self, ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
        pairs = zip(ours, theirs, strict=True)
        return all(self._torch.is_tensor(one) and same_to_rounding(one, other, self._dtype) for one, other in pairs)


class _Pooler:
    """Averages the sub-words of every span, layer after layer, into one array."""

    def __init__(self, torch: Any, batch: Sequence[TokenisedSentence], longest: int, layers: int, device: str) -> None:
        spans = [[row * longest + token for token in span] for row, s in enumerate(batch) for span in s.spans]
        counts = [len(span) for span in spans]
        self._torch, self._layers, self._device = torch, layers, device
        self._first = torch.tensor([span[0] for span in spans], device=device)
        self._further = [self._nth(spans, place) for place in range(1, max(counts))]
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

    def _nth(self, spans: Sequence[Sequence[int]], place: int) -> tuple[Any, Any]:
        """Return which spans have a sub-word at a place, and those sub-words."""
        owners = [number for number, span in enumerate(spans) if len(span) > place]
        made = (self._torch.tensor(each, device=self._device) for each in (owners, [spans[n][place] for n in owners]))
        return tuple(made)

    def vectors(self) -> Floats:
        """Return the pooled vectors as a numpy array."""
        if self._layer != self._layers:
            raise SubjectError(f"the model passed {self._layer} layers, {self._layers} were expected")
        return np.asarray(self._out.cpu().numpy(), dtype=np.float32)


def _candidates(torch: Any, model: Any) -> Iterator[list[Any]]:
    """Yield the elements of every list of modules: a model's blocks are one of these lists."""
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module):
            yield list(module)


def _record(modules: list[Any], forward: Callable[[], Any]) -> tuple[list[Any], Any]:
    seen: list[Any] = []

    def keep(_module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen.append(_hidden(args, kwargs))

    handles = [module.register_forward_pre_hook(keep, with_kwargs=True) for module in modules]
    try:
        last = forward()
    finally:
        for handle in handles:
            handle.remove()
    return seen, last


def _hidden(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else kwargs.get("hidden_states")
