"""DESIGN §6.10: docs cover everything, and quote nothing that does not run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import lexiscope
from lexiscope.cli.main import cli
from lexiscope.core import catalog
from lexiscope.core.settings import own_settings

# kind of the catalog -> the page that lists its names
LISTED = {"datasets": "datasets", "tasks": "tasks-and-subjects", "subjects": "tasks-and-subjects", "studies": "studies"}


def page(made_pages: dict[Path, str], name: str) -> str:
    return next(text for path, text in made_pages.items() if path.name == f"{name}.md")


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_every_catalog_name_has_a_heading(kind: catalog.Kind, made_pages: dict[Path, str]) -> None:
    """Every dataset, task, kind of subject and study has a heading in the reference, and a row in the table there."""
    lines = page(made_pages, LISTED[kind]).splitlines()
    headings = [line for line in lines if line.startswith("#")]
    rows = [line for line in lines if line.startswith("| `")]
    names = [name for name in catalog.names(kind) if catalog.origin(kind, name) == catalog.PACKAGE]
    assert [name for name in names if not any(f"`{name}`" in line for line in headings)] == []
    assert [name for name in names if not any(line.startswith(f"| `{name}` ") for line in rows)] == []


def _leaves(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _leaves(inner, click.Context(inner, info_name=name, parent=context))
    else:
        yield command, context


def test_every_command_and_option_is_listed(made_pages: dict[Path, str]) -> None:
    """Every command has a section in the reference, and every option of a command a row in its section."""
    text = page(made_pages, "commands")
    sections = dict(re.findall(r"^#+ `(lexiscope[^`]*)`\n(.*?)(?=^#+ `|\Z)", text, re.MULTILINE | re.DOTALL))
    commands = list(_leaves(cli, click.Context(cli, info_name="lexiscope", **cli.context_settings)))
    assert len(commands) > 40
    for command, context in commands:
        flags = [flag for option in command.get_params(context) for flag in option.opts if flag.startswith("--")]
        shown = sections[context.command_path]
        assert [flag for flag in flags if flag not in shown and flag != "--help"] == [], context.command_path
    for study in catalog.names("studies"):
        own = [setting.flag for setting in own_settings(catalog.settings(study)) if setting.option.command_line]
        assert [flag for flag in own if flag not in sections[f"lexiscope study {study}"]] == []


def test_generated_pages_are_not_kept(root: Path, made_pages: dict[Path, str]) -> None:
    """Adding to the catalog or changing a docstring changes no page: generated pages are made when docs are built."""
    ignored = (root / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert [path for path in made_pages if f"/{path.relative_to(root).as_posix()}" not in ignored] == []


def test_every_code_is_listed(package: Path, made_pages: dict[Path, str]) -> None:
    """Every code of an error or a warning in the source has a row with its message."""
    source = "".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    rows = set(re.findall(r"^\| `([EW]\d{3})` \| \S", page(made_pages, "codes"), re.MULTILINE))
    assert set(re.findall(r"[\"']([EW]\d{3})[\"']", source)) - rows == set()


def test_every_public_name_is_listed(made_pages: dict[Path, str]) -> None:
    """Every name that ``import lexiscope`` offers is on the page of Python, with a section of its own."""
    text = page(made_pages, "python")
    names = set(lexiscope.__all__) - {"__version__"}
    assert [name for name in names if f"### `{name}`" not in text] == []


def test_no_machine_paths_or_registry_hosts(root: Path) -> None:
    """Code, docs and tests name no path of a machine and no host of a package registry."""
    banned = re.compile(r"/work/(main|shared)|/root/|pypi\.org|files\.pythonhosted|registry\.npmjs|deb\.debian\.org")
    files = [p for folder in ("src", "tests", "docs", "design", "benchmarks") for p in (root / folder).rglob("*")]
    files += [root / "README.md", root / "Makefile", root / "CHANGELOG.md", root / "CONTRIBUTING.md"]
    found = [
        str(p.relative_to(root))
        for p in files
        if p.is_file()
        and p.suffix in {".py", ".md", ".txt", ".html", ".toml", ""}
        and p != Path(__file__).resolve()
        and banned.search(p.read_text(encoding="utf-8", errors="ignore"))
    ]
    assert found == []


def test_decisions_are_noted(root: Path) -> None:
    """Every note in design/ says what was decided and why."""
    notes = sorted((root / "design").glob("[0-9]*.md"))
    assert notes
    assert [n.name for n in notes if "## Why" not in n.read_text(encoding="utf-8")] == []


def test_every_statistic_is_listed(package: Path, made_pages: dict[Path, str]) -> None:
    """Every public function of the analysis, in each of its rooms, is on the page of functions."""
    listed = page(made_pages, "analysis")
    public = [
        node.name
        for path in sorted((package / "analysis").rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_"
    ]
    assert len(public) > 100
    assert [name for name in public if f"`{name}(" not in listed] == []
