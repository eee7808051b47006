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
# A bias of slopes, relative to that of the constant, is 1 to 1.5 times what the shares of clipped
# rows in their direction are, relative to all. In 144 simulated designs it was .8 to 1.6 times:
# four laws of skewed errors, four of their spread, 3 to 20 columns, and three clip norms.
_BIAS = 1.5
# The relative error of the mean score's response: of the second moment of z, which is about 1.
_DOUBT = 0.2


@dataclass(frozen=True, eq=False)
class Direction:
    """A unit vector of z along which rows were clipped at an earlier point."""

    unit: Floats

    @classmethod
    def read(cls, clipped: Answer, constants: int) -> Direction | None:
        """From the sum of z / |z| of clipped rows; None if noise hides it. A constant has none."""
        slopes = clipped.value[constants:, 0]
        length = float(np.linalg.norm(slopes))
        if not (clear(slopes, clipped.noise_std**2) > 0 and math.isfinite(length)):
            return None
        return cls(np.concatenate([np.zeros(constants), slopes / length]))

    def question(self, frame: Frame, phi: Floats, sizes: Sizes, cost: GDP) -> tuple[GradientSum, GDP]:
        """The mean score along the direction, with the clip that has the smallest predicted error.

        Privacy: a row adds a number of at most the clip, as a gradient in one coordinate.
        """
        noise = frame.source.noise_std(frame.mean_score(phi, 1.0, self.unit), cost) / frame.count
        return frame.mean_score(phi, self._sizes(sizes).widest_clip(noise), self.unit), cost

    def hidden_beyond(self, sizes: Sizes, clip: float) -> float:
        """What a clip may take from the mean score."""
        return self._sizes(sizes).hidden_beyond(clip)

    def _sizes(self, sizes: Sizes) -> Sizes:
        """Those of scores along the direction."""
        return sizes.scaled(_FAR_OUT / math.hypot(math.sqrt(len(self.unit) - 1), _FAR_OUT))


@dataclass(frozen=True, eq=False)
class DirectedScore:
    """The mean score along a direction at the last point, and the sum of z / |z| of rows that are
    clipped there.
    """

    frame: Frame
    phi: Floats
    unit: Floats
    value: float
    noise_std: float
    # What its clip may have taken from it.
    bias: float
    clipped: Answer

    def move(self, estimate: Floats, noise: Floats, wider: float) -> Move:
        """What it says of an estimate with this noise.

        The estimate moves as far as this is clear of the noise: errors may be symmetric. Its error
        counts as if it had moved all the way, and the rest of the way besides. A start that is off
        clips more rows on one side, too: the direction counts as far as rows are still clipped
        along it. ``wider``: the sampling variance of an estimate from all scores, relative to that
        of one from clipped scores.
        """
        unit, step = self.unit, estimate - self.phi
        curve = self.frame.foresight.curvature(self.phi) @ unit
        response = float(unit @ curve)
        away = -(self.value + float(curve @ step)) / response
        doubt = _DOUBT * (away + float(unit @ step))
        variance = (self.noise_std**2 + self.bias**2) / response**2 + doubt**2
        slopes = np.arange(len(unit)) >= self.frame.constants
        again = np.where(slopes, self.clipped.value[:, 0], 0.0)
        along = float(unit @ again)
        part = clear(np.array([along]), self.clipped.noise_std**2)
        if not (part > 0 and along > 0 and np.isfinite([away, variance]).all()):
            return Move(unit, 0 * unit, 0.0, 0.0, np.zeros((len(unit), len(unit))), 1.0)  # noise hides it
        sure, change = min(part / _SURE, 1.0), again / along
        spread = variance + float(unit @ noise @ unit)
        moved = sure * clear(np.array([away]), spread) * away
        own = sure * variance + (away - moved) ** 2
        # The direction has an error across itself.
        aside = sure * (moved * self.clipped.noise_std / along) ** 2 * (np.diag(slopes) - np.outer(unit, unit))
        return Move(unit, change, sure, moved, own * np.outer(change, change) + aside, wider)


@dataclass(frozen=True, eq=False)
class Move:
    """By how much an estimate moves along a unit vector, the change of the estimate by which it is
    1, and the covariance of the error of the move.

    ``sure``: the part of the estimate's own noise along the vector that this error replaces;
    ``wider``: the factor of the sampling variance along the change.
    """

    unit: Floats
    change: Floats
    sure: float
    step: float
    error: Floats
    wider: float

    @property
    def across(self) -> Floats:
        """The matrix that leaves out what the move corrects."""
        return np.eye(len(self.unit)) - self.sure * np.outer(self.change, self.unit)

    def moved(self, phi: Floats) -> Floats:
        return phi + self.step * self.change

    def spread(self, before: Spread) -> Spread:
        """The covariances of the moved estimate: along the change the noise is that of the mean
        score.
        """
        turn = self.across
        noise = turn @ before.noise @ turn.T + self.error
        stretch = np.eye(len(turn)) + (math.sqrt(max(self.wider, 1.0)) - 1) * (np.eye(len(turn)) - turn)
        return Spread(noise, stretch @ before.sampling @ stretch.T)


def unseen_bias(clipped: Answer, seen: float, constant: float) -> Floats:
    """The second moment of a bias of slopes, as far as noise hides the direction in which rows are
    clipped.

    ``clipped``: the sum of z / |z| of clipped rows; ``seen``: the part of the bias that is known;
    ``constant``: the bias that the constant seems to have.
    """
    value = clipped.value[:, 0]
    slopes = np.concatenate([[0.0], value[1:]])
    bias = _BIAS * constant * slopes / max(value[0], clipped.noise_std)
    known = (1 - seen) * np.outer(bias, bias)
    return known if np.isfinite(known).all() else np.zeros_like(known)
