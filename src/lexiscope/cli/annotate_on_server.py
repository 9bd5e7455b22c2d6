"""What ``lexiscope annotate simulate --through-server`` does and prints."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.rehearsal.population import Population
from lexiscope.annotation.rehearsal.run_report import ServerRun
from lexiscope.annotation.rehearsal.through_server import rehearse_through_server
from lexiscope.annotation.study_file.launched import StudyOnDisk
from lexiscope.cli.output import print_json, print_table, progress_bar, remark, say, say_folded
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED, SIMULATED_PARTICIPANTS


def rehearse_on_server(
    study: StudyOnDisk, population: Population, *, people: int, out: Path | None, as_json: bool, quiet: bool
) -> None:
    """Rehearse a study through its server once, print what was found, and write the export where it is asked for.

    Errors: those of the rehearsal and of the export.
    """
    with progress_bar("rehearsing", quiet=quiet or as_json) as progress:
        run = rehearse_through_server(study, population=population, people=people, progress=progress)
    if out is not None:
        write_export(run.collected, out)
    if as_json:
        print_json(_as_json(run))
        return
    _show(study, run)
    if out is not None:
        remark(f"written: {out}; every table in it is marked: {SIMULATED_PARTICIPANTS}", quiet=quiet)


def _show(study: StudyOnDisk, run: ServerRun) -> None:
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
    title = f"one rehearsal through the server, {SIMULATED_PARTICIPANTS}" + ("" if run.complete else ", not complete")
    print_table(("", "n"), rows, title=title, right=("n",))
    fewest, middle, most = run.ratings
    say(f"valid answers to an item: {fewest} to {most}, mean {middle:.2f}")
    say()
    if run.rules:
        caught: list[tuple[object, ...]] = [(r.rule, r.careless, r.slow, r.non_native, r.attentive) for r in run.rules]
        caught.append(("(missed by all)", *(n for _, n in run.missed), ""))
        columns = ("rule", "careless", "slow", "non-native", "attentive")
        print_table(columns, caught, title=f"{SIMULATED_PARTICIPANTS} caught", right=columns[1:], whole=columns[1:])
    _show_effect(study, run)


def _show_effect(study: StudyOnDisk, run: ServerRun) -> None:
    planned, found = study.definition.planned, run.recovered
    if found is None:
        say("no analysis is planned")
    elif found.estimate is None or found.p is None:
        say_folded(f"the planned model could not be fitted: {found.reason}")
    else:
        say_folded(
            f"{planned.effect}: planted {planned.size:g} points, found {found.estimate:.3f} (SE {found.se or 0:.3f}), "
            f"p = {found.p:.4f} in this rehearsal; its power takes many: leave --through-server out"
        )


def _as_json(run: ServerRun) -> dict[str, Any]:
    plain = {name: getattr(run, name) for name in run.__slots__ if name not in ("rules", "recovered", "collected")}
    rules = [asdict(rule) for rule in run.rules]
    return (
        {KIND_COLUMN: SIMULATED}
        | plain
        | {"rules": rules, "recovered": None if run.recovered is None else asdict(run.recovered)}
    )
