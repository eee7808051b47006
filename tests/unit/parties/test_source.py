"""The joint release stands in for a trusted curator's second moment: estimators, moments, a source."""

from __future__ import annotations

import numpy as np
import pytest
from small_plan import people, released, small_plan

from discreet.algorithms.moments import release_moments
from discreet.errors import DomainError, GuaranteeError
from discreet.estimators import LinearRegression, Ridge
from discreet.parties.estimate import MixedMoments, nearest_correlation
from discreet.parties.queries import Mixes
from discreet.privacy import GDP, Budget
from discreet.rows import SecondMoment

TRUTH = {"x0": 0.4, "x1": 0.0, "x2": -0.3, "x3": 0.2}


@pytest.fixture(scope="module")
def clear():
    return released(small_plan(epsilon=500.0, people=5000, mixes=4096), people(5000))


def test_your_own_estimator_is_fitted(clear):
    model = clear.fit(LinearRegression(epsilon=1e4, delta=1e-5), "y")
    assert dict(zip(model.feature_names_in_, model.coef_, strict=True)) == pytest.approx(TRUTH, abs=0.05)
    assert model.conf_int().shape == (4, 2)
    assert model.privacy_.mu == pytest.approx(clear.privacy.mu)
    frame = people(1000, seed=3)
    assert model.score(frame[list(model.feature_names_in_)], frame["y"]) > 0.85
    ridge = clear.fit(Ridge(epsilon=1e4, delta=1e-5, alpha=1e6), "y", ["x3", "x0"])
    assert np.all(np.abs(ridge.coef_) < 0.05)
    assert list(ridge.feature_names_in_) == ["x3", "x0"]


def test_weaker_guarantee_than_the_estimators_is_refused(clear):
    with pytest.raises(GuaranteeError, match="weaker than the 1 of the estimator"):
        clear.fit(LinearRegression(epsilon=1.0, delta=1e-5), "y")
    with pytest.raises(DomainError, match="has an intercept"):
        clear.fit(LinearRegression(epsilon=1e4, delta=1e-5, fit_intercept=False), "y")
    with pytest.raises(TypeError, match="LinearRegression or a Ridge"):
        clear.fit(object(), "y")


def test_moments_answer_linear_questions(clear):
    moments = clear.moments()
    assert moments.names == ("x0", "x1", "x2", "x3", "y")
    result = moments.regress("y")
    assert dict(zip(result.names[1:], result.shrunk[1:], strict=True)) == pytest.approx(TRUTH, abs=0.07)
    assert np.all(np.abs(result.params[1:] - list(TRUTH.values())) < 4 * result.bse[1:])
    other = moments.regress("x0", ["y", "x2"], alpha=3.0)
    assert other.names == ("const", "y", "x2")


def test_noise_bound_holds_in_every_direction():
    """Simulated mixes of strongly related columns: no direction is noisier than the stated
    isotropic noise.
    """
    rng = np.random.default_rng(0)
    owner = np.array([0, 0, 1, 1, 2])
    truth = nearest_correlation(0.6 + 0.4 * np.eye(5), owner, floor=1e-3)
    noise, mixes, count = np.array([10.0, 10.0, 20.0, 20.0, 30.0]), 60, 1000.0
    drawn = count * truth + np.diag(mixes * noise)
    errors, bounds = [], []
    for _ in range(500):
        mixed = rng.multivariate_normal(np.zeros(5), drawn, size=mixes)
        one = MixedMoments(mixed, noise, owner, np.full(5, count), truth, np.zeros(5), np.ones(5))
        errors.append(count * (one.raw() - truth))
        bounds.append(one.noise_bound())
    errors, bound = np.array(errors), np.median(bounds)
    for _ in range(200):
        a, b = rng.normal(size=(2, 5))
        a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
        std = np.einsum("i,nij,j->n", a, errors, b).std()
        assert std < 1.15 * bound * np.sqrt((1 + (a @ b) ** 2) / 2)
    top = np.linalg.eigh(drawn)[1][:, -1]
    assert np.einsum("i,nij,j->n", top, errors, top).std() > 0.4 * bound


def test_the_moment_algorithm_runs_on_the_source(clear):
    source = clear.source("y")
    made = release_moments(source, Budget.of(1.0, 1e-6), width=4, x_radius=2.0)
    assert made.answer.isotropic
    turn = made.answer.value
    x = people(5000)
    query: SecondMoment = made.query
    row = np.column_stack(
        [
            np.full(5000, query.weight_1),
            (x[["x0", "x1", "x2", "x3"]].to_numpy() - query.x_centre) / query.x_scale,
            query.weight_y * (x["y"] - query.y_centre) / query.y_scale,
        ]
    )
    # The unshortened second moment, within the stated noise.
    assert np.abs(turn - row.T @ row).max() < 4 * made.answer.noise_std
    assert source.public_rows == 5000


def test_other_questions_are_refused(clear):
    source = clear.source("y", ["x0"])
    with pytest.raises(DomainError, match="second moments only"):
        source.sum(Mixes(9, np.zeros(1), np.ones(1), 1.0), GDP(1.0))
    with pytest.raises(DomainError, match="second moments only"):
        source.noise_std(Mixes(9, np.zeros(1), np.ones(1), 1.0), GDP(1.0))
