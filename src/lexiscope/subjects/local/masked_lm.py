"""Masked language models (BERT and its kin) as scorers, by pseudo-log-likelihood.

``masked_lm:FOLDER`` or ``masked_lm:HUB_ID#REVISION``; options follow a question mark:
``masked_lm:FOLDER?conditioning=masked&tokens=word``. Each token is scored where it is masked, given the text on both
sides of it; two variants are had:

``conditioning=masked_within_word`` (the default)
    The later tokens of the same word are masked with it (Kauf & Ivanova 2023). Words are the tokenizer's own.
``conditioning=masked``
    The token is masked alone (Salazar et al. 2020). A rare word that is cut into pieces gains, since each piece is
    predicted from the others.

The special tokens around the text ([CLS] and [SEP], ``<s>`` and ``</s>``) are in every input, as in training, and are
never scored. They are no beginning of a sequence from which the model reads on, so the policy says ``bos=no``; and as
the first token has its context on the right, ``first=scored``. Such a number is no log-probability of the text, and
is never compared with one of a model that reads from left to right: its measure has another name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import Place, SpecError, SubjectError, require
from lexiscope.core.scoring import Counted, Doubles, Per, ScoringPolicy, TokenScores
from lexiscope.core.spec import with_options
from lexiscope.core.subject import Progress, SubjectSpec
from lexiscope.subjects._answer_log import AnswerLog
from lexiscope.subjects._options import Device, read_options, split_name
from lexiscope.subjects._vector_store import library_versions
from lexiscope.subjects.local._loading import (
    device_of,
    dtype_of,
    load_model,
    load_tokenizer,
    longest_of,
    torch_threads,
    trusted,
)
from lexiscope.subjects.local._masked_copies import (
    Copies,
    Ids,
    TokenisedText,
    TokenizerFacts,
    plan_copies,
    tokenise_texts,
)
from lexiscope.subjects.local._model_folder import TOKENIZER_FILES, ModelFolder, locate
from lexiscope.subjects.local._rounding import same_to_rounding
from lexiscope.subjects.local._span_tokens import plan_batches

CAPABILITIES = ("Scores",)
RUN_OPTIONS = ("device", "threads")

WORDS = "what the tokenizer's pre-tokenizer keeps together"
_LOG_FORMAT = 1
_HOW = ["how"]
# token ids of the masked copies that are held at a time: bounds the memory whatever the number of texts
_CHUNK_IDS = 400_000
# rows of logits at a time: 128 rows of a vocabulary of 250,000 are 128 MB
_MOST_ROWS = 128


@dataclass(frozen=True, slots=True)
class MaskedOptions:
    """How a masked language model is run.

    ``conditioning``, ``tokens`` and ``per``: as in a :class:`~lexiscope.core.scoring.ScoringPolicy`. ``threads``: of
    torch, 0 = as the process has it. ``batch_tokens``: most tokens of a batch, 0 = 2,048 on a CPU and 32,768
    elsewhere. ``self_test``: the task tries trivially easy pairs first. ``trust_remote_code``: the revision of the
    model whose own Python code may be run.
    """

    conditioning: Literal["masked_within_word", "masked"] = "masked_within_word"
    tokens: Counted = "text"
    per: Per = "token"
    dtype: Literal["fp32", "bf16"] = "fp32"
    device: Device = "cpu"
    threads: int = 0
    batch_tokens: int = 0
    self_test: Literal["yes", "no"] = "yes"
    trust_remote_code: str = ""

    @classmethod
    def read(cls, given: dict[str, str]) -> MaskedOptions:
        """Read the options of a spec.

        >>> MaskedOptions.read({"conditioning": "masked"}).conditioning
        'masked'

        Errors: :class:`SpecError` for an unknown option or value.
        """
        if "bos" in given or "first" in given:
            hint = "a masked model has its special tokens always: the policy is bos=no, first=scored"
            raise SpecError("bos and first are no options of a masked language model", hint=hint)
        return read_options(cls, given, of="a masked language model")

    @property
    def budget(self) -> int:
        """The most tokens of a batch, padding included."""
        return self.batch_tokens or (2_048 if self.device == "cpu" else 32_768)


def load(spec: SubjectSpec) -> MaskedLM:
    """Make the masked language model that a spec names. Its weights are read when it first scores.

    Errors: :class:`SpecError` for an unknown option.
    """
    name, revision, options = split_name(spec.name)
    return MaskedLM(name, revision=revision, options=MaskedOptions.read(options))


class MaskedLM:
    """A masked language model that scores texts. *name* is a folder or a hub id, *revision* one of the hub."""

    kind = "masked_lm"

    def __init__(self, name: str, *, revision: str = "", options: MaskedOptions | None = None) -> None:
        self.name = name
        self.hub_revision = revision
        self.options = options or MaskedOptions()
        self._route, self._threads = "", self.options.threads

    @property
    def subject_id(self) -> str:
        """Its spec, with the options that change its numbers and without those that only change its speed."""
        revision = f"#{self.hub_revision}" if self.hub_revision else ""
        named = {name: getattr(self.options, name) for name in ("conditioning", "tokens", "dtype")}
        defaults = MaskedOptions()
        changed = {name: value for name, value in named.items() if value != getattr(defaults, name)}
        return with_options(f"masked_lm:{self.name}{revision}", changed)

    @property
    def policy(self) -> ScoringPolicy:
        """Pseudo-log-probability, every token of the text scored, special tokens never."""
        return ScoringPolicy(
            bos="no",
            first="scored",
            tokens=self.options.tokens,
            per=self.options.per,
            conditioning=self.options.conditioning,
        )

    @property
    def self_test(self) -> bool:
        """Whether a task should try trivially easy pairs on it first."""
        return self.options.self_test == "yes"

    @cached_property
    def folder(self) -> ModelFolder:
        """The model's folder, checked.

        Errors: :class:`SubjectError` naming what is missing; :class:`MissingExtraError`.
        """
        code = ("*.py",) if self.options.trust_remote_code else ()
        allow = ("*.safetensors", "*.index.json", "config.json", *TOKENIZER_FILES, *code)
        folder = locate(self.name, self.hub_revision, allow=allow)
        folder.check()
        return folder

    @cached_property
    def revision(self) -> str:
        """One sha256 over configuration, weights, tokenizer and code."""
        return self.folder.revision()

    @property
    def facts(self) -> SubjectFacts:
        """What its files say of it; parameters are counted in the headers of the weights, without the head."""
        return SubjectFacts(
            subject_id=self.subject_id,
            title=Path(self.name).name,
            kind=self.kind,
            architecture=self.folder.architecture,
            objective="masked language modelling",
            n_layers=self.folder.n_layers,
            width=self.folder.width,
            n_parameters=self.folder.n_parameters(),
            revision=self.revision,
            source=self.name,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """How it is run, for the run record. Until a text is scored here ``route`` is empty, ``threads`` as asked."""
        how = {"batch_tokens": self.options.budget, "words": WORDS, "route": self._route, "threads": self._threads}
        return {**asdict(self.options), **how, "policy": str(self.policy)}

    def score(
        self, texts: Sequence[str], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[TokenScores]:
        """Return the pseudo-log-probability of every token of every text.

        *Unit:* nats. *Higher means:* more probable. A text is scored once, however often it is asked, and gets the
        same scores (to 1e-4) whatever stands beside it. With *work*, each finished text is kept in that folder, a
        broken call continues, and a call whose texts are all stored loads no model. *progress* is called with the
        number of distinct texts done and their total.
        *Source:* Salazar et al. 2020, §2.3; Kauf & Ivanova 2023, §2.
        Errors: those of :func:`~lexiscope.subjects.local._masked_copies.tokenise_texts`; :class:`SubjectError` where a
        score is not finite; :class:`RunError` where *work* is damaged.
        """
        distinct = sorted(set(texts))
        log = self._log(work)
        done = {
            text: TokenScores(*map(np.asarray, log.get(text))) for text in distinct if log is not None and text in log
        }
        missing = [text for text in distinct if text not in done]
        if log is not None and _HOW in log:
            self._route, self._threads = log.get(_HOW)
        for finished in self._scored(missing, log):
            for text, scores in finished:
                if log is not None:
                    log.put(text, [each.tolist() for each in (scores.log_probabilities, scores.starts, scores.ends)])
                done[text] = scores
            if progress is not None:
                progress(len(done), len(distinct))
        return [done[text] for text in texts]

    @cached_property
    def _forward(self) -> MaskedForward:
        code = trusted(
            self.folder, self.options.trust_remote_code, hub_revision=self.hub_revision, revision=self.revision
        )
        options = self.options
        return MaskedForward(self.folder, dtype=options.dtype, device=options.device, trust_remote_code=code)

    def _scored(self, texts: Sequence[str], log: AnswerLog | None) -> Iterator[list[tuple[str, TokenScores]]]:
        """Yield finished texts, a chunk of similar ones at a time (sorted texts share their masked copies)."""
        if not texts:
            return
        forward = self._forward
        within = self.options.conditioning == "masked_within_word"
        # all of them first: a text that cannot be scored is refused before any work starts
        tokenised = tokenise_texts(forward.tokenizer, texts, forward.vocabulary, within_word=within)
        with forward.threads(self.options.threads or None) as threads:
            self._route, self._threads = forward.route, threads
            if log is not None:
                if _HOW not in log:
                    log.put(_HOW, [forward.route, threads])
                # a run that is continued keeps the provenance with which it was begun
                self._route, self._threads = log.get(_HOW)
            for chunk in _chunks(tokenised):
                of_chunk = [tokenised[number] for number in chunk]
                values = self._values(plan_copies(of_chunk, forward.vocabulary.mask, within_word=within))
                yield [_finished(texts[n], tokenised[n], found) for n, found in zip(chunk, values, strict=True)]

    def _values(self, copies: Copies) -> list[Doubles]:
        """Return the log-probability of each token of each text of a chunk."""
        owners: list[list[tuple[int, int, int]]] = [[] for _ in copies.inputs]
        values = [np.empty(len(asked)) for asked in copies.asked]
        for text, asked in enumerate(copies.asked):
            for token, (copy, target) in enumerate(asked):
                owners[copy].append((text, token, target))
        for batch in self._batches(copies):
            wanted = [(row, *owner) for row, copy in enumerate(batch) for owner in owners[copy]]
            found = self._forward.run(
                [copies.inputs[copy] for copy in batch], [(row, target) for row, _, _, target in wanted]
            )
            for (_, text, token, _), value in zip(wanted, found.tolist(), strict=True):
                values[text][token] = value
        return values

    def _batches(self, copies: Copies) -> Iterator[tuple[int, ...]]:
        for batch in plan_batches([len(ids) for ids, _ in copies.inputs], budget=self.options.budget):
            for first in range(0, len(batch), _MOST_ROWS):
                yield batch[first : first + _MOST_ROWS]

    def _log(self, work: Path | None) -> AnswerLog | None:
        if work is None:
            return None
        revision = self.folder.revision(memory=work / "hashes.json")
        # which tokens count is decided later, and how fast it goes changes nothing
        options = asdict(replace(self.options, tokens="text", per="token", batch_tokens=0, self_test="yes"))
        options.pop("threads")
        return AnswerLog(work / "scores", [_LOG_FORMAT, revision, options, library_versions()])


def _chunks(texts: Sequence[TokenisedText]) -> Iterator[list[int]]:
    """Group texts, in their order, so that the masked copies of a group stay within bounds."""
    chunk: list[int] = []
    filled = 0
    for number, text in enumerate(texts):
        size = len(text.ids) * len(text.positions)
        if chunk and filled + size > _CHUNK_IDS:
            yield chunk
            chunk, filled = [], 0
        chunk.append(number)
        filled += size
    if chunk:
        yield chunk


def _finished(text: str, tokenised: TokenisedText, values: Doubles) -> tuple[str, TokenScores]:
    if not np.isfinite(values).all():
        start, end = tokenised.spans[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise SubjectError(
            "the model's log-probability of a token is not finite (NaN or infinity)",
            place=Place(text=text, column=start + 1, width=end - start),
            hint="use dtype=fp32; if it is in use, the weights themselves are broken",
        )
    starts, ends = (np.array([span[side] for span in tokenised.spans], dtype=np.int64) for side in (0, 1))
    return text, TokenScores(np.minimum(values, 0.0), starts, ends)


# -- masked forward -------------------------------------------------------------------------------------------------
# A masked language model that is read at the masked places only: the vocabulary is projected nowhere else.


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
