"""Where the study's material comes from: datasets, people's answers, and models trained and asked view by view."""

from __future__ import annotations

import shutil
from pathlib import Path

from lexiscope.collect import CollectProgress
from lexiscope.core.errors import InputError, MissingExtraError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.run import sha256_of
from lexiscope.studies.context_bias.material import Answers, Material, NotUsed
from lexiscope.studies.context_bias.models import check_masks, learners, model_answers
from lexiscope.studies.context_bias.people import guessed_at, read_people
from lexiscope.studies.context_bias.protocol import WORDS, check_protocol
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.context_bias.sources import open_sets

DEFAULT_ENCODERS = (WORDS, "minilm")
"""Without a choice: words and characters, and a linear probe on vectors where its packages are installed."""


def gather(settings: ContextBiasSettings, out: Path, *, progress: CollectProgress | None = None) -> Material:
    """Load datasets and people's answers, train every encoder on every view of every dataset, and ask it.

    Trainings and answers are kept below *out*, so that a broken run continues; encodings are kept while it lasts.
    Of several datasets, one that an encoder cannot read is left out with the reason. Of the default models, one whose
    packages are not installed is left out with the reason, unless it is the only one that can answer.
    Errors: those of the datasets, of the files of people, of the trainings; :class:`SubjectError` where an encoder
    cannot answer the only dataset, or none of several.
    """
    check_protocol(settings)
    sets, not_used = open_sets(settings)
    people = read_people(settings.people, sets)
    encoders = settings.encoders or DEFAULT_ENCODERS
    missing: dict[str, MissingExtraError] = {}
    for encoder in encoders:
        try:
            check_masks((encoder,), sets)
        except MissingExtraError as error:
            if settings.encoders:
                raise
            missing[encoder] = error
    share = len(sets) * len(encoders)
    answers: list[Answers] = []
    unread: list[NotUsed] = []
    guesses: dict[str, tuple[tuple[Item, ...], str]] = {}
    for audit in sets:
        if audit.name in people:
            guesses[audit.name] = guessed_at(audit, people[audit.name], settings.people)
        guessed = guesses.get(audit.name, ((), ""))[0]
        for encoder in learners(encoders, audit.task):
            if encoder in missing:
                continue
            try:
                found = model_answers(audit, encoder, settings, out, share=share, guessed=guessed, progress=progress)
            except MissingExtraError as error:
                if settings.encoders:
                    raise
                missing[encoder] = error
            except SubjectError as error:
                # one set of many that an encoder cannot read (another script, say) stops none of the others
                if len(sets) == 1:
                    raise
                why = f"{encoder} cannot answer it: {error.what} ({error.why})." if error.why else error.what
                unread.append(NotUsed(audit.name, audit.title, why))
            else:
                answers.append(found)
    shutil.rmtree(out / "vectors", ignore_errors=True)
    if not answers and missing:
        raise next(iter(missing.values()))
    if not answers and not unread:
        what = f"{', '.join(encoders)} cannot answer {', '.join(audit.task for audit in sets)}"
        raise InputError(what, hint="name another encoder, such as minilm")
    if not answers:
        hint = "name another encoder or other datasets"
        raise SubjectError("no encoder could answer any dataset", why=unread[0].reason, hint=hint)
    used = tuple(audit for audit in sets if any(each.dataset == audit.name for each in answers))
    not_run = tuple(
        f"Not run: {name}, a linear probe on vectors. {error.what} {error.hint or ''}".strip()
        for name, error in missing.items()
    )
    named = tuple(answers)
    return Material(used, (*unread, *not_used), named, people, guesses, own=bool(settings.items), not_run=not_run)


def given_files(settings: ContextBiasSettings) -> dict[str, str]:
    """Return the checksums of the files beside the items: with another one it is another run."""
    return {path: sha256_of(Path(path)) for path in settings.people}
