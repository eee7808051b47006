"""Slopes of skewed errors whose spread depends on the features: a mean score along the direction in
which rows are clipped.

Where errors are larger in some rows than in others, more of those rows are clipped. If errors are
skewed as well, what is clipped has a mean, and slopes are biased. Shares of clipped rows by
direction are counts: they show the direction of this bias with far less noise than scores do, but
not whether there is one. So where a direction is clear, the mean score along it is asked for at the
last point. It is one number, so its clip can lie far above that of gradients, and the estimate
follows it along this direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.shrink import clear
from discreet.algorithms.parts.sizes import Sizes
from discreet.algorithms.parts.uncertain import Spread
from discreet.privacy import GDP
from discreet.rows import Answer, Floats
from discreet.rows.gradient import GradientSum

# A direction counts in full from this part on that is clear of its noise.
_SURE = 0.25
# A row far out along a direction has this component of z.
_FAR_OUT = 2.0
# The relative error of the mean score's response: of the second moment of z, which is about 1.
_DOUBT = 0.2


@dataclass(frozen=True, eq=False)
class Direction:
    """The direction of z in which rows are clipped; ``noise``: the mean square of the error of an
    entry of the unit vector.
    """

    unit: Floats
    noise: float
    sure: float

    @classmethod
    def read(cls, clipped: Answer, constants: int) -> Direction | None:
        """From the sum of z / |z| of clipped rows; None if noise hides it. A constant has none."""
        slopes = clipped.value[constants:, 0]
        part, square = clear(slopes, clipped.noise_std**2), float(slopes @ slopes)
        if not (part > 0 and math.isfinite(square)):
            return None
        unit = np.concatenate([np.zeros(constants), slopes / math.sqrt(square)])
        return cls(unit, clipped.noise_std**2 / square, min(part / _SURE, 1.0))

    @property
    def along(self) -> float:
        """The part of a vector of the true direction that is along this one, squared."""
        return 1 - (np.count_nonzero(self.unit) - 1) * self.noise

    def question(self, frame: Frame, phi: Floats, sizes: Sizes, cost: GDP) -> tuple[GradientSum, GDP]:
        """The mean score along the direction, with the clip that has the smallest predicted error.

        Privacy: a row adds a number of at most the clip, as a gradient in one coordinate.
        """
        noise = frame.source.noise_std(frame.mean_score(phi, 1.0, self.unit), cost) / frame.count
        return frame.mean_score(phi, self.sizes(sizes).widest_clip(noise), self.unit), cost

    def sizes(self, sizes: Sizes) -> Sizes:
        """Those of scores along the direction."""
        return sizes.scaled(_FAR_OUT / math.hypot(math.sqrt(len(self.unit) - 1), _FAR_OUT))


@dataclass(frozen=True, eq=False)
class DirectedScore:
    """The mean score along a direction at a point."""

    frame: Frame
    phi: Floats
    direction: Direction
    value: float
    noise_std: float
    # What its clip may have taken from it.
    bias: float

    @classmethod
    def read(
        cls, frame: Frame, phi: Floats, direction: Direction, asked: GradientSum, sizes: Sizes, answer: Answer
    ) -> DirectedScore:
        value, noise_std = float(answer.value[0, 0]) / frame.count, answer.noise_std / frame.count
        return cls(frame, phi, direction, value, noise_std, direction.sizes(sizes).hidden_beyond(asked.clip))

    def move(self, estimate: Floats, wider: float) -> Move:
        """What it says of an estimate.

        ``wider``: the sampling variance of an estimate from all scores, relative to that of one
        from clipped scores.
        """
        unit, step = self.direction.unit, estimate - self.phi
        curve = self.frame.foresight.curvature(self.phi) @ unit
        response = float(unit @ curve)
        away = -(self.value + float(curve @ step)) / response
        doubt = _DOUBT * (away + float(unit @ step))
        own = (self.noise_std**2 + self.bias**2) / response**2 + doubt**2
        return Move(self.direction, away, own, wider)


@dataclass(frozen=True, eq=False)
class Move:
    """By how much an estimate is off along a direction, the noise variance of one that has moved,
    and the factor of its sampling variance.
    """

    direction: Direction
    away: float
    noise: float
    wider: float

    def moved(self, phi: Floats) -> Floats:
        return phi + self.direction.sure / self.direction.along * self.away * self.direction.unit

    def spread(self, before: Spread) -> Spread:
        """The covariances of the moved estimate: along the direction the noise is that of the mean
        score. The rest of the move has the error of the direction.
        """
        unit, sure, along = self.direction.unit, self.direction.sure, self.direction.along
        turn = np.eye(len(unit)) - sure * np.outer(unit, unit)
        whole = np.outer(unit, unit)
        noise = turn @ before.noise @ turn.T + whole * (sure * self.noise / along**2 + (1 - sure) * self.away**2)
        slopes = np.diag((unit != 0).astype(float)) - whole
        noise = noise + self.away**2 * self.direction.noise * slopes
        stretch = np.eye(len(unit)) + (math.sqrt(max(self.wider, 1.0)) - 1) * sure * whole
        return Spread(noise, stretch @ before.sampling @ stretch.T)
