"""The unit randomizer: its epsilon by exact enumeration, its mean and covariance, its candidates
bit by bit.
"""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from local_tasks import kind

from discreet.errors import DomainError
from discreet.local.chacha import key_stream, stream_blocks
from discreet.local.client import encoded_record, reports
from discreet.local.codebook import candidate_bytes, candidates, chosen, cosines
from discreet.local.simulation import _noise_of
from discreet.local.unit import GRID, Unit, below
from discreet.local.unit_law import best_size, top_share, unit_law
from discreet.noise import SeededBits

SMALL = Unit(dimension=3, candidates=6, top=2, high=3, low=1)


class Words:
    """Bits that are what a test says."""

    def __init__(self, *words):
        self._words = list(words)

    def words(self, count):
        taken, self._words = self._words[:count], self._words[count:]
        return np.array(taken, dtype=np.uint64)


def chances(randomizer, vector, identity, sign):
    """The exact probability of every candidate for one id and one rounding: all draws are tried."""
    counts = [0] * randomizer.candidates
    for draw in range(randomizer.total):
        payload = randomizer.randomize(b"t" * 32, vector[np.newaxis], [identity], Words(sign, draw))[0]
        counts[int.from_bytes(payload, "little")] += 1
    return [Fraction(count, randomizer.total) for count in counts]


VECTORS = [
    np.array(v, dtype=float)
    for v in ([1, 0, 0], [-1, 0, 0], [0.6, 0.8, 0], [0, 0, 0], [1e-300, 0, 0], [0.1, -0.2, 0.3], [0, 0, 1])
]


@pytest.mark.parametrize("identity", [bytes(16), bytes(range(16)), b"\xff" * 16])
def test_enumeration_no_two_records_differ_by_more_than_the_ratio_of_weights(identity):
    laws = [chances(SMALL, v, identity, sign) for v in VECTORS for sign in (0, 2**64 - 1)]
    for law in laws:
        assert sum(law) == 1
        assert sorted(law) == [Fraction(1, 10)] * 4 + [Fraction(3, 10)] * 2
    ratios = [a / b for one, other in itertools.product(laws, laws) for a, b in zip(one, other, strict=True)]
    assert max(ratios) == 3  # attained, and never exceeded
    assert SMALL.epsilon == math.log(3)


FINITE = st.floats(width=64, allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, min_size=3, max_size=3), st.binary(min_size=16, max_size=16))
@settings(max_examples=60, deadline=None)
def test_every_input_favours_exactly_as_many_candidates(numbers, identity):
    law = chances(SMALL, np.array(numbers) / 1e300, identity, 0)
    assert sorted(law) == [Fraction(1, 10)] * 4 + [Fraction(3, 10)] * 2


def test_a_randomizer_that_favours_by_a_threshold_is_caught_by_the_same_enumeration():
    """What a fixed top prevents: with a threshold the number of favoured candidates, hence the
    normaliser, varies.
    """
    book = candidates([b"k" * 32], 3, 6)[0]
    laws = []
    for vector in VECTORS[:3]:
        weights = [3 if row @ vector > 0.3 else 1 for row in book]
        laws.append([Fraction(weight, sum(weights)) for weight in weights])
    ratios = [a / b for one, other in itertools.product(laws, laws) for a, b in zip(one, other, strict=True)]
    assert max(ratios) > 3


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 10.0, 20.0, 100.0])
def test_the_weights_keep_what_epsilon_promises(epsilon):
    made = Unit.best(12, epsilon)
    assert made.gives(epsilon, 0.0)
    assert Fraction(made.high, made.low) < Fraction(math.exp(min(epsilon, 30)))
    assert made.epsilon > 0.99 * min(epsilon, 20) - 1e-3
    too_much = math.floor(made.low * math.exp(min(epsilon, 20)) * (1 + 1e-9)) + 1
    if epsilon <= 10:
        assert not Unit(12, made.candidates, made.top, too_much, made.low).gives(epsilon, 0.0)


@pytest.mark.parametrize(
    "fields", [(1, 8, 2, 3, 1), (3, 1, 1, 3, 1), (3, 8, 8, 3, 1), (3, 8, 0, 3, 1), (3, 8, 2, 1, 2), (3, 70000, 2, 3, 1)]
)
def test_impossible_sizes_are_refused(fields):
    with pytest.raises(DomainError):
        Unit(*fields)


def test_a_number_below_any_total_is_uniform():
    assert [below(10, Words(word)) for word in (0, 9, 10, 25)] == [0, 9, 0, 5]
    assert below(10, Words(2**64 - 1, 7)) == 7  # 2^64 is no multiple of ten: its last words are refused
    drawn = [below(7, SeededBits(seed)) for seed in range(7000)]
    counts = np.bincount(drawn, minlength=7)
    assert ((counts - 1000) ** 2 / 1000).sum() < 35  # chi-square of six degrees: below 1e-5


@pytest.mark.parametrize(("dimension", "epsilon"), [(2, 1.0), (3, 4.0), (5, 6.0), (12, 2.0)])
def test_reports_are_unbiased_with_the_covariance_that_is_claimed(dimension, epsilon):
    made = Unit.best(dimension, epsilon)
    rng = np.random.default_rng(dimension)
    vector = rng.normal(size=dimension)
    vector *= 0.7 / np.linalg.norm(vector)
    n = 2000
    ids = [rng.bytes(16) for _ in range(n)]
    payloads = made.randomize(bytes(32), np.tile(vector, (n, 1)), ids, SeededBits(1))
    values = np.array([made.decode(bytes(32), i, p) for i, p in zip(ids, payloads, strict=True)]) * made.unit
    lengths = np.linalg.norm(values, axis=1)
    assert np.allclose(lengths, made.longest, rtol=1e-5)  # every report has the same length, honest or not
    unit = vector / np.linalg.norm(vector)
    second = made.second_moment(np.outer(vector, vector), np.outer(unit, unit))
    covariance = second - np.outer(vector, vector)
    gaps = (values.mean(axis=0) - vector) / np.sqrt(np.diag(covariance) / n)
    assert np.abs(gaps).max() < 5
    measured = values.T @ values / n
    assert np.abs(measured - second).max() < 6 * made.longest**2 / math.sqrt(n)


def test_the_law_is_that_of_sorted_projections():
    rng = np.random.default_rng(0)
    dimension, count, top, share = 6, 64, 9, 0.6
    drawn = -np.sort(-(2 * rng.beta(2.5, 2.5, size=(40_000, count)) - 1), axis=1)
    first = share * drawn[:, :top].mean() + (1 - share) * drawn[:, top:].mean()
    second = share * (drawn[:, :top] ** 2).mean() + (1 - share) * (drawn[:, top:] ** 2).mean()
    law = unit_law(dimension, count, top, share)
    assert law.shrink == pytest.approx(first, rel=3e-3)
    assert law.along == pytest.approx(second, rel=3e-3)
    assert law.along + (dimension - 1) * law.across == pytest.approx(1)


@pytest.mark.parametrize(
    ("dimension", "epsilon", "best"),
    [(11, 1, 67.05), (11, 4, 5.11), (11, 8, 1.97), (5, 1, 29.2), (5, 4, 2.54), (5, 8, 1.25)],
)
def test_the_error_is_within_a_few_per_cent_of_the_best_that_any_randomizer_has(dimension, epsilon, best):
    made = Unit.best(dimension, float(epsilon))
    assert best * 0.99 < made.longest**2 < best * 1.05
    assert (made.candidates, made.top) == best_size(dimension, float(epsilon))
    assert 0 < top_share(made.candidates, made.top, made.high, made.low) < 1


def test_chacha_is_rfc_8439():
    key = bytes(range(32))
    # RFC 8439, 2.3.2's block differs by its nonce; A.1's first vector has key, nonce and counter
    # zero.
    assert key_stream(bytes(32), 0, 16).hex() == "76b8e0ada0f13d90405d6ae55386bd28"
    ours = stream_blocks(np.frombuffer(key, dtype="<u4")[np.newaxis], np.arange(9, dtype=np.uint32)).tobytes()
    for start, count in ((0, 576), (63, 2), (64, 64), (130, 300)):
        assert key_stream(key, start, count) == ours[start : start + count]


def test_without_openssl_the_stream_is_the_same(monkeypatch):
    keys = [bytes([number]) * 32 for number in range(5)]
    with_it = candidates(keys, 7, 20)
    monkeypatch.setattr("discreet.local.chacha._openssl", lambda: None)
    assert np.array_equal(candidates(keys, 7, 20), with_it)
    assert chosen(keys[3], 7, 11) == with_it[3, 11].tolist()


def test_no_library_could_round_a_cosine_differently():
    distances = [abs((2**30 * math.cos(2 * math.pi * (a + 0.5) / 4096)) % 1 - 0.5) for a in range(4096)]
    assert min(distances) > 1e-4  # an error of a unit in the last place is below 1e-6 of a whole number
    assert cosines()[0] == 1073741508


@pytest.mark.parametrize("dimension", [2, 3, 4, 7, 12, 21])
def test_one_candidate_alone_is_the_same_as_among_all(dimension):
    keys = [np.random.default_rng(number).bytes(32) for number in range(6)]
    book = candidates(keys, dimension, 40)
    for key, rows in zip(keys, book, strict=True):
        for index in (0, 17, 39):
            assert chosen(key, dimension, index) == rows[index].tolist()
    assert candidate_bytes(dimension) == 6 * ((dimension + 1) // 2) - 4


@pytest.mark.parametrize("dimension", [2, 3, 5, 12])
def test_candidates_are_uniform_on_the_sphere(dimension):
    keys = [np.random.default_rng(number).bytes(32) for number in range(400)]
    points = candidates(keys, dimension, 100).reshape(-1, dimension)
    n = len(points)
    assert np.allclose(np.linalg.norm(points, axis=1), 1)
    rng = np.random.default_rng(1)
    axes = [*np.eye(dimension), *(rng.normal(size=(5, dimension)))]
    for axis in axes:
        t = points @ (axis / np.linalg.norm(axis))
        for power in (1, 2, 3, 4, 6):
            expected = 0.0
            if power % 2 == 0:
                expected = math.prod((2 * i + 1) / (dimension + 2 * i) for i in range(power // 2))
            assert abs((t**power).mean() - expected) < 6 * (t**power).std() / math.sqrt(n)


def test_a_missing_answer_has_no_direction():
    task = kind("cross")
    rows, labels = encoded_record(task, {"a": None, "b": 1, "c": 1, "y": 1})
    assert not task.statistic.vectors(rows, task.target.scaled(labels)).any()
    draws = [reports(task, rows, labels, SeededBits(seed))[0] for seed in range(20)]
    assert len({draw[28:30] for draw in draws}) > 5


def test_twenty_thousand_reports_are_decoded_in_a_second():
    task = kind("cross")
    body = reports(task, *encoded_record(task, {"a": 1, "b": 1, "c": 1, "y": 1}))[0]
    best = math.inf
    for _ in range(5):  # a busy machine may take one of them away
        start = time.process_time()
        for _ in range(1000):
            task.randomizer.decode(bytes.fromhex(task.digest), body[12:28], body[28:30])
        best = min(best, time.process_time() - start)
    assert best / 1000 < 1 / 20_000


def test_decoded_coordinates_are_whole_and_short():
    made = Unit.best(5, 4.0)
    values = made.decode(bytes(32), bytes(16), (3).to_bytes(2, "little"))
    assert values.dtype == np.int64
    assert abs(int(values @ values) - GRID**2) < 4 * GRID
    assert made.decode(bytes(32), bytes(16), made.candidates.to_bytes(2, "little")) is None


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 12.0])
def test_noise_of_a_sum_is_that_of_its_reports(epsilon):
    """At small epsilon weights have both signs; a missing answer has no direction."""
    randomizer = Unit.best(6, epsilon)
    vectors = np.random.default_rng(0).normal(size=(40, 6))
    vectors *= np.linspace(0, 1, 40)[:, np.newaxis] / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = np.zeros((6, 6))
    for vector in vectors:
        direction = vector / np.linalg.norm(vector) if vector.any() else np.eye(6)[0]
        outer = np.outer(vector, vector)
        expected += randomizer.second_moment(outer, np.outer(direction, direction)) - outer
    np.testing.assert_allclose(_noise_of(randomizer, vectors), expected, rtol=1e-10, atol=1e-10 * np.trace(expected))
