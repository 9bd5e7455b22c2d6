"""``lexiscope annotate init|template|check|design``: set a study up."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from lexiscope.annotation.export.preregistration import preregistration_template
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.definition_file import DefinitionFile, read_definition
from lexiscope.annotation.study_file.design import DividedLists, build_design
from lexiscope.annotation.study_file.items import file_items, read_study_items, study_items, table_items
from lexiscope.annotation.study_file.launch import Problem, launch_problems, launch_warnings
from lexiscope.annotation.study_file.launch_screen import search_problems
from lexiscope.annotation.study_file.page_texts import participants_texts
from lexiscope.annotation.study_file.template import (
    TEXTS,
    about_you_words,
    check_words,
    draft_definition,
    with_drawn_lists,
    write_draft,
)
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
from lexiscope.tasks.kit.asking import PromptText, prompt_text
from lexiscope.tasks.kit.words_file import PromptWords, read_words, words_template


@click.command("init", cls=Verb)
@click.option(
    "--task",
    default=DEFAULT,
    show_default=True,
    type=options.CatalogName("tasks"),
    help="Question to ask: a task from `lexiscope list tasks`.",
)
@click.option("--items", "items_file", required=True, metavar="FILE", help="Your item file.")
@options.column_map
@click.option("--language", metavar="TAG", help="Language code (es, en), if the items have no column for it.")
@click.option("--name", default="study", show_default=True, help="Short name of the study.")
@click.option(
    "--wording",
    type=click.Choice(("own", "published")),
    default="own",
    show_default=True,
    help="Instructions, qualification, anchors and page texts: Lexiscope's own, or those of the task's paper.",
)
@click.option(
    "--words",
    "words_file",
    metavar="FILE",
    help="Your texts, in any language: a file of `lexiscope annotate words`. It also sets the language.",
)
@options.path("--out", metavar="FILE", about="Output file.", required=True)
def init(
    *,
    task: str,
    items_file: str,
    pairs: tuple[str, ...],
    language: str | None,
    name: str,
    wording: str,
    words_file: str | None,
    out: Path,
) -> None:
    """Write the file of a new study, with all settings.

    A comment describes each setting. Consent text and ethics statement are empty: only you can write them. The texts of
    a paper are read from the data folder.
    """
    path, column_map = existing_file(items_file), read_map(pairs)
    given = read_words(words_file, catalog.screen(task)) if words_file is not None else None
    if given is not None and words_file is not None:
        if wording == "published" or language not in (None, given.language):
            raise click.UsageError("--words sets language and wording. Remove --language and --wording.")
        check_words(given, words_file)
        language = given.language
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
        words=given,
    )
    draft = with_drawn_lists(draft, Path(items_file))
    write_draft(draft, out)
    if source.merged:
        say_folded(f"{source.merged}. If they are different items, give each row a unique item_id.")
    if wording == "published" and not draft.words.task:
        say_folded(
            "the texts of the page are Lexiscope's: the data folder has no ambistory/instruments/c_interface.txt, the "
            "text of the paper's appendix C (Figures 2 to 4)"
        )
    sizes = f"{counted(len(source.items), 'item')}, {counted(draft.design.lists, 'list')}"
    say(f"Saved {out} ({sizes})")
    say(f"Next: lexiscope annotate check {out}")


@click.command("words", cls=Verb)
@click.argument("task")
@click.option("--language", metavar="TAG", required=True, help="Language code of your texts: sw, de, pt-BR.")
@options.path("--out", metavar="FILE", about="Output file.", required=True)
def words(*, task: str, language: str, out: Path) -> None:
    """Write a file of words to fill in, for any language.

    The file has all texts of a task for participants and chat models, each under its English text. TASK is a task from
    `lexiscope list tasks`. In a language of the package, delete the texts that you do not want to change.
    """
    if out.exists():
        raise InputError(f"{out} exists already", code="E615", place=Place(str(out)), hint="name a new file")
    screen = catalog.screen(task)
    file = screen.folder / "prompt.txt"
    english = prompt_text(file, "en") if file.is_file() else PromptText("", "")
    text = words_template(
        screen,
        language,
        texts=TEXTS["en"],
        about_you=about_you_words("en"),
        pages=participants_texts(),
        prompt=PromptWords(system=english.system, user=english.user, not_quoted=english.not_quoted),
    )
    write_atomically(out, text)
    say(f"Saved {out}")
    say(
        f"Next: fill it in, then run lexiscope annotate init --task {task} --items ITEMS --words {out} --out study.yaml"
    )


@click.command("template", cls=Verb)
@click.option("--study", metavar="NAME", help="Study whose questions are listed: a name from `lexiscope list studies`.")
@options.path("--out", metavar="FILE", about="Output file.", required=True)
def template(*, study: str | None, out: Path) -> None:
    """Write a template of a pre-registration, with blanks to fill in.

    Fill the file in and register it before the first participant answers.
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
    """Check whether a study is ready to launch.

    Errors (E…) and warnings (W…) are shown at their lines. The exit status is 1 if there are errors. Warnings do not
    block the launch.
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
    """Print the design: the lists and their items."""
    study = read_definition(existing_file(file))
    made = design_of(study, study_items(study.definition))
    if as_json:
        print_json(_design_json(made))
        return
    say(made.text())
    checks = study.definition.trials_per_list
    say(f"{counted(len(made.items), 'item')}, in every list: {len(made.shared)}; checks per list: {checks}")
    say_folded(_participants_needed(study.definition, len(made.lists)))


def _participants_needed(definition: StudyDefinition, n_lists: int) -> str:
    """Return how many participants a study needs: per list and view; if items are drawn, the first wave."""
    per_item, arms = definition.ratings.per_item, len(definition.views)
    if catalog.screen(definition.task).drawn:
        writers = counted(definition.ratings.first_wave or per_item, "participant")
        answers = counted(definition.pool.per_person, "answer")
        return f"{writers} with {answers} each, plus replacements for excluded participants"
    by_view = f" in each of {arms} views ({', '.join(definition.views)})" if arms > 1 else ""
    wanted = counted(per_item * n_lists * arms, "participant")
    return (
        f"{counted(per_item, 'valid answer')} per item{by_view}: {wanted}, plus replacements for excluded participants"
    )


def _common_language(items: tuple[Item, ...]) -> str:
    languages = {usage.language for item in items for usage in item.usages}
    if len(languages) != 1 or languages == {"und"}:
        raise click.UsageError("The language of the items is unknown. Add --language, for example --language es.")
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
        they = "it does" if len(warnings) == 1 else "they do"
        say(f"{counted(len(warnings), 'warning')} ({they} not block the launch).")
    if problems:
        say(f"Not ready: {counted(len(problems), 'error')} to fix.")
        return
    pay, lists = study.definition.payment, counted(study.definition.design.lists, "list")
    say(f"Ready: {counted(len(items), 'item')}, {lists}, {pay.hourly:.2f} {pay.currency} per hour.")
    if study.definition.planned.questions:
        say(f"Next: lexiscope annotate sign {study.source.path} --by NAME. Without it, no result is confirmatory.")


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
