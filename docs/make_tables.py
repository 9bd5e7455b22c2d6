"""Write what the documentation says of the catalog, the verbs, the statistics and the files: from the code itself.

``make docs-tables`` runs this file, and so does the build of the docs (``conf.py``). It writes the generated pages of
docs/reference. The repository does not keep the pages of the catalog (:data:`CATALOG`), so that adding a dataset, a
task, a kind of subject or a study changes no file. A house test compares the pages that it keeps with :func:`pages`:
one that is out of date is a failed test.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import click

import lexiscope
from lexiscope.analysis.exclusion import RULES
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.study_file.definition_file import setting_descriptions
from lexiscope.annotation.study_file.items import shown_columns
from lexiscope.annotation.web.openapi import openapi
from lexiscope.cli.main import VERBS, cli
from lexiscope.cli.study import StudyVerb
from lexiscope.core import catalog
from lexiscope.core.claims import Claim
from lexiscope.core.dataset import DatasetCard
from lexiscope.core.result import Record
from lexiscope.core.settings import Setting, Settings, own_settings, settings_of
from lexiscope.core.study import PlannedAnalysis, PublishedValue, Question
from lexiscope.studies.kit.settings_file import as_yaml
from lexiscope.studies.kit.study import statistics

ROOT = Path(__file__).resolve().parents[1]
GENERATED = "This page is generated from the code by `make docs-tables`; changes to it are overwritten."

#: field of a record -> what it holds; :func:`results_page` checks that every field stands here, and in this order
RECORD_FIELDS: dict[str, str] = {
    "statistic": "The name, with the parameters on which tools differ: `krippendorff_alpha(level=interval)`.",
    "value": "The number; `null` where the statistic is undefined or cannot be computed, and `note` says why.",
    "subject": "Who answered: a model's id; empty or `people` where it is about people only.",
    "dataset": "The dataset or the user's item file.",
    "layer": "0 = embeddings, 1..L; `null` where layers play no part.",
    "condition": "The condition, the effect, or what `n` counts.",
    "view": "What of the input the subject saw: `full`, `full+final_stop`.",
    "unit": "Unit of the value where it is not plain from the name.",
    "low": "Lower end of the interval.",
    "high": "Upper end of the interval.",
    "interval": "How the interval was made.",
    "n": "How many rows, items, raters … the value rests on.",
    "p": "The exact p-value of a test.",
    "published": "What the paper prints.",
    "source": "Where the paper prints it.",
    "status": "Whether the printed number is reproduced; the values are listed below.",
    "analysis": "`confirmatory` if a plan named the analysis before the first answer, else `exploratory`.",
    "question": "Id of the research question to which it belongs.",
    "note": "Why there is no value, or what a reader should know about it.",
    "people": "`simulated` where the judgments behind the number are of simulated participants; absent elsewhere.",
    "p_adjusted": "The p adjusted for the other tests of its family; absent where a test is alone or there is none.",
    "family": "The family of the test, its method and number of tests: `contrasts(method=holm,tests=84)`; else absent.",
    "bound": "`<` or `>` if the paper prints a bound, such as p < .001; else absent.",
}
STATUS: dict[str, str] = {
    "reproduced": "the value rounds to the printed digits",
    "within rounding": "it is off by at most one unit of the last printed digit",
    "not reproduced": "it is not, and `note` says why where that is known",
    "not reproducible": "the data behind the printed number were never published",
    "undefined": "the statistic has no value on these data",
    "(empty)": "no paper prints this number",
}


# -- text -----------------------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [" | ".join(header), " | ".join("---" for _ in header), *(" | ".join(map(_in_cell, row)) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def markdown(text: str) -> str:
    """Return a docstring's text as Markdown: literals and references as code.

    >>> markdown("``x`` as :class:`~lexiscope.core.errors.RunError` says")
    '`x` as `RunError` says'
    """
    text = re.sub(r":\w+:`~?(?:[\w]+\.)*(\w+)`", r"`\1`", text)
    return text.replace("``", "`")


def paragraph(documented: object, number: int = 0) -> str:
    """Return one paragraph of a docstring on one line; empty where there are fewer."""
    parts = (getattr(documented, "__doc__", None) or "").strip().split("\n\n")
    return markdown(" ".join(parts[number].split())) if number < len(parts) else ""


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _page(title: str, *blocks: str) -> str:
    return "\n\n".join([f"# {title}", GENERATED, *(block for block in blocks if block)]) + "\n"


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


# -- the catalog ----------------------------------------------------------------------------------------------


def own_names(kind: catalog.Kind) -> list[str]:
    """Return the names of a room without those that other installed distributions add."""
    return [name for name in catalog.names(kind) if catalog.origin(kind, name) == catalog.PACKAGE]


def datasets_table() -> str:
    """Return the table of datasets that begins their page."""
    rows = []
    for name in own_names("datasets"):
        card = catalog.card(name)
        counts = ", ".join(f"{count:,} {what}" for what, count in card.counts[:3])
        rows.append([f"`{name}`", card.title, card.language, counts, card.availability, card.licence])
    return table(("name", "title", "language", "holds", "data", "licence"), rows)


def tasks_table() -> str:
    """Return the table of tasks that begins their page."""
    tasks = [catalog.task(name) for name in own_names("tasks")]
    rows = [[f"`{t.name}`", t.summary, ", ".join(f"`{able}`" for able, _ in t.answers)] for t in tasks]
    return table(("name", "question", "answered by subjects that have"), rows)


def subjects_table() -> str:
    """Return the table of kinds of subject that begins their page."""
    rows = [
        [f"`{kind}`", ", ".join(f"`{able}`" for able in catalog.subject_capabilities(kind)), _summary("subjects", kind)]
        for kind in own_names("subjects")
    ]
    return table(("kind", "has", "what it is"), rows)


def studies_table() -> str:
    """Return the table of studies that begins their page."""
    return table(("name", "what it asks"), [[f"`{name}`", _summary("studies", name)] for name in own_names("studies")])


def datasets_page() -> str:
    """Return the page of the datasets: everything that their cards say."""
    return _page("Datasets", datasets_table(), *(_card(catalog.card(name)) for name in own_names("datasets")))


def tasks_page() -> str:
    """Return the page of the tasks: question, scale, measures, and who can answer how."""
    return _page("Tasks", tasks_table(), *(_task(name) for name in own_names("tasks")))


def subjects_page() -> str:
    """Return the page of the kinds of subject, from their files' own words."""
    intro = "A subject is named by a spec, `kind:name`, on the command line, in a study file and in Python."
    return _page("Subjects", intro, subjects_table(), *(_subject(kind) for kind in own_names("subjects")))


def studies_page() -> str:
    """Return the page of the studies: questions, citations, and which printed numbers are compared."""
    return _page("Studies", studies_table(), *(_study(name) for name in own_names("studies")), _glossary())


def _glossary() -> str:
    """The statistics of all studies: a name means one thing."""
    return "\n\n".join(
        (
            "## Statistics",
            "The names in `results.json`, without their parameters, which stand in brackets. A name means the same in "
            "every study.",
            table(("statistic", "what it is"), [[f"`{each}`", what] for each, what in statistics().items()]),
        )
    )


def _summary(kind: catalog.Kind, name: str) -> str:
    return markdown(catalog.summary(kind, name))


def _card(card: DatasetCard) -> str:
    facts = [
        ("task", f"`{card.task}`"),
        ("language", card.language),
        ("licence", card.licence),
        ("citation", card.citation),
        ("source", card.source),
        ("version", f"`{card.version}`"),
        ("data", {"embedded": "embedded in the package"}.get(card.availability, card.availability)),
        ("rating scale", f"{card.scale.low:g} to {card.scale.high:g}" if card.scale else "no ratings"),
        ("first item", f"`{card.first_item}`"),
        ("last item", f"`{card.last_item}`"),
        *((what, f"{count:,}") for what, count in card.counts),
    ]
    files = [
        [f"`{f.path}`", f"`{f.sha256}`" if f.sha256 else "not known to us", "yes" * f.optional] for f in card.files
    ]
    return "\n\n".join(
        part
        for part in (
            f"## `{card.name}`: {card.title}",
            card.summary,
            table(("", ""), facts),
            card.how_to_obtain,
            "What one must know before using it:\n\n" + _list(card.remarks) if card.remarks else "",
            "Who wrote what:\n\n" + table(("field", "by"), card.authorship) if card.authorship else "",
            "### Files\n\n" + table(("file", "sha256", "optional"), files) if files else "",
        )
        if part
    ).replace("### Files", f"### Files of {card.name}")


def _name(function: object) -> str:
    return str(getattr(function, "__name__", function))


def _task(name: str) -> str:
    task = catalog.task(name)
    answers = [[f"`{able}`", f"`{_name(function)}`", paragraph(function)] for able, function in task.answers]
    scale = f"Scale: {task.scale.low:g} to {task.scale.high:g}." if task.scale else ""
    return "\n\n".join(
        (
            f"## `{name}`",
            task.summary,
            f"{scale} An item needs: {', '.join(f'`{field}`' for field in task.item_fields)}.".strip(),
            table(("a subject that has", "answers by", "how"), answers),
            table(("measure", "what it is"), [[f"`{measure}`", what] for measure, what in task.measures]),
            *_item_file(name),
        )
    )


def _item_file(name: str) -> Iterator[str]:
    """Yield what an item file needs from which people are asked, and the example that lies in the task's folder."""
    module: Any = catalog.module("tasks", name)
    if hasattr(module, "SCREEN"):
        screen = catalog.screen(name)
        sentences = ("sentence_1", "sentence_2") if screen.n_usages == 2 else () if screen.word_alone else ("sentence",)
        needed = ("word", *sentences, *shown_columns(screen))
        yield f"### Item file of {name}"
        yield f"Needs {', '.join(f'`{column}`' for column in needed)}."
        yield (screen.folder / "item_file.md").read_text(encoding="utf-8").strip()


def _subject(kind: str) -> str:
    module = catalog.module("subjects", kind)
    has = ", ".join(f"`{able}`" for able in catalog.subject_capabilities(kind))
    pairs = [task for task, each, _ in catalog.pairings() if each == kind]
    paragraphs = [markdown(" ".join(part.split())) for part in (module.__doc__ or "").strip().split("\n\n")]
    can = f"Has: {has}. Can answer: {', '.join(f'`{task}`' for task in pairs) or 'no task yet'}."
    return "\n\n".join((f"## `{kind}`", *paragraphs, can))


def _claims(name: str, study: Any) -> tuple[str, ...]:
    """What the paper claims, with the rules by which a run is compared with it."""
    by_dataset: dict[str, Sequence[Claim]] = getattr(study, "CLAIMS", {})
    claims = dict.fromkeys(claim for own in by_dataset.values() for claim in own)
    if not claims:
        return ()
    rows = [
        [each.text, each.place, ", ".join(f"`{dataset}`" for dataset in each.datasets), _rule(each)] for each in claims
    ]
    said = (
        "Each claim is compared with the numbers of a run by its rule; how a rule is written is on the page "
        "[add a study](../how-to/add_a_study.md)."
    )
    return f"### Claims of {name}", said, table(("claim", "place", "data", "rule"), rows)


def _rule(claim: Claim) -> str:
    return " and ".join(f"`{each}`" for each in claim.rule) or f"none: {claim.unavailable}"


def _study(name: str) -> str:
    module: Any = catalog.study(name)
    questions: Sequence[Question] = module.QUESTIONS
    published: dict[str, Sequence[PublishedValue]] = module.PUBLISHED
    rows = [[q.question_id, q.text, q.section] for q in questions]
    planned: Sequence[PlannedAnalysis] = getattr(module, "PLANNED", ())
    marked = "All analyses are exploratory."
    if planned:
        plans = [[each.question_id, each.text, each.place] for each in planned]
        marked = (
            "Confirmatory on the paper's own data, because a plan named them before the first answer (all others are "
            "exploratory, and on other data these too):\n\n" + table(("", "analysis", "plan"), plans)
        )
    compared = [[f"`{dataset}`", str(len(values))] for dataset, values in sorted(published.items())]
    return "\n\n".join(
        (
            f"## `{name}`",
            paragraph(module) + " " + paragraph(module, 1),
            table(("", "question", "place"), rows),
            marked,
            "Printed numbers that are compared with ours, digit for digit:",
            table(("dataset", "numbers"), compared),
            *_claims(name, module),
            f"### Citations of {name}",
            _list(module.citations),
        )
    )


# -- verbs, statistics, files ---------------------------------------------------------------------------------


def verbs_page() -> str:
    """Return the help of every verb, as the command prints it."""
    context = click.Context(cli, info_name="lexiscope", terminal_width=80, **cli.context_settings)
    blocks: list[str] = []
    for name in VERBS:
        command = cli.get_command(context, name)
        assert command is not None
        blocks += _helps(command, click.Context(command, info_name=name, parent=context, terminal_width=80), depth=2)
    return _page("Verbs", *blocks)


def _helps(command: click.Command, context: click.Context, *, depth: int) -> Iterator[str]:
    yield f"{'#' * depth} `{context.command_path}`"
    yield f"```text\n{command.get_help(context).rstrip()}\n```"
    for name in catalog.names("studies") if isinstance(command, StudyVerb) else ():
        own = click.Context(command, info_name=context.info_name, parent=context.parent, terminal_width=80)
        yield f"{'#' * (depth + 1)} `{context.command_path} {name}`"
        yield f"```text\n{command.options_text(command.study_of(own, name))}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None, name
            yield from _helps(inner, click.Context(inner, info_name=name, parent=context, terminal_width=80), depth=3)


def statistics_page() -> str:
    """Return every public function of the analysis, file by file, with its first paragraph and its source."""
    folder = Path(lexiscope.__file__).parent / "analysis"
    intro = (
        "Numbers in, numbers out: import a function from its file below `lexiscope.analysis`. The docstring of each "
        "says shapes, units, direction and errors, and most have a worked example."
    )
    blocks = [intro]
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        rows = [_statistic(node) for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
        doc = markdown(" ".join((ast.get_docstring(tree) or "").split("\n\n")[0].split()))
        if rows:
            place = ".".join(path.relative_to(folder).with_suffix("").parts)
            blocks += [f"## `{place}`", doc, table(("function", "what it returns", "source"), rows)]
    return _page("Statistics", *blocks, "## Exclusion rules", _rules())


def _rules() -> str:
    """Return the exclusion rules as a study file and ``--exclude`` write them."""
    rows = []
    for name, rule in RULES.items():
        settings = [f.name if f.default is MISSING else f"{f.name}={f.default}" for f in fields(rule)]
        what = re.split(r"\s*\*Source", paragraph(rule))[0]
        rows.append([f"`{name}({','.join(settings)})`", what])
    example = (
        "Several items are joined by `|`: `failed_catch(items=c1|c2,expected=5)`. A setting without a value is needed."
    )
    return example + "\n\n" + table(("rule", "what it does"), rows)


def _statistic(node: ast.FunctionDef) -> list[str]:
    doc = ast.get_docstring(node) or ""
    first = markdown(" ".join(doc.split("\n\n")[0].split()))
    # the source may stand in the first paragraph, where it would be printed twice
    first = re.split(r"\s*\*(?:Source|Shape|Unit|Higher means)", first)[0]
    # examples end a docstring and are no part of the source
    plain = " ".join(doc.partition(">>>")[0].split())
    source = re.search(r"\*Source:\*\s*(.+?)(?:\.(?=\s+[A-Z]|\s*$)|$)", plain)
    positional = [argument.arg for argument in node.args.args]
    options = [argument.arg for argument in node.args.kwonlyargs]
    signature = ", ".join([*positional, *(["\\*", *options] if options else [])]).replace("\\*", "*")
    return [f"`{node.name}({signature})`", first, markdown(source.group(1)) if source else ""]


def python_page() -> str:
    """Return the names that ``import lexiscope`` offers, with where they live."""
    rows = []
    # Dataset and dataset are equal without case: the second key keeps the order fixed
    for name in sorted(set(lexiscope.__all__) - {"__version__"}, key=lambda name: (name.casefold(), name)):
        found = getattr(lexiscope, name)
        rows.append([f"`{name}`", f"`{found.__module__}`", re.split(r"\s*\*(?:Source|Shape)", paragraph(found))[0]])
    intro = (
        "These names are imported when they are first used, so that `import lexiscope` stays light. "
        "[Work in a notebook](../how-to/work_in_a_notebook.md) shows how they are used together."
    )
    return _page("The front door in Python", intro, table(("name", "lives in", "what it is"), rows))


def results_page() -> str:
    """Return the fields of a record of results.json."""
    known = [field.name for field in fields(Record)]
    if known != list(RECORD_FIELDS):
        raise SystemExit(f"RECORD_FIELDS does not describe the fields of a record: {known}")
    types = {field.name: str(field.type).replace("Status", "text").replace("str", "text") for field in fields(Record)}
    rows = [[f"`{name}`", types[name].replace(" | None", " or null"), what] for name, what in RECORD_FIELDS.items()]
    intro = (
        "`results.json` is a list of flat records, one a line. Every number that a table, a figure or a sentence of "
        "the report prints is in it. In Python: `lexiscope.read_records(path)`. What each statistic of a study is "
        "stands on the page of the [studies](studies.md)."
    )
    return _page(
        "The records of `results.json`",
        intro,
        table(("field", "type", "what it holds"), rows),
        "## Status\n\n" + table(("status", "meaning"), [[f"`{name}`", what] for name, what in STATUS.items()]),
    )


def study_file_page() -> str:
    """Return the settings of a study file with their defaults: those of every study, then those of each."""
    intro = (
        "A study can be one YAML file. `lexiscope study NAME --write-yaml FILE` writes one in which every setting of "
        "that study is spelled out; options of the command line override the file. The values in use stand in "
        "`run.json`. A setting that a study does not have is refused."
    )
    parts = ["## Settings of every study", _settings_table(settings_of(Settings))]
    for name in catalog.names("studies"):
        parts += [f"## Settings of {name}", _settings_table(own_settings(catalog.settings(name)))]
    return _page("Settings of a study file", intro, *parts)


def _settings_table(settings: Sequence[Setting]) -> str:
    rows = []
    for setting in settings:
        default = "required" if setting.name == "study" else f"`{as_yaml(setting, setting.default)!r}`"
        option = f"`{setting.flag}`" if setting.option.command_line else ""
        rows.append([f"`{setting.name}`", option, default, setting.option.about])
    return table(("setting", "option", "default", "meaning"), rows)


def annotation_file_page() -> str:
    """Return the settings of the file of a study with people, sections and all, with their meaning."""
    defaults = StudyDefinition(name="-", task="-", language="-").model_dump(mode="json")
    rows = []
    for name, meaning in setting_descriptions().items():
        section, _, inner = name.partition(".")
        value = defaults[section]
        if inner and not isinstance(value, dict):
            default = ""
        elif inner:
            default = f"`{value[inner]!r}`" if inner in value else ""
        else:
            required = StudyDefinition.model_fields[name].is_required()
            default = "required" if required else "" if isinstance(value, dict) and value else f"`{value!r}`"
        rows.append([f"`{name}`", default, meaning])
    intro = (
        "A study with people is one YAML file. `lexiscope annotate init` writes it with every setting spelled out, and "
        "`lexiscope annotate check` says what is missing. A dot stands for one step inwards; settings without a "
        "default belong to the entries of a list."
    )
    return _page("Settings of a study with people", intro, table(("setting", "default", "meaning"), rows))


# -- the whole ------------------------------------------------------------------------------------------------

CATALOG: dict[str, Callable[[], str]] = {
    "datasets.md": datasets_page,
    "tasks.md": tasks_page,
    "subjects.md": subjects_page,
    "studies.md": studies_page,
    "verbs.md": verbs_page,
    "study_file.md": study_file_page,
}
"""Pages that name what is in the catalog: the verbs have an option, and study files a setting, for each of a study."""
PAGES: dict[str, Callable[[], str]] = {
    "statistics.md": statistics_page,
    "python.md": python_page,
    "results.md": results_page,
    "annotation_file.md": annotation_file_page,
}


def pages() -> dict[Path, str]:
    """Return every generated file that the repository keeps, with the text that it must have."""
    made = {ROOT / "docs" / "reference" / "openapi.json": f"{json.dumps(openapi(), indent=1)}\n"}
    return made | {ROOT / "docs" / "reference" / name: make() for name, make in PAGES.items()}


def catalog_pages() -> dict[Path, str]:
    """Return the pages of the catalog, which are written where docs are built."""
    return {ROOT / "docs" / "reference" / name: make() for name, make in CATALOG.items()}


def main() -> None:
    """Write what differs."""
    for path, text in (pages() | catalog_pages()).items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"written: {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
