"""Items: the number of valid answers of each, its mean and SD so far, and what participants flagged."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from lexiscope.annotation.store.overview import MarkedAnswer
from lexiscope.annotation.web.admin.paging import list_page
from lexiscope.annotation.web.admin.summary import AnswerSummary, ItemCount
from lexiscope.annotation.web.admin.visit import Visit

_LONGEST = 160


@dataclass(frozen=True, slots=True)
class ItemLine:
    """An item in the table: its word and the beginning of its first text."""

    count: ItemCount
    word: str
    text: str


def items(visit: Visit) -> Response:
    """Show the items, flagged ones first."""
    app, summary, query = visit.dashboard.app, visit.dashboard.summaries.latest(), visit.request.query_params
    if summary is None:
        return visit.counting_page("items")
    minimum = 0 if app.study.screen.drawn else app.definition.ratings.per_item
    below, sought = query.get("below", "") == "1", query.get("q", "").strip()[:100]
    searched = {count.item_id: f"{count.item_id}\n{app.study.items[count.item_id].word}" for count in summary.items}
    chosen = [count for count in summary.items if not below or count.valid < minimum]
    chosen = [count for count in chosen if sought.casefold() in searched[count.item_id].casefold()]
    shown = list_page(visit, chosen, where="/items", below="1" if below else "", q=sought)
    return visit.page(
        "admin_items.html",
        here="items",
        shown=shown,
        lines=[_item_line(visit, count) for count in shown.rows],
        minimum=minimum,
        n_below=sum(count.valid < minimum for count in summary.items),
        n_items=len(summary.items),
        numbers=app.study.screen.widget == "scale",
        below=below,
        query=sought,
        at=summary.at.isoformat(),
    )


def _item_line(visit: Visit, count: ItemCount) -> ItemLine:
    item = visit.dashboard.app.study.items[count.item_id]
    text = item.usages[0].text if item.usages else ""
    return ItemLine(count, item.word if item.usages else "", text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")


@dataclass(frozen=True, slots=True)
class RemarkLine:
    """A remark in the table; its texts have lost what looks like an id of the recruiting platform."""

    item_id: str
    word: str
    who: str
    given: str
    comment: str
    flags: tuple[str, ...]
    at: str


def comments(visit: Visit) -> Response:
    """Show what people wrote beside their answers, and what they flagged, newest first."""
    summary = visit.dashboard.summaries.latest()
    if summary is None:
        return visit.counting_page("comments")
    flagged = visit.request.query_params.get("flagged", "") == "1"
    chosen = [remark for remark in summary.remarks if not flagged or remark.flags]
    chosen.sort(key=lambda remark: remark.answered_at, reverse=True)
    shown = list_page(visit, chosen, where="/comments", flagged="1" if flagged else "")
    lines = [_remark_line(visit, summary, remark) for remark in shown.rows]
    return visit.page(
        "admin_comments.html", here="comments", shown=shown, lines=lines, flagged=flagged, at=summary.at.isoformat()
    )


def _remark_line(visit: Visit, summary: AnswerSummary, remark: MarkedAnswer) -> RemarkLine:
    item = visit.dashboard.app.study.items.get(remark.item_id)
    return RemarkLine(
        item_id=remark.item_id,
        word=item.word if item is not None and item.usages else "",
        who=remark.participant_id,
        given=summary.clean(remark.given),
        comment=summary.clean(remark.comment),
        flags=remark.flags,
        at=remark.answered_at,
    )
