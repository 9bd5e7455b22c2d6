"""``lexiscope analyse``: one screen of what was understood, one question in a terminal, a run folder with a report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from lexiscope.cli.main import cli
from lexiscope.core.result import read_records

from .conftest import Run

DATA = Path(__file__).parents[1] / "data"
FAST = ("--bootstrap", 0, "--out", "run")


def test_the_screen_says_what_was_understood(run: Run, tmp_path: Path) -> None:
    """Encoding, separator, decimal sign, layout, columns with examples, missing codes, scale, size, unused columns."""
    text = (DATA / "ratings" / "spanish_headers.csv").read_bytes().decode("cp1252")
    lines = [
        f"{line};{'Comentario' if number == 0 else f'nota {number}'}" for number, line in enumerate(text.splitlines())
    ]
    (tmp_path / "es.csv").write_bytes("\n".join(lines).encode("cp1252"))
    result = run("analyse", "es.csv", *FAST)
    assert result.exit_code == 0, result.output
    screen = dict(line.split(maxsplit=1) for line in result.stderr.splitlines() if line[:1].isupper())
    assert screen["File"] == "es.csv"
    assert screen["Encoding"].startswith("Windows-1252")
    assert screen["Separator"] == "semicolon"
    assert screen["Decimal"] == "sign    comma"
    assert screen["Layout"] == "one row per rating"
    assert screen["Rater"] == "Participante: José; José"
    assert screen["Item"] == "Ítem: i1; i2"
    assert screen["Rating"] == "Valoración: 4,5; 2"
    assert screen["Word"] == "Palabra: mint; mint"
    assert screen["Condition"] == "Condición: same; different"
    assert screen["No"] == "answer       1 (empty 1)"
    assert screen["Scale"] == "1 to 5 (lowest and highest rating)"
    assert screen["Size"] == "23 ratings of 6 items by 4 raters"
    assert screen["Unused"] == "columns  Comentario"
    # no terminal: no question
    assert "Is this right?" not in result.output
    assert "Report: run/report.html" in result.stdout
    assert "Krippendorff's α" in result.stdout
    assert {path.name for path in (tmp_path / "run").iterdir()} >= {"report.html", "results.json", "run.json", "tables"}


def test_seventeen_spellings_have_the_same_numbers(run: Run, tmp_path: Path) -> None:
    """Two spellings far from each other give the same records (how each is read is tested with the reader)."""
    numbers = []
    for name in ("spanish_headers.csv", "lines.jsonl"):
        assert run("analyse", DATA / "ratings" / name, "--bootstrap", 0, "--out", name).exit_code == 0
        records = read_records(tmp_path / name / "results.json")
        numbers.append([(r.statistic, r.condition.replace("Condición", "condition"), r.value, r.p) for r in records])
    assert numbers[0] == numbers[1]
    assert len(numbers[0]) > 30


def test_a_terminal_is_asked_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Yes goes on, no stops before anything is written and says what to do; --yes does not ask."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(DATA / "ratings" / "long.csv", "long.csv")
    monkeypatch.setattr("lexiscope.cli.analyse.is_terminal", lambda: True)
    command = ["analyse", "long.csv", *map(str, FAST)]
    no = CliRunner().invoke(cli, command, input="n\n")
    assert no.exit_code == 1
    assert no.stderr.count("Is this right?") == 1
    assert "Stopped: the file was not understood." in no.stderr
    assert "--map FIELD=COLUMN" in no.stderr
    assert not (tmp_path / "run").exists()
    yes = CliRunner().invoke(cli, command, input="y\n")
    assert yes.exit_code == 0, yes.output
    assert yes.stderr.count("Is this right?") == 1
    scripted = CliRunner().invoke(cli, [*command, "--yes"])
    assert scripted.exit_code == 0
    assert "Is this right?" not in scripted.output


def test_columns_are_named_with_map(run: Run, tmp_path: Path) -> None:
    """What cannot be recognised is refused with the option that decides; with it, the file is read."""
    (tmp_path / "r.csv").write_text("wer,was,wieviel\na,i,1\nb,i,3\na,j,4\nb,j,5\n", encoding="utf-8")
    refused = run("analyse", "r.csv", *FAST)
    assert refused.exit_code == 1
    assert "[E006] Cannot find the columns for rater, item and rating." in refused.stderr
    assert "Add --map rater=COLUMN --map item=COLUMN --map rating=COLUMN." in refused.stderr
    named = [text for pair in ("rater=wer", "item=was", "rating=wieviel") for text in ("--map", pair)]
    done = run("analyse", "r.csv", *named, *FAST)
    assert done.exit_code == 0, done.output
    assert not (tmp_path / "r_analysis").exists()


def test_a_rating_far_off_is_warned_of_and_refused_with_the_scale(run: Run, tmp_path: Path) -> None:
    """55 among 1 to 5: a warning on the screen and in the report; --scale 1 5 refuses it with its line."""
    text = (DATA / "ratings" / "long.csv").read_text(encoding="utf-8")
    (tmp_path / "r.csv").write_text(text + "Ana,i1,mint,same,55\n", encoding="utf-8")
    whole = "".join(f"r{rater},i{item},{1 + (rater + item) % 5}\n" for rater in range(4) for item in range(5))
    (tmp_path / "whole.csv").write_text(f"rater,item,rating\n{whole}Ana,i1,55\n", encoding="utf-8")
    done = run("analyse", "r.csv", *FAST)
    assert done.exit_code == 0, done.output
    assert "Warning: W304 Rating far from all others: 55 (line 26); all others are between 1 and 5." in done.stderr
    assert "W304 Rating far from all others: 55 (line 26)" in (tmp_path / "run" / "report.html").read_text("utf-8")
    refused = run("analyse", "whole.csv", "--scale", 1, 5, "--bootstrap", 0, "--out", "other")
    assert refused.exit_code == 1
    assert "whole.csv:22:8: [E301] 55 is not on the scale 1 to 5" in refused.stderr
    # half points: refused on a scale of whole points, with what to do
    refused = run("analyse", "r.csv", "--scale", 1, 5, "--bootstrap", 0, "--out", "other")
    assert "r.csv:2:19: [E301] 4.5 is not on the scale 1 to 5 in steps of 1" in refused.stderr
    assert "leave --scale out" in refused.stderr


def test_an_export_of_another_program_and_its_participants(run: Run, tmp_path: Path) -> None:
    """Ratings of Qualtrics with the demographic export of Prolific: who is withheld or unknown is said."""
    platforms = DATA / "platforms"
    people = ("--participants", platforms / "prolific_demographics.csv")
    done = run("analyse", platforms / "qualtrics.csv", *people, *FAST)
    assert done.exit_code == 0, done.output
    assert "qualtrics.csv (Qualtrics export)" in " ".join(done.stderr.split())
    assert "Excluded: 1 preview (column Status)." in done.stderr
    records = read_records(tmp_path / "run" / "results.json")
    counts = {r.condition: r.value for r in records if "Country" in r.condition or "country" in r.condition}
    assert any(value == 2 for name, value in counts.items() if "Mexico" in name), counts


def test_columns_of_a_program_are_no_conditions(run: Run, tmp_path: Path) -> None:
    """Gorilla's export has texts and dozens of columns of its own: the condition of the spreadsheet is the only one."""
    gorilla = DATA / "platforms" / "gorilla.csv"
    done = run("analyse", gorilla, *FAST)
    assert done.exit_code == 0, done.stderr
    shown = [line for line in done.stderr.splitlines() if line.startswith("Condition")]
    assert [line.split()[1] for line in shown] == ["condition:"]
    assert "Trial Number" in " ".join(done.stderr.partition("Unused columns")[2].split())
    tests = [line for line in done.stdout.splitlines() if line.startswith("Test in a mixed model")]
    assert [line.partition(": ")[2].split()[0] for line in tests] == ["condition"]


def test_texts_with_the_target_twice_can_be_analysed_but_not_asked(run: Run, tmp_path: Path) -> None:
    """Both sentences of a pair are in one text: people rated them, and no model can know which word is meant."""
    file = DATA / "platforms" / "label_studio.json"
    done = run("analyse", file, *FAST)
    assert done.exit_code == 0, done.output
    assert "11 ratings of 4 items by 3 raters" in " ".join(done.stderr.split())
    assert "No model can be asked about the texts: target 'mint' occurs 2 times" in " ".join(done.stderr.split())
    asked = run("analyse", file, "--subject", "encoder:minilm", *FAST, "--out", "model")
    assert asked.exit_code != 0
    assert "models cannot be asked" in " ".join(asked.output.split())


def test_models_are_compared_with_the_raters(run: Run, tmp_path: Path) -> None:
    """With --items and --subject: a model by layer, one without layers, and which of them is closer."""
    rows = ["item_id,word,sentence_1,sentence_2"]
    ratings = ["rater,item_id,rating"]
    for number in range(8):
        word = ("seal", "mint", "bank", "spring")[number // 2]
        other = f"A {word} in the {'sea' if number % 2 else 'town'}"
        rows.append(f"i{number},{word},The {word} of the old town,{other}")
        ratings += [f"{rater},i{number},{1 + (3 * number + rater) % 5}" for rater in range(3)]
    (tmp_path / "items.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "ratings.csv").write_text("\n".join(ratings) + "\n", encoding="utf-8")
    models = ("--subject", "baseline:word_overlap", "--subject", "baseline:random")
    done = run("analyse", "ratings.csv", "--items", "items.csv", "--language", "en", *models, *FAST)
    assert done.exit_code == 0, done.output
    records = [r for r in read_records(tmp_path / "run" / "results.json") if r.statistic.startswith("spearman")]
    subjects = {r.subject for r in records}
    assert any("word_overlap" in subject for subject in subjects), subjects
    assert any("−" in subject for subject in subjects), "no difference of two models"


@pytest.mark.parametrize(
    ("name", "text"),
    [("blimp.jsonl", "study synonymy --items"), ("wic_superglue.jsonl", "lexiscope bias")],
)
def test_a_file_without_ratings_is_sent_where_it_belongs(name: str, text: str, run: Run) -> None:
    """Minimal pairs and labelled pairs hold no ratings: the error names the command that takes them."""
    refused = run("analyse", DATA / "platforms" / name, *FAST)
    assert refused.exit_code == 1
    assert text in refused.stderr
