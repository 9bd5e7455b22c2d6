"""Items: the number of valid answers of each, its mean and SD so far, and what participants flagged."""

from __future__ import annotations

from starlette.responses import Response

from lexiscope.annotation.web.admin.visit import Visit, list_page


def items(visit: Visit) -> Response:
    """Show the items, flagged ones first."""
    app, summary, query = visit.dashboard.app, visit.dashboard.summaries.latest(), visit.request.query_params
    if summary is None:
        return visit.counting_page("items")
    minimum = 0 if app.study.screen.drawn else app.definition.ratings.per_item
    below, sought = query.get("below", "") == "1", query.get("q", "").strip()[:100]
    chosen = [count for count in summary.items if not below or count.valid < minimum]
    texts = {item_id: f"{item_id}\n{item.word}".casefold() for item_id, item in app.study.items.items()}
    chosen = [count for count in chosen if sought.casefold() in texts[count.item_id]]
    page = list_page(visit, chosen, where="/items", below="1" if below else "", q=sought)
    return visit.page(
        "admin_items.html",
        here="items",
        shown=page,
        study_items=app.study.items,
        minimum=minimum,
        n_below=sum(count.valid < minimum for count in summary.items),
        n_items=len(summary.items),
        numbers=app.study.screen.widget == "scale",
        below=below,
        query=sought,
        at=summary.at.isoformat(),
    )


def comments(visit: Visit) -> Response:
    """Show what people wrote beside their answers, and what they flagged, newest first."""
    summary = visit.dashboard.summaries.latest()
    if summary is None:
        return visit.counting_page("comments")
    flagged = visit.request.query_params.get("flagged", "") == "1"
    chosen = [remark for remark in summary.remarks if not flagged or remark.flags]
    chosen.sort(key=lambda remark: remark.answered_at, reverse=True)
    page = list_page(visit, chosen, where="/comments", flagged="1" if flagged else "")
    return visit.page(
        "admin_comments.html",
        here="comments",
        shown=page,
        study_items=visit.dashboard.app.study.items,
        # participants paste their ids of the recruiting platform into comments
        clean=summary.clean,
        flagged=flagged,
        at=summary.at.isoformat(),
    )
