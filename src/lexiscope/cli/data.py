"""``lexiscope data``: fetch, verify or locate published data."""

from __future__ import annotations

from functools import partial

import click

from lexiscope.cli.options import as_json as json_option
from lexiscope.cli.options import quiet as quiet_option
from lexiscope.cli.output import print_json, print_table, progress_bar, remark, say
from lexiscope.cli.verb import Verb
from lexiscope.core import catalog
from lexiscope.core.dataset import DatasetCard
from lexiscope.resources import fetch


@click.group()
def data() -> None:
    """Fetch, verify or locate published data."""


@data.command("get", cls=Verb)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--all", "everything", is_flag=True, help="Also the files that loading does not need.")
@quiet_option
def get(names: tuple[str, ...], *, everything: bool, quiet: bool) -> None:
    """Download datasets at their pinned version.

    What is there already is only verified.
    """
    for card in [catalog.card(name) for name in names]:
        remark(f"{card.name}: {card.licence}; please cite: {card.citation}", quiet=quiet)
        with progress_bar(card.name, quiet=quiet) as report:
            paths = fetch.get(card, optional=everything, progress=None if report is None else partial(report, "files"))
        for path in paths:
            say(str(path))


@data.command("check", cls=Verb)
@click.argument("names", nargs=-1, metavar="[NAME...]")
@json_option
@click.pass_context
def check(ctx: click.Context, /, names: tuple[str, ...], *, as_json: bool) -> None:
    """Compare the files on this machine with their published checksums.

    Without names, every dataset is checked. The exit status is 1 where a named dataset is incomplete or where any
    file is not the published one.
    """
    cards = [catalog.card(name) for name in names or catalog.names("datasets")]
    rows = [row for card in cards for row in _file_rows(card)]
    if as_json:
        print_json(rows)
    else:
        shown = [(row["dataset"], row["file"], _state(row)) for row in rows]
        print_table(("dataset", "file", "state"), shown)
    bad = {"wrong checksum", "missing"} if names else {"wrong checksum"}
    ctx.exit(1 if any(row["state"] in bad and not row["optional"] for row in rows) else 0)


@data.command("where", cls=Verb)
def where() -> None:
    """Print the folders in which data are looked for, in order."""
    for folder in fetch.where():
        say(str(folder))


def _state(row: dict[str, object]) -> str:
    return f"{row['state']} (optional)" if row["optional"] else str(row["state"])


def _file_rows(card: DatasetCard) -> list[dict[str, object]]:
    if not card.files:
        return [{"dataset": card.name, "file": "(embedded)", "state": "ok", "path": None, "optional": False}]
    return [
        {
            "dataset": card.name,
            "file": found.file.path,
            "state": found.status,
            "path": None if found.path is None else str(found.path),
            "optional": found.file.optional,
        }
        for found in fetch.check(card)
    ]
