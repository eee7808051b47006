"""A generalized linear model before and after its fit, the same for every solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import XScaling
from discreet.glm import Family, Link
from discreet.rows import Floats, Labels, RowsUsed

# Means are kept this far from the ends of their range, where the predictor diverges; and
# a very large predictor.
_LEAST_SHARE = 0.002
_FAR = 1e100


@dataclass(frozen=True, eq=False)
class GlmModel:
    """The model to fit, in encoded features.

    ``penalty`` is that on half the squared coefficient of each encoded feature, for the sum of
    losses. ``origin`` is the encoded x = 0, if there is no intercept. ``exposure`` is the declared
    range of exposures, if any.
    """

    family: Family
    link: Link
    labels: Labels
    penalty: Floats
    origin: Floats | None = None
    exposure: tuple[float, float] | None = None
    # With more than two classes, labels are class numbers, and each class has
    # a predictor (softmax).
    classes: int = 2
    # A single-index model: least squares about a curved mean, approached by steps of a convex loss.
    single_index: bool = False
    # Declared categories: for each, where its columns begin and end. These are 0 or 1, and at most
    # one of them is 1.
    categories: tuple[tuple[int, int], ...] = ()

    @property
    def width(self) -> int:
        return len(self.penalty)

    @property
    def size(self) -> int:
        """The number of coefficients."""
        return self.width + (self.origin is None)

    def penalty_in(self, coordinates: Coordinates) -> Floats:
        """The Hessian of the penalty in these coordinates."""
        columns = coordinates.matrix[:, 1:]
        return np.asarray((columns * self.penalty) @ columns.T)

    def score(self, y: Floats, eta: Floats) -> Floats:
        """The derivative of a row's loss in eta."""
        return self.family.score(y, eta, self.link)

    def negative_score(self, y: Floats, eta: Floats) -> Floats:
        return -self.score(y, eta)

    def sensible_mean(self, mean: float) -> float:
        """The nearest mean that labels and link allow, away from the ends,
        where predictors diverge.
        """
        low = max(self.labels.low, float(self.link.mean(-_FAR)))
        high = min(self.labels.high, float(self.link.mean(_FAR)))
        room = _LEAST_SHARE * (high - low)
        return min(max(mean, low + room), high - room)


@dataclass(frozen=True, eq=False)
class GlmFit:
    """Coefficients of encoded (1, x): for prediction (shrunk), and for inference, with covariances.

    ``noise_covariance`` is that of the privacy noise, ``sampling_covariance`` that of sampling. A
    solver without standard errors leaves both out.
    """

    coef: Floats
    estimate: Floats
    count: float
    iterations: int
    noise_covariance: Floats | None = None
    sampling_covariance: Floats | None = None
    # The total covariance if the model is true, including the variance of labels.
    model_covariance: Floats | None = None
    dispersion: float = 1.0
    # The number of rows that contributed; None if the solver does not release it.
    used: RowsUsed | None = None
    # Whether slopes are clear of the privacy noise: "clear", "faint" or "drowned".
    signal: str | None = None
    # Columns that may be too narrow within their bounds to be seen through the noise.
    hidden: tuple[int, ...] = ()
    # Coefficients after each step, for plain iterations of the papers.
    path: tuple[Floats, ...] = ()


@dataclass(frozen=True, eq=False)
class Guess:
    """Knowledge from public data: location and scale of rows, white coordinates,
    and a fit if it has labels.
    """

    scaling: XScaling
    coordinates: Coordinates | None = None
    coefficients: Floats | None = None
    # As in PMT: flat directions are stretched as public rows say; about the
    # origin without an intercept.
    stretched: Coordinates | None = None

    @property
    def white(self) -> Coordinates | None:
        """White coordinates for PMT's solvers, with an intercept or without."""
        return self.coordinates if self.stretched is None else self.stretched


def without_errors(
    coef: Floats, count: float, iterations: int, used: RowsUsed | None = None, path: Sequence[Floats] = ()
) -> GlmFit:
    """The fit of a solver without standard errors; ``path``: the coefficients after each step."""
    steps = tuple(np.asarray(one) for one in path)
    return GlmFit(np.asarray(coef), np.asarray(coef), count, iterations, used=used, path=steps)
