"""What one-pass solvers share: a starting point, step sizes, averages, and
shrinkage by the known noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from discreet.algorithms.parts.shrink import clear, signal
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.index_look import Seen, look
from discreet.algorithms.steps.index_model import gaussian_curvature, likely_middle, likely_spread
from discreet.privacy import GDP, Budget
from discreet.rows import Floats, RowsUsed, Source
from discreet.rows.index_sums import IndexGradient

LOOK_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class Ground:
    """Where a descent takes place: coordinates, a starting point, and prior knowledge about y."""

    design: Coordinates
    seen: Seen
    theta: Floats
    spread: float

    @property
    def norm(self) -> float:
        """The typical norm of a row."""
        return math.sqrt(self.design.size)

    @property
    def mean(self) -> Floats:
        """The mean of white z, of which only the constant's is known."""
        mean = np.zeros(self.design.size)
        mean[: int(self.design.constant)] = 1.0
        return mean


def prepare(
    source: Source, budget: Budget, model: GlmModel, x_radius: float, known: tuple[Floats, Floats] | None
) -> tuple[Ground, GDP]:
    """A first look, coordinates from public rows or from it, and the rest of the budget."""
    first, rest = budget.split([LOOK_SHARE, 1 - LOOK_SHARE])
    seen = look(source, first, model.labels, model.width, x_radius, with_norms=known is None)
    return ground(model, seen, known), rest


def ground(model: GlmModel, seen: Seen, known: tuple[Floats, Floats] | None) -> Ground:
    """``known``: mean and covariance of encoded x, from public rows."""
    if known is None:
        known = np.zeros(model.width), np.eye(model.width) * seen.x_norm**2 / model.width
    theta = np.zeros(model.size)
    if model.origin is None:
        theta[0] = likely_middle(model.link, seen.y_middle, 0.3 * seen.y_spread)
    middle = float(theta[0]) if model.origin is None else 0.0
    spread = likely_spread(model.link, middle, 0.7 * seen.y_spread**2)
    return Ground(Coordinates.white(*known, 0.0, model.origin), seen, theta, spread)


def declared_ground(model: GlmModel, x_radius: float, known: tuple[Floats, Floats] | None, rows: int) -> Ground:
    """As in the papers: no look at the rows, only declared quantities."""
    seen = Seen(float(rows), model.labels.centre, model.labels.half_width, x_radius)
    start = ground(model, seen, known)
    return Ground(start.design, seen, np.zeros(model.size), start.spread)


def public_rows(source: Source) -> int:
    """The number of rows, which a shuffled pass needs."""
    if source.public_rows is None:
        raise ValueError("a shuffled pass needs a public number of rows: neighbours='replace_one', and no groups")
    return source.public_rows


def glmtron_gradient(model: GlmModel, ground: Ground, theta: Floats, clip: float) -> IndexGradient:
    """The sum of (y - mean) z, clipped."""
    return IndexGradient(ground.design.map(theta), model.labels, model.link.mean, None, 1.3 * ground.norm, clip)


def seeing_start(model: GlmModel, theta: Floats) -> Floats:
    """A start for the true gradient, which for a ReLU is 0 at 0: one where some
    rows have a positive index.
    """
    start = theta.copy()
    if model.origin is None:
        start[0] = likely_middle(model.link, model.labels.centre, 0.1 * model.labels.half_width)
        return start
    return start + 0.1 * model.labels.half_width / math.sqrt(model.size)


@dataclass
class Iterates:
    """The iterates, their average, which is the model, and the noise variance in
    each of its coordinates.
    """

    design: Coordinates
    theta: Floats
    path: list[Floats] = field(default_factory=list)
    noise_variance: float = 0.0
    steps: int = 0
    # The number of rows that contributed; None if the solver does not release it.
    used: RowsUsed | None = None
    # Whether slopes are clear of the noise; None if the noise in them is not known.
    signal: str | None = None


def step_size(model: GlmModel, ground: Ground, reach: float, power: int) -> float:
    """The inverse of the mean curvature, and of what clipping at ``reach``
    residuals keeps of it.
    """
    curvature = gaussian_curvature(model.link, ground.theta, ground.mean, ground.spread, power)
    # For Gaussian residuals, a clip at c standard deviations keeps 2 Phi(c) - 1 of the response.
    return 1.0 / ((2 * float(ndtr(reach)) - 1) * max(float(np.trace(curvature)) / len(curvature), 1e-6))


def averaged_noise(drawn_back: float, steps: int, first: int, stds: Floats) -> float:
    """The variance of the mean of iterates after ``first``, under theta <-
    (1 - drawn_back) theta + noise.
    """
    influence = np.zeros(steps)
    held = 0.0
    for t in range(steps - 1, -1, -1):
        # The noise of step t enters iterate t + 1 and decays from there.
        held = held * (1 - drawn_back) + (1.0 if t + 1 > first else 0.0)
        influence[t] = held
    return float(np.sum((influence * stds) ** 2)) / max(steps - first, 1) ** 2


def finished(
    ground: Ground,
    model: GlmModel,
    theta: Floats,
    path: list[Floats],
    variance: float,
    steps: int,
    used: RowsUsed | None = None,
) -> Iterates:
    """The end of a descent: the part of the slopes that is clear of the noise, and how clear they
    are. Where nothing is left of them, they are "drowned": both rules have the same limit.
    """
    first, result = int(ground.design.constant), theta.copy()
    slopes = result[first:]
    said = signal(slopes, variance * np.eye(len(slopes)), used)
    slopes *= clear(slopes, variance)
    return Iterates(ground.design, result, path, variance, steps, used, said)
