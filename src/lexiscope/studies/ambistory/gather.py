"""Where the study's material comes from: stories with recorded ratings, and the subjects that judge them too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexiscope.analysis.ratings import Ratings
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
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
from lexiscope.studies.ambistory.material import ALL, Material, Predictor
from lexiscope.studies.ambistory.settings import AmbistorySettings
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


def gather(settings: AmbistorySettings, out: Path, *, progress: CollectProgress | None = None) -> Material:
    """Load the stories and their ratings, let the live subjects judge those of a split, and arrange everything.

    The answers of live subjects are kept under ``out/collected``, so that a broken run continues and none is asked
    for twice.
    Errors: :class:`SpecError` for a dataset that holds no stories.
    """
    source = catalog.dataset(settings.dataset)
    lacking = [name for name in NEEDED if name not in source.items[0].conditions]
    if source.card.task != TASK or lacking:
        raise SpecError(f"{settings.dataset} holds no stories", hint="use ambistory or mini_ambistory")
    live = live_subjects(settings.subjects, settings)
    material = Material(
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
    asked = material.in_split(material.split)
    answers = _answers([material.by_id[item] for item in asked], live, settings, out / "collected", progress)
    facts = {subject.subject_id: subject.facts for subject in live}
    found = _predictors(answers, facts)
    return replace(
        material,
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


def check_complete(material: Material) -> None:
    """Check that somebody answered.

    Errors: :class:`InputError` where there are neither recorded ratings nor predictions.
    """
    if material.people is None and not material.predictors:
        what = f"{material.name} has no recorded ratings, and no subject was asked"
        raise InputError(what, hint="name a subject that rates: --subject chat:MODEL@URL, or baseline:random")


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
