"""DESIGN §6.10: what the documentation shows is there, parses, and runs."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from lexiscope.cli.main import cli
from lexiscope.core.result import read_records
from lexiscope.datasets.mini_relatedness import load

from .conftest import ROOT
from .environments import HERE, environment_with

# generated pages are in the folder only after the docs were built: they are tested as text
PAGES = [
    path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    if f"/{path.relative_to(ROOT).as_posix()}" not in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
]
NOTES = sorted((ROOT / "design").glob("[0-9]*.md"))
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def _blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def _commands(page: Path) -> Iterator[list[str]]:
    """The ``lexiscope`` commands of a page's console blocks, as words."""
    for block in _blocks(page, "console"):
        for line in block.replace("\\\n", " ").splitlines():
            # what follows > is the shell's
            words = list(takewhile(lambda word: word != ">", shlex.split(line.removeprefix("$ "))))
            if words[:1] == ["lexiscope"]:
                yield words[1:]


def _parse(words: list[str]) -> click.Context:
    """Parse a command as click would, verbs and options, and execute nothing."""
    command: click.Command = cli
    context = click.Context(cli, info_name="lexiscope", **cli.context_settings)
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, f"there is no verb {words[0]!r}"
        command, words = found, words[1:]
    return command.make_context(command.name, list(words), parent=context)


def test_commands_are_found() -> None:
    """The pages hold commands: a change of the fences cannot empty the tests below."""
    assert sum(1 for page in PAGES for _ in _commands(page)) > 20
    with pytest.raises(click.NoSuchOption):
        _parse(["agree", "ratings.csv", "--no-such-option"])


def _write_named_files(page: Path, folder: Path) -> None:
    """The files that a page says to write: ``Write this to `my_study.py`:`` before a Python block."""
    text = page.read_text(encoding="utf-8")
    for name, code in re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(code, encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_console_blocks_use_existing_verbs_and_options(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every ``lexiscope …`` line in a console block parses."""
    _write_named_files(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in _commands(ROOT / name):
        assert _parse(words).command.name, words


RunBlocks = Callable[[tuple[str, ...], dict[str, str]], int]


@pytest.fixture(scope="module")
def run_blocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunBlocks]:
    """Run a page in a child of a process in which only some extras are installed; one such process for all its pages.

    Returns a function of the extras and of what ``without/run_blocks.py`` reads, which gives the status of the child.
    """
    begun: dict[tuple[str, ...], subprocess.Popen[str]] = {}

    def run(extras: tuple[str, ...], page: dict[str, str]) -> int:
        if extras not in begun:
            environment = environment_with(extras, tmp_path_factory.mktemp("extras"))
            command = [sys.executable, str(HERE / "run_blocks.py")]
            begun[extras] = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        asked, answered = begun[extras].stdin, begun[extras].stdout
        assert asked is not None
        assert answered is not None
        asked.write(json.dumps(page) + "\n")
        asked.flush()
        return int(answered.readline())

    yield run
    for process in begun.values():
        process.communicate()


@pytest.mark.parametrize("name", [n for n in NAMES if _blocks(ROOT / n, "python") or _blocks(ROOT / n, "pycon")])
def test_python_of_a_page_runs_with_its_extras(
    name: str, tmp_path: Path, run_page: ModuleType, run_blocks: RunBlocks
) -> None:
    """The Python of a page runs from top to bottom with only the extras that the page names, and prints what it shows.

    There is an ``items.csv`` whose ratings this test made up. The examples with output are doctests that follow the
    blocks; each is at most 5 lines of input, as a researcher writes them.
    """
    folder, printed = tmp_path / "page", tmp_path / "printed.txt"
    folder.mkdir()
    _write_made_up_items(folder / "items.csv")
    _write_shown_table(ROOT / name, folder)
    examples = _blocks(ROOT / name, "pycon")
    blocks = {"python": "\n".join(_blocks(ROOT / name, "python")), "pycon": "\n".join(examples)}
    places = {"folder": str(folder), "cache": str(tmp_path / "cache"), "printed": str(printed)}
    extras = tuple(sorted(run_page.extras_of((ROOT / name).read_text(encoding="utf-8"))))
    status = run_blocks(extras, {"name": name, **blocks, **places})
    told = printed.read_text(encoding="utf-8")
    assert status == 0, told[-3_000:]
    ran = json.loads(told.splitlines()[-1])
    assert (ran["failed"], ran["attempted"] > 0) == (0, bool(examples)), told[-3_000:]
    assert [block for block in examples if len(re.findall(r"^(?:>>>|\.\.\.) ", block, re.MULTILINE)) > 5] == []


def _write_made_up_items(path: Path) -> None:
    """36 mini items with ratings by rule: nobody's judgments."""
    rows = ["item_id,sentence_1,sentence_2,target,participant,rating"]
    for number, item in enumerate(load("en").items[:36]):
        first, second = item.usages
        for rater in range(4):
            rating = (4 if item.conditions["same_sense"] else 2) + (number + number * rater) % 2
            rows.append(f"{item.item_id},{first.text},{second.text},{first.target},made_up_{rater},{rating}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _write_shown_table(page: Path, folder: Path) -> None:
    """The table that the page on files of ratings shows, as a spreadsheet saves it."""
    for table in _blocks(page, "csv"):
        (folder / "relatedness.csv").write_bytes(table.encode("cp1252"))


def test_the_page_on_files_of_ratings_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/ratings/analyse-file.md: its table is read, its commands run as printed, its screen is what they print."""
    page, platforms = ROOT / "docs" / "ratings" / "analyse-file.md", ROOT / "tests" / "data" / "platforms"
    _write_shown_table(page, tmp_path)
    for name in ("qualtrics.csv", "prolific_demographics.csv"):
        shutil.copy(platforms / name, tmp_path)
    _write_made_up_items(tmp_path / "both.csv")
    rows = [line.split(",") for line in (tmp_path / "both.csv").read_text(encoding="utf-8").splitlines()]
    items = dict.fromkeys(",".join(row[:4]) for row in rows)
    (tmp_path / "items.csv").write_text("\n".join(items) + "\n", encoding="utf-8")
    ratings = [f"{row[0]},{row[-2]},{row[-1]}" for row in rows]
    (tmp_path / "ratings.csv").write_text("\n".join(ratings) + "\n", encoding="utf-8")
    other = [f"{row[-2]};{row[0]};{row[-1] if number % 9 else 999}" for number, row in enumerate(rows[1:], start=1)]
    (tmp_path / "other.csv").write_text("\n".join(["Code;Pair;Score", *other]) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    outputs = []
    for words in _commands(page):
        done = CliRunner().invoke(cli, [*words, "--bootstrap", "10"])
        assert done.exit_code == 0, (words, done.output)
        outputs.append(done)
    (screen,) = _blocks(page, "text")
    assert outputs[0].stderr.startswith(screen)
    assert "No answer       16 (999 16)" in outputs[1].stderr
    names = {record.statistic for record in read_records(tmp_path / "models_run" / "results.json")}
    assert {"spearman(with=norms,layer=chosen)", "spearman_difference(with=norms)"} <= names


def test_the_page_on_studies_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/extend/study.md: its file is written, its commands are run as printed, its report answers."""
    page = ROOT / "docs" / "extend" / "study.md"
    _write_named_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    outputs = []
    for words in _commands(page):
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, (words, done.output)
        outputs.append(done.output)
    assert "--least" in CliRunner().invoke(cli, ["study", "my_study.py", "--help"]).output
    assert "simulated participants" in outputs[0]
    assert outputs[1].rstrip().endswith(": no differences")
    names = {record.statistic for record in read_records(tmp_path / "my_study_run" / "results.json")}
    expected = {"mean_rating(over=items)", "leave_one_out_agreement(method=spearman)", "spearman(with=norms)"}
    assert names == {*expected, "best_layer(by=spearman)", "spearman(with=norms,layer=chosen)"}
    (table,) = (block for block in _blocks(page, "python") if "pivot(" in block)
    (tmp_path / "own_table.py").write_text((tmp_path / "my_study.py").read_text() + table)
    result = CliRunner().invoke(cli, ["study", "own_table.py", "--bootstrap", "10", "--out", "own_table"])
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "own_table" / "tables" / "by_sense.csv").read_text().splitlines()
    # two words: the means have no interval, of which the table would have two columns
    assert lines[0].startswith("Condition,Mean rating,items")
    assert len(lines) == 3


def test_the_readme_is_short() -> None:
    """At most 400 words of prose come before the table of papers; one's own question takes five lines of Python."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = _blocks(ROOT / "README.md", "python")
    assert len([line for line in block.splitlines() if line.strip()]) == 5
    prose = re.sub(r"^```.*?^```$|<p.*?</p>", "", text.partition("| paper |")[0], flags=re.MULTILINE | re.DOTALL)
    assert len(prose.split()) <= 400


def test_pictures_are_there() -> None:
    """Every picture that a page shows is a file, every picture in docs/ is shown; README's have two themes."""
    shown = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"!\[[^\]]+\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", text):
            shown.add((page.parent / (target[0] or target[1])).resolve())
    assert [str(picture) for picture in sorted(shown) if not picture.is_file()] == []
    kept = {path.resolve() for path in (ROOT / "docs").rglob("*.png")}
    assert sorted(str(path) for path in kept - shown) == []
    themed = re.findall(r"docs/images/(\w+)-dark\.png", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert sorted(themed) == ["participant", "report", "senses"]


def test_the_table_of_papers_is_up_to_date(make_counts: ModuleType) -> None:
    """README and the page of papers count what printed.csv and claims.csv have: run ``make docs-tables``."""
    stale = [path.name for path, text in make_counts.pages().items() if path.read_text(encoding="utf-8") != text]
    assert stale == []
    assert make_counts.counts("saw_c")[0] > make_counts.counts("saw_c")[1] > 100


def test_the_extras_are_those_of_the_package() -> None:
    """The page on installation has a row for every extra of pyproject.toml, and no other."""
    table = (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8").partition("<!-- extras:")[2]
    rows = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.partition(" | ")[0])}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {name for name in rows if name in project["optional-dependencies"]} == set(project["optional-dependencies"])


def test_the_drawing_shows_the_rooms_as_they_are(make_drawing: ModuleType) -> None:
    """CONTRIBUTING.md draws every layer and every room that there is: run ``make docs-tables``."""
    assert (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8") == make_drawing.page()
    rooms = {room for names in make_drawing.layers() for room in names}
    assert rooms >= {folder.name for folder in make_drawing.rooms_in(make_drawing.PACKAGE)}


@pytest.mark.parametrize("page", [*PAGES, *NOTES], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path, made_pages: dict[Path, str]) -> None:
    """A relative link names an existing file, or one that the build makes, and a heading of it where it names one."""
    assert _broken_links(page, page.read_text(encoding="utf-8"), made_pages) == []


def test_links_of_made_pages_lead_somewhere(made_pages: dict[Path, str]) -> None:
    """The same holds for the pages that the build makes."""
    assert [link for page, text in made_pages.items() for link in _broken_links(page, text, made_pages)] == []


def _broken_links(page: Path, text: str, made: dict[Path, str]) -> list[str]:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target):
            continue
        path, _, heading = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        if found not in made and not found.exists():
            broken.append(target)
        elif heading:
            there = made[found] if found in made else found.read_text(encoding="utf-8")
            headings = re.findall(r"^#+ (.+)$", there, re.MULTILINE)
            if heading not in [re.sub(r"[^\w-]", "", text.lower().replace(" ", "-")) for text in headings]:
                broken.append(target)
    return broken


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.name)
def test_a_note_says_what_why_and_what_not(note: Path) -> None:
    """A decision is stated, argued, and set beside what was rejected; its number is its own."""
    text = note.read_text(encoding="utf-8")
    assert text.startswith(f"# {note.name[:4]} ")
    assert all(part in text for part in ("**Decided", "\n## Why\n", "\n## Rejected\n"))
    assert len({other.name[:4] for other in NOTES}) == len(NOTES)


@pytest.mark.parametrize("note", [*NOTES, ROOT / "docs" / "extend" / "code-tour.md"], ids=lambda note: note.name)
def test_files_that_are_named_exist(note: Path) -> None:
    """A source file that a note or a walk names is there, so that a moved file is noticed."""
    named = re.findall(r"`((?:\w+/)+\w+\.py)`", note.read_text(encoding="utf-8"))
    places = (ROOT, ROOT / "src" / "lexiscope")
    assert [name for name in named if not any((place / name).is_file() for place in places)] == []
    # a bare name is one of the private modules: other names may be a user's files
    bare = re.findall(r"`(_\w+\.py)`", note.read_text(encoding="utf-8"))
    assert [name for name in bare if not any(places[1].rglob(name))] == []


def test_the_citation_file_is_whole() -> None:
    """CITATION.cff has what the format 1.2.0 requires, and the version of the package."""
    citation = YAML(typ="safe").load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["message"]
    assert citation["title"]
    assert citation["authors"]
    assert f'version = "{citation["version"]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for work in citation["references"]:
        assert {"type", "title", "authors"} <= work.keys()
