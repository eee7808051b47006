"""Small tables and budgets, where noise hides the curvature: a filter of cheap gradients."""

from __future__ import annotations

import numpy as np
import pytest
from noisy_source import NoisySource
from plain_source import without_rounding

from discreet.algorithms.descent import descend
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import family, link
from discreet.privacy import Budget
from discreet.rows import Labels


@pytest.fixture(autouse=True)
def _no_rounding(monkeypatch):
    without_rounding(monkeypatch)


def columns(rng, n, d):
    """Correlated columns, every second one skewed, encoded by bounds that all of them fill."""
    common = rng.standard_normal(n)
    z = 0.6 * common[:, np.newaxis] + 0.8 * rng.standard_normal((n, d))
    X = np.where(np.arange(d) % 2, np.minimum(np.exp(0.7 * z), 8) / 4 - 1, np.clip(z, -4, 4) / 4)
    slopes = rng.standard_normal(d)
    eta = X @ slopes
    return X, (eta - eta.mean()) / eta.std()


def linear(seed, n, d, mu, spread, neighbours):
    rng = np.random.default_rng(seed)
    X, eta = columns(rng, n, d)
    y = np.clip((eta + spread * rng.standard_normal(n)) / 4, -1, 1)
    source = NoisySource(X, y, rng, neighbours)
    model = GlmModel(family("gaussian"), link("identity"), Labels(0.0, 1.0), penalty=np.zeros(d))
    fit = descend(source, Budget.from_mu(mu, 1e-6), model, x_radius=float(np.sqrt(d)))
    lost = np.mean((fit.coef[0] + X @ fit.coef[1:] - eta / 4) ** 2) / np.var(eta / 4)
    return source, fit, float(lost)


@pytest.mark.parametrize(("n", "d", "mu", "most"), [(1_000, 4, 0.24, 0.02), (4_000, 12, 0.24, 0.003)])
def test_strong_signals_in_small_tables_are_found(n, d, mu, most):
    """The median part of the signal that predictions of 16 fits lose. It was .062 and .006 with
    Newton steps from a linear fit, and is .002 and .001. Seeds are fixed.
    """
    lost = []
    for seed in range(16):
        source, _, part = linear(seed, n, d, mu, 0.25, "replace_one")
        assert source.spent == pytest.approx(mu**2, rel=1e-9)
        assert source.passes <= 8
        lost.append(part)
    assert np.median(lost) < most


def test_counts_that_noise_drowns_are_predicted_no_worse_than_by_a_constant():
    """The median loss of 12 fits, relative to that of the mean of all rows, was 2.3: slopes of noise
    did more harm than none. Seeds are fixed.
    """
    losses = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, eta = columns(rng, 4_000, 12)
        mean = np.exp(-0.3 + 0.3 * np.clip(eta, -3, 3))
        y = np.minimum(rng.poisson(mean), 30)
        source = NoisySource(X, y / 15 - 1, rng, "replace_one")
        model = GlmModel(family("poisson"), link("log"), Labels(15.0, 15.0), penalty=np.zeros(12))
        fit = descend(source, Budget.from_mu(0.03, 1e-6), model, x_radius=float(np.sqrt(12)))
        predicted = fit.coef[0] + X @ fit.coef[1:]
        best, constant = (np.mean(np.exp(e) - mean * e) for e in (np.log(mean), np.log(np.mean(mean))))
        losses.append((np.mean(np.exp(predicted) - mean * predicted) - best) / (constant - best))
    assert np.median(losses) < 1.3


def test_noise_alone_leaves_the_constant_model():
    """Slopes of 20 rows at mu .05 stay within what the prior allows, whatever the noise."""
    for seed in range(6):
        source, fit, _ = linear(seed, 20, 3, 0.05, 1.0, "replace_one")
        assert source.spent == pytest.approx(0.05**2, rel=1e-9)
        assert np.all(np.abs(fit.coef) < 5)
        assert fit.signal == "drowned"


def plan(mu):
    budget = Budget.from_mu(mu, 1e-6)
    return Plan(budget, 9, curved=False, dispersion=True, exposure=False, octaves=False, public=False)


def test_a_clear_curvature_needs_no_filter():
    assert plan(0.24).filters(1_000, 2.0)
    assert not plan(0.24).filters(20_000, 2.0)
    assert not plan(20.0).filters(10, 2.0)  # a budget that protects nobody
