"""``lexiscope train lora``: fine-tune a language model on people's ratings, as a folder that a subject loads."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.check import read_map
from lexiscope.cli.output import print_json, print_table, progress_bar, quoted, remark, say
from lexiscope.cli.verb import Verb
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, Prompting
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.simulated import TOLD_SIMULATED
from lexiscope.core.task import Task
from lexiscope.items.arrange.views import view_item
from lexiscope.items.read.item_source import ItemSource, load_items
from lexiscope.studies.kit.ratings_file import RatingColumns, read_ratings
from lexiscope.tasks import RATED
from lexiscope.training.lora import Ask, RatedItem, TrainingItems, TunedModel, split_items, train_lora
from lexiscope.training.lora_settings import PRESETS, LoraSettings


@click.command(cls=Verb)
@click.option("--items", required=True, metavar="DATASET|FILE", help="A dataset of the catalog, or a file of items.")
@click.option("--ratings", type=click.Path(path_type=Path), help="A long file of ratings; a dataset may have its own.")
@options.of_settings(RatingColumns, "rater", "item", "value")
@options.column_map
@options.of_arguments(load_items, "language")
@click.option("--task", default=RATED, show_default=True, help="The question; it needs a scale with steps.")
@options.of_settings(Prompting)
@click.option("--model", required=True, metavar="FOLDER|HUB_ID#REVISION", help="The base model.")
@options.path("--out", metavar="FOLDER", about="The tuned model.", required=True)
@options.of_arguments(split_items, "how", "share")
@click.option("--preset", type=click.Choice(tuple(PRESETS)), default="ambistory", show_default=True, help="Settings.")
@click.option("--target-modules", metavar="A,B", help="The modules that the adapter changes.  [default: q_proj,v_proj]")
@options.of_settings(LoraSettings)
@options.of_arguments(train_lora, "seed")
@options.as_json
@options.quiet
def lora(**given: Any) -> None:
    """Fine-tune a language model on ratings with LoRA.

    The model reads an item as a chat model is asked it and learns the number to which people's mean rating rounds; the
    loss is on that number alone. The defaults shown are those of the preset ambistory. The folder loads as
    causal_lm:FOLDER and chat:FOLDER. The same command again does nothing if the training is finished and resumes it
    if it was interrupted.
    """
    modules = tuple(filter(None, (given["target_modules"] or "").split(",")))
    settings = options.change_settings(PRESETS[given["preset"]], {**given, "target_modules": modules})
    prompting = options.make_settings(Prompting, given)
    material = _training_items(given, prompting)
    with progress_bar("train", quiet=given["quiet"]) as report:
        tuned = train_lora(
            material,
            given["model"],
            out=given["out"],
            settings=settings,
            seed=given["seed"],
            command=["lexiscope", *sys.argv[1:]],
            progress=report,
        )
    _print_training(tuned, as_json=given["as_json"], quiet=given["quiet"])


# -- what is learnt -------------------------------------------------------------------------------------------


def _training_items(given: Mapping[str, Any], prompting: Prompting) -> TrainingItems:
    task = catalog.task(given["task"])
    source = load_items(given["items"], read_map(given["pairs"]), task=given["task"], language=given["language"])
    scale = _common_scale(source.items, task)
    if scale is None or not scale.points or task.asks is None:
        what = f"the task {task.name!r} is not answered with a number of a scale with steps"
        known = catalog.tasks_where(lambda task: task.scale is not None and task.asks is not None)
        raise SpecError(what, hint=f"ratings of such a task can be learnt: {', '.join(known)}")
    rated, checksums = _rated_items(given, source, scale)
    split = split_items(rated, how=given["how"], share=given["share"], seed=given["seed"])
    return TrainingItems(split, scale, _ask_function(task, prompting), task.name, prompting, checksums)


def _ask_function(task: Task, prompting: Prompting) -> Ask:
    asks = task.asks
    assert asks is not None

    def ask(item: Item) -> ChatQuestion:
        return asks(view_item(item, "full"), variant=prompting.variant, shots=prompting.shots)

    return ask


def _common_scale(items: Sequence[Item], task: Task) -> Scale | None:
    """Return the scale on which all items are rated: what is learnt are its numbers."""
    scales = {str(scale): (scale, item) for item in reversed(items) if (scale := task.scale_of(item)) is not None}
    if len(scales) > 1:
        (first, _), (second, item) = list(scales.values())[:2]
        what = f"the items are rated on two scales: {first} and {second}"
        raise InputError(what, place=Place(item_id=item.item_id), hint="train one model on each")
    return next(iter(scales.values()))[0] if scales else None


def _rated_items(given: Mapping[str, Any], source: ItemSource, scale: Scale) -> tuple[list[RatedItem], dict[str, str]]:
    """Return the items that have a rating, and the checksums of all files.

    A rating of an item that is not among the items is an error, never skipped.
    """
    if given["ratings"] is None:
        ratings, read = _own_ratings(given["items"]), {}
    else:
        columns = options.make_settings(RatingColumns, given)
        file = read_ratings(given["ratings"], columns, scale=scale)
        if file.simulated:
            remark(f"learnt are ratings of simulated participants: {TOLD_SIMULATED}", quiet=given["quiet"])
        ratings = _ratings_by_item(zip(file.items, file.values.tolist(), strict=True))
        read = {given["ratings"].name: sha256_of(given["ratings"])}
    unknown = sorted(set(ratings) - {item.item_id for item in source.items})
    if unknown and not given["language"]:
        what = f"{len(unknown)} items have ratings but are not among the items, {unknown[0]!r} first"
        raise InputError(what, hint="name the items that were rated, or the column that holds their ids: --item")
    rated = [RatedItem(item, ratings[item.item_id]) for item in source.items if ratings.get(item.item_id)]
    if not rated:
        raise InputError("no item has a rating", hint="--item names the column that holds the items' ids")
    return rated, {**source.checksums, **read}


def _own_ratings(name: str) -> dict[str, tuple[float, ...]]:
    """The ratings that people gave in a dataset."""
    if not catalog.has("datasets", name):
        raise InputError(f"{name} has no ratings", hint="name a file of ratings: --ratings FILE")
    data = catalog.dataset(name)
    people = data.responses.where(subject_kind="participant", measure="rating")
    return _ratings_by_item(zip(people.column("item_id"), people.column("value").tolist(), strict=True))


def _ratings_by_item(pairs: Any) -> dict[str, tuple[float, ...]]:
    ratings: dict[str, list[float]] = {}
    for item_id, value in pairs:
        # NaN is a rating that was not given
        if value == value:
            ratings.setdefault(str(item_id), []).append(float(value))
    return {item_id: tuple(values) for item_id, values in ratings.items()}


# -- settings and result --------------------------------------------------------------------------------------


def _print_training(tuned: TunedModel, *, as_json: bool, quiet: bool) -> None:
    columns = ("epoch", "training loss", "validation loss", "spearman", "accuracy within SD")
    rows = [
        (r.epoch, r.training_loss, r.validation_loss, r.spearman, r.accuracy_within_sd, r.epoch == tuned.best_epoch)
        for r in tuned.history
    ]
    if as_json:
        print_json([dict(zip((*columns, "kept"), row, strict=True)) for row in rows])
        return
    print_table((*columns, ""), [(*row[:-1], "kept" if row[-1] else "") for row in rows], right=columns)
    say(f"ended: {tuned.stopped}; {tuned.n_learnt} weights learnt")
    say(f"Saved {tuned.folder}")
    remark(f"next: lexiscope collect … --subject {quoted(f'chat:{tuned.folder}')}", quiet=quiet)
