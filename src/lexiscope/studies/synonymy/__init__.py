"""Synonymy in causal language models: does a model prefer a word's synonym in context, and can it produce one?

Ivan, Ramisch & Nasr 2025. The study runs on the released collection with its recorded outcomes, on the embedded
``mini_synonymy``, or on a collection of the user's own; recorded and live subjects stand in the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lexiscope.collect import CollectProgress
from lexiscope.core.result import Record
from lexiscope.core.run import sha256_of
from lexiscope.core.study import PublishedValue, Question
from lexiscope.report.document import Report
from lexiscope.report.exports import Exported, export, meanings_of
from lexiscope.report.part import Part, joined, with_published
from lexiscope.report.study_folder import about_run
from lexiscope.report.study_run import Computed, Summary, marked_questions, marked_records, run_study
from lexiscope.report.style import short_names
from lexiscope.report.tables import Column, Format, Table
from lexiscope.studies.synonymy.accuracies import accuracies, apart
from lexiscope.studies.synonymy.cells import Cell, cell_named, main_cells
from lexiscope.studies.synonymy.consistency import consistency
from lexiscope.studies.synonymy.contrasts import contrasts
from lexiscope.studies.synonymy.describe import collection, subjects
from lexiscope.studies.synonymy.figures import figure_6, figures
from lexiscope.studies.synonymy.further import checkpoints, commutativity, expressions, margins
from lexiscope.studies.synonymy.gaps import gap_filling
from lexiscope.studies.synonymy.gather import check_complete, gather
from lexiscope.studies.synonymy.material import Material
from lexiscope.studies.synonymy.names import MEANING
from lexiscope.studies.synonymy.published import PUBLISHED as _PUBLISHED
from lexiscope.studies.synonymy.sections import built
from lexiscope.studies.synonymy.settings import SynonymySettings
from lexiscope.studies.synonymy.tokens import tokens

CITATION = (
    "Ivan, I., Ramisch, C., & Nasr, A. (2025). Evaluating Pretrained Causal Language Models for Synonymy. Findings of "
    "the Association for Computational Linguistics: ACL 2025, 12533-12551. doi:10.18653/v1/2025.findings-acl.649.",
)
QUESTIONS: tuple[Question, ...] = (
    Question(
        "Q1",
        "Do models prefer a synonym that fits the context to one that does not, and to random nouns?",
        "§4.1, Table 5, App. E",
    ),
    Question("Q2", "Do they know that two words are synonyms without any context?", "§4.1, Table 5"),
    Question("Q3", "Do they produce a synonym when they are asked for one?", "§3.2, §4.2"),
    Question("Q4", "Do decisions depend on how many tokens a word is cut into?", "§4.3, Table 1"),
    Question("Q5", "Are the same items right in different tests?", "§4.4, Tables 14-17"),
    Question(
        "Q6", "Which expression of the relation works best, and does it work in both directions?", "§4.1, §6, App. G"
    ),
)
PUBLISHED: Mapping[str, tuple[PublishedValue, ...]] = _PUBLISHED
STATISTICS: Mapping[str, str] = MEANING
SETTINGS = SynonymySettings
MINI = SynonymySettings(dataset="mini_synonymy", subjects=("baseline:random",))
"""Settings with which the study runs on any machine, without a model (its subject guesses)."""


def run(
    settings: SynonymySettings, out: Path | str, *, progress: CollectProgress | None = None, command: str = ""
) -> Summary:
    """Run the whole study into a folder and return its summary.

    A finished run is not computed again; a broken one continues from the answers that were collected. Both end with
    the same bytes (``machine.json`` apart, which says where and how long).

    Errors: :class:`InputError` for a setting that the study does not have; those of the dataset, the subjects, and
    :class:`RunError` where the folder belongs to something else.
    """
    settings = replace(settings, dataset=settings.dataset or ("" if settings.items else settings.study))

    def compute(folder: Path) -> Computed:
        material = gather(settings, folder, progress=progress)
        check_complete(material)
        parts = analyse(material, settings)
        records = _records(material, settings, parts)
        handed = Exported(
            material.name,
            material.all_responses,
            material.card,
            tuple(material.checksums.items()),
            meanings_of(STATISTICS, records),
        )
        files = export(folder, handed, settings.outputs)
        return Computed(_report(material, settings, parts, records), material.all_responses, parts, files, STATISTICS)

    return run_study(settings, out, compute, _overview, given=_given(settings), command=command)


def _given(settings: SynonymySettings) -> dict[str, str]:
    """The checksums of the files beside the collection: word counts, words to flag, templates."""
    beside = (settings.frequency, settings.word_list, settings.templates)
    return {path: sha256_of(Path(path)) for path in beside if path}


def analyse(material: Material, settings: SynonymySettings) -> dict[str, Part]:
    """Run every analysis of the study on its material; parts by name, those of a question by its id."""
    right, alone = apart(material, accuracies(material, settings))
    tested = contrasts(material, settings)
    return {
        "collection": collection(material, settings),
        "subjects": subjects(material),
        "Q1": joined([right, tested, Part(figures=figures(material, settings)), checkpoints(material, settings)]),
        "Q2": replace(alone, paragraphs=(_WHERE,)) if alone.records else Part(),
        "Q3": gap_filling(material, settings),
        "Q4": joined([tokens(material), margins(material)]),
        "Q5": consistency(material),
        "Q6": joined([expressions(material), commutativity(material), Part(figures=figure_6(material, settings))]),
    }


_WHERE = (
    "The intervals of these accuracies are in the tables of the question above, their contrasts in its tables of "
    "contrasts. Compare them with the word-frequency baseline first: random nouns may be rarer."
)


def _records(material: Material, settings: SynonymySettings, parts: Mapping[str, Part]) -> tuple[Record, ...]:
    """All records, beside what the paper prints."""
    records = marked_records(parts, QUESTIONS, settings)
    published = () if material.own else PUBLISHED.get(material.name, ())
    return with_published(records, published)


def _report(
    material: Material, settings: SynonymySettings, parts: Mapping[str, Part], records: tuple[Record, ...]
) -> Report:
    counts = {
        "items": len(material.numbers),
        "sentences": len(set(material.sentences)),
        "choice_sets": len(material.items),
        "responses": len(material.all_responses),
        "subjects": len(material.answers),
        "records": len(records),
    }
    return Report(
        title=settings.title or ("Synonymy: " if material.design.is_papers else "") + material.card.title,
        subtitle="Recorded and live models side by side" if not material.own else "A study of one's own items",
        sections=built(material, settings, marked_questions(QUESTIONS, records), parts),
        run=about_run(
            settings,
            data=material.checksums,
            counts=counts,
            scoring=[*map(dict, material.routes)],
            given=_given(settings),
        ),
        records=records,
        citations=CITATION,
    )


def _overview(records: tuple[Record, ...]) -> Table:
    """The main accuracies (the paper's eight), a column for each subject: what fits on a screen."""
    main = {cell.name: cell for cell in main_cells(map(cell_named, _conditions(records)))}
    first: dict[tuple[str, str], float] = {}
    for record in records:
        if record.condition in main and record.value is not None and record.statistic.startswith("accuracy("):
            # the deciding denominator comes first in the records of a subject
            first.setdefault((record.subject, record.condition), record.value)
    subjects_ = tuple(dict.fromkeys(subject for subject, _ in first))
    names = short_names([_short(subject) for subject in subjects_], 18)
    columns = (Column("Percent right"), *(Column(name, Format("number", 1)) for name in names))
    rows = [
        (_label(cell), *(first.get((subject, cell.name)) for subject in subjects_))
        for cell in main.values()
        if any(condition == cell.name for _, condition in first)
    ]
    return Table("overview", "", "Accuracy, percent right", columns, tuple(rows))


def _conditions(records: tuple[Record, ...]) -> tuple[str, ...]:
    """The cells with an accuracy, in the order of their records."""
    return tuple(dict.fromkeys(record.condition for record in records if record.statistic.startswith("accuracy(")))


def _short(subject: str) -> str:
    """The last part of a model's name; a policy of its own stays, for it tells subjects apart.

    >>> _short("causal_lm:models/tiny?bos=yes"), _short("baseline:frequency"), _short("allenai/OLMo-1B")
    ('tiny?bos=yes', 'word frequency', 'OLMo-1B')
    """
    if subject.startswith("baseline:frequency"):
        return "word frequency"
    name, mark, options = subject.partition("?")
    return name.rstrip("/").rpartition("/")[2].rpartition(":")[2] + mark + options


def _label(cell: Cell) -> str:
    # the paper's main accuracies have one expression; of one's own relation all stand in the table
    if not cell.is_papers:
        return cell.label
    return cell.label.replace(f" (“{cell.expression}”)", "")
