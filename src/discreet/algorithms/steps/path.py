"""Steps of a descent, and what the gradients along them say about the optimum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.local import Inquiry, Local
from discreet.privacy import GDP
from discreet.rows import Floats


@dataclass(frozen=True, eq=False)
class Path:
    """Points visited, the gradients seen at all but the last, the noise in each, and the inverse curvature used."""

    points: list[Floats]
    gradients: list[Floats]
    noise_std: float
    inverse: Floats

    @property
    def near(self) -> Floats:
        """The end of the path, with half the noise of its last step."""
        return np.asarray(np.mean(self.points[-2:], axis=0))

    @property
    def optimum(self) -> Floats:
        """The mean of where the gradients of the later half say that the optimum is."""
        return np.asarray(np.mean(self._said, axis=0))

    @property
    def _said(self) -> list[Floats]:
        half = len(self.gradients) // 2
        later = zip(self.points[half:-1], self.gradients[half:], strict=True)
        return [point - self.inverse @ gradient for point, gradient in later]

    @property
    def disagreement(self) -> float:
        """The variance of ``optimum`` in a coordinate by how much the later gradients differ, whatever the reason."""
        said = np.array(self._said)
        return float(np.mean(said.var(axis=0, ddof=1))) / len(said)

    @property
    def noise_covariance(self) -> Floats:
        """That of the noise in ``optimum``, to first order."""
        used = len(self.gradients) - len(self.gradients) // 2
        return np.asarray(self.noise_std**2 / used * self.inverse @ self.inverse)

    @property
    def noise_variance(self) -> float:
        """The same, of a coordinate on average."""
        return float(np.mean(np.diag(self.noise_covariance)))

    def point_variance(self, step: float) -> float:
        """That of the noise in a coordinate of the later points: each step forgets this part of it and adds its own."""
        return step / (2 - step) * self.noise_std**2 * float(np.mean(np.diag(self.inverse @ self.inverse)))


def walk(
    inquiry: Inquiry, local: Local, cost: GDP, steps: int, within: Callable[[Floats], Floats] | None = None
) -> Path:
    """So many gradient steps from a point; ``within`` brings each new point back to where models make sense.

    Privacy: one sum a step, whose costs together are ``cost``.
    """
    each = GDP(cost.mu / math.sqrt(steps))
    inverse = inquiry.inverse(local)
    points, gradients, noise_std = [local.phi], [], 0.0
    for _ in range(steps):
        gradient, noise_std = inquiry.gradient(local, points[-1], each)
        gradients.append(gradient)
        point = points[-1] - inquiry.plan.step * (inverse @ gradient)
        points.append(point if within is None else within(point))
    return Path(points, gradients, noise_std, inverse)
