"""The run of the study: stories with recorded ratings, and the predictions of the live subjects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from lexiscope.analysis.bootstrap import Bootstrap, GroupLabels, GroupOf
from lexiscope.analysis.norms.predictions import Predictor, predictors
from lexiscope.analysis.norms.story_effects import StoryPlace, story_places
from lexiscope.analysis.ratings import Ratings
from lexiscope.build.stories.stories import placed_stories
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.reply import MEASURE_REPLY
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate
from lexiscope.core.simulated import COLLECTED
from lexiscope.core.spec import plain_name, split_options, with_options
from lexiscope.items.answers.chat_answers import MEASURE_EXPECTED
from lexiscope.items.answers.scale_scoring import MEASURE_MOST_PROBABLE
from lexiscope.items.read.importer import check_ratings
from lexiscope.report.part import distinct_titles
from lexiscope.report.tables import Format
from lexiscope.resources.tables.delimited import read_csv
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.kit.data import askable, own_dataset
from lexiscope.studies.kit.run import Run
from lexiscope.studies.kit.study import read_texts
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
PAIRS = "pairs of subjects to compare"
SHOTS = "subject that was asked both without and with worked examples"
SIZES = "three subjects of known and different sizes"
TEXTS = read_texts(Path(__file__).with_name("texts.md"))
"""The prose of the report."""
PERCENT, TWO, THREE = Format("number", 1), Format("number", 2), Format("number", 3, leading_zero=False)


_MODELS = ("subject", "model", "shots", "base", "parameters")
"""The columns of the table of subjects."""


@dataclass(frozen=True, slots=True)
class DescribedSubject:
    """What a subject is: its model, the worked examples it saw, the model it was trained from, its parameters.

    ``base`` is empty where it was not trained on the ratings, ``parameters`` ``None`` where they are not known.
    """

    model: str
    shots: int
    base: str = ""
    parameters: float | None = None


@dataclass(frozen=True, eq=False)
class AmbistoryData(Run[AmbistorySettings]):
    """A run of the study: stories with the answers of people and of live subjects, and the facts on these subjects."""

    facts: Mapping[str, SubjectFacts] = field(default_factory=dict)
    unasked: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of what, for ``run.json``."""
        answers, subjects = len(self.responses), len(self.predictors)
        return {"items": len(self.items), "asked": len(self.asked_ids), "responses": answers, "subjects": subjects}

    def has(self, what: str) -> bool:
        """Say whether there are subjects to compare, or what every run can have."""
        if what in (SHOTS, SIZES):
            return bool(self.shot_pairs if what == SHOTS else self.sized)
        return bool(self.settings.compare or self.trained_pairs) if what == PAIRS else super().has(what)

    # -- stories ------------------------------------------------------------------------------------------------------

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """The items by their ids."""
        return {item.item_id: item for item in self.items}

    @cached_property
    def words(self) -> dict[str, str]:
        """The word form of each item: what intervals of models resample."""
        return GroupOf({item.item_id: item.word for item in self.items}, "words")

    @cached_property
    def setups(self) -> dict[str, str]:
        """The setup of each item: what intervals of agreement resample."""
        return GroupOf({item.item_id: str(item.condition("setup")) for item in self.items}, "setups")

    @cached_property
    def places(self) -> dict[str, StoryPlace]:
        """The place of each item in its setup."""
        return story_places({item.item_id: item.conditions for item in self.items})

    @cached_property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The ids of all items, and those of each split that they come from, in the usual order."""
        of = {item.item_id: str(item.conditions.get("split", "")) for item in self.items}
        splits = [split for split in SPLITS if split in set(of.values())]
        return {ALL: tuple(of), **{split: tuple(item for item in of if of[item] == split) for split in splits}}

    @cached_property
    def split(self) -> str:
        """What live subjects were asked: the split of the settings; all items where not every item has a split."""
        known = len(self.parts) > 1 and all("split" in item.conditions for item in self.items)
        return self.settings.split if known else ALL

    @property
    def asked_ids(self) -> tuple[str, ...]:
        """The ids of the items that live subjects were asked."""
        return self.parts.get(self.split, ())

    def of_kind(self, kind: str, items: Iterable[str]) -> tuple[str, ...]:
        """Return those of some items whose story is open, or ended."""
        return tuple(item for item in items if self.by_id[item].condition("story_kind") == kind)

    # -- people -------------------------------------------------------------------------------------------------------

    @cached_property
    def groups(self) -> dict[str, str]:
        """The group of each rater: AmbiStory's (``rater/<group>-<position>``), in own data the list."""
        people = self.data.responses.where(subject_kind=COLLECTED)
        if self.own:
            lists = zip(people.column("subject_id"), people.column("list_id"), strict=True)
            return {str(rater): str(name or ALL) for rater, name in lists}
        return {rater: rater.rpartition("/")[2].rpartition("-")[0] for rater in map(str, people.unique("subject_id"))}

    @cached_property
    def asked_ratings(self) -> Ratings | None:
        """The ratings of the items that live subjects were asked; ``None`` where there are none."""
        return next((ratings for _, ratings in self.ratings_of_parts({"": self.asked_ids})), None)

    def ratings_of_parts(self, parts: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, Ratings]]:
        """Yield the ratings of each part of the items that has ratings, after its name."""
        for name, items in parts.items() if self.has("ratings") else ():
            ratings = self.people.of_items(tuple(items))
            if len(ratings):
                yield name, ratings

    # -- subjects -----------------------------------------------------------------------------------------------------

    @cached_property
    def predictors(self) -> tuple[Predictor, ...]:
        """What every subject predicts, in the order in which they were asked; expected values follow ratings."""
        for measure in MEASURES:
            check_ratings(self.answers.where(measure=measure), SCALE)
        titles = {subject: facts.title for subject, facts in self.facts.items()}
        untitled = predictors(self.answers, MEASURES, titles=titles, replies=MEASURE_REPLY, raw=(MEASURE_EXPECTED,))
        names = distinct_titles(
            [predictor.title for predictor in untitled], [predictor.subject for predictor in untitled]
        )
        return tuple(replace(predictor, title=name) for predictor, name in zip(untitled, names, strict=True))

    @cached_property
    def described(self) -> dict[str, DescribedSubject]:
        """What is known of the subjects that predict: by the table of the settings, else by the specs of chat models.

        Errors: :class:`InputError` with the line of a subject that is not in the run or is there twice, and of a number
        that is none.
        """
        if not self.settings.models:
            return {
                predictor.subject: _described_by_spec(self.facts[predictor.subject])
                for predictor in self.predictors
                if predictor.subject in self.facts and self.facts[predictor.subject].kind == "chat"
            }
        by_subject: dict[str, DescribedSubject] = {}
        for place, row in read_csv(Path(self.settings.models), _MODELS).rows():
            try:
                subject = self.predictor_named(row["subject"]).subject
                size = float(row["parameters"]) if row["parameters"] else None
                about = DescribedSubject(row["model"], int(row["shots"]), row["base"], size)
            except (SpecError, ValueError) as error:
                hint = error.hint if isinstance(error, SpecError) else "shots is a whole number, parameters a number"
                raise InputError(str(getattr(error, "what", error)), place=place, hint=hint) from error
            if subject in by_subject or not about.model or about.shots < 0:
                what = f"{row['subject']!r} is there twice, has no model, or fewer than no worked examples"
                raise InputError(what, place=place)
            by_subject[subject] = about
        return by_subject

    @cached_property
    def shot_pairs(self) -> tuple[tuple[Predictor, Predictor], ...]:
        """Subjects that are one model, asked without and with worked examples."""
        known = [(predictor, self.described[predictor.subject]) for predictor in self.predictors
                 if predictor.subject in self.described]  # fmt: skip
        return tuple(
            (zero, few)
            for zero, first in known
            for few, second in known
            if first.shots == 0 < second.shots and replace(second, shots=0) == first
        )

    @cached_property
    def trained_pairs(self) -> tuple[tuple[Predictor, Predictor], ...]:
        """Subjects of which the second was trained and the first is its base: those named, then those of the table.

        Errors: :class:`SpecError` where a pair names a subject that gave no ratings.
        """
        named = [(self.predictor_named(base), self.predictor_named(tuned)) for tuned, base in self.settings.compare]
        known = [predictor for predictor in self.predictors if predictor.subject in self.described]
        for tuned in known:
            about = self.described[tuned.subject]
            named += [
                (base, tuned)
                for base in known
                if about.base == self.described[base.subject].model
                and about.shots == self.described[base.subject].shots
            ]
        return tuple(dict.fromkeys(named))

    @cached_property
    def sized(self) -> dict[int, tuple[Predictor, ...]]:
        """Subjects of known sizes that were not trained, by their worked examples, where three sizes or more differ."""
        by_shots: dict[int, list[Predictor]] = {}
        for predictor in self.predictors:
            about = self.described.get(predictor.subject)
            if about is not None and about.parameters and not about.base and predictor.n_read:
                by_shots.setdefault(about.shots, []).append(predictor)
        return {
            shots: tuple(several)
            for shots, several in sorted(by_shots.items())
            if len({self.described[predictor.subject].parameters for predictor in several}) > 2
        }

    def predictor_named(self, spec: str) -> Predictor:
        """Return the subject with this id or title. Errors: :class:`SpecError` where none, or several, have it."""
        matches = [model for model in self.predictors if spec in (model.subject, model.title)]
        # device and threads are added to a spec before it is asked
        matches = matches or [model for model in self.predictors if model.subject.startswith(plain_name(spec))]
        if len(matches) != 1:
            known = ", ".join(model.subject for model in self.predictors) or "none"
            raise SpecError(f"{spec!r} names no subject of this run to compare", hint=f"there are: {known}")
        return matches[0]

    def mean_over_words(self, name: str, values: Sequence[float], words: Iterable[str]) -> Estimate:
        """Return the mean of values, of which each is about a word; its interval resamples words."""
        labels, column = GroupLabels(words, "words"), np.asarray(values, dtype=np.float64)
        bootstrap = Bootstrap(labels, self.settings.n_bootstrap, self.settings.seed)
        interval = bootstrap.interval(lambda rows: float(column[rows].mean()))
        return self.about(Estimate(name, float(column.mean()), interval, len(column), len(set(labels))))

    @property
    def silent_subjects(self) -> tuple[str, ...]:
        """The subjects that gave no ratings; recorded predictions have the ids of those who gave them."""
        spoken = set(self.answers.where(measure=(*MEASURES, MEASURE_DISTANCE)).unique("subject_id"))
        return tuple(name for name in self.facts if name not in spoken and not name.startswith("recorded:"))


def _described_by_spec(facts: SubjectFacts) -> DescribedSubject:
    name, options = split_options(facts.subject_id)
    shots = int(options.pop("shots", "0"))
    return DescribedSubject(with_options(name, options), shots, parameters=facts.n_parameters or None)


def load_run(settings: AmbistorySettings, out: Path, progress: CollectProgress | None = None) -> AmbistoryData:
    """Load the stories and their ratings, and let the live subjects judge those of a split.

    The answers of live subjects are kept under ``out/collected``, so that a broken run continues and none is asked
    for twice.
    Errors: :class:`SpecError` for a dataset that holds no stories; :class:`InputError` if there are neither recorded
    ratings nor predictions.
    """
    if settings.items:
        source = own_dataset(settings.items, task=TASK, language=settings.language, ratings=settings.ratings)
        source = replace(source, items=placed_stories(source.items))
    else:
        source = catalog.dataset(settings.dataset)
    if source.card.task != TASK or not set(NEEDED) <= set(source.items[0].conditions):
        hint = "use ambistory, mini_ambistory, or stories of your own: --items FILE"
        raise SpecError(f"{settings.dataset} holds no stories", hint=hint)
    live, unasked = askable(live_subjects(settings.subjects, settings), source.items, TASK)
    run = AmbistoryData(source, ResponseTable.empty(), settings, unasked=unasked)
    if live:
        asked = [run.by_id[item] for item in run.asked_ids]
        answers = collect(asked, live, TASK, out=out / "collected", seed=settings.seed, progress=progress)
        run = replace(run, answers=answers, facts={subject.subject_id: subject.facts for subject in live})
    if not run.has("ratings") and not run.predictors:
        what = f"{run.name} has no recorded ratings, and no subject was asked"
        raise InputError(what, hint="name a subject that rates: --subject chat:MODEL@URL, or baseline:random")
    return run
