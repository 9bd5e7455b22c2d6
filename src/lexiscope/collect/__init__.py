"""Items × subjects → responses: ask in a fixed order, keep each answer, continue an interrupted run, count replies.

A run folder holds ``question.json`` (the questions and the subjects), ``parts/`` (the finished answers of one subject
to one view, each sealed by a checksum), ``work/`` (finished batches of a part that is not finished yet) and
``responses.parquet`` (all parts in order). Its content depends on the question only, not on interruptions of the run,
nor on the workers: those of an engine (:mod:`lexiscope.collect.engine`) fill ``parts/`` and ``work/``, and this
process answers what they leave open. :func:`collect_run` adds ``run.json``.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol, runtime_checkable

from lexiscope.collect.engine import LOCAL, Executor, engine_of, work_together
from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import CapabilityError, DataError, InputError, LexiscopeError, Place, RunError, SpecError
from lexiscope.core.item import Item, check_unique_ids, items_sha256
from lexiscope.core.prompt import GUIDELINES, Prompted
from lexiscope.core.reply import KINDS, MEASURE_REPLY, ReplyKind
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import folder_lock, read_json, sha256_of, versions, write_atomically
from lexiscope.core.scale import Scale
from lexiscope.core.sealed import (
    PARTS,
    QUESTION,
    RESPONSES,
    RUN,
    WORK,
    part_seals,
    read_sealed,
    run_names,
    seal_run,
    without_seal,
    write_machine,
    write_sealed,
)
from lexiscope.core.settings import Option, Settings
from lexiscope.core.showing import cell_progress
from lexiscope.core.spec import split_options, with_options, without_option
from lexiscope.core.subject import Judges, Recording, Shareable, Subject, SubjectSpec, WorkShare
from lexiscope.core.task import Task
from lexiscope.items.read.item_source import column_map, in_language, load_items, task_of_items
from lexiscope.tasks import DEFAULT
from lexiscope.tasks.kit.words_file import is_words_file

CollectProgress = Callable[[str, int, int], None]
"""Called with the part's name (``encoder:minilm, full``), the number of things done and their total."""
Asked = Subject | SubjectSpec | str


@runtime_checkable
class SeededSubject(Protocol):
    """A subject whose answers depend on the seed of the run."""

    def with_seed(self, seed: int) -> Subject:
        """Return the same subject in a run with this seed."""


@dataclass(frozen=True, slots=True)
class SweepShare:
    """What a collection shares with others of the same command, those of a sweep.

    *work* is the folder of kept replies for the subjects that find them by their whole request: no request is paid
    twice, and a budget holds for all. *others* are run folders of the same items and task with their seeds: a subject
    that knows no seed takes its answers over from them.
    """

    work: Path
    others: Sequence[tuple[Path, int]] = ()


class SubjectsFailed(RunError):
    """Some subjects of a collection failed, and the others were asked: ``errors`` by the name of the subject."""

    def __init__(self, errors: Mapping[str, LexiscopeError]) -> None:
        self.errors = dict(errors)
        super().__init__("; ".join(f"{name}: {error.what}" for name, error in errors.items()))


@runtime_checkable
class Configured(Protocol):
    """A subject that can say how it was run."""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings for the run record, every default written out."""


def ask(
    items: Dataset | Sequence[Item] | Path | str,
    subjects: Sequence[Asked] | Asked,
    task: Task | str | None = None,
    *,
    views: Sequence[str] = ("full",),
    columns: Mapping[str, str] | None = None,
    language: str = "",
    scale: Scale | None = None,
    out: Path | str | None = None,
    seed: int = 0,
    engine: str = "",
    progress: CollectProgress | None = None,
) -> ResponseTable:
    """Ask people's questions of models: each subject each item; return all answers as one table.

    *items* are a dataset or its name, an item file, or items; *subjects* are subjects or their specs
    (``encoder:minilm``). Without a *task* it is that of the dataset, and relatedness for a file or items. *columns* are
    the columns of an item file whose names are not recognised, by part: ``{"sentence_1": "Frase"}``. *language* is the
    language of a file without a column for it; a dataset or items are restricted to this language. *scale* is the
    rating scale that the people of an item file had. With *out*, answers are kept in that run folder, as
    ``lexiscope collect`` keeps them: the same call resumes an interrupted run, and *engine*
    (``processes:4``) names workers. *progress* is called with (part, done,
    total); in a notebook, the cell shows it if none is given.
    Errors: those of :func:`collect`, and :class:`InputError` for a file that does not pass ``lexiscope check``.

    >>> ask("mini_relatedness", "baseline:word_overlap")
    ResponseTable(360 rows, 1 subject, 360 items)
    """
    listed = (subjects,) if isinstance(subjects, str | SubjectSpec | Subject) else tuple(subjects)
    progress = progress or cell_progress()
    checksums: Mapping[str, str] = {}
    if isinstance(items, str | Path):
        task = task_of_items(str(items), task) if task is None or isinstance(task, str) else task
        name = task if isinstance(task, str) else task.name
        source = load_items(str(items), column_map(columns), task=name, language=language, scale=scale)
        asked, checksums = source.items, source.checksums
    elif scale is not None or columns:
        what = "a scale is that" if scale is not None else "columns are those"
        raise InputError(f"{what} of an item file", hint="leave it out: these items have been read")
    elif isinstance(items, Dataset):
        asked = in_language(items.items, items.card.name, language)
        checksums, task = dict(items.checksums), task or items.card.task
    else:
        asked, task = in_language(tuple(items), "this sequence", language), task or DEFAULT
    if out is None:
        return collect(asked, listed, task, views=views, seed=seed, progress=progress)
    return collect_run(
        asked,
        listed,
        task,
        out=Path(out),
        views=views,
        seed=seed,
        checksums=checksums,
        engine=engine,
        progress=progress,
    )


def collect(
    items: Sequence[Item],
    subjects: Sequence[Subject | SubjectSpec | str],
    task: Task | str,
    *,
    views: Sequence[str] = ("full",),
    out: Path | None = None,
    seed: int = 0,
    engine: str = "",
    progress: CollectProgress | None = None,
    finished: Callable[[], None] | None = None,
) -> ResponseTable:
    """Ask every subject every item in every view; return all answers, ordered by subject, view, item, layer.

    *subjects* are subjects or their specs. With *out*, every finished part is kept in that folder and written to
    ``responses.parquet`` at the end; the same call on the same folder continues where it was interrupted, ends
    with identical files, and may ask further subjects or views, or leave some out, but nothing else. Answers that are
    not asked for now stay in the folder and are not in the table. *engine* names the workers
    that fill this folder (:mod:`lexiscope.collect.engine`), which changes no byte of it; the default is the engine that
    the environment variable ``LEXISCOPE_ENGINE`` names, or ``local``. *finished* is called when another part is there.
    Every answer is checked before it is kept (:meth:`~lexiscope.core.task.Task.check_answers`); recorded answers are
    checked before any subject is asked. An answer that fails keeps its subject's answers out of the folder, and no
    others.
    Errors: :class:`CapabilityError` for a subject that cannot answer, before any work starts; :class:`InputError` for
    an item that the task cannot be asked about, before any work starts, and for an answer that the task does not take;
    :class:`RunError` for a folder that another process writes to, that belongs to another question, or whose parts are
    damaged; :class:`SpecError` for an unknown engine.
    """
    return _collect(
        items, subjects, task, views=views, out=out, seed=seed, engine=engine, progress=progress, finished=finished
    )


def _collect(
    items: Sequence[Item],
    subjects: Sequence[Subject | SubjectSpec | str],
    task: Task | str,
    *,
    views: Sequence[str],
    out: Path | None,
    seed: int,
    engine: str,
    progress: CollectProgress | None,
    finished: Callable[[], None] | None,
    files: Mapping[str, str] | None = None,
    shared: SweepShare | None = None,
) -> ResponseTable:
    """Collect as :func:`collect` does; *files* are the checksums of the files that the items came from, for errors.

    With *shared*, a subject that fails does not keep the others from being asked.
    Errors: those of :func:`collect`; with *shared*, :class:`SubjectsFailed` in the end for those of subjects.
    """
    count = _COUNTED.get()
    if count is not None:
        count(items, [_subject(subject, seed) for subject in subjects], task, views, seed, out)
        return ResponseTable.empty()
    question = _collection_of(items, subjects, task, views, seed)
    errors: dict[str, LexiscopeError] = {}

    @contextlib.contextmanager
    def kept_apart(part: _CollectedPart) -> Iterator[None]:
        try:
            yield
        except LexiscopeError as error:
            if shared is None:
                raise
            errors[part.subject.subject_id] = error

    for part in question.parts:
        # what is on record costs nothing to look at: a wrong row is found before hours of work, and before a folder
        # belongs to a file that has to be corrected
        if isinstance(part.subject, Recording):
            with kept_apart(part):
                _ask_part(question, part, None, None)
    if out is None:
        return _join_parts(question, [_ask_part(question, part, None, progress) for part in question.parts])
    workers = engine_of(engine)
    with folder_lock(out):
        _claim_folder(out, question, files or {})
        if shared is not None:
            _take_over(out, question, shared.others)
        _share_out(out, question, workers, progress)
        tables = []
        for part in question.parts:
            if part.subject.subject_id in errors:
                continue
            with kept_apart(part):
                tables.append(_collect_part(out, question, part, progress, shared))
                if finished is not None:
                    finished()
        if errors:
            raise SubjectsFailed(errors)
        table = _join_parts(question, tables)
        table.write_parquet(out / RESPONSES)
    return table


Count = Callable[[Sequence[Item], Sequence[Subject], Task | str, Sequence[str], int, Path | None], None]
"""Called with the items, subjects, task, views, seed and folder of a collection."""
_COUNTED: ContextVar[Count | None] = ContextVar("lexiscope_counted", default=None)


@contextlib.contextmanager
def counting(count: Count) -> Iterator[None]:
    """Have the collections in the block counted: each calls *count*, asks nothing and returns an empty table."""
    token = _COUNTED.set(count)
    try:
        yield
    finally:
        _COUNTED.reset(token)


def kept_answers(
    items: Sequence[Item],
    subject: Subject | SubjectSpec | str,
    task: Task | str,
    *,
    cache: Path,
    view: str = "full",
    seed: int = 0,
    progress: CollectProgress | None = None,
) -> tuple[ResponseTable, Mapping[str, Any]]:
    """Return the answers of one subject to one view, and what it was when it answered: asked once, then kept.

    The answers are in a folder of *cache* whose name is made of all that can change them: the items, the task, the
    view, the subject with its revision, the seed, and the versions of Lexiscope and of the libraries. A call with the
    same content makes no request and loads no model. Of what the subject was: ``facts`` and ``settings``.
    Errors: those of :func:`collect`.
    """
    question = _collection_of(items, [subject], task, (view,), seed)
    (part,) = question.parts
    key = question.key(part)
    folder = cache / _digest({**key, "versions": versions()})
    table = collect(items, [part.subject], question.task, views=(view,), out=folder, seed=seed, progress=progress)
    return table, read_sealed(_seal_path(folder, key))["about"]


def place_of_answers(
    items: Sequence[Item],
    subject: Subject,
    task: Task | str,
    *,
    view: str,
    seed: int,
    out: Path | None = None,
    cache: Path | None = None,
) -> tuple[Path | None, bool]:
    """Return the folder in which the answers of a subject to a view are, or will be, and whether they are finished.

    It is *out*, the folder of a run, or the one that :func:`kept_answers` uses in *cache*. Nothing is asked or written.
    """
    question = _collection_of(items, [subject], task, (view,), seed)
    (part,) = question.parts
    folder = out if cache is None else cache / _digest({**question.key(part), "versions": versions()})
    return folder, folder is not None and _is_sealed(folder, question, part)


def baseline_answers(items: Sequence[Item], spec: str, task: str) -> tuple[ResponseTable, str]:
    """Return the answers of a baseline, which no run has to keep; an empty table and the reason, if it has no data.

    Errors: :class:`CapabilityError` for a subject that does not judge.
    """
    subject = catalog.subject(spec)
    if not isinstance(subject, Judges):
        raise CapabilityError(f"{spec} does not judge items", hint="name a baseline")
    try:
        return subject.judge(items, task), ""
    except DataError as error:
        return ResponseTable.empty(), error.what + (f" ({error.hint})" if error.hint else "")


def collect_run(
    items: Sequence[Item],
    subjects: Sequence[Subject | SubjectSpec | str],
    task: Task | str,
    *,
    out: Path,
    views: Sequence[str] = ("full",),
    seed: Annotated[int, Option("seed of the run", least=0)] = 0,
    command: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    checksums: Mapping[str, str] | None = None,
    engine: str = "",
    progress: CollectProgress | None = None,
    finished: Callable[[], None] | None = None,
    shared: SweepShare | None = None,
) -> ResponseTable:
    """Collect as :func:`collect` does, then write ``run.json`` next to the answers.

    *command* is what the user typed, *settings* are the other values on which the run depends, *checksums* the sha256
    of the data files that the items came from. ``code`` in ``run.json`` holds the sha256 of each Python file by path
    (task, subjects). The same run has the same ``run.json``; how long it took is in ``machine.json``.
    *shared* is what a sweep shares among its runs.
    Errors: those of :func:`collect`; with *shared*, :class:`SubjectsFailed` for subjects, after all were asked.
    """
    begun = time.monotonic()
    check_no_sweep(out)
    asked = [_subject(subject, seed) for subject in subjects]
    task = catalog.task(task) if isinstance(task, str) else task
    table = _collect(
        items,
        asked,
        task,
        views=views,
        out=out,
        seed=seed,
        engine=engine,
        progress=progress,
        finished=finished,
        files=checksums,
        shared=shared,
    )
    question = _collection_of(items, asked, task, views, seed)
    code = {name: sha256 for part in question.parts for name, sha256 in part.code.items()}
    record = {
        "command": list(command),
        "settings": dict(settings or {}),
        "task": task.name,
        **({"given": task.given} if task.given else {}),
        "views": list(views),
        "seed": seed,
        "items": {"n": len(items), "sha256": items_sha256(items), "datasets": sorted({i.dataset for i in items})},
        "subjects": _descriptions(out, question),
        "counts": [_answer_counts(table, items, name) for name in table.unique("subject_id")],
        "data": dict(checksums or {}),
        "versions": versions(),
        **({"code": code} if code else {}),
    }
    seal_run(out, record, run_names(out))
    write_machine(out, time.monotonic() - begun)
    return table


def with_run_options(spec: str, **wanted: str) -> str:
    """Return a spec with those options of a run (``device``, ``threads``) that its kind takes and it does not name.

    A kind that takes some names them in its file's ``RUN_OPTIONS``.

    >>> with_run_options("encoder:minilm?threads=2", device="cpu", threads="1")
    'encoder:minilm?threads=2&device=cpu'
    >>> with_run_options("recorded:ratings.csv", device="cpu")
    'recorded:ratings.csv'
    """
    kind = SubjectSpec.parse(spec).kind
    # an unknown kind is refused where its subject is made
    takes = getattr(catalog.module("subjects", kind), "RUN_OPTIONS", ()) if catalog.has("subjects", kind) else ()
    named = split_options(spec)[1] if takes else {}
    return with_options(spec, {key: value for key, value in wanted.items() if key in takes and key not in named})


def in_wordings(specs: Sequence[str], wordings: Sequence[str], task: Task | None = None) -> tuple[str, ...]:
    """Return the specs of subjects, that of each chat model once for each wording, which its option ``variant`` names.

    A wording is a variant of the task's prompt (``guidelines``), or a file of words. If a *task* has wordings for
    subjects that score texts, theirs are multiplied too; a wording is then one of :attr:`Task.wordings` as well.

    >>> in_wordings(["chat:m@http://h/v1?shots=1", "encoder:minilm"], ["guidelines", "short.yaml"])
    ('chat:m@http://h/v1?shots=1', 'chat:m@http://h/v1?shots=1&variant=short.yaml', 'encoder:minilm')

    Errors: :class:`SpecError` for a subject whose spec names a variant, and wordings without one that takes them.
    """
    asked = {spec for spec in specs if takes_wordings(SubjectSpec.parse(spec).kind, task)}
    if wordings and not asked:
        worded = task is not None and bool(task.wordings)
        who = "chat models, and of models that score texts" if worded else "chat models"
        raise SpecError(f"wordings are those of {who}, and none is asked", hint="add --subject chat:MODEL@URL")
    for spec in asked if wordings else ():
        if without_option(spec, "variant")[1]:
            hint = "leave variant= out: each wording is asked as one"
            raise SpecError(f"{spec} names a variant of the prompt, and wordings are given", hint=hint)
    made: list[str] = []
    for spec in specs:
        usual = default_wording(SubjectSpec.parse(spec).kind, task)
        own = wordings if spec in asked and wordings else (usual,)
        made += [with_options(spec, {} if wording == usual else {"variant": wording}) for wording in own]
    return tuple(made)


def takes_wordings(kind: str, task: Task | None = None) -> bool:
    """Whether subjects of a kind have wordings: chat models; those that score texts if the task has wordings.

    >>> takes_wordings("chat"), takes_wordings("causal_lm"), takes_wordings("causal_lm", catalog.task("same_sense"))
    (True, False, True)
    """
    module = catalog.module("subjects", kind) if catalog.has("subjects", kind) else None
    if getattr(module, "CONVERSES", False):
        return True
    return task is not None and bool(task.wordings) and getattr(module, "WORDED", False)


def default_wording(kind: str, task: Task | None = None) -> str:
    """Return the wording in which a subject of a kind is asked where it names none.

    >>> default_wording("chat"), default_wording("causal_lm", catalog.task("same_sense"))
    ('guidelines', 'question')
    """
    chats = not catalog.has("subjects", kind) or getattr(catalog.module("subjects", kind), "CONVERSES", False)
    return GUIDELINES if chats or task is None or not task.wordings else task.wordings[0]


def live_subjects(specs: Sequence[str], settings: Settings, task: str = "") -> list[Subject]:
    """Return the subjects of a study, on its device and threads unless a spec names its own, and with its seed.

    Subjects with wordings are one in each wording of the study: chat models and, of a *task* that words its
    questions for them, models that score texts. Errors: those of the subjects, and of :func:`in_wordings`.
    """
    run = {"device": settings.device, "threads": str(settings.threads)}
    worded = in_wordings(specs, settings.wordings, catalog.task(task) if task else None)
    return [_subject(with_run_options(spec, **run), settings.seed) for spec in worded]


def subject_files(specs: Sequence[str], wordings: Sequence[str] = ()) -> tuple[Path, ...]:
    """Return the files that the answers of subjects depend on: their own (recorded answers), and files of words.

    A kind whose subjects are files names them in its module's ``files_of``. The files of words are those that specs
    name as a variant, and those of *wordings*.

    >>> subject_files(["recorded:ratings.csv", "baseline:random"])
    (PosixPath('ratings.csv'),)
    """
    parsed = [SubjectSpec.parse(text) for text in specs]
    kinds = {spec.kind: catalog.module("subjects", spec.kind) for spec in parsed if catalog.has("subjects", spec.kind)}
    named = (getattr(kinds[spec.kind], "files_of", lambda _: ())(spec) for spec in parsed if spec.kind in kinds)
    variants = (*(without_option(text, "variant")[1] for text in specs), *wordings)
    words = (Path(variant).expanduser() for variant in variants if is_words_file(variant))
    return (*(path for paths in named for path in paths), *words)


# -- the question ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CollectedPart:
    """One subject asked in one view: what is computed, kept and continued as a whole."""

    subject: Subject
    view: str
    revision: str
    code: Mapping[str, str]

    @property
    def name(self) -> str:
        return f"{self.subject.subject_id}, {self.view}"


@dataclass(frozen=True, slots=True)
class _Collection:
    """The items, the task and the parts of a collection."""

    items: tuple[Item, ...]
    task: Task
    seed: int
    sha256: str
    parts: tuple[_CollectedPart, ...]

    def key(self, part: _CollectedPart) -> dict[str, Any]:
        """Return everything that can change the answers of a part."""
        # a file of the user's own that was changed asks, or answers, another question
        code = {"code": dict(part.code)} if part.code else {}
        return code | {
            "items": self.sha256,
            "n_items": len(self.items),
            "task": self.task.name,
            **({"given": self.task.given} if self.task.given else {}),
            "seed": self.seed,
            "subject": part.subject.subject_id,
            "kind": part.subject.kind,
            "revision": part.revision,
            "view": part.view,
        }


def _collection_of(
    items: Sequence[Item],
    subjects: Sequence[Subject | SubjectSpec | str],
    task: Task | str,
    views: Sequence[str],
    seed: int,
) -> _Collection:
    asked = [_subject(subject, seed) for subject in subjects]
    question = catalog.task(task) if isinstance(task, str) else task
    if not items or not asked or not views:
        raise InputError("nothing to ask: items, subjects and views need at least one entry each")
    check_unique_ids(tuple(items))
    for name, values in (("subject", [subject.subject_id for subject in asked]), ("view", list(views))):
        if len(set(values)) < len(values):
            raise InputError(f"the same {name} is asked twice: {', '.join(values)}")
    for subject in asked:
        question.answer_function(subject)
    for item in items:
        question.check_item(item)
    parts = tuple(
        _CollectedPart(
            subject,
            view,
            subject.facts.revision,
            {**catalog.code_checksums([question.name, subject.subject_id]), **_words_checksum(subject)},
        )
        for subject in asked
        for view in views
    )
    return _Collection(tuple(items), question, seed, items_sha256(items), parts)


def _words_checksum(subject: Subject) -> Mapping[str, str]:
    """The sha256 of the file of words that a subject is asked in: a file that was changed asks another question."""
    variant = subject.prompting.variant if isinstance(subject, Prompted) else ""
    path = Path(variant).expanduser()
    return {variant: sha256_of(path)} if is_words_file(variant) and path.is_file() else {}


def _subject(subject: Subject | SubjectSpec | str, seed: int) -> Subject:
    loaded = catalog.subject(subject) if isinstance(subject, str | SubjectSpec) else subject
    return loaded.with_seed(seed) if isinstance(loaded, SeededSubject) else loaded


def _claim_folder(out: Path, question: _Collection, files: Mapping[str, str]) -> None:
    """Check that the folder is new or belongs to this question, and note the question in it."""
    _check_folder(out, question, files)
    path = out / QUESTION
    now = [question.key(part) for part in question.parts]
    if not path.is_file() or read_sealed(path).get("parts") != now:
        write_sealed(path, {"parts": now})


def _check_folder(out: Path, question: _Collection, files: Mapping[str, str]) -> None:
    """Check that the folder is new or belongs to this question; nothing is written.

    A folder may hold answers of further subjects and views to the same question: they are kept. A part without answers
    (its subject failed) does not bind the folder.
    """
    path = out / QUESTION
    if not path.is_file():
        if (out / RESPONSES).exists():
            what = f"this folder holds {RESPONSES} but no {QUESTION}"
            raise RunError(what, place=Place(str(out)), hint="name another folder")
        return
    delete = f"delete {path} and {out / RESPONSES}"
    read_sealed(path, hint=f"{delete}, then run the same command again: it continues")
    now = [question.key(part) for part in question.parts]
    kept = _kept_keys(out)
    asked = {(key["subject"], key["view"]): key for key in now}
    changed = next((key for key in kept if asked.get((key["subject"], key["view"]), key) != key), None)
    changed = changed or next((key for key in kept if any(key.get(name) != now[0].get(name) for name in _SHARED)), None)
    hint = "name another folder"
    if changed is None and kept and not any(key in now for key in kept):
        changed = kept[0]
        hint += ", or ask the subjects and views of this one, too: what is answered is not asked again"
    if changed is not None:
        raise RunError(
            "this run folder belongs to another question",
            place=Place(str(path)),
            why=_difference(changed, now, _changed_files(out, files)),
            hint=hint,
        )


_SHARED = ("items", "n_items", "task", "given", "seed")
"""What all parts of a folder have in common."""


def _kept_keys(out: Path) -> list[dict[str, Any]]:
    """Return the keys of the finished parts of a folder; a damaged seal is found where its part is read."""
    keys = []
    for path in sorted((out / PARTS).glob("*.json")):
        with contextlib.suppress(RunError):
            keys.append(read_sealed(path)["key"])
    return keys


def kept_besides(out: Path) -> list[str]:
    """Return the names (subject, view) of the finished parts of a folder that are not part of its run.

    Errors: :class:`RunError` for a damaged question or seal.
    """
    keys = [seal["key"] for _, seal, is_asked in part_seals(out) if not is_asked]
    return [f"{key['subject']}, {key['view']}" for key in keys]


def check_no_sweep(out: Path) -> None:
    """Check that a folder is not that of a sweep, whose record a single run would replace.

    Errors: :class:`RunError`.
    """
    if (out / RUN).is_file() and "sweep" in read_json(out / RUN):
        what = "this is the folder of a sweep: a single run would replace its record"
    elif not (out / QUESTION).is_file() and (other := next(out.glob(f"*/{QUESTION}"), None)) is not None:
        what = f"this folder holds other run folders, such as {other.parent.name}"
    else:
        return
    raise RunError(what, place=Place(str(out)), hint="name another folder for this run")


def _difference(before: Mapping[str, Any], now: Sequence[Mapping[str, Any]], files: Sequence[str]) -> str:
    """Name the difference between a part of the folder and the nearest part that is asked now."""
    same = [part for part in now if (part["subject"], part["view"]) == (before["subject"], before["view"])]
    nearest = max(
        same or now, key=lambda part: sum(part[name] == value for name, value in before.items() if name in part)
    )
    differing = [name for name in before if before[name] != nearest.get(name)]
    said = {name: f"{name} was {before[name]!r} and is now {nearest.get(name)!r}" for name in differing}
    if "items" in said:
        # a checksum of items means nothing to a reader
        origin = f" (read from {', '.join(files)})" if files else ""
        said["items"] = f"the items{origin} have changed"
    return "; ".join(said.values())


def _changed_files(out: Path, files: Mapping[str, str]) -> list[str]:
    """Return the names of the files that are not as in the record of the folder; all if it has none of them."""
    before = read_json(out / RUN).get("data", {}) if (out / RUN).is_file() else {}
    return [name for name, sha256 in files.items() if before.get(name) != sha256] or list(files)


# -- the answers ----------------------------------------------------------------------------------------------


def _ask_part(
    question: _Collection, part: _CollectedPart, work: Path | None, progress: CollectProgress | None
) -> ResponseTable:
    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(part.name, done, total)

    return question.task.answer(question.items, part.subject, view=part.view, work=work, progress=tell)


def _collect_part(
    out: Path,
    question: _Collection,
    part: _CollectedPart,
    progress: CollectProgress | None,
    shared: SweepShare | None = None,
) -> ResponseTable:
    """Return the answers of a part: kept ones where it is finished, else new ones, kept from now on."""
    work = work_of(part.subject, out, shared)
    key = question.key(part)
    seal_path = _seal_path(out, key)
    table_path = seal_path.with_suffix(".parquet")
    if seal_path.is_file():
        hint = f"delete it and {seal_path.with_suffix('.parquet').name}, then run the same command again"
        return _read_part(table_path, read_sealed(seal_path, hint=hint), key)
    if isinstance(part.subject, Shareable):
        table = _ask_part(question, part, work, progress)
    else:
        # a job of a cluster may have outlived the process that began it: nobody is asked by two at a time
        with folder_lock(work / _digest({"subject": part.subject.subject_id})):
            table = _ask_part(question, part, work, progress)
    table.write_parquet(table_path)
    settings = part.subject.settings if isinstance(part.subject, Configured) else {}
    # the seal comes last: a part without one is not finished
    sealed = {
        "key": key,
        "sha256": sha256_of(table_path),
        "rows": len(table),
        "about": {"facts": asdict(part.subject.facts), "settings": settings},
    }
    write_sealed(seal_path, sealed)
    return table


def work_of(subject: Subject, out: Path, shared: SweepShare | None) -> Path:
    """Return the folder in which a subject keeps what is finished of a part: that of a sweep if it may share it."""
    return shared.work if shared is not None and is_kept_by_request(subject) else out / WORK


def is_kept_by_request(subject: Subject) -> bool:
    """Whether the replies of a subject are found by their whole request: its kind says so."""
    kind = SubjectSpec.parse(subject.subject_id).kind
    module = catalog.module("subjects", kind) if catalog.has("subjects", kind) else None
    # a model of this machine keeps batches, which depend on what is asked together
    return bool(getattr(module, "KEPT_BY_REQUEST", False)) and not isinstance(subject, Shareable)


def knows_no_seed(subject: Subject) -> bool:
    """Whether a subject is asked, and gives the same answers in a run with any seed."""
    return not isinstance(subject, SeededSubject | Recording)


def _take_over(out: Path, question: _Collection, others: Sequence[tuple[Path, int]]) -> None:
    """Copy finished parts of subjects that know no seed from run folders of the same question with another seed."""
    for part in question.parts:
        key = question.key(part)
        seal_path = _seal_path(out, key)
        if not knows_no_seed(part.subject) or seal_path.is_file():
            continue
        for other, seed in others:
            old = _seal_path(other, key | {"seed": seed})
            # a part that is damaged is found, and reported, where it belongs
            with contextlib.suppress(RunError):
                if old.is_file():
                    seal = read_sealed(old)
                    _read_part(old.with_suffix(".parquet"), seal, key | {"seed": seed})
                    write_atomically(seal_path.with_suffix(".parquet"), old.with_suffix(".parquet").read_bytes())
                    write_sealed(seal_path, {**without_seal(seal), "key": key})
                    break


def _seal_path(out: Path, key: Mapping[str, Any]) -> Path:
    return out / PARTS / f"{_digest(key)}.json"


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


def _read_part(path: Path, seal: Mapping[str, Any], key: Mapping[str, Any]) -> ResponseTable:
    actual = sha256_of(path) if path.is_file() else "nothing"
    if seal.get("key") != key or seal.get("sha256") != actual:
        raise RunError(
            "this part of a run is damaged",
            place=Place(str(path)),
            why=f"sha256 {actual}, expected {seal.get('sha256')}",
            hint=f"delete it and {path.with_suffix('.json').name}, then run the same command again",
        )
    return ResponseTable.read_parquet(path)


def _join_parts(question: _Collection, tables: Sequence[ResponseTable]) -> ResponseTable:
    """Concatenate the parts; refuse two subjects that answer under one id."""
    owner: dict[str, str] = {}
    for part, table in zip(question.parts, tables, strict=True):
        for name in table.unique("subject_id"):
            if owner.setdefault(name, part.subject.subject_id) != part.subject.subject_id:
                raise InputError(f"{owner[name]} and {part.subject.subject_id} both hold answers of {name!r}")
    return ResponseTable.concat(tables)


# -- the same answers by several workers ---------------------------------------------------------------------------
# The plan is the list of parts; what is missing is the plan without the seals. A part of a subject that keeps its
# batches by their content can be answered by several workers at once; another is answered by one. No worker has to
# survive: what is missing in the end is answered by the process that gave the orders. An exception of a subject ends
# the work and is raised by that process, which asks no subject again that has failed.


@dataclass(frozen=True, slots=True)
class _WorkOrder:
    """What a worker is sent: the collection, with the subjects not loaded, and its share of it."""

    place: Path
    out: Path
    items: tuple[Item, ...]
    subjects: tuple[Subject | str, ...]
    task: str
    views: tuple[str, ...]
    seed: int
    share: WorkShare


def _share_out(out: Path, question: _Collection, chosen: Executor | None, progress: CollectProgress | None) -> None:
    """Have the workers of an engine answer what is missing; paid requests and recorded answers stay here."""
    if chosen is None:
        return
    sent = [
        part
        for part in question.parts
        if not isinstance(part.subject, Recording) and not SubjectSpec.parse(part.subject.subject_id).url
    ]
    if all(_is_sealed(out, question, part) for part in sent):
        return
    n_workers = chosen.resources()
    task = catalog.task_place(question.task.name)
    if not catalog.has("tasks", task) or catalog.task(task) != question.task:
        what = f"the task {question.task.name!r} was made or changed in this process: no other process can ask it"
        raise InputError(what, hint=f"use the engine {LOCAL}")
    parts = {part.subject.subject_id: part for part in sent}
    views = tuple(dict.fromkeys(part.view for part in sent))
    orders = [
        _WorkOrder(
            Path.cwd(),
            out.absolute(),
            question.items,
            tuple(_sent_subject(part, share) for part in parts.values()),
            task,
            views,
            question.seed,
            share,
        )
        for share in (WorkShare(number, n_workers) for number in range(n_workers))
    ]

    def tell() -> None:
        done = sum(_is_sealed(out, question, part) for part in sent)
        if progress is not None:
            progress(f"{n_workers} workers", done, len(sent))

    work_together(chosen, _work, orders, wait=tell)


def _work(order: _WorkOrder) -> None:
    """Answer the parts of a worker, then help with those of others; a folder's own errors are met again by the rest."""
    # models and files are named from where the orders are given
    with contextlib.chdir(order.place):
        question = _collection_of(order.items, order.subjects, order.task, order.views, order.seed)
        for part in _parts_of_worker(question.parts, order.share):
            with contextlib.suppress(RunError):
                if not _is_sealed(order.out, question, part):
                    _collect_part(order.out, question, part, None)


def _parts_of_worker(parts: Sequence[_CollectedPart], share: WorkShare) -> list[_CollectedPart]:
    """Return the parts that a worker answers, in order: its own, then those of others that can be shared.

    Every part has one owner. All parts of a subject that keeps no batches by their content have the same.
    """
    first = {part.subject.subject_id: number for number, part in reversed(list(enumerate(parts)))}
    shared = [isinstance(part.subject, Shareable) for part in parts]
    owners = [
        (number if shared[number] else first[part.subject.subject_id]) % share.of for number, part in enumerate(parts)
    ]
    own = [part for part, owner in zip(parts, owners, strict=True) if owner == share.number]
    others = [n for n, owner in enumerate(owners) if owner != share.number and shared[n]]
    # each begins to help with another one
    others.sort(key=lambda n: (n - share.number) % len(parts))
    return [*own, *(parts[n] for n in others)]


def _sent_subject(part: _CollectedPart, share: WorkShare) -> Subject | str:
    """A subject as a worker gets it: one of a file of code by its name, another as it is, not loaded."""
    if catalog.code_checksums([part.subject.subject_id]):
        return part.subject.subject_id
    return part.subject.with_share(share) if isinstance(part.subject, Shareable) else part.subject


def _is_sealed(out: Path, question: _Collection, part: _CollectedPart) -> bool:
    return _seal_path(out, question.key(part)).is_file()


# -- the record -----------------------------------------------------------------------------------------------


def _descriptions(out: Path, question: _Collection) -> list[dict[str, Any]]:
    """What each subject was when it answered: a subject whose answers were kept has not run again and knows less.

    What a subject paid is the sum over its parts.
    """
    abouts: dict[str, dict[str, Any]] = {}
    for part in question.parts:
        name, about = part.subject.subject_id, read_sealed(_seal_path(out, question.key(part)))["about"]
        before = abouts.get(name, {}).get("settings", {}).get("account")
        if before is not None:
            about["settings"]["account"] = _sum_of_accounts(before, about["settings"]["account"])
        abouts[name] = about
    return list(abouts.values())


def _sum_of_accounts(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two parts of one subject paid together: numbers and counts are added, lists joined.

    >>> _sum_of_accounts({"replies": 2, "cost": None, "by": {"m": 2}, "sent": ["a"]},
    ...                  {"replies": 1, "cost": None, "by": {"m": 1}, "sent": []})
    {'replies': 3, 'cost': None, 'by': {'m': 3}, 'sent': ['a']}
    """
    return {name: _sum_of(value, second[name]) for name, value in first.items()}


def _sum_of(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return None
    if isinstance(first, Mapping):
        return dict(sorted((Counter(first) + Counter(second)).items()))
    return sorted({*first, *second}) if isinstance(first, list) else first + second


def scoring_routes(out: Path) -> tuple[Mapping[str, Any], ...]:
    """Return how the subjects of a collection computed their answers, as the seals of its parts say.

    One entry for each part: ``subject``, and what the subject says of itself (policy, route, tokens).
    """
    if not any((out / PARTS).glob("*.json")):
        return ()
    # the folder may keep answers that are not part of its run
    seals = [seal for _, seal, is_asked in part_seals(out) if is_asked]
    return tuple({"subject": seal["key"]["subject"], **seal["about"]["settings"]} for seal in seals)


def _answer_counts(table: ResponseTable, items: Sequence[Item], name: str) -> dict[str, Any]:
    rows = table.where(subject_id=name)
    return {
        "subject": name,
        "items_asked": len(items),
        "items_answered": len(set(rows.unique("item_id"))),
        "rows": len(rows),
        "rows_without_value": len(rows.where(value=None)),
    }


# -- what is planned ---------------------------------------------------------------------------------------------------


def planned_parts(
    items: Sequence[Item],
    subjects: Sequence[Subject | SubjectSpec | str],
    task: Task | str,
    *,
    out: Path,
    views: Sequence[str] = ("full",),
    seed: int = 0,
    checksums: Mapping[str, str] | None = None,
) -> list[dict[str, object]]:
    """Return one row per part of a collection, in order: ``subject``, ``view``, and whether *out* has it ``finished``.

    No model is loaded and nothing is written. *checksums* are those of :func:`collect_run`.
    Errors: those of :func:`collect` before any work starts, also for a folder that belongs to another question.
    """
    question = _collection_of(items, subjects, task, views, seed)
    _check_folder(out, question, checksums or {})
    return [
        {"subject": part.subject.subject_id, "view": part.view, "finished": _is_sealed(out, question, part)}
        for part in question.parts
    ]


# -- how many replies of chat models could be read, and why the others could not ------------------------------------


def count_replies(table: ResponseTable) -> dict[tuple[str, str | None], dict[ReplyKind, int]]:
    """Count the replies of every subject that was prompted, by subject and view, in the order of the table.

    Every kind of reply has its count, also 0. Subjects without replies (people, encoders) are not in it: all that they
    answered was read.

    >>> columns = {"subject_id": "chat:m@http://h", "subject_kind": "chat", "task": "plausibility", "measure": "reply"}
    >>> kinds = {"item_id": ["a", "b", "c"], "option": ["ok", "refusal", "ok"], "value": [1.0, 0.0, 1.0]}
    >>> (counts,) = count_replies(ResponseTable.from_columns(columns | kinds)).values()
    >>> {kind: count for kind, count in counts.items() if count}
    {'ok': 2, 'refusal': 1}
    """
    replies = table.where(measure=MEASURE_REPLY)
    counts: dict[tuple[str, str | None], dict[ReplyKind, int]] = {}
    for subject in replies.unique("subject_id"):
        of_subject = replies.where(subject_id=subject)
        for view in of_subject.unique("view"):
            kinds = Counter(of_subject.where(view=view).column("option").tolist())
            counts[str(subject), view] = {kind: kinds[kind] for kind in KINDS}
    return counts
