"""The codes of errors and warnings with their messages and remedies, read from the source of the package.

A message is written in the place that raises it: ``InputError(what, code="E006", hint=…)``, ``Problem("E616", keys,
what, hint)``, or a tuple of code, message and remedy. What the place fills in is shown as ``…``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

CODE = re.compile(r"[EW]\d{3}\Z")
CONSTANT = re.compile(r"^(\w+) = \"([EW]\d{3})\"$", re.MULTILINE)


def coded_messages(package: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the messages of each code, in the order of the codes: pairs of what is wrong and what to do."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))]
    constants = dict(match for source in sources for match in CONSTANT.findall(source))
    coded = re.compile("|".join([r"[\"'][EW]\d{3}[\"']", *(rf"\b{name}\b" for name in constants)]))
    trees = [ast.parse(source) for source in sources if coded.search(source)]
    messages: dict[str, dict[tuple[str, str], None]] = {}
    for tree in trees:
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for node in ast.walk(tree):
            code, parts = _coded(node, constants) if isinstance(node, ast.Call | ast.Tuple) else ("", [])
            if code:
                scope = next((f for f in functions[::-1] if f.lineno <= node.lineno <= (f.end_lineno or 0)), tree)
                texts = [text for text in (_texts(part, scope, node.lineno) for part in parts) if text]
                messages.setdefault(code, {}).update(dict.fromkeys(_pairs(texts)))
    return {code: list(messages[code]) for code in sorted(messages, key=lambda code: (code[1:], code))}


def _code(node: ast.expr | None, constants: dict[str, str]) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.match(node.value):
        return node.value
    if isinstance(node, ast.BoolOp):
        return next((code for value in node.values if (code := _code(value, constants))), "")
    return constants.get(node.id, "") if isinstance(node, ast.Name) else ""


def _coded(node: ast.Call | ast.Tuple, constants: dict[str, str]) -> tuple[str, list[ast.expr]]:
    """Return the code that an expression gives, and the expressions of its message and its remedy, in this order."""
    if isinstance(node, ast.Tuple):
        codes = [code for part in node.elts if isinstance(part, ast.Constant) and (code := _code(part, {}))]
        return (codes[0], [part for part in node.elts if not _code(part, {})]) if len(codes) == 1 else ("", [])
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    hint = [keywords["hint"]] if "hint" in keywords else []
    if code := _code(keywords.get("code"), constants):
        return code, [*node.args, *hint]
    for place, argument in enumerate(node.args):
        if code := _code(argument, constants):
            return code, [*node.args[place + 1 :], *hint]
    return "", []


def _pairs(texts: list[list[str]]) -> Iterator[tuple[str, str]]:
    """Pair messages with remedies; if both have alternatives, which belong together is not known."""
    if texts:
        remedies = texts[1] if len(texts) > 1 else [""]
        for what in texts[0]:
            yield from ((what, remedy) for remedy in (remedies if 1 in (len(texts[0]), len(remedies)) else [""]))


def _texts(node: ast.expr, scope: ast.AST, line: int) -> list[str]:
    """Return what an expression can say: its own text, or the text that was last given to the name before the line."""
    if isinstance(node, ast.Name):
        given = [
            (assign.lineno, value)
            for assign in ast.walk(scope)
            if isinstance(assign, ast.Assign) and assign.lineno < line
            for target, value in _assigned(assign)
            if target == node.id
        ]
        last = max(given, key=lambda entry: entry[0], default=None)
        return _texts(last[1], scope, last[0]) if last else []
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body, scope, line), *_texts(node.orelse, scope, line)]
    text = _text(node)
    return [text] if re.search(r"\w\w+ \w\w+", text) or len(text) > 20 else []


def _assigned(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            names = [name.id for name in target.elts if isinstance(name, ast.Name)]
            if len(names) == len(node.value.elts):
                yield from zip(names, node.value.elts, strict=True)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return re.sub(r"…(?:\s*…)+", "…", "".join(_text(part) for part in node.values))
    if isinstance(node, ast.FormattedValue):
        return "…"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return ""
