"""What a collection would cost, before it is asked: requests, tokens, money, and time of the device.

The prompts of a chat endpoint are counted and nothing is sent. A model of this machine is timed on a few of the items.
Finished answers cost nothing; finished batches of a local model's unfinished answers are not deducted.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lexiscope.collect import SeededSubject, counting, is_kept_by_request, place_of_answers
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, LexiscopeError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.prompt import Converses, Limited, Previews
from lexiscope.core.sealed import WORK
from lexiscope.core.subject import Recording, Subject, SubjectSpec, dry_run
from lexiscope.core.task import Task
from lexiscope.items.arrange.views import view_item

PROBED = 32
"""How many items a model of this machine is timed on."""
COUNTED = "Tokens: one per 4 characters of the prompts. Completions: the maximum that is allowed."
_TIMED = "Time: measured on {n} items and scaled to all."
_UNASKED = "Not known: the requests to this endpoint cannot be counted without a request."
_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class CollectionCost:
    """What is still to be asked of a subject in a view, and what it would cost; ``None`` is what is not known.

    ``prompt_tokens`` and ``completion_tokens`` are a rough count and, without a limit of tokens, not known. ``cost`` is
    in the currency of the user's prices. ``device_hours``: of this machine, with loading the model; *unit:* hours.
    ``probed`` items were timed. ``request`` is the first of ``n_requests``; ``n_kept`` replies are there already.
    ``assumption`` says how the numbers were found, or why there are none.
    """

    subject: str
    task: str
    view: str
    n_items: int
    sends: bool = False
    n_requests: int | None = 0
    n_kept: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost: float | None = 0.0
    device_hours: float | None = 0.0
    probed: int = 0
    url: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    assumption: str = "Nothing is asked: the answers are finished or recorded."


def collection_costs(
    items: Sequence[Item],
    subjects: Sequence[Subject],
    task: Task | str,
    views: Sequence[str] = ("full",),
    *,
    seed: int = 0,
    out: Path | None = None,
    cache: Path | None = None,
    work: Path | None = None,
    sent: dict[str, set[str]] | None = None,
) -> list[CollectionCost]:
    """Return what collecting would cost, one entry per subject and view. Nothing is sent or written.

    What the run folder *out*, or the *cache* of :func:`~lexiscope.collect.kept_answers`, holds costs nothing. In a
    sweep, *work* is the folder of the replies that its runs share, and *sent* has the names of the requests that were
    counted before, by subject; those of this collection are added.
    Errors: :class:`CapabilityError` for a subject that cannot answer; those of the task's prompt and of the items.
    """
    question = catalog.task(task) if isinstance(task, str) else task
    for item in items:
        question.check_item(item)
    costs = []
    for asked in subjects:
        question.answer_function(asked)
        subject = asked.with_seed(seed) if isinstance(asked, SeededSubject) else asked
        for view in views:
            nothing = CollectionCost(subject.subject_id, question.name, view, len(items))
            if _is_uncounted(subject, question):
                costs.append(_uncounted(nothing))
                continue
            if isinstance(subject, Recording):
                costs.append(nothing)
                continue
            place, finished = place_of_answers(items, subject, question, view=view, seed=seed, out=out, cache=cache)
            shares = is_kept_by_request(subject)
            kept = work if work is not None and shares else None if place is None else place / WORK
            # what is finished is not sent: another run asks for the same with the replies that are kept
            counted = None if sent is None or finished or not shares else sent.setdefault(subject.subject_id, set())
            chat = _chat_cost(nothing, items, subject, question, kept, counted)
            if finished:
                costs.append(replace(nothing, n_kept=chat.n_kept if chat else 0))
            else:
                costs.append(chat or _probed(nothing, items, subject, question))
    return costs


def costs_of_work(work: Callable[[], object]) -> tuple[list[CollectionCost], str]:
    """Return what the collections of some work would cost, and why it could not be followed to its end, if so.

    Each collection returns no answers, and no request is sent. Work that needs answers ends with an error: what it
    would ask after that is not counted. Errors: those of :func:`collection_costs`; those of work that asked nothing.
    """
    costs: list[CollectionCost] = []

    def count(
        items: Sequence[Item],
        subjects: Sequence[Subject],
        task: Task | str,
        views: Sequence[str],
        seed: int,
        out: Path | None,
    ) -> None:
        costs.extend(collection_costs(items, subjects, task, views, seed=seed, out=out))

    with dry_run(), counting(count):
        try:
            work()
        except (InputError, SubjectError) as error:
            if not costs:
                raise
            return costs, error.what
    return costs, ""


def limit_remarks(subjects: Sequence[Subject], costs: Sequence[CollectionCost], work: Path) -> list[str]:
    """Return a sentence for each subject whose requests are more than its limits leave, after what *work* keeps."""
    remarks = []
    for subject in subjects:
        if not isinstance(subject, Limited):
            continue
        name, (calls, money) = subject.subject_id, subject.left(work=work)
        total = total_cost([cost for cost in costs if cost.subject == name])
        requests, cost = total["n_requests"], total["cost"]
        if calls is not None and requests is not None and requests > calls:
            remarks.append(f"{name}: {requests} requests would be sent, and its max_calls leaves {max(calls, 0)}.")
        if money is not None and cost is not None and cost > money:
            remarks.append(f"{name}: the requests may cost {cost:.4g}, and its budget leaves {max(money, 0):.4g}.")
    return remarks


def total_cost(costs: Sequence[CollectionCost]) -> dict[str, float | int | None]:
    """Return the sums over all entries; ``None`` where a part of a sum is not known.

    >>> first = CollectionCost("chat:m@http://h", "relatedness", "full", 9, n_requests=9, cost=None)
    >>> total_cost([first, CollectionCost("encoder:e", "relatedness", "full", 9, device_hours=0.5)])["device_hours"]
    0.5
    """
    names = ("n_requests", "n_kept", "prompt_tokens", "completion_tokens", "cost", "device_hours")
    return {name: _sum([getattr(cost, name) for cost in costs]) for name in names}


def _sum(values: Sequence[float | int | None]) -> float | int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _is_uncounted(subject: Subject, task: Task) -> bool:
    """Whether what a subject is asked goes over a network, and cannot be counted before it is."""
    if not SubjectSpec.parse(subject.subject_id).url:
        return False
    return task.asks is None or not isinstance(subject, Previews) or not isinstance(subject, Converses)


def _chat_cost(
    nothing: CollectionCost,
    items: Sequence[Item],
    subject: Subject,
    task: Task,
    work: Path | None,
    sent: set[str] | None,
) -> CollectionCost | None:
    if task.asks is None or not isinstance(subject, Previews) or not isinstance(subject, Converses):
        return None
    how, view = subject.prompting, nothing.view
    questions = [
        task.asks(view_item(item, view), view=view, language=how.language, variant=how.variant, shots=how.shots)
        for item in items
    ]
    # subjects of other packages need not know of requests that others send
    preview = (
        subject.preview(questions, work=work) if sent is None else subject.preview(questions, work=work, sent=sent)
    )
    # without prices a request costs an unknown sum, and no request costs nothing
    counted = asdict(preview) | {"cost": preview.cost if preview.n_requests else 0.0}
    return replace(nothing, sends=True, assumption=COUNTED, **counted)


def _probed(nothing: CollectionCost, items: Sequence[Item], subject: Subject, task: Task) -> CollectionCost:
    """Time a subject on some of the items: once on one of them, which loads the model, then on all of them."""
    chosen = np.unique(np.linspace(0, len(items) - 1, PROBED).round().astype(int))
    sample = [items[number] for number in chosen]
    begun = time.perf_counter()
    # some questions need several items; one that fails for another reason fails again below
    with contextlib.suppress(LexiscopeError):
        task.answer(sample[:1], subject, view=nothing.view)
    loaded = time.perf_counter()
    try:
        task.answer(sample, subject, view=nothing.view)
    except LexiscopeError as error:
        return replace(nothing, device_hours=None, assumption=f"Not known: {str(error).splitlines()[0]}")
    seconds = (loaded - begun) + (time.perf_counter() - loaded) / len(sample) * len(items)
    return replace(
        nothing,
        device_hours=seconds / _SECONDS,
        probed=len(sample),
        assumption=_TIMED.format(n=len(sample)),
    )


def _uncounted(nothing: CollectionCost) -> CollectionCost:
    return replace(
        nothing,
        sends=True,
        n_requests=None,
        prompt_tokens=None,
        completion_tokens=None,
        cost=None,
        assumption=_UNASKED,
    )
