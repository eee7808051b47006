"""Gradients as measurements of the optimum: a Kalman filter."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.algorithms.steps.repair import solved
from discreet.rows import Floats

# The response to a change of theta is a guess, with an assumed error of this part of
# its largest eigenvalue.
_DOUBT = 0.2
# The model is nonlinear: the end of a step is uncertain by this part of its squared length.
_BEND = 0.25


@dataclass
class Belief:
    """theta, and the covariance of its remaining error."""

    theta: Floats
    covariance: Floats
    path: list[Floats] = field(default_factory=list)
    # The assumed error of the response, relative to its largest eigenvalue.
    wrong: float = _DOUBT
    # The covariance of the noise in theta alone.
    noise: Floats | None = None

    def see_gradient(self, mean: Floats, response: Floats, noise_std: float) -> None:
        """A Kalman update: the mean gradient is response (optimum - theta) plus noise;
        the response is a guess.

        Early answers lose weight as far as they are worse, late ones are averaged, and with a small
        budget theta stays near its start.
        """
        size = len(mean)
        doubt = (self.wrong * float(np.linalg.eigvalsh(response)[-1])) ** 2 * float(np.trace(self.covariance)) / size
        error = (noise_std**2 + doubt) * np.eye(size)
        gain = solved(response @ self.covariance @ response + error, response @ self.covariance).T
        step, spread = gain @ mean, gain @ error @ gain.T
        left = np.eye(size) - gain @ response
        self.theta = self.theta + step
        # Only the part of a step that is not noise counts towards its length.
        length = max(0.0, float(step @ step) - float(np.trace(spread)))
        self.covariance = left @ self.covariance @ left.T + spread + _BEND * length / size * np.eye(size)
        before = np.zeros_like(left) if self.noise is None else self.noise
        self.noise = left @ before @ left.T + noise_std**2 * gain @ gain.T
        self.path.append(self.theta)

    def see_estimate(self, estimate: Floats, covariance: Floats) -> None:
        """Combine with a direct estimate of the optimum."""
        gain = solved(self.covariance + covariance, self.covariance).T
        self.theta = self.theta + gain @ (estimate - self.theta)
        self.path.append(self.theta)
