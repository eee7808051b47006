"""The constant of labels whose errors are skewed: from a mean score that is hardly clipped.

Clipped scores of skewed errors have another mean than the scores themselves. Slopes hardly notice,
but the constant moves by all of it, and every prediction with it. A mean is one number, so its clip
can lie far above that of gradients for little budget. It says how far the constant is off, and the
constant follows as far as this is clear of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.measure import DOUBT
from discreet.algorithms.parts.shrink import clear
from discreet.algorithms.parts.sizes import Sizes
from discreet.algorithms.parts.uncertain import Spread
from discreet.privacy import GDP
from discreet.rows import Answer, Floats
from discreet.rows.gradient import GradientSum


def mean_question(frame: Frame, phi: Floats, sizes: Sizes, cost: GDP) -> tuple[GradientSum, GDP]:
    """The mean score at a point, with the clip that has the smallest predicted error.

    Privacy: a row adds a number of at most the clip, as a gradient of length one.
    """
    noise = frame.source.noise_std(frame.mean_score(phi, 1.0), cost) / frame.count
    return frame.mean_score(phi, sizes.widest_clip(noise) / frame.root_size), cost


@dataclass(frozen=True, eq=False)
class MeanScore:
    """A mean score at a point, its noise, and the mean of z as far as it is known."""

    frame: Frame
    phi: Floats
    value: float
    noise_std: float
    centre: Floats

    @classmethod
    def read(cls, frame: Frame, phi: Floats, answer: Answer, x_centre: Floats) -> MeanScore:
        """``x_centre``: the mean of x by the first look. Whitening shortens long rows, so the mean
        of z need not be 0 where a column is rare.
        """
        centre = frame.coordinates.matrix @ np.concatenate([[1.0], x_centre])
        return cls(frame, phi, float(answer.value[0, 0]) / frame.count, answer.noise_std / frame.count, centre)

    def constant(self, estimate: Floats, noise: Floats, clipped_variance: float) -> Constant:
        """What it says of the constant of an estimate with this noise.

        ``clipped_variance``: the sampling variance of an estimate from clipped scores, relative to
        that of one from all of them.
        """
        curve, step = self.frame.foresight.curvature(self.phi)[0], estimate - self.phi
        along = curve / curve[0]
        along[1:] += self.centre[1:]
        away = -self.value / float(curve[0]) - float(along @ step)
        own = (self.noise_std / float(curve[0])) ** 2
        sampling = self.frame.dispersion / (self.frame.count * float(curve[0]))
        # Both estimates are from the same rows: their difference has the sampling error of neither.
        known = own + float(along @ noise @ along) + max(clipped_variance - 1, 0.0) * sampling
        known += DOUBT**2 * float(step[1:] @ step[1:])
        if not np.isfinite([away, known]).all():
            return Constant(along, 0.0, 0.0, 0.0, own, sampling)  # extreme noise
        return Constant(along, away, clear(np.array([away]), known), known, own, sampling)


@dataclass(frozen=True, eq=False)
class Constant:
    """By how much a constant seems to be off, the part of that which is clear of its variance, and
    the noise and sampling variance of the constant that has moved all the way.

    ``along``: the mean score follows the estimate along this direction, by 1 for the constant.
    """

    along: Floats
    away: float
    part: float
    variance: float
    noise: float
    sampling: float

    def moved(self, phi: Floats) -> Floats:
        phi = phi.copy()
        phi[0] += self.part * self.away
        return phi

    def spread(self, before: Spread) -> Spread:
        """The covariances of the estimate with the moved constant.

        What moves has the noise of the mean score in the place of its own. As far as the constant
        stays, it may be off by what is seen, or could not be. One that moves has the larger of two
        sampling variances: the model's, and the one that clipped scores show.
        """
        stays = 1 - self.part
        turn = np.eye(len(self.along))
        turn[0] -= self.part * self.along
        noise = turn @ before.noise @ turn.T
        noise[0, 0] += self.part**2 * self.noise + max(stays * self.variance, (stays * self.away) ** 2)
        sampling, seen = before.sampling.copy(), float(before.sampling[0, 0])
        sampling[0] *= stays
        sampling[1:, 0] *= stays
        sampling[0, 0] += self.part * max(seen, self.sampling)
        return Spread(noise, sampling)
