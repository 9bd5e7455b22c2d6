"""``lexiscope sql``: answers of a run in SQL, in three forms, and nothing that writes."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lexiscope.cli.main import cli
from lexiscope.core.response import ResponseTable, parts_writer
from lexiscope.core.result import read_records

pytest.importorskip("duckdb")


def call(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(each) for each in arguments])


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of collect, with two models and no results."""
    folder = tmp_path_factory.mktemp("sql") / "answers"
    subjects = ["--subject", "baseline:word_overlap", "--subject", "baseline:random"]
    result = call("collect", "--items", "mini_relatedness", *subjects, "--out", folder)
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a study, with results."""
    folder = tmp_path_factory.mktemp("sql") / "study"
    made = ["study", "saw_c", "--dataset", "mini_relatedness", "--subject", "baseline:word_overlap"]
    result = call(*made, "--bootstrap", "20", "--out", folder)
    assert result.exit_code == 0, result.output
    return folder


BY_SUBJECT = "select subject_id, count(*) n, avg(value) mean from responses group by 1 order by 1"


def test_responses_are_asked_in_three_forms(answers: Path) -> None:
    """The means of the response table itself: as a table, as CSV with all digits, as JSON; the run is untouched."""
    before = files_of(answers)
    groups = ResponseTable.read_parquet(answers / "responses.parquet").group_means("subject_id")
    expected = list(zip(groups.keys["subject_id"], groups.rows.tolist(), groups.mean.tolist(), strict=True))
    shown = call("sql", answers, BY_SUBJECT)
    assert shown.exit_code == 0, shown.output
    for subject, n, mean in expected:
        assert f"{subject} {n} {mean:.6g}".split() in [line.split() for line in shown.output.splitlines()]
    assert shown.output.rstrip().endswith("2 rows")
    rows = list(csv.reader(io.StringIO(call("sql", answers, BY_SUBJECT, "--csv").output)))
    assert rows[0] == ["subject_id", "n", "mean"]
    assert [(subject, int(n), pytest.approx(float(mean))) for subject, n, mean in rows[1:]] == expected
    objects = json.loads(call("sql", answers, BY_SUBJECT, "--json").output)
    assert [(row["subject_id"], row["n"], pytest.approx(row["mean"])) for row in objects] == expected
    assert files_of(answers) == before


def test_results_are_asked(study: Path) -> None:
    """The view results has a row for each record of results.json; responses of people and models are joined."""
    query = "select question, statistic, value, n from results order by all"
    rows = json.loads(call("sql", study, query, "--json").output)
    assert len(rows) == len(read_records(study / "results.json"))
    expected = {(record.question, record.statistic, record.n) for record in read_records(study / "results.json")}
    assert {(row["question"], row["statistic"], row["n"]) for row in rows} == expected
    both = "select count(*) n from results where subject in (select subject_id from responses)"
    with_answers = {*ResponseTable.scan(study).unique("subject_id")}
    n = sum(record.subject in with_answers for record in read_records(study / "results.json"))
    assert json.loads(call("sql", study, both, "--json").output) == [{"n": n}]


def test_a_file_of_ones_own_is_joined(answers: Path, tmp_path: Path) -> None:
    """A CSV named in the query is read; the answer of many rows says how many are not shown."""
    (tmp_path / "kinds.csv").write_text("id,kind\nbaseline:random,chance\n", encoding="utf-8")
    query = f"select kind, count(*) n from responses join '{tmp_path / 'kinds.csv'}' on subject_id = id group by 1"
    rows = json.loads(call("sql", answers, query, "--json").output)
    assert [row["kind"] for row in rows] == ["chance"]
    many = call("sql", answers, "select * from responses where subject_id = 'baseline:random'")
    assert f"{rows[0]['n']} rows, 100 of them shown" in many.output
    assert json.loads(call("sql", answers, "select 1 a where false", "--json").output) == []


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("drop view responses", "statements: DROP"),
        ("select 1; select 2", "statements: SELECT, SELECT"),
        ("copy responses to 'RUN/x.csv'", "statements: COPY"),
        ("with a as (copy responses to 'RUN/x.csv') select 1", "COPY statements are not allowed"),
        ("attach 'RUN/x.db'", "statements: ATTACH"),
        ("create table t as select 1", "statements: CREATE"),
        ("set threads = 4", "statements: SET"),
        ("", "statements: none"),
        ("select * from enable_profiling(save_location = 'RUN/x', format = 'json')", "cannot be answered"),
    ],
)
def test_only_a_select_is_answered(answers: Path, query: str, what: str) -> None:
    """Other statements, several, none, and a SELECT that writes are refused; the run has the same files and bytes."""
    before = files_of(answers)
    result = call("sql", answers, query.replace("RUN", str(answers)))
    assert result.exit_code == 1
    assert what in result.output
    assert files_of(answers) == before


def test_a_wrong_column_is_named_with_those_there_are(answers: Path, study: Path) -> None:
    """The error says what is wrong and lists the columns of responses and of results, or that there are none."""
    result = call("sql", answers, "select valu from responses")
    assert result.exit_code == 1
    assert '"valu" not found' in result.output
    assert "columns of responses: subject_id, subject_kind, item_id" in result.output
    assert "has no results.json" in result.output
    assert "columns of results: " in call("sql", study, "select valu from results").output
    assert call("sql", answers, "select 1 a, 2 a", "--json").exit_code == 1
    assert call("sql", answers, "select 1", "--json", "--csv").exit_code == 2


def test_a_damaged_run_is_not_asked(answers: Path, tmp_path: Path) -> None:
    """A changed byte is found, in the folder and if the file alone is named; a run without its record is unfinished."""
    own = Path(shutil.copytree(answers, tmp_path / "own"))
    table = own / "responses.parquet"
    content = bytearray(table.read_bytes())
    content[200] ^= 1
    table.write_bytes(content)
    for place in (own, table):
        result = call("sql", place, "select 1")
        assert result.exit_code == 1
        assert "is not as it was written" in result.output
    (own / "run.json").unlink()
    assert "is not finished" in call("sql", own, "select 1").output
    assert "there is no such file or folder" in call("sql", tmp_path / "absent", "select 1").output


def test_a_folder_of_parts_is_asked(tmp_path: Path) -> None:
    """Parts are one view; simulated participants have their kind; a part that the record does not name is left out."""
    columns = {"subject_kind": "participant", "task": "t", "measure": "rating", "value": [1.0, 2.0]}
    with parts_writer(tmp_path / "parts") as write:
        for subject in ("p1", "simulated-p2"):
            write(ResponseTable.from_columns({**columns, "item_id": ["i", "j"], "subject_id": subject}))
    kinds = dict(
        zip(*(ResponseTable.scan(tmp_path / "parts").column(n) for n in ("subject_id", "subject_kind")), strict=True)
    )
    cells = "subject_id, subject_kind, sum(value) s, max(answered_at) answered"
    query = f"select {cells} from responses group by 1, 2 order by 1"
    rows = json.loads(call("sql", tmp_path / "parts", query, "--json").output)
    assert [(row["subject_id"], row["subject_kind"]) for row in rows] == sorted(kinds.items())
    assert [(row["s"], row["answered"]) for row in rows] == [(3.0, None)] * 2
    shutil.copy(next((tmp_path / "parts").rglob("*.parquet")), tmp_path / "parts" / "copy.parquet")
    result = call("sql", tmp_path / "parts", "select count(*) n from responses")
    assert "excluded, not in run.json" in result.output
    assert "4" in result.stdout.split()
