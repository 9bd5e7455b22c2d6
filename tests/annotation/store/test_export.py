"""DESIGN §5: what the store gives back is what the statistics read, under random ids."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.exclusion import (
    AttentionCheck,
    FailedCatch,
    FailedQualification,
    LowAgreement,
    SelfReport,
    TooSlow,
    apply,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.annotation.store.export import LONG_SCHEMA
from lexiscope.annotation.store.record import Phase, State, StoredTrial
from lexiscope.annotation.store.store import Store

from .made_study import CONSENT, Clock, answer, open_store

ITEMS = [f"i{k}" for k in range(8)]
ORDER = ["i3", "i1", "catch", "i0", "i2", "attention", "i5", "i4", "i7", "i6"]
LONG = [
    "study_id",
    "task_type",
    "item_id",
    "confusion_set",
    "list_id",
    "slot",
    "participant_id",
    "participant_kind",
    "trial_index",
    "phase",
    "kind",
    "display_order",
    "side",
    "response",
    "response_text",
    "label_undecided",
    "flag_nonsensical",
    "flag_weird",
    "guessed_word",
    "comment",
    "shown_at",
    "answered_at",
    "rt_ms",
    "n_revisions",
    "guideline_version",
    "item_sha256",
    "excluded",
    "exclusion_rule",
]


def take_part(store: Store, clock: Clock, number: int, **odd: object) -> str:
    """One session by rule: the rating of item k is near k/2 + 1; *odd* says what this person does differently."""
    who = store.invite(f"PLATFORM-{number}", session="SESSION")
    store.record_consent(who, text=CONSENT, version="1")
    store.lay_out(who, Phase.DEMOGRAPHICS, [StoredTrial("native_speaker")])
    native = answer(who, "native_speaker", 0, None, option=odd.get("native", "yes"), phase=Phase.DEMOGRAPHICS)
    store.submit(native)
    store.lay_out(who, Phase.QUALIFICATION, [StoredTrial("test")])
    store.submit(answer(who, "test", 0, odd.get("test", 5), phase=Phase.QUALIFICATION))
    store.change_state(who, State.QUALIFIED, reason="qualification judged by the study")
    store.take_place(who)
    store.lay_out(who, Phase.TRIALS, [StoredTrial(item, (1, 0), "right") for item in ORDER])
    store.change_state(who, State.ACTIVE, reason="instructions read")
    ratings = {item: 1 + (k + number % 2) // 2 for k, item in enumerate(ITEMS)}
    if odd.get("upside_down"):
        ratings = {item: 6 - rating for item, rating in ratings.items()}
    ratings |= {"catch": odd.get("catch", 5), "attention": odd.get("attention", 1)}
    for position, item in enumerate(ORDER):
        clock.forward(seconds=float(odd.get("seconds", 2)) + number / 100)  # type: ignore[arg-type]
        more = {"flags": ("weird",), "comment": "=1+1"} if item == "i2" else {}
        store.submit(answer(who, item, position, ratings[item], rt_ms=1000.0 + position, **more))
    store.change_state(who, State.FINISHED, reason="answered all")
    return who


def test_exclusions_and_agreement_read_the_responses(tmp_path: Path) -> None:
    """X13: planted violators, and exactly they, are excluded, each by its rule; agreement runs on the rest."""
    clock = Clock()
    with open_store(tmp_path, clock=clock) as store:
        good = [take_part(store, clock, number) for number in range(12)]
        planted = {
            take_part(store, clock, 20, test=1): "failed_qualification",
            take_part(store, clock, 21, attention=4): "attention_check",
            take_part(store, clock, 22, catch=4): "failed_catch",
            take_part(store, clock, 23, seconds=600): "too_slow",
            take_part(store, clock, 24, upside_down=True): "low_agreement",
            take_part(store, clock, 25, native="no"): "self_report",
        }
        unfinished = store.invite()
        table = store.responses()
    rules = [
        FailedQualification(1.0),
        AttentionCheck(),
        FailedCatch(("catch",), 5.0),
        TooSlow(3.0),
        LowAgreement(0.1, ignore_items=("catch",)),
        SelfReport("native_speaker", "no"),
    ]
    found = apply(rules, table)
    assert {who: rule.partition("(")[0] for who, rule in found.attribution.items()} == planted
    assert sorted(found.kept.unique("subject_id")) == sorted(good)
    assert unfinished not in table.unique("subject_id")
    items = found.kept.filter(np.isin(found.kept.column("item_id").astype(str), ITEMS))
    agreement = leave_one_out(Ratings.from_table(items, measure="rating"), resamples=0)
    assert len(agreement.values) == len(good)
    assert min(agreement.values) > 0.8


def test_a_response_is_the_answer(tmp_path: Path) -> None:
    """Each column of a response is what was shown, answered and measured."""
    clock = Clock()
    with open_store(tmp_path, clock=clock) as store:
        who = take_part(store, clock, 0)
        table = store.responses()
        assert store.responses(states=[State.ACCEPTED]).unique("subject_id") == ()
        assert set(store.responses(phases=[Phase.TRIALS]).unique("measure")) == {
            "rating",
            "attention_check",
            "completion_time",
        }
    rated = table.where(measure="rating").sorted_by("position")
    assert rated.column("item_id").tolist() == [item for item in ORDER if item != "attention"]
    # rating of item k: 1 + k // 2; catch 5
    assert rated.column("value").tolist() == [2, 1, 5, 1, 2, 3, 3, 4, 4]
    assert rated.column("position").tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9]
    assert rated.column("rt_ms").tolist() == [1000, 1001, 1002, 1003, 1004, 1006, 1007, 1008, 1009]
    assert set(rated.column("list_id")) == {"1"}
    assert rated.column("answered_at")[0] == np.datetime64("2026-03-01T12:00:02")
    # 10 trials of 2 seconds each
    assert table.where(measure="completion_time").column("value").tolist() == [20_000.0]
    assert table.where(measure="native_speaker").column("option").tolist() == ["yes"]
    assert table.where(measure="qualification").column("value").tolist() == [1.0]
    (row,) = table.where(measure="attention_check").rows()
    assert (row.subject_id, row.subject_kind, row.task, row.value, row.raw) == (
        who,
        "participant",
        "relatedness",
        1.0,
        "1",
    )


def test_a_clock_that_was_set_back_makes_no_time(tmp_path: Path) -> None:
    """S22: no negative duration: the value is missing, with its reason."""
    clock = Clock()
    with open_store(tmp_path, clock=clock) as store:
        take_part(store, clock, 0, seconds=-3600)
        (row,) = store.responses().where(measure="completion_time").rows()
    assert (row.value, row.raw) == (None, "the server's clock was set back")


def test_the_long_export_has_the_columns_of_the_specification(tmp_path: Path) -> None:
    """Collection §7: one row per judgment; excluded people stay, with the rule; no platform id anywhere."""
    clock = Clock()
    with open_store(tmp_path, clock=clock) as store:
        first, second = take_part(store, clock, 0), take_part(store, clock, 1)
        store.change_state(second, State.EXCLUDED, reason="failed_catch(items=catch,expected=5)")
        table = store.responses_and_judgments()[1]
    # the flags that the specification does not name stand behind its columns
    assert [name.strip() for name in LONG_SCHEMA.names] == [*LONG, "flag_skipped", "flag_not_found"]
    rows = {(row["participant_id"], row["phase"], row["item_id"]): row for row in table.to_pylist()}
    assert len(rows) == table.num_rows == 2 * 12
    row = rows[first, "trials", "i2"]
    expected = {
        "study_id": "made_up",
        "task_type": "relatedness",
        "confusion_set": "w2",
        "slot": 1,
        "trial_index": 4,
        "kind": "item",
        "display_order": "[1, 0]",
        "side": "right",
        "response": "2",
        "response_text": None,
        "flag_weird": True,
        "flag_nonsensical": False,
        "comment": "=1+1",
        "rt_ms": 1004.0,
        "n_revisions": 0,
        "item_sha256": f"{2:064x}",
        "excluded": False,
        "exclusion_rule": None,
        "flag_skipped": False,
        "flag_not_found": False,
    }
    assert {name: row[name] for name in expected} == expected
    gone = rows[second, "demographics", "native_speaker"]
    assert (gone["response"], gone["excluded"], gone["exclusion_rule"]) == (
        "yes",
        True,
        "failed_catch(items=catch,expected=5)",
    )
    assert "PLATFORM" not in str(table.to_pylist())
    assert "SESSION" not in str(table.to_pylist())


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the time zone of a process can be set on POSIX only")
def test_exports_do_not_depend_on_the_time_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S22: the same study gives the same bytes in UTC, Asia/Kolkata and America/St_Johns."""
    clock = Clock()
    with open_store(tmp_path, clock=clock) as store:
        take_part(store, clock, 0)
        found = set()
        for zone in ("UTC", "Asia/Kolkata", "America/St_Johns"):
            monkeypatch.setitem(os.environ, "TZ", zone)
            time.tzset()
            store.responses().write_csv(tmp_path / "responses.csv")
            found.add(
                (tmp_path / "responses.csv").read_bytes() + str(store.responses_and_judgments()[1].to_pylist()).encode()
            )
        monkeypatch.undo()
        time.tzset()
    assert len(found) == 1
