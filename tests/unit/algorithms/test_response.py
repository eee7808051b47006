"""The response of clipped scores, from releases that show different parts of it."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.measure import Bounds, Measurement
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
