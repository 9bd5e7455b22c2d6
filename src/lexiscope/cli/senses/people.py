"""``lexiscope senses people``: results of people's tests of induced senses (GASI, Tables 1 to 3)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click
import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.agreement.choices import trust_of_checks
from lexiscope.cli import options
from lexiscope.cli.output import print_json, remark, say
from lexiscope.cli.senses.report_table import print_report_table
from lexiscope.cli.verb import Verb, check_new, existing_file
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import Record
from lexiscope.core.run import sha256_of
from lexiscope.core.sealed import RESPONSES
from lexiscope.core.simulated import COLLECTED
from lexiscope.report.document import Report, Section
from lexiscope.report.page.simulated import marked_part
from lexiscope.report.page.study_folder import about_run, write_run
from lexiscope.report.part import Part, join_parts, with_adjusted_p
from lexiscope.report.parts.sense_test_parts import (
    ModelShare,
    Reference,
    SenseTestAnswers,
    accuracy_part,
    agreement_part,
    check_known,
    duplicates_part,
    items_by_id,
    items_of_tests,
    model_shares,
    models_part,
    read_answers,
    sense_tests,
    simulated_notice,
    words_in_groups,
)
from lexiscope.resources.vectors.sense_vectors import VECTORS, read_sense_vectors
from lexiscope.resources.vectors.word2vec import read_word_vectors
from lexiscope.studies.sense_induction.settings import SenseInductionSettings


@click.command("people", cls=Verb)
@click.argument("answers", nargs=-1, type=click.Path(path_type=Path), metavar="[ANSWERS]...")
@options.path(
    "--items",
    "item_files",
    metavar="FILE",
    about="The items: items.csv of the tests. May be given several times.",
    required=True,
    multiple=True,
)
@options.path(
    "--checks",
    metavar="FILE",
    about="responses.csv of an export, whose attention checks give the trust in each person. May be given several "
    "times.",
    multiple=True,
)
@options.path(
    "--reference",
    metavar="FILE|FOLDER",
    about="Vectors of words that are not the senses' own: text of word2vec or GloVe, or a skip_gram training.",
)
@options.path(
    "--models",
    metavar="RUN",
    about="A run of `lexiscope collect` with answers of models to the same items. May be given several times.",
    multiple=True,
)
@options.path("--out", metavar="FOLDER", about="A new folder.", required=True)
@options.of_arguments(sense_tests, "resamples", "seed")
@options.as_json
@options.quiet
def people(
    answers: tuple[Path, ...],
    *,
    item_files: tuple[Path, ...],
    checks: tuple[Path, ...],
    reference: Path | None,
    models: tuple[Path, ...],
    out: Path,
    resamples: int,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Report people's results in word intrusion and sense selection.

    ANSWERS are choices.csv of an export of the app, or other tables of responses. Accuracy (2 of 3 judgments), the
    model's probability of what people chose, agreement (plain, by trust, nominal alpha), and whether senses that people
    confuse with the model's are alike. With --models, how often models are right. FOLDER gets a report, its tables and
    figures, and every number in results.json.
    """
    if not answers and not models:
        raise click.UsageError("name at least one file of answers, or a run of models: --models RUN")
    check_new(out)
    part, notes = report_of_tests(
        item_files, answers, out=out, checks=checks, reference=reference, models=models, resamples=resamples, seed=seed
    )
    _print_results(part.records, part, as_json=as_json)
    if not as_json:
        say(f"Saved {out / 'report.html'} ({len(part.records)} numbers)")
    for text in notes:
        remark(text, quiet=quiet)


def report_of_tests(
    item_files: Sequence[Path],
    answers: Sequence[Path],
    *,
    out: Path,
    checks: Sequence[Path] = (),
    reference: Path | None = None,
    models: Sequence[Path] = (),
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Part, tuple[str, ...]]:
    """Write the report of answers to tests of senses into a folder; return its numbers, and remarks on what is missing.

    Errors: those of the files and of the statistics.
    """
    runs = [path / RESPONSES for path in models]
    read_first = reference / VECTORS if reference and reference.is_dir() else reference
    given = [*item_files, *answers, *runs, *checks, *([read_first] if read_first else [])]
    files = {str(path): sha256_of(existing_file(path)) for path in given}
    tables = [(str(path), items_of_tests(path)) for path in item_files]
    read = read_answers([str(path) for path in answers], items_by_id(tables))
    settings = SenseInductionSettings(people=tuple(map(str, answers)), n_bootstrap=resamples, seed=seed)
    trust = trust_of_checks(ResponseTable.concat([ResponseTable.read_csv(path) for path in checks])) if checks else {}
    vectors = (
        Reference(_reference_vectors(reference, read.items.values()), str(reference)) if reference else Reference()
    )
    tests = sense_tests(read, resamples=resamples, seed=seed)
    first = accuracy_part(tests, {})
    counted = [test for test in tests if test.can_resample]
    sat = _model_hits(runs, read.items, resamples=resamples, seed=seed)
    judged = with_adjusted_p(
        join_parts([first, agreement_part(counted, {}, trust), duplicates_part(counted, {}, vectors)])
    )
    part = join_parts([marked_part(judged) if holds_simulated(read.responses) else judged, models_part(sat)])
    run = about_run(settings, data=files, counts={"n_answers": len(read.responses), "n_items": len(read.items)})
    missing = [f"{omission.analysis}, {omission.subject}: {omission.reason}" for omission in first.omissions]
    section = Section(
        "people",
        "What people said of the senses",
        (*missing, *part.paragraphs, *part.remarks),
        part.tables,
        part.figures,
    )
    title = "People's tests of induced senses"
    report = Report(title, sections=(section,), run=dict(run), records=part.records)
    write_run(out, report, read.responses, extra=(), command=" ".join(["lexiscope", *sys.argv[1:]]))
    return part, (*missing, *simulated_notice(read.responses))


def _model_hits(runs: Sequence[Path], items: Mapping[str, Item], *, resamples: int, seed: int) -> list[ModelShare]:
    """The correct answers of the models of some runs, to the test of each model's senses; people's are excluded."""
    hits_of = []
    for path in runs:
        table = ResponseTable.read_parquet(path)
        told = table.filter(~np.isin(table.column("subject_kind"), COLLECTED))
        check_known(path, told, items)
        hits_of += model_shares(sense_tests(SenseTestAnswers(told, items), resamples=resamples, seed=seed))
    return hits_of


def _reference_vectors(path: Path, items: Iterable[Item]) -> Mapping[str, ArrayLike]:
    """Return the reference vectors of all words that are in groups."""
    words = words_in_groups(items)
    if not path.is_dir():
        return dict(read_word_vectors(existing_file(path), words))
    vectors = read_sense_vectors(path)
    if (vectors.n_senses > 1).any():
        what, hint = "these vectors have several senses for a word", "name a training of the variant skip_gram"
        raise InputError(what, place=Place(str(path)), hint=hint)
    return {word: np.asarray(vectors.senses[vectors.index[word], 0]) for word in words if word in vectors.index}


_PRINTED = (
    *("statistic", "subject", "dataset", "layer", "condition", "value", "low", "high", "n"),
    *("p", "p_adjusted", "family", "note", "people"),
)


def _print_results(records: Sequence[Record], part: Part, *, as_json: bool) -> None:
    if as_json:
        print_json([{name: cell for name, cell in record.content().items() if name in _PRINTED} for record in records])
        return
    for table in part.tables:
        print_report_table(table)
