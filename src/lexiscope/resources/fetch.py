"""Where published data lie, whether they are the ones that were pinned, and how they get here.

A file is searched in the folder that ``LEXISCOPE_DATA`` names, then, for a dataset that is not the package's own, at
its ``file://`` address and in the folder of the dataset's ``.py``, then in the user's cache. Every file is checked
against the sha256 of its card before it is read. A file that a sha256 pins may be at any https address:
of a repository, a release, Zenodo, OSF.

Addresses of the Hugging Face Hub (``hf://datasets/OWNER/NAME``) are those of the command ``lexiscope data get`` alone;
everything else reads the folder that it prints.
"""

from __future__ import annotations

import logging
import os
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

import platformdirs

from lexiscope.core import catalog
from lexiscope.core.dataset import DataFile, DatasetCard
from lexiscope.core.errors import DataError, Place, SpecError, require
from lexiscope.core.run import sha256_of
from lexiscope.core.subject import Progress
from lexiscope.resources.cards import ResourceCard

LOG = logging.getLogger(__name__)
VARIABLE = "LEXISCOPE_DATA"
TRIES = 3
# A server that sends more than this, or for longer, is broken: no file of the catalog comes near.
MAX_BYTES = 1 << 30
MAX_SECONDS = 1800.0
TIMEOUT_SECONDS = 30.0
_COMMIT = re.compile(r"/[0-9a-f]{40}/")
"""A commit in an address: a file without a sha256 is the publisher's as it was then."""
Card = DatasetCard | ResourceCard
Status = Literal["ok", "missing", "wrong checksum", "not pinned"]


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A data file that was found, with the sha256 of what lies there."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class FileStatus:
    """The state of one file of a dataset.

    ``ok``: there and as pinned. ``not pinned``: there, but its publisher's checksum was never seen by us.
    """

    file: DataFile
    status: Status
    path: Path | None = None
    actual: str | None = None


def cache_folder() -> Path:
    """Return the folder to which :func:`get` downloads; it is made only when something is downloaded."""
    return platformdirs.user_cache_path("lexiscope") / "data"


def data_folders() -> tuple[Path, ...]:
    """Return the folders that are searched for data files, in order."""
    named = os.environ.get(VARIABLE)
    return (Path(named), cache_folder()) if named else (cache_folder(),)


def find(file: DataFile, *, dataset: str, folder: Path | None = None) -> Path:
    """Return the path of a data file after checking its sha256 (see :func:`locate`)."""
    return locate(file, dataset=dataset, folder=folder).path


def locate(file: DataFile, *, dataset: str, folder: Path | None = None, how_to_obtain: str = "") -> FetchedFile:
    """Find a data file, check its sha256, and return both.

    With *folder* only that data folder is looked in; the first place that has the file decides. *how_to_obtain* is that
    of the card where the data cannot be downloaded: it is what to do.
    Errors: :class:`DataError` where it is missing (naming every place that was looked in) or not the pinned file.
    """
    fetched = locate_optional(file, dataset=dataset, folder=folder)
    if fetched is None:
        looked = ", ".join(map(str, _paths(file, dataset, folder)))
        get = f"run: lexiscope data get {dataset}, or " if "://" in file.url else ""
        hint = how_to_obtain or f"{get}{_by_hand(file)}"
        raise DataError(f"{dataset}: the data file {file.path} is not here", why=f"searched for {looked}", hint=hint)
    return fetched


def own_file(path: Path) -> FetchedFile:
    """Return a file of the user's own, which nothing pins, as one that was found."""
    return FetchedFile(path, sha256_of(path))


def locate_optional(file: DataFile, *, dataset: str, folder: Path | None = None) -> FetchedFile | None:
    """Find a data file like :func:`locate`, or return ``None`` where no place has it."""
    for path in _paths(file, dataset, folder):
        if path.is_file():
            return FetchedFile(path, verified_sha256(path, file, dataset=dataset))
    return None


def verified_sha256(path: Path, file: DataFile, *, dataset: str) -> str:
    """Return the sha256 of *path*, which must be the pinned one where the card pins one.

    Errors: :class:`DataError` with the expected and the actual sha256.
    """
    actual = sha256_of(path)
    if file.sha256 is not None and actual != file.sha256:
        raise DataError(
            f"{dataset}: this is not the published file {file.path}",
            place=Place(str(path)),
            why=f"sha256 expected {file.sha256}, actual {actual}",
            hint=f"move it away and run: lexiscope data get {dataset}",
        )
    return actual


def locate_all(card: Card, *, folder: Path | None = None) -> tuple[FetchedFile, ...]:
    """Find the files of a card: one that is packed and stands for all of them, or all that are not optional.

    Errors: :class:`DataError` as of :func:`locate`.
    """
    wanted = packed_files(card, folder=folder) or tuple(file for file in card.files if not file.optional)
    if card.availability == "obtain" and _missing_files(wanted, card.name, folder):
        raise _not_downloadable(card, wanted, folder)
    return tuple(locate(file, dataset=card.name, folder=folder) for file in wanted)


def packed_files(card: Card, *, folder: Path | None = None) -> tuple[DataFile, ...]:
    """Return the packed file of a resource if it lies in a data folder and its files do not; else nothing."""
    packed = card.packed if isinstance(card, ResourceCard) else ()
    if len(_missing_files(card.files, card.name, folder)) < len(card.files):
        return ()
    return tuple(file for file in packed if not _missing_files((file,), card.name, folder))[:1]


def file_states(card: Card, *, folder: Path | None = None) -> tuple[FileStatus, ...]:
    """Return the state of every file of a card, in its order; nothing is raised or downloaded."""
    files = packed_files(card, folder=folder) or card.files
    return tuple(
        _status(file, card.name, folder if card.availability != "embedded" else _embedded_folder(card))
        for file in files
    )


def get(
    card: Card,
    *,
    optional: bool = False,
    progress: Progress | None = None,
    wait: Callable[[float], object] = time.sleep,
    tries: int = TRIES,
    timeout: float = TIMEOUT_SECONDS,
) -> tuple[Path, ...]:
    """Download the missing files of a dataset into the cache, and return the paths of its files.

    With *optional* also the files that the card marks so. *progress* is called with (files done, files); *wait* with
    the seconds to pause before a failed download is tried again, at most *tries* times in all; *timeout* is how many
    seconds a server may stay silent. Two processes may do this at once.
    Errors: :class:`DataError`, which names the address, the checksums, and where to put the file by hand; nothing
    unverified is left in the cache.
    """
    folder = _embedded_folder(card) if card.availability == "embedded" else None
    files = packed_files(card) or tuple(file for file in card.files if optional or not file.optional)
    if card.availability == "obtain" and _missing_files(files, card.name, folder):
        raise _not_downloadable(card, files, folder)
    paths = []
    for done, file in enumerate(files, start=1):
        fetched = locate_optional(file, dataset=card.name, folder=folder)
        paths.append(fetched.path if fetched is not None else _download_file(file, card.name, wait, tries, timeout))
        if progress is not None:
            progress(done, len(files))
    return tuple(paths)


def _missing_files(files: tuple[DataFile, ...], dataset: str, folder: Path | None) -> list[DataFile]:
    return [file for file in files if not any(path.is_file() for path in _paths(file, dataset, folder))]


def _not_downloadable(card: Card, files: tuple[DataFile, ...], folder: Path | None) -> DataError:
    missing = _missing_files(files, card.name, folder)
    looked = ", ".join(str(path) for file in missing for path in _paths(file, card.name, folder))
    what = f"{card.name} is not here and cannot be downloaded: {card.licence}"
    return DataError(what, why=f"searched for {looked}", hint=card.how_to_obtain)


def _download_file(file: DataFile, dataset: str, wait: Callable[[float], object], tries: int, timeout: float) -> Path:
    if not file.url:
        raise DataError(f"{dataset}: the data file {file.path} has no address", hint=_by_hand(file))
    if not file.url.startswith(("https://", "http://")):
        what = f"{dataset}: the data file {file.path} is not at {file.url}"
        raise DataError(what, why="only https and http addresses are downloaded from", hint=_by_hand(file))
    if file.sha256 is None and not _COMMIT.search(file.url):
        what = f"{dataset}: the data file {file.path} is not pinned"
        raise DataError(what, why=f"{file.url} may change", hint="write its sha256 on the card")
    target = cache_folder() / file.path
    download(file, target, hint=_by_hand(file), wait=wait, tries=tries, timeout=timeout)
    return target


def _status(file: DataFile, dataset: str, folder: Path | None) -> FileStatus:
    paths = [path for path in _paths(file, dataset, folder) if path.is_file()]
    if not paths:
        return FileStatus(file, "missing")
    actual = sha256_of(paths[0])
    if file.sha256 is None:
        return FileStatus(file, "not pinned", paths[0], actual)
    return FileStatus(file, "ok" if actual == file.sha256 else "wrong checksum", paths[0], actual)


def locate_embedded(file: DataFile, what: str) -> Path:
    """Return the path of a file that the package embeds; *what* names its content in the error.

    Errors: :class:`DataError` where the file is not the one that was installed.
    """
    path = Path(__file__).parents[1] / "datasets" / file.path
    if sha256_of(path) != file.sha256:
        raise DataError(f"the embedded {what} were changed", place=Place(str(path)), hint="install lexiscope again")
    return path


def _embedded_folder(card: Card) -> Path:
    """Return the folder below which a dataset's embedded files lie: the package's, or that of the dataset's ``.py``."""
    return catalog.folder_of_dataset(card.name) or Path(__file__).parents[1] / "datasets"


def _paths(file: DataFile, dataset: str, folder: Path | None) -> tuple[Path, ...]:
    """Return the paths at which a file is searched, in order."""
    if folder is not None:
        return (Path(folder) / file.path,)
    *named, cached = [place / file.path for place in data_folders()]
    if file.url.startswith("file://"):
        named.append(Path(url2pathname(urlsplit(file.url).path)))
    home = catalog.folder_of_dataset(dataset)
    if home is not None:
        # an address without a scheme starts at the folder of the dataset's .py
        named += [home / file.url] if file.url and "://" not in file.url else []
        named.append(home / file.path)
    return (*named, cached)


def _by_hand(file: DataFile) -> str:
    return f"put {file.url or 'the file'} at {file.path} in a folder and set {VARIABLE} to that folder"


# -- downloading a file from its publisher --------------------------------------------------------------------------
# Downloading a file from its publisher: at most three tries, verified before it appears where others look.


def download(
    file: DataFile,
    target: Path,
    *,
    hint: str = "",
    wait: Callable[[float], object] = time.sleep,
    tries: int = TRIES,
    timeout: float = TIMEOUT_SECONDS,
) -> None:
    """Download a file to *target*; it appears there only if it is complete and verified.

    Until then it lies in the folder ``partial`` next to the data folder. *wait* is called with the seconds to pause
    before another try. Errors: :class:`DataError` with the address, what went wrong, and *hint*.
    """
    # the folder next to the one below which file.path is target
    root = target
    for _ in Path(file.path).parts:
        root = root.parent
    waiting = root.parent / "partial"
    waiting.mkdir(parents=True, exist_ok=True)
    _sweep(waiting)
    with tempfile.TemporaryDirectory(dir=waiting) as folder:
        part = Path(folder) / target.name
        _try_several(file, part, hint=hint, wait=wait, tries=tries, timeout=timeout)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(part, target)


def _try_several(
    file: DataFile, part: Path, *, hint: str, wait: Callable[[float], object], tries: int, timeout: float
) -> None:
    for attempt in range(1, tries + 1):
        problem, final = _try(file, part, timeout)
        if not problem:
            return
        if final or attempt == tries:
            what = f"{file.url} was not downloaded ({attempt} {'try' if attempt == 1 else 'tries'})"
            raise DataError(what, why=problem, hint=hint)
        pause = 0.5 * 2.0**attempt
        LOG.warning("%s: %s. Attempt %d of %d in %.0f s.", file.url, problem, attempt + 1, tries, pause)
        wait(pause)


def _try(file: DataFile, part: Path, timeout: float) -> tuple[str, bool]:
    """Download once; return what went wrong (empty = nothing) and whether another try is useless."""
    import pooch
    import requests

    download = pooch.HTTPDownloader(timeout=timeout, headers={"Accept-Encoding": "identity"}, chunk_size=1 << 16)
    try:
        with part.open("wb") as stream:
            download(file.url, _Bounded(stream), None)
        return _content_problem(file, part), False
    except requests.HTTPError as error:
        code = 0 if error.response is None else error.response.status_code
        return f"the server answered: {error}", 400 <= code < 500 and code != 429
    except requests.TooManyRedirects as error:
        return str(error), True
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
        return f"no connection, or it was lost: {error}", False
    except (requests.RequestException, _TooMuch, OSError) as error:
        return str(error), isinstance(error, _TooMuch)


def _content_problem(file: DataFile, part: Path) -> str:
    with part.open("rb") as stream:
        head = stream.read(512).lstrip().lower()
    page = (
        "a web page came instead of the file, perhaps a login" if head.startswith((b"<!doctype html", b"<html")) else ""
    )
    actual = sha256_of(part)
    if file.sha256 is not None and actual != file.sha256:
        return f"sha256 expected {file.sha256}, actual {actual}{page and f' ({page})'}"
    # without a pinned checksum the least that can be asked is that it is no page and not empty
    return page or ("" if head else "the file is empty")


class _TooMuch(Exception):
    """The server sends without end."""


class _Bounded:
    """A binary stream that refuses to grow without end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left, self._until = stream, MAX_BYTES, time.monotonic() + MAX_SECONDS

    def write(self, data: bytes) -> int:
        self._left -= len(data)
        if self._left < 0:
            raise _TooMuch(f"the server sent more than {MAX_BYTES} bytes")
        if time.monotonic() > self._until:
            raise _TooMuch(f"the server took more than {MAX_SECONDS:g} seconds")
        return self._stream.write(data)

    def flush(self) -> None:
        self._stream.flush()


def _sweep(waiting: Path) -> None:
    """Remove what killed downloads left behind, once no download can still be using it."""
    for folder in waiting.iterdir():
        try:
            if time.time() - folder.stat().st_mtime > 2 * MAX_SECONDS * TRIES:
                for file in folder.iterdir():
                    file.unlink(missing_ok=True)
                folder.rmdir()
        except FileNotFoundError:
            continue  # another process swept it


# a revision has no slash, but for the branches that the Hub makes itself
_ADDRESS = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@(refs/(?:convert|pr)/[\w-]+|[\w.-]+))?(?:/(.+?)/?)?")
_PREFIX = "hf://"
_FILES = ("README.md", "*.parquet", "*.csv", "*.tsv", "*.jsonl", "*.json")


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A dataset of the Hub: ``OWNER/NAME``, a revision (a commit, tag or branch; empty: the newest), a file or folder.

    >>> HubAddress.parse("hf://datasets/lab/norms@v1.0/ratings")
    HubAddress(name='lab/norms', revision='v1.0', inner='ratings')
    """

    name: str
    revision: str = ""
    inner: str = ""

    @classmethod
    def parse(cls, text: str) -> HubAddress:
        """Read an address. Errors: :class:`SpecError` for a text of another form."""
        match = _ADDRESS.fullmatch(text)
        if match is None:
            hint = "write hf://datasets/OWNER/NAME, with @REVISION and /FOLDER behind it if needed"
            raise SpecError(f"{text!r} is not the address of a dataset of the Hub", hint=hint)
        return cls(match[1], match[2] or "", match[3] or "")


def is_hub_address(text: str) -> bool:
    """Whether a text begins as an address of the Hub."""
    return text.startswith(_PREFIX)


def download_from_hub(address: HubAddress) -> Path:
    """Return the local folder (or file) of an address; tables and the card are downloaded if they are not there.

    Errors: :class:`MissingExtraError` without the package huggingface_hub; :class:`DataError` if the Hub does not have
    it or cannot be reached.
    """
    hub = require("huggingface_hub", "models")
    inner = [address.inner, f"{address.inner}/*", "README.md"] if address.inner else list(_FILES)
    try:
        folder = Path(
            hub.snapshot_download(
                address.name, repo_type="dataset", revision=address.revision or None, allow_patterns=inner
            )
        )
    except (OSError, ValueError) as error:
        # the errors of the Hub and of the network are OSErrors, those of a wrong name ValueErrors
        what = f"could not get {address.name} from the Hub"
        hint = "check the name, the revision and the network; a private dataset needs `hf auth login`"
        raise DataError(what, why=str(error).strip().partition("\n")[0], hint=hint) from error
    path = folder / address.inner if address.inner else folder
    if not path.exists():
        raise DataError(f"{address.name} has no {address.inner!r}", hint="name a file or folder of the dataset")
    return path
