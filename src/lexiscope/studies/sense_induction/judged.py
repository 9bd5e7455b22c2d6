"""What people's answers to the tests of senses come to: word intrusion (Table 1), the choice of a sense (Table 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lexiscope.analysis.agreement_by_word import agreement_by_word
from lexiscope.analysis.choices import majority
from lexiscope.analysis.intrusion import WordIntrusion, word_intrusion
from lexiscope.analysis.ratings import Ratings, choices_from_table
from lexiscope.analysis.selection import ModelAnswers, SenseSelection, sense_selection
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record, Undefined, statistic_name
from lexiscope.core.simulated import SIMULATED_PARTICIPANTS
from lexiscope.report.figure_senses import agreement_and_consistency
from lexiscope.report.figures import Figure, Heading, apa
from lexiscope.report.part import Part, from_estimate, shown, with_interval
from lexiscope.report.tables import Cell, Column, Format, Table
from lexiscope.studies.sense_induction.answered import (
    MEASURE,
    PEOPLE_KINDS,
    TASKS,
    options_of,
    task_of,
    told_if_simulated,
)
from lexiscope.studies.sense_induction.material import LeftOut, Material
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.tasks.sense_choice import NAME as SELECTION
from lexiscope.tasks.word_intrusion import NAME as INTRUSION
from lexiscope.tasks.word_intrusion import intruder

SENSES = statistic_name("intrusion_accuracy", of="senses")
QUESTIONS = statistic_name("selection_accuracy", of="questions")
JUDGMENTS = {
    INTRUSION: statistic_name("intrusion_accuracy", of="judgments"),
    SELECTION: statistic_name("selection_accuracy", of="judgments"),
}
"""The share of right single answers, by test."""

_NO_PROBABILITIES = "the items hold no probabilities"
_MOST = "More than half of a page's judgments (2 of 3)"
_SHORT = 8
# the numbers of a row; what comes after them is recorded alone
_CELLS = 6
_PERCENT, _TWO = Format("number", 1), Format("number", 2)


@dataclass(frozen=True, eq=False)
class SenseTest:
    """The answers to a test (``task``) of one model's senses, and the items that were answered, of ``n_pages``."""

    task: str
    model: str
    answers: ResponseTable
    items: tuple[Item, ...]
    n_pages: int

    @cached_property
    def words(self) -> dict[str, str]:
        """The word whose senses an item is about, by the item's id."""
        return {item.item_id: tested_word(item) for item in self.items}

    @cached_property
    def choices(self) -> tuple[Ratings, tuple[str, ...]]:
        """What was chosen, and the names of the options."""
        return choices_from_table(self.answers, measure=MEASURE, kinds=PEOPLE_KINDS)

    def intrusion(self, settings: SenseInductionSettings) -> WordIntrusion:
        """Return how often intruders are found. Errors: those of :func:`word_intrusion` and :func:`intruders_of`."""
        ratings, options = self.choices
        return word_intrusion(
            ratings, options, intruders=intruders_of(self.items), groups=self.words,
            n_options=n_options_of(self.items), resamples=settings.n_bootstrap, seed=settings.seed,
        )  # fmt: skip

    def selection(self, settings: SenseInductionSettings) -> SenseSelection:
        """Return how often the model's sense is chosen. Errors: those of :func:`sense_selection`."""
        ratings, options = self.choices
        return sense_selection(
            ratings, options, model=ModelAnswers.of(self.items), groups=self.words,
            n_options=n_options_of(self.items), resamples=settings.n_bootstrap, seed=settings.seed,
        )  # fmt: skip


def tested_word(item: Item) -> str:
    """Return the word whose senses an item of a test is about."""
    return str(item.conditions.get("word", item.word))


def people_part(material: Material, settings: SenseInductionSettings) -> tuple[Part, tuple[LeftOut, ...]]:
    """Return how often people find intruders and choose the model's sense, for each model whose senses were asked."""
    if not len(material.people):
        why = "No answers of people were given: --people FILE, with the items that were asked."
        return Part(), (LeftOut("Word intrusion, sense selection", "", why),)
    records: list[Record] = []
    left_out: list[LeftOut] = []
    rows: dict[str, list[tuple[Cell, ...]]] = {task: [] for task in TASKS}
    notes: dict[str, list[str]] = {task: [] for task in TASKS}
    figures: list[Figure] = []
    for test in by_model(material):
        title = material.title_of(test.model)
        try:
            own = _intrusion(test, settings) if test.task == INTRUSION else _selection(test, settings)
        except StatisticError as error:
            left_out.append(LeftOut(test.task.replace("_", " "), test.model, f"{error.what}."))
            continue
        records += own
        rows[test.task].append((title, *map(shown, own[:_CELLS])))
        notes[test.task].append(f"{title}: {_asked(test)}.")
        if test.task == SELECTION:
            found, drawn = _by_word(test, title, settings, number=len(figures) + 1)
            records.append(found)
            figures += drawn
    tables = _tables(rows, notes, told_if_simulated(material.people))
    return Part(tuple(records), tuple(tables), tuple(figures)), tuple(left_out)


def model_of(material: Material, item: Item) -> str:
    """Return whose senses an item shows: a subject of the run where its revision fits, else the name that it has.

    Where vectors of two revisions have one name, each is named with the beginning of its own.
    """
    revision = str(item.conditions.get("revision", ""))
    named = str(item.conditions.get("model", ""))
    for subject in material.subjects:
        if revision and subject.facts.revision == revision:
            return subject.subject_id
        if named in (subject.subject_id, material.title_of(subject.subject_id)) and named:
            return subject.subject_id
    same = {str(each.conditions.get("revision", "")) for each in material.people_items.values()
            if str(each.conditions.get("model", "")) == named}  # fmt: skip
    return f"{named or '(model not named)'}{f' ({revision[:_SHORT]})' if len(same) > 1 else ''}"


def result_words(material: Material, records: Sequence[Record]) -> str:
    """Say in words how often people find intruders, and choose the model's sense."""
    names = {SENSES: "intruders of senses found", QUESTIONS: "questions with the model's sense"}
    told = "; ".join(
        f"{material.title_of(record.subject)}: {names[record.statistic]} {record.value:.1f} %"
        for record in records
        if record.statistic in names and record.value is not None and record.status != "not reproducible"
    )
    return f"{told} ({SIMULATED_PARTICIPANTS})" if told and told_if_simulated(material.people) else told


def by_model(material: Material) -> list[SenseTest]:
    """Return the answers to each test of each model's senses, in the order in which they come."""
    found: dict[tuple[str, str], list[str]] = {}
    models = _models(material)
    pages = Counter((task_of(item), models[item_id]) for item_id, item in material.people_items.items())
    for task in TASKS:
        for item_id in material.people.where(task=task).unique("item_id"):
            found.setdefault((task, models[item_id]), []).append(item_id)
    return [
        SenseTest(
            task,
            model,
            material.people.where(task=task, item_id=tuple(ids)),
            tuple(material.people_items[item_id] for item_id in ids),
            pages[task, model],
        )
        for (task, model), ids in found.items()
    ]


def _intrusion(test: SenseTest, settings: SenseInductionSettings) -> list[Record]:
    found, model = test.intrusion(settings), test.model
    return [
        _percent(SENSES, found.sense_accuracy, model, INTRUSION, n=found.n_instances),
        _chance(SENSES, found.chance_of_sense, model, INTRUSION),
        _percent(JUDGMENTS[INTRUSION], found.judgment_accuracy, model, INTRUSION, n=found.n_judgments),
        _chance(JUDGMENTS[INTRUSION], found.chance_of_judgment, model, INTRUSION),
        _share("agreement", found.agreement, model, INTRUSION),
    ]


def _selection(test: SenseTest, settings: SenseInductionSettings) -> list[Record]:
    found, model = test.selection(settings), test.model
    probability = found.probability or Undefined("model_probability", _NO_PROBABILITIES, 0)
    single = statistic_name("model_probability", of="judgments")
    return [
        _percent(QUESTIONS, found.accuracy, model, SELECTION, n=found.n_questions),
        _chance(QUESTIONS, found.chance_of_accuracy, model, SELECTION),
        _percent(JUDGMENTS[SELECTION], found.judgment_accuracy, model, SELECTION, n=found.n_judgments),
        _chance(JUDGMENTS[SELECTION], found.chance_of_judgment, model, SELECTION),
        _share("model_probability", probability, model, SELECTION),
        _share("agreement", found.agreement, model, SELECTION),
        _share(single, found.judgment_probability or Undefined(single, _NO_PROBABILITIES, 0), model, SELECTION),
    ]


def _by_word(
    test: SenseTest, title: str, settings: SenseInductionSettings, *, number: int
) -> tuple[Record, tuple[Figure, ...]]:
    """Agreement among people beside consistency with the model, word by word (Figure 7), and their correlation."""
    ratings, options = test.choices
    right = {item.item_id: str(item.condition("model_choice")) for item in test.items}
    found = agreement_by_word(
        ratings, options, right=right, words=test.words, resamples=settings.n_bootstrap, seed=settings.seed
    )
    record = _share("spearman(of=agreement_and_consistency)", found.rho, test.model, SELECTION)
    if not found.words:
        return record, ()
    points = [(each.word, each.agreement, each.consistency) for each in found.words]
    rho = apa(record.value) if record.value is not None else "undefined"
    bounds = f" [{apa(record.low)}, {apa(record.high)}]" if record.low is not None and record.high is not None else ""
    whole = f"Spearman's ρ = {rho}{bounds} over {len(points)} words"
    told = f"{whole}. Where everybody chooses the model's sense, everybody agrees: the two are not independent."
    heading = Heading(f"agreement_{number}", "7", f"Agreement and consistency: {title}", told)
    return record, (agreement_and_consistency(points, heading),)


def intruders_of(items: Sequence[Item]) -> dict[str, str]:
    """Return the intruder of each item. Errors: :class:`InputError` naming an item that does not say."""
    found = {item.item_id: intruder(item) for item in items}
    for item_id, word in found.items():
        if word is None:
            what = "the item does not say which word is its intruder"
            raise InputError(what, place=Place(item_id=item_id), hint="give it as gold, or in the column intruder")
    return {item_id: str(word) for item_id, word in found.items()}


def right_answers(items: Iterable[Item]) -> dict[str, str]:
    """Return what is right in the sense of the tests: the intruder, or the sense that the vectors themselves choose.

    Errors: :class:`InputError` naming an item that does not say.
    """
    of_test: dict[str, list[Item]] = {task: [] for task in TASKS}
    for item in items:
        of_test[task_of(item)].append(item)
    chosen = {item.item_id: str(item.condition("model_choice")) for item in of_test[SELECTION]}
    return {**intruders_of(of_test[INTRUSION]), **chosen}


def n_options_of(items: Sequence[Item]) -> int:
    """Return how many words, or groups of words, a page shows; of pages of several sizes the most."""
    return max(len(options_of(item)) for item in items)


def _models(material: Material) -> dict[str, str]:
    """Whose senses each item shows, by its id."""
    # many items, few models: each is looked up once
    kinds = {item_id: (str(item.conditions.get("model", "")), str(item.conditions.get("revision", "")))
             for item_id, item in material.people_items.items()}  # fmt: skip
    first = {kind: item_id for item_id, kind in reversed(kinds.items())}
    names = {kind: model_of(material, material.people_items[item_id]) for kind, item_id in first.items()}
    return {item_id: names[kind] for item_id, kind in kinds.items()}


def _asked(test: SenseTest) -> str:
    """How much was answered, in words: what the shares of a table do not show."""
    ratings, _ = test.choices
    n, voted = ratings.counts(), majority(ratings)
    counted = n[n > 0]
    sizes = f"{counted.min()}" if counted.min() == counted.max() else f"{counted.min()} to {counted.max()}"
    gaps = {
        "pages without a majority": int((~voted.absolute & (n > 0)).sum()),
        "pages without an answer": test.n_pages - len(counted),
        "judgments without a choice": ratings.n_missing,
    }
    whole = f"{int(n.sum())} judgments of {len(ratings.rater_ids)} people on {len(counted)} pages, {sizes} each"
    return "; ".join([whole, *(f"{what}: {count}" for what, count in gaps.items() if count)])


def _percent(name: str, found: Estimate, model: str, task: str, *, n: int) -> Record:
    record = Record(name, 100 * found.value, subject=model, dataset=task, n=n, unit="percent")
    return with_interval(record, found.interval, times=100)


def _chance(name: str, value: float, model: str, task: str) -> Record:
    inner = name.replace("(", "_").replace(")", "").replace("=", "_")
    return Record(statistic_name("chance", of=inner), 100 * value, subject=model, dataset=task, unit="percent")


def _share(name: str, found: Estimate | Undefined, model: str, task: str) -> Record:
    named = statistic_name(name, of=task) if name == "agreement" else name
    return from_estimate(found, Record(named, 0.0, subject=model, dataset=task))


def _tables(
    rows: Mapping[str, Sequence[tuple[Cell, ...]]], told: Mapping[str, Sequence[str]], simulated: Sequence[str]
) -> list[Table]:
    headed = {
        INTRUSION: ("1", "Word intrusion: people find the word that does not belong", (
            Column("Senses of"), Column("Senses, %", _PERCENT, note=f"{_MOST} find the intruder."),
            Column("Chance", _PERCENT), Column("Judgments, %", _PERCENT), Column("Chance", _PERCENT),
            Column("Agreement", _TWO, note="Mean share of the winning word."))),
        SELECTION: ("2", "Sense selection: people choose the group of words that the model chooses", (
            Column("Senses of"), Column("Questions, %", _PERCENT, note=f"{_MOST} choose the model's."),
            Column("Chance", _PERCENT), Column("Judgments, %", _PERCENT), Column("Chance", _PERCENT),
            Column("P", _TWO, note="The model's mean probability of the sense that a majority chose."),
            Column("Agreement", _TWO, note="Mean share of the winning group."))),
    }  # fmt: skip
    notes = ("Intervals resample words: judgments of one word are not independent.",)
    return [
        Table(f"people_{task}", number, title, columns, tuple(rows[task]), (*simulated, *told[task], *notes))
        for task, (number, title, columns) in headed.items()
        if rows[task]
    ]
