"""Tables 5 to 7 and Figure 3 of the paper and the trainings of a run: which of its differences hold here.

The vectors of the paper were never released, and its corpus is not ours: no number of a table can be reproduced. What
can be asked is whether the models differ in the same direction. A difference *holds* where ours has the sign of the
paper's, and is *reversed* where it has the other; an interval says how sure ours is. What a run has no training or no
set for is *not computed*.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.bootstrap import percentile_interval
from lexiscope.analysis.correlation import correlation_draws, correlation_value, settle_ties
from lexiscope.analysis.senses.signal import GUMBEL_SD
from lexiscope.analysis.senses.similarity import similarity_name
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval, Record, statistic_name
from lexiscope.core.study import PublishedValue
from lexiscope.datasets.wordsim import SETS
from lexiscope.report.part import Omission, ends_of, find_record
from lexiscope.report.parts.sense_parts import SIMILARITIES
from lexiscope.report.tables import INTEGER, Cell, Column, Format, IntervalCell, Table, columns
from lexiscope.resources.vectors.sense_vectors import read_log
from lexiscope.studies.kit.pairs import PairSet
from lexiscope.studies.kit.study import printed_values
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.similarity import usage_records, word_records
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM, MAX_SIM_C

NAME = "Tables 5 to 7 and Figure 3, published and ours"
"""What is left out where a run has nothing to set beside them."""
_TABLES = "Tables 5 to 7, published and ours"
HOLDS, REVERSED, NOT_COMPUTED = "holds", "reversed", "not computed"
SASI, GASI, BETA, RETRAINED = "SASI", "GASI", "GASI-β", "GASI-β-pruned"
ROLES = {SASI: "sasi", GASI: "gasi", BETA: "gasi_beta", RETRAINED: "gasi_beta_pruned"}
"""The models of the paper, and what they are called in names of statistics."""
_PAIRS = ((BETA, SASI), (GASI, SASI), (BETA, GASI), (RETRAINED, BETA))
_MEASURES = {MAX_SIM_C: "Table 5", AVG_SIM_C: "Table 5", MAX_SIM: "Tables 6 and 7"}
_ONE, _TWO = Format("number", 1), Format("number", 2)


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference that the paper prints, and ours: of two models by one measure, or of two measures of one model.

    ``value`` and ``interval`` are ours, on the ``n`` pairs that both have, each resample of words the same for both;
    ``value`` is ``None`` where the run lacks a training or a set.
    """

    place: str
    dataset: str
    what: str
    first: str
    second: str
    printed: float
    value: float | None = None
    interval: Interval | None = None
    n: int = 0

    @property
    def verdict(self) -> str:
        """Whether ours has the direction of the paper's."""
        if self.value is None:
            return NOT_COMPUTED
        return HOLDS if self.value * self.printed > 0 else REVERSED

    @property
    def clear(self) -> bool:
        """Whether the interval of ours excludes 0."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)


def role_of(training: Gasi) -> str:
    """Return the model of the paper that a training is; empty for none of them.

    A training on fewer senses than K for each word is that of the paper after pruning. Vectors that were pruned and not
    retrained are none of its models.
    """
    about = training.about
    n_words, most, _ = about["shape"]
    masked = about.get("senses_at_start", n_words * most) < n_words * most
    if about.get("pruned") is not None or most < 2:
        return ""
    variant = about.get("settings", {}).get("variant", "")
    if masked:
        return RETRAINED if variant == "gasi_beta" else ""
    return next((role for role, name in ROLES.items() if name == variant), "")


def roles(run: SenseData) -> dict[str, Gasi]:
    """Return the training of each model of the paper: the first of the run's that is one."""
    trained: dict[str, Gasi] = {}
    for training in run.own_trainings:
        if role := role_of(training):
            trained.setdefault(role, training)
    return trained


@cache
def printed() -> dict[tuple[str, str, str], PublishedValue]:
    """Return what Tables 5 to 7 print of the models of the paper, by dataset, measure and model."""
    names = {similarity_name(measure): measure for measure in _MEASURES}
    return {
        (value.dataset, names[value.statistic], value.subject.removesuffix(" (paper)")): value
        for values in printed_values(Path(__file__).with_name("printed.csv"), dataset="sense_induction").values()
        for value in values
        if value.statistic in names and value.subject.removesuffix(" (paper)") in ROLES
    }


def differences(run: SenseData) -> tuple[Difference, ...]:
    """Return every difference that the tables print between their models, and the run's own where it has both."""
    known, sets, of = printed(), {pairs.name: pairs for pairs in run.sets}, run.once(roles)
    several = []
    for dataset, measure in dict.fromkeys((dataset, measure) for dataset, measure, _ in known):
        models = [model for model in ROLES if (dataset, measure, model) in known]
        for first, second in _PAIRS:
            if first not in models or second not in models:
                continue
            apart = float(known[dataset, measure, first].printed) - float(known[dataset, measure, second].printed)
            # of two equal numbers there is no direction
            if apart:
                sides = ((of.get(first), measure), (of.get(second), measure))
                own = _own_difference(run, sets.get(dataset), sides)
                several.append(Difference(_MEASURES[measure], dataset, measure, first, second, apart, *own))
    for model in ROLES:
        highest, mean = (known.get(("scws", measure, model)) for measure in (MAX_SIM_C, AVG_SIM_C))
        if highest is not None and mean is not None:
            apart = float(highest.printed) - float(mean.printed)
            sides = ((of.get(model), MAX_SIM_C), (of.get(model), AVG_SIM_C))
            own = _own_difference(run, sets.get("scws"), sides)
            several.append(Difference("Table 5", "scws", model, MAX_SIM_C, AVG_SIM_C, apart, *own))
    return tuple(several)


def _own_difference(
    run: SenseData, pairs: PairSet | None, sides: Sequence[tuple[Gasi | None, str]]
) -> tuple[float | None, Interval | None, int]:
    """Return the difference of two correlations with the same ratings, over the pairs that both cover."""
    if pairs is None or any(training is None for training, _ in sides):
        return None, None, 0
    columns_of = []
    for training, measure in sides:
        assert training is not None
        value = run.answers.where(subject_id=training.subject_id, measure=measure).by_item()
        columns_of.append([value.get(item.item_id, np.nan) for item in pairs.items])
    x: NDArray[np.float64] = np.array(columns_of, np.float64).T
    there = np.asarray(np.isfinite(x).all(axis=1), np.bool_)
    x, y = settle_ties(x[there]), settle_ties(pairs.ratings[there])
    words = np.array(pairs.words, dtype=str)[there]
    how = run.resampling
    try:
        first, second = (correlation_value(x[:, side], y, kind="spearman") for side in (0, 1))
        draws = correlation_draws(x, y, groups=words, **how)
    except StatisticError:
        return None, None, int(there.sum())
    difference = 100 * (draws[:, 0] - draws[:, 1])
    interval = percentile_interval(difference, resampled="words", n_groups=len(set(words.tolist())))
    return 100 * (first - second), interval, int(there.sum())


def paper_tables(run: SenseData) -> tuple[object, ...]:
    """Return the tables: each number and ours, each difference with its verdict, the noise of Figure 3."""
    of, several = run.once(roles), run.once(differences)
    if not of:
        why = "It needs trainings of this program (SASI, GASI, GASI-β, or GASI-β on pruned senses)."
        return (Omission(NAME, why),)
    estimates = [
        Estimate(
            statistic_name(
                "similarity_difference",
                first=ROLES.get(difference.first, difference.first),
                second=ROLES.get(difference.second, difference.second),
                **({"similarity": difference.what} if difference.first in ROLES else {"model": ROLES[difference.what]}),
            ),
            difference.value,
            difference.interval,
            difference.n,
            unit="100 × rho",
            note=f"{difference.verdict}: the paper has {difference.printed:+.2f}".rstrip("0").rstrip("."),
        ).about(dataset=difference.dataset)
        for difference in several
        if difference.value is not None and difference.interval is not None
    ]  # fmt: skip
    noise, noise_table = _noise(run, of)
    noise += _of_models(of)
    who = "; ".join(f"{role} is {run.title_of(training.subject_id)}" for role, training in of.items())
    compared = any(difference.value is not None for difference in several)
    why = "It needs two of the models of these tables, trained by this program, and one of their sets of pairs."
    tables = (_values_table(run, of), _differences_table(several, who)) if compared else (Omission(_TABLES, why),)
    return (estimates, noise, *tables, noise_table)


def _values_table(run: SenseData, of: Mapping[str, Gasi]) -> Table:
    records = [*run.once(usage_records), *run.once(word_records)]
    rows: list[tuple[Cell, ...]] = []
    for (dataset, measure, model), value in printed().items():
        training = of.get(model)
        record = (
            find_record(records, similarity_name(measure), dataset=dataset, subject=training.subject_id)
            if training
            else None
        )
        rows.append(
            (_MEASURES[measure], _title(dataset), SIMILARITIES[measure], model, float(value.printed), _cell(record))
        )
    heads = columns(
        *("Paper", "Set", "Measure", "Model"),
        Column("Paper", _TWO, note="Trained on 1,000 million tokens of Wikipedia, 300 dimensions."),
        Column("Ours", _ONE, note="Over covered pairs."),
    )
    note = "100 × Spearman's ρ. Intervals resample first words of pairs. The corpus is another one: compare directions."
    return Table(
        "paper_values", "", "The numbers of Tables 5 to 7, published and ours", heads, tuple(rows), notes=(note,)
    )


def _differences_table(several: Sequence[Difference], who: str) -> Table:
    rows = []
    for difference in several:
        if difference.first in ROLES:
            what, compared = SIMILARITIES[difference.what], f"{difference.first} − {difference.second}"
        else:
            what, compared = difference.what, f"{SIMILARITIES[difference.first]} − {SIMILARITIES[difference.second]}"
        ours: Cell = None
        if difference.value is not None and difference.interval is not None:
            ours = IntervalCell(difference.interval.low, difference.interval.high, difference.value)
        clear = "" if difference.value is None else "yes" if difference.clear else "no"
        rows.append((
            difference.place, _title(difference.dataset), what, compared, difference.printed, ours,
            difference.n or None, clear, difference.verdict,
        ))  # fmt: skip
    heads = columns(
        *("Table", "Set", "Of", "Difference", ("Paper", _TWO), ("Ours", _ONE), ("Pairs", INTEGER)),
        Column("Excludes 0", note="Whether the interval of ours does; the paper prints none."),
        Column("Verdict", note="holds: ours has the sign of the paper's; reversed: the other one."),
    )
    notes = (f"100 × Spearman's ρ, on the pairs that both cover; each resample of words is the same for both. {who}.",)
    return Table(
        "paper_differences", "", "The differences of Tables 5 to 7, published and ours", heads, tuple(rows), notes=notes
    )


def _noise(run: SenseData, of: Mapping[str, Gasi]) -> tuple[list[Record], Table | None]:
    """Return Figure 3 beside ours: is the signal at the end of the training smaller than the noise?"""
    rows, records = [], []
    for model in (GASI, BETA, RETRAINED):
        log = read_log(of[model].folder) if model in of else ()
        for name, noise in (
            ("Gumbel noise", GUMBEL_SD),
            ("scaled noise", of[model].noise_sd if model in of else np.nan),
        ):
            if name == "scaled noise" and model == GASI:
                continue
            verdict = NOT_COMPUTED if not log else HOLDS if log[-1].signal_sd < noise else REVERSED
            rows.append((model, name, log[-1].signal_sd if log else None, noise if log else None, verdict))
            if log:
                statistic = statistic_name("signal_below_noise", noise=name.split()[0].lower())
                below = float(log[-1].signal_sd < noise)
                records.append(Record(statistic, below, of[model].subject_id, note=f"{verdict}: Figure 3"))
    heads = columns("Model", "Noise", ("SD of c̄·s", _TWO), ("SD of the noise", _TWO), "The signal is smaller")
    note = "At the end of the training, over all words. The published claim is of GASI and the noise without a scale."
    table = Table(
        "paper_noise", "", "Figure 3: is the signal smaller than the noise?", heads, tuple(rows), notes=(note,)
    )
    return records, table if of else None


def _of_models(of: Mapping[str, Gasi]) -> list[Record]:
    """Return how open the choice of a sense is at the end of each model's training, and how many senses it lacks."""
    records = []
    for model, training in of.items():
        n_words, most, _ = training.about["shape"]
        named = {"model": ROLES[model]}
        if log := read_log(training.folder):
            # 1 where all senses are equally probable: of any K
            flatness = log[-1].entropy_without_noise / math.log(most)
            records.append(Record(statistic_name("selection_flatness", **named), flatness, training.subject_id))
        removed = most - int(training.vectors.mask.sum()) / n_words
        records.append(Record(statistic_name("senses_removed", **named), removed, training.subject_id))
    return records


def difference_words(run: SenseData, _records: Sequence[Record]) -> str:
    """Return how many differences hold, are reversed, or are not computed, as text."""
    several = run.once(differences)
    counts = {
        verdict: [difference for difference in several if difference.verdict == verdict]
        for verdict in (HOLDS, REVERSED)
    }
    if not any(counts.values()):
        return ""
    parts = [f"{len(own)} {verdict} ({sum(difference.clear for difference in own)} with an interval without 0)"
             for verdict, own in counts.items()]  # fmt: skip
    without = len(several) - sum(len(own) for own in counts.values())
    return f"Of {len(several)} differences of Tables 5 to 7: {', '.join(parts)}, {without} not computed"


def _cell(record: Record | None) -> Cell:
    if record is None or record.value is None:
        return None
    low, high = ends_of(record)
    return IntervalCell(low, high, record.value) if np.isfinite(low) else record.value


def _title(dataset: str) -> str:
    name = dataset.partition("set=")[2]
    return SETS[name].title if name else dataset.upper()
