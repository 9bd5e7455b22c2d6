"""The glossary's "Names in the code": a local says what it holds, and a function what it returns or does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest

EMPTY_WORDS = ("found", "each", "one")
"""Names that fit every value and therefore say nothing of this one."""


def _bindings(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield line and name of what the nodes of a module bind: locals, parameters, fields, functions, imports."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.FunctionDef) and node.name:
            yield node.lineno, node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node.lineno, alias.asname) for alias in node.names if alias.asname)


@pytest.mark.parametrize("word", EMPTY_WORDS)
def test_nothing_is_named_by_an_empty_word(nodes: dict[str, list[ast.AST]], word: str) -> None:
    """No local, parameter, loop variable, field or function is named ``found``, ``each`` or ``one``."""
    named = [f"{path}:{line}" for path, own in nodes.items() for line, name in _bindings(own) if name == word]
    assert named == []


def test_the_rule_sees_every_kind_of_binding() -> None:
    """An assignment, a parameter, a loop, a comprehension, a lambda, a walrus, a function and all ``… as`` are seen."""
    source = """
def f(found, *, each=1):
    for one in x:
        [one for one in y]
    with z as each:
        lambda one: (found := 2)
    try: import a as each
    except E as found:
        def one(): pass
"""
    seen = [name for _, name in _bindings(ast.walk(ast.parse(source)))]
    assert sorted(seen) == ["each"] * 3 + ["f"] + ["found"] * 3 + ["one"] * 4
