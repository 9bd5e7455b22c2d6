"""Settings: what a run of a study can vary, and, in the same form, what any other work can (a training, a build).

A study declares a setting where it declares its type and its default::

    class GradedSenses(Settings):
        \"\"\"What a run of graded_senses can vary.\"\"\"

        by: Literal["word", "sense"] = option("word", "what is resampled")

From this the command line gets ``--by word|sense``, the study file ``by: word`` under a comment, and the docs a row.
Other work is configured by a separate frozen dataclass; fields that are an ``option`` are options of its verb. Work
with one or two settings is a function, and its arguments are declared in their annotations::

    def draw(items: Sequence[Item], *, most: Annotated[int, Option("items drawn", least=1)] = 50) -> tuple[Item, ...]:
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from inspect import signature
from operator import attrgetter
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from lexiscope.core.errors import InputError, SpecError, nearest_name

T = TypeVar("T")
K = TypeVar("K", bound="Settings")
_ABOUT = "lexiscope"
_SIMPLE = (str, int, float, bool, Path)
ENGINE = "LEXISCOPE_ENGINE"
"""The environment variable that names the engine that collects. It is not a setting: it changes no result."""


class SettingError(InputError):
    """A setting has an invalid value. ``setting`` is its name, by which the reader of a file finds the line."""

    def __init__(self, setting: str, what: str, *, why: str = "", hint: str = "") -> None:
        super().__init__(what, why=why, hint=hint)
        self.setting = setting


@dataclass(frozen=True, slots=True)
class Option:
    """What the command line, the study file and the docs print about a setting, and the checks of its values.

    ``about`` says what it is, without a capital letter or a full stop. ``flag`` is its name on the command line (its
    own name, if empty; several names have a space between them), ``metavar`` the placeholder of its value there; with
    ``command_line=False`` it is set in a file or in Python only. ``choices`` are the texts that it can be, where its
    type does not say so (a ``Literal`` does); ``least`` and ``most`` are the smallest and the largest number. ``file``
    is true where its values are files that must exist. ``names`` is the room of the catalog (``datasets``) that must
    know them. ``reads`` is a function that reads one value and refuses a wrong one, by its place: ``module:function``,
    so that the list of the settings can be shown without importing it. ``instead_of`` are settings that it takes the
    place of when it is given on the command line, as they take its place.
    """

    about: str = ""
    flag: str = ""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    file: bool = False
    names: Literal["", "datasets"] = ""
    reads: str = ""
    instead_of: tuple[str, ...] = ()
    command_line: bool = True

    def read(self, text: str) -> None:
        """Read one value with the function that ``reads`` names. Errors: those of the function."""
        if self.reads:
            module, _, function = self.reads.partition(":")
            attrgetter(function)(importlib.import_module(module))(text)


def option(
    default: T,
    about: str,
    *,
    flag: str = "",
    metavar: str = "",
    choices: tuple[str, ...] = (),
    least: float | None = None,
    most: float | None = None,
    file: bool = False,
    names: Literal["", "datasets"] = "",
    reads: str = "",
    instead_of: tuple[str, ...] = (),
    command_line: bool = True,
) -> T:
    """Declare a setting: its default, its description, and the other fields of :class:`Option`.

    A setting is a text, a number, yes or no (``bool``), a path, a ``Literal`` of texts, a pair of these, or a tuple of
    any number of them or of pairs (``tuple[str, ...]``, ``tuple[tuple[str, float], ...]``): it can be given repeatedly.
    """
    declared = Option(about, flag, metavar, choices, least, most, file, names, reads, instead_of, command_line)
    return field(default=default, metadata={_ABOUT: declared})


def file_option(about: str, *, flag: str = "") -> str:
    """Declare a setting that is the path of a file, which must exist; empty: none."""
    return option("", about, flag=flag, metavar="FILE", file=True)


def files_option(about: str, *, flag: str = "") -> tuple[str, ...]:
    """Declare a setting that is the paths of any number of files, which must exist."""
    return option((), about, flag=flag, metavar="FILE", file=True)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class _FrozenDataclass:
    """Makes a frozen dataclass of each of its subclasses."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class Settings(_FrozenDataclass):
    """What a run of any study can vary; a study's own class adds what this study can. ``run.json`` holds all of it.

    Every default is written out; ``study`` is the study's name. A subclass that checks more does so in
    ``__post_init__``, and calls this one first.
    """

    study: str = option("", "the study: a name from `lexiscope list studies`", command_line=False)
    dataset: str = option(
        "", "a dataset from `lexiscope list datasets`; empty: the study's own", metavar="DATASET", names="datasets"
    )
    subjects: tuple[str, ...] = option(
        (),
        "live subjects that answer in addition to the recorded ones, as kind:name (encoder:minilm)",
        flag="--subject",
        metavar="SPEC",
        reads="lexiscope.core.spec:SubjectSpec.parse",
    )
    wordings: tuple[str, ...] = option(
        (),
        "a wording in which every chat model is asked every item, and every model that scores texts if the task words "
        "its question for them: a wording of the task (guidelines, question), or a file of words",
        flag="--wording",
        metavar="NAME|FILE",
    )
    seed: int = option(20250429, "seed of every resampling and of every random start", least=0)
    n_bootstrap: int = option(2000, "bootstrap samples per interval; 0: no intervals", flag="--bootstrap", least=0)
    threads: int = option(1, "threads of the numerical libraries", least=1)
    device: str = option("cpu", "where live models run: cpu, cuda, mps")
    analyses: tuple[tuple[str, Literal["exploratory"]], ...] = option(
        (),
        "question id: exploratory, for a question that a plan named and that is not to count as confirmatory",
        command_line=False,
    )
    title: str = option("", "title of the report; empty: the study's own")
    ethics: str = option("", "ethics statement, free text, printed in the report", command_line=False)
    outputs: tuple[str, ...] = option(
        ("r_script", "codebook", "data_card"),
        "in addition to tables, figures and report: r_script, codebook, data_card, csv, jsonl, r_data",
        command_line=False,
    )

    def __post_init__(self) -> None:
        """Check every value. Errors: :class:`InputError` naming the setting."""
        claimed = [question for question, mark in self.analyses if mark != "exploratory"]
        if claimed:
            raise SettingError(
                "analyses",
                f"{claimed[0]} cannot be set to confirmatory",
                why="an analysis is confirmatory only if a plan named it before the first answer",
                hint="remove the question from analyses",
            )
        for setting in settings_of(type(self)):
            setting.check(getattr(self, setting.name))


class ReadingOptions(_FrozenDataclass):
    """How a file of the user's own is read, where that does not follow from the file itself.

    ``columns`` are texts FIELD=COLUMN, ``where`` texts COLUMN=VALUE. Every doubt about a file that one of these settles
    is an error that names the option.
    """

    columns: tuple[str, ...] = option(
        (), "column for a field: sentence_1=Frase, rater=Code", flag="--map", metavar="FIELD=COLUMN"
    )
    where: tuple[str, ...] = option((), "keep only the rows with this value in a column", metavar="COLUMN=VALUE")
    encoding: str = option("", "encoding of the file, such as windows-1252 or mac-roman", metavar="NAME")
    separator: str = option(
        "",
        "separator between the columns: comma, semicolon, tab or pipe",
        choices=("", "comma", "semicolon", "tab", "pipe"),
        metavar="NAME",
    )
    decimal: str = option("", "decimal sign of the numbers", choices=("", "point", "comma"), metavar="point|comma")
    missing: tuple[str, ...] = option((), "text that means 'no answer', such as 999", metavar="TEXT")
    repeats: str = option(
        "",
        "what counts if an item has several ratings of one rater, or several rows of means; default: an error, for "
        "DURel the mean",
        choices=("", "mean", "first", "last"),
        metavar="mean|first|last",
    )


class ItemSettings(ReadingOptions, Settings):
    """What a run can vary of a study that also takes an item file of the user's own."""

    items: str = option(
        "",
        "your item file, with ratings if there are any, instead of a dataset",
        metavar="FILE",
        file=True,
        instead_of=("dataset",),
    )
    language: str = option("und", "language of your item file (es, en …), if it has no column for it", metavar="TAG")

    def __post_init__(self) -> None:
        """Check every value, and that there is only one source of items. Errors: :class:`InputError`."""
        super().__post_init__()
        if self.dataset and self.items:
            raise SettingError("items", "a study takes a dataset or an item file, not both", hint="keep one of them")


class RatedFileSettings(ItemSettings):
    """What a run can vary of a study that takes any file with ratings.

    ``file`` is the file with the ratings; ``items`` are its items, if it does not hold them itself. ``scale`` is
    checked if it is given.
    """

    file: str = option(
        "", "file with ratings, in any layout; it may hold the items, too", metavar="FILE", file=True,
        instead_of=("dataset",),
    )  # fmt: skip
    scale: tuple[float, float] | None = option(
        None, "lowest and highest rating; other ratings are rejected", metavar="LOW HIGH"
    )
    task: str = option("", "question that models are asked, from `lexiscope list tasks`", metavar="TASK")

    def __post_init__(self) -> None:
        """Check every value. Errors: :class:`SettingError` for items without ratings, and for two sources of both."""
        super().__post_init__()
        if self.dataset and self.file:
            raise SettingError("file", "A run takes a dataset or a file, not both.", hint="keep one of them")
        if self.items and not self.file:
            hint = "name the file with the ratings: lexiscope analyse FILE --items ITEMS"
            raise SettingError("items", "Items need the file with their ratings.", hint=hint)


class RatedItemSettings(ItemSettings):
    """What a run can vary of a study whose items people rate: their ratings may be in separate files."""

    ratings: tuple[str, ...] = files_option(
        "people's ratings of your items: ratings.csv of an export, or a table with a row per rating"
    )

    def __post_init__(self) -> None:
        """Check every value. Errors: :class:`SettingError` for ratings without the items that they are of."""
        super().__post_init__()
        if self.ratings and not self.items:
            hint = "name the items, too: --items FILE"
            raise SettingError("ratings", "ratings need the items that they are of", hint=hint)


class SeveralDatasetsSettings(Settings):
    """What a run can vary of a study that takes several datasets in one run, instead of one."""

    datasets: tuple[str, ...] = option(
        (),
        "datasets from `lexiscope list datasets`, all in one run; empty: those of the study",
        flag="--dataset",
        metavar="DATASET",
        names="datasets",
        instead_of=("dataset", "items"),
    )

    def __post_init__(self) -> None:
        """Check every value. Errors: :class:`SettingError` for several datasets together with another source."""
        super().__post_init__()
        if self.datasets and (self.dataset or own_items(self)):
            other = "an item file" if own_items(self) else "one dataset"
            what = f"a study takes several datasets or {other}, not both"
            raise SettingError("datasets", what, hint="keep one of them")


def own_items(settings: Settings) -> str:
    """Return the path of the item file of the user's own that a run takes, empty if it takes none."""
    return settings.items if isinstance(settings, ItemSettings) else ""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a study: its name, its description, its default, and the types of one value.

    ``parts`` are one type, or the two of a pair (texts, numbers, ``bool``, a ``Literal``); ``many`` is true where there
    may be any number of them; ``optional`` where the value may be ``None``.
    """

    name: str
    option: Option
    default: Any
    parts: tuple[Any, ...]
    many: bool
    optional: bool = False

    @property
    def flag(self) -> str:
        """The name of the option of the command line; the first one where it has several."""
        return self.flags[0]

    @property
    def flags(self) -> tuple[str, ...]:
        """All names of the option of the command line."""
        return tuple(self.option.flag.split()) or (f"--{self.name.replace('_', '-')}",)

    def choices(self, part: int = 0) -> tuple[str, ...]:
        """Return the texts that a part can be; none where it can be any."""
        kind = self.parts[part]
        return get_args(kind) if get_origin(kind) is Literal else self.option.choices if kind is str else ()

    def check(self, value: object) -> None:
        """Check a value: choices, the smallest number. Errors: :class:`InputError` naming the setting."""
        if value is None and self.optional:
            return
        entries = cast(tuple[object, ...], value) if self.many else (value,)
        for entry in entries:
            for number, part in enumerate(cast(tuple[object, ...], entry) if len(self.parts) > 1 else (entry,)):
                known, least, most = self.choices(number), self.option.least, self.option.most
                if known and part not in known:
                    near = nearest_name(str(part), known)
                    hint = f"did you mean {near!r}?" if near else f"valid names: {', '.join(known)}"
                    raise SettingError(self.name, f"{self.name} cannot be {part!r}", hint=hint)
                if least is not None and isinstance(part, int | float) and not part >= least:
                    raise SettingError(self.name, f"{self.name} must be {least:g} or more, not {part!r}")
                if most is not None and isinstance(part, int | float) and not part <= most:
                    raise SettingError(self.name, f"{self.name} must be {most:g} or less, not {part!r}")


def settings_of(kind: type[Any]) -> tuple[Setting, ...]:
    """Return the settings of a study, those of every study first; of any other frozen dataclass those with an option.

    Errors: :class:`SpecError` for a type that a setting cannot have.

    >>> [setting.flag for setting in settings_of(Settings)][:3]
    ['--study', '--dataset', '--subject']
    """
    if kind not in _SETTINGS:
        hints = get_type_hints(kind)
        _SETTINGS[kind] = tuple(
            _make_setting(kind.__name__, entry.name, hints[entry.name], entry.default, _field_option(kind, entry.name))
            for entry in fields(kind)
            if _field_option(kind, entry.name) or issubclass(kind, Settings)
        )
    return _SETTINGS[kind]


def arguments_of(function: Callable[..., Any]) -> tuple[Setting, ...]:
    """Return the arguments of a function that are annotated with an :class:`Option`, as settings with their defaults.

    Errors: :class:`SpecError` for a type that a setting cannot have.

    >>> def draw(items: list[str], *, most: Annotated[int, Option("items drawn", least=1)] = 50) -> list[str]:
    ...     return items[:most]
    >>> [(setting.flag, setting.default, setting.option.least) for setting in arguments_of(draw)]
    [('--most', 50, 1)]
    """
    hints = get_type_hints(function, include_extras=True)
    return tuple(
        _make_setting(function.__name__, name, get_args(hints[name])[0], parameter.default, get_args(hints[name])[1])
        for name, parameter in signature(function).parameters.items()
        if get_origin(hints.get(name)) is Annotated and isinstance(get_args(hints[name])[1], Option)
    )


_SETTINGS: dict[type[Any], tuple[Setting, ...]] = {}
"""The settings of the classes asked for: help asks for those of a study several times, and reads its types once."""


def settings_from(kind: type[K], values: Mapping[str, Any]) -> K:
    """Return the settings of a study with these values, as ``run.json`` holds them: lists become tuples.

    Errors: :class:`InputError` for a name that this study does not have, with the nearest one and all that it has.
    """
    known = [setting.name for setting in settings_of(kind)]
    for name in values:
        if name not in known:
            raise unknown_setting(kind, name, known)
    return kind(**{name: _lists_to_tuples(value) for name, value in values.items()})


def own_settings(kind: type[Settings]) -> tuple[Setting, ...]:
    """Return the settings of a study that not every study has; how its files are read comes last."""
    common = {setting.name for setting in settings_of(Settings)}
    reading = {setting.name for setting in settings_of(ReadingOptions)}
    own = [setting for setting in settings_of(kind) if setting.name not in common]
    return tuple(sorted(own, key=lambda setting: setting.name in reading))


def unknown_setting(kind: type[Settings], name: str, known: list[str]) -> SettingError:
    """Return the error for a setting that a study does not have: the nearest of the *known* names, and its own ones."""
    near = nearest_name(name, known)
    study = kind().study or kind.__name__
    own = ", ".join(setting.name for setting in own_settings(kind)) or "none"
    hint = (f"did you mean {near!r}? " if near else "") + f"its own settings: {own}"
    return SettingError(name, f"unknown name {name!r}: the study {study} has no such setting", hint=hint)


def _make_setting(owner: str, name: str, hint: Any, default: object, declared: Option | None) -> Setting:
    whole, optional = hint, False
    if get_origin(hint) in (Union, UnionType):
        inner = [member for member in get_args(hint) if member is not NoneType]
        whole, optional = inner[0], len(inner) == 1
    many = get_origin(whole) is tuple and get_args(whole)[1:] == (Ellipsis,)
    entry_type = get_args(whole)[0] if many else whole
    parts = get_args(entry_type) if get_origin(entry_type) is tuple else (entry_type,)
    if (whole is not hint and not optional) or not all(
        part in _SIMPLE or get_origin(part) is Literal for part in parts
    ):
        what = f"{owner}.{name}: a setting cannot have the type {hint}"
        raise SpecError(what, hint="use str, int, float, bool, Path, Literal, or a tuple of these or of pairs of these")
    return Setting(name, declared or Option(), default, parts, many, optional)


def _field_option(kind: type[Any], name: str) -> Option | None:
    """The option of a setting; if a subclass only gives another default, the option that its base class declares."""
    for base in kind.__mro__:
        entry = base.__dict__.get("__dataclass_fields__", {}).get(name)
        if entry is not None and _ABOUT in entry.metadata:
            return cast(Option, entry.metadata[_ABOUT])
    return None


def _lists_to_tuples(value: Any) -> Any:
    return tuple(map(_lists_to_tuples, value)) if isinstance(value, list) else value
