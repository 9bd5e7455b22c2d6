"""The data of the study: choice sets made of a collection or read from a file, and the decisions of each subject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from lexiscope.analysis.choices.design import Cell, ChoiceDesign, cell_named, joint_cells, without_pairs
from lexiscope.analysis.choices.design_answers import AnsweredDesign, SubjectAnswers, subject_answers
from lexiscope.build import forced_choice
from lexiscope.build.choice_items import GAPS, NO_PAGES, OTHER_SUITES, ChoiceItems, choice_items, read_choice_items
from lexiscope.build.gap_filling.gaps import COLUMN_SYNSET
from lexiscope.collect import CollectProgress, baseline_answers, collect, in_wordings, live_subjects, scoring_routes
from lexiscope.core import catalog
from lexiscope.core.dataset import DatasetCard, SubjectFacts, own_card
from lexiscope.core.errors import CapabilityError, InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.prompt import Converses
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, Result, statistic_name
from lexiscope.core.run import sha256_of
from lexiscope.core.settings import SettingError
from lexiscope.core.showing import counted
from lexiscope.core.study import Question
from lexiscope.core.subject import Generates, Judges, Recording, Scores, Subject
from lexiscope.core.task import Task
from lexiscope.items.check.rows import FLAGGED_WORDS, flagged_sentences, read_words
from lexiscope.items.choice_sets.templates import TURNED
from lexiscope.report.part import Omission, Remark, distinct_titles
from lexiscope.report.parts.accuracy_tables import answerers_table, design_table
from lexiscope.report.sections import flagged_table, licences_table, scoring_table
from lexiscope.resources.cards import SEMCOR, WORDNET
from lexiscope.studies.kit.answers import ComparableAnswers
from lexiscope.studies.kit.data import chat_answers, with_models
from lexiscope.studies.kit.run import RunData
from lexiscope.studies.kit.study import read_texts
from lexiscope.studies.synonymy.design import RunDesign, label_of, ordered_cells
from lexiscope.studies.synonymy.settings import SynonymySettings
from lexiscope.tasks.gap_filling import ASKED, TEN, sampling_task

TEXTS = read_texts(Path(__file__).with_name("texts.md"))
"""The prose of the report."""
TASK, GAP_TASK = "minimal_pair", "gap_filling"
PART, SENSES = "part_of_speech", "senses"
"""Conditions of choice sets by which items are grouped."""
_SENSES = {"several": "several_senses", "one": "one_sense"}
BASELINE = "baseline:frequency"
NO_BASELINE = "The word-frequency baseline"
"""The name under which a run lists it as omitted."""


@dataclass(frozen=True, eq=False)
class SynonymyData(AnsweredDesign, RunData[SynonymySettings]):
    """A run of the study.

    ``asked`` are the choice sets and the gaps, ``choices`` what was decided or scored in the former, ``gaps`` the
    completions of the latter; ``states`` are the ids of the subjects that are states of a model in training, with the
    progress of each; ``omitted`` the analyses that do not apply, each with its reason; ``n_nouns`` the length of the
    list of which a dataset drew its random nouns, if it is available; ``people`` are people's answers to forced choices
    and gaps, ``told`` the forced choices of chat models, page by page.
    """

    settings: SynonymySettings
    card: DatasetCard
    asked: ChoiceItems
    checksums: Mapping[str, str]
    choices: ResponseTable = field(default_factory=ResponseTable.empty)
    gaps: ResponseTable = field(default_factory=ResponseTable.empty)
    facts: Mapping[str, SubjectFacts] = field(default_factory=dict)
    routes: tuple[Mapping[str, object], ...] = ()
    states: Mapping[str, float] = field(default_factory=dict)
    omitted: Mapping[str, str] = field(default_factory=dict)
    n_nouns: int = 0
    people: ResponseTable = field(default_factory=ResponseTable.empty)
    told: ResponseTable = field(default_factory=ResponseTable.empty)

    # -- what there is ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.card.name

    @property
    def own(self) -> bool:
        """Whether items or templates are the user's."""
        return bool(self.settings.items or self.settings.templates)

    @property
    def names_synsets(self) -> bool:
        """Whether the synset of a target is another criterion of gap filling than the curated synonym."""
        return not self.own or any(item.conditions[COLUMN_SYNSET] for item in self.asked.gap_items)

    @property
    def responses(self) -> ResponseTable:
        """All answers of the run: outcomes, scores, counts and completions."""
        return ResponseTable.concat([self.choices, self.gaps, self.people, self.told])

    @property
    def counts(self) -> Mapping[str, int]:
        """Items, sentences, choice sets, responses, subjects."""
        asked = {
            "items": len(self.sets.numbers),
            "sentences": len(set(self.sets.sentences)),
            "choice_sets": len(self.asked.items),
        }
        return asked | {"responses": len(self.responses), "subjects": len(self.answers)}

    @property
    def record(self) -> Mapping[str, object]:
        """How live subjects scored."""
        return {"scoring": [dict(route) for route in self.routes]}

    @property
    def names(self) -> Mapping[str, str]:
        """What subjects and cells are called in the report, by their names in the results."""
        subjects = {subject: self._title(subject) for subject in self.facts}
        subjects |= {answers.subject: answers.title for answers in self.answers}
        return {**super().names, **subjects, **{cell.name: label_of(cell) for cell in self.cells}}

    def has(self, what: str) -> bool:
        """Whether there are ``completions of gaps``, ``choices without context``, ``groups of items``, or answers."""
        alone, answers = any(cell.is_alone for cell in self.cells), len(self.people) + len(self.told)
        given = {
            "completions of gaps": len(self.gaps),
            "choices without context": alone,
            "groups of items": self.groups,
        }
        given |= {"answers to the questions that people are asked": answers}
        return bool(given[what]) if what in given else super().has(what)

    def asks(self, question: Question) -> Question:
        """Return a question; for another relation of the user it names no synonyms."""
        own = TEXTS.get(f"{question.question_id} of other relations", (question.text,))
        return question if self.design.is_papers else replace(question, text=own[0])

    @cached_property
    def every(self) -> ChoiceDesign:
        """All choice sets, those of controls among them."""
        return ChoiceDesign(self.asked.items, resamples=self.settings.n_bootstrap, seed=self.settings.seed)

    @cached_property
    def sets(self) -> ChoiceDesign:
        """The choice sets by cell; those of controls, which are not in all cells, only where all items are controls."""
        return self.every.where(SENSES, "several") if len(self.every.values_of(SENSES)) > 1 else self.every

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, ChoiceDesign]]:
        """The groups of items that are compared: parts of speech, and targets with several senses and with one."""
        parts = {part: self.sets.where(PART, part) for part in self.sets.values_of(PART)}
        senses = {_SENSES[number]: self.every.where(SENSES, number) for number in self.every.values_of(SENSES)}
        return {condition: own for condition, own in ((PART, parts), (SENSES, senses)) if len(own) > 1}

    @cached_property
    def answers(self) -> tuple[SubjectAnswers, ...]:
        """What each subject decided, in the order of their answers."""
        ids, per = self.choices.unique("subject_id"), self.settings.per
        titles = ["word frequency" if name.startswith(BASELINE) else self._title(name) for name in ids]
        return tuple(
            subject_answers(self.sets, self.choices, subject=name, title=title, per=per, order=ordered_cells)
            for name, title in zip(ids, distinct_titles(titles, ids), strict=True)
        )

    @cached_property
    def deciding(self) -> frozenset[tuple[str, str]]:
        """Each subject with the printed name of its accuracy under the measure that decides."""
        return frozenset((answers.subject, answers.statistic()) for answers in self.answers)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells that any subject has decisions in."""
        return ordered_cells(cell for answers in self.answers for cell in answers.outcomes)

    @cached_property
    def design(self) -> RunDesign:
        """What is compared with what: the plan over these cells."""
        pairs = ((cell_named(first), cell_named(second)) for first, second in self.settings.consistency)
        return RunDesign(self.cells, tuple(pairs))

    @property
    def main(self) -> tuple[Cell, ...]:
        """The cells that come first."""
        return self.design.main

    def label_of(self, cell: Cell) -> str:
        """Return a cell as tables and figures print it."""
        return label_of(cell)

    def labels_of(self, values: Iterable[str]) -> Mapping[str, str]:
        """Return the labels of ids of subjects and of names of cells, also of contrasts (*a vs b*)."""
        known = {subject: self._title(subject) for subject in self.facts}
        known |= {answers.subject: answers.title for answers in self.answers}
        known |= {cell.name: label_of(cell) for cell in self.cells}
        return {value: " vs. ".join(known.get(part, part) for part in value.split(" vs ")) for value in values}

    def _title(self, subject: str) -> str:
        return (self.facts[subject].title if subject in self.facts else "") or subject

    def result_labels(self, results: Iterable[Record | Result]) -> Mapping[str, str]:
        """Return the labels of the subjects and conditions of results."""
        return self.labels_of(text for result in results for text in (result.subject, result.condition))


# -- where it comes from ----------------------------------------------------------------------------------------------


def load_run(settings: SynonymySettings, folder: Path, progress: CollectProgress | None = None) -> SynonymyData:
    """Load the collection and the recorded outcomes, and let the live subjects answer.

    Their answers are kept under ``collected`` and ``gaps`` of the folder, so that a broken run continues.
    Errors: those of the readers; :class:`SpecError` for a dataset without a collection, and for templates together with
    finished choice sets or with recorded outcomes; :class:`InputError` if no subject answers anything.
    """
    data = _open_collection(settings)
    _check_crossed(settings, data.sets)
    specs = tuple(dict.fromkeys((*settings.subjects, *(spec for spec, _ in settings.checkpoints))))
    live = live_subjects(specs, settings, TASK)
    for subject in live:
        if not isinstance(subject, Scores | Judges | Generates):
            what = f"{subject.subject_id} can neither score texts nor judge choice sets nor generate"
            raise CapabilityError(what, hint="use for instance causal_lm:FOLDER")

    def answers(items: Sequence[Item], able: Sequence[Subject], task: str | Task, place: str) -> ResponseTable:
        if not items or not able:
            return ResponseTable.empty()
        return collect(items, able, task, out=folder / place, seed=settings.seed, progress=progress)

    recorded = with_models(data.choices, settings.recorded, data.choices.unique("subject_id"), data.name)
    people = forced_choice.read_people(settings.people, data.asked.pages, data.asked.gap_items)
    # a chat model has no log-probabilities of texts: it chooses and fills gaps, in the words that people read
    others = [subject for subject in live if not isinstance(subject, Converses)]
    judges = [subject for subject in others if isinstance(subject, Scores | Judges)]
    answered = forced_choice.decided(answers(data.asked.items, judges, TASK, "collected").answered(), data.asked.items)
    baseline = BASELINE + (f"?table={settings.frequency}" if settings.frequency else "")
    frequencies, why = ResponseTable.empty(), ""
    if data.asked.items and baseline not in [subject.subject_id for subject in live]:
        frequencies, why = baseline_answers(data.asked.items, baseline, TASK)
    writers, no_gaps = [subject for subject in others if isinstance(subject, Generates)], ""
    if settings.gap_filling == "no":
        no_gaps = "It was not asked for (gap_filling: no)."
    elif not writers and len(others) == len(live):
        no_gaps = "No live subject generates texts."
    asked = () if no_gaps else writers
    pages = forced_choice.in_drawn_orders(data.asked.pages, seed=settings.seed)
    data = replace(data, asked=replace(data.asked, pages=pages))
    to_ask = {GAP_TASK: () if no_gaps else data.asked.gap_items, **forced_choice.by_task(pages)}
    unasked, ways, seed = f"{NO_PAGES} {no_gaps or data.omitted.get(GAPS, '')}", {GAP_TASK: ASKED}, settings.seed
    told, why_not = chat_answers(live, to_ask, folder / "chats", seed=seed, progress=progress, tasks=ways, why=unasked)
    filled = [answers(data.asked.gap_items, asked, GAP_TASK, "gaps"), told.where(task=GAP_TASK)]
    told = told.where(task=forced_choice.PAGES)
    for k in dict.fromkeys(settings.top_k):
        if k != TEN.top_k:
            filled.append(answers(data.asked.gap_items, asked, sampling_task(k), f"gaps_top_k_{k}"))
    if settings.gap_filling == "yes":
        known = [subject for subject in live if isinstance(subject, Recording)]
        filled.append(answers(data.asked.gap_items, known, GAP_TASK, "gaps_recorded").answered())
        no_gaps = "" if len(filled[-1]) else no_gaps
    reasons = {NO_BASELINE: f"The word-frequency baseline was not computed: {why}." if why else ""}
    reasons |= {GAPS: no_gaps if data.asked.gap_items else "", "Chat models": " ".join(why_not)}
    # a spec may name options that are no part of the id (device, threads): what a spec became is known here alone
    worded = in_wordings(specs, settings.wordings, catalog.task(TASK))
    ids = {spec: subject.subject_id for spec, subject in zip(worded, live, strict=True)}
    run = replace(
        data,
        choices=ResponseTable.concat([recorded, answered, forced_choice.as_choice_sets(told, pages), frequencies]),
        people=people,
        told=told,
        gaps=ResponseTable.concat(filled),
        facts={**data.facts, **{subject.subject_id: subject.facts for subject in live}},
        routes=scoring_routes(folder / "collected"),
        states={ids[spec]: n_seen for spec, n_seen in settings.checkpoints},
        omitted={**data.omitted, **{analysis: why for analysis, why in reasons.items() if why}},
    )
    if not run.models and not len(run.gaps) and not len(people):
        what = f"{run.name} has no recorded outcomes, and no subject was asked"
        raise InputError(what, hint="name a model: --subject causal_lm:FOLDER")
    return run


def _check_crossed(settings: SynonymySettings, design: ChoiceDesign) -> None:
    names = [cell.name for cell in ordered_cells([*design.sets, *joint_cells(design.sets)])]
    for pair in settings.consistency:
        unknown = [name for name in pair if name not in names]
        if unknown:
            hint = f"valid names: {', '.join(names)}"
            raise SettingError("consistency", f"the choice sets have no cell {unknown[0]!r}", hint=hint)
        if pair[0] == pair[1]:
            raise SettingError("consistency", f"{pair[0]} is crossed with itself", hint="name two cells")


def compared_answers(settings: SynonymySettings, responses: ResponseTable) -> ComparableAnswers:
    """Return the decisions of a finished run with its choice sets. Errors: those of the collection."""
    items, decisions = _open_collection(settings).sets.items, forced_choice.without_choices(responses.where(task=TASK))
    return ComparableAnswers(decisions, items, per=settings.per)


def _open_collection(settings: SynonymySettings) -> SynonymyData:
    """The items that the settings name: a dataset or a file, with the paper's templates or the user's."""
    if settings.items:
        path = Path(settings.items)
        asked = read_choice_items(
            path, templates=settings.templates, mode=settings.mode, language=settings.language, options=settings
        )
        card = own_card(path, task=TASK, language=asked.language)
        return SynonymyData(settings, card, asked, {path.name: sha256_of(path)}, omitted=asked.omitted)
    module = catalog.module("datasets", settings.dataset)
    if not hasattr(module, "collection"):
        what = f"{settings.dataset} is not a collection of synonyms"
        raise SpecError(what, hint="use synonymy, mini_synonymy, or --items FILE")
    if settings.templates and settings.recorded:
        what = "recorded outcomes were made with the paper's templates, not with yours"
        raise SpecError(what, hint="leave out recorded, or templates")
    dataset, collection = catalog.dataset(settings.dataset), module.collection()
    asked = choice_items(collection, templates=settings.templates, mode=settings.mode, dataset=dataset.card.name)
    n_nouns = len(module.nouns()) if hasattr(module, "nouns") else 0
    data = SynonymyData(settings, dataset.card, asked, dict(dataset.checksums), omitted=asked.omitted, n_nouns=n_nouns)
    facts = {fact.subject_id: fact for fact in dataset.subjects}
    return data if settings.templates else replace(data, choices=dataset.responses, facts=facts)


# -- sections of the report ---------------------------------------------------------------------------------------


def collection(run: SynonymyData) -> object:
    """Return counts of the collection, the cells of the design, what does not apply, and texts with flagged words."""
    words = run.settings.word_list
    flagged = flagged_sentences(run.asked.items, read_words(Path(words)) if words else FLAGGED_WORDS)
    n_items, n_sentences = len(run.sets.numbers), len(set(run.sets.sentences))
    clusters = (
        f"{counted(n_items, 'item')} in {counted(n_sentences, 'distinct sentence')}; intervals resample sentences."
    )
    if not run.own:
        flaws = ": the published texts repaired." if run.settings.mode == "clean" else ", flaws included."
        clusters += f" Texts are in the mode {run.settings.mode!r}{flaws}"
    numbers = {"n_items": n_items, "n_sentences": n_sentences, "n_choice_sets": len(run.asked.items)}
    by_item = run.every.words_by_suite_item
    texts = [options for (suite, *_), options in by_item.items() if not suite.endswith(TURNED)]
    for own in run.groups.values():
        numbers |= {statistic_name("n_items", group=name): len(design.numbers) for name, design in own.items()}
    numbers |= {"n_suite_items": len(texts), "n_suite_texts": sum(map(len, texts))}
    if run.asked.gap_items:
        n_criteria = 2 if run.names_synsets else 1
        numbers[statistic_name("n_gap_items", criteria=n_criteria)] = n_criteria * len(run.asked.gap_items)
    if run.n_nouns:
        numbers["n_nouns"] = run.n_nouns
    return (
        [run.number(name, n) for name, n in {**numbers, "n_flagged": len(flagged)}.items()],
        design_table(run.sets, {cell: label_of(cell) for cell in ordered_cells(run.sets.sets)}),
        _omissions(run) if run.own else None,
        flagged_table(flagged, Path(words).name) if flagged else None,
        clusters,
    )


def _omissions(run: SynonymyData) -> list[Omission]:
    """Which analyses do not apply to a user's own items or templates, and why."""
    compared = ("Comparison with the paper's numbers", "The items or the templates are not the paper's.")
    rows = [compared, *run.omitted.items(), *without_pairs(run.design.families, run.cells)]
    if not any(set(run.cells).issuperset(pair) for _, *pair in run.design.consistency):
        rows.append(("Consistency of two tests", "There is one test."))
    if not any(answers.deltas for answers in run.of_kind("live")):
        rows.append(("The effect of tokens", "No subject told how many tokens the words have in their texts."))
    return [Omission(analysis, why) for analysis, why in rows]


def subjects(run: SynonymyData) -> object:
    """Return who answered, with policy, tokens, route and self-test, and the licences."""
    texts = [f"{answers.title}: decided by {answers.measure}." for answers in run.of_kind("live", "baseline")]
    if run.of_kind("recorded"):
        texts += TEXTS["how recorded outcomes were decided"]
    # without other suites or a baseline the user should know it before the numbers
    remarks = [Remark(why) for analysis, why in run.omitted.items() if analysis in (OTHER_SUITES, NO_BASELINE)]
    # the released collection was made of two more resources
    made_of = (WORDNET, SEMCOR) if run.name == "synonymy" else ()
    licences = {run.card.title: run.card.licence, **{card.title: card.licence for card in made_of}}
    models = {a.title: run.facts.get(a.subject, SubjectFacts(a.subject)) for a in run.of_kind("live")}
    titles = {answers.subject: answers.title for answers in run.answers}
    scored = scoring_table(run.routes, titles, run.choices) if run.routes else None
    return answerers_table(run, run.facts), scored, licences_table(licences, models), texts, remarks
