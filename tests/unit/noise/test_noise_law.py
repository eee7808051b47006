"""Discrete Gaussian and Laplace draws follow exactly the law they claim."""

from __future__ import annotations

import numpy as np
import pytest
from goodness_of_fit import FALSE_ALARM, gaussian_weight, integer_law_p_value, laplace_weight
from scipy.stats import chi2_contingency, kstest

from discreet.noise import discrete_gaussian, discrete_laplace

BOTH = pytest.mark.parametrize(
    ("draw", "weight"), [(discrete_gaussian, gaussian_weight), (discrete_laplace, laplace_weight)]
)


@BOTH
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5, 7.3, 1000.5])
def test_draws_follow_the_exact_probabilities(draw, weight, scale):
    assert integer_law_p_value(draw(scale, 400_000), weight, scale) > FALSE_ALARM


@BOTH
@pytest.mark.parametrize("scale", [1.0 - 2**-53, 1.0 + 2**-52, 2.0, 2.0 + 2**-51, 1024.0])
def test_the_law_holds_at_the_edges_of_block_widths(draw, weight, scale):
    assert integer_law_p_value(draw(scale, 200_000), weight, scale) > FALSE_ALARM


@pytest.mark.parametrize(("draw", "name"), [(discrete_gaussian, "norm"), (discrete_laplace, "laplace")])
def test_largest_scale_gives_the_continuous_law(draw, name):
    # The two laws differ by about 2**-41 in Kolmogorov distance, which 300,000 draws cannot see.
    assert kstest(draw(2.0**40, 300_000) / 2.0**40, name).pvalue > FALSE_ALARM


@pytest.mark.parametrize("draw", [discrete_gaussian, discrete_laplace])
@pytest.mark.parametrize("bit", [0, 1, 7, 20])
def test_low_order_bits_are_fair_at_a_large_scale(draw, bit):
    n = 200_000
    ones = int(((draw(2.0**40, n) >> bit) & 1).sum())
    assert abs(ones - n / 2) < 4.9 * np.sqrt(n / 4)  # 4.9 standard deviations: false alarm 1e-6


def test_gaussian_draws_have_the_stated_moments():
    n, scale = 500_000, 37.5
    z = discrete_gaussian(scale, n) / scale
    for power, mean, variance in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]:
        # The 4th power has heavy tails at this size, so 6 standard deviations; false alarm below
        # 1e-6.
        assert abs((z**power).mean() - mean) < 6 * np.sqrt(variance / n)


def test_neighbouring_draws_are_independent():
    x = np.clip(discrete_gaussian(1.5, 400_000), -3, 3)
    for lag in (1, 2, 3):
        table = np.zeros((7, 7))
        # Disjoint pairs, so that the counts are multinomial.
        pairs = x[: x.size // (2 * lag) * (2 * lag)].reshape(-1, 2, lag)
        np.add.at(table, (pairs[:, 0].ravel() + 3, pairs[:, 1].ravel() + 3), 1)
        assert chi2_contingency(table).pvalue > FALSE_ALARM


def test_sign_is_independent_of_magnitude():
    x = discrete_laplace(2.0, 400_000)
    x = x[x != 0]
    magnitude = np.minimum(np.abs(x), 12)
    table = np.array([np.bincount(magnitude[x > 0], minlength=13), np.bincount(magnitude[x < 0], minlength=13)])
    assert chi2_contingency(table[:, 1:]).pvalue > FALSE_ALARM


def test_gaussian_agrees_with_opendp():
    dp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    dp.enable_features("contrib")
    n, scale, reach = 20_000, 6.5, 20
    domain = dp.vector_domain(dp.atom_domain(T=int))
    theirs = np.array(dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale)([0] * n))
    ours = discrete_gaussian(scale, n)
    table = np.array([np.bincount(np.clip(x, -reach, reach) + reach) for x in (theirs, ours)])
    table = table[:, table.sum(axis=0) >= 20]
    assert chi2_contingency(table).pvalue > FALSE_ALARM
