"""``lexiscope study``: run a whole paper, on its data or on the user's."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import click

from lexiscope.cli import options
from lexiscope.cli.main import pin_threads
from lexiscope.cli.output import progress_bar, remark, remark_threads, say, say_plain_table
from lexiscope.cli.study_file import read_study_file, write_study_file
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import SpecError
from lexiscope.core.study import StudySettings
from lexiscope.report.study_run import Summary
from lexiscope.report.tables import to_text

Run = Callable[..., Summary]


@click.command(cls=Verb)
@click.argument("name", metavar="NAME|FILE.yaml")
@click.option(
    "--dataset",
    "datasets",
    multiple=True,
    metavar="DATASET",
    help="A dataset of the catalog instead of the study's own. Of context_bias and sense_induction: may be repeated.",
)
@click.option("--items", metavar="FILE", help="Your own items, with ratings where there are any.")
@click.option("--templates", metavar="FILE", help="Of synonymy: templates of your own: other relations, languages.")
@click.option("--scale", nargs=2, type=float, metavar="LOW HIGH", help="The rating scale of your items.")
@click.option("--language", metavar="TAG", help="The language of your items.")
@options.subjects
@click.option("--recorded", multiple=True, metavar="ID", help="Only these recorded models. May be repeated.")
@options.views
@click.option(
    "--mixed",
    "mixed_models",
    type=click.Choice(("paper", "maximal", "every", "none")),
    help="Mixed models: published tests; also with maximal random effects; of every subject; none.",
)
@click.option("--agreement", type=click.Choice(("leave_one_out", "included")), help="Which variant is the main one.")
@click.option(
    "--exclude",
    "exclusions",
    multiple=True,
    metavar="RULE",
    help="An exclusion rule, as low_agreement(r_squared=0.1). May be repeated.",
)
@click.option("--mode", type=click.Choice(("clean", "published")), help="Of synonymy: texts repaired, or as released.")
@click.option(
    "--per",
    type=click.Choice(("token", "text", "character", "byte")),
    help="Of synonymy: what a log-probability is divided by where it decides.",
)
@click.option("--frequency", metavar="FILE", help="Of synonymy: word counts (word, count) for the baseline.")
@click.option("--gap-filling", type=click.Choice(("yes", "no")), help="Of synonymy: let subjects that generate do so.")
@click.option(
    "--checkpoint",
    "checkpoints",
    nargs=2,
    type=(str, float),
    multiple=True,
    metavar="SPEC TOKENS",
    help="Of synonymy: a state of a model in training and how far it was. May be repeated.",
)
@click.option("--word-list", metavar="FILE", help="Of synonymy: words to flag in the texts, one a line.")
@click.option(
    "--split",
    type=click.Choice(("test", "dev", "train", "all")),
    help="Of ambistory: the samples that live subjects are asked.  [default: test]",
)
@click.option(
    "--compare",
    nargs=2,
    type=str,
    multiple=True,
    metavar="TUNED BASE",
    help="Of ambistory: a trained model and its base, whose errors are compared. May be repeated.",
)
@click.option(
    "--coding",
    "codings",
    multiple=True,
    metavar="FILE",
    help="Of ambistory: a sheet of errors that a person tagged, named after its coder. May be repeated.",
)
@click.option(
    "--encoder",
    "encoders",
    multiple=True,
    metavar="NAME",
    help="Of context_bias: what is trained or probed: words, look_up, minilm, a folder, a hub id. May be repeated.",
)
@click.option(
    "--protocol",
    type=click.Choice(("auto", "linear", "zero_shot", "reduced", "full")),
    help="Of context_bias: how much is trained.  [default: a linear probe, or what fits into --budget]",
)
@click.option("--budget", metavar="TIME", help="Of context_bias: what all trainings may take, as 30m or 1h30m.")
@click.option(
    "--people",
    multiple=True,
    metavar="FILE",
    help="Of context_bias and sense_induction: people's answers. May be repeated.",
)
@click.option("--planted", metavar="PATH", help="Of sense_induction: usages of pseudo-words; made_up: text by rule.")
@click.option("--synset", metavar="SYNSET", help="Of sense_induction: whose sentences show how a sense is chosen.")
@click.option(
    "--word", "words", multiple=True, metavar="WORD", help="Of sense_induction: show its senses. May be repeated."
)
@click.option(
    "--corpus",
    multiple=True,
    metavar="FILE|FOLDER",
    help="Of sense_induction: text that examples of these words come from. May be repeated.",
)
@click.option("--bootstrap", "n_bootstrap", type=click.IntRange(min=0), help="Resamples per interval; 0: none.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of resampling and random starts.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads of the numerical libraries.  [default: 1]")
@click.option("--device", help="Where live models run: cpu, cuda, mps.")
@click.option("--title", help="Title of the report.")
@click.option("--out", type=click.Path(path_type=Path), metavar="RUN", help="The run folder.")
@click.option(
    "--write-yaml", type=click.Path(path_type=Path), metavar="FILE", help="Write all settings to a file, stop."
)
@options.quiet
def study(*, name: str, out: Path | None, write_yaml: Path | None, quiet: bool, **given: Any) -> None:
    """Run a study: a whole paper, on its data or on yours.

    NAME is a study of the catalog; FILE.yaml holds the settings of one (--write-yaml writes such a file with every
    setting spelled out). Options given here override the file. The same command on the same folder continues a
    broken run and leaves a finished one as it is.
    """
    settings = settings_of(name, given)
    if write_yaml is not None:
        write_study_file(settings, write_yaml)
        say(f"written: {write_yaml}")
        return
    if out is None:
        raise click.UsageError("name the run folder: --out RUN")
    run = _runner(settings.study)
    if os.environ.get("OMP_NUM_THREADS") != str(settings.threads):
        # a study file asks for another number than the command line: models, loaded later, still take it up
        pin_threads(("--threads", str(settings.threads)))
    remark_threads(settings.threads, quiet=quiet)
    with progress_bar(settings.study, quiet=quiet) as progress:
        summary = run(settings, out, progress=progress, command=shlex.join(["lexiscope", *sys.argv[1:]]))
    if summary.overview.rows:
        say_plain_table(to_text(summary.overview))
    for text in summary.remarks:
        remark(text, quiet=quiet)
    say(f"{summary.n_records} numbers in {out / 'results.json'}; the report: {summary.report}")


def settings_of(name: str, given: dict[str, Any]) -> StudySettings:
    """Return the settings of a study by name or file, with the options that were given on the command line.

    An option that names data replaces the other way of naming them.
    """
    settings = _named(name)
    chosen = {key: value for key, value in given.items() if value is not None and value != ()}
    if "datasets" in chosen:
        several = chosen["datasets"]
        chosen |= {"dataset": several[0], "datasets": ()} if len(several) == 1 else {"dataset": ""}
    elif "items" in chosen:
        chosen |= {"dataset": "", "datasets": ()}
    if "datasets" in chosen and "items" not in chosen:
        chosen["items"] = ""
    files = [chosen[option] for option in ("items", "frequency", "word_list", "templates") if chosen.get(option)]
    planted = chosen.get("planted")
    files += [planted] if planted not in (None, "made_up") and not Path(planted).is_dir() else []
    for path in (*files, *chosen.get("people", ())):
        existing_file(path)
    return replace(settings, **chosen)


def _named(name: str) -> StudySettings:
    if Path(name).suffix in (".yaml", ".yml"):
        return read_study_file(existing_file(name))
    # an unknown name is refused here, with the nearest known one, and before anything is written
    catalog.summary("studies", name)
    return StudySettings(study=name)


def _runner(name: str) -> Run:
    module = catalog.module("studies", name)
    if not hasattr(module, "run"):
        raise SpecError(f"the study {name!r} has no function run")
    return cast(Run, module.run)
