"""``lexiscope senses explore``: one page on the senses of many words, for lexicographers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from lexiscope.cli import options
from lexiscope.cli.output import progress_bar, remark, say
from lexiscope.cli.senses.subject import files_of, read_subject
from lexiscope.cli.verb import Verb, check_output, existing_file
from lexiscope.report.page.sense_explorer import Exploration, ExplorerSettings, explore, write_explorer
from lexiscope.resources.corpora.running_text import corpus_files
from lexiscope.senses.entries import read_words

_LARGE, _LISTED = 25_000_000, 10


@click.command("explore", cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@options.path("--words", metavar="FILE", about="One word per line.", required=True)
@options.path(
    "--corpus",
    metavar="FILE|FOLDER",
    about="Where examples come from; .gz, .xz and .bz2 too. May be repeated. Without: no examples.",
    multiple=True,
)
@options.path("--out", metavar="FILE.html", about="The page.", required=True)
@options.of_settings(ExplorerSettings)
@options.quiet
def explore_senses(
    subject: str, *, words: Path, corpus: tuple[Path, ...], out: Path, quiet: bool, **given: Any
) -> None:
    """Write one page on the senses of many words, for lexicographers.

    SUBJECT is gasi:FOLDER or sense_embedding:FORMAT:FILES. The page shows of every word its senses, with ten
    neighbours, example sentences and a map; it opens in a browser without a network and has a search box. Words that
    are not in the vocabulary are listed on it.
    """
    check_output(out, words, *corpus)
    asked = read_words(words if words.is_file() else existing_file(words))
    files = corpus_files(corpus)
    reader = read_subject(subject)
    check_output(out, *files_of(reader))
    settings = options.make_settings(ExplorerSettings, given)
    with progress_bar("explore", quiet=quiet) as report:
        exploration = explore(
            reader,
            asked,
            files,
            subject_id=reader.subject_id,
            about=reader.facts.title,
            settings=settings,
            progress=report,
        )
    size = write_explorer(exploration, out)
    for text in _remarks(exploration, size):
        remark(text, quiet=quiet)
    say(f"Saved {out} ({len(exploration.words):,} words, {_size_text(size)})")


def _remarks(exploration: Exploration, size: int) -> Iterator[str]:
    if exploration.unknown:
        yield f"not in the vocabulary: {_short_list([entry.word for entry in exploration.unknown])}"
    absent = [entry.word for entry in exploration.words if entry.n == 0]
    if absent and len(absent) == len(exploration.words):
        yield "none of the words is in the corpus: is it in their language, and written as the training corpus?"
    elif absent:
        yield f"not in the corpus: {_short_list(absent)}"
    if size > _LARGE:
        yield "a browser will be slow with so large a page: take fewer words, or fewer --examples"


def _short_list(words: Sequence[str]) -> str:
    return ", ".join(words[:_LISTED]) + (f" and {len(words) - _LISTED:,} more" if len(words) > _LISTED else "")


def _size_text(size: int) -> str:
    """Return a number of bytes in kB or MB.

    >>> _size_text(4_774_195), _size_text(61_000)
    ('4.8 MB', '61 kB')
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
