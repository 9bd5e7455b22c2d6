"""Tables of stories: their endings, the tags of coders, and the variants of a model that judge them.

Endings: lengths, what an ending does to ratings, open against ended stories. Tags: how often each was given, how much
coders agree, what is associated with a tag. Variants: base and trained, without and with worked examples, small and
large; their *results* are those of :mod:`lexiscope.analysis.norms.variants`, and a pair on which a comparison is
undefined has no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, Unpack

from lexiscope.analysis.bootstrap import GroupResampling
from lexiscope.analysis.choices.error_tags import coders_of, tag_agreements, tag_results
from lexiscope.analysis.norms.predictions import Predictor
from lexiscope.analysis.norms.story_effects import KINDS, OPEN_AGAINST_ENDED
from lexiscope.analysis.norms.variants import Pair, name_of_pair
from lexiscope.analysis.norms.within_sd import UNREAD_WRONG, WHOLE
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record, Result, parse_statistic
from lexiscope.items.sheets.tag_sheet import TagSheet
from lexiscope.report.part import Part, part_of
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of, rows_of
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Format, Table

Results = Sequence[Record | Result]
_PERCENT, _TWO, _THREE = Format("number", 1), Format("number", 2), Format("number", 3, leading_zero=False)
_ENDED_MINUS_OPEN = "accuracy_difference(of=ended_minus_open)"
_PLAIN = "rank_sum(of=sd,between=open_and_ended,ties=ignored,value=p)"


def lengths_table(results: Results, *, name: str = "lengths", number: str = "") -> Table:
    """Return the mean lengths of stories and of their parts (``StoryLengths``)."""
    mean = "mean_words(of={part})"
    columns = (Col("Words, mean", mean, _TWO, "value"), Col("n", mean, show="n"))
    rows = [PivotRow((part,), of={"part": part}) for part in ("precontext", "sentence", "ending", "story")]
    note = "Words are what white space separates. Endings without the open stories; stories with them."
    title = "Length of the stories"
    return pivot(name, title, results, columns, rows, labels=("Part",), number=number, notes=(note,))


def shifts_table(results: Results, *, source: str = "") -> Table:
    """Return how much endings move ratings (:func:`lexiscope.analysis.norms.story_effects.ending_effects`), in points.

    *source* is the paper that divides the SD by n.
    """
    shift, sd = "absolute_difference(between={between})", "absolute_difference_sd(between={between},ddof="
    columns = (
        Col("Mean absolute difference", shift, _TWO, note="Of mean ratings; 95 % interval, words resampled."),
        Col("SD, n", sd + "0)", _THREE, note=f"Divided by n{f', as {source}' if source else ''}."),
        Col("SD, n − 1", sd + "1)", _THREE),
        Col("Differences", shift, show="n"),
    )
    rows = [
        PivotRow(("ended against open",), of={"between": "open_and_ended"}),
        PivotRow(("one ending against another",), of={"between": "endings"}),
    ]
    title = "Effect of an ending on the plausibility of a meaning"
    return pivot("endings", title, results, columns, rows, labels=("Compared",))


def directions_table(results: Results) -> Table:
    """Return how often endings work as meant (:func:`lexiscope.analysis.norms.story_effects.ending_effects`)."""
    columns = [
        Col(f"{share.capitalize()}, %", f"{{order}}(share={share})", _PERCENT) for share in ("above", "equal", "below")
    ]
    rows = [
        PivotRow(("intended meaning above the other one, same story",), of={"order": "intended_above_other"}),
        PivotRow(("ending raises its meaning above the open story",), of={"order": "ending_raises_intended"}),
    ]
    title = "Do endings work in the direction they were written for?"
    note = "Not every ending works, and none was dropped for that."
    return pivot("ending_direction", title, results, columns, rows, labels=("How often",), notes=(note,))


def disagreement_table(results: Results) -> Table:
    """Return whether people disagree more about open stories, for each condition that was tested.

    *results* are those of :func:`lexiscope.analysis.norms.story_effects.open_against_ended`.
    """
    columns = (
        *(
            Col(f"Mean SD, {kind}", "kind_mean_sd(ddof=1)", _THREE, where={"condition": f"{{condition}}, {kind}"})
            for kind in KINDS
        ),
        Col("U", OPEN_AGAINST_ENDED, INTEGER, "value"),
        Col(
            "p",
            OPEN_AGAINST_ENDED,
            P_VALUE,
            "p",
            note="Wilcoxon's rank-sum test, two-sided, corrected for ties and continuity.",
        ),
        Col(
            "p, ties ignored", _PLAIN, P_VALUE, note="Without either correction, as some programs print it; too large."
        ),
    )
    rows = rows_of([record for record in records_of(results) if record.statistic == OPEN_AGAINST_ENDED], "condition")
    return pivot(
        "open_ended_sd", "Do people disagree more about open stories?", results, columns, rows, labels=("Samples of",)
    )


def kinds_table(
    results: Results, predictors: Sequence[Predictor], *, of: str, name: str = "open_ended", number: str = ""
) -> Table:
    """Return how accurate predictors are on all, open and ended stories; the condition begins with *of* (a split).

    *results* are those of :func:`lexiscope.analysis.norms.story_effects.accuracy_by_kind`.
    """
    columns = [
        Col(kind + end, forms, _THREE, where={"condition": f"{of}, {kind}"})
        for forms, end in ((WHOLE, ""), (UNREAD_WRONG, ", unread as wrong"))
        for kind in ("all", *KINDS)
    ]
    note = (
        "Whole predictions; others rounded, halves up. Over samples with a readable reply (read / asked); then with "
        "the others as wrong. 95 % interval, over words."
    )
    rows = [PivotRow((own.title, own.read_of_asked), {"subject": own.subject}) for own in predictors]
    labels, title = ("Subject", "Read / asked"), "Accuracy within SD on open and ended stories"
    return pivot(name, title, results, columns, rows, labels=labels, number=number, notes=(note,))


def ended_minus_open_table(results: Results, titles: Mapping[str, str]) -> Table:
    """Return by how much subjects, called by their *titles*, are more accurate on ended stories than on open ones.

    *results* are those of :func:`lexiscope.analysis.norms.story_effects.ended_minus_open`.
    """
    columns = (Col("Accuracy, ended − open", _ENDED_MINUS_OPEN, _THREE), Col("Samples", _ENDED_MINUS_OPEN, show="n"))
    title, rows = "Accuracy within SD on ended stories minus open ones", rows_of(results, "subject", names=titles)
    note = "Whole predictions; 95 % interval, words resampled, the same ones for both kinds."
    return pivot("ended_minus_open", title, results, columns, rows, labels=("Subject",), notes=(note,))


def subjects_mean_table(results: Results, shots: Sequence[int], *, of: str) -> Table:
    """Return the means over subjects that saw as many worked examples; the condition begins with *of* (a split).

    *results* are the means of :func:`lexiscope.analysis.norms.story_effects.ended_minus_open`, with the parameter
    ``shots`` in their names.
    """
    accuracy, difference = (
        f"subjects_mean(of={what},shots={{shots}})" for what in ("accuracy_within_sd", "ended_minus_open")
    )
    columns = (
        *(Col(kind.capitalize(), accuracy, _THREE, where={"condition": f"{of}, {kind}"}) for kind in KINDS),
        Col("Ended − open", difference, _THREE),
        Col("Subjects", difference, show="n"),
    )
    note = (
        "Subjects of which the number of worked examples is known (models that are asked here, and those of --models). "
        "95 % interval, words resampled: it does not cover other subjects."
    )
    title, labels = "Accuracy within SD, means over subjects", (Column("Worked examples", INTEGER),)
    rows = [PivotRow((number,), of={"shots": number}) for number in shots]
    return pivot("mean_of_subjects", title, results, columns, rows, labels=labels, notes=(note,))


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
        *(Col(f"{_words(own)}, %", share, _PERCENT) for own, share in shares.items()),
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
        PivotRow((", ".join(pair), _words(tag)), {"condition": condition}, {"tag": tag})
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
    rows = [PivotRow((where, _words(own)), {"condition": where}, {"tag": own}) for where, own in tagged]
    n_cases = Col(f"{case.capitalize()}s", columns[0].statistic, show="n")
    return pivot(name, title, listed, (n_cases, *columns), rows, labels=("Coder", tag.capitalize()), notes=notes)


def _words(tag: str) -> str:
    return tag.replace("_", " ")


_PERCENT, _TWO, _THREE = Format("number", 1), Format("number", 2), Format("number", 3, leading_zero=False)
_SIGNED_RANK = "signed_rank(of={of})"
_SIZE_TREND = "spearman(of=n_parameters,with={of})"


def contrasts_table(
    name: str, title: str, results: Iterable[Record | Result], pairs: Iterable[Pair], sides: tuple[str, str]
) -> Table:
    """Return the errors of both *sides* of every pair, with the test of their difference.

    The results are those of :func:`lexiscope.analysis.norms.variants.contrast_of_predictions`.
    """
    listed, (first, second) = records_of(results), sides
    of = f"{second}_minus_{first}"
    test = _SIGNED_RANK.format(of=of)
    columns = (
        *(Col(f"Mean error, {side}", f"mean_absolute_error(of={side})", _THREE) for side in sides),
        Col("V", test, INTEGER, "value"),
        Col("p", test, P_VALUE, "p", note="Wilcoxon's signed-rank test of the absolute errors, two-sided."),
        Col(f"Accuracy, {second} − {first}", f"accuracy_difference(of={of})", _THREE),
        Col(f"ρ, {second} − {first}", f"spearman_difference(of={of})", _THREE),
        Col("Samples", test, show="n"),
    )
    note = "Whole predictions; others rounded, halves up. Samples that both predicted; 95 % interval, over words."
    rows, labels = _rows_of_pairs(listed, pairs, test), [side.capitalize() for side in sides]
    return pivot(name, title, listed, columns, rows, labels=labels, notes=(note,))


def label_shifts_table(results: Iterable[Record | Result], pairs: Iterable[Pair]) -> Table | None:
    """Return how training moves labels (:func:`lexiscope.analysis.norms.label_distribution.label_shift`).

    ``None`` where it is undefined for every pair.
    """
    listed, sides, test = records_of(results), ("base", "tuned"), "marginal_homogeneity(of=tuned_minus_base)"
    columns = (
        *(Col(f"Distance, {side}", f"label_distance(of={side})", _PERCENT) for side in sides),
        Col("Tuned − base", "label_distance_difference(of=tuned_minus_base)", _PERCENT),
        Col("χ²", test, _TWO, "value"),
        Col("p, labels", test, P_VALUE, "p", note="Stuart–Maxwell test: do base and tuned give labels equally often?"),
        Col("Samples", test, show="n"),
    )
    note = (
        "Distance: the percent of labels that would have to change for the distribution to be that of people's rounded "
        "means (total variation). 95 % interval, over words; the test takes samples as independent."
    )
    title, labels = "Labels before and after training, and people's", [side.capitalize() for side in sides]
    rows = _rows_of_pairs(listed, pairs, test)
    return pivot("label_shift", title, listed, columns, rows, labels=labels, notes=(note,)) if rows else None


def size_trends_table(results: Iterable[Record | Result]) -> Table:
    """Return whether larger models are closer to people (:func:`lexiscope.analysis.norms.variants.trend_with_size`)."""
    listed, heads = records_of(results), {"accuracy_within_sd": "accuracy", "spearman": "ρ with people"}
    columns = [
        column
        for of, what in heads.items()
        for column in (
            Col(f"ρ of size and {what}", _SIZE_TREND.format(of=of), _TWO),
            Col(f"p, {what}", _SIZE_TREND.format(of=of), P_VALUE, "p"),
        )
    ]
    columns.append(Col("Models", _SIZE_TREND.format(of="accuracy_within_sd"), show="n"))
    note = (
        "Spearman's ρ over models; p of the permutation test over models (exact up to 8). 95 % interval: words "
        "resampled, so it does not generalise to other models."
    )
    title, rows = "Are larger models closer to people?", rows_of(listed, "condition")
    return pivot("size_trend", title, listed, columns, rows, labels=("Samples of",), notes=(note,))


def _rows_of_pairs(records: Sequence[Record], pairs: Iterable[Pair], test: str) -> list[PivotRow]:
    tested = {record.subject for record in records if record.statistic == test and record.value is not None}
    named = {name_of_pair(*pair): tuple(own.title for own in pair) for pair in pairs}
    return [PivotRow(titles, {"subject": subject}) for subject, titles in named.items() if subject in tested]
