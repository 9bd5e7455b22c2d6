"""Simulated participants keep their mark: in every exported file, for every reader, in every heading made of them.

The files are those that the export writes, enumerated, not a list kept here: a new form without the mark fails. Every
answer is made by the simulation; none is a person's judgment.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from lexiscope.analysis.exclusion import apply
from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.rehearsal.through_server import rehearse_through_server
from lexiscope.annotation.study_file.definition import PoolSection, RatingsSection
from lexiscope.annotation.study_file.definition_file import definition_yaml, parse_definition
from lexiscope.cli.main import cli
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, LexiscopeError
from lexiscope.core.response import Response, ResponseTable, holds_simulated
from lexiscope.core.simulated import KIND_COLUMNS, SIMULATED, SIMULATED_ID
from lexiscope.datasets.ambistory import read_samples
from lexiscope.items.read.importer import import_items
from lexiscope.items.sheets.given_answer import read_view_judgments
from lexiscope.items.tables.tabular import write_items
from lexiscope.report.parts.sense_test_parts import read_answers
from lexiscope.studies.kit.ratings_file import RatingColumns, read_ratings
from lexiscope.subjects.recorded import Recorded

from .test_through_server import ASKED, FAULTLESS, examples, on_disk, pairs

MATERIAL = frozenset({"items.csv", "items.jsonl", "study.yaml", "preregistration.md", "codebook.csv", "codebook.json"})
"""What an export holds besides answers: the items, the plan, and what the columns mean."""
MARK = "simulated participants"
OF_THE_PAGE = (
    "Contents|Run record|References|Questions without an answer|Materials and models|All results by question|Counts"
)
Read = Callable[[Path], ResponseTable | bool]


def rehearsed(task: str, folder: Path) -> Path:
    """The export of a small rehearsal of a task."""
    search = folder / "entities.tsv"
    search.write_text("id\ttitle\tdescription\n1\tIceland\ta country\n2\tCambridge\ta city\n", encoding="utf-8")
    items = pairs(12) if task == "relatedness" else examples(task)
    searched = search if catalog.screen(task).widget == "search" else None
    study = on_disk(items, task, search=searched, pool=PoolSection(per_person=max(1, len(items) - 1)), exclusions=())
    few = study.definition.model_copy(update={"ratings": RatingsSection(per_item=4 if task == "relatedness" else 2)})
    study = replace(study, file=parse_definition(definition_yaml(few)))
    run = rehearse_through_server(study, population=FAULTLESS, seed=3)
    write_export(run.collected, folder / task)
    return folder / task


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """An export of every task that has a page, by the task's name."""
    folder = tmp_path_factory.mktemp("rehearsals")
    return MappingProxyType({task: rehearsed(task, folder) for task in ASKED})


def tables_in(folder: Path) -> Iterator[Path]:
    """The tables of an export that hold answers."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".csv", ".jsonl", ".parquet") and path.name not in MATERIAL:
            yield path


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a table, whatever its form."""
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pylist()
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.split("\n") if line]
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_rehearsal_with_the_same_seed_exports_the_same_bytes(tmp_path: Path) -> None:
    """Ids of simulated participants follow from the seed, so that a rehearsal can be repeated."""
    folders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        folders.append(rehearsed("relatedness", tmp_path / name))
    first, second = ({p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders)
    assert first == second


@pytest.mark.parametrize("task", ASKED)
def test_every_exported_file_carries_the_mark(task: str, exports: Mapping[str, Path]) -> None:
    """Every row of every table says simulated, and its participant's id does; every other file says it in words."""
    found = 0
    for path in sorted(exports[task].rglob("*")):
        if path.is_dir() or path.name in MATERIAL:
            continue
        if path.suffix in (".csv", ".jsonl", ".parquet"):
            rows = rows_of(path)
            found += bool(rows)
            for row in rows:
                assert SIMULATED in [row.get(name) for name in KIND_COLUMNS], (path.name, row)
                ids = [row[name] for name in ("participant_id", "Participant", "subject_id") if name in row]
                assert all(each.startswith(SIMULATED_ID) for each in ids), (path.name, row)
        elif path.name == "release.json":
            assert all(one["participant_kind"] == SIMULATED for one in json.loads(path.read_text()).values())
        elif path.name == "export.json":
            assert json.loads(path.read_text())["participant_kind"] == SIMULATED
        else:
            assert MARK in path.read_text(encoding="utf-8").casefold(), path.name
    assert found >= 6, "judgments, participants, responses, orders, pay and the task's own"


@pytest.mark.parametrize("task", ASKED)
def test_the_codebook_describes_the_mark(task: str, exports: Mapping[str, Path]) -> None:
    """Every table of answers has the column of the mark in the codebook, with the level simulated."""
    described = {
        row["file"]: row["levels"] for row in rows_of(exports[task] / "codebook.csv") if row["column"] in KIND_COLUMNS
    }
    for path in exports[task].glob("*.csv"):
        if path.name not in MATERIAL and rows_of(path):
            assert described[path.name] == SIMULATED, path.name


def _table(path: Path) -> ResponseTable:
    return ResponseTable.read_parquet(path) if path.suffix == ".parquet" else ResponseTable.read_csv(path)


def readers(folder: Path, task: str) -> dict[str, Read]:
    """Everything that reads answers of people from a file, as (table or whether it is marked)."""
    items = {item.item_id: item for item in (pairs(12) if task == "relatedness" else examples(task))}
    return {
        "agree": lambda path: read_ratings(path).simulated,
        "agree, columns named": lambda path: read_ratings(path, _columns(path)).simulated,
        "importer": lambda path: import_items(path, dataset="own", task=task).responses,
        "response table": _table,
        "recorded subject": lambda path: Recorded(str(path)).judge(list(items.values()), task),
        "judgments by view": read_view_judgments,
        "tests of senses": lambda path: read_answers([str(path)], items).responses,
        "samples of the shared task": lambda path: all(one.simulated for one in read_samples(path)),
    }


def _columns(path: Path) -> Any:
    header = next(csv.reader(path.open(encoding="utf-8", newline="")))
    value = next((name for name in ("choice", "Response", "response", "label") if name in header), "")
    item = next((name for name in ("sample_id", "item_id", "Tag", "item") if name in header), "")
    rater = next((name for name in ("participant_id", "Participant") if name in header), "")
    return RatingColumns(rater, (item,), value)


@pytest.mark.parametrize("task", ASKED)
def test_every_reader_of_every_file_keeps_the_mark(task: str, exports: Mapping[str, Path]) -> None:
    """Whatever reader takes a file of a rehearsal, what it returns is marked; most pairs do not fit and are refused."""
    accepted = set()
    for path in sorted(exports[task].rglob("*")):
        if path.is_dir() or path.name in MATERIAL:
            continue
        for name, read in readers(exports[task], task).items():
            try:
                found = read(path)
            except (LexiscopeError, UnicodeDecodeError, KeyError, StopIteration):
                continue  # this reader does not take this form
            marked = found if isinstance(found, bool) else not len(found) or holds_simulated(found)
            assert marked, f"{name} loses the mark of {path.name}"
            if isinstance(found, bool) or len(found):
                accepted.add(name)
    assert "response table" in accepted


# -- when a file was edited by hand -----------------------------------------------------------------------------


def without_columns(path: Path, target: Path, names: tuple[str, ...]) -> Path:
    """A copy of a CSV file without some columns."""
    rows = rows_of(path)
    kept = [name for name in rows[0] if name not in names]
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, kept, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return target


def test_ids_alone_carry_the_mark(exports: Mapping[str, Path], tmp_path: Path) -> None:
    """A file that lost its column of kinds is known by the ids; one whose ids were changed, by the column."""
    whole = exports["relatedness"] / "sawc_judgments.csv"
    bare = without_columns(whole, tmp_path / "bare.csv", KIND_COLUMNS)
    assert read_ratings(bare).simulated
    assert holds_simulated(import_items(bare, dataset="own", language="en").responses)
    renamed = tmp_path / "renamed.csv"
    renamed.write_text(whole.read_text(encoding="utf-8").replace(SIMULATED_ID, "anna-"), encoding="utf-8")
    assert read_ratings(renamed).simulated
    assert holds_simulated(import_items(renamed, dataset="own", language="en").responses)


def test_a_norm_has_the_column_alone(exports: Mapping[str, Path]) -> None:
    """A table of means has no ids: the column says whose they are, and is no condition of the items."""
    found = import_items(exports["relatedness"] / "sawc_items.csv", dataset="own", language="en")
    assert holds_simulated(found.responses)
    assert not {name for item in found.items for name in item.conditions} & set(KIND_COLUMNS)


def test_a_mixture_is_refused_with_the_way_to_separate_it(
    exports: Mapping[str, Path], tmp_path: Path, run: Callable[..., Result]
) -> None:
    """People and simulated participants in one file: E508, and the message says what to keep. No mean is formed."""
    text = (exports["relatedness"] / "sawc_judgments.csv").read_text(encoding="utf-8")
    head, *lines = text.splitlines()
    one = re.search(rf"{SIMULATED_ID}\w+", lines[0])
    assert one is not None
    lines = [
        line.replace(one[0], "p17").replace(f",{SIMULATED}", ",participant") if one[0] in line else line
        for line in lines
    ]
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    for read in (read_ratings, lambda path: import_items(path, dataset="own", language="en")):
        with pytest.raises(InputError, match="simulated participants") as caught:
            read(mixed)
        assert (caught.value.code, caught.value.place.path if caught.value.place else "") == ("E508", str(mixed))
        assert SIMULATED_ID in (caught.value.hint or "")
    assert run("agree", mixed).exit_code != 0
    assert "E508" in run("study", "saw_c", "--items", mixed, "--out", tmp_path / "run").stderr


def test_a_table_of_both_is_refused_wherever_people_are_taken() -> None:
    """Rows of both kinds in a response table: refused by the exclusion rules and by every question who answered."""
    rows = [Response(who, "participant", "i", "relatedness", "rating", 3.0) for who in ("p1", "simulated-1")]
    table = ResponseTable.from_rows(rows)
    assert table.unique("subject_kind") == ("participant", SIMULATED), "the id decides, whatever was said"
    with pytest.raises(InputError, match="partly"):
        holds_simulated(table)
    with pytest.raises(InputError, match="partly"):
        apply([], table)


# -- what is made of it -----------------------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Run the command in an empty folder; unexpected errors are raised."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments])

    return call


class Headings(HTMLParser):
    """Collects the text of every heading, caption and figure caption of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = ""
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a heading."""
        if not self.inside and re.fullmatch(r"title|h[1-6]|caption|figcaption", tag):
            self.inside = tag
            self.found.append((tag, ""))

    def handle_endtag(self, tag: str) -> None:
        """End it."""
        self.inside = "" if tag == self.inside else self.inside

    def handle_data(self, data: str) -> None:
        """Add its text."""
        if self.inside:
            self.found[-1] = (self.inside, self.found[-1][1] + data)


def check_run(folder: Path) -> None:
    """Check that a run says simulated in every number, table, figure and heading."""
    assert {record["people"] for record in json.loads((folder / "results.json").read_text())} == {SIMULATED}
    for path in (folder / "tables").glob("*"):
        text = path.read_text(encoding="utf-8")
        assert (SIMULATED in text) or (path.suffix == ".csv" and len(text.splitlines()) < 2), path.name
    for path in (folder / "figures").glob("*"):
        text = path.read_text(encoding="utf-8")
        assert SIMULATED in text, path.name
        if path.suffix == ".svg":
            assert text.count(MARK) >= 3, "title, description, and a line that is seen"
    page = Headings()
    page.feed((folder / "report.html").read_text(encoding="utf-8"))
    own = [(tag, text) for tag, text in page.found if not re.search(OF_THE_PAGE, text)]
    assert len(own) > 5
    for tag, text in own:
        assert MARK in text.casefold(), f"<{tag}> {text}"
        assert not re.search(r"\b(people|human)\b", text, re.IGNORECASE), f"<{tag}> {text}"


@pytest.mark.parametrize("form", ["sawc_judgments.csv", "sawc_items.csv"])
def test_a_study_of_them_says_so_everywhere(
    form: str, exports: Mapping[str, Path], tmp_path: Path, run: Callable[..., Result]
) -> None:
    """`study saw_c` on ratings and on norms: terminal, results, tables, figures, headings; again when reported."""
    given = ("--scale", 1, 5, "--language", "en", "--subject", "encoder:minilm", "--mixed", "none", "--bootstrap", 20)
    out = tmp_path / "run"
    done = run("study", "saw_c", "--items", exports["relatedness"] / form, *given, "--out", out)
    assert done.exit_code == 0, done.output
    assert MARK in done.stdout
    assert not re.search(r"\b(people|human)\b", done.stdout.partition("numbers in")[0], re.IGNORECASE)
    check_run(out)
    for name in ("data_card.md", "codebook.md"):
        assert MARK in (out / name).read_text(encoding="utf-8"), name
    again = run("study", "saw_c", "--items", exports["relatedness"] / form, *given, "--out", out)
    assert MARK in again.stdout, "a finished run is only read, and still says it"
    assert run("report", out, "--out", tmp_path / "page.html").exit_code == 0
    assert (tmp_path / "page.html").read_bytes() == (out / "report.html").read_bytes()
    both = tmp_path / "both.html"
    assert run("report", out, out, "--out", both).exit_code == 0
    assert "Simulated participants and models side by side" in both.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["ratings.csv", "ratings.parquet", "sawc_judgments.csv"])
def test_agreement_of_them_says_so(
    form: str, exports: Mapping[str, Path], tmp_path: Path, run: Callable[..., Result]
) -> None:
    """`agree`: what is printed, JSON, results.json and raters.csv."""
    file = exports["relatedness"] / form
    done = run("agree", file, "--bootstrap", 100, "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    assert done.stdout.count(MARK) >= 3, "counts, statistics, raters"
    assert MARK in done.stderr
    content = json.loads(run("agree", file, "--bootstrap", 100, "--json").stdout)
    assert content["people"] == SIMULATED == content["records"][0]["people"]
    assert {one["people"] for one in json.loads((tmp_path / "a" / "results.json").read_text())} == {SIMULATED}
    assert {row["participant_kind"] for row in rows_of(tmp_path / "a" / "raters.csv")} == {SIMULATED}


def test_choices_by_view_say_so(exports: Mapping[str, Path], tmp_path: Path, run: Callable[..., Result]) -> None:
    """`choices views` on the export's form of same sense: the table printed, JSON, and the answers written."""
    write_items(examples("same_sense"), tmp_path / "items.csv")
    file = exports["same_sense"] / "wic_judgments.csv"
    done = run("choices", "views", "items.csv", file, "--out", "answers.csv")
    assert done.exit_code == 0, done.output
    assert MARK in done.stdout
    assert {row["subject_kind"] for row in rows_of(tmp_path / "answers.csv")} == {SIMULATED}
    told = json.loads(run("choices", "views", "items.csv", file, "--json").stdout)
    assert {one["people"] for one in told} == {SIMULATED}


def test_tests_of_senses_say_so(exports: Mapping[str, Path], tmp_path: Path, run: Callable[..., Result]) -> None:
    """`senses people` on the choices of a rehearsed word intrusion: the tables printed, JSON, results and the page."""
    write_items(examples("word_intrusion"), tmp_path / "items.csv")
    file = exports["word_intrusion"] / "choices.csv"
    done = run("senses", "people", file, "--items", "items.csv", "--out", "run", "--resamples", 0)
    assert done.exit_code == 0, done.output
    assert MARK in done.stdout
    assert MARK in done.stderr
    check_run(tmp_path / "run")
    told = json.loads(run("senses", "people", file, "--items", "items.csv", "--out", "r2", "--json").stdout)
    assert {one["people"] for one in told} == {SIMULATED}


def test_a_submission_scored_against_them_says_so(
    exports: Mapping[str, Path], tmp_path: Path, run: Callable[..., Result]
) -> None:
    """`shared-task score` on the release of a rehearsal: the numbers printed and written are marked."""
    release = json.loads((exports["plausibility"] / "release.json").read_text(encoding="utf-8"))
    samples = {
        str(number): one | {"sample_id": str(number), "choices": [1, 2, 3, 4, 5]} | {"average": 3.0}
        | {"stdev": 1.5811388300841898, "nonsensical": [False] * 5, "ending": one["ending"] or "It ended."}
        for number, one in enumerate(release.values())
    }  # fmt: skip
    (tmp_path / "samples.json").write_text(json.dumps(samples), encoding="utf-8")
    lines = (json.dumps({"id": name, "prediction": 3}) for name in samples)
    (tmp_path / "mine.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    given = ("shared-task", "score", "mine.jsonl", "--samples", "samples.json")
    done = run(*given, "--out", "score.json")
    assert done.exit_code == 0, done.output
    assert MARK in done.stdout
    assert json.loads((tmp_path / "score.json").read_text())["people"] == SIMULATED
    assert json.loads(run(*given, "--json").stdout)["people"] == SIMULATED


def test_a_run_of_recorded_answers_says_so(
    exports: Mapping[str, Path], tmp_path: Path, run: Callable[..., Result]
) -> None:
    """`collect` with the answers as a recorded subject, and the report of that run."""
    write_items(pairs(12), tmp_path / "items.csv")
    recorded = f"recorded:{exports['relatedness'] / 'ratings.csv'}"
    done = run("collect", "--items", "items.csv", "--task", "relatedness", "--subject", recorded, "--out", "run")
    assert done.exit_code == 0, done.output
    assert MARK in done.stdout
    assert run("report", "run", "--out", "page.html").exit_code == 0
    check_run_of_answers = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert MARK in check_run_of_answers
    assert not re.search(r">\s*people\s*<", check_run_of_answers)
