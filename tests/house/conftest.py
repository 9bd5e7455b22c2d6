"""What the house tests read: the source of the installed package and the folders of the project."""

from __future__ import annotations

import ast
from pathlib import Path

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
