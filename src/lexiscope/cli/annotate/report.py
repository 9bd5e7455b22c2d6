"""``lexiscope annotate report``: from the collected answers to the report of the study of their task."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
import pyarrow as pa

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.export.study_data import StudyData
from lexiscope.annotation.study_file.study_folder import StudyOnDisk, open_snapshot, read_study
from lexiscope.annotation.web.admin.summary import read_collected_for_export
from lexiscope.build.choice_items import read_choice_items
from lexiscope.cli import options
from lexiscope.cli.annotate import POSTGRES, STUDY
from lexiscope.cli.output import remark, say, say_folded, say_plain_table
from lexiscope.cli.study_run import run_study
from lexiscope.cli.verb import Verb
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.core.settings import Settings, settings_from
from lexiscope.core.showing import counted
from lexiscope.core.simulated import SIMULATED_PARTICIPANTS, TOLD_SIMULATED
from lexiscope.report.document import Report, Section
from lexiscope.report.page.study_folder import about_run, write_run
from lexiscope.report.part import Part
from lexiscope.report.parts.collection_parts import CollectedText, choices_part, texts_part
from lexiscope.report.tables import to_text
from lexiscope.resources.corpora.entity_list import EntityList
from lexiscope.studies.context_bias.sets import own_set
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.kit.participants import ABOUT_PEOPLE, read_participants

EXPORT = "export"
"""The folder of the export, in the folder of the report."""


@dataclass(frozen=True, slots=True)
class StudyOfTask:
    """A study that analyses the answers to a task: its name, and the settings that name files of the export.

    ``items`` is the setting that names the items, empty if the answers and the items are given in one setting.
    """

    study: str
    answers: Mapping[str, tuple[str, ...]]
    more: Mapping[str, object] = field(default_factory=dict)
    items: str = "items"


_RATINGS = {"ratings": ("ratings.csv",)}
_WORDS, _COUNTS = {"encoders": ("words",)}, {"encoders": ("look_up",)}
_SENSES = StudyOfTask("sense_induction", {"people": ("items.csv", "choices.csv")}, items="")
STUDIES: Mapping[str, StudyOfTask] = MappingProxyType(
    {
        "relatedness": StudyOfTask("saw_c", _RATINGS),
        "plausibility": StudyOfTask("ambistory", _RATINGS),
        "sensorimotor": StudyOfTask("any_ratings", _RATINGS, {"task": "sensorimotor"}),
        "same_sense": StudyOfTask("context_bias", {"people": ("wic_judgments.csv",)}, _WORDS),
        "sense_verification": StudyOfTask("context_bias", {"people": ("verification_judgments.csv",)}, _WORDS),
        "sense_disambiguation": StudyOfTask("context_bias", {"people": ("choices.csv",)}, _COUNTS),
        "entity_link": StudyOfTask("context_bias", {"people": ("link_judgments.csv",)}, _COUNTS),
        "sense_retrieval": StudyOfTask("context_bias", {"people": ("search_judgments.csv",)}, _COUNTS),
        "minimal_pair": StudyOfTask("synonymy", {"people": ("choices.csv",)}),
        "substitution": StudyOfTask("synonymy", {"people": ("choices.csv",)}),
        "gap_filling": StudyOfTask("synonymy", {"people": ("judgments.csv",)}),
        "word_intrusion": _SENSES,
        "sense_choice": _SENSES,
    }
)
"""The studies by task; answers to other tasks, and those that its study cannot use, get the report of choices or texts.

Texts that people write become the items of another stage of the study.
"""
_NOT_FOUND = "not found"


@click.command("report", cls=Verb)
@STUDY
@options.path("--out", metavar="RUN", about="Output folder.", required=True)
@click.option(
    "--subject", "subjects", multiple=True, metavar="SPEC", help="Model to compare with participants. May be repeated."
)
@click.option(
    "--bootstrap", type=click.IntRange(min=100), default=2000, show_default=True, help="Number of bootstrap samples."
)
@options.device
@POSTGRES
@options.quiet
def report(
    study: Path, *, out: Path, subjects: tuple[str, ...], bootstrap: int, device: str, postgres: str | None, quiet: bool
) -> None:
    """Analyse the answers and write a report.

    STUDY is the study file, or the folder in which the study runs. The server may be running. RUN gets the export of
    the study (RUN/export) and the report of the study of its task (RUN/report.html). Run the same command again to
    update both. --subject compares models with the participants, in the study of the task: `lexiscope study NAME
    --help` says which models it asks. The study also gets what participants reported of themselves, and their comments.
    """
    on_disk = read_study(study)
    frozen = on_disk.freeze()
    with open_snapshot(frozen, on_disk.folder, url=postgres) as store:
        collected = read_collected_for_export(frozen, store)
    if not collected.participant_counts.valid:
        what = "No valid participants yet, so there are no answers to analyse."
        raise InputError(what, place=Place(str(on_disk.folder)), hint="lexiscope annotate status shows the progress.")
    export = out / EXPORT
    write_export(collected, export)
    if collected.simulated:
        say_folded(f"{SIMULATED_PARTICIPANTS}: {TOLD_SIMULATED}")
    write = _writer(on_disk, subjects)
    write(CollectedRun(on_disk, collected, out, export, subjects, bootstrap, device, quiet))
    n_comments = sum(bool(row["comment"]) for row in collected.valid_rows)
    if n_comments:
        told = f"{counted(n_comments, 'comment')} of participants. To code them: lexiscope annotate comments {export}"
        remark(told, quiet=quiet)


@dataclass(frozen=True, slots=True)
class CollectedRun:
    """What a report is made of: the study, its answers, the folders, and the options of the command."""

    study: StudyOnDisk
    collected: StudyData
    out: Path
    export: Path
    subjects: Sequence[str]
    bootstrap: int
    device: str
    quiet: bool


def _writer(on_disk: StudyOnDisk, subjects: Sequence[str]) -> Callable[[CollectedRun], None]:
    """Return what writes the report of a task; only studies compare models with participants."""
    task = on_disk.definition.task
    planned = on_disk.definition.planned.study
    if task in STUDIES or planned:
        return _report_of_study
    if subjects:
        what = f"--subject is not available for the task {task}, whose answers are items of another stage."
        raise click.UsageError(f"{what} lexiscope collect asks models for such texts.")
    return _report_of_texts if catalog.screen(task).widget == "text" else _report_of_choices


def _report_of_study(run: CollectedRun) -> None:
    definition = run.study.definition
    known = STUDIES.get(definition.task, StudyOfTask(definition.planned.study, _RATINGS))
    name = definition.planned.study or known.study
    answers = {key: tuple(str(run.export / file) for file in files) for key, files in known.answers.items()}
    given: dict[str, Any] = {"n_bootstrap": run.bootstrap, **answers, **known.more}
    if name == "any_ratings":
        # it analyses one file of ratings
        (given["file"],) = given.pop("ratings")
    given |= {known.items: str(run.export / "items.csv")} if known.items else {}
    given |= {"subjects": tuple(run.subjects)} if run.subjects else {}
    if known is _SENSES and definition.attention:
        given["people"] += (str(run.export / "responses.csv"),)
    if run.study.search is not None and name == "context_bias":
        given["entities"] = str(run.study.search)
    reason = _why_not(name, given)
    if reason:
        texts = catalog.screen(definition.task).widget == "text"
        instead = "the texts" if texts else "agreement and accuracy"
        if run.subjects:
            hint = f"leave --subject out: the report then has {instead} of participants"
            raise InputError(f"Items not suitable for the study {name}, which asks models: {reason}", hint=hint)
        say_folded(f"Items not suitable for the study {name}: {reason} The report has {instead}.")
        (_report_of_texts if texts else _report_of_choices)(run)
        return
    settings = catalog.settings(name)
    if hasattr(settings, "device"):
        given["device"] = run.device
    if hasattr(settings, "min_ratings"):
        given["min_ratings"] = definition.ratings.per_item
    if hasattr(settings, "participants"):
        given |= _participants(run)
    # no rating belongs to a comment without an answer
    commented = any(row["comment"] and row["response"] is not None for row in run.collected.valid_rows)
    if commented and hasattr(settings, "comments"):
        given["comments"] = str(run.export / "judgments.csv")
    run_study(name, given, out=run.out, quiet=run.quiet)
    missing = [model for model in definition.planned.models if model not in run.subjects]
    if missing:
        added = " ".join(f"--subject {model}" for model in missing)
        remark(f"Planned models without answers: {', '.join(missing)}. Add {added}.", quiet=run.quiet)


def _participants(run: CollectedRun) -> dict[str, str]:
    """The table of participants as a setting, if they were asked for their country, gender or age."""
    if not {question.measure for question in run.study.definition.about_you} & {*ABOUT_PEOPLE}:
        return {}
    table = run.export / "participants.csv"
    try:
        known = read_participants(table)
    except InputError as error:
        remark(f"Participants were not compared by what they report of themselves: {error.sentences}", quiet=run.quiet)
        return {}
    return {"participants": str(table)} if any(known.values()) else {}


def _why_not(name: str, given: Mapping[str, Any]) -> str:
    """Return why a study cannot use the items (their labels, their number); empty if it can."""
    try:
        if name == "context_bias":
            own_set(Path(given["items"]), settings_from(ContextBiasSettings, {**given, "study": name}))
        elif name == "synonymy":
            asked = read_choice_items(given["items"])
            if not asked.pages and not asked.gap_items:
                return "They name no right word (gold) and no synonym."
    except InputError as error:
        return error.sentences
    return ""


def _report_of_choices(run: CollectedRun) -> None:
    collected = run.collected
    answers = collected.item_answers
    if run.study.search is not None:
        answers = _with_entries(answers, EntityList.read(run.study.search))
    if not any(option is not None for option in answers.column("option").tolist()):
        raise InputError("No valid participant has given an answer that can be compared.", place=Place(str(run.export)))
    part = choices_part(answers, collected.asked, measure=collected.measure, resamples=run.bootstrap)
    _write(run, part, "Choices of participants")


def _with_entries(answers: ResponseTable, entries: EntityList) -> ResponseTable:
    """Return the answers to a search with the id of the entry as option; one that is not in the list keeps its text.

    An empty answer is stored only if the participant reports that there is no entry.
    """
    options = []
    for text in answers.column("raw").tolist():
        entry = entries.find_named(text) if text else None
        options.append(entry.entity_id if entry is not None else (text or "").strip() or _NOT_FOUND)
    return answers.with_column("option", pa.array(options, type=pa.string()))


def _report_of_texts(run: CollectedRun) -> None:
    collected = run.collected
    texts = []
    for row in collected.valid_rows:
        text = row["response_text"]
        if not text:
            continue
        reviewed = collected.reviews.get((row["participant_id"], row["item_id"]))
        final = reviewed.text if reviewed is not None and reviewed.text else text
        status = reviewed.verdict if reviewed is not None else "not reviewed"
        word = collected.items[row["item_id"]].word
        texts.append(CollectedText(row["item_id"], word, row["participant_id"], text, final, status))
    _write(run, texts_part(texts, collected.asked), "Texts of participants")


def _write(run: CollectedRun, part: Part, title: str) -> None:
    """Write the run folder of a part that no study makes."""
    collected = run.collected
    files = {str(path): sha256_of(path) for path in (run.export / "items.csv", run.export / "responses.csv")}
    counts = {"n_participants": len(collected.participant_counts.valid), "n_items": len(collected.asked)}
    settings = settings_from(Settings, {"study": "", "n_bootstrap": run.bootstrap})
    section = Section("answers", title, (*part.paragraphs, *part.remarks), part.tables, part.figures)
    page = Report(
        collected.definition.texts.title or collected.definition.name,
        subtitle=title,
        sections=(section,),
        run=about_run(settings, data=files, counts=counts),
        records=part.records,
    )
    write_run(run.out, page, collected.item_answers, extra=(), command=" ".join(["lexiscope", *sys.argv[1:]]))
    say_plain_table(to_text(part.tables[0]))
    say(f"Saved {run.out / 'report.html'} ({len(part.records)} numbers)")
