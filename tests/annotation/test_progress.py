"""How far a study is: each view by itself, who left, who is owed more pay, and what ``status`` prints of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from lexiscope.annotation.progress import progress_of
from lexiscope.annotation.store.answers import planned_trials
from lexiscope.annotation.store.record import BrowserAnswer, Phase, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import (
    CatchSection,
    DesignSection,
    LeaseSection,
    Payment,
    RatingsSection,
    StudyDefinition,
)
from lexiscope.annotation.study_file.definition_file import definition_yaml
from lexiscope.annotation.study_file.freeze import FrozenStudy
from lexiscope.annotation.study_file.study_folder import read_study
from lexiscope.cli.main import cli

N_ITEMS = 7


class Clock:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC) - timedelta(days=1)

    def __call__(self) -> datetime:
        return self.now

    def steady(self) -> float:
        return self.now.timestamp()

    def forward(self, minutes: float) -> None:
        self.now += timedelta(minutes=minutes)


def made_study(folder: Path) -> FrozenStudy:
    """Seven made pairs on one list, in two views, with two answers each wanted; 12 an hour are promised."""
    rows = [f"i{k},The word{k} lies here.,They sold a word{k}.,word{k}" for k in range(N_ITEMS)]
    (folder / "items.csv").write_text("\n".join(["item_id,sentence_1,sentence_2,target", *rows]) + "\n")
    definition = StudyDefinition(
        name="made",
        task="same_sense",
        language="en",
        items="items.csv",
        views=("full", "context"),
        design=DesignSection(lists=1, confusion=()),
        catch=CatchSection(per_list=0),
        ratings=RatingsSection(per_item=2),
        lease=LeaseSection(minutes=30),
        payment=Payment(amount=3, currency="GBP", hourly_least=12),
    )
    (folder / "study.yaml").write_text(definition_yaml(definition), encoding="utf-8")
    return read_study(folder / "study.yaml").freeze()


def take_part(store: Store, study: FrozenStudy, clock: Clock, name: str, *, answers: int = N_ITEMS) -> str:
    """Read for ten minutes, answer every minute; who answers all has finished."""
    who = store.invite(name)
    store.record_consent(who, text="I take part.", version="1")
    clock.forward(10)
    store.change_state(who, State.QUALIFIED, reason="no test")
    lease = store.take_place(who, choose=study.choose)
    trials = study.trials(lease.list_id, number=lease.ordinal)
    store.lay_out(who, Phase.TRIALS, trials)
    store.change_state(who, State.ACTIVE, reason="begins")
    for position, trial in enumerate(trials[:answers]):
        clock.forward(1)
        store.submit(BrowserAnswer(who, trial.item_id, Phase.TRIALS, f"{name}-{position:08}", position, option="t"))
    if answers == N_ITEMS:
        store.change_state(who, State.FINISHED, reason="answered all")
    return who


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[FrozenStudy, Clock, Store]:
    """The store of the made study, in whose folder the test runs."""
    monkeypatch.chdir(tmp_path)
    study, clock = made_study(tmp_path), Clock()
    return (
        study,
        clock,
        Store.open(tmp_path / "study", study.record, clock=clock, steady=clock.steady, unsafe_fast=True),
    )


def test_every_view_is_covered_by_itself(running: tuple[FrozenStudy, Clock, Store]) -> None:
    """Three people: two in full, one in context, which still lacks one answer to each of its seven items.

    Over both views together every item would have three answers of the two that are needed.
    """
    study, clock, store = running
    with store:
        for name in ("first", "second", "third"):
            take_part(store, study, clock, name)
        now = progress_of(study, store)
    by_view = {one: (found.n_min, found.n_max, len(found.short)) for one, found in now.coverage.items()}
    assert by_view == {"full": (2, 2, 0), "context": (1, 1, N_ITEMS)} or by_view == {
        "full": (1, 1, N_ITEMS),
        "context": (2, 2, 0),
    }
    assert {found.minimum for found in now.coverage.values()} == {2}
    short = next(found for found in now.coverage.values() if found.short)
    lacking = next(view for view, found in now.coverage.items() if found.short)
    assert {now.views[one.list_id] for one in short.short} == {lacking}
    assert (now.valid, now.wanted, now.complete) == (3, 1 * 2 * 2, False)
    said = CliRunner().invoke(cli, ["annotate", "status", "study.yaml"], catch_exceptions=False).output
    text = " ".join(said.split())
    assert "valid: 3 of 4 people wanted (2 lists × 2)" in text
    # five of the items are named, the rest counted
    assert f"in the view {lacking}: 1 to 1, mean 1.00; 7 items below the 2 needed (i0: 1," in text
    assert "i4: 1, and 2 more)" in text


def test_who_is_silent_has_left_until_they_come_back(running: tuple[FrozenStudy, Clock, Store]) -> None:
    """A place is held for 30 minutes: at 30 after the last answer it is lost, and an answer brings its holder back."""
    study, clock, store = running
    with store:
        who = take_part(store, study, clock, "slow", answers=2)
        store.invite("looked at the page")
        read = store.invite("read the consent")
        store.record_consent(read, text="I take part.", version="1")
        seen = []
        for minutes in (29, 1):
            clock.forward(minutes)
            now = progress_of(study, store)
            seen.append((now.at_it, now.left))
        # who only read the consent is not at it either, and was never a loss
        assert seen == [(2, 0), (0, 1)]
        trial = store.read(planned_trials, who)[2]
        store.submit(BrowserAnswer(who, trial.item_id, Phase.TRIALS, "slow-00000002", 2, option="f"))
        assert (progress_of(study, store).at_it, progress_of(study, store).left) == (1, 0)


def test_pay_counts_from_consent(running: tuple[FrozenStudy, Clock, Store]) -> None:
    """10 minutes of reading and 7 of trials: 3.00 is 10.59 an hour; of 12 an hour 3.40 would be due, 0.40 are owed.

    ``status`` names random ids; ``reconcile``, for the researcher's eyes, the ids of the platform.
    """
    study, clock, store = running
    with store:
        who = take_part(store, study, clock, "5f1e2d3c4b5a69788796a5b4")
    run = CliRunner()
    text = run.invoke(cli, ["annotate", "status", "study.yaml"], catch_exceptions=False).output
    assert f"median session {10 + 7:.1f} min, {3 * 60 / 17:.2f} GBP an hour, paid 3.00" in text
    assert "median time in the trials 7.0 min" in text
    assert "1 person earned less than the least hourly pay: 0.40 GBP owed" in " ".join(text.split())
    assert f"{who}: 17.0 min, 10.59 GBP an hour, owed 0.40" in text
    status = json.loads(run.invoke(cli, ["annotate", "status", "study.yaml", "--json"]).output)
    assert [one["owed"] for one in status["owed"]] == [0.4]
    assert "5f1e2d3c" not in text
    Path("platform.csv").write_text(
        "Submission id,Participant id,Status,Completion code\ns1,5f1e2d3c4b5a69788796a5b4,APPROVED,\n"
    )
    listed = run.invoke(cli, ["annotate", "reconcile", "study.yaml", "platform.csv"], catch_exceptions=False).output
    owed = listed.partition("Earned less than the least hourly pay")[2]
    assert "5f1e2d3c4b5a69788796a5b4" in owed
    assert "0.40" in owed
