"""A base model with an adapter that learns: its loss on the numbers, its log-probabilities of them, its weights.

Examples of a batch are padded on the right without a mask: a causal model never looks right.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np

from lexiscope.core.errors import Place, SubjectError, require
from lexiscope.core.scoring import Doubles
from lexiscope.subjects.local._loading import device_of, dtype_of, load_model, load_tokenizer, longest_of
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.training.lora_examples import MASKED, TokenizedExample
from lexiscope.training.lora_settings import LoraSettings


class LoraModel:
    """A base model whose own weights stand still, with an adapter whose weights are learnt.

    ``tokenizer`` is that of transformers; ``longest`` the most tokens that the model reads; ``parameters`` the weights
    that are learnt, by name. *start* is the seed of the adapter's first weights.
    Errors: :class:`SubjectError` where the model has no such modules; :class:`MissingExtraError`.
    """

    def __init__(self, folder: ModelFolder, settings: LoraSettings, *, start: int) -> None:
        self.torch, self.settings = require("torch", "train"), settings
        self._peft = require("peft", "train")
        place = str(folder.path)
        _, self.tokenizer = load_tokenizer(place, trust_remote_code=False)
        base = load_model(place, trust_remote_code=False, auto="AutoModelForCausalLM")
        self.longest = longest_of(base, int(self.tokenizer.model_max_length))
        base = base.to(dtype_of(self.torch, settings.dtype)).to(device_of(self.torch, settings.device))
        self.torch.manual_seed(start)
        self._wrapped = self._wrap(base, place)
        # the model itself, with the adapter inside its layers
        self.model = self._wrapped.get_base_model()
        if settings.gradient_checkpointing:
            # transformers 5 gave it another name
            enable = getattr(self.model, "activation_checkpointing_enable", None)
            (enable or self.model.gradient_checkpointing_enable)({"use_reentrant": False})
        self.parameters = {name: each for name, each in self._wrapped.named_parameters() if each.requires_grad}
        self._keeps = "logits_to_keep" in signature(self.model.forward).parameters

    def _wrap(self, base: Any, place: str) -> Any:
        asked = self.settings
        config = self._peft.LoraConfig(
            task_type="CAUSAL_LM",
            r=asked.r,
            lora_alpha=asked.alpha,
            lora_dropout=asked.dropout,
            target_modules=list(asked.target_modules),
            bias="none",
        )
        try:
            return self._peft.get_peft_model(base, config)
        except ValueError as error:
            linear = {name.rpartition(".")[2] for name, each in base.named_modules() if hasattr(each, "in_features")}
            raise SubjectError(
                f"this model has no modules {', '.join(asked.target_modules)}",
                place=Place(place),
                why=str(error).strip().splitlines()[0][:200],
                hint=f"choose among its linear modules: {', '.join(sorted(linear - {'lm_head'})) or 'it has none'}",
            ) from error

    @property
    def n_learnt(self) -> int:
        """The number of weights that are learnt."""
        return sum(int(each.numel()) for each in self.parameters.values())

    def loss(self, examples: Sequence[TokenizedExample]) -> tuple[Any, int]:
        """Return the summed loss on the number tokens of some examples, ready for its gradient, and their count.

        *Unit:* nats. The loss is on the tokens whose label is not masked, and on no others.
        """
        wanted = [
            (row, place - 1, label)
            for row, example in enumerate(examples)
            for place, label in enumerate(example.labels)
            if label != MASKED
        ]
        logits = self._logits([example.ids for example in examples], [(row, place) for row, place, _ in wanted])
        labels = self.torch.tensor([label for _, _, label in wanted], device=logits.device)
        return self.torch.nn.functional.cross_entropy(logits, labels, reduction="sum"), len(wanted)

    def log_probabilities(self, examples: Sequence[TokenizedExample]) -> Doubles:
        """Return the log-probability of every number as the answer of every example, without dropout.

        *Shape:* (examples, points of the scale). *Unit:* nats. *Higher means:* more probable.
        """
        self.model.eval()
        size = self.settings.batch
        with self.torch.inference_mode():
            parts = [self._numbers(examples[begin : begin + size]) for begin in range(0, len(examples), size)]
        return np.concatenate(parts)

    def _numbers(self, examples: Sequence[TokenizedExample]) -> Doubles:
        """The log-probabilities of the numbers for one batch, each the sum over the number's tokens."""
        found = np.zeros((len(examples), len(examples[0].answers)))
        rows: list[tuple[int, ...]] = []
        wanted, targets = [], []
        for number, example in enumerate(examples):
            # numbers of one token need the question alone, which is then read once for all of them
            single = all(len(answer) == 1 for answer in example.answers)
            rows += [example.prompt] if single else [(*example.prompt, *answer[:-1]) for answer in example.answers]
            first = len(rows) - (1 if single else len(example.answers))
            for point, answer in enumerate(example.answers):
                for step, token in enumerate(answer):
                    wanted.append((first + (0 if single else point), len(example.prompt) - 1 + step))
                    targets.append((number, point, token))
        scores = self.torch.log_softmax(self._logits(rows, wanted), dim=-1)
        for place, (number, point, token) in enumerate(targets):
            found[number, point] += float(scores[place, token])
        return found

    def _logits(self, rows: Sequence[Sequence[int]], wanted: Sequence[tuple[int, int]]) -> Any:
        """Return the logits after certain places (row, position) of some rows of tokens. *Shape:* (wanted, words)."""
        torch, device = self.torch, self.settings.device
        width = max(map(len, rows))
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
        places = sorted({place for _, place in wanted})
        # the logits of a whole question would be many times its hidden states
        keep = {"logits_to_keep": torch.tensor(places, device=device)} if self._keeps else {}
        logits = self.model(input_ids=ids.to(device), use_cache=False, **keep).logits
        column = {place: number if self._keeps else place for number, place in enumerate(places)}
        where = torch.tensor([(row, column[place]) for row, place in wanted], device=device)
        return logits[where[:, 0], where[:, 1]].float()

    # -- the adapter ------------------------------------------------------------------------------------------

    def adapter_module(self) -> Any:
        """Return a module of the weights that are learnt and no others: the state of a training is as small as they."""
        # a name of a module has no full stop
        return self.torch.nn.ParameterDict({name.replace(".", "/"): each for name, each in self.parameters.items()})

    def adapter(self) -> dict[str, Any]:
        """Return the adapter's weights under the names that peft reads."""
        state = self._peft.get_peft_model_state_dict(self._wrapped)
        return {name: each.detach().cpu().contiguous() for name, each in sorted(state.items())}

    def adapter_config(self, *, base: str, revision: str) -> dict[str, Any]:
        """Return the adapter's configuration as peft reads it."""
        config = self._wrapped.peft_config["default"].to_dict()
        named = {"base_model_name_or_path": base, "revision": revision or None, "inference_mode": True}
        return {
            name: sorted(value) if isinstance(value, set) else _word(value) for name, value in (config | named).items()
        }


def _word(value: Any) -> Any:
    """Return the text of one of peft's enumerated words, and anything else as it is."""
    return getattr(value, "value", value)
