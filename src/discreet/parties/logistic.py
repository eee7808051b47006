"""Logistic regression on the joint release, through second moments and Stein's scale.

If the features are Gaussian with covariance S and P(y = 1) = sigma(a + x^T b), Stein's lemma gives
S^-1 Cov(x, y) = b E[sigma'(a + x^T b)]: least squares finds the direction of b, and its length and
a follow from two equations in the label's mean and the variance v of the least-squares score. For
other features the direction is off; see the limits in docs/papers/mpr.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from discreet.domain import Categorical, Numeric
from discreet.errors import DomainError
from discreet.parties.joint import Joint

# A fine grid rather than Gauss-Hermite nodes: a steep sigmoid is far from a polynomial.
_NODES = np.linspace(-8.0, 8.0, 4001)
_WEIGHTS = np.exp(-(_NODES**2) / 2)
_WEIGHTS /= _WEIGHTS.sum()
# Beyond this the label is nearly a step function of the score, and the slope cannot be estimated.
_LONGEST = 30.0


@dataclass(frozen=True)
class LogisticResult:
    """Log odds per unit of each feature, with ``notes`` for the reader."""

    coef: dict[str, float]
    notes: tuple[str, ...]


def logistic(joint: Joint, label: str, features: Sequence[str] | None = None) -> LogisticResult:
    """A logistic model of a label with two values: a category of two levels, or a number declared
    from 0 to 1.
    """
    target = next((column for column in joint.columns if column.name == label), None)
    binary = isinstance(target, Categorical) or (isinstance(target, Numeric) and (target.low, target.high) == (0, 1))
    if target is not None and not binary:
        raise DomainError(f"a logistic model needs a label with two levels or declared from 0 to 1, not {label!r}")
    result = joint.regress(label, features)
    chosen, position = joint.positions(label, features)
    mean = min(max(float(joint.offset[position]), 0.001), 0.999)
    slopes = result.bare.shrunk[1:]
    # 1 - unexplained is the score's share of the label's variance, which is mean (1 - mean).
    variance = max(1.0 - result.solution.unexplained, 0.0) * mean * (1 - mean)
    notes = list(result.notes())
    notes.append("coefficients are exact for Gaussian features; for others the direction is that of least squares")
    if result.drowned or variance == 0.0:
        stretch, intercept = 0.0, math.log(mean / (1 - mean))
    else:
        stretch, intercept, steep = steins_scale(mean, variance)
        if steep:
            notes.append("the label is nearly a step function of the score: the coefficients' length is only a bound")
    centre = joint.offset[chosen]
    coef = {"const": intercept - stretch * float(slopes @ centre)}
    coef |= {joint.encoder.names[i]: stretch * float(slope) for i, slope in zip(chosen, slopes, strict=True)}
    return LogisticResult(coef, tuple(notes))


def steins_scale(mean: float, variance: float) -> tuple[float, float, bool]:
    """c and a with c E[sigma'(a + c z)] = 1 and E[sigma(a + c z)] = mean, z ~ N(0, variance); and
    whether c is capped.

    With s = c sqrt(variance) the first reads s E[sigma'(a + s g)] = sqrt(variance), g standard
    normal; the left side grows with s, from 0 to a limit.
    """
    wanted = math.sqrt(variance)

    def gap(length: float) -> float:
        return length * _slope(_intercept(mean, length), length) - wanted

    if gap(_LONGEST) <= 0:
        return _LONGEST / wanted, _intercept(mean, _LONGEST), True
    length = float(brentq(gap, 1e-9, _LONGEST))
    return length / wanted, _intercept(mean, length), False


def _intercept(mean: float, length: float) -> float:
    reach = 10.0 + 10.0 * length
    return float(brentq(lambda a: float(expit(a + length * _NODES) @ _WEIGHTS) - mean, -reach, reach))


def _slope(intercept: float, length: float) -> float:
    p = expit(intercept + length * _NODES)
    return float((p * (1 - p)) @ _WEIGHTS)
