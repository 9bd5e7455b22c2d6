"""Ratings of similarity, the same sense or not, and whether similarity and the reading of senses agree (§5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.choices.choice_sets import choices_with_random
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.senses.disagreeing_orders import compare_every, mean_over_datasets
from lexiscope.analysis.senses.similarity import similarity_name
from lexiscope.core.result import Estimate, Record, Result, statistic_name
from lexiscope.core.simulated import COLLECTED
from lexiscope.items.answers.sense_options import SAME
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Omission, ends_of, find_record, part_of
from lexiscope.report.parts.accuracy_tables import random_answers_table
from lexiscope.report.parts.sense_parts import Compared, orders_table, similarity_table
from lexiscope.report.parts.sense_test_parts import QUESTIONS, SENSES
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of
from lexiscope.report.plots.accuracy import Dot, accuracy_dots
from lexiscope.report.tables import BOUNDED, Format, drop_empty
from lexiscope.studies.kit.pairs import PairSet
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.studies.sense_induction.sense_tests import accuracies, recovery
from lexiscope.tasks.relatedness.by_sense import AVG_SIM, AVG_SIM_C, AVG_SIM_C_UPPER, MAX_SIM, MAX_SIM_C
from lexiscope.tasks.same_sense.by_sense import FLAG, REASONS

OF_WORDS = {MAX_SIM: "", AVG_SIM: ""}
OF_USAGES = {
    AVG_SIM_C: "The full sum over K × K pairs of senses.",
    MAX_SIM_C: "",
    AVG_SIM_C_UPPER: "The sum as it is printed: it depends on which usage is first and on how senses are numbered.",
    MAX_SIM: "Without the contexts.",
    AVG_SIM: "",
}
_ONE = Format("number", 1)
_AGREEMENT = "rater_agreement_x100(variant=leave_one_out)"
_WORDS = "Intervals resample first words of pairs: pairs of one word are not independent."


# -- similarity -----------------------------------------------------------------------------------------------------


def words(run: SenseData) -> tuple[object, ...]:
    """Return MaxSim and AvgSim on the sets of word pairs (Tables 6 and 7), with coverage."""
    sets, records = run.rated_sets(in_context=False), run.once(word_records)
    notes = [_WORDS]
    if not any(len(pairs.responses.where(measure="rating")) for pairs in sets):
        notes += ["The files of these sets hold mean ratings only, so that people's own agreement is not known here."]
    title, labels = "Word similarity: 100 × Spearman's ρ with people's mean ratings", ("Set", "Vectors")
    rows = [row for pairs in sets for row in _rows(run, pairs)]
    table = similarity_table(
        "word_similarity", title, records, rows, measures=OF_WORDS, labels=labels, number="6", notes=notes
    )
    return records, table, _similarity_figure(run, records)


def usages(run: SenseData) -> tuple[object, ...]:
    """Return MaxSimC and AvgSimC on the sets of usages in context (SCWS), with the agreement of the ratings."""
    sets, records = run.rated_sets(in_context=True), run.once(usage_records)
    rows = []
    for pairs in sets:
        rows += _rows(run, pairs)
        if find_record(records, _AGREEMENT, dataset=pairs.name):
            rows.append(PivotRow((pairs.title, "ratings among each other"), {"dataset": pairs.name, "subject": ""}))
    unnamed = any(pairs.name == "scws" for pairs in sets)
    notes = (
        _WORDS,
        "Ratings among each other: one column of ratings with the mean of the others, mean of columns."
        + (" Who gave a column is not published, so it is not the agreement of a person." if unnamed else ""),
    )
    title, labels = "Similarity in context: 100 × Spearman's ρ with people's mean ratings", ("Set", "Vectors")
    return records, similarity_table(
        "similarity_in_context", title, records, rows,
        measures=OF_USAGES, labels=labels, beside=_AGREEMENT, notes=notes,
    )  # fmt: skip


def word_records(run: SenseData) -> list[Record]:
    """Return the correlations on the sets of word pairs."""
    return _correlations(run, in_context=False, measures=OF_WORDS)


def usage_records(run: SenseData) -> list[Record]:
    """Return the correlations on the sets of usages, and the agreement of the ratings."""
    records = _correlations(run, in_context=True, measures=OF_USAGES)
    for pairs in run.rated_sets(in_context=True):
        rows = pairs.responses.where(measure="rating", subject_kind=COLLECTED)
        if len(rows.unique("subject_id")) > 2:
            agreed = leave_one_out(Ratings.from_table(rows), **run.resampling)
            agreement = Estimate(_AGREEMENT, agreed.mean, agreed.interval, len(pairs.items)).times(100, "100 × rho")
            records += agreement.about(dataset=pairs.name).records()
    return records


def _correlations(run: SenseData, *, in_context: bool, measures: Iterable[str]) -> list[Record]:
    subjects, sets = [subject.subject_id for subject in run.subjects], run.rated_sets(in_context=in_context)
    measured, by = tuple(measures), next(iter(measures))
    by_set = [
        (*pairs.correlations(run.answers, subjects, measured, **run.resampling),
         *pairs.ranks(run.answers, subjects, by, **run.resampling))
        for pairs in sets
    ]  # fmt: skip
    return [record for records in by_set for record in records]


def _rows(run: SenseData, pairs: PairSet) -> list[PivotRow]:
    names = [subject.subject_id for subject in run.subjects]
    return [PivotRow((pairs.title, run.title_of(name)), {"dataset": pairs.name, "subject": name}) for name in names]


def _similarity_figure(run: SenseData, records: Sequence[Record]) -> Figure | None:
    dots = [
        Dot(run.set_titles[record.dataset], run.title_of(record.subject), record.value, *ends_of(record), np.nan)
        for record in records
        if record.statistic == similarity_name(MAX_SIM) and record.value is not None
    ]
    title = "MaxSim and people's ratings, set by set"
    heading = Heading("word_similarity", "", title, "Over covered pairs. " + _WORDS)
    return accuracy_dots(dots, heading, unit="100 × ρ") if dots else None


# -- the same sense -------------------------------------------------------------------------------------------------


def same_sense(run: SenseData) -> tuple[object, ...]:
    """Return the share of pairs that are right, with what is random in it, for each split of each set (Table 8)."""
    results: list[Result] = []
    rows = []
    for pairs in run.same_sense:
        for split, own in pairs.splits.items():
            where = {"dataset": pairs.name, "condition": split}
            right = {item.item_id: str(item.gold) for item in own.items}
            same = 100 * float(np.mean([gold == SAME for gold in right.values()]))
            results.append(Estimate("share_same", same, n=len(right), unit="percent").about(**where))
            title = ", ".join(filter(None, (pairs.title, split)))
            for subject in run.subjects:
                of = where | {"subject": subject.subject_id}
                answers = run.answers.where(subject_id=subject.subject_id, task="same_sense")
                answer_results = choices_with_random(
                    answers, right, flag=FLAG, words=own.words, counted=REASONS, **run.resampling
                )
                results += [result.about(**of) for result in answer_results]
                rows.append(PivotRow((title, run.title_of(subject.subject_id)), of))
    always = "What always answering 'the same' reaches."
    notes = (
        "A pair that identity cannot decide (two words, a word out of vocabulary or with one sense, no sense "
        "preferred) is answered at random, drawn by its id and the seed, and counted in the last columns.",
    )
    return results, random_answers_table(
        "same_sense", "The same sense, by the identity of the chosen sense", results, rows,
        reasons=REASONS, labels=("Pairs", "Vectors"), number="8", notes=notes,
        further=[Col("Same, %", "share_same", _ONE, show="value", where={"subject": ""}, note=always)],
    )  # fmt: skip


# -- similarity against interpretability ----------------------------------------------------------------------------

_MEAN = statistic_name("spearman_x100", similarity=MAX_SIM, mean="sets")
SIMILARITY = {
    "AvgSimC": similarity_name(AVG_SIM_C),
    "MaxSimC": similarity_name(MAX_SIM_C),
    "MaxSim, mean of sets": _MEAN,
}
_OF_PEOPLE = {"Intruders found": SENSES, "Senses chosen": QUESTIONS}
_PLANTED = {"Planted, by neighbours": "planted_selection", "Planted, by usages": "planted_accuracy"}
READING = _OF_PEOPLE | _PLANTED


def contrast(run: SenseData) -> tuple[object, ...] | Omission:
    """Return both kinds of figures of every subject in one table, and where they order subjects differently (§5.1)."""
    orders_by_pair, records = run.once(orders), run.once(_compared_records)
    if not orders_by_pair:
        why = "It needs two vectors with a similarity and with people's judgments, or with planted senses, each."
        return Omission("Similarity against interpretability", why)
    columns = (
        *(Col(f"{name}, ρ", statistic, _ONE, absent=None) for name, statistic in SIMILARITY.items()),
        *(Col(f"{name}, %", statistic, _ONE, absent=None) for name, statistic in _OF_PEOPLE.items()),
        *(Col(name, key, BOUNDED, note="No judgment of people.", absent=None) for name, key in _PLANTED.items()),
    )
    of_people = [record.subject for record in records if record.statistic in _OF_PEOPLE.values()]
    subjects = dict.fromkeys([*(subject.subject_id for subject in run.subjects), *of_people])
    rows = [PivotRow((run.title_of(subject),), {"subject": subject}) for subject in subjects]
    title = "Similarity and interpretability of the same vectors"
    table = drop_empty(pivot("contrast", title, records, columns, rows, labels=("Vectors",)))
    caution = (
        "Orders compare values. A pair in another order is clear if the two intervals overlap by "
        "neither figure; the others may change places in another sample."
    )
    counts = [own.results(similarity=_key(a), reading=_key(b)) for (a, b), own in orders_by_pair.items()]
    return counts, table, orders_table(orders_by_pair, run.titles, first="Similarity"), caution


def orders(run: SenseData) -> Compared:
    """Return how each similarity and each figure of the reading of senses order the subjects that have both."""
    return compare_every(run.once(_compared_records), SIMILARITY, READING)


def _compared_records(run: SenseData) -> list[Record]:
    """Return the records that are compared: of one set in context, of all sets of words, of the reading."""
    context = [pairs.name for pairs in run.rated_sets(in_context=True)][:1]
    sets = [pairs.name for pairs in run.rated_sets(in_context=False)]
    of_words = [record for record in run.once(word_records) if record.statistic == similarity_name(MAX_SIM)]
    of_usages = [record for record in run.once(usage_records) if record.dataset in context]
    reading = part_of(run.once(recovery), run.once(accuracies)).records
    return records_of((*of_usages, *mean_over_datasets(of_words, sets, name=_MEAN), *reading))


def _key(name: str) -> str:
    return name.lower().replace(", mean of sets", "").replace(",", "").replace(" ", "_")
