"""The cost of objective perturbation is what its proof says, and never less."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

from discreet.privacy import GDP, Perturbed, Pure, compose, gaussian_delta, largest_gradient_mu, unit_from_dict
from discreet.privacy.perturbed import connected


def simulated_delta(epsilon, gradient_mu, curvature, draws=200_001):
    """E[(1 - exp(epsilon - loss))+] for the worst row and q at each Z, at evenly spaced quantiles
    of Z: no luck.
    """
    z = ndtri((np.arange(draws) + 0.5) / draws)
    worst = np.full(draws, np.log1p(curvature))  # a row far out: all of the curvature, next to no gradient
    for q in np.linspace(0, 1, 201):
        loss = np.log1p(4 * curvature * q * (1 - q)) + q * gradient_mu * z + (q * gradient_mu) ** 2 / 2
        worst = np.maximum(worst, loss)
    return float(np.mean(np.maximum(0.0, 1 - np.exp(epsilon - worst))))


@pytest.mark.parametrize("curvature", [0.01, 0.3, 2.0])
@pytest.mark.parametrize(("epsilon", "gradient_mu"), [(0.5, 0.3), (2.0, 1.0)])
def test_the_profile_is_the_expected_worst_loss_and_no_less(epsilon, gradient_mu, curvature):
    claimed = Perturbed(gradient_mu, curvature, 1e-4, replaced=False).delta(epsilon)
    exact = simulated_delta(epsilon, gradient_mu, curvature)
    assert exact * (1 - 1e-3) <= claimed <= 1.1 * exact + 1e-9


def test_without_curvature_it_is_a_gaussian_release():
    for epsilon in (0.1, 1.0, 3.0):
        claimed = Perturbed(0.5, 1e-12, 1e-4, replaced=False).delta(epsilon)
        exact = gaussian_delta(epsilon, 0.5)
        assert exact <= claimed <= 1.12 * exact


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("besides", [0.0, 0.05])
def test_calibration_stays_within_the_budget_and_close_to_it(replaced, besides):
    m = largest_gradient_mu(1.0, 1e-6, 0.1, replaced=replaced, smoothing=0.05, slack=1e-19, besides=besides)
    cost = Perturbed(m, 0.1, 0.05 * m, replaced, 1e-19)
    assert compose([cost, GDP(besides)] if besides else [cost]).epsilon(1e-6) <= 1.0
    ideal = np.sqrt(GDP.from_epsilon(1.0, 1e-6).mu ** 2 - besides**2) / (2 if replaced else 1)
    assert 0.97 * ideal < m < ideal


def test_replacing_costs_more_than_removing_and_more_curvature_more():
    one = Perturbed(0.2, 0.3, 0.01, replaced=False)
    assert one.delta(1.0) < Perturbed(0.2, 0.3, 0.01, replaced=True).delta(1.0)
    assert one.delta(1.0) < Perturbed(0.2, 1.0, 0.01, replaced=False).delta(1.0)
    assert one.delta(1.0) < one.beside(0.2).delta(1.0)


def test_a_curvature_that_is_too_much_is_told():
    assert largest_gradient_mu(0.1, 1e-6, 5.0, replaced=False, smoothing=0.05) is None


@pytest.mark.parametrize("replaced", [False, True])
def test_below_zero_the_profile_is_that_of_the_reversed_pair(replaced):
    cost = Perturbed(0.3, 0.1, 0.02, replaced, 1e-15)
    for epsilon in (0.1, 0.5, 1.0, 3.0):
        reversed_pair = 1 - math.exp(-epsilon) * (1 - cost.delta(epsilon))
        assert cost.delta(-epsilon) == pytest.approx(reversed_pair, rel=1e-9)


@pytest.mark.parametrize("numbers", [(0.0, 0.1, 0.1), (0.1, 0.0, 0.1), (0.1, 0.1, 0.0), (math.inf, 0.1, 0.1)])
def test_a_cost_that_is_none_is_refused(numbers):
    with pytest.raises(ValueError, match="must be finite and positive"):
        Perturbed(*numbers, False, 0.0)
    for slack in (-1e-9, 1.0):
        with pytest.raises(ValueError, match="must be finite and positive"):
            Perturbed(0.1, 0.1, 0.1, False, slack)


def test_a_large_budget_allows_a_large_gradient():
    m = largest_gradient_mu(20.0, 1e-6, 0.1, replaced=False, smoothing=0.05)
    assert m > 2.0
    assert Perturbed(m, 0.1, 0.05 * m, False).delta(20.0) <= 1e-6
    assert Perturbed(1.01 * m, 0.1, 0.05 * 1.01 * m, False).delta(20.0) > 1e-6


def test_profile_falls_with_epsilon_and_epsilon_inverts_it():
    cost = Perturbed(0.3, 0.2, 0.01, replaced=True)
    deltas = cost.deltas(np.linspace(-2, 3, 60))
    assert np.all(np.diff(deltas) <= 1e-12)
    assert cost.delta(cost.epsilon(1e-5)) <= 1e-5


def test_it_composes_with_other_units_and_survives_being_written():
    cost = Perturbed(0.1, 0.1, 0.005, replaced=False, slack=1e-19)
    assert unit_from_dict(cost.to_dict()) == cost
    together = compose([cost, Pure(0.1)]).epsilon(1e-6)
    assert cost.epsilon(1e-6) < together <= cost.epsilon(1e-6) + 0.1 + 1e-3


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_its_table_of_losses_is_a_distribution_with_its_profile(epsilon, replaced):
    """The chances summed to 7,364."""
    m = largest_gradient_mu(epsilon, 1e-6, epsilon / 8, replaced=replaced, smoothing=0.05)
    cost = Perturbed(m, epsilon / 8, 0.05 * m, replaced)
    table = cost.loss_distribution()
    assert table.get_delta_for_epsilon(-60.0) == pytest.approx(1, abs=1e-9)  # all chances together
    for at in np.linspace(0.3, 1.3, 6) * epsilon:
        claimed = cost.delta(float(at))
        assert claimed * (1 - 1e-9) <= table.get_delta_for_epsilon(float(at)) <= 1.01 * claimed + 1e-11


@pytest.mark.parametrize("times", [2, 5])
def test_several_of_them_cost_about_what_as_many_gaussian_releases_do(times):
    m = largest_gradient_mu(1.0, 1e-6, 0.1, replaced=False, smoothing=0.05)
    together = compose([Perturbed(m, 0.1, 0.05 * m, False)] * times).epsilon(1e-6)
    gaussian = GDP(m * np.sqrt(times)).epsilon(1e-6)
    assert gaussian < together < 1.05 * gaussian


def test_a_hull_never_promises_more_than_the_profile_it_is_made_of():
    losses = np.linspace(-3, 3, 121)
    exact = np.array(
        [gaussian_delta(e, 0.7) if e >= 0 else 1 - np.exp(e) * (1 - gaussian_delta(-e, 0.7)) for e in losses]
    )
    masses, infinite = connected(losses, exact * 1.0001)
    assert masses.min() >= 0
    assert masses.sum() + infinite == pytest.approx(1, abs=1e-8)
    for at in np.linspace(-2.9, 2.9, 59):
        mine = infinite + np.sum(masses * np.maximum(0, 1 - np.exp(at - losses)))
        true = gaussian_delta(at, 0.7) if at >= 0 else 1 - np.exp(at) * (1 - gaussian_delta(-at, 0.7))
        assert true * (1 - 1e-12) <= mine <= true * 1.01 + 1e-6


def test_the_slack_counts_on_both_data_sets():
    """P(S) <= e^epsilon P'(S) + delta + (1 + e^epsilon) slack: at epsilon 15 that is 3e6 times the
    slack.
    """
    slack, epsilon = 1e-12, 15.0
    for replaced in (False, True):
        plain, slacked = (Perturbed(1.5 if replaced else 3.0, 1.0, 0.2, replaced, s) for s in (0.0, slack))
        more = slacked.delta(epsilon) - plain.delta(epsilon)
        assert more == pytest.approx(slack * (1 + np.exp(epsilon)), rel=1e-3)
    slacked = Perturbed(1.0, 1.0, 0.05, False, 1e-15)
    # Beyond the epsilon where that is least, what held there holds, and no more.
    assert slacked.delta(50.0) == slacked.delta(40.0) <= slacked.delta(10.0)
    assert slacked.epsilon(1e-6) < 10
    assert slacked.epsilon(1e-14) == np.inf


@pytest.mark.parametrize("points", [5, 400])
def test_losses_and_the_infinite_one_have_at_least_all_of_the_mass(points):
    """In exact arithmetic: what rounding takes from the losses is given to the infinite one, and a
    margin more.
    """
    losses = np.linspace(0.0, 8.0, points)
    masses, infinite = connected(losses, np.array([gaussian_delta(loss, 1.0) for loss in losses]))
    rest = 1 - sum(map(Fraction, masses.tolist()))
    assert Fraction(infinite) >= max(rest, Fraction(gaussian_delta(8.0, 1.0))) * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("replaced", [False, True])
def test_a_slack_counts_once_for_each_side_the_other_one_times_e_to_the_epsilon(replaced):
    """Two outputs that are each off by a chance of the slack: delta grows by slack (1 + e^epsilon)."""
    epsilons = np.array([0.1, 0.5, 1.0])
    without = Perturbed(0.3, 0.1, 0.02, replaced, 0.0).deltas(epsilons)
    with_slack = Perturbed(0.3, 0.1, 0.02, replaced, 1e-5).deltas(epsilons)
    assert with_slack - without == pytest.approx(1e-5 * (1 + np.exp(epsilons)), rel=1e-6)
