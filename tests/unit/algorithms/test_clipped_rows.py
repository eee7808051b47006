"""Slopes follow a mean score along the direction in which rows are clipped."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import LinearRegression
from discreet.algorithms.parts.clipped_rows import DirectedScore, Direction, unseen_bias
from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.uncertain import Spread
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import Gaussian, Identity
from discreet.rows import Answer, Labels

SIZE, COUNT, NOISE = 9, 20_000.0, 0.002
UNIT = np.eye(SIZE)[1]


def shares(slope: float, seed: int = 0) -> Answer:
    """Noisy sums of z / |z| of clipped rows: a third of all, more of them along the second z."""
    value = np.concatenate([[0.12, slope], np.zeros(SIZE - 2)]) + NOISE * np.random.default_rng(seed).normal(size=SIZE)
    return Answer(COUNT * value[:, np.newaxis], COUNT * NOISE)


def directed(value: float, slope: float = 0.05, noise_std: float = 0.01) -> DirectedScore:
    model = GlmModel(Gaussian(), Identity(), Labels(0.0, 30.0), np.zeros(SIZE - 1))
    frame = Frame(None, model, Coordinates(np.eye(SIZE)), Foresight(model, True), COUNT, 1.0)  # type: ignore[arg-type]
    return DirectedScore(frame, np.zeros(SIZE), UNIT, value, noise_std, 0.0, shares(slope))


def test_the_direction_of_clipped_rows_is_found():
    found = Direction.read(shares(0.05), 1)
    assert found is not None
    assert found.unit[0] == 0
    assert found.unit[1] > 0.97
    assert np.linalg.norm(found.unit) == pytest.approx(1)


def test_rows_that_are_clipped_alike_have_no_direction():
    # Noise alone passes once in 40 times; of 400, more than 24 do about once in 10^4 runs.
    assert sum(Direction.read(shares(0.0, seed), 1) is not None for seed in range(400)) <= 24


@pytest.mark.parametrize("extreme", [np.inf, np.nan])
def test_an_overflow_has_no_direction(extreme):
    with np.errstate(all="ignore"):
        assert Direction.read(Answer(np.full((SIZE, 1), extreme), 1.0), 1) is None


def test_the_estimate_follows_the_mean_score():
    # A mean score of -.1 at the last point: the optimum is .1 away along the unit vector.
    move = directed(-0.1).move(np.zeros(SIZE), 1e-5 * np.eye(SIZE), 1.0)
    moved = move.moved(np.zeros(SIZE))
    noise = 0.01**2 + 0.02**2 + 1e-5
    assert moved[1] == pytest.approx(0.1 * (1 - (1 + 2 * np.sqrt(2)) * noise / 0.1**2))
    assert np.linalg.norm(moved[2:]) < 0.03
    before = Spread(1e-4 * np.eye(SIZE), 1e-5 * np.eye(SIZE))
    after = move.spread(before)
    # The noise of the mean score in the place of its own, and a part of the way that is uncertain.
    assert 0.01**2 <= after.noise[1, 1] <= 0.01**2 + (0.2 * 0.1) ** 2 + 5e-4
    assert after.noise[2, 2] > before.noise[2, 2]
    assert np.linalg.eigvalsh(after.noise)[0] >= -1e-12


def test_a_mean_score_that_may_be_noise_widens_and_does_not_move():
    move = directed(-0.005).move(np.zeros(SIZE), 1e-5 * np.eye(SIZE), 1.0)
    before = Spread(1e-5 * np.eye(SIZE), 1e-5 * np.eye(SIZE))
    assert not np.any(move.moved(np.zeros(SIZE)))
    assert move.spread(before).noise[1, 1] >= 0.01**2


def test_an_estimate_stays_if_rows_are_no_longer_clipped_in_the_direction():
    """Rows that a start with a wrong slope clips say nothing of errors at the optimum."""
    move = directed(-0.1, slope=0.0).move(np.zeros(SIZE), 1e-5 * np.eye(SIZE), 1.0)
    before = Spread(1e-4 * np.eye(SIZE), 1e-5 * np.eye(SIZE))
    assert not np.any(move.moved(np.zeros(SIZE)))
    after = move.spread(before)
    assert np.allclose(after.noise, before.noise)
    assert np.allclose(after.sampling, before.sampling)


def test_slopes_get_the_bias_that_the_constant_seems_to_have():
    moment = unseen_bias(shares(0.05), 0.0, 0.1)
    # 1.5 times .1, times the shares of clipped rows in the direction and in all.
    assert np.sqrt(moment[1, 1]) == pytest.approx(1.5 * 0.1 * 0.05 / 0.12, rel=0.2)
    assert moment[0, 0] == 0
    assert not np.any(unseen_bias(shares(0.05), 1.0, 0.1))


def fitted(epsilon: float, columns: int, seed: int) -> np.ndarray:
    """The interval of the slope of a column that the spread of errors grows with; the slope is -.5."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20_000, columns))
    errors = (rng.exponential(size=len(X)) - 1) * np.exp(0.5 * X[:, 0] - 0.25)
    y = 1 + X @ np.linspace(-0.5, 0.5, columns) + errors
    asked = {"epsilon": epsilon, "delta": 1e-6, "bounds_X": (-4, 4), "bounds_y": (-30, 30)}
    return np.asarray(LinearRegression(**asked).fit(X, y).results_.intervals()[1])


@pytest.mark.parametrize(("epsilon", "columns"), [(0.3, 8), (1.0, 3)])
def test_the_slope_of_a_column_that_skewed_errors_grow_with_is_covered(epsilon, columns):
    """Rows with large errors are clipped on one side: half of the intervals covered it."""
    intervals = [fitted(epsilon, columns, seed) for seed in range(30)]
    # Of intervals that cover 94 %, fewer than 23 of 30 do about once in 3,000 runs.
    assert sum(low <= -0.5 <= high for low, high in intervals) >= 23
