"""What a language model may draft of a story's ending: the cleaned sentence. The prompt's wording is ours.

AmbiStory's prompt (B.1) saw the sentence before the ending; this one does too.
"""

from __future__ import annotations

from lexiscope.build.stories.drafting import DraftRequest, drafting_question
from lexiscope.core.item import Item
from lexiscope.tasks.story_ending import FOLDER, NAME, faults


def cleaning(text: str, item: Item, *, draft_id: str) -> DraftRequest:
    """Return the request to clean an ending that was written for an item; the word must not come into it."""
    usage = item.usages[0]
    about = f"Sentence before it: {usage.text}\nLast sentence: {text}"
    question = drafting_question(
        FOLDER / "clean.txt", about, word=usage.target, variant=f"{NAME}/clean", language=usage.language
    )
    return DraftRequest(draft_id, "ending", text, question, lambda draft: faults(draft, item))
