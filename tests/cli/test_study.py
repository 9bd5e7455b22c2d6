"""The verb study: settings from name, file and options, in that order; the study itself is called with all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.shell_completion import ShellComplete

from lexiscope.cli.main import cli
from lexiscope.core import catalog
from lexiscope.core.settings import Settings, own_settings, settings_of
from lexiscope.report.tables import Column, Table
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.studies.kit.settings_file import read_study_file, settings_of_run, write_study_file
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.synonymy.settings import SynonymySettings

from .conftest import Run


@dataclass(frozen=True)
class Summary:
    """What a study returns."""

    report: Path
    n_records: int
    remarks: tuple[str, ...]
    overview: Table


Calls = list[tuple[Settings, Path, dict[str, Any]]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls of a study that only notes what it was asked."""
    found: Calls = []

    def study(settings: Settings, out: Path, **more: Any) -> Summary:
        found.append((settings, out, more))
        table = Table(
            "overview", "", "Main results", (Column("what"), Column("value")), (("rho", "−.61"),), ("a note",)
        )
        return Summary(out / "report.html", 12, ("one thing to know",), table)

    real: Callable[[catalog.Kind, str], object] = catalog.module
    fake = SimpleNamespace(run=study)
    monkeypatch.setattr(catalog, "module", lambda kind, name: fake if kind == "studies" else real(kind, name))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return found


def test_a_name_alone_means_every_default(calls: Calls, run: Run) -> None:
    """The study gets its defaults, the folder, and the command; overview to stdout, remarks to stderr."""
    result = run("study", "saw_c", "--out", "RUN")
    assert result.exit_code == 0, result.stderr
    settings, out, more = calls[0]
    assert (settings, out) == (SawCSettings(), Path("RUN"))
    assert set(more) == {"progress", "command"}
    assert "Main results" in result.stdout
    assert "12 numbers in RUN/results.json; the report: RUN/report.html" in result.stdout
    assert "one thing to know" in result.stderr
    assert "threads" not in result.stderr
    assert "CPU threads: 1" in run("study", "saw_c", "--out", "RUN", "-v").stderr
    assert run("study", "saw_c", "--out", "RUN", "--quiet").stderr == ""


def test_options_become_settings(calls: Calls, run: Run) -> None:
    """Every option reaches the setting of its name."""
    options = "--dataset raw_c --subject encoder:minilm --subject encoder:x --recorded beto --view full --mixed none"
    options += " --bootstrap 0 --seed 3 --device cuda --title T --language en --scale 0 4"
    assert run("study", "saw_c", *options.split(), "--out", "RUN").exit_code == 0
    assert calls[0][0] == SawCSettings(
        dataset="raw_c",
        subjects=("encoder:minilm", "encoder:x"),
        recorded=("beto",),
        views=("full",),
        mixed_models="none",
        n_bootstrap=0,
        seed=3,
        device="cuda",
        title="T",
        language="en",
        scale=(0.0, 4.0),
    )


def test_a_file_holds_the_settings_and_options_override_it(calls: Calls, run: Run, tmp_path: Path) -> None:
    """From a study file, then from the command line; items given there replace the file's dataset."""
    write_study_file(SawCSettings(dataset="raw_c", seed=5, n_bootstrap=9), tmp_path / "s.yaml")
    (tmp_path / "mine.csv").write_text("x\n")
    assert run("study", "s.yaml", "--bootstrap", 7, "--items", "mine.csv", "--out", "RUN").exit_code == 0
    assert calls[0][0] == SawCSettings(items="mine.csv", seed=5, n_bootstrap=7)


def test_an_overview_without_rows_is_not_printed(
    calls: Calls, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study of items that nobody rated and that have no senses may have nothing to show: no empty frame."""
    empty = Table("overview", "", "Main results", (Column("what"),), (), ("a note",))
    fake = SimpleNamespace(run=lambda settings, out, **more: Summary(out / "report.html", 3, ("no ratings",), empty))
    monkeypatch.setattr(catalog, "module", lambda kind, name: fake)
    result = run("study", "saw_c", "--out", "RUN")
    assert "Main results" not in result.stdout
    assert "3 numbers in" in result.stdout


def test_threads_of_a_file_reach_the_models(
    calls: Calls, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study file that asks for 3 threads gets them where torch, loaded later, looks for them."""
    pinned: list[tuple[str, ...]] = []
    monkeypatch.setattr("lexiscope.cli.study_run.pin_threads", pinned.append)
    write_study_file(SawCSettings(threads=3), tmp_path / "s.yaml")
    assert "CPU threads: 3" in run("study", "s.yaml", "--out", "RUN", "-v").stderr
    assert pinned == [("--threads", "3")]


def test_writing_a_file_runs_nothing(calls: Calls, run: Run, tmp_path: Path) -> None:
    """--write-yaml writes all settings and stops; a file that exists is left alone."""
    assert run("study", "saw_c", "--seed", 8, "--write-yaml", "s.yaml").exit_code == 0
    assert read_study_file(tmp_path / "s.yaml") == SawCSettings(seed=8)
    assert calls == []
    assert "E615" in run("study", "saw_c", "--write-yaml", "s.yaml").stderr


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("saw_c",), 2, "--out RUN"),
        (("none.yaml", "--out", "RUN"), 1, "none.yaml: [E001]"),
        (("none.yaml", "--mixed", "none", "--out", "RUN"), 1, "none.yaml: [E001]"),
        (("--templates", "s.csv", "--out", "RUN"), 2, "No such option"),
        (("saw_c", "--exclude", "catch", "--out", "RUN"), 2, "no exclusion rule 'catch'"),
        (("saw_c", "--items", "none.csv", "--out", "RUN"), 1, "none.csv: [E001]"),
        (("saw_c", "--items", "s.csv", "--dataset", "raw_c", "--out", "RUN"), 1, "not both"),
        (("saw_c", "--subject", "minilm", "--out", "RUN"), 2, "does not name a subject"),
        (("saw_c", "--mixed", "some", "--out", "RUN"), 2, "'maximal'"),
    ],
)
def test_wrong_arguments_run_nothing(
    arguments: tuple[str, ...], status: int, text: str, calls: Calls, run: Run, tmp_path: Path
) -> None:
    """What cannot be run is refused before the study is called."""
    (tmp_path / "s.csv").write_text("x\n")
    result = run("study", *arguments)
    assert result.exit_code == status
    assert text in result.stderr
    assert calls == []


def test_unknown_study_names_the_nearest(run: Run) -> None:
    """A misspelt study names the one that was meant."""
    result = run("study", "saw_d", "--out", "RUN")
    assert result.exit_code == 1
    assert "did you mean 'saw_c'?" in result.stderr


def test_one_dataset_or_several(tmp_path: Path) -> None:
    """An option that names the data takes the place of what a file names: one dataset, several, or items."""
    assert settings_of_run("saw_c", {"dataset": "raw_c"}) == SawCSettings(dataset="raw_c")
    several = settings_of_run("context_bias", {"datasets": ("wic", "mcl_wic")})
    assert several == ContextBiasSettings(datasets=("wic", "mcl_wic"))
    write_study_file(ContextBiasSettings(dataset="wic"), tmp_path / "s.yaml")
    file = str(tmp_path / "s.yaml")
    assert settings_of_run(file, {"datasets": ("mcl_wic",)}) == ContextBiasSettings(datasets=("mcl_wic",))
    (tmp_path / "pairs.csv").write_text("x\n")
    own = settings_of_run(file, {"items": str(tmp_path / "pairs.csv")})
    assert own == ContextBiasSettings(items=str(tmp_path / "pairs.csv"))


@pytest.mark.parametrize("name", catalog.names("studies"))
def test_help_of_a_study_shows_its_own_options_only(name: str, run: Run) -> None:
    """Two groups: options of every study, and those of this one; none of another study's."""
    shown = run("study", name, "--help").stdout
    common, own = shown.split(f"Options of {name}:")
    assert "Options of every study:" in common
    # a flag with other names has a comma after it
    assert all(f"{setting.flag} " in own.replace(",", " ") for setting in own_settings(catalog.settings(name)))
    others = {s.flag for each in catalog.names("studies") for s in own_settings(catalog.settings(each))}
    others -= {flag for s in settings_of(catalog.settings(name)) for flag in s.flags}
    assert not [flag for flag in others if f"{flag} " in shown]
    assert run("study", "--help").stdout.count("Options of ") == 1


def test_help_loads_no_study(imported: Callable[..., set[str]]) -> None:
    """The options of a study are listed without what the study computes with, and without a reader of YAML."""
    heavy = ("scipy", "pandas", "torch", "pyarrow", "pydantic", "ruamel.yaml", "rich", "lexiscope.studies.saw_c")
    for arguments in (["study", "saw_c", "--help"], ["study", "--help"], ["study", "synonymy", "--help"]):
        assert imported(arguments, heavy) == set()


@pytest.mark.parametrize("place", [0, 1, 3, 5])
def test_a_study_is_named_anywhere(place: int, calls: Calls, run: Run) -> None:
    """The name can stand before or behind its own options, also where an option's value is a study's name."""
    words = ["--dataset", "saw_c", "--per", "text", "--out", "RUN"]
    words.insert(place - place % 2, "synonymy")
    assert run("study", *words).exit_code == 0
    assert calls[0][0] == SynonymySettings(dataset="saw_c", per="text")


_OWN_STUDY = '''"""A study of one file, which only says what it was asked."""
from __future__ import annotations
from pathlib import Path
from typing import Any, Literal
from lexiscope import Settings, option
from lexiscope.report.page.study_folder import Summary
from lexiscope.report.tables import Table

class GradedSenses(Settings):
    """What a run can vary."""
    by: Literal["word", "sense"] = option("word", "what is resampled")
    cut: float | None = option(None, "from which share on a sense counts", least=0)
    weights: tuple[tuple[str, float], ...] = option((), "how much a list counts", flag="--weight")
    strict: bool = option(False, "leave out what is in doubt")

SETTINGS = GradedSenses

def run(settings: GradedSenses, out: Path, **more: Any) -> Summary:
    said = f"{settings.study} {settings.by} {settings.cut} {settings.weights} {settings.strict}"
    return Summary(out / "report.html", 0, (said,), Table("t", "", "", (), ()))
'''


def test_a_study_of_one_file_has_options_of_its_own(run: Run, tmp_path: Path) -> None:
    """Settings that a user declares are options, lines of a study file, and reach the study with their types."""
    (tmp_path / "graded.py").write_text(_OWN_STUDY)
    shown = run("study", "graded.py", "--help").stdout.split("Options of graded.py:")[1]
    assert all(text in shown for text in ("--by [word|sense]", "--cut", "--weight", "--strict / --no-strict"))
    given = ["--by", "sense", "--cut", "0.5", "--weight", "a", "2", "--strict"]
    told = run("study", *given, "graded.py", "--out", "RUN").stderr
    assert "graded.py sense 0.5 (('a', 2.0),) True" in told
    assert run("study", "graded.py", *given, "--write-yaml", "s.yaml").exit_code == 0
    assert (
        "graded.py word 0.5 (('a', 2.0),) False"
        in run("study", "s.yaml", "--by", "word", "--no-strict", "--out", "RUN").stderr
    )
    assert "Options of graded.py itself: --by" in run("study", "graded.py", "--split", "dev", "--out", "RUN").stderr


def test_own_options_are_completed() -> None:
    """A shell is offered the options of the study that was typed."""
    found = ShellComplete(cli, {}, "lexiscope", "_LEXISCOPE_COMPLETE").get_completions(["study", "saw_c"], "--mi")
    assert {item.value for item in found} == {"--missing", "--mixed", "--min-ratings"}


def test_help_of_a_file_is_that_of_its_study(run: Run, tmp_path: Path) -> None:
    """FILE.yaml --help lists the options of the study that the file names."""
    (tmp_path / "s.yaml").write_text("study: ambistory\n")
    assert "Options of ambistory:" in run("study", "s.yaml", "--help").stdout


def test_an_option_of_another_study_is_refused(run: Run) -> None:
    """The error names the nearest option and those of the study itself."""
    result = run("study", "ambistory", "--mixed", "none", "--out", "RUN")
    assert result.exit_code == 2
    assert "No such option '--mixed'" in result.stderr.replace("No such option: --mixed", "No such option '--mixed'")
    itself = result.stderr.partition("Options of ambistory itself: ")[2].strip().rstrip(".").split(", ")
    assert {"--items", "--ratings", "--split", "--compare", "--ordinal", "--coding"} <= set(itself)
    near = run("study", "ambistory", "--splt", "dev", "--out", "RUN")
    assert "--split" in near.stderr.split("Options of")[0]


SERVED = "m@http://127.0.0.1:1/v1?retries=0"
SMALL = {
    "saw_c": ("--dataset", "mini_relatedness", "--language", "en"),
    "ambistory": ("--dataset", "mini_ambistory"),
    "any_ratings": ("--dataset", "mini_relatedness", "--task", "relatedness"),
    "norm": ("--dataset", "mini_relatedness"),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_dry_run_shows_what_a_study_would_cost(name: str, run: Run, tmp_path: Path) -> None:
    """Requests of chat models, time of local subjects, by subject and view; nothing is sent or written."""
    subjects = ("--subject", f"chat:{SERVED}", "--subject", "baseline:random")
    dry = run("study", name, *SMALL[name], *subjects, "--out", "RUN", "--dry-run", "--json")
    assert dry.exit_code == 0, dry.stderr
    content = json.loads(dry.stdout)
    by_kind = {cost["subject"].split(":")[0]: cost for cost in content["costs"]}
    assert set(by_kind) == {"chat", "baseline"}
    assert by_kind["chat"]["n_requests"] == by_kind["chat"]["n_items"] > 0
    assert by_kind["baseline"]["probed"] > 0
    assert content["total"]["prompt_tokens"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_asks_no_endpoint_what_it_serves(run: Run, tmp_path: Path) -> None:
    """The requests to a completions endpoint are not known, and what needs one is named as not counted."""
    subjects = ("--subject", f"completions:{SERVED}", "--subject", "baseline:random")
    dry = run("study", "synonymy", "--dataset", "mini_synonymy", *subjects, "--out", "RUN", "--dry-run", "--json")
    assert dry.exit_code == 0, dry.stderr
    content = json.loads(dry.stdout)
    known = {(cost["subject"].split(":")[0], cost["task"]): cost["n_requests"] for cost in content["costs"]}
    assert known[("completions", "minimal_pair")] is None
    assert known[("completions", "gap_filling")] is None
    assert known[("baseline", "minimal_pair")] == 0
    assert content["total"]["n_requests"] is None
    assert "Not counted: what follows when there are answers (a dry run sends no request)." in dry.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_of_a_study_that_trains_is_refused(run: Run, tmp_path: Path) -> None:
    """What training takes is not known before, and without a run folder there is nothing to compare with."""
    refused = run("study", "context_bias", "--out", "RUN", "--dry-run")
    assert (refused.exit_code, "trains models" in refused.stderr) == (1, True)
    assert run("study", "saw_c", "--dry-run").exit_code == 2
    shown = run("study", "saw_c", *SMALL["saw_c"], "--subject", "baseline:random", "--out", "RUN", "--dry-run")
    assert shown.stdout.splitlines()[0] == "baseline:random"
    assert list(tmp_path.iterdir()) == []
