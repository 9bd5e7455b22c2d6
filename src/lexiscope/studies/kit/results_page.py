"""The Results page of a run: each question's answer by its rule, or by what it returned, and the answer at the top."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lexiscope.core.result import Result
from lexiscope.core.study import Question
from lexiscope.report.answers.answer import NO, UNANSWERED, YES, Answer, QuestionRule
from lexiscope.report.answers.default import default_answer
from lexiscope.report.answers.numbers import Numbers
from lexiscope.report.answers.results_page import AnsweredQuestion, ResultsPage, with_own_names

AnswerOf = QuestionRule | Callable[[Numbers, Any], Answer | None]
"""A rule for the answer to a question, or a function that makes it from the numbers of a run, and the run."""
_TOP_SENTENCES = 3
_SHORT_WORDS = 18


def answer_by(rule: AnswerOf, numbers: Numbers, run: object) -> Answer | None:
    """Return the answer that a rule makes; ``None`` if the run has none of its numbers."""
    return rule(numbers, run) if callable(rule) else rule.answer(numbers)


def answered_questions(
    questions: Sequence[Question],
    rules: Mapping[str, tuple[AnswerOf | None, str]],
    returned: Mapping[str, Sequence[Result]],
    missing: Mapping[str, str],
    numbers: Numbers,
    run: object,
) -> tuple[tuple[AnsweredQuestion, ...], tuple[tuple[str, str], ...]]:
    """Return the answered questions, and those without an answer with the reason.

    *rules* has the rule and the short name of each question by its id, *returned* its results, *missing* why a
    question could not be asked.
    """
    answered, unanswered = [], []
    for question in questions:
        rule, short = rules[question.question_id]
        records = [record for record in numbers.records if record.question == question.question_id]
        answer = None
        if question.question_id not in missing and records:
            answer = answer_by(rule, numbers, run) if rule is not None else None
            answer = answer or default_answer(returned.get(question.question_id, ()), records, numbers)
        if answer is None or answer.verdict == UNANSWERED:
            # a question without a result has no section: one line on the page of methods
            why = " ".join(answer.sentences) if answer is not None else "This run has no numbers for it."
            unanswered.append((question.text, missing.get(question.question_id, why)))
            continue
        if _asks_how(question.text) and answer.verdict in (YES, NO):
            answer = replace(answer, verdict="")
        flag, place = question.analysis, question.section
        name = short or _short(question.text)
        answered.append(AnsweredQuestion(question.question_id, question.text, name, answer, flag, place))
    return tuple(answered), tuple(unanswered)


def _asks_how(question: str) -> bool:
    """Return whether yes and no cannot answer a question: *How much …?*, *At which …?*."""
    words = question.lower().split()
    return not {*words[:2]}.isdisjoint(("how", "which", "what", "where", "whose"))


def results_page(
    title: str,
    kicker: str,
    brand: str,
    top: AnswerOf | None,
    questions: tuple[AnsweredQuestion, ...],
    unanswered: tuple[tuple[str, str], ...],
    numbers: Numbers,
    run: object,
) -> ResultsPage | None:
    """Return the page; ``None`` where nothing was answered.

    The answer at the top is that of *top*, with the first sentences of the next questions up to three; without a
    rule it is that of the first question with a drawing, which then has no separate section.
    """
    first, top_question = answer_by(top, numbers, run) if top is not None else None, ""
    if top is not None and first is None:
        # the question at the top is not answered by this run: it has the name of the study
        title, kicker = kicker, brand
    if first is None:
        chosen = next((q for q in questions if q.answer.drawing is not None), next(iter(questions), None))
        if chosen is None:
            return None
        first = chosen.answer
    # an answer at the top is not shown a second time below
    own = next((question for question in questions if question.answer == first), None)
    if own is not None:
        top_question = own.question_id
        questions = tuple(question for question in questions if question is not own)
    said = list(first.sentences[:_TOP_SENTENCES])
    for answer in (question.answer for question in questions):
        if len(said) < _TOP_SENTENCES and answer.sentences:
            said.append(answer.sentences[0])
    top_answer = replace(first, sentences=tuple(said))
    models = {record.subject for record in numbers.records}
    names = tuple((subject, title) for subject, title in numbers.titles.items() if subject in models)
    page = ResultsPage(title, kicker, brand, top_answer, questions, unanswered, top_question, names)
    return with_own_names(page)


def _short(text: str) -> str:
    """A short name for the strip of contents: the longest words of a question, as many as fit."""
    words = [word.strip("?,.:;()") for word in text.split()]
    longest = sorted(words, key=len, reverse=True)[:1]
    return longest[0][:_SHORT_WORDS].capitalize() if longest else "Question"
