"""Selection follows exactly the exponential mechanism, its peeling, and permute-and-flip."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from math import exp, inf, prod

import numpy as np
import pytest
from goodness_of_fit import FALSE_ALARM, category_p_value
from scripted_bits import ScriptedBits

from discreet.noise import SeededBits, SystemBits, gumbel_top, permute_and_flip
from discreet.noise.lazy import MARGIN, LazyUniform
from discreet.noise.selection import KEY_SLACK, _exact_gumbel, first_heads, noisy_top

SCORES = [0.0, 1.5, -2.0, 1.0, 0.3]
SCALE = 0.8
N = 6_000


def peeling_law(scores, scale, s):
    """P of each ordered choice of s by repeated exponential mechanisms without replacement."""
    weight = [exp(score / scale) for score in scores]
    law = {}
    for chosen in permutations(range(len(scores)), s):
        left = [sum(weight) - sum(weight[j] for j in chosen[:i]) for i in range(s)]
        law[chosen] = prod(weight[j] / rest for j, rest in zip(chosen, left, strict=True))
    return law


def permute_and_flip_law(scores, scale):
    heads = [exp((score - max(scores)) / scale) for score in scores]
    law = dict.fromkeys(range(len(scores)), 0.0)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        tails_so_far = 1.0
        for i in order:
            law[i] += tails_so_far * heads[i] / len(orders)
            tails_so_far *= 1 - heads[i]
    return law


@pytest.mark.parametrize("s", [1, 2, 5])
def test_gumbel_top_is_the_peeled_exponential_mechanism(s):
    outcomes = [tuple(gumbel_top(SCORES, s, SCALE).tolist()) for _ in range(N)]
    assert category_p_value(outcomes, peeling_law(SCORES, SCALE, s)) > FALSE_ALARM


def test_permute_and_flip_follows_its_enumerated_law():
    outcomes = [permute_and_flip(SCORES, SCALE) for _ in range(N)]
    assert category_p_value(outcomes, permute_and_flip_law(SCORES, SCALE)) > FALSE_ALARM


def test_exact_paths_alone_follow_their_laws():
    source, scores = SystemBits(), np.array([0.0, 0.5, -1.0])
    tops = [tuple(noisy_top(scores, 2, SCALE, source, np.inf).tolist()) for _ in range(1_000)]
    assert category_p_value(tops, peeling_law(scores, SCALE, 2)) > FALSE_ALARM
    flips = [first_heads(scores, SCALE, source, 1.0) for _ in range(2_000)]
    assert category_p_value(flips, permute_and_flip_law(scores, SCALE)) > FALSE_ALARM


@pytest.mark.parametrize(
    "scores",
    [
        np.zeros(20),
        np.linspace(-3, 3, 20),
        np.array([1e308, -1e308, 1e308, 0.0, 1e292]),
        np.array([1e16, 0.0, 0.0, 1.0, -1.0]),
        np.array([5e-324, 0.0, -5e-324]),
    ],
)
@pytest.mark.parametrize("scale", [5e-324, 1e-3, 1.0, 1e16, 1e308])
def test_fast_and_exact_path_make_the_same_choice_of_the_same_words(scores, scale):
    for seed in range(3):
        for s in (1, 3):
            fast = noisy_top(scores, s, scale, SeededBits(seed), KEY_SLACK)
            exact = noisy_top(scores, s, scale, SeededBits(seed), np.inf)
            assert fast.tolist() == exact.tolist()
        fast = first_heads(scores, scale, SeededBits(seed), MARGIN)
        assert fast == first_heads(scores, scale, SeededBits(seed), 1.0)


@pytest.mark.parametrize("word", [1, 2**20, 2**62 + 12345, 2**63, 2**64 - 2**30, 2**64 - 2])
def test_bounds_on_gumbel_noise_enclose_it_and_close_in(word):
    uniform = LazyUniform(word, SystemBits())
    for length in (64, 128, 192, 256):
        assert uniform.length == length
        low, high = _exact_gumbel(uniform)
        with localcontext(prec=500):
            inside = (uniform.digits + Decimal("0.5")) / 2**length
            noise = Fraction(-(-(1 - inside).ln()).ln())
        assert low < noise < high
        assert length == 64 or high - low < Fraction(2) ** (66 - length)
        uniform.refine()


def test_digits_that_a_float_drops_still_count():
    # Both words start with the same 53 bits, and there noise still varies by 1e-3 within the 11
    # bits that follow. The second candidate's noise is higher by almost all of that, and its score
    # is lower by less.
    words = [1000 * 2**11 + 2047, 1000 * 2**11]
    assert gumbel_top([0.0003, 0.0], 1, 1.0, bits=ScriptedBits(words)).tolist() == [1]
    assert gumbel_top([0.0012, 0.0], 1, 1.0, bits=ScriptedBits(words)).tolist() == [0]


def test_equal_random_words_are_refined_not_broken_by_position():
    # All candidates get the same first word, so only later digits can order them, and they do so
    # evenly.
    firsts = Counter(int(gumbel_top(np.zeros(3), 3, 1.0, bits=SameFirstWords())[0]) for _ in range(300))
    assert category_p_value(firsts.elements(), {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}) > FALSE_ALARM


class SameFirstWords:
    """Equal words on the first call, then the system's."""

    def __init__(self):
        self.called = False

    def words(self, count):
        words = SystemBits().words(count)
        if not self.called:
            words[:] = words[0]
        self.called = True
        return words


@pytest.mark.parametrize("word", [0, 2**64 - 1])
@pytest.mark.parametrize("scale", [5e-324, 1.0])
def test_extreme_words_are_refined_to_finite_noise(word, scale):
    class Extreme(SameFirstWords):
        def words(self, count):
            first = not self.called
            words = super().words(count)
            return np.full(count, word, dtype=np.uint64) if first else words

    scores = [1e308, 0.0, 0.0, -1e308]
    chosen = gumbel_top(scores, 4, scale, bits=Extreme()).tolist()
    assert (chosen[0], chosen[3]) == (0, 3)


def test_collisions_of_the_permutation_are_drawn_again():
    assert permute_and_flip(np.zeros(5), 1.0, bits=SameFirstWords()) in range(5)


def test_huge_gaps_decide_and_huge_ties_are_fair():
    scores = [1e308, -1e308, 1e308, 0.0]
    tops = [tuple(gumbel_top(scores, 2, 1e-3).tolist()) for _ in range(1_000)]
    assert category_p_value(tops, {(0, 2): 0.5, (2, 0): 0.5}) > FALSE_ALARM
    flips = [permute_and_flip(scores, 1e-3) for _ in range(1_000)]
    assert category_p_value(flips, {0: 0.5, 2: 0.5}) > FALSE_ALARM


def test_differences_that_overflow_a_float_are_still_exact():
    scores, scale = [1.5e308, -1.5e308], 1.5e308
    tops = [int(gumbel_top(scores, 1, scale)[0]) for _ in range(2_000)]
    assert category_p_value(tops, {0: 1 / (1 + exp(-2)), 1: 1 / (1 + exp(2))}) > FALSE_ALARM
    flips = [permute_and_flip(scores, scale) for _ in range(2_000)]
    assert category_p_value(flips, permute_and_flip_law([1.0, -1.0], 1.0)) > FALSE_ALARM


def test_ties_far_below_the_best_cost_no_exact_arithmetic(monkeypatch):
    # Keys are measured from the s-th score, so the losers' tie at -1e16 is no rounding problem.
    monkeypatch.setattr("discreet.noise.selection._exact_top", None)
    scores = np.full(5_000, -1e16)
    scores[17] = 1e16
    assert gumbel_top(scores, 5, 1.0)[0] == 17


@pytest.mark.parametrize("length", [64, 128])
def test_the_outermost_uniforms_leave_the_noise_unbounded_on_one_side(length):
    first, last = LazyUniform(0, ScriptedBits([0])), LazyUniform(2**64 - 1, ScriptedBits([2**64 - 1]))
    while first.length < length:
        first.refine()
        last.refine()
    low, high = _exact_gumbel(first)
    assert (high, low > 0) == (inf, True)
    low, high = _exact_gumbel(last)
    assert (low, high < 0) == (-inf, True)
