"""A study: one paper's questions, asked of recorded and live subjects, with the numbers that the paper prints."""

from __future__ import annotations

import csv
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.result import compared

if TYPE_CHECKING:
    from lexiscope.core.result import Record
    from lexiscope.core.scoring import Per

Analysis = Literal["confirmatory", "exploratory"]
Mark = Literal["confirmatory", "confirmatory in part", "exploratory"]


@dataclass(frozen=True, slots=True)
class Question:
    """A research question: its id, its text, where the paper asks it, and how its analysis is marked.

    A study's questions are exploratory. In a run, those that a plan names get another mark (:class:`PlannedAnalysis`).
    """

    question_id: str
    text: str
    section: str
    analysis: Mark = "exploratory"


@dataclass(frozen=True, slots=True)
class PlannedAnalysis:
    """An analysis that a plan named before the first answer: its results are confirmatory, all others exploratory.

    ``text`` says what was planned, ``place`` where that is documented; ``covers`` says which records of the question
    are its results.
    """

    question_id: str
    text: str
    place: str
    covers: Callable[[Record], bool]


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A number as a paper prints it, with its place. ``printed`` is text, so that its decimals are known.

    The fields from ``statistic`` to ``condition`` say which record it belongs to. ``remark`` is shown where
    the number does not reproduce; ``reproducible`` is false where the data for it were never published.
    """

    statistic: str
    printed: str
    place: str
    subject: str = ""
    dataset: str = ""
    layer: int | None = None
    condition: str = ""
    remark: str = ""
    reproducible: bool = True

    def status_of(self, value: float) -> str:
        """Compare a recomputed value with the printed one (see :func:`lexiscope.core.result.compared`)."""
        return compared(value, self.printed)


_PRINTED = ("place", "statistic", "subject", "condition", "printed", "remark", "unavailable")


def printed_values(path: Path, *, dataset: str) -> tuple[PublishedValue, ...]:
    """Read what a paper prints: ``printed.csv`` of a study, one number a row.

    Columns: ``place`` (table or section), ``statistic``, ``subject`` and ``condition`` of the record, ``printed`` (the
    text of the number), ``remark`` (shown where ours differs), ``unavailable`` (why no data exist, where none do).

    Errors: :class:`InputError` naming the line without a place, or whose number does not parse.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, strict=True)
        if tuple(rows.fieldnames or ()) != _PRINTED:
            raise InputError(f"the columns are not {', '.join(_PRINTED)}", place=Place(str(path), line=1))
        return tuple(_printed_value(row, dataset, Place(str(path), line=rows.line_num)) for row in rows)


def _printed_value(row: dict[str, str], dataset: str, place: Place) -> PublishedValue:
    try:
        float(row["printed"])
    except (TypeError, ValueError) as error:
        raise InputError(f"{row['printed']!r} is not a printed number", place=place) from error
    if not row["place"]:
        raise InputError("a printed number needs its place in the paper", place=place)
    return PublishedValue(
        row["statistic"],
        row["printed"],
        row["place"],
        subject=row["subject"],
        dataset=dataset,
        condition=row["condition"],
        remark=row["unavailable"] or row["remark"],
        reproducible=not row["unavailable"],
    )


@dataclass(frozen=True, slots=True)
class StudySettings:
    """What a run of a study can vary, every default spelled out; ``run.json`` holds all of it.

    ``dataset`` names a dataset of the catalog, or ``items`` an item file of the user's own (never both), with the
    ends of its rating ``scale`` and its ``language``. ``mixed_models``: ``paper`` runs the published tests, ``maximal``
    also those with maximal random effects, ``every`` also the tests with distance for every subject at its best layer.
    ``subjects`` are specs of live subjects that answer beside the recorded ones. ``recorded`` limits the recorded
    models to these ids (empty = all). ``views`` are the views whose distances are analysed; the first is the main one
    (empty = the dataset's own).
    ``analyses`` marks a question as exploratory although a plan named it: (question id, ``exploratory``).
    ``outputs`` are written beside tables, figures and report: also ``csv`` and ``jsonl`` of the responses.
    ``exclusions`` are exclusion rules in order, as text that ``analysis.exclusion`` parses.
    Of the synonymy study: ``mode`` repairs the published texts (``clean``) or keeps their flaws; ``per`` is what a
    text's log-probability is divided by where it decides; ``frequency`` is a table of word counts (word, count) instead
    of WordNet's; ``gap_filling`` says whether subjects that generate fill gaps; ``checkpoints`` are subjects that are
    states of one model in training, each with how far it was (tokens seen, or steps): (spec, number); ``word_list``
    names a file of words to flag in the texts instead of the built-in ones; ``templates`` a file of templates
    instead of the paper's (other relations, other languages).
    Of the ambistory study: ``split`` is what live subjects are asked (where the stories have splits); ``compare`` are
    pairs of subjects whose errors are compared, a model that was trained and its base: (spec, spec); ``codings`` are
    sheets of errors that people tagged, each named after its coder.
    Of the context_bias study: ``datasets`` are several datasets of one run; ``encoders`` are what is trained or probed
    (``minilm``, a folder, a hub id; ``words`` learns from words and characters, ``look_up`` counts; both need no
    model); ``protocol`` is how (``auto``: a linear probe, or what fits into the ``budget``); ``budget`` is a duration
    (30m); ``people`` are files of people's answers to the same items.
    Of the sense_induction study: ``planted`` is a file of usages of pseudo-words, whose senses are known (or a folder
    with it and vectors of the text before planting), or ``made_up``: text made by rule, on which small vectors are
    trained; ``synset`` (``bond.n.02``) is one whose sentences show how a sense is chosen; ``words`` are those whose
    senses and neighbours are shown, with examples from the files of ``corpus``; ``datasets`` limits what is compared;
    ``people`` are files of people's answers to the tests of senses, and of the items that were asked.
    """

    study: str
    dataset: str = ""
    items: str = ""
    scale: tuple[float, float] = (1.0, 5.0)
    language: str = "und"
    subjects: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    seed: int = 20250429
    n_bootstrap: int = 2000
    starts: int = 5
    mixed_models: Literal["paper", "maximal", "every", "none"] = "paper"
    agreement: Literal["leave_one_out", "included"] = "leave_one_out"
    min_ratings: int = 10
    threads: int = 1
    device: str = "cpu"
    analyses: tuple[tuple[str, Literal["exploratory"]], ...] = ()
    exclusions: tuple[str, ...] = ()
    title: str = ""
    ethics: str = ""
    outputs: tuple[str, ...] = field(default=("r_script", "codebook", "data_card"))
    mode: Literal["clean", "published"] = "clean"
    per: Per = "token"
    frequency: str = ""
    gap_filling: Literal["yes", "no"] = "yes"
    checkpoints: tuple[tuple[str, float], ...] = ()
    word_list: str = ""
    templates: str = ""
    split: Literal["test", "dev", "train", "all"] = "test"
    compare: tuple[tuple[str, str], ...] = ()
    codings: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    encoders: tuple[str, ...] = ()
    protocol: Literal["auto", "linear", "zero_shot", "reduced", "full"] = "auto"
    budget: str = ""
    people: tuple[str, ...] = ()
    planted: str = ""
    synset: str = "bond.n.02"
    words: tuple[str, ...] = ("bond",)
    corpus: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.dataset or self.datasets) and self.items:
            raise InputError("a study takes a dataset or an item file, not both")
        if self.dataset and self.datasets:
            raise InputError("a study takes one dataset or several, not both")
        if self.n_bootstrap < 0 or self.starts < 1 or self.threads < 1:
            raise InputError("n_bootstrap must be 0 or more, starts and threads at least 1")
        if len({tuned for tuned, _ in self.compare}) < len(self.compare):
            raise InputError("a trained model is compared with one base, and it is named twice")
        claimed = [question for question, mark in self.analyses if mark != "exploratory"]
        if claimed:
            raise InputError(
                f"{claimed[0]} cannot be set to confirmatory",
                why="an analysis is confirmatory only if a plan named it before the first answer",
                hint="remove the question from analyses",
            )


_EVERY_STUDY = frozenset(
    (
        "study",
        "dataset",
        "subjects",
        "seed",
        "n_bootstrap",
        "threads",
        "device",
        "analyses",
        "title",
        "ethics",
        "outputs",
    )
)


def check_settings(settings: StudySettings, uses: AbstractSet[str]) -> None:
    """Check that a study uses whatever was set: a setting that another study has would be dropped without a word.

    *uses* are the settings that this study has beside those of every study.
    Errors: :class:`InputError` naming the setting.

    >>> check_settings(StudySettings("ambistory", split="dev"), {"split"})
    """
    for one in fields(settings):
        if one.name not in _EVERY_STUDY | uses and getattr(settings, one.name) != one.default:
            raise InputError(
                f"the study {settings.study} has no setting {one.name!r}: it would be left out",
                hint=f"leave it out; its own settings are {', '.join(sorted(uses))}",
            )
