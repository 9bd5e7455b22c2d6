"""Read a study in which people write, for the next study: its texts with their reviews, its table, its items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lexiscope.annotation.store.overview import stored_reviews
from lexiscope.annotation.store.record import Review, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.writing.drafts import Draft, cleaning_reviews
from lexiscope.annotation.writing.review import (
    NOT_REVIEWED,
    AcceptedText,
    Faults,
    WrittenText,
    accepted_texts,
    latest_reviews,
    status_of,
    texts_in_rows,
)
from lexiscope.annotation.writing.stages import (
    Setup,
    ending_items,
    ending_table,
    missing_endings,
    rating_items,
    sentence_table,
    setups,
)
from lexiscope.build.stories.stories import DraftRequest
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.screen import Writing

_STORIES, _SAMPLES = 3, 6


@dataclass(frozen=True, slots=True)
class StageCounts:
    """How many texts were accepted, rejected and not reviewed; the setups, stories and samples that they make.

    A study of endings makes three stories and six samples of each setup with two accepted endings; ``incomplete``
    counts the setups without two. A study of sentences makes setups only.
    """

    accepted: int
    rejected: int
    unreviewed: int
    setups: int
    incomplete: int = 0

    @property
    def stories(self) -> int:
        """Stories of the complete setups: ending A, ending B, open."""
        return _STORIES * (self.setups - self.incomplete)

    @property
    def samples(self) -> int:
        """Samples of the complete setups: each story with both meanings."""
        return _SAMPLES * (self.setups - self.incomplete)


@dataclass(frozen=True, slots=True)
class Stage:
    """What a study of texts has for the next one: what becomes of them, the items written for, texts, all reviews."""

    writing: Writing
    name: str
    items: Mapping[str, Item]
    texts: tuple[WrittenText, ...]
    reviews: tuple[Review, ...]

    @property
    def of_sentences(self) -> bool:
        """Whether the texts are sentences, of which setups are made; else they are endings, which complete stories."""
        return self.writing.text == "sentence"

    @property
    def accepted(self) -> tuple[AcceptedText, ...]:
        """The accepted texts, in the order in which they were written."""
        return accepted_texts(self.texts, self.reviews)

    def counts(self) -> StageCounts:
        """Count the texts by their verdict, and what they make."""
        decided = latest_reviews(self.reviews)
        n = Counter(status_of(text, decided) for text in self.texts)
        counts = (n["accepted"], n["rejected"], n[NOT_REVIEWED])
        if self.of_sentences:
            return StageCounts(*counts, setups=n["accepted"])
        setup_of = {name: str(item.condition("setup")) for name, item in self.items.items()}
        incomplete = {setup_of[name] for name in missing_endings(self.accepted, self.items)}
        return StageCounts(*counts, setups=len(set(setup_of.values())), incomplete=len(incomplete))

    def with_drafts(self, drafts: Sequence[Draft], faults: Faults) -> Stage:
        """Return the stage with the accepted drafts of cleaned texts in the place of the texts that they clean.

        Errors: those of :func:`~lexiscope.annotation.writing.drafts.cleaning_reviews`.
        """
        reviews = cleaning_reviews(drafts, self.accepted, self.items, field=self.writing.text, faults=faults)
        return replace(self, reviews=(*self.reviews, *reviews))

    def cleaning_requests(self, *, published: bool = False) -> tuple[DraftRequest, ...]:
        """Return the requests to a language model to clean every accepted text; *published*: in the paper's words."""
        make = partial(self.writing.cleaning, published=published)
        return tuple(
            make(text.clean, self.items[text.answer.item_id], draft_id=str(text.answer.answer_id))
            for text in self.accepted
        )

    def precontext_requests(self, *, published: bool = False) -> tuple[DraftRequest, ...]:
        """Return the requests to a language model to write a precontext for every accepted sentence.

        *published*: in the paper's words.
        Errors: :class:`InputError` E652 for a study of endings; those of :meth:`setups`.
        """
        precontext = self.writing.precontext
        if precontext is None:
            raise InputError("This study asks for endings, which have no precontexts.", code="E652")
        return tuple(
            precontext(
                setup.usage,
                (setup.meanings[0][0], setup.meanings[1][0]),
                draft_id=setup.setup_id,
                published=published,
            )
            for setup in self.setups()
        )

    def table(self) -> str:
        """Return every text as CSV, raw and clean, with its verdict."""
        make = sentence_table if self.of_sentences else ending_table
        return make(self.texts, self.reviews, self.items)

    def setups(self) -> tuple[Setup, ...]:
        """Return the setups that the accepted sentences make. Errors: those of :func:`stages.setups`."""
        return setups(self.accepted, self.items)

    def ending_items(self, precontexts: Mapping[str, str], *, leave_out_incomplete: bool = False) -> tuple[Item, ...]:
        """Return the items of the endings study; sentences without precontext are omitted on request.

        Errors: :class:`InputError` E647; those of :meth:`setups`.
        """
        made = self.setups()
        if leave_out_incomplete:
            made = tuple(setup for setup in made if precontexts.get(setup.setup_id, "").strip())
        return ending_items(made, precontexts, dataset=self.name)

    def rating_items(self, *, leave_out_incomplete: bool = False) -> tuple[Item, ...]:
        """Return the items of the plausibility study. Errors: those of :func:`stages.rating_items`."""
        return rating_items(self.accepted, self.items, dataset=self.name, leave_out_incomplete=leave_out_incomplete)


def stage_of(study: FrozenStudy, store: Store) -> Stage:
    """Read what a study has for the next one.

    Errors: :class:`InputError` E652 for a study whose texts no other study takes; those of the store.
    """
    definition, writing = study.definition, study.screen.writing
    if writing is None:
        what = f"The texts of {definition.task!r} are not used in another study."
        staged = [name for name, screen in catalog.screens().items() if screen.writing is not None]
        raise InputError(what, code="E652", hint=f"Tasks with a next study: {', '.join(staged)}.")
    items = {item.item_id: item for item in study.design.items}
    # reviews are read first: one that comes meanwhile is of a text that is there
    reviews = tuple(store.read(stored_reviews))
    return Stage(writing, definition.name, items, written_texts(study, store), reviews)


def written_texts(study: FrozenStudy, store: Store) -> tuple[WrittenText, ...]:
    """Return what people wrote for a study's items, oldest first; without those of excluded participants.

    Errors: those of the store.
    """
    items = {item.item_id: item for item in study.design.items}
    included = {person.participant_id for person in store.people() if person.state is not State.EXCLUDED}
    rows = [row for row in store.trial_answers() if row["participant_id"] in included]
    return tuple(sorted(texts_in_rows(rows, items), key=lambda text: text.answer_id))
