"""Sentences of a profile: direction, size, interval, and people; made of values by rule."""

from __future__ import annotations

from lexiscope.core.showing import counted, enumerated
from lexiscope.report.profile.content import (
    ShownComparison,
    ShownLine,
    ShownModel,
    ShownProfile,
    Value,
)


def percent(value: float) -> str:
    """Return a share as whole percent, with a minus sign: the same two digits as its decimals have.

    >>> percent(0.397), percent(-0.05), percent(0.735)
    ('40', '−5', '73')
    """
    return f"{100 * float(f'{value:.2f}'):.0f}".replace("-", "−")


def percent_interval(value: Value) -> str:
    """Return the interval of a share in percent, in brackets; empty without one."""
    if value.low is None or value.high is None:
        return ""
    return f"[{percent(value.low)}, {percent(value.high)}]"


def line_sentence(model: ShownModel, line: ShownLine) -> str:
    """Return what a model reaches on a line, in one sentence; why it has no number, if it has none."""
    cell = model.cells[line.id]
    if cell.value is None:
        return f"{line.title}: {cell.gap}. {cell.why[:1].upper()}{cell.why[1:]}."
    value, single = cell.value, line.person
    above = value.low is not None and value.low > line.chance
    below = value.high is not None and value.high < line.chance
    quantity = f"{line.statistic} = {value.both}"
    if below:
        against = f"{model.title} goes against the correct answers, {quantity}"
        return f"{line.title}: {against}; chance is {_plain(line.chance)}."
    if not above:
        what = f"{quantity} includes chance ({_plain(line.chance)})"
        return f"{line.title}: no sign that {model.title} knows this, {what}."
    if line.statistic == "ρ":
        text = f"{line.title}: {model.title} follows people’s ratings, {quantity}"
    elif line.statistic == "accuracy":
        text = f"{line.title}: {model.title} is right about {percent(value.value)} % of the items"
        text += f" {percent_interval(value)}"
    else:
        text = f"{line.title}: {model.title} puts right before wrong in {percent(value.value)} % of pairs"
        text += f" {percent_interval(value)}"
    share = (
        ""
        if cell.share is None or line.statistic != "ρ"
        else f": {percent(cell.share.value)} % of the attainable {percent_interval(cell.share)}"
    )
    return f"{text}{share}{_person_text(line, value, single.value if single else None)}."


def _person_text(line: ShownLine, value: Value, person: Value | None) -> str:
    if line.statistic != "ρ":
        said = f", a person {percent(person.value)} %" if person else ""
        return f"; chance is {percent(line.chance)} %{said}"
    if person is None:
        return ""
    if value.low is not None and value.low > person.value and line.mean is not None:
        where = "below" if value.high is not None and value.high < line.mean.value.value else "near"
        return f"; above a single rater ({person.text}), {where} the mean of people ({line.mean.value.text})"
    return f"; one person reaches {person.text}"


def _plain(value: float) -> str:
    return Value(value).text if value else "0"


def lead(profile: ShownProfile, model: ShownModel) -> tuple[str, ...]:
    """Return three sentences: the lines whose shares are furthest apart, and one of another family."""
    shares = {line.id: cell.share.value for line in profile.lines if (cell := model.cells[line.id]).share is not None}
    if not shares:
        return ("No line of this battery has a number for this model: see the reasons below.",)
    order = sorted(shares, key=shares.__getitem__)
    chosen = list(dict.fromkeys((order[-1], order[0])))
    families = {profile.line(name).family for name in chosen}
    rest = [name for name in order if name not in chosen]
    other = [name for name in rest if profile.line(name).family not in families] or rest
    chosen += other[-1:]
    return tuple(line_sentence(model, profile.line(name)) for name in chosen)


def comparison_sentence(profile: ShownProfile, comparison: ShownComparison) -> str:
    """Return what the comparison of models on a line says: how many are above one person, and who differs."""
    line = profile.line(comparison.line)
    titles = {model.id: model.title for model in profile.models}
    n, text = len(comparison.models), f"{line.title}: "
    if n == 2:
        return text + difference_sentence(profile, comparison, *comparison.models)
    if line.person is not None and line.statistic == "ρ":
        values = [profile.model(name).cells[line.id].value for name in comparison.models]
        above = sum(value is not None and value.value > line.person.value.value for value in values)
        text += f"of {n} models, {above} {'is' if above == 1 else 'are'} above one person ({line.person.value.text}). "
    top = comparison.models[0]
    near = [name for name in comparison.models[1:] if (pair := comparison.between(top, name)) and not pair.differs]
    if len(near) == n - 1:
        return f"{text}{titles[top]}, the highest, cannot be distinguished from any other model."
    others = f"differs from {'the others' if near else 'all others'}"
    some = enumerated([titles[name] for name in near]) if len(near) <= 3 else counted(len(near), "other model")
    same = f" cannot be distinguished from {some}; it" if near else ""
    return f"{text}{titles[top]}{same} {others}."


def difference_sentence(profile: ShownProfile, comparison: ShownComparison, first: str, second: str) -> str:
    """Return the paired difference of two models on a line, in one sentence."""
    pair = comparison.between(first, second)
    line = profile.line(comparison.line)
    a, b = profile.model(first).title, profile.model(second).title
    if pair is None:
        return ""
    if pair.differs:
        high, low = (a, b) if pair.difference.value > 0 else (b, a)
        d = pair.difference if pair.difference.value > 0 else comparison.between(second, first).difference  # type: ignore[union-attr]
        return f"{high} scores above {low} by {d.both} on the same {line.n_words} words."
    return f"{a} and {b} cannot be distinguished with these {line.n_words} words (difference {pair.difference.both})."
