"""Exclusions by rule, and the review queue: texts of participants, accepted, rejected with a reason, or edited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from markupsafe import Markup
from starlette.responses import Response

from lexiscope.annotation.store.overview import stored_reviews
from lexiscope.annotation.store.record import Review, State, Verdict
from lexiscope.annotation.web.admin.item_pages import item_lines
from lexiscope.annotation.web.admin.people_pages import person_line
from lexiscope.annotation.web.admin.texts import ITEM_FAULTS, NO_ITEMS, ONE, VERDICTS
from lexiscope.annotation.web.admin.visit import Visit, form_text, list_page
from lexiscope.annotation.web.security import Refused, path_number
from lexiscope.annotation.writing.review import (
    NOT_REVIEWED,
    WrittenText,
    latest_reviews,
    make_review,
    same_texts,
    status_of,
)
from lexiscope.annotation.writing.stages import item_file
from lexiscope.annotation.writing.staging import Stage, stage_of
from lexiscope.core.errors import InputError, LexiscopeError
from lexiscope.core.screen import Line, Shown


def exclusions(visit: Visit) -> Response:
    """Show the rules in their order with the effect of each, and the excluded participants."""
    app, summary = visit.dashboard.app, visit.dashboard.summaries.latest()
    if summary is None:
        return visit.counting_page("exclusions")
    excluded = [person for person in visit.dashboard.people() if person.state is State.EXCLUDED]
    excluded.sort(key=lambda person: person.last_at, reverse=True)
    page = list_page(visit, excluded, where="/exclusions")
    applied_at = app.flow.exclusion_rules.applied_at
    return visit.page(
        "admin_exclusions.html",
        here="exclusions",
        rules=list(zip((*app.definition.exclusions, ""), summary.participants.rules, strict=False)),
        shown=page,
        lines=[person_line(visit, person) for person in page.rows],
        judged=applied_at.isoformat() if applied_at is not None else "",
        at=summary.at.isoformat(),
    )


def judge(visit: Visit) -> Response:
    """Apply the exclusion rules now."""
    app = visit.dashboard.app
    app.store.log("judge", actor=visit.name)
    try:
        app.flow.exclusion_rules.apply()
    except LexiscopeError:
        return visit.redirect("/exclusions", said="judging_failed")
    visit.dashboard.refresh()
    return visit.redirect("/exclusions", said="judged")


_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class TextLine:
    """A text in the table: the answer with its item, the decision, and the edited text if there is one."""

    answer: WrittenText
    lines: tuple[Line, ...]
    verdict: str
    verdict_text: str
    edited: str


def review(visit: Visit, *, code: int = 200, items_fault: str = "") -> Response:
    """Show the texts; by default those that are not reviewed."""
    answers, decided = visit.dashboard.written_texts(), latest_reviews(visit.dashboard.app.store.read(stored_reviews))
    verdict = visit.request.query_params.get("verdict", NOT_REVIEWED)
    counts = Counter(status_of(answer, decided) for answer in answers)
    chosen = [answer for answer in answers if verdict not in VERDICTS or status_of(answer, decided) == verdict]
    writing = visit.dashboard.app.study.screen.writing
    page = list_page(visit, chosen, where="/review", verdict=verdict)
    return visit.page(
        "admin_review.html",
        here="review",
        shown=page,
        lines=[_text_line(visit, answer, decided.get(answer.answer_id)) for answer in page.rows],
        verdicts=[(name, visit.translate(text), counts[name]) for name, text in VERDICTS.items()],
        verdict=verdict,
        written_in=visit.dashboard.app.definition.language,
        n_texts=len(answers),
        status=code,
        items_fault=items_fault,
        has_items=writing is not None and writing.text == "ending",
        counts=_stage(visit).counts() if writing is not None else None,
    )


def _stage(visit: Visit) -> Stage:
    app = visit.dashboard.app
    if app.study.screen.writing is None:
        raise Refused(404, "not_found", "not_found")
    return stage_of(app.study, app.store)


def fetch_table(visit: Visit) -> Response:
    """Send every text with its verdict as a table."""
    stage = _stage(visit)
    return _csv_response(stage.writing.file, stage.table())


def fetch_items(visit: Visit) -> Response:
    """Send the items of the next study; if texts are missing, the review page names what is missing."""
    stage = _stage(visit)
    if stage.of_sentences:
        raise Refused(404, "not_found", "not_found")
    leave_out = visit.request.query_params.get("leave_out") == "1"
    try:
        text = item_file(stage.rating_items(leave_out_incomplete=leave_out))
    except InputError as error:
        return review(visit, code=409, items_fault=visit.translate(ITEM_FAULTS.get(error.code or "", NO_ITEMS)))
    return _csv_response(f"{stage.writing.next_task}_items.csv", text)


def _csv_response(name: str, text: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def _text_line(visit: Visit, answer: WrittenText, decided: Review | None) -> TextLine:
    verdict = decided.verdict if decided is not None else NOT_REVIEWED
    item = visit.dashboard.app.study.items[answer.item_id]
    edited = decided.text or "" if decided is not None else ""
    lines = item_lines(visit.dashboard.app.study.screen, item)
    return TextLine(answer, lines, verdict, visit.translate(VERDICTS[verdict]), edited)


def review_one(visit: Visit, *, status: int = 200, fault: str = "", reason: str = "", text: str = "") -> Response:
    """Show one text with its item, its faults, and the form of the decision."""
    app, answers = visit.dashboard.app, visit.dashboard.written_texts()
    answer = _find_answer(visit, answers)
    every_review = app.store.read(stored_reviews)
    decided = latest_reviews(every_review)
    reviews = [made for made in every_review if made.answer_id == answer.answer_id]
    item, latest = app.study.items[answer.item_id], reviews[-1] if reviews else None
    not_reviewed = {written.answer_id for written in answers if status_of(written, decided) == NOT_REVIEWED}
    after = _next_of(not_reviewed, answer.answer_id)
    return visit.page(
        "admin_review_one.html",
        here="review",
        title=visit.translate(ONE["text"], number=answer.answer_id),
        status=status,
        answer=answer,
        stimulus=_stimulus(visit, answer),
        word=item.word,
        faults=_faults(visit, answer.text, answer.item_id),
        same=same_texts(answers).get(answer.answer_id),
        reviews=[(made, visit.translate(VERDICTS[made.verdict])) for made in reviews],
        text=text or (latest.text if latest is not None and latest.text else answer.text),
        reason=reason,
        fault=fault,
        after=after if after != answer.answer_id else None,
        n_left=len(not_reviewed),
        written_in=app.definition.language,
    )


def _find_answer(visit: Visit, answers: tuple[WrittenText, ...]) -> WrittenText:
    number = path_number(visit.request, "number")
    answer = next((written for written in answers if written.answer_id == number), None)
    if answer is None:
        raise Refused(404, "not_found", "not_found")
    return answer


def _next_of(answer_ids: Collection[int], answer_id: int) -> int | None:
    """Return the next higher id, or the lowest after the last one; ``None`` if there is none."""
    return min((other for other in answer_ids if other > answer_id), default=min(answer_ids, default=None))


def _stimulus(visit: Visit, answer: WrittenText) -> Markup:
    """Return what the writer saw of the item."""
    app = visit.dashboard.app
    shown = Shown(view=app.study.definition.views[0], side=None, order=())
    screen, item = app.study.screen_of(answer.item_id), app.study.items[answer.item_id]
    return app.pages.stimulus(screen, item, shown, app.definition.language)


def _faults(visit: Visit, text: str, item_id: str) -> list[str]:
    """Return which of the task's rules a text breaks, in the task's own words."""
    app = visit.dashboard.app
    language, screen = app.definition.language, app.study.screen
    return [
        app.pages.fault(key, language, screen.words(language)) for key in screen.faults(text, app.study.items[item_id])
    ]


def decide_one(visit: Visit) -> Response:
    """Store a decision and lead to the next text without one."""
    app = visit.dashboard.app
    answer = _find_answer(visit, visit.dashboard.written_texts())
    verdict, reason = visit.form.get("verdict", ""), form_text(visit.form.get("reason", ""))
    text = form_text(visit.form.get("text", ""), longest=_LONGEST)
    # the editor's field is next to both buttons: a rejected text is not edited by accident
    edited = text if verdict == "accepted" else None
    try:
        decision = make_review(
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
        return review_one(
            visit, status=422, fault=_decision_fault(visit, error, text, answer), reason=reason, text=text
        )
    app.store.record_review(decision)
    app.store.log("review", actor=visit.name, details={"answer": answer.answer_id, "verdict": verdict})
    reviewed = latest_reviews(app.store.read(stored_reviews))
    after = _next_of({w.answer_id for w in visit.dashboard.written_texts()} - set(reviewed), answer.answer_id)
    return visit.redirect(f"/review/{after}" if after is not None else "/review", said="reviewed")


def _decision_fault(visit: Visit, error: InputError, text: str, answer: WrittenText) -> str:
    if error.code == "E642":
        return visit.message("reason_missing")
    if error.code == "E644" and text.strip():
        return " ".join(_faults(visit, text, answer.item_id)) or visit.message("answer_refused")
    return visit.message("text_missing" if error.code == "E644" else "answer_refused")
