"""Run folders at an address of fsspec (``s3://bucket/run``): a working copy here, finished files there.

An object store has whole objects, no rename and no lock. A run is therefore computed in a working copy on this machine.
Each finished part is sent as two objects, its answers before its seal; ``run.json`` is sent last, and removed before
anything that it names is replaced. A part that its seal does not fit is asked and sent again.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from lexiscope.core.errors import InputError, Place, RunError, require
from lexiscope.core.run import folder_lock, folder_of, is_address, plain_address, sha256_of
from lexiscope.core.sealed import MACHINE, PARTS, QUESTION, RUN, collected_names, read_sealed

LOG = logging.getLogger(__name__)
_CHUNK = 2**20


class WorkingCopy:
    """The folder in which a run is computed, and the address to which it is sent, if it has one."""

    def __init__(self, folder: Path, address: str = "") -> None:
        self.folder = folder
        self._remote = _Remote(address) if address else None

    def fetch(self) -> None:
        """Fetch what the address has of a run: its questions, and the parts that their seals fit."""
        if self._remote is not None:
            with folder_lock(self.folder):
                self._remote.fetch(self.folder)

    def send_parts(self) -> None:
        """Send the question and the parts that are finished and were not sent yet.

        Errors: :class:`RunError` if the address cannot be written to.
        """
        if self._remote is not None:
            names = [name for name in collected_names(self.folder) if _is_question(name) or _is_part(name)]
            # the answers of a part before its seal
            names.sort(key=lambda name: (_is_part(name), PurePosixPath(name).with_suffix(""), name.endswith(".json")))
            self._remote.send(self.folder, names)

    def finish(self) -> None:
        """Send what was not sent yet, the records last. Errors: those of :meth:`send_parts`."""
        if self._remote is not None:
            self.send_parts()
            records = [path.relative_to(self.folder).as_posix() for path in self.folder.rglob(RUN)]
            others = [name for name in collected_names(self.folder) if not (_is_question(name) or _is_part(name))]
            machines = [path.relative_to(self.folder).as_posix() for path in sorted(self.folder.rglob(MACHINE))]
            # the record of a sweep names those of its runs
            records.sort(key=lambda name: (-len(PurePosixPath(name).parts), name))
            self._remote.send(self.folder, [*others, *machines, *records])


@contextlib.contextmanager
def working_copy(out: str) -> Iterator[WorkingCopy]:
    """Give the folder in which a run is computed; an address is read first and written to at the end.

    If the block fails, the parts that :meth:`WorkingCopy.send_parts` sent remain at the address, and the working copy
    remains here. One command at a time may write to an address: commands on other machines are not seen.
    Errors: :class:`InputError` for an address without a driver, without a folder or with a password;
    :class:`RunError` if it cannot be read or written to; :class:`MissingExtraError`.
    """
    copy = WorkingCopy(folder_of(out), plain_address(out) if is_address(out) else "")
    copy.fetch()
    yield copy
    copy.finish()


def _is_part(name: str) -> bool:
    return PurePosixPath(name).parent.name == PARTS


def _is_question(name: str) -> bool:
    return PurePosixPath(name).name == QUESTION


class _Remote:
    """The files of a run at an address."""

    def __init__(self, address: str) -> None:
        if urlsplit(address).password:
            # the address is in every record of the run
            raise InputError("the address has a password in it", hint="give it to the driver in its own way")
        fsspec = require("fsspec", "remote")
        self._address = address
        try:
            self._files, root = fsspec.core.url_to_fs(self._address)
        except (ImportError, ValueError) as error:
            hint = "install the driver of its protocol, such as s3fs for s3://"
            what = "there is no driver for this address"
            raise InputError(what, place=Place(address), why=str(error), hint=hint) from error
        self._root = str(root).rstrip("/")
        self._sums: dict[str, str] = {}
        """The sha256 of the files that are known to be whole at the address."""
        self._records: set[str] = set()

    def fetch(self, folder: Path) -> None:
        with self._errors():
            names = self._names()
        self._records = {name for name in names if PurePosixPath(name).name == RUN}
        with tempfile.TemporaryDirectory() as made:
            for name in sorted(names):
                if _is_question(name):
                    self._fetch_sealed(name, folder, Path(made))
                elif (
                    _is_part(name)
                    and name.endswith(".json")
                    and str(PurePosixPath(name).with_suffix(".parquet")) in names
                ):
                    self._fetch_part(name, folder, Path(made))
            for name in sorted(self._records):
                record = self._read_sealed(name, Path(made))
                if record is None:
                    continue
                top = PurePosixPath(name).parent
                sums = {(top / file).as_posix(): str(sha256) for file, sha256 in record.get("files", {}).items()}
                # questions and parts were compared with their seals above
                others = {file for file in names if not (_is_question(file) or _is_part(file))}
                self._sums |= {file: sha256 for file, sha256 in sums.items() if file in others}
                self._sums[name] = sha256_of(Path(made) / RUN)

    def _fetch_part(self, name: str, folder: Path, made: Path) -> None:
        """Fetch a part that its seal fits: the answers, then the seal. A part that is here is not fetched again."""
        table = str(PurePosixPath(name).with_suffix(".parquet"))
        seal = self._read_sealed(name, made)
        if seal is None:
            return
        expected = str(seal.get("sha256"))
        if not (folder / table).is_file() or sha256_of(folder / table) != expected:
            copy = made / "answers"
            with self._errors():
                self._files.get_file(self._path(table), str(copy))
            if sha256_of(copy) != expected:
                LOG.warning("%s: not as its seal says: it is not used", self._path(table))
                return
            _replace(copy, folder / table)
        self._sums[table] = expected
        self._keep(name, folder, made)

    def _fetch_sealed(self, name: str, folder: Path, made: Path) -> None:
        if self._read_sealed(name, made) is not None:
            self._keep(name, folder, made)

    def _keep(self, name: str, folder: Path, made: Path) -> None:
        copy = made / PurePosixPath(name).name
        self._sums[name] = sha256_of(copy)
        _replace(copy, folder / name)

    def _read_sealed(self, name: str, made: Path) -> dict[str, Any] | None:
        """Return the content of a sealed file at the address, and leave a copy in *made*; ``None`` if it is damaged."""
        copy = made / PurePosixPath(name).name
        with self._errors():
            self._files.get_file(self._path(name), str(copy))
        try:
            return read_sealed(copy)
        except RunError as error:
            LOG.warning("%s: %s: it is not used", self._path(name), error.what)
            return None

    def send(self, folder: Path, names: list[str]) -> None:
        """Send the named files that are not at the address yet, in this order; each is read back and compared."""
        for name in names:
            sha256 = sha256_of(folder / name)
            if self._sums.get(name) == sha256:
                continue
            if PurePosixPath(name).name != MACHINE:
                self._withdraw_records(name)
            with self._errors():
                self._write(folder / name, self._path(name))
                actual = self._sha256_of(self._path(name))
            if actual != sha256:
                why = f"sha256 {actual}, sent was {sha256}"
                raise RunError(
                    "a file did not arrive as it was sent", place=Place(self._path(name)), why=why, hint=_AGAIN
                )
            self._sums[name] = sha256
            self._records |= {name} if PurePosixPath(name).name == RUN else set()

    def _withdraw_records(self, name: str) -> None:
        """Remove the records that name a file which is replaced: a run whose record is there is whole."""
        for top in PurePosixPath(name).parents:
            record = (top / RUN).as_posix()
            if record in self._records and record != name:
                with self._errors():
                    self._files.rm_file(self._path(record))
                self._records.discard(record)
                self._sums.pop(record, None)

    def _write(self, source: Path, path: str) -> None:
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        # what is written in a transaction appears whole, if the driver can do that
        with self._files.transaction, source.open("rb") as stream, self._files.open(path, "wb") as sent:
            shutil.copyfileobj(stream, sent, _CHUNK)

    def _sha256_of(self, path: str) -> str:
        with self._files.open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def _names(self) -> set[str]:
        self._files.invalidate_cache()
        # a prefix that has no object yet is no error
        paths = self._files.find(self._root) if self._files.exists(self._root) else []
        return {str(path)[len(self._root) + 1 :] for path in paths}

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RunError(
                "this address cannot be read or written to", place=Place(self._address), why=str(error), hint=_AGAIN
            ) from error


_AGAIN = "the same command again sends what is missing"


def _replace(source: Path, target: Path) -> None:
    """Put a file that was fetched in its place, whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    near = target.with_name(f".{target.name}.fetched")
    shutil.copyfile(source, near)
    near.replace(target)
