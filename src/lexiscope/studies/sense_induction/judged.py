"""People's answers to the tests of senses, word intrusion and the choice of a sense: read, and what they come to."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lexiscope.analysis.agreement_by_word import agreement_by_word
from lexiscope.analysis.bootstrap import Estimate, Undefined
from lexiscope.analysis.intrusion import word_intrusion
from lexiscope.analysis.ratings import choices_from_table
from lexiscope.analysis.selection import ModelAnswers, sense_selection
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, statistic_name
from lexiscope.core.study import StudySettings
from lexiscope.items.tabular import is_item_table, read_items
from lexiscope.report.figure_senses import agreement_and_consistency
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Part, from_estimate, shown, with_interval
from lexiscope.report.tables import Cell, Column, Format, Table
from lexiscope.studies.sense_induction.material import LeftOut, Material
from lexiscope.tasks.sense_choice import NAME as SELECTION
from lexiscope.tasks.word_intrusion import NAME as INTRUSION

MEASURE = "choice"
TASKS = (INTRUSION, SELECTION)
SENSES, JUDGMENTS = (statistic_name("intrusion_accuracy", of=unit) for unit in ("senses", "judgments"))
QUESTIONS = statistic_name("selection_accuracy", of="questions")
_FORMS = "give choices.csv of an export (or another table of responses), and the files of items that were asked"
_PERCENT, _TWO = Format("number", 1), Format("number", 2)


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Answers to tests of senses, and the items that were asked, by id."""

    responses: ResponseTable = field(default_factory=ResponseTable.empty)
    items: Mapping[str, Item] = field(default_factory=dict)


def read_people(paths: Sequence[str]) -> Judgments:
    """Read people's answers and the items of their tests, from several files of either kind.

    Errors: :class:`InputError` E471 for another file, an answer to an item that no file holds, or a task that is no
    test of senses.
    """
    items = {item.item_id: item for path in paths if is_item_table(Path(path)) for item in read_items(path)}
    tables = [_answers(Path(path), items) for path in paths if not is_item_table(Path(path))]
    return Judgments(ResponseTable.concat(tables), items)


def people_part(material: Material, settings: StudySettings) -> tuple[Part, tuple[LeftOut, ...]]:
    """Return how often people find intruders and choose the model's sense, for each model whose senses were asked."""
    if not len(material.people):
        why = "No answers of people were given: --people FILE, with the items that were asked."
        return Part(), (LeftOut("Word intrusion, sense selection", "", why),)
    records: list[Record] = []
    left_out: list[LeftOut] = []
    rows: dict[str, list[tuple[Cell, ...]]] = {task: [] for task in TASKS}
    figures: list[Figure] = []
    for task, model, answers in by_model(material):
        try:
            own = _intrusion(material, model, answers, settings) if task == INTRUSION else _selection(
                material, model, answers, settings
            )  # fmt: skip
        except StatisticError as error:
            left_out.append(LeftOut(task.replace("_", " "), model, f"{error.what}."))
            continue
        records += own
        rows[task].append((material.title_of(model), *map(shown, own)))
        if task == SELECTION:
            found, drawn = _by_word(material, model, answers, settings, number=len(figures) + 1)
            records.append(found)
            figures += drawn
    return Part(tuple(records), tuple(_tables(rows)), tuple(figures)), tuple(left_out)


def model_of(material: Material, item: Item) -> str:
    """Return whose senses an item shows: a subject of the run where its revision fits, else the name that it has."""
    revision = str(item.conditions.get("revision", ""))
    named = str(item.conditions.get("model", ""))
    for subject in material.subjects:
        if revision and subject.facts.revision == revision:
            return subject.subject_id
        if named in (subject.subject_id, material.title_of(subject.subject_id)) and named:
            return subject.subject_id
    return named or "(model not named)"


def result_words(material: Material, records: Sequence[Record]) -> str:
    """Say in words how often people find intruders, and choose the model's sense."""
    names = {SENSES: "intruders of senses found", QUESTIONS: "questions with the model's sense"}
    return "; ".join(
        f"{material.title_of(record.subject)}: {names[record.statistic]} {record.value:.1f} %"
        for record in records
        if record.statistic in names and record.value is not None and record.status != "not reproducible"
    )


def _answers(path: Path, items: Mapping[str, Item]) -> ResponseTable:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        header = next(csv.reader(stream), [])
    if "subject_id" not in header:
        what = f"this is no table of responses: its columns are {', '.join(header[:6]) or 'none'}"
        raise InputError(what, code="E471", place=Place(str(path), 1), hint=_FORMS)
    table = ResponseTable.read_csv(path).where(measure=MEASURE)
    for task in table.unique("task"):
        if task not in TASKS:
            what = f"it answers the task {task!r}, which is no test of senses"
            raise InputError(what, code="E471", place=Place(str(path)), hint=f"use {' or '.join(TASKS)}")
    unknown = [name for name in table.unique("item_id") if name not in items]
    if unknown:
        what = f"{len(unknown)} items that it answers are in no file of items"
        raise InputError(what, code="E471", place=Place(str(path), item_id=unknown[0]), hint=_FORMS)
    return table


def by_model(material: Material) -> list[tuple[str, str, ResponseTable]]:
    """Return the answers to each test of each model's senses, in the order in which they come: task, model, answers."""
    found: dict[tuple[str, str], list[str]] = {}
    for task in TASKS:
        for item_id in material.people.where(task=task).unique("item_id"):
            found.setdefault((task, model_of(material, material.people_items[item_id])), []).append(item_id)
    return [(task, model, material.people.where(task=task, item_id=tuple(ids))) for (task, model), ids in found.items()]


def _intrusion(material: Material, model: str, answers: ResponseTable, settings: StudySettings) -> list[Record]:
    items = _items(material, answers)
    ratings, options = choices_from_table(answers, measure=MEASURE)
    intruders = {item.item_id: str(item.gold) for item in items}
    sizes = {len(item.options) for item in items}
    found = word_intrusion(
        ratings, options, intruders=intruders, groups=_words(items), n_options=max(sizes),
        resamples=settings.n_bootstrap, seed=settings.seed,
    )  # fmt: skip
    return [
        _percent(SENSES, found.sense_accuracy, model, INTRUSION, n=found.n_instances),
        _chance(SENSES, found.chance_of_sense, model, INTRUSION),
        _percent(JUDGMENTS, found.judgment_accuracy, model, INTRUSION, n=found.n_judgments),
        _chance(JUDGMENTS, found.chance_of_judgment, model, INTRUSION),
        _share("agreement", found.agreement, model, INTRUSION),
    ]


def _selection(material: Material, model: str, answers: ResponseTable, settings: StudySettings) -> list[Record]:
    items = _items(material, answers)
    ratings, options = choices_from_table(answers, measure=MEASURE)
    found = sense_selection(
        ratings, options, model=ModelAnswers.of(items), groups=_words(items),
        n_options=max(len(item.options) for item in items), resamples=settings.n_bootstrap, seed=settings.seed,
    )  # fmt: skip
    of_judgments = statistic_name("selection_accuracy", of="judgments")
    probability = found.probability or Undefined("model_probability", "the items hold no probabilities", 0)
    return [
        _percent(QUESTIONS, found.accuracy, model, SELECTION, n=found.n_questions),
        _chance(QUESTIONS, found.chance_of_accuracy, model, SELECTION),
        _percent(of_judgments, found.judgment_accuracy, model, SELECTION, n=found.n_judgments),
        _chance(of_judgments, found.chance_of_judgment, model, SELECTION),
        _share("model_probability", probability, model, SELECTION),
        _share("agreement", found.agreement, model, SELECTION),
    ]


def _by_word(
    material: Material, model: str, answers: ResponseTable, settings: StudySettings, *, number: int
) -> tuple[Record, tuple[Figure, ...]]:
    """Agreement among people beside consistency with the model, word by word (Figure 7), and their correlation."""
    items = _items(material, answers)
    ratings, options = choices_from_table(answers, measure=MEASURE)
    right = {item.item_id: str(item.condition("model_choice")) for item in items}
    found = agreement_by_word(
        ratings, options, right=right, words=_words(items), resamples=settings.n_bootstrap, seed=settings.seed
    )
    where = {"subject": model, "dataset": SELECTION}
    name, rho = "spearman(of=agreement_and_consistency)", found.rho
    if isinstance(rho, Undefined):
        record = Record(name, None, n=rho.n, note=f"undefined: {rho.reason}", **where)  # type: ignore[arg-type]
    else:
        record = from_estimate(rho, Record(name, rho.value, **where))  # type: ignore[arg-type]
    if not found.words:
        return record, ()
    points = [(each.word, each.agreement, each.consistency) for each in found.words]
    title = f"Agreement and consistency: {material.title_of(model)}"
    heading = Heading(f"agreement_{number}", "7", title, "Where everybody chooses the model's sense, everybody agrees.")
    return record, (agreement_and_consistency(points, heading),)


def _items(material: Material, answers: ResponseTable) -> list[Item]:
    return [material.people_items[item_id] for item_id in answers.unique("item_id")]


def _words(items: Sequence[Item]) -> dict[str, str]:
    return {item.item_id: str(item.conditions.get("word", item.word)) for item in items}


def _percent(name: str, found: Estimate, model: str, task: str, *, n: int) -> Record:
    record = Record(name, 100 * found.value, subject=model, dataset=task, n=n, unit="percent")
    return with_interval(record, found.interval, times=100)


def _chance(name: str, value: float, model: str, task: str) -> Record:
    inner = name.replace("(", "_").replace(")", "").replace("=", "_")
    return Record(statistic_name("chance", of=inner), 100 * value, subject=model, dataset=task, unit="percent")


def _share(name: str, found: Estimate | Undefined, model: str, task: str) -> Record:
    named = statistic_name(name, of=task) if name == "agreement" else name
    if isinstance(found, Undefined):
        return Record(named, None, subject=model, dataset=task, n=found.n, note=f"undefined: {found.reason}")
    return from_estimate(found, Record(named, found.value, subject=model, dataset=task))


def _tables(rows: Mapping[str, Sequence[tuple[Cell, ...]]]) -> list[Table]:
    headed = {
        INTRUSION: ("1", "Word intrusion: people find the word that does not belong", (
            Column("Senses of"), Column("Senses, %", _PERCENT, note="At least 2 of 3 judgments find the intruder."),
            Column("Chance", _PERCENT), Column("Judgments, %", _PERCENT), Column("Chance", _PERCENT),
            Column("Agreement", _TWO, note="Mean share of the winning word."))),
        SELECTION: ("2", "Sense selection: people choose the group of words that the model chooses", (
            Column("Senses of"), Column("Questions, %", _PERCENT, note="At least 2 of 3 judgments choose the model's."),
            Column("Chance", _PERCENT), Column("Judgments, %", _PERCENT), Column("Chance", _PERCENT),
            Column("P", _TWO, note="The model's mean probability of the sense that a majority chose."),
            Column("Agreement", _TWO, note="Mean share of the winning group."))),
    }  # fmt: skip
    notes = ("Intervals resample words: judgments of one word are not independent.",)
    return [
        Table(f"people_{task}", number, title, columns, tuple(rows[task]), notes)
        for task, (number, title, columns) in headed.items()
        if rows[task]
    ]
