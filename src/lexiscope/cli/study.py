"""``lexiscope study``: run a whole paper, on its data or on the user's.

Its options are the settings of the study that is named (:mod:`lexiscope.core.settings`): those of every study, and its
own. This file imports little, so that they are listed at once; what runs a study is loaded when one runs.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from lexiscope.cli import options
from lexiscope.cli.verb import Failure, Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import LexiscopeError
from lexiscope.core.settings import ReadingOptions, Setting, Settings, own_settings, settings_of

_STUDY = "lexiscope.study"
_FILES = (".yaml", ".yml")


class StudyVerb(Verb):
    """A command whose options are those of the study that its argument names."""

    def study_of(self, ctx: click.Context, name: str) -> click.Context:
        """Make the options of a context those of a study (``NAME`` or ``FILE.yaml``), and return it."""
        ctx.meta[_STUDY] = _NamedStudy.of(name, _settings_class(name))
        return ctx

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find which study is named among the arguments, then read them with its options."""
        try:
            name = self._find_study(ctx, args)
            try:
                return super().parse_args(ctx, args)
            except click.NoSuchOption as error:
                if _STUDY not in ctx.meta and name is not None:
                    existing_file(name)
                raise click.UsageError(self._no_such_option(ctx, error), ctx=ctx) from error
        except LexiscopeError as error:
            raise Failure(str(error)) from error

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the argument, the options of every study, those of the study that is named, and how it is run."""
        argument, *how, asks_help = super().get_params(ctx)
        return [argument, *_named_study(ctx).common, *how, asks_help, *_named_study(ctx).own]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write two groups: the options of every study, and those of the named study, or the names of studies."""
        _, *how = super().get_params(ctx)
        _write_options(formatter, "Options of every study", [*_named_study(ctx).common, *how], ctx)
        if _STUDY in ctx.meta:
            self._write_own(ctx, formatter)
            return
        with formatter.section("Studies (lexiscope study NAME --help shows the options of one)"):
            formatter.write_dl([(name, catalog.summary("studies", name)) for name in catalog.names("studies")])

    def options_text(self, ctx: click.Context) -> str:
        """Return the options of a context's study that not every study has, as help shows them."""
        formatter = ctx.make_formatter()
        self._write_own(ctx, formatter)
        return formatter.getvalue().rstrip()

    def _write_own(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own, reading = _named_study(ctx).own, {setting.flag for setting in settings_of(ReadingOptions)}
        of_files = [option for option in own if reading & set(option.opts)]
        _write_options(
            formatter, f"Options of {_study_title(ctx)}", [option for option in own if option not in of_files], ctx
        )
        _write_options(formatter, "How its files are read, if that is not clear from the files", of_files, ctx)

    def _find_study(self, ctx: click.Context, args: Sequence[str]) -> str | None:
        """Return the name of the study, and take its options, which are not known for a file that does not exist.

        Try each word that can be a study: with its options, it must be the argument and no option's value. An
        unknown name is an error here, with the nearest known one, before an unknown option is.
        """
        words = list[str]()
        for word in dict.fromkeys(arg for arg in args if not arg.startswith("-")):
            if catalog.has("studies", word) or (Path(word).suffix in _FILES and Path(word).is_file()):
                try:
                    self.study_of(ctx, word)
                except LexiscopeError:
                    # not a study file, but the value of an option; where it is one, it is refused below
                    continue
                words.append(word)
                if self._parse_name(ctx, args) == word:
                    return word
                del ctx.meta[_STUDY]
        name = self._parse_name(ctx, args, ignoring=True)
        if name in words or name is None or name.startswith("-"):
            name = name if name in words else next(iter(words), None)
        lost = name is not None and Path(name).suffix in _FILES and not Path(name).exists()
        if name is not None and not lost and not ctx.resilient_parsing:
            self.study_of(ctx, name)
        return name

    def _parse_name(self, ctx: click.Context, args: Sequence[str], *, ignoring: bool = False) -> str | None:
        parser = self.make_parser(ctx)
        parser.ignore_unknown_options = ignoring
        try:
            values, _, _ = parser.parse_args(args=list(args))
        except click.UsageError:
            # this word is not the study's name; what is wrong otherwise is said when the options are read
            return None
        word = values.get("name")
        return word if isinstance(word, str) else None

    def _no_such_option(self, ctx: click.Context, error: click.NoSuchOption) -> str:
        if _STUDY not in ctx.meta:
            return error.format_message()
        own = ", ".join(flag for option in _named_study(ctx).own for flag in option.opts) or "none"
        return f"{error.format_message()} Options of {_study_title(ctx)} itself: {own}."


@dataclass(frozen=True, slots=True)
class _NamedStudy:
    """The study that is named, if any: its settings, and the options made of them, those of every study first."""

    name: str
    kind: type[Settings]
    common: tuple[click.Parameter, ...]
    own: tuple[click.Parameter, ...]

    @classmethod
    def of(cls, name: str, kind: type[Settings]) -> _NamedStudy:
        own = _options_of(own_settings(kind))
        flags = {flag for option in own for flag in option.opts}
        # an option that a study has under the same name (several datasets for one) is listed among its own
        every = _options_of(settings_of(Settings))
        return cls(name, kind, tuple(option for option in every if not flags & set(option.opts)), own)


def _options_of(settings: Sequence[Setting]) -> tuple[click.Option, ...]:
    """The options of settings; what a study file says can be undone on the command line."""
    return tuple(
        options.SettingOption(setting=setting, undo=True) for setting in settings if setting.option.command_line
    )


def _named_study(ctx: click.Context) -> _NamedStudy:
    return cast(_NamedStudy, ctx.meta[_STUDY]) if _STUDY in ctx.meta else _unnamed()


@functools.cache
def _unnamed() -> _NamedStudy:
    return _NamedStudy.of("", Settings)


def _study_title(ctx: click.Context) -> str:
    """What the study of a context is called: by its settings, else as it was named."""
    named = _named_study(ctx)
    return named.kind().study or named.name


def _settings_class(name: str) -> type[Settings]:
    if Path(name).suffix in _FILES:
        module = importlib.import_module("lexiscope.studies.kit.settings_file")
        return type(module.read_study_file(existing_file(name)))
    return catalog.settings(name)


def _write_options(
    formatter: click.HelpFormatter, heading: str, options: Sequence[click.Parameter], ctx: click.Context
) -> None:
    rows = [row for row in (option.get_help_record(ctx) for option in options) if row is not None]
    if rows:
        with formatter.section(heading):
            formatter.write_dl(rows)


@click.command(cls=StudyVerb)
@click.argument("name", metavar="NAME|FILE.yaml|FILE.py", type=options.CatalogName("studies"))
@options.path("--out", metavar="RUN", about="The run folder.")
@options.path("--write-yaml", metavar="FILE", about="Write all settings to a file, stop.")
@click.option("--dry-run", is_flag=True, help="Send and write nothing: show requests, tokens, price and device hours.")
@options.engine
@options.as_json
@options.quiet
def study(
    *,
    name: str,
    out: Path | None,
    write_yaml: Path | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Run a published study or your own, on its data or on yours.

    NAME is a study of the catalog, FILE.py your study; FILE.yaml holds the settings of a study (--write-yaml writes
    such a file with every setting and its value). Options given here override the file. The same command on the same
    folder continues an interrupted run and does not change a finished run.
    """
    run = importlib.import_module("lexiscope.cli.study_run").run_study
    run(name, given, out=out, write_yaml=write_yaml, dry_run=dry_run, as_json=as_json, quiet=quiet)
