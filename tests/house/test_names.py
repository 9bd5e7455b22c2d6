"""The glossary's "Names in the code": a local says what it holds, and a function what it returns or does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

EMPTY_WORDS = ("found", "each", "one")
"""Names that fit every value and therefore say nothing of this one."""


def _bindings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of everything that a module binds: locals, parameters, loop variables, fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


@pytest.mark.parametrize("word", EMPTY_WORDS)
def test_nothing_is_named_by_an_empty_word(modules: dict[str, ast.Module], word: str) -> None:
    """No local, parameter, loop variable or field is named ``found``, ``each`` or ``one``."""
    named = [f"{path}:{line}" for path, tree in modules.items() for line, name in _bindings(tree) if name == word]
    assert named == []


def test_the_rule_sees_every_kind_of_binding() -> None:
    """An assignment, a parameter, a loop, a comprehension, a lambda, a walrus and ``with … as`` are all seen."""
    source = """
def f(found, *, each=1):
    for one in x:
        [one for one in y]
    with z as each:
        lambda one: (found := 2)
"""
    seen = [name for _, name in _bindings(ast.parse(source))]
    assert sorted(seen) == ["each", "each", "found", "found", "one", "one", "one"]
