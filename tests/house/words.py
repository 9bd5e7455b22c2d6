"""What the tests of words read: prose of pages, strings of source files, and the phrases that are not to be in them.

``python -m tests.house.words`` lowers the allowances of source files to what they have today, and never raises one.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGE = ROOT / "src" / "lexiscope"
ALLOWANCES = HERE / "words_allowed.csv"
#: a string that must keep a phrase has this comment on one of its lines
EXEMPT = re.compile(r"# words: ok, \S")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


@cache
def phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The banned phrases in small letters, each with what to write instead."""
    return tuple(
        (re.compile(row["phrase"].lower(), re.MULTILINE), row["replacement"])
        for row in rows(HERE / "banned_phrases.csv")
    )


def hits(text: str) -> list[str]:
    """Each banned phrase of a text, with the words around it and what to write instead."""
    # lower case is searched several times faster than either case
    text = text.lower()
    return [
        f"…{text[max(0, match.start() - 40) : match.end() + 40].strip()}… write: {replacement}"
        for pattern, replacement in phrases()
        for match in pattern.finditer(text)
    ]


def prose(markdown: str) -> str:
    """The prose of a Markdown page: no code, no comments; each paragraph, cell, heading and list item on one line."""
    text = re.sub(r"(?ms)^```.*?^```$", "", markdown)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "CODE", text)
    lines: list[str] = []
    for line in text.splitlines():
        starts = not line.strip() or re.match(r"\s*([-*|#>]|\d+\.)", line) or (lines and re.match(r"#", lines[-1]))
        if starts or not lines or not lines[-1]:
            lines.append(line.strip())
        else:
            lines[-1] += f" {line.strip()}"
    return "\n".join(lines)


def strings(path: Path) -> str:
    """The strings of a source file, docstrings included, one on each line; of a template, its text."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return re.sub(r"[ \t]*\n\s*", "\n", re.sub(r"{[{%#].*?[}%#]}|<[^>]*>", " ", source, flags=re.DOTALL))
    lines = source.splitlines()
    texts: list[str] = []
    # what is in the braces of an f-string is code: nothing below one is read
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            if not any(map(EXEMPT.search, lines[node.lineno - 1 : node.end_lineno])):
                texts += _said(node)
        else:
            waiting += ast.iter_child_nodes(node)
    return "\n".join(texts)


def _said(node: ast.JoinedStr | ast.Constant) -> Iterator[str]:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    text = "".join(part.value if isinstance(part, ast.Constant) else "CODE" for part in parts)
    # examples and literals of docstrings are code
    text = re.sub(r"(?ms)^\s*>>> .*?(?=^\s*$|\Z)", "", text)
    text = re.sub(r"``[^`]*``|`[^`\n]*`", "CODE", text)
    yield from (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))


def source_files() -> list[Path]:
    """The source files and templates whose texts a reader meets."""
    return sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".html") and path.is_file())


def allowances() -> dict[str, int]:
    """How many phrases a file may still have; a file that is not listed has none."""
    return {row["file"]: int(row["phrases"]) for row in rows(ALLOWANCES)} if ALLOWANCES.is_file() else {}


def main() -> None:
    """Write the allowances of today, none higher than before."""
    before = allowances()
    counts = {path.relative_to(PACKAGE).as_posix(): len(hits(strings(path))) for path in source_files()}
    with ALLOWANCES.open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["file", "phrases"])
        for name, count in counts.items():
            allowed = min(count, before.get(name, 0)) if before else count
            if allowed:
                writer.writerow([name, allowed])


if __name__ == "__main__":
    main()
