"""Comparison of answers: any two subjects, layers, views or conditions of one table of responses, on the same draws.

A side of the comparison is written as ``SUBJECT@LAYER name=value …``: ``minilm@7``, ``minilm@7 view=word``,
``people same_sense=True``. The names are ``view``, ``measure``, ``dataset`` (of a run with several), and the conditions
of the items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.attainable.model_pairs import ModelPairs, model_pairs
from lexiscope.analysis.attainable.reached import Reached
from lexiscope.analysis.bias.view_errors import is_right
from lexiscope.analysis.bias.view_scores import answers_by_view, draw_scores, scored_views
from lexiscope.analysis.bootstrap import GroupLabels, GroupOf, group_codes
from lexiscope.analysis.choices.choice_sets import CORRECT, decide, decisions_of
from lexiscope.analysis.comparison import (
    STATISTICS,
    ExactTest,
    Side,
    compare_sides,
    exchange_test,
    side_of_columns,
    side_of_ratings,
    side_of_rows,
)
from lexiscope.analysis.correlation import Kind
from lexiscope.analysis.layers.layers import difference_at_chosen_layers
from lexiscope.analysis.ranks import CORRELATIONS
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.right_answers import DEGREES, MEASURE_ODDS
from lexiscope.analysis.wordings import OverWordings, over_wordings
from lexiscope.collect import baseline_answers, default_wording, takes_wordings
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Contrast, Estimate, Record, Undefined, statistic_name
from lexiscope.core.scoring_options import Per
from lexiscope.core.showing import counted
from lexiscope.core.simulated import COLLECTED
from lexiscope.core.spec import plain_name, without_option
from lexiscope.items.answers.sense_options import DIFFERENT, SAME
from lexiscope.report.part import Omission, with_interval
from lexiscope.report.parts.wording_tables import SHOTS, WordedStatistic

Floats = NDArray[np.float64]
Statistic = str | Callable[[Floats, Floats], float]
"""A named statistic, or a function of answers and norms (of people's means: NaN where an item has none)."""
Test = Literal["bootstrap", "sign_flip", "permutation"]
"""The test of a comparison: that of the resamples, or with it one that assumes exchangeability."""
PEOPLE = "people"
"""The name of people in the place of a model's name."""
NEARNESS = {"rating": 1.0, "cosine_distance": -1.0, "jaccard_distance": -1.0}
"""The measures in which a model says the nearness of two usages, and the sign with which higher means nearer."""
DATASET = "dataset"
"""What a side calls the dataset of its items, in a run of several."""
_CHOICES = ("choice", "retrieved")
"""The measures whose option is right where it is the gold answer of the item."""
_MOST_VALUES = 8
"""Number of values of a condition that an error names if no item has the one that was asked for."""


@dataclass(frozen=True, slots=True)
class AnswersOf:
    """A side of a comparison: a subject (or people), its layer and view, the measure, and conditions of the items."""

    subject: str
    layer: int | None = None
    view: str = ""
    measure: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, given: str | Mapping[str, Any] | AnswersOf) -> AnswersOf:
        """Read a side: text, or a mapping with ``subject``, ``layer``, ``view``, ``measure`` and conditions.

        Errors: :class:`SpecError` for a part that is no ``name=value``.

        >>> AnswersOf.parse("minilm@7 view=word same_sense=True")
        AnswersOf(subject='minilm', layer=7, view='word', measure='', conditions={'same_sense': 'True'})
        """
        if isinstance(given, AnswersOf):
            return given
        if isinstance(given, Mapping):
            named = {name: str(value) for name, value in given.items() if value is not None}
            subject, layer = named.pop("subject", ""), named.pop("layer", "")
        else:
            first, *rest = given.split() or [""]
            # a subject may have spaces in its name, up to its layer or the first name=value
            while rest and "=" not in rest[0] and not re.search(r"@\d+$", first):
                first = f"{first} {rest.pop(0)}"
            named = {}
            for part in rest:
                if named and "=" not in part:
                    # so may the value of a condition
                    named[next(reversed(named))] += f" {part}"
                    continue
                name, equals, value = part.partition("=")
                if not (name and equals and value):
                    raise SpecError(f"{part!r} cannot be a part of a side", hint="write SUBJECT@LAYER name=value …")
                named[name] = value
            subject, at, layer = first.rpartition("@")
            if not (at and layer.isdecimal()):
                subject, layer = first, ""
        if not subject or (layer and not layer.isdecimal()):
            raise SpecError(f"{given!r} names no subject, or no layer", hint="write minilm@7, or people")
        number = int(layer) if layer else None
        return cls(subject, number, named.pop("view", ""), named.pop("measure", ""), named)

    @property
    def condition(self) -> str:
        """The conditions as text."""
        return ", ".join(f"{name}={value}" for name, value in self.conditions.items())


@dataclass(frozen=True, eq=False)
class ComparableAnswers:
    """The responses of people and models to some items: what sides of a comparison are read from.

    ``tasks`` are the tasks of the items by dataset, for a run with several datasets: they may share ids of items.
    ``per`` is what a log-probability is divided by if it decides between options. Answers that are equal after
    rounding to *decimals* are ties.
    """

    responses: ResponseTable
    items: Sequence[Item]
    tasks: Mapping[str, str] = field(default_factory=dict)
    per: Per = "token"
    decimals: int | None = None

    def compare(
        self,
        first: str | Mapping[str, Any] | AnswersOf,
        second: str | Mapping[str, Any] | AnswersOf,
        statistic: Statistic = "spearman",
        *,
        test: Test = "bootstrap",
        resamples: int = 2000,
        seed: int = 0,
        level: float = 0.95,
    ) -> Contrast:
        """Return the difference of a statistic, *first* minus *second*, on the same resamples.

        Resampled are words; sentences where the items name the sentence that they were made of (``sentence``).
        Correlations are those of the answers with people's means; ``accuracy`` is the share of right decisions:
        recorded outcomes, choices of the gold answer, or options of which the right one has the highest value.
        ``mean`` is that of the answers, ``alpha`` Krippendorff's of people's ratings. A function takes answers and
        norms.
        With *test* ``sign_flip`` or ``permutation`` a second test of a mean or an accuracy is reported next to p
        (:func:`~lexiscope.analysis.comparison.exchange_test`): the first for the same items, or other items of the same
        words; the second for items of other words.
        Of two sides with the same items, only those that both answered are compared; a note counts the others. The
        contrast says what a positive difference means: answers that are distances count as nearness, but for ``mean``.
        Errors: :class:`InputError` for a side that does not exist or is several; :class:`StatisticError` where the
        statistic is undefined.
        """
        sides = [AnswersOf.parse(side) for side in (first, second)]
        if test != "bootstrap" and statistic not in ("mean", "accuracy"):
            raise StatisticError(
                f"the test {test} is of a mean or an accuracy",
                why="values can be exchanged between the sides, statistics of all items cannot",
                hint="leave the test out: the p of other statistics is that of the bootstrap",
            )
        if statistic == "alpha":
            contrast = self._contrast(sides, "alpha", [self._alpha(side) for side in sides], "", resamples, seed, level)
            return contrast.about(higher="people agree more on the items of the first")
        named = statistic if isinstance(statistic, str) else ""
        if isinstance(statistic, str) and statistic not in STATISTICS:
            raise StatisticError(f"no statistic {statistic!r}", hint=f"statistics: {', '.join(STATISTICS)}")
        if named in CORRELATIONS and any(side.subject == PEOPLE and not side.measure for side in sides):
            raise StatisticError(
                f"{named} is with people's means, with which people correlate 1 by construction",
                hint="lexiscope agree says how well one rater predicts the others; people go with mean and alpha",
            )
        measures, columns = zip(*(self._column(side, named) for side in sides), strict=True)
        norm = self._norm_of(named) if named else self.norm
        has_norm = ~np.isnan(norm) if named in (*CORRELATIONS, "auc") else np.ones(len(self.items), dtype=bool)
        answered = [~np.isnan(column) & has_norm for column in columns]
        note = ""
        if sides[0].conditions == sides[1].conditions:
            both = answered[0] & answered[1]
            note = items_in_common(*(int(rows.sum()) for rows in (*answered, both)))
            answered = [both, both]
        made = [self._side(statistic, column, norm, rows) for column, rows in zip(columns, answered, strict=True)]
        name = named or getattr(statistic, "__name__", "statistic").strip("<>")
        contrast = self._contrast(sides, name, made, note, resamples, seed, level)
        if test != "bootstrap":
            contrast = contrast.about(test=self._exchanged(test, columns, answered, seed))
        return contrast.about(higher=_direction(named, measures))

    def _exchanged(
        self, test: ExactTest, columns: Sequence[Floats], rows: Sequence[NDArray[np.bool_]], seed: int
    ) -> Estimate:
        """The second test of a comparison of means, as a number with its p."""
        values = [column[own] for column, own in zip(columns, rows, strict=True)]
        names = [[label for label, kept in zip(self._labels, own.tolist(), strict=True) if kept] for own in rows]
        paired = bool(np.array_equal(rows[0], rows[1]))
        made = exchange_test(test, *values, labels=(names[0], names[1]), paired=paired, seed=seed)
        groups = len(set(names[0]) & set(names[1])) if test == "sign_flip" else len({*names[0], *names[1]})
        what = "signs turned by group" if test == "sign_flip" else "means of groups dealt out again"
        note = f"{what}: {counted(groups, self._plural.removesuffix('s'))}"
        return Estimate(made.name, made.statistic, n=sum(made.n) if not paired else made.n[0], p=made.p, note=note)

    def at_chosen_layers(
        self,
        first: str | Mapping[str, Any] | AnswersOf,
        second: str | Mapping[str, Any] | AnswersOf,
        *,
        kind: Kind = "spearman",
        resamples: int = 2000,
        seed: int = 0,
    ) -> Estimate | Undefined:
        """Return the difference of two sides whose layers were chosen on these items, allowing for the choice.

        The layer that a side names is replaced by the one chosen in each resample
        (:func:`~lexiscope.analysis.layers.layers.difference_at_chosen_layers`); a side without a layer has no choice.
        Errors: those of :meth:`compare`.
        """
        sides, norm = [], self._norm_of(kind)
        for given in (first, second):
            side = AnswersOf.parse(given)
            layers: list[int | None] = [side.layer]
            if side.layer is not None:
                own = self.responses.where(subject_id=self._subject(side.subject))
                of_view = own.where(view=side.view) if side.view else own
                numbers = of_view.column("layer")
                layers = [int(layer) for layer in np.unique(numbers[~np.isnan(numbers)])]
            sides.append(np.column_stack([self._column(replace(side, layer=layer), kind)[1] for layer in layers]))
        known = np.asarray(~np.isnan(np.column_stack([*sides, norm])).any(axis=1))
        labels = [label for label, kept in zip(self._labels, known.tolist(), strict=True) if kept]
        name = statistic_name(f"{kind}_difference_at_chosen_layers", **{"with": "norms"})
        return difference_at_chosen_layers(
            sides[0][known], sides[1][known], norm[known], kind=kind, name=name,
            groups=GroupLabels(labels, self._plural), resamples=resamples, seed=seed,
        )  # fmt: skip

    def pairs(
        self,
        sides: Mapping[str, str | Mapping[str, Any] | AnswersOf],
        statistic: str = "spearman",
        *,
        resamples: int = 2000,
        seed: int = 0,
        level: float = 0.95,
    ) -> ModelPairs:
        """Return the differences of all pairs of sides, with intervals that hold for all of them together.

        *sides* are those of models by the names that they have in the result; *statistic* is one of columns, such as
        ``spearman``. Only items that all sides answered are compared, in the same resamples as :meth:`compare`.
        Errors: those of :meth:`compare`; :class:`StatisticError` for fewer than 2 sides, or draws without a value.
        """
        columns = [self._column(AnswersOf.parse(side), statistic)[1] for side in sides.values()]
        norm = self._norm_of(statistic)
        rows = np.asarray(~np.isnan([*columns, norm]).any(axis=0))
        if not rows.any():
            raise StatisticError("there is no item that all of them answered")
        made = [self._side(statistic, column, norm, rows) for column in columns]
        codes, count = group_codes(made[0].labels, int(rows.sum()))
        draws = [side.draw(codes, count, resamples, seed) for side in made]
        reached = {
            name: Reached(side.value, own, int(rows.sum()), count)
            for name, side, own in zip(sides, made, draws, strict=True)
        }
        return model_pairs(reached, level=level)

    def over_wordings(self, *, resamples: int = 2000, seed: int = 0) -> tuple[list[WordedStatistic], list[Omission]]:
        """Return the statistics of every chat model that was asked in several wordings, and those that are undefined.

        Ratings have the correlation with people's means (Spearman), if there are any, and the mean; choices have the
        accuracy, and log-odds of two answers the area under the ROC curve. Items without an answer in every wording
        are excluded, and counted.
        """
        return self._over_levels(wordings_of(self.responses), "wording", resamples, seed)

    def over_shots(self, *, resamples: int = 2000, seed: int = 0) -> tuple[list[WordedStatistic], list[Omission]]:
        """Return the statistics of every chat model that was asked with several numbers of worked examples.

        They are those of :meth:`over_wordings`; a difference is that of more examples minus fewer, on the same items.
        """
        return self._over_levels(shots_of(self.responses), SHOTS, resamples, seed)

    def _over_levels(
        self, levels: Mapping[str, Mapping[str, str]], factor: str, resamples: int, seed: int
    ) -> tuple[list[WordedStatistic], list[Omission]]:
        worded, omissions = list[WordedStatistic](), list[Omission]()
        for subject, wordings in levels.items():
            own = self.responses.where(subject_id=tuple(wordings.values()))
            tasks = own.unique("task")
            datasets = [name for name, task in self.tasks.items() if task in tasks] if len(self.tasks) > 1 else [""]
            for dataset, view in product(datasets, own.unique("view")):
                for statistic in self._statistics_of(own.where(view=view)):
                    named = {DATASET: dataset} if dataset else {}
                    sides = [
                        AnswersOf(spec, view=view or "", measure=self._odds_of(spec, statistic), conditions=named)
                        for spec in wordings.values()
                    ]
                    try:
                        made = self._over_wordings(sides, statistic, factor, resamples, seed)
                    except (InputError, StatisticError) as error:
                        omissions.append(Omission(f"{statistic} over {_PLURAL[factor]}", error.what, subject))
                        continue
                    name = statistic_name(statistic, **({"with": "norms"} if statistic in CORRELATIONS else {}))
                    of = dataset or self.items[0].dataset
                    measured, contrasts, note = made
                    about = (of, view or "", note, self._plural, factor)
                    worded.append(WordedStatistic(name, subject, wordings, measured, contrasts, *about))
        return worded, omissions

    def _statistics_of(self, own: ResponseTable) -> tuple[str, ...]:
        measures = own.unique("measure")
        if any(measure in NEARNESS for measure in measures):
            return ("spearman", "mean") if self._has_norms else ("mean",)
        odds = ("auc",) if any(_base(measure) == MEASURE_ODDS for measure in measures) else ()
        chosen = any(measure in _CHOICES for measure in measures) or len(own.where(option=CORRECT)) > 0
        return (*odds, "accuracy") if chosen else odds

    def _odds_of(self, subject: str, statistic: str) -> str:
        """The measure of a subject's log-odds, which its wording is a part of; for another statistic nothing."""
        known = self.responses.where(subject_id=subject).unique("measure") if statistic == "auc" else ()
        return next((measure for measure in known if _base(measure) == MEASURE_ODDS), "")

    def _over_wordings(
        self, sides: Sequence[AnswersOf], statistic: str, factor: str, resamples: int, seed: int
    ) -> tuple[OverWordings, list[Contrast], str]:
        level = "wording" if factor == "wording" else "number of worked examples"
        columns = np.array([self._column(side, statistic)[1] for side in sides])
        norm = self._norm_of(statistic)
        asked, kept = ~np.isnan(columns).all(axis=0), ~np.isnan(columns).any(axis=0) & ~np.isnan(norm)
        labels = [label for label, is_kept in zip(self._labels, kept.tolist(), strict=True) if is_kept]
        if not kept.any():
            gold = statistic != "accuracy" or any(item.gold is not None for item in self.items)
            why = (
                f"no item has a readable answer {_IN[factor]} every {level}"
                if gold
                else "the items have no correct answer (gold)"
            )
            raise InputError(why)
        lost = int(asked.sum() - kept.sum())
        note = (
            f"excluded: {counted(lost, 'item')} without norm, or without an answer {_IN[factor]} each {level}"
            if lost
            else ""
        )
        used = norm[kept] if statistic in (*CORRELATIONS, "auc") else None
        made = over_wordings(statistic, list(columns[:, kept]), labels, norm=used, units=self._plural, seed=seed)
        contrasts = [
            self.compare(first, second, statistic, resamples=resamples, seed=seed)
            for first, second in combinations(sides if factor == "wording" else sides[::-1], 2)
        ]
        return made, contrasts, note

    # -- behind it --------------------------------------------------------------------------------------------------

    @property
    def _has_norms(self) -> bool:
        rated = self.responses.where(measure="rating", subject_kind=COLLECTED)
        return len(rated) > 0 or len(self.responses.where(measure="norm")) > 0

    def _norm_of(self, statistic: str) -> Floats:
        """What answers are compared with: people's means, or correct answers (1 for ``t``), or zeros."""
        if statistic == "auc":
            right = {SAME: 1.0, DIFFERENT: 0.0}
            return np.array([right.get(item.gold or "", np.nan) for item in self.items])
        return self.norm if statistic in CORRELATIONS else np.zeros(len(self.items))

    @property
    def norm(self) -> Floats:
        """People's mean of each item, or the published one; NaN where there is none. *Shape:* (items,)."""
        rated = self.responses.where(measure="rating", subject_kind=COLLECTED)
        means: dict[str, float] = self.responses.where(measure="norm").by_item()
        if len(rated):
            ratings = Ratings.from_table(rated, kinds=COLLECTED, repeats="mean")
            means |= dict(zip(ratings.item_ids, ratings.means().tolist(), strict=True))
        if not means:
            raise InputError("these responses have no ratings of people", hint="compare with accuracy or mean")
        return np.array([means.get(item.item_id, np.nan) for item in self.items])

    def _contrast(
        self,
        sides: Sequence[AnswersOf],
        name: str,
        made: Sequence[Side],
        note: str,
        resamples: int,
        seed: int,
        level: float,
    ) -> Contrast:
        difference = compare_sides(*made, resamples=resamples, seed=seed, level=level, resampled=self._plural)
        params = {"with": "norms"} if name in CORRELATIONS else {}
        plain = "".join(c if c.isalnum() else "_" for c in name).strip("_") or "statistic"
        # two measures of one subject differ in nothing else that a result can name
        measures = [f"measure={side.measure}" if side.measure else "" for side in sides]
        measures = ["", ""] if measures[0] == measures[1] else measures
        conditions = [
            ", ".join(filter(None, (side.condition, measure))) for side, measure in zip(sides, measures, strict=True)
        ]
        here, there = (
            Estimate(
                statistic_name(plain, **params),
                side.value,
                n=len(side.labels),
                subject=answers.subject,
                layer=answers.layer,
                view=answers.view,
                condition=condition,
            )
            for answers, side, condition in zip(sides, made, conditions, strict=True)
        )
        unit = "correlation" if name in CORRELATIONS else "share" if name in ("accuracy", "auc") else ""
        return Contrast(
            statistic_name(f"{plain}_difference", **params),
            here,
            there,
            difference.interval,
            difference.n,
            difference.n_groups,
            p=difference.p,
            note=note,
            unit=unit,
            view=sides[0].view if sides[0].view == sides[1].view else f"{sides[0].view} − {sides[1].view}",
            condition=conditions[0]
            if conditions[0] == conditions[1]
            else " − ".join(condition or "all" for condition in conditions),
        )

    def _side(self, statistic: Statistic, column: Floats, norm: Floats, rows: NDArray[np.bool_]) -> Side:
        x, y = column[rows], norm[rows]
        labels = [label for label, kept in zip(self._labels, rows.tolist(), strict=True) if kept]
        if isinstance(statistic, str):
            return side_of_columns(statistic, [x, y] if statistic in (*CORRELATIONS, "auc") else [x], labels)
        return side_of_rows(lambda drawn: statistic(x[drawn], y[drawn]), labels)

    def _alpha(self, side: AnswersOf) -> Side:
        if side.subject != PEOPLE:
            raise InputError(f"alpha is of people's ratings, not of {side.subject}", hint="write people name=value …")
        kept = {item.item_id for item, chosen in zip(self.items, self._chosen(side).tolist(), strict=True) if chosen}
        rated = self.responses.where(measure="rating", subject_kind=COLLECTED, item_id=tuple(kept))
        ratings = Ratings.from_table(rated, kinds=COLLECTED, repeats="mean")
        groups = dict(zip((item.item_id for item in self.items), self._labels, strict=True))
        return side_of_ratings(ratings, GroupOf(groups, self._plural))

    def _chosen(self, side: AnswersOf) -> NDArray[np.bool_]:
        """The items with the conditions of a side, of one dataset. *Shape:* (items,)."""
        chosen = np.array(
            [
                all(
                    str(item.conditions.get(name, item.dataset if name == DATASET else None)) == value
                    for name, value in side.conditions.items()
                )
                for item in self.items
            ]
        )
        if not chosen.any():
            known = sorted({name for item in self.items for name in item.conditions})
            if len(self.tasks) > 1:
                known.append(f"{DATASET} ({', '.join(self.tasks)})")
            hint = f"conditions of these items: {', '.join(known)}"
            for name in side.conditions:
                values = sorted({str(item.conditions[name]) for item in self.items if name in item.conditions})
                more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
                hint += f"; {name} is: {', '.join(values[:_MOST_VALUES])}{more}" if values else ""
            raise InputError(f"no item has {side.condition}", hint=hint)
        return chosen

    def _column(self, side: AnswersOf, statistic: str) -> tuple[str, Floats]:
        """The measure of a side and its answers in the order of the items, NaN where there is none or one of others."""
        chosen = self._chosen(side)
        if side.subject == PEOPLE and statistic != "accuracy":
            self._one_dataset(side, chosen & ~np.isnan(self.norm))
            return "rating", np.where(chosen, self.norm, np.nan)
        if side.subject == PEOPLE:
            own = self.responses.where(subject_kind=COLLECTED)
        else:
            own = self.responses.where(subject_id=self._subject(side.subject))
        # two datasets may number their items alike
        row_of = {self.items[row].item_id: row for row in np.flatnonzero(chosen).tolist()}
        own = own.where(item_id=tuple(row_of))
        dataset = self._one_dataset(
            side, chosen & np.isin([item.item_id for item in self.items], own.unique("item_id"))
        )
        own = own.where(task=self.tasks[dataset]) if dataset in self.tasks else own
        (measure,) = _only(self._measures(side, own, statistic), "measure", side, own.unique("measure"))
        own = own.where(measure=measure)
        view = side.view or _only(tuple(v or "" for v in own.unique("view")), "view", side, ())[0]
        if view and view not in own.unique("view"):
            views = ", ".join(str(name) for name in own.unique("view"))
            raise InputError(f"{side.subject} has no answers of the view {view}", hint=f"its views: {views}")
        own = own.where(view=view) if view else own
        layers = np.unique(np.nan_to_num(own.column("layer"), nan=-1.0)).astype(int).tolist()
        layer = side.layer if side.layer is not None else _only(tuple(layers), "layer", side, ())[0]
        own = own.filter(np.nan_to_num(own.column("layer"), nan=-1.0) == layer)
        if not len(own):
            raise InputError(f"{side.subject} has no layer {layer}", hint=f"its layers: {', '.join(map(str, layers))}")
        column = np.full(len(self.items), np.nan)
        if statistic == "accuracy" and measure != CORRECT:
            for item_id, share in self._right(own, measure).items():
                column[row_of[item_id]] = share
            return measure, column
        codes, item_ids = own.codes("item_id")
        repeats = own.column("repeat")
        distinct = set(zip(codes.tolist(), repeats.tolist(), strict=True))
        if len(item_ids) < len(own) and (len(distinct) < len(own) or np.isnan(repeats).any()):
            what = f"{side.subject} has several answers of the measure {measure} to one item"
            raise InputError(what, hint="compare a measure with one answer to each item: measure=…")
        signs = DEGREES if statistic == "auc" else NEARNESS
        sign = signs.get(_base(measure) if statistic == "auc" else measure, 1.0) if statistic != "mean" else 1.0
        values = sign * own.column("value")
        values = values if self.decimals is None else values.round(self.decimals)
        rows = np.array([row_of[item_id] for item_id in item_ids], dtype=np.int64)
        if len(item_ids) == len(own):
            column[rows[codes]] = values
            return measure, column
        # the same question asked repeatedly: the mean of its answers
        read = ~np.isnan(values)
        sums = np.bincount(codes[read], values[read], minlength=len(item_ids))
        with np.errstate(invalid="ignore"):
            column[rows] = sums / np.bincount(codes[read], minlength=len(item_ids))
        return measure, column

    def _one_dataset(self, side: AnswersOf, answered: NDArray[np.bool_]) -> str:
        """The dataset of the items that a side answered: numbers of two datasets do not meet in one statistic."""
        names = dict.fromkeys(self.items[row].dataset for row in np.flatnonzero(answered).tolist())
        return str(_only(tuple(names), DATASET, side, ())[0]) if self.tasks and names else ""

    def _measures(self, side: AnswersOf, own: ResponseTable, statistic: str) -> tuple[str, ...]:
        """The measures that a side may be of: the named one, else those that the statistic is of."""
        measures = own.unique("measure")
        if side.measure:
            return (side.measure,)
        if statistic == "auc":
            return tuple(measure for measure in measures if _base(measure) in DEGREES)
        if statistic != "accuracy":
            return tuple(measure for measure in measures if measure in NEARNESS)
        chosen = tuple(measure for measure in measures if measure in _CHOICES)
        if CORRECT in measures or chosen or not len(own.where(option=CORRECT)):
            return (CORRECT,) if CORRECT in measures else chosen
        return tuple(decisions_of(own, subject=own.unique("subject_id")[0], per=self.per))[:1]

    def _right(self, own: ResponseTable, measure: str) -> Mapping[str, float]:
        """The share of right decisions by item, of those who were asked it; a refused answer is not right."""
        if measure not in _CHOICES:
            decided = decide(own, subject=own.unique("subject_id")[0], measure=measure)
            return dict(zip(decided.item_ids, decided.correct.astype(np.float64).tolist(), strict=True))
        gold = {item.item_id: item.gold for item in self.items if item.gold is not None}
        right: dict[str, list[bool]] = {}
        for subject in own.unique("subject_id"):
            ((_, answers),) = answers_by_view(own, subject=subject, measure=measure).items()
            for item_id, option in answers.items():
                if item_id in gold:
                    right.setdefault(item_id, []).append(is_right(option, gold[item_id]))
        return {item_id: float(np.mean(decisions)) for item_id, decisions in right.items()}

    def _subject(self, name: str) -> str:
        known = self.responses.unique("subject_id")
        matches = [subject for subject in known if subject == name] or [
            subject
            for subject in known
            if name in (plain_name(subject), *(subject.rpartition(mark)[2] for mark in (":", "/")))
        ]
        if len(matches) != 1:
            kinds = self.responses.where(subject_kind=COLLECTED).unique("subject_id")
            models = ", ".join(subject for subject in known if subject not in kinds)
            raise InputError(f"{name!r} names no subject, or several", hint=f"subjects: {PEOPLE}, {models}")
        return str(matches[0])

    @property
    def _has_words(self) -> bool:
        return any(item.usages or "word" in item.conditions for item in self.items)

    @property
    def _has_sentences(self) -> bool:
        # items made of one sentence are not independent, though their words differ
        return all("sentence" in item.conditions for item in self.items)

    @property
    def _plural(self) -> str:
        return "sentences" if self._has_sentences else "words" if self._has_words else "items"

    @property
    def _labels(self) -> GroupLabels:
        """The sentence that each item was made of, or its word; without words, each item is a separate group."""
        if self._has_sentences:
            return GroupLabels((item.conditions["sentence"] for item in self.items), self._plural)
        names = (item.word.casefold() if self._has_words else item.item_id for item in self.items)
        return GroupLabels(names, self._plural)


def items_in_common(first: int, second: int, both: int) -> str:
    """Return how many items each side of a comparison has, where those of both, which are compared, are fewer.

    >>> items_in_common(100, 90, 85), items_in_common(90, 90, 90)
    ('items: 100 of the first, 90 of the second; compared: the 85 of both', '')
    """
    if first == second == both:
        return ""
    return f"items: {first:,} of the first, {second:,} of the second; compared: the {both:,} of both"


def _direction(statistic: str, measures: Sequence[str]) -> str:
    """What a positive difference of two sides means; nothing is known of a function."""
    distances = all(NEARNESS.get(measure, 0.0) < 0 for measure in measures)
    if statistic == "r_squared":
        return "the first explains more of people's means"
    if statistic in CORRELATIONS:
        return f"the first is closer to people's means{' (distances count as nearness)' if distances else ''}"
    if statistic == "mean":
        return f"the first has larger {'distances: its usages are less related' if distances else 'answers'}"
    if statistic == "auc":
        return "the first separates correct answers of both kinds better"
    return "the first is right more often" if statistic == "accuracy" else ""


def wordings_of(responses: ResponseTable) -> dict[str, dict[str, str]]:
    """Return the models that answered in several wordings: id without a wording → wording → id.

    A wording is the option ``variant`` of a model; without one it is asked in the task's guidelines, or, if it scores
    texts, in the task's first wording.

    >>> columns = {"subject_kind": "chat", "item_id": "i", "task": "relatedness", "measure": "rating"}
    >>> ids = ["chat:m@http://h/v1", "chat:m@http://h/v1?variant=short.yaml", "chat:n@http://h/v1"]
    >>> wordings_of(ResponseTable.from_columns({"subject_id": ids} | columns))["chat:m@http://h/v1"]["short.yaml"]
    'chat:m@http://h/v1?variant=short.yaml'
    """
    models: dict[str, dict[str, str]] = {}
    for name, kind in product(responses.unique("task"), responses.unique("subject_kind")):
        task = catalog.task(name) if catalog.has("tasks", name) else None
        if takes_wordings(kind, task):
            for subject in responses.where(subject_kind=kind, task=name).unique("subject_id"):
                model, variant = without_option(subject, "variant")
                models.setdefault(model, {})[variant or default_wording(kind, task)] = subject
    return {model: wordings for model, wordings in models.items() if len(wordings) > 1}


def shots_of(responses: ResponseTable) -> dict[str, dict[str, str]]:
    """Return the chat models that answered with several numbers of worked examples: id without it → number → id.

    >>> columns = {"subject_kind": "chat", "item_id": "i", "task": "relatedness", "measure": "rating"}
    >>> ids = ["chat:m@http://h/v1?shots=4", "chat:m@http://h/v1", "chat:n@http://h/v1"]
    >>> shots_of(ResponseTable.from_columns({"subject_id": ids} | columns))
    {'chat:m@http://h/v1': {'zero-shot': 'chat:m@http://h/v1', '4-shot': 'chat:m@http://h/v1?shots=4'}}
    """
    models: dict[str, dict[int, str]] = {}
    for kind in responses.unique("subject_kind"):
        for subject in responses.where(subject_kind=kind).unique("subject_id") if takes_wordings(kind) else ():
            model, shots = without_option(subject, "shots")
            models.setdefault(model, {})[int(shots or 0)] = subject
    return {
        model: {f"{n}-shot" if n else "zero-shot": by_number[n] for n in sorted(by_number)}
        for model, by_number in models.items()
        if len(by_number) > 1
    }


_PLURAL = {"wording": "wordings", SHOTS: "worked examples"}
_IN = {"wording": "in", SHOTS: "with"}


def _base(measure: str) -> str:
    return measure.partition("(")[0]


def _only(values: tuple[Any, ...], what: str, side: AnswersOf, known: Sequence[str]) -> tuple[Any]:
    if len(values) != 1:
        listed = ", ".join(map(str, values or known)) or "none"
        how = "SUBJECT@LAYER" if what == "layer" else f"{what}=…"
        raise InputError(f"{side.subject} has {len(values)} {what}s to compare: {listed}", hint=f"choose one: {how}")
    return (values[0],)


def rule_scores(
    items: Sequence[Item], task: str, words: Mapping[str, str], *, measure: str, resamples: int, seed: int
) -> tuple[list[Record], list[str]]:
    """Return the accuracy of each rule of a task that learns nothing, and why others were not asked; words resampled.

    *words* are what is resampled, by item id. RANDOM is not asked: it is a closed form.
    """
    records, reasons = [], []
    gold = {item.item_id: str(item.gold) for item in items}
    for rule in (f"baseline:{name}" for name in catalog.task(task).baselines if name != "random"):
        try:
            answers, missing = baseline_answers(items, rule, task)
        except InputError as error:  # items without the part of speech that a rule needs
            missing = error.what
        if missing:
            reasons.append(f"{rule} was not asked: {missing}.")
            continue
        scored = scored_views(answers, gold, words, subjects=(rule,), measure=measure)
        score = draw_scores(scored, resamples=resamples, seed=seed).values["full"]
        records.append(with_interval(Record("accuracy", score.value, rule, view="full", n=score.n), score.interval))
    return records, reasons
