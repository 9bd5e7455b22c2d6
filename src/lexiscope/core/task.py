"""A task: one question, asked of people and of models alike, with one function per capability that can answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lexiscope.core.errors import CapabilityError, InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.prompt import GUIDELINES, AskFunction, Converses, Prompted, Prompting
from lexiscope.core.reply import MEASURE_REPLY
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.scoring import ScoredOption
from lexiscope.core.simulated import COLLECTED
from lexiscope.core.subject import AnswersSome, Progress, Recording, Subject, capabilities

_PEOPLE_MEASURES = ("attention_check", "qualification", "completion_time", "norm")
"""What a collected study, or a published dataset, records of people in addition to the answers to a task."""

# the mean of the points of a scale, weighted by shares of 1, may miss an end by its last bits
_TINY = 1e-9


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


ScoredFunction = Callable[[Sequence[Item], Prompting, str], Sequence[tuple[ScoredOption, ...]]]
"""The options of items as subjects that score texts are asked: the items as the view shows them, wording, view."""


def no_check(_item: Item) -> None:
    """Check nothing: the task takes every item."""


@dataclass(frozen=True, slots=True)
class Task:
    """One question.

    ``answers`` names, in order of preference, the capabilities that can answer it, each with its function.
    ``measures`` are the measures that rows of this task can carry, with their unit and direction; the first is that of
    people's answers. ``asks`` makes a chat question of an item; ``None`` if the question cannot be asked as text.
    ``check`` fails for an item without what is asked about. Values of the measures in ``rated`` lie on the scale of
    the item; ``options`` returns what the measures in ``chosen`` can name of an item in a view. ``baselines``
    are the rules of the kind ``baseline`` that answer it. ``learnt`` is the
    method of training that learns its answers. ``truth``: its answers are ``t`` and ``f``. ``chance`` is the
    share of correct answers that a study assumes without any input. ``reads`` reads a file of its items that is no
    table of questions: its path, and ``dataset`` and ``language`` by name. ``wordings`` are those in which subjects
    that score texts are asked, the first by default; none if they are not asked with a text. ``labelled`` returns the
    same task with labelled items given to subjects that can use them; ``given`` then says which (a checksum).
    ``scored`` returns the texts that decide between the options of items, where log-probabilities of whole texts can
    decide.
    """

    name: str
    summary: str
    scale: Scale | None
    item_fields: tuple[str, ...]
    answers: tuple[tuple[str, AnswerFunction], ...]
    measures: tuple[tuple[str, str], ...]
    asks: AskFunction | None = None
    check: Callable[[Item], object] = no_check
    rated: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    options: Callable[[Item, str], Sequence[str]] | None = None
    baselines: tuple[str, ...] = ()
    learnt: str = ""
    truth: bool = False
    chance: float | None = None
    reads: Callable[..., tuple[Item, ...]] | None = None
    wordings: tuple[str, ...] = ()
    labelled: Callable[[Sequence[Item]], Task] | None = None
    given: str = ""
    scored: ScoredFunction | None = None

    def asks_of(self, capability: str) -> bool:
        """Whether subjects of a capability can answer."""
        return any(capability == name for name, _ in self.answers)

    @property
    def measure(self) -> str:
        """The measure of people's answers."""
        return self.measures[0][0]

    def scale_of(self, item: Item) -> Scale | None:
        """Return the rating scale of an item: its own, else that of the task; ``None`` for a task without ratings."""
        return (item.scale or self.scale) if self.scale is not None else None

    def answer_function(self, subject: Subject) -> AnswerFunction:
        """Return the function by which *subject* answers, before any work starts.

        Errors: :class:`CapabilityError`, which names what could answer; :class:`SpecError` for a wording that a subject
        names if the task has no wordings for it.
        """
        able = capabilities(subject)
        some = subject.tasks if isinstance(subject, AnswersSome) else None
        for capability, function in self.answers:
            if capability in able and (some is None or self.name in some) and not self._wordless(capability, subject):
                self._check_wording(subject, capability)
                return function
        could = " or ".join(capability for capability, _ in self.answers)
        why = (
            f"it answers {', '.join(some)}"
            if some is not None
            else f"it {', '.join(able) or 'can do nothing that Lexiscope knows'}"
        )
        raise CapabilityError(
            f"{subject.subject_id} cannot answer the task {self.name!r}: {why}",
            hint=f"the task can be answered by a subject that {could}; see lexiscope list pairings",
        )

    def answer(
        self,
        items: Sequence[Item],
        subject: Subject,
        *,
        view: str,
        work: Path | None = None,
        progress: Progress | None = None,
    ) -> ResponseTable:
        """Return the checked answers of a subject to all items; ratings have the scale on which they were asked.

        Errors: those of :meth:`answer_function`, :meth:`check_item`, :meth:`check_answers` and the subject.
        """
        function = self.answer_function(subject)
        for item in items:
            self.check_item(item)
        return self.check_answers(
            function(items, subject, view=view, work=work, progress=progress), items, subject, view=view
        )

    def check_item(self, item: Item) -> None:
        """Check that the task can be asked about an item.

        Errors: :class:`InputError` naming the task, the item and what is missing.
        """
        try:
            self.check(item)
        except InputError as error:
            what = f"the task {self.name!r} cannot be asked about this item: {error.what}"
            hint = (
                error.hint or f"leave the item out, or name another task (this one needs {', '.join(self.item_fields)})"
            )
            raise InputError(what, code=error.code, place=error.place, why=error.why, hint=hint) from error

    def check_answers(
        self, table: ResponseTable, items: Sequence[Item], subject: Subject, *, view: str
    ) -> ResponseTable:
        """Check every answer against the measures of the task, the scale of its item, and the options of its item.

        A person's rating is a point of the scale; a model's may be between two points (an expected value). Missing
        values are answers. Returns the table with the column ``scale`` filled in for ratings.
        Errors: :class:`InputError` E310 for a measure that the task does not have, E301 for a value off the scale, E311
        for an option that the item does not have and for a number instead of an option, E502 for a second row of the
        same subject, item, measure, option, view, layer and repetition; each names the subject, the item, the measure
        and what is allowed.
        """
        self._check_measures(table, subject)
        _check_once(table, subject, view)
        table = self._on_scale(table, items, subject)
        self._check_options(table, items, subject, view)
        return table

    def _check_wording(self, subject: Subject, capability: str) -> None:
        """Check that no wording is named for a subject for which this task has none: it would have no effect.

        Subjects that judge have wordings, and those that score texts if the task has wordings for them. The usual
        wording of a subject that converses is not named.
        """
        named = subject.prompting.variant if isinstance(subject, Prompted) else ""
        named = "" if named == GUIDELINES and isinstance(subject, Converses) else named
        if named and capability != "Judges" and not (capability == "Scores" and self.wordings):
            what = f"the task {self.name!r} has no wordings for {subject.subject_id}: there is no wording {named!r}"
            raise SpecError(what, hint="leave the option variant out")

    def _wordless(self, capability: str, subject: Subject) -> bool:
        """Whether a subject that answers in conversation is asked what cannot be asked as text."""
        return capability == "Judges" and self.asks is None and isinstance(subject, Converses)

    def _check_measures(self, table: ResponseTable, subject: Subject) -> None:
        known = {name for name, _ in self.measures} | set(_PEOPLE_MEASURES)
        for measure in table.unique("measure"):
            if measure.partition("(")[0] not in known:
                rows = table.where(measure=measure)
                what = f"an answer of the measure {measure!r}, which the task {self.name!r} does not have"
                raise _answer_error(rows, 0, subject, what, code="E310", hint=f"measures: {', '.join(sorted(known))}")
        others = [task for task in table.unique("task") if task != self.name]
        if others:
            what = f"an answer to the task {others[0]!r}; {self.name!r} was asked"
            raise _answer_error(
                table.where(task=others[0]), 0, subject, what, code="E310", hint="state the task that was asked"
            )

    def _on_scale(self, table: ResponseTable, items: Sequence[Item], subject: Subject) -> ResponseTable:
        if not self.rated or self.scale is None:
            return table
        rated = _of_measures(table, self.rated)
        if not rated.any():
            return table
        scale_of = {item.item_id: self.scale_of(item) for item in items}
        codes, names = table.codes("item_id")
        values, kinds = table.column("value"), table.column("subject_kind")
        printed = np.array([None] * len(table), dtype=object)
        of_name = [scale_of.get(name) for name in names]
        for row in np.flatnonzero(rated).tolist():
            scale, value = of_name[codes[row]], float(values[row])
            if scale is None:
                continue
            printed[row] = str(scale)
            if not np.isnan(value) and not _is_on_scale(scale, value, point=kinds[row] in COLLECTED):
                what = f"the {table.column('measure')[row]} {value:.12g}, which is not on the scale {scale}"
                hint = f"give a number from {scale.low:g} to {scale.high:g}, or no value where there was no answer"
                raise _answer_error(table, row, subject, what, code="E301", hint=hint)
        return table.with_column("scale", printed)

    def _check_options(self, table: ResponseTable, items: Sequence[Item], subject: Subject, view: str) -> None:
        if self.options is None:
            return
        chosen = _of_measures(table, self.chosen)
        by_id = {item.item_id: item for item in items}
        offered: dict[tuple[str, str], frozenset[str]] = {}
        ids, views, options = (table.column(name) for name in ("item_id", "view", "option"))
        named = np.array([option is not None for option in options], dtype=bool)
        for row in np.flatnonzero(chosen & ~named & ~np.isnan(table.column("value"))).tolist():
            what = f"the number {table.column('value')[row]:.12g} as a {table.column('measure')[row]}, and no option"
            raise _answer_error(
                table, row, subject, what, code="E311", hint="name the chosen option in the column option"
            )
        for row in np.flatnonzero(chosen & named).tolist():
            key = ids[row], views[row] or view
            if key[0] in by_id and key not in offered:
                offered[key] = frozenset(self.options(by_id[key[0]], key[1]))
            if options[row] not in offered.get(key, (options[row],)):
                allowed = ", ".join(map(repr, sorted(offered[key])))
                what = f"the {table.column('measure')[row]} {options[row]!r}, which the item does not offer"
                raise _answer_error(table, row, subject, what, code="E311", hint=f"it offers: {allowed}")


def _check_once(table: ResponseTable, subject: Subject, view: str) -> None:
    """Refuse two rows for one question: every mean would count the subject twice, every choice would be two.

    Kinds of replies are an account of requests, not answers: an item that is asked in several forms has several.
    """
    table = table.filter(table.column("measure") != MEASURE_REPLY)
    names = ["subject_id", "item_id", "measure", "option", "layer", "repeat", "view"]
    # a view that is not stated is the one that was asked
    views = [stated_view or view for stated_view in table.column("view")]
    stated = table.with_column("view", views)
    if len(stated.group_means(*names).rows) == len(table):
        return
    seen: set[tuple[object, ...]] = set()
    for row, key in enumerate(zip(*(column.to_pylist() for column in stated.arrow.select(names).columns), strict=True)):
        if key in seen:
            what = f"two answers of the measure {key[2]!r} to this item"
            hint = "keep one row, or number the repetitions of the question in the column repeat (0, 1, …)"
            raise _answer_error(table, row, subject, what, code="E502", hint=hint)
        seen.add(key)


def _of_measures(table: ResponseTable, names: Sequence[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which rows carry one of these measures, with any parameters in brackets after its name."""
    codes, measures = table.codes("measure")
    among = np.array([measure.partition("(")[0] in names for measure in measures], dtype=bool)
    return np.asarray(among[codes], dtype=np.bool_)


def _is_on_scale(scale: Scale, value: float, *, point: bool) -> bool:
    slack = _TINY * (scale.high - scale.low)
    return scale.contains(value) if point else scale.low - slack <= value <= scale.high + slack


def _answer_error(table: ResponseTable, row: int, subject: Subject, what: str, *, code: str, hint: str) -> InputError:
    given = next(table.take(np.array([row])).rows())
    who = given.subject_id if given.subject_id == subject.subject_id else f"{given.subject_id} ({subject.subject_id})"
    place = subject.place_of(given) if isinstance(subject, Recording) else Place(item_id=given.item_id)
    return InputError(f"{who} gave {what}", code=code, place=place, hint=hint)
