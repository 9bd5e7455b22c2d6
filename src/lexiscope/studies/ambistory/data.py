"""What the study works on: stories with recorded ratings, and the predictions of the subjects that judge them too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from lexiscope.analysis.predictions import Form, rounded
from lexiscope.analysis.ratings import Ratings
from lexiscope.analysis.story_effects import StoryPlace, story_places
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core import catalog
from lexiscope.core.dataset import DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.reply import MEASURE_REPLY
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.run import sha256_of
from lexiscope.core.simulated import COLLECTED, PARTICIPANT, SIMULATED
from lexiscope.core.subject import Subject
from lexiscope.items.chat_answers import MEASURE_EXPECTED
from lexiscope.items.recorded_rows import check_ratings
from lexiscope.items.scale_scoring import MEASURE_MOST_PROBABLE
from lexiscope.report.part import told_apart
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

Kind = Literal["live", "baseline"]
SPLITS = ("train", "dev", "test")
ALL = "all"


@dataclass(frozen=True, eq=False)
class Predictor:
    """What one subject predicts. ``predictions``: item id → rating, ``None`` where no reply could be read.

    ``form`` is ``integer`` where all are whole numbers. ``n_asked`` counts questions, repetitions included, ``kinds``
    what became of those that have no value (refusal, prose …), ``repeats`` how often each question was asked; the
    prediction is then the mean of the readable answers.
    """

    subject: str
    title: str
    kind: Kind
    predictions: Mapping[str, float | None]
    form: Form
    n_asked: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    repeats: int = 1

    @property
    def n_unreadable(self) -> int:
        """How many questions have no value."""
        return sum(self.kinds.values())

    @property
    def n_items(self) -> int:
        """How many samples it was asked about."""
        return len(self.predictions)

    @property
    def n_read(self) -> int:
        """How many of them have a prediction: at least one readable answer."""
        return sum(value is not None for value in self.predictions.values())

    @property
    def read_of_asked(self) -> str:
        """Both numbers, as tables print them."""
        return f"{self.n_read} / {self.n_items}"

    @cached_property
    def whole(self) -> dict[str, float | None]:
        """The predictions as whole numbers of the scale, halves up; those that are whole stay as they are."""
        if self.form == "integer":
            return dict(self.predictions)
        return {item: None if value is None else float(rounded([value])[0]) for item, value in self.predictions.items()}


@dataclass(frozen=True, eq=False)
class AmbistoryData(RunData[AmbistorySettings]):
    """What the questions see. ``people`` are all ratings (``None`` if there are none); ``asked`` the ids of the items
    that live subjects were asked, those of ``split``; ``groups`` the group of each rater.
    """

    settings: AmbistorySettings
    name: str
    card: DatasetCard
    items: tuple[Item, ...]
    responses: ResponseTable
    people: Ratings | None
    split: str
    asked: tuple[str, ...]
    predictors: tuple[Predictor, ...] = ()
    facts: Mapping[str, SubjectFacts] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    checksums: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of what, for ``run.json``."""
        return {
            "items": len(self.items),
            "asked": len(self.asked),
            "responses": len(self.responses),
            "subjects": len(self.predictors),
        }

    def has(self, what: str) -> bool:
        """Say whether there are ratings of people, or pairs of subjects to compare."""
        if what == "pairs of subjects to compare":
            return bool(self.settings.compare)
        return self.people is not None if what == "ratings" else super().has(what)

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """The items by their ids."""
        return {item.item_id: item for item in self.items}

    @cached_property
    def words(self) -> dict[str, str]:
        """The word form of each item: what intervals of models resample."""
        return {item.item_id: item.word for item in self.items}

    @cached_property
    def setups(self) -> dict[str, str]:
        """The setup of each item: what intervals of agreement resample."""
        return {item.item_id: str(item.condition("setup")) for item in self.items}

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Whether each item's story is open or ended."""
        return {item.item_id: str(item.condition("story_kind")) for item in self.items}

    @cached_property
    def places(self) -> dict[str, StoryPlace]:
        """The place of each item in its setup."""
        return story_places({item.item_id: item.conditions for item in self.items})

    def splits(self) -> tuple[str, ...]:
        """The splits that the items come from, in the usual order; none where they have no split."""
        found = {str(item.conditions.get("split", "")) for item in self.items}
        return tuple(split for split in SPLITS if split in found)

    def ids(self, where: Callable[[Item], bool] | None = None) -> tuple[str, ...]:
        """The ids of the items that a condition holds for, in their order."""
        return tuple(item.item_id for item in self.items if where is None or where(item))

    def in_split(self, split: str) -> tuple[str, ...]:
        """The ids of the items of a split; ``all`` means every item, and so does any split where there are none."""
        if split == ALL or not self.splits():
            return self.ids()
        return self.ids(lambda item: str(item.conditions.get("split", "")) == split)

    def rated(self, items: Sequence[str]) -> Ratings | None:
        """Return the ratings of some items; ``None`` where they have none."""
        return None if self.people is None else subset(self.people, items)

    @cached_property
    def judged(self) -> Ratings | None:
        """The ratings of the items that live subjects were asked."""
        return self.rated(self.asked)


def subset(ratings: Ratings, items: Sequence[str]) -> Ratings | None:
    """Return the ratings of some items alone: no other item, and no rater without a rating, is in it."""
    known = {item: code for code, item in enumerate(ratings.item_ids)}
    wanted = np.zeros(ratings.n_items, dtype=bool)
    wanted[[known[item] for item in items if item in known]] = True
    keep = wanted[ratings.item]
    if not keep.any():
        return None
    raters = [ratings.rater_ids[code] for code in ratings.rater[keep].tolist()]
    return Ratings.from_arrays(
        raters, [ratings.item_ids[code] for code in ratings.item[keep].tolist()], ratings.value[keep]
    )


# -- where it comes from ------------------------------------------------------------------------------------------


def gather(settings: AmbistorySettings, out: Path, progress: CollectProgress | None = None) -> AmbistoryData:
    """Load the stories and their ratings, let the live subjects judge those of a split, and arrange everything.

    The answers of live subjects are kept under ``out/collected``, so that a broken run continues and none is asked
    for twice.
    Errors: :class:`SpecError` for a dataset that holds no stories; :class:`InputError` if there are neither recorded
    ratings nor predictions.
    """
    source = catalog.dataset(settings.dataset)
    lacking = [name for name in NEEDED if name not in source.items[0].conditions]
    if source.card.task != TASK or lacking:
        raise SpecError(f"{settings.dataset} holds no stories", hint="use ambistory or mini_ambistory")
    live = live_subjects(settings.subjects, settings)
    run = AmbistoryData(
        settings=settings,
        name=source.card.name,
        card=source.card,
        items=source.items,
        responses=source.responses,
        people=_people(source.responses),
        split=settings.split if _has_splits(source.items) else ALL,
        asked=(),
        groups=_groups(source.responses),
        checksums=dict(source.checksums),
    )
    asked = run.in_split(run.split)
    answers = _answers([run.by_id[item] for item in asked], live, settings, out / "collected", progress)
    facts = {subject.subject_id: subject.facts for subject in live}
    found = _predictors(answers, facts)
    if run.people is None and not found:
        what = f"{run.name} has no recorded ratings, and no subject was asked"
        raise InputError(what, hint="name a subject that rates: --subject chat:MODEL@URL, or baseline:random")
    return replace(
        run,
        asked=asked,
        responses=ResponseTable.concat([source.responses, answers]),
        facts=facts,
        predictors=found,
        remarks=_unanswered(live, answers),
    )


def given_files(settings: AmbistorySettings) -> dict[str, str]:
    """Return the checksums of recorded predictions and coded sheets: another content is another run."""
    paths = [Path(spec.partition(":")[2]) for spec in settings.subjects if spec.startswith("recorded:")]
    paths += [Path(name) for name in settings.codings]
    return {str(path): sha256_of(path) for path in paths if path.is_file()}


def _has_splits(items: Sequence[Item]) -> bool:
    return all("split" in item.conditions for item in items)


def _people(responses: ResponseTable) -> Ratings | None:
    rated = responses.where(subject_kind=SIMULATED if holds_simulated(responses) else PARTICIPANT, measure=MEASURE)
    return Ratings.from_table(rated) if len(rated) else None


def _groups(responses: ResponseTable) -> dict[str, str]:
    """The group of each recorded rater: ``rater/<group>-<position>``."""
    raters = responses.where(subject_kind=COLLECTED).unique("subject_id") if len(responses) else ()
    return {rater: rater.rpartition("/")[2].rpartition("-")[0] for rater in map(str, raters)}


# -- who answers ----------------------------------------------------------------------------------------------


def _answers(
    items: Sequence[Item],
    subjects: Sequence[Subject],
    settings: AmbistorySettings,
    out: Path,
    progress: CollectProgress | None,
) -> ResponseTable:
    if not subjects:
        return ResponseTable.empty()
    return collect(items, subjects, TASK, out=out, seed=settings.seed, progress=progress)


def _predictors(answers: ResponseTable, facts: Mapping[str, SubjectFacts]) -> tuple[Predictor, ...]:
    """What every subject predicts, in the order in which they were asked; expected values stand beside ratings."""
    if not len(answers):
        return ()
    found = []
    for subject in map(str, answers.where(measure=tuple(MEASURES)).unique("subject_id")):
        for measure in MEASURES:
            rows = answers.where(subject_id=subject, measure=measure)
            if len(rows):
                found.append(_predictor(answers, rows, subject, measure, facts.get(subject)))
    titles = told_apart([each.title for each in found], [each.subject for each in found])
    return tuple(replace(each, title=title) for each, title in zip(found, titles, strict=True))


def _predictor(
    answers: ResponseTable, rows: ResponseTable, subject: str, measure: str, fact: SubjectFacts | None
) -> Predictor:
    check_ratings(rows, SCALE)
    values: dict[str, list[float]] = {}
    for item, value in zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True):
        values.setdefault(item, []).append(value)
    # repetitions of a question are averaged over those that could be read
    given = {item: [value for value in several if not np.isnan(value)] for item, several in values.items()}
    predictions = {item: sum(several) / len(several) if several else None for item, several in given.items()}
    whole = all(value is None or value.is_integer() for value in predictions.values())
    expected = MEASURES[measure]
    return Predictor(
        subject=subject + expected,
        title=((fact.title if fact else "") or subject) + expected,
        kind="baseline" if "baseline" in rows.unique("subject_kind") else "live",
        predictions=predictions,
        form="integer" if whole and measure != MEASURE_EXPECTED else "raw",
        n_asked=len(rows),
        kinds=_unreadable(answers, rows, subject, measure),
        repeats=max(map(len, values.values())),
    )


def _unreadable(answers: ResponseTable, rows: ResponseTable, subject: str, measure: str) -> dict[str, int]:
    """How many answers have no value, by what became of the reply where the subject says so."""
    missing = int(np.isnan(rows.column("value").astype(np.float64)).sum())
    replies = answers.where(subject_id=subject, measure=MEASURE_REPLY)
    if measure != MEASURE or not len(replies):
        return {"without a value": missing} if missing else {}
    found = Counter(str(kind) for kind in replies.column("option").tolist() if kind != "ok")
    return dict(sorted(found.items()))


def _unanswered(live: Sequence[Subject], answers: ResponseTable) -> tuple[str, ...]:
    spoken = set(answers.where(measure=(*MEASURES, MEASURE_DISTANCE)).unique("subject_id")) if len(answers) else set()
    silent = [subject.subject_id for subject in live if subject.subject_id not in spoken]
    # recorded predictions stand under the ids of those who gave them
    ours = [each for each in silent if not each.startswith("recorded:")]
    return tuple(f"{subject} gave no ratings: it stands in no table of results." for subject in ours)
