"""Curators' decisions as the verbs of ``lexiscope build`` ask for them: by folder and name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from lexiscope.build.minimal_pairs.automatic import Proposal
from lexiscope.build.minimal_pairs.curation import Decision, check_curator, compare
from lexiscope.build.minimal_pairs.decision_log import DecisionLog, curators
from lexiscope.build.minimal_pairs.tables import read_proposals
from lexiscope.core.errors import InputError, Place
from lexiscope.core.sealed import check_run

PAIR: Callable[..., Any] = click.option(
    "--settle",
    nargs=2,
    metavar="NAME NAME",
    default=None,
    help="Only what these two disagree on: for a third who decides.",
)
"""The option that keeps only the proposals on which two curators disagree."""


def proposals_of(folder: Path) -> tuple[Proposal, ...]:
    """Return the proposals of a finished build.

    Errors: those of :func:`~lexiscope.build.minimal_pairs.tables.read_proposals`; :class:`InputError` E468 where the
    build was broken off: its tables may yet change.
    """
    proposals = read_proposals(folder)
    if not (folder / "run.json").is_file():
        hint = "run the same lexiscope build minimal-pairs again"
        raise InputError("this build was not finished", code="E468", place=Place(str(folder)), hint=hint)
    check_run(folder)
    return proposals


def build_language(folder: Path) -> str:
    """Return the language of the sentences of a build.

    Errors: :class:`~lexiscope.core.errors.RunError` where the folder holds no finished build.
    """
    return str(check_run(folder).get("language", "en"))


def decided(folder: Path, name: str, proposals: Sequence[Proposal]) -> dict[str, Decision]:
    """Return the latest decisions of a curator who has decided something, by proposal.

    Errors: :class:`InputError` E466 for somebody who has not, naming those who have.
    """
    found = DecisionLog(folder, check_curator(name)).latest(proposals)
    if not found:
        known = ", ".join(curators(folder)) or "nobody"
        hint = f"those who have: {known}"
        raise InputError(f"{name!r} has decided nothing here", code="E466", place=Place(str(folder)), hint=hint)
    return found


def disputed(folder: Path, names: tuple[str, str]) -> frozenset[str]:
    """Return the ids of the proposals on which two curators disagree.

    Errors: those of :func:`~lexiscope.build.minimal_pairs.curation.compare`; :class:`InputError` E469 where they
    disagree on none.
    """
    proposals = proposals_of(folder)
    found = compare(proposals, *(decided(folder, name, proposals) for name in names))
    if not found.disagreements:
        raise InputError(f"{names[0]} and {names[1]} disagree on nothing", code="E469", hint="merge them")
    return frozenset(one.proposal.proposal_id for one in found.disagreements)
