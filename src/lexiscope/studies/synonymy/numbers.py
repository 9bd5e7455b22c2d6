"""Numbers of the study as records: accuracies and contrasts, each with its intervals and tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lexiscope.analysis.accuracy import Accuracy, Contrast, accuracy, contrast
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import with_interval
from lexiscope.report.tables import Format
from lexiscope.studies.synonymy.cells import Cell
from lexiscope.studies.synonymy.material import Material, Outcome
from lexiscope.studies.synonymy.settings import SynonymySettings

PERCENT = Format("number", 1)
TWO = Format("number", 2)


def scored(material: Material, cell: Cell, outcome: Outcome, settings: SynonymySettings) -> Accuracy:
    """Return the accuracy of an outcome, its interval over sentences."""
    clustered = len(set(material.sentences)) > 1
    return accuracy(
        outcome.correct,
        clusters=np.array(material.sentences) if clustered else None,
        tied=outcome.tied,
        chance=cell.chance(outcome.n_options),
        resamples=settings.n_bootstrap if len(outcome.correct) > 1 else 0,
        seed=settings.seed,
    )


def compared_outcomes(material: Material, first: Outcome, second: Outcome, settings: SynonymySettings) -> Contrast:
    """Return the contrast of two outcomes over the items, its interval over sentences."""
    clustered = len(set(material.sentences)) > 1
    return contrast(
        first.correct,
        second.correct,
        clusters=np.array(material.sentences) if clustered else None,
        resamples=settings.n_bootstrap,
        seed=settings.seed,
    )


def accuracy_records(
    material: Material, found: Accuracy, *, subject: str, condition: str, per: str, view: str = ""
) -> tuple[Record, ...]:
    """Return accuracy with interval and p, the Wilson bounds, chance, and the number of ties. *Unit:* percent."""

    def record(statistic: str, value: float | None, note: str = "") -> Record:
        return Record(
            statistic,
            value,
            subject=subject,
            dataset=material.name,
            condition=condition,
            view=view,
            unit="percent" if not statistic.startswith("n_") else "",
            n=found.n,
            note=note,
        )

    percent = 100 * found.n_correct / found.n
    main = with_interval(record(statistic_name("accuracy", per=per), percent), found.clustered, times=100)
    p = None if np.isnan(found.p_above_chance) else found.p_above_chance
    return (
        replace(main, p=p, note="; ".join(filter(None, (main.note, f"{found.n_correct} of {found.n}")))),
        record(statistic_name("wilson", bound="low", per=per), 100 * found.wilson.low),
        record(statistic_name("wilson", bound="high", per=per), 100 * found.wilson.high),
        record(statistic_name("chance", per=per), 100 * found.chance),
        record(statistic_name("n_tied", per=per), float(found.n_tied)),
    )


def contrast_records(material: Material, found: Contrast, *, subject: str, condition: str) -> tuple[Record, ...]:
    """Return the difference with its interval, t, p, exact McNemar p, and the discordant counts."""

    def record(statistic: str, value: float | None, note: str = "", p: float | None = None) -> Record:
        return Record(
            statistic,
            value,
            subject=subject,
            dataset=material.name,
            condition=condition,
            n=found.n,
            p=p,
            note=note,
        )

    t = found.t.statistic if found.t else None
    t_p = found.t.p if found.t else None
    exact = found.exact.p if found.exact else None
    points = replace(record("difference", 100 * found.difference), unit="points")
    difference = with_interval(points, found.interval, times=100)
    return (
        difference,
        record("paired_t", t, found.note, t_p),
        record("paired_t_p", t_p, found.note),
        record("mcnemar_p", exact, found.note),
        record("discordant(only=first)", float(found.only_first)),
        record("discordant(only=second)", float(found.only_second)),
    )
