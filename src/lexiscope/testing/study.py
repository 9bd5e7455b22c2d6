"""Contracts of a study: its questions, what its paper prints and claims, and its run on settings that need no data."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.errors import SpecError
from lexiscope.core.result import Record, parse_statistic, read_records
from lexiscope.core.run import manifest, read_json
from lexiscope.core.settings import Settings, settings_of
from lexiscope.studies.kit.study import Study
from lexiscope.testing.contract import hold, named, repeated

_RESULTS = "results.json"


class LoadedStudy:
    """A study under the name or path by which it is loaded, with the settings and the folder of its run."""

    def __init__(self, name: str, folder: Path, settings: Settings | None = None) -> None:
        self.name, self.folder = name, folder
        study = catalog.study(name)
        if not isinstance(study, Study):
            what = f"the study {name} is a module that runs itself: the kit checks a Study (lexiscope.Study)"
            raise SpecError(what, hint="define study = Study(…) in the file")
        self.study = study
        self.settings = settings if settings is not None else study.MINI

    def run(self, folder: str = "run") -> Path:
        """Run the study into a folder, once, and return that folder."""
        path = self.folder / folder
        self.study.run(self.settings, path, command="lexiscope.testing")
        return path

    def records(self) -> tuple[Record, ...]:
        """Return the records of the run."""
        return tuple(read_records(self.run() / _RESULTS))


def check_study(name: str, *, settings: Settings | None = None, only: str = "") -> tuple[str, ...]:
    """Hold a study to :data:`STUDY_CONTRACTS` and return the names of the contracts that it keeps.

    *name* is that of an entry point, or the path of a file. The study is run twice in a temporary folder, with
    *settings* or else with its ``mini`` settings: they should give an answer to every question, and need no network.
    *only* names a single contract.
    Errors: :class:`ContractError` with everything that is broken; :class:`SpecError` for a module without a ``Study``;
    those of the catalog, the data and the questions.
    """
    with tempfile.TemporaryDirectory() as folder:
        return hold(f"study {name}", LoadedStudy(name, Path(folder), settings), STUDY_CONTRACTS, only)


def questions_are_asked(loaded: LoadedStudy) -> Iterator[str]:
    """There are questions, with unique IDs, a question mark and the mark "exploratory"; the module has a docstring.

    A question becomes confirmatory by a signed plan, not by its study.
    """
    study = loaded.study
    if not catalog.summary("studies", loaded.name):
        yield "the module has no docstring: lexiscope list studies has nothing to show"
    if not study.QUESTIONS:
        yield "the study has no question"
    yield from (f"the question {name} is there twice" for name in repeated(q.question_id for q in study.QUESTIONS))
    for question in study.QUESTIONS:
        if not question.text.endswith("?"):
            yield f"{question.question_id} does not end with a question mark: {question.text!r}"
        if question.analysis != "exploratory":
            yield f"{question.question_id} is marked {question.analysis}"
    if not all(citation.strip() for citation in study.citations):
        yield "a citation is empty"


def settings_say_what_they_are(loaded: LoadedStudy) -> Iterator[str]:
    """Each setting of the study says what it is, and ``mini`` is of the class of the study's settings."""
    kind = loaded.study.SETTINGS
    yield from (f"the setting {setting.name} has no text (about)"
                for setting in settings_of(kind) if not setting.option.about)  # fmt: skip
    if type(loaded.study.MINI) is not kind:
        yield f"mini is a {type(loaded.study.MINI).__name__}, the study's settings are {kind.__name__}"


def printed_numbers_have_a_place(loaded: LoadedStudy) -> Iterator[str]:
    """Each printed number has a place and a known statistic, and no two belong to one record."""
    for dataset, values in loaded.study.PUBLISHED.items():
        keys = [(value.statistic, value.subject, value.layer, value.condition, value.view) for value in values]
        yield from (f"two printed numbers of {dataset} are {key}" for key in repeated(keys))
        for value in values:
            where = f"the printed number {value.printed} of {dataset} ({value.statistic})"
            if not value.place:
                yield f"{where} has no place"
            if not math.isfinite(value.number):
                yield f"{where} is not a number"
            if parse_statistic(value.statistic)[0] not in loaded.study.STATISTICS:
                yield f"{where} is of a statistic without a meaning: give it in Study(meanings={{…}})"


def claims_name_a_question(loaded: LoadedStudy) -> Iterator[str]:
    """Each claim has a place and a question of the study, is there once, and its rule names known statistics."""
    study = loaded.study
    claims = list(dict.fromkeys(claim for own in study.CLAIMS.values() for claim in own))
    asked = {question.question_id for question in study.QUESTIONS}
    yield from (f"two claims are {key}" for key in repeated((claim.text, claim.datasets) for claim in claims))
    for claim in claims:
        if claim.question not in asked:
            yield f"the claim {claim.text!r} names {claim.question}, which is not a question of the study"
        for term in (term for comparison in claim.rule for term in (comparison.left, comparison.right)):
            if term.number is None and parse_statistic(term.statistic)[0] not in study.STATISTICS:
                yield f"the claim {claim.text!r} names {term.statistic}, a statistic without a meaning"


def run_is_sealed(loaded: LoadedStudy) -> Iterator[str]:
    """The run folder has results and a report, and ``run.json`` has the sha256 of every file as it is."""
    folder = loaded.run()
    files = read_json(folder / "run.json")["files"]
    for name, sha256 in manifest(folder, files).items():
        if files[name] != sha256:
            yield f"{name} is not the file whose sha256 is in run.json"
    yield from (f"there is no {name}" for name in (_RESULTS, "report.html") if not (folder / name).is_file())


def every_question_has_an_answer(loaded: LoadedStudy) -> Iterator[str]:
    """Each question has a record with a value; a record without a value has a note with the reason."""
    records = loaded.records()
    answered = Counter(record.question for record in records if record.value is not None)
    for question in loaded.study.QUESTIONS:
        if not answered[question.question_id]:
            yield f"{question.question_id} has no record with a value: {question.text}"
    yield from (f"{record.statistic} of {record.subject or 'people'} has neither a value nor a note"
                for record in records if record.value is None and not record.note)  # fmt: skip


def records_have_their_own_names(loaded: LoadedStudy) -> Iterator[str]:
    """No two records have one name, and each statistic has a meaning: that of all studies, or the study's own."""
    records = loaded.records()
    keys = [(r.statistic, r.subject, r.dataset, r.layer, r.condition, r.view) for r in records]
    yield from (f"two records are {key}" for key in repeated(keys))
    names = {parse_statistic(record.statistic)[0] for record in records}
    for name in sorted(names - set(loaded.study.STATISTICS)):
        yield f"the statistic {name} has no meaning: give it in Study(meanings={{…}})"


def results_are_the_same_again(loaded: LoadedStudy) -> Iterator[str]:
    """A second run with the same settings, in another folder, gives an identical ``results.json``."""
    first, second = loaded.run(), loaded.run("again")
    if (first / _RESULTS).read_bytes() != (second / _RESULTS).read_bytes():
        pairs = zip(read_records(first / _RESULTS), read_records(second / _RESULTS), strict=False)
        other = next((record.statistic for record, again in pairs if record != again), "their number")
        yield f"{_RESULTS} is another the second time (first difference: {other})"


STUDY_CONTRACTS = named(
    questions_are_asked,
    settings_say_what_they_are,
    printed_numbers_have_a_place,
    claims_name_a_question,
    run_is_sealed,
    every_question_has_an_answer,
    records_have_their_own_names,
    results_are_the_same_again,
)
"""The contracts of a study by their names."""
