"""``lexiscope train``: train a model on items, ratings or text; each kind of training is loaded when it is called."""

from __future__ import annotations

import click

from lexiscope.cli.main import LazyVerbs

#: training -> where its command is
TRAININGS: dict[str, tuple[str, str]] = {
    "classifier": (
        "lexiscope.cli.train.on_view:classifier",
        "Train a classifier of pairs, definitions or glosses on one view.",
    ),
    "bi_encoder": (
        "lexiscope.cli.train.on_view:bi_encoder",
        "Train a bi-encoder on one view: nearest of all synsets or pages.",
    ),
    "lora": ("lexiscope.cli.train.lora:lora", "Fine-tune a language model on ratings with LoRA."),
    "gasi": ("lexiscope.cli.train.gasi:gasi", "Learn vectors of induced senses from running text."),
    "gasi_prune": ("lexiscope.cli.train.gasi:gasi_prune", "Drop duplicates among induced senses."),
    "gasi_export": ("lexiscope.cli.train.gasi:gasi_export", "Write vectors of induced senses for other programs."),
}


@click.group(cls=LazyVerbs, verbs=TRAININGS, heading="Trainings", subcommand_metavar="TRAINING [ARGS]...")
def train() -> None:
    """Train a classifier, a bi-encoder, an adapter or sense embeddings."""
