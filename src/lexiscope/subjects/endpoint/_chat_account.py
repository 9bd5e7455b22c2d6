"""What the replies of an endpoint have cost, and the limits at which nothing more is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any

from lexiscope.core.errors import RunError, SubjectError
from lexiscope.subjects.endpoint._chat_options import ChatOptions

_MOST_TOKENS = 2**53
"""What no answer has: a count beyond it is not told."""


class Account:
    """The replies that are kept, counted: calls, tokens, money, and who answered.

    Requests under way at the same time count when they are answered: a budget is overspent by those at most. A limit on
    calls is kept exactly. A request that reached the endpoint and came to no reply (its body was cut off, the
    connection broke) may have been paid: it counts as a call, and toward the budget with the tokens that it may have
    come to, roughly counted as in a dry run.
    """

    def __init__(self, options: ChatOptions, kept: Iterable[Mapping[str, Any]] = ()) -> None:
        self._options = options
        self._lock = Lock()
        self._begun = 0
        self.calls = self.prompt_tokens = self.completion_tokens = self.uncounted = 0
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
    def cost(self) -> float | None:
        """What all replies came to at the user's prices, ``None`` without prices."""
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
        told = body.get("usage")
        usage: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        known = [count for count in counts if type(count) is int and 0 <= count < _MOST_TOKENS]
        self.calls += 1
        if len(known) == len(counts):
            self.prompt_tokens, self.completion_tokens = (
                self.prompt_tokens + known[0],
                self.completion_tokens + known[1],
            )
        elif not entry.get("filtered") and "unreadable" not in entry:
            self.uncounted += 1
        said = [str(body.get(name) or "") for name in ("model", "system_fingerprint")]
        self.models[" ".join(part for part in said if part) or "not said"] += 1
        self.changes |= set(entry.get("changes") or ())

    def _check(self, begun: int) -> None:
        limit, spent = self._options.max_calls, self.highest_cost
        if limit and begun >= limit:
            raise _stopped(f"the limit of {limit} calls is reached", "max_calls")
        if self._options.budget is not None and spent is not None and spent >= self._options.budget:
            raise _stopped(f"the budget of {self._options.budget:g} is spent ({spent:.6g})", "budget")

    def _lose(self, entry: Mapping[str, Any]) -> None:
        self.possibly_paid += 1
        self._possible_prompt += entry.get("prompt_tokens") or 0
        self._possible_completion += entry.get("completion_tokens") or 0


def _stopped(what: str, option: str) -> RunError:
    hint = f"raise {option} and run the same command again: the replies so far are kept"
    return RunError(f"{what}: nothing more is sent", hint=hint)
