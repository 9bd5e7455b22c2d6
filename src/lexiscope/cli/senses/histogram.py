"""``lexiscope senses histogram``: how many senses frequent and rare words have (GASI, Figure 4)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from lexiscope.build.minimal_pairs.word_counts import read_frequencies
from lexiscope.cli import options
from lexiscope.cli.output import print_json, say
from lexiscope.cli.senses.report_table import number_columns, print_senses_by_frequency
from lexiscope.cli.senses.subject import files_of, read_subject
from lexiscope.cli.verb import Verb, check_output, existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.core.run import write_atomically
from lexiscope.report.tables import csv_text
from lexiscope.senses.induced_senses import InducedSenses, senses_by_rank


@click.command(cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@options.of_arguments(senses_by_rank, "bins")
@options.path(
    "--counts",
    metavar="FILE.csv",
    about="How frequent words are, columns word and count: for vectors that do not say it.",
)
@options.path("--out", metavar="FILE.csv", about="Write the table here, too.")
@options.as_json
def histogram(subject: str, *, bins: int, counts: Path | None, out: Path | None, as_json: bool) -> None:
    """Count the senses of words, by how frequent words are.

    SUBJECT is gasi:FOLDER or sense_embedding:FORMAT:FILES. Words stand by falling frequency, in bins of equally many.
    """
    asked = read_subject(subject)
    if out is not None:
        check_output(out, *files_of(asked), *([counts] if counts else []))
    induced = asked.induced
    n_senses = induced.n_senses[_frequency_order(induced, counts)]
    rows = senses_by_rank(n_senses, int(n_senses.max()), bins=min(bins, len(n_senses)))
    if out is not None:
        cells = [(row.first_rank, row.last_rank, *row.n_words, row.mean) for row in rows]
        write_atomically(out, csv_text(("first_rank", "last_rank", *number_columns(rows), "mean"), cells))
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    print_senses_by_frequency(rows)
    if out is not None:
        say(f"Saved {out}")


def _frequency_order(induced: InducedSenses, counts: Path | None) -> NDArray[np.int64]:
    """Return the numbers of the words, the most frequent first; of equals the first in the file."""
    if counts is not None:
        given = read_frequencies(existing_file(counts))
        frequencies = np.array([given.get(word.casefold(), 0.0) for word in induced.words])
    elif induced.counts is not None:
        frequencies = induced.counts.astype(np.float64)
    else:
        hint = "give a table with the columns word and count by --counts"
        what = "these vectors have no word frequencies"
        raise InputError(what, code="E733", place=Place(induced.name or None), hint=hint)
    if not frequencies.any():
        raise InputError("no word of these vectors is in the table", code="E733", place=Place(str(counts)))
    return np.argsort(-frequencies, kind="stable")
