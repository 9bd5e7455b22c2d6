"""``lexiscope data``: fetch, verify or locate published datasets and lexical resources."""

from __future__ import annotations

import difflib
from functools import partial
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, progress_bar, remark, say
from lexiscope.cli.verb import Verb
from lexiscope.core import catalog
from lexiscope.core.code_file import is_path
from lexiscope.core.errors import SpecError
from lexiscope.core.settings import ItemSettings
from lexiscope.core.showing import counted
from lexiscope.items.read.item_source import task_of_items
from lexiscope.resources import fetch
from lexiscope.resources.cards import CARDS
from lexiscope.resources.corpora import semcor
from lexiscope.resources.corpora.unified_wsd import corpus_counts
from lexiscope.resources.fetch import HubAddress, download_from_hub, is_hub_address
from lexiscope.studies.kit.portable import FORMATS, read_source, write_folder
from lexiscope.tasks import DEFAULT


@click.group()
def data() -> None:
    """Download published data, verify their checksums, show their folders."""


@data.command("get", cls=Verb)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", type=options.CatalogName("datasets"))
@click.option("--all", "everything", is_flag=True, help="Also the files that loading does not need.")
@options.quiet
def get(names: tuple[str, ...], *, everything: bool, quiet: bool) -> None:
    """Download datasets and resources at their pinned version.

    What is there already is only verified. NAME can be the address of a dataset of the Hugging Face Hub
    (hf://datasets/OWNER/NAME@REVISION): the folder with its files is printed.
    """
    addresses = [HubAddress.parse(name) for name in names if is_hub_address(name)]
    for card in [_card_of(name) for name in names if not is_hub_address(name)]:
        remark(f"{card.name}: {card.licence}; please cite: {card.citation}", quiet=quiet)
        with progress_bar(card.name, quiet=quiet) as report:
            paths = fetch.get(card, optional=everything, progress=None if report is None else partial(report, "files"))
        for path in paths:
            say(str(path))
    for address in addresses:
        say(str(download_from_hub(address)))


@data.command("write", cls=Verb)
@click.argument("source", metavar="DATASET|FILE|FOLDER", type=options.CatalogName("datasets"))
@click.option("--format", "form", type=click.Choice(FORMATS), required=True, help="Format of the folder.")
@options.path("--out", metavar="FOLDER", about="New folder for the files.", required=True)
@click.option(
    "--task",
    metavar="TASK",
    type=options.CatalogName("tasks"),
    help=f"Task of the items of a file. Default: {DEFAULT}.",
)
@options.of_settings(ItemSettings, "language", "columns", "encoding", "separator", "decimal", "missing")
@options.quiet
def write(*, source: str, form: str, out: Path, task: str | None, quiet: bool, **given: Any) -> None:
    """Write a dataset, or your items with their ratings, as a folder for other programs.

    The format durel has uses.csv, instances.csv and judgments.csv of pairs of usages, rated from 1 to 4. The format hub
    is a folder for the Hugging Face Hub: a card, and Parquet files of items, of ratings (one row per rater) and of all
    responses. Both are also read: SOURCE is a dataset, a file, or such a folder.
    """
    settings = options.make_settings(ItemSettings, given)
    written = read_source(source, task=task_of_items(source, task), language=settings.language, options=settings)
    remark(f"{counted(len(written.items), 'item')}, {counted(len(written.responses), 'response')}", quiet=quiet)
    for path in write_folder(written, out, form):
        say(str(path))


@data.command("check", cls=Verb)
@click.argument("names", nargs=-1, metavar="[NAME...]", type=options.CatalogName("datasets"))
@options.as_json
@click.pass_context
def check(ctx: click.Context, /, names: tuple[str, ...], *, as_json: bool) -> None:
    """Compare the files on this machine with their published checksums.

    Without names, every dataset and resource is checked. The exit status is 1 where a named one is incomplete or
    where any file is not the published one.
    """
    cards = [_card_of(name) for name in names or (*catalog.names("datasets"), *CARDS)]
    rows = [row for card in cards for row in _file_rows(card)]
    if as_json:
        print_json(rows)
    else:
        states = [f"{row['state']} (optional)" if row["optional"] else row["state"] for row in rows]
        shown = [(row["dataset"], row["file"], state) for row, state in zip(rows, states, strict=True)]
        print_table(("name", "file", "state"), shown)
    bad = {"wrong checksum", "missing"} if names else {"wrong checksum"}
    ctx.exit(1 if any(row["state"] in bad and not row["optional"] for row in rows) else 0)


@data.command("where", cls=Verb)
@options.as_json
def where(*, as_json: bool) -> None:
    """Print the folders that are searched for data, in order."""
    folders = [str(folder) for folder in fetch.data_folders()]
    if as_json:
        print_json(folders)
        return
    for folder in folders:
        say(folder)


@data.command("convert", cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the files.")
@options.quiet
def convert(folder: Path, *, out: Path, quiet: bool) -> None:
    """Write SemCor's tag files in the unified layout.

    FOLDER has the tag files (brown1/tagfiles/br-a01 and so on). The counts are printed with those of all of SemCor
    3.0.
    """
    corpus = semcor.convert(folder, out)
    whole = dict(CARDS["semcor"].counts)
    for name, number in corpus_counts(corpus.documents()).items():
        remark(f"{name}: {number} (SemCor 3.0: {whole[name]})", quiet=quiet)
    for path in (corpus.data, corpus.keys):
        say(str(path))


def _card_of(name: str) -> fetch.Card:
    """The card of a dataset or of a resource."""
    if is_path(name):
        return catalog.card(name)
    known = (*catalog.names("datasets"), *CARDS)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"valid names: {', '.join(known)}"
        raise SpecError(f"Unknown dataset or resource {name!r}.", hint=hint)
    return CARDS[name] if name in CARDS else catalog.card(name)


def _file_rows(card: fetch.Card) -> list[dict[str, object]]:
    if not card.files:
        return [{"dataset": card.name, "file": "(embedded)", "state": "ok", "path": None, "optional": False}]
    return [
        {
            "dataset": card.name,
            "file": state.file.path,
            "state": state.status,
            "path": None if state.path is None else str(state.path),
            "optional": state.file.optional,
        }
        for state in fetch.file_states(card)
    ]
