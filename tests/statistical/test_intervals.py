"""Intervals have their stated coverage. The full run is experiments/interval_coverage.py."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.interval_coverage import covered


@pytest.mark.parametrize("epsilon", [0.5, 5.0])
@pytest.mark.parametrize("condition", [1.0, 30.0])
def test_95_percent_intervals_cover_92_to_98_percent(condition, epsilon):
    # 150 sets of 9 nearly independent parameters: a true 95 % strays beyond the limits once in
    # about 10^6 runs.
    rates = [covered(condition, epsilon, seed) for seed in range(150)]
    assert 0.92 <= np.mean(rates) <= 0.98
