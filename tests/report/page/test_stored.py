"""A stored report is rebuilt byte for byte, a damaged one says what is wrong, and its tables become LaTeX."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lexiscope.core.errors import LexiscopeError, RunError
from lexiscope.core.result import AtMost, to_json
from lexiscope.core.run import read_json
from lexiscope.core.sealed import seal_run
from lexiscope.report.document import Report
from lexiscope.report.figures import data_csv
from lexiscope.report.page.html import render
from lexiscope.report.page.stored import SECTIONS, load, read_figure, store
from lexiscope.report.page.table_files import escape, table_from_json, table_to_json, to_latex
from lexiscope.report.tables import P_VALUE, Column, Table


@pytest.fixture
def run(report: Report, tmp_path: Path) -> Path:
    """A run folder as a study leaves it."""
    folder = tmp_path / "run"
    names = store(report, folder)
    (folder / "results.json").write_text(to_json(report.records), encoding="utf-8")
    seal_run(folder, report.run, [*names, "results.json"])
    return folder


def _seal_again(run: Path) -> None:
    """Make a folder of somebody else: whole by its checksums, whatever is in it."""
    record = read_json(run / "run.json")
    seal_run(run, record, record["files"])


def test_a_report_is_rebuilt_byte_for_byte(report: Report, run: Path) -> None:
    """Rendered from the folder, the page is the one that the study rendered."""
    assert render(load(run)) == render(report)


def test_storing_again_changes_no_byte(report: Report, run: Path) -> None:
    """Storing what was loaded leaves every file as it was."""
    before = {path: path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}
    names = store(load(run), run)
    assert {path: path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()} == before
    assert set(names) == {str(path.relative_to(run)) for path in before} - {"run.json", "results.json"}


def test_every_kind_of_cell_survives(table: Table) -> None:
    """A table through JSON is the same table."""
    assert table_from_json(json.loads(json.dumps(table_to_json(table)))) == table
    # a p at the floor of its draws is printed with ≤, also after it was stored
    floor = Table("t", "", "t", (Column("p", P_VALUE),), ((AtMost(0.005),),))
    assert isinstance(table_from_json(json.loads(json.dumps(table_to_json(floor)))).rows[0][0], AtMost)


def test_a_figure_survives(tmp_path: Path, report: Report) -> None:
    """A figure read back has the same drawing, words and CSV."""
    stored = next(f for top in report.sections for part in top.walk() for f in part.figures)
    store(report, tmp_path)
    again = read_figure(stored.name, tmp_path / "figures")
    assert (again.svg, again.alt, again.caption) == (stored.svg, stored.alt, stored.caption)
    assert data_csv(again) == data_csv(stored)


def _drop(name: str) -> Callable[[Path], None]:
    return lambda run: (run / name).unlink()


def _write(name: str, text: str) -> Callable[[Path], None]:
    def harm(run: Path) -> None:
        (run / name).write_text(text, encoding="utf-8")

    return harm


@pytest.mark.parametrize(
    "harm",
    [
        _drop(SECTIONS),
        _drop("tables/models.json"),
        _drop("figures/density.svg"),
        _drop("figures/density.csv"),
        _write(SECTIONS, "{"),
        _write(SECTIONS, '{"title": "x"}'),
        _write("figures/density.csv", "a,b\n1\n"),
        _write("figures/density.json", "[]"),
        _write("results.json", '[{"unknown": 1}]'),
    ],
)
def test_damage_is_named(run: Path, harm: Callable[[Path], None]) -> None:
    """A missing or damaged file is an error of ours that names a file, never a half report."""
    harm(run)
    with pytest.raises(LexiscopeError, match=r"json|csv|svg"):
        load(run)


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "a/b", ""])
def test_names_do_not_lead_out_of_the_folder(run: Path, name: str) -> None:
    """A run folder from somebody else cannot make us read other files."""
    structure = json.loads((run / SECTIONS).read_text(encoding="utf-8"))
    structure["sections"][0]["tables"] = [name]
    (run / SECTIONS).write_text(json.dumps(structure), encoding="utf-8")
    _seal_again(run)
    with pytest.raises(RunError, match="cannot name"):
        load(run)


def test_a_hostile_drawing_is_disarmed(run: Path) -> None:
    """A drawing that was changed on disk still cannot bring a script into the page."""
    path = run / "figures" / "density.svg"
    path.write_text(path.read_text(encoding="utf-8").replace("</svg>", "<script>alert(1)</script></svg>"), "utf-8")
    _seal_again(run)
    assert "alert" not in render(load(run))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (r"\input{/etc/passwd}", r"\textbackslash{}input\{/etc/passwd\}"),
        ("50 % & more_of #1", r"50 \% \& more\_of \#1"),
        ("a^b~c $x$", r"a\textasciicircum{}b\textasciitilde{}c \$x\$"),
        ("−.60 — ρ", r"\ensuremath{-}.60 --- \ensuremath{\rho}"),
        ("señal, compás, ¿qué?", "señal, compás, ¿qué?"),
        ("< .001", r"\textless{} .001"),
    ],
)
def test_text_is_escaped(text: str, escaped: str) -> None:
    """Special characters print as themselves; Spanish letters stay UTF-8."""
    assert escape(text) == escaped


def test_the_table_is_a_booktabs_table(table: Table) -> None:
    """Caption, label, one alignment letter per column, three rules, a row per line, notes below."""
    text = to_latex(table)
    for part in (r"\caption{Agreement with people}", r"\label{tab:models}", r"\begin{tabular}{lrrl}"):
        assert part in text
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    assert text.count(r" \\") == 1 + len(table.rows)
    assert r"\textsuperscript{b} own rating included" in text


def test_braces_and_environments_balance(table: Table) -> None:
    """Every brace that opens closes again, escaped ones aside; every environment ends."""
    text = to_latex(table).replace(r"\{", "").replace(r"\}", "")
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin") == text.count(r"\end{")
