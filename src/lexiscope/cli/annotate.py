"""``lexiscope annotate``: a study with people, from its draft to its export; each verb is loaded when it is called."""

from __future__ import annotations

import importlib
from typing import cast

import click

#: verb -> where its command is; ``annotate --help`` imports neither a database nor a web server
VERBS: dict[str, tuple[str, str]] = {
    "init": ("annotate_setup:init", "Write the file of a new study, every setting spelled out."),
    "check": ("annotate_setup:check", "Say whether a study may be launched, and what is missing."),
    "design": ("annotate_setup:design", "Print the design: the lists, and what each of them holds."),
    "simulate": ("annotate_simulate:simulate_study", "Rehearse a study with simulated participants."),
    "preview": ("annotate_serve:preview", "Show every page of a study without storing anything."),
    "serve": ("annotate_serve:serve_study", "Run a study: pages for participants and for the researcher."),
    "status": ("annotate_look:status", "Say how far a study is, whether or not its server runs."),
    "export": ("annotate_look:export", "Write the tables of a study, whether or not its server runs."),
    "stage": ("annotate_stage:stage", "Write what people wrote as the next study's items."),
    "verify": ("annotate_look:verify", "Check a study's database: file, audit log, seals, rules."),
    "reconcile": ("annotate_reconcile:reconcile_list", "Compare the platform's list with what is stored; apply it."),
    "pause": ("annotate_change:pause", "Take in nobody new for a while."),
    "resume": ("annotate_change:resume", "Take people in again."),
    "close": ("annotate_change:close", "End the study: nobody new is taken in."),
    "invite": ("annotate_change:invite", "Make links for participants of a lab."),
    "forget": ("annotate_change:forget", "Remove what identifies a participant."),
    "purge": ("annotate_change:purge", "Delete the platform ids of a closed study if their day has come."),
    "password": ("annotate_change:password", "Make a link with which a researcher sets a password."),
    "backup": ("annotate_change:backup", "Copy the database, whether or not the server runs."),
    "restore": ("annotate_change:restore_backup", "Put a backup into a folder that has no database."),
}


class _Verbs(click.Group):
    """A group that knows its verbs by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of a study's life."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb's file and return its command."""
        if cmd_name not in VERBS:
            return None
        module, _, attribute = VERBS[cmd_name][0].partition(":")
        return cast(click.Command, getattr(importlib.import_module(f"lexiscope.cli.{module}"), attribute))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of verbs from their one-line helps, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])


@click.group(cls=_Verbs)
def annotate() -> None:
    """Run a study with people: draft, check, rehearse, serve, export."""
