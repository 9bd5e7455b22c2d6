"""reliability.md S4–S6, S20: an answer is stored once, as it was sent, or refused by field; nothing is changed."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from lexiscope.annotation.store.answers import planned_trials
from lexiscope.annotation.store.engine import DATABASE_NAME
from lexiscope.annotation.store.record import (
    AnswerConflict,
    AnswerRefused,
    BrowserAnswer,
    Phase,
    Review,
    StateError,
    StoredTrial,
)
from lexiscope.annotation.store.schema import APPEND_ONLY
from lexiscope.annotation.store.store import Store

from .made_study import CONSENT, active, answer, open_store, qualified

ITEMS = [f"i{k}" for k in range(6)]
AWKWARD = ["\u202eabc", "a\u200d\U0001f469", "e\u0301", "é", "\U0010ffff", " \t\r\n", "a" * 10_000, "\ufeff", "'); --"]


class Session(RuleBasedStateMachine):
    """S4: whatever a browser does, the store holds what a dict would hold."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.store = open_store(Path(self.folder.name), unsafe_fast=True)
        self.who = active(self.store, ITEMS)
        # each item's accepted answers with their receipts, oldest first
        self.model: dict[str, list[tuple[BrowserAnswer, Any]]] = {}
        self.keys = 0

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def _new(self, position: int, value: float, **more: object) -> BrowserAnswer:
        self.keys += 1
        return answer(self.who, ITEMS[position], position, value, client_key=f"k{self.keys}", **more)

    def _accept(self, given: BrowserAnswer) -> None:
        self.model.setdefault(given.item_id, []).append((given, self.store.submit(given)))

    @precondition(lambda self: len(self.model) < len(ITEMS))
    @rule(value=st.integers(1, 5))
    def submit_next(self, value: int) -> None:
        self._accept(self._new(len(self.model), value))

    @precondition(lambda self: self.model)
    @rule(pick=st.data(), value=st.integers(1, 5))
    def repeat(self, pick: st.DataObject, value: int) -> None:
        """A retry gets its first receipt, even of an answer changed since; another value under its key is refused."""
        past = [pair for pairs in self.model.values() for pair in pairs]
        given, receipt = pick.draw(st.sampled_from(past))
        assert self.store.submit(replace(given, rt_ms=7.0, page_version="later")) == receipt
        if value == given.value:
            assert self.store.submit(replace(given, value=value)) == receipt
        else:
            with pytest.raises(AnswerConflict) as caught:
                self.store.submit(replace(given, value=value))
            assert (caught.value.current, caught.value.field) == (receipt.answer_id, "client_key")

    @precondition(lambda self: self.model)
    @rule(pick=st.data(), value=st.integers(1, 5))
    def go_back(self, pick: st.DataObject, value: int) -> None:
        position = pick.draw(st.integers(0, len(self.model) - 1))
        latest = self.model[ITEMS[position]][-1][1].answer_id
        self._accept(self._new(position, value, supersedes=latest))

    @precondition(lambda self: self.model)
    @rule(pick=st.data(), value=st.integers(1, 5))
    def second_tab(self, pick: st.DataObject, value: int) -> None:
        """A tab that knows nothing of the stored answer, or only an older one, is told so."""
        position = pick.draw(st.integers(0, len(self.model) - 1))
        stored = [receipt.answer_id for _, receipt in self.model[ITEMS[position]]]
        known = pick.draw(st.sampled_from([None, *stored[:-1]]))
        with pytest.raises(AnswerConflict) as caught:
            self.store.submit(self._new(position, value, supersedes=known))
        assert caught.value.current == stored[-1]

    @precondition(lambda self: len(self.model) < len(ITEMS) - 1)
    @rule(pick=st.data())
    def skip_ahead(self, pick: st.DataObject) -> None:
        position = pick.draw(st.integers(len(self.model) + 1, len(ITEMS) - 1))
        with pytest.raises(AnswerRefused) as caught:
            self.store.submit(self._new(position, 3))
        assert caught.value.field == "position"

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = open_store(Path(self.folder.name), unsafe_fast=True)

    @invariant()
    def stored_is_model(self) -> None:
        stored = [(row["id"], row["item_id"], row["value"]) for row in self.store.answers_of(self.who)]
        pairs = sorted((pair for pairs in self.model.values() for pair in pairs), key=lambda pair: pair[1].answer_id)
        assert stored == [(receipt.answer_id, given.item_id, given.value) for given, receipt in pairs]
        assert self.store.progress(self.who).next_position == len(self.model)


Session.TestCase.settings = settings(max_examples=10, stateful_step_count=20, deadline=None, derandomize=True)
TestSession = Session.TestCase


@pytest.mark.soak
def test_two_thousand_sequences() -> None:
    """The same rules, 2,000 sequences of up to 40 steps: what is stored is the model."""
    run_state_machine_as_test(
        Session, settings=settings(max_examples=2000, stateful_step_count=40, deadline=None, derandomize=True)
    )


REFUSED = [
    ("value", {"value": 0}),
    ("value", {"value": 6}),
    ("value", {"value": 2.5}),
    ("value", {"value": float("nan")}),
    ("value", {"value": float("inf")}),
    ("value", {"value": 10**400}),
    ("value", {"value": True}),
    ("value", {"value": "3"}),
    ("value", {"value": None}),
    ("option", {"value": None, "option": "yes"}),
    ("text", {"text": "three"}),
    ("item_id", {"item_id": "unknown"}),
    ("item_id", {"item_id": "i7"}),
    ("item_id", {"item_id": ""}),
    ("participant_id", {"participant_id": "p0"}),
    ("participant_id", {"participant_id": 7}),
    ("phase", {"phase": "no phase"}),
    ("phase", {"phase": Phase.QUALIFICATION}),
    ("position", {"position": 1}),
    ("position", {"position": -1}),
    ("position", {"position": True}),
    ("position", {"position": 2**70}),
    ("client_key", {"client_key": ""}),
    ("client_key", {"client_key": "k" * 201}),
    ("client_key", {"client_key": "\x00"}),
    ("supersedes", {"supersedes": 1}),
    ("supersedes", {"supersedes": "1"}),
    ("comment", {"comment": "c" * 1_000_000}),
    ("comment", {"comment": "\ud800"}),
    ("comment", {"comment": ["c"]}),
    ("guessed_word", {"guessed_word": "a\x00b"}),
    ("page_version", {"page_version": "v" * 201}),
    ("flags", {"flags": ("wicked",)}),
    ("flags", {"flags": "weird"}),
    ("flags", {"flags": (["weird"],)}),
    ("rt_ms", {"rt_ms": -1.0}),
    ("rt_ms", {"rt_ms": float("nan")}),
    ("rt_ms", {"rt_ms": "fast"}),
    ("rt_server_ms", {"rt_server_ms": 1e300}),
    ("shown_at", {"shown_at": datetime(2026, 1, 1)}),
    ("shown_at", {"shown_at": "today"}),
]


def test_what_does_not_fit_is_refused_by_field(tmp_path: Path) -> None:
    """S6: each refusal names the field, and no row is stored."""
    with open_store(tmp_path) as store:
        who = active(store, ITEMS)
        for field, change in REFUSED:
            with pytest.raises(AnswerRefused) as caught:
                store.submit(replace(answer(who, "i0", 0), **change))  # type: ignore[arg-type]
            assert caught.value.field == field, change
        assert store.answers_of(who) == []


def test_an_item_of_another_participant_is_refused(tmp_path: Path) -> None:
    """S6: an item of the study that is on another list is not this participant's."""
    with open_store(tmp_path) as store:
        mine, _ = active(store, ["i0", "i1"]), active(store, ["i2", "i3"])
        with pytest.raises(AnswerRefused, match="not among this participant's") as caught:
            store.submit(answer(mine, "i2", 0))
        assert caught.value.field == "item_id"


def test_no_answer_without_consent(tmp_path: Path) -> None:
    """W16: before the consent every phase is closed."""
    with open_store(tmp_path) as store:
        who = store.invite()
        for phase in Phase:
            store.lay_out(who, phase, [StoredTrial("i0")])
            with pytest.raises(AnswerRefused, match="invited") as caught:
                store.submit(answer(who, "i0", 0, phase=phase))
            assert caught.value.field == "phase"
        store.record_consent(who, text=CONSENT, version="1")
        assert store.submit(answer(who, "i0", 0, phase=Phase.DEMOGRAPHICS)).revision == 0


def test_a_test_has_one_attempt(tmp_path: Path) -> None:
    """S8: an answer in the qualification is final, whatever the second one says."""
    with open_store(tmp_path) as store:
        who = store.invite("one")
        store.record_consent(who, text=CONSENT, version="1")
        store.lay_out(who, Phase.QUALIFICATION, [StoredTrial("test")])
        first = store.submit(answer(who, "test", 0, 1, phase=Phase.QUALIFICATION))
        for supersedes in (None, first.answer_id):
            again = answer(who, "test", 0, 5, phase=Phase.QUALIFICATION, client_key="again", supersedes=supersedes)
            with pytest.raises(AnswerConflict, match="final"):
                store.submit(again)
        assert store.invite("one") == who
        assert [row["value"] for row in store.answers_of(who)] == [1.0]


def test_parallel_submits_first_wins(tmp_path: Path) -> None:
    """S4: of 40 parallel answers to one item one is stored; repetitions of it agree, the others are told."""
    with open_store(tmp_path) as store, ThreadPoolExecutor(40) as pool:
        who = active(store, ITEMS)
        given = [answer(who, "i0", 0, 1 + k % 4, client_key=f"tab {k % 4}") for k in range(40)]
        errors = [future.exception() for future in [pool.submit(store.submit, one) for one in given]]
        assert sum(error is None for error in errors) == 10
        assert all(isinstance(error, AnswerConflict) for error in errors if error is not None)
        assert len(store.answers_of(who)) == 1


def test_a_session_goes_on_where_it_was_left(tmp_path: Path) -> None:
    """S10: after a restart the next trial is the first one without an answer; going back does not move it."""
    with open_store(tmp_path) as store:
        who = active(store, ["i2", "i0"])
        first = store.submit(answer(who, "i2", 0))
    with open_store(tmp_path) as store:
        found = store.progress(who)
        assert (found.next_position, found.n_trials, found.trial) == (1, 2, StoredTrial("i0", (1, 0), "left"))
        assert found.lease is not None
        assert (found.lease.participant_id, found.lease.ordinal) == (who, 1)
        store.submit(answer(who, "i2", 0, 5, client_key="back", supersedes=first.answer_id))
        assert store.progress(who) == found
        store.submit(answer(who, "i0", 1))
        assert store.progress(who).trial is None
        newcomer = store.progress(store.invite())
        assert (str(newcomer.state), newcomer.lease, newcomer.n_trials) == ("invited", None, 0)
        with pytest.raises(AnswerRefused, match="no such participant"):
            store.progress("p0")


def test_a_plan_is_fixed(tmp_path: Path) -> None:
    """S18: the order of trials is stored once; the same again is no change, another is refused, as are wrong items."""
    with open_store(tmp_path) as store:
        who = qualified(store)
        plan = [StoredTrial("i2", (1, 0), "left"), StoredTrial("i0", (0, 1), "right")]
        store.lay_out(who, Phase.TRIALS, plan)
        store.lay_out(who, Phase.TRIALS, plan)
        with pytest.raises(StateError, match="another order"):
            store.lay_out(who, Phase.TRIALS, plan[::-1])
        for wrong in (["i0", "i0"], ["unknown"]):
            with pytest.raises(AnswerRefused):
                store.lay_out(who, Phase.PRACTICE, [StoredTrial(item) for item in wrong])
        assert store.read(planned_trials, who) == plan


def _filled(folder: Path) -> Store:
    store = open_store(folder)
    who = active(store, ["i0"], "PID")
    first = store.submit(answer(who, "i0", 0))
    store.submit(answer(who, "i0", 0, 4, client_key="later", supersedes=first.answer_id))
    store.change_state(who, store.progress(who).state.FINISHED, reason="answered all")
    store.issue_code(who)
    store.forget(who, actor="keeper")
    return store


def test_the_record_is_append_only(tmp_path: Path) -> None:
    """S5: UPDATE, DELETE and REPLACE are refused on every table of the record, also to other programs."""
    with _filled(tmp_path) as store:
        store.record_review(Review(1, "accepted", "", None, "keeper", "2026-03-01T12:00:00.000000+00:00"))
        store.set_status("closed", actor="keeper")
    with sqlite3.connect(tmp_path / DATABASE_NAME) as database:
        for table in APPEND_ONLY:
            before = database.execute(f"SELECT * FROM {table.name}").fetchall()
            assert before, f"{table.name} is empty: nothing is tested"
            for column in table.columns:
                with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                    database.execute(f'UPDATE {table.name} SET "{column.name}" = "{column.name}"')
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                database.execute(f"DELETE FROM {table.name}")
            marks = ", ".join("?" * len(before[0]))
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                database.execute(f"INSERT OR REPLACE INTO {table.name} VALUES ({marks})", before[0])
            assert database.execute(f"SELECT * FROM {table.name}").fetchall() == before


def test_the_history_of_an_item_is_kept(tmp_path: Path) -> None:
    """S5: each change of mind is a row that names the one before it."""
    with _filled(tmp_path) as store:
        (who,) = store.responses().where(measure="rating").unique("subject_id")
        rows = store.answers_of(who)
        assert [(row["revision"], row["supersedes"], row["value"]) for row in rows] == [(0, None, 3.0), (1, 1, 4.0)]
        assert store.responses().where(measure="rating").column("value").tolist() == [4.0]
        assert store.responses_and_judgments()[1].column("n_revisions").to_pylist() == [1]


def test_text_of_all_planes_is_stored_exactly_or_refused(tmp_path: Path) -> None:
    """S20: what is stored is what was sent; NUL and halves of surrogate pairs are refused."""
    with open_store(tmp_path, unsafe_fast=True) as store:
        who = active(store, ["sentence"])
        latest: list[int] = []

        @settings(max_examples=300, deadline=None, derandomize=True)
        @given(
            st.one_of(
                st.text(st.characters(exclude_categories=()), min_size=1, max_size=40),
                st.sampled_from(
                    ["\u202eabc", "👩‍👩‍👧", "e\u0301", "é", "\U0010ffff", " \t\r\n", "a" * 10_000, "\ufeff", "'); --"]
                ),
            )
        )
        def exact(text: str) -> None:
            key = f"k{len(latest)}"
            given = answer(who, "sentence", 0, None, text=text, comment=text, client_key=key)
            given = replace(given, supersedes=latest[-1] if latest else None)
            if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
                with pytest.raises(AnswerRefused) as caught:
                    store.submit(given)
                assert caught.value.field == "comment"
                return
            latest.append(store.submit(given).answer_id)
            row = store.answers_of(who)[-1]
            assert (row["text"], row["comment"]) == (text, text)
            assert store.responses(states=None).column("raw").tolist() == [text]

        exact()
        assert len(latest) > 100
