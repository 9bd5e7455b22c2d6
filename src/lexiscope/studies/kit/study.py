"""A study: what it is, its data, its settings and its questions; everything else is done for it.

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
from pathlib import Path
from typing import Any, Literal, TypeVar

from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core import catalog
from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Curve, Curves, Record, Result, Undefined, parse_statistic
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.settings import Settings
from lexiscope.core.showing import counted
from lexiscope.core.study import PublishedValue, Question, printed_values
from lexiscope.report.document import Report, Section
from lexiscope.report.exports import Exported, export
from lexiscope.report.figures import Figure
from lexiscope.report.part import Part, with_published
from lexiscope.report.presenting import results_table, sentence, words_of
from lexiscope.report.sections import card_section
from lexiscope.report.study_folder import about_run
from lexiscope.report.study_run import Computed, Summary, marked_records, run_study
from lexiscope.report.tables import Table
from lexiscope.resources.fetch import locate_all
from lexiscope.studies.kit.data import card_of, dataset_of
from lexiscope.studies.kit.run import Run, flat

Answer = Callable[[Run[Any]], object]
Load = Callable[..., Iterable[Item | Response]]
Shown = TypeVar("Shown", Table, Figure)
_SENTENCES = 12
_LIVE = "collected"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a study, what it needs to be answered, and the function that answers it."""

    question: Question
    needs: tuple[str, ...]
    answer: Answer


class Study:
    """A study: its paper, its data, its settings, its questions.

    *files* are the data files by their path in the data folder, each with its address and sha256; or by their path
    next to the study's file, with ``None``. The data function gets their paths, in this order. *scale* is the rating
    scale; *printed* a file of the numbers that the paper prints (``printed.csv`` next to the study's file), with which
    those of a run are compared.
    """

    def __init__(
        self,
        name: str,
        *,
        title: str,
        citation: str | Sequence[str],
        task: str = "relatedness",
        scale: tuple[float, float] | Scale | None = None,
        files: Mapping[str, tuple[str, str] | None] | None = None,
        language: str = "en",
        licence: str = "not stated",
        views: Sequence[str] = ("full",),
        printed: str = "",
    ) -> None:
        if not name.replace("_", "a").isalnum():
            raise SpecError(f"{name!r} cannot name a study", hint="use letters, digits and _")
        self.name, self.title, self.task, self.scale = name, title, task, scale
        self.citations = (citation,) if isinstance(citation, str) else tuple(citation)
        self.language, self.licence, self.views = language, licence, tuple(views)
        # the file that defines the study: its data files are searched next to it
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        self.home = Path(frame.f_back.f_code.co_filename).parent
        self.printed = self.home / printed if printed else None
        self.files = files or {}
        self.asked: list[Asked] = []
        self.load: Load | None = None
        self.settings_type: type[Settings] = Settings

    def __repr__(self) -> str:
        return f"Study({self.name}: {counted(len(self.asked), 'question')})"

    # -- what the file of a study says ----------------------------------------------------------------------------

    def data(self, load: Load) -> Load:
        """Mark the function that yields items and recorded answers; it gets the paths of the files, in their order."""
        if len(inspect.signature(load).parameters) != len(self.files):
            what = f"the data function of {self.name} takes other files than the study has: {', '.join(self.files)}"
            raise SpecError(what, hint="it needs one argument for each file, in their order")
        self.load = load
        return load

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
    ) -> Callable[[Answer], Answer]:
        """Mark the function that answers a question.

        *place* is where the paper asks it; *needs* is what must be there (``ratings``, ``norms``, ``models``,
        ``layers``): without it the report gives the reason for the missing answer.
        """
        needed = (needs,) if isinstance(needs, str) else tuple(needs)

        def add(answer: Answer) -> Answer:
            question = Question(f"Q{len(self.asked) + 1}", text, place, analysis)
            self.asked.append(Asked(question, needed, answer))
            return answer

        return add

    @property
    def SETTINGS(self) -> type[Settings]:  # noqa: N802 (what the catalog asks of every study)
        """The class of the study's settings."""
        return self.settings_type

    @property
    def QUESTIONS(self) -> tuple[Question, ...]:  # noqa: N802 (as above)
        """The questions, in order."""
        return tuple(one.question for one in self.asked)

    # -- running it -----------------------------------------------------------------------------------------------

    def dataset(self) -> Dataset:
        """Load the study's data. Errors: those of its files and of the data function."""
        if self.load is None:
            raise SpecError(f"the study {self.name} has no data", hint="mark a function with @study.data")
        paths, files = self._located()
        return dataset_of(self.load(*paths), self._card(tuple(file for file, _ in files)), files)

    def settings_for(self, **given: Any) -> Settings:
        """Return the study's settings with these values. Errors: :class:`InputError` for one that it does not have."""
        return self.settings_type.of({"study": self.name, **given})

    def run(
        self,
        settings: Settings | None = None,
        out: Path | str = "",
        *,
        progress: CollectProgress | None = None,
        command: str = "",
        **given: Any,
    ) -> Summary:
        """Run the study into the folder *out* and return its summary; a finished run is not computed again.

        *given* are settings by name, if no *settings* are given: ``subjects=("encoder:minilm",)``.
        Errors: those of the data, the subjects and the questions, :class:`RunError` for a folder of another run.
        """
        chosen = settings or self.settings_for(**given)
        folder = Path(out or f"{self.name}_run")

        def compute(place: Path) -> Computed:
            return self._computed(place, chosen, progress)

        return run_study(chosen, folder, compute, self._overview, given=self._given(), command=command)

    def _data(self, settings: Settings) -> Dataset:
        """The study's data, or the dataset that the settings name: the same questions of other items."""
        if not settings.dataset:
            return self.dataset()
        card = catalog.card(settings.dataset)
        if card.task != self.task:
            what = f"the study {self.name} asks {self.task}; the dataset {settings.dataset} has items of {card.task}"
            raise SpecError(what, hint="name a dataset of this task: see `lexiscope list datasets`")
        return catalog.dataset(settings.dataset)

    def _computed(self, folder: Path, settings: Settings, progress: CollectProgress | None) -> Computed:
        data = self._data(settings)
        answers = self._live(data, settings, folder, progress)
        run = Run(data, answers, settings)
        parts = _with_own_names({one.question.question_id: self._answered(one, run) for one in self.asked})
        records = with_published(marked_records(parts, self.QUESTIONS, settings), self._printed(settings))
        meanings = {parse_statistic(record.statistic)[0]: words_of(record.statistic) for record in records}
        every = ResponseTable.concat([data.responses, answers])
        handed = Exported(data.card.name, every, data.card, data.checksums, meanings)
        sections = tuple(
            Section(
                question.question_id.lower(), question.text, parts[question.question_id].paragraphs,
                parts[question.question_id].tables, parts[question.question_id].figures, flag=question.analysis,
            )
            for question in self.QUESTIONS
        )  # fmt: skip
        about = card_section(data.card)
        ethics = (f"Ethics: {settings.ethics}",) if settings.ethics else ()
        counts = {"items": len(data.items), "responses": len(every), "words": len({i.word for i in data.items})}
        report = Report(
            settings.title or self.title,
            language="en",
            sections=(replace(about, paragraphs=(*about.paragraphs, *ethics)), *sections),
            run=about_run(settings, data=dict(data.checksums), counts=counts, given=self._given()),
            records=records,
            citations=self.citations,
        )
        return Computed(report, every, parts, export(folder, handed, settings.outputs), meanings)

    def _answered(self, asked: Asked, run: Run[Any]) -> Part:
        missing = [what for what in asked.needs if not run.has(what)]
        if missing:
            return Part(paragraphs=(f"Not answered: the run has no {' and no '.join(missing)}.",))
        results, figures, tables, texts = _sorted_out(asked, flat(asked.answer(run)))
        records = tuple(record for result in results for record in result.records())
        said = tuple(sentence(result) for result in results[:_SENTENCES])
        name = asked.answer.__name__
        own = (results_table(name, asked.question.text, results),) if results else ()
        if not figures:
            # every layer's number is in the report: in a figure, unless the question draws one itself
            layered = [one for one in results if isinstance(one, Curves)]
            figures = tuple(one.plot() for one in layered if any(isinstance(each, Curve) for each in one.entries))
        remarks = tuple(one.reason for one in results if isinstance(one, Undefined))
        return Part(records, (*own, *tables), figures, (*texts, *said), remarks)

    def _live(self, data: Dataset, settings: Settings, folder: Path, progress: CollectProgress | None) -> ResponseTable:
        live = live_subjects(settings.subjects, settings)
        if not live:
            return ResponseTable.empty()
        return collect(
            data.items, live, self.task, views=self.views, out=folder / _LIVE, seed=settings.seed, progress=progress
        )

    def _overview(self, records: tuple[Record, ...]) -> Table:
        marks = [record for record in records if record.layer is None and record.value is not None]
        first = dict.fromkeys(record.question for record in marks)
        rows = [_Shown((record,)) for question in first for record in [r for r in marks if r.question == question][:4]]
        return results_table("overview", self.title, rows)

    def _printed(self, settings: Settings) -> tuple[PublishedValue, ...]:
        # what a paper prints is of its own data
        return printed_values(self.printed, dataset=self.name) if self.printed and not settings.dataset else ()

    def _given(self) -> dict[str, str]:
        """The checksums of the study's own files: another text of them is another run."""
        return {path.name: sha256_of(path) for path in (self.printed,) if path is not None}

    def _card(self, files: tuple[DataFile, ...]) -> DatasetCard:
        summary = inspect.getdoc(self.load) or self.title
        return card_of(
            self.name, title=self.title, task=self.task, scale=self.scale, language=self.language,
            licence=self.licence, citation=self.citations[0], files=files, summary=summary,
        )  # fmt: skip

    def _located(self) -> tuple[tuple[Path, ...], tuple[tuple[DataFile, str], ...]]:
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
class _Shown(Result):
    """Records of a finished run, as a row of the overview."""

    given: tuple[Record, ...]

    def records(self) -> tuple[Record, ...]:
        """Return them as they are."""
        return self.given


def _with_own_names(parts: Mapping[str, Part]) -> dict[str, Part]:
    """The parts with names of tables and figures that occur once: two questions may draw the same statistic."""
    used: set[str] = set()

    def named(one: Shown, question_id: str) -> Shown:
        name = one.name if one.name not in used else f"{question_id.lower()}_{one.name}"
        used.add(name)
        return replace(one, name=name)

    return {
        question_id: replace(
            part,
            tables=tuple(named(table, question_id) for table in part.tables),
            figures=tuple(named(figure, question_id) for figure in part.figures),
        )
        for question_id, part in parts.items()
    }


def _sorted_out(
    asked: Asked, given: Sequence[object]
) -> tuple[tuple[Result, ...], tuple[Figure, ...], tuple[Table, ...], tuple[str, ...]]:
    """What a question returned, by kind. Errors: :class:`SpecError` for anything else: it would be lost."""
    for one in given:
        if not isinstance(one, Result | Figure | Table | str):
            what = f"the question {asked.answer.__name__} returns {type(one).__name__}"
            raise SpecError(what, hint="return results, figures, tables or sentences, or sequences of them")
    return (
        tuple(one for one in given if isinstance(one, Result)),
        tuple(one for one in given if isinstance(one, Figure)),
        tuple(one for one in given if isinstance(one, Table)),
        tuple(one for one in given if isinstance(one, str)),
    )
