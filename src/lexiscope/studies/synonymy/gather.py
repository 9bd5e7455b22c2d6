"""Where the study's material comes from: a collection, recorded outcomes, and live subjects that score and generate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core import catalog
from lexiscope.core.dataset import DatasetCard, SubjectFacts
from lexiscope.core.errors import CapabilityError, DataError, InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.sealed import PARTS, read_sealed
from lexiscope.core.subject import Generates, Judges, Scores, Subject
from lexiscope.items.gap_filling import gap_prompt
from lexiscope.report.part import told_apart
from lexiscope.resources.cards import SEMCOR, WORDNET
from lexiscope.studies.synonymy.material import Answers, Grid, Material, answers_of
from lexiscope.studies.synonymy.settings import SynonymySettings
from lexiscope.studies.synonymy.source import TASK, Source, open_source

GAP_TASK = "gap_filling"
BASELINE = "baseline:frequency"


def gather(settings: SynonymySettings, out: Path, *, progress: CollectProgress | None = None) -> Material:
    """Load the collection and the recorded outcomes, let the live subjects answer, and arrange everything.

    The answers of live subjects are kept under ``out/collected`` and ``out/gaps``, so that a broken run continues.
    """
    source = open_source(settings)
    specs = tuple(dict.fromkeys((*settings.subjects, *(spec for spec, _ in settings.checkpoints))))
    live = live_subjects(specs, settings)
    # a spec may name options that are no part of the id (device, threads): what a spec became is known here alone
    ids = {spec: subject.subject_id for spec, subject in zip(specs, live, strict=True)}
    _check_able(live)
    chosen, grid = _chosen(source, settings), Grid(source.items)
    answered = _collected(source.items, live, settings, out / "collected", progress)
    baseline, why = _frequencies(source.items, live, settings, english=source.english)
    responses = ResponseTable.concat([chosen, answered, baseline])
    facts = {fact.subject_id: fact for fact in source.facts} | {each.subject_id: each.facts for each in live}
    gaps = _gaps(source.gap_items, live, settings, out / "gaps", progress)
    no_gaps = "" if len(gaps) or not source.gap_items else _why_no_gaps(live, settings)
    left_out = (*source.left_out, ("The word-frequency baseline", why), ("Gap filling", no_gaps))
    return Material(
        name=source.card.name,
        mode=settings.mode,
        card=source.card,
        items=source.items,
        responses=responses,
        numbers=grid.numbers,
        sentences=grid.sentences,
        answers=tuple(_answers(responses, grid, facts, settings)),
        facts=facts,
        gap_items=source.gap_items,
        gaps=gaps,
        deltas=source.deltas,
        checksums=source.checksums,
        routes=_routes(out / "collected"),
        licences=_licences(source.card),
        remarks=tuple(text for text in (dict(source.left_out).get("Suites other than substitution", ""), why) if text),
        states=tuple((ids[spec], seen) for spec, seen in settings.checkpoints),
        own=source.own,
        gap=gap_prompt("T", source.gap, mode=settings.mode) if source.gap else "",
        left_out=tuple((analysis, reason) for analysis, reason in left_out if reason),
    )


def _licences(card: DatasetCard) -> tuple[tuple[str, str], ...]:
    """The licences of the collection and of the resources that it was made of."""
    own = ((card.title, card.licence),)
    return own + tuple((each.title, each.licence) for each in (WORDNET, SEMCOR)) if card.name == "synonymy" else own


# -- who answers ----------------------------------------------------------------------------------------------


def _check_able(subjects: Sequence[Subject]) -> None:
    for subject in subjects:
        if not isinstance(subject, Scores | Judges | Generates):
            raise CapabilityError(
                f"{subject.subject_id} can neither score texts nor judge choice sets nor generate",
                hint="use for instance causal_lm:FOLDER",
            )


def _collected(
    items: Sequence[Item],
    subjects: Sequence[Subject],
    settings: SynonymySettings,
    out: Path,
    progress: CollectProgress | None,
) -> ResponseTable:
    able = [subject for subject in subjects if isinstance(subject, Scores | Judges)]
    if not able:
        return ResponseTable.empty()
    return collect(items, able, TASK, out=out, seed=settings.seed, progress=progress)


def _gaps(
    items: Sequence[Item],
    subjects: Sequence[Subject],
    settings: SynonymySettings,
    out: Path,
    progress: CollectProgress | None,
) -> ResponseTable:
    able = [subject for subject in subjects if isinstance(subject, Generates)]
    if not able or not items or settings.gap_filling == "no":
        return ResponseTable.empty()
    return collect(items, able, GAP_TASK, out=out, seed=settings.seed, progress=progress)


def _why_no_gaps(subjects: Sequence[Subject], settings: SynonymySettings) -> str:
    if settings.gap_filling == "no":
        return "It was not asked for (gap_filling: no)."
    return "" if any(isinstance(subject, Generates) for subject in subjects) else "No live subject generates texts."


def _frequencies(
    items: Sequence[Item], live: Sequence[Subject], settings: SynonymySettings, *, english: bool
) -> tuple[ResponseTable, str]:
    """The word-frequency baseline, or why there is none."""
    if not english and not settings.frequency:
        # every word would have the count 0 and every choice be a tie
        return ResponseTable.empty(), "The word-frequency baseline needs counts of this language: --frequency FILE."
    spec = BASELINE + (f"?table={settings.frequency}" if settings.frequency else "")
    if any(subject.subject_id == spec for subject in live):
        return ResponseTable.empty(), ""
    subject = catalog.subject(spec)
    assert isinstance(subject, Judges)
    try:
        return subject.judge(items, TASK), ""
    except DataError as error:
        return ResponseTable.empty(), (
            "The word-frequency baseline was not computed: WordNet's tag counts are not at hand "
            f"({error.what}). `lexiscope data get wordnet` gets them; --frequency FILE names other counts."
        )


def _chosen(source: Source, settings: SynonymySettings) -> ResponseTable:
    """The recorded outcomes of the models that the settings name (all where they name none)."""
    if not settings.recorded:
        return source.recorded
    known = source.recorded.unique("subject_id")
    unknown = sorted(set(settings.recorded) - set(known))
    if unknown:
        raise SpecError(f"{source.card.name} has no recorded subject {unknown[0]!r}", hint=f"there are {known}")
    return source.recorded.where(subject_id=settings.recorded)


def _answers(
    responses: ResponseTable, grid: Grid, facts: Mapping[str, SubjectFacts], settings: SynonymySettings
) -> list[Answers]:
    found = []
    for subject in responses.unique("subject_id"):
        own = responses.where(subject_id=subject)
        if set(own.unique("measure")) == {"correct"}:
            kind = "recorded"
        else:
            kind = "baseline" if subject.startswith(BASELINE) else "live"
        fact = facts.get(subject, SubjectFacts(subject))
        title = "word frequency" if kind == "baseline" else fact.title or subject
        found.append(answers_of(own, subject, grid=grid, title=title, kind=kind, per=settings.per))  # type: ignore[arg-type]
    titles = told_apart([each.title for each in found], [each.subject for each in found])
    return [replace(each, title=title) for each, title in zip(found, titles, strict=True)]


def _routes(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """How the live subjects computed their scores, as the seals of their parts say."""
    seals = [read_sealed(path) for path in sorted((folder / PARTS).glob("*.json"))] if folder.is_dir() else []
    return tuple({"subject": seal["key"]["subject"], **seal["about"]["settings"]} for seal in seals)


def check_complete(material: Material) -> None:
    """Check that somebody answered.

    Errors: :class:`InputError` where there are neither recorded nor live answers.
    """
    if not material.of_kind("recorded", "live") and not len(material.gaps):
        raise InputError(
            f"{material.name} has no recorded outcomes, and no subject was asked",
            hint="name a model: --subject causal_lm:FOLDER",
        )
