"""Coefficients, standard errors and tests from a released second moment, in the user's units.

All of this is post-processing: it costs no privacy, for any number of models and any columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DomainError
from discreet.glm import NoisyQuadratic
from discreet.parameters import is_number
from discreet.privacy import Guarantee
from discreet.results import Results
from discreet.results.words import note_of_narrow
from discreet.rows import Answer
from discreet.text import did_you_mean

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Moments:
    """A noisy second moment of (1, columns): any regression among the columns, paid for once.

    Coordinate i of the released matrix is ``weight[i] * (column i - offset[i]) /
    width[i]``; coordinate 0 is the constant ``weight[0]``. ``names`` does not include the constant.

    Attributes
    ----------
    names : tuple of str
        The released columns, without the constant.
    offset : array
        The number subtracted from each coordinate.
    width : array
        The number by which each was divided.
    weight : array
        The number by which each was multiplied.
    answer : Answer
        The noisy matrix and its noise.
    privacy : Guarantee
        The guarantee of the release.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import LinearRegression
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5_000, 2))
    >>> model = LinearRegression(
    ...     epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-3, 3), solver="moments"
    ... )
    >>> moments = model.fit(X, X.sum(axis=1)).moments_
    >>> moments.regress("x0", ["x1"], alpha=10.0).params.index.tolist()
    ['const', 'x1']
    """

    names: tuple[str, ...]
    offset: Floats
    width: Floats
    weight: Floats
    answer: Answer
    privacy: Guarantee

    def regress(
        self,
        target: str,
        features: Sequence[str] | None = None,
        *,
        alpha: float = 0.0,
        l1_ratio: float = 0.0,
        fit_intercept: bool = True,
    ) -> Results:
        """Least squares of one column on others, with an optional penalty.

        It costs no privacy.

        The penalty added to half the sum of squares is alpha (l1_ratio |b|_1 + (1 - l1_ratio)
        |b|^2 / 2): a ridge at l1_ratio 0, an elastic net between, the lasso at 1
        (n times scikit-learn's alpha). The L1 part affects predictions (``shrunk``) only; estimates
        and standard errors have the ridge part.

        Parameters
        ----------
        target : str
            Any released column.
        features : sequence of str, optional
            Columns to regress on; all others by default.
        alpha : float, default 0.0
            The penalty, as in LinearRegression.
        l1_ratio : float, default 0.0
            The L1 share of the penalty; 1 is the lasso.
        fit_intercept : bool, default True
            Whether the model has an intercept.

        Returns
        -------
        Results
            Estimates with standard errors, as a fitted model's ``results_``.
        """
        chosen = [name for name in self.names if name != target] if features is None else list(features)
        columns = np.array([self._position(name) for name in chosen], dtype=np.intp)
        label = self._position(target)
        if label in columns or len(set(columns.tolist())) != len(columns) or len(columns) == 0:
            raise DomainError("features must be different columns without the target, and at least one")
        if not (is_number(alpha) and 0 <= alpha < math.inf):
            raise ValueError(f"alpha must be finite and >= 0, got {alpha!r}")
        if not (is_number(l1_ratio) and 0 <= l1_ratio <= 1):
            raise ValueError(f"l1_ratio must be between 0 and 1, got {l1_ratio!r}")
        per_unit = self.weight / self.width
        quadratic = self._quadratic(columns, label, alpha * (1 - l1_ratio), fit_intercept)
        l1 = np.concatenate([[0.0] * fit_intercept, alpha * l1_ratio * per_unit[columns] * per_unit[label]])
        solution = quadratic.solve(l1 if l1.any() else None)
        slope_units = per_unit[columns] / per_unit[label]
        if fit_intercept:
            # intercept = offset_y + c_0 weight_0 / unit_y - sum of slope_j offset_j
            units = np.diag(np.concatenate([[self.weight[0] / per_unit[label]], slope_units]))
            units[0, 1:] = -slope_units * self.offset[columns]
            shift = np.concatenate([[self.offset[label]], np.zeros(len(columns))])
        else:
            units, shift = np.diag(slope_units), np.zeros(len(columns))
        noise = units @ (solution.noise_covariance + quadratic.unknown()) @ units.T
        return Results(
            target=target,
            names=(("const",) if fit_intercept else ()) + tuple(chosen),
            shrunk=shift + units @ solution.coef,
            estimates=shift + units @ solution.estimate,
            covariance=noise + units @ solution.sampling_covariance @ units.T,
            noise_covariance=noise,
            scale=solution.residual_variance / per_unit[label] ** 2,
            scale_noise_std=solution.residual_variance_noise_std / per_unit[label] ** 2,
            nobs=quadratic.weight,
            privacy=self.privacy,
            model="least squares from released moments",
            facts=residual_fact(solution.residual_variance / per_unit[label] ** 2),
            notes=note_of_narrow([name for name, narrow in zip(chosen, quadratic.narrow(), strict=True) if narrow]),
        )

    def _position(self, name: str) -> int:
        if name not in self.names:
            near = did_you_mean(name, self.names)
            raise DomainError(f"column {name!r} is not among the released ones: {', '.join(self.names)}.{near}")
        return self.names.index(name) + 1

    def _quadratic(self, columns: NDArray[np.intp], label: int, alpha: float, fit_intercept: bool) -> NoisyQuadratic:
        size = len(self.weight)
        per_unit = self.weight / self.width
        moment = (self.answer.value + self.answer.value.T) / 2
        # The total weight of the rows cannot be smaller than what noise alone could produce.
        moment[0, 0] = max(moment[0, 0], 1.5 * math.sqrt(2 * size) * self.answer.noise_std)
        coordinate = np.eye(size)
        if fit_intercept:
            features = coordinate[np.concatenate([[0], columns])]
            target = coordinate[label]
        else:
            # Without an intercept the model is linear in the raw columns: add their offsets again.
            raised = coordinate + np.outer(self.offset * per_unit / self.weight[0], coordinate[0])
            features, target = raised[columns], raised[label]
        penalised = np.array([False] * fit_intercept + [True] * len(columns))
        penalty = np.concatenate([[0.0] * fit_intercept, alpha * per_unit[columns] ** 2])
        total = float(moment[0, 0] / self.weight[0] ** 2)
        return NoisyQuadratic(moment, self.answer.noise_std, features, penalised, target, penalty, total)


def residual_fact(variance: float) -> tuple[tuple[str, str], ...]:
    """The line of a summary about the spread of residuals."""
    return (("Residuals", f"standard deviation {math.sqrt(variance):.4g} (noisy)"),)
