"""What the one-pass solvers share: a ground to descend on, steps, averages, and shrinkage by the known noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from discreet.algorithms.steps.index_look import Seen, look
from discreet.algorithms.steps.index_model import Design, IndexModel, gaussian_curvature, likely_middle, likely_spread
from discreet.privacy import GDP, Budget
from discreet.rows import Floats, RowsUsed, Source

LOOK_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class Ground:
    """Where a descent takes place: coordinates, a starting point, and what is known of y."""

    design: Design
    seen: Seen
    theta: Floats
    spread: float

    @property
    def norm(self) -> float:
        """The typical norm of a row."""
        return math.sqrt(self.design.size)


def prepare(
    source: Source, budget: Budget, model: IndexModel, known: tuple[Floats, Floats] | None
) -> tuple[Ground, GDP]:
    """A first look, coordinates from public rows or from it, and what is left of the budget."""
    first, rest = budget.split([LOOK_SHARE, 1 - LOOK_SHARE])
    x_norm = None if known is None else math.sqrt(float(np.trace(known[1])) + float(known[0] @ known[0]))
    return ground(model, look(source, first, model, x_norm), known), rest


def ground(model: IndexModel, seen: Seen, known: tuple[Floats, Floats] | None) -> Ground:
    if known is None:
        known = np.zeros(model.width), np.eye(model.width) * seen.x_norm**2 / model.width
    theta = np.zeros(model.size)
    if model.intercept:
        theta[0] = likely_middle(model.link, seen.y_middle, 0.3 * seen.y_spread)
    middle = float(theta[0]) if model.intercept else 0.0
    spread = likely_spread(model.link, middle, 0.7 * seen.y_spread**2)
    return Ground(Design.whitening(model, *known, floor=0.0), seen, theta, spread)


def declared_ground(model: IndexModel, known: tuple[Floats, Floats] | None, rows: int) -> Ground:
    """As the papers have it: no look at the rows, only what was declared."""
    seen = Seen(float(rows), model.labels.centre, model.labels.half_width, model.x_radius)
    start = ground(model, seen, known)
    return Ground(start.design, seen, np.zeros(model.size), start.spread)


def seeing_start(model: IndexModel, theta: Floats) -> Floats:
    """A start for the true gradient, which for a ReLU is 0 at 0: one at which some rows have a positive index."""
    start = theta.copy()
    if model.intercept:
        start[0] = likely_middle(model.link, model.labels.centre, 0.1 * model.labels.half_width)
        return start
    return start + 0.1 * model.labels.half_width / math.sqrt(model.size)


@dataclass
class Descent:
    """The iterates, of which the model is an average, and the variance of the noise in each coordinate of it."""

    design: Design
    theta: Floats
    path: list[Floats] = field(default_factory=list)
    noise_variance: float = 0.0
    steps: int = 0
    # How many rows contributed; None where the solver does not say.
    used: RowsUsed | None = None


def step_size(model: IndexModel, ground: Ground, reach: float, power: int) -> float:
    """The inverse of the curvature on average, and of what clipping at ``reach`` residuals leaves of it."""
    curvature = gaussian_curvature(model.link, ground.theta, model.intercept, ground.spread, power)
    # Of Gaussian residuals a clip at c standard deviations leaves 2 Phi(c) - 1 of the answer to a small change.
    return 1.0 / ((2 * float(ndtr(reach)) - 1) * max(float(np.trace(curvature)) / len(curvature), 1e-6))


def averaged_noise(drawn_back: float, steps: int, first: int, stds: Floats) -> float:
    """The variance, in the mean of iterates after ``first``, of theta <- (1 - drawn_back) theta + noise."""
    influence = np.zeros(steps)
    held = 0.0
    for t in range(steps - 1, -1, -1):
        # Noise of step t stands in iterate t + 1 and fades from there.
        held = held * (1 - drawn_back) + (1.0 if t + 1 > first else 0.0)
        influence[t] = held
    return float(np.sum((influence * stds) ** 2)) / max(steps - first, 1) ** 2


def shrunk(theta: Floats, variance: float, intercept: bool) -> Floats:
    """Slopes as far as they stand clear of the noise: of its squared length, the mean and two standard deviations."""
    result = theta.copy()
    slopes = slice(int(intercept), None)
    size, length = len(theta[slopes]), float(theta[slopes] @ theta[slopes])
    noise = (size + 2 * math.sqrt(2 * size)) * variance
    result[slopes] *= max(0.0, 1 - noise / max(length, 1e-300))
    return result
