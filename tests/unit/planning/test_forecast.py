"""Forecasts: within a factor of what is measured, solvable, never below the bound, and honest about
attackers.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet
from discreet.planning import Attacker, plan
from discreet.planning.descent import descent_errors
from discreet.planning.design import Design
from discreet.planning.kinds import FAMILIES
from discreet.planning.simulation import central_estimator, simulate_central
from discreet.planning.words import model_sentences
from discreet.privacy import GDP, Budget


@pytest.mark.parametrize("family", FAMILIES)
def test_a_forecast_is_within_a_factor_of_what_is_measured(family):
    """12 coefficients of 3 fits: the root mean square spreads by about 12 %, so a factor of 1.7 is
    5 sigma away.
    """
    told = plan(family, n=6000, d=12, epsilon=2.0)
    seen = simulate_central(Design.of(family, 12), 6000, 2.0, 1e-6, repeats=3, seed=5)
    assert 1 / 1.7 < seen.standard_error / told.standard_error < 1.7
    assert 1 / 2.5 < seen.excess_risk / told.excess_risk < 2.5
    assert told.method == "formula"
    assert told.sharp


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
def test_the_noise_is_what_the_fit_itself_reports(neighbours):
    """The estimate's own standard errors, known to the fit, against the forecast of them: the
    median of 7 fits.
    """
    design, budget = Design.of("linear", 8), Budget.of(1.0, 1e-6)
    X, y = design.rows(5000, np.random.default_rng(1))
    results = [central_estimator(design, 1.0, 1e-6, neighbours).fit(X, y).results_ for _ in range(7)]
    told = descent_errors(design, 5000, budget, replaced=neighbours == "replace_one")
    noise, sampling = (
        math.sqrt(np.median([np.mean(np.diag(getattr(result, name))[1:]) for result in results]))
        for name in ("noise_covariance", "sampling_covariance")
    )
    # The fit adds what it does not know of the curvature, which falls with more rows.
    assert 0.75 < noise / math.sqrt(told.noise) < 2
    assert sampling == pytest.approx(math.sqrt(told.sampling), rel=0.25)
    assert 0.75 < math.hypot(noise, sampling) / told.standard_error < 1.5


def test_any_of_n_epsilon_and_error_is_solved_for():
    whole = plan("logistic", n=50_000, d=20, epsilon=0.3)
    by_epsilon = plan("logistic", n=50_000, d=20, error=whole.standard_error)
    by_n = plan("logistic", epsilon=0.3, d=20, error=whole.standard_error)
    assert by_epsilon.solved == "epsilon"
    assert by_n.solved == "n"
    for found in (by_epsilon, by_n):
        assert found.standard_error <= whole.standard_error * 1.0001
        assert found.standard_error == pytest.approx(whole.standard_error, rel=0.02)
    assert by_epsilon.epsilon <= 0.31
    assert by_n.n <= 51_000


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [500, 20_000, 10**6])
def test_no_forecast_is_below_the_bound_or_the_error_without_privacy(family, n):
    for epsilon in (0.1, 1.0, 8.0):
        told = plan(family, n=n, d=6, epsilon=epsilon, simulate=False)
        assert told.standard_error >= 0.98 * told.plain_standard_error
        assert told.standard_error >= told.bound > 0


def test_more_people_or_epsilon_cost_no_accuracy_over_a_decade():
    for family in FAMILIES:
        few, many = (plan(family, n=n, d=10, epsilon=1.0, simulate=False) for n in (2000, 20_000))
        tight, loose = (plan(family, n=20_000, d=10, epsilon=e, simulate=False) for e in (0.1, 1.0))
        assert many.standard_error < few.standard_error
        assert loose.standard_error < tight.standard_error


def test_local_collections_and_parties_pay_more_than_a_curator():
    asked = {"n": 100_000, "d": 6, "epsilon": 2.0}
    central = plan("linear", **asked).standard_error
    assert plan("linear", **asked, trust="local", public=2000).standard_error > 3 * central
    assert plan("linear", **asked, trust="parties").standard_error > 3 * central
    with pytest.raises(ValueError, match="public rows"):
        plan("linear", **asked, trust="local")
    with pytest.raises(ValueError, match="family='linear'"):
        plan("logistic", **asked, trust="parties")


def test_corners_where_the_formula_is_not_sharp_are_simulated_or_said_to_be_a_guess():
    assert plan("linear", n=300, d=20, epsilon=0.3).method == "simulation"
    assert not plan("linear", n=300, d=20, epsilon=0.3, simulate=False).sharp
    with pytest.raises(ValueError, match="cells"):
        plan("linear", n=10**7, d=20, epsilon=0.3, simulate=True)


def test_an_epsilon_that_is_solved_for_is_checked_by_fits_where_the_formula_is_not_sharp():
    """The answer's own simulation is within the tenth that ends corrections, or three corrections
    were made; another one of 20 fits with 8 coefficients spreads by 17 % as errors have tails.
    """
    found = plan("linear", n=5000, d=8, error=0.04)
    assert found.method == "simulation"
    assert found.standard_error == pytest.approx(0.04, rel=0.3)
    seen = simulate_central(Design.of("linear", 8), 5000, found.epsilon, 1e-6, repeats=20, seed=3)
    assert seen.standard_error == pytest.approx(0.04, rel=0.6)


@pytest.mark.parametrize(
    "wrong",
    [{"n": 1000}, {"n": 1000, "epsilon": 1.0, "error": 0.1}, {"n": 5, "epsilon": 1.0}, {"n": 1000, "error": -1.0}],
)
def test_a_question_that_has_no_answer_is_refused(wrong):
    with pytest.raises(ValueError):
        plan("linear", d=3, **wrong)


def test_intervals_are_forecast_as_wide_as_fits_state_them():
    """Where noise hides coefficients, fits end near 0 and say that they know nothing. The error from
    the truth is small there, but no interval is. The median of 40 errors of 5 fits, which differ by
    a factor of 2, from that of 480: a factor of 2 is 4 standard errors.
    """
    told = plan("linear", n=5000, d=8, epsilon=0.3)
    X, y = Design.of("linear", 8).rows(5000, np.random.default_rng(4))
    fits = [central_estimator(Design.of("linear", 8), 0.3, 1e-6, "replace_one").fit(X, y) for _ in range(5)]
    assert told.method == "simulation"
    assert 0.5 < np.median([fit.results_.std_errors[1:] for fit in fits]) / told.stated_error < 2
    assert not told.unknown
    lost = plan("linear", n=60, d=3, epsilon=0.01)
    assert lost.standard_error < 2 < 100 < lost.stated_error
    assert lost.unknown
    assert "too wide to tell anything" in model_sentences(lost)[0]
    sharp = plan("linear", n=20_000, d=8, epsilon=1.0)
    assert sharp.stated_error == sharp.standard_error


def test_thirty_people_have_a_forecast_and_fewer_than_coefficients_have_none():
    told = plan("linear", n=30, d=2, epsilon=1.0)
    assert told.unknown
    assert told.drowned
    with pytest.raises(ValueError, match="n must be between 102"):
        plan("linear", n=30, d=100, epsilon=1.0)
    assert plan("linear", d=40, epsilon=50.0, error=2.0).n == 42


def test_a_hidden_mean_is_not_called_the_constant_model():
    told = model_sentences(plan("poisson", n=500, d=1, epsilon=0.1, rate=0.05))
    assert "hides the mean of labels" in told[1]


def test_few_outcomes_are_simulated():
    """The formula's risks were 1.5 to 2 times too low with some hundred ones."""
    few, many = (plan("logistic", n=20_000, d=5, epsilon=1.0, rate=rate) for rate in (0.005, 0.2))
    assert (few.method, many.method) == ("simulation", "formula")


def test_an_error_out_of_reach_says_so():
    with pytest.raises(ValueError, match="ask for a larger error"):
        plan("linear", n=1000, d=10, error=0.0001)


def test_what_an_attacker_could_learn_is_the_trade_off_of_the_guarantee():
    weak, strong = Attacker(0.1), Attacker(3.0)
    assert weak.right == pytest.approx(0.51994, abs=1e-4)
    assert strong.right == pytest.approx(0.93319, abs=1e-4)
    for attacker in (weak, strong):
        # The best guess is right (1 + total variation) / 2 of the time, and the variation is delta
        # at epsilon 0.
        assert attacker.right == pytest.approx((1 + GDP(attacker.mu).delta(1e-12)) / 2, abs=1e-9)
        odds = math.log(attacker.from_half / (1 - attacker.from_half))
        samples = attacker.mu**2 / 2 + attacker.mu * np.random.default_rng(0).standard_normal(10**6)
        assert np.mean(samples > odds) < 2e-5
        assert len(attacker.sentences()) == 3


def test_rare_outcomes_cost_more_and_labels_have_the_rate_that_was_said():
    rare, even = (plan("logistic", n=20_000, d=6, epsilon=1.0, rate=rate) for rate in (0.05, 0.5))
    assert rare.plain_standard_error > 1.5 * even.plain_standard_error
    assert rare.standard_error > 1.5 * even.standard_error
    for family, rate in (("logistic", 0.05), ("poisson", 3.0)):
        labels = Design.of(family, 6, rate=rate).rows(100_000, np.random.default_rng(0))[1]
        assert labels.mean() == pytest.approx(rate, rel=0.05)  # five standard deviations of the rarer one
    for family, wrong in (("linear", 0.5), ("logistic", 1.0), ("poisson", 0.0)):
        with pytest.raises(ValueError, match="rate is"):
            plan(family, n=1000, d=3, epsilon=1.0, rate=wrong)


def test_the_function_is_a_public_name():
    assert discreet.plan is plan
