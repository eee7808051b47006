"""What levels above the clip norm leave out of a wrong model counts as an error."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.parts.clipped_rows import Move
from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.left_out import left_out
from discreet.algorithms.parts.measure import Bounds, Estimate, Measurement
from discreet.algorithms.parts.sizes import Sizes
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import Gaussian, Identity
from discreet.rows import Answer, Labels

SIZE, COUNT, NOISE = 9, 20_000.0, 0.004
SIZES = Sizes.of(np.random.default_rng(0).exponential(size=20_000), label_free=False)


def lacking(means, keeps, seed=0, move=None):
    """What is left out of levels with these mean scores, if the last point is the estimate."""
    rng, levels = np.random.default_rng(seed), ((1.0, 2.0), (2.0, 4.0))[: len(means)]
    answers = tuple(Answer(COUNT * (mean + NOISE * rng.normal(size=(SIZE, 1))), COUNT * NOISE) for mean in means)
    model = GlmModel(Gaussian(), Identity(), Labels(0.0, 30.0), np.zeros(SIZE - 1))
    frame = Frame(None, model, Coordinates(np.eye(SIZE)), Foresight(model, True), COUNT, 1.0)  # type: ignore[arg-type]
    last = Measurement(frame, np.zeros(SIZE), Bounds(1.0, levels), answers[0], answers)
    estimate = Estimate(np.zeros(SIZE), (1.0,), np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE)))
    return left_out(last, keeps, SIZES, estimate, [np.zeros((SIZE, SIZE))] * len(means), move)


def test_levels_of_a_true_model_leave_nothing_out():
    # Noise alone passes once in 27 times; of 400, more than 36 do about once in 10^6 runs.
    none = np.zeros((SIZE, 1))
    assert sum(np.any(lacking([none, none], [0.0, 0.0], seed)) for seed in range(400)) <= 36


def test_what_is_not_kept_of_a_lopsided_level_is_left_out():
    mean = np.zeros((SIZE, 1))
    mean[1] = 0.1
    beyond = SIZES.hidden_beyond(2.0) / (SIZES.beyond(1.0) - SIZES.beyond(2.0))
    half, none = lacking([mean], [0.5]), lacking([mean], [1.0])
    # The noise of .004 changes a length of .1 by about 4 %.
    assert half[1] == pytest.approx(0.1 * (0.5 + beyond), rel=0.2)
    assert none[1] == pytest.approx(0.1 * beyond, rel=0.2)


def test_no_more_is_left_out_than_levels_can_hold():
    mean = np.full((SIZE, 1), 10.0)
    most = SIZES.beyond(1.0) - SIZES.beyond(2.0) + SIZES.hidden_beyond(2.0)
    assert np.linalg.norm(lacking([mean], [0.0])) <= most * (1 + 1e-9)


def test_nothing_is_left_out_along_a_direction_in_which_a_mean_score_is_known():
    mean, unit = np.zeros((SIZE, 1)), np.eye(SIZE)[1]
    mean[1], mean[2] = 0.1, 0.05
    found = lacking([mean], [0.5], move=Move(unit, unit, 1.0, 0.2, np.zeros((SIZE, SIZE)), 1.0))
    assert found[1] == pytest.approx(0.0, abs=1e-12)
    assert found[2] > 0.02


@pytest.mark.parametrize("extreme", [np.inf, np.nan])
def test_an_overflow_leaves_nothing_out(extreme):
    with np.errstate(all="ignore"):
        assert not np.any(lacking([np.full((SIZE, 1), extreme)], [0.0]))
