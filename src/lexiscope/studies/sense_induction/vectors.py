"""The vectors: their training, noise, senses by frequency, a synset, senses of words (Figures 2 to 5, Tables 5 to 7).

The vectors of the paper were never released, and its corpus is not ours: no number of a table can be reproduced. What
can be asked is whether the models differ in the same direction. A difference *holds* where ours has the sign of the
paper's, and is *reversed* where it has the other; an interval says how sure ours is. What a run has no training or no
set for is *not computed*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path

from lexiscope.analysis.senses.similarity import similarity_name
from lexiscope.core.result import Contrast, Estimate, Record, Undefined, statistic_name
from lexiscope.datasets.wordsim import SETS
from lexiscope.report.document import Section
from lexiscope.report.page import sense_explorer
from lexiscope.report.page.sense_explorer import Exploration
from lexiscope.report.part import Omission, Part, find_record, part_of, record_cell
from lexiscope.report.parts import sense_parts as parts
from lexiscope.report.parts.sense_parts import MODELS, RETRAINED, SIMILARITIES, PublishedDifference
from lexiscope.report.tables import Cell, Column, Format, Head, Table, table_of
from lexiscope.resources.corpora.running_text import corpus_files
from lexiscope.studies.kit.study import printed_values
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.sense_tests import recovery
from lexiscope.studies.sense_induction.similarity import usage_records, word_records
from lexiscope.subjects.senses.gasi import Gasi, lineages
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM, MAX_SIM_C

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


NAME = "Tables 5 to 7 and Figure 3, published and ours"
"""What is omitted if a run has no values to compare with them."""
_PAIRS = (("gasi_beta", "sasi"), ("gasi", "sasi"), ("gasi_beta", "gasi"), (RETRAINED, "gasi_beta"))
_PLACES = {MAX_SIM_C: "Table 5", AVG_SIM_C: "Table 5", MAX_SIM: "Tables 6 and 7"}
Side = tuple[str, str]
"""A model of the paper and a similarity."""


def models(run: SenseData) -> dict[str, Gasi]:
    """Return the training of each model of the paper, by its name in statistics: the first of the run's that is one."""
    trained = {name: training for training in reversed(run.own_trainings) if (name := parts.model_of(training))}
    return {name: trained[name] for name in sorted(trained, key=[*map(parts.model_of, run.own_trainings)].index)}


@cache
def printed() -> dict[tuple[str, Side], float]:
    """Return what Tables 5 to 7 print of the models of the paper, by dataset, model and measure."""
    measures = {similarity_name(measure): measure for measure in _PLACES}
    named = {f"{title} (paper)": name for name, title in MODELS.items()}
    return {
        (value.dataset, (named[value.subject], measures[value.statistic])): float(value.printed)
        for values in printed_values(Path(__file__).with_name("printed.csv"), dataset="sense_induction").values()
        for value in values
        if value.statistic in measures and value.subject in named
    }


def differences(run: SenseData) -> tuple[PublishedDifference, ...]:
    """Return every difference that the tables print between their models, and the run's own where it has both."""
    sets, own, several = {pairs.name: pairs for pairs in run.sets}, run.once(models), []
    places = dict.fromkeys((dataset, measure) for dataset, (_, measure) in printed())
    asked = [(dataset, (a, measure), (b, measure)) for (dataset, measure), (a, b) in product(places, _PAIRS)]
    for dataset, *sides in [*asked, *(("scws", (model, MAX_SIM_C), (model, AVG_SIM_C)) for model in MODELS)]:
        numbers = [printed().get((dataset, side)) for side in sides]
        # of two equal numbers there is no direction
        if numbers[0] is None or numbers[1] is None or numbers[0] == numbers[1]:
            continue
        (first, measure), (second, _) = sides
        of, names, what = SIMILARITIES[measure], MODELS, (first, second, {"similarity": measure})
        if first == second:
            of, names, what = MODELS[first], SIMILARITIES, (MAX_SIM_C, AVG_SIM_C, {"model": first})
        ours = None
        if dataset in sets and first in own and second in own:
            asked_of = [(own[model].subject_id, measure) for model, measure in sides]
            apart = sets[dataset].difference(run.answers, *asked_of, **run.resampling)
            if isinstance(apart, Contrast):
                name = statistic_name("similarity_difference", first=what[0], second=what[1], **what[2])
                ours = Estimate(name, apart.value, apart.interval, apart.n, unit=apart.unit, dataset=dataset)
        compared = f"{names[what[0]]} − {names[what[1]]}"
        several.append(
            PublishedDifference(_PLACES[measure], _title(dataset), of, compared, numbers[0] - numbers[1], ours)
        )
    return tuple(several)


def paper_tables(run: SenseData) -> tuple[object, ...]:
    """Return the tables: each number and ours, each difference with its verdict, the noise of Figure 3."""
    own, several = run.once(models), run.once(differences)
    if not own:
        why = "It needs trainings of this program (SASI, GASI, GASI-β, or GASI-β on pruned senses)."
        return (Omission(NAME, why),)
    estimates = [
        difference.ours.about(
            note=f"{difference.verdict}: the paper has {difference.printed:+.2f}".rstrip("0").rstrip(".")
        )
        for difference in several
        if difference.ours is not None
    ]
    figure = parts.signal_below_noise_part(own)
    who = "; ".join(f"{MODELS[name]} is {run.title_of(training.subject_id)}" for name, training in own.items())
    if not estimates:
        why = "It needs two of the models of these tables, trained by this program, and one of their sets of pairs."
        return (Omission("Tables 5 to 7, published and ours", why), figure)
    note = f"100 × Spearman's ρ, on the pairs that both cover; each resample of words is the same for both. {who}."
    return (estimates, figure.records, _values_table(run, own), parts.differences_table(several, note), figure.tables)


def _values_table(run: SenseData, own: Mapping[str, Gasi]) -> Table:
    records = [*run.once(usage_records), *run.once(word_records)]

    def ours(row: tuple[tuple[str, Side], float]) -> Cell:
        (dataset, (model, measure)), _ = row
        subject = own[model].subject_id if model in own else ""
        record = find_record(records, similarity_name(measure), dataset=dataset, subject=subject)
        return None if record is None else record_cell(record)

    trained = "Trained on 1,000 million tokens of Wikipedia, 300 dimensions."
    cells: Mapping[Head, Callable[[tuple[tuple[str, Side], float]], Cell]] = {
        "Paper": lambda row: _PLACES[row[0][1][1]],
        "Set": lambda row: _title(row[0][0]),
        "Measure": lambda row: SIMILARITIES[row[0][1][1]],
        "Model": lambda row: MODELS[row[0][1][0]],
        Column("Paper", Format("number", 2), note=trained): lambda row: row[1],
        Column("Ours", Format("number", 1), note="Over covered pairs."): ours,
    }
    note = "100 × Spearman's ρ. Intervals resample first words of pairs. The corpus is another one: compare directions."
    title = "The numbers of Tables 5 to 7, published and ours"
    return table_of("paper_values", title, printed().items(), cells, notes=(note,))


# -- what pruning changes --------------------------------------------------------------------------------------------


def senses_left_out(run: SenseData) -> tuple[object, ...]:
    """Return the values of pruned vectors, and of those trained again, next to those with all senses."""
    contrasts: list[Contrast | Undefined] = []
    for later, earlier in lineages(run.own_trainings):
        for pairs in (*run.rated_sets(in_context=True), *run.rated_sets(in_context=False)):
            for measure in (MAX_SIM_C, AVG_SIM_C) if pairs.in_context else (MAX_SIM,):
                sides = [(training.subject_id, measure) for training in (later, earlier)]
                contrasts.append(pairs.difference(run.answers, *sides, **run.resampling))
        if run.planted and {later.subject_id, earlier.subject_id} <= set(run.planted.answers):
            contrasts += run.planted.differences(later, earlier, **run.resampling)
    if not contrasts:
        why = "It needs a training, the same pruned (lexiscope train gasi_prune) or trained again (--senses-of)"
        return (Omission("Excluded senses", f"{why}, and a set with ratings or planted senses."),)
    known = [contrast for contrast in contrasts if isinstance(contrast, Contrast)]
    results = [*run.once(usage_records), *run.once(word_records), *part_of(run.once(recovery)).records]
    return contrasts, parts.senses_left_out_table(known, results, {**run.titles, **run.set_titles})


def _title(dataset: str) -> str:
    name = dataset.partition("set=")[2]
    return SETS[name].title if name else dataset.upper()
