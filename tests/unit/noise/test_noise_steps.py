"""The sampler step by step on words chosen by the test: every digit of a word goes where its
definition says.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scripted_bits import ScriptedBits

from discreet.noise import SeededBits, discrete_gaussian, discrete_laplace, gumbel_top, permute_and_flip
from discreet.noise import bits as bits_module
from discreet.noise.bits import SystemBits
from discreet.noise.blocks import CHUNK, _accepted, block_edges, block_width, check_scale, cumulative_bounds, sample
from discreet.noise.gaussian import GaussianLaw
from discreet.noise.laplace import LaplaceLaw
from discreet.noise.lazy import MARGIN, LazyUniform, exp_bounds, wide_context
from discreet.noise.order import random_order
from discreet.noise.ranking import RankNoise
from discreet.noise.selection import (
    KEY_SLACK,
    _exact_gumbel,
    _gumbel,
    _is_settled,
    _key_bound,
    _random_order,
    first_heads,
)
from discreet.privacy import Pure, Repeated

TOP = 2**63  # the sign
LAWS = [GaussianLaw, LaplaceLaw]


def word_in(law, block: int) -> int:
    """A word in the middle of this block's stretch."""
    ends = [0, *(low for low, _ in cumulative_bounds(law, 64))]
    return (ends[block] + ends[block + 1]) // 2


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("scale", [2.5, 16.0, 1000.5])
def test_block_offset_sign_and_acceptance_come_from_their_own_words(kind, scale):
    law = kind(scale)
    width = block_width(scale)
    for block in (0, 1, 2):
        for offset in (0, 1, width - 1):
            for sign in (0, TOP):
                start = block * width
                chance = math.exp(-float(law.exponent(start + offset) - law.exponent(start)))
                # Bits between the offset and the sign mean nothing.
                middle = offset + sign + (5 << 50)
                for part, accepted in ((0.999, True), (1.001, False)):
                    last = min(int(chance * part * 2.0**64), 2**64 - 1)
                    if chance * part >= 1:
                        continue
                    found = _accepted(law, 1, ScriptedBits([word_in(law, block), middle, last]), MARGIN).tolist()
                    value = start + offset
                    expected = [] if not accepted or (sign and not value) else [-value if sign else value]
                    assert found == expected


@pytest.mark.parametrize("kind", LAWS)
def test_blocks_have_their_exact_chances(kind):
    law = kind(3.0)
    width, reach = block_width(3.0), 60
    weights = [math.exp(-float(law.exponent(block * width))) for block in range(reach)]
    ends = np.cumsum(weights) / sum(weights)
    for (low, high), end in zip(cumulative_bounds(law, 64), ends, strict=False):
        assert low * 2.0**-64 == pytest.approx(end, abs=1e-12)
        assert 0 <= high - low <= 2**6
    fine = cumulative_bounds(law, 128)
    assert len(fine) > len(cumulative_bounds(law, 64))
    # What is not listed has less than 2^-bits.
    assert 1 - Fraction(fine[-1][0], 2**128) < Fraction(1, 2**100)


@pytest.mark.parametrize("kind", LAWS)
def test_no_word_is_sure_where_the_margin_is_everything(kind):
    assert block_edges(kind(2.5), 1.0).tolist() == [0]


@pytest.mark.parametrize("kind", LAWS)
def test_undecided_words_draw_more_digits_for_the_block_alone(kind):
    """Just at the end of the first block: the next 64 digits decide, and the exact path then
    accepts as usual.
    """
    law = kind(4.0)
    low, high = cumulative_bounds(law, 64)[0]
    finer = cumulative_bounds(law, 128)[0][0]
    assert low <= finer >> 64 <= high
    tie, rest = finer >> 64, finer & (2**64 - 1)
    for change, block in ((-(2**40), 0), (2**40, 1)):
        script = ScriptedBits([tie, 1, 0, rest + change])
        assert _accepted(law, 1, script, MARGIN).tolist() == [1 + 4 * block]
        assert script.left == []


@pytest.mark.parametrize(
    ("scale", "width"), [(0.3, 1), (1.0, 1), (1.5, 2), (2.0, 2), (2.1, 4), (4.0, 4), (2.0**40, 2**40)]
)
def test_blocks_are_as_wide_as_the_next_power_of_two(scale, width):
    assert block_width(scale) == width


def test_the_exponents_are_those_of_the_laws():
    assert GaussianLaw(0.5).exponent(3) == 18
    assert LaplaceLaw(0.5).exponent(3) == 6
    start, offset = np.array([4.0, 0.0]), np.array([2.0, 3.0])
    assert GaussianLaw(2.0).excess(start, offset).tolist() == [2.5, 1.125]
    assert LaplaceLaw(2.0).excess(start, offset).tolist() == [1.0, 1.5]


def test_draws_ask_for_twice_what_is_left_and_eight_more():
    class Counted:
        def __init__(self):
            self.asked = []

        def words(self, count):
            self.asked.append(count)
            return SeededBits(len(self.asked)).words(count)

    counted = Counted()
    assert discrete_gaussian(3.0, 10, bits=counted).shape == (10,)
    assert counted.asked[0] == 3 * 28
    counted = Counted()
    discrete_laplace(3.0, CHUNK, bits=counted)
    assert counted.asked[0] == 3 * CHUNK == 3 * 2**14
    assert discrete_laplace(3.0, 0, bits=ScriptedBits([])).size == 0


def test_scales_at_the_ends():
    assert check_scale(2.0**40) == 2.0**40
    assert check_scale(5e-324) == 5e-324
    assert isinstance(check_scale(3), float)
    assert isinstance(sample(GaussianLaw(3.0), None, SeededBits(1)), int)


@pytest.mark.parametrize("digits", [10, 40])
def test_lazy_uniforms_decide_at_the_ends_of_their_bounds(digits):
    def bounds(bits):
        return (digits << bits - 64, digits << bits - 64)  # the value is digits / 2^64, exactly

    below = LazyUniform(digits - 1, ScriptedBits([]))
    assert below.is_below(bounds)
    assert not LazyUniform(digits, ScriptedBits([])).is_below(bounds)
    uniform = LazyUniform(3, ScriptedBits([5]))
    assert uniform.length == 64
    uniform.refine()
    assert (uniform.digits, uniform.length) == ((3 << 64) | 5, 128)


def test_bounds_on_an_exponential_at_the_ends():
    assert exp_bounds(Fraction(0), 64) == (2**64, 2**64)
    assert exp_bounds(Fraction(64), 64)[1] <= 3
    assert exp_bounds(Fraction(65), 64) == (0, 1)
    for bits in (64, 128, 640):
        for exponent in (Fraction(1, 7), Fraction(3), Fraction(bits) - Fraction(1, 3)):
            low, high = exp_bounds(exponent, bits)
            exact = Fraction(wide_context(400).exp(wide_context(400).divide(-exponent.numerator, exponent.denominator)))
            assert low <= exact * 2**bits <= high <= low + 3
            assert low >= 0
    context = wide_context(33)
    assert context.prec == 33
    assert context.exp(-(10**15)) > 0


def test_a_random_order_sorts_128_bit_keys():
    assert random_order(3, ScriptedBits([3, 1, 2, 7, 7, 7])).tolist() == [1, 2, 0]
    assert random_order(3, ScriptedBits([3, 1, 2, 9, 8, 7])).tolist() == [2, 1, 0]
    assert random_order(0, ScriptedBits([])).tolist() == []
    assert _random_order(3, ScriptedBits([3, 1, 2])).tolist() == [1, 2, 0]
    assert _random_order(3, ScriptedBits([1, 1, 2, 3, 1, 2])).tolist() == [1, 2, 0]  # equal words are drawn again


def test_system_words_are_asked_of_the_system_when_few():
    class Recorded:
        def __init__(self):
            self.sizes = []

        def __call__(self, size):
            self.sizes.append(size)
            return bytes(range(256)) * (size // 256) + bytes(range(size % 256))

    for count, sizes in ((0, []), (3, [24]), (1024, [8192])):
        recorded = Recorded()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(bits_module.os, "urandom", recorded)
            words = SystemBits().words(count)
        assert recorded.sizes == sizes
        assert words.tobytes()[:24] == bytes(range(min(24, 8 * count)))
    recorded = Recorded()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bits_module.os, "urandom", recorded)
        words = SystemBits().words(1025)
        assert recorded.sizes == [32]  # a key of 256 bits
        assert words.size == 1025
        patched.setattr(bits_module, "_aes_counter_mode", lambda: None)
        recorded.sizes.clear()
        assert SystemBits().words(2**15 + 1).size == 2**15 + 1
        assert recorded.sizes == [2**18, 8]


def test_a_stream_is_aes_in_counter_mode_from_zero():
    ciphers = pytest.importorskip("cryptography.hazmat.primitives.ciphers")
    key = bytes(range(32))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bits_module.os, "urandom", lambda size: key)
        words = SystemBits().words(70_001)
    stream = ciphers.Cipher(ciphers.algorithms.AES(key), ciphers.modes.CTR(bytes(16))).encryptor()
    assert words.tobytes() == stream.update(bytes(8 * 70_001))


# Selections


def test_gumbel_noise_is_bounded_from_53_bits():
    words = np.array([0, 2**11, 2**63, 2**64 - 1], dtype=np.uint64)
    upper, lower = _gumbel(words, 0), _gumbel(words, 1)
    assert upper[0] == math.inf
    assert lower[3] == -math.inf
    v = 2.0**-53
    assert lower[0] == upper[1] == -math.log(-math.log1p(-v))
    assert upper[2] == pytest.approx(-math.log(math.log(2)))
    assert (lower < upper).all()


def test_bounds_on_keys_lie_on_their_sides():
    scores, noise = np.array([3.0, -1.0]), np.array([0.5, -2.0])
    exact = (scores - 1.0) / 2.0 + noise
    slack = 2.0**-20
    room = slack * (1 + np.abs((scores - 1.0) / 2.0) + np.abs(noise))
    assert _key_bound(scores, 1.0, 2.0, noise, slack).tolist() == (exact + room).tolist()
    assert _key_bound(scores, 1.0, 2.0, noise, -slack).tolist() == (exact - room).tolist()
    huge = np.array([1e308, -1e308])
    assert _key_bound(huge, -1e308, 1e-3, np.zeros(2), KEY_SLACK)[0] == math.inf
    low = _key_bound(huge, -1e308, 1e-3, np.zeros(2), -KEY_SLACK)[0]
    assert 1e300 < low < math.inf
    unknown = np.array([-math.inf])
    assert _key_bound(np.array([1e308]), -1e308, 1e-3, unknown, KEY_SLACK).tolist() == [math.inf]
    assert _key_bound(np.array([-1e308]), 1e308, 1e-3, -unknown, -KEY_SLACK).tolist() == [-math.inf]
    assert KEY_SLACK == 2.0**-48


def test_a_choice_is_settled_when_each_of_the_first_is_above_all_after_it():
    assert _is_settled([3, 2, 1], [3, 2, 1], 3)
    assert _is_settled([3, 2, 1], [3, 2.5, 1], 1)
    assert not _is_settled([2.5, 2, 1], [3, 2.5, 1], 1)
    assert _is_settled([3, 0, 0], [3, 2, 1], 1)
    assert not _is_settled([3, 0, 0], [3, 2, 1], 2)
    assert _is_settled([3, 2, 0], [3, 2, 1], 2)
    assert _is_settled([1], [1], 1)


def test_exact_gumbel_noise_is_tight():
    for digits in (1, 2**40, 2**63, 2**64 - 2):
        low, high = _exact_gumbel(LazyUniform(digits, ScriptedBits([])))
        upper = -math.log(-math.log1p(-digits / 2**64)) if digits < 2**60 else None
        assert low < high
        if upper is not None:
            assert float(high) == pytest.approx(upper, rel=1e-12)
    low, high = _exact_gumbel(LazyUniform(2**63, ScriptedBits([])))
    assert float(low) == pytest.approx(-math.log(math.log(2)), rel=1e-15)
    # Between the two lies what one unit of the last digit can make, and an error of 10^-64 on
    # either side.
    assert 0 < high - low - 2 * Fraction(1, 10**64) < Fraction(1, 2**62)


@pytest.mark.parametrize(("first", "second", "chosen"), [(2**64 - 1, 0, 1), (0, 2**64 - 1, 0)])
@pytest.mark.parametrize("ahead", [1e-30, -1e-30])
def test_noise_that_may_still_lie_on_either_side_is_refined(ahead, first, second, chosen):
    """Equal words and all but equal scores: 64 more digits decide, the larger ones for the smaller
    noise.
    """
    bits = ScriptedBits([2**63, 2**63, first, second])
    assert gumbel_top([ahead, 0.0], 1, 1.0, bits=bits).tolist() == [chosen]
    assert bits.left == []


def test_coins_are_flipped_in_the_order_of_their_words():
    # Order 2, 0, 1 by the first three words; the coins by the last three.
    scores = np.array([0.0, 1.0, 0.5])
    half = int(math.exp(-0.5) * 2**64)
    words = [20, 30, 10]
    assert first_heads(scores, 1.0, ScriptedBits([*words, 0, 0, half - 2**30]), MARGIN) == 2
    assert first_heads(scores, 1.0, ScriptedBits([*words, 0, 0, half + 2**30]), MARGIN) == 0
    tails = int(math.exp(-1.0) * 2**64) + 2**30
    assert first_heads(scores, 1.0, ScriptedBits([*words, tails, 2**64 - 1, half + 2**30]), MARGIN) == 1
    assert permute_and_flip([7.0], 1.0, bits=ScriptedBits([5, 2**64 - 1])) == 0


def test_ends_of_what_can_be_selected():
    assert gumbel_top([1.0], 1, 5e-324).tolist() == [0]
    assert sorted(gumbel_top([1.0, 2.0], 2, 1.0).tolist()) == [0, 1]
    assert gumbel_top([0.0, 1e9], 1, 1.0, bits=SeededBits(1)).tolist() == [1]
    with pytest.raises(TypeError, match="scale must be a real number, got str"):
        gumbel_top([1.0], 1, "1")


# The noise of a selection


@pytest.mark.parametrize("width", [1e-6, 0.5, 7.0, 1e9])
def test_a_selection_has_at_least_28_bits_of_noise(width):
    fine = 2**43 + 1
    noise = RankNoise.covering(fine, Repeated(Pure(width, bounded_range=True), 3))
    assert noise.shift == max(0, math.floor(math.log2(2 * fine / width)) - 28)
    assert noise.reach == -(-fine // 2**noise.shift) + 1
    assert noise.scale == 2 * noise.reach / width * (1 + 1e-12)
    assert noise.shift == 0 or noise.scale >= 2.0**28
    assert (noise.picks, noise.gumbel) == (3, True)
    values = Repeated(Pure(0.25), 3)
    assert noise.value_scale(values) == noise.reach / 0.25 * (1 + 1e-12)
    for wrong in (Repeated(Pure(0.25), 2), Repeated(Pure(0.25, bounded_range=True), 3)):
        with pytest.raises(ValueError, match="the values of 3 picks cost as many pure releases, got Repeated"):
            noise.value_scale(wrong)
    assert len(noise.releases("pick", 1.0, Repeated(Pure(width, bounded_range=True), 3), None)) == 1


def test_scores_are_rounded_to_the_nearest_and_clipped():
    noise = RankNoise(1.0, 2, 1, 1, True)
    exact = np.array([-2, -3, 1, 2, 6, 2**70, -(2**70)], dtype=object)
    assert noise.rounded(exact).tolist() == [0, -1, 0, 1, 2, 2**68, -(2**68)]
    assert noise.coarse(exact).tolist() == [0, -1, 0, 1, 2, 2.0**52, -(2.0**52)]
    assert RankNoise(1.0, 0, 1, 1, True).rounded(exact).tolist() == exact.tolist()
    drawn = RankNoise(1.0, 0, 4, 2, True).noisy_values(exact, Repeated(Pure(1e9), 2), SeededBits(1))
    assert drawn.tolist() == exact.tolist()  # of noise far below a unit nothing is left


def test_printed_picks_are_made_one_after_another_without_repetition():
    noise = RankNoise(1e-3, 0, 1, 3, gumbel=False)
    assert noise.choose(np.array([1.0, 5.0, 3.0, 4.0]), SeededBits(1)).tolist() == [1, 3, 2]
    assert noise.choose(np.array([1.0, 5.0, 3.0, 4.0]), SeededBits(1)).dtype == np.int64
    gumbel = RankNoise(1e-3, 0, 1, 3, gumbel=True)
    assert gumbel.choose(np.array([1.0, 5.0, 3.0, 4.0]), SeededBits(1)).tolist() == [1, 3, 2]
