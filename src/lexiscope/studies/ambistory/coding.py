"""Single samples (§5.2) and comments (§4.2): a qualitative table, and what coders say of errors and of comments.

People code on sheets: the errors of models, and what raters wrote with their ratings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lexiscope.analysis.bootstrap import GroupOf, GroupResampling
from lexiscope.analysis.choices.error_tags import coders_of, means_by_tag
from lexiscope.analysis.norms.example_rows import Rule, choose_examples, example_rows, largest_errors
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.story_effects import KINDS
from lexiscope.build.stories.stories import COMMENT_SHEET, ERROR_SHEET, RatedCase, commented_cases, story_text
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.result import Record, Undefined
from lexiscope.core.showing import counted
from lexiscope.report.part import Part, part_of
from lexiscope.report.parts import people_tables, predictor_tables, story_tables
from lexiscope.report.pivot import rows_of
from lexiscope.report.tables import Table
from lexiscope.studies.ambistory.data import ALL, TEXTS, AmbistoryData

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
        return predictor_tables.examples_table(
            name, title, rows, texts, labels, subjects=tuple(subjects), number=number
        )

    table_4 = sample_table("table_4_examples", "The samples of the paper's Table 4", printed, "4") if printed else None
    title = "The samples with the largest errors" if subjects else "The samples that people disagree most about"
    rule: Rule = "largest_error" if subjects else "people_disagree"
    of_rule = partial(choose_examples, ratings, subjects, rule=rule, count=EXAMPLES)
    chosen = run.attempt("n_items(of=examples)", of_rule, condition=run.split)
    if isinstance(chosen, Undefined):
        return part_of(means, table_4, chosen)
    return part_of(
        means, table_4, sample_table("examples", title, chosen), TEXTS["examples"], _SHEET if run.predictors else None
    )


def _story(item: Item) -> str:
    """The story with its word between low lines."""
    usage = item.usages[0]
    return story_text(item, f"{usage.text[: usage.start]}_{usage.target}_{usage.text[usage.end :]}")


_SHEET = (
    f"{SHEET} lists the {MOST_ERRORS} largest errors of every subject, without its name, for coders to tag "
    f"as Gehring & Roth (2025) do ({ERROR_SHEET.meanings}). What coders sent back is counted where the study is run "
    "once more with --coding FILE for each of them and the collected answers as recorded: subject."
)


# -- the sheet and the tags -------------------------------------------------------------------------------------------


def write_sheets(run: AmbistoryData, folder: Path, _records: tuple[Record, ...]) -> tuple[str, ...]:
    """Write the largest errors of every subject for people to tag, and the comments; return the names of the files.

    A prediction within the standard deviation of people's ratings is not an error.
    """
    sheets = {SHEET: (ERROR_SHEET, error_cases(run))} if run.asked_ratings is not None and run.predictors else {}
    if run.settings.comments:
        sheets[COMMENTS_FILE] = COMMENT_SHEET, run.once(comment_cases)[0]
    for name, (sheet, cases) in sheets.items():
        sheet.write(folder / name, cases)
    return tuple(sheets)


def error_cases(run: AmbistoryData) -> tuple[RatedCase, ...]:
    """Return the largest errors of every subject, in the order of the sheet."""
    ratings = run.asked_ratings
    return tuple(
        RatedCase(run.by_id[row.item_id], predictor.subject, row.answers[0].predicted or 0.0, row.mean, row.sd)
        for predictor in run.predictors
        for row in (largest_errors(ratings, predictor.predictions, count=MOST_ERRORS) if ratings else ())
    )


def _words(run: AmbistoryData, cases: Sequence[RatedCase]) -> GroupResampling:
    return run.resampling_of(GroupOf({case.case_id: case.item.word for case in cases}, "words"))


def error_tags(run: AmbistoryData) -> Part | None:
    """Return the share of each tag by coder and subject, and the agreement of coders; nothing without coded sheets.

    Errors: those of :func:`~lexiscope.report.parts.story_tables.coded_cases`; :class:`InputError` where no subject made
    an error.
    """
    if not run.settings.codings:
        return None
    errors = error_cases(run)
    if not errors:
        raise InputError("no subject of this run made an error: a sheet would be empty")
    whose = {case.case_id: case.subject for case in errors}
    about = {"where": f"{run.split}, ", "dataset": run.name}
    coded = story_tables.coded_cases(ERROR_SHEET, run.settings.codings, errors, whose, **about, **_words(run, errors))
    shares = [share.about(condition=f"{run.split}, {share.condition}") for share in coded.shares]
    names = {"": ALL_SUBJECTS} | {f"{run.split}, coder {coder}": coder for coder in coders_of(coded.tags)}
    rows = rows_of(shares, "condition", "subject", names=names)
    title, labels, of = "What people saw in the errors", ("Coder", "Subject"), ERROR_SHEET.measure
    table = story_tables.tag_shares_table(
        "error_tags", title, shares, rows, tuple(ERROR_SHEET.tags), of=of, labels=labels
    )
    return part_of(shares, table, coded.agreement)


# -- what raters wrote beside their ratings (§4.2) ------------------------------------------------------------------

COMMENTS_FILE = "comment_coding.csv"
_HOW = (
    f"{COMMENTS_FILE} lists every comment with its story and rating, without the rater, for coders "
    f"({COMMENT_SHEET.meanings}). Sheets that come back are counted with --comment-coding FILE for each of them."
)


def raters_comments(run: AmbistoryData) -> Part | None:
    """Return how many comments there are, of which stories, and what coders say they are about; nothing without a file.

    Errors: those of :func:`comment_cases` and of :meth:`~lexiscope.items.sheets.tag_sheet.TagSheet.read_all`.
    """
    if not run.settings.comments:
        if run.settings.comment_codings:
            what = "sheets of coded comments need the comments that they are of"
            raise InputError(what, hint="add --comments FILE, the file that the sheets were written from")
        return None
    cases, n_others = run.once(comment_cases)
    text = f"{counted(len(cases), 'comment')} on {counted(len(run.people), 'rating')}."
    if n_others:
        text += f" {n_others} more belong to answers that are not in this run (excluded raters, checks)."
    return part_of(text, _counts(run, cases), _coded(run, cases) if run.settings.comment_codings else None, _HOW)


def comment_cases(run: AmbistoryData) -> tuple[tuple[RatedCase, ...], int]:
    """Return the comments of the settings' file with their ratings, and the number of those without one.

    Errors: those of :func:`~lexiscope.build.stories.stories.commented_cases`; :class:`InputError` without ratings.
    """
    path = Path(run.settings.comments)
    if not run.has("ratings"):
        raise InputError("comments are coded with their ratings, and this run has none", place=Place(str(path)))
    people = run.people
    rated = zip(people.rater.tolist(), people.item.tolist(), people.value.tolist(), strict=True)
    ratings = {(people.rater_ids[rater], people.item_ids[item]): value for rater, item, value in rated}
    norms = zip(people.means().tolist(), item_sd(people).tolist(), strict=True)
    return commented_cases(path, run.by_id, ratings, dict(zip(people.item_ids, norms, strict=True)))


def _counts(run: AmbistoryData, cases: Sequence[RatedCase]) -> Part:
    of_items = dict(zip(run.people.item_ids, run.people.counts().tolist(), strict=True))
    parts = {ALL: tuple(of_items), **{str(kind): run.of_kind(kind, of_items) for kind in KINDS}}
    commented = Counter(case.item.item_id for case in cases)
    records: list[Record] = []
    for condition, items in parts.items():
        n_ratings, n = sum(of_items[item] for item in items), sum(commented[item] for item in items)
        records.append(run.number("n_comments", n, condition=condition, n=n_ratings))
        if n_ratings:
            share = 100 * n / n_ratings
            records.append(run.number("comment_share", share, condition=condition, n=n_ratings, unit="percent"))
    return part_of(records, people_tables.comments_table(records))


def _coded(run: AmbistoryData, cases: Sequence[RatedCase]) -> Part:
    """How many comments have each code, the ratings of those who wrote them, and how much people disagree there."""
    kinds = {case.case_id: str(case.item.condition("story_kind")) for case in cases}
    about, words = {"where": "comments, ", "dataset": run.name}, _words(run, cases)
    coded = story_tables.coded_cases(COMMENT_SHEET, run.settings.comment_codings, cases, kinds, **about, **words)
    shares = [share.about(subject="", condition=f"{share.subject or ALL}, {share.condition}") for share in coded.shares]
    rows, of, codes = rows_of(shares, "condition"), COMMENT_SHEET.measure, tuple(COMMENT_SHEET.tags)
    title, labels = "What comments are about", ("Stories, coder",)
    table = story_tables.tag_shares_table("comment_codes", title, shares, rows, codes, of=of, labels=labels)
    values = {"rating": {case.case_id: case.answer for case in cases}, "sd": {case.case_id: case.sd for case in cases}}
    means = means_by_tag(coded.tags, codes, values, of=of, **words)
    ratings = [run.about(mean, condition=f"coder {mean.condition}") for mean in means]
    heads = {"rating": "Their ratings, mean", "sd": "SD of their samples, mean"}
    notes = ("The SD has n − 1 and is that of all ratings of a sample. 95 % interval, over words.",)
    title = "Ratings with comments, by what they are about"
    beside = story_tables.tag_means_table("comment_ratings", title, ratings, heads, of=of, notes=notes)
    return part_of(shares, table, ratings, beside, coded.agreement)
