"""A study as one human-readable YAML file: every field of ``StudySettings``, nothing else.

Reading names the line of a mistake and the nearest known name; writing spells every default out with its meaning.
Settings → YAML → settings is exact. Paths in a study file are taken from the folder in which the command is run.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lexiscope.analysis.exclusion import parse_rule
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.run import write_atomically
from lexiscope.core.scoring import Per
from lexiscope.core.study import StudySettings
from lexiscope.core.subject import SubjectSpec
from lexiscope.resources.yaml_faults import refusal
from lexiscope.resources.yaml_source import YamlSource, parse_yaml, read_yaml
from lexiscope.resources.yaml_writing import yaml_value

Finite = Annotated[float, Field(allow_inf_nan=False)]
_DEFAULT = StudySettings(study="")

#: field -> what stands above it in a written file
COMMENTS: dict[str, str] = {
    "study": "the study: a name from `lexiscope list studies`",
    "dataset": "a dataset from `lexiscope list datasets`; empty: the study's own",
    "items": "or an item file of your own (never both)",
    "scale": "lowest and highest point of the rating scale of your own item file",
    "language": "language of your own item file (es, en …), where it has no column for it",
    "subjects": "live subjects that answer beside the recorded ones, as kind:name (encoder:minilm)",
    "recorded": "limit the recorded models to these ids; empty: all",
    "views": "what of the input a model sees; the first view is the main one; empty: the dataset's own",
    "seed": "seed of every resampling and of every random start",
    "n_bootstrap": "bootstrap samples per interval; 0: no intervals",
    "starts": "starting points of each mixed model; the best optimum is kept",
    "mixed_models": "paper (the published tests), maximal (also maximal random effects), every (every subject), none",
    "agreement": "leave_one_out (a rater against the others), included (the own rating stays in the mean)",
    "min_ratings": "fewest ratings that an item needs",
    "threads": "threads of the numerical libraries",
    "device": "where live models run: cpu, cuda, mps",
    "analyses": "question id: exploratory, for a question that a plan named and that is not to count as confirmatory",
    "exclusions": "exclusion rules, applied in this order",
    "title": "title of the report; empty: the study's own",
    "ethics": "ethics statement, free text, printed in the report",
    "outputs": "beside tables, figures and report: r_script, codebook, data_card, csv, jsonl",
    "mode": "of synonymy: clean (repaired texts) or published (their flaws kept)",
    "per": "of synonymy: what a log-probability is divided by where it decides: token, text, character, byte",
    "frequency": "of synonymy: a table of word counts (columns word, count); empty: WordNet's tag counts",
    "gap_filling": 'of synonymy: whether subjects that generate fill gaps: "yes" or "no"',
    "checkpoints": "of synonymy: states of one model in training; subject: tokens seen (or steps)",
    "word_list": "of synonymy: a file of words to flag in the texts, one a line; empty: a short list of our own",
    "templates": "of synonymy: a file of templates of your own (other relations, languages); empty: the paper's",
    "split": "of ambistory: the samples that live subjects are asked: test, dev, train, all",
    "compare": "of ambistory: whose errors are compared: a model that was trained, and its base",
    "codings": "of ambistory: sheets of errors (error_coding.csv) that people tagged, each named after its coder",
    "datasets": "of context_bias and sense_induction: several datasets of one run, instead of dataset",
    "encoders": "of context_bias: what is trained or probed: minilm, a folder, a hub id; look_up counts",
    "protocol": "of context_bias: linear, zero_shot, reduced, full; auto: linear, or what fits into the budget",
    "budget": "of context_bias: the time that all trainings together may take, as 30m; empty: none",
    "people": "of context_bias and sense_induction: files of people's answers to the same items",
    "planted": "of sense_induction: usages of pseudo-words, whose senses are known; or made_up",
    "synset": "of sense_induction: a synset whose sentences show how a sense is chosen; empty: none",
    "words": "of sense_induction: words whose senses and neighbours are shown",
    "corpus": "of sense_induction: files of running text that examples of these words come from",
}


class StudyFile(BaseModel):
    """The schema of a study file; the fields and defaults are those of ``StudySettings`` (a test holds them equal)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    study: str = Field(min_length=1)
    dataset: str = _DEFAULT.dataset
    items: str = _DEFAULT.items
    scale: list[Finite] = Field(default=list(_DEFAULT.scale), min_length=2, max_length=2)
    language: str = _DEFAULT.language
    subjects: list[str] = list(_DEFAULT.subjects)
    recorded: list[str] = list(_DEFAULT.recorded)
    views: list[str] = list(_DEFAULT.views)
    seed: int = Field(default=_DEFAULT.seed, ge=0)
    n_bootstrap: int = Field(default=_DEFAULT.n_bootstrap, ge=0)
    starts: int = Field(default=_DEFAULT.starts, ge=1)
    mixed_models: Literal["paper", "maximal", "every", "none"] = _DEFAULT.mixed_models
    agreement: Literal["leave_one_out", "included"] = _DEFAULT.agreement
    min_ratings: int = Field(default=_DEFAULT.min_ratings, ge=1)
    threads: int = Field(default=_DEFAULT.threads, ge=1)
    device: str = _DEFAULT.device
    analyses: dict[str, Literal["exploratory"]] = dict(_DEFAULT.analyses)
    exclusions: list[str] = list(_DEFAULT.exclusions)
    title: str = _DEFAULT.title
    ethics: str = _DEFAULT.ethics
    outputs: list[str] = list(_DEFAULT.outputs)
    mode: Literal["clean", "published"] = _DEFAULT.mode
    per: Per = _DEFAULT.per
    frequency: str = _DEFAULT.frequency
    gap_filling: Literal["yes", "no"] = _DEFAULT.gap_filling
    checkpoints: dict[str, Finite] = dict(_DEFAULT.checkpoints)
    word_list: str = _DEFAULT.word_list
    templates: str = _DEFAULT.templates
    split: Literal["test", "dev", "train", "all"] = _DEFAULT.split
    compare: dict[str, str] = dict(_DEFAULT.compare)
    codings: list[str] = list(_DEFAULT.codings)
    datasets: list[str] = list(_DEFAULT.datasets)
    encoders: list[str] = list(_DEFAULT.encoders)
    protocol: Literal["auto", "linear", "zero_shot", "reduced", "full"] = _DEFAULT.protocol
    budget: str = _DEFAULT.budget
    people: list[str] = list(_DEFAULT.people)
    planted: str = _DEFAULT.planted
    synset: str = _DEFAULT.synset
    words: list[str] = list(_DEFAULT.words)
    corpus: list[str] = list(_DEFAULT.corpus)


def read_study_file(path: Path | str) -> StudySettings:
    """Read the settings of a study from a YAML file.

    Errors: :class:`InputError` with file, line, column, the line and a caret: E60x (not plain YAML), E611 (unknown
    name), E612 (wrong type or value), E613 (missing name), E614 (a study, dataset, subject or rule that
    does not exist).
    """
    return _settings(read_yaml(path))


def parse_study(text: str, *, path: str = "study.yaml") -> StudySettings:
    """Read the settings of a study from the text of a YAML file (errors as in :func:`read_study_file`)."""
    return _settings(parse_yaml(text, path=path))


def study_yaml(settings: StudySettings) -> str:
    """Return a study file in which every setting, default or not, is spelled out under a comment.

    >>> print(study_yaml(StudySettings("saw_c", seed=7)).split("\\n\\n")[9])
    # seed of every resampling and of every random start
    seed: 7
    """
    parts = [
        "# A study for Lexiscope: lexiscope study THIS_FILE --out RUN\n# Paths start at the folder it is run in.\n"
    ]
    pairs = ("analyses", "checkpoints", "compare")
    values = asdict(settings) | {name: dict(getattr(settings, name)) for name in pairs}
    parts += [f"# {COMMENTS[name]}\n{name}:{yaml_value(value)}\n" for name, value in values.items()]
    return "\n".join(parts)


def write_study_file(settings: StudySettings, path: Path | str) -> None:
    """Write a study file; a file that exists already is not touched.

    Errors: :class:`InputError` E615 where it exists.
    """
    if Path(path).exists():
        raise InputError(f"{path} exists already", code="E615", hint="name a new file")
    write_atomically(Path(path), study_yaml(settings))


def _settings(source: YamlSource) -> StudySettings:
    try:
        model = StudyFile.model_validate(source.content)
    except ValidationError as error:
        raise refusal(source, error.errors()[0], StudyFile, COMMENTS) from error
    _check_names(source, model)
    values: dict[str, Any] = {
        name: tuple(value.items()) if isinstance(value, dict) else tuple(value) if isinstance(value, list) else value
        for name, value in model.model_dump().items()
    }
    try:
        return StudySettings(**values)
    except InputError as error:
        place = source.place(("items",), of_key=True)
        raise InputError(error.what, code="E612", place=place, hint="keep one of them") from error


def _check_names(source: YamlSource, model: StudyFile) -> None:
    """Check names against the catalog here, where their place in the file is known."""
    rooms: list[tuple[catalog.Kind, tuple[str | int, ...], str]] = [
        ("studies", ("study",), model.study),
        ("datasets", ("dataset",), model.dataset),
        *(("datasets", ("datasets", number), name) for number, name in enumerate(model.datasets)),
    ]
    for room, path, given in rooms:
        # options stand behind a question mark: am2ico?language=zh
        name = given.partition("?")[0] if room == "datasets" else given
        if name and not catalog.has(room, name):
            near = difflib.get_close_matches(name, catalog.names(room), n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(catalog.names(room))}"
            raise InputError(f"there is no {name!r} among the {room}", code="E614", place=source.place(path), hint=hint)
    checks: tuple[tuple[str, list[str], Callable[[str], object]], ...] = (
        ("subjects", model.subjects, SubjectSpec.parse),
        ("checkpoints", list(model.checkpoints), SubjectSpec.parse),
        ("exclusions", model.exclusions, parse_rule),
    )
    for key, entries, read in checks:
        for number, entry in enumerate(entries):
            try:
                read(entry)
            except InputError as error:
                place = source.place((key, entry), of_key=True) if key == "checkpoints" else source.place((key, number))
                raise InputError(error.what, code="E614", place=place, hint=error.hint) from error
