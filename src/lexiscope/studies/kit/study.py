"""A study: its paper and the paper's files, data, settings and questions; its run, report and files.

A small study is one file, inside the package or anywhere else::

    study = Study("graded_senses", title="…", citation="…", task="relatedness", scale=(1, 100))

    @study.data
    def load():
        yield pair("bank/1", "They sat on the bank.", "The bank was closed.", "bank", same_sense=False)
        yield rating("p01", "bank/1", 12)

    @study.question("Do people rate uses of one sense as more related?", place="§4", needs=("ratings",))
    def people(run):
        return run.means(by="same_sense"), run.agreement()

``lexiscope study graded_senses.py --out RUN`` runs it. What a question returns (results, figures, tables, sentences)
is in ``results.json`` and in the report.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from lexiscope.analysis.families import TestFamily, with_families
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.collect.costs import CollectionCost, costs_of_work
from lexiscope.core import catalog
from lexiscope.core.claims import Claim, parse_rule
from lexiscope.core.code_file import line_in_file
from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import InputError, LexiscopeError, Place, SpecError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable, holds_simulated
from lexiscope.core.result import (
    Contrast,
    Curve,
    Curves,
    Estimate,
    Fit,
    Record,
    Result,
    Undefined,
    parse_statistic,
    printed_number,
    statistic_key,
)
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.settings import RatedItemSettings, Settings, own_items, settings_from
from lexiscope.core.showing import counted
from lexiscope.core.study import CollectionPlan, PlannedAnalysis, PublishedValue, Question, exported_plan
from lexiscope.report.answers.numbers import Numbers, capital, words_of_condition
from lexiscope.report.answers.results_page import AnswerOf, ResultsPage, answered_questions, results_page
from lexiscope.report.answers.sentences import named_sentence, words_of
from lexiscope.report.document import Report, Section
from lexiscope.report.figures import Figure
from lexiscope.report.page.comparison import claims_section
from lexiscope.report.page.exports import StudyExports, check_outputs, export, meanings_of
from lexiscope.report.page.study_folder import (
    Computed,
    Given,
    Summary,
    about_run,
    analyses_in_force,
    marked_questions,
    marked_records,
    planned_text,
    run_study,
)
from lexiscope.report.part import (
    Part,
    flat_list,
    join_parts,
    part_of,
    with_adjusted_columns,
    with_adjusted_p,
    with_published,
)
from lexiscope.report.parts.wording_tables import own_statistics_part, shots_part, wordings_part
from lexiscope.report.presenting import results_table
from lexiscope.report.sections import (
    asked_in,
    card_section,
    omissions_section,
    plan_sections,
    question_section,
    questions_table,
)
from lexiscope.report.tables import Table
from lexiscope.resources.fetch import locate_all
from lexiscope.resources.tables.delimited import read_csv
from lexiscope.studies.kit.answers import ComparableAnswers, shots_of, wordings_of
from lexiscope.studies.kit.data import dataset_of, given_files, own_dataset, rated_source
from lexiscope.studies.kit.languages import with_language_remarks
from lexiscope.studies.kit.run import Run, RunData
from lexiscope.tasks import DEFAULT

Answer = Callable[[Any], object]
Load = Callable[..., Iterable[Item | Response]]
Compared = Callable[[Any, ResponseTable], ComparableAnswers]
LoadRun = Callable[[Any, Path, CollectProgress | None], RunData[Any]]
Texts = str | Sequence[str] | Callable[[Any], str | Sequence[str]]
V = TypeVar("V")
Where = Literal["first", "data", "after"]
Exhibit = TypeVar("Exhibit", Table, Figure)
_SENTENCES = 12
_NEEDED: Mapping[str, str] = {
    "ratings": "ratings of people",
    "norms": "norms (mean ratings of people)",
    "senses": "sense relations of pairs",
    "models": "answers of models",
    "distances": "distances of encoders",
    "layers": "a model with layers",
}
"""What questions need, as text."""
_SAME_PLACE = ("subject", "dataset", "layer", "condition", "view", "question")
_LIVE, _WORDINGS, _SHOTS = "collected", "wordings", "worked_examples"
_FACTORS = {_WORDINGS: "Wordings of the prompt", _SHOTS: "Worked examples before the item"}
"""The titles of sections on how chat models were asked."""


@dataclass(frozen=True, slots=True)
class StudyQuestion:
    """A question of a study: what it needs, the function that answers it, and how its answer reads on the page.

    ``rule`` makes its answer on the Results page, ``short`` is its word in the strip of contents.
    """

    question: Question
    needs: tuple[str, ...]
    answer: Answer
    families: tuple[TestFamily, ...] = ()
    rule: AnswerOf | None = None
    short: str = ""


@dataclass(frozen=True, slots=True)
class StudySection:
    """A section of a study's report that is not a question: its id, title, place, and the function that makes it."""

    section_id: str
    title: str
    where: Where
    make: Answer


class Study:
    """A study: its paper, its data, its settings, its questions.

    *files* are the data files by their path in the data folder, each with its address and sha256; or by their path
    next to the study's file, with ``None``. The data function gets their paths, in this order. *scale* is the rating
    scale; *printed* a file of the numbers that the paper prints (``printed.csv`` next to the study's file), with which
    those of a run are compared; *claims* a file of what the paper claims (``claims.csv``),
    which is checked on the numbers of a run.

    *meanings* are those of the statistics that only this study has: those of ``kit/statistics.csv`` mean the same in
    every study. *methods* say how it was computed and *limits* what limits its meaning, as texts or as a function of
    the run. *headline* is the question at the top of the Results page, *answer* the rule for its answer; by default it
    is the title, and the answer to the first question with a drawing. *mini* are settings with which the study runs
    without data or models. *planned* are the analyses that a plan named, for the settings of a run; *complete* fills in
    what settings leave to the study; *given* returns the checksums of further files on which a run depends, in addition
    to the items and :func:`given_files`. *trains* says whether a run of settings trains models.
    """

    def __init__(
        self,
        name: str,
        *,
        title: str | Callable[[Any], str],
        citation: str | Sequence[str],
        subtitle: str | Callable[[Any], str] = "",
        task: str = DEFAULT,
        scale: tuple[float, float] | Scale | None = None,
        files: Mapping[str, tuple[str, str] | None] | None = None,
        language: str = "en",
        licence: str = "not stated",
        views: Sequence[str] = ("full",),
        printed: str = "",
        claims: str = "",
        meanings: Mapping[str, str] | None = None,
        methods: Texts = (),
        limits: Texts = (),
        mini: Settings | None = None,
        planned: Callable[[Any], Sequence[PlannedAnalysis]] | None = None,
        complete: Callable[[Any], Settings] | None = None,
        given: Callable[[Any], Mapping[str, str]] | None = None,
        trains: Callable[[Any], bool] | None = None,
        headline: str | Callable[[Any], str] = "",
        answer: AnswerOf | None = None,
    ) -> None:
        if not name.replace("_", "a").isalnum():
            raise SpecError(f"{name!r} cannot name a study", hint="use letters, digits and _")
        self.name, self.task, self.scale = name, task, scale
        self.title, self.subtitle = title, subtitle
        self.citations = (citation,) if isinstance(citation, str) else tuple(citation)
        self.language, self.licence, self.views = language, licence, tuple(views)
        # the file that defines the study: its data files are searched next to it
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        self.home = Path(frame.f_back.f_code.co_filename).parent
        self.printed = self.home / printed if printed else None
        self.claims = self.home / claims if claims else None
        self.files = files or {}
        self.meanings, self.methods, self.limits = meanings, methods, limits
        for name, meaning in (meanings or {}).items():
            if statistics().get(name, meaning) != meaning:
                what = f"the study {self.name} says of {name}: {meaning}"
                why = f"in all studies it is: {statistics()[name]}"
                raise SpecError(what, why=why, hint="give the study's own statistic another name")
        self.mini, self.planned, self.complete, self.given, self.trains = mini, planned, complete, given, trains
        self.headline, self.answer = headline, answer
        self.questions: list[StudyQuestion] = []
        self.sections: list[StudySection] = []
        self.load: Load | None = None
        self.run_maker: LoadRun | None = None
        self.answers_maker: Compared | None = None
        self.overview_maker: Callable[[tuple[Record, ...], Any], Table] | None = None
        self.writers: list[Callable[[Any, Path, tuple[Record, ...]], Sequence[str]]] = []
        self.settings_type: type[Settings] = Settings if mini is None else type(mini)

    def __repr__(self) -> str:
        return f"Study({self.name}: {counted(len(self.questions), 'question')})"

    # -- what the file of a study says ----------------------------------------------------------------------------

    def data(self, load: Load) -> Load:
        """Mark the function that yields items and recorded answers; it gets the paths of the files, in their order."""
        if len(inspect.signature(load).parameters) != len(self.files):
            what = f"the data function of {self.name} takes other files than the study has: {', '.join(self.files)}"
            raise SpecError(what, hint="it needs one argument for each file, in their order")
        self.load = load
        return load

    def run_data(self, load: LoadRun) -> LoadRun:
        """Mark the function that makes the run of settings: ``load(settings, folder, progress)``.

        For studies whose data are more than items with ratings: it loads them, lets the live subjects answer (their
        answers are kept below *folder*), and returns what the questions see.
        """
        self.run_maker = load
        return load

    def compared(self, make: Compared) -> Compared:
        """Mark the function that finds the answers of a finished run again: ``make(settings, responses)``.

        For studies whose items are not those of one dataset or file: it returns what sides of a comparison are read
        from, without asking any subject.
        """
        self.answers_maker = make
        return make

    def settings(self, kind: type[Settings]) -> type[Settings]:
        """Mark the class of the study's own settings."""
        self.settings_type = kind
        return kind

    def question(
        self,
        text: str,
        *,
        place: str = "",
        analysis: Literal["exploratory"] = "exploratory",
        needs: str | Sequence[str] = (),
        families: Sequence[TestFamily] = (),
        answer: AnswerOf | None = None,
        short: str = "",
    ) -> Callable[[Answer], Answer]:
        """Mark the function that answers a question.

        *place* is where the paper asks it; *needs* is what must be there (``ratings``, ``norms``, ``models``,
        ``layers``): without it the report gives the reason for the missing answer. *families* are the families of its
        tests: their p values are adjusted for how many they are. Tests of none of these are a family with the others of
        the same statistic. *answer* is the rule for its answer on the Results page (by default that of the type of what
        is returned), *short* its word in the strip of contents.
        """
        needed = (needs,) if isinstance(needs, str) else tuple(needs)

        def add(make: Answer) -> Answer:
            question = Question(f"Q{len(self.questions) + 1}", text, place, analysis)
            self.questions.append(StudyQuestion(question, needed, make, tuple(families), answer, short))
            return make

        return add

    def section(self, title: str, *, where: Where = "data", section_id: str = "") -> Callable[[Answer], Answer]:
        """Mark the function that makes a further section of the report.

        *where* it is: before everything (``first``), under the questions and subjects (``data``), or ``after`` the
        questions. It returns what a question returns, or finished sections.
        """

        def add(make: Answer) -> Answer:
            self.sections.append(StudySection(section_id or make.__name__, title, where, make))
            return make

        return add

    def overview(self, show: Callable[[tuple[Record, ...], Any], Table]) -> Callable[[tuple[Record, ...], Any], Table]:
        """Mark the function that makes the table of a run on one screen, from its records and settings."""
        self.overview_maker = show
        return show

    def writes(
        self, write: Callable[[Any, Path, tuple[Record, ...]], Sequence[str]]
    ) -> Callable[[Any, Path, tuple[Record, ...]], Sequence[str]]:
        """Mark a function that writes further files of a run into its folder and returns their names."""
        self.writers.append(write)
        return write

    # what the catalog, the command line and the contract tests ask of every study

    @property
    def SETTINGS(self) -> type[Settings]:  # noqa: N802
        """The class of the study's settings."""
        return self.settings_type

    @property
    def QUESTIONS(self) -> tuple[Question, ...]:  # noqa: N802
        """The questions, in order."""
        return tuple(entry.question for entry in self.questions)

    @property
    def MINI(self) -> Settings:  # noqa: N802
        """Settings with which the study runs on any machine."""
        return self.mini or self.settings_for()

    @property
    def STATISTICS(self) -> Mapping[str, str]:  # noqa: N802
        """What each statistic is, by its name without parameters: those of all studies, then the study's own."""
        return {**statistics(), **(self.meanings or {})}

    @property
    def PUBLISHED(self) -> Mapping[str, tuple[PublishedValue, ...]]:  # noqa: N802
        """What papers print, by dataset."""
        return printed_values(self.printed, dataset=self.name) if self.printed else {}

    @property
    def CLAIMS(self) -> Mapping[str, tuple[Claim, ...]]:  # noqa: N802
        """What papers claim, by dataset."""
        return read_claims(self.claims, dataset=self.name) if self.claims else {}

    # -- running it -----------------------------------------------------------------------------------------------

    def dataset(self) -> Dataset:
        """Load the study's data. Errors: those of its files and of the data function."""
        if self.load is None:
            raise SpecError(f"the study {self.name} has no data", hint="mark a function with @study.data")
        paths, files = self._locate_files()
        given = self.load(*paths)
        if not isinstance(given, Iterable):
            what = f"the data function of {self.name} returns {type(given).__name__}"
            raise SpecError(what, hint="yield pair(…) and rating(…), or return a list of them")
        return dataset_of(given, self._card(tuple(file for file, _ in files)), files)

    def settings_for(self, **given: Any) -> Settings:
        """Return the study's settings with these values. Errors: :class:`InputError` for one that it does not have."""
        return settings_from(self.settings_type, {"study": self.name, **given})

    def run(
        self,
        settings: Settings | None = None,
        out: Path | str = "",
        *,
        progress: CollectProgress | None = None,
        command: str = "",
    ) -> Summary:
        """Run the study into the folder *out* and return its summary; a finished run is not computed again.

        A broken run continues from the answers that were collected. Both end with identical files (except
        ``machine.json``, which has the machine and the time). Without *settings* they are the study's defaults;
        ``lexiscope.study`` takes them by name.
        Errors: those of the data, the subjects and the questions; :class:`RunError` for a folder of another run.
        """
        chosen = settings or self.settings_for()
        check_outputs(chosen.outputs)
        chosen = self.complete(chosen) if self.complete else chosen
        folder = Path(out or f"{self.name}_run")
        files = given_files(chosen) | dict(self.given(chosen) if self.given else {})

        def given(records: Sequence[Record]) -> Mapping[str, str]:
            return self._checksums_of_paper(chosen, records) | files

        def compute(place: Path) -> Computed:
            return self._compute(self.make_run(chosen, place, progress), place, given)

        def overview(records: tuple[Record, ...]) -> Table:
            return self.overview_maker(records, chosen) if self.overview_maker else self._overview(records)

        return run_study(chosen, folder, compute, overview, given=given, command=command)

    def make_run(self, settings: Settings, folder: Path, progress: CollectProgress | None = None) -> RunData[Any]:
        """Return what the questions see: the data, with the answers of the live subjects (kept below *folder*)."""
        if self.run_maker:
            return self.run_maker(settings, folder, progress)
        data, answers = self._data(settings), ResponseTable.empty()
        live = live_subjects(settings.subjects, settings, self.task)
        if live:
            data = with_language_remarks(data, live)
            out, seed = folder / _LIVE, settings.seed
            answers = collect(data.items, live, self.task, views=self.views, out=out, seed=seed, progress=progress)
        return Run(data, answers, settings)

    def costs(self, settings: Settings, out: Path) -> tuple[list[CollectionCost], str]:
        """Return what the subjects of a run would still be asked and what that costs, and what else is not counted.

        Nothing is asked, sent or written; local models are timed on a few items. What the folder *out* has is not
        asked again. Errors: those of the data and of the subjects; :class:`InputError` for a run that trains models.
        """
        chosen = self.complete(settings) if self.complete else settings
        if self.trains is not None and self.trains(chosen):
            what = f"the study {self.name} trains models with these settings: its cost cannot be counted"
            raise InputError(what, hint="time it on a small dataset")
        return costs_of_work(lambda: self.make_run(chosen, out))

    def answers_of(self, settings: Settings, responses: ResponseTable) -> ComparableAnswers:
        """Return the answers of a finished run with their items, as :func:`lexiscope.compare` takes them.

        Errors: those of the data, if they are not at their place any more.
        """
        if self.answers_maker:
            return self.answers_maker(settings, responses)
        path = own_items(settings)
        data = own_dataset(path, task=self.task) if path else self._data(settings)
        return ComparableAnswers(responses, data.items)

    def analyse(self, run: RunData[Any]) -> dict[str, Part]:
        """Answer every question of a run; return the parts by name, those of a question by its id."""

        def sections(*, after: bool) -> dict[str, Part]:
            own = (section for section in self.sections if (section.where == "after") is after)
            return {section.section_id: self._section_part(section, run) for section in own}

        parts = sections(after=False)
        parts |= {entry.question.question_id: self._answer_part(entry, run) for entry in self.questions}
        parts |= sections(after=True)
        parts |= {_WORDINGS: self._wordings_part(run, parts)} if wordings_of(run.responses) else {}
        parts |= {_SHOTS: self._shots_part(run)} if shots_of(run.responses) else {}
        return _with_own_names({name: run.mark_simulated(name, part) for name, part in parts.items()})

    def _data(self, settings: Settings) -> Dataset:
        """The study's data, or the dataset or item file that the settings name: the same questions of other items."""
        if isinstance(settings, RatedItemSettings) and settings.items:
            return rated_source(settings, task=self.task, scale=self._scale)
        if not settings.dataset:
            return self.dataset()
        card = catalog.card(settings.dataset)
        if card.task != self.task:
            what = f"the study {self.name} asks {self.task}; the dataset {settings.dataset} has items of {card.task}"
            raise SpecError(what, hint="name a dataset of this task: see `lexiscope list datasets`")
        return catalog.dataset(settings.dataset)

    def _compute(self, run: RunData[Any], folder: Path, given: Given) -> Computed:
        settings = run.settings
        parts = self.analyse(run)
        planned = self._planned_analyses(run)
        records = marked_records(parts, self.QUESTIONS, settings, planned)
        records = with_published(records, run.printed_values(self.PUBLISHED))
        simulated = holds_simulated(run.responses) and not any(record.people for record in records)
        # a run whose judgments are all simulated is marked when it is written
        files = dict(given(() if simulated else records))
        n_omitted = len(set(join_parts(parts.values()).omissions))
        # what a question returned has a table of its own; a number that came otherwise is listed by its name
        returned = [record.statistic for part in parts.values() for record in part.records]
        meanings = {parse_statistic(name)[0]: words_of(name) for name in returned} | dict(self.STATISTICS)
        handed = StudyExports(
            run.name, run.responses, run.card, tuple(run.sources.items()), meanings_of(meanings, records), records
        )
        page = self._results_page(run, parts, records)
        in_words = page.results() if page is not None else {}
        report = Report(
            settings.title or _text_of(self.title, run),
            language="en",
            subtitle=_text_of(self.subtitle, run),
            sections=tuple(map(run.mark_section, self._sections(run, parts, records, planned, in_words))),
            run=about_run(
                settings,
                data=dict(run.checksums),
                counts={**run.counts, "records": len(records), **({"left_out": n_omitted} if n_omitted else {})},
                **({"given": files} if files else {}),
                **run.record,
            ),
            records=records,
            # on items of the user's own a study is cited for its methods
            citations=self.citations[:1] if run.own else self.citations,
            results=page,
        )
        written = export(folder, handed, settings.outputs)
        written += tuple(name for write in self.writers for name in write(run, folder, records))
        plan = run.once(self._plan)
        remarks = (*((plan.said(),) if plan else ()), *(run.card.remarks if run.own and run.card else ()))
        return Computed(report, run.responses, {"data": Part(remarks=remarks), **parts}, written, meanings)

    def _results_page(
        self, run: RunData[Any], parts: Mapping[str, Part], records: tuple[Record, ...]
    ) -> ResultsPage | None:
        """Return the page with the answers, made from the results of the run by the rules of its questions."""
        figures = {figure.name: figure for part in parts.values() for figure in part.figures}
        kind, others = run.other_kind
        computed = [record for record in records if record.status not in ("not reproducible", "not computed")]
        shown = tuple(run.shown_records(computed))
        numbers = Numbers(shown, run.names, figures, run.single, others, kind)
        questions = marked_questions(tuple(map(run.asks, self.QUESTIONS)), records)
        missing = {e.question.question_id: why for e in self.questions if (why := _not_answered(e, run))}
        returned = {
            entry.question.question_id: [v for v in flat_list(run.once(entry.answer)) if isinstance(v, Result)]
            for entry in self.questions
            if entry.question.question_id not in missing
        }
        rules = {entry.question.question_id: (entry.rule, entry.short) for entry in self.questions}
        answered, unanswered = answered_questions(questions, rules, returned, missing, numbers, run)
        title = run.settings.title or _text_of(self.title, run)
        headline = run.settings.title or _text_of(self.headline, run) or title
        brand, _, long = (run.card.title if run.card is not None else title).partition(": ")
        kicker = capital(long) or (title if headline != title else brand)
        about = "" if run.settings.title else questions[0].question_id if self.headline and questions else "none"
        return results_page(headline, kicker, brand, self.answer, answered, unanswered, numbers, run, title_of=about)

    def _sections(
        self,
        run: RunData[Any],
        parts: Mapping[str, Part],
        records: tuple[Record, ...],
        planned: Sequence[PlannedAnalysis],
        in_words: Mapping[str, str],
    ) -> tuple[Section, ...]:
        """Return the report: questions, materials, participants, models, methods, results, and limits.

        *in_words* has the result of each answered question by its id.
        """
        questions = marked_questions(tuple(map(run.asks, self.QUESTIONS)), records)
        settings = run.settings
        resampled = f"{settings.n_bootstrap} bootstrap resamples, seed {settings.seed}."
        about = tuple(card_section(card, section_id=section_id) for card, section_id in run.cards)
        of_data = self._sections_at("data", run, parts)
        ethics = (f"Ethics: {settings.ethics}",) if settings.ethics else ()
        # a question may be answered by a sentence alone
        texts = {
            entry.question.question_id: part.paragraphs[0]
            for entry in self.questions
            if (part := parts[entry.question.question_id]).paragraphs
            and not (part.records or part.tables or part.figures or _not_answered(entry, run))
        }
        table = questions_table(questions, {**texts, **in_words}, parts, name="questions")
        # what a paper claims is of its own data and of people
        of_paper = not run.own and not holds_simulated(run.responses)
        asked = [(name, title, parts[name]) for name, title in _FACTORS.items() if name in parts]
        claimed = claims_section(self.CLAIMS, records, self.QUESTIONS, run.names) if of_paper else None
        return tuple(
            section
            for section in (
                *self._sections_at("first", run, parts),
                Section("questions", "Summary", tables=(table,)),
                *plan_sections(run.once(self._plan)),
                Section("asked", "Materials, participants, models", subsections=(*about, *of_data)),
                Section("examples", "Example items", tuple(run.examples)),
                Section("methods", "Methods", (*_texts_of(self.methods, run), resampled)),
                *(_question_section_of(question, in_words, planned, parts) for question in questions),
                *self._sections_at("after", run, parts),
                *(Section(name, title, part.paragraphs, part.tables) for name, title, part in asked),
                *filter(None, (omissions_section(parts.values()), claimed)),
                Section("limits", "Limits", (*_texts_of(self.limits, run), *ethics)),
            )
            if section.paragraphs or section.tables or section.figures or section.subsections
        )

    def _wordings_part(self, run: RunData[Any], parts: Mapping[str, Part]) -> Part:
        """Return what the wordings of the prompts of chat models do to the answers of a run."""
        answers = self.answers_of(run.settings, run.responses)
        worded, omissions = answers.over_wordings(resamples=run.settings.n_bootstrap, seed=run.settings.seed)
        records = [record for part in parts.values() for record in part.records]
        own = own_statistics_part(records, wordings_of(run.responses), worded)
        return join_parts((wordings_part(worded), own, part_of(omissions)))

    def _shots_part(self, run: RunData[Any]) -> Part:
        """Return what worked examples in the prompts of chat models do to the answers of a run."""
        answers = self.answers_of(run.settings, run.responses)
        measured, omissions = answers.over_shots(resamples=run.settings.n_bootstrap, seed=run.settings.seed)
        return join_parts((shots_part(measured), part_of(omissions)))

    def _sections_at(self, where: Where, run: RunData[Any], parts: Mapping[str, Part]) -> list[Section]:
        sections = []
        for entry in self.sections:
            if entry.where == where:
                part, name = parts[entry.section_id], entry.section_id
                finished = tuple(value for value in flat_list(run.once(entry.make)) if isinstance(value, Section))
                texts = (*part.paragraphs, *dict.fromkeys(part.remarks))
                if texts or part.tables or part.figures or finished:
                    sections.append(Section(name, entry.title, texts, part.tables, part.figures, subsections=finished))
        return sections

    def _section_part(self, section: StudySection, run: RunData[Any]) -> Part:
        content = [value for value in flat_list(run.once(section.make)) if not isinstance(value, Section)]
        return with_adjusted_p(part_of(content, origin=f"the section {section.section_id}"))

    def _answer_part(self, asked: StudyQuestion, run: RunData[Any]) -> Part:
        if why := _not_answered(asked, run):
            return Part(paragraphs=(why,))
        name = asked.answer.__name__
        try:
            returned = run.once(asked.answer)
        except LexiscopeError as error:
            place = line_in_file(error)
            if place is None:
                raise
            undefined = 'take it with run.attempt("NAME", function): the report then has the reason'
            raise error.located(place, undefined if isinstance(error, StatisticError) else "") from error
        if returned is None:
            what = f"the question {name} of {self.name} returns nothing"
            raise SpecError(
                what, hint="return results, figures, tables or sentences; a sentence may say why there are none"
            )
        given = flat_list(returned)
        part = part_of(given, origin=f"the question {name}")
        _check_names(part.records, f"the question {name} of {self.name}")
        records, families = with_families(part.records, asked.families, planned=self._is_planned(asked.question, run))
        tables = tuple(with_adjusted_columns(table, families) for table in part.tables)
        adjusted = dict(zip(part.records, records, strict=True))
        results = [_with_adjusted_p(value, adjusted) for value in given if isinstance(value, Result)]
        part = replace(part, records=records, tables=tables)
        # a question with a table of its own lays its results out itself; else they are shown by their type
        if not results or part.tables:
            return part
        names = run.names
        said = tuple(named_sentence(result, lambda name: names.get(name, name)) for result in results[:_SENTENCES])
        figures = part.figures
        if not figures:
            # every layer's number is in the report: in a figure, unless the question draws one itself
            layered = [result for result in results if isinstance(result, Curves)]
            figures = tuple(result.plot() for result in layered if any(isinstance(e, Curve) for e in result.entries))
        return replace(
            part,
            tables=(
                with_adjusted_columns(results_table(name, asked.question.text, results), families),
                *part.tables,
            ),
            figures=figures,
            paragraphs=(*part.paragraphs, *said),
            remarks=(*part.remarks, *(result.reason for result in results if isinstance(result, Undefined))),
        )

    def _is_planned(self, question: Question, run: RunData[Any]) -> Callable[[Record], bool]:
        """Return which records of a question belong to an analysis that was planned."""
        planned = self._planned_analyses(run)
        own = [analysis for analysis in planned if analysis.question_id == question.question_id]
        return lambda record: any(analysis.covers(record) for analysis in own)

    def _planned_analyses(self, run: RunData[Any]) -> tuple[PlannedAnalysis, ...]:
        """Return what the study's own plan named, and the plan that was signed for the answers of the run."""
        own = self.planned(run.settings) if self.planned else ()
        plan = run.once(self._plan)
        return analyses_in_force((*own, *(plan.analyses() if plan else ())), run.settings)

    def _plan(self, run: RunData[Any]) -> CollectionPlan | None:
        exported = exported_plan(run.settings)
        return exported and exported[0].applied(self.name, self.QUESTIONS, run.responses, run.settings)

    def _overview(self, records: tuple[Record, ...]) -> Table:
        marks = [_at_best_layer(record, records) for record in records if record.layer is None]
        marks = [record for record in marks if record.value is not None]
        first = dict.fromkeys(record.question for record in marks)
        rows = [
            _OverviewRow((replace(record, condition=words_of_condition(record.condition)),))
            for question in first
            for record in [r for r in marks if r.question == question][:4]
        ]
        title = self.title if isinstance(self.title, str) else self.name
        return results_table("overview", title, rows)

    def _checksums_of_paper(self, settings: Settings, records: Sequence[Record]) -> dict[str, str]:
        """The checksums of the files with what papers print and claim of the data that records are of.

        Items of the user's own, and answers of simulated participants, are compared with neither.
        """
        of = set() if own_items(settings) else {record.dataset for record in records if not record.people}
        files = ((self.printed, self.PUBLISHED), (self.claims, self.CLAIMS))
        return {path.name: sha256_of(path) for path, rows in files if path is not None and of & set(rows)}

    def _card(self, files: tuple[DataFile, ...]) -> DatasetCard:
        title = self.title if isinstance(self.title, str) else self.name
        source = files[0].url or str(Path(files[0].path).parent) if files else "made by the study's file"
        return DatasetCard(
            self.name, title, self.task, self.language, self.licence, self.citations[0], source, "",
            "download" if files else "embedded", inspect.getdoc(self.load) or title, files=files,
            scale=self._scale,
        )  # fmt: skip

    @property
    def _scale(self) -> Scale | None:
        return Scale.between(*self.scale) if isinstance(self.scale, tuple) else self.scale

    def _locate_files(self) -> tuple[tuple[Path, ...], tuple[tuple[DataFile, str], ...]]:
        """The path of each file, and what was read."""
        pinned = {name: DataFile(name, *pin) for name, pin in self.files.items() if pin is not None}
        places = dict(zip(pinned, locate_all(self._card(tuple(pinned.values()))), strict=True)) if pinned else {}
        paths, read = [], []
        for name in self.files:
            path = places[name].path if name in places else self.home / name
            if not path.is_file():
                raise InputError(f"{self.name}: there is no file {name} next to the study's file, {self.home}")
            paths.append(path)
            read.append((pinned.get(name, DataFile(name)), places[name].sha256 if name in places else sha256_of(path)))
        return tuple(paths), tuple(read)


@dataclass(frozen=True, slots=True)
class _OverviewRow(Result):
    """Records of a finished run, as a row of the overview."""

    given: tuple[Record, ...]

    def records(self) -> tuple[Record, ...]:
        """Return them as they are."""
        return self.given


def _at_best_layer(record: Record, records: Sequence[Record]) -> Record:
    """Return, in place of the number of the best layer, the value at this layer; any other record as it is."""
    plain, params = parse_statistic(record.statistic)
    if plain != "best_layer":
        return record
    here = replace(record, layer=None if record.value is None else int(record.value))
    same = (
        other
        for other in records
        if other.layer is not None
        and parse_statistic(other.statistic)[0] == params.get("by")
        and all(getattr(other, name) == getattr(here, name) for name in _SAME_PLACE)
    )
    return next(same, record)


def _not_answered(asked: StudyQuestion, run: RunData[Any]) -> str:
    """Return why a run cannot answer a question: what it needs and the run does not have; empty if it can."""
    missing = [what for what in asked.needs if not run.has(what)]
    if not missing:
        return ""
    text = f"Not answered: the run has no {' and no '.join(_NEEDED.get(what, what) for what in missing)}."
    *first, last = [_NEEDED.get(what, what) for what in asked.needs]
    # the same words a second time would say nothing
    if missing != list(asked.needs):
        several = f"{', '.join(first)} and {last}" if first else last
        text += f" The question needs {several}."
    return text


def _check_names(records: Sequence[Record], origin: str) -> None:
    """Check that no two numbers of a question have one name: ``results.json`` would not say which is which.

    A result may be there twice, as a fit and as the best of it.
    """
    known: dict[tuple[object, ...], tuple[object, ...]] = {}
    for record in records:
        name = (statistic_key(record.statistic), *(getattr(record, field) for field in _SAME_PLACE))
        numbers = (record.value, record.low, record.high, record.p, record.n)
        if known.setdefault(name, numbers) != numbers:
            which = ", ".join(filter(None, (record.statistic, record.subject, record.condition, record.view)))
            hint = 'name what differs: result.about(condition="..."), or name="..." of a mixed model'
            raise SpecError(f"{origin} returns two different results of one name: {which}", hint=hint)


def _with_adjusted_p(result: Result, adjusted: Mapping[Record, Record]) -> Result:
    """Return a result with the adjusted p that its record has, which its sentence says."""
    if not isinstance(result, Estimate | Contrast | Fit):
        return result
    record = adjusted[result.records()[0]]
    return result.about(p_adjusted=record.p_adjusted, family=record.family)


def _with_own_names(parts: Mapping[str, Part]) -> dict[str, Part]:
    """Return the parts with unique names of tables and of figures: two questions may draw the same statistic.

    A table and a figure may share a name: they are files of two folders.
    """
    used: set[tuple[type[Table | Figure], str]] = set()

    def with_own_name(exhibit: Exhibit, question_id: str) -> Exhibit:
        name = exhibit.name if (type(exhibit), exhibit.name) not in used else f"{question_id.lower()}_{exhibit.name}"
        used.add((type(exhibit), name))
        return replace(exhibit, name=name)

    return {
        question_id: replace(
            part,
            tables=tuple(with_own_name(table, question_id) for table in part.tables),
            figures=tuple(with_own_name(figure, question_id) for figure in part.figures),
        )
        for question_id, part in parts.items()
    }


def _text_of(said: V | Callable[[Any], V], run: RunData[Any]) -> V:
    """Return a text of a study: the text itself, or what a function of the run returns."""
    return said(run) if callable(said) else said


def _texts_of(said: Texts, run: RunData[Any]) -> tuple[str, ...]:
    """Return the paragraphs of a study: one text is one paragraph."""
    texts = _text_of(said, run)
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _question_section_of(
    question: Question, in_words: Mapping[str, str], planned: Sequence[PlannedAnalysis], parts: Mapping[str, Part]
) -> Section:
    """The section of a question; one without content is dropped by the caller."""
    part = parts[question.question_id]
    if not (part.tables or part.figures or part.paragraphs or part.remarks):
        return Section(question.question_id.lower(), question.text)
    result = in_words.get(question.question_id, "")
    text = " ".join((*asked_in(question), *((f"Result: {result}",) if result else ())))
    marked = planned_text(question, planned)
    texts = (*((text,) if text else ()), *marked, *part.paragraphs, *dict.fromkeys(part.remarks))
    section = question_section(question, texts, part)
    # a question without an answer is no analysis that was made
    return section if part.records or part.tables or part.figures else replace(section, flag="")


# -- what each statistic is, for all studies: a name means one thing, whichever study prints it ---------------------
# The names are those of ``results.json`` without their parameters; the table is ``statistics.csv`` next to this file.


GLOSSARY = Path(__file__).with_name("statistics.csv")
_COLUMNS = ("statistic", "meaning")


@cache
def statistics(path: Path = GLOSSARY) -> Mapping[str, str]:
    """Return the meaning of each statistic by its name, in the order of the table.

    Errors: :class:`InputError` for a name that is there twice, and for one without a meaning.

    >>> statistics()["n_words"]
    'distinct words of the items: what intervals resample'
    """
    by_name: dict[str, str] = {}
    for place, row in read_csv(path, _COLUMNS).rows():
        name, meaning = row["statistic"], row["meaning"]
        if not meaning:
            raise InputError(f"the statistic {name!r} has no meaning", place=place)
        if name in by_name:
            raise InputError(f"the statistic {name!r} is there twice: a name has one meaning", place=place)
        by_name[name] = meaning
    return by_name


# -- paper files ----------------------------------------------------------------------------------------------------
# The files of a study: numbers and claims of its paper (``printed.csv``, ``claims.csv``), prose (``texts.md``).


_PRINTED = ("dataset", "place", "statistic", "subject", "layer", "condition", "printed", "remark", "unavailable")
_CLAIMS = ("dataset", "claim", "place", "question", "rule", "unavailable")


def printed_values(path: Path, *, dataset: str) -> dict[str, tuple[PublishedValue, ...]]:
    """Read what a paper prints, by dataset: ``printed.csv`` of a study, one number a row.

    Columns: ``dataset`` (empty: *dataset*, the study's own), ``place`` (table or section), ``statistic``, ``subject``,
    ``layer`` and ``condition`` of the record (empty where it has none), ``printed`` (the text of the number, in the
    unit of the record, or of a bound: ``< .001``), ``remark`` (shown where ours differs), ``unavailable`` (the
    reason, if no data exist). A column ``view`` may follow ``condition``.

    Errors: :class:`InputError` naming the line without a place, whose number does not parse, or that has too few
    or too many cells.
    """
    by_dataset: dict[str, list[PublishedValue]] = {}
    for place, row in read_csv(path, _PRINTED, optional=("view",), may_be_empty=True).rows():
        value = _printed_value(row, dataset, place)
        by_dataset.setdefault(value.dataset, []).append(value)
    return {name: tuple(values) for name, values in by_dataset.items()}


def read_claims(path: Path, *, dataset: str) -> dict[str, tuple[Claim, ...]]:
    """Read what a paper claims, by dataset: ``claims.csv`` of a study, one claim a row.

    Columns: ``dataset`` (one or several, with spaces between them; empty: *dataset*, the study's own), ``claim`` (one
    sentence), ``place`` (section or table), ``question`` (the id of a question of the study), ``rule`` (see above), or
    ``unavailable`` (why no data exist). A claim about several datasets is listed under each.

    Errors: :class:`InputError` naming the line without claim, place or question, with neither or both of rule and
    reason, or whose rule does not parse.
    """
    by_dataset: dict[str, list[Claim]] = {}
    for place, row in read_csv(path, _CLAIMS, may_be_empty=True).rows():
        for column in ("claim", "place", "question"):
            if not row[column]:
                raise InputError(f"a claim needs its {column}", place=place)
        if bool(row["rule"]) == bool(row["unavailable"]):
            what = "a claim needs either a rule, or the reason why no data exist (column unavailable)"
            raise InputError(what, place=place)
        names = tuple(row["dataset"].split()) or (dataset,)
        rule = parse_rule(row["rule"], place=place) if row["rule"] else ()
        claim = Claim(row["claim"], row["place"], row["question"], names, rule, row["unavailable"])
        for name in names:
            by_dataset.setdefault(name, []).append(claim)
    return {name: tuple(claims) for name, claims in by_dataset.items()}


def read_texts(path: Path) -> dict[str, tuple[str, ...]]:
    """Read the prose of a study's report, ``texts.md``: the paragraphs below each heading ``# NAME``, by name."""
    sections = path.read_text(encoding="utf-8").removeprefix("# ").split("\n# ")
    named = (section.partition("\n") for section in sections)
    return {
        name: tuple(part.strip().replace("\n", " ") for part in text.strip().split("\n\n")) for name, _, text in named
    }


def _printed_value(row: dict[str, str], dataset: str, place: Place) -> PublishedValue:
    try:
        float(printed_number(row["printed"])[1])
    except ValueError as error:
        raise InputError(f"{row['printed']!r} is not a printed number", place=place) from error
    if not row["place"]:
        raise InputError("a printed number needs its place in the paper", place=place)
    if row["layer"] and not row["layer"].isdecimal():
        raise InputError(f"{row['layer']!r} is not the number of a layer", place=place)
    return PublishedValue(
        row["statistic"],
        row["printed"],
        row["place"],
        subject=row["subject"],
        dataset=row["dataset"] or dataset,
        layer=int(row["layer"]) if row["layer"] else None,
        condition=row["condition"],
        remark=row["unavailable"] or row["remark"],
        reproducible=not row["unavailable"],
        view=row.get("view", ""),
    )
