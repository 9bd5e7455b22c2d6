"""The check of a finished run: its checksums, then its tables and results, which are computed again."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.errors import LexiscopeError, Place, RunError
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import LOCK_NAME, missing_place, read_json, versions
from lexiscope.core.sealed import (
    MACHINE,
    NOTHING,
    PARTS,
    QUESTION,
    RESPONSES,
    RUN,
    WORK,
    ChangedFile,
    altered_files,
    collected_names,
    damage_error,
    read_sealed,
)
from lexiscope.core.settings import Settings, settings_from
from lexiscope.core.showing import counted
from lexiscope.subjects.trained._trained_folder import SEAL, seal_of

if TYPE_CHECKING:
    from lexiscope.studies.kit.study import Study

TEST = "test.json"
"""The record of a test of senses, which holds a run."""


class RunRecord(TypedDict, total=False):
    """What the check of a run reads of its sealed record; ``files`` and ``code`` are checksums by name."""

    study: str
    settings: Mapping[str, object]
    command: str
    versions: Mapping[str, str]
    files: Mapping[str, str]
    code: Mapping[str, str]
    pruned: bool


def verify_run(
    run: Path, *, only_checksums: bool = False, prepare: Callable[[Settings], None] = lambda _: None
) -> list[str]:
    """Check the checksums of a run and compute it again; return the findings, one per line.

    *prepare* is called with the settings of a study before it is run again. Nothing in the folder is changed.
    Errors: :class:`InputError` E001 where there is no such folder; :class:`RunError` where it holds no finished run,
    and naming each file that is not as it was written.
    """
    if not run.is_dir():
        raise missing_place(run, "there is no such run folder")
    records = record_files(run)
    if not records:
        hint = "name a folder that collect, study, bias, demo, build or train wrote to its end"
        raise RunError("this folder holds no finished run", place=Place(str(run)), why=f"there is no {RUN}", hint=hint)
    lines = [line for path in records for line in check_record(path)]
    lines += check_working_files(run)
    if not only_checksums:
        lines += [line for path in records for line in recombine_answers(path.parent)]
        lines += rerun_study(run, prepare)
    return [*lines, *(f"not part of the run, not checked: {name}" for name in other_files(run, records))]


def record_files(run: Path) -> list[Path]:
    """Return the records of a folder and of the runs in it, its own first."""
    paths = [path for name in (RUN, TEST) for path in run.rglob(name) if path.is_file()]
    return sorted(paths, key=lambda path: (len(path.parts), path))


def check_record(path: Path) -> list[str]:
    """Compare the files that a record names with their checksums, and the record with its seal.

    Errors: :class:`RunError` naming each that is not as it was written.
    """
    folder, record = path.parent, _read_record(path)
    if record.get("pruned"):
        return [f"{path}: whole; the weights of this training were deleted"]
    altered = altered_files(folder, record) if record.get("files") != {} else []
    if altered:
        raise damage_error(folder, record, altered)
    return [f"{path}: whole; as written: {counted(len(record['files']), 'file')}"]


def _read_record(path: Path) -> RunRecord:
    """Read a record. That of a training has another kind of seal, over its content."""
    content = read_json(path)
    if "training" not in content or "kind" not in content:
        return cast(RunRecord, read_sealed(path))
    plain = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    if SEAL not in content or content[SEAL] != seal_of(content) or path.read_text(encoding="utf-8") != plain:
        why = f"its content has the sha256 {seal_of(content)}, sealed was {content.get(SEAL)}"
        hint = "train it again, in another folder"
        raise RunError("the record of this training is damaged", place=Place(str(path)), why=why, hint=hint)
    return cast(RunRecord, content)


def check_working_files(run: Path) -> list[str]:
    """Compare the working files of a run with the checksums in ``machine.json``; it may be deleted.

    Errors: :class:`RunError` naming each file that is not as it was written.
    """
    lines = []
    for path in sorted(run.rglob(MACHINE)):
        hint = f"delete {path}: it says where and how long a run took, nothing of the result is in it"
        record = read_sealed(path, hint=hint)
        altered = altered_files(path.parent, record) if record.get("files") else []
        gone = [file for file in altered if file.actual == NOTHING]
        if len(gone) < len(altered):
            raise damage_error(path.parent, {}, [file for file in altered if file not in gone])
        number = counted(len(record.get("files", ())) - len(gone), "file")
        lines.append(f"{path}: whole; as written: {number} under {WORK}, by checksum only")
        if gone:
            lines.append(
                f"{path.parent}: {counted(len(gone), 'file')} under {WORK} were deleted: no part of the result"
            )
    return lines


def recombine_answers(folder: Path) -> list[str]:
    """Put the table of answers together from its parts, and compare the rows.

    Errors: :class:`RunError` where they differ or a part is not as it was written.
    """
    lines = []
    for question in sorted(folder.glob(f"**/{QUESTION}")):
        at = question.parent
        # a run in a folder below has a record of its own
        nearest = next((parent for parent in question.parents if (parent / RUN).is_file()), None)
        if nearest != folder or not (at / RESPONSES).is_file():
            continue
        wanted = read_sealed(question)["parts"]
        sealed = [read_sealed(path) for path in sorted((at / PARTS).glob("*.json"))]
        paths = [path.with_suffix(".parquet") for path in sorted((at / PARTS).glob("*.json"))]
        keys = [seal["key"] for seal in sealed]
        absent = [key for key in wanted if key not in keys]
        if absent:
            what = f"the answers of {absent[0]['subject']} to the view {absent[0]['view']} are missing"
            raise RunError(what, place=Place(str(at / PARTS)), hint="give the command again that made this folder")
        _compare_rows(at / RESPONSES, [paths[keys.index(key)] for key in wanted])
        lines.append(f"{at / RESPONSES}: put together again from {counted(len(wanted), 'part')}, the same rows")
    return lines


def _compare_rows(path: Path, parts: Sequence[Path]) -> None:
    """Compare a table with the rows of its parts, of which one is held at a time."""
    # not the bytes: another version of Arrow writes the same rows with others, and both files have their checksums
    table, start = ResponseTable.read_parquet(path), 0
    for part in map(ResponseTable.read_parquet, parts):
        end = min(start + len(part), len(table))
        if table.take(np.arange(start, end)) != part:
            break
        start = end
    else:
        if start == len(table):
            return
    why = "put together again from the parts, it has other rows, although each file has its checksum"
    hint = "give the command again that made this folder"
    raise RunError("this table does not hold the answers of its parts", place=Place(str(path)), why=why, hint=hint)


def rerun_study(run: Path, prepare: Callable[[Settings], None]) -> list[str]:
    """Run a study again on the answers that it collected, and compare every file.

    Errors: :class:`RunError` naming each file that came out otherwise with the same versions of the same libraries.
    """
    record = cast(RunRecord, read_json(run / RUN) if (run / RUN).is_file() else {})
    if "study" not in record or "settings" not in record:
        return [] if not record else [f"{run}: no study; its other files were compared by checksum only"]
    then, now = record["versions"], versions()
    differing = [name for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
    again, why = _rerun_copy(run, record, prepare)
    if why:
        return [f"{run}: compared by checksum only; the study could not be run again: {why}"]
    files: Mapping[str, str] = record["files"]
    other = [ChangedFile(name, files[name], again.get(name, NOTHING)) for name in files]
    other = [file for file in other if file.actual != file.expected]
    if not other:
        number = counted(len(files), "file")
        return [f"{run}: the study {record['study']} was run again on its answers: {number}, identical"]
    if differing:
        how = ", ".join(f"{name} {then.get(name)} → {now.get(name)}" for name in differing)
        names = ", ".join(file.name for file in other)
        return [f"{run}: run again with other versions ({how}), these files come out otherwise: {names}"]
    raise RunError("\n".join([f"{run}: run again on its answers, these files come out otherwise", *map(str, other)]))


def _rerun_copy(run: Path, record: RunRecord, prepare: Callable[[Settings], None]) -> tuple[Mapping[str, str], str]:
    """Return the checksums of the files of a study that is run again in a copy, and why it could not be run, if so."""
    with tempfile.TemporaryDirectory(prefix="lexiscope-verify-") as place:
        again = Path(place) / run.resolve().name
        # its own results stay behind: nothing of them can be taken for what is computed now
        shutil.copytree(run, again, ignore=_ignore_results(run, record))
        try:
            changed = [
                name
                for name, sha256 in record.get("code", {}).items()
                if catalog.code_checksums([name]).get(name) != sha256
            ]
            if changed:
                return {}, f"{changed[0]} is not the file that the run used (sha256 {record['code'][changed[0]]})"
            settings = settings_from(catalog.settings(record["study"]), record["settings"])
            prepare(settings)
            study = cast("Study", catalog.study(settings.study))
            study.run(settings, again, command=record["command"])
        except (LexiscopeError, TypeError, OSError) as error:
            return {}, str(error).splitlines()[0]
        return cast(RunRecord, read_sealed(again / RUN))["files"], ""


def _ignore_results(run: Path, record: RunRecord) -> Callable[[str, list[str]], list[str]]:
    own = {*record["files"], RUN, MACHINE} - set(collected_names(run))

    def leave_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if (Path(folder) / name).relative_to(run).as_posix() in own or name == LOCK_NAME]

    return leave_out


def other_files(run: Path, records: Sequence[Path]) -> list[str]:
    """Return the names of the files that no record names: the user's own."""
    known = {path.resolve() for path in (*records, *run.rglob(MACHINE))}
    for path in (*records, *run.rglob(MACHINE)):
        known |= {(path.parent / name).resolve() for name in read_json(path).get("files") or ()}
    files = (path for path in sorted(run.rglob("*")) if path.is_file() and path.name != LOCK_NAME)
    return [path.relative_to(run).as_posix() for path in files if path.resolve() not in known]
