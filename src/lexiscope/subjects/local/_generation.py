"""Continuing prompts token by token: each continuation is independent of the others in its batch.

Prompts of one length are read together, so that nothing is padded. Each sampled continuation draws from a separate
generator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.core.errors import Place, SubjectError
from lexiscope.core.subject import Continuation, Decoding
from lexiscope.subjects.local._causal_forward import CausalForward
from lexiscope.subjects.local._growing_texts import next_logits


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt and its token ids, the beginning-of-sequence token included where there is one."""

    text: str
    ids: tuple[int, ...]


def seed_of(seed: int, prompt: str, number: int) -> int:
    """Return the seed of the continuation *number* of a prompt: 48 bits of a hash of all three.

    >>> seed_of(0, "a", 1) == seed_of(0, "a", 1), seed_of(0, "a", 1) == seed_of(0, "a", 2)
    (True, False)
    """
    return int.from_bytes(hashlib.sha256(f"{seed}\n{number}\n{prompt}".encode()).digest()[:6])


def groups_of(prompts: Sequence[Prompt], *, budget: int, n: int) -> Iterator[tuple[Prompt, ...]]:
    """Yield groups of prompts of one length, at most *budget* tokens when each is copied *n* times."""
    by_length: dict[int, list[Prompt]] = {}
    for prompt in prompts:
        by_length.setdefault(len(prompt.ids), []).append(prompt)
    for length, alike in sorted(by_length.items()):
        size = max(1, budget // (length * n))
        yield from (tuple(alike[start : start + size]) for start in range(0, len(alike), size))


def continue_group(
    forward: CausalForward,
    group: Sequence[Prompt],
    decoding: Decoding,
    *,
    see_first: Callable[[Any], None] | None = None,
) -> list[tuple[Continuation, ...]]:
    """Return the continuations of prompts of one length.

    *see_first* is shown the logits of the first token, a row for each continuation.
    Errors: :class:`SubjectError` naming the prompt where the model's logits are not finite.
    """
    copies = [prompt for prompt in group for _ in range(decoding.n)]
    sampled = decoding.method == "sample"
    numbers = [number for _ in group for number in range(decoding.n)]
    seeds = [seed_of(decoding.seed, p.text, i) if sampled else None for p, i in zip(copies, numbers, strict=True)]
    chances = _draw_chances(forward.torch, seeds, decoding.max_tokens)
    ids: list[list[int]] = [[] for _ in copies]
    done: list[Continuation | None] = [None] * len(copies)
    prompts = forward.torch.tensor([prompt.ids for prompt in group], device=forward.device)
    for step, logits in enumerate(next_logits(forward.torch, forward.model, prompts, ids, forward.cache_use)):
        _check_finite(logits, copies)
        if see_first is not None and not step:
            see_first(logits)
        chosen = _choose_tokens(forward.torch, logits, decoding, chances[:, step])
        for place, token in enumerate(chosen):
            if done[place] is None:
                done[place] = _finished_continuation(forward, copies[place], ids[place], token, decoding, seeds[place])
            ids[place].append(token)
        if all(continuation is not None for continuation in done):
            break
    finished = [continuation for continuation in done if continuation is not None]
    return [tuple(finished[start : start + decoding.n]) for start in range(0, len(finished), decoding.n)]


def stored_continuations(stored: Iterable[Mapping[str, Any]]) -> tuple[Continuation, ...]:
    """Return continuations as they were before they were written as JSON."""
    return tuple(Continuation(**{**fields, "token_ids": tuple(fields["token_ids"])}) for fields in stored)


def _draw_chances(torch: Any, seeds: Sequence[int | None], steps: int) -> Any:
    """Draw the random numbers of every continuation from its own generator. *Shape: (copies, steps)*."""
    drawn = []
    for seed in seeds:
        generator = torch.Generator()
        generator.manual_seed(seed or 0)
        drawn.append(torch.rand(steps, generator=generator, dtype=torch.float64))
    return torch.stack(drawn)


def _choose_tokens(torch: Any, logits: Any, decoding: Decoding, chances: Any) -> list[int]:
    if decoding.method == "greedy":
        return [int(token) for token in logits.argmax(dim=-1).tolist()]
    scores = torch.log_softmax(logits.cpu(), dim=-1)
    ids = None
    if decoding.top_k:
        scores, ids = scores.topk(min(decoding.top_k, scores.shape[-1]), dim=-1)
    sums = torch.softmax(scores.double() / decoding.temperature, dim=-1).cumsum(dim=-1)
    # the first place where the running sum passes the chance; a chance of nearly 1 stays inside
    places = torch.searchsorted(sums, (chances * sums[:, -1])[:, None], right=True).clamp_(max=sums.shape[-1] - 1)
    picked = places if ids is None else ids.gather(1, places)
    return [int(token) for token in picked[:, 0].tolist()]


def _finished_continuation(
    forward: CausalForward, prompt: Prompt, before: Sequence[int], token: int, decoding: Decoding, seed: int | None
) -> Continuation | None:
    """Return the continuation where this token ends it, else ``None``."""
    if token in forward.ends:
        return Continuation(_added_text(forward, prompt, before), tuple(before), seed, "end")
    ids = (*before, token)
    text = _added_text(forward, prompt, ids)
    stops = [place for stop in decoding.stop if (place := text.find(stop)) >= 0]
    if stops:
        kept = text[: min(stops)]
        # the tokens that the kept text needs: one that begins behind it goes with the stop text
        needed = next(n for n in range(len(ids) + 1) if len(_added_text(forward, prompt, ids[:n])) >= len(kept))
        return Continuation(kept, ids[:needed], seed, "stop")
    return Continuation(text, ids, seed, "length") if len(ids) == decoding.max_tokens else None


def _added_text(forward: CausalForward, prompt: Prompt, ids: Sequence[int]) -> str:
    """Decode what tokens add to a prompt: decoded alone, the first word of some tokenizers would lose its space."""
    before = forward.tokenizer.decode(list(prompt.ids), skip_special_tokens=True)
    whole = forward.tokenizer.decode([*prompt.ids, *ids], skip_special_tokens=True)
    if whole.startswith(before):
        return str(whole[len(before) :])
    return str(forward.tokenizer.decode(list(ids), skip_special_tokens=True))


def _check_finite(logits: Any, copies: Sequence[Prompt]) -> None:
    finite = np.asarray((~logits.isnan()).all(dim=-1).cpu().numpy()) & np.asarray(logits.isfinite().any(dim=-1).cpu())
    if not finite.all():
        raise SubjectError(
            "the model's logits after this prompt are not finite (NaN or infinity)",
            place=Place(text=copies[int(np.flatnonzero(~finite)[0])].text),
            hint="use dtype=fp32; if it is in use, the weights themselves are broken",
        )
