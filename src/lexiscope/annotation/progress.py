"""The progress of a study: what ``annotate status`` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.annotation.export.pay import Pay, PayTopUp, pay_so_far, pay_top_ups
from lexiscope.annotation.monitor import (
    ItemCoverage,
    ListProgress,
    Suggestion,
    has_left,
    is_active,
    item_coverage,
    list_progress,
    live_exclusions,
    losses,
    top_up_suggestions,
)
from lexiscope.annotation.store.overview import ListedParticipant, study_status
from lexiscope.annotation.store.record import Kind, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.exclusions import declared_rules
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.core.response import ResponseTable


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The progress of a study.

    ``valid`` of ``wanted`` participants are there, over all lists and views; ``at_it`` are active, ``left`` dropped
    out. ``views`` maps a list to its view. ``states`` counts participants; ``coverage`` is by view, and empty if items
    are drawn from a pool; ``owed`` are the underpaid participants; ``waiting`` are rules that need more participants;
    ``simulated``: the participants are simulated.
    """

    status: str
    complete: bool
    valid: int
    wanted: int
    at_it: int
    left: int
    lists: tuple[ListProgress, ...]
    views: Mapping[str, str]
    states: Mapping[str, int]
    coverage: Mapping[str, ItemCoverage]
    pay: Pay
    owed: tuple[PayTopUp, ...]
    suggestions: tuple[Suggestion, ...]
    waiting: tuple[tuple[str, str], ...]
    simulated: bool = False


def progress_of(study: FrozenStudy, store: Store) -> StudyProgress:
    """Read the progress of a study.

    Errors: those of the store.
    """
    definition, people, loads = study.definition, store.people(), store.loads()
    lists, need = list_progress(loads), study.quota.need
    table = store.responses()
    rules, payment = declared_rules(definition, study.design), definition.payment
    return StudyProgress(
        status=store.read(study_status),
        complete=all(part.valid >= need for part in lists),
        valid=sum(part.valid for part in lists),
        wanted=need * len(lists),
        at_it=sum(map(is_active, people)),
        left=sum(map(has_left, people)),
        lists=lists,
        views=dict(study.record.views),
        states=dict(sorted(Counter(str(person.state) for person in people).items())),
        coverage={} if study.screen.drawn else _coverage(study, people, table),
        pay=pay_so_far(people, amount=payment.amount, currency=payment.currency),
        owed=pay_top_ups(people, amount=payment.amount, hourly_least=payment.hourly_least),
        suggestions=top_up_suggestions(lists, losses(people), per_item=need),
        waiting=live_exclusions(rules, table).waiting,
        simulated=store.holds_simulated(),
    )


def _coverage(study: FrozenStudy, people: Sequence[ListedParticipant], table: ResponseTable) -> dict[str, ItemCoverage]:
    """Return the coverage of every view: answers in one arm do not count in another."""
    valid = [person.participant_id for person in people if person.state in (State.FINISHED, State.ACCEPTED)]
    real = [item.item_id for item in study.record.items if item.kind is Kind.ITEM]
    counted = np.isin(table.column("subject_id").astype(str), valid) & np.isin(
        table.column("item_id").astype(str), real
    )
    table, minimum = table.filter(counted), study.definition.ratings.per_item
    coverage: dict[str, ItemCoverage] = {}
    for arm, view in enumerate(study.definition.views):
        # the lists of the first view come first, then those of the second
        numbered = enumerate(study.design.lists, 1 + arm * len(study.design.lists))
        lists = {item.item_id: str(number) for number, items in numbered for item in items}
        seen = table.where(list_id=[name for name, shown in study.record.views.items() if shown == view])
        coverage[view] = item_coverage(seen, lists, minimum=minimum, measure=study.screen.measure)
    return coverage
