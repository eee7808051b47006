"""What a generalized linear model is before and after its fit, the same for every solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import XScaling
from discreet.glm import Family, Link
from discreet.rows import Floats, Labels, RowsUsed

# A mean this near to an end of its range has no sensible predictor; and a predictor beyond all others.
_LEAST_SHARE = 0.002
_FAR = 1e100


@dataclass(frozen=True, eq=False)
class GlmModel:
    """What is to be fitted, in encoded features.

    ``penalty`` is that on half the squared coefficient of each encoded feature, for the sum of losses. ``origin`` is
    where x = 0 lies, encoded, if there is no intercept. ``exposure`` is the declared range of exposures, if any.
    """

    family: Family
    link: Link
    labels: Labels
    penalty: Floats
    origin: Floats | None = None
    exposure: tuple[float, float] | None = None
    # With more than two, labels are the classes' numbers, and there is a predictor for each (softmax).
    classes: int = 2

    @property
    def width(self) -> int:
        return len(self.penalty)

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return self.width + (self.origin is None)

    def score(self, y: Floats, eta: Floats) -> Floats:
        """The derivative in eta of a row's loss."""
        return self.family.score(y, eta, self.link)

    def negative_score(self, y: Floats, eta: Floats) -> Floats:
        return -self.score(y, eta)

    def sensible_mean(self, mean: float) -> float:
        """The nearest mean that both the labels and the link allow, with room to the ends, where predictors run off."""
        low = max(self.labels.low, float(self.link.mean(-_FAR)))
        high = min(self.labels.high, float(self.link.mean(_FAR)))
        room = _LEAST_SHARE * (high - low)
        return min(max(mean, low + room), high - room)


@dataclass(frozen=True, eq=False)
class GlmFit:
    """Coefficients of (1, x) encoded: for prediction (shrunk), and for inference with what they vary by.

    ``noise_covariance`` is that of the privacy noise, ``sampling_covariance`` that of the rows. A solver that gives no
    standard errors leaves both out.
    """

    coef: Floats
    estimate: Floats
    count: float
    iterations: int
    noise_covariance: Floats | None = None
    sampling_covariance: Floats | None = None
    # The same if the model is true: labels vary as its family says.
    model_covariance: Floats | None = None
    dispersion: float = 1.0
    # How many rows contributed; None where the solver does not say.
    used: RowsUsed | None = None
    # Whether slopes stand out of the privacy noise: "clear", "faint" or "drowned".
    signal: str | None = None
    # Coefficients after each step, where the solver is one of a paper's plain iterations.
    path: tuple[Floats, ...] = ()


@dataclass(frozen=True, eq=False)
class Guess:
    """What public data says beforehand: where rows lie, coordinates that make them white, a fit of labels if any."""

    scaling: XScaling
    coordinates: Coordinates | None = None
    coefficients: Floats | None = None
    rows: int = 0
    # As PMT has them: flat directions are stretched as far as public rows say, about the origin without an intercept.
    stretched: Coordinates | None = None

    @property
    def white(self) -> Coordinates | None:
        """White coordinates for PMT's solvers, with an intercept or without."""
        return self.coordinates if self.stretched is None else self.stretched


def without_errors(
    coef: Floats, count: float, iterations: int, used: RowsUsed | None = None, path: Sequence[Floats] = ()
) -> GlmFit:
    """A fit by a solver that prints no standard errors; ``path``: the coefficients after each of its steps."""
    steps = tuple(np.asarray(one) for one in path)
    return GlmFit(np.asarray(coef), np.asarray(coef), count, iterations, used=used, path=steps)
