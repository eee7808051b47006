"""What shuffling is worth: the numerical bound is exact where it can be enumerated, and the claims
never exceed it.
"""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import GuaranteeError
from discreet.privacy import (
    amplified,
    clones_delta,
    clones_epsilon,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    shuffled_mu,
)
from discreet.privacy.shuffling import largest_local


def enumerated(local: float, n: int, epsilon: float) -> float:
    """The divergence of the two distributions of the clones, from every outcome's probability."""
    clone, kept = math.exp(-local), 1 / (1 + math.exp(-local))
    first: dict[tuple[int, int], float] = {}
    second: dict[tuple[int, int], float] = {}
    for clones in range(n):
        chance = math.comb(n - 1, clones) * clone**clones * (1 - clone) ** (n - 1 - clones)
        for ones, mine in product(range(clones + 1), (0, 1)):
            outcome = (ones + mine, clones - ones + 1 - mine)
            share = chance * math.comb(clones, ones) / 2**clones
            first[outcome] = first.get(outcome, 0.0) + share * (kept if mine else 1 - kept)
            second[outcome] = second.get(outcome, 0.0) + share * (1 - kept if mine else kept)
    return sum(max(0.0, p - math.exp(epsilon) * second[outcome]) for outcome, p in first.items())


@given(local=st.floats(0.05, 4.0), n=st.integers(1, 25), part=st.floats(0.0, 0.95))
@settings(max_examples=80, deadline=None)
def test_numerical_bound_is_the_enumerated_divergence_rounded_up(local, n, part):
    epsilon = part * local
    exact = enumerated(local, n, epsilon)
    assert exact <= clones_delta(local, n, epsilon) <= exact * (1 + 1e-7) + 2e-13


@pytest.mark.parametrize("n", [1_000, 10_000, 300_000])
@pytest.mark.parametrize("delta", [1e-4, 1e-6, 1e-9])
def test_closed_form_claims_no_less_than_the_numerical_bound(n, delta):
    most = largest_local(n, delta)
    for local in (0.1 * most, 0.5 * most, most):
        assert clones_delta(local, n, clones_epsilon(local, n, delta)) <= delta


def test_closed_form_is_refused_outside_of_its_range():
    with pytest.raises(GuaranteeError, match="local epsilon of at most"):
        clones_epsilon(6.0, 1000, 1e-6)
    with pytest.raises(GuaranteeError, match="local epsilon of at most"):
        clones_epsilon(0.1, 10, 1e-6)


def test_closed_form_is_the_printed_one():
    local, n, delta = 0.5, 10_000, 1e-6
    assert largest_local(n, delta) == pytest.approx(math.log(n / (16 * math.log(2 / delta))))
    rate = 8 * math.sqrt(math.exp(local) * math.log(4 / delta)) / math.sqrt(n) + 8 * math.exp(local) / n
    assert clones_epsilon(local, n, delta) == pytest.approx(math.log(1 + (1 - math.exp(-local)) * rate))
    assert clones_epsilon(local, n, delta) >= math.log(1 + rate * math.tanh(local / 2))
    assert clones_delta(local, n, local) == 0.0


@pytest.mark.parametrize(
    ("mu", "n", "delta"),
    [(0.5, 0, 1e-6), (0.5, 10, 0.0), (0.5, 10, 1.0), (0.0, 10, 1e-6), (math.inf, 10, 1e-6), (math.nan, 10, 1e-6)],
)
def test_what_cannot_be_shuffled_is_refused(mu, n, delta):
    with pytest.raises(ValueError, match="shuffling needs n >= 1"):
        amplified(mu, n, delta)


def test_one_shuffled_row_is_no_more_private_than_it_is():
    assert amplified(0.5, 1, 1e-6).epsilon == pytest.approx(gaussian_epsilon(1e-6, 0.5), rel=1e-6)


def test_a_refusal_says_where_shuffling_would_help():
    with pytest.raises(GuaranteeError, match=r"it helps up to about epsilon \d"):
        shuffled_mu(8.0, 1e-6, 1000)
    with pytest.raises(GuaranteeError, match="for 3 rows it helps at no epsilon above"):
        shuffled_mu(1.0, 1e-6, 3)


@pytest.mark.parametrize("n", [500, 10_000])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.5])
def test_claimed_noise_gives_the_claim_by_the_numerical_bound(n, epsilon):
    """Some local (e0, d0) on the Gaussian curve proves it: clones and all n randomizers' d0
    together within delta.
    """
    claim = shuffled_mu(epsilon, 1e-6, n)

    def proved(local: float) -> float:
        slack = (math.exp(epsilon) + 1) * (1 + math.exp(-local) / 2) * n * gaussian_delta(local, claim.mu)
        return slack + clones_delta(local, n, epsilon)

    assert any(proved(epsilon + 0.005 * step) <= 1e-6 * 1.01 for step in range(1, 2000))
    assert claim.mu > gaussian_mu(epsilon, 1e-6)
    assert amplified(claim.mu, n, 1e-6).epsilon == pytest.approx(epsilon, rel=1e-3)


def test_amplification_never_claims_more_than_one_use_of_each_row_costs():
    for mu in (0.05, 0.5, 3.0, 10.0):
        assert amplified(mu, 50, 1e-6).epsilon <= gaussian_epsilon(1e-6, mu)
        assert amplified(mu, 50, 1e-6).epsilon <= amplified(mu, 2, 1e-6).epsilon


@pytest.mark.parametrize(("epsilon", "n"), [(8.0, 1000), (1.0, 3), (290.0, 1000), (500.0, 1000), (1e5, 1000)])
def test_outside_of_its_range_shuffling_is_refused_and_says_what_would_work(epsilon, n):
    with pytest.raises(GuaranteeError, match="solver='auto'"):
        shuffled_mu(epsilon, 1e-6, n)
