"""``lexiscope list``: what there is. Studies and subjects are described by their files' text, without running them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import click

from lexiscope.cli.output import print_json, print_table
from lexiscope.cli.verb import Verb
from lexiscope.cli.verb import as_json as json_option
from lexiscope.core import catalog
from lexiscope.core.catalog import PACKAGE
from lexiscope.core.errors import SpecError, nearest_name

if TYPE_CHECKING:
    from lexiscope.resources.cards import ResourceCard

ROOMS = ("datasets", "resources", "tasks", "subjects", "studies", "pairings")
Row = dict[str, str]


class _Room(click.Choice[str]):
    """A room of the catalog; an unknown one is an error with the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the room. Errors: :class:`click.BadParameter` for an unknown one."""
        near = nearest_name(value, ROOMS) if value not in ROOMS else ""
        return (
            self.fail(f"{value!r} is unknown. Did you mean {near!r}?", param, ctx)
            if near
            else super().convert(value, param, ctx)
        )


@click.command("list", cls=Verb)
@click.argument("room", type=_Room(ROOMS), required=False)
@json_option
def list_catalog(room: str | None, *, as_json: bool) -> None:
    """List datasets, resources, tasks, subjects, studies or pairings.

    A resource is a lexicon or a tagged corpus. A pairing is a task and a kind of subject that can answer it, with the
    capability by which it answers. A trained model or a baseline answers the tasks of its training or of its rule.
    Without an argument, the names in all catalogs are listed. A name that another installed package adds is listed with
    that package. Licences are long; --json prints them.
    """
    rows = room_rows(room) if room else overview_rows()
    if as_json:
        print_json(rows)
    elif rows:
        # where all are of this package, the column would say nothing
        hidden = {"licence"} | ({"from"} if all(row.get("from", PACKAGE) == PACKAGE for row in rows) else set())
        shown = [{key: text for key, text in row.items() if key not in hidden} for row in rows]
        print_table(list(shown[0]), [list(row.values()) for row in shown], whole=("name", "room", "from"), below="what")


def room_rows(room: str) -> list[Row]:
    """Return a room of the catalog as rows with the same keys, in the order of the names."""
    if room == "pairings":
        return [{"task": task, "subject": kind, "answers by": by} for task, kind, by in catalog.pairings()]
    if room == "resources":
        return [
            {"name": card.name, "language": card.language, "licence": card.licence, "data": card.availability}
            | {"what": card.summary}
            for card in _resource_cards().values()
        ]
    kind = cast(catalog.Kind, room)
    return [_catalog_row(kind, name) for name in catalog.names(kind)]


def overview_rows() -> list[Row]:
    """Return one row per room with the names in it."""
    names = {kind: catalog.names(kind) for kind in catalog.KINDS}
    rooms = {"datasets": names["datasets"], "resources": tuple(_resource_cards())} | names
    return [{"room": room, "names": ", ".join(names)} for room, names in rooms.items()]


def _catalog_row(kind: catalog.Kind, name: str) -> Row:
    """Return the row of a name. What another package adds and cannot be loaded is listed with the reason."""
    keys, describe = _FACTS[kind]
    row = {"name": name, "from": catalog.origin(kind, name)}
    try:
        facts = describe(name)
    except SpecError:
        if row["from"] == PACKAGE:
            raise
        facts = dict.fromkeys(keys, "")
    return row | facts | {"what": catalog.summary(kind, name)}


def _resource_cards() -> Mapping[str, ResourceCard]:
    # these bring all that a dataset is made of, which the other rooms are listed without
    return cast("Mapping[str, ResourceCard]", import_module("lexiscope.resources.cards").CARDS)


def _card_facts(name: str) -> Row:
    texts = catalog.card_texts(name, "task", "language", "licence", "availability")
    return texts | {"data": texts.pop("availability")}


_FACTS: dict[catalog.Kind, tuple[tuple[str, ...], Callable[[str], Row]]] = {
    "datasets": (
        ("task", "language", "licence", "data"),
        _card_facts,
    ),
    "tasks": (("answered by",), lambda name: {"answered by": ", ".join(catalog.task_capabilities(name))}),
    "subjects": (("can",), lambda kind: {"can": ", ".join(catalog.subject_capabilities(kind))}),
    "studies": ((), lambda _name: {}),
}
"""For each room, the columns between a name and what it is, and a function that fills them in."""
