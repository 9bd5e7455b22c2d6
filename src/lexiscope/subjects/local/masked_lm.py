"""Masked language models (BERT and its kin) as scorers, by pseudo-log-likelihood.

``masked_lm:FOLDER`` or ``masked_lm:HUB_ID#REVISION``; options follow a question mark:
``masked_lm:FOLDER?conditioning=masked&tokens=word``. Each token is scored where it is masked, given the text on both
sides of it; two variants are had:

``conditioning=masked_within_word`` (the default)
    The later tokens of the same word are masked with it (Kauf & Ivanova 2023). Words are the tokenizer's own.
``conditioning=masked``
    The token is masked alone (Salazar et al. 2020). A rare word that is cut into pieces gains, since each piece is
    predicted from the others.

``variant=`` names the wording in which a task asks, ``language=`` the language of the words where it is not the item's.

The special tokens around the text ([CLS] and [SEP], ``<s>`` and ``</s>``) are in every input, as in training, and are
never scored. They do not begin a sequence from which the model reads on, so the policy says ``bos=no``; and as the
first token has its context on the right, ``first=scored``. Such a number is not a log-probability of the text, and
is never compared with one of a model that reads from left to right: its measure has another name.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lexiscope.core.errors import InputError, Place, SpecError, SubjectError, require
from lexiscope.core.prompt import Prompting
from lexiscope.core.scoring import Counted, Doubles, Per, ScoringPolicy, TokenScores
from lexiscope.core.subject import Progress, SubjectSpec
from lexiscope.subjects._answer_log import AnswerLog
from lexiscope.subjects._options import Device, read_options, split_name
from lexiscope.subjects._scoring_options import prompting_of, wording_options
from lexiscope.subjects._vector_store import library_versions
from lexiscope.subjects.local._loading import (
    device_of,
    dtype_of,
    load_model,
    load_tokenizer,
    longest_of,
    torch_threads,
)
from lexiscope.subjects.local._local_model import LocalModel
from lexiscope.subjects.local._model_check import same_to_rounding
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.local._span_tokens import plan_batches

CAPABILITIES = ("Scores",)
RUN_OPTIONS = ("device", "threads")
WORDED = True

WORDS = "what the tokenizer's pre-tokenizer keeps together"
_LOG_FORMAT = 1
_HOW = ["how"]
# token ids of the masked copies that are held at a time: bounds the memory for any number of texts
_CHUNK_IDS = 400_000
# rows of logits at a time: 128 rows of a vocabulary of 250,000 are 128 MB
_MOST_ROWS = 128


@dataclass(frozen=True, slots=True)
class MaskedOptions:
    """How a masked language model is run.

    ``conditioning``, ``tokens`` and ``per``: as in a :class:`~lexiscope.core.scoring.ScoringPolicy`. ``threads``: of
    torch, 0 = as the process has it. ``batch_tokens``: most tokens of a batch, 0 = 2,048 on a CPU and 32,768
    elsewhere. ``self_test``: the task tries trivially easy pairs first. ``trust_remote_code``: the revision of the
    model whose own Python code may be run. ``variant`` and ``language``: the wording in which a task asks, and its
    language.
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
    variant: str = ""
    language: str = ""

    @classmethod
    def read(cls, given: dict[str, str]) -> MaskedOptions:
        """Read the options of a spec.

        >>> MaskedOptions.read({"conditioning": "masked"}).conditioning
        'masked'

        Errors: :class:`SpecError` for an unknown option or value.
        """
        if "bos" in given or "first" in given:
            hint = "a masked model has its special tokens always: the policy is bos=no, first=scored"
            raise SpecError("a masked language model has no options bos and first", hint=hint)
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


class MaskedLM(LocalModel):
    """A masked language model that scores texts. *name* is a folder or a hub id, *revision* one of the hub."""

    kind = "masked_lm"
    objective = "masked language modelling"

    def __init__(self, name: str, *, revision: str = "", options: MaskedOptions | None = None) -> None:
        self.options = options or MaskedOptions()
        super().__init__(name, revision, self.options)
        self._route, self._threads = "", self.options.threads

    def _spec_options(self) -> dict[str, str]:
        named = {name: getattr(self.options, name) for name in ("conditioning", "tokens", "dtype")}
        changed = {name: value for name, value in named.items() if value != getattr(MaskedOptions(), name)}
        return changed | wording_options(self.options)

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
    def prompting(self) -> Prompting:
        """The wording in which a task asks."""
        return prompting_of(self.options)

    @property
    def self_test(self) -> bool:
        """Whether a task should try trivially easy pairs on it first."""
        return self.options.self_test == "yes"

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
        same scores (to 1e-4) independent of the other texts. With *work*, each finished text is kept in that folder, a
        broken call continues, and a call whose texts are all stored loads no model. *progress* is called with the
        number of distinct texts done and their total.
        *Source:* Salazar et al. 2020, §2.3; Kauf & Ivanova 2023, §2.
        Errors: those of :func:`~lexiscope.subjects.local.masked_lm.tokenise_texts`; :class:`SubjectError` where a
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
        for finished in self._score_chunks(missing, log):
            for text, scores in finished:
                if log is not None:
                    log.put(
                        text, [column.tolist() for column in (scores.log_probabilities, scores.starts, scores.ends)]
                    )
                done[text] = scores
            if progress is not None:
                progress(len(done), len(distinct))
        return [done[text] for text in texts]

    @cached_property
    def _forward(self) -> MaskedForward:
        how = self.options
        return MaskedForward(self.folder, dtype=how.dtype, device=how.device, trust_remote_code=self._runs_own_code)

    def _score_chunks(self, texts: Sequence[str], log: AnswerLog | None) -> Iterator[list[tuple[str, TokenScores]]]:
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
                yield [_text_scores(texts[n], tokenised[n], numbers) for n, numbers in zip(chunk, values, strict=True)]

    def _values(self, copies: Copies) -> list[Doubles]:
        """Return the log-probability of each token of each text of a chunk."""
        owners: list[list[tuple[int, int, int]]] = [[] for _ in copies.inputs]
        values = [np.empty(len(asked)) for asked in copies.asked]
        for text, asked in enumerate(copies.asked):
            for token, (copy, target) in enumerate(asked):
                owners[copy].append((text, token, target))
        for batch in self._batches(copies):
            wanted = [(row, *owner) for row, copy in enumerate(batch) for owner in owners[copy]]
            log_probabilities = self._forward.run(
                [copies.inputs[copy] for copy in batch], [(row, target) for row, _, _, target in wanted]
            )
            for (_, text, token, _), value in zip(wanted, log_probabilities.tolist(), strict=True):
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
        for name in ("threads", "variant", "language"):
            options.pop(name)
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


def _text_scores(text: str, tokenised: TokenisedText, values: Doubles) -> tuple[str, TokenScores]:
    if not np.isfinite(values).all():
        start, end = tokenised.spans[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise SubjectError(
            "the model's log-probability of a token is not finite (NaN or infinity)",
            place=Place(text=text, column=start + 1, width=end - start),
            hint="use dtype=fp32; if it is in use, the weights themselves are broken",
        )
    starts, ends = (np.array([span[side] for span in tokenised.spans], dtype=np.int64) for side in (0, 1))
    return text, TokenScores(np.minimum(values, 0.0), starts, ends)


# -- the model, read at the masked places only: the vocabulary is projected nowhere else -----------------------------


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
        rows, targets = (torch.tensor(column, device=self._device) for column in zip(*asked, strict=True))
        with torch.inference_mode():
            # in double precision: differences of 1e-4 decide between texts
            logits = self._logits(inputs).double()
            log_probabilities = logits[rows, targets] - logits.logsumexp(dim=1)[rows]
            return np.asarray(log_probabilities.cpu().numpy(), dtype=np.float64)

    def _logits(self, inputs: Sequence[tuple[Ids, int]]) -> Any:
        """Return the logits at the place of each input, *(inputs, vocabulary)*."""
        ids, mask = self._inputs([tokens for tokens, _ in inputs])
        places = [row * ids.shape[1] + position for row, (_, position) in enumerate(inputs)]
        rows = self._torch.tensor(places, device=self._device)
        if self.route == "all_places":
            logits = self._model(input_ids=ids, attention_mask=mask).logits
            return logits.reshape(-1, logits.shape[-1])[rows]
        with self._reading_rows(rows):
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
    def _reading_rows(self, rows: Any) -> Iterator[None]:
        """Let the prediction head see the hidden states of some places only, as one sequence."""
        base = getattr(self._model, self._model.base_model_prefix, None)
        if base is None or base is self._model:
            yield
            return
        handle = base.register_forward_hook(lambda _module, _inputs, output: _keep_rows(output, rows))
        try:
            yield
        finally:
            handle.remove()

    def _find_route(self) -> str:
        """Compare both routes on a short padded batch; what they must agree on is every logit."""
        ordinary = [token for token in range(64) if token not in self.vocabulary.special][:4]
        mask = self.vocabulary.mask
        logits = {}
        for route in ("all_places", "masked_places"):
            self.route = route
            with self._torch.inference_mode():
                logits[route] = self._logits([((*ordinary, mask), 4), ((mask, *ordinary[:2]), 0)]).float()
        all_places, masked_places = logits.values()
        return "masked_places" if same_to_rounding(all_places, masked_places, self._dtype) else "all_places"

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


def _keep_rows(output: Any, rows: Any) -> Any:
    hidden = output[0]
    chosen = hidden.reshape(-1, hidden.shape[-1])[rows][None]
    if isinstance(output, tuple):
        return (chosen, *output[1:])
    output.last_hidden_state = chosen
    return output


# -- masked copies of texts: which tokens are hidden when one of them is scored, and which copies texts share ---------
# ``masked`` hides the scored token alone (Salazar et al. 2020, https://aclanthology.org/2020.acl-main.240).
# ``masked_within_word`` hides the later tokens of its word too, so that a word cut into pieces does not give its own
# beginning away (Kauf & Ivanova 2023, https://aclanthology.org/2023.acl-short.80, ``within_word_l2r``).
#
# Words are the tokenizer's own: what its pre-tokenizer keeps together. For BERT a punctuation mark is a word of its
# own, for sentencepiece it belongs to the word before it. Where a tokenizer keeps several words together (a stretch of
# Thai or Japanese, or no pre-tokenizer at all), the second variant would not be what its name says, and is refused.


Ids = tuple[int, ...]
Span = tuple[int, int]
_UNSPACED = ("CJK UNIFIED", "CJK COMPAT", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")


@dataclass(frozen=True, slots=True)
class TokenizerFacts:
    """What must be known of a tokenizer: its mask, its unknown token, its special tokens, the longest input."""

    mask: int
    unknown: int | None
    special: frozenset[int]
    longest: int | None


@dataclass(frozen=True, slots=True)
class TokenisedText:
    """One text as the model reads it.

    ``ids`` with the special tokens around the text; ``positions`` of the text's own tokens among them, with their
    half-open character ``spans`` and the number of the word that each belongs to.
    """

    ids: Ids
    positions: tuple[int, ...]
    spans: tuple[Span, ...]
    words: tuple[int, ...]

    def masked_positions(self, number: int, *, within_word: bool) -> tuple[int, ...]:
        """Return the positions that are masked when token *number* is scored; its own comes first."""
        later = range(number + 1, len(self.positions)) if within_word else ()
        same = [self.positions[other] for other in later if self.words[other] == self.words[number]]
        return (self.positions[number], *same)


@dataclass(frozen=True, slots=True)
class Copies:
    """The distinct masked inputs of some texts, and the token that each is read for.

    An input is read at one place, the first that is masked in it (``inputs``: ids and that position).
    ``asked[t]`` has, for each token of text t, the number of its input and the token's own id.
    """

    inputs: tuple[tuple[Ids, int], ...]
    asked: tuple[tuple[tuple[int, int], ...], ...]


def plan_copies(texts: Sequence[TokenisedText], mask: int, *, within_word: bool) -> Copies:
    """Return the masked copies of texts; equal ones are kept once.

    Texts that differ in one word share the copy in which that word is masked, and give it several tokens to score.
    """
    numbers: dict[tuple[Ids, int], int] = {}
    asked = []
    for text in texts:
        of_text = []
        for number, position in enumerate(text.positions):
            copy = list(text.ids)
            for place in text.masked_positions(number, within_word=within_word):
                copy[place] = mask
            of_text.append((numbers.setdefault((tuple(copy), position), len(numbers)), text.ids[position]))
        asked.append(tuple(of_text))
    return Copies(tuple(numbers), tuple(asked))


def tokenise_texts(
    tokenizer: Any, texts: Sequence[str], vocabulary: TokenizerFacts, *, within_word: bool
) -> list[TokenisedText]:
    """Tokenise texts with the special tokens of the model around them.

    Errors: :class:`InputError` for an empty text; :class:`SubjectError` for a text that is longer than the model
    reads, has characters that the tokenizer does not know or special tokens written out, or (*within_word*) whose words
    the tokenizer does not separate.
    """
    for text in texts:
        if not text.strip():
            raise InputError(f"the text {text!r} has no words to score", hint="leave the item out")
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=True)
    return [
        _tokenise_text(text, encoding, vocabulary, within_word) for text, encoding in zip(texts, encodings, strict=True)
    ]


def _tokenise_text(text: str, encoding: Any, vocabulary: TokenizerFacts, within_word: bool) -> TokenisedText:
    ids = tuple(encoding.ids)
    if vocabulary.longest is not None and len(ids) > vocabulary.longest:
        what = f"the text has {len(ids)} tokens, the model reads at most {vocabulary.longest}: nothing is cut off"
        raise SubjectError(what, place=Place(text=text), hint="shorten the text")
    # the mask of the tokenizer itself, not the ids: a text may have "[SEP]" written in it
    own = [position for position, special in enumerate(encoding.special_tokens_mask) if not special]
    spans = tuple(_visible_span(encoding.offsets[position], text) for position in own)
    for position, span in zip(own, spans, strict=True):
        _check_token(text, span, ids[position], vocabulary)
    # a token outside any word (an added token of the vocabulary) is a word by itself
    words = tuple(-1 - position if (word := encoding.word_ids[position]) is None else int(word) for position in own)
    if within_word:
        _check_words(text, spans, words)
    return TokenisedText(ids, tuple(own), spans, words)


def _visible_span(span: Span, text: str) -> Span:
    """Return the characters of a token; one that shows none shares the character that follows it."""
    start, end = span
    if start < end:
        return start, end
    start = min(start, len(text) - 1)
    return start, start + 1


def _check_token(text: str, span: Span, token: int, vocabulary: TokenizerFacts) -> None:
    place = Place(text=text, column=span[0] + 1, width=span[1] - span[0])
    if token == vocabulary.unknown:
        what = "the tokenizer does not know these characters: the probability of 'unknown' is not theirs"
        raise SubjectError(what, place=place, hint="leave the item out, or use another model")
    if token in vocabulary.special:
        what = "the text has one of the model's special tokens written in it"
        raise SubjectError(what, place=place, hint="write it another way, or leave the item out")


def _check_words(text: str, spans: Sequence[Span], words: Sequence[int]) -> None:
    """Refuse a text in which several words, as far as can be seen, go by one number."""
    for word in dict.fromkeys(words):
        pieces = [span for span, of_word in zip(spans, words, strict=True) if of_word == word]
        start, end = pieces[0][0], pieces[-1][1]
        whole = text[start:end].strip()
        several = (
            any(char.isspace() for char in whole)
            or sum(unicodedata.name(char, "").startswith(_UNSPACED) for char in whole) > 1
        )
        if len(pieces) > 1 and several:
            raise SubjectError(
                "this model's tokenizer does not tell the words of this stretch apart",
                place=Place(text=text, column=start + 1, width=end - start),
                why="conditioning=masked_within_word hides the later tokens of a word, and here it would hide words",
                hint="use ?conditioning=masked",
            )
