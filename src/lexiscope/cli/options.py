"""Options: those that settings declare, and those that several verbs share, alike everywhere."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from lexiscope.cli.verb import as_json as as_json
from lexiscope.core import catalog
from lexiscope.core.code_file import existing_file
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ENGINE, Setting, arguments_of, settings_of
from lexiscope.core.spec import SubjectSpec
from lexiscope.items.arrange.view_names import GUESSED_WORD, VIEW_NAMES

if TYPE_CHECKING:
    from click.types import OptionHelpExtra

Function = TypeVar("Function", bound=Callable[..., Any])
Chosen = TypeVar("Chosen")


# -- options that settings declare ------------------------------------------------------------------------------------


def of_settings(kind: type[Any], *names: str) -> Callable[[Function], Function]:
    """Add an option for each setting of a frozen dataclass, or for those *names*, as :class:`SettingOption` says."""
    known = {setting.name: setting for setting in settings_of(kind) if setting.option.command_line}
    return combine(*(click.option(cls=SettingOption, setting=known[name]) for name in names or known))


def of_arguments(work: Callable[..., Any], *names: str) -> Callable[[Function], Function]:
    """Add an option for each of these arguments of a function, which :func:`arguments_of` describes.

    If an option is not given, its value is the default of the function.
    """
    known = {argument.name: argument for argument in arguments_of(work)}
    return combine(*(click.option(cls=SettingOption, setting=known[name], filled=True) for name in names))


def make_settings(kind: type[Chosen], given: Mapping[str, Any]) -> Chosen:
    """Return the settings that the command line gives. Errors: those of the settings."""
    return kind(**_given_settings(kind, given))


def change_settings(settings: Chosen, given: Mapping[str, Any]) -> Chosen:
    """Return settings with what the command line gives instead. Errors: those of the settings."""
    return replace(settings, **_given_settings(type(settings), given))  # type: ignore[type-var]


def _given_settings(kind: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    names = [setting.name for setting in settings_of(kind)]
    return {name: given[name] for name in names if given.get(name) not in (None, ())}


class CatalogName(click.ParamType[str]):
    """A text that may be a name of the catalog (*kind*: ``datasets``): the shell completes the names, else files."""

    name = "text"

    def __init__(self, kind: catalog.Kind) -> None:
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text: whether it is in the catalog is found where it is loaded."""
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        fitting = [CompletionItem(name) for name in catalog.names(self.kind) if name.startswith(incomplete)]
        return fitting or [CompletionItem(incomplete, type="file")]


class SettingOption(click.Option):
    """The option of a setting: its names, type, range, choices, default and help are those that the setting declares.

    If it is not given, its value is ``None``: the default of the settings, or what a file says, holds; with *filled*
    it is the default. With *undo* there is a ``--no-`` for a setting that is yes or no.
    """

    def __init__(
        self, param_decls: Iterable[str] = (), *, setting: Setting, undo: bool = False, filled: bool = False
    ) -> None:
        about, is_flag = setting.option.about, setting.parts == (bool,)
        flags = [f"{setting.flag}/--no-{setting.flag.removeprefix('--')}"] if is_flag and undo else setting.flags
        types = [_click_type(setting, number) for number in range(len(setting.parts))]
        super().__init__(
            (*param_decls, *flags, setting.name),
            type=None if is_flag else types[0] if len(types) == 1 else tuple(types),
            is_flag=is_flag,
            nargs=len(types),
            multiple=setting.many,
            default=setting.default if filled else None,
            metavar=setting.option.metavar or None,
            help=f"{about[:1].upper()}{about[1:]}." + " May be repeated." * setting.many if about else None,
            callback=_reading_callback(setting) if setting.option.reads else None,
        )
        hidden = setting.many or setting.default in ("", None) or isinstance(setting.default, bool | tuple)
        self.shown = "" if hidden else f"{setting.default}"

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        """Return what help says of the default and the range."""
        extra = super().get_help_extra(ctx)
        if self.shown:
            extra["default"] = self.shown
        return extra


def _click_type(setting: Setting, number: int) -> click.ParamType[Any]:
    kind, least, most = setting.parts[number], setting.option.least, setting.option.most
    if choices := setting.choices(number):
        return click.Choice(choices)
    if setting.option.names or setting.option.metavar == "TASK":
        return CatalogName(setting.option.names or "tasks")
    if least is None and most is None and kind in (int, float):
        return click.INT if kind is int else click.FLOAT
    if kind is Path:
        return click.Path(path_type=Path)
    if kind is int:
        return click.IntRange(None if least is None else int(least), None if most is None else int(most))
    return click.FloatRange(least, most) if kind is float else click.STRING


def _reading_callback(setting: Setting) -> Any:
    def read(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        # an option of one value that was not given is None
        entries = value if setting.many else (value,) if value is not None else ()
        for entry in entries or ():
            try:
                setting.option.read(entry[0] if isinstance(entry, tuple) else entry)
            except InputError as error:
                raise click.BadParameter(f"{error.what}; {error.hint}", ctx=ctx, param=param) from error
        return value

    return read


# -- options that several verbs share ---------------------------------------------------------------------------------


def combine(*several: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Add several options, which several verbs have, in their order."""

    def add(function: Function) -> Function:
        for option in reversed(several):
            function = option(function)
        return function

    return add


def path(
    flag: str, *name: str, metavar: str, about: str, required: bool = False, multiple: bool = False
) -> Callable[[Function], Function]:
    """Add an option that names a file or a folder."""
    kind: click.ParamType[Any] = click.Path(path_type=Path)
    return click.option(flag, *name, type=kind, metavar=metavar, required=required, multiple=multiple, help=about)


def column_map(function: Function) -> Function:
    """Add ``--map``, which may be given several times."""
    about = "For a file of items: which column holds what: sentence_1=Frase."
    return click.option("--map", "pairs", multiple=True, metavar="PART=COLUMN", help=about)(function)


def _parse_specs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Check the form of subject specs before any work starts; return them as they print."""
    try:
        return tuple(str(SubjectSpec.parse(value)) for value in values)
    except SpecError as error:
        raise click.BadParameter(f"{error.what}; {error.hint}", ctx=ctx, param=param) from error


def _parse_scale(ctx: click.Context, param: click.Parameter, ends: tuple[float, float] | None) -> Scale | None:
    """Make a scale of its two ends: steps of 1 between whole numbers at most 20 apart, else continuous."""
    if ends is None:
        return None
    try:
        return Scale.between(*ends)
    except InputError as error:
        raise click.BadParameter(error.what, ctx=ctx, param=param) from error


def scale(about: str) -> Callable[[Function], Function]:
    """Add ``--scale``, the two ends of a scale of ratings."""
    return click.option("--scale", nargs=2, type=float, callback=_parse_scale, metavar="LOW HIGH", help=about)


def quiet(function: Function) -> Function:
    """Add ``--quiet``: results only, neither progress nor remarks."""
    return click.option("-q", "--quiet", is_flag=True, help="Print results only: no progress, no remarks.")(function)


def threads(function: Function) -> Function:
    """Add ``--threads``; :func:`lexiscope.cli.main.pin_threads` has applied it before the verb was loaded."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Threads of the numerical libraries (OMP, MKL, torch).",
    )(function)


def engine(function: Function) -> Function:
    """Add ``--engine``: while the verb runs, the environment has it, where all that collects finds it."""

    @functools.wraps(function)
    def with_engine(*, engine: str | None, **arguments: Any) -> Any:
        before = os.environ.get(ENGINE)
        if engine is not None:
            os.environ[ENGINE] = engine
        try:
            return function(**arguments)
        finally:
            if engine is not None:
                os.environ.pop(ENGINE)
                os.environ.update({} if before is None else {ENGINE: before})

    return click.option(
        "--engine",
        metavar="NAME",
        help="Workers: local (this process alone), processes:N, ray, ray:ADDRESS or slurm:N. Answers are the same.",
    )(cast(Function, with_engine))


def device(function: Function) -> Function:
    """Add ``--device``; :func:`lexiscope.collect.with_run_options` gives it to the subjects that take one."""
    kind = click.Choice(("cpu", "cuda", "mps"))
    about = "Where local models run, unless their spec says it."
    return click.option("--device", type=kind, default="cpu", show_default=True, help=about)(function)


def subjects(function: Function) -> Function:
    """Add ``--subject``, which may be given several times."""
    return click.option(
        "--subject",
        "subjects",
        callback=_parse_specs,
        multiple=True,
        metavar="SPEC",
        help="Model or baseline to ask, as kind:name, for example encoder:minilm. May be repeated.",
    )(function)


def views(function: Function) -> Function:
    """Add ``--view``, which may be given several times."""
    return click.option(
        "--view",
        "views",
        multiple=True,
        type=click.Choice((*VIEW_NAMES, GUESSED_WORD)),
        help="Part of the input to show. May be repeated.",
    )(function)


def read_named(values: Iterable[str]) -> dict[str, Path]:
    """Read ``NAME=FILE`` arguments, in their order.

    Errors: :class:`click.BadParameter` for an argument of another form, or a name that comes twice.
    """
    named: dict[str, Path] = {}
    for name, file in map(read_name, values):
        if name in named:
            raise click.BadParameter(f"{name!r} comes twice")
        named[name] = file
    return named


def read_name(value: str) -> tuple[str, Path]:
    """Read one ``NAME=FILE`` argument.

    Errors: :class:`click.BadParameter` for an argument of another form.
    """
    name, sign, file = value.partition("=")
    if not sign or not name or not file:
        raise click.BadParameter(f"{value!r} is not of the form NAME=FILE")
    return name, existing_file(file)
