"""Chat models: behind an OpenAI-compatible endpoint, or read here; they answer the questions that people answered.

``chat:MODEL@http://host:8000/v1`` asks a server (hosted, vLLM, ``transformers serve``, llama.cpp); options follow a
question mark: ``?variant=guidelines&shots=4&repeats=3&key_env=NAME&price_in=2&price_out=8&budget=5``,
``preset=reasoning`` for a model that thinks before it answers
(:class:`~lexiscope.subjects.endpoint._chat_request.ChatOptions`). ``chat:FOLDER`` without an address reads a model
here.

A reply is stored unchanged before it is read, under the full request: endpoint, model, revision, the whole body and the
number of the repetition. An interrupted call asks only for the missing replies, and a finished run is read again
without a network. Parts of a request that the endpoint rejects are omitted or sent in another form, and named in the
record of the run. Nothing is cut out of a reply; reasoning that an endpoint sends with it is kept, not read. A body
that cannot be read is asked for again as often as ``retries`` says, then kept as a fault.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError, Place, RunError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, ChatReply, Message, Preview, Prompting
from lexiscope.core.response import ResponseTable
from lexiscope.core.spec import with_options
from lexiscope.core.subject import Continuation, Decoding, Progress, Subject, SubjectSpec, copy_with_seed
from lexiscope.items.answers.chat_answers import chat_answers
from lexiscope.subjects._answer_log import ANSWERS, AnswerLog
from lexiscope.subjects._vector_store import digest
from lexiscope.subjects.endpoint._chat_request import (
    Body,
    ChatOptions,
    adapted_body,
    chat_options,
    chat_reply,
    is_filtered,
    refused_part,
    request_body,
)
from lexiscope.subjects.endpoint._endpoint import Endpoint, Lost, UnreadableReply, refusal, split_address
from lexiscope.subjects.endpoint._request_claims import GONE, RequestClaims, warn_of_possibly_paid
from lexiscope.subjects.local._generation import seed_of
from lexiscope.subjects.local._local_chat import load_local

CAPABILITIES = ("Generates", "Judges")
CONVERSES = WORDED = True
"""It judges what can be asked as text."""
KEPT_BY_REQUEST = True
"""A reply is found by its whole request: runs with other seeds, items and tasks can share the folder of replies."""


_LOG_FORMAT = 1
_CHARACTERS_PER_TOKEN = 4
Request = tuple[Body, int]
"""A full request, and the number of its repetition: the key of a kept reply."""


def load(spec: SubjectSpec) -> Subject:
    """Make the chat model that a spec names. Nothing is asked of a server before there is something to ask.

    Errors: :class:`SpecError` for an unknown option or a secret in the spec.
    """
    if not spec.url:
        return load_local(spec)
    url, options = split_address(spec.url)
    return Chat(spec.name, url, options=chat_options(options))


class Chat:
    """A chat model that a server runs. *name* is its name there, *url* ends before ``/chat/completions``."""

    kind = "chat"

    def __init__(self, name: str, url: str, *, options: ChatOptions | None = None, seed: int = 0) -> None:
        self.name, self.url = name, url.rstrip("/")
        self.options = options or ChatOptions()
        self.seed = seed
        self._record = Account(self.options).as_record()
        self._changes: set[str] = set()

    # -- what it is -------------------------------------------------------------------------------------------

    @property
    def subject_id(self) -> str:
        """Its spec, with the options that change its answers and the name of the key's variable."""
        return with_options(f"chat:{self.name}@{self.url}", self.options.spec_options)

    @property
    def facts(self) -> SubjectFacts:
        """What is known of it before it is asked: what the user says. :attr:`settings` says which model answered."""
        stated = f", revision {self.options.revision} as stated" if self.options.revision else ""
        return SubjectFacts(
            subject_id=self.subject_id,
            title=self.name,
            kind=self.kind,
            objective="chat",
            revision=f"served as {self.name}{stated}, weights not checksummed",
            source=self.url,
        )

    @property
    def prompting(self) -> Prompting:
        """Which questions it is asked, and how often."""
        return self.options.prompting

    @property
    def settings(self) -> dict[str, Any]:
        """How it is asked, for the run record, and the result: tokens, cost, models that answered, rejected parts."""
        return {**asdict(self.options), "seed": self.seed, "account": self._record}

    def with_seed(self, seed: int) -> Chat:
        """Return the same model in a run with this seed, which is sent where tokens are drawn."""
        return copy_with_seed(self, seed)

    # -- what it can do ---------------------------------------------------------------------------------------

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Answer items as the task asks them, in full. Errors: :class:`CapabilityError` for a task without a prompt."""
        asks = catalog.task(task).asks
        if asks is None:
            raise CapabilityError(f"the task {task!r} cannot be asked as text")
        return chat_answers(items, self, asks, task=task, measure=catalog.screen(task).measure, view="full")

    def converse(
        self, questions: Sequence[ChatQuestion], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[Sequence[ChatReply]]:
        """Return the replies to every question, ``repeats`` each.

        The same question is sent once, however often it occurs in *questions*. *progress* is called with the number of
        distinct requests answered and their total. Errors: :class:`SubjectError` if the server rejects a request or
        cannot be reached; :class:`RunError` if a limit is reached. All answers until then are kept in *work*.
        """
        requests = [self._requests(question) for question in questions]
        answers = self._answer_entries([request for several in requests for request in several], work, progress)
        return [[self._reply(answers[digest(request)]) for request in several] for several in requests]

    def generate(
        self,
        prompts: Sequence[str],
        decoding: Decoding,
        *,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> Sequence[Sequence[Continuation]]:
        """Return what it answers to every prompt, sent as a message of the user, ``decoding.n`` times.

        Errors: those of :meth:`converse`; :class:`InputError` for an empty prompt.
        """
        if "" in prompts:
            raise InputError("a prompt is empty", hint="leave it out")
        asked = [[self._continuation(prompt, number, decoding) for number in range(decoding.n)] for prompt in prompts]
        answers = self._answer_entries([request for several in asked for request in several], work, progress)
        return [
            [_continuation(self._reply(answers[digest(request)]), request[0]) for request in several]
            for several in asked
        ]

    def left(self, *, work: Path | None = None) -> tuple[int | None, float | None]:
        """Return how many calls and how much money its limits leave, after what *work* keeps."""
        return Account(self.options, self._log(work, mends=False).answers()).left

    def _log(self, work: Path | None, *, mends: bool = True) -> AnswerLog:
        return AnswerLog(work / ANSWERS if work else None, self._key, mends=mends)

    def preview(
        self, questions: Sequence[ChatQuestion], *, work: Path | None = None, sent: set[str] | None = None
    ) -> Preview:
        """Return the first request and the size of all that are still to be sent; nothing is sent or written.

        A question that occurs twice is sent once, as in :meth:`converse`. *sent* are the names of requests that other
        parts send before; those of this part are added. Errors: :class:`InputError` without questions.
        """
        distinct = {digest(request): request for question in questions for request in self._requests(question)}
        if not distinct:
            raise InputError("there is nothing to ask")
        log = self._log(work, mends=False)
        missing = {name: request for name, request in distinct.items() if request not in log}
        new = {name: request for name, request in missing.items() if sent is None or name not in sent}
        if sent is not None:
            sent.update(new)
        bodies = [request[0] for request in new.values()]
        limits = [body.get("max_tokens") for body in bodies]
        prompt_tokens = -(-sum(map(_characters, bodies)) // _CHARACTERS_PER_TOKEN)
        completion_tokens = None if None in limits else sum(limits)  # type: ignore[arg-type]
        return Preview(
            f"{self.url}/chat/completions",
            request=bodies[0] if bodies else {},
            n_requests=len(bodies),
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cost=None if completion_tokens is None else self.options.cost(prompt_tokens, completion_tokens),
            n_kept=len(distinct) - len(missing),
        )

    # -- how --------------------------------------------------------------------------------------------------

    def _requests(self, question: ChatQuestion) -> list[Request]:
        text, numbers = json.dumps(question.as_json()), range(self.options.repeats)
        # 31 bits: some servers keep a seed in a signed word
        seeds = [seed_of(self.seed, text, number) % 2**31 for number in numbers]
        return [(request_body(self.name, question, self.options, seeds[number]), number) for number in numbers]

    def _reply(self, entry: Mapping[str, Any]) -> ChatReply:
        return chat_reply(entry, reasons=self.options.preset == "reasoning")

    def _continuation(self, prompt: str, number: int, decoding: Decoding) -> Request:
        sampled = decoding.method == "sample"
        temperature = decoding.temperature if sampled else 0.0
        question = ChatQuestion((Message("user", prompt),), temperature=temperature, max_tokens=decoding.max_tokens)
        body = request_body(self.name, question, self.options, seed_of(decoding.seed, prompt, number) % 2**31)
        body |= {"stop": list(decoding.stop)} if decoding.stop else {}
        return body | ({"top_k": decoding.top_k} if sampled and decoding.top_k else {}), number

    def _answer_entries(
        self, requests: Sequence[Request], work: Path | None, progress: Progress | None
    ) -> dict[str, Any]:
        """Return the kept answer of every request, asking for those that are missing."""
        distinct = {digest(request): request for request in requests}
        log = self._log(work)
        answers = {name: log.get(request) for name, request in distinct.items() if request in log}
        kept = log.answers()
        account = Account(self.options, kept)
        lost = [entry for entry in kept if "lost" in entry]
        self._changes |= account.changes
        missing = [name for name in distinct if name not in answers]
        if missing:
            claimed = None if work is None else work / "claims" / digest(self._key)[:40]
            with Endpoint(self.url, self.options) as endpoint, RequestClaims(claimed) as claims:

                def lose(name: str, why: str, *, by: str = claims.worker) -> None:
                    entry = {"lost": name, "why": why, "at": _now(), **_possible_tokens(distinct[name][0])}
                    number = account.lose(entry)
                    lost.append(entry)
                    # a claim is counted once, however many workers come upon it
                    log.put(["lost", by, number if by == claims.worker else name], entry, durably=True)

                def lose_and_check(name: str, why: str) -> None:
                    lose(name, why)
                    account.check()

                def ask(name: str) -> tuple[str, dict[str, Any]]:
                    kept, send = partial(log.get_written, distinct[name]), partial(ask_claimed, name)
                    entry: dict[str, Any] = claims.answer(name, kept=kept, ask=send, wait=endpoint.wait)
                    account.add(entry)
                    return name, entry

                def ask_claimed(name: str, gone: Sequence[str]) -> dict[str, Any]:
                    for worker in gone:
                        if log.get_written(["lost", worker, name]) is None:
                            lose(name, GONE, by=worker)
                    entry = self._ask(endpoint, distinct[name][0], account, partial(lose_and_check, name))
                    again = sum(before["lost"] == name for before in lost)
                    entry |= {"possibly_paid": again} if again else {}
                    log.put(distinct[name], entry, durably=True)
                    return entry

                # the first one alone: what the endpoint refuses is found out once
                for batch in (missing[:1], missing[1:]):
                    # what is under way ends before the claims do
                    with closing(endpoint.run_tasks(ask, batch)) as replies:
                        for name, entry in replies:
                            answers[name] = entry
                            if progress is not None:
                                progress(len(answers), len(distinct))
        # of what was asked here, whenever it was answered: a continued run has the record of an unbroken one
        own = [entry for entry in log.answers() if entry.get("lost") in distinct]
        self._record = Account(self.options, [*(answers[name] for name in distinct), *own]).as_record()
        if missing:
            warn_of_possibly_paid(self.subject_id, self._record["possibly_paid"])
        return answers

    @property
    def _key(self) -> list[object]:
        return ["chat", _LOG_FORMAT, self.url, self.name, self.options.revision]

    def _ask(self, endpoint: Endpoint, body: Body, account: Account, lost: Lost) -> dict[str, Any]:
        """Send a request, in another form if a part of it is rejected; return what is kept of it."""
        account.begin()
        entry = None
        try:
            entry = self._send(endpoint, body, lost)
        finally:
            if entry is None:
                account.give_back()
        return entry

    def _send(self, endpoint: Endpoint, body: Body, lost: Lost) -> dict[str, Any]:
        changes = set(self._changes)
        while True:
            sent = adapted_body(body, changes)
            try:
                reply = endpoint.post("chat/completions", sent, lost=lost)
            except UnreadableReply as unread:
                # asked as often as may be: kept as what came, counted as a fault, and not asked again
                came = {"unreadable": unread.content, "why": unread.why, **_possible_tokens(body)}
                return _answer_entry(sent, _changes_of(body, changes), **came)
            change = None if reply.ok else refused_part(reply, sent)
            if change is None or change in changes:
                break
            changes.add(change)
            self._changes.add(change)
        if not reply.ok and not is_filtered(reply):
            error = refusal(reply, self.name, self.url, "chat/completions")
            place = Place(text=str(sent["messages"][-1]["content"])[:200])
            raise type(error)(error.what, place=place, why=error.why, hint=error.hint)
        # what a server echoes of its headers stays out of every file
        answer = {"body": endpoint.storable(reply.body)}
        filtered = {} if reply.ok else {"filtered": reply.message or "refused by a content filter"}
        return _answer_entry(sent, _changes_of(body, changes), **answer, **filtered)


def _changes_of(body: Body, changes: Iterable[str]) -> list[str]:
    """Return the changes that make another request of this one."""
    return sorted(change for change in changes if adapted_body(body, [change]) != body)


def _answer_entry(sent: Body, changes: list[str], **answer: Any) -> dict[str, Any]:
    """Return what is kept of a request that was answered: when, how it was sent, and the answer."""
    return {"sent": sent, "changes": changes, "at": _now(), **answer}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _characters(body: Body) -> int:
    return sum(len(message["content"]) for message in body["messages"])


def _possible_tokens(body: Body) -> dict[str, int | None]:
    """Return a rough upper estimate of a request's tokens: one per four characters, and the longest answer."""
    return {
        "prompt_tokens": -(-_characters(body) // _CHARACTERS_PER_TOKEN),
        "completion_tokens": body.get("max_tokens"),
    }


def _continuation(reply: ChatReply, body: Body) -> Continuation:
    finish = "length" if reply.cut else {"stop": "stop"}.get(reply.finish.casefold(), "")
    return Continuation(reply.text, seed=body.get("seed"), finish=finish, fault=reply.fault)  # type: ignore[arg-type]


# -- what the replies of an endpoint have cost, and the limits at which nothing more is sent ------------------------


_MOST_TOKENS = 2**53
"""What no answer has: a count beyond it is not told."""


class Account:
    """The replies that are kept, counted: calls, tokens, money, and who answered.

    Requests under way at the same time count when they are answered: a budget is overspent by those at most. A limit on
    calls is kept exactly. A request that reached the endpoint and came to no reply (its body was cut off, the
    connection broke) may have been paid: it counts as a call, and toward the budget with a rough estimate of its
    tokens, as in a dry run.
    """

    def __init__(self, options: ChatOptions, kept: Iterable[Mapping[str, Any]] = ()) -> None:
        self._options = options
        self._lock = Lock()
        self._begun = 0
        self.calls = self.prompt_tokens = self.completion_tokens = self.thinking_tokens = self.uncounted = 0
        self.possibly_paid = self._possible_prompt = self._possible_completion = 0
        self.models: Counter[str] = Counter()
        self.changes: set[str] = set()
        for entry in kept:
            self._begun += 1
            self._count(entry)

    def begin(self) -> None:
        """Ask leave for one more request. Errors: :class:`RunError` where a limit is reached."""
        with self._lock:
            self._check(self._begun)
            self._begun += 1

    def give_back(self) -> None:
        """Take back a request that was begun and came to no reply."""
        with self._lock:
            self._begun -= 1

    def lose(self, entry: Mapping[str, Any]) -> int:
        """Count a request that came to no reply and may have been paid; return its number among those."""
        with self._lock:
            self._begun += 1
            self._lose(entry)
            return self.possibly_paid

    def check(self) -> None:
        """Ask leave to send a request again. Errors: :class:`RunError` where a limit is reached."""
        with self._lock:
            # the request itself has begun
            self._check(self._begun - 1)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Count a reply. Errors: :class:`SubjectError` where a budget cannot be kept: the tokens are not told."""
        with self._lock:
            self._count(entry)
        if self.uncounted and self._options.budget is not None:
            hint = "leave the budget out and use max_calls, or ask an endpoint that tells them"
            raise SubjectError("the server does not tell how many tokens it counted: no budget can be kept", hint=hint)

    @property
    def left(self) -> tuple[int | None, float | None]:
        """How many calls, and how much money, the limits leave; ``None`` without a limit."""
        calls, budget = self._options.max_calls, self._options.budget
        spent = self.highest_cost or 0.0
        return (calls - self._begun if calls else None), (None if budget is None else budget - spent)

    @property
    def cost(self) -> float | None:
        """The cost of all replies at the user's prices, ``None`` without prices."""
        return self._options.cost(self.prompt_tokens, self.completion_tokens)

    @property
    def highest_cost(self) -> float | None:
        """The cost with all requests that may have been paid, ``None`` without prices."""
        prompt = self.prompt_tokens + self._possible_prompt
        return self._options.cost(prompt, self.completion_tokens + self._possible_completion)

    def as_record(self) -> dict[str, Any]:
        """Return the account for the record of a run."""
        return {
            "replies": self.calls,
            "possibly_paid": self.possibly_paid,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "thinking_tokens": self.thinking_tokens,
            "replies_without_token_counts": self.uncounted,
            "cost": self.cost,
            "highest_cost": self.highest_cost,
            "answered_by": dict(sorted(self.models.items())),
            "sent_otherwise": sorted(self.changes),
        }

    def _count(self, entry: Mapping[str, Any]) -> None:
        if "lost" in entry:
            self._lose(entry)
            return
        if "unreadable" in entry:
            # its tokens cannot be known: they are counted as those of a request that came to nothing
            self._lose(entry)
        body = entry.get("body") or {}
        usage_entry = body.get("usage")
        usage: Mapping[str, Any] = usage_entry if isinstance(usage_entry, Mapping) else {}
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        known = [count for count in counts if type(count) is int and 0 <= count < _MOST_TOKENS]
        self.calls += 1
        if len(known) == len(counts):
            self.prompt_tokens += known[0]
            self.completion_tokens += known[1]
            # of the completion tokens, where the endpoint tells
            self.thinking_tokens += ChatReply("", usage=usage).thinking_tokens or 0
        elif not entry.get("filtered") and "unreadable" not in entry:
            self.uncounted += 1
        names = [str(body.get(name) or "") for name in ("model", "system_fingerprint")]
        self.models[" ".join(part for part in names if part) or "not said"] += 1
        self.changes |= set(entry.get("changes") or ())

    def _check(self, begun: int) -> None:
        limit, spent = self._options.max_calls, self.highest_cost
        if limit and begun >= limit:
            raise _limit_error(f"the limit of {limit} calls is reached", "max_calls")
        if self._options.budget is not None and spent is not None and spent >= self._options.budget:
            raise _limit_error(f"the budget of {self._options.budget:g} is spent ({spent:.6g})", "budget")

    def _lose(self, entry: Mapping[str, Any]) -> None:
        self.possibly_paid += 1
        self._possible_prompt += entry.get("prompt_tokens") or 0
        self._possible_completion += entry.get("completion_tokens") or 0


def _limit_error(what: str, option: str) -> RunError:
    hint = f"raise {option} and run the same command again: the replies so far are kept"
    return RunError(f"{what}: nothing more is sent", hint=hint)
