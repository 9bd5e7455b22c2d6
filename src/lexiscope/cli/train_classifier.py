"""``lexiscope train classifier``: learn answers about meaning from one view of items, as a folder that answers them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import click

from lexiscope.cli.check import read_map
from lexiscope.cli.train_on_view import item_options, run_options, split_given, train_given
from lexiscope.cli.verb import Verb
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.items.read.item_source import load_items
from lexiscope.training.shards import METHOD_OF_TASK

TASKS = ("same_sense", "sense_verification", "sense_disambiguation")
METHODS = ("pair", "verification", "gloss", "threshold", "label")


@click.command(cls=Verb)
@item_options
@click.option("--task", help="For a file: its task. Default: same_sense; of a dataset: its own.")
@click.option("--method", type=click.Choice(METHODS), help="Default: the one that is trained for the task.")
@click.option("--head", type=click.Choice(("class", "number")), help="Learn answers or numbers. Default: class.")
@click.option("--class-weights", type=click.Choice(("none", "balanced")), help="Default: none.")
@click.option("--query", type=click.Choice(("target", "sentence")), help="What a probe compares. Default: target.")
@run_options
def classifier(**given: Any) -> None:
    """Train a classifier of pairs, definitions or glosses on one view.

    Two usages are compared (WiC), a definition is verified (WiC-TSV), or one of several glosses is chosen (word sense
    disambiguation). The method threshold trains nothing and takes seconds, label sees the answers alone. The folder
    loads as classifier:FOLDER and answers in the view of its training. The same command again does nothing where the
    training is finished and goes on where it was broken off.
    """
    task = task_of(given["items"], given["task"], TASKS)
    items = items_to_learn(given["items"], given["pairs"], task=task, language=given["language"])
    parts = split_given(given, items, task=task)
    train_given(given["method"] or METHOD_OF_TASK.get(task, "pair"), parts, given, task=task)


def task_of(name: str, asked: str | None, known: Sequence[str]) -> str:
    """Return the task that is learnt: the one asked for, that of the dataset, or the first known one.

    Errors: :class:`SpecError` for a dataset of a task that is not trained so.
    """
    if asked:
        return asked
    dataset = name.partition("?")[0]
    if not catalog.has("datasets", dataset):
        return known[0]
    found = catalog.card(dataset).task
    if found not in known:
        hint = f"datasets of these tasks can be learnt: {', '.join(known)}; or name another task: --task"
        raise SpecError(f"the task of {dataset} is {found!r}", hint=hint)
    return found


def items_to_learn(name: str, pairs: tuple[str, ...], *, task: str, language: str) -> tuple[Item, ...]:
    """Return the items of a dataset or a file; of a dataset that loads its splits apart, train and dev.

    Errors: those of :func:`~lexiscope.items.read.item_source.load_items`.
    """
    if catalog.has("datasets", name) and "?" not in name:
        load = cast(Callable[..., Dataset], getattr(catalog.module("datasets", name), "load"))  # noqa: B009
        parameters: Mapping[str, inspect.Parameter] = inspect.signature(load).parameters
        if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters.values()):
            return load("train", "dev").items
    return load_items(name, read_map(pairs), task=task, language=language).items
