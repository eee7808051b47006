"""The low-order bits of an answer say nothing about the data (Mironov's attack on floating-point
noise).

One row moves a count from 0 to 1. In float64, 1 + noise that lands in (-1/2, 1/2) comes from noise
in (-3/2, -1/2), all of whose values are multiples of 2**-53; 0 + noise in the same range is often
finer. A finer answer betrays the 0.
"""

from __future__ import annotations

import numpy as np

from discreet.noise import discrete_gaussian

N = 100_000


def betrays_zero(answers: np.ndarray) -> np.ndarray:
    """Which answers the attacker recognises: values in (-1/2, 1/2) that are no multiple of 2**-53."""
    fine = answers * 2.0**53  # exact
    return (np.abs(answers) < 0.5) & (fine != np.rint(fine))


def test_float_noise_leaks():
    rng = np.random.default_rng(1)
    assert betrays_zero(0.0 + rng.normal(size=N)).mean() > 0.2
    assert betrays_zero(1.0 + rng.normal(size=N)).sum() == 0


def test_grid_noise_does_not_leak():
    step = 2.0**-20
    for count in (0.0, 1.0):
        answers = count + step * discrete_gaussian(2.0**20, N)
        assert betrays_zero(answers).sum() == 0
        # Stronger: whatever the count, each answer is a multiple of the step, so all have the same
        # possible values.
        assert np.array_equal(np.rint(answers / step) * step, answers)
