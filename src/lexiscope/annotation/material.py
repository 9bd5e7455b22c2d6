"""The items of a study: from its item file or from a dataset of the catalog."""

from __future__ import annotations

from dataclasses import replace

from lexiscope.annotation.definition import StudyDefinition
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.items.columns import ColumnMap
from lexiscope.items.importer import import_items


def study_items(definition: StudyDefinition) -> tuple[Item, ...]:
    """Return the items that participants are to answer; ratings beside them are not used.

    Columns that the task shows are conditions, whatever their name. Errors: :class:`InputError` E620 where the
    definition names neither a file nor a dataset; those of :func:`lexiscope.items.importer.import_items`.
    """
    if definition.dataset:
        return tuple(replace(item, list_id=None) for item in catalog.dataset(definition.dataset).items)
    if not definition.items:
        raise InputError("the study has no items", code="E620", hint="name an item file (items) or a dataset")
    imported = import_items(
        definition.items,
        ColumnMap.from_mapping(definition.columns),
        dataset=definition.name,
        task=definition.task,
        scale=definition.scale.scale(),
        language=definition.language,
        conditions=catalog.screen(definition.task).requires,
    )
    return imported.items
