"""The export of a study that ran through the real store: orders verified, no platform id, read by the statistics."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.export.study_data import StudyData
from lexiscope.annotation.store import open_study
from lexiscope.annotation.store.engine import DATABASE_NAME, DamagedError, StorageError
from lexiscope.annotation.store.record import BrowserAnswer, Phase, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import CatchSection, DesignSection, StudyDefinition
from lexiscope.annotation.study_file.freeze import FrozenStudy, freeze
from lexiscope.annotation.study_file.study_folder import open_large_snapshot, open_snapshot
from lexiscope.annotation.web.admin.summary import read_collected_for_export
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.studies.kit.ratings_file import read_ratings

from .made_export import pair
from .shown_orders import read_shown_trials, verify_orders

PLANTED = [f"60a1b2c3d4e5f6a7b8c9d0{k:02d}" for k in range(4)]
SESSION = "planted-session-5150"


def substitutions() -> list[Item]:
    """Sentences with two candidates each, made up here."""
    words = ("garden", "river", "window", "teacher")
    return [
        Item(f"s{k}", "d", (Usage(f"She saw the {word} again", 12, 12 + len(word)),), ("yard", "stream"), "yard")
        for k, word in enumerate(words)
    ]


def definition(task: str) -> StudyDefinition:
    """Two lists; a catch trial where the task has ratings."""
    catch = CatchSection(per_list=1 if task == "relatedness" else 0)
    design = DesignSection(lists=2, confusion=(), seed=99)
    return StudyDefinition(name="ran", task=task, language="en", design=design, catch=catch)


def take_part(store: Store, study: FrozenStudy, platform_id: str) -> tuple[str, int]:
    """One session as the app leads it: the answers follow from the trial's position."""
    who = store.invite(platform_id, session=SESSION)
    store.record_consent(who, text="I take part.", version="1")
    store.change_state(who, State.QUALIFIED, reason="no test")
    lease = store.take_place(who, choose=study.choose)
    trials = study.trials(lease.list_id, number=lease.ordinal)
    store.lay_out(who, Phase.TRIALS, trials)
    store.change_state(who, State.ACTIVE, reason="begins")
    for position, trial in enumerate(trials):
        item = study.items[trial.item_id]
        said: dict[str, object] = {"option": item.options[position % 2]} if item.options else {}
        said = said or {"value": float(item.gold or 1 + position % 5)}
        comment = f"my id: {platform_id}" if position == 0 else None
        key = f"{who}-{position}"
        store.submit(BrowserAnswer(who, trial.item_id, Phase.TRIALS, key, position, comment=comment, **said))  # type: ignore[arg-type]
    store.change_state(who, State.FINISHED, reason="answered all")
    return who, lease.ordinal


@pytest.mark.parametrize(("task", "items"), [("relatedness", None), ("substitution", substitutions())])
def test_an_export_of_a_study_that_ran(task: str, items: list[Item] | None, tmp_path: Path) -> None:
    """S18, X19: orders, sides and option orders are made again from the files; planted ids occur in 0 bytes."""
    made = items or [pair(f"i{k}", f"w{k}", same_sense=k % 2 == 0) for k in range(8)]
    study = freeze(definition(task), made)
    now = [datetime(2026, 3, 1, 12, tzinfo=UTC)]

    def clock() -> datetime:
        now[0] += timedelta(seconds=3)
        return now[0]

    with Store.open(tmp_path / "study", study.record, clock=clock) as store:
        numbers = dict(take_part(store, study, platform_id) for platform_id in PLANTED)
        people = store.people()
        assert numbers == {one.participant_id: one.number for one in people}
        source = StudyData(
            study.definition,
            study.design,
            study.screen.measure,
            store.responses(),
            store.responses_and_judgments()[1],
            people,
            numbers,
            study.record.views,
            platform_ids=frozenset(PLANTED),
        )
        done = write_export(source, tmp_path / "e")
    assert (done.n_participants, done.n_valid) == (4, 4)
    for path in (each for each in (tmp_path / "e").rglob("*") if each.is_file()):
        content = path.read_bytes()
        assert all(planted.encode() not in content for planted in [*PLANTED, SESSION]), path.name
    again = freeze(definition(task), list(reversed(made)))
    found = verify_orders(
        read_shown_trials(tmp_path / "e"), lambda list_id, number: again.trials(list_id, number=number)
    )
    assert found.differences == ()
    assert found.n_trials == found.n_reproduced == done.n_judgments
    if task == "relatedness":
        ratings = read_ratings(tmp_path / "e" / "sawc_judgments.csv")
        # 4 people x 4 pairs: the catch trials are no ratings of pairs
        assert (len(ratings.values), len(set(ratings.raters))) == (16, 4)
    else:
        assert {trial.display_order for trial in read_shown_trials(tmp_path / "e")} == {(0, 1), (1, 0)}


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        ("UPDATE answers SET value = value + 1 WHERE id = 3", "answers, row 3: was edited"),
        ("UPDATE answers SET item_id = 'nothing' WHERE id = 4", "answers, row 4: was edited"),
        ("UPDATE answers SET flags = 'x' WHERE id = 5", "answers, row 5: was edited"),
    ],
)
def test_a_large_study_is_checked_while_its_export_is_made(
    edit: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The export is the same; where another program wrote to the file, the damage is reported and there is none."""
    monkeypatch.setattr(open_study, "CHECKED_AT_ONCE", 0)
    made = [pair(f"i{k}", f"w{k}", same_sense=k % 2 == 0) for k in range(8)]
    study, folder = freeze(definition("relatedness"), made), tmp_path / "study"
    with Store.open(folder, study.record) as store:
        take_part(store, study, "p1")
    with open_snapshot(study, folder) as store:
        assert not store.check_is_due
        write_export(read_collected_for_export(study, store), tmp_path / "first")
    with open_large_snapshot(study, folder) as (store, confirm):
        assert store.check_is_due
        write_export(read_collected_for_export(study, store), tmp_path / "second", confirm=confirm)
        assert not store.check_is_due
    names = sorted(path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*") if path.is_file())
    assert all((tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes() for name in names)
    assert len(names) > 20

    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        ((trigger,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'answers_no_update'")
        connection.execute("DROP TRIGGER answers_no_update")
        connection.execute(edit)
        connection.execute(trigger)
        connection.commit()
    with (
        pytest.raises(DamagedError, match=found),
        open_large_snapshot(study, folder) as (store, confirm),
    ):
        write_export(read_collected_for_export(study, store), tmp_path / "third", confirm=confirm)
    assert not (tmp_path / "third").exists()


def test_a_check_that_cannot_start_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process ends before it read the study, which is larger than a pipe: an error, no export, nobody waits."""
    monkeypatch.setattr(open_study, "CHECKED_AT_ONCE", 0)
    made = [pair(f"i{k}", f"word{k}" + "x" * 2000, same_sense=k % 2 == 0) for k in range(80)]
    study, folder = freeze(definition("relatedness"), made), tmp_path / "study"
    with Store.open(folder, study.record) as store:
        take_part(store, study, "p1")
    start = SpawnProcess.start

    def killed(process: SpawnProcess) -> None:
        start(process)
        process.kill()

    monkeypatch.setattr(SpawnProcess, "start", killed)
    with (
        pytest.raises(StorageError, match="the check of the rows ended before it was done"),
        open_large_snapshot(study, folder) as (store, confirm),
    ):
        write_export(read_collected_for_export(study, store), tmp_path / "e", confirm=confirm)
    assert not (tmp_path / "e").exists()
