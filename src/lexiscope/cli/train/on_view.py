"""``lexiscope train classifier`` and ``bi_encoder``: models that learn from one view of items, and what they share."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import click

from lexiscope.cli import options
from lexiscope.cli.check import read_map
from lexiscope.cli.output import print_json, print_table, progress_bar, quoted, remark, say
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.spec import plain_name
from lexiscope.items.answers.search_space import Entry, SearchSpace, retrieval_items, synset_space
from lexiscope.items.arrange.splits import split_by_word
from lexiscope.items.check.bias_fitness import question_content
from lexiscope.items.read.item_source import lines_named, load_items
from lexiscope.items.read.labelled_file import with_entry_ids
from lexiscope.resources.corpora.entity_list import EntityList
from lexiscope.resources.lexicons import wordnet
from lexiscope.tasks import BY_VIEW, RETRIEVED
from lexiscope.training._training import TrainedModel
from lexiscope.training.budget import plan_budget, read_duration
from lexiscope.training.methods import train_method
from lexiscope.training.selection import Grid, run_selection
from lexiscope.training.settings import TrainingSettings

VIEWS = ("full", "full+final_stop", "context", "context_span", "word", "label")
"""The views on which a model can be trained; ``guessed_word`` is one of tests."""

_EVERY = ("learning_rate", "epochs", "patience", "batch", "longest", "max_rows", "device", "threads")
"""The settings that all methods have."""


@dataclass(frozen=True, slots=True)
class TrainingParts:
    """The items of a training, in two parts."""

    train: tuple[Item, ...]
    dev: tuple[Item, ...]


item_options = options.combine(
    click.option("--items", required=True, metavar="DATASET|FILE", help="Items to learn from."),
    click.option("--dev", metavar="DATASET|FILE", help="Items that choose the best epoch. Default: the split dev."),
    options.column_map,
    options.of_arguments(load_items, "language"),
    click.option("--view", type=click.Choice(VIEWS), default="full", show_default=True, help="What the model sees."),
    click.option(
        "--encoder", default="minilm", show_default=True, metavar="FOLDER|HUB_ID#REVISION|NAME", help="The encoder."
    ),
    click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FOLDER"),
)
"""The options that say what is learnt, and from which view."""


run_options = options.combine(
    options.of_arguments(train_method, "seed"),
    click.option("--select", is_flag=True, help="Three rates and three seeds; the best on dev is kept."),
    click.option("--budget", metavar="30m", help="Choose what fits into a time, and list what does not."),
    options.of_settings(TrainingSettings, *_EVERY),
    options.as_json,
    options.quiet,
)
"""The options that say how it is learnt, and how it is run."""


def training_parts(given: Mapping[str, Any], items: Sequence[Item], *, task: str) -> TrainingParts:
    """Return the items of train and dev: of two sources, of the items' own split, or split by word (a fifth is dev).

    Errors: :class:`InputError` where a part is empty.
    """
    named = [str(item.conditions.get("split", "")) for item in items]
    train = tuple(item for item, part in zip(items, named, strict=True) if part in ("train", ""))
    if given["dev"]:
        source = load_items(given["dev"], read_map(given["pairs"]), task=task, language=given["language"])
        own = tuple(item for item in source.items if item.conditions.get("split", "dev") == "dev")
        return TrainingParts(train, own or source.items)
    dev = tuple(item for item, part in zip(items, named, strict=True) if part == "dev")
    if not any(named):
        parts = split_by_word(items, {"train": 4, "dev": 1}, seed=0)
        return TrainingParts(parts[0].items, parts[1].items)
    if not train or not dev:
        what = f"{given['items']} has {len(train)} items to learn from and {len(dev)} of dev"
        raise InputError(what, hint="name items of both splits, or a second source: --dev")
    return TrainingParts(train, dev)


def train_parts(
    method: str, parts: TrainingParts, given: Mapping[str, Any], *, task: str, space: SearchSpace | None = None
) -> None:
    """Train what the options say and show it. Errors: those of the training."""
    settings, quiet, view = options.make_settings(TrainingSettings, given), given["quiet"], given["view"]
    _remark_shared_items(parts, quiet=quiet)
    grid = Grid() if given["select"] else None
    if given["budget"]:
        method, settings, grid = _plan_within_budget(method, parts, given, settings, space)
    material = (view, parts.train, parts.dev, given["encoder"])
    files = [name for name in (given["items"], given["dev"]) if name]
    named = lines_named(files, read_map(given["pairs"]), task=task, language=given["language"])
    with named, progress_bar("train", quiet=quiet) as report:
        how: dict[str, Any] = {
            "settings": settings,
            "task": task,
            "space": space,
            "out": given["out"],
            "command": ["lexiscope", *sys.argv[1:]],
            "progress": report,
        }
        if grid is None:
            shards, best = None, train_method(method, *material, **how, seed=given["seed"])
        else:
            selected = run_selection(method, *material, **how, grid=grid)
            shards, best = selected.shards, selected.best
    _print_training(best, shards, task, as_json=given["as_json"], quiet=quiet)


def _remark_shared_items(parts: TrainingParts, *, quiet: bool) -> None:
    """Count the items of dev that are also in training: a choice by them prefers memorized items."""
    learnt = {question_content(item) for item in parts.train}
    shared = [item.item_id for item in parts.dev if question_content(item) in learnt]
    if shared:
        count = (
            f"{len(shared)} of {len(parts.dev)} dev items ask what a training item asks too; the first is {shared[0]}"
        )
        remark(f"{count}: leave them out, or dev looks better than it is", quiet=quiet)


def _plan_within_budget(
    method: str, parts: TrainingParts, given: Mapping[str, Any], settings: TrainingSettings, space: SearchSpace | None
) -> tuple[str, TrainingSettings, Grid | None]:
    """Return the method, the settings and the grid of the plan, after saying it."""
    grid = Grid() if given["select"] else Grid((settings.learning_rate,), (given["seed"],))
    seconds = read_duration(given["budget"])
    how: dict[str, Any] = {"seconds": seconds, "grid": grid, "settings": settings, "space": space}
    plan = plan_budget(method, (given["view"],), parts.train, parts.dev, given["encoder"], **how)
    remark(plan.words, quiet=given["quiet"])
    still = plan.protocol == "zero_shot"
    settings = replace(plan.settings, learning_rate=plan.grid.learning_rates[0])
    if still and method != "bi_encoder":
        return "threshold", settings, None
    return method, settings, None if still or len(plan.grid.combinations(method)) == 1 else plan.grid


def _print_training(
    best: TrainedModel, shards: Sequence[TrainedModel] | None, task: str, *, as_json: bool, quiet: bool
) -> None:
    rows: list[tuple[object, ...]]
    if shards is None:
        columns: tuple[str, ...] = ("epoch", "training loss", best.monitor, "kept")
        rows = [(epoch.epoch, epoch.training_loss, epoch.dev, epoch.epoch == best.best_epoch) for epoch in best.history]
    else:
        columns = ("rate", "seed", best.monitor, "kept")
        rows = [(f"{s.learning_rate:g}", s.seed, s.dev_accuracy, s.folder == best.folder) for s in shards]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    print_table(columns, [(*row[:-1], "kept" if row[-1] else "") for row in rows], right=columns[:-1])
    say(f"ended: {best.stopped}; {best.n_train} items learnt from, {best.n_dev} of dev")
    if any(best.cut.values()):
        told = " and ".join(f"{n} of {part}" for part, n in best.cut.items())
        say(f"items of which something was cut, being longer than what is read: {told}")
    say(f"Saved {best.folder}")
    remark(f"next: lexiscope collect … --task {task} --view {best.view} --subject {quoted(best.spec)}", quiet=quiet)


# -- classifier: answers about meaning ------------------------------------------------------------------------------


METHODS = ("pair", "verification", "gloss", "threshold", "label")


@click.command(cls=Verb)
@item_options
@click.option("--task", help=f"For a file: its task. Default: {BY_VIEW}, or the task of the dataset.")
@click.option("--method", type=click.Choice(METHODS), help="Default: the one that is trained for the task.")
@options.of_settings(TrainingSettings, "head", "class_weights", "query")
@run_options
def classifier(**given: Any) -> None:
    """Train a classifier of pairs, definitions or glosses on one view.

    Two usages are compared (WiC), a definition is verified (WiC-TSV), or one of several glosses is chosen (word sense
    disambiguation). The method threshold trains nothing and takes seconds, label sees the answers alone. The folder
    loads as classifier:FOLDER and answers in the view of its training. The same command again does nothing if the
    training is finished and resumes it if it was interrupted.
    """
    task = learnt_task(given["items"], given["task"], METHODS, default=BY_VIEW)
    items = read_items_to_learn(given["items"], given["pairs"], task=task, language=given["language"])
    parts = training_parts(given, items, task=task)
    train_parts(given["method"] or catalog.task(task).learnt or "pair", parts, given, task=task)


def learnt_task(name: str, asked: str | None, methods: Sequence[str], *, default: str) -> str:
    """Return the task that is learnt: the one asked for, that of the dataset, or the default one.

    Errors: :class:`SpecError` for a dataset of a task that is not trained so.
    """
    if asked:
        return asked
    dataset = plain_name(name)
    if not catalog.has("datasets", dataset):
        return default
    own = catalog.card(dataset).task
    known = catalog.tasks_where(lambda task: task.learnt in methods and task.scale is None)
    if own not in known:
        hint = f"datasets of these tasks can be learnt: {', '.join(known)}; or name another task: --task"
        raise SpecError(f"the task of {dataset} is {own!r}", hint=hint)
    return own


def read_items_to_learn(name: str, pairs: tuple[str, ...], *, task: str, language: str) -> tuple[Item, ...]:
    """Return the items of a dataset or a file; train and dev of a dataset that loads its splits separately.

    Errors: those of :func:`~lexiscope.items.read.item_source.load_items`.
    """
    if catalog.has("datasets", name) and "?" not in name:
        load = cast(Callable[..., Dataset], getattr(catalog.module("datasets", name), "load"))  # noqa: B009
        parameters: Mapping[str, inspect.Parameter] = inspect.signature(load).parameters
        if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters.values()):
            return load("train", "dev").items
    return load_items(name, read_map(pairs), task=task, language=language).items


# -- bi_encoder: nearest of all synsets or pages --------------------------------------------------------------------


# senses to choose from are senses to retrieve, from the whole lexicon
_OF_ENTRIES = ("bi_encoder", "gloss")
WORDNET = "wordnet"


@click.command(cls=Verb)
@item_options
@click.option("--task", help=f"For a file: its task. Default: {RETRIEVED}, or the task of the dataset.")
@click.option("--entries", metavar="wordnet|FILE", help="What is retrieved from. Default: the dataset's, or WordNet.")
@options.of_settings(TrainingSettings, "pooling", "miner", "margin", "description")
@run_options
def bi_encoder(**given: Any) -> None:
    """Train a bi-encoder on one view: nearest of all synsets or pages.

    A sentence with its target in brackets and an entry (name and description) are read apart. The folder holds the
    vectors of the whole search space and loads as bi_encoder:FOLDER; it answers in the view of its training. With
    --epochs 0 the encoder stays as it is. The same command again does nothing if the training is finished and resumes
    it if it was interrupted.
    """
    task = learnt_task(given["items"], given["task"], _OF_ENTRIES, default=RETRIEVED)
    items = read_items_to_learn(given["items"], given["pairs"], task=task, language=given["language"])
    space, with_ids = _search_space(given, task)
    parts = training_parts(given, items, task=task)
    # items of dev may be of another file
    parts = TrainingParts(with_ids(parts.train), with_ids(parts.dev))
    retrieved = RETRIEVED if _chooses_senses(task) else task
    train_parts("bi_encoder", parts, given, task=retrieved, space=space)


_WithIds = Callable[[Sequence[Item]], tuple[Item, ...]]


def _search_space(given: dict[str, Any], task: str) -> tuple[SearchSpace, _WithIds]:
    """Return what is retrieved from, and what gives items its ids as correct answers.

    Errors: :class:`SpecError` if it is not given; those of the resource or the file.
    """
    named, dataset = given["entries"], plain_name(given["items"])
    if named and named != WORDNET:
        path = existing_file(named)
        listed = EntityList.read(path)
        entries = tuple(Entry(entity.entity_id, entity.title, entity.description) for entity in listed)
        # a file may name entries by their titles; a dataset has their ids
        titled = not catalog.has("datasets", dataset)
        return SearchSpace(path.name, entries), partial(_with_entry_ids, listed, given) if titled else tuple
    has_space = catalog.has("datasets", dataset) and hasattr(catalog.module("datasets", dataset), "search_space")
    if _chooses_senses(task) or named == WORDNET or not has_space:
        if not _chooses_senses(task) and task != RETRIEVED and named != WORDNET:
            raise SpecError(
                f"the entries among which {given['items']} is looked up are not given", hint="--entries FILE"
            )
        lexicon = wordnet.load()
        return synset_space(lexicon), partial(retrieval_items, lexicon=lexicon) if _chooses_senses(task) else tuple
    made = cast(Callable[[], SearchSpace], getattr(catalog.module("datasets", dataset), "search_space"))  # noqa: B009
    return made(), tuple


def _with_entry_ids(listed: EntityList, given: Mapping[str, Any], items: Sequence[Item]) -> tuple[Item, ...]:
    place = given["items"]
    return tuple(with_entry_ids(item, listed, place=Place(place, item_id=item.item_id)) for item in items)


def _chooses_senses(task: str) -> bool:
    return catalog.task(task).learnt == "gloss"
