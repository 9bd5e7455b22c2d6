"""What the questions of the study see: datasets divided into train, dev and test, and the answers to what is tested."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lexiscope.collect import CollectProgress
from lexiscope.core.dataset import DatasetCard, own_card
from lexiscope.core.errors import InputError, MissingExtraError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.run import sha256_of
from lexiscope.core.study import PublishedValue
from lexiscope.report.document import Section
from lexiscope.report.part import Part
from lexiscope.report.simulated import marked_part, marked_section, marked_where_people
from lexiscope.studies.context_bias.material import PRINTED, Answers, AuditSet, NotUsed
from lexiscope.studies.context_bias.models import check_masks, learners, model_answers
from lexiscope.studies.context_bias.people import guessed_at, read_people
from lexiscope.studies.context_bias.protocol import WORDS, check_protocol
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.context_bias.sources import open_sets
from lexiscope.studies.kit.run_data import RunData

DEFAULT_ENCODERS = (WORDS, "minilm")
"""By default: words and characters, and a linear probe on vectors if its packages are installed."""


@dataclass(frozen=True, eq=False)
class BiasData(RunData[ContextBiasSettings]):
    """A run: its datasets, what models and people answered, and items with guessed words.

    ``not_used`` are datasets that the run does not have, ``not_run`` default models that could not run here, with the
    reasons. ``guesses``, by dataset, are items with a guessed word and how they were made, as text.
    """

    settings: ContextBiasSettings
    sets: tuple[AuditSet, ...]
    not_used: tuple[NotUsed, ...]
    answers: tuple[Answers, ...]
    people: Mapping[str, ResponseTable] = field(default_factory=dict)
    guesses: Mapping[str, tuple[tuple[Item, ...], str]] = field(default_factory=dict)
    not_run: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the first dataset."""
        return self.sets[0].name

    @property
    def card(self) -> DatasetCard | None:
        """What the dataset is, if there is only one."""
        return self.sets[0].card if len(self.sets) == 1 else None

    @property
    def cards(self) -> Sequence[tuple[DatasetCard, str]]:
        """The card of each dataset; items that are neither published nor read from a file have none."""
        found = [(audit.card or self._own_card(audit), f"data_{n}") for n, audit in enumerate(self.sets, start=1)]
        return [(card, section_id) for card, section_id in found if card is not None]

    def _own_card(self, audit: AuditSet) -> DatasetCard | None:
        if not self.own:
            return None
        counts = (("items", len(audit.test)),) if audit.folds else tuple(audit.sizes.items())
        return own_card(Path(self.settings.items), task=audit.task, language=self.settings.language, counts=counts)

    @cached_property
    def responses(self) -> ResponseTable:
        """All answers of the run, each to an item id that is unique among the datasets.

        Two variants of one dataset (``planted_bias`` with other dials) number their items alike: if datasets of one
        task share ids, the name of the dataset precedes each of their ids, ``DATASET:ITEM_ID``.
        """
        owners: dict[tuple[str, str], list[str]] = {}
        for audit in self.sets:
            for item in audit.labelled:
                owners.setdefault((audit.task, item.item_id), []).append(audit.name)
        alike = {name for names in owners.values() if len(names) > 1 for name in names}
        answered = [*((each.dataset, each.responses) for each in self.answers), *self.people.items()]
        return ResponseTable.concat([_under(name, table) if name in alike else table for name, table in answered])

    @property
    def checksums(self) -> Mapping[str, str]:
        """The checksums of all files that were read, by name."""
        return {path: digest for audit in self.sets for path, digest in audit.checksums}

    @property
    def sources(self) -> Mapping[str, str]:
        """The checksums of these files, and of those with people's answers."""
        return {**self.checksums, **given_files(self.settings)}

    @property
    def counts(self) -> Mapping[str, int]:
        """Datasets, items, responses and models."""
        items = sum(len(audit.labelled) for audit in self.sets)
        return {
            "datasets": len(self.sets), "items": items, "responses": len(self.responses), "models": len(self.answers)
        }  # fmt: skip

    @property
    def record(self) -> Mapping[str, Any]:
        """How each model was trained, and what was not trained."""
        return {
            "plans": [
                {"dataset": one.dataset, "model": one.subject, "plan": one.plan, "left_out": list(one.left_out)}
                for one in self.answers
            ]
        }

    @cached_property
    def simulated(self) -> bool:
        """Whether the answers of people are those of simulated participants."""
        return any(holds_simulated(table) for table in self.people.values())

    def printed(self, values: Mapping[str, Sequence[PublishedValue]]) -> Sequence[PublishedValue]:
        """Return what the paper prints of these datasets: scores of people are no result of a run, they enter it."""
        every = [value for audit in self.sets for value in values.get(audit.name, ()) if value.subject != PRINTED]
        # what the paper prints of people is not compared with simulated participants
        kept = [value for value in every if not (self.simulated and value.statistic.startswith("people_"))]
        return () if self.own else kept

    def marked(self, name: str, part: Part) -> Part:
        """Mark what comes from simulated participants; a guess is a person's, whichever model is asked it."""
        if not self.simulated:
            return part
        return marked_part(part) if name == "Q7" else marked_where_people(part)

    def marked_section(self, section: Section) -> Section:
        """Mark a section that names people, if they are simulated participants."""
        return marked_section(section) if self.simulated else section

    def of(self, audit: AuditSet) -> tuple[Answers, ...]:
        """Return the answers of all models to one dataset."""
        return tuple(one for one in self.answers if one.dataset == audit.name)

    def answered(self) -> Iterable[tuple[AuditSet, Answers]]:
        """Yield each dataset with the answers of each model."""
        return [(audit, answers) for audit in self.sets for answers in self.of(audit)]


def gather(settings: ContextBiasSettings, out: Path, progress: CollectProgress | None = None) -> BiasData:
    """Load datasets and people's answers, train every encoder on every view of every dataset, and ask it.

    Trainings and answers are kept below *out*, so that an interrupted run continues; encodings are kept while it lasts.
    Of several datasets, one that an encoder cannot read is excluded with the reason. Of the default models, one whose
    packages are not installed is excluded with the reason, unless it is the only one that can answer.
    Errors: those of the datasets, of the files of people, of the trainings; :class:`SubjectError` if an encoder
    cannot answer the only dataset, or none of several.
    """
    check_protocol(settings)
    sets, not_used = open_sets(settings)
    people = read_people(settings.people, sets)
    guesses = {
        audit.name: guessed_at(audit, people[audit.name], settings.people) for audit in sets if audit.name in people
    }
    encoders = settings.encoders or DEFAULT_ENCODERS
    share = len(sets) * len(encoders)
    missing: dict[str, MissingExtraError] = {}
    answers: list[Answers] = []
    unread: list[NotUsed] = []
    for encoder in encoders:
        try:
            check_masks((encoder,), sets)
        except MissingExtraError as error:
            if settings.encoders:
                raise
            missing[encoder] = error
    for audit in sets:
        guessed = guesses[audit.name][0] if audit.name in guesses else ()
        for encoder in learners(encoders, audit.task):
            if encoder in missing:
                continue
            try:
                share = len(sets) * len(encoders)
                answers.append(
                    model_answers(audit, encoder, settings, out, share=share, guessed=guessed, progress=progress)
                )
            except MissingExtraError as error:
                if settings.encoders:
                    raise
                missing[encoder] = error
            except SubjectError as error:
                # one dataset of several that an encoder cannot read (another script, say) stops none of the others
                if len(sets) == 1:
                    raise
                why = f"{encoder} cannot answer it: {error.what} ({error.why})." if error.why else error.what
                unread.append(NotUsed(audit.name, audit.title, why))
    shutil.rmtree(out / "vectors", ignore_errors=True)
    if not answers:
        raise _no_answers(encoders, sets, missing, unread)
    used = tuple(audit for audit in sets if any(one.dataset == audit.name for one in answers))
    not_run = tuple(
        f"Not run: {name}, a linear probe on vectors. {error.what} {error.hint or ''}".strip()
        for name, error in missing.items()
    )
    return BiasData(settings, used, (*unread, *not_used), tuple(answers), people, guesses, not_run)


def given_files(settings: ContextBiasSettings) -> Mapping[str, str]:
    """Return the checksums of the files beside the items: with another one it is another run."""
    return {path: sha256_of(Path(path)) for path in settings.people}


def _no_answers(
    encoders: Sequence[str],
    sets: Sequence[AuditSet],
    missing: Mapping[str, MissingExtraError],
    unread: Sequence[NotUsed],
) -> Exception:
    if missing:
        return next(iter(missing.values()))
    if unread:
        hint = "name another encoder or other datasets"
        return SubjectError("no encoder could answer any dataset", why=unread[0].reason, hint=hint)
    what = f"{', '.join(encoders)} cannot answer {', '.join(audit.task for audit in sets)}"
    return InputError(what, hint="name another encoder, such as minilm")


def _under(dataset: str, table: ResponseTable) -> ResponseTable:
    return table.with_column("item_id", [f"{dataset}:{item_id}" for item_id in table.column("item_id")])
