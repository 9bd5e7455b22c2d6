"""Plausibility of senses in stories: how plausible is a meaning of a homonym, to people and to models?

Gehring & Roth 2025. The study runs on AmbiStory with its recorded ratings, or on the embedded ``mini_ambistory``; chat
models, language models, recorded predictions and baselines answer what people answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.collect import CollectProgress
from lexiscope.core.result import Record
from lexiscope.core.study import PublishedValue, Question
from lexiscope.report.document import Report
from lexiscope.report.exports import Exported, export, meanings_of
from lexiscope.report.part import Part, joined, with_published
from lexiscope.report.study_folder import about_run
from lexiscope.report.study_run import Computed, Summary, marked_questions, marked_records, run_study
from lexiscope.report.style import short_names
from lexiscope.report.tables import Cell as TableCell
from lexiscope.report.tables import Column, Table
from lexiscope.studies.ambistory.cases import cases, write_sheet
from lexiscope.studies.ambistory.distances import distances
from lexiscope.studies.ambistory.effects import distribution, endings, frequency
from lexiscope.studies.ambistory.gather import check_complete, gather, given_files
from lexiscope.studies.ambistory.kinds import open_or_ended, tuning
from lexiscope.studies.ambistory.material import Material
from lexiscope.studies.ambistory.models import INTEGER_FORM, RHO, ROUNDED_FORM, WRONG_FORMS, results
from lexiscope.studies.ambistory.names import MEANING
from lexiscope.studies.ambistory.numbers import THREE
from lexiscope.studies.ambistory.people import agreement, stories
from lexiscope.studies.ambistory.published import PUBLISHED as _PUBLISHED
from lexiscope.studies.ambistory.sections import built
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.ambistory.tags import error_tags

CITATION = ("Gehring, J., & Roth, M. (2025). AmbiStory: A Challenging Dataset of Lexically Ambiguous Short Stories.",)
QUESTIONS: tuple[Question, ...] = (
    Question("Q1", "How much do people agree on the plausibility of a meaning?", "§4.1, §5.1"),
    Question("Q2", "Does an ending change how plausible a meaning is?", "§4.2"),
    Question("Q3", "Do people use the whole scale, and are frequent senses more plausible?", "§4.2, Table 6"),
    Question("Q4", "How close do models come to people's ratings?", "§5.1, §5.2, Table 3"),
    Question("Q5", "Are open stories harder than ended ones?", "§5.3.2, Table 7"),
    Question("Q6", "Does training on ratings make the errors of a model smaller?", "§5.3"),
)
PUBLISHED: Mapping[str, tuple[PublishedValue, ...]] = _PUBLISHED
STATISTICS: Mapping[str, str] = MEANING
SETTINGS = AmbistorySettings
MINI = AmbistorySettings(dataset="mini_ambistory", subjects=("baseline:random",))
"""Settings with which the study runs on any machine, without a model (its subject guesses)."""


def run(
    settings: AmbistorySettings, out: Path | str, *, progress: CollectProgress | None = None, command: str = ""
) -> Summary:
    """Run the whole study into a folder and return its summary.

    A finished run is not computed again; a broken one continues from the answers that were collected. Both end with
    the same bytes (``machine.json`` apart, which says where and how long).

    Errors: :class:`InputError` for a setting that the study does not have; those of the dataset, the subjects, and
    :class:`RunError` where the folder belongs to something else.
    """
    settings = replace(settings, dataset=settings.dataset or settings.study)

    def compute(folder: Path) -> Computed:
        material = gather(settings, folder, progress=progress)
        check_complete(material)
        parts = analyse(material, settings)
        records = _records(material, settings, parts)
        handed = Exported(
            material.name,
            material.responses,
            material.card,
            tuple(material.checksums.items()),
            meanings_of(STATISTICS, records),
        )
        files = (*export(folder, handed, settings.outputs), *write_sheet(material, folder))
        return Computed(_report(material, settings, parts, records), material.responses, parts, files, STATISTICS)

    return run_study(settings, out, compute, _overview, given=given_files(settings), command=command)


def analyse(material: Material, settings: AmbistorySettings) -> dict[str, Part]:
    """Run every analysis of the study on its material; parts by name, those of a question by its id."""
    return {
        "stories": stories(material),
        "Q1": agreement(material, settings),
        "Q2": endings(material, settings),
        "Q3": joined([distribution(material, settings), frequency(material, settings)]),
        "Q4": joined([results(material, settings), distances(material, settings)]),
        "Q5": open_or_ended(material, settings),
        "Q6": tuning(material, settings),
        "cases": joined([cases(material), error_tags(material, settings)]),
    }


def _records(material: Material, settings: AmbistorySettings, parts: Mapping[str, Part]) -> tuple[Record, ...]:
    """All records, beside what the paper prints."""
    records = marked_records(parts, QUESTIONS, settings)
    return with_published(records, PUBLISHED.get(material.name, ()))


def _report(
    material: Material, settings: AmbistorySettings, parts: Mapping[str, Part], records: tuple[Record, ...]
) -> Report:
    counts = {
        "items": len(material.items),
        "asked": len(material.asked),
        "responses": len(material.responses),
        "subjects": len(material.predictors),
        "records": len(records),
    }
    return Report(
        title=settings.title or f"Plausibility of senses: {material.card.title}",
        subtitle="People and models side by side",
        sections=built(material, settings, marked_questions(QUESTIONS, records), parts),
        run=about_run(settings, data=material.checksums, counts=counts, given=given_files(settings)),
        records=records,
        citations=CITATION,
    )


_SINGLE = ("single_rater_rho(over=ratings)", "single_rater_accuracy_within_sd")


def _overview(records: tuple[Record, ...]) -> Table:
    """Correlation and accuracy of every subject beside one person's: what fits on a screen."""
    columns = (
        Column("Subject"),
        Column("ρ", THREE),
        Column("Accuracy within SD", THREE),
        Column("unread as wrong", THREE),
        Column("read / asked"),
    )
    own = [
        one
        for one in records
        if one.statistic in (RHO, INTEGER_FORM, ROUNDED_FORM) and one.status != "not reproducible"
    ]
    subjects = tuple(dict.fromkeys(one.subject for one in own))
    names = dict(zip(subjects, short_names(subjects, 40), strict=True))
    rows: list[tuple[TableCell, ...]] = []
    where = next((one.condition for one in own), "")
    people = [
        next((r.value for r in records if r.statistic == name and r.condition == where), None) for name in _SINGLE
    ]
    if any(value is not None for value in people):
        rows.append(("one person against the others", *people, None, ""))
    for subject in subjects:
        rho = _first(own, subject, (RHO,))
        right = _first(own, subject, (INTEGER_FORM, ROUNDED_FORM))
        strict = _first(records, subject, tuple(WRONG_FORMS.values()))
        counts = [_first(records, subject, (name,)) for name in ("n_items_read", "n_items_asked")]
        read = " / ".join(f"{count:.0f}" for count in counts if count is not None)
        rows.append((names[subject], rho, right, strict, read))
    return Table(
        "overview",
        "",
        f"Predictions beside people's ratings, samples of: {where}; ρ and accuracy over readable replies",
        columns,
        tuple(rows),
    )


def _first(records: Sequence[Record], subject: str, statistics: tuple[str, ...]) -> float | None:
    return next((one.value for one in records if one.subject == subject and one.statistic in statistics), None)
