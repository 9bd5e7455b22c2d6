"""One request to a chat endpoint: what is sent, what an endpoint refuses of it, and what its answer says.

Endpoints differ in what they take: some models refuse a temperature, want ``max_completion_tokens`` for ``max_tokens``,
know no log-probabilities, no seed, or no system message. What is refused is known by the error, sent otherwise from
then on, and named in the record of the run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from lexiscope.core.errors import CapabilityError, SubjectError
from lexiscope.core.prompt import ChatQuestion, ChatReply
from lexiscope.subjects.endpoint._chat_options import ChatOptions
from lexiscope.subjects.endpoint._endpoint import ServerReply

Body = dict[str, Any]

NO_TEMPERATURE = "temperature left out"
OTHER_LIMIT = "max_tokens sent as max_completion_tokens"
NO_LIMIT = "max_tokens left out"
NO_LOGPROBS = "logprobs left out"
NO_SEED = "seed left out"
NO_SYSTEM = "system message sent by the user"

# exp() of less is 0; some servers round a certainty up
_LEAST, _ROUNDING = -1e4, 1e-3
_REFUSES = ("support", "unrecognized", "unknown", "not permitted", "not allowed", "unexpected", "extra", "not accepted")
_TOO_MUCH = ("too large", "too high", "at most", "context length")
_STRICTLY = ("strictly positive", "greater than 0", "must be positive")
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


def request_body(model: str, question: ChatQuestion, options: ChatOptions, seed: int | None) -> Body:
    """Return the request for a question as it is meant: before anything is known of what the endpoint refuses.

    *seed* is sent where tokens are drawn.
    """
    asked = question.without_system() if options.system == "user" else question
    body: Body = {"model": model, "messages": asked.as_json()}
    temperature = question.temperature if options.temperature == "task" else options.temperature
    if temperature is not None and temperature != "default":
        body["temperature"] = temperature
    limit = options.max_tokens or question.max_tokens
    body |= {"max_tokens": limit} if limit else {}
    body |= {"logprobs": True, "top_logprobs": options.logprobs} if options.logprobs else {}
    return body | ({"seed": seed} if seed is not None and temperature != 0 else {})


def adapted(body: Body, changes: Iterable[str]) -> Body:
    """Return a request as an endpoint takes it that refuses what *changes* name.

    >>> adapted({"max_tokens": 3, "temperature": 0.0}, [OTHER_LIMIT, NO_TEMPERATURE])
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
    said = reply.message.lower()
    if reply.status not in (400, 422, 500, 501):
        return None
    if any(word in said for word in _TOO_MUCH):
        # a limit of tokens is a limit of costs: one that is too high is for the user to mend
        return None
    refuses = any(word in said for word in _REFUSES)
    if "temperature" in sent and "temperature" in said and (refuses or any(word in said for word in _STRICTLY)):
        return NO_TEMPERATURE
    if "max_completion_tokens" in sent and "max_completion_tokens" in said and refuses:
        return NO_LIMIT
    if "max_tokens" in sent and "max_tokens" in said and refuses:
        return OTHER_LIMIT
    if "logprobs" in sent and "logprobs" in said and (refuses or "not available" in said):
        return NO_LOGPROBS
    if "seed" in sent and "seed" in said and refuses:
        return NO_SEED
    has_system = sent["messages"][0]["role"] == "system"
    if has_system and (("system" in said and refuses) or "roles must alternate" in said):
        return NO_SYSTEM
    return None


def is_filtered(reply: ServerReply) -> bool:
    """Say whether an endpoint refused a request for what it is about: that is the refusal of an answer.

    Decided by the fields ``code``, ``type`` and ``status`` of its error, never by the words of its message.
    """
    error = reply.body.get("error")
    places: list[Mapping[str, Any]] = [reply.body, *([error] if isinstance(error, Mapping) else [])]
    inner = [place.get(name) for place in places for name in ("innererror", "inner_error")]
    places += [each for each in inner if isinstance(each, Mapping)]
    codes = [place.get(name) for place in places for name in ("code", "type", "status")]
    return reply.status in (400, 403, 422) and any(_is_filter(code) for code in codes if isinstance(code, str))


def chat_reply(entry: Mapping[str, Any]) -> ChatReply:
    """Read a kept answer: the text of its first choice, and what is known of it. Reasoning beside it is left alone.

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
        return ChatReply("", usage=usage, fault=_fault(body))
    finish = str(choice.get("finish_reason") or "")
    refused = message.get("refusal")
    text = str(refused) if refused else _text(message.get("content"))
    if not refused and isinstance(message.get("content"), dict):
        # the digits of an object are no answer
        return ChatReply(text, finish, usage=usage, fault="the content of the message is an object, not text")
    filtered = bool(refused) or _is_filter(finish)
    return ChatReply(text, finish, refused=filtered, first_tokens=_first_tokens(choice), usage=usage)


def storable(value: Any) -> Any:
    """Return a JSON value without numbers that JSON has no words for: some servers send −Infinity as a logarithm."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: storable(each) for name, each in value.items()}
    return [storable(each) for each in value] if isinstance(value, list) else value


def chat_refusal(reply: ServerReply, model: str, url: str) -> CapabilityError | SubjectError:
    """Return the error that says in plain words why a request was refused for good."""
    said = reply.message.lower()
    why = reply.message or f"status {reply.status}"
    if reply.status in (401, 403):
        hint = "put the key into an environment variable and name that: @URL?key_env=NAME"
        return SubjectError(f"the server at {url} refuses this key, or wants one", why=why, hint=hint)
    if "model" in said and any(word in said for word in ("not exist", "not found", "unknown", "no such")):
        hint = "see the names at /models of the server"
        return SubjectError(f"the server at {url} has no model {model!r}", why=why, hint=hint)
    if reply.status in (404, 405):
        hint = "is the address complete? It ends before /chat/completions, often with /v1"
        return CapabilityError(f"the server at {url} has no /chat/completions", why=why, hint=hint)
    return SubjectError(f"the server at {url} refuses the request (status {reply.status})", why=why)


def _is_filter(code: str) -> bool:
    return re.sub(r"[\W_]", "", code).casefold().startswith(_FILTERED)


def _text(content: Any) -> str:
    """Return the text of a message: a string, or the text parts of a list."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return "" if content is None else str(content)


def _fault(body: Mapping[str, Any]) -> str:
    error = body.get("error")
    if error:
        return f"the answer is an error: {error.get('message') if isinstance(error, Mapping) else error}"
    if not isinstance(body.get("choices"), list):
        return "the answer has no choices"
    return "the answer has no choice" if not body["choices"] else "the first choice has no message"


def _is_log_probability(value: object) -> bool:
    """Say whether a value is a logarithm of a probability, but for rounding; servers send what they like."""
    return isinstance(value, int | float) and not isinstance(value, bool) and _LEAST <= value <= _ROUNDING


def _first_tokens(choice: Mapping[str, Any]) -> dict[str, float]:
    """Return the listed first tokens with their log-probabilities; two that read alike are added."""
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content or not isinstance(content[0], dict):
        return {}
    listed = content[0].get("top_logprobs") or []
    found: dict[str, float] = {}
    for each in listed if isinstance(listed, list) else []:
        if isinstance(each, dict) and _is_log_probability(each.get("logprob")):
            token, weight = str(each.get("token") or ""), math.exp(each["logprob"])
            found[token] = found.get(token, 0.0) + weight
    return {token: math.log(weight) for token, weight in found.items() if weight > 0}
