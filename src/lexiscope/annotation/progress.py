"""How far a study is, in one look: what ``annotate status`` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lexiscope.annotation.export.pay import Pay, PayTopUp, pay_so_far, pay_top_ups
from lexiscope.annotation.monitor import (
    ItemCoverage,
    ListProgress,
    Suggestion,
    has_left,
    is_at_it,
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
    """How far a study is.

    ``valid`` of ``wanted`` people are there, over all lists and views; ``at_it`` are under way with a sign of life,
    ``left`` began and are away. ``views`` maps a list to its view. ``states`` counts participants; ``coverage`` is by
    view, and empty where items are drawn from a pool; ``owed`` is who earned too little; ``waiting`` are rules that
    cannot be judged on so few people yet; ``simulated``: the participants are simulated.
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

    def as_json(self) -> dict[str, Any]:
        """Return the same as plain values."""
        return asdict(self)


def progress_of(study: FrozenStudy, store: Store) -> StudyProgress:
    """Read how far a study is.

    Errors: those of the store.
    """
    definition, people, loads = study.definition, store.people(), store.loads()
    lists, need = list_progress(loads), study.quota.need
    table = store.responses()
    rules, payment = declared_rules(definition, study.design), definition.payment
    return StudyProgress(
        status=store.read(study_status),
        complete=all(one.valid >= need for one in lists),
        valid=sum(one.valid for one in lists),
        wanted=need * len(lists),
        at_it=sum(map(is_at_it, people)),
        left=sum(map(has_left, people)),
        lists=lists,
        views=dict(study.record.views),
        states=dict(sorted(Counter(str(one.state) for one in people).items())),
        coverage={} if study.screen.drawn else _coverage(study, people, table),
        pay=pay_so_far(people, amount=payment.amount, currency=payment.currency),
        owed=pay_top_ups(people, amount=payment.amount, hourly_least=payment.hourly_least),
        suggestions=top_up_suggestions(lists, losses(people), per_item=need),
        waiting=live_exclusions(rules, table).waiting,
        simulated=store.holds_simulated(),
    )


def _coverage(study: FrozenStudy, people: Sequence[ListedParticipant], table: ResponseTable) -> dict[str, ItemCoverage]:
    """The coverage of every view by itself: what one arm asked is no answer in another."""
    valid = [one.participant_id for one in people if one.state in (State.FINISHED, State.ACCEPTED)]
    real = [one.item_id for one in study.record.items if one.kind is Kind.ITEM]
    counted = np.isin(table.column("subject_id").astype(str), valid) & np.isin(
        table.column("item_id").astype(str), real
    )
    table, minimum = table.filter(counted), study.definition.ratings.per_item
    found: dict[str, ItemCoverage] = {}
    for arm, view in enumerate(study.definition.views):
        # the lists of the first view come first, then those of the second
        numbered = enumerate(study.design.lists, 1 + arm * len(study.design.lists))
        lists = {item.item_id: str(number) for number, items in numbered for item in items}
        seen = table.where(list_id=[name for name, shown in study.record.views.items() if shown == view])
        found[view] = item_coverage(seen, lists, minimum=minimum, measure=study.screen.measure)
    return found
