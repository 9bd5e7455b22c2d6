"""The stimulus check: every fault has its code and place, and none hides another."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import caret_line
from lexiscope.core.scale import Scale
from lexiscope.datasets.mini_relatedness import load
from lexiscope.items.check.item_file import check_file, task_of_columns
from lexiscope.items.tables.columns import ColumnMap
from lexiscope.items.tables.findings import CheckReport
from lexiscope.items.tables.tabular import write_items

DATA = Path(__file__).parents[2] / "data"
ROOT = Path(__file__).parents[3]


def check(tmp_path: Path, text: str, **options: object) -> CheckReport:
    path = tmp_path / "items.csv"
    path.write_text(text, encoding="utf-8")
    return check_file(path, **options)  # type: ignore[arg-type]


def test_every_fault_of_a_file_is_found() -> None:
    """The check never stops: each row's fault is named with its line and item."""
    report = check_file(DATA / "pairs_one_fault_per_row.csv")
    found = {(f.code, f.item_id, f.line) for f in report.findings if f.code not in ("W205",)}
    assert found == {
        ("E101", "absent", 3),
        ("E102", "twice", 4),
        ("E208", "identical", 5),
        ("W206", "spill", 6),
        ("E209", "reversed", 7),
        ("E105", "empty", 8),
    }
    assert report.exit_status == 1
    assert report.n_rows == 7


def test_the_caret_stands_under_the_fault() -> None:
    """For a target that occurs twice the caret marks the second occurrence, in the file's own line."""
    report = check_file(DATA / "pairs_one_fault_per_row.csv")
    (twice,) = [f for f in report.findings if f.code == "E102"]
    assert twice.text == "twice,bank,The bank near the bank was old,The bank was old,1,2"
    assert twice.column == twice.text.index("bank was") + 1
    assert twice.caret == " " * (twice.column - 1) + "^^^^"


def test_text_and_json_hold_all_findings() -> None:
    """The text has file:line:column, the line and its caret; JSON has the same findings as records."""
    report = check_file(DATA / "pairs_one_fault_per_row.csv")
    text = report.text()
    assert re.search(r"pairs_one_fault_per_row\.csv:4:\d+: E102 .*\n    twice,bank.*\n +\^\^\^\^\n", text)
    content = json.loads(report.json())
    assert content["counts"] == report.counts
    assert [f["code"] for f in content["findings"]] == [f.code for f in report.findings]
    assert "E101: " not in report.text(at_most=1)


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("He saw the muddy bank,bank,17,21", None),
        ("He saw the muddy bank,bank,16,20", "E104"),
        ("He saw the muddy bank,bank,11,16", "E101"),
        ("He saw the muddy bank,bank,17,22", "E103"),
        ("He saw the muddy bank,bank,21,17", "E103"),
        ("He saw the muddy bank,bank,x,21", "E106"),
        ("He saw the muddy bank,bank,17,", "E106"),
        ("He saw the muddy bank,bank,,", None),
        ("He saw the muddy bank,,17,21", None),
        ("He saw the muddy bank,,,", "E105"),
        (",bank,17,21", "E105"),
        ("He saw the muddy bankers,bank,,", "E101"),
        ("a bank and a bank,bank,13,17", None),
        ("a bank and a bank,bank,,", "E102"),
        ("Vio el\u200b banco,banco,,", "W107"),
        ("Vio el  banco,banco,,", "W108"),
    ],
)
def test_targets_and_spans(tmp_path: Path, row: str, code: str | None) -> None:
    """One row, one rule: what is wrong with a target, a span or the characters around it."""
    report = check(tmp_path, f"sentence,target,start,end\n{row}\n")
    assert [f.code for f in report.findings] == ([code] if code else [])
    assert all(f.line == 2 for f in report.findings)


@pytest.mark.parametrize(
    "row",
    [
        "The Bank was old,bank,,",
        "גדת הנהר הייתה רטובה,הנהר,,",
        "The \U0001f3e6 bank 🙂,bank,,",
        '"He said ""bank"", twice",bank,,',
        f"{'very ' * 10_000}old bank,bank,,",
    ],
)
def test_unusual_texts_are_no_faults(tmp_path: Path, row: str) -> None:
    """Another case, right-to-left script, emoji, quotes and very long sentences are read as they stand."""
    assert check(tmp_path, f"sentence,target,start,end\n{row}\n").findings == ()


@given(st.binary(max_size=200))
def test_no_bytes_break_the_check(content: bytes) -> None:
    """Any bytes give a report: findings, never an exception, and carets no wider than their line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(b"sentence,target,start,end,rater,rating\n" + content)
        report = check_file(path)
    assert all(f.text == "" or len(f.caret) <= len(caret_line(f.text, 1, len(f.text))) + 1 for f in report.findings)
    assert json.loads(report.json())["exit_status"] == report.exit_status


def test_normal_forms(tmp_path: Path) -> None:
    """A target in NFC is not found in a sentence in NFD, and both the error and the file's mixture say why."""
    report = check(tmp_path, "sentence,target\nVio el ban\u0303o,baño\nVio el baño,baño\n")
    assert report.counts == {"E101": 1, "W109": 1}
    assert "normal forms" in report.errors[0].message


def test_full_stops_must_be_all_or_none(tmp_path: Path) -> None:
    """Sentences with and without a final stop in one file are a warning (SAW-C footnotes 9, 11)."""
    report = check(tmp_path, "sentence,target\nA bank.,bank\nThe bank,bank\n")
    assert report.counts.get("W111") == 1


@pytest.mark.parametrize(
    ("header", "code"),
    [("sentence,goal", "E006"), ("words,target", "E006"), ("sentence,target,target", "E007")],
)
def test_headers(tmp_path: Path, header: str, code: str) -> None:
    """A missing or doubled column is named before any row is read."""
    report = check(tmp_path, f"{header}\n{','.join('x' for _ in header.split(','))}\n")
    assert [f.code for f in report.findings] == [code]
    assert (report.n_rows, report.exit_status) == (0, 1)


def test_a_named_column_that_is_absent(tmp_path: Path) -> None:
    """A column that the user names must exist."""
    report = check(tmp_path, "sentence,target\nA bank,bank\n", columns=ColumnMap(sense_1="Sinn"))
    assert [(f.code, "'Sinn'" in f.message) for f in report.findings] == [("E006", True)]


def test_ratings_without_sentences_are_sent_to_agree(tmp_path: Path) -> None:
    """A table of raters and ratings alone has nothing to check but its ratings: the error names the verb for it."""
    report = check(tmp_path, "rater,item,rating\na,i,1\n")
    assert [f.code for f in report.findings] == ["E006", "E006"]
    assert "lexiscope agree FILE" in report.findings[0].hint


def test_a_header_without_rows(tmp_path: Path) -> None:
    """A file with a header only is empty."""
    assert check(tmp_path, "sentence,target\n").counts == {"E002": 1}


def test_one_sentence_under_two_senses(tmp_path: Path) -> None:
    """The same usage may not be filed under two senses of its word."""
    text = (
        "sentence,target,sense\nA tall crane,crane,1\nA loud crane,crane,1\nA red crane,crane,2\nA tall crane,crane,2\n"
    )
    report = check(tmp_path, text)
    assert report.counts == {"E209": 1, "W205": 1}
    pairs = (
        "sentence_1,sentence_2,target,sense_1,sense_2\n"
        "A tall crane,A red crane,crane,1,2\nA big crane,A tall crane,crane,2,2\n"
    )
    assert check(tmp_path, pairs).counts == {"E210": 1, "W205": 1}


def test_balance_and_single_pairs(tmp_path: Path) -> None:
    """A word with one pair, and senses with different numbers of sentences, are warnings."""
    text = "sentence_1,sentence_2,target,sense_1,sense_2\nA tall crane,A red crane,crane,1,2\n"
    assert check(tmp_path, text).counts == {"W204": 1}
    text += "A tall crane,A loud crane,crane,1,1\n"
    assert check(tmp_path, text).counts == {"W205": 1}


def test_same_sense_must_agree_with_the_senses(tmp_path: Path) -> None:
    """A pair marked as same sense with two sense ids is a contradiction; an unknown word is not a truth value."""
    head = "sentence_1,sentence_2,target,sense_1,sense_2,same_sense\n"
    assert check(tmp_path, head + "A tall crane,A red crane,crane,1,2,True\n").counts == {"E212": 1, "W204": 1}
    assert check(tmp_path, head + "A tall crane,A red crane,crane,1,2,maybe\n").counts == {"E303": 1, "W204": 1}
    assert check(tmp_path, head + "A tall crane,A red crane,crane,1,2,Different Sense\n").counts == {"W204": 1}


def test_item_ids_and_wordforms(tmp_path: Path) -> None:
    """An id names one question; two wordforms in one pair are a warning."""
    head = "id,sentence_1,sentence_2,target_1,target_2,word\n"
    rows = "1,A tall crane,Two cranes,crane,cranes,crane\n1,A tall crane,A red crane,crane,crane,crane\n"
    assert check(tmp_path, head + rows).counts == {"E211": 1, "W206": 1, "W207": 1}


def test_exported_items_can_be_checked(tmp_path: Path) -> None:
    """The check reads what `write_items` wrote: the mini pairs have no fault in that form either."""
    write_items(load().items, tmp_path / "items.csv")
    report = check_file(tmp_path / "items.csv")
    assert report.findings == ()
    assert (report.n_items, report.n_words) == (360, 60)


def test_catch_trials_may_be_identical(tmp_path: Path) -> None:
    """A pair marked as catch trial is identical on purpose and counts for no word."""
    head = "sentence_1,sentence_2,target,catch\n"
    report = check(tmp_path, head + "A crane,A crane,crane,true\nA red crane,A big crane,crane,false\n")
    assert report.counts == {"W204": 1}


def long_ratings(values: dict[str, list[str]]) -> str:
    head = "item,sentence_1,sentence_2,target,rater,rating\n"
    pairs = [("A red crane", "A big crane"), ("A red crane", "A tall crane")]
    return head + "".join(
        f"{i},{first},{second},crane,{rater},{given[i]}\n"
        for rater, given in values.items()
        for i, (first, second) in enumerate(pairs)
    )


def test_ratings_off_the_scale_and_not_numbers(tmp_path: Path) -> None:
    """A rating off the scale (also between its points) and a text are errors; empty, NA and NaN are no answer."""
    text = long_ratings({"p1": ["1", "6"], "p2": ["2.5", "x"], "p3": ["", "nan"], "p4": ["NA", "inf"]})
    report = check(tmp_path, text, scale=Scale(1, 5), min_ratings=1)
    assert [(f.code, f.line) for f in report.errors] == [
        ("E301", 3), ("E301", 4), ("E302", 5), ("E302", 9)
    ]  # fmt: skip
    assert report.counts["W201"] == 1


def test_a_fault_in_a_repeated_row_is_named_each_time(tmp_path: Path) -> None:
    """Rows that repeat a sentence are looked at once only where it has no fault."""
    head = "item,sentence,target,start,end,rater,rating\n"
    rows = "".join(f"1,A crane,crane,x,7,p{n},3\n2,A  crane,crane,3,8,p{n},3\n" for n in range(3))
    assert check(tmp_path, head + rows, min_ratings=1).counts == {"E106": 3, "W108": 3}


def test_few_ratings_one_rater_constant_rater(tmp_path: Path) -> None:
    """Fewer ratings than asked, a single rater, a rater without variance: warnings at the right place."""
    assert check(tmp_path, long_ratings({"p1": ["1", "5"]}), min_ratings=1).counts == {"W202": 1}
    report = check(tmp_path, long_ratings({"p1": ["1", "5"], "p2": ["1", "4"]}))
    assert report.counts == {"W201": 2}
    head = "item,sentence_1,sentence_2,target,rater,rating\n"
    rows = "".join(
        f"{i},A red crane,A {word} crane,crane,p1,3\n" for i, word in enumerate(["big", "old", "shy", "odd", "wet"])
    )
    more = "0,A red crane,A big crane,crane,p2,1\n"
    assert check(tmp_path, head + rows + more, min_ratings=1).counts == {"W203": 1}
    assert check(tmp_path, head + rows + more + more, min_ratings=1).counts == {"W203": 1, "W213": 1}


def test_a_norm_with_its_number_of_ratings(tmp_path: Path) -> None:
    """A mean may lie between the points of the scale; its count is held against the minimum."""
    head = "sentence_1,sentence_2,target,mean,count\n"
    text = head + "A red crane,A big crane,crane,3.25,12\nA red crane,A shy crane,crane,5.5,9\n"
    assert check(tmp_path, text, scale=Scale(1, 5)).counts == {"E301": 1, "W201": 1}


def test_one_percent_bad_rows_are_exactly_found(tmp_path: Path) -> None:
    """Of 10,000 items 100 lack their target: exactly these are named."""
    rows = [
        f"i{n},word{n // 2},{'Nobody came' if n % 100 == 7 else f'The {n % 2} word{n // 2} came'}"
        for n in range(10_000)
    ]
    report = check(tmp_path, "item_id,target,sentence\n" + "\n".join(rows) + "\n")
    assert {f.item_id for f in report.errors} == {f"i{n}" for n in range(7, 10_000, 100)}


def test_every_code_is_documented() -> None:
    """The reference has one heading per code that the source can give, and no other."""
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src/lexiscope/items").rglob("*.py")))
    others = [ROOT / "src/lexiscope/core/usage.py", *sorted((ROOT / "src/lexiscope/resources/tables").glob("*.py"))]
    source += "".join(path.read_text(encoding="utf-8") for path in others)
    of_files = set(re.findall(r'"([EW][0-3]\d\d)"', source))
    page = (ROOT / "docs/reference/messages.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### ([EW]\d{3})", page, re.MULTILINE)) == of_files


def test_the_check_imports_nothing_heavy() -> None:
    """`lexiscope check` must start fast: no torch, pandas, scipy, statsmodels, matplotlib."""
    code = "import sys, lexiscope.items.check.item_file; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"torch", "transformers", "pandas", "scipy", "statsmodels", "matplotlib", "pyarrow"}


STORIES = """\
item_id,word,precontext,sentence,ending,sense,participant,rating
s1,Schloss,Es regnete.,Das Schloss war alt.,,Gebäude,a,3
s1,Schloss,Es regnete.,Das Schloss war alt.,,Gebäude,b,4
s2,Schloss,Es regnete.,Das Schloss war alt.,,Verschluss,a,2
s3,Schloss,Es regnete.,Das Schloss war alt.,Der Turm fehlte.,Gebäude,a,5
"""


def test_variants_of_a_story_are_items_of_their_own(tmp_path: Path) -> None:
    """Three variants of one sentence: no repetition, no second rating, no balance of senses; no example.

    As pairs or sentences (``--task relatedness``) the same rows are repetitions.
    """
    report = check(tmp_path, STORIES, min_ratings=1)
    assert (report.task, report.n_items, report.n_words, report.exit_status) == ("plausibility", 3, 1, 0)
    assert [(finding.code, finding.line) for finding in report.findings] == []
    assert report.unused == ()
    assert {"E209", "W213"} <= check(tmp_path, STORIES, task="relatedness").counts.keys()
    twice = STORIES + "s3,Schloss,Es regnete.,Das Schloss war alt.,Der Turm fehlte.,Gebäude,a,1\n"
    assert check(tmp_path, twice, min_ratings=1).counts["W213"] == 1


@pytest.mark.parametrize(
    ("header", "task"),
    [
        ("word,sense,options,intruder", "word_intrusion"),
        ("word,sentence,group_1,group_2", "sense_choice"),
        ("item_id,correct,incorrect_1", "minimal_pair"),
        ("sentence_1,sentence_2,target,sense_1,sense_2,definition", ""),
        ("sentence,target,sense", ""),
    ],
)
def test_the_columns_say_what_the_items_are(header: str, task: str) -> None:
    """A page's own columns decide; pairs of sentences, and sentences with a sense id, are checked as such."""
    assert task_of_columns(header.split(",")) == task


def test_minimal_pairs_are_checked_as_they_are_read(tmp_path: Path) -> None:
    """Choice sets with different numbers of options are refused with their reason; else rows are items."""
    rows = "item_id,correct,incorrect_1,incorrect_2\n1,The keys are here.,The keys is here.,The keys be here.\n"
    assert check(tmp_path, rows).n_items == 1
    report = check(tmp_path, rows + "2,No cat sleeps.,No cat sleep.,\n")
    assert [(finding.code, finding.item_id) for finding in report.errors] == [("E455", "2")]
