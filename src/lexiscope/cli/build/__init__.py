"""``lexiscope build``: make items from a corpus and a lexicon; each verb is loaded when it is called."""

from __future__ import annotations

import click

from lexiscope.cli.main import LazyVerbs

#: verb -> where its command is, in the order of the work
VERBS: dict[str, tuple[str, str]] = {
    "minimal-pairs": (
        "lexiscope.cli.build.pairs:minimal_pairs",
        "Make synonym pairs: candidates, an automatic choice, suites.",
    ),
    "curate": ("lexiscope.cli.build.curate:curate", "Accept, change or reject proposed items in the terminal."),
    "sheet": ("lexiscope.cli.build.curate:sheet", "Write a sheet in which a curator decides with a spreadsheet."),
    "read-sheet": ("lexiscope.cli.build.curate:read_sheet", "Record the decisions of a filled-in sheet."),
    "compare": (
        "lexiscope.cli.build.curate:compare_curators",
        "Report the agreement of two curators and list their disagreements.",
    ),
    "merge": ("lexiscope.cli.build.curate:merge_curators", "Write the collection of accepted proposals."),
}


@click.group(cls=LazyVerbs, verbs=VERBS)
def build() -> None:
    """Build minimal pairs from a corpus and a lexicon, and curate them."""
