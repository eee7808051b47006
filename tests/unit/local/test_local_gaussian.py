"""The Gaussian randomizer: the arithmetic that privacy rests on, against brute force and against
the exact profile.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.local.client import encoded_record
from discreet.local.gaussian import LARGEST, Gaussian, gaussian_delta_bound, joint_reach, within_support
from discreet.local.statistic import Statistic
from discreet.noise import SeededBits
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


def both(outer, flag=0.04, radius=1.5):
    rest = 1 - flag
    return Statistic(
        "both",
        flag=math.sqrt(flag),
        outer=math.sqrt(rest * outer),
        cross=math.sqrt(rest * (1 - outer)),
        radius=radius,
        transform=np.eye(4),
    )


@pytest.mark.parametrize("outer", [0.05, 0.2, 0.5, 0.8, 1.0])
def test_no_pair_of_records_exceeds_the_reach_and_some_pair_attains_it(outer):
    rng = np.random.default_rng(0)
    statistic = both(outer)
    reach = joint_reach(statistic)
    rows = np.hstack([np.zeros((700, 1)), rng.normal(size=(700, 3)) * 10.0 ** rng.uniform(-2, 2, size=(700, 1))])
    labels = rng.choice([-1.0, 1.0, 0.3, -0.7], size=700)
    rows[::50, 1] = np.nan
    vectors = statistic.vectors(rows, labels)
    gaps = np.linalg.norm(vectors[:, np.newaxis] - vectors[np.newaxis], axis=2)
    assert gaps.max() <= reach + 1e-12
    if statistic.outer**2 + statistic.cross**2 > 0.5 and outer > 0:
        cosine = min(1.0, statistic.cross**2 / (2 * statistic.outer**2))
        turned = [0, 1.5 * cosine, 1.5 * math.sqrt(1 - cosine**2), 0]
        pair = statistic.vectors(np.array([[0, 1.5, 0, 0], turned]), np.array([1.0, -1.0]))
        missing = math.hypot(statistic.flag, statistic.outer, statistic.cross)
        assert max(np.linalg.norm(pair[0] - pair[1]), missing) == pytest.approx(reach)


def test_replay_no_pair_of_records_shows_more_than_the_claim(gaussian_task):
    rng = np.random.default_rng(3)
    randomizer, statistic = gaussian_task.randomizer, gaussian_task.statistic
    rows = np.hstack([np.ones((300, 1)), rng.uniform(-1, 1, size=(300, 3)) * rng.choice([0.01, 0.3, 1], size=(300, 1))])
    rows[rng.random(300) < 0.1, 1] = np.nan
    exact = randomizer.exact(statistic.vectors(rows, rng.choice([-1.0, 1.0, 0.2], size=300))) / randomizer.entry_scales
    gaps = np.linalg.norm(exact[:, np.newaxis] - exact[np.newaxis], axis=2)
    assert gaps.max() <= randomizer.mu


def test_replay_the_worst_pair_shows_nearly_all_of_the_claim(gaussian_task):
    if gaussian_task.calibration == "paper" or gaussian_task.statistic.kind == "both":
        return
    far = {"a": 5.0, "b": 5.0, "c": 5.0}
    pair = [encoded_record(gaussian_task, far | {"y": label}) for label in (0, 1)]
    exact = [
        gaussian_task.randomizer.exact(gaussian_task.statistic.vectors(rows, gaussian_task.target.scaled(labels)))[0]
        for rows, labels in pair
    ]
    gap = np.linalg.norm((exact[0] - exact[1]) / gaussian_task.randomizer.entry_scales)
    assert gap > 0.999 * gaussian_task.randomizer.mu


def test_noise_has_the_planned_scale(gaussian_task):
    randomizer = gaussian_task.randomizer
    zero = np.zeros((1, randomizer.dimension))
    draws = [
        randomizer.decode(b"", b"", randomizer.randomize(b"", zero, [b""], SeededBits(seed))[0]) for seed in range(400)
    ]
    scaled = np.array(draws) / randomizer.entry_scales
    assert abs(scaled.mean()) < 5 / math.sqrt(scaled.size)
    assert abs(scaled.std() - 1) < 5 / math.sqrt(2 * scaled.size)


def test_reports_are_shortened_into_the_support_and_never_refused(gaussian_task):
    limit, entries = gaussian_task.randomizer.limit, gaussian_task.report_entries
    for values in (np.full(entries, limit), np.full(entries, -(2**45))):
        short = within_support(values, limit)
        assert sum(value * value for value in short.tolist()) <= limit**2
        assert gaussian_task.randomizer.decode(b"", b"", gaussian_task.randomizer.payload(short)) is not None


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0, 10.0])
def test_the_grid_fits_the_wire_and_costs_next_to_nothing(mu):
    made = Gaussian.tight(both(0.5), 3, mu)
    assert made.limit <= LARGEST
    ideal = joint_reach(both(0.5)) / mu
    assert made.scales[1] * made.unit == pytest.approx(ideal, rel=1e-3)
    assert made.keeps(both(0.5))
