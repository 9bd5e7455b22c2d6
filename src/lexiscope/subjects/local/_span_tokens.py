"""From character spans to sub-words, and from sentences to batches. No torch here.

A target's sub-words are those whose character offsets overlap its span; the target is never searched for
(design/0002-spans.md). A batch plan depends on the set of sentences and spans only, not on the order of the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lexiscope.core.errors import Place, SubjectError
from lexiscope.core.usage import Usage

Span = tuple[int, int]
Content = Sequence[tuple[str, tuple[Span, ...]]]
"""Sentences, each with its spans: what a batch holds, and what its stored file is named after."""


@dataclass(frozen=True, slots=True)
class SpanRequest:
    """What is asked of a model: every distinct sentence once, with its distinct spans.

    ``sentences`` are sorted by text, their spans by position; ``rows`` gives each (sentence, span) its row in the
    distinct vectors; ``usage_rows`` gives each usage that was asked for its row.
    """

    sentences: tuple[tuple[str, tuple[Span, ...]], ...]
    rows: dict[tuple[str, int, int], int]
    usage_rows: tuple[int, ...]

    @classmethod
    def of(cls, usages: Sequence[Usage]) -> SpanRequest:
        """Collect the distinct usages; rows are in the order of first appearance."""
        rows: dict[tuple[str, int, int], int] = {}
        usage_rows = tuple(rows.setdefault(usage.key, len(rows)) for usage in usages)
        spans: dict[str, list[Span]] = {}
        for text, start, end in rows:
            spans.setdefault(text, []).append((start, end))
        return cls(tuple((text, tuple(sorted(spans[text]))) for text in sorted(spans)), rows, usage_rows)

    def rows_of(self, batch: Sequence[int]) -> list[int]:
        """Return the rows of a batch's vectors, in the order in which the batch holds them."""
        return [
            self.rows[text, *span] for number in batch for text, spans in [self.sentences[number]] for span in spans
        ]

    def usage_places(self) -> list[list[int]]:
        """Return, for each row of the distinct vectors, the places of its usage among those that were asked for."""
        places: list[list[int]] = [[] for _ in self.rows]
        for place, row in enumerate(self.usage_rows):
            places[row].append(place)
        return places

    def content(self, batch: Sequence[int]) -> Content:
        """Return the sentences and spans of a batch."""
        return [self.sentences[number] for number in batch]


@dataclass(frozen=True, slots=True)
class TokenisedSentence:
    """A sentence as a model reads it: token ids with special tokens, and the sub-words of each span."""

    ids: tuple[int, ...]
    spans: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class SpanPlan:
    """The tokens of every sentence of a request and of each of its targets; route and threads of the forward pass."""

    lengths: tuple[int, ...]
    targets: tuple[tuple[int, ...], ...]
    route: str
    threads: int


def overlapping_tokens(offsets: Sequence[Span], special: Sequence[int], span: Span) -> tuple[int, ...]:
    """Return the tokens whose characters overlap a half-open span.

    Special tokens never do. Byte-level tokenizers may count the space before a word to its token: that token
    still overlaps; a neighbour that only touches the span does not.

    >>> overlapping_tokens([(0, 0), (0, 3), (3, 6), (6, 8), (0, 0)], [1, 0, 0, 0, 1], (4, 8))
    (2, 3)
    """
    start, end = span
    return tuple(
        number
        for number, ((first, last), is_special) in enumerate(zip(offsets, special, strict=True))
        if not is_special and first < end and last > start
    )


def tokenise_sentences(
    tokenizer: Any, sentences: Content, *, longest: int | None, unknown: int | None
) -> list[TokenisedSentence]:
    """Tokenise sentences once, with the special tokens that the model wants, and find the sub-words of every span.

    *tokenizer* is a ``tokenizers.Tokenizer``; *longest* the most tokens that the model can read; *unknown* the id
    of its unknown token.
    Errors: :class:`SubjectError` for a sentence that is too long (nothing is ever cut off), a span without
    sub-words, and a target that the tokenizer does not know at all; it shows the first and counts the others.
    """
    encodings = tokenizer.encode_batch([text for text, _ in sentences])
    tokenised: list[TokenisedSentence] = []
    refused: list[SubjectError] = []
    for (text, spans), encoding in zip(sentences, encodings, strict=True):
        offsets, special = encoding.offsets, encoding.special_tokens_mask
        sentence = TokenisedSentence(
            tuple(encoding.ids), tuple(overlapping_tokens(offsets, special, span) for span in spans)
        )
        refused += _refusals(text, spans, sentence, offsets, longest=longest, unknown=unknown)
        tokenised.append(sentence)
    if len(refused) > 1:
        first = refused[0]
        why = f"{len(refused)} usages cannot be used; this is the first"
        raise SubjectError(first.what, place=first.place, why=why, hint=first.hint)
    if refused:
        raise refused[0]
    return tokenised


def _refusals(
    text: str,
    spans: Sequence[Span],
    sentence: TokenisedSentence,
    offsets: Sequence[Span],
    *,
    longest: int | None,
    unknown: int | None,
) -> list[SubjectError]:
    """Return an error for every span of a sentence that cannot have a separate vector."""
    if longest is not None and len(sentence.ids) > longest:
        return [_too_long(text, span, offsets, longest, len(sentence.ids)) for span in spans]
    errors = []
    for span, tokens in zip(spans, sentence.spans, strict=True):
        if not tokens:
            errors.append(_usage_error("no sub-word of the tokenizer overlaps the target", text, span))
        elif all(sentence.ids[token] == unknown for token in tokens):
            what = "the tokenizer does not know the target: all its sub-words are unknown"
            errors.append(_usage_error(what, text, span))
    return errors


def plan_batches(lengths: Sequence[int], *, budget: int) -> tuple[tuple[int, ...], ...]:
    """Group sentences of similar length: at most *budget* tokens with padding, at most a 20th of it padding.

    *lengths* are token counts in the fixed order of the sentences; ties keep that order. A single sentence that is
    longer than the budget is a separate batch.

    >>> plan_batches([10, 5, 11, 5], budget=22)
    ((1, 3), (0, 2))
    """
    batches: list[tuple[int, ...]] = []
    current: list[int] = []
    filled = 0
    for number in sorted(range(len(lengths)), key=lambda number: (lengths[number], number)):
        size = lengths[number] * (len(current) + 1)
        # on a CPU a batch more costs about as much as 40 tokens, the 25th part of its budget (benchmarks/README.md)
        if current and (size > budget or 20 * (size - filled - lengths[number]) > budget):
            batches.append(tuple(current))
            current, filled = [], 0
        current.append(number)
        filled += lengths[number]
    return (*batches, tuple(current)) if current else tuple(batches)


def _too_long(text: str, span: Span, offsets: Sequence[Span], longest: int, length: int) -> SubjectError:
    lost = not any(first < span[1] and last > span[0] for first, last in offsets[:longest])
    why = "the target itself would be lost to truncation" if lost else "the end of its context would be cut off"
    what = f"the sentence has {length} tokens, the model reads at most {longest}: {why}"
    return _usage_error(what, text, span, hint="shorten the context around the target")


def _usage_error(what: str, text: str, span: Span, *, hint: str = "") -> SubjectError:
    place = Place(text=text, column=span[0] + 1, width=span[1] - span[0])
    return SubjectError(what, place=place, hint=hint or "correct or leave out the item, or use another model")
