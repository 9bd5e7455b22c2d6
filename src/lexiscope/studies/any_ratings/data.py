"""What a run of any_ratings sees: items and ratings of a file, their conditions and raters, the answers of models."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.ratings import Ratings
from lexiscope.collect import CollectProgress
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.showing import counted, listed
from lexiscope.core.simulated import COLLECTED
from lexiscope.report.part import Remark
from lexiscope.studies.any_ratings.settings import AnyRatingsSettings
from lexiscope.studies.kit.answers import ComparableAnswers
from lexiscope.studies.kit.participants import read_participants
from lexiscope.studies.kit.rated_file import RatedFile
from lexiscope.studies.kit.rated_run import ConditionedRun, ask_subjects, read_rated

JUDGMENTS = "ratings or choices of raters"
CONDITIONS = "conditions of the items"
SEVERAL_CONDITIONS, SEVERAL_MODELS = "several conditions of the items", "several models"
GROUPS = "groups of raters"
_OWN_COLUMNS = ("rating", "participant", "item", "word")


@dataclass(frozen=True, eq=False)
class RatedRun(ConditionedRun[AnyRatingsSettings]):
    """A run of any table of ratings.

    ``groups`` are the groups of the raters, by name (a column of the file, or what is known of the participants) and
    rater; ``remarks`` what the user must know of the run.
    """

    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ages: Mapping[str, float] = field(default_factory=dict)
    unasked: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def has(self, what: str) -> bool:
        """Return whether the run has what a question needs."""
        if what == JUDGMENTS:
            return self.has("ratings") or self.choices is not None
        if what == CONDITIONS:
            return bool(self.conditions)
        if what == SEVERAL_CONDITIONS:
            return len(self.conditions) > 1
        if what == SEVERAL_MODELS:
            return len(self.models) > 1
        return bool(self.groups) if what == GROUPS else super().has(what)

    @cached_property
    def choices(self) -> Ratings | None:
        """The choices of raters between options as codes of the options; ``None`` for ratings."""
        table = self.data.responses.where(measure="choice", subject_kind=COLLECTED)
        if not len(table):
            return None
        code = {option: float(place) for place, option in enumerate(self.options)}
        values = [np.nan if option is None else code[option] for option in table.column("option")]
        return Ratings.from_arrays(list(table.column("subject_id")), list(table.column("item_id")), values)

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The options that raters chose, in order."""
        chosen = self.data.responses.where(measure="choice", subject_kind=COLLECTED).unique("option")
        return tuple(sorted(str(option) for option in chosen if option is not None))

    def column(self, condition: str) -> str:
        """Return the name of a condition in formulas: ASCII letters, digits, points and underscores.

        A name that a formula has already (``rating``, ``item``) is preceded by ``condition_``.
        """
        letters = unicodedata.normalize("NFKD", condition)
        plain = re.sub(r"\W+", "_", "".join(char for char in letters if char.isascii()), flags=re.ASCII).strip("_")
        return plain if re.match(r"[A-Za-z]", plain) and plain not in _OWN_COLUMNS else f"condition_{plain}"

    def rating_columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the mixed models: a value for each rating. *Shape of each:* (ratings,)."""
        rows, columns = self.item_rows, self.rated_columns()
        for name, values in self.conditions.items():
            own = self.numbers(name) if self.is_number(name) else np.array(list(map(str, values)))
            columns[self.column(name)] = own[rows]
        return columns

    def main_remarks(self) -> Iterator[Remark]:
        """Yield what the screen and the report say of the run as a whole."""
        yield from map(Remark, self.remarks)
        yield from (Remark(f"{subject} was not asked: {why}") for subject, why in self.unasked.items())


# -- where they come from -------------------------------------------------------------------------------------------


def load_run(settings: AnyRatingsSettings, folder: Path, progress: CollectProgress | None = None) -> RatedRun:
    """Read the file, and let the live subjects answer its items (kept below *folder*).

    Errors: those of the reader; :class:`InputError` for subjects where the ratings come without texts, and for models
    that are asked for ratings on another scale than people had.
    """
    rated = read_rated(settings)
    remarks = list(rated.understood.warnings)
    raters = rated.data.responses.where(subject_kind=COLLECTED).unique("subject_id")
    if not len(raters):
        remarks.append("The file has mean ratings only: agreement, ceilings and tests need the rating of each rater.")
    if len(raters) == 1:
        remarks.append("Agreement needs 2 raters; this file has 1. Check --map rater=COLUMN.")
    asked = ask_subjects(settings, rated.data, folder, progress)
    remarks += asked.remarks
    groups, ages, more = _groups_of_raters(settings, rated)
    return RatedRun(
        rated.data,
        asked.answers,
        settings,
        titles=asked.titles,
        groups=groups,
        ages=ages,
        unasked=asked.unasked,
        remarks=(*remarks, *more),
    )


def _groups_of_raters(
    settings: AnyRatingsSettings, rated: RatedFile
) -> tuple[dict[str, Mapping[str, str]], dict[str, float], list[str]]:
    """The groups of the raters, their ages, and what is not known of them."""
    named = [pair.partition("=")[2] for pair in settings.columns if pair.startswith("rater_group=")]
    groups: dict[str, Mapping[str, str]] = {named[0]: rated.groups} if named and rated.groups is not None else {}
    if not settings.participants:
        return groups, {}, []
    about = read_participants(Path(settings.participants))
    raters = rated.data.responses.where(subject_kind=COLLECTED).unique("subject_id")
    missing = [str(rater) for rater in raters if rater not in about]
    if len(missing) == len(raters):
        what = f"No rater is in {settings.participants} (first rater: {missing[0]})."
        hint = "Name the column of the ratings that holds the same ids: --map rater=COLUMN"
        raise InputError(what, hint=hint)
    ages = {str(rater): float(about[rater]["age"]) for rater in raters if "age" in about.get(rater, {})}
    for name in ("country", "gender"):
        known = {str(rater): about[rater][name] for rater in raters if name in about.get(rater, {})}
        groups |= {name: known} if known else {}
    remarks = (
        [f"{counted(len(missing), 'rater')} not in {settings.participants}: {listed(missing, 3)}."] if missing else []
    )
    return groups, ages, remarks


def compared_answers(settings: AnyRatingsSettings, responses: ResponseTable) -> ComparableAnswers:
    """Return the answers of a finished run with their items, without asking any subject."""
    return ComparableAnswers(responses, read_rated(settings).data.items)
