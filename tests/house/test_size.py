"""DESIGN §6.12: functions and files stay small enough to be read."""

from __future__ import annotations

import ast
import io
import statistics
import tokenize
from pathlib import Path

FUNCTION_MEDIAN, FUNCTION_95, FUNCTION_EVER = 8, 35, 80
FILE_MEDIAN, FILE_EVER = 150, 500


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` to the end, without the docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    documented = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return lines - ((first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0)


def test_no_function_is_longer_than_80_lines(modules: dict[str, ast.Module]) -> None:
    """No function ever exceeds 80 lines."""
    long = {f"{path}:{f.name}": _length(f) for path, tree in modules.items() for f in _functions(tree)}
    assert {name: n for name, n in long.items() if n > FUNCTION_EVER} == {}


def test_functions_are_short(modules: dict[str, ast.Module]) -> None:
    """Half of the functions have at most 8 lines, 95 of 100 at most 35."""
    lengths = sorted(_length(f) for tree in modules.values() for f in _functions(tree))
    assert statistics.median(lengths) <= FUNCTION_MEDIAN
    assert lengths[int(0.95 * len(lengths))] <= FUNCTION_95


def test_files_are_short(package: Path, modules: dict[str, ast.Module]) -> None:
    """Half of the files have at most 150 lines, none more than 500."""
    lengths = {path: len((package / path).read_text(encoding="utf-8").splitlines()) for path in modules}
    assert {path: n for path, n in lengths.items() if n > FILE_EVER} == {}
    assert statistics.median(lengths.values()) <= FILE_MEDIAN


def test_comments_are_neither_absent_nor_noise(package: Path, modules: dict[str, ast.Module]) -> None:
    """Between 1 and 8 comment lines per 100 lines over the whole package (docstrings carry the rest)."""
    comments = lines = 0
    for path in modules:
        text = (package / path).read_text(encoding="utf-8")
        lines += len(text.splitlines())
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments += sum(token.type == tokenize.COMMENT for token in tokens)
    assert 1 <= 100 * comments / lines <= 8
