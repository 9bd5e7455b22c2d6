"""How the vectors came about: settings, noise against signal (Fig. 3), senses by frequency (Fig. 4), the grid of β."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.core.result import Record
from lexiscope.report.curves import Trajectory
from lexiscope.report.figure_accuracy import stacked_shares
from lexiscope.report.figure_layers import trajectories
from lexiscope.report.figure_senses import GridPoint, NoiseCurve, beta_grid, noise_against_signal
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Part, pick, shown
from lexiscope.report.sections import drop_empty
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Table
from lexiscope.resources.sense_vectors import SenseVectors
from lexiscope.studies.sense_induction.material import HasSenses, LeftOut, Material
from lexiscope.studies.sense_induction.similarity import rho_name
from lexiscope.subjects.gasi import Gasi
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM_C
from lexiscope.training.gasi._course import LogRow
from lexiscope.training.gasi.pruning import senses_by_frequency
from lexiscope.training.gasi.train import finished

VARIANTS = {"skip_gram": "skip-gram", "sasi": "SASI", "gasi": "GASI", "gasi_beta": "GASI-β"}
_BINS = 10
_THREE = Format("number", 3)
_TWO = Format("number", 2)
_OWN = "It is not a folder of this program's trainings, which has no log and no counts of words."


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """A training of this program: its subject and title, its settings, its log, and its vectors."""

    subject: HasSenses
    title: str
    about: dict[str, Any]
    log: tuple[LogRow, ...]
    vectors: SenseVectors

    @property
    def beta(self) -> float:
        """β of GASI-β; not-a-number for the other variants."""
        settings = self.about.get("settings", {})
        return float(settings.get("beta", np.nan)) if settings.get("variant") == "gasi_beta" else np.nan


def trained_of(material: Material) -> tuple[Trained, ...]:
    """Return the trainings of this program among the subjects, in order."""
    return tuple(
        Trained(each, material.title_of(each.subject_id), each.about, finished(each.folder).log, each.vectors)
        for each in material.subjects
        if isinstance(each, Gasi)
    )


def trainings_part(material: Material, trained: Sequence[Trained]) -> tuple[Part, tuple[LeftOut, ...]]:
    """Return what the vectors are: variant, β, senses, what pruning left, and the end of the training."""
    left_out = [
        LeftOut("Training log, senses by frequency", material.title_of(each.subject_id), _OWN)
        for each in material.subjects
        if not isinstance(each, Gasi)
    ]
    columns = (
        Column("Vectors"), Column("Variant"), Column("β", _TWO), Column("K", INTEGER), Column("Width", INTEGER),
        Column("Words", INTEGER), Column("Senses", INTEGER), Column("Senses of a word", _TWO),
        Column("λ", _THREE, note="The cosine distance under which two senses of a word were one, where pruned."),
        Column("Tokens read", INTEGER, note="Over all epochs."), Column("Entropy", _THREE, note="Of the choice of a "
        "sense without noise, at the end of the training, in nats."),
    )  # fmt: skip
    rows = tuple(_row(each) for each in trained)
    tables = (
        (drop_empty(Table("trainings", "", "The vectors and how they were trained", columns, rows)),) if rows else ()
    )
    return Part(tables=tables), tuple(left_out)


def noise_part(trained: Sequence[Trained]) -> tuple[Part, tuple[LeftOut, ...]]:
    """Return noise and signal at the end of every training that has a log, and their course (Figure 3) with noise."""
    drawn = [each for each in trained if each.log and each.log[0].noise_sd > 0]
    left_out = [LeftOut("Noise against signal", each.title, _no_noise(each)) for each in trained if each not in drawn]
    logged = [each for each in trained if each.log]
    columns = (Column("Vectors"), Column("SD of c̄·s", _THREE), Column("SD of the noise", _THREE),
               Column("Entropy", _THREE, note="Of the choice of a sense without noise, in nats."))  # fmt: skip
    table, records = _measured("noise_at_the_end", "Noise and signal at the end of training", columns, logged, _ends)
    if not drawn:
        return Part(records, (table,) if logged else ()), tuple(left_out)
    curves = [NoiseCurve(each.title, *(_column(each, name) for name in _LOGGED)) for each in drawn]
    caption = "The smaller the spread of c̄·s beside the noise, the more the choice of a sense is left to chance."
    figure = noise_against_signal(curves, Heading("noise", "3", "Noise and signal", caption))
    return Part(records, (table,), (figure,)), tuple(left_out)


def frequency_part(trained: Sequence[Trained]) -> Part:
    """Return how many senses frequent and rare words have (Figure 4): means of all, shares of those that differ."""
    several = [each for each in trained if len(each.vectors.words) >= _BINS and each.vectors.mask.shape[1] > 1]
    varied = [each for each in several if len(set(each.vectors.n_senses.tolist())) > 1]
    if not trained:
        return Part()
    columns = (Column("Vectors"), Column("Words", INTEGER), Column("Senses", INTEGER), Column("Senses of a word", _TWO))
    table, records = _measured("senses_left", "Senses that are left", columns, trained, _left)
    if not varied:
        told = ("All words have the same number of senses: nothing was pruned.",)
        return Part(records, (table,), paragraphs=told)
    heading = Heading(
        "senses_by_frequency", "4", "Senses of a word by frequency", "Words by falling frequency, a tenth of them each."
    )
    decile = np.arange(1, _BINS + 1)
    curves = [
        Trajectory(each.title, decile, np.array([row.mean for row in senses_by_frequency(each.vectors, bins=_BINS)]))
        for each in varied
    ]
    mean = trajectories(
        curves,
        heading,
        statistic="Senses of a word, mean",
        horizontal="Decile of words, most frequent first",
        place="decile",
    )
    shares = (_shares(each, number) for number, each in enumerate(varied, start=1))
    return Part(records, (table,), (mean, *shares))


def result_words(material: Material, records: Sequence[Record], statistic: str, said: str) -> str:
    """Return the values of a statistic for all trainings, in one line."""
    found = [record for record in records if record.statistic == statistic and record.value is not None]
    return f"{said}: " + "; ".join(f"{material.title_of(r.subject)} {r.value:.2f}" for r in found) if found else ""


def grid_part(
    material: Material, trained: Sequence[Trained], records: Sequence[Record]
) -> tuple[Part, tuple[LeftOut, ...]]:
    """Return the grid of β: AvgSimC of every training on SCWS, and which β is best."""
    own = [each for each in trained if np.isfinite(each.beta) and each.about.get("pruned") is None]
    if len({each.beta for each in own}) < 2 or "scws" not in [each.name for each in material.sets]:
        why = "It needs two trainings of GASI-β with different β, and SCWS."
        return Part(), (LeftOut("Grid of β", "", why),)
    found = {
        each.title: pick(records, rho_name(AVG_SIM_C), dataset="scws", subject=each.subject.subject_id) for each in own
    }
    known = [each for each in own if (record := found[each.title]) is not None and record.value is not None]
    if not known:
        return Part(), (LeftOut("Grid of β", "", "AvgSimC is undefined for all of them."),)
    best = max(known, key=lambda each: _value(found[each.title]))
    rows: list[tuple[Cell, ...]] = []
    for each in sorted(own, key=lambda one: (one.beta, one.title)):
        max_sim = pick(records, rho_name(MAX_SIM_C), dataset="scws", subject=each.subject.subject_id)
        rows.append((each.title, each.beta, shown(found[each.title]), shown(max_sim), "chosen" if each is best else ""))
    columns = (Column("Vectors"), Column("β", _TWO), Column("AvgSimC", Format("number", 1)),
               Column("MaxSimC", Format("number", 1)), Column(""))  # fmt: skip
    table = drop_empty(
        Table("beta_grid", "", "The scale of the noise, chosen by AvgSimC on SCWS", columns, tuple(rows))
    )
    told = (
        f"β = {best.beta:g} is best by AvgSimC on SCWS. The figure by which a β was chosen is too high to compare it "
        "by: compare on the other sets."
    )
    other = _other_differences(own)
    if other:
        told += f" These trainings differ in more than β: {', '.join(other)}."
    return Part(tables=(table,), figures=(_grid_figure(trained, records),), paragraphs=(told,)), ()


_LOGGED = ("tokens", "signal_mean", "signal_sd", "noise_sd")


def _column(each: Trained, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([getattr(row, name) for row in each.log], dtype=np.float64)


def _no_noise(each: Trained) -> str:
    return "Its choice of a sense has no noise." if each.log else "Its folder has no log: pruned vectors have none."


def _value(record: Record | None) -> float:
    return -np.inf if record is None or record.value is None else record.value


def _row(each: Trained) -> tuple[Cell, ...]:
    settings, pruned = each.about.get("settings", {}), each.about.get("pruned")
    n_words, most, width = each.vectors.senses.shape
    last = each.log[-1] if each.log else None
    variant = VARIANTS.get(settings.get("variant", ""), settings.get("variant", ""))
    senses = int(each.vectors.mask.sum())
    return (
        each.title, variant, each.beta if np.isfinite(each.beta) else None, most, width, n_words, senses,
        senses / n_words, pruned["threshold"] if pruned else None, last.tokens if last else None,
        last.entropy_without_noise if last else None,
    )  # fmt: skip


def _measured(
    name: str,
    title: str,
    columns: tuple[Column, ...],
    trained: Sequence[Trained],
    measure: Callable[[Trained], Mapping[str, float]],
) -> tuple[Table, tuple[Record, ...]]:
    """A table with a row for each training, and a record for each of its numbers."""
    found = [(each, measure(each)) for each in trained]
    records = tuple(
        Record(statistic, value, subject=each.subject.subject_id)
        for each, values in found
        for statistic, value in values.items()
    )
    return Table(name, "", title, columns, tuple((each.title, *values.values()) for each, values in found)), records


def _left(each: Trained) -> dict[str, float]:
    senses, n_words = int(each.vectors.mask.sum()), len(each.vectors.words)
    return {"n_words": float(n_words), "n_senses": float(senses), "senses_per_word": senses / n_words}


def _ends(each: Trained) -> dict[str, float]:
    last = each.log[-1]
    return {
        "signal_sd": last.signal_sd,
        "noise_sd": last.noise_sd,
        "selection_entropy": last.entropy_without_noise,
    }


def _shares(each: Trained, number: int) -> Figure:
    rows = senses_by_frequency(each.vectors, bins=_BINS)
    most = each.vectors.mask.shape[1]
    names = ["1 sense", *(f"{k} senses" for k in range(2, most + 1))]
    shares = [
        (f"{row.first_rank:,}–{row.last_rank:,}", name, 100 * count / sum(row.n_words))
        for row in rows
        for name, count in zip(names, row.n_words, strict=True)
    ]
    heading = Heading(
        f"senses_by_frequency_{number}", "4", f"Words by number of senses: {each.title}", "By rank of frequency."
    )
    return stacked_shares(shares, heading, order=names, unit="Words, %")


def _other_differences(own: Sequence[Trained]) -> list[str]:
    """What else than β differs between trainings: settings, corpus, seed, the senses that words were given."""
    further = ("corpus", "seed", "n_senses")
    asked = [{**each.about.get("settings", {}), **{key: each.about.get(key) for key in further}} for each in own]
    names = dict.fromkeys(name for each in asked for name in each if name != "beta")
    return [name for name in names if any(each.get(name) != asked[0].get(name) for each in asked)]


def _grid_figure(trained: Sequence[Trained], records: Sequence[Record]) -> Figure:
    points = []
    for each in trained:
        record = pick(records, rho_name(AVG_SIM_C), dataset="scws", subject=each.subject.subject_id)
        if record is not None and record.value is not None and each.about.get("pruned") is None:
            low, high = (np.nan if end is None else end for end in (record.low, record.high))
            points.append(GridPoint(each.title, each.beta, record.value, low, high))
    heading = Heading("beta_grid", "", "AvgSimC on SCWS by the scale of the noise")
    return beta_grid(points, heading, statistic="AvgSimC on SCWS, 100 × ρ")
