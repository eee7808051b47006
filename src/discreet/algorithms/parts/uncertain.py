"""What an estimate is off by because the response of the gradient was seen through noise.

A measurement says that the optimum is phi - response^-1 gradient. Where noise hides how flat a direction is, the step
may be many times too short, and no linear formula says by how much. So the response is drawn from what it may be, given
the noisy curvatures, and the spread of what the measurements then say is the answer. Nothing here asks the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts.measure import Estimate, Measurement
from discreet.algorithms.parts.noisy_matrix import Seen, inverse
from discreet.rows import Floats

_DRAWS, _LEAST_DRAWS, _DRAWS_SIZE = 60, 12, 3000
# No direction of a drawn response is flatter or steeper than these multiples of the one that was estimated, on average.
_FLATTEST, _STEEPEST = 0.03, 4.0
# Entries beside the diagonal may differ from what is estimated by what is seen of that, and so many standard errors.
_MORE = 1.0


@dataclass(frozen=True, eq=False)
class Spread:
    """Covariances of an estimate: from noise, in gradients and in their response, and from sampling."""

    noise: Floats
    sampling: Floats


def spread(
    estimate: Estimate,
    measurements: Sequence[Measurement],
    keeps: Sequence[float],
    inverses: Sequence[Floats],
    scores: Floats,
) -> Spread:
    """How far the optimum may lie from the estimate, if the response's inverse is any of these.

    ``scores``: the covariance of scores, per row.
    """
    size, frame = len(estimate.phi), measurements[0].frame
    gradients = [one.gradient(keeps) for one in measurements]
    both = list(zip(estimate.weights, measurements, gradients, strict=True))
    variance = sum((weight * noise_std) ** 2 for weight, _, (_, noise_std) in both)
    point = sum((weight * one.phi for weight, one, _ in both), np.zeros(size))
    slope = sum((weight * (value + frame.penalty @ one.phi) for weight, one, (value, _) in both), np.zeros(size))
    noise, sampling = np.zeros((size, size)), np.zeros((size, size))
    for back in inverses:
        off = point - back @ slope - estimate.phi
        noise += (np.outer(off, off) + variance * back @ back) / len(inverses)
        sampling += back @ scores @ back / (frame.count * len(inverses))
    return Spread(noise + estimate.unsure, sampling)


def likely_inverses(response: Floats, below: Floats, seen: Sequence[Seen], penalty: Floats) -> list[Floats]:
    """Inverses of what the response may be; ``below``: its part below the clip norm, of which curvatures were seen.

    Its diagonal is taken as it was seen, give or take the noise: every column may have a scale of its own. Entries
    beside it are alike before they are seen, with a variance that all of them together tell (empirical Bayes).
    """
    size = len(response)
    trusts = np.array([max(one.noise_std, 1e-300) ** -2 for one in seen])
    noise = float(trusts.sum()) ** -0.5
    released = sum((trust * one.curvature for trust, one in zip(trusts, seen, strict=True)), 0 * below) / trusts.sum()
    difference = (released + released.T) / 2 - below
    beside = ~np.eye(size, dtype=bool)
    # The noise beside the diagonal has half the variance of that on it.
    count, variance = size * (size - 1) / 2, noise**2 / 2
    square = float(np.mean(difference[beside] ** 2)) if size > 1 else 0.0
    spread = max(square - variance, 0.0) + _MORE * variance * np.sqrt(2 / max(count, 1.0))
    trust = spread / max(spread + variance, 1e-300)
    centre = np.where(beside, trust * difference, difference)
    width = np.where(beside, np.sqrt(trust * variance), noise)
    typical = max(float(np.trace(response)) / size, 1e-300)
    steepest = float(np.linalg.eigvalsh(response)[-1])
    random = np.random.default_rng(size)  # not noise for privacy: any fixed draws will do
    draws = max(_LEAST_DRAWS, min(_DRAWS, _DRAWS_SIZE // size))
    result = []
    for _ in range(draws):
        upper = np.triu(random.standard_normal((size, size)))
        noisy = upper + upper.T - np.diag(np.diagonal(upper))
        values, vectors = np.linalg.eigh(response + centre + width * noisy)
        values = np.clip(values, _FLATTEST * typical, max(_STEEPEST * typical, steepest))
        result.append(inverse((vectors * values) @ vectors.T + penalty))
    return result
