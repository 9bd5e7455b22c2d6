"""One sentence for each type of result, with direction, size, interval and n; it is never fixed to one outcome.

Readers see the names of statistics in ``names.csv`` (``results.json`` keeps its own), with how the interval is made and
who defined the statistic. A row holds for every statistic of that name whose parameters include those of the row; the
row with the most parameters decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, singledispatch
from pathlib import Path
from typing import Any, cast

from lexiscope.analysis.families import TITLES, Method
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.result import (
    Contrast,
    Counts,
    Curve,
    Curves,
    Estimate,
    Fit,
    Interval,
    Result,
    Undefined,
    parse_statistic,
)
from lexiscope.core.showing import counted
from lexiscope.report.tables import BOUNDED, Format, format_number, p_equation
from lexiscope.resources.tables.delimited import read_csv

NAMES = Path(__file__).parents[1] / "names.csv"
_COLUMNS = ("topic", "statistic", "name", "interval", "source")
_PARAMETER = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True)
class ReaderName:
    """A statistic as a reader meets it.

    ``text`` is the name, ``note`` the parameters that the name does not show (``key = value``, joined by commas),
    ``interval`` how its interval is made, ``source`` the literature of the method. All but the name may be empty.
    """

    text: str
    note: str = ""
    interval: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class _NameRow:
    parameters: Mapping[str, str]
    name: str
    interval: str
    source: str


def reader_name(statistic: str) -> ReaderName:
    """Return the name for readers of a statistic, given its name in ``results.json``.

    A statistic that has no row, such as one of a user's own study, keeps its own words.
    Errors: :class:`SpecError` if *statistic* is not the name of a statistic.

    >>> reader_name("leave_one_out_agreement(method=spearman)").text
    'agreement of one rater with the mean of the others (Spearman)'
    >>> reader_name("split_half_reliability(spearman_brown=of_mean,splits=200)").text
    'split-half reliability of the norms (Spearman–Brown, 200 splits)'
    >>> reader_name("krippendorff_alpha(level=interval,of=tags)").note
    'of = tags'
    >>> reader_name("high_ratings(least=4)")
    ReaderName(text='high ratings', note='least = 4', interval='', source='')
    """
    plain, given = parse_statistic(statistic)
    rows = [row for row in _rows().get(plain, ()) if row.parameters.items() <= given.items()]
    row = max(rows, key=lambda row: len(row.parameters), default=_NameRow({}, plain.replace("_", " "), "", ""))
    shown = {*row.parameters, *_PARAMETER.findall(row.name)}
    text = _PARAMETER.sub(lambda match: given.get(match[1], "…").replace("_", " "), row.name)
    note = ", ".join(f"{key} = {value}" for key, value in given.items() if key not in shown)
    return ReaderName(text, note, row.interval, row.source)


def statistics_by_topic() -> Mapping[str, Sequence[str]]:
    """Return every statistic that has a row, as the table writes it and in its order, by topic.

    >>> "krippendorff_alpha(level=interval)" in statistics_by_topic()["agreement and ceilings"]
    True
    """
    topics = dict[str, list[str]]()
    for _, row in read_csv(NAMES, _COLUMNS).rows():
        topics.setdefault(row["topic"], []).append(row["statistic"])
    return topics


@cache
def _rows() -> Mapping[str, tuple[_NameRow, ...]]:
    rows = dict[str, list[_NameRow]]()
    for place, row in read_csv(NAMES, _COLUMNS).rows():
        plain, parameters = parse_statistic(row["statistic"])
        if not row["name"]:
            raise InputError(f"the statistic {row['statistic']!r} has no name", place=place)
        if any(other.parameters == parameters for other in rows.get(plain, ())):
            raise InputError(f"two rows for the statistic {row['statistic']!r}", place=place, hint="delete one")
        rows.setdefault(plain, []).append(_NameRow(parameters, row["name"], row["interval"], row["source"]))
    return {plain: tuple(entries) for plain, entries in rows.items()}


_FREE = Format("number", 2)
_SUMMARIES = {"min": "lowest", "max": "highest", "sd": "SD of the"}
_VARIANTS = {"spearman": "Spearman", "pearson": "Pearson", "leave_one_out": "leave-one-out"}
_SOURCES_OF_P = {"exact": "exact", "monte_carlo": "Monte Carlo"}


@singledispatch
def sentence(result: Result) -> str:
    """Return one sentence with direction, size, interval and n."""
    raise StatisticError(
        f"{type(result).__name__} cannot be put into words", hint="register it in report.answers.sentences"
    )


def named_sentence(result: Result, title: Callable[[str], str]) -> str:
    """Return the sentence of a result whose subject and condition are called by their *title*, not by their ids."""

    def named(entry: Result) -> Any:
        return entry.about(subject=title(entry.subject), condition=title(entry.condition))

    if isinstance(result, Curves):
        result = replace(result, entries=tuple(map(named, result.entries)))
    elif isinstance(result, Contrast):
        result = replace(result, first=named(result.first), second=named(result.second))
    return sentence(named(result) if isinstance(result, Estimate | Undefined | Curve) else result)


@sentence.register
def _sentence_of_estimate(result: Estimate) -> str:
    meaning = f" (higher means {result.higher})" if result.higher else ""
    size = f"{_value_text(result)}{_interval_text(result.interval, result)}{_n_text(result)}{_test_text(result)}"
    return f"{_name_text(result.name, result)} is {size}{meaning}.{_caution_text(result)}"


@sentence.register
def _sentence_of_undefined(result: Undefined) -> str:
    return f"{_name_text(result.name, result)} is undefined: {result.reason}."


@sentence.register
def _sentence_of_contrast(result: Contrast) -> str:
    first, second = _sides_text(result)
    name, value, interval = _of_both_text(result), _value_text(result), result.interval
    if not interval.is_defined:
        lead = f"{name} of {first} minus that of {second} is {value}{_n_text(result)}"
        return f"{lead}; {interval.note}.{_direction_text(result)}"
    if interval.low <= 0 <= interval.high:
        lead = f"{name} of {first} and that of {second} do not differ reliably: the difference is {value}"
    else:
        word, by = "higher" if result.value > 0 else "lower", format_number(abs(result.value), _form(result))
        lead = f"{name} of {first} is {by} {word} than that of {second}"
    second = f"; {words_of(result.test.name)}{_test_text(result.test).replace(';', ':')}" if result.test else ""
    size = f"{_interval_text(interval, result)}{_n_text(result)}{_test_text(result)}{second}"
    return f"{lead.rstrip(',') if size.startswith(',') else lead}{size}.{_direction_text(result)}"


def _direction_text(result: Contrast) -> str:
    """What a positive difference means, and what to know of the choice of the layers."""
    direction = f" A positive difference: {result.higher}." if result.higher else ""
    return f"{direction}{_caution_text(result)}{_chosen_text(result.chosen, 'layers', 'the difference')}"


@sentence.register
def _sentence_of_curve(result: Curve) -> str:
    if result.best is None:
        return f"{_name_text(result.statistic, result)} is undefined at every layer: {result.values[0].remark}."
    best, last = result.estimate(result.best), result.values[-1]
    assert isinstance(best, Estimate)
    word = "highest" if result.better == "higher" else "lowest"
    end = ""
    if last.layer != result.best and last.value is not None:
        end = f"; at the last layer, {last.layer}, it is {format_number(last.value, _form(result))}"
    where = f"at layer {result.best} ({_value_text(best)}{_interval_text(best.interval, best)})"
    lead = f"{_name_text(result.statistic, result)} is {word} {where}{end}{_n_text(result)}."
    return f"{lead}{_caution_text(result)}{_chosen_text(result.chosen)}"


@sentence.register
def _sentence_of_curves(result: Curves) -> str:
    return " ".join(sentence(entry) for entry in result.entries)


@sentence.register
def _sentence_of_counts(result: Counts) -> str:
    listed = ", ".join(f"{label} {count:,}" for label, count in result.counts)
    return f"{_name_text(result.name, result)}: {listed} (of {result.total:,})."


@sentence.register
def _sentence_of_fit(result: Fit) -> str:
    deciding = result.p if result.p_adjusted is None else result.p_adjusted
    word = "improves" if deciding < 0.05 else "does not reliably improve"
    test = f"χ²({result.df}) = {result.chi2:.2f}, {_p_with_family(result)}, n = {result.n:,}"
    return f"The {result.name} {word} the model ({test}; {result.formula} compared with {result.reduced})."


def _caution_text(result: Estimate | Contrast | Curve) -> str:
    return f" Caution: {result.caution}." if result.caution else ""


def _chosen_text(result: Estimate | Undefined | None, what: str = "layer", value: str = "it") -> str:
    """What a curve or a comparison adds: the value that allows for *what* (a layer) having been chosen."""
    lead = f" Allowing for the choice of the {what} on the same items, {value} is"
    if isinstance(result, Undefined):
        return f"{lead} undefined: {result.reason}."
    return f"{lead} {_value_text(result)}{_interval_text(result.interval, result)}." if result else ""


def words_of(name: str) -> str:
    """Return the name for readers of a statistic, with the parameters that the name does not show in brackets.

    The *summary* and the source of *p* come first, as words; a *method* and a *variant* are shown by their values.

    >>> words_of("spearman(with=norms)"), words_of("my_statistic(least=4)")
    ('Spearman correlation with the norms', 'my statistic (least = 4)')
    >>> words_of("my_agreement(summary=min,variant=leave_one_out,method=spearman)")
    'lowest my agreement (leave-one-out, Spearman)'
    >>> words_of("sign_flip(p=exact)"), words_of("sign_flip(p=monte_carlo,resamples=9999)")
    ('exact sign-flip test', 'Monte Carlo sign-flip test (resamples = 9999)')
    >>> words_of("my_statistic(layer=chosen)"), words_of("best_layer(by=my_statistic)")
    ('my statistic at the layer chosen on other words', 'layer with the best my statistic')
    """
    named = reader_name(name)
    given = dict(entry.split(" = ", 1) for entry in named.note.split(", ")) if named.note else {}
    summary, source_of_p = given.pop("summary", ""), _SOURCES_OF_P.get(given.get("p", ""), "")
    text = f"{_SUMMARIES.get(summary, summary.replace('_', ' ') + ' of the')} {named.text}" if summary else named.text
    if given.get("layer") == "chosen":
        text, _ = f"{text} at the layer chosen on other words", given.pop("layer")
    if source_of_p:
        text, _ = f"{source_of_p} {text}", given.pop("p")
    shown = [_VARIANTS.get(v, v) if k in ("method", "variant") else f"{k} = {v}" for k, v in given.items()]
    return f"{text} ({', '.join(shown)})".replace("_", " ") if shown else text


def _name_text(name: str, result: Result) -> str:
    words = words_of(name)
    of = f" of {_subject_text(result)}" if result.subject else ""
    # "rater=7" is read as "rater 7"
    within = f" for {re.sub(r'=(?=[0-9])', ' ', result.condition)}" if result.condition else ""
    return f"The {words}{of}{within}"


def _subject_text(result: Result) -> str:
    layer = f", layer {result.layer}," if result.layer is not None else ""
    return f"{result.subject or 'all'}{layer}"


def _of_both_text(contrast: Contrast) -> str:
    """The statistic of a comparison, after the condition and the view that both sides share."""
    here, there = contrast.pair
    shared = [here.condition if here.condition == there.condition else ""]
    shared += [f"view {here.view}" if here.view and here.view == there.view else ""]
    of_both, name = ", ".join(filter(None, shared)), words_of(here.name)
    return f"For {of_both}, the {name}" if of_both else f"The {name}"


def _sides_text(contrast: Contrast) -> tuple[str, ...]:
    """What each side of a comparison is: its subject and layer, and the view and the condition if these differ."""
    here, there = contrast.pair
    texts = []
    for side in contrast.pair:
        text = _subject_text(side)
        if side.view and here.view != there.view:
            text = f"{text.rstrip(',')}, view {side.view},"
        if here.condition != there.condition:
            text = f"{text.rstrip(',')} for {side.condition or 'all items'}"
        texts.append(text)
    return tuple(texts)


def _form(result: Result) -> Format:
    return BOUNDED if result.unit in ("", "correlation", "share") else _FREE


def _value_text(result: Estimate | Contrast) -> str:
    unit = f" {result.unit}" if result.unit not in ("", "correlation", "share") else ""
    return format_number(result.value, _form(result)) + unit


def _interval_text(interval: Interval, result: Result) -> str:
    if not interval.is_defined:
        return ""
    low, high = (format_number(end, _form(result)) for end in (interval.low, interval.high))
    return f", {100 * interval.level:g}% CI [{low}, {high}]"


def _n_text(result: Estimate | Contrast | Curve) -> str:
    groups = f" in {counted(result.n_groups, 'group')}" if 0 < result.n_groups < result.n else ""
    if isinstance(result, Contrast) and result.first.n != result.second.n:
        return f", n = {result.first.n:,} and {result.second.n:,}{groups}"
    return f", n = {result.n:,}{groups}" if result.n else ""


def _p_with_family(result: Estimate | Contrast | Fit) -> str:
    raw = p_equation(result.p) if result.p is not None else ""
    adjusted = adjusted_in_words(result.p_adjusted, result.family)
    return ", ".join(filter(None, (raw, adjusted)))


def _test_text(result: Estimate | Contrast) -> str:
    return f"; {_p_with_family(result)}" if result.p is not None else ""


def adjusted_in_words(p: float | None, family: str) -> str:
    """Return an adjusted p with its family's method and number of tests as words; nothing if there is none.

    >>> adjusted_in_words(0.03, "contrasts(method=holm,tests=84)")
    'p = .030 adjusted for 84 tests (Holm)'
    """
    if p is None:
        return ""
    _, given = parse_statistic(family)
    return f"{p_equation(p)} adjusted for {given['tests']} tests ({TITLES[cast(Method, given['method'])]})"
