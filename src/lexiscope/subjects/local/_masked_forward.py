"""A masked language model that is read at the masked places only: the vocabulary is projected nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from lexiscope.core.errors import Place, SubjectError, require
from lexiscope.core.scoring import Doubles
from lexiscope.subjects.local._loading import device_of, dtype_of, load_model, load_tokenizer, longest_of, torch_threads
from lexiscope.subjects.local._masked_copies import Ids, TokenizerFacts
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.local._rounding import same_to_rounding


class MaskedForward:
    """A loaded masked language model with its tokenizer.

    ``route`` is ``masked_places``, or ``all_places`` for an architecture whose prediction head does not take places
    one by one: which one is found out on a short input when the model is loaded.
    """

    def __init__(self, folder: ModelFolder, *, dtype: str, device: str, trust_remote_code: bool) -> None:
        self._torch = require("torch", "models")
        place = str(folder.path)
        self.tokenizer, fast = load_tokenizer(place, trust_remote_code=trust_remote_code)
        model = load_model(place, trust_remote_code=trust_remote_code, auto="AutoModelForMaskedLM")
        self._device, self._dtype = device_of(self._torch, device), dtype
        self._model = model.to(dtype_of(self._torch, dtype)).to(self._device)
        self._pad = int(fast.pad_token_id or 0)
        self.vocabulary = self._vocabulary(fast, place)
        self.route = self._find_route()

    def threads(self, number: int | None) -> AbstractContextManager[int]:
        """Use *number* threads inside the block; see :func:`~lexiscope.subjects.local._loading.torch_threads`."""
        return torch_threads(self._torch, number)

    def run(self, inputs: Sequence[tuple[Ids, int]], asked: Sequence[tuple[int, int]]) -> Doubles:
        """Return the log-probability of tokens at masked places.

        *inputs* are token ids and the position that is read in them; *asked* are pairs of a row of *inputs* and a
        token id. *Shape: (asked,)*. *Unit:* nats.
        """
        torch = self._torch
        rows, targets = (torch.tensor(each, device=self._device) for each in zip(*asked, strict=True))
        with torch.inference_mode():
            # in double precision: differences of 1e-4 decide between texts
            logits = self._logits(inputs).double()
            found = logits[rows, targets] - logits.logsumexp(dim=1)[rows]
            return np.asarray(found.cpu().numpy(), dtype=np.float64)

    def _logits(self, inputs: Sequence[tuple[Ids, int]]) -> Any:
        """Return the logits at the place of each input, *(inputs, vocabulary)*."""
        ids, mask = self._inputs([tokens for tokens, _ in inputs])
        places = [row * ids.shape[1] + position for row, (_, position) in enumerate(inputs)]
        rows = self._torch.tensor(places, device=self._device)
        if self.route == "all_places":
            logits = self._model(input_ids=ids, attention_mask=mask).logits
            return logits.reshape(-1, logits.shape[-1])[rows]
        with self._reading(rows):
            return self._model(input_ids=ids, attention_mask=mask).logits[0]

    def _inputs(self, inputs: Sequence[Ids]) -> tuple[Any, Any]:
        longest = max(map(len, inputs))
        ids = np.full((len(inputs), longest), self._pad, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(inputs):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        return self._torch.from_numpy(ids).to(self._device), self._torch.from_numpy(mask).to(self._device)

    @contextmanager
    def _reading(self, rows: Any) -> Iterator[None]:
        """Let the prediction head see the hidden states of some places only, as one sequence."""
        base = getattr(self._model, self._model.base_model_prefix, None)
        if base is None or base is self._model:
            yield
            return
        handle = base.register_forward_hook(lambda _module, _inputs, output: _only(output, rows))
        try:
            yield
        finally:
            handle.remove()

    def _find_route(self) -> str:
        """Compare both routes on a short padded batch; what they must agree on is every logit."""
        ordinary = [token for token in range(64) if token not in self.vocabulary.special][:4]
        mask = self.vocabulary.mask
        found = {}
        for route in ("all_places", "masked_places"):
            self.route = route
            with self._torch.inference_mode():
                found[route] = self._logits([((*ordinary, mask), 4), ((mask, *ordinary[:2]), 0)]).float()
        one, other = found.values()
        return "masked_places" if same_to_rounding(one, other, self._dtype) else "all_places"

    def _vocabulary(self, fast: Any, place: str) -> TokenizerFacts:
        if fast.mask_token_id is None:
            raise SubjectError(
                "this model's tokenizer has no mask token",
                place=Place(place),
                hint="score it as causal_lm: if it predicts from left to right; masked_lm: is for BERT and its kin",
            )
        special = frozenset(map(int, fast.all_special_ids)) - {fast.unk_token_id}
        longest = longest_of(self._model, int(fast.model_max_length))
        return TokenizerFacts(int(fast.mask_token_id), fast.unk_token_id, special, longest)


def _only(output: Any, rows: Any) -> Any:
    hidden = output[0]
    chosen = hidden.reshape(-1, hidden.shape[-1])[rows][None]
    if isinstance(output, tuple):
        return (chosen, *output[1:])
    output.last_hidden_state = chosen
    return output
