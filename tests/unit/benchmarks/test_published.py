"""At a huge budget, fits equal published results."""

from __future__ import annotations

import pytest
from benchmarks.published import SETS

# Labels beyond their declared range count as cut to it, and what that takes from the mean is given
# back. Where the range is that of the data, it takes nothing, and gamma and few Poisson labels are
# off by this.
CUT = {"cancer, gamma": 0.05, "capital punishment, Poisson": 0.1}


@pytest.mark.parametrize("name", SETS)
def test_a_huge_budget_gives_the_published_coefficients_and_errors(name):
    distance, low, high = SETS[name]().distance(1e8)
    assert distance < CUT.get(name, 0.02)
    assert 0.8 < low <= high < 1.2
