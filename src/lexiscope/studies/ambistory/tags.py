"""Errors that people tagged: how often each kind was seen, of which subject, and how far coders agree (§5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from lexiscope.analysis.error_tags import TagAgreement, TagShare, tag_agreement, tag_shares
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, Undefined, statistic_name
from lexiscope.items.error_tags import TAGS, ErrorCase, read_tags
from lexiscope.report.part import Part, shown, with_interval
from lexiscope.report.tables import INTEGER, Column, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.ambistory.cases import error_cases
from lexiscope.studies.ambistory.data import AmbistoryData
from lexiscope.studies.ambistory.numbers import PERCENT, TWO, record

ALL_SUBJECTS = "all subjects"


def error_tags(run: AmbistoryData) -> Part:
    """Return the share of each tag by coder and subject, and the agreement of coders; nothing without coded sheets.

    The coder of a sheet is the name of its file. Errors: those of :func:`lexiscope.items.error_tags.read_tags`;
    :class:`InputError` for two sheets of one name, and where no subject made an error.
    """
    if not run.settings.codings:
        return Part()
    paths = {Path(name).stem: Path(name) for name in run.settings.codings}
    if len(paths) < len(run.settings.codings):
        raise InputError("two coded sheets have the same file name", hint="name each file after its coder")
    cases = error_cases(run)
    if not cases:
        raise InputError("no subject of this run made an error: there is nothing that a sheet could code")
    coded = ResponseTable.concat([read_tags(path, cases, coder=coder) for coder, path in paths.items()])
    words = {case.case_id: case.item.word for case in cases}
    drawn = {"clusters": words, "resamples": run.settings.n_bootstrap, "seed": run.settings.seed}
    shares, remarks = _shares(run, coded, tuple(paths), cases, drawn)
    agreement = _agreement(run, coded, tuple(paths), drawn)
    return Part((*shares.records, *agreement.records), (*shares.tables, *agreement.tables), remarks=(*remarks,))


def _shares(
    run: AmbistoryData,
    coded: ResponseTable,
    coders: Sequence[str],
    cases: Sequence[ErrorCase],
    drawn: Mapping[str, Any],
) -> tuple[Part, tuple[str, ...]]:
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    remarks = []
    subjects = dict.fromkeys(case.subject for case in cases)
    for coder in coders:
        for subject in (ALL_SUBJECTS, *subjects):
            ids = tuple(case.case_id for case in cases if subject in (ALL_SUBJECTS, case.subject))
            try:
                found = tag_shares(coded.where(item_id=ids), coder, tuple(TAGS), **drawn)
            except StatisticError as error:
                remarks.append(f"{coder}, {subject}: no shares of tags: {error.what}.")
                continue
            own = [_share_record(run, one, coder, subject) for one in found]
            records += own
            rows.append((coder, subject, len(ids), *map(shown, own)))
    columns = (
        Column("Coder"),
        Column("Subject"),
        Column("Errors", INTEGER),
        *(Column(f"{tag.replace('_', ' ')}, %", PERCENT) for tag in TAGS),
    )
    note = "Several tags may apply to one error: shares do not add up. 95 % interval, words resampled."
    table = Table("error_tags", "", "What people saw in the errors", columns, tuple(rows), (note,))
    return Part(tuple(records), (table,) if rows else ()), tuple(remarks)


def _share_record(run: AmbistoryData, one: TagShare, coder: str, subject: str) -> Record:
    name = statistic_name("error_tag_share", tag=one.tag)
    about = {"subject": "" if subject == ALL_SUBJECTS else subject, "condition": f"{run.split}, coder {coder}"}
    base = record(run, name, 100 * one.share.value, n=one.share.n, unit="percent", **about)
    return with_interval(base, one.share.clustered, times=100)


def _agreement(run: AmbistoryData, coded: ResponseTable, coders: Sequence[str], drawn: Mapping[str, Any]) -> Part:
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    for first, second in combinations(coders, 2):
        for one in tag_agreement(coded, first, second, tuple(TAGS), **drawn):
            own = _agreement_records(run, one, f"{first} and {second}")
            records += own
            rows.append((f"{first}, {second}", one.tag.replace("_", " "), *map(shown, own), one.percent.n))
    columns = (Column("Coders"), Column("Tag"), Column("Same, %", PERCENT), Column("κ", TWO), Column("Errors", INTEGER))
    note = "Cohen's κ; intervals: words resampled (same), errors resampled (κ)."
    title = "How far coders agree on the tags"
    return Part(
        tuple(records), (Table("error_tag_agreement", "", title, columns, tuple(rows), (note,)),) if rows else ()
    )


def _agreement_records(run: AmbistoryData, one: TagAgreement, pair: str) -> list[Record]:
    about: dict[str, Any] = {"condition": f"{run.split}, {pair}"}
    same = record(
        run,
        statistic_name("error_tag_same", tag=one.tag),
        100 * one.percent.value,
        n=one.percent.n,
        unit="percent",
        **about,
    )
    name = statistic_name("error_tag_kappa", tag=one.tag)
    about |= {"n": one.percent.n}
    if isinstance(one.kappa, Undefined):
        kappa = record(run, name, None, note=f"undefined: {one.kappa.reason}", **about)
    else:
        kappa = with_interval(record(run, name, one.kappa.value, **about), one.kappa.interval)
    return [with_interval(same, one.percent.clustered, times=100), kappa]
