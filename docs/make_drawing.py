"""Draw the house into CONTRIBUTING.md: its layers from top to bottom, their rooms, and what each room says of itself.

Nothing of the drawing is written by hand: the layers come from the import contract in pyproject.toml, the sentences
from the rooms' ``__init__.py``. ``make docs-tables`` runs this; a test fails while the drawing is old. Datasets,
studies and tasks are not drawn one by one: adding one changes no existing file.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "lexiscope"
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- drawing: made by docs/make_drawing.py -->\n", "<!-- end of the drawing -->\n"
WIDTH = 118
#: Rooms whose files are things of one kind: a new one does not change this drawing; what they share is drawn.
ALIKE = {"datasets", "studies", "tasks"}


def layers() -> list[list[str]]:
    """Return the rooms of each layer, from top to bottom, as the first import contract has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = project["tool"]["importlinter"]["contracts"][0]
    return [[room.strip() for room in line.split("|")] for line in contract["layers"]]


def sentence(path: Path) -> str:
    """Return the first line of the docstring of a room or module."""
    file = path / "__init__.py" if path.is_dir() else path
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0].replace("``", "")


def rooms_in(folder: Path) -> list[Path]:
    """Return the rooms of a folder: its packages, by name."""
    return sorted(path.parent for path in folder.glob("*/__init__.py"))


def line(room: Path, depth: int) -> list[str]:
    """Return the lines of a room or module: its name, its sentence."""
    start = f"{'  ' * depth + (room.stem if room.suffix else f'{room.name}/'):<19}"
    return textwrap.wrap(sentence(room), WIDTH - 4, initial_indent=start, subsequent_indent=" " * len(start))


def layer(names: list[str]) -> list[str]:
    """Return the lines of a layer: its rooms with theirs."""
    lines: list[str] = []
    for name in names:
        room = PACKAGE / name if (PACKAGE / name).is_dir() else PACKAGE / f"{name}.py"
        inner = [one for one in rooms_in(room) if name not in ALIKE or one.name == "kit"]
        lines += line(room, 0) + [text for one in inner for text in line(one, 1)]
    return lines


def drawing() -> str:
    """Return the drawing: a box for each layer, the highest first; a box imports only from those below it."""
    rows: list[str] = []
    for names in layers():
        rows += [f"│ {text:<{WIDTH - 4}} │" for text in layer(names)] + ["├" + "─" * (WIDTH - 2) + "┤"]
    rows = ["┌" + "─" * (WIDTH - 2) + "┐", *rows[:-1], "└" + "─" * (WIDTH - 2) + "┘"]
    return "```text\n" + "\n".join(rows) + "\n```\n"


def page() -> str:
    """Return CONTRIBUTING.md with the drawing of today."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + drawing() + END + after


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print("written: CONTRIBUTING.md")  # noqa: T201
