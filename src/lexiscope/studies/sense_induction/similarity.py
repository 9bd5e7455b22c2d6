"""Similarity beside people's ratings: MaxSim and AvgSim of words, MaxSimC and AvgSimC of usages, with coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.agreement import leave_one_out
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.sense_similarity import SimilarityCorrelation, similarity_correlation
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record
from lexiscope.core.simulated import COLLECTED
from lexiscope.report.figure_accuracy import Dot, accuracy_dots
from lexiscope.report.figures import Heading
from lexiscope.report.part import Part, pick, shown
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Table
from lexiscope.studies.sense_induction.material import HasSenses, Material, PairSet
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.tasks.relatedness.by_sense import AVG_SIM, AVG_SIM_C, AVG_SIM_C_UPPER, MAX_SIM, MAX_SIM_C

NAMES = {
    MAX_SIM: "MaxSim",
    AVG_SIM: "AvgSim",
    MAX_SIM_C: "MaxSimC",
    AVG_SIM_C: "AvgSimC",
    AVG_SIM_C_UPPER: "AvgSimC, j ≥ i",
}
OF_WORDS, OF_USAGES = (MAX_SIM, AVG_SIM), (AVG_SIM_C, MAX_SIM_C, AVG_SIM_C_UPPER, MAX_SIM, AVG_SIM)
_RHO, _PERCENT = Format("number", 1), Format("number", 1)
_UNCOVERED = (
    "All pairs: a pair with a word that the subject does not know counts with similarity 0, so that knowing few words "
    "is not rewarded. Which rule Guo et al. (2018) use is not known here: both are printed."
)
_WORDS = "Intervals resample first words of pairs: pairs of one word are not independent."


def rho_name(measure: str, *, every: bool = False) -> str:
    """Return the name of the correlation of a similarity, over covered pairs or over *every* one.

    >>> rho_name("max_sim", every=True)
    'spearman_x100(similarity=max_sim,uncovered=0)'
    """
    return f"spearman_x100(similarity={measure}{',uncovered=0' if every else ''})"


def words_part(material: Material, settings: SenseInductionSettings) -> Part:
    """Return MaxSim and AvgSim on the sets of word pairs (Tables 6 and 7), with coverage."""
    sets = [each for each in material.of_kind("similarity") if not each.in_context]
    if not sets:
        return Part()
    records = _records(material, sets, settings, OF_WORDS)
    columns = (
        Column("Set"), Column("Vectors"), Column("MaxSim", _RHO), Column("AvgSim", _RHO),
        Column("MaxSim, all pairs", _RHO, note=_UNCOVERED), Column("Covered", INTEGER), Column("Pairs", INTEGER),
        Column("%", _PERCENT),
    )  # fmt: skip
    rows = [
        (each.title, material.title_of(who.subject_id), *_cells(records, each, who, OF_WORDS))
        for each in sets
        for who in material.subjects
    ]
    title = "Word similarity: 100 × Spearman's ρ with people's mean ratings"
    notes: tuple[str, ...] = (_WORDS,)
    if not any(len(each.responses.where(measure="rating")) for each in sets):
        notes += ("The files of these sets hold mean ratings only, so that people's own agreement is not known here.",)
    table = Table("word_similarity", "6", title, columns, tuple(rows), notes)
    heading = Heading(
        "word_similarity", "", "MaxSim beside people's ratings, set by set", "Over covered pairs. " + _WORDS
    )
    dots = [
        Dot(each.title, material.title_of(who.subject_id), *_ends(_rho(records, each, who, MAX_SIM)), np.nan)
        for each in sets
        for who in material.subjects
    ]
    dots = [dot for dot in dots if np.isfinite(dot.value)]
    figures = (accuracy_dots(dots, heading, unit="100 × ρ", lowest=_lowest(dots)),) if dots else ()
    return Part(records, (table,), figures)


def usages_part(material: Material, settings: SenseInductionSettings) -> Part:
    """Return MaxSimC and AvgSimC on the sets of usages in context (SCWS), beside the agreement of the ratings."""
    sets = [each for each in material.of_kind("similarity") if each.in_context]
    if not sets:
        return Part()
    records = _records(material, sets, settings, OF_USAGES) + _agreement(sets, settings)
    columns = (
        Column("Set"), Column("Vectors"), Column("AvgSimC", _RHO, note="The full sum over K × K pairs of senses."),
        Column("MaxSimC", _RHO), Column("AvgSimC, j ≥ i", _RHO, note="The sum as it is printed: it depends on which "
        "usage stands first and on how senses are numbered."),
        Column("MaxSim", _RHO, note="Without the contexts."), Column("AvgSim", _RHO),
        Column("AvgSimC, all pairs", _RHO, note=_UNCOVERED), Column("Covered", INTEGER), Column("Pairs", INTEGER),
        Column("%", _PERCENT),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for each in sets:
        rows += [
            (each.title, material.title_of(who.subject_id), *_cells(records, each, who, OF_USAGES))
            for who in material.subjects
        ]
        agreed = pick(records, _AGREEMENT, dataset=each.name)
        if agreed is not None:
            rows.append((each.title, _RATINGS, shown(agreed), *[None] * 6, agreed.n, None))
    unnamed = any(each.name == "scws" for each in sets)
    notes = (
        _WORDS,
        "Ratings among each other: one column of ratings with the mean of the others, mean of columns."
        + (" Who gave a column is not published, so that it is no person's agreement." if unnamed else ""),
    )
    title = "Similarity in context: 100 × Spearman's ρ with people's mean ratings"
    return Part(records, (Table("similarity_in_context", "", title, columns, tuple(rows), notes),))


def _lowest(dots: Sequence[Dot]) -> float:
    """Where the axis begins: at 0, or at the multiple of 10 below the lowest value or end of an interval."""
    ends = [end for dot in dots for end in (dot.value, dot.low) if np.isfinite(end)]
    return float(min(0.0, 10 * np.floor(min(ends) / 10)))


def result_words(material: Material, records: Sequence[Record], measure: str) -> str:
    """Say in words which subject has the highest correlation with each set, over covered pairs."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.statistic == rho_name(measure) and record.value is not None:
            found.setdefault(record.dataset, []).append(record)
    best = {name: max(rows, key=lambda record: record.value or 0.0) for name, rows in found.items()}
    texts = [f"{_set_title(material, n)}: {material.title_of(r.subject)} {r.value:.1f}" for n, r in best.items()]
    return f"Highest {NAMES[measure]} correlation, 100 × ρ. {'; '.join(texts)}" if texts else ""


def _set_title(material: Material, name: str) -> str:
    return next(each.title for each in material.sets if each.name == name)


_RATINGS = "ratings among each other"
_AGREEMENT = "rater_agreement_x100(variant=leave_one_out)"


@dataclass(frozen=True, slots=True)
class _Answers:
    """The similarities of one subject on one set, in the order of its items; not-a-number where not covered."""

    pairs: PairSet
    subject: HasSenses
    values: NDArray[np.float64]


def _answers(material: Material, pairs: PairSet, subject: HasSenses, measure: str) -> _Answers:
    rows = material.responses.where(subject_id=subject.subject_id, measure=measure)
    value = dict(zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True))
    return _Answers(pairs, subject, np.array([value[item.item_id] for item in pairs.items], dtype=np.float64))


def _records(
    material: Material, sets: Sequence[PairSet], settings: SenseInductionSettings, measures: Sequence[str]
) -> tuple[Record, ...]:
    found: list[Record] = []
    for each in sets:
        found.append(Record("n_pairs", float(len(each.items)), dataset=each.name))
        for subject in material.subjects:
            answers = [_answers(material, each, subject, measure) for measure in measures]
            covered = int(np.isfinite(answers[0].values).sum())
            where = {"subject": subject.subject_id, "dataset": each.name}
            share = 100 * covered / len(each.items)
            known = Record("coverage", share, n=len(each.items), unit="percent", note=f"{covered} pairs")
            found.append(replace(known, subject=subject.subject_id, dataset=each.name))
            for answer, measure in zip(answers, measures, strict=True):
                found += [_correlated(answer, measure, settings, where, every=every) for every in (False, True)]
    return tuple(found)


def _correlated(
    answers: _Answers, measure: str, settings: SenseInductionSettings, where: dict[str, str], *, every: bool
) -> Record:
    name = rho_name(measure, every=every)
    try:
        found = _correlation(answers, measure, settings, uncovered=0.0 if every else None)
    except StatisticError as error:
        return Record(name, None, note=f"undefined: {error.what}", **where)  # type: ignore[arg-type]
    n = found.n_all if every else found.n
    bounded = np.isfinite([found.low, found.high]).all()
    low, high = (found.low, found.high) if bounded else (None, None)
    interval = found.interval if bounded else ""
    return Record(name, found.value, low=low, high=high, interval=interval, n=n, unit="100 × rho", **where)  # type: ignore[arg-type]


def _correlation(
    answers: _Answers, measure: str, settings: SenseInductionSettings, *, uncovered: float | None
) -> SimilarityCorrelation:
    words = answers.pairs.words
    kept = words if uncovered is not None else words[np.isfinite(answers.values)]
    several = len(set(kept.tolist())) > 1
    return similarity_correlation(
        answers.values,
        answers.pairs.ratings,
        measure=measure,
        uncovered=uncovered,
        groups=words if several else None,
        resamples=settings.n_bootstrap if several else 0,
        seed=settings.seed,
    )


def _agreement(sets: Sequence[PairSet], settings: SenseInductionSettings) -> tuple[Record, ...]:
    found = []
    for each in sets:
        rows = each.responses.where(measure="rating", subject_kind=COLLECTED)
        if len(rows.unique("subject_id")) > 2:
            agreed = leave_one_out(Ratings.from_table(rows), resamples=settings.n_bootstrap, seed=settings.seed)
            interval = agreed.interval
            ends = (100 * interval.low, 100 * interval.high) if interval.is_defined else (None, None)
            found.append(
                Record(_AGREEMENT, 100 * agreed.mean, dataset=each.name, low=ends[0], high=ends[1],
                       interval=interval.method if interval.is_defined else "", n=len(each.items), unit="100 × rho")
            )  # fmt: skip
    return tuple(found)


def _rho(
    records: Sequence[Record], pairs: PairSet, subject: HasSenses, measure: str, *, every: bool = False
) -> Record | None:
    return pick(records, rho_name(measure, every=every), dataset=pairs.name, subject=subject.subject_id)


def _ends(record: Record | None) -> tuple[float, float, float]:
    if record is None or record.value is None:
        return (np.nan, np.nan, np.nan)
    low, high = (np.nan if end is None else end for end in (record.low, record.high))
    return (record.value, low, high)


def _cells(records: Sequence[Record], pairs: PairSet, subject: HasSenses, measures: Sequence[str]) -> list[Cell]:
    """The correlations of a row, that of the first measure over all pairs, and the coverage."""
    cells = [shown(_rho(records, pairs, subject, measure)) for measure in measures]
    every = shown(_rho(records, pairs, subject, measures[0], every=True))
    coverage = pick(records, "coverage", dataset=pairs.name, subject=subject.subject_id)
    share = 0.0 if coverage is None or coverage.value is None else coverage.value
    return [*cells, every, round(share * len(pairs.items) / 100), len(pairs.items), share]
