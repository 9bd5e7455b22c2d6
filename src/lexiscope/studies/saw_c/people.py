"""What people do: numbers of ratings, norms, means by sense, agreement under both definitions, ceilings (SAW-C §3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lexiscope.analysis.agreement import RaterAgreement, included, leave_one_out, model_place
from lexiscope.analysis.alpha import krippendorff_alpha
from lexiscope.analysis.ceilings import Ceiling, leave_one_out_rho, mean_squared_rho, split_half, squared_mean_rho
from lexiscope.analysis.consistency import coverage
from lexiscope.analysis.norms import condition_means
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Record, Undefined, parse_statistic, statistic_name
from lexiscope.report.figure_density import density_by_condition
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Part, resampling, shown, with_interval
from lexiscope.report.tables import INTEGER, Cell, Column, Format, Missing, Table
from lexiscope.studies.saw_c.material import Material
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.saw_c.show import count_table
from lexiscope.studies.saw_c.trials import DIFFERENT, SAME


@dataclass(frozen=True, slots=True)
class People:
    """What is known of people: the part on ratings and agreement, the norms of all items, and the agreements.

    ``agreements`` has the true leave-one-out first and the paper's variant second; both are empty without ratings.
    """

    part: Part
    norms: Part
    by_sense: Part
    agreements: tuple[RaterAgreement, ...]


def people(material: Material, settings: SawCSettings) -> People:
    """Describe the ratings: how many, their means, agreement of single raters, ceilings by name."""
    if material.ratings is None or material.norms is None:
        given = "There are no single ratings: nothing is said of agreement."
        none = "There are no human ratings: nothing is said of people."
        return People(Part(remarks=(given if material.rated.any() else none,)), Part(), Part(), ())
    agreements, why = _agreements(material.ratings, settings)
    counts, means = list(_counts(material)), list(_means(material))
    records = [*counts, *_alpha(material, settings)]
    for agreement in agreements:
        records += list(_agreement_records(material, agreement))
    ceilings = list(_ceiling_records(material, agreements, settings))
    tables = (_count_table("ratings", "The ratings", counts), _agreement_table(agreements), _ceiling_table(ceilings))
    where = ("The norms of all items are in tables/norms.csv.",)
    part = Part(tuple(records + ceilings), tables, paragraphs=where, remarks=why + _remarks(material, settings))
    by_sense = Part(tuple(means), (_count_table("ratings_by_sense", "Ratings by sense", means),), _figures(material))
    return People(part, Part(tables=(_norm_table(material),)), by_sense if means else Part(), agreements)


def _counts(material: Material) -> Iterator[Record]:
    ratings, found = material.require_ratings(), material.norms
    assert found is not None
    base: dict[str, Any] = {"dataset": material.name}
    yield Record("n_participants", float(len(np.unique(ratings.rater))), **base)
    yield Record("n_trials", float(len(ratings.value)), **base)
    # items that nobody rated stand in no rating, but count
    of_item = dict(zip(found.item_ids, found.n.tolist(), strict=True))
    per_item = [of_item.get(item.item_id, 0) for item in material.items]
    for summary, value in (("min", min(per_item)), ("mean", sum(per_item) / len(per_item)), ("max", max(per_item))):
        yield Record(statistic_name("ratings_per_item", summary=summary), float(value), n=len(per_item), **base)


def _means(material: Material) -> Iterator[Record]:
    if material.same is None:
        return
    ratings = material.require_ratings()
    same = {item.item_id: bool(item.conditions["same_sense"]) for item in material.items}
    of_rating = np.array([same[item_id] for item_id in ratings.item_ids])[ratings.item]
    items, raters = np.array(ratings.item_ids)[ratings.item], np.array(ratings.rater_ids)[ratings.rater]
    mean, sd = (statistic_name(f"condition_{what}", over="trials") for what in ("mean", "sd"))
    for value in sorted(set(of_rating.tolist())):
        chosen = of_rating == value
        label = f"same_sense={value}"
        part = Ratings.from_arrays(raters[chosen], items[chosen], ratings.value[chosen])
        base: dict[str, Any] = {"dataset": material.name, "condition": label, "n": len(part), "unit": "rating"}
        try:
            (entry,) = condition_means(part, dict.fromkeys(part.item_ids, label))
        except StatisticError as error:
            yield from (Record(name, None, note=error.what, **base) for name in (mean, sd))
            continue
        yield from (Record(mean, entry.mean, **base), Record(sd, entry.sd, **base))


def _agreements(ratings: Ratings, settings: SawCSettings) -> tuple[tuple[RaterAgreement, ...], tuple[str, ...]]:
    options: dict[str, Any] = {"resamples": settings.n_bootstrap, "seed": settings.seed}
    try:
        return (leave_one_out(ratings, **options), included(ratings, **options)), ()
    except StatisticError as error:
        return (), (f"agreement between people is undefined: {error.what}",)


def _agreement_records(material: Material, agreement: RaterAgreement) -> Iterator[Record]:
    values = {
        "mean": agreement.mean,
        "median": agreement.median,
        "sd": agreement.sd if agreement.n_raters > 1 else None,
        "min": agreement.minimum,
        "max": agreement.maximum,
    }
    note = "; ".join(f"{rater.rater_id}: {rater.reason}" for rater in agreement.undefined)
    for summary, value in values.items():
        name = statistic_name(f"{agreement.variant}_agreement", method=agreement.method, summary=summary)
        reason = note or ("one rater has no SD" if value is None else "")
        record = Record(name, value, dataset=material.name, n=agreement.n_raters, note=reason)
        yield with_interval(record, agreement.interval) if summary == "mean" else record


def _alpha(material: Material, settings: SawCSettings) -> Iterator[Record]:
    boot = _by_word(material, settings)
    for level in ("interval", "ordinal"):
        name = statistic_name("krippendorff_alpha", level=level)
        try:
            alpha = krippendorff_alpha(material.require_ratings(), level=level, **boot)
        except StatisticError as error:
            yield Record(name, None, dataset=material.name, note=error.what)
            continue
        note = f"n counts the ratings of the {alpha.n_items} items with two or more"
        record = Record(alpha.name, alpha.value, dataset=material.name, n=alpha.n_ratings, note=note)
        yield with_interval(record, alpha.interval)


def _by_word(material: Material, settings: SawCSettings) -> dict[str, Any]:
    """The arguments that resample items by word, as a mapping of item ids."""
    boot = resampling(material.words, settings)
    words = {item.item_id: item.word for item in material.items}
    return boot | {"groups": None if boot["groups"] is None else words}


def ceilings_of(agreements: tuple[RaterAgreement, ...], **boot: Any) -> tuple[Ceiling | Undefined, ...]:
    """Return the ceilings that follow from the agreements, each under its own name, or why one has no value."""
    found: list[Ceiling | Undefined] = []
    for agreement in agreements:
        found.append(leave_one_out_rho(agreement))
        squares = {
            "squared_mean_rater_correlation": partial(squared_mean_rho, agreement),
            "mean_squared_rater_correlation": partial(mean_squared_rho, agreement, **boot),
        }
        for base, make in squares.items():
            try:
                found.append(make())
            except StatisticError as error:
                name = statistic_name(base, variant=agreement.variant, method=agreement.method)
                found.append(Undefined(name, error.what, agreement.n_raters))
    return tuple(found)


def _ceiling_records(
    material: Material, agreements: tuple[RaterAgreement, ...], settings: SawCSettings
) -> Iterator[Record]:
    for ceiling in ceilings_of(agreements, resamples=settings.n_bootstrap, seed=settings.seed):
        if isinstance(ceiling, Undefined):
            yield Record(ceiling.name, None, dataset=material.name, n=ceiling.n, note=ceiling.reason)
            continue
        record = Record(ceiling.name, ceiling.value, dataset=material.name, n=ceiling.n, note=ceiling.definition)
        yield with_interval(record, ceiling.interval)
    try:
        half = split_half(material.require_ratings(), **_by_word(material, settings))
    except StatisticError as error:
        yield Record("split_half_reliability", None, dataset=material.name, note=error.what)
        return
    record = Record(half.name, half.value, dataset=material.name, n=half.n, note=half.definition)
    yield with_interval(record, half.interval)


def place_records(
    material: Material, agreements: tuple[RaterAgreement, ...], subject: str, layer: int | None, rho: float
) -> Iterator[Record]:
    """Yield the share of raters who agree less with the norms than a model does, under both definitions. *§4.4.*"""
    for agreement in agreements:
        # distance falls where relatedness rises: a positive ρ is disagreement, not agreement
        place = model_place(agreement, -rho)
        note = f"{place.n_below} of {place.n_raters} raters are below −ρ = {-rho:.4f}"
        record = Record(place.name, place.value, subject, material.name, layer, n=place.n_raters, note=note)
        yield with_interval(record, place.interval)


# -- tables and figures -------------------------------------------------------------------------------------------

_LABELS = {
    "n_participants": "Participants",
    "n_trials": "Ratings",
    "ratings_per_item(summary=min)": "Ratings per pair, fewest",
    "ratings_per_item(summary=mean)": "Ratings per pair, mean",
    "ratings_per_item(summary=max)": "Ratings per pair, most",
}


def _count_table(name: str, title: str, records: list[Record]) -> Table:
    rows = []
    for record in records:
        sense = {"same_sense=True": "same sense", "same_sense=False": "different sense"}.get(record.condition, "")
        kind = "SD" if "_sd" in record.statistic else "mean"
        if record.statistic.startswith("condition_"):
            rows.append((f"Rating, {sense}, {kind} over trials", record))
        elif record.statistic in _LABELS:
            rows.append((_LABELS[record.statistic], record))
    return count_table(name, "", title, rows)


def _agreement_table(agreements: tuple[RaterAgreement, ...]) -> Table:
    two = Format("number", 3, leading_zero=False)
    columns = (
        Column("Definition"),
        *(Column(label, two) for label in ("Mean", "Median", "SD", "Lowest", "Highest")),
        Column("Raters", INTEGER),
        Column("Undefined", INTEGER),
    )
    words = {
        "leave_one_out": "leave-one-out: the norm without the rater",
        "included": "included: the rater's own rating stays in the norm",
    }
    rows = [
        (words[a.variant], a.mean, a.median, a.sd, a.minimum, a.maximum, a.n_raters, len(a.undefined))
        for a in agreements
    ]
    notes = ("Spearman correlation of each rater with the norms of the items that the rater rated.",)
    return Table("agreement", "", "Agreement of single raters with the norms", columns, tuple(rows), notes)


def _ceiling_table(ceilings: list[Record]) -> Table:
    columns = (
        Column("Ceiling"),
        Column("Definition"),
        Column("Value", Format("number", 3, leading_zero=False)),
        Column("n", INTEGER),
    )
    rows = [(_bare(record.statistic), record.note, shown(record), record.n) for record in ceilings]
    notes = ("Each ceiling is another quantity; they are never compared with one another in one column of results.",)
    return Table("ceilings", "", "Human ceilings by name", columns, tuple(rows), notes)


def _bare(statistic: str) -> str:
    """The words of a statistic's name with its variant, so that no two ceilings share a label."""
    name, given = parse_statistic(statistic)
    variant = given.get("variant", "").replace("leave_one_out", "leave-one-out")
    return name.replace("_", " ") + (f" ({variant})" if variant else "")


def _norm_table(material: Material) -> Table:
    found = material.norms
    assert found is not None
    columns = (
        Column("Item"),
        Column("Word"),
        Column("Sentence 1"),
        Column("Sentence 2"),
        Column("Mean", Format("number", 3)),
        Column("SD", Format("number", 3)),
        Column("Median", Format("number", 1)),
        Column("n", INTEGER),
    )
    rows: list[tuple[Cell, ...]] = []
    place = {item_id: row for row, item_id in enumerate(found.item_ids)}
    for item in material.items:
        texts = [usage.text for usage in item.usages] + ["", ""]
        if item.item_id in place:
            row = place[item.item_id]
            sd = float(found.sd[row])
            cell: Cell = Missing("one rating has no SD") if np.isnan(sd) else sd
            numbers: tuple[Cell, ...] = (float(found.mean[row]), cell, float(found.median[row]), int(found.n[row]))
        else:
            numbers = (Missing("no rating"), Missing("no rating"), Missing("no rating"), 0)
        rows.append((item.item_id, item.word, texts[0], texts[1], *numbers))
    return Table("norms", "", "Norms of all items", columns, tuple(rows))


def _figures(material: Material) -> tuple[Figure, ...]:
    if material.same is None or material.card is None or material.card.scale is None:
        return ()
    scale = material.card.scale
    heading = Heading(
        "figure_2_relatedness_by_sense",
        "2",
        "Relatedness by sense",
        "Density of the mean relatedness of pairs, by whether the two sentences use the same sense.",
    )
    rated = material.rated
    labels = np.where(material.same[rated], SAME, DIFFERENT)
    return (
        density_by_condition(
            material.norm[rated], labels, heading, scale=(scale.low, scale.high), order=(SAME, DIFFERENT)
        ),
    )


def _remarks(material: Material, settings: SawCSettings) -> tuple[str, ...]:
    lists = {item.item_id: item.list_id or "" for item in material.items}
    found = coverage(material.require_ratings(), minimum=settings.min_ratings, lists=lists)
    if not found.short:
        return ()
    named = ", ".join(entry.item_id for entry in found.short[:5]) + (" …" if len(found.short) > 5 else "")
    return (f"{len(found.short)} items have fewer than {settings.min_ratings} ratings: {named}",)
