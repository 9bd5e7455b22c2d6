"""Sentences for researchers, with their numbers: names of statistics, exclusion rules, reasons for a missing figure.

A phrase is English until a page translates it: its text is in the catalogues of the pages (``docs/make_catalogs.py``).
"""

from __future__ import annotations

import gettext
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lexiscope.analysis.exclusion import (
    AttentionCheck,
    FailedCatch,
    FailedQualification,
    LowAgreement,
    Rule,
    SelfReport,
    ThresholdRule,
    TooSlow,
)

_ENGLISH = gettext.NullTranslations()


def msg(text: str) -> str:
    """Mark a text of the program for the catalogues, and return it unchanged; a page translates it."""
    return text


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence with its values, some of which may be phrases; ``more`` is its plural form, for *n* other than 1.

    >>> print(plural("%(n)s item", "%(n)s items", 3))
    3 items
    """

    text: str
    values: Mapping[str, object] = field(default_factory=dict)
    more: str = ""
    n: int = 1

    def __str__(self) -> str:
        return self.translated(_ENGLISH)

    def translated(self, texts: gettext.NullTranslations) -> str:
        """Return the sentence in the language of a catalogue."""
        sentence = texts.ngettext(self.text, self.more, self.n) if self.more else texts.gettext(self.text)
        values = {
            name: value.translated(texts) if isinstance(value, Phrase) else value for name, value in self.values.items()
        }
        return sentence % values if values else sentence


def plural(single: str, more: str, n: int, **values: object) -> Phrase:
    """Return a phrase that counts: *single* for 1, otherwise *more*; ``%(n)s`` is the count."""
    return Phrase(single, {"n": n, **values}, more, n)


# -- statistics -----------------------------------------------------------------------------------------------------


STATISTICS: Mapping[str, Phrase] = MappingProxyType(
    {
        "agreement": Phrase(msg("Agreement")),
        "leave_one_out_agreement(method=spearman)": Phrase(
            msg("Agreement of one rater with the mean of the others (Spearman)")
        ),
        "krippendorff_alpha(level=interval)": Phrase(msg("Krippendorff's α (interval)")),
        "krippendorff_alpha(level=nominal)": Phrase(msg("Krippendorff's α (nominal)")),
    }
)
"""The names for readers, by the name in ``results.json``."""
RESAMPLED: Mapping[str, Phrase] = MappingProxyType(
    {
        "raters": Phrase(msg("participants resampled")),
        "items": Phrase(msg("items resampled")),
        "raters_and_items": Phrase(msg("participants and items resampled")),
    }
)
"""What an interval resampled, by its name in the interval's method."""

NO_ANSWERS = Phrase(msg("No answers of valid participants yet."))
ARE_TEXTS = Phrase(msg("The answers are texts, which have no agreement statistic."))
NO_VARIATION = Phrase(msg("All answers are equal, so the statistic is undefined."))
UNDEFINED = Phrase(msg("The statistic is undefined for these answers."))
NO_INTERVAL = Phrase(msg("No interval yet: too few participants or items."))


def too_few_raters(n: int, *, needed: int = 2) -> Phrase:
    """Return the reason that a comparison of participants needs more of them.

    >>> print(too_few_raters(1, needed=3))
    1 participant so far; 3 needed.
    """
    return plural(
        "%(n)s participant so far; %(needed)s needed.",
        "%(n)s participants so far; %(needed)s needed.",
        n,
        needed=needed,
    )


def too_few_shared(n: int, *, needed: int) -> Phrase:
    """Return the reason that a participant shares too few items with others."""
    return plural(
        "%(n)s item with ratings by other participants; %(needed)s needed.",
        "%(n)s items with ratings by other participants; %(needed)s needed.",
        n,
        needed=needed,
    )


# -- exclusion rules ------------------------------------------------------------------------------------------------


EXCLUDED_EARLIER = Phrase(msg("Excluded by hand, or by a rule that no longer applies"))
NONE_FINISHED = Phrase(msg("No included participant has finished yet."))
NO_DATA = Phrase(msg("The answers that the rule needs are missing."))
ALL_RULES = Phrase(msg("All rules"))
_SUMMARIES: Mapping[str, str] = {
    "mean": msg("Mean of %(measure)s"),
    "median": msg("Median of %(measure)s"),
    "min": msg("Lowest value of %(measure)s"),
    "max": msg("Highest value of %(measure)s"),
    "sum": msg("Sum of %(measure)s"),
    "sd": msg("SD of %(measure)s"),
}
_SIDES: Mapping[str, str] = {
    "above": msg("%(quantity)s above %(bound)s"),
    "below": msg("%(quantity)s below %(bound)s"),
}


def pending_until(n: int, *, needed: int) -> Phrase:
    """Return the reason that a rule waits for more participants.

    >>> print(pending_until(1, needed=3))
    1 participant so far; the rule needs 3.
    """
    return plural(
        "%(n)s participant so far; the rule needs %(needed)s.",
        "%(n)s participants so far; the rule needs %(needed)s.",
        n,
        needed=needed,
    )


Asked = Mapping[str, tuple[str, Mapping[str, str]]]
"""The questions about the participant by their names: the text of each, and the texts of its options."""


def rule_phrase(rule: Rule, asked: Asked = MappingProxyType({})) -> Phrase:
    """Return an exclusion rule as a phrase; *asked* are the questions about the participant.

    >>> print(rule_phrase(FailedCatch(("catch",), 5)))
    Failed a catch trial (expected answer: 5)
    """
    match rule:
        case FailedCatch():
            expected = f"{rule.expected:g}" + (f" ± {rule.tolerance:g}" if rule.tolerance else "")
            if not rule.allowed:
                return Phrase(msg("Failed a catch trial (expected answer: %(expected)s)"), {"expected": expected})
            return plural(
                "Failed more than %(n)s catch trial (expected answer: %(expected)s)",
                "Failed more than %(n)s catch trials (expected answer: %(expected)s)",
                rule.allowed,
                expected=expected,
            )
        case AttentionCheck():
            if not rule.allowed:
                return Phrase(msg("Failed an attention check"))
            return plural(
                "Failed more than %(n)s attention check", "Failed more than %(n)s attention checks", rule.allowed
            )
        case FailedQualification():
            return Phrase(msg("Mean score in the qualification test below %(bound)s"), {"bound": f"{rule.minimum:g}"})
        case TooSlow():
            return Phrase(msg("Completion time more than %(sd)s SD above the mean"), {"sd": f"{rule.sd:g}"})
        case LowAgreement():
            values = {"bound": f"{rule.r_squared:g}", "method": rule.method.capitalize()}
            return Phrase(msg("Agreement with the other participants below r² = %(bound)s (%(method)s)"), values)
        case SelfReport():
            question, options = asked.get(rule.measure, (rule.measure, {}))
            answer = rule.value if isinstance(rule.value, str) else f"{rule.value:g}"
            values = {"question": question, "answer": options.get(answer, answer)}
            return Phrase(msg("Answer to “%(question)s”: %(answer)s"), values)
        case ThresholdRule():
            measure = rule.measure if rule.column == "value" else f"{rule.column} ({rule.measure})"
            quantity = Phrase(_SUMMARIES[rule.summary], {"measure": measure})
            return Phrase(_SIDES[rule.side], {"quantity": quantity, "bound": f"{rule.bound:g}"})
    return Phrase(rule.describe())
