"""``lexiscope annotate init|template|check|design``: set a study up."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from lexiscope.annotation.export.preregistration import preregistration_template
from lexiscope.annotation.study_file.definition import StudyDefinition, text_versions
from lexiscope.annotation.study_file.definition_file import DefinitionFile, read_definition
from lexiscope.annotation.study_file.design import DividedLists, build_design
from lexiscope.annotation.study_file.items import file_items, read_study_items, study_items, table_items
from lexiscope.annotation.study_file.launch import Problem, launch_problems, launch_warnings
from lexiscope.annotation.study_file.launch_screen import search_problems
from lexiscope.annotation.study_file.template import draft_definition, with_drawn_lists, write_draft
from lexiscope.cli import options
from lexiscope.cli.check import read_map
from lexiscope.cli.output import print_json, say, say_folded
from lexiscope.cli.verb import Verb, existing_file
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.run import write_atomically
from lexiscope.core.showing import counted
from lexiscope.core.study import Question
from lexiscope.tasks import DEFAULT


@click.command("init", cls=Verb)
@click.option("--task", default=DEFAULT, show_default=True, help="The question: a task of `lexiscope list tasks`.")
@click.option("--items", "items_file", required=True, metavar="FILE", help="The items that people are to answer.")
@options.column_map
@click.option("--language", metavar="TAG", help="Language of items and texts, where no column gives it: es, en.")
@click.option("--name", default="study", show_default=True, help="A short name.")
@click.option(
    "--wording",
    type=click.Choice(("own", "published")),
    default="own",
    show_default=True,
    help="Instructions and qualification: Lexiscope's own, or those of the task's paper.",
)
@options.path("--out", metavar="FILE", about="The file to write.", required=True)
def init(
    *, task: str, items_file: str, pairs: tuple[str, ...], language: str | None, name: str, wording: str, out: Path
) -> None:
    """Write the file of a new study, every setting spelled out.

    Consent and ethics statement stay empty: only you can write them. The words of a paper are read from the data
    folder.
    """
    path, column_map = existing_file(items_file), read_map(pairs)
    # a table that Lexiscope wrote names its columns itself
    source = (table_items(path) if not pairs else None) or file_items(
        path, column_map, task=task, dataset=name, language=language or "und"
    )
    draft = draft_definition(
        source.items,
        task=task,
        items_file=items_file,
        language=language or _common_language(source.items),
        name=name,
        columns=dict(column_map.items()),
        published=wording == "published",
    )
    draft = with_drawn_lists(draft, Path(items_file))
    write_draft(draft, out)
    if source.merged:
        say(f"{source.merged}: give each row an item_id of its own where they are different items")
    say(f"written: {out} (items: {len(source.items)}, lists: {draft.design.lists})")
    say(f"next: lexiscope annotate check {out}")


@click.command("template", cls=Verb)
@click.option("--study", metavar="NAME", help="List the questions of this study: a name from `lexiscope list studies`.")
@options.path("--out", metavar="FILE", about="The file to write.", required=True)
def template(*, study: str | None, out: Path) -> None:
    """Write a template of a pre-registration, with blanks to fill in.

    The file says TEMPLATE. Fill it in and register it before the first participant answers.
    """
    if out.exists():
        raise InputError(f"{out} exists already", code="E615", place=Place(str(out)), hint="name a new file")
    named: Any = catalog.study(study) if study else None
    questions: tuple[Question, ...] = named.QUESTIONS if study else ()
    write_atomically(out, preregistration_template([(question.question_id, question.text) for question in questions]))
    say(f"Saved {out}")
    say("Next: replace every ____ and register the text before the first participant answers.")


@click.command("check", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@options.as_json
@click.pass_context
def check(ctx: click.Context, /, file: Path, *, as_json: bool) -> None:
    """Say whether a study may be launched, and what is missing.

    The exit status is 0 where nothing stands in the way, else 1. A warning (W…) stands in nobody's way.
    """
    study = read_definition(existing_file(file))
    source = read_study_items(study.definition)
    problems = (*launch_problems(study.definition, source.items), *search_problems(study.definition))
    warnings = launch_warnings(study.definition, source.items, merged=source.merged)
    if as_json:
        print_json([_problem_json(study, problem) for problem in (*problems, *warnings)])
    else:
        _print_problems(study, source.items, problems, warnings)
    ctx.exit(1 if problems else 0)


@click.command("design", cls=Verb)
@click.argument("file", type=click.Path(path_type=Path))
@options.as_json
def design(file: Path, *, as_json: bool) -> None:
    """Print the design: the lists, and what each of them holds."""
    study = read_definition(existing_file(file))
    made = design_of(study, study_items(study.definition))
    if as_json:
        print_json(_design_json(made))
        return
    say(made.text())
    checks = study.definition.trials_per_list
    say(f"{counted(len(made.items), 'item')}, {len(made.shared)} of them in every list; checks in each list: {checks}")
    say_folded(_participants_needed(study.definition, len(made.lists)))


def _participants_needed(definition: StudyDefinition, n_lists: int) -> str:
    """How many people a study needs: for each list of each arm; where items are drawn, those that it opens at first."""
    per_item, arms = definition.ratings.per_item, len(definition.views)
    if catalog.screen(definition.task).drawn:
        writers = counted(definition.ratings.first_wave or per_item, "person", "people")
        return f"{writers}, {counted(definition.pool.per_person, 'answer')} each, besides those excluded"
    by_arm = f" in each of {arms} arms ({', '.join(definition.views)})" if arms > 1 else ""
    wanted = counted(per_item * n_lists * arms, "person", "people")
    return f"{counted(per_item, 'valid answer')} an item{by_arm}: {wanted}, besides those excluded"


def _common_language(items: tuple[Item, ...]) -> str:
    languages = {usage.language for item in items for usage in item.usages}
    if len(languages) != 1 or languages == {"und"}:
        raise click.UsageError("name the language of items and texts: --language es")
    return languages.pop()


def design_of(study: DefinitionFile, items: tuple[Item, ...]) -> DividedLists:
    """Build the design of a study.

    Errors: those of the design, at its place in the file.
    """
    settings = study.definition.design
    try:
        return build_design(items, settings, study.definition.catch)
    except InputError as error:
        place = study.place(("design",))
        raise InputError(
            error.what, code=error.code, place=place, why=str(error.place or ""), hint=error.hint
        ) from error


def _print_problems(
    study: DefinitionFile, items: tuple[Item, ...], problems: tuple[Problem, ...], warnings: tuple[Problem, ...]
) -> None:
    for problem in (*problems, *warnings):
        say(str(study.error(problem)))
    if warnings:
        say(f"{counted(len(warnings), 'warning')}: nothing that stands in the way")
    if problems:
        say(f"not ready: {len(problems)} {'thing stands' if len(problems) == 1 else 'things stand'} in the way")
        return
    pay = study.definition.payment
    say(f"ready. Items: {len(items)}, lists: {study.definition.design.lists}, {pay.hourly:.2f} {pay.currency} an hour")
    versions = [f"{name} {version}" for name, version in text_versions(study.definition).items() if version]
    say_folded("versions of the texts: " + ", ".join(versions))


def _problem_json(study: DefinitionFile, problem: Problem) -> dict[str, Any]:
    place = study.place(problem.keys)
    where = {"path": place.path, "line": place.line, "column": place.column}
    setting = ".".join(str(key) for key in problem.keys)
    severity = "warning" if problem.code.startswith("W") else "error"
    said = {"code": problem.code, "severity": severity, "setting": setting}
    return {**said, "what": problem.what, "what_to_do": problem.hint, **where}


def _design_json(made: DividedLists) -> dict[str, Any]:
    lists = [
        {**asdict(line), "items": [i.item_id for i in items], "catch": [i.item_id for i in catch]}
        for line, items, catch in zip(made.lines, made.lists, made.catch, strict=True)
    ]
    return {"seed": made.seed, "shared": sorted(made.shared), "lists": lists}
