"""``lexiscope annotate simulate``: rehearse a study, in memory or through its server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.rehearsal.answers import Population
from lexiscope.annotation.rehearsal.simulate import RuleCatches, SimulationSummary, simulate
from lexiscope.annotation.rehearsal.through_server import ServerRun, rehearse_through_server
from lexiscope.annotation.study_file.definition_file import DefinitionFile, read_definition
from lexiscope.annotation.study_file.items import study_items
from lexiscope.annotation.study_file.launch import launch_problems
from lexiscope.annotation.study_file.study_folder import StudyOnDisk
from lexiscope.cli import options
from lexiscope.cli.annotate.setup import design_of
from lexiscope.cli.output import print_json, print_table, progress_bar, remark, say, say_folded
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.showing import counted, p_text
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED, SIMULATED_PARTICIPANTS

#: errors with which a rehearsal would be meaningless; missing texts do not disturb it
_BLOCKING = ("E402", "E407", "E408", "E421", "E422", "E616", "E617", "E619", "E625", "E626", "E627", "E628")


@click.command("simulate", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True, help="Number of rehearsals.")
@options.of_settings(Population)
@click.option("--through-server", is_flag=True, help="Run one rehearsal through the real server, page by page.")
@click.option("--people", type=click.IntRange(min=1), help="With --through-server: highest number of participants.")
@options.path("--out", metavar="FOLDER", about="With --through-server: write the export here.")
@options.as_json
@options.quiet
def simulate_study(
    file: Path,
    *,
    seeds: int,
    through_server: bool,
    people: int | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Rehearse a study with simulated participants.

    The rehearsal uses the real design, places, checks, exclusion rules and planned model. It prints the participants
    paid, cost, hours, ratings per item, the participants that each rule excludes, and the power of the planned test.
    --through-server runs one rehearsal, for any task, and can write an export. Set the shares as you expect them. All
    results that are computed from such an export are marked as simulated.
    """
    if not through_server and (people is not None or out is not None):
        raise click.UsageError("--people and --out need --through-server.")
    study = read_definition(existing_file(file))
    items = study_items(study.definition)
    problems = launch_problems(study.definition, items)
    for problem in problems:
        if problem.code in _BLOCKING:
            raise study.error(problem)
    population = options.make_settings(Population, given)
    if through_server:
        search = Path(study.definition.search) if study.definition.search else None
        on_disk = StudyOnDisk(study, items, file.with_suffix(""), search=search)
        rehearse_on_server(on_disk, population, people=people or 0, out=out, as_json=as_json, quiet=quiet)
        return
    if catalog.screen(study.definition.task).widget != "scale":
        raise InputError("This task does not collect ratings.", hint="Rehearse it with --through-server.")
    with progress_bar("rehearsing", quiet=quiet or as_json) as progress:
        seeds_used = range(1, seeds + 1)
        made = design_of(study, items)
        result = simulate(study.definition, made, population=population, seeds=seeds_used, progress=progress)
    if as_json:
        print_json(_simulated_json(result))
        return
    _print_simulated(study, result)
    if problems:
        errors = counted(len(problems), "error")
        remark(f"Not ready to launch: {errors} to fix. Run lexiscope annotate check {file}.", quiet=quiet)


def _print_simulated(study: DefinitionFile, result: SimulationSummary) -> None:
    rows: list[tuple[str, object, object]] = [
        (f"{SIMULATED_PARTICIPANTS} paid", f"{result.paid[0]:g}", f"{result.paid[1]:g}"),
        (f"cost ({study.definition.payment.currency})", f"{result.cost[0]:.2f}", f"{result.cost[1]:.2f}"),
        ("hours until the last answer", f"{result.hours[0]:.1f}", f"{result.hours[1]:.1f}"),
    ]
    title = f"{len(result.runs)} rehearsals, {result.n_complete} complete"
    print_table(("", "median", "95 %"), rows, title=title, right=("median", "95 %"))
    say(f"Valid ratings per item: {result.fewest_ratings} to {result.most_ratings}, mean {result.mean_ratings:.2f}")
    say()
    _print_rules(result.rules, result.missed, title=f"{SIMULATED_PARTICIPANTS} excluded, over all rehearsals")
    planned = study.definition.planned
    if not planned.model:
        say("No analysis is planned, so there is no power.")
    elif result.power is None or result.power_se is None or result.estimate is None:
        recovered = result.runs[0].recovered
        say_folded(f"Could not fit the planned model: {'' if recovered is None else recovered.reason}")
    else:
        say_folded(
            f"{planned.effect}: simulated {planned.size:g} points, estimated {result.estimate:.3f} on average; "
            f"significant at .05 in {result.power:.0%} of {result.n_tested} rehearsals (SE {result.power_se:.1%}); "
            f"{planned.model}"
        )


def _print_rules(rules: Sequence[RuleCatches], missed: Iterable[tuple[str, int]], *, title: str) -> None:
    """Print how many participants of each kind each exclusion rule excluded, and how many no rule excluded."""
    caught: list[tuple[object, ...]] = [(r.rule, r.careless, r.slow, r.non_native, r.attentive) for r in rules]
    caught.append(("(no rule)", *(n for _, n in missed), ""))
    columns = ("rule", "careless", "slow", "non-native", "attentive")
    print_table(columns, caught, title=title, right=columns[1:], whole=columns[1:])


def _simulated_json(result: SimulationSummary) -> dict[str, Any]:
    names = ("complete", "paid", "excluded", "left", "returned", "surplus", "screened_out", "turned_away", "hours")
    runs = [
        {
            "seed": run.seed,
            **{name: getattr(run.recruited, name) for name in names},
            "cost": run.cost,
            "valid_per_list": run.recruited.valid_per_list,
            "recovered": None if run.recovered is None else asdict(run.recovered),
        }
        for run in result.runs
    ]
    whole = {name: getattr(result, name) for name in result.__slots__ if name not in ("runs", "rules")}
    return {KIND_COLUMN: SIMULATED, **whole, "rules": [asdict(rule) for rule in result.rules], "runs": runs}


# -- what ``lexiscope annotate simulate --through-server`` does and prints ------------------------------------------


def rehearse_on_server(
    study: StudyOnDisk, population: Population, *, people: int, out: Path | None, as_json: bool, quiet: bool
) -> None:
    """Rehearse a study through its server once, print the results, and write the export if *out* is given.

    Errors: those of the rehearsal and of the export.
    """
    with progress_bar("rehearsing", quiet=quiet or as_json) as progress:
        run = rehearse_through_server(study, population=population, people=people, progress=progress)
    if out is not None:
        write_export(run.collected, out)
    if as_json:
        print_json(_server_run_json(run))
        return
    _print_server_run(study, run)
    if out is not None:
        remark(f"Saved {out}. All tables are marked: {SIMULATED_PARTICIPANTS}.", quiet=quiet)


def _print_server_run(study: StudyOnDisk, run: ServerRun) -> None:
    rows: list[tuple[str, object]] = [
        (f"{SIMULATED_PARTICIPANTS} paid", run.paid),
        ("valid", run.valid),
        ("excluded", run.excluded),
        *((f"({name.replace('_', ' ')})", n) for name, n in sorted(run.ends.items()) if name != "finished"),
        (f"cost ({study.definition.payment.currency})", f"{run.cost:.2f}"),
        ("hours until the last answer", f"{run.hours:.1f}"),
        ("answers to trials", run.n_answers),
        ("requests", run.n_requests),
        ("processor time per answer (ms)", f"{run.cpu_ms:.2f}"),
    ]
    title = f"One rehearsal through the server, {SIMULATED_PARTICIPANTS}" + ("" if run.complete else ", not complete")
    print_table(("", "n"), rows, title=title, right=("n",))
    fewest, middle, most = run.ratings
    say(f"Valid answers per item: {fewest} to {most}, mean {middle:.2f}")
    say()
    if run.rules:
        _print_rules(run.rules, run.missed, title=f"{SIMULATED_PARTICIPANTS} excluded")
    planned, fitted = study.definition.planned, run.recovered
    if fitted is None:
        say("No analysis is planned.")
    elif fitted.estimate is None or fitted.p is None:
        say_folded(f"Could not fit the planned model: {fitted.reason}")
    else:
        say_folded(
            f"{planned.effect}: simulated {planned.size:g} points, estimated {fitted.estimate:.3f} "
            f"(SE {fitted.se or 0:.3f}), {p_text(fitted.p)} in this rehearsal. For the power, run it without "
            "--through-server."
        )


def _server_run_json(run: ServerRun) -> dict[str, Any]:
    plain = {name: getattr(run, name) for name in run.__slots__ if name not in ("rules", "recovered", "collected")}
    rules = [asdict(rule) for rule in run.rules]
    return (
        {KIND_COLUMN: SIMULATED}
        | plain
        | {"rules": rules, "recovered": None if run.recovered is None else asdict(run.recovered)}
    )
