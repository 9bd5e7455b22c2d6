"""Tokens (§4.3, Table 1), consistency (§4.4, Tables 14 to 17), and what the paper recommends or leaves open.

These are the margins of decisions, expressions of the relation, and the relation turned round (§6, App. G).
"""

from __future__ import annotations

from collections.abc import Iterator

from lexiscope.analysis.choices.choice_sets import one_by_one
from lexiscope.analysis.choices.design_answers import (
    best_expressions,
    consistency_results,
    delta_results,
    group_answers,
    group_results,
    margins,
    token_delta_results,
    token_effects,
    turned_round,
)
from lexiscope.core.showing import enumerated
from lexiscope.items.choice_sets.templates import TURNED
from lexiscope.report.part import Remark
from lexiscope.report.parts import accuracy_tables as parts
from lexiscope.studies.synonymy.accuracy import dots
from lexiscope.studies.synonymy.data import PART, SENSES, TEXTS, SynonymyData
from lexiscope.studies.synonymy.design import label_of

# -- tokens -----------------------------------------------------------------------------------------------------------


def tokens(run: SynonymyData) -> object:
    """Answer whether decisions depend on the number of tokens: accuracy by token delta, its t-tests, margins.

    Recorded subjects have the token deltas that were released (of OLMo-1B's tokenizer, each word alone), live ones
    those of their tokenizer in the texts themselves.
    """
    live, main, papers, cells = run.of_kind("live"), run.main, run.design.is_papers, run.design.controlled
    levels = [(answers, *delta_results(run.sets, answers, cells, run.asked.token_deltas)) for answers in run.models]
    results = [run.about(result) for _, own, _ in levels for result in own]
    rows = [(answers.title, *level) for answers, _, own in levels for level in own]
    effects_by_cell = token_effects(live, main)
    follows = [run.about(e.result(), subject=a.subject, condition=cell.name) for a, cell, e in effects_by_cell]
    effects = [(answers.title, label_of(cell), effect) for answers, cell, effect in effects_by_cell]
    suites = [label_of(cell).rpartition(":")[0] for cell in cells]
    (note,) = TEXTS["note of token deltas"]
    note = note.format(suites=enumerated(suites), source=", as in Ivan et al. (2025)" if papers else "")
    number = "1" if papers else ""
    tables = [parts.deltas_table(rows, name="table_1_tokens", number=number, notes=(note,))]
    tables += [parts.delta_effects_table(effects)]
    warnings = map(Remark, parts.token_warnings(effects, {answers.title: answers.measure for answers in live}))
    # recorded outcomes have no margins: their scores were not released
    by_how_much = [run.about(result) for answers in live for result in margins(answers, main)]
    tables += [parts.margins_table(by_how_much, names=run.result_labels(by_how_much))]
    compared = {a: one_by_one(run.choices, subject=a.subject, measure=a.measure) for a in live if a.deltas}
    random = [run.about(r) for a, options in compared.items() for r in token_delta_results(run.sets, a, options, main)]
    tables += [parts.random_deltas_table(random, names=run.result_labels(random))]
    return results, follows, by_how_much, random, tables, warnings


# -- groups of items -------------------------------------------------------------------------------------------------


def groups(run: SynonymyData) -> Iterator[object]:
    """Answer whether accuracies hold for other parts of speech, and for targets with one sense (§3.3, §6)."""
    titles = {PART: "Accuracy by part of speech", SENSES: "Accuracy for targets with several senses and with one"}
    for condition, designs in run.groups.items():
        results = []
        for answers in run.answers:
            asked = run.choices, answers
            own = [group_answers(design, name, *asked, per=run.settings.per) for name, design in designs.items()]
            results += run.about_all(group_results(own, run.main))
        names, name = run.result_labels(results), f"accuracy_by_{condition}"
        yield results, parts.group_tables(results, names=names, name=name, title=titles[condition])


# -- consistency ------------------------------------------------------------------------------------------------------


def consistency(run: SynonymyData) -> Iterator[object]:
    """Answer whether the same items are right in two tests: counts, and P(second = b | first = a)."""
    for place, (number, first, second) in enumerate(run.design.consistency, start=1):
        by_subject = (consistency_results(run.sets, answers, first, second) for answers in run.models)
        results = [result for own in by_subject for result in run.about_all(own)]
        title = f"Second test, {label_of(second)}, given the first, {label_of(first)}"
        shown_number = number if run.design.is_papers else ""
        name = f"table_{number}_consistency" if number else f"consistency_{place}"
        names = run.result_labels(results)
        yield results, parts.consistency_of_tests(results, names=names, name=name, title=title, number=shown_number)
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
        by_cell = run.scores[answers.subject][answers.measure]
        for cells, best in best_expressions(answers, by_cell, run.design.related):
            results.append(run.about(best))
            label = label_of(cells[0]).replace(f" (“{cells[0].expression}”)", "")
            lowest = min(100 * by_cell[cell].value for cell in cells)
            rows.append((answers.title, label, best, lowest))
    return results, parts.expressions_table(rows)


def _turned_relation(run: SynonymyData) -> object:
    """Whether a subject decides alike when target and word change places."""
    turned = [(answers, *decisions) for answers in run.of_kind("live") for decisions in turned_round(answers, TURNED)]
    results = [
        run.about(result, subject=answers.subject, condition=cell.name)
        for answers, cell, decisions in turned
        for result in decisions.results()
    ]
    rows = [(answers.title, label_of(cell), decisions) for answers, cell, decisions in turned]
    return results, parts.both_ways_table(rows)
