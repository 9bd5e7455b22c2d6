"""The vectors: their training, noise, senses by frequency, a synset, the senses of words (Figures 2 to 5)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexiscope.analysis.senses.similarity import similarity_name
from lexiscope.core.result import Record
from lexiscope.report.document import Section
from lexiscope.report.page import sense_explorer
from lexiscope.report.page.sense_explorer import Exploration
from lexiscope.report.part import Omission, Part
from lexiscope.report.parts import sense_parts as parts
from lexiscope.resources.corpora.running_text import corpus_files
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.similarity import usage_records
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM_C

_SCWS = "scws"
GRID = {"AvgSimC": similarity_name(AVG_SIM_C), "MaxSimC": similarity_name(MAX_SIM_C)}
"""What trainings of several β are compared by on SCWS: the first one chooses."""


def trainings(run: SenseData) -> tuple[object, ...]:
    """Return the vectors with maps of the neighbours of words (Figure 2), and the sets that could not be asked."""
    why = "It is not a folder of this program's trainings, which has no log and no counts of words."
    others = [run.title_of(subject.subject_id) for subject in run.subjects if not isinstance(subject, Gasi)]
    unlogged = [Omission("Training log, senses by frequency", why, title) for title in others]
    (shown, omitted), words = run.once(explorations), run.settings.words
    maps = sense_explorer.neighbour_maps(run.subjects, shown, words, titles=run.titles, seed=run.settings.seed)
    return run.omissions, unlogged, parts.trainings_table(run.own_trainings, run.titles), omitted, maps


def noise(run: SenseData) -> tuple[object, ...]:
    """Return the grid of β, noise and signal over the trainings and by word (Figure 3), and a synset's senses."""
    own, titles = run.own_trainings, run.titles
    grid = parts.grid_part(own, scws_records(run), GRID, titles=titles, on="SCWS", unit="100 × ρ")
    in_context = [usage for pairs in run.sets if pairs.in_context for item in pairs.items for usage in item.usages]
    planted = [item.usages[0] for item in run.planted.items] if run.planted else []
    signal = parts.signal_part(own, [*in_context, *planted], titles, **run.resampling)
    chosen = parts.synset_part(run.settings.synset, run.subjects, titles)
    flatter = parts.flatter_with_beta(own, chosen.records, _SCWS, **run.resampling)
    return grid, parts.noise_part(own, titles), signal, chosen, flatter


def frequency(run: SenseData) -> Part:
    """Return how many senses frequent and rare words have (Figure 4)."""
    return parts.senses_part(run.own_trainings, run.titles)


def scws_records(run: SenseData) -> list[Record]:
    """Return the records of similarities on SCWS, which choose the β of a grid."""
    return [record for record in run.once(usage_records) if record.dataset == _SCWS]


def explorations(run: SenseData) -> tuple[tuple[Exploration, ...], tuple[Omission, ...]]:
    """Return senses, neighbours and examples of the words, for every subject that knows one of them; and who does not.

    Examples come from the files of the setting ``corpus``. Errors: those of the corpus's files.
    """
    settings, files = run.settings, corpus_files([Path(name) for name in run.settings.corpus])
    explorer = sense_explorer.ExplorerSettings(seed=settings.seed, language=settings.language)
    subjects = run.subjects if settings.words else ()
    shown, omitted = sense_explorer.explore_each(subjects, settings.words, files, titles=run.titles, settings=explorer)
    unread = (Omission(f"{sense_explorer.EXPLORER}: example sentences", "No corpus was named: --corpus."),)
    return shown, (*omitted, *(unread if shown and not files else ()))


def sense_sections(run: SenseData) -> list[Section]:
    """Return a section for each subject, with the senses of the words; their maps are Figure 2, and drawn once."""
    return sense_explorer.sections_with_pages(run.once(explorations)[0])


def write_pages(run: SenseData, folder: Path, _records: Sequence[Record]) -> tuple[str, ...]:
    """Write the page of each subject into the run's folder; return their names."""
    return sense_explorer.write_pages(run.once(explorations)[0], folder)
