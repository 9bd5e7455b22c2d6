"""Tokens (§4.3, Table 1), consistency (§4.4, Tables 14 to 17), and what the paper recommends or leaves open.

These are the margins of decisions, expressions of the relation, and the relation turned round (§6, App. G).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lexiscope.analysis.bootstrap import FloatArray
from lexiscope.analysis.choices.design_answers import (
    SubjectAnswers,
    best_expressions,
    consistency_results,
    margins,
    pooled,
    token_effects,
    turned_round,
)
from lexiscope.analysis.choices.tokenisation import DeltaLevel, accuracy_by_delta
from lexiscope.core.result import Estimate, Result, statistic_name
from lexiscope.items.choice_sets.templates import TURNED
from lexiscope.report.part import Remark
from lexiscope.report.parts.accuracy_tables import (
    PERCENT,
    both_ways_table,
    consistency_of_tests,
    delta_effects_table,
    deltas_table,
    margins_table,
    token_warnings,
)
from lexiscope.report.tables import Column, Table, columns
from lexiscope.studies.synonymy.accuracy import dots, scores
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
            n_pooled = Estimate(statistic_name("n_by_delta", delta="all"), float(len(right)), n=len(right))
            results.append(run.about(n_pooled, subject=answers.subject, condition=condition))
            for level in accuracy_by_delta(right, deltas):
                results += run.about_all(level.results(), subject=answers.subject, condition=condition)
                rows.append((answers.title, condition, level))
    live, main, papers = run.of_kind("live"), run.design.main, run.design.is_papers
    effects_by_cell = [(answers, *effect) for answers in live for effect in token_effects(answers, main)]
    follows = [run.about(e.result(), subject=a.subject, condition=cell.name) for a, cell, e in effects_by_cell]
    effects = [(answers.title, label_of(cell), effect) for answers, cell, effect in effects_by_cell]
    suites = [label_of(cell).rpartition(":")[0] for cell in run.design.controlled]
    listed = " and ".join(filter(None, (", ".join(suites[:-1]), *suites[-1:])))
    note = (
        f"The controlled decisions of {listed} together{', as in Ivan et al. (2025)' if papers else ''}. "
        "Decisions of one item are not independent; the tests take them as if they were."
    )
    tables: list[Table | None] = []
    tables += [deltas_table(rows, name="table_1_tokens", number="1" if papers else "", notes=(note,))] if rows else []
    tables += [delta_effects_table(effects)] if effects else []
    warnings = map(Remark, token_warnings(effects, {answers.title: answers.measure for answers in live}))
    # recorded outcomes have no margins: their scores were not released
    by_how_much = [run.about(result) for answers in live for result in margins(answers, main)]
    tables += [margins_table(by_how_much, names=run.result_labels(by_how_much))]
    return results, follows, by_how_much, tables, warnings


def _decisions(run: SynonymyData, answers: SubjectAnswers) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """The controlled decisions of the suites (in the paper those with context), one after the other, with deltas."""
    right, own = pooled(answers, run.design.controlled)
    released = np.array(run.asked.token_deltas)
    if right.size and answers.kind == "recorded" and released.size:
        yield "released token deltas", right, np.tile(released, right.size // released.size)
    if right.size and not np.isnan(own).any():
        yield "own token deltas", right, own


# -- consistency ------------------------------------------------------------------------------------------------------


def consistency(run: SynonymyData) -> Iterator[object]:
    """Answer whether the same items are right in two tests: counts, and P(second = b | first = a)."""
    for place, (number, first, second) in enumerate(run.design.consistency, start=1):
        by_subject = (consistency_results(answers, first, second) for answers in run.models)
        results = [result for own in by_subject for result in run.about_all(own)]
        title = f"Second test, {label_of(second)}, given the first, {label_of(first)}"
        shown_number = number if run.design.is_papers else ""
        name = f"table_{number}_consistency" if number else f"consistency_{place}"
        names = run.result_labels(results)
        yield results, consistency_of_tests(results, names=names, name=name, title=title, number=shown_number)
        if not results and (first, second) in run.design.crossed:
            yield Remark(f"No subject answered both {label_of(first)} and {label_of(second)}: they are not crossed.")


# -- the relation -----------------------------------------------------------------------------------------------------


def relation(run: SynonymyData) -> object:
    """Answer which expression of the relation works best, and whether it works in both directions."""
    cells = [cell for cell in run.design.related if not cell.is_joint]
    # the expressions of one condition are next to each other
    kinds = list(dict.fromkeys((cell.suite, cell.condition) for cell in cells))
    cells.sort(key=lambda cell: kinds.index((cell.suite, cell.condition)))
    title = "Accuracy by expression of the relation"
    return _expressions(run), _turned_relation(run), dots(run, run.models, cells, "figure_6_expressions", title)


def _expressions(run: SynonymyData) -> object:
    results, rows = [], []
    for answers in run.models:
        by_cell = run.once(scores)[answers.subject][answers.measure]
        for cells, best in best_expressions(answers, by_cell, run.design.related):
            results.append(run.about(best))
            label = label_of(cells[0]).replace(f" (“{cells[0].expression}”)", "")
            lowest = min(100 * by_cell[cell].value for cell in cells)
            rows.append((answers.title, label, best.note, best.value, best.value - lowest))
    spread = Column("Best minus worst, points", PERCENT, note="The contrasts between expressions test it.")
    heads = columns("Subject", "Condition", "Best expression", ("Right, %", PERCENT), spread)
    title = "The expression of the relation that works best"
    return results, Table("preferred_expression", "", title, heads, tuple(rows)) if rows else None


def _turned_relation(run: SynonymyData) -> object:
    """Whether a subject decides alike when target and word change places."""
    turned = [(answers, *decisions) for answers in run.of_kind("live") for decisions in turned_round(answers, TURNED)]
    results = [
        run.about(result, subject=answers.subject, condition=cell.name)
        for answers, cell, decisions in turned
        for result in decisions.results()
    ]
    rows = [(answers.title, label_of(cell), decisions) for answers, cell, decisions in turned]
    return results, both_ways_table(rows) if rows else None
