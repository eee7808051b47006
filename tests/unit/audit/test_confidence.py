"""Lower bounds on privacy loss from counted guesses: limits that hold as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import binom

from discreet.audit.confidence import ErrorRates, rate_limit
from discreet.privacy import GDP, Approximate, Pure


@given(runs=st.integers(1, 400), share=st.floats(0, 1), error=st.sampled_from([1e-6, 1e-3, 0.05]))
def test_the_limit_is_where_so_few_events_become_unlikely(runs, share, error):
    events = int(share * runs)
    limit = rate_limit(events, runs, error)
    if events == runs:
        assert limit == 1
    else:
        assert binom.cdf(events, runs, limit) == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("rate", [0.001, 0.05, 0.3])
def test_the_limit_covers_the_rate_as_often_as_it_says(rate):
    """Summed exactly over all outcomes, no simulation."""
    runs, error = 200, 0.01
    outcomes = np.arange(runs + 1)
    missed = [rate_limit(int(k), runs, error) < rate for k in outcomes]
    assert binom.pmf(outcomes, runs, rate)[missed].sum() <= error * (1 + 1e-9)


@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_a_true_claim_is_refuted_no_more_often_than_allowed(mu):
    """The best guess against exactly mu-GDP noise; the chance of a refutation summed over all pairs
    of counts.
    """
    runs, confidence = 100, 0.95
    rate = float(ndtr(-mu / 2))
    outcomes = np.arange(0, 101)
    weight = binom.pmf(outcomes, runs, rate)
    likely = outcomes[weight > 1e-5]
    refuted = sum(
        weight[a] * weight[b] for a in likely for b in likely if ErrorRates(int(a), int(b), runs, confidence).mu > mu
    )
    assert refuted <= 1 - confidence


def test_perfect_guesses_refute_and_coin_flips_do_not():
    perfect, coin = ErrorRates(0, 0, 500, 0.999), ErrorRates(250, 250, 500, 0.999)
    for claim in (GDP(1.0), Pure(1.0), Approximate(1.0, 1e-6)):
        assert perfect.refutes(claim)
        assert not coin.refutes(claim)
    assert coin.mu == 0
    assert coin.epsilon(1e-6) == 0


def test_the_profile_refutes_what_one_point_would_not():
    """No (epsilon, delta) point at delta = 0.3 is violated, but the Gaussian curve is."""
    rates = ErrorRates(5, 5, 1000, 0.999)
    assert rates.refutes(GDP(2.0))
    assert not rates.refutes(Approximate(math.log(10), 0.9))
    assert rates.epsilon(0.0) > 3


def test_more_runs_bring_the_bound_nearer():
    bounds = [ErrorRates(n // 20, n // 20, n, 0.999).mu for n in (100, 1000, 10_000)]
    assert bounds == sorted(bounds)
    assert bounds[-1] < 2 * 1.645
