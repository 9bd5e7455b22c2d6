"""Biases as records, as drawn and as sections: the verdict on a dataset, and its errors to browse."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.analysis.bias.attribution import LostEvidence, changed_share, word_attributions
from lexiscope.analysis.bias.bias import Bias, ViewDifference
from lexiscope.analysis.bias.guess_flips import Guess, count_flips
from lexiscope.analysis.bias.verdict import Verdict
from lexiscope.analysis.bias.view_errors import SEVERAL, ViewError, ViewErrors, distractor_by_overlap, view_errors
from lexiscope.analysis.bias.view_scores import ViewValue
from lexiscope.core.item import Item
from lexiscope.core.result import Estimate, Interval, Record, Undefined, statistic_name
from lexiscope.core.showing import counted
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.answers.sense_options import glosses_of
from lexiscope.report.document import Section
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Part, find_record, with_interval
from lexiscope.report.parts.bias_tables import BiasRow, GapRow, flips_table
from lexiscope.report.pivot import Col, pivot, rows_of
from lexiscope.report.plots.accuracy import Dot
from lexiscope.report.plots.bias import PlanePoint, ViewBar, bias_plane, minimum_gaps, view_bars
from lexiscope.report.tables import (
    Cell,
    Column,
    Format,
    Head,
    IntervalCell,
    Missing,
    Table,
    drop_empty,
    format_number,
    interval_text,
    table_of,
)

_POINTS = Format("number", 1)
_ITEM_SETS = {
    "all": "All items",
    "kept": "Kept items",
    "random": "As many random items",
    "kept,minus=all": "Kept − all",
    "kept,minus=random": "Kept − random",
}
"""The sets of items of a re-balancing, and the changes between them, with what a column calls them."""
CAPTION = "Intervals: 95 %, words resampled, the same in all views."
_NOT_THERE = "one of its views is not there"
_DRAWN = ("full", "context", "word", "label")


def bias_records(row: BiasRow) -> tuple[Record, ...]:
    """Return every number of one subject on one dataset: scores by view, biases, differences, minimum gap.

    The metric is in the name of a bias: ``context_bias(metric=accuracy)``. *Unit:* share (0 to 1) or correlation.
    """
    biases, metric = row.biases, row.biases.metric
    empty = Record(metric, None, row.subject, row.dataset, n=None, note=_NOT_THERE)
    records = [_score_record(replace(empty, view=value.view), value) for value in biases.views]
    records += [
        _bias_record(empty, bias, metric) for bias in (biases.context, biases.word, biases.context_span) if bias
    ]
    differences = (
        ("context", "label", biases.context_over_label),
        ("word", "label", biases.word_over_label),
        ("full", "label", biases.full_over_label),
        ("full", "context", biases.context_gap),
        ("full", "word", biases.word_gap),
    )
    records += [_difference_record(empty, *names, metric) for names in differences]
    gap = replace(empty, statistic=statistic_name("minimum_gap", metric=metric))
    if biases.minimum_gap is not None:
        nearest = f"nearest to full: {biases.minimum_gap.nearest}"
        gap = with_interval(replace(gap, value=biases.minimum_gap.value, note=nearest), biases.minimum_gap.interval)
    return (*records, gap)


def gap_records(row: GapRow) -> tuple[Record, ...]:
    """Return people minus model in each view as records."""
    name = statistic_name("people_minus_model", metric="accuracy")
    return tuple(
        with_interval(
            Record(name, gap.value, row.subject, row.dataset, view=gap.view, n=gap.model.n or None, note=gap.note),
            gap.interval,
        )
        for gap in row.gaps
    )


def plane_figures(rows: Sequence[BiasRow], *, people: Collection[str] = ()) -> tuple[Figure, ...]:
    """Return the plane of the first model of each dataset and of people (Figure 1), and that of others (Figure 4).

    Of one dataset there are few points: all of them are drawn together.
    """
    firsts = {row.dataset: row.subject for row in reversed(rows) if row.subject not in people}
    first = [len(firsts) == 1 or row.subject in {*people, firsts.get(row.dataset)} for row in rows]
    figures = []
    for wanted, name, number, title in (
        (True, "figure_1_plane", "1", "Context bias and word bias"),
        (False, "figure_4_plane", "4", "Context bias and word bias of further models"),
    ):
        points = plane_points([row for row, own in zip(rows, first, strict=True) if own is wanted], people=people)
        if any(point.is_defined for point in points):
            figures.append(bias_plane(points, Heading(name, number, title, CAPTION), order=_subjects(rows)))
    return tuple(figures)


def bar_figures(rows: Sequence[BiasRow]) -> tuple[Figure, ...]:
    """Return the scores by view as bars, with the score of a random answer (Figure 2); none without a score."""
    bars = [bar for bar in score_bars(rows) if bar.view in _DRAWN]
    random = {row.dataset: 100 * value.value for row in rows if (value := row.biases.view("random")) is not None}
    heading = Heading("figure_2_views", "2", "Accuracy by view", CAPTION)
    return (view_bars(bars, heading, random=tuple(random.items()), order=_subjects(rows)),) if bars else ()


def gap_figures(rows: Sequence[BiasRow], *, people: Collection[str] = ()) -> tuple[Figure, ...]:
    """Return the minimum gaps (Figure 3); none if no gap has a value."""
    dots = gap_dots(rows, people=people)
    if all(math.isnan(dot.value) for dot in dots):
        return ()
    title = "What word and context give together, beyond the better of the two"
    heading = Heading("figure_3_gaps", "3", title, f"{CAPTION} Points: accuracy times 100.")
    return (minimum_gaps(dots, heading, order=_subjects(rows)),)


def _subjects(rows: Sequence[BiasRow]) -> tuple[str, ...]:
    # all subjects of a report, so that one has the same mark in all its figures
    return tuple(dict.fromkeys(row.subject for row in rows))


def plane_points(rows: Sequence[BiasRow], *, people: Collection[str] = ()) -> tuple[PlanePoint, ...]:
    """Return the places of subjects in the bias plane; *people* are the subjects that are people."""
    points = []
    for row in rows:
        context, word = row.biases.context, row.biases.word
        ends = (context.interval.low, context.interval.high, word.interval.low, word.interval.high)
        points.append(PlanePoint(row.dataset, row.subject, context.value, word.value, row.subject in people, *ends))
    return tuple(points)


def score_bars(rows: Sequence[BiasRow]) -> tuple[ViewBar, ...]:
    """Return the scores by view as bars, times 100."""
    return tuple(
        ViewBar(row.dataset, value.view, row.subject, 100 * value.value, *_times_100(value.interval), value.fixed)
        for row in rows
        for value in row.biases.views
    )


def gap_dots(rows: Sequence[BiasRow], *, people: Collection[str] = ()) -> tuple[Dot, ...]:
    """Return the minimum gaps as dots, times 100; not-a-number where one of the views is not there."""
    dots = []
    for row in rows:
        gap = row.biases.minimum_gap
        value = math.nan if gap is None else 100 * gap.value
        ends = (math.nan, math.nan) if gap is None else _times_100(gap.interval)
        dots.append(Dot(row.dataset, row.subject, value, *ends, people=row.subject in people))
    return tuple(dots)


def _score_record(record: Record, value: ViewValue) -> Record:
    note = f"not measured here: {value.fixed}" if value.fixed else value.note
    known = replace(record, value=value.value, n=value.n or None, note=note)
    return known if value.fixed else with_interval(known, value.interval)


def _bias_record(empty: Record, bias: Bias, metric: str) -> Record:
    record = replace(empty, statistic=statistic_name(f"{bias.view}_bias", metric=metric))
    if not bias.is_defined:
        return replace(record, note=bias.reason, status="undefined")
    return with_interval(replace(record, value=bias.value, note=""), bias.interval)


def _difference_record(
    empty: Record, first: str, second: str, difference: ViewDifference | None, metric: str
) -> Record:
    record = replace(empty, statistic=statistic_name("view_difference", first=first, second=second, metric=metric))
    return (
        record
        if difference is None
        else with_interval(replace(record, value=difference.value, note=""), difference.interval)
    )


def _times_100(interval: Interval) -> tuple[float, float]:
    return 100 * interval.low, 100 * interval.high


def rebalancing_part(
    dataset: str,
    effects: Mapping[str, Sequence[Estimate | Undefined]],
    ranges: Mapping[tuple[str, str], tuple[float, float]],
    *,
    sizes: Sequence[tuple[int, int]],
    n_rounds: int,
    reached: bool,
    chooser: str,
) -> Part:
    """Return the cost of a filter, and how much each part is above LABEL in all items, kept ones and random ones.

    *effects* are those of each learner (:func:`~lexiscope.analysis.bias.bias.effects_of_items` with the items ``all``,
    ``kept`` and ``random``); *ranges*, by learner and part, those over the random draws; *sizes* the kept items of all,
    in the whole and in each half; *chooser* the learner that the filter asks. *Unit:* points in the table and the
    sentences, shares in the records.
    """
    (n_kept, n), *halves = sizes
    n_removed = n - n_kept
    ends = "neither part is above LABEL any more" if reached else "the filter gave up: too few items were left"
    kept_of_halves = " and ".join(f"{kept:,} of {both:,}" for kept, both in halves)
    sentences = [
        f"{n_removed:,} of {n:,} items were removed ({100 * n_removed / n:.0f} %), as many of each answer, in "
        f"{counted(n_rounds, 'round')}, until, for the learner that chose them, {ends}. In the two halves the filter "
        f"keeps {kept_of_halves} items."
    ]
    above = "view_difference(first={view},second=label,metric=accuracy,items="
    records = [record for own in effects.values() for effect in own for record in effect.records()]
    for (learner, view), draws in ranges.items():
        values = [find_record(records, f"{above.format(view=view)}{items})", subject=learner) for items in _ITEM_SETS]
        before, kept, random, change, beyond = (_points_text(record) for record in values if record is not None)
        drawn = " to ".join(format_number(100 * end, _POINTS) for end in draws)
        chose = "it chose the items" if learner == chooser else "it had no part in the choice of items"
        sentences.append(
            f"{learner} ({chose}): {view.upper()} is above LABEL by {before} points in all items and by {kept} in the "
            f"kept ones, a change of {change}. In as many random items it is {random} (draws: {drawn}); the kept ones "
            f"differ from these by {beyond}."
        )
    columns = [Col(head, f"{above}{items})", _POINTS, times=100) for items, head in _ITEM_SETS.items()]
    columns += [
        Col(f"Bias: {head[:1].lower()}{head[1:]}", f"{{view}}_bias(metric=accuracy,items={items})", absent=None)
        for items, head in _ITEM_SETS.items()
    ]
    rows = rows_of(records, "dataset", "subject", "view", names={view: view.upper() for view in _DRAWN})
    title = "What each part gives above LABEL without the items that a part solves, points, and biases"
    note = "Intervals resample words, the same in all sets; those of a bias are Fieller's, of its change percentiles."
    table = pivot("rebalancing", title, records, columns, rows, labels=("Dataset", "Subject", "Part"), notes=(note,))
    cost = [Record("n_removed", n_removed, "", dataset, n=n), Record("removed_share", n_removed / n, "", dataset, n=n)]
    return Part((*cost, *records), (drop_empty(table),), paragraphs=tuple(sentences))


def _points_text(record: Record) -> str:
    cell = Col("", record.statistic, _POINTS, times=100).of(record)
    # without a value there is no number to print, only its reason
    return interval_text(cell, _POINTS) if isinstance(cell, IntervalCell) else str(cell)


# -- sections of the context–word bias study: the verdict on a dataset, and its errors to browse --------------------


MOST_ERRORS = 200
"""The most errors that a table shows; all of them are in the analysis."""
_READING = (
    "A bias is the share of the gain of the whole input over no input that one part gives: 0 is nothing, 1 all. "
    "It is called high, or not high, only where its whole interval lies on one side of the threshold."
)
_RULE = (
    "A distracting word is one of the context that is also in the wrongly chosen entry, and not in the right one; "
    "it need not be what misled the model."
)
_KINDS = (("full", "word"), ("word", "full"))


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """What can be chosen in the place of t and f: a sense or an entry, with its description."""

    name: str
    description: str


def label_choices(items: Sequence[Item], space: SearchSpace | None) -> dict[str, LabelChoice]:
    """Return what can be chosen: the entries of a search, otherwise the senses of the items with their glosses."""
    if space is not None:
        return {entry.entry_id: LabelChoice(entry.name, entry.description) for entry in space.entries}
    return {key: LabelChoice(f"{gloss} ({key})", gloss) for item in items for key, gloss in glosses_of(item).items()}


def verdict_section(title: str, verdict: Verdict, *, section_id: str = "verdict") -> Section:
    """Return the section with the verdict in sentences, the summary first."""
    groups = (verdict.on_model, verdict.on_people, (*verdict.cautions, _READING))
    paragraphs = (verdict.summary, *(" ".join(group) for group in groups if group))
    return Section(section_id, title, paragraphs)


def errors_section(
    kinds: Sequence[ViewErrors],
    *,
    texts: Mapping[str, str] | None = None,
    entries: Mapping[str, str] | None = None,
    section_id: str = "errors",
    most: int = MOST_ERRORS,
) -> Section:
    """Return the error browser: a table for each pair of views, wrong in one and right in the other (Table 3).

    *texts* are the items as they are shown (item id → text), *entries* the names of options (option → entry, its
    description). At most *most* of each kind are shown.
    """
    tables = tuple(_errors_table(kind, texts or {}, entries or {}, f"{section_id}_{n}", most)
                   for n, kind in enumerate(kinds, start=1) if kind.errors)  # fmt: skip
    title = "Errors of one view that another does not make"
    return Section(section_id, title, tuple(map(_error_count_text, kinds)), tables)


def error_browser(
    items: Sequence[Item],
    answers: Mapping[str, Mapping[str, str | None]],
    choices: Mapping[str, LabelChoice],
    *,
    dataset: str,
    subject: str,
    name: str,
    number: str = "",
    most: int = MOST_ERRORS,
) -> Part:
    """Return what a model gets wrong on the whole input and right on the word alone, and the reverse (Table 3).

    *answers* are those of the model to *items* by view; *choices* what it can choose, if that is more than t and f: of
    an error a word of the context is then named that may have led to the choice.
    """
    gold, words = {item.item_id: str(item.gold) for item in items}, {item.item_id: item.word for item in items}
    kinds, records = [], []
    for wrong, right in _KINDS:
        misled = {item.item_id: _distractor(item, answers[wrong].get(item.item_id), choices) for item in items}
        errors = view_errors(gold, answers, wrong=wrong, right=right, words=words, distractors=misled)
        kinds.append(errors)
        statistic = statistic_name("n_errors", wrong=wrong, right=right)
        records.append(Record(statistic, len(errors.errors), subject, dataset, n=errors.n))
    named = any(error.distractor for errors in kinds for error in errors.errors)
    texts = {item.item_id: _item_text(item) for item in items}
    entries = {option: choice.name for option, choice in choices.items()}
    section = errors_section(kinds, texts=texts, entries=entries, section_id=name, most=most)
    sentences = [f"{dataset}, {subject}. {text}" for text in section.paragraphs]
    tables = [replace(table, number=number, title=f"{dataset}, {subject}: {table.title}") for table in section.tables]
    return Part(tuple(records), tuple(tables), paragraphs=(*sentences, *((_RULE,) if named else ())))


def _distractor(item: Item, answer: str | None, choices: Mapping[str, LabelChoice]) -> str:
    golds = str(item.gold).split(SEVERAL)
    if answer is None or answer not in choices or answer in golds:
        return ""
    right = next((choices[key].description for key in golds if key in choices), "")
    usage = item.usages[0]
    return distractor_by_overlap(usage.text, choices[answer].description, right=right, target=usage.target)


def _item_text(item: Item) -> str:
    texts = [usage.bracketed for usage in item.usages]
    definition = item.conditions.get("definition")
    return " ‖ ".join([*texts, str(definition)] if definition else texts)


def _error_count_text(errors: ViewErrors) -> str:
    unanswered = f" Without an answer: {counted(errors.n_unanswered, 'further item')}." if errors.n_unanswered else ""
    wrong, right = errors.wrong_view.upper(), errors.right_view.upper()
    return f"{wrong} wrong and {right} right: {len(errors.errors):,} of {counted(errors.n, 'item')}.{unanswered}"


def _errors_table(
    errors: ViewErrors, texts: Mapping[str, str], entries: Mapping[str, str], name: str, most: int
) -> Table:
    wrong, right = errors.wrong_view.upper(), errors.right_view.upper()
    listed = errors.errors[:most]

    def gold_of(error: ViewError) -> str:
        options = [error.gold] if error.gold in entries else error.gold.split(SEVERAL)
        return "; ".join(entries.get(option, option) for option in options)

    cells: Mapping[Head, Callable[[ViewError], Cell]] = {
        "Item": lambda error: error.item_id,
        "Word": lambda error: error.word,
        "Text": lambda error: (texts.get(error.item_id) or Missing("The text is not available.")) if texts else "",
        "Right": gold_of,
        f"Answered in {wrong}": lambda error: entries.get(error.answer, error.answer),
        Column("Distracting word", note="A word of the context that may have led to the answer."): (
            lambda error: error.distractor or ""
        ),
    }
    more = f"The first {len(listed):,} of {len(errors.errors):,} items are shown." if len(errors.errors) > most else ""
    return drop_empty(table_of(name, f"{wrong} wrong, {right} right", listed, cells, notes=(more,) if more else ()))


# -- words that carry an answer, and guessed words in the place of the word -------------------------------------------


MOST_ITEMS, MOST_WORDS, MOST_OF_AN_ITEM = 30, 12, 3
"""The number of items whose words are shown, and of carrying words that are shown of a view and of an item."""


def attribution_part(
    lost: Sequence[LostEvidence],
    *,
    how: str,
    dataset: str,
    subject: str,
    name: str,
    resamples: int,
    seed: int,
) -> Part:
    """Return what a model loses with each word of one view: pooled with intervals over words, and item by item.

    *how* names the removal (``leave_one_out``, ``shapley``), *name* ends that of the table.
    """
    resampling = {"resamples": resamples, "seed": seed}
    pooled = word_attributions(lost, how=how, most=MOST_WORDS, **resampling)
    results = (changed_share(lost, how=how, **resampling), *pooled)
    records = [record for result in results for record in result.about(dataset=dataset, subject=subject).records()]
    by_item: dict[str, list[LostEvidence]] = {}
    for row in lost:
        by_item.setdefault(row.item_id, []).append(row)
    rows = []
    for item, own in list(by_item.items())[:MOST_ITEMS]:
        best = sorted(own, key=lambda row: (-row.value, row.word))[:MOST_OF_AN_ITEM]
        changing = ", ".join(row.word for row in own if row.flips)
        rows.append((item, ", ".join(f"{row.word} ({row.value:.2f})" for row in best), changing or None))
    columns = (Column("Item"), Column("Words that carry most (loss)"), Column("Words that change the answer"))
    title = f"Item by item: {dataset}, {subject}, {lost[0].view.upper()}"
    return Part(tuple(records), (Table(f"words_{name}", "", title, columns, tuple(rows)),))


def attribution_tables(records: Sequence[Record], *, how: str) -> tuple[Table, Table]:
    """Return the answers that change with a word, and the words that carry answers, of all models and views."""
    named = {record.statistic for record in records}
    units = (("Log odds lost (nats)", "log_odds"), ("Accuracy lost", "accuracy"))
    losses = [(header, statistic_name("word_attribution", method=how, unit=unit)) for header, unit in units]
    columns = [Col(header, name, Format("number", 2), absent=None) for header, name in losses if name in named]
    counted = Col("Items", tuple(name for _, name in losses), show="n", absent=None)
    keys, labels = ("dataset", "subject", "view"), ("Dataset", "Subject", "View")
    share = statistic_name("changed_answer_share", method=how)
    shares = [record for record in records if not record.condition]
    words = [record for record in records if record.condition]
    changed = pivot(
        "changed_answers",
        "Answers that change if a word is removed",
        shares,
        (Col("Answers that change, %", share, Format("number", 1), times=100), Col("Items", share, show="n")),
        rows_of(shares, *keys),
        labels=labels,
    )
    carrying = pivot(
        "carrying_words",
        "Words that carry the answer",
        words,
        (*columns, counted),
        rows_of(words, *keys, "condition"),
        labels=(*labels, "Word"),
    )
    return changed, carrying


def flips_part(flips: Sequence[Guess], *, dataset: str, subject: str, name: str, number: str = "") -> Part:
    """Return the number of guesses, of valid ones, and how often a model keeps its answer (Tables 1 and 8)."""
    counts = count_flips(flips)
    kept = counts.insensitive if counts.sensitive_items else None
    why = "" if kept is not None else "no valid guess changes a person's answer and was answered by the model"
    records = [
        Record("n_guesses", counts.n, subject, dataset, n=counts.n),
        Record("n_valid_guesses", counts.n_valid, subject, dataset, n=counts.n),
        Record("n_insensitive", kept, subject, dataset, n=counts.sensitive_items, note=why),
    ]
    if kept is not None:
        share = Record("insensitive_share", kept / counts.sensitive_items, subject, dataset)
        interval = wilson_interval(kept, counts.sensitive_items)
        records.append(with_interval(replace(share, n=counts.sensitive_items), interval))
    return Part(tuple(records), (flips_table(flips, name=name, number=number),))
