"""A task: one question, asked of people and of models alike, with one function per capability that can answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lexiscope.core.errors import CapabilityError
from lexiscope.core.item import Item
from lexiscope.core.prompt import AskFunction
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.subject import Progress, Subject, capabilities


class AnswerFunction(Protocol):
    """How subjects of one capability answer the task's items."""

    def __call__(
        self,
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Return the responses of one subject to all items, in the order of the items."""


@dataclass(frozen=True, slots=True)
class Task:
    """One question.

    ``answers`` names, in order of preference, the capabilities that can answer it, each with its function.
    ``measures`` are the measures that rows of this task can carry, with their unit and direction. ``asks`` makes a chat
    question of an item; ``None`` where the question cannot be asked in words.
    """

    name: str
    summary: str
    scale: Scale | None
    item_fields: tuple[str, ...]
    answers: tuple[tuple[str, AnswerFunction], ...]
    measures: tuple[tuple[str, str], ...]
    asks: AskFunction | None = None

    def answer_function(self, subject: Subject) -> AnswerFunction:
        """Return the function by which *subject* answers, before any work starts.

        Errors: :class:`CapabilityError`, which names what could answer.
        """
        able = capabilities(subject)
        for capability, function in self.answers:
            if capability in able:
                return function
        could = " or ".join(capability for capability, _ in self.answers)
        raise CapabilityError(
            f"{subject.subject_id} cannot answer the task {self.name!r}: it {_verbs(able)}",
            hint=f"the task can be answered by a subject that {could}",
        )


def _verbs(able: tuple[str, ...]) -> str:
    return "can do nothing that Lexiscope knows" if not able else ", ".join(able)
