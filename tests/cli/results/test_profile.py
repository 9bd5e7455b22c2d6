"""``lexiscope profile``: what it prints, what it writes, and its errors."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from lexiscope.cli.results.profile import profile_verb

BATTERY = """\
battery: small
version: "1"
title: Two lines
lines:
  - {line: same, title: Same, family: same_sense, asks: same meaning?, task: same_sense,
     data: "mini_senses?task=same_sense", statistic: accuracy, ceiling: all_right}
  - {line: pairs, title: Pairs, family: synonymy, asks: which?, task: minimal_pair, data: mini_synonymy,
     where: {suite: substitution, condition: controlled}, statistic: accuracy, ceiling: all_right}
"""


def test_the_verb_prints_and_writes(tmp_path: Path) -> None:
    """The battery with its sha256, lines with their gaps, families, and the page; --json has the records."""
    (tmp_path / "small.yaml").write_text(BATTERY, encoding="utf-8")
    common = ["baseline:random", "--battery", str(tmp_path / "small.yaml"), "--cache", str(tmp_path / "cache")]
    done = CliRunner().invoke(profile_verb, [*common, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "battery: small, version 1, sha256" in done.stderr
    assert "Same sense" in done.stdout
    assert f"Report: {tmp_path / 'out' / 'report.html'}" in done.stdout
    assert (tmp_path / "out" / "report.html").is_file()
    again = CliRunner().invoke(profile_verb, [*common, "--out", str(tmp_path / "out"), "--json", "-q"])
    records = json.loads(again.stdout)
    assert [record["condition"] for record in records if record["statistic"] == "refusals"] == [
        "line=same",
        "line=pairs",
    ]


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """Requests and prices by line; lines that are in the cache cost nothing; no run folder and no cache is made."""
    (tmp_path / "small.yaml").write_text(BATTERY, encoding="utf-8")
    common = ["--battery", str(tmp_path / "small.yaml"), "--cache", str(tmp_path / "cache")]
    common += ["--out", str(tmp_path / "out"), "-q"]
    chat = "chat:m@http://127.0.0.1:1/v1?price_in=1&price_out=2"
    done = CliRunner().invoke(profile_verb, ["baseline:random", chat, *common, "--dry-run", "--json"])
    assert done.exit_code == 0, done.output
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]
    content = json.loads(done.stdout)
    silent = [cost for cost in content["costs"] if cost["subject"] == "baseline:random"]
    paid = [cost for cost in content["costs"] if cost["subject"].startswith("chat")]
    assert [cost["task"] for cost in silent] == ["same_sense", "minimal_pair"]
    assert [cost["task"] for cost in paid] == ["same_sense", "minimal_pair"]
    assert all(cost["device_hours"] > 0 for cost in silent)
    assert content["total"]["n_requests"] == sum(cost["n_requests"] for cost in paid) > 0
    assert content["total"]["cost"] == sum(cost["cost"] for cost in paid)
    assert CliRunner().invoke(profile_verb, ["baseline:random", *common]).exit_code == 0
    again = CliRunner().invoke(profile_verb, ["baseline:random", *common, "--dry-run", "--json"])
    assert json.loads(again.stdout)["total"]["device_hours"] == 0


def test_a_fault_in_a_battery_has_its_place(tmp_path: Path) -> None:
    """File, line, column, and what to do; nothing is written."""
    path = tmp_path / "small.yaml"
    path.write_text(BATTERY.replace("family: synonymy", "family: synonym"), encoding="utf-8")
    done = CliRunner().invoke(profile_verb, ["baseline:random", "--battery", str(path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert f"{path}:7:" in done.stderr
    assert "did you mean 'synonymy'?" in done.stderr
    assert not (tmp_path / "out").exists()
