"""What stands in the spec of a served chat model behind its address: ``chat:MODEL@URL?key=value&key=value``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.prompt import GUIDELINES, Prompting
from lexiscope.subjects._options import read_options
from lexiscope.subjects.endpoint._server_options import refuse_secrets

Temperature = float | Literal["task", "default"]
_MOST_LOGPROBS = 20
_CHANGES_ANSWERS = ("variant", "shots", "language", "repeats", "temperature", "max_tokens", "logprobs", "system")


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a served chat model is asked.

    ``variant``, ``shots``, ``language`` and ``repeats``: which questions (:class:`~lexiscope.core.prompt.Prompting`).
    ``temperature``: ``task`` is that of the prompt, ``default`` sends none, else a number. ``max_tokens``: 0 is that of
    the prompt; models that reason before they answer need thousands. ``logprobs``: how many of the most probable first
    tokens are asked for, 0 is none. ``system``: ``user`` sends the system message at the beginning of the first message
    of the user. ``revision``: what the user knows of the version; part of what a stored reply is found by. ``key_env``:
    the environment variable of the API key. ``parallel``, ``timeout``, ``retries`` and ``backoff`` as for
    ``completions:``. ``price_in``, ``price_out``: of a million tokens, in any one currency. ``budget``: in the same;
    nothing is sent once it is spent. ``max_calls``: nothing is sent beyond so many replies; 0 is no limit.

    Errors: :class:`SpecError` for numbers out of range and a budget without prices.
    """

    variant: str = GUIDELINES
    shots: int = 0
    language: str = ""
    repeats: int = 1
    temperature: Temperature = "task"
    max_tokens: int = 0
    logprobs: int = 0
    system: Literal["system", "user"] = "system"
    revision: str = ""
    key_env: str = ""
    parallel: int = 4
    timeout: float = 120.0
    retries: int = 6
    backoff: float = 0.5
    price_in: float | None = None
    price_out: float | None = None
    budget: float | None = None
    max_calls: int = 0

    def __post_init__(self) -> None:
        if min(self.parallel, self.timeout) <= 0 or min(self.retries, self.backoff) < 0:
            raise SpecError("parallel and timeout are above 0, retries and backoff 0 or more")
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
    def told(self) -> dict[str, str]:
        """The options that change the answers, and the name of the key's variable, as in a spec."""
        names = (*_CHANGES_ANSWERS, "revision", "key_env")
        ordinary = ChatOptions()
        changed = [name for name in names if getattr(self, name) != getattr(ordinary, name)]
        return {name: _shown(getattr(self, name)) for name in changed}

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

    >>> chat_options({"repeats": "3", "temperature": "default"}).told
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


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
