"""The run of the study: stories with recorded ratings, and the predictions of the live subjects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from lexiscope.analysis.bootstrap import GroupOf, GroupResampling
from lexiscope.analysis.norms.predictions import Predictor, predictors
from lexiscope.analysis.norms.story_effects import StoryPlace, story_places
from lexiscope.analysis.norms.variants import DescribedSubject, Pair, Variants
from lexiscope.analysis.ratings import Ratings
from lexiscope.build.stories.stories import placed_stories
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.reply import MEASURE_REPLY
from lexiscope.core.response import ResponseTable
from lexiscope.core.simulated import COLLECTED
from lexiscope.items.answers.chat_answers import MEASURE_EXPECTED
from lexiscope.items.answers.scale_scoring import MEASURE_MOST_PROBABLE
from lexiscope.items.read.importer import check_ratings
from lexiscope.items.read.item_source import lines_named
from lexiscope.report.part import distinct_titles
from lexiscope.report.tables import Format
from lexiscope.studies.ambistory.settings import AmbistorySettings
from lexiscope.studies.kit.data import askable, described_subjects, rated_source
from lexiscope.studies.kit.languages import with_language_remarks
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
RATED_TWICE = "story that two participants rated"
SHOTS = "subject that was asked both without and with worked examples"
SIZES = "three subjects of known and different sizes"
TEXTS = read_texts(Path(__file__).with_name("texts.md"))
"""The prose of the report."""
PERCENT, TWO, THREE = Format("number", 1), Format("number", 2), Format("number", 3, leading_zero=False)


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
        """Whether there are subjects to compare, stories with an SD, or what every run can have."""
        if what == RATED_TWICE:
            return self.has("ratings") and self.asked_ratings is not None
        if what in (SHOTS, SIZES):
            return bool(self.variants.shot_pairs if what == SHOTS else self.variants.sized)
        return bool(self.settings.compare or self.trained_pairs) if what == PAIRS else super().has(what)

    # -- stories ------------------------------------------------------------------------------------------------------

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

    @property
    def scored(self) -> Ratings:
        """The ratings that predictions are compared with. Errors: :class:`InputError` where no item has two."""
        if self.asked_ratings is None:
            raise InputError(f"{self.name} has no {RATED_TWICE}", hint="ask with needs=RATED_TWICE")
        return self.asked_ratings

    @cached_property
    def asked_ratings(self) -> Ratings | None:
        """The ratings of the items that live subjects were asked and that have two or more; ``None`` if none has."""
        several = tuple(item for item in self.asked_ids if item not in self.rated_once)
        return next((ratings for _, ratings in self.ratings_of_parts({"": several})), None)

    @cached_property
    def rated_once(self) -> frozenset[str]:
        """The ids of the items with one rating: it has no SD, with which predictions are compared."""
        if not self.has("ratings"):
            return frozenset()
        return frozenset(item for item, n in zip(self.people.item_ids, self.people.counts(), strict=True) if n == 1)

    @property
    def asked_words(self) -> GroupResampling:
        """How intervals of statistics of the asked items that people rated are made: their words are resampled."""
        return self.resampling_of(self.words, () if self.asked_ratings is None else self.asked_ratings.item_ids)

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

    @property
    def titles(self) -> dict[str, str]:
        """What each subject that predicts is called, by its id."""
        return {predictor.subject: predictor.title for predictor in self.predictors}

    @property
    def names(self) -> Mapping[str, str]:
        """What subjects are called in the report, by their ids."""
        return {**super().names, **self.titles}

    @cached_property
    def variants(self) -> Variants:
        """The subjects that predict, with what is known of them: by the table of the settings, else by specs of chat.

        Errors: those of :func:`~lexiscope.studies.kit.data.described_subjects`.
        """
        if self.settings.models:
            return Variants(self.predictors, described_subjects(Path(self.settings.models), self.predictors))
        chat = {subject: facts for subject, facts in self.facts.items() if facts.kind == "chat"}
        return Variants(self.predictors, {subject: DescribedSubject.of(facts) for subject, facts in chat.items()})

    @cached_property
    def trained_pairs(self) -> tuple[Pair, ...]:
        """Subjects of which the second was trained and the first is its base: those named, then those of the table.

        Errors: :class:`SpecError` where a pair names a subject that gave no ratings.
        """
        named = self.variants.named
        compared = ((named(base), named(tuned)) for tuned, base in self.settings.compare)
        return tuple(dict.fromkeys((*compared, *self.variants.trained_pairs)))

    @property
    def silent_subjects(self) -> tuple[str, ...]:
        """The subjects that gave no ratings; recorded predictions have the ids of those who gave them."""
        spoken = set(self.answers.where(measure=(*MEASURES, MEASURE_DISTANCE)).unique("subject_id"))
        return tuple(name for name in self.facts if name not in spoken and not name.startswith("recorded:"))


def load_run(settings: AmbistorySettings, out: Path, progress: CollectProgress | None = None) -> AmbistoryData:
    """Load the stories and their ratings, and let the live subjects judge those of a split.

    The answers of live subjects are kept under ``out/collected``, so that a broken run continues and none is asked
    for twice.
    Errors: :class:`SpecError` for a dataset that holds no stories; :class:`InputError` if there are neither recorded
    ratings nor predictions.
    """
    source = rated_source(settings, task=TASK)
    if settings.items:
        with lines_named([settings.items], None, task=TASK, language=settings.language):
            source = replace(source, items=placed_stories(source.items))
    if source.card.task != TASK or not set(NEEDED) <= set(source.items[0].conditions):
        hint = "use ambistory, mini_ambistory, or your stories: --items FILE"
        raise SpecError(f"{settings.dataset} holds no stories", hint=hint)
    live, unasked = askable(live_subjects(settings.subjects, settings, TASK), source.items, TASK)
    source = with_language_remarks(source, live)
    run = AmbistoryData(source, ResponseTable.empty(), settings, unasked=unasked)
    if live:
        asked = [run.by_id[item] for item in run.asked_ids]
        answers = collect(asked, live, TASK, out=out / "collected", seed=settings.seed, progress=progress)
        run = replace(run, answers=answers, facts={subject.subject_id: subject.facts for subject in live})
    if not run.has("ratings") and not run.predictors:
        what = f"{run.name} has no recorded ratings, and no subject was asked"
        raise InputError(what, hint="name a subject that rates: --subject chat:MODEL@URL, or baseline:random")
    return run
