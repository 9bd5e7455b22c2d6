"""Masked copies of texts: which tokens are hidden when one of them is scored, and which copies texts share.

``masked`` hides the scored token alone (Salazar et al. 2020, https://aclanthology.org/2020.acl-main.240).
``masked_within_word`` hides the later tokens of its word too, so that a word cut into pieces does not give its own
beginning away (Kauf & Ivanova 2023, https://aclanthology.org/2023.acl-short.80, ``within_word_l2r``).

Words are the tokenizer's own: what its pre-tokenizer keeps together. For BERT a punctuation mark is a word of its own,
for sentencepiece it belongs to the word before it. Where a tokenizer keeps several words together (a stretch of Thai
or Japanese, or no pre-tokenizer at all), the second variant would not be what its name says, and is refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lexiscope.core.errors import InputError, Place, SubjectError

Ids = tuple[int, ...]
Span = tuple[int, int]

_UNSPACED = ("CJK UNIFIED", "CJK COMPAT", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")


@dataclass(frozen=True, slots=True)
class TokenizerFacts:
    """What must be known of a tokenizer: its mask, its unknown token, its special tokens, the longest input."""

    mask: int
    unknown: int | None
    special: frozenset[int]
    longest: int | None


@dataclass(frozen=True, slots=True)
class TokenisedText:
    """One text as the model reads it.

    ``ids`` with the special tokens around the text; ``positions`` of the text's own tokens among them, with their
    half-open character ``spans`` and the number of the word that each belongs to.
    """

    ids: Ids
    positions: tuple[int, ...]
    spans: tuple[Span, ...]
    words: tuple[int, ...]

    def hidden(self, number: int, *, within_word: bool) -> tuple[int, ...]:
        """Return the positions that are masked when token *number* is scored; its own comes first."""
        later = range(number + 1, len(self.positions)) if within_word else ()
        same = [self.positions[other] for other in later if self.words[other] == self.words[number]]
        return (self.positions[number], *same)


@dataclass(frozen=True, slots=True)
class Copies:
    """The distinct masked inputs of some texts, and the token that each is read for.

    An input is read at one place, the first that is masked in it (``inputs``: ids and that position).
    ``asked[t]`` has, for each token of text t, the number of its input and the token's own id.
    """

    inputs: tuple[tuple[Ids, int], ...]
    asked: tuple[tuple[tuple[int, int], ...], ...]


def plan_copies(texts: Sequence[TokenisedText], mask: int, *, within_word: bool) -> Copies:
    """Return the masked copies of texts; equal ones are kept once.

    Texts that differ in one word share the copy in which that word is masked, and give it several tokens to score.
    """
    numbers: dict[tuple[Ids, int], int] = {}
    asked = []
    for text in texts:
        of_text = []
        for number, position in enumerate(text.positions):
            copy = list(text.ids)
            for place in text.hidden(number, within_word=within_word):
                copy[place] = mask
            of_text.append((numbers.setdefault((tuple(copy), position), len(numbers)), text.ids[position]))
        asked.append(tuple(of_text))
    return Copies(tuple(numbers), tuple(asked))


def tokenise_texts(
    tokenizer: Any, texts: Sequence[str], vocabulary: TokenizerFacts, *, within_word: bool
) -> list[TokenisedText]:
    """Tokenise texts with the special tokens of the model around them.

    Errors: :class:`InputError` for an empty text; :class:`SubjectError` for a text that is longer than the model
    reads, has characters that the tokenizer does not know or special tokens written out, or (*within_word*) whose
    words the tokenizer does not tell apart.
    """
    for text in texts:
        if not text.strip():
            raise InputError(f"the text {text!r} has no words to score", hint="leave the item out")
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=True)
    return [
        _tokenised(text, encoding, vocabulary, within_word) for text, encoding in zip(texts, encodings, strict=True)
    ]


def _tokenised(text: str, encoding: Any, vocabulary: TokenizerFacts, within_word: bool) -> TokenisedText:
    ids = tuple(encoding.ids)
    if vocabulary.longest is not None and len(ids) > vocabulary.longest:
        what = f"the text has {len(ids)} tokens, the model reads at most {vocabulary.longest}: nothing is cut off"
        raise SubjectError(what, place=Place(text=text), hint="shorten the text")
    # the mask of the tokenizer itself, not the ids: a text may have "[SEP]" written in it
    own = [position for position, special in enumerate(encoding.special_tokens_mask) if not special]
    spans = tuple(_visible(encoding.offsets[position], text) for position in own)
    for position, span in zip(own, spans, strict=True):
        _check_token(text, span, ids[position], vocabulary)
    words = tuple(_word(encoding.word_ids[position], position) for position in own)
    if within_word:
        _check_words(text, spans, words)
    return TokenisedText(ids, tuple(own), spans, words)


def _visible(span: Span, text: str) -> Span:
    """Return the characters that a token stands for; one that shows none shares the character that follows it."""
    start, end = span
    if start < end:
        return start, end
    start = min(start, len(text) - 1)
    return start, start + 1


def _word(word: int | None, position: int) -> int:
    # a token outside any word (an added token of the vocabulary) is a word of its own
    return -1 - position if word is None else int(word)


def _check_token(text: str, span: Span, token: int, vocabulary: TokenizerFacts) -> None:
    place = Place(text=text, column=span[0] + 1, width=span[1] - span[0])
    if token == vocabulary.unknown:
        what = "the tokenizer does not know these characters: the probability of 'unknown' is not theirs"
        raise SubjectError(what, place=place, hint="leave the item out, or use another model")
    if token in vocabulary.special:
        what = "the text has one of the model's special tokens written in it"
        raise SubjectError(what, place=place, hint="write it another way, or leave the item out")


def _check_words(text: str, spans: Sequence[Span], words: Sequence[int]) -> None:
    """Refuse a text in which several words, as far as can be seen, go by one number."""
    for word in dict.fromkeys(words):
        pieces = [span for span, of_word in zip(spans, words, strict=True) if of_word == word]
        start, end = pieces[0][0], pieces[-1][1]
        whole = text[start:end].strip()
        several = any(char.isspace() for char in whole) or sum(map(_is_unspaced, whole)) > 1
        if len(pieces) > 1 and several:
            raise SubjectError(
                "this model's tokenizer does not tell the words of this stretch apart",
                place=Place(text=text, column=start + 1, width=end - start),
                why="conditioning=masked_within_word hides the later tokens of a word, and here it would hide words",
                hint="use ?conditioning=masked",
            )


def _is_unspaced(char: str) -> bool:
    return unicodedata.name(char, "").startswith(_UNSPACED)
