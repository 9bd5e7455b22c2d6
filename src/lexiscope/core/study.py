"""A study: one paper's questions, asked of recorded and live subjects, with the numbers that the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lexiscope.core.result import comparison_status, parse_statistic, printed_number

if TYPE_CHECKING:
    from lexiscope.core.result import Record

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
        """The printed number; of a bound, the bound."""
        return float(printed_number(self.printed)[1])

    @property
    def bound(self) -> str:
        """The sign of a printed bound, ``<`` or ``>``; empty for a number."""
        return printed_number(self.printed)[0]

    def status_of(self, value: float) -> str:
        """Compare a recomputed value with the printed one (see :func:`lexiscope.core.result.comparison_status`)."""
        return comparison_status(value, self.printed)
