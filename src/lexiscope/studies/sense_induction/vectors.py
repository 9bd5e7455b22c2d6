"""The vectors: their training, noise, senses by frequency, a synset, the senses of words (Figures 2 to 5)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.senses.similarity import similarity_name
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record, Result, Undefined, statistic_name
from lexiscope.report.document import Section
from lexiscope.report.page import sense_explorer
from lexiscope.report.page.sense_explorer import (
    EXPLORER,
    MAP,
    Exploration,
    ExplorerSettings,
    explore_each,
    neighbour_maps,
)
from lexiscope.report.part import Omission, Part, values_in_words
from lexiscope.report.parts.sense_parts import (
    CHOICE,
    NOISE,
    SENSES_PER_WORD,
    best_beta,
    beta,
    grid_of_beta,
    grid_part,
    noise_part,
    senses_part,
    signal_part,
    synset_part,
    trainings_table,
)
from lexiscope.resources.corpora.running_text import corpus_files
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.similarity import usage_records
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM_C

_SCWS = "scws"
_NOBODY = "No vectors were given: --subject."


def trainings(run: SenseData) -> tuple[object, ...]:
    """Return the vectors with their maps, and the sets that could not be asked."""
    why = "It is not a folder of this program's trainings, which has no log and no counts of words."
    others = [run.title_of(subject.subject_id) for subject in run.subjects if not isinstance(subject, Gasi)]
    unlogged = [Omission("Training log, senses by frequency", why, title) for title in others]
    return run.omissions, unlogged, trainings_table(run.own_trainings, run.titles), maps(run)


def noise(run: SenseData) -> tuple[object, ...]:
    """Return the grid of β, noise and signal over the trainings and by word (Figure 3), and a synset's senses."""
    chosen = synset(run)
    return grid(run), noise_part(run.own_trainings, run.titles), signal(run), chosen, flatter_with_beta(run, chosen)


def flatter_with_beta(run: SenseData, chosen: Part | Omission) -> tuple[Result, ...]:
    """Return Spearman's rho, over the trainings of a grid, of β with the entropy of the choice over a synset."""
    betas = {training.subject_id: beta(training) for training in grid_of_beta(run.own_trainings)}
    records = chosen.records if isinstance(chosen, Part) else ()
    entropies = {r.subject: r.value for r in records if r.statistic == "sentence_entropy" and r.value is not None}
    known = [subject for subject in betas if subject in entropies]
    if len(known) < 3:
        return ()
    name = statistic_name("spearman", of="beta", **{"with": "sentence_entropy"})
    x, y = [betas[subject] for subject in known], [entropies[subject] for subject in known]
    try:
        return (spearman(x, y, decimals=10, **run.resampling).about(name=name, dataset=_SCWS),)
    except StatisticError as error:
        return (Undefined(name, error.what, len(known)).about(dataset=_SCWS),)


def signal(run: SenseData) -> Part:
    """Return signal and noise word by word, over the usages of the sets in context and the planted ones."""
    pairs = [pairs for pairs in run.sets if pairs.in_context]
    usages = [usage for own in pairs for item in own.items for usage in item.usages]
    planted = [item.usages[0] for item in run.planted.items] if run.planted else []
    return signal_part(run.own_trainings, [*usages, *planted], run.titles, **run.resampling)


def noise_words(run: SenseData, records: Sequence[Record]) -> str:
    """Return which β is best, or the strength of the noise at the end of each training, as text."""
    chosen = best_beta(run.own_trainings, _scws_records(run), similarity_name(AVG_SIM_C), named="AvgSimC on SCWS")
    return chosen or _mean_words(run, records, NOISE, "SD of the noise at the end of training")


def frequency(run: SenseData) -> Part:
    """Return how many senses frequent and rare words have (Figure 4)."""
    return senses_part(run.own_trainings, run.titles)


def senses_words(run: SenseData, records: Sequence[Record]) -> str:
    """Return the number of senses per word in each training, as text."""
    return _mean_words(run, records, SENSES_PER_WORD, "senses of a word, mean")


def _mean_words(run: SenseData, records: Sequence[Record], statistic: str, name: str) -> str:
    means = values_in_words((record for record in records if record.statistic == statistic), run.titles, ".2f")
    return f"{name}: {means}" if means else ""


def grid(run: SenseData) -> Part | Omission:
    """Return the grid of β: AvgSimC of every training on SCWS, and which β is best."""
    statistics = {"AvgSimC": similarity_name(AVG_SIM_C), "MaxSimC": similarity_name(MAX_SIM_C)}
    part = grid_part(run.own_trainings, _scws_records(run), statistics, titles=run.titles, on="SCWS", unit="100 × ρ")
    if part.tables:
        return part
    undefined = grid_of_beta(run.own_trainings) and _scws_records(run)
    why = (
        "AvgSimC is undefined for all of them."
        if undefined
        else "It needs two trainings of GASI-β with different β, and SCWS."
    )
    return Omission("Grid of β", why)


def _scws_records(run: SenseData) -> list[Record]:
    return [record for record in run.once(usage_records) if record.dataset == _SCWS]


def synset(run: SenseData) -> Part | Omission:
    """Return how probable each sense is over the SemCor sentences of a synset, for every subject (Figure 5)."""
    if not run.settings.synset or not run.subjects:
        return Omission(CHOICE, "No synset was named: --synset." if run.subjects else _NOBODY)
    return synset_part(run.settings.synset, run.subjects, run.titles)


def maps(run: SenseData) -> tuple[object, ...]:
    """Return maps of the neighbours of words, one colour for each sense (Figure 2)."""
    words, (shown, omitted) = run.settings.words, run.once(explorations)
    if not run.subjects or not words:
        return omitted, Omission(MAP, "No word was named: --word." if run.subjects else _NOBODY)
    return omitted, neighbour_maps(run.subjects, shown, words, titles=run.titles, seed=run.settings.seed)


def explorations(run: SenseData) -> tuple[tuple[Exploration, ...], tuple[Omission, ...]]:
    """Return senses, neighbours and examples of the words, for every subject that knows one of them; and who does not.

    Examples come from the files of the setting ``corpus``. Errors: those of the corpus's files.
    """
    settings, files = run.settings, corpus_files([Path(name) for name in run.settings.corpus])
    explorer = ExplorerSettings(seed=settings.seed, language=settings.language)
    subjects = run.subjects if settings.words else ()
    shown, omitted = explore_each(subjects, settings.words, files, titles=run.titles, settings=explorer)
    unread = (Omission(f"{EXPLORER}: example sentences", "No corpus was named: --corpus."),)
    return shown, (*omitted, *(unread if shown and not files else ()))


def sense_sections(run: SenseData) -> list[Section]:
    """Return a section for each subject, with the senses of the words; their maps are Figure 2, and drawn once."""
    return sense_explorer.sections_with_pages(run.once(explorations)[0])


def write_pages(run: SenseData, folder: Path, _records: Sequence[Record]) -> tuple[str, ...]:
    """Write the page of each subject into the run's folder; return their names."""
    return sense_explorer.write_pages(run.once(explorations)[0], folder)
