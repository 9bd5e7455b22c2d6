"""Tables of tags that coders gave: how often each was given, how much coders agree, what is associated with a tag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, Unpack

from lexiscope.analysis.bootstrap import GroupResampling
from lexiscope.analysis.choices.error_tags import coders_of, tag_agreements, tag_results
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Record, Result, parse_statistic
from lexiscope.items.sheets.tag_sheet import TagSheet
from lexiscope.report.part import Part, part_of
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of
from lexiscope.report.tables import Format, Table

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
