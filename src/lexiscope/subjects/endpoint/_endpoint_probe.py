"""What an endpoint can do, found out by asking it about one sentence before the first text is sent.

Which servers cannot give log-probabilities of a prompt (seen in November 2026): llama.cpp's refuses ``echo`` ("Only no
echo is supported") and lists generated tokens only (https://github.com/ggml-org/llama.cpp/issues/27174); the OpenAI API
refuses ``echo`` together with ``logprobs`` (https://github.com/fastai/lm-hackers/pull/7); chat endpoints have no prompt
of their own.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexiscope.core.errors import CapabilityError, SubjectError
from lexiscope.subjects.endpoint._alignment import align
from lexiscope.subjects.endpoint._endpoint import Endpoint, ServerReply, refusal
from lexiscope.subjects.endpoint._prompt_scores import Form, Listed, listed, scores_of
from lexiscope.subjects.endpoint._server_options import ServerOptions

SENTENCE = "The bank of the river was wet, she said."
# neutral, whatever the server's own defaults are: some versions give log-probabilities after the temperature
_NEUTRAL = {"temperature": 1.0, "top_p": 1.0}
_FORMS: tuple[tuple[Form, dict[str, Any]], ...] = (
    ("echo", {"echo": True, "logprobs": 1, "max_tokens": 0}),
    ("echo", {"echo": True, "logprobs": 1, "max_tokens": 1}),
    ("prompt_logprobs", {"prompt_logprobs": 1, "max_tokens": 1}),
)
_SPECIAL = "add_special_tokens"


@dataclass(frozen=True, slots=True)
class About:
    """What a server says of a model: its name there, where it comes from, the fingerprint of the system."""

    model: str
    root: str = ""
    fingerprint: str = ""

    def __str__(self) -> str:
        said = [f"served as {self.model}", f"root {self.root}" if self.root else ""]
        said += [f"fingerprint {self.fingerprint}" if self.fingerprint else "", "weights not checksummed"]
        return ", ".join(part for part in said if part)


@dataclass(frozen=True, slots=True)
class Served:
    """How an endpoint is asked for the log-probabilities of a prompt.

    ``form``: where they stand in the answer. ``fields``: what is sent beside model and prompt. ``generated``: how many
    generated tokens are listed after the prompt's. ``prefix``: the token's text that is put before every text.
    ``before``: whether a special token stands before the text in what is listed.
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


def about(endpoint: Endpoint, model: str) -> About:
    """Ask the server what it says of a model.

    Errors: :class:`SubjectError` where it has no such model or refuses the key.
    """
    reply = endpoint.get("models")
    if reply.status in (401, 403):
        raise refusal(reply, model, endpoint.url)
    known = {str(each.get("id")): each for each in reply.body.get("data") or [] if isinstance(each, dict)}
    if known and model not in known:
        near = difflib.get_close_matches(model, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(sorted(known)[:20])}"
        raise SubjectError(f"the server at {endpoint.url} has no model {model!r}", hint=hint)
    root = endpoint.without_key(str(known.get(model, {}).get("root") or ""))
    tried = endpoint.post("completions", {"model": model, "prompt": SENTENCE, "max_tokens": 1, **_NEUTRAL})
    fingerprint = endpoint.without_key(str(tried.body.get("system_fingerprint") or ""))
    return About(model, root, fingerprint)


def probe(endpoint: Endpoint, model: str, options: ServerOptions) -> Served:
    """Find out how the endpoint gives log-probabilities under a policy.

    Errors: :class:`CapabilityError` where it cannot, saying why; :class:`SubjectError` where it refuses the request.
    """
    form, fields, generated, accepted = _form(endpoint, model)
    wish = {_SPECIAL: options.policy.bos == "yes" and not options.bos_token} if accepted else {}
    prefix = options.bos_token if options.policy.bos == "yes" else ""
    with_it = _ask(endpoint, model, form, {**fields, **wish}, generated, prefix)
    # a server that honours the field lists one token more with it than without
    other = {_SPECIAL: not wish[_SPECIAL]} if wish and not prefix else {}
    without = _ask(endpoint, model, form, {**fields, **(other or wish)}, generated, "")
    before = _before(with_it, without, options, endpoint.url)
    served = Served(form, {**fields, **wish}, generated, prefix, before)
    scores = scores_of(SENTENCE, with_it, before=before).log_probabilities[0 if before else 1 :]
    if not scores.any():
        raise CapabilityError(
            f"the server at {endpoint.url} gives every token of a prompt the log-probability 0",
            why="it lists the prompt, but has not scored it",
            hint="serve the model with vLLM, or use it here as causal_lm:",
        )
    return served


def _form(endpoint: Endpoint, model: str) -> tuple[Form, dict[str, Any], int, bool]:
    """Return the first form that lists the sentence, its fields, the generated tokens, and if special tokens are asked.

    Errors: :class:`CapabilityError` naming what every form came to.
    """
    reasons: list[str] = []
    for form, asked in _FORMS:
        fields = {**asked, **_NEUTRAL}
        accepted = True
        reply = endpoint.post("completions", {"model": model, "prompt": SENTENCE, **fields, _SPECIAL: False})
        if reply.status in (400, 422) and _SPECIAL in reply.message:
            accepted = False
            reply = endpoint.post("completions", {"model": model, "prompt": SENTENCE, **fields})
        generated = _generated(reply, form)
        if generated is not None:
            return form, fields, generated, accepted
        reasons.append(_reason(endpoint, model, reply))
    raise CapabilityError(
        f"the server at {endpoint.url} does not give the log-probabilities of a prompt",
        why="; ".join(dict.fromkeys(reasons)),
        hint="serve the model with vLLM, or use it here as causal_lm:",
    )


def _generated(reply: ServerReply, form: Form) -> int | None:
    """Return how many generated tokens follow the sentence in an answer, or ``None`` where it does not list it."""
    if not reply.ok or len(reply.choices) != 1:
        return None
    usage = reply.body.get("usage") or {}
    for generated in (0,) if form == "prompt_logprobs" else (0, 1):
        found = listed(reply.choices[0], form, generated)
        if found is None or len(found) != usage.get("prompt_tokens", len(found)):
            continue
        if align(SENTENCE, found.tokens) or align(SENTENCE, found.tokens[1:]):
            return generated
    return None


def _reason(endpoint: Endpoint, model: str, reply: ServerReply) -> str:
    """Say why an answer is no use.

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
    found = listed(choice, "echo", 0)
    if found is None or len(found) <= 1:
        return "it gives log-probabilities of generated tokens only"
    return "what it lists are not the tokens of the prompt"


def _ask(endpoint: Endpoint, model: str, form: Form, fields: Mapping[str, Any], generated: int, prefix: str) -> Listed:
    reply = endpoint.post("completions", {"model": model, "prompt": prefix + SENTENCE, **fields})
    found = listed(reply.choices[0], form, generated) if reply.ok and reply.choices else None
    if found is None:
        raise refusal(reply, model, endpoint.url)
    return found


def _before(found: Listed, other: Listed, options: ServerOptions, url: str) -> bool:
    """Say whether the first token listed stands before the sentence; it must be as the policy has it.

    *found* is listed as the policy asks, *other* the other way (or without the token that the spec names).
    """
    wanted = options.policy.bos == "yes"
    more = len(found) - len(other)
    first = found.tokens[0]
    if more == (1 if wanted else -1):
        there = wanted
        clear = first is None or options.bos_token in ("", first)
    else:
        # asked for or not, the same tokens: the first one shows whether it is the sentence's
        there = align(SENTENCE, found.tokens) is None
        clear = more == 0 and (bool(first) or align(SENTENCE, found.tokens[1:]) is None)
    if not clear or not align(SENTENCE, found.tokens[1:] if there else found.tokens):
        what = f"it cannot be told what the server at {url} puts before a text"
        raise CapabilityError(what, why=f"of {SENTENCE!r} it lists {list(found.tokens[:3])} …")
    if there and not wanted:
        what = f"the server at {url} puts {first!r} before every text: it cannot serve bos=no"
        raise CapabilityError(what, hint="ask for another policy: ?policy=bos")
    if wanted and not there:
        what = f"the server at {url} puts no token before a text: it cannot serve bos=yes"
        raise CapabilityError(what, hint="name the text of the token: ?bos_token=<s>")
    return there
