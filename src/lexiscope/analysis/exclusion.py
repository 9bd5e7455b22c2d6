"""Exclusions: declared rules, applied once and in order, with a log that accounts for every participant and trial.

A statistic inside a rule (mean completion time, agreement with the others) is computed on those who are still in when
the rule's turn comes; nothing is computed again after a later rule. Each participant is attributed to the first rule
that caught them. Only people are judged: rows of models pass through. Catch items stay in the table; leave them out of
the item statistics by their ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from lexiscope.analysis.bootstrap import BoolArray
from lexiscope.analysis.exclusion_rules import (
    AttentionCheck,
    FailedCatch,
    FailedQualification,
    Judgement,
    LowAgreement,
    Rule,
    SelfReport,
    Threshold,
    TooSlow,
)
from lexiscope.core.errors import InputError, LexiscopeError, SpecError
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.result import parse_statistic, statistic_name
from lexiscope.core.simulated import PARTICIPANT, SIMULATED

__all__ = [
    "AttentionCheck",
    "ExclusionResult",
    "FailedCatch",
    "FailedQualification",
    "LowAgreement",
    "Rule",
    "RuleLog",
    "SelfReport",
    "Threshold",
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
    "threshold": Threshold,
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
    ``missing="error"``, the participant; :class:`InputError` where the table has nobody of this kind.
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
        found = _judge(rule, table.filter(inside), remaining)
        # those that cannot be judged leave only where the rule was declared so
        out = sorted(found.caught | (set(found.unknown) if rule.missing == "exclude" else set()))
        # a narrower mask, not a new table: order and rows of the kept table are those of the input
        after = inside & ~np.isin(ids, out)[code]
        counts = (int((is_trial & inside).sum()), int((is_trial & after).sum()))
        log.append(_entry(rule, order, len(remaining), out, counts, found))
        inside, remaining = after, [one for one in remaining if one not in set(out)]
    kept = table.filter(np.asarray(inside | ~judged, dtype=bool))
    n_trials = (int(is_trial.sum()), int((is_trial & inside).sum()))
    return ExclusionResult(kept, tuple(log), len(everybody), len(remaining), *n_trials)


def format_rule(rule: Rule) -> str:
    """Return a rule as text that :func:`parse_rule` reads back, every setting spelled out.

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
        raise SpecError(f"no exclusion rule {name!r}", hint=f"there are: {', '.join(RULES)}")
    kind = RULES[name]
    known = {field.name: str(field.type) for field in fields(kind)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise SpecError(f"{name} has no setting {unknown[0]!r}", hint=f"there are: {', '.join(known)}")
    required = [key for key in known if key not in given and not _has_default(kind, key)]
    if required:
        raise SpecError(f"{name} needs {', '.join(required)}", hint=f"write {name}({required[0]}=…)")
    rule: Rule = kind(**{key: _read(name, key, known[key], value) for key, value in given.items()})
    return rule


def _judge(rule: Rule, table: ResponseTable, subjects: Sequence[str]) -> Judgement:
    text = format_rule(rule)
    if not subjects:
        raise InputError(f"{text} cannot be judged: earlier rules excluded everybody")
    try:
        found = rule.judge(table, subjects)
    except LexiscopeError as error:
        # same class, so that callers still tell wrong input from an undefined statistic
        raise type(error)(f"exclusion rule {text}: {error.what}", why=error.why, hint=error.hint) from error
    if found.unknown and rule.missing == "error":
        first, reason = sorted(found.unknown.items())[0]
        raise InputError(
            f"exclusion rule {text} cannot judge {len(found.unknown)} participants, first {first!r}: {reason}",
            hint='declare what happens to them: missing="exclude" or missing="keep"',
        )
    return found


def _entry(
    rule: Rule, order: int, n_before: int, out: Sequence[str], trials: tuple[int, int], found: Judgement
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
        not_judged=tuple(sorted(found.unknown.items())),
    )


def _as_text(value: object) -> str:
    if isinstance(value, tuple):
        return "|".join(value)
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _has_default(kind: type, key: str) -> bool:
    return next(field.default for field in fields(kind) if field.name == key) is not MISSING


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
