"""Review the texts of participants: which await review, which verdicts are valid, and which texts were accepted.

Functions of stored answers and stored reviews; nothing is stored here. The answer keeps the text as it was written, a
review the corrected one, and a later review replaces an earlier one without removing it (A05).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexiscope.annotation.store.record import Phase, Review, Verdict
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.items.text_rules import same_text_key

Faults = Callable[[str, Item], tuple[str, ...]]
"""What is wrong with a text for an item: a task's ``SCREEN.faults``."""

NOT_REVIEWED = "not reviewed"


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A text that a participant wrote for an item; ``skips`` counts the items passed over right before it."""

    answer_id: int
    participant_id: str
    item_id: str
    text: str
    comment: str = ""
    skips: int = 0


@dataclass(frozen=True, slots=True)
class AcceptedText:
    """An accepted text: as typed, and the final text (equal if no reviewer changed it)."""

    answer: WrittenText
    review: Review

    @property
    def raw(self) -> str:
        """The text as it was written."""
        return self.answer.text

    @property
    def clean(self) -> str:
        """The final text."""
        return self.answer.text if self.review.text is None else self.review.text


def texts_in_rows(rows: Iterable[Mapping[str, Any]], items: Mapping[str, Item]) -> tuple[WrittenText, ...]:
    """Return the texts among the stored answers to *items*, by participant and in the order of their trials.

    *rows* are answers as the store has them (``Store.answers_of`` of each included participant). Answers that were
    changed later and answers of other phases are omitted; skips are counted to the text that follows them.
    """
    mine = [row for row in rows if row["phase"] == str(Phase.TRIALS) and row["item_id"] in items]
    # a changed answer is another row: a review of the one before does not count for it
    changed = {row["supersedes"] for row in mine}
    latest = sorted(
        (row for row in mine if row["id"] not in changed), key=lambda row: (row["participant_id"], row["position"])
    )
    texts: list[WrittenText] = []
    skips, who = 0, ""
    for row in latest:
        skips = skips if row["participant_id"] == who else 0
        who = row["participant_id"]
        if row["text"] is not None:
            texts.append(WrittenText(row["id"], who, row["item_id"], row["text"], row["comment"] or "", skips))
        skips = skips + 1 if "skipped" in json.loads(row["flags"]) else 0
    return tuple(texts)


def latest_reviews(reviews: Iterable[Review]) -> dict[int, Review]:
    """Return the review that counts for each answer: the last one. *reviews* come oldest first."""
    return {review.answer_id: review for review in reviews}


def accepted_texts(answers: Iterable[WrittenText], reviews: Iterable[Review]) -> tuple[AcceptedText, ...]:
    """Return the accepted texts in the order of the answers, each with the review that accepts it."""
    decided = latest_reviews(reviews)
    pairs = [(answer, decided[answer.answer_id]) for answer in answers if answer.answer_id in decided]
    return tuple(AcceptedText(answer, review) for answer, review in pairs if review.verdict == "accepted")


def status_of(answer: WrittenText, decided: Mapping[int, Review]) -> str:
    """Return ``accepted``, ``rejected`` or ``not reviewed``; *decided* comes from :func:`latest_reviews`."""
    review = decided.get(answer.answer_id)
    return NOT_REVIEWED if review is None else review.verdict


def same_texts(answers: Sequence[WrittenText]) -> dict[int, int]:
    """Return the answers whose text was written before, with the id of the first answer that has it.

    Case, punctuation and white space make no difference (:func:`lexiscope.items.text_rules.same_text_key`). Two people
    may write the same; the editor sees it, and decides.
    """
    first: dict[str, int] = {}
    repeats: dict[int, int] = {}
    for answer in sorted(answers, key=lambda answer: answer.answer_id):
        earlier = first.setdefault(same_text_key(answer.text), answer.answer_id)
        if earlier != answer.answer_id:
            repeats[answer.answer_id] = earlier
    return repeats


def make_review(
    answer: WrittenText,
    item: Item,
    *,
    verdict: Verdict,
    actor: str,
    at: str,
    faults: Faults,
    reason: str = "",
    text: str | None = None,
) -> Review:
    """Return the review of an answer, checked and ready to be stored.

    *text* is the edited text: outer white space is removed, and an unchanged text does not count as an edit.
    Errors: those of :func:`check_review`.
    """
    # an edit that changes nothing would look like a correction in every table
    edited = None if text is None or text.strip() == answer.text.strip() else text.strip()
    review = Review(answer.answer_id, verdict, reason.strip(), edited, actor, at)
    check_review(review, answer, item, faults=faults)
    return review


def check_review(review: Review, answer: WrittenText, item: Item, *, faults: Faults) -> None:
    """Check a review before it is stored.

    It is about this answer; a rejection gives a reason and no other text; an accepted text, edited or not, still obeys
    the rules of its task. The last guards the word: one sentence that AmbiStory released lost it in cleaning
    (collection.md §2.2).
    Errors: :class:`InputError` E640 (not this answer), E641 (no such verdict), E642 (no reason), E643 (a rejected text
    was edited), E644 (the accepted text has a fault).
    """
    # a cleaned text, by a person or a model, is checked by the rules that the writer's text passed
    fault = _review_fault(review, answer, item)
    if fault is None and review.verdict == "accepted":
        fault = _text_fault(answer.text if review.text is None else review.text, item, faults)
    if fault is not None:
        code, what, hint = fault
        raise InputError(what, code=code, place=Place(item_id=item.item_id), hint=hint)


def _review_fault(review: Review, answer: WrittenText, item: Item) -> tuple[str, str, str] | None:
    """Return code, text and hint of a fault of the review itself, regardless of the reviewed text."""
    if (review.answer_id, answer.item_id) != (answer.answer_id, item.item_id):
        return "E640", "the review, the answer and the item do not belong together", "reload the queue"
    if review.verdict not in ("accepted", "rejected"):
        return "E641", f"there is no verdict {review.verdict!r}", "accept the text, or reject it"
    if review.verdict == "rejected" and not review.reason.strip():
        return "E642", "a rejection needs a reason", "say in a few words why the text cannot be used"
    if review.verdict == "rejected" and review.text is not None:
        return "E643", "a rejected text is not edited", "accept the edited text, or reject what was written"
    return None


def _text_fault(text: str, item: Item, faults: Faults) -> tuple[str, str, str] | None:
    if not text.strip():
        return "E644", "the accepted text is empty", "give a text, or reject the answer"
    names = faults(text, item)
    if not names:
        return None
    what = f"the accepted text breaks the rules of its task ({', '.join(names)}): {text!r}"
    return "E644", what, f"mend it (the word is {item.usages[0].target!r}), or reject the answer"
