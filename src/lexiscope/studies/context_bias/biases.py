"""Scores by view, biases and gaps of models and people, and the verdict on each dataset (§2.3, §3, appendix F)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.analysis.bias.bias import RANDOM_RETRIEVAL, context_word_bias
from lexiscope.analysis.bias.people_by_view import people_by_view, people_scores
from lexiscope.analysis.bias.verdict import verdict
from lexiscope.analysis.bias.view_answers import scored_views
from lexiscope.analysis.bias.view_gaps import ViewGap, human_model_gaps
from lexiscope.analysis.bias.view_scores import FixedScore, Scores
from lexiscope.analysis.choices.retrieval import random_choice
from lexiscope.core import catalog
from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.study import PublishedValue
from lexiscope.items.answers.sense_options import correct_ids
from lexiscope.items.answers.truth_choice import DIFFERENT, SAME
from lexiscope.items.arrange.views import CONTEXT_SPAN
from lexiscope.report.document import Section
from lexiscope.report.parts.bias_parts import bar_figures, bias_records, gap_figures, gap_records, plane_figures
from lexiscope.report.parts.bias_sections import verdict_section
from lexiscope.report.parts.bias_tables import (
    BiasRow,
    GapRow,
    biases_table,
    human_gaps_table,
    recorded_scores_table,
    seeds_table,
    view_scores_table,
)
from lexiscope.report.parts.people_parts import agreement_of_people
from lexiscope.studies.context_bias.data import ASSUMED, PEOPLE, PRINTED, TEXTS, BiasData
from lexiscope.studies.context_bias.sets import PAIR_TASKS, RETRIEVAL_TASKS, VIEWS, AuditSet
from lexiscope.studies.kit.paper_files import printed_values
from lexiscope.training.view_models import ViewAnswers

PRINTED_VALUES = printed_values(Path(__file__).with_name("printed.csv"), dataset="context_bias")
"""What the paper prints, by dataset."""

_HUMANS = (PEOPLE, PRINTED)
_STATUS = {PRINTED: "printed", ASSUMED: "assumed"}


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
        if audit.name in run.people:
            answers = run.people[audit.name]
            task = catalog.task(audit.task)
            scores[PEOPLE] = people_scores(answers, audit.parts.all_items, task=task, measure=audit.measure)
        recorded = people_recorded(run, audit)
        fixed = [FixedScore(float(value.printed), f"{_STATUS[value.subject]} ({value.place})") for value in recorded]
        scores[PRINTED] = {value.view: score for value, score in zip(recorded, fixed, strict=True)}
        for subject, own in scores.items():
            # people who were asked parts alone, or of whom parts are recorded, have scores and no bias
            if "full" in own:
                biases = context_word_bias(own, **run.resampling)
                rows.append(DatasetBiases(audit.name, subject, biases, own, blind.get(subject, {})))
    return tuple(rows)


def people_recorded(run: BiasData, audit: AuditSet) -> tuple[PublishedValue, ...]:
    """Return scores of people on a dataset that the paper prints or assumes; 0 to 1, by view.

    They are not compared with simulated participants, and a file of the user's own has none, whatever its name.
    """
    if run.own or run.simulated:
        return ()
    return tuple(value for value in PRINTED_VALUES.get(audit.name, ()) if value.subject in _STATUS)


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
            sentences = verdict(
                model.biases, human=human, gaps=gaps_of(run, model), blind=model.blind, name=model.subject
            )
            title = f"{model.dataset}, {model.subject}"
            sections.append(verdict_section(title, sentences, section_id=f"verdict_{len(sections) + 1}"))
    return tuple(sections)


# -- scores, biases, gaps -------------------------------------------------------------------------------------


def scores_and_biases(run: BiasData) -> object:
    """Return scores and biases with the plane and the bars (Figures 1, 2 and 4, Table 7), and the spread over seeds."""
    rows = run.once(dataset_biases)
    records = [record for row in rows for record in bias_records(row) if not _is_gap_record(record)]
    tables = view_scores_table(rows, number="7"), biases_table(rows)
    figures = plane_figures(rows, people=_HUMANS), bar_figures(rows)
    return records, tables, figures, _seed_spread(run, records)


def minimum_gap(run: BiasData) -> object:
    """Return the minimum gaps (Figure 3)."""
    rows = run.once(dataset_biases)
    records = [record for row in rows for record in bias_records(row) if _is_gap_record(record)]
    return records, gap_figures(rows, people=_HUMANS)


def _seed_spread(run: BiasData, scores: Sequence[Record]) -> Iterator[object]:
    """The spread over seeds on dev, of models that were trained with more than one (Table 7)."""
    records: list[Record] = []
    for audit, answers in run.answers_by_set():
        for view_model in answers.trained:
            # a learner that is fitted once has no figure on dev that seeds could differ in
            if selection := view_model.selection:
                n = sum(shard.learning_rate == selection.best.learning_rate for shard in selection.shards)
                named = (answers.subject, audit.name)
                mean = Record("dev_mean", selection.mean, *named, view=view_model.view, n=n, note=view_model.chosen)
                note = "one seed has no spread" if selection.sd is None else ""
                records += [mean, replace(mean, statistic="dev_sd", value=selection.sd, note=note)]
    yield records
    # of a probe there is one figure, which is no spread
    if any(record.note for record in records if record.statistic == "dev_mean"):
        yield seeds_table([*records, *scores])


# -- people ---------------------------------------------------------------------------------------------------


def people(run: BiasData) -> Iterator[object]:
    """Yield people minus model, view by view (Table 5), the agreement of people, and recorded scores of people."""
    every = run.once(dataset_biases)
    rows = [GapRow(row.dataset, row.subject, gaps) for row in every if (gaps := gaps_of(run, row))]
    yield [record for row in rows for record in gap_records(row)]
    yield human_gaps_table(rows, number="5") if rows else TEXTS["no people"]
    for number, audit in enumerate(run.sets, start=1):
        if audit.name in run.people:
            agreement = people_by_view(
                run.people[audit.name],
                right={item.item_id: str(item.gold) for item in audit.parts.all_items},
                words={item.item_id: item.word for item in audit.parts.all_items},
                measure=audit.measure,
                **run.resampling,
            )
            # a single participant is one of several: scores of people together are among those of models
            yield agreement_of_people(agreement, audit.name, name=f"agreement_{number}", number="10")
    recorded = [value for audit in run.sets for value in people_recorded(run, audit)]
    if recorded:
        yield recorded_scores_table(recorded, _STATUS), TEXTS["agreement of the paper"]


def gaps_of(run: BiasData, model: DatasetBiases) -> tuple[ViewGap, ...]:
    """Return people minus a model on its dataset; empty for people, and without people to compare it with.

    People whose answers were given precede those of whom a score is printed.
    """
    humans = _biases_of_people(run, model)
    if model.human or not humans:
        return ()
    human = {view: humans[0].scores[view] for view in ("context", "word", "full") if view in humans[0].scores}
    return human_model_gaps(model.scores, human, **run.resampling)


def _biases_of_people(run: BiasData, model: DatasetBiases) -> list[DatasetBiases]:
    return [row for row in run.once(dataset_biases) if row.human and row.dataset == model.dataset]


def _model_scores(audit: AuditSet, answers: ViewAnswers) -> Scores:
    gold, asked = {item.item_id: str(item.gold) for item in answers.asked}, (*VIEWS, CONTEXT_SPAN)
    own = answers.responses.where(view=asked)
    scores = scored_views(own, gold, audit.words, subjects=(answers.subject,), measure=audit.measure)
    random = FixedScore(chance(audit), "the closed form of a random answer")
    return {**{view: scores[view] for view in asked if view in scores}, "random": random}


def _is_gap_record(record: Record) -> bool:
    return parse_statistic(record.statistic)[0] == "minimum_gap"
