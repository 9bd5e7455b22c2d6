"""People's tests of the senses: word intrusion (Table 1), the choice of a sense (Table 2), duplicates (Table 3)."""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.core.result import Record
from lexiscope.core.simulated import SIMULATED_PARTICIPANTS
from lexiscope.report.part import Omission, Part, part_of
from lexiscope.report.parts.sense_test_parts import (
    QUESTIONS,
    SENSES,
    accuracy_part,
    agreement_part,
    duplicates_part,
    simulated_notice,
    single_sense_reference,
    words_in_groups,
)
from lexiscope.studies.sense_induction.data import SenseData


def accuracies(run: SenseData) -> Part:
    """Return how often people find intruders and choose the model's sense, for each model whose senses were asked."""
    if not len(run.people.responses):
        why = "No answers of people were given: --people FILE, with the items that were asked."
        return part_of(Omission("Word intrusion, sense selection", why))
    return accuracy_part(run.tests, run.titles)


def people(run: SenseData) -> tuple[Part, ...]:
    """Return accuracy and agreement of people on the senses, and whether confused senses are duplicates."""
    # without a second word nothing can be resampled; the tables of accuracies say so
    tests = [test for test in run.tests if test.can_resample]
    reference = single_sense_reference(run.subjects, words_in_groups(run.people.items.values()), run.titles)
    return (run.once(accuracies), agreement_part(tests, run.titles), duplicates_part(tests, run.titles, reference))


def people_words(run: SenseData, records: Sequence[Record]) -> str:
    """Return how often people find intruders and choose the model's sense, as text."""
    names = {SENSES: "intruders of senses found", QUESTIONS: "questions with the model's sense"}
    text = "; ".join(
        f"{run.title_of(record.subject)}: {names[record.statistic]} {record.value:.1f} %"
        for record in records
        if record.statistic in names and record.value is not None
    )
    return f"{text} ({SIMULATED_PARTICIPANTS})" if text and simulated_notice(run.people.responses) else text
