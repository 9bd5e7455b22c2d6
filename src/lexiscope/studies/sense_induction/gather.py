"""Where the study's material comes from: sets of pairs, subjects with induced senses, planted usages, people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core.errors import CapabilityError, InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import ChoosesSense
from lexiscope.report.part import told_apart
from lexiscope.studies.sense_induction.answered import read_people
from lexiscope.studies.sense_induction.material import MADE_UP, HasSenses, LeftOut, Material, PairSet, Planted
from lexiscope.studies.sense_induction.planting import given, made_up
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.studies.sense_induction.sources import expanded, open_sets
from lexiscope.studies.sense_induction.usages import check_synset
from lexiscope.tasks.relatedness.by_sense import GivesSenses

_TASKS = {"similarity": "relatedness", "same_sense": "same_sense"}


def gather(settings: SenseInductionSettings, out: Path, *, progress: CollectProgress | None = None) -> Material:
    """Load the sets, ask every subject every pair, read people's answers, and make planted text where it is asked for.

    Answers are kept below ``out/collected``, vectors of made-up text below ``out/made_up``, so that a broken run
    continues.
    Errors: :class:`InputError` where there is nothing to ask; :class:`CapabilityError` for a subject without induced
    senses; those of the sets, the subjects, the training and the files.
    """
    subjects = with_senses(settings)
    if not subjects and not settings.planted:
        what = "this study needs vectors with induced senses"
        hint = "name some: --subject gasi:FOLDER, which lexiscope train gasi writes, or sense_embedding:FORMAT:FILE; "
        raise InputError(what, hint=hint + "or let it make text, and vectors of it: --planted made_up")
    # what can be wrong with a setting or a file is found before anything is asked
    if subjects and settings.synset:
        check_synset(settings.synset)
    people = read_people(settings.people)
    sets, left_out = open_sets(settings) if subjects else ((), ())
    planted = _planted(settings, subjects, out, progress)
    answers = [_asked(each, subjects, settings, out / "collected", progress) for each in sets]
    return Material(
        sets=sets,
        subjects=subjects,
        titles=short_titles((*subjects, *(planted.subjects if planted else ()))),
        responses=ResponseTable.concat(answers),
        left_out=left_out if subjects else (LeftOut("Sets of pairs", "", "No vectors were given: --subject."),),
        planted=planted,
        people=people.responses,
        people_items=people.items,
    )


def with_senses(settings: SenseInductionSettings) -> tuple[HasSenses, ...]:
    """Return the subjects of a run.

    Errors: :class:`CapabilityError` for one without induced senses, before anything is asked.
    """
    found = live_subjects(expanded(settings.subjects), settings)
    for subject in found:
        if not isinstance(subject, ChoosesSense) or not isinstance(subject, GivesSenses):
            what = f"{subject.subject_id} has no induced senses"
            raise CapabilityError(what, hint="this study takes subjects of the kinds gasi and sense_embedding")
    return tuple(cast(HasSenses, subject) for subject in found)


def _asked(
    pairs: PairSet,
    subjects: Sequence[HasSenses],
    settings: SenseInductionSettings,
    out: Path,
    progress: CollectProgress | None,
) -> ResponseTable:
    # a dataset may be named by its path
    folder = out / re.sub(r"[^A-Za-z0-9.-]+", "_", pairs.name).strip("_.")
    return collect(pairs.items, subjects, _TASKS[pairs.kind], out=folder, seed=settings.seed, progress=progress)


def _planted(
    settings: SenseInductionSettings, subjects: tuple[HasSenses, ...], out: Path, progress: CollectProgress | None
) -> Planted | None:
    if not settings.planted:
        return None
    if settings.planted == MADE_UP:
        return made_up(out / MADE_UP, seed=settings.seed, progress=progress)
    return given(Path(settings.planted), subjects)


def short_titles(subjects: Sequence[HasSenses]) -> dict[str, str]:
    """Return a short name of each subject by its id: the last part of its path, more of it where two end alike.

    Of vectors in several files the first gives the name. Vectors of one path with two options (``?window=5``,
    ``?window=10``) are called by their ids.
    """
    titles = {each.subject_id: each.subject_id for each in subjects}
    # vectors of made-up text are named by their variant, not by a path
    names = {spec: spec.partition(":")[2].partition("?")[0] for spec in titles if ":" in spec}
    names |= {spec: names[spec].partition(",")[0] for spec in names if spec.startswith("sense_embedding:")}
    parts = {spec: Path(name).parts for spec, name in names.items()}
    for spec, own in parts.items():
        others = [other for name, other in parts.items() if name != spec]
        length = next((n for n in range(1, len(own)) if all(own[-n:] != other[-n:] for other in others)), len(own))
        titles[spec] = "/".join(own[-length:])
    return dict(zip(titles, told_apart(list(titles.values()), list(titles)), strict=True))
