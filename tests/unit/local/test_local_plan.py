"""The arithmetic that privacy rests on, against brute force and against the exact profile."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.local.plan import (
    LARGEST,
    entry_count,
    gaussian_delta_bound,
    printed_plan,
    statistic_reach,
    tight_plan,
)
from discreet.privacy import gaussian_delta, gaussian_mu


@pytest.mark.parametrize("mu", [1e-3, 0.05, 0.4, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0, 20.0, 60.0])
def test_the_device_profile_is_never_below_the_exact_one(mu, epsilon):
    exact, bound = gaussian_delta(epsilon, mu), gaussian_delta_bound(epsilon, mu)
    if exact > 1e-16:
        assert bound >= exact * (1 - 1e-9) - 1e-300
        assert bound <= exact * (1 + 1e-6) + 1e-13
    else:
        assert bound >= 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 10.0, 20.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
def test_a_calibrated_mu_passes_the_device_check(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta_bound(epsilon, mu * (1 - 1e-9)) <= delta
    assert gaussian_delta_bound(epsilon, mu * (1 + 1e-6)) > delta


@pytest.mark.parametrize("radius", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("weight", [0.3, 1.0, 2.0, 6.0])
def test_no_pair_of_records_exceeds_the_reach_and_some_pair_attains_it(radius, weight):
    rng = np.random.default_rng(0)
    reach = statistic_reach(radius, True, weight)
    cosine = min(1.0, weight**2 / (2 * radius**2))
    angle = math.acos(cosine)
    worst = _distance(
        radius * np.array([1.0, 0.0]), 1.0, radius * np.array([math.cos(angle), math.sin(angle)]), -1.0, weight
    )
    assert worst == pytest.approx(reach)
    for _ in range(3_000):
        x, z = (_in_ball(rng, radius) for _ in range(2))
        assert _distance(x, rng.uniform(-1, 1), z, rng.uniform(-1, 1), weight) <= reach * (1 + 1e-12)


def _in_ball(rng, radius):
    direction = rng.normal(size=2)
    return radius * direction / np.linalg.norm(direction) * rng.choice([1.0, rng.random()])


def _distance(x, y, z, v, weight):
    matrix = np.outer(x, x) - np.outer(z, z)
    return math.hypot(np.linalg.norm(matrix), weight * np.linalg.norm(x * y - z * v))


@pytest.mark.parametrize("mu", [0.02, 1.0, 8.0])
@pytest.mark.parametrize(("width", "outer"), [(1, False), (21, False), (3, True), (60, True)])
def test_the_grid_is_fine_and_fits_the_wire(mu, width, outer):
    plan = tight_plan(width, 2.0, outer, 1.5, mu)
    assert LARGEST / 2.1 < plan.limit <= LARGEST
    assert plan.scales.min() > 1000  # the discrete surcharge of 4 is then nothing
    assert plan.scales.max() ** 2 >= (plan.reach / mu) ** 2 + 4
    # What the grid costs beside continuous noise:
    ideal = statistic_reach(2.0, outer, 1.5) / mu
    assert plan.noise_std.max() <= ideal * 1.03


def test_printed_noise_is_the_printed_one():
    p, r, epsilon, delta = 4, 12.0, 2.0, 1e-5
    plan = printed_plan(p, r, epsilon, delta)
    matrix = math.sqrt(32 * r**4 * math.log(2.5 / delta)) / epsilon
    cross = math.sqrt(32 * r**2 * math.log(2.5 / delta)) / epsilon
    assert plan.noise_std[0] == pytest.approx(matrix, rel=1e-3)
    assert plan.noise_std[-1] == pytest.approx(cross, rel=2e-2)
    assert plan.entries == entry_count(p, True) == 14
    assert plan.mu < gaussian_mu(epsilon, delta)
