"""Where a multinomial descent went, and what its gradients together say of the optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.class_curvature import Curvature
from discreet.rows import Floats

# Coefficients no longer than this in white coordinates: every probability is certain long before.
_LONGEST = 30.0


@dataclass(frozen=True, eq=False)
class ClassPath:
    """Points visited, the gradients seen at all but the last, the noise in each, and the curvature as it was seen."""

    points: list[Floats]
    gradients: list[Floats]
    noise_std: float
    curvature: Curvature

    @property
    def near(self) -> Floats:
        return np.asarray(np.mean(self.points[-2:], axis=0))

    def target(self) -> tuple[Floats, float]:
        """The mean of where the gradients say that the optimum is, and the variance of a gradient's noise in it.

        Gradients near the optimum say it best: they weigh by the loss that noise and distance together cost.
        """
        targets = [p - self.curvature.solve(g) for p, g in zip(self.points[:-1], self.gradients, strict=True)]
        noise = self.curvature.trace_of_inverse * self.noise_std**2 / 2
        lost = [float(np.sum(g * self.curvature.solve(g))) / 2 for g in self.gradients]
        weights = 1 / (noise + np.maximum(np.array(lost) - noise, 0.0) + 1e-300)
        weights /= np.sum(weights)
        target = np.einsum("t,tij->ij", weights, np.array(targets))
        return within_reach(target), self.noise_std**2 * float(weights @ weights)


def within_reach(psi: Floats) -> Floats:
    """psi, shortened where noise or separable classes would carry it off for ever."""
    return np.asarray(psi * min(1.0, _LONGEST / max(float(np.linalg.norm(psi)), 1e-300)))
