"""Which sense the words of a sentence choose: every occurrence of a word in it, with the words that chose."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.errors import InputError, Place
from lexiscope.items.sense_examples import ReadsSenses


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
    places = [place for place, (token, _, _) in enumerate(tokens) if token == number]
    if not places:
        words = ", ".join(induced.words[token] for token, _, _ in tokens if token >= 0) or "none"
        hint = f"the form itself is looked for, not its lemma; known words of the sentence: {words}"
        raise InputError(f"{word!r} does not stand in the sentence", code="E732", place=Place(text=text), hint=hint)
    found = []
    for place in places:
        left = [token for token, _, _ in tokens[:place] if token >= 0][-reader.window :]
        right = [token for token, _, _ in tokens[place + 1 :] if token >= 0][: reader.window]
        (shares,) = reader.distributions(number, [left + right])
        beside = tuple(induced.words[token] for token in left + right)
        found.append(SenseUsage(text, *tokens[place][1:], beside, tuple(shares[columns].astype(float).tolist())))
    return tuple(found)
