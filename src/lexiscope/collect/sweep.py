"""Sweeps: many models, datasets, views and seeds in one YAML file and one folder.

Each dataset with each seed is a run in a separate folder below the folder of the sweep, with the files that a single
collection writes. The plan is computed from the file at each start; what is sealed already is read, what is missing is
asked. The replies of endpoints are kept once for all runs, in ``work/``. The folder's ``run.json`` names the runs and
has the sha256 of all their files.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lexiscope.collect import (
    CollectProgress,
    SubjectsFailed,
    SweepShare,
    check_no_sweep,
    collect_run,
    knows_no_seed,
    planned_parts,
)
from lexiscope.collect.costs import CollectionCost, collection_costs, limit_remarks
from lexiscope.core import catalog
from lexiscope.core.code_file import existing_file
from lexiscope.core.errors import InputError, LexiscopeError, Place, RunError
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import folder_lock, read_json, versions
from lexiscope.core.scale import Scale
from lexiscope.core.sealed import QUESTION, RUN, WORK, read_sealed, run_names, seal_run, write_machine
from lexiscope.core.showing import counted
from lexiscope.core.spec import plain_name
from lexiscope.items.arrange.view_names import GUESSED_WORD, VIEW_NAMES
from lexiscope.items.read.item_source import ItemSource, column_map, load_items, task_of_items
from lexiscope.resources.tables.yaml_source import YamlSource, fault_error, read_yaml
from lexiscope.subjects._answer_log import ANSWERS, gather_logs

_COMMENTS = {
    "data": "the datasets or item files, one entry each: - items: mini_relatedness",
    "data.items": "a dataset (lexiscope list datasets) or a file of items",
    "data.scale": "lowest and highest rating of the people of a file: [1, 7]",
    "subjects": "the models or baselines to ask: [encoder:minilm]",
    "views": f"some of {', '.join((*VIEW_NAMES, GUESSED_WORD))}",
    "seeds": "whole numbers from 0",
}


class SweptData(BaseModel):
    """Items of a sweep: those of ``lexiscope collect`` with its options, and the name of their folders.

    ``subjects``, if there are any, are asked about these items in place of those of the file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    items: str = Field(min_length=1)
    name: str = Field(default="", pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*)?$")
    task: str = ""
    language: str = ""
    columns: dict[str, str] = {}
    scale: tuple[float, float] | None = None
    subjects: tuple[str, ...] = ()


class _SweepFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    data: tuple[SweptData, ...] = Field(min_length=1)
    subjects: tuple[str, ...] = Field(min_length=1)
    views: tuple[str, ...] = Field(default=("full",), min_length=1)
    seeds: tuple[int, ...] = Field(default=(0,), min_length=1)


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a sweep: its folder below that of the sweep, and what is asked of which subjects."""

    folder: str
    data: SweptData
    source: ItemSource
    task: str
    subjects: tuple[str, ...]
    views: tuple[str, ...]
    seed: int

    @property
    def record(self) -> dict[str, object]:
        """What the record of the sweep says of this run."""
        return {
            "folder": self.folder,
            "items": self.data.items,
            "task": self.task,
            "subjects": list(self.subjects),
            "views": list(self.views),
            "seed": self.seed,
        }

    def settings(self) -> dict[str, object]:
        """Return the settings that ``lexiscope collect`` records of the same run."""
        data = self.data
        return {
            "items": data.items,
            "language": data.language,
            "columns": [f"{part}={column}" for part, column in data.columns.items()],
            "scale": None if data.scale is None else str(Scale.between(*data.scale)),
        }


@dataclass(frozen=True, slots=True)
class Sweep:
    """The runs of a sweep in order, and the sha256 of its file."""

    runs: tuple[PlannedRun, ...]
    sha256: str


def read_sweep(path: Path | str, *, with_options: Callable[[str], str] = str) -> Sweep:
    """Read a sweep and the items that it names; nothing is asked.

    *with_options* completes the spec of each subject. Errors: :class:`InputError` with file, line and column: E611 for
    an unknown name, E612 for a value, E613 for what is missing, those of
    :func:`~lexiscope.resources.tables.yaml_source.read_yaml`; those of
    :func:`~lexiscope.items.read.item_source.load_items`.
    """
    existing_file(str(path))
    source = read_yaml(path)
    try:
        read = _SweepFile.model_validate(source.content)
    except ValidationError as error:
        raise fault_error(source, error.errors()[0], _SweepFile, _COMMENTS) from error
    _check_values(source, read)
    runs: list[PlannedRun] = []
    names: dict[str, int] = {}
    for number, data in enumerate(read.data):
        task = task_of_items(data.items, data.task or None)
        name = data.name or re.sub(r"[^A-Za-z0-9._-]+", "-", f"{Path(plain_name(data.items)).stem}-{task}")
        if name.casefold() in names:
            what = f"the folder {name} is that of entry {names[name.casefold()] + 1}, too"
            place = source.place(("data", number, "items"))
            raise InputError(what, code="E612", place=place, hint="give the entry a name: name: short_name")
        names[name.casefold()] = number
        scale = None if data.scale is None else Scale.between(*data.scale)
        items = load_items(data.items, column_map(data.columns), task=task, language=data.language, scale=scale)
        subjects = tuple(with_options(spec) for spec in data.subjects or read.subjects)
        runs += [PlannedRun(f"{name}-seed{seed}", data, items, task, subjects, read.views, seed) for seed in read.seeds]
    return Sweep(tuple(runs), hashlib.sha256(Path(path).read_bytes()).hexdigest())


def _check_values(source: YamlSource, read: _SweepFile) -> None:
    """Check what the schema cannot know: the names of views, and values that are given twice."""
    raw = source.content.get("seeds", ())
    for number, value in enumerate(raw if isinstance(raw, list) else ()):
        if isinstance(value, bool):
            place = source.place(("seeds", number))
            raise InputError(
                f"a seed cannot be {str(value).lower()}", code="E612", place=place, hint=_COMMENTS["seeds"]
            )
    for key, values in (("views", read.views), ("seeds", read.seeds), ("subjects", read.subjects)):
        for number, value in enumerate(values):
            place = source.place((key, number))
            if value in values[:number]:
                raise InputError(f"{value} is given twice", code="E612", place=place, hint="keep one of them")
            if key == "views" and value not in (*VIEW_NAMES, GUESSED_WORD):
                raise InputError(f"there is no view {value!r}", code="E612", place=place, hint=_COMMENTS[key])
            if isinstance(value, int) and value < 0:
                raise InputError(f"a seed cannot be {value}", code="E612", place=place, hint=_COMMENTS[key])


def sweep_plan(sweep: Sweep, *, out: Path) -> list[dict[str, object]]:
    """Return one row per part of a sweep: its folder, items, task, seed, subject, view, and whether it is finished.

    Errors: those of :func:`~lexiscope.collect.collect` before any work starts.
    """
    rows: list[dict[str, object]] = []
    for run in sweep.runs:
        items, home = run.source.items, out / run.folder
        about = {"folder": run.folder, "items": run.data.items, "n_items": len(items), "task": run.task}
        sums = run.source.checksums
        planned = planned_parts(items, run.subjects, run.task, out=home, views=run.views, seed=run.seed, checksums=sums)
        for part in planned:
            rows.append({**about, "seed": run.seed, **part})
    return rows


def sweep_costs(sweep: Sweep, *, out: Path) -> list[list[CollectionCost]]:
    """Return what each run of a sweep would cost, part by part in the order of :func:`sweep_plan`.

    Local models are timed on a few items; nothing is sent or written.
    Errors: those of :func:`~lexiscope.collect.costs.collection_costs`.
    """
    _check_place(sweep, out)
    plan = iter(sweep_plan(sweep, out=out))
    parts = [[(spec, view, next(plan)) for spec in run.subjects for view in run.views] for run in sweep.runs]
    # a subject that knows no seed is asked in one run of its items: in one that is finished, else in the first
    asked_in: dict[tuple[int, object, str], str] = {}
    for is_finished in (True, False):
        for run, own_parts in zip(sweep.runs, parts, strict=True):
            for _, view, row in own_parts:
                if row["finished"] is is_finished:
                    asked_in.setdefault((id(run.data), row["subject"], view), run.folder)
    sent: dict[str, set[str]] = {}
    costs: list[list[CollectionCost]] = []
    for run, own_parts in zip(sweep.runs, parts, strict=True):
        own: list[CollectionCost] = []
        for spec, view, row in own_parts:
            subject, home = catalog.subject(spec), asked_in[id(run.data), row["subject"], view]
            if knows_no_seed(subject) and home != run.folder:
                about = (str(row["subject"]), run.task, view, len(run.source.items))
                own.append(CollectionCost(*about, assumption=f"Nothing is asked: the answers of {home} are used."))
                continue
            own += collection_costs(
                run.source.items,
                [subject],
                run.task,
                (view,),
                seed=run.seed,
                out=out / run.folder,
                work=out / WORK,
                sent=sent,
            )
        costs.append(own)
    return costs


def sweep_limit_remarks(sweep: Sweep, costs: Sequence[Sequence[CollectionCost]], *, out: Path) -> list[str]:
    """Return a sentence for each subject whose limits do not allow all that the sweep would send."""
    specs = dict.fromkeys(spec for run in sweep.runs for spec in run.subjects)
    return limit_remarks([catalog.subject(spec) for spec in specs], [cost for own in costs for cost in own], out / WORK)


def run_sweep(
    sweep: Sweep,
    *,
    out: Path,
    command: Sequence[str] = (),
    settings: Mapping[str, object] | None = None,
    progress: CollectProgress | None = None,
    finished: Callable[[PlannedRun, ResponseTable], None] = lambda run, table: None,
    part_finished: Callable[[], None] | None = None,
) -> None:
    """Collect every run of a sweep in its folder below *out*, then write ``run.json`` of the sweep.

    All parts are checked before the first is asked, also against the run folders that are there. A subject that fails
    keeps no other run and subject from being asked. Runs share the replies of endpoints (``work``): no request is sent
    twice, and limits of a subject hold for all runs. A subject that knows no seed is asked once for all seeds.
    *finished* is called with each run and its answers, also if they were kept; *part_finished* when another part is
    there. *settings* are added to those of each run.
    Errors: those of :func:`~lexiscope.collect.collect_run`; :class:`RunError` in the end that names each failure.
    """
    begun = time.monotonic()
    _check_place(sweep, out)
    sweep_plan(sweep, out=out)
    failures: list[str] = []
    with folder_lock(out):
        gather_logs([out / run.folder / WORK / ANSWERS for run in sweep.runs], out / WORK / ANSWERS)
        for run in sweep.runs:
            others = [(out / other.folder, other.seed) for other in sweep.runs if other.data is run.data]
            try:
                table = collect_run(
                    run.source.items,
                    run.subjects,
                    run.task,
                    out=out / run.folder,
                    views=run.views,
                    seed=run.seed,
                    command=command,
                    settings={**run.settings(), **(settings or {})},
                    checksums=run.source.checksums,
                    progress=progress,
                    finished=part_finished,
                    shared=SweepShare(out / WORK, others),
                )
            except SubjectsFailed as failed:
                failures += [_failure(run, name, error) for name, error in failed.errors.items()]
            except RunError as error:
                failures.append(_failure(run, "", error))
            else:
                finished(run, table)
        if failures:
            raise RunError(
                f"{counted(len(failures), 'part')} of this sweep could not be asked; all others were",
                place=Place(str(out)),
                why="; ".join(failures),
                hint="mend what is named, or leave the subject out of the file, and run the same command again: "
                "the answers so far are kept",
            )
        names = [f"{run.folder}/{name}" for run in sweep.runs for name in (*run_names(out / run.folder), RUN)]
        runs = [run.record for run in sweep.runs]
        record = {"command": list(command), "sweep": {"sha256": sweep.sha256, "runs": runs}, "versions": versions()}
        seal_run(out, record, names)
        write_machine(out, time.monotonic() - begun)


def _failure(run: PlannedRun, subject: str, error: LexiscopeError) -> str:
    who = f"{subject} on " if subject else ""
    told = f"{error.what} ({error.why})" if error.why else error.what
    return f"{who}{run.data.items} in the run folder {run.folder}: {told}"


def _check_place(sweep: Sweep, out: Path) -> None:
    """Check that a sweep does not replace the record of a single run, nor a run of the sweep that of another sweep.

    Errors: :class:`RunError`.
    """
    is_run = (out / QUESTION).is_file() or ((out / RUN).is_file() and "sweep" not in read_json(out / RUN))
    if is_run:
        what = "this is the folder of a single run: a sweep would replace its record"
        raise RunError(what, place=Place(str(out)), hint="name another folder for the sweep")
    for run in sweep.runs:
        check_no_sweep(out / run.folder)


def swept_folders(folder: Path) -> list[Path]:
    """Return the run folders of a sweep in its order; none for the folder of anything else.

    Errors: :class:`RunError` if the record of the sweep is damaged.
    """
    if not (folder / RUN).is_file() or "sweep" not in read_json(folder / RUN):
        return []
    return [folder / run["folder"] for run in read_sealed(folder / RUN)["sweep"]["runs"]]
