"""What raters wrote beside their ratings: how many did, what coders say it is about, and how they rated (§4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lexiscope.analysis.bootstrap import GroupOf
from lexiscope.analysis.choices.error_tags import means_by_tag
from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.story_effects import KINDS
from lexiscope.build.stories.error_tags import COMMENT_CODES, COMMENT_SHEET, RatedCase, commented_cases
from lexiscope.core.errors import InputError, Place
from lexiscope.core.result import Record
from lexiscope.core.showing import counted
from lexiscope.report.part import Part, part_of
from lexiscope.report.parts.people_tables import comments_table
from lexiscope.report.parts.tag_tables import tag_means_table, tag_shares_table
from lexiscope.report.pivot import rows_of
from lexiscope.studies.ambistory.data import ALL, AmbistoryData
from lexiscope.studies.ambistory.errors import coded_cases

SHEET = "comment_coding.csv"
_CODES = "; ".join(f"{code.replace('_', ' ')}: {meaning}" for code, meaning in COMMENT_CODES.items())
_HOW = (
    f"{SHEET} lists every comment with its story and rating, without the rater, for coders ({_CODES}). Sheets that "
    "come back are counted with --comment-coding FILE for each of them."
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
    text = f"{counted(len(cases), 'comment')} beside {counted(len(run.people), 'rating')}."
    if n_others:
        text += f" {n_others} more are beside answers that are not in this run (excluded raters, checks)."
    return part_of(text, _counts(run, cases), _coded(run, cases) if run.settings.comment_codings else None, _HOW)


def write_sheet(run: AmbistoryData, folder: Path, _records: tuple[Record, ...]) -> tuple[str, ...]:
    """Write the comments for coders; return the name of the file, nothing where there are none."""
    if not run.settings.comments:
        return ()
    cases, _ = run.once(comment_cases)
    COMMENT_SHEET.write(folder / SHEET, cases)
    return (SHEET,)


def comment_cases(run: AmbistoryData) -> tuple[tuple[RatedCase, ...], int]:
    """Return the comments of the settings' file with the ratings that they are beside, and how many have none.

    Errors: those of :func:`~lexiscope.build.stories.error_tags.commented_cases`; :class:`InputError` without ratings.
    """
    path = Path(run.settings.comments)
    if not run.has("ratings"):
        raise InputError("comments are coded beside ratings, and this run has none", place=Place(str(path)))
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
    return part_of(records, comments_table(records))


def _coded(run: AmbistoryData, cases: Sequence[RatedCase]) -> Part:
    """How many comments have each code, how those rated who wrote them, and how far people disagree there."""
    kinds = {case.case_id: str(case.item.condition("story_kind")) for case in cases}
    coded = coded_cases(run, COMMENT_SHEET, run.settings.comment_codings, cases, kinds, where="comments, ")
    shares = [share.about(subject="", condition=f"{share.subject or ALL}, {share.condition}") for share in coded.shares]
    about, of, codes = rows_of(shares, "condition"), COMMENT_SHEET.measure, tuple(COMMENT_CODES)
    title, labels = "What comments are about", ("Stories, coder",)
    table = tag_shares_table(
        "comment_codes", title, shares, about, codes, of=of, case="comment", tag="code", labels=labels
    )
    values = {"rating": {case.case_id: case.answer for case in cases}, "sd": {case.case_id: case.sd for case in cases}}
    words = run.resampling_of(GroupOf({case.case_id: case.item.word for case in cases}, "words"))
    means = means_by_tag(coded.tags, codes, values, of=of, **words)
    ratings = [run.about(mean, condition=f"coder {mean.condition}") for mean in means]
    heads = {"rating": "Rating beside them, mean", "sd": "SD of their samples, mean"}
    notes = ("The SD has n − 1 and is that of all ratings of a sample. 95 % interval, over words.",)
    title = "Ratings beside comments, by what they are about"
    beside = tag_means_table("comment_ratings", title, ratings, heads, of=of, case="comment", tag="code", notes=notes)
    return part_of(shares, table, ratings, beside, coded.agreement)
