"""The black-box audit: honest mechanisms pass, broken ones fail, and a stopped audit continues.

False alarms: 12 honest audits here at confidence 1 - 1e-5 each, so at most 1.2e-4 of all test runs.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from discreet.audit import black_box
from discreet.audit.guesses import learn_guess
from discreet.audit.visible import visible_numbers
from discreet.privacy import GDP, Pure

SURE = 1 - 1e-5


def on_grid(x):
    """Whole multiples of 2^-20: the lowest bits of other sums would show what was added to what."""
    return np.rint(x * 2.0**20) / 2.0**20


class Mechanism:
    """A mean with Gaussian noise for a claimed mu; ``factor`` takes noise away.

    ``seed``: of each call. ``stream``: all calls draw from it, so that the test is reproducible.
    """

    def __init__(self, mu=3.0, factor=1.0, seed=None, numbers=5, stream=None):
        self.mu, self.factor, self.seed, self.numbers, self.stream = mu, factor, seed, numbers, stream

    def __call__(self, data):
        rng = np.random.default_rng(self.seed) if self.stream is None else self.stream
        noise = on_grid(rng.normal(size=self.numbers) / self.mu / self.factor)
        return {"sum": data + noise, "constant": 3.0, "name": "released"}

    def __repr__(self):
        return f"Mechanism({self.mu}, {self.factor}, {self.seed}, {self.numbers})"


D, D_OTHER = np.zeros(5), on_grid(np.full(5, 1 / np.sqrt(5)))


def run(fit, claim, runs=1000, **more):
    return black_box(fit, claim, data=D, neighbour=D_OTHER, runs=runs, confidence=SURE, workers=1, **more)


@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_exact_noise_stands_and_most_of_it_is_found(mu):
    found = run(Mechanism(mu, stream=np.random.default_rng(0)), GDP(mu), runs=4000)
    assert not found.caught, str(found)
    # 2,000 of 4,000 fits choose the guess: bounds are mostly .2 to .5 below, at mu 3 up to .73.
    assert found.mu > mu - max(0.65, mu / 2), str(found)
    assert found.epsilon <= found.gaussian_epsilon


@pytest.mark.parametrize("factor", [1.5, 2.0, 10.0])
def test_too_little_noise_is_caught(factor):
    assert run(Mechanism(3.0, factor), GDP(3.0)).caught


def test_a_reused_seed_is_caught_although_each_output_looks_right():
    assert run(Mechanism(0.1, seed=4), GDP(0.1), runs=100).caught


def test_floating_noise_is_caught_by_its_lowest_bits():
    """Laplace noise of the right scale; but 1 + noise has no bits below 2^-53, and 0 + noise has."""

    def floating(data):
        return np.random.default_rng().laplace(scale=1.0) + float(data[0] > 0)

    def on_a_grid(data):
        return np.round(floating(data) * 2**20) / 2**20

    found = run(floating, Pure(1.0), runs=2000)
    assert found.caught, str(found)
    assert "lowest bit" in found.guess
    assert not run(on_a_grid, Pure(1.0), runs=2000).caught


def test_an_output_of_another_length_is_seen():
    found = run(lambda data: np.random.default_rng().normal(size=5 + int(data[0] > 0)), GDP(1.0), runs=100)
    assert found.caught


def test_learning_from_the_same_distribution_finds_nothing():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 400, 30))
    guess = learn_guess(first, second, 0.999)
    fresh_first, fresh_second = rng.normal(size=(2, 400, 30))
    assert guess.rates(fresh_first, fresh_second, 0.999).mu < 0.5  # 5 standard deviations


def test_a_stopped_audit_goes_on_where_it_was(tmp_path):
    calls = []

    class Counting(Mechanism):
        def __call__(self, data):
            calls.append(1)
            return super().__call__(data)

    state = tmp_path / "runs.npz"
    run(Counting(), GDP(3.0), runs=60, state=state)
    assert len(calls) == 120
    first = run(Counting(), GDP(3.0), runs=100, state=state)
    assert len(calls) == 200
    again = run(Counting(), GDP(3.0), runs=100, state=state)
    assert len(calls) == 200
    assert (first.mu, first.rates) == (again.mu, again.rates)
    with pytest.raises(ValueError, match="another audit's runs"):
        run(Counting(mu=2.0), GDP(3.0), runs=100, state=state)
    assert os.listdir(tmp_path) == ["runs.npz"]


def test_processes_draw_different_noise():
    found = black_box(Mechanism(), GDP(3.0), data=D, neighbour=D_OTHER, runs=80, confidence=0.9, workers=2)
    assert len(np.unique(found.first_scores)) == 40


def test_what_is_visible_of_an_estimator_is_what_fit_has_added():
    from sklearn.linear_model import Ridge

    fitted = Ridge(alpha=77.0).fit(np.arange(6.0).reshape(3, 2), [1.0, 2.0, 4.0])
    numbers = visible_numbers(fitted)
    assert 77.0 not in numbers
    assert set(fitted.coef_) <= set(numbers)
    assert fitted.intercept_ in numbers


@pytest.mark.parametrize(
    ("settings", "message"), [({"runs": 10}, "at least 40"), ({"runs": 100, "confidence": 2.0}, "confidence")]
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        black_box(Mechanism(), GDP(1.0), data=D, neighbour=D_OTHER, **settings)
    with pytest.raises(TypeError, match="claim"):
        black_box(Mechanism(), 3.0, data=D, neighbour=D_OTHER)
