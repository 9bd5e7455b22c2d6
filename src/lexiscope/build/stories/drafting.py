"""Questions for which a language model drafts a text, and what must be right with the draft before a person sees it.

A draft is a proposal: it goes on only when a person accepts it, the original text is kept, and it is
marked with the name of the model (AmbiStory B.1, B.2; collection.md §2.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.prompt import ChatQuestion, Message
from lexiscope.items.sentence_count import count_sentences
from lexiscope.items.text_rules import word_recurs

NOT_THREE_SENTENCES = "not_three_sentences"
_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """One text to be drafted.

    ``draft_id`` is that of the answer or setup it is for, ``field`` what it is (``sentence``, ``ending``,
    ``precontext``, ``example``). ``raw`` is the text that it would replace (empty where there is none yet). ``faults``
    says what is wrong with a draft.
    """

    draft_id: str
    field: str
    raw: str
    question: ChatQuestion
    faults: Callable[[str], tuple[str, ...]]


def drafting_question(
    prompt: Path, about: str, *, word: str, variant: str, language: str = "en", max_tokens: int = 200
) -> ChatQuestion:
    """Return the question: the instructions of a file, with the word in its place, then what they are about.

    Errors: :class:`OSError` where the file of the prompt is not there.
    """
    # lines of the file are wrapped for reading: only an empty line ends a paragraph
    instructions = " ".join(prompt.read_text(encoding="utf-8").split("\n")).replace("  ", "\n\n").strip()
    # the word is put in by replacing: braces in a participant's word mean nothing
    told = instructions.replace("{word}", word)
    messages = (Message("system", told), Message("user", about))
    return ChatQuestion(messages, max_tokens=max_tokens, variant=variant, language=language)


def precontext_faults(text: str, word: str, language: str) -> tuple[str, ...]:
    """Return what is wrong with a precontext: it is three sentences, and the ambiguous word is not in them.

    Whether it leaves the ambiguity open, people decide.

    >>> precontext_faults("It rained. Ana read. The bank shut.", "bank", "en")
    ('word_recurs',)
    >>> precontext_faults("It rained all day.", "bank", "en")
    ('not_three_sentences',)
    """
    count = None if count_sentences(text, language) == _SENTENCES else NOT_THREE_SENTENCES
    return tuple(fault for fault in (count, word_recurs(text, word)) if fault is not None)
