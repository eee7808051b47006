"""Least squares on a stable subset of the rows, with noise shaped by their covariance (after ISSP,
arXiv 2404.15409).

The steps are those of ISSP: weights that remove rows of high leverage and large residual and change
little with one row, a private test of whether any row had to be removed, and one draw of N(beta_w,
c^2 RSS_w S_w^-1). The paper's filter of residuals and its constants could not be read here. Both
filters are one here, by the leverage of (x, y), which is h_i + r_i^2 / RSS; weights and score are
those of Brown, Hopkins and Smith (2023). Constants are those of the proof in docs/papers/newer.md.
For comparison only: noise is numpy's, and nothing is charged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.privacy import GDP

# How often the test refuses a table in which no row has to be removed.
_REFUSALS = 0.01


@dataclass(frozen=True)
class Plan:
    """The constants of a release that is (epsilon, delta)-DP for one replaced row."""

    test_epsilon: float
    levels: int  # k of the proof
    threshold: float  # the score plus Laplace noise must not exceed it
    leverage: float  # the first level's bound, L_0
    noise: float  # c

    def bound(self, level: int) -> float:
        """Of level l: 1 / L_l = 1 / L_0 - l."""
        return 1 / (1 / self.leverage - level)


def planned(epsilon: float, delta: float, leverage: float, width: int) -> Plan | None:
    """The least noise over ways to split epsilon; None where no split gives a guarantee with so few
    rows.
    """
    plans = [_split(epsilon, delta, leverage, width, share) for share in np.linspace(0.05, 0.9, 35)]
    return min((plan for plan in plans if plan is not None), key=lambda plan: plan.noise, default=None)


def _split(epsilon: float, delta: float, leverage: float, width: int, share: float) -> Plan | None:
    test = share * epsilon
    threshold = 2 / test * math.log(1 / (2 * _REFUSALS))
    levels = math.ceil(threshold + 2 + 2 / test * math.log(1 / (2 * delta)))
    largest = 1 / leverage - 3 * levels + 1
    if largest <= 4:
        return None
    largest = 1 / largest
    # The two parts need delta_mean + e^epsilon_mean delta_shape <= delta.
    left = epsilon - test - _shape_loss(largest, width, delta / 2 * math.exp(-epsilon))
    if left <= 0:
        return None
    mu = GDP.from_epsilon(left, delta / 2).mu
    shift = 1.5 * largest / (1 - 2 * largest) ** 2
    return Plan(test, levels, threshold, leverage, shift / mu)


def _shape_loss(largest: float, width: int, delta: float) -> float:
    """The epsilon at ``delta`` of the change of the covariance, for coefficients of ``width``
    columns.
    """
    scale = 2 * largest / (1 - 2 * largest)  # of the residual sum of squares, in all directions
    turn = 3 * largest / (1 - 2 * largest) ** 2  # of the second moment, in trace norm
    if scale + turn >= 0.5:
        return math.inf
    rates = np.linspace(0.001, 0.999, 400) / (2 * (scale + turn))
    log_mgf = -0.5 * np.log1p(-2 * rates * (scale + turn)) - 0.5 * (width - 1) * np.log1p(-2 * rates * scale)
    tail = float(np.min((log_mgf + math.log(1 / delta)) / rates))
    total = turn + width * scale
    return 0.5 * tail + 0.5 * total / (1 - scale - turn)


def stable_least_squares(
    X: np.ndarray, y: np.ndarray, plan: Plan, rng: np.random.Generator
) -> tuple[np.ndarray | None, int]:
    """Coefficients of the columns of X, or None where the test refuses; and the score (not
    private).
    """
    rows = np.column_stack([X, y])
    entered = _levels(rows, plan)
    k = plan.levels
    sizes = np.array([np.sum(entered <= level) for level in range(k + 1)])
    score = int(min(k, np.min(len(rows) - sizes + np.arange(k + 1))))
    if score + rng.laplace(0, 2 / plan.test_epsilon) > plan.threshold:
        return None, score
    weights = np.clip((2 * k + 1 - np.maximum(entered, k + 1)) / k, 0, 1)
    moment = rows.T @ (weights[:, np.newaxis] * rows)
    second, cross = moment[:-1, :-1], moment[:-1, -1]
    beta = np.linalg.solve(second, cross)
    spread = math.sqrt(max(float(moment[-1, -1] - cross @ beta), 0.0))
    root = np.linalg.cholesky(np.linalg.inv(second))
    return beta + plan.noise * spread * root @ rng.normal(size=len(beta)), score


def _levels(rows: np.ndarray, plan: Plan) -> np.ndarray:
    """For every row, the first level whose largest good subset has it; 2 k + 1 where none has.

    A subset is good at a level if each of its rows has a leverage within it of at most the level's
    bound. The largest one is what is left once rows above the bound are removed until there are
    none.
    """
    k = plan.levels
    entered = np.full(len(rows), 2 * k + 1)
    kept = np.ones(len(rows), dtype=bool)
    leverage = _leverage(rows, kept)
    for level in range(2 * k, -1, -1):
        while len(leverage) and leverage.max() > plan.bound(level):
            kept[np.flatnonzero(kept)[leverage > plan.bound(level)]] = False
            leverage = _leverage(rows, kept)
        entered[kept] = level
        # All lower levels are subsets of this one; once too many rows are gone, the score is k.
        if np.sum(~kept) > k:
            break
        if len(leverage) and leverage.max() <= plan.leverage:
            entered[kept] = 0
            break
    return entered


def _leverage(rows: np.ndarray, kept: np.ndarray) -> np.ndarray:
    here = rows[kept]
    if len(here) <= rows.shape[1]:
        kept[:] = False
        return np.zeros(0)
    triangle = np.linalg.qr(here, mode="r")
    if np.min(np.abs(np.diag(triangle))) < 1e-12 * np.max(np.abs(np.diag(triangle))):
        kept[:] = False
        return np.zeros(0)
    return np.sum(np.linalg.solve(triangle.T, here.T) ** 2, axis=0)
