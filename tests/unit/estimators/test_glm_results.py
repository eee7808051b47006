"""What a fitted generalized linear model tells: errors, intervals, tests, predictions; and what it
keeps to itself.
"""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pandas as pd
import pytest
from glm_rows import BOUNDS_Y, FREE, PRIVATE, SLOPES, rows
from sklearn.base import clone
from sklearn.metrics import d2_tweedie_score, log_loss

from discreet import GammaRegressor, GeneralizedLinearRegressor, LogisticRegression, PoissonRegressor
from discreet.errors import DiscreetError

BOX = {"bounds_X": (-2, 2)}
KINDS = {
    "gaussian": lambda **more: GeneralizedLinearRegressor(**BOX, bounds_y=BOUNDS_Y["gaussian"], **more),
    "bernoulli": lambda **more: LogisticRegression(**BOX, **more),
    "poisson": lambda **more: PoissonRegressor(**BOX, bounds_y=BOUNDS_Y["poisson"], **more),
    "gamma": lambda **more: GammaRegressor(**BOX, bounds_y=BOUNDS_Y["gamma"], **more),
}
FAMILIES = list(KINDS)


@pytest.mark.parametrize("family", FAMILIES)
def test_at_an_endless_budget_standard_errors_are_the_textbook_ones(family):
    statsmodels = pytest.importorskip("statsmodels.api")
    X, y = rows(family, 20_000)
    model = KINDS[family](**FREE).fit(X, y)
    kind = {
        "gaussian": statsmodels.families.Gaussian(),
        "bernoulli": statsmodels.families.Binomial(),
        "poisson": statsmodels.families.Poisson(),
        "gamma": statsmodels.families.Gamma(statsmodels.families.links.Log()),
    }[family]
    expected = statsmodels.GLM(y, statsmodels.add_constant(X), family=kind).fit()
    # Where the dispersion is not known, it is that of the cut scores: rather too large than too
    # small.
    assert model.results_.std_errors == pytest.approx(expected.bse, rel=0.08)
    assert model.bse == pytest.approx(expected.bse[1:], rel=0.08)
    assert model.tvalues == pytest.approx(expected.tvalues[1:], rel=0.1, abs=0.3)
    assert (model.noise_int()[:, 1] - model.noise_int()[:, 0] < 0.3 * np.ptp(model.conf_int(), axis=1)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_confidence_intervals_cover_the_truth(family):
    """30 fits of 3 coefficients at 95 percent: below 82 percent is more than five standard
    deviations away.
    """
    covered = []
    for seed in range(30):
        low, high = KINDS[family](epsilon=2.0, delta=1e-6).fit(*rows(family, 4000, seed)).conf_int().T
        covered.append((low <= SLOPES) & (high >= SLOPES))
    assert np.mean(covered) > 0.82


@pytest.mark.parametrize(("n", "epsilon", "fits"), [(20_000, 1e6, 1), (5000, 2.0, 6)])
@pytest.mark.parametrize("family", ["gaussian", "poisson", "gamma"])
def test_prediction_intervals_cover_new_labels(family, n, epsilon, fits):
    """95 percent or, as counts are whole, more. New labels: 2000, whose share strays by .005 (one
    sd).

    One fit's coverage strays by about .02 at n = 5000, so four standard deviations of 6 fits' mean
    are .033.
    """
    new_X, new_y = rows(family, 2000, seed=99)
    covered = []
    for seed in range(fits):
        interval = KINDS[family](epsilon=epsilon, delta=1e-6).fit(*rows(family, n, seed)).predict_interval(new_X)
        assert np.isfinite(interval).all()
        assert (interval[:, 0] <= interval[:, 1]).all()
        covered.append(np.mean((interval[:, 0] <= new_y) & (new_y <= interval[:, 1])))
    assert 0.915 < np.mean(covered) < (0.995 if family == "poisson" else 0.985)


def test_two_labels_have_no_prediction_interval():
    model = LogisticRegression(**PRIVATE, **BOX).fit(*rows("bernoulli", 300))
    with pytest.raises(DiscreetError, match="no prediction intervals here; use mean_interval"):
        model.predict_interval(np.zeros((1, 3)))


@pytest.mark.parametrize("family", FAMILIES)
def test_mean_intervals_cover_the_true_mean(family):
    """20 fits at 5 points that are far from independent: below 75 percent is more than five
    standard deviations.
    """
    points = np.array([[0.2, 0.2, 0.2], [1, 1, 1], [-1, 0, 1], [0, -1, 0], [2, 2, -2.0]])
    eta = 0.3 + points @ SLOPES
    truth = {"gaussian": eta, "bernoulli": 1 / (1 + np.exp(-eta))}.get(family, np.exp(eta))
    covered = []
    for seed in range(20):
        low, high = KINDS[family](epsilon=2.0, delta=1e-6).fit(*rows(family, 4000, seed)).mean_interval(points).T
        covered.append((low <= truth) & (truth <= high))
    assert np.mean(covered) > 0.75


def test_exposure_scales_mean_and_prediction_intervals():
    X, y = rows("poisson")
    model = KINDS["poisson"](**FREE, bounds_exposure=(0.5, 2)).fit(X, y, exposure=np.ones(len(y)))
    assert model.mean_interval(X[:4], exposure=3.0) == pytest.approx(3 * model.mean_interval(X[:4]))
    assert (model.predict_interval(X[:4], exposure=30.0)[:, 1] > model.predict_interval(X[:4])[:, 1]).all()
    with pytest.raises(ValueError, match="exposure must be > 0"):
        model.predict(X[:2], exposure=[1.0, 0.0])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_bootstrap_has_the_covariance_that_is_reported(family):
    result = KINDS[family](**PRIVATE).fit(*rows(family)).results_
    draws = np.asarray(result.simulate(4000, seed=1))
    assert draws.shape == (4000, 4)
    # 4000 draws: a variance strays by 2.2 percent (one sd), a mean by 1.6 percent of a standard
    # error.
    assert np.var(draws, axis=0) == pytest.approx(np.diag(result.covariance), rel=0.15)
    assert np.abs((draws.mean(axis=0) - result.estimates) / result.std_errors).max() < 0.1
    assert np.array_equal(result.simulate(5, seed=2), result.simulate(5, seed=2))


def test_the_summary_names_everything_a_reader_needs():
    frame = pd.DataFrame(rows("poisson")[0], columns=["age", "size", "<weight>"])
    model = KINDS["poisson"](**PRIVATE).fit(frame, pd.Series(rows("poisson")[1], name="claims"))
    text = str(model.summary())
    for word in (
        "PoissonRegressor",
        "claims",
        "poisson, log link",
        "const",
        "age",
        "<weight>",
        "std err",
        "epsilon 1",
        "0.975]",
    ):
        assert word in text
    html = model.summary()._repr_html_()
    assert "&lt;weight&gt;" in html
    assert "<weight>" not in html


def test_probabilities_are_those_of_the_log_odds():
    X, y = rows("bernoulli")
    model = LogisticRegression(**FREE, **BOX).fit(X, y)
    chances = model.predict_proba(X)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert chances[:, 1] == pytest.approx(1 / (1 + np.exp(-model.decision_function(X))))
    assert np.exp(model.predict_log_proba(X)) == pytest.approx(chances)
    assert np.array_equal(model.predict(X), (chances[:, 1] > 0.5).astype(int))
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    assert log_loss(y, chances) < log_loss(y, np.full(len(y), y.mean()))


def test_far_rows_have_finite_log_probabilities():
    X, y = rows("bernoulli")
    model = LogisticRegression(**FREE, **BOX).fit(X, y)
    assert np.isfinite(model.predict_log_proba(np.array([[1e6, -1e6, 0], [-1e6, 1e6, 0.0]]))).all()


def test_scores_are_shares_of_deviance():
    for family, power in (("gaussian", 0), ("poisson", 1), ("gamma", 2)):
        X, y = rows(family)
        model = KINDS[family](**FREE).fit(X, y)
        assert model.score(X, y) == pytest.approx(d2_tweedie_score(y, model.predict(X), power=power), abs=1e-9)
        weights = np.random.default_rng(0).uniform(0, 2, len(y))
        weighted = d2_tweedie_score(y, model.predict(X), power=power, sample_weight=weights)
        assert model.score(X, y, sample_weight=weights) == pytest.approx(weighted, abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_fitted_model_holds_no_data(family):
    marker = struct.unpack("<d", bytes.fromhex("efcdab89674523") + b"\x3f")[0]
    X, y = rows(family, 400)
    X[7, 1] = marker
    model = KINDS[family](**PRIVATE).fit(X, y)
    stored = pickle.dumps(model)
    shown = repr(model) + str(model.privacy_) + str(model.summary())
    for secret in (marker, X[0, 0]):
        for order in "<>":
            assert struct.pack(order + "d", secret) not in stored
        assert repr(float(secret)) not in shown
    assert len(stored) < 12_000
    again = pickle.loads(stored)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.conf_int(), model.conf_int())


@pytest.mark.parametrize("family", FAMILIES)
def test_the_guarantee_is_what_was_asked_for(family):
    X, y = rows(family, 500)
    model = KINDS[family](**PRIVATE).fit(X, y)
    assert model.privacy_.epsilon(1e-6) == pytest.approx(1.0, rel=1e-3)
    assert model.privacy_.epsilon(1e-6) <= 1.0
    assert not model.privacy_.seeded
    assert 2 <= model.n_iter_ < 100


def test_parameters_can_be_read_set_and_cloned():
    model = KINDS["poisson"](**PRIVATE, alpha=3.0, solver="newton", max_iter=7)
    before = model.get_params()
    assert clone(model).get_params() == before
    fitted = clone(model).fit(*rows("poisson", 300))
    assert fitted.get_params() == before
    assert fitted.n_iter_ == 7
    refitted = fitted.set_params(max_iter=2).fit(*rows("poisson", 300))
    assert refitted.n_iter_ == 2
