"""The run of the study: items, people's ratings and norms, and the distances of every subject."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.exclusion import ExclusionResult, apply, parse_rule
from lexiscope.analysis.layers.layer_fits import Distances, distances_of, held_out_distances
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard, SubjectFacts
from lexiscope.core.errors import InputError
from lexiscope.core.prompt import Converses
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.scale import Scale
from lexiscope.studies.kit.data import askable, rated_source, with_models
from lexiscope.studies.kit.languages import with_language_remarks
from lexiscope.studies.kit.participants import read_participants
from lexiscope.studies.kit.run import Floats, Run
from lexiscope.studies.saw_c.settings import SawCSettings

Flags = NDArray[np.bool_]
Trials = dict[str, NDArray[Any]]
V = TypeVar("V")

TASK = "relatedness"
ASKED = "full"
"""What the participants saw: the sentences as they are. A chat model is asked in this view alone."""
SAME, DIFFERENT = "Same Sense", "Different Sense"
NOT_IN_PAPER = "not in the paper"
HELD_OUT = -1
"""In the place of a layer: the one that was chosen on other words."""
BETO = "bert-base-spanish-wwm-cased"
# SAW-C's participants read no final stop, its models did; RAW-C's sentences have one in the published text
VIEWS = {"saw_c": ("full+final_stop", "full"), "raw_c": ("full",)}


@dataclass(frozen=True, eq=False)
class SawCData(Run[SawCSettings]):
    """The items with every answer; ``facts`` are what is known of the subjects, ``live`` those that answered in it.

    ``beside`` is the run of the second dataset, where the settings name one. ``participants`` are what is known of
    people, by their id: ``country``, ``gender``, ``age``. ``unasked`` are
    the live subjects that could not be asked, with the reasons.
    """

    facts: Mapping[str, SubjectFacts] = field(default_factory=dict)
    live: frozenset[str] = frozenset()
    exclusion: ExclusionResult | None = None
    unasked: Mapping[str, str] = field(default_factory=dict)
    beside: SawCData | None = None
    participants: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def checksums(self) -> Mapping[str, str]:
        """The sha256 of the data files, by name; those of the second dataset too."""
        return {**super().checksums, **(self.beside.checksums if self.beside else {})}

    @property
    def cards(self) -> Sequence[tuple[DatasetCard, str]]:
        """The cards of the datasets with the id of their sections."""
        return (*super().cards, *(((self.beside.card, "data_beside"),) if self.beside else ()))

    @cached_property
    def norm(self) -> Floats:
        """The mean rating of each item, NaN for an item without one. *Shape:* (items,)."""
        return super().norm if super().has("norms") else np.full(len(self.items), np.nan)

    @cached_property
    def same(self) -> Flags | None:
        """Whether the usages of each pair have one sense; ``None`` if it is not known of every pair."""
        if not all("same_sense" in item.conditions for item in self.items):
            return None
        return np.array([bool(item.conditions["same_sense"]) for item in self.items])

    @property
    def senses(self) -> NDArray[Any]:
        """The sense relation of each pair as text, for pairs of which it is known. *Shape:* (items,)."""
        return np.where(np.asarray(self.same, dtype=bool), SAME, DIFFERENT)

    @property
    def conditions(self) -> NDArray[Any]:
        """The sense relation of each pair as the condition of a record: ``same_sense=True``. *Shape:* (items,)."""
        return np.where(self.senses == SAME, "same_sense=True", "same_sense=False")

    @cached_property
    def distances(self) -> tuple[Distances, ...]:
        """The distances of every subject, view by view, the main view first.

        Errors: :class:`InputError` for a subject that did not answer every item at every layer.
        """
        return distances_of(self.responses, list(self.words), self.settings.views, self.facts)

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """The models that rate, recorded and live."""
        rated_by = self.responses.where(measure="rating").unique("subject_id")
        return tuple(subject for subject in rated_by if subject in self.facts)

    def numbered(self, kind: str, name: str, number: str, english: str = "") -> tuple[str, str]:
        """Return the name of a figure's or table's file, and the number that the paper gives it.

        *number* is that on SAW-C, *english* that on RAW-C (SAW-C A.3); empty where the paper has no such figure.

        On SAW-C, ``("figure", "size", "6", "10")`` is named ``figure_6_size``, on RAW-C ``figure_10_size``.
        """
        here = english if self.name == "raw_c" and not self.own else number
        return (f"{kind}_{here.rstrip('a')}_{name}" if here else name), here

    @property
    def views(self) -> tuple[str, ...]:
        """The views that there are distances in, the main one first."""
        return tuple(dict.fromkeys(distances.view for distances in self.distances))

    @property
    def titles(self) -> dict[str, str]:
        """The names of the subjects with distances in the main view, by their ids."""
        main = (distances for distances in self.distances if distances.view == self.settings.views[0])
        return {distances.subject: distances.title for distances in main}

    @property
    def names(self) -> dict[str, str]:
        """The names of the subjects in the report, by their ids."""
        known = {subject: facts.short_title for subject, facts in self.facts.items() if facts.title}
        return {**super().names, **known}

    @property
    def other_kind(self) -> tuple[str, frozenset[str]]:
        """The multilingual models."""
        return "multilingual", frozenset(subject for subject, facts in self.facts.items() if facts.multilingual)

    def shown_records(self, records: Sequence[Record]) -> Sequence[Record]:
        """Return the records of the main view, and those of no view."""
        return [record for record in records if record.view in ("", self.settings.views[0])]

    def has(self, what: str) -> bool:
        """Whether there are ``ratings`` of people, ``norms``, ``senses`` of the pairs, ``distances``, ``models``.

        Models are subjects with distances, or live ones that rate.
        """
        if what == "ratings":
            # a file may have a column of ratings in which none is filled in
            return super().has(what) and len(self.people) > 0
        if what == "senses":
            return self.same is not None
        if what in ("distances", "models"):
            return bool(self.distances) or (what == "models" and bool(self.raters))
        return bool(self.has_norm.any()) if what == "norms" else super().has(what)

    def resample(self, statistic: Callable[..., V], *given: object, rows: Flags | None = None, **options: object) -> V:
        """Return ``statistic(*given)`` of the rated items, or of *rows* of all items, with words as resampled groups.

        If all items have one word, nothing is resampled.
        """
        chosen = self._bootstrap_of(self.has_norm if rows is None else rows)
        return statistic(*given, **chosen.options, **options)

    def hold_out(self, statistic: Callable[..., V], *given: object, rows: Flags | None = None, **options: object) -> V:
        """Return ``statistic(*given)`` of the rated items, or of *rows*, which holds words out; they are resampled too.

        Other than in :meth:`resample`, the words are known to the statistic even if nothing is resampled.
        """
        groups = self._bootstrap_of(self.has_norm if rows is None else rows).groups
        return statistic(*given, groups=groups, **self.resampling, **options)

    def on_norms(self, distances: Distances) -> tuple[Floats, Floats]:
        """Return the distances and the norms of the rated items. *Shape:* (rated items, layers), (rated items,)."""
        return distances.matrix[self.has_norm], self.norm[self.has_norm]

    def distance_of(self, subject: str, layer: int | None) -> Floats:
        """Return one subject's distances at one layer in the main view. *Shape:* (items,).

        At the layer :data:`HELD_OUT`, each rated item has its standardised distance at the layer chosen on other words.
        """
        of_subject = next(distances for distances in self.distances if distances.subject == subject)
        return self.held_out_distances[subject][0] if layer == HELD_OUT else of_subject.at(layer)

    @cached_property
    def held_out_distances(self) -> Mapping[str, tuple[Floats, str]]:
        """Each rated item's distance at the layer chosen on other words (NaN of others), and which layers these are.

        The keys are the ids of the subjects with several layers in the main view for which they are defined.
        *Shape of each:* (items,).
        """
        groups, view = self._bootstrap_of(self.has_norm).groups, self.settings.views[0]
        return held_out_distances(
            self.distances, self.norm, self.has_norm, view, groups=groups, seed=self.settings.seed
        )

    def trials(self, distances: Mapping[str, tuple[str, int | None]]) -> Trials:
        """Return the columns of the trial table, one row per rating, as mixed models and the R script name them.

        ``Response``, ``Participant``, ``Item``, ``Word``, ``Same_sense`` (text, Different Sense is the reference),
        ``List`` if the items have lists, every text condition of the items under its own name, and one column of
        distances per entry of *distances* (column name → subject id and layer).
        """
        items = self.items
        of_item: Trials = {"Word": np.array(list(self.words.values()), dtype=object)}
        if self.same is not None:
            of_item["Same_sense"] = self.senses.astype(object)
        if all(item.list_id is not None for item in items):
            of_item["List"] = np.array([item.list_id for item in items], dtype=object)
        for name in items[0].conditions:
            if all(isinstance(item.conditions.get(name), str) for item in items):
                of_item[name] = np.array([item.conditions[name] for item in items], dtype=object)
        of_item |= {name: self.distance_of(*where) for name, where in distances.items()}
        return self.trials_of(of_item)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of what, for ``run.json``."""
        people = (len(self.people.value), self.people.n_raters) if self.has("ratings") else (0, 0)
        subjects = len({distances.subject for distances in self.distances})
        more = {"ratings": people[0], "participants": people[1], "subjects_with_distances": subjects}
        return {**super().counts, **more}

    @property
    def record(self) -> Mapping[str, object]:
        """The exclusions, for ``run.json``."""
        return {"exclusions": [asdict(entry) for entry in self.exclusion.log] if self.exclusion else []}


# -- where they come from -------------------------------------------------------------------------------------------


def complete_settings(settings: SawCSettings) -> SawCSettings:
    """Return the settings with what they leave to the dataset filled in: the dataset and its views."""
    dataset = settings.dataset or ("" if settings.items else settings.study)
    return replace(settings, dataset=dataset, views=settings.views or VIEWS.get(dataset, ("full",)))


def load_run(settings: SawCSettings, out: Path, progress: CollectProgress | None = None) -> SawCData:
    """Load items and recorded answers, let the live subjects answer, apply the exclusions.

    The answers of live subjects are kept under ``out/collected``, so that a broken run continues.
    """
    source = rated_source(settings, task=TASK, scale=Scale.between(*settings.scale))
    live, unasked = askable(live_subjects(settings.subjects, settings, TASK), source.items, TASK)
    source = with_language_remarks(source, live)
    # a chat model is asked what people were asked, and pays for each question: in one view
    asked = [subject for subject in live if isinstance(subject, Converses)]
    others = [subject for subject in live if subject not in asked]
    answers = [
        collect(source.items, chosen, TASK, views=views, out=out / folder, seed=settings.seed, progress=progress)
        for chosen, views, folder in ((others, settings.views, "collected"), (asked, (ASKED,), "asked"))
        if chosen
    ]
    facts = {fact.subject_id: fact for fact in source.subjects}
    models = sorted(facts)
    facts |= {subject.subject_id: subject.facts for subject in live}
    recorded, exclusion = with_models(source.responses, settings.recorded, models, source.card.name), None
    if settings.exclusions:
        exclusion = apply([parse_rule(text) for text in settings.exclusions], recorded)
        recorded = exclusion.kept
    data = replace(source, responses=recorded)
    ids = frozenset(subject.subject_id for subject in live)
    beside = _load_beside(settings, data, out, progress) if settings.beside else None
    known = read_participants(Path(settings.participants)) if settings.participants else {}
    return SawCData(
        *(data, ResponseTable.concat(answers), settings),
        facts=facts, live=ids, exclusion=exclusion, beside=beside, participants=known,
        unasked=unasked,
    )  # fmt: skip


def _load_beside(settings: SawCSettings, data: Dataset, out: Path, progress: CollectProgress | None) -> SawCData:
    """Load the second dataset, which the same live subjects answer.

    Errors: :class:`InputError` for a dataset in the same language, or rated on a scale with other steps.
    """
    first, other = data.card, catalog.card(settings.beside)
    if first.language == other.language:
        what = f"{first.name} and {other.name} are both in {first.language}: there are no languages to compare"
        raise InputError(what, hint="name a dataset in another language: --beside DATASET")  # words: ok, an option
    if len({None if card.scale is None else card.scale.high - card.scale.low for card in (first, other)}) > 1:
        what = f"{first.name} is rated {first.scale}, {other.name} {other.scale}: their ratings are not comparable"
        raise InputError(what, hint="name a dataset whose scale has as many points")
    alone = replace(settings, dataset=settings.beside, beside="", items="", ratings=(), participants="")
    second = replace(alone, views=(), recorded=())
    return load_run(complete_settings(second), out / "beside", progress)  # words: ok, a folder
