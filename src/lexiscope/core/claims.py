"""What a paper claims, as data: ``claims.csv`` of a study, each claim with a rule over the records of a run.

A rule compares numbers of ``results.json``. Its grammar::

    rule       = comparison { "and" comparison }
    comparison = [ "for most" ] term ( "<" | ">" ) term [ "with p <" number ]
    term       = number | [ "p of" | "mean of" ] statistic [ "[" filter { "," filter } "]" ]
    filter     = field ( "=" | "!=" ) value

``field`` is dataset, subject, layer, view or condition. A value is bare (``layer=12``) or in single quotes
(``condition='test, open'``); ``*`` in it stands for any text. A term with ``*`` or ``!=`` selects several records: the
comparison is made for each of them. Where both sides have the same pattern for a field, they have the same value:
``r[subject=*,layer=1] < r[subject=*,layer=2]`` compares two layers of each subject. After ``for most`` the comparison
has the outcome of more than half of them: ``for most r[subject=*] > .5`` is a claim on most subjects.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal, get_args

from lexiscope.core.errors import InputError, LexiscopeError, Place
from lexiscope.core.result import Record, p_of, parse_statistic, statistic_key
from lexiscope.core.showing import p_text

Outcome = Literal["holds", "holds in part", "reversed", "not shown", "cannot be tested"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

_FIELDS = ("dataset", "subject", "layer", "view", "condition")
_STATISTIC = re.compile(r"\s*([A-Za-z_][\w.]*)")
_NUMBER = re.compile(r"\s*(-?(?:\d+\.?\d*|\.\d+))(?![\w.])")
_VALUE = re.compile(r"\s*('[^']*'|[^\s,\[\]'=!<>]+)")
_ALLOWED = (
    "a rule is TERM < TERM or TERM > TERM, several joined by `and`; a term is a number, or the statistic of a record "
    f"with what it is of, as in name(key=value)[subject=*,layer=12]; fields: {', '.join(_FIELDS)}; `p of` or "
    "`mean of` may come before a statistic, `for most` before a comparison, `with p < .05` after it"
)
_MOST_NAMED = 3


# -- what a rule says -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """What a field of a record must be (or, if not *equal*, must not be); ``*`` in the pattern is any text."""

    field: str
    pattern: str
    equal: bool = True

    def __str__(self) -> str:
        pattern = self.pattern if _VALUE.fullmatch(self.pattern) else f"'{self.pattern}'"
        return f"{self.field}{'=' if self.equal else '!='}{pattern}"

    @property
    def is_open(self) -> bool:
        """Whether several values of the field may pass."""
        return not self.equal or "*" in self.pattern

    def passes(self, record: Record) -> bool:
        """Whether a record passes."""
        text = _field_text(record, self.field)
        parts = (re.escape(part) for part in self.pattern.split("*"))
        return bool(re.fullmatch(".*".join(parts), text, re.DOTALL)) is self.equal


@dataclass(frozen=True, slots=True)
class ClaimTerm:
    """One side of a comparison: a number, or the records of a statistic that pass the filters.

    ``of`` is what is taken of a record: its value, its p value, or the mean value of all that are selected.
    """

    number: float | None = None
    statistic: str = ""
    filters: tuple[Filter, ...] = ()
    of: Literal["value", "p", "mean"] = "value"

    def __str__(self) -> str:
        if self.number is not None:
            return f"{self.number:g}"
        where = ",".join(map(str, self.filters))
        return f"{'' if self.of == 'value' else f'{self.of} of '}{self.statistic}{f'[{where}]' if where else ''}"

    @property
    def starred_patterns(self) -> frozenset[tuple[str, str]]:
        """The fields with ``*`` and their patterns; a mean has none."""
        starred = [part for part in self.filters if part.equal and part.is_open]
        return frozenset() if self.of == "mean" else frozenset((part.field, part.pattern) for part in starred)

    def selected_records(self, records: Iterable[Record]) -> list[Record]:
        """Return the records that the term is about."""
        key = statistic_key(self.statistic)
        return [
            record
            for record in records
            if statistic_key(record.statistic) == key and all(part.passes(record) for part in self.filters)
        ]


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left < right``, or ``left > right``; with a *level*, the p value of the left result must be below it.

    Of several records it is claimed of each of them, or of *most*: more than half.
    """

    left: ClaimTerm
    sign: Literal["<", ">"]
    right: ClaimTerm
    level: float | None = None
    most: bool = False

    def __str__(self) -> str:
        level = "" if self.level is None else f" with p < {self.level:g}"
        return f"{'for most ' if self.most else ''}{self.left} {self.sign} {self.right}{level}"

    def outcomes(self, record_outcomes: Sequence[Outcome]) -> frozenset[Outcome]:
        """Return the outcomes of the comparison from those of its records."""
        if not self.most:
            return frozenset(record_outcomes)
        clear: tuple[Outcome, ...] = ("holds", "reversed")
        half = len(record_outcomes) / 2
        return frozenset([outcome for outcome in clear if record_outcomes.count(outcome) > half] or ["not shown"])


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper claims, in one sentence; ``place`` says where, ``question`` which question of the study asks it.

    ``datasets`` are those that it is about. ``rule`` says which comparisons of numbers bear it out. A claim without a
    rule has none because no data exist: ``unavailable`` is the reason.
    """

    text: str
    place: str
    question: str
    datasets: tuple[str, ...]
    rule: tuple[Comparison, ...] = ()
    unavailable: str = ""

    @property
    def tests(self) -> tuple[bool, ...]:
        """Which comparisons of the rule are tests: a p value below its level."""
        return tuple(comparison.left.of == "p" and comparison.sign == "<" for comparison in self.rule)


# -- reading ----------------------------------------------------------------------------------------------------------


def parse_rule(text: str, *, place: Place | None = None) -> tuple[Comparison, ...]:
    """Read a rule. Errors: :class:`InputError` naming the place, the column and what is allowed.

    >>> (comparison,) = parse_rule("r_squared[layer=12] > .3")
    >>> str(comparison.left), comparison.sign, comparison.right.number
    ('r_squared[layer=12]', '>', 0.3)
    """
    return _RuleParser(text, place or Place()).rule()


class _RuleParser:
    """Reads a rule from left to right."""

    def __init__(self, text: str, place: Place) -> None:
        self.text, self.place, self.at = text, place, 0

    def rule(self) -> tuple[Comparison, ...]:
        comparisons = [self._comparison()]
        while self._follows("and"):
            comparisons.append(self._comparison())
        self._expect("", "`and`, or the end of the rule")
        return tuple(comparisons)

    def _comparison(self) -> Comparison:
        most = self._follows("for most")
        left = self._term()
        sign = self._expect(("<", ">"), f"< or > after {left}")
        right = self._term()
        if left.number is not None and right.number is not None:
            raise self._error("it compares two numbers, and no result")
        if right.of == "p" or (left.of == "p" and right.number is None):
            raise self._error("a p value is on the left, its level on the right")
        level = None
        if self._follows("with p <"):
            if left.number is not None or left.of != "value":
                raise self._error("`with p` needs a result on the left")
            level = float(self._expect_form(_NUMBER, "a level, as in p < .05"))
        return Comparison(left, "<" if sign == "<" else ">", right, level, most)

    def _term(self) -> ClaimTerm:
        of: Literal["value", "p", "mean"] = (
            "p" if self._follows("p of") else "mean" if self._follows("mean of") else "value"
        )
        match = _STATISTIC.match(self.text, self.at)
        if match is None or match[1] == "and":
            number = self._expect_form(_NUMBER, "a number or a statistic" if of == "value" else "a statistic")
            if of != "value":
                raise self._error(f"`{of} of` is followed by a number")
            return ClaimTerm(float(number))
        self.at = match.end()
        name = match[1] + self._parameters()
        try:
            parse_statistic(name)
        except LexiscopeError as error:
            raise self._error(error.what) from error
        return ClaimTerm(statistic=name, filters=self._filters(), of=of)

    def _parameters(self) -> str:
        """The parameters of a statistic with their brackets; they may hold brackets."""
        start, depth = self.at, 0
        if not self.text.startswith("(", start):
            return ""
        for number, char in enumerate(self.text[start:], start=1):
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth == 0:
                self.at = start + number
                return self.text[start : self.at]
        raise self._error("a bracket is not closed")

    def _filters(self) -> tuple[Filter, ...]:
        filters: list[Filter] = []
        if self._follows("["):
            while not filters or self._expect((",", "]"), "a comma or ] after a filter") == ",":
                name = self._expect(_FIELDS, f"a field ({', '.join(_FIELDS)})")
                sign = self._expect(("!=", "="), f"= or != after {name}")
                value = self._expect_form(_VALUE, "a value, in single quotes if it has spaces, commas or brackets")
                filters.append(Filter(name, value.strip("'"), sign == "="))
        return tuple(filters)

    def _follows(self, word: str) -> bool:
        """Take a word if it comes next."""
        whole = r"(?!\w)" if word[-1].isalpha() else ""
        match = re.compile(rf"\s*{re.escape(word)}{whole}").match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match is not None

    def _expect(self, words: Sequence[str], expected: str) -> str:
        """Take the one of *words* that comes next; of no words, the end."""
        for word in words:
            if self._follows(word):
                return word
        if words or self.text[self.at :].strip():
            raise self._error(f"expected {expected}")
        return ""

    def _expect_form(self, form: re.Pattern[str], expected: str) -> str:
        match = form.match(self.text, self.at)
        if match is None:
            raise self._error(f"expected {expected}")
        self.at = match.end()
        return match[1]

    def _error(self, what: str) -> InputError:
        rest = self.text[self.at :].strip()
        where = f", before {rest!r}" if rest else ", at the end"
        place = Place(self.place.path, self.place.line, text=self.text)
        return InputError(f"this is not a rule: {what}{where}", place=place, hint=_ALLOWED)


# -- checking ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim with its outcome in a run and the numbers behind it.

    ``holds``: every comparison comes out as claimed. ``reversed``: every one comes out the other way. ``holds in
    part``: some come out as claimed, others do not. ``not shown``: none does, and not all are reversed. What is claimed
    of most records holds, or is reversed, where more than half come out so, and is not shown elsewhere. Two numbers
    show nothing if the interval of their difference holds 0, nor does a p value above its level. That interval is made
    of both intervals, as if the numbers were independent (Zou & Donner 2008, Statistics in Medicine 27). ``cannot be
    tested``: the run is without the statistic, or no data exist. ``evidence`` gives the numbers, or the reason. The
    outcome is that of the p of single tests, as papers decide; ``adjusted`` is the outcome with p adjusted for the
    family of each test, and its method and size, if it differs.

    Results on the same items differ more surely than their intervals tell. A rule on a difference therefore names the
    record of that difference on the same draws, or its test, if there is one.
    """

    claim: Claim
    outcome: Outcome
    evidence: str
    adjusted: str = ""

    @property
    def status(self) -> str:
        """The outcome as text, with that of the adjusted p where it is another."""
        return f"{self.outcome} (p), {self.adjusted}" if self.adjusted else str(self.outcome)


def check_claims(claims: Iterable[Claim], records: Sequence[Record]) -> tuple[CheckedClaim, ...]:
    """Compare what a paper claims with the records of a run."""
    return tuple(_check_claim(claim, records) for claim in claims)


@dataclass(frozen=True, slots=True)
class _RecordComparison:
    """One comparison of two numbers: its outcome, the numbers, the records that they are of, and the margin."""

    outcome: Outcome
    numbers: str
    label: str
    margin: float


class _UntestableError(Exception):
    """A comparison cannot be made; the text is the reason."""


def _check_claim(claim: Claim, records: Sequence[Record]) -> CheckedClaim:
    if claim.unavailable:
        return CheckedClaim(claim, "cannot be tested", claim.unavailable)
    own = [record for record in records if record.dataset in (*claim.datasets, "")]
    try:
        compared = [_compare_records(comparison, own) for comparison in claim.rule]
    except _UntestableError as error:
        return CheckedClaim(claim, "cannot be tested", str(error))
    tests, others, texts = set[Outcome](), set[Outcome](), []
    for comparison, is_test, pairs in zip(claim.rule, claim.tests, compared, strict=True):
        outcome = _joint_outcome(comparison.outcomes([pair.outcome for pair in pairs]))
        (tests if is_test else others).add(outcome)
        texts.append(f"{_comparison_text(pairs)}{_undefined_note(comparison, own)}")
    outcome = _claim_outcome(others, tests)
    return CheckedClaim(claim, outcome, "; ".join(texts), _outcome_after_adjustment(claim, own, outcome))


def _outcome_after_adjustment(claim: Claim, records: Sequence[Record], outcome: Outcome) -> str:
    """The outcome with the adjusted p of each test that the claim names; empty if it is the same."""
    named = [c.left for c in claim.rule if c.left.number is None and (c.left.of == "p" or c.level is not None)]
    deciding = [r for term in named for r in term.selected_records(records) if r.p_adjusted is not None]
    if not deciding:
        return ""
    own = frozenset(deciding)
    moved = [
        (replace(r, p=r.p_adjusted) if r.p is not None else replace(r, value=r.p_adjusted)) if r in own else r
        for r in records
    ]
    # the records that were moved keep no adjusted p: they are not adjusted again
    after = _check_claim(claim, [r if r.p_adjusted is None else replace(r, p_adjusted=None) for r in moved]).outcome
    if after == outcome:
        return ""
    families = [parse_statistic(record.family)[1] for record in deciding]
    methods = dict.fromkeys("–".join(part.title() for part in f.get("method", "").split("_")) for f in families)
    sizes = sorted({int(f.get("tests", 0)) for f in families})
    over = f"{' and '.join(methods)} over {' and '.join(map(str, sizes))} tests"
    return f"{'not' if outcome == 'holds' and after == 'not shown' else after} after {over}"


def _undefined_note(comparison: Comparison, records: Sequence[Record]) -> str:
    """A note on the records for which one side of a comparison is undefined; empty if there are none."""
    without = dict.fromkeys(
        _label((term, record))
        for term in (comparison.left, comparison.right)
        if term.number is None
        for record in term.selected_records(records)
        if record.value is None and record.note.startswith("undefined")
    )
    named = [label for label in without if label]
    return f"; undefined for {', '.join(named)}" if named else ""


def _claim_outcome(others: Set[Outcome], tests: Set[Outcome]) -> Outcome:
    """What several comparisons say together: a test (p below its level) has no direction, it only has to hold."""
    # a claim of several parts is no better than its parts: one that is not so leaves the whole not shown
    parts = others or tests
    mixed = len(parts) > 1 and not parts <= {"holds", "holds in part"}
    shown: Outcome = "not shown" if mixed else _joint_outcome(parts)
    if not others or tests <= {"holds"}:
        return shown
    part = _joint_outcome(tests) == "holds in part" and shown in ("holds", "holds in part")
    return "holds in part" if part else "not shown"


def _joint_outcome(outcomes: Set[Outcome]) -> Outcome:
    if len(outcomes) == 1:
        return next(iter(outcomes))
    return "holds in part" if outcomes & {"holds", "holds in part"} else "not shown"


def _comparison_text(pairs: Sequence[_RecordComparison]) -> str:
    """The numbers of one comparison; of several, how many come out as claimed, and which do not."""
    if len(pairs) == 1:
        return pairs[0].numbers
    others = [pair for pair in pairs if pair.outcome != "holds"]
    text = f"{len(pairs) - len(others)} of {len(pairs)} comparisons"
    if not others:
        return f"{text}, the closest {min(pairs, key=lambda pair: pair.margin).numbers}"
    for outcome in ("not shown", "reversed"):
        named = [f"{pair.label} ({pair.numbers})" for pair in others if pair.outcome == outcome]
        more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
        text += f"; {outcome} for {', '.join(named[:_MOST_NAMED])}{more}" if named else ""
    return text


def _compare_records(comparison: Comparison, records: Sequence[Record]) -> list[_RecordComparison]:
    left, right = _side_records(comparison.left, records), _side_records(comparison.right, records)
    p_values = [_compared_number(replace(comparison.left, of="p"), record) for record in left]
    if comparison.level is not None and None in p_values:
        raise _UntestableError(f"{comparison.left} has no p value")
    shared = {name for name, _ in comparison.left.starred_patterns & comparison.right.starred_patterns}
    pairs = [
        _compare_numbers(comparison, first, second)
        for first in left
        for second in right
        if first is None
        or second is None
        or all(_field_text(first, name) == _field_text(second, name) for name in shared)
    ]
    if not pairs:
        raise _UntestableError(f"no {' and '.join(sorted(shared))} has both {comparison.left} and {comparison.right}")
    return pairs


def _side_records(term: ClaimTerm, records: Sequence[Record]) -> list[Record | None]:
    """The records of a term that have a number; none if the term is a number."""
    if term.number is not None:
        return [None]
    selected = term.selected_records(records)
    if not selected:
        raise _UntestableError(f"this run has no {term}")
    if any(record.people for record in selected):
        raise _UntestableError("the judgments of this run are those of simulated participants")
    known = [record for record in selected if _compared_number(term, record) is not None]
    if not known:
        if selected[0].value is None:
            raise _UntestableError(selected[0].note)
        raise _UntestableError(f"{replace(term, of='value')} has no p value")
    _check_unique(term, known)
    if term.of == "mean":
        values = [record.value for record in known if record.value is not None]
        return [Record(known[0].statistic, sum(values) / len(values))]
    return list(known)


def _check_unique(term: ClaimTerm, records: Sequence[Record]) -> None:
    """Refuse a term that is several numbers, where its filters do not say of which field there are several."""
    named = {field_filter.field for field_filter in term.filters if field_filter.is_open}
    open_fields, others = [f for f in _FIELDS if f in named], [f for f in _FIELDS if f not in named]
    first: dict[tuple[str, ...], Record] = {}
    for record in records:
        known = first.setdefault(tuple(_field_text(record, name) for name in open_fields), record)
        differing = [name for name in others if _field_text(record, name) != _field_text(known, name)]
        if differing:
            raise _UntestableError(f"{term} is several numbers, which differ in {' and '.join(differing)}")


def _compared_number(term: ClaimTerm, record: Record | None) -> float | None:
    """The number of a record that a term compares. A test's p value is a field of it, or a separate record."""
    if record is None:
        return term.number
    return p_of(record) if term.of == "p" else record.value


def _compare_numbers(comparison: Comparison, left: Record | None, right: Record | None) -> _RecordComparison:
    first, second = _compared_number(comparison.left, left), _compared_number(comparison.right, right)
    assert first is not None
    assert second is not None
    above = first - second if comparison.sign == ">" else second - first
    outcome: Outcome = "holds" if above > 0 else "reversed" if above < 0 else "not shown"
    if not _excludes_zero((comparison.left, left, first), (comparison.right, right, second)):
        outcome = "not shown"
    if comparison.left.of == "p" and comparison.sign == "<" and outcome == "reversed":
        # a test without a result does not show the opposite
        outcome = "not shown"
    tested = _adjusted_text(left) if comparison.left.of == "p" else ""
    if comparison.level is not None:
        p = _compared_number(replace(comparison.left, of="p"), left)
        assert p is not None
        tested = f" ({p_text(p, is_bound=_is_bound(left))}{_adjusted_text(left)})"
        outcome = outcome if p < comparison.level else "not shown"
    sign = "=" if first == second else "<" if first < second else ">"
    numbers = f"{_number_text(comparison.left, left)} {sign} {_number_text(comparison.right, right)}{tested}"
    if comparison.left.of == "p":
        # "p < .001 < .05" would say it twice
        shown = p_text(first, is_bound=_is_bound(left))
        beyond = f" {sign} {second:.3g}".replace("0.", ".") if shown.startswith(("p =", "p ≤")) else ""
        numbers = f"{shown}{beyond}{tested}"
    return _RecordComparison(outcome, numbers, _label((comparison.left, left), (comparison.right, right)), above)


def _excludes_zero(*sides: tuple[ClaimTerm, Record | None, float]) -> bool:
    """Whether the difference of two numbers is shown: the interval made of theirs does not hold 0.

    A side without an interval counts as exact, unless its interval was asked for and has no bounds.
    """
    below, above = [], []
    for term, record, number in sides:
        if term.of == "value" and record is not None and record.low is None and _has_no_bounds(record):
            return False
        low, high = _interval(term, record) or (number, number)
        below.append(max(number - low, 0.0))
        above.append(max(high - number, 0.0))
    difference = sides[0][2] - sides[1][2]
    # what is above the lower number and below the higher one decides
    reach = math.hypot(below[0], above[1]) if difference > 0 else math.hypot(above[0], below[1])
    return abs(difference) > reach


def _has_no_bounds(record: Record) -> bool:
    return "interval: " in record.note and "no resamples were asked for" not in record.note


def _interval(term: ClaimTerm, record: Record | None) -> tuple[float, float] | None:
    if record is None or term.of == "p" or record.low is None or record.high is None:
        return None
    return record.low, record.high


def _number_text(term: ClaimTerm, record: Record | None) -> str:
    ends = _interval(term, record)
    between = f" [{ends[0]:.3g}, {ends[1]:.3g}]" if ends else ""
    return f"{_compared_number(term, record):.3g}{between}".replace("-", "−")


def _is_bound(record: Record | None) -> bool:
    return record is not None and bool(record.p_bound)


def _adjusted_text(record: Record | None) -> str:
    """The p adjusted for its family, next to the one that the paper's claim is about: papers adjust seldom."""
    if record is None or record.p_adjusted is None:
        return ""
    family = parse_statistic(record.family)[1]
    method = family.get("method", "a family")
    over = f"{'Holm' if method == 'holm' else method} over {family.get('tests', 'its')} tests"
    return f", adjusted by {over} {p_text(record.p_adjusted, is_bound=_is_bound(record))}"


def _label(*sides: tuple[ClaimTerm, Record | None]) -> str:
    """Which records the sides of a comparison are: the values of the fields of which there are several."""
    parts: dict[str, None] = {}
    for term, record in sides:
        for field_filter in term.filters:
            if field_filter.is_open and record is not None and term.of != "mean":
                text = _field_text(record, field_filter.field)
                parts[f"layer {text}" if field_filter.field == "layer" else text] = None
    return " / ".join(parts)


def _field_text(record: Record, name: str) -> str:
    value = getattr(record, name)
    return "" if value is None else str(value)
