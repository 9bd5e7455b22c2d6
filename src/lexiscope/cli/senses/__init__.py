"""``lexiscope senses``: look at induced senses, and ask people about them; each verb is loaded when it is called."""

from __future__ import annotations

import click

from lexiscope.cli.main import LazyVerbs

#: verb -> (where its command is, the first line of its help)
VERBS: dict[str, tuple[str, str]] = {
    "show": ("lexiscope.cli.senses.show:show", "Show the senses of a word with their neighbours, in the terminal."),
    "explore": (
        "lexiscope.cli.senses.explore:explore_senses",
        "Write one page on the senses of many words, for lexicographers.",
    ),
    "histogram": ("lexiscope.cli.senses.histogram:histogram", "Count the senses of words, by how frequent words are."),
    "intrusion": (
        "lexiscope.cli.senses.make_tests:intrusion",
        "Make word-intrusion items: nine neighbours of a sense, and one word from another sense of the same word.",
    ),
    "selection": (
        "lexiscope.cli.senses.make_tests:selection",
        "Make sense-selection items: a sentence, and a group of neighbours for each sense of its marked noun.",
    ),
    "induce": (
        "lexiscope.cli.senses.induce:induce",
        "Induce senses from an encoder: cluster the usages of each word, as many senses as they support.",
    ),
    "drift": (
        "lexiscope.cli.senses.drift:drift",
        "Show which senses of words appear, vanish, rise or fall from one corpus to another, for lexicographers.",
    ),
    "distinct": (
        "lexiscope.cli.senses.distinct:distinct",
        "Keep the senses that people distinguish, and report the gain on other people and pages.",
    ),
    "planted": (
        "lexiscope.cli.senses.planted:planted",
        "Report how well planted senses are separated, and how well the probabilities of senses are calibrated.",
    ),
    "people": (
        "lexiscope.cli.senses.people:people",
        "Report people's results in word intrusion and sense selection.",
    ),
}


@click.group(cls=LazyVerbs, verbs=VERBS, heading="Verbs", subcommand_metavar="VERB [ARGS]...")
def senses() -> None:
    """Explore induced senses and test them with people."""
