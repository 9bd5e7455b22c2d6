"""DESIGN §6: habits that a reader can rely on everywhere in the package."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import lexiscope


def test_every_public_name_is_documented(modules: dict[str, ast.Module]) -> None:
    """Every public module, class, function and method has a docstring."""
    missing = []
    for path, tree in modules.items():
        missing += [path] if not ast.get_docstring(tree) else []
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                missing += [f"{path}:{node.name}"] if not ast.get_docstring(node) else []
                members = node.body if isinstance(node, ast.ClassDef) else []
                for member in members:
                    if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                        missing += [f"{path}:{node.name}.{member.name}"] if not ast.get_docstring(member) else []
    assert missing == []


def test_no_own_imports_hidden_in_functions(nodes: dict[str, list[ast.AST]]) -> None:
    """Imports of the package's own modules stand at the top of a file, where a reader looks for them."""
    hidden = []
    for path, own in nodes.items():
        for function in [n for n in own if isinstance(n, ast.FunctionDef)]:
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lexiscope"):
                    hidden.append(f"{path}:{node.lineno}")
    assert hidden == []


def test_boolean_arguments_are_keyword_only(nodes: dict[str, list[ast.AST]]) -> None:
    """A call never reads ``f(x, True)``: boolean parameters of public functions are keyword-only."""
    positional = []
    for path, own in nodes.items():
        for function in [n for n in own if isinstance(n, ast.FunctionDef) and n.name[0] != "_"]:
            for argument in function.args.args:
                if isinstance(argument.annotation, ast.Name) and argument.annotation.id == "bool":
                    positional.append(f"{path}:{function.name}:{argument.arg}")
    assert positional == []


def test_studies_leave_nothing_unchecked(package: Path) -> None:
    """A researcher's study is written like ours: no line of theirs needs to be hidden from the type checker."""
    hidden = [str(path) for path in (package / "studies").rglob("*.py") if "type: ignore" in path.read_text("utf-8")]
    assert hidden == []


def test_a_class_name_means_one_thing(nodes: dict[str, list[ast.AST]]) -> None:
    """Two classes of the package never have one name, with or without a leading underscore."""
    places: dict[str, list[str]] = {}
    for path, own in nodes.items():
        for node in own:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name.lstrip("_"), []).append(f"{path}:{node.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_public_names_exist() -> None:
    """Each name of the front door of the package is there."""
    assert lexiscope.__all__
    assert all(hasattr(lexiscope, name) for name in lexiscope.__all__)


def test_every_module_imports() -> None:
    """The installed package imports as a whole: nothing was left out of the wheel."""
    for info in pkgutil.walk_packages(lexiscope.__path__, "lexiscope."):
        if not info.name.endswith("__main__"):
            importlib.import_module(info.name)


def test_importing_the_package_is_light() -> None:
    """``import lexiscope`` brings in no torch, pandas, scipy, statsmodels or matplotlib."""
    heavy = ("torch", "transformers", "pandas", "scipy", "statsmodels", "matplotlib")
    code = f"import lexiscope, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
