"""``lexiscope annotate``: a data collection, from its draft to its report; each command is loaded when it is called."""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.cli.main import LazyVerbs

#: command -> its module; ``annotate --help`` imports neither a database nor a web server
VERBS: dict[str, tuple[str, str]] = {
    "init": ("lexiscope.cli.annotate.setup:init", "Write the file of a new study, with all settings."),
    "template": (
        "lexiscope.cli.annotate.setup:template",
        "Write a template of a pre-registration, with blanks to fill in.",
    ),
    "words": ("lexiscope.cli.annotate.setup:words", "Write a file of words to fill in, for any language."),
    "check": ("lexiscope.cli.annotate.setup:check", "Check whether a study is ready to launch."),
    "design": ("lexiscope.cli.annotate.setup:design", "Print the design: the lists and their items."),
    "simulate": ("lexiscope.cli.annotate.simulate:simulate_study", "Rehearse a study with simulated participants."),
    "preview": ("lexiscope.cli.annotate.running:preview", "Show every page of a study without storing anything."),
    "sign": ("lexiscope.cli.annotate.running:sign", "Sign the plan of a study before the first answer."),
    "serve": (
        "lexiscope.cli.annotate.running:serve_study",
        "Run a study: pages for participants and researchers.",
    ),
    "status": ("lexiscope.cli.annotate.status:status", "Show the progress of a study."),
    "export": ("lexiscope.cli.annotate.status:export", "Write the tables of a study."),
    "report": ("lexiscope.cli.annotate.report:report", "Analyse the answers and write a report."),
    "comments": (
        "lexiscope.cli.annotate.comments:comments",
        "Make a sheet of participants' comments, or read coded sheets.",
    ),
    "pool": ("lexiscope.cli.annotate.writing:pool", "Make a pool of homonyms with two meanings each, from puns."),
    "draft": ("lexiscope.cli.annotate.writing:draft", "Draft texts with a language model, for review."),
    "stage": ("lexiscope.cli.annotate.writing:stage", "Write the accepted texts as items of the next study."),
    "verify": ("lexiscope.cli.annotate.status:verify", "Check a study's database: file, audit log, seals, rules."),
    "reconcile": (
        "lexiscope.cli.annotate.running:reconcile_list",
        "Compare the platform's list with the study; apply it.",
    ),
    "pause": ("lexiscope.cli.annotate.running:pause", "Stop accepting new participants for a while."),
    "resume": ("lexiscope.cli.annotate.running:resume", "Accept new participants again."),
    "close": ("lexiscope.cli.annotate.running:close", "Close the study to new participants."),
    "invite": ("lexiscope.cli.annotate.running:invite", "Make links for participants of a lab."),
    "forget": ("lexiscope.cli.annotate.running:forget", "Delete the identity of a participant."),
    "purge": (
        "lexiscope.cli.annotate.running:purge",
        "Delete the platform IDs of a closed study when they are due.",
    ),
    "password": ("lexiscope.cli.annotate.running:password", "Make a link with which a researcher sets a password."),
    "backup": ("lexiscope.cli.annotate.running:backup", "Copy the database of a study."),
    "restore": ("lexiscope.cli.annotate.running:restore_backup", "Restore a study's database from a backup."),
}


STUDY = click.argument("study", type=click.Path(path_type=Path))
POSTGRES = click.option("--postgres", metavar="URL", help="PostgreSQL database of the study.")


@click.group(cls=LazyVerbs, verbs=VERBS)
def annotate() -> None:
    """Set up, run and export a study with participants."""
