"""From results to the page: what of a profile is shown, under the names that readers know."""

from __future__ import annotations

from collections.abc import Mapping

from lexiscope.analysis.attainable.model_pairs import ModelPairs
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.result import Estimate, Undefined
from lexiscope.core.showing import counted
from lexiscope.report.profile.content import (
    NamedValue,
    ShownCell,
    ShownComparison,
    ShownFamily,
    ShownLine,
    ShownModel,
    ShownPair,
    ShownProfile,
    ShownVariant,
    Value,
)
from lexiscope.studies.kit.languages import language_name
from lexiscope.studies.kit.profile.battery import FAMILIES, BatteryLine, Family, PrintedFigure
from lexiscope.studies.kit.profile.lines import ALL_RIGHT, AskedLine, Measured, NoNumber, Outcome
from lexiscope.studies.kit.profile.profiled import Profile, ProfiledModel, value_interval

_SYMBOLS = {"spearman": "ρ", "spread": "ρ", "accuracy": "accuracy", "auc": "AUC"}


def shown_profile(profile: Profile) -> ShownProfile:
    """Return what the page of a profile shows."""
    lines = tuple(_shown_line(profile, line) for line in profile.battery.lines)
    by_id = {line.id: line for line in lines}
    return ShownProfile(
        f"{profile.battery.name}",
        profile.battery.sha256,
        lines,
        tuple(_shown_model(profile, model, by_id) for model in profile.models),
        tuple(_shown_pairs(name, pairs) for name, pairs in profile.pairs.items()),
    )


def _shown_line(profile: Profile, line: BatteryLine) -> ShownLine:
    asked = profile.asked.get(line.line)
    figures = tuple(NamedValue(f.name, Value(f.value), f.source) for f in line.figures)
    about = (line.line, line.title, line.asks, line.family, _SYMBOLS[line.statistic])
    if asked is None:
        return ShownLine(*about, 0, 0, 0.0, None, None, None, figures, remark=line.remark)
    ceiling, person, mean = _ceiling(asked), None, None
    if asked.rated is not None:
        person, mean = _named("one person", asked.rated.person), _named("mean of people", asked.rated.mean)
    elif isinstance(line.ceiling, PrintedFigure) and "one person" in line.ceiling.name:
        person = NamedValue("one person, published", Value(line.ceiling.value), line.ceiling.source)
    n_words = len(set(asked.draws.codes.tolist()))
    return ShownLine(
        *about, asked.n_items, n_words, asked.chance, ceiling, person, mean, figures, _people(asked), line.remark
    )  # fmt: skip


def _ceiling(asked: AskedLine) -> NamedValue | None:
    line = asked.line
    if isinstance(line.ceiling, PrintedFigure):
        return NamedValue(f"{line.ceiling.name}, published", Value(line.ceiling.value), line.ceiling.source)
    if asked.rated is None:
        return NamedValue(ALL_RIGHT, Value(1.0))
    return _named(asked.ceiling_name, asked.rated.ceilings[line.ceiling])


def _named(name: str, result: Estimate | Undefined) -> NamedValue | None:
    return NamedValue(name, _value(result)) if isinstance(result, Estimate) else None


def _value(estimate: Estimate) -> Value:
    interval = estimate.interval
    return Value(estimate.value, interval.low, interval.high) if interval.is_defined else Value(estimate.value)


def _people(asked: AskedLine) -> tuple[NamedValue, ...]:
    """What people reach, by name, and how it was computed."""
    line, rated = asked.line, asked.rated
    made = []
    if rated is not None:
        if isinstance(rated.person, Estimate):
            how = (
                f"each of {rated.person.n} raters against the mean of the others, averaged"
                if rated.raters
                else "pooled: a rating against the mean of the item’s other ratings; raters have no identity here"
            )
            made.append(NamedValue("One person", _value(rated.person), how))
        if isinstance(rated.mean, Estimate):
            halves = f"; by random halves {_value(rated.halves).text}" if isinstance(rated.halves, Estimate) else ""
            what = "spread" if line.statistic == "spread" else "mean"
            how = f"what the {what} of as many other people would be expected to reach (reliability{halves})"
            made.append(NamedValue("Mean of people", _value(rated.mean), how))
        if isinstance(rated.attainable, Estimate):
            how = "a flawless predictor of these means (root of the reliability)"
            made.append(NamedValue("Attainable", _value(rated.attainable), how))
    elif isinstance(line.ceiling, PrintedFigure):
        how = f"as printed ({line.ceiling.source}). Single answers were not published: it has no interval."
        made.append(NamedValue(line.ceiling.name.capitalize(), Value(line.ceiling.value), how))
    else:
        how = "all right: the correct answers are given with the items, no people answered them here"
        made.append(NamedValue("Ceiling", Value(1.0), how))
    for figure in line.figures:
        how = f"as printed ({figure.source}); shown as a dotted ring, never used as a ceiling"
        made.append(NamedValue(figure.name.capitalize(), Value(figure.value), how))
    return tuple(made)


def _shown_model(profile: Profile, model: ProfiledModel, lines: Mapping[str, ShownLine]) -> ShownModel:
    cells = {name: _cell(outcome) for name, outcome in model.outcomes.items()}
    families = tuple(_shown_family(profile, model, family, title, lines) for family, title in FAMILIES.items())
    return ShownModel(model.id, model.title, _facts(model.facts), cells, families)


def _facts(facts: SubjectFacts) -> str:
    parts = [facts.kind.replace("_", " ")] if facts.kind else []
    if facts.n_parameters:
        size = f"{facts.n_parameters / 1e6:.1f} M" if facts.n_parameters < 1e9 else f"{facts.n_parameters / 1e9:.1f} B"
        parts.append(f"{size} parameters")
    if facts.n_layers:
        parts.append(counted(facts.n_layers, "layer"))
    parts.append(", ".join(map(language_name, facts.languages)) or "language not declared")
    return " · ".join(parts)


def _cell(outcome: Outcome) -> ShownCell:
    if isinstance(outcome, NoNumber):
        return ShownCell(outcome.kind, outcome.why)
    low, high = value_interval(outcome)
    share = outcome.share
    return ShownCell(
        value=Value(outcome.reached.value, low, high),
        share=Value(share.value, share.low, share.high) if share is not None else None,
        refused=outcome.refused,
        asked=outcome.asked,
        variants=tuple(ShownVariant(v.name, v.value, v.declared) for v in outcome.variants),
        varied=outcome.varied,
        layers=outcome.reached.layers,
        note=f"The layer is chosen on nine tenths of the words and used on the other tenth; {outcome.reached.note}."
        if outcome.reached.note
        else "",
        of_raters=share.of_raters if share is not None and share.deviations else 0.0,
        needed=_needed_text(outcome.needed),
        needed_note=_needed_note(outcome.needed),
    )


def _needed_text(needed: Estimate | Undefined | None) -> str:
    """The number needed to beat with the ends of its interval.

    >>> from lexiscope.core.result import Interval
    >>> _needed_text(Estimate("number_needed_to_beat", 2.0, Interval(1.0, 3.0, 0.95, "inverted")))
    '2 [1, 3]'
    """
    if not isinstance(needed, Estimate):
        return ""
    interval = needed.interval
    return f"{needed.value:.0f}" + (f" [{interval.low:.0f}, {interval.high:.0f}]" if interval.is_defined else "")


def _needed_note(needed: Estimate | Undefined | None) -> str:
    if isinstance(needed, Undefined):
        return needed.reason
    return "; ".join(filter(None, (needed.note, needed.interval.note))) if needed is not None else ""


def _shown_family(
    profile: Profile, model: ProfiledModel, family: Family, title: str, lines: Mapping[str, ShownLine]
) -> ShownFamily:
    own = [line for line in profile.battery.lines if line.family == family]
    outcomes = {line.line: model.outcomes[line.line] for line in own}
    shares = {
        name: outcome.share
        for name, outcome in outcomes.items()
        if isinstance(outcome, Measured) and outcome.share is not None
    }
    parts = tuple(
        NamedValue(lines[name].title, Value(share.value, share.low, share.high)) for name, share in shares.items()
    )
    if family not in model.families:
        return ShownFamily(family, title, None, (), len(own), why=_why(list(outcomes.values())))
    share = model.families[family]
    person, mean = (_mean_share(lines, list(shares), who) for who in ("person", "mean"))
    figures = tuple(
        NamedValue(figure.name, Value(value), figure.about)
        for name in shares
        for figure in lines[name].figures
        if len(shares) == 1 and (value := lines[name].share(figure.value.value)) is not None
    )
    reached = Value(share.value, share.low, share.high)
    return ShownFamily(family, title, reached, parts, len(own), person, mean, figures)


def _mean_share(lines: Mapping[str, ShownLine], names: list[str], who: str) -> float | None:
    """The mean over the lines with a share of what people reach; nothing where one of them has no people."""
    values = []
    for name in names:
        person: NamedValue | None = getattr(lines[name], who)
        share = lines[name].share(person.value.value) if person is not None else None
        if share is None:
            return None
        values.append(share)
    return sum(values) / len(values) if values else None


def _why(outcomes: list[Outcome]) -> str:
    if not outcomes:
        return "not asked: the battery has no line of this family"
    gaps = [outcome for outcome in outcomes if isinstance(outcome, NoNumber)]
    reasons = list(dict.fromkeys(f"{gap.kind}: {gap.why}" for gap in gaps))
    return reasons[0] if len(reasons) == 1 else "; ".join(dict.fromkeys(gap.kind for gap in gaps)) + " (see the lines)"


def _shown_pairs(name: str, pairs: ModelPairs) -> ShownComparison:
    shown = tuple(
        ShownPair(pair.first, pair.second, Value(pair.difference, pair.low, pair.high), pair.differs)
        for pair in pairs.pairs
    )
    return ShownComparison(name, pairs.models, shown, pairs.sets(), pairs.critical, tuple(map(str, pairs.ranks)))
