"""The run of any study: settings, answers, and the data that they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from lexiscope.analysis.bootstrap import GroupResampling, Resampling, group_resampling
from lexiscope.core.dataset import DatasetCard
from lexiscope.core.errors import InputError, StatisticError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, Result, Undefined
from lexiscope.core.settings import Settings, own_items
from lexiscope.core.study import PublishedValue, Question
from lexiscope.report.document import Section
from lexiscope.report.part import Part

S = TypeVar("S", bound=Settings)
R = TypeVar("R", bound=Result)
V = TypeVar("V")


class RunData(Generic[S]):
    """What the questions of a study see. A study's own class is a dataclass with these fields and its own.

    ``name`` is the dataset's, ``responses`` every answer of the run (of people, recorded and live subjects),
    ``checksums`` the sha256 of the files that were read, by name.
    """

    if TYPE_CHECKING:
        # fields of the dataclass below it, or properties; here they would be defaults of its fields

        @property
        def name(self) -> str:
            """The name of the dataset."""

        @property
        def settings(self) -> S:
            """The settings of the run."""

        @property
        def responses(self) -> ResponseTable:
            """Every answer."""

        @property
        def card(self) -> DatasetCard | None:
            """What the data are."""

        @property
        def checksums(self) -> Mapping[str, str]:
            """The sha256 of the files that were read, by name."""

    # -- what a study may say of its run ----------------------------------------------------------------------------

    @property
    def own(self) -> bool:
        """Whether the items are the user's own: no paper prints a number of them."""
        return bool(own_items(self.settings))

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of what, for ``run.json``."""
        return {"responses": len(self.responses)}

    @property
    def record(self) -> Mapping[str, object]:
        """What else ``run.json`` says of the run: plain values."""
        return {}

    @property
    def cards(self) -> Sequence[tuple[DatasetCard, str]]:
        """The cards of the data with the id of their sections."""
        return ((self.card, "data"),) if self.card is not None else ()

    @property
    def sources(self) -> Mapping[str, str]:
        """The sha256 of the files that the data card names, by name: those of the data, and of files with answers."""
        return self.checksums

    def has(self, what: str) -> bool:
        """Say whether the run has what a question needs. Errors: :class:`InputError` where it cannot know that."""
        raise InputError(f"a question of this study cannot need {what!r}")

    def asks(self, question: Question) -> Question:
        """Return a question of the study as this run asks it: of other items, perhaps in other words."""
        return question

    def printed_values(self, values: Mapping[str, Sequence[PublishedValue]]) -> Sequence[PublishedValue]:
        """Return, of what papers print (by dataset), what this run is compared with."""
        return () if self.own else values.get(self.name, ())

    def mark_simulated(self, name: str, part: Part) -> Part:
        """Return a part, of the question or section *name*, with the mark of simulated participants where it has any.

        A run whose judgments are all simulated is marked as a whole when it is written: only a run in which some are
        says here which.
        """
        return part

    def mark_section(self, section: Section) -> Section:
        """Return a section of the report with that mark where it names people."""
        return section

    # -- what every study needs -------------------------------------------------------------------------------------

    def once(self, make: Callable[[Any], V]) -> V:
        """Return ``make(self)``, computed at the first call: what several questions need is computed once."""
        kept: dict[Any, Any] = self.__dict__.setdefault("_once", {})
        if make not in kept:
            kept[make] = make(self)
        return cast(V, kept[make])

    @property
    def resampling(self) -> Resampling:
        """How statistics of this run make their intervals: ``statistic(ratings, **run.resampling)``."""
        return {"resamples": self.settings.n_bootstrap, "seed": self.settings.seed}

    def resampling_of(self, groups: Mapping[str, str], items: Iterable[str] | None = None) -> GroupResampling:
        """Return the same with the groups (words) of some items, which are resampled whole; by default, of all."""
        return group_resampling(groups, items, **self.resampling)

    def number(self, statistic: str, value: float | None, **about: Any) -> Record:
        """Return a plain number of the dataset as a record; *about* are its other fields (``n``, ``condition``)."""
        return Record(statistic, value, **({"dataset": self.name} | about))

    def about(self, result: R, **where: Any) -> R:
        """Return a result with the dataset's name and what else it is about."""
        return result.about(**({"dataset": self.name} | where))

    def about_all(self, results: Iterable[R], **where: Any) -> list[R]:
        """Return results as :meth:`about` returns each of them."""
        return [self.about(result, **where) for result in results]

    def attempt(self, name: str, make: Callable[[], V], **where: Any) -> V | Undefined:
        """Return what *make* returns, or why it is undefined on these numbers: one statistic does not stop a study."""
        try:
            return make()
        except StatisticError as error:
            return self.about(Undefined(name, error.what), **where)
