"""Single samples (§5.2) and comments (§4.2): a qualitative table, and what coders say of errors and of comments.

People code on sheets: the errors of models, and what raters wrote with their ratings. A row shows a story with its
ambiguous word in brackets, the meaning that was judged, and the answer; which subject, or which rater, gave it is not
shown. *Source:* AmbiStory §5.2 (the three kinds of error), §4.2 (what comments tell of disagreement).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, Unpack

from lexiscope.analysis.bootstrap import GroupOf, GroupResampling
from lexiscope.analysis.choices.error_tags import coders_of, means_by_tag, tag_agreements, tag_results
from lexiscope.analysis.norms.example_rows import Rule, choose_examples, example_rows, largest_errors
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.story_effects import KINDS
from lexiscope.build.stories.stories import TASK, story_text
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record, Result, parse_statistic
from lexiscope.core.showing import counted
from lexiscope.items.sheets.form import TextColumn
from lexiscope.items.sheets.tag_sheet import TagSheet
from lexiscope.report.part import Part, Remark, part_of
from lexiscope.report.parts import people_tables, predictor_tables
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of, rows_of
from lexiscope.report.tables import Format, Table
from lexiscope.resources.tables.rows import RowReader
from lexiscope.studies.ambistory.data import ALL, TEXTS, AmbistoryData

TAGS: Mapping[str, str] = {
    "red_herring": "a word of the story fits the wrong meaning, and seems to have decided the answer",
    "open_ended": "the story leaves the meaning open, and the answer takes a side",
    "sense_distinction": "the two meanings are close, and the answer does not keep them apart",
}
"""The tags of errors, and what each means."""
COMMENT_CODES: Mapping[str, str] = {
    "rare_meaning": "the rater did not know the meaning, did not think of it, or finds it rare",
    "several_meanings": "the rater finds several meanings possible: the story leaves it open",
    "close_meanings": "the rater cannot keep the meaning apart from another one, or finds them the same",
    "other_meaning": "the rater has a meaning in mind that is not the one shown",
    "odd_text": "the story, the sentence or the definition is odd, wrong, or makes no sense",
    "procedure": "about the page, the task, or a slip of the rater",
}
"""What a comment of a rater can be about, and what each code means."""


@dataclass(frozen=True, slots=True)
class RatedCase:
    """One answer to an item: the subject, the answer, and the mean and SD (n − 1) of people's ratings.

    ``comment`` is what a rater wrote with the rating.
    """

    item: Item
    subject: str
    answer: float
    mean: float
    sd: float
    comment: str = ""

    @property
    def case_id(self) -> str:
        """An id made of item and subject alone; it does not tell the subject's name."""
        digest = hashlib.sha256(f"{self.item.item_id}\0{self.subject}".encode()).hexdigest()
        return f"{self.item.item_id}#{digest[:10]}"


_COMMENT_COLUMNS = ("item_id", "participant_id", "comment")


def commented_cases(
    path: Path,
    items: Mapping[str, Item],
    ratings: Mapping[tuple[str, str], float],
    norms: Mapping[str, tuple[float, float]],
) -> tuple[tuple[RatedCase, ...], int]:
    """Return the comments of a file with their ratings, and the number of those without one.

    The file is a table with the columns item_id, participant_id and comment, as the export of a study has them
    (``judgments.csv``); rows without a comment are passed over. *items* are by their ids, *ratings* by rater and item,
    *norms* are the mean and the SD (n − 1) of the ratings of each item.
    Errors: :class:`InputError` for a file without these columns, a rater with two comments on one item (with its line),
    and if no comment belongs to one of the ratings.
    """
    rows = RowReader(path).rows()
    header = next(rows, None)
    if header is None or not set(_COMMENT_COLUMNS) <= set(header.fields):
        place = header.place() if header is not None else Place(str(path))
        raise InputError(f"not a table of comments: it needs {', '.join(_COMMENT_COLUMNS)}", code="E006", place=place)
    cases: dict[tuple[str, str], RatedCase] = {}
    n_others = 0
    for row in rows:
        cells = dict(zip(header.fields, row.fields, strict=True))
        item, rater, comment = (cells[name].strip() for name in _COMMENT_COLUMNS)
        if not comment:
            continue
        if (rater, item) in cases:
            what = "this rater has two comments on this item"
            raise InputError(what, code="E472", place=row.place(header.fields.index("comment")), hint="join the two")
        if (rater, item) not in ratings:
            n_others += 1
            continue
        answer = ratings[rater, item]
        cases[rater, item] = RatedCase(items[item], rater, answer, *norms[item], " ".join(comment.split()))
    if not cases:
        what = f"none of {counted(n_others, 'comment')} belongs to a rating of this run"
        hint = "give the judgments of the same study, with its ids of items and participants"
        raise InputError(what, place=Place(str(path)), hint=hint)
    return tuple(cases.values()), n_others


_SHOWN: tuple[TextColumn[RatedCase], ...] = (
    TextColumn("story", lambda case: story_text(case.item, case.item.usages[0].bracketed)),
    TextColumn("meaning", lambda case: str(case.item.condition("sense"))),
    TextColumn("example", lambda case: str(case.item.condition("example"))),
    TextColumn("people", lambda case: f"{case.mean:.2f} ± {case.sd:.2f}"),
    TextColumn("answer", lambda case: f"{case.answer:g}"),
)
ERROR_SHEET: TagSheet[RatedCase] = TagSheet(
    "a sheet of error tags",
    "error_tag",
    TASK,
    TAGS,
    _SHOWN,
    case_id=lambda case: case.case_id,
    item_id=lambda case: case.item.item_id,
    remarks="comment",
)
"""The sheet of wrong answers of models."""
COMMENT_SHEET: TagSheet[RatedCase] = TagSheet(
    "a sheet of raters' comments",
    "comment_code",
    TASK,
    COMMENT_CODES,
    (*_SHOWN, TextColumn("comment", lambda case: case.comment)),
    case_id=lambda case: case.case_id,
    item_id=lambda case: case.item.item_id,
)
"""The sheet of raters' comments."""


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


_SHEET = (
    f"{SHEET} lists the {MOST_ERRORS} largest errors of every subject, without its name, for coders to tag "
    f"as Gehring & Roth (2025) do ({ERROR_SHEET.meanings}). What coders sent back is counted where the study is run "
    "once more with --coding FILE for each of them and the collected answers as recorded: subject."
)


# -- the sheet and the tags -------------------------------------------------------------------------------------------


def write_sheet(run: AmbistoryData, folder: Path, _records: tuple[Record, ...]) -> tuple[str, ...]:
    """Write the largest errors of every subject for a person to tag; return the name of the file.

    A prediction within the standard deviation of people's ratings is not an error.
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


def _words(run: AmbistoryData, cases: Sequence[RatedCase]) -> GroupResampling:
    return run.resampling_of(GroupOf({case.case_id: case.item.word for case in cases}, "words"))


def error_tags(run: AmbistoryData) -> Part | None:
    """Return the share of each tag by coder and subject, and the agreement of coders; nothing without coded sheets.

    Errors: those of :func:`~lexiscope.report.parts.coded_cases`; :class:`InputError` where no subject made
    an error.
    """
    if not run.settings.codings:
        return None
    errors = error_cases(run)
    if not errors:
        raise InputError("no subject of this run made an error: a sheet would be empty")
    whose = {case.case_id: case.subject for case in errors}
    about = {"where": f"{run.split}, ", "dataset": run.name}
    coded = coded_cases(ERROR_SHEET, run.settings.codings, errors, whose, **about, **_words(run, errors))
    shares = [share.about(condition=f"{run.split}, {share.condition}") for share in coded.shares]
    names = {"": ALL_SUBJECTS} | {f"{run.split}, coder {coder}": coder for coder in coders_of(coded.tags)}
    rows = rows_of(shares, "condition", "subject", names=names)
    title, labels, of = "What people saw in the errors", ("Coder", "Subject"), ERROR_SHEET.measure
    table = tag_shares_table("error_tags", title, shares, rows, tuple(ERROR_SHEET.tags), of=of, labels=labels)
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


def write_comment_sheet(run: AmbistoryData, folder: Path, _records: tuple[Record, ...]) -> tuple[str, ...]:
    """Write the comments for coders; return the name of the file, nothing where there are none."""
    if not run.settings.comments:
        return ()
    cases, _ = run.once(comment_cases)
    COMMENT_SHEET.write(folder / COMMENTS_FILE, cases)
    return (COMMENTS_FILE,)


def comment_cases(run: AmbistoryData) -> tuple[tuple[RatedCase, ...], int]:
    """Return the comments of the settings' file with their ratings, and the number of those without one.

    Errors: those of :func:`~lexiscope.studies.ambistory.coding.commented_cases`; :class:`InputError` without ratings.
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
    coded = coded_cases(COMMENT_SHEET, run.settings.comment_codings, cases, kinds, **about, **words)
    shares = [share.about(subject="", condition=f"{share.subject or ALL}, {share.condition}") for share in coded.shares]
    rows, of, codes = rows_of(shares, "condition"), COMMENT_SHEET.measure, tuple(COMMENT_SHEET.tags)
    title, labels = "What comments are about", ("Stories, coder",)
    table = tag_shares_table("comment_codes", title, shares, rows, codes, of=of, labels=labels)
    values = {"rating": {case.case_id: case.answer for case in cases}, "sd": {case.case_id: case.sd for case in cases}}
    means = means_by_tag(coded.tags, codes, values, of=of, **words)
    ratings = [run.about(mean, condition=f"coder {mean.condition}") for mean in means]
    heads = {"rating": "Their ratings, mean", "sd": "SD of their samples, mean"}
    notes = ("The SD has n − 1 and is that of all ratings of a sample. 95 % interval, over words.",)
    title = "Ratings with comments, by what they are about"
    beside = tag_means_table("comment_ratings", title, ratings, heads, of=of, notes=notes)
    return part_of(shares, table, ratings, beside, coded.agreement)


T = TypeVar("T")
_PERCENT, _TWO = Format("number", 1), Format("number", 2)


@dataclass(frozen=True, slots=True)
class CodedCases:
    """What coders said of some cases: their tags, the share of each tag, and the agreement of the coders."""

    tags: ResponseTable
    shares: tuple[Estimate, ...]
    agreement: Part


def coded_cases(
    sheet: TagSheet[T],
    files: Sequence[str],
    cases: Sequence[T],
    parts: Mapping[str, str],
    *,
    where: str,
    dataset: str,
    **words: Unpack[GroupResampling],
) -> CodedCases:
    """Read the coded sheets of some cases: the shares of tags in each of the *parts* (case id → part), the agreement.

    The condition of a share is ``coder NAME``, that of an agreement begins with *where*; *words* are those of the
    cases, by their ids.
    Errors: those of :meth:`~lexiscope.items.sheets.tag_sheet.TagSheet.read_all`.
    """
    coded, tags, of = sheet.read_all(files, cases), tuple(sheet.tags), sheet.measure
    shares = tag_results(coded, coders_of(coded), parts, tags, of=of, **words)
    agreements = tag_agreements(coded, tags, of=of, **words)
    pairs = {f"{where}{' and '.join(pair)}": pair for pair in agreements}
    results = [e.about(dataset=dataset, condition=name) for name, pair in pairs.items() for e in agreements[pair]]
    said = tuple(share.about(dataset=dataset, condition=f"coder {share.condition}") for share in shares)
    return CodedCases(coded, said, part_of(results, tag_agreement_table(results, pairs, tags, of=of)))


def tag_shares_table(
    name: str,
    title: str,
    results: Iterable[Record | Result],
    rows: Sequence[PivotRow],
    tags: Sequence[str],
    *,
    of: str,
    labels: Sequence[str] = ("Coder",),
) -> Table:
    """Return the share of cases that have each tag (:func:`lexiscope.analysis.choices.error_tags.tag_results`).

    *of* begins the statistics' names: ``error_tag``, in which a case is called error, and a tag is called tag.

    >>> share = Record("error_tag_share(tag=odd)", 50.0, condition="ana", n=2)
    >>> row = PivotRow(("ana",), {"condition": "ana"})
    >>> tag_shares_table("t", "Tags", [share], [row], ["odd"], of="error_tag").rows
    (('ana', 2, 50.0),)
    """
    case, _, tag = of.partition("_")
    shares = {own: f"{of}_share(tag={own})" for own in tags}
    columns = [
        Col(f"{case.capitalize()}s", next(iter(shares.values())), show="n"),
        *(Col(f"{_tag_words(own)}, %", share, _PERCENT) for own, share in shares.items()),
    ]
    note = f"Several {tag}s may apply to one {case}: shares do not add up. 95 % interval, over words."
    return pivot(name, title, results, columns, rows, labels=labels, notes=(note,))


def tag_agreement_table(
    results: Iterable[Record | Result],
    pairs: Mapping[str, Sequence[str]],
    tags: Sequence[str],
    *,
    of: str,
) -> Table | None:
    """Return how much coders agree on each tag (:func:`lexiscope.analysis.choices.error_tags.tag_agreement`).

    *pairs* are the two coders of each condition of the *results*; without any there is no table.

    >>> same = Record("error_tag_same(tag=odd)", 50.0, condition="ana and ben", n=2)
    >>> tag_agreement_table([same], {"ana and ben": ("ana", "ben")}, ["odd"], of="error_tag").rows[0][:3]
    ('ana, ben', 'odd', 50.0)
    """
    same, case = f"{of}_same(tag={{tag}})", of.partition("_")[0]
    columns = (
        Col("Same, %", same, _PERCENT),
        Col("κ", f"{of}_kappa(tag={{tag}})", _TWO),
        Col(f"{case.capitalize()}s", same, show="n"),
    )
    rows = [
        PivotRow((", ".join(pair), _tag_words(tag)), {"condition": condition}, {"tag": tag})
        for condition, pair in pairs.items()
        for tag in tags
    ]
    note = f"Cohen's κ; intervals: words resampled (same), {case}s resampled (κ)."
    title, labels = "Agreement of the coders on the tags", ("Coders", "Tag")
    return pivot(f"{of}_agreement", title, results, columns, rows, labels=labels, notes=(note,)) if rows else None


def tag_means_table(
    name: str,
    title: str,
    results: Iterable[Record | Result],
    heads: Mapping[str, str],
    *,
    of: str,
    notes: Sequence[str] = (),
) -> Table:
    """Return the means of the cases that have a tag (:func:`lexiscope.analysis.choices.error_tags.means_by_tag`).

    *heads* are the columns' heads by the name of what is averaged.

    >>> mean = Record("error_tag_answer(tag=odd)", 2.5, condition="ana", n=2)
    >>> tag_means_table("t", "Means", [mean], {"answer": "Answer"}, of="error_tag").rows
    (('ana', 'odd', 2, 2.5),)
    """
    listed, (case, _, tag) = records_of(results), of.partition("_")
    columns = [Col(head, f"{of}_{what}(tag={{tag}})", _TWO) for what, head in heads.items()]
    tagged = dict.fromkeys((record.condition, parse_statistic(record.statistic)[1]["tag"]) for record in listed)
    rows = [PivotRow((where, _tag_words(own)), {"condition": where}, {"tag": own}) for where, own in tagged]
    n_cases = Col(f"{case.capitalize()}s", columns[0].statistic, show="n")
    return pivot(name, title, listed, (n_cases, *columns), rows, labels=("Coder", tag.capitalize()), notes=notes)


def _tag_words(tag: str) -> str:
    return tag.replace("_", " ")
