"""Rows of words and senses for sense entropy: what a *word* is, by name, because published figures do not say.

Each reading gives one row for each use of a word; :func:`lexiscope.analysis.bias.entropy.sense_entropy` takes its
columns and prints its names. *Source:* the context–word bias study, §3.1 and Table 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lexiscope.resources.corpora.aida_candidates import CandidateMention
from lexiscope.resources.corpora.linked_text import LinkedText
from lexiscope.resources.corpora.unified_wsd import Document, Token

NIL = "NIL"
"""The class of a mention that the knowledge base has nothing for."""


@dataclass(frozen=True, slots=True)
class SenseRows:
    """Uses of words, row by row: ``word`` names what a word is, ``rows`` which rows these are."""

    word: str
    rows: str
    words: tuple[str, ...]
    senses: tuple[str, ...]


def sense_tagged_rows(documents: Iterable[Document]) -> tuple[SenseRows, ...]:
    """Return the readings of a sense-tagged corpus; the sense of an instance is the first of its keys.

    By lemma and part of speech, surface form, surface form in lower case, and lemma; by lemma and part of speech
    without forms of several words; and by lemma in documents in which not only verbs are tagged (in SemCor, brown1 and
    brown2).
    """
    every: list[Token] = []
    open_class: list[Token] = []
    for document in documents:
        tagged = [sentence.tokens[place] for sentence in document.sentences for place in sentence.instances]
        every += tagged
        open_class += tagged if any(token.pos != "VERB" for token in tagged) else []
    single = [token for token in every if " " not in token.form]
    return (
        _rows("lemma_pos", "all", every, _lemma_pos),
        _rows("surface", "all", every, lambda token: token.form),
        _rows("surface_lower", "all", every, lambda token: token.form.lower()),
        _rows("lemma", "all", every, lambda token: token.lemma),
        _rows("lemma_pos", "one_word_forms", single, _lemma_pos),
        _rows("lemma", "all_classes_tagged", open_class, lambda token: token.lemma),
    )


def candidate_rows(mentions: Iterable[CandidateMention]) -> tuple[SenseRows, ...]:
    """Return the readings of AIDA's mentions: with :data:`NIL` as a class of its own, and the linked ones alone."""
    listed = list(mentions)
    linked = [mention for mention in listed if mention.page is not None]
    return (
        SenseRows("mention", "with_nil", tuple(m.text for m in listed), tuple(m.page or NIL for m in listed)),
        SenseRows("mention", "linked", tuple(m.text for m in linked), tuple(str(m.page) for m in linked)),
    )


def linked_rows(texts: Iterable[LinkedText], *, misplaced: bool = False) -> SenseRows:
    """Return the linked mentions of texts as they are written, with the name of what they are linked to.

    Where a format has no names that is the concept as it is written (``D003110|D009369``), several ids being one class.
    With *misplaced* also the mentions whose letters do not stand at their offsets, as what does stand there.
    """
    found: list[tuple[str, str]] = []
    for text in texts:
        linked = (mention for mention in text.mentions if mention.ids)
        found += [(text.text[mention.start : mention.end], mention.name) for mention in linked]
        found += [(each.found, each.ids[0]) for each in text.misplaced if misplaced and each.ids]
    rows = "linked_and_misplaced" if misplaced else "linked"
    return SenseRows("mention", rows, tuple(word for word, _ in found), tuple(sense for _, sense in found))


def _rows(word: str, rows: str, tokens: list[Token], of: Callable[[Token], str]) -> SenseRows:
    return SenseRows(word, rows, tuple(map(of, tokens)), tuple(token.sense_keys[0] for token in tokens))


def _lemma_pos(token: Token) -> str:
    return f"{token.lemma}/{token.pos}"
