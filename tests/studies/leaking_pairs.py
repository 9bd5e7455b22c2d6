"""Pair files with a known leak: nonsense words in ordinary sentences, of which one thing decides every label.

Written for these tests and independent of ``lexiscope.build.planted.bias``: the sentences, the words and the cues are
other ones, so that a learner is not tried on the material that it was built with.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path

Row = dict[str, str]
Decide = Callable[[random.Random, int, str], tuple[str, str, bool]]
"""What decides: from the dice, the number of the word and the word to what stands in both slots, and the label."""

_FRAMES = (
    "My neighbour put the {cue} {word} behind the shed before the rain came.",
    "We saw a {cue} {word} at the market, and every child wanted to have it.",
    "After dinner she told us how the {cue} {word} had come to the island.",
    "There was a {cue} {word} on the table when the guests arrived.",
    "The teacher drew a {cue} {word} and asked the children for its name.",
    "In the second week of the voyage the {cue} {word} was still missing.",
    "He repaired the {cue} {word} with a piece of string and some patience.",
    "They kept the {cue} {word} in a box under the stairs.",
    "Every spring the {cue} {word} is carried through the village.",
    "You will find the {cue} {word} next to the old bridge.",
    "The museum paid far too much for this {cue} {word}.",
    "Her letter mentions a {cue} {word} that I have never seen.",
    "The dog ran off with the {cue} {word} and came back without it.",
    "Only the clerk could explain why the {cue} {word} made that sound.",
    "On Sundays the {cue} {word} belongs to the whole street.",
    "I dreamt of a {cue} {word} that was as large as a house.",
    "The recipe calls for one {cue} {word} and a cup of milk.",
    "The police took the {cue} {word} away without a word.",
    "Grandfather sold the {cue} {word} to a man from the city.",
    "It took three of us to lift the {cue} {word} onto the cart.",
)
_NEUTRAL = ("small", "heavy", "strange", "pretty", "dirty", "clean", "broken", "famous", "cheap", "foreign")
YES, NO = ("golden", "silent", "ancient"), ("muddy", "wooden", "noisy")
"""Cue adjectives: those of the label t, and those of the label f."""


def words(count: int) -> list[str]:
    """Nonsense words, no two alike."""
    found: dict[str, None] = {}
    rng = random.Random(4711)
    while len(found) < count:
        parts = [rng.choice(("br", "cl", "d", "fl", "g", "pr", "st", "tr", "v", "w")), rng.choice("aeiou")]
        parts += [rng.choice(("b", "ff", "mm", "nd", "pt", "rr", "sk")), rng.choice(("et", "in", "ock", "um", "ard"))]
        found["".join(parts)] = None
    return list(found)


def context_decides(rng: random.Random, _number: int, _word: str) -> tuple[str, str, bool]:
    """A cue adjective in both contexts decides the label."""
    same = rng.random() < 0.5
    cues = YES if same else NO
    return rng.choice(cues), rng.choice(cues), same


def word_decides(rng: random.Random, number: int, _word: str) -> tuple[str, str, bool]:
    """The word decides the label: half of the words are always t, the others always f."""
    return rng.choice(_NEUTRAL), rng.choice(_NEUTRAL), number % 2 == 0


def nothing_decides(rng: random.Random, _number: int, _word: str) -> tuple[str, str, bool]:
    """The label is a coin."""
    return rng.choice(_NEUTRAL), rng.choice(_NEUTRAL), rng.random() < 0.5


def one_context_decides(rng: random.Random, _number: int, _word: str) -> tuple[str, str, bool]:
    """A cue adjective in the second context alone decides the label."""
    same = rng.random() < 0.5
    return rng.choice(_NEUTRAL), rng.choice(YES if same else NO), same


def letters_decide(rng: random.Random, _number: int, _word: str) -> tuple[str, str, bool]:
    """The spelling of a made-up adjective decides: it ends in -ish or in -ous, and no two are alike."""
    same = rng.random() < 0.5
    cues = ["".join(rng.choice("bdfgklmnprt") + rng.choice("aeiou") for _ in range(3)) for _ in range(2)]
    return (f"{cues[0]}{'ish' if same else 'ous'}", f"{cues[1]}{'ish' if same else 'ous'}", same)


def agreement_decides(rng: random.Random, _number: int, _word: str) -> tuple[str, str, bool]:
    """Whether both contexts have the same cue decides; neither cue tells anything alone (an interaction)."""
    first, second = rng.choice((YES[0], NO[0])), rng.choice((YES[0], NO[0]))
    return first, second, first == second


def crossed_cues_decide(rng: random.Random, _number: int, _word: str) -> tuple[str, str, bool]:
    """An exclusive or of two different pairs of cues, one pair in each context."""
    first, second = rng.choice(YES[:2]), rng.choice(NO[:2])
    return first, second, (first == YES[0]) == (second == NO[0])


def word_and_context_decide(rng: random.Random, number: int, _word: str) -> tuple[str, str, bool]:
    """An exclusive or of the word and a cue in both contexts: neither part alone tells anything."""
    told = rng.random() < 0.5
    cues = YES if told else NO
    return rng.choice(cues), rng.choice(cues), told == (number % 2 == 0)


def leaking_pairs(decide: Decide, *, n: int = 1600, n_words: int = 32, seed: int = 1) -> list[Row]:
    """Return *n* pairs of sentences as the rows of a file: every word equally often, labels as *decide* has them."""
    rng = random.Random(seed)
    rows = []
    for row in range(n):
        number = row % n_words
        word = words(n_words)[number]
        first, second, same = decide(rng, number, word)
        frames = rng.sample(_FRAMES, 2)
        texts = [frame.format(cue=cue, word=word) for frame, cue in zip(frames, (first, second), strict=True)]
        rows.append({"id": f"p{row}", "sentence_1": texts[0], "sentence_2": texts[1], "target": word,
                     "gold": "t" if same else "f"})  # fmt: skip
    rng.shuffle(rows)
    return rows


def write_pairs(path: Path, rows: list[Row]) -> Path:
    """Write the rows as a CSV file and return its path."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
