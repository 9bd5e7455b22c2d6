"""Which mention of AIDA's list of candidates is which mention of a text: by document, and by the order of letters."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from lexiscope.resources.corpora.aida_candidates import CandidateMention
from lexiscope.resources.corpora.linked_text import LinkedText


def aligned(text: LinkedText, listed: Sequence[CandidateMention]) -> dict[int, CandidateMention]:
    """Return the listed mention of each mention of a text, by the number of the mention from 1.

    Both lists go in the order of the text; a text may hold mentions that are not listed (those of another annotation),
    which stay without partner. White space and case do not count.
    """
    here = [_letters(text.text[mention.start : mention.end]) for mention in text.mentions]
    there = [_letters(mention.printed) for mention in listed]
    found: dict[int, CandidateMention] = {}
    for block in SequenceMatcher(None, here, there, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            found[block.a + step + 1] = listed[block.b + step]
    return found


def _letters(mention: str) -> str:
    return "".join(mention.split()).casefold()
