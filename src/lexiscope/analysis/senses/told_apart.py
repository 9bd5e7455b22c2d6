"""Which induced senses of a word people distinguish, and what it brings to keep only those.

In sense selection a page has a group of words for each sense; the model chose one of them by the sentence. Two senses
are distinguished where people, among those who chose one of the two, mostly chose the model's: the mean of the shares
on pages of the one and on pages of the other, so that a group which everybody likes best tells nothing. Senses that are
not distinguished become one, the worst pair first, until none is left.

Whether that helps is not seen in the same answers, which chose the senses. Senses are chosen by half of the people on
half of the pages, and judged by the other people on the other pages, both ways round, over several random halvings.
Joining senses makes it easier to hit one: what is compared is the share of judgments with the model's sense *less* what
blind choices hit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.bootstrap import percentile_interval, ratio_draws
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import NO_INTERVAL, Estimate, statistic_name
from lexiscope.core.settings import Option

Texts = NDArray[np.str_]
Senses = Mapping[str, Mapping[str, str]]
"""The sense that stands for each sense of each word: itself, or the one that it was joined to."""

_ALL, _KEPT = "all", "told_apart"


@dataclass(frozen=True, slots=True)
class SenseJudgments:
    """Judgments of sense selection, a row each: the word, page, person, the model's sense, the sense that was chosen.

    ``n_groups`` is how many groups the page shows. *Shape:* (judgments,) each.
    """

    words: Texts
    pages: Texts
    people: Texts
    model: Texts
    chosen: Texts
    n_groups: NDArray[np.int64]

    def where(self, rows: NDArray[np.bool_]) -> SenseJudgments:
        """Return the judgments of some rows."""
        own = (self.words, self.pages, self.people, self.model, self.chosen)
        words, pages, people, model, chosen = (column[rows] for column in own)
        return SenseJudgments(words, pages, people, model, chosen, self.n_groups[rows])


@dataclass(frozen=True, slots=True)
class JoinedPair:
    """Two senses of a word that were not distinguished: ``dropped`` became ``kept``.

    ``share`` is how often people chose the model's of the two, of ``n`` judgments with one of them. *Chance:* .5.
    """

    word: str
    dropped: str
    kept: str
    share: float
    n: int


@dataclass(frozen=True, slots=True)
class ToldApart:
    """The senses that are kept, and what they bring on other people's answers to other pages.

    ``before`` and ``after`` are shares of judgments with the model's sense less those of blind choices, of all senses
    and of those that are kept; ``difference`` is the second less the first. *Range:* −1 to 1. ``n_splits`` halvings
    were made; ``n_held_out`` is the mean number of held-out judgments of one of them.
    """

    senses: Senses
    joined: tuple[JoinedPair, ...]
    before: Estimate
    after: Estimate
    difference: Estimate
    n_splits: int
    n_held_out: float

    def results(self) -> tuple[Estimate, ...]:
        """Return the three estimates, and how many senses were dropped."""
        return self.before, self.after, self.difference, Estimate("n_senses_dropped", float(len(self.joined)))


def join_senses(
    judgments: SenseJudgments, *, least: float = 0.7, fewest: int = 6
) -> tuple[Senses, tuple[JoinedPair, ...]]:
    """Return the sense that stands for each sense of each word, and the pairs that were joined, in their order.

    A pair is joined where the model's of the two was chosen in less than *least* of *fewest* judgments or more. What
    stands for both is the one that the model chooses on more pages.

    >>> column = lambda text: np.array(text.split())
    >>> judgments = SenseJudgments(column("w " * 8), column("a a a a b b b b"), column("p q r s " * 2),
    ...     column("1 1 1 1 2 2 2 2"), column("1 2 1 2 1 2 1 2"), np.full(8, 3))
    >>> join_senses(judgments)[0], join_senses(judgments)[1][0].share
    ({'w': {'1': '1', '2': '1'}}, 0.5)
    """
    senses: dict[str, dict[str, str]] = {}
    joined = []
    for word in dict.fromkeys(judgments.words.tolist()):
        own = judgments.where(judgments.words == word)
        pages = Counter(dict(zip(own.pages.tolist(), own.model.tolist(), strict=True)).values())
        stands = {sense: sense for sense in sorted({*own.model.tolist(), *own.chosen.tolist()})}
        while pair := _worst_pair(own, stands, fewest):
            first, second, share, n = pair
            if share >= least:
                break
            kept, dropped = (first, second) if pages[first] >= pages[second] else (second, first)
            stands = {sense: kept if name == dropped else name for sense, name in stands.items()}
            joined.append(JoinedPair(word, dropped, kept, share, n))
        senses[word] = stands
    return senses, tuple(joined)


def _worst_pair(
    judgments: SenseJudgments, stands: Mapping[str, str], fewest: int
) -> tuple[str, str, float, int] | None:
    """Return the pair of senses distinguished worst, with the share of the model's sense and how many judged."""
    model, chosen = (np.array([stands[name] for name in column.tolist()])
                     for column in (judgments.model, judgments.chosen))  # fmt: skip
    asked = sorted(set(model.tolist()))
    worst: tuple[str, str, float, int] | None = None
    for place, first in enumerate(asked):
        for second in asked[place + 1 :]:
            between = np.isin(model, (first, second)) & np.isin(chosen, (first, second))
            sides = [between & (model == name) for name in (first, second)]
            if between.sum() < fewest or not all(side.any() for side in sides):
                continue
            share = float(np.mean([np.mean(chosen[side] == model[side]) for side in sides]))
            if worst is None or share < worst[2]:
                worst = first, second, share, int(between.sum())
    return worst


def told_apart(
    judgments: SenseJudgments,
    *,
    least: Annotated[
        float, Option("two senses are one where a smaller share of judgments chose the model's of the two")
    ] = 0.7,
    fewest: Annotated[int, Option("judgments with one of the two that it takes to join them", least=2)] = 6,
    splits: Annotated[int, Option("random halvings of people and pages", least=1)] = 20,
    resamples: Annotated[int, Option("resamples of words, for intervals", flag="--bootstrap", least=0)] = 2000,
    seed: Annotated[int, Option("of the halvings and the intervals", least=0)] = 0,
) -> ToldApart:
    """Return the senses that people distinguish, by all judgments, and what keeping them brings, by held-out ones.

    Half of the people on half of the pages has about a quarter of the judgments: *fewest* is a quarter there, two at
    least. Intervals resample words. Errors: :class:`StatisticError` for fewer than two people, or words.
    """
    words = np.unique(judgments.words)
    if len(words) < 2 or len(np.unique(judgments.people)) < 2:
        raise StatisticError("senses are chosen and judged by different people: it needs two people and two words")
    senses, joined = join_senses(judgments, least=least, fewest=fewest)
    sums, n_held_out = np.zeros((3, len(words))), 0
    for chosen_by, judged_by in _halves(judgments, splits, seed):
        kept, _ = join_senses(judgments.where(chosen_by), least=least, fewest=max(2, fewest // 4))
        held = judgments.where(judged_by)
        codes = np.searchsorted(words, held.words)
        gains = (_above_chance(held, {}), _above_chance(held, kept), np.ones(len(codes)))
        sums += [np.bincount(codes, weights=own, minlength=len(words)) for own in gains]
        n_held_out += len(codes)
    before, after, n = sums
    tops = np.array([before, after, after - before]).T
    draws = ratio_draws(tops, n, np.arange(len(words)), len(words), resamples=resamples, seed=seed)
    names = (
        statistic_name("selection_above_chance", senses=_ALL),
        statistic_name("selection_above_chance", senses=_KEPT),
        statistic_name("selection_above_chance_difference", senses=_KEPT),
    )
    first, second, third = (
        Estimate(
            name,
            float(tops[:, column].sum() / n.sum()),
            percentile_interval(draws[:, column], resampled="words", n_groups=len(words)) if resamples else NO_INTERVAL,
            n=len(judgments.words),
            n_groups=len(words),
        )
        for column, name in enumerate(names)
    )
    return ToldApart(senses, joined, first, second, third, splits, n_held_out / (2 * splits))


def _halves(judgments: SenseJudgments, splits: int, seed: int) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Give rows that choose senses and rows that judge them, with no person and no page in common."""
    generator = np.random.default_rng(seed)
    people, of_people = np.unique(judgments.people, return_inverse=True)
    pages, of_pages = np.unique(judgments.pages, return_inverse=True)
    words_of_pages = judgments.words[np.unique(of_pages, return_index=True)[1]]
    for _ in range(splits):
        first_people = (generator.permutation(len(people)) % 2 == 0)[of_people]
        # every word has pages in both halves
        order = generator.permutation(len(pages))
        rank: Counter[str] = Counter()
        first_page = np.zeros(len(pages), np.bool_)
        for page in order.tolist():
            word = str(words_of_pages[page])
            first_page[page] = rank[word] % 2 == 0
            rank[word] += 1
        of_first = first_page[of_pages]
        yield first_people & of_first, ~first_people & ~of_first
        yield ~first_people & ~of_first, first_people & of_first


def _above_chance(judgments: SenseJudgments, senses: Senses) -> NDArray[np.float64]:
    """Return for each judgment whether it has the model's sense, less how often a blind choice has it."""
    gains = []
    columns = (judgments.words, judgments.model, judgments.chosen, judgments.n_groups)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for word, model, chosen, n_groups in rows:
        stands = senses.get(word, {})
        name = stands.get(model, model)
        size = max(1, sum(other == name for other in stands.values()))
        gains.append((stands.get(chosen, chosen) == name) - size / n_groups)
    return np.array(gains, np.float64)
