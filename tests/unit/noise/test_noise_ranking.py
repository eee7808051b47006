"""The noise of a selection: its range is what was charged, and printed peeling follows its exact
law.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from goodness_of_fit import FALSE_ALARM, category_p_value
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.noise import SystemBits
from discreet.noise.ranking import RankNoise
from discreet.privacy import Pure, Repeated


@given(st.integers(1, 2**60), st.floats(1e-6, 50), st.integers(1, 50), st.booleans())
@settings(max_examples=200, deadline=None)
def test_the_range_is_at_most_what_was_charged_in_exact_arithmetic(reach, width, picks, gumbel):
    noise = RankNoise.covering(reach, Repeated(Pure(width, bounded_range=gumbel), picks))
    assert 2 * Fraction(noise.reach) / Fraction(noise.scale) <= Fraction(width)


@given(st.lists(st.tuples(st.integers(-(2**70), 2**70), st.integers(-(2**43), 2**43)), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_rounding_to_the_coarse_grid_keeps_the_coarse_reach(cells):
    noise = RankNoise.covering(2**43, Repeated(Pure(0.01, bounded_range=True), 3))
    before = np.array([cell for cell, _ in cells], dtype=object)
    after = np.array([cell + moved for cell, moved in cells], dtype=object)
    moved = np.abs(noise.coarse(before) - noise.coarse(after))
    assert np.all(moved <= noise.reach)
    assert np.all(noise.coarse(before) == np.rint(noise.coarse(before)))


def laplace_peeling_law(scores, scale, picks):
    """P of each ordered choice, by summing over one candidate's noise; ties go to the first
    candidate.
    """
    span = np.arange(-400, 401)
    mass = np.exp(-np.abs(span) / scale)
    mass /= mass.sum()
    below = np.cumsum(mass)

    def first(left):
        law = {}
        for i in left:
            chance = mass.copy()
            for j in left:
                if j != i:
                    gap = span + scores[i] - scores[j] - (j < i)  # j must stay below (or at) i's noisy score
                    chance *= below[np.clip(gap + 400, 0, 800).astype(int)] * (gap >= -400)
            law[i] = chance.sum()
        return law

    law = {}
    for chosen in permutations(range(len(scores)), picks):
        p, left = 1.0, list(range(len(scores)))
        for i in chosen:
            p *= first(left)[i]
            left.remove(i)
        law[chosen] = p
    return law


@pytest.mark.parametrize("picks", [1, 2])
def test_printed_peeling_follows_its_exact_law(picks):
    """Chi-square over all ordered choices; false alarms as FALSE_ALARM says."""
    scores, noise = np.array([4.0, 0.0, 2.0, 2.0]), RankNoise(3.0, 0, 1, picks, gumbel=False)
    outcomes = [tuple(noise.choose(scores, SystemBits()).tolist()) for _ in range(6_000)]
    assert category_p_value(outcomes, laplace_peeling_law(scores, 3.0, picks)) > FALSE_ALARM


def test_values_must_be_charged_once_for_each_pick():
    noise = RankNoise.covering(100, Repeated(Pure(0.1), 3))
    assert noise.value_scale(Repeated(Pure(0.05), 3)) == pytest.approx(noise.scale)
    with pytest.raises(ValueError, match="as many pure releases"):
        noise.value_scale(Repeated(Pure(0.05), 1))


@pytest.mark.parametrize(("gumbel", "spread"), [(True, np.pi / np.sqrt(6)), (False, np.sqrt(2))])
def test_a_release_states_its_reach_and_noise_in_the_users_unit(gumbel, spread):
    cost, values = Repeated(Pure(0.5, bounded_range=gumbel), 3), Repeated(Pure(0.1), 3)
    noise, unit = RankNoise.covering(2**30, cost), 2.0**-20
    picks, numbers = noise.releases("columns", unit, cost, values)
    assert (picks.label, picks.sensitivity, picks.cost) == ("columns", noise.reach * unit, cost)
    assert picks.noise_std == pytest.approx(2 * noise.reach / 0.5 * spread * unit)
    assert (numbers.label, numbers.sensitivity, numbers.cost) == ("columns: values", noise.reach * unit, values)
    assert numbers.noise_std == pytest.approx(np.sqrt(2) * noise.reach / 0.1 * unit)
