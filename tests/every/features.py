"""List what the package offers: one feature a line, as ``features.txt`` beside this file keeps it.

``python tests/every/features.py`` prints the list of the package that is imported.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import lexiscope
from lexiscope.cli.list import ROOMS
from lexiscope.cli.main import cli
from lexiscope.cli.verb import EVERY_VERB
from lexiscope.core import catalog
from lexiscope.core.settings import Setting, settings_of
from lexiscope.items.arrange.view_names import VIEW_NAMES
from lexiscope.resources.cards import CARDS
from lexiscope.studies.kit.study import statistics

EVERY = {flag for option in EVERY_VERB for flag in option.opts}
_CODE = re.compile(r"[EW]\d{3}")
_FILE = re.compile(r"[a-z]\w*\.(csv|html|json|jsonl|md|parquet|R|sqlite|tex|tsv|yaml)")


def offered() -> list[str]:
    """Return every feature, sorted: what it is, then its name, then what it can be."""
    texts = {*_verbs(cli, click.Context(cli), ""), *_catalog(), *_texts()}
    every = (f"option of every verb {'/'.join(sorted(option.opts))}" for option in EVERY_VERB)
    return sorted({*texts, *every, *(f"statistic {name}" for name in statistics())})


def _verbs(command: click.Command, context: click.Context, path: str) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield f"verb {path}{name}"
            yield from _verbs(inner, click.Context(inner, parent=context, info_name=name), f"{path}{name} ")
    for each in command.get_params(context):
        if isinstance(each, click.Argument):
            yield f"argument {path}{each.make_metavar(context)}"
        elif not {"--help", "--version", *EVERY} & set(each.opts):
            flags = "/".join(sorted((*each.opts, *each.secondary_opts)))
            yield f"option {path}{flags}{_choices(each.type)}"


def _choices(kind: Any) -> str:
    kinds = kind.types if isinstance(kind, click.Tuple) else (kind,)
    return "".join(f" {'|'.join(sorted(each.choices))}" for each in kinds if isinstance(each, click.Choice))


def _catalog() -> Iterator[str]:
    for room in catalog.KINDS:
        yield f"entry points lexiscope.{room}"
        own = [name for name in catalog.names(room) if catalog.origin(room, name) == catalog.PACKAGE]
        yield from (f"{room} {name}" for name in own)
    yield from (f"resources {name}" for name in CARDS)
    yield from (f"list {room}" for room in ROOMS)
    yield from (f"view {name}" for name in VIEW_NAMES)
    yield from (f"pairing {task} {kind} by {capability}" for task, kind, capability in catalog.pairings())
    for task in catalog.names("tasks"):
        yield from (f"measure {task} {measure}" for measure, _ in catalog.task(task).measures)
        if hasattr(catalog.module("tasks", task), "SCREEN"):
            yield f"screen {task} {catalog.screen(task).widget}"
    for study in catalog.names("studies"):
        yield from (f"setting {study} {_setting(setting)}" for setting in settings_of(catalog.settings(study)))
        module: Any = catalog.study(study)
        yield from (f"question {study} {question.question_id}" for question in module.QUESTIONS)


def _setting(setting: Setting) -> str:
    texts = ["|".join(sorted(setting.choices(number))) for number in range(len(setting.parts))]
    return " ".join([setting.name, *([setting.flag] if setting.option.command_line else []), *filter(None, texts)])


def _texts() -> Iterator[str]:
    """Yield the codes of findings and errors, and the names of files, that the package's own text has."""
    for path in sorted(Path(lexiscope.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        # a part of a text that is put together is no name of its own
        parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
                if _CODE.fullmatch(node.value):
                    yield f"code {node.value}"
                elif _FILE.fullmatch(node.value):
                    yield f"file {node.value}"


if __name__ == "__main__":
    sys.stdout.write("\n".join(offered()) + "\n")
