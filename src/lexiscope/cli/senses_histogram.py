"""``lexiscope senses histogram``: how many senses frequent and rare words have (GASI, Figure 4)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, say
from lexiscope.cli.verb import Verb
from lexiscope.core.run import write_atomically
from lexiscope.report.files import csv_text
from lexiscope.resources.sense_vectors import read_sense_vectors
from lexiscope.training.gasi.pruning import SensesByFrequency, senses_by_frequency


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--bins", type=click.IntRange(min=1), default=10, show_default=True, help="Of equally many words.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.csv", help="Write the table here, too.")
@options.as_json
def histogram(folder: Path, *, bins: int, out: Path | None, as_json: bool) -> None:
    """Count the senses of words, by how frequent words are.

    FOLDER is one that `lexiscope train gasi` or `gasi_prune` wrote. Words stand by falling frequency, in bins of
    equally many.
    """
    vectors = read_sense_vectors(folder)
    rows = senses_by_frequency(vectors, bins=min(bins, len(vectors.words)))
    columns = ("rank of frequency", *(f"{k + 1} senses" for k in range(len(rows[0].n_words))), "mean")
    if out is not None:
        write_atomically(out, csv_text(("first_rank", "last_rank", *columns[1:]), _cells(rows)))
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    shown = [(f"{row.first_rank}-{row.last_rank}", *row.n_words, row.mean) for row in rows]
    print_table(columns, shown, right=columns[1:], title="Words by their number of senses")
    if out is not None:
        say(f"written: {out}")


def _cells(rows: tuple[SensesByFrequency, ...]) -> list[tuple[object, ...]]:
    return [(row.first_rank, row.last_rank, *row.n_words, row.mean) for row in rows]
