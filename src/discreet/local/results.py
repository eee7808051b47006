"""A fitted model of a local collection."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.local.plan import Floats


@dataclass(frozen=True, eq=False)
class LocalResult:
    """Coefficients in the columns' own units, with standard errors that count noise, sampling and public rows.

    ``names``, ``bse``, ``covariance`` and ``conf_int`` start with the intercept if the task has one. ``response`` is
    the derivative of these estimates in the entries of the average report: noise, and lying devices, act through it.
    """

    model: str
    names: list[str]
    estimates: Floats
    covariance: Floats
    response: Floats
    encoded_coef: Floats
    encoded_moment: Floats
    count: int
    fit_intercept: bool

    @property
    def coef_(self) -> Floats:
        return self.estimates[int(self.fit_intercept) :]

    @property
    def intercept_(self) -> float:
        return float(self.estimates[0]) if self.fit_intercept else 0.0

    @property
    def bse(self) -> Floats:
        """Standard errors, by the delta method."""
        return np.sqrt(np.diag(self.covariance))

    def conf_int(self, alpha: float = 0.05) -> Floats:
        """One (low, high) per name."""
        reach = NormalDist().inv_cdf(1 - alpha / 2) * self.bse
        return np.column_stack([self.estimates - reach, self.estimates + reach])

    def to_dict(self, alpha: float = 0.05) -> dict[str, Any]:
        """Plain numbers and strings, ready for JSON."""
        return {
            "model": self.model,
            "reports": self.count,
            "level": 1 - alpha,
            "coefficients": [
                {"name": name, "estimate": float(value), "std_error": float(error), "low": float(a), "high": float(b)}
                for name, value, error, (a, b) in zip(
                    self.names, self.estimates, self.bse, self.conf_int(alpha), strict=True
                )
            ],
        }
