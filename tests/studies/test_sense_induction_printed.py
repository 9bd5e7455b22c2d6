"""What the paper prints and claims, row by row: counts against the text of the paper, and what a run says of it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.study import PublishedValue
from lexiscope.datasets.mini_relatedness import load
from lexiscope.report.parts.sense_parts import MODELS
from lexiscope.report.parts.sense_test_parts import SenseTestAnswers
from lexiscope.studies.kit.pairs import PairSet
from lexiscope.studies.sense_induction import study
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.settings import SenseInductionSettings

from .conftest import outcomes_of_claims

NAMES = {title: name for name, title in MODELS.items()}
ALL: tuple[PublishedValue, ...] = tuple(value for own in study.PUBLISHED.values() for value in own)
ROWS = [row for row in ALL if not row.statistic.startswith("setting(")]


def rows_in(table: str) -> list[PublishedValue]:
    return [row for row in ROWS if re.search(rf"Tables? (\d and )?{table}\b", row.place)
            or (table == "6" and "Tables 6 and 7" in row.place and "fn" not in row.place)]  # fmt: skip


def test_every_number_of_the_paper_has_a_row() -> None:
    """Counted by hand from the paper: Table 1 3 × 3, 2 5 × 3, 3 3 × 4, 5 12 × 2, 6 9 × 5 (all of them in Table 7,
    9 × 7), 8 5. A number that two tables print is one row. In the text: 2,003 pairs and the nine sizes in the names of
    the sets, β, the agreement of Table 4's question, two overlaps (Figure 6), 59.4 ± .7 on WiC, 6 and 2 hours an epoch.
    Settings are no results, and have rows: 7 of §3 and the vocabulary, 6 of appendix B, K = 5, two of the pruning,
    seven of the tests with people, and the senses of PFT-GM."""
    tables = {"1": 9, "2": 15, "3": 12, "4": 1, "5": 24, "8": 5}
    assert {table: len(rows_in(table)) for table in tables} == tables
    similarity = [row for row in ROWS if "Table" in row.place and row.statistic.endswith("max_sim)")]
    assert len(similarity) == 9 * 7
    assert sum("Tables 6 and 7" in row.place for row in similarity) == 9 * 5
    assert len(ROWS) == 9 + 15 + 12 + 1 + 24 + 63 + 5 + (1 + 9) + 1 + 2 + 2 + 2
    assert Counter(row.reproducible for row in ROWS) == {False: 136, True: 10}
    assert len(ALL) - len(ROWS) == 6 + 1 + 6 + 1 + 2 + 7 + 1
    assert all(row.remark for row in ALL if not row.reproducible)


def test_the_rows_are_those_of_the_papers_text(published: Path) -> None:
    """Each number of Tables 1 to 3 and 5 to 8 is in its table of the text, as often as there are rows of it."""
    paper = published.parent / "papers" / "gasi.txt"
    if not paper.is_file():
        pytest.skip("the text of the paper is not at hand")
    text = paper.read_text(encoding="utf-8")
    heads = {"1": ("Model\tSense Accuracy", 3), "2": ("Model\tAccuracy\tP", 5), "3": ("\t\tMUSE\tMSSG", 4),
             "5": ("Model\tMaxSimC", 12), "7": ("Dataset\tMSSG-30K", 9), "8": ("Model\tAccuracy(%)", 7)}  # fmt: skip
    for table, (head, n_lines) in heads.items():
        lines = text[text.index(head) :].splitlines()[1 : 1 + n_lines]
        numbers = Counter(cell for line in lines for cell in line.split("\t")[1:] if re.fullmatch(r"\d+\.\d+", cell))
        own = [row for row in ROWS if row.statistic.endswith("max_sim)")] if table == "7" else rows_in(table)
        assert Counter(row.printed for row in own) == numbers, table


def test_a_run_of_the_papers_sets_is_told_of_every_number() -> None:
    """Without named sets a run is compared with all of the paper; with one set, with what is printed of that set.
    Simulated answers are compared with nothing that the paper prints of people."""
    scws = PairSet("scws", "SCWS", "relatedness", load("en").items[:3], np.array([1.0, 2, 3]))
    assert len(SenseData(SenseInductionSettings(), (scws,)).printed_values(study.PUBLISHED)) == len(ALL)
    alone = SenseData(SenseInductionSettings(dataset="scws"), (scws,)).printed_values(study.PUBLISHED)
    assert {value.dataset for value in alone} == {"scws"}
    assert not SenseData(SenseInductionSettings(planted="made_up")).printed_values(study.PUBLISHED)
    row = Response("a", "simulated", "i", "sense_choice", "choice", option="1")
    people = SenseTestAnswers(ResponseTable.from_rows([row]))
    of_made_up = SenseData(SenseInductionSettings(), (scws,), people=people).printed_values(study.PUBLISHED)
    assert {value.dataset for value in of_made_up} & {"sense_choice", "word_intrusion"} == set()


def test_claims_hold_where_the_numbers_are_those_of_the_paper() -> None:
    """Records made of the paper's own numbers: what it claims of them holds; with the signs turned it is reversed."""
    table = {(row.dataset, row.statistic, row.subject.removesuffix(" (paper)")): float(row.printed) for row in ROWS}

    def difference(dataset: str, measure: str, first: str, second: str, sign: int) -> Record:
        statistic = f"spearman_x100(similarity={measure})"
        value = table[dataset, statistic, first] - table[dataset, statistic, second]
        name = f"similarity_difference(first={NAMES[first]},second={NAMES[second]},similarity={measure})"
        return Record(name, sign * value, dataset=dataset)

    def outcomes(sign: int) -> dict[str, list[str]]:
        pairs = [("GASI", "SASI"), ("GASI-β", "SASI"), ("GASI-β", "GASI"), ("GASI-β-pruned", "GASI-β")]
        records = [difference("scws", m, *p, sign) for m in ("max_sim_c", "avg_sim_c") for p in pairs]
        sets = [name for name in study.PUBLISHED if name.startswith("wordsim")]
        records += [difference(name, "max_sim", *p, sign) for name in sets for p in pairs[:3]]
        for model in ("SASI", "GASI", "GASI-β"):
            own = [table["scws", f"spearman_x100(similarity={m})", model] for m in ("max_sim_c", "avg_sim_c")]
            name = f"similarity_difference(first=max_sim_c,second=avg_sim_c,model={NAMES[model]})"
            records.append(Record(name, sign * (own[0] - own[1]), dataset="scws"))
        return outcomes_of_claims("sense_induction", records)

    found = outcomes(1)
    assert found["holds"] == [
        "Hard selection of senses", "Without a scaling factor", "Soft selection loses more",
        "Retraining with pruned senses", "GASI-β is nearer to", "Without a scaling factor",
    ]  # fmt: skip
    assert set(found) == {"holds", "cannot be tested"}
    assert outcomes(-1)["reversed"] == found["holds"]
