"""Errors name the parameter that the user passed and the rule it breaks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import Ledger, LinearRegression, SingleIndexRegressor
from discreet.audit.attacks import score_attack, sparse_score_attack
from discreet.glm import Gaussian
from discreet.glm.index_links import INDEX_LINKS
from discreet.planning import glm_lower_bound, relu_lower_bound


def test_a_number_in_the_place_of_a_guarantee():
    said = r"privacy must be a guarantee such as .*GDP\(0.2\).*, got 0.2"
    with pytest.raises(TypeError, match=said):
        relu_lower_bound(1000, 5, 0.2, noise_std=1.0)
    with pytest.raises(TypeError, match=said):
        glm_lower_bound(1000, 5, 0.2, dispersion=1.0, curvature=1.0, x_variance=1.0, x_norm=3.0)


@pytest.mark.parametrize("attack", [score_attack, sparse_score_attack])
def test_a_family_by_its_name(attack):
    rows = np.eye(3), np.ones(3), np.ones(3), np.array([0.0, 1.0, 0.0])
    assert np.array_equal(attack(*rows, "gaussian"), attack(*rows, Gaussian()))
    with pytest.raises(ValueError, match="family must be one of gaussian"):
        attack(*rows, "normal")
    with pytest.raises(TypeError, match=r"family must be a family of discreet\.glm or its name, got 3"):
        attack(*rows, 3)


def test_an_infinite_epsilon(tmp_path):
    model = LinearRegression(epsilon=math.inf, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1))
    with pytest.raises(ValueError, match="epsilon must be a finite number > 0, got inf"):
        model.fit(np.zeros((5, 2)), np.zeros(5))
    with pytest.raises(ValueError, match="epsilon must be a finite number > 0, got inf"):
        Ledger.create(tmp_path / "budget", epsilon=math.inf, delta=1e-6)


@pytest.mark.parametrize("link", INDEX_LINKS)
@pytest.mark.parametrize("bounds", [(-50, 50), (-10, 10), (0, 1)])
def test_a_range_wider_than_a_link_can_reach_is_no_reason_to_fail(link, bounds):
    """``math domain error`` once the first look was paid for, in 12 of 12 fits with the widest of
    these.
    """
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 3))
    y = INDEX_LINKS[link].mean(X @ [1.0, 2.0, 3.0])
    for _ in range(3):
        fitted = SingleIndexRegressor(epsilon=1, delta=1e-6, bounds_X=(-1, 1), bounds_y=bounds, link=link).fit(X, y)
        assert np.isfinite(fitted.coef_).all()
