"""The vectors: their training, noise, senses by frequency, a synset, the senses of words (Figures 2 to 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexiscope.analysis.choice_shares import choice_shares, selection_share
from lexiscope.core.errors import DataError
from lexiscope.core.result import Estimate, Record
from lexiscope.items.sense_examples import ReadsSenses
from lexiscope.items.synset_usages import synset_usages
from lexiscope.report import figure_senses
from lexiscope.report.document import Section
from lexiscope.report.figure_accuracy import stacked_shares
from lexiscope.report.figure_senses import GridPoint, NoiseCurve, beta_grid, noise_against_signal
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import ends_of, pick
from lexiscope.report.pivot import Col, Row, pivot, rows_of
from lexiscope.report.sections import drop_empty
from lexiscope.report.sense_explorer import (
    Exploration,
    ExplorerSettings,
    explore,
    explorer_section,
    neighbours_by_sense,
    write_explorer,
)
from lexiscope.report.tables import BOUNDED, INTEGER, TEXT, Cell, Column, Format, Table
from lexiscope.resources.running_text import corpus_files
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.similarity import rho_name, usage_records
from lexiscope.subjects.gasi import Gasi
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM_C
from lexiscope.training.gasi._course import LogRow
from lexiscope.training.gasi.pruning import senses_by_frequency
from lexiscope.training.gasi.train import finished

VARIANTS = {"skip_gram": "skip-gram", "sasi": "SASI", "gasi": "GASI", "gasi_beta": "GASI-β"}
NEIGHBOURS = 10
"""Neighbours of a sense that are shown, on maps and pages."""
MOST_MAPS = 6
"""Maps in one report; the others are left out, and counted."""
_BINS = 10
_ONE, _TWO, _THREE = Format("number", 1), Format("number", 2), Format("number", 3)
_SYNSET, _MAP, _EXPLORER = "Choice of a sense over a synset's sentences", "Map of neighbours", "The explorer"
_NOBODY = "No vectors were given: --subject."


# -- how the vectors were trained -----------------------------------------------------------------------------------


def trainings(run: SenseData) -> tuple[object, ...]:
    """Return what the vectors are: variant, β, senses, what pruning left, the end of the training; and their maps."""
    why = "It is not a folder of this program's trainings, which has no log and no counts of words."
    for other in run.subjects:
        if not isinstance(other, Gasi):
            run.leave_out("Training log, senses by frequency", why, run.title_of(other.subject_id))
    columns = (
        Column("Vectors"), Column("Variant"), Column("β", _TWO), Column("K", INTEGER), Column("Width", INTEGER),
        Column("Words", INTEGER), Column("Senses", INTEGER), Column("Senses of a word", _TWO),
        Column("λ", _THREE, note="The cosine distance under which two senses of a word were one, where pruned."),
        Column("Tokens read", INTEGER, note="Over all epochs."), Column("Entropy", _THREE, note="Of the choice of a "
        "sense without noise, at the end of the training, in nats."),
    )  # fmt: skip
    rows = tuple(_training(run, each) for each in run.trained)
    table = drop_empty(Table("trainings", "", "The vectors and how they were trained", columns, rows))
    return table if rows else None, maps(run)


def noise(run: SenseData) -> tuple[object, ...]:
    """Return the grid of β, noise and signal over the trainings (Figure 3), and the choice of a synset's senses."""
    return grid(run), _noise(run), synset(run)


def noise_words(run: SenseData, records: Sequence[Record]) -> str:
    """Say which β is best, or how strong the noise is at the end of each training."""
    chosen = run.once(chosen_beta)
    return chosen or _means(run, records, "noise_sd", "SD of the noise at the end of training")


def frequency(run: SenseData) -> tuple[object, ...]:
    """Return how many senses frequent and rare words have (Figure 4): means of all, shares of those that differ."""
    records = []
    for each in run.trained:
        senses, n_words = int(each.vectors.mask.sum()), len(each.vectors.words)
        counts = {"n_vocabulary": n_words, "n_senses": senses, "senses_per_word": senses / n_words}
        records += [Record(name, value, each.subject_id) for name, value in counts.items()]
    columns = (
        Col("Words", "n_vocabulary", INTEGER, show="value"),
        Col("Senses", "n_senses", INTEGER, show="value"),
        Col("Senses of a word", "senses_per_word", _TWO, show="value"),
    )
    rows = rows_of(records, "subject", names=run.titles)
    table = pivot("senses_left", "Senses that are left", records, columns, rows, labels=("Vectors",))
    varied = {
        run.title_of(each.subject_id): senses_by_frequency(each.vectors, bins=_BINS)
        for each in run.trained
        if len(each.vectors.words) >= _BINS and len(set(each.vectors.n_senses.tolist())) > 1
    }
    same = "All words have the same number of senses: nothing was pruned."
    return records, table, figure_senses.senses_by_frequency(varied) if varied else same


def senses_words(run: SenseData, records: Sequence[Record]) -> str:
    """Say how many senses a word has in each training."""
    return _means(run, records, "senses_per_word", "senses of a word, mean")


def _means(run: SenseData, records: Sequence[Record], statistic: str, said: str) -> str:
    told = run.listed((one for one in records if one.statistic == statistic), ".2f")
    return f"{said}: {told}" if told else ""


def logs(run: SenseData) -> dict[str, tuple[LogRow, ...]]:
    """Return the log of each training, by the subject's id; pruned vectors have none."""
    return {each.subject_id: finished(each.folder).log for each in run.trained}


def _beta(each: Gasi) -> float:
    """β of GASI-β; not-a-number for the other variants."""
    settings = each.about.get("settings", {})
    return float(settings.get("beta", np.nan)) if settings.get("variant") == "gasi_beta" else np.nan


def _training(run: SenseData, each: Gasi) -> tuple[Cell, ...]:
    settings, pruned, beta = each.about.get("settings", {}), each.about.get("pruned"), _beta(each)
    n_words, most, width = each.vectors.senses.shape
    log, senses = run.once(logs)[each.subject_id], int(each.vectors.mask.sum())
    variant = VARIANTS.get(settings.get("variant", ""), settings.get("variant", ""))
    return (
        run.title_of(each.subject_id), variant, beta if np.isfinite(beta) else None, most, width, n_words, senses,
        senses / n_words, pruned["threshold"] if pruned else None, log[-1].tokens if log else None,
        log[-1].entropy_without_noise if log else None,
    )  # fmt: skip


def _noise(run: SenseData) -> tuple[object, ...]:
    """Noise and signal at the end of every training that has a log, and their course with noise."""
    records, curves = [], []
    for name, log in run.once(logs).items():
        title = run.title_of(name)
        if not log or log[0].noise_sd <= 0:
            why = "Its choice of a sense has no noise." if log else "Its folder has no log: pruned vectors have none."
            run.leave_out("Noise against signal", why, title)
        else:
            columns = (
                [getattr(row, each) for row in log] for each in ("tokens", "signal_mean", "signal_sd", "noise_sd")
            )
            curves.append(NoiseCurve(title, *(np.array(column, dtype=np.float64) for column in columns)))
        if log:
            last = log[-1]
            ends = {"signal_sd": last.signal_sd, "noise_sd": last.noise_sd}
            ends |= {"selection_entropy": last.entropy_without_noise}
            records += [Record(statistic, value, name) for statistic, value in ends.items()]
    if not records:
        return ()
    shown = (
        Col("SD of c̄·s", "signal_sd", _THREE, show="value"), Col("SD of the noise", "noise_sd", _THREE, show="value"),
        Col("Entropy", "selection_entropy", _THREE, show="value", note="Of the choice of a sense without noise, in "
            "nats."),
    )  # fmt: skip
    rows = rows_of(records, "subject", names=run.titles)
    title = "Noise and signal at the end of training"
    table = pivot("noise_at_the_end", title, records, shown, rows, labels=("Vectors",))
    caption = "The smaller the spread of c̄·s beside the noise, the more the choice of a sense is left to chance."
    heading = Heading("noise", "3", "Noise and signal", caption)
    return records, table, noise_against_signal(curves, heading) if curves else None


# -- the grid of β --------------------------------------------------------------------------------------------------


def grid(run: SenseData) -> tuple[object, ...]:
    """Return the grid of β: AvgSimC of every training on SCWS, and which β is best."""
    own = _of_grid(run)
    known = _avg_sim_c(run, own)
    if not known:
        why = (
            "AvgSimC is undefined for all of them."
            if own
            else "It needs two trainings of GASI-β with different β, and SCWS."
        )
        return run.leave_out("Grid of β", why)
    best = max(known, key=lambda name: known[name].value or 0.0)
    betas = {each.subject_id: _beta(each) for each in own}
    rows = [
        Row((run.title_of(name), betas[name]), {"subject": name, "dataset": "scws"})
        for name in sorted(betas, key=lambda name: (betas[name], run.title_of(name)))
    ]
    columns = (
        Col("AvgSimC", rho_name(AVG_SIM_C), _ONE),
        Col("MaxSimC", rho_name(MAX_SIM_C), _ONE),
        Col("", rho_name(AVG_SIM_C), TEXT, cell=lambda record: "chosen" if record.subject == best else ""),
    )
    title = "The scale of the noise, chosen by AvgSimC on SCWS"
    labels = ("Vectors", Column("β", _TWO))
    table = drop_empty(pivot("beta_grid", title, run.once(usage_records), columns, rows, labels=labels))
    points = [
        GridPoint(run.title_of(each.subject_id), _beta(each), record.value, *ends_of(record))
        for each in run.trained
        if each.about.get("pruned") is None
        for record in _avg_sim_c(run, [each]).values()
        if record.value is not None
    ]
    heading = Heading("beta_grid", "", "AvgSimC on SCWS by the scale of the noise")
    return table, beta_grid(points, heading, statistic="AvgSimC on SCWS, 100 × ρ")


def chosen_beta(run: SenseData) -> str:
    """Say which β of the grid is best, and what else its trainings differ in; nothing without a grid."""
    own = _of_grid(run)
    known = _avg_sim_c(run, own)
    if not known:
        return ""
    best = max(own, key=lambda each: known[each.subject_id].value or 0.0 if each.subject_id in known else -np.inf)
    told = (
        f"β = {_beta(best):g} is best by AvgSimC on SCWS. The figure by which a β was chosen is too high to compare it "
        "by: compare on the other sets"
    )
    further = ("corpus", "seed", "n_senses")
    asked = [{**each.about.get("settings", {}), **{key: each.about.get(key) for key in further}} for each in own]
    names = dict.fromkeys(name for each in asked for name in each if name != "beta")
    other = [name for name in names if any(each.get(name) != asked[0].get(name) for each in asked)]
    return f"{told}. These trainings differ in more than β: {', '.join(other)}" if other else told


def _of_grid(run: SenseData) -> list[Gasi]:
    """The trainings of GASI-β where there are two with different β, and SCWS to choose by."""
    own = [each for each in run.trained if np.isfinite(_beta(each)) and each.about.get("pruned") is None]
    return own if len({_beta(each) for each in own}) > 1 and any(each.name == "scws" for each in run.sets) else []


def _avg_sim_c(run: SenseData, own: Sequence[Gasi]) -> dict[str, Record]:
    """The correlations of some trainings with SCWS that are defined, by subject."""
    found = [
        pick(run.once(usage_records), rho_name(AVG_SIM_C), dataset="scws", subject=each.subject_id) for each in own
    ]
    return {one.subject: one for one in found if one is not None and one.value is not None}


# -- a synset, and words --------------------------------------------------------------------------------------------


def synset(run: SenseData) -> tuple[object, ...]:
    """Return how probable each sense is over the SemCor sentences of a synset, for every subject (Figure 5)."""
    name = run.settings.synset
    if not name or not run.subjects:
        return run.leave_out(_SYNSET, "No synset was named: --synset." if run.subjects else _NOBODY)
    try:
        lemma, usages = synset_usages(name)
    except DataError as error:
        return run.leave_out(_SYNSET, f"Not at hand: {error.what}.")
    if not usages:
        return run.leave_out(_SYNSET, f"SemCor has no sentence with {lemma!r} in {name}.")
    results: list[Estimate] = []
    shares: list[tuple[str, str, float]] = []
    for subject in run.subjects:
        title = run.title_of(subject.subject_id)
        if not subject.knows(usages[0]) or subject.sense_count(usages[0]) < 2:
            run.leave_out(_SYNSET, f"It has no two senses of {lemma!r}.", title)
            continue
        own = choice_shares(subject.sense_distribution(usages))
        results += [one.about(subject=subject.subject_id, condition=name) for one in own]
        shares += [
            (title, f"sense of rank {rank}", 100 * one.value)
            for rank, one in enumerate(own[:-1], start=1)
            if one.value > 0
        ]
    if not results:
        return ()
    ranked = (
        "Senses of two trainings are not the same senses: they stand by falling probability, each training by its own, "
        "and the first of one is not the first of another."
    )
    ranks = range(1, len({one.name for one in results}))
    columns = (
        Col("Entropy", "sentence_entropy", BOUNDED, note="Of a usage's distribution, mean, in nats."),
        *(Col(f"Rank {rank}", selection_share(rank), BOUNDED, absent=None) for rank in ranks),
    )
    rows = rows_of(results, "subject", names=run.titles)
    title = f"Mean probability of the senses of {lemma!r} over {len(usages)} usages of {name} in SemCor"
    used = {named for _, named, _ in shares}
    order = [named for rank in ranks if (named := f"sense of rank {rank}") in used]
    heading = Heading("synset_senses", "5", f"Senses chosen in the usages of {name}", ranked)
    return (
        results,
        pivot("synset_senses", title, results, columns, rows, labels=("Vectors",), notes=(ranked,)),
        stacked_shares(shares, heading, order=order, unit="Mean probability, %"),
    )


def maps(run: SenseData) -> list[Figure]:
    """Return maps of the neighbours of words, one colour for each sense (Figure 2)."""
    entries = {(each.subject_id, entry.word): entry for each in run.once(explorations) for entry in each.words}
    figures: list[Figure] = []
    for word in run.settings.words:
        for subject in run.subjects:
            title = run.title_of(subject.subject_id)
            entry = entries.get((title, word))
            reason = ""
            if not isinstance(subject, ReadsSenses):
                reason = "It gives no vectors of its senses."
            elif entry is None or len(entry.senses) < 2:
                reason = f"It has no two senses of {word!r}."
            elif sum(len(sense.neighbours) for sense in entry.senses) < 2:
                reason = f"The senses of {word!r} have no direction, and no neighbours."
            elif len(figures) == MOST_MAPS:
                reason = f"{MOST_MAPS} maps are drawn: name fewer words or subjects."
            else:
                caption = f"The {NEIGHBOURS} words nearest to each sense of {word!r}, placed by t-SNE: only nearness "
                named = f"Neighbours of {word!r}: {title}"
                heading = Heading(f"map_{len(figures) + 1}", "2", named, f"{caption}means something.")
                figures.append(neighbours_by_sense(subject.induced, entry, heading, seed=run.settings.seed))
            if reason:
                run.leave_out(_MAP, reason, title)
    if not run.subjects or not run.settings.words:
        run.leave_out(_MAP, "No word was named: --word." if run.subjects else _NOBODY)
    return figures


def explorations(run: SenseData) -> tuple[Exploration, ...]:
    """Collect senses, neighbours and examples of the words for every subject that knows one of them.

    Examples come from the files of the setting ``corpus``; without them there are none. What is left out of the maps
    for want of a subject or a word is not said here again. Errors: those of the corpus's files.
    """
    settings, found = run.settings, []
    files = corpus_files([Path(name) for name in settings.corpus])
    shown = ExplorerSettings(NEIGHBOURS, seed=settings.seed, language=settings.language)
    for subject in run.subjects if settings.words else ():
        title = run.title_of(subject.subject_id)
        if not isinstance(subject, ReadsSenses):
            run.leave_out(_EXPLORER, "It gives no vectors of its senses.", title)
        elif not any(word in subject.induced.index for word in settings.words):
            run.leave_out(_EXPLORER, "It knows none of the words that were named.", title)
        else:
            about = subject.facts.title
            found.append(explore(subject, settings.words, files, subject_id=title, about=about, settings=shown))
    if found and not files:
        run.leave_out(f"{_EXPLORER}: example sentences", "No corpus was named: --corpus.")
    return tuple(found)


def explored(run: SenseData) -> list[Section]:
    """Return a section for each subject, with the senses of the words; their maps are Figure 2, and drawn once."""
    sections = []
    for number, each in enumerate(run.once(explorations), start=1):
        told = explorer_section(each, section_id=f"senses_{number}", title=f"Senses in {each.subject_id}")
        page = f"The file {page_name(number)} beside this report has all examples, maps and a search box."
        inner = tuple(replace(section, figures=()) for section in told.subsections)
        sections.append(replace(told, paragraphs=(*told.paragraphs, page), subsections=inner))
    return sections


def write_pages(run: SenseData, folder: Path, _records: Sequence[Record]) -> tuple[str, ...]:
    """Write the page of each subject into the run's folder; return their names."""
    pages = {page_name(number): each for number, each in enumerate(run.once(explorations), start=1)}
    for name, each in pages.items():
        write_explorer(each, folder / name)
    return tuple(pages)


def page_name(number: int) -> str:
    """Return the name of a subject's page, by its place in the run.

    >>> page_name(2)
    'senses_2.html'
    """
    return f"senses_{number}.html"
