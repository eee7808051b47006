"""Scores with a bound that leave the true model where it is.

Cutting a score to +-bound shifts its mean wherever labels are skewed, and the fit with it. What the cut takes from the
mean is known from the family: it is given back, so that at the true coefficients the expected score is 0 again,
whatever the bound (Cantoni and Ronchetti's robust quasi-likelihood). With two possible labels the only such score is a
weight times (mean - y), so there the weight is what is cut.

Labels are cut to their declared range before; for counts and gamma labels that is part of the cut and given back too.
Where a family has no simple formula the score is only cut, and the bound must leave room.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from discreet.glm.families import Bernoulli, Gamma, Poisson
from discreet.glm.family_base import Family
from discreet.glm.link_base import Floats, Link

# No mean is this many times the largest label that is declared.
_FARTHEST_MEAN = 4.0


@dataclass(frozen=True, eq=False)
class ClippedScore:
    """The score of one row, within +-bound up to the correction; elementwise in labels, eta and bound.

    ``dispersion`` is a guess of the gamma family's; being wrong about it costs part of the correction and no privacy.
    """

    family: Family
    link: Link
    y_low: float
    y_high: float
    dispersion: float = 1.0

    def score(self, y: Floats, eta: Floats, bound: Floats) -> Floats:
        if isinstance(self.family, Bernoulli):
            mean, gain = self.link.mean(eta), self.family.gain(eta, self.link)
            return np.asarray((mean - y) * gain * _binary_weight(mean, gain, bound))
        if is_corrected(self.family):
            return self._corrected(y, eta, bound)
        return np.clip(self.family.score(y, eta, self.link), -bound, bound)

    def slope(self, y: Floats, eta: Floats, bound: Floats) -> Floats:
        """How steeply the expected score rises with eta: the row's weight in the information."""
        weight = self.family.weight(eta, self.link)
        if isinstance(self.family, Bernoulli):
            return weight * _binary_weight(self.link.mean(eta), self.family.gain(eta, self.link), bound)
        return weight * (np.abs(self.family.score(y, eta, self.link)) < bound)

    def _corrected(self, y: Floats, eta: Floats, bound: Floats) -> Floats:
        """-gain (clip(y - c) - E clip(Y - c)), for labels that are cut to their declared range first.

        The centre c is the mean, or the end of the range next to it: a mean beyond all labels must not make them all
        look alike, or nothing would pull it back.
        """
        mean, gain = self._mean_and_gain(eta)
        reach = np.minimum(bound / np.maximum(gain, 1e-300), 1e15)
        centre = np.clip(mean, self.y_low, self.y_high)
        low, high = np.minimum(centre - self.y_low, reach), np.minimum(self.y_high - centre, reach)
        shift = mean - centre
        expected = shift + (
            poisson_clipped(mean, low + shift, high - shift)
            if isinstance(self.family, Poisson)
            else mean * gamma_clipped(1 / self.dispersion, (low + shift) / mean, (high - shift) / mean)
        )
        return np.asarray(gain * (expected - np.clip(y - centre, -low, high)))

    def _mean_and_gain(self, eta: Floats) -> tuple[Floats, Floats]:
        """Means within sense; gamma scores are relative to the mean, and would vanish far beyond the largest label."""
        raw, gain = self.link.mean(eta), self.family.gain(eta, self.link)
        if isinstance(self.family, Poisson):
            return np.clip(raw, 1e-12, 1e12), gain
        mean = np.clip(raw, 1e-12, _FARTHEST_MEAN * self.y_high)
        return mean, gain * np.maximum(raw / mean, 1.0)


def _binary_weight(mean: Floats, gain: Floats, bound: Floats) -> Floats:
    largest = np.maximum(mean, 1 - mean) * gain
    return np.minimum(1.0, bound / np.maximum(largest, 1e-300))


def is_corrected(family: Family) -> bool:
    """Whether what a cut takes from the mean of this family's scores is given back."""
    return isinstance(family, (Poisson, Gamma))


def poisson_clipped(mean: Floats, low: Floats, high: Floats) -> Floats:
    """E max(-low, min(high, Y - mean)) for a Poisson count Y; uses E[(Y - mean) 1{Y <= j}] = -mean P(Y = j)."""
    top, bottom = np.floor(mean + high), np.ceil(mean - low) - 1
    inner = mean * (_poisson_mass(bottom, mean) - _poisson_mass(top, mean))
    below = np.where(bottom >= 0, special.pdtr(np.maximum(bottom, 0), mean), 0.0)
    above = np.where(top >= 0, special.pdtrc(np.maximum(top, 0), mean), 1.0)
    return np.asarray(inner + high * above - low * below)


def gamma_clipped(shape: float, low: Floats, high: Floats) -> Floats:
    """E max(-low, min(high, V - 1)) for a gamma variable V of mean 1."""
    bottom, top = np.maximum(1 - low, 0.0), np.maximum(1 + high, 0.0)
    below, under_top = special.gammainc(shape, shape * bottom), special.gammainc(shape, shape * top)
    inner = special.gammainc(shape + 1, shape * top) - special.gammainc(shape + 1, shape * bottom)
    return np.asarray(inner - (under_top - below) + high * (1 - under_top) - low * below)


def _poisson_mass(count: Floats, mean: Floats) -> Floats:
    at_least_0 = np.maximum(count, 0.0)
    mass = np.exp(special.xlogy(at_least_0, mean) - mean - special.gammaln(at_least_0 + 1))
    return np.where(count >= 0, mass, 0.0)
