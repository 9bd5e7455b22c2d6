"""Items: the number of valid answers of each, its mean and SD so far, and the comments and flags of participants."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.responses import Response

from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.items import shown_columns
from lexiscope.annotation.web.admin.texts import FLAGS
from lexiscope.annotation.web.admin.visit import Visit, list_page
from lexiscope.core.item import Item
from lexiscope.core.screen import Line, Screen

_MEANINGS = ("definition", "sense", "sense_1", "sense_2", "prompt")
"""The conditions that a page shows with the text of an item, as what is asked about it."""


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
        lines_of=lines_by_item(app.study),
        written_in=app.definition.language,
        minimum=minimum,
        n_below=sum(count.valid < minimum for count in summary.items),
        n_items=len(summary.items),
        numbers=app.study.screen.widget == "scale",
        below=below,
        query=sought,
        at=summary.at.isoformat(),
    )


def comments(visit: Visit) -> Response:
    """Show the comments and flags of participants, newest first."""
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
        lines_of=lines_by_item(visit.dashboard.app.study),
        written_in=visit.dashboard.app.definition.language,
        flags={name: visit.translate(text) for name, text in FLAGS.items()},
        # participants paste their ids of the recruiting platform into comments
        clean=summary.clean,
        flagged=flagged,
        at=summary.at.isoformat(),
    )


# -- the texts of an item, as tables show them ----------------------------------------------------------------------


def lines_by_item(study: FrozenStudy) -> Callable[[str], tuple[Line, ...]]:
    """Return the function that gives the lines of an item by its id; none for an unknown item."""
    items: Mapping[str, Item] = study.items

    def lines_of(item_id: str) -> tuple[Line, ...]:
        return item_lines(study.screen_of(item_id), items[item_id]) if item_id in items else ()

    return lines_of


def item_lines(screen: Screen, item: Item) -> tuple[Line, ...]:
    """Return the texts of an item: each usage with its target emphasised, a story whole, and the options if any.

    Options are in alphabetical order, and conditions that participants do not see are not there: neither the order nor
    a column tells the correct answer.

    >>> from lexiscope.core import catalog
    >>> pair = catalog.module("tasks", "relatedness").example_items("en")[0]
    >>> [[text for text, strong in line if strong] for line in item_lines(catalog.screen("relatedness"), pair)]
    [['pitch'], ['pitch']]
    """
    before, after = str(item.conditions.get("precontext") or ""), str(item.conditions.get("ending") or "")
    lines: list[Line] = []
    for number, usage in enumerate(item.usages, start=1):
        lead = f"{before} " if before and number == 1 else ""
        tail = f" {after}" if after and number == len(item.usages) else ""
        text, start, end = usage.text, usage.start, usage.end
        lines.append(((lead + text[:start], False), (text[start:end], True), (text[end:] + tail, False)))
    options = sorted(
        " / ".join("".join(piece for piece, _ in line) for line in choice.lines)
        for choice in screen.options_of(item, screen.views[0])
        if choice.lines
    )
    if options:
        return (*lines, ((" · ".join(options), False),))
    shown = [name for name in _MEANINGS if name in shown_columns(screen) and item.conditions.get(name)]
    return (*lines, *(((f"→ {item.conditions[name]}", False),) for name in shown))
