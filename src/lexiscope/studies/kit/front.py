"""What a researcher calls in a notebook: run a study, analyse ratings, compare two results of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, cast

from lexiscope.analysis.ratings import Ratings
from lexiscope.collect import CollectProgress, ask, live_subjects
from lexiscope.core import catalog
from lexiscope.core.code_file import existing_file
from lexiscope.core.dataset import Dataset, DatasetCard
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Contrast, Estimate, Record, read_records
from lexiscope.core.run import read_json
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ItemSettings, Settings, settings_from
from lexiscope.core.showing import call_presenter, cell_progress, counted
from lexiscope.core.simulated import PARTICIPANT, TOLD_SIMULATED
from lexiscope.items.read.item_source import task_of_items
from lexiscope.report.figures import Figure
from lexiscope.report.page.stored import load
from lexiscope.report.tables import Table
from lexiscope.studies.kit.answers import ComparableAnswers, Statistic, Test
from lexiscope.studies.kit.data import own_dataset
from lexiscope.studies.kit.languages import with_language_remarks
from lexiscope.studies.kit.rated_file import holds_items, read_rated_file
from lexiscope.studies.kit.ratings_file import responses_in
from lexiscope.studies.kit.run import Run
from lexiscope.studies.kit.settings_file import settings_of_run
from lexiscope.studies.kit.study import Study
from lexiscope.tasks import DEFAULT

_OWN = "ratings"
"""The name of ratings that come from no file and no dataset."""
_WITH_ITEMS, _NO_ITEMS = "these ratings come with their items", "leave items out, or give a table of ratings"

# -- studies --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StudyRun:
    """A finished run of a study: where its report is, and its numbers.

    ``remarks`` are what the run has to say (a subject without answers, a run that was finished before), ``overview``
    its main results.
    """

    name: str
    report: Path
    n_records: int
    remarks: tuple[str, ...]
    overview: Table

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.report.parent

    @property
    def records(self) -> tuple[Record, ...]:
        """The numbers of the run, as ``results.json`` holds them."""
        return read_records(self.folder / "results.json")

    @property
    def responses(self) -> ResponseTable:
        """The responses of people and models from which the numbers were computed."""
        return ResponseTable.read_parquet(self.folder / "responses.parquet")

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of the report, in its order."""
        parts = (part for section in load(self.folder).sections for part in section.walk())
        return tuple(figure for part in parts for figure in part.figures)

    def frame(self) -> Any:
        """Return the numbers as a pandas table, one record a row."""
        return call_presenter("frame", self.records)

    def plot(self, name: str = "") -> Figure:
        """Return a figure of the report by its name; without a name, the first. Errors: :class:`InputError`."""
        figures = {figure.name: figure for figure in self.figures}
        if not figures or (name and name not in figures):
            what = f"the report has no figure {name!r}" if name else "the report has no figure"
            raise InputError(what, hint=f"its figures: {', '.join(figures) or 'none'}")
        return figures[name] if name else next(iter(figures.values()))

    def __repr__(self) -> str:
        return f"StudyRun({self.name}: {counted(self.n_records, 'number')}, report: {self.report})"

    def _repr_html_(self) -> str:
        link = escape(self.report.as_posix())
        remarks = "".join(f"<p>{escape(text)}</p>" for text in self.remarks)
        return f'<p>Report: <a href="{link}">{link}</a></p>{call_presenter("table_html", self.overview)}{remarks}'


def study(
    study: Study | Path | str, out: Path | str = "", *, progress: CollectProgress | None = None, **settings: Any
) -> StudyRun:
    """Run a study into the folder *out*; a finished run is not computed again.

    *study* is a study of the catalog, the path of a study's file, the path of a YAML file with its settings (as
    ``lexiscope study NAME --write-yaml FILE`` writes one), or a :class:`Study`. *settings* are settings by their names
    in that file: ``subjects=("encoder:minilm",)``, ``n_bootstrap=200``; they take the place of the file's. Without
    *out* the folder is the study's name with ``_run``.
    Errors: those of the file and of the study; :class:`InputError` for a setting that it does not have.
    """
    if isinstance(study, Study):
        asked, chosen_study = study.name, study
        chosen = study.settings_for(**_plain_settings(settings))
    else:
        asked = str(study)
        chosen = settings_of_run(asked, _plain_settings(settings))
        chosen_study = cast(Study, catalog.study(chosen.study))
    name = Path(asked).stem
    given = "".join(f", {key}={value!r}" for key, value in settings.items())
    command = f"lexiscope.study({asked!r}, out={str(out)!r}{given})"
    shown = progress or cell_progress()
    summary = chosen_study.run(chosen, Path(out or f"{name}_run"), progress=shown, command=command)
    return StudyRun(name, summary.report, summary.n_records, summary.remarks, summary.overview)


def _plain_settings(settings: Mapping[str, object]) -> dict[str, object]:
    """Return settings as a study file writes them: paths as text, and one subject as a list of one."""
    plain = {key: str(value) if isinstance(value, Path) else value for key, value in settings.items()}
    if isinstance(plain.get("subjects"), str):
        plain["subjects"] = (plain["subjects"],)
    return plain


# -- ratings --------------------------------------------------------------------------------------------------------


def analyse(
    ratings: Dataset | ResponseTable | Ratings | Path | str,
    subjects: Sequence[str] | str = (),
    *,
    items: Dataset | Sequence[Item] | Path | str | None = None,
    answers: ResponseTable | None = None,
    task: str | None = None,
    columns: Mapping[str, str] | None = None,
    language: str = "",
    scale: Scale | tuple[float, float] | None = None,
    out: Path | str | None = None,
    progress: CollectProgress | None = None,
    **settings: Any,
) -> Run[Settings]:
    """Return a run of ratings: people, norms, agreement, ceilings, mixed models, and how close models come to people.

    *ratings* are an item file with ratings, a dataset or its name, or a table of ratings: a file in any layout
    (a row per rating, a column per rater, an export of another program), a table of responses, or
    :class:`~lexiscope.analysis.ratings.Ratings`. *items* are the
    items of such a table, without which each item is a separate word and models cannot be asked. *columns* are the
    columns of a file whose names are not recognised, by field: of an item file as in :func:`~lexiscope.collect.ask`, of
    a table ``rater``, ``item``, ``rating`` and ``group`` (the word, by which items are resampled). *language* is that
    of an item file. *subjects* are asked now (``encoder:minilm``); *answers* are those of subjects asked before
    (:func:`~lexiscope.collect.ask`). *scale* is the rating scale of a file, or its two ends; *settings* are
    ``n_bootstrap``, ``seed``, ``device``, ``threads``, and how a file is written where that cannot be told from it:
    ``encoding``, ``separator``, ``decimal``, ``missing``, ``where``. A file is read as ``lexiscope analyse`` reads it:
    what was understood of it is in ``run.card.remarks``.
    Errors: those of the file, the dataset and the subjects; :class:`InputError` for a rating of an item that the items
    do not have.

    >>> from lexiscope import Ratings
    >>> run = analyse(Ratings.from_arrays(list("aabbcc"), list("ijijij"), [1, 5, 2, 4, 1, 4]))
    >>> run, run.norm.round(2).tolist()
    (Run(ratings: 2 items, 2 words, 3 participants, 0 models), [1.33, 4.33])
    """
    named = tuple(f"{field}={column}" for field, column in (columns or {}).items())
    given = _plain_settings({**settings, "subjects": subjects, "language": language or "und"})
    chosen = settings_from(ItemSettings, {"study": "analyse", "columns": named, **given})
    rated_on = Scale.between(*scale) if isinstance(scale, tuple) else scale
    data = _dataset_of_ratings(ratings, items, task, chosen, rated_on)
    known = {item.item_id for item in data.items}
    unknown = [item_id for item_id in data.responses.unique("item_id") if item_id not in known]
    if unknown:
        raise InputError(
            "a rating of an item that the items do not have",
            place=Place(item_id=unknown[0]),
            hint="give the items of these ratings: items=…",
        )
    tables = [answers] if answers is not None else []
    if chosen.subjects:
        if not all(item.usages for item in data.items):
            raise InputError("these ratings come without texts: models cannot be asked", hint="give items=…")
        live = live_subjects(chosen.subjects, chosen, task or data.card.task)
        data = with_language_remarks(data, live)
        tables.append(ask(data, live, task or data.card.task, out=out, seed=chosen.seed, progress=progress))
    return Run(data, ResponseTable.concat(tables), chosen)


def _refuse_options(what: str, options: ItemSettings, scale: Scale | None) -> None:
    """Check that no option of a file is given without a file. Errors: :class:`InputError`."""
    language = "" if options.language == "und" else options.language
    for name, value in (("a scale", scale), ("columns", options.columns), ("a language", language)):
        if value:
            raise InputError(f"{what}: it takes no {name.removeprefix('a ')}", hint=f"leave out {name}")


def _dataset_of_ratings(
    ratings: Dataset | ResponseTable | Ratings | Path | str,
    items: Dataset | Sequence[Item] | Path | str | None,
    task: str | None,
    options: ItemSettings,
    scale: Scale | None,
) -> Dataset:
    if isinstance(ratings, str | Path):
        if catalog.has("datasets", str(ratings)):
            if items is not None:
                raise InputError(
                    "these ratings come with their items", hint="leave items out, or give a table of ratings"
                )
            _refuse_options(f"{ratings} is a dataset", options, scale)
            return catalog.dataset(str(ratings))
        return _dataset_of_file(Path(ratings), items, task, options, scale)
    if isinstance(ratings, Dataset) and items is not None:
        raise InputError(_WITH_ITEMS, hint=_NO_ITEMS)
    if not isinstance(items, str | Path):
        _refuse_options("these ratings and items were read before", options, scale)
    if isinstance(ratings, Dataset):
        return ratings
    if isinstance(ratings, Ratings):
        raters = [ratings.rater_ids[code] for code in ratings.rater.tolist()]
        rated_items = [ratings.item_ids[code] for code in ratings.item.tolist()]
        about = {"subject_kind": PARTICIPANT, "task": task or DEFAULT, "measure": "rating"}
        table = {"subject_id": raters, "item_id": rated_items, "value": ratings.value, **about}
        ratings = ResponseTable.from_columns(table)
    if isinstance(items, str | Path):
        if catalog.has("datasets", str(items)):
            _refuse_options(f"{items} is a dataset", options, scale)
            items = catalog.dataset(str(items))
        else:
            name = task_of_items(str(items), task)
            items = own_dataset(items, task=name, language=options.language, scale=scale, options=options)
    return _with_items(ratings, items, task)


def _dataset_of_file(
    path: Path,
    items: Dataset | Sequence[Item] | Path | str | None,
    task: str | None,
    options: ItemSettings,
    scale: Scale | None,
) -> Dataset:
    """Return the ratings of a file with the items that it holds, or with those that are given."""
    asked = task_of_items(str(path), task)
    if holds_items(existing_file(path), asked, options):
        if items is not None:
            raise InputError(_WITH_ITEMS, hint=_NO_ITEMS)
        return own_dataset(path, task=asked, language=options.language, scale=scale, options=options, any_scale=True)
    of_file = str(items) if isinstance(items, str | Path) else ""
    read = read_rated_file(path, items=of_file, task=asked, language=options.language, scale=scale, options=options)
    if items is None or of_file:
        return read.data
    return _with_items(read.data.responses, cast(Dataset | Sequence[Item], items), task)


def _with_items(table: ResponseTable, items: Dataset | Sequence[Item] | None, task: str | None) -> Dataset:
    if items is None:
        bare = tuple(Item(name, _OWN, ()) for name in table.unique("item_id"))
        return Dataset(_card(task or DEFAULT), bare, table)
    if isinstance(items, Dataset):
        return Dataset(items.card, items.items, table, items.checksums)
    return Dataset(_card(task or DEFAULT), tuple(items), table)


def _card(task: str) -> DatasetCard:
    return DatasetCard(
        _OWN, "Ratings", task, "und", "the user's own", "", "given in Python", "", "obtain", "Ratings given in Python."
    )


# -- comparison -----------------------------------------------------------------------------------------------------


Comparable = Run[Any] | StudyRun | Dataset | ResponseTable | Path | str
"""What :func:`compare` takes answers from: a run, a finished study or its folder, a dataset, responses, their file."""


def compare(
    first: Estimate | str | Mapping[str, Any],
    second: Estimate | str | Mapping[str, Any],
    statistic: Statistic = "spearman",
    *,
    of: Comparable | None = None,
    test: Test = "bootstrap",
    resamples: int = 2000,
    seed: int = 0,
) -> Contrast:
    """Return the difference of two sides, *first* minus *second*, on the same resamples, with its interval and p.

    The sides are two estimates of :meth:`~lexiscope.studies.kit.run.Run.fit` of one run
    (``compare(*run.fit().best(2))``), or two subjects *of* a run, a finished study, its folder, a dataset, a table of
    responses or a file of ratings, each with its layer, view and conditions:
    ``compare("minilm@7", "minilm@12", "pearson", of="my_run")``, ``compare("people same_sense=True", "people
    same_sense=False", "alpha", of="ratings.csv")``. *statistic* is ``spearman``, ``pearson``, ``r_squared`` (with
    people's means), ``accuracy``, ``mean``, ``alpha``, or a function of answers and norms; *resamples* and *seed* are
    those of the run where *of* is one. *test* ``sign_flip`` or ``permutation`` reports a second test of a mean or an
    accuracy next to p, without resampling: ``compare("a", "b", "accuracy", of="my_run", test="sign_flip").test``.
    Errors: :class:`StatisticError` for results of two runs, or of none, and for an undefined statistic;
    :class:`InputError` for a side that does not exist or is several.
    """
    if of is not None:
        if isinstance(of, Run):
            return of.compare(first, second, statistic, test=test)
        if isinstance(first, Estimate) or isinstance(second, Estimate):
            raise StatisticError("an estimate has its own run", hint="leave out of, or name both sides as text")
        answers = answers_of(of)
        contrast = answers.compare(first, second, statistic, test=test, resamples=resamples, seed=seed)
        if not holds_simulated(answers.responses):
            return contrast
        note = f"simulated participants: {TOLD_SIMULATED}"
        return contrast.about(note="; ".join(filter(None, (contrast.note, note))))
    for estimate in (first, second):
        if isinstance(estimate, str | Mapping):
            raise StatisticError(f"{estimate!r} is a side of no run", hint="say of what: of=RUN")
        if not isinstance(estimate, Estimate):
            what = f"{type(estimate).__name__} is not an estimate of one model at one layer"
            raise StatisticError(what, hint="take estimate(LAYER) of a curve, or fit().best(2)")
        if not isinstance(estimate.run, Run):
            what = f"{estimate.name} does not know the items that it was computed from"
            raise StatisticError(what, hint="compare two estimates of one run: run.fit().best(2)")
    assert isinstance(first, Estimate)
    assert isinstance(second, Estimate)
    if first.run is not second.run:
        raise StatisticError(
            "these are estimates of two runs", why="the same items have to be resampled", hint="fit both in one run"
        )
    return cast(Run[Settings], first.run).compare(first, second, test=test)


def answers_of(of: StudyRun | Dataset | ResponseTable | Path | str) -> ComparableAnswers:
    """Return the responses and items of what is compared; the items of responses whose items are not known are bare.

    Errors: :class:`InputError` for a folder that is no finished run of a study, and those of the readers.
    """
    folder = of.folder if isinstance(of, StudyRun) else Path(of) if isinstance(of, Path | str) else None
    if folder is not None and (folder / "run.json").is_file():
        given = read_json(folder / "run.json").get("settings", {})
        if "study" not in given:
            what = "this is not a finished run of a study"
            raise InputError(what, place=Place(str(folder)), hint=f"name its responses: {folder / 'responses.parquet'}")
        made = cast(Study, catalog.study(given["study"]))
        responses = ResponseTable.read_parquet(folder / "responses.parquet")
        return made.answers_of(settings_from(made.SETTINGS, given), responses)
    table = of if isinstance(of, ResponseTable) else None
    if isinstance(of, Path | str) and Path(of).is_file():
        # models may be among its subjects
        table = responses_in(of)
    if table is not None:
        return ComparableAnswers(table, tuple(Item(name, _OWN, ()) for name in table.unique("item_id")))
    data = _dataset_of_ratings(cast(Dataset | Path | str, of), None, None, ItemSettings(), None)
    return ComparableAnswers(data.responses, data.items)
