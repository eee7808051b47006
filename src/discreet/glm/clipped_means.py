"""Means of clipped labels, in closed form: how a bound changes a family's mean score."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from discreet.glm.exponential import exponential
from discreet.glm.link_base import Floats

# Up to this count, summing a distribution function is faster than calling the special function.
_FEW_COUNTS = 24


def poisson_clipped(mean: Floats, low: Floats, high: Floats) -> Floats:
    """E max(-low, min(high, Y - mean)) for a Poisson count Y; uses E[(Y - mean)
    1{Y <= j}] = -mean P(Y = j).
    """
    _, _, under_top, at_top, under_bottom, at_bottom = _poisson_ends(mean, low, high)
    inner = mean * (at_bottom - at_top)
    return np.asarray(inner + high * (1.0 - under_top) - low * under_bottom)


def poisson_clipped_rise(mean: Floats, low: Floats, high: Floats) -> Floats:
    """The derivative in the mean of E max(lower, min(upper, Y)), whose limits mean - low and mean +
    high stay: by E g(Y)' = E[g(Y + 1) - g(Y)], the chance that one more count counts, with a part
    of one where it passes a limit.
    """
    top, bottom, under_top, at_top, under_bottom, at_bottom = _poisson_ends(mean, low, high)
    above = under_top - (top + 1.0 - (mean + high)) * at_top
    return np.asarray(above - (under_bottom - (bottom + 1.0 - (mean - low)) * at_bottom))


def _poisson_ends(mean: Floats, low: Floats, high: Floats) -> tuple[Floats, ...]:
    """The largest counts up to mean + high and below mean - low, and of both the chances of no more
    than that and of that.
    """
    top, bottom = np.floor(mean + high), np.ceil(mean - low) - 1
    few = top <= _FEW_COUNTS
    under_top, at_top = np.zeros_like(mean), np.zeros_like(mean)
    under_bottom, at_bottom = np.zeros_like(mean), np.zeros_like(mean)
    for rows, law in ((few, _small_counts), (~few, _any_counts)):
        if np.any(rows):
            under_top[rows], at_top[rows] = law(mean[rows], top[rows])
            under_bottom[rows], at_bottom[rows] = law(mean[rows], bottom[rows])
    return top, bottom, under_top, at_top, under_bottom, at_bottom


def _small_counts(mean: Floats, count: Floats) -> tuple[Floats, Floats]:
    """P(Y <= count) and P(Y = count) for small counts: a recursive sum of a few terms."""
    below, at = np.zeros_like(mean), np.zeros_like(mean)
    mass = exponential(-mean)
    for j in range(int(np.max(count, initial=-1.0)) + 1):
        below += mass * (count >= j)
        at += mass * (count == j)
        mass = mass * mean * (1.0 / (j + 1))
    return np.minimum(below, 1.0), at


def _any_counts(mean: Floats, count: Floats) -> tuple[Floats, Floats]:
    below = np.where(count >= 0, special.pdtr(np.maximum(count, 0), mean), 0.0)
    return below, _poisson_mass(count, mean)


def negative_binomial_clipped(alpha: float, mean: Floats, low: Floats, high: Floats) -> Floats:
    """The same for a negative binomial count of variance mean + alpha mean^2.

    y P_r(y) = mean P_{r+1}(y - 1), where r = 1 / alpha is the number of successes. So
    E[Y 1{Y <= j}] = mean F_{r+1}(j - 1).
    """
    r, chance = 1 / alpha, 1 / (1 + alpha * mean)

    def below(size: float, j: Floats) -> Floats:
        return np.where(j >= 0, special.betainc(size, np.maximum(j, 0) + 1, chance), 0.0)

    top, bottom = np.floor(mean + high), np.ceil(mean - low) - 1
    under_top, under_bottom = below(r, top), below(r, bottom)
    inner = mean * (below(r + 1, top - 1) - below(r + 1, bottom - 1) - under_top + under_bottom)
    return np.asarray(inner + high * (1 - under_top) - low * under_bottom)


def gamma_clipped(shape: float, low: Floats, high: Floats) -> Floats:
    """E max(-low, min(high, V - 1)) for a gamma variable V of mean 1."""
    bottom, top = np.maximum(1 - low, 0.0), np.maximum(1 + high, 0.0)
    below, under_top = special.gammainc(shape, shape * bottom), special.gammainc(shape, shape * top)
    inner = special.gammainc(shape + 1, shape * top) - special.gammainc(shape + 1, shape * bottom)
    return np.asarray(inner - (under_top - below) + high * (1 - under_top) - low * below)


def gamma_capped_square(shape: float, cap: float) -> float:
    """E min((V - 1)^2, cap) for a gamma variable V of mean 1; E[V^j 1{V <= v}] are
    gamma distribution functions.
    """
    root = math.sqrt(cap)

    def below(v: float) -> float:
        zero, one, two = (float(special.gammainc(shape + j, shape * max(v, 0.0))) for j in range(3))
        return (1 + 1 / shape) * two - 2 * one + zero

    above, beneath = special.gammaincc(shape, shape * (1 + root)), special.gammainc(shape, shape * max(1 - root, 0.0))
    outside = float(above + beneath)
    return below(1 + root) - below(1 - root) + cap * outside


def _poisson_mass(count: Floats, mean: Floats) -> Floats:
    at_least_0 = np.maximum(count, 0.0)
    mass = np.exp(special.xlogy(at_least_0, mean) - mean - special.gammaln(at_least_0 + 1))
    return np.where(count >= 0, mass, 0.0)
