"""Items: how many valid answers each has, its mean and spread so far, and what people flagged."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.responses import Response

from lexiscope.annotation.store.overview import MarkedAnswer
from lexiscope.annotation.web.admin.look import ItemCount, Look
from lexiscope.annotation.web.admin.paging import paged
from lexiscope.annotation.web.admin.visit import Visit

_LONGEST = 160


@dataclass(frozen=True, slots=True)
class ItemLine:
    """An item in the table: its word and the beginning of its first text."""

    count: ItemCount
    word: str
    text: str


async def items(visit: Visit) -> Response:
    """Show the items, flagged ones first."""
    return await asyncio.to_thread(_items, visit)


def _items(visit: Visit) -> Response:
    app, look, query = visit.desk.app, visit.desk.looks.now(), visit.request.query_params
    if look is None:
        return visit.counting("items")
    minimum = 0 if app.study.screen.drawn else app.definition.ratings.per_item
    below, sought = query.get("below", "") == "1", query.get("q", "").strip()[:100]
    chosen = [one for one in look.items if not below or one.valid < minimum]
    chosen = [one for one in chosen if not sought or sought.casefold() in _searched(visit, one)]
    shown = paged(visit, chosen, where="/items", below="1" if below else "", q=sought)
    return visit.page(
        "admin_items.html",
        here="items",
        shown=shown,
        lines=[_line(visit, one) for one in shown.rows],
        minimum=minimum,
        n_below=sum(one.valid < minimum for one in look.items),
        n_items=len(look.items),
        numbers=app.study.screen.widget == "scale",
        below=below,
        query=sought,
        at=look.at.isoformat(),
    )


def _searched(visit: Visit, one: ItemCount) -> str:
    return f"{one.item_id}\n{visit.desk.app.study.items[one.item_id].word}".casefold()


def _line(visit: Visit, one: ItemCount) -> ItemLine:
    item = visit.desk.app.study.items[one.item_id]
    text = item.usages[0].text if item.usages else ""
    return ItemLine(one, item.word if item.usages else "", text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …")


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


async def comments(visit: Visit) -> Response:
    """Show what people wrote beside their answers, and what they flagged, newest first."""
    return await asyncio.to_thread(_comments, visit)


def _comments(visit: Visit) -> Response:
    look = visit.desk.looks.now()
    if look is None:
        return visit.counting("comments")
    flagged = visit.request.query_params.get("flagged", "") == "1"
    chosen = [one for one in look.remarks if not flagged or one.flags]
    chosen.sort(key=lambda one: one.answered_at, reverse=True)
    shown = paged(visit, chosen, where="/comments", flagged="1" if flagged else "")
    lines = [_remark(visit, look, one) for one in shown.rows]
    return visit.page(
        "admin_comments.html", here="comments", shown=shown, lines=lines, flagged=flagged, at=look.at.isoformat()
    )


def _remark(visit: Visit, look: Look, one: MarkedAnswer) -> RemarkLine:
    return RemarkLine(
        item_id=one.item_id,
        word=_word(visit, one.item_id),
        who=one.participant_id,
        given=look.clean(one.given),
        comment=look.clean(one.comment),
        flags=one.flags,
        at=one.answered_at,
    )


def _word(visit: Visit, item_id: str) -> str:
    item = visit.desk.app.study.items.get(item_id)
    return item.word if item is not None and item.usages else ""
