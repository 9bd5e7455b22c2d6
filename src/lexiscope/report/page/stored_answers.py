"""The Results page of a run as JSON, and read back: ``answers.json`` in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lexiscope.core.errors import InputError
from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.results_page import AnsweredQuestion, ResultsPage
from lexiscope.report.marks.distribution import Distributions
from lexiscope.report.marks.drawing import Drawing
from lexiscope.report.marks.forest import Forest
from lexiscope.report.marks.multiples import LayerPanels
from lexiscope.report.marks.pairs import PairedDots
from lexiscope.report.marks.scatter import Scatter
from lexiscope.report.page.table_files import table_from_json, table_to_json

RESULTS_PAGE = "answers.json"
"""The file of a run folder that holds the Results page."""
DRAWINGS: Mapping[str, type[Drawing]] = {
    kind.__name__: kind for kind in (Distributions, Forest, LayerPanels, PairedDots, Scatter)
}
"""The types of drawings by name: a stored drawing is one of these."""


def page_to_json(page: ResultsPage) -> dict[str, Any]:
    """Return the page as JSON values, nothing lost."""
    return {
        "title": page.title,
        "kicker": page.kicker,
        "brand": page.brand,
        "top": _answer_to_json(page.top),
        "questions": [
            {**{name: getattr(q, name) for name in _QUESTION}, "answer": _answer_to_json(q.answer)}
            for q in page.questions
        ],
        "unanswered": [list(pair) for pair in page.unanswered],
        "top_question": page.top_question,
        "names": [list(pair) for pair in page.names],
    }


def page_from_json(content: Mapping[str, Any]) -> ResultsPage:
    """Read a page back from :func:`page_to_json`. Errors: :class:`InputError` for a drawing of an unknown type."""
    questions = tuple(
        AnsweredQuestion(**{name: q[name] for name in _QUESTION}, answer=_answer_from_json(q["answer"]))
        for q in content["questions"]
    )
    unanswered = tuple((str(text), str(why)) for text, why in content["unanswered"])
    texts = {name: content[name] for name in ("title", "kicker", "brand", "top_question")}
    names = tuple((str(subject), str(title)) for subject, title in content["names"])
    return ResultsPage(
        **texts, names=names, top=_answer_from_json(content["top"]), questions=questions, unanswered=unanswered
    )


_QUESTION = ("question_id", "text", "short", "flag", "place")
_TEXTS = ("verdict", "test", "caution", "apa")


def _answer_to_json(answer: Answer) -> dict[str, Any]:
    drawing, table = answer.drawing, answer.table
    return {
        **{name: getattr(answer, name) for name in _TEXTS},
        "sentences": list(answer.sentences),
        "drawing": {"type": type(drawing).__name__, **asdict(drawing)} if drawing is not None else None,
        "table": table_to_json(table) if table is not None else None,
    }


def _answer_from_json(content: Mapping[str, Any]) -> Answer:
    drawing, table = content["drawing"], content["table"]
    return Answer(
        **{name: content[name] for name in _TEXTS},
        sentences=tuple(content["sentences"]),
        drawing=drawing_from_json(drawing) if drawing is not None else None,
        table=table_from_json(table) if table is not None else None,
    )


def drawing_from_json(content: Mapping[str, Any]) -> Drawing:
    """Read a drawing back. Errors: :class:`InputError` for an unknown type or fields that the type does not have."""
    from pydantic import TypeAdapter, ValidationError

    kind = DRAWINGS.get(str(content.get("type")))
    if kind is None:
        raise InputError(f"unknown type of drawing: {content.get('type')!r}", hint=f"known: {', '.join(DRAWINGS)}")
    try:
        return TypeAdapter(kind).validate_python({name: value for name, value in content.items() if name != "type"})
    except ValidationError as error:
        raise InputError(f"a stored {kind.__name__} cannot be read", why=str(error.errors()[0])) from error
