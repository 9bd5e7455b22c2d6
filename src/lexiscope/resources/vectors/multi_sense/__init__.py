"""Multi-sense vectors that other programs trained, read into one form from the files that those programs write.

Importers: ``muse``, ``mssg``, ``gaussian``, ``adagram``, ``adagram_text``, ``adagram_arrays``, ``ego_network`` and
``ego_network_binary``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.resources.vectors.multi_sense.clusters import (
    read_ego_network,
    read_ego_network_binary,
    read_mssg,
    read_muse,
)
from lexiscope.resources.vectors.multi_sense.form import CODE, MultiSense
from lexiscope.resources.vectors.multi_sense.mixtures import (
    read_adagram,
    read_adagram_arrays,
    read_adagram_text,
    read_gaussian,
)

__all__ = ["CODE", "FORMATS", "MultiSense", "read_multi_sense"]

FORMATS: dict[str, tuple[Callable[..., MultiSense], tuple[int, ...], str]] = {
    "muse": (read_muse, (2,), "vectors, index"),
    "mssg": (read_mssg, (1,), "vectors"),
    "gaussian": (read_gaussian, (2,), "parameters, vocabulary"),
    "adagram": (read_adagram, (1,), "model"),
    "adagram_text": (read_adagram_text, (1,), "vectors"),
    "adagram_arrays": (read_adagram_arrays, (2,), "arrays, words"),
    "ego_network": (read_ego_network, (1, 2), "vectors, and the inventory where there is one"),
    "ego_network_binary": (read_ego_network_binary, (1, 2), "vectors, and the inventory where there is one"),
}
"""The importers by name: the function, how many files it takes, and which."""


def read_multi_sense(form: str, *paths: Path) -> MultiSense:
    """Read the vectors of a format of :data:`FORMATS` from its files.

    Errors: :class:`SpecError` for an unknown format or another number of files; :class:`InputError` E720 with file and
    line for a damaged file, and for one that is not there.
    """
    if form not in FORMATS:
        raise SpecError(f"{form!r} is not a format of multi-sense vectors", hint=f"use one of {', '.join(FORMATS)}")
    reader, numbers, files = FORMATS[form]
    if len(paths) not in numbers:
        raise SpecError(
            f"the format {form} is read from other files than {len(paths)}", hint=f"name its files: {files}"
        )
    for path in paths:
        if not path.is_file():
            hint = "check its name; several files stand with a comma between them"
            raise InputError("there is no such file", code=CODE, place=Place(str(path)), hint=hint)
    return reader(*paths)
