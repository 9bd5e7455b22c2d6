"""``lexiscope annotate``: set up a study with people, check it, see its design, rehearse it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from lexiscope.annotation.definition import text_versions
from lexiscope.annotation.definition_file import DefinitionFile, read_definition, write_definition
from lexiscope.annotation.design import Design, build_design
from lexiscope.annotation.launch import Problem, ready_to_launch
from lexiscope.annotation.material import study_items
from lexiscope.annotation.rehearsal.population import Population
from lexiscope.annotation.rehearsal.simulate import Simulated, simulate
from lexiscope.annotation.template import draft_definition
from lexiscope.cli.check import read_map
from lexiscope.cli.options import as_json as json_option
from lexiscope.cli.options import quiet as quiet_option
from lexiscope.cli.output import print_json, print_table, progress_bar, remark, say, say_folded
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.items.importer import import_items

#: problems with which a rehearsal would mean nothing; missing texts do not disturb it
_BLOCKING = ("E402", "E407", "E408", "E421", "E422", "E625", "E626", "E627", "E628")


@click.group()
def annotate() -> None:
    """Set up a study with people: draft, check, design, rehearse."""


@annotate.command("init", cls=Verb)
@click.option(
    "--task", default="relatedness", show_default=True, help="The question: a task of `lexiscope list tasks`."
)
@click.option("--items", "items_file", required=True, metavar="FILE", help="The items that people are to answer.")
@click.option("--map", "pairs", multiple=True, metavar="PART=COLUMN", help="Which column holds what: sentence_1=Frase.")
@click.option("--language", metavar="TAG", help="Language of items and texts, where no column gives it: es, en.")
@click.option("--name", default="study", show_default=True, help="A short name.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The file to write.")
def init(*, task: str, items_file: str, pairs: tuple[str, ...], language: str | None, name: str, out: Path) -> None:
    """Write the file of a new study, every setting spelled out.

    Consent and ethics statement stay empty: only you can write them.
    """
    columns = dict(read_map(pairs).items())
    found = import_items(
        existing_file(items_file),
        read_map(pairs),
        dataset=name,
        task=task,
        language=language or "und",
        conditions=catalog.screen(task).requires,
    )
    draft = draft_definition(
        found.items,
        task=task,
        items_file=items_file,
        language=language or _language(found.items),
        name=name,
        columns=columns,
    )
    write_definition(draft, out)
    say(f"written: {out} (items: {len(found.items)}, lists: {draft.design.lists})")
    say(f"next: lexiscope annotate check {out}")


@annotate.command("check", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def check(ctx: click.Context, /, file: Path, *, as_json: bool) -> None:
    """Say whether a study may be launched, and what is missing.

    The exit status is 0 where nothing stands in the way, else 1.
    """
    study = read_definition(existing_file(file))
    items = study_items(study.definition)
    problems = ready_to_launch(study.definition, items)
    if as_json:
        print_json([_as_json(study, problem) for problem in problems])
    else:
        _show_problems(study, items, problems)
    ctx.exit(1 if problems else 0)


@annotate.command("design", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def design(file: Path, *, as_json: bool) -> None:
    """Print the design: the lists, and what each of them holds."""
    study = read_definition(existing_file(file))
    made = _design(study, study_items(study.definition))
    if as_json:
        print_json(_design_json(made))
        return
    say(made.text())
    people = study.definition.ratings.per_item * len(made.lists)
    checks = study.definition.trials_per_list
    say(f"{len(made.items)} items, {len(made.shared)} of them in every list; checks in each list: {checks}")
    say(f"{study.definition.ratings.per_item} valid answers an item: {people} people, besides those excluded")


@annotate.command("simulate", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--seeds", type=click.IntRange(min=1), default=20, show_default=True, help="How many rehearsals.")
@click.option("--dropout", type=click.FloatRange(0, 0.99), default=0.12, show_default=True, help="Share who leave.")
@click.option("--careless", type=click.FloatRange(0, 1), default=0.04, show_default=True, help="Share who do not look.")
@click.option(
    "--slow", type=click.FloatRange(0, 1), default=0.01, show_default=True, help="Share who take ten times as long."
)
@click.option("--non-native", type=click.FloatRange(0, 1), default=0.01, show_default=True, help="Share who say so.")
@click.option(
    "--noise", type=click.FloatRange(min=0), default=0.8, show_default=True, help="SD of an answer, in points."
)
@click.option(
    "--arrivals", type=click.FloatRange(min=0.1), default=30.0, show_default=True, help="People who come per hour."
)
@json_option
@quiet_option
def simulate_study(file: Path, *, seeds: int, arrivals: float, as_json: bool, quiet: bool, **people: float) -> None:
    """Rehearse a study with simulated participants.

    They go through the real design, places, checks, exclusion rules and planned model. Printed are people paid, cost,
    hours, ratings per item, whom the rules find, and the power of the planned test. Simulated people stand for nobody:
    set the shares to what you expect of yours.
    """
    study = read_definition(existing_file(file))
    items = study_items(study.definition)
    problems = ready_to_launch(study.definition, items)
    _refuse_blocking(study, problems)
    population = Population(arrivals_per_hour=arrivals, **people)
    with progress_bar("rehearsing", quiet=quiet or as_json) as progress:
        found = simulate(
            study.definition, _design(study, items), population=population, seeds=range(1, seeds + 1), progress=progress
        )
    if as_json:
        print_json(_simulated_json(found))
        return
    _show_simulated(study, found)
    if problems:
        remark(f"{len(problems)} things stand in the way of its launch: lexiscope annotate check {file}", quiet=quiet)


def _language(items: tuple[Item, ...]) -> str:
    languages = {usage.language for item in items for usage in item.usages}
    if len(languages) != 1 or languages == {"und"}:
        raise click.UsageError("name the language of items and texts: --language es")
    return languages.pop()


def _error(study: DefinitionFile, problem: Problem) -> InputError:
    return InputError(problem.what, code=problem.code, place=study.place(problem.keys), hint=problem.hint)


def _refuse_blocking(study: DefinitionFile, problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        if problem.code in _BLOCKING:
            raise _error(study, problem)


def _design(study: DefinitionFile, items: tuple[Item, ...]) -> Design:
    settings = study.definition.design
    try:
        return build_design(items, settings, study.definition.catch)
    except InputError as error:
        place = study.place(("design",))
        raise InputError(
            error.what, code=error.code, place=place, why=str(error.place or ""), hint=error.hint
        ) from error


def _show_problems(study: DefinitionFile, items: tuple[Item, ...], problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        say(str(_error(study, problem)))
    if problems:
        say(f"not ready: {len(problems)} {'thing stands' if len(problems) == 1 else 'things stand'} in the way")
        return
    pay = study.definition.payment
    say(f"ready. Items: {len(items)}, lists: {study.definition.design.lists}, {pay.hourly:.2f} {pay.currency} an hour")
    versions = [f"{name} {version}" for name, version in text_versions(study.definition).items() if version]
    say_folded("versions of the texts: " + ", ".join(versions))


def _as_json(study: DefinitionFile, problem: Problem) -> dict[str, Any]:
    place = study.place(problem.keys)
    where = {"path": place.path, "line": place.line, "column": place.column}
    setting = ".".join(str(key) for key in problem.keys)
    return {"code": problem.code, "setting": setting, "what": problem.what, "what_to_do": problem.hint, **where}


def _design_json(made: Design) -> dict[str, Any]:
    lists = [
        {**asdict(line), "items": [i.item_id for i in items], "catch": [i.item_id for i in catch]}
        for line, items, catch in zip(made.lines, made.lists, made.catch, strict=True)
    ]
    return {"seed": made.seed, "shared": sorted(made.shared), "lists": lists}


def _show_simulated(study: DefinitionFile, found: Simulated) -> None:
    n, currency = len(found.runs), study.definition.payment.currency
    rows: list[tuple[str, object, object]] = [
        ("people paid", f"{found.paid[0]:g}", f"{found.paid[1]:g}"),
        (f"cost ({currency})", f"{found.cost[0]:.2f}", f"{found.cost[1]:.2f}"),
        ("hours until the last answer", f"{found.hours[0]:.1f}", f"{found.hours[1]:.1f}"),
    ]
    print_table(
        ("", "median", "95 %"), rows, title=f"{n} rehearsals, {found.n_complete} complete", right=("median", "95 %")
    )
    say(f"valid ratings of an item: {found.fewest_ratings} to {found.most_ratings}, mean {found.mean_ratings:.2f}")
    say()
    caught = [(r.rule, r.careless, r.slow, r.non_native, r.attentive) for r in found.rules]
    missed = dict(found.missed)
    caught.append(("(missed by all)", missed["careless"], missed["slow"], missed["non_native"], ""))  # type: ignore[arg-type]
    columns = ("rule", "careless", "slow", "non-native", "attentive")
    print_table(columns, caught, title="people caught, over all rehearsals", right=columns[1:], whole=columns[1:])
    _show_power(study, found)


def _show_power(study: DefinitionFile, found: Simulated) -> None:
    planned = study.definition.planned
    if not planned.model:
        say("no analysis is planned: no power")
        return
    if found.power is None or found.power_se is None or found.estimate is None:
        recovered = found.runs[0].recovered
        say_folded(f"the planned model could not be fitted: {'' if recovered is None else recovered.reason}")
        return
    say_folded(
        f"{planned.effect}: planted {planned.size:g} points, found {found.estimate:.3f} on average; significant at .05 "
        f"in {found.power:.0%} of {found.n_tested} rehearsals (SE {found.power_se:.1%}); {planned.model}"
    )


def _simulated_json(found: Simulated) -> dict[str, Any]:
    runs = [
        {
            "seed": run.seed,
            "complete": run.recruited.complete,
            "paid": run.recruited.paid,
            "excluded": run.recruited.excluded,
            "left": run.recruited.left,
            "returned": run.recruited.returned,
            "surplus": run.recruited.surplus,
            "screened_out": run.recruited.screened_out,
            "turned_away": run.recruited.turned_away,
            "hours": run.recruited.hours,
            "cost": run.cost,
            "valid_per_list": run.recruited.valid_per_list,
            "recovered": None if run.recovered is None else asdict(run.recovered),
        }
        for run in found.runs
    ]
    whole = {name: getattr(found, name) for name in found.__slots__ if name not in ("runs", "rules")}
    return {**whole, "rules": [asdict(rule) for rule in found.rules], "runs": runs}
