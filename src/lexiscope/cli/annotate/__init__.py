"""``lexiscope annotate``: a study with people, from its draft to its export; each verb is loaded when it is called."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.cli.main import LazyVerbs

#: verb -> where its command is; ``annotate --help`` imports neither a database nor a web server
VERBS: dict[str, tuple[str, str]] = {
    "init": ("lexiscope.cli.annotate.setup:init", "Write the file of a new study, every setting spelled out."),
    "template": (
        "lexiscope.cli.annotate.setup:template",
        "Write a template of a pre-registration, with blanks to fill in.",
    ),
    "check": ("lexiscope.cli.annotate.setup:check", "Say whether a study may be launched, and what is missing."),
    "design": ("lexiscope.cli.annotate.setup:design", "Print the design: the lists, and what each of them holds."),
    "simulate": ("lexiscope.cli.annotate.simulate:simulate_study", "Rehearse a study with simulated participants."),
    "preview": ("lexiscope.cli.annotate.serve:preview", "Show every page of a study without storing anything."),
    "serve": (
        "lexiscope.cli.annotate.serve:serve_study",
        "Run a study: pages for participants and for the researcher.",
    ),
    "status": ("lexiscope.cli.annotate.status:status", "Say how far a study is, whether or not its server runs."),
    "export": ("lexiscope.cli.annotate.status:export", "Write the tables of a study, whether or not its server runs."),
    "pool": ("lexiscope.cli.annotate.writing:pool", "Make a pool of homonyms with two meanings each, of puns."),
    "draft": ("lexiscope.cli.annotate.writing:draft", "Let a language model draft texts for a person to review."),
    "stage": ("lexiscope.cli.annotate.writing:stage", "Write what people wrote as the next study's items."),
    "verify": ("lexiscope.cli.annotate.status:verify", "Check a study's database: file, audit log, seals, rules."),
    "reconcile": (
        "lexiscope.cli.annotate.change:reconcile_list",
        "Compare the platform's list with what is stored; apply it.",
    ),
    "pause": ("lexiscope.cli.annotate.change:pause", "Take in nobody new for a while."),
    "resume": ("lexiscope.cli.annotate.change:resume", "Take people in again."),
    "close": ("lexiscope.cli.annotate.change:close", "End the study: nobody new is taken in."),
    "invite": ("lexiscope.cli.annotate.change:invite", "Make links for participants of a lab."),
    "forget": ("lexiscope.cli.annotate.change:forget", "Remove what identifies a participant."),
    "purge": (
        "lexiscope.cli.annotate.change:purge",
        "Delete the platform ids of a closed study if their day has come.",
    ),
    "password": ("lexiscope.cli.annotate.change:password", "Make a link with which a researcher sets a password."),
    "backup": ("lexiscope.cli.annotate.change:backup", "Copy the database, whether or not the server runs."),
    "restore": ("lexiscope.cli.annotate.change:restore_backup", "Restore a study's database from a backup."),
}


STUDY = click.argument("study", type=click.Path(path_type=Path))
POSTGRES = click.option("--postgres", metavar="URL", help="The study is stored in this PostgreSQL database.")


@click.group(cls=LazyVerbs, verbs=VERBS)
def annotate() -> None:
    """Run a study with people: draft, check, rehearse, serve, export."""
