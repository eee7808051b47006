"""At a huge budget, fits equal published results."""

from __future__ import annotations

import pytest
from benchmarks.published import SETS


@pytest.mark.parametrize("name", SETS)
def test_a_huge_budget_gives_the_published_coefficients_and_errors(name):
    try:
        published = SETS[name]()
    except ModuleNotFoundError as missing:
        pytest.skip(f"{name}: the data are in a part of statsmodels that is not installed ({missing})")
    distance, low, high = published.distance(1e8)
    assert distance < 0.02
    assert 0.95 < low <= high < 1.05
