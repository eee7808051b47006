"""The start of a descent when the budget is small: labels, dispersion, hidden columns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from noisy_source import NoisySource
from test_narrow_columns import without_rounding

from discreet.algorithms.descent import descend
from discreet.algorithms.parts.labels import clear_cells, combined, label_scale, octaves
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.steps.columns import plausible
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import look_twice
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import family, link
from discreet.privacy import GDP, Budget
from discreet.rows import Answer, Labels

GAMMA = GlmModel(family("gamma"), link("log"), Labels(50.0, 50.0), penalty=np.zeros(3))


def counts(noise_std: float, seed: int = 0) -> Answer:
    """A noisy histogram of 5,000 amounts with mean 3."""
    rng, query = np.random.default_rng(seed), octaves(GAMMA)
    assert query is not None
    cells = np.searchsorted(query.y_edges, rng.gamma(2.0, 1.5, 5_000))
    exact = np.bincount(cells, minlength=len(query.y_edges) + 1).astype(float)[:, np.newaxis]
    return Answer(exact + noise_std * rng.normal(size=exact.shape), noise_std)


def test_a_histogram_is_clear_if_its_cells_hold_about_all_rows():
    found = clear_cells(counts(5.0), 5_000)
    assert found is not None
    assert counts(5.0).value[found, 0].sum() == pytest.approx(5_000, rel=0.02)
    assert clear_cells(counts(2_000.0), 5_000) is None


def test_two_histograms_are_weighted_by_their_precision():
    one, other = Answer(np.array([[1.0]]), 1.0), Answer(np.array([[4.0]]), 0.5)
    both = combined([one, other])
    assert both.value[0, 0] == pytest.approx((1 + 4 * 4) / 5)
    assert both.noise_std == pytest.approx(1 / math.sqrt(5))


@pytest.mark.parametrize(("noise", "least", "most"), [(1e-5, 0.0, 1e-6), (0.003, 0.03, 0.05), (0.008, 0.1, 0.1)])
def test_a_second_histogram_gets_what_its_counts_need(noise, least, most):
    assert least <= plan().octaves_again(noise) <= most


def test_a_second_histogram_that_would_tell_nothing_is_not_asked_for():
    assert plan().octaves_again(0.02) == 0


def plan() -> Plan:
    return Plan(
        Budget.of(1.0, 1e-6), 4, curved=True, dispersion=True, exposure=False, octaves=True, public=False, rows=5_000
    )


def test_an_effect_of_a_hidden_column_is_limited_over_its_whole_range():
    coordinates = Coordinates.scaled(np.array([0.2, -0.9]), 0.1)
    phi = coordinates.phi(np.array([1.0, 0.3, 40.0]))[:, np.newaxis]
    coef = (coordinates.matrix.T @ plausible(coordinates, phi, [1], 3.0))[:, 0]
    assert coef[1:] == pytest.approx([0.3, 1.5])
    # The predictor at the mean of the rows is the same.
    assert coef[0] + coef[1:] @ [0.2, -0.9] == pytest.approx(1 + 0.3 * 0.2 - 40 * 0.9)
    assert plausible(coordinates, phi, [], 3.0) is phi
    assert plausible(coordinates, phi, [1], math.inf) is phi


def test_without_an_intercept_the_limit_keeps_the_origin():
    coordinates = Coordinates.through_origin(np.array([-1.0, -1.0]), 0.5)
    phi = np.linalg.solve(coordinates.matrix[:, 1:].T, np.array([0.3, 40.0]))[:, np.newaxis]
    coef = (coordinates.matrix.T @ plausible(coordinates, phi, [1], 3.0))[:, 0]
    assert coef == pytest.approx([1.8, 0.3, 1.5])


def test_the_limit_has_an_answer_for_coordinates_of_lower_rank():
    """A paid fit failed here: extreme noise had made one coordinate a copy of another."""
    matrix = np.array([[1.0, 0.0, 0.0], [0.5, 2.0, 3.0], [0.5, 2.0, 3.0]])
    phi = np.array([[1.0], [40.0], [40.0]])
    limited = plausible(Coordinates(matrix), phi, [1], 3.0)
    assert np.isfinite(limited).all()
    assert abs(matrix.T @ limited)[2, 0] < abs(matrix.T @ phi)[2, 0]
    untouched = np.array([[1.0], [0.1], [0.1]])
    assert plausible(Coordinates(matrix), untouched, [1], 3.0) == pytest.approx(untouched)


def test_gamma_fits_with_a_small_budget_stay_near_the_truth(monkeypatch):
    """A noisy spread of labels made the dispersion 10 times too large, and scores were centred
    wrongly: one fit in ten was hundreds of times as far from the truth as a plain one.
    """
    without_rounding(monkeypatch)
    slopes, away = np.array([0.3, -0.2, 0.1]), []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = np.clip(rng.normal(size=(5_000, 3)) / 4, -1, 1)
        y = rng.gamma(2.0, np.exp(1 + 4 * X @ slopes) / 2)
        source = NoisySource(X, np.clip((y - 50) / 50, -1, 1), rng, "add_or_remove_one")
        fit = descend(source, Budget.of(0.3, 1e-6), GAMMA, x_radius=math.sqrt(3))
        off = (fit.estimate - np.concatenate([[1], 4 * slopes])) / np.array([1, 4, 4, 4])
        away.append(float(off @ off) * 5_000 / 4 / 0.5)
    assert max(away) < 60
    assert np.median(away) < 6


def test_a_hidden_spread_of_amounts_is_said_so():
    class Looked:
        count, y_centre, y_scale, y_noise_std = 5_000.0, -0.9, 0.4, 0.05

    assert label_scale(GAMMA, Looked(), counts(2_000.0)).hidden
    assert not label_scale(GAMMA, Looked(), counts(5.0)).hidden


def test_a_scale_of_columns_that_noise_hides_is_not_taken_for_tiny():
    """It was, in one look of thirty with 20 columns: all rows were clipped, and a fit's error was
    20 times as large.
    """
    scales = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = np.clip(rng.normal(size=(5_000, 20)) / 4, -1, 1)
        source = NoisySource(X, rng.uniform(-1, 1, 5_000), rng, "add_or_remove_one")
        cost = GDP(Budget.of(1.0, 1e-6).mu * math.sqrt(0.05))
        scaling, _ = look_twice(source, cost, 20, math.sqrt(20), label_share=0.25, more=[])
        scales.append(scaling.x_scale)
    assert min(scales) > 0.1  # the true one is .25
    assert max(scales) < 0.5
