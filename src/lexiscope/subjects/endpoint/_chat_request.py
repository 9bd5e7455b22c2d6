"""One request to a chat endpoint: what is sent, what an endpoint refuses of it, and what its answer says.

Endpoints differ in what they take: some models refuse a temperature, want ``max_completion_tokens`` for ``max_tokens``,
know no log-probabilities, no seed, or no system message. A part that an endpoint rejects is recognised by the error,
sent in another form from then on, and named in the record of the run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.prompt import GUIDELINES, ChatQuestion, ChatReply, Prompting
from lexiscope.core.reply import split_thinking
from lexiscope.subjects._options import read_options
from lexiscope.subjects.endpoint._endpoint import ServedModelOptions, ServerReply, refuse_secrets

Body = dict[str, Any]

NO_TEMPERATURE = "temperature omitted"
OTHER_LIMIT = "max_tokens sent as max_completion_tokens"
NO_LIMIT = "max_tokens omitted"
NO_LOGPROBS = "logprobs omitted"
NO_SEED = "seed omitted"
NO_SYSTEM = "system message sent by the user"

# exp() of less is 0; some servers round a certainty up
_LEAST, _ROUNDING = -1e4, 1e-3
_REFUSES = ("support", "unrecognized", "unknown", "not permitted", "not allowed", "unexpected", "extra", "not accepted")
_TOO_MUCH = ("too large", "too high", "at most", "context length")
_STRICTLY = ("strictly positive", "greater than 0", "must be positive")
# where endpoints send what a model thought
_REASONING = ("reasoning_content", "reasoning")
# how endpoints name their filters in the fields for it, without marks and case; a sentence that says "safety" is none
_FILTERED = (
    "contentfilter",
    "contentpolicy",
    "responsibleai",
    "safety",
    "prohibitedcontent",
    "blocklist",
    "moderation",
)


Temperature = float | Literal["task", "default"]
_MOST_LOGPROBS = 20
_CHANGES_ANSWERS = (
    "variant",
    "shots",
    "language",
    "repeats",
    "preset",
    "temperature",
    "max_tokens",
    "logprobs",
    "system",
)


@dataclass(frozen=True, slots=True)
class ChatOptions(ServedModelOptions):
    """How a served chat model is asked.

    ``variant``, ``shots``, ``language`` and ``repeats``: which questions (:class:`~lexiscope.core.prompt.Prompting`).
    ``preset=reasoning`` is for models that think before they answer: the limit of tokens and the temperature of the
    prompt are not sent (those that are given here are), and what the model thinks in its reply is not read.
    ``temperature``: ``task`` is that of the prompt, ``default`` sends none; or a number. ``max_tokens``: 0 is that of
    the prompt. ``logprobs``: how many of the most probable first
    tokens are asked for, 0 is none. ``system``: ``user`` sends the system message at the beginning of the first message
    of the user. ``revision``: what the user knows of the version; part of what a stored reply is found by.
    ``price_in``, ``price_out``: of a million tokens, in any one currency. ``budget``: in the same; nothing is sent once
    it is spent. ``max_calls``: the maximum number of replies; 0 = unlimited.

    Errors: :class:`SpecError` for numbers out of range and a budget without prices.
    """

    variant: str = GUIDELINES
    shots: int = 0
    language: str = ""
    repeats: int = 1
    preset: Literal["", "reasoning"] = ""
    temperature: Temperature = "task"
    max_tokens: int = 0
    logprobs: int = 0
    system: Literal["system", "user"] = "system"
    revision: str = ""
    price_in: float | None = None
    price_out: float | None = None
    budget: float | None = None
    max_calls: int = 0

    def __post_init__(self) -> None:
        ServedModelOptions.__post_init__(self)
        if not 0 <= self.logprobs <= _MOST_LOGPROBS:
            raise SpecError(f"logprobs is 0 to {_MOST_LOGPROBS}, the most that endpoints give")
        if (self.price_in is None) != (self.price_out is None):
            raise SpecError("a price is missing", hint="give both: price_in=…&price_out=…, of a million tokens")
        if self.budget is not None and self.price_in is None:
            raise SpecError("a budget needs prices", hint="add price_in=…&price_out=…, of a million tokens")
        if min(self.price_in or 0, self.price_out or 0, self.budget or 0) < 0:
            raise SpecError("prices and the budget are 0 or more")

    @property
    def prompting(self) -> Prompting:
        """Which questions are asked. Errors: :class:`InputError` for no repetition."""
        return Prompting(self.variant, self.shots, self.language, self.repeats)

    @property
    def spec_options(self) -> dict[str, str]:
        """The options that change the answers, and the name of the key's variable, as in a spec."""
        names = (*_CHANGES_ANSWERS, "revision", "key_env")
        values = {name: getattr(self, name) for name in names if getattr(self, name) != getattr(ChatOptions(), name)}
        return {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in values.items()}

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return what tokens cost at the user's prices, ``None`` without prices.

        >>> ChatOptions(price_in=2.0, price_out=10.0).cost(500_000, 100_000)
        2.0
        """
        if self.price_in is None or self.price_out is None:
            return None
        return (prompt_tokens * self.price_in + completion_tokens * self.price_out) / 1_000_000


def chat_options(given: Mapping[str, str]) -> ChatOptions:
    """Read the options of a served chat model.

    >>> chat_options({"repeats": "3", "temperature": "default"}).spec_options
    {'repeats': '3', 'temperature': 'default'}

    Errors: :class:`SpecError` for an unknown option or value; it does not repeat what may be a secret.
    """
    refuse_secrets(given)
    options = read_options(ChatOptions, given, of="a served chat model")
    try:
        options.prompting  # noqa: B018 checked before anything is asked
    except InputError as error:
        raise SpecError(error.what) from error
    return options


def request_body(model: str, question: ChatQuestion, options: ChatOptions, seed: int | None) -> Body:
    """Return the full request for a question, before it is known which parts the endpoint rejects.

    *seed* is sent where tokens are drawn.
    """
    asked = question.without_system() if options.system == "user" else question
    body: Body = {"model": model, "messages": asked.as_json()}
    reasons = options.preset == "reasoning"
    of_prompt = None if reasons else question.temperature
    temperature = of_prompt if options.temperature == "task" else options.temperature
    if temperature is not None and temperature != "default":
        body["temperature"] = temperature
    limit = options.max_tokens or (None if reasons else question.max_tokens)
    body |= {"max_tokens": limit} if limit else {}
    body |= {"logprobs": True, "top_logprobs": options.logprobs} if options.logprobs else {}
    return body | ({"seed": seed} if seed is not None and temperature != 0 else {})


def adapted_body(body: Body, changes: Iterable[str]) -> Body:
    """Return a request as an endpoint takes it that refuses what *changes* name.

    >>> adapted_body({"max_tokens": 3, "temperature": 0.0}, [OTHER_LIMIT, NO_TEMPERATURE])
    {'max_completion_tokens': 3}
    """
    made, known = dict(body), set(changes)
    if known & {OTHER_LIMIT, NO_LIMIT} and "max_tokens" in made:
        limit = made.pop("max_tokens")
        made |= {} if NO_LIMIT in known else {"max_completion_tokens": limit}
    left_out = {NO_TEMPERATURE: ("temperature",), NO_LOGPROBS: ("logprobs", "top_logprobs"), NO_SEED: ("seed",)}
    for name in [name for change, names in left_out.items() if change in known for name in names]:
        made.pop(name, None)
    if NO_SYSTEM in known and made["messages"][0]["role"] == "system":
        first, second, *rest = made["messages"]
        made["messages"] = [{**second, "content": f"{first['content']}\n\n{second['content']}"}, *rest]
    return made


def refused_part(reply: ServerReply, sent: Mapping[str, Any]) -> str | None:
    """Return the change that an error calls for, or ``None`` where it is about something else."""
    message = reply.message.lower()
    if reply.status not in (400, 422, 500, 501):
        return None
    if any(word in message for word in _TOO_MUCH):
        # a limit of tokens is a limit of costs: one that is too high is for the user to mend
        return None
    refuses = any(word in message for word in _REFUSES)
    if "temperature" in sent and "temperature" in message and (refuses or any(word in message for word in _STRICTLY)):
        return NO_TEMPERATURE
    if "max_completion_tokens" in sent and "max_completion_tokens" in message and refuses:
        return NO_LIMIT
    if "max_tokens" in sent and "max_tokens" in message and refuses:
        return OTHER_LIMIT
    if "logprobs" in sent and "logprobs" in message and (refuses or "not available" in message):
        return NO_LOGPROBS
    if "seed" in sent and "seed" in message and refuses:
        return NO_SEED
    has_system = sent["messages"][0]["role"] == "system"
    if has_system and (("system" in message and refuses) or "roles must alternate" in message):
        return NO_SYSTEM
    return None


def is_filtered(reply: ServerReply) -> bool:
    """Return whether an endpoint rejected a request because of its content: this counts as a refusal.

    Decided by the fields ``code``, ``type`` and ``status`` of its error, never by the words of its message.
    """
    error = reply.body.get("error")
    places: list[Mapping[str, Any]] = [reply.body, *([error] if isinstance(error, Mapping) else [])]
    inner = [place.get(name) for place in places for name in ("innererror", "inner_error")]
    places += [error for error in inner if isinstance(error, Mapping)]
    codes = [place.get(name) for place in places for name in ("code", "type", "status")]
    return reply.status in (400, 403, 422) and any(_is_filter(code) for code in codes if isinstance(code, str))


def chat_reply(entry: Mapping[str, Any], *, reasons: bool = False) -> ChatReply:
    """Read a kept answer: the text of its first choice, and what is known of it. Reasoning sent with it is not read.

    Where the model *reasons*, thinking within the text (``<think>``) is not a part of the answer either.

    An answer without a choice, whose choice has no message, or whose message is an object instead of text, is a fault,
    and says so; so is a body that could not be read at all, of which the text is what came.
    """
    if entry.get("filtered"):
        return ChatReply(str(entry["filtered"]), "content_filter", refused=True)
    if "unreadable" in entry:
        return ChatReply(entry["unreadable"], fault=entry["why"])
    body = entry["body"]
    usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        return ChatReply("", usage=usage, fault=_choice_fault(body))
    finish = str(choice.get("finish_reason") or "")
    refused = message.get("refusal")
    text = str(refused) if refused else _content_text(message.get("content"))
    if not refused and isinstance(message.get("content"), dict):
        # the digits of an object are no answer
        return ChatReply(text, finish, usage=usage, fault="the content of the message is an object, not text")
    filtered = bool(refused) or _is_filter(finish)
    sent = next((thought for name in _REASONING if isinstance(thought := message.get(name), str)), "")
    within, answer = split_thinking(text) if reasons else ("", text)
    # the first token of a reply that begins with a thought is none of its answer
    first = {} if within else _first_tokens(choice)
    thinking = "\n".join(filter(None, (sent, within)))
    return ChatReply(answer, finish, refused=filtered, first_tokens=first, usage=usage, thinking=thinking)


def _is_filter(code: str) -> bool:
    return re.sub(r"[\W_]", "", code).casefold().startswith(_FILTERED)


def _content_text(content: Any) -> str:
    """Return the text of a message: a string, or the text parts of a list."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return "" if content is None else str(content)


def _choice_fault(body: Mapping[str, Any]) -> str:
    error = body.get("error")
    if error:
        return f"the answer is an error: {error.get('message') if isinstance(error, Mapping) else error}"
    if not isinstance(body.get("choices"), list):
        return "the answer has no choices"
    return "the answer has no choice" if not body["choices"] else "the first choice has no message"


def _is_log_probability(value: object) -> bool:
    """Return whether a value is a logarithm of a probability, but for rounding; servers send what they like."""
    return isinstance(value, int | float) and not isinstance(value, bool) and _LEAST <= value <= _ROUNDING


def _first_tokens(choice: Mapping[str, Any]) -> dict[str, float]:
    """Return the listed first tokens with their log-probabilities; two that read alike are added."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content or not isinstance(content[0], dict):
        return {}
    listed = content[0].get("top_logprobs") or []
    weights: dict[str, float] = {}
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict) and _is_log_probability(entry.get("logprob")):
            token, weight = str(entry.get("token") or ""), math.exp(entry["logprob"])
            weights[token] = weights.get(token, 0.0) + weight
    return {token: math.log(weight) for token, weight in weights.items() if weight > 0}
