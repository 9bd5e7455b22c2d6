"""The page of a profile as one HTML file: no network, little script, light and dark, readable without script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lexiscope.core.showing import counted
from lexiscope.report.marks.canvas import to_svg
from lexiscope.report.marks.drawing import NARROW, Axis, Drawing, ReferenceLine
from lexiscope.report.marks.forest import Forest, ForestRow
from lexiscope.report.marks.models import ModelSets, SharePart, ShareRow, ShareRows, share_axis
from lexiscope.report.marks.multiples import LayerPanel, LayerPanels, LayerPoint
from lexiscope.report.page.html import drawing_csv, new_environment, page_style
from lexiscope.report.profile.content import (
    NamedValue,
    ShownCell,
    ShownComparison,
    ShownFamily,
    ShownLine,
    ShownModel,
    ShownProfile,
    Value,
)
from lexiscope.report.profile.sentences import comparison_sentence, lead, line_sentence

_FULL, _MIDDLE, _SMALL = 1128.0, 704.0, 190.0
_AXES = {"ρ": (-1.0, 1.0), "accuracy": (0.0, 1.0), "AUC": (0.0, 1.0)}
_TEMPLATES = Path(__file__).parent.parent / "templates"


def render_profile(profile: ShownProfile) -> str:
    """Return the page of a profile; the same profile gives an identical file."""
    from markupsafe import Markup

    script = (_TEMPLATES / "page.js").read_text(encoding="utf-8").strip()
    environment = new_environment()
    environment.filters.update(
        full=lambda drawing: Markup(_at_widths(drawing)),
        small=lambda drawing: Markup(to_svg(drawing.draw(_SMALL), "wide") + to_svg(drawing.draw(NARROW), "narrow")),
        two=lambda drawing: Markup(to_svg(drawing.draw(520), "wide") + to_svg(drawing.draw(NARROW), "narrow")),
        csv=lambda drawing: (
            f"data:text/csv;charset=utf-8;base64,{base64.b64encode(drawing_csv(drawing).encode()).decode('ascii')}"
        ),
        short=lambda value: Value(value).text if value else "0",
    )
    page = environment.get_template("profile.html").render(
        profile=profile,
        models=[_model_view(profile, model) for model in profile.models],
        comparison=_comparison_view(profile) if profile.comparisons else None,
        style=Markup(page_style() + (_TEMPLATES / "profile.css").read_text(encoding="utf-8").strip()),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return page.lstrip()


def profile_drawings(profile: ShownProfile) -> tuple[Drawing, ...]:
    """Return the main drawings of the page: the families of each model, and the models of each line."""
    heroes = (_hero(profile, model, f"families_{number}") for number, model in enumerate(profile.models, 1))
    return (*heroes, *(_sets(profile, comparison) for comparison in profile.comparisons))


def _at_widths(drawing: Drawing) -> str:
    return (
        to_svg(drawing.draw(_FULL), "full")
        + to_svg(drawing.draw(_MIDDLE), "middle")
        + to_svg(drawing.draw(NARROW), "narrow")
    )


# -- one model ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _LineView:
    line: ShownLine
    cell: ShownCell
    track: Drawing | None
    sentence: str
    curve: Drawing | None
    ways: Drawing | None
    people: str
    names: str
    spread: str


@dataclass(frozen=True)
class _ModelView:
    model: ShownModel
    anchor: str
    lead: tuple[str, ...]
    hero: ShareRows
    note: str
    families: tuple[tuple[str, tuple[_LineView, ...]], ...]
    cautions: tuple[tuple[str, str], ...]

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """The marks that the drawing of the families has, each as the class of its sign and what it is."""
        rows = self.hero.rows
        known = (
            ("kb", "model, 95 %", any(row.value is not None for row in rows)),
            ("kr", "single line, if a family has several", any(row.parts for row in rows)),
            ("ko", "one person", any(row.person is not None for row in rows)),
            ("kd", "mean of as many other people", any(row.mean is not None for row in rows)),
            ("kf", "printed figure, no ceiling", any(row.figures for row in rows)),
        )
        return tuple((sign, text) for sign, text, is_drawn in known if is_drawn)


@cache
def _profile_ends(has_people: bool) -> tuple[str, str]:
    return ("chance", "people" if has_people else "all right")


def _model_view(profile: ShownProfile, model: ShownModel) -> _ModelView:
    number = profile.models.index(model) + 1
    anchor = "profile" if number == 1 else f"profile-{number}"
    tracks = {line.id: _share_row(line, model.cells[line.id]) for line in profile.lines}
    axis = share_axis([row for row in tracks.values() if row is not None])
    families = tuple(
        (
            family.title,
            tuple(_line_view(model, line, tracks[line.id], axis) for line in profile.lines if line.family == family.id),
        )
        for family in model.families
    )
    hero = _hero(profile, model, f"families_{number}")
    return _ModelView(model, anchor, lead(profile, model), hero, _gap_note(model), families, _cautions(profile, model))


def _hero(profile: ShownProfile, model: ShownModel, name: str) -> ShareRows:
    rows = tuple(_family_row(family) for family in model.families)
    has_people = any(line.has_people for line in profile.lines)
    title = f"{model.title}: share of the attainable by family"
    return ShareRows(name=name, title=title, rows=rows, ends=_profile_ends(has_people))


def _family_row(family: ShownFamily) -> ShareRow:
    sub = f"{len(family.parts)} of {counted(family.n_lines, 'line')}"
    if family.share is None:
        return ShareRow(family.title, None, sub=sub, reason=family.why)
    share = family.share
    parts = tuple(SharePart(part.name, part.value.value) for part in family.parts)
    figures = tuple(SharePart(figure.name, figure.value.value) for figure in family.figures)
    tip = f"{family.title}: {share.both}" + "".join(f"; {part.name} {part.value.both}" for part in family.parts)
    return ShareRow(
        family.title, share.value, share.low, share.high, share.both, sub, parts if len(parts) > 1 else (),
        family.person, family.mean, figures, tip=tip,
    )  # fmt: skip


def _gap_note(model: ShownModel) -> str:
    """Where the lines of a family are far apart, the mean hides it: say so."""
    texts = []
    for family in model.families:
        values = sorted(family.parts, key=lambda part: part.value.value)
        if len(values) > 1 and values[-1].value.value - values[0].value.value > 0.25:
            low, high = values[0], values[-1]
            texts.append(f"{family.title} hides a gap: {low.value.text} ({low.name}), {high.value.text} ({high.name}).")
    return " ".join(texts)


def _line_view(model: ShownModel, line: ShownLine, row: ShareRow | None, axis: Axis) -> _LineView:
    cell = model.cells[line.id]
    ends = _profile_ends(line.has_people)
    track = (
        ShareRows(name=f"share_{line.id}", title=line.title, rows=(row,), bare=True, ends=ends, axis=axis)
        if row is not None
        else None
    )
    return _LineView(
        line, cell, track, line_sentence(model, line), _curve(line, cell), _ways(line, cell),
        *_people_text(line), _spread_text(cell),
    )  # fmt: skip


def _share_row(line: ShownLine, cell: ShownCell) -> ShareRow | None:
    if cell.share is None:
        return None
    person, mean = (line.share(person.value.value) if person else None for person in (line.person, line.mean))
    share = cell.share
    return ShareRow(line.title, share.value, share.low, share.high, share.both, person=person, mean=mean)


def _people_text(line: ShownLine) -> tuple[str, str]:
    """People in one cell: the numbers, and what they are."""
    known = [("one", line.person), ("mean", line.mean)]
    values = [value.value.text for _, value in known if value]
    names = [name for name, value in known if value]
    ceiling = line.ceiling
    if ceiling is not None and ceiling.name == "attainable":
        values.append(ceiling.value.text)
        names.append("attainable")
    if not values and ceiling is not None:
        return ("–", "no people: 1 is all right") if not line.has_people else (ceiling.value.text, ceiling.name)
    if ceiling is not None and line.has_people and ceiling.about and line.mean is None:
        return " · ".join(values), f"{ceiling.name}; no rows"
    return " · ".join(values), " · ".join(names)


def _spread_text(cell: ShownCell) -> str:
    if len(cell.variants) < 2:
        return ""
    values = [variant.value for variant in cell.variants]
    return f"{Value(min(values)).text} – {Value(max(values)).text}"


def _references(line: ShownLine) -> tuple[ReferenceLine, ...]:
    made = [ReferenceLine(f"chance {Value(line.chance).text if line.chance else 0}", line.chance, kind="chance")]
    if line.person is not None:
        made.append(ReferenceLine(f"one person {line.person.value.text}", line.person.value.value, kind="further"))
    if (
        line.ceiling is not None
        and line.has_people
        and (line.person is None or line.ceiling.value != line.person.value)
    ):
        label = f"{line.ceiling.name} {line.ceiling.value.text}"
        made.append(ReferenceLine(label, line.ceiling.value.value, kind="people"))
    return tuple(made)


def _axis(line: ShownLine, values: Sequence[float]) -> Axis:
    people = [person.value.value for person in (line.person, line.ceiling) if person is not None]
    return Axis.around([*values, *people], line.statistic, bounds=_AXES[line.statistic])


def _curve(line: ShownLine, cell: ShownCell) -> LayerPanels | None:
    points = tuple(LayerPoint(layer, value) for layer, value in cell.layers if value == value)
    if len(points) < 2:
        return None
    values = [value for _, value in cell.layers if value == value]
    title = f"{line.title}: {line.statistic} by layer (0 = input embeddings), on all words"
    tip = "; ".join(f"layer {point.layer}: {Value(point.value or 0.0).text}" for point in points)
    panel = LayerPanel("", points, tip=f"{line.title}: {tip}")
    references = tuple(r for r in _references(line) if r.kind != "chance" or line.chance > 0)
    return LayerPanels(
        name=f"layers_{line.id}", title=title, panels=(panel,), axis=_axis(line, values), references=references,
        best_name="",
    )  # fmt: skip


def _ways(line: ShownLine, cell: ShownCell) -> Forest | None:
    rows = [variant for variant in cell.variants if variant.declared or not variant.name.startswith("layer ")]
    if len(rows) < 2:
        return None
    made = tuple(
        ForestRow(row.name.replace("_", " "), row.value, shown=Value(row.value).text, hollow=not row.declared,
                  strong=row.declared)
        for row in rows
    )  # fmt: skip
    axis = _axis(line, [row.value for row in rows])
    title = f"{line.title}: ways of asking and counting; filled: the way that the battery declares"
    return Forest(name=f"ways_{line.id}", title=title, rows=made, axis=axis)


def _cautions(profile: ShownProfile, model: ShownModel) -> tuple[tuple[str, str], ...]:
    lines = [line for line in profile.lines if model.cells[line.id].value is not None]
    titles = ", ".join(line.title for line in lines)
    cells = model.cells
    gaps = [line for line in profile.lines if cells[line.id].value is None]
    varied = [line for line in lines if len(cells[line.id].variants) > 1]
    if varied:
        values = {line.id: [variant.value for variant in cells[line.id].variants] for line in varied}
        wide = max(varied, key=lambda line: max(values[line.id]) - min(values[line.id]))
        text = "If several ways were run, their range is shown; the declared way was fixed before. "
        text += f"The largest range is that of {wide.title}: {_spread_text(cells[wide.id])} ({cells[wide.id].varied})."
    else:
        text = "One way of asking was run."
    people = [line.title for line in profile.lines if not line.has_people and cells[line.id].value is not None]
    made = [
        (
            "Contamination",
            f"Whether the model’s training text holds {titles or 'the data'} was not checked here: the command "
            "norm tests it for a model that can be asked, one dataset at a time.",
        ),
        ("Ways of asking", text),
        ("Gaps", f"{len(lines)} of {counted(len(profile.lines), 'line')} have a number. "
                 + "".join(f"{line.title}: {cells[line.id].gap}. " for line in gaps)),
    ]  # fmt: skip
    if people:
        made.append(("No people", f"1 is “all right”, not people, for {', '.join(people)}."))
    foreign = [line.title for line in gaps if "declares" in cells[line.id].why]
    said = f"Not asked for its language: {', '.join(foreign)}. " if foreign else ""
    made.insert(1, ("Language", f"{said}A number speaks of the language of its line only."))
    return tuple(made)


# -- several models -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _DifferenceRow:
    model: str
    ranks: str
    difference: str
    verdict: str


@dataclass(frozen=True)
class _ComparedLine:
    line: ShownLine
    sentence: str
    drawing: Drawing
    note: str
    references: tuple[tuple[str, tuple[_DifferenceRow, ...]], ...]


@dataclass(frozen=True)
class _ComparisonView:
    lead: tuple[str, ...]
    families: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[tuple[str, str, str], ...]], ...]
    lines: tuple[_ComparedLine, ...]


def _comparison_view(profile: ShownProfile) -> _ComparisonView:
    first = profile.models[0]
    rows = []
    for number, model in enumerate(profile.models, 1):
        cells = []
        for family in model.families:
            if family.share is None:
                cells.append(("–", family.why, ""))
            else:
                k = f"{len(family.parts)} of {family.n_lines}"
                cells.append((family.share.both, k, f"{family.share.value:.6f}"))
        rows.append((model.title, "profile" if number == 1 else f"profile-{number}", tuple(cells)))
    lines = tuple(_compared(profile, comparison, first.id) for comparison in profile.comparisons)
    sentences = tuple(comparison_sentence(profile, comparison) for comparison in profile.comparisons[:3])
    return _ComparisonView(sentences, tuple(family.title for family in first.families), tuple(rows), lines)


def _compared(profile: ShownProfile, comparison: ShownComparison, pointed: str) -> _ComparedLine:
    line = profile.line(comparison.line)
    at = pointed if pointed in comparison.models else comparison.models[0]
    # the reference that is shown without a script comes first; all others are hidden until one is chosen
    references = [at, *(name for name in comparison.models if name != at)]
    n = len(comparison.pairs)
    note = (
        f"{line.n_items:,} items, {line.n_words} words. {counted(len(comparison.models), 'model')} with answers, "
        f"{counted(n, 'pair')}; a difference counts if it exceeds {comparison.critical:.2f} standard errors (all pairs "
        "of this line together, so that any model may be the reference; the choice of a line is not corrected for). "
        "Brackets: models that cannot be distinguished."
    )
    sentence = comparison_sentence(profile, comparison).removeprefix(f"{line.title}: ")
    sentence = sentence[:1].upper() + sentence[1:]
    return _ComparedLine(
        line, sentence, _sets(profile, comparison, at), note,
        tuple((profile.model(name).title, _difference_rows(profile, comparison, name)) for name in references),
    )  # fmt: skip


def _difference_rows(profile: ShownProfile, comparison: ShownComparison, reference: str) -> tuple[_DifferenceRow, ...]:
    """All models of a line, each with its ranks and its difference from one of them."""
    rows = []
    for name, ranks in zip(comparison.models, comparison.ranks or ("–",) * len(comparison.models), strict=True):
        pair = comparison.between(name, reference)
        difference, verdict = (
            ("–", "reference")
            if pair is None
            else (pair.difference.both, "differs" if pair.differs else "cannot be distinguished")
        )
        rows.append(_DifferenceRow(profile.model(name).title, ranks, difference, verdict))
    return tuple(rows)


def _sets(profile: ShownProfile, comparison: ShownComparison, pointed: str = "") -> ModelSets:
    line = profile.line(comparison.line)
    rows, values = [], list[float]()
    for name in comparison.models:
        model = profile.model(name)
        value = model.cells[line.id].value
        assert value is not None
        values += [end for end in (value.value, value.low, value.high) if end is not None]
        rows.append(
            ForestRow(model.title, value.value, value.low, value.high, value.both, strong=name == pointed)
        )  # fmt: skip
    sets = tuple(tuple(comparison.models.index(name) for name in members) for members in comparison.sets)
    title = f"{line.title}: {line.statistic} of each model; brackets: sets that cannot be distinguished"
    return ModelSets(
        name=f"models_{line.id}", title=title, rows=tuple(rows), sets=sets, axis=_axis(line, values),
        references=_references(line), value_head=f"{line.statistic} [95 %]",
    )  # fmt: skip


__all__ = ["NamedValue", "profile_drawings", "render_profile"]
