"""PMT as its paper has it: T releases with noise for R, eta, a moment of x alone, lasso and elastic
net.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.linear_model

from discreet import Ledger, LinearRegression, LogisticRegression, PoissonRegressor, Public, private_second_moment
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.domain import Domain, Encoder, Numeric
from discreet.estimators.public_guess import public_guess
from discreet.glm import Gaussian, Identity
from discreet.privacy import Budget
from discreet.rows import Labels

FREE = {"epsilon": 1e9, "delta": 1e-6}
LOW, HIGH = np.array([-2.0, -20.0, -1.0, -4.0]), np.array([3.0, 10.0, 1.0, 4.0])
DECLARED = {"bounds_X": (LOW, HIGH), "bounds_y": (-30, 30)}
pytestmark = [
    pytest.mark.filterwarnings("ignore::discreet.errors.WeakGuaranteeWarning"),
    pytest.mark.filterwarnings("ignore::discreet.errors.PrivacyLeakWarning"),
]


def rows(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(LOW, HIGH, size=(n, 4))
    X[:, 3] = np.clip(X[:, 3] + X[:, 0], -4, 4)
    return X, np.clip(1.0 + X @ [2.0, 0.3, 0.0, -1.0] + rng.normal(size=n), -30, 30)


X, Y = rows()
KNOWN = Public(rows=rows(400, seed=1)[0])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", ["moments", "pmt", "auto"])
@pytest.mark.parametrize("ratio", [0.3, 1.0])
def test_without_noise_it_is_the_elastic_net_of_scikit_learn(solver, ratio, intercept):
    alpha = 0.2 * len(Y)
    fitted = LinearRegression(
        **FREE,
        **DECLARED,
        solver=solver,
        alpha=alpha,
        l1_ratio=ratio,
        fit_intercept=intercept,
        public=KNOWN if solver == "pmt" else None,
    ).fit(X, Y)
    plain = sklearn.linear_model.ElasticNet(
        alpha=0.2, l1_ratio=ratio, fit_intercept=intercept, tol=1e-12, max_iter=100_000
    ).fit(X, Y)
    assert fitted.coef_ == pytest.approx(plain.coef_, abs=2e-3)
    assert fitted.intercept_ == pytest.approx(plain.intercept_, abs=5e-3)
    assert np.all((fitted.coef_ == 0) == (plain.coef_ == 0))


def test_one_release_of_moments_answers_for_every_penalty(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=2, delta=1e-6)
    asked = {"epsilon": 1.0, "delta": 1e-6, **DECLARED, "ledger": ledger, "alpha": 800.0}
    lasso = LinearRegression(**asked, l1_ratio=1.0).fit(X, Y, job="one")
    with pytest.warns(UserWarning, match="come from ledger"):
        ridge = LinearRegression(**asked, solver="moments").fit(X, Y, job="one")
    assert len(ledger.history) == 1
    free = lasso.moments_.regress("y", alpha=800.0, l1_ratio=1.0)
    assert free.shrunk[1:] == pytest.approx(lasso.coef_)
    assert lasso.coef_[2] == 0 != ridge.coef_[2]
    with pytest.raises(ValueError, match="l1_ratio must be between 0 and 1"):
        lasso.moments_.regress("y", alpha=1.0, l1_ratio=1.5)


PAPER = {"calibration": "paper", "solver": "newton", "delta": 1e-6}


@pytest.mark.parametrize("eta", [None, 0.001])
def test_algorithm_3_releases_t_pairs_with_noise_for_r_and_r_squared(eta):
    steps, n, d = 4, len(Y), 5
    fitted = LogisticRegression(epsilon=2.0, bounds_X=(LOW, HIGH), public=KNOWN, max_iter=steps, eta=eta, **PAPER).fit(
        X, (Y > 0).astype(int)
    )
    assert [release.label for release in fitted.privacy_.releases] == ["gradient", "information"] * steps
    mu = Budget.of(2.0, 1e-6).mu / math.sqrt(2)
    radius = math.sqrt(d * (1 + math.log(2 * n / (eta or 0.05))))
    gradient, hessian = fitted.privacy_.releases[:2]
    # Off-diagonal entries of a symmetric matrix have their own deviation: that of the release is a
    # diagonal one's.
    assert gradient.noise_std == pytest.approx(2 * math.sqrt(steps) * radius / mu, rel=1e-3)
    assert hessian.noise_std == pytest.approx(math.sqrt(steps) * radius**2 / (2 * mu), rel=1e-3)
    assert fitted.privacy_.mu <= math.sqrt(2) * mu
    assert fitted.n_iter_ == steps


def test_algorithm_4_bounds_scores_by_label_and_mean():
    counts = np.minimum(np.random.default_rng(3).poisson(1.0, len(Y)), 9)
    fitted = PoissonRegressor(
        epsilon=5.0, bounds_X=(LOW, HIGH), bounds_y=(0, 9), public=KNOWN, radius=0.1, max_iter=3, **PAPER
    ).fit(X, counts)
    mu = Budget.of(5.0, 1e-6).mu / math.sqrt(2)
    radius = math.sqrt(5 * (1 + math.log(2 * len(Y) / 0.05)))
    printed = 2 * math.sqrt(3) * radius * (9 + math.exp(0.1 * radius)) / mu
    assert fitted.privacy_.releases[0].noise_std == pytest.approx(printed, rel=1e-3)


def test_dp_gd_is_t_clipped_gradients_at_the_exact_noise():
    fitted = LinearRegression(
        epsilon=1.0, delta=1e-6, **DECLARED, solver="dp_gd", max_iter=9, step=0.1, clip=3.0, public=KNOWN
    ).fit(X, Y)
    assert [release.label for release in fitted.privacy_.releases] == ["gradient"] * 9
    mu = Budget.of(1.0, 1e-6).mu
    assert fitted.privacy_.mu == pytest.approx(mu, rel=1e-6)
    # In half-widths of y, the unit of labels, of which 30 are one.
    assert fitted.privacy_.releases[0].noise_std == pytest.approx(2 * 3.0 / 30 * math.sqrt(9) / mu, rel=1e-3)


@pytest.mark.parametrize("kind", ["linear", "logistic"])
@pytest.mark.parametrize("public", [None, KNOWN])
def test_dp_gd_without_noise_finds_the_minimum(kind, public):
    asked = {**FREE, "bounds_X": (LOW, HIGH), "solver": "dp_gd", "max_iter": 150, "public": public, "clip": 300.0}
    here, y = X[:800], Y[:800]
    if kind == "linear":
        fitted = LinearRegression(**asked, bounds_y=(-30, 30), step=1.0).fit(here, y)
        plain = np.linalg.lstsq(np.column_stack([np.ones(len(y)), here]), y, rcond=None)[0][1:]
        assert fitted.coef_ == pytest.approx(plain, abs=0.02)
    else:
        label = (y + 3 * np.random.default_rng(0).normal(size=len(y)) > 0).astype(int)
        fitted = LogisticRegression(**asked, step=6.0).fit(here, label)
        exact = sklearn.linear_model.LogisticRegression(C=1e9).fit(here, label)
        assert fitted.coef_[0] == pytest.approx(exact.coef_[0], abs=0.05)


def test_dp_gd_that_ran_away_says_so():
    with pytest.warns(UserWarning, match=r"solver='dp_gd' did not converge: pass a smaller step="):
        LinearRegression(**FREE, **DECLARED, solver="dp_gd", step=50.0, clip=1e9).fit(X, Y)


def centred():
    return X - X.mean(axis=0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", ["pmt", "gd", "moments"])
def test_a_moment_of_x_alone_serves_as_that_of_one_and_x(solver, intercept):
    """PMT, Remark 3.1. Rows have mean 0, so that both moments say the same."""
    moment = centred().T @ centred() / len(X)
    with_one = np.zeros((5, 5))
    with_one[0, 0], with_one[1:, 1:] = 1.0, moment
    asked = {"epsilon": 50.0, "delta": 1e-6, "bounds_X": (-20, 20), "bounds_y": (-30, 30), "random_state": 1}
    fits = [
        LinearRegression(
            **asked, solver=solver, fit_intercept=intercept, public=Public(second_moment=given, n=400)
        ).fit(centred(), Y)
        for given in (moment, with_one)
    ]
    assert fits[0].coef_ == pytest.approx(fits[1].coef_, rel=1e-6)


def test_without_an_intercept_rows_are_white_about_their_origin():
    """Far rows: with an identity in place of their moment about 0 the wide direction would drown
    the others.
    """
    moment = X.T @ X / len(X)
    asked = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": (LOW, HIGH), "bounds_y": (-30, 30), "fit_intercept": False}
    fitted = LinearRegression(**asked, solver="pmt", public=Public(second_moment=moment, n=400)).fit(X, Y - 1.0)
    assert fitted.coef_ == pytest.approx([2.0, 0.3, 0.0, -1.0], abs=0.4)


def test_the_private_moment_takes_eta_as_printed_alone():
    asked = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": (LOW, HIGH), "public": KNOWN}
    wide, usual = (private_second_moment(X, **asked, calibration="paper", eta=eta) for eta in (1e-6, None))
    ratio = (1 + math.log(2 * len(X) / 1e-6)) / (1 + math.log(2 * len(X) / 0.05))
    assert wide.noise_std / usual.noise_std == pytest.approx(ratio, rel=1e-3)
    with pytest.raises(ValueError, match="eta needs calibration='paper'"):
        private_second_moment(X, **asked, eta=0.1)


def test_pmt_stretches_flat_directions_as_far_as_public_rows_say():
    """Theorem 3.1: after the transform rows are about white, whatever the condition number was."""
    rng = np.random.default_rng(2)
    spread = np.geomspace(1, 1e-3, 6)
    public = rng.normal(size=(300, 6)) * spread
    domain = Domain.from_bounds([f"x{i}" for i in range(6)], (-5, 5))
    encoder = Encoder(domain, Numeric("y", -1, 1))
    model = GlmModel(Gaussian(), Identity(), Labels(0.0, 1.0), np.zeros(6))
    white = public_guess(Public(rows=public), encoder, model).white
    fresh = encoder.encode(rng.normal(size=(5000, 6)) * spread).x
    z = white.matrix @ np.vstack([np.ones(5000), fresh])
    values = np.linalg.eigvalsh(z @ z.T / 5000)
    assert 0.6 < values[0] <= values[-1] < 1.6
