"""Steps to the optimum that the foreseen curvature gives, no longer than it is trusted."""

from __future__ import annotations

from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.noisy_matrix import inverse
from discreet.algorithms.parts.shrink import clear
from discreet.rows import Floats

# The longest step for a curved link, in standard deviations of eta; of several predictors, of the
# one that changes most.
_LONGEST_STEP = 1.5
# The predictor of a rare category, which hardly changes that standard deviation, may move this many
# times as far.
_GROUP = 2.0


def foreseen(
    frame: Frame, phi: Floats, gradient: Floats, noise_std: float, label_variance: float, doubt: float = 0.0
) -> Floats:
    """The optimum by the foreseen curvature, from the part of the gradient that is clear of its
    noise. ``doubt``: how far noise moves the curvature's eigenvalues, relative to them.
    """
    model = frame.model
    gradient = gradient + frame.penalty @ phi
    # The root mean square by which noise moves eigenvalues is half of the edge. A step for an
    # uncertain curvature c is shorter by the factor E[c] / E[c^2].
    gradient = gradient * clear(gradient, noise_std**2) * (1 / (1 + (doubt / 2) ** 2))
    if not model.link.is_identity and model.link == model.family.canonical_link:
        return limited(frame, phi, frame.foresight.solve(phi, gradient, label_variance))
    return limited(frame, phi, phi - inverse(frame.foresight.curvature(phi) + frame.penalty) @ gradient)


def limited(frame: Frame, phi: Floats, goal: Floats) -> Floats:
    """The goal, or a shorter step: a curvature is known only near the current point."""
    step = goal - phi
    if frame.model.link.is_identity:
        return goal
    longest = _LONGEST_STEP * frame.foresight.unit
    groups = [abs(float(one.row @ step)) / _GROUP for one in frame.rare_directions]
    return phi + step * min(1.0, longest / max(frame.length(step, phi), *groups, 1e-300))
