"""Specs of subjects, and the capabilities that a task needs of them."""

from __future__ import annotations

import pytest

from lexiscope.core.errors import CapabilityError, SpecError
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import SubjectSpec, capabilities
from lexiscope.core.task import Task


@pytest.mark.parametrize(
    "text", ["encoder:minilm", "encoder:org/model", "chat:m@http://127.0.0.1:1/v1", "recorded:a@b.csv"]
)
def test_specs_print_and_parse_back(text: str) -> None:
    """A subject's spec prints as it was written."""
    assert str(SubjectSpec.parse(text)) == text


@pytest.mark.parametrize("text", ["", "encoder", "encoder:", ":x"])
def test_a_spec_needs_kind_and_name(text: str) -> None:
    """Anything but kind:name is refused."""
    with pytest.raises(SpecError):
        SubjectSpec.parse(text)


class _Mute:
    subject_id = "mute:1"
    kind = "mute"
    facts = None


def test_an_incapable_subject_is_refused_and_the_message_names_what_could() -> None:
    """A task names, in order, the capabilities that can answer it; a subject with none of them is refused."""
    task = Task("t", "", None, (), (("Embeds", lambda *a, **k: ResponseTable.empty()),), ())
    assert capabilities(_Mute()) == ()
    with pytest.raises(CapabilityError, match="Embeds"):
        task.answer_function(_Mute())
