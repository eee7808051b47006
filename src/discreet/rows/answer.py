"""A noisy answer with the standard deviation of its noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.rows.query import Floats


@dataclass(frozen=True)
class Answer:
    """The released sum and the standard deviation of the noise in it.

    ``noise_std`` is that of one entry. An ``isotropic`` answer is a symmetric matrix whose noise is
    the same in every orthonormal basis: ``noise_std`` is that of a diagonal entry, and off-diagonal
    entries have half the variance.
    """

    value: Floats
    noise_std: float
    isotropic: bool = False

    @property
    def noise_variance(self) -> Floats:
        """The noise variance of every entry."""
        variance = np.full(self.value.shape, self.noise_std**2)
        if self.isotropic:
            variance[~np.eye(len(variance), dtype=bool)] /= 2
        return variance
