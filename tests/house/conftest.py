"""What the house tests read: the source of the installed package and the folders of the project."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import lexiscope

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def package() -> Path:
    return Path(lexiscope.__file__).parent


@pytest.fixture(scope="session")
def modules(package: Path) -> dict[str, ast.Module]:
    """Every module of the package, parsed, by its path below the package."""
    files = sorted(package.rglob("*.py"))
    return {str(file.relative_to(package)): ast.parse(file.read_text(encoding="utf-8")) for file in files}


@pytest.fixture(scope="session")
def nodes(modules: dict[str, ast.Module]) -> dict[str, list[ast.AST]]:
    """Every node of every module, walked through once."""
    return {path: list(ast.walk(tree)) for path, tree in modules.items()}


def _script(name: str) -> ModuleType:
    place = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert place is not None
    assert place.loader is not None
    script = importlib.util.module_from_spec(place)
    # its dataclasses look their module up
    sys.modules[name] = script
    place.loader.exec_module(script)
    return script


@pytest.fixture(scope="session")
def make_tables() -> ModuleType:
    """The script that writes the generated pages."""
    return _script("make_tables")


@pytest.fixture(scope="session")
def make_drawing() -> ModuleType:
    """The script that draws the layers and their rooms into CONTRIBUTING.md."""
    return _script("make_drawing")


@pytest.fixture(scope="session")
def make_counts() -> ModuleType:
    """The script that writes the table of papers."""
    return _script("make_counts")


@pytest.fixture(scope="session")
def run_page() -> ModuleType:
    """The script that runs a page of the docs."""
    return _script("run_page")


@pytest.fixture(scope="session")
def make_notebooks() -> ModuleType:
    """The script that executes the notebooks."""
    pytest.importorskip("nbclient")
    return _script("make_notebooks")


@pytest.fixture(scope="session")
def made_pages(make_tables: ModuleType) -> dict[Path, str]:
    """The generated pages, which the repository does not keep, as they would be written."""
    return dict(make_tables.pages())
