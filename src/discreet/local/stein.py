"""NLDP's estimator as printed: least squares from noisy moments, times the constant of Stein's
lemma.

With x ~ N(0, Sigma), E[x y] = Sigma w E[f'(<x, w>)], so the least-squares vector points along w:
w = c w_ols, where c solves c E[f'(c <x, w_ols>)] = 1 (Lemma 5 and Theorem 18; f' is Phi'' for a
GLM). The mean is over public rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.errors import NoSolutionError
from discreet.glm import MeanFunction
from discreet.local.columns import Floats
from discreet.local.links import GLMS

# Roots are searched up to this size, on a grid fine enough for every crossing of a smooth mean.
_LARGEST_SCALE = 1e4
_STEPS = 400
# A matrix with this condition number is singular but for rounding.
_SINGULAR = 1e13


@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """What the server holds: noisy averages of x x^T and x y over n users."""

    second: Floats
    cross: Floats
    count: int


def glm_gaussian(moments: NoisyMoments, public: Floats, family: str) -> Floats:
    """A GLM's coefficients, Gaussian design (NLDP, Algorithm 1, lines 10 to 16)."""
    return scaled_least_squares(moments, public, _mean_of(family))


def glm_bounded(moments: NoisyMoments, public: Floats, family: str) -> Floats:
    """A GLM's coefficients, bounded design (NLDP, Algorithm 2); only the devices'
    radius differs.
    """
    return scaled_least_squares(moments, public, _mean_of(family))


def regression_gaussian(moments: NoisyMoments, public: Floats, link: MeanFunction) -> Floats:
    """Coefficients of y = f(<x, w>) + noise, Gaussian design (NLDP, Algorithm 3)."""
    return scaled_least_squares(moments, public, link)


def regression_bounded(moments: NoisyMoments, public: Floats, link: MeanFunction) -> Floats:
    """Coefficients of y = f(<x, w>) + noise, bounded design (NLDP, Algorithm 4, its Newton line
    corrected).
    """
    return scaled_least_squares(moments, public, link)


def scaled_least_squares(moments: NoisyMoments, public: Floats, link: MeanFunction, *, pooled: bool = True) -> Floats:
    """c w_ols, with the covariance pooled over private and public rows (after NLDP's Theorem 8).

    ``pooled`` is False where ``public`` holds points made from the same noisy moments, not rows.
    """
    n, m = moments.count, len(public) if pooled else 0
    covariance = (n * moments.second + (public.T @ public if pooled else 0.0)) / (n + m)
    coef = least_squares(covariance, moments.cross)
    return stein_scale(public @ coef, link) * coef


def two_rounds(first: NoisyMoments, predictions: Callable[[Floats], Floats], family: str) -> Floats:
    """A GLM without public rows (NLDP, Algorithm 5); ``predictions`` are the users' noisy <x,
    w_ols>.
    """
    coef = least_squares(first.second, first.cross)
    return stein_scale(predictions(coef), _mean_of(family)) * coef


def _mean_of(family: str) -> MeanFunction:
    if not isinstance(family, str) or family not in GLMS:
        raise ValueError(f"family must be one of {', '.join(GLMS)}, got {family!r}")
    return GLMS[family]


def least_squares(second: Floats, cross: Floats) -> Floats:
    """The coefficients of these moments; refused where they are not unique."""
    if not np.linalg.cond(second) < _SINGULAR:
        raise NoSolutionError(
            "the second moment of x is singular, so least squares has no unique solution: leave out a column that is "
            "a combination of others"
        )
    return np.asarray(np.linalg.solve(second, cross), dtype=np.float64)


def stein_scale(predictor: Floats, link: MeanFunction) -> float:
    """The root c of c mean(f'(c <x, w_ols>)) = 1 that is nearest to zero; negative if the link
    decreases.

    By bracketing and bisection: noisy input may have no root or several, where Newton's method
    diverges.
    """

    def excess(scale: float) -> float:
        return scale * float(np.mean(link.slope(scale * predictor))) - 1.0

    with np.errstate(over="ignore", invalid="ignore"):
        scales = np.geomspace(1e-4, _LARGEST_SCALE, _STEPS)
        found: list[tuple[float, float]] = []
        for sign in (1.0, -1.0):
            before = 0.0
            for scale in sign * scales:
                value = excess(scale)
                if not np.isfinite(value):
                    break
                if value >= 0:
                    found.append((before, scale))
                    break
                before = scale
        if not found:
            raise NoSolutionError(
                f"c mean(f'(c <x, w_ols>)) = 1 has no root with |c| <= {_LARGEST_SCALE:g} for {link.name!r}: the noisy "
                "least-squares coefficients are too large for this model's range; use more reports or a larger epsilon"
            )
        low, high = min(found, key=lambda bracket: abs(bracket[1]))
        for _ in range(200):
            middle = (low + high) / 2
            if excess(middle) >= 0:
                high = middle
            else:
                low = middle
    return high
