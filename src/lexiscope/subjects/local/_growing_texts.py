"""The next token of texts that grow token by token, where what was read is kept in the model's cache.

A cache can be wrong without an error: transformers has renamed its argument, a model ignores arguments that it does not
know, and a cache of recurrent states may copy a part of itself only. So a way of reading is used only after it gave
the numbers of whole texts on a few tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from lexiscope.subjects.local._model_check import same_to_rounding

# the names that transformers has given to the argument, newest first
_ARGUMENTS = ("cache", "past_key_values", "cache_params")
# two prompts and, for two copies of each, the tokens of three steps; any ids, but all different where they can be
_PROMPTS = ((3, 1, 4, 15, 9, 2), (6, 5, 35, 8, 97, 32))
_ADDED = ((38, 46, 26), (43, 33, 83), (27, 95, 28), (84, 19, 71))


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How a cache is used.

    ``argument``: its name among the model's; empty where every step reads whole texts. ``copied``: a prompt is read
    once, and its cache is copied for each continuation; otherwise a prompt is read once for every continuation.
    """

    argument: str = ""
    copied: bool = False


def next_logits(torch: Any, model: Any, prompts: Any, added: Sequence[Sequence[int]], use: CacheUse) -> Iterator[Any]:
    """Yield the logits of the next token of every copy; between two steps the caller adds a token to each of *added*.

    *prompts* are token ids of one length; each has as many copies, which follow each other, as there are more of
    *added*. *Shape:* prompts (prompts, tokens); a step (copies, vocabulary).
    """
    n = len(added) // len(prompts)
    copies = prompts.repeat_interleave(n, dim=0)
    # the logits of a whole prompt would be many times its keys and values
    last = {"logits_to_keep": 1} if "logits_to_keep" in signature(model.forward).parameters else {}
    # without a cache, too, copies begin alike: the first step reads a prompt once
    once = use.copied or not use.argument

    def read(ids: Any, **cache: Any) -> Any:
        # not around a yield: the caller would be in this mode, too
        with torch.inference_mode():
            return model(input_ids=ids, use_cache=bool(use.argument), **last, **cache)

    out = read(prompts if once else copies)
    logits = out.logits[:, -1].float()
    yield logits.repeat_interleave(n, dim=0) if once else logits
    if use.copied and n > 1:
        getattr(out, use.argument).batch_repeat_interleave(n)
    while True:
        new = torch.tensor(added, device=prompts.device)
        if use.argument:
            # some models change the cache that they are given, some return another one
            out = read(new[:, -1:], **{use.argument: getattr(out, use.argument)})
        else:
            out = read(torch.cat([copies, new], dim=1))
        yield out.logits[:, -1].float()


def prove_cache_use(torch: Any, model: Any, *, n_vocabulary: int, device: str, dtype: str) -> CacheUse:
    """Return the fastest use of the model's cache that gives the numbers of whole texts; none, if no use does."""
    prompts, added = (
        torch.tensor([[token % n_vocabulary for token in row] for row in rows], device=device)
        for rows in (_PROMPTS, _ADDED)
    )
    arguments = [name for name in _ARGUMENTS if name in signature(model.forward).parameters]
    # prompts shorter than a convolution have failed by themselves
    probes = [prompts, prompts[:, :2]]
    whole = _probe_steps(torch, model, probes, added, CacheUse()) if arguments else []
    for use in [CacheUse(name, copied) for name in arguments for copied in (True, False)]:
        try:
            steps = _probe_steps(torch, model, probes, added, use)
        except (RuntimeError, ValueError, TypeError, IndexError, AttributeError, KeyError):
            # a cache that cannot be copied, or be continued, says so by raising
            continue
        if all(same_to_rounding(step, expected, dtype) for step, expected in zip(steps, whole, strict=True)):
            return use
    return CacheUse()


def _probe_steps(torch: Any, model: Any, probes: Sequence[Any], added: Any, use: CacheUse) -> list[Any]:
    """Return the logits of every step of every probe."""
    steps: list[Any] = []
    for prompts in probes:
        grown: list[list[int]] = [[] for _ in added]
        logits = next_logits(torch, model, prompts, grown, use)
        steps.append(next(logits))
        for row in added.T.tolist():
            for ids, token in zip(grown, row, strict=True):
                ids.append(token)
            steps.append(next(logits))
    return steps
