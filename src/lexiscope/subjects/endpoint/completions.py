"""Models behind an OpenAI-compatible completions endpoint: scores of texts, if it gives them, and continuations.

``completions:MODEL@http://host:8000/v1``; options follow a question mark: ``?policy=bos&key_env=NAME&parallel=8``.
vLLM serves all of it. Before the first text is sent, the endpoint is asked about one sentence: a server that cannot
give the log-probabilities of a prompt (no echo, no log-probabilities, generated tokens only, chat only), or not under
the requested policy, is rejected with the reason; so is one whose numbers depend on the order of requests. ``variant=``
names the wording in which a task asks,
``language=`` the language of the words where it is not the item's.

Limits for a served model: its revision is what the server reports, not a checksum of weights; a seed is sent with every
sampled continuation, but the server may ignore it.
"""

from __future__ import annotations

import difflib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError, Place, RunError, SpecError, SubjectError
from lexiscope.core.prompt import Prompting
from lexiscope.core.scoring import PUBLISHED, ScoringPolicy, TokenScores
from lexiscope.core.spec import with_options
from lexiscope.core.subject import Continuation, Decoding, Progress, SubjectSpec, copy_with_seed
from lexiscope.subjects._answer_log import ANSWERS, AnswerLog
from lexiscope.subjects._options import read_options
from lexiscope.subjects._scoring_options import POLICY_OPTIONS, policy_of, policy_options, prompting_of, wording_options
from lexiscope.subjects._vector_store import digest
from lexiscope.subjects.endpoint._alignment import align
from lexiscope.subjects.endpoint._endpoint import (
    Endpoint,
    Lost,
    ServedModelOptions,
    ServerReply,
    UnreadableReply,
    index_of,
    refusal,
    refuse_secrets,
    split_address,
)
from lexiscope.subjects.endpoint._prompt_scores import Form, PromptTokens, prompt_scores, read_prompt_tokens
from lexiscope.subjects.endpoint._request_claims import GONE, RequestClaims, warn_of_possibly_paid
from lexiscope.subjects.local._generation import seed_of

CAPABILITIES = ("Scores", "Generates")
WORDED = True
KEPT_BY_REQUEST = True
"""A score or continuation is found by all that it was asked with: runs can share the folder in which they are kept."""

SEEDS = "sent with every sampled continuation; whether the server honours them is not known"
_LOG_FORMAT = 1
_SPECIAL = "add_special_tokens"
Question = TypeVar("Question")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ServerOptions(ServedModelOptions):
    """How a served model is asked.

    ``policy``: which tokens count. ``bos_token``: the text of the token that is put before every text, for a
    server that adds none. ``batch``: most texts in one request. ``self_test``: the task tries trivially easy pairs
    first. ``variant`` and ``language``: the wording in which a task asks, and its language.
    The others as in :class:`~lexiscope.subjects.endpoint._endpoint.ServedModelOptions`.
    """

    policy: ScoringPolicy = PUBLISHED
    bos_token: str = ""
    batch: int = 8
    self_test: bool = True
    variant: str = ""
    language: str = ""

    def __post_init__(self) -> None:
        if self.batch <= 0:
            raise SpecError("batch is above 0")
        ServedModelOptions.__post_init__(self)


def server_options(given: Mapping[str, str]) -> ServerOptions:
    """Read the options of a served model.

    >>> server_options({"policy": "bos", "parallel": "2"}).parallel
    2

    Errors: :class:`SpecError` for an unknown option or value; it does not repeat what may be a secret.
    """
    refuse_secrets(given)
    policy = policy_of(given)
    return read_options(ServerOptions, given, of="a served model", known=POLICY_OPTIONS, policy=policy)


def load(spec: SubjectSpec) -> Completions:
    """Make the served model that a spec names. The server is first asked when there is something to ask.

    Errors: :class:`SpecError` without an address, and for an unknown option or a secret in the spec.
    """
    if not spec.url:
        raise SpecError(f"{spec.kind}:{spec.name} has no address", hint="write completions:MODEL@http://host:8000/v1")
    url, options = split_address(spec.url)
    return Completions(spec.name, url, options=server_options(options))


class Completions:
    """A model that a server completes texts with. *name* is its name there, *url* ends before ``/completions``."""

    kind = "completions"

    def __init__(self, name: str, url: str, *, options: ServerOptions | None = None, seed: int = 0) -> None:
        self.seed = seed
        self.name, self.url = name, url.rstrip("/")
        self.options = options or ServerOptions()
        self._about: ServedModel | None = None
        self._served: PromptScoring | None = None
        self._used: dict[str, Any] = {}
        self._possibly_paid = 0
        self._rejected: set[str] = set()

    # -- what it is -------------------------------------------------------------------------------------------

    @property
    def subject_id(self) -> str:
        """Its spec, with the options that change its numbers and the name of the key's variable."""
        named = {name: getattr(self.options, name) for name in ("bos_token", "key_env")}
        options = policy_options(self.options.policy) | {name: value for name, value in named.items() if value}
        options |= wording_options(self.options)
        return with_options(f"completions:{self.name}@{self.url}", options)

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

    @property
    def facts(self) -> SubjectFacts:
        """What the server says of the model. Errors: :class:`SubjectError` where it cannot be asked."""
        if self._about is None:
            with self._endpoint() as endpoint:
                self._check_served_model(endpoint, self._log(None))
        assert self._about is not None
        return SubjectFacts(
            subject_id=self.subject_id,
            title=self.name,
            kind=self.kind,
            objective="next token",
            revision=str(self._about),
            source=self.url,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """How it is asked, for the run record.

        ``served`` is how the endpoint was found to give scores, here or in the broken call that this one continued
        (empty before the first score); ``not_accepted`` are fields of a continuation that it rejected.
        ``possibly_paid`` counts requests that came to no reply and may have been paid, in the folder of the work so
        far.
        """
        asked = {name: value for name, value in asdict(self.options).items() if name != "policy"}
        rejected = sorted(self._rejected)
        record = {"served": self._used, "not_accepted": rejected, "possibly_paid": self._possibly_paid}
        return {**asked, "policy": str(self.policy), **record, "seeds": SEEDS}

    def with_seed(self, seed: int) -> Completions:
        """Return the same model in a run with this seed, which a task adds to the seed of its decodings."""
        return copy_with_seed(self, seed)

    # -- what it can do ---------------------------------------------------------------------------------------

    def score(
        self, texts: Sequence[str], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[TokenScores]:
        """Return the log-probability of every token of every text, as the server gives it.

        *Unit:* nats. *Higher means:* more probable. A text is asked once, however often it occurs in *texts*. With
        *work*, every finished request is kept in that folder and a broken call continues; a call whose texts are all
        stored asks nothing. *progress* is called with the number of distinct texts done and their total.
        Errors: :class:`CapabilityError` where the endpoint cannot, before a text is sent; :class:`SubjectError` for a
        text that the server cut, misread or gave no number for; :class:`RunError` if another model answers now than
        when the call was interrupted.
        """
        distinct = sorted(set(texts))
        if "" in distinct:
            raise InputError("a text is empty: it has no log-probability", hint="leave it out")
        log = self._log(work)
        kind = ["scores", self.policy.bos, self.options.bos_token]
        done = {text: _stored_scores(text, log.get([*kind, text])) for text in distinct if [*kind, text] in log}
        if kind in log and self._served is None:
            self._used = log.get(kind)
        missing = [text for text in distinct if text not in done]
        for finished in self._score_batches(distinct, missing, log, kind):
            done |= finished
            if progress is not None:
                progress(len(done), len(distinct))
        self._count_lost(log, asked=bool(missing))
        return [done[text] for text in texts]

    def generate(
        self,
        prompts: Sequence[str],
        decoding: Decoding,
        *,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> Sequence[Sequence[Continuation]]:
        """Return the continuations of every prompt, ``decoding.n`` each.

        Every continuation is a separate request, with its own seed. With *work*, finished ones are kept and a broken
        call continues. *progress* is called with the number of distinct continuations done and their total.
        Errors: :class:`SubjectError` where the server refuses; :class:`InputError` for an empty prompt.
        """
        distinct = sorted(set(prompts))
        if "" in distinct:
            raise InputError("a prompt is empty", hint="leave it out")
        log = self._log(work)
        kind = ["continuations", asdict(decoding) | {"n": 0}, self.policy.bos, self.options.bos_token]
        asked = [(prompt, number) for prompt in distinct for number in range(decoding.n)]
        done = {question: log.get([*kind, *question]) for question in asked if [*kind, *question] in log}
        missing = [question for question in asked if question not in done]

        def ask(requests: _ClaimedRequests, question: tuple[str, int]) -> tuple[tuple[str, int], dict[str, Any]]:
            def send(lost: Lost) -> dict[str, Any]:
                answer = self._request_continuation(requests.endpoint, question, decoding, lost)
                log.put([*kind, *question], answer, durably=True)
                return answer

            key = [*kind, *question]
            return question, requests.answer(digest(key), kept=partial(log.get_written, key), send=send)

        for question, answer in self._answers_to(ask, missing, log):
            done[question] = answer
            if progress is not None:
                progress(len(done), len(asked))
        self._count_lost(log, asked=bool(missing))
        return [[_continuation(done[prompt, number]) for number in range(decoding.n)] for prompt in prompts]

    # -- how --------------------------------------------------------------------------------------------------

    def _endpoint(self) -> Endpoint:
        return Endpoint(self.url, self.options)

    def _log(self, work: Path | None) -> AnswerLog:
        return AnswerLog(work / ANSWERS if work else None, [_LOG_FORMAT, self.url, self.name])

    def _count_lost(self, log: AnswerLog, *, asked: bool) -> None:
        """Count the requests of a log that may have been paid without a reply; warn if some were *asked* now."""
        self._possibly_paid = sum(isinstance(entry, dict) and "lost" in entry for entry in log.answers())
        if asked:
            warn_of_possibly_paid(self.subject_id, self._possibly_paid)

    def _check_served_model(self, endpoint: Endpoint, log: AnswerLog) -> None:
        """Ask what answers, once; what was kept must be of the same model."""
        if self._about is None:
            self._about = read_served_model(endpoint, self.name)
        now = {"model": self._about.model, "root": self._about.root}
        before = log.get("model")
        if before is None:
            log.put("model", now)
        elif before != now:
            raise RunError(
                f"the server at {self.url} serves another model now than when this run was interrupted",
                why=f"then: {before}, now: {now}",
                hint="serve the former model again, or begin a new run",
            )

    def _answers_to(
        self, ask: Callable[[_ClaimedRequests, Question], Answer], questions: Sequence[Question], log: AnswerLog
    ) -> Iterator[Answer]:
        if questions:
            with self._endpoint() as endpoint, RequestClaims(_claims_folder(log)) as claims:
                self._check_served_model(endpoint, log)
                requests = _ClaimedRequests(endpoint, claims, log)
                yield from endpoint.run_tasks(lambda question: ask(requests, question), questions)

    def _score_batches(
        self, texts: Sequence[str], missing: Sequence[str], log: AnswerLog, kind: list[str]
    ) -> Iterator[dict[str, TokenScores]]:
        """Yield the scores of each batch of texts as its request is finished, kept.

        The batches are those of all *texts*, not of the *missing* ones: two processes that ask the same claim the same.
        """
        if not missing:
            return
        with self._endpoint() as endpoint, RequestClaims(_claims_folder(log)) as claims:
            self._check_served_model(endpoint, log)
            if self._served is None:
                scoring = find_prompt_scoring(endpoint, self.name, self.options)
                self._check_order(endpoint, scoring)
                self._served = scoring
            served = self._served
            if kind not in log:
                log.put(kind, asdict(served))
            # a run that is continued keeps the provenance with which it was begun
            self._used = log.get(kind)
            size = self.options.batch if served.batches else 1
            batches = [texts[first : first + size] for first in range(0, len(texts), size)]
            absent = set(missing)
            requests = _ClaimedRequests(endpoint, claims, log)

            def stored(batch: Sequence[str]) -> dict[str, TokenScores]:
                answers = {text: log.get_written([*kind, text]) for text in batch}
                return {text: _stored_scores(text, entry) for text, entry in answers.items() if entry is not None}

            def ask(batch: Sequence[str]) -> dict[str, TokenScores]:
                def kept() -> dict[str, TokenScores] | None:
                    scores = stored(batch)
                    return scores if len(scores) == len(batch) else None

                def send(lost: Lost) -> dict[str, TokenScores]:
                    scores = stored(batch)
                    asked = [text for text in batch if text not in scores]
                    try:
                        prompts = self._request_tokens(endpoint, served, asked, lost)
                    except UnreadableReply as error:
                        # it was served, and nothing of it is kept
                        lost(error.why)
                        raise
                    # checked before it is kept: what is stored is never asked again
                    scores |= {
                        text: prompt_scores(text, tokens, before=served.before) for text, tokens in prompts.items()
                    }
                    for text, tokens in prompts.items():
                        entry = {**asdict(tokens), "before": served.before}
                        log.put([*kind, text], entry, durably=text == asked[-1])
                    return scores

                return requests.answer(digest([*kind, *batch]), kept=kept, send=send)

            yield from endpoint.run_tasks(ask, [batch for batch in batches if not absent.isdisjoint(batch)])

    def _request_tokens(
        self, endpoint: Endpoint, served: PromptScoring, batch: Sequence[str], lost: Lost | None = None
    ) -> dict[str, PromptTokens]:
        """Return what the server lists for each text of a batch."""
        reply = endpoint.post("completions", served.request(self.name, batch), lost=lost)
        if not reply.ok and len(batch) > 1:
            # one text may be at fault: alone, it is named
            return {text: self._request_tokens(endpoint, served, [text], lost)[text] for text in batch}
        if not reply.ok:
            error = refusal(reply, self.name, self.url)
            raise type(error)(error.what, place=Place(text=batch[0]), why=error.why, hint=error.hint)
        prompts = [read_prompt_tokens(choice, served.form, served.generated) for choice in reply.choices]
        whole = [prompt for prompt in prompts if prompt is not None]
        if len(whole) != len(batch) or sorted(map(index_of, reply.choices)) != list(range(len(batch))):
            what = f"the server answered {len(batch)} texts with {len(whole)} lists of log-probabilities"
            raise SubjectError(what, place=Place(text=batch[0]), hint="use ?batch=1")
        usage = reply.body.get("usage")
        counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        if counted is not None and counted != sum(map(len, whole)):
            what = f"the server counts {counted} tokens in these texts and lists {sum(map(len, whole))}"
            raise SubjectError(what, place=Place(text=batch[0]))
        return dict(zip(batch, whole, strict=True))

    def _check_order(self, endpoint: Endpoint, served: PromptScoring) -> None:
        """Ask for texts with a common beginning in two orders, twice: their numbers must not depend on the order.

        A server that keeps what it has computed for a beginning may give other numbers to the text that comes second.
        Errors: :class:`CapabilityError` naming the text whose numbers differ most.
        """
        size = self.options.batch if served.batches else 1
        scores: dict[str, list[TokenScores]] = {text: [] for text in ORDER_TEXTS}
        for order in (ORDER_TEXTS, ORDER_TEXTS[::-1]) * 2:
            for first in range(0, len(order), size):
                prompts = self._request_tokens(endpoint, served, order[first : first + size])
                for text, tokens in prompts.items():
                    scores[text].append(prompt_scores(text, tokens, before=served.before))
        differences = {text: _largest_difference(several) for text, several in scores.items()}
        worst = max(differences, key=differences.__getitem__)
        if differences[worst] > _SAME:
            raise CapabilityError(
                f"the log-probabilities that the server at {self.url} gives depend on the order of requests",
                place=Place(text=worst),
                why=f"asked {len(scores[worst])} times in two orders, a token differs by {differences[worst]:.3g} "
                f"nats, which is more than {_SAME:g}",
                hint="serve the model without prefix caching (vLLM: --no-enable-prefix-caching) and in float32, "
                "or use it here as causal_lm:",
            )

    def _request_continuation(
        self, endpoint: Endpoint, question: tuple[str, int], decoding: Decoding, lost: Lost
    ) -> dict[str, Any]:
        prompt, number = question
        sampled = decoding.method == "sample"
        # 31 bits: some servers keep a seed in a signed word
        seed = seed_of(decoding.seed, prompt, number) % 2**31 if sampled else None
        prefix = self.options.bos_token if self.policy.bos == "yes" else ""
        body: dict[str, Any] = {"model": self.name, "prompt": prefix + prompt, "max_tokens": decoding.max_tokens}
        body |= {"temperature": decoding.temperature, "seed": seed} if sampled else {"temperature": 0.0}
        body |= {"stop": list(decoding.stop)} if decoding.stop else {}
        special = self.policy.bos == "yes" and not prefix
        # said outright, or a server would take them from the model's own generation settings
        extra = {"top_p": 1.0, "repetition_penalty": 1.0, "top_k": decoding.top_k or -1, _SPECIAL: special}
        answer: dict[str, Any] = {"text": "", "token_ids": [], "seed": seed, "finish": "", "fault": ""}
        try:
            needed = {"top_k"} if sampled and decoding.top_k else set()
            reply = self._post(endpoint, body, extra, needed=needed, lost=lost)
        except UnreadableReply as error:
            # asked as often as may be: kept as what came, and not asked again
            return answer | {"text": error.content, "fault": error.why}
        if not reply.ok:
            refused = refusal(reply, self.name, self.url)
            raise type(refused)(refused.what, place=Place(text=prompt), why=refused.why, hint=refused.hint)
        choice = reply.choices[0] if reply.choices else {}
        text = choice.get("text")
        if not isinstance(text, str):
            what = "the first choice has no text" if choice else "the answer has no choices"
            return answer | {"fault": f"{what}: {json.dumps(endpoint.storable(reply.body))}"}
        ids = choice.get("token_ids")
        whole = isinstance(ids, list) and all(isinstance(token_id, int) for token_id in ids)
        return answer | {"text": text, "token_ids": ids if whole else [], "finish": _finish(choice, decoding)}

    def _post(
        self, endpoint: Endpoint, body: dict[str, Any], extra: dict[str, Any], *, needed: set[str], lost: Lost
    ) -> ServerReply:
        """Send a request with fields that not every server knows; one that it rejects is omitted from then on.

        A field that is *needed* is never omitted: without it the answer would be to another question.
        """
        while True:
            kept = {name: value for name, value in extra.items() if name in needed or name not in self._rejected}
            reply = endpoint.post("completions", {**body, **kept}, lost=lost)
            rejected = {name for name in kept if name in reply.message} - needed
            if reply.status not in (400, 422) or not rejected:
                return reply
            self._rejected |= rejected


def _stored_scores(text: str, entry: Mapping[str, Any]) -> TokenScores:
    tokens = PromptTokens(tuple(entry["tokens"]), tuple(entry["values"]))
    return prompt_scores(text, tokens, before=entry["before"])


class _ClaimedRequests:
    """Requests whose answers are kept in a log: each is claimed, and those that may have been paid are counted."""

    def __init__(self, endpoint: Endpoint, claims: RequestClaims, log: AnswerLog) -> None:
        self.endpoint = endpoint
        self._claims, self._log = claims, log
        self._numbers = itertools.count()

    def answer(self, name: str, *, kept: Callable[[], Answer | None], send: Callable[[Lost], Answer]) -> Answer:
        """Return the kept answer to a request, or send it; *send* tells of tries that came to no reply."""

        def ask(gone: Sequence[str]) -> Answer:
            for worker in gone:
                # a claim is counted once, however many workers come upon it
                if self._log.get_written(["lost", worker, name]) is None:
                    self._log.put(["lost", worker, name], {"lost": name, "why": GONE}, durably=True)
            return send(lose)

        def lose(why: str) -> None:
            key = ["lost", self._claims.worker, next(self._numbers)]
            self._log.put(key, {"lost": name, "why": why}, durably=True)

        return self._claims.answer(name, kept=kept, ask=ask, wait=self.endpoint.wait)


def _claims_folder(log: AnswerLog) -> Path | None:
    """The claims on the requests of a log are in a folder of its name, next to that of the logs."""
    return None if log.path is None else log.path.parent.parent / "claims" / log.path.stem


def _largest_difference(several: Sequence[TokenScores]) -> float:
    """Return the largest difference of a token's log-probability from the first time; infinite for other tokens."""
    first, *others = (scores.log_probabilities for scores in several)
    if any(len(other) != len(first) for other in others):
        return math.inf
    # without a token before the text, its first one has no number
    return max(float(np.nanmax(np.abs(other - first), initial=0.0)) for other in others)


def _finish(choice: Any, decoding: Decoding) -> Literal["length", "stop", "end", ""]:
    """Say why a continuation ended; ``stop`` is written for a stop text and for the end of a text alike."""
    reason = choice.get("finish_reason")
    if reason != "stop":
        return "length" if reason == "length" else ""
    if not decoding.stop:
        return "end"
    # vLLM says which stop text it was
    return "stop" if isinstance(choice.get("stop_reason"), str) else ""


def _continuation(answer: dict[str, Any]) -> Continuation:
    # answers that were kept before faults were have none
    ids, fault = tuple(answer["token_ids"]), answer.get("fault", "")
    return Continuation(answer["text"], ids, answer["seed"], answer["finish"], fault)


# -- what an endpoint can do, found out by asking it about one sentence before the first text is sent ---------------
# Which servers cannot give log-probabilities of a prompt (seen in November 2026): llama.cpp's refuses ``echo`` ("Only
# no echo is supported") and lists generated tokens only (https://github.com/ggml-org/llama.cpp/issues/27174); the
# OpenAI API refuses ``echo`` together with ``logprobs`` (https://github.com/fastai/lm-hackers/pull/7); chat endpoints
# have no prompt of their own.


SENTENCE = "The bank of the river was wet, she said."
ORDER_TEXTS = tuple(
    f"{SENTENCE} He went back to it and saw {ending}"
    for ending in ("water.", "mud.", "a boat.", "an old boat.", "money.", "a crane.", "two bats.", "nothing.")
)
"""What is asked in two orders. The common beginning is longer than the 16 tokens that a server keeps as one block."""
# nats; what two orders of the same sums differ by in float32 is below it
_SAME = 1e-4
# neutral, to override the server's own defaults: some versions give log-probabilities after the temperature
_NEUTRAL = {"temperature": 1.0, "top_p": 1.0}
_FORMS: tuple[tuple[Form, dict[str, Any]], ...] = (
    ("echo", {"echo": True, "logprobs": 1, "max_tokens": 0}),
    ("echo", {"echo": True, "logprobs": 1, "max_tokens": 1}),
    ("prompt_logprobs", {"prompt_logprobs": 1, "max_tokens": 1}),
)


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What a server says of a model: its name there, its origin, the fingerprint of the system."""

    model: str
    root: str = ""
    fingerprint: str = ""

    def __str__(self) -> str:
        parts = [f"served as {self.model}", f"root {self.root}" if self.root else ""]
        parts += [f"fingerprint {self.fingerprint}" if self.fingerprint else "", "weights not checksummed"]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class PromptScoring:
    """How an endpoint is asked for the log-probabilities of a prompt.

    ``form``: where the answer has them. ``fields``: what is sent in addition to model and prompt. ``generated``: how
    many generated tokens are listed after the prompt's. ``prefix``: the token's text that is put before every text.
    ``before``: whether a special token comes before the text in what is listed.
    """

    form: Form
    fields: Mapping[str, Any]
    generated: int
    prefix: str
    before: bool

    def request(self, model: str, texts: Sequence[str]) -> dict[str, Any]:
        """Return the request for some texts."""
        prompts = [self.prefix + text for text in texts]
        return {"model": model, "prompt": prompts if len(prompts) > 1 else prompts[0], **self.fields}

    @property
    def batches(self) -> bool:
        """Whether several texts may go in one request: only where an answer shows to which text it belongs."""
        return self.form == "echo"


def read_served_model(endpoint: Endpoint, model: str) -> ServedModel:
    """Ask the server what it says of a model.

    Errors: :class:`SubjectError` where it has no such model or refuses the key.
    """
    reply = endpoint.get("models")
    if reply.status in (401, 403):
        raise refusal(reply, model, endpoint.url)
    known = {str(model.get("id")): model for model in reply.body.get("data") or [] if isinstance(model, dict)}
    if known and model not in known:
        near = difflib.get_close_matches(model, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"models of this server: {', '.join(sorted(known)[:20])}"
        raise SubjectError(f"the server at {endpoint.url} has no model {model!r}", hint=hint)
    root = endpoint.without_key(str(known.get(model, {}).get("root") or ""))
    tried = endpoint.post("completions", {"model": model, "prompt": SENTENCE, "max_tokens": 1, **_NEUTRAL})
    fingerprint = endpoint.without_key(str(tried.body.get("system_fingerprint") or ""))
    return ServedModel(model, root, fingerprint)


def find_prompt_scoring(endpoint: Endpoint, model: str, options: ServerOptions) -> PromptScoring:
    """Find out how the endpoint gives log-probabilities under a policy.

    Errors: :class:`CapabilityError` where it cannot, saying why; :class:`SubjectError` where it refuses the request.
    """
    form, fields, generated, accepted = _find_form(endpoint, model)
    wish = {_SPECIAL: options.policy.bos == "yes" and not options.bos_token} if accepted else {}
    prefix = options.bos_token if options.policy.bos == "yes" else ""
    with_it = _request_tokens(endpoint, model, form, {**fields, **wish}, generated, prefix)
    # a server that honours the field lists one token more with it than without
    other = {_SPECIAL: not wish[_SPECIAL]} if wish and not prefix else {}
    without = _request_tokens(endpoint, model, form, {**fields, **(other or wish)}, generated, "")
    before = _has_leading_token(with_it, without, options, endpoint.url)
    served = PromptScoring(form, {**fields, **wish}, generated, prefix, before)
    scores = prompt_scores(SENTENCE, with_it, before=before).log_probabilities[0 if before else 1 :]
    if not scores.any():
        raise CapabilityError(
            f"the server at {endpoint.url} gives every token of a prompt the log-probability 0",
            why="it lists the prompt, but has not scored it",
            hint="serve the model with vLLM, or use it here as causal_lm:",
        )
    return served


def _find_form(endpoint: Endpoint, model: str) -> tuple[Form, dict[str, Any], int, bool]:
    """Return the first form that lists the sentence, its fields, the generated tokens, and if special tokens are asked.

    Errors: :class:`CapabilityError` naming the result of every form.
    """
    reasons: list[str] = []
    for form, asked in _FORMS:
        fields = {**asked, **_NEUTRAL}
        accepted = True
        reply = endpoint.post("completions", {"model": model, "prompt": SENTENCE, **fields, _SPECIAL: False})
        if reply.status in (400, 422) and _SPECIAL in reply.message:
            accepted = False
            reply = endpoint.post("completions", {"model": model, "prompt": SENTENCE, **fields})
        generated = _count_generated(reply, form)
        if generated is not None:
            return form, fields, generated, accepted
        reasons.append(_why_unusable(endpoint, model, reply))
    raise CapabilityError(
        f"the server at {endpoint.url} does not give the log-probabilities of a prompt",
        why="; ".join(dict.fromkeys(reasons)),
        hint="serve the model with vLLM, or use it here as causal_lm:",
    )


def _count_generated(reply: ServerReply, form: Form) -> int | None:
    """Return how many generated tokens follow the sentence in an answer, or ``None`` where it does not list it."""
    if not reply.ok or len(reply.choices) != 1:
        return None
    usage = reply.body.get("usage") or {}
    for generated in (0,) if form == "prompt_logprobs" else (0, 1):
        tokens = read_prompt_tokens(reply.choices[0], form, generated)
        if tokens is None or len(tokens) != usage.get("prompt_tokens", len(tokens)):
            continue
        if align(SENTENCE, tokens.tokens) or align(SENTENCE, tokens.tokens[1:]):
            return generated
    return None


def _why_unusable(endpoint: Endpoint, model: str, reply: ServerReply) -> str:
    """Return the reason why an answer cannot be used.

    Errors: those of :func:`~lexiscope.subjects.endpoint._endpoint.refusal` where no other form would fare better.
    """
    if not reply.ok:
        if reply.status in (401, 403, 404, 405):
            raise refusal(reply, model, endpoint.url)
        if "chat" in reply.message.lower() and "completions" in reply.message.lower():
            raise refusal(reply, model, endpoint.url)
        return f"it refuses the request (status {reply.status}): {reply.message}"
    choice = reply.choices[0] if reply.choices else {}
    if "message" in choice:
        return "it answers as a chat does"
    if not choice.get("logprobs"):
        return "it gives no log-probabilities"
    tokens = read_prompt_tokens(choice, "echo", 0)
    if tokens is None or len(tokens) <= 1:
        return "it gives log-probabilities of generated tokens only"
    return "what it lists are not the tokens of the prompt"


def _request_tokens(
    endpoint: Endpoint, model: str, form: Form, fields: Mapping[str, Any], generated: int, prefix: str
) -> PromptTokens:
    reply = endpoint.post("completions", {"model": model, "prompt": prefix + SENTENCE, **fields})
    tokens = read_prompt_tokens(reply.choices[0], form, generated) if reply.ok and reply.choices else None
    if tokens is None:
        raise refusal(reply, model, endpoint.url)
    return tokens


def _has_leading_token(tokens: PromptTokens, other: PromptTokens, options: ServerOptions, url: str) -> bool:
    """Return whether the first token listed comes before the sentence; it must be as the policy has it.

    *tokens* are listed as the policy asks, *other* the other way (or without the token that the spec names).
    """
    wanted = options.policy.bos == "yes"
    more = len(tokens) - len(other)
    first = tokens.tokens[0]
    if more == (1 if wanted else -1):
        there = wanted
        clear = first is None or options.bos_token in ("", first)
    else:
        # asked for or not, the same tokens: the first one shows whether it is the sentence's
        there = align(SENTENCE, tokens.tokens) is None
        clear = more == 0 and (bool(first) or align(SENTENCE, tokens.tokens[1:]) is None)
    if not clear or not align(SENTENCE, tokens.tokens[1:] if there else tokens.tokens):
        what = f"it cannot be told what the server at {url} puts before a text"
        raise CapabilityError(what, why=f"of {SENTENCE!r} it lists {list(tokens.tokens[:3])} …")
    if there and not wanted:
        what = f"the server at {url} puts {first!r} before every text: it cannot serve bos=no"
        raise CapabilityError(what, hint="ask for another policy: ?policy=bos")
    if wanted and not there:
        what = f"the server at {url} puts no token before a text: it cannot serve bos=yes"
        raise CapabilityError(what, hint="name the text of the token: ?bos_token=<s>")
    return there
