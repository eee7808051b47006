"""Convex losses of a label and a predictor, given by their slope: Huber,
smoothed quantile, user-defined.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from discreet.glm.links import link as link_of
from discreet.parameters import check_inside, check_positive, is_number

Floats = NDArray[np.float64]

# Where a slope is first evaluated: residuals and predictors from tiny to large, of both signs.
_SIZES = np.concatenate([-np.geomspace(1e3, 1e-3, 25), [0.0], np.geomspace(1e-3, 1e3, 25)])


@dataclass(frozen=True)
class Loss:
    """A convex loss, given by its slope: its derivative in the predictor eta = x . coef.

    ``slope`` is called on public points only, and rows are looked up in the resulting table. So no
    row is passed to the function, whatever it does.

    Parameters
    ----------
    slope : Callable[..., array]
        A function of the residual eta - y or, if ``eta_range`` is given, of (y,
        eta) for eta in that range.
    bound : float
        The largest |slope| for declared labels. It is enforced, so a wrong one costs accuracy, not
        privacy.
    eta_range : pair of float, optional
        The range of predictors for which ``slope(y, eta)`` is defined.
    link : str, default 'identity'
        The link from eta to a prediction: ``identity``, ``log``, ``logit``, ...
    curvature : float, optional
        The approximate second derivative of the mean loss, which sets the step length. By default,
        the largest that any row can have. A smaller value makes longer steps, which a loss with a
        sharp bend may need.
    name : str, default 'own'
        The name of the loss in summaries.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Loss
    >>> log_cosh = Loss(lambda residual: 2 * np.tanh(residual / 2), bound=2.0)
    >>> log_cosh.at_residual(np.array([0.0])).tolist()
    [0.0]
    """

    slope: Callable[..., Floats]
    bound: float
    eta_range: tuple[float, float] | None = None
    link: str = "identity"
    curvature: float | None = None
    name: str = "own"
    # The slope at fixed points, to tell two losses apart where a fit is stored under a job name.
    seen: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _positive(self.bound):
            raise ValueError(f"a loss needs a finite bound > 0 of its slope, got {self.bound!r}")
        if self.curvature is not None and not _positive(self.curvature):
            raise ValueError(f"curvature must be None or a finite number > 0, got {self.curvature!r}")
        if not callable(self.slope):
            raise ValueError("a loss needs a function slope(residual), or slope(y, eta) with eta_range=(low, high)")
        link_of(self.link)
        if self.eta_range is None:
            _refuse_two_arguments(self.slope)
            seen = self.at_residual(_SIZES)
        else:
            low, high = _range(self.eta_range)
            seen = self.at(np.repeat(_SIZES, 9), np.tile(np.linspace(low, high, 9), len(_SIZES)))
        object.__setattr__(self, "seen", seen)

    def at_residual(self, residual: Floats) -> Floats:
        """The slope at these residuals, checked.

        Parameters
        ----------
        residual : array
            eta - y.

        Returns
        -------
        array
            The slopes.
        """
        return self._checked(self.slope(residual), residual.shape, "slope(residual)")

    def at(self, y: Floats, eta: Floats) -> Floats:
        """The slope at these labels and predictors, checked.

        Parameters
        ----------
        y : array
            Labels.
        eta : array
            Predictors.

        Returns
        -------
        array
            The slopes.
        """
        return self._checked(self.slope(y, eta), eta.shape, "slope(y, eta)")

    def _checked(self, values: Floats, shape: tuple[int, ...], what: str) -> Floats:
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.shape != shape:
            raise ValueError(
                f"{what} of loss {self.name!r} must return one number per point, got shape {numbers.shape}"
            )
        if np.isnan(numbers).any():
            raise ValueError(f"{what} of loss {self.name!r} returns NaN at a finite point")
        return numbers


def _refuse_two_arguments(slope: Callable[..., Floats]) -> None:
    try:
        signature = inspect.signature(slope)
    except ValueError:  # some compiled functions have none
        return
    try:
        signature.bind(_SIZES)
    except TypeError:
        raise ValueError(
            "without eta_range, slope is a function of the residual eta - y alone; a function slope(y, eta) needs "
            "eta_range=(low, high)"
        ) from None


def huber(width: float) -> Loss:
    """The Huber loss: quadratic up to ``width`` of the residual, in y's units, and linear beyond.

    Parameters
    ----------
    width : float
        Residuals beyond it are penalised linearly.

    Returns
    -------
    Loss
        A loss for ``GeneralizedLinearRegressor`` and ``SparseRegressor``.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import huber
    >>> huber(1.0).at_residual(np.array([-5.0, 0.5])).tolist()
    [-1.0, 0.5]
    """
    check_positive("width", width)
    return Loss(_Huber(float(width)), float(width), name=f"huber({width:g})")


def smoothed_quantile(level: float, bandwidth: float) -> Loss:
    """The check loss of a quantile, smoothed by a logistic kernel.

    Parameters
    ----------
    level : float
        The quantile, between 0 and 1.
    bandwidth : float
        The width of the smoothing, in units of y; small compared with the spread of residuals.

    Returns
    -------
    Loss
        A loss for ``GeneralizedLinearRegressor`` and ``SparseRegressor``.

    Examples
    --------
    >>> from discreet import smoothed_quantile
    >>> smoothed_quantile(0.9, 0.5).bound
    0.9
    """
    check_inside("level", level)
    check_positive("bandwidth", bandwidth)
    name = f"quantile({level:g}, {bandwidth:g})"
    return Loss(_Quantile(float(level), float(bandwidth)), max(level, 1 - level), name=name)


def negative_binomial_loss(dispersion: float, largest: float) -> Loss:
    """The negative binomial loss with log link, for counts up to ``largest``.

    Its slope is (mean - y) / (1 + dispersion mean).

    Parameters
    ----------
    dispersion : float
        The variance is mean + dispersion mean^2.
    largest : float
        The largest declared count.

    Returns
    -------
    Loss
        A loss for ``GeneralizedLinearRegressor`` and ``SparseRegressor``.

    Examples
    --------
    >>> from discreet import negative_binomial_loss
    >>> negative_binomial_loss(0.5, largest=20).link
    'log'
    """
    if not (_positive(dispersion) and _positive(largest)):
        raise ValueError(f"dispersion and largest must be finite numbers > 0, got {dispersion!r} and {largest!r}")
    return Loss(
        _NegativeBinomial(float(dispersion), float(largest)),
        max(1 / dispersion, float(largest)),
        eta_range=(-10.0, math.log(largest) + 3.0),
        link="log",
        curvature=1 / (1 + dispersion),
        name=f"negative_binomial_loss({dispersion:g})",
    )


# Classes rather than closures: fitted models must be picklable.


@dataclass(frozen=True)
class _Huber:
    width: float

    def __call__(self, residual: Floats) -> Floats:
        return np.clip(residual, -self.width, self.width)


@dataclass(frozen=True)
class _Quantile:
    level: float
    bandwidth: float

    def __call__(self, residual: Floats) -> Floats:
        return np.asarray(expit(residual / self.bandwidth) - self.level)


class CurvedSlope:
    """A slope whose loss has a known mean curvature, other at every predictor."""

    def curvature(self, eta: Floats) -> Floats:
        """The mean second derivative of the loss where rows have these predictors."""
        raise NotImplementedError


@dataclass(frozen=True)
class _NegativeBinomial(CurvedSlope):
    dispersion: float
    largest: float

    def __call__(self, y: Floats, eta: Floats) -> Floats:
        mean = np.exp(eta)
        return np.asarray((mean - y) / (1 + self.dispersion * mean))

    def curvature(self, eta: Floats) -> Floats:
        """It increases with eta."""
        mean = np.exp(np.minimum(eta, math.log(self.largest) + 3.0))
        return np.asarray(mean / (1 + self.dispersion * mean))


def _range(given: object) -> tuple[float, float]:
    ends = given if isinstance(given, (tuple, list, np.ndarray)) and len(given) == 2 else ()
    if not (ends and all(map(is_number, ends)) and -math.inf < ends[0] < ends[1] < math.inf):
        raise ValueError(f"eta_range must be finite (low, high), got {given!r}")
    return float(ends[0]), float(ends[1])


def _positive(value: object) -> bool:
    return is_number(value) and 0 < float(value) < math.inf  # type: ignore[arg-type]
