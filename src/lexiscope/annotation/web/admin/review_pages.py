"""The review queue: what people wrote, one text after another, accepted, rejected with a reason, or edited."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from markupsafe import Markup
from starlette.responses import Response

from lexiscope.annotation.store.record import Review, Verdict
from lexiscope.annotation.web.admin.paging import paged
from lexiscope.annotation.web.admin.texts import ONE, VERDICTS
from lexiscope.annotation.web.admin.visit import Visit, bounded
from lexiscope.annotation.web.security import Refused, path_number
from lexiscope.annotation.writing.review import NOT_REVIEWED, Written, decide, latest_reviews, same_texts, status_of
from lexiscope.annotation.writing.stage_files import item_file
from lexiscope.annotation.writing.staging import Stage, stage_of
from lexiscope.core.errors import InputError
from lexiscope.core.screen import Shown

_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class TextLine:
    """A text in the table: who wrote it for what, what was decided, and the edited text where there is one."""

    answer: Written
    word: str
    verdict: str
    verdict_text: str
    edited: str


async def review(visit: Visit) -> Response:
    """Show the texts, those first that nobody has reviewed."""
    return await asyncio.to_thread(_review, visit)


def _review(visit: Visit, *, code: int = 200, items_fault: str = "") -> Response:
    answers, decided = visit.desk.written(), latest_reviews(visit.desk.app.store.reviews())
    verdict = visit.request.query_params.get("verdict", NOT_REVIEWED)
    counts = Counter(status_of(one, decided) for one in answers)
    chosen = [one for one in answers if verdict not in VERDICTS or status_of(one, decided) == verdict]
    writing = visit.desk.app.study.screen.writing
    shown = paged(visit, chosen, where="/review", verdict=verdict)
    return visit.page(
        "admin_review.html",
        here="review",
        shown=shown,
        lines=[_line(visit, one, decided.get(one.answer_id)) for one in shown.rows],
        verdicts=[(name, visit.say(text), counts[name]) for name, text in VERDICTS.items()],
        verdict=verdict,
        n_texts=len(answers),
        status=code,
        items_fault=items_fault,
        has_items=writing is not None and writing.text == "ending",
        counts=_stage(visit).counts() if writing is not None else None,
    )


def _stage(visit: Visit) -> Stage:
    app = visit.desk.app
    if app.study.screen.writing is None:
        raise Refused(404, "not_found", "not_found")
    return stage_of(app.study, app.store)


async def fetch_table(visit: Visit) -> Response:
    """Send every text with its verdict as a table."""
    return await asyncio.to_thread(_fetch_table, visit)


def _fetch_table(visit: Visit) -> Response:
    made = _stage(visit)
    return _file(made.writing.file, made.table())


async def fetch_items(visit: Visit) -> Response:
    """Send the items of the next study; where texts are missing yet, the queue says which."""
    return await asyncio.to_thread(_fetch_items, visit)


def _fetch_items(visit: Visit) -> Response:
    made = _stage(visit)
    if made.of_sentences:
        raise Refused(404, "not_found", "not_found")
    leave_out = visit.request.query_params.get("leave_out") == "1"
    try:
        text = item_file(made.rating_items(leave_out_incomplete=leave_out))
    except InputError as error:
        return _review(visit, code=409, items_fault=error.what)
    return _file(f"{made.writing.next_task}_items.csv", text)


def _file(name: str, text: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def _line(visit: Visit, answer: Written, decided: Review | None) -> TextLine:
    verdict = decided.verdict if decided is not None else NOT_REVIEWED
    item = visit.desk.app.study.items[answer.item_id]
    edited = decided.text or "" if decided is not None else ""
    return TextLine(answer, item.word, verdict, visit.say(VERDICTS[verdict]), edited)


async def review_one(visit: Visit) -> Response:
    """Show one text with its item, its faults, and the form of the decision."""
    return await asyncio.to_thread(_review_one, visit)


def _review_one(visit: Visit, *, status: int = 200, fault: str = "", reason: str = "", text: str = "") -> Response:
    app, answers = visit.desk.app, visit.desk.written()
    answer = _answer(visit, answers)
    everything = app.store.reviews()
    decided, reviews = latest_reviews(everything), [one for one in everything if one.answer_id == answer.answer_id]
    item, latest = app.study.items[answer.item_id], reviews[-1] if reviews else None
    same = same_texts(answers).get(answer.answer_id)
    left = [one.answer_id for one in answers if status_of(one, decided) == NOT_REVIEWED]
    after = next((one for one in left if one > answer.answer_id), next((one for one in left), None))
    return visit.page(
        "admin_review_one.html",
        here="review",
        title=visit.say(ONE["text"], number=answer.answer_id),
        status=status,
        answer=answer,
        stimulus=_stimulus(visit, answer),
        word=item.word,
        faults=_faults(visit, answer.text, answer.item_id),
        same=same,
        reviews=[(one, visit.say(VERDICTS[one.verdict])) for one in reviews],
        text=text or (latest.text if latest is not None and latest.text else answer.text),
        reason=reason,
        fault=fault,
        after=after if after != answer.answer_id else None,
        n_left=len(left),
        written_in=app.definition.language,
    )


def _answer(visit: Visit, answers: tuple[Written, ...]) -> Written:
    number = path_number(visit.request, "number")
    found = next((one for one in answers if one.answer_id == number), None)
    if found is None:
        raise Refused(404, "not_found", "not_found")
    return found


def _stimulus(visit: Visit, answer: Written) -> Markup:
    """What the writer saw."""
    app = visit.desk.app
    shown = Shown(view=app.study.definition.views[0], side=None, order=())
    screen, item = app.study.screen_of(answer.item_id), app.study.items[answer.item_id]
    return app.pages.stimulus(screen, item, shown, app.definition.language)


def _faults(visit: Visit, text: str, item_id: str) -> list[str]:
    """What the task's rules find in a text, in the task's own words."""
    app = visit.desk.app
    language, screen = app.definition.language, app.study.screen
    return [
        app.pages.fault(key, language, screen.words(language)) for key in screen.faults(text, app.study.items[item_id])
    ]


async def decide_one(visit: Visit) -> Response:
    """Store a decision and lead to the next text that waits."""
    return await asyncio.to_thread(_decide_one, visit)


def _decide_one(visit: Visit) -> Response:
    app = visit.desk.app
    answer = _answer(visit, visit.desk.written())
    verdict, reason = visit.form.get("verdict", ""), bounded(visit.form.get("reason", ""))
    text = bounded(visit.form.get("text", ""), longest=_LONGEST)
    # the editor's field stands beside both buttons: a rejected text is not edited by accident
    edited = text if verdict == "accepted" else None
    try:
        made = decide(
            answer,
            app.study.items[answer.item_id],
            verdict=cast(Verdict, verdict),
            actor=visit.name,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            faults=app.study.screen.faults,
            reason=reason,
            text=edited,
        )
    except InputError as error:
        return _review_one(visit, status=422, fault=_why(visit, error, text, answer), reason=reason, text=text)
    app.store.record_review(made)
    app.store.log("review", actor=visit.name, details={"answer": answer.answer_id, "verdict": verdict})
    left = {one.answer_id for one in visit.desk.written()} - set(latest_reviews(app.store.reviews()))
    after = min((one for one in left if one > answer.answer_id), default=min(left, default=None))
    return visit.go(f"/review/{after}" if after is not None else "/review", said="reviewed")


def _why(visit: Visit, error: InputError, text: str, answer: Written) -> str:
    if error.code == "E642":
        return visit.message("reason_missing")
    if error.code == "E644" and text.strip():
        return " ".join(_faults(visit, text, answer.item_id)) or visit.message("answer_refused")
    return visit.message("text_missing" if error.code == "E644" else "answer_refused")
