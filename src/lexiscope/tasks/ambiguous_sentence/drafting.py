"""What a language model may draft around ambiguous sentences: the cleaned sentence, the precontext, an example.

The prompts follow what AmbiStory says of its own (B.1, B.2: spelling, grammar and third person and nothing else; three
sentences that do not resolve the ambiguity). Their wording is ours: the paper's was not at hand.
"""

from __future__ import annotations

from lexiscope.build.stories.drafting import DraftRequest, drafting_question, precontext_faults
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.tasks.ambiguous_sentence import FOLDER, NAME, faults


def cleaning(text: str, item: Item, *, draft_id: str) -> DraftRequest:
    """Return the request to clean a sentence that was written for an item; the word must survive, exactly once."""
    usage = item.usages[0]
    question = drafting_question(
        FOLDER / "clean.txt", text, word=usage.target, variant=f"{NAME}/clean", language=usage.language
    )
    return DraftRequest(draft_id, "sentence", text, question, lambda draft: faults(draft, item))


def precontext(usage: Usage, meanings: tuple[str, str], *, draft_id: str) -> DraftRequest:
    """Return the request for three sentences before an ambiguous one, both meanings left open."""
    word, language = usage.target, usage.language
    about = f"Sentence: {usage.text}\nMeaning 1: {meanings[0]}\nMeaning 2: {meanings[1]}"
    question = drafting_question(
        FOLDER / "precontext.txt", about, word=word, variant=f"{NAME}/precontext", language=language
    )
    return DraftRequest(draft_id, "precontext", "", question, lambda draft: precontext_faults(draft, word, language))


def example(item: Item, which: str) -> DraftRequest:
    """Return the request for an example of one meaning (``1`` or ``2``) of an item of the pool.

    Errors: :class:`InputError` E402 for another meaning.
    """
    usage = item.usages[0]
    about = f"Word: {usage.target}\nMeaning: {item.condition(f'sense_{which}')}"
    question = drafting_question(
        FOLDER / "example.txt", about, word=usage.target, variant=f"{NAME}/example", language=usage.language
    )
    raw = str(item.condition(f"example_{which}"))
    return DraftRequest(f"{item.item_id}#{which}", f"example_{which}", raw, question, lambda draft: faults(draft, item))
