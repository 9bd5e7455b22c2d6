"""A file that the user names."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.errors import InputError, Place


def existing_file(path: Path | str) -> Path:
    """Return the path of a file that is there and not empty.

    Errors: :class:`InputError` E001 (there is no such file, or it is a folder), E002 (it is empty).
    """
    path, place = Path(path), Place(str(path))
    if not path.exists():
        raise InputError("there is no such file", code="E001", place=place, hint="check the name and the folder")
    if path.is_dir():
        raise InputError("this is a folder, not a file", code="E001", place=place, hint="name a file in it")
    if not path.stat().st_size:
        hint = "write a header and at least one row, or name another file"
        raise InputError("the file is empty", code="E002", place=place, hint=hint)
    return path
