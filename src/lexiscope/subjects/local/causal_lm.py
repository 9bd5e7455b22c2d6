"""Causal language models: the log-probability of every token of a text, and continuations of prompts.

``causal_lm:FOLDER`` and ``causal_lm:HUB_ID#REVISION`` are any Hugging Face causal language model with safetensors
weights and a fast tokenizer. Options follow a question mark: ``causal_lm:FOLDER?policy=bos&device=cuda``.

What is counted: ``policy=`` published, bos, word or continuation, and single parts of it, ``bos=`` yes or no,
``first=`` scored or unscored, ``tokens=`` text, word or continuation. On what: ``dtype=`` fp32, bf16 or fp16,
``device=`` cpu, cuda or mps, ``threads=``. How: ``route=`` auto, tree, batched or single. ``self_test=no`` leaves out
the test on easy pairs; ``bos_token=`` names the token that is put before texts where the tokenizer names none (a
``&`` in it is written ``%26``); ``trust_remote_code=`` names the revision of a model whose own code may run.
``variant=`` names the wording in which a task asks, ``language=`` the language of the words where it is not the item's.

A folder that ``lexiscope train lora`` wrote is an adapter on a base model, which is found where the training found it,
or where ``base=`` says; a base that is not the one of the training is an error.

The default scoring policy is the ``published`` one of the synonymy study: no beginning-of-sequence token, the first
token not scored. Texts that begin alike share a prefix tree whose nodes are read once; a check when the model is
loaded proves that this gives the scores of the plain forward pass, and the run record says which route was used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.errors import Place, SubjectError
from lexiscope.core.prompt import Prompting
from lexiscope.core.scoring import Offsets, ScoringPolicy, TokenScores
from lexiscope.core.subject import Continuation, Decoding, Floats, Progress, SubjectSpec, WorkShare, copy_with_seed
from lexiscope.subjects._options import split_name
from lexiscope.subjects._scoring_options import (
    CausalOptions,
    causal_options,
    policy_options,
    prompting_of,
    wording_options,
)
from lexiscope.subjects._vector_store import VectorStore, digest, library_versions, read_or_make
from lexiscope.subjects.local._adapter import AdaptedFolder, locate_model
from lexiscope.subjects.local._causal_forward import CausalForward
from lexiscope.subjects.local._generation import Prompt, continue_group, groups_of, stored_continuations
from lexiscope.subjects.local._local_model import LocalModel, unloaded_copy
from lexiscope.subjects.local._model_check import rounding
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.local._score_units import Route, ScorePlan, Unit, batch_plan, tree_plan

CAPABILITIES = ("Scores", "Generates")
RUN_OPTIONS = ("device", "threads")
WORDED = True

_STORE_FORMAT = 2
_LONGEST_ROW = 4_096


def load(spec: SubjectSpec) -> CausalLM:
    """Make the causal language model that a spec names. Its weights are read when it first has something to compute.

    Errors: :class:`SpecError` for an unknown option.
    """
    name, revision, options = split_name(spec.name)
    return CausalLM(name, revision=revision, options=causal_options(options))


@dataclass(frozen=True, slots=True)
class _ScoringRun:
    """How the last scores were computed, here or in the broken call that this one continued."""

    route: str = ""
    difference: float = 0.0
    refused: str = ""
    attention: str = ""
    projection: str = ""
    kernels: str = ""
    row_tokens: int = 0
    threads: int = 0
    tokens: int = 0
    tokens_read: int = 0
    tokens_repeated: int = 0


class CausalLM(LocalModel):
    """A language model that gives every token a probability given those left of it.

    *name* is a folder or a hub id; *revision* a branch, tag or commit of the hub. *seed* is that of the run, which a
    task adds to the seed of its decodings; scores do not depend on it.
    """

    kind = "causal_lm"
    objective = "next token"
    further_files = ("generation_config.json",)

    def __init__(self, name: str, *, revision: str = "", options: CausalOptions | None = None, seed: int = 0) -> None:
        self.options = options or CausalOptions()
        super().__init__(name, revision, self.options)
        self.seed = seed
        self._used = _ScoringRun(threads=self.options.threads)

    # -- what it is -------------------------------------------------------------------------------------------

    def _spec_options(self) -> dict[str, str]:
        named = policy_options(self.options.policy)
        named |= {"bos_token": self.options.bos_token} if self.options.bos_token else {}
        named |= wording_options(self.options)
        return named | ({"dtype": self.options.dtype} if self.options.dtype != "fp32" else {})

    @property
    def policy(self) -> ScoringPolicy:
        """Which tokens count; by default, the ``published`` preset."""
        return self.options.policy

    @property
    def prompting(self) -> Prompting:
        """The wording in which a task asks."""
        return prompting_of(self.options)

    @property
    def self_test(self) -> bool:
        """Whether a task should try trivially easy pairs on it first."""
        return self.options.self_test

    def _locate(self, files: tuple[str, ...]) -> ModelFolder:
        return locate_model(self.name, self.hub_revision, allow=files, base=self.options.base)

    @property
    def settings(self) -> dict[str, Any]:
        """How it is run, for the run record.

        ``route`` is the one that was really used (``tree``, ``batched`` or ``single``; empty before the first score),
        ``difference`` the largest one of a token's log-probability between it and the plain forward pass when the model
        was checked, once for a run however often it is continued (*unit: nats*), ``refused`` why a faster route was not
        used. ``kernels`` names what was computed with fewer passes than transformers does, or gives the reason why
        nothing was. ``row_tokens`` is the budget of a tree's row.
        ``tokens`` counts the tokens that were scored, ``tokens_read`` those that were read, ``tokens_repeated`` those
        of them that were read more than once or are padding.
        """
        asked = {name: value for name, value in asdict(self.options).items() if name not in ("policy", "route")}
        budgets = {"batch_tokens": self.options.batch_budget}
        policy = {"policy": str(self.policy), "route_asked": self.options.route}
        adapter = {"known_base": self.folder.known_base} if isinstance(self.folder, AdaptedFolder) else {}
        return {**asked, **budgets, **policy, **adapter, **asdict(self._used)}

    def with_seed(self, seed: int) -> CausalLM:
        """Return the same model in a run with this seed; itself where it has that seed, so that it is loaded once."""
        return copy_with_seed(self, seed)

    def with_share(self, share: WorkShare) -> CausalLM:
        """Return the same model for a worker that computes this share of each request; it is not loaded yet."""
        return unloaded_copy(self, share)

    # -- what it can do ---------------------------------------------------------------------------------------

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of a text, without special tokens."""
        return tuple(self._tokenise([text])[0].ids)

    def score(
        self, texts: Sequence[str], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[TokenScores]:
        """Return the log-probability of every token of every text.

        *Unit:* nats. *Higher means:* more probable. A text is tokenised whole, without special tokens but the
        beginning-of-sequence token of the policy; without that, its first token has no log-probability (NaN). The
        same text gets the same scores (to 1e-4, in single precision) independent of the other texts, and, asked
        together with the same texts in any order, identical ones. With *work*, every finished part is kept in that
        folder, a broken call continues, and a call whose scores are all stored loads no model. *progress* is called
        with the number of distinct tokens scored and their total. *Source:* synonymy study, §3.6.
        Errors: :class:`SubjectError` naming the text that cannot be scored.
        """
        distinct = sorted(set(texts))
        if not distinct:
            return []
        if not distinct[0]:
            raise SubjectError("a text is empty", hint="leave it out: it has no log-probability")
        store = self._store(work)
        request = ["scores", self.options.route, self.options.row_budget, self.options.batch_budget, distinct]
        stored = store.read_plan(request) if store else None
        if stored is None:
            scores = self._score(distinct, store, progress)
            if store:
                self._store_scores(store, request, scores)
        else:
            assert store is not None
            scores = self._read_scores(store, request, stored)
        by_text = dict(zip(distinct, scores, strict=True))
        return [by_text[text] for text in texts]

    def generate(
        self,
        prompts: Sequence[str],
        decoding: Decoding,
        *,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> Sequence[Sequence[Continuation]]:
        """Return the continuations of every prompt, ``decoding.n`` each.

        A prompt is tokenised as :meth:`score` does. A continuation depends on its prompt, its number and the decoding
        alone. Its text is what the model adds to the decoded prompt, without special tokens, spaces as they are; the
        ids are those of its tokens without one that ends the text. With *work*, finished groups of prompts are kept
        in that folder. *progress* is called with the number of distinct prompts done and their total.
        *Source:* synonymy study, §3.7. Errors: :class:`SubjectError` naming the prompt that cannot be continued.
        """
        distinct = sorted(set(prompts))
        if not distinct:
            return []
        store = self._store(work)
        request = ["continuations", asdict(decoding), self.options.batch_budget, distinct]
        stored = read_or_make(
            store, request, lambda: {"continuations": self._generate(distinct, decoding, store, progress)}
        )
        made = dict(zip(distinct, map(stored_continuations, stored["continuations"]), strict=True))
        return [made[prompt] for prompt in prompts]

    # -- how --------------------------------------------------------------------------------------------------

    @cached_property
    def forward(self) -> CausalForward:
        """The loaded model. Errors: :class:`SubjectError` where it cannot be read."""
        how = self.options
        return CausalForward(self.folder, dtype=how.dtype, device=how.device, trust_remote_code=self._runs_own_code)

    @cached_property
    def _route_check(self) -> RouteCheck:
        return check_routes(
            self.forward,
            self.options.route,
            row_budget=self.options.row_budget,
            plain_budget=self.options.plain_row_budget,
            batch_budget=self.options.batch_budget,
        )

    def _first_route_check(self, store: VectorStore | None) -> tuple[RouteCheck, int]:
        """Return what the check of the routes found, and the number of threads, when this run was begun."""
        with self.forward.threads(self.options.threads or None) as threads:
            if store is None:
                return self._route_check, threads
            options = self.options
            asked = ["guard", options.route, options.row_budget, options.plain_row_budget, options.batch_budget]
            begun = store.provenance(asked, lambda: {"guard": asdict(self._route_check), "threads": threads})
        return RouteCheck(**begun["guard"]), begun["threads"]

    @property
    def _leading_ids(self) -> tuple[int, ...]:
        """The token that is put before every text, or nothing."""
        if self.policy.bos == "no":
            return ()
        forward, named = self.forward, self.options.bos_token
        token = forward.tokenizer.token_to_id(named) if named else forward.bos
        if token is None:
            what = f"no token {named!r}" if named else "no beginning-of-sequence token"
            raise SubjectError(
                f"the tokenizer of this model has {what}",
                place=Place(str(self.folder.path)),
                hint="use bos=no&first=unscored, or name the token that stood before texts in training: bos_token=…",
            )
        return (int(token),)

    def _tokenise(self, texts: Sequence[str], *, room: int = 0) -> list[TokenText]:
        """Tokenise texts that must leave *room* for further tokens."""
        forward = self.forward
        taken = len(self._leading_ids) + room
        longest = None if forward.longest is None else forward.longest - taken
        return read_texts(forward.tokenizer, texts, longest=longest, unknown=forward.unknown)

    def _score(self, texts: Sequence[str], store: VectorStore | None, progress: Progress | None) -> list[TokenScores]:
        before = self._leading_ids
        read = self._tokenise(texts)
        check, threads = self._first_route_check(store)
        with self.forward.threads(self.options.threads or None):
            plan = self._plan_units([(*before, *text.ids) for text in read], check, threads)
            nodes = np.full(plan.n_nodes, np.nan, dtype=np.float32)
            done, total = 0, sum(len(unit.nodes) for unit in plan.units)
            for unit in (plan.units[number] for number in self.share.order(len(plan.units))):
                if store and not store.has(unit.content):
                    self._score_unit(unit, plan, texts, store, lean=check.lean)
            for unit in plan.units:
                nodes[unit.nodes] = self._score_unit(unit, plan, texts, store, lean=check.lean)
                done += len(unit.nodes)
                if progress is not None:
                    progress(done, total)
        skip = len(before)
        return [
            TokenScores(nodes[path[skip:]].astype(np.float64), text.starts, text.ends)
            for path, text in zip(plan.paths, read, strict=True)
        ]

    def _plan_units(self, sequences: Sequence[tuple[int, ...]], check: RouteCheck, threads: int) -> ScorePlan:
        route, refused, difference = check.route, check.refused, check.difference
        if route == "tree":
            plan = tree_plan(sequences, budget=check.row, longest=min(_LONGEST_ROW, check.window))
            if plan.longest_row > check.window:
                refused = f"a text is longer than the model's attention window of {check.window} tokens"
                if self.options.route == "tree":
                    raise SubjectError("the route 'tree' is not exact for these texts", why=refused)
                route = "batched"
        if route != "tree":
            # without a projection of its own a batch has the logits of all its tokens
            whole = self.forward.projection == "whole model"
            budget = min(self.options.batch_budget, 1_024) if whole else self.options.batch_budget
            plan = batch_plan(sequences, budget=budget, route=route)
        self._used = _ScoringRun(
            route=route,
            difference=difference,
            refused=refused,
            attention=self.forward.attention,
            projection=self.forward.projection,
            kernels=self.forward.kernels(route) if check.lean else check.kernels,
            row_tokens=check.row,
            threads=threads,
            tokens=sum(len(unit.nodes) for unit in plan.units),
            tokens_read=plan.read,
            tokens_repeated=plan.repeated,
        )
        return plan

    def _score_unit(
        self, unit: Unit, plan: ScorePlan, texts: Sequence[str], store: VectorStore | None, *, lean: bool
    ) -> Floats:
        """Return the scores of one unit, stored or computed."""
        content = unit.content if store else None
        if store and store.has(content):
            return store.read(content)
        scores = self.forward.run(unit, lean=lean)
        if not np.isfinite(scores).all():
            node = int(unit.nodes[np.flatnonzero(~np.isfinite(scores))[0]])
            broken = next(text for text, path in zip(texts, plan.paths, strict=True) if node in path)
            raise SubjectError(
                "the model's log-probability of a token of this text is not finite (NaN or infinity)",
                place=Place(text=broken),
                hint="use dtype=fp32; if it is in use, the weights themselves are broken",
            )
        if store:
            store.write(content, scores)
        return scores

    def _generate(
        self, prompts: Sequence[str], decoding: Decoding, store: VectorStore | None, progress: Progress | None
    ) -> list[list[dict[str, Any]]]:
        before = self._leading_ids
        read = [
            Prompt(text, (*before, *tokens.ids))
            for text, tokens in zip(prompts, self._tokenise(prompts, room=decoding.max_tokens), strict=True)
        ]

        def make(group: Sequence[Prompt]) -> dict[str, Any]:
            made = continue_group(self.forward, group, decoding)
            return {"continuations": [[asdict(continuation) for continuation in several] for several in made]}

        def stored_group(group: Sequence[Prompt]) -> dict[str, Any]:
            content = ["group", asdict(decoding), [[prompt.text, prompt.ids] for prompt in group]]
            return read_or_make(store, content, partial(make, group))

        continuations: dict[str, list[dict[str, Any]]] = {}
        with self.forward.threads(self.options.threads or None):
            groups = list(groups_of(read, budget=self.options.batch_budget, n=decoding.n))
            for number in self.share.order(len(groups)):
                stored_group(groups[number])
            for group in groups:
                stored = stored_group(group)
                continuations |= zip([prompt.text for prompt in group], stored["continuations"], strict=True)
                if progress is not None:
                    progress(len(continuations), len(prompts))
        return [continuations[prompt] for prompt in prompts]

    # -- what is kept -----------------------------------------------------------------------------------------

    def _store(self, work: Path | None) -> VectorStore | None:
        if work is None:
            return None
        before = [self.policy.bos, self.options.bos_token]
        return VectorStore(work / "scores", digest([_STORE_FORMAT, *self.store_key(work), before]))

    def store_key(self, work: Path) -> list[Any]:
        """Return what decides the model's numbers: its files, number type, device and libraries."""
        revision = self.folder.revision(memory=work / "hashes.json")
        adapted = ("peft",) if isinstance(self.folder, AdaptedFolder) else ()
        return [revision, self.options.dtype, self.options.device, library_versions(*adapted)]

    def _store_scores(self, store: VectorStore, request: object, text_scores: Sequence[TokenScores]) -> None:
        numbers = np.concatenate([scores.log_probabilities for scores in text_scores]).astype(np.float32)
        store.write(request, numbers)
        places = [[scores.starts.tolist(), scores.ends.tolist()] for scores in text_scores]
        store.write_plan(request, {"used": asdict(self._used), "places": places})

    def _read_scores(self, store: VectorStore, request: object, plan: dict[str, Any]) -> list[TokenScores]:
        self._used = _ScoringRun(**plan["used"])
        numbers = store.read(request).astype(np.float64)
        scores, first = [], 0
        for starts, ends in plan["places"]:
            last = first + len(starts)
            scores.append(TokenScores(numbers[first:last], np.array(starts), np.array(ends)))
            first = last
        return scores


# -- texts as a scorer reads them: whole strings, their tokens, and the position of each token in the text ----------


@dataclass(frozen=True, slots=True)
class TokenText:
    """The tokens of a text, without special tokens, and their half-open character offsets."""

    ids: tuple[int, ...]
    starts: Offsets
    ends: Offsets


def read_texts(
    tokenizer: Any, texts: Sequence[str], *, longest: int | None, unknown: int | None = None
) -> list[TokenText]:
    """Tokenise whole texts; nothing is added, nothing cut off.

    *tokenizer* is a ``tokenizers.Tokenizer``; *longest* the most tokens of a text, *unknown* the id of its unknown
    token.
    Errors: :class:`SubjectError` for a text without tokens, a text that is too long, and a text with a character
    that the tokenizer does not know; it shows the first and counts the others.
    """
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    tokenised = [_token_text(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]
    refused = [
        error
        for text, tokens in zip(texts, tokenised, strict=True)
        if (error := _text_error(text, tokens, longest, unknown)) is not None
    ]
    if len(refused) > 1:
        first = refused[0]
        why = f"{len(refused)} texts cannot be scored; this is the first"
        raise SubjectError(first.what, place=first.place, why=why, hint=first.hint)
    if refused:
        raise refused[0]
    return tokenised


def _token_text(text: str, encoding: Any) -> TokenText:
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    starts, ends = offsets[:, 0], offsets[:, 1]
    # the mark of a word's beginning may have no character of its own: it belongs to the character that follows
    ends = np.where(ends > starts, ends, np.minimum(starts + 1, len(text)))
    return TokenText(tuple(encoding.ids), starts, ends)


def _text_error(text: str, tokens: TokenText, longest: int | None, unknown: int | None) -> SubjectError | None:
    if not tokens.ids:
        return SubjectError("a text without tokens has no log-probability", place=Place(text=text))
    if longest is not None and len(tokens.ids) > longest:
        what = f"the text has {len(tokens.ids)} tokens, the model reads at most {longest}"
        return SubjectError(what, place=Place(text=text), hint="shorten the text: nothing is ever cut off")
    if unknown is not None and unknown in tokens.ids:
        start, end = (int(offsets[tokens.ids.index(unknown)]) for offsets in (tokens.starts, tokens.ends))
        return SubjectError(
            "the tokenizer does not know a part of the text: the probability of an unknown token is meaningless",
            place=Place(text=text, column=start + 1, width=end - start),
            hint="write it in another way, leave out the item, or use another model",
        )
    return None


# -- the route that is exact for a model, found by its configuration and proved by scoring token sequences twice ------
# A mask that lets a token see its ancestors alone is silently wrong on models with a sliding window shorter than the
# row, and cannot be given to models with linear biases or a recurrent state. So both routes score the same sequences
# when the model is loaded, and a route that differs from the plain forward pass is not used. The same holds for lean
# kernels.


_WITHOUT_POSITIONS = ("bloom", "mpt", "mamba", "rwkv", "recurrent", "jamba", "zamba", "bamba", "xlstm")
_WITHOUT_ATTENTION = ("linear", "mamba", "recurrent", "conv", "ssm")
_MASKABLE = ("sdpa", "eager")
_NO_LIMIT = 1 << 30
# the longest row and text of the check, and the shortest row that an attention window may ask for
_CHECKED = 512


@dataclass(frozen=True, slots=True)
class RouteCheck:
    """What the check of the routes found.

    ``route`` is the one to use; ``difference`` the largest difference of a token's log-probability between it and the
    plain forward pass (*unit: nats*); ``refused`` is the reason why the routes before it are not used; ``window`` is
    the longest row of a prefix tree that the model can read, ``row`` the budget of a row; ``lean`` says whether lean
    kernels are used and ``kernels`` which, or why not.
    """

    route: Route
    difference: float
    refused: str
    window: int
    row: int = _CHECKED
    lean: bool = False
    kernels: str = ""


def window_of(config: Any) -> int:
    """Return the length of the model's shortest attention window; a large number if there is none."""
    kinds = str(getattr(config, "layer_types", "") or getattr(config, "attention_layers", "") or "")
    if kinds and not any(kind in kinds for kind in ("sliding", "chunked", "local")):
        return _NO_LIMIT
    stated = [getattr(config, name, None) for name in ("sliding_window", "attention_chunk_size", "window_size")]
    return min((size for size in stated if isinstance(size, int) and size > 0), default=_NO_LIMIT)


def tree_refusal(config: Any, attention: str, row: int) -> str:
    """Say why a configuration rules out rows of a prefix tree, or return an empty string."""
    kind = str(getattr(config, "model_type", ""))
    if window_of(config) < row:
        return f"its attention window of {window_of(config)} tokens is shorter than a row of {row}"
    if getattr(config, "alibi", False) or any(name in kind for name in _WITHOUT_POSITIONS):
        return f"the architecture {kind} takes no positions of tokens"
    if any(name in str(getattr(config, "layer_types", "")) for name in _WITHOUT_ATTENTION):
        return f"the architecture {kind} has layers without attention"
    if attention not in _MASKABLE:
        return f"its attention {attention or 'of an unknown kind'!r} is not one of {', '.join(_MASKABLE)}"
    return ""


def check_routes(
    forward: CausalForward, asked: str, *, row_budget: int, plain_budget: int, batch_budget: int
) -> RouteCheck:
    """Find the fastest route, and kernels, that give the scores of the plain forward pass.

    *row_budget* is that of a row read by lean kernels, *plain_budget* of one read by the model's own; an attention
    window shortens both, though not below 512. Errors: :class:`SubjectError` where the route that was asked for is not
    exact, or scores are not finite.
    """
    config = getattr(forward.model.config, "text_config", forward.model.config)
    window = window_of(config)
    if asked == "single":
        return RouteCheck("single", 0.0, "", window)
    row, plain_row = (min(size, max(window, _CHECKED)) for size in (row_budget, plain_budget))
    sequences = _probe_sequences(forward, plain_row)
    plain = [forward.plain(ids) for ids in sequences]
    if not all(np.isfinite(scores).all() for scores in plain):
        raise SubjectError("the model's log-probabilities are not finite (NaN or infinity)", hint="use dtype=fp32")
    refused = ""
    if asked in ("auto", "tree"):
        refused, checked = tree_refusal(config, forward.attention, plain_row), min(plain_row, _CHECKED)
        comparison = (
            None if refused else _compare_route(forward, tree_plan(sequences, budget=checked, longest=checked), plain)
        )
        if comparison and comparison.exact:
            return RouteCheck(
                "tree", comparison.difference, "", window, row if comparison.lean else plain_row, *comparison.how
            )
        refused = refused or _difference_text("the prefix tree", comparison.difference if comparison else 0.0)
        if asked == "tree":
            raise SubjectError("the route 'tree' is not exact for this model", why=refused, hint="use route=auto")
    comparison = _compare_route(forward, batch_plan(sequences, budget=batch_budget, route="batched"), plain)
    if comparison.exact:
        return RouteCheck("batched", comparison.difference, refused, window, plain_row, *comparison.how)
    why = _difference_text("batches", comparison.difference)
    if asked == "batched":
        raise SubjectError("the route 'batched' is not exact for this model", why=why, hint="use route=auto")
    return RouteCheck("single", 0.0, f"{refused}; {why}", window)


@dataclass(frozen=True, slots=True)
class _RouteComparison:
    """The difference of a route from the plain forward pass, with lean kernels where these are exact."""

    difference: float
    exact: bool
    lean: bool
    kernels: str

    @property
    def how(self) -> tuple[bool, str]:
        return self.lean, self.kernels


def _compare_route(forward: CausalForward, plan: ScorePlan, plain: list[Any]) -> _RouteComparison:
    """Compare a route with the plain forward pass, first with lean kernels, then with the model's own."""
    # near 0 a log-probability carries the rounding of the logits that it is the difference of, which are not small
    largest = max(1.0, *(float(np.abs(scores).max(initial=0.0)) for scores in plain))
    tolerance, kernels = rounding(largest, forward.dtype), forward.kernels(plan.units[0].route)
    if kernels:
        difference = _largest_difference(forward, plan, plain, lean=True)
        if difference <= tolerance:
            return _RouteComparison(difference, True, True, kernels)
        kernels = f"plain; lean ones ({kernels}) raise, or differ by {difference:.1e} from plain ones"
    difference = _largest_difference(forward, plan, plain, lean=False)
    return _RouteComparison(difference, difference <= tolerance, False, kernels or "plain")


def _difference_text(route: str, difference: float) -> str:
    if difference == float("inf"):
        return f"texts cannot be read as rows of {route}: the model raises, or gives no numbers"
    return f"scores through {route} differ by {difference:.1e} from plain ones"


def _largest_difference(forward: CausalForward, plan: ScorePlan, plain: list[Any], *, lean: bool) -> float:
    by_node = np.full(plan.n_nodes, np.nan, dtype=np.float32)
    try:
        for unit in plan.units:
            by_node[unit.nodes] = forward.run(unit, lean=lean)
    except (RuntimeError, ValueError, TypeError, IndexError, AttributeError, KeyError):
        # an architecture that cannot be given a mask or positions says so by raising
        return float("inf")
    apart = [np.abs(by_node[path[1:]] - scores).max() for path, scores in zip(plan.paths, plain, strict=True)]
    largest = float(max(apart))
    return largest if np.isfinite(largest) else float("inf")


def _probe_sequences(forward: CausalForward, budget: int) -> list[tuple[int, ...]]:
    """Make sequences that share a prefix, repeat one, and reach far apart in a row of the tree."""
    longest = min(forward.longest or _NO_LIMIT, budget, _CHECKED)
    # ids without pattern, the same in every run; the first ids of a vocabulary are often special tokens
    drawn = np.random.default_rng(20_250_429).integers(min(10, forward.n_vocabulary - 1), forward.n_vocabulary, 4_096)
    ids = tuple(int(token) for token in drawn)
    half, quarter, few = max(longest // 2, 2), max(longest // 4, 1), max(min(16, longest // 4), 1)
    shared = ids[:quarter]
    return [
        ids[:half],
        (*shared, *ids[1_000 : 1_000 + few]),
        (*shared, *ids[2_000 : 2_000 + few]),
        (*shared[:few], *shared[:few], *ids[3_000 : 3_000 + few]),
        ids[1_500 : 1_500 + few + 1],
    ]
