"""A fitted generalized linear model in statsmodels' manner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.inference.linear import Floats, LinearResult


@dataclass(frozen=True)
class GlmResult(LinearResult):
    """``scale`` is the dispersion: 1 where the family knows it, else from the spread of the clipped scores."""

    family: str = "gaussian"
    link: str = "identity"

    @property
    def facts(self) -> list[tuple[str, str]]:
        return [("Family and link", f"{self.family}, {self.link}"), ("Dispersion (noisy)", f"{self.scale:.4g}")]

    def simulate(self, draws: int, seed: int | None = None) -> Floats:
        """A parametric bootstrap: coefficients as the same fit would give them on other rows and with other noise.

        Made from released quantities alone, so it costs nothing; one row per draw, in the order of ``names``.
        """
        rng = np.random.default_rng(seed)
        return rng.multivariate_normal(self.params, self.cov_params(), size=draws, method="eigh")
