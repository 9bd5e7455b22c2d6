"""The files of a study: numbers and claims of its paper (``printed.csv``, ``claims.csv``), prose (``texts.md``)."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.claims import Claim, parse_rule
from lexiscope.core.errors import InputError, Place
from lexiscope.core.study import PublishedValue
from lexiscope.resources.tables.delimited import read_csv

_PRINTED = ("dataset", "place", "statistic", "subject", "layer", "condition", "printed", "remark", "unavailable")
_CLAIMS = ("dataset", "claim", "place", "question", "rule", "unavailable")


def printed_values(path: Path, *, dataset: str) -> dict[str, tuple[PublishedValue, ...]]:
    """Read what a paper prints, by dataset: ``printed.csv`` of a study, one number a row.

    Columns: ``dataset`` (empty: *dataset*, the study's own), ``place`` (table or section), ``statistic``, ``subject``,
    ``layer`` and ``condition`` of the record (empty where it has none), ``printed`` (the text of the number, in the
    unit of the record), ``remark`` (shown where ours differs), ``unavailable`` (why no data exist, where none do). A
    column ``view`` may follow ``condition``.

    Errors: :class:`InputError` naming the line that lacks its place, whose number does not parse, or that has too few
    or too many cells.
    """
    by_dataset: dict[str, list[PublishedValue]] = {}
    for place, row in read_csv(path, _PRINTED, optional=("view",), may_be_empty=True).rows():
        value = _printed_value(row, dataset, place)
        by_dataset.setdefault(value.dataset, []).append(value)
    return {name: tuple(values) for name, values in by_dataset.items()}


def read_claims(path: Path, *, dataset: str) -> dict[str, tuple[Claim, ...]]:
    """Read what a paper claims, by dataset: ``claims.csv`` of a study, one claim a row.

    Columns: ``dataset`` (one or several, with spaces between them; empty: *dataset*, the study's own), ``claim`` (one
    sentence), ``place`` (section or table), ``question`` (the id of a question of the study), ``rule`` (see above), or
    ``unavailable`` (why no data exist). A claim about several datasets is listed under each.

    Errors: :class:`InputError` naming the line without claim, place or question, with neither or both of rule and
    reason, or whose rule does not parse.
    """
    by_dataset: dict[str, list[Claim]] = {}
    for place, row in read_csv(path, _CLAIMS, may_be_empty=True).rows():
        for column in ("claim", "place", "question"):
            if not row[column]:
                raise InputError(f"a claim needs its {column}", place=place)
        if bool(row["rule"]) == bool(row["unavailable"]):
            what = "a claim needs either a rule, or the reason why no data exist (column unavailable)"
            raise InputError(what, place=place)
        names = tuple(row["dataset"].split()) or (dataset,)
        rule = parse_rule(row["rule"], place=place) if row["rule"] else ()
        claim = Claim(row["claim"], row["place"], row["question"], names, rule, row["unavailable"])
        for name in names:
            by_dataset.setdefault(name, []).append(claim)
    return {name: tuple(claims) for name, claims in by_dataset.items()}


def read_texts(path: Path) -> dict[str, tuple[str, ...]]:
    """Read the prose of a study's report, ``texts.md``: the paragraphs below each heading ``# NAME``, by name."""
    sections = path.read_text(encoding="utf-8").removeprefix("# ").split("\n# ")
    named = (section.partition("\n") for section in sections)
    return {
        name: tuple(part.strip().replace("\n", " ") for part in text.strip().split("\n\n")) for name, _, text in named
    }


def _printed_value(row: dict[str, str], dataset: str, place: Place) -> PublishedValue:
    try:
        float(row["printed"])
    except ValueError as error:
        raise InputError(f"{row['printed']!r} is not a printed number", place=place) from error
    if not row["place"]:
        raise InputError("a printed number needs its place in the paper", place=place)
    if row["layer"] and not row["layer"].isdecimal():
        raise InputError(f"{row['layer']!r} is not the number of a layer", place=place)
    return PublishedValue(
        row["statistic"],
        row["printed"],
        row["place"],
        subject=row["subject"],
        dataset=row["dataset"] or dataset,
        layer=int(row["layer"]) if row["layer"] else None,
        condition=row["condition"],
        remark=row["unavailable"] or row["remark"],
        reproducible=not row["unavailable"],
        view=row.get("view", ""),
    )
