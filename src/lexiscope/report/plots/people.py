"""Models beside people: where a subject stands among the raters (SAW-C, Figure 4), and item by item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.core.showing import counted
from lexiscope.report.figures import (
    Array,
    Figure,
    Floats,
    Heading,
    apa,
    build,
    floats,
    gaps_remark,
    levels,
    same_length,
)
from lexiscope.report.plots.style import INK, WIDTH, as_svg, drawing, mark, shorten


@dataclass(frozen=True, slots=True)
class SubjectLine:
    """A subject's agreement with the norms, drawn as a vertical line among the raters'. *Unit:* that of the raters."""

    subject: str
    value: float


def agreement_histogram(
    agreement: Array,
    places: Sequence[SubjectLine],
    heading: Heading,
    *,
    definition: str,
    statistic: str = "Spearman's ρ",
    bins: int = 20,
) -> Figure:
    """Draw how well single raters agree with the norms, and where subjects stand among them (SAW-C, Figure 4).

    *Shape:* (raters,). *Higher means:* agrees more. *definition* names the statistic in full, for example
    ``true leave-one-out`` or ``own rating included``; it is printed on the axis, because the two differ.
    """
    if not definition:
        raise InputError("agreement_histogram: name the definition of agreement (true leave-one-out, own included …)")
    numbers = floats(agreement, "agreement_histogram")
    defined = numbers[np.isfinite(numbers)]
    if len(defined) == 0:
        raise InputError("agreement_histogram: no rater has a defined agreement")
    alt = _agreement_words(defined, places, definition)
    with drawing(WIDTH, 2.9 + 0.16 * (len(places) // 2)) as sheet:
        axes = sheet.subplots()
        axes.hist(defined, bins=bins, color="#b9c6cf", edgecolor="white", lw=0.8, label=f"raters (n = {len(defined)})")
        axes.axvline(float(defined.mean()), color=INK, lw=1, label=f"raters' mean {apa(float(defined.mean()))}")
        for index, place in enumerate(places):
            look = mark(index)
            label = f"{shorten(place.subject, 40)} {apa(place.value)}: {_share_below(defined, place.value)}"
            axes.axvline(place.value, color=look.colour, ls=mark(index + 1).line, lw=1.6, label=label)
        axes.set(xlabel=f"Agreement of a rater with the norms ({statistic}, {definition})", ylabel="Raters")
        axes.grid(axis="x", visible=False)
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    return build(heading, svg, alt, _agreement_data(numbers, places), _undefined_raters(numbers))


def norms_by_distance(
    norm: Array,
    distance: Array,
    condition: Array,
    heading: Heading,
    *,
    subject: str,
    layer: str,
    r: float,
    rho: float,
    order: Sequence[str] | None = None,
) -> Figure:
    """Draw people's item means against a subject's cosine distances, by condition, with r and ρ.

    *Shape:* (items,) three times. *Unit:* scale points against cosine distance. Undefined pairs are counted, not drawn.
    *r* and *rho* are those of the analysis (not-a-number where undefined); they are printed, not computed, here.
    """
    people, model, labels = floats(norm, "norm"), floats(distance, "distance"), np.asarray(condition)
    same_length("norms_by_distance", people, model, labels)
    both = np.isfinite(people) & np.isfinite(model)
    names = levels(labels, order)
    found = f"n = {int(both.sum())}, r = {apa(r)}, ρ = {apa(rho)}"
    where = f", {layer}" if layer else ""
    alt = f"Scatter of people's mean ratings against cosine distance of {subject}{where}; {found}."
    with drawing(WIDTH * 0.72, 3.6) as sheet:
        axes = sheet.subplots()
        for index, name in enumerate(names):
            look, here = mark(index), both & (labels == name)
            fill, label = "none" if index else look.colour, f"{name} (n = {int(here.sum())})"
            axes.scatter(model[here], people[here], s=11, marker=look.marker, facecolors=fill, edgecolors=look.colour,
                         lw=0.6, alpha=0.75, label=label)  # fmt: skip
        axes.set(
            xlabel=", ".join(part for part in ("Cosine distance", shorten(subject, 36), layer) if part),
            ylabel="Mean rating of people",
        )
        axes.set_title(found)
        sheet.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(names))
        svg = as_svg(sheet, heading.name, title=heading.title, alt=alt)
    gone = int((~both).sum())
    return build(heading, svg, alt, {"condition": labels, "norm": people, "distance": model},
                 gaps_remark([counted(gone, "item")] if gone else []))  # fmt: skip


def _share_below(raters: Floats, value: float) -> str:
    below = int((raters < value).sum())
    return f"above {below} of {len(raters)} raters ({100 * below / len(raters):.1f} %)"


def _agreement_words(raters: Floats, places: Sequence[SubjectLine], definition: str) -> str:
    head = (
        f"Histogram of the agreement of {len(raters)} raters with the norms ({definition}): "
        f"mean {apa(float(raters.mean()))}, from {apa(float(raters.min()))} to {apa(float(raters.max()))}."
    )
    lines = [f"{place.subject} at {apa(place.value)}, {_share_below(raters, place.value)}." for place in places]
    return " ".join([head, *lines])


def _agreement_data(raters: Floats, places: Sequence[SubjectLine]) -> dict[str, Array]:
    kind = ["rater"] * len(raters) + ["subject"] * len(places)
    name = [str(index + 1) for index in range(len(raters))] + [place.subject for place in places]
    values = np.concatenate([raters, [place.value for place in places]])
    return {"kind": np.array(kind), "name": np.array(name), "agreement": values}


def _undefined_raters(numbers: Floats) -> str:
    gone = int((~np.isfinite(numbers)).sum())
    return f"{gone} raters have no defined agreement (constant answers) and are not drawn." if gone else ""
