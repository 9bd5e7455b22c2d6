"""What was seen most often with a word: the answer of whoever knows the training data and looks at nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


class Prior:
    """How often each class (a sense key, a page) was seen with each word (a lemma, a mention as it is written).

    >>> prior = Prior([("bank", "bank%1"), ("bank", "bank%2"), ("bank", "bank%2"), ("bat", "bat%1")])
    >>> prior.best("bank"), prior.best("bow"), prior.best("bank", among=("bank%1", "bank%3"))
    ('bank%2', None, 'bank%1')
    """

    __slots__ = ("_counts",)

    def __init__(self, seen: Iterable[tuple[str, str]]) -> None:
        self._counts: dict[str, Counter[str]] = {}
        for word, kind in seen:
            self._counts.setdefault(word, Counter())[kind] += 1

    def __len__(self) -> int:
        return len(self._counts)

    def count(self, word: str, kind: str) -> int:
        """Return how often a class was seen with a word."""
        return self._counts.get(word, Counter())[kind]

    def best(self, word: str, *, among: Sequence[str] = ()) -> str | None:
        """Return the class that was seen most often with a word, or ``None`` for a word that was never seen.

        With *among* only these classes count, and the first of them wins a tie; else the one that was seen first does.
        """
        counts = self._counts.get(word, Counter())
        # a counter keeps the order in which its keys came
        best = max(among or counts, key=lambda kind: counts[kind], default=None)
        return best if best is not None and counts[best] else None
