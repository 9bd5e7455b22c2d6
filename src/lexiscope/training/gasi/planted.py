"""Planted senses: small vectors of made-up text in which senses are planted, and what the senses of vectors look like.

``lexiscope study sense_induction`` and ``benchmarks/planted_senses.py`` measure trainings by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.comparison import compare_sides, side_of_columns
from lexiscope.analysis.senses.planted import (
    NEIGHBOURS,
    ONE_TO_ONE,
    PlantedCalibration,
    PlantedSelection,
    labels_by_neighbours,
    labels_by_usages,
    planted_calibration,
    planted_selection,
    sense_recovery,
)
from lexiscope.build.planted.senses import made_up_text, plant_words, planted_pairs, planted_usages, read_planted
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Contrast, Estimate, statistic_name
from lexiscope.core.run import write_atomically
from lexiscope.core.settings import Option
from lexiscope.core.subject import Subject
from lexiscope.core.usage import Usage
from lexiscope.resources.vectors.sense_vectors import SETTINGS, SenseVectors, read_sense_vectors
from lexiscope.senses.examples import ChoosesKnownSenses, ReadsSenses
from lexiscope.senses.induced_senses import InducedSenses
from lexiscope.subjects.senses.gasi import Gasi
from lexiscope.training.gasi.settings import VARIANTS, GasiSettings, Variant
from lexiscope.training.gasi.shards import make_shards
from lexiscope.training.gasi.train import train_gasi
from lexiscope.training.gasi.vocabulary import VocabularyLimits

USAGES, REFERENCE = "planted.csv", "reference"
"""What a folder of planted senses holds: the usages, and vectors of the text before planting."""
BY_RULE = (
    "The text was made by rule in this run: invented words, each line about one of a few topics. It shows that the "
    "measurement works, and which variant distinguishes planted senses in an easy case; it does not apply to "
    "real text."
)
"""What a report says of senses that were planted in made-up text."""
MADE_UP = "made_up"
"""What asks for text made by rule, and the folder in which vectors of it lie."""
N_LINES, N_PLANTED, N_USAGES = 1000, 12, 30
"""Lines of made-up text, pseudo-words in it, and usages of each of their senses."""
SHOWN, SEARCHED = 10, 100
"""Neighbours of a sense that say what it looks like, and how many are searched for as many that the reference knows."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class PlantedSenses:
    """Usages of pseudo-words whose senses are known, and the subjects that are asked for them.

    ``title`` says where they come from; ``by_rule``: text and vectors were made by :func:`made_up_senses`.
    ``reference`` are vectors with one sense for a word, trained on the text before planting, which say what senses look
    like.
    """

    title: str
    items: tuple[Item, ...]
    subjects: tuple[ChoosesKnownSenses, ...]
    by_rule: bool = False
    reference: SenseVectors | None = None
    _known_looks: dict[str, dict[str, list[str]] | None] = field(default_factory=dict, repr=False)

    @cached_property
    def answers(self) -> dict[str, tuple[tuple[Item, ...], NDArray[np.float64]]]:
        """The usages that a subject knows and the probability of each sense, by id, if it knows two pseudo-words."""
        answers = {}
        for subject in self.subjects:
            known = tuple(item for item in self.items if subject.knows(item.usages[0]))
            if len({item.usages[0].lemma for item in known}) > 1:
                shares = np.asarray(subject.sense_distribution([item.usages[0] for item in known]), np.float64)
                answers[subject.subject_id] = known, shares
        return answers

    @property
    def responses(self) -> tuple[ResponseTable, ...]:
        """The sense that each subject chose, as answers."""
        return tuple(
            ResponseTable.from_columns(
                {
                    "subject_id": subject.subject_id,
                    "subject_kind": subject.kind,
                    "item_id": np.array([item.item_id for item in known], dtype=object),
                    "task": "planted_senses",
                    "measure": "induced_sense",
                    "option": [str(number + 1) for number in shares.argmax(axis=1).tolist()],
                }
            )
            for subject in self.subjects
            if subject.subject_id in self.answers
            for known, shares in (self.answers[subject.subject_id],)
        )

    @cached_property
    def planted_words(self) -> dict[str, list[str]]:
        """The words that were planted as each pseudo-word that can be judged by what its senses look like."""
        if self.reference is None:
            return {}
        return planted_words((item.usages[0] for item in self.items), self.reference)

    @property
    def unknown_neighbours(self) -> str:
        """Why no pseudo-word, or not all of them, can be evaluated by the neighbours of its senses; empty: all can."""
        if self.reference is None:
            why = "It needs vectors of the text before planting: --planted FOLDER, with planted.csv and a skip_gram "
            return why + "training in reference."
        words = dict.fromkeys(str(item.usages[0].lemma) for item in self.items)
        without = [word for word in words if word not in self.planted_words]
        why = "usages of one planted word only, or a planted word that the reference vectors do not know"
        reason = f"{len(without)} of {len(words)} pseudo-words have {why}: {', '.join(without[:5])}."
        return reason if without else ""

    def recovery(
        self, subject: Subject, *, bins: int = 10, resamples: int = 2000, seed: int = 0
    ) -> tuple[Estimate, ...]:
        """Return how well a subject of :attr:`answers` separates the planted words by its usages; how many it misses.

        Where its senses can be judged by what they look like (two pseudo-words of :attr:`planted_words`), so, too.
        Either way with P, the probability of what is right, and its calibration (:meth:`calibrations`).
        """
        known, shares = self.answers[subject.subject_id]
        usages = [item.usages[0] for item in known]
        words, gold = [str(usage.lemma) for usage in usages], [str(usage.sense) for usage in usages]
        how = {"resamples": resamples, "seed": seed}
        n_unknown = Estimate("n_unknown", float(len(self.items) - len(known)), n=len(known))
        results = (*sense_recovery(words, shares.argmax(axis=1), gold, **how).results(), n_unknown)
        if (looks := self._looks(subject)) is not None:
            results = (*results, *_selection(looks, usages, shares, **how).results())
        calibrations = self.calibrations(subject, bins=bins, **how)
        return (*results, *(result for own in calibrations for result in own.results()))

    def differences(self, first: Subject, second: Subject, *, resamples: int, seed: int) -> tuple[Contrast, ...]:
        """Return how much better a subject of :attr:`answers` recovers what was planted than another one does.

        Over the pseudo-words that both know, three at least, each resample of them the same for both: by usages; by
        neighbours, where those are known of both, with P. Errors: :class:`StatisticError` for fewer words.
        """
        of_first, of_second = (self._by_word(subject) for subject in (first, second))
        contrasts = []
        for name in [name for name in of_first if name in of_second]:
            words = [word for word in of_first[name] if word in of_second[name]]
            columns = [[own[name][word] for word in words] for own in (of_first, of_second)]
            sides = [side_of_columns("mean", [column], words) for column in columns]
            apart = compare_sides(*sides, resamples=resamples, seed=seed, resampled="words")
            here, there = (
                Estimate(name, side.value, n=len(words), subject=subject.subject_id)
                for subject, side in zip((first, second), sides, strict=True)
            )
            difference = statistic_name("planted_difference", of=name.removeprefix("planted_"))
            contrasts.append(Contrast(
                difference, here, there, apart.interval, apart.n, apart.n_groups, p=apart.p, dataset=self.title
            ))  # fmt: skip
        return tuple(contrasts)

    def _by_word(self, subject: Subject) -> dict[str, dict[str, float]]:
        """Return what a subject reaches for each pseudo-word, by the name of the mean over them."""
        known, shares = self.answers[subject.subject_id]
        usages = [item.usages[0] for item in known]
        words, gold = [str(usage.lemma) for usage in usages], [str(usage.sense) for usage in usages]
        recovered = sense_recovery(words, shares.argmax(axis=1), gold, resamples=0).words
        reached = {"planted_accuracy": {word.word: word.accuracy for word in recovered}}
        if (looks := self._looks(subject)) is not None:
            chosen = _selection(looks, usages, shares, resamples=0, seed=0).words
            reached["planted_selection"] = {word.word: word.accuracy for word in chosen}
            reached["planted_probability"] = {word.word: word.probability for word in chosen}
        return reached

    def calibrations(
        self,
        subject: Subject,
        *,
        bins: Annotated[int, Option("bins of confidence, from 0 to 1", least=1)] = 10,
        resamples: Annotated[
            int, Option("number of bootstrap samples; words are resampled", flag="--bootstrap", least=0)
        ] = 2000,
        seed: Annotated[int, Option("of the bootstrap", least=0)] = 0,
    ) -> tuple[PlantedCalibration, ...]:
        """Return P and calibration of a subject of :attr:`answers`, by its usages and, if known, by its neighbours."""
        known, shares = self.answers[subject.subject_id]
        usages = [item.usages[0] for item in known]
        words, gold = [str(usage.lemma) for usage in usages], [str(usage.sense) for usage in usages]
        calibrated = partial(planted_calibration, bins=bins, resamples=resamples, seed=seed)
        made = [calibrated(words, shares, labels_by_usages(words, shares, gold), gold, mapping=ONE_TO_ONE)]
        if (looks := self._looks(subject)) is not None:
            rows = [row for row, word in enumerate(words) if word in looks]
            own, truth = [words[row] for row in rows], [gold[row] for row in rows]
            made.append(calibrated(own, shares[rows], looks, truth, mapping=NEIGHBOURS))
        return tuple(made)

    def _looks(self, subject: Subject) -> dict[str, list[str]] | None:
        """Return what the senses of each pseudo-word of a subject look like; ``None`` where that is not known.

        All senses of all words are searched for neighbours, once for each subject.
        """
        name = subject.subject_id
        if name not in self._known_looks:
            looks = None
            if self.reference is not None and isinstance(subject, ReadsSenses) and self.has_known_neighbours(subject):
                words = dict.fromkeys(str(item.usages[0].lemma) for item in self.answers[name][0])
                meant = {word: self.planted_words[word] for word in words if word in self.planted_words}
                looks = planted_word_of_senses(subject.induced, meant, self.reference)
            self._known_looks[name] = looks
        return self._known_looks[name]

    def has_known_neighbours(self, subject: Subject) -> bool:
        """Return whether a subject knows two of the pseudo-words that can be judged by what their senses look like."""
        known, _ = self.answers[subject.subject_id]
        return len({str(item.usages[0].lemma) for item in known} & set(self.planted_words)) > 1


def made_up_senses(folder: Path, *, seed: int, progress: Progress | None = None) -> PlantedSenses:
    """Return planted senses of text made by rule, and every variant trained on it (:func:`train_on_made_up`)."""
    name = folder.name
    usages = train_on_made_up(folder, seed=seed, progress=progress)
    items = tuple(Item(f"{name}/{number:04d}", name, (usage,)) for number, usage in enumerate(usages, start=1))
    made = tuple(Gasi(str(folder / variant), called=f"{name}/{variant}") for variant in VARIANTS)
    reference = read_sense_vectors(folder / REFERENCE)
    return PlantedSenses("Made-up text", items, made, by_rule=True, reference=reference)


def train_on_made_up(folder: Path, *, seed: int, progress: Progress | None = None) -> tuple[Usage, ...]:
    """Train every variant on made-up text with pseudo-words, and return usages of them whose senses are known.

    The vectors of a variant are in the folder of its name, those of the text before planting (skip-gram) in
    ``reference``. A finished training is not begun again.
    Errors: :class:`~lexiscope.core.errors.MissingExtraError` without what trainings need.
    """
    text = made_up_text(N_LINES, seed=seed)
    pairs = planted_pairs(text, N_PLANTED)
    trainings: list[tuple[str, Iterable[Sequence[str]], Variant, str]] = [
        *(("text", plant_words(text.lines, pairs), variant, variant) for variant in VARIANTS),
        ("plain", text.lines, "skip_gram", REFERENCE),
    ]
    for name, lines, variant, place in trainings:
        corpus = folder / f"{name}.txt"
        write_atomically(corpus, "".join(" ".join(line) + "\n" for line in lines))
        shards = make_shards(
            [corpus], folder / f"{name}_shards", limits=VocabularyLimits(min_count=1), tokenisation="given"
        )
        settings = GasiSettings(
            variant=variant, dimensions=24, subsampling=0.0, epochs=6, learning_rate=0.05, chunk_tokens=2000
        )
        train_gasi(shards, out=folder / place, settings=settings, seed=seed, progress=progress)
    return planted_usages(text.lines, pairs, per_word=N_USAGES, seed=seed)


def read_planted_folder(path: Path) -> tuple[tuple[Item, ...], SenseVectors | None]:
    """Read planted usages from a table, or from a folder with ``planted.csv`` and, if it has them, reference vectors.

    Errors: those of :func:`~lexiscope.build.planted.senses.read_planted`, of damaged vectors, and :class:`InputError`
    for reference vectors whose words have several senses.
    """
    items = read_planted(path / USAGES if path.is_dir() else path)
    if not (path / REFERENCE).is_dir():
        return items, None
    reference = read_sense_vectors(path / REFERENCE)
    if (reference.n_senses != 1).any():
        what = f"reference vectors have one sense for each word; {reference.senses.shape[1]} senses were learnt here"
        raise InputError(what, place=Place(str(path / REFERENCE)), hint="train them with --variant skip_gram")
    return items, reference


def planted_senses(
    given: str,
    subjects: tuple[ChoosesKnownSenses, ...],
    out: Path,
    *,
    seed: int,
    progress: Progress | None = None,
) -> PlantedSenses | None:
    """Return planted senses of a file or folder that is *given*, or of text that is made up below *out*; or none.

    Errors: those of :func:`read_planted_folder`, and of the trainings on made-up text.
    """
    if given == MADE_UP:
        return made_up_senses(out / MADE_UP, seed=seed, progress=progress)
    if not given:
        return None
    items, reference = read_planted_folder(Path(given))
    return PlantedSenses(Path(given).name, items, subjects, reference=reference)


def planted_files(given: str) -> list[Path]:
    """Return the files that :func:`planted_senses` reads: the table, and the record of the reference vectors."""
    path = Path(given)
    if given in ("", MADE_UP):
        return []
    return [path / USAGES, *path.glob(f"{REFERENCE}/{SETTINGS}")] if path.is_dir() else [path]


def planted_word_of_senses(
    senses: InducedSenses, meant: Mapping[str, Sequence[str]], reference: SenseVectors
) -> dict[str, list[str]]:
    """Return what each sense of each pseudo-word looks like: one of the words that *meant* says were planted as it.

    Neighbours are read by the vectors of *reference*, which has one sense for each word. Empty for a sense that is not
    there, or has too few neighbours that it knows.
    """
    rows = {word: list(senses.of(word)) for word in meant}
    # the neighbours of all of them in one search, which goes through all vectors
    every = [row for own in rows.values() for row in own]
    near = dict(zip(every, senses.neighbours(every, SEARCHED), strict=True))

    def vector(word: str) -> NDArray[np.float64]:
        return np.asarray(reference.senses[reference.index[word], 0], np.float64)

    labels = {}
    for word, planted in meant.items():
        known = {
            row: [neighbour.word for neighbour in near[row] if neighbour.word in reference.index][:SHOWN]
            for row in rows[word]
        }
        kept = [row for row in rows[word] if len(known[row]) == SHOWN]
        labels[word] = [""] * senses.most
        if kept:
            seen = np.stack([np.stack([vector(neighbour) for neighbour in known[row]]) for row in kept])
            looks = labels_by_neighbours(seen, np.stack([vector(look) for look in planted]))
            for row, label in zip(kept, looks.tolist(), strict=True):
                labels[word][int(senses.numbers[row])] = planted[label]
    return labels


def planted_words(usages: Iterable[Usage], reference: SenseVectors) -> dict[str, list[str]]:
    """Return the words that were planted as each pseudo-word, if there are two at least and the reference knows them.

    Of one word alone every sense would look like it, and of an unknown one none would.
    """
    planted: dict[str, set[str]] = {}
    for usage in usages:
        planted.setdefault(str(usage.lemma), set()).add(str(usage.sense))
    known = {word: sorted(own) for word, own in planted.items() if all(sense in reference.index for sense in own)}
    return {word: own for word, own in known.items() if len(own) > 1}


def selection_by_neighbours(
    senses: InducedSenses,
    usages: Sequence[Usage],
    probabilities: NDArray[np.floating[Any]],
    meant: Mapping[str, Sequence[str]],
    reference: SenseVectors,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> PlantedSelection:
    """Return how often the chosen sense is one whose neighbours look like the planted word.

    *usages* are of pseudo-words, *probabilities* those of the senses of each (usages, senses), *meant* the words that
    were planted as each pseudo-word; usages of others are excluded.
    Errors: :class:`StatisticError` for fewer than two pseudo-words.
    """
    words = dict.fromkeys(str(usage.lemma) for usage in usages if usage.lemma in meant)
    labels = planted_word_of_senses(senses, {word: meant[word] for word in words}, reference)
    return _selection(labels, usages, probabilities, resamples=resamples, seed=seed)


def _selection(
    labels: Mapping[str, Sequence[str]],
    usages: Sequence[Usage],
    probabilities: NDArray[np.floating[Any]],
    *,
    resamples: int,
    seed: int,
) -> PlantedSelection:
    """The same with *labels*, what the senses of each pseudo-word look like; usages of others are excluded."""
    rows = [row for row, usage in enumerate(usages) if usage.lemma in labels]
    words = [str(usages[row].lemma) for row in rows]
    fits = [[label == usages[row].sense for label in labels[word]] for row, word in zip(rows, words, strict=True)]
    seen = {word: len(set(looks) - {""}) for word, looks in labels.items()}
    return planted_selection(words, probabilities[rows], fits, recovered=seen, resamples=resamples, seed=seed)
