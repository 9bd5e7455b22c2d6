"""The names of ``import lexiscope``: lazy, what they claim to be, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

import lexiscope
from lexiscope.analysis.agreement import leave_one_out
from lexiscope.core import catalog
from lexiscope.core.response import ResponseTable


def test_a_name_is_the_thing_itself() -> None:
    """The front door hands out the object of its home, not a copy."""
    assert lexiscope.leave_one_out is leave_one_out
    assert lexiscope.ResponseTable is ResponseTable
    assert lexiscope.dataset is catalog.dataset


def test_an_unknown_name_is_refused() -> None:
    """A name that is not there is an AttributeError that says which."""
    with pytest.raises(AttributeError, match="'leave_two_out'"):
        _ = lexiscope.leave_two_out


def test_the_names_can_be_completed() -> None:
    """What a user completes in a shell is the whole front door, once."""
    assert set(lexiscope.__all__) <= set(dir(lexiscope))
    assert len(set(lexiscope.__all__)) == len(lexiscope.__all__)


def test_nothing_is_imported_before_it_is_used() -> None:
    """``import lexiscope`` brings in no module of its own and no numpy; a name brings in what it needs."""
    code = (
        "import lexiscope, sys\n"
        "print([m for m in sys.modules if m.startswith('lexiscope.') or m == 'numpy'])\n"
        "lexiscope.Scale(1, 5)\nprint('lexiscope.core.scale' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]
