"""``lexiscope senses explore``: one page on the senses of many words, for lexicographers."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.output import progress_bar, remark, say
from lexiscope.cli.senses_subject import read_subject
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.items.sense_entries import read_words
from lexiscope.report.sense_explorer import ExplorerSettings, explore, write_explorer
from lexiscope.resources.running_text import corpus_files

_DEFAULTS = ExplorerSettings()
_LARGE = 25_000_000


@click.command("explore", cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@click.option("--words", required=True, type=click.Path(path_type=Path), metavar="FILE", help="A word a line.")
@click.option(
    "--corpus",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE|FOLDER",
    help="Where examples come from; .gz, .xz and .bz2 too. May be repeated. Without: no examples.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.html", help="The page.")
@click.option(
    "--neighbours",
    type=click.IntRange(1, 50),
    default=_DEFAULTS.n_neighbours,
    show_default=True,
    help="Of each sense, distinct words.",
)
@click.option(
    "--examples",
    type=click.IntRange(0, 100),
    default=_DEFAULTS.n_best,
    show_default=True,
    help="Of each sense, the most probable.",
)
@click.option(
    "--random",
    "drawn",
    type=click.IntRange(0, 100),
    default=_DEFAULTS.n_drawn,
    show_default=True,
    help="Examples of each sense drawn at random, besides.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draw and of the maps.")
@click.option("--language", default="und", show_default=True, metavar="TAG", help="Of the words, for screen readers.")
@options.quiet
def explore_senses(
    subject: str,
    *,
    words: Path,
    corpus: tuple[Path, ...],
    out: Path,
    neighbours: int,
    examples: int,
    drawn: int,
    seed: int,
    language: str,
    quiet: bool,
) -> None:
    """Write one page on the senses of many words, for lexicographers.

    SUBJECT is gasi:FOLDER or sense_embedding:FORMAT:FILES. The page shows of every word its senses, with ten
    neighbours, example sentences and a map; it opens in a browser without a network and has a search box. Words that
    are not in the vocabulary are listed on it.
    """
    asked = read_words(existing_file(words))
    files = corpus_files(corpus)
    reader = read_subject(subject)
    settings = ExplorerSettings(neighbours, examples, drawn, seed, language)
    with progress_bar("explore", quiet=quiet) as report:
        found = explore(
            reader,
            asked,
            files,
            subject_id=reader.subject_id,
            about=reader.facts.title,
            settings=settings,
            progress=report,
        )
    size = write_explorer(found, out)
    if found.unknown:
        listed = ", ".join(each.word for each in found.unknown[:10]) + (" …" if len(found.unknown) > 10 else "")
        remark(f"not in the vocabulary: {listed}", quiet=quiet)
    say(f"written: {out} ({len(found.words):,} words, {size / 1e6:.1f} MB)")
    if size > _LARGE:
        remark("a browser will be slow with so large a page: take fewer words, or fewer --examples", quiet=quiet)
