"""The coverage study: how often the 95 % intervals hold the truth in simulated studies whose truth is known.

A case is a statistic, a design, the sizes of it, and a function that simulates one study of a size and returns the
interval with the truth. Every function calls what a user calls, with its default settings but for the number of
resamples. ``python -m tests.analysis.coverage`` prints the table as Markdown (``make coverage`` writes
docs/reference/coverage.md); ``test_coverage.py`` holds the shares to the goal.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats
from tests.analysis.coverage_agreement import CASES as AGREEMENT
from tests.analysis.coverage_norming import CASES as NORMING

from lexiscope.analysis.accuracy import accuracy, contrast
from lexiscope.analysis.bias.bias import context_word_bias
from lexiscope.analysis.bias.view_scores import FixedScore, Scores, ViewScores
from lexiscope.analysis.bootstrap import bootstrap, grouped_mean_interval, mean_interval, percentile_interval
from lexiscope.analysis.correlation import correlation_draws, pearson, r_squared, spearman
from lexiscope.analysis.layers.expected_layer import expected_layers
from lexiscope.analysis.layers.layers import correlations_by_layer
from lexiscope.analysis.norms.decomposition import explained_variance, variance_decomposition
from lexiscope.core.result import Estimate, Interval

FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Study = Callable[[np.random.Generator, int], tuple[float, float, float]]
"""One simulated study of a size: the bounds of the interval, and the truth. A set without bounds gives infinities."""

GOAL = (93.5, 96.5)
"""Where the share of intervals that hold the truth shall lie, in percent, but for the error of the simulation."""

RESAMPLES = 1000


@dataclass(frozen=True)
class Case:
    """One statistic in one design; ``least`` and ``most`` are the goal unless ``why`` says why they are not."""

    statistic: str
    design: str
    sizes: Sequence[int]
    study: Study
    least: float = GOAL[0]
    most: float = GOAL[1]
    why: str = ""


@dataclass(frozen=True)
class Cell:
    """The share of studies of one size whose interval holds the truth, in percent; it lies below and above it."""

    case: Case
    size: int
    n_studies: int
    covered: float
    too_low: float
    too_high: float

    @property
    def error(self) -> float:
        """What the share may be off by chance: 2.6 standard errors of a share of 95 %, in percent."""
        return 260 * math.sqrt(0.95 * 0.05 / self.n_studies)

    @property
    def holds(self) -> bool:
        """Whether the share lies within the bounds of the case, but for the error of the simulation."""
        return self.case.least - self.error <= self.covered <= self.case.most + self.error


def run(case: Case, size: int, n_studies: int) -> Cell:
    """Return the coverage of one cell; its draws depend on its names alone, not on the cells before it."""
    rng = np.random.default_rng(zlib.crc32(f"{case.statistic}, {case.design}, {size}".encode()))
    outside = [0, 0]
    for _ in range(n_studies):
        low, high, truth = case.study(rng, size)
        if math.isnan(low) or math.isnan(high):
            raise AssertionError(f"{case.statistic}, {case.design}, {size}: a study without an interval")
        # the truth of a share or of 0 may be a bound itself, but for rounding
        outside[0] += high < truth - 1e-12
        outside[1] += low > truth + 1e-12
    shares = [100 * count / n_studies for count in outside]
    return Cell(case, size, n_studies, 100 - sum(shares), *shares)


# -- simulated data -----------------------------------------------------------------------------------------------

ITEMS = 6
"""Items of a word."""


def by_word(rng: np.random.Generator, n_words: int, shared: float = 0.5) -> FloatArray:
    """Standard normal values of items; a word's items share a part of the variance. *Shape:* (words × items,)."""
    of_word, own = rng.normal(size=(n_words, 1)), rng.normal(size=(n_words, ITEMS))
    return np.asarray(math.sqrt(shared) * of_word + math.sqrt(1 - shared) * own).ravel()


def related(rng: np.random.Generator, n_words: int, y: FloatArray, r: float) -> FloatArray:
    """Values that correlate with y as r, of which the rest is shared by a word's items too."""
    return np.asarray(r * y + math.sqrt(1 - r * r) * by_word(rng, n_words))


def words_of(n_words: int) -> list[str]:
    return [f"w{word:03}" for word in range(n_words) for _ in range(ITEMS)]


def rank_correlation(r: float) -> float:
    """Spearman's rho of the population of two normal variables (Pearson 1907)."""
    return 6 / math.pi * math.asin(r / 2)


def ends(interval: Interval, truth: float) -> tuple[float, float, float]:
    return interval.low, interval.high, truth


# -- the studies --------------------------------------------------------------------------------------------------


def correlation_by_word(
    rng: np.random.Generator, n: int, *, statistic: Callable[..., Estimate], r: float, truth: float
) -> tuple[float, float, float]:
    y = by_word(rng, n)
    return ends(statistic(related(rng, n, y, r), y, groups=words_of(n), resamples=RESAMPLES).interval, truth)


def correlation_of_pairs(
    rng: np.random.Generator, n: int, *, statistic: Callable[..., Estimate], r: float, truth: float
) -> tuple[float, float, float]:
    y = rng.normal(size=n)
    x = r * y + math.sqrt(1 - r * r) * rng.normal(size=n)
    return ends(statistic(x, y, resamples=RESAMPLES).interval, truth)


def difference_of_correlations(rng: np.random.Generator, n: int, *, rs: tuple[float, float]) -> tuple[float, ...]:
    y = by_word(rng, n)
    columns = np.column_stack([related(rng, n, y, r) for r in rs])
    drawn = correlation_draws(columns, y, kind="pearson", groups=words_of(n), resamples=RESAMPLES)
    return ends(percentile_interval(drawn[:, 0] - drawn[:, 1], n_groups=n), rs[0] - rs[1])


def slope_by_word(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    x = by_word(rng, n)
    y = 0.5 * x + by_word(rng, n)

    def slope(rows: FloatArray) -> float:
        centred = x[rows] - x[rows].mean()
        return float(centred @ y[rows] / (centred @ centred))

    return ends(bootstrap(slope, len(x), groups=words_of(n), resamples=400), 0.5)


def several_predictors(rng: np.random.Generator, n: int, *, of_noise: int = 0) -> tuple[float, float, float]:
    """Two predictors explain .41 of the variance, and the others nothing."""
    columns = [by_word(rng, n) for _ in range(2 + of_noise)]
    y = 0.5 * columns[0] + 0.4 * columns[1] + math.sqrt(1 - 0.25 - 0.16) * by_word(rng, n)
    made = explained_variance(y, {"all": np.column_stack(columns)}, groups=words_of(n), resamples=RESAMPLES)
    return ends(made["all"].interval, 0.41)


def part_of_variance(rng: np.random.Generator, n: int, *, part: int, added: float) -> tuple[float, float, float]:
    """A second predictor, which correlates with the first at .4, adds *added* to .36; *part*: of the decomposition."""
    first = by_word(rng, n)
    second = related(rng, n, first, 0.4)
    slope = math.sqrt(added / (1 - 0.16))
    y = (0.6 - 0.4 * slope) * first + slope * second + math.sqrt(1 - 0.36 - added) * by_word(rng, n)
    parts = variance_decomposition(y, first, second, groups=words_of(n), resamples=RESAMPLES)
    # r of y and the second predictor
    alone = (0.4 * (0.6 - 0.4 * slope) + slope) ** 2
    interval = parts[part].interval
    assert interval is not None
    return ends(interval, {4: added, 5: alone - added}[part])


def mean_of_values(rng: np.random.Generator, n: int, *, kind: str) -> tuple[float, float, float]:
    draw = {
        "normal": lambda: rng.normal(size=n),
        "exponential": lambda: rng.exponential(size=n) - 1,
        "log-normal": lambda: np.exp(rng.normal(size=n)) - math.exp(0.5),
    }
    return ends(mean_interval(draw[kind]()), 0.0)


def mean_by_word(rng: np.random.Generator, n: int, *, kind: str = "normal") -> tuple[float, float, float]:
    values = by_word(rng, n) if kind == "normal" else np.repeat(rng.exponential(size=n) - 1, ITEMS)
    return ends(grouped_mean_interval(values, words_of(n), resamples=RESAMPLES), 0.0)


def share_of_clusters(
    rng: np.random.Generator, n: int, *, share: float, shared: float, items: int = ITEMS
) -> tuple[float, float, float]:
    size = 1 / shared - 1
    right = rng.random((n, items)) < rng.beta(share * size, (1 - share) * size, size=(n, 1))
    clusters = np.repeat(np.arange(n), items)
    return ends(accuracy(right.ravel(), clusters=clusters).clustered, share)


def share_of_items(rng: np.random.Generator, n: int, *, share: float) -> tuple[float, float, float]:
    return ends(accuracy(rng.random(n) < share).clustered, share)


def difference_of_shares(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    # of each item's two chances a part is the cluster's
    easy = rng.normal(size=(n, 1))
    first, second = (
        stats.norm.cdf(shift + easy) > rng.random((n, ITEMS)) for shift in (stats.norm.ppf(0.75), stats.norm.ppf(0.6))
    )
    truth = sum(sign * stats.norm.cdf(stats.norm.ppf(p) / math.sqrt(2)) for sign, p in ((1, 0.75), (-1, 0.6)))
    made = contrast(first.ravel(), second.ravel(), clusters=np.repeat(np.arange(n), ITEMS), resamples=RESAMPLES)
    return ends(made.interval, float(truth))


def bias_of_context(rng: np.random.Generator, n: int, *, full: float) -> tuple[float, float, float]:
    """The whole input is right with the probability *full*, the context with half of what that is above .5."""
    words, part = np.repeat(np.arange(n), 4), 0.5 + (full - 0.5) / 2
    views: Scores = {
        view: ViewScores((rng.random((n, 4)) < p).astype(float).ravel(), words)
        for view, p in (("full", full), ("context", part))
    } | {"label": FixedScore(0.5, "assumed")}
    interval = context_word_bias(views, resamples=RESAMPLES).context.interval
    if interval.is_defined:
        return ends(interval, 0.5)
    return ends_of_set(interval.note, 0.5)


def ends_of_set(note: str, truth: float) -> tuple[float, float, float]:
    """A set without bounds as a half-line that holds the truth, where the set does; else as one that does not."""
    if "every value" in note:
        return -math.inf, math.inf, truth
    low, high = (float(text.replace("−", "-")) for text in note.split("values below ")[1].split()[0:4:3])
    return (-math.inf, low, truth) if truth < high else (high, math.inf, truth)


LAYERS = 13


def of_layers(rng: np.random.Generator, n: int, rs: Sequence[float]) -> tuple[FloatArray, FloatArray, list[str]]:
    """Columns of layers that correlate with y as rs, what is left of which is alike in part."""
    y = by_word(rng, n)
    common, columns = by_word(rng, n), []
    for r in rs:
        rest = math.sqrt(0.3) * common + math.sqrt(0.7) * by_word(rng, n)
        columns.append(r * y + math.sqrt(1 - r * r) * rest)
    return np.column_stack(columns), y, words_of(n)


ALIKE = (0.37,) * LAYERS
RISING = (0.0, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.55, 0.5, 0.45, 0.4)


def chosen_layer(rng: np.random.Generator, n: int, *, rs: Sequence[float]) -> tuple[float, float, float]:
    """The truth is that of the layer that was the best on these items."""
    columns, y, words = of_layers(rng, n, rs)
    curve = correlations_by_layer(columns, y, kind="r_squared", groups=words, resamples=RESAMPLES, choice=True)
    assert isinstance(curve.chosen, Estimate)
    return ends(curve.chosen.interval, rs[curve.best or 0] ** 2)


def highest_layer(rng: np.random.Generator, n: int, *, rs: Sequence[float]) -> tuple[float, float, float]:
    columns, y, words = of_layers(rng, n, rs)
    curve = correlations_by_layer(columns, y, kind="r_squared", groups=words, resamples=RESAMPLES)
    interval = curve.best_value().interval
    assert interval is not None
    return ends(interval, rs[curve.best or 0] ** 2)


def expected_layer_of(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    """Each layer explains what is not in those before it: .16, .16 and .09 of the variance at layers 1, 2 and 3."""
    parts = [by_word(rng, n) for _ in range(3)]
    y = 0.4 * parts[0] + 0.4 * parts[1] + 0.3 * parts[2] + math.sqrt(1 - 0.16 - 0.16 - 0.09) * by_word(rng, n)
    columns = np.column_stack([np.zeros(len(y)), *np.cumsum(parts, axis=0)])
    # of layer 1 alone, 1 + 2 and 1 + 2 + 3: sums of the parts span the parts
    made = expected_layers(columns, y, "r_squared", groups=words_of(n), resamples=RESAMPLES)[0]
    assert isinstance(made, Estimate)
    return ends(made.interval, (0.16 * 1 + 0.16 * 2 + 0.09 * 3) / 0.41)


SHORT = "known to be short: so few values do not show how long the tail is"
WIDE = "known to be wide: it allows for more choice than there is"
FEW = "known to be wide: so few words hardly show how much words differ"
MANY = "known to be short: R² of many predictors in few words is too high, as R² without adjustment is"
NAIVE = "known to be false: the layer was chosen on the same items; the row above allows for it"

CASES: tuple[Case, ...] = (
    *(
        Case(name, f"by word × {ITEMS} items, ρ .5", (12, 25, 60), partial(correlation_by_word, **how))  # type: ignore[arg-type]
        for name, how in {
            "Pearson's r": {"statistic": pearson, "r": 0.5, "truth": 0.5},
            "Spearman's ρ": {"statistic": spearman, "r": 0.5, "truth": rank_correlation(0.5)},
            "R²": {"statistic": r_squared, "r": 0.5, "truth": 0.25},
        }.items()
    ),
    *(
        Case(name, "independent pairs, ρ .5", (20, 40, 100), partial(correlation_of_pairs, **how))  # type: ignore[arg-type]
        for name, how in {
            "Pearson's r": {"statistic": pearson, "r": 0.5, "truth": 0.5},
            "Spearman's ρ": {"statistic": spearman, "r": 0.5, "truth": rank_correlation(0.5)},
            "R²": {"statistic": r_squared, "r": 0.5, "truth": 0.25},
        }.items()
    ),
    Case("R²", f"by word × {ITEMS} items, ρ 0", (12, 25, 60), partial(
        correlation_by_word, statistic=r_squared, r=0.0, truth=0.0)),
    Case("Pearson's r", f"few words × {ITEMS} items, ρ .5", (3, 4, 5, 6), partial(
        correlation_by_word, statistic=pearson, r=0.5, truth=0.5), most=100.0, why=FEW),
    Case("Pearson's r", f"by word × {ITEMS} items, ρ .8", (12, 25), partial(
        correlation_by_word, statistic=pearson, r=0.8, truth=0.8)),
    Case("difference of two r", "by word, .6 and .6", (12, 25, 60), partial(difference_of_correlations, rs=(0.6, 0.6))),  # type: ignore[arg-type]
    Case("difference of two r", "by word, .8 and .4", (12, 25, 60), partial(difference_of_correlations, rs=(0.8, 0.4))),  # type: ignore[arg-type]
    Case("difference of two r", "few words, .6 and .6", (3, 4, 5, 6), partial(
        difference_of_correlations, rs=(0.6, 0.6)), most=100.0, why=FEW),  # type: ignore[arg-type]
    Case("slope", "by word", (12, 25), slope_by_word),
    Case("R² of two predictors", "by word", (12, 25, 60), several_predictors),
    Case("R² of five predictors", "by word; three are noise", (25,), partial(several_predictors, of_noise=3),
        least=90.0, why=MANY),
    Case("R² of five predictors", "by word; three are noise", (60,), partial(several_predictors, of_noise=3)),
    Case("unique R²", "by word; the predictor adds .1", (12, 25, 60), partial(part_of_variance, part=4, added=0.1)),
    Case("unique R²", "by word; the predictor adds nothing", (12, 25, 60), partial(
        part_of_variance, part=4, added=0.0)),
    Case("shared R²", "by word", (12, 25, 60), partial(part_of_variance, part=5, added=0.1)),
    Case("mean of values", "normal", (5, 10, 20), partial(mean_of_values, kind="normal")),
    Case("mean of values", "exponential", (10, 20, 60), partial(mean_of_values, kind="exponential")),
    Case("mean of values", "log-normal", (20, 60), partial(mean_of_values, kind="log-normal"), least=89.0, why=SHORT),
    Case("mean by word", f"by word × {ITEMS} items", (3, 4, 5, 6, 12, 25), mean_by_word),
    Case("mean by word", "words exponential", (12, 25, 60), partial(mean_by_word, kind="exponential"),
        least=89.0, why=SHORT),
    Case("accuracy .7", f"by sentence × {ITEMS} items", (10, 15, 30), partial(
        share_of_clusters, share=0.7, shared=0.3)),
    Case("accuracy .9", f"by sentence × {ITEMS} items", (15, 30, 100), partial(
        share_of_clusters, share=0.9, shared=0.2)),
    Case("accuracy .9", "independent items", (40, 100, 400), partial(share_of_items, share=0.9)),
    Case("difference of accuracies", f"by sentence × {ITEMS} items", (15, 30, 100), difference_of_shares),
    *(
        Case("context bias .5", f"4 items a word, FULL {full:g}, LABEL .5", (20, 50, 200), partial(
            bias_of_context, full=full))
        for full in (0.8, 0.6)
    ),
    Case("Expected Layer by R²", "by word, 3 layers", (25, 60), expected_layer_of),
    Case("R² at the best layer, cross-fitted", f"{LAYERS} layers that differ", (12, 25, 60), partial(
        chosen_layer, rs=RISING), most=100.0, why=WIDE),
    Case("R² at the best layer, naive", f"{LAYERS} layers that differ", (12, 25, 60), partial(
        highest_layer, rs=RISING), least=0.0, why=NAIVE),
    Case("R² at the best layer, cross-fitted", f"{LAYERS} layers alike", (25, 60), partial(
        chosen_layer, rs=ALIKE), most=100.0, why=WIDE),
    Case("R² at the best layer, naive", f"{LAYERS} layers alike", (25, 60), partial(
        highest_layer, rs=ALIKE), least=0.0, why=NAIVE),
)  # fmt: skip


# -- the table ----------------------------------------------------------------------------------------------------


def table(cells: Sequence[Cell]) -> str:
    """Return the cells as a Markdown table, a row for each."""
    head = ("Statistic", "Design", "n", "Contains the value, %", "Interval below, %", "Interval above, %", "")
    rows = [
        (
            cell.case.statistic,
            cell.case.design,
            str(cell.size),
            f"{cell.covered:.1f}",
            f"{cell.too_low:.1f}",
            f"{cell.too_high:.1f}",
            cell.case.why or ("" if cell.holds else "outside the goal"),
        )
        for cell in cells
    ]
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def every_case() -> tuple[Case, ...]:
    """Return the cells of this file, those of agreement, and those of norms, which are of published data (RAW-C)."""
    agreement = (Case(case["statistic"], case["design"], case["n"], case["function"]) for case in AGREEMENT)
    norming = (
        Case(
            case["statistic"], case["design"], case["n"], case["function"], most=100.0 if case["why"] else GOAL[1],
            why=case["why"],
        )
        for case in NORMING
    )  # fmt: skip
    return (*CASES, *agreement, *norming)


def page(n_studies: int) -> str:
    """Return docs/reference/coverage.md: every cell, of so many simulated studies."""
    cells = [run(case, size, n_studies) for case in every_case() for size in case.sizes]
    return f"""# Coverage of intervals

`make coverage` writes this page from tests/analysis/coverage.py; do not edit it.

A 95 % interval should contain the true value in 95 of 100 studies. Each row is {n_studies} simulated studies with
a known true value. Each is analysed by the functions that studies use, with default settings ({RESAMPLES} resamples
instead of 2000). The goal is {GOAL[0]:g} to {GOAL[1]:g} %; chance moves a share of {n_studies} studies by up to
{cells[0].error:.1f} points. `make soak` runs this and fails if a row leaves the goal by more. n counts words,
sentences or raters if the design names them, otherwise items.

{table(cells)}
"""


if __name__ == "__main__":
    sys.stdout.write(page(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
