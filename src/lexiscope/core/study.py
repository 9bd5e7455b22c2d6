"""A study: one paper's questions, asked of recorded and live subjects, with the numbers that the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.result import comparison_status, parse_statistic, printed_number
from lexiscope.core.run import read_json, sha256_of
from lexiscope.core.simulated import COLLECTED, TOLD_SIMULATED

if TYPE_CHECKING:
    from lexiscope.core.response import ResponseTable
    from lexiscope.core.result import Record
    from lexiscope.core.settings import Settings

Analysis = Literal["confirmatory", "exploratory"]
Mark = Literal["confirmatory", "confirmatory in part", "exploratory"]


@dataclass(frozen=True, slots=True)
class Question:
    """A research question: its id, its text, where the paper asks it, and how its analysis is marked.

    A study's questions are exploratory. In a run, those that a plan names get another mark (:class:`PlannedAnalysis`).
    """

    question_id: str
    text: str
    section: str
    analysis: Mark = "exploratory"


@dataclass(frozen=True, slots=True)
class PlannedAnalysis:
    """An analysis that a plan named before the first answer: its results are confirmatory, all others exploratory.

    ``text`` says what was planned, ``place`` where that is documented; ``covers`` says which records of the question
    are its results.
    """

    question_id: str
    text: str
    place: str
    covers: Callable[[Record], bool]

    @classmethod
    def of_statistics(
        cls, question_id: str, text: str, place: str, names: Sequence[str], *, subject: str = "", view: str = ""
    ) -> PlannedAnalysis:
        """Return the plan of statistics of one subject (of people: none), in one view where they have one.

        A name covers the records of that statistic, of those whose name begins with it (``condition_mean(``), or of
        the test of that name (``test=sense``).

        >>> from lexiscope.core.result import Record
        >>> plan = PlannedAnalysis.of_statistics("Q1", "the test of sense", "§3.5", ["test=sense"])
        >>> plan.covers(Record("chi2(test=sense,df=1)", 39.6)), plan.covers(Record("chi2(test=sense_maximal,df=1)", 43))
        (True, False)
        """

        def covers(record: Record) -> bool:
            name, given = parse_statistic(record.statistic)
            keys = {record.statistic, f"{name}(" if given else name, f"test={given.get('test')}"}
            return record.subject == subject and record.view in ("", view) and not keys.isdisjoint(names)

        return cls(question_id, text, place, covers)


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A number as a paper prints it, with its place. ``printed`` is text, so that its decimals are known: ``.61``.

    A bound has its sign: ``< .001``.

    The fields from ``statistic`` to ``condition`` and ``view`` say which record it belongs to. ``remark`` is shown
    where the number does not reproduce; ``reproducible`` is false where the data for it were never published.
    """

    statistic: str
    printed: str
    place: str
    subject: str = ""
    dataset: str = ""
    layer: int | None = None
    condition: str = ""
    remark: str = ""
    reproducible: bool = True
    view: str = ""

    @property
    def number(self) -> float:
        """The printed number, or the printed bound."""
        return float(printed_number(self.printed)[1])

    @property
    def bound(self) -> str:
        """The sign of a printed bound, ``<`` or ``>``; empty for a number."""
        return printed_number(self.printed)[0]

    def status_of(self, value: float) -> str:
        """Compare a recomputed value with the printed one (see :func:`lexiscope.core.result.comparison_status`)."""
        return comparison_status(value, self.printed)


# -- the plan of a collection: the questions that it was to answer, fixed by a signature before the first answer ------
# ``annotate sign`` stores the signature in the study's audit log. The export writes the plan with its deviations, and
# a study that reads the exported answers marks the planned questions as confirmatory.


PLAN = "plan.json"
"""The file with the plan in an export."""
MANIFEST = "export.json"
"""The file with the checksums of all others in an export."""
_ANSWERS = ("items", "ratings", "people")
"""The settings of studies that name files with people's answers."""
_BETWEEN_SIDES = " − "


@dataclass(frozen=True, slots=True)
class Deviation:
    """A difference between a plan and what was done; ``about`` names what was planned."""

    about: str
    planned: str
    done: str


@dataclass(frozen=True, slots=True)
class CollectionPlan:
    """The plan of a collection: the study and its questions by id with their texts, models, sample, exclusions.

    ``signed_at`` and ``first_answer_at`` are times in UTC by the clock of the study's server, empty if there is none.
    ``definition_sha256`` is that of the definition that was signed: every setting, and every item. ``refused`` is why
    no question is confirmatory; empty if the plan is in force.
    """

    study: str
    questions: tuple[tuple[str, str], ...]
    models: tuple[str, ...] = ()
    ratings_per_item: int = 0
    exclusions: tuple[str, ...] = ()
    definition_sha256: str = ""
    signed_by: str = ""
    signed_at: str = ""
    first_answer_at: str = ""
    deviations: tuple[Deviation, ...] = ()
    refused: str = ""

    def checked(self, *, simulated: bool = False) -> CollectionPlan:
        """Return the plan with the reason for which it is not in force, if there is one.

        >>> plan = CollectionPlan("saw_c", (("Q1", ""),), signed_by="A", signed_at="2026-03-02T00:00:00+00:00")
        >>> plan.checked().refused, CollectionPlan("saw_c", ()).checked().refused
        ('', 'no person signed the plan')
        """
        late = self.signed_at and self.first_answer_at
        if simulated:
            reason = TOLD_SIMULATED
        elif not self.signed_by:
            reason = "no person signed the plan"
        elif late and datetime.fromisoformat(self.signed_at) >= datetime.fromisoformat(self.first_answer_at):
            reason = f"it was signed on {self.signed_at}, after the first answer ({self.first_answer_at})"
        else:
            reason = ""
        return replace(self, refused=reason)

    @property
    def place(self) -> str:
        """Where the plan is documented: who signed it, when, and the checksum of what was signed."""
        return f"plan signed by {self.signed_by} on {self.signed_at}, SHA-256 {self.definition_sha256[:12]}…"

    def said(self) -> str:
        """Return what the report and the command line say of the plan."""
        if self.refused:
            return f"Questions were planned for these answers, but all results are exploratory: {self.refused}."
        models = f"; models: {', '.join(self.models)}" if self.models else ""
        return (
            f"Confirmatory: {', '.join(name for name, _ in self.questions)}{models} ({self.place}; first answer on "
            f"{self.first_answer_at}). All other results are exploratory."
        )

    def analyses(self) -> tuple[PlannedAnalysis, ...]:
        """Return the planned analyses: the results of each named question, on people and the named models only."""

        def covers(record: Record) -> bool:
            sides = (side.partition("@")[0] for side in record.subject.split(_BETWEEN_SIDES) if side)
            models = {name.partition("@")[0] for name in self.models}
            # people are no subject of most statistics; where they are one, it is "people", or begins so
            return all(side in models or side.partition(" ")[0] == "people" for side in sides)

        named = () if self.refused else self.questions
        return tuple(PlannedAnalysis(name, text, self.place, covers) for name, text in named)

    def applied(
        self, study: str, questions: Sequence[Question], responses: ResponseTable, settings: Settings
    ) -> CollectionPlan:
        """Return the plan as it applies to a run: with the ids of this version's questions, and what deviates.

        A plan of another study is an error, as is one whose questions the study does not ask.
        """
        if self.refused:
            return self
        if study != self.study:
            return replace(self, refused=f"it is a plan for the study {self.study}, and this is {study}")
        by_text = {question.text: question.question_id for question in questions}
        kept = tuple((by_text[text], text) for _, text in self.questions if text in by_text)
        refused = "" if kept else "this version of the study asks none of its questions"
        return replace(
            self,
            questions=kept,
            refused=refused,
            deviations=(*self.deviations, *self._of_run(responses, settings, by_text)),
        )

    def _of_run(self, responses: ResponseTable, settings: Settings, asked: Collection[str]) -> tuple[Deviation, ...]:
        kinds = tuple(kind for kind in responses.unique("subject_kind") if kind not in COLLECTED)
        models = responses.where(subject_kind=kinds).unique("subject_id") if kinds else ()
        deviations = [
            Deviation("question", text, "not asked by this version of the study")
            for _, text in self.questions
            if text not in asked
        ]
        if set(models) != set(self.models):
            planned, done = (", ".join(names) or "none" for names in (self.models, models))
            deviations.append(Deviation("models", planned, done))
        more: Sequence[str] = getattr(settings, "exclusions", ())
        if more:
            planned = "; ".join(self.exclusions) or "none"
            deviations.append(Deviation("exclusions", planned, f"then in the analysis: {'; '.join(more)}"))
        return (
            *deviations,
            *(Deviation(name, "confirmatory", "set to exploratory in the settings") for name, _ in settings.analyses),
        )

    @classmethod
    def parse(cls, content: Mapping[str, Any], path: Path) -> CollectionPlan:
        """Return the plan that a file holds. Errors: :class:`InputError` for a file that no export wrote."""
        try:
            return cls(
                **{
                    **content,
                    "questions": tuple((str(name), str(text)) for name, text in content["questions"]),
                    "models": tuple(map(str, content["models"])),
                    "exclusions": tuple(map(str, content["exclusions"])),
                    "deviations": tuple(Deviation(**deviation) for deviation in content["deviations"]),
                }
            )
        except (KeyError, TypeError, ValueError) as error:
            hint = "export the collection again: lexiscope annotate export"
            raise InputError("not the plan of an export", place=Place(str(path)), why=str(error), hint=hint) from error


def exported_plan(settings: Settings) -> tuple[CollectionPlan, Path] | None:
    """Return the plan of the collection whose export the answers of a run come from, with its file; ``None`` if none.

    It is an error if the plan or the answers were changed after the export, or if others are among the answers.
    Errors: :class:`InputError` and :class:`RunError` for a file that cannot be read.
    """
    given: dict[str, tuple[str, ...]] = {}
    for name in _ANSWERS:
        value = getattr(settings, name, ())
        given[name] = (value,) if isinstance(value, str) and value else tuple(value)
    answers = [Path(name) for name in (*given["ratings"], *given["people"])] or [Path(name) for name in given["items"]]
    folders = list(dict.fromkeys(path.parent for path in answers if (path.parent / PLAN).is_file()))
    if not folders:
        return None
    file = folders[0] / PLAN
    plan = CollectionPlan.parse(read_json(file), file)
    checksums = read_json(folders[0] / MANIFEST).get("sha256", {}) if (folders[0] / MANIFEST).is_file() else {}
    changed = [
        path for path in (file, *answers) if path.parent == folders[0] and checksums.get(path.name) != sha256_of(path)
    ]
    others = [path for path in answers if path.parent != folders[0]]
    if changed:
        plan = replace(plan, refused=f"{changed[0]} is not as it was exported")
    elif others:
        plan = replace(plan, refused=f"it does not cover the answers in {others[0]}")
    return plan, file
