"""``lexiscope senses``: look at induced senses, and ask people about them; each verb is loaded when it is called."""

from __future__ import annotations

import click

from lexiscope.cli.main import LazyVerbs

#: verb -> (where its command is, the first line of its help)
VERBS: dict[str, tuple[str, str]] = {
    "histogram": ("lexiscope.cli.senses_histogram:histogram", "Count the senses of words, by how frequent words are."),
}


class _Verbs(LazyVerbs):
    """The verbs that look at senses, then those that ask people."""

    verbs, heading = VERBS, "Verbs"


@click.group(cls=_Verbs, subcommand_metavar="VERB [ARGS]...")
def senses() -> None:
    """Induced senses: neighbours, example sentences, tests for people."""
