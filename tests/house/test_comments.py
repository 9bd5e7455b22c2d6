"""DESIGN §6.14: comments say why, and neither flood the code nor are missing."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path


def test_comments_are_neither_absent_nor_noise(package: Path, modules: dict[str, ast.Module]) -> None:
    """Between 1 and 8 comment lines per 100 lines over the whole package (docstrings carry the rest)."""
    comments = lines = 0
    for path in modules:
        text = (package / path).read_text(encoding="utf-8")
        lines += len(text.splitlines())
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments += sum(token.type == tokenize.COMMENT for token in tokens)
    assert 1 <= 100 * comments / lines <= 8
