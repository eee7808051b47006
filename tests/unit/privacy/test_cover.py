"""The Gaussian cost that covers another cost is at least as large, at every epsilon."""

from __future__ import annotations

import math

import numpy as np
import pytest
from one_row_objective import exact_profile

from discreet.privacy import GDP, Approximate, Composition, Perturbed, Pure, compose, gaussian_cover
from discreet.privacy.cover import _profile

COSTS = {
    "objective": [Perturbed(0.2, 0.1, 0.01, False, 1e-19)],
    "objective and looks": [GDP(0.1), Perturbed(0.11, 0.12, 0.006, True, 1e-19)],
    "large objective": [Perturbed(1.0, 1.0, 0.05, True, 1e-19)],
    "shuffled pass": [Approximate(0.7, 1e-8)],
    "two passes": [Approximate(0.3, 1e-8), Approximate(0.2, 1e-9)],
}


@pytest.mark.parametrize("costs", COSTS.values(), ids=COSTS)
def test_a_cover_is_nowhere_below_what_it_covers_and_not_far_above(costs):
    cover = gaussian_cover(costs)
    tight = 0.0
    for epsilon in np.linspace(0.0, 12 * cover.mu, 150):
        covered = compose(costs).delta(float(epsilon))
        covering = cover.slack + (1 - cover.slack) * GDP(cover.mu).delta(float(epsilon))
        if not isinstance(costs[-1], Perturbed):
            assert covered <= covering * (1 + 1e-6) + 1e-14
        tight = max(tight, (covered - cover.slack) / GDP(cover.mu * 0.97).delta(float(epsilon)))
    assert tight > 1  # a little less would not do


def test_what_has_a_mu_is_its_own_cover():
    assert gaussian_cover([GDP(0.3), GDP(0.4)]).mu == pytest.approx(0.5)
    assert gaussian_cover([Pure(0.5)]).mu == Pure(0.5).mu
    assert gaussian_cover([Pure(0.5)]).slack == 0


def test_several_covered_costs_compose_to_less_than_their_covers():
    costs = [Perturbed(0.11, 0.12, 0.006, True, 1e-19)] * 3
    covers = [gaussian_cover([cost]) for cost in costs]
    bound = compose([GDP(math.hypot(*(cover.mu for cover in covers)))]).epsilon(1e-6 - sum(c.slack for c in covers))
    assert compose(costs).epsilon(1e-6) < bound


def test_where_nothing_covers_mu_is_infinite():
    assert gaussian_cover([Approximate(0.1, 1.0)]).mu == math.inf


@pytest.mark.parametrize(("mu", "curvature"), [(0.2, 0.1), (1.0, 1.0), (0.1, 0.5)])
def test_a_cover_is_above_the_exact_profile_of_one_row_more_or_less(mu, curvature):
    """Near epsilon 0 it is below the bound that it was made from, which no pair of data sets
    attains.
    """
    cost = Perturbed(mu, curvature, 1e-4, replaced=False)
    cover, table = gaussian_cover([cost]), cost.loss_distribution()
    for epsilon in np.linspace(0, 6 * mu, 25):
        for exact in exact_profile(mu, curvature, float(epsilon)):
            assert exact <= cost.delta(float(epsilon)) + 1e-9
            assert exact <= table.get_delta_for_epsilon(float(epsilon)) + 1e-9
            assert exact <= cover.slack + GDP(cover.mu).delta(float(epsilon)) + 1e-9


@pytest.mark.parametrize("name", ["objective", "large objective"])
def test_the_profile_that_is_covered_is_nowhere_above_the_bounds_that_it_comes_from(name):
    """It is their lower convex hull, so that a cover is no larger than it must be."""
    (cost,) = COSTS[name]
    places, deltas = _profile(Composition((cost,)), 3.0)
    assert np.all(deltas <= np.minimum(cost.deltas(places), 1.0) * (1 + 1e-6) + 2e-15)
    assert np.all(np.diff(deltas) <= 0)
