"""Objective perturbation: minimising a noisy objective (docs/papers/objective.md has the proof).

    J(theta) = rows' losses + theta penalty theta / 2 + Lambda |theta - centre|^2 / 2 + b theta

with b ~ N(0, s^2 I) is minimised until its gradient is provably shorter than ``tolerance``. The
point is released with a little Gaussian noise, which hides the remaining distance to the exact
minimum. So the guarantee does not depend on how, or how well, the minimum was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import GuaranteeError
from discreet.noise import Bits, discrete_gaussian
from discreet.privacy import Neighbours, Perturbed, Release
from discreet.rows import Answer, Floats, LogisticLoss
from discreet.rows.logistic_loss import WholeTheta

Integers = NDArray[np.object_]
# One pass over the rows: the gradient and the Hessian of their losses.
Look = Callable[[WholeTheta], tuple[Floats, Floats]]

# The objective's noise in units of its grid. It is within 20 units of a continuous Gaussian, except
# with probability 2 exp(-20^2 / 8) < 1e-21 per entry (noise/gaussian.py).
_NOISE_UNITS = 2.0**38
_COUPLED_WITHIN = 20.0
COUPLING_FAILURE = 1e-21
# The gradient's tolerance, in row lengths. A pass is exact to 2^-47 per row, so for n rows the
# tolerance must stay above 2^-46 n. Where n is private, this value holds up to 2^24 rows.
_TOLERANCE, _FINEST, _PER_ROW = 2.0**-22, 2.0**-30, 2.0**-46
# The smoothing noise in units of its grid.
_SMOOTHING_UNITS = 2.0**24
# Newton's method ends in about a dozen passes; this limit is never reached
# within the row counts above.
_MOST_PASSES = 500
_SHORTEST = 2.0**-12
# A penalty of this many times the ridge acts as an infinite one; Newton's
# steps allow no larger one.
MOST_PENALTY = 2.0**44
# All floats are whole multiples of 2^-1074.
_EXACT = 1074


def ridge_strength(bound: float, cost: Perturbed) -> float:
    """Lambda, slightly above what the cost requires, to cover rounding in this line."""
    return bound**2 / (4 * cost.curvature) * (1 + 1e-12)


@dataclass(frozen=True, eq=False)
class ObjectiveNoise:
    """All parameters of one release, from public facts alone."""

    query: LogisticLoss
    cost: Perturbed
    strength: float
    noise_unit: float
    tolerance: float
    smoothing_scale: float
    smoothing_unit: float
    theta_unit: float

    @classmethod
    def covering(cls, query: LogisticLoss, cost: Perturbed, public_rows: int | None) -> ObjectiveNoise:
        bound, size = query.bound, query.size
        if cost.slack < size * COUPLING_FAILURE:
            raise ValueError(f"the cost's slack must be at least {size * COUPLING_FAILURE:.3g}, got {cost.slack}")
        strength = ridge_strength(bound, cost)
        steepest = float(np.linalg.norm(query.penalty, 2))
        if not steepest <= MOST_PENALTY * strength:
            raise ValueError(
                f"the penalty must be at most {MOST_PENALTY:.3g} times the ridge, got {steepest / strength}"
            )
        noise_unit = bound / cost.gradient_mu / math.sqrt(_NOISE_UNITS**2 - 4) * (1 + 1e-12)
        share = _TOLERANCE if public_rows is None else max(_FINEST, _PER_ROW * public_rows)
        tolerance = share * bound
        # |theta - exact minimiser| <= (|gradient| + |noise - coupled continuous noise|) /
        # Lambda, on both data sets.
        apart = 2 * (tolerance + _COUPLED_WITHIN * math.sqrt(size) * noise_unit) / strength
        smoothing_unit = 2.0 ** math.floor(math.log2(apart / cost.smoothing_mu / _SMOOTHING_UNITS))
        reach = apart / smoothing_unit + 2 * math.sqrt(size)
        smoothing_scale = math.sqrt((reach / cost.smoothing_mu * (1 + 1e-12)) ** 2 + 4)
        # Fine enough that the gradient at the grid point nearest to the minimum is
        # well within the tolerance.
        rows = _TOLERANCE / _PER_ROW if public_rows is None else public_rows
        curvature = steepest + strength + max(rows, 1) * bound**2 / 4
        theta_unit = 2.0 ** math.floor(math.log2(tolerance / (16 * math.sqrt(size) * curvature)))
        return cls(query, cost, strength, noise_unit, tolerance, smoothing_scale, smoothing_unit, theta_unit)

    @property
    def noise_std(self) -> float:
        """The standard deviation of the linear term b."""
        return _NOISE_UNITS * self.noise_unit

    @property
    def smoothing_std(self) -> float:
        return self.smoothing_scale * self.smoothing_unit

    @property
    def quadratic(self) -> Floats:
        """The Hessian of everything but the losses; rounding leaves every eigenvalue
        at or above the strength.
        """
        penalty = (self.query.penalty + self.query.penalty.T) / 2
        # Unpenalised coefficients, such as the constant, form a separate block of
        # zeros and need no margin.
        margin = 1e-12 * float(np.trace(penalty)) * np.any(penalty != 0, axis=1)
        return np.asarray(penalty + np.diag(self.strength + margin))

    def outside_gradient(self, theta: WholeTheta, linear: Integers) -> Floats:
        """The gradient of everything but the losses, in whole numbers: one rounding
        per entry for any penalty.
        """
        ridge, pull, noise_unit = self._exact
        unit = Fraction(theta.unit)
        exact = ridge @ theta.whole * unit.numerator + (linear * noise_unit - pull) * unit.denominator
        return np.array([entry / (unit.denominator << _EXACT) for entry in exact.tolist()], dtype=np.float64)

    @cached_property
    def _exact(self) -> tuple[Integers, Integers, int]:
        return (
            _whole(self.quadratic),
            _whole(self.strength * self.query.centre),
            _whole(np.array(self.noise_unit)).item(),
        )

    def release(self, neighbours: Neighbours) -> Release:
        rows = 2 if neighbours == "replace_one" else 1
        return Release(self.query.label, rows * self.query.bound, self.noise_std, self.cost)

    def answer(self, whole: Integers) -> Answer:
        return Answer((whole.astype(np.float64) * self.smoothing_unit)[:, np.newaxis], self.smoothing_std)


@dataclass(frozen=True, eq=False)
class Minimum:
    """A minimised objective with its exact values, for the replay audit."""

    release: Release
    noise: ObjectiveNoise
    linear: Integers
    theta: WholeTheta
    look: Look

    @property
    def whole(self) -> Integers:
        """The point in whole units of the grid on which it is released."""
        ratio = Fraction(self.theta.unit) / Fraction(self.noise.smoothing_unit)
        return np.array([round(entry * ratio) for entry in self.theta.whole.tolist()], dtype=object)


def find_minimum(release: Release, noise: ObjectiveNoise, look: Look, bits: Bits) -> Minimum:
    """Draw the linear term and minimise; nothing visible outside depends on the number of passes.

    The result is certified: its gradient is within the tolerance. The grid of theta and the bound
    on the penalty ensure that such a point is found. If it were not, nothing would be released.
    """
    size = noise.query.size
    linear = discrete_gaussian(_NOISE_UNITS, size, bits=bits).astype(object)

    def total(theta: WholeTheta) -> tuple[Floats, Floats]:
        gradient, hessian = look(theta)
        return gradient + noise.outside_gradient(theta, linear), hessian + noise.quadratic

    theta = WholeTheta.near(np.zeros(size), noise.theta_unit)
    gradient, hessian = total(theta)
    passes, length = 1, 1.0
    while float(np.linalg.norm(gradient)) > noise.tolerance / 2 and passes < _MOST_PASSES:
        # A short enough Newton step always shortens the gradient: halve the step until it does.
        step = np.linalg.solve(hessian, gradient)
        tried = theta.moved(np.asarray(-length * step, dtype=np.float64))
        new_gradient, new_hessian = total(tried)
        passes += 1
        shorter = np.linalg.norm(new_gradient) <= (1 - length / 4) * np.linalg.norm(gradient)
        if shorter or length < _SHORTEST:
            theta, gradient, hessian, length = tried, new_gradient, new_hessian, 1.0
        else:
            length /= 2
    if float(np.linalg.norm(gradient)) > noise.tolerance / 2:
        raise GuaranteeError("the minimum of a perturbed objective could not be certified; nothing was released")
    return Minimum(release, noise, linear, theta, look)


def _whole(values: Floats) -> Integers:
    """The exact values of floats, in units of 2^-1074."""
    exact = [int(Fraction(value) * 2**_EXACT) for value in values.ravel().tolist()]
    return np.array(exact, dtype=object).reshape(values.shape)


def smoothed(minimum: Minimum, bits: Bits) -> Integers:
    """The released point, in whole units of its grid."""
    noise = discrete_gaussian(minimum.noise.smoothing_scale, minimum.noise.query.size, bits=bits)
    return np.asarray(minimum.whole + noise.astype(object), dtype=object)
