"""Subjects: people and models that answer. What a subject can do is a set of capabilities, not a place in a grid of
models and tasks. Its name is a spec (:mod:`lexiscope.core.spec`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from lexiscope.core.errors import InputError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.spec import CAPABILITY_NAMES
from lexiscope.core.spec import SubjectSpec as SubjectSpec
from lexiscope.core.usage import Usage

if TYPE_CHECKING:
    from lexiscope.core.dataset import SubjectFacts
    from lexiscope.core.errors import Place
    from lexiscope.core.response import Response, ResponseTable
    from lexiscope.core.scoring import ScoringPolicy, TokenScores

Floats = np.ndarray[Any, np.dtype[np.float32]]
Progress = Callable[[int, int], None]


_DRY_RUN: ContextVar[bool] = ContextVar("lexiscope_dry_run", default=False)


@contextmanager
def dry_run() -> Iterator[None]:
    """Let no request be sent inside the block: what would send one raises :class:`SubjectError`."""
    token = _DRY_RUN.set(True)
    try:
        yield
    finally:
        _DRY_RUN.reset(token)


def check_sending() -> None:
    """Check that requests may be sent. Errors: :class:`SubjectError` in a :func:`dry_run`."""
    if _DRY_RUN.get():
        raise SubjectError("a dry run sends no request", hint="leave --dry-run out")


@runtime_checkable
class Subject(Protocol):
    """What answers: an id under which the answers are filed, and what is known about it."""

    @property
    def subject_id(self) -> str:
        """The id in the response table; unique among the subjects of a run."""

    @property
    def kind(self) -> str:
        """``participant``, ``encoder``, ``causal_lm``, ``chat`` …"""

    @property
    def facts(self) -> SubjectFacts:
        """What is known of it (parameters, layers, languages, revision)."""


@runtime_checkable
class Embeds(Protocol):
    """Can give a vector of a target in its context, at every layer."""

    @property
    def layers(self) -> tuple[int, ...]:
        """Its layers: 0 = embeddings, 1..L."""

    def embed(self, usages: Sequence[Usage], *, work: Path | None = None, progress: Progress | None = None) -> Floats:
        """Return one vector per usage and layer.

        *Shape: (usages, layers, width)*, float32. The same usage gives the same vector in any batch.
        With *work*, finished batches are kept in that folder and a broken call continues.
        """


@runtime_checkable
class Scores(Protocol):
    """Can give the log-probability of each token of a text."""

    @property
    def policy(self) -> ScoringPolicy:
        """Which tokens count and what they are conditioned on: part of the name of every measure."""

    def score(
        self, texts: Sequence[str], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[TokenScores]:
        """Return the log-probability of every token of every text. *Unit: nats*.

        The same text gets the same scores (to 1e-4) in any batch. With *work*, finished batches are kept in that
        folder and a broken call continues.
        """


@runtime_checkable
class ScoresWholes(Protocol):
    """A subject that scores and knows the log-probability of each text or continuation as a whole.

    Its :class:`~lexiscope.core.scoring.TokenScores` have one entry for all that was scored: its tokens are not
    counted, and parts of it are not compared.
    """

    @property
    def wholes_only(self) -> Literal[True]:
        """True."""


@runtime_checkable
class Generates(Protocol):
    """Can continue a prompt."""

    def generate(
        self, prompts: Sequence[str], decoding: Decoding, *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[Sequence[Continuation]]:
        """Return the continuations of every prompt, ``decoding.n`` each."""


@runtime_checkable
class Judges(Protocol):
    """Can answer items as a person does: people, recorded answers, trained classifiers, chat models."""

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return at least one row per item; an item without a readable answer has a row without value."""


@runtime_checkable
class ChoosesSense(Protocol):
    """Can say how probable each of its induced senses is for a usage."""

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        """Return probabilities. *Shape: (usages, senses)*; each row sums to 1."""


@runtime_checkable
class AnswersSome(Protocol):
    """A subject that answers some tasks only, although its capabilities would allow others."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of these tasks."""


@runtime_checkable
class Recording(Protocol):
    """A subject whose answers are on record: they are checked before any other subject is asked."""

    def place_of(self, response: Response) -> Place:
        """Return where an answer is recorded: file and line where they are known."""


@dataclass(frozen=True, slots=True)
class WorkShare:
    """The share of one of several workers in a request: which of its batches the worker computes first.

    Worker *number* of *of* begins with every *of*-th batch and then takes those that the others have not yet stored,
    in a shuffled order. No worker waits for another or claims a batch, and the others do the work of a lost one: two
    workers that compute the same batch write identical files.
    """

    number: int = 0
    of: int = 1

    def order(self, n: int) -> Sequence[int]:
        """Return the order in which the worker looks at *n* batches; empty if it is the only worker.

        >>> WorkShare(1, 2).order(6)[:3], sorted(WorkShare(1, 2).order(6)[3:])
        ([1, 3, 5], [0, 2, 4])
        >>> WorkShare().order(6)
        []
        """
        if self.of == 1:
            return []
        own = list(range(self.number, n, self.of))
        others = [number for number in range(n) if number % self.of != self.number]
        return [*own, *np.random.default_rng(self.number).permutation(others).tolist()]


@runtime_checkable
class Shareable(Protocol):
    """A subject whose finished batches are kept by their content, so that several workers can answer one request."""

    def with_share(self, share: WorkShare) -> Subject:
        """Return the same subject for a worker; it is not loaded yet."""


CAPABILITIES: dict[str, type] = dict(
    zip(CAPABILITY_NAMES, (Embeds, Scores, Generates, Judges, ChoosesSense), strict=True)
)


class _HasSeed(Protocol):
    seed: int


_Seeded = TypeVar("_Seeded", bound=_HasSeed)


def copy_with_seed(subject: _Seeded, seed: int) -> _Seeded:
    """Return the same subject with another ``seed``; itself where it has that seed, so that it is loaded once."""
    if seed == subject.seed:
        return subject
    same = copy(subject)
    same.seed = seed
    return same


def capabilities(subject: object) -> tuple[str, ...]:
    """Return the names of the capabilities that a subject has, in the order of the table."""
    return tuple(name for name, protocol in CAPABILITIES.items() if isinstance(subject, protocol))


# -- continuing a prompt: how the next tokens are chosen, and what comes back ---------------------------------------


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
