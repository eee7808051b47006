"""The promise, exactly; and what shuffling would add, only where its theorem holds."""

from __future__ import annotations

import math

import pytest
from local_tasks import make_task

from discreet.errors import GuaranteeError
from discreet.local import in_words, local_guarantee, shuffled_epsilon


def test_the_guarantee_is_the_one_asked_for(any_task):
    guarantee = local_guarantee(any_task)
    assert guarantee.epsilon(any_task.delta) <= any_task.epsilon
    if any_task.calibration == "tight":
        assert guarantee.epsilon(any_task.delta) > 0.999 * any_task.epsilon
    assert ("except" in in_words(any_task)) == (any_task.delta > 0)
    assert guarantee.neighbours == "replace_one"
    assert f"epsilon {any_task.epsilon:g}" in in_words(any_task)


@pytest.mark.parametrize("randomizer", ["unit", "gaussian"])
def test_shuffling_helps_small_epsilons_and_many_people(randomizer):
    task = make_task(epsilon=1.0, randomizer=randomizer)
    few, many = shuffled_epsilon(task, 100_000, 1e-6), shuffled_epsilon(task, 10_000_000, 1e-6)
    assert many < few < 1.0


def test_shuffling_is_never_below_the_pure_closed_form():
    # A bound for delta-approximate reports cannot beat the one for pure reports of the same
    # epsilon.
    task, n, delta = make_task(epsilon=1.0, randomizer="gaussian"), 1_000_000, 1e-6
    pure = math.log1p(math.tanh(0.5) * (8 * math.sqrt(math.e * math.log(4 / delta) / n) + 8 * math.e / n))
    assert shuffled_epsilon(task, n, delta) > pure


@pytest.mark.parametrize(("epsilon", "n"), [(4.0, 100), (15.0, 100_000), (1.0, 10)])
def test_outside_of_the_range_nothing_is_claimed(epsilon, n):
    with pytest.raises(GuaranteeError):
        shuffled_epsilon(make_task(epsilon=epsilon), n, 1e-6)
