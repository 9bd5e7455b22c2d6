"""The Results page: which answers keep their verdict."""

from __future__ import annotations

import pytest

from lexiscope.core.result import Record
from lexiscope.core.study import Question
from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.numbers import Numbers
from lexiscope.report.answers.results_page import answered_questions


@pytest.mark.parametrize(
    ("question", "given", "verdict"),
    [
        ("How much lower are models than people?", "Yes.", ""),
        ("At which layer do models come closest?", "No.", ""),
        ("How close do models come to people?", "Partly.", "Partly."),
        ("Do models follow people?", "Yes.", "Yes."),
    ],
)
def test_yes_and_no_answer_no_question_that_asks_how(question: str, given: str, verdict: str) -> None:
    """A question that asks how or which has an answer without yes or no; its sentences stay."""
    numbers = Numbers((Record("rho", 0.5, question="Q1"),))
    rules = {"Q1": (lambda _numbers, _run: Answer(given, ("They do.",)), "")}
    (answered,), unanswered = answered_questions([Question("Q1", question, "§1")], rules, {}, {}, numbers, None)
    assert (answered.answer.verdict, answered.answer.sentences, unanswered) == (verdict, ("They do.",), ())
