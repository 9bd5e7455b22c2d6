"""Log-probabilities of a prompt's tokens in a server's answer: read, checked, and assigned to their characters.

Two forms are known. ``echo`` is that of the old OpenAI API (``echo: true, logprobs: 1``): ``choices[i].logprobs`` has
``tokens`` and ``token_logprobs``, the first of them null. ``prompt_logprobs`` is vLLM's own (``prompt_logprobs: 1``):
``choices[i].prompt_logprobs`` is null for the first token and then one object per token, from token id to
``{logprob, rank, decoded_token}``; it holds the token itself and the most probable one. Source: ``CompletionRequest``
and ``request_output_to_completion_response`` in vllm/entrypoints/openai/ of https://github.com/vllm-project/vllm,
commit 00463e627b4c (serving_completion.py) and commit 002032ee2b18 (completion/protocol.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lexiscope.core.errors import Place, SubjectError
from lexiscope.core.scoring import TokenScores
from lexiscope.subjects.endpoint._alignment import align

Form = Literal["echo", "prompt_logprobs"]

# vLLM writes this for minus infinity, which JSON does not have (its pull request 11073)
_STAND_IN = -9999.0
_ROUNDING = 1e-4


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """The tokens of a prompt as a server listed them; ``None`` is a string or a number that it did not give."""

    tokens: tuple[str | None, ...]
    values: tuple[float | None, ...]

    def __len__(self) -> int:
        return len(self.tokens)


def read_prompt_tokens(choice: Mapping[str, Any], form: Form, generated: int) -> PromptTokens | None:
    """Return the prompt's tokens in a choice, or ``None`` where it has none; *generated* tokens follow them."""
    if form == "prompt_logprobs":
        entries = choice.get("prompt_logprobs")
        return _from_entries(entries) if isinstance(entries, list) and len(entries) > 1 else None
    logprobs = choice.get("logprobs")
    tokens, values = (
        logprobs.get(name) if isinstance(logprobs, dict) else None for name in ("tokens", "token_logprobs")
    )
    if not isinstance(tokens, list) or not isinstance(values, list) or len(tokens) != len(values):
        return None
    last = len(tokens) - generated
    return PromptTokens(tuple(map(_text_or_none, tokens[:last])), tuple(map(_number_or_none, values[:last])))


def _from_entries(entries: Sequence[Any]) -> PromptTokens:
    tokens: list[str | None] = []
    values: list[float | None] = []
    for entry in entries:
        # the most probable token has rank 1; where there is another one, that is the prompt's
        alternatives = (
            [alternative for alternative in entry.values() if isinstance(alternative, dict)]
            if isinstance(entry, dict)
            else []
        )
        own: Mapping[str, Any] = max(alternatives, key=lambda alternative: alternative.get("rank") or 0, default={})
        tokens.append(_text_or_none(own.get("decoded_token")))
        values.append(_number_or_none(own.get("logprob")))
    return PromptTokens(tuple(tokens), tuple(values))


def prompt_scores(text: str, prompt: PromptTokens, *, before: bool) -> TokenScores:
    """Return the scores of a text's tokens; *before* says that the first token listed comes before the text.

    Errors: :class:`SubjectError` where the tokens are not those of the whole text, or a token that must have a
    log-probability has none.
    """
    tokens, values = (prompt.tokens[1:], prompt.values[1:]) if before else (prompt.tokens, prompt.values)
    spans = align(text, tokens)
    if spans is None:
        raise _alignment_error(text, tokens)
    numbers = [float("nan") if value is None else value for value in values]
    if not before:
        # it has no context: what a server writes here is no probability
        numbers[0] = float("nan")
    for number, span in list(zip(numbers, spans, strict=True))[0 if before else 1 :]:
        _check_score(number, text, span)
    starts, ends = (np.array([span[side] for span in spans], dtype=np.int64) for side in (0, 1))
    return TokenScores(np.minimum(np.array(numbers, dtype=np.float64), 0.0), starts, ends)


def _check_score(number: float, text: str, span: tuple[int, int]) -> None:
    place = Place(text=text, column=span[0] + 1, width=span[1] - span[0])
    if not math.isfinite(number):
        what = "the server gave no log-probability for a token in the middle of this text (null, NaN or infinity)"
        raise SubjectError(what, place=place, hint="serve the model in a higher precision, or leave the item out")
    if number <= _STAND_IN:
        what = f"the server's log-probability of a token is {number}: it stands for minus infinity or a lost number"
        raise SubjectError(what, place=place, hint="serve the model in a higher precision, or leave the item out")
    if number > _ROUNDING:
        raise SubjectError(f"the server's log-probability of a token is {number}, which is above 0", place=place)


def _alignment_error(text: str, tokens: Sequence[str | None]) -> SubjectError:
    joined = "".join(token or "" for token in tokens).strip()
    hint = "shorten the text, or serve the model with a longer context"
    if joined and len(joined) < len(text.strip()):
        for cut, kept in (("end", text.strip().startswith(joined)), ("beginning", text.strip().endswith(joined))):
            if kept:
                what = f"the server cut off the {cut} of this text: it lists {len(joined)} of {len(text)} characters"
                return SubjectError(what, place=Place(text=text), hint=hint)
    return SubjectError(
        "the tokens that the server lists cannot be laid on this text",
        place=Place(text=text),
        why=f"they read {joined[:200]!r}",
        hint="the server answered another text, or its tokenizer changes letters: it cannot be used for scores",
    )


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number_or_none(value: object) -> float | None:
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable else None  # type: ignore[arg-type]
