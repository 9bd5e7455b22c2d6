"""Tokens (§4.3, Table 1), consistency (§4.4, Tables 14 to 17), and what the paper recommends or leaves open.

These are the margins of decisions, expressions of the relation, and the relation turned round (§6, App. G).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.analysis.choice_design import Cell
from lexiscope.analysis.choice_sets import BothWays, both_ways
from lexiscope.analysis.consistency_table import consistency_table
from lexiscope.analysis.design_answers import SubjectAnswers, margins, versus
from lexiscope.analysis.token_effect import DeltaEffect, DeltaLevel, accuracy_by_delta, delta_effect
from lexiscope.core.result import Result
from lexiscope.core.showing import counted
from lexiscope.items.templates import TURNED
from lexiscope.report.accuracy_tables import PERCENT, both_ways_table, delta_effects_table, deltas_table, margins_table
from lexiscope.report.part import Remark
from lexiscope.report.pivot import Col, Row, pivot
from lexiscope.report.tables import BOUNDED, INTEGER, Column, Table, columns
from lexiscope.studies.synonymy.accuracy import dots, score
from lexiscope.studies.synonymy.data import SynonymyData
from lexiscope.studies.synonymy.design import label_of

# -- tokens -----------------------------------------------------------------------------------------------------------


def tokens(run: SynonymyData) -> object:
    """Answer whether decisions go with the number of tokens: accuracy by token delta, its t-tests, margins.

    Recorded subjects have the token deltas that were released (of OLMo-1B's tokenizer, each word alone), live ones
    those of their own tokenizer in the texts themselves.
    """
    results: list[Result] = []
    rows: list[tuple[str, str, DeltaLevel]] = []
    for answers in run.models:
        for condition, right, deltas in _decisions(run, answers):
            for level in accuracy_by_delta(right, deltas):
                results += [run.about(each, subject=answers.subject, condition=condition) for each in level.results()]
                rows.append((answers.title, condition, level))
    effects = [
        (answers, cell, delta_effect(answers.outcomes[cell].correct, answers.delta(cell)))
        for answers in run.of_kind("live")
        for cell in run.design.main
        if cell in answers.outcomes and not cell.is_joint and not np.isnan(answers.delta(cell)).any()
    ]
    follows = [run.about(each.result(), subject=a.subject, condition=cell.name) for a, cell, each in effects]
    papers = run.design.is_papers
    suites = [label_of(cell).rpartition(":")[0] for cell in run.design.controlled]
    listed = " and ".join(filter(None, (", ".join(suites[:-1]), *suites[-1:])))
    note = (
        f"The controlled decisions of {listed} together{', as in Ivan et al. (2025)' if papers else ''}. "
        "Decisions of one item are not independent; the tests take them as if they were."
    )
    tables = [deltas_table(rows, name="table_1_tokens", number="1" if papers else "", notes=(note,))] if rows else []
    if effects:
        tables.append(delta_effects_table([(answers.title, label_of(cell), one) for answers, cell, one in effects]))
    return results, follows, tables, _warnings(effects), _margins(run)


def _decisions(run: SynonymyData, answers: SubjectAnswers) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """The controlled decisions of the suites (in the paper those with context), one after the other, with deltas."""
    cells = [cell for cell in run.design.controlled if cell in answers.outcomes]
    if cells:
        right = np.concatenate([answers.outcomes[cell].correct for cell in cells]).astype(np.float64)
        if answers.kind == "recorded" and run.asked.token_deltas:
            yield "released token deltas", right, np.tile(run.asked.token_deltas, len(cells))
        own = np.concatenate([answers.delta(cell) for cell in cells])
        if not np.isnan(own).any():
            yield "own token deltas", right, own


Effect = tuple[SubjectAnswers, Cell, DeltaEffect]


def _warnings(effects: Sequence[Effect]) -> Iterator[Remark]:
    """One sentence for each subject whose decisions follow the token delta, with the cells in which they do."""
    for answers in dict.fromkeys(answers for answers, _, _ in effects):
        following = [
            f"{label_of(cell)} ({100 * one.accuracy_more:.0f} % right with more tokens, "
            f"{100 * one.accuracy_fewer:.0f} % with fewer)"
            for subject, cell, one in effects
            if subject is answers and one.follows
        ]
        if following:
            yield Remark(
                f"Warning: decisions of {answers.title} under {answers.measure} follow the token delta in "
                f"{counted(len(following), 'cell')}: {'; '.join(following)}."
            )


def _margins(run: SynonymyData) -> object:
    """By how much the right word wins or loses; recorded outcomes have no margins: their scores were not released."""
    found = [run.about(one) for answers in run.of_kind("live") for one in margins(answers, run.design.main)]
    return found, margins_table(found, names=run.named(found))


# -- consistency ------------------------------------------------------------------------------------------------------


def consistency(run: SynonymyData) -> Iterator[object]:
    """Answer whether the same items are right in two tests: counts, and P(second = b | first = a)."""
    names = {f"Second {word}, n": f"n_consistent(a={{a}},b={b})" for b, word in enumerate(("wrong", "right"))}
    names |= {f"P({word})": f"given(a={{a}},b={b})" for b, word in enumerate(("wrong", "right"))}
    columns = [Col(header, name, INTEGER if header.endswith("n") else BOUNDED) for header, name in names.items()]
    for number, first, second in run.design.consistency:
        results: list[Result] = []
        rows: list[Row] = []
        for answers in run.models:
            if first in answers.outcomes and second in answers.outcomes:
                found = consistency_table(answers.outcomes[first].correct, answers.outcomes[second].correct)
                where = {"subject": answers.subject, "condition": versus(first.name, second.name)}
                results += [run.about(each, **where) for each in found.results()]
                rows += [Row((answers.title, word), where, {"a": a}) for a, word in enumerate(("wrong", "right"))]
        if rows:
            title = f"Second test, {label_of(second)}, given the first, {label_of(first)}"
            shown_number = number if run.design.is_papers else ""
            name, labels = f"table_{number}_consistency", ("Subject", "First test")
            yield results, pivot(name, title, results, columns, rows, labels=labels, number=shown_number)


# -- the relation -----------------------------------------------------------------------------------------------------


def relation(run: SynonymyData) -> object:
    """Answer which expression of the relation works best, and whether it works in both directions."""
    cells = [cell for cell in run.design.related if not cell.is_joint]
    # the expressions of one condition are next to each other
    kinds = list(dict.fromkeys((cell.suite, cell.condition) for cell in cells))
    cells.sort(key=lambda cell: kinds.index((cell.suite, cell.condition)))
    title = "Accuracy by expression of the relation"
    return _expressions(run), _turned(run), dots(run, run.models, cells, "figure_6_expressions", title)


def _expressions(run: SynonymyData) -> object:
    records, rows, related = [], [], run.design.related
    for answers in run.models:
        for kind in dict.fromkeys((cell.suite, cell.condition) for cell in answers.outcomes if cell in related):
            cells = [cell for cell in answers.outcomes if (cell.suite, cell.condition) == kind]
            shares = [100 * score(run, answers, cell).value for cell in cells]
            top = max(shares)
            best = [f"“{cell.expression}”" for cell, share in zip(cells, shares, strict=True) if share == top]
            said = " and ".join(best)
            about = {"subject": answers.subject, "condition": "/".join(kind), "unit": "percent", "note": said}
            records.append(run.number("best_expression", top, **about))
            label = label_of(cells[0]).replace(f" (“{cells[0].expression}”)", "")
            rows.append((answers.title, label, said, top, top - min(shares)))
    spread = Column("Best minus worst, points", PERCENT, note="The contrasts between expressions test it.")
    heads = columns("Subject", "Condition", "Best expression", ("Right, %", PERCENT), spread)
    title = "The expression of the relation that works best"
    return records, Table("preferred_expression", "", title, heads, tuple(rows)) if rows else None


def _turned(run: SynonymyData) -> object:
    """Whether a subject decides alike when target and word change places."""
    results: list[Result] = []
    rows: list[tuple[str, str, BothWays]] = []
    for answers in run.of_kind("live"):
        for cell in answers.outcomes:
            turned = replace(cell, suite=cell.suite + TURNED)
            if turned in answers.outcomes:
                one = both_ways(answers.outcomes[cell], answers.outcomes[turned])
                results += [run.about(each, subject=answers.subject, condition=cell.name) for each in one.results()]
                rows.append((answers.title, label_of(cell), one))
    return results, both_ways_table(rows) if rows else None
