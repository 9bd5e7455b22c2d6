"""``lexiscope senses induce``: senses from an encoder's vectors of usages, as many as the usages support."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import print_table, progress_bar, remark, say
from lexiscope.cli.verb import Verb, check_new, existing_file
from lexiscope.collect import with_run_options
from lexiscope.core import catalog
from lexiscope.core.run import sha256_of
from lexiscope.resources.corpora.running_text import corpus_files
from lexiscope.senses.entries import read_words
from lexiscope.senses.examples import draw_usages
from lexiscope.training.usage_clusters import ClusterSettings, make_usage_clusters

_SHOWN = 20


@click.command("induce", cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@options.path("--words", metavar="FILE", about="One word per line.", required=True)
@options.path(
    "--corpus",
    metavar="FILE|FOLDER",
    about="Where usages come from; .gz, .xz and .bz2 too. May be repeated.",
    required=True,
    multiple=True,
)
@options.path("--out", metavar="FOLDER", about="A new folder.", required=True)
@click.option(
    "--per-word",
    type=click.IntRange(min=10),
    default=200,
    show_default=True,
    help="Usages of a word that are drawn from the corpus.",
)
@options.of_settings(ClusterSettings)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draw and the clusters."
)
@options.device
@options.quiet
def induce(
    subject: str,
    *,
    words: Path,
    corpus: tuple[Path, ...],
    out: Path,
    per_word: int,
    seed: int,
    device: str,
    quiet: bool,
    **given: Any,
) -> None:
    """Induce senses from an encoder: cluster the usages of each word, as many senses as they support.

    SUBJECT is an encoder, for instance encoder:minilm. Usages are drawn from the corpus; their vectors, of one layer,
    are a mixture of round clusters, each a sense. FOLDER loads as usage_clusters:FOLDER, for `lexiscope senses
    intrusion`, `selection`, `planted`, `drift`, and `lexiscope study sense_induction`; senses.csv has the number of
    senses of each word and what each number reached.
    """
    check_new(out)
    asked, settings = read_words(existing_file(words)), options.make_settings(ClusterSettings, given)
    encoder, files = catalog.subject(with_run_options(subject, device=device)), corpus_files(corpus)
    with progress_bar("induce", quiet=quiet) as report:
        usages = draw_usages(asked, files, per_word=per_word, seed=seed, progress=report)
        about = {
            "corpus": {"sha256": {path.name: sha256_of(path) for path in files}, "per_word": per_word},
            "command": ["lexiscope", *sys.argv[1:]],
        }
        made = make_usage_clusters(encoder, usages, out=out, settings=settings, seed=seed, about=about, progress=report)
    n_by_count = Counter(own.n_senses for own in made.clusters.values())
    print_table(("senses", "words"), sorted(n_by_count.items()), right=("senses", "words"))
    for entry in made.left_out[:_SHOWN]:
        remark(f"excluded: {entry.word}: {entry.why}", quiet=quiet)
    say(f"{sum(n * words_of for n, words_of in n_by_count.items())} senses of {len(made.clusters)} words")
    say(f"Saved {out}")
