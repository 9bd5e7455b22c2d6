"""Relatedness in context: people's ratings beside the distances of encoders, layer by layer (SAW-C, RAW-C).

Rivière, Beatty-Martínez & Trott 2025. The study runs on SAW-C, on RAW-C (``--dataset raw_c``), or on items of the
user's own; recorded and live subjects are analysed together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.collect import CollectProgress
from lexiscope.core.response import holds_simulated
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.study import PlannedAnalysis, PublishedValue, Question
from lexiscope.report.document import Report
from lexiscope.report.exports import Exported, export, meanings_of
from lexiscope.report.part import Part, with_published
from lexiscope.report.simulated import marked_table
from lexiscope.report.stored import write_table
from lexiscope.report.study_run import Computed, Summary, in_force, marked_questions, marked_records, run_study
from lexiscope.report.tables import Table
from lexiscope.studies.saw_c.answers import answered
from lexiscope.studies.saw_c.gather import gather
from lexiscope.studies.saw_c.lmm import chosen_tests
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.names import MEANING
from lexiscope.studies.saw_c.planned import PLANNED as _PLANNED
from lexiscope.studies.saw_c.planned import planned_analyses
from lexiscope.studies.saw_c.plans import VIEWS, plan_for
from lexiscope.studies.saw_c.published import PUBLISHED as _PUBLISHED
from lexiscope.studies.saw_c.sections import built
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.saw_c.show import overview_table
from lexiscope.studies.saw_c.trials import trial_table
from lexiscope.studies.saw_c.writing import distinct_columns, run_record, write_r

CITATION = (
    "Rivière, P. D., Beatty-Martínez, A. L., & Trott, S. (2025). Evaluating Contextualized Representations of "
    "(Spanish) Ambiguous Words: A New Lexical Resource and Empirical Analysis. NAACL 2025 (long papers), 8322-8338.",
    "Trott, S., & Bergen, B. (2021). RAW-C: Relatedness of Ambiguous Words, in Context. ACL-IJCNLP 2021, 7077-7087.",
)
QUESTIONS: tuple[Question, ...] = (
    Question(
        "Q1", "Do people rate two uses of the same sense as more related than two different senses?", "SAW-C §3.5"
    ),
    Question("Q2", "At which layer do distances separate the same sense from different senses best?", "SAW-C §4.2"),
    Question(
        "Q3", "How well do distances predict relatedness at each layer, beside single people?", "SAW-C §4.3, §4.4"
    ),
    Question(
        "Q4",
        "Do people see a sense boundary beyond distance, and in which direction is every model off?",
        "SAW-C §4.5, §5.4",
    ),
    Question("Q5", "Do larger models fit people better, and how does fit change with depth?", "SAW-C §5.2, §5.3"),
)
PLANNED: tuple[PlannedAnalysis, ...] = _PLANNED
PUBLISHED: Mapping[str, tuple[PublishedValue, ...]] = _PUBLISHED
STATISTICS: Mapping[str, str] = MEANING
SETTINGS = SawCSettings
MINI = SawCSettings(dataset="mini_relatedness", subjects=("encoder:minilm",))
"""Settings with which the study runs on any machine."""


def run(
    settings: SawCSettings, out: Path | str, *, progress: CollectProgress | None = None, command: str = ""
) -> Summary:
    """Run the whole study into a folder and return its summary.

    A finished run is not computed again; a broken one continues from the answers that were collected. Both end with
    the same bytes (``machine.json`` apart, which says where and how long).

    Errors: :class:`InputError` for a setting that the study does not have; those of the dataset, the subjects, and
    :class:`RunError` where the folder belongs to something else.
    """
    settings = completed(settings)

    def compute(folder: Path) -> Computed:
        material = gather(settings, folder, progress=progress)
        parts = analyse(material, settings)
        records = _records(material, settings, parts)
        norms = parts.get("norms", Part()).tables
        if holds_simulated(material.responses):
            norms = tuple(map(marked_table, norms))
        files = (*_exports(folder, material, settings, records), *_write_norms(folder, norms))
        return Computed(_report(material, settings, parts, records), material.responses, parts, files, STATISTICS)

    def overview(records: tuple[Record, ...]) -> Table:
        return overview_table(records, settings.views[0])

    return run_study(settings, out, compute, overview, command=command)


def completed(settings: SawCSettings) -> SawCSettings:
    """Return the settings with what they leave to the dataset filled in: the dataset and its views."""
    dataset = settings.dataset or ("" if settings.items else settings.study)
    views = settings.views or VIEWS.get(dataset, ("full",))
    return replace(settings, dataset=dataset, views=views)


def analyse(material: Material, settings: SawCSettings) -> dict[str, Part]:
    """Run every analysis of the study on its material; parts by name, those of a question by its id."""
    return answered(material, settings)


def _records(material: Material, settings: SawCSettings, parts: Mapping[str, Part]) -> tuple[Record, ...]:
    """All records, beside what the paper prints."""
    records = marked_records(parts, QUESTIONS, settings, planned_analyses(settings))
    return with_published(records, () if settings.items else PUBLISHED.get(material.name, ()))


def _report(material: Material, settings: SawCSettings, parts: Mapping[str, Part], records: Sequence[Record]) -> Report:
    questions = marked_questions(QUESTIONS, records)
    title = settings.title or f"Relatedness in context: {material.card.title if material.card else material.name}"
    return Report(
        title=title,
        subtitle="People and encoders side by side",
        sections=built(material, settings, questions, parts, in_force(planned_analyses(settings), settings)),
        run=run_record(material, settings, records),
        records=tuple(records),
        # on other data the study is cited for its methods
        citations=CITATION[:1] if settings.items else CITATION,
    )


def _exports(folder: Path, material: Material, settings: SawCSettings, records: Sequence[Record]) -> tuple[str, ...]:
    from_plan = plan_for(material, settings, _best_layers(material, settings, records))
    names: tuple[str, ...] = ()
    tests = distinct_columns([test for test in chosen_tests(from_plan, settings) if test.possible(material)])
    if "r_script" in settings.outputs and material.ratings is not None and tests:
        columns: dict[str, tuple[str, int | None]] = {}
        for test in tests:
            columns |= {name: (subject, layer) for name, subject, layer in test.distances}
        names += write_r(folder, tests, trial_table(material, columns), simulated=holds_simulated(material.responses))
    handed = Exported(
        material.name, material.responses, material.card, material.checksums, meanings_of(STATISTICS, records)
    )
    return names + export(folder, handed, settings.outputs)


def _best_layers(material: Material, settings: SawCSettings, records: Sequence[Record]) -> dict[str, int | None]:
    """The layer at which each subject fits people best, as the tests of the run had it."""
    name, view = statistic_name("best_layer", by="r_squared"), settings.views[0]
    found = {r.subject: r.value for r in records if r.statistic == name and r.view == view}
    layers = {distances.subject: found.get(distances.subject) for distances in material.of_view(view)}
    return {subject: None if layer is None else int(layer) for subject, layer in layers.items()}


def _write_norms(folder: Path, tables: Sequence[Table]) -> tuple[str, ...]:
    return tuple(name for table in tables for name in write_table(table, folder / "tables"))
