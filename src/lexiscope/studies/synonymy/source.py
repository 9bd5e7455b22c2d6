"""What the study asks: a collection with templates, or choice sets that are ready; and what was recorded on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard, SubjectFacts, own_card
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.items.choice_set_file import is_collection, read_choice_sets
from lexiscope.items.collection_file import read_collection
from lexiscope.items.gap_filling import gap_items, gap_template
from lexiscope.items.minimal_pairs import SynonymItem, choice_sets
from lexiscope.items.surface import is_english
from lexiscope.items.tabular import is_item_table, read_items
from lexiscope.items.templates import Template, read_templates, synonymy_templates
from lexiscope.items.turned import turned_sets
from lexiscope.studies.synonymy.cells import CONTROLLED, RANDOM, cell_of
from lexiscope.studies.synonymy.settings import SynonymySettings

TASK = "minimal_pair"
UNKNOWN_LANGUAGE = SynonymySettings().language
NO_CATEGORIES = "Error categories of gap filling"
"""The name under which a source says that they do not apply to it."""

_PAIRS = "pairs"


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """Choice sets, the gaps that they leave, and what was recorded on them.

    ``gap`` is the template that is cut at its gap, ``english`` whether WordNet's counts fit the items, ``left_out``
    which analyses do not apply to them, each with its reason.
    """

    card: DatasetCard
    items: tuple[Item, ...]
    gap_items: tuple[Item, ...]
    gap: Template | None
    english: bool
    own: bool
    recorded: ResponseTable
    facts: tuple[SubjectFacts, ...]
    checksums: Mapping[str, str]
    deltas: np.ndarray[Any, np.dtype[np.float64]] | None = None
    left_out: tuple[tuple[str, str], ...] = ()


def open_source(settings: SynonymySettings) -> Source:
    """Return what the settings name: a dataset of the catalog or a file, with the paper's templates or the user's.

    Errors: those of the readers; :class:`SpecError` for a dataset without a collection, for templates beside choice
    sets that are ready or beside recorded outcomes; :class:`InputError` for choice sets that fill no design.
    """
    if not settings.items:
        return _of_catalog(settings)
    path = Path(settings.items)
    if not is_item_table(path) and is_collection(path):
        collection = read_collection(path, language=_language(settings))
        card = own_card(path, task=TASK, language=collection[0].language)
        return _made(collection, settings, card, {path.name: sha256_of(path)})
    return _ready(path, settings)


def _of_catalog(settings: SynonymySettings) -> Source:
    module = catalog.module("datasets", settings.dataset)
    if not hasattr(module, "collection"):
        raise SpecError(
            f"{settings.dataset} is no collection of synonyms", hint="use synonymy, mini_synonymy, or --items FILE"
        )
    collection = cast(Callable[[], tuple[SynonymItem, ...]], module.collection)()
    dataset: Dataset = catalog.dataset(settings.dataset)
    made = _made(collection, settings, dataset.card, dict(dataset.checksums))
    if not settings.templates:
        return replace(made, recorded=dataset.responses, facts=dataset.subjects)
    if settings.recorded:
        what = "recorded outcomes were made with the paper's templates, not with yours"
        raise SpecError(what, hint="leave out recorded, or templates")
    return made


def _made(
    collection: Sequence[SynonymItem], settings: SynonymySettings, card: DatasetCard, checksums: Mapping[str, str]
) -> Source:
    """The choice sets that templates make of a collection; without random nouns the controlled ones only."""
    english = all(is_english(item.language) for item in collection)
    templates = read_templates(settings.templates) if settings.templates else synonymy_templates()
    if not english and not settings.templates:
        # the words of the paper's templates are English; the substitution has none
        templates = tuple(each for each in templates if each.substitutes)
    has_nouns = all(item.random_nouns for item in collection)
    how: dict[str, Any] = {"mode": settings.mode, "dataset": card.name}
    items = choice_sets(collection, templates, conditions=None if has_nouns else [CONTROLLED], **how)
    gap = gap_template(templates)
    return Source(
        card,
        (*items, *turned_sets(collection, templates, **how)),
        gap_items(collection, template=gap, **how) if gap else (),
        gap,
        english,
        bool(settings.items or settings.templates),
        ResponseTable.empty(),
        (),
        checksums,
        _released_deltas(collection),
        tuple(_reasons(collection, templates, settings, has_nouns=has_nouns)),
    )


def _reasons(
    collection: Sequence[SynonymItem], templates: Sequence[Template], settings: SynonymySettings, *, has_nouns: bool
) -> list[tuple[str, str]]:
    """Which analyses the collection and its templates leave out, and why."""
    found = []
    if not settings.templates and not all(is_english(item.language) for item in collection):
        found.append(("Suites other than substitution", OTHER_LANGUAGE))
    if not has_nouns:
        found.append(("Random conditions, best of several and both", "An item has no random nouns (random_nouns)."))
    if not any(each.turned_round for each in templates):
        found.append(("The relation turned round", "No template has a text for it (turned)."))
    if gap_template(templates) is None:
        found.append(("Gap filling", "No template has {context} in front and only the target before its {word}."))
        return found
    if not any(item.synset for item in collection):
        found.append(("Gap filling by synset", "No item names the lemmas of its synset (synset)."))
    if settings.templates or not all(is_english(item.language) for item in collection):
        found.append((NO_CATEGORIES, "They are those of errors in synonymy, proposed from the English WordNet."))
    return found


OTHER_LANGUAGE = (
    "The items are not in English, and the texts of the paper's other suites and of gap filling are: --templates FILE "
    "gives them in the language of the items."
)


def _released_deltas(collection: Sequence[SynonymItem]) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """The token deltas that came with the collection, where it has them."""
    found = [dict(item.extra).get("token_delta", "") for item in sorted(collection, key=lambda item: item.number)]
    return np.array([float(text) for text in found]) if all(found) else None


# -- choice sets that are ready -------------------------------------------------------------------------------


def _ready(path: Path, settings: SynonymySettings) -> Source:
    if settings.templates:
        what = "these are choice sets, whose texts are made: templates have nothing to do"
        raise SpecError(what, hint="leave out templates, or give a collection (target, synonym, distractor, sentence)")
    if is_item_table(path):
        read = read_items(path)
    else:
        read = read_choice_sets(path, dataset=path.stem, language=_language(settings))
    items = tuple(_placed(item, number, path) for number, item in enumerate(read, start=1))
    _check_options(items, path)
    return Source(
        own_card(path, task=TASK, language=items[0].usages[0].language),
        items,
        (),
        None,
        all(is_english(item.usages[0].language) for item in items),
        True,
        ResponseTable.empty(),
        (),
        {path.name: sha256_of(path)},
        left_out=(("Gap filling", "The items are choice sets: they name no answer to a gap."),),
    )


def _placed(item: Item, number: int, path: Path) -> Item:
    """A choice set with its place in the design: what the file does not say is one suite, and a row is an item."""
    if not item.options or item.gold != item.options[0] or len(item.usages) != len(item.options):
        what = "this is no choice set: it needs options with a text each, the right one first"
        raise InputError(what, place=Place(str(path), item_id=item.item_id), hint="give items of the task minimal_pair")
    given: dict[str, Condition] = {
        "suite": _PAIRS,
        "expression": "",
        "condition": CONTROLLED if len(item.options) == 2 else RANDOM,
        "item": number,
        "sentence": item.item_id,
    }
    # an empty cell says nothing
    given |= {name: value for name, value in item.conditions.items() if value != ""}
    if not str(given["item"]).isdecimal():
        what = f"the item's number (column item) is a whole number, not {given['item']!r}"
        raise InputError(what, place=Place(str(path), item_id=item.item_id), hint="number the items from 1")
    return replace(item, conditions=given)


def _check_options(items: Sequence[Item], path: Path) -> None:
    """Check that the choice sets of a cell have as many options: chance is one number for each."""
    first: dict[str, Item] = {}
    for item in items:
        name = cell_of(item).name
        known = first.setdefault(name, item)
        if len(item.options) != len(known.options):
            raise InputError(
                f"{name} has choice sets of {len(known.options)} and of {len(item.options)} options",
                place=Place(str(path), item_id=item.item_id),
                hint="tell them apart in a column condition, and give every item one of each",
            )


# -- files of the user's own ----------------------------------------------------------------------------------


def _language(settings: SynonymySettings) -> str:
    """The language of items whose file does not name it: the setting, or else that of the templates."""
    if settings.language != UNKNOWN_LANGUAGE:
        return settings.language
    return read_templates(settings.templates)[0].language if settings.templates else "en"
