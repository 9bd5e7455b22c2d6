"""What raters wrote beside their ratings: how many did, what coders say it is about, and how they rated (§4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.choices.error_tags import tag_results
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.story_effects import KINDS
from lexiscope.build.stories.error_tags import COMMENT_CODES, COMMENT_SHEET, RatedCase
from lexiscope.core.errors import InputError, Place
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record, parse_statistic
from lexiscope.core.showing import counted
from lexiscope.report.part import Part, part_of
from lexiscope.report.pivot import Col, PivotRow, pivot, rows_of
from lexiscope.report.tables import INTEGER
from lexiscope.resources.tables.rows import RowReader
from lexiscope.studies.ambistory.data import ALL, PERCENT, TWO, AmbistoryData
from lexiscope.studies.ambistory.errors import coded_sheets, coders_agreement

SHEET = "comment_coding.csv"
_COLUMNS = ("item_id", "participant_id", "comment")
_CODES = "; ".join(f"{code.replace('_', ' ')}: {meaning}" for code, meaning in COMMENT_CODES.items())
_HOW = (
    f"{SHEET} lists every comment with its story and rating, without the rater, for coders ({_CODES}). Sheets that "
    "come back are counted with --comment-coding FILE for each of them."
)


def raters_comments(run: AmbistoryData) -> Part | None:
    """Return how many comments there are, of which stories, and what coders say they are about; nothing without a file.

    Errors: those of :func:`comment_cases` and of :func:`~lexiscope.studies.ambistory.errors.coded_sheets`.
    """
    if not run.settings.comments:
        if run.settings.comment_codings:
            what = "sheets of coded comments need the comments that they are of"
            raise InputError(what, hint="add --comments FILE, the file that the sheets were written from")
        return None
    cases, n_others = run.once(comment_cases)
    text = f"{counted(len(cases), 'comment')} beside {counted(len(run.people), 'rating')}."
    if n_others:
        text += f" {n_others} more are beside answers that are not in this run (excluded raters, checks)."
    parts = _coded(run, cases) if run.settings.comment_codings else None
    return part_of(text, _counts(run, cases), parts, _HOW)


def write_sheet(run: AmbistoryData, folder: Path, _records: tuple[Record, ...]) -> tuple[str, ...]:
    """Write the comments for coders; return the name of the file, nothing where there are none."""
    if not run.settings.comments:
        return ()
    cases, _ = run.once(comment_cases)
    COMMENT_SHEET.write(folder / SHEET, cases)
    return (SHEET,)


def comment_cases(run: AmbistoryData) -> tuple[tuple[RatedCase, ...], int]:
    """Return the comments of the settings' file with the ratings that they are beside, and how many have none.

    The file is a table with the columns item_id, participant_id and comment, as the export of a study has them
    (``judgments.csv``); rows without a comment are passed over.
    Errors: :class:`InputError` for a file without these columns, a rater with two comments on one item (with its line),
    and where no comment is beside a rating of this run.
    """
    path = Path(run.settings.comments)
    if not run.has("ratings"):
        raise InputError("comments are coded beside ratings, and this run has none", place=Place(str(path)))
    rows = RowReader(path).rows()
    header = next(rows, None)
    if header is None or not set(_COLUMNS) <= set(header.fields):
        place = header.place() if header is not None else Place(str(path))
        raise InputError(f"not a table of comments: it needs {', '.join(_COLUMNS)}", code="E006", place=place)
    people = run.people
    rated = zip(people.rater.tolist(), people.item.tolist(), people.value.tolist(), strict=True)
    given = {(people.rater_ids[rater], people.item_ids[item]): value for rater, item, value in rated}
    means, sds = (
        dict(zip(people.item_ids, several.tolist(), strict=True)) for several in (people.means(), item_sd(people))
    )
    cases: dict[tuple[str, str], RatedCase] = {}
    n_others = 0
    for row in rows:
        cells = dict(zip(header.fields, row.fields, strict=True))
        item, rater, comment = (cells[name].strip() for name in _COLUMNS)
        if not comment:
            continue
        if (rater, item) in cases:
            what = "this rater has two comments on this item"
            raise InputError(what, code="E472", place=row.place(header.fields.index("comment")), hint="join the two")
        if (rater, item) not in given:
            n_others += 1
            continue
        cases[rater, item] = RatedCase(
            run.by_id[item], rater, given[rater, item], means[item], sds[item], " ".join(comment.split())
        )
    if not cases:
        what = f"none of {counted(n_others, 'comment')} is beside a rating of this run"
        hint = "give the judgments of the same study, with its ids of items and participants"
        raise InputError(what, place=Place(str(path)), hint=hint)
    return tuple(cases.values()), n_others


def _counts(run: AmbistoryData, cases: Sequence[RatedCase]) -> Part:
    of_items = dict(zip(run.people.item_ids, run.people.counts().tolist(), strict=True))
    parts = {ALL: tuple(of_items), **{str(kind): run.of_kind(kind, of_items) for kind in KINDS}}
    commented = Counter(case.item.item_id for case in cases)
    records: list[Record] = []
    for condition, items in parts.items():
        n_ratings, n = sum(of_items[item] for item in items), sum(commented[item] for item in items)
        records.append(run.number("n_comments", n, condition=condition, n=n_ratings))
        share = 100 * n / n_ratings if n_ratings else None
        if share is not None:
            records.append(run.number("comment_share", share, condition=condition, n=n_ratings, unit="percent"))
    columns = (
        Col("Comments", "n_comments", INTEGER, "value"),
        Col("Ratings", "n_comments", INTEGER, "n"),
        Col("Ratings with a comment, %", "comment_share", PERCENT, "value"),
    )
    title, rows = "Comments of raters", rows_of(records, "condition")
    return part_of(records, pivot("comments", title, records, columns, rows, labels=("Stories",)))


def _coded(run: AmbistoryData, cases: Sequence[RatedCase]) -> tuple[Part, ...]:
    coded = coded_sheets(COMMENT_SHEET, run.settings.comment_codings, cases)
    words = run.resampling_of(GroupOf({case.case_id: case.item.word for case in cases}, "words"))
    agreement = coders_agreement(run, COMMENT_SHEET, coded, words, where="comments, ", cases="Comments")
    return _shares(run, cases, coded), _ratings(run, cases, coded), agreement


def _shares(run: AmbistoryData, cases: Sequence[RatedCase], coded: ResponseTable) -> Part:
    """How many comments have each code, of all of them, of those on open and on ended stories."""
    words = run.resampling_of(GroupOf({case.case_id: case.item.word for case in cases}, "words"))
    kinds = {case.case_id: str(case.item.condition("story_kind")) for case in cases}
    coders = tuple(map(str, coded.unique("subject_id")))
    shares = tag_results(coded, coders, kinds, tuple(COMMENT_CODES), of=COMMENT_SHEET.measure, **words)
    results = [
        run.about(share, subject="", condition=f"{share.subject or ALL}, coder {share.condition}") for share in shares
    ]
    head = f"comment_code_share(tag={next(iter(COMMENT_CODES))})"
    columns = [
        Col("Comments", head, show="n"),
        *(Col(f"{code.replace('_', ' ')}, %", f"comment_code_share(tag={code})", PERCENT) for code in COMMENT_CODES),
    ]
    note = "Several codes may apply to one comment: shares do not add up. 95 % interval, over words."
    rows, title = rows_of(results, "condition"), "What comments are about"
    table = pivot("comment_codes", title, results, columns, rows, labels=("Stories, coder",), notes=(note,))
    return part_of(results, table)


def _ratings(run: AmbistoryData, cases: Sequence[RatedCase], coded: ResponseTable) -> Part:
    """How those rated whose comments have a code, and how much people disagree about these samples."""
    results = list(_ratings_by_code(run, {case.case_id: case for case in cases}, coded))
    columns = (
        Col("Comments", "comment_code_rating(tag={code})", show="n"),
        Col("Rating beside them, mean", "comment_code_rating(tag={code})", TWO),
        Col("SD of their samples, mean", "comment_code_sd(tag={code})", TWO),
    )
    coded_as = dict.fromkeys((result.condition, parse_statistic(result.name)[1]["tag"]) for result in results)
    rows = [PivotRow((where, code.replace("_", " ")), {"condition": where}, {"code": code}) for where, code in coded_as]
    note = "The SD has n − 1 and is that of all ratings of a sample. 95 % interval, over words."
    title = "Ratings beside comments, by what they are about"
    table = pivot("comment_ratings", title, results, columns, rows, labels=("Coder", "Code"), notes=(note,))
    return part_of(results, table)


def _ratings_by_code(run: AmbistoryData, cases: dict[str, RatedCase], coded: ResponseTable) -> Iterator[Estimate]:
    for coder in map(str, coded.unique("subject_id")):
        for code in COMMENT_CODES:
            rows = coded.where(subject_id=coder, measure=COMMENT_SHEET.measure_of(code), value=1.0)
            own = [cases[str(case)] for case in rows.column("item_id").tolist()]
            if not own:
                continue
            words = [case.item.word for case in own]
            for what, values in (("rating", [case.answer for case in own]), ("sd", [case.sd for case in own])):
                mean = run.mean_over_words(f"comment_code_{what}(tag={code})", values, words)
                yield mean.about(condition=f"coder {coder}")
