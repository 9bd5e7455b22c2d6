"""Laplace's approximation of the likelihood of a cumulative link mixed model, with its exact gradient.

P(y ≤ j) = F(θ_j - η) with η = Xβ + ZΛu and u standard normal. For given parameters the mode of u is found by Newton's
method (the likelihood is log-concave in η); log L = log p(y, u) - ½ log |H| there. The gradient follows from the
derivatives of the mode and of log |H|, so that nothing is differenced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.mixed.crossed import Crossed, Factorised

Floats = NDArray[np.float64]
Link = Literal["logit", "probit"]

_MOST_STEPS = 60  # Newton steps to the mode; from the mode of a point nearby it takes two or three
_AT_MODE = 1e-16  # squared Newton decrement at which the mode is found


@dataclass(frozen=True, slots=True)
class RowTerms:
    """log P of every row and its derivatives by η and by the two thresholds around the response.

    ``slope`` and ``weight`` are the first and the negative second derivative by η, ``bend`` is that of the weight;
    those of the upper and the lower threshold are pairs. *Shape:* (rows,) each.
    """

    log_p: Floats
    slope: Floats
    weight: Floats
    bend: Floats
    by_threshold: tuple[Floats, Floats]
    slope_by_threshold: tuple[Floats, Floats]
    weight_by_threshold: tuple[Floats, Floats]


def row_terms(link: Link, upper: Floats, lower: Floats) -> RowTerms:
    """Return log (F(upper) - F(lower)) and its derivatives; ends may be infinite. *Shape:* (rows,)."""
    return _logit(upper, lower) if link == "logit" else _probit(upper, lower)


def _logit(upper: Floats, lower: Floats) -> RowTerms:
    # With s = F(upper), c = 1 - F(lower): P = s c (1 - exp(lower - upper)), without a difference of near numbers.
    from scipy.special import expit

    s, c = expit(upper), expit(-lower)
    gap = np.exp(lower - upper)
    f, g = s * (1 - s), c * (1 - c)
    df, dg = f * (1 - 2 * s), g * (2 * c - 1)
    between = gap / (1 - gap)
    return RowTerms(
        log_p=np.log(s * c * (1 - gap)),
        slope=s - c,
        weight=f + g,
        bend=-(df + dg),
        by_threshold=(1 - s + between, c - 1 - between),
        slope_by_threshold=(f, g),
        weight_by_threshold=(df, dg),
    )


def _probit(upper: Floats, lower: Floats) -> RowTerms:
    from scipy.special import log_ndtr

    # in the lower tail, where differences keep their digits
    flipped = upper + lower > 0
    with np.errstate(invalid="ignore"):
        high, low = np.where(flipped, -lower, upper), np.where(flipped, -upper, lower)
    log_high, log_low = log_ndtr(high), log_ndtr(low)
    log_p = log_high + np.log(-np.expm1(log_low - log_high))
    a, b = (np.where(np.isfinite(end), end, 0.0) for end in (upper, lower))
    density = -0.5 * np.log(2 * np.pi)
    p = np.where(np.isfinite(upper), np.exp(density - a**2 / 2 - log_p), 0.0)
    q = np.where(np.isfinite(lower), np.exp(density - b**2 / 2 - log_p), 0.0)
    slope_upper, slope_lower = a * p + p**2 - p * q, -b * q + q**2 - p * q
    difference = p - q
    weight_upper = p - a**2 * p - a * p**2 + b * p * q + 2 * difference * (-a * p - p**2 + p * q)
    weight_lower = -q + b**2 * q - b * q**2 + a * p * q + 2 * difference * (p * q + b * q - q**2)
    return RowTerms(
        log_p=log_p,
        slope=-difference,
        weight=np.maximum(slope_upper + slope_lower, 0.0),
        bend=-(weight_upper + weight_lower),
        by_threshold=(p, -q),
        slope_by_threshold=(slope_upper, slope_lower),
        weight_by_threshold=(weight_upper, weight_lower),
    )


@dataclass(frozen=True, slots=True)
class Mode:
    """The mode of the random effects at given parameters, and what was computed there."""

    log_likelihood: float
    effects: list[Floats]
    terms: RowTerms
    factorised: Factorised


class Laplace:
    """The approximated log-likelihood of one response and design, as a function of thresholds, β and Λ.

    *Shape:* ``response`` (rows,), categories 0 … J - 1; ``fixed`` (rows, fixed effects).
    """

    def __init__(self, response: NDArray[np.intp], fixed: Floats, crossed: Crossed, link: Link) -> None:
        """Keep the design; the last mode is kept as the start of the next search."""
        self.response, self.fixed, self.crossed, self.link = response, fixed, crossed, link
        self.n_categories = int(response.max()) + 1
        self.last = [np.zeros((factor.n_levels, factor.n_terms)) for factor in crossed.factors]

    def forget(self) -> None:
        """Search the next mode from zero: what a start finds must not depend on the starts before it."""
        self.last = [np.zeros_like(part) for part in self.last]

    def mode(self, thresholds: Floats, beta: Floats, scales: Sequence[Floats]) -> Mode | None:
        """Return the mode of u and the log-likelihood there; None where no row has a positive probability."""
        ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
        upper, lower = ends[self.response + 1], ends[self.response]
        fixed = self.fixed @ beta
        effects = self.last
        terms, value = self._at(upper, lower, fixed, effects, scales)
        if not np.isfinite(value):
            effects = [np.zeros_like(part) for part in effects]
            terms, value = self._at(upper, lower, fixed, effects, scales)
            if not np.isfinite(value):
                return None
        for _ in range(_MOST_STEPS):
            try:
                factorised = self.crossed.factorise(terms.weight, scales)
            except np.linalg.LinAlgError:
                return None
            gradient = [
                part @ scale - effect
                for part, scale, effect in zip(self.crossed.sums(terms.slope), scales, effects, strict=True)
            ]
            step = factorised.solve(gradient)
            decrement = sum(float(np.sum(g * s)) for g, s in zip(gradient, step, strict=True))
            if decrement < _AT_MODE:
                self.last = effects
                return Mode(value - factorised.log_determinant / 2, effects, terms, factorised)
            share = 1.0
            while True:
                new = [effect + share * part for effect, part in zip(effects, step, strict=True)]
                new_terms, new_value = self._at(upper, lower, fixed, new, scales)
                if new_value >= value - 1e-9 * abs(value) * (share < 1e-3):
                    break
                share /= 2
                if share < 1e-6:
                    # rounding hides what is left of the way: this is the mode, as far as it can be told
                    self.last = effects
                    at_mode = Mode(value - factorised.log_determinant / 2, effects, terms, factorised)
                    return at_mode if decrement < 1e-6 else None
            effects, terms, value = new, new_terms, new_value
        return None

    def _at(
        self, upper: Floats, lower: Floats, fixed: Floats, effects: Sequence[Floats], scales: Sequence[Floats]
    ) -> tuple[RowTerms, float]:
        eta = fixed + self.crossed.predictor([effect @ scale.T for effect, scale in zip(effects, scales, strict=True)])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            terms = row_terms(self.link, upper - eta, lower - eta)
        penalty = sum(float(np.sum(effect**2)) for effect in effects)
        value = float(terms.log_p.sum()) - penalty / 2
        return terms, value if np.isfinite(value) else -np.inf

    def gradient(self, mode: Mode, scales: Sequence[Floats]) -> tuple[Floats, Floats, list[Floats]]:
        """Return the gradient of the log-likelihood by thresholds, by β and by each Λ (all entries)."""
        crossed, terms, factorised = self.crossed, mode.terms, mode.factorised
        inverse = factorised.inverse_cells()
        # leverage of each row: a' H⁻¹ a with a = Λ'z
        leverage = np.zeros(self.response.size)
        traces = [np.zeros_like(scale) for scale in scales]  # Σ W z (H⁻¹a)' by factor
        for pair, cells, sums in zip(crossed.pairs, inverse, factorised.sums, strict=True):
            first, second = scales[pair.first], scales[pair.second]
            both = 1.0 if pair.first == pair.second else 2.0
            leverage += both * pair.over_rows(first @ cells @ second.T)
            # the cell's z₁z₂' Λ₂ H⁻¹₂₁ belongs to the first factor, its transpose to the second
            traces[pair.first] += np.einsum("cik,clk->il", sums @ second, cells)
            if pair.first != pair.second:
                traces[pair.second] += np.einsum("cik,ckl->il", sums.transpose(0, 2, 1) @ first, cells)
        turned = [part @ scale for part, scale in zip(crossed.sums(leverage * terms.bend), scales, strict=True)]
        move = factorised.solve(turned)  # H⁻¹ Λ'Z'(s W')
        along = crossed.predictor([part @ scale.T for part, scale in zip(move, scales, strict=True)])
        by_eta = terms.slope - leverage * terms.bend / 2 + terms.weight * along / 2
        by_scale = [
            pulled.T @ effect - trace - slopes.T @ part / 2
            for pulled, effect, trace, slopes, part in zip(
                crossed.sums(by_eta), mode.effects, traces, crossed.sums(terms.slope), move, strict=True
            )
        ]
        by_threshold = np.zeros(self.n_categories + 1)
        for end in (0, 1):
            rows = (
                terms.by_threshold[end]
                - leverage * terms.weight_by_threshold[end] / 2
                - along * terms.slope_by_threshold[end] / 2
            )
            by_threshold += np.bincount(self.response + 1 - end, rows, minlength=by_threshold.size)
        return by_threshold[1:-1], self.fixed.T @ by_eta, by_scale
