"""Continuing a prompt: how the next tokens are chosen, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lexiscope.core.errors import InputError


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a prompt is continued.

    ``greedy`` takes the most probable token each time; ``sample`` draws from the ``top_k`` most probable (0 = all) at a
    ``temperature``. ``n`` continuations are made of each prompt, of at most ``max_tokens`` tokens. The continuation
    number i of a prompt is drawn with a seed made of ``seed``, the prompt's text and i: it does not depend on
    the other prompts. ``stop`` ends a continuation before any of these texts.

    Errors: :class:`InputError` for more than one greedy continuation (they would be equal) and numbers out of range.
    """

    method: Literal["greedy", "sample"] = "greedy"
    n: int = 1
    max_tokens: int = 10
    top_k: int = 0
    temperature: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.n < 1 or self.max_tokens < 1 or self.top_k < 0 or not self.temperature > 0:
            raise InputError("decoding needs n and max_tokens of at least 1, top_k of 0 or more, temperature above 0")
        if self.method == "greedy" and self.n > 1:
            raise InputError("greedy continuations of a prompt are all the same", hint="use method='sample', or n=1")


@dataclass(frozen=True, slots=True)
class Continuation:
    """One continuation of a prompt: its text without the prompt, its token ids where they are known, its seed.

    ``finish``: why it ended (``length``, ``stop``, ``end``). ``seed`` is ``None`` for greedy continuations. ``fault``
    says what was wrong with an answer that is no continuation; the text is then what came.
    """

    text: str
    token_ids: tuple[int, ...] = ()
    seed: int | None = None
    finish: Literal["length", "stop", "end", ""] = ""
    fault: str = ""
