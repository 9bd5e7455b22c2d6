"""Models behind an OpenAI-compatible completions endpoint: scores of texts, where it gives them, and continuations.

``completions:MODEL@http://host:8000/v1``; options follow a question mark: ``?policy=bos&key_env=NAME&parallel=8``.
vLLM serves all of it. Before the first text is sent, the endpoint is asked about one sentence: a server that cannot
give the log-probabilities of a prompt (no echo, no log-probabilities, generated tokens only, chat only), or not under
the policy that is asked for, is refused with the reason.

What cannot be known of a served model is said: its revision is what the server reports, not a checksum of weights; a
seed is sent with every sampled continuation, and whether the server's sampling honours it is its own affair.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, TypeVar

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, Place, RunError, SpecError, SubjectError
from lexiscope.core.generation import Continuation, Decoding
from lexiscope.core.scoring import ScoringPolicy, TokenScores
from lexiscope.core.spec import with_options
from lexiscope.core.subject import Progress, SubjectSpec, copy_with_seed
from lexiscope.subjects._answer_log import AnswerLog
from lexiscope.subjects._scoring_options import policy_options
from lexiscope.subjects.endpoint._chat_request import storable
from lexiscope.subjects.endpoint._endpoint import Endpoint, ServerReply, UnreadableReply, index_of, refusal
from lexiscope.subjects.endpoint._endpoint_probe import About, Served, about, probe
from lexiscope.subjects.endpoint._prompt_scores import Listed, listed, scores_of
from lexiscope.subjects.endpoint._server_options import ServerOptions, server_options, split_address
from lexiscope.subjects.local._generation import seed_of

CAPABILITIES = ("Scores", "Generates")

SEEDS = "sent with every sampled continuation; whether the server honours them is not known"
_LOG_FORMAT = 1
_SPECIAL = "add_special_tokens"
Question = TypeVar("Question")
Answer = TypeVar("Answer")


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
        self._about: About | None = None
        self._served: Served | None = None
        self._used: dict[str, Any] = {}
        self._rejected: set[str] = set()

    # -- what it is -------------------------------------------------------------------------------------------

    @property
    def subject_id(self) -> str:
        """Its spec, with the options that change its numbers and the name of the key's variable."""
        named = {name: getattr(self.options, name) for name in ("bos_token", "key_env")}
        told = policy_options(self.options.policy) | {name: value for name, value in named.items() if value}
        return with_options(f"completions:{self.name}@{self.url}", told)

    @property
    def policy(self) -> ScoringPolicy:
        """Which tokens count; the ``published`` preset where the spec says nothing."""
        return self.options.policy

    @property
    def self_test(self) -> bool:
        """Whether a task should try trivially easy pairs on it first."""
        return self.options.self_test

    @property
    def facts(self) -> SubjectFacts:
        """What the server says of the model. Errors: :class:`SubjectError` where it cannot be asked."""
        if self._about is None:
            with self._endpoint() as endpoint:
                self._know(endpoint)
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
        """
        asked = {name: value for name, value in asdict(self.options).items() if name != "policy"}
        rejected = sorted(self._rejected)
        return {**asked, "policy": str(self.policy), "served": self._used, "not_accepted": rejected, "seeds": SEEDS}

    def with_seed(self, seed: int) -> Completions:
        """Return the same model in a run with this seed, which a task adds to the seed of its decodings."""
        return copy_with_seed(self, seed)

    # -- what it can do ---------------------------------------------------------------------------------------

    def score(
        self, texts: Sequence[str], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[TokenScores]:
        """Return the log-probability of every token of every text, as the server gives it.

        *Unit:* nats. *Higher means:* more probable. A text is asked once, however often it stands in *texts*. With
        *work*, every finished request is kept in that folder and a broken call continues; a call whose texts are all
        stored asks nothing. *progress* is called with the number of distinct texts done and their total.
        Errors: :class:`CapabilityError` where the endpoint cannot, before a text is sent; :class:`SubjectError` for a
        text that the server cut, misread or gave no number for; :class:`RunError` where another model answers now
        than when the call was broken off.
        """
        distinct = sorted(set(texts))
        if "" in distinct:
            raise InputError("a text is empty: it has no log-probability", hint="leave it out")
        log = self._log(work)
        way = ["scores", self.policy.bos, self.options.bos_token]
        known = {} if log is None else {text: log.get([*way, text]) for text in distinct if [*way, text] in log}
        done = {text: _stored_scores(text, found) for text, found in known.items()}
        if log is not None and way in log and self._served is None:
            self._used = log.get(way)
        missing = [text for text in distinct if text not in done]
        for finished in self._scored(missing, log, way):
            done |= finished
            if progress is not None:
                progress(len(done), len(distinct))
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

        Every continuation is a request of its own, with its own seed. With *work*, finished ones are kept and a broken
        call continues. *progress* is called with the number of distinct continuations done and their total.
        Errors: :class:`SubjectError` where the server refuses; :class:`InputError` for an empty prompt.
        """
        distinct = sorted(set(prompts))
        if "" in distinct:
            raise InputError("a prompt is empty", hint="leave it out")
        log = self._log(work)
        way = ["continuations", asdict(decoding) | {"n": 0}, self.policy.bos, self.options.bos_token]
        asked = [(prompt, number) for prompt in distinct for number in range(decoding.n)]
        done = {each: log.get([*way, *each]) for each in asked if log is not None and [*way, *each] in log}
        missing = [each for each in asked if each not in done]

        def ask(endpoint: Endpoint, each: tuple[str, int]) -> tuple[tuple[str, int], dict[str, Any]]:
            answer = self._continued(endpoint, each, decoding)
            if log is not None:
                log.put([*way, *each], answer)
            return each, answer

        for each, answer in self._each(ask, missing, log):
            done[each] = answer
            if progress is not None:
                progress(len(done), len(asked))
        return [[_continuation(done[prompt, number]) for number in range(decoding.n)] for prompt in prompts]

    # -- how --------------------------------------------------------------------------------------------------

    def _endpoint(self) -> Endpoint:
        return Endpoint(self.url, self.options)

    def _log(self, work: Path | None) -> AnswerLog | None:
        return None if work is None else AnswerLog(work / "answers", [_LOG_FORMAT, self.url, self.name])

    def _know(self, endpoint: Endpoint, log: AnswerLog | None = None) -> None:
        """Ask what answers, once; what was kept must be of the same model."""
        if self._about is None:
            self._about = about(endpoint, self.name)
        now = {"model": self._about.model, "root": self._about.root}
        before = log.get("model") if log is not None else now
        if log is not None and before is None:
            log.put("model", now)
        elif before != now:
            raise RunError(
                f"the server at {self.url} serves another model now than when this run was broken off",
                why=f"then: {before}, now: {now}",
                hint="serve the former model again, or begin a new run",
            )

    def _each(
        self, ask: Callable[[Endpoint, Question], Answer], questions: Sequence[Question], log: AnswerLog | None
    ) -> Iterator[Answer]:
        if questions:
            with self._endpoint() as endpoint:
                self._know(endpoint, log)
                yield from endpoint.each(lambda question: ask(endpoint, question), questions)

    def _scored(self, texts: Sequence[str], log: AnswerLog | None, way: list[str]) -> Iterator[dict[str, TokenScores]]:
        """Yield the scores of each batch of texts as its request is finished, kept."""
        if not texts:
            return
        with self._endpoint() as endpoint:
            self._know(endpoint, log)
            served = self._served = self._served or probe(endpoint, self.name, self.options)
            if log is not None and way not in log:
                log.put(way, asdict(served))
            # a run that is continued keeps the provenance with which it was begun
            self._used = asdict(served) if log is None else log.get(way)
            size = self.options.batch if served.batches else 1
            batches = [texts[first : first + size] for first in range(0, len(texts), size)]

            def ask(batch: Sequence[str]) -> dict[str, TokenScores]:
                found = self._answered(endpoint, served, batch)
                # checked before it is kept: what is stored is never asked again
                scores = {text: scores_of(text, each, before=served.before) for text, each in found.items()}
                for text, each in found.items() if log is not None else ():
                    log.put([*way, text], {**asdict(each), "before": served.before})  # type: ignore[union-attr]
                return scores

            yield from endpoint.each(ask, batches)

    def _answered(self, endpoint: Endpoint, served: Served, batch: Sequence[str]) -> dict[str, Listed]:
        """Return what the server lists for each text of a batch."""
        reply = endpoint.post("completions", served.request(self.name, batch))
        if not reply.ok and len(batch) > 1:
            # one text may be at fault: alone, it is named
            return {text: self._answered(endpoint, served, [text])[text] for text in batch}
        if not reply.ok:
            error = refusal(reply, self.name, self.url)
            raise type(error)(error.what, place=Place(text=batch[0]), why=error.why, hint=error.hint)
        found = [listed(choice, served.form, served.generated) for choice in reply.choices]
        whole = [each for each in found if each is not None]
        if len(whole) != len(batch) or sorted(_indices(reply)) != list(range(len(batch))):
            what = f"the server answered {len(batch)} texts with {len(whole)} lists of log-probabilities"
            raise SubjectError(what, place=Place(text=batch[0]), hint="use ?batch=1")
        usage = reply.body.get("usage")
        counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        if counted is not None and counted != sum(map(len, whole)):
            what = f"the server counts {counted} tokens in these texts and lists {sum(map(len, whole))}"
            raise SubjectError(what, place=Place(text=batch[0]))
        return dict(zip(batch, whole, strict=True))

    def _continued(self, endpoint: Endpoint, each: tuple[str, int], decoding: Decoding) -> dict[str, Any]:
        prompt, number = each
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
            reply = self._post(endpoint, body, extra, needed={"top_k"} if sampled and decoding.top_k else set())
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
            return answer | {"fault": f"{what}: {json.dumps(endpoint.cleaned(storable(dict(reply.body))))}"}
        ids = choice.get("token_ids")
        whole = isinstance(ids, list) and all(isinstance(each, int) for each in ids)
        return answer | {"text": text, "token_ids": ids if whole else [], "finish": _finish(choice, decoding)}

    def _post(
        self, endpoint: Endpoint, body: dict[str, Any], extra: dict[str, Any], *, needed: set[str]
    ) -> ServerReply:
        """Send a request with fields that not every server knows; one that it rejects is left out from then on.

        A field that is *needed* is never left out: without it the answer would be to another question.
        """
        while True:
            kept = {name: value for name, value in extra.items() if name in needed or name not in self._rejected}
            reply = endpoint.post("completions", {**body, **kept})
            rejected = {name for name in kept if name in reply.message} - needed
            if reply.status not in (400, 422) or not rejected:
                return reply
            self._rejected |= rejected


def _indices(reply: ServerReply) -> list[int]:
    return [index_of(choice) for choice in reply.choices]


def _stored_scores(text: str, found: dict[str, Any]) -> TokenScores:
    return scores_of(text, Listed(tuple(found["tokens"]), tuple(found["values"])), before=found["before"])


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
