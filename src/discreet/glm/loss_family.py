"""A loss in the place of a family: its score is the slope of the loss, from
a table of public points.

Privacy: a row's score depends on the table and on that row alone. The curator bounds the row's
contribution whatever the score is, as for every family. The user's function never gets a row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import map_coordinates

from discreet.errors import DomainError
from discreet.glm.family_base import Family
from discreet.glm.link_base import Floats, Link, floats
from discreet.glm.links import Identity
from discreet.glm.losses import CurvedSlope, Loss

# Table sizes: residuals, or labels times predictors.
_RESIDUALS, _LABELS, _ETAS = 2**16 + 1, 129, 4097
# The table covers residuals up to this many widths of the label range; beyond it
# the last value is used.
_REACH = 4.0


@dataclass(frozen=True, eq=False)
class _Table:
    """Slopes at evenly spaced points, of residuals (one axis) or of labels and predictors (two)."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    values: Floats

    def at(self, *places: Floats) -> Floats:
        scaled = [
            np.clip((place - low) / (high - low), 0.0, 1.0) * (size - 1)
            for place, low, high, size in zip(places, self.low, self.high, self.values.shape, strict=True)
        ]
        found = map_coordinates(self.values, np.broadcast_arrays(*scaled), order=1, mode="nearest", prefilter=False)
        # NaN must stay NaN and not get a neighbour's value.
        return np.asarray(np.where(np.isnan(sum(scaled)), np.nan, found))


@dataclass(frozen=True, eq=False)
class LossFamily(Family):
    """The family that represents a loss; ``within`` the declared labels it has a table."""

    loss: Loss
    table: _Table | None = None
    flat: float = 1.0
    # The label and the predictor of the loss are centre + unit times those of the solver.
    centre: float = 0.0
    unit: float = 1.0

    name = "loss"
    default_link = Identity()
    allowed_links = ("identity", "log", "softplus", "logit", "probit", "cloglog")
    convex_links = allowed_links
    dispersion_known = True
    has_likelihood = False

    @property
    def limit(self) -> float:
        return self.loss.bound / self.unit

    def within(self, y_low: float, y_high: float) -> LossFamily:
        """The same with a table for labels in this range."""
        loss, width = self.loss, max(y_high - y_low, 1e-300)
        if loss.eta_range is None:
            places = np.linspace(-_REACH * width, _REACH * width, _RESIDUALS)
            values = loss.at_residual(places)
            table = _Table((places[0],), (places[-1],), values)
            rise = float(np.max(np.diff(values)) / (places[1] - places[0]))
        else:
            labels, etas = np.linspace(y_low, y_high, _LABELS), np.linspace(*loss.eta_range, _ETAS)
            values = loss.at(np.repeat(labels, _ETAS), np.tile(etas, _LABELS)).reshape(_LABELS, _ETAS)
            table = _Table((y_low, etas[0]), (y_high, etas[-1]), values)
            rise = float(np.max(np.diff(values, axis=1)) / (etas[1] - etas[0]))
        self._refuse_bad(values)
        flat = loss.curvature if loss.curvature is not None else max(rise, 1e-9 * loss.bound / width)
        return replace(self, table=table, flat=flat)

    def _refuse_bad(self, values: Floats) -> None:
        loss, steps = self.loss, np.diff(values, axis=-1)
        if float(np.min(steps)) < -1e-9 * loss.bound:
            raise ValueError(f"loss {loss.name!r} is not convex: its slope falls as the predictor rises")
        if (largest := float(np.max(np.abs(values)))) > loss.bound * (1 + 1e-9):
            raise ValueError(
                f"the slope of loss {loss.name!r} reaches {largest:.6g} for declared labels, beyond its bound "
                f"{loss.bound:g}: declare a larger bound, or clip the slope"
            )
        if not float(np.max(steps)) > 0:
            raise ValueError(f"the slope of loss {loss.name!r} is the same everywhere: there is nothing to fit")

    def in_units(self, centre: float, unit: float) -> LossFamily:
        """The loss divided by unit^2, of labels and predictors in these units;
        its curvature is unchanged.
        """
        return replace(self, centre=self.centre + self.unit * centre, unit=self.unit * unit)

    def score(self, y: ArrayLike, eta: ArrayLike, link: Link) -> Floats:
        if self.table is None:
            raise TypeError("a loss has no table before the label range is declared")
        label, place = floats(y) * self.unit + self.centre, floats(eta) * self.unit + self.centre
        found = self.table.at(place - label) if self.loss.eta_range is None else self.table.at(label, place)
        return found / self.unit

    def score_bound(self, y_low: float, y_high: float, eta_low: float, eta_high: float, link: Link) -> float:
        return self.limit

    def weight(self, eta: ArrayLike, link: Link) -> Floats:
        if not isinstance(self.loss.slope, CurvedSlope):
            return np.full_like(floats(eta), self.flat)
        return self.loss.slope.curvature(floats(eta) * self.unit + self.centre)

    def weight_bound(self, eta_low: float, eta_high: float, link: Link) -> float:
        return float(np.max(self.weight(np.array([eta_low, eta_high]), link)))

    def gain(self, eta: ArrayLike, link: Link) -> Floats:
        return np.ones_like(floats(eta))

    def gain_bound(self, low: Floats, high: Floats, link: Link) -> Floats:
        return np.ones_like(floats(low))

    def variance(self, mean: ArrayLike) -> Floats:
        return np.ones_like(floats(mean))

    def deviance(self, y: ArrayLike, mean: ArrayLike) -> Floats:
        """The squared distance, as for least squares: a loss that is given by its
        slope has no likelihood.
        """
        return (floats(y) - floats(mean)) ** 2

    def largest_deviance(self, labels: tuple[float, float], means: tuple[float, float]) -> float:
        return float((labels[1] - labels[0]) ** 2)

    def check_range(self, y_low: float, y_high: float) -> None:
        if not (math.isfinite(y_low) and math.isfinite(y_high) and y_low < y_high):
            raise DomainError(f"bounds_y must be finite with low < high, got {y_low} and {y_high}")
