"""The constant that gives a mean label is found for every link, from any mean."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.parts.constants import FARTHEST, constants
from discreet.glm import link

PREDICTORS = np.linspace(0.0, 3.0, 40)[:, np.newaxis] * np.linspace(-4.0, 4.0, 9)
MASSES = np.full(9, 1 / 9)


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("identity", [-3.0, 1e-6, 0.7, 20.0]),
        ("logit", [1e-6, 0.01, 0.5, 0.99]),
        ("probit", [1e-6, 0.01, 0.5, 0.99]),
        ("cloglog", [1e-6, 0.01, 0.5, 0.99]),
        ("log", [1e-6, 0.3, 1.0, 1000.0, 1e9]),
        ("softplus", [1e-6, 0.3, 1.0, 30.0]),
        ("negative_inverse", [0.1, 1.0, 1000.0]),
    ],
)
def test_the_mean_is_that_which_was_asked_for(name, means):
    for mean in means:
        found = constants(link(name), PREDICTORS, MASSES, mean)
        assert link(name).mean(found[:, np.newaxis] + PREDICTORS) @ MASSES == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize(("mean", "end"), [(-0.5, -FARTHEST), (2.0, FARTHEST)])
def test_a_mean_that_no_constant_has_gives_the_farthest_one(mean, end):
    assert constants(link("logit"), PREDICTORS, MASSES, mean) == pytest.approx(end)
