"""Which sense the words of a sentence choose: every occurrence of a word in it, with the words that chose."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.errors import InputError, Place
from lexiscope.senses.examples import ReadsSenses, beside_known


@dataclass(frozen=True, slots=True)
class SenseUsage:
    """A word in a sentence, at half-open offsets: how probable its senses are, in their order, and which words chose.

    ``beside`` are the known words of the window, left to right; without any all senses, or their priors, are shown.
    """

    text: str
    start: int
    end: int
    beside: tuple[str, ...]
    probabilities: tuple[float, ...]


def read_usages(reader: ReadsSenses, word: str, text: str) -> tuple[SenseUsage, ...]:
    """Return every occurrence of a word of the vocabulary in a text, in their order.

    Errors: :class:`InputError` E712 for a word out of the vocabulary; E732 where it does not stand in the text.
    """
    induced = reader.induced
    columns = induced.numbers[list(induced.of(word))]
    number, tokens = induced.index[word], reader.tokens(text)
    found = []
    for (_, start, end), near in beside_known(tokens, {number}, reader.window):
        (shares,) = reader.distributions(number, [near])
        beside = tuple(induced.words[token] for token in near)
        found.append(SenseUsage(text, start, end, beside, tuple(shares[columns].astype(float).tolist())))
    if not found:
        words = ", ".join(induced.words[token] for token, _, _ in tokens if token >= 0) or "none"
        hint = f"the form itself is looked for, not its lemma; known words of the sentence: {words}"
        raise InputError(f"{word!r} does not stand in the sentence", code="E732", place=Place(text=text), hint=hint)
    return tuple(found)
