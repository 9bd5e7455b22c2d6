"""Causal language models: the log-probability of every token of a text, and continuations of prompts.

``causal_lm:FOLDER`` and ``causal_lm:HUB_ID#REVISION`` are any Hugging Face causal language model with safetensors
weights and a fast tokenizer. Options follow a question mark: ``causal_lm:FOLDER?policy=bos&device=cuda``.

What is counted: ``policy=`` published, bos, word or continuation, and single parts of it, ``bos=`` yes or no,
``first=`` scored or unscored, ``tokens=`` text, word or continuation. On what: ``dtype=`` fp32, bf16 or fp16,
``device=`` cpu, cuda or mps, ``threads=``. How: ``route=`` auto, tree, batched or single. ``self_test=no`` leaves out
the test on easy pairs; ``bos_token=`` names the token that stands before texts where the tokenizer names none (a
``&`` in it is written ``%26``); ``trust_remote_code=`` names the revision of a model whose own code may run.

A folder that ``lexiscope train lora`` wrote is an adapter on a base model, which is found where the training found it,
or where ``base=`` says; a base that is not the one of the training is refused.

The default scoring policy is the ``published`` one of the synonymy study: no beginning-of-sequence token, the first
token not scored. Texts that begin alike share a prefix tree whose nodes are read once; a check when the model is
loaded proves that this gives the scores of the plain forward pass, and the run record says which route was used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import Place, SubjectError
from lexiscope.core.generation import Continuation, Decoding
from lexiscope.core.scoring import Offsets, ScoringPolicy, TokenScores
from lexiscope.core.spec import with_options
from lexiscope.core.subject import Floats, Progress, SubjectSpec, copy_with_seed
from lexiscope.subjects._options import split_name
from lexiscope.subjects._scoring_options import CausalOptions, causal_options, policy_options
from lexiscope.subjects._vector_store import VectorStore, digest, library_versions
from lexiscope.subjects.local._adapter import AdaptedFolder, locate_model
from lexiscope.subjects.local._generation import Prompt, continue_group, groups_of
from lexiscope.subjects.local._loading import trusted
from lexiscope.subjects.local._model_folder import TOKENIZER_FILES, ModelFolder
from lexiscope.subjects.local._route import RouteCheck, guard
from lexiscope.subjects.local._score_units import ScorePlan, Unit, batch_plan, tree_plan
from lexiscope.subjects.local._tree_forward import CausalForward

CAPABILITIES = ("Scores", "Generates")
RUN_OPTIONS = ("device", "threads")

_STORE_FORMAT = 2
_LONGEST_ROW = 4_096


def load(spec: SubjectSpec) -> CausalLM:
    """Make the causal language model that a spec names. Its weights are read when it first has something to compute.

    Errors: :class:`SpecError` for an unknown option.
    """
    name, revision, options = split_name(spec.name)
    return CausalLM(name, revision=revision, options=causal_options(options))


@dataclass(frozen=True, slots=True)
class _Used:
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


class CausalLM:
    """A language model that gives every token a probability given those left of it.

    *name* is a folder or a hub id; *revision* a branch, tag or commit of the hub. *seed* is that of the run, which a
    task adds to the seed of its decodings; scores do not depend on it.
    """

    kind = "causal_lm"

    def __init__(self, name: str, *, revision: str = "", options: CausalOptions | None = None, seed: int = 0) -> None:
        self.name = name
        self.seed = seed
        self.hub_revision = revision
        self.options = options or CausalOptions()
        self._used = _Used(threads=self.options.threads)

    # -- what it is -------------------------------------------------------------------------------------------

    @property
    def subject_id(self) -> str:
        """Its spec, with the options that change its numbers and without those that only change its speed."""
        revision = f"#{self.hub_revision}" if self.hub_revision else ""
        named = policy_options(self.options.policy)
        named |= {"bos_token": self.options.bos_token} if self.options.bos_token else {}
        named |= {"dtype": self.options.dtype} if self.options.dtype != "fp32" else {}
        return with_options(f"causal_lm:{self.name}{revision}", named)

    @property
    def policy(self) -> ScoringPolicy:
        """Which tokens count; the ``published`` preset where the spec says nothing."""
        return self.options.policy

    @property
    def self_test(self) -> bool:
        """Whether a task should try trivially easy pairs on it first."""
        return self.options.self_test

    @cached_property
    def folder(self) -> ModelFolder:
        """The model's folder, checked.

        Errors: :class:`SubjectError` naming what is missing; :class:`MissingExtraError`.
        """
        code = ("*.py",) if self.options.trust_remote_code else ()
        files = ("*.safetensors", "*.index.json", "config.json", "generation_config.json", *TOKENIZER_FILES, *code)
        folder = locate_model(self.name, self.hub_revision, allow=files, base=self.options.base)
        folder.check()
        return folder

    @cached_property
    def revision(self) -> str:
        """One sha256 over configuration, weights, tokenizer and code."""
        return self.folder.revision()

    @property
    def facts(self) -> SubjectFacts:
        """What its files say of it; parameters are counted in the headers of the weights."""
        return SubjectFacts(
            subject_id=self.subject_id,
            title=Path(self.name).name,
            kind=self.kind,
            architecture=self.folder.architecture,
            objective="next token",
            n_layers=self.folder.n_layers,
            width=self.folder.width,
            n_parameters=self.folder.n_parameters(head=True),
            revision=self.revision,
            source=self.name,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """How it is run, for the run record.

        ``route`` is the one that was really used (``tree``, ``batched`` or ``single``; empty before the first score),
        ``difference`` the largest one of a token's log-probability between it and the plain forward pass when the model
        was checked, once for a run however often it is continued (*unit: nats*), ``refused`` why a faster route was not
        used. ``kernels`` names what was computed
        with fewer passes than transformers does, or says why nothing was. ``row_tokens`` is the budget of a tree's row.
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

    # -- what it can do ---------------------------------------------------------------------------------------

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of a text, without special tokens."""
        return tuple(self._read([text])[0].ids)

    def score(
        self, texts: Sequence[str], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[TokenScores]:
        """Return the log-probability of every token of every text.

        *Unit:* nats. *Higher means:* more probable. A text is tokenised whole, without special tokens but the
        beginning-of-sequence token of the policy; without that, its first token has no log-probability (NaN). The
        same text gets the same scores (to 1e-4, in single precision) whatever stands beside it, and, asked together
        with the same texts in whatever order, the same bytes. With *work*, every finished part is kept in that
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
            found = self._score(distinct, store, progress)
            if store:
                self._keep(store, request, found)
        else:
            assert store is not None
            found = self._stored(store, request, stored)
        by_text = dict(zip(distinct, found, strict=True))
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
        alone. Its text is what the model adds to the decoded prompt, special tokens left out, spaces as they are; the
        ids are those of its tokens without one that ends the text. With *work*, finished groups of prompts are kept
        in that folder. *progress* is called with the number of distinct prompts done and their total.
        *Source:* synonymy study, §3.7. Errors: :class:`SubjectError` naming the prompt that cannot be continued.
        """
        distinct = sorted(set(prompts))
        if not distinct:
            return []
        store = self._store(work)
        request = ["continuations", asdict(decoding), self.options.batch_budget, distinct]
        stored = store.read_plan(request) if store else None
        if stored is None:
            stored = {"continuations": self._generate(distinct, decoding, store, progress)}
            if store:
                store.write_plan(request, stored)
        made = {
            prompt: tuple(Continuation(**{**each, "token_ids": tuple(each["token_ids"])}) for each in found)
            for prompt, found in zip(distinct, stored["continuations"], strict=True)
        }
        return [made[prompt] for prompt in prompts]

    # -- how --------------------------------------------------------------------------------------------------

    @cached_property
    def forward(self) -> CausalForward:
        """The loaded model. Errors: :class:`SubjectError` where it cannot be read."""
        named = self.options.trust_remote_code
        own_code = trusted(self.folder, named, hub_revision=self.hub_revision, revision=self.revision if named else "")
        return CausalForward(
            self.folder, dtype=self.options.dtype, device=self.options.device, trust_remote_code=own_code
        )

    @cached_property
    def _guard(self) -> RouteCheck:
        return guard(
            self.forward,
            self.options.route,
            row_budget=self.options.row_budget,
            plain_budget=self.options.plain_row_budget,
            batch_budget=self.options.batch_budget,
        )

    def _begun(self, store: VectorStore | None) -> tuple[RouteCheck, int]:
        """Return what the check of the routes found, and the number of threads, when this run was begun."""
        with self.forward.threads(self.options.threads or None) as threads:
            if store is None:
                return self._guard, threads
            options = self.options
            asked = ["guard", options.route, options.row_budget, options.plain_row_budget, options.batch_budget]
            found = store.first(asked, lambda: {"guard": asdict(self._guard), "threads": threads})
        return RouteCheck(**found["guard"]), found["threads"]

    @property
    def _before(self) -> tuple[int, ...]:
        """The token that stands before every text, or nothing."""
        if self.policy.bos == "no":
            return ()
        forward, named = self.forward, self.options.bos_token
        found = forward.tokenizer.token_to_id(named) if named else forward.bos
        if found is None:
            what = f"no token {named!r}" if named else "no beginning-of-sequence token"
            raise SubjectError(
                f"the tokenizer of this model has {what}",
                place=Place(str(self.folder.path)),
                hint="use bos=no&first=unscored, or name the token that stood before texts in training: bos_token=…",
            )
        return (int(found),)

    def _read(self, texts: Sequence[str], *, room: int = 0) -> list[TokenText]:
        """Tokenise texts that must leave *room* for further tokens."""
        forward = self.forward
        taken = len(self._before) + room
        longest = None if forward.longest is None else forward.longest - taken
        return read_texts(forward.tokenizer, texts, longest=longest, unknown=forward.unknown)

    def _score(self, texts: Sequence[str], store: VectorStore | None, progress: Progress | None) -> list[TokenScores]:
        before = self._before
        read = self._read(texts)
        found, threads = self._begun(store)
        with self.forward.threads(self.options.threads or None):
            plan = self._plan([(*before, *text.ids) for text in read], found, threads)
            nodes = np.full(plan.n_nodes, np.nan, dtype=np.float32)
            done, total = 0, sum(len(unit.nodes) for unit in plan.units)
            for unit in plan.units:
                nodes[unit.nodes] = self._unit(unit, plan, texts, store, lean=found.lean)
                done += len(unit.nodes)
                if progress is not None:
                    progress(done, total)
        skip = len(before)
        return [
            TokenScores(nodes[path[skip:]].astype(np.float64), text.starts, text.ends)
            for path, text in zip(plan.paths, read, strict=True)
        ]

    def _plan(self, sequences: Sequence[tuple[int, ...]], found: RouteCheck, threads: int) -> ScorePlan:
        route, refused, difference = found.route, found.refused, found.difference
        if route == "tree":
            plan = tree_plan(sequences, budget=found.row, longest=min(_LONGEST_ROW, found.window))
            if plan.longest_row > found.window:
                refused = f"a text is longer than the model's attention window of {found.window} tokens"
                if self.options.route == "tree":
                    raise SubjectError("the route 'tree' is not exact for these texts", why=refused)
                route = "batched"
        if route != "tree":
            # without a projection of its own a batch has the logits of all its tokens
            whole = self.forward.projection == "whole model"
            budget = min(self.options.batch_budget, 1_024) if whole else self.options.batch_budget
            plan = batch_plan(sequences, budget=budget, route=route)
        self._used = _Used(
            route=route,
            difference=difference,
            refused=refused,
            attention=self.forward.attention,
            projection=self.forward.projection,
            kernels=self.forward.kernels(route) if found.lean else found.kernels,
            row_tokens=found.row,
            threads=threads,
            tokens=sum(len(unit.nodes) for unit in plan.units),
            tokens_read=plan.read,
            tokens_repeated=plan.repeated,
        )
        return plan

    def _unit(
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
        before = self._before
        read = [
            Prompt(text, (*before, *tokens.ids))
            for text, tokens in zip(prompts, self._read(prompts, room=decoding.max_tokens), strict=True)
        ]
        found: dict[str, list[dict[str, Any]]] = {}
        with self.forward.threads(self.options.threads or None):
            for group in groups_of(read, budget=self.options.batch_budget, n=decoding.n):
                content = ["group", asdict(decoding), [[prompt.text, prompt.ids] for prompt in group]]
                stored = store.read_plan(content) if store else None
                if stored is None:
                    stored = {
                        "continuations": [
                            [asdict(each) for each in made] for made in continue_group(self.forward, group, decoding)
                        ]
                    }
                    if store:
                        store.write_plan(content, stored)
                found |= zip([prompt.text for prompt in group], stored["continuations"], strict=True)
                if progress is not None:
                    progress(len(found), len(prompts))
        return [found[prompt] for prompt in prompts]

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

    def _keep(self, store: VectorStore, request: object, found: Sequence[TokenScores]) -> None:
        numbers = np.concatenate([scores.log_probabilities for scores in found]).astype(np.float32)
        store.write(request, numbers)
        places = [[scores.starts.tolist(), scores.ends.tolist()] for scores in found]
        store.write_plan(request, {"used": asdict(self._used), "places": places})

    def _stored(self, store: VectorStore, request: object, plan: dict[str, Any]) -> list[TokenScores]:
        self._used = _Used(**plan["used"])
        numbers = store.read(request).astype(np.float64)
        found, first = [], 0
        for starts, ends in plan["places"]:
            last = first + len(starts)
            found.append(TokenScores(numbers[first:last], np.array(starts), np.array(ends)))
            first = last
        return found


# -- texts as a scorer reads them: whole strings, their tokens, and where in the text each token stands -------------


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
    found = [_token_text(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]
    refused = [
        error
        for text, tokens in zip(texts, found, strict=True)
        if (error := _refusal(text, tokens, longest, unknown)) is not None
    ]
    if len(refused) > 1:
        first = refused[0]
        why = f"{len(refused)} texts cannot be scored; this is the first"
        raise SubjectError(first.what, place=first.place, why=why, hint=first.hint)
    if refused:
        raise refused[0]
    return found


def _token_text(text: str, encoding: Any) -> TokenText:
    offsets = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
    starts, ends = offsets[:, 0], offsets[:, 1]
    # the mark of a word's beginning may have no character of its own: it belongs to the character that follows
    ends = np.where(ends > starts, ends, np.minimum(starts + 1, len(text)))
    return TokenText(tuple(encoding.ids), starts, ends)


def _refusal(text: str, tokens: TokenText, longest: int | None, unknown: int | None) -> SubjectError | None:
    if not tokens.ids:
        return SubjectError("a text without tokens has no log-probability", place=Place(text=text))
    if longest is not None and len(tokens.ids) > longest:
        what = f"the text has {len(tokens.ids)} tokens, the model reads at most {longest}"
        return SubjectError(what, place=Place(text=text), hint="shorten the text: nothing is ever cut off")
    if unknown is not None and unknown in tokens.ids:
        start, end = (int(each[tokens.ids.index(unknown)]) for each in (tokens.starts, tokens.ends))
        return SubjectError(
            "the tokenizer does not know a part of the text: the probability of an unknown token says nothing of it",
            place=Place(text=text, column=start + 1, width=end - start),
            hint="write it in another way, leave out the item, or use another model",
        )
    return None
