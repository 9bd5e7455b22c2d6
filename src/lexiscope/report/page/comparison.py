"""What a paper prints and claims, compared with the numbers of a run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from lexiscope.core.claims import OUTCOMES, CheckedClaim, Claim, check_claims
from lexiscope.core.result import COMPARED, Record
from lexiscope.core.showing import counted
from lexiscope.core.study import Question
from lexiscope.report.answers.numbers import capital
from lexiscope.report.answers.sentences import words_of
from lexiscope.report.document import Section
from lexiscope.report.part import record_cell
from lexiscope.report.tables import DASH, Cell, Column, Format, Head, Noted, Table, drop_empty, table_of

_ORDER = ("reproduced", "within rounding", "not reproduced", "not reproducible", "not computed", "undefined")
_WORDS = {"": "without comparison"}
_FOUR = Format("number", 4)
_TITLE = "Reproduction: published and recomputed values"
_NO_NAMES: Mapping[str, str] = MappingProxyType({})


def published_records(records: Sequence[Record]) -> list[Record]:
    """Return the records that a paper prints a value for, in order; a statistic may be undefined without any paper."""
    return [record for record in records if record.published is not None or record.status not in ("", "undefined")]


def published_table(records: Sequence[Record], names: Mapping[str, str] = _NO_NAMES) -> Table:
    """Return the table *paper prints / we find / status*, one row per record with a published value, in order.

    *names* are what subjects and conditions are called, by their ids.
    """
    cells: Mapping[Head, Callable[[Record], Cell]] = {
        "Value": lambda record: capital(words_of(record.statistic)),
        "Of": lambda record: ", ".join(
            filter(None, (names.get(record.subject, record.subject), where_measured(record, names)))
        ),
        "Place": lambda record: record.source,
        Column("Paper", align="right"): lambda record: (
            DASH if record.published is None else f"{record.bound} {record.published:.10g}".strip().replace("-", "−")
        ),
        Column("Here", _FOUR, note="At four decimals, with its interval where one was computed."): value_cell,
        "Status": _status_cell,
    }
    return table_of("published", _TITLE, published_records(records), cells)


def comparison_section(records: Sequence[Record]) -> Section | None:
    """Return the section with the comparison, or ``None`` where no record has a published value."""
    chosen = published_records(records)
    if not chosen:
        return None
    text = (
        f"{printed_count(chosen)} A number is reproduced if it rounds to the printed one, digit for digit, or is on "
        "its side of a printed bound. It is within rounding if it is off by at most one unit of the last printed digit."
    )
    return Section("published", _TITLE, (text,), (published_table(records),))


def reproduction_sections(
    records: Sequence[Record], names: Mapping[str, str] = _NO_NAMES
) -> list[tuple[Section, bool]]:
    """Return the page that compares printed numbers with those of a run, each section with whether it is folded.

    *names* are what subjects and conditions are called, by their ids.
    What differs comes first, then what cannot be computed; what is reproduced is folded. None without printed numbers.
    """
    chosen = published_records(records)
    if not chosen:
        return []
    same = [record for record in chosen if record.status in ("reproduced", "within rounding")]
    parts = (
        ("differs", "Different", [record for record in chosen if record.status == "not reproduced"], False),
        (
            "open",
            "Not computed in this run",
            [r for r in chosen if r.status in ("not computed", "undefined", "")],
            True,
        ),
        ("unavailable", "Cannot be computed", [r for r in chosen if r.status == "not reproducible"], True),
        ("same", "Reproduced", same, True),
    )
    lead = comparison_section(records)
    assert lead is not None
    title = f"{len(same)} of {len(chosen)} printed values are reproduced"
    sections: list[tuple[Section, bool]] = [(replace(lead, title=title, tables=()), False)]
    for name, heading, own, is_folded in parts:
        if own:
            table = replace(
                published_table(own, names), name=f"published_{name}", title=f"{heading}: {counted(len(own), 'value')}"
            )
            sections.append((Section(f"published-{name}", f"{heading} ({len(own)})", tables=(table,)), is_folded))
    return sections


def printed_count(records: Sequence[Record]) -> str:
    """Return how many printed numbers a run compares with its own, by outcome, and how many it does not, by status.

    >>> printed_count([Record("r", 0.5, published=0.5, status="reproduced")])
    'The paper prints 1 number of these data. This run compares 1 of 1: 1 reproduced.'
    """
    counts: Counter[str] = Counter(record.status for record in published_records(records))
    total = sum(counts.values())
    compared, others = (
        [f"{counts[status]} {_WORDS.get(status, status)}" for status in statuses if counts[status]]
        for statuses in (COMPARED, [status for status in (*_ORDER, "") if status not in COMPARED])
    )
    n = sum(counts[status] for status in COMPARED)
    return (
        f"The paper prints {counted(total, 'number')} of these data. This run compares {n} of {total}"
        f"{': ' if compared else ''}{', '.join(compared)}.{' Not compared: ' if others else ''}{', '.join(others)}"
        f"{'.' if others else ''}"
    )


def where_measured(record: Record, names: Mapping[str, str] = _NO_NAMES) -> str:
    """Return dataset, layer, condition and view of a record as text, each by its name if it has one.

    >>> where_measured(Record("r", 0.5, dataset="saw_c", layer=12, condition="same"))
    'saw_c, layer 12, same'
    """
    layer = f"layer {record.layer}" if record.layer is not None else ""
    parts = (record.dataset, layer, record.condition, record.view)
    return ", ".join(names.get(part, part) for part in parts if part)


def value_cell(record: Record) -> Cell:
    """Return the value of a record with its interval, or the reason why it has none; a whole number as text."""
    cell = record_cell(record)
    # counts and layers are whole numbers: decimals would only hide that
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else cell


def _status_cell(record: Record) -> Cell:
    status = _WORDS.get(record.status, record.status)
    return Noted(status, record.note) if record.note and record.value is not None else status


# -- claims -----------------------------------------------------------------------------------------------------------


_CLAIMS = "What the paper claims"
_CLAIM_RULES = (
    "Each claim has a rule that compares numbers of this run (claims.csv of the study). Holds: every comparison comes "
    "out as claimed. Holds in part: for some of several models, datasets or conditions it does. Reversed: every one "
    "comes out the other way. A claim about most models or conditions: more than half decide. Not shown: a part of "
    "the claim does not come out as claimed; two numbers show nothing if the interval of their difference, made of "
    "both intervals, holds 0, nor does a p value above its level.",
    "A claim about models is checked on the models of this run, which need not be the paper's.",
)


def claims_section(
    claims: Mapping[str, Sequence[Claim]],
    records: Sequence[Record],
    questions: Sequence[Question] = (),
    names: Mapping[str, str] = _NO_NAMES,
) -> Section | None:
    """Return the section with what the paper claims of the data of a run; ``None`` if it claims nothing of them.

    *claims* are those of the paper by dataset (``claims.csv``), *questions* those of the
    study: the table gives their texts. *names* are what subjects are called, by their ids.
    """
    datasets = {record.dataset for record in records}
    # a claim about several datasets is listed under each of them
    chosen = dict.fromkeys(claim for name, own in claims.items() if name in datasets for claim in own)
    if not chosen:
        return None
    checked = check_claims(chosen, records)
    counts = Counter(claim.outcome for claim in checked)
    outcomes = ", ".join(
        f"{n} {outcome if n == 1 else _PLURAL.get(outcome, outcome)}" for outcome in OUTCOMES if (n := counts[outcome])
    )
    texts = {question.question_id: question.text for question in questions}
    table, others = claims_table(checked, texts, names), sum(bool(claim.adjusted) for claim in checked)
    lead = f"{counted(len(checked), 'claim')}: {outcomes}."
    if others:
        lead += f" {counted(others, 'outcome')} by p would be another after the adjustment for the family of tests."
    return Section("claims", _CLAIMS, (lead, *_CLAIM_RULES), (table,))


_PLURAL = {"holds": "hold", "holds in part": "hold in part"}


def claims_table(
    checked: Sequence[CheckedClaim],
    questions: Mapping[str, str] | None = None,
    names: Mapping[str, str] = _NO_NAMES,
) -> Table:
    """Return a table with one row per claim: what is claimed, where, the outcome, and the numbers behind it.

    *questions* are the texts of the questions by their id; without one, the id is given. *names* are what subjects are
    called, by their ids.
    """
    several = len({checked_claim.claim.datasets for checked_claim in checked}) > 1
    texts = questions or {}
    cells: Mapping[Head, Callable[[CheckedClaim], Cell]] = {
        "Claim": lambda checked: checked.claim.text,
        "Place": lambda checked: checked.claim.place,
        "Question": lambda checked: texts.get(checked.claim.question, checked.claim.question),
        "Data": lambda checked: ", ".join(checked.claim.datasets) if several else None,
        "Outcome": lambda checked: checked.status,
        "Numbers of this run": lambda checked: _named(checked.evidence, names),
    }
    return drop_empty(table_of("claims", _CLAIMS, checked, cells))


def _named(text: str, names: Mapping[str, str]) -> str:
    """Return a text in which subjects have their names: an id may be a part of another one."""
    longest = sorted(names, key=len, reverse=True)
    if not longest:
        return text
    ids = re.compile(rf"(?<![\w:/-])(?:{'|'.join(map(re.escape, longest))})(?![\w:/-])")
    return ids.sub(lambda match: names[match[0]], text)
