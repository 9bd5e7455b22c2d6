"""Files that several trainings have in common: written once to a store, then given to the folder of each.

An encoder that learns nothing is the same in every view, and so are the vectors of its entries. They lie in a folder of
the store that is named by a hash of all that decides them, and gets this name when it is whole. Every training is given
second names (hard links) of the same files, or copies where the file system has no such names: its own folder needs
nothing beside it, and the store may be deleted.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from lexiscope.core.errors import Place, RunError
from lexiscope.core.run import manifest, read_json, sha256_of, write_atomically, write_json
from lexiscope.subjects._vector_store import digest

_CHECKSUMS = "checksums.json"


def put_shared(store: Path, content: object, out: Path, write: Callable[[Path], Sequence[str]]) -> dict[str, str]:
    """Put the files that *write* makes in a folder into *out*, and return their sha256 by name.

    *content* is all that decides their bytes (a JSON value): those that an equal one has left in *store* are taken.
    Errors: :class:`RunError` naming files of the store that are missing or damaged, or where nothing can be written.
    """
    kept = store / digest(content)[:40]
    if kept.is_dir():
        _check(kept)
    else:
        begun = store / f".begun-{uuid4().hex}"
        try:
            write_json(begun / _CHECKSUMS, manifest(begun, write(begun)))
            # another process may have been faster: its files serve as well
            with suppress(OSError):
                begun.rename(kept)
        finally:
            shutil.rmtree(begun, ignore_errors=True)
    files = read_json(kept / _CHECKSUMS)
    for name in files:
        _put(kept / name, out / name)
    return files


def _check(kept: Path) -> None:
    paths = {kept / name: expected for name, expected in read_json(kept / _CHECKSUMS).items()}
    wrong = [path.name for path, expected in paths.items() if not path.is_file() or sha256_of(path) != expected]
    if wrong:
        why = f"not as it was written: {', '.join(wrong)}"
        hint = "delete this folder and run the same command again: it will be written anew"
        raise RunError("these files of an untrained encoder are damaged", place=Place(str(kept)), why=why, hint=hint)


def _put(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.hardlink_to(source)
    except OSError:
        write_atomically(target, source.read_bytes())
