"""The results so far: agreement, distribution of the answers, arrivals, progress of the lists, items by spread.

Each figure has its data as a table and as a CSV file. Names, conditions and correct answers are in none of them.

Figures are inline SVG: text is text, colours are classes of the style sheet. Each figure is drawn twice by the same
function, for a wide and for a narrow screen (:data:`WIDTHS`), and is never scaled: its letters keep their size. A mark
has its values as title and as label; the keyboard moves from mark to mark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup, escape
from starlette.responses import Response

from lexiscope.annotation.distributions import Distribution, TimeBin, arrivals
from lexiscope.annotation.monitor import MonitoredStatistic
from lexiscope.annotation.phrases import NO_ANSWERS, RESAMPLED, STATISTICS, Phrase, msg, plural
from lexiscope.annotation.web.admin.item_pages import lines_by_item
from lexiscope.annotation.web.admin.overview_page import ListLine, list_lines, needs_of
from lexiscope.annotation.web.admin.summary import AnswerSummary
from lexiscope.annotation.web.admin.texts import VIEWS
from lexiscope.annotation.web.admin.visit import Visit, list_page
from lexiscope.annotation.web.security import Refused
from lexiscope.items.tables.neutral import Cell, csv_text

MOST_LISTS = 40
"""The most lists in a figure; the table has all."""
_DATE = 10
_MINUTE = 16

_SUBJECTS: Mapping[str, str] = {
    "ratings": msg("Distribution of the ratings"),
    "options": msg("Distribution of the answers"),
    "shares": msg("Items by the share of their most frequent answer"),
    "lengths": msg("Length of the texts"),
}
_AXES: Mapping[str, str] = {
    "ratings": msg("Ratings"),
    "options": msg("Answers"),
    "shares": msg("Items"),
    "lengths": msg("Texts"),
}
_HEADS: Mapping[str, str] = {
    "ratings": msg("Rating"),
    "options": msg("Answer"),
    "shares": msg("Share from"),
    "lengths": msg("Words from"),
}


@dataclass(frozen=True, slots=True)
class DataColumn:
    """A column of a figure's data: its heading, its name in the CSV file, and the digits of its numbers (0: whole)."""

    head: str
    name: str
    digits: int = 0
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class FigureView:
    """A figure with its heading, its answer in sentences, the drawing, and its data.

    Without data there is no drawing, and ``empty`` is the reason.
    """

    name: str
    title: str
    sentences: tuple[str, ...]
    drawing: Markup
    columns: tuple[DataColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    empty: str = ""


def results(visit: Visit) -> Response:
    """Show the results so far."""
    summary = visit.dashboard.summaries.latest()
    if summary is None:
        return visit.counting_page("results")
    app = visit.dashboard.app
    page = list_page(visit, summary.spreads, where="/results", per_page=20)
    texts = {question.measure: question for question in app.definition.about_you}
    return visit.page(
        "admin_results.html",
        here="results",
        figures=_figures(visit, summary),
        shown=page,
        lines_of=lines_by_item(app.study),
        written_in=app.definition.language,
        are_ratings=app.study.screen.widget == "scale",
        several_views=len(app.definition.views) > 1,
        views={name: visit.translate(text) for name, text in VIEWS.items()},
        about=summary.about,
        questions=texts,
        option_texts={
            name: {option.value: option.text for option in question.options} for name, question in texts.items()
        },
        n_valid=len(summary.participants.valid),
        at=summary.at.isoformat(),
    )


def fetch_data(visit: Visit) -> Response:
    """Send the data of a figure, or of the items, as CSV."""
    summary, name = visit.dashboard.summaries.latest(), visit.request.path_params["name"]
    if summary is None:
        return visit.redirect("/results")
    tables = {figure.name: (figure.columns, figure.rows) for figure in _figures(visit, summary)}
    names = ("item_id", "view", "n", "mean", "sd", "share_of_most_frequent")
    item_columns = tuple(DataColumn(name, name) for name in names)
    tables["items"] = (
        item_columns,
        tuple(
            (spread.item_id, spread.view, spread.n, spread.mean, spread.sd, spread.share) for spread in summary.spreads
        ),
    )
    if name not in tables:
        raise Refused(404, "not_found", "not_found")
    columns, rows = tables[name]
    text = csv_text([column.name for column in columns], rows)
    headers = {"content-disposition": f'attachment; filename="results_{name}.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def _figures(visit: Visit, summary: AnswerSummary) -> tuple[FigureView, ...]:
    shown = summary.distributions
    # without an answer there is one empty section, not none
    made = [_distribution_figure(visit, answers, several=len(shown) > 1) for answers in shown] or [
        FigureView(
            "distribution",
            visit.translate(_SUBJECTS["options"]),
            (),
            Markup(""),
            (),
            (),
            empty=visit.say(NO_ANSWERS),
        )
    ]
    return (_agreement_figure(visit, summary.agreement), *made, _arrivals_figure(visit), _lists_figure(visit))


# -- agreement ------------------------------------------------------------------------------------------------------


def _agreement_figure(visit: Visit, statistics: Sequence[MonitoredStatistic]) -> FigureView:
    defined = [statistic for statistic in statistics if statistic.value is not None]
    rows = [_forest_row(visit, statistic) for statistic in defined]
    drawing = forest(rows, label=visit.translate(_AGREEMENT_LABEL)) if rows else Markup("")
    columns = (
        DataColumn(visit.translate(msg("Statistic")), "statistic", is_text=True),
        DataColumn(visit.translate(msg("Value")), "value", 2),
        DataColumn(visit.translate(msg("Low (95 %)")), "low", 2),
        DataColumn(visit.translate(msg("High (95 %)")), "high", 2),
        DataColumn("n", "n"),
    )
    data = tuple((visit.say(STATISTICS[s.name]), s.value, s.low, s.high, s.n) for s in statistics if s in defined)
    sentences = tuple(_agreement_sentence(visit, statistic) for statistic in statistics)
    return FigureView("agreement", visit.translate(msg("Agreement so far")), sentences, drawing, columns, data)


_AGREEMENT_LABEL = msg("Agreement of the participants, from 0 (none) to 1 (perfect), with 95 % intervals")


def _forest_row(visit: Visit, statistic: MonitoredStatistic) -> AgreementRow:
    assert statistic.value is not None
    label = bounded(statistic.value)
    if statistic.low is not None and statistic.high is not None:
        label += f" [{bounded(statistic.low)}, {bounded(statistic.high)}]"
    told = _agreement_sentence(visit, statistic)
    return AgreementRow(label, statistic.value, statistic.low, statistic.high, statistic.raters, told)


def _agreement_sentence(visit: Visit, statistic: MonitoredStatistic) -> str:
    name = STATISTICS[statistic.name]
    if statistic.value is None:
        return visit.say(
            Phrase(msg("%(statistic)s: no value yet. %(reason)s"), {"statistic": name, "reason": statistic.why})
        )
    is_over_raters = statistic.lowest is not None
    n = (
        plural("%(n)s participant", "%(n)s participants", statistic.n)
        if is_over_raters
        else plural("%(n)s answer", "%(n)s answers", statistic.n)
    )
    values: dict[str, object] = {"statistic": name, "value": bounded(statistic.value), "n_text": n}
    if statistic.low is None or statistic.high is None:
        values["reason"] = statistic.no_interval
        return visit.say(Phrase(msg("%(statistic)s: %(value)s, %(n_text)s. %(reason)s"), values))
    values |= {
        "low": bounded(statistic.low),
        "high": bounded(statistic.high),
        "resampled": RESAMPLED.get(statistic.resampled, Phrase("")),
    }
    text = msg("%(statistic)s: %(value)s, 95 %% interval [%(low)s, %(high)s] (%(resampled)s), %(n_text)s.")
    return visit.say(Phrase(text, values))


# -- distribution ---------------------------------------------------------------------------------------------------


def _distribution_figure(visit: Visit, shown: Distribution, *, several: bool) -> FigureView:
    title = visit.translate(_SUBJECTS[shown.kind])
    if several:
        view = visit.translate(VIEWS[shown.view]) if shown.view in VIEWS else shown.view
        title = visit.translate(msg("%(title)s (view: %(view)s)"), title=title, view=view)
    labels = _bar_labels(visit, shown)
    told = [
        visit.say(_BARS[shown.kind](count, label, f"{100 * count / shown.n:.0f}"))
        for label, (_, count) in zip(labels, shown.bars, strict=True)
    ]
    bars = [Bar(label, count, text) for label, (_, count), text in zip(labels, shown.bars, told, strict=True)]
    axis = visit.translate(_AXES[shown.kind])
    columns = (
        DataColumn(visit.translate(_HEADS[shown.kind]), "answer", is_text=True),
        DataColumn("n", "n"),
        DataColumn(visit.translate(msg("Share")), "share", 2),
    )
    data = tuple((label, count, count / shown.n) for label, (_, count) in zip(labels, shown.bars, strict=True))
    suffix = f"_{shown.view}" if several else ""
    drawing = bar_chart(bars, label=title, axis=axis, css="of-people")
    return FigureView(f"distribution{suffix}", title, _distribution_sentences(visit, shown), drawing, columns, data)


def _bar_labels(visit: Visit, shown: Distribution) -> list[str]:
    """Return what is written below the bars; an option that all items share has the words of its button."""
    names = [name for name, _ in shown.bars]
    app = visit.dashboard.app
    if shown.kind == "shares":
        return [bounded(float(name), 1) for name in names]
    if shown.kind != "options" or not app.study.design.items:
        return names
    words = app.study.screen.words(app.definition.language)
    choices = app.study.screen.options_of(app.study.design.items[0], shown.view)
    texts = {choice.value: words.get(f"option_{choice.key}", choice.value) for choice in reversed(choices)}
    return [texts.get(name, name) for name in names]


_BARS: Mapping[str, Callable[[int, str, str], Phrase]] = {
    "ratings": lambda n, label, share: plural(
        "%(label)s: %(n)s rating (%(share)s %%)", "%(label)s: %(n)s ratings (%(share)s %%)", n, label=label, share=share
    ),
    "options": lambda n, label, share: plural(
        "%(label)s: %(n)s answer (%(share)s %%)", "%(label)s: %(n)s answers (%(share)s %%)", n, label=label, share=share
    ),
    "shares": lambda n, label, share: plural(
        "from %(label)s: %(n)s item (%(share)s %%)",
        "from %(label)s: %(n)s items (%(share)s %%)",
        n,
        label=label,
        share=share,
    ),
    "lengths": lambda n, label, share: plural(
        "from %(label)s words: %(n)s text (%(share)s %%)",
        "from %(label)s words: %(n)s texts (%(share)s %%)",
        n,
        label=label,
        share=share,
    ),
}
"""The sentence of a bar, by kind: its count, what is below it, and its share in percent."""


def _distribution_sentences(visit: Visit, shown: Distribution) -> tuple[str, ...]:
    if shown.kind == "ratings" and shown.mean is not None:
        mean, sd = f"{shown.mean:.2f}", "–" if shown.sd is None else f"{shown.sd:.2f}"
        text = plural(
            "%(n)s rating: mean %(mean)s, SD %(sd)s.",
            "%(n)s ratings: mean %(mean)s, SD %(sd)s.",
            shown.n,
            mean=mean,
            sd=sd,
        )
        return (visit.say(text),)
    if shown.kind == "shares" and shown.mean is not None:
        text = plural(
            "%(n)s item: mean share of the most frequent answer %(mean)s.",
            "%(n)s items: mean share of the most frequent answer %(mean)s.",
            shown.n,
            mean=bounded(shown.mean),
        )
        return (visit.say(text),)
    if shown.kind == "lengths" and shown.mean is not None:
        mean = f"{shown.mean:.1f}"
        text = plural(
            "%(n)s text: mean length %(mean)s words.", "%(n)s texts: mean length %(mean)s words.", shown.n, mean=mean
        )
        return (visit.say(text),)
    return (visit.say(plural("%(n)s answer.", "%(n)s answers.", shown.n)),)


# -- arrivals -------------------------------------------------------------------------------------------------------


def _arrivals_figure(visit: Visit) -> FigureView:
    bins = arrivals(visit.dashboard.people())
    title = visit.translate(msg("Arrivals over time (UTC)"))
    if not bins:
        empty = visit.translate(msg("No participants yet."))
        return FigureView("arrivals", title, (), Markup(""), (), (), empty=empty)
    labels = _time_labels(bins)
    bars = [
        Bar(label, span.started, _arrival_sentence(visit, label, span))
        for label, span in zip(labels, bins, strict=True)
    ]
    columns = (
        DataColumn(visit.translate(msg("Time (UTC)")), "from_utc", is_text=True),
        DataColumn(visit.translate(msg("Started")), "started"),
        DataColumn(visit.translate(msg("Finished")), "finished"),
    )
    data = tuple((span.start.isoformat()[:_MINUTE].replace("T", " "), span.started, span.finished) for span in bins)
    drawing = bar_chart(bars, label=title, axis=visit.translate(msg("Started")), css="of-people")
    started, finished = sum(span.started for span in bins), sum(span.finished for span in bins)
    sentence = plural(
        "%(n)s participant has started; finished: %(finished)s.",
        "%(n)s participants have started; finished: %(finished)s.",
        started,
        finished=finished,
    )
    return FigureView("arrivals", title, (visit.say(sentence),), drawing, columns, data)


def _time_labels(bins: Sequence[TimeBin]) -> list[str]:
    """Return the times of bins: days as month and day, parts of a day with the hour."""
    hourly = any(span.start.hour for span in bins) or len(bins) == 1
    form: Callable[[datetime], str] = (
        (lambda start: start.strftime("%m-%d %H:%M")) if hourly else (lambda start: start.strftime("%m-%d"))
    )
    return [form(span.start) for span in bins]


def _arrival_sentence(visit: Visit, label: str, span: TimeBin) -> str:
    return visit.translate(
        msg("%(time)s: started %(started)s, finished %(finished)s"),
        time=label,
        started=span.started,
        finished=span.finished,
    )


# -- lists ----------------------------------------------------------------------------------------------------------


def _lists_figure(visit: Visit) -> FigureView:
    app = visit.dashboard.app
    loads = app.store.loads()
    needs = needs_of(loads, need=app.study.quota.need, planned=app.study.record.places.items())
    lines = list_lines(loads, needs, app.study.record.views)
    rows = [_progress_row(visit, line) for line in lines[:MOST_LISTS]]
    title = visit.translate(msg("Progress of the lists"))
    columns = (
        DataColumn(visit.translate(msg("List")), "list", is_text=True),
        *((DataColumn(visit.translate(msg("View")), "view", is_text=True),) if lines and lines[0].view else ()),
        DataColumn(visit.translate(msg("Needed")), "needed"),
        DataColumn(visit.translate(msg("Valid")), "valid"),
        DataColumn(visit.translate(msg("Active")), "active"),
        DataColumn(visit.translate(msg("Excluded")), "excluded"),
    )
    data = tuple(
        (
            line.list_id,
            *((_view_text(visit, line.view),) if line.view else ()),
            line.need,
            line.valid,
            line.active,
            line.excluded,
        )
        for line in lines
    )
    complete = sum(not line.missing for line in lines)
    sentences = [
        visit.say(
            plural(
                "%(complete)s of %(n)s list has its valid participants.",
                "%(complete)s of %(n)s lists have their valid participants.",
                len(lines),
                complete=complete,
            )
        )
    ]
    if len(lines) > MOST_LISTS:
        sentences.append(visit.translate(msg("The figure has the first %(n)s lists; the table has all."), n=MOST_LISTS))
    return FigureView("lists", title, tuple(sentences), progress_chart(rows, label=title), columns, data)


def _progress_row(visit: Visit, line: ListLine) -> ProgressRow:
    label = visit.translate(msg("List %(list)s"), list=line.list_id)
    if line.view:
        label = f"{label} ({_view_text(visit, line.view)})"
    told = visit.translate(
        msg("%(list)s: %(valid)s of %(need)s valid, %(active)s active"),
        list=label,
        valid=line.valid,
        need=line.need,
        active=line.active,
    )
    return ProgressRow(label, line.valid, line.active, line.need, told)


def _view_text(visit: Visit, view: str) -> str:
    return visit.translate(VIEWS[view]) if view in VIEWS else view


WIDTHS = {"wide": 704, "narrow": 320}
"""The widths in which a figure is drawn. *Unit:* CSS pixels."""
_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM, _ROW = 230, 44, 12, 24, 40, 30
_LETTER = 7.2
"""The width of an average letter of a label. *Unit:* CSS pixels."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart: what is written below it, its count, and its values as a sentence for hover and assistive
    technology."""

    label: str
    count: int
    told: str


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """A statistic with its interval, the single values behind it, and all of it as a sentence."""

    label: str
    value: float
    low: float | None
    high: float | None
    dots: tuple[float, ...]
    told: str


@dataclass(frozen=True, slots=True)
class ProgressRow:
    """A list: its name, its valid and active participants, how many it needs, and all of it as a sentence."""

    label: str
    valid: int
    active: int
    need: int
    told: str


def drawn_twice(draw: Callable[[int], Markup]) -> Markup:
    """Return a drawing for wide and for narrow screens; the style sheet shows one of them."""
    return Markup("").join(
        Markup('<div class="drawing {}">{}</div>').format(name, draw(width)) for name, width in WIDTHS.items()
    )


def bounded(value: float, digits: int = 2) -> str:
    """Return a value between −1 and 1 as APA style prints it.

    >>> bounded(0.5), bounded(-0.25), bounded(1.0)
    ('.50', '−.25', '1.00')
    """
    text = f"{value:.{digits}f}"
    sign, text = ("−", text[1:]) if text.startswith("-") else ("", text)
    return sign + text.removeprefix("0")


def bar_chart(bars: Sequence[Bar], *, label: str, axis: str, css: str = "") -> Markup:
    """Return a chart of counts; *label* says what is drawn, *axis* what the counts count."""

    def draw(width: int) -> Markup:
        most = max(bar.count for bar in bars)
        ticks = _ticks(most)
        inner, height = width - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        step = inner / len(bars)
        top = ticks[-1]
        parts = [_text(_LEFT - 36, 12, axis, "tick")]
        for tick in ticks:
            y = _TOP + height * (1 - tick / top)
            parts += [_line(_LEFT, y, width - _RIGHT, y, "grid"), _text(_LEFT - 6, y + 4, f"{tick:,}", "tick end")]
        # the labels that have room below bars of this width: every one, or every second, third …
        widest = max(len(bar.label) for bar in bars) * _LETTER + 8
        shown = set(range(0, len(bars), max(1, math.ceil(widest / step))))
        for k, bar in enumerate(bars):
            x, size = _LEFT + k * step, height * bar.count / top
            y = _TOP + height - size
            # the whole column takes the pointer: a bar of zero has a title too
            column = Markup('<rect class="hit" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>').format(
                x, _TOP, step, height
            )
            gap = min(6.0, step * 0.15)
            body = Markup('<rect class="bar-mark" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
                x + gap, y, max(1.0, step - 2 * gap), size
            )
            count = _text(x + step / 2, y - 5, f"{bar.count:,}", "value" if step >= 26 else "value on-focus")
            parts.append(_mark(k, bar.told, column + body + (count if bar.count else "")))
            if k in shown:
                parts.append(_text(x + step / 2, _TOP + height + 18, bar.label, "tick middle"))
        parts.append(_line(_LEFT, _TOP + height, width - _RIGHT, _TOP + height, "axis"))
        return _svg(width, _HEIGHT - 14, label, parts, css)

    return drawn_twice(draw)


def forest(rows: Sequence[AgreementRow], *, label: str) -> Markup:
    """Return statistics between −1 and 1 on one axis: estimate, interval, and a dot for each single value above it."""

    def draw(width: int) -> Markup:
        every = [value for row in rows for value in (row.value, row.low, row.high, *row.dots) if value is not None]
        lowest = -1.0 if min(every) < -0.5 else -0.5 if min(every) < 0 else 0.0
        inner, block = width - 24, 78
        height = block * len(rows) + 30

        def at(value: float) -> float:
            return 12 + inner * (min(max(value, lowest), 1.0) - lowest) / (1.0 - lowest)

        parts: list[Markup] = []
        for k in range(5):
            tick = lowest + (1.0 - lowest) * k / 4
            parts.append(_line(at(tick), 8, at(tick), height - 24, "grid"))
            anchor = "start" if k == 0 else "end" if k == 4 else "middle"
            parts.append(_text(at(tick), height - 8, bounded(tick) if tick else "0", f"tick {anchor}"))
        if lowest < 0:
            parts.append(_line(at(0), 8, at(0), height - 24, "axis"))
        for k, row in enumerate(rows):
            y = block * k + 58
            body = [
                Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="3.5"/>').format(at(value), y - 16 - lift)
                for value, lift in _stacked(row.dots, at)
            ]
            if row.low is not None and row.high is not None:
                body.append(_line(at(row.low), y, at(row.high), y, "interval"))
            body.append(Markup('<circle class="estimate" cx="{:.1f}" cy="{:.1f}" r="5"/>').format(at(row.value), y))
            place, anchor = (at(row.high or row.value) + 10, "start")
            if place > width - 110:
                place, anchor = (at(row.low if row.low is not None else row.value) - 10, "end")
            body.append(_text(place, y + 4.5, row.label, f"value {anchor}"))
            parts.append(_mark(k, row.told, Markup("").join(body)))
        return _svg(width, height, label, parts)

    return drawn_twice(draw)


def progress_chart(rows: Sequence[ProgressRow], *, label: str) -> Markup:
    """Return the progress of lists: a line from 0 to what a list needs, valid participants filled, active ones open."""

    def draw(width: int) -> Markup:
        longest = max(len(row.label) for row in rows)
        left = min(width // 3, int(longest * _LETTER) + 14)
        right = 66
        most = max(1, *(max(row.need, row.valid + row.active) for row in rows))
        inner = width - left - right
        parts: list[Markup] = []
        for k, row in enumerate(rows):
            y = _ROW * k + 20

            def at(n: int) -> float:
                return left + inner * n / most

            body = [
                _line(at(0), y, at(row.need), y, "track"),
                _line(at(0), y, at(row.valid), y, "done") if row.valid else Markup(""),
                _line(at(row.need), y - 7, at(row.need), y + 7, "goal"),
            ]
            if row.active:
                body.append(_line(at(row.valid), y, at(row.valid + row.active), y, "under-way"))
            body.append(_text(0, y + 4.5, row.label, "name"))
            body.append(_text(width - right + 8, y + 4.5, f"{row.valid} / {row.need}", "value start"))
            parts.append(_mark(k, row.told, Markup("").join(body)))
        return _svg(width, _ROW * len(rows) + 12, label, parts)

    return drawn_twice(draw)


# -- pieces ---------------------------------------------------------------------------------------------------------


def _svg(width: int, height: float, label: str, parts: Iterable[Markup], css: str = "") -> Markup:
    # a group, not an image: the marks in it are reached one by one
    frame = Markup('<svg class="plot-svg {}" width="{}" height="{:.0f}" viewBox="0 0 {} {:.0f}"').format(
        css, width, height, width, height
    )
    return frame + Markup(' role="group" aria-label="{}">{}</svg>').format(label, Markup("").join(parts))


def _mark(number: int, told: str, body: Markup) -> Markup:
    """Return a mark that takes the pointer and the keyboard; one of a figure is in the order of Tab."""
    return Markup('<g class="mark" role="img" tabindex="{}" aria-label="{}"><title>{}</title>{}</g>').format(
        0 if number == 0 else -1, told, told, body
    )


def _text(x: float, y: float, text: str, css: str) -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}">{}</text>').format(css, x, y, escape(text))


def _line(x1: float, y1: float, x2: float, y2: float, css: str) -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(css, x1, y1, x2, y2)


def _ticks(most: int) -> list[int]:
    """Return up to five round numbers from 0 to the first that is not below *most*.

    >>> _ticks(37), _ticks(3), _ticks(0)
    ([0, 10, 20, 30, 40], [0, 1, 2, 3], [0, 1])
    """
    size = 10 ** max(0, len(str(max(1, most // 4))) - 1)
    step = next(size * k for k in (1, 2, 5, 10, 20) if size * k * 4 >= most)
    return [step * k for k in range(max(1, -(-most // step)) + 1)]


def _stacked(values: Sequence[float], at: Callable[[float], float]) -> list[tuple[float, float]]:
    """Return values with the lift of each, so that dots in one place are above each other. *Unit:* pixels."""
    heights: dict[int, int] = {}
    lifted = []
    for value in sorted(values):
        column = round(at(value) / 7)
        heights[column] = heights.get(column, 0) + 1
        lifted.append((value, min(3.0, heights[column] - 1) * 8))
    return lifted
