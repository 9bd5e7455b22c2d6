"""What the paper prints, as far as its printed digits are at hand, and what is known of its other tables.

The paper's text is not part of this project. Printed numbers stand here only where a source of ours quotes them. Of the
other tables it is known how many of their values equal those of the released outcomes: they were set against the
printed tables once, value by value, and :data:`STATED` gives what that check found. A record of such a table is marked
``reproduced`` without a printed number, and says why, if the outcomes are the released ones, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lexiscope.core.result import Record
from lexiscope.core.study import PublishedValue
from lexiscope.studies.synonymy.cells import (
    ALONE,
    ALONE_BOTH,
    ALONE_WRONG,
    MAIN,
    REFERENCE,
    RELATION,
    RELATION_RANDOM,
    SUBSTITUTION,
    SUBSTITUTION_RANDOM,
    Cell,
)

OLMO_1B, OLMO_7B, AMBER = "allenai/OLMo-1B", "allenai/OLMo-7B", "LLM360/Amber"
MODELS = (OLMO_1B, OLMO_7B, AMBER)
PAIRS = tuple(f"{a} vs {b}" for a, b in ((OLMO_1B, OLMO_7B), (OLMO_1B, AMBER), (OLMO_7B, AMBER)))
ACCURACY = "accuracy(per=token)"
OUTCOMES_SHA256 = "7041240391703b41d00707675ae139b9fb796537daae6ea92f754d5f959a1680"
"""The file of outcomes that the check of the tables was made on."""

_ANOTHER_RUN = "the printed value needs another lead than the released outcomes and the paper's own Table 5 have"
_NO_ANSWERS = "the answers of the two people were never released"
_NO_GAPS = "no gap-filling prediction was released"
_NO_COUNTS = "needs the word counts of the training text of the model on which it was observed; not at hand"


def _value(statistic: str, printed: str, place: str, **more: object) -> PublishedValue:
    return PublishedValue(statistic, printed, place, dataset="synonymy", **more)  # type: ignore[arg-type]


def _accuracies(subject: str, place: str, printed: dict[Cell, str]) -> tuple[PublishedValue, ...]:
    return tuple(_value(ACCURACY, text, place, subject=subject, condition=cell.name) for cell, text in printed.items())


def versus(first: Cell, second: Cell) -> str:
    """Return the condition of the records of a contrast."""
    return f"{first.name} vs {second.name}"


_TABLE_5 = (
    *_accuracies(OLMO_1B, "Table 5", {SUBSTITUTION: "85", REFERENCE: "67.5", RELATION: "77"}),
    *_accuracies(OLMO_1B, "Table 5", {ALONE: "54", ALONE_WRONG: "50", ALONE_BOTH: "33"}),
    *_accuracies(OLMO_7B, "Table 5, margins of Table 17", {RELATION_RANDOM: "89.5", ALONE: "72.5"}),
    *_accuracies(AMBER, "Table 5", {ALONE: "28.5", ALONE_WRONG: "25", ALONE_BOTH: "14.5"}),
)

_RANDOM_PRINTED = (
    "printed under 'controlled', but it is the value of the random condition, which the released outcomes give to the "
    "digit; the conclusion stands (p < .001)"
)
_TABLE_6 = tuple(
    _value(
        "paired_t",
        printed,
        "Table 6, substitution vs reference",
        subject=subject,
        condition=versus(SUBSTITUTION, REFERENCE),
        remark=_RANDOM_PRINTED,
    )
    for subject, printed in zip(MODELS, ("13.71", "10.92", "10.08"), strict=True)
)

_TABLE_7 = tuple(
    _value(statistic, text, "Table 7, reference", subject=pair, condition=REFERENCE.name, remark=_ANOTHER_RUN)
    for pair, t, p in zip(PAIRS, ("-.17", "-.59", "-.44"), (".86", ".56", ".66"), strict=True)
    for statistic, text in (("paired_t", t), ("paired_t_p", p))
)

_SLIP = "the paper's own counts 16 and 14 give .53 and .47"


def _given(
    table: str, first: Cell, second: Cell, subject: str, printed: dict[tuple[int, int], str], remark: str = ""
) -> tuple[PublishedValue, ...]:
    return tuple(
        _value(f"given(a={a},b={b})", text, table, subject=subject, condition=versus(first, second), remark=remark)
        for (a, b), text in printed.items()
    )


_CONSISTENCY = (
    *_given("§4.4 (83 %), Table 14", SUBSTITUTION, RELATION, OLMO_1B, {(1, 1): ".83"}),
    *_given("§4.4 (71 %), Table 15", SUBSTITUTION, REFERENCE, OLMO_1B, {(1, 1): ".71"}),
    *_given("Table 15", SUBSTITUTION, REFERENCE, OLMO_1B, {(0, 0): ".57", (0, 1): ".43"}, _SLIP),
    *(
        _value(
            f"n_consistent(a={a},b={b})",
            text,
            "Table 15",
            subject=OLMO_1B,
            condition=versus(SUBSTITUTION, REFERENCE),
        )
        for a, b, text in ((0, 0, "16"), (0, 1, "14"), (1, 0, "49"), (1, 1, "121"))
    ),
    *_given("§4.4 (91 %), Table 16", SUBSTITUTION, SUBSTITUTION_RANDOM, OLMO_1B, {(1, 1): ".91"}),
    *_given("§4.4 (74 %), Table 17", RELATION_RANDOM, ALONE, OLMO_7B, {(1, 1): ".74"}),
)

_TOKEN_REMARK = (
    "with one right answer fewer at delta 0 (213 of 285) Welch's t is the printed one, and the printed p is then "
    "one-sided: another run; not significant either way"
)
_TOKENS = tuple(
    _value(
        f"{statistic}(delta={delta},variances=pooled)",
        text,
        "§4.3",
        subject=OLMO_1B,
        condition="released token deltas",
        remark=_TOKEN_REMARK,
    )
    for delta, t, p in ((-2, ".29", ".61"), (2, "-.74", ".76"))
    for statistic, text in (("independent_t", t), ("independent_t_p", p))
)


def _never(statistic: str, printed: str, place: str, why: str, **more: object) -> PublishedValue:
    return _value(statistic, printed, place, reproducible=False, remark=why, **more)


_NOT_RELEASED = (
    _never("human_accuracy(person=1)", "88.2", "Table 3", f"{_NO_ANSWERS}; consistent with 164 of 186"),
    _never("human_accuracy(person=2)", "89.5", "Table 3", f"{_NO_ANSWERS}; consistent with 179 of 200"),
    _never("human_agreement", "83.3", "Table 3", f"{_NO_ANSWERS}; consistent with 155 of 186"),
    _never(
        "cohen_kappa",
        ".46",
        "Table 3",
        f"{_NO_ANSWERS}; with these margins kappa is .16 on right and wrong, about .67 on the side that was chosen",
    ),
    _never("weird_rate(person=1)", "15.5", "Table 3", f"{_NO_ANSWERS}; consistent with 31 of 200"),
    _never("weird_rate(person=2)", "14", "Table 3", f"{_NO_ANSWERS}; consistent with 28 of 200"),
    _never("human_accuracy(collection=automatic)", "76", "App. B", _NO_ANSWERS),
    _never(
        "paired_t",
        "-4.02",
        "§4.2",
        f"{_NO_GAPS}; the criteria are nested, so it implies 15 more items right of 200: −√(199 · 15 / 185)",
        subject=OLMO_7B,
        condition="gap filling, curated vs synset",
    ),
    _never("gap_category(category=correct_not_in_synset)", "8.5", "§4.2, Figure 3", _NO_GAPS, subject=OLMO_1B),
)

_SPLITS = {
    (OLMO_1B, SUBSTITUTION): ("87.9", "81.7"),
    (OLMO_1B, REFERENCE): ("75.7", "58.1"),
    (OLMO_7B, REFERENCE): ("75.7", "60.2"),
    (AMBER, REFERENCE): ("69.2", "71.0"),
}
_FREQUENCY = tuple(
    _never(
        f"accuracy_by_frequency(counts=training_text,synonym={side})",
        text,
        "an earlier analysis of the released outcomes, not the paper",
        _NO_COUNTS,
        subject=subject,
        condition=cell.name,
    )
    for (subject, cell), printed in _SPLITS.items()
    for side, text in zip(("more_frequent", "less_frequent"), printed, strict=True)
)

PUBLISHED: dict[str, tuple[PublishedValue, ...]] = {
    "synonymy": (*_TABLE_5, *_TABLE_6, *_TABLE_7, *_CONSISTENCY, *_TOKENS, *_NOT_RELEASED, *_FREQUENCY)
}


@dataclass(frozen=True, slots=True)
class StatedTable:
    """What the check of one printed table against the released outcomes found.

    ``statistics``, ``subjects``, ``conditions`` name the records of the table; without conditions none is named,
    because it is not known which of the contrasts stands in it.
    """

    table: str
    content: str
    values: int
    equal: int
    finding: str = ""
    statistics: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()

    def holds(self, record: Record) -> bool:
        """Say whether a record is a value of this table."""
        return (
            record.statistic in self.statistics
            and record.subject in self.subjects
            and record.condition in self.conditions
        )


_T = ("paired_t", "paired_t_p")
_FOUR = ((0, 0), (0, 1), (1, 0), (1, 1))
_COUNTS = tuple(f"n_consistent(a={a},b={b})" for a, b in _FOUR)
_TABLE_OF_FOUR = (*_COUNTS, *(f"given(a={a},b={b})" for a, b in _FOUR))

STATED: tuple[StatedTable, ...] = (
    StatedTable(
        "Table 1",
        "OLMo-1B: right and wrong by token delta, 600 controlled decisions",
        10,
        10,
        "OLMo-1B only, which the text does not say",
        tuple(f"accuracy_by_delta(delta={delta})" for delta in (-2, -1, 0, 1, 2)),
        (OLMO_1B,),
        ("released token deltas",),
    ),
    StatedTable(
        "Table 5",
        "eight accuracies of three models (Figure 1)",
        24,
        24,
        "",
        (ACCURACY,),
        MODELS,
        tuple(cell.name for cell in MAIN),
    ),
    StatedTable(
        "Table 6",
        "substitution vs relation, t and p",
        12,
        12,
        "",
        _T,
        MODELS,
        (versus(SUBSTITUTION, RELATION), versus(SUBSTITUTION_RANDOM, RELATION_RANDOM)),
    ),
    StatedTable("Table 6", "substitution vs reference, headed 'controlled'", 3, 0, _RANDOM_PRINTED),
    StatedTable(
        "Table 7",
        "between models, substitution and relation, t and p",
        12,
        12,
        "",
        _T,
        PAIRS,
        (SUBSTITUTION.name, RELATION.name),
    ),
    StatedTable("Table 7", "between models, reference, t and p", 6, 0, _ANOTHER_RUN),
    StatedTable(
        "Tables 8-13",
        "further contrasts, t and p (12, 12, 6, 6, 24 and 24 values)",
        84,
        84,
        "which contrast stands in which of them is not known here, so no single value is marked; Table 10 says 'with "
        "context', its numbers are without",
    ),
    StatedTable(
        "Table 14",
        "OLMo-1B, relation given substitution",
        8,
        8,
        "",
        _TABLE_OF_FOUR,
        (OLMO_1B,),
        (versus(SUBSTITUTION, RELATION),),
    ),
    StatedTable(
        "Table 15",
        "OLMo-1B, reference given substitution",
        8,
        6,
        "printed .57/.43 should be .53/.47",
        ("given(a=1,b=0)",),
        (OLMO_1B,),
        (versus(SUBSTITUTION, REFERENCE),),
    ),
    StatedTable(
        "Table 16",
        "OLMo-1B, random given controlled, substitution",
        8,
        8,
        "",
        _TABLE_OF_FOUR,
        (OLMO_1B,),
        (versus(SUBSTITUTION, SUBSTITUTION_RANDOM),),
    ),
    StatedTable(
        "Table 17",
        "OLMo-7B, without context given with context",
        8,
        8,
        "once its columns are exchanged: their heads are swapped",
        _TABLE_OF_FOUR,
        (OLMO_7B,),
        (versus(RELATION_RANDOM, ALONE),),
    ),
    StatedTable("§4.3", "t-tests of tokenisation, t and p", 4, 0, _TOKEN_REMARK),
)


def with_stated(records: Sequence[Record], outcomes_sha256: str) -> tuple[Record, ...]:
    """Mark the records of tables that were found equal, where the outcomes are those that the check was made on."""
    if outcomes_sha256 != OUTCOMES_SHA256:
        return tuple(records)
    return tuple(_marked(record) for record in records)


def _marked(record: Record) -> Record:
    table = next((each for each in STATED if each.holds(record)), None)
    if table is None or record.status or record.value is None:
        return record
    said = (
        f"the printed digits are not at hand; set against the printed table once, {table.equal} of {table.values} "
        "values were equal, this one among them"
    )
    note = "; ".join(part for part in (record.note, said, table.finding) if part)
    return replace(record, source=table.table, status="reproduced", note=note)
