"""The researcher's side: drawn items, skips, reviews, the study's status, accounts, tokens, the dashboard's tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from lexiscope.annotation.store import accounts
from lexiscope.annotation.store.accounts import participant_of_token, password_hash
from lexiscope.annotation.store.answers import planned_trials
from lexiscope.annotation.store.engine import DATABASE_NAME
from lexiscope.annotation.store.overview import marked_answers, stored_reviews, study_status, written_counts
from lexiscope.annotation.store.record import (
    AnswerRefused,
    BrowserAnswer,
    ItemQuestion,
    NoPlaceLeft,
    Phase,
    Review,
    State,
    StateError,
    StoredTrial,
    StudyItem,
    StudyRecord,
)
from lexiscope.annotation.store.store import Store

from .made_study import SENTENCE, Clock, active, answer, made_study, open_store, qualified

WORDS = ["w0", "w1", "w2", "w3"]


def writing_study(written: int = 2) -> StudyRecord:
    """A study in which words are drawn one by one until enough sentences are written."""
    items = tuple(StudyItem(word, SENTENCE, "0" * 64) for word in WORDS)
    return StudyRecord("writing", "sentences", "write", items, {"1": 10}, written=written)


def writer(store: Store) -> str:
    who = qualified(store)
    store.take_place(who)
    store.change_state(who, State.ACTIVE, reason="go")
    return who


def write(who: str, word: str, position: int, text: str | None = "A sentence.", **more: object) -> BrowserAnswer:
    return answer(who, word, position, None, text=text, **more)


def skip(who: str, word: str, position: int) -> BrowserAnswer:
    return write(who, word, position, None, flags=("skipped",))


def test_items_are_drawn_one_by_one(tmp_path: Path) -> None:
    """The next item is appended once the last is answered; the same call again gives the same position."""
    with open_store(tmp_path, writing_study()) as store:
        who = writer(store)
        assert [store.extend(who, Phase.TRIALS, StoredTrial("w0")) for _ in range(2)] == [0, 0]
        with pytest.raises(StateError, match="trial 0 of trials has no answer"):
            store.extend(who, Phase.TRIALS, StoredTrial("w1"))
        store.submit(skip(who, "w0", 0))
        assert store.extend(who, Phase.TRIALS, StoredTrial("w0")) == 0
        assert store.extend(who, Phase.TRIALS, StoredTrial("w1", (1, 0), "left")) == 1
        store.submit(write(who, "w1", 1))
        with pytest.raises(AnswerRefused, match="is trial 0 already"):
            store.extend(who, Phase.TRIALS, StoredTrial("w0"))
        with pytest.raises(AnswerRefused, match="no item"):
            store.extend(who, Phase.TRIALS, StoredTrial("w9"))
        assert store.read(planned_trials, who) == [StoredTrial("w0"), StoredTrial("w1", (1, 0), "left")]
    with open_store(tmp_path / "other") as store, pytest.raises(StateError, match="all trials at once"):
        store.extend(active(store, ["i0"]), Phase.TRIALS, StoredTrial("i1"))


def test_skips_are_answered_but_not_written(tmp_path: Path) -> None:
    """A skip moves on and counts for nothing else: finished is who wrote as many as the study asks for."""
    with open_store(tmp_path, writing_study()) as store:
        who = writer(store)
        for position, word in enumerate(WORDS):
            store.extend(who, Phase.TRIALS, StoredTrial(word))
            with pytest.raises(StateError):
                store.change_state(who, State.FINISHED, reason="end")
            store.submit(skip(who, word, position) if position % 2 == 0 else write(who, word, position))
            progress = store.progress(who)
            assert (progress.next_position, progress.n_trials) == (position + 1, position + 1)
            assert progress.n_written == (position + 1) // 2
        assert store.read(written_counts) == {"w1": 1, "w3": 1}
        store.change_state(who, State.FINISHED, reason="answered all")
        assert len(store.issue_code(who)) == 10
        rows = store.responses(states=None).arrow.to_pylist()
        trials = [(row["item_id"], row["raw"]) for row in rows if row["measure"] == "sentence"]
        assert trials == [("w0", None), ("w1", "A sentence."), ("w2", None), ("w3", "A sentence.")]


def test_a_skip_that_is_written_after_all_counts(tmp_path: Path) -> None:
    """The latest answer to an item decides whether it is written, in both directions."""
    with open_store(tmp_path, writing_study(1)) as store:
        who = writer(store)
        store.extend(who, Phase.TRIALS, StoredTrial("w0"))
        first = store.submit(skip(who, "w0", 0))
        with pytest.raises(StateError, match="1 written answers are missing"):
            store.change_state(who, State.FINISHED, reason="end")
        second = store.submit(write(who, "w0", 0, client_key="back", supersedes=first.answer_id))
        assert (store.progress(who).n_written, store.read(written_counts)) == (1, {"w0": 1})
        store.submit(replace(skip(who, "w0", 0), client_key="again", supersedes=second.answer_id))
        assert (store.progress(who).n_written, store.read(written_counts)) == (0, {})
        store.extend(who, Phase.TRIALS, StoredTrial("w1"))
        store.submit(write(who, "w1", 1))
        store.change_state(who, State.FINISHED, reason="end")
        store.change_state(who, State.EXCLUDED, reason="copied")
        assert store.read(written_counts) == {}


@pytest.mark.parametrize(("field", "more"), [("text", {"text": "x"}), ("value", {"text": None, "value": 3.0})])
def test_a_skip_says_nothing_else(tmp_path: Path, field: str, more: dict[str, object]) -> None:
    """A skip with an answer is refused, and so is any skip where every trial must be answered."""
    with open_store(tmp_path, writing_study()) as store:
        who = writer(store)
        store.extend(who, Phase.TRIALS, StoredTrial("w0"))
        with pytest.raises(AnswerRefused) as caught:
            store.submit(replace(skip(who, "w0", 0), **more))  # type: ignore[arg-type]
        assert caught.value.field == field
    with open_store(tmp_path / "other") as store, pytest.raises(AnswerRefused, match="can be skipped"):
        store.submit(answer(active(store, ["i0"]), "i0", 0, None, flags=("skipped",)))


def test_a_flag_excuses_an_empty_answer(tmp_path: Path) -> None:
    """An empty answer is taken where the question says so and the flag is set, and only then."""
    choice = ItemQuestion("choice", options=("a", "b"), excused_by=("weird",))
    study = StudyRecord("s", "t", "d", (StudyItem("x", choice, "0" * 64),), {"1": 1})
    with open_store(tmp_path, study) as store:
        who = active(store, ["x"])
        for flags in ((), ("nonsensical",)):
            with pytest.raises(AnswerRefused, match="option: is missing"):
                store.submit(answer(who, "x", 0, None, flags=flags))
        store.submit(answer(who, "x", 0, None, flags=("weird",)))
        (row,) = store.responses_and_judgments()[1].to_pylist()
        assert (row["response"], row["flag_weird"]) == (None, True)
        (remark,) = store.read(marked_answers)
        assert (remark.flags, remark.given, remark.comment) == (("weird",), None, None)


def test_reviews_are_appended(tmp_path: Path) -> None:
    """Every decision about an answer stays; of an unknown answer, or without a reason to reject, there is none."""
    with open_store(tmp_path, writing_study()) as store:
        who = writer(store)
        store.extend(who, Phase.TRIALS, StoredTrial("w0"))
        number = store.submit(write(who, "w0", 0)).answer_id
        first = Review(number, "rejected", "no verb", None, "anna", "2026-03-01T12:00:00.000000+00:00")
        second = replace(first, verdict="accepted", reason="", text="A sentence is here.")
        store.record_review(first)
        store.record_review(second)
        assert store.read(stored_reviews) == [first, second]
        for wrong in ({"answer_id": 99}, {"verdict": "perhaps"}, {"reason": ""}, {"actor": ""}, {"text": "\x00"}):
            with pytest.raises(AnswerRefused):
                store.record_review(replace(first, **wrong))
        assert store.verify().problems == ()
        assert [row["text"] for row in store.answers_of(who)] == ["A sentence."]


def test_a_paused_study_takes_nobody_in(tmp_path: Path) -> None:
    """Paused or closed, nobody new gets a place; who is at it goes on; the audit log holds each change once."""
    with open_store(tmp_path) as store:
        assert store.read(study_status) == "running"
        who = active(store, ["i0", "i1"])
        for status in ("paused", "paused", "closed", "running"):
            store.set_status(status, actor="anna")
            assert store.read(study_status) == status
            if status != "running":
                with pytest.raises(NoPlaceLeft, match=status):
                    store.take_place(qualified(store))
                assert store.take_place(who).participant_id == who
        store.submit(answer(who, "i0", 0))
        store.take_place(qualified(store))
        with pytest.raises(AnswerRefused, match="no status"):
            store.set_status("open", actor="anna")  # type: ignore[arg-type]
        assert store.verify().problems == ()
    with open_store(tmp_path) as store:
        assert store.read(study_status) == "running"


def test_sessions_end(tmp_path: Path) -> None:
    """A session lasts until its time, until it is closed, or until the password changes; unknown ones are none."""
    clock = Clock()
    one, two = accounts.sha256("one"), accounts.sha256("two")
    with open_store(tmp_path, clock=clock) as store:
        assert store.read(password_hash, "anna") is None
        with pytest.raises(AnswerRefused, match="no account"):
            store.open_session(one, "anna", clock() + timedelta(hours=1))
        store.set_password("anna", "$argon2id$1", actor="setup")
        assert store.read(password_hash, "anna") == "$argon2id$1"
        with pytest.raises(AnswerRefused, match="64 hexadecimal"):
            store.open_session("the token itself", "anna", clock() + timedelta(hours=1))
        store.open_session(one, "anna", clock() + timedelta(hours=1))
        store.open_session(two, "anna", clock() + timedelta(hours=2))
        assert (store.session(one), store.session(accounts.sha256("x"))) == ("anna", None)
        clock.forward(hours=1)
        assert (store.session(one), store.session(two)) == (None, "anna")
        store.close_session(two)
        assert store.session(two) is None
        store.open_session(one, "anna", clock() + timedelta(hours=1))
        store.set_password("anna", "$argon2id$2", actor="anna")
        assert (store.session(one), store.read(password_hash, "anna")) == (None, "$argon2id$2")
    stored = (tmp_path / DATABASE_NAME).read_bytes()
    assert stored.count(b"$argon2id$1") == 0


def test_the_set_up_secret_serves_once(tmp_path: Path) -> None:
    """It is right once and in time; another secret makes it void."""
    clock = Clock()
    right, wrong = accounts.sha256("right"), accounts.sha256("wrong")
    with open_store(tmp_path, clock=clock) as store:
        store.set_setup_secret(wrong, clock() + timedelta(hours=1))
        store.set_setup_secret(right, clock() + timedelta(hours=1))
        assert [store.use_setup_secret(one) for one in (wrong, right, right)] == [False, True, False]
        store.set_setup_secret(right, clock() + timedelta(hours=1))
        clock.forward(hours=1)
        assert not store.use_setup_secret(right)


def test_lab_tokens_lead_to_their_participants(tmp_path: Path) -> None:
    """W3: each token is one invited participant's; no file of the study holds a token."""
    with open_store(tmp_path) as store:
        tokens = store.make_tokens(20, actor="anna")
        people = [store.read(participant_of_token, token) for token in tokens]
        assert len({*tokens}) == len({*people}) == 20
        assert {len(token) for token in tokens} == {27}  # 160 bits, 6 to a letter
        assert None not in people
        assert store.read(participant_of_token, "x") is None
        assert {person.state for person in store.people()} == {State.INVITED}
        store.forget(str(people[0]), actor="anna")
        assert store.read(participant_of_token, tokens[0]) is None
        with pytest.raises(AnswerRefused):
            store.make_tokens(0, actor="anna")
    content = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert [token for token in tokens if token.encode() in content] == []


def test_people_are_listed_as_they_stand(tmp_path: Path) -> None:
    """The dashboard's table: states, places, times and progress are those of the rows."""
    clock = Clock()
    with open_store(tmp_path, made_study(places={"a": 1}), clock=clock) as store:
        store.invite("PLATFORM")
        clock.forward(minutes=1)
        who = active(store, ["i0", "i1"])
        first = store.submit(answer(who, "i0", 0))
        clock.forward(minutes=1)
        store.submit(answer(who, "i0", 0, 5, client_key="back", supersedes=first.answer_id))
        clock.forward(minutes=1)
        store.submit(answer(who, "i1", 1, comment="hard"))
        clock.forward(minutes=1)
        store.change_state(who, State.FINISHED, reason="answered all")
        new, done = store.people()
        assert (new.state, new.list_id, new.number, new.n_answered) == (State.INVITED, None, None, 0)
        assert (done.participant_id, done.state, done.reason) == (who, State.FINISHED, "answered all")
        assert (done.list_id, done.number, done.slot, done.surplus, done.n_answered) == ("a", 1, 1, False, 2)
        times = (new.created_at, done.created_at, done.active_at, done.finished_at, done.last_at)
        assert [str(time)[14:16] for time in times] == ["00", "01", "01", "04", "04"]
        (remark,) = store.read(marked_answers)
        assert (remark.item_id, remark.comment, remark.given, remark.phase) == ("i1", "hard", "3", Phase.TRIALS)


def test_item_counts_follow_the_people(tmp_path: Path) -> None:
    """Valid: finished and answered; active: laid out for a live place; excluded: answered, then excluded."""
    clock = Clock()
    with open_store(tmp_path, clock=clock) as store:

        def done(items: list[str]) -> str:
            who = active(store, items)
            for position, item in enumerate(items):
                store.submit(answer(who, item, position))
            store.change_state(who, State.FINISHED, reason="answered all")
            return who

        done(["i0", "i1"])
        store.change_state(done(["i1", "i2"]), State.EXCLUDED, reason="too fast")
        active(store, ["i0", "i3"])
        assert store.item_counts() == {"i0": (1, 1, 0), "i1": (1, 0, 1), "i2": (0, 0, 1), "i3": (0, 1, 0)}
        clock.forward(minutes=31)
        assert store.item_counts()["i3"] == (0, 0, 0)


def test_rows_carry_the_view_of_their_list(tmp_path: Path) -> None:
    """A response says what was seen: the view of the participant's list, ``full`` where none is named."""
    study = replace(made_study(places={"1": 1, "2": 1}), views={"2": "context"})
    with open_store(tmp_path, study) as store:
        for _ in range(2):
            store.submit(answer(active(store, ["i0"]), "i0", 0))
        rows = store.responses(states=None).arrow.to_pylist()
        assert [(row["list_id"], row["view"]) for row in sorted(rows, key=lambda row: row["list_id"])] == [
            ("1", "full"),
            ("2", "context"),
        ]
