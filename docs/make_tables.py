"""Write the pages of docs/reference that the code determines: commands, Python, data cards, statistics, files, codes.

The build of the site (``conf.py``) runs this file, and so does ``make docs-tables``. The repository does not keep these
pages (.gitignore names them), so that a new dataset, task, kind of subject, study, option or docstring changes no
other file.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from inspect import isclass
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
from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.settings import Setting, Settings, own_settings, settings_of
from lexiscope.core.study import PlannedAnalysis, PublishedValue, Question
from lexiscope.report.answers.sentences import reader_name, statistics_by_topic
from lexiscope.studies.kit.settings_file import as_yaml
from lexiscope.studies.kit.study import statistics

sys.path.insert(0, str(Path(__file__).parent))
from message_codes import coded_messages

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(lexiscope.__file__).parent
REFERENCE = ROOT / "docs" / "reference"

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
    "p_bound": "`≤` if no draw of the test was as extreme as the data, so that p is at most this; else absent.",
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
    return "\n\n".join([f"# {title}", *(block for block in blocks if block)]) + "\n"


def plain(text: str) -> str:
    """Return a text as Markdown that shows it as it is: signs that Markdown would read are escaped, but ``*words*``.

    >>> plain("a <b> and c*d, *first* minus *second*")
    'a \\\\<b> and c\\\\*d, *first* minus *second*'
    """
    parts = re.split(r"(`[^`]*`|(?<!\w)\*\w[\w ]*\*(?!\w))", text)
    return "".join(part if index % 2 else re.sub(r"([*_<\[\]$])", r"\\\1", part) for index, part in enumerate(parts))


def folded(title: str, text: str) -> str:
    """Return a part that a reader opens when it is wanted."""
    return f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"


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
    intro = (
        "A data card per dataset: source, licence, version, checksums, size. [Download data](../start/data.md) "
        "shows how to get them; `lexiscope list datasets` prints the first table."
    )
    return _page("Datasets", intro, datasets_table(), *(_card(catalog.card(name)) for name in own_names("datasets")))


def tasks_and_subjects_page() -> str:
    """Return the page of the tasks and of the kinds of subject: who can answer what, and how."""
    intro = (
        "A *task* is a question with its wording, scale and answer format. A *subject* is a person or model that "
        "answers. You name a subject with a spec, `kind:name`, on the command line, in a study file and in Python. "
        "`lexiscope list pairings` prints which kinds of subject answer which tasks."
    )
    tasks = [_task(name) for name in own_names("tasks")]
    answers: dict[str, list[str]] = {}
    for task, kind, _ in catalog.pairings():
        answers.setdefault(kind, []).append(task)
    subjects = [_subject(kind, answers.get(kind, [])) for kind in own_names("subjects")]
    parts = ("## Tasks", tasks_table(), "## Kinds of subject", subjects_table(), "## Each task", *tasks)
    return _page("Tasks and subjects", intro, *parts, "## Each kind of subject", *subjects)


def studies_page() -> str:
    """Return the page of the studies: questions, citations, and which printed numbers are compared."""
    intro = (
        "Questions, planned analyses, printed values and claims of each study. [The five papers](../papers/index.md) "
        "shows how to run them."
    )
    return _page("Studies", intro, studies_table(), *(_study(name) for name in own_names("studies")))


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
    files = [[f"`{f.path}`", f"`{f.sha256}`" if f.sha256 else "not recorded", "yes" * f.optional] for f in card.files]
    return "\n\n".join(
        part
        for part in (
            f"## `{card.name}`: {card.title}",
            plain(card.summary),
            table(("", ""), facts),
            plain(card.how_to_obtain),
            folded("Files and checksums", table(("file", "SHA-256", "optional"), files)) if files else "",
            folded("Notes on the data", _list([plain(remark) for remark in card.remarks])) if card.remarks else "",
            folded("Authorship of each field", table(("field", "by"), card.authorship)) if card.authorship else "",
        )
        if part
    )


def _name(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _task(name: str) -> str:
    task = catalog.task(name)
    answers = [[f"`{able}`", f"`{_name(function)}`", paragraph(function)] for able, function in task.answers]
    scale = f"Scale: {task.scale.low:g} to {task.scale.high:g}." if task.scale else ""
    return "\n\n".join(
        (
            f"### `{name}`",
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
        yield f"#### Item file of {name}"
        if screen.n_usages:
            yield f"Needs {', '.join(f'`{column}`' for column in needed)}."
        yield (screen.folder / "item_file.md").read_text(encoding="utf-8").strip()


def _subject(kind: str, tasks: Sequence[str]) -> str:
    module = catalog.module("subjects", kind)
    has = ", ".join(f"`{able}`" for able in catalog.subject_capabilities(kind))
    paragraphs = [markdown(" ".join(part.split())) for part in (module.__doc__ or "").strip().split("\n\n")]
    can = f"Has: {has}. Can answer: {', '.join(f'`{task}`' for task in tasks) or 'no task'}."
    return "\n\n".join((f"### `{kind}`", *paragraphs, can))


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
        "A rule compares each claim with the numbers of a run. [Add a study](../extend/study.md) explains how to "
        "write a rule."
    )
    claims_table = table(("claim", "place", "data", "rule"), rows)
    return f"### Claims of {name}", said, folded(f"{len(rows)} claims", claims_table)


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


# -- commands ---------------------------------------------------------------------------------------------------


class OptionGroups(click.HelpFormatter):
    """Collects the groups of options that a help shows, with their headings."""

    def __init__(self) -> None:
        super().__init__(width=10_000)
        self.heading, self.groups = "", list[tuple[str, Sequence[tuple[str, str]]]]()

    @contextlib.contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Note under which heading the options come."""
        self.heading = name
        yield

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Note a group of options."""
        self.groups.append((self.heading, list(rows)))


def commands_page() -> str:
    """Return every command with its options, in the groups in which its help shows them."""
    context = click.Context(cli, info_name="lexiscope", **cli.context_settings)
    blocks: list[str] = []
    for name in VERBS:
        command = cli.get_command(context, name)
        assert command is not None
        blocks += _command(command, click.Context(command, info_name=name, parent=context), depth=2)
    intro = (
        "Every command and option of `lexiscope`. The same text is printed by `lexiscope COMMAND --help`. Every "
        "command has `-h`, `--help`."
    )
    commands = [[f"[`{name}`](#lexiscope-{name})", plain(line)] for name, (_, line) in VERBS.items()]
    return _page("Commands", intro, table(("command", "help"), commands), *blocks)


def _command(command: click.Command, context: click.Context, *, depth: int) -> Iterator[str]:
    yield f"{'#' * depth} `{context.command_path}`"
    yield f"```text\n{' '.join([context.command_path, *command.collect_usage_pieces(context)])}\n```"
    yield from _help_text(command.help or "")
    formatter = OptionGroups()
    command.format_options(context, formatter)
    for heading, rows in formatter.groups:
        # a group lists its commands, a study its names: both follow with headings of their own
        if not isinstance(command, click.Group) and not heading.startswith("Studies"):
            yield from _options(heading, rows)
    for name in own_names("studies") if isinstance(command, StudyVerb) else ():
        own = command.study_of(click.Context(command, info_name=context.info_name, parent=context.parent), name)
        formatter = OptionGroups()
        command.format_options(own, formatter)
        yield f"{'#' * (depth + 1)} `{context.command_path} {name}`"
        yield from (part for heading, rows in formatter.groups[1:] for part in _options(heading, rows))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None, name
            yield from _command(inner, click.Context(inner, info_name=name, parent=context), depth=min(depth + 1, 4))


def _help_text(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help; one that is marked as set by hand keeps its lines."""
    for part in text.strip().split("\n\n"):
        if part.lstrip().startswith("\b"):
            yield f"```text\n{part.replace(chr(8), '').strip(chr(10))}\n```"
        else:
            yield plain(" ".join(part.split()))


def _options(heading: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    shown = [[f"`{option}`", plain(" ".join(text.split()))] for option, text in rows if not option.startswith("-h,")]
    if shown:
        yield table((heading or "Options", "meaning"), shown)


# -- statistics -------------------------------------------------------------------------------------------------

#: study -> how its paper is called beside the place of a printed number; a place that names its paper needs none
PAPERS = {
    "saw_c": "",
    "context_bias": "context–word bias ",
    "synonymy": "synonymy ",
    "ambistory": "AmbiStory ",
    "sense_induction": "GASI ",
}


def statistics_page() -> str:
    """Return every statistic of results.json: its name for readers, its own, definition, interval and source."""
    intro = (
        "Tables, figures and sentences show the name for readers; `results.json` has the machine name, with the "
        "parameters on which tools differ in brackets: `krippendorff_alpha(level=interval)`. A name means the same "
        "in every study. The source names the method's literature, then where a paper prints the number. The "
        "functions that compute them are on the page [Analysis functions](analysis.md); [Intervals, tests and ceilings]"
        "(../ratings/intervals-tests-ceilings.md) helps to choose."
    )
    meanings, printed = statistics(), _printed_places()
    parts = []
    for topic, listed in statistics_by_topic().items():
        rows = [_statistic(statistic, meanings, printed) for statistic in listed]
        header = ("name for readers", "machine name", "definition", "interval", "source")
        parts += [f"## {topic[:1].upper()}{topic[1:]}", table(header, rows)]
    return _page("Statistics", intro, *parts, "## Exclusion rules", _rules())


def _statistic(statistic: str, meanings: Mapping[str, str], printed: Mapping[str, str]) -> list[str]:
    name, base = reader_name(statistic), parse_statistic(statistic)[0]
    text = name.text.replace("(…)", "").replace("…", "*n*")
    source = "; ".join(filter(None, (name.source, printed.get(base, ""))))
    # two pieces of code: a narrow column breaks between them
    machine_name = f"`{base}`" + (f" `{statistic.removeprefix(base)}`" if statistic != base else "")
    return [plain(text), machine_name, plain(meanings.get(base, "")), name.interval, source]


def _printed_places() -> Mapping[str, str]:
    """Return where papers print each statistic, by its name without parameters: the first three places."""
    places: dict[str, dict[str, None]] = {}
    for name in own_names("studies"):
        path = PACKAGE / "studies" / name / "printed.csv"
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    place = re.split(r"[,(:]", row["place"])[0].strip()
                    base = parse_statistic(row["statistic"])[0]
                    places.setdefault(base, {})[f"{PAPERS.get(name, f'{name} ')}{place}"] = None
    return {base: ", ".join(list(where)[:3]) for base, where in places.items()}


def analysis_page() -> str:
    """Return every public function of the analysis, file by file, with its first paragraph and its source."""
    intro = (
        "Numbers in, numbers out: import a function from its file below `lexiscope.analysis`. The docstring of each "
        "states shapes, units, direction and errors, and most have a worked example."
    )
    blocks = [intro]
    for path in sorted((PACKAGE / "analysis").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        rows = [_function(node) for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
        doc = plain(markdown(" ".join((ast.get_docstring(tree) or "").split("\n\n")[0].split())))
        if rows:
            place = ".".join(path.relative_to(PACKAGE / "analysis").with_suffix("").parts)
            blocks += [f"## `{place}`", doc, table(("function", "what it returns", "source"), rows)]
    return _page("Analysis functions", *blocks)


def _rules() -> str:
    """Return the exclusion rules as a study file and ``--exclude`` write them."""
    rows = []
    for name, rule in RULES.items():
        settings = [f.name if f.default is MISSING else f"{f.name}={f.default}" for f in fields(rule)]
        what = re.split(r"\s*\*Source", paragraph(rule))[0]
        rows.append([f"`{name}({','.join(settings)})`", plain(what)])
    example = (
        "Join several items with `|`: `failed_catch(items=c1|c2,expected=5)`. A setting without a value must be given."
    )
    return example + "\n\n" + table(("rule", "what it does"), rows)


def _function(node: ast.FunctionDef) -> list[str]:
    doc = ast.get_docstring(node) or ""
    first = markdown(" ".join(doc.split("\n\n")[0].split()))
    # the source may be in the first paragraph, where it would be printed twice
    first = re.split(r"\s*\*(?:Source|Shape|Unit|Higher means)", first)[0]
    # examples end a docstring and are not part of the source
    text = " ".join(doc.partition(">>>")[0].split())
    source = re.search(r"\*Source:\*\s*(.+?)(?:(?<!App)\.(?=\s+[A-Z*]|\s*$)|$)", text)
    positional = [argument.arg for argument in node.args.args]
    options = [argument.arg for argument in node.args.kwonlyargs]
    signature = ", ".join([*positional, *(["*", *options] if options else [])])
    return [f"`{node.name}({signature})`", plain(first), plain(markdown(source.group(1))) if source else ""]


# -- Python -----------------------------------------------------------------------------------------------------


def python_page() -> str:
    """Return the names that ``import lexiscope`` offers, with their signatures and docstrings."""
    # Dataset and dataset are equal without case: the second key keeps the order fixed
    names = sorted(set(lexiscope.__all__) - {"__version__"}, key=lambda name: (name.casefold(), name))
    rows, functions, classes = [], [], []
    for name in names:
        documented = getattr(lexiscope, name)
        rows.append([f"`{name}`", plain(re.split(r"\s*\*(?:Source|Shape)", paragraph(documented))[0])])
        directive = (
            ".. autoclass:: lexiscope.{0}\n   :members:" if isclass(documented) else ".. autofunction:: lexiscope.{0}"
        )
        block = f"### `{name}`\n\n```{{eval-rst}}\n{directive.format(name)}\n```"
        (classes if isclass(documented) else functions).append(block)
    intro = (
        "`import lexiscope` offers these names; each is imported when it is first used, so that the import stays "
        "light. [Notebooks](../start/notebooks.md) shows how they are used together."
    )
    listed = table(("name", "what it is"), rows)
    return _page("Python", intro, listed, "## Functions", *functions, "## Classes", *classes)


# -- files ------------------------------------------------------------------------------------------------------


def records_page() -> str:
    """Return the fields of a record of results.json."""
    known = [field.name for field in fields(Record)]
    if known != list(RECORD_FIELDS):
        raise SystemExit(f"RECORD_FIELDS does not describe the fields of a record: {known}")
    types = {field.name: str(field.type).replace("Status", "text").replace("str", "text") for field in fields(Record)}
    rows = [[f"`{name}`", types[name].replace(" | None", " or null"), what] for name, what in RECORD_FIELDS.items()]
    intro = (
        "`results.json` is a list of flat records, one per line. Every number that a table, a figure or a sentence of "
        "the report prints is in it. In Python: `lexiscope.read_records(path)`. The page [Statistics](statistics.md) "
        "defines each statistic."
    )
    return _page(
        "Records of results.json",
        intro,
        table(("field", "type", "content"), rows),
        "## Status",
        table(("status", "meaning"), [[f"`{name}`", what] for name, what in STATUS.items()]),
    )


def study_settings_page() -> str:
    """Return the settings of a study file with their defaults: those of every study, then those of each."""
    intro = (
        "A study can be one YAML file. `lexiscope study NAME --write-yaml FILE` writes one with every setting of the "
        "study and its default. Options of the command line override the file. `run.json` records the values in use. "
        "A setting that the study does not have is an error."
    )
    parts = ["## Settings of every study", _settings_table(settings_of(Settings))]
    for name in own_names("studies"):
        parts += [f"## Settings of {name}", _settings_table(own_settings(catalog.settings(name)))]
    return _page("Settings of a study file", intro, *parts)


def _settings_table(settings: Sequence[Setting]) -> str:
    rows = []
    for setting in settings:
        default = "required" if setting.name == "study" else f"`{as_yaml(setting, setting.default)!r}`"
        option = f"`{setting.flag}`" if setting.option.command_line else ""
        rows.append([f"`{setting.name}`", option, default, plain(setting.option.about)])
    return table(("setting", "option", "default", "meaning"), rows)


def collection_settings_page() -> str:
    """Return the settings of the file of a data collection, sections and all, with their meaning."""
    defaults = StudyDefinition(name="-", task="-", language="-").model_dump(mode="json")
    sections: dict[str, list[list[str]]] = {}
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
        place = section if inner or isinstance(value, dict | list) else ""
        sections.setdefault(place, []).append([f"`{name}`", default, plain(meaning)])
    intro = (
        "A data collection is one YAML file. `lexiscope annotate init` writes it with every setting, and `lexiscope "
        "annotate check` lists what is missing. A dot means one level of indentation. Settings without a default "
        "belong to the entries of a list."
    )
    parts = [
        f"## {f'`{place}`' if place else 'The study'}\n\n{table(('setting', 'default', 'meaning'), rows)}"
        for place, rows in sections.items()
    ]
    return _page("Settings of a data collection", intro, *parts)


def codes_page() -> str:
    """Return every code of an error or a warning, with its messages and remedies."""
    rows = []
    for code, messages in coded_messages(PACKAGE).items():
        for what, remedy in messages or [("The message itself names the place and the fault.", "")]:
            rows.append([f"`{code}`", plain(what), plain(remedy)])
    intro = (
        "`E` is an error: the command stops. `W` is a warning: the command continues. A code keeps its meaning between "
        "versions. `…` stands for what the message fills in, such as a name or a line. [Messages](messages.md) "
        "explains the codes of item files and ratings, with examples."
    )
    return _page("All codes", intro, table(("code", "message", "what to do"), rows))


def web_api_page() -> str:
    """Return the addresses of the server of a data collection, as openapi.json describes them."""
    description = openapi()
    intro = (
        "The server of a data collection answers these addresses. `make docs-tables` writes the same for programs into "
        f"`docs/reference/openapi.json`. {plain(description['info']['description'])} [Security](security.md) states "
        "who may call what."
    )
    rows, forms = [], []
    for address, methods in description["paths"].items():
        for method, operation in methods.items():
            if method not in ("get", "post", "put", "delete"):
                continue
            role = next((name for entry in operation.get("security", []) for name in entry), "anyone")
            codes = ", ".join(code for code in operation["responses"] if code.isdigit())
            rows.append([f"`{method.upper()} {address}`", role, plain(operation.get("summary", "")), codes])
            fields_of = list(_form_fields(operation))
            if fields_of:
                forms.append(f"### `{method.upper()} {address}`\n\n" + table(("field", "in", "accepted"), fields_of))
    return _page("Web API", intro, table(("address", "who", "what it does", "status"), rows), "## Fields", *forms)


def _form_fields(operation: Mapping[str, Any]) -> Iterator[list[str]]:
    for parameter in operation.get("parameters", []):
        if "name" in parameter:
            yield [f"`{parameter['name']}`", parameter["in"], _accepted(parameter["schema"])]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = content["schema"]
        for name, accepted in schema.get("properties", {}).items():
            yield [f"`{name}`", "body", _accepted(accepted)]
        break


def _accepted(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "string":
        pattern = f", pattern `{schema['pattern']}`" if "pattern" in schema else ""
        return f"text of {schema.get('minLength', 0)} to {schema.get('maxLength', '')} characters{pattern}"
    if "minimum" in schema:
        return f"{schema['type']} from {schema['minimum']:,} to {schema['maximum']:,}"
    return str(schema.get("type", ""))


# -- the whole --------------------------------------------------------------------------------------------------

PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "python.md": python_page,
    "datasets.md": datasets_page,
    "tasks-and-subjects.md": tasks_and_subjects_page,
    "studies.md": studies_page,
    "statistics.md": statistics_page,
    "analysis.md": analysis_page,
    "records.md": records_page,
    "study-settings.md": study_settings_page,
    "collection-settings.md": collection_settings_page,
    "codes.md": codes_page,
    "web-api.md": web_api_page,
    "openapi.json": lambda: f"{json.dumps(openapi(), indent=1)}\n",
}


def pages() -> dict[Path, str]:
    """Return every generated file with the text that it must have."""
    return {REFERENCE / name: make() for name, make in PAGES.items()}


def main() -> None:
    """Write what differs."""
    for path, text in pages().items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"Saved {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
