"""Where the study's material comes from: a dataset of the catalog or the user's items, recorded and live subjects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.analysis.exclusion import ExclusionResult, apply, parse_rule
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, SubjectFacts, own_card
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.prompt import Converses
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.subject import Subject
from lexiscope.items.importer import import_items
from lexiscope.items.real_items import catch_remark, real_items
from lexiscope.studies.saw_c.material import Material, material
from lexiscope.studies.saw_c.raters import VIEW
from lexiscope.studies.saw_c.settings import SawCSettings

TASK = "relatedness"


def gather(settings: SawCSettings, out: Path, *, progress: CollectProgress | None = None) -> Material:
    """Load items and recorded answers, let the live subjects answer, apply the exclusions, arrange everything.

    The answers of live subjects are kept under ``out/collected``, so that a broken run continues.
    """
    source = _dataset(settings)
    recorded = _chosen(source, settings)
    live = live_subjects(settings.subjects, settings)
    answers = _live(source.items, live, settings, out, progress)
    responses = ResponseTable.concat([recorded, answers])
    facts = {fact.subject_id: fact for fact in source.subjects}
    facts |= {subject.subject_id: subject.facts for subject in live}
    kept, exclusion = _without_excluded(responses, settings)
    return material(
        source.card.name,
        source.items,
        kept,
        facts,
        views=settings.views,
        card=source.card,
        exclusion=exclusion,
        checksums=source.checksums,
        live=frozenset(subject.subject_id for subject in live),
    )


def _dataset(settings: SawCSettings) -> Dataset:
    if not settings.items:
        return catalog.dataset(settings.dataset)
    path = Path(settings.items)
    scale = Scale.between(*settings.scale)
    imported = import_items(path, dataset=path.stem, task=TASK, scale=scale, language=settings.language)
    language = imported.items[0].usages[0].language
    card = own_card(path, task=TASK, language=language, scale=scale)
    items = real_items(imported.items)
    card = replace(card, remarks=(*card.remarks, *catch_remark(len(imported.items) - len(items))))
    if not items:
        raise InputError("every row of the file is a catch trial", place=Place(str(path)), hint="add items to compare")
    responses = imported.responses.where(item_id=tuple(item.item_id for item in items))
    return Dataset(card, items, responses, ((path.name, sha256_of(path)),))


def _chosen(source: Dataset, settings: SawCSettings) -> ResponseTable:
    """Keep people and, of the recorded models, those that the settings name (all where they name none)."""
    table = source.responses
    if not settings.recorded:
        return table
    models = {fact.subject_id for fact in source.subjects}
    unknown = sorted(set(settings.recorded) - models)
    if unknown:
        raise SpecError(
            f"{source.card.name} has no recorded subject {unknown[0]!r}", hint=f"there are {sorted(models)}"
        )
    people = [subject for subject in table.unique("subject_id") if subject not in models]
    return table.where(subject_id=(*people, *settings.recorded))


def _live(
    items: Sequence[Item],
    subjects: Sequence[Subject],
    settings: SawCSettings,
    out: Path,
    progress: CollectProgress | None,
) -> ResponseTable:
    if not subjects:
        return ResponseTable.empty()
    # a chat model is asked what people were asked, and pays for each question: in one view
    asked = [subject for subject in subjects if isinstance(subject, Converses)]
    others = [subject for subject in subjects if not isinstance(subject, Converses)]
    tables = [
        collect(items, chosen, TASK, views=views, out=out / folder, seed=settings.seed, progress=progress)
        for chosen, views, folder in ((others, settings.views, "collected"), (asked, (VIEW,), "asked"))
        if chosen
    ]
    return ResponseTable.concat(tables)


def _without_excluded(responses: ResponseTable, settings: SawCSettings) -> tuple[ResponseTable, ExclusionResult | None]:
    if not settings.exclusions:
        return responses, None
    result = apply([parse_rule(text) for text in settings.exclusions], responses)
    return result.kept, result


def live_facts(material: Material) -> tuple[SubjectFacts, ...]:
    """Return what is known of every subject with distances, in the order of the distances, each once."""
    facts = {distances.subject: distances.facts for distances in material.distances}
    return tuple(replace(fact, subject_id=subject) for subject, fact in facts.items())
