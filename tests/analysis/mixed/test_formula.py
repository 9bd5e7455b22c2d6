"""Formulas of mixed models: reading, printing, nesting, refusals."""

from __future__ import annotations

import pytest

from lexiscope.analysis.mixed.formula import RandomPart, read_formula
from lexiscope.core.errors import InputError

SAWC = "Response ~ Same_sense + (1 + Same_sense | Participant) + (1 + Same_sense | List) + (1 | Word)"


def test_a_formula_reads_into_its_parts() -> None:
    """The response, the fixed effects and every bracket of random effects are kept apart."""
    formula = read_formula(SAWC)
    assert (formula.response, formula.fixed) == ("Response", ("Same_sense",))
    assert formula.random == (
        RandomPart("Participant", ("Same_sense",)),
        RandomPart("List", ("Same_sense",)),
        RandomPart("Word"),
    )
    assert formula.columns == ("Response", "Same_sense", "Participant", "List", "Word")


def test_a_formula_prints_and_reads_back() -> None:
    """The printed formula is the formula, and its random effects print alone."""
    assert str(read_formula(SAWC)) == SAWC
    assert read_formula(SAWC).random_text == SAWC.split(" ~ Same_sense + ")[1]
    assert read_formula(SAWC).fixed_text == "Response ~ Same_sense"


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("y ~ a * b + (1 | g)", "y ~ a + b + a:b + (1 | g)"),
        ("y ~ (1 | g)", "y ~ 1 + (1 | g)"),
        ("y ~ 0 + a + (a | g)", "y ~ 0 + a + (1 + a | g)"),
        ("y ~ a + (1 + a || g)", "y ~ a + (1 + a || g)"),
        ("y ~ a + (1 | g:h)", "y ~ a + (1 | g:h)"),
    ],
)
def test_short_forms_are_spelled_out(short: str, long: str) -> None:
    """Short forms of lme4 mean what they mean there."""
    assert str(read_formula(short)) == long


@pytest.mark.parametrize(
    ("full", "reduced", "nested"),
    [
        ("y ~ a + b + (1 + a | g)", "y ~ b + (1 + a | g)", True),
        ("y ~ a * b + (1 | g)", "y ~ a + b + (1 | g)", True),
        ("y ~ a + b:a + (1 | g)", "y ~ a:b + (1 | g)", True),
        ("y ~ a + (1 + a | g)", "y ~ a + (1 | g)", True),
        ("y ~ a + (1 + a | g)", "y ~ a + (1 + a || g)", True),
        ("y ~ a + (1 + a || g)", "y ~ a + (1 + a | g)", False),
        ("y ~ a + (1 | g)", "y ~ b + (1 | g)", False),
        ("y ~ a + (1 | g)", "y ~ a + (1 | h)", False),
        ("y ~ a + (1 | g)", "z ~ a + (1 | g)", False),
    ],
)
def test_nesting_is_a_subset_of_effects(full: str, reduced: str, nested: bool) -> None:
    """A model is nested in another where it has the same response and only effects that the other has too."""
    assert read_formula(full).contains(read_formula(reduced)) is nested


@pytest.mark.parametrize("text", ["y ~ log(a) + (1 | g)", "y ~ (a + b)^2 + (1 | g)", "no formula"])
def test_what_cannot_be_read_is_refused_with_its_text(text: str) -> None:
    """A formula that does not parse is shown, with the reason and an example."""
    with pytest.raises(InputError, match="cannot be read") as caught:
        read_formula(text)
    assert text in str(caught.value)


def test_a_caret_points_at_the_character() -> None:
    """The caret stands under the character that does not belong."""
    with pytest.raises(InputError) as caught:
        read_formula("y ~ a ^ 2 + (1 | g)")
    line, caret = str(caught.value).splitlines()[1:3]
    assert line[caret.index("^")] == "^"


def test_powers_and_odd_names_are_refused() -> None:
    """R and Python read powers and quoted names differently, so they are refused before fitting."""
    for text in ("y ~ I(a**2) + (1 | g)", "y ~ `a b` + (1 | g)"):
        with pytest.raises(InputError, match="not a plain column name"):
            read_formula(text)


def test_a_formula_without_random_effects_is_refused() -> None:
    """A mixed model has a grouping factor; ordinary regression is another function."""
    with pytest.raises(InputError, match="no random effects"):
        read_formula("y ~ a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y ~ scale(a) + (1 | g)", "functions are not computed here"),
        ("y ~ a / b + (1 | g)", "'/' nests grouping factors only"),
        ("y ~ (a + b)^2 + (1 | g)", "'^' is not known here"),
        ("y ~ a %in% b + (1 | g)", "'%' is not known here"),
        ("y ~ a + 1 | g", "a random effect is written in brackets"),
        ("y ~ a + (1 | g * h)", "'*' cannot follow"),
        ("y ~ a + (1 | g", "it ends where"),
        ("y a + (1 | g)", "no '~'"),
        ("", "it is empty"),
        ("y ~ a + (0 | g)", "has no effect that varies"),
        ("y ~ y + (1 | g)", "the response 'y' is also an effect"),
        ("y ~ a + (1 + a | y)", "the response 'y' is also an effect"),
        ("y ~ a + (1 | g) + (1 | g)", "'1' varies over 'g' in two brackets"),
        ("y ~ a + (a | g) + (0 + a | g)", "'a' varies over 'g' in two brackets"),
    ],
)
def test_a_refusal_says_why(text: str, words: str) -> None:
    """What lme4 reads differently or cannot estimate is refused in words, without names of parser tokens."""
    with pytest.raises(InputError) as caught:
        read_formula(text)
    assert words in str(caught.value)
    assert "Token" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("y ~ b * a + c + (1 | g)", "y ~ b + a + c + b:a + (1 | g)"),
        ("y ~ a:b + b:a + a:b:a + (1 | g)", "y ~ a:b + (1 | g)"),
        ("y ~ a - 1 + (a - 1 | g)", "y ~ 0 + a + (0 + a | g)"),
        ("y ~ a * b - a:b + (1 | g/h/k)", "y ~ a + b + (1 | g) + (1 | g:h) + (1 | g:h:k)"),
        ("y ~ a + (a | g) + (0 + b | g)", "y ~ a + (1 + a | g) + (0 + b | g)"),
    ],
)
def test_effects_are_ordered_as_in_r(text: str, read: str) -> None:
    """Main effects come before interactions, as in the rows of lme4; an effect that is named twice is one."""
    assert str(read_formula(text)) == read
