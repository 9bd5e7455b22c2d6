"""Python starts as if the packages named in HIDDEN_PACKAGES were not installed: they cannot be imported or found."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import os
import re
import sys
from typing import Any

HIDDEN = frozenset(os.environ.get("HIDDEN_PACKAGES", "").split())


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


MODULES = frozenset(
    module
    for module, packages in importlib.metadata.packages_distributions().items()
    if {_plain(each) for each in packages} <= HIDDEN
)
_find, _named = importlib.machinery.PathFinder.find_spec, importlib.metadata.Distribution.from_name.__func__  # type: ignore[attr-defined]


class _Finder(importlib.machinery.PathFinder):
    """The ordinary finder, which does not see the hidden packages."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:
        return None if name.partition(".")[0] in MODULES else _find(name, path, target)


def _from_name(cls: type, name: str) -> Any:
    if _plain(name) in HIDDEN:
        raise importlib.metadata.PackageNotFoundError(name)
    return _named(cls, name)


if HIDDEN:
    sys.meta_path[:] = [_Finder if each is importlib.machinery.PathFinder else each for each in sys.meta_path]
    importlib.metadata.Distribution.from_name = classmethod(_from_name)  # type: ignore[method-assign,assignment]
