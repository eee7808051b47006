"""What solvers of the papers share, the fit on a support, and the plan of index models."""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisy_source import NoisySource
from plain_source import PlainSource

from discreet.algorithms.parts.index_plan import IndexPlan
from discreet.algorithms.steps.declared import (
    cost_of,
    declared_coordinates,
    predictors,
    public_count,
    row_count,
    truncated_scores,
)
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.support_fit import least_squares
from discreet.algorithms.steps.wide_look import WideScaling
from discreet.glm import family, link
from discreet.privacy import GDP, Budget
from discreet.rows import Labels

X = np.array([[0.5, -0.2], [-1.0, 0.9], [0.1, 0.3]])


def model_of(**more) -> GlmModel:
    return GlmModel(family("poisson"), link("log"), Labels(5.0, 5.0), np.array([2.0, 3.0]), **more)


@pytest.mark.parametrize("origin", [None, np.array([0.3, -0.4])])
def test_no_row_is_longer_in_declared_coordinates_than_their_length_says(origin):
    coordinates, longest = declared_coordinates(model_of(origin=origin), x_radius=1.4)
    z = coordinates.matrix @ np.vstack([np.ones(len(X)), X.T])
    assert np.linalg.norm(z, axis=0).max() <= longest
    assert coordinates.constant == (origin is None)
    penalty = model_of(origin=origin).penalty_in(coordinates)
    first = int(coordinates.constant)
    assert penalty[first:, first:] == pytest.approx(np.diag([2.0, 3.0]))
    assert not penalty[:first].any()


def test_the_range_of_predictors_contains_the_logarithms_of_exposures():
    assert predictors(model_of(), 3.0) == (-3.0, 3.0)
    assert predictors(model_of(exposure=(0.5, 4.0)), 3.0) == pytest.approx((math.log(0.5) - 3, math.log(4) + 3))


def test_truncated_scores_are_those_of_the_family_within_their_bound():
    model = model_of()
    coordinates, radius = declared_coordinates(model, 1.4)
    at, y = np.array([0.2, 0.5, -0.5]), np.array([0.0, 1.0, 7.0])
    query = truncated_scores(model, coordinates, at, radius, 4.0)
    found = PlainSource(X, (y - 5) / 5).sum(query, GDP(1.0)).value[:, 0]
    design = np.column_stack([np.ones(3), X])
    score = np.clip(np.exp(design @ at) - y, -4, 4)
    assert found == pytest.approx(design.T @ score, abs=1e-6)


def test_a_private_number_of_rows_is_released_for_a_share_and_a_public_one_for_nothing():
    budget, x = Budget.from_mu(10.0, 1e-6), np.zeros((500, 2))
    hidden = NoisySource(x, np.zeros(500), np.random.default_rng(0), "add_or_remove_one")
    count, left = row_count(hidden, budget, 2, 1.4)
    assert count == pytest.approx(500, abs=20)
    assert hidden.spent <= (1 - left) * budget.mu**2
    known = NoisySource(x, np.zeros(500), np.random.default_rng(0), "replace_one")
    assert row_count(known, budget, 2, 1.4) == (500.0, 1.0)
    assert known.spent == 0
    with pytest.raises(ValueError, match="public number of rows"):
        public_count(hidden)


def test_noise_of_a_size_costs_what_that_noise_is_drawn_for():
    source = NoisySource(X, np.zeros(3), np.random.default_rng(0), "replace_one")
    coordinates, radius = declared_coordinates(model_of(), 1.4)
    query = truncated_scores(model_of(), coordinates, np.zeros(3), radius, 4.0)
    assert source.noise_std(query, cost_of(source, query, 0.7)) == pytest.approx(0.7)


@pytest.mark.parametrize("mu", [0.01, 1.0, 40.0])
def test_parts_of_a_budget_never_exceed_it(mu):
    budget, shares = Budget.from_mu(mu, 1e-6), [0.1] * 3 + [0.7]
    assert math.fsum(budget.part(share).mu ** 2 for share in shares) <= mu**2
    assert budget.part(0.25).mu == pytest.approx(mu / 2)


class Wide:
    """A source of a wide table without noise."""

    public_rows = None

    def __init__(self, x, y):
        self.x, self.y = x, y

    def noise_std(self, query, cost):
        return 1e-12

    def sum(self, query, cost, columns):
        return PlainSource(self.x[:, columns], self.y).sum(query, cost)


def test_the_fit_on_a_support_is_that_of_least_squares_without_noise():
    rng = np.random.default_rng(0)
    x = rng.uniform(-0.5, 0.5, (2000, 6))
    y = np.clip(0.1 + x[:, [1, 4]] @ [0.6, -0.4] + rng.normal(0, 0.1, 2000), -1, 1)
    known = WideScaling(2000.0, float(y.mean()), float(y.std()), 0.3, None, 0.0)
    coef = least_squares(Wide(x, y), np.array([1, 4]), GDP(100.0), known)
    expected = np.linalg.lstsq(np.column_stack([np.ones(2000), x[:, [1, 4]]]), y, rcond=None)[0]
    assert coef == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("mu", [0.05, 0.5, 5.0, 50.0])
def test_a_plan_of_an_index_model_never_costs_more_than_its_budget(mu, public):
    plan = IndexPlan(Budget.from_mu(mu, 1e-6), 6, True, True, False, False, public).for_rows(2000.0, public=public)
    gradients = plan.gradients(1.0, 0).mu ** 2 + plan.steps * plan.filter_step.mu**2
    assert plan.early * mu**2 + gradients <= mu**2
    assert plan.trons <= plan.steps
