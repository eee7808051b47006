"""``calibration="paper"`` draws the noise of each algorithm as its paper prints it.

The formulas are written here as in the papers, without the code's own helpers. Others are beside
what they belong to: PMT's Algorithms 3 and 4 (test_pmt_options), DP-RR (test_linear_paying), COST's
Algorithms 3 and 5 (test_hard_threshold, test_sparse), NLDP's 3 and 4 (test_local_estimate), MPR
(test_printed).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import (
    Domain,
    LinearRegression,
    LogisticRegression,
    Numeric,
    Public,
    ReLURegressor,
    SparseRegressor,
    dp_threshold,
    huber,
    private_second_moment,
)
from discreet.algorithms.printed_glmtron import printed_multiplier
from discreet.local import printed_second, printed_task
from discreet.local.simulation import simulate_rows
from discreet.privacy import GDP, Budget

ROWS = np.random.default_rng(0).uniform(-1, 1, (600, 3))
LABELS = np.clip(ROWS @ [1.0, 0.0, -1.0], -2, 2)
CLASSES = (LABELS > 0).astype(int)
PUBLIC = Public(ROWS[:200], LABELS[:200])
N, EPSILON, DELTA = len(ROWS), 1.0, 1e-6
ASKED = {"epsilon": EPSILON, "delta": DELTA, "bounds_X": (-1, 1), "calibration": "paper"}
# The mu of each of two releases that are sqrt(2) mu-GDP together.
HALF = Budget.of(EPSILON, DELTA).mu / math.sqrt(2)


def noise_of(fitted):
    return [release.noise_std for release in fitted.privacy_.releases]


@pytest.mark.parametrize("eta", [0.05, 0.001])
def test_pmt_theorem_3_2(eta):
    found = private_second_moment(ROWS, **ASKED, public=Public(ROWS[:200]), eta=eta)
    square = 4 * (1 + math.log(2 * N / eta))  # of (1, x)
    assert found.noise_std == pytest.approx(2 * square / (Budget.of(EPSILON, DELTA).mu * N), rel=1e-6)
    assert found.privacy_.epsilon(DELTA) < EPSILON


@pytest.mark.parametrize("eta", [0.05, 0.001])
def test_pmt_algorithm_2(eta):
    fitted = LinearRegression(**ASKED, bounds_y=(-2, 2), solver="pmt", public=PUBLIC, eta=eta).fit(ROWS, LABELS)
    long = 1 + math.log(2 * N / eta)
    printed = [2 * 4 * long / HALF, 2 * math.sqrt(4) * long / HALF]
    assert noise_of(fitted) == pytest.approx(printed, rel=1e-6)


def test_pmt_algorithm_5_with_the_declared_radius():
    """As in Algorithm 3, the gradient's noise is for R and not for its square."""
    fitted = LogisticRegression(**ASKED, solver="newton", max_iter=3).fit(ROWS, CLASSES)
    radius = 2.0  # of (1, x) in the declared box
    gradient, hessian = 2 * math.sqrt(3) * radius / HALF, math.sqrt(3) * radius**2 / (2 * HALF)
    assert noise_of(fitted) == pytest.approx([gradient, hessian] * 3, rel=1e-6)


@pytest.mark.parametrize("steps", [1, 6])
def test_cost_algorithm_1(steps):
    """Of the sum, before it is multiplied by the step and divided by n; B = 4 (R + c_1) sigma_x."""
    fitted = LogisticRegression(**ASKED, solver="cost_gd", max_iter=steps).fit(ROWS, CLASSES)
    largest, d = 2.0, 4
    bound = 4 * (1 + 1) * largest / math.sqrt(d)
    printed = math.sqrt(2 * bound**2 * d * math.log(2 * steps / DELTA)) / (EPSILON / steps)
    assert noise_of(fitted) == pytest.approx([printed] * steps, rel=1e-6)


def test_cost_algorithm_4_for_any_loss():
    """Lemma 4: an entry of a row's gradient is at most the slope's bound, so two differ by twice it.
    A Laplace variable's deviation is sqrt(2) of its scale.
    """
    steps, sparsity, slope = 4, 2, 0.5
    fitted = SparseRegressor(**ASKED, bounds_y=(-2, 2), sparsity=sparsity, loss=huber(slope), max_iter=steps).fit(
        ROWS, LABELS
    )
    printed = 2 * slope * 2 * math.sqrt(3 * sparsity * math.log(steps / DELTA)) / (EPSILON / steps)
    assert noise_of(fitted) == pytest.approx([math.sqrt(2) * printed] * 2 * steps, rel=1e-6)


def test_relu_algorithm_1():
    """2 f s on every step, for two gradients that are 2 s apart."""
    asked = ASKED | {"epsilon": 0.2, "delta": 1e-4}
    fitted = ReLURegressor(**asked, bounds_y=(-2, 2), solver="glmtron", public=PUBLIC).fit(ROWS, LABELS)
    multiplier = printed_multiplier(Budget.of(0.2, 1e-4), N)
    assert len(fitted.privacy_.releases) == N
    for release in fitted.privacy_.releases[::50]:
        assert release.noise_std == pytest.approx(multiplier * release.sensitivity, rel=1e-6)


def test_relu_algorithm_2():
    """log2(1024) thresholds are counted, each with the noise of all of them."""
    found = dp_threshold(LABELS, epsilon=1, delta=DELTA, smallest=2.0**-10, largest=1.0, calibration="paper")
    multiplier = 2 * math.sqrt(math.log(1 / DELTA) + EPSILON) / EPSILON
    (release,) = found.privacy.releases
    assert release.noise_std == pytest.approx(math.sqrt(10) * multiplier, rel=1e-6)
    assert found.privacy.mu == pytest.approx(1 / multiplier, rel=1e-6)


def test_relu_algorithm_3():
    fitted = ReLURegressor(**ASKED, bounds_y=(-2, 2), solver="minibatch", max_iter=4).fit(ROWS, LABELS)
    multiplier = math.sqrt(8 * math.log(1 / DELTA)) / EPSILON
    counts = [release for release in fitted.privacy_.releases if release.label.startswith("counts")]
    gradients = [release for release in fitted.privacy_.releases if release.label == "gradient"]
    doublings = math.ceil(math.log2(N))  # from 4 / n to 4
    assert [release.noise_std for release in counts] == pytest.approx([math.sqrt(doublings) * multiplier] * 4, rel=1e-6)
    for release in gradients:
        assert release.noise_std == pytest.approx(multiplier * release.sensitivity, rel=1e-6)
    # Every row is in one batch, so the whole pass costs what one batch costs.
    assert fitted.privacy_.mu == pytest.approx(1 / multiplier, rel=1e-6)


TASK = {
    "domain": Domain(tuple(Numeric(f"x{i}", -1, 1) for i in range(3))),
    "target": Numeric("y", 0, 1),
    "epsilon": 4.0,
    "delta": DELTA,
    "goal": N,
}


def local_noise(task):
    """Of an entry of x x^T and of one of x y, in their own units."""
    statistic, randomizer = task.statistic, task.randomizer
    square = randomizer.scales[1] * randomizer.unit / statistic.outer * statistic.radius**2
    return square, randomizer.scales[2] * randomizer.unit / statistic.cross * statistic.radius * task.target.scale


@pytest.mark.parametrize(
    ("factor", "square", "more"),
    [
        (32, 20 * 3 * np.linalg.norm(ROWS[:200].T @ ROWS[:200] / 200, 2) * math.log(N), {"public": Public(ROWS[:200])}),
        (32, 3.0**2, {"design": "bounded"}),  # the L1 radius of the box
        (128, 10 * 3 * 0.5 * math.log(N), {"rounds": 2, "covariance_norm": 0.5}),
    ],
    ids=["Algorithm 1", "Algorithm 2", "Algorithm 5"],
)
def test_nldp(factor, square, more):
    task = printed_task("printed", **TASK, **more)
    log = math.log(2.5 / DELTA)
    printed = math.sqrt(factor * square**2 * log) / 4, math.sqrt(factor * square * log) / 4
    assert local_noise(task) == pytest.approx(printed, rel=1e-3)


def test_nldp_algorithm_5_second_round():
    first = printed_task("printed", **TASK, rounds=2, covariance_norm=0.5)
    collection = simulate_rows(first, ROWS, CLASSES.astype(float), np.random.default_rng(0))
    second = printed_second(first, collection)
    mu = second.randomizer.mu
    # A number in [0, 1]: its noise is 1 / mu, as two such numbers are at most 1 apart.
    assert 1 / mu == pytest.approx(math.sqrt(8 * math.log(2.5 / DELTA)) / 4, rel=1e-3)
    assert GDP(mu).epsilon(DELTA) < 4.0
