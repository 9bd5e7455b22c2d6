"""The Results page of several runs: subjects and people on one axis, sets of ranks, and who differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.analysis.attainable.model_pairs import ModelPairs
from lexiscope.analysis.families import holm
from lexiscope.analysis.ranks import RankSet
from lexiscope.core.result import Contrast, Estimate, Record
from lexiscope.core.showing import counted, enumerated
from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.results_page import AnsweredQuestion, ResultsPage, with_own_names
from lexiscope.report.document import Report
from lexiscope.report.marks.drawing import Axis
from lexiscope.report.marks.forest import Forest, ForestRow
from lexiscope.report.tables import BOUNDED, DASH, Cell, Column, IntervalCell, Missing, Table, format_number, p_equation

PEOPLE = "Average person"
COMPARISON = "comparison"
"""The name of the table of subjects by dataset, whose columns can be sorted."""
PAIRS = "pairs"
"""The name of the table of differences, of which the page shows those from one reference, in its third column."""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run on the page: its number, the name of its dataset, its forest, its records, its subjects' ids by title.

    ``differences`` are those of other subjects from the highest one, on the same draws; ``no_differences`` why there
    are none. ``pairs`` are those of all subjects by their titles, all intervals together, if all answered some items.
    """

    number: int
    dataset: str
    forest: Forest
    records: tuple[Record, ...]
    subjects: Mapping[str, str]
    differences: tuple[Contrast, ...] = ()
    no_differences: str = ""
    pairs: ModelPairs | None = None

    @property
    def rows(self) -> Mapping[str, ForestRow]:
        """The rows with a value, by their labels."""
        return {row.label: row for row in self.forest.rows if row.value is not None}

    @property
    def person(self) -> ForestRow | None:
        """People's row: the first reference that is people's."""
        for reference in self.forest.references:
            if reference.kind == "people":
                shown = format_number(reference.value, BOUNDED)
                if reference.low is not None and reference.high is not None:
                    shown += f" [{format_number(reference.low, BOUNDED)}, {format_number(reference.high, BOUNDED)}]"
                tip = reference.tip or reference.label
                return ForestRow(PEOPLE, reference.value, reference.low, reference.high, shown, tip, people=True)
        return None


def compared_runs(reports: Sequence[Report], names: Sequence[str]) -> tuple[list[ComparedRun], list[str]]:
    """Return the runs that are on one axis, and for each other run what differs.

    On one axis are runs whose main figure shows the same statistic of subjects; of several statistics, that of the
    most runs. *names* are the names of the folders: runs of one dataset are told by them.
    """
    forests = {
        n: report.results.top.drawing
        for n, report in enumerate(reports)
        if report.results is not None and isinstance(report.results.top.drawing, Forest)
    }
    axes = Counter((forest.name, forest.axis.label) for forest in forests.values())
    if not axes:
        return [], []
    main = max(axes, key=lambda axis: axes[axis])
    brands = Counter(r.results.brand for r in reports if r.results is not None)
    chosen, others = [], []
    for n, (report, name) in enumerate(zip(reports, names, strict=True)):
        if report.results is None or n not in forests:
            others.append(f"{name} is not on this axis: it has no estimates of subjects.")
            continue
        forest = forests[n]
        brand = report.results.brand
        label = brand if brands[brand] == 1 else f"{brand}, {name}"
        if (forest.name, forest.axis.label) != main:
            others.append(f"{label} is not on this axis: it shows {forest.axis.label}.")
            continue
        subjects = {title: subject for subject, title in report.results.names}
        chosen.append(ComparedRun(n + 1, label, forest, report.records, subjects))
    return chosen, others


def comparison_page(runs: Sequence[ComparedRun], others: Sequence[str]) -> ResultsPage | None:
    """Return the page of several runs; ``None`` with fewer than two on one axis."""
    if len(runs) < 2:
        return None
    order = _order(runs)
    answered = Counter(label for run in runs for label in run.rows)
    top = Answer(
        "",
        (_highest(runs), _stable(runs, order), _people(runs)),
        caution=" ".join(others),
        apa=f"{_highest(runs)} {_people(runs)}",
        drawing=_forest(runs, order),
        table=_table(runs, order),
    )
    shared = sum(n > 1 for n in answered.values())
    kicker = f"{counted(len(runs), 'run')}, {counted(len(answered), 'model')}, {shared} of them in several runs"
    title = f"What models share with people, {counted(len(runs), 'dataset')}"
    differing = _differences(runs)
    questions = (AnsweredQuestion("Q1", "Which models differ?", "Differences", differing),) if differing else ()
    return with_own_names(ResultsPage(title, kicker, "Comparison", top, questions))


def _order(runs: Sequence[ComparedRun]) -> list[str]:
    """Subjects by their mean rank over the runs, among those that answered."""
    places: dict[str, list[float]] = {}
    for run in runs:
        ranked = sorted(run.rows.values(), key=lambda row: -(row.value or 0.0))
        for place, row in enumerate(ranked):
            places.setdefault(row.label, []).append(place / max(len(ranked) - 1, 1))
    return sorted(places, key=lambda label: (sum(places[label]) / len(places[label]), label))


def _highest(runs: Sequence[ComparedRun]) -> str:
    parts = []
    for run in runs:
        best = max(run.rows.values(), key=lambda row: row.value or 0.0)
        parts.append(f"{best.label} on {run.dataset} ({best.shown})")
    return f"The highest values are those of {enumerated(parts)}."


def _stable(runs: Sequence[ComparedRun], order: Sequence[str]) -> str:
    several = [label for label in order if sum(label in run.rows for run in runs) > 1]
    if not several:
        return "No model answered more than one of these datasets."
    spread = {}
    for label in several:
        values = [run.rows[label].value or 0.0 for run in runs if label in run.rows]
        spread[label] = max(values) - min(values)
    steady, varying = min(spread, key=spread.__getitem__), max(spread, key=spread.__getitem__)
    text = f"{counted(len(several), 'model')} answered several datasets; the values of {steady} differ least"
    text += f" (by {format_number(spread[steady], BOUNDED)})"
    most = f", those of {varying} most ({format_number(spread[varying], BOUNDED)})" if varying != steady else ""
    return f"{text}{most}."


def _people(runs: Sequence[ComparedRun]) -> str:
    below, reached, without = [], [], []
    for run in runs:
        person = run.person
        if person is None or person.value is None:
            without.append(run.dataset)
        elif all((row.high if row.high is not None else row.value or 0.0) < person.value for row in run.rows.values()):
            below.append(run.dataset)
        else:
            reached.append(run.dataset)
    parts = [f"no model's interval reaches the average person on {enumerated(below)}"] if below else []
    parts += [f"at least one does on {enumerated(reached)}"] if reached else []
    parts += [f"there are no people on {enumerated(without)}"] if without else []
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _forest(runs: Sequence[ComparedRun], order: Sequence[str]) -> Forest:
    rows = []
    for run in runs:
        own = [run.rows[label] for label in order if label in run.rows]
        person = run.person
        for row in (*own, *((person,) if person else ())):
            rows.append(
                ForestRow(
                    row.label, row.value, row.low, row.high, row.shown, f"{run.dataset}: {row.tip or row.shown}",
                    hollow=row.hollow, strong=row.people, people=row.people, group=run.dataset,
                )
            )  # fmt: skip
    first = runs[0].forest
    values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
    bounds = (min(run.forest.axis.low for run in runs), max(run.forest.axis.high for run in runs))
    axis = Axis(first.axis.label, bounds[0], bounds[1], first.axis.leading_zero)
    n = sum(row.people for row in rows)
    ends = (format_number(end, BOUNDED) for end in (min(values), max(values)))
    see = f"The intervals range from {' to '.join(ends)}."
    note = (
        f"Orange: {PEOPLE.lower()}; subjects in the order of their mean rank" if n else "In the order of the mean rank"
    )
    return Forest(
        name="runs", title="Models and people by dataset", see=see, note=note, rows=tuple(rows), axis=axis,
        value_head=first.value_head,
    )  # fmt: skip


def _table(runs: Sequence[ComparedRun], order: Sequence[str]) -> Table:
    def cell(row: ForestRow | None) -> Cell:
        if row is None or row.value is None:
            return Missing("not asked in this run")
        if row.low is None or row.high is None:
            return row.value
        return IntervalCell(row.low, row.high, row.value)

    body = [(label, *(cell(run.rows.get(label)) for run in runs)) for label in order]
    body.append((PEOPLE, *(cell(run.person) for run in runs)))
    columns = (Column(""), *(Column(run.dataset, BOUNDED, align="right") for run in runs))
    return Table(COMPARISON, "", f"{runs[0].forest.axis.label}, by dataset", columns, tuple(body))


def _differences(runs: Sequence[ComparedRun]) -> Answer | None:
    rows, texts, why = [], [], []
    for run in runs:
        if run.no_differences:
            why.append(f"{run.dataset}: {run.no_differences}")
        if not run.differences:
            continue
        adjusted = holm([contrast.p if contrast.p is not None else 1.0 for contrast in run.differences]).tolist()
        titles = {subject: title for title, subject in run.subjects.items()}
        best = titles.get(run.differences[0].first.subject, run.differences[0].first.subject)
        apart = 0
        for contrast, p in zip(run.differences, adjusted, strict=True):
            name = titles.get(contrast.second.subject, contrast.second.subject)
            low, high = contrast.interval.low, contrast.interval.high
            apart += p < 0.05
            number = format_number(contrast.value, BOUNDED)
            shown = f"{number} [{format_number(low, BOUNDED)}, {format_number(high, BOUNDED)}]"
            tip = f"{run.dataset}: {best} − {name}: {shown}, {p_equation(p)} adjusted for {len(adjusted)} comparisons"
            if isinstance(contrast.chosen, Estimate) and contrast.chosen.interval.is_defined:
                own = contrast.chosen
                ends = ", ".join(format_number(end, BOUNDED) for end in (own.interval.low, own.interval.high))
                tip += f"; allowing for the choice of layers: {format_number(own.value, BOUNDED)} [{ends}]"
            group = f"{run.dataset}: {best} minus …"
            rows.append(ForestRow(name, contrast.value, low, high, shown, tip, hollow=p >= 0.05, group=group))
        if any(side.layer is not None for contrast in run.differences for side in contrast.pair):
            why.append(f"{run.dataset}: each model with layers is at its best layer, chosen on the same items.")
            why += _allowing_for_choice(run, best)
        texts.append(
            f"On {run.dataset}, {best} differs from {apart} of {len(adjusted)} models after Holm's adjustment over "
            f"{len(adjusted)} comparisons."
        )
    table = _pair_table(runs) or _rank_table(runs)
    if not rows and table is None:
        return None
    drawing = None
    if rows:
        values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
        drawing = Forest(
            name="differences", title="Differences from the highest model, on the same resampled words",
            see=f"{sum(row.hollow for row in rows)} of {len(rows)} differences are not decided (hollow).",
            note="Hollow: p ≥ .05 after Holm's adjustment per dataset", rows=tuple(rows),
            axis=Axis.around(values, "Difference"), value_head="difference [95% CI]",
        )  # fmt: skip
    if not texts:
        texts = ["Sets of ranks that the paired differences leave open are in the table."]
    elif table is not None and table.name == PAIRS:
        texts.append(
            "The table has the differences from any other reference, and the ranks of each model that they leave open."
        )
    return Answer("", tuple(texts), caution=" ".join(why), apa=" ".join(texts), drawing=drawing, table=table)


def _allowing_for_choice(run: ComparedRun, best: str) -> list[str]:
    """From how many models the highest still differs with layers chosen on other words; one family, as the others."""
    chosen = [contrast.chosen for contrast in run.differences if isinstance(contrast.chosen, Estimate)]
    tests = [result.p for result in chosen if result.p is not None]
    if not tests:
        return []
    apart = sum(p < 0.05 for p in holm(tests).tolist())
    return [
        f"With layers chosen on other words than they are scored on, {best} differs from {apart} of {len(tests)} "
        "models (Holm)."
    ]


def _pair_table(runs: Sequence[ComparedRun]) -> Table | None:
    """Each subject with its difference from each reference: the one that most runs have comes first."""
    paired = [(run.dataset, run.pairs) for run in runs if run.pairs is not None]
    counts = Counter(name for _, pairs in paired for name in pairs.models)
    if not counts:
        return None
    rows = []
    for reference, _ in counts.most_common():
        for dataset, pairs in paired:
            if reference not in pairs.models:
                continue
            for name, ranks in zip(pairs.models, pairs.ranks, strict=True):
                difference: Cell = DASH
                if name != reference:
                    pair = pairs.between(name, reference)
                    difference = IntervalCell(pair.low, pair.high, pair.difference)
                rows.append((name, dataset, reference, difference, str(ranks)))
    heads = (Column("Model"), Column("Dataset"), Column("Reference"), Column("Difference", BOUNDED, align="right"))
    widths = " and ".join(f"{pairs.critical:.2f} ({dataset})" for dataset, pairs in paired)
    notes = (
        "Model minus reference on the same resampled words, on the items that all models answered. The 95 % intervals "
        f"hold for all pairs of a dataset together: they reach {widths} standard errors to each side.",
        "Ranks left open: those that the differences do not exclude; 1 is the highest.",
    )
    title = "Differences from a reference, with sets of ranks."
    return Table(PAIRS, "", title, (*heads, Column("Ranks left open", align="right")), tuple(rows), notes)


def _rank_table(runs: Sequence[ComparedRun]) -> Table | None:
    """The sets of ranks of each subject, where runs have them."""
    sets: dict[str, dict[str, str]] = {}
    for run in runs:
        titles = {subject: title for title, subject in run.subjects.items()}
        for record in run.records:
            # ranks by a similarity are of one of the sets of a run, not of the run
            named = record.statistic.startswith("rank(") and "similarity=" not in record.statistic
            if named and record.low is not None and record.high is not None:
                own = sets.setdefault(titles.get(record.subject, record.subject), {})
                own.setdefault(run.dataset, str(RankSet(int(record.low), int(record.high))))
    if not sets:
        return None
    columns = (Column(""), *(Column(run.dataset, align="right") for run in runs))
    rows = tuple((label, *(own.get(run.dataset, Missing("not ranked")) for run in runs)) for label, own in sets.items())
    notes = ("Ranks that the paired differences leave open, all intervals together; 1 is the first.",)
    return Table("ranks", "", "Sets of ranks by dataset", columns, rows, notes)
