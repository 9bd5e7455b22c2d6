"""People's tests of the senses: word intrusion (Table 1), the choice of a sense (Table 2), duplicates (Table 3)."""

from __future__ import annotations

from lexiscope.report.part import Omission, Part, part_of
from lexiscope.report.parts.sense_test_parts import (
    accuracy_part,
    agreement_part,
    duplicates_part,
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
