"""The mark of simulated participants: its places, and the check that they are not mixed with people.

Simulated participants rehearse a study before people are asked. The mark is in three places: the id of the participant
begins with :data:`SIMULATED_ID`; a row of responses has the kind :data:`SIMULATED`; a table that has neither ids nor
kinds (a mean per item) has the column :data:`KIND_COLUMN`. A table that lost one of them is known by another.
"""

from __future__ import annotations

from collections.abc import Iterable

from lexiscope.core.errors import InputError, Place

PARTICIPANT = "participant"
"""The ``subject_kind`` of a person."""

SIMULATED = "simulated"
"""The ``subject_kind`` of a simulated participant, who rehearses a study: no person's judgments."""

SIMULATED_ID = "simulated-"
"""Begins the id of every simulated participant, so that a table which has lost its column of kinds is still known."""

COLLECTED = (PARTICIPANT, SIMULATED)
"""Each ``subject_kind`` whose answers the web app collected: participants and simulated participants."""

KIND_COLUMN = "participant_kind"
"""The column of an exported table that says whose answers its rows hold; absent where they are people's."""

KIND_COLUMNS = (KIND_COLUMN, "subject_kind")
"""The columns by which a table says whose answers its rows hold."""

SIMULATED_PARTICIPANTS = "simulated participants"
"""What readers are told instead of *people*."""

TOLD_SIMULATED = f"the answers are those of {SIMULATED_PARTICIPANTS}, made to rehearse a study: no person gave them"
"""What every command says that prints numbers of simulated participants."""


def kind_of_person(person_id: str, said: str = "") -> str:
    """Return the kind of who answered, by their id and by what a file says of them (its column of kinds).

    >>> kind_of_person("p3f"), kind_of_person("simulated-3f"), kind_of_person("p3f", "simulated")
    ('participant', 'simulated', 'simulated')
    """
    marked = person_id.startswith(SIMULATED_ID) or said.strip().casefold() == SIMULATED
    return SIMULATED if marked else PARTICIPANT


def short_id(person_id: str) -> str:
    """Return the beginning of a participant's id that a page has room for; the mark stays in it.

    >>> short_id("p0123456789abcdef"), short_id("simulated-0123456789abcdef")
    ('p0123456', 'simulated-01234567')
    """
    return person_id[: 8 + len(SIMULATED_ID) * person_id.startswith(SIMULATED_ID)]


def refuse_mixture(kinds: Iterable[str], *, place: Place | None = None) -> None:
    """Refuse answers of people and of simulated participants together: one mean of both would describe neither.

    Errors: :class:`InputError` E508 that says how to separate them.

    >>> refuse_mixture(["participant", "encoder"])
    """
    if {PARTICIPANT, SIMULATED} <= set(kinds):
        raise InputError(
            "the answers are partly those of people and partly those of simulated participants",
            code="E508",
            place=place,
            hint=f"keep the rows of one kind: ids of simulated participants begin with {SIMULATED_ID}, and the column "
            f"{KIND_COLUMN} (of responses: subject_kind) says {SIMULATED}",
        )
