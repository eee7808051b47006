"""Noisy gradient descent for a user's loss: a clip norm from released sizes of scores, an average
of iterates, and shrinkage by the known noise.

A declared bound of the slope may be many times what rows have, as for counts up to 30 with mean 1,
and the curvature of the loss is known only roughly. Noise for such a bound, taken at full step
length, would carry the predictor away. So the clip norm is chosen by a histogram, noise may take
the predictor no further than labels vary, steps get shorter where the gradients show more curvature
than was assumed, the last iterates are averaged, and what noise explains of their slopes is
removed. All but the histogram is post-processing of the gradients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from discreet.algorithms.parts.shrink import shrunk, signal
from discreet.algorithms.steps.repair import projected
from discreet.glm import Link
from discreet.rows import Answer, Floats, Labels, LinearMap
from discreet.rows.gradient import RowFunction, SizeHistogram

# Cells of the histogram of score sizes: each half as long as the next, up to the declared bound.
_CELLS, _RATIO = 12, 2.0
# Curvature beyond what was assumed shortens steps if it is this many standard deviations clear.
_SURE = 2.0
# An average over more iterates is used while its distance from the last one is within this many
# standard deviations of a chi-square, beyond its mean.
_DRIFT = 2.0
# A posterior is summed over this many means, up to this many standard deviations away.
_MEANS, _TAIL = 401, 6.0


def likely_mean(seen: float, noise_std: float) -> float:
    """The mean of an encoded label, known to lie in [-1, 1], given a noisy one: its posterior mean
    under an even prior.

    Noise may put the mean of counts below 0. The end of the range in its place would be a predictor
    far from every row, with scores near 0.
    """
    if noise_std <= 0:
        return min(max(seen, -1.0), 1.0)
    low, high = max(-1.0, seen - _TAIL * noise_std), min(1.0, seen + _TAIL * noise_std)
    if low >= high:
        low, high = -1.0, 1.0
    means = np.linspace(low, high, _MEANS)
    exponents = -0.5 * ((means - seen) / noise_std) ** 2
    weights = np.exp(exponents - np.max(exponents))
    return float(means @ weights / np.sum(weights))


def size_histogram(linear_map: LinearMap, labels: Labels, size: RowFunction, longest: float) -> SizeHistogram:
    """The numbers of rows by the size of their contribution to a gradient, which is at most
    ``longest``.

    Privacy: a row is in one cell: 1 for an added row, sqrt(2) for a replaced one.
    """
    edges = np.asarray(longest / _RATIO ** np.arange(_CELLS - 1, -1, -1), dtype=np.float64)
    return SizeHistogram(linear_map, labels, size, edges)


def clip_norm(query: SizeHistogram, answer: Answer, noise_per_unit: float) -> float:
    """The clip norm with the least sum of bias and noise, from a noisy histogram of sizes.

    Clipping at c moves the sum of gradients by at most the sum of what sizes exceed c; the noise in
    it has length ``noise_per_unit`` c. Cells that the largest of as many noises explains are empty;
    if all are, nothing is known, and the declared bound stays.
    """
    counts = np.asarray(answer.value).ravel()
    clear = np.where(counts > math.sqrt(2 * math.log(len(counts))) * answer.noise_std, counts, 0.0)
    if not np.any(clear):
        return float(query.edges[-1])
    # Sizes count as the middle of their cell; what is beyond the last edge is clipped anyway.
    sizes = np.append(query.edges / math.sqrt(_RATIO), query.edges[-1])
    risks = [float(clear @ np.maximum(sizes - clip, 0.0)) + noise_per_unit * clip for clip in query.edges]
    return float(query.edges[int(np.argmin(risks))])


def longest_noise(link: Link, label_scale: float) -> float:
    """How far noise alone may carry a predictor, as a standard deviation over rows: as far as
    labels vary, or one unit of a curved link, which is a factor e of a mean or of odds.
    """
    return label_scale if link.is_identity else 1.0


def longest_pace(pace: float, noise_std: float, size: int, steps: int, reach: float) -> float:
    """The step length with which noise in this many steps goes no further than ``reach``."""
    return min(pace, reach / max(noise_std * math.sqrt(size * steps), 1e-300))


@dataclass
class Trail:
    """The iterates of a descent with the gradients that were released at them."""

    start: Floats
    # The curvature that the first steps assume.
    assumed: float
    # The noise in every entry of a mean gradient.
    noise_std: float = 0.0
    points: list[Floats] = field(default_factory=list)
    gradients: list[Floats] = field(default_factory=list)
    paces: list[float] = field(default_factory=list)

    @property
    def here(self) -> Floats:
        return self.points[-1] if self.points else self.start

    def step(self, gradient: Floats, pace: float, longest: float) -> None:
        """One step against this noisy mean gradient, no longer than what was seen of the
        curvature allows.
        """
        self.gradients.append(gradient)
        curvature, error = self.curvature()
        sure = curvature - _SURE * error
        pace = min(pace, 1 / sure) if sure > 0 else pace
        self.paces.append(pace)
        self.points.append(projected(self.here - pace * gradient, longest))

    def curvature(self) -> tuple[float, float]:
        """One number for the curvature along the path, by least squares, and its noise."""
        visited = np.array([self.start, *self.points])[: len(self.gradients)]
        apart, seen = visited - visited.mean(axis=0), np.array(self.gradients)
        square = float(np.sum(apart**2))
        if len(visited) < 2 or square <= 0:
            return 0.0, math.inf
        return float(np.sum(apart * seen)) / square, self.noise_std / math.sqrt(square)

    def _responses(self) -> tuple[Floats, Floats]:
        """Directions (columns), and by how much the noise of each gradient (last axis) moved each
        iterate (middle axis) along each of them (first axis), about.

        Noise stays longest where the loss is flat, and there the path wanders furthest. So the
        directions are the principal ones of the path, and each has a curvature of its own: the
        path's, combined with an even prior up to the assumed one, less a standard deviation.
        """
        visited = np.array([self.start, *self.points[:-1]])
        apart = visited - visited.mean(axis=0)
        _, turn = np.linalg.eigh(apart.T @ apart)
        apart, seen = apart @ turn, np.array(self.gradients) @ turn
        # The even prior on [0, assumed] has mean assumed / 2 and variance assumed^2 / 12.
        known, squares = 12 / self.assumed**2, np.sum(apart**2, axis=0) / max(self.noise_std, 1e-150) ** 2
        sums = np.sum(apart * seen, axis=0) / max(self.noise_std, 1e-150) ** 2
        curvatures = (sums + known * self.assumed / 2) / (squares + known) - 1 / np.sqrt(squares + known)
        curvatures = np.maximum(curvatures, 0.0)
        steps = len(self.points)
        found, now = np.zeros((len(curvatures), steps, steps)), np.zeros((len(curvatures), steps))
        for number, pace in enumerate(self.paces):
            now = now * np.maximum(1 - pace * curvatures, 0.0)[:, np.newaxis]
            now[:, number] = pace
            found[:, number] = now
        return turn, found

    def averaged(self) -> tuple[Floats, Floats]:
        """The mean of the last iterates, as many as have settled, and its noise covariance."""
        points, (turn, responses) = np.array(self.points), self._responses()
        size, best = points.shape[1], 1

        def variances(weights: Floats) -> Floats:
            return np.asarray(np.sum(weights**2, axis=1) * self.noise_std**2)

        for last in range(2, len(points) // 2 + 1):
            moved = points[-last:].mean(axis=0) - points[-1]
            allowed = variances(responses[:, -last:].mean(axis=1) - responses[:, -1])
            if float(moved @ moved) > (1 + _DRIFT * math.sqrt(2 / size)) * float(np.sum(allowed)):
                break
            best = last
        spread = variances(responses[:, -best:].mean(axis=1))
        return points[-best:].mean(axis=0), np.asarray((turn * spread) @ turn.T)


def without_noise(estimate: Floats, start: Floats, noise: Floats, constant: bool) -> tuple[Floats, str]:
    """Slopes shrunk to 0 and a constant shrunk to its start, by their noise; and how clear the
    slopes are.
    """
    first = int(constant)
    goal = np.concatenate([start[:first], np.zeros(len(estimate) - first)])
    result = shrunk(estimate, noise, goal, first)
    result[:first] = estimate[:first]
    said = signal(estimate[first:], noise[first:, first:])
    return result, said
