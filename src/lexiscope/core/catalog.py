"""The catalog: the available datasets, tasks, subjects and studies, and where they come from.

A name is looked up in three places: the package's own rooms (a file or folder in ``datasets/``, ``tasks/``,
``subjects/`` or ``studies/``; names that start with an underscore are not in the catalog), the entry points
``lexiscope.datasets``, ``lexiscope.tasks``, ``lexiscope.subjects`` and ``lexiscope.studies`` of installed
distributions, and, if it is a path to a ``.py`` file or to a folder with an ``__init__.py``, in that file. Nothing is
registered by hand.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import os
import pkgutil
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, cast

from lexiscope.core.code_file import assigned, assigned_text, code_sha256, is_path, load_file
from lexiscope.core.errors import LexiscopeError, Place, SpecError, nearest_name
from lexiscope.core.spec import CAPABILITY_NAMES, SubjectSpec, plain_name, split_options

if TYPE_CHECKING:
    # datasets and tasks bring pyarrow, subjects numpy, which listing names does not need
    from importlib.metadata import EntryPoint, EntryPoints

    from lexiscope.core.dataset import Dataset, DatasetCard
    from lexiscope.core.screen import Screen
    from lexiscope.core.settings import Settings
    from lexiscope.core.subject import Subject
    from lexiscope.core.task import Task

Kind = Literal["datasets", "tasks", "subjects", "studies"]
_KIT = "kit"
"""The folder of a room that holds what its entries share: no entry itself."""
KINDS: tuple[Kind, ...] = ("datasets", "tasks", "subjects", "studies")
PACKAGE = "lexiscope"

_SINGULAR: dict[Kind, str] = {"datasets": "dataset", "tasks": "task", "subjects": "kind of subject", "studies": "study"}
_HOMES: dict[str, Path] = {}
"""Name on a card -> the folder of its dataset, for datasets that are not the package's own."""
_TASK_FILES: dict[str, str] = {}
"""Name of a task -> the path by which it was loaded: subjects are told a task's name, not its file."""


def names(kind: Kind) -> tuple[str, ...]:
    """Return the names in one room of the catalog, those of entry points included, sorted, without importing them."""
    return tuple(sorted({*_own_names(kind), *_entry_points(kind)}))


def has(kind: Kind, name: str) -> bool:
    """Whether a name is in the catalog or is a path to Python code; options behind a name are not looked at.

    >>> has("datasets", "am2ico?language=zh"), has("datasets", "my_norms.py"), has("datasets", "ratings.csv")
    (True, True, False)
    """
    plain = plain_name(name)
    return is_path(plain) or plain in _own_names(kind) or plain in _entry_points(kind)


def origin(kind: Kind, name: str) -> str:
    """Return the distribution that a name comes from: ``lexiscope``, or that of its entry point.

    Errors: :class:`SpecError` for an unknown name, and for a name that two of them have.
    """
    entry = _entry_point(kind, name)
    return PACKAGE if entry is None else _distribution(entry)


def summary(kind: Kind, name: str) -> str:
    """Return the first sentence of the docstring of a place; of the package's own, read as text.

    If an entry of another distribution cannot be used, it is the reason: a list of all entries is still complete.
    """
    if is_path(name):
        doc = inspect.getdoc(module(kind, name)) or ""
    elif name in _entry_points(kind):
        try:
            doc = inspect.getdoc(module(kind, name)) or ""
        except SpecError as error:
            doc = f"cannot be used: {error.what}"
    elif name not in _own_names(kind):
        raise unknown_name(kind, name)
    else:
        # the docstring of the file, which is read no further
        blank = (tokenize.COMMENT, tokenize.NL)
        with tokenize.open(_source(kind, name)) as lines:
            first = next(token for token in tokenize.generate_tokens(lines.readline) if token.type not in blank)
        doc = inspect.cleandoc(ast.literal_eval(first.string)) if first.type == tokenize.STRING else ""
    return doc.split("\n\n")[0].replace("\n", " ").strip()


def module(kind: Kind, name: str) -> Any:
    """Return what a name or path refers to: the module, or the object that an entry point names.

    Errors: :class:`SpecError` with the nearest known name; for a name that two distributions have; for a file or an
    entry point that cannot be loaded or is without a name that its kind needs.
    """
    if kind == "tasks" and name in _TASK_FILES:
        name = _TASK_FILES[name]
    if is_path(name):
        file_module = load_file(name)
        _check_foreign(kind, file_module, Place(name))
        if kind == "tasks":
            _remember_task(file_module.TASK.name, name)
        return file_module
    entry = _entry_point(kind, name)
    if entry is None:
        return importlib.import_module(f"lexiscope.{kind}.{_own_modules(kind)[name]}")
    loaded, place = _load_entry_point(kind, entry), Place(f"{entry.value} ({_distribution(entry)})")
    _check_foreign(kind, loaded, place)
    _check_name(kind, loaded, name, place)
    return loaded


def study(name: str) -> object:
    """Return a study: the object ``study`` of its file, or the file itself if it has none.

    Errors: those of :func:`module`.
    """
    loaded = module("studies", name)
    return getattr(loaded, "study", loaded)


def code_checksums(values: Iterable[str]) -> dict[str, str]:
    """Return the sha256 of each file by path that is named: by itself, in a spec or id of a subject, or as a task.

    A file that is not there is skipped: loading it is an error.

    >>> code_checksums(["raw_c", "encoder:minilm", "recorded:ratings.csv"])
    {}
    """
    checksums: dict[str, str] = {}
    for value in values:
        named = [_TASK_FILES.get(value, plain_name(value))]
        try:
            spec = SubjectSpec.parse(value)
        except SpecError:
            pass  # no spec: the name of a dataset, a task or a study
        else:
            named += [spec.kind, *([plain_name(spec.name)] if spec.kind == "recorded" else [])]
        checksums |= {path: code_sha256(path) for path in named if is_path(path) and Path(path).expanduser().exists()}
    return checksums


def folder_of_dataset(dataset: str) -> Path | None:
    """Return the folder of a dataset that was loaded by path or from an entry point; ``None`` for the package's own."""
    return _HOMES.get(dataset)


def card(name: str) -> DatasetCard:
    """Return the card of a dataset; options behind its name are not looked at."""
    return cast("DatasetCard", module("datasets", plain_name(name)).CARD)


def card_texts(name: str, *fields: str) -> dict[str, str]:
    """Return fields of a dataset's card that are texts; of the package's own, read from its file as text.

    A list of all datasets comes at once: none is imported, with the readers that it brings.
    """
    texts: dict[str, str | None] = {}
    if name in _own_names("datasets"):
        path = _source("datasets", name)
        given = _keywords(assigned(path, "CARD"))
        texts = {field: assigned_text(path, given.get(field)) for field in fields}
    return {field: text if (text := texts.get(field)) is not None else getattr(card(name), field) for field in fields}


def dataset(name: str) -> Dataset:
    """Load a dataset: items, recorded answers, checksums.

    Options follow a question mark, as in the spec of a subject: ``am2ico?language=zh``. A dataset's ``OPTIONS`` are
    those that it has.
    Errors: :class:`SpecError` for an option that it does not have; those of the dataset's ``load``.
    """
    plain, options = split_options(name)
    known = dataset_options(plain)
    wrong = [key for key in options if key not in known]
    if wrong:
        hint = f"write {plain}?{known[0]}=…" if known else "write its name alone"
        raise SpecError(f"{plain} has no option {wrong[0]!r}", hint=hint)
    loaded = module("datasets", plain).load(**options)
    if not _has_all("card", "items", "responses")(loaded):
        what = f"load() of the dataset {plain} returned {_with_article(loaded)}, not a Dataset"
        raise SpecError(what, hint="return lexiscope.Dataset(CARD, items, responses, checksums)")
    return cast("Dataset", loaded)


def dataset_options(name: str) -> tuple[str, ...]:
    """Return the options that a dataset can be loaded with, such as ``language``."""
    return cast(tuple[str, ...], getattr(module("datasets", name), "OPTIONS", ()))


def task(name: str) -> Task:
    """Return a task."""
    return cast("Task", module("tasks", name).TASK)


def task_capabilities(name: str) -> tuple[str, ...]:
    """Return the capabilities by which a task is answered, the best first; of the package's own, read as text."""
    if name in _own_names("tasks"):
        path = _source("tasks", name)
        answers = _keywords(assigned(path, "TASK")).get("answers")
        ways = answers.elts if isinstance(answers, ast.Tuple) else []
        texts = [assigned_text(path, way.elts[0]) for way in ways if isinstance(way, ast.Tuple)]
        if texts and len(texts) == len(ways) and None not in texts:
            return tuple(text for text in texts if text is not None)
    return tuple(capability for capability, _ in task(name).answers)


def task_place(name: str) -> str:
    """Return what a task of this process is found by in another one: its name, or the path by which it was loaded."""
    return _TASK_FILES.get(name, name)


def tasks_where(fits: Callable[[Task], bool]) -> tuple[str, ...]:
    """Return the names of the tasks that fit, in the order of :func:`names`: what they are is asked of them."""
    return tuple(name for name in names("tasks") if fits(task(name)))


def default_task() -> str:
    """Return the name of the task that a file of items asks by default: ``DEFAULT`` of the tasks."""
    return cast(str, importlib.import_module("lexiscope.tasks").DEFAULT)


def screens() -> dict[str, Screen]:
    """Return the screen of each task that people can answer, by its name."""
    pages = {name: getattr(module("tasks", name), "SCREEN", None) for name in names("tasks")}
    return {name: cast("Screen", page) for name, page in pages.items() if page is not None}


def screen(name: str) -> Screen:
    """Return what people see of a task.

    Errors: :class:`SpecError` for a task that people are not asked.
    """
    page = getattr(module("tasks", name), "SCREEN", None)
    if page is None:
        raise SpecError(f"the task {name!r} has no screen: people cannot be asked it")
    return cast("Screen", page)


def subject(spec: SubjectSpec | str) -> Subject:
    """Make the subject that a spec names. Weights are read when it is first asked, not here."""
    parsed = SubjectSpec.parse(spec) if isinstance(spec, str) else spec
    loaded = module("subjects", parsed.kind).load(parsed)
    if parsed.kind not in _own_names("subjects"):
        _check_subject_id(loaded, parsed)
    return cast("Subject", loaded)


def subject_capabilities(kind: str) -> tuple[str, ...]:
    """Return the capabilities that a kind of subject declares (its file's ``CAPABILITIES``)."""
    if kind in _own_names("subjects"):
        declared = assigned(_source("subjects", kind), "CAPABILITIES")
        if isinstance(declared, ast.Tuple):
            return cast(tuple[str, ...], ast.literal_eval(declared))
    return cast(tuple[str, ...], module("subjects", kind).CAPABILITIES)


@dataclass(frozen=True, slots=True)
class TasksThat:
    """The tasks that a kind of subject answers, by what a task says of itself: the ``TASKS`` of its file.

    Those that are learnt by one of the methods ``learnt``, or, with ``by_rule``, those that name baselines; of these
    and of all others, those that can be answered with ``capability``. With fields that are literals, it is read as
    text: pairings are listed without the packages of models. Called, it returns the names.
    """

    learnt: tuple[str, ...] = ()
    by_rule: bool = False
    capability: str = ""

    def __call__(self) -> tuple[str, ...]:
        """Return the names of the tasks, in the order of :func:`names`."""
        return tuple(name for name in names("tasks") if self.fits(task_facts(name)))

    def fits(self, facts: TaskFacts) -> bool:
        """Return whether a task is one of these."""
        return (
            (not self.learnt or facts.learnt in self.learnt)
            and (not self.by_rule or facts.has_baselines)
            and (not self.capability or self.capability in facts.capabilities)
        )


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What decides which kinds of subjects answer a task.

    These are the capabilities by which it is answered, the best first; whether it can be asked as text; the method by
    which it is learnt; whether it names baselines.
    """

    capabilities: tuple[str, ...]
    is_asked: bool
    learnt: str
    has_baselines: bool


def task_facts(name: str) -> TaskFacts:
    """Return what decides which kinds of subjects answer a task; of the package's own, read as text."""
    call = assigned(_source("tasks", name), "TASK") if name in _own_names("tasks") else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Task":
        given = _keywords(call)
        learnt, baselines = given.get("learnt", ast.Constant("")), given.get("baselines", ast.Tuple([]))
        if isinstance(learnt, ast.Constant) and isinstance(baselines, ast.Tuple):
            return TaskFacts(task_capabilities(name), "asks" in given, str(learnt.value), bool(baselines.elts))
    own = task(name)
    capabilities = tuple(capability for capability, _ in own.answers)
    return TaskFacts(capabilities, own.asks is not None, own.learnt, bool(own.baselines))


def subject_tasks(kind: str) -> tuple[str, ...]:
    """Return the tasks that a kind of subject answers at all: its file's ``TASKS``, else all.

    ``TASKS`` is :class:`TasksThat`, or another function of no arguments, where the tasks themselves say which of them
    are answered. A single subject may answer fewer: a classifier the task of its training, a baseline those of its
    rule.
    """
    if kind in _own_names("subjects"):
        declared = assigned(_source("subjects", kind), "TASKS")
        match declared:
            case None:
                return names("tasks")
            case ast.Call(func=ast.Attribute(attr=TasksThat.__name__), args=[]):
                return TasksThat(**{word: ast.literal_eval(value) for word, value in _keywords(declared).items()})()
    loaded = getattr(module("subjects", kind), "TASKS", names("tasks"))
    return cast(tuple[str, ...], loaded() if callable(loaded) else loaded)


def converses(kind: str) -> bool:
    """Return whether subjects of a kind judge in conversation: its file's ``CONVERSES``."""
    if kind in _own_names("subjects"):
        declared = assigned(_source("subjects", kind), "CONVERSES")
        if declared is None or isinstance(declared, ast.Constant):
            return declared is not None and bool(declared.value)
    return bool(getattr(module("subjects", kind), "CONVERSES", False))


def settings(study: str) -> type[Settings]:
    """Return the settings of a study: ``SETTINGS`` of its file or of its ``study``, else those of every study.

    The ``settings.py`` of one of the package's own is read without the rest of its folder, which brings everything that
    the study computes with: so its options can be listed at once. Whether a distribution has a study of the same name
    is found out where the study is loaded.
    Errors: :class:`SpecError` for an unknown study, with the nearest known name; those of a file by path.
    """
    # the lists of the catalog are printed without them
    base = cast("type[Settings]", importlib.import_module("lexiscope.core.settings").Settings)
    own = not is_path(study) and study in _own_names("studies")
    path = _source("studies", study).parent / "settings.py" if own else None
    if path is None or path.parent.name != study or not path.is_file():
        loaded = module("studies", study)
        declared = getattr(loaded, "SETTINGS", None) or getattr(getattr(loaded, "study", None), "SETTINGS", None)
        return cast("type[Settings]", declared or base)
    name = f"lexiscope.studies.{study}.settings"
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        # under its own name: when the study is imported later, it finds this class and makes no second one
        sys.modules[name] = settings_module = module_from_spec(spec)
        try:
            spec.loader.exec_module(settings_module)
        except BaseException:
            del sys.modules[name]
            raise
    values = vars(sys.modules[name]).values()
    classes = [value for value in values if isinstance(value, type) and issubclass(value, base)]
    return next(cls for cls in classes if cls.__module__ == name)


def pairings() -> tuple[tuple[str, str, str], ...]:
    """Return every (task, kind of subject, capability by which it answers) for which some subject of the kind answers.

    A test offers each kind an item of each task: the pairings of this list answer, all others are errors.
    """
    kinds = {kind: (subject_capabilities(kind), subject_tasks(kind), converses(kind)) for kind in names("subjects")}
    rows = []
    for task_name in names("tasks"):
        facts = task_facts(task_name)
        for kind, (capabilities, tasks, talks) in kinds.items():
            able = capabilities if task_name in tasks else ()
            if talks and not facts.is_asked:
                # what judges in conversation cannot judge what is not asked in words
                able = tuple(capability for capability in able if capability != "Judges")
            fits = [capability for capability in facts.capabilities if capability in able]
            rows += [(task_name, kind, fits[0])] if fits else []
    return tuple(rows)


# -- the three places -----------------------------------------------------------------------------------------


def _own_names(kind: Kind) -> tuple[str, ...]:
    return tuple(_own_modules(kind))


@functools.cache
def _own_modules(kind: Kind) -> Mapping[str, str]:
    """The module of each name in one of the package's own rooms, without the start that all of them share.

    The rooms are listed once: they do not change while a program runs. The kinds of subjects are in rooms by what they
    need: in ``subjects/``, a folder is a room and no kind.
    """
    modules: dict[str, str] = {}
    for info in pkgutil.iter_modules([str(_room(kind))]):
        if info.name[0] == "_" or info.name == _KIT:
            continue
        if kind == "subjects" and info.ispkg:
            inner = (module_info.name for module_info in pkgutil.iter_modules([str(_room(kind) / info.name)]))
            modules |= {name: f"{info.name}.{name}" for name in inner if name[0] != "_"}
        else:
            modules[info.name] = info.name
    return MappingProxyType(modules)


@functools.cache
def _room(kind: Kind) -> Path:
    spec = find_spec(f"lexiscope.{kind}")
    if spec is None or not spec.submodule_search_locations:
        raise SpecError(f"there is no room {kind!r} in the catalog")
    return Path(spec.submodule_search_locations[0])


def _keywords(call: ast.expr | None) -> dict[str, ast.expr]:
    return {word.arg: word.value for word in call.keywords if word.arg} if isinstance(call, ast.Call) else {}


def _source(kind: Kind, name: str) -> Path:
    path = _room(kind).joinpath(*_own_modules(kind)[name].split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _entry_points(kind: Kind) -> dict[str, tuple[EntryPoint, ...]]:
    return _entry_points_on(kind, tuple(sys.path))


@functools.cache
def _all_entry_points(path: tuple[str, ...]) -> EntryPoints | None:
    """Read the entry points of installed distributions, once for each ``sys.path``; ``None`` if none can be of ours."""
    if not any(map(_may_add_names, path)):
        return None
    # it brings the standard library's reader of e-mail, a third of the time that a list takes
    from importlib import metadata

    # before Python 3.12 they are groups, which select alike
    return cast("EntryPoints", metadata.entry_points())


def _may_add_names(place: str) -> bool:
    """Whether a place on ``sys.path`` may have entry points of ours: archives are not looked into."""
    folder = Path(place or ".")
    try:
        described = [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info", ".egg"))]
    except NotADirectoryError:
        return True
    except OSError:
        return False
    group = f"[{PACKAGE}.".encode()
    files = (folder / name / "entry_points.txt" for name in described)
    return any(name.endswith(".egg") for name in described) or any(
        group in file.read_bytes() for file in files if file.is_file()
    )


@functools.cache
def _entry_points_on(kind: Kind, path: tuple[str, ...]) -> dict[str, tuple[EntryPoint, ...]]:
    by_name: dict[str, tuple[EntryPoint, ...]] = {}
    every = _all_entry_points(path)
    for entry in every.select(group=f"lexiscope.{kind}") if every is not None else ():
        by_name[entry.name] = (*by_name.get(entry.name, ()), entry)
    return by_name


def _entry_point(kind: Kind, name: str) -> EntryPoint | None:
    """Return the entry point of a name; ``None`` where it is one of the package's own.

    Errors: :class:`SpecError` for an unknown name, and for a name that two distributions have.
    """
    own, entries = name in _own_names(kind), _entry_points(kind).get(name, ())
    if not own and not entries:
        raise unknown_name(kind, name)
    if own + len(entries) > 1:
        places = [f"lexiscope.{kind}.{name} ({PACKAGE})"] * own
        places += [f"{entry.value} ({_distribution(entry)})" for entry in entries]
        what = f"two {kind} are named {name!r}: {' and '.join(places)}"
        raise SpecError(what, hint="uninstall one of them, or load its file by path")
    return None if own else entries[0]


def unknown_name(kind: Kind, name: str) -> SpecError:
    """Return the error for a name that the catalog does not have; its hint is the nearest name, if there is one."""
    known = names(kind)
    near = nearest_name(name, known)
    hint = f"did you mean {near!r}?" if near else f"valid names: {', '.join(known)}"
    if kind == "datasets" and Path(plain_name(name)).suffix:
        hint = f"name your items with --items {name}; datasets are those of the list"
    elif is_path(f"./{name}"):
        hint = f"write ./{name} for the folder"
    singular = "study" if kind == "studies" else kind.removesuffix("s")
    return SpecError(f"Unknown {singular} {name!r}.", hint=f"{hint} (lexiscope list {kind})")


def _distribution(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value


def _load_entry_point(kind: Kind, entry: EntryPoint) -> object:
    """Load what an entry point names."""
    try:
        return cast(object, entry.load())
    except LexiscopeError:
        raise
    except Exception as error:
        # another distribution's code: whatever it raises is told with its name
        what = f"the {_SINGULAR[kind]} {entry.name!r} of {_distribution(entry)} could not be loaded"
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        hint = f"reinstall or uninstall {_distribution(entry).partition(' ')[0]}"
        raise SpecError(what, place=Place(entry.value), why=why, hint=hint) from error


# -- what a place must have -----------------------------------------------------------------------------------


def _has_all(*fields: str) -> Callable[[object], bool]:
    return lambda value: all(hasattr(value, field) for field in fields)


def _are_capabilities(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and set(value) <= set(CAPABILITY_NAMES)


def _is_study(value: object) -> bool:
    return callable(getattr(value, "run", None)) or hasattr(value, "questions")


_CARD = "a DatasetCard (lexiscope.DatasetCard)"
_LOAD_DATASET = "a function that returns a Dataset"
_TASK = "a Task (lexiscope.core.task.Task)"
_ABLE = f"a tuple of what a subject of this kind can do, of {', '.join(CAPABILITY_NAMES)}"
_LOAD_SUBJECT = "a function that takes a SubjectSpec and returns a subject"
_CONTRACT: dict[Kind, tuple[tuple[str, str, Callable[[object], bool]], ...]] = {
    "datasets": (("CARD", _CARD, _has_all("name", "task", "files", "availability")), ("load", _LOAD_DATASET, callable)),
    "tasks": (("TASK", _TASK, _has_all("name", "measures", "answers", "scale_of")),),
    "subjects": (("CAPABILITIES", _ABLE, _are_capabilities), ("load", _LOAD_SUBJECT, callable)),
    "studies": (("study", "a Study (lexiscope.Study)", _is_study),),
}
"""For each kind, the names that a module or an object must have, what each is, and a check of it."""


def _check_foreign(kind: Kind, loaded: Any, place: Place) -> None:
    """Check that a file by path or an entry point has the names of its kind.

    Errors: :class:`SpecError` naming what is missing and what it must be.
    """
    # a study may also be a function run in the file itself, or the entry point may name the Study
    if kind == "studies" and _is_study(loaded):
        return
    for name, meaning, fits in _CONTRACT[kind]:
        if not hasattr(loaded, name):
            raise SpecError(
                f"this is not a {_SINGULAR[kind]}: it has no {name}", place=place, hint=f"define {name}: {meaning}"
            )
        value = getattr(loaded, name)
        if not fits(value):
            what = f"{name} of this {_SINGULAR[kind]} is {_with_article(value)}, not what it must be"
            raise SpecError(what, place=place, hint=f"define {name}: {meaning}")
    if kind == "datasets":
        _check_card(loaded.CARD, place)
        definition = loaded if isinstance(loaded, ModuleType | type) else type(loaded)
        _HOMES[loaded.CARD.name] = Path(inspect.getfile(definition)).resolve().parent


def _check_name(kind: Kind, loaded: object, name: str, place: Place) -> None:
    """Check that a dataset or a task names itself as its entry point does: rows and items hold that name."""
    for constant in {"datasets": ("CARD",), "tasks": ("TASK",)}.get(kind, ()):
        own = getattr(loaded, constant).name
        if own != name:
            what = f"this entry point is named {name!r}, but the {constant} is named {own!r}"
            raise SpecError(what, place=place, hint="give both the same name")


def _check_card(card: DatasetCard, place: Place) -> None:
    """Check that the files of a card are pinned, and that no dataset of the package has its name."""
    if card.name in _own_names("datasets"):
        what = f"the card of this dataset is named {card.name!r}, as is lexiscope.datasets.{card.name} ({PACKAGE})"
        raise SpecError(what, place=place, hint="give the card another name")
    for file in card.files:
        if file.sha256 is None or not re.fullmatch("[0-9a-f]{64}", file.sha256):
            what = f"the file {file.path} of the dataset {card.name!r} has no sha256"
            hint = f"write DataFile({file.path!r}, sha256=…) with the 64 hexadecimal digits that sha256sum prints"
            raise SpecError(what, place=place, hint=hint)


def _check_subject_id(subject: object, spec: SubjectSpec) -> None:
    """Check that the id of a subject that is not of the package is a spec of its kind: it names who answered."""
    subject_id = getattr(subject, "subject_id", None)
    if isinstance(subject_id, str):
        try:
            same = SubjectSpec.parse(subject_id).kind == spec.kind
        except SpecError:
            same = False
        if same:
            return
    what = f"load() of {spec.kind} returned {_with_article(subject)} with the subject_id {subject_id!r}"
    why = f"the id of a subject is a spec that makes it again: {spec}"
    raise SpecError(what, why=why, hint="set subject_id to str(spec)")


def _remember_task(name: str, path: str) -> None:
    """Let a task be found by its name, too, after it was loaded by path."""
    other = _TASK_FILES.get(name)
    if name in names("tasks") or (other is not None and Path(other).resolve() != Path(path).resolve()):
        owner = other or f"{name} ({origin('tasks', name)})"
        raise SpecError(f"two tasks are named {name!r}: {path} and {owner}", hint="give the TASK another name")
    _TASK_FILES[name] = path


def _with_article(value: object) -> str:
    name = type(value).__name__
    return "None" if value is None else f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"
