"""``lexiscope verify``: does a run hold what it says?"""

from __future__ import annotations

from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.main import pin_threads
from lexiscope.cli.output import print_json, say
from lexiscope.cli.verb import Verb
from lexiscope.core.settings import Settings
from lexiscope.studies.kit.verify import verify_run


@click.command(cls=Verb)
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.option("--checksums", "only_checksums", is_flag=True, help="Compare checksums only; compute nothing again.")
@options.as_json
@options.quiet
def verify(*, run: Path, only_checksums: bool, as_json: bool, quiet: bool) -> None:
    """Check that the files of a run are unchanged, and recompute it.

    Every file of RUN is compared with its sha256 in run.json, run.json with its own. Then the table of answers is put
    together from its parts again and must have the same rows. A study is run again on the answers that it collected,
    in a temporary folder, and its files must be identical. Exit status 1 names each file that is not as it was
    written, and the command that makes it again. Nothing in RUN is changed.
    """
    lines = verify_run(run, only_checksums=only_checksums, prepare=_pin_threads)
    if as_json:
        print_json({"run": str(run), "checked": lines})
        return
    for line in lines if not quiet else ():
        say(line)
    say(f"{run}: no differences")


def _pin_threads(settings: Settings) -> None:
    pin_threads(("--threads", str(settings.threads)))
