"""Where the study's material comes from: a collection, recorded outcomes, and live subjects that score and generate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from lexiscope.collect import CollectProgress, collect
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard, SubjectFacts
from lexiscope.core.errors import CapabilityError, DataError, InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import read_json, sha256_of
from lexiscope.core.study import StudySettings
from lexiscope.core.subject import Generates, Judges, Scores, Subject
from lexiscope.items.collection_file import read_collection
from lexiscope.items.gap_filling import gap_items
from lexiscope.items.minimal_pairs import SynonymItem, choice_sets
from lexiscope.items.templates import CHOICES
from lexiscope.items.turned import turned
from lexiscope.resources.cards import SEMCOR, WORDNET
from lexiscope.studies.synonymy.cells import CONTROLLED
from lexiscope.studies.synonymy.material import Answers, Grid, Material, answers_of

TASK, GAP_TASK = "minimal_pair", "gap_filling"
BASELINE = "baseline:frequency"


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """A collection with its choice sets, and what was recorded on them."""

    card: DatasetCard
    collection: tuple[SynonymItem, ...]
    items: tuple[Item, ...]
    recorded: ResponseTable
    facts: tuple[SubjectFacts, ...]
    checksums: Mapping[str, str]


def gather(settings: StudySettings, out: Path, *, progress: CollectProgress | None = None) -> Material:
    """Load the collection and the recorded outcomes, let the live subjects answer, and arrange everything.

    The answers of live subjects are kept under ``out/collected`` and ``out/gaps``, so that a broken run continues.
    """
    source = _own(settings) if settings.items else _of_catalog(settings)
    items = (*source.items, *turned([item for item in source.items if item.conditions["condition"] == CONTROLLED]))
    specs = tuple(dict.fromkeys((*settings.subjects, *(spec for spec, _ in settings.checkpoints))))
    live = [catalog.subject(_configured(spec, settings)) for spec in specs]
    # a spec may name options that are no part of the id (device, threads): what a spec became is known here alone
    ids = {spec: subject.subject_id for spec, subject in zip(specs, live, strict=True)}
    _check_able(live)
    answered = _collected(items, live, settings, out / "collected", progress)
    english = _in_english(source.collection)
    baseline, why = _frequencies(source.items, live, settings, english=english)
    responses = ResponseTable.concat([_chosen(source, settings), answered, baseline])
    facts = {fact.subject_id: fact for fact in source.facts} | {each.subject_id: each.facts for each in live}
    grid = Grid(items)
    gapped = gap_items(source.collection, mode=settings.mode, dataset=source.card.name) if english else ()
    return Material(
        name=source.card.name,
        mode=settings.mode,
        card=source.card,
        items=items,
        responses=responses,
        numbers=grid.numbers,
        sentences=grid.sentences,
        answers=tuple(_answers(responses, grid, facts, settings)),
        facts=facts,
        gap_items=gapped,
        gaps=_gaps(gapped, live, settings, out / "gaps", progress),
        deltas=_released_deltas(source.collection),
        checksums=source.checksums,
        routes=_routes(out / "collected"),
        licences=_licences(source.card),
        remarks=tuple(text for text in ("" if english else _OTHER_LANGUAGE, why) if text),
        states=tuple((ids[spec], seen) for spec, seen in settings.checkpoints),
    )


# -- the collection -------------------------------------------------------------------------------------------


def _of_catalog(settings: StudySettings) -> _Source:
    module = catalog.module("datasets", settings.dataset)
    if not hasattr(module, "collection"):
        raise SpecError(
            f"{settings.dataset} is no collection of synonyms", hint="use synonymy, mini_synonymy, or --items FILE"
        )
    collection = cast(Callable[[], tuple[SynonymItem, ...]], module.collection)()
    dataset: Dataset = catalog.dataset(settings.dataset)
    items = _choice_sets(collection, settings, dataset.card.name)
    return _Source(dataset.card, collection, items, dataset.responses, dataset.subjects, dict(dataset.checksums))


def _own(settings: StudySettings) -> _Source:
    path = Path(settings.items)
    collection = read_collection(path)
    card = DatasetCard(
        name=path.stem,
        title=path.name,
        task=TASK,
        language=collection[0].language,
        licence="the user's own",
        citation="",
        source=path.name,
        version=sha256_of(path)[:12],
        availability="obtain",
        summary=f"A collection of the user's own, read from {path.name}.",
    )
    items = _choice_sets(collection, settings, card.name)
    return _Source(card, collection, items, ResponseTable.empty(), (), {path.name: sha256_of(path)})


def _choice_sets(collection: Sequence[SynonymItem], settings: StudySettings, dataset: str) -> tuple[Item, ...]:
    """All choice sets; without random nouns those of the controlled condition only."""
    has_nouns = all(item.random_nouns for item in collection)
    conditions = None if has_nouns else [choice for choice in CHOICES if choice == CONTROLLED]
    suites = None if has_nouns else ["substitution", "reference", "relation"]
    if not _in_english(collection):
        suites = ["substitution"]
    return choice_sets(collection, suites=suites, conditions=conditions, mode=settings.mode, dataset=dataset)


def _in_english(collection: Sequence[SynonymItem]) -> bool:
    """Whether the study's templates, and WordNet's counts, fit the items."""
    return all(item.language.partition("-")[0].lower() == "en" for item in collection)


_OTHER_LANGUAGE = (
    "The items are not in English: only the suite substitution was asked, for the texts of the other suites and of gap "
    "filling, are English. `lexiscope build minimal-pairs --templates` makes suites of any language for `collect`."
)


def _released_deltas(collection: Sequence[SynonymItem]) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """The token deltas that came with the collection, where it has them."""
    found = [dict(item.extra).get("token_delta", "") for item in sorted(collection, key=lambda item: item.number)]
    return np.array([float(text) for text in found]) if all(found) else None


def _licences(card: DatasetCard) -> tuple[tuple[str, str], ...]:
    """The licences of the collection and of the resources that it was made of."""
    own = ((card.title, card.licence),)
    return own + tuple((each.title, each.licence) for each in (WORDNET, SEMCOR)) if card.name == "synonymy" else own


# -- who answers ----------------------------------------------------------------------------------------------


def _configured(spec: str, settings: StudySettings) -> str:
    """Give a model the study's device and threads, unless its spec says its own."""
    kind, given = spec.partition(":")[0], spec.partition("?")[2]
    if kind not in ("causal_lm", "masked_lm"):
        return spec
    wanted = {"device": settings.device}
    wanted |= {"threads": str(settings.threads)} if kind == "causal_lm" else {}
    options = [f"{key}={value}" for key, value in wanted.items() if f"{key}=" not in given]
    return spec + ("&" if given else "?") + "&".join(options) if options else spec


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
    settings: StudySettings,
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
    settings: StudySettings,
    out: Path,
    progress: CollectProgress | None,
) -> ResponseTable:
    able = [subject for subject in subjects if isinstance(subject, Generates)]
    if not able or not items or settings.gap_filling == "no":
        return ResponseTable.empty()
    return collect(items, able, GAP_TASK, out=out, seed=settings.seed, progress=progress)


def _frequencies(
    items: Sequence[Item], live: Sequence[Subject], settings: StudySettings, *, english: bool
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


def _chosen(source: _Source, settings: StudySettings) -> ResponseTable:
    """The recorded outcomes of the models that the settings name (all where they name none)."""
    if not settings.recorded:
        return source.recorded
    known = source.recorded.unique("subject_id")
    unknown = sorted(set(settings.recorded) - set(known))
    if unknown:
        raise SpecError(f"{source.card.name} has no recorded subject {unknown[0]!r}", hint=f"there are {known}")
    return source.recorded.where(subject_id=settings.recorded)


def _answers(
    responses: ResponseTable, grid: Grid, facts: Mapping[str, SubjectFacts], settings: StudySettings
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
    return _distinct_titles(found)


def _distinct_titles(answers: Sequence[Answers]) -> list[Answers]:
    """Two subjects of one title (a model under two policies) are told apart by their ids."""
    titles = [each.title for each in answers]
    return [each if titles.count(each.title) == 1 else replace(each, title=each.subject) for each in answers]


def _routes(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """How the live subjects computed their scores, as the seals of their parts say."""
    seals = [read_json(path) for path in sorted((folder / "parts").glob("*.json"))] if folder.is_dir() else []
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
