"""Read a study from the disk: from its file before the launch, from its folder after it.

At the launch the study file, the item file and the list that is searched are copied into the folder, byte for byte, so
that the folder is complete wherever it is moved to.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lexiscope.annotation.store.backup import HALF_KEY_NAME, KEY_NAME, copy_database
from lexiscope.annotation.store.engine import DATABASE_NAME, FILE_ERRORS, StorageError, has_log
from lexiscope.annotation.store.files import damaged_database_error, is_launched, missing_database_error, opening_error
from lexiscope.annotation.store.mark import MARK_NAME, LogMark
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.definition_file import DefinitionFile, read_definition
from lexiscope.annotation.study_file.freeze import FrozenStudy, freeze
from lexiscope.annotation.study_file.items import study_items
from lexiscope.annotation.study_file.row_check import RowCheck
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.run import write_atomically

FILE_NAME = "study.yaml"
_ITEMS, _SEARCH = "items", "search"


@dataclass(frozen=True, slots=True)
class StudyOnDisk:
    """A study with its definition file, its items, its folder, and the file that is searched (if the task searches)."""

    file: DefinitionFile
    items: tuple[Item, ...]
    folder: Path
    search: Path | None = None

    @property
    def definition(self) -> StudyDefinition:
        """The study's definition."""
        return self.file.definition

    def freeze(self) -> FrozenStudy:
        """Freeze the study (errors as in :func:`lexiscope.annotation.study_file.freeze.freeze`)."""
        return freeze(self.definition, self.items)


def default_folder(file: Path) -> Path:
    """Return the folder for the answers of a study file, if no other folder is named.

    >>> default_folder(Path("norms.yaml")).name
    'norms'
    """
    return file.with_suffix("")


def read_study(path: Path, folder: Path | None = None) -> StudyOnDisk:
    """Read a study from its file, or from the folder in which it runs.

    Errors: :class:`InputError` E001 if neither exists, or the folder is not a study's; those of the file and its items.
    """
    if not path.is_dir():
        if not path.is_file():
            hint = "Name the study file, or the folder in which the study runs."
            raise InputError("File not found.", code="E001", place=Place(str(path)), hint=hint)
        file = read_definition(path)
        search = Path(file.definition.search) if file.definition.search else None
        return StudyOnDisk(file, study_items(file.definition), folder or default_folder(path), search)
    if not (path / FILE_NAME).is_file():
        what = "No study was launched in this folder."
        hint = f"Name the study file, or a folder with {FILE_NAME}."
        raise InputError(what, code="E001", place=Place(str(path)), hint=hint)
    file = read_definition(path / FILE_NAME)
    kept = {name: next(iter(sorted(path.glob(f"{name}.*"))), None) for name in (_ITEMS, _SEARCH)}
    if file.definition.items and kept[_ITEMS] is None:
        raise InputError("The copy of the item file is missing.", code="E001", place=Place(str(path / f"{_ITEMS}.*")))
    own = {"items": str(kept[_ITEMS])} if file.definition.items else {}
    # the definition itself stays as it was launched: the store compares it letter by letter
    items = study_items(file.definition.model_copy(update=own))
    return StudyOnDisk(file, items, path, kept[_SEARCH])


def copy_inputs(study: StudyOnDisk) -> None:
    """Copy the study file, the item file and the searched list into the folder; what is there already stays."""
    definition = study.definition
    wanted = {FILE_NAME: Path(study.file.source.path)}
    for name, source, suffix in ((_ITEMS, definition.items, ".csv"), (_SEARCH, definition.search, ".tsv")):
        if source:
            wanted[f"{name}{Path(source).suffix or suffix}"] = Path(source)
    for name, path in wanted.items():
        if not (study.folder / name).exists():
            write_atomically(study.folder / name, path.read_bytes())


@contextmanager
def open_snapshot(
    study: FrozenStudy, folder: Path, *, url: str | None = None, checked: bool = True, check_later: bool = False
) -> Iterator[Store]:
    """Open a temporary copy of a study's store, whether or not its server runs.

    A PostgreSQL study needs no copy: it is read as it was at one moment. Without *checked*, a database that can be read
    opens although its content has problems. With *check_later* the rows of a large one remain to be checked, as
    :func:`open_large_snapshot` does. Errors: :class:`InputError` E001 where no study was launched in the folder;
    :class:`DatabaseLostError` and :class:`DamagedError`, which name the way back; those of the store.
    """
    check_launched(folder, url=url)
    if url is not None:
        with Store.open(folder, study.record, url=url, has_place=study.has_place) as store:
            store.hold_still()
            yield store
        return
    with tempfile.TemporaryDirectory(prefix="lexiscope-") as name:
        copy = Path(name)
        try:
            _copy_study(folder, copy)
        except FILE_ERRORS as error:
            raise opening_error(error, folder) from error
        with Store.open(
            copy,
            study.record,
            has_place=study.has_place,
            copy_of=folder,
            checked=checked,
            check_later=check_later,
            unsafe_fast=True,
        ) as store:
            yield store


@contextmanager
def open_large_snapshot(
    study: FrozenStudy, folder: Path, *, url: str | None = None
) -> Iterator[tuple[Store, Callable[[], None]]]:
    """Open a temporary copy of a study's store as :func:`open_snapshot`, whose rows are checked while it is read.

    What was read is given away only after the function that comes with the store, which waits for the check.
    Errors: as there; those of the function are :class:`DamagedError`, and :class:`StorageError` where the check ended
    without an answer.
    """
    with open_snapshot(study, folder, url=url, check_later=True) as store, ExitStack() as held:
        check = held.enter_context(RowCheck(study, store.folder)) if store.check_is_due else None

        def confirm() -> None:
            if check is None or not store.check_is_due:
                return
            try:
                problem = check.wait()
            except EOFError as error:
                raise StorageError("the check of the rows ended before it was done", hint="try again") from error
            if problem:
                raise damaged_database_error(folder, problem)
            store.record_check("")

        try:
            yield store, confirm
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # rows that no store wrote may stop what reads them
            confirm()
            raise


def check_launched(folder: Path, *, url: str | None = None) -> None:
    """Check that a study was launched in a folder and that its database is there.

    Errors: :class:`InputError` E001; :class:`DatabaseLostError`.
    """
    lost = missing_database_error(folder) if url is None else None
    if lost is not None:
        raise lost
    if not is_launched(folder) and not (folder / DATABASE_NAME).exists():
        hint = "Start it first: lexiscope annotate serve."
        raise InputError(
            "This study was not launched yet.", code="E001", place=Place(str(folder / DATABASE_NAME)), hint=hint
        )


def _copy_study(folder: Path, copy: Path) -> None:
    """Copy key, mark and database; copy again if a server opened or closed the study meanwhile."""
    database = folder / DATABASE_NAME
    for _ in range(3):
        mark, running = LogMark.read(folder), has_log(database)
        # the key and the mark before the database, which must hold what they say
        for name in (KEY_NAME, HALF_KEY_NAME, MARK_NAME):
            if (folder / name).exists():
                (copy / name).touch(mode=0o600)
                (copy / name).write_bytes((folder / name).read_bytes())
        copy_database(database, copy / DATABASE_NAME)
        if has_log(database) == running and (mark is None or not mark.rows or LogMark.read(folder) == mark):
            return
