"""Items that one view gets right and another wrong, and the context word that may have misled (the study's Table 3).

Where the word alone is right and the whole input wrong, the context has misled the subject: it drew the answer towards
something else. Two simple rules name a word of the context that may have done so; neither proves that it did.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.core.errors import StatisticError

SEVERAL = "|"
"""What separates the gold answers per item that has several right ones."""

_FUNCTION_WORDS = (
    "about above after again against also although always among another because been before being below between both "
    "cannot could does doing down during each either else even ever every from further have having here hers herself "
    "himself into itself just like made make many might more most much must myself never none only onto other others "
    "ourselves over same shall should since some such than that their theirs them themselves then there these they "
    "this those though through thus together toward towards under until upon very were what when where whether which "
    "while whom whose will with within without would your yours yourself"  # words: ok, function words
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English function words of four letters and more; shorter words are excluded by their length."""

_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class ViewError:
    """One item that is right in one view and wrong in another.

    ``answer`` is what was answered (retrieved) in the view that is wrong; ``distractor`` a context word that may have
    led there, empty where none is known.
    """

    item_id: str
    word: str
    gold: str
    answer: str
    wrong_view: str
    right_view: str
    distractor: str = ""


@dataclass(frozen=True, slots=True)
class ViewErrors:
    """Errors of one kind, how many items both views answered, and how many at least one of them left unanswered."""

    wrong_view: str
    right_view: str
    errors: tuple[ViewError, ...]
    n: int
    n_unanswered: int

    def of(self, *, word: str | None = None, answer: str | None = None, distracted: bool | None = None) -> ViewErrors:
        """Return the errors of a word, with an answer, with or without a distracting word; the counts stay."""
        kept = tuple(
            error
            for error in self.errors
            if word in (None, error.word)
            and answer in (None, error.answer)
            and distracted in (None, bool(error.distractor))
        )
        return ViewErrors(self.wrong_view, self.right_view, kept, self.n, self.n_unanswered)


def is_right(answer: str | None, gold: str) -> bool:
    """Whether an answer is one of the gold answers; no answer is not.

    >>> is_right("t", "t"), is_right("bank%1:14:00::", "bank%1:14:00::|bank%1:06:00::"), is_right(None, "t")
    (True, True, False)
    """
    return answer is not None and (answer == gold or answer in gold.split(SEVERAL))


def view_errors(
    gold: Mapping[str, str],
    answers: Mapping[str, Mapping[str, str | None]],
    *,
    wrong: str = "full",
    right: str = "word",
    words: Mapping[str, str] | None = None,
    distractors: Mapping[str, str] | None = None,
) -> ViewErrors:
    """Return the items that the view *wrong* gets wrong and the view *right* gets right, in the order of *gold*.

    *answers* are those of one subject: view → item id → option. *words* (item id → word) and *distractors* (item id →
    context word) are added to them. An item that one of the views left unanswered is not an error of the other:
    counted.

    >>> gold = {"i1": "t", "i2": "f", "i3": "t"}
    >>> answers = {"full": {"i1": "f", "i2": "f", "i3": None}, "word": {"i1": "t", "i2": "t", "i3": "t"}}
    >>> found = view_errors(gold, answers)
    >>> [error.item_id for error in found.errors], found.n, found.n_unanswered
    (['i1'], 2, 1)
    >>> [error.item_id for error in view_errors(gold, answers, wrong="word", right="full").errors]
    ['i2']

    Errors: :class:`StatisticError` where a view has no answers at all.
    """
    missing = [view for view in (wrong, right) if view not in answers]
    if missing:
        raise StatisticError(f"no answers in the view {missing[0]}; valid names: {', '.join(answers) or 'none'}")
    both = [item for item in gold if answers[wrong].get(item) is not None and answers[right].get(item) is not None]
    astray = [item for item in both if not is_right(answers[wrong][item], gold[item])]
    chosen = [item for item in astray if is_right(answers[right][item], gold[item])]
    errors = tuple(
        ViewError(
            item,
            (words or {}).get(item, ""),
            gold[item],
            str(answers[wrong][item]),
            wrong,
            right,
            (distractors or {}).get(item, ""),
        )
        for item in chosen
    )
    return ViewErrors(wrong, right, errors, len(both), len(gold) - len(both))


def distractor_by_occlusion(tokens: Sequence[str], drops: ArrayLike, *, target: Collection[int] = ()) -> str:
    """Return the context word without which the wrong answer loses most; empty where it loses nothing without any.

    *Shape:* drops (tokens,): the score of the wrong answer with all words minus its score without this one (hidden by a
    mask). *target* are the places of the target, which is not context. The first of equals is taken.

    >>> distractor_by_occlusion(["the", "bank", "of", "England"], [0.1, 0.9, 0.0, 0.4], target=[1])
    'England'

    Errors: :class:`StatisticError` where tokens and drops differ in number, or a drop is missing.
    """
    lost = np.asarray(drops, dtype=np.float64).copy()
    if lost.shape != (len(tokens),) or not np.isfinite(lost).all():
        raise StatisticError(f"{len(tokens)} words need as many drops, all of them numbers; there are {lost.size}")
    lost[list(target)] = -np.inf
    if not len(lost) or lost.max() <= 0:
        return ""
    return tokens[int(lost.argmax())]


def distractor_by_overlap(
    context: str,
    retrieved: str,
    *,
    right: str = "",
    target: str = "",
    frequency: Mapping[str, int] | None = None,
    ignored: Collection[str] = FUNCTION_WORDS,
) -> str:
    """Return the context word that is in the wrongly retrieved entry too, and not in the right one.

    *retrieved* and *right* are name and description of the two entries, *target* the target word. Words of fewer than
    four letters and the *ignored* ones do not count; case does not matter, inflection does. Of several the rarest by
    *frequency* is taken (without it the longest), of equals the first; empty where there is none.

    >>> distractor_by_overlap(
    ...     "The Jaguar was seen near the factory in the forest.",
    ...     "Jaguar Cars: a maker of cars with a factory in Coventry",
    ...     right="Jaguar: a large cat of the forest",
    ...     target="Jaguar",
    ... )
    'factory'
    """
    excluded = {*map(str.casefold, ignored), *_content_words(right), *_content_words(target)}
    entry = set(_content_words(retrieved))
    shared = [word for word in _content_words(context) if word in entry and word not in excluded]
    if not shared:
        return ""
    if frequency is not None:
        return min(shared, key=lambda word: frequency.get(word, 0))
    return max(shared, key=len)


def _content_words(text: str) -> list[str]:
    return [word.casefold() for word in re.findall(r"[^\W\d_]+", text) if len(word) >= _SHORTEST]
