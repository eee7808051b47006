"""The sign stream is a promise to other machines and later versions: these numbers never change."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from discreet.parties.queries import Mixes
from discreet.parties.signs import person_states, plan_state, signs, slots
from discreet.rows import exact_sum, product_parts
from discreet.rows.grid import right_grid

KEYS = [b"", b"1", b"patient 17", "Müller".encode(), b"x" * 300]


def plainly(seed: str, key: bytes, mix: int) -> int:
    """The specification, word by word, in unbounded integers."""
    word = 2**64

    def mixed(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % word
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % word
        return z ^ (z >> 31)

    plan = hashlib.blake2b(b"discreet signs 1" + seed.encode(), digest_size=16).digest()
    digest = hashlib.blake2b(plan + key, digest_size=16).digest()
    a, b = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
    return mixed(mixed((a + (mix // 64 + 1) * 0x9E3779B97F4A7C15) % word) ^ b) >> (mix % 64) & 1


def test_stream_is_the_specified_one():
    table = signs(person_states(plan_state("seed"), KEYS), 200)
    assert table.shape == (200, len(KEYS))
    assert table.dtype == np.bool_
    for column, key in enumerate(KEYS):
        assert [int(sign) for sign in table[:, column]] == [plainly("seed", key, mix) for mix in range(200)]


def test_golden_stream():
    table = signs(person_states(plan_state("golden"), [b"%d" % i for i in range(1000)]), 130)
    digest = hashlib.sha256(np.packbits(np.ascontiguousarray(table)).tobytes()).hexdigest()
    assert digest == "96f2082c361847abaf27be3cf685d910415790ee8c41175a930601aed37c9e58"


def test_slots_are_the_specified_ones():
    states = person_states(plan_state("seed"), KEYS)
    where, plus = slots(states, 1000)
    for key, slot, sign in zip(KEYS, where, plus, strict=True):
        word = sum(plainly("seed", key, mix) << (mix + 64) for mix in range(-64, 0))
        assert slot == (word >> 1) % 1000
        assert sign == word & 1


def test_golden_slots():
    where, plus = slots(person_states(plan_state("golden"), [b"%d" % i for i in range(1000)]), 777)
    digest = hashlib.sha256(where.astype("<i8").tobytes() + np.packbits(plus).tobytes()).hexdigest()
    assert digest == "c3b8b64dc5ad41521a886987b381d2c956285e1462042002deac0f63d08e0027"


def test_slots_are_spread_evenly():
    where, plus = slots(person_states(plan_state("seed"), [b"%d" % i for i in range(20_000)]), 100)
    # A slot has 200 people, give or take 14: all 100 within six of those, but for one run in 5
    # million.
    assert np.abs(np.bincount(where, minlength=100) - 200).max() < 6 * 14.1
    assert abs(plus.mean() - 0.5) < 6 * 0.0036


def test_signs_depend_on_no_other_person_and_no_number_of_mixes():
    state = plan_state("seed")
    whole = signs(person_states(state, KEYS), 300)
    assert np.array_equal(signs(person_states(state, KEYS[::-1]), 300), whole[:, ::-1])
    assert np.array_equal(signs(person_states(state, KEYS[2:3]), 77), whole[:77, 2:3])


def test_signs_look_random_across_people_and_mixes():
    table = signs(person_states(plan_state("seed"), [b"%d" % i for i in range(4000)]), 128) * 2.0 - 1
    assert abs(table.mean()) < 4 / np.sqrt(table.size)
    between_mixes = table @ table.T / 4000 - np.eye(128)
    assert np.abs(between_mixes).max() < 6 / np.sqrt(4000)
    between_people = table[:, :500].T @ table[:, :500] / 128 - np.eye(500)
    assert np.abs(between_people).max() < 6.5 / np.sqrt(128)


class _Numbers:
    """A block with given rows and states."""

    def __init__(self, x, states):
        self.x, self.states, self.records = x, states, x.shape[1]

    def write_x(self, out):
        out[:] = self.x


def test_mixes_are_exact_sums_of_signed_whole_rows():
    rng = np.random.default_rng(0)
    x = rng.integers(-1000, 1001, (3, 1300)) / 1024  # on the grid already
    keys = [b"%d" % i for i in range(1300)]
    states = person_states(plan_state("seed"), keys)
    query = Mixes(70, np.zeros(3), np.ones(3), 2.0)
    exact = exact_sum(product_parts(query, _Numbers(x, states)))
    table = signs(states, 70) * 2 - 1
    per_unit = int(right_grid(query)[0])
    expected = table.astype(object) @ (x.T * per_unit).astype(np.int64).astype(object)
    assert exact.tolist() == expected.tolist()


def test_person_of_no_number_or_out_of_use_contributes_nothing():
    x = np.array([[0.5, np.nan, 0.25], [0.5, 0.5, 0.25]])
    states = person_states(plan_state("seed"), [b"a", b"b", b"c"])
    query = Mixes(9, np.zeros(2), np.ones(2), 2.0)
    some = exact_sum(product_parts(query, _Numbers(x, states), np.array([True, True, False])))
    alone = exact_sum(product_parts(query, _Numbers(x[:, :1], states[:1])))
    assert some.tolist() == alone.tolist()


def test_signs_that_are_no_truth_values_are_refused():
    class Wrong(Mixes):
        def factors(self, block):
            left, right = super().factors(block)
            return left * 5.0, right

    block = _Numbers(np.zeros((2, 4)), person_states(plan_state("s"), [b"a", b"b", b"c", b"d"]))
    with pytest.raises(TypeError, match="truth values"):
        product_parts(Wrong(9, np.zeros(2), np.ones(2), 2.0), block)
