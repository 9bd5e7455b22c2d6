"""Formulas of crossed mixed models, in the notation of lme4.

A formula is read once into plain parts, so that the random effects can be printed with every test, two models can be
checked for nesting, and a reduction can take one term away at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lexiscope.core.errors import InputError, Place

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.]*")
_POSITION = re.compile(r"at position (\d+)")


@dataclass(frozen=True, slots=True)
class RandomPart:
    """One bracket of a formula: which effects vary over the levels of one grouping factor, and whether they correlate.

    ``slopes`` excludes the intercept; ``group`` is a column or an interaction of columns (``List:Word``).
    """

    group: str
    slopes: tuple[str, ...] = ()
    intercept: bool = True
    correlated: bool = True

    def __str__(self) -> str:
        bar = "|" if self.correlated else "||"
        return f"({' + '.join(['1' if self.intercept else '0', *self.slopes])} {bar} {self.group})"

    @property
    def size(self) -> int:
        """The number of effects that vary: the slopes, and the intercept where there is one."""
        return len(self.slopes) + self.intercept

    @property
    def has_correlations(self) -> bool:
        """Whether the part estimates at least one correlation between its effects."""
        return self.correlated and self.size > 1

    def covers(self, other: RandomPart) -> bool:
        """Whether every variance and correlation of ``other`` is also estimated by this part.

        >>> RandomPart("Word", ("Sense",)).covers(RandomPart("Word"))
        True
        >>> RandomPart("Word", ("Sense",), correlated=False).covers(RandomPart("Word", ("Sense",)))
        False
        """
        effects = set(other.slopes) <= set(self.slopes) and self.intercept >= other.intercept
        return self.group == other.group and effects and (self.correlated or not other.has_correlations)


@dataclass(frozen=True, slots=True)
class MixedFormula:
    """A mixed-model formula in parts: the response, the fixed effects, and the random effects."""

    response: str
    fixed: tuple[str, ...]
    random: tuple[RandomPart, ...]
    intercept: bool = True

    def __str__(self) -> str:
        return f"{self.fixed_text} + {self.random_text}"

    @property
    def fixed_text(self) -> str:
        """The formula without its random effects."""
        start = [] if self.intercept and self.fixed else ["1" if self.intercept else "0"]
        return f"{self.response} ~ {' + '.join([*start, *self.fixed])}"

    @property
    def random_text(self) -> str:
        """The random effects alone, to print with every test of this model."""
        return " + ".join(str(part) for part in self.random)

    @property
    def predictors(self) -> tuple[str, ...]:
        """The columns of the fixed effects and of the random slopes, each once, in order of appearance."""
        terms = [*self.fixed, *(slope for part in self.random for slope in part.slopes)]
        return tuple(dict.fromkeys(column for term in terms for column in term.split(":")))

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns of the grouping factors, each once, in order of appearance."""
        return tuple(dict.fromkeys(column for part in self.random for column in part.group.split(":")))

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that the formula uses: the response, the predictors, the grouping factors."""
        return tuple(dict.fromkeys((self.response, *self.predictors, *self.groups)))

    @property
    def absorbs(self) -> bool:
        """Whether an effect varies over a grouping factor without a fixed effect, so that its variance takes it over.

        >>> read_formula("y ~ 1 + (1 + a | g)").absorbs, read_formula("y ~ a + (1 + a | g)").absorbs
        (True, False)
        """
        fixed = {_factors(term) for term in self.fixed}
        return any(
            part.intercept > self.intercept or not {_factors(slope) for slope in part.slopes} <= fixed
            for part in self.random
        )

    def contains(self, other: MixedFormula) -> bool:
        """Whether ``other`` is nested in this model: the same response and a subset of its effects.

        >>> full = read_formula("y ~ a + (1 + a | g)")
        >>> full.contains(read_formula("y ~ 1 + (1 + a | g)")), full.contains(read_formula("y ~ b + (1 + a | g)"))
        (True, False)
        """
        fixed = {_factors(term) for term in other.fixed} <= {_factors(term) for term in self.fixed}
        random = all(any(mine.covers(theirs) for mine in self.random) for theirs in other.random)
        return self.response == other.response and self.intercept >= other.intercept and fixed and random


def read_formula(text: str) -> MixedFormula:
    """Read a formula in the notation of lme4.

    ``a*b`` is written out as ``a + b + a:b``; ``(1 | g/h)`` as its two brackets; interactions follow the effects that
    they consist of, as in R. Functions and powers are errors: compute such a column beforehand, so that the exported R
    script and this library see the same numbers.

    >>> str(read_formula("y ~ a * b + (a || g)"))
    'y ~ a + b + a:b + (1 + a || g)'

    Errors: :class:`InputError` with a caret where the formula does not parse, or where it has no random effects.
    """
    parsed = _parse(text)
    formula = MixedFormula(
        response=parsed.response_expression,
        fixed=_terms(parsed.fixed.terms),
        random=tuple(
            RandomPart(":".join(part.grouping_factors), _terms(part.expr), part.has_intercept, part.correlated)
            for part in parsed.random
        ),
        intercept=parsed.fixed.has_intercept,
    )
    _check_names(formula, text)
    _check_parts(formula, text)
    if not formula.random:
        raise InputError(
            "the formula has no random effects",
            place=Place("formula", text=text),
            hint="add a grouping factor such as (1 | Participant); for ordinary regression use analysis.regression",
        )
    return formula


def _parse(text: str) -> Any:
    from mixedlm import parse_formula

    try:
        return parse_formula(text)
    except ValueError as error:
        position = _POSITION.search(str(error))
        raise InputError(
            "the model formula cannot be read",
            place=Place("formula", text=text, column=int(position.group(1)) + 1 if position else None),
            why=_reason(text, position),
            hint="write it as for lme4, with column names: Response ~ Same_sense + (1 + Same_sense | Participant)",
        ) from error


def _reason(text: str, position: re.Match[str] | None) -> str:
    at = int(position.group(1)) if position else len(text)
    character = text[at : at + 1]
    if not text.strip():
        return "it is empty"
    if "~" not in text:
        return "it has no '~' between the response and the effects"
    if not character.strip():
        return "it ends where a name or a closing bracket has to follow"
    if character == "(":
        return "functions are not computed here: compute the column beforehand and name it in the formula"
    if character in "^%":
        return f"{character!r} is not known here: spell the effects out with '+', ':' and '*'"
    if character == "/":
        return "'/' nests grouping factors only, as in (1 | g/h): spell fixed effects out with '+' and ':'"
    if character == "|":
        return "a random effect is written in brackets: (1 | g)"
    return f"{character!r} cannot follow {text[:at].strip()!r}"


def _terms(terms: Any) -> tuple[str, ...]:
    from mixedlm.formula.terms import InterceptTerm, format_term

    given: dict[frozenset[str], str] = {}
    for term in terms:
        if not isinstance(term, InterceptTerm):
            # a:b and b:a are one effect, and so is a:b:a
            columns = dict.fromkeys(format_term(term).split(":"))
            given.setdefault(frozenset(columns), ":".join(columns))
    return tuple(sorted(given.values(), key=lambda term: term.count(":")))


def _check_names(formula: MixedFormula, text: str) -> None:
    wrong = [column for column in formula.columns if not _NAME.fullmatch(column)]
    if wrong:
        raise InputError(
            f"the model formula names {wrong[0]!r}, which is not a plain column name",
            place=Place("formula", text=text),
            why="functions, powers and quoted names read differently in R and in Python",
            hint="compute the column beforehand and give it a name of letters, digits, '_' and '.'",
        )


def _check_parts(formula: MixedFormula, text: str) -> None:
    place = Place("formula", text=text)
    if formula.response in (*formula.predictors, *formula.groups):
        raise InputError(f"the response {formula.response!r} is also an effect of the model", place=place)
    seen: set[tuple[str, str]] = set()
    for part in formula.random:
        if not part.size:
            raise InputError(f"{part} has no effect that varies", place=place, hint="write (1 | g) or (0 + slope | g)")
        effects = {(part.group, effect) for effect in (*["1"] * part.intercept, *part.slopes)}
        twice = sorted(effect for _, effect in effects & seen)
        if twice:
            raise InputError(
                f"the effect {twice[0]!r} varies over {part.group!r} in two brackets",
                place=place,
                why="only the sum of the two variances is determined, and neither of them",
                hint="name it in one of the brackets; begin a bracket without intercept with 0 +",
            )
        seen |= effects


def _factors(term: str) -> frozenset[str]:
    return frozenset(term.split(":"))
