"""Standard errors of the default descent on many designs: none may be too small.

Columns are normal, uniform, binary, rare, skewed or heavy-tailed, so that their scales differ by a
factor of ten; rows, columns, budgets and signals are drawn as well. Where noise hides the scale of
a column, its coefficient must have a large standard error.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisy_source import NoisySource
from plain_source import without_rounding

from discreet.algorithms.descent import descend
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import family, link
from discreet.privacy import Budget
from discreet.rows import Labels

MODELS = {
    "linear": ("gaussian", "identity"),
    "logistic": ("bernoulli", "logit"),
    "poisson": ("poisson", "log"),
    "gamma": ("gamma", "log"),
}
COLUMNS = {
    "normal": lambda rng, n: np.clip(rng.normal(size=n), -4, 4) / 4,
    "uniform": lambda rng, n: rng.uniform(-1, 1, n),
    "binary": lambda rng, n: (rng.random(n) < 0.3) * 2.0 - 1,
    "rare": lambda rng, n: (rng.random(n) < 0.05) * 2.0 - 1,
    "skewed": lambda rng, n: np.clip(rng.exponential(size=n) / 8, 0, 1) * 2 - 1,
    "heavy": lambda rng, n: np.clip(rng.standard_t(3, size=n) / 20, -1, 1),
}


def draw(kind, rng):
    """Encoded columns, labels, their range, and the true coefficients."""
    n, d = int(10 ** rng.uniform(2.5, 4.3)), int(rng.choice([1, 2, 4, 8, 15]))
    X = np.stack([COLUMNS[name](rng, n) for name in rng.choice(sorted(COLUMNS), d)], axis=1)
    mean, std = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-9)
    slopes = rng.normal(size=d)
    slopes *= rng.choice([0.0, 0.3, 1.0, 1.5]) / np.linalg.norm(slopes)
    if kind in ("poisson", "gamma"):
        slopes *= 0.5
    constant = {"linear": 0.0, "logistic": rng.choice([0.0, -1.4, -3.0]), "poisson": -0.5, "gamma": 1.0}[kind]
    eta = constant + (X - mean) / std @ slopes
    if kind == "linear":
        y, low, high = eta + rng.normal(size=n), -8.0, 8.0
    elif kind == "logistic":
        y, low, high = (rng.random(n) < 1 / (1 + np.exp(-eta))) * 1.0, 0.0, 1.0
    elif kind == "poisson":
        y, low, high = rng.poisson(np.exp(eta)) * 1.0, 0.0, 60.0
    else:
        y, low, high = rng.gamma(2, np.exp(eta) / 2), 0.01, 300.0
    return X, np.clip(y, low, high), low, high, np.concatenate([[constant - slopes @ (mean / std)], slopes / std])


def z_scores(kind, seed):
    rng = np.random.default_rng(seed)
    X, y, low, high, true = draw(kind, rng)
    middle, half = (low + high) / 2, (high - low) / 2
    source = NoisySource(X, (y - middle) / half, rng, rng.choice(["replace_one", "add_or_remove_one"]))
    budget = Budget.of(float(10 ** rng.uniform(-1, 1)), 1e-6)
    name, link_name = MODELS[kind]
    model = GlmModel(family(name), link(link_name), Labels(middle, half), penalty=np.zeros(X.shape[1]))
    fit = descend(source, budget, model, x_radius=math.sqrt(X.shape[1]))
    assert source.spent == pytest.approx(budget.mu**2, rel=1e-9)
    assert source.passes <= 10  # 8, and two more rounds where noise hides a column
    return (fit.estimate - true) / np.sqrt(np.diag(fit.noise_covariance + fit.sampling_covariance))


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_errors_are_as_large_as_they_are_said_to_be(kind, monkeypatch):
    """A test of code, with seeds: before the response was known to be uncertain, one slope in 30
    was 5 errors off.
    """
    without_rounding(monkeypatch)
    scores = np.abs(np.concatenate([z_scores(kind, seed)[1:] for seed in range(60)]))
    assert np.mean(scores < 1.96) > 0.93
    assert np.mean(scores > 3) < 0.015
    assert scores.max() < 5


@pytest.mark.parametrize(("n", "rate", "slope"), [(7_000, 0.57, -4.6), (20_000, 0.5, -6.0)])
def test_a_rare_group_with_only_one_class_has_wide_intervals(n, rate, slope, monkeypatch):
    """No maximum likelihood estimate exists there: most slopes were 5 to 60 standard errors off."""
    without_rounding(monkeypatch)
    scores = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        x = (rng.random((n, 1)) < 0.05) * 2.0 - 1
        constant = math.log(rate / (1 - rate)) + slope
        y = (rng.random(n) < 1 / (1 + np.exp(-constant - slope * x[:, 0]))) * 2.0 - 1
        source = NoisySource(x, y, rng, "replace_one")
        model = GlmModel(family("bernoulli"), link("logit"), Labels(0.5, 0.5), penalty=np.zeros(1))
        fit = descend(source, Budget.of(10.0, 1e-6), model, x_radius=1.0)
        errors = np.sqrt(np.diag(fit.noise_covariance + fit.sampling_covariance))
        scores.append(float(np.max(np.abs(fit.estimate - [constant, slope]) / errors)))
        assert fit.coef[1] < -1.0
    assert np.median(scores) < 2
    assert sorted(scores)[-2] < 3


@pytest.mark.parametrize("least", [0.1, 0.01])
def test_a_combination_of_columns_that_hardly_varies_has_wide_intervals(least, monkeypatch):
    """Noise hides its curvature. Slopes along it were up to 47 standard errors off, called clear."""
    without_rounding(monkeypatch)
    for seed in (1, 4):
        rng = np.random.default_rng(seed)
        directions = np.linalg.qr(rng.normal(size=(20, 20)))[0]
        X = (rng.normal(size=(20_000, 20)) * np.r_[np.ones(19), least]) @ directions.T
        slopes = rng.normal(size=20) / math.sqrt(20)
        y = np.clip(X @ slopes + 0.3 * rng.normal(size=len(X)), -6, 6)
        source = NoisySource(np.clip(X / 5, -1, 1), y / 6, rng, "replace_one")
        model = GlmModel(family("gaussian"), link("identity"), Labels(0.0, 6.0), penalty=np.zeros(20))
        fit = descend(source, Budget.of(1.0, 1e-6), model, x_radius=math.sqrt(20))
        covariance = (fit.noise_covariance + fit.sampling_covariance)[1:, 1:]
        off = directions.T @ (fit.estimate[1:] - 5 * slopes)
        errors = np.sqrt(np.diag(directions.T @ covariance @ directions))
        assert abs(off[-1]) < 3 * errors[-1]
        assert np.max(np.abs(off[:-1] / errors[:-1])) < 4
