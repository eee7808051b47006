"""The filter of an index model among the last gradients: where it leads, and what it predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.measure import Estimate, Measurement
from discreet.algorithms.parts.uncertain import Spread
from discreet.algorithms.steps.kalman import Belief
from discreet.privacy import GDP
from discreet.rows import Floats


@dataclass(frozen=True, eq=False)
class Filter:
    """What was believed before the last gradients."""

    belief: Belief
    # Whether noise hides the curvature, so that these say more through the foreseen response.
    leads: bool
    # The cost of a gradient that is still to be asked for, beside the histogram of scores.
    next: GDP | None = None

    def believed(self, frame: Frame, seen: Sequence[Measurement], keeps: Sequence[float], kept: float) -> Belief:
        """The filter after these measurements; ``kept``: the part of the curvature that their clip
        norm and levels keep.
        """
        belief = replace(self.belief, path=[])
        response = kept * frame.foresight.curvature(seen[-1].phi) + frame.penalty
        for one in seen:
            gradient, noise_std = one.gradient(keeps)
            gradient = gradient + frame.penalty @ one.phi
            belief.see_gradient(-gradient - response @ (belief.theta - one.phi), response, noise_std)
        return belief

    def with_estimate(self, estimate: Estimate, spread: Spread) -> Belief:
        """The filter after an estimate of the optimum, which is one more measurement."""
        size, error = len(estimate.phi), spread.noise
        # Short clips lead to an optimum of their own: what both differ by, beyond their noise,
        # is bias.
        away, known = estimate.phi - self.belief.theta, self.belief.covariance + spread.sampling / 2
        bias = max(float(away @ away) - float(np.trace(known + error)), 0.0)
        belief = replace(self.belief, covariance=known + bias / size * np.eye(size), path=[])
        belief.see_estimate(estimate.phi, error)
        return belief

    def path(self, seen: Sequence[Measurement], predicted: Floats) -> list[Floats]:
        """Where its steps have led."""
        return [*self.belief.path, *(one.phi for one in seen[1:]), predicted]
