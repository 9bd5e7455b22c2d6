"""``lexiscope report`` of collections and sweeps: one page, and the command that comes next."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.conftest import Run

from lexiscope.core.run import read_json
from lexiscope.core.sealed import seal_run

SWEEP = """\
data:
  - items: mini_relatedness
    language: en
  - items: mini_senses
    task: same_sense
    name: senses
  - items: pairs.csv
    name: own
    columns: {sentence_1: Frase}
    scale: [1, 7]
subjects: [baseline:random]
seeds: [0, 3]
"""
PAIRS = "Frase,sentence_2,target,language\nThe bank fell.,The bank closed.,bank,en\nA bat.,The bat.,bat,en\n"


def test_a_sweep_has_one_page_over_its_runs(run: Run, tmp_path: Path) -> None:
    """All its runs are on the page; the command that compares models with people is told where there is one."""
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    assert run("collect", "--sweep", "sweep.yaml", "--out", "S").exit_code == 0
    made = run("report", "S", "--out", "page.html")
    assert made.exit_code == 0, made.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.findall(r"Run (\d): Answers in ([\w-]+)", page) == [
        ("1", "mini_relatedness-relatedness-seed0"),
        ("2", "mini_relatedness-relatedness-seed3"),
        ("3", "senses-seed0"),
        ("4", "senses-seed3"),
        ("5", "own-seed0"),
        ("6", "own-seed3"),
    ]
    told = [shlex.split(line) for line in made.stderr.splitlines() if line.startswith("lexiscope ")]
    assert [words[words.index("--subject") + 1] for words in told] == [
        f"recorded:S/{folder}/responses.parquet"
        for folder in (f"{name}-seed{seed}" for name in ("mini_relatedness-relatedness", "own") for seed in (0, 3))
    ]
    asked = "lexiscope study any_ratings --file pairs.csv --task relatedness --map sentence_1=Frase --scale 1 7"
    assert shlex.join(told[2]).startswith(f"{asked} --subject")
    analysed = run(*told[0][1:], "--bootstrap", "0")
    assert analysed.exit_code == 0, analysed.stderr
    folder = tmp_path / "S" / "mini_relatedness-relatedness-seed0_analysed"
    assert run("report", str(folder), "--out", "analysed.html").stderr == ""


def test_a_sweep_without_a_run_is_refused(run: Run, tmp_path: Path) -> None:
    """A run that was deleted is named, and a folder of anything else is no run."""
    (tmp_path / "sweep.yaml").write_text(SWEEP.split("  - items: mini_senses")[0] + "subjects: [baseline:random]\n")
    assert run("collect", "--sweep", "sweep.yaml", "--out", "S").exit_code == 0
    record = read_json(tmp_path / "S" / "run.json")
    record["sweep"]["runs"][0]["folder"] = "gone"
    seal_run(tmp_path / "S", record, [])
    lost = run("report", "S", "--out", "page.html")
    assert (lost.exit_code, "S/gone: [E001]" in lost.stderr) == (1, True)
    (tmp_path / "other").mkdir()
    assert "[E009]" in run("report", "other", "--out", "page.html").stderr
