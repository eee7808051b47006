"""The exact path, which real draws take once in 2**35 proposals, decides as the fast one does and
is itself exact.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from goodness_of_fit import FALSE_ALARM, gaussian_weight, integer_law_p_value, laplace_weight
from scripted_bits import ScriptedBits

from discreet.noise import SeededBits
from discreet.noise.blocks import block_edges, block_width, cumulative_bounds, sample
from discreet.noise.gaussian import GaussianLaw
from discreet.noise.laplace import LaplaceLaw
from discreet.noise.lazy import MARGIN, LazyUniform, exp_bounds

LAWS = [(GaussianLaw, gaussian_weight), (LaplaceLaw, laplace_weight)]
SCALES = [5e-324, 0.3, 1.0, 1.0 + 2**-52, 2.5, 7.3, 1000.5, 2.0**40 - 0.25, 2.0**40]


def binary_digits_of_exp(exponent: Fraction, bits: int) -> int:
    context = Context(prec=200)
    value = context.exp(context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator)))
    return int(Fraction(value) * 2**bits)


@pytest.mark.parametrize("law", [law for law, _ in LAWS])
@pytest.mark.parametrize("scale", SCALES)
def test_fast_and_exact_path_make_the_same_draws_of_the_same_words(law, scale):
    fast = sample(law(scale), 400, SeededBits(7))
    exact = sample(law(scale), 400, SeededBits(7), margin=1.0)
    np.testing.assert_array_equal(fast, exact)


@pytest.mark.parametrize(("law", "weight"), LAWS)
@pytest.mark.parametrize("scale", [0.8, 3.3])
def test_exact_path_alone_follows_the_law(law, weight, scale):
    draws = sample(law(scale), 5_000, None, margin=1.0)
    assert integer_law_p_value(draws, weight, scale) > FALSE_ALARM


@pytest.mark.parametrize("exponent", [Fraction(1, 3), Fraction(7, 2), Fraction(40), Fraction(1, 2**80)])
@pytest.mark.parametrize("depth", [1, 3])
def test_ties_are_broken_by_the_first_digit_that_differs(exponent, depth):
    digits = binary_digits_of_exp(exponent, 64 * (depth + 1))
    words = [(digits >> (64 * i)) & (2**64 - 1) for i in reversed(range(depth + 1))]
    for change, below in [(-5, True), (5, False)]:
        script = [*words[1:-1], words[-1] + change]
        uniform = LazyUniform(words[0], ScriptedBits(script))
        assert uniform.is_below(lambda bits: exp_bounds(exponent, bits)) is below
        assert uniform.length == 64 * (depth + 1)


@pytest.mark.parametrize("bits", [64, 128, 1024])
@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 10**30), Fraction(2, 3), Fraction(50), Fraction(10**40)])
def test_exp_bounds_enclose_the_value_tightly(exponent, bits):
    low, high = exp_bounds(exponent, bits)
    finer = exp_bounds(exponent, bits + 64)
    assert low << 64 <= finer[0] <= finer[1] <= high << 64
    assert 0 <= low <= high <= low + 3


def test_certain_event_needs_no_more_digits():
    assert LazyUniform(2**64 - 1, ScriptedBits([])).is_below(lambda bits: exp_bounds(Fraction(0), bits))


@pytest.mark.parametrize("law", [law for law, _ in LAWS])
def test_words_beyond_the_table_reach_further_blocks(law):
    # The largest word says only that the block is far out; 128 digits of ones say that it is about
    # twice as far in the exponent: 88 = 128 ln 2 there, 44 without.
    low_word, accept = 0, 0
    ones = 2**64 - 1
    far = sample(law(10.0), None, ScriptedBits([*[ones] * 10, *[low_word] * 10, *[accept] * 10, *[ones, 0] * 10]))
    assert 44 < law(10.0).exponent(far) < 100


@pytest.mark.parametrize("law", [law for law, _ in LAWS])
@pytest.mark.parametrize("scale", SCALES)
def test_table_encloses_the_exact_probabilities(law, scale):
    coarse = cumulative_bounds(law(scale), 64)
    fine = cumulative_bounds(law(scale), 192)
    for (low, high), (fine_low, fine_high) in zip(coarse, fine, strict=False):
        assert low << 128 <= fine_low <= fine_high <= high << 128
    edges = block_edges(law(scale), MARGIN)
    assert edges.size % 2 == 1
    assert np.all(np.diff(edges.astype(object)) > 0)
    assert block_width(scale) >= scale
    assert block_width(scale) < max(2 * scale, 2)


@pytest.mark.parametrize("law", [law for law, _ in LAWS])
@pytest.mark.parametrize("margin", [MARGIN, 2.0**-20])
def test_words_within_the_margin_of_a_blocks_end_are_unsure(law, margin):
    edges = [int(edge) for edge in block_edges(law(2.5), margin)]
    ends = cumulative_bounds(law(2.5), 64)
    slack = int(Fraction(margin) * 2**64)
    assert slack > 0
    assert edges[::2] == [low - slack for low, _ in ends[: len(edges[::2])]]
    assert edges[1::2] == [high + slack for _, high in ends[: len(edges[1::2])]]
