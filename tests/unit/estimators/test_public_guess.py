"""The use of public rows: their own fit, exposures included, and coordinates robust to odd rows."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import DomainError, PoissonRegressor, Public
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.domain import Domain, Encoder, Numeric
from discreet.estimators.public_guess import public_guess
from discreet.glm import Gaussian, Identity, Poisson, link
from discreet.rows import Labels

DECLARED = {"epsilon": 1.0, "delta": 1e-6, "bounds_X": (-3, 3), "bounds_y": (0, 30), "bounds_exposure": (0.1, 10)}


def claims(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X, exposure = np.clip(rng.normal(size=(n, 2)), -3, 3), rng.uniform(0.1, 10, n)
    return X, rng.poisson(exposure * np.exp(-1 + X @ [0.5, -0.3])), exposure


def encoder_of(columns: int, y: tuple[float, float], exposure: tuple[float, float] | None = None) -> Encoder:
    domain = Domain(tuple(Numeric(f"x{i}", -3.0, 3.0) for i in range(columns)))
    return Encoder(domain, Numeric("y", *y), None if exposure is None else Numeric("t", *exposure))


def test_exposures_of_public_rows_enter_their_fit():
    X, y, exposure = claims(4000)
    encoder = encoder_of(2, (0.0, 30.0), (0.1, 10.0))
    model = GlmModel(Poisson(), link("log"), Labels(15.0, 15.0), np.zeros(2), exposure=(0.1, 10.0))
    found = public_guess(Public(X, y, exposure=exposure), encoder, model).coefficients
    # In encoded units slopes are three times as large. Standard errors are .015 and less: five of
    # them are allowed.
    np.testing.assert_allclose(found / [1, 3, 3], [-1, 0.5, -0.3], atol=0.08)


def test_a_model_with_exposure_uses_labelled_public_rows():
    X, y, exposure = claims(400, seed=1)
    public = Public(*claims(5000, seed=2)[:2], exposure=claims(5000, seed=2)[2])
    tiny = DECLARED | {"epsilon": 0.01}
    fitted = PoissonRegressor(**tiny, public=public).fit(X, y, exposure=exposure)
    # At so small a budget the public fit is all there is; the constant may be off by what exposures
    # were taken to be.
    np.testing.assert_allclose(fitted.coef_, [0.5, -0.3], atol=0.15)


@pytest.mark.parametrize(
    ("public", "private", "message"),
    [
        ({}, {"exposure": np.ones(50)}, "labels of public rows need one as well"),
        ({"exposure": np.ones(50)}, {}, "fit was given none"),
        ({"exposure": np.ones(3)}, {"exposure": np.ones(50)}, "one number for each of the 50"),
        ({"exposure": np.full(50, np.nan)}, {"exposure": np.ones(50)}, "one number for each of the 50"),
    ],
)
def test_exposures_are_given_for_both_or_for_none(public, private, message):
    X, y, _ = claims(50)
    with pytest.raises(DomainError, match=message):
        PoissonRegressor(**DECLARED, public=Public(X, y, **public)).fit(X, y, **private)


def test_few_noisy_public_rows_are_held_towards_the_constant_model():
    rng = np.random.default_rng(3)
    X, noise = rng.normal(size=(12, 10)), rng.normal(size=12)
    model = GlmModel(Gaussian(), Identity(), Labels(0.0, 5.0), np.zeros(10))
    found = public_guess(Public(X, noise), encoder_of(10, (-5.0, 5.0)), model).coefficients
    # Least squares through 12 points with 11 coefficients would have slopes of several units.
    assert np.abs(found[1:] / 3).max() < 0.6


def test_a_direction_of_a_few_far_rows_is_not_stretched_as_if_it_were_normal():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1000, 4))
    rare = np.where(np.arange(1000) % 200 == 0, 1.0, 0.0)
    usual = rare.std() * rng.standard_normal(1000)
    model = GlmModel(Gaussian(), Identity(), Labels(0.0, 1.0), np.zeros(5))
    stretch = []
    for last in (rare, usual):
        rows = Public(np.column_stack([X, last]))
        matrix = public_guess(rows, encoder_of(5, (-1.0, 1.0)), model).coordinates.matrix
        stretch.append(np.linalg.norm(matrix[1:, 5]))
    assert stretch[0] < 0.7 * stretch[1]
