"""DESIGN §2: a folder of the package reads like a page of a table of contents."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

#: What a folder may hold. Those that still hold more are named with their number, which may only fall.
MOST = 20
#: Folders in which each file is one more thing of the same kind: they grow with what is published.
ALIKE = {"datasets"}
#: A folder's number of files besides its ``__init__.py``.
LARGER = {
    "annotation/store": 25,
    "core": 31,
    "training": 28,
}


def test_a_folder_holds_few_files(package: Path) -> None:
    """No folder has more than twenty files; of those that have, none grows."""
    files = Counter(
        str(path.parent.relative_to(package)) for path in package.rglob("*.py") if path.name not in ("__init__.py",)
    )
    assert {
        folder: number for folder, number in files.items() if number > LARGER.get(folder, MOST) and folder not in ALIKE
    } == {}
    assert {folder for folder in LARGER if files[folder] <= MOST} == set()


def test_each_folder_says_what_belongs_there(modules: dict[str, ast.Module]) -> None:
    """The docstring of each room begins with one line that ends a sentence."""
    first = {
        path: (ast.get_docstring(tree) or "").partition("\n")[0]
        for path, tree in modules.items()
        if path.endswith("__init__.py")
    }
    assert {path: line for path, line in first.items() if not line.endswith((".", "?"))} == {}
