"""Families, links and the repair of noisy matrices."""

from discreet.glm.noisy_quadratic import NoisyQuadratic, Solution

__all__ = ["NoisyQuadratic", "Solution"]
