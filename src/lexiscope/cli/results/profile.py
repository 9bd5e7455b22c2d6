"""``lexiscope profile``: what models know of words, as a share of what people attain."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lexiscope.cli import options
from lexiscope.cli.output import print_json, print_table, progress_bar, remark, say, say_folded
from lexiscope.cli.results.costs import print_costs
from lexiscope.cli.verb import Verb
from lexiscope.collect import with_run_options
from lexiscope.report.profile.content import ShownModel, ShownProfile
from lexiscope.report.profile.sentences import comparison_sentence, lead
from lexiscope.studies.kit.profile.battery import DEFAULT, load_battery
from lexiscope.studies.kit.profile.profiled import profile_costs, profile_models
from lexiscope.studies.kit.profile.run_folder import profile, write_profile
from lexiscope.studies.kit.profile.shown import shown_profile


@click.command("profile", cls=Verb)
@click.argument("models", metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "--battery",
    default=DEFAULT,
    show_default=True,
    metavar="mini|core-2026.1|FILE",
    help="Questions to ask: embedded items, published data, or a YAML file.",
)
@options.path("--out", metavar="RUN", about="The run folder.", required=True)
@options.path("--cache", metavar="FOLDER", about="Folder of kept answers. Default: the user's cache.")
@click.option("--dry-run", is_flag=True, help="Write nothing: show requests, tokens, price and device hours.")
@click.option("--any-language", is_flag=True, help="Ask lines in languages that a model does not declare, too.")
@options.of_arguments(profile, "seed")
@options.device
@options.threads
@options.engine
@options.as_json
@options.quiet
def profile_verb(
    *,
    models: tuple[str, ...],
    battery: str,
    out: Path,
    cache: Path | None,
    dry_run: bool,
    any_language: bool,
    seed: int,
    device: str,
    threads: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Profile what models know of words, as a share of what people attain.

    A MODEL is the spec of a subject, such as encoder:minilm, or the name of a model whose answers were published with
    the data, such as gpt-4. Each line of the battery is asked once: answers are kept by their content, and a second
    profile of a model loads no weights. With several models the page has a comparison, too: paired differences on the
    same words, and which models cannot be distinguished.
    """
    chosen = load_battery(battery)
    # a name without a kind is that of a model whose answers were published
    models = tuple(with_run_options(model, device=device) if ":" in model else model for model in models)
    remark(f"battery: {chosen}", quiet=quiet)
    if dry_run:
        costs = profile_costs(models, battery=chosen, cache=cache, any_language=any_language, seed=seed)
        print_costs(costs, as_json=as_json)
        return
    with progress_bar(chosen.name, quiet=quiet) as report:
        made = profile_models(
            models, battery=chosen, cache=cache, any_language=any_language, seed=seed, progress=report
        )  # fmt: skip
    page = write_profile(made, out, command=["lexiscope", *sys.argv[1:]])
    if as_json:
        print_json([record.content() for record in made.records()])
        return
    shown = shown_profile(made)
    for model in shown.models:
        _say_model(shown, model)
    for comparison in shown.comparisons:
        say_folded(comparison_sentence(shown, comparison))
    say(f"Report: {page}")


def _say_model(shown: ShownProfile, model: ShownModel) -> None:
    say(f"{model.title} ({model.facts})")
    for sentence in lead(shown, model):
        say_folded(sentence)
    rows = []
    for line in shown.lines:
        cell = model.cells[line.id]
        if cell.value is None:
            rows.append([line.title, "", "", f"{cell.gap}: {cell.why}"])
        else:
            share = cell.share.both if cell.share else "no ceiling"
            rows.append([line.title, line.statistic, cell.value.both, share])
    print_table(("line", "", "model", "share of the attainable"), rows)
    parts = [f"{family.title} {family.share.both}" for family in model.families if family.share]
    say_folded(f"Families: {'; '.join(parts) or 'none has a number'}")
    say()
