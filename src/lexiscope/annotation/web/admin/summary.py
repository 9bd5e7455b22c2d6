"""The summary of all answers so far: item statistics, exclusions by rule, agreement, distributions, remarks.

It reads every answer, so it is made at most every few seconds and shows the time when it was made.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from lexiscope.annotation.distributions import Answers, Distribution, ItemSpread, distributions, item_spreads
from lexiscope.annotation.export.pasted_ids import without_ids
from lexiscope.annotation.export.study_data import ParticipantCounts, StudyData
from lexiscope.annotation.monitor import AboutSummary, MonitoredStatistic, about_summaries, agreement_so_far
from lexiscope.annotation.store.export import LONG_SCHEMA
from lexiscope.annotation.store.overview import (
    MarkedAnswer,
    first_answer_at,
    marked_answers,
    plan_signature,
    stored_reviews,
)
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.writing.review import latest_reviews
from lexiscope.core.columnar.lean import release_columns
from lexiscope.core.errors import LexiscopeError
from lexiscope.core.response import ResponseTable
from lexiscope.tasks.kit.published_sheets import Reviewed

LOG = logging.getLogger("lexiscope.annotation")
_LEAST_SECONDS = 5.0
_REST = 10
"""The pause after a summary is ten times as long as making it took: participants' answers come first."""


@dataclass(frozen=True, slots=True)
class ItemCount:
    """An item so far: numbers of participants, mean and SD (n − 1) if answers are numbers, and number of flags."""

    item_id: str
    valid: int
    active: int
    excluded: int
    mean: float | None
    sd: float | None
    flags: int


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """What was collected at a moment (UTC)."""

    at: datetime
    items: tuple[ItemCount, ...]
    participants: ParticipantCounts
    agreement: tuple[MonitoredStatistic, ...]
    distributions: tuple[Distribution, ...]
    spreads: tuple[ItemSpread, ...]
    about: tuple[AboutSummary, ...]
    remarks: tuple[MarkedAnswer, ...]
    platform_ids: frozenset[str]

    def clean(self, text: str | None) -> str:
        """Return a participant's free text without ids of the recruiting platform: people paste their own."""
        return without_ids(text, self.platform_ids) or ""


def summarise_answers(study: FrozenStudy, store: Store) -> AnswerSummary:
    """Return the summary of all that was collected.

    Errors: those of the store, and of a rule that does not parse.
    """
    collected = read_collected(study, store)
    remarks, platform_ids = tuple(store.read(marked_answers)), store.platform_ids()
    given = collected.item_answers
    answers = Answers.of(given, collected.views, collected.first_view)
    scale = study.scale if study.screen.widget == "scale" else None
    return AnswerSummary(
        datetime.now(UTC),
        item_counts(collected, given, store.item_counts(), remarks),
        collected.participant_counts,
        agreement_so_far(given, measure=collected.measure),
        distributions(answers, views=study.definition.views, scale=scale, options=shared_options(study)),
        item_spreads(answers),
        about_summaries(collected.valid_responses, study.definition.about_you),
        remarks,
        platform_ids,
    )


def shared_options(study: FrozenStudy) -> tuple[str, ...]:
    """Return the options of the task if they are the same for every item (t, f); otherwise none.

    Options of an item's own, such as substitutes or senses, have no distribution over items.
    """
    if study.screen.widget != "choice" or not study.design.items:
        return ()
    choices = study.screen.options_of(study.design.items[0], study.definition.views[0])
    return () if any(choice.lines for choice in choices) else tuple(dict.fromkeys(choice.value for choice in choices))


def read_collected(
    study: FrozenStudy,
    store: Store,
    *,
    tables: tuple[ResponseTable, pa.Table] | None = None,
    reviews: Mapping[tuple[str, str], Reviewed] | None = None,
) -> StudyData:
    """Return what was collected, as statistics read it: without judgments, unless responses and judgments are given."""
    given, judgments = tables if tables is not None else (store.responses(), LONG_SCHEMA.empty_table())
    people = store.people()
    return StudyData(
        definition=study.definition,
        design=study.design,
        measure=study.screen.measure,
        responses=given,
        judgments=judgments,
        people=people,
        numbers={person.participant_id: person.number for person in people if person.number is not None},
        views=study.record.views,
        reviews=reviews or {},
        platform_ids=store.platform_ids(),
        signature=store.read(plan_signature),
        first_answer_at=store.read(first_answer_at),
    )


def read_collected_for_export(study: FrozenStudy, store: Store) -> StudyData:
    """Return all that an export is made of: answers, participants, and the decisions about texts.

    Errors: those of the store.
    """
    reviews: dict[tuple[str, str], Reviewed] = {}
    if study.screen.widget == "text":
        decided = latest_reviews(store.read(stored_reviews))
        for person in store.people():
            for row in store.answers_of(person.participant_id):
                review = decided.get(int(str(row["id"])))
                if review is not None:
                    key = (person.participant_id, str(row["item_id"]))
                    reviews[key] = Reviewed(review.verdict, review.text, review.reason)
    return read_collected(study, store, tables=store.responses_and_judgments(), reviews=reviews)


def item_counts(
    collected: StudyData,
    given: ResponseTable,
    counts: Mapping[str, tuple[int, int, int]],
    remarks: tuple[MarkedAnswer, ...],
) -> tuple[ItemCount, ...]:
    """Return the items of the design: flagged ones first, then those with the fewest valid answers (*given*)."""
    flags = Counter(remark.item_id for remark in remarks if remark.flags)
    moments = _moments(given)
    lines = []
    for item in collected.design.items:
        valid, active, excluded = counts.get(item.item_id, (0, 0, 0))
        mean, sd = moments.get(item.item_id, (None, None))
        lines.append(ItemCount(item.item_id, valid, active, excluded, mean, sd, flags[item.item_id]))
    return tuple(sorted(lines, key=lambda line: (-line.flags, line.valid, line.item_id)))


def _moments(table: ResponseTable) -> dict[str, tuple[float, float | None]]:
    """Return mean and SD of each item's valid answers."""
    codes, ids = table.codes("item_id")
    values = table.column("value").astype(np.float64)
    given = ~np.isnan(values)
    codes, values = codes[given], values[given]
    n = np.bincount(codes, minlength=len(ids)).astype(np.float64)
    means = np.bincount(codes, values, minlength=len(ids)) / np.maximum(n, 1)
    squares = np.bincount(codes, (values - means[codes]) ** 2, minlength=len(ids))
    sds = np.sqrt(squares / np.maximum(n - 1, 1))
    return {str(name): (float(means[k]), float(sds[k]) if n[k] > 1 else None) for k, name in enumerate(ids) if n[k] > 0}


@dataclass(slots=True)
class SummaryCache:
    """The latest summary, made again in a separate thread when a page needs it and it is too old.

    ``patience`` is how long a page waits for a new one before it shows the one before. *Unit:* seconds.
    """

    study: FrozenStudy
    store: Store
    patience: float = 0.2
    _latest: AnswerSummary | None = None
    _until: float = 0.0
    _making: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def latest(self) -> AnswerSummary | None:
        """Return the latest summary; ``None`` while the first is being made. Call it in a thread."""
        with self._lock:
            if self._making is None and time.monotonic() >= self._until:
                self._making = threading.Thread(target=self._make, name="summary", daemon=True)
                self._making.start()
            making = self._making
        if making is not None:
            making.join(self.patience)
        return self._latest

    def refresh(self) -> None:
        """Make a new summary for the next page: the researcher changed something."""
        self._until = 0.0

    def clear(self) -> None:
        """Discard the summary: a participant was erased."""
        self._latest, self._until = None, 0.0

    def _make(self) -> None:
        begun = time.monotonic()
        try:
            self._latest = summarise_answers(self.study, self.store)
        except LexiscopeError:
            LOG.exception("the answers could not be counted")
        finally:
            release_columns()
            took = time.monotonic() - begun
            self._until = begun + took + max(_LEAST_SECONDS, _REST * took)
            self._making = None
