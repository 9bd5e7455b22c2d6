"""Context–word bias: what part of the input solves a dataset of word meaning, the context, the word, or both?

Liu, McCarthy & Korhonen 2022. The study runs on published datasets, on the embedded ``planted_bias``, or on a pair
file of the user's own: a model is trained and tested on the whole input and on each part of it, beside people who saw
the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lexiscope.collect import CollectProgress
from lexiscope.core.result import Record
from lexiscope.core.study import PublishedValue, Question
from lexiscope.report.document import Report
from lexiscope.report.exports import Exported, export, meanings_of
from lexiscope.report.part import Part, joined, pick, shown, with_published
from lexiscope.report.simulated import marked_part, marked_section, marked_where_people, told
from lexiscope.report.study_folder import about_run
from lexiscope.report.study_run import Computed, Summary, marked_questions, marked_records, run_study
from lexiscope.report.tables import Cell as TableCell
from lexiscope.report.tables import Column, Format, Table
from lexiscope.studies.context_bias.describe import models_part, sets_part
from lexiscope.studies.context_bias.entropies import ambiguity_part, label_part
from lexiscope.studies.context_bias.errors import errors_part, guesses_part
from lexiscope.studies.context_bias.gather import gather, given_files
from lexiscope.studies.context_bias.material import Material
from lexiscope.studies.context_bias.names import MEANING
from lexiscope.studies.context_bias.protocol import LOOK_UP
from lexiscope.studies.context_bias.published import PUBLISHED as _PUBLISHED
from lexiscope.studies.context_bias.scores import Measured, bias_part, gap_part, measured, people_part, seeds_part
from lexiscope.studies.context_bias.sections import Judged, built, judged
from lexiscope.studies.context_bias.settings import ContextBiasSettings

CITATION = (
    "Liu, Q., McCarthy, D., & Korhonen, A. (2022). Measuring Context-Word Biases in Lexical Semantic Datasets. "
    "Proceedings of the 2022 Conference on Empirical Methods in Natural Language Processing. arXiv:2112.06733.",
)
QUESTIONS: tuple[Question, ...] = (
    Question(
        "Q1",
        "How much of what the whole input gives can be had from the context alone, and from the word alone?",
        "§2.3, Figures 1, 2 and 4, Table 7",
    ),
    Question("Q2", "How much do word and context give together, beyond the better of the two?", "Figure 3"),
    Question("Q3", "How far do models stay behind people, view by view?", "§3, Table 5, appendix F"),
    Question("Q4", "How much does the word tell of the label?", "§3.2, Table 4"),
    Question("Q5", "Are datasets with less ambiguous words more word-biased?", "§3.1, Table 2"),
    Question("Q6", "Where does the context mislead, and where does the word?", "§3.1, Table 3"),
    Question("Q7", "Does a model notice that another word stands in the place?", "§3.2, Tables 1 and 8"),
)
PUBLISHED: Mapping[str, tuple[PublishedValue, ...]] = _PUBLISHED
STATISTICS: Mapping[str, str] = MEANING
SETTINGS = ContextBiasSettings
MINI = ContextBiasSettings(dataset="planted_bias", encoders=(LOOK_UP,))
"""Settings with which the study runs on any machine, without a model (its learner counts)."""


def run(
    settings: ContextBiasSettings, out: Path | str, *, progress: CollectProgress | None = None, command: str = ""
) -> Summary:
    """Run the whole study into a folder and return its summary.

    A finished run is not computed again; a broken one goes on with its trainings and answers. Both end with the same
    figures.

    Errors: :class:`InputError` for a setting that the study does not have, or a file that is not fit for an audit;
    those of the datasets and trainings, and :class:`RunError` where the folder belongs to something else.
    """
    given = given_files(settings)

    def compute(folder: Path) -> Computed:
        material = gather(settings, folder, progress=progress)
        everybody = measured(material, settings)
        parts = analyse(material, everybody, settings)
        records = _records(material, settings, parts)
        report = _report(material, settings, parts, records, judged(everybody, settings), given)
        card = material.sets[0].card if len(material.sets) == 1 else None
        sums = (*material.checksums.items(), *given.items())
        handed = Exported(material.sets[0].name, material.responses, card, sums, meanings_of(STATISTICS, records))
        files = export(folder, handed, settings.outputs)
        return Computed(report, material.responses, parts, files, STATISTICS)

    return run_study(settings, out, compute, overview, given=given, command=command)


def analyse(material: Material, everybody: tuple[Measured, ...], settings: ContextBiasSettings) -> dict[str, Part]:
    """Run every analysis of the study; parts by name, those of a question by its id."""
    parts = {
        "sets": sets_part(material),
        "models": models_part(material),
        "Q1": joined([bias_part(everybody), seeds_part(material, everybody)]),
        "Q2": gap_part(everybody),
        "Q3": people_part(material, everybody, settings),
        "Q4": label_part(material, settings),
        "Q5": ambiguity_part(material, everybody, settings),
        "Q6": errors_part(material),
        "Q7": guesses_part(material),
    }
    if not material.simulated:
        return parts
    # guesses are people's, whatever the model is
    return {name: (marked_part if name == "Q7" else marked_where_people)(part) for name, part in parts.items()}


def overview(records: tuple[Record, ...]) -> Table:
    """Return the scores of every subject on every dataset, and both biases with intervals: what fits on a screen."""
    keys = dict.fromkeys((r.dataset, r.subject) for r in records if r.statistic == "accuracy" and r.subject)
    views = ("full", "context", "word", "label")
    columns = (Column("Dataset"), Column("Subject"), *(Column(view.upper(), _PERCENT) for view in views),
               Column("Context bias", _BIAS), Column("Word bias", _BIAS))  # fmt: skip
    rows = []
    for dataset, subject in keys:
        own = [record for record in records if (record.dataset, record.subject) == (dataset, subject)]
        scores = [pick(own, "accuracy", view=view) for view in views]
        percent: list[TableCell] = [None if one is None or one.value is None else 100 * one.value for one in scores]
        biases = [_bias_cell(own, f"{view}_bias(metric=accuracy)") for view in ("context", "word")]
        rows.append((dataset, subject, *percent, *biases))
    return Table("overview", "", "Right answers, %, and biases", columns, tuple(rows))


_PERCENT, _BIAS = Format("number", 1), Format("number", 2)


def _bias_cell(own: list[Record], statistic: str) -> TableCell:
    record = pick(own, statistic)
    return None if record is None else shown(record)


def _records(material: Material, settings: ContextBiasSettings, parts: Mapping[str, Part]) -> tuple[Record, ...]:
    """All records, beside what the paper prints of these datasets."""
    records = marked_records(parts, QUESTIONS, settings)
    published = [value for audit in material.sets for value in PUBLISHED.get(audit.name, ()) if not material.own]
    published = [value for value in published if not (material.simulated and value.statistic.startswith("people_"))]
    return with_published(records, published)


def _report(
    material: Material,
    settings: ContextBiasSettings,
    parts: Mapping[str, Part],
    records: tuple[Record, ...],
    verdicts: tuple[Judged, ...],
    given: Mapping[str, str],
) -> Report:
    counts = {
        "datasets": len(material.sets),
        "items": sum(len(audit.labelled) for audit in material.sets),
        "responses": len(material.responses),
        "models": len(material.answers),
        "records": len(records),
    }
    names = ", ".join(audit.name for audit in material.sets)
    plans = [{"dataset": each.dataset, "model": each.subject, "plan": each.plan, "left_out": list(each.left_out)}
             for each in material.answers]  # fmt: skip
    subtitle = "Models trained on the whole input and on each part of it, beside people"
    sections = built(material, settings, marked_questions(QUESTIONS, records), parts, verdicts)
    return Report(
        title=settings.title or f"Context and word bias: {names}",
        subtitle=told(subtitle) if material.simulated else subtitle,
        sections=tuple(map(marked_section, sections)) if material.simulated else sections,
        run=about_run(settings, data=material.checksums, counts=counts, plans=plans, given=given),
        records=records,
        citations=() if material.own else CITATION,
    )
