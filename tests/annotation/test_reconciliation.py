"""S19: the platform's list against ours: 30 scripted cases, each ending in the documented difference, or in none."""

from __future__ import annotations

import csv
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from lexiscope.annotation.reconciliation import (
    ADVICE,
    OurRecord,
    PlatformSubmission,
    read_submissions,
    reconcile,
    write_differences,
)
from lexiscope.core.errors import InputError, RunError

HEADER = "Submission id,Participant id,Status,Started at,Completion code"
FIXED = {"completed": "DONE77", "screened_out": "OUT33", "no_consent": "NO11"}

# name, [(status there, code there) of the person A], state here (None: never came), the differences that follow
CASES: tuple[tuple[str, Sequence[tuple[str, str]], str | None, Sequence[str]], ...] = (
    ("finished and approved", [("APPROVED", "DONE77")], "accepted", []),
    ("finished and waits", [("AWAITING REVIEW", "DONE77")], "finished", []),
    ("finished, no code", [("AWAITING REVIEW", "NOCODE")], "finished", ["code_missing"]),
    ("finished, wrong code", [("AWAITING REVIEW", "DONE78")], "finished", ["code_wrong"]),
    ("finished, code for screening out", [("AWAITING REVIEW", "OUT33")], "finished", ["code_wrong"]),
    ("finished, code of B", [("AWAITING REVIEW", "BS-OWN")], "finished", ["code_of_somebody_else"]),
    ("finished, returned there", [("RETURNED", "")], "finished", ["finished_but_returned"]),
    ("finished, timed out there", [("TIMED-OUT", "")], "finished", ["finished_but_timed_out"]),
    ("finished, rejected there", [("REJECTED", "DONE77")], "accepted", ["finished_but_rejected"]),
    ("finished, screened out there", [("SCREENED OUT", "")], "finished", ["finished_but_screened_out"]),
    ("finished, active there", [("ACTIVE", "")], "finished", ["finished_but_still_active"]),
    ("finished, not listed there", [], "finished", ["finished_but_not_listed"]),
    ("excluded, waits", [("AWAITING REVIEW", "DONE77")], "excluded", ["excluded_awaits_review"]),
    ("excluded, rejected", [("REJECTED", "DONE77")], "excluded", []),
    ("excluded, paid", [("APPROVED", "DONE77")], "excluded", []),
    ("active here, approved there", [("APPROVED", "DONE77")], "active", ["approved_without_all_answers"]),
    ("active here, waits there", [("AWAITING REVIEW", "")], "active", ["submitted_unfinished"]),
    ("active here, returned there", [("RETURNED", "")], "active", ["place_not_given_back"]),
    ("consented here, timed out there", [("TIMED-OUT", "")], "consented", ["place_not_given_back"]),
    ("active in both", [("ACTIVE", "")], "active", []),
    ("active here, not listed", [], "active", ["active_but_not_listed"]),
    ("screened out, its code", [("AWAITING REVIEW", "OUT33")], "screened_out", []),
    ("screened out, full code", [("AWAITING REVIEW", "DONE77")], "screened_out", ["screened_out_with_wrong_code"]),
    ("screened out, paid in full", [("APPROVED", "DONE77")], "screened_out", ["paid_in_full_though_screened_out"]),
    ("no consent, paid", [("APPROVED", "NO11")], "declined", ["paid_without_consent"]),
    ("no consent, waits", [("AWAITING REVIEW", "NO11")], "declined", ["submitted_without_consent"]),
    ("returned here, waits there", [("AWAITING REVIEW", "")], "returned", ["submitted_after_return"]),
    ("timed out here, approved there", [("APPROVED", "")], "timed_out", ["approved_after_return"]),
    ("returned here, active there", [("ACTIVE", "")], "returned", ["back_on_the_platform"]),
    ("returned in both", [("RETURNED", "")], "returned", []),
    ("never came, approved", [("APPROVED", "x")], None, ["unknown_id"]),
    ("never came, knows the code", [("AWAITING REVIEW", "DONE77")], None, ["unknown_id_with_code"]),
    ("never came, returned", [("RETURNED", "")], None, []),
    ("paid twice", [("APPROVED", "DONE77"), ("APPROVED", "DONE77")], "accepted", ["paid_twice"]),
    ("submitted twice", [("APPROVED", "DONE77"), ("AWAITING REVIEW", "DONE77")], "accepted", ["submitted_twice"]),
    ("came again after a return", [("RETURNED", ""), ("APPROVED", "DONE77")], "accepted", ["finished_but_returned"]),
)


def platform_file(folder: Path, lines: Sequence[str], header: str = HEADER) -> Path:
    """The platform's list."""
    path = folder / "prolific.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def record(platform_id: str, state: str, **codes: str) -> OurRecord:
    """Somebody who came with a platform id."""
    return OurRecord(platform_id, f"p-{platform_id}", state, codes=codes)


@pytest.mark.parametrize(("name", "there", "here", "expected"), CASES, ids=[case[0] for case in CASES])
def test_each_case_ends_as_documented(
    name: str, there: Sequence[tuple[str, str]], here: str | None, expected: Sequence[str], tmp_path: Path
) -> None:
    """Every case goes through the file: each difference has its kind, its people, what to do; no case has others."""
    lines = [f"s{k},A,{status},2026-03-01,{code}" for k, (status, code) in enumerate(there)]
    lines.append("sB,B,APPROVED,2026-03-01,BS-OWN")
    ours = [record("B", "accepted", completed="BS-OWN")]
    ours += [record("A", here)] if here is not None else []
    found = reconcile(read_submissions(platform_file(tmp_path, lines)), ours, codes=FIXED)
    assert [one.kind for one in found] == list(expected), name
    for one in found:
        assert (one.platform_id, one.participant_id) == ("A", "p-A" if here else "")
        assert one.to_do == ADVICE[one.kind]
        assert one.here == (here or "unknown")


def test_every_kind_has_advice_and_a_case() -> None:
    """No kind of difference is without a word on what to do, and none is untested."""
    assert set(ADVICE) == {kind for case in CASES for kind in case[3]}
    assert len(CASES) >= 30


def test_codes_of_their_own_are_told_apart() -> None:
    """Where everybody has an own code, one that was issued to somebody else is found, and the own one is right."""
    there = [
        PlatformSubmission("s1", "A", "awaiting_review", "CODE-A", 2),
        PlatformSubmission("s2", "B", "approved", "CODE-A", 3),
    ]
    ours = [record("A", "finished", completed="CODE-A"), record("B", "finished", completed="CODE-B")]
    (one,) = reconcile(there, ours)
    assert (one.kind, one.platform_id, one.line) == ("code_of_somebody_else", "B", 3)


def test_a_panel_has_its_own_columns_and_words(tmp_path: Path) -> None:
    """Generic panels: columns by name, statuses by a map; capitals and underscores make no difference."""
    path = platform_file(tmp_path, ["7;u1;complete;K1", "8;u2;quit;"], header="RUN_ID;member;State;Token")
    columns = {"submission": "run id", "participant": "Member", "status": "state", "code": "token"}
    read = read_submissions(path, columns=columns, statuses={"complete": "awaiting_review", "quit": "returned"})
    assert read == (
        PlatformSubmission("7", "u1", "awaiting_review", "K1", 2),
        PlatformSubmission("8", "u2", "returned", "", 3),
    )


@pytest.mark.parametrize(
    ("header", "lines", "code", "where"),
    [
        ("Submission id,Participant id,Status", ["s,A,APPROVED"], "E006", ":1"),
        (HEADER + ",status", ["s,A,APPROVED,,x,y"], "E007", ":1"),
        (HEADER, ["s1,A,APPROVED,,x", "s2,,APPROVED,,x"], "E105", ":3"),
        (HEADER, ["s1,A,APPROVED,,x", "s1,B,APPROVED,,x"], None, ":3"),
        (HEADER, ["s1,A,GONE FISHING,,x"], None, ":2"),
        (HEADER, ["s1,A,APPROVED"], "E004", ":2"),
    ],
    ids=["column missing", "column twice", "no participant", "submission twice", "unknown status", "cut line"],
)
def test_reading_is_strict(header: str, lines: list[str], code: str | None, where: str, tmp_path: Path) -> None:
    """Every doubt is an error with file and line."""
    path = platform_file(tmp_path, lines, header)
    with pytest.raises(InputError) as caught:
        read_submissions(path)
    assert caught.value.code == code
    assert f"{path}{where}" in str(caught.value)


def test_an_empty_file_and_a_repeated_id_are_refused(tmp_path: Path) -> None:
    """No list is not an empty list; one platform id is one participant."""
    (tmp_path / "e.csv").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="empty"):
        read_submissions(tmp_path / "e.csv")
    with pytest.raises(InputError, match="two participants"):
        reconcile([], [record("A", "active"), record("A", "finished")])


def test_the_list_is_for_the_researchers_eyes(tmp_path: Path) -> None:
    """Mode 0600, no live cell, all columns; where it cannot be written nothing is left behind."""
    there = [PlatformSubmission("=s1", "A", "returned", "", 2)]
    found = reconcile(there, [record("A", "finished")])
    path = tmp_path / "reconciliation.csv"
    path.write_text("old", encoding="utf-8")
    write_differences(found, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["kind"], row["submission_id"], row["there"]) == ("finished_but_returned", "'=s1", "returned")
    with pytest.raises(RunError, match="cannot be written"):
        write_differences(found, tmp_path / "nowhere" / "list.csv")
    assert [each.name for each in tmp_path.iterdir()] == ["reconciliation.csv"]


def test_statuses_are_read_as_prolific_writes_them(tmp_path: Path) -> None:
    """Capitals, hyphens and underscores make no difference: AWAITING REVIEW and Awaiting_Review are one status."""
    written = ["ACTIVE", "AWAITING REVIEW", "Awaiting_Review", "APPROVED", "TIMED-OUT", "Timed Out", "SCREENED OUT"]
    path = platform_file(tmp_path, [f"s{k},A,{status},," for k, status in enumerate(written)])
    assert [one.status for one in read_submissions(path)] == [
        "active",
        *["awaiting_review"] * 2,
        "approved",
        *["timed_out"] * 2,
        "screened_out",
    ]
