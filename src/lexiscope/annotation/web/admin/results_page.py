"""The results so far: agreement, distribution of the answers, arrivals, progress of the lists, items by spread.

Each figure has its data as a table and as a CSV file. Names, conditions and correct answers are in none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup
from starlette.responses import Response

from lexiscope.annotation.distributions import Distribution, TimeBin, arrivals
from lexiscope.annotation.monitor import MonitoredStatistic
from lexiscope.annotation.phrases import NO_ANSWERS, RESAMPLED, STATISTICS, Phrase, msg, plural
from lexiscope.annotation.web.admin.figures import (
    AgreementRow,
    Bar,
    ProgressRow,
    bar_chart,
    bounded,
    forest,
    progress_chart,
)
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
        _no_distribution(visit)
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


def _no_distribution(visit: Visit) -> FigureView:
    title = visit.translate(_SUBJECTS["options"])
    return FigureView("distribution", title, (), Markup(""), (), (), empty=visit.say(NO_ANSWERS))


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
