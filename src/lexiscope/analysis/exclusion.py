"""Exclusions: declared rules, applied once and in order, with a log that accounts for every participant and trial.

A statistic inside a rule (mean completion time, agreement with the others) is computed on those who are still in when
the rule's turn comes; nothing is computed again after a later rule. Each participant is attributed to the first rule
that caught them. Only people are judged: rows of models pass through. Catch items stay in the table; leave them out of
the item statistics by their ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, Protocol

import numpy as np

from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.bootstrap import BoolArray, FloatArray
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError, LexiscopeError, SpecError, StatisticError
from lexiscope.core.response import ResponseColumns, ResponseTable, holds_simulated
from lexiscope.core.result import parse_statistic, statistic_name
from lexiscope.core.simulated import PARTICIPANT, SIMULATED

# -- exclusion rules ------------------------------------------------------------------------------------------------
# Rules that say whose answers are not used. Each is declared before the data are seen and judges one table once.
#
# Demographic and timing answers are rows of the same table as the ratings (measures ``native_speaker``,
# ``completion_time`` in ms, ``rating``). ``missing`` says what happens to a participant whom a rule cannot judge (no
# such answer, or no agreement because all ratings are equal): stop with an ``error``, ``exclude``, or ``keep`` and log
# it.


Missing = Literal["error", "exclude", "keep"]
Summary = Literal["mean", "median", "min", "max", "sum", "sd"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a rule found: the subjects that it catches, and those that it cannot judge, with the reason."""

    caught: frozenset[str]
    unknown: Mapping[str, str]


class Rule(Protocol):
    """A declared exclusion rule."""

    @property
    def missing(self) -> Missing:
        """What happens to a subject that the rule cannot judge."""
        ...

    def describe(self) -> str:
        """Return the rule as a sentence for the report and the pre-registration."""
        ...

    def judge(self, table: ResponseColumns, subjects: Sequence[str]) -> Judgement:
        """Judge *subjects* on *table*, which holds only their answers.

        Errors: :class:`InputError` if the table does not have the measure.
        """
        ...


@dataclass(frozen=True, slots=True)
class FailedCatch:
    """Excludes who answered more than ``allowed`` catch items off ``expected`` by more than ``tolerance``.

    A participant is judged on the catch items that they were shown; one who was shown none cannot be judged. A catch
    item without a readable answer is failed. *Source:* SAW-C §3.2 (the same sentence twice, expected answer 5).
    """

    items: tuple[str, ...]
    expected: float
    tolerance: float = 0.0
    allowed: int = 0
    measure: str = "rating"
    missing: Missing = "error"

    def describe(self) -> str:
        """Return the rule as a sentence."""
        within = f" ± {self.tolerance:g}" if self.tolerance else ""
        return (
            f"Excluded if more than {self.allowed} of the catch items {', '.join(self.items)} were not answered with "
            f"{self.expected:g}{within} (measure {self.measure})."
        )

    def judge(self, table: ResponseColumns, subjects: Sequence[str]) -> Judgement:
        """Judge *subjects* on their answers to the catch items."""
        rows = _rows(table, self.measure, type(self).__name__, item_id=self.items)
        # written as "not within", so that a missing answer counts as wrong
        wrong = ~(np.abs(rows.column("value") - self.expected) <= self.tolerance)
        return _count_wrong(rows, wrong, self.allowed, subjects, "saw no catch item")


@dataclass(frozen=True, slots=True)
class AttentionCheck:
    """Excludes who failed more than ``allowed`` attention checks, all rows of a measure. *Source:* AmbiStory §3.4."""

    expected: float = 1.0
    allowed: int = 0
    measure: str = "attention_check"
    missing: Missing = "error"

    def describe(self) -> str:
        """Return the rule as a sentence."""
        return (
            f"Excluded if more than {self.allowed} attention checks (measure {self.measure}) were not answered with "
            f"{self.expected:g}."
        )

    def judge(self, table: ResponseColumns, subjects: Sequence[str]) -> Judgement:
        """Judge *subjects* on their attention checks."""
        rows = _rows(table, self.measure, type(self).__name__)
        wrong = rows.column("value") != self.expected
        return _count_wrong(rows, wrong, self.allowed, subjects, "had no attention check")


@dataclass(frozen=True, slots=True)
class FailedQualification:
    """Excludes whose mean score in the qualification test is below ``minimum``. *Source:* AmbiStory §3.4."""

    minimum: float
    measure: str = "qualification"
    missing: Missing = "error"

    def describe(self) -> str:
        """Return the rule as a sentence."""
        return (
            f"Excluded if the mean score of the qualification test (measure {self.measure}) is below {self.minimum:g}."
        )

    def judge(self, table: ResponseColumns, subjects: Sequence[str]) -> Judgement:
        """Judge *subjects* on their qualification scores."""
        rows = _rows(table, self.measure, type(self).__name__)
        return _compare(rows, "value", "mean", subjects, below=self.minimum)


@dataclass(frozen=True, slots=True)
class TooSlow:
    """Excludes whose completion time lies more than ``sd`` standard deviations (n − 1) above the mean.

    Mean and SD are over the participants still in when the rule is applied. *Source:* SAW-C §3.2.
    *Unit:* as recorded (ms).
    """

    sd: float = 3.0
    measure: str = "completion_time"
    missing: Missing = "error"

    def describe(self) -> str:
        """Return the rule as a sentence."""
        return (
            f"Excluded if the completion time (measure {self.measure}) lies more than {self.sd:g} standard deviations "
            "above the mean of the participants not excluded by an earlier rule."
        )

    def judge(self, table: ResponseColumns, subjects: Sequence[str]) -> Judgement:
        """Judge *subjects* on their completion times."""
        rows = _rows(table, self.measure, type(self).__name__)
        # mean and SD of those still in, each of them once however many rows they have
        times, _ = _summaries(rows, "value", "mean", subjects)
        known = times[~np.isnan(times)]
        if len(known) < 2:
            raise StatisticError(f"TooSlow: {len(known)} completion times have no standard deviation")
        return _compare(rows, "value", "mean", subjects, above=float(known.mean() + self.sd * known.std(ddof=1)))


@dataclass(frozen=True, slots=True)
class LowAgreement:
    """Excludes whose squared correlation with the others' mean (leave-one-out) is below ``r_squared``.

    Computed among the participants still in. The square alone would keep a rater who uses the scale upside down;
    ``require_positive`` excludes r <= 0 as well. ``ignore_items`` (catch items) do not count. *Source:* SAW-C §3.2.
    """

    r_squared: float = 0.1
    method: Literal["pearson", "spearman"] = "pearson"
    require_positive: bool = True
    ignore_items: tuple[str, ...] = ()
    measure: str = "rating"
    missing: Missing = "error"

    def describe(self) -> str:
        """Return the rule as a sentence."""
        sign = ", or if r is not positive" if self.require_positive else ""
        return (
            f"Excluded if the squared {self.method.capitalize()} correlation of the ratings (measure {self.measure}) "
            "with the mean of the other participants not excluded by an earlier rule is below "
            f"{self.r_squared:g}{sign}."
        )

    def judge(self, table: ResponseColumns, subjects: Sequence[str]) -> Judgement:
        """Judge *subjects* on their agreement with each other."""
        agreement = leave_one_out(self._ratings(table), method=self.method, resamples=0)
        low = (agreement.values**2 < self.r_squared) | (self.require_positive & (agreement.values <= 0))
        # raters without a value of their own are not "low": the rule's declaration decides about them
        unknown = dict(agreement.undefined)
        seen = {*agreement.rater_ids, *unknown}
        unknown |= {subject: "has no rating" for subject in subjects if subject not in seen}
        return Judgement(frozenset(np.array(agreement.rater_ids)[low].tolist()), unknown)

    def _ratings(self, table: ResponseColumns) -> Ratings:
        if self.measure not in table.unique("measure"):
            raise _not_collected(type(self).__name__, self.measure)
        if self.ignore_items:
            table = table.where(item_id=[item for item in table.unique("item_id") if item not in self.ignore_items])
        return Ratings.from_table(table, measure=self.measure)


@dataclass(frozen=True, slots=True)
class SelfReport:
    """Excludes who gave a certain answer about themselves: a number, or the text of an option.

    *Source:* SAW-C §3.2 (native speaker: no).
    """

    measure: str
    value: float | str
    missing: Missing = "error"

    def describe(self) -> str:
        """Return the rule as a sentence."""
        return f"Excluded if the answer to {self.measure} was {self.value}."

    def judge(self, table: ResponseColumns, subjects: Sequence[str]) -> Judgement:
        """Judge *subjects* on what they said about themselves."""
        rows = _rows(table, self.measure, type(self).__name__)
        name = "option" if isinstance(self.value, str) else "value"
        # NaN is the one number that differs from itself
        answered = rows.where(
            **{name: [answer for answer in rows.unique(name) if answer is not None and answer == answer]}
        )
        given = answered.column(name) == self.value
        return _count_wrong(answered, np.asarray(given, dtype=bool), 0, subjects, f"did not answer {self.measure}")


@dataclass(frozen=True, slots=True)
class ThresholdRule:
    """Excludes whose summary of any measure lies strictly above or below a bound.

    ``column`` is ``value`` or ``rt_ms`` (for instance: median response time below 200 ms).
    """

    measure: str
    side: Literal["above", "below"]
    bound: float
    summary: Summary = "mean"
    column: Literal["value", "rt_ms"] = "value"
    missing: Missing = "error"

    def describe(self) -> str:
        """Return the rule as a sentence."""
        return (
            f"Excluded if the {self.summary} of {self.column} (measure {self.measure}) is {self.side} {self.bound:g}."
        )

    def judge(self, table: ResponseColumns, subjects: Sequence[str]) -> Judgement:
        """Judge *subjects* on the summary of the measure."""
        rows = _rows(table, self.measure, type(self).__name__)
        bounds: dict[str, float] = {self.side: self.bound}
        return _compare(rows, self.column, self.summary, subjects, **bounds)


def _rows(table: ResponseColumns, measure: str, rule: str, **where: object) -> ResponseColumns:
    rows = table.where(measure=measure, **where)
    if not len(rows):
        raise _not_collected(rule, measure, **where)
    return rows


def _not_collected(rule: str, measure: str, **where: object) -> InputError:
    what = f"{rule} cannot be judged: no answer has the measure {measure!r}"
    chosen = "".join(f" and {name} among {value}" for name, value in where.items())
    return InputError(what + chosen, hint="collect it, or remove the rule: it would exclude no participant")


def _count_wrong(rows: ResponseColumns, wrong: Any, allowed: int, subjects: Sequence[str], reason: str) -> Judgement:
    codes, ids = rows.codes("subject_id")
    count = np.bincount(codes[np.asarray(wrong, dtype=bool)], minlength=len(ids))
    caught = frozenset(np.array(ids, dtype=object)[count > allowed].tolist())
    seen = set(ids)
    return Judgement(caught, {subject: reason for subject in subjects if subject not in seen})


def _compare(
    rows: ResponseColumns,
    column: str,
    summary: Summary,
    subjects: Sequence[str],
    *,
    above: float = np.inf,
    below: float = -np.inf,
) -> Judgement:
    values, reasons = _summaries(rows, column, summary, subjects)
    # NaN compares as false: who has no value is not caught but listed in the reasons
    caught = (values > above) | (values < below)
    return Judgement(frozenset(np.array(subjects, dtype=object)[caught].tolist()), reasons)


def _summaries(
    rows: ResponseColumns, column: str, summary: Summary, subjects: Sequence[str]
) -> tuple[FloatArray, dict[str, str]]:
    """Each subject's summary, NaN where there is none, and why there is none."""
    codes, ids = rows.codes("subject_id")
    values = rows.column(column).astype(np.float64)
    given = ~np.isnan(values)
    order = np.argsort(codes[given], kind="stable")
    starts = np.searchsorted(codes[given][order], np.arange(1, len(ids)))
    by_id = dict(zip(ids, np.split(values[given][order], starts), strict=True))
    least = 2 if summary == "sd" else 1
    answers = {subject: by_id.get(subject, np.empty(0)) for subject in subjects}
    summaries = [_summary(part, summary) if len(part) >= least else np.nan for part in answers.values()]
    lacking = {subject: f"has {len(part)} values of {column}" for subject, part in answers.items() if len(part) < least}
    return np.array(summaries, dtype=np.float64), lacking


def _summary(values: FloatArray, summary: Summary) -> float:
    if summary == "median":
        return float(np.median(values))
    if summary == "sd":
        return float(values.std(ddof=1))
    if summary == "mean":
        return float(values.mean())
    if summary == "sum":
        return float(values.sum())
    return float(values.min() if summary == "min" else values.max())


# ---------------------------------------------------------------------------------------------------------------------


__all__ = [
    "AttentionCheck",
    "ExclusionResult",
    "FailedCatch",
    "FailedQualification",
    "LowAgreement",
    "Rule",
    "RuleLog",
    "SelfReport",
    "ThresholdRule",
    "TooSlow",
    "apply",
    "format_rule",
    "parse_rule",
]

RULES: dict[str, type] = {
    "failed_catch": FailedCatch,
    "too_slow": TooSlow,
    "low_agreement": LowAgreement,
    "self_report": SelfReport,
    "attention_check": AttentionCheck,
    "failed_qualification": FailedQualification,
    "threshold": ThresholdRule,
}
"""The rules by the name under which a study file declares them."""

_ALLOWED = {
    "missing": ("error", "exclude", "keep"),
    "side": ("above", "below"),
    "summary": ("mean", "median", "min", "max", "sum", "sd"),
    "column": ("value", "rt_ms"),
    "method": ("pearson", "spearman"),
}


@dataclass(frozen=True, slots=True)
class RuleLog:
    """What one rule did: participants and trials before and after, who was excluded, and who could not be judged."""

    rule: str
    description: str
    order: int
    n_before: int
    n_excluded: int
    n_after: int
    trials_before: int
    trials_after: int
    excluded: tuple[str, ...]
    not_judged: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ExclusionResult:
    """The table that is kept, and one log entry per rule."""

    kept: ResponseTable
    log: tuple[RuleLog, ...]
    n_before: int
    n_after: int
    trials_before: int
    trials_after: int

    @property
    def attribution(self) -> dict[str, str]:
        """Each excluded participant's rule."""
        return {subject: entry.rule for entry in self.log for subject in entry.excluded}


def apply(rules: Sequence[Rule], table: ResponseTable, *, kind: str = "", trials: str = "rating") -> ExclusionResult:
    """Apply exclusion rules in order to the subjects of one kind; a trial is a row of the measure *trials*.

    Without a *kind* the participants are judged, or the simulated participants of a rehearsal.

    *Source:* SAW-C §3.2, AmbiStory §3.

    Errors: :class:`InputError` or :class:`StatisticError` naming the rule that cannot be judged, and, under
    ``missing="error"``, the participant; :class:`InputError` where the table has no one of this kind.
    """
    kind = kind or (SIMULATED if holds_simulated(table) else PARTICIPANT)
    judged = table.column("subject_kind") == kind
    code, ids = table.codes("subject_id")
    everybody = sorted(ids[k] for k in np.unique(code[judged]).tolist())
    if not everybody:
        raise InputError(f"there is no subject of the kind {kind!r} to exclude")
    # answers about the participant (age, time) are rows too, but no trials
    is_trial = judged & (table.column("measure") == trials)
    inside: BoolArray = np.asarray(judged, dtype=bool)
    log: list[RuleLog] = []
    remaining = everybody
    for order, rule in enumerate(rules, start=1):
        judgement = _judge(rule, table.filter(inside), remaining)
        # those that cannot be judged leave only where the rule was declared so
        out = sorted(judgement.caught | (set(judgement.unknown) if rule.missing == "exclude" else set()))
        # a narrower mask, not a new table: order and rows of the kept table are those of the input
        after = inside & ~np.isin(ids, out)[code]
        counts = (int((is_trial & inside).sum()), int((is_trial & after).sum()))
        log.append(_entry(rule, order, len(remaining), out, counts, judgement))
        inside, remaining = after, [subject for subject in remaining if subject not in set(out)]
    kept = table.filter(np.asarray(inside | ~judged, dtype=bool))
    n_trials = (int(is_trial.sum()), int((is_trial & inside).sum()))
    return ExclusionResult(kept, tuple(log), len(everybody), len(remaining), *n_trials)


def format_rule(rule: Rule) -> str:
    """Return a rule as text that :func:`parse_rule` reads back, every setting written out.

    >>> format_rule(TooSlow(sd=3))
    'too_slow(sd=3,measure=completion_time,missing=error)'
    """
    name = next(name for name, kind in RULES.items() if type(rule) is kind)
    settings = {field.name: _as_text(getattr(rule, field.name)) for field in fields(rule)}  # type: ignore[arg-type]
    return statistic_name(name, **{key: value for key, value in settings.items() if value})


def parse_rule(text: str) -> Rule:
    """Read a rule as a study file declares it: ``name(setting=value,…)``, several items joined by ``|``.

    Errors: :class:`SpecError` for an unknown rule or setting, or a value of the wrong type.

    >>> parse_rule("failed_catch(items=c1|c2,expected=5)").describe()
    'Excluded if more than 0 of the catch items c1, c2 were not answered with 5 (measure rating).'
    """
    try:
        name, given = parse_statistic(text)
    except SpecError as error:
        hint = f"write name(setting=value,…), the name one of: {', '.join(RULES)}"
        raise SpecError(f"{text!r} is not an exclusion rule", hint=hint) from error
    if name not in RULES:
        raise SpecError(f"no exclusion rule {name!r}", hint=f"valid names: {', '.join(RULES)}")
    kind = RULES[name]
    known = {field.name: str(field.type) for field in fields(kind)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise SpecError(f"{name} has no setting {unknown[0]!r}", hint=f"valid names: {', '.join(known)}")
    required = [field.name for field in fields(kind) if field.name not in given and field.default is MISSING]
    if required:
        raise SpecError(f"{name} needs {', '.join(required)}", hint=f"write {name}({required[0]}=…)")
    rule: Rule = kind(**{key: _read(name, key, known[key], value) for key, value in given.items()})
    return rule


def _judge(rule: Rule, table: ResponseColumns, subjects: Sequence[str]) -> Judgement:
    text = format_rule(rule)
    if not subjects:
        raise InputError(f"{text} cannot be judged: earlier rules excluded every participant")
    try:
        judgement = rule.judge(table, subjects)
    except LexiscopeError as error:
        # same class, so that callers still tell wrong input from an undefined statistic
        raise type(error)(f"exclusion rule {text}: {error.what}", why=error.why, hint=error.hint) from error
    if judgement.unknown and rule.missing == "error":
        first, reason = sorted(judgement.unknown.items())[0]
        raise InputError(
            f"exclusion rule {text} cannot judge {len(judgement.unknown)} participants, first {first!r}: {reason}",
            hint='declare what happens to them: missing="exclude" or missing="keep"',
        )
    return judgement


def _entry(
    rule: Rule, order: int, n_before: int, out: Sequence[str], trials: tuple[int, int], judgement: Judgement
) -> RuleLog:
    return RuleLog(
        rule=format_rule(rule),
        description=rule.describe(),
        order=order,
        n_before=n_before,
        n_excluded=len(out),
        n_after=n_before - len(out),
        trials_before=trials[0],
        trials_after=trials[1],
        excluded=tuple(out),
        not_judged=tuple(sorted(judgement.unknown.items())),
    )


def _as_text(value: object) -> str:
    if isinstance(value, tuple):
        return "|".join(value)
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _read(rule: str, key: str, kind: str, text: str) -> Any:
    """Turn a setting's text into the type that its field declares."""
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in text.split("|"))
    if kind == "bool":
        if text not in ("True", "False"):
            raise SpecError(f"{rule}: {key} is True or False, not {text!r}")
        return text == "True"
    if key in _ALLOWED and text not in _ALLOWED[key]:
        raise SpecError(f"{rule}: {key} is one of {', '.join(_ALLOWED[key])}, not {text!r}")
    if kind not in ("int", "float", "float | str"):
        return text
    try:
        return int(text) if kind == "int" else float(text)
    except ValueError:
        if kind == "float | str":
            return text
        raise SpecError(f"{rule}: {key} is a number, not {text!r}") from None
