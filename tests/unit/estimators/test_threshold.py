"""DP-Threshold: a private scale, corrected where the paper's does not hold."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import Ledger, dp_threshold
from discreet.curator import listening


class Tape:
    """Returns the first release again, and keeps its exact sums."""

    def __init__(self):
        self.exact, self.noisy, self.scales = [], None, None

    def release(self, release, noise, exact, noisy):
        self.exact.append(exact)
        self.noisy, self.scales = noisy if self.noisy is None else self.noisy, noise.scales
        return self.noisy


def threshold(values, **more):
    options = {"epsilon": 1.0, "delta": 1e-6, "smallest": 2.0**-10, "largest": 2.0**10, **more}
    return dp_threshold(values, **options)


@pytest.mark.parametrize("calibration", ["tight", "paper"])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_nearly_all_values_stay_below_and_not_below_half(calibration, scale):
    """All 21 counts are within their slack except once in 20 runs; the margin of 4 makes that once
    in 10^9.
    """
    values = np.random.default_rng(0).normal(size=20_000) * scale
    found = threshold(values, epsilon=2.0, calibration=calibration).value
    sizes = np.abs(values)
    noise = np.sqrt(2 * 21) / 0.44 if calibration == "tight" else np.sqrt(21) / 0.25
    assert np.sum(sizes > found) <= 4 * noise * np.sqrt(2 * np.log(20 * 21))
    assert np.sum(sizes > found / 2) > 0


def test_signs_do_not_matter():
    """As printed, without the absolute value, large negative residuals count as small."""
    values = -50.0 - np.random.default_rng(1).uniform(size=5000)
    assert threshold(values).value == 64.0


def test_a_share_gives_a_quantile():
    values = np.random.default_rng(2).uniform(0, 1, size=50_000)
    assert threshold(values, share=0.45).value == 0.5
    assert threshold(values, share=0.2).value == 0.25


def test_a_huge_budget_counts_exactly():
    values = np.array([0.3] * 90 + [5.0] * 9 + [np.nan])
    found = threshold(values, epsilon=1e4, delta=0.1)
    assert found.edges[0] == 2.0**-10
    assert np.round(found.above[found.edges == 0.25]) == [99]
    assert np.round(found.above[found.edges == 0.5]) == [9]
    assert np.round(found.above[found.edges == 8.0]) == [0]


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("calibration", ["tight", "paper"])
def test_the_worst_neighbour_loses_what_is_claimed_and_no_more(calibration, neighbours):
    if calibration == "paper" and neighbours != "replace_one":
        with pytest.raises(ValueError, match="replace_one"):
            threshold(np.ones(5), calibration=calibration, neighbours=neighbours)
        return
    values = np.append(np.random.default_rng(3).normal(size=300), 1e-9)
    other = np.append(values[:-1], 1e9) if neighbours == "replace_one" else values[:-1]
    tape = Tape()
    token = listening.set(tape)
    found = threshold(values, calibration=calibration, neighbours=neighbours)
    again = threshold(other, calibration=calibration, neighbours=neighbours)
    listening.reset(token)
    lost = np.linalg.norm((tape.exact[0] - tape.exact[1]).astype(float) / tape.scales)
    # Of counts, the last edge is the end of the declared range, which every value keeps.
    assert 0.97 * found.privacy.mu <= lost <= found.privacy.mu
    assert again.value == found.value


def test_it_pays_from_a_ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    ledger = Ledger.create(tmp_path / "budget.db", epsilon=1, delta=1e-6)
    threshold(np.ones(10), ledger=ledger, epsilon=0.4)
    assert ledger.spent.epsilon == pytest.approx(0.4)


@pytest.mark.parametrize(
    "wrong", [{"smallest": 0.0}, {"smallest": 3.0, "largest": 2.0}, {"share": 1.5}, {"calibration": "loose"}], ids=str
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValueError):
        threshold(np.ones(5), **wrong)
    with pytest.raises(ValueError, match="1-d"):
        threshold(np.ones((5, 2)))
