"""Answers that are texts or pages: sentences and endings (AmbiStory), pages that were linked (BIAS)."""

from __future__ import annotations

from lexiscope.annotation.export.choice_forms import Cells, numbered
from lexiscope.annotation.export.collected import Collected, Reviewed, Row, slot_order
from lexiscope.annotation.export.plain_form import first_condition
from lexiscope.core.item import Item
from lexiscope.items.sheets.sheet import Column, Sheet, sheet_of

_UNREVIEWED = Reviewed("not reviewed")
_STATUS = Column("status", "accepted, rejected or not reviewed", "category")
_REASON = Column("review_reason", "why it was rejected or edited", "text")
_WRITER = Column("participant_id", "random id of the writer", "id")


def entity_link(collected: Collected) -> tuple[Sheet, ...]:
    """Return which page was linked to each mention."""
    columns = (
        Column("example_no", "number of the example, from 1", "integer", low=1),
        Column("page", "title or address of the page", "text"),
        Column("view", "full, context or word", "category"),
        Column("word", "the guessed word, where the target was hidden", "text"),
        Column("not_found", "the participant said that there is no page for the target", "truth"),
    )

    def cells(row: Row, _item: Item) -> Cells:
        page = row["response_text"] if row["response_text"] is not None else row["response"]
        said = {"word": row["guessed_word"], "not_found": row["flag_not_found"]}
        return {"page": page, "view": collected.view_of(row["list_id"]), **said}

    return (numbered(collected, "link_judgments.csv", columns, cells),)


def ambiguous_sentence(collected: Collected) -> tuple[Sheet, ...]:
    """Return the sentences that were written, with how many words the writer passed over before each."""
    columns = (
        Column("pair_id", "the word with its two meanings", "id"),
        Column("form", "the word form", "id"),
        Column("sense1", "meaning 1", "text"),
        Column("sense2", "meaning 2", "text"),
        Column("skips", "other words that were asked for before this sentence", "integer", low=0),
        Column("sentence_raw", "the sentence as it was written", "text"),
        Column("sentence_clean", "the sentence as it was accepted, edited or not; empty where it is not", "text"),
        *(_STATUS, _REASON, _WRITER),
    )
    rows: list[Cells] = []
    skips = 0
    for row, following in _with_last(_trials(collected)):
        if row["response_text"] is None:
            skips += 1
        else:
            item = collected.items[row["item_id"]]
            known = {
                "pair_id": first_condition(item.conditions, "pair_id") or item.item_id,
                "form": item.usages[0].target,
                "sense1": first_condition(item.conditions, "sense1", "sense_1", "meaning_1"),
                "sense2": first_condition(item.conditions, "sense2", "sense_2", "meaning_2"),
            }
            rows.append({**known, "skips": skips, **_written(collected, row, "sentence")})
            skips = 0
        if following != row["participant_id"]:
            skips = 0
    return (sheet_of("written_sentences.csv", "one sentence that was written", columns, rows),)


def story_ending(collected: Collected) -> tuple[Sheet, ...]:
    """Return the endings that were written."""
    columns = (
        Column("setup_id", "the story without its ending", "id"),
        Column("intended_sense", "the meaning that the ending had to bring out", "text"),
        Column("ending_raw", "the ending as it was written", "text"),
        Column("ending_clean", "the ending as it was accepted, edited or not; empty where it is not", "text"),
        *(_STATUS, _REASON, Column("comment", "the writer's comment", "text")),
        *(Column("item_id", "the item", "id"), _WRITER),
    )
    rows: list[Cells] = []
    for row in _trials(collected):
        if row["response_text"] is not None:
            item = collected.items[row["item_id"]]
            known = {
                "setup_id": first_condition(item.conditions, "setup_id", "setup", "story") or item.item_id,
                "intended_sense": first_condition(item.conditions, "intended_sense", "sense", "judged_meaning"),
            }
            said = {"comment": row["comment"], "item_id": item.item_id}
            rows.append({**known, **said, **_written(collected, row, "ending")})
    return (sheet_of("written_endings.csv", "one ending that was written", columns, rows),)


def _written(collected: Collected, row: Row, what: str) -> Cells:
    review = collected.reviews.get((row["participant_id"], row["item_id"]), _UNREVIEWED)
    raw = row["response_text"]
    clean = (review.text if review.text is not None else raw) if review.verdict == "accepted" else None
    return {
        f"{what}_raw": raw,
        f"{what}_clean": clean,
        "status": review.verdict,
        "review_reason": review.reason or None,
        "participant_id": row["participant_id"],
    }


def _trials(collected: Collected) -> list[Row]:
    """What valid participants wrote or passed over, in the order in which it was shown to them."""
    valid = collected.standing.valid
    rows = [row for row in collected.rows if row["kind"] == "item" and row["phase"] == "trials"]
    return sorted((row for row in rows if row["participant_id"] in valid), key=slot_order)


def _with_last(rows: list[Row]) -> list[tuple[Row, str]]:
    """Each row with the participant of the row behind it."""
    behind = [*(row["participant_id"] for row in rows[1:]), ""]
    return [(row, behind[number]) for number, row in enumerate(rows)]
