"""Scores by view, biases and gaps of models and people, and the verdict on each dataset (§2.3, §3, appendix F)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.analysis.bias.bias import RANDOM_RETRIEVAL, context_word_bias, effects_of_items
from lexiscope.analysis.bias.people_by_view import people_by_view, people_scores
from lexiscope.analysis.bias.verdict import verdict
from lexiscope.analysis.bias.view_scores import FixedScore, Scores, ViewGap, human_model_gaps, scored_views, view_ranks
from lexiscope.analysis.choices.retrieval import random_choice
from lexiscope.core import catalog
from lexiscope.core.result import Record, parse_statistic
from lexiscope.items.answers.sense_options import DIFFERENT, SAME, correct_ids
from lexiscope.items.arrange.views import CONTEXT_SPAN
from lexiscope.items.tables.tabular import write_items
from lexiscope.report.document import Section
from lexiscope.report.parts import bias_parts, bias_tables
from lexiscope.report.parts.bias_tables import BiasRow, GapRow
from lexiscope.report.parts.people_tables import agreement_of_people
from lexiscope.studies.context_bias.data import PEOPLE, PRINTED, STATUS, TEXTS, BiasData, people_recorded
from lexiscope.studies.context_bias.sets import PAIR_TASKS, RETRIEVAL_TASKS, VIEWS, AuditSet
from lexiscope.studies.kit.answers import rule_scores
from lexiscope.training.cues.rebalance import KEPT
from lexiscope.training.view_models import WORDS_SUBJECT, ViewAnswers

_HUMANS = (PEOPLE, PRINTED)
REBALANCED = "rebalanced.csv"
"""The items that are left, in the folder of a run."""


@dataclass(frozen=True, slots=True, eq=False)
class DatasetBiases(BiasRow):
    """The biases of one subject on one dataset, with its scores by view and the views that it cannot see.

    ``blind`` are views that a model cannot see, each with the reason.
    """

    scores: Scores
    blind: Mapping[str, str]

    @property
    def human(self) -> bool:
        """Whether the subject is people."""
        return self.subject in _HUMANS


def dataset_biases(run: BiasData) -> tuple[DatasetBiases, ...]:
    """Return the biases of every model and of people on every dataset, the models first."""
    rows: list[DatasetBiases] = []
    for audit in run.sets:
        models = [answers for own, answers in run.answers_by_set() if own is audit]
        scores = {answers.subject: _model_scores(audit, answers) for answers in models}
        blind = {answers.subject: answers.blind for answers in models}
        for subject, own in (scores | run.once(_people_of_sets)[audit.name]).items():
            # people who were asked parts alone, or of whom parts are recorded, have scores and no bias
            if "full" in own:
                biases = context_word_bias(own, **run.resampling)
                rows.append(DatasetBiases(audit.name, subject, biases, own, blind.get(subject, {})))
    return tuple(rows)


def _people_of_sets(run: BiasData) -> dict[str, dict[str, Scores]]:
    return {audit.name: _scores_of_people(run, audit) for audit in run.sets}


def _scores_of_people(run: BiasData, audit: AuditSet) -> dict[str, Scores]:
    """The scores of people whose answers were given, and those that the paper prints or assumes, by view."""
    scores: dict[str, Scores] = {}
    if audit.name in run.people:
        answers, task = run.people[audit.name], catalog.task(audit.task)
        scores[PEOPLE] = people_scores(answers, audit.parts.all_items, task=task, measure=audit.measure)
    scores[PRINTED] = {
        value.view: FixedScore(float(value.printed), f"{STATUS[value.subject]} ({value.place})")
        for value in people_recorded(run, audit)
    }
    return scores


def chance(audit: AuditSet) -> float:
    """Return the accuracy of a random answer to the tested items; 0 if a whole inventory is searched."""
    if audit.task in RETRIEVAL_TASKS:
        return RANDOM_RETRIEVAL
    two = audit.task in PAIR_TASKS
    answers = {item.item_id: (SAME, DIFFERENT) if two else item.options for item in audit.test}
    return random_choice(answers, {item.item_id: correct_ids(item) for item in audit.test})


# -- the verdict ----------------------------------------------------------------------------------------------


def verdicts(run: BiasData) -> tuple[Section, ...]:
    """Return the verdict on every dataset by every model, compared with people if there are any."""
    sections: list[Section] = []
    for model in run.once(dataset_biases):
        if not model.human:
            human = next((row.biases for row in _biases_of_people(run, model)), None)
            # a verdict compares with people who were shown the whole input
            gaps = gaps_of(run, model) if human is not None else ()
            sentences = verdict(model.biases, human=human, gaps=gaps, blind=model.blind, name=model.subject)
            title = f"{model.dataset}, {model.subject}"
            sections.append(bias_parts.verdict_section(title, sentences, section_id=f"verdict_{len(sections) + 1}"))
    return tuple(sections)


# -- scores, biases, gaps -------------------------------------------------------------------------------------


def scores_and_biases(run: BiasData) -> object:
    """Return scores and biases with the plane and the bars (Figures 1, 2 and 4, Table 7), and the spread over seeds."""
    rows = run.once(dataset_biases)
    records = [record for row in rows for record in bias_parts.bias_records(row) if not _is_gap_record(record)]
    tables = bias_tables.view_scores_table(rows, number="7"), bias_tables.biases_table(rows)
    figures = bias_parts.plane_figures(rows, people=_HUMANS), bias_parts.bar_figures(rows)
    models = {audit.name: {row.subject: row.scores for row in rows if row.dataset == audit.name and not row.human}
              for audit in run.sets}  # fmt: skip
    ranks = [r.about(dataset=name) for name, own in models.items() for r in view_ranks(own, **run.resampling)]
    ranked = ranks, bias_tables.view_ranks_table(ranks)
    return records, tables, ranked, figures, _seed_spread(run, records), list(rule_baselines(run))


def rule_baselines(run: BiasData) -> Iterator[object]:
    """Yield the accuracy of rules that read no context: first sense, most frequent sense, most linked page."""
    rows: list[Record] = []
    for audit in run.sets:
        records, reasons = rule_scores(audit.test, audit.task, audit.words, measure=audit.measure, **run.resampling)
        rows += [replace(record, dataset=audit.name) for record in records]
        yield [f"{audit.name}: {reason}" for reason in reasons]
    if rows:
        yield rows, bias_tables.rules_table(rows)


def minimum_gap(run: BiasData) -> object:
    """Return the minimum gaps (Figure 3)."""
    rows = run.once(dataset_biases)
    records = [record for row in rows for record in bias_parts.bias_records(row) if _is_gap_record(record)]
    return records, bias_parts.gap_figures(rows, people=_HUMANS)


def _seed_spread(run: BiasData, scores: Sequence[Record]) -> Iterator[object]:
    """The spread over seeds on dev, of models that were trained with more than one (Table 7)."""
    records = [r for audit, answers in run.answers_by_set() for r in answers.seed_records(audit.name)]
    yield records
    # of a probe there is one figure, which is no spread
    if any(record.note for record in records if record.statistic == "dev_mean"):
        yield bias_tables.seeds_table([*records, *scores])


# -- people ---------------------------------------------------------------------------------------------------


def people(run: BiasData) -> Iterator[object]:
    """Yield people minus model, view by view (Table 5), the agreement of people, and recorded scores of people."""
    every = run.once(dataset_biases)
    rows = [GapRow(row.dataset, row.subject, gaps) for row in every if (gaps := gaps_of(run, row))]
    yield [record for row in rows for record in bias_parts.gap_records(row)]
    yield bias_tables.human_gaps_table(rows, number="5") if rows else None
    for number, audit in enumerate(run.sets, start=1):
        if audit.name in run.people:
            every_item = audit.parts.all_items
            right = {item.item_id: str(item.gold) for item in every_item}
            words = {item.item_id: item.word for item in every_item}
            answers = run.people[audit.name]
            agreement = people_by_view(answers, right=right, words=words, measure=audit.measure, **run.resampling)
            # a single participant is one of several: scores of people together are among those of models
            yield agreement_of_people(agreement, audit.name, name=f"agreement_{number}", number="10")
    recorded = [value for audit in run.sets for value in people_recorded(run, audit)]
    if recorded:
        yield bias_tables.recorded_scores_table(recorded, STATUS), TEXTS["agreement of the paper"]


# -- without the items that a part solves ---------------------------------------------------------------------


def rebalancing(run: BiasData) -> object:
    """Return what is left of the biases without the items that a part solves, and what that costs in items (§4, §5)."""
    judged = run.rebalanced
    if judged is None:
        return None
    effects = {
        learner: run.about_all(effects_of_items(scores, changed=KEPT, **run.resampling), subject=learner)
        for learner, scores in judged.scores.items()
    }
    whole = judged.filtered
    sizes = [(len(own.kept), len(own.kept) + len(own.removed)) for own in (whole, *judged.halves)]
    part = bias_parts.rebalancing_part(run.name, effects, judged.ranges, sizes=sizes, n_rounds=len(whole.above) - 1,
                            reached=whole.reached, chooser=WORDS_SUBJECT)  # fmt: skip
    return part, TEXTS["rebalancing"]


def write_rebalanced(run: BiasData, folder: Path, _records: tuple[Record, ...]) -> tuple[str, ...]:
    """Write the items that are left to the file of the settings, and next to the results; return the name of that."""
    if run.rebalanced is None:
        return ()
    for path in (Path(run.settings.rebalance), folder / REBALANCED):
        write_items(run.rebalanced.filtered.kept, path)
    return (REBALANCED,)


def gaps_of(run: BiasData, model: DatasetBiases) -> tuple[ViewGap, ...]:
    """Return people minus a model on its dataset; empty for people, and without people to compare it with.

    People whose answers were given precede those with a printed score. What the paper assumes of people who were
    not shown the whole input is excluded.
    """
    if model.human:
        return ()
    humans = [row.scores for row in _biases_of_people(run, model)]
    if not humans:
        audit = next(audit for audit in run.sets if audit.name == model.dataset)
        printed = [value.view for value in people_recorded(run, audit) if value.subject == PRINTED]
        humans = [{view: scores[view] for view in scores if subject == PEOPLE or view in printed}
                  for subject, scores in run.once(_people_of_sets)[audit.name].items()]  # fmt: skip
    shown = [{view: own[view] for view in ("context", "word", "full") if view in own} for own in humans]
    human = next(filter(None, shown), {})
    return human_model_gaps(model.scores, human, **run.resampling) if human else ()


def _biases_of_people(run: BiasData, model: DatasetBiases) -> list[DatasetBiases]:
    return [row for row in run.once(dataset_biases) if row.human and row.dataset == model.dataset]


def _model_scores(audit: AuditSet, answers: ViewAnswers) -> Scores:
    gold, asked = {item.item_id: str(item.gold) for item in answers.asked}, (*VIEWS, CONTEXT_SPAN)
    own = answers.responses.where(view=asked)
    scores = scored_views(own, gold, audit.words, subjects=(answers.subject,), measure=audit.measure)
    random = FixedScore(chance(audit), "the closed form of a random answer")
    # of a model that learnt nothing LABEL is what it is of people: nobody is asked about nothing
    assumed = {} if "label" in scores else {"label": FixedScore(random.value, "assumed, as of people: a random answer")}
    return {**{view: scores[view] for view in asked if view in scores}, **assumed, "random": random}


def _is_gap_record(record: Record) -> bool:
    return parse_statistic(record.statistic)[0] == "minimum_gap"
