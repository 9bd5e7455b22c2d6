"""Senses of a word from the vectors of its usages: a mixture of round clusters, and how many of them the data support.

Vectors are taken to the principal components that most of their variance lies in. There, each sense is a normal
distribution with one variance in every direction, the same for all senses of the word (k-means with shares and
probabilities). The number of senses is given, or chosen by the usages themselves, by one of three rules:

- ``likelihood``: the mean log-likelihood of usages that were held out, fold by fold; of the numbers of senses whose
  likelihood is within one standard error of the best, the smallest.
- ``silhouette``: the number with the highest mean silhouette; one sense where data of one normal distribution with the
  same covariance reach as high a silhouette in more than 5 % of draws.
- ``stick_breaking``: a mixture with more senses than needed, whose shares have a Dirichlet process as prior; the senses
  that hold at least 5 % of the usages count.

*Source:* Hastie, Tibshirani & Friedman (2009), §7.10 (one standard error); Rousseeuw (1987); Blei & Jordan (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.core.errors import StatisticError, require

Doubles = NDArray[np.float64]
Rule = Literal["likelihood", "silhouette", "stick_breaking"]
RULES: tuple[Rule, ...] = get_args(Rule)

_FOLDS, _STEPS, _NULL_DRAWS, _SMALLEST = 5, 50, 20, 0.05


@dataclass(frozen=True, slots=True)
class WordClusters:
    """The senses of a word.

    ``centres`` are in the space of the vectors, ``shares`` sum to 1, ``spread`` is the standard deviation of usages
    around their centre in each direction. ``labels`` is the sense of each usage, the most frequent sense is 0.
    ``scores`` has what each number of senses reached under the rule, by number; empty where the number was given.
    *Shape:* centres (senses, width); shares (senses,); labels (usages,).
    """

    centres: Doubles
    shares: Doubles
    spread: float
    labels: NDArray[np.int64]
    scores: dict[int, float]

    @property
    def n_senses(self) -> int:
        """How many senses there are."""
        return len(self.shares)


@dataclass(frozen=True, slots=True)
class _Mixture:
    means: Doubles
    shares: Doubles
    variance: float

    def log_joint(self, points: Doubles) -> Doubles:
        """Return the logarithm of share × density of each point and cluster. *Shape:* (points, clusters)."""
        squares = ((points[:, None, :] - self.means) ** 2).sum(axis=2)
        width = points.shape[1]
        constant = -0.5 * width * np.log(2 * np.pi * self.variance)
        return np.asarray(np.log(self.shares) + constant - squares / (2 * self.variance))


def cluster_usages(
    vectors: ArrayLike,
    *,
    n_senses: int | None = None,
    rule: Rule = "likelihood",
    most: int = 6,
    dimensions: int = 8,
    seed: int = 0,
) -> WordClusters:
    """Return the senses of a word: a given number, or as many as the *rule* finds, at most *most*.

    *Shape:* vectors (usages, width). *dimensions* are the principal components that are kept, at most a fifth of the
    usages. Errors: :class:`StatisticError` for fewer than ten usages, more senses than usages, or a number that is not
    finite; :class:`MissingExtraError` without scikit-learn.

    >>> points = np.vstack([np.random.default_rng(0).normal(place, 1, (40, 3)) for place in (0, 9)])
    >>> cluster_usages(points).n_senses, cluster_usages(points[:40]).n_senses
    (2, 1)
    """
    rows = np.asarray(vectors, np.float64)
    if rows.ndim != 2 or len(rows) < 10 or not np.isfinite(rows).all():
        raise StatisticError(f"senses need ten usages or more with finite vectors, not an array of shape {rows.shape}")
    if n_senses is not None and not 1 <= n_senses <= len(rows) // 2:
        raise StatisticError(f"{n_senses} senses cannot be distinguished in {len(rows)} usages")
    middle = rows.mean(axis=0)
    _, _, directions = np.linalg.svd(rows - middle, full_matrices=False)
    directions = directions[: max(1, min(dimensions, len(rows) // 5))]
    points = (rows - middle) @ directions.T
    most = min(most, len(rows) // 5)
    scores: dict[int, float] = {}
    if n_senses is None:
        chooser = {"likelihood": _by_likelihood, "silhouette": _by_silhouette, "stick_breaking": _by_stick_breaking}
        n_senses, scores = chooser[rule](points, most, seed)
    mixture = _fit(points, n_senses, seed)
    order = np.argsort(-mixture.shares, kind="stable")
    labels = mixture.log_joint(points)[:, order].argmax(axis=1)
    centres = middle + mixture.means[order] @ directions
    return WordClusters(centres, mixture.shares[order], float(np.sqrt(mixture.variance)), labels, scores)


def _fit(points: Doubles, n_senses: int, seed: int) -> _Mixture:
    """Fit the mixture: k-means first, then expectation and maximisation."""
    cluster = require("sklearn.cluster", "senses")
    starts = cluster.KMeans(n_clusters=n_senses, n_init=5, random_state=seed).fit(points)
    weights = np.eye(n_senses)[starts.labels_]
    # points that are all alike have no variance, and a density without end
    least = 1e-6 * max(float(points.var()), 1e-12)
    for _ in range(_STEPS):
        sizes = np.maximum(weights.sum(axis=0), 1e-9)
        means = (weights.T @ points) / sizes[:, None]
        squares = ((points[:, None, :] - means) ** 2).sum(axis=2)
        variance = max(float((weights * squares).sum() / points.size), least)
        mixture = _Mixture(means, sizes / sizes.sum(), variance)
        logs = mixture.log_joint(points)
        new = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
        if np.abs(new - weights).max() < 1e-6:
            break
        weights = new
    return mixture


def _by_likelihood(points: Doubles, most: int, seed: int) -> tuple[int, dict[int, float]]:
    folds = np.random.default_rng(seed).permutation(len(points)) % _FOLDS
    held_out: dict[int, Doubles] = {}
    for n_senses in range(1, most + 1):
        logs = np.empty(len(points))
        for fold in range(_FOLDS):
            out = folds == fold
            logs[out] = np.logaddexp.reduce(_fit(points[~out], n_senses, seed).log_joint(points[out]), axis=1)
        held_out[n_senses] = logs
    best = max(held_out, key=lambda n_senses: float(held_out[n_senses].mean()))
    lost = {number: held_out[best] - logs for number, logs in held_out.items()}
    # the best loses nothing against itself: there is always a number
    fewest = next(n for n, own in lost.items() if own.mean() <= own.std(ddof=1) / np.sqrt(len(own)))
    return fewest, {number: float(logs.mean()) for number, logs in held_out.items()}


def _silhouettes(points: Doubles, most: int, seed: int, starts: int) -> dict[int, float]:
    cluster, metrics = require("sklearn.cluster", "senses"), require("sklearn.metrics", "senses")
    scores = {}
    for n_senses in range(2, most + 1):
        labels = cluster.KMeans(n_clusters=n_senses, n_init=starts, random_state=seed).fit(points).labels_
        scores[n_senses] = float(metrics.silhouette_score(points, labels)) if len(set(labels.tolist())) > 1 else -1.0
    return scores


def _by_silhouette(points: Doubles, most: int, seed: int) -> tuple[int, dict[int, float]]:
    scores = _silhouettes(points, most, seed, 5)
    if not scores:
        return 1, {}
    generator, deviations = np.random.default_rng(seed), points.std(axis=0)
    # the directions are principal components: the covariance of the points is that of independent coordinates
    null = [
        max(_silhouettes(generator.normal(0.0, deviations, points.shape), most, seed, 1).values())
        for _ in range(_NULL_DRAWS)
    ]
    best = max(scores, key=lambda n_senses: scores[n_senses])
    as_high = sum(score >= scores[best] for score in null)
    return (1 if as_high > _SMALLEST * _NULL_DRAWS else best), scores


def _by_stick_breaking(points: Doubles, most: int, seed: int) -> tuple[int, dict[int, float]]:
    mixture = require("sklearn.mixture", "senses").BayesianGaussianMixture(
        n_components=most,
        covariance_type="spherical",
        weight_concentration_prior_type="dirichlet_process",
        weight_concentration_prior=1.0 / most,
        max_iter=500,
        n_init=2,
        tol=1e-2,
        random_state=seed,
    )
    labels = mixture.fit(points).predict(points)
    held = np.bincount(labels, minlength=most) / len(points)
    shares = {number: float(share) for number, share in enumerate(sorted(held.tolist(), reverse=True), start=1)}
    return max(1, int((held >= _SMALLEST).sum())), shares
