"""Gradients as measurements of the optimum, and their combination to one estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.noisy_matrix import damped_inverse, held, inverse
from discreet.algorithms.parts.shrink import clear
from discreet.algorithms.parts.sizes import Sizes
from discreet.privacy import GDP
from discreet.rows import Answer, Floats, Query

# The share of a gradient's cost for the levels above the clip norm, if there are any; and if
# clipped rows are asked for as well, so that the gradient itself costs the same.
LEVEL_SHARE, LESS_LEVEL_SHARE = 0.3, 0.25
# The assumed relative error of the response to a change of phi, besides its known error.
DOUBT = 0.1
# The smallest response along a step, relative to the expected one.
_LEAST_RESPONSE = 0.2
# A step tells the response of the gradient if the expected response is this many times its noise.
_TELLING = 2.0


@dataclass(frozen=True)
class Bounds:
    """A clip norm, and levels (bottom, top) above it whose gradients are released separately."""

    clip: float
    levels: tuple[tuple[float, float], ...]
    level_share: float = LEVEL_SHARE

    def scaled(self, factor: float) -> Bounds:
        levels = tuple((low * factor, top * factor) for low, top in self.levels)
        return replace(self, clip=self.clip * factor, levels=levels)

    def costs(self, cost: GDP) -> list[GDP]:
        """The costs of the gradient at the clip norm and of each level."""
        if not self.levels:
            return [cost]
        level = GDP(cost.mu * math.sqrt(self.level_share / len(self.levels)))
        return [GDP(cost.mu * math.sqrt(1 - self.level_share)), *([level] * len(self.levels))]


@dataclass(frozen=True, eq=False)
class Measurement:
    """Mean scores at a point: below the clip norm, and the addition of each level above it."""

    frame: Frame
    phi: Floats
    bounds: Bounds
    base: Answer
    levels: tuple[Answer, ...]

    def gradient(self, keeps: Sequence[float]) -> tuple[Floats, float]:
        """The mean score with these parts of each level, and the noise in each entry."""
        both = list(zip(keeps, self.levels, strict=True))
        value = self.base.value[:, 0] + sum((keep * level.value[:, 0] for keep, level in both), np.zeros(len(self.phi)))
        variance = self.base.noise_std**2 + sum((keep * level.noise_std) ** 2 for keep, level in both)
        return value / self.frame.count, math.sqrt(variance) / self.frame.count

    def without_levels(self) -> Measurement:
        return replace(self, bounds=replace(self.bounds, levels=()), levels=())

    def with_dispersion(self, dispersion: float) -> Measurement:
        """The measurement as if this dispersion had been known when clipped scores were centred."""
        count, bounds = self.frame.count, self.bounds
        shifts = [self.frame.shift(self.phi, c, dispersion) for c in (bounds.clip, *(top for _, top in bounds.levels))]
        bottoms = [self.frame.shift(self.phi, low, dispersion) for low, _ in bounds.levels]
        base = replace(self.base, value=self.base.value - count * shifts[0][:, np.newaxis])
        levels = tuple(
            replace(level, value=level.value - count * (top - bottom)[:, np.newaxis])
            for level, top, bottom in zip(self.levels, shifts[1:], bottoms, strict=True)
        )
        return replace(self, base=base, levels=levels)

    def optimum(self, response: Floats, keeps: Sequence[float], absent: Floats | None = None) -> Optimum:
        """The optimum if the gradient has this response: one Newton step.

        ``absent``: normals of slopes that the model is without: they are 0 at the optimum.
        """
        penalty = self.frame.penalty
        gradient, noise_std = self.gradient(keeps)
        back, unseen = damped_inverse(response + penalty, noise_std / self.frame.farthest)
        here = self.phi
        if absent is not None:
            cut = held(back, absent)
            here, back, unseen = cut @ here, cut @ back, cut @ unseen
        noise = noise_std**2 * back @ back.T + self.frame.farthest_variance * unseen @ unseen.T
        return Optimum(here - back @ (gradient + penalty @ self.phi), noise, back, here)


@dataclass(frozen=True, eq=False)
class Optimum:
    """A measurement's optimum, with the covariance of its noise, and where the step to it began."""

    phi: Floats
    noise: Floats
    inverse: Floats
    here: Floats

    @property
    def variance(self) -> float:
        """The mean noise variance of a coordinate."""
        return float(np.trace(self.noise)) / len(self.phi)


def measure(
    frame: Frame, phi: Floats, bounds: Bounds, cost: GDP, *more: tuple[Query, GDP]
) -> tuple[Measurement, Sequence[Answer]]:
    """A measurement at a point, and the answers to ``more`` queries from the same pass.

    Privacy: sums with joint cost ``cost``, and those of ``more``.
    """
    queries = [frame.gradient(phi, bounds.clip), *(frame.gradient(phi, top, low) for low, top in bounds.levels)]
    answers = frame.ask(*zip(queries, bounds.costs(cost), strict=True), *more)
    count = len(queries)
    return Measurement(frame, phi, bounds, answers[0], tuple(answers[1:count])), answers[count:]


def levels_together(measurements: Sequence[Measurement]) -> list[tuple[Floats, float]]:
    """The sum of scores in each level, from all measurements, and the variance of its noise."""
    levels = zip(*(one.levels for one in measurements), strict=True)
    return [(level.value[:, 0], level.noise_std**2) for level in map(_mean, levels)]


def level_at(
    measurements: Sequence[Measurement], number: int, goal: Optimum, response: Floats, wrong: float
) -> tuple[Floats, float]:
    """The mean score of a level at a goal, from all measurements, and the variance of its errors in
    an entry.

    Far from the optimum a level of a true model is not 0: it follows its response to the distance.
    ``response``: of the whole level; ``wrong``: the square of its relative error.
    """
    size, count = len(goal.phi), measurements[0].frame.count
    level = _mean([one.levels[number] for one in measurements])
    trusts = [one.levels[number].noise_std ** -2 / level.noise_std**-2 for one in measurements]
    start = sum((trust * one.phi for trust, one in zip(trusts, measurements, strict=True)), np.zeros(size))
    change = response @ (goal.phi - start)
    moved = float(np.sum(response * (response @ goal.noise))) + wrong * float(change @ change)
    return level.value[:, 0] / count + change, (level.noise_std / count) ** 2 + moved / size


def level_keeps(levels: Sequence[tuple[Floats, float]]) -> list[float]:
    """The part of each level that is clear of its noise."""
    return [clear(value, variance) for value, variance in levels]


def lopsided(levels: Sequence[tuple[Floats, float]]) -> bool:
    """Whether levels at the optimum show more than their noise.

    They are asked for because they might hold much more. Of true models about half show less. With
    a margin of one standard deviation more would, but intervals of overdispersed counts covered
    too little.
    """
    square = sum(float(value @ value) / max(variance, 1e-300) for value, variance in levels)
    numbers = sum(len(value) for value, _ in levels)
    return square > numbers


def level_curvature(sizes: Sizes, bounds: Bounds, keeps: Sequence[float]) -> float:
    """The curvature that the kept levels add to that below the clip norm, as a share."""
    return sum(keep * sizes.share(low, top) for keep, (low, top) in zip(keeps, bounds.levels, strict=True))


def secant(response: Floats, earlier: Measurement, later: Measurement, keeps: Sequence[float], trust: float) -> Floats:
    """The response, corrected by the change of the gradient between two points if
    it is clear of the noise.

    Powell's damped BFGS update, which stays positive definite. It corrects the response along the
    way from the start to the optimum, where errors matter most. ``trust``: the part of the
    correction that is error of the response at the later point, and not its change on the way.
    """
    step = later.phi - earlier.phi
    (before, first_noise), (after, second_noise) = earlier.gradient(keeps), later.gradient(keeps)
    expected, variance = response @ step, first_noise**2 + second_noise**2
    length = float(np.linalg.norm(expected))
    if length <= _TELLING * math.sqrt(len(step) * variance):
        return response
    rest = after - before - expected
    rest = rest * clear(rest, variance) * trust
    rest = rest * min(1.0, 2 * length / max(float(np.linalg.norm(rest)), 1e-300))
    along, more = float(expected @ step), float(rest @ step)
    if more < -(1 - _LEAST_RESPONSE) * along:
        rest = rest * (-(1 - _LEAST_RESPONSE) * along / more)
    seen = expected + rest
    return np.asarray(
        response - np.outer(expected, expected) / along + np.outer(seen, seen) / max(float(seen @ step), 1e-300)
    )


@dataclass(frozen=True, eq=False)
class Estimate:
    """The combined estimate of the optimum: weights, noise covariance, and
    covariance of other errors.
    """

    phi: Floats
    weights: tuple[float, ...]
    noise: Floats
    unsure: Floats


def together(said: Sequence[Optimum], wrong: Sequence[float], cut: Sequence[Floats], curve: Floats) -> Estimate:
    """The best weighted mean of several measurements.

    The error of each consists of its noise, of the relative error of the response (``wrong``) times
    the distance of its point from the optimum, taken from the last measurement, and of what was
    ``cut`` from its step. Errors are weighted by their effect on the loss, given by a typical
    ``curve``: flat directions are known less well and matter less.
    """
    size, last = len(said[-1].phi), said[-1].phi

    def cost(vector: Floats) -> float:
        return float(vector @ curve @ vector) / size

    doubts = [part**2 * cost(last - one.here) + cost(off) for part, one, off in zip(wrong, said, cut, strict=True)]
    noises = [float(np.sum(one.noise * curve)) / size for one in said]
    trusts = [1 / max(noise + doubt, 1e-300) for noise, doubt in zip(noises, doubts, strict=True)]
    weights = tuple(trust / sum(trusts) for trust in trusts)
    phi = sum((weight * one.phi for weight, one in zip(weights, said, strict=True)), np.zeros(size))
    noise = sum((weight**2 * one.noise for weight, one in zip(weights, said, strict=True)), np.zeros((size, size)))
    unsure = sum(w**2 * doubt for w, doubt in zip(weights, doubts, strict=True))
    return Estimate(phi, weights, noise, unsure * inverse(curve))


def _mean(answers: Sequence[Answer]) -> Answer:
    """Several answers to about the same query, averaged with inverse noise variances."""
    trusts = [answer.noise_std**-2 for answer in answers]
    value = sum((trust * answer.value for trust, answer in zip(trusts, answers, strict=True)), 0 * answers[0].value)
    return Answer(value / sum(trusts), sum(trusts) ** -0.5)
