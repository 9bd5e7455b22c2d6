"""``lexiscope train bi_encoder``: learn to retrieve meanings or pages, as a folder with its search space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import click

from lexiscope.cli.train_classifier import items_to_learn, task_of
from lexiscope.cli.train_on_view import item_options, run_options, split_given, train_given
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.items.answers.search_space import Entry, SearchSpace
from lexiscope.items.answers.synset_space import for_retrieval, synset_space
from lexiscope.resources.corpora.entity_list import EntityList
from lexiscope.resources.lexicons import wordnet
from lexiscope.training.settings import TrainingSettings

TASKS = ("sense_retrieval", "entity_link", "sense_disambiguation")
WORDNET = "wordnet"
_DEFAULT = TrainingSettings()


@click.command(cls=Verb)
@item_options
@click.option("--task", help="For a file: its task. Default: sense_retrieval; of a dataset: its own.")
@click.option("--entries", metavar="wordnet|FILE", help="What is retrieved from. Default: the dataset's, or WordNet.")
@click.option("--pooling", type=click.Choice(("cls", "mean", "target")), help=f"Default: {_DEFAULT.pooling}.")
@click.option("--miner", type=click.Choice(("all", "hard", "semihard")), help=f"Default: {_DEFAULT.miner}.")
@click.option("--margin", type=float, help=f"Of the triplets. Default: {_DEFAULT.margin:g}.")
@click.option(
    "--description",
    type=click.Choice(("none", "gloss", "first_sentence")),
    help=f"Behind a name. Default: {_DEFAULT.description}.",
)
@run_options
def bi_encoder(**given: Any) -> None:
    """Train a bi-encoder on one view: nearest of all synsets or pages.

    A sentence with its target in brackets and an entry (name and description) are read apart. The folder holds the
    vectors of the whole search space and loads as bi_encoder:FOLDER; it answers in the view of its training. With
    --epochs 0 the encoder stays as it is. The same command again does nothing where the training is finished and goes
    on where it was broken off.
    """
    task = task_of(given["items"], given["task"], TASKS)
    items = items_to_learn(given["items"], given["pairs"], task=task, language=given["language"])
    space, items = _space(given, task, items)
    parts = split_given(given, items, task=task)
    retrieved = "sense_retrieval" if task == "sense_disambiguation" else task
    train_given("bi_encoder", parts, given, task=retrieved, space=space)


def _space(given: dict[str, Any], task: str, items: tuple[Item, ...]) -> tuple[SearchSpace, tuple[Item, ...]]:
    """Return what is retrieved from, and the items with its ids as right answers.

    Errors: :class:`SpecError` where nothing says what it is; those of the resource or the file.
    """
    named, dataset = given["entries"], given["items"].partition("?")[0]
    if named and named != WORDNET:
        return _from_file(existing_file(named)), items
    if task == "sense_disambiguation" or named == WORDNET or not _has_space(dataset):
        if task == "entity_link" and named != WORDNET:
            raise SpecError(f"nothing says among which entries {given['items']} is looked up", hint="--entries FILE")
        lexicon = wordnet.load()
        return synset_space(lexicon), for_retrieval(items, lexicon) if task == "sense_disambiguation" else items
    made = cast(Callable[[], SearchSpace], getattr(catalog.module("datasets", dataset), "search_space"))  # noqa: B009
    return made(), items


def _has_space(dataset: str) -> bool:
    return catalog.has("datasets", dataset) and hasattr(catalog.module("datasets", dataset), "search_space")


def _from_file(path: Path) -> SearchSpace:
    listed: Sequence[Any] = list(EntityList.read(path))
    return SearchSpace(path.name, tuple(Entry(each.entity_id, each.title, each.description) for each in listed))
