"""Items, scales, results, runs, specs, the catalog: small rules that everything else relies on."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import (
    CapabilityError,
    InputError,
    LexiscopeError,
    MissingExtraError,
    Place,
    RunError,
    SpecError,
    require,
)
from lexiscope.core.item import Item, check_unique_ids
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import (
    COMPARED,
    Record,
    Status,
    comparison_status,
    find_record,
    from_json,
    statistic_name,
    to_json,
)
from lexiscope.core.run import manifest, read_json, sha256_of, versions, write_atomically, write_json
from lexiscope.core.scale import Scale
from lexiscope.core.study import PublishedValue
from lexiscope.core.subject import SubjectSpec, capabilities
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
from lexiscope.items.tables.findings import Finding
from lexiscope.studies.saw_c.settings import SawCSettings

USAGE = Usage("It is a bank", 8, 12)


def test_error_text_says_what_where_why_and_what_to_do() -> None:
    """The four parts stand in one order, with a caret under the column."""
    error = LexiscopeError(
        "wrong", code="E1", place=Place("f.csv", 2, 3, text="abcd", width=2), why="because", hint="mend"
    )
    assert str(error) == "f.csv:2:3: [E1] wrong\n    abcd\n      ^^\n  why: because\n  what to do: mend"


@pytest.mark.parametrize(
    ("text", "target", "carets"),
    [
        ("a ban\u0303o", "ban\u0303o", "  ^^^^"),
        ("銀行 bank", "銀行", "^^^^"),
        ("銀行 bank", "bank", "     ^^^^"),
        ("\ta b", "b", "\t  ^"),
    ],
)
def test_carets_stand_under_what_a_terminal_shows(text: str, target: str, carets: str) -> None:
    """Marks take no room, wide characters two places, a tab stays a tab; a finding and its error show the same."""
    place = Place("f.csv", 1, text.index(target) + 1, text=text, width=len(target))
    assert place.caret().split("\n")[1] == "    " + carets
    finding = Finding.from_place("E101", "wrong", place)
    assert finding.caret == carets
    assert str(finding.error()).split("\n")[2] == "    " + carets


def test_a_missing_extra_is_one_error_with_the_install_line() -> None:
    """A missing optional package is named with the extra that installs it."""
    with pytest.raises(MissingExtraError, match=r"pip install 'lexiscope\[models\]'"):
        require("a_package_that_is_not_there", "models")


def test_scale_knows_its_points() -> None:
    """Values off the scale or between its points are refused with E301."""
    scale = Scale(1, 5)
    assert scale.points == (1, 2, 3, 4, 5)
    for value in (0, 6, 2.5, float("nan")):
        with pytest.raises(InputError, match="E301"):
            scale.check(value)
    with pytest.raises(InputError):
        Scale(5, 1)


def test_items_have_unique_ids_and_named_conditions() -> None:
    """Two items with one id, an empty id, and an unknown condition are errors."""
    item = Item("i1", "d", (USAGE,), conditions={"same_sense": True})
    assert item.condition("same_sense") is True
    assert item.word == "bank"
    with pytest.raises(InputError, match="same_sense"):
        item.condition("list")
    with pytest.raises(InputError, match="E403"):
        check_unique_ids((item, item))
    with pytest.raises(InputError, match="E401"):
        Item(" ", "d", (USAGE,))


def test_records_survive_json() -> None:
    """Records → JSON → records is exact; numpy numbers become plain ones; a missing value needs a reason."""
    records = (Record("spearman", np.float64(0.5), subject="m", layer=3, n=10, published=0.5, status="reproduced"),)
    assert from_json(to_json(records)) == records
    assert json.loads(to_json(records))[0]["layer"] == 3
    with pytest.raises(InputError, match="why"):
        Record("spearman", None)
    assert Record("spearman", float("nan"), note="constant").value is None


def test_statistic_names_parse_back() -> None:
    """A printed name shows its parameters and parses back to them; nonsense is refused."""
    assert statistic_name("aic", model="logistic") == "aic(model=logistic)"
    for bad in ("", "a b", "x(=1)", "x(level)"):
        with pytest.raises(SpecError):
            Record(bad, 1.0)


@pytest.mark.parametrize(
    ("value", "printed", "status"),
    [
        (39.5885, "39.59", "reproduced"),
        (0.7306, ".77", "not reproduced"),
        (0.99754, ".997", "within rounding"),
        (6, "6", "reproduced"),
    ],
)
def test_printed_numbers_are_compared_digit_for_digit(value: float, printed: str, status: str) -> None:
    """A value reproduces a printed one when it rounds to it."""
    assert comparison_status(value, printed) == status
    assert PublishedValue("x", printed, "§1").status_of(value) == status


@pytest.mark.parametrize("status", COMPARED)
@pytest.mark.parametrize(("value", "published"), [(0.5, None), (None, 0.5), (0.5, float("nan"))])
def test_a_status_of_comparison_needs_both_numbers(
    status: Status, value: float | None, published: float | None
) -> None:
    """No record of any study says *reproduced*, or that a number differs, without a printed number and one of ours."""
    with pytest.raises(InputError, match="outcome of a comparison"):
        Record("r", value, published=published, status=status, note="none")
    line = json.dumps([{"statistic": "r", "value": value, "status": status, "note": "none"}])
    with pytest.raises(InputError, match=f"the status '{status}' without"):
        from_json(line)


def test_the_last_printed_digit_decides_at_every_size() -> None:
    """A half of the last digit rounds to it and one digit off is within rounding, for 3.1e-10 as for 12,700,000."""
    found = [
        comparison_status(value, text)
        for value, text in ((3.15e-10, "3.1e-10"), (3.2e-10, "3.1e-10"), (3.3e-10, "3.1e-10"))
    ]
    assert found == ["reproduced", "within rounding", "not reproduced"]
    assert comparison_status(0.1 + 0.2 + 0.05, "0.3") == "reproduced"
    assert comparison_status(12_700_000.5, "12700000") == "reproduced"
    assert comparison_status(0.0, "0.00") == comparison_status(1e-9, "0.000") == "reproduced"


def test_find_wants_exactly_one() -> None:
    """Looking up a record that is absent or ambiguous is an error."""
    records = [Record("r", 1.0, layer=1), Record("r", 2.0, layer=2)]
    assert find_record(records, "r", layer=2).value == 2.0
    for where in ({}, {"layer": 9}):
        with pytest.raises(InputError):
            find_record(records, "r", **where)


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """A write that fails leaves the old file and no temporary one."""
    path = tmp_path / "run" / "x.json"
    write_atomically(path, "old")
    with pytest.raises(TypeError):
        write_json(path, {"x": object()})
    assert path.read_text() == "old"
    assert os.listdir(path.parent) == ["x.json"]


def test_a_run_file_is_checked_when_read(tmp_path: Path) -> None:
    """Damaged or foreign JSON is an error that names the file; checksums are of the bytes."""
    for text in ("{", "[]"):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(RunError, match=r"run\.json"):
            read_json(tmp_path / "run.json")
    assert manifest(tmp_path, ["run.json"]) == {"run.json": sha256_of(tmp_path / "run.json")}
    assert versions()["python"].startswith(f"{sys.version_info.major}.")


@pytest.mark.parametrize(
    "text", ["encoder:minilm", "encoder:org/model", "chat:m@http://127.0.0.1:1/v1", "recorded:a@b.csv"]
)
def test_specs_print_and_parse_back(text: str) -> None:
    """A subject's spec prints as it was written."""
    assert str(SubjectSpec.parse(text)) == text


@pytest.mark.parametrize("text", ["", "encoder", "encoder:", ":x"])
def test_a_spec_needs_kind_and_name(text: str) -> None:
    """Anything but kind:name is refused."""
    with pytest.raises(SpecError):
        SubjectSpec.parse(text)


class _Mute:
    subject_id = "mute:1"
    kind = "mute"
    facts = None


def test_an_incapable_subject_is_refused_and_the_message_names_what_could() -> None:
    """A task names, in order, the capabilities that can answer it; a subject with none of them is refused."""
    task = Task("t", "", None, (), (("Embeds", lambda *a, **k: ResponseTable.empty()),), ())
    assert capabilities(_Mute()) == ()
    with pytest.raises(CapabilityError, match="Embeds"):
        task.answer_function(_Mute())


def test_the_catalog_names_without_importing_and_suggests() -> None:
    """Names come from files; an unknown one is refused with the nearest known name."""
    assert "saw_c" in catalog.names("datasets")
    assert catalog.summary("datasets", "saw_c")
    with pytest.raises(SpecError, match="saw_c"):
        catalog.module("datasets", "saw-c")


def test_study_settings_refuse_contradictions() -> None:
    """A dataset and an item file exclude each other; counts are positive."""
    with pytest.raises(InputError):
        SawCSettings(dataset="saw_c", items="x.csv")
    with pytest.raises(InputError):
        SawCSettings(starts=0)
