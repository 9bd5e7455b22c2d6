"""Two languages in one model: is the sense boundary, the profile over layers, the effect of size the same in both?

A run with ``--beside DATASET`` has a second dataset of this task in another language. Its first dataset is the
reference: each term of language says how the second differs from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.layers.trajectory import drop_from_peak, family_by_depth_ratio
from lexiscope.analysis.mixed.models import LikelihoodRatio, NestedModels, likelihood_ratios
from lexiscope.analysis.norms.decomposition import crossed
from lexiscope.analysis.regression import LOG_PARAMETERS, MULTILINGUAL, ols
from lexiscope.core.result import Record, Result, Undefined, statistic_name
from lexiscope.report.figures import Heading
from lexiscope.report.part import Remark, find_record, record_cell
from lexiscope.report.parts.mixed_tables import estimates_table, ratio_tests_table
from lexiscope.report.pivot import records_of
from lexiscope.report.plots.layers import families_by_depth
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Format, Table
from lexiscope.studies.saw_c.data import DIFFERENT, NOT_IN_PAPER, SawCData
from lexiscope.studies.saw_c.layers import LayerFit, main_fits

_RANDOM = "(1 + Same_sense + Distance | Participant) + (1 + Same_sense | Word)"
_FULL = f"Response ~ Same_sense * Language + Distance * Language + {_RANDOM}"
_REDUCED = {
    "sense_by_language": f"Response ~ Same_sense + Distance * Language + {_RANDOM}",
    "distance_by_language": f"Response ~ Distance + Same_sense * Language + {_RANDOM}",
}
"""The model without the interaction that a test is about, by the name of the test."""
TESTS = tuple(_REDUCED)
LANGUAGE_TESTS = tuple(f"chi2(test={name})" for name in TESTS)
_SIZE = f"max_r_squared~({LOG_PARAMETERS}+{MULTILINGUAL})*language".translate(str.maketrans("()", "[]"))
_WITH_LANGUAGE = ("language", *(f"{term}:language" for term in (LOG_PARAMETERS, MULTILINGUAL, "BERT", "RoBERTa")))
LANGUAGE_TERMS = tuple(f"coefficient(term={term})" for term in _WITH_LANGUAGE)
"""The coefficients that compare the languages."""


# -- the sense boundary, in single ratings --------------------------------------------------------------------------


def joint_ratings(run: SawCData) -> object:
    """Test on the single ratings of both languages whether sense, and distance, go with ratings alike.

    Ratings count from the lowest point of their scale; both scales must have as many points. The distances of an
    encoder are those of its layer that fits best in each language, in standard deviations of their language: of
    every encoder that answered in both languages, and of the best encoder of each. Participants and words are random,
    nested in their language.
    """
    other = run.beside
    if other is None:
        return ()
    if run.settings.mixed_models == "none" or not all(
        part.has("ratings") and part.has("senses") for part in (run, other)
    ):
        return Remark("No mixed model of both languages: it needs single ratings and senses in both, and --mixed.")
    results: list[Result] = []
    outcomes: dict[str, LikelihoodRatio | Undefined] = {}
    for title, first, second in _encoders_of_both(run, other):
        trials = _joint_trials(run, other, first, second)
        tests = likelihood_ratios(
            {name: NestedModels(_FULL, reduced, trials) for name, reduced in _REDUCED.items()},
            starts=run.settings.starts,
            seed=run.settings.seed,
            references={"Same_sense": DIFFERENT, "Language": run.card.language},
        )
        for name, outcome in tests.items():
            if isinstance(outcome, Undefined):
                numbers: Sequence[Result] = (Undefined(statistic_name("chi2", test=name, df=1), outcome.reason),)
            else:
                # both tests have one full model: its coefficients are there once
                numbers = outcome.results(name) if name == TESTS[0] else outcome.results(name)[:1]
            results += [_about(run, other, number, subject=title) for number in numbers]
            outcomes[f"{name}: {title}"] = outcome
    models = {label: outcome.full for label, outcome in outcomes.items() if isinstance(outcome, LikelihoodRatio)}
    said = (
        f"One model of the ratings in {run.card.title} and {other.card.title}: ratings count from the lowest point of "
        f"their scale, distances are in standard deviations of their language. The reference is {run.card.language}."
    )
    tables = (
        ratio_tests_table("tests_of_languages", outcomes),
        estimates_table("estimates_of_languages", models),
    )
    return (said, results, *tables) if outcomes else ()


def _encoders_of_both(run: SawCData, other: SawCData) -> list[tuple[str, LayerFit, LayerFit]]:
    """The encoders of both languages by their name, then the best encoder of each language."""
    here, there = ([fit for fit in part.once(main_fits) if fit.highest is not None] for part in (run, other))
    pairs = [(fit.subject, fit, again) for fit in here for again in there if again.subject == fit.subject]
    if here and there:
        first, second = (max(fits, key=lambda fit: fit.highest or 0.0) for fits in (here, there))
        if first.subject != second.subject:
            pairs.append((f"{first.subject} and {second.subject}", first, second))
    return pairs


def _joint_trials(run: SawCData, other: SawCData, *fits: LayerFit) -> dict[str, NDArray[Any]]:
    """The trial table of both languages, one row per rating."""
    tables = []
    for part, fit in zip((run, other), fits, strict=True):
        trials = part.trials({"Distance": (fit.subject, fit.best)})
        language, of_items = part.card.language, part.distance_of(fit.subject, fit.best)
        low = 0.0 if part.card.scale is None else part.card.scale.low
        nested = {
            name: np.array([f"{language}:{label}" for label in trials[name]], dtype=object)
            for name in ("Participant", "Word")
        }
        tables.append(
            {
                "Response": trials["Response"] - low,
                "Same_sense": trials["Same_sense"],
                "Distance": (trials["Distance"] - of_items.mean()) / of_items.std(),
                "Language": np.full(len(trials["Response"]), language, dtype=object),
                **nested,
            }
        )
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


# -- layers and size, over encoders ---------------------------------------------------------------------------------


def joint_layers_and_size(run: SawCData) -> object:
    """Regress encoders' highest R² on size, and the shape of their curves on family, each crossed with language.

    The shape of a curve has two numbers: the depth ratio of its best layer, and what is left of the highest R² at the
    last layer. Encoders count as independent, which those of one family are not.
    """
    other = run.beside
    if other is None:
        return ()
    fits, flags = _chosen_fits(run, other)
    sized = np.array([bool(fit.distances.facts.n_parameters) for fit in fits], dtype=bool)
    named = np.array([bool(fit.distances.facts.family) for fit in fits], dtype=bool)
    records: list[Record] = []

    def regress(model: str, outcome: NDArray[np.float64], terms: NDArray[np.float64], names: Sequence[str]) -> None:
        name = statistic_name("coefficient", model=model)
        fit = run.attempt(name, partial(ols, outcome, terms, names))
        results = (fit,) if isinstance(fit, Undefined) else fit.results(model)
        records.extend(records_of(_about(run, other, result) for result in results))

    highest = np.array([fit.highest or 0.0 for fit in fits])
    logs = np.log10([fit.distances.facts.n_parameters or 1 for fit in fits])
    many = np.array([float(bool(fit.distances.facts.multilingual)) for fit in fits])
    terms = np.column_stack([logs, many, flags, logs * flags, many * flags])
    names = [LOG_PARAMETERS, MULTILINGUAL, "language", f"{LOG_PARAMETERS}:language", f"{MULTILINGUAL}:language"]
    regress(_SIZE, highest[sized], terms[sized], names)
    families = [fit.distances.facts.family for fit, known in zip(fits, named, strict=True) if known]
    further = sorted(set(families))[1:]
    names = ["language", *(name for family in further for name in (family, f"{family}:language"))]
    shapes = {
        "last_over_max_r_squared": [1 - drop_from_peak(fit.curves["r_squared"].array())[0] for fit in fits],
        "best_depth_ratio": [(fit.best or 0) / max(fit.distances.layers or (1,)) for fit in fits],
    }
    for outcome, values in shapes.items():
        of_families = crossed(flags[named], families)
        regress(f"{outcome}~family*language", np.array(values)[named], of_families, names)
    return records, _terms_table(run, other, records), _profiles(run, other)


def _chosen_fits(run: SawCData, other: SawCData) -> tuple[list[LayerFit], NDArray[np.float64]]:
    """The encoders with all layers in both languages, and 1 for those of the second."""
    chosen = [
        (fit, float(part is other))
        for part in (run, other)
        for fit in part.once(main_fits)
        if fit.highest is not None and fit.distances.is_whole and NOT_IN_PAPER not in fit.distances.facts.source
    ]
    return [fit for fit, _ in chosen], np.array([flag for _, flag in chosen])


def _terms_table(run: SawCData, other: SawCData, records: Sequence[Record]) -> Table:
    columns = (Column("Regression and term"), Column("b", Format("number", 3)), Column("SE", Format("number", 3)))
    rows = []
    for record in records:
        error = find_record(records, record.statistic.replace("coefficient", "standard_error"))
        if record.statistic.startswith("coefficient"):
            label = record.statistic.removeprefix("coefficient(").removesuffix(")").replace(",", ", ")
            rows.append((label, record_cell(record), error.value if error else None, record.p, record.n))
    heads = (*columns, Column("p", P_VALUE), Column("n", INTEGER))
    notes = (
        f"language: {other.card.language} against {run.card.language}. Families are compared with the first by name.",
        "Ordinary least squares over encoders, which count as independent.",
    )
    return Table("encoders_of_languages", "", "Size, layers and language", heads, tuple(rows), notes)


def _profiles(run: SawCData, other: SawCData) -> object:
    """Mean R² of each family over depth, in each language."""
    curves: dict[str, NDArray[np.float64]] = {}
    families: dict[str, str] = {}
    fits, flags = _chosen_fits(run, other)
    for fit, flag in zip(fits, flags.tolist(), strict=True):
        if fit.distances.facts.family and fit.distances.matrix.shape[1] > 1:
            language = (other if flag else run).card.language
            key = f"{fit.subject}, {language}"
            curves[key] = np.nan_to_num(fit.curves["r_squared"].array(), nan=0.0)
            families[key] = f"{fit.distances.facts.family}, {language}"
    if not curves:
        return ()
    heading = Heading("families_of_languages", "", "R² over depth by family and language")
    return families_by_depth(family_by_depth_ratio(curves, families), heading, statistic="R²")


def _about(run: SawCData, other: SawCData, result: Result, **where: str) -> Result:
    """Return a result with both datasets as its dataset."""
    return result.about(dataset=f"{run.name}+{other.name}", **where)


def languages_in_words(records: Sequence[Record]) -> str:
    """Return what the tests of languages came to, in one line; nothing without such tests."""
    said: Mapping[str, str] = {"sense_by_language": "effect of sense", "distance_by_language": "effect of distance"}
    texts = []
    for name, words in said.items():
        p = [r.p for r in records if r.statistic == statistic_name("chi2", test=name, df=1) and r.p is not None]
        if p:
            texts.append(
                f"{words} differs between the languages in {sum(value < 0.05 for value in p)} of {len(p)} models"
            )
    return "; ".join(texts)
