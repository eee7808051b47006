"""The parts of a descent: what the look tells, steps, limits, measurements, the filter, predictions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from noisy_source import NoisySource

from discreet.algorithms.descent import approach_of, rehearsed
from discreet.algorithms.parts.estimate import estimated
from discreet.algorithms.parts.filter import Filter
from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.last_gradients import LastGradients
from discreet.algorithms.parts.limits import best_limits
from discreet.algorithms.parts.looks import Columns, columns_question
from discreet.algorithms.parts.many_predictors import ManyPredictors
from discreet.algorithms.parts.measure import Bounds, Measurement
from discreet.algorithms.parts.newton_step import foreseen, limited
from discreet.algorithms.parts.one_predictor import OnePredictor
from discreet.algorithms.parts.plan import Plan
from discreet.algorithms.parts.prediction import predicted
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import Scaling
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.kalman import Belief
from discreet.glm import family, link
from discreet.privacy import Budget
from discreet.rows import Answer, Labels

D = 3
LABELS = {"gaussian": Labels(0.0, 6.0), "bernoulli": Labels(0.5, 0.5), "poisson": Labels(10.0, 10.0)}


def model_of(name: str, **more) -> GlmModel:
    one = family(name)
    return GlmModel(one, one.default_link, more.pop("labels", LABELS.get(name)), np.zeros(D), **more)


def rows(name: str, n: int = 4000, seed: int = 0):
    """Encoded rows, labels in the user's units, and the coefficients of (1, x)."""
    rng = np.random.default_rng(seed)
    x, coef = np.clip(rng.normal(0.1, 0.3, (n, D)), -1, 1), np.array([0.4, 1.0, -0.5, 0.0])
    eta = coef[0] + x @ coef[1:]
    if name == "gaussian":
        y = eta + rng.normal(0, 0.7, n)
    elif name == "bernoulli":
        y = (rng.random(n) < 1 / (1 + np.exp(-eta))) * 1.0
    else:
        y = rng.poisson(np.exp(eta)) * 1.0
    return x, y, coef


def started(name: str, mu: float, seed: int = 0):
    """The start of a descent on such rows, and least squares of them."""
    x, y, coef = rows(name)
    model = model_of(name)
    source = NoisySource(
        x, (y - model.labels.centre) / model.labels.half_width, np.random.default_rng(seed), "replace_one"
    )
    approach = approach_of(source, Budget.from_mu(mu, 1e-6), model, None)
    approach.look(math.sqrt(D))
    approach.whiten()
    return approach.warm_up(), x, y, coef


def frame_of(name: str, count: float = 10_000.0) -> Frame:
    model = model_of(name)
    return Frame(None, model, Coordinates(np.eye(D + 1)), Foresight(model, True), count, 1.0)


def test_without_columns_none_is_asked_about():
    plan = Plan(Budget.from_mu(1.0, 1e-6), 1, False, True, False, False, False)
    assert columns_question(0, plan) == []
    others = [Answer(np.ones((1, 1)), 1.0)]
    columns, left = Columns.read(
        GlmModel(family("gaussian"), link("identity"), Labels(0.0, 1.0), np.zeros(0)),
        Scaling(10.0, np.zeros(0), 1.0, 0.0, 1.0),
        others,
    )
    assert columns.spread_out.shape == (0,)
    assert columns.rare is None
    assert left == others


def test_a_wide_column_is_seen_to_be_wide_and_one_in_a_single_place_is_not():
    plan = Plan(Budget.from_mu(1.0, 1e-6), 3, False, True, False, False, False)
    ((query, _),) = columns_question(2, plan)
    counts = np.zeros((2, query.cells))
    counts[0] = 1000 / query.cells
    counts[1, query.cells // 2] = 1000
    scaling = Scaling(1000.0, np.zeros(2), 1.0, 0.0, 1.0, seen_count=1000.0)
    columns, left = Columns.read(
        GlmModel(family("gaussian"), link("identity"), Labels(0.0, 1.0), np.zeros(2)),
        scaling,
        [Answer(counts.reshape(-1, 1), 10.0)],
    )
    assert columns.spread_out[0] > 50
    assert columns.spread_out[1] == 0
    assert left == []


def test_the_mean_exposure_is_the_offset_and_constants_give_the_mean_label_with_it():
    x, y, _ = rows("poisson")
    model = model_of("poisson", exposure=(0.1, 10.0))
    source = NoisySource(x, (y - 10) / 10, np.random.default_rng(0), "replace_one")
    source.block.offset = np.log(np.full(len(x), 2.0))
    plan = Plan(Budget.from_mu(1e5, 1e-6), D + 1, True, False, True, True, False, rows=len(x))
    looked = OnePredictor.look(source, model, plan, math.sqrt(D))
    assert looked.offset == pytest.approx(math.log(2), abs=1e-3)
    frame = replace(frame_of("poisson"), foresight=Foresight(model, True, looked.offset))
    constants, variance = looked.constants(frame, np.zeros(D + 1))
    assert float(model.link.mean(constants[0] + looked.offset)) == pytest.approx(y.mean(), rel=0.01)
    assert variance < 1e-4


def test_the_shares_of_classes_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    x, index = rng.uniform(-1, 1, (3000, D)), rng.choice(3, 3000, p=[0.6, 0.3, 0.1]).astype(float)
    model = GlmModel(family("bernoulli"), link("logit"), Labels(1.0, 1.0), np.zeros(D), classes=3)
    source = NoisySource(x, index - 1, rng, "replace_one")
    plan = Plan(Budget.from_mu(1e4, 1e-6), D + 1, True, False, False, True, False, predictors=2, rows=len(x))
    looked = ManyPredictors.look(source, model, plan, math.sqrt(D))
    assert looked.shares.parts == pytest.approx(np.bincount(index.astype(int)) / 3000, abs=0.01)
    assert looked.last_search == 0


def test_a_step_of_a_curved_link_is_at_most_one_and_a_half_standard_deviations_of_eta():
    frame, goal = frame_of("bernoulli"), np.array([0.0, 30.0, 0.0, 0.0])
    point = limited(frame, np.zeros(D + 1), goal)
    assert frame.length(point, np.zeros(D + 1)) == pytest.approx(1.5)
    assert point[1] > 0
    near = 0.01 * goal
    assert limited(frame, np.zeros(D + 1), near) == pytest.approx(near)
    assert limited(frame_of("gaussian"), np.zeros(D + 1), goal) == pytest.approx(goal)


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "poisson"])
def test_the_foreseen_step_is_none_for_noise_and_shorter_where_the_curvature_is_doubtful(name):
    frame, phi = frame_of(name), np.array([0.2, 0.1, 0.0, 0.0])
    gradient = np.array([0.0, 0.05, 0.0, 0.0])
    assert foreseen(frame, phi, gradient, 1.0, 1.0) == pytest.approx(phi, abs=1e-4)
    sure, unsure = (foreseen(frame, phi, gradient, 1e-9, 1.0, doubt) for doubt in (0.0, 2.0))
    assert sure[1] < unsure[1] < phi[1]
    # The root mean square of what moves eigenvalues is half of the doubt.
    assert (unsure - phi)[1] == pytest.approx((sure - phi)[1] / 2, rel=0.1)


def test_limits_clip_nothing_where_a_budget_protects_nobody_and_much_where_it_is_small():
    plenty, wide = best_limits(started("gaussian", 1e4)[0])
    little, narrow = best_limits(started("gaussian", 0.5)[0])
    assert wide.kept > 0.99
    assert not plenty.frame.centred
    assert narrow.kept < 0.95
    assert little.frame.centred
    assert narrow.bounds.clip < wide.bounds.clip
    half = narrow.scaled(0.5, 0.5)
    assert half.bounds.clip == narrow.bounds.clip / 2
    assert half.kept == pytest.approx(narrow.kept)
    assert narrow.scaled(0.5, 1.0).kept > narrow.kept  # of smaller scores a clip norm keeps more


@pytest.mark.parametrize("name", ["gaussian", "bernoulli"])
def test_measurements_without_noise_agree_on_the_optimum(name):
    start, x, y, _ = started(name, 1e4)
    last = LastGradients(*best_limits(start)).measure()
    known = estimated(last)
    design = np.column_stack([np.ones(len(x)), x])
    fitted = last.frame.turn @ known.estimate.phi
    residual = y - last.frame.model.link.mean(design @ fitted)
    assert np.abs(design.T @ residual / len(x)).max() < 2e-3
    assert len(last.seen) >= 2
    if name == "gaussian":  # a constant curvature does not fade
        assert known.faded is known.spread
    else:
        assert np.trace(known.faded.noise) >= np.trace(known.spread.noise) * (1 - 1e-9)


def test_a_step_of_the_identity_link_ends_where_clipped_scores_still_respond():
    start, *_ = started("gaussian", 2.0)
    last = LastGradients(*best_limits(start)).measure()
    far = last.phi + 100.0
    step = last.limited(last.phi, far) - last.phi
    assert last.nonlinearity(far - last.phi) > 1
    assert last.nonlinearity(step) == pytest.approx(1.0)
    assert last.bend(last.phi, last.phi) == 0
    assert last.bend(last.phi, far) == 1


def test_a_public_fit_is_predicted_where_noise_hides_the_curvature():
    start, *_ = started("bernoulli", 2.0)
    public = np.array([0.1, 0.2, 0.3, 0.4])
    last = LastGradients(*best_limits(replace(start, public=public, last_search=0.0))).measure()
    last.doubt = 100.0
    known = estimated(last)
    prediction = predicted(last, replace(known, hidden=()))
    assert prediction[1:] == pytest.approx(public[1:])


def test_slopes_of_hidden_columns_are_no_larger_than_is_plausible():
    start, *_ = started("bernoulli", 5.0)
    last = LastGradients(*best_limits(start)).measure()
    known = estimated(last)
    steep = replace(known, estimate=replace(known.estimate, phi=np.array([0.0, 50.0, 50.0, 50.0])), hidden=(0, 1, 2))
    slopes = last.frame.coordinates.coefficients(predicted(last, steep))[1:]
    assert np.abs(slopes).max() <= last.frame.farthest / 2 * (1 + 1e-9)


def measurement(frame: Frame, phi: np.ndarray, gradient: np.ndarray, noise_std: float) -> Measurement:
    base = Answer(frame.count * gradient[:, np.newaxis], frame.count * noise_std)
    return Measurement(frame, phi, Bounds(1.0, ()), base, ())


def test_a_filter_follows_precise_gradients_and_ignores_noise():
    frame, phi, optimum = frame_of("gaussian"), np.zeros(D + 1), np.array([0.5, -0.5, 0.25, 0.0])
    curvature = frame.foresight.curvature(phi)
    known = Filter(Belief(phi, 0.25 * np.eye(D + 1), [phi]), leads=True)
    seen = [measurement(frame, phi, curvature @ (phi - optimum), 1e-9)] * 8
    assert known.believed(frame, seen, [], 1.0).theta == pytest.approx(optimum, abs=0.1)
    noise = [measurement(frame, phi, curvature @ (phi - optimum), 1e3)]
    assert known.believed(frame, noise, [], 1.0).theta == pytest.approx(phi, abs=1e-3)
    assert known.belief.path == [phi]  # what was believed stays as it was
    assert len(known.path(seen, optimum)) == 1 + 7 + 1


def test_an_estimate_counts_for_a_filter_as_far_as_it_is_precise():
    start, *_ = started("gaussian", 5.0)
    last = LastGradients(*best_limits(start)).measure()
    known = estimated(last)
    before = known.estimate.phi + 0.01
    tight = Filter(Belief(before, 1e-12 * np.eye(D + 1), [before]), leads=False)
    loose = Filter(Belief(before, 1e6 * np.eye(D + 1), [before]), leads=False)
    near, far = (one.with_estimate(known.estimate, known.spread).theta for one in (loose, tight))
    assert near == pytest.approx(known.estimate.phi, abs=1e-4)
    assert np.linalg.norm(far - before) < np.linalg.norm(near - before)


def test_a_rehearsal_leaves_the_rest_of_the_budget_and_a_nearer_point():
    start, x, y, _ = started("poisson", 100.0)
    source, budget = start.frame.source, start.plan.budget
    before = source.spent
    again = rehearsed(start)
    left = again.plan.budget.mu**2
    assert left < budget.mu**2
    assert source.spent - before <= budget.mu**2 - left
    assert again.rehearsed >= 2
    design = np.column_stack([np.ones(len(x)), x])

    def slope(phi):
        return np.linalg.norm(design.T @ (np.exp(design @ (start.frame.turn @ phi)) - y)) / len(x)

    assert slope(again.phi) < slope(start.phi)
