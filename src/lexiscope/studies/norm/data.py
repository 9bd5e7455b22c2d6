"""What a run of norm sees: items, people's ratings of some of them, and models that rate all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.bootstrap import Bootstrap, GroupLabels, group_codes, group_folds
from lexiscope.analysis.norming.allocation import Allocation
from lexiscope.analysis.norming.centaur import FEWEST, FOLDS, CentaurNorms, centaur_norms_of
from lexiscope.collect import CollectProgress
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable
from lexiscope.core.showing import listed
from lexiscope.core.simulated import COLLECTED
from lexiscope.core.subject import Subject
from lexiscope.items.tables.understood import Understanding
from lexiscope.report.part import Remark
from lexiscope.studies.kit.answers import ComparableAnswers
from lexiscope.studies.kit.data import own_dataset
from lexiscope.studies.kit.rated_file import RatedFile
from lexiscope.studies.kit.rated_run import ConditionedRun, ask_subjects, read_rated
from lexiscope.studies.norm.settings import NormSettings

RATING_MODELS = "answers of a model that can be read as ratings"
DISTRIBUTIONS = "ratings on a scale of at most 11 points"
PROBABILITY, WAVE = "sampling_probability", "wave"
"""The conditions of allocated items: with which probability each is asked, and in which wave (0: not)."""
Floats = NDArray[np.float64]
_MOST_POINTS = 11


@dataclass(frozen=True, eq=False)
class NormRun(ConditionedRun[NormSettings]):
    """A run of norm. Arrays are in the order of :attr:`items`; those of statistics of raters in that of the ratings.

    ``live`` are the subjects that answered in this run, below ``folder``.
    """

    unasked: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    live: tuple[Subject, ...] = ()
    folder: Path | None = None

    def has(self, what: str) -> bool:
        """Return whether the run has what a question needs."""
        if what == RATING_MODELS:
            return bool(self.rating)
        if what == DISTRIBUTIONS:
            return bool(self.points)
        return super().has(what)

    @cached_property
    def rows_of_ratings(self) -> NDArray[np.int64]:
        """The row of each rated item, in the order of ``people.item_ids``."""
        row_of = {item.item_id: row for row, item in enumerate(self.items)}
        return np.array([row_of[item_id] for item_id in self.people.item_ids], dtype=np.int64)

    @cached_property
    def labels(self) -> GroupLabels:
        """The word of each item."""
        return GroupLabels((item.word for item in self.items), "words")

    @cached_property
    def n_ratings(self) -> NDArray[np.int64]:
        """How many ratings each item has. *Shape:* (items,)."""
        counts = np.zeros(len(self.items), dtype=np.int64)
        if self.has("ratings"):
            counts[self.rows_of_ratings] = self.people.counts()
        return counts

    @cached_property
    def rating(self) -> dict[str, Floats]:
        """The answers of each model in points of people's scale, by its name. *Shape of each:* (items,); NaN is none.

        Ratings are taken as they are (their mean, if a model rated an item several times). Distances are turned into
        points by a line that is learnt on nine tenths of the words, at the layer that is closest to people there.
        """
        chosen = self.settings.models
        known = self._rating_models
        unknown = [name for name in chosen if name not in self.models]
        if unknown:
            hint = f"models of these data: {', '.join(self.models) or 'none'}"
            raise InputError(f"no model {unknown[0]!r} answered", hint=hint)
        live = set(self.answers.unique("subject_id"))
        wanted = [name for name in self.models if name in chosen or (not chosen and (name in known or name in live))]
        answers = {name: known[name] if name in known else self._points_from_distances(name) for name in wanted}
        return {name: values for name, values in answers.items() if not np.isnan(values).all()}

    @cached_property
    def unreadable(self) -> tuple[str, ...]:
        """Live subjects whose answers cannot be read as ratings: distances, and no norms to learn a line from."""
        return tuple(name for name in self.answers.unique("subject_id") if name not in self.rating)

    @cached_property
    def centaurs(self) -> dict[str, CentaurNorms]:
        """People and each model together, by the model's name; a model without enough rated items is not there."""
        squares = np.zeros(len(self.items))
        if not self.has("norms"):
            return {}
        if self.has("ratings"):
            ratings = self.people
            apart = (ratings.value - ratings.means()[ratings.item]) ** 2
            squares[self.rows_of_ratings] = np.bincount(ratings.item, weights=apart, minlength=ratings.n_items)
        norms = {}
        for name, answers in self.rating.items():
            try:
                norms[name] = centaur_norms_of(
                    self.norm, self.n_ratings, squares, answers, groups=self.labels, seed=self.settings.seed
                )
            except StatisticError:
                continue
        return norms

    def bootstrap_of(self, rows: NDArray[np.bool_]) -> Bootstrap:
        """Return how intervals of some items are made: their words are resampled."""
        return self._bootstrap_of(rows)

    def of_ratings(self, column: Floats) -> Floats:
        """Return a column of items in the order of ``people.item_ids``."""
        return column[self.rows_of_ratings]

    @cached_property
    def shown_conditions(self) -> tuple[str, ...]:
        """The conditions by which means are estimated. Errors: :class:`InputError` for an unknown one."""
        unknown = [name for name in self.settings.by if name not in self.conditions]
        if unknown:
            hint = f"conditions of the items: {', '.join(self.conditions) or 'none'}"
            raise InputError(f"the items have no condition {unknown[0]!r}", hint=hint)
        if self.settings.by:
            return tuple(name for name in self.settings.by if not self.is_number(name))
        two = [name for name in self.factors if len(self.levels(name)) == 2]
        return tuple(sorted(two, key=lambda name: name != "same_sense")[:1])

    @property
    def shown_numbers(self) -> tuple[str, ...]:
        """The numbers among the named conditions: predictors of a regression."""
        return tuple(name for name in self.settings.by if name in self.conditions and self.is_number(name))

    @cached_property
    def points(self) -> tuple[float, ...]:
        """The points of people's scale, if they are at most 11; else nothing."""
        if not self.has("ratings"):
            return ()
        scale, given = self.items[0].scale, np.unique(self.people.value)
        if scale is not None and scale.points and len(scale.points) <= _MOST_POINTS:
            return tuple(scale.points)
        whole = bool(np.all(given == np.rint(given))) and np.ptp(given) < _MOST_POINTS
        return tuple(np.arange(given.min(), given.max() + 1).tolist()) if whole else ()

    @cached_property
    def single_ratings(self) -> dict[str, tuple[NDArray[np.int64], Floats]]:
        """The row of the item of each rating of a model, and its value, by the model's name."""
        row_of = {item.item_id: row for row, item in enumerate(self.items)}
        kinds = [kind for kind in self.responses.unique("subject_kind") if kind not in COLLECTED and kind != "norm"]
        table = self.responses.where(measure="rating", subject_kind=tuple(kinds)) if kinds else ResponseTable.empty()
        ratings = {}
        for name in table.unique("subject_id"):
            own = table.where(subject_id=name)
            rows = np.array([row_of.get(item, -1) for item in own.column("item_id")], dtype=np.int64)
            values = own.column("value").astype(np.float64)
            known = (rows >= 0) & ~np.isnan(values)
            ratings[str(name)] = rows[known], values[known]
        return ratings

    @cached_property
    def sampled(self) -> Allocation | None:
        """The allocation by which the rated items were drawn, if the items are those of one (``allocation/items.csv``).

        Its waves are those that people have rated.
        """
        if not all(PROBABILITY in item.conditions and WAVE in item.conditions for item in self.items):
            return None
        share = np.array([float(item.conditions[PROBABILITY]) for item in self.items])
        wave = np.array([int(item.conditions[WAVE]) for item in self.items], dtype=np.int64)
        return Allocation(share, wave)

    def main_remarks(self) -> Iterator[Remark]:
        """Yield what the screen and the report say of the run as a whole."""
        yield from map(Remark, self.remarks)
        yield from (Remark(f"{subject} was not asked: {why}") for subject, why in self.unasked.items())
        if self.unreadable:
            yield Remark(f"Not read as ratings: {listed(self.unreadable, 5)}. Distances need items that people rated.")
        others = [name for name in self.models if name not in self.rating and name not in self.unreadable]
        if others and not self.settings.models:
            yield Remark(
                f"Other models of these data, which do not rate: {listed(others, 3)}. Name them with --model to turn "
                "their distances into points."
            )

    @cached_property
    def _rating_models(self) -> dict[str, Floats]:
        means = {}
        for name, (rows, values) in self.single_ratings.items():
            counts = np.bincount(rows, minlength=len(self.items))
            sums = np.bincount(rows, weights=values, minlength=len(self.items))
            means[name] = np.divide(sums, counts, out=np.full(len(self.items), np.nan), where=counts > 0)
        return means

    def _points_from_distances(self, name: str) -> Floats:
        columns = np.array([own for (subject, _), own in self._columns.items() if subject == name])
        points = np.full(len(self.items), np.nan)
        answered = ~np.isnan(columns).any(axis=0)
        rated = answered & (~np.isnan(self.norm) if self.has("norms") else np.zeros(len(points), dtype=np.bool_))
        codes, n_words = group_codes(self.labels, len(points))
        fold = group_folds(codes, n_words, folds=FOLDS, seed=self.settings.seed)
        for number in np.unique(fold).tolist():
            train = rated & (fold != number)
            if train.sum() < FEWEST:
                continue
            with np.errstate(invalid="ignore", divide="ignore"):
                close = [abs(float(np.corrcoef(column[train], self.norm[train])[0, 1])) for column in columns]
            best = columns[int(np.nanargmax(np.nan_to_num(close, nan=-1.0)))]
            slope, start = np.polyfit(best[train], self.norm[train], 1) if np.ptp(best[train]) > 0 else (0.0, np.nan)
            own = answered & (fold == number)
            points[own] = start + slope * best[own]
        return points


_MEANS_ONLY = (
    "The data have mean ratings only. The number needed to beat, the alternative annotator test, norms of single items "
    "and distributions need the ratings of single raters; estimates, differences and the allocation do not."
)


def load_run(settings: NormSettings, folder: Path, progress: CollectProgress | None = None) -> NormRun:
    """Read the file or dataset, and let the live subjects answer its items (kept below *folder*).

    A file of items without ratings is read, too: then only an allocation can be made. Errors: those of the readers;
    :class:`InputError` if no model has rated the items.
    """
    rated = _read(settings)
    asked = ask_subjects(settings, rated.data, folder, progress)
    remarks = (*rated.understood.warnings, *asked.remarks)
    given = rated.data.responses
    if len(given.where(measure="norm")) and not len(given.where(subject_kind=COLLECTED)):
        remarks = (*remarks, _MEANS_ONLY)
    run = NormRun(
        rated.data, asked.answers, settings, titles=asked.titles, unasked=asked.unasked, remarks=remarks,
        live=asked.subjects, folder=folder,
    )  # fmt: skip
    if not run.rating and not run.unreadable:
        reasons = "; ".join(f"{subject} was not asked: {why}" for subject, why in run.unasked.items())
        hint = f"--model {run.models[0]} turns its distances into points; " if run.models else ""
        hint += "" if settings.dataset else "--map model=COLUMN names a column with a model's ratings; "
        # items without texts cannot be shown to a model
        texts = all(item.usages for item in run.items)
        task = settings.task if settings.file else run.card.task
        asks = f"--subject SPEC asks a model now (lexiscope list pairings shows which models answer {task})"
        asks = "--subject encoder:minilm asks a model now" if task == NormSettings.task else asks
        hint += asks if texts else "to ask a model now, the items need texts"
        raise InputError(f"no model has rated the items of {run.name}", why=reasons, hint=hint)
    return run


def _read(settings: NormSettings) -> RatedFile:
    try:
        return read_rated(settings)
    except InputError as error:
        if error.code != "E002" or settings.items:
            raise
        # items that no people rated yet
        data = own_dataset(settings.file, task=settings.task, language=settings.language, options=settings)
        return RatedFile(data, Understanding(settings.file))


def compared_answers(settings: NormSettings, responses: ResponseTable) -> ComparableAnswers:
    """Return the answers of a finished run with their items, without asking any subject."""
    return ComparableAnswers(responses, _read(settings).data.items)
