"""What the study works on: stories with recorded ratings, and the predictions of the subjects that judge them too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypedDict

import numpy as np

from lexiscope.analysis.predictions import Form, rounded
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.story_effects import StoryPlace, story_places
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.reply import MEASURE_REPLY
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.run import sha256_of
from lexiscope.core.simulated import COLLECTED, PARTICIPANT, SIMULATED
from lexiscope.items.chat_answers import MEASURE_EXPECTED
from lexiscope.items.recorded_rows import check_ratings
from lexiscope.items.scale_scoring import MEASURE_MOST_PROBABLE
from lexiscope.report.part import told_apart
from lexiscope.report.tables import Format
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.kit.run_data import RunData
from lexiscope.tasks.plausibility import SCALE

TASK, MEASURE = "plausibility", "rating"
MEASURES: Mapping[str, str] = {
    MEASURE: "",
    MEASURE_EXPECTED: ", expected value",
    MEASURE_MOST_PROBABLE: ", most probable point",
}
"""What is taken as a prediction, and what its subject is called then."""
MEASURE_DISTANCE = "cosine_distance"
NEEDED = ("setup", "story_kind", "ending_of", "meaning")
SPLITS = ("train", "dev", "test")
ALL = "all"
PEOPLE = "people"
PAIRS = "pairs of subjects to compare"
PERCENT, TWO, THREE = Format("number", 1), Format("number", 2), Format("number", 3, leading_zero=False)


class Resampled(TypedDict):
    """How an interval is made: the group of each item, how often groups are drawn, and the seed."""

    groups: Mapping[str, str]
    resamples: int
    seed: int


@dataclass(frozen=True, eq=False)
class Predictor:
    """What one subject predicts. ``predictions``: item id → rating, ``None`` where no reply could be read.

    ``form`` is ``integer`` where all are whole numbers. ``n_asked`` counts questions, repetitions included, ``kinds``
    what became of those that have no value (refusal, prose …), ``repeats`` how often each question was asked; the
    prediction is then the mean of the readable answers.
    """

    subject: str
    title: str
    predictions: Mapping[str, float | None]
    form: Form
    n_asked: int
    kinds: Mapping[str, int]
    repeats: int

    @property
    def n_unreadable(self) -> int:
        """How many questions have no value."""
        return sum(self.kinds.values())

    @property
    def n_read(self) -> int:
        """How many samples have a prediction: at least one readable answer."""
        return sum(value is not None for value in self.predictions.values())

    @property
    def read_of_asked(self) -> str:
        """How many samples have a prediction, of how many, as tables print it."""
        return f"{self.n_read} / {len(self.predictions)}"

    @cached_property
    def whole(self) -> dict[str, float | None]:
        """The predictions as whole numbers of the scale, halves up; those that are whole stay as they are."""
        if self.form == "integer":
            return dict(self.predictions)
        return {item: None if value is None else float(rounded([value])[0]) for item, value in self.predictions.items()}


@dataclass(frozen=True, eq=False)
class AmbistoryData(RunData[AmbistorySettings]):
    """What the questions see: the stories with the recorded answers, and those of live subjects with who they are."""

    settings: AmbistorySettings
    source: Dataset
    answers: ResponseTable
    facts: Mapping[str, SubjectFacts]

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.source.card.name

    @property
    def card(self) -> DatasetCard:
        """What the data are."""
        return self.source.card

    @property
    def checksums(self) -> Mapping[str, str]:
        """The sha256 of the data files, by name."""
        return dict(self.source.checksums)

    @cached_property
    def responses(self) -> ResponseTable:
        """Every answer: those of the data, and those of the live subjects."""
        return ResponseTable.concat([self.source.responses, self.answers])

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of what, for ``run.json``."""
        items, answers = len(self.source.items), len(self.responses)
        return {"items": items, "asked": len(self.asked), "responses": answers, "subjects": len(self.predictors)}

    def has(self, what: str) -> bool:
        """Say whether there are ratings of people, or pairs of subjects to compare."""
        if what == PAIRS:
            return bool(self.settings.compare)
        return bool(self._raters) if what == "ratings" else super().has(what)

    # -- stories ------------------------------------------------------------------------------------------------------

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """The items by their ids."""
        return {item.item_id: item for item in self.source.items}

    @cached_property
    def words(self) -> dict[str, str]:
        """The word form of each item: what intervals of models resample."""
        return {item.item_id: item.word for item in self.source.items}

    @cached_property
    def setups(self) -> dict[str, str]:
        """The setup of each item: what intervals of agreement resample."""
        return self._condition("setup")

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Whether each item's story is open or ended."""
        return self._condition("story_kind")

    @cached_property
    def places(self) -> dict[str, StoryPlace]:
        """The place of each item in its setup."""
        return story_places({item.item_id: item.conditions for item in self.source.items})

    @cached_property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The ids of all items, and those of each split that they come from, in the usual order."""
        of = {item.item_id: str(item.conditions.get("split", "")) for item in self.source.items}
        splits = [split for split in SPLITS if split in set(of.values())]
        return {ALL: tuple(of), **{split: tuple(item for item in of if of[item] == split) for split in splits}}

    @cached_property
    def split(self) -> str:
        """What live subjects were asked: the split of the settings; all items where not every item has a split."""
        known = len(self.parts) > 1 and all("split" in item.conditions for item in self.source.items)
        return self.settings.split if known else ALL

    @property
    def asked(self) -> tuple[str, ...]:
        """The ids of the items that live subjects were asked."""
        return self.parts.get(self.split, ())

    def of_kind(self, kind: str, items: Iterable[str]) -> tuple[str, ...]:
        """Return those of some items whose story is open, or ended."""
        return tuple(item for item in items if self.kinds[item] == kind)

    def resampled(self, groups: Mapping[str, str], items: Iterable[str] = ()) -> Resampled:
        """Return how intervals resample the groups of some items (of all); none are drawn where there is one group."""
        chosen = {item: groups[item] for item in items} or groups
        drawn = self.settings.n_bootstrap if len(set(chosen.values())) > 1 else 0
        return Resampled(groups=chosen, resamples=drawn, seed=self.settings.seed)

    def _condition(self, name: str) -> dict[str, str]:
        return {item.item_id: str(item.condition(name)) for item in self.source.items}

    # -- people -------------------------------------------------------------------------------------------------------

    @cached_property
    def _raters(self) -> ResponseTable:
        recorded = self.source.responses
        return recorded.where(subject_kind=SIMULATED if holds_simulated(recorded) else PARTICIPANT, measure=MEASURE)

    @cached_property
    def people(self) -> Ratings:
        """All ratings of people. Errors: :class:`InputError` where there are none."""
        return Ratings.from_table(self._raters)

    @cached_property
    def judged(self) -> Ratings | None:
        """The ratings of the items that live subjects were asked; ``None`` where there are none."""
        return self.rated(self.asked)

    @cached_property
    def groups(self) -> dict[str, str]:
        """The group of each recorded rater: ``rater/<group>-<position>``."""
        raters = map(str, self.source.responses.where(subject_kind=COLLECTED).unique("subject_id"))
        return {rater: rater.rpartition("/")[2].rpartition("-")[0] for rater in raters}

    def rated(self, items: Iterable[str]) -> Ratings | None:
        """Return the ratings of some items; ``None`` where they have none."""
        found = self.people.of_items(tuple(items)) if self.has("ratings") else None
        return found if found is not None and len(found) else None

    # -- subjects -----------------------------------------------------------------------------------------------------

    @cached_property
    def predictors(self) -> tuple[Predictor, ...]:
        """What every subject predicts, in the order in which they were asked; expected values follow ratings."""
        subjects = map(str, self.answers.where(measure=tuple(MEASURES)).unique("subject_id"))
        found = [
            self._predictor(rows, subject, measure)
            for subject in subjects
            for measure in MEASURES
            if len(rows := self.answers.where(subject_id=subject, measure=measure))
        ]
        titles = told_apart([each.title for each in found], [each.subject for each in found])
        return tuple(replace(each, title=title) for each, title in zip(found, titles, strict=True))

    @property
    def silent(self) -> tuple[str, ...]:
        """The subjects that gave no ratings; recorded predictions have the ids of those who gave them."""
        spoken = set(self.answers.where(measure=(*MEASURES, MEASURE_DISTANCE)).unique("subject_id"))
        return tuple(name for name in self.facts if name not in spoken and not name.startswith("recorded:"))

    def _predictor(self, rows: ResponseTable, subject: str, measure: str) -> Predictor:
        check_ratings(rows, SCALE)
        values: dict[str, list[float]] = {}
        for item, value in zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True):
            values.setdefault(item, []).append(value)
        # repetitions of a question are averaged over those that could be read
        given = {item: [value for value in several if not np.isnan(value)] for item, several in values.items()}
        predictions = {item: sum(several) / len(several) if several else None for item, several in given.items()}
        whole = all(value is None or value.is_integer() for value in predictions.values())
        replies = self.answers.where(subject_id=subject, measure=MEASURE_REPLY)
        unread = Counter(str(kind) for kind in replies.column("option").tolist() if kind != "ok")
        if measure != MEASURE or not len(replies):
            unread = +Counter({"without a value": int(np.isnan(rows.column("value").astype(np.float64)).sum())})
        fact, expected = self.facts.get(subject), MEASURES[measure]
        return Predictor(
            subject=subject + expected,
            title=((fact.title if fact else "") or subject) + expected,
            predictions=predictions,
            form="integer" if whole and measure != MEASURE_EXPECTED else "raw",
            n_asked=len(rows),
            kinds=dict(sorted(unread.items())),
            repeats=max(map(len, values.values())),
        )


def gather(settings: AmbistorySettings, out: Path, progress: CollectProgress | None = None) -> AmbistoryData:
    """Load the stories and their ratings, and let the live subjects judge those of a split.

    The answers of live subjects are kept under ``out/collected``, so that a broken run continues and none is asked
    for twice.
    Errors: :class:`SpecError` for a dataset that holds no stories; :class:`InputError` if there are neither recorded
    ratings nor predictions.
    """
    source = catalog.dataset(settings.dataset)
    if source.card.task != TASK or not set(NEEDED) <= set(source.items[0].conditions):
        raise SpecError(f"{settings.dataset} holds no stories", hint="use ambistory or mini_ambistory")
    live = live_subjects(settings.subjects, settings)
    run = AmbistoryData(settings, source, ResponseTable.empty(), {})
    if live:
        asked = [run.by_id[item] for item in run.asked]
        answers = collect(asked, live, TASK, out=out / "collected", seed=settings.seed, progress=progress)
        run = replace(run, answers=answers, facts={subject.subject_id: subject.facts for subject in live})
    if not run.has("ratings") and not run.predictors:
        what = f"{run.name} has no recorded ratings, and no subject was asked"
        raise InputError(what, hint="name a subject that rates: --subject chat:MODEL@URL, or baseline:random")
    return run


def given_files(settings: AmbistorySettings) -> dict[str, str]:
    """Return the checksums of recorded predictions and coded sheets: another content is another run."""
    paths = [Path(spec.partition(":")[2]) for spec in settings.subjects if spec.startswith("recorded:")]
    paths += [Path(name) for name in settings.codings]
    return {str(path): sha256_of(path) for path in paths if path.is_file()}
