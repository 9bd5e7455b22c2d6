"""``lexiscope senses drift``: words whose senses appear, vanish or shift between two corpora."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.senses.drift import drifts
from lexiscope.cli import options
from lexiscope.cli.output import print_json, progress_bar, remark, say
from lexiscope.cli.senses.report_table import print_report_table
from lexiscope.cli.senses.subject import SenseSubject, read_subject
from lexiscope.cli.verb import Verb, check_new, existing_file
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.core.usage import Usage
from lexiscope.report.document import Report
from lexiscope.report.page.study_folder import about_run, write_run
from lexiscope.report.parts.drift_parts import DriftExamples, drift_sections
from lexiscope.resources.corpora.running_text import corpus_files
from lexiscope.senses.entries import read_words
from lexiscope.senses.examples import draw_usages
from lexiscope.studies.sense_induction.settings import SenseInductionSettings

_FEWEST, _NEIGHBOURS, _NAMED = 10, 8, 10


@dataclass(frozen=True, slots=True)
class ComparedWord:
    """A word in two corpora: the rows of its senses among all senses, its usages, and how probable its senses are.

    *Shape:* usages and shares have an entry for each corpus; shares (usages, senses).
    """

    rows: tuple[int, ...]
    usages: tuple[tuple[Usage, ...], ...]
    shares: tuple[NDArray[np.float64], ...]

    @property
    def chosen(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The most probable sense of each usage, in each corpus."""
        first, second = (np.asarray(own.argmax(axis=1), np.int64) for own in self.shares)
        return first, second

    def examples(self, n: int) -> tuple[tuple[tuple[Usage, ...], ...], ...]:
        """Return up to *n* usages of each sense in each corpus, the surest first. *Shape: (senses, corpora)*."""
        senses = []
        for sense in range(len(self.rows)):
            sides = []
            for usages, shares, chosen in zip(self.usages, self.shares, self.chosen, strict=True):
                mine = np.flatnonzero(chosen == sense)
                best = mine[np.argsort(-shares[mine, sense], kind="stable")][:n]
                sides.append(tuple(usages[place] for place in best.tolist()))
            senses.append(tuple(sides))
        return tuple(senses)


@click.command("drift", cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@options.path("--words", metavar="FILE", about="A word a line.", required=True)
@options.path(
    "--first",
    metavar="FILE|FOLDER",
    about="The first corpus: the older, or one of two fields. May be repeated.",
    required=True,
    multiple=True,
)
@options.path(
    "--second", metavar="FILE|FOLDER", about="The second corpus. May be repeated.", required=True, multiple=True
)
@click.option(
    "--names", nargs=2, default=("first", "second"), metavar="FIRST SECOND", help="What the corpora are called."
)
@options.path("--out", metavar="FOLDER", about="A new folder.", required=True)
@click.option(
    "--per-word",
    type=click.IntRange(min=10),
    default=200,
    show_default=True,
    help="Usages of a word that are drawn from each corpus.",
)
@click.option(
    "--examples",
    type=click.IntRange(min=0, max=20),
    default=3,
    show_default=True,
    help="Of each sense of a word that changed, in each corpus.",
)
@options.of_arguments(drifts, "absent", "resamples", "seed")
@options.as_json
@options.quiet
def drift(
    subject: str,
    *,
    words: Path,
    first: tuple[Path, ...],
    second: tuple[Path, ...],
    names: tuple[str, str],
    out: Path,
    per_word: int,
    examples: int,
    absent: float,
    resamples: int,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say which senses of words appear, vanish, rise or fall from one corpus to another, for lexicographers.

    SUBJECT is gasi:FOLDER, trained on both corpora together, usage_clusters:FOLDER or sense_embedding:FORMAT:FILES. Of
    each word usages are drawn from both corpora; each counts for its most probable sense. A permutation test says
    whether the shares of senses differ, adjusted over all words. FOLDER gets a page with the words by their drift, the
    senses of those that changed with neighbours and examples, and every number in results.json.
    """
    check_new(out)
    asked, listed = read_subject(subject), read_words(existing_file(words))
    corpora = corpus_files(first), corpus_files(second)
    with progress_bar("drift", quiet=quiet) as report:
        drawn = [draw_usages(listed, files, per_word=per_word, seed=seed, progress=report) for files in corpora]
        compared = _compared_words(asked, listed, drawn)
    changed = drifts(
        {word: own.chosen for word, own in compared.items()},
        senses={word: [int(asked.induced.numbers[row]) + 1 for row in own.rows] for word, own in compared.items()},
        absent=absent,
        resamples=resamples,
        seed=seed,
    )
    shown = {}
    for name in (word.word for word in changed if word.drifts):
        near = asked.induced.neighbours(compared[name].rows, _NEIGHBOURS)
        neighbours = tuple(tuple(neighbour.word for neighbour in own) for own in near)
        shown[name] = DriftExamples(neighbours, compared[name].examples(examples))
    settings = SenseInductionSettings(subjects=(subject,), n_bootstrap=resamples, seed=seed)
    records = tuple(record for word in changed for record in word.records())
    responses = _responses(asked, compared, names)
    counts = {"n_words": len(compared), "n_usages": len(responses)}
    files = {str(path): sha256_of(path) for path in (*corpora[0], *corpora[1], words)}
    run = about_run(settings, data=files, counts=counts)
    document = Report("Drift of senses", sections=drift_sections(changed, shown, names), run=run, records=records)
    write_run(out, document, responses, extra=(), command=" ".join(["lexiscope", *sys.argv[1:]]))
    left_out = [word for word in listed if word not in compared]
    if left_out:
        more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        text = f"left out, fewer than {_FEWEST} known usages in a corpus: {', '.join(left_out[:_NAMED])}{more}"
        remark(text, quiet=quiet)
    if as_json:
        print_json([record.content() for record in records])
        return
    for table in document.sections[0].tables:
        print_report_table(table)
    say(f"written: {out / 'report.html'}")


def _compared_words(
    asked: SenseSubject, words: Sequence[str], drawn: Sequence[Mapping[str, Sequence[Usage]]]
) -> dict[str, ComparedWord]:
    """The words with enough usages that the vectors know in both corpora. Errors: :class:`InputError` for none."""
    compared = {}
    for word in words:
        usages = tuple(tuple(usage for usage in own[word] if asked.knows(usage)) for own in drawn)
        form = next((spelling for spelling in (word, word.lower()) if spelling in asked.induced.index), None)
        if form is None or min(map(len, usages)) < _FEWEST:
            continue
        rows = tuple(asked.induced.of(form))
        columns = asked.induced.numbers[list(rows)]
        shares = tuple(np.asarray(asked.sense_distribution(own), np.float64)[:, columns] for own in usages)
        compared[word] = ComparedWord(rows, usages, shares)
    if not compared:
        what = f"no word has {_FEWEST} usages in each corpus that these vectors know"
        raise InputError(what, hint="name other words, or give more text")
    return compared


def _responses(asked: SenseSubject, compared: Mapping[str, ComparedWord], names: tuple[str, str]) -> ResponseTable:
    """The sense of every usage, as answers."""
    rows = [
        (f"{name}/{word}/{number}", str(int(asked.induced.numbers[own.rows[sense]]) + 1))
        for word, own in compared.items()
        for name, chosen in zip(names, own.chosen, strict=True)
        for number, sense in enumerate(chosen.tolist(), start=1)
    ]
    return ResponseTable.from_columns(
        {
            "subject_id": asked.subject_id,
            "subject_kind": asked.kind,
            "item_id": [item_id for item_id, _ in rows],
            "task": "sense_drift",
            "measure": "induced_sense",
            "option": [option for _, option in rows],
        }
    )
