"""PMT, Theorems 4.1 and 5.1 and Corollary 5.1: results do not depend on a transform of the
coordinates.

Noise is off and no row is truncated.
"""

from __future__ import annotations

import numpy as np
import pytest
from plain_source import PlainSource, without_rounding

from discreet.algorithms.pmt import pmt
from discreet.algorithms.printed_newton import printed_newton
from discreet.algorithms.printed_pmt import printed_pmt
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import XScaling
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.glm import family
from discreet.privacy import Budget
from discreet.rows import Labels

N, D = 600, 4
BUDGET = Budget.of(1.0, 1e-6)


def rows(seed=0):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(D, D)) * np.array([1.0, 0.3, 0.1, 0.03])
    x = np.clip(rng.normal(size=(N, D)) @ mix / 8, -1, 1)
    eta = 0.3 + x @ np.array([1.0, -2.0, 1.5, 0.5])
    return x, eta, rng


def public_root(x, seed=1):
    """A symmetric root of a public second moment of (1, x), as PMT's Algorithm 1 has it."""
    rng = np.random.default_rng(seed)
    public = np.column_stack([np.ones(80), x[rng.choice(len(x), 80)]])
    values, vectors = np.linalg.eigh(public.T @ public / len(public))
    return (vectors / np.sqrt(values)) @ vectors.T


def guess(matrix):
    return Guess(XScaling(np.zeros(D), 1.0), Coordinates(matrix))


MODELS = {
    "bernoulli": (Labels(0.5, 0.5), lambda eta, rng: rng.random(len(eta)) < 1 / (1 + np.exp(-eta))),
    "poisson": (Labels(10.0, 10.0), lambda eta, rng: np.minimum(rng.poisson(np.exp(eta)), 20)),
    "gaussian": (Labels(0.0, 5.0), lambda eta, rng: np.clip(eta + rng.normal(size=len(eta)), -5, 5)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("penalty", [0.0, 7.0])
def test_every_newton_step_is_the_same_in_transformed_coordinates(name, penalty, monkeypatch):
    without_rounding(monkeypatch)
    labels, draw = MODELS[name]
    x, eta, rng = rows()
    y = (np.asarray(draw(eta, rng), dtype=float) - labels.centre) / labels.half_width
    one = family(name)
    model = GlmModel(one, one.default_link, labels, np.full(D, penalty))
    for steps in range(1, 6):
        fits = [
            printed_newton(
                PlainSource(x, y), BUDGET, model, x_radius=2.0, guess=guess(matrix), steps=steps, ball=80.0
            ).coef
            for matrix in (np.eye(D + 1), public_root(x))
        ]
        assert np.max(np.abs(fits[0] - fits[1])) < 1e-10 * max(1.0, np.max(np.abs(fits[0])))


def test_newton_ends_at_the_maximum_of_the_likelihood(monkeypatch):
    without_rounding(monkeypatch)
    labels, draw = MODELS["bernoulli"]
    x, eta, rng = rows()
    y = np.asarray(draw(eta, rng), dtype=float)
    one = family("bernoulli")
    model = GlmModel(one, one.default_link, labels, np.zeros(D))
    coef = printed_newton(
        PlainSource(x, 2 * y - 1), BUDGET, model, x_radius=2.0, guess=guess(public_root(x)), steps=12
    ).coef
    design = np.column_stack([np.ones(N), x])
    assert np.max(np.abs(design.T @ (1 / (1 + np.exp(-design @ coef)) - y))) < 1e-8


@pytest.mark.parametrize("penalty", [0.0, 30.0])
def test_transformed_ridge_is_the_original_ridge(penalty, monkeypatch):
    """Theorem 4.1, for the printed algorithm and for the joint release, whose intercept is not
    penalised either.
    """
    without_rounding(monkeypatch)
    x, eta, rng = rows()
    y = np.clip(eta + rng.normal(size=N), -5, 5)
    one = family("gaussian")
    model = GlmModel(one, one.default_link, Labels(0.0, 5.0), np.full(D, penalty))
    design = np.column_stack([np.ones(N), x])
    ridge = np.linalg.solve(design.T @ design + np.diag([0.0] + [penalty] * D), design.T @ y)
    printed = printed_pmt(PlainSource(x, y / 5), BUDGET, model, guess=guess(public_root(x)), y_scale=1.7).coef
    assert np.max(np.abs(printed - ridge)) < 1e-10
    matrix = public_root(x)
    centred = np.zeros_like(matrix)
    centred[0, 0] = 1.0
    centred[1:] = matrix[1:]
    tight = pmt(PlainSource(x, y / 5), BUDGET, model, x_radius=2.0, guess=guess(centred))
    assert np.max(np.abs(tight.estimate - ridge)) < 1e-7
