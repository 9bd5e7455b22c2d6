"""The review of written texts: what waits, what a decision owes, the word that must survive, what was accepted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.annotation.store.overview import stored_reviews
from lexiscope.annotation.store.record import Phase, Review, State, StoredTrial, StudyItem, StudyRecord
from lexiscope.annotation.writing.review import (
    NOT_REVIEWED,
    WrittenText,
    accepted_texts,
    check_review,
    latest_reviews,
    make_review,
    same_texts,
    status_of,
    texts_in_rows,
)
from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage

from ..store.made_study import SENTENCE, answer, open_store, qualified

SENTENCES, ENDINGS = catalog.screen("ambiguous_sentence").faults, catalog.screen("story_ending").faults
POOL = {name: Item(name, "pool", (Usage(name, 0, len(name), language="en"),)) for name in ("denominations", "bank")}
STORY = Item("s", "d", (Usage("He saw the bank.", 11, 15, language="en"),))
RAW = "The meeting had many denominations."
FIRST = WrittenText(1, "p1", "denominations", RAW)
SECOND = WrittenText(2, "p1", "bank", "he saw the bank")


def review(answer_id: int, verdict: str = "accepted", text: str | None = None, reason: str = "") -> Review:
    return Review(answer_id, verdict, reason, text, "editor", "2026-11-22T00:00:00Z")  # type: ignore[arg-type]


def not_reviewed(answers: Sequence[WrittenText], reviews: Sequence[Review]) -> tuple[WrittenText, ...]:
    """The answers that no review is about: one that its writer changed after the review is another answer."""
    latest = latest_reviews(reviews)
    return tuple(answer for answer in answers if status_of(answer, latest) == NOT_REVIEWED)


def decided(answer: WrittenText, item: Item, faults: Callable[[str, Item], tuple[str, ...]], **more: object) -> Review:
    return make_review(answer, item, actor="editor", at="t", faults=faults, **more)  # type: ignore[arg-type]


def test_what_is_not_reviewed_waits_in_its_order() -> None:
    """Every answer waits until it is reviewed; a rejected one waits no more."""
    assert not_reviewed([FIRST, SECOND], []) == (FIRST, SECOND)
    assert not_reviewed([FIRST, SECOND], [review(1, "rejected", reason="a pun")]) == (SECOND,)


def test_a_later_review_takes_the_place_of_an_earlier_one() -> None:
    """The last review counts, whatever the first said; the list of reviews keeps both."""
    first, last = review(1, "rejected", reason="a pun"), review(1, text="The meeting knew many denominations.")
    assert [a.clean for a in accepted_texts([FIRST], [first, last])] == [last.text]
    assert accepted_texts([FIRST], [last, first]) == ()
    assert latest_reviews([first, last]) == {1: last}
    assert [status_of(one, {1: last}) for one in (FIRST, SECOND)] == ["accepted", "not reviewed"]


def test_an_edit_keeps_both_texts() -> None:
    """The raw text is what was written, the clean one what the editor left; without an edit they are the same."""
    edited, plain = accepted_texts([FIRST, SECOND], [review(2), review(1, text="They had many denominations.")])
    assert (edited.raw, edited.clean) == (RAW, "They had many denominations.")
    assert (plain.raw, plain.clean) == ("he saw the bank", "he saw the bank")


def test_a_text_that_was_not_changed_is_no_edit() -> None:
    """Outer white space goes; the text as it was written is stored as no edit."""
    assert decided(SECOND, POOL["bank"], SENTENCES, verdict="accepted", text=" he saw the bank\n").text is None
    assert decided(SECOND, POOL["bank"], SENTENCES, verdict="accepted", text=" He saw the bank. ").text == (
        "He saw the bank."
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The meeting had many denotations.", "word_not_once"),
        ("The denominations had many denominations.", "word_not_once"),
        ("They met. It had many denominations.", "not_one_sentence"),
        ("", "empty"),
    ],
)
def test_the_word_must_survive_an_edit(text: str, fault: str) -> None:
    """collection.md §2.2: a cleaned sentence lost its word ("denotations" for *denominations*); here it is refused."""
    with pytest.raises(InputError, match=fault) as caught:
        decided(FIRST, POOL["denominations"], SENTENCES, verdict="accepted", text=text)
    assert caught.value.code == "E644"
    assert "denominations" in str(caught.value)
    assert decided(FIRST, POOL["denominations"], SENTENCES, verdict="rejected", reason="lost").verdict == "rejected"


def test_a_word_must_not_come_back_into_an_ending() -> None:
    """The guard is the task's own: an edited ending that uses the ambiguous word again is refused."""
    ending = WrittenText(3, "p2", "s", "It was shut.")
    assert decided(ending, STORY, ENDINGS, verdict="accepted", text="It was closed.").text == "It was closed."
    with pytest.raises(InputError, match="word_recurs"):
        decided(ending, STORY, ENDINGS, verdict="accepted", text="The bank was closed.")


def test_an_accepted_raw_text_is_held_to_the_same_rules() -> None:
    """A text that got in before the rules were held cannot be accepted as it is."""
    old = WrittenText(4, "p3", "bank", "No such word here.")
    with pytest.raises(InputError, match="word_not_once"):
        decided(old, POOL["bank"], SENTENCES, verdict="accepted")


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (review(9), "E640"),
        (review(1, "perhaps"), "E641"),
        (review(1, "rejected"), "E642"),
        (review(1, "rejected", reason=" \n"), "E642"),
        (review(1, "rejected", reason="a pun", text="They had many denominations."), "E643"),
    ],
)
def test_what_a_review_owes(wrong: Review, code: str) -> None:
    """A05: it is about this answer, has a verdict, and a rejection gives its reason and no other text."""
    with pytest.raises(InputError) as caught:
        check_review(wrong, FIRST, POOL["denominations"], faults=SENTENCES)
    assert caught.value.code == code
    with pytest.raises(InputError):
        check_review(review(1), FIRST, POOL["bank"], faults=SENTENCES)


@given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from(["accepted", "rejected"])), max_size=12))
def test_queue_accepted_and_rejected_share_out_the_answers(made: list[tuple[int, str]]) -> None:
    """Whatever was decided in whatever order, every answer is in exactly one of the three."""
    answers = [WrittenText(n, "p", "bank", f"Text {n} of the bank.") for n in range(1, 6)]
    reviews = [review(answer_id, verdict, reason="so") for answer_id, verdict in made]
    waiting = [a.answer_id for a in not_reviewed(answers, reviews)]
    taken = [a.answer.answer_id for a in accepted_texts(answers, reviews)]
    gone = [n for n, one in latest_reviews(reviews).items() if one.verdict == "rejected"]
    assert sorted(waiting + taken + gone) == [1, 2, 3, 4, 5]


def test_same_texts_are_shown_to_the_editor() -> None:
    """The first of equal texts is the one that the later ones are said to repeat."""
    again = [replace(SECOND, answer_id=n, text=text) for n, text in ((7, "He saw the BANK!"), (5, "Another bank."))]
    assert same_texts([*again, FIRST, SECOND]) == {7: 2}


def test_stored_answers_become_texts_with_their_skips(tmp_path: Path) -> None:
    """From the store: the latest text counts, skips belong to the text that follows, reviews are kept in order."""
    items = tuple(StudyItem(name, SENTENCE, "0" * 64) for name in ("a", "b", "c", "d"))
    study = StudyRecord("writing", "ambiguous_sentence", "x", items, {"1": 10}, written=2)
    known = {item.item_id: Item(item.item_id, "pool", (Usage("bank", 0, 4),)) for item in items}
    texts: list[tuple[str, str | None]] = [
        ("a", None),
        ("b", None),
        ("c", "He saw the bank."),
        ("d", "She saw the bank."),
    ]
    with open_store(tmp_path, study) as store:
        who = qualified(store)
        store.take_place(who)
        store.change_state(who, State.ACTIVE, reason="go")
        for position, (name, text) in enumerate(texts):
            store.extend(who, Phase.TRIALS, StoredTrial(name))
            flags = () if text else ("skipped",)
            last = store.submit(answer(who, name, position, None, text=text, flags=flags))
        changed = answer(who, "d", 3, None, text="They saw the bank.", supersedes=last.answer_id, comment="hm")
        store.submit(replace(changed, client_key="again"))
        rows = store.answers_of(who)
        found = texts_in_rows(rows, known)
        assert [(one.item_id, one.text, one.skips, one.comment) for one in found] == [
            ("c", "He saw the bank.", 2, ""),
            ("d", "They saw the bank.", 0, "hm"),
        ]
        assert texts_in_rows(rows, {"c": known["c"]}) == (replace(found[0], skips=0),)
        store.record_review(decided(found[0], known["c"], SENTENCES, verdict="rejected", reason="dull"))
        store.record_review(decided(found[0], known["c"], SENTENCES, verdict="accepted", text="We saw the bank."))
        assert [one.verdict for one in store.read(stored_reviews)] == ["rejected", "accepted"]
        assert [one.clean for one in accepted_texts(found, store.read(stored_reviews))] == ["We saw the bank."]
        assert not_reviewed(found, store.read(stored_reviews)) == found[1:]
