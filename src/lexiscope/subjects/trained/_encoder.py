"""An encoder that reads questions whole, with a linear layer on top: what is trained, and what answers.

The features of a reading are the vector of its first token (``[CLS]``) and the mean last-layer vector of each target
(SuperGLUE practice); a bi-encoder takes one vector instead. Readings are padded to the longest of their batch only,
and batches are made of readings of similar length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal, get_args

import numpy as np

from lexiscope.core.errors import Place, SubjectError, require
from lexiscope.core.scoring import Doubles
from lexiscope.subjects.local._loading import device_of, load_model, load_tokenizer, longest_of
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.local._span_tokens import plan_batches
from lexiscope.subjects.trained._wording import Encoded, TextsWithTargets, encode_readings

Pooling = Literal["cls", "mean", "target"]
"""The one vector of a reading: of its first token, the mean of all, or the mean of its targets (all without one)."""

POOLINGS: tuple[str, ...] = get_args(Pooling)
_BUDGET = {"cpu": 1_024}
_OTHER_BUDGET = 16_384
_INITIAL_SD = 0.02


@dataclass(frozen=True, slots=True)
class Shape:
    """The layer on top of an encoder: ``outputs`` numbers from the first token and ``targets`` targets.

    0 outputs: there is no layer on top. ``longest``: the most tokens of a reading, which is cut to them.
    """

    outputs: int
    targets: int = 0
    pooling: Pooling = "cls"
    dropout: float = 0.1
    longest: int = 256


class LoadedClassifier:
    """A loaded encoder with the layer on top of it.

    ``mask`` is the tokenizer's mask token, ``None`` where it has none; ``width`` the width of the vectors.
    Errors: :class:`SubjectError` where the model cannot be read; :class:`MissingExtraError`.
    """

    def __init__(self, folder: ModelFolder, shape: Shape, *, device: str = "cpu", start: int = 0) -> None:
        self.torch, self.shape, self.device = require("torch", "models"), shape, device
        place = str(folder.path)
        self._tokenizer, whole = load_tokenizer(place, trust_remote_code=False)
        model = load_model(place, trust_remote_code=False)
        if getattr(model.config, "is_encoder_decoder", False):
            hint = "use an encoder (BERT, RoBERTa, DeBERTa …) or a decoder"
            raise SubjectError("a model of encoder and decoder cannot be trained here", place=Place(place), hint=hint)
        # what is on top of the last layer is neither read nor learnt
        if getattr(model, "pooler", None) is not None:
            model.pooler = None
        self.model = model.float().to(device_of(self.torch, device))
        self.longest = min(shape.longest, longest_of(model, int(whole.model_max_length)) or shape.longest)
        self.mask = _mask_token(self._tokenizer, whole, place)
        self._pad = int(whole.pad_token_id or 0)
        # how many kinds of text the model tells apart; 0 if it does not take them
        takes_types = "token_type_ids" in signature(model.forward).parameters
        self._n_types = int(getattr(model.config, "type_vocab_size", 0) or 0) if takes_types else 0
        self.width = int(self._hidden_states([Encoded((self._pad,), (0,), ())])[0].shape[-1])
        self.head = self._head(start) if shape.outputs else None

    def _head(self, start: int) -> Any:
        torch = self.torch
        layer = torch.nn.Linear(self.width * (1 + self.shape.targets), self.shape.outputs)
        # a generator of its own: the first weights depend on the seed and on nothing drawn before
        generator = torch.Generator().manual_seed(start)
        with torch.no_grad():
            layer.weight.normal_(0, _INITIAL_SD, generator=generator)
            layer.bias.zero_()
        return layer.requires_grad_(False).to(self.device)

    # -- reading ----------------------------------------------------------------------------------------------

    def encode(self, readings: Sequence[TextsWithTargets]) -> list[Encoded]:
        """Tokenise readings. Errors: those of :func:`~lexiscope.subjects.trained._wording.encode_readings`."""
        return encode_readings(self._tokenizer, readings, longest=self.longest)

    def n_cut(self, items: Iterable[Sequence[TextsWithTargets]]) -> int:
        """Return of how many items, each with its readings, one was cut. Errors: those of :meth:`encode`."""
        return sum(any(encoded.cut for encoded in self.encode(readings)) for readings in items)

    def outputs(self, batch: Sequence[Encoded]) -> Any:
        """Return the numbers of the layer on top. *Shape: (readings, outputs)*, ready for a gradient in training."""
        torch = self.torch
        hidden, _ = self._hidden_states(batch)
        parts = [hidden[:, 0]]
        if self.shape.targets:
            parts.append((self._weights(batch, hidden.shape[1]) @ hidden).flatten(1))
        features = torch.cat(parts, dim=1)
        if self.model.training and self.shape.dropout:
            features = torch.nn.functional.dropout(features, self.shape.dropout)
        assert self.head is not None
        return self.head(features)

    def vectors(self, batch: Sequence[Encoded]) -> Any:
        """Return one vector per reading, of length 1. *Shape: (readings, width)*."""
        hidden, mask = self._hidden_states(batch)
        if self.shape.pooling == "cls":
            pooled = hidden[:, 0]
        else:
            weights = mask.float() / mask.sum(dim=1, keepdim=True)
            if self.shape.pooling == "target" and batch[0].targets:
                weights = self._weights(batch, hidden.shape[1]).mean(dim=1)
            pooled = (weights[:, None] @ hidden)[:, 0]
        return self.torch.nn.functional.normalize(pooled, dim=-1)

    def _hidden_states(self, batch: Sequence[Encoded]) -> tuple[Any, Any]:
        """Return the last layer and the mask of the tokens that are not padding."""
        ids, types, mask = self._inputs(batch)
        given = {"attention_mask": mask} if not bool(mask.all()) else {}
        if self._n_types > 1:
            given["token_type_ids"] = types.clamp(max=self._n_types - 1)
        return self.model(input_ids=ids, **given).last_hidden_state, mask

    def _inputs(self, batch: Sequence[Encoded]) -> list[Any]:
        longest = max(len(reading.ids) for reading in batch)
        ids = np.full((len(batch), longest), self._pad, dtype=np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        for row, reading in enumerate(batch):
            ids[row, : len(reading.ids)] = reading.ids
            types[row, : len(reading.ids)] = reading.types
            mask[row, : len(reading.ids)] = 1
        return [self.torch.from_numpy(array).to(self.device) for array in (ids, types, mask)]

    def _weights(self, batch: Sequence[Encoded], longest: int) -> Any:
        """Return what each token counts in the mean of each target. *Shape: (readings, targets, tokens)*."""
        weights = np.zeros((len(batch), len(batch[0].targets), longest), dtype=np.float32)
        for row, reading in enumerate(batch):
            for number, places in enumerate(reading.targets):
                weights[row, number, list(places)] = 1 / len(places)
        return self.torch.from_numpy(weights).to(self.device)

    # -- answering --------------------------------------------------------------------------------------------

    def predict(self, readings: Sequence[TextsWithTargets]) -> Doubles:
        """Return the outputs of readings (their vectors where there is no layer on top), without dropout.

        *Shape: (readings, outputs or width)*. Equal readings are read once and get equal numbers to the last bit; a
        reading gets the same numbers (to 1e-5) in any batch.
        Errors: those of :meth:`encode`; :class:`SubjectError` where a number is not finite.
        """
        distinct = sorted(set(readings), key=lambda reading: (reading.texts(), reading.targets))
        place = {reading: number for number, reading in enumerate(distinct)}
        outputs = self.predict_encoded(self.encode(distinct))
        return outputs[[place[reading] for reading in readings]]

    def predict_encoded(self, encoded: Sequence[Encoded]) -> Doubles:
        """Return the outputs of tokenised readings, in their order. Errors: those of :meth:`predict`."""
        training = self.model.training
        self.model.eval()
        budget = _BUDGET.get(self.device, _OTHER_BUDGET)
        outputs = np.zeros((len(encoded), self.shape.outputs or self.width))
        with self.torch.no_grad():
            for batch in plan_batches([len(reading.ids) for reading in encoded], budget=budget):
                part = [encoded[number] for number in batch]
                values = self.vectors(part) if self.head is None else self.outputs(part)
                outputs[list(batch)] = values.double().cpu().numpy()
        self.model.train(training)
        if not np.isfinite(outputs).all():
            raise SubjectError("the model's output is not finite (NaN or infinity)", hint="its weights are broken")
        return outputs


def _mask_token(tokenizer: Any, whole: Any, place: str) -> str | None:
    """Return the mask token, checked to be read as one token."""
    mask: str | None = whole.mask_token
    if mask is None:
        return None
    if tokenizer.encode(mask, add_special_tokens=False).ids != [whole.mask_token_id]:
        raise SubjectError(f"the tokenizer does not read its mask token {mask!r} as one token", place=Place(place))
    return mask
