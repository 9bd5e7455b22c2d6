"""Contracts of a kind of subject: declared capabilities, IDs that parse back, answers that depend on the item alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.errors import CapabilityError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.spec import SubjectSpec
from lexiscope.core.subject import (
    CAPABILITIES,
    ChoosesSense,
    Decoding,
    Embeds,
    Generates,
    Judges,
    Scores,
    Subject,
    capabilities,
)
from lexiscope.testing.contract import hold, named
from lexiscope.testing.task import LoadedTask

_SHARE = 1e-5
"""How much two routes to one number may differ by rounding, as a share of the largest number (single precision)."""
_USAGES = 8
_Key = tuple[str, str, str, int | None, str | None, int | None]


class LoadedSubject:
    """A subject under its spec, with the items that it is asked: by task, those that it can answer."""

    def __init__(self, spec: str, items: Mapping[str, Sequence[Item]] | None = None) -> None:
        self.spec = SubjectSpec.parse(spec)
        self.subject: Subject = catalog.subject(self.spec)
        given = (
            items if items is not None else {name: LoadedTask(name).examples("en") for name in catalog.names("tasks")}
        )
        self.items = {name: tuple(own) for name, own in given.items() if own and self.answers(name)}
        self.usages = tuple(
            islice(dict.fromkeys(usage for own in given.values() for item in own for usage in item.usages), _USAGES)
        )
        self.texts = tuple(dict.fromkeys(usage.text for usage in self.usages))

    def answers(self, task: str) -> bool:
        """Whether the subject can answer a task."""
        try:
            catalog.task(task).answer_function(self.subject)
        except CapabilityError:
            return False
        # a kind without TASKS answers those of the catalog, of which a task by path is not one
        return task in catalog.subject_tasks(self.spec.kind) or task not in catalog.names("tasks")

    def rows(self, task: str, items: Sequence[Item]) -> dict[_Key, float]:
        """Return the checked values of the subject's answers by item, rater, measure, layer, option and repetition."""
        table: ResponseTable = catalog.task(task).answer(items, self.subject, view="full")
        return {
            (row.item_id, row.subject_id, row.measure, row.layer, row.option, row.repeat): (
                math.nan if row.value is None else row.value
            )
            for row in table.rows()
        }


def check_subject(spec: str, *, items: Mapping[str, Sequence[Item]] | None = None, only: str = "") -> tuple[str, ...]:
    """Hold a subject to :data:`SUBJECT_CONTRACTS` and return the names of the contracts that it keeps.

    *spec* names the subject (``my_kind:name``, ``my_file.py:name``). *items* are asked, by the name of their task;
    without them, the English worked examples of every task that the subject can answer. *only* names a single contract.
    The subject is asked for real: a paid endpoint costs its price for a few dozen requests.
    Errors: :class:`ContractError` with everything that is broken; those of the catalog and of the subject.
    """
    return hold(f"subject {spec}", LoadedSubject(spec, items), SUBJECT_CONTRACTS, only)


def capabilities_are_declared(loaded: LoadedSubject) -> Iterator[str]:
    """The subject has the capabilities that its kind declares in ``CAPABILITIES``, no more and no fewer."""
    declared, own = catalog.subject_capabilities(loaded.spec.kind), capabilities(loaded.subject)
    yield from (f"{name} is not one of {', '.join(CAPABILITIES)}" for name in declared if name not in CAPABILITIES)
    yield from (f"{name} is declared, but its methods are not there" for name in declared if name not in own)
    yield from (f"its methods make it one that {name}, which is not declared" for name in own if name not in declared)


def id_makes_it_again(loaded: LoadedSubject) -> Iterator[str]:
    """The ID is a spec of the kind that makes the same subject again: with the same ID, facts and a revision."""
    subject = loaded.subject
    kind = SubjectSpec.parse(subject.subject_id).kind
    if kind != loaded.spec.kind:
        yield f"its ID {subject.subject_id} is of the kind {kind}"
    again = catalog.subject(subject.subject_id)
    if again.subject_id != subject.subject_id:
        yield f"made again from its ID {subject.subject_id}, its ID is {again.subject_id}"
    if again.facts != subject.facts:
        yield f"made again, its facts are {again.facts}, before {subject.facts}"
    if subject.facts.subject_id != subject.subject_id:
        yield f"its facts are about {subject.facts.subject_id}"
    if not subject.facts.revision:
        yield "its facts have no revision: its answers cannot be told from those of another version"


def some_task_is_answered(loaded: LoadedSubject) -> Iterator[str]:
    """There are items of at least one task that the subject can answer, and the answers are what the task allows.

    The task checks measures, values on the scale of their item, options, and that no answer is there twice.
    """
    if not loaded.items:
        yield "it answers no task whose items are given: give items={task: items}"
    for task, items in loaded.items.items():
        answered = {key[0] for key in loaded.rows(task, items)}
        yield from (f"{task}: the item {item.item_id} has no row" for item in items if item.item_id not in answered)
        ids = {item.item_id for item in items}
        yield from (f"{task}: a row is of the item {name}, which was not asked" for name in sorted(answered - ids))


def other_tasks_are_refused(loaded: LoadedSubject) -> Iterator[str]:
    """Before any work, a task that needs another capability is a ``CapabilityError`` that names what could answer."""
    own = set(capabilities(loaded.subject))
    for name in catalog.names("tasks"):
        task = catalog.task(name)
        if not own & {capability for capability, _ in task.answers}:
            try:
                task.answer_function(loaded.subject)
            except CapabilityError as error:
                if not all(capability in str(error) for capability, _ in task.answers):
                    yield f"{name}: the error does not name what could answer"
            else:
                yield f"{name} is answered without any of its capabilities"


def answers_depend_on_the_item_alone(loaded: LoadedSubject) -> Iterator[str]:
    """Asked twice, backwards and one by one, an item has the same answers, up to rounding."""
    for task, items in loaded.items.items():
        first = loaded.rows(task, items)
        again = loaded.rows(task, items)
        yield from _differences(f"{task}, asked twice", first, again, exactly=True)
        yield from _differences(f"{task}, asked backwards", first, loaded.rows(task, items[::-1]))
        alone = {key: value for item in items for key, value in loaded.rows(task, [item]).items()}
        yield from _differences(f"{task}, asked one by one", first, alone)


def right_answers_are_not_looked_at(loaded: LoadedSubject) -> Iterator[str]:
    """Answers do not change if the items have no correct answer (``gold``)."""
    for task, items in loaded.items.items():
        without = [replace(item, gold=None) for item in items]
        try:
            answers = loaded.rows(task, without)
        except CapabilityError:
            continue  # a task whose options are its right answers cannot be asked without them
        yield from _differences(f"{task}, without gold", loaded.rows(task, items), answers)


def methods_keep_the_order(loaded: LoadedSubject) -> Iterator[str]:
    """Each method gives one result per question, in the order of the questions, in the shape that it documents."""
    subject, usages, texts = loaded.subject, loaded.usages, loaded.texts
    if isinstance(subject, Embeds):
        vectors = subject.embed(usages)
        if vectors.shape[:2] != (len(usages), len(subject.layers)):
            yield f"embed: the shape is {vectors.shape}, not ({len(usages)}, {len(subject.layers)}, width)"
        elif not _close(subject.embed(usages[::-1])[::-1], vectors):
            yield "embed: the vectors of the same usages backwards are others"
        if subject.layers != tuple(range(len(subject.layers))):
            yield f"layers are {subject.layers}, not 0, 1, …"
    if isinstance(subject, Scores):
        scored = subject.score(texts)
        if len(scored) != len(texts):
            yield f"score: {len(scored)} results for {len(texts)} texts"
        for text, scores in zip(texts, scored, strict=False):
            if scores.ends[-1] != len(text):
                yield f"score: the last token of {text!r} ends at {scores.ends[-1]}, the text at {len(text)}"
            elif not _close(subject.score([text])[0].log_probabilities, scores.log_probabilities):
                yield f"score: {text!r} alone has other log-probabilities than among others"
    if isinstance(subject, Generates):
        decoding = Decoding(method="sample", n=2, max_tokens=3)
        continuations = subject.generate(texts, decoding)
        if [len(own) for own in continuations] != [2] * len(texts):
            yield "generate: not two continuations of each prompt, as asked"
        elif subject.generate(texts[::-1], decoding) != continuations[::-1]:
            yield "generate: the continuations of the same prompts backwards are others"
    if isinstance(subject, Judges):
        for task, items in loaded.items.items():
            judged = set(subject.judge(items, task).unique("item_id"))
            yield from (f"judge: no row for the item {item.item_id} of {task}"
                        for item in items if item.item_id not in judged)  # fmt: skip
    if isinstance(subject, ChoosesSense) and usages:
        probabilities = subject.sense_distribution(usages)
        if probabilities.shape[0] != len(usages):
            yield f"sense_distribution: {probabilities.shape[0]} rows for {len(usages)} usages"
        elif not np.allclose(probabilities.sum(axis=1), 1, atol=1e-6):
            yield "sense_distribution: not every row sums to 1"
        elif not np.array_equal(subject.sense_distribution(usages[::-1]), probabilities[::-1]):
            yield "sense_distribution: the same usages backwards have other probabilities"


SUBJECT_CONTRACTS = named(
    capabilities_are_declared,
    id_makes_it_again,
    some_task_is_answered,
    other_tasks_are_refused,
    answers_depend_on_the_item_alone,
    right_answers_are_not_looked_at,
    methods_keep_the_order,
)
"""The contracts of a kind of subject by their names."""


def _close(values: object, others: object) -> bool:
    numbers, expected = np.asarray(values, dtype=float), np.asarray(others, dtype=float)
    if numbers.shape != expected.shape:
        return False
    bound = _SHARE * (1 + float(np.nanmax(np.abs(expected), initial=0.0)))
    return bool(np.allclose(numbers, expected, atol=bound, rtol=0, equal_nan=True))


def _differences(
    what: str, first: Mapping[_Key, float], second: Mapping[_Key, float], *, exactly: bool = False
) -> Iterator[str]:
    """Yield a sentence for each answer of which two sets of answers have different values."""
    for key in first.keys() | second.keys():
        item_id, _, measure, layer, option, _ = key
        place = f"{what}: {measure} of the item {item_id}" + (f", layer {layer}" if layer is not None else "")
        place += f", option {option!r}" if option is not None else ""
        if key not in first or key not in second:
            yield f"{place} is there only {'the second' if key in second else 'the first'} time"
            continue
        value, other = first[key], second[key]
        same = value == other or (math.isnan(value) and math.isnan(other))
        if not same and (exactly or not _close(value, other)):
            yield f"{place} is {value:g}, then {other:g}"
