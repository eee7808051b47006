"""How a search compares candidates: each row's deviance under every model,
clipped at the family's bound.

The bound comes from declarations and from the candidates' releases: a
typical mean, and a dispersion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.domain import Encoder
from discreet.estimators.moments import require_target
from discreet.glm import Family
from discreet.rows import Block, Labels, LinearMap
from discreet.rows.linear_map import with_offset
from discreet.rows.loss_ranking import LossBlock

# A dispersion is taken to be at least this share of what the declared range allows.
_LEAST_SHARE = 1e-4
# A mean is taken to be at least this share of the declared range away from its ends.
_ROOM = 1e-5

Mean = Callable[[np.ndarray], np.ndarray]


def check_comparable(estimators: Sequence[Any], loss_bound: float | None) -> None:
    """Refuse candidates whose losses are not comparable, or have no bound."""
    families = [one._family()[0] for one in estimators]
    if any(family != families[0] for family in families):
        raise ValueError("param_grid must not vary family: deviances of different families cannot be compared")
    if loss_bound is None and families[0].loss_bound(0.5, 1.0) is None:
        raise ValueError(f"the family {families[0].name} has no default bound for its deviance: pass loss_bound=")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Fitted candidates, represented by their losses on encoded rows; a row's loss
    is clipped at ``bound``.
    """

    family: Family
    means: tuple[Mean, ...]
    models: LinearMap
    labels: Labels
    bound: float

    @classmethod
    def of(cls, encoder: Encoder, fitted: Sequence[Any], loss_bound: float | None) -> Comparison:
        target = require_target(encoder)
        family, means = fitted[0]._family()[0], tuple(one._family()[1].mean for one in fitted)
        models = np.vstack([_encoded(one, encoder) for one in fitted])
        if loss_bound is None:
            mean = _typical_mean(encoder, models, means)
            loss_bound = family.loss_bound(mean, _dispersion(family, target.half_width, mean, fitted))
            assert loss_bound is not None  # check_comparable
        bound = min(max(float(loss_bound), 1e-50), 1e50)
        return cls(family, means, _OffsetMap(models), Labels(target.centre, target.half_width), bound)

    def see(self, block: Block) -> LossBlock:
        """Rows, represented by the losses of the models on them."""
        return LossBlock(block, self.models, self.labels, self._loss, self.bound)

    def _loss(self, label: np.ndarray, eta: np.ndarray) -> np.ndarray:
        means = np.stack([mean(row) for mean, row in zip(self.means, eta, strict=True)])
        return np.asarray(self.family.deviance(label, means))


def _typical_mean(encoder: Encoder, models: np.ndarray, means: Sequence[Mean]) -> float:
    """The median prediction of the candidates at the middle of the declared
    ranges, well within y's range.
    """
    target, exposure = require_target(encoder), encoder.exposure
    offset = 0.0 if exposure is None else math.log(exposure.centre)
    predicted = [float(mean(np.array([model[0] + offset]))[0]) for mean, model in zip(means, models, strict=True)]
    room = _ROOM * 2 * target.half_width
    return float(np.clip(np.median(predicted), target.low + room, target.high - room))


def _dispersion(family: Family, half_width: float, mean: float, fitted: Sequence[Any]) -> float:
    """The released dispersion of the candidates, limited to what the declared range allows."""
    if family.dispersion_known:
        return 1.0
    allowed = (half_width / 2) ** 2 / max(float(family.variance(mean)), 1e-300)
    scales = [one.results_.scale for one in fitted if math.isfinite(one.results_.scale)]
    return min(max(float(np.median(scales)), _LEAST_SHARE * allowed), allowed) if scales else allowed


def _encoded(fitted: Any, encoder: Encoder) -> np.ndarray:
    """A fitted model's coefficients of (1, encoded x)."""
    coef, intercept = np.ravel(fitted.coef_), float(np.ravel(fitted.intercept_)[0])
    return np.concatenate([[intercept + encoder.centre @ coef], coef * encoder.half_width])


class _OffsetMap(LinearMap):
    """Linear predictors plus the logarithm of each row's exposure, if there is one."""

    def apply(self, block: Block) -> np.ndarray:
        return with_offset(super().apply(block), block)
