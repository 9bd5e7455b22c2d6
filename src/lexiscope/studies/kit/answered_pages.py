"""Answers of people and models to the same pages: forced choices of minimal pairs, and gaps that were filled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lexiscope.analysis.choices.beside_people import PeopleAnswers, first_position, model_results, people_results
from lexiscope.analysis.choices.design_answers import SubjectAnswers
from lexiscope.analysis.choices.gap_answers import every_gap_hits
from lexiscope.build.forced_choice import PAGES, by_task, first_chosen, set_of
from lexiscope.build.gap_filling.gaps import SUITE as GAPS
from lexiscope.build.gap_filling.gaps import sentences_of
from lexiscope.build.gap_filling.matching import AnswerRule, find_in_text, mark_completions
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Undefined
from lexiscope.report.answers.answer import UNASKED, Answer
from lexiscope.report.answers.numbers import PERCENT, Numbers, Quantity, pick
from lexiscope.report.answers.one import Named, OneEstimate
from lexiscope.report.answers.subjects import SubjectEstimates

BELOW_PEOPLE = SubjectEstimates(
    "Accuracy of people minus that of models on the same items",
    pick("above_people"),
    Quantity("", "Accuracy, people minus model", bounds=None, digits=1, sign=-1.0, unit=" points"),
    claim="are right less often than people",
    claim_one="is right less often than people, by",
    group=("condition",),
    name="below_people",
)
OF_PEOPLE = OneEstimate(
    Named("the share of people’s answers that are right", pick("people_right(of=answers)"), PERCENT, "people right"),
    (Named("the share of items that most people have right", pick("people_right(of=items)"), PERCENT, "most right"),),
)
_CURATED = AnswerRule("curated")


def pages_beside_people(
    people: ResponseTable,
    told: ResponseTable,
    pages: Sequence[Item],
    gap_items: Sequence[Item],
    subjects: Sequence[SubjectAnswers],
    gaps: ResponseTable,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> list[Estimate | Undefined]:
    """Return how often *people* are right on pages and gaps, and what each model is compared with them.

    *told* are the choices of chat models on pages, *subjects* the decisions in the choice sets of pages, *gaps* the
    completions of models. Every result has its subject, and the task as its condition.
    Errors: those of :meth:`~lexiscope.analysis.choices.beside_people.PeopleAnswers.of`.
    """
    of_set = {set_of(page): page.item_id for page in pages}
    sentences = sentences_of([*pages, *gap_items])
    results: list[Estimate | Undefined] = []
    asked = people_answers(people, {page.item_id: page for page in pages}, gap_items, sentences)
    for kind, answers in asked.items():
        right = right_pages(subjects, of_set) if kind in PAGES else right_gaps(gaps, gap_items)
        # of more than two options, two wrong answers need not be the same
        agree = kind in PAGES and all(len(page.options) == 2 for page in pages)
        own = people_results(answers, agree=agree, resamples=resamples, seed=seed)
        results += [result.about(subject="people", condition=kind) for result in own]
        for subject, of_items in right.items():
            beside = model_results(answers, of_items, agree=agree, resamples=resamples, seed=seed)
            results += [result.about(subject=subject, condition=kind) for result in beside]
    for kind, of_kind in by_task(pages).items():
        for chat in told.where(task=kind).unique("subject_id"):
            first = first_chosen(told.where(subject_id=chat), of_kind)
            chosen = first_position(first, sentences, resamples=resamples, seed=seed)
            results.append(chosen.about(subject=chat, condition=kind))
    return results


def people_answers(
    table: ResponseTable, pages: Mapping[str, Item], gaps: Sequence[Item], groups: Mapping[str, str]
) -> dict[str, PeopleAnswers]:
    """Return people's answers by task (``substitution``, ``minimal_pair``, ``gap_filling``), if there are any.

    A choice is right if it is the right word of its page, a written word if it is a curated synonym. *groups* are the
    sentences of the items. Errors: those of :meth:`~lexiscope.analysis.choices.beside_people.PeopleAnswers.of`.
    """
    accepted = {item.item_id: _CURATED.accepted_answers(item) for item in gaps}
    made: dict[str, PeopleAnswers] = {}
    for kind in PAGES:
        if len(chosen := table.where(task=kind)):
            made[kind] = PeopleAnswers.of(chosen, lambda item, word: word == pages[item].gold, groups, column="option")
    if len(written := table.where(task=GAPS)):
        made[GAPS] = PeopleAnswers.of(
            written, lambda item, text: find_in_text(text, accepted[item]) is not None, groups, column="raw"
        )
    return made


def right_pages(every: Iterable[SubjectAnswers], page_of: Mapping[str, str]) -> dict[str, dict[str, bool]]:
    """Return of each subject which pages it has right, by its decisions in their choice sets (*page_of*, by id)."""
    right: dict[str, dict[str, bool]] = {}
    for answers in every:
        for cell, decisions in answers.outcomes.items():
            # a joint cell has the ids of its first part
            if not cell.is_joint:
                pairs = zip(decisions.item_ids, decisions.correct.tolist(), strict=True)
                own = {page_of[name]: bool(decision) for name, decision in pairs if name in page_of}
                right |= {answers.subject: right.get(answers.subject, {}) | own} if own else {}
    return right


def right_gaps(gaps: ResponseTable, items: Sequence[Item]) -> dict[str, dict[str, bool]]:
    """Return of each subject which gaps it fills with a curated synonym in its one prediction."""
    if not len(gaps):
        return {}
    every = every_gap_hits(mark_completions(gaps, items, _CURATED))
    alone = [hits for hits in every if hits.n_predictions == 1]
    return {hits.subject: dict(zip(hits.item_ids, (hits.hit > 0).tolist(), strict=True)) for hits in alone}


def beside_people_answer(numbers: Numbers, _run: object) -> Answer | None:
    """Return how often people are right, and how models compare with them on the same items."""
    people, models = OF_PEOPLE.answer(numbers), BELOW_PEOPLE.answer(numbers)
    if people is None or models is None or models.verdict == UNASKED:
        return people
    return replace(models, sentences=(*models.sentences, *people.sentences), apa=f"{models.apa} {people.apa}")
