"""The constant of skewed labels follows a mean score that is hardly clipped."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import LinearRegression
from discreet.algorithms.parts.foresight import Foresight
from discreet.algorithms.parts.frame import Frame
from discreet.algorithms.parts.mean_score import Constant, MeanScore, mean_question
from discreet.algorithms.parts.sizes import Sizes
from discreet.algorithms.parts.uncertain import Spread
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import Gamma, Gaussian, Identity, Log
from discreet.privacy import GDP
from discreet.rows import Answer, Labels
from discreet.rows.gradient import BoundedSum


class Quiet:
    """A source whose noise is known, and which is asked for nothing else."""

    def noise_std(self, query, cost):
        return 2 * query.left_norm / cost.mu


def frame_of(family, link, labels, *, dispersion=1.0, count=20_000.0) -> Frame:
    model = GlmModel(family, link, labels, np.zeros(2))
    return Frame(Quiet(), model, Coordinates(np.eye(3)), Foresight(model, True), count, dispersion)


def linear() -> Frame:
    return frame_of(Gaussian(), Identity(), Labels(0.0, 30.0))


def test_a_constant_that_is_clearly_off_moves_and_has_the_error_of_the_mean():
    mean = MeanScore(linear(), np.zeros(3), value=-0.5, noise_std=0.01, centre=np.eye(3)[0])
    noise, before = 1e-4 * np.eye(3), Spread(1e-4 * np.ones((3, 3)), 5e-5 * np.eye(3))
    constant = mean.constant(np.array([0.1, 0.0, 0.0]), noise, 1.2)
    assert constant.away == pytest.approx(0.4)
    assert constant.moved(np.array([0.1, 1.0, -1.0])) == pytest.approx([0.5, 1.0, -1.0], abs=0.003)
    after = constant.spread(before)
    assert after.noise[0, 0] == pytest.approx(0.01**2, rel=0.1)
    assert after.noise[1:, 1:] == pytest.approx(before.noise[1:, 1:])
    assert np.linalg.eigvalsh(after.noise).min() > -1e-12


def test_a_constant_within_the_noise_stays_and_may_be_off_by_as_much():
    mean = MeanScore(linear(), np.zeros(3), value=-0.02, noise_std=0.02, centre=np.eye(3)[0])
    constant = mean.constant(np.zeros(3), 1e-4 * np.eye(3), 1.0)
    assert constant.part == 0
    before = Spread(1e-4 * np.eye(3), 5e-5 * np.eye(3))
    assert constant.spread(before).noise[0, 0] == pytest.approx(1e-4 + 0.02**2 + 1e-4)


def test_the_mean_score_follows_slopes_of_columns_that_are_not_centred():
    """A rare column's typical row is its centre after whitening: the constant was moved by its
    slope, 7 standard errors.
    """
    frame = linear()
    answer = Answer(np.array([[0.06 * frame.count]]), 1e-3 * frame.count)
    mean = MeanScore.read(frame, np.zeros(3), answer, np.array([0.6, 0.0]))
    # The estimate's slope explains what the mean score says.
    constant = mean.constant(np.array([0.0, -0.1, 0.0]), 1e-6 * np.eye(3), 1.0)
    assert abs(constant.away) < 1e-9
    assert constant.part == 0


def test_an_overflow_moves_nothing():
    mean = MeanScore(linear(), np.zeros(3), value=np.inf, noise_std=1.0, centre=np.eye(3)[0])
    assert mean.constant(np.zeros(3), np.eye(3), 1.0).part == 0


def test_the_mean_is_clipped_far_beyond_the_gradient_and_more_so_with_less_noise():
    norms = np.abs(np.random.default_rng(0).exponential(size=20_000) - 1) * np.sqrt(3)
    sizes = Sizes.of(norms, label_free=False)
    query, _ = mean_question(linear(), np.zeros(3), sizes, GDP(1.0))
    quieter, _ = mean_question(linear(), np.zeros(3), sizes, GDP(100.0))
    assert 2.0 < query.clip <= quieter.clip


def test_a_row_adds_its_clipped_score_whatever_its_length():
    query = linear().mean_score(np.zeros(3), 4.0)
    assert query.shape == (1, 1)
    assert query.left_norm == 4.0
    assert query.map.matrix[1].tolist() == [1.0, 0.0, 0.0]


def test_the_constant_stays_where_its_mean_score_is_as_expected():
    assert Constant(np.ones(1), 0.0, 0.0, 1e-4, 1e-4, 1e-4).moved(np.array([0.3])).tolist() == [0.3]


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_intercept_of_skewed_errors_is_covered(epsilon):
    """Clipped exponential errors moved it by 4 to 9 standard errors: 1 interval in 30 covered it at
    epsilon .3 and 1.
    """
    covered = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20_000, 8))
        y = 1 + X @ np.linspace(-0.5, 0.5, 8) + rng.exponential(size=len(X)) - 1
        asked = {"epsilon": epsilon, "delta": 1e-6, "bounds_X": (-4, 4), "bounds_y": (-30, 30)}
        low, high = LinearRegression(**asked).fit(X, y).results_.intervals()[0]
        covered += low <= 1 <= high
    assert covered >= 20  # of intervals that cover 90 %, as few as 19 of 30 do once in 10,000 runs


def test_squares_far_from_the_optimum_do_not_make_a_dispersion_of_hundreds():
    """A gamma law of heavy tails explained a mean of clipped squares of 7.6 by a dispersion of 156,
    in whose units the histogram of norms had one cell: 1 fit in 50 had a constant 7 standard
    errors off.
    """
    frame = frame_of(Gamma(), Log(), Labels(50.0, 50.0), dispersion=7.8)
    query = frame.squares(np.zeros(3), GDP(0.05))[0]
    assert isinstance(query, BoundedSum)
    total = frame.count * (7.6 - query.bound / 2)
    seen = frame.with_squares((query, GDP(0.05)), Answer(np.array([[total]]), 0.1 * frame.count))
    assert 3.0 < seen.dispersion < 16.0
