"""Sense vectors in a report: training, senses that are left, similarity, the best β, which sense is chosen.

*trainings* are folders that ``lexiscope train gasi`` wrote, as subjects; *titles* are short names of subjects by id.
*Source:* GASI, Figures 3 to 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.senses.disagreeing_orders import Orders
from lexiscope.analysis.senses.planted import NEIGHBOURS, ONE_TO_ONE, PlantedCalibration, probability_name
from lexiscope.analysis.senses.sense_tests import choice_shares, selection_share
from lexiscope.analysis.senses.signal import GUMBEL_SD, signal_and_noise
from lexiscope.analysis.senses.similarity import similarity_name
from lexiscope.build.stories.inventory import synset_usages
from lexiscope.core.errors import DataError, StatisticError
from lexiscope.core.result import (
    Contrast,
    Estimate,
    Interval,
    Record,
    Result,
    Undefined,
    parse_statistic,
    statistic_name,
)
from lexiscope.core.subject import ChoosesSense, Subject
from lexiscope.core.usage import Usage
from lexiscope.items.answers.known_words import KnowsWords
from lexiscope.report.figures import Heading
from lexiscope.report.part import Omission, Part, ends_of, find_record, part_of, record_cell
from lexiscope.report.pivot import Col, PivotRow, pivot, rank_columns, records_of, rows_of
from lexiscope.report.plots.accuracy import stacked_shares
from lexiscope.report.plots.distributions import histograms
from lexiscope.report.plots.senses import GridPoint, beta_grid, noise_against_signal, senses_by_frequency
from lexiscope.report.tables import (
    BOUNDED,
    INTEGER,
    P_VALUE,
    TEXT,
    Cell,
    Column,
    Format,
    Head,
    IntervalCell,
    Table,
    columns,
    drop_empty,
    table_of,
)
from lexiscope.resources.vectors.sense_vectors import read_log
from lexiscope.senses.induced_senses import senses_by_rank
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.tasks.relatedness.by_sense import AVG_SIM, AVG_SIM_C, AVG_SIM_C_UPPER, MAX_SIM, MAX_SIM_C
from lexiscope.tasks.same_sense.by_sense import CountsSenses

VARIANTS = {"skip_gram": "skip-gram", "sasi": "SASI", "gasi": "GASI", "gasi_beta": "GASI-β"}
"""How the variants of training are called, by their names in settings."""
RETRAINED = "gasi_beta_pruned"
MODELS = {**{name: VARIANTS[name] for name in ("sasi", "gasi", "gasi_beta")}, RETRAINED: "GASI-β-pruned"}
"""The models of the paper, by their names in statistics; the last one is trained again on pruned senses."""
HOLDS, REVERSED, NOT_COMPUTED = "holds", "reversed", "not computed"
SIMILARITIES = {
    MAX_SIM: "MaxSim",
    AVG_SIM: "AvgSim",
    MAX_SIM_C: "MaxSimC",
    AVG_SIM_C: "AvgSimC",
    AVG_SIM_C_UPPER: "AvgSimC, j ≥ i",
}
"""How the similarities are called, by their measures."""
NOISE, SENSES_PER_WORD = "noise_sd", "senses_per_word"
"""The statistics by which trainings are summed up: the noise at their end, and the mean number of senses of a word."""
BY_LOOKS, BY_USAGES = "planted_selection", "planted_accuracy"
"""The share of usages of planted senses that is right: by what the chosen sense looks like, and by the usages."""
PLANTED = {
    BY_USAGES: "Planted, by usages",
    BY_LOOKS: "Planted, by neighbours",
    probability_name(NEIGHBOURS): "Planted, P by neighbours",
}
"""How the measures of planted senses are called."""
SIGNALS = "Signal and noise, word by word"
"""What is omitted if a training has one sense for a word, or knows too few of the words."""
NOBODY = "No vectors were given: --subject."
CHOICE = "Choice of a sense over a synset's sentences"
"""What is omitted if a subject has no two senses of a synset's word."""

Compared = Mapping[tuple[str, str], Orders]
"""What :func:`~lexiscope.analysis.senses.disagreeing_orders.compare_every` returns."""
_MOST_NAMED = 6
_BINS = 10
_UNCOVERED = (
    "All pairs: a pair with a word that the subject does not know counts with similarity 0, so that knowing few words "
    "is not rewarded. Which rule Guo et al. (2018) use is not known here: both are printed."
)
_P = "The probability of what is right, mean: the paper's P (Table 2), with the planted word for the person."
_ONE, _TWO, _THREE = Format("number", 1), Format("number", 2), Format("number", 3)
_LEFT = (
    Col("Words", "n_vocabulary", INTEGER, show="value"),
    Col("Senses", "n_senses", INTEGER, show="value"),
    Col("Senses of a word", SENSES_PER_WORD, _TWO, show="value"),
)
_ENDS = (
    Col("SD of c̄·s", "signal_sd", _THREE, show="value"),
    Col("SD of the noise", NOISE, _THREE, show="value"),
    Col("Entropy", "selection_entropy", _THREE, show="value", note="Of the choice of a sense without noise, in nats."),
)


class TellsSenses(Subject, ChoosesSense, KnowsWords, CountsSenses, Protocol):
    """A subject that says of a word how many senses it has, and of a usage how probable each is."""


# -- trainings ------------------------------------------------------------------------------------------------------


def trainings_table(trainings: Sequence[Gasi], titles: Mapping[str, str]) -> Table | None:
    """Return what vectors are: variant, β, senses, what pruning left, the end of the training; ``None`` of none."""
    heads = columns(
        *("Vectors", "Variant", ("β", _TWO), ("K", INTEGER), ("Width", INTEGER), ("Words", INTEGER)),
        *(("Senses", INTEGER), ("Senses of a word", _TWO)),
        Column("λ", _THREE, note="The cosine distance under which two senses of a word were one, where pruned."),
        Column("Tokens read", INTEGER, note="Over all epochs."),
        Column("Entropy", _THREE, note="Of the choice of a sense without noise, at the end of the training, in nats."),
    )
    rows: list[tuple[Cell, ...]] = []
    for training in trainings:
        pruned = training.about.get("pruned")
        log = read_log(training.folder)
        n_words, most, width = training.vectors.senses.shape
        senses = int(training.vectors.mask.sum())
        what = (titles.get(training.subject_id, training.subject_id), VARIANTS.get(training.variant, training.variant))
        size = (None if np.isnan(training.beta) else training.beta, most, width, n_words, senses, senses / n_words)
        end = (log[-1].tokens, log[-1].entropy_without_noise) if log else (None, None)
        rows.append((*what, *size, pruned["threshold"] if pruned else None, *end))
    table = Table("trainings", "", "The vectors and how they were trained", heads, tuple(rows))
    return drop_empty(table) if rows else None


def noise_part(trainings: Sequence[Gasi], titles: Mapping[str, str]) -> Part:
    """Return noise and signal at the end of every training that has a log, and their course where there is noise."""
    records, drawn, omitted = [], {}, []
    for training in trainings:
        title, log = titles.get(training.subject_id, training.subject_id), read_log(training.folder)
        if log and log[0].noise_sd > 0:
            drawn[title] = log
        else:
            why = "Its choice of a sense has no noise." if log else "Its folder has no log: pruned vectors have none."
            omitted.append(Omission("Noise against signal", why, title))
        if log:
            last = log[-1]
            ends = {"signal_sd": last.signal_sd, NOISE: last.noise_sd, "selection_entropy": last.entropy_without_noise}
            records += [Record(name, value, training.subject_id) for name, value in ends.items()]
    caption = "The smaller the spread of c̄·s relative to the noise, the more the choice of a sense is left to chance."
    figure = noise_against_signal(drawn, Heading("noise", "3", "Noise and signal", caption)) if drawn else None
    title = "Noise and signal at the end of training"
    table = _training_table("noise_at_the_end", title, records, _ENDS, titles) if records else None
    return part_of(records, table, figure, omitted)


def signal_part(
    trainings: Sequence[Gasi],
    usages: Sequence[Usage],
    titles: Mapping[str, str],
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> Part:
    """Return how strong the signal of each word is, compared with the noise of its training (Figure 3).

    *usages* are what is judged. A training with one sense for a word, and one that knows too few of the words, is
    omitted with the reason.
    """
    results: list[Estimate] = []
    rows: list[tuple[Cell, ...]] = []
    drawn, omitted = {}, []
    distinct = list({usage.key: usage for usage in usages}.values())
    for training in trainings:
        title = titles.get(training.subject_id, training.subject_id)
        known = [usage for usage in distinct if training.knows(usage)]
        signals = training.signals(known)
        words = np.array([usage.target.casefold() for usage in known], dtype=str)
        there = np.isfinite(signals).any(axis=1)
        try:
            judged = signal_and_noise(
                words[there].tolist(), signals[there],
                noise_sd=training.noise_sd, resamples=resamples, seed=seed,
            )  # fmt: skip
        except StatisticError as error:
            omitted.append(Omission(SIGNALS, error.sentences, title))
            continue
        results += [result.about(subject=training.subject_id) for result in judged.results()]
        choice = np.array([word.choice_sd for word in judged.words])
        drawn[f"{title}, noise {judged.noise_sd:.2f}" if judged.noise_sd else f"{title}, no noise"] = choice
        scaled = _with_interval(judged.above_scaled, judged.above_scaled_interval) if judged.noise_sd else None
        rows.append((
            title, len(judged.words), judged.n, _with_interval(judged.sd, judged.sd_interval),
            _with_interval(judged.choice_sd, judged.choice_sd_interval), *np.quantile(choice, (0.1, 0.9)).tolist(),
            judged.noise_sd, scaled, _with_interval(judged.above_gumbel, judged.above_gumbel_interval),
        ))  # fmt: skip
    if not rows:
        return part_of(omitted)
    beside = "Share of words whose SD between the senses of a window is above"
    heads = columns(
        *("Vectors", ("Words", INTEGER), ("Windows", INTEGER)),
        Column("SD of c̄·s", _TWO, note="Over all signals of a word; median over words."),
        Column("Between senses", _TWO, note="SD between the senses of a window, which alone changes a choice; median."),
        *(("10 %", _TWO), ("90 %", _TWO), ("SD of the noise", _TWO)),
        Column("Above the noise", BOUNDED, note=f"{beside} the noise of the training."),
        Column("Above unscaled", BOUNDED, note=f"{beside} that of Gumbel noise without a scale, {GUMBEL_SD:.2f}."),
    )
    caption = "SD of c̄·s between the senses of a window, word by word. Intervals of the table resample words."
    heading = Heading("signal_by_word", "", "Signal and noise, word by word", caption)
    table = Table("signal_by_word", "", "Signal and noise, word by word", heads, tuple(rows))
    axis = "SD of c̄·s between the senses of a window"
    return part_of(results, drop_empty(table), histograms(drawn, heading, axis=axis), omitted)


def senses_part(trainings: Sequence[Gasi], titles: Mapping[str, str]) -> Part:
    """Return how many senses words have: the means of all trainings; by frequency, those of which words differ."""
    records, varied = [], {}
    for training in trainings:
        vectors = training.vectors
        senses, n_words = int(vectors.mask.sum()), len(vectors.words)
        counts = {"n_vocabulary": n_words, "n_senses": senses, SENSES_PER_WORD: senses / n_words}
        records += [Record(name, value, training.subject_id) for name, value in counts.items()]
        if n_words >= _BINS and len(set(vectors.n_senses.tolist())) > 1:
            title = titles.get(training.subject_id, training.subject_id)
            varied[title] = senses_by_rank(vectors.n_senses, vectors.mask.shape[1], bins=_BINS)
            records += [
                Record(statistic_name(SENSES_PER_WORD, tenth=tenth), row.mean, training.subject_id)
                for tenth, row in enumerate(varied[title], start=1)
            ]
    same = "All words have the same number of senses: nothing was pruned."
    table = _training_table("senses_left", "Senses that are left", records, _LEFT, titles)
    return part_of(records, table, senses_by_frequency(varied) if varied else same)


def _training_table(
    name: str, title: str, records: Sequence[Record], heads: Sequence[Col], titles: Mapping[str, str]
) -> Table:
    rows = rows_of(records, "subject", names=titles)
    return pivot(name, title, records, heads, rows, labels=("Vectors",))


# -- similarity -----------------------------------------------------------------------------------------------------


def similarity_table(
    name: str,
    title: str,
    results: Sequence[Record | Result],
    rows: Sequence[PivotRow],
    *,
    measures: Mapping[str, str],
    labels: Sequence[str],
    beside: str = "",
    number: str = "",
    notes: Sequence[str] = (),
) -> Table:
    """Return correlations of similarities with ratings, and coverage (:mod:`lexiscope.analysis.senses.similarity`).

    *measures* describe each measure, which has a column: the first one has a second column, over all pairs. ``beside``
    is a statistic that has its own rows, and its numbers in the first column.
    """
    first = next(iter(measures))
    other = (beside,) if beside else ()
    # the rows of the other statistic have their numbers in the first column, and as many pairs
    named = {measure: (similarity_name(measure), *(other if measure == first else ())) for measure in measures}
    whole = similarity_name(first, uncovered=0)
    heads = (
        *(Col(SIMILARITIES[name], named[name], _ONE, note=note, absent=None) for name, note in measures.items()),
        Col(f"{SIMILARITIES[first]}, all pairs", whole, _ONE, note=_UNCOVERED, absent=None),
        Col("Covered", "coverage", INTEGER, absent=None,
            cell=lambda record: round((record.value or 0.0) * (record.n or 0) / 100)),
        Col("Pairs", ("coverage", *other), show="n", absent=None),
        Col("%", "coverage", _ONE, show="value", absent=None),
        *rank_columns(
            results, statistic_name("rank", of="spearman", among="subjects", similarity=first),
            f"by {SIMILARITIES[first]}, on the pairs that all of them cover",
        ),
    )  # fmt: skip
    return pivot(name, title, results, heads, rows, labels=labels, number=number, notes=notes)


# -- do two kinds of measures order the same subjects alike? ----------------------------------------------------------


def orders_table(compared: Compared, titles: Mapping[str, str], *, first: str) -> Table:
    """Return a table of all comparisons: the best subject by each measure, and the pairs that are in another order.

    *titles* are short names of subjects by id; *first* is what the first kind of measure is called.
    """
    heads = columns(
        *(first, "Compared with", f"Best by {first.lower()}", "Best by the other", "Same best"),
        *("In another order", "Clearly"),
    )

    rows = []
    for (measure, other), orders in compared.items():
        best = [titles.get(subject, subject) for subject in (orders.best_first, orders.best_second)]
        clear = [f"{titles.get(a, a)} / {titles.get(b, b)}" for a, b in orders.clear[:_MOST_NAMED]]
        counts = f"{len(orders.disagreeing)} of {orders.n_pairs}"
        rows.append((measure, other, *best, "yes" if orders.same_best else "no", counts, "; ".join(clear) or "none"))
    return Table("orders", "", "Where the two disagree", heads, tuple(rows))


def orders_sentence(compared: Compared, *, first: str, second: str, who: str) -> str:
    """Return whether two kinds of measures, *first* and *second*, have the same best subjects, *who*; empty of none."""
    apart = [f"{measure} and {other.lower()}" for (measure, other), own in compared.items() if not own.same_best]
    if not compared:
        return ""
    if not apart:
        return f"All {len(compared)} comparisons of {first} with {second} have the same best {who}"
    clear = sum(bool(own.clear) for own in compared.values())
    return (
        f"In {len(apart)} of {len(compared)} comparisons the two have other best {who} ({'; '.join(apart)}); "
        f"in {clear} a pair is clearly in another order"
    )


# -- the scale of the noise -----------------------------------------------------------------------------------------


def grid_of_beta(trainings: Iterable[Gasi]) -> list[Gasi]:
    """Return the trainings of GASI-β that are not pruned, if two of them differ in β; else none."""
    own = [training for training in trainings if np.isfinite(training.beta) and not training.is_pruned]
    return own if len({training.beta for training in own}) > 1 else []


def best_of_grid(trainings: Iterable[Gasi], records: Iterable[Record], statistic: str) -> Gasi | None:
    """Return the training of a grid of β with the highest value of a statistic, the first of equals.

    *records* hold that statistic of each; ``None`` without a grid, and where none has a value.
    """
    known = _records_by_subject(records, statistic)
    own = [training for training in grid_of_beta(trainings) if training.subject_id in known]
    return max(own, key=lambda training: known[training.subject_id].value or 0.0, default=None)


def grid_part(
    trainings: Sequence[Gasi],
    records: Sequence[Record],
    statistics: Mapping[str, str],
    *,
    titles: Mapping[str, str],
    on: str,
    unit: str,
) -> Part:
    """Return what trainings with several β reached, and which is best: a table, and a figure with other variants.

    *records* are of one dataset, which *on* names; *statistics* are the columns of the table, by head: the first one
    chooses, and is drawn in its *unit*. If none of a grid has a value, the reason.
    """
    first, by = next(iter(statistics.items()))
    best, grid = best_of_grid(trainings, records, by), grid_of_beta(trainings)
    if best is None:
        why = (
            f"{first} is undefined for all of them."
            if grid and records
            else (f"It needs two trainings of GASI-β with different β, and {on}.")
        )
        return part_of(Omission("Grid of β", why))
    rows = [
        PivotRow(
            (titles.get(training.subject_id, training.subject_id), training.beta), {"subject": training.subject_id}
        )
        for training in sorted(
            grid, key=lambda training: (training.beta, titles.get(training.subject_id, training.subject_id))
        )
    ]
    heads = [Col(name, statistic, _ONE) for name, statistic in statistics.items()]
    heads.append(Col("", by, TEXT, cell=lambda record: "chosen" if record.subject == best.subject_id else ""))
    title = f"The scale of the noise, chosen by {first} on {on}"
    labels = ("Vectors", Column("β", _TWO))
    table = drop_empty(pivot("beta_grid", title, records, heads, rows, labels=labels))
    known = _records_by_subject(records, by)
    points = [
        GridPoint(titles.get(name, name), training.beta, known[name].value or 0.0, *ends_of(known[name]))
        for training in trainings
        if (name := training.subject_id) in known and not training.is_pruned
    ]
    heading = Heading("beta_grid", "", f"{first} on {on} by the scale of the noise")
    chosen = Record(statistic_name("best_beta", similarity=parse_statistic(by)[1]["similarity"]), best.beta)
    return part_of([chosen], table, beta_grid(points, heading, statistic=f"{first} on {on}, {unit}"))


def best_beta(trainings: Sequence[Gasi], records: Iterable[Record], statistic: str, *, named: str) -> str:
    """Return which β of a grid is best by a statistic, *named* so, and other differences between its trainings.

    Nothing without a grid.
    """
    best, grid = best_of_grid(trainings, records, statistic), grid_of_beta(trainings)
    if best is None:
        return ""
    sentence = (
        f"β = {best.beta:g} is best by {named}. The figure by which a β was chosen is too high to compare it "
        "by: compare on the other sets"
    )
    known = [
        {
            **training.trained,
            **{key: training.about.get(key) for key in ("corpus", "seed", "n_senses")},
        }
        for training in grid
    ]
    names = dict.fromkeys(name for settings in known for name in settings if name != "beta")
    other = [name for name in names if any(settings.get(name) != known[0].get(name) for settings in known)]
    return f"{sentence}. These trainings differ in more than β: {', '.join(other)}" if other else sentence


def flatter_with_beta(
    trainings: Iterable[Gasi], records: Iterable[Record], dataset: str, *, resamples: int, seed: int
) -> tuple[Result, ...]:
    """Return Spearman's rho, over the trainings of a grid, of β with the entropy of the choice over a synset.

    *records* are those of :func:`synset_part`; nothing for fewer than three trainings.
    """
    entropies = _records_by_subject(records, "sentence_entropy")
    known = [training for training in grid_of_beta(trainings) if training.subject_id in entropies]
    if len(known) < 3:
        return ()
    name = statistic_name("spearman", of="beta", **{"with": "sentence_entropy"})
    x, y = [training.beta for training in known], [entropies[training.subject_id].value or 0.0 for training in known]
    try:
        return (spearman(x, y, decimals=10, resamples=resamples, seed=seed).about(name=name, dataset=dataset),)
    except StatisticError as error:
        return (Undefined(name, error.what, len(known), dataset=dataset),)


def _records_by_subject(records: Iterable[Record], statistic: str) -> dict[str, Record]:
    """The records of a statistic that have a value, by subject."""
    return {record.subject: record for record in records if record.statistic == statistic and record.value is not None}


# -- the paper's numbers and ours -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PublishedDifference:
    """A difference that a paper prints (``place``, ``dataset``, what it is ``of``, what is ``compared``), and ours.

    Ours is ``None`` if a run has no such training or set.
    """

    place: str
    dataset: str
    of: str
    compared: str
    printed: float
    ours: Estimate | None = None

    @property
    def verdict(self) -> str:
        """Whether ours has the direction of the paper's."""
        if self.ours is None:
            return NOT_COMPUTED
        return HOLDS if self.ours.value * self.printed > 0 else REVERSED

    @property
    def clear(self) -> bool:
        """Whether the interval of ours excludes 0."""
        return self.ours is not None and (self.ours.interval.low > 0 or self.ours.interval.high < 0)


def model_of(training: Gasi) -> str:
    """Return the model of the paper that a training is, by its name in statistics; empty for none of them.

    A training on fewer senses than K for each word is that of the paper after pruning. Vectors that were pruned and not
    trained again are none of its models.
    """
    n_words, most, _ = training.about["shape"]
    if training.is_pruned or most < 2:
        return ""
    if training.about.get("senses_at_start", n_words * most) < n_words * most:
        return RETRAINED if training.variant == "gasi_beta" else ""
    return training.variant if training.variant in MODELS else ""


def differences_table(differences: Sequence[PublishedDifference], note: str) -> Table:
    """Return differences that a paper prints, ours, and whether they have the same direction."""
    verdict = Column("Verdict", note="holds: ours has the sign of the paper's; reversed: the other one.")
    cells: Mapping[Head, Callable[[PublishedDifference], Cell]] = {
        "Table": lambda difference: difference.place,
        "Set": lambda difference: difference.dataset,
        "Of": lambda difference: difference.of,
        "Difference": lambda difference: difference.compared,
        ("Paper", _TWO): lambda difference: difference.printed,
        ("Ours", _ONE): lambda difference: (
            None if difference.ours is None else _with_interval(difference.ours.value, difference.ours.interval)
        ),
        ("Pairs", INTEGER): lambda difference: None if difference.ours is None else difference.ours.n,
        Column("Excludes 0", note="Whether the interval of ours does; the paper prints none."): lambda difference: (
            "" if difference.ours is None else "yes" if difference.clear else "no"
        ),
        verdict: lambda difference: difference.verdict,
    }
    title = "The differences of Tables 5 to 7, published and ours"
    return table_of("paper_differences", title, differences, cells, notes=(note,))


def verdicts_sentence(differences: Sequence[PublishedDifference]) -> str:
    """Return how many differences hold, are reversed, or are not computed, as text; empty if none is computed."""
    parts, left = [], len(differences)
    for verdict, word in ((HOLDS, "hold"), (REVERSED, "are reversed")):
        own = [difference for difference in differences if difference.verdict == verdict]
        parts.append(f"{len(own)} {word} ({sum(own.clear for own in own)} with an interval without 0)")
        left -= len(own)
    whole = f"Of {len(differences)} differences of Tables 5 to 7: {', '.join(parts)}, {left} are not computed"
    return whole if left < len(differences) else ""


def senses_left_out_table(
    contrasts: Sequence[Contrast], results: Iterable[Record | Result], titles: Mapping[str, str]
) -> Table:
    """Return the results of vectors without some senses of others, those of the others, and the difference.

    *results* hold the numbers of each with their intervals, *titles* are short names of subjects, and of datasets.
    """
    named = {similarity_name(measure): title for measure, title in SIMILARITIES.items()} | PLANTED
    records = records_of(results)

    def side(estimate: Estimate, dataset: str) -> Cell:
        record = find_record(records, estimate.name, dataset=dataset, subject=estimate.subject)
        return estimate.value if record is None else record_cell(record)

    cells: Mapping[Head, Callable[[Contrast], Cell]] = {
        "Set": lambda contrast: titles.get(contrast.dataset, contrast.dataset),
        "Measure": lambda contrast: named[contrast.first.name],
        "Vectors": lambda contrast: titles.get(contrast.first.subject, contrast.first.subject),
        ("Value", _TWO): lambda contrast: side(contrast.first, contrast.dataset),
        "Compared with": lambda contrast: titles.get(contrast.second.subject, contrast.second.subject),
        ("Its value", _TWO): lambda contrast: side(contrast.second, contrast.dataset),
        ("Difference", _TWO): lambda contrast: _with_interval(contrast.value, contrast.interval),
        ("p", P_VALUE): lambda contrast: contrast.p,
        Column("n", INTEGER, note="Pairs that both cover; of planted senses, pseudo-words."): lambda contrast: (
            contrast.n
        ),
    }
    title = "What vectors without some senses reach, and those from which they come"
    note = (
        "Similarities: 100 × Spearman's ρ; planted senses: shares, means over pseudo-words. Intervals resample words, "
        "of a difference the same ones for both."
    )
    return table_of("senses_left_out", title, contrasts, cells, notes=(note,))


def signal_below_noise_part(models: Mapping[str, Gasi]) -> Part:
    """Return Figure 3 and ours: is the signal at the end of the training of each model smaller than the noise?

    And how open the choice of a sense then is: its flatness, 1 where all senses are equally probable, of any K; and how
    many senses of a word are gone.
    """
    rows: list[tuple[Cell, ...]] = []
    records, choices = [], []
    for model, training in models.items():
        log, named = read_log(training.folder), {"model": model}
        if log:
            flatness = log[-1].entropy_without_noise / math.log(training.about["shape"][1])
            choices.append(Record(statistic_name("selection_flatness", **named), flatness, training.subject_id))
        choices.append(Record(statistic_name("senses_removed", **named), training.senses_removed, training.subject_id))
    for model in [model for model in MODELS if model != "sasi"]:
        own = models.get(model)
        log = read_log(own.folder) if own else ()
        noises = {"Gumbel noise": GUMBEL_SD} | ({} if model == "gasi" else {"scaled noise": own.noise_sd if own else 0})
        for name, noise in noises.items():
            if own is None or not log:
                rows.append((MODELS[model], name, None, None, NOT_COMPUTED))
                continue
            below = log[-1].signal_sd < noise
            verdict = HOLDS if below else REVERSED
            rows.append((MODELS[model], name, log[-1].signal_sd, noise, verdict))
            statistic = statistic_name("signal_below_noise", noise=name.split()[0].lower())
            records.append(Record(statistic, float(below), own.subject_id, note=f"{verdict}: Figure 3"))
    heads = columns("Model", "Noise", ("SD of c̄·s", _TWO), ("SD of the noise", _TWO), "The signal is smaller")
    note = "At the end of the training, over all words. The published claim is of GASI and the noise without a scale."
    title = "Figure 3: is the signal smaller than the noise?"
    return part_of(records, choices, Table("paper_noise", "", title, heads, tuple(rows), notes=(note,)))


# -- planted senses -------------------------------------------------------------------------------------------------


def planted_table(
    results: Sequence[Result], n_words: Mapping[str, int], titles: Mapping[str, str], *, where: str
) -> Table:
    """Return how well planted senses are recovered (:mod:`lexiscope.analysis.senses.planted`), a row for each subject.

    *n_words* is how many pseudo-words each subject knows, by id; *where* is where the usages come from.
    """
    heads = (
        Col("By neighbours", BY_LOOKS, BOUNDED, absent=None, note="The sense that is chosen has neighbours like the "
            "word that stood there; chance is one over the number of planted senses."),
        Col("By usages", BY_USAGES, BOUNDED, note="Each induced sense may stand for one planted sense, at best."),
        Col("P, by neighbours", probability_name(NEIGHBOURS), BOUNDED, absent=None, note=_P),
        Col("P, by usages", probability_name(ONE_TO_ONE), BOUNDED, absent=None, note=_P),
        Col("Purity", "planted_purity", BOUNDED, note="Each induced sense stands for what is most frequent in it."),
        Col("One sense for all", "planted_majority", BOUNDED, note="What no distinction at all reaches by usages."),
        Col("Recovered", "planted_recovered", _TWO, note="Planted senses of a word that induced ones go with."),
        Col("Pseudo-words", BY_USAGES, INTEGER, cell=lambda record: n_words[record.subject]),
        Col("Usages", BY_USAGES, show="n"),
        Col("Unknown", "n_unknown", INTEGER, cell=lambda record: int(record.value or 0)),
    )  # fmt: skip
    note = "Means over pseudo-words; intervals resample them."
    rows = rows_of(results, "subject", names=titles)
    title = f"Recovery of planted senses: {where}"
    return drop_empty(pivot("planted_senses", title, results, heads, rows, labels=("Vectors",), notes=(note,)))


def calibration_tables(
    calibrations: Mapping[str, Sequence[PlantedCalibration]], titles: Mapping[str, str], *, where: str
) -> tuple[Table, ...]:
    """Return what the probabilities of planted words are worth: one row a subject, and one row a bin of confidence.

    *calibrations* are those of each subject by id (:func:`~lexiscope.analysis.senses.planted.planted_calibration`);
    *where* is where the usages come from.
    """
    if not calibrations:
        return ()
    names = {ONE_TO_ONE: "by usages", NEIGHBOURS: "by neighbours"}
    own = [(titles.get(name, name), names[calibration.mapping], calibration) for name, several in calibrations.items()
           for calibration in several]  # fmt: skip
    heads = columns(
        *("Vectors", "What a sense stands for"),
        Column("P", BOUNDED, note=_P),
        Column("Confidence", BOUNDED, note="The mean probability of the answer."),
        Column("Right", BOUNDED, note="The share of answers that are right."),
        Column("Overconfidence", BOUNDED, note="Confidence less the share that is right; below 0: too little."),
        Column("Calibration error", BOUNDED, note=f"Expected calibration error over {len(own[0][2].bins)} bins. It "
               "errs upwards where bins hold few usages, and its interval too."),
        Column("Brier", BOUNDED, note="Squared error of all outcomes, 0 to 2; lower is better."),
    )  # fmt: skip
    rows = [
        (
            *name,
            _with_interval(calibration.probability, calibration.probability_interval),
            calibration.confidence,
            calibration.accuracy,
            _with_interval(calibration.overconfidence, calibration.overconfidence_interval),
            _with_interval(calibration.error, calibration.error_interval),
            _with_interval(calibration.brier, calibration.brier_interval),
        )
        for *name, calibration in own
    ]
    note = "Means over pseudo-words; intervals resample them."
    title = f"The probability of what was planted, and its calibration: {where}"
    first = Table("planted_calibration", "", title, heads, tuple(rows), notes=(note,))
    heads = columns(
        "Vectors", "What a sense stands for", "Confidence in the answer", ("Usages", INTEGER),
        ("Mean confidence", BOUNDED), Column("Right", BOUNDED, note="If it differs from the confidence, "
        "probabilities promise too much or too little."),
    )  # fmt: skip
    rows_of_bins = [
        (*name, f"{b.low:.1f} to {b.high:.1f}", b.n, b.confidence, _with_interval(b.right, b.interval))
        for *name, calibration in own
        for b in calibration.bins
        if b.n
    ]
    bins = Table("planted_reliability", "", f"Reliability of the probabilities, bin by bin: {where}", heads,
                 tuple(rows_of_bins), notes=(note,))  # fmt: skip
    return first, bins


def _with_interval(value: float, interval: Interval) -> Cell:
    return IntervalCell(interval.low, interval.high, value) if np.isfinite(interval.low) else value


# -- which sense is chosen ------------------------------------------------------------------------------------------


def synset_part(synset: str, subjects: Sequence[TellsSenses], titles: Mapping[str, str]) -> Part:
    """Return how probable each sense of a word is over the SemCor sentences of a synset (``bond.n.02``).

    A subject without two senses of the word is omitted, with the reason; all are if no synset is named, or if WordNet
    or SemCor is not available. *Source:* GASI, Figure 5.
    Errors: :class:`InputError` for a name that is no synset's.
    """
    if not subjects or not synset:
        return part_of(Omission(CHOICE, "No synset was named: --synset." if subjects else NOBODY))
    try:
        lemma, usages = synset_usages(synset)
    except DataError as error:
        return part_of(Omission(CHOICE, f"Not available: {error.what}."))
    if not usages:
        return part_of(Omission(CHOICE, f"SemCor has no sentence with {lemma!r} in {synset}."))
    results: list[Estimate] = []
    shares: list[tuple[str, str, float]] = []
    omitted = []
    for subject in subjects:
        title = titles.get(subject.subject_id, subject.subject_id)
        if not subject.knows(usages[0]) or subject.sense_count(usages[0]) < 2:
            omitted.append(Omission(CHOICE, f"It has no two senses of {lemma!r}.", title))
            continue
        own = choice_shares(subject.sense_distribution(usages))
        results += [share.about(subject=subject.subject_id, condition=synset) for share in own]
        ranked = enumerate(own[:-1], start=1)
        shares += [(title, f"sense of rank {rank}", 100 * share.value) for rank, share in ranked if share.value > 0]
    if not results:
        return part_of(omitted)
    note = (
        "Senses of two trainings are not the same senses: they stand by falling probability, each training by its own, "
        "and the first of one is not the first of another."
    )
    ranks = range(1, len({result.name for result in results}))
    heads = (
        Col("Entropy", "sentence_entropy", BOUNDED, note="Entropy of a usage's distribution, mean, in nats."),
        *(Col(f"Rank {rank}", selection_share(rank), BOUNDED, absent=None) for rank in ranks),
    )
    rows = rows_of(results, "subject", names=titles)
    title = f"Mean probability of the senses of {lemma!r} over {len(usages)} usages of {synset} in SemCor"
    table = pivot("synset_senses", title, results, heads, rows, labels=("Vectors",), notes=(note,))
    used = {named for _, named, _ in shares}
    order = [named for rank in ranks if (named := f"sense of rank {rank}") in used]
    heading = Heading("synset_senses", "5", f"Senses chosen in the usages of {synset}", note)
    return part_of(results, table, stacked_shares(shares, heading, order=order, unit="Mean probability, %"), omitted)
