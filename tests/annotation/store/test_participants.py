"""reliability.md S7, S16, S17, W15, W16: participants, places, codes, the audit log, and being forgotten."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from lexiscope.annotation.store import audit
from lexiscope.annotation.store.answers import planned_trials
from lexiscope.annotation.store.engine import DATABASE_NAME, sa
from lexiscope.annotation.store.participants import state_changes
from lexiscope.annotation.store.record import (
    TRANSITIONS,
    AnswerRefused,
    Kind,
    NoPlaceLeft,
    Phase,
    State,
    StateError,
    StoredTrial,
    StudyItem,
)
from lexiscope.annotation.store.store import Store
from lexiscope.core.errors import InputError

from .made_study import CONSENT, RATING, Clock, active, answer, made_study, open_store, qualified

ITEMS = ["i0", "i1", "i2"]


def finish(store: Store, who: str) -> None:
    for position, trial in enumerate(store.read(planned_trials, who)):
        store.submit(answer(who, trial.item_id, position))
    store.change_state(who, State.FINISHED, reason="answered all")


def test_the_same_person_has_one_random_id(tmp_path: Path) -> None:
    """S8: a platform id leads to one participant, also from 40 tabs at once and after a restart."""
    with open_store(tmp_path) as store, ThreadPoolExecutor(40) as pool:
        (who,) = set(pool.map(lambda _: store.invite("PID-1", session="S-1"), range(40)))
        assert store.invite("PID-2") != who
        assert store.invite() != store.invite()
        assert "PID" not in who
    with open_store(tmp_path) as store:
        assert (store.find("PID-1"), store.find("PID-3")) == (who, None)
        with pytest.raises(AnswerRefused, match="platform_id"):
            store.invite("\x00")


def test_a_consent_is_recorded_with_its_text(tmp_path: Path) -> None:
    """W16: version, hash of the text and UTC time; consented is nobody without it."""
    with open_store(tmp_path, clock=Clock()) as store:
        who = store.invite()
        with pytest.raises(StateError, match="with the text"):
            store.change_state(who, State.CONSENTED, reason="ticked")
        store.record_consent(who, text=CONSENT, version="2")
        with pytest.raises(StateError):
            store.record_consent(who, text=CONSENT, version="2")
    with sqlite3.connect(tmp_path / DATABASE_NAME) as database:
        (row,) = database.execute("SELECT participant_id, text_version, text_sha256, at FROM consents").fetchall()
    # printf 'I take part of my own will.' | sha256sum
    digest = "f1c48b2d4243a71cc107dc91d9cef0ce71fcd515201b45a3faff945835b9e18b"
    assert row == (who, "2", digest, "2026-03-01T12:00:00.000000+00:00")


def test_only_legal_changes_of_state(tmp_path: Path) -> None:
    """From each state that needs no more than a reason, every change that is not declared is refused."""
    ways = {
        State.INVITED: (),
        State.DECLINED: (State.DECLINED,),
        State.QUALIFIED: (State.CONSENTED, State.QUALIFIED),
        State.SCREENED_OUT: (State.CONSENTED, State.SCREENED_OUT),
    }
    with open_store(tmp_path) as store:
        for state, way in ways.items():
            for to in State:
                who = store.invite()
                for step in way:
                    if step is State.CONSENTED:
                        store.record_consent(who, text=CONSENT, version="1")
                    else:
                        store.change_state(who, step, reason="test")
                if to in TRANSITIONS[state] - {State.CONSENTED, State.ACTIVE}:
                    store.change_state(who, to, reason="test")
                    assert store.read(state_changes, who)[-1].to_state is to
                else:
                    with pytest.raises(StateError):
                        store.change_state(who, to, reason="test")
                    assert store.read(state_changes, who)[-1].to_state is state
        with pytest.raises(AnswerRefused, match="no such participant"):
            store.read(state_changes, "p0")


def test_states_stand_for_what_happened(tmp_path: Path) -> None:
    """Active needs a place, finished needs all answers, accepted needs to have finished."""
    with open_store(tmp_path) as store:
        who = qualified(store)
        with pytest.raises(StateError, match="without a list"):
            store.change_state(who, State.ACTIVE, reason="go")
        store.take_place(who)
        store.change_state(who, State.ACTIVE, reason="go")
        with pytest.raises(StateError, match="without trials"):
            store.change_state(who, State.FINISHED, reason="end")
        store.lay_out(who, Phase.TRIALS, [StoredTrial(item) for item in ITEMS])
        store.submit(answer(who, "i0", 0))
        with pytest.raises(StateError, match="2 trials have no answer"):
            store.change_state(who, State.FINISHED, reason="end")
        store.change_state(who, State.EXCLUDED, reason="attention_check")
        with pytest.raises(StateError, match="did not finish"):
            store.change_state(who, State.ACCEPTED, reason="by hand")


def test_codes_come_from_committed_rows(tmp_path: Path) -> None:
    """S7: no completion code with an answer missing; the same code at each call; kinds differ."""
    with open_store(tmp_path) as store:
        who = active(store, ITEMS)
        for position, item in enumerate(ITEMS):
            with pytest.raises(StateError, match=r"no code|unknown code"):
                store.issue_code(who)
            store.submit(answer(who, item, position))
        with pytest.raises(StateError, match="active"):
            store.issue_code(who)
        store.change_state(who, State.FINISHED, reason="answered all")
        code = store.issue_code(who)
        assert [store.issue_code(who) for _ in range(3)] == [code] * 3
        out = store.invite()
        store.change_state(out, State.DECLINED, reason="no consent")
        assert store.issue_code(out, "no_consent") != code
        with pytest.raises(StateError):
            store.issue_code(out)
        with pytest.raises(AnswerRefused, match=r"no code|unknown code"):
            store.issue_code(out, "gift")


def test_a_code_never_comes_before_the_last_answer(tmp_path: Path) -> None:
    """S7: asked for while the last answers are under way, a code is issued only when all rows are there."""
    with open_store(tmp_path, unsafe_fast=True) as store, ThreadPoolExecutor(8) as pool:
        for race in range(60):
            who = active(store, ITEMS)
            for position in range(race % 3):
                store.submit(answer(who, ITEMS[position], position))
            jobs = [pool.submit(store.submit, answer(who, ITEMS[k], k)) for k in range(race % 3, 3)]
            end = pool.submit(store.change_state, who, State.FINISHED, reason="answered all")
            code = pool.submit(store.issue_code, who)
            if code.exception() is None:
                assert end.exception() is None
                assert len(store.answers_of(who)) == len(ITEMS)
            assert all(job.exception() is None or isinstance(job.exception(), AnswerRefused) for job in jobs)


def test_320_arrivals_on_120_places(tmp_path: Path) -> None:
    """S16: exactly 120 get a place, 12 on each list, each number once; the others are told."""
    study = made_study(places={f"list {k}": 12 for k in range(10)})
    with open_store(tmp_path, study, unsafe_fast=True) as store, ThreadPoolExecutor(64) as pool:
        people = list(pool.map(lambda _: qualified(store), range(320)))
        found = [pool.submit(store.take_place, who) for who in people]
        errors = [one.exception() for one in found]
        leases = [one.result() for one, error in zip(found, errors, strict=True) if error is None]
        assert Counter(type(error) for error in errors) == {type(None): 120, NoPlaceLeft: 200}
        assert Counter(lease.list_id for lease in leases) == dict.fromkeys(study.places, 12)
        assert {(lease.list_id, lease.number) for lease in leases} == {
            (name, number) for name in study.places for number in range(1, 13)
        }
        assert {load.free for load in store.loads().values()} == {0}
        taken = {lease.participant_id: lease.list_id for lease in leases}
        again = pool.map(store.take_place, taken)
        assert {lease.participant_id: lease.list_id for lease in again} == taken


def test_a_lease_runs_out_and_the_late_comer_is_surplus(tmp_path: Path) -> None:
    """S17: an expired place goes to somebody else; who comes back is recorded and marked; a free one is kept."""
    clock = Clock()
    with open_store(tmp_path, made_study(places={"a": 1}), clock=clock) as store:
        late = active(store, ITEMS)
        clock.forward(minutes=31)
        assert store.loads()["a"].free == 1
        # nobody came: the place is kept, with its number
        assert store.renew_place(late).number == 1
        clock.forward(minutes=31)
        second = active(store, ITEMS)
        assert store.renew_place(late).surplus
        finish(store, late)
        assert store.issue_code(late)
        finish(store, second)
        load = store.loads()["a"]
        assert (load.valid, load.active, load.surplus, load.free) == (2, 0, 1, 0)
        assert store.progress(late).state is State.FINISHED
        with pytest.raises(NoPlaceLeft):
            store.take_place(qualified(store))


@pytest.mark.parametrize("left", [State.RETURNED, State.TIMED_OUT])
def test_a_returned_place_is_free_at_once(tmp_path: Path, left: State) -> None:
    """S17, S19: returned or timed out, the place is free; the person comes back to where they were, or as surplus."""
    with open_store(tmp_path, made_study(places={"a": 1})) as store:
        first = active(store, ITEMS)
        store.submit(answer(first, "i0", 0))
        store.change_state(first, left, reason="platform")
        assert store.loads()["a"].free == 1
        with pytest.raises(AnswerRefused):
            store.submit(answer(first, "i1", 1))
        with pytest.raises(StateError):
            store.renew_place(first)
        store.change_state(first, State.ACTIVE, reason="came back")
        lease = store.progress(first).lease
        assert lease is not None
        assert (lease.status, lease.number) == ("held", 1)
        store.change_state(first, left, reason="platform")
        finish(store, active(store, ITEMS))
        store.change_state(first, State.ACTIVE, reason="came back")
        lease = store.progress(first).lease
        assert lease is not None
        assert (lease.status, lease.surplus, lease.number) == ("held", True, None)
        store.submit(answer(first, "i1", 1))
        store.submit(answer(first, "i2", 2))
        store.change_state(first, State.FINISHED, reason="answered all")
        assert (store.loads()["a"].valid, store.loads()["a"].surplus) == (2, 1)


def test_an_exclusion_reopens_the_place(tmp_path: Path) -> None:
    """S17: excluded does not count as valid; accepted by hand, the person has the place again while it is free."""
    with open_store(tmp_path, made_study(places={"a": 1})) as store:
        who = active(store, ITEMS)
        finish(store, who)
        assert store.loads()["a"].free == 0
        store.change_state(who, State.EXCLUDED, reason="failed_catch")
        assert (store.loads()["a"].free, store.loads()["a"].excluded) == (1, 1)
        store.change_state(who, State.ACCEPTED, reason="the page was broken")
        assert store.loads()["a"].valid == 1
        store.set_places("a", 2, actor="keeper")
        assert store.loads()["a"].free == 1
        for list_id, places in (("b", 2), ("a", -1)):
            with pytest.raises(AnswerRefused):
                store.set_places(list_id, places, actor="keeper")


def test_a_list_is_chosen_among_the_free(tmp_path: Path) -> None:
    """The assignment names the list inside the transaction; it cannot name a full one."""
    with open_store(tmp_path, made_study(places={"a": 1, "b": 1})) as store:
        assert store.take_place(qualified(store), choose=lambda lists, ordinal: max(lists)).list_id == "b"
        with pytest.raises(AnswerRefused, match="no free place"):
            store.take_place(qualified(store), choose=lambda lists, ordinal: "b")
        last = store.take_place(qualified(store), hold=timedelta(seconds=1))
        assert (last.list_id, last.ordinal) == ("a", 2)


def test_tampering_with_the_audit_log_is_found(tmp_path: Path) -> None:
    """W16: each of 200 random edits, deletions and insertions is found; the untouched log is whole."""
    with open_store(tmp_path) as store:
        for number in range(40):
            store.log("export", actor=f"keeper {number % 3}", details={"rows": number, "text": "é\u202e"})
        assert store.verify().problems == ()
        key = (tmp_path / "secret.key").read_bytes()
    engine = sa.create_engine(f"sqlite:///{tmp_path / DATABASE_NAME}")
    rng = random.Random(2)
    with engine.connect() as connection:
        names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").scalars().all()
        for name in names:
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        connection.commit()
        for case in range(200):
            row, column = rng.randint(1, 41), rng.choice(["at", "actor", "action", "details", "previous", "hash"])
            change = [
                (f"UPDATE audit SET {column} = {column} || ' ' WHERE id = ?", (row,)),
                ("DELETE FROM audit WHERE id = ?", (row if case % 8 else 41,)),
                ("UPDATE audit SET id = 100 WHERE id = ?", (row,)),
                ("INSERT INTO audit SELECT 42, at, actor, action, details, hash, hash FROM audit WHERE id = ?", (row,)),
            ][case % 4]
            connection.exec_driver_sql(*change)
            assert audit.verify(connection, key).problems, change
            connection.rollback()
        connection.exec_driver_sql("DELETE FROM audit WHERE id > 30")
        connection.exec_driver_sql("UPDATE audit_head SET entries = 30, hash = ?", ("0" * 64,))
        assert audit.verify(connection, key).problems
        connection.rollback()
        assert audit.verify(connection, key) == audit.AuditCheck(41, ())
        # whoever has the database but not the key cannot make a chain
        assert len(audit.verify(connection, b"k" * 32).problems) == 41
    engine.dispose()


@pytest.mark.parametrize("keep", [True, False])
def test_forgotten_is_nowhere_in_the_files(tmp_path: Path, keep: bool) -> None:
    """W15: afterwards platform id and session are in no file of the folder; the answers stay or go as declared."""
    platform_id, session = "5f0cPLATFORMID77", "sESSION-3e1-äöü"
    with open_store(tmp_path, made_study(keep_answers=keep)) as store:
        who = store.invite(platform_id, session=session)
        store.record_consent(who, text=CONSENT, version="1")
        store.change_state(who, State.QUALIFIED, reason="no test")
        store.take_place(who)
        store.lay_out(who, Phase.TRIALS, [StoredTrial(item) for item in ITEMS])
        store.change_state(who, State.ACTIVE, reason="go")
        first = store.submit(answer(who, "i0", 0))
        store.submit(answer(who, "i0", 0, 5, client_key="later", supersedes=first.answer_id))
        other = active(store, ITEMS, "another")
        store.submit(answer(other, "i0", 0))
        copy = store.backup()

        def holding() -> set[str]:
            files = [file for file in tmp_path.rglob("*") if file.is_file()]
            texts = (platform_id.encode(), session.encode())
            return {file.name for file in files if any(text in file.read_bytes() for text in texts)}

        assert copy.name in holding()
        done = store.forget(who, actor="keeper")
        assert (done.identity_removed, done.answers_removed, done.still_in) == (True, 0 if keep else 2, ())
        assert holding() == set()
        assert store.find(platform_id) is None
        assert store.find("another") == other
        assert len(store.answers_of(who)) == (2 if keep else 0)
        assert len(store.answers_of(other)) == 1
        assert store.verify().problems == ()
        with sqlite3.connect(copy) as database:
            kept = database.execute("SELECT count(*) FROM answers WHERE participant_id = ?", (who,)).fetchone()
        assert kept == (2 if keep else 0,)
        again = store.forget(who, actor="keeper")
        assert (again.identity_removed, again.answers_removed) == (False, 0)


def test_an_id_that_someone_wrote_into_a_comment_is_reported(tmp_path: Path) -> None:
    """W15: where answers are kept, an id in a comment cannot be removed; it is not passed over in silence."""
    with open_store(tmp_path) as store:
        who = active(store, ITEMS, "5f0cPLATFORMID77")
        store.submit(answer(who, "i0", 0, comment="my id is 5f0cPLATFORMID77"))
        done = store.forget(who, actor="keeper")
        assert [Path(file).name for file in done.still_in] == [DATABASE_NAME]


def test_the_audit_log_knows_random_ids_only(tmp_path: Path) -> None:
    """W15: places and erasures are logged under random ids."""
    with open_store(tmp_path) as store:
        who = active(store, ITEMS, "5f0cPLATFORMID77")
        finish(store, who)
        store.change_state(who, State.EXCLUDED, reason="failed_catch")
        store.forget(who, actor="keeper")
    with sqlite3.connect(tmp_path / DATABASE_NAME) as database:
        entries = database.execute("SELECT action, details FROM audit ORDER BY id").fetchall()
    actions = [action for action, _ in entries if action != "seal"]
    assert actions == ["create", "place take", "place finished", "place release: excluded", "forget"]
    assert {json.loads(details).get("participant_id", who) for _, details in entries} == {who}
    assert all("PLATFORM" not in details for _, details in entries)


def test_a_study_that_cannot_be_is_refused() -> None:
    """Two items of one id, checks without an accepted answer, one code for two outcomes."""
    study = made_study()
    item = study.items[0]
    with pytest.raises(InputError, match="two items"):
        type(study)("s", "t", "", (item, item), {"a": 1})
    with pytest.raises(InputError, match="accepted"):
        StudyItem("x", RATING, "0" * 64, Kind.ATTENTION)
    with pytest.raises(InputError, match="are equal"):
        type(study)("s", "t", "", (item,), {"a": 1}, codes={"completed": "C1", "screened_out": "C1"})
