"""Parts of a model that transformers computes by hand, computed with fewer passes over the memory.

A module is replaced only if it is of a known class; it is replaced for the time of a context, by a function on the
object itself, so that class, weights and the rest of the model stay as they are. That the numbers are the same is
proved for every model when it is loaded, by the check of the routes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lexiscope.core.errors import require

# numbers that are computed on together, few enough to stay near the processor
_NEAR = 1 << 17
# modules that compute .5 x (1 + tanh(sqrt(2 / pi) (x + .044715 x^3))); torch's own kernel for it is slow
_TANH_GELU = ("NewGELUActivation", "FastGELUActivation", "GELUTanh")


@dataclass(frozen=True, slots=True)
class Lean:
    """A module of a model, and the function that stands for its ``forward``; ``what`` names it in the run record."""

    module: Any
    function: Callable[..., Any]
    what: str


def lean_modules(model: Any) -> tuple[Lean, ...]:
    """Find the modules of a model that can be computed with fewer passes."""
    found: list[Lean] = []
    for module in model.modules():
        if type(module).__name__ in _TANH_GELU:
            found.append(Lean(module, tanh_gelu, "GELU by tanh in place"))
        if type(module).__name__ == "GPT2Block" and _plain_block(module):
            found += _accumulating(module)
    return tuple(found)


@contextmanager
def replaced(modules: Sequence[Lean]) -> Iterator[None]:
    """Compute *modules* by their functions inside the context; they are as before at its end, also after an error."""
    before = [vars(each.module).get("forward") for each in modules]
    try:
        for each in modules:
            each.module.forward = each.function
        yield
    finally:
        for each, own in zip(modules, before, strict=True):
            vars(each.module).pop("forward", None)
            if own is not None:
                each.module.forward = own


def tanh_gelu(given: Any) -> Any:
    """Compute the GELU by tanh a few rows at a time, in place where rows stand by themselves.

    *Source:* Hendrycks and Gimpel 2016, as transformers' ``gelu_new``, ``gelu_fast`` and ``gelu_pytorch_tanh``.
    """
    torch = require("torch", "models")
    # a part of something wider is copied first
    rows = given.reshape(-1, given.shape[-1])
    for x in rows.split(max(1, _NEAR // rows.shape[1])):
        inner = x * x
        torch.addcmul(x, inner, x, value=0.044715, out=inner)
        inner.mul_(math.sqrt(2 / math.pi)).tanh_()
        torch.addcmul(x, x, inner, out=x).mul_(0.5)
    return rows.view(given.shape)


def _plain_block(block: Any) -> bool:
    """Say whether a GPT-2 block has projections of its own kind, not wrapped by an adapter, and nothing besides."""
    projections = (block.attn.c_proj, block.mlp.c_proj)
    return not hasattr(block, "crossattention") and all(type(each).__name__ == "Conv1D" for each in projections)


def _accumulating(block: Any) -> list[Lean]:
    """Let both projections of a GPT-2 block add to what it is given, instead of making products that are added."""
    stream: list[Any] = []

    def adding(projection: Any) -> Callable[[Any], Any]:
        def run(given: Any) -> Any:
            rows = stream[-1].view(-1, stream[-1].shape[-1])
            rows.add_(projection.bias).addmm_(given.view(-1, given.shape[-1]), projection.weight)
            return stream[-1]

        return run

    def run(hidden: Any, *given: Any, **named: Any) -> Any:
        stream.append(hidden)
        try:
            block.attn(block.ln_1(hidden), *given, **named)
            block.mlp(block.ln_2(hidden))
        finally:
            stream.pop()
        return hidden

    what = "sums in place"
    projections = [Lean(each, adding(each), what) for each in (block.attn.c_proj, block.mlp.c_proj)]
    return [Lean(block, run, what), *projections]
