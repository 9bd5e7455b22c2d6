"""``lexiscope annotate serve|preview``: the pages of a study, for participants or for a look."""

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

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("serve", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--folder", type=_FOLDER, help="Where answers are stored; else the file's name without its ending.")
@options.of_settings(Serving)
@click.option("--new", is_flag=True, help="Start again without the answers of a database that is lost or damaged.")
def serve_study(file: Path, *, folder: Path | None, new: bool, **given: Any) -> None:
    """Run a study: pages for participants and for the researcher.

    Nothing is served that `annotate check` finds fault with. Ctrl-C ends it; the same command continues the study.
    A launched study whose database is missing or damaged is not served: restore a backup, or insist with --new.
    """
    serving = options.make_settings(Serving, given)
    serving.check()
    study = read_study(file, folder)
    _check_ready(study)
    if serving.unsafe_fast:
        remark("unsafe-fast: a power cut may take answers that were acknowledged")
    serve(study, serving, say=lambda links: _say_links(study, serving, links), new=new)
    say("ended; every acknowledged answer is stored")


@click.command("preview", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen at; else any free one.")
@click.option("--out", type=_FOLDER, help="Write the pages as files into this folder instead of serving them.")
def preview(file: Path, *, port: int, out: Path | None) -> None:
    """Show every page of a study without storing anything.

    Texts that are missing yet are shown as missing.
    """
    study = read_study(file)
    if out is None:
        serve_preview(study, port=port, say=lambda url: say(f"every page of the study: {url}   (Ctrl-C ends it)"))
        return
    written = write_preview(study, out)
    say(f"written: {out} ({len(written)} pages); open {written[0]}")


def _check_ready(study: StudyOnDisk) -> None:
    problems = launch_problems(study.definition, study.items)
    if problems:
        listed = [str(study.file.error(problem)) for problem in problems]
        n = len(problems)
        listed.append(f"not served: {n} {'thing stands' if n == 1 else 'things stand'} in the way of the launch")
        raise Failure("\n".join(listed))


def _say_links(study: StudyOnDisk, serving: Serving, links: StudyLinks) -> None:
    say(f"study: {study.definition.name}, stored in {'PostgreSQL' if serving.postgres else study.folder}")
    if links.set_aside is not None:
        remark(f"Warning: this study starts again without earlier answers. What is left of it is in {links.set_aside}.")
        remark("That folder holds platform IDs: delete it when you no longer need it.")
    if links.participants:
        say(f"participants: {links.participants}")
    else:
        say_folded(f"participants: a link for each, made by lexiscope annotate invite {study.folder} --n 20")
    say(f"researcher:   {links.researcher}")
    if links.set_up:
        say(f"set a password first (one person, once, within 24 hours): {links.set_up}")
    say("Ctrl-C ends it")
