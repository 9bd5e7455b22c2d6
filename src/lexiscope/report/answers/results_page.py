"""What the Results page shows: the answer first, then the answered questions of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lexiscope.report.answers.answer import Answer
from lexiscope.report.marks.drawing import Drawing


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A section of the page: the question, its word in the strip of contents, its marks, and its answer.

    ``flag`` is *confirmatory*, *confirmatory in part* or *exploratory*; ``place`` where a paper asks it.
    """

    question_id: str
    text: str
    short: str
    answer: Answer
    flag: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class ResultsPage:
    """What the page shows: its title (a question), what the data are, the answer, and the answered questions.

    ``kicker`` says what the data are, ``brand`` is their short name in the bar.

    ``unanswered`` are the questions without an answer and why, by text: they have one line each on the page of
    methods. ``top_question`` is the id of the question that the answer at the top belongs to, if it is that of one.
    ``names`` are what subjects are called on the page, by their ids.
    """

    title: str
    kicker: str
    brand: str
    top: Answer
    questions: tuple[AnsweredQuestion, ...] = ()
    unanswered: tuple[tuple[str, str], ...] = ()
    top_question: str = ""
    names: tuple[tuple[str, str], ...] = ()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers in reading order."""
        return (self.top, *(question.answer for question in self.questions))

    def results(self) -> dict[str, str]:
        """Return the verdict and the first sentence of each answered question, by its id."""
        answers = {question.question_id: question.answer for question in self.questions}
        if self.top_question:
            answers[self.top_question] = self.top
        return {
            question_id: " ".join(filter(None, (answer.verdict, *answer.sentences[:1])))
            for question_id, answer in answers.items()
        }

    def drawings(self) -> tuple[Drawing, ...]:
        """Return the drawings in reading order."""
        return tuple(answer.drawing for answer in self.answers if answer.drawing is not None)


def with_own_names(page: ResultsPage) -> ResultsPage:
    """Return the page with a unique name for each drawing and table: they become names of files."""
    used: set[str] = set()

    def own(name: str, prefix: str) -> str:
        chosen = name if name not in used else f"{prefix}_{name}"
        used.add(chosen)
        return chosen

    def named(answer: Answer, prefix: str) -> Answer:
        drawing, table = answer.drawing, answer.table
        return replace(
            answer,
            drawing=drawing and replace(drawing, name=own(drawing.name, prefix)),
            table=table and replace(table, name=own(table.name, prefix)),
        )

    top = named(page.top, "top")
    questions = tuple(replace(q, answer=named(q.answer, q.question_id.lower())) for q in page.questions)
    return replace(page, top=top, questions=questions)
