"""``lexiscope annotate serve|preview``: the pages of a study, for participants or as a preview."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lexiscope.annotation.study_file.launch import launch_problems
from lexiscope.annotation.study_file.study_folder import StudyOnDisk, read_study
from lexiscope.annotation.web.preview import serve_preview, write_preview
from lexiscope.annotation.web.serving import Serving, StudyLinks, serve
from lexiscope.cli import options
from lexiscope.cli.output import remark, say, say_folded
from lexiscope.cli.verb import Failure, Verb
from lexiscope.core.showing import counted

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("serve", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--folder", type=_FOLDER, help="Folder for the answers; default: the name of the study file without its ending."
)
@options.of_settings(Serving)
@click.option("--new", is_flag=True, help="Restart without the answers of a lost or damaged database.")
def serve_study(file: Path, *, folder: Path | None, new: bool, **given: Any) -> None:
    """Run a study: pages for participants and researchers.

    The study must pass `annotate check`. Ctrl-C stops the server; the same command continues the study. If the database
    of a launched study is missing or damaged, restore a backup, or restart with --new.
    """
    serving = options.make_settings(Serving, given)
    serving.check()
    study = read_study(file, folder)
    check_ready(study)
    if study.definition.planned.questions:
        remark(
            "Planned questions are confirmatory only with a plan that is signed before the first answer: "
            "lexiscope annotate sign"
        )
    if serving.unsafe_fast:
        remark(
            "Warning: with --unsafe-fast, a power cut can lose answers that participants saw as saved. Remove the "
            "option for a real study."
        )
    serve(study, serving, say=lambda links: _say_links(study, serving, links), new=new)
    say("Server stopped. All answers are saved.")


@click.command("preview", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port; default: any free port.")
@click.option("--out", type=_FOLDER, help="Write the pages as files into this folder instead.")
def preview(file: Path, *, port: int, out: Path | None) -> None:
    """Show every page of a study without storing anything.

    Missing texts are marked.
    """
    study = read_study(file)
    if out is None:
        serve_preview(study, port=port, say=lambda url: say(f"Preview of all pages: {url}   (Ctrl-C stops it)"))
        return
    written = write_preview(study, out)
    say(f"Saved {out} ({counted(len(written), 'page')}). Open {written[0]}")


def check_ready(study: StudyOnDisk) -> None:
    """Check that a study is ready to launch. Errors: :class:`Failure` with every problem."""
    problems = launch_problems(study.definition, study.items)
    if problems:
        listed = [str(study.file.error(problem)) for problem in problems]
        listed.append(f"Not ready: {counted(len(problems), 'error')} to fix.")
        raise Failure("\n".join(listed))


def _say_links(study: StudyOnDisk, serving: Serving, links: StudyLinks) -> None:
    say(f"Study:        {study.definition.name}, stored in {'PostgreSQL' if serving.postgres else study.folder}")
    if links.set_aside is not None:
        remark(f"Warning: this study starts again without earlier answers. What is left of it is in {links.set_aside}.")
        remark("That folder holds platform IDs: delete it when you no longer need it.")
    if links.participants:
        say(f"Participants: {links.participants}")
    else:
        say_folded(f"Participants: one link each, made with lexiscope annotate invite {study.folder} --n 20")
    say(f"Researcher:   {links.researcher}")
    if links.set_up:
        say(f"First set a password (this link works once, within 24 hours): {links.set_up}")
    say("Ctrl-C stops the server.")
