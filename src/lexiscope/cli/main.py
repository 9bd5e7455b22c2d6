"""The command ``lexiscope``: a table of verbs, each imported only when it is called.

This file imports click and the errors, nothing else, so that ``--help``, ``--version`` and completion start at once.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from lexiscope import __version__
from lexiscope.core.errors import LexiscopeError, nearest_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: verb -> (where its command is, one line of help). The line is the first line of the command's own help (a test).
VERBS: dict[str, tuple[str, str]] = {
    "demo": ("lexiscope.cli.demo:demo", "Run a short example with the built-in model and items."),
    "list": ("lexiscope.cli.list:list_catalog", "List datasets, resources, tasks, subjects, studies or pairings."),
    "data": ("lexiscope.cli.data:data", "Download published data, verify their checksums, show their folders."),
    "build": (
        "lexiscope.cli.build:build",
        "Build minimal pairs from a corpus and a lexicon, and curate them.",
    ),
    "gaps": ("lexiscope.cli.gaps:gaps", "Create gap-filling items, find accepted answers, and code answers."),
    "choices": ("lexiscope.cli.choices:choices", "Collect choices from participants with spreadsheets."),
    "check": ("lexiscope.cli.check:check", "Check an item file for errors and warnings."),
    "collect": ("lexiscope.cli.collect:collect", "Ask subjects about items and keep every answer."),
    "export": (
        "lexiscope.cli.build.export:export",
        "Export items as a task of lm-evaluation-harness or inspect_ai.",
    ),
    "study": ("lexiscope.cli.study:study", "Run a published study or your own, on its data or on yours."),
    "bias": ("lexiscope.cli.bias:bias", "Test whether a dataset can be solved from the context or the word alone."),
    "train": (
        "lexiscope.cli.train:train",
        "Train a classifier, a bi-encoder, an adapter or sense embeddings.",
    ),
    "senses": ("lexiscope.cli.senses:senses", "Explore induced senses and test them with people."),
    "report": ("lexiscope.cli.results.report:report", "Write one report of one or more runs."),
    "verify": ("lexiscope.cli.results.verify:verify", "Check that the files of a run are unchanged, and recompute it."),
    "sql": ("lexiscope.cli.results.sql:sql", "Query the responses and results of a run in SQL."),
    "profile": (
        "lexiscope.cli.results.profile:profile_verb",
        "Profile what models know of words, as a share of what people attain.",
    ),
    "analyse": ("lexiscope.cli.analyse:analyse", "Analyse any ratings file and write a report."),
    "norm": (
        "lexiscope.cli.norm:norm",
        "Combine ratings of people and models: what a model is worth, valid estimates, items to ask next.",
    ),
    "agree": (
        "lexiscope.cli.agree:agree",
        "Compute rater agreement and human ceilings from a ratings file.",
    ),
    "compare": (
        "lexiscope.cli.results.compare:compare",
        "Compare two subjects, layers, views or conditions on the same draws.",
    ),
    "shared-task": (
        "lexiscope.cli.shared_task:shared_task",
        "Submissions to the shared task on AmbiStory: write, check, score.",
    ),
    "annotate": (
        "lexiscope.cli.annotate:annotate",
        "Set up, run and export a study with participants.",
    ),
}

WELCOME = """\
Lexiscope: people and language models answer the same questions about word
meaning; Lexiscope asks them, keeps every answer in one table, and compares.

Three commands to try first:

  lexiscope demo                  a first result in a minute, without a network
  lexiscope analyse ratings.csv   a report of your ratings
  lexiscope check items.csv       is my item file in order?

lexiscope --help lists every verb; lexiscope VERB --help explains one.
"""

_INTERRUPTED = 130
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
)


class LazyVerbs(click.Group):
    """A group that knows its verbs by name and imports one only to run it.

    *verbs* gives each its place (``module:attribute``) and its one line of help, in the order in which they are listed
    under *heading*.
    """

    def __init__(self, *, verbs: Mapping[str, tuple[str, str]], heading: str = "Commands", **settings: Any) -> None:
        super().__init__(**settings)
        self.verbs, self.heading = verbs, heading

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in their order."""
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's file and return its command."""
        if cmd_name not in self.verbs:
            return None
        module, _, attribute = self.verbs[cmd_name][0].partition(":")
        try:
            return cast(click.Command, getattr(importlib.import_module(module), attribute))
        except KeyboardInterrupt:
            # loading takes a second where models are needed; nothing has begun
            click.echo("interrupted", err=True)
            raise SystemExit(_INTERRUPTED) from None
        except LexiscopeError as error:
            # the verb's file needs a package of an extra that is not installed; its help cannot be shown either
            click.echo(str(error), err=True)
            raise SystemExit(1) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of verbs from their one-line helps, importing none."""
        with formatter.section(self.heading):
            formatter.write_dl([(name, line) for name, (_, line) in self.verbs.items()])


class LazyGroup(LazyVerbs):
    """The verbs of the command, with the nearest one where a name is unknown."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Refuse an unknown verb with the nearest known one."""
        if args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            near = nearest_name(args[0], VERBS)
            hint = f"Did you mean {near!r}?" if near else f"Commands: {', '.join(VERBS)}."
            ctx.fail(f"Unknown command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a verb's name, importing none."""
        # only completion needs it
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(name, help=line) for name, (_, line) in VERBS.items() if name.startswith(incomplete)]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)


@click.group(
    cls=LazyGroup,
    verbs=VERBS,
    heading="Verbs",
    invoke_without_command=True,
    subcommand_metavar="VERB [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog='\b\nShell completion: eval "$(_LEXISCOPE_COMPLETE=bash_source lexiscope)"\n(zsh_source, fish_source)',
)
@click.version_option(__version__, "-V", "--version", prog_name="lexiscope")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Ask people and language models the same questions about word meaning."""
    if ctx.invoked_subcommand is None:
        click.echo(WELCOME, nl=False)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 an error that the user can mend, 2 wrong usage, 130 interrupted."""
    pin_threads(sys.argv[1:] if argv is None else argv)
    cli.main(args=None if argv is None else list(argv), prog_name="lexiscope")


def pin_threads(arguments: Sequence[str]) -> int:
    """Put the number of threads (``--threads``, else 1) where numerical libraries look for it; return it.

    They read it while they are loaded, which is before a verb's options are parsed; a value that is no number is
    left for the option itself to refuse.
    """
    threads = 1
    for position, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--threads":
            value = value or "".join(arguments[position + 1 : position + 2])
            threads = int(value) if value.isdecimal() and int(value) else 1
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = str(threads)
    return threads


if __name__ == "__main__":
    main()
