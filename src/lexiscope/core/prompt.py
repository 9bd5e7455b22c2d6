"""What a chat model is asked: messages, what may be answered, and how the answer is drawn.

A task makes one :class:`ChatQuestion` of an item; a subject that converses sends it, on a server or here, and a strict
parser (:mod:`lexiscope.core.reply`) reads what comes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.core.settings import option
from lexiscope.core.subject import Progress

Role = Literal["system", "user", "assistant"]
# how endpoints say that the limit of tokens ended a reply
_CUT = ("length", "max_tokens")
# no answer has as many: a count beyond it is not told
_MOST_TOKENS = 2**53
GUIDELINES = "guidelines"
"""The variant that every task has: the guidelines that people read, then the item."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: the role, and the text."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class PromptOption:
    """One answer that may be given: what is stored, and what a reply may call it (case does not matter).

    ``flags`` are stored with the answer ("cannot decide" stores an answer and says that it was none).
    """

    value: str
    names: tuple[str, ...]
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """One question to a chat model.

    The answer is a number on ``scale``, or one of ``options``, or, with neither, a text. ``temperature`` and
    ``max_tokens`` are what the variant of the prompt asks for; ``None`` leaves the setting to the subject.
    ``language`` is that of the words around the item; ``shots`` counts the worked examples before it.

    Errors: :class:`InputError` for a question without a last message of the user, and for one with both a scale and
    options.
    """

    messages: tuple[Message, ...]
    scale: Scale | None = None
    options: tuple[PromptOption, ...] = ()
    temperature: float | None = 0.0
    max_tokens: int | None = None
    variant: str = GUIDELINES
    language: str = "en"
    shots: int = 0

    def __post_init__(self) -> None:
        if not self.messages or self.messages[-1].role != "user":
            raise InputError("a chat question ends with a message of the user")
        if self.scale is not None and self.options:
            raise InputError("a chat question is answered on a scale or with one of its options, not both")

    def as_json(self) -> list[dict[str, str]]:
        """Return the messages as chat endpoints and chat templates take them.

        >>> ChatQuestion((Message("user", "From 1 to 5?"),), scale=Scale(1, 5)).as_json()
        [{'role': 'user', 'content': 'From 1 to 5?'}]
        """
        return [{"role": message.role, "content": message.content} for message in self.messages]

    def without_system(self) -> ChatQuestion:
        """Return the question with its system message at the beginning of the first message of the user.

        Some chat templates know no system message.

        >>> said = ChatQuestion((Message("system", "Rate."), Message("user", "A bank"))).without_system()
        >>> said.messages
        (Message(role='user', content='Rate.\\n\\nA bank'),)
        """
        first, *rest = self.messages
        if first.role != "system":
            return self
        return replace(self, messages=(Message("user", f"{first.content}\n\n{rest[0].content}"), *rest[1:]))


class AskFunction(Protocol):
    """How a task makes a chat question of an item: its ``asks``."""

    def __call__(
        self, item: Item, *, view: str = "full", language: str = "", variant: str = GUIDELINES, shots: int = 0
    ) -> ChatQuestion:
        """Return the question.

        *item* is as the view shows it. Without *language* it is asked in the item's own. Errors: :class:`InputError`
        for a language or variant in which the prompt is not written, for more *shots* than there are worked examples,
        and for an item that is one of them.
        """


@dataclass(frozen=True, slots=True)
class Prompting:
    """Which questions a subject that converses is asked.

    ``language``: empty is the item's own. ``repeats``: how often each question is asked, each time a row ``repeat``.
    """

    variant: str = option(GUIDELINES, "the variant of the task's prompt")
    shots: int = option(0, "worked examples before it", least=0)
    language: str = ""
    repeats: int = 1

    def __post_init__(self) -> None:
        if self.shots < 0 or self.repeats < 1:
            raise InputError("shots are 0 or more, repeats 1 or more")


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back to a question, unchanged.

    ``finish``: why it ended, in the words of the endpoint (``stop``, ``length``, ``content_filter`` …).
    ``refused``: the endpoint itself marked it as a refusal. ``first_tokens`` are the most probable first tokens with
    their log-probabilities (*unit:* nats), empty where they are not known. ``usage`` counts tokens. ``fault`` says
    what was wrong with an answer that could not be used at all. ``whole``: what ``first_tokens`` names are whole
    answers, not tokens that may begin a longer one. ``thinking`` is what the model wrote before its answer, as far as
    it was sent; ``text`` does not include it.
    """

    text: str
    finish: str = ""
    refused: bool = False
    first_tokens: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""
    whole: bool = False
    thinking: str = ""

    @property
    def thinking_tokens(self) -> int | None:
        """How many tokens the endpoint counted as thinking, ``None`` where it does not tell.

        They are part of its ``completion_tokens``.
        """
        details = self.usage.get("completion_tokens_details")
        count = details.get("reasoning_tokens") if isinstance(details, Mapping) else None
        return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < _MOST_TOKENS else None

    @property
    def cut(self) -> bool:
        """Whether the limit of tokens ended it."""
        return self.finish.casefold() in _CUT


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call to :meth:`Converses.converse` would send, before anything is sent.

    ``request`` is the first one of the ``n_requests`` that are still to be sent, empty where all replies are kept;
    ``n_kept`` counts the replies that are there already. ``prompt_tokens`` and ``completion_tokens`` are a rough count:
    a token per four characters of the prompts, and the most that may be answered (``None`` where that is not limited).
    ``cost`` is their cost at the prices that the user gave, ``None`` without prices or limit.
    """

    url: str
    request: Mapping[str, Any]
    n_requests: int
    prompt_tokens: int
    completion_tokens: int | None
    cost: float | None
    n_kept: int = 0


@runtime_checkable
class Prompted(Protocol):
    """A subject that names the wording in which it is asked, whether it converses or scores texts."""

    @property
    def prompting(self) -> Prompting:
        """Which variant, how many shots, which language; an empty variant is the task's first."""


@runtime_checkable
class Previews(Protocol):
    """A subject that can say what it would send, and what that would cost."""

    def preview(
        self, questions: Sequence[ChatQuestion], *, work: Path | None = None, sent: set[str] | None = None
    ) -> Preview:
        """Return the first request and the size of all; nothing is sent. What *work* keeps is not asked again.

        *sent* are names of requests that other parts send before, which are not counted; those of this part are added.
        It is given only to subjects whose kind has ``KEPT_BY_REQUEST``.
        """


@runtime_checkable
class Limited(Protocol):
    """A subject that sends nothing more once a limit is reached."""

    def left(self, *, work: Path | None = None) -> tuple[int | None, float | None]:
        """Return how many calls, and how much money, are left after what *work* keeps; ``None`` without a limit."""


@runtime_checkable
class Converses(Protocol):
    """A subject that answers chat questions: the tasks make the questions and read the replies."""

    @property
    def prompting(self) -> Prompting:
        """Which variant, how many shots, which language, how many repetitions."""

    def converse(
        self, questions: Sequence[ChatQuestion], *, work: Path | None = None, progress: Progress | None = None
    ) -> Sequence[Sequence[ChatReply]]:
        """Return the replies to every question, ``prompting.repeats`` each, in order.

        With *work*, every finished reply is kept in that folder and a broken call continues: none is asked for twice.
        """
