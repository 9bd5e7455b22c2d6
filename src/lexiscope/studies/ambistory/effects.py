"""What endings do to meanings, which points of the scale people use, and whether frequent senses are more plausible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.label_distribution import LabelShares, LabelTable, label_table, mean_label_table, rating_shares
from lexiscope.analysis.norms import item_sd
from lexiscope.analysis.significance import correlation_p
from lexiscope.analysis.story_effects import Order, Shift, ending_effects
from lexiscope.core.errors import DataError, StatisticError
from lexiscope.core.result import Record, Undefined, statistic_name
from lexiscope.items.sense_frequency import sense_counts
from lexiscope.report.figure_accuracy import stacked_shares
from lexiscope.report.figures import Heading, apa
from lexiscope.report.part import Part, pick, shown, with_interval
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Interval, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.resources import wordnet
from lexiscope.studies.ambistory.data import ALL, AmbistoryData, subset
from lexiscope.studies.ambistory.numbers import (
    PEOPLE,
    PERCENT,
    THREE,
    TWO,
    drawn,
    estimated,
    record,
)

OPEN_ENDED, A_B = "between=open_and_ended", "between=endings"
POINTS = tuple(str(point) for point in range(1, 6))


# -- endings --------------------------------------------------------------------------------------------------


def endings(run: AmbistoryData) -> Part:
    """Return how far endings move mean ratings, and how often in the direction they were written for (§4.2)."""
    if run.people is None:
        return Part()
    words = {run.setups[item]: run.words[item] for item in run.ids()}
    try:
        found = ending_effects(run.people, run.places, words=words, **drawn(run, len(set(words.values()))))
    except StatisticError as error:
        return Part(remarks=(f"Effects of endings could not be computed: {error.what}.",))
    shifts = (
        (OPEN_ENDED, "ended against open", found.open_to_ended),
        (A_B, "ending A against B", found.ending_to_ending),
    )
    orders = (
        ("intended_above_other", "intended meaning above the other one, same story", found.intended_above_other),
        ("ending_raises_intended", "ending raises its meaning above the open story", found.ending_raises_intended),
    )
    records = [one for between, _, shift in shifts for one in _shift(run, between, shift)]
    records += [one for name, _, order in orders for one in _order(run, name, order)]
    return Part(tuple(records), (_shift_table(records, shifts), _order_table(orders)))


def _shift(run: AmbistoryData, between: str, found: Shift) -> tuple[Record, ...]:
    base = record(run, f"absolute_difference({between})", found.mean, n=found.n)
    sds = (("0", found.sd_population), ("1", found.sd))
    return (
        with_interval(base, found.interval),
        *(record(run, f"absolute_difference_sd({between},ddof={k})", value, n=found.n) for k, value in sds),
    )


def _order(run: AmbistoryData, name: str, found: Order) -> tuple[Record, ...]:
    shares = (("above", found.above), ("equal", found.equal), ("below", found.below))
    return tuple(
        record(run, statistic_name(name, share=share), 100 * value, n=found.n, unit="percent")
        for share, value in shares
    )


def _shift_table(records: list[Record], shifts: tuple[tuple[str, str, Shift], ...]) -> Table:
    columns = (
        Column("Compared"),
        Column("Mean absolute difference", TWO, note="Of mean ratings; 95 % interval, words resampled."),
        Column("SD, n", THREE, note="Divided by n, as Gehring & Roth (2025) do."),
        Column("SD, n − 1", THREE),
        Column("Differences", INTEGER),
    )
    by_name = {one.statistic: one for one in records}
    rows = tuple(
        (label, shown(by_name[f"absolute_difference({between})"]), found.sd_population, found.sd, found.n)
        for between, label, found in shifts
    )
    return Table("endings", "", "How far an ending moves the plausibility of a meaning", columns, rows)


def _order_table(orders: tuple[tuple[str, str, Order], ...]) -> Table:
    columns = (Column("How often"), *(Column(name, PERCENT) for name in ("Above, %", "Equal, %", "Below, %")))
    rows = tuple(
        (
            label,
            Interval(100 * found.interval.low, 100 * found.interval.high, 100 * found.above),
            100 * found.equal,
            100 * found.below,
        )
        for _, label, found in orders
    )
    note = "Not every ending works, and none was dropped for that."
    return Table(
        "ending_direction", "", "Do endings work in the direction they were written for?", columns, rows, (note,)
    )


# -- the scale ------------------------------------------------------------------------------------------------


def distribution(run: AmbistoryData) -> Part:
    """Return how often each point is used, in single ratings and in rounded means, by people and models (Table 6)."""
    records: list[Record] = []
    parts: list[Part] = []
    if run.people is not None:
        groups = {item: run.words[item] for item in run.people.item_ids}
        single = rating_shares(run.people, groups=groups, **drawn(run, len(set(groups.values()))))
        records += _shares(run, "rating_share", single, condition=ALL)
        extreme = 100 * (single.shares[0] + single.shares[-1])
        records.append(record(run, "rating_share(point=1_or_5)", extreme, condition=ALL, unit="percent", n=single.n))
        parts.append(Part(tables=(_single_table(single),)))
    tables = _label_tables(run)
    for one in tables:
        for condition, found in (("all", one.everything), *one.by_condition):
            name = f"{run.split}, {condition}"
            records += _shares(run, "label_share", found, condition=name, subject=one.subject)
    if not tables:
        return Part(tuple(records), tuple(table for part in parts for table in part.tables))
    heading = Heading("figure_labels", "", "Labels of people and models", f"Samples of: {run.split}.")
    titles = _titles(run)
    bars = [
        (titles[one.subject], p, 100 * s) for one in tables for p, s in zip(POINTS, one.everything.shares, strict=True)
    ]
    figure = stacked_shares(bars, heading, order=POINTS, unit="Labels, %")
    made = (*(table for part in parts for table in part.tables), _label_table(run, tables))
    return Part(tuple(records), made, (figure,))


def _titles(run: AmbistoryData) -> dict[str, str]:
    return {PEOPLE: PEOPLE} | {each.subject: each.title for each in run.predictors}


def _label_tables(run: AmbistoryData) -> list[LabelTable]:
    found = []
    asked = {item: run.words[item] for item in run.asked}
    few = drawn(run, len(set(asked.values())))
    if run.judged is not None:
        found.append(mean_label_table(run.judged, run.kinds, subject=PEOPLE, groups=asked, **few))
    for each in run.predictors:
        if any(value is not None for value in each.whole.values()):
            found.append(label_table(each.subject, each.whole, run.kinds, groups=asked, **few))
    return found


def _shares(run: AmbistoryData, name: str, found: LabelShares, *, condition: str, subject: str = "") -> list[Record]:
    about = {"condition": condition, "subject": subject, "unit": "percent", "n": found.n}
    made = []
    for point, share, interval in zip(POINTS, found.shares, found.intervals, strict=True):
        ends: dict[str, object] = {}
        if interval.is_defined:
            ends = {"low": 100 * interval.low, "high": 100 * interval.high, "interval": interval.method}
        made.append(record(run, statistic_name(name, point=point), 100 * share, **about, **ends))
    return made


def _single_table(found: LabelShares) -> Table:
    columns = (Column("Rating"), Column("Ratings", INTEGER), Column("%", PERCENT, note="95 %, words resampled."))
    rows = tuple(
        (point, count, _percent(share, interval.low, interval.high))
        for point, count, share, interval in zip(POINTS, found.counts, found.shares, found.intervals, strict=True)
    )
    return Table("rating_distribution", "", "All ratings", columns, rows)


def _percent(share: float, low: float, high: float) -> TableCell:
    return Interval(100 * low, 100 * high, 100 * share)


def _label_table(run: AmbistoryData, tables: list[LabelTable]) -> Table:
    columns = (
        Column("Who"),
        Column("Stories"),
        *(Column(f"{point}, %", PERCENT) for point in POINTS),
        Column("Read / asked", note="Samples with a label, of those asked: the shares are of the former."),
    )
    titles = _titles(run)
    rows: list[tuple[TableCell, ...]] = [
        (
            titles[one.subject],
            condition,
            *(100 * share for share in found.shares),
            f"{found.n} / {found.n + found.n_missing}",
        )
        for one in tables
        for condition, found in (("all", one.everything), *one.by_condition)
    ]
    notes = (
        "Mean ratings of people and predictions that are not whole are rounded to whole numbers by one rule, halves up "
        "(half_up). Replies that could not be read have no label and are not imputed.",
    )
    return Table("table_6_labels", "6", f"Labels of people and models ({run.split})", columns, tuple(rows), notes)


# -- frequency of the sense -----------------------------------------------------------------------------------


def frequency(run: AmbistoryData) -> Part:
    """Return how the frequency of a sense goes with its plausibility, and with disagreement about it (§4.2)."""
    if run.people is None:
        return Part()
    try:
        counts = sense_counts(run.items, wordnet.load())
    except DataError as error:
        text = (
            f"The frequency of senses was not looked up: WordNet is not at hand ({error.what}). "
            "`lexiscope data get wordnet` gets it."
        )
        return Part(remarks=(text,))
    conditions = {ALL: run.ids(), **{split: run.in_split(split) for split in run.splits()}}
    records: list[Record] = []
    for condition, ids in conditions.items():
        records += _frequency(run, counts, condition, ids)
    columns = (Column("Samples of"), Column("ρ with the mean", THREE), Column("p", P_VALUE), Column("n", INTEGER))
    rows = tuple(
        (one.condition, shown(one), one.p, one.n) for one in records if one.statistic == "sense_count_rho(with=mean)"
    )
    spread = next(one for one in records if one.statistic == "sense_count_rho(with=sd)")
    note = (
        "Spearman's ρ of WordNet's tag count of the sense under the word's lemma (0 where it was never tagged) with "
        "people's mean rating; 95 % interval, words resampled; p as if samples were independent. "
        f"{sum(count is None for count in counts.values())} samples whose definition is no gloss under the word "
        f"count as 0. With the SD of the ratings: ρ {apa(spread.value or 0.0, 3)}, p {_p(spread.p)}."
    )
    title = "Are frequent senses more plausible?"
    return Part(tuple(records), (Table("sense_frequency", "", title, columns, rows, (note,)),))


def _p(value: float | None) -> str:
    return "—" if value is None else "< .001" if value < 0.001 else f"{value:.3f}".lstrip("0")


def _frequency(
    run: AmbistoryData,
    counts: Mapping[str, int | None],
    condition: str,
    ids: tuple[str, ...],
) -> list[Record]:
    assert run.people is not None
    ratings = subset(run.people, ids)
    if ratings is None:
        return []
    x = [float(counts[item] or 0) for item in ratings.item_ids]
    groups = [run.words[item] for item in ratings.item_ids]
    made = []
    for what, y in (("mean", ratings.means()), ("sd", item_sd(ratings))):
        name = statistic_name("sense_count_rho", **{"with": what})
        try:
            found = spearman(x, y, groups=groups, **drawn(run, len(set(groups))))
        except StatisticError as error:
            made.append(estimated(run, name, Undefined(name, error.what, len(x)), condition=condition))
            continue
        p = correlation_p(found.value, found.n)
        made.append(estimated(run, name, found, condition=condition, p=p))
    return made


# -- in words -------------------------------------------------------------------------------------------------


def ending_words(records: Sequence[Record]) -> str:
    """Return how far endings move meanings, in one line."""
    found = {one.statistic: one.value for one in records if one.value is not None}
    first, second = (found.get(f"absolute_difference({between})") for between in (OPEN_ENDED, A_B))
    raised = found.get("ending_raises_intended(share=above)")
    if first is None or second is None or raised is None:
        return ""
    return (
        f"an ending moves a mean rating by {first:.2f} points, the other ending by {second:.2f}; it raises its own "
        f"meaning in {raised:.0f} %"
    )


def scale_words(records: Sequence[Record]) -> str:
    """Return how much of the scale's ends is used, and how frequency goes with plausibility."""
    extreme = pick(records, "rating_share(point=1_or_5)", condition=ALL)
    rho = pick(records, "sense_count_rho(with=mean)", condition=ALL)
    texts = []
    if extreme is not None and extreme.value is not None:
        texts.append(f"{extreme.value:.0f} % of ratings are 1 or 5")
    if rho is not None and rho.value is not None:
        texts.append(f"sense count and mean rating ρ {apa(rho.value, 3)}")
    return "; ".join(texts)
