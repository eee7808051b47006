"""With a budget that protects nobody, fits are those of statsmodels, on columns of many shapes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from discreet import (
    GammaRegressor,
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
)

BOUNDS = {"normal": (-4, 4), "t3": (-20, 20), "skewed": (0, 50), "rare": (0, 1)}
LINKS = {"logit": "Logit", "probit": "Probit", "cloglog": "CLogLog"}


def columns(rng, n):
    found = [
        rng.normal(size=n),
        rng.standard_t(3, size=n),
        rng.lognormal(size=n),
        (rng.random(n) < 0.05).astype(np.float64),
    ]
    return np.column_stack([np.clip(x, *bounds) for x, bounds in zip(found, BOUNDS.values(), strict=True)])


def against_statsmodels(model, X, y, family, epsilon=1e8):
    """The largest distance of a coefficient in standard errors, and the ratios of these."""
    statsmodels = pytest.importorskip("statsmodels.api")
    low, high = zip(*BOUNDS.values(), strict=True)
    budget = {"epsilon": epsilon, "delta": 1e-6, "bounds_X": (list(low), list(high)), "random_state": 0}
    fit = model(**budget).fit(X, y).results_
    rows = np.column_stack([np.ones(len(X)), X])
    plain_model = statsmodels.GLM(y, rows, family=family(statsmodels.families))
    plain = plain_model.fit()
    # The sandwich about the expected information, with the usual degrees of freedom.
    back = np.linalg.inv(-plain_model.hessian(plain.params, observed=False))
    scores = plain_model.score_obs(plain.params)
    errors = np.sqrt(np.diag(back @ scores.T @ scores @ back) * len(X) / (len(X) - rows.shape[1]))
    return np.max(np.abs(np.ravel(fit.params) - plain.params) / errors), np.ravel(fit.bse) / errors


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("link", "n", "room"),  # the longest scores of a cloglog model, and their noise, are 100 times typical ones
    [("logit", 1_000, 0.05), ("logit", 5_000, 0.05), ("probit", 1_000, 0.05), ("cloglog", 20_000, 0.12)],
)
def test_two_classes_have_the_standard_errors_of_a_plain_fit(link, n, room):
    """Those of probit and cloglog were up to 357 times too wide where columns had heavy tails."""
    rng = np.random.default_rng(n)
    X = columns(rng, n)
    eta = -0.5 + X @ [0.8, 0.3, 0.1, 1.0]
    chance = {
        "logit": lambda: 1 / (1 + np.exp(-eta)),
        "probit": lambda: ndtr(eta),
        "cloglog": lambda: 1 - np.exp(-np.exp(eta)),
    }[link]()
    y = (rng.random(n) < chance).astype(int)

    def model(**budget):
        if link == "logit":
            return LogisticRegression(**budget)
        return GeneralizedLinearRegressor(family="bernoulli", link=link, bounds_y=(0, 1), **budget)

    off, ratios = against_statsmodels(model, X, y, lambda f: f.Binomial(getattr(f.links, LINKS[link])()))
    assert off < 0.05
    assert ratios == pytest.approx(np.ones(5), abs=room)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["poisson", "gamma"])
@pytest.mark.parametrize("n", [1_000, 5_000])
def test_counts_and_amounts_have_the_estimates_of_a_plain_fit_where_few_rows_matter_most(kind, n):
    """The row with the largest score was clipped, and its curvature was lost."""
    rng = np.random.default_rng(n)
    X = columns(rng, n)
    mean = np.exp(-0.5 + X @ [0.3, 0.1, 0.05, 0.5])
    if kind == "poisson":
        y, model, bounds = rng.negative_binomial(1, 1 / (1 + mean)), PoissonRegressor, (0, 200)
    else:
        y, model, bounds = rng.gamma(1.0, mean), GammaRegressor, (1e-3, 200)
    y = np.clip(y, *bounds).astype(np.float64)
    off, ratios = against_statsmodels(
        lambda **budget: model(bounds_y=bounds, **budget),
        X,
        y,
        lambda f: f.Poisson() if kind == "poisson" else f.Gamma(f.links.Log()),
    )
    assert off < 0.02
    assert ratios == pytest.approx(np.ones(5), abs=0.05)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("epsilon", [1e3, 1e6])
def test_levels_with_few_rows_leave_the_standard_errors_of_other_slopes_as_they_are(epsilon):
    """They halved them: the clipped rows of such levels count little in a second moment of rows,
    and its scale was taken for that of the curvature.
    """
    rng = np.random.default_rng(5)
    n = 20_000
    level, x = rng.choice(3, n, p=[0.999, 0.0005, 0.0005]), rng.normal(size=n)
    rows = np.column_stack([level == 1, level == 2, x]).astype(np.float64)
    y = np.clip(1 + 0.5 * x + rng.normal(size=n), -6, 8)
    bounds = ([0, 0, -4], [1, 1, 4])
    fit = LinearRegression(epsilon=epsilon, delta=1e-6, bounds_X=bounds, bounds_y=(-6, 8)).fit(rows, y).results_
    assert np.ravel(fit.bse)[[0, 3]] * np.sqrt(n) == pytest.approx([1.0, 1.0], abs=0.1)
    if epsilon == 1e6:
        few = np.sqrt(np.bincount(level)[1:])
        assert np.ravel(fit.bse)[1:3] * few == pytest.approx([1.0, 1.0], abs=0.5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [0, 3, 7, 9])
def test_rare_outcomes_have_the_standard_errors_of_a_plain_fit(seed):
    """Where few rows have an outcome, those far out have weights that are many times typical ones:
    their curvature was clipped, and standard errors of skewed columns were 1.25 to 1.4 times
    too wide.
    """
    rng = np.random.default_rng(seed)
    X = columns(rng, 4_000)
    eta = -5 + X @ [0.3, 0.5, 0.0, 1.5]
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-eta))).astype(int)
    off, ratios = against_statsmodels(LogisticRegression, X, y, lambda f: f.Binomial(), 1e6)
    assert off < 0.05
    assert ratios == pytest.approx(np.ones(5), abs=0.2)
