"""The run of the study: divided datasets, and the answers of models and people to the tested items."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core.dataset import DatasetCard
from lexiscope.core.errors import InputError, MissingExtraError, SubjectError, results_and_errors
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.study import PublishedValue
from lexiscope.core.subject import Subject
from lexiscope.items.sheets.guessed_word import items_with_guesses
from lexiscope.items.sheets.view_sheet import answers_by_dataset
from lexiscope.items.tables.tabular import is_item_table, read_items
from lexiscope.report.document import Section
from lexiscope.report.page.simulated import marked_part, marked_section, marked_where_people
from lexiscope.report.part import Part, Remark
from lexiscope.report.parts.bias_tables import divided_table, examples_table, not_used_table
from lexiscope.report.tables import INTEGER, Cell, Column, Table, drop_empty
from lexiscope.studies.context_bias.sets import PAIR_TASKS, RETRIEVAL_TASKS, TASKS, VIEWS, AuditSet, NotUsed, open_sets
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.kit.answers import ComparableAnswers
from lexiscope.studies.kit.data import chat_models, given_files, joined_items, joined_responses
from lexiscope.studies.kit.run import RunData
from lexiscope.studies.kit.study import printed_values, read_texts
from lexiscope.training.budget import read_duration
from lexiscope.training.cues.rebalance import JudgedRebalancing, judge_rebalancing
from lexiscope.training.cues.word_removal import RemovalPlan, removal_plans
from lexiscope.training.settings import TrainingSettings
from lexiscope.training.view_learners import check_mask
from lexiscope.training.view_models import LOOK_UP as LOOK_UP
from lexiscope.training.view_models import PROMPTED as PROMPTED
from lexiscope.training.view_models import WORDS as WORDS
from lexiscope.training.view_models import ViewAnswers, learner_answers, linear_learners

PEOPLE, PRINTED, ASSUMED = "people", "people (printed)", "people (assumed)"
"""People whose answers were given, and people whose scores the paper prints or assumes."""
PAIRS, SENSES, SCORES = "pairs of usages", "senses of words", "answers or scores of people"
GUESSES = "guessed words of people (--people FILE with the column word, or answers of the app)"
REMOVALS = "answers to items without some of their words (--attribution leave_one_out, or shapley)"
"""What questions need."""
DEFAULT_ENCODERS = (WORDS, "minilm")
"""By default: words and characters, and a linear probe on vectors if its packages are installed."""

PRINTED_VALUES = printed_values(Path(__file__).with_name("printed.csv"), dataset="context_bias")
"""What the paper prints, by dataset."""

STATUS = {PRINTED: "printed", ASSUMED: "assumed"}

TEXTS = read_texts(Path(__file__).with_name("texts.md"))
"""The prose of the report."""


@dataclass(frozen=True, eq=False)
class BiasData(RunData[ContextBiasSettings]):
    """A run: its datasets, what models and people answered, and items with guessed words.

    ``not_used`` are datasets that the run does not have, ``not_run`` default models that could not run here, with the
    reasons. ``answers`` are by dataset and encoder; ``guesses``, by dataset, items with a guessed word and how they
    were made, as text. ``rebalanced`` is the only dataset without the items that a part solves, if that was asked for.
    """

    settings: ContextBiasSettings
    sets: tuple[AuditSet, ...]
    not_used: tuple[NotUsed, ...]
    answers: Mapping[tuple[str, str], ViewAnswers]
    people: Mapping[str, ResponseTable] = field(default_factory=dict)
    guesses: Mapping[str, tuple[tuple[Item, ...], str]] = field(default_factory=dict)
    not_run: tuple[str, ...] = ()
    rebalanced: JudgedRebalancing | None = None

    @property
    def names(self) -> Mapping[str, str]:
        """What subjects and datasets are called in the report, by their ids."""
        return {**super().names, **{audit.name: audit.title.partition(":")[0] for audit in self.sets}}

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
        items = {audit.name: (audit.task, audit.parts.all_items) for audit in self.sets}
        return joined_responses(
            [*((name, answers.responses) for (name, _), answers in self.answers.items()), *self.people.items()], items
        )

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
        items, answers = sum(len(audit.parts.all_items) for audit in self.sets), len(self.responses)
        return {"datasets": len(self.sets), "items": items, "responses": answers, "models": len(self.answers)}

    @property
    def record(self) -> Mapping[str, object]:
        """How each model was trained, and what was not trained."""
        plans = [
            {"dataset": name, "model": answers.subject, "plan": answers.plan, "left_out": list(answers.left_out)}
            for (name, _), answers in self.answers.items()
        ]
        return {"plans": plans}

    @cached_property
    def simulated(self) -> bool:
        """Whether the answers of people are those of simulated participants."""
        return any(holds_simulated(table) for table in self.people.values())

    @cached_property
    def untrained(self) -> bool:
        """Whether no model learnt anything: of an encoder as it is, a threshold was chosen."""
        methods = {model.method for answers in self.answers.values() for model in answers.trained} - {PROMPTED}
        return bool(methods) and methods <= {"threshold", "label"}

    def printed_values(self, values: Mapping[str, Sequence[PublishedValue]]) -> Sequence[PublishedValue]:
        """Return what the paper prints of these datasets; what it assumes of people was not measured."""
        named = [value for audit in self.sets for value in values.get(audit.name, ())]
        # its plan and its models are of none of its datasets
        named += values.get("context_bias", ()) if named else ()
        every = [value for value in named if value.subject != ASSUMED]
        # what the paper prints of people is not compared with simulated participants
        kept = [
            value
            for value in every
            if not (self.simulated and (value.subject.startswith(PEOPLE) or value.statistic.startswith("people_")))
        ]
        return () if self.own else kept

    def mark_simulated(self, name: str, part: Part) -> Part:
        """Mark what comes from simulated participants; a guess is a person's, whichever model is asked it."""
        if not self.simulated:
            return part
        return marked_part(part) if name == "Q7" else marked_where_people(part)

    def mark_section(self, section: Section) -> Section:
        """Mark a section that names people, if they are simulated participants."""
        return marked_section(section) if self.simulated else section

    def has(self, what: str) -> bool:
        """Whether there is what a question needs: pairs, senses of words, people's scores, guesses, removals."""
        given: Mapping[str, Callable[[AuditSet], object]] = {
            PAIRS: lambda audit: audit.task in PAIR_TASKS,
            SENSES: lambda audit: audit.task not in PAIR_TASKS,
            SCORES: lambda audit: audit.name in self.people or people_recorded(self, audit),
            GUESSES: lambda audit: any(self.guesses.get(audit.name, ())),
            REMOVALS: lambda audit: audit_removals(audit, self.settings),
        }
        return any(map(given[what], self.sets))

    def answers_by_set(self) -> list[tuple[AuditSet, ViewAnswers]]:
        """Return each dataset with the answers of each model."""
        every = [(name, answers) for (name, _), answers in self.answers.items()]
        return [(audit, answers) for audit in self.sets for name, answers in every if name == audit.name]


def people_recorded(run: BiasData, audit: AuditSet) -> tuple[PublishedValue, ...]:
    """Return scores of people on a dataset that the paper prints or assumes; 0 to 1, by view.

    They are not compared with simulated participants, and a user's file has none, with any name.
    """
    if run.own or run.simulated:
        return ()
    return tuple(value for value in PRINTED_VALUES.get(audit.name, ()) if value.subject in STATUS)


def audit_removals(audit: AuditSet, settings: ContextBiasSettings) -> tuple[RemovalPlan, ...]:
    """Return the items of a dataset to ask without some of their words, by view; none of a search."""
    asked = () if audit.task in RETRIEVAL_TASKS else audit.test
    return removal_plans(asked, settings.attribution, seed=settings.seed) if asked else ()


def compared_answers(settings: ContextBiasSettings, responses: ResponseTable) -> ComparableAnswers:
    """Return the answers of a finished run with the items of its datasets. Errors: those of the datasets."""
    items = {audit.name: (audit.task, audit.parts.all_items) for audit in open_sets(settings)[0]}
    return ComparableAnswers(responses, joined_items(items), tasks={name: task for name, (task, _) in items.items()})


def load_run(settings: ContextBiasSettings, out: Path, progress: CollectProgress | None = None) -> BiasData:
    """Load datasets and people's answers, train every encoder on every view of every dataset, and ask it.

    Trainings and answers are kept below *out*, so that an interrupted run continues; encodings are kept while it lasts.
    Of several datasets, one that an encoder cannot read is excluded with the reason. Of the default models, one whose
    packages are not installed is excluded with the reason, unless it is the only one that can answer.
    Chat models are asked before that, in the views that people are asked in.
    Errors: those of the datasets, of the files of people, of the trainings, of chat models; :class:`SubjectError` if an
    encoder cannot answer the only dataset, or none of several.
    """
    if settings.budget:
        read_duration(settings.budget)
    sets, not_used = open_sets(settings)
    if settings.rebalance and sets[0].task not in PAIR_TASKS:
        what = f"{sets[0].name} asks {TASKS[sets[0].task]}; only items with two answers can be re-balanced"
        raise InputError(what, hint="leave out --rebalance, or name a dataset of pairs")
    labelled = {audit.name: audit.parts.all_items for audit in sets}
    why = "a chat model cannot search the list that people search; the names it writes are not its entries"
    asked = {audit.name: (audit.task, audit.test) for audit in sets if audit.task not in RETRIEVAL_TASKS}
    instead = "name encoders (--encoder), which are trained or probed"
    chats, unasked = chat_models(live_subjects(settings.subjects, settings), asked, instead=instead, why=why)
    unasked += [f"{s.name} asks no chat model: {why}." for s in sets if settings.subjects and s.name not in asked]
    people = answers_by_dataset(settings.people, labelled, entities=settings.entities)
    given = [item for path in map(Path, settings.people) if is_item_table(path) for item in read_items(path)]
    guesses = {name: items_with_guesses(labelled[name], answers, given) for name, answers in people.items()}
    encoders = settings.encoders or DEFAULT_ENCODERS
    training = TrainingSettings(threads=settings.threads, device=settings.device)
    # what was named has to answer; one of the defaults may not be installed
    optional = () if settings.encoders else (MissingExtraError,)
    checks = {
        name: partial(check_mask, name, sets[0].parts.all_items[0]) for name in encoders if name not in (WORDS, LOOK_UP)
    }
    not_run = results_and_errors(checks, *optional)[1]
    # an endpoint that fails stops the run, which then continues: it is no dataset that a model cannot read
    told = {(audit.name, chat.subject_id): model_answers(audit, chat, settings, out, progress=progress,
                                                         guessed=guesses.get(audit.name, ((), ""))[0])
            for audit in sets for chat in chats.get(audit.name, ())}  # fmt: skip
    trainings = {
        (audit.name, encoder): partial(model_answers, audit, encoder, settings, out, share=len(sets) * len(encoders),
                                       guessed=guesses.get(audit.name, ((), ""))[0], progress=progress)
        for audit in sets
        for encoder in encoders
        # words and characters are learnt of pairs alone
        if encoder not in not_run and (encoder != WORDS or audit.task in PAIR_TASKS)
    }  # fmt: skip
    # one dataset of several that an encoder cannot read (another script, say) stops none of the others
    unreadable = (SubjectError,) if len(sets) > 1 else ()
    answers, failed = results_and_errors(trainings, *optional, *unreadable)
    rebalanced = None
    if settings.rebalance:
        learners = linear_learners(
            [name for name in encoders if name not in not_run], training, out / "vectors" / "kept"
        )
        rebalanced = judge_rebalancing(sets[0].parts.all_items, learners, seed=settings.seed, progress=progress)
    shutil.rmtree(out / "vectors", ignore_errors=True)
    unread: dict[str, str] = {}
    for (name, encoder), error in failed.items():
        if isinstance(error, MissingExtraError):
            not_run.setdefault(encoder, error)
        else:
            unread[name] = f"{encoder} cannot answer it: {error.what} ({error.why})." if error.why else error.what
    if not_run and not answers:
        raise next(iter(not_run.values()))
    if unread and not answers:
        hint = "name another encoder or other datasets"
        raise SubjectError("no encoder could answer any dataset", why=next(iter(unread.values())), hint=hint)
    if not answers:
        what = f"{', '.join(encoders)} cannot answer {', '.join(audit.task for audit in sets)}"
        raise InputError(what, hint="name another encoder, such as minilm")
    answers |= told
    answered = {name for name, _ in answers}
    titles = {audit.name: audit.title for audit in sets}
    return BiasData(
        settings,
        tuple(audit for audit in sets if audit.name in answered),
        (*(NotUsed(name, titles[name], why) for name, why in unread.items()), *not_used),
        answers,
        people,
        guesses,
        (*(f"Not run: {name}, a linear probe on vectors. {why.sentences}" for name, why in not_run.items()), *unasked),
        rebalanced,
    )


def model_answers(
    audit: AuditSet,
    encoder: str | Subject,
    settings: ContextBiasSettings,
    out: Path,
    *,
    share: int = 1,
    guessed: Sequence[Item] = (),
    progress: CollectProgress | None = None,
) -> ViewAnswers:
    """Train an encoder on every view of a dataset and ask each model the tested items, or continue with it.

    A subject in the place of an encoder is asked as it is.
    *guessed* are items with a guessed word (:mod:`lexiscope.items.sheets.guessed_word`): the model of the whole input
    is asked them with the guess in the word's place. *share* is the number of (dataset, encoder) among which a budget
    is divided, in equal parts. Errors: those of the trainings and of the subjects.
    """
    training = TrainingSettings(threads=settings.threads, device=settings.device)
    # am2ico?language=zh is am2ico_language_zh
    learner = encoder if isinstance(encoder, str) else encoder.subject_id
    name = "--".join(re.sub(r"[^A-Za-z0-9.-]+", "_", part).strip("_.") for part in (audit.name, learner))

    def ask(model: Subject, items: Sequence[Item], view: str, kept: str) -> ResponseTable:
        folder = out / "collected" / name / kept
        return collect(items, [model], audit.task, views=(view,), out=folder, seed=settings.seed, progress=progress)

    def tell(what: str, done: int, total: int) -> None:
        if progress is not None:
            progress(f"{audit.name}, {what}", done, total)

    return learner_answers(
        audit.parts, encoder, views=audit.views, task=audit.task, protocol=settings.protocol, budget=settings.budget,
        share=share, settings=training, out=out, name=name, ask=ask, space=audit.space, guessed=guessed,
        removals=audit_removals(audit, settings), progress=tell
    )  # fmt: skip


# -- sections of the report: datasets and models -----------------------------------------------------------------------


def datasets(run: BiasData) -> Iterator[object]:
    """Yield the datasets with their splits, what was done to them, and those that are not in the run, with why."""
    for audit in run.sets:
        n_words, n_test = len(set(audit.words.values())), len(audit.test)
        yield [run.number("n_items", n, dataset=audit.name, condition=split) for split, n in audit.parts.sizes.items()]
        documents = {} if run.own else audit.parts.documents_by_split
        yield [run.number("n_documents", n, dataset=audit.name, condition=split) for split, n in documents.items()]
        yield run.number("n_words", n_words, dataset=audit.name)
        yield run.number("n_word_shown", audit.n_shown, dataset=audit.name, n=n_test)
        about = " ".join((*audit.parts.how, *(TEXTS["second mentions"] if audit.n_shown else ())))
        share = f"{audit.n_shown:,} of {n_test:,} tested items ({100 * audit.n_shown / n_test:.1f} %)"
        yield f"{audit.name}: {about.replace('SHARE', share)}" if about else None
        yield [Remark(text) for text in audit.caught]
    yield divided_table([(audit.name, TASKS[audit.task], audit.parts, audit.space) for audit in run.sets], name="sets")
    if run.not_used:
        yield not_used_table((dataset.name, dataset.title, dataset.reason) for dataset in run.not_used)
    yield examples_table([(s.name, TASKS[s.task], s.test[0]) for s in run.sets], VIEWS, number="6")


def models(run: BiasData) -> Iterator[object]:
    """Yield the models: what was trained of each on what, and what the paper has more (Table 9)."""
    columns = (Column("Dataset"), Column("Model"), Column("Method"), Column("Learnt from", INTEGER),
               Column("Tested on", INTEGER), Column("How"), Column("Excluded"))  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    yield run.not_run
    yield [
        Remark(f"{dataset.name} is not in this run. {dataset.reason}") for dataset in run.not_used if dataset.was_asked
    ]
    for audit, answers in run.answers_by_set():
        full = answers.on_whole_input
        method, learnt = (full.method.replace("_", " "), full.n_train) if full else ("counting", len(audit.parts.train))
        omissions = "; ".join(answers.left_out)
        rows.append((audit.name, answers.subject, method, learnt, len(answers.asked), answers.plan, omissions or None))
        if omissions:
            yield Remark(f"{audit.name}, {answers.subject}: excluded: {omissions}.")
        for view, part, n in answers.cut_items:
            about = {"subject": answers.subject, "view": view, "condition": part}
            yield run.number("n_cut", n, dataset=audit.name, **about)
        if answers.cut_items:
            counts = ", ".join(f"{n} of {part} in {view.upper()}" for view, part, n in answers.cut_items)
            what = "of some items it read a part only, being cut far from the target where they are too long"
            yield Remark(f"{audit.name}, {answers.subject}: {what}: {counts}.")
    yield drop_empty(Table("models", "9", "Models: training and exclusions", columns, tuple(rows)))
