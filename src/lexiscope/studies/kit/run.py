"""A run: its settings, answers and data, and what a question of a study sees of people and models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.agreement.ceilings import (
    leave_one_out_rho,
    mean_squared_rho,
    split_half,
    squared_mean_rho,
)
from lexiscope.analysis.agreement.raters import RaterAgreement, leave_one_out, model_place
from lexiscope.analysis.bootstrap import (
    Bootstrap,
    GroupLabels,
    GroupOf,
    GroupResampling,
    Resampling,
    group_resampling,
    percentile_interval,
    resampled_units,
)
from lexiscope.analysis.comparison import bootstrap_p
from lexiscope.analysis.correlation import Kind, correlate_columns, correlation_draws, correlation_value
from lexiscope.analysis.layers.layers import (
    LeftOutDraws,
    OfRows,
    correlations_by_layer,
    difference_at_chosen_layers,
    left_out_draws,
    statistic_by_layer,
)
from lexiscope.analysis.mixed.tested import MixedTest, OrdinalTest, mixed_test, ordinal_test
from lexiscope.analysis.ranks import rank_results
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.dataset import Dataset, DatasetCard
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import (
    NO_INTERVAL,
    Contrast,
    Curve,
    Curves,
    Estimate,
    Record,
    Result,
    Undefined,
    parse_statistic,
    statistic_name,
)
from lexiscope.core.settings import Settings, own_items
from lexiscope.core.showing import call_presenter, counted
from lexiscope.core.simulated import COLLECTED
from lexiscope.core.study import PublishedValue, Question
from lexiscope.report.document import Section
from lexiscope.report.part import Part, short_titles
from lexiscope.studies.kit.answers import NEARNESS, PEOPLE, ComparableAnswers, Statistic, Test, items_in_common

# -- the run of any study: settings, answers, and the data that they are about --------------------------------------


S = TypeVar("S", bound=Settings)
R = TypeVar("R", bound=Result)
V = TypeVar("V")


class RunData(Generic[S]):
    """What the questions of a study see. A study's own class is a dataclass with these fields and its own.

    ``name`` is the dataset's, ``responses`` every answer of the run (of people, recorded and live subjects),
    ``checksums`` the sha256 of the files that were read, by name.
    """

    if TYPE_CHECKING:
        # fields of the dataclass below it, or properties; here they would be defaults of its fields

        @property
        def name(self) -> str:
            """The name of the dataset."""

        @property
        def settings(self) -> S:
            """The settings of the run."""

        @property
        def responses(self) -> ResponseTable:
            """Every answer."""

        @property
        def card(self) -> DatasetCard | None:
            """What the data are."""

        @property
        def checksums(self) -> Mapping[str, str]:
            """The sha256 of the files that were read, by name."""

    # -- what a study may say of its run ----------------------------------------------------------------------------

    @property
    def own(self) -> bool:
        """Whether the items are the user's own: no paper prints a number of them."""
        return bool(own_items(self.settings))

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of what, for ``run.json``."""
        return {"responses": len(self.responses)}

    @property
    def record(self) -> Mapping[str, object]:
        """What else ``run.json`` says of the run: plain values."""
        return {}

    @property
    def cards(self) -> Sequence[tuple[DatasetCard, str]]:
        """The cards of the data with the id of their sections."""
        return ((self.card, "data"),) if self.card is not None else ()

    @property
    def sources(self) -> Mapping[str, str]:
        """The sha256 of the files that the data card names, by name: those of the data, and of files with answers."""
        return self.checksums

    @property
    def names(self) -> Mapping[str, str]:
        """What subjects are called in the report, by their ids."""
        return short_titles(self.responses.unique("subject_id"))

    @property
    def single(self) -> Mapping[str, Sequence[float]]:
        """Values of single people that the Results page draws as dots, by name."""
        return {}

    @property
    def other_kind(self) -> tuple[str, frozenset[str]]:
        """The name of a kind of subject that is rare among the others (*multilingual*), and the ids of its subjects."""
        return "", frozenset()

    @property
    def examples(self) -> Sequence[str]:
        """Two items of the run as text, as the report shows them; none if the run does not hold its items."""
        return ()

    def shown_records(self, records: Sequence[Record]) -> Sequence[Record]:
        """Return the records that the Results page is made from: those of the main view, if there are several."""
        return records

    def has(self, what: str) -> bool:
        """Whether the run has what a question needs. Errors: :class:`InputError` if it cannot know that."""
        raise InputError(f"a question of this study cannot need {what!r}")

    def asks(self, question: Question) -> Question:
        """Return a question of the study as this run asks it: of other items, perhaps in other words."""
        return question

    def printed_values(self, values: Mapping[str, Sequence[PublishedValue]]) -> Sequence[PublishedValue]:
        """Return, of what papers print (by dataset), what this run is compared with."""
        return () if self.own else values.get(self.name, ())

    def mark_simulated(self, name: str, part: Part) -> Part:
        """Return a part, of the question or section *name*, with the mark of simulated participants where it has any.

        A run whose judgments are all simulated is marked as a whole when it is written: only a run in which some are
        says here which.
        """
        return part

    def mark_section(self, section: Section) -> Section:
        """Return a section of the report with that mark where it names people."""
        return section

    # -- what every study needs -------------------------------------------------------------------------------------

    def once(self, make: Callable[[Any], V]) -> V:
        """Return ``make(self)``, computed at the first call: what several questions need is computed once."""
        kept: dict[Any, Any] = self.__dict__.setdefault("_once", {})
        if make not in kept:
            kept[make] = make(self)
        return cast(V, kept[make])

    @property
    def resampling(self) -> Resampling:
        """How statistics of this run make their intervals: ``statistic(ratings, **run.resampling)``."""
        return {"resamples": self.settings.n_bootstrap, "seed": self.settings.seed}

    def resampling_of(self, groups: Mapping[str, str], items: Iterable[str] | None = None) -> GroupResampling:
        """Return the same with the groups (words) of some items, which are resampled whole; by default, of all."""
        return group_resampling(groups, items, **self.resampling)

    def number(self, statistic: str, value: float | None, **about: Any) -> Record:
        """Return a plain number of the dataset as a record; *about* are its other fields (``n``, ``condition``)."""
        return Record(statistic, value, **({"dataset": self.name} | about))

    def about(self, result: R, **where: Any) -> R:
        """Return a result with the dataset's name and what else it is about."""
        return result.about(**({"dataset": self.name} | where))

    def about_all(self, results: Iterable[R], **where: Any) -> list[R]:
        """Return results as :meth:`about` returns each of them."""
        return [self.about(result, **where) for result in results]

    def labelled(self, results: Mapping[str, Result]) -> dict[str, Record]:
        """Return results of one number each as records of this run, by the same labels: the rows of a table."""
        return {label: self.about(result).records()[0] for label, result in results.items()}

    def attempt(self, name: str, make: Callable[[], V], **where: Any) -> V | Undefined:
        """Return what *make* returns, or why it is undefined on these numbers: one statistic does not stop a study."""
        try:
            return make()
        except StatisticError as error:
            return self.about(Undefined(name, error.what), **where)

    def attempt_all(self, name: str, make: Callable[[], Result | Iterable[Result]], /, **where: Any) -> list[Result]:
        """Return the results that *make* returns, or one with the reason why they are undefined; all about *where*."""
        results = self.attempt(name, make)
        return self.about_all([results] if isinstance(results, Result) else results, **where)


# ---------------------------------------------------------------------------------------------------------------------


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Run(RunData[S]):
    """Items with the answers of people and models, and the settings of the run.

    ``rows`` are the items that are looked at (all of them, or those of a condition: :meth:`where`). Arrays are in the
    order of :attr:`items`. All intervals resample words: items of one word are not independent.
    """

    data: Dataset
    answers: ResponseTable
    settings: S
    rows: tuple[int, ...] | None = None
    label: str = ""

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.data.card.name

    @property
    def card(self) -> DatasetCard:
        """What the data are."""
        return self.data.card

    @cached_property
    def responses(self) -> ResponseTable:
        """Every answer: those of the data, and those of the live subjects."""
        return ResponseTable.concat([self.data.responses, self.answers])

    @property
    def checksums(self) -> Mapping[str, str]:
        """The sha256 of the data files, by name."""
        return dict(self.data.checksums)

    @property
    def counts(self) -> Mapping[str, int]:
        """Items, responses and words."""
        words = len({item.word for item in self.data.items})
        return {"items": len(self.data.items), "responses": len(self.responses), "words": words}

    def __repr__(self) -> str:
        words = counted(len({item.word for item in self.items}), "word")
        parts = [f"{self.data.card.name}: {counted(len(self.items), 'item')}", words, *self._sizes()]
        return f"Run({', '.join([*parts, *([self.label] if self.label else [])])})"

    def _repr_html_(self) -> str:
        title = f"Run of {self.data.card.title}" + (f", {self.label}" if self.label else "")
        shown = self.items[:10]
        columns: dict[str, list[object]] = {
            "item_id": [item.item_id for item in shown],
            "word": [item.word for item in shown],
        }
        if self.has("norms"):
            columns["norm"] = [None if np.isnan(value) else f"{value:.2f}" for value in self.norm[:10].tolist()]
        return cast(str, call_presenter("html_of", title, columns, repr(self)))

    def _sizes(self) -> tuple[str, ...]:
        # counted from the tables: nothing is computed, and nothing refused, to show what there is
        recorded = self.data.responses
        people = recorded.where(subject_kind=COLLECTED).unique("subject_id")
        others = {*recorded.unique("subject_id"), *self.answers.unique("subject_id")} - {*people, "norm"}
        return (counted(len(people), "participant"), counted(len(others), "model"))

    # -- what there is ----------------------------------------------------------------------------------------------

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The items that are looked at."""
        every = self.data.items
        return every if self.rows is None else tuple(every[row] for row in self.rows)

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """The items by their ids."""
        return {item.item_id: item for item in self.items}

    @cached_property
    def words(self) -> dict[str, str]:
        """The word of each item, by its id: what intervals resample."""
        return GroupOf({item.item_id: item.word for item in self.items}, "words")

    @cached_property
    def people(self) -> Ratings:
        """The ratings of people: participants only. Errors: :class:`InputError` where there are none."""
        ratings = self._ratings
        if ratings is None:
            raise InputError(f"{self.data.card.name} has no ratings of people", hint='ask with needs="ratings"')
        return ratings

    def ratings_of_parts(self, parts: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, Ratings]]:
        """Yield the ratings of people of each part of the items (their ids) that has ratings, after its name."""
        for name, items in parts.items() if self.has("ratings") else ():
            ratings = self.people.of_items(tuple(items))
            if len(ratings):
                yield name, ratings

    @cached_property
    def item_rows(self) -> NDArray[np.int64]:
        """The row of the item that each rating of people is of. *Shape:* (ratings,)."""
        rows = {item_id: row for row, item_id in enumerate(self.words)}
        return np.array([rows[item_id] for item_id in self.people.item_ids])[self.people.item]

    @cached_property
    def norm(self) -> Floats:
        """The mean rating of each item, NaN for an item without a rating. *Shape:* (items,).

        The published means, if no single ratings were published. Errors: :class:`InputError` without either.
        """
        published = self._published_means
        if self._ratings is None and published:
            return np.array([published.get(item.item_id, np.nan) for item in self.items])
        means = dict(zip(self.people.item_ids, self.people.means().tolist(), strict=True))
        return np.array([means.get(item.item_id, np.nan) for item in self.items])

    @cached_property
    def has_norm(self) -> NDArray[np.bool_]:
        """Which items have a norm. *Shape:* (items,)."""
        return ~np.isnan(self.norm)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models that answered, in the order of their answers."""
        return tuple(dict.fromkeys(subject for subject, _ in self._columns))

    @property
    def single(self) -> Mapping[str, Sequence[float]]:
        """The agreement of each rater with the mean of the others (ρ), if there are ratings: ``raters``."""
        try:
            return {"raters": self._rater_agreement.values.tolist()} if self._ratings is not None else {}
        except StatisticError:
            # fewer than two raters, or no rater with two different ratings
            return {}

    @property
    def examples(self) -> Sequence[str]:
        """The first two items with texts, each with its mean rating if it has one."""
        texts: list[str] = []
        for row, item in enumerate(self.items):
            if item.usages and len(texts) < 2:
                norm = float(self.norm[row]) if self.has("norms") else np.nan
                rated = f" Mean rating {norm:.2f}." if norm == norm else ""
                texts.append(f"{' · '.join(usage.text for usage in item.usages)} (word: {item.word}.{rated})")
        return texts

    @cached_property
    def bootstrap(self) -> Bootstrap:
        """How intervals are made: the words of the rated items, and the settings of the run."""
        return self._bootstrap_of(self.has_norm)

    def has(self, what: str) -> bool:
        """Whether there are ``ratings`` of people, ``norms`` at least, ``models``, or ``layers`` of a model."""
        if what == "ratings":
            return self._ratings is not None
        if what == "norms":
            return self._ratings is not None or bool(self._published_means)
        if what == "models":
            return bool(self.models)
        if what == "layers":
            return any(layer is not None for _, layer in self._columns)
        raise InputError(f"a question cannot need {what!r}", hint="it can need ratings, norms, models, layers")

    def where(self, **conditions: Condition) -> Run[S]:
        """Return the run of the items with these conditions. Errors: :class:`InputError` where there are none."""
        kept = [
            row
            for row, item in enumerate(self.data.items)
            if (self.rows is None or row in self.rows)
            and all(item.conditions.get(name) == value for name, value in conditions.items())
        ]
        label = ", ".join(f"{name}={value}" for name, value in conditions.items())
        if not kept:
            raise InputError(f"no item has {label}")
        joined = ", ".join(filter(None, (self.label, label)))
        return Run(self.data, self.answers, self.settings, tuple(kept), joined)

    def by(self, condition: str) -> tuple[Run[S], ...]:
        """Return the runs of the values that a condition takes, in sorted order."""
        values = sorted({item.condition(condition) for item in self.items}, key=str)
        return tuple(self.where(**{condition: value}) for value in values)

    # -- statistics -------------------------------------------------------------------------------------------------

    def means(self, by: str = "", *, of: str = PEOPLE, layer: int | None = None) -> tuple[Estimate, ...]:
        """Return the mean of the items' ratings (of people: of their norms) for each value of a condition."""
        parts = self.by(by) if by else (self,)
        return tuple(part._mean(of, layer) for part in parts)

    def agreement(self) -> Estimate | Undefined:
        """Return the mean over people of the correlation of one with the mean of the others, or why it is undefined."""
        try:
            raters = self._rater_agreement
        except StatisticError as error:
            name = statistic_name("leave_one_out_agreement", method="spearman")
            reason = "; ".join(filter(None, (error.what, error.why)))
            return self.about(Undefined(name, reason, len(self.people.rater_ids)), subject=PEOPLE)
        result = Estimate(raters.name, raters.mean, raters.interval, raters.n_raters)
        return self.about(result, subject=PEOPLE, unit="correlation", higher="people agree more")

    def ceilings(self) -> tuple[Estimate | Undefined, ...]:
        """Return the human ceilings, each by its name."""

        def attempt(name: str, make: Callable[[], Estimate]) -> Estimate | Undefined:
            return self.attempt(name, lambda: self.about(make(), subject=PEOPLE))

        return (
            attempt("mean_rater_correlation", lambda: leave_one_out_rho(self._rater_agreement)),
            attempt("squared_mean_rater_correlation", lambda: squared_mean_rho(self._rater_agreement)),
            attempt("mean_squared_rater_correlation", lambda: mean_squared_rho(self._rater_agreement)),
            attempt("split_half", lambda: split_half(self.people, seed=self.settings.seed)),
        )

    def fit(self, statistic: Kind = "spearman", *, subjects: Sequence[str] = ()) -> Curves:
        """Return the correlation of each model with people's means: of each layer where it has layers.

        Signs are turned once: distances count as nearness. *Higher means:* closer to people.
        """
        self._require_models()
        chosen = subjects or self.models
        unknown = [name for name in chosen if name not in self.models]
        if unknown:
            raise InputError(f"no model {unknown[0]!r} answered", hint=f"models of this run: {', '.join(self.models)}")
        return Curves(tuple(self._fit(statistic, subject) for subject in chosen))

    def each_model(
        self, name: str, statistic: OfRows, *, better: Literal["higher", "lower"] = "higher", **about: Any
    ) -> Curves:
        """Return your own statistic of each model, layer by layer, with intervals and a choice of layer as :meth:`fit`.

        *statistic* gets the answers of a model at one layer, for each item (higher = more related; NaN without a
        readable answer), and the indices of the items drawn: a word that is drawn twice comes twice. It returns a
        number; if it raises :class:`StatisticError` or returns NaN, it is undefined there. *about* are fields of the
        results (``unit``, ``higher``: what a higher value means). Errors: :class:`InputError` if no model answered.
        """
        self._require_models()
        return Curves(tuple(self._each(name, statistic, better, subject, about) for subject in self.models))

    def ranks(
        self,
        statistic: Kind = "spearman",
        *,
        among: Mapping[tuple[str, int | None], Floats] | None = None,
        **about: Any,
    ) -> list[Estimate | Undefined]:
        """Return the rank of each model by its correlation with people's means, with the set of ranks left open.

        *among* are the answers of the models, higher = nearer, by subject and layer; by default those of this run, each
        model at its best layer. *Shape of each:* (items,), NaN where there is none. *about* are fields of the results.
        Only items that all of them answered are compared (:func:`~lexiscope.analysis.ranks.rank_results`).
        """
        sides = self._nearest(statistic) if among is None else among
        columns = {subject: column[self.has_norm] for (subject, _), column in sides.items()}
        results = rank_results(statistic, columns, self.norm[self.has_norm], **self.bootstrap.options)
        layers = [layer for _, layer in sides]
        chosen = (
            "each at its best layer, chosen on the same items" if any(layer is not None for layer in layers) else ""
        )
        return [
            self.about(result, layer=layer, note=_join_notes(result.note, chosen), **about)
            for result, layer in zip(results, layers, strict=bool(results))
        ]

    def compare(
        self,
        first: Estimate | str | Mapping[str, Any],
        second: Estimate | str | Mapping[str, Any],
        statistic: Statistic = "spearman",
        *,
        test: Test = "bootstrap",
    ) -> Contrast:
        """Return the difference of two sides, *first* minus *second*, on the same resamples of words, with its p.

        A side is an estimate of :meth:`fit`, or a subject with its layer, view and conditions: ``"minilm@7"``,
        ``"minilm@7 view=word"``, ``"people same_sense=True"``, or a mapping with these names. *statistic* is that of
        such sides: ``spearman``, ``pearson``, ``r_squared``, ``accuracy``, ``mean``, ``alpha``, or a function of
        answers and norms, and *test* a second test of a mean or an accuracy, ``sign_flip`` or ``permutation``
        (:meth:`~lexiscope.studies.kit.answers.ComparableAnswers.compare`).
        Errors: :class:`StatisticError` for two statistics, and for an estimate that :meth:`fit` did not make;
        :class:`InputError` for a side that does not exist or is several.
        """
        if not (isinstance(first, Estimate) and isinstance(second, Estimate)):
            if isinstance(first, Estimate) or isinstance(second, Estimate):
                raise StatisticError("one side is an estimate, the other is not", hint="name both sides, or none")
            answers = ComparableAnswers(self.responses, self.items)
            return self.about_named(answers.compare(first, second, statistic, test=test, **self.resampling))
        if test != "bootstrap":
            raise StatisticError(f"the test {test} is of a mean or an accuracy, not of {first.name}")
        if first.name != second.name:
            raise StatisticError(f"{first.name} and {second.name} are two statistics: there is no difference")
        for estimate in (first, second):
            if (
                "with" not in parse_statistic(estimate.name)[1]
                or (estimate.subject, estimate.layer) not in self._columns
            ):
                what = f"{estimate.name} of {estimate.subject or 'no subject'} is not an estimate of this run's models"
                raise StatisticError(what, hint="compare two estimates of fit(): fit().best(2), fit().of(NAME)")
        kind = cast(Kind, parse_statistic(first.name)[0])
        columns = np.array([self._columns[estimate.subject, estimate.layer] for estimate in (first, second)]).T
        both = self.has_norm & ~np.isnan(columns).any(axis=1)
        boot, n = self._bootstrap_of(both), int(both.sum())
        # on the items that both answered: a difference of two sets of items would be none of the models
        values = [correlation_value(column, self.norm[both], kind=kind) for column in columns[both].T]
        here, there = (
            replace(estimate, value=value, n=n) for estimate, value in zip((first, second), values, strict=True)
        )
        interval, p = NO_INTERVAL, None
        if boot.resamples:
            draws = correlation_draws(
                columns[both], self.norm[both], kind=kind, groups=boot.groups, resamples=boot.resamples, seed=boot.seed
            )
            units, n_groups = resampled_units(boot.groups), len(set(boot.groups))
            difference = draws[:, 0] - draws[:, 1]
            interval = percentile_interval(difference, level=boot.level, resampled=units, n_groups=n_groups)
            p = bootstrap_p(difference, n_groups=n_groups) if interval.is_defined else None
        note = items_in_common(first.n, second.n, n)
        name = statistic_name(f"{kind}_difference", **{"with": "norms"})
        contrast = Contrast(name, here, there, interval, n, len(set(boot.groups)), p=p, note=note)
        if contrast.caution:
            contrast = contrast.about(chosen=self._at_chosen_layers(first, second, kind))
        return self.about(contrast, unit="correlation", higher="the first is closer to people")

    def _at_chosen_layers(self, first: Estimate, second: Estimate, kind: Kind) -> Estimate | Undefined:
        """Return the difference of two models, each at the layer that was chosen on the words that were drawn."""
        layers = [
            tuple(name for name in self._columns if name[0] == side.subject)
            if side.caution
            else ((side.subject, side.layer),)
            for side in (first, second)
        ]
        columns = np.array([self._columns[name] for names in layers for name in names])
        known = self.has_norm & ~np.isnan(columns).any(axis=0)
        boot, name = (
            self._bootstrap_of(known),
            statistic_name(f"{kind}_difference_at_chosen_layers", **{"with": "norms"}),
        )
        if not boot.resamples:
            return Undefined(name, "nothing was resampled", int(known.sum()))
        try:
            # a model that is compared with several others is resampled once
            left, right = (self.once(_LeftOutWords(names, kind, known.tobytes())) for names in layers)
            return difference_at_chosen_layers(
                left, right, self.norm[known], kind=kind, name=name, groups=boot.groups, level=boot.level,
                resamples=boot.resamples, seed=boot.seed,
            ).about(unit="correlation")  # fmt: skip
        except StatisticError as error:
            return Undefined(name, error.what, int(known.sum()))

    def about_named(self, contrast: Contrast) -> Contrast:
        """Return a comparison with the dataset and the run; its conditions follow those of the run."""

        def joined(result: Estimate | Contrast) -> str:
            return ", ".join(filter(None, (self.label, result.condition)))

        here, there = (side.about(condition=joined(side)) for side in contrast.pair)
        named = replace(contrast, first=here, second=there)
        return named.about(dataset=self.name, run=self, condition=joined(contrast))

    def raters_below(self, model: Estimate) -> Estimate:
        """Return the share of people who agree less with the others' means than a model does with all means.

        The interval is Wilson's; people are the sample. If the layer was chosen on the same items, the result says
        so; the ``chosen`` of a curve (``fit().of(NAME).chosen``) allows for it, and so does its place.
        """
        chosen = parse_statistic(model.name)[1].get("layer") == "chosen"
        result = model_place(self._rater_agreement, model.value, chosen=chosen)
        about = {"subject": model.subject, "layer": model.layer, "unit": "share", "chosen_from": model.chosen_from}
        return self.about(result, higher="the model is closer to people than more of them are", **about)

    def mixed(
        self, formula: str, without: str, *, name: str = "larger model", starts: int = 5, reml: bool = False
    ) -> MixedTest:
        """Return a mixed model of single ratings with the likelihood-ratio test against the model *without* a part.

        Columns of the formulas: ``rating``, ``participant``, ``item``, ``word``, the conditions of the items, and each
        model's answers under its id as :meth:`frame` writes it. Estimates are by maximum likelihood, or with *reml* by
        REML; the test is then by maximum likelihood if the models differ in fixed effects.

        The result has variances, degrees of freedom, residuals and predictions:

        >>> from lexiscope import Ratings, analyse
        >>> raters, items = [f"r{n // 8}" for n in range(48)], [f"i{n % 8}" for n in range(48)]
        >>> values = [1 + (n % 8) % 4 + (n // 8) % 2 + (n * 7 % 5) / 5 for n in range(48)]
        >>> run = analyse(Ratings.from_arrays(raters, items, values))
        >>> both = "rating ~ 1 + (1 | participant) + (1 | item)"
        >>> fit = run.mixed(both, "rating ~ 1 + (1 | item)", reml=True)
        >>> [variance.name for variance in fit.variances][1:]
        ['variance(group=item,term=Intercept)', 'variance(group=Residual)']
        >>> [f"{effect} {df:.1f}" for effect, df in fit.df_of_terms.items()]
        ['(Intercept) 9.8']
        >>> fit.residuals().shape, bool(np.allclose(fit.predict() + fit.residuals(), values))
        ((48,), True)
        """
        data, dropped = _complete_rows(self.rating_columns(), f"{formula} {without}")
        result = mixed_test(
            formula, without, data, name=name, reml=reml, starts=starts, seed=self.settings.seed,
            level=self.bootstrap.level,
        )  # fmt: skip
        return self._about_rows(result, dropped)

    def ordinal(self, formula: str, without: str, *, link: str = "logit", name: str = "larger model") -> OrdinalTest:
        """Return an ordinal (cumulative link) mixed model of single ratings with its likelihood-ratio test.

        As :meth:`mixed`, with the ratings as ordered categories: the coefficients are on the latent scale of the link
        (logit, probit), the thresholds between the points of the scale come before the effects.

        >>> from lexiscope import Ratings, analyse
        >>> raters, items = [f"r{n // 8}" for n in range(48)], [f"i{n % 8}" for n in range(48)]
        >>> values = [1 + (n % 8 + n // 8 + n * 7 % 5) // 6 for n in range(48)]  # r0 gives the lowest ratings
        >>> run = analyse(Ratings.from_arrays(raters, items, values))
        >>> fit = run.ordinal("rating ~ 1 + (1 | participant) + (1 | item)", "rating ~ 1 + (1 | item)")
        >>> [threshold.condition for threshold in fit.thresholds]
        ['1|2', '2|3']
        >>> max(fit.severity(), key=lambda rater: rater.value).subject
        'r0'
        """
        data, dropped = _complete_rows(self.rating_columns(), f"{formula} {without}")
        seed, level = self.settings.seed, self.bootstrap.level
        return self._about_rows(
            ordinal_test(formula, without, data, name=name, link=link, seed=seed, level=level), dropped
        )

    def _about_rows(self, result: R, dropped: int) -> R:
        """Return the test of a mixed model with the ratings that it was not fitted to, before its own remarks."""
        missing = f"excluded: {counted(dropped, 'rating')} of items that a model did not answer" if dropped else ""
        return self.about(result, note=_join_notes(missing, result.note))

    def frame(self) -> Any:
        """Return one row per rating as a pandas table: rating, participant, item, word, conditions, models' answers."""
        return call_presenter("frame_of", self.rating_columns())

    def plot(self, statistic: Kind = "spearman", title: str = "") -> Any:
        """Return how close models come to people as a figure: over layers, if a model has layers (:meth:`fit`)."""
        return self.fit(statistic).plot(title)

    # -- behind it --------------------------------------------------------------------------------------------------

    def about(self, result: R, **where: Any) -> R:
        """Return a result with the dataset, the condition and the run that it is of; one of all items keeps its own."""
        condition = self.label or result.condition
        return result.about(**({"dataset": self.name, "condition": condition, "run": self} | where))

    def _bootstrap_of(self, rows: NDArray[np.bool_]) -> Bootstrap:
        """How intervals of some of the items are made: their words are resampled."""
        words = GroupLabels((item.word for item in self.items), "words")
        return Bootstrap(words, self.settings.n_bootstrap, self.settings.seed).of(rows)

    @cached_property
    def _ratings(self) -> Ratings | None:
        ids = {item.item_id for item in self.items}
        table = self.data.responses.where(measure="rating", subject_kind=COLLECTED)
        table = table if self.rows is None else table.where(item_id=tuple(ids))
        return Ratings.from_table(table, kinds=COLLECTED, repeats="mean") if len(table) else None

    @cached_property
    def _published_means(self) -> Mapping[str, float]:
        given = self.data.responses.where(measure="norm").by_item()
        return {item.item_id: given[item.item_id] for item in self.items if item.item_id in given}

    @cached_property
    def _rater_agreement(self) -> RaterAgreement:
        return leave_one_out(self.people, **self.resampling)

    @cached_property
    def _columns(self) -> Mapping[tuple[str, int | None], Floats]:
        """Each model's answers by layer, higher = more related. *Shape of each:* (items,), NaN where none was read."""
        row_of = {item.item_id: row for row, item in enumerate(self.items)}
        recorded = self.data.responses
        models = [kind for kind in recorded.unique("subject_kind") if kind not in COLLECTED and kind != "norm"]
        tables = [recorded.where(subject_kind=tuple(models)), self.answers] if models else [self.answers]
        columns: dict[tuple[str, int | None], Floats] = {}
        for table in tables:
            for measure, sign in NEARNESS.items():
                answers = table.where(measure=measure)
                for subject in answers.unique("subject_id"):
                    own = answers.where(subject_id=subject)
                    codes, item_ids = own.codes("item_id")
                    row = np.array([row_of.get(item_id, -1) for item_id in item_ids], dtype=np.int64)[codes]
                    layer, value = own.column("layer"), sign * own.column("value")
                    for number in np.unique(np.nan_to_num(layer, nan=-1.0)):
                        here = (np.nan_to_num(layer, nan=-1.0) == number) & (row >= 0)
                        column = columns.setdefault(
                            (subject, None if number < 0 else int(number)), np.full(len(row_of), np.nan)
                        )
                        column[row[here]] = value[here]
        return columns

    def _nearest(self, kind: Kind) -> dict[tuple[str, int | None], Floats]:
        """Each model's answers at the layer that is closest to people; of one without a value, at its first."""
        best: dict[str, tuple[float, int | None]] = {}
        for (subject, layer), column in self._columns.items():
            known = self.has_norm & ~np.isnan(column)
            try:
                value = correlation_value(column[known], self.norm[known], kind=kind)
            except StatisticError:
                value = -np.inf
            if subject not in best or value > best[subject][0]:
                best[subject] = (value, layer)
        return {(subject, layer): self._columns[subject, layer] for subject, (_, layer) in best.items()}

    def _require_models(self) -> None:
        if not self.models:
            hint = 'ask with needs="models"; in Python name subjects, for which ratings without texts need items=…'
            raise InputError(f"{self.data.card.name}: no model answered", hint=hint)

    def _each(
        self, name: str, statistic: OfRows, better: Literal["higher", "lower"], subject: str, about: Mapping[str, Any]
    ) -> Curve | Estimate | Undefined:
        layers = [layer for model, layer in self._columns if model == subject]
        columns = np.array([self._columns[subject, layer] for layer in layers]).T
        boot = self._bootstrap_of(np.ones(len(self.items), dtype=np.bool_))
        numbers = [layer for layer in layers if layer is not None]
        curve = statistic_by_layer(
            columns, statistic, name=name, better=better, layers=numbers or None, level=boot.level, **boot.options
        )
        # a model without layers has one column
        return self.about(curve if numbers else curve.estimate(0).about(layer=None), subject=subject, **about)

    def _mean(self, of: str, layer: int | None) -> Estimate:
        values = self.norm if of == PEOPLE else self._columns[of, layer]
        known = ~np.isnan(values)
        kept = values[known]
        if not kept.size:
            raise StatisticError(f"{of} answered no item", why=self.label)
        result = self._bootstrap_of(known).mean(statistic_name("mean_rating", over="items"), kept)
        return self.about(result, subject=of, layer=layer, unit="points")

    def _fit(self, kind: Kind, subject: str) -> Curve | Estimate | Undefined:
        every = [layer for name, layer in self._columns if name == subject]
        layers = [layer for layer in every if layer is not None]
        columns = np.array([self._columns[subject, layer] for layer in layers or every]).T[self.has_norm]
        answered = ~np.isnan(columns).any(axis=1)
        norm, boot = self.norm[self.has_norm][answered], self.bootstrap.of(answered)
        name = statistic_name(kind, **{"with": "norms"})
        n, n_groups = int(answered.sum()), len(set(boot.groups))
        about = {"subject": subject, "unit": "correlation", "higher": "closer to people"}
        missing = int((~answered).sum())
        note = f"excluded: {counted(missing, 'item')} without a readable answer" if missing else ""
        # words of one group cannot be resampled: the values are there, without intervals
        how: dict[str, Any] = {"kind": kind, "level": boot.level, "resamples": boot.resamples, "seed": boot.seed}
        how["groups"] = boot.groups if boot.resamples else None
        try:
            if layers:
                curve = correlations_by_layer(columns[answered], norm, name=name, layers=layers, choice=True, **how)
                values = tuple(replace(point, remark=_join_notes(note, point.remark)) for point in curve.values)
                return self.about(replace(curve, values=values, n_groups=n_groups), **about)
            (result,) = correlate_columns(columns[answered], norm, **how)
        except StatisticError as error:
            return self.about(Undefined(name, error.what, n), **about)
        if isinstance(result, Undefined):
            return self.about(replace(result, name=name), **about)
        return self.about(replace(result, name=name, n_groups=n_groups, note=note), **about)

    def rating_columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the mixed models, a value for each rating. *Shape of each:* (ratings,)."""
        rows = self.item_rows
        columns = self.rated_columns()
        shared = set.intersection(*(set(item.conditions) for item in self.items))
        for name in sorted(shared):
            values = [item.conditions[name] for item in self.items]
            columns[name] = np.array([int(v) if isinstance(v, bool) else v for v in values])[rows]
        for (subject, layer), column in self._columns.items():
            name = "".join(c if c.isalnum() else "_" for c in subject) + ("" if layer is None else f"_{layer}")
            columns[name] = column[rows]
        return columns

    def trials_of(self, columns: Mapping[str, Sequence[object] | NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return the table of trials as mixed models and R scripts name it: Response, Participant, Item, and *columns*.

        A row is a rating of people; *columns* have a value for each item. *Shape of each:* (ratings,).
        """
        ratings = self.people
        return {
            "Response": ratings.value,
            "Participant": np.array(ratings.rater_ids, dtype=object)[ratings.rater],
            "Item": np.array(ratings.item_ids, dtype=object)[ratings.item],
            **{name: np.asarray(values)[self.item_rows] for name, values in columns.items()},
        }

    def rated_columns(self) -> dict[str, NDArray[Any]]:
        """Return what every rating has: the rating, its participant, item and word. *Shape of each:* (ratings,)."""
        ratings = self.people
        return {
            "rating": ratings.value,
            "participant": np.array(ratings.rater_ids, dtype=object)[ratings.rater],
            "item": np.array(ratings.item_ids, dtype=object)[ratings.item],
            "word": np.array([item.word for item in self.items], dtype=object)[self.item_rows],
        }


def _complete_rows(columns: dict[str, NDArray[Any]], formulas: str) -> tuple[dict[str, NDArray[Any]], int]:
    """The rows that have a number in every column that the formulas name, and how many have not."""
    named = [name for name in columns if re.search(rf"\b{re.escape(name)}\b", formulas)]
    numbers = [columns[name] for name in named if np.issubdtype(columns[name].dtype, np.floating)]
    kept = np.all([~np.isnan(column) for column in numbers], axis=0) if numbers else np.True_
    if np.all(kept):
        return columns, 0
    return {name: column[kept] for name, column in columns.items()}, int((~kept).sum())


def _join_notes(*notes: str) -> str:
    return "; ".join(filter(None, notes))


@dataclass(frozen=True, slots=True)
class _LeftOutWords:
    """What the layers of a model give on the words that resamples exclude; ``known``: a mask of items, as bytes."""

    layers: tuple[tuple[str, int | None], ...]
    kind: Kind
    known: bytes

    def __call__(self, run: Run[Any]) -> LeftOutDraws:
        known = np.frombuffer(self.known, dtype=np.bool_)
        boot, columns = run._bootstrap_of(known), np.array([run._columns[name] for name in self.layers]).T
        return left_out_draws(
            columns[known],
            run.norm[known],
            kind=self.kind,
            groups=boot.groups,
            resamples=boot.resamples,
            seed=boot.seed,
        )
