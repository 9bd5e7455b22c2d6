"""The run of the study: sets of pairs, subjects with induced senses, their answers, planted usages, people's tests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast

from lexiscope.build.stories.inventory import check_synset
from lexiscope.collect import CollectProgress, collect, live_subjects
from lexiscope.core.code_file import existing_file
from lexiscope.core.dataset import DatasetCard
from lexiscope.core.errors import CapabilityError, InputError
from lexiscope.core.prompt import Converses
from lexiscope.core.response import ResponseTable, holds_simulated
from lexiscope.core.run import sha256_of
from lexiscope.core.simulated import SIMULATED
from lexiscope.core.study import PublishedValue
from lexiscope.core.subject import ChoosesSense, Subject
from lexiscope.datasets.wordsim import NINE
from lexiscope.datasets.wordsim import SETS as WORD_SETS
from lexiscope.report.document import Section
from lexiscope.report.page.simulated import marked_part, marked_section
from lexiscope.report.part import Omission, Part, short_titles
from lexiscope.report.parts import sense_test_parts
from lexiscope.report.parts.sense_parts import TellsSenses
from lexiscope.report.parts.sense_test_parts import SenseTest, SenseTestAnswers
from lexiscope.resources.corpora.running_text import corpus_files
from lexiscope.studies.kit.answers import ComparableAnswers
from lexiscope.studies.kit.data import chat_answers, n_chats
from lexiscope.studies.kit.pairs import PairSet, open_pair_sets, own_pairs
from lexiscope.studies.kit.run import RunData
from lexiscope.studies.sense_induction.settings import SenseInductionSettings
from lexiscope.subjects.senses.gasi import Gasi, expand_folders
from lexiscope.tasks.relatedness.by_sense import GivesSenses
from lexiscope.training.gasi.planted import PlantedSenses, planted_files, planted_senses

MINI_PAIRS, MINI_TESTS = "mini_relatedness", "mini_senses"
PLANTED = "usages of pseudo-words with planted senses (--planted FILE, or --planted made_up)"
TESTED = "answers of people to tests of senses (--people FILE, with the items that were asked)"
SETS: tuple[str, ...] = ("scws", *(f"wordsim?set={name}" for name in NINE), "wic", MINI_PAIRS)
"""The sets of the paper, and the embedded pairs, which are available on any machine."""
TITLES = {f"wordsim?set={name}": words.title for name, words in WORD_SETS.items()} | {
    MINI_PAIRS: "Mini pairs (embedded)"
}


class HasSenses(TellsSenses, GivesSenses, Protocol):
    """A subject with induced senses (``gasi``, ``sense_embedding``): what the study asks of it."""


@dataclass(frozen=True, eq=False)
class SenseData(RunData[SenseInductionSettings]):
    """A run of the study.

    ``titles`` are short names of subjects by ID; ``chats`` what chat models answered to the items of ``people``;
    ``omissions`` are sets that were not asked.
    """

    settings: SenseInductionSettings
    sets: tuple[PairSet, ...] = ()
    subjects: tuple[HasSenses, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    answers: ResponseTable = field(default_factory=ResponseTable.empty)
    planted: PlantedSenses | None = None
    people: SenseTestAnswers = field(default_factory=SenseTestAnswers)
    chats: ResponseTable = field(default_factory=ResponseTable.empty)
    omissions: tuple[Omission, ...] = ()
    name: str = "sense_induction"
    card: DatasetCard | None = None

    # -- what the kit asks of a run ---------------------------------------------------------------------------------

    @cached_property
    def responses(self) -> ResponseTable:
        """Every answer; of the ratings of a set those of simulated participants, by which the run is marked."""
        rated = [pairs.responses.where(subject_kind=SIMULATED) for pairs in self.sets if pairs.simulated]
        planted = self.planted.responses if self.planted else ()
        return ResponseTable.concat([self.answers, *planted, self.people.responses, self.chats, *rated])

    @property
    def checksums(self) -> dict[str, str]:
        """The checksums of the files of all sets, by name."""
        return {path: digest for pairs in self.sets for path, digest in pairs.checksums}

    @property
    def counts(self) -> Mapping[str, int]:
        """Sets, pairs, vectors and responses."""
        return {
            "sets": len(self.sets),
            "pairs": sum(len(pairs.items) for pairs in self.sets),
            "vectors": len(self.subjects),
            "responses": len(self.responses),
        }

    @property
    def cards(self) -> Sequence[tuple[DatasetCard, str]]:
        """The cards of the sets."""
        cards = {pairs.card.name: pairs.card for pairs in self.sets if pairs.card is not None}
        return [(card, f"data_{number}") for number, card in enumerate(cards.values(), start=1)]

    def has(self, what: str) -> bool:
        """Whether there are ``rated pairs of words`` or ``of usages``, ``pairs with a correct answer``, ``logs``."""
        given: Mapping[str, Sequence[object]] = {
            "rated pairs of words": self.rated_sets(in_context=False),
            "rated pairs of usages": self.rated_sets(in_context=True),
            "pairs with a correct answer": self.same_sense,
            "trainings of this program": self.own_trainings,
            PLANTED: self.planted.items if self.planted else (),
            TESTED: self.people.responses.unique("subject_id"),
        }
        return bool(given[what])

    def printed_values(self, values: Mapping[str, Sequence[PublishedValue]]) -> Sequence[PublishedValue]:
        """Return what the paper prints: all in a run of the study's own sets, otherwise what it prints about the sets.

        What it prints about people is excluded if the answers are those of simulated participants.
        """
        simulated, asked = holds_simulated(self.people.responses), bool(len(self.people.responses))
        # a run of sets that a user named is no run of the whole paper
        named = self.settings.datasets or self.settings.dataset or self.settings.items
        whole = bool(self.sets) and not named
        sets = [*values] if whole else [pairs.name for pairs in self.sets]
        names = [name for name in sets if name not in sense_test_parts.TASKS] + (
            list(sense_test_parts.TASKS) if (whole or asked) and not simulated else []
        )
        return [value for name in dict.fromkeys(names) for value in values.get(name, ())]

    def mark_simulated(self, name: str, part: Part) -> Part:
        """Return the part of a question with the mark of simulated participants where theirs are in it."""
        simulated = {
            "Q1": any(pairs.simulated for pairs in self.sets if not pairs.in_context),
            "Q2": any(pairs.simulated for pairs in self.sets if pairs.in_context),
            "Q7": holds_simulated(self.people.responses),
            "Q8": self.simulated,
            "Q9": any(pairs.simulated for pairs in self.sets),
            "Q10": any(pairs.simulated for pairs in self.sets),
        }
        return marked_part(part) if simulated.get(name) else part

    def mark_section(self, section: Section) -> Section:
        """Return a section with that mark if all ratings and answers are those of simulated participants."""
        return marked_section(section) if self.all_simulated else section

    # -- what the questions ask of it -------------------------------------------------------------------------------

    @property
    def simulated(self) -> bool:
        """Whether some ratings or answers are those of simulated participants."""
        return any(pairs.simulated for pairs in self.sets) or holds_simulated(self.people.responses)

    @property
    def all_simulated(self) -> bool:
        """Whether there are no others."""
        real = any(pairs.task == "relatedness" and not pairs.simulated for pairs in self.sets)
        tested = self.people.responses
        return self.simulated and not real and (not len(tested) or holds_simulated(tested))

    @property
    def same_sense(self) -> tuple[PairSet, ...]:
        """The sets of pairs with a correct answer."""
        return tuple(pairs for pairs in self.sets if pairs.task == "same_sense")

    def rated_sets(self, *, in_context: bool) -> tuple[PairSet, ...]:
        """Return the sets of rated pairs, of usages in their contexts or of words."""
        return tuple(pairs for pairs in self.sets if pairs.task == "relatedness" and pairs.in_context == in_context)

    @property
    def own_trainings(self) -> tuple[Gasi, ...]:
        """The trainings of this program among the subjects."""
        return tuple(subject for subject in self.subjects if isinstance(subject, Gasi))

    @cached_property
    def tests(self) -> list[SenseTest]:
        """People's answers to the tests of each model's senses: of a subject where its revision or its name fits."""
        return self.tests_of(self.people.responses)

    def tests_of(self, answers: ResponseTable) -> list[SenseTest]:
        """Return these answers to the items of people's tests in the same way."""
        known = {
            name: subject.subject_id
            for subject in reversed(self.subjects if self.people.items else ())
            for name in (self.title_of(subject.subject_id), subject.subject_id, subject.facts.revision)
            if name
        }
        return sense_test_parts.sense_tests(replace(self.people, responses=answers), known, **self.resampling)

    @property
    def names(self) -> Mapping[str, str]:
        """What subjects and sets are called in the report, by their ids."""
        return {**self.titles, **self.set_titles}

    @property
    def set_titles(self) -> dict[str, str]:
        """What the sets are called, by name."""
        return {pairs.name: pairs.title for pairs in self.sets}

    def title_of(self, subject_id: str) -> str:
        """Return the short name of a subject; its id where it has none."""
        return self.titles.get(subject_id, subject_id)


# -- making it ------------------------------------------------------------------------------------------------------


def load_run(settings: SenseInductionSettings, out: Path, progress: CollectProgress | None = None) -> SenseData:
    """Load the sets, ask every subject every pair, read people's answers, and make planted text where it is asked for.

    Answers are kept below ``out/collected``, vectors of made-up text below ``out/made_up``, so that a broken run
    continues.
    Errors: :class:`InputError` where there is nothing to ask; :class:`CapabilityError` for a subject without induced
    senses; those of the sets, the subjects, the training and the files.
    """
    live = live_subjects(expand_folders(settings.subjects), settings)
    subjects = subjects_with_senses(live)
    if not live and not settings.planted and not settings.people:
        what = "this study needs vectors with induced senses, or people's answers to tests of senses"
        hint = "name some: --subject gasi:FOLDER, which lexiscope train gasi writes, or sense_embedding:FORMAT:FILE; "
        raise InputError(what, hint=hint + "--people FILE; or let it make text, and vectors of it: --planted made_up")
    # what can be wrong with a setting or a file is found before anything is asked
    if subjects and settings.synset:
        check_synset(settings.synset)
    people = read_tests(settings)
    tested = people.items_by_task() if n_chats(settings) else {}
    chats, unasked = chat_answers(live, tested, out / "tests", seed=settings.seed, progress=progress)
    named = settings.datasets or settings.dataset or settings.items
    sets, omissions = open_sets(settings) if subjects or named else ((), ())
    if sets and not subjects:
        hint = "add --subject gasi:FOLDER, or leave the pairs out"
        raise InputError("pairs are compared with vectors, and no vectors were given", hint=hint)
    planted = planted_senses(settings.planted, subjects, out, seed=settings.seed, progress=progress)
    answers = []
    for pairs in sets:
        # a dataset may be named by its path
        folder = out / "collected" / re.sub(r"[^A-Za-z0-9.-]+", "_", pairs.name).strip("_.")
        answers.append(collect(pairs.items, subjects, pairs.task, out=folder, seed=settings.seed, progress=progress))
    return SenseData(
        settings,
        sets,
        subjects,
        short_titles(subject.subject_id for subject in (*live, *(planted.subjects if planted else ()))),
        ResponseTable.concat(answers),
        planted,
        people,
        chats,
        (*omissions, *(() if subjects else (Omission("Sets of pairs", "No vectors were given: --subject."),)),
         *(Omission("Tests of senses", why) for why in unasked)),
    )  # fmt: skip


def read_tests(settings: SenseInductionSettings) -> SenseTestAnswers:
    """Read people's answers and items; chat models are asked embedded items if there are none. Errors: of the files."""
    return sense_test_parts.read_answers_and_items(settings.people, embedded=MINI_TESTS if n_chats(settings) else "")


def compared_answers(settings: SenseInductionSettings, responses: ResponseTable) -> ComparableAnswers:
    """Return the answers of a finished run with its pairs, and people's ratings of them. Errors: those of the sets."""
    if not settings.subjects:
        what = "this run asked no pairs: there are no answers to compare"
        raise InputError(what, hint="name vectors when it is run: --subject gasi:FOLDER")
    sets, _ = open_sets(settings) if n_chats(settings) < len(settings.subjects) else ((), ())
    rated = [pairs.responses.where(measure=("rating", "norm")) for pairs in sets]
    tested = read_tests(settings).items_by_task() if n_chats(settings) else {}
    asked = responses.where(task=(*tested, *{pairs.task for pairs in sets}))
    return ComparableAnswers(
        ResponseTable.concat(
            [asked.where(subject_kind=tuple(set(asked.unique("subject_kind")) - {SIMULATED})), *rated]
        ),
        (
            *(replace(item, dataset=pairs.name) for pairs in sets for item in pairs.items),
            *(item for items in tested.values() for item in items),
        ),
        tasks={**{pairs.name: pairs.task for pairs in sets}, **{task: task for task in tested}},
        # cosines of equal vectors may differ in their last bits, which must not break ties
        decimals=10,
    )


def subjects_with_senses(live: Sequence[Subject]) -> tuple[HasSenses, ...]:
    """Return the subjects of a run with induced senses; chat models sit the tests of senses alone.

    Errors: :class:`CapabilityError` for any other subject, before anything is asked.
    """
    subjects = [subject for subject in live if not isinstance(subject, Converses)]
    for subject in subjects:
        if not isinstance(subject, ChoosesSense) or not isinstance(subject, GivesSenses):
            what = f"{subject.subject_id} has no induced senses"
            raise CapabilityError(what, hint="use a subject of the kind gasi, sense_embedding, usage_clusters or chat")
    return tuple(cast(HasSenses, subject) for subject in subjects)


def text_files(settings: SenseInductionSettings) -> dict[str, str]:
    """Return the checksums of planted usages, with the vectors that come with them, and of the text of a corpus.

    Errors: :class:`InputError` for a file that is not there.
    """
    paths = [*corpus_files([Path(name) for name in settings.corpus]), *planted_files(settings.planted)]
    return {str(path): sha256_of(existing_file(path)) for path in paths}


def open_sets(settings: SenseInductionSettings) -> tuple[tuple[PairSet, ...], tuple[Omission, ...]]:
    """Load the sets that were asked for. Errors: those of :mod:`lexiscope.studies.kit.pairs`."""
    if settings.items:
        return (own_pairs(settings),), ()
    named = settings.datasets or ((settings.dataset,) if settings.dataset else ())
    # vectors are of English
    return open_pair_sets(named, SETS, titles=TITLES, languages={MINI_PAIRS: "en"})
