"""Tests of senses: planted senses, and people's tests: intruders, choice of a sense, duplicates (Tables 1 to 3).

Planted senses: how well each subject recovers the known senses of pseudo-words.

Two measures, which may disagree: by the usages (does the chosen sense agree with the planted one?), and by the
neighbours of the senses (are the neighbours of the chosen sense similar to the planted word?). Near duplicates of one
sense can score well by the first although their neighbours are the same.
"""

from __future__ import annotations

from lexiscope.core.result import Result
from lexiscope.report.part import Omission, Part
from lexiscope.report.parts import sense_parts, sense_test_parts
from lexiscope.senses.examples import ReadsSenses
from lexiscope.studies.sense_induction.data import SenseData
from lexiscope.training.gasi.planted import BY_RULE

_NAME, _LOOKS = "Planted senses", "Planted senses by their neighbours"


def recovery(run: SenseData) -> tuple[object, ...]:
    """Return how well planted senses are recovered, by their usages and by their neighbours."""
    planted = run.planted
    if planted is None:
        return ()
    results: list[Result] = []
    omitted = [Omission(_LOOKS, planted.unknown_neighbours)] if planted.unknown_neighbours else []
    for subject in planted.subjects:
        title = run.title_of(subject.subject_id)
        if subject.subject_id not in planted.answers:
            why = "It knows fewer than two of the pseudo-words: train it on the planted text."
            omitted.append(Omission(_NAME, why, title))
            continue
        own = planted.recovery(subject, **run.resampling)
        results += [result.about(subject=subject.subject_id, dataset=planted.title) for result in own]
        if planted.planted_words and isinstance(subject, ReadsSenses) and not planted.has_known_neighbours(subject):
            why = "It knows fewer than two of the pseudo-words whose planted words the reference knows."
            omitted.append(Omission(_LOOKS, why, title))
    if not results:
        return tuple(omitted)
    # how many pseudo-words a subject knows is in no record
    n_words = {name: len({item.usages[0].lemma for item in known}) for name, (known, _) in planted.answers.items()}
    table = sense_parts.planted_table(results, n_words, run.titles, where=planted.title)
    by_subject = {subject.subject_id: planted.calibrations(subject, **run.resampling)
           for subject in planted.subjects if subject.subject_id in planted.answers}  # fmt: skip
    calibrated = sense_parts.calibration_tables(by_subject, run.titles, where=planted.title)
    return results, table, calibrated, BY_RULE if planted.by_rule else None, omitted


def accuracies(run: SenseData) -> Part:
    """Return how often people find intruders and choose the model's sense, for each model whose senses were asked."""
    return sense_test_parts.accuracy_part(run.tests, run.titles)


def people(run: SenseData) -> tuple[Part, ...]:
    """Return accuracy and agreement of people on the senses, and whether confused senses are duplicates."""
    # without a second word nothing can be resampled; the tables of accuracies say so
    tests = [test for test in run.tests if test.can_resample]
    reference = sense_test_parts.single_sense_reference(
        run.subjects, sense_test_parts.words_in_groups(run.people.items.values()), run.titles
    )
    return (
        run.once(accuracies),
        sense_test_parts.agreement_part(tests, run.titles, run.people.trust),
        sense_test_parts.duplicates_part(tests, run.titles, reference),
    )


def chat_models(run: SenseData) -> Part:
    """Return how often chat models are right in the tests that people sat, next to people's single judgments."""
    shares = sense_test_parts.model_shares(run.tests_of(run.chats))
    return sense_test_parts.models_part(shares, run.titles, people=run.tests)
