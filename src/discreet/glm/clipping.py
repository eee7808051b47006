"""Bounded scores that are unbiased at the true model.

Clipping a score to +-bound shifts its mean if labels are skewed, and with it the fit. The family
tells the shift, and it is subtracted: at the true coefficients the expected score is 0 again, for
every bound (Cantoni and Ronchetti's robust quasi-likelihood). With two possible labels the only
such score is a weight times (mean - y), so there the weight is bounded.

Labels are clipped to their declared range first. For counts and gamma labels this is part
of the clip and is corrected too. If a family has no formula for the mean, the score is
clipped without correction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.glm.family_base import Family
from discreet.glm.link_base import Floats, Link

# The relative step of the numerical derivative of a clipped mean.
_STEP = 1e-4
# If clipping shifts the mean by less than this part of the bound, the clip interval is not moved.
_NOTICED = 0.01
# A bound of this many standard deviations of the label (plus 1, for counts) shifts the
# mean by about 1e-5 of one.
_NEVER_REACHED = 8.0


@dataclass(frozen=True, eq=False)
class ClippedScore:
    """The score of one row, within +-bound; elementwise in labels, eta and bound.

    ``dispersion`` is a guess of the gamma family's. A wrong guess costs part of
    the correction, no privacy.
    """

    family: Family
    link: Link
    y_low: float
    y_high: float
    dispersion: float = 1.0
    # Whether the shift is subtracted; if nothing is clipped there is none.
    centred: bool = True

    def size(self, y: Floats, eta: Floats) -> Floats:
        """The size of a score, which is compared with the bound."""
        return self.family.size(y, eta, self.link)

    def at(self, y: Floats, eta: Floats, bound: Floats) -> ClippedRows:
        """Score and slope of some rows; what both need is computed once."""
        return ClippedRows(self, y, eta, bound)

    def score(self, y: Floats, eta: Floats, bound: Floats) -> Floats:
        return self.at(y, eta, bound).score

    def slope(self, y: Floats, eta: Floats, bound: Floats) -> Floats:
        return self.at(y, eta, bound).slope

    def shift(self, eta: Floats, bound: Floats, dispersion: float) -> Floats:
        """The mean of the bounded score at the true coefficients, if the
        dispersion differs from the guess.
        """
        expected = self.expected(eta, bound)
        if expected is None or dispersion == self.dispersion:
            return np.zeros_like(eta)
        mean, gain, centre, low, high, guessed = expected
        true = replace(self, dispersion=dispersion).clipped_mean(mean, centre, low, high)
        return np.asarray(gain * (guessed - true))

    def expected(self, eta: Floats, bound: Floats) -> tuple[Floats, ...] | None:
        """Mean, gain, centre, clip limits below and above it, and E
        clip(Y - centre); None if it is not subtracted, or has no formula.

        The centre is the mean, or the nearest end of the label range. If a mean lay beyond all
        labels, all labels would otherwise be clipped alike, and no score would push it back.
        """
        probe = np.ones(1)
        if not self.centred or self.family.expected_clip(probe, probe, probe, self.dispersion) is None:
            return None
        mean, gain = self._mean_and_gain(eta)
        reach = np.minimum(bound / np.maximum(gain, 1e-300), 1e15)
        centre = np.clip(mean, self.y_low, self.y_high)
        lowest, highest = centre - self.y_low, self.y_high - centre
        expected = self.clipped_mean(mean, centre, np.minimum(lowest, reach), np.minimum(highest, reach))
        # Moving the clip interval by the shift keeps scores about within the bound after the shift
        # is subtracted.
        taken = np.where(np.abs(expected) > _NOTICED * reach, np.clip(expected, -reach, reach), 0.0)
        low, high = np.minimum(lowest, reach - taken), np.minimum(highest, reach + taken)
        again = taken != 0
        expected[again] = self.clipped_mean(mean[again], centre[again], low[again], high[again])
        # What is still beyond it must not be clipped again, which would shift the mean: the whole
        # score is scaled down.
        largest = np.maximum(reach, np.maximum(expected + low, high - expected))
        return mean, gain * (reach / largest), centre, low, high, expected

    def clipped_mean(self, mean: Floats, centre: Floats, low: Floats, high: Floats) -> Floats:
        """E max(-low, min(high, Y - centre)) for labels of this mean; the formula is
        used only where it matters.
        """
        shift, result = mean - centre, mean - centre
        cut, lower, upper = self._where_cut(mean, low + shift, high - shift)
        if np.any(cut):
            part = self.family.expected_clip(mean[cut], lower, upper, self.dispersion)
            assert part is not None  # the caller has checked
            result[cut] += part
        return result

    def clipped_rise(self, mean: Floats, centre: Floats, low: Floats, high: Floats) -> Floats:
        """The derivative of ``clipped_mean`` in the mean."""
        shift, result = mean - centre, np.ones_like(mean)
        cut, lower, upper = self._where_cut(mean, low + shift, high - shift)
        part = self.family.clipped_rise(mean[cut], lower, upper)
        if part is None:
            step = _STEP * mean
            rise = self.clipped_mean(mean + step, centre, low, high) - self.clipped_mean(mean - step, centre, low, high)
            return rise / (2 * step)
        result[cut] = part
        return result

    def _where_cut(self, mean: Floats, lower: Floats, upper: Floats) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """Where limits so far below and above the mean are reached, and these limits there."""
        far = _NEVER_REACHED * (1 + np.sqrt(self.dispersion * self.family.variance(mean)))
        cut = (upper < far) | (lower < np.minimum(mean, far))
        return cut, lower[cut], upper[cut]

    def _mean_and_gain(self, eta: Floats) -> tuple[Floats, Floats]:
        """Means within limits, and gains that do not vanish far beyond the largest label."""
        raw, gain = self.link.mean(eta), self.family.gain(eta, self.link)
        mean = np.clip(raw, 1e-12, self.family.largest_mean(self.y_high))
        return mean, gain * np.maximum(raw / mean, 1.0)


@dataclass(frozen=True, eq=False)
class ClippedRows:
    """Rows with these labels, predictors and bounds."""

    law: ClippedScore
    y: Floats
    eta: Floats
    bound: Floats

    @cached_property
    def _expected(self) -> tuple[Floats, ...] | None:
        return self.law.expected(self.eta, self.bound)

    @cached_property
    def _size(self) -> Floats:
        return self.law.size(self.y, self.eta)

    @cached_property
    def score(self) -> Floats:
        """The bounded score, whose mean is 0 under the model; read-only."""
        if self._expected is None:
            score = self.law.family.score(self.y, self.eta, self.law.link)
            # np.minimum and np.maximum would take three times as long.
            return np.asarray(score * np.clip(self.bound / np.clip(self._size, 1e-300, np.inf), -np.inf, 1.0))
        # -gain (clip(y - centre) - E clip(Y - centre)), for labels that were clipped
        # to their declared range.
        _, gain, centre, low, high, expected = self._expected
        return np.asarray(gain * (expected - np.clip(self.y - centre, -low, high)))

    @cached_property
    def slope(self) -> Floats:
        """The derivative of the expected score in eta: the row's weight in
        the information; read-only.
        """
        law, weight = self.law, self.law.family.weight(self.eta, self.law.link)
        if self._expected is None:
            return np.asarray(weight * law.family.kept(self._size, self.bound))
        # At the true model E score = 0 for every eta, so this is the slope of the
        # clipped label's mean in eta.
        mean, gain, centre, low, high, _ = self._expected
        rise = law.clipped_rise(mean, centre, low, high)
        return np.asarray(np.clip(gain * law.link.slope(self.eta) * rise, 0.0, weight))
