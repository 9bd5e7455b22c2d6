"""Induced senses: do vectors with several senses for a word tell meanings apart as people do?

Gumbel-attention sense induction (GASI). The study compares trainings of this program and multi-sense vectors of others
on ratings of similarity, on pairs in context, on planted senses, and on people's tests of the senses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lexiscope.collect import CollectProgress
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Record
from lexiscope.core.study import PublishedValue, Question
from lexiscope.report.document import Report, Section
from lexiscope.report.exports import Exported, export, meanings_of
from lexiscope.report.part import Part, joined, pick, shown, with_published
from lexiscope.report.sections import drop_empty
from lexiscope.report.sense_explorer import Exploration
from lexiscope.report.simulated import marked_part, marked_section, told
from lexiscope.report.study_folder import about_run
from lexiscope.report.study_run import Computed, Summary, marked_questions, marked_records, run_study
from lexiscope.report.tables import Column, Format, Table
from lexiscope.studies.sense_induction.contrast import contrast_part
from lexiscope.studies.sense_induction.explored import explorations, write_pages
from lexiscope.studies.sense_induction.gather import gather
from lexiscope.studies.sense_induction.judged import people_part
from lexiscope.studies.sense_induction.material import MADE_UP, LeftOut, Material
from lexiscope.studies.sense_induction.names import MEANING
from lexiscope.studies.sense_induction.people import further_people_part
from lexiscope.studies.sense_induction.published import PUBLISHED as _PUBLISHED
from lexiscope.studies.sense_induction.recovery import recovery_part
from lexiscope.studies.sense_induction.same_sense import UNDECIDED, same_sense_part
from lexiscope.studies.sense_induction.sections import built
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.studies.sense_induction.similarity import rho_name, usages_part, words_part
from lexiscope.studies.sense_induction.sources import expanded, given_files
from lexiscope.studies.sense_induction.trainings import (
    frequency_part,
    grid_part,
    noise_part,
    trained_of,
    trainings_part,
)
from lexiscope.studies.sense_induction.usages import maps_part, synset_part
from lexiscope.tasks.relatedness.by_sense import AVG_SIM_C, MAX_SIM

CITATION = (
    "Guo, F., Iyyer, M., & Boyd-Graber, J. (2018). Inducing and Embedding Senses with Scaled Gumbel Softmax. "
    "arXiv:1804.08077.",
)
QUESTIONS: tuple[Question, ...] = (
    Question("Q1", "How near do similarities of words come to people's ratings?", "§5, Tables 6 and 7"),
    Question("Q2", "How near do similarities of usages in context come to people's ratings?", "§5"),
    Question("Q3", "Are usages with one meaning given one sense, and others not?", "§5, Table 8"),
    Question("Q4", "Are planted senses recovered?", "not in the paper"),
    Question("Q5", "How strong must the noise be, and what does it do?", "§3, Figures 3 and 5"),
    Question("Q6", "How many senses are left, of frequent and of rare words?", "Figure 4"),
    Question("Q7", "Do people recognise the senses?", "§4, Tables 1 to 3"),
    Question("Q8", "Do similarity and interpretability choose the same vectors?", "§5.1"),
)
PUBLISHED: Mapping[str, tuple[PublishedValue, ...]] = _PUBLISHED
STATISTICS: Mapping[str, str] = MEANING
SETTINGS = SenseInductionSettings
MINI = SenseInductionSettings(planted=MADE_UP)
"""Settings with which the study runs without data: text made by rule, small vectors trained on it."""


def run(
    settings: SenseInductionSettings, out: Path | str, *, progress: CollectProgress | None = None, command: str = ""
) -> Summary:
    """Run the whole study into a folder and return its summary.

    A finished run is not computed again; a broken one goes on with its answers and trainings. Both end with the same
    bytes (``machine.json`` apart, which says where and how long).

    Errors: :class:`InputError` for a setting that the study does not have, or where there is nothing to compare;
    those of the sets, the subjects and the files, and :class:`RunError` where the folder belongs to something else.
    """
    given = given_files(settings, expanded(settings.subjects))

    def compute(folder: Path) -> Computed:
        material = gather(settings, folder, progress=progress)
        explored, unexplored = explorations(material, settings)
        parts, answers, left_out = analyse(material, settings, explored)
        left_out = (*left_out, *unexplored)
        # the ratings of a set stay in it; simulated ones are among the answers of the run, which are marked by them
        simulated = [each for each in material.simulated if each is not material.people]
        responses = ResponseTable.concat([material.responses, answers, material.people, *simulated])
        records = _records(material, settings, parts)
        sums = tuple(material.checksums.items())
        handed = Exported("sense_induction", responses, None, sums, meanings_of(STATISTICS, records))
        sections = built(material, settings, marked_questions(QUESTIONS, records), parts, left_out, explored)
        report = _report(material, settings, sections, records, len(left_out), given, len(responses))
        files = (*export(folder, handed, settings.outputs), *write_pages(explored, folder))
        return Computed(report, responses, parts, files, STATISTICS)

    return run_study(settings, out, compute, overview, given=given, command=command)


def analyse(
    material: Material, settings: SenseInductionSettings, explored: Sequence[Exploration]
) -> tuple[dict[str, Part], ResponseTable, tuple[LeftOut, ...]]:
    """Run every analysis; return parts by name (of a question by its id), planted answers, and what was left out.

    *explored* are the senses of the words that the settings name.
    """
    trained = trained_of(material)
    vectors, no_log = trainings_part(material, trained)
    words, usages = words_part(material, settings), usages_part(material, settings)
    planted, answers, unplanted = recovery_part(material, settings)
    noise, no_noise = noise_part(trained)
    grid, no_grid = grid_part(material, trained, usages.records)
    synset, no_synset = synset_part(material, settings)
    maps, no_maps = maps_part(material, settings, explored)
    people, no_people = people_part(material, settings)
    judged = joined([people, further_people_part(material, settings)])
    measured = joined([words, usages, planted, people]).records
    contrast, no_contrast = contrast_part(material, measured)
    parts = {
        "vectors": joined([vectors, maps]),
        "Q1": words,
        "Q2": usages,
        "Q3": same_sense_part(material, settings),
        "Q4": planted,
        "Q5": joined([grid, noise, synset]),
        "Q6": frequency_part(trained),
        "Q7": judged,
        "Q8": contrast,
    }
    marked = {
        "Q1": any(each.simulated for each in material.sets if not each.in_context),
        "Q2": any(each.simulated for each in material.sets if each.in_context),
        "Q7": holds_simulated(material.people),
        "Q8": bool(material.simulated),
    }
    parts |= {name: marked_part(parts[name]) for name, simulated in marked.items() if simulated}
    missing = (no_log, unplanted, no_grid, no_noise, no_synset, no_maps, no_people, no_contrast)
    left_out = (*material.left_out, *(each for several in missing for each in several))
    return parts, answers, left_out


def overview(records: tuple[Record, ...]) -> Table:
    """Return the main figure of every question for all vectors: what fits on a screen."""
    subjects = dict.fromkeys(r.subject for r in records if r.subject and r.status == "")
    columns = (Column("Vectors"), Column("AvgSimC, SCWS", _ONE), Column("MaxSim, SimLex", _ONE),
               Column("WiC test, expected %", _ONE), Column("Mini pairs, expected %", _ONE),
               Column("Planted, by neighbours", _TWO), Column("Planted, by usages", _TWO))  # fmt: skip
    simlex = next((r.dataset for r in records if "set=simlex999" in r.dataset), "")
    rows = []
    for subject in subjects:
        own = [record for record in records if record.subject == subject]
        found = (
            pick(own, rho_name(AVG_SIM_C), dataset="scws"),
            pick(own, rho_name(MAX_SIM), dataset=simlex),
            pick(own, "expected_accuracy", dataset="wic", condition="test"),
            pick(own, "expected_accuracy", dataset="mini_relatedness"),
            pick(own, "planted_selection"),
            pick(own, "planted_accuracy"),
        )
        told = (None if record is None or record.note == UNDECIDED else record for record in found)
        rows.append((subject, *(None if record is None else shown(record) for record in told)))
    return drop_empty(Table("overview", "", "Vectors beside people and planted senses", columns, tuple(rows)))


_ONE, _TWO = Format("number", 1), Format("number", 2)


def _records(material: Material, settings: SenseInductionSettings, parts: Mapping[str, Part]) -> tuple[Record, ...]:
    """All records, beside what the paper prints of what is in the run."""
    records = marked_records(parts, QUESTIONS, settings)
    # what the paper prints of people is not compared with simulated participants
    asked = len(material.people) and not holds_simulated(material.people)
    names = {each.name for each in material.sets} | ({"word_intrusion"} if asked else set())
    return with_published(records, [value for name in PUBLISHED if name in names for value in PUBLISHED[name]])


def _report(
    material: Material,
    settings: SenseInductionSettings,
    sections: tuple[Section, ...],
    records: tuple[Record, ...],
    n_left_out: int,
    given: Mapping[str, str],
    n_responses: int,
) -> Report:
    counts = {
        "sets": len(material.sets),
        "pairs": sum(len(each.items) for each in material.sets),
        "vectors": len(material.subjects),
        "responses": n_responses,
        "records": len(records),
        "left_out": n_left_out,
    }
    subtitle = "Vectors with several senses for a word, beside people's ratings and judgments"
    return Report(
        title=settings.title or "Induced senses",
        subtitle=told(subtitle) if material.all_simulated else subtitle,
        sections=tuple(map(marked_section, sections)) if material.all_simulated else sections,
        run=about_run(settings, data=material.checksums, counts=counts, given=given),
        records=records,
        citations=CITATION,
    )
