"""Scores by view, biases and gaps of everybody: the numbers of Figures 1 to 3 and of Tables 5 and 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lexiscope.analysis.bias import RANDOM_RETRIEVAL, Biases, context_word_bias
from lexiscope.analysis.people_by_view import people_by_view, people_scores
from lexiscope.analysis.retrieval import random_choice
from lexiscope.analysis.view_answers import scored_views
from lexiscope.analysis.view_gaps import ViewGap, human_model_gaps, seed_spread
from lexiscope.analysis.view_scores import FixedScore, Scores
from lexiscope.core.result import Record, parse_statistic
from lexiscope.items.sense_options import right_ids
from lexiscope.items.truth_choice import DIFFERENT, SAME
from lexiscope.items.views import CONTEXT_SPAN
from lexiscope.report.bias_parts import bias_records, gap_dots, gap_records, plane_points, score_bars
from lexiscope.report.bias_tables import (
    BiasRow,
    GapRow,
    SeedRow,
    biases_table,
    human_gaps_table,
    seeds_table,
    view_scores_table,
)
from lexiscope.report.figure_bias import bias_plane
from lexiscope.report.figure_views import minimum_gaps, view_bars
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Part
from lexiscope.report.people_parts import people_records
from lexiscope.report.tables import Cell as TableCell
from lexiscope.report.tables import Column, Format, Interval, Missing, Table
from lexiscope.studies.context_bias.material import (
    PAIR_TASKS,
    PEOPLE,
    PRINTED,
    RETRIEVAL_TASKS,
    VIEWS,
    Answers,
    AuditSet,
    Material,
)
from lexiscope.studies.context_bias.people import printed_scores
from lexiscope.studies.context_bias.published import AGREEMENT_REMARK, HUMAN
from lexiscope.studies.context_bias.settings import ContextBiasSettings

CAPTION = "Intervals: 95 %, words resampled, the same in all views."
_HUMANS = (PEOPLE, PRINTED)


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What one subject did with one dataset: its scores by view, and the biases that follow from them."""

    dataset: str
    subject: str
    scores: Scores
    biases: Biases
    blind: Mapping[str, str] = field(default_factory=dict)

    @property
    def row(self) -> BiasRow:
        """The same as the report's tables take it."""
        return BiasRow(self.dataset, self.subject, self.biases)

    @property
    def human(self) -> bool:
        """Whether the subject is people."""
        return self.subject in _HUMANS


def measured(material: Material, settings: ContextBiasSettings) -> tuple[Measured, ...]:
    """Return the biases of every model and of people on every dataset, the models first."""
    found = []
    for audit in material.sets:
        scores = {each.subject: _model_scores(audit, each) for each in material.of(audit.name)}
        blind = {each.subject: each.blind for each in material.of(audit.name)}
        if audit.name in material.people:
            scores[PEOPLE] = people_scores(
                material.people[audit.name], audit.labelled, task=audit.task, measure=audit.measure
            )
        # what a paper prints of people is not set beside simulated participants
        if not material.simulated and (printed := printed_scores(audit)):
            scores[PRINTED] = printed
        for subject, own in scores.items():
            # people who were asked parts alone have scores, and no bias
            if "full" in own:
                biases = context_word_bias(own, resamples=settings.n_bootstrap, seed=settings.seed)
                found.append(Measured(audit.name, subject, own, biases, blind.get(subject, {})))
    return tuple(found)


def bias_part(everybody: Sequence[Measured]) -> Part:
    """Return scores and biases with the plane and the bars (Figures 1, 2 and 4, Table 7)."""
    rows = [each.row for each in everybody]
    records = tuple(record for row in rows for record in bias_records(row) if not _of_gap(record))
    tables = (view_scores_table(rows, number="7"), biases_table(rows))
    return Part(records, tables, (*_planes(everybody), *_bars(rows)))


def gap_part(everybody: Sequence[Measured]) -> Part:
    """Return the minimum gaps (Figure 3)."""
    rows = [each.row for each in everybody]
    records = tuple(record for row in rows for record in bias_records(row) if _of_gap(record))
    dots = gap_dots(rows, people=_HUMANS)
    if not any(dot.value == dot.value for dot in dots):
        return Part(records)
    heading = Heading("figure_3_gaps", "3", "What word and context give together, beyond the better of the two",
                      f"{CAPTION} Points: accuracy times 100.")  # fmt: skip
    return Part(records, figures=(minimum_gaps(dots, heading, order=_order(everybody)),))


def seeds_part(material: Material, everybody: Sequence[Measured]) -> Part:
    """Return the spread over seeds on dev, for models that were trained with more than one (Table 7)."""
    rows: list[SeedRow] = []
    records: list[Record] = []
    for answers in material.answers:
        own = next(each for each in everybody if (each.dataset, each.subject) == (answers.dataset, answers.subject))
        for each in answers.trained:
            if not each.dev:
                # a learner that is fitted once has no figure on dev that seeds could differ in
                continue
            tested = own.biases.view(each.view)
            spread = seed_spread(each.dev)
            test = None if tested is None else tested.value
            rows.append(SeedRow(answers.dataset, answers.subject, each.view, spread, test, each.chosen))
            one = Record("dev_mean", spread.mean, answers.subject, answers.dataset, view=each.view, n=spread.n,
                         note=each.chosen)  # fmt: skip
            sd = spread.sd if spread.n > 1 else None
            note = "" if spread.n > 1 else "one seed has no spread"
            records += [one, replace(one, statistic="dev_sd", value=sd, note=note)]
    # of a probe there is one figure, which is no spread
    return Part(tuple(records), (seeds_table(rows),) if any(row.chosen for row in rows) else ())


# -- people ---------------------------------------------------------------------------------------------------


def people_part(material: Material, everybody: Sequence[Measured], settings: ContextBiasSettings) -> Part:
    """Return people beside models view by view (Table 5), what people agree on, and what was printed or assumed."""
    rows = [GapRow(each.dataset, each.subject, found) for each in everybody
            if (found := gaps_of(each, everybody, settings))]  # fmt: skip
    records = [record for row in rows for record in gap_records(row)]
    tables = [human_gaps_table(rows, number="5")] if rows else []
    for audit in material.sets:
        if audit.name in material.people:
            table, own = _agreement(audit, material, settings)
            tables.append(table)
            records += own
    constants = _constants(material)
    paragraphs = [] if rows else [_NOBODY]
    if constants.rows:
        tables.append(constants)
    if constants.rows:
        paragraphs.append(AGREEMENT_REMARK)
    return Part(tuple(records), tuple(tables), paragraphs=tuple(paragraphs))


def gaps_of(model: Measured, everybody: Sequence[Measured], settings: ContextBiasSettings) -> tuple[ViewGap, ...]:
    """Return people minus a model on its dataset; empty for people, and where there are none beside it.

    People whose answers were given count before those of whom a score is printed.
    """
    humans = [each for each in everybody if each.human and each.dataset == model.dataset]
    if model.human or not humans:
        return ()
    views = [view for view in ("context", "word", "full") if view in humans[0].scores]
    human = {view: humans[0].scores[view] for view in views}
    return human_model_gaps(model.scores, human, resamples=settings.n_bootstrap, seed=settings.seed)


_NOBODY = (
    "No answers of people were given and no scores of people are printed of these datasets, so that nobody stands "
    "beside the models: lexiscope choices draw, or a study in the app, asks people the same items in the same views."
)


def _agreement(audit: AuditSet, material: Material, settings: ContextBiasSettings) -> tuple[Table, list[Record]]:
    """What people agree on where two answered the same item in the same view (Table 10)."""
    gold = {item.item_id: str(item.gold) for item in audit.labelled}
    words = {item.item_id: item.word for item in audit.labelled}
    found = people_by_view(
        material.people[audit.name], right=gold, words=words, measure=audit.measure,
        resamples=settings.n_bootstrap, seed=settings.seed,
    )  # fmt: skip
    share = Format("number", 1)
    columns = (Column("View"), Column("People"), Column("Items of both"), Column("Same answer, %", share))
    rows: list[tuple[TableCell, ...]] = []
    for view in found:
        for pair in view.shared:
            same: TableCell = Missing("No item in common.")
            if pair.percent is not None and pair.interval is not None:
                same = Interval(100 * pair.interval.low, 100 * pair.interval.high, 100 * pair.percent)
            rows.append((view.view.upper(), f"{pair.first} and {pair.second}", pair.n, same))
    name = f"agreement_{[each.name for each in material.sets].index(audit.name) + 1}"
    table = Table(name, "10", f"Agreement of people: {audit.name}", columns, tuple(rows))
    # who answered is no more than one of several: scores of people together stand with those of models
    return table, [each for each in people_records(found, dataset=audit.name) if _agrees(each)]


def _agrees(record: Record) -> bool:
    return parse_statistic(record.statistic)[0] == "percent_agreement"


def _constants(material: Material) -> Table:
    columns = (Column("Dataset"), Column("View"), Column("Score", Format("number", 1)), Column("Status"), Column("Of"))
    rows = tuple(
        (audit.name, each.view.upper(), 100 * each.value, each.status, each.place)
        for audit in material.sets
        for each in (() if material.simulated else HUMAN.get(audit.name, ()))
    )
    note = "Printed by the paper, or assumed there and not measured; nothing here was answered in this run."
    return Table("human_constants", "", "Recorded scores of people, in percent", columns, rows, (note,))


# -- figures --------------------------------------------------------------------------------------------------


def _planes(everybody: Sequence[Measured]) -> tuple[Figure, ...]:
    """The plane of the first model and people (Figure 1), and that of further models (Figure 4)."""
    firsts = {each.dataset: each.subject for each in reversed(everybody) if not each.human}
    # of one dataset there are few points: all of them are drawn together
    main = [each for each in everybody if each.human or len(firsts) == 1 or firsts.get(each.dataset) == each.subject]
    others = [each for each in everybody if each not in main]
    figures = []
    for chosen, name, number, title in (
        (main, "figure_1_plane", "1", "Context bias and word bias"),
        (others, "figure_4_plane", "4", "Context bias and word bias of further models"),
    ):
        points = plane_points([each.row for each in chosen], people=_HUMANS)
        if any(point.is_defined for point in points):
            figures.append(bias_plane(points, Heading(name, number, title, CAPTION), order=_order(everybody)))
    return tuple(figures)


def _bars(rows: Sequence[BiasRow]) -> tuple[Figure, ...]:
    bars = [bar for bar in score_bars(rows) if bar.view in VIEWS]
    random = {row.dataset: 100 * found.value for row in rows if (found := row.biases.view("random")) is not None}
    heading = Heading("figure_2_views", "2", "Right answers by what is shown", CAPTION)
    order = tuple(dict.fromkeys(row.subject for row in rows))
    return (view_bars(bars, heading, random=tuple(random.items()), order=order),) if bars else ()


def _order(everybody: Sequence[Measured]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.subject for each in everybody))


# -- scores ---------------------------------------------------------------------------------------------------


def _model_scores(audit: AuditSet, answers: Answers) -> Scores:
    gold = audit.gold_of(answers.asked)
    asked = (*VIEWS, CONTEXT_SPAN)
    own = answers.responses.where(view=asked)
    found = scored_views(own, gold, audit.words, subjects=(answers.subject,), measure=audit.measure)
    random = FixedScore(chance(audit), "the closed form of a random answer")
    return {**{view: found[view] for view in asked if view in found}, "random": random}


def chance(audit: AuditSet) -> float:
    """Return what a random answer gets right of the tested items; 0 where a whole inventory is searched."""
    if audit.task in RETRIEVAL_TASKS:
        return RANDOM_RETRIEVAL
    two = audit.task in PAIR_TASKS
    answers = {item.item_id: (SAME, DIFFERENT) if two else item.options for item in audit.test}
    return random_choice(answers, {item.item_id: right_ids(item) for item in audit.test})


def _of_gap(record: Record) -> bool:
    return parse_statistic(record.statistic)[0] == "minimum_gap"
