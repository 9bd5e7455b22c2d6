"""``lexiscope senses show``: the senses of one word, in the terminal."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, progress_bar, remark, say_folded
from lexiscope.cli.senses.subject import read_subject
from lexiscope.cli.verb import Verb
from lexiscope.report.page.sense_explorer import percent, word_line
from lexiscope.resources.corpora.running_text import corpus_files
from lexiscope.senses.entries import SenseEntry, WordEntry, make_entries
from lexiscope.senses.examples import SenseExamples, SenseUsage, read_usages
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.training.gasi.pruning import count_senses
from lexiscope.training.gasi.shards import ABOUT, open_shards
from lexiscope.training.gasi.train import SHARDS


@click.command(cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@click.argument("word", metavar="WORD")
@click.option("--sentence", metavar="TEXT", help="Show the probability of each sense in this sentence.")
@options.path(
    "--corpus",
    metavar="FILE|FOLDER",
    about="Count the senses here; .gz, .xz and .bz2 too. May be repeated. Default: in FOLDER/shards, if it is there.",
    multiple=True,
)
@options.of_arguments(make_entries, "n_neighbours")
@options.as_json
@options.quiet
def show(
    subject: str,
    word: str,
    *,
    sentence: str | None,
    corpus: tuple[Path, ...],
    n_neighbours: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show the senses of a word with their neighbours, in the terminal.

    SUBJECT is gasi:FOLDER, usage_clusters:FOLDER or sense_embedding:FORMAT:FILES. Neighbours are distinct words, of
    each its nearest sense of all senses of all words: of usage_clusters, of the words that were induced together.
    """
    files = corpus_files(corpus)
    reader = read_subject(subject)
    usages = () if sentence is None else read_usages(reader, word, sentence)
    with progress_bar("show", quiet=quiet) as report:
        (entry,) = make_entries(reader, [word], files, n_neighbours=n_neighbours, n_best=0, progress=report)
    if not files and isinstance(reader, Gasi):
        entry = _with_corpus_counts(reader, entry)
    if as_json:
        print_json(_entry_json(entry, usages))
        return
    say_folded(f"{word}: {word_line(entry if files else replace(entry, n=None))}")
    _print_senses(entry, usages)
    for number, usage in enumerate(usages, start=1):
        shown = f"{usage.text[: usage.start]}[{usage.text[usage.start : usage.end]}]{usage.text[usage.end :]}"
        say_folded(f"{_column_name(number, len(usages))}: {shown}")
        nothing = "no known word is near it" if reader.window else "the whole text"
        say_folded(f"  chosen by: {', '.join(usage.beside) or nothing}")
    if not any(map(_share_text, entry.senses)):
        remark("how often each sense is chosen: --corpus FILE", quiet=quiet)


def _with_corpus_counts(reader: Gasi, entry: WordEntry) -> WordEntry:
    """Return the entry with what the corpus of the training shows, if it is next to the vectors."""
    folder = reader.folder / SHARDS
    if not (folder / ABOUT).is_file():
        return entry
    counts = count_senses(open_shards(folder), reader.vectors, entry.word, window=reader.window)
    counted = zip(entry.senses, counts.shares, counts.chosen, strict=True)
    senses = tuple(replace(sense, examples=SenseExamples(share, n, (), ())) for sense, share, n in counted)
    return replace(entry, senses=senses, n=counts.n)


def _print_senses(entry: WordEntry, usages: tuple[SenseUsage, ...]) -> None:
    shares = [_share_text(sense) for sense in entry.senses]
    named = [_column_name(number, len(usages)) for number in range(1, len(usages) + 1)]
    columns = ["sense", *(["share"] if any(shares) else []), *named, "neighbours"]
    rows = [
        (
            sense.number,
            *([share] if any(shares) else []),
            *(percent(usage.probabilities[place]) for usage in usages),
            ", ".join(near.word for near in sense.neighbours),
        )
        for place, (sense, share) in enumerate(zip(entry.senses, shares, strict=True))
    ]
    print_table(columns, rows, right=columns[:-1])


def _share_text(sense: SenseEntry) -> str:
    return "" if sense.share is None else percent(sense.share)


def _column_name(number: int, n: int) -> str:
    return "in sentence" if n == 1 else f"in sentence ({number})"


def _entry_json(entry: WordEntry, usages: tuple[SenseUsage, ...]) -> dict[str, Any]:
    senses = []
    for sense in entry.senses:
        examples = sense.examples
        corpus = (
            None if examples is None else {"share": examples.share if entry.n else None, "n_chosen": examples.n_chosen}
        )
        near = [{**asdict(neighbour), "sense": neighbour.sense + 1} for neighbour in sense.neighbours]
        senses.append({"number": sense.number, "prior": sense.prior, "corpus": corpus, "neighbours": near})
    told = {name: getattr(entry, name) for name in ("word", "pruned", "count", "n", "n_alone")}
    return {**told, "senses": senses, "usages": [asdict(usage) for usage in usages]}
