"""The options behind a name: one grammar for subjects, datasets and addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import SpecError
from lexiscope.core.spec import plain_name, split_options, with_options

KEYS = st.text("abc_", min_size=1)


@given(st.dictionaries(KEYS, st.text("a&%26=?5<", min_size=1)))
def test_what_is_written_reads_back(options: dict[str, str]) -> None:
    """Any value survives writing and reading, also with the signs of the grammar in it."""
    spec = with_options("encoder:minilm", options)
    assert split_options(spec) == ("encoder:minilm", options)
    assert plain_name(spec) == "encoder:minilm"


def test_options_are_added_to_those_that_are_there() -> None:
    """More options follow after `&`."""
    assert with_options("m?a=1", {"b": 2}) == "m?a=1&b=2"


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("m?a", "'a' has no value"),
        ("m?a=", "'a' has no value"),
        ("m?=1", "'' has no value"),
        ("m?a=1&a=2", "'a' is given twice"),
        ("?a=1", "no name before the options"),
    ],
)
def test_a_faulty_option_is_refused_without_its_value(spec: str, what: str) -> None:
    """The error names the option, not its value: it may be a secret."""
    with pytest.raises(SpecError, match=what):
        split_options(spec)
