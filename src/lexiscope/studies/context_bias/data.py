"""What the questions of the study see: datasets, divided, and the answers of models and people to what is tested."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lexiscope.collect import CollectProgress
from lexiscope.core.dataset import DatasetCard
from lexiscope.core.errors import InputError, MissingExtraError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.study import PublishedValue
from lexiscope.items.answers_by_dataset import answers_by_dataset
from lexiscope.items.guessed_word import guessed_again
from lexiscope.items.tabular import is_item_table, read_items
from lexiscope.report.bias_tables import ExampleRow, examples_table
from lexiscope.report.document import Section
from lexiscope.report.part import Part, Remark
from lexiscope.report.sections import drop_empty
from lexiscope.report.simulated import marked_part, marked_section, marked_where_people
from lexiscope.report.tables import INTEGER, Cell, Column, Table
from lexiscope.studies.context_bias.models import LOOK_UP, WORDS, Answers, check_protocol, model_answers
from lexiscope.studies.context_bias.sets import PAIR_TASKS, TASKS, VIEWS, AuditSet, NotUsed, open_sets
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.kit.data import given_files, joined_responses
from lexiscope.studies.kit.run_data import RunData
from lexiscope.training.view_learners import check_mask

PEOPLE, PRINTED, ASSUMED = "people", "people (printed)", "people (assumed)"
"""People whose answers were given, and people whose scores the paper prints or assumes."""
DEFAULT_ENCODERS = (WORDS, "minilm")
"""By default: words and characters, and a linear probe on vectors if its packages are installed."""


@dataclass(frozen=True, eq=False)
class BiasData(RunData[ContextBiasSettings]):
    """A run: its datasets, what models and people answered, and items with guessed words.

    ``not_used`` are datasets that the run does not have, ``not_run`` default models that could not run here, with the
    reasons. ``guesses``, by dataset, are items with a guessed word and how they were made, as text.
    """

    settings: ContextBiasSettings
    sets: tuple[AuditSet, ...]
    not_used: tuple[NotUsed, ...]
    answers: tuple[Answers, ...]
    people: Mapping[str, ResponseTable] = field(default_factory=dict)
    guesses: Mapping[str, tuple[tuple[Item, ...], str]] = field(default_factory=dict)
    not_run: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the first dataset."""
        return self.sets[0].name

    @property
    def card(self) -> DatasetCard | None:
        """What the published dataset is, if there is only one."""
        return self.sets[0].card if len(self.sets) == 1 and not self.own else None

    @property
    def cards(self) -> Sequence[tuple[DatasetCard, str]]:
        """The card of each dataset; items that are neither published nor read from a file have none."""
        return [(audit.card, f"data_{n}") for n, audit in enumerate(self.sets, start=1) if audit.card is not None]

    @cached_property
    def responses(self) -> ResponseTable:
        """All answers of the run; an item id that datasets of one task share is ``DATASET:ITEM_ID``."""
        items = {audit.name: (audit.task, audit.parts.labelled) for audit in self.sets}
        return joined_responses([*((one.dataset, one.responses) for one in self.answers), *self.people.items()], items)

    @property
    def checksums(self) -> Mapping[str, str]:
        """The checksums of all files that were read, by name."""
        return {path: digest for audit in self.sets for path, digest in audit.checksums}

    @property
    def sources(self) -> Mapping[str, str]:
        """The checksums of these files, and of those with people's answers."""
        return {**self.checksums, **given_files(self.settings)}

    @property
    def counts(self) -> Mapping[str, int]:
        """Datasets, items, responses and models."""
        items, answers = sum(len(audit.parts.labelled) for audit in self.sets), len(self.responses)
        return {"datasets": len(self.sets), "items": items, "responses": answers, "models": len(self.answers)}

    @property
    def record(self) -> Mapping[str, Any]:
        """How each model was trained, and what was not trained."""
        plans = [
            {"dataset": one.dataset, "model": one.subject, "plan": one.plan, "left_out": list(one.left_out)}
            for one in self.answers
        ]
        return {"plans": plans}

    @cached_property
    def simulated(self) -> bool:
        """Whether the answers of people are those of simulated participants."""
        return any(holds_simulated(table) for table in self.people.values())

    @cached_property
    def untrained(self) -> bool:
        """Whether no model learnt anything: of an encoder as it is, a threshold was chosen."""
        methods = {each.method for answers in self.answers for each in answers.trained}
        return bool(methods) and methods <= {"threshold", "label"}

    def printed(self, values: Mapping[str, Sequence[PublishedValue]]) -> Sequence[PublishedValue]:
        """Return what the paper prints of these datasets: scores of people are no result of a run, they enter it."""
        named = [value for audit in self.sets for value in values.get(audit.name, ())]
        every = [value for value in named if not value.subject.startswith(PEOPLE)]
        # what the paper prints of people is not compared with simulated participants
        kept = [value for value in every if not (self.simulated and value.statistic.startswith("people_"))]
        return () if self.own else kept

    def marked(self, name: str, part: Part) -> Part:
        """Mark what comes from simulated participants; a guess is a person's, whichever model is asked it."""
        if not self.simulated:
            return part
        return marked_part(part) if name == "Q7" else marked_where_people(part)

    def marked_section(self, section: Section) -> Section:
        """Mark a section that names people, if they are simulated participants."""
        return marked_section(section) if self.simulated else section

    def of(self, audit: AuditSet) -> tuple[Answers, ...]:
        """Return the answers of all models to one dataset."""
        return tuple(one for one in self.answers if one.dataset == audit.name)

    def answered(self) -> Iterable[tuple[AuditSet, Answers]]:
        """Yield each dataset with the answers of each model."""
        return [(audit, answers) for audit in self.sets for answers in self.of(audit)]


def gather(settings: ContextBiasSettings, out: Path, progress: CollectProgress | None = None) -> BiasData:
    """Load datasets and people's answers, train every encoder on every view of every dataset, and ask it.

    Trainings and answers are kept below *out*, so that an interrupted run continues; encodings are kept while it lasts.
    Of several datasets, one that an encoder cannot read is excluded with the reason. Of the default models, one whose
    packages are not installed is excluded with the reason, unless it is the only one that can answer.
    Errors: those of the datasets, of the files of people, of the trainings; :class:`SubjectError` if an encoder
    cannot answer the only dataset, or none of several.
    """
    check_protocol(settings)
    sets, not_used = open_sets(settings)
    labelled = {audit.name: audit.parts.labelled for audit in sets}
    people = answers_by_dataset(settings.people, labelled)
    given = [item for path in map(Path, settings.people) if is_item_table(path) for item in read_items(path)]
    guesses = {name: guessed_again(labelled[name], answers, given) for name, answers in people.items()}
    encoders = settings.encoders or DEFAULT_ENCODERS
    share = len(sets) * len(encoders)
    missing: dict[str, MissingExtraError] = {}
    answers: list[Answers] = []
    unread: list[NotUsed] = []
    for encoder in encoders:
        try:
            if encoder not in (WORDS, LOOK_UP):
                check_mask(encoder, sets[0].parts.labelled[0])
        except MissingExtraError as error:
            if settings.encoders:
                raise
            missing[encoder] = error
    for audit in sets:
        guessed = guesses[audit.name][0] if audit.name in guesses else ()
        for encoder in encoders:
            # words and characters are learnt of pairs alone
            if encoder in missing or (encoder == WORDS and audit.task not in PAIR_TASKS):
                continue
            try:
                answers.append(
                    model_answers(audit, encoder, settings, out, share=share, guessed=guessed, progress=progress)
                )
            except MissingExtraError as error:
                if settings.encoders:
                    raise
                missing[encoder] = error
            except SubjectError as error:
                # one dataset of several that an encoder cannot read (another script, say) stops none of the others
                if len(sets) == 1:
                    raise
                why = f"{encoder} cannot answer it: {error.what} ({error.why})." if error.why else error.what
                unread.append(NotUsed(audit.name, audit.title, why))
    shutil.rmtree(out / "vectors", ignore_errors=True)
    if missing and not answers:
        raise next(iter(missing.values()))
    if unread and not answers:
        hint = "name another encoder or other datasets"
        raise SubjectError("no encoder could answer any dataset", why=unread[0].reason, hint=hint)
    if not answers:
        what = f"{', '.join(encoders)} cannot answer {', '.join(audit.task for audit in sets)}"
        raise InputError(what, hint="name another encoder, such as minilm")
    used = tuple(audit for audit in sets if any(one.dataset == audit.name for one in answers))
    not_run = tuple(
        f"Not run: {name}, a linear probe on vectors. {error.what} {error.hint or ''}".strip()
        for name, error in missing.items()
    )
    return BiasData(settings, used, (*unread, *not_used), tuple(answers), people, guesses, not_run)


# -- in the report: what was asked, of whom -----------------------------------------------------------------------


def datasets(run: BiasData) -> Iterator[object]:
    """Yield the datasets with their splits, what was done to them, and those that are not in the run, with why."""
    columns = (
        Column("Dataset"),
        Column("Task"),
        *(Column(name, INTEGER) for name in ("Train", "Dev", "Test")),
        Column("Words tested", INTEGER, note="What is resampled."),
        Column("Searched", INTEGER, note="Entries of the search space."),
        Column("Tested split"),
    )
    rows: list[tuple[Cell, ...]] = []
    for audit in run.sets:
        n_words, n_test = len(set(audit.words.values())), len(audit.test)
        searched = len(audit.space) if audit.space is not None else None
        counts = (audit.sizes.get("train"), audit.sizes.get("dev"), n_test)
        rows.append((audit.name, TASKS[audit.task], *counts, n_words, searched, audit.parts.tested))
        yield [run.number("n_items", n, dataset=audit.name, condition=split) for split, n in audit.sizes.items()]
        yield run.number("n_words", n_words, dataset=audit.name)
        yield run.number("n_word_shown", audit.n_shown, dataset=audit.name, n=n_test)
        if about := (*audit.parts.how, *_shown_again(audit)):
            yield f"{audit.name}: {' '.join(about)}"
        yield [Remark(text) for text in audit.caught]
    yield drop_empty(Table("sets", "", "Datasets of this run", columns, tuple(rows)))
    if run.not_used:
        missing = (Column("Dataset"), Column("Title"), Column("Why it is not in this run"))
        reasons = tuple((each.name, each.title, each.reason) for each in run.not_used)
        yield Table("not_used", "", "Datasets of the paper that are not in this run", missing, reasons)
    examples = [ExampleRow.of(one.test[0], VIEWS, dataset=one.name, task=TASKS[one.task]) for one in run.sets]
    yield examples_table(examples, number="6")


def models(run: BiasData) -> Iterator[object]:
    """Yield the models: what was trained of each on what, and what the paper has more (Table 9)."""
    columns = (Column("Dataset"), Column("Model"), Column("Method"), Column("Learnt from", INTEGER),
               Column("Tested on", INTEGER), Column("How"), Column("Left out"))  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    yield run.not_run
    yield [Remark(f"{one.name} is not in this run. {one.reason}") for one in run.not_used if one.asked]
    for audit, answers in run.answered():
        full = next((each for each in answers.trained if each.view == "full"), None)
        method = full.method.replace("_", " ") if full is not None else "counting"
        learnt = full.n_train if full is not None else len(audit.parts.train)
        left_out = "; ".join(answers.left_out)
        rows.append((audit.name, answers.subject, method, learnt, len(answers.asked), answers.plan, left_out or None))
        if left_out:
            yield Remark(f"{audit.name}, {answers.subject}: left out: {left_out}.")
        cut = [(each.view, part, n) for each in answers.trained for part, n in each.cut.items() if n]
        for view, part, n in cut:
            about = {"subject": answers.subject, "view": view, "condition": part}
            yield run.number("n_cut", n, dataset=audit.name, **about)
        if cut:
            counts = ", ".join(f"{n} of {part} in {view.upper()}" for view, part, n in cut)
            what = "of some items it read a part only, being cut far from the target where they are too long"
            yield Remark(f"{audit.name}, {answers.subject}: {what}: {counts}.")
    yield drop_empty(Table("models", "9", "Models: how they learnt and what was left out", columns, tuple(rows)))


def _shown_again(audit: AuditSet) -> tuple[str, ...]:
    """How many items show the word outside the target's span, and what was done there."""
    if not audit.n_shown:
        return ()
    share = f"{audit.n_shown:,} of {len(audit.test):,} tested items ({100 * audit.n_shown / len(audit.test):.1f} %)"
    return (
        f"In {share} the texts show the word outside the target's span too. CONTEXT hides it there as well; "
        "CONTEXT SPAN is the published view, which hides the span alone.",
    )
