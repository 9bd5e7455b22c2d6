"""One mixed model of the ratings of several sets: is an effect the same in each?

Two datasets in two languages, two groups of raters, two versions of a study: their rows are put together, a factor says
of which set a row is, and each effect is tested for its interaction with this factor. Raters and words are random, and
those of one set are never those of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.mixed.data import Column
from lexiscope.analysis.mixed.models import LikelihoodRatio, NestedModels, likelihood_ratios
from lexiscope.analysis.mixed.ordinal import OrdinalRatio, ordinal_likelihood_ratios
from lexiscope.analysis.mixed.r_script import ModelPair
from lexiscope.core.errors import InputError
from lexiscope.core.result import Estimate, Undefined, statistic_name


@dataclass(frozen=True, slots=True, eq=False)
class RatedSet:
    """The ratings of one set: its columns, and what makes them comparable with those of another.

    ``lowest`` is the lowest point of its scale, from which ratings count. ``units`` are values over the items by the
    name of a column: this column is then measured from their mean in their standard deviations (ddof 0).

    *Shape:* each column (ratings,); each of ``units`` (items,).
    """

    columns: Mapping[str, Column]
    lowest: float = 0.0
    units: Mapping[str, ArrayLike] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class JointModel:
    """A model of several sets and, by the name of each test, the same model without one interaction of the factor.

    ``references`` are the levels of text predictors that count as 0: of the factor, the first set.
    """

    data: Mapping[str, Column]
    full: str
    reduced: Mapping[str, str]
    references: Mapping[str, str]

    def tests(self, *, starts: int = 5, seed: int = 0) -> dict[str, LikelihoodRatio | Undefined]:
        """Return the likelihood-ratio test of each interaction; the full model is fitted once."""
        pairs = {name: NestedModels(self.full, reduced, self.data) for name, reduced in self.reduced.items()}
        return likelihood_ratios(pairs, starts=starts, seed=seed, references=self.references)

    def ordinal_tests(
        self, link: str = "logit", *, starts: int = 2, seed: int = 0
    ) -> dict[str, OrdinalRatio | Undefined]:
        """Return the same tests with the ratings as ordered categories: the sets need the same points of a scale."""
        pairs = {name: NestedModels(self.full, reduced, self.data) for name, reduced in self.reduced.items()}
        tests = ordinal_likelihood_ratios(pairs, (link,), starts=starts, seed=seed, references=self.references)
        return {name: outcome for (name, _), outcome in tests.items()}

    def pairs(self, links: tuple[str, ...] = ()) -> tuple[ModelPair, ...]:
        """Return the tests as an R script takes them (:func:`lexiscope.analysis.mixed.r_script.r_script`)."""
        return tuple(ModelPair(name, self.full, reduced, links=links) for name, reduced in self.reduced.items())


def joint_model(
    sets: Mapping[str, RatedSet],
    effects: Mapping[str, str],
    random: str,
    *,
    factor: str,
    response: str = "Response",
    nested: tuple[str, ...] = ("Participant", "Word"),
    references: Mapping[str, str] | None = None,
) -> JointModel:
    """Return the joint model of several sets, by the level of *factor* that each is: the first is the reference.

    *effects* are the columns of the fixed effects by a short name: ``{"sense": "Same_sense"}`` is tested as
    ``sense_by_language``, language being the *factor*. *random* is the random part in the notation of lme4; labels of
    the *nested* columns are those of their set alone. Ratings count from the lowest point of each scale.

    Errors: :class:`InputError` with fewer than two sets, and for a column that one of them does not have.

    >>> one, two = ({"Response": np.array([1.0, 2.0]), "x": np.array([0.0, 2.0]), "Word": np.array(["a", "b"])}
    ...             for _ in range(2))
    >>> model = joint_model({"es": RatedSet(one, 1.0, {"x": [0.0, 2.0]}), "en": RatedSet(two)}, {"slope": "x"},
    ...                     "(1 | Word)", factor="Language", nested=("Word",))
    >>> model.full, dict(model.reduced)
    ('Response ~ x * Language + (1 | Word)', {'slope_by_language': 'Response ~ x + Language + (1 | Word)'})
    >>> [model.data[name].tolist() for name in ("Response", "x", "Word")]
    [[0.0, 1.0, 1.0, 2.0], [-1.0, 1.0, 0.0, 2.0], ['es:a', 'es:b', 'en:a', 'en:b']]
    """
    if len(sets) < 2:
        raise InputError(f"a joint model needs two sets of ratings, not {len(sets)}")
    names = (response, *effects.values(), *nested)
    for level, own in sets.items():
        missing = [name for name in names if name not in own.columns]
        if missing:
            raise InputError(f"the ratings of {level} have no column {missing[0]!r}")
    tables = [_rows_of(level, own, response, names, nested) for level, own in sets.items()]
    data: dict[str, Column] = {name: np.concatenate([table[name] for table in tables]) for name in names}
    labels = [np.full(len(np.asarray(own.columns[response])), level, dtype=object) for level, own in sets.items()]
    data[factor] = np.concatenate(labels)
    with_factor = {name: f"{column} * {factor}" for name, column in effects.items()}
    reduced = {}
    for name, column in effects.items():
        others = [term for other, term in with_factor.items() if other != name] or [factor]
        reduced[f"{name}_by_{factor.lower()}"] = f"{response} ~ {' + '.join((column, *others, random))}"
    full = f"{response} ~ {' + '.join((*with_factor.values(), random))}"
    return JointModel(data, full, reduced, {**(references or {}), factor: next(iter(sets))})


def results_once(tests: Mapping[str, LikelihoodRatio | Undefined]) -> list[Estimate | Undefined]:
    """Return the numbers of tests that share their full model, by their names: its coefficients with the first only."""
    results: list[Estimate | Undefined] = []
    for name, outcome in tests.items():
        if isinstance(outcome, Undefined):
            results.append(replace(outcome, name=statistic_name("chi2", test=name, df=1)))
        else:
            first = not any(isinstance(result, Estimate) for result in results)
            results += outcome.results(name) if first else outcome.results(name)[:1]
    return results


def _rows_of(
    level: str, own: RatedSet, response: str, names: tuple[str, ...], nested: tuple[str, ...]
) -> dict[str, Column]:
    """The columns of one set as those of all sets together have them."""
    rows: dict[str, Column] = {}
    for name in names:
        column = np.asarray(own.columns[name])
        if name in nested:
            column = np.array([f"{level}:{label}" for label in column], dtype=object)
        elif name == response:
            column = column - own.lowest
        elif name in own.units:
            of_items = np.asarray(own.units[name], dtype=np.float64)
            column = (column - of_items.mean()) / of_items.std()
        rows[name] = column
    return rows
