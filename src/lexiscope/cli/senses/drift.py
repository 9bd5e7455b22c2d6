"""``lexiscope senses drift``: words whose senses appear, vanish or shift between two corpora."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lexiscope.analysis.senses.drift import drifts
from lexiscope.cli import options
from lexiscope.cli.output import print_json, progress_bar, remark, say
from lexiscope.cli.senses.report_table import print_report_table
from lexiscope.cli.senses.subject import read_subject
from lexiscope.cli.verb import Verb, check_new, existing_file
from lexiscope.core.run import sha256_of
from lexiscope.report.document import Report
from lexiscope.report.page.study_folder import about_run, write_run
from lexiscope.report.parts.drift_parts import DriftExamples, drift_sections
from lexiscope.resources.corpora.running_text import corpus_files
from lexiscope.senses.entries import read_words
from lexiscope.senses.examples import chosen_senses, compare_usages, draw_usages
from lexiscope.studies.sense_induction.settings import SenseInductionSettings

_FEWEST, _NEIGHBOURS, _NAMED = 10, 8, 10


@click.command("drift", cls=Verb)
@click.argument("subject", metavar="SUBJECT")
@options.path("--words", metavar="FILE", about="One word per line.", required=True)
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
    help="Examples of each sense of a word that changed, in each corpus.",
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
    """Show which senses of words appear, vanish, rise or fall from one corpus to another, for lexicographers.

    SUBJECT is gasi:FOLDER, trained on both corpora together, usage_clusters:FOLDER or sense_embedding:FORMAT:FILES.
    Usages of each word are drawn from both corpora; each counts for its most probable sense. A permutation test says
    whether the shares of senses differ, adjusted over all words. FOLDER gets a page with the words by their drift, the
    senses of those that changed with neighbours and examples, and every number in results.json.
    """
    check_new(out)
    asked, listed = read_subject(subject), read_words(existing_file(words))
    corpora = corpus_files(first), corpus_files(second)
    with progress_bar("drift", quiet=quiet) as report:
        drawn = [draw_usages(listed, files, per_word=per_word, seed=seed, progress=report) for files in corpora]
        compared, left_out = compare_usages(asked, drawn, fewest=_FEWEST)
    changed = drifts(
        {word: own.chosen for word, own in compared.items()},
        senses={word: own.numbers for word, own in compared.items()},
        absent=absent,
        resamples=resamples,
        seed=seed,
    )
    shifted = {word.word: compared[word.word] for word in changed if word.drifts}
    # the neighbours of all of them in one search, which goes through all vectors
    every = [row for own in shifted.values() for row in own.rows]
    near = dict(zip(every, asked.induced.neighbours(every, _NEIGHBOURS), strict=True))
    shown = {
        word: DriftExamples(tuple(tuple(n.word for n in near[row]) for row in own.rows), own.examples(examples))
        for word, own in shifted.items()
    }
    settings = SenseInductionSettings(subjects=(subject,), n_bootstrap=resamples, seed=seed)
    records = tuple(record for word in changed for record in word.records())
    responses = chosen_senses(asked, compared, names)
    counts = {"n_words": len(compared), "n_usages": len(responses)}
    files = {str(path): sha256_of(path) for path in (*corpora[0], *corpora[1], words)}
    run = about_run(settings, data=files, counts=counts)
    document = Report(
        "Drift of senses", sections=drift_sections(changed, shown, names, left_out), run=run, records=records
    )
    write_run(out, document, responses, extra=(), command=" ".join(["lexiscope", *sys.argv[1:]]))
    if left_out:
        more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        listed_out = [f"{word} ({why})" for word, why in left_out.items()][:_NAMED]
        remark(f"excluded: {', '.join(listed_out)}{more}", quiet=quiet)
    if as_json:
        print_json([record.content() for record in records])
        return
    for table in document.sections[0].tables:
        print_report_table(table)
    say(f"Saved {out / 'report.html'}")
