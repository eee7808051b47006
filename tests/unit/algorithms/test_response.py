"""The response of clipped scores, from releases that show different parts of it."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.measure import Bounds, Measurement, Optimum, level_at, lopsided
from discreet.algorithms.parts.noisy_matrix import Seen
from discreet.algorithms.parts.response import Response
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import Gaussian, Identity
from discreet.rows import Answer, Labels


def test_a_later_curvature_replaces_earlier_ones_where_they_clearly_differ():
    """Rows far out in one column have larger errors, and fewer of them are kept: the moment of all
    rows hid this, and the slope's sampling error was 15 % too small.
    """
    response = Response(np.eye(3), [Seen(np.eye(3), 0.01)])
    changed = np.eye(3)
    changed[0, 1] = changed[1, 0] = -0.2
    response.see(changed, Seen(changed, 0.03), 1, replaces=True)
    assert response.released().curvature == pytest.approx(changed)


def a_step(response):
    """Two gradients whose change shows a response twice as steep as the released one."""
    model = GlmModel(Gaussian(), Identity(), Labels(0.0, 1.0), np.zeros(1))
    frame = Frame(None, model, Coordinates(np.eye(2)), Foresight(model, True), 1.0, 1.0)  # type: ignore[arg-type]
    step = np.array([0.0, 0.5])
    before, after = Answer(np.zeros((2, 1)), 1e-6), Answer(2 * (response @ step)[:, np.newaxis], 1e-6)
    bounds = Bounds(1.0, ())
    return [Measurement(frame, np.zeros(2), bounds, before, ()), Measurement(frame, step, bounds, after, ())]


@pytest.mark.parametrize(("released_at", "steepness"), [(2, 1.0), (1, 2.0)])
def test_a_curvature_that_fell_on_the_way_is_the_one_at_the_end_of_the_step(released_at, steepness):
    """The change of gradients is that of the way: a rare category's slope was 7 errors off. Where
    no curvature was released at the end, nothing else tells.
    """
    released = np.eye(2)
    response = Response(released, [Seen(released, 0.01)])
    response.see(released, Seen(released, 0.01), released_at)
    bend = {"nonlinearity": lambda step: 0.0, "bend": lambda phi, goal: 1.0}
    response.complete(released, 1.0, np.zeros((2, 2)), 0.02, a_step(released), [], **bend)
    assert response.full[1, 1] == pytest.approx(steepness, abs=0.02)


def test_the_error_of_a_response_is_the_misfit_of_the_foresight_where_noise_hides_it():
    """It counted as large as the noise, and earlier gradients hardly counted."""
    size, noise = 20, 0.3
    upper = np.triu(np.random.default_rng(0).normal(size=(size, size)) * noise)
    released = np.eye(size) + np.diag(np.diagonal(upper)) + (np.triu(upper, 1) + np.triu(upper, 1).T) / np.sqrt(2)
    response = Response(np.eye(size), [])
    edge = np.sqrt(2 * size) * noise
    assert response.wrong(edge) == pytest.approx((edge / 2) ** 2, rel=0.2)
    response.see(np.eye(size), Seen(released, noise), 1)
    # A chi-square of 210 numbers: below .5 unless it is 4 standard deviations above its mean.
    assert response.wrong(edge) < 0.5 * (edge / 2) ** 2
    response.see(np.eye(size), Seen(released + 2 * np.eye(size), noise), 1)
    assert response.wrong(edge) == pytest.approx(min(edge / 2, 1.0) ** 2)


def at_zero(level):
    """One measurement whose level shows these numbers, and what they are at the optimum."""
    one = a_step(np.eye(2))[0]
    bounds = Bounds(1.0, ((1.0, 2.0),))
    seen = [Measurement(one.frame, one.phi, bounds, one.base, (Answer(np.array(level)[:, np.newaxis], 0.1),))]
    goal = Optimum(np.array([1.0, 0.0]), 0.0 * np.eye(2), np.eye(2), np.zeros(2))
    return level_at(seen, 0, goal, 0.5 * np.eye(2), 0.0)


def test_a_level_that_shows_the_distance_to_the_optimum_alone_is_not_lopsided():
    value, variance = at_zero([-0.5, 0.0])
    assert value == pytest.approx([0.0, 0.0])
    assert variance == pytest.approx(0.01)
    assert not lopsided([(value, variance)])
    assert lopsided([at_zero([0.5, 0.0])])
