"""Do decisions go with the number of tokens? Accuracy by token delta, its t-tests, and a warning (Table 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lexiscope.analysis.token_effect import DeltaEffect, DeltaLevel, accuracy_by_delta, delta_effect
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import Part
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Missing, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.synonymy.cells import Cell
from lexiscope.studies.synonymy.material import Answers, Floats, Material
from lexiscope.studies.synonymy.numbers import PERCENT, TWO

RELEASED, OWN = "released token deltas", "own token deltas"


def tokens(material: Material) -> Part:
    """Return accuracy by token delta of every subject, and where decisions follow the delta.

    Recorded subjects have the token deltas that were released (of OLMo-1B's tokenizer, each word alone), live ones
    those of their own tokenizer in the texts themselves.
    """
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    for answers in material.of_kind("recorded", "live"):
        for condition, right, deltas in _decisions(material, answers):
            levels = accuracy_by_delta(right, deltas)
            records += [record for level in levels for record in _level(material, answers, condition, level)]
            rows += [(answers.title, condition, *_cells(level)) for level in levels]
    live, cells = material.of_kind("live"), [cell for cell in material.main if not cell.is_joint]
    effects = [_effect(material, answers, cell) for answers in live for cell in cells if cell in answers.outcomes]
    found = [each for each in effects if each is not None]
    records += [record for record, _ in found]
    warnings, papers = _warnings(material, found), material.design.is_papers
    note = (
        f"The controlled decisions of {_in_words(material)} together{', as in Ivan et al. (2025)' if papers else ''}. "
        "Decisions of one item are not independent; the tests take them as if they were."
    )
    columns = (
        Column("Subject"),
        Column("Tokens counted"),
        Column("Delta", INTEGER, note="Tokens of the synonym minus tokens of the distractor."),
        Column("n", INTEGER),
        Column("Right, %", PERCENT),
        Column("t", TWO, note="Independent samples against delta 0, pooled variances."),
        Column("p", P_VALUE),
        Column("t, Welch", TWO),
        Column("p, Welch", P_VALUE),
    )
    title = "Accuracy by the difference of tokens"
    table = Table("table_1_tokens", "1" if papers else "", title, columns, tuple(rows), (note,))
    tables = (table, *_effects_table(material, found)) if rows else ()
    return Part(tuple(records), tables, remarks=warnings)


def _in_words(material: Material) -> str:
    suites = [cell.label.rpartition(":")[0] for cell in material.design.controlled]
    return " and ".join(filter(None, (", ".join(suites[:-1]), *suites[-1:])))


def _decisions(material: Material, answers: Answers) -> Iterator[tuple[str, Floats, Floats]]:
    """The controlled decisions of the suites (in the paper those with context), one behind the other, with deltas."""
    cells = [cell for cell in material.design.controlled if cell in answers.outcomes]
    if not cells:
        return
    right = np.concatenate([answers.outcomes[cell].correct for cell in cells]).astype(np.float64)
    if answers.kind == "recorded" and material.deltas is not None:
        yield RELEASED, right, np.tile(material.deltas, len(cells))
    own = np.concatenate([answers.outcomes[cell].delta for cell in cells])
    if not np.isnan(own).any():
        yield OWN, right, own


def _level(material: Material, answers: Answers, condition: str, level: DeltaLevel) -> Iterator[Record]:
    about = {"subject": answers.subject, "dataset": material.name, "condition": condition, "n": level.n}
    delta = f"{level.delta:g}"
    yield Record(
        statistic_name("accuracy_by_delta", delta=delta),
        100 * level.accuracy,
        unit="percent",
        **about,  # type: ignore[arg-type]
    )
    yield Record(statistic_name("n_by_delta", delta=delta), float(level.n), **about)  # type: ignore[arg-type]
    for variances, test in (("pooled", level.pooled), ("welch", level.welch)):
        if test is not None:
            for name, value in (("independent_t", test.statistic), ("independent_t_p", test.p)):
                yield Record(statistic_name(name, delta=delta, variances=variances), value, **about)  # type: ignore[arg-type]


def _cells(level: DeltaLevel) -> tuple[TableCell, ...]:
    reason = Missing("The reference." if level.delta == 0 else "Too few decisions, or none differs.")
    tests: list[TableCell] = []
    for test in (level.pooled, level.welch):
        tests += [reason, reason] if test is None else [test.statistic, test.p]
    return (f"{level.delta:+g}".replace("-", "−") if level.delta else "0", level.n, 100 * level.accuracy, *tests)


def _effect(material: Material, answers: Answers, cell: Cell) -> tuple[Record, DeltaEffect] | None:
    outcome = answers.outcomes[cell]
    if np.isnan(outcome.delta).any():
        return None
    effect = delta_effect(outcome.correct, outcome.delta)
    gap = effect.accuracy_more - effect.accuracy_fewer
    known = not np.isnan(gap)
    record = Record(
        "follows_delta",
        100 * gap if known else None,
        subject=answers.subject,
        dataset=material.name,
        condition=cell.name,
        unit="points",
        n=effect.n_fewer + effect.n_more,
        p=effect.test.p if effect.test else None,
        note=effect.note if known else "the right word never has more, or never fewer, tokens",
    )
    return record, effect


def _effects_table(material: Material, found: Sequence[tuple[Record, DeltaEffect]]) -> tuple[Table, ...]:
    if not found:
        return ()
    columns = (
        Column("Subject"),
        Column("Cell"),
        Column("Right with fewer tokens, %", PERCENT),
        Column("n", INTEGER),
        Column("Right with more tokens, %", PERCENT),
        Column("n", INTEGER),
        Column("p, Welch", P_VALUE),
        Column("Follows the delta"),
    )
    titles = {answers.subject: answers.title for answers in material.answers}
    labels = {cell.name: cell.label for cell in material.main}
    rows = [
        (
            titles[record.subject],
            labels[record.condition],
            _percent(effect.accuracy_fewer),
            effect.n_fewer,
            _percent(effect.accuracy_more),
            effect.n_more,
            effect.test.p if effect.test else Missing("Too few decisions, or none differs."),
            "yes" if effect.follows else "no",
        )
        for record, effect in found
    ]
    note = "It follows where the accuracies differ by 10 points or more with p < .05. Several others: their mean count."
    return (Table("token_delta_effect", "", "Do decisions follow the token delta?", columns, tuple(rows), (note,)),)


def _percent(share: float) -> TableCell:
    return Missing("No such item.") if np.isnan(share) else 100 * share


def _warnings(material: Material, found: Sequence[tuple[Record, DeltaEffect]]) -> tuple[str, ...]:
    """One sentence for each subject whose decisions follow the token delta, with the cells in which they do."""
    labels = {cell.name: cell.label for cell in material.main}
    texts = []
    for answers in material.of_kind("live"):
        following = [
            f"{labels[record.condition]} ({100 * effect.accuracy_more:.0f} % right with more tokens, "
            f"{100 * effect.accuracy_fewer:.0f} % with fewer)"
            for record, effect in found
            if record.subject == answers.subject and effect.follows
        ]
        if following:
            texts.append(
                f"Warning: decisions of {answers.title} under {answers.measure} follow the token delta in "
                f"{len(following)} cells: {'; '.join(following)}."
            )
    return tuple(texts)
