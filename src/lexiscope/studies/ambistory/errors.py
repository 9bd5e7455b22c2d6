"""Single samples (§5.2): a qualitative table, a sheet on which people tag the errors of models, and their tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.choices.error_tags import coders_of, tag_agreements, tag_results
from lexiscope.analysis.norms.example_rows import Rule, choose_examples, example_rows, largest_errors
from lexiscope.build.stories.error_tags import ERROR_SHEET, TAGS, RatedCase
from lexiscope.build.stories.stories import story_text
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record
from lexiscope.items.sheets.tag_sheet import TagSheet
from lexiscope.report.part import Part, Remark, part_of
from lexiscope.report.parts.predictor_tables import examples_table
from lexiscope.report.parts.tag_tables import tag_agreement_table, tag_shares_table
from lexiscope.report.pivot import rows_of
from lexiscope.report.tables import Table
from lexiscope.studies.ambistory.data import TEXTS, AmbistoryData

EXAMPLES = 5
SHEET = "error_coding.csv"
MOST_ERRORS = 30
PAPERS_EXAMPLES = (159, 533, 180)
"""Rows of the test file (from 0) that the paper's Table 4 shows."""
ALL_SUBJECTS = "all subjects"


def single_samples(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return the samples of the paper, those on which the subjects err most, and the tags that errors were given."""
    return cases(run), error_tags(run)


# -- examples ---------------------------------------------------------------------------------------------------------


def cases(run: AmbistoryData) -> Part | None:
    """Return the samples that the paper shows, and those on which the subjects of this run err most (Table 4)."""
    ratings = run.asked_ratings
    if ratings is None:
        return None
    # a subject of which nothing could be read would leave no sample that all have answered
    subjects = {predictor.title: predictor.predictions for predictor in run.predictors if predictor.n_read}
    test = run.parts.get("test", ()) if run.name == "ambistory" else ()
    printed = [test[row] for row in PAPERS_EXAMPLES if test and test[row] in set(ratings.item_ids)]
    means = [
        run.number("item_mean", row.mean, condition=row.item_id, n=len(row.ratings))
        for row in example_rows(printed, ratings, {})
    ]
    means += [
        run.number("item_rating", predictor.predictions[item], subject=predictor.subject, condition=item)
        for predictor in run.predictors
        for item in printed
        if predictor.predictions.get(item) is not None
    ]

    def sample_table(name: str, title: str, items: Sequence[str], number: str = "") -> Table:
        rows, labels = example_rows(items, ratings, subjects), ("Story", "Meaning judged")
        texts = {item: (_story(run.by_id[item]), str(run.by_id[item].condition("sense"))) for item in items}
        return examples_table(name, title, rows, texts, labels, subjects=tuple(subjects), number=number)

    table_4 = sample_table("table_4_examples", "The samples of the paper's Table 4", printed, "4") if printed else None
    title = "The samples with the largest errors" if subjects else "The samples that people disagree most about"
    rule: Rule = "largest_error" if subjects else "people_disagree"
    try:
        chosen = choose_examples(ratings, subjects, rule=rule, count=EXAMPLES)
    except StatisticError as error:
        return part_of(means, table_4, Remark(f"No examples: {error.what}."))
    return part_of(
        means, table_4, sample_table("examples", title, chosen), TEXTS["examples"], _SHEET if run.predictors else None
    )


def _story(item: Item) -> str:
    """The story with its word between low lines."""
    usage = item.usages[0]
    return story_text(item, f"{usage.text[: usage.start]}_{usage.target}_{usage.text[usage.end :]}")


_TAGS = "; ".join(f"{tag.replace('_', ' ')}: {meaning}" for tag, meaning in TAGS.items())
_SHEET = (
    f"{SHEET} lists the {MOST_ERRORS} largest errors of every subject, without its name, for coders to tag "
    f"as Gehring & Roth (2025) do ({_TAGS}). What coders sent back is counted where the study is run once more with "
    "--coding FILE for each of them and the collected answers as recorded: subject."
)


# -- the sheet and the tags -------------------------------------------------------------------------------------------


def write_sheet(run: AmbistoryData, folder: Path, _records: tuple[Record, ...]) -> tuple[str, ...]:
    """Write the largest errors of every subject for a person to tag; return the name of the file.

    A prediction within the standard deviation of people's ratings is no error.
    """
    if run.asked_ratings is None or not run.predictors:
        return ()
    ERROR_SHEET.write(folder / SHEET, error_cases(run))
    return (SHEET,)


def error_cases(run: AmbistoryData) -> tuple[RatedCase, ...]:
    """Return the largest errors of every subject, in the order of the sheet."""
    ratings = run.asked_ratings
    return tuple(
        RatedCase(run.by_id[row.item_id], predictor.subject, row.answers[0].predicted or 0.0, row.mean, row.sd)
        for predictor in run.predictors
        for row in (largest_errors(ratings, predictor.predictions, count=MOST_ERRORS) if ratings else ())
    )


@dataclass(frozen=True, slots=True)
class CodedCases:
    """What coders said of some cases: their tags, the share of each tag, and how far the coders agree."""

    tags: ResponseTable
    shares: tuple[Estimate, ...]
    agreement: Part


def coded_cases(
    run: AmbistoryData,
    sheet: TagSheet[RatedCase],
    files: Sequence[str],
    cases: Sequence[RatedCase],
    parts: Mapping[str, str],
    *,
    where: str,
) -> CodedCases:
    """Read the coded sheets of some cases: the shares of tags in each of the *parts* (case id → part), the agreement.

    The condition of a share is ``coder NAME``, that of an agreement begins with *where*.
    Errors: those of :meth:`~lexiscope.items.sheets.tag_sheet.TagSheet.read_all`.
    """
    coded, tags, of = sheet.read_all(files, cases), tuple(sheet.tags), sheet.measure
    words = run.resampling_of(GroupOf({case.case_id: case.item.word for case in cases}, "words"))
    shares = tag_results(coded, coders_of(coded), parts, tags, of=of, **words)
    agreements = tag_agreements(coded, tags, of=of, **words)
    pairs = {f"{where}{' and '.join(pair)}": pair for pair in agreements}
    results = [run.about(e, condition=name) for name, pair in pairs.items() for e in agreements[pair]]
    table = tag_agreement_table(results, pairs, tags, of=of, case=of.partition("_")[0])
    said = tuple(run.about(share, condition=f"coder {share.condition}") for share in shares)
    return CodedCases(coded, said, part_of(results, table))


def error_tags(run: AmbistoryData) -> Part | None:
    """Return the share of each tag by coder and subject, and the agreement of coders; nothing without coded sheets.

    Errors: those of :func:`coded_cases`; :class:`InputError` where no subject made an error.
    """
    if not run.settings.codings:
        return None
    errors = error_cases(run)
    if not errors:
        raise InputError("no subject of this run made an error: there is nothing that a sheet could code")
    whose = {case.case_id: case.subject for case in errors}
    coded = coded_cases(run, ERROR_SHEET, run.settings.codings, errors, whose, where=f"{run.split}, ")
    shares = [share.about(condition=f"{run.split}, {share.condition}") for share in coded.shares]
    names = {"": ALL_SUBJECTS} | {f"{run.split}, coder {coder}": coder for coder in coders_of(coded.tags)}
    rows = rows_of(shares, "condition", "subject", names=names)
    table = tag_shares_table(
        "error_tags", "What people saw in the errors", shares, rows, tuple(TAGS), of=ERROR_SHEET.measure, case="error",
        labels=("Coder", "Subject"),
    )  # fmt: skip
    return part_of(shares, table, coded.agreement)
